//! Triangle meshes of solids, and the checks that a mesh must pass to have an inside.

mod closest;
mod intersection;
mod nearest;
#[cfg(test)]
pub(crate) mod shapes;
mod winding;

pub(crate) use closest::{Feature, Normals, closest_point};
pub use nearest::{NearestPlace, NearestTriangle};

use crate::number::written;
use glam::{DVec3, Vec3};
use intersection::first_self_intersection;
use rustc_hash::FxHashMap;

/// A triangle mesh, metres.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriMesh {
    /// Point positions.
    pub points: Vec<Vec3>,
    /// Points of each triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Velocity of each point, m/s.
    pub velocities: Option<Vec<Vec3>>,
}

/// Why a mesh has no signed distance.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshError {
    /// No triangle.
    #[error("the mesh has no triangles")]
    Empty,
    /// A triangle names a point that is not there.
    #[error("triangle {triangle} uses point {point}, but the mesh has only {points} points")]
    Index {
        /// Number of the triangle.
        triangle: usize,
        /// The point it names.
        point: u32,
        /// Points of the mesh.
        points: usize,
    },
    /// Not one velocity per point.
    #[error("the mesh has {velocities} velocities for {points} points")]
    Velocities {
        /// Velocities given.
        velocities: usize,
        /// Points of the mesh.
        points: usize,
    },
    /// NaN or infinity.
    #[error("point {point} of the mesh is not finite ({position})")]
    NotFinite {
        /// Number of the point.
        point: usize,
        /// Its position.
        position: Vec3,
    },
    /// Holes, or edges of more than two triangles.
    #[error(
        "the mesh is not watertight: {open} open and {non_manifold} non-manifold edges, the first between \
         points {} and {} near {near}", edge[0], edge[1]
    )]
    NotWatertight {
        /// Edges with one triangle.
        open: usize,
        /// Edges with more than two.
        non_manifold: usize,
        /// Points of the first such edge.
        edge: [u32; 2],
        /// Its middle, metres.
        near: Vec3,
    },
    /// Neighbouring triangles wound against each other.
    #[error(
        "the triangles of the mesh are not wound alike: {count} edges are run through twice in the same \
         direction, the first between points {} and {} near {near}", edge[0], edge[1]
    )]
    Winding {
        /// Edges concerned.
        count: usize,
        /// Points of the first such edge.
        edge: [u32; 2],
        /// Its middle, metres.
        near: Vec3,
    },
    /// Inside out.
    #[error("the mesh is inside out near {near}: reverse its triangles")]
    Inverted {
        /// A point on the inverted part, metres.
        near: Vec3,
    },
    /// Two triangles cross.
    #[error("the mesh intersects itself: triangles {first} and {second} cross near {near}")]
    SelfIntersecting {
        /// Number of one triangle.
        first: usize,
        /// Number of the other.
        second: usize,
        /// Middle of the first, metres.
        near: Vec3,
    },
    /// No volume.
    #[error("the mesh encloses no volume")]
    Flat,
    /// The voxel size is not a positive, finite number.
    #[error("a voxel size of {} m cannot be used", written(*.0))]
    VoxelSize(f64),
    /// Too many voxels.
    #[error(
        "voxels of {} m are too fine for a mesh of {} m: its surface would need {} GB",
        written(*voxel), written(*extent), written(memory_gb.ceil())
    )]
    TooFine {
        /// Voxel size, metres.
        voxel: f64,
        /// Largest extent of the mesh, metres.
        extent: f64,
        /// Estimated memory of the band.
        memory_gb: f64,
    },
    /// The user cancelled.
    #[error("it was asked to stop")]
    Interrupted,
}

/// A directed edge of a triangle.
pub(crate) struct Edge {
    /// Welded points, the lower first.
    pub points: [u32; 2],
    /// Whether the triangle runs from the lower to the higher.
    pub forward: bool,
    /// Triangle and which of its edges (from its point `side` to the next).
    pub triangle: u32,
    /// See `triangle`.
    pub side: u8,
}

