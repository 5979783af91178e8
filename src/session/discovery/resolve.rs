//! Which session `--resume X` means (spec 04 §3.1, §3.2): a path, or whatever id, file name or end of a file name begins with
//! X, ignoring case. Several matches are no error for gjc: the first of the list is taken.

use super::picker::{of_all, of_directory, of_workspace};
use super::{Shown, Skipped, equivalent};
use crate::agent::layout::TRANSCRIPT_SUFFIX;
use crate::agent::predict::Refused;
use crate::agent::world::World;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What of a session begins with the argument; the first that does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// The header id.
    Id,
    /// The file name without `.jsonl`.
    Name,
    /// What stands behind the last `_` of that name.
    Suffix,
}

impl Rule {
    /// For people.
    pub const fn words(self) -> &'static str {
        match self {
            Rule::Id => "its id begins with it",
            Rule::Name => "its file name begins with it",
            Rule::Suffix => "what stands behind the last _ of its file name begins with it",
        }
    }
    /// `id`, `name` or `suffix`.
    pub const fn word(self) -> &'static str {
        match self {
            Rule::Id => "id",
            Rule::Name => "name",
            Rule::Suffix => "suffix",
        }
    }
    /// The first rule by which a session matches; the argument in lower case.
    fn of(session: &Shown, argument: &str) -> Option<Rule> {
        let is_id = session.info.id.as_js().to_string_lossy().to_lowercase().starts_with(argument);
        if is_id { Some(Rule::Id) } else { Rule::of_name(&session.path, argument) }
    }
    /// The same by the file name alone.
    fn of_name(path: &Path, argument: &str) -> Option<Rule> {
        let begins = |text: &str| text.to_lowercase().starts_with(argument);
        let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
        let name = name.strip_suffix(TRANSCRIPT_SUFFIX).unwrap_or(&name);
        if begins(name) { Some(Rule::Name) } else { name.rsplit_once('_').filter(|(_, suffix)| begins(suffix)).map(|_| Rule::Suffix) }
    }
}

/// A session that matches.
#[derive(Clone, PartialEq, Debug)]
pub struct Match {
    /// It.
    pub session: Shown,
    /// How.
    pub rule: Rule,
}

/// Which list the match was found in: gjc's tag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// The list of the workspace, or of the explicit directory.
    Local,
    /// The list of everything.
    Global,
}

impl Reach {
    /// gjc's word.
    pub const fn word(self) -> &'static str {
        match self {
            Reach::Local => "local",
            Reach::Global => "global",
        }
    }
}

/// What an argument means.
#[derive(Clone, PartialEq, Debug)]
pub enum Meant {
    /// It looks like a path: that file is opened.
    Path(PathBuf),
    /// It is an id or the beginning of one. The first match is taken.
    Session {
        /// The matches in the order of the list; not empty.
        matches: Vec<Match>,
        /// Which list.
        reach: Reach,
        /// It is of another workspace, so gjc asks whether to fork it into this one.
        asks_to_fork: bool,
    },
    /// Nothing begins with it.
    Nothing {
        /// How many sessions were looked at.
        looked_at: usize,
        /// What may be the reason: files of such a name that no list shows, and what could not be listed.
        left_out: Vec<Skipped>,
        /// Why the workspace contributes no session.
        refused: Option<Refused>,
    },
}

/// Whether gjc takes an argument for a path.
pub fn is_path_like(argument: &OsStr) -> bool {
    let bytes = argument.as_encoded_bytes();
    bytes.iter().any(|byte| matches!(byte, b'/' | b'\\')) || bytes.ends_with(TRANSCRIPT_SUFFIX.as_bytes())
}

/// What `--resume` with this argument means in a workspace; with a directory only that is searched.
pub fn resolve(world: &World<'_>, argument: &OsStr, cwd: &Path, directory: Option<&Path>) -> Meant {
    if is_path_like(argument) {
        return Meant::Path(world.current_dir.join(argument));
    }
    let argument = argument.to_string_lossy();
    let local = match directory {
        Some(directory) => of_directory(world, directory).0,
        None => of_workspace(world, cwd),
    };
    let mut looked_at = local.sessions.len();
    let found = matching(local.sessions, &argument);
    if !found.is_empty() {
        return Meant::Session { matches: found, reach: Reach::Local, asks_to_fork: false };
    }
    let mut left_out = local.skipped;
    let nothing = |looked_at, left_out, refused| Meant::Nothing { looked_at, left_out: telling(left_out, &argument), refused };
    if directory.is_some() {
        return nothing(looked_at, left_out, local.refused);
    }
    let all = of_all(world);
    looked_at = looked_at.max(all.sessions.len());
    left_out.extend(all.skipped);
    let found = matching(all.sessions, &argument);
    let Some(first) = found.first() else { return nothing(looked_at, left_out, local.refused) };
    let own = first.session.info.cwd.as_js().to_string_lossy().into_owned();
    let asks_to_fork = equivalent(world, Path::new(&own)) != equivalent(world, cwd);
    Meant::Session { matches: found, reach: Reach::Global, asks_to_fork }
}

