//! What a repair would do, did, and proved, for people: what is copied first, then what is left alone and why, then the next
//! step.

use super::human::Layout;
use super::style::{Palette, plain, wrap};
use super::words::{count, headed};
use crate::finding::Severity;
use crate::repair::apply::{Applied, Session};
use crate::repair::plan::{Plan, Refusal, ScopePlan, SessionPlan};
use crate::repair::proof::Checked;
use crate::repair::salvage::{Hashed, Reading, Salvage};
use std::fmt::Write;
use std::path::Path;

/// How wide the column of words at the beginning of a line is.
const COLUMN: usize = 9;

struct Page {
    palette: Palette,
    width: usize,
    /// What paths are shown relative to, with a slash behind it.
    base: String,
    out: String,
}

impl Page {
    fn new(base: &str, layout: Layout) -> Self {
        Page { palette: Palette::new(layout.colour), width: layout.width.min(120), base: format!("{base}/"), out: String::new() }
    }
    /// One line. Writing into a String cannot fail.
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{}", text.trim_end());
    }
    /// A word in the first column, and text behind it.
    fn row(&mut self, word: &str, text: &str) {
        let indent = 2 + COLUMN;
        let text = wrap(&plain(text), indent, self.width);
        let padded = format!("{word:COLUMN$}");
        let word = match word {
            "copy" | "copied" | "holds" => self.palette.good(&padded),
            "refused" | "left" | "broken" => self.palette.severity(Severity::Warning, &padded),
            _ => self.palette.faint(&padded),
        };
        self.line(&format!("  {word}{text}"));
    }
    fn faint_row(&mut self, text: &str) {
        let text = self.palette.faint(&wrap(&plain(text), 2 + COLUMN, self.width));
        self.line(&format!("  {:COLUMN$}{text}", ""));
    }
    fn short<'p>(&self, path: &'p str) -> &'p str {
        path.strip_prefix(&self.base).unwrap_or(path)
    }
    fn refusal(&mut self, word: &str, subject: &str, refusal: &Refusal) {
        let subject = if subject.is_empty() { String::new() } else { format!("{subject}  ") };
        self.row(word, &format!("{subject}{}", refusal.code));
        self.faint_row(&refusal.detail);
        if let Some(path) = &refusal.path {
            let path = self.short(path).to_owned();
            self.faint_row(&path);
        }
    }
    fn invalid(&mut self, plan: &Plan) {
        if plan.invalid.is_empty() {
            return;
        }
        self.line("");
        let title = self.palette.strong("Of no workspace that exists here");
        self.line(&title);
        for invalid in &plan.invalid {
            self.refusal("left", "", invalid);
        }
    }
    fn unread(&mut self, plan: &Plan) {
        if !plan.unread.is_empty() {
            self.line("");
        }
        for unread in &plan.unread {
            self.refusal("left", "could not be read:", unread);
        }
    }
    fn workspace(&mut self, workspace: &str, directory: &str) {
        let title = self.palette.strong(&plain(workspace));
        let scope = self.palette.faint(&plain(self.short(directory)));
        self.line("");
        self.line(&title);
        self.line(&format!("  {scope}"));
    }
    fn next(&mut self, text: &str, layout: Layout) {
        if !layout.quiet {
            self.line("");
            let text = wrap(text, 0, self.width);
            self.line(&text);
        }
    }
}

fn bytes(size: u64) -> String {
    const UNITS: [&str; 4] = ["bytes", "KiB", "MiB", "GiB"];
    let mut value = size as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { count(size, "byte", "bytes") } else { format!("{value:.1} {}", UNITS[unit]) }
}

