//! The page of an exported session: one HTML file that needs nothing else. It shows the conversation, the tree as a picture
//! that can be walked, what the model sees of it, and what the check found, each finding beside its entry.
//!
//! The transcript is hostile. Every text goes through [`escape`]; the page forbids itself all requests and every script and
//! style but its own (by their hashes). Without script everything can be read; script adds keys, following and folding.

mod entry;
mod escape;
mod image;
mod map;
mod markdown;

use super::entry::glimpse;
use super::tree::{Item, Joint, Sheet, items};
use super::words::{count, grouped};
use crate::finding::Severity;
use crate::json::{Value, View};
use crate::report::{Entry as Finding, Report, Transcript};
use crate::transcript::EntryKind;
use crate::transcript::context::model;
use crate::transcript::date;
use crate::transcript::entry::Role;
use crate::transcript::outline::Parent;
use entry::{Look, level};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io::{self, Write};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Findings about the whole file that are listed at once; more of them are folded.
const MOST_OPEN: usize = 2;

/// Entries that a browser lays out together, when they come near the screen. One by one would be slower: each jump with the
/// keyboard asks every skipped element whether it can be focused.
const CHUNKED: usize = 50;
const CHUNK: &str = "<div class=\"chunk\">\n";

/// Bytes that are gathered before they are written.
const GATHERED: usize = 1 << 16;

/// What is known of a session, ready to be shown.
pub struct Page<'p> {
    sheet: Sheet<'p>,
    items: &'p [Item],
    findings: Findings<'p>,
    /// gjc's word when it refuses to open the session.
    refusal: Option<&'p str>,
    /// The entry that calls a tool, and the one that holds its result, by the id of the call.
    calls: HashMap<Cow<'p, [u8]>, usize>,
    results: HashMap<Cow<'p, [u8]>, usize>,
    /// The latest entry of each id.
    by_id: HashMap<Cow<'p, [u8]>, usize>,
}

/// The findings of a transcript by the entry that they concern.
struct Findings<'p> {
    of: BTreeMap<usize, Vec<&'p Finding>>,
    /// Those that concern no entry.
    rest: Vec<&'p Finding>,
}

impl<'p> Findings<'p> {
    fn new(report: &'p Report, sheet: Sheet<'_>, by_id: &HashMap<Cow<'_, [u8]>, usize>) -> Self {
        let lines: HashMap<u64, usize> = (0..sheet.entries.len()).map(|entry| (sheet.line(entry), entry)).collect();
        let mut findings = Findings { of: BTreeMap::new(), rest: Vec::new() };
        for finding in &report.findings {
            let by_line = finding.place.line.and_then(|line| lines.get(&line));
            let by_id = || finding.place.entry.as_ref().and_then(|id| by_id.get(id.as_bytes()));
            match by_line.or_else(by_id) {
                // The header stands at the top of the page, with what concerns the whole file.
                Some(entry) if *entry > 0 => findings.of.entry(*entry).or_default().push(finding),
                _ => findings.rest.push(finding),
            }
        }
        findings
    }
    fn of(&self, entry: usize) -> &[&'p Finding] {
        self.of.get(&entry).map(Vec::as_slice).unwrap_or_default()
    }
    /// The highest severity of an entry's findings.
    fn worst(&self, entry: usize) -> Option<&'static str> {
        self.of(entry).iter().map(|finding| finding.severity).max().map(level)
    }
}

/// How an entry stands to the model's context.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Standing {
    /// The model sees it.
    Seen,
    /// It is on the way to the leaf, and the model does not see it.
    Unseen,
    /// It is on the way to the leaf and nothing to be seen: a setting, a label.
    Silent,
    /// It is on another branch.
    Aside,
}

impl Standing {
    const fn class(self) -> &'static str {
        match self {
            Standing::Seen => "seen",
            Standing::Unseen => "unseen",
            Standing::Silent => "silent",
            Standing::Aside => "aside",
        }
    }
    /// The same in words: for the eye where it is remarkable, else for who does not see.
    const fn words(self) -> &'static str {
        match self {
            Standing::Seen => "<span class=\"sr\">in the model's context</span>",
            Standing::Unseen => "<span class=\"out\">not in the model's context</span>",
            Standing::Silent => "",
            Standing::Aside => "<span class=\"sr\">on another branch</span>",
        }
    }
}

