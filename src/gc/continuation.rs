//! What is left of an owner and where (spec 03 §5.5), how far a retained tree may differ from the evidence, and what the
//! next continuation of a journal may not take back (§11.4).

use super::{OwnerPaths, Refusal, SessionsRoot};
use crate::agent::owner_evidence::{Entry, Evidence, Inode, TreeSnapshot, parent};
use crate::agent::record::{NodeKind, is_closed};
use crate::json::stringify::{Out, array, object, write_string};
use crate::json::view::View;
use crate::json::{JsString, Kind};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

/// The six lists of a continuation, in the order in which they are judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum List {
    /// `detachedPaths`: which of the two root paths were seen detached.
    Detached,
    /// `nativeCodes`
    NativeCodes,
    /// `retainedSuccessorPaths`
    Successors,
    /// `retainedPlaceholderPaths`
    Placeholders,
    /// `retainedUnknownPaths`
    Unknown,
    /// `windowsErrorCodes`
    WindowsCodes,
}

impl List {
    /// All of them.
    pub const ALL: [List; 6] = [List::Detached, List::NativeCodes, List::Successors, List::Placeholders, List::Unknown, List::WindowsCodes];
    /// The three lists of side paths.
    pub const SIDE: [List; 3] = [List::Successors, List::Placeholders, List::Unknown];

    /// The member's name.
    pub const fn key(self) -> &'static str {
        match self {
            List::Detached => "detachedPaths",
            List::NativeCodes => "nativeCodes",
            List::Successors => "retainedSuccessorPaths",
            List::Placeholders => "retainedPlaceholderPaths",
            List::Unknown => "retainedUnknownPaths",
            List::WindowsCodes => "windowsErrorCodes",
        }
    }
    /// The most values it may have.
    pub const fn max(self) -> usize {
        match self {
            List::Detached => 2,
            List::NativeCodes | List::WindowsCodes => 64,
            List::Successors | List::Placeholders | List::Unknown => 256,
        }
    }
    /// Whether a value may stand in the list.
    pub fn takes(self, value: &[u8], paths: &OwnerPaths) -> bool {
        match self {
            List::Detached => paths.is_root(value),
            List::NativeCodes => {
                (1..=128).contains(&value.len())
                    && value.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'-'))
            }
            List::WindowsCodes => {
                value.strip_prefix(b"0x").is_some_and(|digits| digits.len() == 8 && digits.iter().all(u8::is_ascii_hexdigit))
            }
            List::Successors | List::Placeholders | List::Unknown => paths.is_side(value),
        }
    }
}

/// What is left of an owner after an attempt (schema 1).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Continuation {
    /// The directory of all owners: the evidence's.
    pub parent: Inode,
    /// Where the root is, or would be: one of the owner's two root paths.
    pub retained_root: JsString,
    /// The tree that is left.
    pub tree: TreeSnapshot,
    /// The lists, indexed by [`List`]; an empty one is absent.
    lists: [Vec<JsString>; 6],
    /// Whether the payload is durably gone, when it is known.
    pub payload_durable: Option<bool>,
}

impl Continuation {
    /// A continuation without lists, as the first attempt has it.
    pub fn new(parent: Inode, retained_root: JsString, tree: TreeSnapshot) -> Continuation {
        Continuation { parent, retained_root, tree, lists: Default::default(), payload_durable: None }
    }
    /// The values of a list, none when it is absent.
    pub fn list(&self, list: List) -> &[JsString] {
        self.lists.get(list as usize).map(Vec::as_slice).unwrap_or_default()
    }
    /// Puts a value at the end of a list, unless it is there.
    pub fn append(&mut self, list: List, value: JsString) {
        if let Some(values) = self.lists.get_mut(list as usize).filter(|values| !values.contains(&value)) {
            values.push(value);
        }
    }
    /// Keeps the values of a list for which `keep` says so.
    pub fn retain(&mut self, list: List, keep: impl FnMut(&JsString) -> bool) {
        if let Some(values) = self.lists.get_mut(list as usize) {
            values.retain(keep);
        }
    }
    /// True when some side path is named.
    pub fn has_side_paths(&self) -> bool {
        List::SIDE.iter().any(|list| !self.list(*list).is_empty())
    }