/// The plan. `kept` is the file that it was written to, as a shell reads it.
pub fn plan(plan: &Plan, kept: Option<&str>, layout: Layout) -> String {
    let mut page = Page::new(&plan.agent_dir, layout);
    let planned = plan.scopes.iter().flat_map(ScopePlan::planned).count() as u64;
    let all = plan.scopes.iter().map(|scope| scope.sessions.len()).sum::<usize>() as u64;
    let over = plan.scopes.iter().filter(|scope| scope.refused.is_none()).flat_map(|scope| &scope.leftovers);
    let over = over.filter(|leftover| leftover.refused.is_none()).count() as u64;
    let headline = match (all, planned, over) {
        (0, _, 0) if plan.unread.is_empty() && plan.invalid.is_empty() => {
            "nothing to repair: every session is in the new layout".to_owned()
        }
        (0, _, 0) => "nothing to repair in what could be read and belongs to a workspace".to_owned(),
        (0, _, over) => {
            format!("{} left by interrupted migrations would be moved aside", count(over, "set of receipts", "sets of receipts"))
        }
        (all, planned, _) => {
            let left = if all > planned { format!(", {} left alone", all - planned) } else { String::new() };
            format!("{} would be copied{left}; the old files stay as they are", count(planned, "session", "sessions"))
        }
    };
    let headline = page.palette.strong(&headline);
    page.line(&headline);
    for scope in &plan.scopes {
        scope_plan(&mut page, scope);
    }
    page.invalid(plan);
    page.unread(plan);
    let secure = plan.scopes.iter().any(|scope| scope.refused.as_ref().is_some_and(|refused| refused.code == "mode_mismatch"));
    let writes = plan.scopes.iter().any(ScopePlan::writes);
    if writes {
        let again = match kept {
            Some(file) => format!("`gjc-fsck repair --apply {} --proof DIR` does just this", plain(file)),
            None => "`gjc-fsck repair --apply --proof DIR` with the same PATH does this".to_owned(),
        };
        page.next(&format!("Next: stop gjc, then {again}. Nothing is written until then."), layout);
    }
    if secure {
        page.next("With --secure-modes the directories named above are made owner-only (0700) first, as gjc itself does.", layout);
    }
    page.out
}

fn scope_plan(page: &mut Page, scope: &ScopePlan) {
    page.workspace(&scope.workspace, &scope.directory);
    if let Some(refused) = &scope.refused {
        page.refusal("refused", "the whole scope:", refused);
    }
    for change in &scope.mode_changes {
        let acl = if change.acl { ", access control list removed" } else { "" };
        let text = format!("{}  {} → {}{acl}", page.short(&change.path), change.from, change.to);
        page.row("secure", &text);
    }
    if !scope.makes.is_empty() && scope.refused.is_none() {
        let directories = scope.makes.iter().filter(|path| !path.ends_with(".json")).count() as u64;
        let binding = if directories < scope.makes.len() as u64 { "the binding" } else { "" };
        let made = [count(directories, "directory", "directories"), binding.to_owned()];
        let made: Vec<&str> = made.iter().map(String::as_str).filter(|word| !word.is_empty() && !word.starts_with("0 ")).collect();
        page.row("make", &made.join(", "));
    }
    for session in scope.planned() {
        planned(page, session);
    }
    for session in scope.sessions.iter().filter(|_| scope.refused.is_none()) {
        if let Some(refused) = &session.refused {
            page.refusal("left", &session.session_id, refused);
            let source = page.short(&session.source).to_owned();
            if refused.path.as_ref() != Some(&session.source) {
                page.faint_row(&source);
            }
        }
    }
    for leftover in &scope.leftovers {
        match leftover.refused.as_ref() {
            Some(refused) => page.refusal("left", "receipts of an interrupted migration:", refused),
            None if scope.refused.is_none() => {
                let receipts = leftover.set_aside.len() as u64;
                page.row("aside", &format!("{} of an interrupted migration", count(receipts, "receipt", "receipts")));
            }
            None => {}
        }
    }
    for stale in &scope.stale_receipts {
        page.row("stale", "a committed receipt no longer matches, and is not touched: both files are listed");
        let path = page.short(&stale.path).to_owned();
        page.faint_row(&path);
        page.faint_row(&format!("it should hold that {}", stale.wants));
    }
}

fn planned(page: &mut Page, session: &SessionPlan) {
    let name = Path::new(&session.source).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut size = bytes(session.size);
    if let Some(artifacts) = &session.artifacts {
        let files = count(artifacts.files, "artifact", "artifacts");
        let _ = write!(size, ", {files} of {}", bytes(artifacts.bytes));
    }
    page.row("copy", &format!("{}  {size}", session.session_id));
    let from = session.source.strip_suffix(&format!("/{name}")).unwrap_or(&session.source);
    let from = format!("{name}  from {}", page.short(from));
    page.faint_row(&from);
    if session.copied_already {
        page.faint_row("the copy is there already, with the same bytes; its receipt is missing");
    }
    if session.put_back.is_some() {
        page.faint_row("first puts its artifacts back, which an interrupted migration moved away");
    }
    if !session.set_aside.is_empty() {
        let receipts = count(session.set_aside.len() as u64, "receipt", "receipts");
        page.faint_row(&format!("first moves {receipts} of an interrupted migration into .gjc-recovery"));
    }
}

