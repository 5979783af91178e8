//! Attempts to retire an owner (spec 03 §10): the reasons of an `uncertain` outcome, what a native answer comes to, and the
//! live checks that a reader of a journal makes. This tool never attempts one; it says what gjc would, over given facts.

use super::owner::has_pending_publication;
use super::{
    Continuation, Evidence, List, NativeOutcome, Outcome, OwnerPaths, Progress, Receipt, Refusal, Retained, TreeSnapshot, Why, place,
};
use crate::agent::owner_evidence::Inode;
use crate::json::JsString;

/// Why an attempt is uncertain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The root's security check failed.
    NamespaceUnverified,
    /// The directory of owners cannot be read.
    ParentUnavailable,
    /// It is not the evidenced object.
    ParentIdentityChanged,
    /// A publication is pending in the evidence or in the tree.
    WriterNotQuiescent,
    /// A candidate root could not be captured.
    RetainedTreeUnavailable,
    /// The canonical root is not what was captured.
    ChangedSinceCapture,
    /// The canonical root's manifest or identity does not validate.
    IdentityUnverified,
    /// No candidate root is within the authority.
    RootNotFoundOrUnverified,
    /// The native call threw.
    NativeRemovalUncertain,
    /// The directory of owners is another object afterwards.
    ParentIdentityChangedAfterRemoval,
    /// The native result names paths or codes that nobody knows.
    RetainedStateUnrecognized,
    /// The residual tree is outside the authority.
    RetainedStateUnverified,
    /// Native ok, and yet a root or a side path remains.
    SuccessRetainedAuthority,
    /// Any other native failure, with its code when it has one.
    NativeRemoval(Option<JsString>),
}

impl Reason {
    /// Every reason, a native failure without its code.
    pub const ALL: [Reason; 14] = [
        Reason::NamespaceUnverified,
        Reason::ParentUnavailable,
        Reason::ParentIdentityChanged,
        Reason::WriterNotQuiescent,
        Reason::RetainedTreeUnavailable,
        Reason::ChangedSinceCapture,
        Reason::IdentityUnverified,
        Reason::RootNotFoundOrUnverified,
        Reason::NativeRemovalUncertain,
        Reason::ParentIdentityChangedAfterRemoval,
        Reason::RetainedStateUnrecognized,
        Reason::RetainedStateUnverified,
        Reason::SuccessRetainedAuthority,
        Reason::NativeRemoval(None),
    ];

    /// The text of `reason`.
    pub fn text(&self) -> JsString {
        let text = match self {
            Reason::NamespaceUnverified => "task_artifact_owner_namespace_unverified",
            Reason::ParentUnavailable => "task_artifact_owner_parent_unavailable",
            Reason::ParentIdentityChanged => "task_artifact_owner_parent_identity_changed",
            Reason::WriterNotQuiescent => "task_artifact_owner_writer_not_quiescent",
            Reason::RetainedTreeUnavailable => "task_artifact_owner_retained_tree_unavailable",
            Reason::ChangedSinceCapture => "task_artifact_owner_changed_since_capture",
            Reason::IdentityUnverified => "task_artifact_owner_identity_unverified",
            Reason::RootNotFoundOrUnverified => "task_artifact_owner_retained_root_not_found_or_unverified",
            Reason::NativeRemovalUncertain => "task_artifact_owner_native_removal_uncertain",
            Reason::ParentIdentityChangedAfterRemoval => "task_artifact_owner_parent_identity_changed_after_removal",
            Reason::RetainedStateUnrecognized => "task_artifact_owner_native_retained_state_unrecognized",
            Reason::RetainedStateUnverified => "task_artifact_owner_native_retained_state_unverified",
            Reason::SuccessRetainedAuthority => "task_artifact_owner_native_success_retained_authority",
            Reason::NativeRemoval(None) => "task_artifact_owner_native_removal_uncertain",
            Reason::NativeRemoval(Some(code)) => {
                return JsString::from_wtf8([b"task_artifact_owner_native_removal_", code.as_bytes()].concat());
            }
        };
        text.into()
    }
}

