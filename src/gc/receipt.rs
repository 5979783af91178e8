//! One retirement receipt: its target, strict decoding in gjc's order (spec 03 §4, §5.1, §6), canonical encoding and its
//! measured length (§3).

use super::budget::MAX_RECEIPT_BYTES;
use super::{Continuation, Outcome, Refusal, Retained, Scope, SessionsRoot, State, Why, names::MAX_ATTEMPT};
use crate::agent::owner_evidence::{Decimal, Evidence, Locator, TreeSnapshot};
use crate::agent::record::{TranscriptIdentity, closed, equals, is_closed, is_text};
use crate::json::stringify::{self, Length, Out, object};
use crate::json::view::View;
use crate::json::{JsString, Node, Tape, Value, scan, spelling, text};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The identity of a transcript when it was prepared (§5.1). Its link count is always 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// Device; not bounded to 64 bits here.
    pub dev: Decimal,
    /// Inode; not bounded to 64 bits here.
    pub ino: Decimal,
    /// Bytes, a safe integer.
    pub size: u64,
    /// Modification time in nanoseconds since 1970; may be negative.
    pub mtime_ns: Decimal,
    /// SHA-256 of the whole transcript.
    pub sha256: [u8; 32],
}

impl Identity {
    /// Reads an identity record; none for any defect.
    pub fn read<'a>(value: impl View<'a>) -> Option<Identity> {
        let members = closed(value, ["dev", "ino", "nlink", "size", "mtimeNs", "sha256"], [])?;
        let ([dev, ino, nlink, size, modified, sha256], []) = members;
        if !nlink.is_str("1") {
            return None;
        }
        Some(Identity {
            dev: Decimal::unsigned(&dev.as_str()?)?,
            ino: Decimal::unsigned(&ino.as_str()?)?,
            size: size.as_f64().and_then(safe_integer)?,
            mtime_ns: Decimal::signed(&modified.as_str()?)?,
            sha256: spelling::hex64(&sha256.as_str()?)?,
        })
    }
    /// The identity of a transcript as it is on disk; none unless it has one link.
    pub fn of(file: &TranscriptIdentity) -> Option<Identity> {
        (file.nlink == 1).then_some(Identity {
            dev: file.dev.into(),
            ino: file.ino.into(),
            size: file.size,
            mtime_ns: file.mtime_ns.into(),
            sha256: spelling::hex64(file.sha256.as_bytes())?,
        })
    }
    fn write<O: Out>(&self, out: &mut O) {
        object(out, |identity| {
            self.dev.write("dev", identity);
            self.ino.write("ino", identity);
            identity.text("nlink", "1");
            identity.number("size", self.size as f64);
            self.mtime_ns.write("mtimeNs", identity);
            identity.hex64("sha256", &self.sha256);
        });
    }
}

/// A safe integer that is not negative; -0 is 0.
fn safe_integer(number: f64) -> Option<u64> {
    (number.fract() == 0.0 && (0.0..=MAX_ATTEMPT as f64).contains(&number)).then_some(number as u64)
}

/// What a journal is about: one transcript as it was prepared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// Absolute, normalised, below the sessions root.
    pub transcript_path: JsString,
    /// Session id; not empty.
    pub session_id: JsString,
    /// The header's `cwd`.
    pub cwd: JsString,
    /// The transcript's identity.
    pub identity: Identity,
    /// Where its owner is.
    pub locator: Locator,
}

impl Target {
    /// Reads a target as a caller of gjc's codec gives it (§6 steps 2 to 5); `root` is not yet known to be normalised.
    ///
    /// # Errors
    /// The tokens of those steps.
    pub fn read<'a>(value: impl View<'a>, root: &[u8]) -> Result<Target, Refusal> {
        let authority = Refusal::ContinuationAuthorityMismatch;
        let text = |key| value.str_member(key).map(|text| JsString::from_wtf8(text.into_owned())).ok_or(authority);
        let (transcript_path, session_id, cwd) = (text("transcriptPath")?, text("sessionId")?, text("cwd")?);
        let root = SessionsRoot::new(root)?;
        let locator = value.get("taskArtifactOwnerLocator").and_then(Locator::of).ok_or(authority)?;
        if !has_authority(&transcript_path, &session_id, &root) {
            return Err(authority);
        }
        let identity = value.get("transcriptIdentity").and_then(Identity::read).ok_or(Refusal::ContinuationIdentityInvalid)?;
        Ok(Target { transcript_path, session_id, cwd, identity, locator })
    }
}

