//! Owners of task artifacts on disk (spec 03 §7.2, §7.3): opening one by its locator, and capturing what a deletion of it must
//! know. Nothing is followed and nothing is written.
//!
//! What the specification leaves open: a manifest that is no regular file with one link is called malformed, and of a parent
//! that is no real directory that is said before anything is said of the owner in it.

use super::owner::{MANIFEST, Manifest, has_pending_publication, owner_id};
use super::{Evidence, Locator, Refusal, TreeSnapshot};
use crate::agent::artifacts::{self, Fault as Unsurveyed};
use crate::agent::owner_evidence::Inode;
use crate::fsys::{self, Bound, Directory, Errno, Error, Fs, Kind, Meta, capture, closing};
use crate::json::JsStr;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

/// No manifest that gjc writes is nearly as long; what is longer is not believed.
const MANIFEST_CEILING: u64 = 16 << 20;

/// Why an owner was not opened or captured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// gjc's own token.
    Rule(Refusal),
    /// Something of it could not be read, or moved: nothing is known of the owner.
    Unread(fsys::Refusal),
    /// Its tree is none that can be captured.
    Uncaptured(Unsurveyed),
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Fault::Rule(refusal)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::Unread(error.into())
    }
}

/// The directory of owners of one profile.
#[derive(Clone, Copy)]
pub struct Owners<'a> {
    /// The file system.
    pub fs: &'a dyn Fs,
    /// `<R>/.task-artifact-owners`
    pub path: &'a Path,
    /// A copy from elsewhere: its inodes prove nothing and are not compared. What its records say of inodes is, among them.
    pub is_copy: bool,
}

impl Owners<'_> {
    /// Where the owner with this id is.
    pub fn root(&self, owner_id: &str) -> PathBuf {
        self.path.join(owner_id)
    }

    /// Opens the owner that `locator` names, for the session that it must be of (§7.2, the final-manifest rule): the manifest
    /// is read by its path and once more through the opened directory.
    ///
    /// # Errors
    /// The first condition that fails.
    pub fn open(&self, locator: &Locator, session: JsStr<'_>) -> Result<Manifest, Fault> {
        self.validate(locator, session)?;
        let directory = self.fs.open_dir(&self.root(&locator.owner_id)).map_err(unopened)?;
        let read = || {
            self.same_directory(&directory.stat()?, locator)?;
            let manifest = manifest_through(directory.as_ref())?;
            judge(&manifest, locator, session)?;
            Ok(manifest)
        };
        let manifest = read();
        match (manifest, directory.close()) {
            (Ok(_), Err(error)) => Err(error.into()),
            (manifest, _) => manifest,
        }
    }

    /// All of [`Owners::open`] but the opening.
    ///
    /// # Errors
    /// The first condition that fails.
    pub fn validate(&self, locator: &Locator, session: JsStr<'_>) -> Result<(), Fault> {
        match owner_id(session) {
            None => return Err(Refusal::SessionIdInvalid.into()),
            Some(id) if id != locator.owner_id => return Err(Refusal::SessionMismatch.into()),
            Some(_) => {}
        }
        self.real_directory(self.path)?;
        let meta = self.real_directory(&self.root(&locator.owner_id))?;
        judge(&self.manifest(&locator.owner_id)?, locator, session)?;
        self.same_directory(&meta, locator)
    }

    /// The manifest in the directory of this owner.
    ///
    /// # Errors
    /// [`Refusal::ManifestMissing`], [`Refusal::ManifestInvalid`], or that it was not read.
    pub fn manifest(&self, owner_id: &str) -> Result<Manifest, Fault> {
        let path = self.root(owner_id).join(MANIFEST);
        match capture(self.fs, &path, Bound::AtMost(MANIFEST_CEILING)) {
            Ok(captured) => Ok(Manifest::parse(&captured.bytes)?),
            Err(refusal) if refusal.is_absent() => Err(Refusal::ManifestMissing.into()),
            Err(fsys::Refusal::NotAFile(_) | fsys::Refusal::Links(_) | fsys::Refusal::Capacity { .. }) => {
                Err(Refusal::ManifestInvalid.into())
            }
            Err(fsys::Refusal::Failed(error)) if error.errno == Errno::LOOP => Err(Refusal::ManifestInvalid.into()),
            Err(refusal) => Err(Fault::Unread(refusal)),
        }
    }

    /// What a deletion or a retirement must know of the owner (§7.3).
    ///
    /// # Errors
    /// The first condition that fails.
    pub fn evidence(&self, locator: &Locator, session: JsStr<'_>) -> Result<Evidence, Fault> {
        let parent = inode(&self.real_directory(self.path)?);
        self.validate(locator, session)?;
        let survey = artifacts::survey(self.fs, &self.root(&locator.owner_id)).map_err(Fault::Uncaptured)?.ok_or(Refusal::OwnerMissing)?;
        let captured = artifacts::snapshot(self.fs, &survey).map_err(Fault::Unread)?;
        let tree = TreeSnapshot::captured(&captured).ok_or(Refusal::EvidenceInvalid)?;
        if has_pending_publication(&tree) {
            return Err(Refusal::WriterNotQuiescent.into());
        }
        judge(&self.manifest(&locator.owner_id)?, locator, session)?;
        if inode(&self.real_directory(self.path)?) != parent {
            return Err(Refusal::ParentChangedDuringCapture.into());
        }
        Ok(Evidence { session_id: session.to_owned(), locator: locator.clone(), parent, tree })
    }

    fn real_directory(&self, path: &Path) -> Result<Meta, Fault> {
        match self.fs.lstat(path) {
            Ok(meta) if meta.kind == Kind::Directory => Ok(meta),
            Ok(_) => Err(Refusal::OwnerReplaced.into()),
            Err(error) => Err(unopened(error)),
        }
    }

    fn same_directory(&self, meta: &Meta, locator: &Locator) -> Result<(), Fault> {
        let same = self.is_copy || meta.object() == (locator.directory_dev, locator.directory_ino);
        if same { Ok(()) } else { Err(Refusal::OwnerIdentityMismatch.into()) }
    }
}

