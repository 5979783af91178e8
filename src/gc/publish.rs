//! Publication of a receipt as a pure decision (spec 03 §12): what a writer would append to a journal, or why it refuses.

use super::budget::{Budget, History, MAX_RECEIPT_BYTES};
use super::journal::Current;
use super::receipt::{ARTIFACTS_REMOVED, ATTEMPT, COMMON, CONTINUATION, EVIDENCE, NAMESPACE_RETAINED, OUTCOME, PAYLOAD_RETIRED, RETIRED};
use super::{Continuation, Evidence, Journal, Key, Progress, Receipt, Refusal, Scope, State, Target, names, receipt};
use crate::json::view::View;
use crate::json::{JsStr, Object, Value};
use std::sync::Arc;

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

/// Decides about a candidate in memory, given the replayed journal of its transcript. Scope authority, lease, the exclusive
/// publication and the reading back are the writer's.
///
/// The order of the rules: binding, evidence, order of the states, history, shape, quotas, decoding, proof. The history rule is
/// asked of the outcome's continuation as it is said, before anything is known of its grammar.
///
/// # Errors
/// The token of the first rule that fails.
pub fn publish<'a>(candidate: impl View<'a>, scope: &Scope<'_>, journal: Option<&Journal>, facts: &Facts<'_>) -> Result<Decision, Refusal> {
    let candidate = &in_memory(candidate);
    let path = candidate.str_member("transcriptPath").ok_or(Refusal::ContinuationAuthorityMismatch)?;
    if !scope.accepts(JsStr::from_wtf8(&path)) {
        return Err(Refusal::ContinuationAuthorityMismatch);
    }
    if let Some(journal) = journal {
        let prepared = &journal.prepared;
        // Part of the replay, which comes before every rule about the candidate.
        facts.transcript.bind(&prepared.target)?;
        let same_target = Target::read(candidate, scope.root.path()).is_ok_and(|target| target == *prepared.target);
        let same_evidence =
            candidate.member(EVIDENCE).is_some_and(|evidence| Evidence::read(evidence).is_ok_and(|found| found == prepared.evidence));
        if !same_target || !same_evidence {
            return Err(Refusal::EvidenceMismatch);
        }
    }
    let at = journal.map(Journal::state);
    let (state, appends) = follow(candidate, at)?;
    if let (State::OwnerPending(_), Some(Progress::OwnerPending { outcome, .. })) = (state, journal.map(|journal| &journal.newest)) {
        let next = candidate.member(OUTCOME).filter(|next| !has_kind(next, "completed")).and_then(|next| next.member("continuation"));
        if !next.and_then(Continuation::claimed).is_some_and(|next| next.extends(&outcome.continuation)) {
            return Err(Refusal::ContinuationAuthorityMismatch);
        }
    }
    shape(candidate, state)?;
    let record = record(candidate, scope, state);
    let length = receipt::measure(&record)?;
    if appends {
        facts.history.project(length, facts.scope_entries)?;
    } else if length > MAX_RECEIPT_BYTES {
        return Err(Refusal::ReceiptCapacityExceeded);
    }
    let target = Arc::new(Target::read(candidate, scope.root.path())?);
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

/// The candidate as the writer knows it: of the transcript's identity it takes the six members and no other.
fn in_memory<'a>(candidate: impl View<'a>) -> Value {
    let mut known = candidate.to_value();
    let identity = known.member("transcriptIdentity").and_then(Value::as_object).map(|identity| {
        let six = ["dev", "ino", "nlink", "size", "mtimeNs", "sha256"];
        six.iter().filter_map(|key| Some((*key, identity.get(key)?.clone()))).collect::<Object>()
    });
    if let (Some(identity), Some(known)) = (identity, known.as_object_mut()) {
        known.set("transcriptIdentity", Value::Object(identity));
    }
    known
}

