//! The area *retirement receipt* of spec 05, and what the area *quota* says of retirement: each journal replayed in gjc's
//! order, what stands beside it on disk, and how much of every limit is used (spec 03 §10, §11, §13, §14.1, §14.3).
//!
//! Scopes are judged one after another when the walk is done, the journals of one scope in parallel.

pub mod codes;
pub mod protocol;

use super::owner::{Journalled, Named};
use super::quota::{
    CONTINUATION_CODES, CONTINUATION_PATHS, LARGEST_RETIREMENT_HISTORY, LARGEST_RETIREMENT_RECEIPT, LARGEST_RETIREMENT_STATES, Measure,
    NEXT_RETIREMENT_RECEIPT, RECEIPTS_INVENTORY, RETIREMENT_ENTRIES,
    codes::{self as quota, LIMIT_NEAR},
};
use super::record::{self, Folded};
use super::run::Site;
use super::security;
use crate::agent::identity::is_digest;
use crate::agent::layout::{INTERNAL, RECEIPTS};
use crate::agent::security::Need;
use crate::agent::walk::{Listing, Object, show};
use crate::finding::{Code, Difference, Finding, Gauge, Sink};
use crate::fsys::Kind;
use crate::gc::budget::{History, INVENTORY_AT_RISK, MAX_ENTRIES, MAX_HISTORY_BYTES, MAX_RECEIPT_BYTES};
use crate::gc::ground::{Beside, Ground, Held};
use crate::gc::names::PREFIX;
use crate::gc::stored::{Desk, Fault, Files, Inventory, Refused, Source};
use crate::gc::{Budget, Journal, List, Name, Progress, Refusal, Scope, SessionsRoot, State, Why};
use rayon::prelude::*;
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Journals that are judged before what they gave is put away.
const SWEEP: usize = 2048;

/// Judges the receipts directories of all scopes that were walked. Answers what their journals say of owners.
pub fn check(site: &Site<'_>, directories: &[Listing], sink: &mut dyn Sink) -> Vec<Journalled> {
    let mut journals = Vec::new();
    if !Difference::Retirement.in_effect(site.release) {
        return journals;
    }
    for receipts in directories {
        scope(site, receipts, &mut journals, sink);
    }
    inventory(site, directories, sink);
    journals
}

/// All receipts directories of a profile together (§14.3). The unit table of that budget is not known: at risk, no more.
fn inventory(site: &Site<'_>, directories: &[Listing], sink: &mut dyn Sink) {
    let used: u64 = directories.iter().map(|receipts| receipts.objects.len() as u64).sum();
    let Some(sessions) = directories.first().and_then(|receipts| sessions_of(&receipts.path)).filter(|_| site.whole && used > 0) else {
        return;
    };
    let path = site.name(sessions);
    sink.gauge(RECEIPTS_INVENTORY.gauge(path, used));
    if used > INVENTORY_AT_RISK {
        let message = format!(
            "The receipts directories of this profile hold {used} entries. Above {INVENTORY_AT_RISK}, gjc's read-only inspection may \
             refuse; its exact bound is not known."
        );
        sink.push(Finding::new(&quota::GC_INVENTORY_ADMISSION_AT_RISK, site.place(sessions), message));
    }
}

/// Whether the journals in this receipts directory are opened by [`check`], which asks for the ACLs of their receipts too.
pub fn audits(site: &Site<'_>, receipts: &Listing) -> bool {
    Difference::Retirement.in_effect(site.release)
        && Owned::by(site, receipts).is_some()
        && receipts.is_complete()
        && receipts.starting_with(PREFIX.as_bytes()).len() as u64 <= MAX_ENTRIES
}

/// Whether the name is that of a receipt of some journal, or begins like one.
pub fn is_of_journal(object: &Object) -> bool {
    Name::parse(object.bytes()).key().is_some()
}

