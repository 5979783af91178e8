//! The answer to `list`: one block a workspace, one paragraph a session, and the reason for everything that is left out.

use super::entry::clip;
use super::human::Layout;
use super::paper::Paper;
use super::style::{plain, wrap};
use super::words;
use crate::agent::catalogue::{Catalogue, DoesNotOpen, Elsewhere, Foreign, LEGACY, Refused, Session, Workspace};
use indexmap::IndexMap;
use std::fmt::Write;
use std::path::Path;
use unicode_width::UnicodeWidthStr;

/// The listing for people. `options`: what further commands need to look at the same agent directory, each option with a space
/// before it.
pub fn text(catalogue: &Catalogue, options: &str, layout: Layout) -> String {
    let mut page = Paper::new(layout);
    for (at, workspace) in catalogue.workspaces.iter().enumerate() {
        if at > 0 {
            page.line("");
        }
        page.workspace(workspace);
    }
    if !catalogue.invalid.is_empty() {
        if !catalogue.workspaces.is_empty() {
            page.line("");
        }
        let title = page.palette.strong("Of no workspace that exists here");
        page.line(&title);
        page.bases = Default::default();
        page.invalid(&catalogue.invalid);
    }
    if catalogue.workspaces.is_empty() && catalogue.invalid.is_empty() {
        page.line(if catalogue.searched { "no session is found" } else { "no session is kept here" });
    }
    page.elsewhere(&catalogue.elsewhere);
    if !layout.quiet {
        page.hints(catalogue, options);
    }
    page.out
}

/// One line a session: path, state, in brackets the answer that counts, id, last change, messages, title. What is left out
/// has its reason in the place of the state.
pub fn concise(catalogue: &Catalogue) -> String {
    let mut out = String::new();
    // Writing into a String cannot fail.
    let mut line = |path: &str, state: &str, answer: &str, rest: &[&str]| {
        let rest: Vec<&str> = rest.iter().copied().filter(|word| !word.is_empty()).collect();
        let _ = writeln!(out, "{}: {state}[{}] {}", plain(path), plain(answer), plain(&rest.join(" ")));
    };
    for workspace in &catalogue.workspaces {
        if let Some(refused) = &workspace.refused {
            line(&workspace.workspace, "refused", refused.code, &[&refused.detail]);
        }
        for session in &workspace.sessions {
            let answer = workspace.refused.as_ref().map_or(&*session.answer, |refused| refused.code);
            let time = session.modified.as_deref().unwrap_or("-");
            line(
                &session.path,
                session.state,
                answer,
                &[&session.id, time, &messages(session), session.title.as_deref().unwrap_or_default()],
            );
        }
        for hidden in &workspace.hidden {
            line(&hidden.path, "hidden", hidden.reason, &[&hidden.id, hidden.modified.as_deref().unwrap_or("-"), "by", &hidden.by]);
        }
        for invalid in &workspace.invalid {
            line(&invalid.path, "invalid", invalid.code, &[&invalid.detail]);
        }
        for foreign in &workspace.foreign {
            line(&foreign.path, "foreign", "", &["belongs to", &foreign.workspace]);
        }
    }
    for invalid in &catalogue.invalid {
        line(&invalid.path, "invalid", invalid.code, &[&invalid.detail]);
    }
    out
}

/// `9 messages`, `at least 9 messages` where the picker counted in the beginning of the file only.
fn messages(session: &Session) -> String {
    match (session.messages, session.messages_is_estimate) {
        (None, _) => "not in the picker".to_owned(),
        (Some(messages), is_estimate) => {
            let counted = words::count(messages, "message", "messages");
            if is_estimate { format!("at least {counted}") } else { counted }
        }
    }
}

fn count(number: usize, one: &str, many: &str) -> String {
    words::count(number as u64, one, many)
}

/// Whether a directory of the sessions root has the name of a scope.
fn in_scope(directory: &std::ffi::OsStr) -> bool {
    directory.as_encoded_bytes().starts_with(b"v2-")
}

/// The page of `list`.
impl Paper {
    /// A path on a line of its own, whole: it is copied from here.
    fn whole(&mut self, indent: usize, path: &str) {
        let path = self.palette.faint(&plain(self.short(path)));
        self.line(&format!("{:indent$}{path}", ""));
    }