impl Target {
    /// A digest of everything that it says, for those who compare very many.
    pub fn digest(&self) -> [u8; 32] {
        let Target { transcript_path, session_id, cwd, identity, locator } = self;
        let mut digest = Sha256::new();
        for text in [transcript_path, session_id, cwd] {
            digest.update((text.as_bytes().len() as u64).to_le_bytes());
            digest.update(text.as_bytes());
        }
        // No number holds a NUL.
        digest.update(format!("{}\0{}\0{}\0{}\0", identity.dev, identity.ino, identity.size, identity.mtime_ns));
        digest.update(identity.sha256);
        digest.update(format!("{}\0{}\0{}", locator.owner_id, locator.directory_dev, locator.directory_ino));
        digest.finalize().into()
    }
}

/// Step 4 without the locator.
fn has_authority(transcript_path: &JsString, session_id: &JsString, root: &SessionsRoot) -> bool {
    !session_id.as_bytes().is_empty() && root.holds(transcript_path.as_bytes())
}

/// How far a receipt says the retirement is, with what that state alone records.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Progress {
    /// `prepared`
    Prepared,
    /// `artifacts_removed`
    ArtifactsRemoved,
    /// `owner_pending`
    OwnerPending {
        /// From 1.
        attempt: u64,
        /// Never `completed`. Its continuation is the receipt's as well.
        outcome: Box<Retained>,
    },
    /// `owner_retired`; its outcome is `completed`, which says nothing more.
    OwnerRetired,
}

impl Progress {
    /// The state without its details.
    pub const fn state(&self) -> State {
        match self {
            Progress::Prepared => State::Prepared,
            Progress::ArtifactsRemoved => State::ArtifactsRemoved,
            Progress::OwnerPending { attempt, .. } => State::OwnerPending(*attempt),
            Progress::OwnerRetired => State::OwnerRetired,
        }
    }
}

/// A receipt that was decoded strictly.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Receipt {
    /// Scope digest.
    pub scope: String,
    /// The transcript; all receipts of a journal share it.
    pub target: Arc<Target>,
    /// The owner. Its session and locator are the target's.
    pub evidence: Evidence,
    /// State and what belongs to it.
    pub progress: Progress,
}

/// The members that every receipt has, in order.
pub(super) const COMMON: [&str; 8] =
    ["schemaVersion", "state", "scope", "transcriptPath", "sessionId", "cwd", "transcriptIdentity", "taskArtifactOwnerDeletionEvidence"];
pub(super) const EVIDENCE: &str = "taskArtifactOwnerDeletionEvidence";
pub(super) const ATTEMPT: &str = "ownerRetirementAttempt";
pub(super) const ARTIFACTS_REMOVED: &str = "artifactsRemoved";
pub(super) const OUTCOME: &str = "taskArtifactOwnerRetirementOutcome";
pub(super) const CONTINUATION: &str = "taskArtifactOwnerRetirementContinuation";
pub(super) const PAYLOAD_RETIRED: &str = "taskArtifactOwnerPayloadRetired";
pub(super) const NAMESPACE_RETAINED: &str = "taskArtifactOwnerNamespaceRetained";
pub(super) const RETIRED: &str = "taskArtifactOwnerRetired";

