//! Affine maps as row-major 4×4 matrices acting on row vectors, as OpenVDB and Houdini write them.

use glam::{DMat3, DVec3};

/// x' = x · linear + translation (row vectors).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine {
    /// Acts on column vectors (glam's convention): the transpose of the row-vector block.
    pub linear: DMat3,
    /// Metres.
    pub translation: DVec3,
}

impl Affine {
    /// Scale, then rotate about x, y and z in that order (degrees), all about `pivot`, then translate:
    /// Houdini's default order.
    pub fn new(translate: DVec3, rotate: DVec3, scale: DVec3, pivot: DVec3) -> Self {
        let r = rotate * (std::f64::consts::PI / 180.0);
        let rotation =
            DMat3::from_rotation_z(r.z) * DMat3::from_rotation_y(r.y) * DMat3::from_rotation_x(r.x);
        let linear = rotation * DMat3::from_diagonal(scale);
        Self { linear, translation: translate + pivot - linear * pivot }
    }

    /// The image of a point.
    pub fn apply(&self, p: DVec3) -> DVec3 {
        self.linear * p + self.translation
    }

    /// First `self`, then `next`.
    pub fn then(&self, next: &Self) -> Self {
        Self { linear: next.linear * self.linear, translation: next.apply(self.translation) }
    }

    /// Row-major, acting on row vectors.
    pub fn to_row_major(self) -> [f64; 16] {
        let (x, y, z, t) = (self.linear.x_axis, self.linear.y_axis, self.linear.z_axis, self.translation);
        [x.x, x.y, x.z, 0.0, y.x, y.y, y.z, 0.0, z.x, z.y, z.z, 0.0, t.x, t.y, t.z, 1.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_turn_about_z_takes_x_to_y() {
        let m = Affine::new(
            DVec3::new(0.0, 0.0, 5.0),
            DVec3::new(0.0, 0.0, 90.0),
            DVec3::splat(2.0),
            DVec3::ZERO,
        );
        assert!((m.apply(DVec3::X) - DVec3::new(0.0, 2.0, 5.0)).length() < 1e-12);
    }

    #[test]
    fn the_pivot_stays_where_it_is() {
        let pivot = DVec3::new(1.0, 2.0, 3.0);
        let m = Affine::new(DVec3::ZERO, DVec3::new(10.0, 20.0, 30.0), DVec3::new(1.0, 2.0, 3.0), pivot);
        assert!((m.apply(pivot) - pivot).length() < 1e-12);
    }
}