/// What was done. `proofs` is where the proofs were written.
pub fn applied(applied: &Applied, planned: &Plan, proofs: Option<&Path>, layout: Layout) -> String {
    let mut page = Page::new(&planned.agent_dir, layout);
    let copied = applied.copied() as u64;
    let left = applied.sessions.iter().filter(|session| session.refused.is_some()).count() as u64;
    let already = applied.sessions.iter().filter(|session| session.copied_meanwhile).count() as u64;
    let headline = match (copied, left) {
        (0, 0) if already > 0 => format!("nothing left to do: {} copied already", count(already, "session was", "sessions were")),
        (0, 0) => "nothing to repair: no session was copied".to_owned(),
        (copied, 0) => format!("{} copied, byte for byte", count(copied, "session", "sessions")),
        (copied, left) => format!("{} copied, {left} left alone", count(copied, "session", "sessions")),
    };
    let headline = page.palette.strong(&headline);
    page.line(&headline);
    page.line("");
    for session in applied.sessions.iter().filter(|session| session.proof.is_some()) {
        done(&mut page, session);
    }
    for session in applied.sessions.iter().filter(|session| session.copied_meanwhile) {
        page.row("done", &format!("{}  copied already", session.session_id));
    }
    for session in &applied.sessions {
        if let Some(refused) = &session.refused {
            page.refusal("left", &session.session_id, refused);
            pending(&mut page, session);
        }
    }
    for over in &applied.leftovers {
        match &over.refused {
            Some(refused) => page.refusal("left", "receipts of an interrupted migration:", refused),
            None => {
                let already = if over.moved_already { ", moved already" } else { "" };
                let receipts = count(over.receipts.len() as u64, "receipt", "receipts");
                page.row("aside", &format!("{receipts} of an interrupted migration{already}"));
            }
        }
    }
    page.unread(planned);
    match proofs {
        Some(proofs) if copied > 0 => {
            let proofs = proofs.to_string_lossy().into_owned();
            page.next(
                &format!("The proofs are in {}. `gjc-fsck repair --verify PROOF` looks at one again, at any time.", plain(&proofs)),
                layout,
            );
        }
        _ if copied > 0 => page.next("Next: `gjc-fsck check` looks at the result; `gjc-fsck list` shows the sessions.", layout),
        _ => {}
    }
    // Nothing stands below the headline when nothing was done.
    if page.out.ends_with("\n\n") {
        page.out.pop();
    }
    page.out
}

fn done(page: &mut Page, session: &Session) {
    let Some(proof) = &session.proof else { return };
    let artifacts = proof.artifacts.iter().filter(|artifact| artifact.sha256.is_some()).count() as u64;
    let artifacts = if artifacts == 0 { String::new() } else { format!(", {}", count(artifacts, "artifact", "artifacts")) };
    page.row("copied", &format!("{}  {}{artifacts}", session.session_id, bytes(proof.destination.size)));
    let destination = page.short(&session.destination).to_owned();
    page.faint_row(&destination);
    page.faint_row(&format!("sha256 {}", proof.destination.sha256));
    pending(page, session);
}

fn pending(page: &mut Page, session: &Session) {
    for path in &session.cleanup_pending {
        let text = format!("cleanup_pending: {} could not be cleaned up; it harms nothing", page.short(path));
        page.faint_row(&text);
    }
}

/// A proof that was looked at again; `what` names it.
pub fn verified(what: &str, checked: &[Checked], layout: Layout) -> String {
    let mut page = Page::new("", layout);
    let broken = checked.iter().filter(|one| !one.holds).count() as u64;
    let headline = match broken {
        0 => format!("{what} holds"),
        broken => {
            format!("{} of {what} no longer {}", count(broken, "statement", "statements"), if broken == 1 { "holds" } else { "hold" })
        }
    };
    let headline = page.palette.strong(&plain(&headline));
    page.line(&headline);
    page.line("");
    for holds in [false, true] {
        for one in checked.iter().filter(|one| one.holds == holds) {
            page.row(if holds { "holds" } else { "broken" }, &format!("{}: {}", one.what, one.found));
            page.faint_row(&one.path);
        }
    }
    page.out
}

