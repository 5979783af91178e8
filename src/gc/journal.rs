//! Replay of one transcript's journal (spec 03 §11): one receipt at a time, keeping only what later ones are compared with.

use super::receipt::{EVIDENCE, OUTCOME, RETIRED, parse};
use super::{Evidence, Key, Names, Outcome, Progress, Receipt, Refusal, Retained, Scope, SessionsRoot, State, Target};
use crate::json::{JsString, Tape, View};
use std::sync::Arc;

/// A journal that was replayed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Journal {
    /// The `prepared` receipt: target and evidence of all others.
    pub prepared: Receipt,
    /// The newest state: `owner_retired`, else the last pending, else `artifacts_removed`, else `prepared`.
    pub newest: Progress,
    /// States whose receipts say what they should in other bytes than gjc writes; gjc reads them all the same.
    pub not_canonical: Vec<State>,
}

impl Journal {
    /// The newest state, with its attempt.
    pub const fn state(&self) -> State {
        self.newest.state()
    }
    /// Whether the `completed` record of an owner-bearing deletion agrees with this journal (§15.3): the owner is retired, and
    /// evidence and outcome are the journal's. That its set of members is closed is `tombstone::History::is_completed`'s.
    pub fn completes<'a>(&self, record: impl View<'a>, root: &SessionsRoot) -> bool {
        let is_true = |key| record.get(key).and_then(View::as_bool) == Some(true);
        let evidence = record.get(EVIDENCE).and_then(|evidence| Evidence::read(evidence).ok());
        let outcome = record.get(OUTCOME).and_then(|outcome| Outcome::read(outcome, root, &self.prepared.evidence).ok());
        self.newest == Progress::OwnerRetired
            && evidence.as_ref() == Some(&self.prepared.evidence)
            && outcome == Some(Outcome::Completed)
            && is_true(RETIRED)
            && is_true("taskArtifactOwnerTranscriptDeleted")
    }
    /// The newest receipt.
    pub fn newest_receipt(&self) -> Receipt {
        Receipt { progress: self.newest.clone(), ..self.prepared.clone() }
    }
}

/// What binds a prepared target to the transcript as it is now (§11.1 step 4).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Current {
    /// There is no transcript: allowed, save for the first `prepared`.
    Absent,
    /// It is no regular file with one link, or cannot be captured.
    Irregular,
    /// It has no header with an id and a cwd that are not empty.
    WithoutHeader,
    /// Its cwd leads to another workspace.
    OtherWorkspace,
    /// It names no owner.
    WithoutOwner,
    /// What a receipt prepared now would be about.
    Present(Box<Target>),
}

impl Current {
    /// Whether a journal with this target may be gone on with.
    ///
    /// # Errors
    /// The tokens of §11.1 step 4.
    pub fn bind(&self, prepared: &Target) -> Result<(), Refusal> {
        match self {
            Current::Absent => Ok(()),
            Current::Irregular => Err(Refusal::ContinuationIdentityInvalid),
            Current::WithoutHeader => Err(Refusal::TranscriptHeaderInvalid),
            Current::OtherWorkspace => Err(Refusal::ContinuationAuthorityMismatch),
            Current::WithoutOwner => Err(Refusal::LocatorMissing),
            Current::Present(target) if **target == *prepared => Ok(()),
            Current::Present(_) => Err(Refusal::TranscriptReplaced),
        }
    }
}

/// Whose journal is replayed.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// The transcript at this path.
    Transcript(&'a JsString),
    /// Whatever transcript the `prepared` receipt of this key names, as discovery meets it (§13).
    Key(Key),
}

/// A replay under way. Receipts are given to it in the order of [`State`]: `artifacts_removed`, `owner_retired`, then the
/// pending ones by ascending attempt.
///
/// gjc decodes all receipts before it compares them: what a comparison refuses is kept until [`Replay::finish`], so that a
/// later receipt that does not decode is reported first, as gjc does. Likewise it decodes both named states before it sees
/// whether each is what its file is called; whoever replays asks [`Replay::named`] between them and the attempts.
#[derive(Debug)]
pub struct Replay<'s> {
    scope: Scope<'s>,
    prepared: Receipt,
    artifacts_removed: bool,
    owner_retired: bool,
    attempts: u64,
    last: Option<Box<Retained>>,
    misnamed: bool,
    evidence_differs: bool,
    history_breaks: bool,
    not_canonical: Vec<State>,
}