    /// Reads a continuation of an owner with this evidence, with gjc's checks in gjc's order.
    ///
    /// # Errors
    /// [`Refusal::EvidenceInvalid`] for a malformed parent identity or tree, [`Refusal::ContinuationInvalid`] else.
    pub fn read<'a>(value: impl View<'a>, root: &SessionsRoot, evidence: &Evidence) -> Result<Continuation, Refusal> {
        const REQUIRED: [&str; 4] = ["schemaVersion", "parentIdentity", "retainedRootPath", "retainedTreeSnapshot"];
        let invalid = Refusal::ContinuationInvalid;
        let members = value.members().take(REQUIRED.len()).count();
        let optional: Vec<&str> = List::ALL.map(List::key).into_iter().chain(["payloadDurable"]).chain(REQUIRED).collect();
        // Which of the four is missing is found out below, each by its own parser; more than eleven are not known.
        if !value.is_record() || members < REQUIRED.len() || !is_closed(value, &[], &optional) {
            return Err(invalid);
        }
        if value.get("schemaVersion").and_then(View::as_f64) != Some(1.0) {
            return Err(invalid);
        }
        let retained_root = value.str_member("retainedRootPath").ok_or(invalid)?;
        let parent = value.get("parentIdentity").and_then(Inode::read).ok_or(Refusal::EvidenceInvalid)?;
        let paths = root.owner(&evidence.locator.owner_id);
        if parent != evidence.parent || !paths.is_root(&retained_root) {
            return Err(invalid);
        }
        let tree = value.get("retainedTreeSnapshot").and_then(TreeSnapshot::read).ok_or(Refusal::EvidenceInvalid)?;
        if !is_within(&tree, &evidence.tree) {
            return Err(invalid);
        }
        let mut continuation = Continuation::new(parent, JsString::from_wtf8(retained_root.into_owned()), tree);
        for (list, values) in List::ALL.into_iter().zip(&mut continuation.lists) {
            if let Some(value) = value.get(list.key()) {
                *values = read_list(value, list, &paths).ok_or(invalid)?;
            }
        }
        if let Some(durable) = value.get("payloadDurable") {
            continuation.payload_durable = Some(durable.as_bool().ok_or(invalid)?);
        }
        Ok(continuation)
    }

    /// What the history rule compares of a continuation that is not read yet: it is asked of a candidate in memory before its
    /// grammar. None when something compared has not even the form of what it would have to equal.
    pub fn claimed<'a>(value: impl View<'a>) -> Option<Continuation> {
        let inode = |value: Option<_>| value.and_then(|value| Inode::numbers(value, "dev", "ino"));
        let tree = value.get("retainedTreeSnapshot")?;
        let entries = tree.get("entries").filter(|entries| entries.kind() == Kind::Array)?;
        let tree = TreeSnapshot {
            root: Inode::numbers(tree, "rootDev", "rootIno")?,
            entries: entries.items().map(Entry::claimed).collect::<Option<_>>()?,
        };
        let mut claimed = Continuation::new(inode(value.get("parentIdentity"))?, JsString::default(), tree);
        for (list, values) in List::ALL.into_iter().zip(&mut claimed.lists) {
            let said = value.get(list.key()).into_iter().flat_map(View::items).filter_map(View::as_str);
            values.extend(said.map(|said| JsString::from_wtf8(said.into_owned())));
        }
        claimed.payload_durable = value.get("payloadDurable").and_then(View::as_bool);
        Some(claimed)
    }

    /// The record form.
    pub fn write<O: Out>(&self, out: &mut O) {
        object(out, |members| {
            let list = |members: &mut crate::json::stringify::Members<'_, O>, list: List| {
                let values = self.list(list);
                if !values.is_empty() {
                    members.with(list.key(), |out| array(out, values, |out, value| write_string(value.as_bytes(), out)));
                }
            };
            members.number("schemaVersion", 1.0);
            members.with("parentIdentity", |out| self.parent.write(out));
            members.text("retainedRootPath", self.retained_root.as_bytes());
            members.with("retainedTreeSnapshot", |out| self.tree.write(out));
            list(members, List::Detached);
            list(members, List::NativeCodes);
            if let Some(durable) = self.payload_durable {
                members.flag("payloadDurable", durable);
            }
            for side in List::SIDE {
                list(members, side);
            }
            list(members, List::WindowsCodes);
        });
    }

    /// The history rule (§11.4): nothing that `previous` gave up comes back, nothing that it recorded is dropped.
    ///
    /// Unlike [`is_within`], names of detached children are not translated, and the root's size and link count count.
    pub fn extends(&self, previous: &Continuation) -> bool {
        let earlier = previous.tree.by_path(|entry| entry);
        let entry_holds = |next: &Entry| {
            earlier.get(next.relative_path.as_bytes()).is_some_and(|before| {
                let content = match next.kind {
                    NodeKind::Directory => next.size == before.size,
                    NodeKind::File => next.is_scrubbed() || (next.size == before.size && next.sha256 == before.sha256),
                };
                same_object(next, before) && content
            })
        };
        self.parent == previous.parent
            && self.tree.root == previous.tree.root
            && self.tree.entries.len() <= previous.tree.entries.len()
            && self.tree.entries.iter().all(entry_holds)
            && self.lists.iter().zip(&previous.lists).all(|(next, before)| {
                let next: HashSet<&JsString> = next.iter().collect();
                before.iter().all(|value| next.contains(value))
            })
            && (previous.payload_durable != Some(true) || self.payload_durable == Some(true))
    }
}

