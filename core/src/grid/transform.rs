//! Index space ↔ world space.

use super::Coord;
use glam::{DMat3, DVec3};

/// Affine map from index space (cell centres at integers) to world metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    /// Columns are the world displacements of one index step, metres.
    pub linear: DMat3,
    /// World position of index (0, 0, 0), metres.
    pub translation: DVec3,
}

impl Transform {
    /// Uniform voxels of size `h` metres whose node lattice passes through `corner`: cell (0, 0, 0) is
    /// centred at `corner + h/2`, so walls at multiples of `h` from the corner fall on faces.
    pub fn uniform(h: f64, corner: DVec3) -> Self {
        Self { linear: DMat3::from_diagonal(DVec3::splat(h)), translation: corner + DVec3::splat(0.5 * h) }
    }

    /// Edge length of a voxel, metres (of its x step; solver grids are uniform).
    pub fn voxel_size(&self) -> f64 {
        self.linear.x_axis.length()
    }

    /// Whether two grids have their voxels in the same places, up to what rounding leaves of them.
    pub fn is_same_lattice(&self, other: &Self) -> bool {
        let h = other.voxel_size();
        let columns = |t: &Self| t.linear.to_cols_array();
        let shift = (self.translation - other.translation) / h;
        columns(self).iter().zip(columns(other)).all(|(a, b)| (a - b).abs() <= 1e-9 * h)
            && shift.abs().max_element() <= 1e-6
    }

    /// World position of an index position, metres.
    pub fn to_world(&self, index: DVec3) -> DVec3 {
        self.linear * index + self.translation
    }

    /// World position of the middle of a cell's lower face across an axis, metres.
    pub fn face_centre(&self, axis: usize, cell: Coord) -> DVec3 {
        self.to_world(cell.as_dvec3() - 0.5 * DVec3::AXES[axis])
    }

    /// The cell around a point of world space; `None` where it is too far for the lattice.
    pub fn cell_around(&self, world: DVec3) -> Option<Coord> {
        let index = self.to_index(world).round();
        (index.abs().max_element() <= f64::from(i32::MAX / 2)).then(|| index.as_ivec3())
    }

    /// Index position of a world position.
    pub fn to_index(&self, world: DVec3) -> DVec3 {
        self.linear.inverse() * (world - self.translation)
    }

    /// This map after another: index space of the other → where this one takes its world.
    pub fn after(&self, first: &Self) -> Self {
        Self { linear: self.linear * first.linear, translation: self.to_world(first.translation) }
    }

    /// The map as a row-major 4×4 matrix acting on row vectors (OpenVDB's and Houdini's convention).
    pub fn to_row_major(&self) -> [f64; 16] {
        let (c, t) = (self.linear, self.translation);
        [
            c.x_axis.x, c.x_axis.y, c.x_axis.z, 0.0, c.y_axis.x, c.y_axis.y, c.y_axis.z, 0.0, c.z_axis.x,
            c.z_axis.y, c.z_axis.z, 0.0, t.x, t.y, t.z, 1.0,
        ]
    }

    /// The inverse of [`Self::to_row_major`].
    pub fn from_row_major(m: &[f64; 16]) -> Self {
        Self {
            linear: DMat3::from_cols(
                DVec3::new(m[0], m[1], m[2]),
                DVec3::new(m[4], m[5], m[6]),
                DVec3::new(m[8], m[9], m[10]),
            ),
            translation: DVec3::new(m[12], m[13], m[14]),
        }
    }
}
