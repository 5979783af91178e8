//! The report: release filter, severity overrides, order, counts, exit bits, fingerprints, gauges, verdicts. It decides; the
//! renderers only show.
//!
//! Same input, same bytes out: no clock, no thread order, no directory order. The types below are the JSON report
//! (`schemas/report.schema.json` is generated from them); a member that does not apply is null.

pub mod baseline;
pub mod build;
pub mod config;
pub mod gate;
pub mod prose;
pub mod quota;
pub mod reference;
pub mod releases;
pub mod settings;
pub mod stake;
pub mod status;
pub mod vocabulary;

pub use baseline::Baseline;
pub use build::{Audit, build};
pub use gate::{Gate, Known};
pub use settings::{FailOn, Settings};
pub use stake::Stake;
pub use status::Status;

use crate::finding::{Answer, Class, Code, Gauge, Severity, Verdicts};
use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use std::sync::Arc;

/// Name of this form of the report.
pub const SCHEMA: &str = "gjc-fsck/report/1";

/// Everything that one run has to say.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// `gjc-fsck/report/1`.
    pub schema: &'static str,
    /// Who made the report.
    pub tool: Tool,
    /// Release of gjc whose behaviour was asked for: `0.15` or `0.17`.
    pub release: &'static str,
    /// What was checked, as it was named; paths of findings are relative to it.
    pub root: String,
    /// The path that the checked directory was judged to lie at, when another one was asked for.
    pub assumed_root: Option<String>,
    /// Whom the check speaks for.
    pub checked_for: CheckedFor,
    /// Whether blob references were compared with a blob store.
    pub blobs: Blobs,
    /// What was found, in order of path, line, column and code; what stands for places that are not listed comes last of its file.
    pub findings: Vec<Entry>,
    /// What the run was told beforehand, and the findings that are therefore known and stand nowhere else.
    pub gate: Gate,
    /// The checked transcripts, in order of path.
    pub transcripts: Vec<Transcript>,
    /// What has a limit, in order of name and path.
    pub gauges: Vec<Gauge>,
    /// Counts and the exit status.
    pub summary: Summary,
}

/// Who made a report.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub struct Tool {
    /// `gjc-fsck`.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

/// Whom a check speaks for: gjc run by this user would meet what the report says.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CheckedFor {
    /// The user id; null where users do not matter (a lone transcript).
    pub uid: Option<u32>,
    /// Why this user.
    pub reason: Option<UserReason>,
}

/// Why a check speaks for a user.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "snake_case")]
pub enum UserReason {
    /// `--as-uid` named the user.
    Asked,
    /// The check ran as root and the agent directory belongs to this user.
    OwnerOfAgentDirectory,
    /// The effective user of the check.
    EffectiveUser,
}

/// Whether blob references were compared with a blob store.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug, Default)]
pub struct Blobs {
    /// False: nothing is claimed about missing or damaged blobs.
    pub checked: bool,
    /// The store that was looked at.
    pub store: Option<String>,
}

/// One finding.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its code; `gjc-fsck explain CODE` says more.
    #[serde(serialize_with = "code_name")]
    #[schemars(schema_with = "code_schema")]
    pub code: &'static Code,
    /// Severity in this run.
    pub severity: Severity,
    /// C: a capacity is reached; T: the tree moved. Null for everything else.
    pub class: Option<Class>,
    /// The exit bits that it sets; 0 when it does not count.
    pub status: u8,
    /// What is wrong here, one sentence.
    pub message: String,
    /// It stands for so many places of its code in its file that are not listed one by one; null for a finding of its own.
    pub not_listed: Option<u64>,
    /// Where it is.
    #[serde(flatten)]
    pub place: Position,
    /// Other places that belong to it: causes, other halves.
    pub related: Vec<Related>,
    /// What gjc does.
    pub gjc: String,
    /// What to do.
    pub help: String,
    /// SHA-256 of code, path, entry id or pointer, and the record's text: stays the same when lines move.
    pub fingerprint: String,
}

