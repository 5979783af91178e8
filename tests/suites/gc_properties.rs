//! What holds for every retirement receipt and every journal, not only for the recorded ones.

use gjc_fsck::agent::owner_evidence::{Decimal, EMPTY_SHA256, Entry, Evidence, Inode, Locator, TreeSnapshot, owner_id};
use gjc_fsck::agent::record::NodeKind;
use gjc_fsck::gc::continuation::is_within;
use gjc_fsck::gc::journal::replay;
use gjc_fsck::gc::{
    Continuation, Identity, Journal, Key, List, Names, NativeOutcome, Progress, Receipt, Refusal, Retained, Scope, SessionsRoot, State,
    Subject, Target, Why, receipt,
};
use gjc_fsck::json::{JsStr, JsString, Tape};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

const DIGEST: &str = "ox5grhpntk6cpox2wvz6zsu5rydv5ovfp7jdwmawhifjconsdi4q";
const PATH: &str = "/r/v2-ox5grhpntk6cpox2wvz6zsu5rydv5ovfp7jdwmawhifjconsdi4q/t.jsonl";
const DIRECTORY: &[u8] = b"/r/v2-ox5grhpntk6cpox2wvz6zsu5rydv5ovfp7jdwmawhifjconsdi4q";

fn root() -> SessionsRoot {
    SessionsRoot::new(b"/r").unwrap()
}

/// A tree whose directories and files hang below earlier directories.
fn trees() -> impl Strategy<Value = TreeSnapshot> {
    let node = (any::<prop::sample::Index>(), "[a-zä😀 .\"\u{7f}\u{2028}]{0,4}", any::<bool>(), any::<u8>());
    (any::<u64>(), prop::collection::vec(node, 0..9)).prop_map(|(dev, nodes)| {
        let mut entries = vec![entry("", NodeKind::Directory, dev, 1, 4096)];
        let mut directories = vec![String::new()];
        for (number, (parent, name, directory, size)) in nodes.into_iter().enumerate() {
            let parent = parent.get(&directories);
            let name = format!("{name}{number}");
            let path = if parent.is_empty() { name } else { format!("{parent}/{name}") };
            let kind = if directory { NodeKind::Directory } else { NodeKind::File };
            entries.push(entry(&path, kind, dev, number as u64 + 2, u64::from(size)));
            if directory {
                directories.push(path);
            }
        }
        TreeSnapshot { root: Inode { dev, ino: 1 }, entries }
    })
}

fn entry(path: &str, kind: NodeKind, dev: u64, ino: u64, size: u64) -> Entry {
    Entry {
        relative_path: path.into(),
        kind,
        dev,
        ino,
        nlink: 1,
        size,
        mtime_ns: Decimal::from(u64::MAX),
        ctime_ns: Decimal::unsigned(b"99999999999999999999").unwrap(),
        sha256: (kind == NodeKind::File).then_some([7; 32]),
    }
}

fn prepared(session: &str, tree: TreeSnapshot) -> Receipt {
    let owner_id = owner_id(JsStr::from(session)).unwrap();
    let locator = Locator { owner_id, directory_dev: tree.root.dev, directory_ino: tree.root.ino };
    let identity = Identity {
        dev: Decimal::from(1_u64),
        ino: Decimal::unsigned(b"36893488147419103232").unwrap(),
        size: 7,
        mtime_ns: Decimal::signed(b"-5").unwrap(),
        sha256: [9; 32],
    };
    let target =
        Target { transcript_path: PATH.into(), session_id: session.into(), cwd: "/w/\u{1}".into(), identity, locator: locator.clone() };
    let evidence = Evidence::new(session.into(), locator, Inode { dev: 3, ino: 4 }, tree).unwrap();
    Receipt { scope: DIGEST.into(), target: Arc::new(target), evidence, progress: Progress::Prepared }
}

fn with(receipt: &Receipt, progress: Progress) -> Receipt {
    Receipt { progress, ..receipt.clone() }
}

/// One step of a history: which entries go (with all below them), which files are scrubbed, what is newly recorded.
#[derive(Clone, Debug)]
struct Shrink {
    gone: Vec<prop::sample::Index>,
    scrubbed: Vec<prop::sample::Index>,
    code: Option<u8>,
    durable: bool,
}

fn shrinks() -> impl Strategy<Value = Vec<Shrink>> {
    let indices = || prop::collection::vec(any::<prop::sample::Index>(), 0..2);
    let shrink = (indices(), indices(), any::<Option<u8>>(), any::<bool>());
    prop::collection::vec(shrink.prop_map(|(gone, scrubbed, code, durable)| Shrink { gone, scrubbed, code, durable }), 1..5)
}

