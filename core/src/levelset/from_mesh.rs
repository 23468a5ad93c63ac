//! Computes the signed distance of a closed triangle mesh.

use super::SignedDistance;
use crate::grid::{Coord, Grid, Topology, Transform, leaf};
use crate::interrupt::Interrupt;
use crate::mesh::{Feature, MeshError, Normals, TriMesh, closest_point};
use glam::{DVec3, IVec3, Vec3};
use rayon::prelude::*;
use std::sync::Arc;

/// Largest memory of a band, bytes.
const MEMORY_LIMIT: f64 = 32e9;
/// The band must hold both voxels of every edge that the surface cuts, so that signs can spread from it.
const THINNEST_BAND: f32 = 2.0;

/// The signed distance of a closed mesh (metres; negative inside) in a band of `band` voxels around it: exact
/// distances, signs by the angle-weighted pseudonormal [Baerentzen and Aanaes 2005]. Memory and time grow with
/// the surface. A mesh without an inside is an error that says what is wrong with it and where.
pub fn from_mesh(mesh: &TriMesh, transform: &Transform, band: f32) -> Result<SignedDistance, MeshError> {
    from_mesh_unless(mesh, transform, band, Interrupt::NEVER)
}

/// Checks whether [`from_mesh`] would refuse a mesh, without building anything.
pub fn can_be_made(mesh: &TriMesh, transform: &Transform, band: f32) -> Result<(), MeshError> {
    mesh.check()?;
    affordable(mesh, transform, band.max(THINNEST_BAND))
}

/// [`from_mesh`] that can be cancelled: then the error is [`MeshError::Interrupted`].
pub fn from_mesh_unless(
    mesh: &TriMesh,
    transform: &Transform,
    band: f32,
    interrupt: Interrupt,
) -> Result<SignedDistance, MeshError> {
    let band = band.max(THINNEST_BAND);
    can_be_made(mesh, transform, band)?;
    let go_on = || interrupt.check().map_err(|_| MeshError::Interrupted);
    let search = Search::new(mesh, transform, band);
    let normals = Normals::of(mesh);
    let blocks = search.leaves(interrupt);
    go_on()?;
    let width = search.width as f32;
    let mut leaves: Vec<(Coord, Vec<f32>)> = blocks
        .into_par_iter()
        .filter(|_| !interrupt.asked())
        .filter_map(|(origin, triangles)| Some((origin, search.distances(origin, &triangles, &normals)?)))
        .collect();
    go_on()?;
    leaves.sort_unstable_by_key(|(o, _)| o.to_array());
    let topology = Arc::new(Topology::new(leaves.iter().map(|(o, _)| *o).collect()));
    let mut grid = Grid::new(topology, width);
    grid.values.par_chunks_mut(leaf::SIZE).zip(&leaves).for_each(|(to, (_, from))| to.copy_from_slice(from));
    Ok(SignedDistance::new(grid))
}

/// The velocity (m/s) of the mesh's surface, whose points have `velocities`, at the point closest to each voxel of `band`'s
/// leaves; zero where the mesh is farther than the band reaches.
pub fn mesh_velocity(
    mesh: &TriMesh,
    velocities: &[Vec3],
    band: &Grid<f32>,
    transform: &Transform,
) -> Grid<Vec3> {
    let mut out = Grid::new(band.topology.clone(), Vec3::ZERO);
    let voxels = band.background / transform.voxel_size() as f32;
    let search = Search::new(mesh, transform, voxels);
    for (origin, triangles) in search.leaves(Interrupt::NEVER) {
        let Some(l) = out.topology.leaf_of(origin) else { continue };
        let values = &mut out.values[l * leaf::SIZE..][..leaf::SIZE];
        values.par_iter_mut().enumerate().for_each(|(n, v)| {
            if let Some(near) = search.nearest(origin + IVec3::from_array(leaf::local(n)), &triangles) {
                let corners = mesh.triangles[near.triangle].map(|p| velocities[p as usize].as_dvec3());
                let velocity: DVec3 = (0..3).map(|n| near.weights[n] * corners[n]).sum();
                *v = velocity.as_vec3();
            }
        });
    }
    out
}