/// Runs `with` on the JSON value of a stored receipt. Readers are lenient about bytes: bad UTF-8 becomes U+FFFD; white
/// space, key order and duplicates do not matter; a byte order mark fails. `tape` is reused from receipt to receipt.
///
/// # Errors
/// [`Refusal::ContinuationCorrupt`] for what JSON.parse refuses, else what `with` says.
pub fn parse<T>(bytes: &[u8], tape: &mut Tape, with: impl FnOnce(Node<'_>) -> Result<T, Refusal>) -> Result<T, Refusal> {
    let corrupt = Refusal::ContinuationCorrupt;
    let text = text::utf8_lossy(bytes);
    match scan::scan(&text, 0, tape) {
        scan::Outcome::Complete { end } if scan::skip_space(&text, end) == text.len() => with(tape.root(&text).ok_or(corrupt)?),
        _ => Err(corrupt),
    }
}

impl Receipt {
    /// Decodes a receipt about a known target: steps 1 and 6 to 13 of §6. (Steps 2 to 5 made the target.)
    ///
    /// # Errors
    /// The token of the first step that fails.
    pub fn decode<'a>(value: impl View<'a>, scope: &str, root: &SessionsRoot, target: &Arc<Target>) -> Result<Receipt, Refusal> {
        if !value.is_record() {
            return Err(Refusal::ContinuationCorrupt);
        }
        let state = shape(value, scope, target)?;
        let identity = value.get("transcriptIdentity").and_then(Identity::read).ok_or(Refusal::ContinuationCorrupt)?;
        if identity != target.identity {
            return Err(Refusal::TranscriptReplaced);
        }
        let evidence = value.get(EVIDENCE).and_then(|evidence| Evidence::read(evidence).ok()).ok_or(Refusal::EvidenceCorrupt)?;
        if evidence.session_id != target.session_id || evidence.locator != target.locator {
            return Err(Refusal::ContinuationLocatorMismatch);
        }
        let progress = progress(value, state, root, &evidence)?;
        Ok(Receipt { scope: scope.to_owned(), target: Arc::clone(target), evidence, progress })
    }

    /// Decodes the `prepared` receipt of a journal, which brings its target itself (§11.1 step 3).
    ///
    /// # Errors
    /// The token of the first rule that fails.
    pub fn bootstrap<'a>(value: impl View<'a>, scope: &Scope<'_>, transcript_path: &JsString) -> Result<Receipt, Refusal> {
        let authority = Refusal::ContinuationAuthorityMismatch;
        if !value.is_record() {
            return Err(Refusal::ContinuationCorrupt);
        }
        if !is_text(value, "state", State::Prepared.word().as_bytes()) || !is_text(value, "transcriptPath", transcript_path.as_bytes()) {
            return Err(authority);
        }
        let text = |key| value.str_member(key).map(|text| JsString::from_wtf8(text.into_owned())).ok_or(authority);
        let (session_id, cwd) = (text("sessionId")?, text("cwd")?);
        let evidence = Evidence::read(value.get(EVIDENCE).ok_or(Refusal::EvidenceInvalid)?)?;
        let identity = value.get("transcriptIdentity").and_then(Identity::read).ok_or(Refusal::ContinuationCorrupt)?;
        if !has_authority(transcript_path, &session_id, scope.root) {
            return Err(authority);
        }
        let target = Target { transcript_path: transcript_path.clone(), session_id, cwd, identity, locator: evidence.locator.clone() };
        shape(value, scope.digest, &target)?;
        if evidence.session_id != target.session_id {
            return Err(Refusal::ContinuationLocatorMismatch);
        }
        Ok(Receipt { scope: scope.digest.to_owned(), target: Arc::new(target), evidence, progress: Progress::Prepared })
    }

    /// State and, when pending, attempt.
    pub const fn state(&self) -> State {
        self.progress.state()
    }

    /// Writes the canonical JSON text, without the LF.
    pub fn write<O: Out>(&self, out: &mut O) {
        self.write_at(&self.progress, |out| self.evidence.write(out), |outcome, out| outcome.continuation.write(out), out);
    }
    /// The same receipt at another progress, with what is written wherever its evidence or the continuation of the outcome stands.
    fn write_at<O: Out>(&self, progress: &Progress, evidence: impl Fn(&mut O), continuation: impl Fn(&Retained, &mut O), out: &mut O) {
        object(out, |members| {
            members.number("schemaVersion", 1.0);
            members.text("state", progress.state().word());
            members.text("scope", &self.scope);
            members.text("transcriptPath", self.target.transcript_path.as_bytes());
            members.text("sessionId", self.target.session_id.as_bytes());
            members.text("cwd", self.target.cwd.as_bytes());
            members.with("transcriptIdentity", |out| self.target.identity.write(out));
            members.with(EVIDENCE, &evidence);
            match progress {
                Progress::Prepared => {}
                Progress::ArtifactsRemoved => members.flag(ARTIFACTS_REMOVED, true),
                Progress::OwnerPending { attempt, outcome } => {
                    members.number(ATTEMPT, *attempt as f64);
                    members.flag(ARTIFACTS_REMOVED, true);
                    members.with(OUTCOME, |out| outcome.write_with(&evidence, |out| continuation(outcome, out), out));
                    members.with(CONTINUATION, |out| continuation(outcome, out));
                    if outcome.why == Why::PayloadRetired {
                        members.flag(PAYLOAD_RETIRED, true);
                        members.flag(NAMESPACE_RETAINED, true);
                    }
                }
                Progress::OwnerRetired => {
                    members.flag(ARTIFACTS_REMOVED, true);
                    members.flag(RETIRED, true);
                    members.with(OUTCOME, |out| Outcome::Completed.write(&self.evidence, out));
                }
            }
        });
    }

    /// The length of the encoded receipt, the LF included, without making it.
    pub fn measure(&self) -> u64 {
        1 + length(|out| self.write(out))
    }

    /// The bytes that gjc would store, when they are not too many.
    ///
    /// # Errors
    /// [`Refusal::ReceiptCapacityExceeded`] above 64 MiB, told before anything is made.
    pub fn encode(&self) -> Result<Vec<u8>, Refusal> {
        let length = self.measure();
        if length > MAX_RECEIPT_BYTES {
            return Err(Refusal::ReceiptCapacityExceeded);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
        self.write(&mut bytes);
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Whether these bytes are exactly what gjc would write for this receipt. Nothing is made; the first difference ends it.
    pub fn is_canonical(&self, bytes: &[u8]) -> bool {
        let mut rest = Rest(Some(bytes));
        self.write(&mut rest);
        rest.0 == Some(b"\n")
    }

    /// The length of the `owner_pending` receipt that would follow if the next attempt left the tree of `continuation` (or,
    /// without one, the whole evidenced tree) and ended with the shortest outcome; what comes is at least about this long.
    pub fn next_pending_length(&self) -> u64 {
        self.pending_length_after(&self.progress)
    }

    /// The same of the journal of this `prepared` receipt that stands at `newest`.
    pub fn pending_length_after(&self, newest: &Progress) -> u64 {
        // Nothing is copied, and what stands in the receipt several times is measured once: a tree may have 50,000 entries.
        let tree = length(|out| self.evidence.tree.write(out));
        let evidence = length(|out| self.evidence.write_with(|out: &mut Length| out.0 += tree, out));
        let hollow = TreeSnapshot { root: self.evidence.tree.root, entries: Vec::new() };
        let (attempt, continuation) = match newest {
            Progress::OwnerPending { attempt, outcome } => (attempt.saturating_add(1), length(|out| outcome.continuation.write(out))),
            _ => {
                let root = JsString::from_wtf8(removing_root(self));
                let entries = tree - length(|out| hollow.write(out));
                let around = Continuation::new(self.evidence.parent, root, hollow.clone());
                (1, entries + length(|out| around.write(out)))
            }
        };
        let continued = Continuation::new(self.evidence.parent, JsString::default(), hollow);
        let outcome = Box::new(Retained { why: Why::CleanupPending, continuation: continued, native: None });
        let progress = Progress::OwnerPending { attempt, outcome };
        1 + length(|out| self.write_at(&progress, |out: &mut Length| out.0 += evidence, |_, out| out.0 += continuation, out))
    }
}

/// The length of what is written.
fn length(write: impl FnOnce(&mut Length)) -> u64 {
    let mut length = Length::default();
    write(&mut length);
    length.0
}

/// `<R>/.task-artifact-owners/<ownerId>.removing`, with the root found from the transcript: it lies two levels below.
fn removing_root(receipt: &Receipt) -> Vec<u8> {
    let path = receipt.target.transcript_path.as_bytes();
    let up = |path: &[u8]| memchr::memrchr(b'/', path).unwrap_or_default();
    let scope = path.get(..up(path)).unwrap_or_default();
    let root = scope.get(..up(scope)).unwrap_or_default();
    SessionsRoot::new(root).map(|root| root.owner(&receipt.evidence.locator.owner_id).removing).unwrap_or_default()
}

/// What is still to be met of expected bytes; none after the first difference.
struct Rest<'b>(Option<&'b [u8]>);

