//! From what the checks pushed to a [`Report`]: filter, override, order, count.

use super::prose::of_release;
use super::{Blobs, CheckedFor, Entry, Gate, Position, Related, Report, SCHEMA, Settings, Status, Summary, Tool, Transcript, Verdict};
use crate::check;
use crate::finding::{Class, Code, Difference, Finding, Gauge, Outcome, Place, Release, Releases, Role, Severity};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// What one run found, before anything is decided.
#[derive(Default, Debug)]
pub struct Audit {
    /// What was checked, as it was named.
    pub root: String,
    /// Where it was assumed to lie.
    pub assumed_root: Option<String>,
    /// Whom the check speaks for.
    pub checked_for: CheckedFor,
    /// Whether blobs were looked at.
    pub blobs: Blobs,
    /// Findings, in any order.
    pub findings: Vec<Finding>,
    /// Gauges, in any order.
    pub gauges: Vec<Gauge>,
    /// Transcripts, in any order.
    pub outcomes: Vec<Outcome>,
}

/// Decides what an audit comes to.
pub fn build(audit: Audit, settings: &Settings) -> Report {
    let mut findings: Vec<Finding> = audit.findings.into_iter().filter(|finding| in_release(finding.code, settings.release)).collect();
    drop_explained_tokens(&mut findings);
    let mut entries: Vec<Entry> = findings.into_iter().map(|finding| entry(finding, settings)).collect();
    entries.sort_by(|a, b| order(a).cmp(&order(b)));
    entries.dedup();

    let blocks = blocks(&entries);
    let transcripts = transcripts(audit.outcomes, &blocks);
    no_fork_of_nothing(&mut entries, &transcripts);
    // Last: what is known is known as the report would say it, and the readers' answers stay what they are.
    let gate = settings.told.apply(&mut entries, |finding| (!settings.mute.silences(finding.code)).then(|| entry(finding, settings)));
    entries.sort_by(|a, b| order(a).cmp(&order(b)));
    let mut gauges = audit.gauges;
    gauges.sort_unstable_by(|a, b| (a.name, &a.path, a.unit, a.used, a.limit).cmp(&(b.name, &b.path, b.unit, b.used, b.limit)));

    Report {
        schema: SCHEMA,
        tool: Tool { name: "gjc-fsck", version: env!("CARGO_PKG_VERSION") },
        release: settings.release.text(),
        root: audit.root,
        assumed_root: audit.assumed_root,
        checked_for: audit.checked_for,
        blobs: audit.blobs,
        summary: summary(&entries, &transcripts, &gate),
        findings: entries,
        gate,
        transcripts,
        gauges,
    }
}

/// Whether a code can be reported for a release.
fn in_release(code: &Code, release: Release) -> bool {
    match code.releases {
        Releases::Both => true,
        Releases::Only017 => Difference::LaterCodes.in_effect(release),
    }
}

/// A verdict token is a finding only when no error on the same object explains it (spec 05 §1).
fn drop_explained_tokens(findings: &mut Vec<Finding>) {
    let is_token = |finding: &Finding| finding.code.role == Role::VerdictToken;
    if !findings.iter().any(is_token) {
        return;
    }
    let mut errors: BTreeMap<String, Vec<&'static Code>> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| !is_token(finding) && finding.code.severity == Severity::Error) {
        errors.entry(finding.place.path.to_string()).or_default().push(finding.code);
    }
    findings.retain(|finding| {
        let token = finding.code;
        let names_it = |error: &&'static Code| error.explains(token.name) || token.token.is_some_and(|spelled| error.explains(spelled));
        !is_token(finding) || !errors.get(&*finding.place.path).is_some_and(|errors| errors.iter().any(names_it))
    });
}

