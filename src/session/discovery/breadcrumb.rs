//! Breadcrumbs: the last session of a terminal, which `--continue` asks for first (spec 04 §3.4). A breadcrumb is a hint: one
//! that does not hold is ignored, and does no harm.

use super::worktree::are_linked;
use super::{equivalent, is_staged, is_within};
use crate::agent::locate::normalise;
use crate::agent::predict;
use crate::agent::world::World;
use crate::fsys::{Bound, Fs, Refusal, capture};
use crate::json::text::{trim, utf8_lossy};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Bytes of a breadcrumb that are read: two paths are shorter.
const CEILING: u64 = 1 << 20;

/// What tells one terminal from another, as the environment says it; a variable that is empty is not set.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Terminal {
    /// `TMUX` is set.
    pub in_tmux: bool,
    /// `TMUX_PANE`
    pub tmux_pane: Option<String>,
    /// Path of the terminal on standard input.
    pub tty: Option<PathBuf>,
    /// `KITTY_WINDOW_ID`
    pub kitty_window_id: Option<String>,
    /// `TERM_SESSION_ID`
    pub term_session_id: Option<String>,
    /// `WT_SESSION`
    pub wt_session: Option<String>,
}

impl Terminal {
    /// The name of its breadcrumb, and what it was taken from; none when this terminal has none.
    pub fn id(&self) -> Option<(String, &'static str)> {
        let pane = || self.tmux_pane.as_ref().map(|pane| (format!("tmux-{pane}"), "TMUX_PANE"));
        let tty = || {
            let path = self.tty.as_ref()?.to_str()?.strip_prefix("/dev/")?;
            Some((path.replace('/', "-"), "the terminal on standard input"))
        };
        let of = |value: &Option<String>, word: &str, from| value.as_ref().map(|value| (format!("{word}-{value}"), from));
        pane()
            .filter(|_| self.in_tmux)
            .or_else(tty)
            .or_else(|| of(&self.kitty_window_id, "kitty", "KITTY_WINDOW_ID"))
            .or_else(pane)
            .or_else(|| of(&self.term_session_id, "apple", "TERM_SESSION_ID"))
            .or_else(|| of(&self.wt_session, "wt", "WT_SESSION"))
    }
}

/// What a breadcrumb says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Breadcrumb {
    /// First line: the working directory.
    pub cwd: String,
    /// Second line: the transcript, which need not exist yet.
    pub file: String,
}

impl Breadcrumb {
    /// Reads the text: white space around the whole is taken away, further lines do not matter. None when there are not two
    /// lines.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let text = utf8_lossy(text);
        let mut lines = trim(&text).split(|byte| *byte == b'\n').map(|line| String::from_utf8_lossy(line).into_owned());
        Some(Breadcrumb { cwd: lines.next()?, file: lines.next()? })
    }
    /// Whether a line ends in CR, which gjc does not take away: then it names what does not exist.
    pub fn has_carriage_return(&self) -> bool {
        self.cwd.ends_with('\r') || self.file.ends_with('\r')
    }
    /// The transcript as a path.
    pub fn path(&self, world: &World<'_>) -> PathBuf {
        normalise(&world.current_dir.join(&self.file))
    }
    /// Whether it speaks of this working directory, or of another worktree of its repository.
    pub fn is_for(&self, world: &World<'_>, cwd: &Path) -> bool {
        let absolute = |path: &Path| normalise(&world.current_dir.join(path));
        absolute(Path::new(&self.cwd)) == absolute(cwd) || are_linked(world, Path::new(&self.cwd), cwd)
    }
}

/// What stands at the place of a breadcrumb.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    /// Nothing: the terminal has no last session.
    Absent,
    /// Something that cannot be read.
    Unreadable(String),
    /// A file that is no breadcrumb.
    Malformed,
    /// A breadcrumb.
    Breadcrumb(Breadcrumb),
}