impl TriMesh {
    /// Everything that must hold before the mesh has an inside: finite points, valid indices, every edge
    /// shared by two triangles wound alike, no self-intersection, not inside out. Points at the same place
    /// count as one.
    pub fn check(&self) -> Result<(), MeshError> {
        self.watertight()?;
        match first_self_intersection(self, &self.welded()) {
            Some([first, second]) => {
                let near = self.corners(first).iter().sum::<Vec3>() / 3.0;
                Err(MeshError::SelfIntersecting { first, second, near })
            }
            None => Ok(()),
        }
    }

    /// [`Self::check`] without the search for self-intersections.
    pub fn watertight(&self) -> Result<(), MeshError> {
        self.valid()?;
        let edges = self.edges(&self.welded());
        let (mut open, mut non_manifold, mut winding) = (0, 0, 0);
        let (mut first_hole, mut first_twist) = (None, None);
        for group in edges.chunk_by(|a, b| a.points == b.points) {
            let forward = group.iter().filter(|e| e.forward).count();
            match (group.len(), forward) {
                (2, 1) => {}
                (2, _) => {
                    winding += 1;
                    first_twist.get_or_insert(&group[0]);
                }
                (n, _) => {
                    *(if n == 1 { &mut open } else { &mut non_manifold }) += 1;
                    first_hole.get_or_insert(&group[0]);
                }
            }
        }
        let place = |e: &Edge| {
            let t = self.triangles[e.triangle as usize];
            let edge = [t[e.side as usize], t[(e.side as usize + 1) % 3]];
            (edge, 0.5 * (self.points[edge[0] as usize] + self.points[edge[1] as usize]))
        };
        if let Some((edge, near)) = first_hole.map(place) {
            return Err(MeshError::NotWatertight { open, non_manifold, edge, near });
        }
        if let Some((edge, near)) = first_twist.map(place) {
            return Err(MeshError::Winding { count: winding, edge, near });
        }
        let volume = self.volume();
        let (low, high) = self.bounds();
        let extent = f64::from((high - low).max_element());
        if volume.abs() <= 1e-12 * extent.powi(3) {
            return Err(MeshError::Flat);
        }
        if volume < 0.0 {
            return Err(MeshError::Inverted { near: self.corners(0)[0] });
        }
        Ok(())
    }

    fn valid(&self) -> Result<(), MeshError> {
        if self.triangles.is_empty() {
            return Err(MeshError::Empty);
        }
        let points = self.points.len();
        for (triangle, t) in self.triangles.iter().enumerate() {
            if let Some(&point) = t.iter().find(|&&p| p as usize >= points) {
                return Err(MeshError::Index { triangle, point, points });
            }
        }
        if let Some(point) = self.points.iter().position(|p| !p.is_finite()) {
            return Err(MeshError::NotFinite { point, position: self.points[point] });
        }
        match &self.velocities {
            Some(v) if v.len() != points => Err(MeshError::Velocities { velocities: v.len(), points }),
            _ => Ok(()),
        }
    }

    /// Positions of a triangle's points.
    pub fn corners(&self, triangle: usize) -> [Vec3; 3] {
        self.triangles[triangle].map(|p| self.points[p as usize])
    }

    /// Enclosed volume, m³ (divergence theorem); negative inside out.
    pub fn volume(&self) -> f64 {
        let base = self.points.first().copied().unwrap_or_default().as_dvec3();
        let signed = |t: usize| {
            let [a, b, c] = self.corners(t).map(|p| p.as_dvec3() - base);
            a.dot(b.cross(c)) / 6.0
        };
        (0..self.triangles.len()).map(signed).sum()
    }

    /// Surface area, m².
    pub fn area(&self) -> f64 {
        let area = |t: usize| {
            let [a, b, c] = self.corners(t).map(|p| p.as_dvec3());
            0.5 * (b - a).cross(c - a).length()
        };
        (0..self.triangles.len()).map(area).sum()
    }

