//! Publication of a receipt as a pure decision (spec 03 §12): what a writer would append to a journal, or why it refuses.

use super::budget::{Budget, History};
use super::journal::Current;
use super::receipt::{ARTIFACTS_REMOVED, ATTEMPT, COMMON, CONTINUATION, EVIDENCE, NAMESPACE_RETAINED, OUTCOME, PAYLOAD_RETIRED, RETIRED};
use super::{Continuation, Evidence, Journal, Key, Progress, Receipt, Refusal, Scope, State, Target, names, receipt};
use crate::json::view::View;
use crate::json::{JsStr, Object, Value};

/// What only the world can answer.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    /// The transcript as it is now.
    pub transcript: &'a Current,
    /// Whether evidence captured now equals the candidate's.
    pub evidence_is_fresh: bool,
    /// Whether the owner is physically gone (§10, the row of `owner_retired`).
    pub gone: Result<(), Refusal>,
    /// The journal's stored history.
    pub history: &'a History,
    /// The entries of the scope's receipts directory.
    pub scope_entries: &'a Budget,
}

/// What publishing comes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decision {
    /// A new file.
    Append {
        /// Its name.
        name: String,
        /// What it holds.
        receipt: Box<Receipt>,
    },
    /// Nothing is written and no slot taken: the journal is as far already.
    Keep(State),
}

/// The later state members that a candidate may carry.
const LATER: [&str; 7] = [ATTEMPT, ARTIFACTS_REMOVED, OUTCOME, CONTINUATION, PAYLOAD_RETIRED, NAMESPACE_RETAINED, RETIRED];

/// Decides about a candidate in memory, given the replayed journal of its transcript. Scope authority, lease, the exclusive
/// publication and the reading back are the writer's.
///
/// The order of the rules within one state is gjc's as far as the vectors fix it: evidence, shape, order, history, quotas,
/// decoding, proof.
///
/// # Errors
/// The token of the first rule that fails.
pub fn publish<'a>(candidate: impl View<'a>, scope: &Scope<'_>, journal: Option<&Journal>, facts: &Facts<'_>) -> Result<Decision, Refusal> {
    let path = candidate.str_member("transcriptPath").ok_or(Refusal::ContinuationAuthorityMismatch)?;
    if !scope.accepts(JsStr::from_wtf8(&path)) {
        return Err(Refusal::ContinuationAuthorityMismatch);
    }
    if let Some(journal) = journal {
        let prepared = &journal.prepared;
        let same_target = Target::read(candidate, scope.root.path()).is_ok_and(|target| target == prepared.target);
        let same_evidence =
            candidate.get(EVIDENCE).is_some_and(|evidence| Evidence::read(evidence).is_ok_and(|found| found == prepared.evidence));
        if !same_target || !same_evidence {
            return Err(Refusal::EvidenceMismatch);
        }
    }
    let at = journal.map(Journal::state);
    let (state, appends) = follow(candidate, at)?;
    if let (State::OwnerPending(_), Some(Progress::OwnerPending { outcome, .. })) = (state, journal.map(|journal| &journal.newest)) {
        let evidence = journal.map(|journal| &journal.prepared.evidence);
        let next =
            candidate.get(CONTINUATION).zip(evidence).and_then(|(next, evidence)| Continuation::read(next, scope.root, evidence).ok());
        if next.is_some_and(|next| !next.extends(&outcome.continuation)) {
            return Err(Refusal::ContinuationAuthorityMismatch);
        }
    }
    let record = record(candidate, scope, state);
    if appends {
        facts.history.project(receipt::measure(&record)?, facts.scope_entries)?;
    }
    let target = Target::read(candidate, scope.root.path())?;
    let receipt = Receipt::decode(&record, scope.digest, scope.root, &target)?;
    if !appends {
        return Ok(Decision::Keep(at.unwrap_or(state)));
    }
    match state {
        State::Prepared => {
            match facts.transcript {
                // Which token gjc has for a transcript that is not there is not known; it cannot be captured.
                Current::Absent => return Err(Refusal::ContinuationIdentityInvalid),
                present => present.bind(&receipt.target)?,
            }
            if !facts.evidence_is_fresh {
                return Err(Refusal::EvidenceMismatch);
            }
        }
        State::OwnerRetired => {
            facts.transcript.bind(&receipt.target)?;
            facts.gone?;
        }
        State::ArtifactsRemoved | State::OwnerPending(_) => facts.transcript.bind(&receipt.target)?,
    }
    Ok(Decision::Append { name: Key::of(receipt.target.transcript_path.as_js()).name(state), receipt: Box::new(receipt) })
}

