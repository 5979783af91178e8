//! How records name the owner of a session's task artifacts: its locator, a snapshot of its tree, and the evidence that
//! a deletion or a retirement carries (spec 03 §5.2, §5.3, §5.4). Pure. Tombstones and retirement receipts hold the same
//! evidence, so its grammar lives here, in the first room that needs it.

use crate::agent::record::{NodeKind, Tree, closed};
use crate::json::stringify::{Members, Out, array, object};
use crate::json::view::View;
use crate::json::{JsStr, JsString, Kind, spelling};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

pub use crate::transcript::readers::owner::Locator;

/// Entries of a tree snapshot, the root included (spec 03 §5.3). A tree of exactly 50,000 entries *below* its root passes
/// gjc's walk and fails here.
pub const MAX_ENTRIES: usize = 50_000;

/// SHA-256 of no bytes: what a scrubbed file has.
pub const EMPTY_SHA256: [u8; 32] = [
    0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24, 0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b,
    0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
];

/// Why evidence, or a part of it, is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Invalid {
    /// The locator inside it is malformed.
    #[error("task_artifact_owner_locator_invalid")]
    Locator,
    /// Anything else.
    #[error("task_artifact_owner_evidence_invalid")]
    Evidence,
}

/// A whole number of any size in canonical decimal (`D` of spec 03 §5, or its signed form). Equal texts are equal numbers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Decimal {
    /// Not negative and of 64 bits: nearly all there are.
    Small(u64),
    /// Any other, as it is spelt.
    Text(Box<str>),
}

impl Decimal {
    /// `^(0|[1-9][0-9]*)$`
    pub fn unsigned(text: &[u8]) -> Option<Decimal> {
        let large = || std::str::from_utf8(text).ok().filter(|text| spelling::is_decimal(text.as_bytes()));
        spelling::canonical_decimal(text).map(Decimal::Small).or_else(|| Some(Decimal::Text(large()?.into())))
    }
    /// `^(0|-?[1-9][0-9]*)$`
    pub fn signed(text: &[u8]) -> Option<Decimal> {
        match text.strip_prefix(b"-") {
            Some(magnitude) => {
                let spelt = spelling::is_decimal(magnitude) && magnitude != b"0";
                std::str::from_utf8(text).ok().filter(|_| spelt).map(|text| Decimal::Text(text.into()))
            }
            None => Decimal::unsigned(text),
        }
    }
    /// Writes it as a member.
    pub fn write<O: Out>(&self, key: &'static str, members: &mut Members<'_, O>) {
        match self {
            Decimal::Small(number) => members.decimal(key, *number),
            Decimal::Text(text) => members.text(key, &**text),
        }
    }
}

impl From<u64> for Decimal {
    fn from(number: u64) -> Self {
        Decimal::Small(number)
    }
}

impl From<i128> for Decimal {
    fn from(number: i128) -> Self {
        u64::try_from(number).map_or_else(|_| Decimal::Text(number.to_string().into()), Decimal::Small)
    }
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Decimal::Small(number) => number.fmt(f),
            Decimal::Text(text) => f.write_str(text),
        }
    }
}

/// Device and inode of a directory (`parentIdentity`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Inode {
    /// Device number.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
}

impl Inode {
    /// Closed, `dev` and `ino` native ids.
    pub fn read<'a>(value: impl View<'a>) -> Option<Inode> {
        let ([dev, ino], []) = closed(value, ["dev", "ino"], [])?;
        Inode::of(dev, ino)
    }
    /// The two members `dev` and `ino`, whatever else the object has.
    pub fn numbers<'a>(value: impl View<'a>, dev: &str, ino: &str) -> Option<Inode> {
        Inode::of(value.get(dev)?, value.get(ino)?)
    }
    fn of<'a, V: View<'a>>(dev: V, ino: V) -> Option<Inode> {
        Some(Inode { dev: native(dev)?, ino: native(ino)? })
    }
    /// The record form.
    pub fn write<O: Out>(self, out: &mut O) {
        object(out, |inode| {
            inode.decimal("dev", self.dev);
            inode.decimal("ino", self.ino);
        });
    }
}