/// What gjc makes of a transcript.
fn reading(reading: &Reading) -> String {
    let because = reading.because.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    format!(
        "{}, {} in the context; {}{because}",
        reading.entries.checked_sub(1).map_or_else(|| "nothing loads".to_owned(), headed),
        count(reading.messages, "message", "messages"),
        reading.strict
    )
}

/// A transcript whose copy would be itself.
pub fn nothing_to_salvage(source: &Hashed, before: &Reading, layout: Layout) -> String {
    let mut page = Page::new("", layout);
    let headline = page.palette.strong("nothing to salvage: no byte of it is torn, glued or out of place");
    page.line(&headline);
    page.line("");
    page.row("read", &reading(before));
    page.faint_row(&source.path);
    if let Some(why) = &before.because {
        let why = format!("gjc refuses the transcript for another reason: {why}. `gjc-fsck check` on it says what to do.");
        page.next(&plain(&why), layout);
    }
    page.out
}

/// Why fewer messages reach the model than before, though every record of before is in the copy: gjc goes from the last record
/// to the first, and another one is last now.
fn why_fewer(before: &Reading, after: &Reading) -> Option<String> {
    if after.messages >= before.messages {
        return None;
    }
    let last = after.leaf.as_ref().map(|id| format!(", {id},")).unwrap_or_default();
    let ends = match &after.cut {
        Some(cut) => {
            let id = cut.id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
            format!("and the way back from it ends on line {}{id}: the record before that, {}, could not be read", cut.line, cut.parent)
        }
        None => "and the way back from it is shorter".to_owned(),
    };
    let shown = match &before.leaf {
        Some(leaf) => format!(" The messages of before are all in the new transcript: `gjc-fsck context FILE --leaf {leaf}` shows them."),
        None => " The messages of before are all in the new transcript.".to_owned(),
    };
    Some(format!("gjc takes the last record{last} for the end of the session, {ends}.{shown}"))
}

/// A mended copy.
pub fn salvaged(done: &Salvage, proof: &Path, layout: Layout) -> String {
    /// How many ranges are shown; the proof has all.
    const SHOWN: usize = 10;
    let mut page = Page::new("", layout);
    let messages = match done.after.messages.checked_sub(done.before.messages) {
        Some(0) => "as many messages in its context as before".to_owned(),
        Some(more) => format!("{} more in its context than before", count(more, "message", "messages")),
        None => format!("{} fewer in its context than before", count(done.before.messages - done.after.messages, "message", "messages")),
    };
    let headline = format!("{} in the new transcript; {messages}", count(done.mended.lines.len() as u64, "record", "records"));
    let headline = page.palette.strong(&headline);
    page.line(&headline);
    page.line("");
    page.row("before", &reading(&done.before));
    page.faint_row(&done.source.path);
    page.row("after", &reading(&done.after));
    page.faint_row(&done.copy.path);
    if let Some(why) = why_fewer(&done.before, &done.after) {
        page.row("fewer", &why);
    }
    for carried in done.mended.lines.iter().filter(|carried| carried.changed.is_some()).take(SHOWN) {
        let changed = carried.changed.as_deref().unwrap_or_default();
        page.row("mended", &format!("line {}: {changed}", carried.source_line));
    }
    for left in done.mended.left.iter().take(SHOWN) {
        page.row("left out", &format!("line {}: {}, {}", left.source_line, bytes(left.to - left.from), left.reason));
    }
    if let Some(more) = done.mended.left.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        page.faint_row(&format!("and {more} more"));
    }
    page.row("proof", &proof.to_string_lossy());
    match &done.after.because {
        None => page.next("gjc opens the new transcript. The old one is as it was.", layout),
        Some(why) => {
            let why = format!(
                "gjc still refuses to open the new transcript: {why}. Nothing is invented here; `gjc-fsck check` on it says what to do. The old one is as it was."
            );
            page.next(&plain(&why), layout);
        }
    }
    page.out
}
