//! The report for people: one line that says how it stands, then what needs doing, most important first.
//!
//! Errors come first, grouped by file, the top ones with the line they are about; then limits and moving files, which are
//! neither clean nor damaged; then warnings; then, counted, what is merely worth knowing; then what is nearly full; at the
//! end the next steps. Within each, what is most at stake comes first ([`Stake`]). Long runs of one code are folded, in one file and over many.

use super::Excerpts;
use super::style::{Palette, plain, solid, wrap};
use super::words;
use crate::finding::{Class, Gauge, Release, Severity};
use crate::report::prose::of_release;
use crate::report::reference::level;
use crate::report::{Entry, Report, Stake, Summary, Transcript, Verdict};
use indexmap::IndexMap;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

mod picture;

/// How the text is set.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Colours on or off.
    pub colour: bool,
    /// Columns.
    pub width: usize,
    /// Only errors, what to do about them, and the verdict.
    pub quiet: bool,
}

/// Findings that are shown with their line.
const PICTURES: usize = 3;
/// Lines numbers that a folded run names.
const NAMED_LINES: usize = 4;
/// Files with one code that a section shows when more than [`MANY_FILES`] have it; the others are counted by folder.
const FILES: usize = 5;
/// Files with one code that are all shown.
const MANY_FILES: usize = 8;
/// Folders that are named for what is folded.
const FOLDERS: usize = 4;
/// Gauges below this share of their limit are only counted.
const NEAR_PERCENT: u64 = 75;
/// Codes whose advice is repeated as next step.
const STEPS: usize = 5;
/// Why gjc does not reach a transcript that it would not refuse.
const BLOCKED: &str = "workspace refused, missing or unknown";
/// Gauges that are drawn.
const BARS: usize = 8;

/// The whole text.
pub fn text(report: &Report, excerpts: &dyn Excerpts, layout: Layout) -> String {
    let width = layout.width.min(120);
    let mut page = Page {
        report,
        excerpts,
        palette: Palette::new(layout.colour),
        colour: layout.colour,
        width,
        quiet: layout.quiet,
        transcripts: report.transcripts.iter().map(|transcript| (&*transcript.path, transcript)).collect(),
        workspaces: workspaces(&report.transcripts),
        erring: report.findings.iter().filter(|entry| entry.severity == Severity::Error).map(|entry| entry.place.path.as_str()).collect(),
        out: String::new(),
    };
    page.verdict();
    page.errors();
    page.asides();
    if !layout.quiet {
        page.warnings();
        page.infos();
        page.gauges();
    }
    page.next();
    if !layout.quiet {
        page.context();
    }
    page.out
}

struct Page<'a> {
    report: &'a Report,
    excerpts: &'a dyn Excerpts,
    palette: Palette,
    colour: bool,
    width: usize,
    quiet: bool,
    /// By path.
    transcripts: BTreeMap<&'a str, &'a Transcript>,
    /// By name of the scope.
    workspaces: BTreeMap<&'a str, &'a str>,
    /// Paths with an error.
    erring: BTreeSet<&'a str>,
    out: String,
}

/// Findings of one code in one file, in order.
type Runs<'a> = IndexMap<&'static str, Vec<&'a Entry>>;