fn apply(mut continuation: Continuation, shrink: &Shrink) -> Continuation {
    let entries = &mut continuation.tree.entries;
    for index in &shrink.scrubbed {
        let at = index.index(entries.len());
        if entries[at].kind == NodeKind::File {
            (entries[at].size, entries[at].sha256) = (0, Some(EMPTY_SHA256));
        }
    }
    for index in &shrink.gone {
        let gone = entries[index.index(entries.len())].relative_path.to_string();
        if !gone.is_empty() {
            entries.retain(|entry| {
                let path = entry.relative_path.to_string();
                path != gone && !path.starts_with(&format!("{gone}/"))
            });
        }
    }
    if let Some(code) = shrink.code {
        continuation.append(List::NativeCodes, format!("code-{code}").as_str().into());
    }
    if shrink.durable {
        continuation.payload_durable = Some(true);
    }
    continuation
}

/// The continuations of a history that shrinks step by step.
fn history(prepared: &Receipt, steps: &[Shrink]) -> Vec<Continuation> {
    let paths = root().owner(&prepared.evidence.locator.owner_id);
    let mut last = Continuation::new(prepared.evidence.parent, JsString::from_wtf8(paths.root), prepared.evidence.tree.clone());
    let mut all = Vec::new();
    for step in steps {
        last = apply(last, step);
        all.push(last.clone());
    }
    all
}

fn pending(attempt: usize, continuation: Continuation) -> Progress {
    let why = if attempt.is_multiple_of(2) { Why::CleanupPending } else { Why::Uncertain { reason: "because 😀".into() } };
    let code = continuation.list(List::NativeCodes).first().cloned();
    let native = code.map(|code| NativeOutcome { code: Some(code), ..NativeOutcome::default() });
    Progress::OwnerPending { attempt: attempt as u64, outcome: Box::new(Retained { why, continuation, native }) }
}

fn key() -> Key {
    Key::of(JsStr::from(PATH))
}

/// The files of a journal: name and bytes.
fn files(prepared: &Receipt, continuations: &[Continuation], retired: bool) -> Vec<(String, Vec<u8>)> {
    let mut receipts = vec![prepared.clone(), with(prepared, Progress::ArtifactsRemoved)];
    receipts.extend(continuations.iter().enumerate().map(|(at, continuation)| with(prepared, pending(at + 1, continuation.clone()))));
    if retired {
        receipts.push(with(prepared, Progress::OwnerRetired));
    }
    receipts.iter().map(|receipt| (key().name(receipt.state()), receipt.encode().unwrap())).collect()
}

fn replayed(files: &[(String, Vec<u8>)]) -> Result<Option<Journal>, Refusal> {
    let names = Names::of(key(), files.iter().map(|(name, _)| (name, true)));
    let root = root();
    let scope = Scope { digest: DIGEST, directory: DIRECTORY, root: &root };
    let by_name: BTreeMap<&str, &[u8]> = files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    let read = |state| Ok::<_, Refusal>(by_name[key().name(state).as_str()]);
    replay(scope, Subject::Key(key()), &names, &mut Tape::default(), read, |_| Ok(()))
}

fn decode(bytes: &[u8], tape: &mut Tape, target: &Arc<Target>) -> Result<Receipt, Refusal> {
    receipt::parse(bytes, tape, |value| Receipt::decode(value, DIGEST, &root(), target))
}

