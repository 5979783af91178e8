//! What the tree passes ask of the graph again and again, computed once in linear time: depths, messages on the way to
//! an entry, where a branch left the default path, lowest common ancestors.

use crate::steps;
use crate::transcript::EntryKind;
use crate::transcript::tree::{Bits, Linked, Tree};

/// The graph with cycles cut open. Numbers are positions in the list of entries.
pub struct Forest {
    /// Parent; [`NONE`] for roots, unknown parents and the cut edge of a cycle.
    parent: Vec<u32>,
    depth: Vec<u32>,
    /// An ancestor far enough away that climbing is logarithmic.
    jump: Vec<u32>,
    /// Messages on the way from the root, the entry included.
    reach: Vec<u32>,
    /// Entries that have a child.
    parents: Bits,
    /// Entries that lie on a cycle.
    cyclic: Bits,
    /// First member, in file order, of each cycle.
    cycles: Vec<Cycle>,
    /// Some entry has two children.
    pub branches: bool,
}

/// A cycle of parent ids.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cycle {
    /// Its member that stands first in the file.
    pub first: usize,
    /// The member whose parent the first one is, or the first one itself.
    pub other: usize,
    /// Number of members.
    pub members: usize,
}

const NONE: u32 = u32::MAX;

/// True for what the spec counts as a message: `message` and `custom_message` entries.
pub const fn is_message(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::Message | EntryKind::CustomMessage)
}

impl Forest {
    /// Builds the forest of a tree.
    pub fn new<L: Linked + ?Sized>(tree: &Tree<'_, L>) -> Forest {
        let list = tree.list();
        let count = list.len();
        let mut forest = Forest {
            parent: vec![NONE; count],
            depth: vec![0; count],
            jump: vec![NONE; count],
            reach: vec![0; count],
            parents: Bits::new(count),
            cyclic: Bits::new(count),
            cycles: Vec::new(),
            branches: false,
        };
        let (mut done, mut walked) = (Bits::new(count), Bits::new(count));
        let mut trail = Vec::new();
        for start in (0..count).filter(|entry| !list.kind(*entry).is_header()) {
            let mut at = Some(start);
            while let Some(entry) = at.filter(|entry| !walked.has(*entry)) {
                walked.set(entry);
                trail.push(entry);
                at = tree.parent(entry);
            }
            // The walk met itself: everything behind that point is a cycle, cut above its last member on the trail.
            if let Some(entry) = at.filter(|entry| !done.has(*entry)) {
                forest.close_cycle(&trail, entry);
                at = None;
            }
            while let Some(entry) = trail.pop() {
                forest.place(entry, at, is_message(list.kind(entry)));
                done.set(entry);
                at = Some(entry);
            }
        }
        forest.cycles.sort_by_key(|cycle| cycle.first);
        forest
    }

    fn close_cycle(&mut self, trail: &[usize], met: usize) {
        let from = trail.iter().rposition(|entry| *entry == met).unwrap_or(0);
        let members = &trail[from..];
        steps::take(members.len());
        members.iter().for_each(|entry| self.cyclic.set(*entry));
        let at = (0..members.len()).min_by_key(|at| members[*at]).unwrap_or(0);
        let other = members[(at + 1) % members.len()];
        self.cycles.push(Cycle { first: members[at], other, members: members.len() });
    }

    fn place(&mut self, entry: usize, parent: Option<usize>, is_message: bool) {
        self.reach[entry] = u32::from(is_message);
        let Some(parent) = parent else { return };
        self.branches |= self.parents.has(parent);
        self.parents.set(parent);
        self.parent[entry] = parent as u32;
        self.depth[entry] = self.depth[parent] + 1;
        self.reach[entry] += self.reach[parent];
        // Skew-binary jumps: two jumps of one length are followed by one of their sum.
        let jump = self.jump[parent];
        let twice = if jump == NONE { NONE } else { self.jump[jump as usize] };
        let even = jump != NONE
            && twice != NONE
            && self.depth[parent] - self.depth[jump as usize] == self.depth[jump as usize] - self.depth[twice as usize];
        self.jump[entry] = if even { twice } else { parent as u32 };
    }

