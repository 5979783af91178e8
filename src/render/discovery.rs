//! The answers to `list --recent|--picker|--inventory`, `resume` and `continue`.

use super::entry::{clip, pad};
use super::human::Layout;
use super::paper::{Paper, bases, home};
use super::style::{Palette, plain, wrap};
use super::words::{count, grouped, shell_word};
use crate::finding::Severity;
use crate::session::discovery::answer::{Continue, CrumbState, LeftOut, List, MatchRow, Refusal, Resume, Row, Step};
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// Matches and left-out files that are named; the JSON form names all.
const NAMED: usize = 20;

/// A list for people.
pub fn list(list: &List, layout: Layout) -> String {
    let mut page = Paper::new(layout);
    page.list(list, layout.quiet);
    page.out
}

/// A list, one line a session and one each for what is left out: path, in brackets how it is listed, what is known.
pub fn list_concise(list: &List) -> String {
    let mut out = String::new();
    if let Some(refused) = &list.refused {
        row(&mut out, &list.of, "refused", refused.code, &[&refused.detail]);
    }
    for session in &list.sessions {
        let name = session.name.as_deref().or(session.first_message.as_deref()).unwrap_or_default();
        let star = if session.starred { "starred" } else { list.list };
        row(&mut out, &session.path, "listed", star, &[&session.id, session.modified.as_deref().unwrap_or("-"), name]);
    }
    for failure in &list.failures {
        row(&mut out, &failure.path, "failure", failure.kind, &[&failure.detail]);
    }
    for one in &list.left_out {
        row(&mut out, &one.path, "left out", list.list, &[&one.why]);
    }
    for one in &list.restores {
        row(&mut out, &one.backup, "renamed", list.list, &["to", &one.primary]);
    }
    out
}

/// What `--continue` does, for people. `options`: what further commands need to look at the same agent directory, each option
/// with a space before it.
pub fn proceed(answer: &Continue, options: &str, layout: Layout) -> String {
    let mut page = Paper::new(layout);
    page.proceed(answer);
    if !layout.quiet && answer.steps.iter().any(|step| step.outcome != "opens") {
        page.hint(options);
    }
    page.out
}

/// What `--continue` does, one line a candidate.
pub fn proceed_concise(answer: &Continue) -> String {
    let mut out = String::new();
    let crumb = &answer.breadcrumb;
    let file = answer.terminal.as_ref().map_or(&*answer.cwd, |terminal| &terminal.file);
    row(&mut out, file, "breadcrumb", crumb.state, &[crumb.why.as_deref().unwrap_or_default()]);
    for step in &answer.steps {
        row(&mut out, &step.path, step.outcome, step.code, &[step.source, &step.detail]);
    }
    if answer.action == "new" {
        row(&mut out, &answer.cwd, "new", "new", &["gjc begins a new session"]);
    }
    out
}

/// What `--resume X` does, for people. `options` as for [`proceed`].
pub fn resume(answer: &Resume, options: &str, layout: Layout) -> String {
    let mut page = Paper::new(layout);
    page.resume(answer);
    match answer.action {
        _ if layout.quiet => {}
        "fails" => page.hint(options),
        "not_found" => {
            page.next(&format!(
                "`gjc-fsck list{options} --all` shows the sessions of every workspace, and the files that no listing shows."
            ));
        }
        _ => {}
    }
    page.out
}

/// What `--resume X` does: one line for the answer, one for each match behind the first.
pub fn resume_concise(answer: &Resume) -> String {
    let mut out = String::new();
    let path = answer.opening.as_ref().map_or(&*answer.asked, |step| &step.path);
    let code = answer.opening.as_ref().map_or_else(|| answer.inspection.as_ref().map_or("-", |seen| seen.verdict), |step| step.code);
    let detail = answer.message.as_deref().or(answer.opening.as_ref().map(|step| &*step.detail)).unwrap_or_default();
    row(&mut out, path, answer.action, code, &[detail]);
    if let Some(refused) = &answer.refused {
        row(&mut out, path, "refused", refused.code, &[&refused.detail]);
    }
    for one in &answer.left_out {
        row(&mut out, &one.path, "left out", "resume", &[&one.why]);
    }
    for one in answer.matches.iter().skip(1) {
        row(&mut out, &one.session.path, "also matches", one.rule, &[&one.session.id, one.session.modified.as_deref().unwrap_or("-")]);
    }
    out
}