impl Out for Rest<'_> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.0 = self.0.and_then(|rest| rest.strip_prefix(bytes));
    }
}

/// Step 6: state, member set, fixed members, flags and attempt. Gives the state.
fn shape<'a>(value: impl View<'a>, scope: &str, target: &Target) -> Result<State, Refusal> {
    let mismatch = Refusal::ContinuationMismatch;
    let attempt = || value.get(ATTEMPT).and_then(View::as_f64).and_then(safe_integer).filter(|attempt| *attempt >= 1).ok_or(mismatch);
    let payload_retired = || value.get(OUTCOME).and_then(|outcome| outcome.get("kind")).is_some_and(|kind| kind.is_str("payload_retired"));
    let (state, further): (State, &[&str]) = match value.str_member("state").as_deref() {
        Some(b"prepared") => (State::Prepared, &[]),
        Some(b"artifacts_removed") => (State::ArtifactsRemoved, &[ARTIFACTS_REMOVED]),
        Some(b"owner_pending") if payload_retired() => {
            (State::OwnerPending(attempt()?), &[ATTEMPT, ARTIFACTS_REMOVED, OUTCOME, CONTINUATION, PAYLOAD_RETIRED, NAMESPACE_RETAINED])
        }
        Some(b"owner_pending") => (State::OwnerPending(attempt()?), &[ATTEMPT, ARTIFACTS_REMOVED, OUTCOME, CONTINUATION]),
        Some(b"owner_retired") => (State::OwnerRetired, &[ARTIFACTS_REMOVED, RETIRED, OUTCOME]),
        _ => return Err(mismatch),
    };
    let true_when_there = |key| !further.contains(&key) || value.get(key).and_then(View::as_bool) == Some(true);
    let holds = is_closed(value, &[&COMMON[..], further].concat(), &[])
        && equals(value, "schemaVersion", 1.0)
        && is_text(value, "scope", scope.as_bytes())
        && is_text(value, "transcriptPath", target.transcript_path.as_bytes())
        && is_text(value, "sessionId", target.session_id.as_bytes())
        && is_text(value, "cwd", target.cwd.as_bytes())
        && true_when_there(ARTIFACTS_REMOVED)
        && true_when_there(RETIRED);
    if holds { Ok(state) } else { Err(mismatch) }
}