    /// Lowest and highest coordinates of the points in use, metres.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let used = self.triangles.iter().flatten().map(|&p| self.points[p as usize]);
        let none = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        used.fold(none, |(low, high), p| (low.min(p), high.max(p)))
    }

    /// The triangles with every point replaced by the first one at the same place: files split points along
    /// texture seams.
    pub(crate) fn welded(&self) -> Vec<[u32; 3]> {
        let mut first_at = FxHashMap::default();
        let places: Vec<u32> = (0u32..)
            .zip(&self.points)
            // −0 and 0 are the same place.
            .map(|(n, p)| *first_at.entry((*p + 0.0).to_array().map(f32::to_bits)).or_insert(n))
            .collect();
        self.triangles.iter().map(|t| t.map(|p| places[p as usize])).collect()
    }

    /// Edges of the welded triangles sorted by their points; triangles with two equal points (zero area)
    /// have none that matter and are left out.
    pub(crate) fn edges(&self, welded: &[[u32; 3]]) -> Vec<Edge> {
        let mut edges = Vec::with_capacity(3 * welded.len());
        for (triangle, t) in (0u32..).zip(welded) {
            if t[0] == t[1] || t[1] == t[2] || t[2] == t[0] {
                continue;
            }
            for side in 0..3 {
                let (a, b) = (t[side], t[(side + 1) % 3]);
                let points = [a.min(b), a.max(b)];
                edges.push(Edge { points, forward: a < b, triangle, side: side as u8 });
            }
        }
        edges.sort_by_key(|e| e.points);
        edges
    }

    /// Outward area-free normal of a triangle; zero when it has no area.
    pub(crate) fn face_normal(&self, triangle: usize) -> DVec3 {
        let [a, b, c] = self.corners(triangle).map(|p| p.as_dvec3());
        (b - a).cross(c - a).normalize_or_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_shapes_pass() {
        for mesh in [shapes::cuboid(Vec3::ONE), shapes::ball(0.5, 12), shapes::torus(1.0, 0.3, 16, 12)] {
            assert_eq!(mesh.check(), Ok(()));
        }
        let volume = shapes::cuboid(Vec3::new(1.0, 2.0, 3.0)).volume();
        assert!((volume - 6.0).abs() < 1e-6);
    }

    #[test]
    fn split_points_do_not_open_a_mesh() {
        let mesh = shapes::ball(0.5, 8);
        let points: Vec<Vec3> = (0..mesh.triangles.len()).flat_map(|t| mesh.corners(t)).collect();
        let triangles = (0..mesh.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        assert_eq!(TriMesh { points, triangles, velocities: None }.check(), Ok(()));
    }

    #[test]
    fn each_fault_is_named() {
        let cube = shapes::cuboid(Vec3::ONE);
        let mut open = cube.clone();
        open.triangles.pop();
        assert!(matches!(open.check(), Err(MeshError::NotWatertight { open: 3, non_manifold: 0, .. })));
        let mut fin = cube.clone();
        fin.points.push(Vec3::splat(3.0));
        fin.triangles.push([0, 1, 8]);
        let error = fin.check();
        assert!(matches!(error, Err(MeshError::NotWatertight { open: 2, non_manifold: 1, .. })), "{error:?}");
        let mut twisted = cube.clone();
        twisted.triangles[3].swap(0, 1);
        assert!(matches!(twisted.check(), Err(MeshError::Winding { count: 3, .. })));
        let mut inverted = cube.clone();
        inverted.triangles.iter_mut().for_each(|t| t.swap(0, 1));
        assert!(matches!(inverted.check(), Err(MeshError::Inverted { .. })));
        let mut nan = cube.clone();
        nan.points[5].y = f32::NAN;
        assert!(matches!(nan.check(), Err(MeshError::NotFinite { point: 5, .. })));
        let mut index = cube.clone();
        index.triangles[2][1] = 99;
        assert!(matches!(index.check(), Err(MeshError::Index { triangle: 2, point: 99, points: 8 })));
        let flat = TriMesh { points: cube.points.iter().map(|p| p.with_z(0.0)).collect(), ..cube.clone() };
        assert!(flat.check().is_err());
        assert_eq!(TriMesh::default().check(), Err(MeshError::Empty));
    }

    #[test]
    fn crossing_parts_are_found() {
        let cube = shapes::cuboid(Vec3::ONE);
        let join = |shift: Vec3| {
            let mut both = cube.clone();
            both.points.extend(cube.points.iter().map(|&p| p + shift));
            both.triangles.extend(cube.triangles.iter().map(|t| t.map(|p| p + 8)));
            both.check()
        };
        assert!(matches!(join(Vec3::splat(0.4)), Err(MeshError::SelfIntersecting { .. })));
        assert_eq!(join(Vec3::splat(1.1)), Ok(()));
    }
}