/// The directory of owners as it is now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parent {
    /// It cannot be read.
    Unavailable,
    /// It is this object.
    Is(Inode),
}

/// One place where the owner's root may be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Root {
    /// Nothing is there.
    Absent,
    /// Something is there that could not be captured.
    Unavailable,
    /// This tree is there.
    Tree(TreeSnapshot),
}

/// What is known before the native removal.
#[derive(Clone, Debug)]
pub struct Before<'a> {
    /// The sessions root passed its security check.
    pub secure: bool,
    /// The directory of owners.
    pub parent: Parent,
    /// The candidate roots in order: the previous continuation's, `.removing`, the canonical one; each place once.
    pub roots: &'a [(&'a [u8], Root)],
    /// What validating the canonical root says, when the tree stands there ([`Reason::ChangedSinceCapture`] or
    /// [`Reason::IdentityUnverified`]).
    pub canonical: Result<(), Reason>,
}

/// The continuation with which an attempt begins: the previous one, or a fresh one that expects the whole evidenced tree at
/// `.removing`.
pub fn beginning(evidence: &Evidence, paths: &OwnerPaths, previous: Option<&Continuation>) -> Continuation {
    let fresh = || Continuation::new(evidence.parent, JsString::from_wtf8(paths.removing.clone()), evidence.tree.clone());
    previous.cloned().unwrap_or_else(fresh)
}

/// The preconditions in gjc's order: the place from which the native removal would go on, or the reason why it is not tried.
///
/// # Errors
/// The reason of the first precondition that fails.
pub fn precondition<'a>(
    evidence: &Evidence,
    paths: &OwnerPaths,
    previous: Option<&Continuation>,
    facts: &Before<'a>,
) -> Result<&'a [u8], Reason> {
    if !facts.secure {
        return Err(Reason::NamespaceUnverified);
    }
    match facts.parent {
        Parent::Unavailable => return Err(Reason::ParentUnavailable),
        Parent::Is(inode) if inode != evidence.parent => return Err(Reason::ParentIdentityChanged),
        Parent::Is(_) => {}
    }
    let pending = |root: &Root| matches!(root, Root::Tree(tree) if has_pending_publication(tree));
    if has_pending_publication(&evidence.tree) || facts.roots.iter().any(|(_, root)| pending(root)) {
        return Err(Reason::WriterNotQuiescent);
    }
    if facts.roots.iter().any(|(_, root)| *root == Root::Unavailable) {
        return Err(Reason::RetainedTreeUnavailable);
    }
    let authority = previous.map_or(&evidence.tree, |previous| &previous.tree);
    let within = |root: &Root| matches!(root, Root::Tree(tree) if super::continuation::is_within(tree, authority));
    let found = facts.roots.iter().find(|(_, root)| within(root)).map(|(path, _)| *path);
    match found {
        Some(path) if path == paths.root => facts.canonical.clone().map(|()| path),
        Some(path) => Ok(path),
        None => Err(Reason::RootNotFoundOrUnverified),
    }
}

/// What is known after the native removal.
#[derive(Clone, Debug)]
pub struct After {
    /// What it answered; none when it threw.
    pub native: Option<NativeOutcome>,
    /// The directory of owners.
    pub parent: Parent,
    /// The roots that are there now: path and tree.
    pub residual: Vec<(Vec<u8>, TreeSnapshot)>,
    /// Side paths of earlier attempts at which nothing stands any more.
    pub gone: Vec<JsString>,
}