    /// What a path is, and the path: behind the words where it fits, else below them.
    fn named(&mut self, indent: usize, what: &str, path: &str) {
        let text = format!("{what}: {}", plain(self.short(path)));
        if indent + text.width() <= self.width {
            self.line(&format!("{:indent$}{text}", ""));
        } else {
            self.words(indent, &format!("{what}:"));
            self.whole(indent, path);
        }
    }

    fn workspace(&mut self, workspace: &Workspace) {
        // A path without identity has no scope.
        let root = Path::new(&workspace.scope).parent().map(|root| format!("{}/", root.display()));
        self.bases = root.map(|root| [format!("{}/", workspace.scope), root]).unwrap_or_default();
        let title = self.palette.strong(&plain(&workspace.workspace));
        self.line(&title);
        if !workspace.scope.is_empty() {
            let scope = self.palette.faint(&plain(&workspace.scope));
            self.line(&format!("  {scope}"));
        }
        if let Some(refused) = &workspace.refused {
            self.refused(refused.code, &refused.detail);
            if refused.path != workspace.scope && refused.path != workspace.workspace {
                self.whole(4, &refused.path);
            }
        }
        self.summary(workspace);
        for session in &workspace.sessions {
            self.session(session, workspace.refused.is_some());
        }
        for hidden in &workspace.hidden {
            let (reason, by) = match hidden.reason {
                "retired" => ("deleted with gjc, though the file is still there", "deleted by"),
                _ => ("not shown: its migrated copy stands for it", "shown instead"),
            };
            let time = hidden.modified.as_deref().unwrap_or("date unknown");
            let mark = self.palette.faint("·");
            self.line(&format!("  {mark} {time}  {}", plain(&hidden.id)));
            self.words(4, &format!("{}: {reason}", hidden.reason));
            self.whole(4, &hidden.path);
            self.named(4, by, &hidden.by);
        }
        self.invalid(&workspace.invalid);
        self.foreign(&workspace.foreign);
        if workspace.beyond_limit > 0 {
            let directories = count(workspace.beyond_limit, "legacy directory", "legacy directories");
            self.words(2, &format!("{directories} beyond the limit of 256, not visited"));
        }
    }

    /// Legacy directories hold the sessions of many workspaces: that is as it should be, and only counted. In a scope such a
    /// file is lost to every listing.
    fn foreign(&mut self, foreign: &[Foreign]) {
        let is_lost = |one: &&Foreign| Path::new(&one.path).parent().and_then(Path::file_name).is_some_and(in_scope);
        for one in foreign.iter().filter(is_lost) {
            let mark = self.palette.faint("·");
            let text = wrap("foreign: lies in the scope of another workspace, so no listing shows it", 4, self.width);
            self.line(&format!("  {mark} {text}"));
            self.whole(4, &one.path);
            self.words(4, &format!("belongs to {}", one.workspace));
        }
        let others = foreign.len() - foreign.iter().filter(is_lost).count();
        if others > 0 {
            let files = count(others, "session", "sessions");
            self.words(2, &format!("{files} of other workspaces in legacy directories (`--all` lists them)"));
        }
    }

    /// How many sessions there are, and how many of them are of no use.
    fn summary(&mut self, workspace: &Workspace) {
        let sessions = workspace.sessions.len();
        let refusing = workspace.sessions.iter().filter(|session| session.does_not_open.is_some()).count();
        let text = match (sessions, refusing, &workspace.refused) {
            (0, _, _) => "no session is listed".to_owned(),
            (_, _, Some(_)) => format!("{}, out of reach until that is mended", count(sessions, "session", "sessions")),
            (_, 0, None) => format!("{} listed", count(sessions, "session", "sessions")),
            (1, _, None) => "1 session listed, and it does not open".to_owned(),
            (_, refusing, None) => {
                let fate = if refusing == 1 { "does not open" } else { "do not open" };
                format!("{} listed, {refusing} of them {fate}", count(sessions, "session", "sessions"))
            }
        };
        self.words(2, &text);
    }

