//! Reads the liquid's level set back from `.vdb` caches.

use openvdb_sys::{Data, LEAF_SIZE, Leaves, open};
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

/// The `surface` grid of a cached frame.
pub struct Surface {
    leaves: Leaves,
    /// Number of the leaf at an origin.
    numbers: HashMap<[i32; 3], usize>,
    background: f64,
    /// Edge of a voxel, metres.
    pub voxel: f64,
    /// Where the centre of voxel 0 lies, metres.
    first: [f64; 3],
}

impl Surface {
    /// Reads it from a file of a `vdb_cache`.
    pub fn read(file: &Path) -> Self {
        let vdb = open(file).unwrap_or_else(|e| panic!("{e}"));
        let grid = (0..vdb.len())
            .find(|&g| vdb.info(g).is_ok_and(|i| i.name.ends_with("surface")))
            .expect("a surface");
        let info = vdb.info(grid).unwrap_or_else(|e| panic!("{e}"));
        let leaves = vdb.leaves(grid).unwrap_or_else(|e| panic!("{e}"));
        let numbers = leaves.origins.iter().enumerate().map(|(n, o)| (*o, n)).collect();
        let t = info.transform;
        Self {
            leaves,
            numbers,
            background: info.background[0],
            voxel: info.voxel_size()[0],
            first: [t[12], t[13], t[14]],
        }
    }

    /// Signed distance at a voxel, metres, negative in the liquid.
    pub fn distance(&self, voxel: [i32; 3]) -> f64 {
        if let Some(leaf) = self.numbers.get(&voxel.map(|c| c & !7)) {
            let Data::Float(values) = &self.leaves.data else { panic!("the surface holds numbers") };
            let offset = ((voxel[0] & 7) << 6 | (voxel[1] & 7) << 3 | (voxel[2] & 7)) as usize;
            return f64::from(values[leaf * LEAF_SIZE + offset]);
        }
        self.leaves.tile(voxel).map_or(self.background, |t| t.value[0])
    }

    /// Centre of a voxel, metres.
    pub fn centre(&self, voxel: [i32; 3]) -> [f64; 3] {
        std::array::from_fn(|axis| self.first[axis] + f64::from(voxel[axis]) * self.voxel)
    }

    /// Voxels whose centres lie between `low` and `high` metres along an axis.
    pub fn voxels(&self, axis: usize, low: f64, high: f64) -> Range<i32> {
        let index = |x: f64| ((x - self.first[axis]) / self.voxel).ceil() as i32;
        index(low)..index(high)
    }

    /// How high the liquid stands on average in the box `low..high`, metres: the length of every column of voxels
    /// that lies in the liquid, to a fraction of a voxel. The box's floor and ceiling are faces of voxels.
    pub fn level(&self, low: [f64; 3], high: [f64; 3]) -> f64 {
        let [x, y, z] = [0, 1, 2].map(|axis| self.voxels(axis, low[axis], high[axis]));
        let columns = (x.len() * z.len()) as f64;
        let column = |i: i32, k: i32| -> f64 {
            let distance = |j: i32| self.distance([i, j.clamp(y.start, y.end - 1), k]);
            let half = |a: f64, b: f64| 0.5 * below_zero(a, 0.5 * (a + b));
            y.clone().map(|j| half(distance(j), distance(j - 1)) + half(distance(j), distance(j + 1))).sum()
        };
        let total: f64 =
            x.clone().flat_map(|i| z.clone().map(move |k| (i, k))).map(|(i, k)| column(i, k)).sum();
        total * self.voxel / columns
    }
}

/// Share of a segment on which a function that goes straight from `a` to `b` is negative.
fn below_zero(a: f64, b: f64) -> f64 {
    match (a < 0.0, b < 0.0) {
        (true, true) => 1.0,
        (false, false) => 0.0,
        (true, false) => a / (a - b),
        (false, true) => b / (b - a),
    }
}
