//! The artifact tree of a session: bounds, manifest, snapshot, and whether a tree still is the recorded one
//! (spec 02 §6.6, §6.5, §9.7). Reads, never follows a link, never recurses.

use super::migration_receipt::ManifestEntry;
use super::record::{BigInt, Tree, TreeEntry, is_tree, to_bigint};
use super::tombstone::LiveRoot;
use crate::fsys::{Bound, Error, Fs, Kind, Meta, Refusal, capture};
use crate::json::{JsString, Value, View};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Deepest directory that is fine (the root has depth 0).
pub const MAX_DEPTH: usize = 32;
/// Most entries, and most files, below the root.
pub const MAX_ENTRIES: u64 = 50_000;
/// Most bytes of one file.
pub const MAX_FILE_BYTES: u64 = 128 << 20;
/// Most bytes of all files.
pub const MAX_TOTAL_BYTES: u64 = 512 << 20;

/// Why a tree cannot be migrated, forked or deleted.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Fault {
    /// `unsafe_artifacts`: what it is, and where.
    #[error("{} {why}", path.display())]
    Unsafe {
        /// The object.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// `artifact_capacity_exceeded`: a bound of the whole tree.
    #[error("more than {limit} {unit}")]
    Capacity {
        /// The bound.
        limit: u64,
        /// Of what.
        unit: &'static str,
        /// How many there are at least.
        used: u64,
    },
    /// `managed_storage_unsupported`: an I/O failure, or a name that is no UTF-8.
    #[error("{0}")]
    Unsupported(String),
}

impl Fault {
    /// gjc's code when opening or deleting.
    pub const fn code(&self) -> &'static str {
        match self {
            Fault::Unsafe { .. } => "unsafe_artifacts",
            Fault::Capacity { .. } => "artifact_capacity_exceeded",
            Fault::Unsupported(_) => "managed_storage_unsupported",
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::Unsupported(error.to_string())
    }
}

/// One object of a surveyed tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    /// `/`-separated path below the root; empty for the root.
    pub relative: String,
    /// Its facts.
    pub meta: Meta,
}

/// A tree within its bounds: depth first, names sorted by bytes, the root first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Survey {
    /// The root's path.
    pub root: PathBuf,
    /// All objects.
    pub items: Vec<Item>,
    /// Bytes of all files.
    pub bytes: u64,
}

impl Survey {
    /// Entries below the root.
    pub fn entries(&self) -> u64 {
        self.items.len().saturating_sub(1) as u64
    }
    /// Bytes of the largest file; 0 without one.
    pub fn largest_file(&self) -> u64 {
        self.items.iter().filter(|item| item.meta.kind == Kind::File).map(|item| item.meta.size).max().unwrap_or_default()
    }
    /// Levels of directories below the root.
    pub fn depth(&self) -> u64 {
        let directories = self.items.iter().filter(|item| item.meta.kind == Kind::Directory && !item.relative.is_empty());
        directories.map(|item| 1 + item.relative.bytes().filter(|byte| *byte == b'/').count() as u64).max().unwrap_or_default()
    }
}

/// Walks the tree and stops at the first violation. `Ok(None)`: nothing stands there.
///
/// # Errors
/// The first violation in depth-first order; gjc meets them in directory order, which only matters when there are two.
pub fn survey(fs: &dyn Fs, root: &Path) -> Result<Option<Survey>, Fault> {
    let unsafe_at = |path: &Path, why| Err(Fault::Unsafe { path: path.to_owned(), why });
    if !fs.present(root)? {
        return Ok(None);
    }
    let meta = fs.lstat(root)?;
    if meta.kind != Kind::Directory {
        return unsafe_at(root, "is no real directory");
    }
    let mut survey = Survey { root: root.to_owned(), items: Vec::new(), bytes: 0 };
    // Directories and files still to be taken, the next one last.
    let mut pending = vec![(String::new(), root.to_owned(), meta, 0_usize)];
    let mut seen = 0_u64;
    while let Some((relative, path, meta, depth)) = pending.pop() {
        match meta.kind {
            Kind::Directory if depth > MAX_DEPTH => return unsafe_at(&path, "is a directory deeper than 32"),
            Kind::Directory => {
                let mut names = Vec::new();
                let directory = fs.open_dir(&path)?;
                for entry in directory.entries()? {
                    seen += 1;
                    if seen > MAX_ENTRIES {
                        return Err(Fault::Capacity { limit: MAX_ENTRIES, unit: "entries", used: seen });
                    }
                    names.push(entry?.name);
                }
                names.sort_by(|a, b| b.as_bytes().cmp(a.as_bytes()));
                for name in names {
                    let Some(text) = name.to_str() else {
                        return Err(Fault::Unsupported(format!("{} holds a name that is not UTF-8", path.display())));
                    };
                    let below = if relative.is_empty() { text.to_owned() } else { format!("{relative}/{text}") };
                    let meta = directory.lstat(&name)?;
                    pending.push((below, path.join(&name), meta, depth + 1));
                }
            }
            Kind::File if meta.nlink > 1 => return unsafe_at(&path, "has more than one link"),
            Kind::File if meta.size > MAX_FILE_BYTES => return unsafe_at(&path, "is larger than 128 MiB"),
            Kind::File => {
                survey.bytes = survey.bytes.saturating_add(meta.size);
                if survey.bytes > MAX_TOTAL_BYTES {
                    return Err(Fault::Capacity { limit: MAX_TOTAL_BYTES, unit: "bytes", used: survey.bytes });
                }
            }
            Kind::Symlink => return unsafe_at(&path, "is a symlink"),
            Kind::Fifo | Kind::Socket | Kind::Device => return unsafe_at(&path, "is a special file"),
        }
        survey.items.push(Item { relative, meta });
    }
    Ok(Some(survey))
}