/// `path: word[code] rest`. Writing into a String cannot fail.
fn row(out: &mut String, path: &str, word: &str, code: &str, rest: &[&str]) {
    let rest: Vec<&str> = rest.iter().copied().filter(|word| !word.is_empty()).collect();
    let line = format!("{}: {word}[{}] {}", plain(path), plain(code), plain(&rest.join(" ")));
    let _ = writeln!(out, "{}", line.trim_end());
}

/// The pages of `list --recent|--picker|--inventory`, `resume` and `continue`.
impl Paper {
    /// A heading in colour that keeps to the width.
    fn heading(&mut self, mark: &str, text: &str, colour: impl Fn(Palette, &str) -> String) {
        for (at, line) in wrap(text, 0, self.width.saturating_sub(2)).lines().enumerate() {
            let line = colour(self.palette, &format!("{} {line}", if at == 0 { mark } else { " " }));
            self.line(&line);
        }
    }
    fn hint(&mut self, options: &str) {
        self.next(&format!("`gjc-fsck why{options} ID` (or the path of a file) says at what gjc turns away, and what to do."));
    }

    fn list(&mut self, list: &List, quiet: bool) {
        let title = match list.list {
            "recent" => "Recent sessions of",
            "picker" => "The picker's list of",
            _ => "Strict inventory of",
        };
        let of = plain(&list.of).into_owned();
        if title.width() + 1 + of.width() <= self.width {
            let title = self.palette.strong(&format!("{title} {of}"));
            self.line(&title);
        } else {
            let title = self.palette.strong(title);
            self.line(&title);
            self.path(2, &of);
        }
        let home = home(list.sessions.iter().map(|row| &*row.path));
        if let Some(home) = home.filter(|home| *home != list.of) {
            let all = list.sessions.iter().all(|row| row.path.rsplit_once('/').is_some_and(|(directory, _)| directory == home));
            self.path(2, &format!("{} {home}", if all { "in" } else { "most of them in" }));
        }
        self.bases = home.map(bases).unwrap_or_default();
        self.refusal(list.refused.as_ref());
        match (list.list, list.failures.is_empty()) {
            ("inventory", true) => self.words(2, &format!("complete: {}", count(list.sessions.len() as u64, "session", "sessions"))),
            ("inventory", false) => {
                let head = self.bad("✗ fails, and so authorises nothing");
                self.line(&format!("  {head}"));
            }
            _ => self.words(2, &count(list.sessions.len() as u64, "session", "sessions")),
        }
        let ages = list.sessions.iter().filter_map(|row| row.ago.as_deref()).map(str::width).max().unwrap_or(0);
        for session in &list.sessions {
            self.row(session, ages);
        }
        for failure in &list.failures {
            let kind = self.bad(&format!("✗ {}", pad(failure.kind, 11)));
            let room = self.width.saturating_sub(16);
            if failure.detail.width() <= room {
                self.line(&format!("  {kind} {}", plain(&failure.detail)));
            } else {
                self.line(&format!("  {kind}"));
                self.words(4, &failure.detail);
            }
            self.path(4, &failure.path);
        }
        if list.beyond_limit > 0 {
            self.words(2, &format!("{} beyond the limit, not shown (--limit N)", count(list.beyond_limit as u64, "file", "files")));
        }
        for one in &list.restores {
            self.words(2, "before it lists, gjc renames a backup whose transcript is gone:");
            self.path(4, &one.backup);
            self.words(4, "to");
            self.path(4, &one.primary);
        }
        if !quiet {
            self.left_out(&list.left_out);
        }
    }
    /// Why the managed scope gives nothing.
    fn refusal(&mut self, refused: Option<&Refusal>) {
        if let Some(refused) = refused {
            self.refused(refused.code, &refused.detail);
        }
    }
    fn left_out(&mut self, left_out: &[LeftOut]) {
        if left_out.is_empty() {
            return;
        }
        self.line("");
        let title = self.palette.strong(&format!("Left out ({})", grouped(left_out.len() as u64)));
        self.line(&title);
        for one in left_out.iter().take(NAMED) {
            self.path(2, &one.path);
            self.words(4, &one.why);
        }
        if left_out.len() > NAMED {
            self.words(2, &format!("and {} more (--format json names all)", grouped((left_out.len() - NAMED) as u64)));
        }
    }