/// The scope that a receipts directory belongs to.
struct Owned<'l> {
    /// From its name.
    digest: &'l str,
    /// Its directory as records spell it.
    directory: PathBuf,
    /// The sessions root as records spell it.
    root: SessionsRoot,
}

impl<'l> Owned<'l> {
    /// None for a directory that is not where gjc keeps receipts.
    fn by(site: &Site<'_>, receipts: &'l Listing) -> Option<Self> {
        let directory = scope_of(&receipts.path)?;
        let digest = directory.file_name()?.to_str()?.strip_prefix("v2-").filter(|digest| is_digest(digest.as_bytes()))?;
        let root = SessionsRoot::new(site.recorded(directory.parent()?).as_os_str().as_encoded_bytes()).ok()?;
        Some(Owned { digest, directory: site.recorded(directory), root })
    }
}

/// `<sessions>/v2-…/.gjc-managed-session-internal/receipts` to `<sessions>/v2-…`.
fn scope_of(receipts: &Path) -> Option<&Path> {
    receipts.strip_suffix_of(&[RECEIPTS, INTERNAL])
}
fn sessions_of(receipts: &Path) -> Option<&Path> {
    scope_of(receipts)?.parent()
}

trait StripSuffix {
    fn strip_suffix_of(&self, names: &[&str]) -> Option<&Path>;
}
impl StripSuffix for Path {
    fn strip_suffix_of(&self, names: &[&str]) -> Option<&Path> {
        names.iter().try_fold(self, |path, name| path.parent().filter(|_| path.file_name().is_some_and(|own| own == *name)))
    }
}

/// The journals of one scope under audit.
struct Audit<'a> {
    site: &'a Site<'a>,
    ground: Ground<'a>,
    receipts: &'a Listing,
    /// The path of the receipts directory, for what is kept of each journal.
    directory: Arc<Path>,
    /// Entries of the scope.
    entries: Budget,
}

