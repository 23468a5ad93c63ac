//! Connected cells inside one leaf.

use super::sets::{ALL, NONE, Words, has};
use crate::grid::leaf;
use crate::grid::morphology::{offsets, shift};

/// What fills a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Air,
    Liquid,
}

/// Marks a cell without any open face.
pub(crate) const SOLID: u16 = u16::MAX;

/// A chink between two components of air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Chink<T> {
    /// The two components it lies between.
    pub(crate) between: (T, T),
    /// Area of the chink that is open to air, of a voxel's face.
    pub(crate) width: f32,
}

/// The components of a leaf: cells of one kind connected through open faces inside the leaf.
pub(crate) struct LeafComponents {
    /// Component of each cell, or [`SOLID`].
    pub(crate) of_cell: Box<[u16; leaf::SIZE]>,
    /// Kind of each component, in the order of their first cells.
    pub(crate) kinds: Vec<Kind>,
    /// How many cells each component has.
    pub(crate) cells: Vec<usize>,
    /// The chinks between its components.
    pub(crate) chinks: Vec<Chink<u16>>,
}

impl LeafComponents {
    /// One component of all cells.
    fn one(kind: Kind) -> Self {
        let of_cell = Box::new([0; leaf::SIZE]);
        Self { of_cell, kinds: vec![kind], cells: vec![leaf::SIZE], chinks: Vec::new() }
    }
}

/// The faces of a leaf's cells.
pub(crate) struct Faces {
    /// Per axis the lower faces with α > 0.
    pub(crate) open: [Words; 3],
    /// The upper ones, as far as they are known.
    pub(crate) above: [Words; 3],
    /// The chinks between cells of air: the axes and cells whose lower faces they are, with their widths.
    pub(crate) chinks: Vec<(usize, usize, f32)>,
}

/// Labels the cells of one leaf, those of `liquid` (φ < 0) and the rest.
pub(crate) fn label(liquid: &Words, Faces { open, above, chinks }: &Faces) -> LeafComponents {
    let kind = |n: usize| if has(liquid, n) { Kind::Liquid } else { Kind::Air };
    if (*liquid == ALL || *liquid == NONE) && open.iter().all(|open| *open == ALL) && chinks.is_empty() {
        // Every cell has its own lower faces open, so none is solid and all are joined.
        return LeafComponents::one(kind(0));
    }
    let fluid: Words = std::array::from_fn(|x| (0..3).fold(0, |any, a| any | open[a][x] | above[a][x]));
    let mut joined: [Words; 3] = std::array::from_fn(|a| {
        // A cell of the lowest layer has none below it in the leaf.
        let (fluid_below, liquid_below) = (shift(&fluid, &NONE, a, -1), shift(liquid, &NONE, a, -1));
        std::array::from_fn(|x| open[a][x] & fluid[x] & fluid_below[x] & !(liquid[x] ^ liquid_below[x]))
    });
    chinks.iter().for_each(|&(axis, n, _)| joined[axis][n / 64] &= !(1 << (n % 64)));
    let mut of_cell = Box::new([SOLID; leaf::SIZE]);
    let (mut kinds, mut cells) = (Vec::new(), Vec::new());
    let mut rest = fluid;
    while let Some(first) = first_of(&rest) {
        let component = flood(first, &joined);
        for n in offsets(&component) {
            of_cell[n] = kinds.len() as u16;
        }
        kinds.push(kind(first));
        cells.push(component.iter().map(|word| word.count_ones() as usize).sum());
        (0..leaf::DIM).for_each(|x| rest[x] &= !component[x]);
    }
    let between = |&(axis, n, width): &(usize, usize, f32)| Chink {
        between: (of_cell[n - leaf::STRIDE[axis]], of_cell[n]),
        width,
    };
    let chinks = chinks.iter().map(between).filter(|chink| chink.between.0 != chink.between.1).collect();
    LeafComponents { of_cell, kinds, cells, chinks }
}

/// The first cell of a set.
fn first_of(set: &Words) -> Option<usize> {
    offsets(set).next()
}

/// The cells that are reached from one; `joined` are per axis those joined to the one below them.
fn flood(from: usize, joined: &[Words; 3]) -> Words {
    let mut set = NONE;
    set[from / 64] = 1 << (from % 64);
    // Up and down, slab by slab, until nothing is new.
    loop {
        let before = set;
        for x in 0..leaf::DIM {
            let below = if x > 0 { set[x - 1] & joined[0][x] } else { 0 };
            set[x] = flood_slab(set[x] | below, joined[1][x], joined[2][x]);
        }
        for x in (0..leaf::DIM - 1).rev() {
            set[x] = flood_slab(set[x] | set[x + 1] & joined[0][x + 1], joined[1][x], joined[2][x]);
        }
        if set == before {
            return set;
        }
    }
}

/// What is reached inside one slab along y and z.
fn flood_slab(mut set: u64, along_y: u64, along_z: u64) -> u64 {
    loop {
        let up = set << leaf::DIM & along_y | set << 1 & along_z;
        let down = (set & along_y) >> leaf::DIM | (set & along_z) >> 1;
        if (up | down) & !set == 0 {
            return set;
        }
        set |= up | down;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::union_find::DisjointSets;
    use proptest::prelude::*;

    proptest! {
        /// Two cells side by side share a component just when they are of one kind and the face between is open.
        #[test]
        fn components_are_the_connected_cells(
            liquid in prop::array::uniform8(0u64..), low in prop::array::uniform3(prop::array::uniform8(0u64..)),
            more in prop::array::uniform3(prop::array::uniform8(0u64..)), sparse in prop::bool::ANY,
        ) {
            let open: [Words; 3] = std::array::from_fn(|a| {
                std::array::from_fn(|x| if sparse { low[a][x] & more[a][x] } else { low[a][x] | more[a][x] })
            });
            let above: [Words; 3] = std::array::from_fn(|a| shift(&open[a], &NONE, a, 1));
            let found = label(&liquid, &Faces { open, above, chinks: Vec::new() });
            let mut sets = DisjointSets::new(leaf::SIZE);
            for n in 0..leaf::SIZE {
                for a in (0..3).filter(|&a| leaf::local(n)[a] > 0 && has(&open[a], n)) {
                    let below = n - leaf::STRIDE[a];
                    if has(&liquid, n) == has(&liquid, below) {
                        sets.union(n, below);
                    }
                }
            }
            let (mut next, mut number) = (0, vec![SOLID; leaf::SIZE]);
            for n in (0..leaf::SIZE).filter(|&n| (0..3).any(|a| has(&open[a], n) || has(&above[a], n))) {
                let first = sets.find(n);
                if first == n {
                    number[n] = next;
                    next += 1;
                }
                prop_assert_eq!(found.of_cell[n], number[first], "cell {}", n);
            }
            prop_assert_eq!(found.kinds.len(), usize::from(next));
        }
    }
}
