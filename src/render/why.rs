//! The answer to `why`: how it ends, the file, the steps, and what to do.

use super::human::Layout;
use super::style::{Palette, plain, wrap};
use crate::agent::why::{BY_PATH, Chain, Evidence, Reported, STEPS, Step};
use crate::finding::Severity;
use crate::report::reference::level;
use std::fmt::Write;
use std::path::Path;

/// Columns before the words of a step.
const INDENT: usize = 18;
/// Codes that are named.
const NAMED: usize = 6;

/// The chain for people: one block a step. The file is named once; evidence names only other objects, those beside the file
/// by their name.
pub fn text(chain: &Chain, layout: Layout) -> String {
    let mut page = Page { chain, palette: Palette::new(layout.colour), width: layout.width.min(120), out: String::new() };
    page.verdict();
    page.line("");
    for step in &chain.steps {
        if step.turns_away || !layout.quiet {
            page.step(step);
        }
    }
    page.reported();
    page.out
}

/// The chain in one line: `path:line: step[answer] what was found`; the path as it was named, when one was.
pub fn concise(chain: &Chain) -> String {
    let by_path = chain.steps.first().is_some_and(|found| found.answer == BY_PATH);
    let path = plain(chain.path.as_deref().filter(|_| !by_path).unwrap_or(&chain.asked));
    let Some(step) = chain.stop() else { return format!("{path}: opens\n") };
    let evidence = step.evidence.first();
    let line = evidence.filter(|seen| Some(&seen.path) == chain.path.as_ref()).and_then(|seen| seen.line);
    let line = line.map_or_else(String::new, |line| format!(":{line}"));
    // Only where several sessions are meant does everything that was seen count.
    let seen = step.evidence.iter().take(if step.answer == "ambiguous" { usize::MAX } else { 1 });
    let shows: String = seen.map(|seen| format!(" {}", plain(&seen.shows))).collect::<Vec<_>>().join(";");
    format!("{path}{line}: {}[{}]{shows}\n", step.step, step.answer)
}

struct Page<'a> {
    chain: &'a Chain,
    palette: Palette,
    width: usize,
    out: String,
}