/// A fork keeps what the lenient loader yields. Where that is nothing, no fork is advised; the header is to be mended first.
fn no_fork_of_nothing(entries: &mut [Entry], transcripts: &[Transcript]) {
    let nothing: BTreeSet<&str> =
        transcripts.iter().filter(|transcript| transcript.answer("L") == Some("[]")).map(|transcript| &*transcript.path).collect();
    if nothing.is_empty() {
        return;
    }
    let is_header = |entry: &&Entry| entry.code.area == "header" && entry.severity == Severity::Error;
    let headers: BTreeMap<String, &'static str> =
        entries.iter().filter(is_header).map(|entry| (entry.place.path.clone(), entry.code.name)).collect();
    for entry in entries.iter_mut().filter(|entry| nothing.contains(&*entry.place.path) && entry.help.contains("gjc --fork")) {
        entry.help = match headers.get(&entry.place.path) {
            Some(header) => format!(
                "Mend the header first, as `{header}` says: gjc loads nothing from this file, so a fork cannot help. Keep the original."
            ),
            None => "A fork cannot help: gjc loads nothing from this file. If it is a session, restore it from a backup; if it is none, \
                     move it elsewhere. Keep the original."
                .to_owned(),
        };
    }
}

/// What the order of a report goes by: the place, then what is said of it.
fn order(entry: &Entry) -> impl Ord + '_ {
    let place = (&entry.place.path, entry.not_listed.is_some(), entry.place.line, entry.place.column, entry.place.byte_start);
    (place, entry.code.name, &entry.message, &entry.place.pointer, &entry.place.entry, &entry.fingerprint)
}

fn entry(finding: Finding, settings: &Settings) -> Entry {
    let Finding { code, message, place, related, gjc, help, record_sha256, not_listed, .. } = finding;
    let fingerprint = fingerprint(code, &place, record_sha256);
    let severity = settings.severity(code);
    Entry {
        code,
        severity,
        class: code.class,
        status: bits(code, severity, settings).bits(),
        not_listed,
        message,
        fingerprint,
        place: position(place),
        related: related.into_iter().map(|related| Related { note: related.note, place: position(related.place) }).collect(),
        gjc: of_release(gjc.as_deref().unwrap_or(code.gjc), settings.release),
        help: of_release(help.as_deref().unwrap_or(code.help), settings.release),
    }
}

fn position(place: Place) -> Position {
    Position {
        path: place.path.to_string(),
        line: place.line,
        column: place.column,
        byte_start: place.bytes.map(|(start, _)| start),
        byte_end: place.bytes.map(|(_, end)| end),
        pointer: place.pointer,
        entry: place.entry,
    }
}

/// SHA-256 (hex) of code, path, entry id or pointer, and the record's text, each preceded by its length, so that no two
/// lists of parts run into one.
fn fingerprint(code: &Code, place: &Place, record: Option<[u8; 32]>) -> String {
    let mut hash = Sha256::new();
    let inner = place.entry.as_ref().or(place.pointer.as_ref()).map_or("", String::as_str);
    for part in [code.name.as_bytes(), place.path.as_bytes(), inner.as_bytes(), record.as_ref().map_or(&[][..], |digest| &digest[..])] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    data_encoding::HEXLOWER.encode(&hash.finalize())
}

/// All transcripts, in order of path. There may be a hundred thousand: what was taken of the outcomes is given back before more is.
fn transcripts(mut outcomes: Vec<Outcome>, blocks: &Blocks<'_>) -> Vec<Transcript> {
    const AT_ONCE: usize = 4096;
    let mut transcripts = Vec::with_capacity(outcomes.len());
    while !outcomes.is_empty() {
        let left = outcomes.len().saturating_sub(AT_ONCE);
        transcripts.extend(outcomes.drain(left..).rev().map(|outcome| transcript(outcome, blocks)));
        outcomes.shrink_to(left);
    }
    transcripts.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    transcripts
}

fn transcript(outcome: Outcome, blocks: &Blocks<'_>) -> Transcript {
    let Outcome { path, id, cwd, version, verdicts } = outcome;
    let blocked_by = folders(&path).find_map(|folder| blocks.refused.get(folder)).or_else(|| blocks.without_workspace.get(&*path)).copied();
    Transcript { path, id, cwd, version, verdicts, blocked_by }
}

/// What gjc does not reach, and the first code that says why.
#[derive(Default)]
struct Blocks<'a> {
    /// Folders whose scope does not resolve, by an error on the folder itself or on its binding, and folders that no listing visits.
    refused: BTreeMap<&'a str, &'static str>,
    /// Transcripts whose workspace is not there.
    without_workspace: BTreeMap<&'a str, &'static str>,
}

