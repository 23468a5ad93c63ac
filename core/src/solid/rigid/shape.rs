//! The form of a body in its rest frame.

use super::climb::Climb;
use super::hulls::points_of;
use super::{HullError, MassProperties, spin};
use crate::mesh::TriMesh;
use crate::solid::rigid::hulls;
use glam::{DMat3, DQuat, DVec3};
use parry3d_f64::math::Vec3;
use parry3d_f64::shape::SharedShape;
use rustc_hash::FxHashSet;
use std::fmt;

/// Places on the surface at which a body is held against signed distances, at most about so many.
const SAMPLES: usize = 2000;
/// Their distance by the body's radius.
const SPACING: f64 = 0.125;

/// A convex part of a body.
#[derive(Clone)]
pub(super) struct Part {
    /// parry's shape, about `centre`.
    pub shape: SharedShape,
    /// Of a hull with many corners.
    pub climb: Option<Climb>,
    /// Its middle in the rest frame, m.
    pub centre: DVec3,
    /// Radius about the middle, m.
    pub radius: f64,
}

/// The form of a body and what it weighs; its rest frame has its origin at the centre of mass.
#[derive(Clone)]
pub struct Shape {
    mass: f64,
    inertia: DMat3,
    inverse: DMat3,
    principal: (DQuat, DVec3),
    radius: f64,
    hulls: Vec<Vec<DVec3>>,
    parts: Vec<Part>,
    samples: Vec<DVec3>,
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shape").field("mass", &self.mass).field("hulls", &self.hulls.len()).finish()
    }
}

impl Shape {
    /// The form of a closed mesh of `density` kg/m³, and where its centre of mass was.
    pub fn of(mesh: &TriMesh, density: f64) -> Result<(Self, DVec3), HullError> {
        let found = MassProperties::of(mesh, density);
        let hulls: Vec<Vec<DVec3>> = hulls::hulls(mesh)?
            .into_iter()
            .map(|hull| hull.into_iter().map(|p| p - found.centre).collect())
            .collect();
        let samples = samples(mesh, found.centre);
        Ok((Self::new(found.mass, found.inertia, hulls, samples)?, found.centre))
    }

    /// A form of convex hulls by their corners, with places on its surface; both in the rest frame.
    pub fn new(
        mass: f64,
        inertia: DMat3,
        hulls: Vec<Vec<DVec3>>,
        samples: Vec<DVec3>,
    ) -> Result<Self, HullError> {
        let parts = hulls.iter().map(|hull| part(hull)).collect::<Result<Vec<Part>, HullError>>()?;
        let radius = hulls.iter().flatten().chain(&samples).map(|p| p.length()).fold(0.0, f64::max);
        let principal = spin::principal(&inertia);
        Ok(Self { mass, inertia, inverse: inertia.inverse(), principal, radius, hulls, parts, samples })
    }

    /// Mass, kg.
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// Inertia, kg m², rest frame.
    pub fn inertia(&self) -> DMat3 {
        self.inertia
    }

    pub(super) fn inverse_inertia(&self) -> DMat3 {
        self.inverse
    }

    pub(super) fn principal(&self) -> (DQuat, DVec3) {
        self.principal
    }

    /// Distance of the farthest point from the centre of mass, m.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// The corners of the convex hulls that stand for it in contacts, rest frame.
    pub fn hulls(&self) -> &[Vec<DVec3>] {
        &self.hulls
    }

    /// Places on its surface, rest frame.
    pub fn samples(&self) -> &[DVec3] {
        &self.samples
    }

    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }
}

/// A hull as parry knows it. Boxes that lie along the axes are known as such: contacts between them are exact where
/// they touch.
fn part(hull: &[DVec3]) -> Result<Part, HullError> {
    let (low, high) = hull
        .iter()
        .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| (low.min(*p), high.max(*p)));
    let (centre, half) = (0.5 * (low + high), 0.5 * (high - low));
    let radius = hull.iter().map(|p| (*p - centre).length()).fold(0.0, f64::max);
    let at_corner = |p: &DVec3| ((*p - centre).abs() - half).abs().max_element() <= 1e-6 * radius;
    let shape = if hull.len() == 8 && hull.iter().all(at_corner) {
        SharedShape::cuboid(half.x, half.y, half.z)
    } else {
        let points: Vec<Vec3> = hull.iter().map(|p| Vec3::from_array((*p - centre).to_array())).collect();
        SharedShape::convex_hull(&points).ok_or(HullError::Flat)?
    };
    let climb = shape.as_convex_polyhedron().and_then(Climb::of);
    Ok(Part { shape, climb, centre, radius })
}

/// Corners of the mesh and places between them, evenly spread, relative to `centre`.
fn samples(mesh: &TriMesh, centre: DVec3) -> Vec<DVec3> {
    let points = points_of(mesh);
    let radius = points.iter().map(|p| (*p - centre).length()).fold(0.0, f64::max);
    let mut spacing = SPACING * radius;
    loop {
        let found = spread(mesh, &points, spacing);
        if found.len() <= SAMPLES {
            return found.into_iter().map(|p| p - centre).collect();
        }
        spacing *= 1.25;
    }
}

/// One place in each cube of edge half of `spacing` that the surface runs through, corners before others.
fn spread(mesh: &TriMesh, points: &[DVec3], spacing: f64) -> Vec<DVec3> {
    let (mut taken, mut found) = (FxHashSet::default(), Vec::new());
    let cell = |p: DVec3| (p / (0.5 * spacing)).round().as_i64vec3().to_array();
    let mut add = |p: DVec3| {
        if taken.insert(cell(p)) {
            found.push(p);
        }
    };
    points.iter().for_each(|p| add(*p));
    for t in &mesh.triangles {
        let [a, b, c] = t.map(|i| points[i as usize]);
        let longest = (b - a).length().max((c - b).length()).max((a - c).length());
        let n = (longest / spacing).ceil().clamp(1.0, 200.0) as usize;
        for i in 0..=n {
            for j in 0..=n - i {
                let (u, v) = (i as f64 / n as f64, j as f64 / n as f64);
                add(a + u * (b - a) + v * (c - a));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::shapes::{ball, cuboid};

    #[test]
    fn a_box_is_known_as_one_and_its_surface_is_sampled_with_its_corners() {
        let (shape, centre) = Shape::of(&cuboid(glam::Vec3::new(1.0, 0.5, 0.25)), 100.0).unwrap();
        assert_eq!((shape.parts.len(), shape.mass), (1, 12.5));
        assert!(shape.parts[0].shape.as_cuboid().is_some());
        let corners = shape
            .samples
            .iter()
            .filter(|p| ((**p + centre - centre).abs() - DVec3::new(0.5, 0.25, 0.125)).length() < 1e-6);
        assert_eq!(corners.count(), 8);
        assert!(shape.samples.len() > 100 && shape.samples.len() <= SAMPLES);
        let many = Shape::of(&ball(1.0, 128), 1.0).unwrap().0;
        assert!(many.samples.len() <= SAMPLES && many.parts.len() == 1);
    }
}