/// What stands where a deletion retained an artifact root with this recorded identity (spec 02 §9.5). Existence is asked
/// through links, the rest of the object itself.
pub fn retained_root(fs: &dyn Fs, path: &Path, identity: &Value) -> LiveRoot {
    if fs.stat(path).is_err() {
        return LiveRoot::Holds;
    }
    let Some(meta) = fs.lstat(path).ok().filter(|meta| meta.kind == Kind::Directory) else { return LiveRoot::Differs };
    for (key, number) in [("dev", meta.dev), ("ino", meta.ino)] {
        match identity.member(key).map_or(BigInt::SyntaxError, to_bigint) {
            BigInt::SyntaxError => return LiveRoot::Untold,
            recorded if recorded != BigInt::Value(number.into()) => return LiveRoot::Differs,
            _ => {}
        }
    }
    match survey(fs, path) {
        Ok(survey) if survey.as_ref().is_none_or(|survey| survey.bytes == 0) => LiveRoot::Holds,
        Ok(_) => LiveRoot::Differs,
        Err(_) => LiveRoot::Untold,
    }
}

/// SHA-256 of one file of a surveyed tree, in hex.
///
/// # Errors
/// What the capture refuses.
pub fn hash(fs: &dyn Fs, path: &Path) -> Result<String, Refusal> {
    use sha2::{Digest, Sha256};
    let captured = capture(fs, path, Bound::AtMost(MAX_FILE_BYTES))?;
    Ok(data_encoding::HEXLOWER.encode(&Sha256::digest(&captured.bytes)))
}

/// The manifest of a surveyed tree, in the survey's order.
///
/// # Errors
/// What the capture of a file refuses.
pub fn manifest(fs: &dyn Fs, survey: &Survey) -> Result<Vec<ManifestEntry>, Refusal> {
    survey
        .items
        .iter()
        .map(|item| {
            let path = JsString::from(item.relative.as_str());
            Ok(match item.meta.kind {
                Kind::Directory => ManifestEntry::Directory { path },
                _ => ManifestEntry::File { path, size: item.meta.size, sha256: hash(fs, &survey.root.join(&item.relative))? },
            })
        })
        .collect()
}

/// The snapshot that receipts record.
///
/// # Errors
/// What the capture of a file refuses.
pub fn snapshot(fs: &dyn Fs, survey: &Survey) -> Result<Tree, Refusal> {
    let entry = |item: &Item| {
        let is_file = item.meta.kind != Kind::Directory;
        let sha256 = if is_file { Some(hash(fs, &survey.root.join(&item.relative))?) } else { None };
        Ok(TreeEntry::of(item.relative.as_str().into(), &item.meta, sha256))
    };
    Ok(Tree { entries: survey.items.iter().map(entry).collect::<Result<_, Refusal>>()? })
}