    /// The parent of an entry.
    pub fn parent(&self, entry: usize) -> Option<usize> {
        steps::take(1);
        self.parent.get(entry).filter(|parent| **parent != NONE).map(|parent| *parent as usize)
    }
    /// Messages on the way from the root to the entry, the entry included.
    pub fn reach(&self, entry: usize) -> u32 {
        self.reach.get(entry).copied().unwrap_or_default()
    }
    /// True when some entry names this one as its parent.
    pub fn has_child(&self, entry: usize) -> bool {
        self.parents.has(entry)
    }
    /// True when the entry lies on a cycle.
    pub fn is_cyclic(&self, entry: usize) -> bool {
        self.cyclic.has(entry)
    }
    /// The cycles, by their first member.
    pub fn cycles(&self) -> &[Cycle] {
        &self.cycles
    }

    /// The ancestor of an entry (or itself) at this depth.
    fn at_depth(&self, mut entry: usize, depth: u32) -> usize {
        while self.depth[entry] > depth {
            steps::take(1);
            let jump = self.jump[entry];
            let next = if jump != NONE && self.depth[jump as usize] >= depth { jump } else { self.parent[entry] };
            if next == NONE {
                break;
            }
            entry = next as usize;
        }
        entry
    }
    /// True when `above` lies on the way from the root to `below`.
    pub fn is_ancestor(&self, above: usize, below: usize) -> bool {
        self.depth[above] <= self.depth[below] && self.at_depth(below, self.depth[above]) == above
    }
    /// Where the ways to two entries part: the common parent and the two different children of it. None when one lies
    /// on the way to the other, or when they share nothing.
    pub fn fork(&self, one: usize, two: usize) -> Option<(usize, usize, usize)> {
        let depth = self.depth[one].min(self.depth[two]);
        let (mut one, mut two) = (self.at_depth(one, depth), self.at_depth(two, depth));
        if one == two {
            return None;
        }
        loop {
            steps::take(1);
            let (up_one, up_two) = (self.parent(one)?, self.parent(two)?);
            if up_one == up_two {
                return Some((up_one, one, two));
            }
            let (far_one, far_two) = (self.jump[one], self.jump[two]);
            // Equal depths have jumps of equal length.
            if far_one != far_two && far_one != NONE && far_two != NONE {
                (one, two) = (far_one as usize, far_two as usize);
            } else {
                (one, two) = (up_one, up_two);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::ids::{Id, Ids};

    struct List {
        ids: Vec<(Id, Id)>,
    }
    impl Linked for List {
        fn len(&self) -> usize {
            self.ids.len()
        }
        fn kind(&self, _: usize) -> EntryKind {
            EntryKind::Message
        }
        fn id(&self, entry: usize) -> Id {
            self.ids[entry].0
        }
        fn parent(&self, entry: usize) -> Id {
            self.ids[entry].1
        }
    }

    /// `parents[i]` is the number of the parent of entry `i`.
    fn list(parents: &[Option<usize>]) -> List {
        let mut ids = Ids::default();
        let mut id = |number: usize| ids.string(format!("e{number}").as_bytes());
        List { ids: parents.iter().enumerate().map(|(at, parent)| (id(at), parent.map_or(Id::NULL, &mut id))).collect() }
    }

    #[test]
    fn long_branches_part_where_they_part() {
        // Two chains of 1,000 entries each below entry 0, woven into each other.
        let parents: Vec<Option<usize>> = (0..2001).map(|at| (at > 0).then(|| if at < 3 { 0 } else { at - 2 })).collect();
        let list = list(&parents);
        let tree = Tree::new(&list);
        let forest = Forest::new(&tree);
        assert_eq!(forest.fork(1999, 2000), Some((0, 1, 2)));
        assert_eq!(forest.fork(3, 2000), Some((0, 1, 2)));
        assert_eq!(forest.fork(1, 1999), None);
        assert!(forest.is_ancestor(1, 1999));
        assert!(!forest.is_ancestor(1, 2000));
        assert_eq!((forest.reach(2000), forest.branches), (1001, true));
    }

    #[test]
    fn a_cycle_is_cut_once_and_named_by_its_first_member() {
        // 3 -> 2 -> 1 -> 3, and 0 hangs below it.
        let list = list(&[Some(2), Some(3), Some(1), Some(2)]);
        let forest = Forest::new(&Tree::new(&list));
        assert_eq!(forest.cycles().len(), 1);
        assert_eq!((forest.cycles()[0].first, forest.cycles()[0].members), (1, 3));
        assert!(forest.is_cyclic(3) && !forest.is_cyclic(0));
    }
}
