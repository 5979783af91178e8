//! The recent list of a directory, and its most recent session (spec 04 §2.3).

use super::Skipped;
use super::directory::{self, Candidate, Directory, Glob, Restored};
use crate::agent::candidates::Provenance;
use crate::agent::predict;
use crate::agent::world::{Scope, World};
use crate::fsys::Kind;
use crate::transcript::date;
use crate::transcript::readers::picker::Skip;
use crate::transcript::readers::recent::{self as reader, NamedBy, Recent};
use std::path::{Path, PathBuf};

/// How many sessions the list shows when it is not told.
pub const LIMIT: usize = 20;
/// Files that are read together, at least.
const BATCH: usize = 32;

/// A session of the recent list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Session {
    /// Its name in the list.
    pub path: PathBuf,
    /// Modification time, nanoseconds since 1970; of the link, where it is one.
    pub mtime_ns: i128,
    /// What its file says.
    pub recent: Recent,
}

impl Session {
    /// The name that is shown. gjc writes the time of an untitled session in the user's language and zone; here it is UTC.
    pub fn name(&self) -> String {
        match &self.recent.name {
            Some(name) => name.to_string(),
            None => format!("Untitled · {}", clock(self.untitled_time())),
        }
    }
    /// The header's time, or the file's where that is none.
    fn untitled_time(&self) -> f64 {
        let of_header = self.recent.timestamp.as_ref().map_or(f64::NAN, |timestamp| date::parse(timestamp.as_bytes()));
        if of_header.is_nan() { self.modified_ms() as f64 } else { of_header }
    }
    /// Modification time in milliseconds.
    pub fn modified_ms(&self) -> i128 {
        self.mtime_ns.div_euclid(1_000_000)
    }
}

/// `10:20 AM`
fn clock(time_ms: f64) -> String {
    let minutes = (time_ms / 60_000.0).floor().rem_euclid(1_440.0) as u64;
    let (hour, half) = (minutes / 60, if minutes < 720 { "AM" } else { "PM" });
    format!("{:02}:{:02} {half}", (hour + 11) % 12 + 1, minutes % 60)
}

/// How long ago something was, as the list says it; an older day as a date (gjc writes it in the user's language).
pub fn time_ago(now_ms: i128, then_ms: i128) -> String {
    let minutes = (now_ms - then_ms).div_euclid(60_000);
    match minutes {
        ..1 => "just now".to_owned(),
        1..60 => format!("{minutes}m ago"),
        60..1_440 => format!("{}h ago", minutes / 60),
        1_440..10_080 => format!("{}d ago", minutes / 1_440),
        _ => date::minute(then_ms as f64).and_then(|time| time.get(..10).map(str::to_owned)).unwrap_or_else(|| "long ago".to_owned()),
    }
}

/// The recent list of a directory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RecentList {
    /// Latest first; of equally late ones by path.
    pub sessions: Vec<Session>,
    /// What was looked at on the way and left out.
    pub skipped: Vec<Skipped>,
    /// Backups that gjc renames before it lists.
    pub restored: Vec<Restored>,
    /// Files that the limit keeps from being looked at or shown.
    pub beyond: usize,
}

/// The latest `limit` sessions of a directory. `restores`: gjc recovers orphaned backups first.
pub fn list(world: &World<'_>, directory: &Path, limit: usize, restores: bool) -> RecentList {
    let Directory { mut files, restored, skipped } = directory::read(world.fs, directory, Glob::ByTime, restores);
    files.sort_by(|a, b| b.meta.mtime_ns.cmp(&a.meta.mtime_ns).then_with(|| a.path.cmp(&b.path)));
    let mut found = RecentList { skipped, restored, ..RecentList::default() };
    let total = files.len();
    let mut looked = 0;
    for batch in files.chunks(limit.max(BATCH)) {
        if found.sessions.len() >= limit {
            break;
        }
        looked += batch.len();
        for file in batch {
            match session(world, file) {
                Ok(session) => found.sessions.push(session),
                Err(skip) => found.skipped.push(Skipped::new(&file.path, skip.words())),
            }
        }
    }
    found.beyond = total - looked + found.sessions.len().saturating_sub(limit);
    found.sessions.truncate(limit);
    found
}

/// The recent list of a workspace: that of its scope directory. Legacy sessions of the workspace lie elsewhere, so they are
/// left out.
pub fn of_scope(world: &World<'_>, scope: &Scope, limit: usize) -> RecentList {
    let mut found = list(world, &scope.directory, limit, false);
    let owned = predict::list(world, scope).map(|listing| listing.owned).unwrap_or_default();
    let elsewhere = owned.iter().map(|listed| &listed.candidate).filter(|candidate| candidate.provenance == Provenance::Legacy);
    found
        .skipped
        .extend(elsewhere.map(|candidate| Skipped::new(&candidate.path, "it lies in a legacy directory: this list reads the scope only")));
    found
}

