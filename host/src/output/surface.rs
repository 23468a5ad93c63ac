//! The surface of a liquid as polygons, with normals and velocities at their corners.

use super::vdb_grid::{Velocity, convert};
use super::{Offered, OutputError};
use crate::data::{Array, Grid, GridClass, LEAF_VOXELS, Object, Sampling};
use crate::node::Carries;
use glam::{DAffine3, DVec3, Vec3};
use openvdb_sys::{GridOut, Polygons};

/// The surface of an object's level set. Uses that many threads at most; it does not depend on it.
pub fn polygons(object: &Object, grid: &Grid, threads: u32) -> Result<Polygons, OutputError> {
    let failed =
        |e: String| OutputError::new(format!("the surface of `{}` cannot be meshed: {e}", object.name));
    let level_set = convert(GridClass::LevelSet, grid, None, Velocity::Collocated).map_err(failed)?;
    let out = GridOut {
        name: &object.name,
        class: level_set.class,
        transform: level_set.transform,
        background: level_set.background,
        origins: &level_set.origins,
        masks: level_set.masks.as_deref(),
        values: level_set.channels.values(),
        tiles: &level_set.tiles,
        half: false,
        flood: level_set.flood,
        vector_type: None,
        metadata: &[],
    };
    openvdb_sys::polygons(&out, threads.max(1) as usize).map_err(|e| failed(e.to_string()))
}

/// Unit normals at the points, outwards: the mean of those of the polygons around each, by their areas.
pub fn normals<const CORNERS: usize>(points: &[[f32; 3]], polygons: &[[u32; CORNERS]]) -> Vec<[f32; 3]> {
    let mut normals = vec![Vec3::ZERO; points.len()];
    for polygon in polygons {
        let corners = polygon.map(|n| Vec3::from(points[n as usize]));
        let from_first = corners.map(|corner| corner - corners[0]);
        let area: Vec3 = from_first.windows(2).map(|two| two[0].cross(two[1])).sum();
        polygon.iter().for_each(|&n| normals[n as usize] += area);
    }
    normals.into_iter().map(|n| n.normalize_or(Vec3::Y).to_array()).collect()
}

/// Cosine of the angle between two triangles up to which their edge is round: 40 degrees.
const ROUND: f32 = 0.766;
/// Most triangles around a point that is rounded.
const MOST_AROUND: usize = 1000;

/// Unit normals at the corners of each triangle, outwards, three a triangle: the mean of those of the triangles around the corner whose
/// edge with it would look round, by their areas. Edges of a box stay sharp.
pub fn creased(points: &[[f32; 3]], triangles: &[[u32; 3]]) -> Vec<[f32; 3]> {
    let area = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|n| Vec3::from(points[n as usize]));
        (b - a).cross(c - a)
    };
    let areas: Vec<Vec3> = triangles.iter().map(area).collect();
    let directions: Vec<Vec3> = areas.iter().map(|area| area.normalize_or_zero()).collect();
    // The triangles around each point, one after the other.
    let mut starts = vec![0; points.len() + 1];
    triangles.as_flattened().iter().for_each(|&n| starts[n as usize + 1] += 1);
    (1..starts.len()).for_each(|n| starts[n] += starts[n - 1]);
    let mut next = starts.clone();
    let mut around = vec![0; triangles.len() * 3];
    for (t, triangle) in triangles.iter().enumerate() {
        for &n in triangle {
            around[next[n as usize]] = t;
            next[n as usize] += 1;
        }
    }
    let mut normals = Vec::with_capacity(triangles.len() * 3);
    for (triangle, own) in triangles.iter().zip(&directions) {
        for &n in triangle {
            let beside = &around[starts[n as usize]..starts[n as usize + 1]];
            // Each looks at all others.
            let beside = if beside.len() <= MOST_AROUND { beside } else { &[] };
            let round = beside.iter().filter(|&&t| directions[t].dot(*own) >= ROUND);
            let sum: Vec3 = round.map(|&t| areas[t]).sum();
            normals.push(sum.try_normalize().unwrap_or(own.normalize_or(Vec3::Y)).to_array());
        }
    }
    normals
}

/// The value of a vector grid at points in metres.
pub fn sampled(grid: &Grid, points: &[[f32; 3]]) -> Vec<[f32; 3]> {
    let mut sampler = Sampler::new(grid);
    points.iter().map(|p| sampler.at(Vec3::from(*p).as_dvec3())).collect()
}

/// The grid of an object that is the velocity of its liquid: the first result that is a vector in m/s.
pub fn velocity<'a>(object: &'a Object, offered: Option<&Offered>) -> Option<&'a Grid> {
    let offered = offered?;
    let is_velocity = |name: &&String| {
        offered.about.get(*name).is_some_and(|about| {
            about.unit == "m/s" && matches!(about.carries, Carries::Grid { components: 3, .. })
        })
    };
    object.grid(offered.results.iter().find(is_velocity)?)
}