impl<'a> Page<'a> {
    /// One line. Writing into a String cannot fail.
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{text}");
    }

    fn verdict(&mut self) {
        let summary = &self.report.summary;
        let mut said = Vec::new();
        for (count, one, many, severity) in
            [(summary.errors, "error", "errors", Severity::Error), (summary.warnings, "warning", "warnings", Severity::Warning)]
        {
            if count > 0 {
                said.push(self.palette.severity(severity, &words::count(count, one, many)));
            }
        }
        if summary.capacity > 0 {
            said.push(self.palette.aside(&words::count(summary.capacity, "limit reached or near", "limits reached or near")));
        }
        if summary.transient > 0 {
            said.push(self.palette.aside(&words::count(
                summary.transient,
                "object moved during the check",
                "objects moved during the check",
            )));
        }
        let words = verdict_words(summary);
        let sign = match words {
            VerdictWords::Trouble | VerdictWords::Unreadable => self.palette.severity(Severity::Error, &format!("✗ {}", words.text())),
            VerdictWords::NoErrors | VerdictWords::NothingNew | VerdictWords::Clean => self.palette.good(&format!("✓ {}", words.text())),
            VerdictWords::Inconclusive | VerdictWords::Uncounted | VerdictWords::Refused | VerdictWords::OutOfReach => {
                self.palette.aside(&format!("◆ {}", words.text()))
            }
        };
        let said = if said.is_empty() { String::new() } else { format!(": {}", said.join(", ")) };
        self.line(&format!("{sign}{said}"));
        let transcripts = words::count(summary.transcripts, "transcript", "transcripts");
        let out_of_reach = self.report.transcripts.iter().filter(|transcript| transcript.is_out_of_reach()).count() as u64;
        let said = match (summary.transcripts, summary.refused, out_of_reach) {
            (0, _, _) if self.report.findings.is_empty() => "no transcript was found, and nothing else to object to".to_owned(),
            (0, _, _) => String::new(),
            (_, 0, 0) => format!("{transcripts} checked"),
            (_, refused, 0) => format!("{} of {transcripts} cannot be resumed", words::grouped(refused)),
            (_, 0, blocked) => format!("{} of {transcripts} out of reach: {BLOCKED}", words::grouped(blocked)),
            (_, refused, blocked) => format!(
                "{} of {transcripts} cannot be resumed: gjc refuses {}, and {} out of reach ({BLOCKED})",
                words::grouped(refused + blocked),
                words::grouped(refused),
                words::count(blocked, "is", "are"),
            ),
        };
        if !said.is_empty() {
            self.line(&format!("  {}", wrap(&said, 2, self.width)));
        }
        if summary.known > 0 {
            let known = words::count(summary.known, "finding is", "findings are");
            self.line(&format!("  {known} known beforehand (skip list, baseline) and not shown"));
        }
    }

    /// The heading of a section.
    fn title(&mut self, title: &str) {
        self.line(&format!("\n{title}"));
    }

    /// Findings of one level that are neither capacity nor transient: what keeps sessions from opening first, then what is
    /// missing in them, then all else; each in order of path, of a file its header first, because without it gjc loads nothing.
    fn worst_first(&self, severity: Severity) -> Vec<&'a Entry> {
        let mut findings: Vec<&Entry> =
            self.report.findings.iter().filter(|entry| entry.class.is_none() && entry.severity == severity).collect();
        let stake = |entry: &Entry| Stake::of(entry, self.transcripts.get(&*entry.place.path).copied());
        findings.sort_by_cached_key(|entry| (stake(entry), &entry.place.path, entry.code.area != "header"));
        findings
    }

    fn errors(&mut self) {
        let errors = self.worst_first(Severity::Error);
        if errors.is_empty() {
            return;
        }
        self.title(&self.palette.severity(Severity::Error, "Errors"));
        let mut drawn = Vec::new();
        let (files, folded) = fold(by_file(errors));
        for (path, runs) in files {
            self.file(path);
            for (code, run) in runs {
                let Some((first, rest)) = run.split_first() else { continue };
                if drawn.len() < PICTURES && !drawn.contains(&code) {
                    drawn.push(code);
                    let picture = picture::draw(first, self.excerpts, self.colour, self.width);
                    self.out.push_str(&picture);
                    if !rest.is_empty() {
                        self.line(&format!("  {}", self.palette.faint(&also(rest))));
                    }
                } else {
                    self.run(&run);
                }
            }
        }
        self.folded(&folded);
    }

    fn asides(&mut self) {
        for (class, title, explanation) in [
            (Class::Capacity, "Limits", "Full or nearly full. Nothing here is damaged: do not remove or restore anything because of it."),
            (
                Class::Transient,
                "Moving files",
                "These changed while they were read. Stop gjc and check again; nothing is claimed about them.",
            ),
        ] {
            let wanted = |entry: &&Entry| entry.class == Some(class) && (!self.quiet || entry.severity == Severity::Error);
            let findings: Vec<&Entry> = self.report.findings.iter().filter(wanted).collect();
            if findings.is_empty() {
                continue;
            }
            self.title(&self.palette.aside(title));
            self.line(&self.palette.faint(&wrap(explanation, 0, self.width)));
            self.runs(by_file(findings));
        }
    }

    /// Files with their findings, and what is folded of them.
    fn runs(&mut self, files: IndexMap<&'a str, Runs<'a>>) {
        let (files, folded) = fold(files);
        for (path, runs) in files {
            self.file(path);
            for run in runs.values() {
                self.run(run);
            }
        }
        self.folded(&folded);
    }

    /// What is found in many files: how often, in which folders, and how to see all of it.
    fn folded(&mut self, folded: &[Folded<'_>]) {
        if folded.is_empty() {
            return;
        }
        self.title(&self.palette.strong("In many more files"));
        for code in folded {
            let severity = self.palette.severity(code.first.severity, &format!("{:<7}", level(code.first.severity)));
            let name = self.palette.strong(code.first.code.name);
            self.line(&format!("  {severity}  {name}{}", self.palette.faint(&format!(" · {} more", words::grouped(code.count)))));
            self.line(&format!("           {}", wrap(&code.places(), 11, self.width)));
        }
        let counted = folded.iter().any(|code| code.not_listed > 0);
        let which = if counted { "those that are not only counted, each" } else { "each of them" };
        let listed = format!("`--format jsonl` lists {which} with its place.");
        self.line(&format!("  {}", self.palette.faint(&wrap(&listed, 2, self.width))));
    }

    fn warnings(&mut self) {
        let warnings = self.worst_first(Severity::Warning);
        if warnings.is_empty() {
            return;
        }
        self.title(&self.palette.severity(Severity::Warning, "Warnings"));
        self.runs(by_file(warnings));
    }

    /// What is worth knowing: one line a code.
    fn infos(&mut self) {
        let mut codes: IndexMap<&'static str, (&Entry, u64, BTreeSet<&str>)> = IndexMap::new();
        let mut counted = false;
        for entry in self.worst_first(Severity::Info) {
            let (_, count, files) = codes.entry(entry.code.name).or_insert((entry, 0, BTreeSet::new()));
            *count += entry.count();
            match entry.not_listed {
                // It may stand at a folder for findings of the files in it.
                Some(_) => counted = true,
                None => _ = files.insert(&entry.place.path),
            }
        }
        if codes.is_empty() {
            return;
        }
        self.title(&self.palette.strong("Worth knowing"));
        let name_width = codes.keys().map(|name| name.len()).max().unwrap_or(0);
        let counts = count_width(codes.values().map(|(_, count, _)| *count));
        let indent = 2 + counts + 3 + name_width + 2;
        for (name, (entry, count, files)) in codes {
            let name = self.palette.severity(Severity::Info, &format!("{name:<name_width$}"));
            let files = match files.len() {
                1 => solid(&shown(&entry.place.path)),
                files => format!("in {} files", words::grouped(files as u64)),
            };
            let text = wrap(&format!("{} ({files})", entry.code.summary), indent, self.width);
            self.line(&format!("  {:>counts$} × {name}  {text}", words::grouped(count)));
        }
        let which = if counted { "those that are not only counted, each" } else { "each of them" };
        let listed = format!("`--format concise` lists {which} with its place.");
        self.line(&format!("  {}", self.palette.faint(&wrap(&listed, 2, self.width))));
    }

    /// The heading of a file, with what gjc answers when asked to resume it.
    fn file(&mut self, path: &str) {
        // The checked directory itself is known by its name.
        let name = if matches!(path, "" | ".") { plain(&self.report.root) } else { plain(path) };
        self.title(&self.palette.strong(&name));
        // A digest tells nobody anything: what lies in a scope is shown with its workspace.
        let workspace = || scope(path).and_then(|scope| self.workspaces.get(scope)).map(|cwd| solid(&plain(cwd)));
        let answer = self.transcripts.get(path).map(|transcript| answer(transcript, self.erring.contains(path))).or_else(workspace);
        if let Some(answer) = answer.filter(|answer| !answer.is_empty()) {
            self.line(&format!("  {}", self.palette.faint(&wrap(&answer, 2, self.width))));
        }
    }

    /// Findings of one code in one file: the first, and where the others are.
    fn run(&mut self, run: &[&Entry]) {
        let Some((first, rest)) = run.split_first() else { return };
        let severity = self.palette.severity(first.severity, &format!("{:<7}", level(first.severity)));
        let name = self.palette.strong(first.code.name);
        let place = place(first);
        if 11 + first.code.name.len() + place.width() > self.width {
            self.line(&format!("  {severity}  {name}"));
            let place = wrap(place.trim_start_matches(" · "), 11, self.width);
            self.line(&format!("           {}", self.palette.faint(&place)));
        } else {
            self.line(&format!("  {severity}  {name}{}", self.palette.faint(&place)));
        }
        let message =
            if rest.is_empty() { plain(&first.message).into_owned() } else { format!("{} {}", plain(&first.message), also(rest)) };
        self.line(&format!("           {}", wrap(&message, 11, self.width)));
    }

    fn gauges(&mut self) {
        let (near, calm): (Vec<&Gauge>, Vec<&Gauge>) = self.report.gauges.iter().partition(|gauge| gauge.percent() >= NEAR_PERCENT);
        if near.is_empty() {
            if !calm.is_empty() {
                let text = match calm.len() {
                    1 => format!("Room left: the one size that was measured is below {NEAR_PERCENT} % of gjc's limit."),
                    2 => format!("Room left: both sizes that were measured are below {NEAR_PERCENT} % of gjc's limits."),
                    count => {
                        let all = words::grouped(count as u64);
                        format!("Room left: all {all} sizes that were measured are below {NEAR_PERCENT} % of gjc's limits.")
                    }
                };
                let text = self.palette.faint(&text);
                self.line(&format!("\n{text}"));
            }
            return;
        }
        let mut near = near;
        near.sort_by(|a, b| b.percent().cmp(&a.percent()).then_with(|| (a.name, &a.path).cmp(&(b.name, &b.path))));
        let exceeded = near.iter().any(|gauge| gauge.used > gauge.limit);
        self.title(&self.palette.strong(words::near_limits(exceeded)));
        for gauge in near.iter().take(BARS) {
            let bar = bar(gauge.percent());
            let bar = if gauge.percent() >= 100 { self.palette.aside(&bar) } else { self.palette.severity(Severity::Warning, &bar) };
            let amount = format!("{} of {}", amount(gauge.used, gauge.unit), amount(gauge.limit, gauge.unit));
            let what = format!("{} of {}", gauge.name.replace('_', " "), plain(&gauge.path));
            self.line(&format!("  {bar} {:>4} %  {}\n{:23}{}", gauge.percent(), amount, "", self.palette.faint(&what)));
        }
        if near.len() > BARS {
            self.line(&format!("  and {} more", words::grouped((near.len() - BARS) as u64)));
        }
    }

    /// The next steps: the codes, most important first, and what to do about each, whole: half an advice can be the contrary
    /// of it. A finding that was shown with its advice and stands alone needs no second word.
    fn next(&mut self) {
        let least = if self.quiet { Severity::Error } else { Severity::Warning };
        let classed = self.report.findings.iter().filter(|entry| entry.class.is_some() && entry.severity >= least);
        let errors = self.worst_first(Severity::Error);
        let warnings = if self.quiet { Vec::new() } else { self.worst_first(Severity::Warning) };
        let drawn = errors.len();
        let all: Vec<&Entry> = errors.into_iter().chain(classed).chain(warnings).collect();
        if all.len() == drawn.min(1) {
            return;
        }
        let mut codes: IndexMap<&'static str, (Cow<'_, str>, u64)> = IndexMap::new();
        for entry in all {
            let (help, count) = codes.entry(entry.code.name).or_insert((Cow::Borrowed(&*entry.help), 0));
            *count += entry.count();
            if **help != *entry.help {
                // What helps one of several is not said of all.
                *help = Cow::Owned(of_release(entry.code.help, self.release()));
            }
        }
        self.title(&self.palette.strong("Next"));
        let counts = count_width(codes.values().take(STEPS).map(|(_, count)| *count));
        let indent = 2 + counts + 3;
        for (name, (help, count)) in codes.iter().take(STEPS) {
            self.line(&format!("  {:>counts$} × {}", words::grouped(*count), self.palette.strong(name)));
            self.line(&format!("{:indent$}{}", "", wrap(&plain(help), indent, self.width)));
        }
        let names: Vec<&str> = codes.keys().copied().collect();
        let more = match names.len().saturating_sub(STEPS) {
            0 => "More".to_owned(),
            further => format!("More, and what to do about the last {}", words::grouped(further as u64)),
        };
        let explain = format!("Keep a copy of what you change. {more}: gjc-fsck explain {}", names.join(" "));
        self.line(&format!("  {}", self.palette.faint(&wrap(&explain, 2, self.width))));
    }

    fn release(&self) -> Release {
        Release::ALL.into_iter().find(|release| release.text() == self.report.release).unwrap_or_default()
    }

    /// What was checked, for whom.
    fn context(&mut self) {
        let report = self.report;
        let mut said = vec![format!("{} for gjc {}", plain(&report.root), report.release)];
        if let Some(assumed) = &report.assumed_root {
            said.push(format!("judged as {}", plain(assumed)));
        }
        if let Some(uid) = report.checked_for.uid {
            said.push(format!("as user {uid}"));
        }
        said.push(match (&report.blobs.checked, &report.blobs.store) {
            (true, Some(store)) => format!("blobs in {}", plain(store)),
            (true, None) => "blobs checked".to_owned(),
            (false, _) => "blobs not checked".to_owned(),
        });
        if let Some(config) = &report.gate.config {
            said.push(format!("settings of {}", plain(config)));
        }
        if let Some(baseline) = &report.gate.baseline {
            said.push(format!("baseline {}", plain(baseline)));
        }
        let said = self.palette.faint(&wrap(&said.join(" · "), 0, self.width));
        self.line(&format!("\n{said}"));
    }
}

