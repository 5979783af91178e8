//! The report as SARIF 2.1.0, for code scanning. Built from its own few structs; the rules are the codes that occur, from the
//! one table of codes.

use super::{Excerpts, column};
use crate::check;
use crate::finding::{Class, Code, Severity};
use crate::report::{Entry, Position, Report, Verdict};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Name of our fingerprint in `partialFingerprints`.
const FINGERPRINT: &str = "gjcFsck/v1";

#[derive(Serialize)]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Tool<'a>,
    invocations: [Invocation; 1],
    column_kind: &'static str,
    results: Vec<SarifResult<'a>>,
    properties: RunProperties<'a>,
}

#[derive(Serialize)]
struct Tool<'a> {
    driver: Driver<'a>,
}

#[derive(Serialize)]
struct Driver<'a> {
    name: &'a str,
    version: &'a str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    short_description: Text<'static>,
    full_description: Text<'static>,
    help: Text<'static>,
    default_configuration: Configuration,
    properties: RuleProperties,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct RuleProperties {
    tags: [&'static str; 1],
    fatal: bool,
    section: &'static str,
}

#[derive(Serialize)]
struct Text<'a> {
    text: Cow<'a, str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    exit_code: u8,
}

#[derive(Serialize)]
struct RunProperties<'a> {
    release: &'a str,
    root: &'a str,
    known: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult<'a> {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Text<'a>,
    locations: [Location<'a>; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location<'a>>,
    occurrence_count: u64,
    partial_fingerprints: BTreeMap<&'static str, &'a str>,
    properties: ResultProperties<'a>,
}

#[derive(Serialize)]
struct ResultProperties<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<Class>,
    gjc: &'a str,
    help: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<LogicalLocation<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Text<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte_offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte_length: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation<'a> {
    kind: &'static str,
    name: &'a str,
}

/// Writes the report, indented, with a line end.
///
/// # Errors
/// What `out` answers.
pub fn write(report: &Report, files: &dyn Excerpts, out: &mut dyn Write) -> io::Result<()> {
    // In the order of the registry; the summary has counted which occur.
    let codes: Vec<&Code> = check::codes().filter(|code| report.summary.codes.contains_key(code.name)).collect();
    let index: BTreeMap<&str, usize> = codes.iter().enumerate().map(|(index, code)| (code.name, index)).collect();
    let run = Run {
        tool: Tool {
            driver: Driver { name: report.tool.name, version: report.tool.version, rules: codes.iter().map(|code| rule(code)).collect() },
        },
        invocations: [Invocation { execution_successful: report.summary.verdict != Verdict::Unreadable, exit_code: report.summary.status }],
        column_kind: "utf16CodeUnits",
        results: report
            .findings
            .iter()
            .map(|entry| result(entry, index.get(entry.code.name).copied().unwrap_or_default(), files))
            .collect(),
        properties: RunProperties { release: report.release, root: &report.root, known: report.summary.known },
    };
    serde_json::to_writer_pretty(&mut *out, &Log { schema: SCHEMA, version: "2.1.0", runs: [run] })?;
    out.write_all(b"\n")
}

fn rule(code: &Code) -> Rule {
    let text = |text: &'static str| Text { text: text.into() };
    Rule {
        id: code.name,
        short_description: text(code.summary),
        full_description: text(code.gjc),
        help: text(code.help),
        default_configuration: Configuration { level: level(code.severity) },
        properties: RuleProperties { tags: [code.area], fatal: code.fatal, section: code.section },
    }
}

fn result<'a>(entry: &'a Entry, rule_index: usize, files: &dyn Excerpts) -> SarifResult<'a> {
    let related = entry.related.iter().enumerate().map(|(id, related)| Location {
        id: Some(id),
        message: Some(Text { text: related.note.as_str().into() }),
        ..location(&related.place, files)
    });
    SarifResult {
        rule_id: entry.code.name,
        rule_index,
        level: level(entry.severity),
        message: Text { text: format!("{} {} {}", sentence(&entry.message), entry.gjc, entry.help).into() },
        locations: [location(&entry.place, files)],
        related_locations: related.collect(),
        occurrence_count: entry.count(),
        partial_fingerprints: BTreeMap::from([(FINGERPRINT, &*entry.fingerprint)]),
        properties: ResultProperties { class: entry.class, gjc: &entry.gjc, help: &entry.help },
    }
}

/// A message with its full stop.
fn sentence(message: &str) -> Cow<'_, str> {
    if message.ends_with(['.', '!', '?']) { message.into() } else { format!("{message}.").into() }
}

fn location<'a>(place: &'a Position, files: &dyn Excerpts) -> Location<'a> {
    let region = place.line.map(|start_line| Region {
        start_line,
        start_column: column(place, files),
        byte_offset: place.byte_start,
        byte_length: place.byte_start.zip(place.byte_end).map(|(start, end)| end.saturating_sub(start)),
    });
    let logical = [("member", &place.pointer), ("object", &place.entry)];
    Location {
        id: None,
        physical_location: PhysicalLocation { artifact_location: ArtifactLocation { uri: uri(&files.opened(&place.path)) }, region },
        logical_locations: logical
            .into_iter()
            .filter_map(|(kind, name)| Some(LogicalLocation { kind, name: name.as_deref().filter(|name| !name.is_empty())? }))
            .collect(),
        message: None,
    }
}

/// The level of a severity in SARIF.
fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// A path as a URI reference (RFC 3986): relative to where the run was started, or `file:` for an absolute path.
fn uri(path: &str) -> String {
    // A reference without dots is what code hosts look up.
    let path = path.trim_start_matches("./");
    let mut uri = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'@' | b'+' | b',' | b'=' => {
                uri.push(char::from(byte))
            }
            _ => {
                let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0').to_ascii_uppercase();
                uri.extend(['%', digit(byte >> 4), digit(byte & 15)]);
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_a_reference_that_no_reader_misunderstands() {
        assert_eq!(uri("a/b c#d?.jsonl"), "a/b%20c%23d%3F.jsonl");
        assert_eq!(uri("/home/ü"), "file:///home/%C3%BC");
        assert_eq!(uri("c:x"), "c%3Ax");
        assert_eq!(uri("-"), "-");
        assert_eq!((&*uri("././a.jsonl"), &*uri("../a"), &*uri(".a")), ("a.jsonl", "../a", ".a"));
    }
}