fn scope(site: &Site<'_>, receipts: &Listing, journals: &mut Vec<Journalled>, sink: &mut dyn Sink) {
    let Some(owned) = Owned::by(site, receipts) else { return };
    let path = || site.name(&receipts.path);
    let gauge = |used| RETIREMENT_ENTRIES.gauge(path(), used);
    let inventory = match Inventory::of(receipts) {
        Ok(inventory) if inventory.entries.used == 0 => return,
        Ok(inventory) => inventory,
        Err(full) => {
            sink.gauge(gauge(full.asked));
            let message = format!(
                "{} retirement receipts lie in this scope; gjc counts to {MAX_ENTRIES} before it looks at any of them. None of them is \
                 damaged or missing by that.",
                full.asked
            );
            sink.push(Finding::new(&quota::MANAGED_GC_JOURNAL_CAPACITY_EXCEEDED, site.place(&receipts.path), message));
            return;
        }
    };
    // That something was not seen was told where it was listed. It may be the `prepared` receipt that a journal seems to lack.
    if !receipts.is_complete() {
        return;
    }
    let entries = gauge(inventory.entries.used);
    if RETIREMENT_ENTRIES.is_near(inventory.entries.used) {
        let message = format!(
            "{} of {MAX_ENTRIES} retirement receipts of this scope are used, by all its sessions together.",
            inventory.entries.used
        );
        sink.push(Finding::new(&quota::GC_RECEIPT_QUOTA_NEAR, site.place(&receipts.path), message));
    }
    for object in &inventory.nobody {
        let message = "The name begins like a retirement receipt and names no transcript.";
        let finding = Finding::new(&codes::TASK_ARTIFACT_OWNER_CONTINUATION_CORRUPT, site.place(&receipts.path_of(object)), message);
        sink.push(finding.help(
            "gjc never wrote a file of this name. With gjc stopped, move it out of the directory and keep it; leave the other receipts.",
        ));
    }
    let here = |path: &Path| site.here(path);
    let (opened, beside) = (Source::open(site.fs, receipts), Beside::open(site.fs, receipts, inventory.journals.len()));
    let ground = Ground {
        fs: site.fs,
        receipts,
        opened: opened.as_deref(),
        beside: beside.as_ref(),
        scope: Scope { digest: owned.digest, directory: owned.directory.as_os_str().as_encoded_bytes(), root: &owned.root },
        here: &here,
        is_copy: site.assumed_root.is_some(),
    };
    let directory = Arc::from(receipts.path.as_path());
    let audit = Audit { site, ground, receipts, directory, entries: inventory.entries };
    let mut told = Folded::new(sink, site.place(&receipts.path));
    let mut most = [
        &LARGEST_RETIREMENT_RECEIPT,
        &LARGEST_RETIREMENT_HISTORY,
        &LARGEST_RETIREMENT_STATES,
        &NEXT_RETIREMENT_RECEIPT,
        &CONTINUATION_CODES,
        &CONTINUATION_PATHS,
    ]
    .map(|measure| Most { measure, of: None });
    let mut tightest: Option<u32> = None;
    for sweep in inventory.journals.chunks(SWEEP) {
        // Of the two codes that every unfinished journal may have nothing is made once they are only counted.
        let counted = COMMON.map(|code| told.is_full(code));
        let judged: Vec<Judged> = sweep.par_iter().map_init(Desk::default, |desk, files| audit.judge(files, counted, desk)).collect();
        for (at, code) in COMMON.into_iter().enumerate().filter(|(at, _)| counted[*at]) {
            told.count(code, judged.iter().filter(|one| one.counted[at]).count() as u64);
        }
        for (files, Judged { findings, owner, next, lists: [codes, paths], .. }) in sweep.iter().zip(judged) {
            journals.extend(owner);
            tightest = tightest.into_iter().chain(next.map(|next| next.left)).min();
            findings.into_iter().for_each(|finding| told.push(finding));
            let Some(file) = files.objects.iter().max_by_key(|object| object.meta.size) else { continue };
            let (states, next_bytes) = (files.objects.len() as u64, next.map_or(0, |next| next.bytes));
            for (most, used) in most.iter_mut().zip([file.meta.size, files.bytes(), states, next_bytes, codes, paths]) {
                most.see(used, || (receipts.path_of(file), next.map(|next| next.left)));
            }
        }
    }
    told.finish();
    // Of the scope: how often the journal with the least room can go on. Of a history: how often it can itself.
    sink.gauge(Gauge { appends_left: tightest, ..entries });
    for Most { measure, of } in most {
        let Some((used, at, left)) = of else { continue };
        let appends_left = left.filter(|_| measure.name == LARGEST_RETIREMENT_HISTORY.name);
        if measure.warning.name == LIMIT_NEAR.name {
            measure.read(site.place(&at), used, sink);
        } else {
            // What is near was told with the journal.
            sink.gauge(Gauge { appends_left, ..measure.gauge(site.name(&at), used) });
        }
    }
}

/// The journal of a scope that has the most of something, and how many more receipts fit into it.
struct Most {
    measure: &'static Measure,
    of: Option<(u64, PathBuf, Option<u32>)>,
}

impl Most {
    fn see(&mut self, used: u64, place: impl FnOnce() -> (PathBuf, Option<u32>)) {
        if used > self.of.as_ref().map_or(0, |(most, ..)| *most) {
            let (path, left) = place();
            self.of = Some((used, path, left));
        }
    }
}

/// Codes that every journal of a scope may have.
const COMMON: [&Code; 2] = [&codes::GC_RETIREMENT_PENDING, &codes::GC_RECEIPT_ORPHAN_TRANSCRIPT_MISSING];

/// What one journal gave.
struct Judged {
    findings: Vec<Finding>,
    /// Which of [`COMMON`] it has without a finding.
    counted: [bool; 2],
    owner: Option<Journalled>,
    /// The receipt that comes next; none when the journal is at its end, or refused.
    next: Option<Next>,
    /// Values of the longest list of codes, and of side paths, of its newest continuation, which every further one repeats.
    lists: [u64; 2],
}