/// A string that is a native id (`N` of spec 03 §5): canonical decimal up to 2^64−1.
fn native<'a>(value: impl View<'a>) -> Option<u64> {
    value.as_str().and_then(spelling::canonical_decimal)
}

/// One entry of a tree snapshot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// `/`-separated, empty for the root.
    pub relative_path: JsString,
    /// File or directory.
    pub kind: NodeKind,
    /// Device number.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// Link count.
    pub nlink: u64,
    /// Bytes.
    pub size: u64,
    /// Modification time, nanoseconds since 1970. Never negative: a file dated before 1970 cannot be evidenced.
    pub mtime_ns: Decimal,
    /// Change time, nanoseconds since 1970.
    pub ctime_ns: Decimal,
    /// Content hash; the codec does not care which entries have one.
    pub sha256: Option<[u8; 32]>,
}

impl Entry {
    /// A file whose content was taken away.
    pub fn is_scrubbed(&self) -> bool {
        self.kind == NodeKind::File && self.size == 0 && self.sha256 == Some(EMPTY_SHA256)
    }
    fn read<'a, V: View<'a>>(value: V) -> Option<Entry> {
        const REQUIRED: [&str; 8] = ["relativePath", "kind", "dev", "ino", "nlink", "size", "mtimeNs", "ctimeNs"];
        let ([path, kind, dev, ino, nlink, size, modified, changed], [sha256]) = closed(value, REQUIRED, ["sha256"])?;
        let time = |time: V| time.as_str().and_then(|text| Decimal::unsigned(&text));
        let claimed = Entry::of([path, kind, dev, ino, nlink, size], sha256)?;
        let entry = Entry { mtime_ns: time(modified)?, ctime_ns: time(changed)?, ..claimed };
        let hash = sha256.is_none() || entry.sha256.is_some();
        (is_path(entry.relative_path.as_bytes()) && hash).then_some(entry)
    }
    /// What a record says of an entry, its times left out, before the grammar of a whole entry is asked for. None when a kind or
    /// number, or a file's hash, is none.
    pub(crate) fn claimed<'a>(value: impl View<'a>) -> Option<Entry> {
        let get = |key| value.get(key);
        Entry::of([get("relativePath")?, get("kind")?, get("dev")?, get("ino")?, get("nlink")?, get("size")?], get("sha256"))
    }
    fn of<'a, V: View<'a>>([path, kind, dev, ino, nlink, size]: [V; 6], sha256: Option<V>) -> Option<Entry> {
        let kind = match kind.as_str()?.as_ref() {
            b"directory" => NodeKind::Directory,
            b"file" => NodeKind::File,
            _ => return None,
        };
        let sha256 = sha256.map(|hash| hash.as_str().and_then(|hash| spelling::hex64(&hash)));
        Some(Entry {
            relative_path: path.as_str().map(|path| JsString::from_wtf8(path.into_owned()))?,
            kind,
            dev: native(dev)?,
            ino: native(ino)?,
            nlink: native(nlink)?,
            size: native(size)?,
            mtime_ns: Decimal::Small(0),
            ctime_ns: Decimal::Small(0),
            sha256: match sha256 {
                Some(None) if kind == NodeKind::File => return None,
                sha256 => sha256.flatten(),
            },
        })
    }
    fn write<O: Out>(&self, out: &mut O) {
        object(out, |entry| {
            entry.text("relativePath", self.relative_path.as_bytes());
            entry.text("kind", self.kind.word());
            entry.decimal("dev", self.dev);
            entry.decimal("ino", self.ino);
            entry.decimal("nlink", self.nlink);
            entry.decimal("size", self.size);
            self.mtime_ns.write("mtimeNs", entry);
            self.ctime_ns.write("ctimeNs", entry);
            if let Some(sha256) = &self.sha256 {
                entry.hex64("sha256", sha256);
            }
        });
    }
}