/// Interpolates a grid; it remembers the leaf where it was last.
struct Sampler<'a> {
    grid: &'a Grid,
    to_index: DAffine3,
    origin: [i32; 3],
    leaf: Option<usize>,
}

impl<'a> Sampler<'a> {
    fn new(grid: &'a Grid) -> Self {
        let m = &grid.transform;
        let row = |r: usize| DVec3::new(m[4 * r], m[4 * r + 1], m[4 * r + 2]);
        let to_world =
            DAffine3 { matrix3: glam::DMat3::from_cols(row(0), row(1), row(2)), translation: row(3) };
        let origin = [0; 3];
        Self { grid, to_index: to_world.inverse(), origin, leaf: grid.leaf_of(origin) }
    }

    fn at(&mut self, p: DVec3) -> [f32; 3] {
        let p = self.to_index.transform_point3(p);
        let shift = |axis: usize, c: usize| match self.grid.sampling {
            Sampling::Centre => 0.0,
            Sampling::Face => f64::from(u8::from(axis == c)) * 0.5,
            Sampling::Node => 0.5,
        };
        let places: [DVec3; 3] =
            std::array::from_fn(|c| p + DVec3::new(shift(0, c), shift(1, c), shift(2, c)));
        std::array::from_fn(|c| self.component(c, places[c]) as f32)
    }

    /// Trilinear in index space.
    fn component(&mut self, c: usize, p: DVec3) -> f64 {
        let low = p.floor();
        let share = p - low;
        let corner = low.as_ivec3().to_array();
        let mut sum = 0.0;
        for n in 0..8 {
            let step = [n & 1, n >> 1 & 1, n >> 2];
            let weight: f64 = (0..3).map(|a| if step[a] == 1 { share[a] } else { 1.0 - share[a] }).product();
            sum += weight * self.voxel(c, std::array::from_fn(|a| corner[a] + step[a]));
        }
        sum
    }

    fn voxel(&mut self, c: usize, ijk: [i32; 3]) -> f64 {
        let origin = ijk.map(|x| x & !7);
        if origin != self.origin {
            (self.origin, self.leaf) = (origin, self.grid.leaf_of(origin));
        }
        let (Some(leaf), Array::F32(values)) = (self.leaf, &*self.grid.channels[c]) else {
            return self.grid.value(c, ijk);
        };
        let [x, y, z] = ijk.map(|x| (x & 7) as usize);
        f64::from(values[leaf * LEAF_VOXELS + (x << 6 | y << 3 | z)])
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_scene::{H, RADIUS, scene, spin};
    use super::*;

    /// The corner normals of a wedge whose two sides meet at an angle, degrees.
    fn wedge(angle: f32) -> [Vec3; 2] {
        let (sin, cos) = angle.to_radians().sin_cos();
        let points = [[0.0; 3], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [-cos, -sin, 0.0]];
        let normals = creased(&points, &[[0, 1, 2], [0, 3, 1]]);
        [normals[0], normals[3]].map(Vec3::from)
    }

    #[test]
    fn edges_are_round_up_to_an_angle_and_sharp_beyond() {
        for angle in [5.0, 20.0, 39.0] {
            let [a, b] = wedge(angle);
            assert!(a.distance(b) < 1e-6, "{angle}: {a} {b}");
            assert!((a.dot(Vec3::Y) - (0.5 * angle).to_radians().cos()).abs() < 1e-5, "{angle}: {a}");
        }
        for angle in [41.0, 60.0, 90.0, 135.0] {
            let [a, b] = wedge(angle);
            assert!((a.dot(b) - angle.to_radians().cos()).abs() < 1e-5, "{angle}: {a} {b}");
        }
        let scene = scene();
        let water = &scene.objects[0];
        let ball = polygons(water, water.grid("surface").unwrap(), 2).unwrap();
        let triangles: Vec<[u32; 3]> =
            ball.quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        let normals = creased(&ball.points, &triangles);
        for (&n, normal) in triangles.as_flattened().iter().zip(normals) {
            let out = Vec3::from(ball.points[n as usize]).normalize();
            assert!(out.dot(normal.into()) > 0.99);
        }
    }

    #[test]
    fn a_ball_has_its_own_normals_and_turns_as_it_turns() {
        let scene = scene();
        let water = &scene.objects[0];
        let mesh = polygons(water, water.grid("surface").unwrap(), 2).unwrap();
        assert!(mesh.points.len() > 1000);
        let (normals, velocities) =
            (normals(&mesh.points, &mesh.quads), sampled(water.grid("vel").unwrap(), &mesh.points));
        for ((p, n), v) in mesh.points.iter().zip(&normals).zip(&velocities) {
            let p = Vec3::from(*p);
            assert!((f64::from(p.length()) - RADIUS).abs() < 0.1 * H);
            assert!(p.normalize().dot(Vec3::from(*n)) > 0.99, "{p} {n:?}");
            let wanted = spin(p.to_array().map(f64::from));
            assert!((0..3).all(|c| (f64::from(v[c]) - wanted[c]).abs() < 1e-5), "{p}: {v:?}, not {wanted:?}");
        }
    }
}