proptest! {
    #[test]
    fn what_is_encoded_decodes_and_is_encoded_alike(tree in trees(), steps in shrinks(), session in "[a-z\"\\\\é]{1,5}") {
        let prepared = prepared(&session, tree);
        for (name, bytes) in files(&prepared, &history(&prepared, &steps), true) {
            let receipt = decode(&bytes, &mut Tape::default(), &prepared.target).map_err(|refusal| TestCaseError::fail(refusal.token()))?;
            prop_assert_eq!(key().name(receipt.state()), name);
            prop_assert_eq!(receipt.measure(), bytes.len() as u64);
            prop_assert!(receipt.is_canonical(&bytes));
            prop_assert_eq!(receipt.encode(), Ok(bytes));
        }
    }

    #[test]
    fn a_history_that_extends_is_accepted_in_any_order_of_the_directory(
        tree in trees(),
        steps in shrinks(),
        retired in any::<bool>(),
        order in any::<prop::sample::Index>(),
        turn in any::<bool>(),
    ) {
        let prepared = prepared("s", tree);
        let continuations = history(&prepared, &steps);
        let mut files = files(&prepared, &continuations, retired);
        let journal = replayed(&files).unwrap().unwrap();
        let newest = if retired { State::OwnerRetired } else { State::OwnerPending(continuations.len() as u64) };
        prop_assert_eq!(journal.state(), newest);
        let middle = order.index(files.len());
        files.rotate_left(middle);
        if turn {
            files.reverse();
        }
        prop_assert_eq!(replayed(&files), Ok(Some(journal)));
    }

    #[test]
    fn what_shrank_does_not_come_back(tree in trees(), steps in shrinks(), back in any::<prop::sample::Index>()) {
        let prepared = prepared("s", tree);
        let mut continuations = history(&prepared, &steps);
        let earlier = back.index(continuations.len());
        let returned = continuations[earlier].clone();
        let last = continuations.last().unwrap().clone();
        prop_assert!(last.extends(&returned));
        let same = last == returned;
        continuations.push(returned);
        let result = replayed(&files(&prepared, &continuations, false));
        if same {
            prop_assert!(result.is_ok());
        } else {
            prop_assert_eq!(result, Err(Refusal::ContinuationAuthorityMismatch));
        }
    }

    #[test]
    fn a_tree_is_within_itself_and_loses_that_with_any_new_entry(tree in trees(), ino in 1_000_u64..) {
        prop_assert!(is_within(&tree, &tree));
        let mut grown = tree.clone();
        grown.entries.push(entry("new", NodeKind::File, tree.root.dev, ino, 1));
        prop_assert!(!is_within(&grown, &tree));
        prop_assert!(is_within(&tree, &grown));
    }
}

/// A small generator of its own, so that 100,000 mutations cost what they decode and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }
}

/// Mutates a few bytes: replaces, removes, doubles a stretch, or puts a word of the grammar there.
fn mutate(bytes: &mut Vec<u8>, dice: &mut Dice) {
    const WORDS: [&[u8]; 12] =
        [b"null", b"[]", b"{}", b"\"\"", b"-0", b"1e400", b"\xFF", b"\\ud800", b"\"..\"", b",\"x\":1", b"18446744073709551616", b"]"];
    for _ in 0..=dice.roll(2) {
        let at = dice.roll(bytes.len());
        let end = (at + dice.roll(12)).min(bytes.len());
        match dice.roll(4) {
            0 => bytes[at] = dice.roll(256) as u8,
            1 => drop(bytes.drain(at..end)),
            2 => {
                let stretch = bytes[at..end].to_vec();
                bytes.splice(at..at, stretch);
            }
            _ => drop(bytes.splice(at..end, WORDS[dice.roll(WORDS.len())].iter().copied())),
        }
        if bytes.is_empty() {
            return;
        }
    }
}

#[test]
fn a_mutated_receipt_never_makes_the_decoder_panic_or_hold_more_than_it_read() {
    let tree = TreeSnapshot {
        root: Inode { dev: 2, ino: 1 },
        entries: vec![entry("", NodeKind::Directory, 2, 1, 64), entry("f", NodeKind::File, 2, 6, 3)],
    };
    let prepared = prepared("s", tree);
    let shrink = Shrink { gone: Vec::new(), scrubbed: Vec::new(), code: Some(1), durable: true };
    let seeds = files(&prepared, &history(&prepared, &[shrink]), true);
    let (mut dice, mut tape) = (Dice(1), Tape::default());
    let (mut accepted, mut refused) = (0, BTreeMap::<&str, u32>::new());
    for round in 0..100_000 {
        let mut bytes = seeds[round % seeds.len()].1.clone();
        mutate(&mut bytes, &mut dice);
        match decode(&bytes, &mut tape, &prepared.target) {
            Ok(receipt) => {
                accepted += 1;
                // A byte that is no UTF-8 becomes three; nothing else grows.
                assert!(receipt.measure() <= 3 * bytes.len() as u64 + 1);
                assert!(receipt.evidence.tree.entries.capacity() <= bytes.len());
                assert_eq!(decode(&receipt.encode().unwrap(), &mut tape, &prepared.target), Ok(receipt));
            }
            Err(refusal) => *refused.entry(refusal.token()).or_default() += 1,
        }
    }
    assert!(accepted > 100, "{accepted}");
    // The mutations reach every stage of the decoder.
    for refusal in [
        Refusal::ContinuationCorrupt,
        Refusal::ContinuationMismatch,
        Refusal::TranscriptReplaced,
        Refusal::EvidenceCorrupt,
        Refusal::OutcomeInvalid,
        Refusal::ContinuationInvalid,
        Refusal::EvidenceInvalid,
        Refusal::OutcomeMismatch,
    ] {
        assert!(refused.contains_key(refusal.token()), "{refusal} never met: {refused:?}");
    }
}
