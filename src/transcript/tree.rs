//! The tree that ids and parent ids span: index, leaf, path, and the shape to show (spec 01 §7).
//!
//! Nothing is assumed about the graph: unknown parents, cycles, duplicate ids and entries without id are ordinary
//! input. All work is linear in the number of entries (sorting children aside), and nothing recurses.

use super::entry::EntryKind;
use super::ids::Id;
use crate::steps;

/// A list of entries as the tree sees it, in file order, header and further headers included. Numbers are positions
/// in that list.
pub trait Linked {
    /// Number of entries.
    fn len(&self) -> usize;
    /// True without entries.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// What the entry is.
    fn kind(&self, entry: usize) -> EntryKind;
    /// Its `id`.
    fn id(&self, entry: usize) -> Id;
    /// Its `parentId`.
    fn parent(&self, entry: usize) -> Id;
}

/// Which entry the caller of gjc asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Leaf {
    /// Nothing, or an id that no entry has: the last entry of the file.
    #[default]
    Last,
    /// `null`: the place before the first entry.
    BeforeFirst,
    /// The latest entry with this id; a falsy or unknown id is as good as none.
    Id(Id),
}

/// Where a path ends at its root side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathEnd {
    /// The first entry has no parent (`null`, absent, `""` or another falsy value).
    Root,
    /// The first entry names a parent that no entry has.
    Dangling(Id),
    /// The first entry's parent is this entry, which is on the path already.
    Cycle(usize),
}

/// The entries from the root side to the leaf.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path {
    /// Positions, leaf last.
    pub entries: Vec<usize>,
    /// Why nothing stands before the first one; none for an empty path.
    pub end: Option<PathEnd>,
}

/// The index over a list of entries. Headers are no part of it.
pub struct Tree<'l, L: ?Sized> {
    list: &'l L,
    /// Position of the latest entry of an id, by [`Id::index`]; [`NONE`] when there is none.
    by_id: Vec<u32>,
    last: Option<usize>,
}

const NONE: u32 = u32::MAX;

impl<'l, L: Linked + ?Sized> Tree<'l, L> {
    /// Indexes a list.
    pub fn new(list: &'l L) -> Self {
        let mut by_id = Vec::new();
        let mut last = None;
        for entry in (0..list.len()).filter(|entry| !list.kind(*entry).is_header()) {
            let slot = list.id(entry).index();
            if slot >= by_id.len() {
                by_id.resize(slot + 1, NONE);
            }
            by_id[slot] = entry as u32;
            last = Some(entry);
        }
        Tree { list, by_id, last }
    }

