//! Where the agent directory of a user is (spec 02 §1.1): home, configuration directory, overrides, XDG.
//!
//! The environment comes in as values. What a project's `.env` files declare is distrusted, so that a project cannot
//! redirect the agent directory.

use super::layout::{BLOBS, HISTORY, SESSIONS, SessionsName, TERMINAL_SESSIONS, sessions_name};
use crate::fsys::{Bound, Fs, capture};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

/// The world that the location depends on.
#[derive(Clone, Debug)]
pub struct World<'a> {
    /// The environment variables.
    pub variables: &'a BTreeMap<OsString, OsString>,
    /// The current directory: base of relative values, and where the project's `.env` files lie.
    pub current_dir: &'a Path,
    /// The user's home as the account database says.
    pub account_home: Option<PathBuf>,
    /// Whether XDG variables count: Linux and macOS only.
    pub xdg: bool,
}

/// Where the storage of one profile is. Under XDG it has three roots.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// Home of the user; none when an agent directory was named outright.
    pub home: Option<PathBuf>,
    /// The agent directory.
    pub agent_dir: PathBuf,
    /// Root of `sessions/`, `blobs/`, `history.db`.
    pub data: PathBuf,
    /// Root of `terminal-sessions/`.
    pub state: PathBuf,
    /// Root of the disposable caches.
    pub cache: PathBuf,
}

impl Location {
    /// An agent directory named outright: XDG never moves it.
    pub fn explicit(agent_dir: PathBuf) -> Self {
        Location { home: None, data: agent_dir.clone(), state: agent_dir.clone(), cache: agent_dir.clone(), agent_dir }
    }
    /// The sessions root.
    pub fn sessions(&self) -> PathBuf {
        self.data.join(SESSIONS)
    }
    /// The blob store.
    pub fn blobs(&self) -> PathBuf {
        self.data.join(BLOBS)
    }
    /// The prompt history.
    pub fn history(&self) -> PathBuf {
        self.data.join(HISTORY)
    }
    /// The breadcrumbs of terminals.
    pub fn terminal_sessions(&self) -> PathBuf {
        self.state.join(TERMINAL_SESSIONS)
    }
}

/// What a path of session storage is, by its names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// An agent directory, or the `sessions` directory of one.
    Agent(PathBuf),
    /// A scope or legacy directory, as it lies in an agent directory.
    Directory {
        /// The agent directory.
        agent: PathBuf,
        /// The scope or legacy directory, without links.
        directory: PathBuf,
    },
}

/// The part of session storage that this directory is; none when its names say of no storage.
pub fn part_of(fs: &dyn Fs, directory: &Path) -> Option<Part> {
    let real = fs.realpath(directory).ok()?;
    let named = |path: &Path, name: &str| path.file_name().is_some_and(|own| own == name);
    if let Some(root) = real.parent().filter(|root| named(root, SESSIONS))
        && let SessionsName::Scope | SessionsName::Legacy = sessions_name(real.file_name()?.as_encoded_bytes())
    {
        let agent = root.parent()?.to_owned();
        return Some(Part::Directory { agent, directory: real });
    }
    if named(&real, SESSIONS) {
        return real.parent().map(|agent| Part::Agent(agent.to_owned()));
    }
    fs.present(&real.join(SESSIONS)).unwrap_or(false).then_some(Part::Agent(real))
}

/// No home can be trusted: gjc's accessors throw ("user state unavailable").
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no home directory can be trusted; name the agent directory, or set HOME to an absolute path")]
pub struct NoHome;

/// Finds the user's storage.
///
/// # Errors
/// [`NoHome`]. An agent directory that is named outright by the environment needs no home for itself, but gjc asks for
/// one all the same.
pub fn locate(fs: &dyn Fs, world: &World<'_>) -> Result<Location, NoHome> {
    let trusted = Trusted::new(fs, world);
    let home = trusted
        .get(if cfg!(windows) { "USERPROFILE" } else { "HOME" })
        .map(PathBuf::from)
        .filter(|home| is_home(home))
        .or_else(|| world.account_home.clone().filter(|home| is_home(home)))
        .ok_or(NoHome)?;
    let config_dir = trusted.first(["GJC_CONFIG_DIR", "PI_CONFIG_DIR"]).and_then(config_dir_name);
    let config_root = beneath(&home, config_dir.as_deref().unwrap_or(Path::new(".gjc")));
    let default = config_root.join("agent");
    let agent_dir = match trusted.first(["GJC_CODING_AGENT_DIR", "PI_CODING_AGENT_DIR"]) {
        Some(named) => normalise(&world.current_dir.join(named)),
        None => default.clone(),
    };
    let class = |variable: &str| {
        let moved = || {
            let root = world.current_dir.join(trusted.get(variable)?).join("gjc");
            fs.stat(&root).is_ok().then_some(root)
        };
        let follows = world.xdg && agent_dir == default;
        follows.then(moved).flatten().unwrap_or_else(|| agent_dir.clone())
    };
    Ok(Location {
        data: class("XDG_DATA_HOME"),
        state: class("XDG_STATE_HOME"),
        cache: class("XDG_CACHE_HOME"),
        home: Some(home),
        agent_dir,
    })
}

