//! What a check pushes: [`Finding`]s with a [`Code`], a place and what gjc does about it; [`Gauge`]s; the [`Sink`].
//!
//! Checks never print and never exit, they push. A code is declared once, in the room of the pass that reports it
//! (`check::<area>::codes`), and everything else about it (severity overrides, exit bits, reference pages, schema
//! enum) is derived from that declaration. Spec 05 is the registry.

pub mod release;

pub use release::{Difference, Release};

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

/// Consequence of a finding (spec 05 §1). Ordered: info < warning < error.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// gjc accepts it but drops or misreads something, or the next write does damage.
    Warning,
    /// gjc refuses the object for an operation that the user needs, or data is lost now.
    Error,
}

/// Classes of codes that do not set exit bit 4 (spec 05 §1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, schemars::JsonSchema)]
pub enum Class {
    /// C: a capacity is reached; neither clean nor corrupt.
    #[serde(rename = "C")]
    Capacity,
    /// T: the tree moved while we looked.
    #[serde(rename = "T")]
    Transient,
}

/// Releases of gjc in which a code can be reported.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Releases {
    /// 0.15 and 0.17.
    Both,
    /// 0.17 only.
    Only017,
}

/// Whether a code is a finding of its own or a verdict token of gjc (spec 05 §3).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// Section 2: a diagnostic.
    Diagnostic,
    /// Section 3: a verdict token; becomes a finding only when nothing else explains it.
    VerdictToken,
}

/// One diagnostic code, as its area declares it.
#[derive(Debug)]
pub struct Code {
    /// Stable snake_case name.
    pub name: &'static str,
    /// gjc's own spelling, when gjc has one (`read-failed`); equal to `name` when the spelling is the same.
    pub token: Option<&'static str>,
    /// Area of spec 05 (`line`, `header`, …; `verdict` for section 3).
    pub area: &'static str,
    /// Default severity.
    pub severity: Severity,
    /// A fatal code's severity may not be lowered.
    pub fatal: bool,
    /// Class C or T.
    pub class: Option<Class>,
    /// Diagnostic or verdict token.
    pub role: Role,
    /// Releases that report it.
    pub releases: Releases,
    /// The verdict column of spec 05, as corrected by 05a: which reader answers what. Tokens stand in backticks.
    pub verdict: &'static str,
    /// One line: the condition in the user's words.
    pub summary: &'static str,
    /// What gjc does with such an object.
    pub gjc: &'static str,
    /// What the user should do.
    pub help: &'static str,
    /// Spec section(s).
    pub section: &'static str,
    /// Version of gjc-fsck that first reported it.
    pub since: &'static str,
}

impl Code {
    /// True when the verdict column names this token of gjc: the code explains the token on the same object.
    pub fn explains(&self, token: &str) -> bool {
        self.verdict.split('`').skip(1).step_by(2).any(|named| named == token)
    }
    /// True when an object with this code makes gjc refuse the whole workspace it belongs to: its scope does not resolve.
    pub fn refuses_workspace(&self) -> bool {
        self.severity == Severity::Error && self.verdict.starts_with("resolve")
    }
    /// True when a directory with this code is visited by the listing of no workspace: what lies in it is not taken from there.
    pub fn hides_sessions(&self) -> bool {
        self.verdict.starts_with("never scanned") || self.verdict.starts_with("its transcripts are listed only by")
    }
    /// True when gjc does not open a transcript with this code from managed storage, sound or not: its workspace is not there.
    pub fn lacks_workspace(&self) -> bool {
        self.verdict.starts_with("list: invalid")
    }
}

impl Code {
    /// What most codes of an area share; a declaration names what is its own.
    pub const fn of_area(area: &'static str) -> Self {
        Code {
            name: "",
            token: None,
            area,
            severity: Severity::Info,
            fatal: false,
            class: None,
            role: Role::Diagnostic,
            releases: Releases::Both,
            verdict: "",
            summary: "",
            gjc: "",
            help: "",
            section: "",
            since: "0.1.0",
        }
    }
}

impl PartialEq for Code {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}
impl Eq for Code {}

/// Where a finding points: everything that is known, nothing that is not.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// Path relative to the checked root (`-` for standard input).
    pub path: Arc<str>,
    /// 1-based line: 1 + number of LF before the place (spec 05a).
    pub line: Option<u64>,
    /// 1-based byte column in that line.
    pub column: Option<u64>,
    /// Byte offsets in the file, end exclusive.
    pub bytes: Option<(u64, u64)>,
    /// RFC 6901 pointer inside the record.
    pub pointer: Option<String>,
    /// Entry id.
    pub entry: Option<String>,
}

/// Another place that belongs to a finding: its cause, or its other half.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Related {
    /// Why it is named (`cause`, `first occurrence`, …).
    pub note: String,
    /// Where it is.
    pub place: Place,
}

