//! Words that the protocol records share: the identity of a transcript, a recorded tree, JavaScript's big integers as
//! strings, and the operation name made from an identity (spec 02 §5.4, §6.1, §6.5). Pure.

use crate::fsys::Meta;
use crate::json::value::Array;
use crate::json::view::View;
use crate::json::{JsString, Kind, Object, Value, stringify};
use sha2::{Digest, Sha256};

/// What gjc remembers of a transcript (spec 02 §5.4). Big integers are decimal strings when serialised.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TranscriptIdentity {
    /// Absolute path of the file: lexical, under the canonical sessions root.
    pub canonical_path: JsString,
    /// Header id.
    pub session_id: JsString,
    /// Device number, reduced to unsigned 64 bits.
    pub dev: u64,
    /// Inode number, reduced to unsigned 64 bits.
    pub ino: u64,
    /// Link count.
    pub nlink: u64,
    /// Bytes.
    pub size: u64,
    /// Modification time, nanoseconds since 1970.
    pub mtime_ns: i128,
    /// Change time, nanoseconds since 1970.
    pub ctime_ns: i128,
    /// SHA-256 of the whole file, lower-case hex.
    pub sha256: String,
}

impl TranscriptIdentity {
    /// What is remembered of a file with these facts and this content.
    pub const fn of(canonical_path: JsString, session_id: JsString, meta: &Meta, sha256: String) -> Self {
        TranscriptIdentity {
            canonical_path,
            session_id,
            dev: meta.dev,
            ino: meta.ino,
            nlink: meta.nlink,
            size: meta.size,
            mtime_ns: meta.mtime_ns,
            ctime_ns: meta.ctime_ns,
            sha256,
        }
    }
    /// Whole milliseconds of the modification time: `mtimeMs` in records.
    pub fn mtime_ms(&self) -> i128 {
        self.mtime_ns.div_euclid(1_000_000)
    }
    /// The record form, keys in gjc's order.
    pub fn to_value(&self) -> Value {
        Value::Object(Object::from_iter([
            ("canonicalPath", Value::String(self.canonical_path.clone())),
            ("sessionId", Value::String(self.session_id.clone())),
            ("dev", decimal(self.dev)),
            ("ino", decimal(self.ino)),
            ("nlink", decimal(self.nlink)),
            ("size", Value::Number(self.size as f64)),
            ("mtimeNs", decimal(self.mtime_ns)),
            ("ctimeNs", decimal(self.ctime_ns)),
            ("sha256", Value::string(self.sha256.clone())),
            ("mtimeMs", Value::Number(self.mtime_ms() as f64)),
        ]))
    }
    /// The operation name of this transcript.
    pub fn operation(&self) -> String {
        operation_name(
            self.canonical_path.as_bytes(),
            &[&self.dev.to_string(), &self.ino.to_string(), &self.size.to_string(), &self.mtime_ns.to_string()],
            self.sha256.as_bytes(),
        )
    }
}

/// SHA-256 in lower-case hex over path, the numbers (dev, ino, size, mtime) in decimal and the content hash, separated by
/// NUL (spec 02 §6.1). Touching, appending to, copying or restoring a file gives another name.
pub fn operation_name(canonical_path: &[u8], numbers: &[&str; 4], sha256: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(canonical_path);
    for number in numbers {
        hash.update([0]);
        hash.update(number);
    }
    hash.update([0]);
    hash.update(sha256);
    data_encoding::HEXLOWER.encode(&hash.finalize())
}

/// File or directory inside a recorded tree or manifest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NodeKind {
    /// `directory`
    Directory,
    /// `file`
    File,
}

impl NodeKind {
    /// gjc's word.
    pub const fn word(self) -> &'static str {
        match self {
            NodeKind::Directory => "directory",
            NodeKind::File => "file",
        }
    }
}

/// One entry of a tree snapshot (spec 02 §6.5).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TreeEntry {
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
    /// Modification time in nanoseconds.
    pub mtime_ns: i128,
    /// Change time in nanoseconds.
    pub ctime_ns: i128,
    /// SHA-256 in hex of a file.
    pub sha256: Option<String>,
}

impl TreeEntry {
    /// The entry of a directory, or of a file with the hash of its content.
    pub const fn of(relative_path: JsString, meta: &Meta, sha256: Option<String>) -> Self {
        TreeEntry {
            relative_path,
            kind: if sha256.is_some() { NodeKind::File } else { NodeKind::Directory },
            dev: meta.dev,
            ino: meta.ino,
            nlink: meta.nlink,
            size: meta.size,
            mtime_ns: meta.mtime_ns,
            ctime_ns: meta.ctime_ns,
            sha256,
        }
    }
}