/// Whether an observed tree is compatible with a recorded loose one (spec 02 §9.7): same root, every observed entry recorded
/// with the same kind, dev and ino, each used once, paths equal component by component or detached names of the recorded
/// ancestors, files as recorded or empty. Missing entries are allowed.
pub fn is_compatible(observed: &Tree, recorded: &Value) -> bool {
    let root = |tree: &Value| ["rootDev", "rootIno"].map(|key| tree.str_member(key).map(Cow::into_owned));
    let observed = observed.to_value();
    if !is_tree(recorded) || root(&observed) != root(recorded) {
        return false;
    }
    let entries: Vec<Recorded<'_>> = recorded.member("entries").into_iter().flat_map(View::items).map(Recorded::of).collect();
    let mut by_object: BTreeMap<_, _> = entries.iter().map(|entry| (entry.object(), entry)).collect();
    let by_path: BTreeMap<&[u8], &Recorded<'_>> = entries.iter().map(|entry| (&*entry.path, entry)).collect();
    let seen: Vec<Recorded<'_>> = observed.member("entries").into_iter().flat_map(View::items).map(Recorded::of).collect();
    seen.iter().all(|entry| {
        let Some(record) = by_object.remove(&entry.object()) else { return false };
        let as_recorded = (&entry.size, &entry.mtime, &entry.sha256) == (&record.size, &record.mtime, &record.sha256);
        let content = &*entry.kind == b"directory" || as_recorded || &*entry.size == b"0";
        content && is_path_or_detached(&entry.path, &record.path, &by_path)
    })
}

/// What counts of an entry when a tree is held against a recorded one: texts, as records have them.
struct Recorded<'a> {
    path: Cow<'a, [u8]>,
    kind: Cow<'a, [u8]>,
    dev: Cow<'a, [u8]>,
    ino: Cow<'a, [u8]>,
    size: Cow<'a, [u8]>,
    mtime: Cow<'a, [u8]>,
    sha256: Cow<'a, [u8]>,
}

impl<'a> Recorded<'a> {
    fn of(entry: &'a Value) -> Self {
        let text = |key: &str| entry.str_member(key).unwrap_or_default();
        Recorded {
            path: text("relativePath"),
            kind: text("kind"),
            dev: text("dev"),
            ino: text("ino"),
            size: text("size"),
            mtime: text("mtimeNs"),
            sha256: text("sha256"),
        }
    }
    fn object(&self) -> [&[u8]; 3] {
        [&self.kind, &self.dev, &self.ino]
    }
}

fn is_path_or_detached(observed: &[u8], recorded: &[u8], by_path: &BTreeMap<&[u8], &Recorded<'_>>) -> bool {
    if recorded.is_empty() || observed.is_empty() {
        return recorded == observed;
    }
    let components = |path: &[u8]| path.split(|byte| *byte == b'/').count();
    let mut end = 0;
    components(observed) == components(recorded)
        && observed.split(|byte| *byte == b'/').zip(recorded.split(|byte| *byte == b'/')).all(|(seen, named)| {
            end = if end == 0 { named.len() } else { end + 1 + named.len() };
            let ancestor = recorded.get(..end).unwrap_or(recorded);
            by_path
                .get(ancestor)
                .is_some_and(|record| seen == named || seen == detached_name(ancestor, &record.dev, &record.ino).as_bytes())
        })
}

/// The name that an older native tree removal gave to a child: SHA-256 of relative path, NUL, dev, NUL, ino (spec 02 §9.7).
fn detached_name(relative: &[u8], dev: &[u8], ino: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    let hash = Sha256::digest([relative, dev, ino].join(&0));
    format!(".pi-tree-detached-{}", data_encoding::HEXLOWER.encode(&hash))
}

#[cfg(test)]
mod tests {
    use super::super::record::NodeKind;
    use super::*;
    use crate::fsys::Memory;