impl<'s> Replay<'s> {
    /// Begins with the bytes of `prepared` (§11.1 steps 1 and 3).
    ///
    /// # Errors
    /// The token of the first rule that fails.
    pub fn begin(scope: Scope<'s>, subject: Subject<'_>, prepared: &[u8], tape: &mut Tape) -> Result<Replay<'s>, Refusal> {
        let authority = Refusal::ContinuationAuthorityMismatch;
        let bytes = prepared;
        let prepared = parse(bytes, tape, |value| {
            let transcript = match subject {
                Subject::Transcript(transcript) => transcript.clone(),
                Subject::Key(key) => {
                    let named = value.str_member("transcriptPath").map(|path| JsString::from_wtf8(path.into_owned()));
                    named.filter(|path| Key::of(path.as_js()) == key).ok_or(authority)?
                }
            };
            if !scope.accepts(transcript.as_js()) {
                return Err(authority);
            }
            Receipt::bootstrap(value, &scope, &transcript)
        })?;
        let not_canonical = if prepared.is_canonical(bytes) { Vec::new() } else { vec![State::Prepared] };
        Ok(Replay {
            scope,
            prepared,
            artifacts_removed: false,
            owner_retired: false,
            attempts: 0,
            last: None,
            misnamed: false,
            evidence_differs: false,
            history_breaks: false,
            not_canonical,
        })
    }

    /// The target that the prepared receipt names, to be bound to the transcript as it is now.
    pub const fn target(&self) -> &Arc<Target> {
        &self.prepared.target
    }

    /// Takes the bytes of the file of `state`, which is not `prepared` (§11.1 steps 5 and 6).
    ///
    /// # Errors
    /// Its decoding token, or [`Refusal::StateMissing`] when an attempt is not what its file name says, or one is left out.
    pub fn read(&mut self, state: State, bytes: &[u8], tape: &mut Tape) -> Result<(), Refusal> {
        let receipt = parse(bytes, tape, |value| Receipt::decode(value, self.scope.digest, self.scope.root, &self.prepared.target))?;
        let as_named = receipt.state() == state;
        if as_named && !receipt.is_canonical(bytes) {
            self.not_canonical.push(state);
        }
        self.evidence_differs |= receipt.evidence != self.prepared.evidence;
        match (state, receipt.progress) {
            (State::OwnerPending(attempt), Progress::OwnerPending { outcome, .. }) if as_named && attempt == self.attempts + 1 => {
                self.attempts = attempt;
                self.history_breaks |= self.last.as_ref().is_some_and(|last| !outcome.continuation.extends(&last.continuation));
                self.last = Some(outcome);
            }
            (State::OwnerPending(_), _) => return Err(Refusal::StateMissing),
            (State::ArtifactsRemoved, Progress::ArtifactsRemoved) => self.artifacts_removed = true,
            (State::OwnerRetired, Progress::OwnerRetired) => self.owner_retired = true,
            // A second `prepared` has no file of its own.
            _ => self.misnamed = true,
        }
        Ok(())
    }

    /// Whether each named state that was read is what its file is called (§11.1 step 5).
    ///
    /// # Errors
    /// [`Refusal::StateMissing`].
    pub const fn named(&self) -> Result<(), Refusal> {
        if self.misnamed { Err(Refusal::StateMissing) } else { Ok(()) }
    }

    /// Ends the replay (§11.1 steps 7 to 9, 11). The live proof of step 10 is the caller's.
    ///
    /// # Errors
    /// What the comparisons found, in gjc's order.
    pub fn finish(self) -> Result<Journal, Refusal> {
        self.named()?;
        if (self.owner_retired || self.last.is_some()) && !self.artifacts_removed {
            return Err(Refusal::StateMissing);
        }
        if self.evidence_differs {
            return Err(Refusal::EvidenceMismatch);
        }
        if self.history_breaks {
            return Err(Refusal::ContinuationAuthorityMismatch);
        }
        let newest = match self.last {
            _ if self.owner_retired => Progress::OwnerRetired,
            Some(outcome) => Progress::OwnerPending { attempt: self.attempts, outcome },
            None if self.artifacts_removed => Progress::ArtifactsRemoved,
            None => Progress::Prepared,
        };
        Ok(Journal { prepared: self.prepared, newest, not_canonical: self.not_canonical })
    }
}