/// A tree snapshot: depth first, names sorted by bytes, the root first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree {
    /// All entries, the root first.
    pub entries: Vec<TreeEntry>,
}

impl Tree {
    /// The root entry.
    pub fn root(&self) -> Option<&TreeEntry> {
        self.entries.first()
    }
    /// The record form, keys in gjc's order; every number is a string.
    pub fn to_value(&self) -> Value {
        let entry = |entry: &TreeEntry| {
            let mut object = Object::from_iter([
                ("relativePath", Value::String(entry.relative_path.clone())),
                ("kind", Value::string(entry.kind.word())),
                ("dev", decimal(entry.dev)),
                ("ino", decimal(entry.ino)),
                ("nlink", decimal(entry.nlink)),
                ("size", decimal(entry.size)),
                ("mtimeNs", decimal(entry.mtime_ns)),
                ("ctimeNs", decimal(entry.ctime_ns)),
            ]);
            if let Some(sha256) = &entry.sha256 {
                object.set("sha256", Value::string(sha256.clone()));
            }
            Value::Object(object)
        };
        let root = |number: fn(&TreeEntry) -> u64| self.root().map_or(Value::Null, |root| decimal(number(root)));
        Value::Object(Object::from_iter([
            ("rootDev", root(|root| root.dev)),
            ("rootIno", root(|root| root.ino)),
            ("entries", Value::Array(Array::from(self.entries.iter().map(entry).collect::<Vec<_>>()))),
        ]))
    }
}

/// A number as the decimal string that a BigInt becomes.
pub fn decimal(number: impl ToString) -> Value {
    Value::string(number.to_string())
}

/// The loose tree test of spec 02 §9.4 and spec 03 §15.3: string `rootDev` and `rootIno`; at least one entry; each with a
/// string `relativePath` (not absolute, no `..`), a kind, string dev, ino, size, mtimeNs, ctimeNs, and `sha256` absent or
/// a string; exactly one entry is the root that `rootDev` and `rootIno` name (others may have its empty path all the same).
pub fn is_tree<'a>(tree: impl View<'a>) -> bool {
    let (Some(root_dev), Some(root_ino)) = (tree.str_member("rootDev"), tree.str_member("rootIno")) else { return false };
    let Some(entries) = tree.get("entries").filter(|entries| entries.kind() == Kind::Array) else { return false };
    let mut roots = 0;
    for entry in entries.items() {
        let strings = ["dev", "ino", "size", "mtimeNs", "ctimeNs"];
        let Some(path) = entry.str_member("relativePath") else { return false };
        let Some(kind) = entry.get("kind") else { return false };
        let whole = is_plain_relative(&path)
            && (kind.is_str("file") || kind.is_str("directory"))
            && strings.iter().all(|key| entry.str_member(key).is_some())
            && entry.get("sha256").is_none_or(|sha256| sha256.kind() == Kind::String);
        if !whole {
            return false;
        }
        let is_root = path.is_empty()
            && kind.is_str("directory")
            && entry.str_member("dev").as_deref() == Some(&*root_dev)
            && entry.str_member("ino").as_deref() == Some(&*root_ino);
        roots += usize::from(is_root);
    }
    roots == 1
}

/// What of its root counts when two recorded trees are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RootRule {
    /// All that counts of other entries.
    Whole,
    /// Only that it is the same directory: moving it changes its times.
    Moved,
}

/// Whether two loose trees are the same: the same root, and the same entries in any order. Of an entry eight members count;
/// the link count and unknown members do not.
pub fn same_trees(a: &Value, b: &Value, root: RootRule) -> bool {
    const COUNTED: [&str; 8] = ["relativePath", "kind", "dev", "ino", "size", "mtimeNs", "ctimeNs", "sha256"];
    let text = |value: &Value, key: &str| value.str_member(key).map(std::borrow::Cow::into_owned);
    let entries = |tree: &Value| {
        let mut entries: Vec<Vec<Option<Vec<u8>>>> = tree
            .member("entries")
            .into_iter()
            .flat_map(View::items)
            .map(|entry| {
                let moved = root == RootRule::Moved && is_text(entry, "kind", b"directory") && is_text(entry, "relativePath", b"");
                COUNTED.iter().take(if moved { 4 } else { COUNTED.len() }).map(|key| text(entry, key)).collect()
            })
            .collect();
        entries.sort();
        entries
    };
    ["rootDev", "rootIno"].iter().all(|key| text(a, key) == text(b, key)) && entries(a) == entries(b)
}