/// The manifest against the locator and the session that were asked for.
fn judge(manifest: &Manifest, locator: &Locator, session: JsStr<'_>) -> Result<(), Fault> {
    manifest.is_of(locator)?;
    if manifest.session_id.as_js() == session { Ok(()) } else { Err(Refusal::SessionMismatch.into()) }
}

/// The manifest in a directory that is held open.
fn manifest_through(directory: &dyn Directory) -> Result<Manifest, Fault> {
    let name = OsStr::new(MANIFEST);
    match directory.lstat(name) {
        Ok(meta) if meta.kind == Kind::File => {}
        Ok(_) => return Err(Refusal::ManifestInvalid.into()),
        Err(error) if error.errno == Errno::NOENT => return Err(Refusal::ManifestMissing.into()),
        Err(error) => return Err(error.into()),
    }
    let mut file = directory.open(name)?;
    let mut bytes = Vec::new();
    let path = Path::new(MANIFEST).to_owned();
    let failed =
        |error: std::io::Error| Error { op: "read", path, errno: error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error) };
    let read = (&mut file).take(MANIFEST_CEILING).read_to_end(&mut bytes).map_err(failed);
    closing(read, || file.close())?;
    Ok(Manifest::parse(&bytes)?)
}

fn inode(meta: &Meta) -> Inode {
    Inode { dev: meta.dev, ino: meta.ino }
}