fn read_list<'a>(value: impl View<'a>, list: List, paths: &OwnerPaths) -> Option<Vec<JsString>> {
    let count = value.items().take(list.max() + 1).count();
    if value.kind() != Kind::Array || !(1..=list.max()).contains(&count) {
        return None;
    }
    let mut values = Vec::with_capacity(count);
    for item in value.items() {
        values.push(item.as_str().filter(|text| list.takes(text, paths)).map(|text| JsString::from_wtf8(text.into_owned()))?);
    }
    (values.iter().collect::<HashSet<_>>().len() == values.len()).then_some(values)
}

fn same_object(a: &Entry, b: &Entry) -> bool {
    a.kind == b.kind && a.dev == b.dev && a.ino == b.ino && a.nlink == b.nlink
}

/// How native removal names a child that it detaches inside the tree.
const DETACHED_PREFIX: &[u8] = b".pi-tree-detached-";

/// The quarantine name of an expected entry: `.pi-tree-detached-` and the hash of its path, dev and ino.
pub fn quarantine_name(entry: &Entry) -> String {
    let mut hash = Sha256::new();
    hash.update(entry.relative_path.as_js().to_string_lossy().as_bytes());
    hash.update(format!("\0{}\0{}", entry.dev, entry.ino));
    format!(".pi-tree-detached-{}", data_encoding::HEXLOWER.encode(&hash.finalize()))
}

/// Non-expansion (§5.5): the retained tree holds nothing that the expected tree does not, save that children may carry
/// their quarantine names and files may be scrubbed. Linear in the text of both trees.
pub fn is_within(retained: &TreeSnapshot, expected: &TreeSnapshot) -> bool {
    if retained.root != expected.root || retained.entries.len() > expected.entries.len() {
        return false;
    }
    let mut map = Expected::new(expected);
    let mut taken = vec![false; expected.entries.len()];
    retained.entries.iter().all(|entry| {
        let path = entry.relative_path.as_bytes();
        let Some(at) = map.find(path) else { return false };
        let (Some(record), Some(taken)) = (expected.entries.get(at), taken.get_mut(at)) else { return false };
        if std::mem::replace(taken, true) {
            return false;
        }
        // The root need only be a directory, which every snapshot's is.
        path.is_empty() || (same_object(entry, record) && holds_content(entry, record))
    })
}