    /// The indexed list.
    pub fn list(&self) -> &'l L {
        self.list
    }
    /// The entry that gjc finds under an id: the latest one.
    pub fn find(&self, id: Id) -> Option<usize> {
        steps::take(1);
        self.by_id.get(id.index()).filter(|entry| **entry != NONE).map(|entry| *entry as usize)
    }
    /// The leaf after loading: the last entry of the file, whatever it is.
    pub fn last(&self) -> Option<usize> {
        self.last
    }
    /// True when a later entry has the same id: nothing finds this one.
    pub fn is_shadowed(&self, entry: usize) -> bool {
        self.find(self.list.id(entry)) != Some(entry)
    }
    /// The entry that `parentId` leads to, itself included; none when it is falsy or unknown.
    pub fn parent(&self, entry: usize) -> Option<usize> {
        let parent = self.list.parent(entry);
        if parent.truthy() { self.find(parent) } else { None }
    }
    /// The entry a leaf stands for; none before the first entry and in an empty list.
    pub fn leaf(&self, leaf: Leaf) -> Option<usize> {
        match leaf {
            Leaf::BeforeFirst => None,
            Leaf::Last => self.last,
            Leaf::Id(id) if id.truthy() => self.find(id).or(self.last),
            Leaf::Id(_) => self.last,
        }
    }
    /// Whether an entry has the id that a leaf names.
    pub fn has(&self, leaf: Leaf) -> bool {
        matches!(leaf, Leaf::Id(id) if id.truthy() && self.find(id).is_some())
    }
    /// The path to an entry.
    pub fn path(&self, leaf: usize) -> Path {
        let mut seen = Bits::new(self.list.len());
        let mut entries = Vec::new();
        let mut at = leaf;
        let end = loop {
            steps::take(1);
            seen.set(at);
            entries.push(at);
            let id = self.list.parent(at);
            match self.parent(at) {
                Some(parent) if seen.has(parent) => break PathEnd::Cycle(parent),
                Some(parent) => at = parent,
                None if id.truthy() => break PathEnd::Dangling(id),
                None => break PathEnd::Root,
            }
        };
        entries.reverse();
        Path { entries, end: Some(end) }
    }
    /// The path to a leaf; empty before the first entry and in an empty list.
    pub fn path_to(&self, leaf: Leaf) -> Path {
        self.leaf(leaf).map_or(Path { entries: Vec::new(), end: None }, |leaf| self.path(leaf))
    }

    /// The tree to show: every entry that an id finds hangs below its parent once, children by `time` (milliseconds;
    /// NaN compares as equal), roots in file order.
    ///
    /// An unknown parent or the entry itself as parent makes a root; of a cycle, the edge of the member that stands
    /// last in the file is dropped. Shadowed duplicates are no part of the shape.
    pub fn shape(&self, time: impl Fn(usize) -> f64) -> Shape {
        let cut = self.cycle_cuts();
        let edge = |entry: usize| self.parent(entry).filter(|_| !cut.has(entry));
        let count = self.list.len();
        let members = || (0..count).filter(|entry| !self.list.kind(*entry).is_header() && !self.is_shadowed(*entry));

        let mut starts = vec![0u32; count + 1];
        let mut roots = Vec::new();
        for entry in members() {
            match edge(entry) {
                Some(parent) => starts[parent + 1] += 1,
                None => roots.push(entry as u32),
            }
        }
        for at in 0..count {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut children = vec![0u32; starts.last().copied().unwrap_or(0) as usize];
        for entry in members() {
            if let Some(parent) = edge(entry) {
                children[next[parent] as usize] = entry as u32;
                next[parent] += 1;
            }
        }
        for bounds in starts.windows(2) {
            let family = &mut children[bounds[0] as usize..bounds[1] as usize];
            if family.len() > 1 {
                sort_by_time(family, &time);
            }
        }
        Shape { roots, starts, children }
    }

    /// The entries whose edge to their parent would close a cycle when edges are drawn in file order.
    fn cycle_cuts(&self) -> Bits {
        let count = self.list.len();
        let mut cut = Bits::new(count);
        let mut done = Bits::new(count);
        let mut walked = Bits::new(count);
        for start in 0..count {
            let mut trail = Vec::new();
            let mut at = Some(start);
            while let Some(entry) = at.filter(|entry| !done.has(*entry) && !walked.has(*entry)) {
                walked.set(entry);
                trail.push(entry);
                at = self.parent(entry);
            }
            // The walk met itself: what lies behind that point on the trail is a cycle.
            if let Some(entry) = at.filter(|entry| !done.has(*entry))
                && let Some(from) = trail.iter().inspect(|_| steps::take(1)).position(|walked| *walked == entry)
                && let Some(latest) = trail[from..].iter().max()
            {
                cut.set(*latest);
            }
            trail.into_iter().for_each(|entry| done.set(entry));
        }
        cut
    }
}

/// Parents and children after irregularities were settled (see [`Tree::shape`]).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    roots: Vec<u32>,
    starts: Vec<u32>,
    children: Vec<u32>,
}

impl Shape {
    /// The entries without parent, in file order.
    pub fn roots(&self) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator + '_ {
        self.roots.iter().map(|entry| *entry as usize)
    }
    /// The children of an entry, oldest first.
    pub fn children(&self, entry: usize) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator + '_ {
        let at = |slot: usize| self.starts.get(slot).copied().unwrap_or(0) as usize;
        self.children.get(at(entry)..at(entry + 1)).unwrap_or_default().iter().map(|child| *child as usize)
    }
}

/// A stable merge sort, bottom up. The standard sort is of no use here: times that are NaN are equal to everything,
/// which is no order, and the outcome then depends on the steps taken.
fn sort_by_time(entries: &mut [u32], time: &impl Fn(usize) -> f64) {
    let mut from: Vec<(f64, u32)> = entries.iter().map(|entry| (time(*entry as usize), *entry)).collect();
    let mut into = Vec::with_capacity(from.len());
    let mut width = 1;
    while width < from.len() {
        for block in from.chunks(2 * width) {
            let (mut left, mut right) = block.split_at(width.min(block.len()));
            loop {
                steps::take(1);
                match (left.split_first(), right.split_first()) {
                    (Some((first, _)), Some((second, rest))) if second.0 - first.0 < 0.0 => {
                        into.push(*second);
                        right = rest;
                    }
                    (Some((first, rest)), _) => {
                        into.push(*first);
                        left = rest;
                    }
                    (None, Some((second, rest))) => {
                        into.push(*second);
                        right = rest;
                    }
                    (None, None) => break,
                }
            }
        }
        std::mem::swap(&mut from, &mut into);
        into.clear();
        width *= 2;
    }
    for (slot, (_, entry)) in entries.iter_mut().zip(from) {
        *slot = entry;
    }
}