/// Steps 11 to 13: the outcome of the states that have one.
fn progress<'a>(value: impl View<'a>, state: State, root: &SessionsRoot, evidence: &Evidence) -> Result<Progress, Refusal> {
    let disagree = Refusal::OutcomeMismatch;
    let outcome = || Outcome::read(value.get(OUTCOME).ok_or(Refusal::OutcomeInvalid)?, root, evidence);
    match state {
        State::Prepared => Ok(Progress::Prepared),
        State::ArtifactsRemoved => Ok(Progress::ArtifactsRemoved),
        State::OwnerRetired => match outcome()? {
            Outcome::Completed => Ok(Progress::OwnerRetired),
            Outcome::Retained(_) => Err(disagree),
        },
        State::OwnerPending(attempt) => {
            let Outcome::Retained(outcome) = outcome()? else { return Err(disagree) };
            let repeated = value.get(CONTINUATION).and_then(|again| Continuation::read(again, root, evidence).ok());
            let is_true = |key| value.get(key).and_then(View::as_bool) == Some(true);
            let flags = match outcome.why {
                Why::PayloadRetired => is_true(PAYLOAD_RETIRED) && is_true(NAMESPACE_RETAINED),
                // Step 6 counted the members: they cannot be there.
                Why::CleanupPending | Why::Uncertain { .. } => true,
            };
            if repeated.as_ref() == Some(&outcome.continuation) && flags {
                Ok(Progress::OwnerPending { attempt, outcome })
            } else {
                Err(disagree)
            }
        }
    }
}

/// The deepest nesting that gjc's writer measures: a value may stand in this many containers.
pub const MAX_DEPTH: usize = 32;

/// The length that gjc's writer measures for any JSON value, the LF included (§3), whatever it is.
///
/// # Errors
/// [`Refusal::ContinuationCorrupt`] for a value nested deeper than 32.
pub fn measure(value: &Value) -> Result<u64, Refusal> {
    if depth(value) > MAX_DEPTH {
        return Err(Refusal::ContinuationCorrupt);
    }
    let mut length = Length(1);
    stringify::write(value, &mut length);
    Ok(length.0)
}