fn blocks(entries: &[Entry]) -> Blocks<'_> {
    let mut blocks = Blocks::default();
    for entry in entries {
        if entry.code.refuses_workspace() || entry.code.hides_sessions() {
            let folder = match check::managed::judged_by(&entry.place.path) {
                // The root itself.
                "." => "",
                folder => folder,
            };
            blocks.refused.entry(folder).or_insert(entry.code.name);
        } else if entry.code.lacks_workspace() {
            blocks.without_workspace.entry(&entry.place.path).or_insert(entry.code.name);
        }
    }
    blocks
}

/// The folders above a path, nearest first, down to the root (the empty path).
fn folders(path: &str) -> impl Iterator<Item = &str> {
    let above = |path: &str| path.rsplit_once('/').map_or("", |(folder, _)| folder).len();
    let mut length = Some(path.len());
    std::iter::from_fn(move || {
        let here = &path[..length?];
        let folder = &path[..above(here)];
        length = if folder.is_empty() { None } else { Some(folder.len()) };
        Some(folder)
    })
}

fn summary(entries: &[Entry], transcripts: &[Transcript], gate: &Gate) -> Summary {
    let refused = transcripts.iter().filter(|transcript| transcript.refused()).count() as u64;
    let blocked = transcripts.iter().filter(|transcript| transcript.blocked_by.is_some()).count() as u64;
    let mut summary = Summary {
        transcripts: transcripts.len() as u64,
        refused,
        blocked,
        known: gate.known.iter().map(|known| known.count).sum(),
        ..Summary::default()
    };
    let mut status = Status::CLEAN;
    let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
    for entry in entries {
        *counts.entry(entry.code.name).or_default() += entry.count();
        *match (entry.class, entry.severity) {
            (Some(Class::Capacity), _) => &mut summary.capacity,
            (Some(Class::Transient), _) => &mut summary.transient,
            (None, Severity::Error) => &mut summary.errors,
            (None, Severity::Warning) => &mut summary.warnings,
            (None, Severity::Info) => &mut summary.infos,
        } += entry.count();
        status = status | Status::from_bits(entry.status);
    }
    summary.codes = check::codes().filter_map(|code| counts.get(code.name).map(|count| (code.name, *count))).collect();
    summary.status = status.bits();
    summary.verdict = if status.has(Status::OPERATIONAL) {
        Verdict::Unreadable
    } else if status.has(Status::FINDINGS) {
        Verdict::Findings
    } else if status.has(Status::INCONCLUSIVE) {
        Verdict::Inconclusive
    } else {
        Verdict::Clean
    };
    summary
}