/// One bit for each entry.
pub struct Bits(Vec<u64>);

impl Bits {
    /// All clear.
    pub fn new(count: usize) -> Self {
        Bits(vec![0; count.div_ceil(64)])
    }
    /// Sets a bit; out of range does nothing.
    pub fn set(&mut self, at: usize) {
        if let Some(word) = self.0.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }
    /// True when the bit is set.
    pub fn has(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Value;
    use crate::transcript::ids::Ids;

    /// `(id, parentId)` as JSON texts; `""` is an absent member.
    struct List(Vec<(Id, Id)>, Ids);

    impl Linked for List {
        fn len(&self) -> usize {
            self.0.len()
        }
        fn kind(&self, _: usize) -> EntryKind {
            EntryKind::Message
        }
        fn id(&self, entry: usize) -> Id {
            self.0[entry].0
        }
        fn parent(&self, entry: usize) -> Id {
            self.0[entry].1
        }
    }

    fn list(pairs: &[(&str, &str)]) -> List {
        let mut ids = Ids::default();
        let mut id = |text: &str| ids.of(Value::parse(text.as_bytes()).as_ref());
        let links = pairs.iter().map(|(own, parent)| (id(own), id(parent))).collect();
        List(links, ids)
    }
    fn path(pairs: &[(&str, &str)]) -> (Vec<usize>, Option<PathEnd>) {
        let list = list(pairs);
        let path = Tree::new(&list).path_to(Leaf::Last);
        (path.entries, path.end)
    }
    /// The shape as text, children in parentheses.
    fn shape(pairs: &[(&str, &str)], times: &[f64]) -> String {
        fn show(shape: &Shape, entry: usize) -> String {
            let children: Vec<String> = shape.children(entry).map(|child| show(shape, child)).collect();
            if children.is_empty() { entry.to_string() } else { format!("{entry}({})", children.join(" ")) }
        }
        let list = list(pairs);
        let shape = Tree::new(&list).shape(|entry| times.get(entry).copied().unwrap_or(f64::NAN));
        shape.roots().map(|root| show(&shape, root)).collect::<Vec<_>>().join(" ")
    }

    const A: &str = "\"a\"";
    const B: &str = "\"b\"";
    const C: &str = "\"c\"";
    const D: &str = "\"d\"";

    #[test]
    fn the_leaf_is_the_last_entry_and_the_path_goes_to_its_root() {
        assert_eq!(path(&[(A, "null"), (B, A), (C, A)]), (vec![0, 2], Some(PathEnd::Root)));
        assert_eq!(path(&[]), (vec![], None));
    }

    #[test]
    fn an_unknown_parent_ends_the_path() {
        let (entries, end) = path(&[(A, "null"), (B, "\"zz\""), (C, B)]);
        assert_eq!(entries, [1, 2]);
        assert!(matches!(end, Some(PathEnd::Dangling(_))));
    }

    #[test]
    fn falsy_parents_are_no_parents_even_when_an_entry_has_that_id() {
        for falsy in ["\"\"", "0", "-0", "false", "null", ""] {
            assert_eq!(path(&[(falsy, "null"), (B, falsy)]), (vec![1], Some(PathEnd::Root)), "{falsy}");
        }
    }

    #[test]
    fn ids_compare_without_conversion() {
        assert_eq!(path(&[("7", "null"), (B, "7.0")]).0, [0, 1]);
        assert_eq!(path(&[("\"7\"", "null"), (B, "7")]).0, [1]);
        assert_eq!(path(&[("true", "null"), (B, "true")]).0, [0, 1]);
        assert_eq!(path(&[("{}", "null"), (B, "{}")]).0, [1]);
    }

    #[test]
    fn a_cycle_is_walked_once() {
        assert_eq!(path(&[(A, C), (B, A), (C, B), (D, C)]), (vec![0, 1, 2, 3], Some(PathEnd::Cycle(2))));
        assert_eq!(path(&[(A, A)]), (vec![0], Some(PathEnd::Cycle(0))));
    }

    #[test]
    fn of_duplicate_ids_the_last_wins() {
        assert_eq!(path(&[(A, "null"), (A, "null"), (B, A)]), (vec![1, 2], Some(PathEnd::Root)));
        assert_eq!(path(&[("", "null"), ("", "null")]), (vec![1], Some(PathEnd::Root)));
    }

    #[test]
    fn a_leaf_that_is_not_known_or_falsy_is_the_last_entry() {
        let mut list = list(&[(A, "null"), (B, "null")]);
        let (a, zz) = (list.1.string(b"a"), list.1.string(b"zz"));
        let tree = Tree::new(&list);
        assert_eq!(tree.leaf(Leaf::Id(a)), Some(0));
        assert_eq!(tree.leaf(Leaf::Id(zz)), Some(1));
        assert_eq!(tree.leaf(Leaf::Id(Id::EMPTY)), Some(1));
        assert_eq!(tree.leaf(Leaf::BeforeFirst), None);
    }

    #[test]
    fn the_edge_that_closes_a_cycle_is_dropped() {
        assert_eq!(shape(&[(A, C), (B, A), (C, B)], &[]), "2(0(1))");
        assert_eq!(shape(&[(A, A), (B, A)], &[]), "0(1)");
    }

    #[test]
    fn children_are_sorted_by_time_and_stay_in_order_without_one() {
        let star = [(A, "null"), (B, A), (C, A), (D, A)];
        assert_eq!(shape(&star, &[0.0, 3.0, 1.0, 2.0]), "0(2 3 1)");
        assert_eq!(shape(&star, &[]), "0(1 2 3)");
        assert_eq!(shape(&[(A, "\"zz\""), (B, "\"\""), (C, "null")], &[3.0, 2.0, 1.0]), "0 1 2");
    }

    #[test]
    fn shadowed_duplicates_are_no_part_of_the_shape() {
        assert_eq!(shape(&[(A, "null"), (A, "null"), (B, A)], &[]), "1(2)");
    }

    proptest::proptest! {
        #[test]
        fn whatever_the_graph_the_shape_holds_every_reachable_entry_once(links in proptest::collection::vec((0u8..12, 0u8..14), 0..40)) {
            let texts: Vec<(String, String)> = links.iter().map(|(own, parent)| (format!("\"{own}\""), format!("\"{parent}\""))).collect();
            let pairs: Vec<(&str, &str)> = texts.iter().map(|(own, parent)| (own.as_str(), parent.as_str())).collect();
            let list = list(&pairs);
            let tree = Tree::new(&list);
            let shape = tree.shape(|entry| f64::from(links[entry].1));
            let mut drawn = Vec::new();
            let mut pending: Vec<usize> = shape.roots().collect();
            while let Some(entry) = pending.pop() {
                drawn.push(entry);
                pending.extend(shape.children(entry));
            }
            drawn.sort_unstable();
            let expected: Vec<usize> = (0..links.len()).filter(|entry| !tree.is_shadowed(*entry)).collect();
            proptest::prop_assert_eq!(drawn, expected);

            let path = tree.path_to(Leaf::Last).entries;
            proptest::prop_assert_eq!(path.last().copied(), links.len().checked_sub(1));
            for step in path.windows(2) {
                proptest::prop_assert_eq!(tree.parent(step[1]), Some(step[0]));
            }
            let distinct: std::collections::BTreeSet<usize> = path.iter().copied().collect();
            proptest::prop_assert_eq!(distinct.len(), path.len());
        }
    }

    #[test]
    fn chains_stars_and_cycles_are_linear() {
        const N: usize = 100_000;
        let names: Vec<String> = (0..N).map(|n| format!("\"{n}\"")).collect();
        let pairs = |parent: &dyn Fn(usize) -> usize| -> Vec<(&str, &str)> {
            (0..N).map(|n| (names[n].as_str(), names.get(parent(n)).map_or("null", String::as_str))).collect()
        };
        assert_eq!(path(&pairs(&|n| n.wrapping_sub(1))).0.len(), N);
        assert_eq!(path(&pairs(&|n| (n + N - 1) % N)).0.len(), N);
        let star = list(&pairs(&|n| if n == 0 { N } else { 0 }));
        let shape = Tree::new(&star).shape(|entry| -(entry as f64));
        assert_eq!(shape.children(0).next(), Some(N - 1));
    }
}