/// Absolute, and not the root of a file system.
fn is_home(home: &Path) -> bool {
    home.is_absolute() && normalise(home).parent().is_some()
}

/// A configuration directory name, trimmed; none when it is empty or leaves the home directory.
fn config_dir_name(value: &OsStr) -> Option<PathBuf> {
    let trimmed = match value.to_str() {
        Some(text) => PathBuf::from(text.trim()),
        None => PathBuf::from(value),
    };
    let climbs = normalise(&trimmed).components().any(|c| c == Component::ParentDir);
    (!trimmed.as_os_str().is_empty() && !climbs).then_some(trimmed)
}

/// Joins beneath a directory even when the tail begins with `/`.
fn beneath(root: &Path, tail: &Path) -> PathBuf {
    let mut joined = root.to_owned();
    joined.extend(normalise(tail).components().filter(|c| matches!(c, Component::Normal(_))));
    joined
}

/// Removes `.` and resolves `..` in the text of a path, without asking the file system. A `..` that leads above the
/// beginning of a relative path stays.
pub fn normalise(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => match out.components().next_back() {
                Some(Component::Normal(_)) => {
                    out.pop();
                }
                Some(Component::RootDir | Component::Prefix(_)) => {}
                _ => out.push(".."),
            },
            other => out.push(other),
        }
    }
    out
}

/// The environment without what the project's `.env` files may have put there.
struct Trusted<'a> {
    variables: &'a BTreeMap<OsString, OsString>,
    declared: Vec<(String, String)>,
}

impl<'a> Trusted<'a> {
    fn new(fs: &dyn Fs, world: &World<'a>) -> Self {
        let mut names: BTreeSet<String> = [".env".to_owned(), ".env.local".to_owned()].into();
        if let Some(node_env) =
            world.variables.get(OsStr::new("NODE_ENV")).and_then(|v| v.to_str()).filter(|v| !v.is_empty() && !v.contains('/'))
        {
            names.insert(format!(".env.{node_env}"));
            names.insert(format!(".env.{node_env}.local"));
        }
        let declared = names.iter().flat_map(|name| declarations(fs, &world.current_dir.join(name))).collect();
        Trusted { variables: world.variables, declared }
    }
    /// The value of a variable that is set, not empty, and not the project's.
    fn get(&self, name: &str) -> Option<&'a OsStr> {
        let value = self.variables.get(OsStr::new(name)).filter(|value| !value.is_empty())?;
        // A declared value with `$` or a backtick may expand to anything, so it may be this value.
        let projects = |text: &str| OsStr::new(text) == value || text.contains(['$', '`']);
        let distrusted = self.declared.iter().any(|(key, text)| key == name && projects(text));
        (!distrusted).then_some(value.as_os_str())
    }
    fn first<const N: usize>(&self, names: [&str; N]) -> Option<&'a OsStr> {
        names.into_iter().find_map(|name| self.get(name))
    }
}

/// `KEY=value` lines of a dotenv file; an absent or unreadable file declares nothing.
fn declarations(fs: &dyn Fs, path: &Path) -> Vec<(String, String)> {
    const CEILING: u64 = 1 << 20;
    // A project may keep its `.env` elsewhere and link to it; gjc follows.
    let Ok(real) = fs.realpath(path) else { return Vec::new() };
    let Ok(captured) = capture(fs, &real, Bound::Prefix(CEILING)) else { return Vec::new() };
    String::from_utf8_lossy(&captured.bytes).lines().filter_map(declaration).collect()
}

fn declaration(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (key, value) = line.split_once('=')?;
    let key = key.trim();
    if key.is_empty() || !key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-')) {
        return None;
    }
    let value = value.trim();
    let quoted = ['"', '\''].into_iter().find_map(|quote| {
        let rest = value.strip_prefix(quote)?;
        rest.find(quote).and_then(|end| rest.get(..end))
    });
    let value = quoted.unwrap_or_else(|| value.split(" #").next().unwrap_or_default().trim_end());
    Some((key.to_owned(), value.to_owned()))
}