/// Shape of the candidate and the table of §12: the state it would be stored as, and whether it is appended.
fn follow<'a, V: View<'a>>(candidate: V, at: Option<State>) -> Result<(State, bool), Refusal> {
    let order = Refusal::StateOrderInvalid;
    let only = |allowed: &[&str]| LATER.iter().all(|key| allowed.contains(key) || candidate.get(key).is_none());
    let true_or_absent = |keys: &[&str]| keys.iter().all(|key| candidate.get(key).is_none_or(|flag| flag.as_bool() == Some(true)));
    match candidate.str_member("state").as_deref() {
        Some(b"prepared") if only(&[]) => Ok((State::Prepared, at.is_none())),
        Some(b"artifacts_removed") if only(&[ARTIFACTS_REMOVED]) && true_or_absent(&[ARTIFACTS_REMOVED]) => match at {
            None => Err(order),
            Some(at) => Ok((State::ArtifactsRemoved, at == State::Prepared)),
        },
        Some(b"owner_pending") => {
            let attempt = match at {
                Some(State::ArtifactsRemoved) => 1,
                Some(State::OwnerPending(attempt)) => attempt + 1,
                _ => return Err(order),
            };
            if attempt > names::MAX_ATTEMPT {
                return Err(Refusal::AttemptInvalid);
            }
            let flags = [ARTIFACTS_REMOVED, PAYLOAD_RETIRED, NAMESPACE_RETAINED];
            let preset = candidate.get(ATTEMPT).is_none_or(|preset| preset.as_f64() == Some(attempt as f64));
            let whole = candidate.get(OUTCOME).is_some() && candidate.get(CONTINUATION).is_some() && candidate.get(RETIRED).is_none();
            let retired = is_payload_retired(candidate) || only(&[ATTEMPT, ARTIFACTS_REMOVED, OUTCOME, CONTINUATION]);
            if preset && whole && retired && true_or_absent(&flags) {
                Ok((State::OwnerPending(attempt), true))
            } else {
                Err(Refusal::OutcomeMismatch)
            }
        }
        Some(b"owner_retired") => {
            let shape = only(&[ARTIFACTS_REMOVED, RETIRED, OUTCOME]) && true_or_absent(&[ARTIFACTS_REMOVED, RETIRED]);
            match at {
                _ if !shape || candidate.get(OUTCOME).is_none() => Err(Refusal::OutcomeMismatch),
                None | Some(State::Prepared) => Err(order),
                // The stored outcome is `completed`, as every `owner_retired` receipt's is.
                Some(State::OwnerRetired) if !is_kind(candidate, "completed") => Err(Refusal::OutcomeMismatch),
                Some(at) => Ok((State::OwnerRetired, at != State::OwnerRetired)),
            }
        }
        _ => Err(Refusal::StateMismatch),
    }
}

fn is_kind<'a>(candidate: impl View<'a>, kind: &str) -> bool {
    candidate.get(OUTCOME).and_then(|outcome| outcome.get("kind")).is_some_and(|found| found.is_str(kind))
}

fn is_payload_retired<'a>(candidate: impl View<'a>) -> bool {
    is_kind(candidate, "payload_retired")
}

/// The record that the writer builds, before it is decoded: the caller's values in the order of a receipt.
fn record<'a>(candidate: impl View<'a>, scope: &Scope<'_>, state: State) -> Value {
    let mut record = Object::new();
    for key in COMMON {
        match key {
            "schemaVersion" => record.set(key, Value::Number(1.0)),
            "scope" => record.set(key, Value::string(scope.digest)),
            _ => copy(candidate, key, &mut record),
        }
    }
    let flag = |record: &mut Object, keys: &[&str]| keys.iter().for_each(|key| record.set(*key, Value::Bool(true)));
    match state {
        State::Prepared => {}
        State::ArtifactsRemoved => flag(&mut record, &[ARTIFACTS_REMOVED]),
        State::OwnerPending(attempt) => {
            record.set(ATTEMPT, Value::Number(attempt as f64));
            flag(&mut record, &[ARTIFACTS_REMOVED]);
            copy(candidate, OUTCOME, &mut record);
            copy(candidate, CONTINUATION, &mut record);
            if is_payload_retired(candidate) {
                flag(&mut record, &[PAYLOAD_RETIRED, NAMESPACE_RETAINED]);
            }
        }
        State::OwnerRetired => {
            flag(&mut record, &[ARTIFACTS_REMOVED, RETIRED]);
            copy(candidate, OUTCOME, &mut record);
        }
    }
    Value::Object(record)
}

fn copy<'a>(candidate: impl View<'a>, key: &str, record: &mut Object) {
    if let Some(value) = candidate.get(key) {
        record.set(key, value.to_value());
    }
}