/// The most recent session of a directory.
pub fn most_recent(world: &World<'_>, directory: &Path, restores: bool) -> Option<PathBuf> {
    list(world, directory, 1, restores).sessions.into_iter().next().map(|session| session.path)
}

fn session(world: &World<'_>, file: &Candidate) -> Result<Session, Skip> {
    let open = world.fs.open(&file.stored).map_err(|_| Skip::Unreadable)?;
    let read = || {
        let meta = open.stat().ok().filter(|meta| meta.kind == Kind::File).ok_or(Skip::Unreadable)?;
        reader::read(meta.size, &mut |buffer, offset| open.read_at(buffer, offset), world.release)
    };
    let read = read();
    // The first failure counts; a file that cannot be closed was not read.
    let closed = open.close();
    let recent = read?;
    closed.map_err(|_| Skip::Unreadable)?;
    Ok(Session { path: file.path.clone(), mtime_ns: file.meta.mtime_ns, recent })
}

/// Where the name of a session was taken from, for people.
pub const fn named_by(by: NamedBy) -> &'static str {
    match by {
        NamedBy::Title => "its title",
        NamedBy::Prompt => "the first prompt",
        NamedBy::Time => "its time: there is neither title nor prompt",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Release;
    use crate::fsys::Memory;
    use crate::fsys::host::Nowhere;

    fn folder(files: usize) -> Memory {
        let fs = Memory::new();
        for n in 0..files {
            let header = format!(r#"{{"type":"session","version":5,"id":"s{n}","timestamp":"2026-03-01T10:20:00.000Z","cwd":"/w"}}"#);
            fs.file(format!("/d/{n:03}.jsonl"), header.as_bytes());
            fs.set(format!("/d/{n:03}.jsonl"), |meta| meta.mtime_ns = i128::from(n as u64) * 1_000_000_000);
        }
        fs
    }
    fn listed(fs: &Memory, limit: usize) -> RecentList {
        list(&World::of_agent(fs, &Nowhere, Release::default(), 1000, "/a"), Path::new("/d"), limit, true)
    }

    #[test]
    fn the_latest_come_first_and_equally_late_ones_by_path() {
        let fs = folder(3);
        fs.set("/d/001.jsonl", |meta| meta.mtime_ns = 2_000_000_000);
        let ids: Vec<String> = listed(&fs, LIMIT).sessions.iter().map(|session| session.recent.id.to_string()).collect();
        assert_eq!(ids, ["s1", "s2", "s0"]);
    }
    #[test]
    fn broken_files_take_no_place_and_the_rest_is_counted() {
        let fs = folder(70);
        for n in 40..70 {
            fs.remove(format!("/d/{n:03}.jsonl"));
            fs.file(format!("/d/{n:03}.jsonl"), b"garbage");
        }
        let found = listed(&fs, 3);
        let ids: Vec<String> = found.sessions.iter().map(|session| session.recent.id.to_string()).collect();
        assert_eq!(ids, ["s39", "s38", "s37"]);
        assert_eq!((found.skipped.len(), found.beyond), (30, 37), "a batch of 64 was looked at");
        assert_eq!(
            most_recent(&World::of_agent(&fs, &Nowhere, Release::default(), 1000, "/a"), Path::new("/d"), true),
            Some("/d/039.jsonl".into())
        );
    }
    #[test]
    fn an_untitled_session_shows_the_time_of_its_header_or_of_its_file() {
        let fs = folder(1);
        assert_eq!(listed(&fs, 1).sessions[0].name(), "Untitled · 10:20 AM");
        fs.file("/d/x.jsonl", br#"{"type":"session","id":"x","timestamp":"bad"}"#);
        fs.set("/d/x.jsonl", |meta| meta.mtime_ns = 13 * 3_600_000_000_000);
        assert_eq!(listed(&fs, 1).sessions[0].name(), "Untitled · 01:00 PM");
    }
    #[test]
    fn ages_are_rounded_down() {
        let minute = 60_000;
        for (age, said) in [
            (0, "just now"),
            (-minute, "just now"),
            (minute - 1, "just now"),
            (minute, "1m ago"),
            (60 * minute - 1, "59m ago"),
            (60 * minute, "1h ago"),
            (1_440 * minute - 1, "23h ago"),
            (1_440 * minute, "1d ago"),
            (7 * 1_440 * minute - 1, "6d ago"),
            (7 * 1_440 * minute, "1970-01-01"),
        ] {
            assert_eq!(time_ago(age + 1_000, 1_000), said, "{age}");
        }
    }
}