/// How it stands, in words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum VerdictWords {
    /// Nothing counts and nothing is worth a word.
    Clean,
    /// There are warnings, or limits are near, and no errors.
    NoErrors,
    /// What is wrong was accepted beforehand.
    NothingNew,
    /// There are errors, and none of them counts for the exit status.
    Uncounted,
    /// There are no errors, and sessions that gjc refuses.
    Refused,
    /// There are no errors, and sessions that gjc does not reach.
    OutOfReach,
    /// A limit is reached or the tree moved.
    Inconclusive,
    /// Something is wrong.
    Trouble,
    /// Something could not be read.
    Unreadable,
}

impl VerdictWords {
    pub(super) const fn text(self) -> &'static str {
        match self {
            VerdictWords::Clean => "clean",
            VerdictWords::NoErrors => "no errors",
            VerdictWords::NothingNew => "nothing new",
            VerdictWords::Uncounted => "nothing that counts for the exit status",
            VerdictWords::Refused => "no errors, and sessions that gjc refuses",
            VerdictWords::OutOfReach => "no errors, and sessions out of reach",
            VerdictWords::Inconclusive => "inconclusive",
            VerdictWords::Trouble => "trouble found",
            VerdictWords::Unreadable => "not everything could be read",
        }
    }
}

pub(super) fn verdict_words(summary: &Summary) -> VerdictWords {
    match summary.verdict {
        // What does not count for the exit status is still there; trouble is what does, so that the two never differ.
        Verdict::Clean if summary.errors > 0 => VerdictWords::Uncounted,
        // Beside what was accepted beforehand nobody can say whose these are.
        Verdict::Clean if summary.known == 0 && summary.refused > 0 => VerdictWords::Refused,
        Verdict::Clean if summary.known == 0 && summary.blocked > 0 => VerdictWords::OutOfReach,
        Verdict::Clean if summary.warnings + summary.capacity + summary.transient > 0 => VerdictWords::NoErrors,
        Verdict::Clean if summary.known > 0 => VerdictWords::NothingNew,
        Verdict::Clean => VerdictWords::Clean,
        Verdict::Inconclusive => VerdictWords::Inconclusive,
        Verdict::Findings => VerdictWords::Trouble,
        Verdict::Unreadable => VerdictWords::Unreadable,
    }
}

