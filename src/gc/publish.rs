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
/// The order of the rules within one state is gjc's as far as the vectors fix it: binding, evidence, shape, order, history,
/// quotas, decoding, proof.
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
        // Part of the replay, which comes before every rule about the candidate.
        facts.transcript.bind(&prepared.target)?;
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
        State::OwnerRetired => facts.gone?,
        State::ArtifactsRemoved | State::OwnerPending(_) => {}
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::owner_evidence::example;
    use crate::gc::SessionsRoot;
    use crate::gc::budget::{MAX_RECEIPT_BYTES, scope_entries};

    fn candidate(state: &str, more: &str) -> Value {
        let locator = Value::parse(example("s").as_bytes()).and_then(|evidence| evidence.member("locator").cloned()).unwrap();
        let text = format!(
            r#"{{"state":"{state}","transcriptPath":"/r/v2-d/t.jsonl","sessionId":"s","cwd":"/w","transcriptIdentity":{{"dev":"1","ino":"2","nlink":"1","size":3,"mtimeNs":"4","sha256":"{}"}},"taskArtifactOwnerLocator":{},"taskArtifactOwnerDeletionEvidence":{}{more}}}"#,
            "ab".repeat(32),
            crate::json::stringify::to_text(&locator),
            example("s"),
        );
        Value::parse(text.as_bytes()).unwrap()
    }
    fn completed() -> String {
        format!(r#","taskArtifactOwnerRetirementOutcome":{{"kind":"completed","evidence":{},"nativeOutcome":{{"ok":true}}}}"#, example("s"))
    }
    /// Decides with everything in order, save for what `change` says.
    fn decide(candidate: &Value, journal: Option<&Journal>, change: impl Fn(&mut Facts<'_>)) -> Result<Decision, Refusal> {
        let root = SessionsRoot::new(b"/r").unwrap();
        let scope = Scope { digest: "d", directory: b"/r/v2-d", root: &root };
        let present = Target::read(candidate, b"/r").map_or(Current::Absent, |target| Current::Present(Box::new(target)));
        let (history, entries) = (History::default(), scope_entries());
        let mut facts = Facts { transcript: &present, evidence_is_fresh: true, gone: Ok(()), history: &history, scope_entries: &entries };
        change(&mut facts);
        publish(candidate, &scope, journal, &facts)
    }
    fn journal(progress: Progress) -> Journal {
        match decide(&candidate("prepared", ""), None, |_| {}).unwrap() {
            Decision::Append { receipt, .. } => Journal { prepared: *receipt, newest: progress, not_canonical: Vec::new() },
            Decision::Keep(_) => panic!("the first receipt is appended"),
        }
    }
    fn refusal(decision: Result<Decision, Refusal>) -> Option<Refusal> {
        decision.err()
    }

    #[test]
    fn the_first_prepared_needs_its_transcript_and_fresh_evidence() {
        let first = candidate("prepared", "");
        assert!(matches!(decide(&first, None, |_| {}), Ok(Decision::Append { .. })));
        assert_eq!(refusal(decide(&first, None, |facts| facts.transcript = &Current::Absent)), Some(Refusal::ContinuationIdentityInvalid));
        assert_eq!(refusal(decide(&first, None, |facts| facts.evidence_is_fresh = false)), Some(Refusal::EvidenceMismatch));
    }
    #[test]
    fn later_states_allow_that_the_transcript_is_gone_but_not_that_it_changed() {
        let next = candidate("artifacts_removed", "");
        let journal = journal(Progress::Prepared);
        assert!(decide(&next, Some(&journal), |facts| facts.transcript = &Current::Absent).is_ok());
        let other = Current::Present(Box::new(Target { cwd: "/x".into(), ..journal.prepared.target.clone() }));
        let root = SessionsRoot::new(b"/r").unwrap();
        let scope = Scope { digest: "d", directory: b"/r/v2-d", root: &root };
        let facts = Facts {
            transcript: &other,
            evidence_is_fresh: true,
            gone: Ok(()),
            history: &History::default(),
            scope_entries: &scope_entries(),
        };
        assert_eq!(refusal(publish(&next, &scope, Some(&journal), &facts)), Some(Refusal::TranscriptReplaced));
    }
    #[test]
    fn owner_retired_needs_the_owner_gone() {
        let last = candidate("owner_retired", &completed());
        let journal = journal(Progress::ArtifactsRemoved);
        assert!(decide(&last, Some(&journal), |_| {}).is_ok());
        let stays = |facts: &mut Facts<'_>| facts.gone = Err(Refusal::PhysicalRetirementUnverified);
        assert_eq!(refusal(decide(&last, Some(&journal), stays)), Some(Refusal::PhysicalRetirementUnverified));
    }
    #[test]
    fn a_full_history_is_told_before_the_candidate_is_decoded() {
        let malformed = candidate("owner_retired", r#","taskArtifactOwnerRetirementOutcome":{}"#);
        let journal = journal(Progress::ArtifactsRemoved);
        assert_eq!(refusal(decide(&malformed, Some(&journal), |_| {})), Some(Refusal::OutcomeInvalid));
        let root = SessionsRoot::new(b"/r").unwrap();
        let scope = Scope { digest: "d", directory: b"/r/v2-d", root: &root };
        let mut full = scope_entries();
        full.charge(50_000).unwrap();
        let mut bytes = History::default();
        (0..8).for_each(|_| bytes.admit(MAX_RECEIPT_BYTES).unwrap());
        for (history, entries) in [(History::default(), full), (bytes, scope_entries())] {
            let facts =
                Facts { transcript: &Current::Absent, evidence_is_fresh: true, gone: Ok(()), history: &history, scope_entries: &entries };
            assert_eq!(refusal(publish(&malformed, &scope, Some(&journal), &facts)), Some(Refusal::JournalCapacityExceeded));
            // What is not appended takes no slot.
            let again = publish(&candidate("prepared", ""), &scope, Some(&journal), &facts);
            assert_eq!(again, Ok(Decision::Keep(State::ArtifactsRemoved)));
        }
    }
    #[test]
    fn attempts_end_at_the_last_safe_integer() {
        let full = format!(r#"{},"taskArtifactOwnerRetirementContinuation":{{}}"#, completed().replace("completed", "uncertain"));
        let retained = crate::gc::Retained {
            why: crate::gc::Why::CleanupPending,
            continuation: crate::gc::attempt::beginning(
                &journal(Progress::Prepared).prepared.evidence,
                &SessionsRoot::new(b"/r").unwrap().owner("x"),
                None,
            ),
            native: None,
        };
        let last = journal(Progress::OwnerPending { attempt: names::MAX_ATTEMPT, outcome: Box::new(retained) });
        assert_eq!(refusal(decide(&candidate("owner_pending", &full), Some(&last), |_| {})), Some(Refusal::AttemptInvalid));
    }
}