/// The root (empty), or components that are neither empty nor `.` nor `..`, joined by `/`; no backslash anywhere.
fn is_path(path: &[u8]) -> bool {
    path.is_empty() || is_safe_relative_path(path)
}

/// A relative path that stays inside: not empty, not absolute, no backslash, no empty, `.` or `..` component (spec 03
/// §7.4, `task_artifact_owner_relative_path_invalid`).
pub fn is_safe_relative_path(path: &[u8]) -> bool {
    !path.contains(&b'\\') && path.split(|byte| *byte == b'/').all(|component| !matches!(component, b"" | b"." | b".."))
}

/// The path of the directory that holds the entry with this path.
pub fn parent(path: &[u8]) -> &[u8] {
    memchr::memrchr(b'/', path).and_then(|at| path.get(..at)).unwrap_or_default()
}

/// The tree of an owner as a record holds it: the entries in the order of the record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TreeSnapshot {
    /// Device and inode of the root entry.
    pub root: Inode,
    /// 1 to 50,000 entries with distinct paths; every parent is among them, as a directory; one is the root.
    pub entries: Vec<Entry>,
}

impl TreeSnapshot {
    /// Reads a tree snapshot; none for any defect. Work and memory grow with the text, not with what it claims.
    pub fn read<'a>(value: impl View<'a>) -> Option<TreeSnapshot> {
        let ([dev, ino, entries], []) = closed(value, ["rootDev", "rootIno", "entries"], [])?;
        let root = Inode::of(dev, ino)?;
        if entries.kind() != Kind::Array {
            return None;
        }
        let count = entries.items().take(MAX_ENTRIES + 1).count();
        if !(1..=MAX_ENTRIES).contains(&count) {
            return None;
        }
        let mut read = Vec::with_capacity(count);
        for entry in entries.items() {
            read.push(Entry::read(entry)?);
        }
        let tree = TreeSnapshot { root, entries: read };
        tree.is_whole().then_some(tree)
    }
    /// The snapshot of a captured tree, when it can be evidenced.
    pub fn captured(tree: &Tree) -> Option<TreeSnapshot> {
        let root = tree.root()?;
        let time = |time: i128| (time >= 0).then(|| Decimal::from(time));
        let mut entries = Vec::with_capacity(tree.entries.len());
        for entry in &tree.entries {
            entries.push(Entry {
                relative_path: entry.relative_path.clone(),
                kind: entry.kind,
                dev: entry.dev,
                ino: entry.ino,
                nlink: entry.nlink,
                size: entry.size,
                mtime_ns: time(entry.mtime_ns)?,
                ctime_ns: time(entry.ctime_ns)?,
                sha256: match &entry.sha256 {
                    Some(hash) => Some(spelling::hex64(hash.as_bytes())?),
                    None => None,
                },
            });
        }
        let tree = TreeSnapshot { root: Inode { dev: root.dev, ino: root.ino }, entries };
        (tree.entries.len() <= MAX_ENTRIES && tree.entries.iter().all(|entry| is_path(entry.relative_path.as_bytes())) && tree.is_whole())
            .then_some(tree)
    }
    /// Distinct paths, every parent a directory, and the root what the snapshot says.
    fn is_whole(&self) -> bool {
        let mut kinds: Vec<(&[u8], NodeKind)> = self.entries.iter().map(|entry| (entry.relative_path.as_bytes(), entry.kind)).collect();
        kinds.sort_unstable_by_key(|(path, _)| *path);
        let are_distinct = kinds.windows(2).all(|pair| pair[0].0 != pair[1].0);
        let kind_of =
            |path: &[u8]| kinds.binary_search_by_key(&path, |(path, _)| path).ok().and_then(|at| kinds.get(at)).map(|(_, kind)| *kind);
        let rooted = self
            .entries
            .iter()
            .find(|entry| entry.relative_path.as_bytes().is_empty())
            .is_some_and(|root| root.kind == NodeKind::Directory && Inode { dev: root.dev, ino: root.ino } == self.root);
        are_distinct
            && rooted
            && self.entries.iter().all(|entry| {
                let path = entry.relative_path.as_bytes();
                path.is_empty() || kind_of(parent(path)) == Some(NodeKind::Directory)
            })
    }
    /// What `of` says of each entry, by its path.
    pub fn by_path<'t, T>(&'t self, of: impl Fn(&'t Entry) -> T) -> HashMap<&'t [u8], T> {
        self.entries.iter().map(|entry| (entry.relative_path.as_bytes(), of(entry))).collect()
    }
    /// True when no file of the tree has content.
    pub fn is_scrubbed(&self) -> bool {
        self.entries.iter().all(|entry| entry.kind == NodeKind::Directory || entry.is_scrubbed())
    }
    /// The record form.
    pub fn write<O: Out>(&self, out: &mut O) {
        object(out, |tree| {
            tree.decimal("rootDev", self.root.dev);
            tree.decimal("rootIno", self.root.ino);
            tree.with("entries", |out| array(out, &self.entries, |out, entry| entry.write(out)));
        });
    }
}