/// Reads the breadcrumb of a terminal. A link is followed.
pub fn read(fs: &dyn Fs, file: &Path) -> Found {
    let captured = match fs.realpath(file).map_err(Refusal::Failed).and_then(|real| capture(fs, &real, Bound::Prefix(CEILING))) {
        Ok(captured) => captured,
        Err(refusal) if refusal.is_absent() => return Found::Absent,
        Err(refusal) => return Found::Unreadable(refusal.to_string()),
    };
    Breadcrumb::parse(&captured.bytes).map_or(Found::Malformed, Found::Breadcrumb)
}

/// Header of a transcript that strict inspection accepts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// Its id.
    pub id: String,
    /// Its cwd, patched.
    pub cwd: String,
}

/// What strict inspection answers of the transcript that a breadcrumb names: its header, or gjc's reason.
pub type Strict = Result<Header, &'static str>;

/// The owned candidates of a workspace, by what a breadcrumb asks of them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Owned {
    paths: BTreeSet<PathBuf>,
    /// The first of each session id.
    by_id: BTreeMap<String, PathBuf>,
    /// The first of each file name, and how many have it.
    by_name: BTreeMap<OsString, (PathBuf, usize)>,
}

impl Owned {
    /// Adds a candidate behind the others.
    pub fn add(&mut self, path: PathBuf, id: &str) {
        self.by_id.entry(id.to_owned()).or_insert_with(|| path.clone());
        let name = path.file_name().unwrap_or_default().to_owned();
        self.by_name.entry(name).and_modify(|(_, count)| *count += 1).or_insert_with(|| (path.clone(), 1));
        self.paths.insert(path);
    }
    /// The owned candidates of a workspace, in the order of its listing; none when its scope does not resolve or does not
    /// list completely.
    pub fn of_workspace(world: &World<'_>, cwd: &Path) -> Option<Rc<Self>> {
        let scope = predict::resolve(world, cwd).ok()?;
        let listing = predict::list(world, &scope).ok()?;
        let mut owned = Owned::default();
        for candidate in listing.owned.iter().map(|listed| &listed.candidate).filter(|candidate| !is_staged(&candidate.path)) {
            owned.add(candidate.path.clone(), &candidate.session_id.to_string());
        }
        Some(Rc::new(owned))
    }
}

/// How a breadcrumb leads to a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    /// The file is an owned candidate of its workspace.
    Exact,
    /// The file is gone, and exactly one owned candidate has its name: it was migrated.
    SameName,
    /// An owned candidate has the same session id.
    SameId,
    /// It lies outside the sessions root, in an explicit directory.
    Explicit,
}

impl How {
    /// For people.
    pub const fn words(self) -> &'static str {
        match self {
            How::Exact => "it names this session",
            How::SameName => "the file that it names is gone, and this one has its name",
            How::SameId => "the file that it names is not listed, and this one has its session id",
            How::Explicit => "it names this file outside the sessions root",
        }
    }
}

/// Why a breadcrumb is ignored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ignored {
    /// It names a staged transcript.
    Staged,
    /// Strict inspection refuses the file: gjc's reason.
    Refused(&'static str),
    /// The file is gone, and not exactly one owned candidate has its name.
    Gone {
        /// How many have it.
        alike: usize,
    },
    /// The header names another workspace.
    OtherWorkspace(String),
    /// The scope of the workspace does not resolve or list.
    NoScope,
    /// The file lies in the sessions root, and no listing owns it.
    NotOwned,
}

impl Ignored {
    /// For people.
    pub fn words(&self) -> String {
        match self {
            Ignored::Staged => "it names a staged transcript".to_owned(),
            Ignored::Refused(reason) => format!("the session that it names is refused: {reason}"),
            Ignored::Gone { alike: 0 } => {
                "the session that it names does not exist, and none of its workspace has that file name".to_owned()
            }
            Ignored::Gone { alike } => {
                format!("the session that it names does not exist, and {alike} of its workspace have that file name")
            }
            Ignored::OtherWorkspace(cwd) => format!("the session that it names belongs to another workspace: {cwd}"),
            Ignored::NoScope => "the sessions of its workspace cannot be listed".to_owned(),
            Ignored::NotOwned => "the session that it names lies in the sessions root, and no listing of its workspace shows it".to_owned(),
        }
    }
}