/// The receipt that a journal needs next.
#[derive(Clone, Copy)]
struct Next {
    /// Its bytes, at least.
    bytes: u64,
    /// How many of that size fit.
    left: u32,
}

impl Audit<'_> {
    /// What one journal gives.
    fn judge(&self, files: &Files<'_>, only_counted: [bool; 2], desk: &mut Desk) -> Judged {
        let site = self.site;
        let mut counted = [false; 2];
        let mut findings: Vec<Finding> = Vec::new();
        let Held { replayed, absent, proof } = self.hold(files, desk, &mut findings);
        let mut push = |code: &'static Code, path: &Path, message: String| findings.push(Finding::new(code, site.place(path), message));
        let names_are_told = self.names(files, &mut push);
        let begun = files.names.states().iter().any(|state| matches!(state, State::OwnerPending(_) | State::OwnerRetired));
        let owner = replayed.target.as_ref().map(|target| Journalled {
            named: Named { session: target.session_id.clone(), locator: target.locator.clone() },
            directory: Arc::clone(&self.directory),
            key: files.key,
            begun,
        });
        let about = || {
            let transcript = replayed.target.as_ref().map(|target| target.transcript_path.to_string());
            transcript.as_deref().map_or_else(|| "an unknown transcript".to_owned(), |path| format!("`{}`", name_of(path)))
        };
        let (mut next, mut lists) = (None, [0; 2]);
        match &replayed.journal {
            Ok(journal) => {
                lists = longest_lists(&journal.newest);
                counted = self.stands(files, journal, proof, absent == Some(true), only_counted, &about, &mut push);
                next = self.room(files, journal, &replayed.history, &about, &mut push);
            }
            Err(Refused { fault, at }) => {
                let path = at.and_then(|state| files.file(state)).or(files.objects.first()).map(|object| self.receipts.path_of(object));
                let path = path.unwrap_or_else(|| self.receipts.path.clone());
                match fault {
                    Fault::Rule(Refusal::ContinuationCorrupt) if names_are_told => {}
                    Fault::Rule(refusal) => {
                        if let Some(code) = super::code(refusal.token()) {
                            push(code, &path, refused(*refusal, files, *at, &about()));
                        }
                    }
                    Fault::Full(full) => push(
                        &quota::MANAGED_GC_JOURNAL_CAPACITY_EXCEEDED,
                        &path,
                        format!(
                            "The journal of {} needs {} {}; gjc reads {}. Nothing of it is damaged by that.",
                            about(),
                            full.asked,
                            full.counts,
                            full.limit
                        ),
                    ),
                    Fault::Unread(refusal) => record::unread(site, &path, refusal.clone(), &mut Several(&mut findings)),
                    Fault::Unbound => {}
                }
            }
        }
        Judged { findings, counted, owner, next, lists }
    }

    /// Reads the journal. Every receipt is asked for its ACL: one that is opened through its descriptor, the others by path.
    fn hold(&self, files: &Files<'_>, desk: &mut Desk, findings: &mut Vec<Finding>) -> Held {
        let mut asked: Vec<&OsStr> = Vec::with_capacity(files.objects.len());
        let held = self.ground.hold_watched(files, desk, |object, watched| {
            asked.push(&object.name);
            security::open_file(self.site, &self.receipts.path_of(object), watched, &mut Several(findings));
        });
        if asked.len() < files.objects.len() {
            asked.sort_unstable();
            let left = files.objects.iter().filter(|object| object.meta.kind == Kind::File);
            for object in left.filter(|object| asked.binary_search(&&*object.name).is_err()) {
                security::by_path(self.site, &self.receipts.path_of(object), Need::File, &mut Several(findings));
            }
        }
        held
    }

    /// Names that poison the journal, and entries that are no files. True when there are some.
    fn names(&self, files: &Files<'_>, push: &mut impl FnMut(&'static Code, &Path, String)) -> bool {
        let mut some = false;
        // Nearly all journals: what follows would find nothing.
        if !files.names.are_corrupt() && !files.names.have_odd_attempt() {
            return false;
        }
        for object in files.objects {
            let message = match (Name::parse(object.bytes()), object.meta.kind) {
                // Links have a code of their own.
                (_, Kind::Symlink) => {
                    some = true;
                    continue;
                }
                (_, kind) if kind != Kind::File => format!("A {} stands in the place of a retirement receipt.", kind.noun()),
                (Name::OddAttempt(_), _) => {
                    "The attempt in the name is not spelt as gjc spells it (eight digits or more, from 00000001).".to_owned()
                }
                (Name::Malformed(_) | Name::NoAttempt(_), _) => {
                    format!("`{}` is the name of no state; a leftover like this poisons the whole journal.", show(&object.name))
                }
                _ => continue,
            };
            some = true;
            push(&codes::TASK_ARTIFACT_OWNER_CONTINUATION_CORRUPT, &self.receipts.path_of(object), message);
        }
        some
    }

    /// What a sound journal says, held against the disk. Answers which of [`COMMON`] it has of those that are only counted.
    #[expect(clippy::too_many_arguments, reason = "the journal, what stands beside it, and how it is told")]
    fn stands(
        &self,
        files: &Files<'_>,
        journal: &Journal,
        proof: Result<(), Refusal>,
        absent: bool,
        only_counted: [bool; 2],
        about: &dyn Fn() -> String,
        push: &mut impl FnMut(&'static Code, &Path, String),
    ) -> [bool; 2] {
        let path = |state| files.file(state).map_or_else(|| self.receipts.path.clone(), |object| self.receipts.path_of(object));
        for state in &journal.not_canonical {
            let message = "The receipt says what it should, in other bytes than gjc writes.".to_owned();
            push(&codes::GC_RECEIPT_NOT_CANONICAL, &path(*state), message);
        }
        if let Err(refusal) = proof
            && let Some(code) = super::code(refusal.token())
        {
            push(code, &path(journal.state()), refused(refusal, files, Some(journal.state()), &about()));
        }
        if journal.state() == State::OwnerRetired {
            return [false; 2];
        }
        let [pending, orphan] = only_counted;
        let counted = [pending, orphan && absent];
        if pending && (orphan || !absent) {
            return counted;
        }
        let (newest, about) = (path(journal.state()), about());
        let how = match &journal.newest {
            Progress::OwnerRetired => return counted,
            Progress::Prepared => "nothing was removed yet".to_owned(),
            Progress::ArtifactsRemoved => "its own artifacts are gone, its owner was not yet asked for".to_owned(),
            Progress::OwnerPending { attempt, outcome } => match &outcome.why {
                Why::Uncertain { reason } => format!("attempt {attempt} ended uncertain: {}", shortened(&reason.to_string())),
                why => format!("attempt {attempt} ended as `{}`", why.word()),
            },
        };
        let message = format!("The retirement of {about} stands at `{}`: {how}.", journal.state().word());
        if !pending {
            push(&codes::GC_RETIREMENT_PENDING, &newest, message);
        }
        if absent && !orphan {
            let message = format!("The transcript {about} is gone and its retirement stands at `{}`.", journal.state().word());
            push(&codes::GC_RECEIPT_ORPHAN_TRANSCRIPT_MISSING, &newest, message);
        }
        counted
    }

    /// How near a sound journal is to its quotas, whether its next receipt fits, and how many do.
    fn room(
        &self,
        files: &Files<'_>,
        journal: &Journal,
        history: &History,
        about: &dyn Fn() -> String,
        push: &mut impl FnMut(&'static Code, &Path, String),
    ) -> Option<Next> {
        let newest = || files.file(journal.state()).map_or_else(|| self.receipts.path.clone(), |object| self.receipts.path_of(object));
        let bytes = (journal.state() != State::OwnerRetired).then(|| journal.prepared.pending_length_after(&journal.newest));
        let left = bytes.map(|bytes| history.appends_left(bytes, &self.entries));
        // At most the entries that are left of 50,000.
        let next = bytes.zip(left).map(|(bytes, left)| Next { bytes, left: u32::try_from(left).unwrap_or(u32::MAX) });
        if let Some(bytes) = bytes.filter(|bytes| *bytes > MAX_RECEIPT_BYTES) {
            let message = format!("The next receipt of {} would have {bytes} bytes; gjc writes at most {MAX_RECEIPT_BYTES}.", about());
            push(&quota::MANAGED_GC_RECEIPT_CAPACITY_EXCEEDED, &newest(), message);
            return next;
        }
        let largest = files.objects.iter().map(|object| object.meta.size).max().unwrap_or_default();
        if is_near(largest, history) || is_tight(left, &self.entries) {
            let mut message = format!(
                "The history of {} holds {} of {MAX_HISTORY_BYTES} bytes in {} receipts, the largest of {largest} bytes",
                about(),
                history.bytes.used,
                history.files.used
            );
            if let (Some(bytes), Some(left)) = (bytes, left) {
                let _ = write!(message, "; {left} more of {bytes} bytes fit");
            }
            push(&quota::GC_RECEIPT_QUOTA_NEAR, &newest(), message + ".");
        }
        next
    }
}

/// How long the longest lists of codes and of side paths are.
fn longest_lists(newest: &Progress) -> [u64; 2] {
    let Progress::OwnerPending { outcome, .. } = newest else { return [0; 2] };
    let longest = |lists: &[List]| lists.iter().map(|list| outcome.continuation.list(*list).len() as u64).max().unwrap_or_default();
    [longest(&[List::NativeCodes, List::WindowsCodes]), longest(&List::SIDE)]
}

/// Whether the largest receipt of a journal, the number of its receipts or their bytes are near a quota.
const fn is_near(largest: u64, history: &History) -> bool {
    LARGEST_RETIREMENT_RECEIPT.is_near(largest)
        || LARGEST_RETIREMENT_STATES.is_near(history.files.used)
        || LARGEST_RETIREMENT_HISTORY.is_near(history.bytes.used)
}

/// Whether fewer than three receipts more fit into a journal, if it is not the scope that leaves so little room: that is said
/// once, at its directory.
fn is_tight(left: Option<u64>, entries: &Budget) -> bool {
    left.is_some_and(|left| left < 3) && !RETIREMENT_ENTRIES.is_near(entries.used)
}

/// One sentence for a refusal, with what this case adds.
fn refused(refusal: Refusal, files: &Files<'_>, at: Option<State>, about: &str) -> String {
    let has = |state| files.names.has(state);
    match refusal {
        Refusal::StateMissing if !has(State::Prepared) => {
            "The journal has no `prepared` receipt, so nothing says what it is about.".to_owned()
        }
        Refusal::StateMissing if !has(State::ArtifactsRemoved) => {
            format!("The journal of {about} has no `artifacts_removed` receipt, and later states stand without it.")
        }
        Refusal::StateMissing => {
            let attempts = files.names.states().iter().filter_map(|state| match state {
                State::OwnerPending(attempt) => Some(*attempt),
                _ => None,
            });
            match attempts.zip(1..).find(|(attempt, place)| attempt != place) {
                Some((_, missing)) => {
                    format!("Attempt {missing} of the journal of {about} is missing; attempts count from 1 without a gap.")
                }
                None => format!("What the receipt says is another state or attempt than its name (journal of {about})."),
            }
        }
        _ => {
            let where_ = at.map_or(String::new(), |state| format!(" at `{}`", state.word()));
            let summary = super::code(refusal.token()).map_or("", |code| code.summary).trim_end_matches('.');
            format!("{summary} (journal of {about}{where_}).")
        }
    }
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn shortened(text: &str) -> String {
    super::words::shortened(text)
}

/// Takes findings into a list.
struct Several<'f>(&'f mut Vec<Finding>);

impl Sink for Several<'_> {
    fn push(&mut self, finding: Finding) {
        self.0.push(finding);
    }
    fn gauge(&mut self, _: Gauge) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gc::budget::scope_entries;

    #[test]
    fn each_quota_of_a_journal_is_near_from_nine_tenths_on() {
        let history = |files, bytes| {
            let mut history = History::default();
            history.files.used = files;
            history.bytes.used = bytes;
            history
        };
        assert!(!is_near(60_397_977, &history(44_999, 483_183_820)));
        assert!(is_near(60_397_978, &history(0, 0)), "one receipt");
        assert!(is_near(0, &history(45_000, 0)), "their number");
        assert!(is_near(0, &history(0, 483_183_821)), "their bytes");
    }
    /// What is told of the room of a journal whose next receipt is large, when its history holds so many bytes.
    fn told_of(used: u64) -> Vec<&'static str> {
        use crate::agent::owner_evidence::{EMPTY_SHA256, Evidence, example};
        use crate::agent::walk::{Limits, list};
        use crate::fsys::Memory;
        use crate::gc::{Identity, Key, Names, Receipt, Target};
        let fs = Memory::new();
        fs.directory("/r");
        let receipts = list(&fs, Path::new("/r"), &Limits::default()).unwrap();
        let mut evidence = Evidence::read(&crate::json::Value::parse(example("s").as_bytes()).unwrap()).unwrap();
        evidence.tree.entries[1].relative_path = "x".repeat(5_000_000).as_str().into();
        let identity = Identity { dev: 1_u64.into(), ino: 2_u64.into(), size: 0, mtime_ns: 0_u64.into(), sha256: EMPTY_SHA256 };
        let (transcript_path, locator) = ("/r/v2-d/t.jsonl".into(), evidence.locator.clone());
        let target = Arc::new(Target { transcript_path, session_id: "s".into(), cwd: "/w".into(), identity, locator });
        let prepared = Receipt { scope: "d".into(), target, evidence, progress: Progress::Prepared };
        let journal = Journal { prepared, newest: Progress::Prepared, not_canonical: Vec::new() };
        let key = Key([0; 32]);
        let files = Files { key, names: Names::of(key, std::iter::empty::<(&str, bool)>()), objects: &[] };
        let root = SessionsRoot::new(b"/r").unwrap();
        let scope = Scope { digest: "d", directory: b"/r/v2-d", root: &root };
        let here = |path: &Path| path.to_owned();
        let ground = Ground { fs: &fs, receipts: &receipts, opened: None, beside: None, scope, here: &here, is_copy: false };
        let directory = Arc::from(receipts.path.as_path());
        let site = Site::for_tests(&fs);
        let audit = Audit { site: &site, ground, receipts: &receipts, directory, entries: scope_entries() };
        let mut history = History::default();
        history.bytes.used = used;
        let mut told = Vec::new();
        audit.room(&files, &journal, &history, &String::new, &mut |code, _, _| told.push(code.name));
        told
    }
    /// 21 MB each: three of them fit behind 470 MB, two behind 480 MB, while nine tenths of the history are 483 MB.
    #[test]
    fn a_journal_into_which_fewer_than_three_receipts_fit_is_told_before_it_is_near() {
        assert_eq!(told_of(480_000_000), ["gc_receipt_quota_near"]);
        assert_eq!(told_of(470_000_000), [""; 0], "near miss");
    }
    #[test]
    fn fewer_than_three_appends_are_tight_unless_the_scope_is_why() {
        let entries = |used| {
            let mut entries = scope_entries();
            entries.charge(used).unwrap();
            entries
        };
        assert_eq!([None, Some(0), Some(2), Some(3)].map(|left| is_tight(left, &entries(44_999))), [false, true, true, false]);
        assert!(!is_tight(Some(0), &entries(45_000)));
    }
}