/// Of what the lists leave out that which may be why nothing was found: what has such a name, and what is no file but a
/// place that could not be listed. Each once.
fn telling(left_out: Vec<Skipped>, argument: &str) -> Vec<Skipped> {
    let argument = argument.to_lowercase();
    let mut told = BTreeSet::new();
    let is_place = |path: &Path| path.extension().is_none_or(|extension| extension != "jsonl");
    let tells = |one: &Skipped| is_place(&one.path) || Rule::of_name(&one.path, &argument).is_some();
    left_out.into_iter().filter(|one| tells(one) && told.insert(one.path.clone())).collect()
}

/// The sessions that match, in their order.
pub fn matching(sessions: Vec<Shown>, argument: &str) -> Vec<Match> {
    let argument = argument.to_lowercase();
    let matches = |session: Shown| Rule::of(&session, &argument).map(|rule| Match { session, rule });
    sessions.into_iter().filter_map(matches).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Release;
    use crate::fsys::Memory;
    use crate::fsys::host::Nowhere;

    /// The directory of spec 04 §3.1, oldest first.
    fn folder() -> Memory {
        let fs = Memory::new();
        for (name, id) in [
            ("noscore", "zz9"),
            ("2026-01-01T00-00-00-000Z_AbCd-1", "AbCd-1"),
            ("2026-01-02T00-00-00-000Z_abcd-2", "abcd-2"),
            ("other_abzz", "qq"),
        ] {
            let header = format!(r#"{{"type":"session","version":5,"id":"{id}","timestamp":"t","cwd":"/w"}}"#);
            fs.file(format!("/d/{name}.jsonl"), format!("{header}\n").as_bytes());
        }
        // The clock of the memory moves by nanoseconds; lists compare milliseconds.
        for (at, (path, _)) in ["noscore", "2026-01-01T00-00-00-000Z_AbCd-1", "2026-01-02T00-00-00-000Z_abcd-2", "other_abzz"]
            .map(|name| (format!("/d/{name}.jsonl"), name))
            .into_iter()
            .enumerate()
        {
            fs.set(path, |meta| meta.mtime_ns = (at as i128 + 1) * 1_000_000_000);
        }
        fs
    }
    fn chosen(argument: &str) -> Option<(String, Rule)> {
        let fs = folder();
        let world = World::of_agent(&fs, &Nowhere, Release::default(), 1000, "/a");
        match resolve(&world, OsStr::new(argument), Path::new("/w"), Some(Path::new("/d"))) {
            Meant::Session { matches, reach: Reach::Local, asks_to_fork: false } => {
                let name = matches[0].session.path.file_stem().unwrap().to_string_lossy().into_owned();
                Some((name, matches[0].rule))
            }
            Meant::Nothing { looked_at: 4, left_out, refused: None } if left_out.is_empty() => None,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_computed_choices_of_the_notes() {
        for (argument, name, rule) in [
            ("abcd", "2026-01-02T00-00-00-000Z_abcd-2", Rule::Id),
            ("ABCD-1", "2026-01-01T00-00-00-000Z_AbCd-1", Rule::Id),
            ("2026-01-01", "2026-01-01T00-00-00-000Z_AbCd-1", Rule::Name),
            ("ab", "other_abzz", Rule::Suffix),
            ("qq", "other_abzz", Rule::Id),
            ("NoS", "noscore", Rule::Name),
            ("", "other_abzz", Rule::Id),
        ] {
            assert_eq!(chosen(argument), Some((name.to_owned(), rule)), "{argument:?}");
        }
        assert_eq!(chosen("cd"), None);
    }
    #[test]
    fn a_slash_or_the_ending_makes_a_path() {
        for path in ["a/b", r"a\b", "x.jsonl", "/"] {
            assert!(is_path_like(OsStr::new(path)), "{path}");
        }
        assert!(!is_path_like(OsStr::new("x.JSONL")));
        assert!(!is_path_like(OsStr::new("01-ab")));
    }
}
