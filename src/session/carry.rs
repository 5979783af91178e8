//! Transcripts and artifact trees on their way to a fork or to another workspace (spec 04 §9.3, §9.5). What was seen is what is
//! copied, what was copied is compared, nothing is ever replaced, and what is taken away at the source can be put back.
//!
//! Where gjc's rollback would replace a source tree by a copy that may be incomplete, this one only adds what is missing: a
//! move that fails loses no file.

use super::storage::{Result, SessionStorage, Snapshot, Stat, StorageError, artifacts_directory, join, split};
use crate::agent::sidecar::is_derived;
use crate::transcript::blobs::name_of;

/// A directory tree as it was seen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Seen {
    /// Ordered by path.
    nodes: Vec<Node>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Node {
    /// Path below the root.
    relative: String,
    /// None of a directory.
    file: Option<SeenFile>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct SeenFile {
    stat: Stat,
    sha256: String,
}

impl Seen {
    /// Looks at a tree; none where nothing stands.
    ///
    /// # Errors
    /// As [`SessionStorage::tree`]; a file cannot be read.
    pub fn look(storage: &dyn SessionStorage, directory: &str) -> Result<Option<Self>> {
        let Some(tree) = storage.tree(directory)? else { return Ok(None) };
        let nodes = tree.into_iter().map(|node| {
            let read = || storage.read_snapshot(&join(directory, &node.relative));
            let file = if node.is_directory { None } else { Some(read()?) };
            let file = file.map(|file| SeenFile { stat: file.stat, sha256: name_of(&file.bytes) });
            Ok(Node { relative: node.relative, file })
        });
        Ok(Some(Seen { nodes: nodes.collect::<Result<_>>()? }))
    }

    /// The tree without what can be derived again.
    fn without_derived(&self) -> Self {
        let derived = |node: &Node| {
            let first = node.relative.split('/').next().unwrap_or_default();
            first == "resident-cache" || is_derived(split(&node.relative).1.as_bytes())
        };
        Seen { nodes: self.nodes.iter().filter(|node| !derived(node)).cloned().collect() }
    }

    /// Whether both hold the same: paths, kinds, sizes and hashes.
    fn same_content(&self, other: &Self) -> bool {
        let content = |node: &Node| (node.relative.clone(), node.file.as_ref().map(|file| (file.stat.size, file.sha256.clone())));
        self.nodes.iter().map(content).eq(other.nodes.iter().map(content))
    }

    /// Copies the tree from where it was seen.
    fn copy(&self, storage: &dyn SessionStorage, from: &str, to: &str) -> Result<()> {
        storage.ensure_dir(to)?;
        for node in &self.nodes {
            let target = join(to, &node.relative);
            let Some(file) = &node.file else {
                storage.ensure_dir(&target)?;
                continue;
            };
            let there = storage.read_snapshot(&join(from, &node.relative));
            let same = |there: &Snapshot| there.stat == file.stat && name_of(&there.bytes) == file.sha256;
            let there = there.ok().filter(same).ok_or_else(|| StorageError::token("artifact_source_changed"))?;
            storage.publish(&target, &there.bytes)?;
        }
        Ok(())
    }

    /// Adds to a tree what it lacks of this one, from a copy.
    fn add_missing(&self, storage: &dyn SessionStorage, copy: &str, to: &str) -> Result<()> {
        storage.ensure_dir(to)?;
        for node in &self.nodes {
            let target = join(to, &node.relative);
            match &node.file {
                None => storage.ensure_dir(&target)?,
                Some(_) if storage.exists(&target)? => {}
                Some(_) => storage.publish(&target, &storage.read(&join(copy, &node.relative))?)?,
            }
        }
        Ok(())
    }
}

/// A transcript and its artifacts that were carried from one managed place to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Carried {
    transcript: Option<Snapshot>,
    artifacts: Option<Seen>,
}

impl Carried {
    /// Whether there were artifacts.
    pub const fn has_artifacts(&self) -> bool {
        self.artifacts.is_some()
    }