/// Home of a user as `/etc/passwd` says.
pub fn account_home(fs: &dyn Fs, uid: u32) -> Option<PathBuf> {
    const CEILING: u64 = 16 << 20;
    let path = fs.realpath(Path::new("/etc/passwd")).ok()?;
    let captured = capture(fs, &path, Bound::Prefix(CEILING)).ok()?;
    String::from_utf8_lossy(&captured.bytes).lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let [_, _, id, _, _, home, ..] = fields.as_slice() else { return None };
        (id.parse() == Ok(uid) && !home.is_empty()).then(|| PathBuf::from(home))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsys::Memory;

    fn world<T>(variables: &[(&str, &str)], use_it: impl FnOnce(&World<'_>) -> T) -> T {
        let variables = variables.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        let account_home = Some(PathBuf::from("/account"));
        use_it(&World { variables: &variables, current_dir: Path::new("/project"), account_home, xdg: true })
    }

    fn agent_dir(fs: &Memory, variables: &[(&str, &str)]) -> String {
        world(variables, |world| locate(fs, world).unwrap().agent_dir.display().to_string())
    }

    #[test]
    fn the_default_lies_below_home() {
        assert_eq!(agent_dir(&Memory::new(), &[("HOME", "/home/ana")]), "/home/ana/.gjc/agent");
    }

    #[test]
    fn a_home_that_is_relative_or_a_root_gives_way_to_the_account() {
        let fs = Memory::new();
        for home in ["", "ana", "/", "/x/.."] {
            assert_eq!(agent_dir(&fs, &[("HOME", home)]), "/account/.gjc/agent", "{home}");
        }
        let none = world(&[("HOME", "/")], |world| locate(&fs, &World { account_home: None, ..world.clone() }));
        assert_eq!(none, Err(NoHome));
    }

    #[test]
    fn the_configuration_directory_is_a_name_below_home() {
        let fs = Memory::new();
        let with = |name: &str, value: &str| agent_dir(&fs, &[("HOME", "/h"), (name, value)]);
        assert_eq!(with("GJC_CONFIG_DIR", " .mine "), "/h/.mine/agent");
        assert_eq!(with("GJC_CONFIG_DIR", "/etc/mine"), "/h/etc/mine/agent");
        assert_eq!(with("PI_CONFIG_DIR", ".pi"), "/h/.pi/agent");
        assert_eq!(with("GJC_CONFIG_DIR", "../up"), "/h/.gjc/agent");
        assert_eq!(with("GJC_CONFIG_DIR", "a/../b"), "/h/b/agent");
        assert_eq!(with("GJC_CONFIG_DIR", "  "), "/h/.gjc/agent");
    }

    #[test]
    fn the_agent_directory_may_be_named_outright() {
        let fs = Memory::new();
        assert_eq!(agent_dir(&fs, &[("HOME", "/h"), ("GJC_CODING_AGENT_DIR", "/data/../agent")]), "/agent");
        assert_eq!(agent_dir(&fs, &[("HOME", "/h"), ("PI_CODING_AGENT_DIR", "here")]), "/project/here");
    }

    #[test]
    fn a_project_cannot_redirect_the_agent_directory() {
        let redirect = [("HOME", "/h"), ("GJC_CODING_AGENT_DIR", "/evil"), ("NODE_ENV", "test")];
        for (file, line) in [
            (".env", "GJC_CODING_AGENT_DIR=/evil"),
            (".env.local", "export GJC_CODING_AGENT_DIR='/evil' # x"),
            (".env.test", "GJC_CODING_AGENT_DIR=${SOMETHING}"),
            (".env.test.local", "GJC_CODING_AGENT_DIR=`x`"),
        ] {
            let fs = Memory::new();
            fs.file(format!("/project/{file}"), line.as_bytes());
            assert_eq!(agent_dir(&fs, &redirect), "/h/.gjc/agent", "{file}");
        }
        let fs = Memory::new();
        fs.file("/project/.env", b"GJC_CODING_AGENT_DIR=/another\nOTHER=/evil\n");
        fs.file("/project/.env.production", b"GJC_CODING_AGENT_DIR=/evil\n");
        assert_eq!(agent_dir(&fs, &redirect), "/evil");
    }

    #[test]
    fn xdg_moves_what_exists_and_only_for_the_default_profile() {
        let fs = Memory::new();
        fs.directory("/xdg/data/gjc");
        let variables = [("HOME", "/h"), ("XDG_DATA_HOME", "/xdg/data"), ("XDG_STATE_HOME", "/xdg/state")];
        let located = world(&variables, |world| locate(&fs, world).unwrap());
        assert_eq!(located.sessions(), Path::new("/xdg/data/gjc/sessions"));
        assert_eq!(located.terminal_sessions(), Path::new("/h/.gjc/agent/terminal-sessions"));
        let mut named = variables.to_vec();
        named.push(("GJC_CODING_AGENT_DIR", "/a"));
        let located = world(&named, |world| locate(&fs, world).unwrap());
        assert_eq!(located.sessions(), Path::new("/a/sessions"));
        let elsewhere = world(&variables, |world| locate(&fs, &World { xdg: false, ..world.clone() }).unwrap());
        assert_eq!(elsewhere.sessions(), Path::new("/h/.gjc/agent/sessions"));
    }

    #[test]
    fn the_account_database_knows_the_home() {
        let fs = Memory::new();
        fs.file("/etc/passwd", b"root:x:0:0:root:/root:/bin/sh\nana:x:1000:1000::/home/ana:/bin/sh\nbroken\n");
        assert_eq!(account_home(&fs, 1000), Some(PathBuf::from("/home/ana")));
        assert_eq!(account_home(&fs, 7), None);
    }
}