/// A relative path without `..` segments, split at `/` and `\`.
pub fn is_plain_relative(path: &[u8]) -> bool {
    !path.starts_with(b"/") && !path.split(|byte| matches!(byte, b'/' | b'\\')).any(|segment| segment == b"..")
}

/// `JSON.stringify(value)` as bytes.
pub fn json_text(value: &Value) -> Vec<u8> {
    let mut text = Vec::new();
    stringify::write(value, &mut text);
    text
}

/// A record file as gjc writes it: JSON text and one LF.
pub fn record_bytes(value: &Value) -> Vec<u8> {
    let mut text = json_text(value);
    text.push(b'\n');
    text
}

/// What JavaScript's `BigInt(text)` gives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BigInt {
    /// The value.
    Value(i128),
    /// A value beyond 128 bits, as `String` writes it (one that was spelt with another radix than ten: as it was spelt). It
    /// equals nothing on disk.
    Huge(Box<str>),
    /// It throws a SyntaxError.
    SyntaxError,
}

impl std::fmt::Display for BigInt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BigInt::Value(value) => value.fmt(f),
            BigInt::Huge(text) => f.write_str(text),
            BigInt::SyntaxError => Ok(()),
        }
    }
}

/// `BigInt(text)` for a string: surrounding white space is trimmed, the empty string is 0, `0x`, `0o`, `0b` prefixes are
/// read, a sign only stands before decimal digits.
pub fn bigint(text: &[u8]) -> BigInt {
    let Ok(text) = std::str::from_utf8(text) else { return BigInt::SyntaxError };
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let (radix, digits, negative) = match text.as_bytes() {
        [] => return BigInt::Value(0),
        [b'0', b'x' | b'X', ..] => (16, text.get(2..), false),
        [b'0', b'o' | b'O', ..] => (8, text.get(2..), false),
        [b'0', b'b' | b'B', ..] => (2, text.get(2..), false),
        [b'-', ..] => (10, text.get(1..), true),
        [b'+', ..] => (10, text.get(1..), false),
        _ => (10, Some(text), false),
    };
    match digits {
        Some(digits) if !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix)) => match i128::from_str_radix(digits, radix) {
            Ok(value) if negative => BigInt::Value(-value),
            Ok(value) => BigInt::Value(value),
            Err(_) if radix == 10 => {
                let sign = if negative { "-" } else { "" };
                BigInt::Huge(format!("{sign}{}", digits.trim_start_matches('0')).into())
            }
            Err(_) => BigInt::Huge(text.into()),
        },
        _ => BigInt::SyntaxError,
    }
}

/// `BigInt(String(value))`. (Lists and objects throw; JavaScript would read a list of one number.)
pub fn to_bigint(value: &Value) -> BigInt {
    match value {
        Value::String(text) => bigint(text.as_bytes()),
        Value::Number(number) => bigint(crate::json::number::to_js_string(*number).as_bytes()),
        _ => BigInt::SyntaxError,
    }
}

/// Shows the members of an object and where each stands in `required`, or behind those in `optional`. False for a value that is no
/// object, and at the first member that stands in neither.
fn are_known<'a, V: View<'a>>(object: V, required: &[&str], optional: &[&str], mut found: impl FnMut(usize, V)) -> bool {
    // Who writes records keeps to their order: mostly the next member is the one behind the last.
    let mut next = 0;
    object.is_record()
        && object.members().all(|(key, member)| {
            let is = |known: &&str| known.as_bytes() == &*key;
            let among = |keys: &[&str]| keys.iter().position(is);
            let at = required.get(next).filter(|known| is(known)).map(|_| next);
            let at = at.or_else(|| among(required)).or_else(|| Some(required.len() + among(optional)?));
            at.inspect(|at| {
                next = at + 1;
                found(*at, member);
            })
            .is_some()
        })
}

/// True for an object with all `required` members, perhaps some `optional` ones, and no others. Ends at the first member
/// that it does not know.
pub fn is_closed<'a>(object: impl View<'a>, required: &[&str], optional: &[&str]) -> bool {
    let mut found = 0;
    are_known(object, required, optional, |at, _| found += usize::from(at < required.len())) && found == required.len()
}