/// The name of the scope that a path lies in.
fn scope(path: &str) -> Option<&str> {
    path.split('/').find(|part| part.starts_with("v2-"))
}

/// The workspace of each scope, as its first transcript that names one says.
fn workspaces(transcripts: &[Transcript]) -> BTreeMap<&str, &str> {
    let mut workspaces = BTreeMap::new();
    for transcript in transcripts {
        if let (Some(scope), Some(cwd)) = (scope(&transcript.path), &transcript.cwd) {
            workspaces.entry(scope).or_insert(&**cwd);
        }
    }
    workspaces
}

/// Findings by file and code. Files in the order of the report.
fn by_file(findings: Vec<&Entry>) -> IndexMap<&str, Runs<'_>> {
    let mut files: IndexMap<&str, Runs<'_>> = IndexMap::new();
    for entry in findings {
        files.entry(&entry.place.path).or_default().entry(entry.code.name).or_default().push(entry);
    }
    files
}

/// Findings of one code in files that are not shown.
struct Folded<'a> {
    /// One of them.
    first: &'a Entry,
    /// How many, those included that the report only counts.
    count: u64,
    /// Those that the report only counts.
    not_listed: u64,
    /// How many of the listed ones lie directly in which folder.
    folders: BTreeMap<&'a str, u64>,
}

