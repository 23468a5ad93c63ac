//! The tiles inside a narrow-band level set that lie beyond its band.

use crate::grid::{Coord, Grid, leaf};
use glam::IVec3;

/// The leaf-sized tiles inside a narrow-band level set that hold no leaf, as runs along z: memory grows with
/// the surface, not with the volume.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InsideTiles {
    /// `(x, y, first z, end z)` in units of leaves, sorted.
    runs: Vec<[i32; 4]>,
}

impl InsideTiles {
    /// Finds the tiles of a narrow band. Between two leaves of a z-column there is no surface, so the gap is inside
    /// exactly when the voxels at its ends are.
    pub fn of(phi: &Grid<f32>) -> Self {
        let origins = phi.topology.origins();
        let face_inside = |l: usize, z: i32| {
            (0..64).all(|n| phi.values[l * leaf::SIZE + leaf::offset(n >> 3, n & 7, z)] < 0.0)
        };
        let mut runs = Vec::new();
        for (l, pair) in origins.windows(2).enumerate() {
            let (below, above) = (pair[0] >> 3_i32, pair[1] >> 3_i32);
            let gap = below.x == above.x && below.y == above.y && above.z > below.z + 1;
            if gap && face_inside(l, 7) && face_inside(l + 1, 0) {
                runs.push([below.x, below.y, below.z + 1, above.z]);
            }
        }
        Self { runs }
    }

    /// Whether a voxel lies in an inside tile.
    pub fn contains(&self, ijk: Coord) -> bool {
        let t = ijk >> 3_i32;
        let after = self.runs.partition_point(|r| [r[0], r[1], r[2]] <= t.to_array());
        after > 0 && {
            let r = self.runs[after - 1];
            r[0] == t.x && r[1] == t.y && t.z < r[3]
        }
    }

    /// The runs: `(x, y, first z, end z)` in units of leaves, sorted.
    pub fn runs(&self) -> &[[i32; 4]] {
        &self.runs
    }

    /// The tiles as boxes of voxels (lowest, highest; both included), sorted.
    pub fn boxes(&self) -> impl Iterator<Item = (Coord, Coord)> + '_ {
        self.runs.iter().map(|r| {
            let low = IVec3::new(r[0], r[1], r[2]) * 8;
            (low, IVec3::new(r[0] * 8 + 7, r[1] * 8 + 7, r[3] * 8 - 1))
        })
    }
}
