//! Where a command writes, and how its failures become words and exit bits.

use super::options::Format;
use super::{Environment, Options, Status};
use crate::agent::locate::Location;
use crate::agent::walk::show;
use crate::agent::world::World;
use crate::fsys::host::Liveness;
use crate::fsys::output::Refused;
use crate::fsys::{Errno, Fs, io_errno};
use crate::render::human::Layout;
use crate::render::style::plain;
use crate::render::words::shell_word;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

/// Why a command could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Something could not be read or written: exit bit 8.
    #[error("{0}")]
    Operational(String),
    /// gjc refuses what was given, so there is no answer: exit bit 4.
    #[error("{0}")]
    Refused(String),
    /// What was looked at changed meanwhile, so there is no answer yet: exit bit 2.
    #[error("{0}")]
    Inconclusive(String),
    /// The command line asks for something that does not exist: exit bit 16.
    #[error("{0}")]
    Usage(String),
    /// Writing the answer failed.
    #[error("cannot write the answer: {0}")]
    Output(#[from] io::Error),
}

impl Failure {
    /// A read or write that failed, with the path in the words.
    pub fn at(path: &Path, error: &io::Error) -> Self {
        Self::said(path, io_errno(error), error)
    }
    /// The same for an operation of the file system's room.
    pub fn on(path: &Path, error: &crate::fsys::Error) -> Self {
        Self::said(path, error.errno, &error.token())
    }
    /// The same for a file that was read under watch.
    pub fn unread(path: &Path, refusal: &crate::fsys::Refusal) -> Self {
        match refusal {
            crate::fsys::Refusal::Failed(error) => Self::on(path, error),
            moved if moved.is_transient() => {
                Failure::Inconclusive(format!("{}: it {moved}; do it again when gjc has ended", show(path.as_os_str())))
            }
            other => Failure::Operational(format!("{}: it {other}", show(path.as_os_str()))),
        }
    }
    fn said(path: &Path, errno: Errno, otherwise: &dyn std::fmt::Display) -> Self {
        let name = show(path.as_os_str());
        match errno {
            Errno::NOENT => Failure::Operational(format!("{name}: nothing stands here; check the spelling")),
            Errno::ACCESS | Errno::PERM => Failure::Operational(format!("{name}: this user may not read or write it")),
            _ => Failure::Operational(format!("{name}: {otherwise}")),
        }
    }
}

/// A new file that was not written: a name that is taken is a matter of the command line, the rest one of the system.
impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Source(_) | Refused::Exists(_) => Failure::Usage(refused.to_string()),
            Refused::System { path, error } if io_errno(&error) == Errno::NOENT => {
                Failure::Operational(format!("{}: the folder of this file does not exist", show(path.as_os_str())))
            }
            Refused::System { path, error } => Failure::at(&path, &error),
        }
    }
}

/// What a command sees of the world: the environment as values, the options, and its two outputs.
pub struct Console {
    /// The environment, read once.
    pub environment: Environment,
    /// The options that apply to every command.
    pub options: Options,
    out: BufWriter<io::Stdout>,
}

impl Console {
    /// Opens the outputs.
    pub fn new(environment: Environment, options: Options) -> Self {
        Console { environment, options, out: BufWriter::with_capacity(1 << 16, io::stdout()) }
    }

    /// Standard output, buffered.
    pub fn out(&mut self) -> &mut dyn Write {
        &mut self.out
    }

    /// Writes what a transcript says: byte for byte into a file or pipe, escaped where a terminal would obey it.
    ///
    /// # Errors
    /// The answer cannot be written.
    pub fn content(&mut self, bytes: &[u8]) -> io::Result<()> {
        if io::stdout().is_terminal() {
            self.out.write_all(shown(&String::from_utf8_lossy(bytes)).as_bytes())
        } else {
            self.out.write_all(bytes)
        }
    }