/// Where a breadcrumb leads that speaks of the right working directory. `strict` inspects its file, `owned` lists a workspace.
///
/// # Errors
/// Why it is ignored.
pub fn follow(
    world: &World<'_>,
    crumb: &Breadcrumb,
    strict: impl FnOnce(&Path) -> Strict,
    owned: impl FnOnce(&Path) -> Option<Rc<Owned>>,
) -> Result<(PathBuf, How), Ignored> {
    let file = crumb.path(world);
    if is_staged(&file) {
        return Err(Ignored::Staged);
    }
    let header = match strict(&file) {
        Ok(header) => header,
        Err("missing") => {
            let candidates = owned(Path::new(&crumb.cwd)).unwrap_or_default();
            return match file.file_name().and_then(|name| candidates.by_name.get(name)) {
                Some((only, 1)) => Ok((only.clone(), How::SameName)),
                alike => Err(Ignored::Gone { alike: alike.map_or(0, |(_, count)| *count) }),
            };
        }
        Err(reason) => return Err(Ignored::Refused(reason)),
    };
    if equivalent(world, Path::new(&header.cwd)) != equivalent(world, Path::new(&crumb.cwd)) {
        return Err(Ignored::OtherWorkspace(header.cwd));
    }
    let candidates = owned(Path::new(&header.cwd)).ok_or(Ignored::NoScope)?;
    if candidates.paths.contains(&file) {
        return Ok((file, How::Exact));
    }
    if let Some(same) = candidates.by_id.get(&header.id) {
        return Ok((same.clone(), How::SameId));
    }
    if is_within(world, &world.sessions_root, &file) { Err(Ignored::NotOwned) } else { Ok((file, How::Explicit)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Release;
    use crate::fsys::Memory;
    use crate::fsys::host::Nowhere;

    fn set(text: &str) -> Option<String> {
        Some(text.to_owned())
    }
    fn id(terminal: &Terminal) -> Option<String> {
        terminal.id().map(|(id, _)| id)
    }

    #[test]
    fn the_first_sign_of_a_terminal_names_its_breadcrumb() {
        let mut terminal = Terminal {
            in_tmux: true,
            tmux_pane: set("%3"),
            tty: Some("/dev/pts/3".into()),
            kitty_window_id: set("7"),
            term_session_id: set("A-B"),
            wt_session: set("w"),
        };
        assert_eq!(id(&terminal), set("tmux-%3"));
        terminal.in_tmux = false;
        assert_eq!(id(&terminal), set("pts-3"));
        terminal.tty = Some("/elsewhere".into());
        assert_eq!(id(&terminal), set("kitty-7"));
        terminal.kitty_window_id = None;
        assert_eq!(id(&terminal), set("tmux-%3"));
        terminal.tmux_pane = None;
        assert_eq!(id(&terminal), set("apple-A-B"));
        terminal.term_session_id = None;
        assert_eq!(id(&terminal), set("wt-w"));
        assert_eq!(id(&Terminal::default()), None);
    }

    #[test]
    fn two_lines_make_a_breadcrumb_and_an_inner_carriage_return_stays() {
        let parse = |text: &str| {
            Breadcrumb::parse(text.as_bytes()).map(|crumb| (crumb.cwd.clone(), crumb.file.clone(), crumb.has_carriage_return()))
        };
        assert_eq!(parse("/w\n/s.jsonl\n"), Some(("/w".into(), "/s.jsonl".into(), false)));
        assert_eq!(parse("\n /w\n/s.jsonl\nfresh\n"), Some(("/w".into(), "/s.jsonl".into(), false)));
        assert_eq!(parse("/w\r\n/s.jsonl\r\n"), Some(("/w\r".into(), "/s.jsonl".into(), true)));
        for text in ["", "/w", "/w\n", "\n\n/w\n \n"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn what_stands_at_its_place() {
        let fs = Memory::new();
        fs.file("/t/a", b"/w\n/s.jsonl\n");
        fs.file("/t/b", b"/w");
        fs.directory("/t/c");
        fs.symlink("/t/d", "a");
        assert!(matches!(read(&fs, Path::new("/t/a")), Found::Breadcrumb(_)));
        assert!(matches!(read(&fs, Path::new("/t/d")), Found::Breadcrumb(_)));
        assert_eq!(read(&fs, Path::new("/t/b")), Found::Malformed);
        assert_eq!(read(&fs, Path::new("/t/e")), Found::Absent);
        assert!(matches!(read(&fs, Path::new("/t/c")), Found::Unreadable(_)));
    }

    fn followed(file: &str, strict: Strict, owned: Option<&[(&str, &str)]>) -> Result<(String, How), Ignored> {
        let fs = Memory::new();
        fs.directory("/w");
        let world = World::of_agent(&fs, &Nowhere, Release::default(), 1000, "/a");
        let crumb = Breadcrumb { cwd: "/w".into(), file: file.into() };
        let owned = owned.map(|all| {
            let mut owned = Owned::default();
            all.iter().for_each(|(path, id)| owned.add(path.into(), id));
            Rc::new(owned)
        });
        follow(&world, &crumb, |_| strict, |_| owned).map(|(path, how)| (path.display().to_string(), how))
    }
    fn header() -> Strict {
        Ok(Header { id: "s".into(), cwd: "/w/.".into() })
    }

    #[test]
    fn it_leads_to_the_listed_file_or_to_one_that_stands_for_it() {
        let exact = "/a/sessions/v2/x_s.jsonl";
        assert_eq!(followed(exact, header(), Some(&[("/b", "s"), (exact, "s")])), Ok((exact.into(), How::Exact)));
        assert_eq!(followed("/a/sessions/-old/y.jsonl", header(), Some(&[(exact, "s")])), Ok((exact.into(), How::SameId)));
        assert_eq!(followed("/a/sessions/-old/x_s.jsonl", Err("missing"), Some(&[(exact, "t")])), Ok((exact.into(), How::SameName)));
        assert_eq!(followed("/mine/y.jsonl", header(), Some(&[])), Ok(("/mine/y.jsonl".into(), How::Explicit)));
    }
    #[test]
    fn every_way_to_be_ignored() {
        let twins = [("/1/x.jsonl", "a"), ("/2/x.jsonl", "b")];
        assert_eq!(followed("/s/.staging/x.jsonl", header(), None), Err(Ignored::Staged));
        assert_eq!(followed("/x.jsonl", Err("malformed"), Some(&twins)), Err(Ignored::Refused("malformed")));
        assert_eq!(followed("/x.jsonl", Err("missing"), Some(&twins)), Err(Ignored::Gone { alike: 2 }));
        assert_eq!(followed("/y.jsonl", Err("missing"), Some(&twins)), Err(Ignored::Gone { alike: 0 }));
        assert_eq!(followed("/y.jsonl", Err("missing"), None), Err(Ignored::Gone { alike: 0 }));
        let other = Ok(Header { id: "s".into(), cwd: "/v".into() });
        assert_eq!(followed("/x.jsonl", other, Some(&[])), Err(Ignored::OtherWorkspace("/v".into())));
        assert_eq!(followed("/x.jsonl", header(), None), Err(Ignored::NoScope));
        assert_eq!(followed("/a/sessions/v2/x.jsonl", header(), Some(&[])), Err(Ignored::NotOwned));
    }
    #[test]
    fn it_speaks_of_its_directory_and_of_worktrees_of_one_repository() {
        let fs = Memory::new();
        fs.directory("/main/.git/worktrees/a");
        fs.file("/main/.git/worktrees/a/commondir", b"../..");
        fs.file("/wt/.git", b"gitdir: /main/.git/worktrees/a");
        let world = World::of_agent(&fs, &Nowhere, Release::default(), 1000, "/a");
        let crumb = Breadcrumb { cwd: "/wt/../wt".into(), file: "/x.jsonl".into() };
        assert!(crumb.is_for(&world, Path::new("/wt")));
        assert!(crumb.is_for(&world, Path::new("/main")));
        assert!(!crumb.is_for(&world, Path::new("/other")));
    }
}