/// The exit bits that a finding of this code at this severity sets (spec 05 §1, design §5).
pub(crate) fn bits(code: &Code, severity: Severity, settings: &Settings) -> Status {
    match (code.name, code.class) {
        ("agent_dir_missing" | "object_unreadable", _) => Status::OPERATIONAL,
        // This run's own budget ended it, whatever the level.
        ("check_incomplete", _) | (_, Some(Class::Transient)) => Status::INCONCLUSIVE,
        (_, Some(Class::Capacity)) if severity == Severity::Error => Status::INCONCLUSIVE,
        _ if settings.fail_on.reached_by(severity) => Status::FINDINGS,
        _ => Status::CLEAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::layout::BINDING;
    use crate::report::FailOn;
    use std::sync::Arc;

    fn code(name: &str) -> &'static Code {
        check::code(name).expect("a code of the registry")
    }

    fn at(path: &str, line: u64) -> Place {
        Place { path: Arc::from(path), line: Some(line), ..Place::default() }
    }

    fn report_of(findings: Vec<Finding>, settings: &Settings) -> Report {
        build(Audit { findings, ..Audit::default() }, settings)
    }

    fn names(report: &Report) -> Vec<&'static str> {
        report.findings.iter().map(|entry| entry.code.name).collect()
    }

    fn status_of(name: &str, settings: &Settings) -> u8 {
        report_of(vec![Finding::new(code(name), at("a", 1), "x")], settings).summary.status
    }

    #[test]
    fn the_order_is_that_of_place_then_code_whatever_came_first() {
        let findings = || {
            vec![
                Finding::new(code("json_syntax"), at("b", 1), "x"),
                Finding::new(code("nul_run"), at("a", 9), "x"),
                Finding::new(code("blank_lines"), Place { path: Arc::from("a"), ..Place::default() }, "x"),
                Finding::new(code("json_syntax"), at("a", 9), "x"),
                Finding::new(code("json_syntax"), at("a", 10), "x"),
            ]
        };
        let settings = Settings::default();
        let report = report_of(findings(), &settings);
        let places: Vec<_> = report.findings.iter().map(|entry| (entry.place.path.as_str(), entry.place.line, entry.code.name)).collect();
        assert_eq!(
            places,
            [
                ("a", None, "blank_lines"),
                ("a", Some(9), "json_syntax"),
                ("a", Some(9), "nul_run"),
                ("a", Some(10), "json_syntax"),
                ("b", Some(1), "json_syntax")
            ]
        );
        let reversed = report_of(findings().into_iter().rev().collect(), &settings);
        assert_eq!(reversed, report);
    }

    #[test]
    fn a_code_of_0_17_is_silent_under_0_15() {
        let findings = || vec![Finding::new(code("star_without_capability"), at("a", 1), "x")];
        assert_eq!(names(&report_of(findings(), &Settings::default())), ["star_without_capability"]);
        let old = Settings { release: Release::V0_15, ..Settings::default() };
        assert!(names(&report_of(findings(), &old)).is_empty());
    }

    #[test]
    fn a_token_that_an_error_on_the_same_file_explains_is_no_finding() {
        let findings = vec![
            Finding::new(code("truncated_last_line"), at("a", 3), "x"),
            Finding::new(code("malformed"), at("a", 3), "x"),
            Finding::new(code("malformed"), at("b", 3), "x"),
        ];
        let report = report_of(findings, &Settings::default());
        assert_eq!(names(&report), ["truncated_last_line", "malformed"]);
        assert_eq!(report.findings[1].place.path, "b");
    }

    #[test]
    fn a_warning_does_not_explain_a_token() {
        let findings = vec![Finding::new(code("utf8_bom"), at("a", 1), "x"), Finding::new(code("unreadable_candidate"), at("a", 1), "x")];
        assert_eq!(names(&report_of(findings, &Settings::default())), ["unreadable_candidate", "utf8_bom"]);
    }

    #[test]
    fn a_token_is_also_explained_under_gjcs_own_spelling() {
        assert!(code("special_file").explains("read-failed"));
        assert!(!code("missing_final_newline").explains("malformed"));
    }

    #[test]
    fn an_error_sets_bit_4_and_fail_on_moves_the_line() {
        let settings = |fail_on| Settings { fail_on, ..Settings::default() };
        assert_eq!(status_of("json_syntax", &settings(FailOn::Error)), 4);
        assert_eq!(status_of("json_syntax", &settings(FailOn::Never)), 0);
        assert_eq!(status_of("dangling_parent", &settings(FailOn::Error)), 0);
        assert_eq!(status_of("dangling_parent", &settings(FailOn::Warning)), 4);
        assert_eq!(status_of("blank_lines", &settings(FailOn::Info)), 4);
    }

    #[test]
    fn capacity_and_transient_set_bit_2_only() {
        let settings = Settings::default();
        assert_eq!(status_of("oversized", &settings), 2);
        assert_eq!(status_of("unstable", &settings), 2);
        assert_eq!(status_of("concurrent_change", &settings), 2);
        assert_eq!(status_of("check_incomplete", &settings), 2);
        assert_eq!(status_of("near_per_file_cap", &settings), 0);
    }

    #[test]
    fn what_could_not_be_looked_at_sets_bit_8_only() {
        let settings = Settings::default();
        assert_eq!(status_of("agent_dir_missing", &settings), 8);
        assert_eq!(status_of("object_unreadable", &settings), 8);
    }

    #[test]
    fn bits_of_several_findings_are_summed_and_the_worst_names_the_verdict() {
        let findings = |names: &[&str]| names.iter().map(|name| Finding::new(code(name), at("a", 1), "x")).collect::<Vec<_>>();
        let summary = report_of(findings(&["oversized", "json_syntax", "object_unreadable"]), &Settings::default()).summary;
        assert_eq!((summary.status, summary.verdict), (14, Verdict::Unreadable));
        let summary = report_of(findings(&["oversized", "json_syntax"]), &Settings::default()).summary;
        assert_eq!((summary.status, summary.verdict), (6, Verdict::Findings));
        let summary = report_of(findings(&["oversized"]), &Settings::default()).summary;
        assert_eq!((summary.status, summary.verdict, summary.errors, summary.capacity), (2, Verdict::Inconclusive, 0, 1));
    }

    #[test]
    fn the_last_override_of_a_code_counts() {
        let code = code("dangling_parent");
        let settings = Settings { overrides: vec![(code, Severity::Info), (code, Severity::Error)], ..Settings::default() };
        let report = report_of(vec![Finding::new(code, at("a", 1), "x")], &settings);
        assert_eq!(report.findings[0].severity, Severity::Error);
        assert_eq!((report.summary.errors, report.summary.status), (1, 4));
    }

    #[test]
    fn a_fingerprint_stays_when_lines_move_and_changes_with_the_record() {
        let of = |line, record: &[u8]| {
            let finding = Finding::new(code("json_syntax"), at("a", line), "x").record(record);
            report_of(vec![finding], &Settings::default()).findings[0].fingerprint.clone()
        };
        assert_eq!(of(3, b"{"), of(4, b"{"));
        assert_ne!(of(3, b"{"), of(3, b"["));
        assert_eq!(of(3, b"{").len(), 64);
    }

    #[test]
    fn the_parts_of_a_fingerprint_do_not_run_into_each_other() {
        let of = |path: &str, entry: &str| {
            let place = Place { path: Arc::from(path), entry: Some(entry.into()), ..Place::default() };
            fingerprint(code("json_syntax"), &place, None)
        };
        assert_ne!(of("a", "bc"), of("ab", "c"));
    }

    #[test]
    fn what_stands_for_many_places_counts_as_many_and_comes_last_of_its_file() {
        let json_syntax = code("json_syntax");
        let findings = vec![
            Finding::not_listed(json_syntax, &Arc::from("a"), 40),
            Finding::new(json_syntax, at("a", 7), "x"),
            Finding::new(json_syntax, at("b", 1), "x"),
        ];
        let report = report_of(findings, &Settings::default());
        assert_eq!((report.summary.errors, report.summary.codes["json_syntax"]), (42, 42));
        let places: Vec<_> = report.findings.iter().map(|entry| (entry.place.path.as_str(), entry.place.line, entry.count())).collect();
        assert_eq!(places, [("a", Some(7), 1), ("a", None, 40), ("b", Some(1), 1)]);
    }

    #[test]
    fn the_same_finding_pushed_twice_is_reported_once() {
        let finding = Finding::new(code("json_syntax"), at("a", 1), "x");
        assert_eq!(report_of(vec![finding.clone(), finding], &Settings::default()).findings.len(), 1);
    }

    #[test]
    fn an_error_of_a_scope_blocks_its_sessions_and_no_others() {
        let outcome = |path: &str| Outcome { path: Arc::from(path), verdicts: [("S", "resumable".into())].into(), ..Outcome::default() };
        let place = |path: &str| Place { path: Arc::from(path), ..Place::default() };
        let findings = vec![
            Finding::new(code("binding_conflict"), place(&format!("sessions/v2-a/{BINDING}")), "x"),
            Finding::new(code("mode_mismatch"), place("sessions/v2-b"), "x"),
            Finding::new(code("binding_missing"), place("sessions/v2-c"), "x"),
            Finding::new(code("acl_present"), place("sessions/v2-c/1.jsonl"), "x"),
        ];
        let outcomes = ["sessions/v2-a/1.jsonl", "sessions/v2-b/1.jsonl", "sessions/v2-bb/1.jsonl", "sessions/v2-c/1.jsonl"].map(outcome);
        let report = build(Audit { findings, outcomes: outcomes.into(), ..Audit::default() }, &Settings::default());
        let blocked: Vec<_> = report.transcripts.iter().map(|transcript| transcript.blocked_by).collect();
        assert_eq!(blocked, [Some("binding_conflict"), Some("mode_mismatch"), None, None]);
        assert_eq!((report.summary.blocked, report.summary.refused), (2, 0));
    }

    #[test]
    fn a_missing_workspace_blocks_its_own_session_only() {
        let outcome = |path: &str| Outcome { path: Arc::from(path), verdicts: [("S", "resumable".into())].into(), ..Outcome::default() };
        let finding = Finding::new(code("cwd_not_found"), Place { path: Arc::from("sessions/v2-a/1.jsonl"), ..Place::default() }, "x");
        let outcomes = ["sessions/v2-a/1.jsonl", "sessions/v2-a/2.jsonl"].map(outcome).into();
        let report = build(Audit { findings: vec![finding], outcomes, ..Audit::default() }, &Settings::default());
        let blocked: Vec<_> = report.transcripts.iter().map(|transcript| transcript.blocked_by).collect();
        assert_eq!((blocked, report.summary.blocked), (vec![Some("cwd_not_found"), None], 1));
    }

    #[test]
    fn a_damaged_session_of_a_refused_scope_counts_as_refused_and_as_out_of_reach() {
        let outcome = Outcome { path: Arc::from("s/1.jsonl"), verdicts: [("S", "malformed".into())].into(), ..Outcome::default() };
        let finding = Finding::new(code("mode_mismatch"), Place { path: Arc::from("s"), ..Place::default() }, "x");
        let report = build(Audit { findings: vec![finding], outcomes: vec![outcome], ..Audit::default() }, &Settings::default());
        assert_eq!((report.summary.blocked, report.summary.refused), (1, 1));
    }

    #[test]
    fn what_lies_where_no_listing_looks_is_out_of_reach() {
        let outcome = |path: &str| Outcome { path: Arc::from(path), verdicts: [("S", "resumable".into())].into(), ..Outcome::default() };
        let place = |path: &str| Place { path: Arc::from(path), ..Place::default() };
        let findings = vec![
            Finding::new(code("scope_name_malformed"), place("sessions/v2-x"), "x"),
            Finding::new(code("unknown_scope_dir"), place("sessions/stray"), "x"),
            Finding::new(code("binding_missing"), place("sessions/v2-y"), "x"),
        ];
        let outcomes = ["sessions/v2-x/1.jsonl", "sessions/stray/1.jsonl", "sessions/v2-y/1.jsonl"].map(outcome).to_vec();
        let report = build(Audit { findings, outcomes, ..Audit::default() }, &Settings::default());
        let blocked: Vec<_> = report.transcripts.iter().map(|transcript| transcript.blocked_by).collect();
        assert_eq!(blocked, [Some("unknown_scope_dir"), Some("scope_name_malformed"), None]);
        assert_eq!((report.summary.refused, report.summary.blocked), (0, 2));
    }

    #[test]
    fn an_error_of_the_root_blocks_every_session() {
        let finding = Finding::new(code("owner_mismatch"), Place { path: Arc::from("."), ..Place::default() }, "x");
        let outcome = Outcome { path: Arc::from("sessions/v2-a/1.jsonl"), ..Outcome::default() };
        let report = build(Audit { findings: vec![finding], outcomes: vec![outcome], ..Audit::default() }, &Settings::default());
        assert_eq!(report.transcripts[0].blocked_by, Some("owner_mismatch"));
    }

    #[test]
    fn counts_per_code_stand_in_the_order_of_the_registry() {
        let findings = vec![
            Finding::new(code("dangling_parent"), at("a", 1), "x"),
            Finding::new(code("json_syntax"), at("a", 2), "x"),
            Finding::new(code("dangling_parent"), at("a", 3), "x"),
        ];
        let codes = report_of(findings, &Settings::default()).summary.codes;
        assert_eq!(codes.into_iter().collect::<Vec<_>>(), [("json_syntax", 1), ("dangling_parent", 2)]);
    }
}