    /// One session: when and what; id and facts; where.
    fn row(&mut self, row: &Row, ages: usize) {
        let mark = if row.starred { "★" } else { "·" };
        let time = match &row.ago {
            Some(ago) => pad(ago, ages),
            None => row.modified.clone().unwrap_or_else(|| "date unknown".to_owned()),
        };
        let room = self.width.saturating_sub(time.width() + 6);
        let name = row.name.as_deref().filter(|name| !name.trim().is_empty());
        let glimpse = |text: &str| clip(&plain(&text.split_whitespace().collect::<Vec<_>>().join(" ")), room);
        let name = match (name, row.first_message.as_deref()) {
            (Some(name), _) => self.palette.strong(&glimpse(name)),
            (None, Some(first)) => glimpse(first),
            (None, None) => String::new(),
        };
        self.line(&format!("  {mark} {time}  {name}"));
        let mut facts = vec![row.id.clone()];
        facts.extend(row.named_by.map(|by| match by {
            "title" => "named by its title".to_owned(),
            "prompt" => "named by its first prompt".to_owned(),
            _ => "no title and no prompt".to_owned(),
        }));
        facts.extend(row.messages.map(|messages| {
            let counted = count(messages, "message", "messages");
            if row.messages_is_estimate { format!("at least {counted}") } else { counted }
        }));
        facts.extend(row.size.map(|size| count(size, "byte", "bytes")));
        facts.extend(row.place.filter(|place| *place != "v2").map(str::to_owned));
        self.words(4, &facts.join(" · "));
        self.path(4, &row.path);
    }

    fn proceed(&mut self, answer: &Continue) {
        let last = answer.steps.last();
        match answer.action {
            "opens" => self.heading("✓", "`gjc --continue` opens this session", Palette::good),
            "fails" => {
                let code = last.map_or("", |step| step.code);
                self.heading("✗", &format!("`gjc --continue` stops with an error: {code}"), |palette, text| {
                    palette.severity(Severity::Error, text)
                });
            }
            _ => self.heading("◆", "`gjc --continue` finds nothing to go on with, and begins a new session", Palette::aside),
        }
        if let Some(step) = last.filter(|_| answer.action != "new") {
            self.path(2, &step.path);
            self.words(2, &step.detail);
            self.copy(2, step);
        }
        self.line("");
        let label = |text: &str| pad(text, 12);
        let terminal = answer.terminal.as_ref().map_or_else(
            || "this terminal has no name, so there is no breadcrumb".to_owned(),
            |terminal| format!("{} ({})", terminal.id, terminal.from),
        );
        self.field(&label("directory"), &answer.cwd);
        self.field(&label("terminal"), &terminal);
        self.crumb(&label("breadcrumb"), &answer.breadcrumb);
        if let Some(refused) = &answer.refused {
            self.field(&label("scope"), &format!("refused, so no session of it is asked: {}, {}", refused.code, refused.detail));
        }
        if answer.steps.is_empty() {
            self.field(&label("candidates"), "none");
            return;
        }
        self.line("");
        let title = self.palette.strong("Candidates, in the order of gjc");
        self.line(&title);
        self.bases = home(answer.steps.iter().map(|step| &*step.path)).map(bases).unwrap_or_default();
        for step in &answer.steps {
            self.step(step);
        }
    }
    /// A label and words behind it.
    fn field(&mut self, label: &str, text: &str) {
        let text = wrap(&plain(text), label.width() + 1, self.width);
        let label = self.palette.faint(label);
        self.line(&format!("{label} {text}"));
    }
    fn crumb(&mut self, label: &str, crumb: &CrumbState) {
        let text = match crumb.state {
            "no_terminal" => "none",
            "absent" => "there is none for this terminal",
            "ignored" => "is ignored",
            _ => "leads to a session",
        };
        let why = crumb.why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
        self.field(label, &format!("{text}{why}"));
        if let Some(file) = crumb.file.as_deref().filter(|_| crumb.state == "ignored") {
            self.path(label.width() + 1, file);
        }
    }
    fn step(&mut self, step: &Step) {
        let source = match step.source {
            "breadcrumb" => "named by the breadcrumb",
            "listed" => "listed",
            "most_recent" => "the most recent file of the directory",
            _ => "",
        };
        let (mark, fate) = match step.outcome {
            "opens" => (self.palette.good("✓"), "opens"),
            "fails" => (self.bad("✗"), "fails"),
            _ => (self.palette.faint("·"), "is passed over"),
        };
        let path = plain(self.short(&step.path)).into_owned();
        self.line(&format!("  {mark} {path}"));
        let reason = if step.outcome == "opens" { step.code.to_owned() } else { format!("{}, {}", step.code, step.detail) };
        self.words(4, &format!("{source}; {fate}: {reason}"));
    }
    /// The copy that is opened in place of a legacy session.
    fn copy(&mut self, indent: usize, step: &Step) {
        if let Some(copy) = &step.copy {
            self.words(indent, "a legacy session: it is copied first, and the copy is opened");
            self.path(indent, copy);
        }
    }