/// Replays a whole journal (§11.1). `read` gives the bytes of a state's file and is asked once for each, in gjc's order;
/// `bind` compares the prepared target with the transcript. None: there is no journal.
///
/// # Errors
/// What `read` and `bind` say, and the tokens of the replay.
pub fn replay<E: From<Refusal>, B: AsRef<[u8]>>(
    scope: Scope<'_>,
    subject: Subject<'_>,
    names: &Names,
    tape: &mut Tape,
    mut read: impl FnMut(State) -> Result<B, E>,
    bind: impl FnOnce(&Arc<Target>) -> Result<(), E>,
) -> Result<Option<Journal>, E> {
    if let Subject::Transcript(transcript) = subject
        && !scope.accepts(transcript.as_js())
    {
        return Err(Refusal::ContinuationAuthorityMismatch.into());
    }
    if !names.has(State::Prepared) {
        return match names {
            _ if names.is_empty() => Ok(None),
            _ if names.are_corrupt() => Err(Refusal::ContinuationCorrupt.into()),
            _ => Err(Refusal::StateMissing.into()),
        };
    }
    let mut replay = Replay::begin(scope, subject, read(State::Prepared)?.as_ref(), tape)?;
    bind(replay.target())?;
    if names.are_corrupt() {
        return Err(Refusal::ContinuationCorrupt.into());
    }
    let (attempts, named): (Vec<State>, Vec<State>) =
        names.states().iter().filter(|state| **state != State::Prepared).partition(|state| matches!(state, State::OwnerPending(_)));
    for state in named {
        replay.read(state, read(state)?.as_ref(), tape)?;
    }
    replay.named()?;
    if names.have_odd_attempt() {
        return Err(Refusal::ContinuationCorrupt.into());
    }
    for state in attempts {
        replay.read(state, read(state)?.as_ref(), tape)?;
    }
    Ok(Some(replay.finish()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::owner_evidence::example;
    use crate::json::Value;

    const PATH: &str = "/r/v2-d/t.jsonl";

    fn text(state: &str, more: &str) -> String {
        format!(
            r#"{{"schemaVersion":1,"state":"{state}","scope":"d","transcriptPath":"{PATH}","sessionId":"s","cwd":"/w","transcriptIdentity":{{"dev":"1","ino":"2","nlink":"1","size":3,"mtimeNs":"4","sha256":"{}"}},"taskArtifactOwnerDeletionEvidence":{}{more}}}"#,
            "ab".repeat(32),
            example("s"),
        )
    }
    fn prepared() -> String {
        text("prepared", "")
    }
    fn removed() -> String {
        text("artifacts_removed", r#","artifactsRemoved":true"#)
    }
    /// The result of replaying these files, read in the order in which they are asked for.
    fn replayed(files: &[(State, String)], odd_attempt: bool) -> (Result<Option<State>, Refusal>, Vec<State>) {
        let root = SessionsRoot::new(b"/r").unwrap();
        let scope = Scope { digest: "d", directory: b"/r/v2-d", root: &root };
        let path: JsString = PATH.into();
        let key = Key::of(path.as_js());
        let odd = odd_attempt.then(|| format!("{}owner_pending-000000001.json", key.prefix()));
        let names = Names::of(key, files.iter().map(|(state, _)| key.name(*state)).chain(odd).map(|name| (name, true)));
        let mut asked = Vec::new();
        let read = |state: State| {
            asked.push(state);
            Ok::<_, Refusal>(files.iter().find(|(of, _)| *of == state).map(|(_, text)| text.clone()).unwrap_or_default())
        };
        let journal = replay(scope, Subject::Transcript(&path), &names, &mut Tape::default(), read, |_| Ok(()));
        (journal.map(|journal| journal.map(|journal| journal.state())), asked)
    }

    #[test]
    fn each_file_is_read_once_and_in_gjcs_order() {
        let files = [(State::ArtifactsRemoved, removed()), (State::Prepared, prepared())];
        assert_eq!(replayed(&files, false), (Ok(Some(State::ArtifactsRemoved)), vec![State::Prepared, State::ArtifactsRemoved]));
        assert_eq!(replayed(&[], false), (Ok(None), vec![]));
    }
    #[test]
    fn what_gjc_did_not_write_like_this_is_noted() {
        let root = SessionsRoot::new(b"/r").unwrap();
        let scope = Scope { digest: "d", directory: b"/r/v2-d", root: &root };
        let noted = |prepared: &str, removed: &str| {
            let mut replay = Replay::begin(scope, Subject::Transcript(&PATH.into()), prepared.as_bytes(), &mut Tape::default()).unwrap();
            replay.read(State::ArtifactsRemoved, removed.as_bytes(), &mut Tape::default()).unwrap();
            replay.finish().unwrap().not_canonical
        };
        let line = |text: String| format!("{text}\n");
        assert_eq!(noted(&line(prepared()), &line(removed())), []);
        assert_eq!(noted(&prepared(), &line(removed())), [State::Prepared]);
        assert_eq!(noted(&line(prepared()), &format!(" {}", removed())), [State::ArtifactsRemoved]);
    }
    #[test]
    fn a_journal_needs_its_prepared_receipt() {
        assert_eq!(replayed(&[(State::ArtifactsRemoved, removed())], false).0, Err(Refusal::StateMissing));
        assert_eq!(replayed(&[], true).0, Err(Refusal::StateMissing), "an odd attempt is no state either, and is judged later");
    }
    /// A leftover like `…-prepared.json.tmp` is judged before anybody asks whether `prepared` is there (§11.2).
    #[test]
    fn a_name_that_is_none_is_told_where_nothing_else_is() {
        let root = SessionsRoot::new(b"/r").unwrap();
        let scope = Scope { digest: "d", directory: b"/r/v2-d", root: &root };
        let path: JsString = PATH.into();
        let key = Key::of(path.as_js());
        let with = |suffixes: &[&str]| {
            let names = Names::of(key, suffixes.iter().map(|suffix| (format!("{}{suffix}", key.prefix()), true)));
            let read = |_| Ok::<_, Refusal>(removed());
            replay(scope, Subject::Transcript(&path), &names, &mut Tape::default(), read, |_| Ok(())).map(|journal| journal.is_some())
        };
        assert_eq!(with(&["prepared.json.tmp"]), Err(Refusal::ContinuationCorrupt));
        assert_eq!(with(&["prepared.json.tmp", "artifacts_removed.json"]), Err(Refusal::ContinuationCorrupt));
        assert_eq!(with(&["artifacts_removed.json"]), Err(Refusal::StateMissing), "near miss");
        assert_eq!(with(&[]), Ok(false));
    }
    /// A pending receipt of this journal whose attempt recorded `codes`.
    fn pending(attempt: u64, codes: &[&str], evidence: Option<Evidence>) -> String {
        use crate::gc::{Continuation, List};
        let root = SessionsRoot::new(b"/r").unwrap();
        let scope = Scope { digest: "d", directory: b"/r/v2-d", root: &root };
        let first = Replay::begin(scope, Subject::Transcript(&PATH.into()), prepared().as_bytes(), &mut Tape::default()).unwrap().prepared;
        let evidence = evidence.unwrap_or(first.evidence);
        let owner = root.owner(&evidence.locator.owner_id).root;
        let mut continuation = Continuation::new(evidence.parent, JsString::from_wtf8(owner), evidence.tree.clone());
        codes.iter().for_each(|code| continuation.append(List::NativeCodes, (*code).into()));
        let outcome = Box::new(Retained { why: crate::gc::Why::CleanupPending, continuation, native: None });
        let receipt = Receipt { progress: Progress::OwnerPending { attempt, outcome }, evidence, ..first };
        String::from_utf8(receipt.encode().unwrap()).unwrap()
    }
    #[test]
    fn an_attempt_is_the_one_that_its_file_is_named_after() {
        let with = |first: u64, second: u64| {
            let files = [
                (State::Prepared, prepared()),
                (State::ArtifactsRemoved, removed()),
                (State::OwnerPending(1), pending(first, &[], None)),
                (State::OwnerPending(2), pending(second, &[], None)),
            ];
            replayed(&files, false).0
        };
        assert_eq!(with(1, 2), Ok(Some(State::OwnerPending(2))));
        for (first, second) in [(2, 2), (1, 1), (1, 3), (2, 1)] {
            assert_eq!(with(first, second), Err(Refusal::StateMissing), "{first} and {second}");
        }
    }
    #[test]
    fn evidence_that_differs_is_told_before_a_history_that_breaks() {
        let with = |second: String| {
            let files = [
                (State::Prepared, prepared()),
                (State::ArtifactsRemoved, removed()),
                (State::OwnerPending(1), pending(1, &["c"], None)),
                (State::OwnerPending(2), second),
            ];
            replayed(&files, false).0
        };
        let mut other = Evidence::read(&Value::parse(example("s").as_bytes()).unwrap()).unwrap();
        other.tree.entries[1].nlink = 4;
        assert_eq!(with(pending(2, &["c"], None)), Ok(Some(State::OwnerPending(2))));
        assert_eq!(with(pending(2, &[], None)), Err(Refusal::ContinuationAuthorityMismatch), "a code is dropped");
        assert_eq!(with(pending(2, &[], Some(other))), Err(Refusal::EvidenceMismatch), "and the evidence differs");
    }
    #[test]
    fn what_stands_at_the_transcripts_path_is_told_before_a_name_that_is_none() {
        let root = SessionsRoot::new(b"/r").unwrap();
        let scope = Scope { digest: "d", directory: b"/r/v2-d", root: &root };
        let path: JsString = PATH.into();
        let key = Key::of(path.as_js());
        let names = Names::of(key, ["prepared.json", "prepared.json.tmp"].map(|suffix| (format!("{}{suffix}", key.prefix()), true)));
        let with = |bound: Result<(), Refusal>| {
            replay(scope, Subject::Key(key), &names, &mut Tape::default(), |_| Ok::<_, Refusal>(prepared()), |_| bound).map(|_| ())
        };
        assert_eq!(with(Err(Refusal::TranscriptReplaced)), Err(Refusal::TranscriptReplaced));
        assert_eq!(with(Ok(())), Err(Refusal::ContinuationCorrupt));
    }
    #[test]
    fn both_named_states_are_decoded_before_either_is_held_to_its_name() {
        let files =
            |retired: String| [(State::Prepared, prepared()), (State::ArtifactsRemoved, prepared()), (State::OwnerRetired, retired)];
        assert_eq!(replayed(&files("{".to_owned()), false).0, Err(Refusal::ContinuationCorrupt));
        assert_eq!(replayed(&files(prepared()), false).0, Err(Refusal::StateMissing));
        assert_eq!(replayed(&files(prepared()), true).0, Err(Refusal::StateMissing), "and this before the attempts");
    }
    #[test]
    fn what_does_not_decode_is_told_before_what_does_not_compare() {
        let turned = removed().replacen("\"nlink\":\"3\"", "\"nlink\":\"4\"", 1);
        let both = [(State::Prepared, prepared()), (State::ArtifactsRemoved, turned.clone())];
        assert_eq!(replayed(&both, false).0, Err(Refusal::EvidenceMismatch));
        let broken = [both[0].clone(), both[1].clone(), (State::OwnerRetired, "{".to_owned())];
        assert_eq!(replayed(&broken, false).0, Err(Refusal::ContinuationCorrupt));
    }
    #[test]
    fn an_odd_attempt_is_met_after_the_named_states() {
        let files = [(State::Prepared, prepared()), (State::ArtifactsRemoved, "{".to_owned()), (State::OwnerPending(1), prepared())];
        let (result, asked) = replayed(&files, true);
        assert_eq!((result, asked), (Err(Refusal::ContinuationCorrupt), vec![State::Prepared, State::ArtifactsRemoved]));
    }
    #[test]
    fn discovery_finds_the_transcript_in_the_receipt_and_holds_it_to_the_key() {
        let root = SessionsRoot::new(b"/r").unwrap();
        let scope = Scope { digest: "d", directory: b"/r/v2-d", root: &root };
        let path: JsString = PATH.into();
        let begin = |key: Key, text: &str| {
            Replay::begin(scope, Subject::Key(key), text.as_bytes(), &mut Tape::default())
                .map(|replay| replay.target().transcript_path.clone())
        };
        assert_eq!(begin(Key::of(path.as_js()), &prepared()), Ok(path.clone()));
        assert_eq!(begin(Key([0; 32]), &prepared()), Err(Refusal::ContinuationAuthorityMismatch));
        assert_eq!(begin(Key::of(path.as_js()), "[]"), Err(Refusal::ContinuationAuthorityMismatch));
        assert_eq!(begin(Key::of(path.as_js()), "\u{feff}{}"), Err(Refusal::ContinuationCorrupt));
    }
    #[test]
    fn a_completed_deletion_repeats_the_retired_journal() {
        let root = SessionsRoot::new(b"/r").unwrap();
        let scope = Scope { digest: "d", directory: b"/r/v2-d", root: &root };
        let replay = Replay::begin(scope, Subject::Transcript(&PATH.into()), prepared().as_bytes(), &mut Tape::default()).unwrap();
        let journal = |newest| Journal { prepared: replay.prepared.clone(), newest, not_canonical: Vec::new() };
        let record = |session: &str| {
            let evidence = example(session);
            let text = format!(
                r#"{{"taskArtifactOwnerDeletionEvidence":{evidence},"taskArtifactOwnerRetirementOutcome":{{"kind":"completed","evidence":{evidence},"nativeOutcome":{{"ok":true}}}},"taskArtifactOwnerRetired":true,"taskArtifactOwnerTranscriptDeleted":true}}"#
            );
            Value::parse(text.as_bytes()).unwrap()
        };
        assert!(journal(Progress::OwnerRetired).completes(&record("s"), &root));
        assert!(!journal(Progress::ArtifactsRemoved).completes(&record("s"), &root));
        assert!(!journal(Progress::OwnerRetired).completes(&record("other"), &root));
        for flag in [RETIRED, "taskArtifactOwnerTranscriptDeleted"] {
            let mut unflagged = record("s");
            unflagged.as_object_mut().unwrap().set(flag, Value::Bool(false));
            assert!(!journal(Progress::OwnerRetired).completes(&unflagged, &root), "{flag}");
        }
        let mut unfinished = record("s");
        unfinished.as_object_mut().unwrap().set(OUTCOME, Value::string("completed"));
        assert!(!journal(Progress::OwnerRetired).completes(&unfinished, &root), "the outcome");
    }
    #[test]
    fn the_current_transcript_is_absent_or_the_prepared_one() {
        let root = SessionsRoot::new(b"/r").unwrap();
        let scope = Scope { digest: "d", directory: b"/r/v2-d", root: &root };
        let replay = Replay::begin(scope, Subject::Transcript(&PATH.into()), prepared().as_bytes(), &mut Tape::default()).unwrap();
        let target = Target::clone(replay.target());
        assert_eq!(Current::Absent.bind(&target), Ok(()));
        assert_eq!(Current::Present(Box::new(target.clone())).bind(&target), Ok(()));
        let other = Target { cwd: "/x".into(), ..target.clone() };
        assert_eq!(Current::Present(Box::new(other)).bind(&target), Err(Refusal::TranscriptReplaced));
        assert_eq!(Current::Irregular.bind(&target), Err(Refusal::ContinuationIdentityInvalid));
        assert_eq!(Current::WithoutOwner.bind(&target), Err(Refusal::LocatorMissing));
    }
}