/// In how many containers the deepest value stands. Iterative.
fn depth(value: &Value) -> usize {
    let mut deepest = 0;
    let mut pending = vec![(value, 0)];
    while let Some((value, depth)) = pending.pop() {
        deepest = deepest.max(depth);
        pending.extend(value.items().map(|item| (item, depth + 1)));
        pending.extend(value.members().map(|(_, member)| (member, depth + 1)));
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::owner_evidence::example;

    fn text() -> String {
        format!(
            r#"{{"schemaVersion":1,"state":"prepared","scope":"d","transcriptPath":"/r/v2-d/t.jsonl","sessionId":"s","cwd":"/w","transcriptIdentity":{{"dev":"1","ino":"2","nlink":"1","size":3,"mtimeNs":"4","sha256":"{}"}},"taskArtifactOwnerDeletionEvidence":{}}}"#,
            "ab".repeat(32),
            example("s"),
        )
    }
    fn bootstrap(text: &str) -> Result<Receipt, Refusal> {
        let root = SessionsRoot::new(b"/r").unwrap();
        let scope = Scope { digest: "d", directory: b"/r/v2-d", root: &root };
        parse(text.as_bytes(), &mut Tape::default(), |value| Receipt::bootstrap(value, &scope, &"/r/v2-d/t.jsonl".into()))
    }
    fn prepared() -> Receipt {
        bootstrap(&text()).unwrap()
    }
    /// The canonical text of the same journal at another progress.
    fn text_at(progress: Progress) -> String {
        String::from_utf8(Receipt { progress, ..prepared() }.encode().unwrap()).unwrap()
    }
    fn decoded(text: &str) -> Result<State, Refusal> {
        let root = SessionsRoot::new(b"/r").unwrap();
        let receipt = parse(text.as_bytes(), &mut Tape::default(), |value| Receipt::decode(value, "d", &root, &prepared().target));
        receipt.map(|receipt| receipt.state())
    }
    /// The text with one thing changed, which must be in it.
    fn with(text: &str, from: &str, to: &str) -> String {
        assert!(text.contains(from), "{from} in {text}");
        text.replacen(from, to, 1)
    }
    /// An attempt that emptied every file and left the tree at `.removing`.
    fn payload_retired() -> Progress {
        use crate::gc::{List, NativeOutcome};
        let receipt = prepared();
        let removing = SessionsRoot::new(b"/r").unwrap().owner(&receipt.evidence.locator.owner_id).removing;
        let mut continuation = Continuation::new(receipt.evidence.parent, JsString::from_wtf8(removing), receipt.evidence.tree);
        continuation.payload_durable = Some(true);
        continuation.append(List::NativeCodes, "cleanup_pending".into());
        for entry in continuation.tree.entries.iter_mut().filter(|entry| entry.kind == crate::agent::record::NodeKind::File) {
            (entry.size, entry.sha256) = (0, Some(crate::agent::owner_evidence::EMPTY_SHA256));
        }
        let native = NativeOutcome { code: Some("cleanup_pending".into()), payload_durable: Some(true), ..NativeOutcome::default() };
        Progress::OwnerPending { attempt: 1, outcome: Box::new(Retained { why: Why::PayloadRetired, continuation, native: Some(native) }) }
    }

    /// Step 6: each fixed member and each flag by itself.
    #[test]
    fn a_receipt_of_something_else_is_a_mismatch() {
        let (removed, pending, retired) =
            (text_at(Progress::ArtifactsRemoved), text_at(payload_retired()), text_at(Progress::OwnerRetired));
        assert_eq!(decoded(&removed), Ok(State::ArtifactsRemoved));
        assert_eq!(decoded(&pending), Ok(State::OwnerPending(1)));
        assert_eq!(decoded(&retired), Ok(State::OwnerRetired));
        for (text, from, to) in [
            (&removed, "\"schemaVersion\":1", "\"schemaVersion\":2"),
            (&removed, "\"state\":\"artifacts_removed\"", "\"state\":\"removed\""),
            (&removed, "\"scope\":\"d\"", "\"scope\":\"e\""),
            (&removed, "/t.jsonl\"", "/u.jsonl\""),
            (&removed, "\"sessionId\":\"s\"", "\"sessionId\":\"t\""),
            (&removed, "\"cwd\":\"/w\"", "\"cwd\":\"/x\""),
            (&removed, "\"artifactsRemoved\":true", "\"artifactsRemoved\":false"),
            (&pending, "\"artifactsRemoved\":true", "\"artifactsRemoved\":1"),
            (&pending, "\"ownerRetirementAttempt\":1", "\"ownerRetirementAttempt\":0"),
            (&pending, "\"ownerRetirementAttempt\":1", "\"ownerRetirementAttempt\":9007199254740992"),
            (&pending, ",\"taskArtifactOwnerPayloadRetired\":true", ""),
            (&retired, "\"artifactsRemoved\":true", "\"artifactsRemoved\":false"),
            (&retired, "\"taskArtifactOwnerRetired\":true", "\"taskArtifactOwnerRetired\":false"),
        ] {
            assert_eq!(decoded(&with(text, from, to)), Err(Refusal::ContinuationMismatch), "{to}");
        }
    }
    /// Step 13: a flag that is there and not true is no matter of the member set.
    #[test]
    fn a_payload_flag_that_is_false_disagrees_with_the_outcome() {
        for flag in [PAYLOAD_RETIRED, NAMESPACE_RETAINED] {
            let text = with(&text_at(payload_retired()), &format!("\"{flag}\":true"), &format!("\"{flag}\":false"));
            assert_eq!(decoded(&text), Err(Refusal::OutcomeMismatch), "{flag}");
        }
    }
    /// Two sessions whose ids differ only in lone surrogates have one owner id: the session itself is compared all the same.
    #[test]
    fn evidence_of_another_session_is_not_taken_for_its_owner_id() {
        let surrogates = text().replace("\"sessionId\":\"s\"", "\"sessionId\":\"\\ud800\"");
        let owner = |session: &str| crate::agent::owner_evidence::owner_id(session.into()).unwrap();
        let surrogates = surrogates.replace(&owner("s"), &owner("\u{fffd}"));
        let target = bootstrap(&surrogates).unwrap().target;
        let removed = surrogates.replace("\"prepared\"", "\"artifacts_removed\"").replace("]}}}", "]}},\"artifactsRemoved\":true}");
        let decode = |text: &str| {
            let root = SessionsRoot::new(b"/r").unwrap();
            parse(text.as_bytes(), &mut Tape::default(), |value| Receipt::decode(value, "d", &root, &target)).map(|receipt| receipt.state())
        };
        assert_eq!(decode(&removed), Ok(State::ArtifactsRemoved));
        let other = removed.replacen("\"schemaVersion\":2,\"sessionId\":\"\\ud800\"", "\"schemaVersion\":2,\"sessionId\":\"\\ud801\"", 1);
        assert_ne!(other, removed);
        assert_eq!(decode(&other), Err(Refusal::ContinuationLocatorMismatch));
    }
    /// §11.1 step 3, in its order.
    #[test]
    fn what_prepared_says_of_itself_is_judged_in_gjcs_order() {
        assert_eq!(bootstrap(&text()).map(|receipt| receipt.state()), Ok(State::Prepared));
        let (session, identity, hash) = ("\"sessionId\":\"s\"", "\"nlink\":\"1\",\"size\":3", "\"rootIno\":\"131337\"");
        let (authority, evidence) = (Refusal::ContinuationAuthorityMismatch, Refusal::EvidenceInvalid);
        assert_eq!(bootstrap(&with(&text(), "prepared", "owner_retired")), Err(authority), "another state");
        assert_eq!(bootstrap(&with(&text(), session, "\"sessionId\":7")), Err(authority), "no session");
        assert_eq!(bootstrap(&with(&text(), session, "\"sessionId\":\"\"")), Err(authority), "an empty session");
        assert_eq!(bootstrap(&with(&text(), session, "\"sessionId\":\"t\"")), Err(Refusal::ContinuationLocatorMismatch), "another one");
        let replaced = with(&text(), identity, "\"nlink\":\"2\",\"size\":3");
        assert_eq!(bootstrap(&replaced), Err(Refusal::ContinuationCorrupt), "an identity that is none");
        assert_eq!(bootstrap(&with(&replaced, hash, "\"rootIno\":\"1\"")), Err(evidence), "the evidence before the identity");
        assert_eq!(
            bootstrap(&with(&replaced, session, "\"sessionId\":\"\"")),
            Err(Refusal::ContinuationCorrupt),
            "and that before authority"
        );
    }

    #[test]
    fn bytes_are_canonical_to_the_last() {
        let bytes = prepared().encode().unwrap();
        assert!(prepared().is_canonical(&bytes));
        for other in [&bytes[..bytes.len() - 1], &[&bytes[..], b"\n"].concat(), &[b" ", &bytes[..]].concat()] {
            assert!(!prepared().is_canonical(other));
        }
    }
    #[test]
    fn the_next_pending_receipt_is_about_four_trees_long() {
        let receipt = prepared();
        let mut tree = Length::default();
        receipt.evidence.tree.write(&mut tree);
        let next = receipt.next_pending_length();
        assert!((4 * tree.0..4 * tree.0 + 2_500).contains(&next), "{next} for a tree of {}", tree.0);
        // Exactly that of an attempt which left everything at `.removing`.
        let removing = SessionsRoot::new(b"/r").unwrap().owner(&receipt.evidence.locator.owner_id).removing;
        let continuation = Continuation::new(receipt.evidence.parent, JsString::from_wtf8(removing), receipt.evidence.tree.clone());
        let outcome = Box::new(Retained { why: Why::CleanupPending, continuation, native: None });
        assert_eq!(text_at(Progress::OwnerPending { attempt: 1, outcome }).len() as u64, next);
    }
    #[test]
    fn the_next_pending_receipt_is_measured_as_it_would_be_written() {
        let receipt = prepared();
        let pending = |attempt, continuation| {
            let outcome = Box::new(Retained { why: Why::CleanupPending, continuation, native: None });
            Receipt { progress: Progress::OwnerPending { attempt, outcome }, ..receipt.clone() }
        };
        let root = JsString::from_wtf8(removing_root(&receipt));
        let first = pending(1, Continuation::new(receipt.evidence.parent, root.clone(), receipt.evidence.tree.clone()));
        assert_eq!(receipt.next_pending_length(), first.measure());
        // The tree is another one by then, and the attempt has a digit more.
        let mut less = Continuation::new(receipt.evidence.parent, root, receipt.evidence.tree.clone());
        less.tree.entries.truncate(1);
        let ninth = pending(9, less.clone());
        assert_eq!(receipt.pending_length_after(&ninth.progress), pending(10, less).measure());
    }
    #[test]
    fn an_identity_is_signed_in_time_only_and_takes_minus_zero_for_a_size() {
        let with = |from: &str, to: &str| {
            let text = format!(r#"{{"dev":"1","ino":"2","nlink":"1","size":3,"mtimeNs":"4","sha256":"{}"}}"#, "ab".repeat(32));
            Identity::read(&Value::parse(text.replacen(from, to, 1).as_bytes()).unwrap())
        };
        assert_eq!(with("3", "-0").map(|identity| identity.size), Some(0));
        assert_eq!(with("3", "9007199254740991").map(|identity| identity.size), Some(MAX_ATTEMPT));
        assert!(with("\"4\"", "\"-4\"").is_some());
        for (from, to) in [
            ("3", "9007199254740992"),
            ("3", "0.5"),
            ("3", "-1"),
            ("\"4\"", "\"-0\""),
            ("\"1\"", "\"-1\""),
            ("\"nlink\":\"1\"", "\"nlink\":\"2\""),
        ] {
            assert_eq!(with(from, to), None, "{to}");
        }
    }
    #[test]
    fn a_value_may_stand_in_32_containers() {
        let nested = |depth: usize| Value::parse(format!("{}1{}", "[".repeat(depth), "]".repeat(depth)).as_bytes()).unwrap();
        assert_eq!(measure(&nested(32)), Ok(66));
        assert_eq!(measure(&nested(33)), Err(Refusal::ContinuationCorrupt));
    }
    #[test]
    fn a_receipt_above_64_mib_is_refused_before_it_is_made() {
        let mut receipt = prepared();
        let room = MAX_RECEIPT_BYTES - receipt.measure();
        Arc::make_mut(&mut receipt.target).cwd = JsString::from_wtf8(vec![b'w'; usize::try_from(room).unwrap() + 2]);
        assert_eq!(receipt.measure(), MAX_RECEIPT_BYTES);
        assert_eq!(receipt.encode().map(|bytes| bytes.len() as u64), Ok(MAX_RECEIPT_BYTES));
        Arc::make_mut(&mut receipt.target).cwd = JsString::from_wtf8(vec![b'w'; usize::try_from(room).unwrap() + 3]);
        assert_eq!(receipt.encode(), Err(Refusal::ReceiptCapacityExceeded));
    }
}
