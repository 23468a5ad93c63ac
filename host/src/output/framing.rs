//! Computes a camera that sees the whole shot.

use crate::node::ParamSpec;
use glam::{DMat3, DVec3};
use openvdb_sys::Camera;

/// Free room around the shot, as a part of the picture's half width or height.
const MARGIN: f64 = 0.1;
/// What is looked at where nothing is known of the shot, metres.
pub const NOWHERE: Bounds = Bounds { min: DVec3::splat(-0.5), max: DVec3::splat(0.5) };

/// A box along the axes, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Lowest corner.
    pub min: DVec3,
    /// Highest corner.
    pub max: DVec3,
}

impl Bounds {
    /// The box around both.
    pub fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// The smallest box around some points; `None` without a finite point.
    pub fn around(points: impl Iterator<Item = DVec3>) -> Option<Self> {
        points.filter(|p| p.is_finite()).map(|p| Self { min: p, max: p }).reduce(Self::union)
    }

    /// The box around leaves, whose voxels a row-major map takes to where they are; `None` without a leaf.
    pub fn of_leaves(origins: &[[i32; 3]], to_world: &[f64; 16]) -> Option<Self> {
        let ends = |i: usize| if i == 1 { 8.0 } else { 0.0 };
        let world = |p: [f64; 3]| {
            std::array::from_fn(|c| {
                to_world[12 + c] + (0..3).map(|r| p[r] * to_world[4 * r + c]).sum::<f64>()
            })
        };
        let corners = origins.iter().flat_map(|o| {
            (0..8).map(move |i| {
                let corner = [i & 1, i >> 1 & 1, i >> 2];
                std::array::from_fn(|c| f64::from(o[c]) + ends(corner[c]))
            })
        });
        Self::around(corners.map(|p| DVec3::from_array(world(p))))
    }

    /// Its middle.
    pub fn middle(&self) -> DVec3 {
        0.5 * (self.min + self.max)
    }

    /// Its diagonal, metres.
    pub fn diagonal(&self) -> f64 {
        (self.max - self.min).length()
    }

    fn corners(&self) -> [DVec3; 8] {
        let side = |i: usize, axis: usize| if i >> axis & 1 == 1 { self.max[axis] } else { self.min[axis] };
        std::array::from_fn(|i| DVec3::new(side(i, 0), side(i, 1), side(i, 2)))
    }
}

/// Where the camera looks from: degrees around the vertical, from +Z towards +X, and degrees above the horizon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Degrees around the vertical.
    pub azimuth: f64,
    /// Degrees above the horizon.
    pub elevation: f64,
}

/// The parameters of a framing camera: azimuth, elevation and field of view.
pub fn parameters() -> [ParamSpec; 3] {
    [
        ParamSpec::number(
            "azimuth",
            "Azimuth",
            &[0.0],
            "degrees",
            "Direction in which the framing camera stands. Higher: it moves around the objects from +Z towards +X.",
        )
        .within(Some(-360.0), Some(360.0)),
        ParamSpec::number(
            "elevation",
            "Elevation",
            &[8.0],
            "degrees",
            "Angle of the framing camera above the horizon. Higher: it looks down more steeply.",
        )
        .within(Some(-85.0), Some(85.0)),
        ParamSpec::number(
            "field_of_view",
            "Field of View",
            &[30.0],
            "degrees",
            "Vertical angle of view. Higher: more of the scene is in the picture, and it looks smaller.",
        )
        .within(Some(1.0), Some(150.0)),
    ]
}

/// The camera nearest to the middle of `bounds` that shows all of it in a picture `aspect` times as wide as
/// high, with a vertical angle of view of `fov` degrees.
pub fn frame(bounds: &Bounds, view: View, fov: f64, aspect: f64) -> Camera {
    let (turn, lift) = (view.azimuth.to_radians(), view.elevation.to_radians());
    let back = DVec3::new(lift.cos() * turn.sin(), lift.sin(), lift.cos() * turn.cos());
    let right = DVec3::new(turn.cos(), 0.0, -turn.sin());
    let to_camera = DMat3::from_cols(right, back.cross(right), back).transpose();
    let half = (0.5 * fov).to_radians().tan() * (1.0 - MARGIN);
    let middle = bounds.middle();
    let distance = bounds
        .corners()
        .map(|corner| {
            let p = to_camera * (corner - middle);
            (p.x.abs() / (half * aspect)).max(p.y.abs() / half) + p.z
        })
        .into_iter()
        .fold(0.0, f64::max);
    // A shot without extent is looked at from a metre away.
    let distance = if distance > 0.0 { distance } else { 1.0 };
    Camera { position: (middle + back * distance).to_array(), look_at: middle.to_array(), fov }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Position in the picture, -1..1 both ways, of a world point.
    fn project(camera: &Camera, aspect: f64, p: DVec3) -> (f64, f64) {
        let eye = DVec3::from(camera.position);
        let forward = (DVec3::from(camera.look_at) - eye).normalize();
        let right = forward.cross(DVec3::Y).normalize();
        let up = right.cross(forward);
        let (d, half) = (p - eye, (0.5 * camera.fov).to_radians().tan());
        (d.dot(right) / (d.dot(forward) * half * aspect), d.dot(up) / (d.dot(forward) * half))
    }

    #[test]
    fn everything_is_in_the_picture_and_fills_it() {
        let tall = Bounds { min: DVec3::new(-0.15, 0.0, -0.15), max: DVec3::new(0.15, 0.64, 0.15) };
        let wide = Bounds { min: DVec3::new(10.0, -3.0, 5.0), max: DVec3::new(14.0, -2.5, 6.0) };
        for bounds in [tall, wide] {
            for (azimuth, elevation) in [(0.0, 8.0), (35.0, 0.0), (-120.0, 60.0), (180.0, -20.0)] {
                for (fov, aspect) in [(30.0, 4.0 / 3.0), (70.0, 0.65), (10.0, 2.4)] {
                    let camera = frame(&bounds, View { azimuth, elevation }, fov, aspect);
                    let seen = bounds.corners().map(|c| project(&camera, aspect, c));
                    let most = seen.iter().fold(0.0f64, |m, (x, y)| m.max(x.abs()).max(y.abs()));
                    assert!((most - (1.0 - MARGIN)).abs() < 1e-9, "{most} at {azimuth} {elevation} {fov}");
                }
            }
        }
    }

    #[test]
    fn azimuth_turns_from_z_towards_x() {
        let bounds = Bounds { min: DVec3::splat(-1.0), max: DVec3::splat(1.0) };
        let at = |azimuth, elevation| {
            DVec3::from(frame(&bounds, View { azimuth, elevation }, 30.0, 1.0).position).normalize()
        };
        assert!((at(0.0, 0.0) - DVec3::Z).length() < 1e-12);
        assert!((at(90.0, 0.0) - DVec3::X).length() < 1e-12);
        assert!(at(0.0, 30.0).y > 0.49);
    }

    #[test]
    fn a_point_still_has_a_camera() {
        let bounds = Bounds { min: DVec3::ONE, max: DVec3::ONE };
        let camera = frame(&bounds, View { azimuth: 0.0, elevation: 0.0 }, 30.0, 1.0);
        assert_eq!(camera.position, [1.0, 1.0, 2.0]);
        assert_eq!(Bounds::around([DVec3::NAN].into_iter()), None);
    }
}