/// Writes a locator in its canonical order.
pub fn write_locator<O: Out>(locator: &Locator, out: &mut O) {
    object(out, |members| {
        members.number("schemaVersion", 1.0);
        members.text("ownerId", &locator.owner_id);
        members.decimal("directoryDev", locator.directory_dev);
        members.decimal("directoryIno", locator.directory_ino);
    });
}

/// SHA-256 of a JavaScript string's UTF-8; lone surrogates count as U+FFFD.
pub fn sha256(text: JsStr<'_>) -> [u8; 32] {
    Sha256::digest(text.to_string_lossy().as_bytes()).into()
}

/// The same in lower-case hex.
pub fn sha256_hex(text: JsStr<'_>) -> String {
    data_encoding::HEXLOWER.encode(&sha256(text))
}

/// The owner id of a session: the hash of its id. None for an empty id (`task_artifact_owner_session_id_invalid`).
pub fn owner_id(session_id: JsStr<'_>) -> Option<String> {
    (!session_id.is_empty()).then(|| sha256_hex(session_id))
}

/// What a retirement or deletion knows of the owner it removes (schema 2).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Evidence {
    /// Session id; not empty. Its hash is the owner id.
    pub session_id: JsString,
    /// Where the owner is; its directory is the root of the tree.
    pub locator: Locator,
    /// The directory of all owners.
    pub parent: Inode,
    /// The owner's tree.
    pub tree: TreeSnapshot,
}

impl Evidence {
    /// Reads evidence, with gjc's checks in gjc's order.
    ///
    /// # Errors
    /// [`Invalid::Locator`] for a locator that is there and malformed, [`Invalid::Evidence`] for every other defect.
    pub fn read<'a>(value: impl View<'a>) -> Result<Evidence, Invalid> {
        let invalid = Invalid::Evidence;
        // Only counted here: every one of the five is asked for below.
        let five = value.is_record() && value.members().take(6).count() == 5;
        if !five || value.get("schemaVersion").and_then(View::as_f64) != Some(2.0) {
            return Err(invalid);
        }
        let session_id = value.str_member("sessionId").ok_or(invalid)?;
        let locator = Locator::of(value.get("locator").ok_or(invalid)?).ok_or(Invalid::Locator)?;
        let parent = value.get("parentIdentity").and_then(Inode::read).ok_or(invalid)?;
        let tree = value.get("treeSnapshot").and_then(TreeSnapshot::read).ok_or(invalid)?;
        Evidence::new(JsString::from_wtf8(session_id.into_owned()), locator, parent, tree).ok_or(invalid)
    }
    /// Evidence of these parts; none when they do not belong together.
    pub fn new(session_id: JsString, locator: Locator, parent: Inode, tree: TreeSnapshot) -> Option<Evidence> {
        let is_owner = |id: &str| !session_id.as_bytes().is_empty() && spelling::hex64(id.as_bytes()) == Some(sha256(session_id.as_js()));
        let whole = is_owner(&locator.owner_id) && tree.root == Inode { dev: locator.directory_dev, ino: locator.directory_ino };
        whole.then_some(Evidence { session_id, locator, parent, tree })
    }
    /// The record form.
    pub fn write<O: Out>(&self, out: &mut O) {
        self.write_with(|out| self.tree.write(out), out);
    }
    /// The same with what is written for the tree.
    pub(crate) fn write_with<O: Out>(&self, tree: impl FnOnce(&mut O), out: &mut O) {
        object(out, |evidence| {
            evidence.number("schemaVersion", 2.0);
            evidence.text("sessionId", self.session_id.as_bytes());
            evidence.with("locator", |out| write_locator(&self.locator, out));
            evidence.with("parentIdentity", |out| self.parent.write(out));
            evidence.with("treeSnapshot", tree);
        });
    }
}