/// Checks that the band's leaves can be addressed and fit into memory.
fn affordable(mesh: &TriMesh, transform: &Transform, band: f32) -> Result<(), MeshError> {
    let voxel = transform.voxel_size();
    if !(voxel > 0.0 && voxel.is_finite()) {
        return Err(MeshError::VoxelSize(voxel));
    }
    let (low, high) = mesh.bounds();
    let (first, last) = (transform.to_index(low.as_dvec3()), transform.to_index(high.as_dvec3()));
    let farthest = first.abs().max(last.abs()).max_element();
    // A band's leaves are about as thick as the band and one leaf.
    let layers = f64::from(2.0 * band) + 8.0;
    let memory = mesh.area() / voxel.powi(2) * layers * size_of::<f32>() as f64;
    if memory > MEMORY_LIMIT || farthest > f64::from(i32::MAX / 4) {
        let extent = f64::from((high - low).max_element());
        return Err(MeshError::TooFine { voxel, extent, memory_gb: memory / 1e9 });
    }
    Ok(())
}

/// The closest place of a mesh.
struct Near {
    triangle: usize,
    weights: [f64; 3],
    feature: Feature,
    /// From the surface to the voxel, metres.
    offset: DVec3,
}

/// Finds triangles near voxels.
struct Search<'a> {
    transform: &'a Transform,
    corners: Vec<[DVec3; 3]>,
    /// Half width of the band, metres.
    width: f64,
}

impl<'a> Search<'a> {
    fn new(mesh: &TriMesh, transform: &'a Transform, band: f32) -> Self {
        let corners = (0..mesh.triangles.len()).map(|t| mesh.corners(t).map(|p| p.as_dvec3())).collect();
        Self { transform, corners, width: f64::from(band) * transform.voxel_size() }
    }

    /// The leaves the band may meet, sorted, each with the triangles that are near it: found by halving blocks
    /// of voxels, so that neither large triangles nor large empty spaces cost.
    fn leaves(&self, interrupt: Interrupt) -> Vec<(Coord, Vec<u32>)> {
        let none = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let (low, high) = self.corners.iter().flatten().fold(none, |(low, high), &p| {
            let p = self.transform.to_index(p);
            (low.min(p), high.max(p))
        });
        let span = (high - low).max_element() + 2.0 * self.width / self.transform.voxel_size() + 2.0;
        let mut size = 8i32;
        while f64::from(size) < span {
            size *= 2;
        }
        let first = ((low - 0.5 * (span - (high - low))).floor().as_ivec3()) & !(size - 1);
        let all: Vec<u32> = (0..self.corners.len() as u32).collect();
        let mut blocks: Vec<(Coord, Vec<u32>)> = children(first, size)
            .map(|o| (o, all.clone()))
            .filter_map(|(o, t)| Some((o, self.near_block(o, size, &t)?)))
            .collect();
        while size > 8 {
            size /= 2;
            blocks = blocks
                .par_iter()
                .filter(|_| !interrupt.asked())
                .flat_map_iter(|(origin, triangles)| {
                    children(*origin, size)
                        .filter_map(move |o| Some((o, self.near_block(o, size, triangles)?)))
                })
                .collect();
        }
        blocks.sort_unstable_by_key(|(o, _)| o.to_array());
        blocks
    }

    /// Those of the triangles that come within the band's width of a block.
    fn near_block(&self, origin: Coord, size: i32, triangles: &[u32]) -> Option<Vec<u32>> {
        let centre = self.transform.to_world(origin.as_dvec3() + 0.5 * f64::from(size - 1));
        let radius = 0.5 * f64::from(size - 1) * 3f64.sqrt() * self.transform.voxel_size();
        let reach = (self.width + radius).powi(2);
        let near = |&&t: &&u32| {
            let corners = self.corners[t as usize];
            let (w, _) = closest_point(centre, corners);
            blend(w, corners).distance_squared(centre) <= reach
        };
        let near: Vec<u32> = triangles.iter().filter(near).copied().collect();
        (!near.is_empty()).then_some(near)
    }