/// The table of §12: the state that the candidate would be stored as, and whether it is appended.
fn follow(candidate: &Value, at: Option<State>) -> Result<(State, bool), Refusal> {
    let state = match (candidate.str_member("state").as_deref(), at) {
        (Some(b"prepared"), _) => State::Prepared,
        (Some(b"artifacts_removed"), Some(_)) => State::ArtifactsRemoved,
        (Some(b"owner_pending"), Some(State::ArtifactsRemoved)) => State::OwnerPending(1),
        (Some(b"owner_pending"), Some(State::OwnerPending(attempt))) => State::OwnerPending(attempt.saturating_add(1)),
        (Some(b"owner_retired"), Some(State::ArtifactsRemoved | State::OwnerPending(_) | State::OwnerRetired)) => State::OwnerRetired,
        _ => return Err(Refusal::StateOrderInvalid),
    };
    let appends = match state {
        State::Prepared => at.is_none(),
        State::ArtifactsRemoved => at == Some(State::Prepared),
        State::OwnerPending(_) => true,
        State::OwnerRetired => at != Some(State::OwnerRetired),
    };
    Ok((state, appends))
}

/// The members that a candidate of this state may and must carry. What the writer sets itself may be left out.
fn shape(candidate: &Value, state: State) -> Result<(), Refusal> {
    let absent = |keys: &[&str]| keys.iter().all(|key| candidate.member(key).is_none());
    let absent_or = |key: &str, flag: bool| candidate.member(key).is_none_or(|said| said.as_bool() == Some(flag));
    let outcome = candidate.member(OUTCOME).filter(|outcome| outcome.truthy());
    let completed = outcome.is_some_and(|outcome| has_kind(outcome, "completed"));
    let (holds, refusal) = match state {
        State::Prepared | State::ArtifactsRemoved => {
            let bare = absent(&[ATTEMPT, OUTCOME, CONTINUATION, PAYLOAD_RETIRED, NAMESPACE_RETAINED, RETIRED]);
            let flag = if state == State::Prepared { absent(&[ARTIFACTS_REMOVED]) } else { absent_or(ARTIFACTS_REMOVED, true) };
            (bare && flag, Refusal::StateMismatch)
        }
        State::OwnerPending(attempt) => {
            let retired = outcome.is_some_and(|outcome| has_kind(outcome, "payload_retired"));
            let preset = candidate.member(ATTEMPT).is_none_or(|preset| preset.as_f64() == Some(attempt as f64));
            let continuation = outcome.and_then(|outcome| outcome.member("continuation"));
            let repeated = candidate.member(CONTINUATION).is_none_or(|said| continuation == Some(said));
            let flags = absent_or(ARTIFACTS_REMOVED, true) && absent_or(PAYLOAD_RETIRED, retired) && absent_or(NAMESPACE_RETAINED, retired);
            (outcome.is_some() && !completed && absent(&[RETIRED]) && preset && repeated && flags, Refusal::OutcomeMismatch)
        }
        State::OwnerRetired => {
            let others = absent(&[ATTEMPT, CONTINUATION, PAYLOAD_RETIRED, NAMESPACE_RETAINED]);
            (completed && others && absent_or(ARTIFACTS_REMOVED, true) && absent_or(RETIRED, true), Refusal::OutcomeMismatch)
        }
    };
    match state {
        _ if !holds => Err(refusal),
        State::OwnerPending(attempt) if attempt > names::MAX_ATTEMPT => Err(Refusal::AttemptInvalid),
        _ => Ok(()),
    }
}

fn has_kind(outcome: &Value, kind: &str) -> bool {
    outcome.member("kind").is_some_and(|found| found.is_str(kind))
}