    /// Puts back what the source lacks, from the copies at the destination, which stay.
    ///
    /// # Errors
    /// `managed_move_source_restore_mismatch` when the source then holds something else; the storage's.
    pub fn put_back(&self, storage: &dyn SessionStorage, from: &str, to: &str) -> Result<()> {
        if let Some(artifacts) = &self.artifacts {
            artifacts.add_missing(storage, artifacts_directory(to), artifacts_directory(from))?;
            let restored = Seen::look(storage, artifacts_directory(from))?.unwrap_or_default();
            if !restored.same_content(artifacts) {
                return Err(StorageError::token("managed_move_source_restore_mismatch"));
            }
        }
        if let Some(transcript) = &self.transcript
            && !storage.exists(from)?
        {
            storage.publish(from, &transcript.bytes)?;
        }
        Ok(())
    }

    /// Takes away at the source exactly what was copied. A tree that is only detached yet is away.
    fn retire(&self, storage: &dyn SessionStorage, from: &str) -> Result<()> {
        if let Some(artifacts) = &self.artifacts {
            let directory = artifacts_directory(from);
            if Seen::look(storage, directory)?.as_ref() != Some(artifacts) {
                return Err(StorageError::token("artifact_source_changed"));
            }
            // One that is pending is detached: nothing of it is in the way of a tree that is put back.
            storage.remove_tree(directory)?;
        }
        if let Some(transcript) = &self.transcript {
            if storage.read_snapshot(from)? != *transcript {
                return Err(StorageError::token("source_changed"));
            }
            storage.unlink(from)?;
        }
        Ok(())
    }
}

/// The failure of a move that could not be taken back.
pub fn not_rolled_back(error: &StorageError) -> StorageError {
    StorageError { code: error.code, message: format!("Failed to rollback managed move: {error}") }
}

/// Carries a transcript and its artifacts from one managed place to another: publishes copies without replacing anything,
/// verifies them, and then takes the source away. A crash in between leaves both; the one in the scope that matches the last
/// workspace is the right one.
///
/// # Errors
/// `destination_conflict`, `managed_transcript_publish_missing`, `artifact_source_changed`, `artifact_destination_mismatch`,
/// `managed_move_destination_transcript_changed`, `managed_move_destination_artifacts_changed`; the storage's. The source is
/// then what it was; copies at the destination stay, as evidence. `Failed to rollback managed move: …` when it is not.
pub fn carry(storage: &dyn SessionStorage, from: &str, to: &str) -> Result<Carried> {
    let transcript = if storage.exists(from)? { Some(storage.read_snapshot(from)?) } else { None };
    let mut published = None;
    if let Some(transcript) = &transcript {
        storage.publish(to, &transcript.bytes)?;
        if !storage.exists(to)? {
            return Err(StorageError::token("managed_transcript_publish_missing"));
        }
        published = Some(storage.read_snapshot(to)?);
    }
    let (source, copy) = (artifacts_directory(from), artifacts_directory(to));
    let artifacts = Seen::look(storage, source)?;
    let mut imported = None;
    if let Some(artifacts) = &artifacts {
        artifacts.copy(storage, source, copy)?;
        let there = Seen::look(storage, copy)?.unwrap_or_default();
        if !there.same_content(artifacts) {
            return Err(StorageError::token("artifact_destination_mismatch"));
        }
        imported = Some(there);
    }

    let same_bytes = published.as_ref().map(|file| &file.bytes) == transcript.as_ref().map(|file| &file.bytes);
    if let Some(published) = published
        && (!same_bytes || storage.read_snapshot(to).ok() != Some(published))
    {
        return Err(StorageError::token("managed_move_destination_transcript_changed"));
    }
    if let Some(imported) = imported
        && Seen::look(storage, copy)?.unwrap_or_default() != imported
    {
        return Err(StorageError::token("managed_move_destination_artifacts_changed"));
    }

    let carried = Carried { transcript, artifacts };
    carried.retire(storage, from).map_err(|error| match carried.put_back(storage, from, to) {
        Ok(()) => error,
        Err(second) => not_rolled_back(&second),
    })?;
    Ok(carried)
}