impl Folded<'_> {
    /// `2,497 in a, 2,500 in b`, the most first.
    fn places(&self) -> String {
        let mut folders: Vec<(&str, u64)> = self.folders.iter().map(|(folder, count)| (*folder, *count)).collect();
        folders.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let mut said: Vec<String> = folders
            .iter()
            .take(FOLDERS)
            .map(|(folder, count)| format!("{} in {}", words::grouped(*count), solid(&shown(folder))))
            .collect();
        if folders.len() > FOLDERS {
            let rest: u64 = folders.iter().skip(FOLDERS).map(|(_, count)| count).sum();
            let further = words::count((folders.len() - FOLDERS) as u64, "other folder", "other folders");
            said.push(format!("{} in {further}", words::grouped(rest)));
        }
        if self.not_listed > 0 {
            said.push(format!("{} only counted", words::grouped(self.not_listed)));
        }
        said.join(", ")
    }
}

/// The files that are shown, and what is only counted of the others. A file in which something rare was found is shown whole.
fn fold<'a>(files: IndexMap<&'a str, Runs<'a>>) -> (IndexMap<&'a str, Runs<'a>>, Vec<Folded<'a>>) {
    // What stands for findings of other paths, as that of a folder does, is no file with this code.
    let is_rest = |run: &[&Entry]| run.iter().all(|entry| entry.not_listed.is_some());
    let mut having: BTreeMap<&str, usize> = BTreeMap::new();
    for (code, _) in files.values().flatten().filter(|(_, run)| !is_rest(run)) {
        *having.entry(code).or_default() += 1;
    }
    let is_many = |code: &str| having.get(code).is_some_and(|files| *files > MANY_FILES);
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut folded: IndexMap<&str, Folded<'a>> = IndexMap::new();
    let mut shown = IndexMap::new();
    for (path, runs) in files {
        let (rest, mut runs): (Runs<'a>, Runs<'a>) = runs.into_iter().partition(|(code, run)| is_rest(run) && is_many(code));
        let is_shown = runs.keys().any(|code| !is_many(code) || seen.get(code).is_none_or(|files| *files < FILES));
        for code in runs.keys() {
            *seen.entry(code).or_default() += 1;
        }
        let taken = if is_shown { Runs::new() } else { std::mem::take(&mut runs) };
        for (code, run) in rest.into_iter().chain(taken) {
            let Some(first) = run.first() else { continue };
            let fold = folded.entry(code).or_insert_with(|| Folded { first, count: 0, not_listed: 0, folders: BTreeMap::new() });
            for entry in run {
                fold.count += entry.count();
                match entry.not_listed {
                    Some(count) => fold.not_listed += count,
                    None => *fold.folders.entry(path.rsplit_once('/').map_or(".", |(folder, _)| folder)).or_default() += 1,
                }
            }
        }
        if !runs.is_empty() {
            shown.insert(path, runs);
        }
    }
    (shown, folded.into_values().collect())
}