    /// Those of the triangles that may be the closest one to a voxel of a block: no farther from its centre than
    /// the closest one there and the way to a voxel and back.
    fn closest_to_block(&self, origin: Coord, size: i32, triangles: &[u32]) -> Vec<u32> {
        /// Guards against rounding, relative.
        const MARGIN: f64 = 1.0 + 1e-9;
        let centre = self.transform.to_world(origin.as_dvec3() + 0.5 * f64::from(size - 1));
        let radius = 0.5 * f64::from(size - 1) * 3f64.sqrt() * self.transform.voxel_size();
        let distance = |&t: &u32| {
            let corners = self.corners[t as usize];
            blend(closest_point(centre, corners).0, corners).distance(centre)
        };
        let distances: Vec<f64> = triangles.iter().map(distance).collect();
        let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
        let reach = MARGIN * (least + 2.0 * radius).min(self.width + radius);
        triangles.iter().zip(&distances).filter(|(_, d)| **d <= reach).map(|(&t, _)| t).collect()
    }

    /// The closest place among the triangles; None beyond the band.
    fn nearest(&self, voxel: Coord, triangles: &[u32]) -> Option<Near> {
        let at = self.transform.to_world(voxel.as_dvec3());
        let mut best: Option<Near> = None;
        let mut least = self.width * self.width;
        for &t in triangles {
            let corners = self.corners[t as usize];
            let (weights, feature) = closest_point(at, corners);
            let offset = at - blend(weights, corners);
            let distance = offset.length_squared();
            // Of two triangles at the same distance the first one stands: the order is the mesh's own.
            if distance < least || (best.is_none() && distance <= least) {
                least = distance;
                best = Some(Near { triangle: t as usize, weights, feature, offset });
            }
        }
        best
    }

    /// Calls `f` with the closest place of every voxel of a block that has one in the band. Blocks are halved, and
    /// each half keeps the triangles that may be the closest one to a voxel in it.
    fn each_nearest(&self, origin: Coord, size: i32, triangles: &[u32], f: &mut impl FnMut(Coord, Near)) {
        let size = size / 2;
        for origin in children(origin, size) {
            if size > 1 {
                self.each_nearest(origin, size, &self.closest_to_block(origin, size, triangles), f);
            } else if let Some(near) = self.nearest(origin, triangles) {
                f(origin, near);
            }
        }
    }

    /// The signed distances of a leaf; None when the band does not meet it.
    fn distances(&self, origin: Coord, triangles: &[u32], normals: &Normals) -> Option<Vec<f32>> {
        let mut values = vec![f32::NAN; leaf::SIZE];
        let mut known = Vec::new();
        self.each_nearest(origin, leaf::DIM as i32, triangles, &mut |voxel, near| {
            let outside = near.offset.dot(normals.at(near.triangle, near.feature)) >= 0.0;
            let distance = near.offset.length();
            let n = leaf::offset(voxel.x, voxel.y, voxel.z);
            values[n] = if outside { distance as f32 } else { -(distance as f32) };
            known.push(n);
        });
        if known.is_empty() {
            return None;
        }
        known.sort_unstable();
        spread_signs(&mut values, known, self.width as f32);
        Some(values)
    }
}

/// Gives the unknown (NaN) voxels of a leaf ±`width` with the sign of a neighbour: the surface does not pass
/// between voxels beyond its band.
fn spread_signs(values: &mut [f32], mut from: Vec<usize>, width: f32) {
    while let Some(n) = from.pop() {
        let at = leaf::local(n);
        for axis in 0..3 {
            for step in [-1, 1] {
                let mut next = at;
                next[axis] += step;
                if next[axis] & 7 != next[axis] {
                    continue;
                }
                let m = leaf::offset(next[0], next[1], next[2]);
                if values[m].is_nan() {
                    values[m] = width.copysign(values[n]);
                    from.push(m);
                }
            }
        }
    }
}

fn children(origin: Coord, size: i32) -> impl Iterator<Item = Coord> {
    (0..8).map(move |n| origin + IVec3::new(n >> 2, n >> 1 & 1, n & 1) * size)
}

fn blend(w: [f64; 3], p: [DVec3; 3]) -> DVec3 {
    w[0] * p[0] + w[1] * p[1] + w[2] * p[2]
}

#[cfg(test)]
mod tests;