/// Evidence of a session whose owner holds a manifest, a file, and a directory with a file, as JSON text.
#[cfg(test)]
pub fn example(session: &str) -> String {
    let id = owner_id(JsStr::from(session)).unwrap_or_default();
    let entry = |path: &str, kind: &str, ino: u64, nlink: u64, size: u64, sha256: &str| {
        format!(
            r#"{{"relativePath":"{path}","kind":"{kind}","dev":"2049","ino":"{ino}","nlink":"{nlink}","size":"{size}","mtimeNs":"1760000000000000000","ctimeNs":"1760000000000000001"{sha256}}}"#
        )
    };
    let hash = format!(r#","sha256":"{}""#, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
    let entries = [
        entry("", "directory", 131_337, 3, 4096, ""),
        entry("0.bash.log", "file", 131_341, 1, 5, &hash),
        entry("sub", "directory", 131_342, 3, 4096, ""),
        entry("sub/1.bash.log", "file", 131_343, 1, 5, &hash),
    ];
    format!(
        r#"{{"schemaVersion":2,"sessionId":"{session}","locator":{{"schemaVersion":1,"ownerId":"{id}","directoryDev":"2049","directoryIno":"131337"}},"parentIdentity":{{"dev":"2049","ino":"131000"}},"treeSnapshot":{{"rootDev":"2049","rootIno":"131337","entries":[{}]}}}}"#,
        entries.join(",")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Value;

    fn read(text: &str) -> Result<Evidence, Invalid> {
        Evidence::read(&Value::parse(text.as_bytes()).expect("the test's text is JSON"))
    }
    fn with(from: &str, to: &str) -> Result<(), Invalid> {
        let text = example("s");
        assert!(text.contains(from), "{from}");
        read(&text.replacen(from, to, 1)).map(|_| ())
    }

    #[test]
    fn what_is_read_is_written_back() {
        let mut out = Vec::new();
        read(&example("s")).unwrap().write(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), example("s"));
    }
    #[test]
    fn the_owner_id_is_the_hash_of_the_session() {
        let id = owner_id(JsStr::from("1f9d2a6b9c0d1234"));
        assert_eq!(id.as_deref(), Some("dcb857c3f41979f9816b0305bad43ee24adff65c99ff000fc70da14f6f2d8f04"));
        assert_eq!(owner_id(JsStr::from("")), None);
        assert_eq!(owner_id(JsStr::from_wtf8(b"\xED\xA0\x80")), owner_id(JsStr::from("\u{fffd}")));
        assert_eq!(with("\"sessionId\":\"s\"", "\"sessionId\":\"t\""), Err(Invalid::Evidence));
    }
    #[test]
    fn a_malformed_locator_has_its_own_token_and_a_missing_one_has_not() {
        assert_eq!(with("\"directoryDev\":\"2049\"", "\"directoryDev\":2049"), Err(Invalid::Locator));
        assert_eq!(with("\"locator\"", "\"lokator\""), Err(Invalid::Evidence));
        assert_eq!(with("\"schemaVersion\":2", "\"schemaVersion\":1"), Err(Invalid::Evidence));
        assert_eq!(with("\"schemaVersion\":2,", "\"schemaVersion\":2,\"x\":1,"), Err(Invalid::Evidence));
    }
    #[test]
    fn a_tree_is_rooted_and_every_parent_is_a_directory_in_it() {
        for (from, to) in [
            ("\"rootIno\":\"131337\"", "\"rootIno\":\"131338\""),
            ("\"relativePath\":\"sub\"", "\"relativePath\":\"sup\""),
            ("\"relativePath\":\"sub\"", "\"relativePath\":\"0.bash.log\""),
            ("\"relativePath\":\"sub/1.bash.log\"", "\"relativePath\":\"0.bash.log/1\""),
            ("\"relativePath\":\"sub/1.bash.log\"", "\"relativePath\":\"sub/../1\""),
            ("\"relativePath\":\"sub/1.bash.log\"", "\"relativePath\":\"sub//1\""),
            ("\"relativePath\":\"sub/1.bash.log\"", "\"relativePath\":\"sub\\\\1\""),
            ("\"relativePath\":\"0.bash.log\"", "\"relativePath\":\"/0\""),
            ("\"nlink\":\"1\"", "\"nlink\":\"01\""),
            ("\"size\":\"5\"", "\"size\":5"),
            ("\"mtimeNs\":\"1760000000000000000\"", "\"mtimeNs\":\"-1\""),
            ("\"kind\":\"file\"", "\"kind\":\"link\""),
            ("\"sha256\":\"2", "\"sha256\":\"X"),
        ] {
            assert_eq!(with(from, to), Err(Invalid::Evidence), "{to}");
        }
        assert_eq!(with("\"mtimeNs\":\"1760000000000000000\"", "\"mtimeNs\":\"99999999999999999999999\""), Ok(()));
    }
    #[test]
    fn a_path_is_listed_once() {
        assert_eq!(with("\"relativePath\":\"sub/1.bash.log\"", "\"relativePath\":\"0.bash.log\""), Err(Invalid::Evidence));
    }
    #[test]
    fn what_is_captured_is_evidenced_from_1970_on_and_up_to_50_000_entries() {
        use crate::agent::record::TreeEntry;
        let of = |entries: usize, mtime_ns: i128| {
            let entry = |number: usize| TreeEntry {
                relative_path: if number == 0 { "".into() } else { format!("{number}").as_str().into() },
                kind: if number == 0 { NodeKind::Directory } else { NodeKind::File },
                dev: 1,
                ino: number as u64 + 1,
                nlink: 1,
                size: 0,
                mtime_ns,
                ctime_ns: 0,
                sha256: None,
            };
            TreeSnapshot::captured(&Tree { entries: (0..entries).map(entry).collect() }).map(|tree| tree.entries.len())
        };
        assert_eq!((of(2, 0), of(2, -1)), (Some(2), None));
        assert_eq!((of(49_999, 0), of(50_000, 0), of(50_001, 0)), (Some(49_999), Some(50_000), None));
    }
    #[test]
    fn the_order_of_entries_is_free_and_counts() {
        let evidence = read(&example("s")).unwrap();
        let mut turned = evidence.clone();
        turned.tree.entries.reverse();
        assert!(turned.tree.is_whole());
        assert_ne!(turned, evidence);
    }
    #[test]
    fn decimals_of_any_length_keep_their_text() {
        for text in ["0", "18446744073709551615", "18446744073709551616", "-1", "-99999999999999999999999"] {
            assert_eq!(Decimal::signed(text.as_bytes()).map(|d| d.to_string()).as_deref(), Some(text));
        }
        for bad in ["-0", "", "-", "+1", "01", "-01", "1\n"] {
            assert_eq!(Decimal::signed(bad.as_bytes()), None, "{bad}");
        }
        assert_eq!(Decimal::unsigned(b"-1"), None);
        assert_eq!(Decimal::from(-5_i128), Decimal::Text("-5".into()));
    }
    #[test]
    fn the_empty_hash_is_that_of_no_bytes() {
        assert_eq!(EMPTY_SHA256.as_slice(), Sha256::digest(b"").as_slice());
    }
}