/// The record that the writer builds, before it is decoded: the caller's values in the order of a receipt.
fn record(candidate: &Value, scope: &Scope<'_>, state: State) -> Value {
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
            let outcome = candidate.member(OUTCOME);
            // The one of the outcome, whether or not the candidate repeats it.
            if let Some(continuation) = outcome.and_then(|outcome| outcome.member("continuation")) {
                record.set(CONTINUATION, continuation.clone());
            }
            if outcome.is_some_and(|outcome| has_kind(outcome, "payload_retired")) {
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

fn copy(candidate: &Value, key: &str, record: &mut Object) {
    if let Some(value) = candidate.member(key) {
        record.set(key, value.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::owner_evidence::example;
    use crate::gc::SessionsRoot;
    use crate::gc::budget::scope_entries;

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
        let other = Current::Present(Box::new(Target { cwd: "/x".into(), ..Target::clone(&journal.prepared.target) }));
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
    fn evidence_is_told_before_the_order_of_states() {
        let order = candidate("owner_retired", &completed());
        let moved =
            Value::parse(crate::json::stringify::to_text(&order).replacen("\"nlink\":\"3\"", "\"nlink\":\"4\"", 1).as_bytes()).unwrap();
        assert_eq!(refusal(decide(&order, Some(&journal(Progress::Prepared)), |_| {})), Some(Refusal::StateOrderInvalid));
        assert_eq!(refusal(decide(&moved, Some(&journal(Progress::Prepared)), |_| {})), Some(Refusal::EvidenceMismatch));
    }
    /// Every member of the target counts, and so does that it can be read at all.
    #[test]
    fn a_candidate_of_another_target_differs_though_its_evidence_is_the_same() {
        let next = crate::json::stringify::to_text(&candidate("artifacts_removed", ""));
        let journal = journal(Progress::Prepared);
        let decided = |from: &str, to: &str| {
            let other = Value::parse(next.replacen(from, to, 1).as_bytes()).unwrap();
            refusal(decide(&other, Some(&journal), |facts| facts.transcript = &Current::Absent))
        };
        for (from, to) in [
            ("\"cwd\":\"/w\"", "\"cwd\":\"/x\""),
            ("/r/v2-d/t.jsonl", "/r/v2-d/u.jsonl"),
            ("\"mtimeNs\":\"4\"", "\"mtimeNs\":\"5\""),
            ("\"taskArtifactOwnerLocator\"", "\"locator\""),
        ] {
            assert_eq!(decided(from, to), Some(Refusal::EvidenceMismatch), "{to}");
        }
        assert_eq!(decided("{", "{"), None, "near miss: the same");
    }
    #[test]
    fn a_candidate_is_decoded_before_the_owner_is_looked_for() {
        let malformed = candidate("owner_retired", r#","taskArtifactOwnerRetirementOutcome":{"kind":"completed"}"#);
        let stays = |facts: &mut Facts<'_>| facts.gone = Err(Refusal::PhysicalRetirementUnverified);
        assert_eq!(refusal(decide(&malformed, Some(&journal(Progress::ArtifactsRemoved)), stays)), Some(Refusal::OutcomeInvalid));
    }
    #[test]
    fn a_full_history_is_told_before_the_candidate_is_decoded() {
        let malformed = candidate("owner_retired", r#","taskArtifactOwnerRetirementOutcome":{"kind":"completed"}"#);
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
    /// An outcome that left the whole tree, with `more` members of its continuation, and of it.
    fn uncertain(in_continuation: &str, more: &str) -> String {
        let evidence = Value::parse(example("s").as_bytes()).unwrap();
        let member = |key| crate::json::stringify::to_text(evidence.member(key).unwrap());
        let owner = crate::agent::owner_evidence::owner_id("s".into()).unwrap();
        format!(
            r#"{{"kind":"uncertain","evidence":{},"continuation":{{"schemaVersion":1,"parentIdentity":{},"retainedRootPath":"/r/.task-artifact-owners/{owner}","retainedTreeSnapshot":{}{in_continuation}}},"reason":"r"{more}}}"#,
            example("s"),
            member("parentIdentity"),
            member("treeSnapshot"),
        )
    }
    fn pending(outcome: &str, more: &str) -> Value {
        candidate("owner_pending", &format!(r#","taskArtifactOwnerRetirementOutcome":{outcome}{more}"#))
    }
    /// The journal after the first attempt, which recorded a native code.
    fn attempted() -> Journal {
        let first = pending(&uncertain(r#","nativeCodes":["c"]"#, ""), "");
        match decide(&first, Some(&journal(Progress::ArtifactsRemoved)), |_| {}).unwrap() {
            Decision::Append { receipt, .. } => journal(receipt.progress),
            Decision::Keep(_) => panic!("an attempt is appended"),
        }
    }
    const CONTINUATION_OF: &str = "\"taskArtifactOwnerRetirementContinuation\"";

    #[test]
    fn the_order_of_states_comes_before_the_shape() {
        let order = Some(Refusal::StateOrderInvalid);
        let odd = |state: &str| candidate(state, &format!(",\"taskArtifactOwnerRetired\":1,{CONTINUATION_OF}:{{}}"));
        for state in ["artifacts_removed", "owner_pending", "owner_retired", "bogus"] {
            assert_eq!(refusal(decide(&odd(state), None, |_| {})), order, "{state} without a journal");
        }
        let prepared = journal(Progress::Prepared);
        for state in ["owner_pending", "owner_retired", "bogus"] {
            assert_eq!(refusal(decide(&odd(state), Some(&prepared), |_| {})), order, "{state} behind prepared");
        }
        let stateless = odd("bogus");
        let mut stateless = stateless.as_object().unwrap().clone();
        stateless.remove("state");
        assert_eq!(refusal(decide(&Value::Object(stateless), Some(&prepared), |_| {})), order);
        assert_eq!(refusal(decide(&odd("artifacts_removed"), Some(&prepared), |_| {})), Some(Refusal::StateMismatch), "near miss");
    }
    #[test]
    fn the_history_of_attempts_comes_before_the_shape_of_the_next() {
        let (journal, authority) = (attempted(), Some(Refusal::ContinuationAuthorityMismatch));
        let kept = uncertain(r#","nativeCodes":["c"]"#, "");
        let next = |candidate: &Value| refusal(decide(candidate, Some(&journal), |_| {}));
        assert_eq!(next(&pending(&kept, "")), None);
        assert_eq!(next(&candidate("owner_pending", "")), authority, "no outcome");
        assert_eq!(next(&candidate("owner_pending", &completed())), authority, "a completed one");
        assert_eq!(
            next(&pending(&uncertain("", ""), ",\"ownerRetirementAttempt\":7")),
            authority,
            "a code is dropped, and a wrong attempt"
        );
        assert_eq!(next(&pending(&kept, ",\"ownerRetirementAttempt\":7")), Some(Refusal::OutcomeMismatch), "only that");
        let elsewhere = |outcome: String| outcome.replace("\"retainedRootPath\":\"/r/", "\"retainedRootPath\":\"/x/");
        assert_eq!(next(&pending(&elsewhere(uncertain("", "")), "")), authority, "what does not decode, and drops a code");
        assert_eq!(next(&pending(&elsewhere(kept.clone()), "")), Some(Refusal::ContinuationInvalid), "what only does not decode");
        let grown = kept.replace("\"relativePath\":\"0.bash.log\"", "\"relativePath\":\"1.bash.log\"").replacen("1.bash", "0.bash", 1);
        assert_eq!(next(&pending(&grown, "")), authority, "an entry that was never evidenced");
    }
    #[test]
    fn a_pending_candidate_may_leave_out_what_the_writer_sets() {
        let journal = journal(Progress::ArtifactsRemoved);
        let first = |more: &str| refusal(decide(&pending(&uncertain("", ""), more), Some(&journal), |_| {}));
        let continuation = Value::parse(uncertain("", "").as_bytes()).unwrap().member("continuation").unwrap().clone();
        let repeated = crate::json::stringify::to_text(&continuation);
        let turned = repeated.replacen("\"schemaVersion\":1,", "", 1).trim_end_matches('}').to_owned();
        assert_eq!(first(""), None);
        assert_eq!(first(&format!(",{CONTINUATION_OF}:{repeated}")), None);
        assert_eq!(first(&format!(",{CONTINUATION_OF}:{turned}}},\"schemaVersion\":1}}")), None, "in another order of members");
        assert_eq!(first(&format!(",{CONTINUATION_OF}:{{}}")), Some(Refusal::OutcomeMismatch));
        let malformed = pending("{\"kind\":\"uncertain\"}", &format!(",{CONTINUATION_OF}:{{}}"));
        assert_eq!(refusal(decide(&malformed, Some(&journal), |_| {})), Some(Refusal::OutcomeMismatch), "before the outcome is decoded");
        for flag in ["taskArtifactOwnerPayloadRetired", "taskArtifactOwnerNamespaceRetained"] {
            assert_eq!(first(&format!(",\"{flag}\":false")), None, "{flag}: nothing of the payload is retired");
            assert_eq!(first(&format!(",\"{flag}\":true")), Some(Refusal::OutcomeMismatch), "{flag}");
        }
        assert_eq!(first(",\"taskArtifactOwnerRetired\":true"), Some(Refusal::OutcomeMismatch));
    }
    #[test]
    fn owner_retired_is_completed_before_it_is_decoded() {
        for progress in [Progress::ArtifactsRemoved, attempted().newest, Progress::OwnerRetired] {
            let journal = journal(progress);
            for outcome in ["{}", "{\"kind\":\"uncertain\"}", "{\"kind\":\"bogus\"}", "null"] {
                let candidate = candidate("owner_retired", &format!(r#","taskArtifactOwnerRetirementOutcome":{outcome}"#));
                assert_eq!(refusal(decide(&candidate, Some(&journal), |_| {})), Some(Refusal::OutcomeMismatch), "{outcome}");
            }
            let malformed = candidate("owner_retired", r#","taskArtifactOwnerRetirementOutcome":{"kind":"completed"}"#);
            assert_eq!(refusal(decide(&malformed, Some(&journal), |_| {})), Some(Refusal::OutcomeInvalid), "near miss");
        }
    }
    #[test]
    fn of_the_identity_in_memory_the_six_members_count() {
        let more = candidate("prepared", "").as_object().map(|first| {
            let mut first = first.clone();
            let mut identity = first.get("transcriptIdentity").and_then(Value::as_object).unwrap().clone();
            identity.set("mtimeMs", Value::Number(1.0));
            first.set("transcriptIdentity", Value::Object(identity));
            Value::Object(first)
        });
        let kept = decide(&more.unwrap(), Some(&journal(Progress::ArtifactsRemoved)), |_| {});
        assert_eq!(kept, Ok(Decision::Keep(State::ArtifactsRemoved)));
    }
    #[test]
    fn attempts_end_at_the_last_safe_integer() {
        let Progress::OwnerPending { outcome, .. } = attempted().newest else { panic!("an attempt was made") };
        let last = journal(Progress::OwnerPending { attempt: names::MAX_ATTEMPT, outcome });
        let next = pending(&uncertain(r#","nativeCodes":["c"]"#, ""), "");
        assert_eq!(refusal(decide(&next, Some(&last), |_| {})), Some(Refusal::AttemptInvalid));
    }

    /// What takes no slot is measured all the same, before it is decoded: no writer makes a candidate of more than 64 MiB.
    #[test]
    fn a_candidate_above_64_mib_is_refused_even_when_the_journal_is_as_far_already() {
        let retired = journal(Progress::OwnerRetired);
        let root = SessionsRoot::new(b"/r").unwrap();
        let scope = Scope { digest: "d", directory: b"/r/v2-d", root: &root };
        // With a member that no outcome has.
        let padded = |letters: usize| {
            let mut padded = candidate("owner_retired", &completed());
            let mut outcome = padded.member(OUTCOME).and_then(Value::as_object).cloned().unwrap();
            outcome.set("pad", Value::string("x".repeat(letters)));
            padded.as_object_mut().unwrap().set(OUTCOME, Value::Object(outcome));
            padded
        };
        let bare = receipt::measure(&record(&padded(0), &scope, State::OwnerRetired)).unwrap();
        let room = usize::try_from(MAX_RECEIPT_BYTES - bare).unwrap();
        let said = |length: usize| refusal(decide(&padded(length), Some(&retired), |_| {}));
        assert_eq!(said(room), Some(Refusal::OutcomeInvalid), "exactly 64 MiB");
        assert_eq!(said(room + 1), Some(Refusal::ReceiptCapacityExceeded));
    }
}