/// How wide the column of these counts is.
fn count_width(counts: impl Iterator<Item = u64>) -> usize {
    counts.map(|count| words::grouped(count).len()).max().unwrap_or_default().max(4)
}

/// `(and 12 more: lines 7, 9, 12, 15, …)`.
fn also(rest: &[&Entry]) -> String {
    let lines: BTreeSet<u64> = rest.iter().filter_map(|entry| entry.place.line).collect();
    let mut named: Vec<String> = lines.iter().take(NAMED_LINES).map(u64::to_string).collect();
    if lines.len() > NAMED_LINES {
        named.push("…".to_owned());
    }
    let more = words::grouped(rest.iter().map(|entry| entry.count()).sum());
    match (named.len(), lines.len()) {
        (0, _) => format!("(and {more} more)"),
        (_, 1) => format!("(and {more} more: line {})", named.join(", ")),
        _ => format!("(and {more} more: lines {})", named.join(", ")),
    }
}

/// ` · line 12, column 71 · entry ab12cd34`, as far as it is known.
fn place(entry: &Entry) -> String {
    let mut out = String::new();
    match (entry.place.line, entry.place.column) {
        (Some(line), Some(column)) if column > 1 => {
            let _ = write!(out, " · line {line}, column {column}");
        }
        (Some(line), _) => {
            let _ = write!(out, " · line {line}");
        }
        (None, _) => {}
    }
    if let Some(id) = &entry.place.entry {
        let _ = write!(out, " · entry {}", plain(id));
    }
    if let Some(pointer) = entry.place.pointer.as_deref().filter(|pointer| !pointer.is_empty()) {
        let _ = write!(out, " · {}", plain(pointer));
    }
    out
}

