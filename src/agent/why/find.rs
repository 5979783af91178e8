//! Which file is meant: a path, a session id, or the beginning of one (spec 04 §3.1). gjc takes the first match of its
//! listing and asks nobody; here a name that several sessions begin with is said to be one.

use super::{BY_PATH, Evidence, Step, passes, saw, stops};
use crate::agent::candidates::{Provenance, look};
use crate::agent::layout;
use crate::agent::world::World;
use crate::fsys::{Errno, Error};
use crate::transcript::date;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Matches that are named.
const NAMED: usize = 8;
const SECTION: &str = "04 §3.1";
/// gjc's word for a file that it cannot look at.
const UNREACHABLE: &str = "read-failed";

/// The file that is meant, with the step that says so; or the step that says why there is none.
pub(super) fn find(world: &World<'_>, asked: &OsStr) -> Result<(PathBuf, Step), Step> {
    if asked.is_empty() {
        return by_id(world, "");
    }
    let as_path = world.current_dir.join(asked);
    let here = world.fs.lstat(&as_path);
    match (&here, asked.as_encoded_bytes().contains(&b'/')) {
        (Ok(_), _) => {
            let path = real_directory(world, &as_path);
            let step = passes("found", SECTION, BY_PATH, vec![]);
            Ok((path, step))
        }
        (Err(error), true) if error.errno != Errno::NOENT => {
            let advice = "Let this user reach every folder on the way to it, then ask again. gjc reads nothing there either.";
            Err(stops("found", "01 §2.3", UNREACHABLE, vec![saw(&as_path, missing(error))], advice))
        }
        (Err(error), true) => {
            let advice = "Name an existing transcript, or the id of the session. gjc would begin a new session at this path.";
            Err(stops("found", "01 §2.3", "missing", vec![saw(&as_path, missing(error))], advice))
        }
        (Err(_), false) => by_id(world, &asked.to_string_lossy()),
    }
}

fn missing(error: &Error) -> String {
    match error.errno {
        Errno::NOENT => "is not there".to_owned(),
        Errno::ACCESS | Errno::PERM => format!("this user may not look there ({})", error.token()),
        Errno::NOTDIR => format!("what stands on the way to it is no folder ({})", error.token()),
        Errno::LOOP => format!("the links on the way to it lead in a circle ({})", error.token()),
        _ => format!("cannot be looked at: {}", error.token()),
    }
}

/// Components above the name may be links, as for gjc; the name itself is kept.
fn real_directory(world: &World<'_>, path: &Path) -> PathBuf {
    let directory = path.parent().and_then(|parent| world.fs.realpath(parent).ok());
    directory.zip(path.file_name()).map_or_else(|| path.to_owned(), |(directory, name)| directory.join(name))
}

/// How well a file fits, the better the greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// An id or name begins with what was asked.
    Begins,
    /// The file's name, or the id in it.
    Name,
    /// The header's id.
    Id,
}

struct Match {
    fit: Fit,
    provenance_v2: bool,
    mtime_ns: i128,
    path: PathBuf,
    id: String,
}