    /// Writes a value as JSON, indented.
    ///
    /// # Errors
    /// The answer cannot be written.
    pub fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut self.out, value).map_err(io::Error::from)?;
        writeln!(self.out)
    }

    /// Writes an answer in the format that is asked for.
    ///
    /// # Errors
    /// The answer cannot be written.
    pub fn answer(&mut self, value: &impl Serialize, human: impl FnOnce() -> String, concise: impl FnOnce() -> String) -> io::Result<()> {
        match self.options.format {
            Format::Human => self.out.write_all(human().as_bytes()),
            Format::Concise => self.out.write_all(concise().as_bytes()),
            Format::Json => self.json(value),
        }
    }

    /// How an answer for people is laid out.
    pub fn layout(&self) -> Layout {
        Layout { colour: self.colour(), width: self.environment.width, quiet: self.options.quiet }
    }

    /// The surroundings in which gjc would run for this user. Run as root, it speaks for the owner of the agent directory.
    ///
    /// # Errors
    /// No home can be trusted and no agent directory is named.
    pub fn world<'a>(&self, fs: &'a dyn Fs, host: &'a dyn Liveness, agent_dir: Option<&Path>) -> Result<World<'a>, Failure> {
        let environment = &self.environment;
        let location = self.location(fs, agent_dir)?;
        let owner = || fs.stat(&location.data).map(|meta| meta.uid).ok().filter(|_| environment.uid == 0);
        Ok(World {
            fs,
            host,
            now_ms: u64::try_from(environment.now_ns() / 1_000_000).unwrap_or(0),
            uid: self.options.as_uid.or_else(owner).unwrap_or(environment.uid),
            release: self.options.gjc,
            current_dir: environment.current_dir.clone(),
            agent_dir: location.data.clone(),
            sessions_root: location.sessions(),
            around: environment.surroundings(fs),
            context_budget: super::transcript::budget(self),
            is_copy: self.options.assume_root.is_some(),
        })
    }

    /// The storage of the agent directory that is named, else of this user.
    ///
    /// # Errors
    /// No home can be trusted and no agent directory is named.
    pub fn location(&self, fs: &dyn Fs, agent_dir: Option<&Path>) -> Result<Location, Failure> {
        match agent_dir {
            Some(named) => Ok(Location::explicit(self.environment.current_dir.join(named))),
            None => self.environment.location(fs).map_err(|error| Failure::Operational(error.to_string())),
        }
    }

    /// A note of one line for the person at the terminal; silent under `--quiet`. Nobody acts on a note that cannot be written.
    pub fn note(&self, text: &str) {
        if !self.options.quiet {
            let _ = writeln!(io::stderr(), "{}", plain(text));
        }
    }

    /// True when what goes to standard output may be coloured.
    pub fn colour(&self) -> bool {
        self.options.color.wanted(self.environment.colour_by_default && io::stdout().is_terminal())
    }

    /// True when progress may be drawn on standard error.
    pub fn progress(&self) -> bool {
        !self.options.quiet && io::stderr().is_terminal()
    }

    /// A progress bar on standard error, when progress is told.
    pub fn bar(&self, template: &str) -> ProgressBar {
        let bar = ProgressBar::new(0);
        bar.set_draw_target(if self.progress() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() });
        // Templates are constants: a mistake in one shows as the plain bar.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar
    }

    /// Flushes the answer, puts a failure into words, and answers the exit status. A reader that closed the pipe has
    /// seen enough: that ends the run quietly.
    pub fn close(mut self, result: Result<Status, Failure>) -> Status {
        let flushed = self.out.flush();
        let failure = match (result, flushed) {
            (Ok(status), Ok(())) => return status,
            (Ok(status), Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => return status,
            (Ok(_), Err(error)) => Failure::Output(error),
            (Err(failure), _) => failure,
        };
        let status = match &failure {
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return Status::CLEAN,
            Failure::Output(_) | Failure::Operational(_) => Status::OPERATIONAL,
            Failure::Inconclusive(_) => Status::INCONCLUSIVE,
            Failure::Refused(_) => Status::FINDINGS,
            Failure::Usage(_) => Status::USAGE,
        };
        let _ = writeln!(io::stderr(), "gjc-fsck: {}", plain(&failure.to_string()));
        status
    }
}

/// A path as a word of a POSIX shell.
pub(super) fn quoted(path: &Path) -> String {
    shell_word(&path.to_string_lossy())
}

/// A text of several lines as a terminal may show it: tabs and line ends stay.
fn shown(text: &str) -> String {
    text.split_inclusive(['\n', '\t'])
        .map(|piece| match piece.strip_suffix(['\n', '\t']) {
            Some(words) => format!("{}{}", plain(words), piece.get(words.len()..).unwrap_or_default()),
            None => plain(piece).into_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_escaped_and_lines_and_tabs_stay() {
        assert_eq!(shown("a\tb\n\u{1b}[2J\r\nc\u{9b}1m \u{202e}d"), "a\tb\n\\u{1b}[2J\\r\nc\\u{9b}1m \\u{202e}d");
    }
}