fn holds_content(entry: &Entry, record: &Entry) -> bool {
    if entry.kind == NodeKind::Directory {
        return entry.size == record.size;
    }
    let same = entry.size == record.size && entry.sha256 == record.sha256;
    let times = || entry.mtime_ns == record.mtime_ns && entry.ctime_ns == record.ctime_ns;
    entry.is_scrubbed() || (same && (entry.sha256.is_some() || times()))
}

/// The expected tree, to be walked by components. Children are found by their directory's index and one component, so
/// that a path costs what its text costs, however deep it is.
struct Expected<'t> {
    tree: &'t TreeSnapshot,
    root: usize,
    directories: HashMap<&'t [u8], usize>,
    children: HashMap<(usize, &'t [u8]), usize>,
    /// By quarantine name; none for a name that two children share. Made when the first such name is asked for.
    detached: Option<HashMap<(usize, String), Option<usize>>>,
}

impl<'t> Expected<'t> {
    fn new(tree: &'t TreeSnapshot) -> Self {
        let indexed = || tree.entries.iter().enumerate().map(|(at, entry)| (at, entry.relative_path.as_bytes()));
        let directories: HashMap<&[u8], usize> = indexed()
            .filter(|(at, _)| tree.entries.get(*at).is_some_and(|entry| entry.kind == NodeKind::Directory))
            .map(|(at, path)| (path, at))
            .collect();
        let root = directories.get(&b""[..]).copied().unwrap_or_default();
        let children = indexed()
            .filter(|(_, path)| !path.is_empty())
            .filter_map(|(at, path)| {
                let directory = parent(path);
                let name = path.get(if directory.is_empty() { 0 } else { directory.len() + 1 }..)?;
                Some(((*directories.get(directory)?, name), at))
            })
            .collect();
        Expected { tree, root, directories, children, detached: None }
    }
    /// The one expected entry that a retained path stands for.
    fn find(&mut self, path: &[u8]) -> Option<usize> {
        let mut at = self.root;
        if path.is_empty() {
            return Some(at);
        }
        for component in path.split(|byte| *byte == b'/') {
            let plain = self.children.get(&(at, component)).copied();
            at = match (plain, self.detached(at, component)) {
                (Some(child), None) | (None, Some(Some(child))) => child,
                // Both a name and a quarantine name, or a quarantine name of two children, or neither.
                _ => return None,
            };
        }
        Some(at)
    }
    fn detached(&mut self, directory: usize, component: &[u8]) -> Option<Option<usize>> {
        if !component.starts_with(DETACHED_PREFIX) {
            return None;
        }
        let name = std::str::from_utf8(component).ok()?;
        let (tree, directories) = (self.tree, &self.directories);
        let names = self.detached.get_or_insert_with(|| {
            let mut names = HashMap::with_capacity(tree.entries.len());
            for (at, entry) in tree.entries.iter().enumerate().filter(|(_, entry)| !entry.relative_path.as_bytes().is_empty()) {
                if let Some(directory) = directories.get(parent(entry.relative_path.as_bytes())) {
                    names.entry((*directory, quarantine_name(entry))).and_modify(|child| *child = None).or_insert(Some(at));
                }
            }
            names
        });
        names.get(&(directory, name.to_owned())).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Value;

    /// A tree of these paths: a path that ends in `/` is a directory. The inode is the place in the list, from 1.
    fn tree(paths: &[&str]) -> TreeSnapshot {
        let entry = |(at, path): (usize, &&str)| Entry {
            relative_path: path.trim_end_matches('/').into(),
            kind: if path.is_empty() || path.ends_with('/') { NodeKind::Directory } else { NodeKind::File },
            dev: 1,
            ino: at as u64 + 1,
            nlink: 1,
            size: 5,
            mtime_ns: 7_u64.into(),
            ctime_ns: 8_u64.into(),
            sha256: None,
        };
        TreeSnapshot { root: Inode { dev: 1, ino: 1 }, entries: paths.iter().enumerate().map(entry).collect() }
    }
    fn renamed(tree: &TreeSnapshot, from: &str, to: &str) -> TreeSnapshot {
        let mut tree = tree.clone();
        for entry in &mut tree.entries {
            let path = entry.relative_path.to_string();
            if path == from || path.starts_with(&format!("{from}/")) {
                entry.relative_path = path.replacen(from, to, 1).as_str().into();
            }
        }
        tree
    }
    fn changed(tree: &TreeSnapshot, path: &str, change: impl Fn(&mut Entry)) -> TreeSnapshot {
        let mut tree = tree.clone();
        tree.entries.iter_mut().filter(|entry| entry.relative_path == *path).for_each(change);
        tree
    }
    fn hidden(tree: &TreeSnapshot, path: &str) -> String {
        quarantine_name(tree.entries.iter().find(|entry| entry.relative_path == *path).unwrap())
    }

    #[test]
    fn the_worked_quarantine_name() {
        let mut log = tree(&["", "0.bash.log"]).entries.remove(1);
        (log.dev, log.ino) = (2049, 131_341);
        assert_eq!(quarantine_name(&log), ".pi-tree-detached-768adfe20e9d6796e6070c49bd0db5813c7235e6677a5fcfb296ef31929eda2a");
    }
    #[test]
    fn a_child_may_carry_its_quarantine_name_at_every_level() {
        let expected = tree(&["", "a/", "a/b/", "a/b/f"]);
        let inner = renamed(&expected, "a/b", &format!("a/{}", hidden(&expected, "a/b")));
        assert!(is_within(&inner, &expected));
        let outer = renamed(&inner, "a", &hidden(&expected, "a"));
        assert!(is_within(&outer, &expected));
        // The name is made of the expected path, and counts only in its own directory.
        assert!(!is_within(&renamed(&expected, "a/b", &hidden(&expected, "a/b")), &expected));
        assert!(!is_within(&renamed(&expected, "a", &hidden(&expected, "a/b")), &expected));
    }
    #[test]
    fn an_ambiguous_component_refuses() {
        // A sibling whose own name is the quarantine name of another.
        let plain = tree(&["", "f"]);
        let name = hidden(&plain, "f");
        let expected = tree(&["", "f", &name]);
        assert!(!is_within(&expected, &expected));
        // Two siblings that differ only in lone surrogates share theirs, as both hash as U+FFFD.
        let mut expected = tree(&["", "f", "g"]);
        let lone = |last: u8| JsString::from_wtf8(vec![0xED, 0xA0, last]);
        (expected.entries[1].relative_path, expected.entries[2].relative_path) = (lone(0x80), lone(0x81));
        expected.entries[2].ino = 2;
        assert!(is_within(&expected, &expected));
        let mut retained = expected.clone();
        retained.entries.truncate(2);
        retained.entries[1].relative_path = quarantine_name(&expected.entries[1]).as_str().into();
        assert!(!is_within(&retained, &expected));
    }
    #[test]
    fn no_two_entries_stand_for_the_same() {
        let expected = tree(&["", "f", "g"]);
        let mut retained = tree(&["", "f", &hidden(&expected, "f")]);
        retained.entries[2].ino = 2;
        assert!(!is_within(&retained, &expected));
    }
    #[test]
    fn what_an_entry_may_differ_in() {
        let expected = tree(&["", "d/", "f"]);
        let scrub = |entry: &mut Entry| (entry.size, entry.sha256) = (0, Some(crate::agent::owner_evidence::EMPTY_SHA256));
        assert!(is_within(&changed(&expected, "f", scrub), &expected));
        assert!(is_within(&changed(&expected, "", |root| (root.size, root.nlink) = (0, 9)), &expected));
        assert!(is_within(&changed(&expected, "d", |directory| directory.mtime_ns = 0_u64.into()), &expected));
        assert!(!is_within(&changed(&expected, "d", |directory| directory.size = 6), &expected));
        assert!(!is_within(&changed(&expected, "f", |file| file.nlink = 2), &expected));
        assert!(!is_within(&changed(&expected, "f", |file| file.sha256 = Some([1; 32])), &expected));
        // Times count only where no content hash speaks.
        assert!(!is_within(&changed(&expected, "f", |file| file.mtime_ns = 0_u64.into()), &expected));
        let hashed = changed(&expected, "f", |file| file.sha256 = Some([1; 32]));
        assert!(is_within(&changed(&hashed, "f", |file| file.mtime_ns = 0_u64.into()), &hashed));
    }
    #[test]
    fn a_deep_tree_costs_its_text_and_no_stack() {
        let mut paths = vec![String::new()];
        for depth in 1..=3_000 {
            paths.push(format!("{}d/", "d/".repeat(depth - 1)));
        }
        let deep = tree(&paths.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(is_within(&deep, &deep));
        assert!(!is_within(&renamed(&deep, "d/d", "d/e"), &deep));
    }
    #[test]
    fn history_counts_the_root_and_translates_nothing() {
        let before = Continuation::new(Inode { dev: 1, ino: 9 }, "/r/.task-artifact-owners/x".into(), tree(&["", "f"]));
        let with = |tree: TreeSnapshot| Continuation { tree, ..before.clone() };
        assert!(before.extends(&before));
        assert!(with(tree(&[""])).extends(&before) && !before.extends(&with(tree(&[""]))));
        assert!(!with(changed(&before.tree, "", |root| root.size = 0)).extends(&before));
        assert!(!with(changed(&before.tree, "", |root| root.nlink = 2)).extends(&before));
        assert!(with(changed(&before.tree, "f", |file| file.mtime_ns = 0_u64.into())).extends(&before));
        assert!(!with(renamed(&before.tree, "f", &hidden(&before.tree, "f"))).extends(&before));
        let moved = Continuation { retained_root: "/r/.task-artifact-owners/x.removing".into(), ..before.clone() };
        assert!(moved.extends(&before) && before.extends(&moved));
    }
    #[test]
    fn history_compares_every_object_and_every_list() {
        let root = Inode { dev: 1, ino: 1 };
        let mut before = Continuation::new(Inode { dev: 1, ino: 9 }, "/r/.task-artifact-owners/x".into(), tree(&["", "d/", "f"]));
        before.tree = changed(&before.tree, "f", |file| file.sha256 = Some([1; 32]));
        List::ALL.into_iter().for_each(|list| before.append(list, "value".into()));
        let with = |change: &dyn Fn(&mut Continuation)| {
            let mut next = before.clone();
            change(&mut next);
            next.extends(&before)
        };
        let entry = |path: &'static str, change: fn(&mut Entry)| with(&|next| next.tree = changed(&next.tree, path, change));
        assert!(with(&|_| ()));
        assert!(!with(&|next| next.parent.ino = 8));
        assert!(!with(&|next| next.tree.root = Inode { dev: 2, ..root }));
        assert!(!with(&|next| next.tree.root = Inode { ino: 2, ..root }));
        assert!(!entry("d", |entry| entry.kind = NodeKind::File), "kind");
        assert!(!entry("d", |entry| entry.dev = 2), "dev");
        assert!(!entry("d", |entry| entry.ino = 7), "ino");
        assert!(!entry("f", |entry| entry.nlink = 2), "nlink");
        assert!(!entry("f", |entry| entry.size = 6), "size");
        assert!(!entry("f", |entry| entry.sha256 = Some([2; 32])), "sha256");
        assert!(!entry("f", |entry| entry.sha256 = None), "no sha256 any more");
        for list in List::ALL {
            assert!(!with(&|next| next.retain(list, |_| false)), "{list:?} is dropped");
            assert!(with(&|next| next.append(list, "another".into())), "{list:?} grows");
        }
    }
    /// A candidate in memory may name an entry twice before its grammar is asked for.
    #[test]
    fn history_counts_entries() {
        let before = Continuation::new(Inode { dev: 1, ino: 9 }, "/r/.task-artifact-owners/x".into(), tree(&["", "f"]));
        let mut twice = before.clone();
        twice.tree.entries.push(before.tree.entries[1].clone());
        assert!(!twice.extends(&before));
        assert!(twice.extends(&twice), "near miss: not more than before");
    }
    #[test]
    fn non_expansion_compares_kind_and_both_numbers_of_an_object() {
        let expected = tree(&["", "d/", "f"]);
        assert!(!is_within(&changed(&expected, "d", |entry| entry.kind = NodeKind::File), &expected));
        assert!(!is_within(&changed(&expected, "f", |entry| entry.dev = 2), &expected));
        assert!(!is_within(&changed(&expected, "f", |entry| entry.ino = 9), &expected));
        assert!(!is_within(&TreeSnapshot { root: Inode { dev: 1, ino: 2 }, ..expected.clone() }, &expected));
    }
    /// §5.5: counted before anything is read, so that the same member that is missing has two tokens.
    #[test]
    fn a_continuation_has_four_members_to_eleven() {
        let evidence = Evidence::read(&Value::parse(crate::agent::owner_evidence::example("s").as_bytes()).unwrap()).unwrap();
        let root = SessionsRoot::new(b"/r").unwrap();
        let paths = root.owner(&evidence.locator.owner_id);
        let whole = Continuation::new(evidence.parent, JsString::from_wtf8(paths.root.clone()), evidence.tree.clone());
        let of = |continuation: &Continuation| {
            let mut bytes = Vec::new();
            continuation.write(&mut bytes);
            Value::parse(&bytes).unwrap().as_object().unwrap().clone()
        };
        let read = |members: crate::json::Object| Continuation::read(&Value::Object(members), &root, &evidence).map(|_| ());
        let mut full = whole.clone();
        for (list, value) in List::ALL.into_iter().zip([&paths.removing[..], b"c", &paths.root, &paths.root, &paths.root, b"0x00000001"]) {
            full.append(list, JsString::from_wtf8(value.to_vec()));
        }
        full.payload_durable = Some(true);
        assert_eq!((of(&whole).len(), read(of(&whole))), (4, Ok(())));
        assert_eq!((of(&full).len(), read(of(&full))), (11, Ok(())));
        for missing in ["parentIdentity", "retainedTreeSnapshot"] {
            let mut three = of(&whole);
            three.remove(missing);
            assert_eq!(read(three), Err(Refusal::ContinuationInvalid), "three members, without {missing}");
            let mut ten = of(&full);
            ten.remove(missing);
            assert_eq!(read(ten), Err(Refusal::EvidenceInvalid), "ten members, without {missing}");
        }
        let mut more = of(&full);
        more.set("x", Value::Null);
        assert_eq!(read(more), Err(Refusal::ContinuationInvalid), "one that is not known");
    }
    #[test]
    fn a_list_takes_its_own_values_once_and_not_too_many() {
        let paths = SessionsRoot::new(b"/r").unwrap().owner("x");
        let read = |list: List, text: &str| read_list(&Value::parse(text.as_bytes()).unwrap(), list, &paths).map(|values| values.len());
        assert_eq!(read(List::NativeCodes, r#"["a.B:c-9_"]"#), Some(1));
        assert_eq!(read(List::Detached, r#"["/r/.task-artifact-owners/x","/r/.task-artifact-owners/x.removing"]"#), Some(2));
        for bad in [r#"["a","a"]"#, "[]", "{}", "null", r#"["a b"]"#, r#"[1]"#, r#"[""]"#] {
            assert_eq!(read(List::NativeCodes, bad), None, "{bad}");
        }
        let codes = |count: usize| format!("[{}]", (0..count).map(|n| format!("\"c{n}\"")).collect::<Vec<_>>().join(","));
        assert_eq!((read(List::NativeCodes, &codes(64)), read(List::NativeCodes, &codes(65))), (Some(64), None));
        let side = |count: usize| format!("[{}]", (0..count).map(|n| format!("\"/r/.gjc-recovery/{n}\"")).collect::<Vec<_>>().join(","));
        for list in List::SIDE {
            assert_eq!((read(list, &side(256)), read(list, &side(257))), (Some(256), None), "{list:?}");
        }
        let long = |length: usize| format!("[\"{}\"]", "c".repeat(length));
        assert_eq!((read(List::NativeCodes, &long(128)), read(List::NativeCodes, &long(129))), (Some(1), None));
        assert_eq!((read(List::WindowsCodes, r#"["0x0000000A"]"#), read(List::WindowsCodes, r#"["0x00000A"]"#)), (Some(1), None));
    }
}