/// Copies the artifacts of a session to those of its fork, without what can be derived again; answers what stands there then.
/// `name` makes the name of the staging directory different from those of others.
///
/// # Errors
/// `unsafe_artifacts`, `destination_conflict`, `artifact_source_changed`, `artifact_destination_terminal_mismatch`; the
/// storage's. Nothing was published then, or something else than the copy stands where it was.
pub fn fork_artifacts(storage: &dyn SessionStorage, from: &str, to: &str, name: &str) -> Result<Option<Seen>> {
    let Some(source) = Seen::look(storage, from)? else { return Ok(None) };
    if storage.exists(to)? || storage.tree(to)?.is_some() {
        return Err(StorageError::token("destination_conflict"));
    }
    let wanted = source.without_derived();
    let (directory, base) = split(to);
    let staging = join(directory, &format!(".{base}.{name}.fork-staging"));
    let staged = || {
        wanted.copy(storage, from, &staging)?;
        if Seen::look(storage, from)?.as_ref() != Some(&source) {
            return Err(StorageError::token("artifact_source_changed"));
        }
        let there = Seen::look(storage, &staging)?;
        if !there.as_ref().unwrap_or(&Seen::default()).same_content(&wanted) {
            return Err(StorageError::token("artifact_destination_terminal_mismatch"));
        }
        // In memory a directory without files is none.
        if there.is_some() { storage.rename_no_replace(&staging, to) } else { Ok(()) }
    };
    staged().inspect_err(|_| {
        // A staging directory that stays is residue, not another error.
        let _ = storage.remove_tree(&staging);
    })?;
    let published = Seen::look(storage, to)?;
    let same = published.as_ref().unwrap_or(&Seen::default()).same_content(&wanted);
    if same { Ok(published) } else { Err(StorageError::token("artifact_destination_terminal_mismatch")) }
}