    fn session(&mut self, session: &Session, out_of_reach: bool) {
        let mark = if session.does_not_open.is_some() || out_of_reach { self.bad("✗") } else { self.palette.good("✓") };
        let time = session.modified.as_deref().unwrap_or("date unknown");
        // Without a title the first prompt tells which session this is; the picker does so too.
        let room = self.width.saturating_sub(time.len() + 6);
        let glimpse = |text: &str| clip(&plain(&text.split_whitespace().collect::<Vec<_>>().join(" ")), room);
        let title = match (session.title.as_deref(), session.first_message.as_deref()) {
            (Some(title), _) => self.palette.strong(&glimpse(title)),
            (None, Some(first)) => glimpse(first),
            (None, None) => self.palette.faint("no title"),
        };
        self.line(&format!("  {mark} {time}  {title}"));
        let mut facts = vec![session.id.clone(), messages(session)];
        facts.extend(session.begun.as_ref().map(|begun| format!("begun {begun}")));
        facts.extend((session.provenance == LEGACY || session.state != "native_v2").then(|| session.state.to_owned()));
        self.words(4, &facts.join(" · "));
        if let Some(DoesNotOpen { line, detail, .. }) = &session.does_not_open {
            let line = line.map_or_else(String::new, |line| format!("line {line}: "));
            let text = format!("does not open: {}, {line}{detail}", session.answer);
            let text = wrap(&plain(&text), 4, self.width).lines().map(|line| self.bad(line)).collect::<Vec<_>>().join("\n");
            self.line(&format!("    {text}"));
        }
        if let Some(other) = &session.shown_instead {
            self.named(4, "not in the picker, which shows a later file with the same id", other);
        }
        self.whole(4, &session.path);
    }

    /// Where the sessions are that somebody looks for here.
    fn elsewhere(&mut self, elsewhere: &[Elsewhere]) {
        const NAMED: usize = 20;
        if elsewhere.is_empty() {
            return;
        }
        self.line("\nSessions are kept for");
        for one in elsewhere.iter().take(NAMED) {
            let fate = if one.exists { "" } else { ", but this directory does not exist" };
            self.line(&format!("  {}", plain(&one.workspace)));
            self.words(4, &format!("{}{fate}", count(one.sessions, "session", "sessions")));
        }
        if elsewhere.len() > NAMED {
            self.line(&format!("  and {}", count(elsewhere.len() - NAMED, "other workspace", "other workspaces")));
        }
    }

    /// Files that do not count, those with one reason together.
    fn invalid(&mut self, invalid: &[Refused]) {
        let mut reasons: IndexMap<(&str, &str), Vec<&Refused>> = IndexMap::new();
        for one in invalid {
            reasons.entry((one.code, &one.detail)).or_default().push(one);
        }
        for ((code, detail), files) in reasons {
            let head = self.bad(&format!("✗ {code}"));
            self.line(&format!("  {head}  {}", count(files.len(), "file", "files")));
            self.words(4, detail);
            for file in files {
                let time = file.modified.as_deref().unwrap_or("date unknown");
                let path = self.palette.faint(&plain(self.short(&file.path)));
                self.line(&format!("    {time}  {path}"));
            }
        }
    }

    /// What to ask next.
    fn hints(&mut self, catalogue: &Catalogue, options: &str) {
        if !catalogue.elsewhere.is_empty() {
            let text = format!(
                "A session belongs to the path of its workspace: once that is moved or renamed, gjc does not find it under the new path. \
                 `gjc-fsck list{options} --all` shows every session, `gjc-fsck why{options} ID` says what to do about one."
            );
            self.next(&text);
            return;
        }
        let all = || catalogue.workspaces.iter();
        let left_out = !catalogue.invalid.is_empty()
            || all().any(|one| {
                one.refused.is_some()
                    || !one.invalid.is_empty()
                    || !one.hidden.is_empty()
                    || one.sessions.iter().any(|session| session.does_not_open.is_some())
            });
        if !left_out {
            return;
        }
        self.line("");
        if catalogue.workspaces.is_empty() && catalogue.invalid.iter().all(|one| one.code == "cwd_not_found") {
            let text = "None of the workspaces exists here. Is this a copy from another machine? `--assume-root PATH` judges it as if it lay at PATH.";
            self.arrow(text);
        }
        let text =
            format!("`gjc-fsck why{options} ID` (or the path of a file) follows gjc's decisions about one session, and says what to do.");
        self.arrow(&text);
    }
}
