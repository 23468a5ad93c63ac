//! Sparse grids: leaves, constant tiles and a background.

use super::{Array, Element, next_stamp};
use std::sync::Arc;

/// Voxels of one 8×8×8 leaf; voxel (x, y, z) stands at `(x & 7) << 6 | (y & 7) << 3 | (z & 7)`.
pub const LEAF_VOXELS: usize = 512;

/// Most components of a voxel.
pub const MAX_COMPONENTS: usize = 9;

/// The identity index-to-world matrix.
pub const IDENTITY: [f64; 16] =
    [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];

/// Where the samples of a cell stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sampling {
    /// At the cell centre, the integer index.
    Centre,
    /// Component c at the centre of the cell's LOWER face along axis c (index −½ along c).
    Face,
    /// At the cell's lower corner (index −½ along every axis).
    Node,
}

impl Sampling {
    /// As people read it.
    pub fn place(self) -> &'static str {
        match self {
            Sampling::Centre => "cell centres",
            Sampling::Face => "lower faces",
            Sampling::Node => "lower corners",
        }
    }
}

/// Edges that tiles have, voxels.
const EDGES: [u32; 3] = [8, 128, 4096];
/// Farthest coordinate of a leaf or tile: beside it sums of two still have a number.
const FARTHEST: u32 = 1 << 30;

/// A cube of constant value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tile {
    /// Lowest voxel, a multiple of the edge.
    pub origin: [i32; 3],
    /// Edge in voxels: 8 (a leaf), 128 or 4096.
    pub edge: u32,
    /// Value per component; entries past the grid's components are 0.
    pub value: [f64; MAX_COMPONENTS],
}

/// A sparse grid: sorted leaves, and per component one array `[leaf][512]`.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Leaf origins (multiples of 8), sorted by (x, y, z), no repeats.
    pub origins: Arc<Vec<[i32; 3]>>,
    /// Constant tiles; they keep the inside sign of a level set deep inside.
    pub tiles: Arc<Vec<Tile>>,
    /// Per component, `[leaf][512]` values of type [`Grid::element`].
    pub channels: Vec<Arc<Array>>,
    /// Element type of every channel.
    pub element: Element,
    /// Value outside leaves and tiles, per component.
    pub background: [f64; MAX_COMPONENTS],
    /// Where the samples stand.
    pub sampling: Sampling,
    /// Index-to-world map, row-major, acting on row vectors (OpenVDB's and Houdini's convention); metres.
    pub transform: [f64; 16],
    /// Equal stamp, same leaves and tiles.
    pub topology_id: u64,
    /// Equal stamp, same leaves, tiles and values. The transform is not covered: a rigid motion keeps it.
    pub value_id: u64,
}

impl Grid {
    /// An empty grid of `components` channels.
    pub fn new(element: Element, components: usize, sampling: Sampling) -> Self {
        let channels = (0..components).map(|_| Arc::new(Array::zeros(element, 0))).collect();
        Self {
            origins: Arc::default(),
            tiles: Arc::default(),
            channels,
            element,
            background: [0.0; MAX_COMPONENTS],
            sampling,
            transform: IDENTITY,
            topology_id: next_stamp(),
            value_id: next_stamp(),
        }
    }

    /// Gives the grid these leaves (sorted, no repeats) and tiles, with every value zero.
    pub fn shape(&mut self, origins: Vec<[i32; 3]>, tiles: Vec<Tile>) {
        let len = origins.len() * LEAF_VOXELS;
        for channel in &mut self.channels {
            *channel = Arc::new(Array::zeros(self.element, len));
        }
        self.origins = Arc::new(origins);
        self.tiles = Arc::new(tiles);
        self.topology_id = next_stamp();
        self.value_id = next_stamp();
    }

    /// Number of channels: 1 for a scalar, 3 for a vector.
    pub fn components(&self) -> usize {
        self.channels.len()
    }

    /// Number of leaves.
    pub fn leaves(&self) -> usize {
        self.origins.len()
    }

    /// Number of leaf of a voxel, by binary search.
    pub fn leaf_of(&self, ijk: [i32; 3]) -> Option<usize> {
        self.origins.binary_search(&ijk.map(|c| c & !7)).ok()
    }

    /// Value of a component at a voxel: leaf, else tile, else background.
    pub fn value(&self, component: usize, ijk: [i32; 3]) -> f64 {
        let background = self.background.get(component).copied().unwrap_or(0.0);
        if let Some(leaf) = self.leaf_of(ijk) {
            let [x, y, z] = ijk.map(|c| (c & 7) as usize);
            let at = leaf * LEAF_VOXELS + (x << 6 | y << 3 | z);
            return self.channels.get(component).and_then(|c| c.get(at)).unwrap_or(background);
        }
        let inside = |t: &&Tile| {
            (0..3).all(|a| (0..i64::from(t.edge)).contains(&(i64::from(ijk[a]) - i64::from(t.origin[a]))))
        };
        self.tiles.iter().find(inside).and_then(|t| t.value.get(component).copied()).unwrap_or(background)
    }

    /// Edge of a voxel along x, metres.
    pub fn voxel_size(&self) -> f64 {
        let m = &self.transform;
        (m[0] * m[0] + m[1] * m[1] + m[2] * m[2]).sqrt()
    }