impl Entry {
    /// How many findings it counts as.
    pub fn count(&self) -> u64 {
        self.not_listed.unwrap_or(1)
    }
}

/// A place that belongs to a finding.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Related {
    /// Why it is named.
    pub note: String,
    /// Which place.
    #[serde(flatten)]
    pub place: Position,
}

/// A place as it is written: each member that does not apply is null.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Position {
    /// Path relative to the root, `-` for standard input.
    pub path: String,
    /// 1-based line.
    pub line: Option<u64>,
    /// 1-based byte column in the line.
    pub column: Option<u64>,
    /// First byte in the file.
    pub byte_start: Option<u64>,
    /// First byte behind it.
    pub byte_end: Option<u64>,
    /// RFC 6901 pointer inside the record.
    pub pointer: Option<String>,
    /// Id of the entry.
    pub entry: Option<String>,
}

/// One transcript and the answers of gjc's readers.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Transcript {
    /// Path relative to the root.
    pub path: Arc<str>,
    /// Session id of the header.
    pub id: Option<Arc<str>>,
    /// Workspace that the session belongs to, by its header.
    pub cwd: Option<Arc<str>>,
    /// Version that gjc takes the file for.
    pub version: Option<i64>,
    /// Reader (a letter of spec 01 §2, or an operation) to its exact answer.
    #[serde(serialize_with = "answers")]
    #[schemars(with = "IndexMap<&'static str, String>")]
    pub verdicts: Verdicts,
    /// Why gjc does not reach the transcript, whatever the file says: an error for which it refuses the whole workspace, or a directory
    /// that the listing of no workspace visits (the finding lies above the file), or a workspace that is not there (`cwd_not_found`, …).
    pub blocked_by: Option<&'static str>,
}

/// Counts of a report, and what they mean.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// Transcripts checked.
    pub transcripts: u64,
    /// Transcripts that gjc refuses to open where they lie: the strict reader does, or, for a file of the sessions root, the managed
    /// listing or the managed reader.
    pub refused: u64,
    /// Transcripts, refused or not, that gjc does not reach because their workspace is refused or not there.
    pub blocked: u64,
    /// Findings of severity error that are neither capacity nor transient.
    pub errors: u64,
    /// Warnings that are neither capacity nor transient.
    pub warnings: u64,
    /// Infos that are neither capacity nor transient.
    pub infos: u64,
    /// Findings of class C: limits reached or near.
    pub capacity: u64,
    /// Findings of class T: the tree moved.
    pub transient: u64,
    /// Findings that are known and not counted above: by the baseline or by the skip list.
    pub known: u64,
    /// Findings per code, in the order of the registry.
    pub codes: IndexMap<&'static str, u64>,
    /// What the counts come to.
    pub verdict: Verdict,
    /// The exit status: summed bits.
    pub status: u8,
}

impl Report {
    /// The exit bits.
    pub fn status(&self) -> Status {
        Status::from_bits(self.summary.status)
    }
}

/// Answers of the managed listing to a file that it does not take for a session (spec 02 §10.3). Those about its workspace are
/// no matter of the file.
const NO_CANDIDATE: [&str; 3] = ["invalid_header", "unreadable_candidate", "source_changed"];