/// What is not there is missing, what is reached through something else than directories is replaced.
fn unopened(error: Error) -> Fault {
    match error.errno {
        Errno::NOENT => Refusal::OwnerMissing.into(),
        Errno::NOTDIR | Errno::LOOP => Refusal::OwnerReplaced.into(),
        _ => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsys::{Inject, Memory, Phase};

    const OWNERS: &str = "/r/.task-artifact-owners";

    fn root() -> String {
        format!("{OWNERS}/{}", owner_id("s".into()).unwrap())
    }
    fn manifest_of(fs: &Memory, session: &str) -> Manifest {
        let meta = fs.lstat(Path::new(&root())).unwrap();
        let locator = Locator { owner_id: owner_id("s".into()).unwrap(), directory_dev: meta.dev, directory_ino: meta.ino };
        Manifest { locator, session_id: session.into() }
    }
    fn set_manifest(fs: &Memory, bytes: &[u8]) {
        let path = format!("{}/{MANIFEST}", root());
        if fs.present(Path::new(&path)).unwrap() {
            fs.remove(&path);
        }
        fs.file(path, bytes);
    }
    /// An owner of the session `s` with one artifact, and its locator.
    fn tree() -> (Memory, Locator) {
        let fs = Memory::new();
        fs.file(format!("{}/0.bash.log", root()), b"output");
        let manifest = manifest_of(&fs, "s");
        set_manifest(&fs, &manifest.encode());
        (fs, manifest.locator)
    }
    fn owners(fs: &dyn Fs) -> Owners<'_> {
        Owners { fs, path: Path::new(OWNERS), is_copy: false }
    }
    fn opened(fs: &dyn Fs, locator: &Locator) -> Result<(), Fault> {
        owners(fs).open(locator, "s".into()).map(|_| ())
    }
    /// What opening says after one change.
    fn after(change: impl FnOnce(&Memory)) -> Result<(), Fault> {
        let (fs, locator) = tree();
        change(&fs);
        opened(&fs, &locator)
    }
    fn refused(refusal: Refusal) -> Result<(), Fault> {
        Err(Fault::Rule(refusal))
    }

    #[test]
    fn an_owner_opens_by_its_locator_for_its_session() {
        let (fs, locator) = tree();
        assert_eq!(owners(&fs).open(&locator, "s".into()), Ok(manifest_of(&fs, "s")));
        assert_eq!(owners(&fs).open(&locator, "other".into()), Err(Fault::Rule(Refusal::SessionMismatch)));
        assert_eq!(owners(&fs).open(&locator, "".into()), Err(Fault::Rule(Refusal::SessionIdInvalid)));
    }

    #[test]
    fn each_condition_has_its_token() {
        assert_eq!(after(|fs| fs.remove(root())), refused(Refusal::OwnerMissing));
        assert_eq!(after(|fs| fs.remove(OWNERS)), refused(Refusal::OwnerMissing));
        let swapped = |path: String| {
            move |fs: &Memory| {
                fs.rename(&path, "/elsewhere");
                fs.symlink(&path, "/elsewhere");
            }
        };
        assert_eq!(after(swapped(root())), refused(Refusal::OwnerReplaced));
        assert_eq!(after(swapped(OWNERS.to_owned())), refused(Refusal::OwnerReplaced));
        let manifest = format!("{}/{MANIFEST}", root());
        assert_eq!(after(|fs| fs.remove(&manifest)), refused(Refusal::ManifestMissing));
        assert_eq!(after(|fs| set_manifest(fs, b"{}")), refused(Refusal::ManifestInvalid));
        assert_eq!(after(swapped(manifest.clone())), refused(Refusal::ManifestInvalid));
        assert_eq!(after(|fs| set_manifest(fs, &manifest_of(fs, "other").encode())), refused(Refusal::SessionMismatch));
        let copied = |fs: &Memory| {
            let mut manifest = manifest_of(fs, "s");
            manifest.locator.directory_ino += 1;
            set_manifest(fs, &manifest.encode());
        };
        assert_eq!(after(copied), refused(Refusal::ManifestMismatch));
    }

    #[test]
    fn another_directory_under_the_same_name_is_refused_where_inodes_prove_something() {
        let (fs, mut locator) = tree();
        locator.directory_ino += 1;
        set_manifest(&fs, &Manifest { locator: locator.clone(), session_id: "s".into() }.encode());
        assert_eq!(opened(&fs, &locator), refused(Refusal::OwnerIdentityMismatch));
        let copy = Owners { is_copy: true, ..owners(&fs) };
        assert!(copy.open(&locator, "s".into()).is_ok(), "near miss: a copy has other inodes");
    }

    #[test]
    fn the_order_of_the_conditions() {
        let (fs, mut locator) = tree();
        locator.directory_ino += 1;
        set_manifest(&fs, b"{");
        assert_eq!(opened(&fs, &locator), refused(Refusal::ManifestInvalid), "the manifest before the directory");
        set_manifest(&fs, &Manifest { locator: locator.clone(), session_id: "other".into() }.encode());
        assert_eq!(opened(&fs, &locator), refused(Refusal::SessionMismatch), "its session before the directory");
    }

    /// At every operation the manifest is given to another session, with the same locator: what was opened is theirs only from
    /// the moment on when the last reading has begun.
    #[test]
    fn a_manifest_that_changes_its_session_while_it_is_opened_is_refused() {
        let (fs, locator) = tree();
        let openings = std::sync::Mutex::new(Vec::new());
        let counting = Inject::new(&fs, |call| {
            if call.op == "open" && call.phase == Phase::Before {
                openings.lock().unwrap().push(call.number);
            }
            None
        });
        opened(&counting, &locator).unwrap();
        let total = counting.operations();
        let openings = openings.lock().unwrap().clone();
        assert_eq!(openings.len(), 2, "the manifest is read twice");
        for position in 0..total {
            let (fs, locator) = tree();
            let inject = Inject::new(&fs, |call| {
                if call.number == position && call.phase == Phase::Before {
                    set_manifest(&fs, &manifest_of(&fs, "other").encode());
                }
                None
            });
            assert_eq!(opened(&inject, &locator).is_ok(), position > openings[1], "at {position} of {total}, openings {openings:?}");
        }
    }

    /// The number of the last operation of this kind while `act` runs.
    fn last_call(is: impl Fn(&str, &Path) -> bool + Sync, act: impl Fn(&dyn Fs, &Locator)) -> u64 {
        let (fs, locator) = tree();
        let last = std::sync::Mutex::new(None);
        let counting = Inject::new(&fs, |call| {
            if call.phase == Phase::Before && is(call.op, call.path) {
                *last.lock().unwrap() = Some(call.number);
            }
            None
        });
        act(&counting, &locator);
        let last = *last.lock().unwrap();
        last.unwrap()
    }
    /// What `act` says when `change` happens right before that operation.
    fn meanwhile<T>(number: u64, change: impl Fn(&Memory) + Sync, act: impl Fn(&dyn Fs, &Locator) -> T) -> T {
        let (fs, locator) = tree();
        let inject = Inject::new(&fs, |call| {
            if call.number == number && call.phase == Phase::Before {
                change(&fs);
            }
            None
        });
        act(&inject, &locator)
    }
    fn captured(fs: &dyn Fs, locator: &Locator) -> Result<usize, Fault> {
        owners(fs).evidence(locator, "s".into()).map(|evidence| evidence.tree.entries.len())
    }

    /// The same manifest in another directory: the opened one is compared with the locator, not only its name.
    #[test]
    fn a_directory_that_is_swapped_before_it_is_opened_is_refused() {
        let opening = last_call(|op, path| op == "opendir" && path == Path::new(&root()), |fs, locator| opened(fs, locator).unwrap());
        let swap = |fs: &Memory| {
            let manifest = manifest_of(fs, "s").encode();
            fs.rename(root(), "/elsewhere");
            fs.directory(root());
            fs.file(format!("{}/{MANIFEST}", root()), &manifest);
        };
        assert_eq!(meanwhile(opening, swap, opened), refused(Refusal::OwnerIdentityMismatch));
    }
    #[test]
    fn a_manifest_that_becomes_a_link_before_the_second_reading_is_no_manifest() {
        let opening = last_call(|op, path| op == "opendir" && path == Path::new(&root()), |fs, locator| opened(fs, locator).unwrap());
        let swap = |fs: &Memory| {
            let manifest = format!("{}/{MANIFEST}", root());
            fs.rename(&manifest, "/elsewhere");
            fs.symlink(&manifest, "/elsewhere");
        };
        assert_eq!(meanwhile(opening, swap, opened), refused(Refusal::ManifestInvalid));
    }
    #[test]
    fn a_manifest_with_two_names_is_none() {
        let manifest = format!("{}/{MANIFEST}", root());
        assert_eq!(after(|fs| fs.hard_link(&manifest, "/second")), refused(Refusal::ManifestInvalid));
    }
    /// §7.3: after the tree the manifest is read once more, and then the directory of owners is looked at again.
    #[test]
    fn what_changes_while_evidence_is_captured_is_refused() {
        let manifest = PathBuf::from(format!("{}/{MANIFEST}", root()));
        let of_tree = |_: &str, path: &Path| path.starts_with(root()) && path != manifest;
        let reading = 1 + last_call(of_tree, |fs, locator| assert_eq!(captured(fs, locator), Ok(3)));
        let rewrite = |fs: &Memory| set_manifest(fs, &manifest_of(fs, "other").encode());
        assert_eq!(meanwhile(reading, rewrite, captured).err(), Some(Fault::Rule(Refusal::SessionMismatch)));
        let looking =
            last_call(|op, path| op == "lstat" && path == Path::new(OWNERS), |fs, locator| assert_eq!(captured(fs, locator), Ok(3)));
        assert!(looking > reading, "{looking} behind {reading}");
        let replace = |fs: &Memory| {
            fs.rename(OWNERS, "/elsewhere");
            fs.directory(OWNERS);
        };
        assert_eq!(meanwhile(looking, replace, captured).err(), Some(Fault::Rule(Refusal::ParentChangedDuringCapture)));
    }

    #[test]
    fn evidence_is_captured_from_a_quiet_owner() {
        let (fs, locator) = tree();
        let evidence = owners(&fs).evidence(&locator, "s".into()).unwrap();
        assert_eq!((evidence.locator.clone(), evidence.tree.entries.len()), (locator.clone(), 3));
        fs.file(format!("{}/a/.x.0f8fad5b-d9cb-469f-a165-70867728950e.staging", root()), b"");
        assert_eq!(owners(&fs).evidence(&locator, "s".into()), Err(Fault::Rule(Refusal::WriterNotQuiescent)));
    }

    /// The owner itself stays what it was; the directory that holds it does not.
    #[test]
    fn a_directory_of_owners_that_is_replaced_during_a_capture_is_noticed() {
        let (fs, locator) = tree();
        let inject = Inject::new(&fs, |call| {
            if call.op == "open" && call.path.ends_with("0.bash.log") && call.phase == Phase::After {
                fs.renumber(OWNERS, 900_000);
            }
            None
        });
        let Err(Fault::Rule(refusal)) = owners(&inject).evidence(&locator, "s".into()) else { panic!("it was not noticed") };
        assert_eq!(refusal.token(), "task_artifact_owner_parent_changed_during_capture");
    }

    #[test]
    fn a_manifest_that_vanishes_before_the_second_reading_is_missing() {
        let opening = last_call(|op, path| op == "opendir" && path == Path::new(&root()), |fs, locator| opened(fs, locator).unwrap());
        let vanish = |fs: &Memory| fs.remove(format!("{}/{MANIFEST}", root()));
        assert_eq!(meanwhile(opening, vanish, opened), refused(Refusal::ManifestMissing));
    }
    #[test]
    fn an_owner_whose_directory_fails_to_close_was_not_read() {
        let (fs, locator) = tree();
        let failing = Inject::new(&fs, |call| (call.op == "close" && call.path == Path::new(&root())).then_some(Errno::IO));
        assert!(matches!(opened(&failing, &locator), Err(Fault::Unread(_))));
    }
}