/// The name of an entry's element.
fn anchor(entry: usize) -> String {
    format!("e{entry}")
}

/// Writes the page. `data` writes the data element.
///
/// # Errors
/// Those of `out`.
pub fn write(
    out: &mut dyn Write,
    sheet: Sheet<'_>,
    report: &Report,
    data: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let items = items(sheet.outline);
    let page = Page::new(sheet, report, &items);
    let mut text = String::new();
    page.head(&mut text);
    map::write(&mut text, &page);
    text.push_str("</nav>\n<main>\n");
    page.top(&mut text);
    out.write_all(text.as_bytes())?;
    text.clear();
    page.conversation(&mut text, out)?;
    text.push_str("</main>\n");
    out.write_all(text.as_bytes())?;
    data(out)?;
    write!(out, "\n<script>{SCRIPT}</script>\n</body>\n</html>\n")
}

/// The hash of a text as a content security policy names it.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", data_encoding::BASE64.encode(&Sha256::digest(text.as_bytes())))
}

impl<'p> Page<'p> {
    fn new(sheet: Sheet<'p>, report: &'p Report, items: &'p [Item]) -> Self {
        let mut page = Page {
            sheet,
            items,
            findings: Findings { of: BTreeMap::new(), rest: Vec::new() },
            refusal: report.transcripts.first().and_then(Transcript::refusal),
            calls: HashMap::new(),
            results: HashMap::new(),
            by_id: HashMap::new(),
        };
        for (number, entry) in sheet.entries.iter().enumerate().skip(1) {
            page.by_id.extend(entry.str_member("id").map(|id| (id, number)));
            let Some(message) = entry.get("message").filter(|_| EntryKind::of(entry) == EntryKind::Message) else { continue };
            match Role::of(message) {
                Role::ToolResult => page.results.extend(message.str_member("toolCallId").map(|call| (call, number))),
                Role::Assistant => {
                    let blocks = message.get("content").and_then(Value::as_array).unwrap_or_default();
                    let calls = blocks.iter().filter(|block| block.get("type").is_some_and(|kind| kind.is_str("toolCall")));
                    page.calls.extend(calls.filter_map(|call| call.str_member("id")).map(|call| (call, number)));
                }
                _ => {}
            }
        }
        page.findings = Findings::new(report, sheet, &page.by_id);
        page
    }

    fn parent(&self, entry: usize) -> Option<usize> {
        match self.sheet.outline.places.get(entry)?.parent {
            Parent::Entry(parent) => Some(parent),
            _ => None,
        }
    }

    /// How an entry stands to the model's context: the messages of the context, without those that vanish on the way to it.
    fn standing(&self, number: usize) -> Standing {
        let (Some(entry), Some(place)) = (self.sheet.entries.get(number), self.sheet.outline.places.get(number)) else {
            return Standing::Aside;
        };
        let message = entry.get("message").filter(|_| EntryKind::of(entry) == EntryKind::Message);
        match (place.on_path, place.in_context) {
            (true, true) if message.is_none_or(|message| model::convert(message).is_some()) => Standing::Seen,
            (true, _) if Look::of(entry) == Look::Quiet => Standing::Silent,
            (true, _) => Standing::Unseen,
            (false, _) => Standing::Aside,
        }
    }

    /// What the session is called: its title, else what was asked first.
    fn name(&self) -> String {
        let title = self.sheet.entries.first().and_then(|header| header.str_member("title"));
        let named = title.map(|title| glimpse(&title, 120)).filter(|title| !title.is_empty());
        let asked = || {
            let entry = self.sheet.entries.iter().find(|entry| {
                let message = entry.get("message").filter(|_| EntryKind::of(*entry) == EntryKind::Message);
                message.is_some_and(|message| Role::of(message) == Role::User)
            });
            entry.map(|entry| super::entry::preview(entry, 80)).filter(|text| !text.is_empty())
        };
        named.or_else(asked).unwrap_or_else(|| "A session".to_owned())
    }

