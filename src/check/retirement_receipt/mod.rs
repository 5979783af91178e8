//! The area *retirement receipt* of spec 05, and what the area *quota* says of retirement: each journal replayed in gjc's
//! order, what stands beside it on disk, and how much of every limit is used (spec 03 §10, §11, §13, §14.1, §14.3).
//!
//! Scopes are judged one after another when the walk is done, the journals of one scope in parallel.

pub mod codes;
pub mod protocol;

use super::owner::{Journalled, Named};
use super::quota::{LARGEST_RETIREMENT_HISTORY, LARGEST_RETIREMENT_RECEIPT, RECEIPTS_INVENTORY, RETIREMENT_ENTRIES, codes as quota};
use super::record::{self, Folded};
use super::run::Site;
use crate::agent::identity::is_digest;
use crate::agent::layout::{INTERNAL, RECEIPTS};
use crate::agent::walk::{Listing, show};
use crate::finding::{Code, Difference, Finding, Gauge, Sink};
use crate::fsys::Kind;
use crate::gc::budget::{History, INVENTORY_AT_RISK, MAX_ENTRIES, MAX_HISTORY_BYTES, MAX_RECEIPT_BYTES};
use crate::gc::ground::{Ground, Held};
use crate::gc::stored::{Fault, Files, Inventory, Refused};
use crate::gc::{Budget, Journal, Progress, Refusal, Scope, SessionsRoot, State, Why};
use crate::json::Tape;
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Journals that are judged before what they gave is put away.
const SWEEP: usize = 512;

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
            "The receipts directories of this profile hold {used} entries. From {INVENTORY_AT_RISK} on, gjc's read-only inspection may \
             refuse; its exact bound is not known."
        );
        sink.push(Finding::new(&quota::GC_INVENTORY_ADMISSION_AT_RISK, site.place(sessions), message));
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
    /// Entries of the scope.
    entries: Budget,
}