/// What an attempt comes to. `continuation` is that with which it began.
pub fn conclude(evidence: &Evidence, paths: &OwnerPaths, mut continuation: Continuation, facts: After) -> Outcome {
    let uncertain = |continuation: Continuation, reason: &Reason, native: Option<NativeOutcome>| {
        Outcome::Retained(Box::new(Retained { why: Why::Uncertain { reason: reason.text() }, continuation, native }))
    };
    let Some(native) = facts.native else { return uncertain(continuation, &Reason::NativeRemovalUncertain, None) };
    if facts.parent != Parent::Is(evidence.parent) {
        return uncertain(continuation, &Reason::ParentIdentityChangedAfterRemoval, None);
    }
    if !record(&mut continuation, &native, &facts.gone, paths) {
        return uncertain(continuation, &Reason::RetainedStateUnrecognized, None);
    }
    if let Some((path, tree)) = facts.residual.first() {
        if !super::continuation::is_within(tree, &continuation.tree) {
            return uncertain(continuation, &Reason::RetainedStateUnverified, Some(native));
        }
        continuation.retained_root = JsString::from_wtf8(path.clone());
        continuation.tree = tree.clone();
    }
    if native.ok {
        return if facts.residual.is_empty() && !continuation.has_side_paths() {
            Outcome::Completed
        } else {
            uncertain(continuation, &Reason::SuccessRetainedAuthority, Some(native))
        };
    }
    if native.code.as_ref().is_none_or(|code| code.as_bytes() != b"cleanup_pending") {
        return uncertain(continuation, &Reason::NativeRemoval(native.code.clone()), Some(native));
    }
    let at_removing = facts.residual.first().is_some_and(|(path, _)| *path == paths.removing);
    let scrubbed = at_removing && !continuation.has_side_paths() && continuation.tree.is_scrubbed();
    let why = if native.payload_durable == Some(true) && scrubbed { Why::PayloadRetired } else { Why::CleanupPending };
    Outcome::Retained(Box::new(Retained { why, continuation, native: Some(native) }))
}

/// Adds what the native answer names behind the previous values; false when it names what a continuation cannot hold.
fn record(continuation: &mut Continuation, native: &NativeOutcome, gone: &[JsString], paths: &OwnerPaths) -> bool {
    let said = [
        (List::Detached, &native.detached),
        (List::NativeCodes, &native.code),
        (List::Successors, &native.successor),
        (List::Placeholders, &native.placeholder),
        (List::Unknown, &native.unknown),
        (List::WindowsCodes, &native.windows_code),
    ];
    let known = said.iter().all(|(list, value)| value.as_ref().is_none_or(|value| list.takes(value.as_bytes(), paths)));
    if known {
        // What stood directly beside the owner and is gone is dropped, though the history rule (§11.4) lets nothing be dropped:
        // the receipt of such an attempt is not appended.
        let is_dropped = |path: &JsString| place::is_directly_in(&paths.owners, path.as_bytes()) && gone.contains(path);
        List::SIDE.iter().for_each(|list| continuation.retain(*list, |path| !is_dropped(path)));
        for (list, value) in said {
            if let Some(value) = value {
                continuation.append(list, value.clone());
            }
        }
        if native.payload_durable == Some(true) {
            continuation.payload_durable = Some(true);
        }
    }
    known
}

/// What a reader of a journal sees of the owner.
#[derive(Clone, Debug)]
pub struct Live {
    /// The directory of owners; none when it cannot be read.
    pub parent: Parent,
    /// The tree at `<owner>`.
    pub root: Root,
    /// The tree at `<owner>.removing`.
    pub removing: Root,
}