/// Publishes the transcript of a fork whose artifacts are there already, and looks at everything once more (spec 04 §9.3). What
/// fails takes back what was published, as far as it still is that.
///
/// # Errors
/// `destination_conflict`; `artifact_destination_changed_during_transcript_publication`; in a managed scope
/// `managed_fork_transcript_publish_missing` and `managed_fork_transcript_changed`; the storage's;
/// `Failed to clean up fork publication: …`.
pub fn publish_fork(storage: &dyn SessionStorage, to: &str, bytes: &[u8], managed: bool, artifacts: Option<&Seen>) -> Result<()> {
    let directory = artifacts_directory(to);
    let mut published = false;
    let mut publish = || {
        storage.publish(to, bytes)?;
        published = true;
        if managed && !storage.exists(to)? {
            return Err(StorageError::token("managed_fork_transcript_publish_missing"));
        }
        if artifacts.is_some() && Seen::look(storage, directory)?.as_ref() != artifacts {
            return Err(StorageError::token("artifact_destination_changed_during_transcript_publication"));
        }
        if managed && storage.read(to)? != bytes {
            return Err(StorageError::token("managed_fork_transcript_changed"));
        }
        Ok(())
    };
    publish().map_err(|error| {
        let clean = || {
            if published && storage.exists(to)? && storage.read(to)? == bytes {
                storage.unlink(to)?;
            }
            if artifacts.is_some() && Seen::look(storage, directory)?.as_ref() == artifacts {
                storage.remove_tree(directory)?;
            }
            Ok(())
        };
        match clean() {
            Ok(()) => error,
            Err(StorageError { code, message }) => {
                StorageError { code, message: format!("Failed to clean up fork publication: {message}") }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::manager::Manager;
    use super::super::place::Place;
    use super::super::storage::double::{Answer, Asked, Hooked};
    use super::super::storage::{Files, Memory};
    use super::super::successor::Artifacts;
    use super::super::tests::{Counted, FIRST, SECOND, Tested, answer, ask, create, lines, talked, text};
    use super::*;
    use crate::finding::Release;
    use crate::fsys::{self, Call, Errno, Inject, Phase};
    use crate::json::stringify::to_text;
    use crate::transcript::blobs::MemoryStore;
    use crate::transcript::load::{Whole, load};
    use std::cell::{Cell, RefCell};
    use std::sync::atomic::{AtomicBool, Ordering};

    /// The workspaces `/w/a` and `/w/b`.
    fn workspaces() -> fsys::Memory {
        let fs = fsys::Memory::new();
        fs.directory("/w/a");
        fs.directory("/w/b");
        fs
    }
    fn scope(storage: &dyn SessionStorage, cwd: &str) -> Place {
        Place::managed_in(storage, "/agent", cwd, Release::V0_17).unwrap()
    }
    /// A session of `/w/a` with artifacts.
    fn session<'s>(storage: &'s dyn SessionStorage) -> Tested<'s> {
        let mut manager = Manager::create(Counted::default(), MemoryStore::default(), storage, scope(storage, "/w/a"), None).unwrap();
        manager.append(ask("q")).unwrap();
        manager.append(answer("a")).unwrap();
        let directory = artifacts_directory(manager.session_file().unwrap()).to_owned();
        for name in ["0.bash.log", "local/notes", "z.md"] {
            storage.publish(&join(&directory, name), name.as_bytes()).unwrap();
        }
        manager
    }
    /// The transcripts that it has before and behind its move to `/w/b`.
    fn paths(storage: &dyn SessionStorage) -> (String, String) {
        let name = split(FIRST).1;
        (join(scope(storage, "/w/a").directory(), name), join(scope(storage, "/w/b").directory(), name))
    }
    fn moves(manager: &mut Tested<'_>) -> std::result::Result<Artifacts, String> {
        let place = scope(manager.storage(), "/w/b");
        manager.move_to(place).map_err(|error| error.message)
    }
    /// What the artifacts directory of a transcript holds.
    fn artifacts(storage: &dyn SessionStorage, transcript: &str) -> Vec<(String, Vec<u8>)> {
        let directory = artifacts_directory(transcript);
        let files = storage.tree(directory).unwrap().unwrap_or_default().into_iter().filter(|node| !node.is_directory);
        files.map(|node| (node.relative.clone(), storage.read(&join(directory, &node.relative)).unwrap())).collect()
    }
    fn all_artifacts() -> Vec<(String, Vec<u8>)> {
        ["0.bash.log", "local/notes", "z.md"].map(|name| (name.to_owned(), name.as_bytes().to_vec())).to_vec()
    }
    /// The messages of the transcript at a path; none where it is not readable as one.
    fn messages(storage: &dyn SessionStorage, path: &str) -> Vec<String> {
        let bytes = storage.read(path).unwrap_or_default();
        let loaded = load(&bytes[..], Whole, Release::V0_17).unwrap().unwrap();
        loaded.entries.iter().filter_map(|entry| entry.member("message")).map(to_text).collect()
    }

    /// 04 §9.5
    #[test]
    fn a_managed_move_publishes_verifies_and_then_takes_the_source_away() {
        let fs = workspaces();
        let files = Files::new(&fs);
        let done = RefCell::new(Vec::new());
        let storage = Hooked::new(&files, |asked| {
            if matches!(asked.operation, "publish" | "remove_tree" | "unlink" | "rename") {
                done.borrow_mut().push(format!("{} {}", asked.operation, split(asked.path).1));
            }
            Answer::GoOn
        });
        let mut manager = session(&storage);
        let (from, to) = paths(&storage);
        done.borrow_mut().clear();
        assert_eq!(moves(&mut manager), Ok(Artifacts::Taken));
        let name = split(&to).1;
        let stem = artifacts_directory(name);
        let order = ["publish .gjc-managed-session-scope.v2.json".to_owned(), format!("publish {name}")].into_iter();
        let order = order.chain(["0.bash.log", "notes", "z.md"].map(|artifact| format!("publish {artifact}")));
        let order: Vec<String> = order.chain([format!("remove_tree {stem}"), format!("unlink {name}")]).collect();
        let mut done = done.borrow_mut();
        let rewrite = done.pop().unwrap();
        assert!(rewrite.starts_with("rename ") && rewrite.ends_with(".tmp"), "{rewrite}");
        assert_eq!(*done, order);
        assert_eq!((manager.session_file(), storage.exists(&from)), (Some(&*to), Ok(false)));
        assert_eq!((artifacts(&storage, &to), artifacts(&storage, &from)), (all_artifacts(), Vec::new()));
        let header = text(&storage, &to).lines().next().unwrap().to_owned();
        assert!(header.ends_with(r#""cwd":"/w/b"}"#) && !text(&storage, &to).contains("header_patch"), "{header}");
        manager.append(ask("r")).unwrap();
        assert_eq!((lines(&storage, &to), manager.place().cwd()), (4, "/w/b"));
    }

    /// 04 §9.5: `cleanup_pending` of the source is tolerated
    #[test]
    fn a_source_that_is_only_detached_yet_has_moved() {
        let fs = workspaces();
        let files = Files::new(&fs);
        let storage = Hooked::new(&files, |asked| if asked.operation == "remove_tree" { Answer::Detach } else { Answer::GoOn });
        let mut manager = session(&storage);
        let (from, to) = paths(&storage);
        assert_eq!(moves(&mut manager), Ok(Artifacts::Taken));
        assert_eq!((storage.exists(&from), artifacts(&storage, &to)), (Ok(false), all_artifacts()));
    }

    #[test]
    fn a_session_that_was_not_written_yet_moves_with_its_artifacts() {
        let fs = workspaces();
        let storage = Files::new(&fs);
        let mut manager = Manager::create(Counted::default(), MemoryStore::default(), &storage, scope(&storage, "/w/a"), None).unwrap();
        let (from, to) = paths(&storage);
        storage.publish(&join(artifacts_directory(&from), "0.bash.log"), b"out").unwrap();
        assert_eq!(moves(&mut manager), Ok(Artifacts::Taken));
        assert_eq!((manager.session_file(), storage.exists(&to)), (Some(&*to), Ok(false)));
        manager.append(answer("a")).unwrap();
        assert!(text(&storage, &to).starts_with(
            r#"{"type":"session","version":5,"starredPatchVersion":1,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w/b"}"#
        ));
        assert_eq!(artifacts(&storage, &to).len(), 1);
    }

    /// Where the session is before and behind its move.
    type Places = (String, String);

    /// Does something while a hook interferes, and looks at what is left; what was answered.
    fn failing(
        hook: impl Fn(&Files<'_>, &Asked<'_>, &Places) -> Option<Answer>,
        act: impl FnOnce(&mut Tested<'_>) -> std::result::Result<Artifacts, String>,
        look: impl FnOnce(&mut Tested<'_>, &Places, &str),
    ) -> String {
        let fs = workspaces();
        let files = Files::new(&fs);
        let armed = Cell::new(false);
        let places = paths(&files);
        let storage = Hooked::new(&files, |asked| match armed.get() {
            true => hook(&files, asked, &places).unwrap_or(Answer::GoOn),
            false => Answer::GoOn,
        });
        let mut manager = session(&storage);
        armed.set(true);
        let answered = act(&mut manager);
        armed.set(false);
        let error = answered.unwrap_err();
        look(&mut manager, &places, &error);
        error
    }
    /// What a move answered. The session must be whole where the manager holds it to be.
    fn interfered(hook: impl Fn(&Files<'_>, &Asked<'_>, &Places) -> Option<Answer>) -> String {
        failing(hook, moves, |manager, _, error| {
            assert_eq!(messages(manager.storage(), manager.session_file().unwrap()).len(), 2, "{error}");
        })
    }
    /// The same; the source is as it was, and the manager goes on there.
    fn refused(hook: impl Fn(&Files<'_>, &Asked<'_>, &Places) -> Option<Answer>) -> String {
        failing(hook, moves, |manager, (from, _), error| {
            let storage = manager.storage();
            assert_eq!((manager.session_file(), manager.place().cwd()), (Some(&**from), "/w/a"), "{error}");
            assert_eq!(Some(&*storage.read(from).unwrap()), manager.file(), "{error}");
            assert!(text(storage, from).contains(r#""cwd":"/w/a""#), "{error}");
            for (name, bytes) in all_artifacts() {
                let there = storage.read(&join(artifacts_directory(from), &name)).unwrap();
                assert!(there == bytes || there.ends_with(b"changed"), "{error}: {name}");
            }
            manager.append(ask("r")).unwrap();
            assert_eq!(messages(storage, from).len(), 3, "{error}");
        })
    }
    fn changed(files: &Files<'_>, path: &str) -> Option<Answer> {
        files.write(path, b"changed").unwrap();
        None
    }

    /// 04 §9.5
    #[test]
    fn each_check_of_a_managed_move_has_its_token() {
        let first = |at: &str| join(artifacts_directory(at), "0.bash.log");
        assert_eq!(
            refused(|files, asked, (_, to)| (asked.operation == "publish" && asked.path == to).then(|| changed(files, to))?),
            "destination_conflict"
        );
        assert_eq!(
            refused(|files, asked, (_, to)| {
                let published = asked.operation == "exists" && asked.path == to && files.exists(to).unwrap();
                published.then(|| files.unlink(to).unwrap())?;
                None
            }),
            "managed_transcript_publish_missing"
        );
        assert_eq!(
            refused(|files, asked, (from, to)| {
                let begins = asked.operation == "ensure_dir" && asked.path == artifacts_directory(to);
                begins.then(|| changed(files, &first(from)))?
            }),
            "artifact_source_changed"
        );
        assert_eq!(
            refused(|files, asked, (_, to)| {
                let begins = asked.operation == "ensure_dir" && asked.path == artifacts_directory(to);
                begins.then(|| changed(files, &join(artifacts_directory(to), "foreign")))?
            }),
            "artifact_destination_mismatch"
        );
        assert_eq!(
            refused(|files, asked, (_, to)| (asked.operation == "publish" && asked.path.ends_with("z.md")).then(|| changed(files, to))?),
            "managed_move_destination_transcript_changed"
        );
        let looked = Cell::new(0);
        assert_eq!(
            refused(|files, asked, (_, to)| {
                // The second look at the copy of the tree is the terminal one.
                (asked.operation == "tree" && asked.path == artifacts_directory(to)).then(|| looked.set(looked.get() + 1))?;
                (looked.get() == 2).then(|| changed(files, &first(to)))?
            }),
            "managed_move_destination_artifacts_changed"
        );
        let looked = Cell::new(0);
        assert_eq!(
            refused(|files, asked, (from, _)| {
                (asked.operation == "tree" && asked.path == artifacts_directory(from)).then(|| looked.set(looked.get() + 1))?;
                (looked.get() == 2).then(|| changed(files, &join(artifacts_directory(from), "new")))?
            }),
            "Failed to rollback managed move: managed_move_source_restore_mismatch"
        );
    }

    /// 04 §9.5: rollback
    #[test]
    fn a_source_that_cannot_be_taken_away_is_put_back() {
        assert_eq!(
            refused(|_, asked, (from, _)| (asked.operation == "unlink" && asked.path == from).then(|| Answer::token("EACCES"))),
            "EACCES"
        );
        // A part of the tree is gone already.
        let half = |files: &Files<'_>, asked: &Asked<'_>, from: &str| {
            (asked.operation == "remove_tree" && asked.path == artifacts_directory(from)).then(|| {
                files.unlink(&join(asked.path, "z.md")).unwrap();
                Answer::token("EIO")
            })
        };
        assert_eq!(refused(|files, asked, (from, _)| half(files, asked, from)), "EIO");
        assert_eq!(
            interfered(|files, asked, (from, _)| {
                let answer = half(files, asked, from)?;
                files.write(&join(asked.path, "0.bash.log"), b"another").unwrap();
                Some(answer)
            }),
            "Failed to rollback managed move: managed_move_source_restore_mismatch"
        );
    }

    /// 04 §9.5: the header comes last
    #[test]
    fn a_header_that_cannot_be_written_brings_a_managed_session_back() {
        assert_eq!(refused(|_, asked, _| (asked.operation == "open_writer").then(|| Answer::token("ENOSPC"))), "ENOSPC");
        assert_eq!(refused(|_, asked, _| (asked.operation == "rename").then(|| Answer::token("EIO"))), "EIO");
    }

    /// Nothing is ever lost by one failing operation, nor when the process dies there: one of both places has all of it, and a
    /// manager that lives holds the session to be where it is.
    #[test]
    fn no_fault_loses_a_transcript_or_an_artifact() {
        let run = |moment: u64, dies: bool| {
            let fs = workspaces();
            let armed = AtomicBool::new(false);
            let begun = std::sync::atomic::AtomicU64::new(0);
            let faulty = Inject::changing(&fs, |call: &Call<'_>| {
                if !armed.load(Ordering::SeqCst) || call.phase != Phase::Before {
                    return None;
                }
                let number = begun.fetch_add(1, Ordering::SeqCst);
                (number == moment || (dies && number > moment)).then_some(Errno::IO)
            });
            let storage = Files::new(&faulty);
            let mut manager = session(&storage);
            let destination = scope(&storage, "/w/b");
            armed.store(true, Ordering::SeqCst);
            let moved = manager.move_to(destination);
            armed.store(false, Ordering::SeqCst);
            let plain = Files::new(&fs);
            let (from, to) = paths(&plain);
            let whole = |path: &str| messages(&plain, path).len() == 2 && artifacts(&plain, path) == all_artifacts();
            assert!(whole(&from) || whole(&to), "operation {moment}: {moved:?}");
            if !dies {
                let path = manager.session_file().unwrap().to_owned();
                assert_eq!(messages(&plain, &path).len(), 2, "operation {moment}: {moved:?}");
                assert!(moved.is_ok() || path == from || whole(&path), "operation {moment}: {moved:?}");
                if manager.check().is_ok() {
                    manager.append(ask("r")).unwrap();
                    assert_eq!(messages(&plain, &path).len(), 3, "operation {moment}: {moved:?}");
                }
            }
            (moved.is_ok(), begun.load(Ordering::SeqCst))
        };
        let (moved, count) = run(u64::MAX, false);
        assert!(moved && count > 100, "{count}");
        for moment in 0..count {
            run(moment, false);
            run(moment, true);
        }
    }

    /// 04 §9.5
    #[test]
    fn an_explicit_session_is_renamed_with_its_artifacts_or_not_at_all() {
        let memory = Memory::new();
        let storage = Hooked::new(&memory, |asked| {
            let artifacts = asked.operation == "rename_no_replace" && asked.path == artifacts_directory(FIRST);
            if artifacts { Answer::token("EXDEV") } else { Answer::GoOn }
        });
        let mut manager = talked(&storage);
        storage.write(&join(artifacts_directory(FIRST), "0.bash.log"), b"out").unwrap();
        let before = memory.all();
        let elsewhere = Place::explicit("/new", "/t", Release::V0_17);
        assert_eq!(manager.move_to(elsewhere).unwrap_err().message, "EXDEV");
        assert_eq!((memory.all(), manager.session_file()), (before, Some(FIRST)));
        manager.append(ask("r")).unwrap();
        assert_eq!(lines(&memory, FIRST), 4);
    }

    /// 04 §9.5, step 2
    #[test]
    fn an_explicit_session_moves_into_the_scope_of_its_new_workspace() {
        let fs = workspaces();
        let storage = Files::new(&fs);
        let mut manager = talked(&storage);
        storage.publish(&join(artifacts_directory(FIRST), "0.bash.log"), b"out").unwrap();
        assert_eq!(moves(&mut manager), Ok(Artifacts::Taken));
        let (_, to) = paths(&storage);
        assert_eq!((manager.session_file(), storage.exists(FIRST), artifacts(&storage, &to).len()), (Some(&*to), Ok(false), 1));
    }

    /// 04 §9.3
    #[test]
    fn a_fork_is_refused_where_its_artifacts_cannot_be_copied() {
        let memory = Memory::new();
        let storage = Hooked::new(&memory, |_| Answer::GoOn);
        let mut manager = talked(&storage);
        let (from, to) = (artifacts_directory(FIRST), artifacts_directory(SECOND));
        storage.write(&join(from, "0.bash.log"), b"out").unwrap();
        storage.write(&join(to, "taken"), b"").unwrap();
        let before = memory.all();
        assert_eq!(manager.fork().unwrap_err().message, "destination_conflict");
        assert_eq!((memory.all(), manager.session_file()), (before, Some(FIRST)));
        manager.append(ask("r")).unwrap();
        assert_eq!(lines(&memory, FIRST), 4);
    }

    /// What a fork answered. Nothing is left of it, but what others put there, and the session goes on.
    fn fork_refused(hook: impl Fn(&Files<'_>, &Asked<'_>, &str) -> Option<Answer>) -> String {
        let fork_beside = |from: &str| join(split(from).0, split(SECOND).1);
        let forks = |manager: &mut Tested<'_>| manager.fork().map_err(|error| error.message);
        let hook = |files: &Files<'_>, asked: &Asked<'_>, (from, _): &Places| hook(files, asked, &fork_beside(from));
        failing(hook, forks, |manager, (from, _), error| {
            let (storage, fork) = (manager.storage(), fork_beside(from));
            assert_eq!(manager.session_file(), Some(&**from), "{error}");
            assert!(!storage.exists(&fork).unwrap() || storage.read(&fork).unwrap() == b"changed", "{error}");
            let left = artifacts(storage, &fork);
            assert!(left.is_empty() || left.iter().any(|(_, bytes)| bytes == b"changed"), "{error}: {left:?}");
            assert!(storage.list_files(split(&fork).0, ".*").iter().all(|path| !path.contains("fork-staging")), "{error}");
            assert_eq!(artifacts(storage, from), all_artifacts(), "{error}");
            manager.append(ask("r")).unwrap();
            assert_eq!(messages(storage, from).len(), 3, "{error}");
        })
    }

    /// 04 §9.3 (0.17)
    #[test]
    fn each_check_of_a_fork_has_its_token() {
        let publishes = |asked: &Asked<'_>, fork: &str| asked.operation == "publish" && asked.path == fork;
        assert_eq!(fork_refused(|files, asked, fork| publishes(asked, fork).then(|| changed(files, fork))?), "destination_conflict");
        assert_eq!(
            fork_refused(|files, asked, fork| {
                publishes(asked, fork).then(|| changed(files, &join(artifacts_directory(fork), "z.md")))?
            }),
            "artifact_destination_changed_during_transcript_publication"
        );
        assert_eq!(
            fork_refused(|files, asked, fork| {
                let published = asked.operation == "exists" && asked.path == fork && files.exists(fork).unwrap();
                published.then(|| files.unlink(fork).unwrap())?;
                None
            }),
            "managed_fork_transcript_publish_missing"
        );
        assert_eq!(
            fork_refused(|files, asked, fork| {
                let looks = asked.operation == "tree" && asked.path == artifacts_directory(fork) && files.exists(fork).unwrap();
                looks.then(|| changed(files, fork))?
            }),
            "managed_fork_transcript_changed"
        );
        assert_eq!(
            fork_refused(|files, asked, _| {
                let staged = asked.operation == "publish" && asked.path.contains("fork-staging") && asked.path.ends_with("z.md");
                staged.then(|| changed(files, &join(split(asked.path).0, "foreign")))?
            }),
            "artifact_destination_terminal_mismatch"
        );
    }

    /// 04 §9.3: what can be derived again is left out
    #[test]
    fn a_fork_has_no_caches() {
        let memory = Memory::new();
        let mut manager = create(&memory);
        manager.append(answer("a")).unwrap();
        let from = artifacts_directory(FIRST);
        for name in
            ["resident-cache/x", ".session-memory.spill.idx", ".session-memory.spill.parent-3", "a.spill.other", "sub/resident-cache"]
        {
            memory.write(&join(from, name), b"").unwrap();
        }
        assert_eq!(manager.fork(), Ok(Artifacts::Taken));
        let names: Vec<String> = artifacts(&memory, SECOND).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a.spill.other", "sub/resident-cache"]);
    }

    #[test]
    fn no_fault_of_a_fork_changes_the_session_that_is_forked() {
        let run = |moment: u64| {
            let fs = workspaces();
            let armed = AtomicBool::new(false);
            let begun = std::sync::atomic::AtomicU64::new(0);
            let faulty = Inject::changing(&fs, |call: &Call<'_>| {
                let now = armed.load(Ordering::SeqCst) && call.phase == Phase::Before;
                (now && begun.fetch_add(1, Ordering::SeqCst) == moment).then_some(Errno::IO)
            });
            let storage = Files::new(&faulty);
            let mut manager = session(&storage);
            armed.store(true, Ordering::SeqCst);
            let forked = manager.fork();
            armed.store(false, Ordering::SeqCst);
            let plain = Files::new(&fs);
            let (from, _) = paths(&plain);
            assert_eq!((messages(&plain, &from).len(), artifacts(&plain, &from)), (2, all_artifacts()), "operation {moment}: {forked:?}");
            let path = manager.session_file().unwrap().to_owned();
            assert_eq!(forked.is_ok(), path != from, "operation {moment}");
            assert_eq!((messages(&plain, &path).len(), artifacts(&plain, &path)), (2, all_artifacts()), "operation {moment}: {forked:?}");
            begun.load(Ordering::SeqCst)
        };
        let count = run(u64::MAX);
        assert!(count > 30, "{count} operations");
        for moment in 0..count {
            run(moment);
        }
    }
}