impl Page<'_> {
    /// One line. Writing into a String cannot fail.
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{text}");
    }
    /// Lines that begin in the column of the words.
    fn indented(&mut self, text: &str) {
        self.line(&format!("{:INDENT$}{}", "", wrap(text, INDENT, self.width)));
    }

    fn verdict(&mut self) {
        let bad = |text: &str| self.palette.severity(Severity::Error, text);
        let managed = self.chain.steps.iter().any(|step| step.step == "listing" && step.answer != "not asked");
        let verdict = match self.chain.stop() {
            None if managed => self.palette.good("✓ gjc lists this session and opens it"),
            None => self.palette.good("✓ gjc opens this session"),
            Some(step) => match (step.step, &*step.answer) {
                ("found", "missing") => bad("✗ there is no such file"),
                ("found", "read-failed") => bad("✗ the file cannot be reached"),
                ("found", "ambiguous") => self.palette.aside("◆ several sessions begin like that"),
                ("found", _) => bad("✗ no session has this id"),
                (name, answer) => {
                    let number = STEPS.iter().position(|step| *step == name).unwrap_or(0) + 1;
                    bad(&format!("✗ gjc turns away at step {number} of {}, {name}: {answer}", STEPS.len()))
                }
            },
        };
        self.line(&verdict);
        let path = plain(self.chain.path.as_deref().unwrap_or(&self.chain.asked)).into_owned();
        self.line(&format!("  {}", self.palette.strong(&path)));
    }

    fn step(&mut self, step: &Step) {
        // What the file and its directory show stands behind the answer; so does what one other object shows that does no harm.
        let (own, other): (Vec<&Evidence>, Vec<&Evidence>) = step.evidence.iter().partition(|seen| self.is_own(&seen.path));
        let alone = own.is_empty() && other.len() == 1 && !step.turns_away;
        let mut facts: Vec<String> = own.iter().map(|seen| fact(seen)).collect();
        facts.extend(other.iter().filter(|_| alone).map(|seen| seen.shows.clone()));
        let answer = Some(step.answer.clone()).filter(|answer| answer != step.step || facts.is_empty());
        let words = answer.into_iter().chain(facts).collect::<Vec<_>>().join(" · ");
        let mut words = wrap(&plain(&words), INDENT, self.width);
        let (mark, name) = match (step.turns_away, &*step.answer) {
            (true, _) => (self.palette.severity(Severity::Error, "✗"), self.palette.strong(&format!("{:<14}", step.step))),
            (false, "not asked") => {
                words = words.lines().map(|line| self.palette.faint(line)).collect::<Vec<_>>().join("\n");
                (self.palette.faint("·"), self.palette.faint(&format!("{:<14}", step.step)))
            }
            _ => (self.palette.good("✓"), format!("{:<14}", step.step)),
        };
        self.line(&format!("{mark} {name}  {words}{}", self.section(step, &words)));
        for seen in other {
            let line = seen.line.map_or_else(String::new, |line| format!(":{line}"));
            let path = self.palette.faint(&plain(&format!("{}{line}", self.beside(&seen.path))));
            self.line(&format!("{:INDENT$}{path}", ""));
            if !alone {
                self.indented(&plain(&seen.shows));
            }
        }
        if let Some(advice) = &step.advice {
            self.line(&format!("{:>width$} {}", "→", wrap(advice, INDENT, self.width), width = INDENT - 1));
        }
    }

    /// The directory of the file; none for a file that was not found.
    fn directory(&self) -> Option<&Path> {
        self.chain.path.as_deref().and_then(|own| Path::new(own).parent()).filter(|directory| *directory != Path::new("/"))
    }

    fn is_own(&self, path: &str) -> bool {
        self.chain.path.as_deref() == Some(path) || self.directory() == Some(Path::new(path))
    }

    /// The section of the description behind the words, where it fits.
    fn section(&self, step: &Step, words: &str) -> String {
        use unicode_width::UnicodeWidthStr;
        let section = format!("({})", step.section);
        let used = words.lines().last().map_or(0, |line| if words.contains('\n') { line.width() } else { line.width() + INDENT });
        let room = used + 2 + section.width() <= self.width;
        let between = if room { "  ".to_owned() } else { format!("\n{:INDENT$}", "") };
        format!("{between}{}", self.palette.faint(&section))
    }

    /// A path as it is named beside the file: what lies in the file's directory without that directory.
    fn beside(&self, path: &str) -> String {
        let below = self.directory().and_then(|directory| Path::new(path).strip_prefix(directory).ok());
        below.map_or_else(|| path.to_owned(), |below| below.display().to_string())
    }

    /// What the check says, and how to ask for more.
    fn reported(&mut self) {
        let worst = self.chain.reported.iter().map(|one| one.severity).max();
        // Beside errors and warnings nobody needs to hear what is merely worth knowing.
        let least = worst.map_or(Severity::Info, |worst| worst.min(Severity::Warning));
        let told: Vec<&Reported> = self.chain.reported.iter().filter(|one| one.severity >= least).collect();
        let Some(first) = told.first() else { return };
        let mut said: Vec<String> = told.iter().take(NAMED).map(|one| word(one)).collect();
        if told.len() > NAMED {
            said.push(format!("{} more", told.len() - NAMED));
        }
        self.line("");
        self.line(&wrap(&format!("`gjc-fsck check` reports of it: {}.", said.join(", ")), 0, self.width));
        let next = wrap(&format!("`gjc-fsck explain {}` says what that means and what to do.", first.code), 2, self.width);
        self.line(&format!("→ {next}"));
    }
}

fn fact(seen: &Evidence) -> String {
    seen.line.map_or_else(|| seen.shows.clone(), |line| format!("line {line}: {}", seen.shows))
}

/// `unterminated_tail (error, line 3)`
fn word(one: &Reported) -> String {
    let mut facts = vec![level(one.severity).to_owned()];
    if one.count > 1 {
        facts.push(format!("{} times", one.count));
    }
    if let Some(line) = one.line {
        facts.push(if one.count > 1 { format!("first in line {line}") } else { format!("line {line}") });
    }
    format!("{} ({})", one.code, facts.join(", "))
}