/// The members of an object that is closed in the same sense: in the order in which they are asked for, whatever theirs is.
pub fn closed<'a, V: View<'a>, const R: usize, const O: usize>(
    object: V,
    required: [&str; R],
    optional: [&str; O],
) -> Option<([V; R], [Option<V>; O])> {
    let (mut all, mut some) = ([None; R], [None; O]);
    let known = are_known(object, &required, &optional, |at, member| {
        if let Some(place) = all.iter_mut().chain(&mut some).nth(at) {
            *place = Some(member);
        }
    });
    let found = known && all.iter().all(Option::is_some);
    found.then(|| (all.map(|member| member.unwrap_or(object)), some))
}

/// True when the member is a string that spells exactly this number as JavaScript would.
pub fn spells<'a>(object: impl View<'a>, key: &str, number: impl ToString) -> bool {
    object.str_member(key).is_some_and(|text| *text == *number.to_string().as_bytes())
}

/// True when the member is exactly this number.
pub fn equals<'a>(object: impl View<'a>, key: &str, number: f64) -> bool {
    object.get(key).and_then(View::as_f64) == Some(number)
}

/// True when the member is a string with exactly these WTF-8 bytes.
pub fn is_text<'a>(object: impl View<'a>, key: &str, text: &[u8]) -> bool {
    object.str_member(key).is_some_and(|found| *found == *text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> TranscriptIdentity {
        TranscriptIdentity {
            canonical_path: "/home/ana/.gjc/agent/sessions/--srv-pi--/2026-01-01T00-00-00-000Z_abc123.jsonl".into(),
            session_id: "abc123".into(),
            dev: 65024,
            ino: 1_040_489,
            nlink: 1,
            size: 231,
            mtime_ns: 1_796_034_430_306_806_048,
            ctime_ns: 7,
            sha256: "7c7eeefe4a255b48b92bc53953ebe73e3a0ba6b381bba5d6d6842e0ccb54c4dc".into(),
        }
    }

    /// The numbers of `a`, `b` and, perhaps, `c`.
    fn members(text: &str) -> Option<([f64; 2], Option<f64>)> {
        let object = Value::parse(text.as_bytes()).unwrap();
        let found = closed(&object, ["a", "b"], ["c"]);
        assert_eq!(is_closed(&object, &["a", "b"], &["c"]), found.is_some(), "{text}");
        found.map(|(all, [c])| (all.map(|member| member.as_f64().unwrap()), c.and_then(View::as_f64)))
    }
    #[test]
    fn members_of_a_closed_object_come_as_they_are_asked_for() {
        assert_eq!(members(r#"{"a":1,"b":2}"#), Some(([1.0, 2.0], None)));
        assert_eq!(members(r#"{"c":3,"b":2,"a":1}"#), Some(([1.0, 2.0], Some(3.0))));
        assert_eq!(members(r#"{"a":9,"b":2,"a":1}"#), Some(([1.0, 2.0], None)), "the last of duplicates counts");
    }
    #[test]
    fn an_object_with_a_member_too_few_or_too_many_is_not_closed() {
        for text in [r#"{"a":1}"#, r#"{"a":1,"c":3}"#, r#"{"a":1,"b":2,"d":4}"#, r#"{"a":1,"b":2,"":4}"#, "{}", "[1,2]", "null", r#""ab""#]
        {
            assert_eq!(members(text), None, "{text}");
        }
    }
    #[test]
    fn operation_name_of_the_worked_example() {
        assert_eq!(example().operation(), "e72be1d8d97a4b603ecca64947562fc2fa0f119f859bcb03c496014e83245a44");
    }
    #[test]
    fn a_touched_file_has_another_operation_name() {
        let touched = TranscriptIdentity { mtime_ns: example().mtime_ns + 1, ..example() };
        assert_ne!(touched.operation(), example().operation());
    }
    #[test]
    fn link_count_and_ctime_are_no_part_of_the_operation_name() {
        let linked = TranscriptIdentity { nlink: 2, ctime_ns: 8, ..example() };
        assert_eq!(linked.operation(), example().operation());
    }
    #[test]
    fn an_identity_is_serialised_with_big_integers_as_strings() {
        let text = String::from_utf8(json_text(&example().to_value())).unwrap();
        assert_eq!(
            text,
            r#"{"canonicalPath":"/home/ana/.gjc/agent/sessions/--srv-pi--/2026-01-01T00-00-00-000Z_abc123.jsonl","sessionId":"abc123","dev":"65024","ino":"1040489","nlink":"1","size":231,"mtimeNs":"1796034430306806048","ctimeNs":"7","sha256":"7c7eeefe4a255b48b92bc53953ebe73e3a0ba6b381bba5d6d6842e0ccb54c4dc","mtimeMs":1796034430306}"#
        );
    }
    fn tree(entries: &str) -> Value {
        Value::parse(format!(r#"{{"rootDev":"1","rootIno":"2","entries":[{entries}]}}"#).as_bytes()).unwrap()
    }
    const ROOT: &str = r#"{"relativePath":"","kind":"directory","dev":"1","ino":"2","size":"0","mtimeNs":"0","ctimeNs":"0"}"#;

    #[test]
    fn a_loose_tree_needs_exactly_its_root() {
        assert!(is_tree(&tree(ROOT)));
        assert!(!is_tree(&tree("")));
        assert!(!is_tree(&tree(&format!("{ROOT},{ROOT}"))));
        assert!(is_tree(&tree(&format!("{ROOT},{}", ROOT.replace("directory", "file")))), "what is not the root does not count");
        assert!(!is_tree(&tree(&ROOT.replace("\"ino\":\"2\"", "\"ino\":\"3\""))));
        assert!(!is_tree(&tree(&ROOT.replace("\"size\":\"0\"", "\"size\":0"))));
    }
    #[test]
    fn an_entry_beside_the_root_may_have_its_empty_path() {
        let other = ROOT.replace("\"ino\":\"2\"", "\"ino\":\"3\"");
        assert!(is_tree(&tree(&format!("{ROOT},{other}"))));
        assert!(is_tree(&tree(&format!("{ROOT},{}", ROOT.replace("directory", "file")))));
        assert!(!is_tree(&tree(&ROOT.replace("directory", "file"))));
    }
    #[test]
    fn trees_are_compared_without_order_and_link_counts() {
        let file = |ctime: &str| ROOT.replace("\"\",\"kind\":\"directory\"", "\"f\",\"kind\":\"file\"").replace("\"ctimeNs\":\"0\"", ctime);
        let plain = tree(&format!("{ROOT},{}", file("\"ctimeNs\":\"0\"")));
        let turned = tree(&format!("{},{ROOT}", file("\"nlink\":\"9\",\"ctimeNs\":\"0\",\"note\":1")));
        assert!(same_trees(&plain, &turned, RootRule::Whole));
        assert!(!same_trees(&plain, &tree(&format!("{ROOT},{}", file("\"ctimeNs\":\"1\""))), RootRule::Moved));
        assert!(!same_trees(&plain, &tree(ROOT), RootRule::Moved));
        let moved = tree(&ROOT.replace("\"mtimeNs\":\"0\"", "\"mtimeNs\":\"5\""));
        assert!(same_trees(&tree(ROOT), &moved, RootRule::Moved));
        assert!(!same_trees(&tree(ROOT), &moved, RootRule::Whole));
    }
    #[test]
    fn tree_paths_stay_inside() {
        let below = |path: &str| tree(&format!("{ROOT},{}", ROOT.replace("\"relativePath\":\"\"", &format!("\"relativePath\":{path}"))));
        assert!(is_tree(&below("\"a/b\"")));
        assert!(!is_tree(&below("\"a/../b\"")));
        assert!(!is_tree(&below("\"/a\"")));
    }
    #[test]
    fn a_snapshot_is_a_valid_loose_tree() {
        let entry = TreeEntry {
            relative_path: "".into(),
            kind: NodeKind::Directory,
            dev: 1,
            ino: 2,
            nlink: 2,
            size: 0,
            mtime_ns: 3,
            ctime_ns: 4,
            sha256: None,
        };
        assert!(is_tree(&Tree { entries: vec![entry] }.to_value()));
    }
    #[test]
    fn bigint_reads_what_javascript_reads() {
        assert_eq!(bigint(b""), BigInt::Value(0));
        assert_eq!(bigint(b" 7 "), BigInt::Value(7));
        assert_eq!(bigint(b"0x1f"), BigInt::Value(31));
        assert_eq!(bigint(b"-5"), BigInt::Value(-5));
        for bad in ["1.0", "-0x1", "1n", "x", "0x", "-", "1 2"] {
            assert_eq!(bigint(bad.as_bytes()), BigInt::SyntaxError, "{bad}");
        }
        assert_eq!(bigint(format!("-0{}", "9".repeat(60)).as_bytes()).to_string(), format!("-{}", "9".repeat(60)));
    }
}