    fn code(fs: &Memory) -> Option<&'static str> {
        survey(fs, Path::new("/a")).err().map(|fault| fault.code())
    }

    #[test]
    fn absent_is_none_and_the_root_comes_first() {
        let fs = Memory::new();
        assert_eq!(survey(&fs, Path::new("/a")), Ok(None));
        fs.file("/a/b/z", b"12");
        fs.file("/a/b.log", b"3");
        let survey = survey(&fs, Path::new("/a")).unwrap().unwrap();
        let paths: Vec<&str> = survey.items.iter().map(|item| item.relative.as_str()).collect();
        assert_eq!(paths, ["", "b", "b/z", "b.log"]);
        assert_eq!((survey.bytes, survey.entries()), (3, 3));
    }
    #[test]
    fn what_is_unsafe() {
        for make in [
            (|fs: &Memory| fs.symlink("/a/l", "/x")) as fn(&Memory),
            |fs| fs.special("/a/p", Kind::Fifo),
            |fs| fs.sparse("/a/big", MAX_FILE_BYTES + 1),
            |fs| {
                fs.file("/a/f", b"1");
                fs.hard_link("/a/f", "/elsewhere");
            },
            |fs| fs.directory(format!("/a/{}", ["d"; 33].join("/"))),
        ] {
            let fs = Memory::new();
            fs.directory("/a");
            make(&fs);
            assert_eq!(code(&fs), Some("unsafe_artifacts"));
        }
    }
    #[test]
    fn depth_32_and_128_mib_are_fine() {
        let fs = Memory::new();
        fs.directory(format!("/a/{}", ["d"; 32].join("/")));
        fs.sparse("/a/big", MAX_FILE_BYTES);
        assert_eq!(code(&fs), None);
    }
    #[test]
    fn capacity_is_not_called_unsafe() {
        let fs = Memory::new();
        for n in 0..4 {
            fs.sparse(format!("/a/{n}"), MAX_FILE_BYTES);
        }
        assert_eq!(code(&fs), None);
        fs.file("/a/more", b"1");
        assert_eq!(code(&fs), Some("artifact_capacity_exceeded"));
    }
    #[test]
    fn the_worked_name_of_a_detached_child() {
        assert_eq!(
            detached_name(b"sub/B.txt", b"65024", b"10495553"),
            ".pi-tree-detached-e66074ff7bdeb61c54cde5ec9c8aa196c5ebd1105099f7b8d60d938d5adf3d13"
        );
    }
    fn tree(paths: &[(&str, u64, u64)]) -> Tree {
        let entry = |(path, ino, size): &(&str, u64, u64)| TreeEntry {
            relative_path: (*path).into(),
            kind: if *size == u64::MAX { NodeKind::Directory } else { NodeKind::File },
            dev: 1,
            ino: *ino,
            nlink: 1,
            size: if *size == u64::MAX { 0 } else { *size },
            mtime_ns: 5,
            ctime_ns: 6,
            sha256: (*size != u64::MAX).then(|| "x".into()),
        };
        Tree { entries: paths.iter().map(entry).collect() }
    }
    const DIR: u64 = u64::MAX;

    #[test]
    fn a_partly_removed_and_scrubbed_tree_is_compatible() {
        let recorded = tree(&[("", 1, DIR), ("sub", 2, DIR), ("sub/B.txt", 3, 7), ("c", 4, 9)]);
        let detached = format!("sub/{}", detached_name(b"sub/B.txt", b"1", b"3"));
        assert!(is_compatible(&tree(&[("", 1, DIR), ("sub", 2, DIR), (&detached, 3, 0)]), &recorded.to_value()));
        assert!(is_compatible(&recorded, &recorded.to_value()));
    }
    #[test]
    fn a_foreign_entry_or_new_payload_is_not_compatible() {
        let recorded = tree(&[("", 1, DIR), ("c", 4, 9)]).to_value();
        assert!(!is_compatible(&tree(&[("", 1, DIR), ("c", 5, 9)]), &recorded));
        assert!(!is_compatible(&tree(&[("", 1, DIR), ("d", 4, 9)]), &recorded));
        assert!(!is_compatible(&tree(&[("", 1, DIR), ("c", 4, 8)]), &recorded));
        assert!(!is_compatible(&tree(&[("", 1, DIR), ("c", 4, DIR)]), &recorded));
        assert!(!is_compatible(&tree(&[("", 2, DIR)]), &recorded));
    }
    #[test]
    fn an_entry_whose_recorded_ancestor_is_missing_is_not_compatible() {
        let recorded = tree(&[("", 1, DIR), ("sub/B.txt", 3, 7)]).to_value();
        assert!(!is_compatible(&tree(&[("", 1, DIR), ("sub/B.txt", 3, 7)]), &recorded));
    }
    #[test]
    fn a_retained_root_holds_while_it_is_the_recorded_one_without_payload() {
        let fs = Memory::new();
        let identity = |dev: &str, ino: &str| Value::parse(format!(r#"{{"dev":"{dev}","ino":"{ino}"}}"#).as_bytes()).unwrap();
        assert_eq!(retained_root(&fs, Path::new("/r"), &identity("x", "1")), LiveRoot::Holds);
        fs.directory("/r");
        let meta = fs.lstat(Path::new("/r")).unwrap();
        let same = identity(&meta.dev.to_string(), &format!("0x{:x}", meta.ino));
        assert_eq!(retained_root(&fs, Path::new("/r"), &same), LiveRoot::Holds);
        assert_eq!(retained_root(&fs, Path::new("/r"), &identity("x", "1")), LiveRoot::Untold);
        assert_eq!(retained_root(&fs, Path::new("/r"), &identity("99", "1")), LiveRoot::Differs);
        fs.file("/r/f", b"1");
        assert_eq!(retained_root(&fs, Path::new("/r"), &same), LiveRoot::Differs);
        fs.symlink("/r/l", "/x");
        assert_eq!(retained_root(&fs, Path::new("/r"), &same), LiveRoot::Untold);
    }
}