/// One diagnostic about one place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Which code.
    pub code: &'static Code,
    /// Severity after overrides; the sink sets the default of the code.
    pub severity: Severity,
    /// What is wrong here, with the figures of this case; one sentence.
    pub message: String,
    /// Where.
    pub place: Place,
    /// Causes and other halves.
    pub related: Vec<Related>,
    /// What gjc does here, when more exact than the code's own text.
    pub gjc: Option<String>,
    /// What to do here, when more exact than the code's own text.
    pub help: Option<String>,
    /// SHA-256 of the text of the record (or line) that the finding is about, where there is one: the part of the
    /// fingerprint that only the check can know (design §2).
    pub record_sha256: Option<[u8; 32]>,
    /// This one stands for so many places of its code in its file that are not listed one by one; none for a finding of its own.
    pub not_listed: Option<u64>,
    /// Reader M, which refuses most places of this code, accepts this one.
    pub spares_managed: bool,
}

impl Finding {
    /// A finding with the code's default severity at a place.
    pub fn new(code: &'static Code, place: Place, message: impl Into<String>) -> Self {
        Finding {
            code,
            severity: code.severity,
            message: message.into(),
            place,
            related: Vec::new(),
            gjc: None,
            help: None,
            record_sha256: None,
            not_listed: None,
            spares_managed: false,
        }
    }
    /// One that stands for `count` findings of a code at a path that are not listed one by one.
    pub fn not_listed(code: &'static Code, path: &Arc<str>, count: u64) -> Self {
        let place = Place { path: Arc::clone(path), ..Place::default() };
        Finding { not_listed: Some(count), ..Finding::new(code, place, not_listed(count)) }
    }
    /// Adds a related place.
    #[must_use]
    pub fn related(mut self, note: impl Into<String>, place: Place) -> Self {
        self.related.push(Related { note: note.into(), place });
        self
    }
    /// Names the record (or line) by its text, for the fingerprint.
    #[must_use]
    pub fn record(mut self, text: &[u8]) -> Self {
        use sha2::Digest;
        self.record_sha256 = Some(sha2::Sha256::digest(text).into());
        self
    }
    /// Replaces the advice of the code by advice for this case.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
    /// Replaces what the code says of gjc by what gjc does in this case.
    #[must_use]
    pub fn gjc(mut self, gjc: impl Into<String>) -> Self {
        self.gjc = Some(gjc.into());
        self
    }
}

/// Used / limit of something that has a limit; shown from 0 %, never called corruption.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Gauge {
    /// Stable name (`transcript_bytes`, `scope_bytes`, …).
    pub name: &'static str,
    /// What it measures: a path relative to the root.
    pub path: Arc<str>,
    /// Used so far, in `unit`.
    pub used: u64,
    /// The limit, in `unit`.
    pub limit: u64,
    /// `bytes`, `entries`, `records`, …
    pub unit: &'static str,
    /// How many more records of the size that comes next fit, where records are appended.
    #[serde(rename = "appendsLeft", skip_serializing_if = "Option::is_none")]
    pub appends_left: Option<u32>,
}

impl Gauge {
    /// Used share of the limit in whole per cent, rounded down; above 100 when the limit is passed.
    pub fn percent(&self) -> u64 {
        if self.limit == 0 {
            return 0;
        }
        u64::try_from(u128::from(self.used) * 100 / u128::from(self.limit)).unwrap_or(u64::MAX)
    }
}

/// The exact answer of a reader: nearly always one of gjc's fixed words, of which a hundred thousand transcripts need no copies.
pub type Answer = Cow<'static, str>;