fn scope(site: &Site<'_>, receipts: &Listing, journals: &mut Vec<Journalled>, sink: &mut dyn Sink) {
    let Some(directory) = scope_of(&receipts.path) else { return };
    let Some(sessions) = directory.parent() else { return };
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let Some(digest) = name.strip_prefix("v2-").filter(|digest| is_digest(digest.as_bytes())) else { return };
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
    sink.gauge(gauge(inventory.entries.used));
    if inventory.entries.percent() >= 90 {
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
    let recorded = (site.recorded(directory), site.recorded(sessions));
    let Ok(root) = SessionsRoot::new(recorded.1.as_os_str().as_encoded_bytes()) else { return };
    let here = |path: &Path| site.here(path);
    let ground = Ground {
        fs: site.fs,
        receipts,
        scope: Scope { digest, directory: recorded.0.as_os_str().as_encoded_bytes(), root: &root },
        here: &here,
        is_copy: site.assumed_root.is_some(),
    };
    let audit = Audit { site, ground, receipts, entries: inventory.entries };
    let mut told = Folded::new(sink, site.place(&receipts.path), "more receipts of this scope");
    let mut largest: [Option<(u64, PathBuf)>; 2] = [None, None];
    for sweep in inventory.journals.chunks(SWEEP) {
        let judged: Vec<Judged> = sweep.par_iter().map_init(Tape::default, |tape, files| audit.judge(files, tape)).collect();
        for (files, Judged { findings, owner }) in sweep.iter().zip(judged) {
            journals.extend(owner);
            findings.into_iter().for_each(|finding| told.push(finding));
            let file = files.objects.iter().max_by_key(|object| object.meta.size);
            for (place, used) in largest.iter_mut().zip([file.map_or(0, |object| object.meta.size), files.bytes()]) {
                if place.as_ref().is_none_or(|(most, _)| used > *most) {
                    *place = file.map(|object| (used, receipts.path_of(object)));
                }
            }
        }
    }
    told.finish();
    let [file, history] = largest;
    for (largest, measure) in [(file, &LARGEST_RETIREMENT_RECEIPT), (history, &LARGEST_RETIREMENT_HISTORY)] {
        if let Some((used, at)) = largest {
            sink.gauge(measure.gauge(site.name(&at), used));
        }
    }
}

/// What one journal gave.
struct Judged {
    findings: Vec<Finding>,
    owner: Option<Journalled>,
}

impl Audit<'_> {
    /// What one journal gives.
    fn judge(&self, files: &Files<'_>, tape: &mut Tape) -> Judged {
        let site = self.site;
        let mut findings: Vec<Finding> = Vec::new();
        let mut push = |code: &'static Code, path: &Path, message: String| findings.push(Finding::new(code, site.place(path), message));
        let Held { replayed, absent, proof } = self.ground.hold(files, tape);
        let names_are_told = self.names(files, &mut push);
        let begun = files.names.states().iter().any(|state| matches!(state, State::OwnerPending(_) | State::OwnerRetired));
        let owner = replayed.target.as_ref().map(|target| Journalled {
            named: Named { session: target.session_id.clone(), locator: target.locator.clone() },
            receipt: files.file(State::Prepared).map_or_else(|| self.receipts.path.clone(), |object| self.receipts.path_of(object)),
            begun,
        });
        let transcript = replayed.target.as_ref().map(|target| target.transcript_path.to_string());
        let about = transcript.as_deref().map_or_else(|| "an unknown transcript".to_owned(), |path| format!("`{}`", name_of(path)));
        match &replayed.journal {
            Ok(journal) => {
                self.stands(files, journal, proof, absent == Some(true), &about, &mut push);
                self.room(files, journal, &replayed.history, &about, &mut push);
            }
            Err(Refused { fault, at }) => {
                let path =
                    at.and_then(|state| files.file(state)).or(files.objects.first().copied()).map(|object| self.receipts.path_of(object));
                let path = path.unwrap_or_else(|| self.receipts.path.clone());
                match fault {
                    Fault::Rule(Refusal::ContinuationCorrupt) if names_are_told => {}
                    Fault::Rule(refusal) => {
                        if let Some(code) = super::code(refusal.token()) {
                            push(code, &path, refused(*refusal, files, *at, &about));
                        }
                    }
                    Fault::Full(full) => push(
                        &quota::MANAGED_GC_JOURNAL_CAPACITY_EXCEEDED,
                        &path,
                        format!(
                            "The journal of {about} needs {} {}; gjc reads {}. Nothing of it is damaged by that.",
                            full.asked, full.counts, full.limit
                        ),
                    ),
                    Fault::Unread(refusal) => record::unread(site, &path, refusal.clone(), &mut Several(&mut findings)),
                    Fault::Unbound => {}
                }
            }
        }
        Judged { findings, owner }
    }

    /// Names that poison the journal, and entries that are no files. True when there are some.
    fn names(&self, files: &Files<'_>, push: &mut impl FnMut(&'static Code, &Path, String)) -> bool {
        use crate::gc::Name;
        let mut some = false;
        for object in &files.objects {
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
                (Name::Malformed(_), _) => {
                    format!("`{}` is the name of no state; a leftover like this poisons the whole journal.", show(&object.name))
                }
                _ => continue,
            };
            some = true;
            push(&codes::TASK_ARTIFACT_OWNER_CONTINUATION_CORRUPT, &self.receipts.path_of(object), message);
        }
        some
    }

    /// What a sound journal says, held against the disk.
    fn stands(
        &self,
        files: &Files<'_>,
        journal: &Journal,
        proof: Result<(), Refusal>,
        absent: bool,
        about: &str,
        push: &mut impl FnMut(&'static Code, &Path, String),
    ) {
        let path = |state| files.file(state).map_or_else(|| self.receipts.path.clone(), |object| self.receipts.path_of(object));
        let newest = path(journal.state());
        for state in &journal.not_canonical {
            let message = "The receipt says what it should, in other bytes than gjc writes.".to_owned();
            push(&codes::GC_RECEIPT_NOT_CANONICAL, &path(*state), message);
        }
        if let Err(refusal) = proof
            && let Some(code) = super::code(refusal.token())
        {
            push(code, &newest, refused(refusal, files, Some(journal.state()), about));
        }
        let how = match &journal.newest {
            Progress::OwnerRetired => return,
            Progress::Prepared => "nothing was removed yet".to_owned(),
            Progress::ArtifactsRemoved => "its own artifacts are gone, its owner was not yet asked for".to_owned(),
            Progress::OwnerPending { attempt, outcome } => match &outcome.why {
                Why::Uncertain { reason } => format!("attempt {attempt} ended uncertain: {}", shortened(&reason.to_string())),
                why => format!("attempt {attempt} ended as `{}`", why.word()),
            },
        };
        let message = format!("The retirement of {about} stands at `{}`: {how}.", journal.state().word());
        push(&codes::GC_RETIREMENT_PENDING, &newest, message);
        if absent {
            let message = format!("The transcript {about} is gone and its retirement stands at `{}`.", journal.state().word());
            push(&codes::GC_RECEIPT_ORPHAN_TRANSCRIPT_MISSING, &newest, message);
        }
    }

    /// Whether the next receipt of a sound journal fits.
    fn room(
        &self,
        files: &Files<'_>,
        journal: &Journal,
        history: &History,
        about: &str,
        push: &mut impl FnMut(&'static Code, &Path, String),
    ) {
        if journal.state() == State::OwnerRetired {
            return;
        }
        let newest = files.file(journal.state()).map_or_else(|| self.receipts.path.clone(), |object| self.receipts.path_of(object));
        let next = journal.newest_receipt().next_pending_length();
        if next > MAX_RECEIPT_BYTES {
            let message = format!("The next receipt of {about} would have {next} bytes; gjc writes at most {MAX_RECEIPT_BYTES}.");
            push(&quota::MANAGED_GC_RECEIPT_CAPACITY_EXCEEDED, &newest, message);
            return;
        }
        let left = history.appends_left(next, &self.entries);
        let near = left < 3 || history.bytes.percent() >= 90 || history.files.percent() >= 90;
        // That the scope is nearly full is said once, at its directory.
        if near && self.entries.percent() < 90 {
            let message = format!(
                "The history of {about} holds {} of {MAX_HISTORY_BYTES} bytes in {} receipts; {left} more of {next} bytes fit.",
                history.bytes.used, history.files.used
            );
            push(&quota::GC_RECEIPT_QUOTA_NEAR, &newest, message);
        }
    }
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
