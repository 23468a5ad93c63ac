//! Disjoint sets of numbers. The representative of a set is its smallest member, so that numbering never depends on the order of
//! the unions.

/// A forest over `0..n`.
pub(crate) struct DisjointSets {
    parent: Vec<u32>,
}

impl DisjointSets {
    /// `n` singletons.
    pub(crate) fn new(n: usize) -> Self {
        Self { parent: (0..n as u32).collect() }
    }

    /// Number of members of all sets.
    pub(crate) fn len(&self) -> usize {
        self.parent.len()
    }

    /// The smallest member of the set that holds `i`.
    pub(crate) fn find(&mut self, i: usize) -> usize {
        let mut i = i as u32;
        while self.parent[i as usize] != i {
            let up = self.parent[self.parent[i as usize] as usize];
            self.parent[i as usize] = up;
            i = up;
        }
        i as usize
    }

    /// Joins the sets of `a` and `b`.
    pub(crate) fn union(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b)] = a.min(b) as u32;
    }
}