    fn resume(&mut self, answer: &Resume) {
        match answer.action {
            "opens" => {
                self.heading("✓", &format!("`gjc --resume {}` opens this session", plain(&shell_word(&answer.asked))), Palette::good)
            }
            "creates" => self.heading("◆", "nothing stands at this path: gjc begins a new session there", Palette::aside),
            "asks_to_fork" => {
                self.heading("◆", "this session is of another workspace: gjc asks whether to fork it into this one", Palette::aside);
            }
            "fails" => {
                let message = answer.message.clone().unwrap_or_default();
                self.heading("✗", &message, |palette, text| palette.severity(Severity::Error, text));
            }
            _ => {
                let message = answer.message.clone().unwrap_or_default();
                self.heading("✗", &plain(&message), |palette, text| palette.severity(Severity::Error, text));
                let looked = answer.looked_at.unwrap_or(0) as u64;
                self.words(
                    2,
                    &format!("{} looked at; none has an id or a file name that begins so.", count(looked, "session was", "sessions were")),
                );
                self.refusal(answer.refused.as_ref());
                self.left_out(&answer.left_out);
                return;
            }
        }
        match (answer.matches.first(), &answer.opening) {
            (Some(first), _) => {
                self.row(&first.session, 0);
                self.words(4, &format!("{}; found in the {} list", first.words, answer.reach.unwrap_or_default()));
            }
            (None, Some(step)) => self.path(2, &step.path),
            (None, None) => self.path(2, &answer.asked),
        }
        if let Some(cwd) = answer.matches.first().and_then(|first| first.session.cwd.as_deref()).filter(|_| answer.action == "asks_to_fork")
        {
            self.words(4, "its workspace:");
            self.path(4, cwd);
        }
        if let Some(step) = &answer.opening {
            let fate = if step.outcome == "opens" { "opens" } else { "does not open" };
            self.words(4, &format!("{fate}: {}, {}", step.code, step.detail));
            self.copy(4, step);
        }
        if let Some(seen) = answer.inspection.as_ref().filter(|seen| seen.bounded.is_some()) {
            let line = seen.bounded_line.map(|line| format!(" at line {}", grouped(line))).unwrap_or_default();
            self.words(4, &format!("above 128 MiB, so it is opened from its end: {}{line}", seen.bounded.unwrap_or_default()));
        }
        self.others(&answer.matches);
    }
    /// What matches too, and is not taken.
    fn others(&mut self, matches: &[MatchRow]) {
        if matches.len() < 2 {
            return;
        }
        self.line("");
        self.words(
            0,
            &format!("{} begin so; gjc asks nobody and takes the latest. The others:", count(matches.len() as u64, "session", "sessions")),
        );
        self.bases = home(matches.iter().map(|one| &*one.session.path)).map(bases).unwrap_or_default();
        for one in matches.iter().skip(1).take(NAMED) {
            self.row(&one.session, 0);
            self.words(4, one.words);
        }
        if matches.len() > NAMED + 1 {
            self.words(2, &format!("and {} more (--format json names all)", grouped((matches.len() - NAMED - 1) as u64)));
        }
    }
}