/// A path as a heading.
fn shown(path: &str) -> std::borrow::Cow<'_, str> {
    if path.is_empty() { ".".into() } else { plain(path) }
}

/// What gjc answers for a transcript, in words; `error` says whether an error is reported on it.
fn answer(transcript: &Transcript, error: bool) -> String {
    let answer = match (transcript.refusal(), transcript.blocked_by, transcript.answer("S")) {
        (Some(reason), ..) => format!("gjc refuses to resume it: {}", plain(reason)),
        (None, Some(code), _) => format!("out of reach: {code}"),
        (None, None, None) => String::new(),
        (None, None, Some(_)) if error => "gjc opens it; what is wrong is said below".to_owned(),
        (None, None, Some("terminal")) => "can be opened (nothing is under way: it waits for a prompt)".to_owned(),
        (None, None, Some(_)) => "can be resumed".to_owned(),
    };
    match &transcript.cwd {
        Some(cwd) if answer.is_empty() => solid(&plain(cwd)),
        Some(cwd) => format!("{} · {answer}", solid(&plain(cwd))),
        None => answer,
    }
}

/// Ten cells.
pub(super) fn bar(percent: u64) -> String {
    let full = usize::try_from(percent / 10).unwrap_or(10).min(10);
    format!("{}{}", "█".repeat(full), "░".repeat(10 - full))
}

/// `103.4 MiB`, `48,211 entries`.
pub(super) fn amount(count: u64, unit: &str) -> String {
    if unit != "bytes" {
        let one = unit.strip_suffix("ies").map_or_else(|| unit.strip_suffix('s').unwrap_or(unit).to_owned(), |stem| format!("{stem}y"));
        return words::count(count, &one, unit);
    }
    let mut unit = "bytes";
    let mut scaled = count;
    let mut tenths = 0;
    for next in ["KiB", "MiB", "GiB", "TiB"] {
        if scaled < 1024 {
            break;
        }
        tenths = (scaled % 1024) * 10 / 1024;
        scaled /= 1024;
        unit = next;
    }
    if unit == "bytes" { format!("{scaled} bytes") } else { format!("{scaled}.{tenths} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_rounded_down() {
        assert_eq!(amount(1023, "bytes"), "1023 bytes");
        assert_eq!(amount(134_217_727, "bytes"), "127.9 MiB");
        assert_eq!(amount(134_217_728, "bytes"), "128.0 MiB");
        assert_eq!(amount(48_211, "entries"), "48,211 entries");
    }

    #[test]
    fn counts_stand_under_each_other_however_large_they_are() {
        assert_eq!(count_width([1, 999].into_iter()), 4);
        assert_eq!(count_width([1, 50_000].into_iter()), "50,000".len());
    }

    #[test]
    fn a_bar_is_full_only_at_the_limit() {
        assert_eq!(bar(99), "█████████░");
        assert_eq!(bar(100), "██████████");
        assert_eq!(bar(1000), "██████████");
    }

    #[test]
    fn a_gauge_without_limit_or_above_it_does_not_break() {
        let gauge = |used, limit| Gauge { name: "x", path: "".into(), used, limit, unit: "bytes", appends_left: None };
        assert_eq!(gauge(5, 0).percent(), 0);
        assert_eq!(gauge(u64::MAX, 1).percent(), u64::MAX);
    }
}