    /// Everything up to the rows of the map.
    fn head(&self, out: &mut String) {
        let policy = format!(
            "default-src 'none'; img-src data:; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
            hash(STYLE),
            hash(SCRIPT)
        );
        out.push_str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"");
        escape::text(out, &policy);
        out.push_str("\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n");
        out.push_str("<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"gjc-fsck\">\n<title>");
        escape::text(out, &self.name());
        out.push_str("</title>\n<style>");
        out.push_str(STYLE);
        out.push_str("</style>\n</head>\n<body id=\"top\">\n<a class=\"skip\" href=\"#start\">To the conversation</a>\n");
        out.push_str("<nav id=\"map\" aria-label=\"Map\"><div class=\"maphead\"><h2>Map</h2>");
        out.push_str("<p class=\"keys\">Arrow keys walk, Enter goes there</p><a class=\"close\" href=\"#top\">Close</a></div>\n");
    }

    /// What stands above the conversation.
    fn top(&self, out: &mut String) {
        let header = self.sheet.entries.first().unwrap_or(&Value::Null);
        out.push_str("<header class=\"top\"><p class=\"kicker\">gjc session</p><h1><bdi>");
        escape::text(out, &self.name());
        out.push_str("</bdi></h1>\n<dl class=\"about\">");
        for (name, text) in self.about(header) {
            let _ = write!(out, "<div><dt>{name}</dt><dd><bdi>");
            escape::text(out, &text);
            out.push_str("</bdi></dd></div>");
        }
        out.push_str("</dl>\n");
        self.file_findings(out);
        out.push_str("<p class=\"legend\"><span class=\"seen\">the model sees this</span><span class=\"unseen\">on the way, not seen</span><span class=\"aside\">another branch</span></p>\n");
        out.push_str("<div class=\"tools\"><a class=\"button map\" href=\"#map\">Map</a>");
        for (id, words, checked) in [
            ("thinking", "Thinking", " checked"),
            ("calls", "Tools", " checked"),
            ("quiet", "Settings", " checked"),
            ("only", "Only what the model sees", ""),
        ] {
            let _ = write!(out, "<label><input type=\"checkbox\" id=\"show-{id}\"{checked}>{words}</label>");
        }
        out.push_str("<button type=\"button\" id=\"unfold\" hidden>Unfold all</button><button type=\"button\" id=\"theme\" hidden>Dark</button></div></header>\n<div id=\"start\" tabindex=\"-1\">\n");
    }

    /// The facts of the session, each with its name.
    fn about(&self, header: &Value) -> Vec<(&'static str, String)> {
        let text = |key: &str| header.str_member(key).map(|text| glimpse(&text, 200)).filter(|text| !text.is_empty());
        let mut facts: Vec<(&'static str, String)> = Vec::new();
        facts.extend(text("cwd").map(|cwd| ("Workspace", cwd)));
        facts.extend(text("id").map(|id| ("Session", id)));
        facts.extend(text("parentSession").map(|parent| ("Made from", parent)));
        let times = || self.sheet.entries.iter().map(|entry| date::time_of(entry.get("timestamp"))).filter(|time| !time.is_nan());
        let shown = |time: f64| date::minute(time).map(|minute| minute.replace('T', " ").trim_end_matches('Z').to_owned());
        let (first, last) = (times().reduce(f64::min).and_then(shown), times().reduce(f64::max).and_then(shown));
        facts.extend(match (first, last) {
            (Some(first), Some(last)) if first != last => Some(("When (UTC)", format!("{first} to {last}"))),
            (first, _) => first.map(|first| ("When (UTC)", first)),
        });
        let entries = self.sheet.entries.len().saturating_sub(1) as u64;
        let branchings = self.sheet.outline.branchings() as u64;
        let branched = if branchings == 0 { String::new() } else { format!(", {}", count(branchings, "branching", "branchings")) };
        facts.push(("Entries", format!("{}{branched}", grouped(entries))));
        facts.push(match &self.sheet.outline.context {
            Ok((messages, weight)) => {
                let weight = weight.map(|weight| format!(", {} bytes", grouped(weight))).unwrap_or_default();
                ("Context", format!("{}{weight}", count(*messages as u64, "message", "messages")))
            }
            Err(throw) => ("Context", format!("gjc throws {}: {throw}", throw.class())),
        });
        let mut models: Vec<String> = Vec::new();
        for entry in self.sheet.entries {
            let Some(model) = entry.get("message").and_then(|message| message.str_member("model")) else { continue };
            let model = glimpse(&model, 60);
            if models.len() < 6 && !model.is_empty() && !models.contains(&model) {
                models.push(model);
            }
        }
        if !models.is_empty() {
            facts.push((if models.len() == 1 { "Model" } else { "Models" }, models.join(", ")));
        }
        facts
    }

    /// That gjc refuses the session; what was found, in one line; what concerns no entry is listed.
    fn file_findings(&self, out: &mut String) {
        if let Some(refusal) = self.refusal {
            out.push_str("<div class=\"check error\"><p><b>gjc refuses to open this session</b> <code>");
            escape::text(out, refusal);
            out.push_str("</code>; this page shows what can be read of it</p></div>\n");
        }
        let all = || self.findings.rest.iter().chain(self.findings.of.values().flatten());
        let of = |severity: Severity| all().filter(|finding| finding.severity == severity).map(|finding| finding.count()).sum::<u64>();
        let counts = [
            (of(Severity::Error), "error", "errors"),
            (of(Severity::Warning), "warning", "warnings"),
            (of(Severity::Info), "note", "notes"),
        ];
        let said: Vec<String> =
            counts.iter().filter(|(number, ..)| *number > 0).map(|(number, one, many)| count(*number, one, many)).collect();
        let worst = all().map(|finding| finding.severity).max().map_or("clean", level);
        let _ = write!(out, "<div class=\"check {worst}\"><p><b>Check</b> ");
        if said.is_empty() {
            out.push_str("nothing is wrong with this transcript");
        } else {
            out.push_str(&said.join(", "));
            let beside: Vec<usize> = self.findings.of.keys().copied().collect();
            if let Some(first) = beside.first() {
                let _ = write!(out, "; <a href=\"#{}\">the first stands beside its entry</a>", anchor(*first));
            }
        }
        out.push_str("</p>\n");
        let fold = self.findings.rest.len() > MOST_OPEN;
        if fold {
            let _ = writeln!(out, "<details><summary>{} about the whole file</summary>", self.findings.rest.len());
        }
        for finding in &self.findings.rest {
            entry::finding(out, finding);
        }
        out.push_str(if fold { "</details></div>\n" } else { "</div>\n" });
    }

    /// The entries: the way to the leaf, with each branch folded where it leaves.
    fn conversation(&self, text: &mut String, out: &mut dyn Write) -> io::Result<()> {
        let lengths = self.lengths();
        // One folded branch for each column.
        let mut open = 0;
        let mut in_chunk = 0;
        text.push_str(CHUNK);
        for (row, item) in self.items.iter().enumerate() {
            let wanted = if item.joint == Joint::Branch { item.depth - 1 } else { item.depth };
            for _ in wanted..open {
                text.push_str("</details>\n");
            }
            open = open.min(wanted);
            if open == 0 && in_chunk >= CHUNKED {
                text.push_str("</div>\n");
                text.push_str(CHUNK);
                in_chunk = 0;
            }
            in_chunk += 1;
            match item.joint {
                Joint::Branch => {
                    self.branch(text, *item, lengths.get(row).copied().unwrap_or(1));
                    open += 1;
                }
                Joint::Root if row > 0 => text.push_str("<h2 class=\"root\">Another beginning</h2>\n"),
                Joint::Root | Joint::Goes => {}
            }
            entry::article(text, self, item.entry);
            if text.len() > GATHERED {
                out.write_all(text.as_bytes())?;
                text.clear();
            }
        }
        for _ in 0..open {
            text.push_str("</details>\n");
        }
        text.push_str("</div>\n");
        self.unreached(text);
        text.push_str("</div>\n");
        Ok(())
    }

    /// How many entries the branch holds that begins with each row.
    fn lengths(&self) -> Vec<usize> {
        let mut lengths = vec![1; self.items.len()];
        // The branches that are open: their row and column.
        let mut open: Vec<(usize, usize)> = Vec::new();
        for (row, item) in self.items.iter().enumerate() {
            let ends = |depth: usize| depth > item.depth || depth == item.depth && item.joint != Joint::Goes;
            while let Some((start, _)) = open.pop_if(|(_, depth)| ends(*depth)) {
                lengths[start] = row - start;
            }
            if item.joint == Joint::Branch {
                open.push((row, item.depth));
            }
        }
        for (start, _) in open {
            lengths[start] = self.items.len() - start;
        }
        lengths
    }

    fn branch(&self, out: &mut String, item: Item, length: usize) {
        let glimpse = self.sheet.entries.get(item.entry).map(|entry| super::entry::preview(entry, 80)).unwrap_or_default();
        let _ = write!(out, "<details class=\"branch\"><summary><b>Branch</b> {} · <bdi>", count(length as u64, "entry", "entries"));
        escape::text(out, &glimpse);
        out.push_str("</bdi></summary>\n");
    }

    /// Entries that no tree holds: a later one has the same id, or they are headers that nothing reads.
    fn unreached(&self, out: &mut String) {
        let mut drawn = vec![false; self.sheet.entries.len()];
        for item in self.items {
            if let Some(slot) = drawn.get_mut(item.entry) {
                *slot = true;
            }
        }
        let lost: Vec<usize> = (1..drawn.len()).filter(|entry| drawn.get(*entry) == Some(&false)).collect();
        if lost.is_empty() {
            return;
        }
        let _ = writeln!(
            out,
            "<details class=\"branch\"><summary><b>Unreachable</b> {} that nothing finds</summary>",
            count(lost.len() as u64, "entry", "entries")
        );
        for entry in lost {
            entry::article(out, self, entry);
        }
        out.push_str("</details>\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Release;
    use crate::json::jsonl::Lines;
    use crate::session::export::{NoSession, recover, write_data};
    use crate::transcript::context::{Values, budget};
    use crate::transcript::outline::Outline;
    use crate::transcript::trace::trace;
    use crate::transcript::tree::Leaf;

    /// The page of a transcript, with the findings of its check.
    fn page(lines: &[&str]) -> String {
        page_of(lines.join("\n").as_bytes())
    }
    fn page_of(bytes: &[u8]) -> String {
        let release = Release::V0_17;
        let mut traced = trace(bytes, release).unwrap().unwrap();
        let list = Values::new(&traced.loaded.entries, &mut traced.loaded.ids);
        let outline = Outline::new(&list, &mut traced.loaded.ids, Leaf::Last, release);
        let sheet = Sheet { entries: &traced.loaded.entries, origins: &traced.origins, outline: &outline, budget: budget::DEFAULT };
        let report = report(bytes.to_vec());
        let mut out = Vec::new();
        write(&mut out, sheet, &report, |out| write_data(out, &sheet.entries[0], sheet.entries.iter().skip(1).cloned(), None)).unwrap();
        String::from_utf8(out).unwrap()
    }
    fn report(bytes: Vec<u8>) -> Report {
        use crate::check::run::{Options, Target, run};
        let stream = Target::Stream(Box::new(std::io::Cursor::new(bytes)));
        let run = run(vec![stream], &Options { jobs: Some(1), ..Options::new(Release::V0_17, 0, 0) }, &crate::fsys::Memory::new(), &|_| {});
        let audit = crate::report::Audit { findings: run.findings, gauges: run.gauges, outcomes: run.outcomes, ..Default::default() };
        crate::report::build(audit, &crate::report::Settings::default())
    }
    /// The article of an entry.
    fn article(page: &str, entry: usize) -> String {
        let begin = page.find(&format!("id=\"e{entry}\"")).unwrap();
        page[begin..begin + page[begin..].find("</article>").unwrap()].to_owned()
    }

    const HEADER: &str = r#"{"type":"session","version":5,"id":"s","timestamp":"2026-01-02T03:04:00.000Z","cwd":"/w"}"#;

    fn user(id: &str, parent: &str, text: &str) -> String {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-02T03:04:00.000Z","message":{{"role":"user","content":"{text}","timestamp":1}}}}"#
        )
    }

    #[test]
    fn the_page_allows_itself_its_own_script_and_style_and_nothing_else() {
        let page = page(&[HEADER, &user("a", "null", "hello")]);
        let policy = page.split("http-equiv=\"Content-Security-Policy\" content=\"").nth(1).unwrap().split('"').next().unwrap();
        assert!(policy.starts_with("default-src &#39;none&#39;; img-src data:; style-src &#39;sha256-"), "{policy}");
        for (tag, text) in [("style", STYLE), ("script", SCRIPT)] {
            assert!(page.contains(&format!("<{tag}>{text}</{tag}>")), "the {tag} is what was hashed");
            assert!(policy.contains(hash(text).trim_matches('\'')));
        }
        assert!(!STYLE.contains("</") && !SCRIPT.contains("</"));
        assert_eq!(page.matches("<script").count(), 2, "the data and the script");
        assert!(!page.contains("http://") && !page.contains(" src=\"http"));
    }

    #[test]
    fn what_the_model_sees_is_told_apart() {
        let lines = [
            HEADER,
            &user("a", "null", "old"),
            &user("b", r#""a""#, "kept"),
            r#"{"type":"compaction","id":"k","parentId":"b","timestamp":"2026-01-02T03:04:00.000Z","summary":"sum","firstKeptEntryId":"b","tokensBefore":1234}"#,
            &user("x", r#""a""#, "aside"),
            &user("c", r#""k""#, "new"),
            r#"{"type":"message","id":"d","parentId":"c","timestamp":"2026-01-02T03:04:00.000Z","message":{"role":"bashExecution","command":"ls","output":"","exitCode":0,"excludeFromContext":true,"timestamp":1}}"#,
        ];
        let page = page(&lines);
        let standings = [(1, "unseen"), (2, "seen"), (3, "seen"), (4, "aside"), (5, "seen"), (6, "unseen")];
        for (entry, class) in standings {
            assert!(page.contains(&format!("{class}\" id=\"e{entry}\"")), "entry {entry} is {class}");
            assert!(page.contains(&format!("{class}\"><b>")), "its row too");
        }
        assert!(article(&page, 1).contains("not in the model's context"));
        assert!(article(&page, 3).contains("1,234 tokens became this summary") && article(&page, 3).contains("<a href=\"#e2\">line 3</a>"));
        assert!(article(&page, 6).contains("the next prompt continues here"));
    }

    #[test]
    fn a_branch_is_folded_where_it_leaves_and_has_a_level_of_its_own() {
        let lines = [
            HEADER,
            &user("a", "null", "root"),
            &user("b", r#""a""#, "left"),
            &user("c", r#""b""#, "left more"),
            &user("d", r#""a""#, "went on"),
        ];
        let page = page(&lines);
        let branch = page.find("<details class=\"branch\"><summary><b>Branch</b> 2 entries · <bdi>left</bdi>").unwrap();
        let places: Vec<usize> = [1, 2, 3, 4].iter().map(|entry| page.find(&format!("id=\"e{entry}\"")).unwrap()).collect();
        assert!(places[0] < branch && branch < places[1] && places[1] < places[2] && places[2] < places[3]);
        assert!(page[places[2]..places[3]].contains("</details>\n<article"), "the branch is closed before its sibling");
        let row = |entry: usize| page.split(&format!("id=\"m{entry}\"")).nth(1).unwrap().split('>').next().unwrap().to_owned();
        assert!(row(2).contains("aria-level=\"2\" aria-posinset=\"1\" aria-setsize=\"2\""), "{}", row(2));
        assert!(row(4).contains("aria-level=\"1\" aria-posinset=\"2\" aria-setsize=\"2\""), "{}", row(4));
        assert_eq!(page.matches("<details").count(), page.matches("</details>").count());
        assert_eq!(page.matches("<div").count(), page.matches("</div>").count());
    }

    #[test]
    fn a_session_that_gjc_refuses_says_so_at_its_top() {
        let refused =
            |last: &str| page(&[HEADER, &user("a", "null", "x"), last]).contains("<b>gjc refuses to open this session</b> <code>malformed");
        assert!(refused("{torn"));
        assert!(!refused(&user("b", r#""a""#, "y")));
    }

    #[test]
    fn a_compaction_that_names_nothing_to_keep_is_not_said_to_lack_it() {
        let compacted = |kept: &str| {
            let line = format!(
                r#"{{"type":"compaction","id":"k","parentId":"a","timestamp":"2026-01-02T03:04:00.000Z","summary":"sum"{kept},"tokensBefore":1}}"#
            );
            article(&page(&[HEADER, &user("a", "null", "x"), &line]), 2)
        };
        assert!(compacted("").contains("it names nothing that was kept beside it."), "{}", compacted(""));
        assert!(compacted(r#","firstKeptEntryId":"gone""#).contains("from gone on, is not in the file"), "{}", compacted(""));
    }

    #[test]
    fn findings_stand_beside_their_entries_and_those_of_the_file_at_the_top() {
        let page = page(&[HEADER, &user("a", "null", "x"), &user("b", r#""gone""#, "y"), "{torn"]);
        assert!(article(&page, 2).contains("<code>dangling_parent</code>"), "{}", article(&page, 2));
        assert!(article(&page, 2).contains("What gjc does, what to do"));
        let top = &page[page.find("<div class=\"check error\">").unwrap()..page.find("id=\"start\"").unwrap()];
        assert!(top.contains("truncated_last_line"), "{top}");
        assert!(page.split("id=\"m2\"").nth(1).unwrap().split("</a>").next().unwrap().contains("<i class=\"mark warning\">"));
    }

    #[test]
    fn an_entry_that_nothing_finds_is_shown_at_the_end() {
        let page = page(&[HEADER, &user("a", "null", "first"), &user("a", "null", "second"), HEADER]);
        assert!(page.contains("<b>Unreachable</b> 2 entries that nothing finds"), "{page}");
        assert!(article(&page, 1).contains("line 3 has the same id: nothing finds this entry"));
    }

    #[test]
    fn a_tool_call_and_its_result_find_each_other() {
        let call = r#"{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"ls -l","_i":"why"}}],"timestamp":1}}"#;
        let result = r#"{"type":"message","id":"b","parentId":"a","timestamp":"t","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","isError":true,"content":[{"type":"text","text":"no\nway"}],"timestamp":1}}"#;
        let page = page(&[HEADER, call, result]);
        assert!(article(&page, 1).contains("<a href=\"#e2\">its result</a>") && article(&page, 1).contains("ls -l"));
        assert!(article(&page, 1).contains("<details class=\"fold thinking\">"));
        assert!(article(&page, 2).contains("<a href=\"#e1\">its call</a>") && article(&page, 2).contains("failed · 2 lines"));
    }

    /// Attacks in every string of every kind of record: no attack is markup anywhere in the page.
    #[test]
    fn nothing_of_a_transcript_is_markup() {
        const ATTACK: &str = r#"\"'><script>x</script><img src=x onerror=x><svg onload=x></title></style></pre>"#;
        let members = [
            "role",
            "content",
            "customType",
            "toolName",
            "summary",
            "label",
            "model",
            "command",
            "output",
            "errorMessage",
            "stopReason",
            "thinking",
            "text",
            "name",
            "type",
            "mimeType",
            "data",
        ];
        let kinds = [
            "message",
            "custom_message",
            "custom",
            "compaction",
            "branch_summary",
            "label",
            "model_change",
            "session_init",
            "ttsr_injection",
            ATTACK,
        ];
        let roles =
            ["user", "assistant", "toolResult", "bashExecution", "pythonExecution", "fileMention", "custom", "branchSummary", ATTACK];
        let mut lines = vec![HEADER.replace("\"/w\"", &format!("\"{ATTACK}\",\"title\":\"{ATTACK}\",\"parentSession\":\"{ATTACK}\""))];
        let attacks = || members.iter().map(|member| format!(r#""{member}":"{ATTACK}""#)).collect::<Vec<_>>().join(",");
        for kind in kinds {
            for role in roles {
                let blocks = format!(
                    r#"[{{"type":"text","text":"{ATTACK}"}},{{"type":"thinking","thinking":"{ATTACK}"}},{{"type":"toolCall","id":"{ATTACK}","name":"{ATTACK}","arguments":{{"{ATTACK}":"{ATTACK}"}}}},{{"type":"image",{}}},{{"type":"image_url","image_url":"{ATTACK}"}}]"#,
                    attacks()
                );
                let files = format!(r#"[{{"path":"{ATTACK}","content":"{ATTACK}"}}]"#);
                let message = format!(r#"{{{},"role":"{role}","content":{blocks},"files":{files}}}"#, attacks());
                let number = lines.len();
                lines.push(format!(
                    r#"{{"id":"{ATTACK}{number}","parentId":"{ATTACK}{}","timestamp":"{ATTACK}","type":"{kind}",{},"message":{message}}}"#,
                    number - 1,
                    attacks().replace(r#""type""#, r#""other""#)
                ));
            }
        }
        let page = page(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(page.matches("<script").count(), 2);
        assert_eq!(page.matches("<svg").count(), 1);
        assert_eq!(page.matches("<img").count(), 0);
        for closing in ["</title>", "</style>", "</body>", "</html>"] {
            assert_eq!(page.matches(closing).count(), 1, "{closing}");
        }
        // An attribute ends only where this program ends it.
        let tags = page.split('<').skip(1).filter_map(|rest| rest.split_once('>')).map(|(tag, _)| tag);
        assert!(tags.into_iter().all(|tag| !tag.contains("onerror") && !tag.contains("onload")), "an attack is inside a tag");
    }

    #[test]
    fn the_session_comes_back_out_of_the_page() {
        let lines = [HEADER, &user("a", "null", "</script><b>"), &user("b", r#""a""#, "y")];
        let page = page(&lines);
        let recovered = recover(page.as_bytes()).unwrap();
        let mut text = Vec::new();
        recovered.write(&mut text).unwrap();
        let wanted: Vec<Value> = lines.iter().map(|line| Value::parse(line.as_bytes()).unwrap()).collect();
        let got: Vec<Value> =
            text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(|line| Value::parse(line).unwrap()).collect();
        assert_eq!(got, wanted);
        assert_eq!(recover(page.replace("session-data", "other").as_bytes()), Err(NoSession::NoElement));
    }

    #[test]
    fn a_page_of_any_input_is_well_formed() {
        use proptest::prelude::*;
        let texts = proptest::collection::vec(proptest::collection::vec(any::<char>(), 0..60), 1..8);
        proptest!(ProptestConfig { cases: 32, ..Default::default() }, |(texts in texts)| {
            let mut bytes = format!("{HEADER}\n").into_bytes();
            for (number, text) in texts.iter().enumerate() {
                let text: String = text.iter().collect();
                let parent = if number % 3 == 2 { number - 2 } else { number };
                let entry = serde_json::json!({ "type": "message", "id": format!("{}", number + 1), "parentId": format!("{parent}"), "timestamp": text, "message": { "role": if number % 2 == 0 { "user" } else { "assistant" }, "content": [{ "type": "text", "text": text }] } });
                bytes.extend_from_slice(format!("{entry}\n").as_bytes());
            }
            prop_assert!(Lines::new(&bytes[..]).next().is_ok());
            let page = page_of(&bytes);
            for element in ["div", "article", "details", "p", "pre", "span", "a", "bdi", "header", "code", "ul", "ol", "li", "blockquote"] {
                let open = page.matches(&format!("<{element}>")).count() + page.matches(&format!("<{element} ")).count();
                prop_assert_eq!(open, page.matches(&format!("</{element}>")).count(), "{}", element);
            }
        });
    }
}
