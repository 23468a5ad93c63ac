//! Connected cells inside one leaf.

use crate::coupling::block::{self, Block};
use crate::grid::leaf;

/// What fills a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Air,
    Liquid,
}

/// Marks a cell without any open face.
pub(super) const SOLID: u16 = u16::MAX;

/// The components of a leaf: cells of one kind connected through open faces inside the leaf.
pub(super) struct LeafComponents {
    /// Component of each cell, or [`SOLID`].
    pub(super) of_cell: Box<[u16; leaf::SIZE]>,
    /// Kind of each component, in the order of their first cells.
    pub(super) kinds: Vec<Kind>,
}

/// Labels the cells of one leaf from the liquid's φ and the open fractions around it; `upper_known[axis]`
/// tells whether the fractions of the leaf's upper faces are stored (their leaf is active).
pub(super) fn label(phi: &[f32], open: &[Block<f32>; 3], upper_known: [bool; 3]) -> LeafComponents {
    let all = |f: &dyn Fn(f32) -> bool| (0..leaf::SIZE).all(|n| (0..3).all(|a| f(open[a][block::centre(n)])));
    let one_kind = phi.iter().all(|&p| p < 0.0) || phi.iter().all(|&p| p >= 0.0);
    if one_kind && all(&|alpha| alpha > 0.0) {
        // Every cell has its own lower faces open, so none is solid and all are joined.
        let kind = if phi[0] < 0.0 { Kind::Liquid } else { Kind::Air };
        return LeafComponents { of_cell: Box::new([0; leaf::SIZE]), kinds: vec![kind] };
    }
    let is_solid = |n: usize| {
        let (i, local) = (block::centre(n), leaf::local(n));
        (0..3).all(|a| {
            let known = upper_known[a] || local[a] + 1 < leaf::DIM as i32;
            open[a][i] <= 0.0 && (!known || open[a][i + block::STEP[a]] <= 0.0)
        })
    };
    let kind = |n: usize| if phi[n] < 0.0 { Kind::Liquid } else { Kind::Air };
    let mut parent: [u16; leaf::SIZE] = std::array::from_fn(|n| n as u16);
    let solid: [bool; leaf::SIZE] = std::array::from_fn(is_solid);
    if solid.iter().all(|&s| s) {
        return LeafComponents { of_cell: Box::new([SOLID; leaf::SIZE]), kinds: Vec::new() };
    }
    for n in 0..leaf::SIZE {
        if solid[n] {
            continue;
        }
        let local = leaf::local(n);
        for a in 0..3 {
            if local[a] == 0 {
                continue;
            }
            let m = n - leaf::STRIDE[a];
            if !solid[m] && kind(m) == kind(n) && open[a][block::centre(n)] > 0.0 {
                let (p, q) = (find(&mut parent, m as u16), find(&mut parent, n as u16));
                parent[p.max(q) as usize] = p.min(q);
            }
        }
    }
    let mut of_cell = Box::new([SOLID; leaf::SIZE]);
    let mut kinds = Vec::new();
    for n in (0..leaf::SIZE).filter(|&n| !solid[n]) {
        let root = find(&mut parent, n as u16) as usize;
        if root == n {
            of_cell[n] = kinds.len() as u16;
            kinds.push(kind(n));
        } else {
            of_cell[n] = of_cell[root];
        }
    }
    LeafComponents { of_cell, kinds }
}

/// The smallest cell of the set that holds `n`.
fn find(parent: &mut [u16; leaf::SIZE], mut n: u16) -> u16 {
    while parent[n as usize] != n {
        parent[n as usize] = parent[parent[n as usize] as usize];
        n = parent[n as usize];
    }
    n
}