impl Transcript {
    /// What gjc answers when it refuses to open the transcript where it lies; none when it does not, or when nobody was asked.
    ///
    /// A file of the sessions root must be taken by the strict reader, by the managed listing and by the managed reader, in this
    /// order (spec 01 §2.8, 02 §5.3); anywhere else the strict reader alone decides. Then it is opened, which may throw (01 §2.5).
    pub fn refusal(&self) -> Option<&str> {
        let strict = self.answer("S").filter(|answer| !matches!(*answer, "resumable" | "terminal"));
        let listed = self.answer("list");
        let managed = || self.answer("M").filter(|answer| listed.is_some() && *answer != "opens");
        let refused = strict.or_else(|| listed.filter(|answer| NO_CANDIDATE.contains(answer))).or_else(managed);
        refused.or_else(|| self.answer("open"))
    }
    /// True when gjc refuses to open it.
    pub fn refused(&self) -> bool {
        self.refusal().is_some()
    }
    /// True when nothing is wrong with the file itself, and gjc does not reach it.
    pub fn is_out_of_reach(&self) -> bool {
        !self.refused() && self.blocked_by.is_some()
    }
    /// The answer of a reader; none when it was not asked.
    pub fn answer(&self, reader: &str) -> Option<&str> {
        self.verdicts.iter().find(|(asked, _)| *asked == reader).map(|(_, answer)| &**answer)
    }
}

/// What a run comes to, the most important first.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug, Default)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Something could not be looked at: nothing is claimed about it.
    Unreadable,
    /// At least one finding at or above `--fail-on`.
    Findings,
    /// A limit is reached or the tree moved: neither clean nor corrupt.
    Inconclusive,
    /// Nothing that counts.
    #[default]
    Clean,
}

fn answers<S: serde::Serializer>(verdicts: &[(&'static str, Answer)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(verdicts.iter().map(|(reader, answer)| (reader, answer)))
}

fn code_name<S: serde::Serializer>(code: &&'static Code, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(code.name)
}

fn code_schema(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<&str> = crate::check::codes().map(|code| code.name).collect();
    json_schema!({ "type": "string", "enum": names })
}

/// The JSON Schema of the report.
pub fn schema() -> Schema {
    schema_of::<Report>(SCHEMA)
}

/// The JSON Schema of a type as it is written, under an identifier.
pub(crate) fn schema_of<T: JsonSchema>(id: &str) -> Schema {
    let mut schema = schemars::generate::SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>();
    schema.insert("$id".to_owned(), id.into());
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(verdicts: &[(&'static str, &'static str)]) -> Option<String> {
        let verdicts = verdicts.iter().map(|(reader, answer)| (*reader, Answer::Borrowed(*answer))).collect();
        let transcript = Transcript { path: "t".into(), id: None, cwd: None, version: None, verdicts, blocked_by: None };
        transcript.refusal().map(str::to_owned)
    }

    #[test]
    fn outside_the_sessions_root_the_strict_reader_alone_decides() {
        assert_eq!(refusal(&[("S", "resumable"), ("M", "malformed")]), None);
        assert_eq!(refusal(&[("S", "terminal")]), None);
        assert_eq!(refusal(&[("S", "malformed"), ("M", "opens")]).as_deref(), Some("malformed"));
        assert_eq!(refusal(&[]), None, "nobody was asked");
    }
    #[test]
    fn what_throws_when_it_is_opened_is_refused_wherever_it_lies() {
        assert_eq!(refusal(&[("S", "resumable"), ("open", "TypeError")]).as_deref(), Some("TypeError"));
    }
    #[test]
    fn in_the_sessions_root_the_listing_and_the_managed_reader_must_take_it_too() {
        assert_eq!(refusal(&[("S", "resumable"), ("M", "malformed"), ("list", "native_v2")]).as_deref(), Some("malformed"));
        assert_eq!(refusal(&[("S", "resumable"), ("M", "opens"), ("list", "source_changed")]).as_deref(), Some("source_changed"));
        assert_eq!(refusal(&[("S", "resumable"), ("M", "opens"), ("list", "native_v2")]), None);
    }
    #[test]
    fn what_is_hidden_or_without_workspace_is_not_refused_itself() {
        for answer in ["shadowed", "retired", "foreign", "not visited", "cwd_not_found"] {
            assert_eq!(refusal(&[("S", "resumable"), ("M", "opens"), ("list", answer)]), None, "{answer}");
        }
    }
}
