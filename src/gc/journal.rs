//! Replay of one transcript's journal (spec 03 §11): one receipt at a time, keeping only what later ones are compared with.

use super::receipt::parse;
use super::{Names, Progress, Receipt, Refusal, Retained, Scope, State, Target};
use crate::json::{JsString, Tape};

/// A journal that was replayed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Journal {
    /// The `prepared` receipt: target and evidence of all others.
    pub prepared: Receipt,
    /// The newest state: `owner_retired`, else the last pending, else `artifacts_removed`, else `prepared`.
    pub newest: Progress,
}

impl Journal {
    /// The newest state, with its attempt.
    pub const fn state(&self) -> State {
        self.newest.state()
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

/// A replay under way. Receipts are given to it in the order of [`State`]: `artifacts_removed`, `owner_retired`, then the
/// pending ones by ascending attempt.
///
/// gjc decodes all receipts before it compares them: what a comparison refuses is kept until [`Replay::finish`], so that a
/// later receipt that does not decode is reported first, as gjc does.
#[derive(Debug)]
pub struct Replay<'s> {
    scope: Scope<'s>,
    prepared: Receipt,
    artifacts_removed: bool,
    owner_retired: bool,
    attempts: u64,
    last: Option<Box<Retained>>,
    evidence_differs: bool,
    history_breaks: bool,
}

impl<'s> Replay<'s> {
    /// Begins with the bytes of `prepared` (§11.1 steps 1 and 3).
    ///
    /// # Errors
    /// The token of the first rule that fails.
    pub fn begin(scope: Scope<'s>, transcript: &JsString, prepared: &[u8], tape: &mut Tape) -> Result<Replay<'s>, Refusal> {
        if !scope.accepts(transcript.as_js()) {
            return Err(Refusal::ContinuationAuthorityMismatch);
        }
        let prepared = parse(prepared, tape, |value| Receipt::bootstrap(value, &scope, transcript))?;
        Ok(Replay {
            scope,
            prepared,
            artifacts_removed: false,
            owner_retired: false,
            attempts: 0,
            last: None,
            evidence_differs: false,
            history_breaks: false,
        })
    }

    /// The target that the prepared receipt names, to be bound to the transcript as it is now.
    pub const fn target(&self) -> &Target {
        &self.prepared.target
    }

    /// Takes the bytes of the file of `state`, which is not `prepared` (§11.1 steps 5 and 6).
    ///
    /// # Errors
    /// Its decoding token, or [`Refusal::StateMissing`] when it is not what its file name says or an attempt is left out.
    pub fn read(&mut self, state: State, bytes: &[u8], tape: &mut Tape) -> Result<(), Refusal> {
        let receipt = parse(bytes, tape, |value| Receipt::decode(value, self.scope.digest, self.scope.root, &self.prepared.target))?;
        if receipt.state() != state {
            return Err(Refusal::StateMissing);
        }
        self.evidence_differs |= receipt.evidence != self.prepared.evidence;
        match receipt.progress {
            // A second `prepared` has no file of its own.
            Progress::Prepared => return Err(Refusal::StateMissing),
            Progress::ArtifactsRemoved => self.artifacts_removed = true,
            Progress::OwnerRetired => self.owner_retired = true,
            Progress::OwnerPending { attempt, outcome } => {
                if attempt != self.attempts + 1 {
                    return Err(Refusal::StateMissing);
                }
                self.attempts = attempt;
                self.history_breaks |= self.last.as_ref().is_some_and(|last| !outcome.continuation.extends(&last.continuation));
                self.last = Some(outcome);
            }
        }
        Ok(())
    }

    /// Ends the replay (§11.1 steps 7 to 9, 11). The live proof of step 10 is the caller's.
    ///
    /// # Errors
    /// What the comparisons found, in gjc's order.
    pub fn finish(self) -> Result<Journal, Refusal> {
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
        Ok(Journal { prepared: self.prepared, newest })
    }
}

/// Replays a whole journal (§11.1). `read` gives the bytes of a state's file and is asked once for each, in gjc's order;
/// `bind` compares the prepared target with the transcript. None: there is no journal.
///
/// # Errors
/// What `read` and `bind` say, and the tokens of the replay.
pub fn replay<E: From<Refusal>, B: AsRef<[u8]>>(
    scope: Scope<'_>,
    transcript: &JsString,
    names: &Names,
    tape: &mut Tape,
    mut read: impl FnMut(State) -> Result<B, E>,
    bind: impl FnOnce(&Target) -> Result<(), E>,
) -> Result<Option<Journal>, E> {
    if !scope.accepts(transcript.as_js()) {
        return Err(Refusal::ContinuationAuthorityMismatch.into());
    }
    if !names.has(State::Prepared) {
        return match names {
            _ if names.is_empty() => Ok(None),
            _ if names.are_corrupt() || names.have_odd_attempt() => Err(Refusal::ContinuationCorrupt.into()),
            _ => Err(Refusal::StateMissing.into()),
        };
    }
    let mut replay = Replay::begin(scope, transcript, read(State::Prepared)?.as_ref(), tape)?;
    bind(replay.target())?;
    if names.are_corrupt() {
        return Err(Refusal::ContinuationCorrupt.into());
    }
    for state in names.states().iter().filter(|state| **state != State::Prepared) {
        if names.have_odd_attempt() && matches!(state, State::OwnerPending(_)) {
            break;
        }
        replay.read(*state, read(*state)?.as_ref(), tape)?;
    }
    if names.have_odd_attempt() {
        return Err(Refusal::ContinuationCorrupt.into());
    }
    Ok(Some(replay.finish()?))
}