/// The live checks beyond decoding (§10, second table): of `owner_retired` at every reading of a journal, of the others
/// when the next step is planned.
///
/// # Errors
/// The token of the first check that fails.
pub fn live_check(receipt: &Receipt, paths: &OwnerPaths, live: &Live) -> Result<(), Refusal> {
    let parent = || if live.parent == Parent::Is(receipt.evidence.parent) { Ok(()) } else { Err(Refusal::ParentIdentityMismatch) };
    match &receipt.progress {
        Progress::OwnerRetired => {
            parent()?;
            let gone = [&live.root, &live.removing].into_iter().all(|root| *root == Root::Absent);
            // Of a root that is there gjc tells apart the evidenced object and another one.
            let replaced = [&live.root, &live.removing]
                .into_iter()
                .any(|root| matches!(root, Root::Tree(tree) if tree.root != receipt.evidence.tree.root));
            match (gone, replaced) {
                (true, _) => Ok(()),
                (false, true) => Err(Refusal::RetainedRootReplaced),
                (false, false) => Err(Refusal::PhysicalRetirementUnverified),
            }
        }
        Progress::OwnerPending { outcome, .. } => {
            parent()?;
            let continuation = &outcome.continuation;
            let root = if continuation.retained_root.as_bytes() == paths.root { &live.root } else { &live.removing };
            let Root::Tree(tree) = root else { return Err(Refusal::RetainedTreeMismatch) };
            if !super::continuation::is_within(tree, &continuation.tree) {
                return Err(Refusal::RetainedTreeMismatch);
            }
            if continuation.payload_durable == Some(true) && !tree.is_scrubbed() {
                return Err(Refusal::RetiredPayloadChanged);
            }
            Ok(())
        }
        Progress::Prepared | Progress::ArtifactsRemoved => {
            let same = matches!(&live.root, Root::Tree(tree) if *tree == receipt.evidence.tree);
            if same && live.parent == Parent::Is(receipt.evidence.parent) { Ok(()) } else { Err(Refusal::EvidenceMismatch) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::owner_evidence::{EMPTY_SHA256, example};
    use crate::agent::record::NodeKind;
    use crate::gc::{Identity, SessionsRoot, Target};
    use crate::json::Value;

    fn evidence() -> Evidence {
        Evidence::read(&Value::parse(example("s").as_bytes()).unwrap()).unwrap()
    }
    fn paths() -> OwnerPaths {
        SessionsRoot::new(b"/r").unwrap().owner(&evidence().locator.owner_id)
    }
    fn scrubbed() -> TreeSnapshot {
        let mut tree = evidence().tree;
        tree.entries
            .iter_mut()
            .filter(|entry| entry.kind == NodeKind::File)
            .for_each(|file| (file.size, file.sha256) = (0, Some(EMPTY_SHA256)));
        tree
    }
    fn parent() -> Parent {
        Parent::Is(evidence().parent)
    }
    fn native(code: &str, durable: bool) -> NativeOutcome {
        NativeOutcome { code: Some(code.into()), payload_durable: durable.then_some(true), ..NativeOutcome::default() }
    }
    fn concluded(native: Option<NativeOutcome>, parent: Parent, residual: Vec<(Vec<u8>, TreeSnapshot)>) -> String {
        let start = beginning(&evidence(), &paths(), None);
        let outcome = conclude(&evidence(), &paths(), start, After { native, parent, residual, gone: Vec::new() });
        let mut out = Vec::new();
        outcome.write(&evidence(), &mut out);
        let again = Value::parse(&out).unwrap();
        assert_eq!(
            Outcome::read(&again, &SessionsRoot::new(b"/r").unwrap(), &evidence()),
            Ok(outcome.clone()),
            "gjc reads what it concludes"
        );
        match outcome {
            Outcome::Retained(retained) => match retained.why {
                Why::Uncertain { reason } => reason.to_string(),
                why => why.word().to_owned(),
            },
            Outcome::Completed => "completed".to_owned(),
        }
    }

    #[test]
    fn preconditions_in_their_order() {
        let (evidence, paths) = (evidence(), paths());
        let whole = [(paths.root.as_slice(), Root::Tree(evidence.tree.clone()))];
        let grown = {
            let mut tree = evidence.tree.clone();
            tree.entries.push(tree.entries[1].clone());
            tree.entries[4].relative_path = "new".into();
            [(paths.root.as_slice(), Root::Tree(tree))]
        };
        let writing = {
            let mut tree = evidence.tree.clone();
            tree.entries[1].relative_path = ".x.0f8fad5b-d9cb-469f-a165-70867728950e.staging".into();
            [(paths.root.as_slice(), Root::Tree(tree))]
        };
        let broken = [(paths.removing.as_slice(), Root::Unavailable), whole[0].clone()];
        let ask = |secure, parent, roots: &[(&[u8], Root)], canonical| {
            precondition(&evidence, &paths, None, &Before { secure, parent, roots, canonical }).map(<[u8]>::to_vec)
        };
        let moved = Parent::Is(Inode { dev: 0, ino: 0 });
        assert_eq!(ask(true, parent(), &whole, Ok(())), Ok(paths.root.clone()));
        assert_eq!(ask(false, Parent::Unavailable, &whole, Ok(())), Err(Reason::NamespaceUnverified));
        assert_eq!(ask(true, Parent::Unavailable, &whole, Ok(())), Err(Reason::ParentUnavailable));
        assert_eq!(ask(true, moved, &writing, Ok(())), Err(Reason::ParentIdentityChanged));
        assert_eq!(ask(true, parent(), &writing, Ok(())), Err(Reason::WriterNotQuiescent));
        assert_eq!(ask(true, parent(), &broken, Ok(())), Err(Reason::RetainedTreeUnavailable));
        assert_eq!(ask(true, parent(), &grown, Ok(())), Err(Reason::RootNotFoundOrUnverified));
        assert_eq!(ask(true, parent(), &[], Ok(())), Err(Reason::RootNotFoundOrUnverified));
        assert_eq!(ask(true, parent(), &whole, Err(Reason::ChangedSinceCapture)), Err(Reason::ChangedSinceCapture));
    }
    #[test]
    fn what_a_native_answer_comes_to() {
        let left = || vec![(paths().removing, scrubbed())];
        let ok = NativeOutcome { ok: true, ..NativeOutcome::default() };
        assert_eq!(concluded(Some(ok.clone()), parent(), vec![]), "completed");
        assert_eq!(concluded(Some(ok), parent(), left()), "task_artifact_owner_native_success_retained_authority");
        assert_eq!(concluded(Some(native("cleanup_pending", true)), parent(), left()), "payload_retired");
        assert_eq!(concluded(Some(native("cleanup_pending", false)), parent(), left()), "cleanup_pending");
        let unscrubbed = vec![(paths().removing, evidence().tree)];
        assert_eq!(concluded(Some(native("cleanup_pending", true)), parent(), unscrubbed), "cleanup_pending");
        assert_eq!(concluded(Some(native("EBUSY", false)), parent(), vec![]), "task_artifact_owner_native_removal_EBUSY");
        assert_eq!(concluded(None, parent(), vec![]), "task_artifact_owner_native_removal_uncertain");
        assert_eq!(concluded(Some(native("x y", false)), parent(), vec![]), "task_artifact_owner_native_retained_state_unrecognized");
        assert_eq!(
            concluded(Some(native("EBUSY", false)), Parent::Unavailable, vec![]),
            "task_artifact_owner_parent_identity_changed_after_removal"
        );
        let mut grown = scrubbed();
        grown.entries[1].ino = 1;
        assert_eq!(
            concluded(Some(native("cleanup_pending", true)), parent(), vec![(paths().removing, grown)]),
            "task_artifact_owner_native_retained_state_unverified"
        );
    }
    /// After an attempt that recorded a side path: nothing counts as done any more while it is recorded.
    fn beside() -> Continuation {
        let mut continuation = beginning(&evidence(), &paths(), None);
        continuation.append(List::Unknown, "/r/.gjc-recovery/x".into());
        continuation
    }
    fn word(outcome: Outcome) -> String {
        match outcome {
            Outcome::Retained(retained) => match retained.why {
                Why::Uncertain { reason } => reason.to_string(),
                why => why.word().to_owned(),
            },
            Outcome::Completed => "completed".to_owned(),
        }
    }
    #[test]
    fn a_recorded_side_path_keeps_an_attempt_from_its_end() {
        let conclude = |native: NativeOutcome, residual| {
            word(super::conclude(
                &evidence(),
                &paths(),
                beside(),
                After { native: Some(native), parent: parent(), residual, gone: Vec::new() },
            ))
        };
        let ok = NativeOutcome { ok: true, ..NativeOutcome::default() };
        assert_eq!(conclude(ok, vec![]), "task_artifact_owner_native_success_retained_authority");
        assert_eq!(conclude(native("cleanup_pending", true), vec![(paths().removing, scrubbed())]), "cleanup_pending");
    }
    /// §10: only what stood beside the owner, and the next receipt then breaks the history rule.
    #[test]
    fn a_side_path_beside_the_owner_is_dropped_once_it_is_gone() {
        let after = |path: &str, gone: &[&str]| {
            let mut start = beginning(&evidence(), &paths(), None);
            start.append(List::Placeholders, path.into());
            let gone = gone.iter().map(|path| (*path).into()).collect();
            let native = Some(native("cleanup_pending", true));
            let after = After { native, parent: parent(), residual: vec![(paths().removing, scrubbed())], gone };
            match super::conclude(&evidence(), &paths(), start.clone(), after) {
                Outcome::Retained(retained) => (retained.why.word(), retained.continuation.extends(&start)),
                Outcome::Completed => panic!("something is left"),
            }
        };
        let (beside, recovery) = ("/r/.task-artifact-owners/.gjc-x", "/r/.gjc-recovery/x");
        assert_eq!(after(beside, &[beside]), ("payload_retired", false));
        assert_eq!(after(beside, &[recovery]), ("cleanup_pending", true), "near miss: it stands there");
        assert_eq!(after(recovery, &[recovery]), ("cleanup_pending", true), "near miss: it was not beside the owner");
    }
    #[test]
    fn the_payload_is_retired_at_removing_only_and_the_continuation_says_where_the_tree_is() {
        let at = |path: Vec<u8>| {
            let (native, start) = (native("cleanup_pending", true), beginning(&evidence(), &paths(), None));
            let residual = vec![(path, scrubbed())];
            match super::conclude(
                &evidence(),
                &paths(),
                start,
                After { native: Some(native), parent: parent(), residual, gone: Vec::new() },
            ) {
                Outcome::Retained(retained) => (retained.why.word(), retained.continuation.retained_root.to_string()),
                Outcome::Completed => panic!("something is left"),
            }
        };
        let text = |path: Vec<u8>| String::from_utf8(path).unwrap();
        assert_eq!(at(paths().removing), ("payload_retired", text(paths().removing)));
        assert_eq!(at(paths().root), ("cleanup_pending", text(paths().root)));
    }
    #[test]
    fn what_an_earlier_attempt_gave_up_is_no_authority_any_more() {
        let (evidence, paths) = (evidence(), paths());
        let mut smaller = beginning(&evidence, &paths, None);
        smaller.tree.entries.truncate(2);
        let whole = [(paths.removing.as_slice(), Root::Tree(evidence.tree.clone()))];
        let facts = Before { secure: true, parent: parent(), roots: &whole, canonical: Ok(()) };
        assert_eq!(precondition(&evidence, &paths, None, &facts), Ok(paths.removing.as_slice()));
        assert_eq!(precondition(&evidence, &paths, Some(&smaller), &facts), Err(Reason::RootNotFoundOrUnverified));
    }
    #[test]
    fn a_publication_in_the_evidence_is_enough_to_wait() {
        let (mut evidence, paths) = (evidence(), paths());
        let now = [(paths.root.as_slice(), Root::Tree(evidence.tree.clone()))];
        evidence.tree.entries[1].relative_path = ".x.0f8fad5b-d9cb-469f-a165-70867728950e.staging".into();
        let facts = Before { secure: true, parent: parent(), roots: &now, canonical: Ok(()) };
        assert_eq!(precondition(&evidence, &paths, None, &facts), Err(Reason::WriterNotQuiescent));
    }
    #[test]
    fn live_checks_by_state() {
        let target = Target {
            transcript_path: "/r/v2-d/t.jsonl".into(),
            session_id: "s".into(),
            cwd: "/w".into(),
            identity: Identity { dev: 1_u64.into(), ino: 2_u64.into(), size: 0, mtime_ns: 0_u64.into(), sha256: EMPTY_SHA256 },
            locator: evidence().locator,
        };
        let receipt = |progress| Receipt { scope: "d".into(), target: target.clone().into(), evidence: evidence(), progress };
        let check = |progress, root, removing| live_check(&receipt(progress), &paths(), &Live { parent: parent(), root, removing });
        let mut other = scrubbed();
        other.root.ino = 5;
        assert_eq!(check(Progress::OwnerRetired, Root::Absent, Root::Absent), Ok(()));
        assert_eq!(check(Progress::OwnerRetired, Root::Absent, Root::Tree(scrubbed())), Err(Refusal::PhysicalRetirementUnverified));
        assert_eq!(check(Progress::OwnerRetired, Root::Unavailable, Root::Absent), Err(Refusal::PhysicalRetirementUnverified));
        assert_eq!(check(Progress::OwnerRetired, Root::Tree(other), Root::Absent), Err(Refusal::RetainedRootReplaced));
        assert_eq!(check(Progress::Prepared, Root::Tree(evidence().tree), Root::Absent), Ok(()));
        assert_eq!(check(Progress::ArtifactsRemoved, Root::Tree(scrubbed()), Root::Absent), Err(Refusal::EvidenceMismatch));
        let mut continuation = beginning(&evidence(), &paths(), None);
        continuation.payload_durable = Some(true);
        let pending = || {
            let outcome = Box::new(Retained { why: Why::CleanupPending, continuation: continuation.clone(), native: None });
            Progress::OwnerPending { attempt: 1, outcome }
        };
        assert_eq!(check(pending(), Root::Absent, Root::Tree(scrubbed())), Ok(()));
        assert_eq!(check(pending(), Root::Absent, Root::Tree(evidence().tree)), Err(Refusal::RetiredPayloadChanged));
        assert_eq!(check(pending(), Root::Tree(scrubbed()), Root::Absent), Err(Refusal::RetainedTreeMismatch));
        let canonical = {
            let mut continuation = continuation.clone();
            continuation.retained_root = JsString::from_wtf8(paths().root);
            let outcome = Box::new(Retained { why: Why::CleanupPending, continuation, native: None });
            Progress::OwnerPending { attempt: 1, outcome }
        };
        assert_eq!(check(canonical.clone(), Root::Tree(scrubbed()), Root::Absent), Ok(()), "it is looked for where it was left");
        assert_eq!(check(canonical, Root::Absent, Root::Tree(scrubbed())), Err(Refusal::RetainedTreeMismatch));
        let elsewhere = |progress, root, removing| {
            live_check(&receipt(progress), &paths(), &Live { parent: Parent::Is(Inode { dev: 0, ino: 0 }), root, removing })
        };
        assert_eq!(elsewhere(pending(), Root::Absent, Root::Tree(scrubbed())), Err(Refusal::ParentIdentityMismatch));
        assert_eq!(elsewhere(Progress::Prepared, Root::Tree(evidence().tree), Root::Absent), Err(Refusal::EvidenceMismatch));
        let lost = live_check(
            &receipt(Progress::OwnerRetired),
            &paths(),
            &Live { parent: Parent::Unavailable, root: Root::Absent, removing: Root::Absent },
        );
        assert_eq!(lost, Err(Refusal::ParentIdentityMismatch));
    }
}