    /// Whether the transform is affine and gives voxels a volume.
    pub fn has_place(&self) -> bool {
        let m = &self.transform;
        let [x, y, z] = [0, 4, 8].map(|row| glam::DVec3::new(m[row], m[row + 1], m[row + 2]));
        let box_of_edges = x.length() * y.length() * z.length();
        let affine = [m[3], m[7], m[11], m[15]] == [0.0, 0.0, 0.0, 1.0];
        affine && box_of_edges > 0.0 && x.dot(y.cross(z)).abs() > 1e-9 * box_of_edges
    }

    /// World position of an index position, metres.
    pub fn to_world(&self, p: [f64; 3]) -> [f64; 3] {
        let m = &self.transform;
        std::array::from_fn(|c| p[0] * m[c] + p[1] * m[4 + c] + p[2] * m[8 + c] + m[12 + c])
    }

    /// Bytes held by leaves and tiles.
    pub fn bytes(&self) -> usize {
        self.channels.iter().map(|c| c.bytes()).sum::<usize>()
            + self.origins.len() * size_of::<[i32; 3]>()
            + self.tiles.len() * size_of::<Tile>()
    }

    /// What is wrong with the shape, if anything: leaf order, alignment, array lengths.
    pub fn defect(&self) -> Option<String> {
        if let Some(o) = self.origins.iter().find(|o| o.iter().any(|c| c & 7 != 0)) {
            return Some(format!("leaf origin {o:?} is not a multiple of 8"));
        }
        if let Some(w) = self.origins.windows(2).find(|w| w[0] >= w[1]) {
            return Some(format!("leaf origins {:?} and {:?} are out of order or repeated", w[0], w[1]));
        }
        if let Some(o) = self.origins.iter().find(|o| o.iter().any(|c| c.unsigned_abs() > FARTHEST)) {
            return Some(format!("leaf origin {o:?} is farther than {FARTHEST} voxels from voxel 0"));
        }
        let misplaced = |t: &&Tile| {
            let edge = i64::from(t.edge);
            !EDGES.contains(&t.edge)
                || t.origin.iter().any(|&c| i64::from(c) % edge != 0 || c.unsigned_abs() > FARTHEST)
        };
        if let Some(t) = self.tiles.iter().find(misplaced) {
            return Some(format!(
                "a tile at {:?} with an edge of {}: edges are 8, 128 or 4096, origins multiples of them within {FARTHEST} voxels",
                t.origin, t.edge
            ));
        }
        let len = self.origins.len() * LEAF_VOXELS;
        self.channels.iter().enumerate().find_map(|(c, a)| {
            (a.len() != len || a.element() != self.element).then(|| {
                format!(
                    "component {c} holds {} {} values, expected {len} {}",
                    a.len(),
                    a.element().name(),
                    self.element.name()
                )
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_from_leaves_then_tiles_then_the_background() {
        let mut g = Grid::new(Element::F32, 1, Sampling::Centre);
        g.background[0] = 3.0;
        let tile = Tile { origin: [128, 0, 0], edge: 128, value: [-3.0; MAX_COMPONENTS] };
        g.shape(vec![[-8, 0, 0], [0, 0, 0]], vec![tile]);
        if let Array::F32(v) = Arc::make_mut(&mut g.channels[0]) {
            v[(7 << 6) | (1 << 3) | 2] = 5.0;
        }
        assert_eq!(g.value(0, [-1, 1, 2]), 5.0);
        assert_eq!(g.value(0, [0, 1, 2]), 0.0);
        assert_eq!(g.value(0, [200, 100, 127]), -3.0);
        assert_eq!(g.value(0, [200, 100, 128]), 3.0);
        assert_eq!(g.defect(), None);
    }

    #[test]
    fn a_clone_shares_its_arrays_until_written() {
        let mut a = Grid::new(Element::F32, 1, Sampling::Centre);
        a.shape(vec![[0, 0, 0]], vec![]);
        let b = a.clone();
        assert!(Arc::ptr_eq(&a.channels[0], &b.channels[0]));
        Arc::make_mut(&mut a.channels[0]);
        assert!(!Arc::ptr_eq(&a.channels[0], &b.channels[0]));
    }

    #[test]
    fn defects_are_named() {
        let mut g = Grid::new(Element::F32, 1, Sampling::Centre);
        g.shape(vec![[8, 0, 0], [0, 0, 0]], vec![]);
        assert!(g.defect().is_some_and(|d| d.contains("out of order")));
        for far in [i32::MIN, -(1 << 30) - 8, i32::MAX - 7] {
            g.shape(vec![[0, far, 0]], vec![]);
            assert!(g.defect().is_some_and(|d| d.contains("farther than")), "{far}");
        }
        for (origin, edge, sound) in
            [([128, 0, 0], 128, true), ([8, 0, 0], 128, false), ([0; 3], 9, false), ([0; 3], 0, false)]
        {
            g.shape(vec![], vec![Tile { origin, edge, value: [0.0; MAX_COMPONENTS] }]);
            assert_eq!(g.defect().is_none(), sound, "{origin:?} {edge}");
        }
    }
}