/// Letter of a reader (spec 01 §2) or operation (`list`), and its exact answer; in the order they were asked.
pub type Verdicts = Arc<[(&'static str, Answer)]>;

/// What became of one transcript: the answers of gjc's readers. A run keeps one for each transcript, so what many of them
/// have in common is shared ([`Common`]).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// Path relative to the checked root (`-` for standard input).
    pub path: Arc<str>,
    /// Session id of the header.
    pub id: Option<Arc<str>>,
    /// Workspace of the header, patches included, as text.
    pub cwd: Option<Arc<str>>,
    /// Version that gjc takes the file for (1 when the header names none).
    pub version: Option<i64>,
    /// What the readers answered.
    pub verdicts: Verdicts,
}

/// What the outcomes of a run have in common, kept once.
#[derive(Default, Debug)]
pub struct Common {
    cwds: HashSet<Arc<str>>,
    verdicts: HashSet<Verdicts>,
}

impl Common {
    /// Lets an outcome share what another one has too.
    pub fn share(&mut self, outcome: &mut Outcome) {
        outcome.cwd = outcome.cwd.take().map(|cwd| kept(&mut self.cwds, cwd));
        outcome.verdicts = kept(&mut self.verdicts, std::mem::take(&mut outcome.verdicts));
    }
}

/// The one kept value that is equal to this one.
fn kept<T: Eq + Hash + ?Sized>(values: &mut HashSet<Arc<T>>, value: Arc<T>) -> Arc<T> {
    if let Some(kept) = values.get(&value) {
        return Arc::clone(kept);
    }
    values.insert(Arc::clone(&value));
    value
}

/// A code that is switched off, for the test that somebody would notice if a check stopped reporting it. No command can ask for
/// it. It stands where findings enter, before anything is concluded from them, so that silence has the consequences that a check
/// without this code would have (a verdict token that nothing explains any more, say).
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mute(pub Option<&'static Code>);

impl Mute {
    /// True for the code that is switched off.
    pub fn silences(self, code: &Code) -> bool {
        self.0.is_some_and(|muted| muted == code)
    }
}

/// Takes what checks find.
pub trait Sink {
    /// Takes one finding.
    fn push(&mut self, finding: Finding);
    /// Takes one gauge.
    fn gauge(&mut self, gauge: Gauge);
    /// Takes note of further findings of a code at a path that the check itself did not keep one by one. A sink that bounds
    /// nothing may say so once.
    fn further(&mut self, code: &'static Code, path: &Arc<str>, count: u64) {
        self.push(Finding::not_listed(code, path, count));
    }
}

/// What is said instead of findings that are only counted.
fn not_listed(count: u64) -> String {
    if count == 1 {
        "1 more place of this kind is not listed".to_owned()
    } else {
        format!("{count} more places of this kind are not listed")
    }
}

/// Findings of one code at one path that are kept one by one; what comes behind them is counted.
pub const MOST: u64 = 1_000;

/// A sink that keeps what comes, in the order it came. Of one code at one path it keeps [`MOST`] findings and then one that
/// counts the rest: a hostile file of a million bad lines costs no more than one of a thousand.
#[derive(Default, Debug)]
pub struct Collected {
    /// Findings in push order.
    pub findings: Vec<Finding>,
    /// Gauges in push order.
    pub gauges: Vec<Gauge>,
    seen: HashMap<(Arc<str>, &'static str), Seen>,
}

/// What came of one code at one path.
#[derive(Default, Debug)]
struct Seen {
    /// Findings that are kept one by one.
    kept: u64,
    /// Findings that are only counted.
    counted: u64,
    /// Where the finding stands that counts them.
    rest: Option<usize>,
}

impl Sink for Collected {
    fn push(&mut self, finding: Finding) {
        let seen = self.seen.entry((Arc::clone(&finding.place.path), finding.code.name)).or_default();
        if seen.kept < MOST {
            seen.kept += 1;
            self.findings.push(finding);
        } else {
            self.further(finding.code, &finding.place.path, 1);
        }
    }
    fn further(&mut self, code: &'static Code, path: &Arc<str>, count: u64) {
        let seen = self.seen.entry((Arc::clone(path), code.name)).or_default();
        seen.counted += count;
        let counted = Finding::not_listed(code, path, seen.counted);
        match seen.rest.and_then(|at| self.findings.get_mut(at)) {
            Some(rest) => *rest = counted,
            None => {
                seen.rest = Some(self.findings.len());
                self.findings.push(counted);
            }
        }
    }
    fn gauge(&mut self, gauge: Gauge) {
        self.gauges.push(gauge);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check;

    fn at(path: &str, line: u64) -> Place {
        Place { path: Arc::from(path), line: Some(line), ..Place::default() }
    }

    #[test]
    fn of_one_code_at_one_path_the_first_thousand_are_kept_and_the_rest_is_counted() {
        let code = check::code("json_syntax").unwrap();
        let mut sink = Collected::default();
        for line in 1..=MOST + 5 {
            sink.push(Finding::new(code, at("a", line), "x"));
        }
        sink.push(Finding::new(code, at("b", 1), "x"));
        assert_eq!(sink.findings.len() as u64, MOST + 2);
        let rest = &sink.findings[usize::try_from(MOST).unwrap()];
        assert_eq!((rest.message.as_str(), rest.place.line), ("5 more places of this kind are not listed", None));
        assert_eq!(rest.not_listed, Some(5));
        assert_eq!(&*sink.findings.last().unwrap().place.path, "b");
    }

    #[test]
    fn what_a_check_counted_itself_is_added_to_the_rest() {
        let code = check::code("json_syntax").unwrap();
        let mut sink = Collected::default();
        sink.push(Finding::new(code, at("a", 1), "x"));
        sink.further(code, &Arc::from("a"), 40);
        sink.further(code, &Arc::from("a"), 2);
        let messages: Vec<&str> = sink.findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(messages, ["x", "42 more places of this kind are not listed"]);
    }

    #[test]
    fn a_token_is_explained_by_the_codes_whose_verdict_names_it() {
        assert!(check::code("truncated_last_line").unwrap().explains("malformed"));
        assert!(!check::code("blank_lines").unwrap().explains("malformed"));
        assert!(!check::code("blank_lines").unwrap().explains(""));
    }
}