/// The transcript below the sessions root that has this id. Of several the one that fits best; of those a scope's before
/// that of a legacy directory, then the latest.
fn by_id(world: &World<'_>, asked: &str) -> Result<(PathBuf, Step), Step> {
    let root = world.canonical_root(&world.sessions_root);
    let (mut matches, unread) = matches(world, &root, asked);
    matches.sort_by(|a, b| (b.fit, b.provenance_v2, b.mtime_ns, &a.path).cmp(&(a.fit, a.provenance_v2, a.mtime_ns, &b.path)));
    let Some(best) = matches.first() else {
        let mut shows = format!("no session below this directory has the id `{asked}`, or one that begins with it");
        if !unread.is_empty() {
            shows += &format!("; not everything could be looked at ({})", unread.len());
        }
        let evidence = std::iter::once(saw(&root, shows)).chain(unread.iter().map(|error| saw(&error.path, missing(error)))).collect();
        let advice = "Check the id (`gjc-fsck list --all` shows every one), or name the file by its path. A session kept with --session-dir, or in another agent directory, is not looked for here.";
        return Err(stops("found", SECTION, "not found", evidence, advice));
    };
    let alike: Vec<&Match> = matches.iter().filter(|one| one.fit == best.fit).collect();
    let ids: BTreeSet<&str> = alike.iter().map(|one| one.id.as_str()).collect();
    if best.fit == Fit::Begins && ids.len() > 1 {
        let mut evidence: Vec<Evidence> = alike.iter().take(NAMED).map(|one| saw(&one.path, one.words())).collect();
        if alike.len() > NAMED {
            evidence.push(saw(&root, format!("{} more", alike.len() - NAMED)));
        }
        let advice = "Name more of the id. gjc itself asks nobody: it resumes the first of its listing, the latest one.";
        return Err(stops("found", SECTION, "ambiguous", evidence, advice));
    }
    let how = match best.fit {
        Fit::Id => "its header has this id".to_owned(),
        Fit::Name => "its name holds this id".to_owned(),
        Fit::Begins => format!("`{}` begins with it, and no other session does", best.id),
    };
    let others = alike.iter().skip(1).take(NAMED).map(|one| saw(&one.path, format!("has the same id, {}", one.changed())));
    let evidence = std::iter::once(saw(&best.path, how)).chain(others).collect();
    Ok((best.path.clone(), passes("found", SECTION, "by its id", evidence)))
}

impl Match {
    fn changed(&self) -> String {
        let time = date::minute(self.mtime_ns.div_euclid(1_000_000) as f64);
        time.map_or_else(|| "changed at an unknown time".to_owned(), |time| format!("changed {time}"))
    }
    fn words(&self) -> String {
        format!("`{}`, {}", self.id, self.changed())
    }
}

/// Every transcript of the visited directories that fits. As in gjc the comparison leaves case aside, and the header id, the
/// name without `.jsonl`, and what stands behind the last `_` of it count. And the directories that cannot be listed.
fn matches(world: &World<'_>, root: &Path, asked: &str) -> (Vec<Match>, Vec<Error>) {
    let wanted = asked.strip_suffix(layout::TRANSCRIPT_SUFFIX).unwrap_or(asked).to_lowercase();
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    if wanted.is_empty() {
        return (found, unread);
    }
    let mut entries = |directory: &Path| {
        world.fs.list(directory).unwrap_or_else(|error| {
            if !matches!(error.errno, Errno::NOENT | Errno::NOTDIR | Errno::LOOP) {
                unread.push(error);
            }
            Vec::new()
        })
    };
    for directory in entries(root) {
        let is_scope = layout::sessions_name(directory.name.as_encoded_bytes()) == layout::SessionsName::Scope;
        let directory = root.join(&directory.name);
        for entry in entries(&directory) {
            if !layout::is_transcript_name(entry.name.as_encoded_bytes()) {
                continue;
            }
            let path = directory.join(&entry.name);
            let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let header = look(world.fs, world.release, &path, Provenance::V2).map(|candidate| candidate.session_id.to_string()).ok();
            let of_name = stem.rsplit_once('_').map(|(_, id)| id.to_owned());
            let lower = |text: &String| text.to_lowercase();
            let fit = if header.as_ref().map(lower).as_ref() == Some(&wanted) {
                Fit::Id
            } else {
                let names = [Some(stem.clone()), of_name.clone()];
                let keys: Vec<String> = names.iter().flatten().map(lower).collect();
                if keys.contains(&wanted) {
                    Fit::Name
                } else if keys.iter().chain(&header.as_ref().map(lower)).any(|key| key.starts_with(&wanted)) {
                    Fit::Begins
                } else {
                    continue;
                }
            };
            let mtime_ns = world.fs.lstat(&path).map_or(0, |meta| meta.mtime_ns);
            found.push(Match { fit, provenance_v2: is_scope, mtime_ns, path, id: header.or(of_name).unwrap_or(stem) });
        }
    }
    (found, unread)
}
