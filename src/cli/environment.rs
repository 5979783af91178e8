//! The one place that reads the environment, the clock and the user. Everything else gets values.

use crate::agent::legacy::{PathRules, Surroundings};
use crate::agent::locate::{self, Location, NoHome, World};
use crate::fsys::Fs;
use crate::session::discovery::breadcrumb::Terminal;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The world outside, as values.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The environment variables.
    pub variables: BTreeMap<OsString, OsString>,
    /// The current directory; empty when it is gone.
    pub current_dir: PathBuf,
    /// The time at which the run began; ages of residue are measured against it, reports never show it.
    pub now: SystemTime,
    /// The effective user.
    pub uid: u32,
    /// False when `NO_COLOR` is set (and not empty) or the terminal is `dumb`.
    pub colour_by_default: bool,
    /// Whether standard input is a terminal.
    pub input_is_terminal: bool,
    /// Columns of the terminal: of standard output, else `COLUMNS`, else 100.
    pub width: usize,
}

impl Environment {
    /// Reads everything once.
    #[allow(clippy::disallowed_methods, reason = "this is the one place")]
    pub fn read() -> Self {
        let variables: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        let text = |name: &str| variables.get(OsStr::new(name)).filter(|value| !value.is_empty());
        let columns = || text("COLUMNS").and_then(|columns| columns.to_str()?.parse::<usize>().ok());
        let width = match terminal_size::terminal_size() {
            Some((terminal_size::Width(columns), _)) => usize::from(columns),
            None => columns().unwrap_or(100),
        };
        Environment {
            current_dir: std::env::current_dir().unwrap_or_default(),
            now: SystemTime::now(),
            uid: rustix::process::geteuid().as_raw(),
            colour_by_default: text("NO_COLOR").is_none() && text("TERM").is_none_or(|term| term != "dumb"),
            input_is_terminal: std::io::stdin().is_terminal(),
            width: width.clamp(40, 400),
            variables,
        }
    }

    /// Nanoseconds since the epoch at which the run began (negative before it).
    pub fn now_ns(&self) -> i128 {
        let whole = |duration: Duration| i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX);
        self.now.duration_since(SystemTime::UNIX_EPOCH).map_or_else(|before| -whole(before.duration()), whole)
    }

    /// Where this user's storage is (spec 02 §1.1).
    ///
    /// # Errors
    /// No home can be trusted.
    pub fn location(&self, fs: &dyn Fs) -> Result<Location, NoHome> {
        let world = World {
            variables: &self.variables,
            current_dir: &self.current_dir,
            account_home: locate::account_home(fs, self.uid),
            xdg: cfg!(any(target_os = "linux", target_os = "macos")),
        };
        locate::locate(fs, &world)
    }

    /// Home and temp directory, for the names of legacy directories; empty where no home can be trusted.
    pub fn surroundings(&self, fs: &dyn Fs) -> Surroundings {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let real = |path: &Path| fs.realpath(path).map_or_else(|_| text(path), |real| text(&real));
        let home = self.location(fs).ok().and_then(|location| location.home).unwrap_or_default();
        let temp =
            ["TMPDIR", "TMP", "TEMP"].into_iter().find_map(|name| self.get(name)).map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
        Surroundings { rules: PathRules::Posix, home_real: real(&home), home: text(&home), temp_real: real(&temp), temp: text(&temp) }
    }

    /// What tells this terminal from another (spec 04 §3.4).
    pub fn terminal(&self, fs: &dyn Fs) -> Terminal {
        let text = |name: &str| self.get(name).map(|value| value.to_string_lossy().into_owned());
        Terminal {
            in_tmux: self.get("TMUX").is_some(),
            tmux_pane: text("TMUX_PANE"),
            tty: if self.input_is_terminal { fs.read_link(Path::new("/proc/self/fd/0")).ok() } else { None },
            kitty_window_id: text("KITTY_WINDOW_ID"),
            term_session_id: text("TERM_SESSION_ID"),
            wt_session: text("WT_SESSION"),
        }
    }

    /// A variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }
}
