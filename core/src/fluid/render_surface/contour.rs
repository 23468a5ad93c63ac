//! Triangles where the share of liquid is a half.
//!
//! The dual of marching cubes: a point for each loop that the surface makes through a cube of eight voxels, a polygon
//! for each edge that it crosses [Nielson 2004]. Where it crosses a face twice, two loops may be neighbours twice; a point
//! in the middle of each crossing keeps these sides apart, so that no edge belongs to more than two triangles.

use super::corners::{EDGES, Loops, corner, crossing, ends};
use super::lattice::{Lattice, in_depth};
use super::{Frame, Liquid};
use crate::grid::sampling::{Sampler, trilinear_gradient};
use crate::grid::{Coord, Grid, block, leaf};
use glam::{IVec3, Vec3};
use rayon::prelude::*;

/// A mesh on the lattice.
pub(super) struct Mesh {
    /// Of each leaf: its first point, and after the last leaf the number of all.
    pub(super) starts: Vec<u32>,
    /// Places relative to [`Self::base`], voxels.
    pub(super) points: Vec<Vec3>,
    /// Numbers of three points each, counter-clockwise seen from outside.
    pub(super) triangles: Vec<[u32; 3]>,
    /// Voxel that places are relative to.
    pub(super) base: IVec3,
}

/// What is known of a cube that the surface runs through.
#[derive(Clone, Copy)]
struct Cube {
    loops: Loops,
    /// The first of its points: one for each loop, then two for each lower face that is crossed twice.
    first: u32,
}

/// No cube.
const NONE: u32 = u32::MAX;

/// The surface where the share (less a half) is zero.
pub(super) fn contour(lattice: &Lattice, share: &Grid<f32>, liquid: &Liquid, frame: &Frame) -> Mesh {
    let topology = &lattice.topology;
    let base = topology.bounds().map_or(IVec3::ZERO, |(low, _)| low);
    let found: Vec<_> = (0..topology.len())
        .into_par_iter()
        .map(|l| points_of_leaf(&nodes(share, l, liquid, frame), topology.origins()[l] - base))
        .collect();
    let (mut starts, mut all) = (vec![0_u32], Vec::new());
    let mut cubes: Vec<Cube> = Vec::new();
    let mut index = vec![NONE; topology.len() * leaf::SIZE];
    for (l, (of_leaf, points)) in found.into_iter().enumerate() {
        let first = all.len() as u32;
        for (n, cube) in of_leaf {
            index[l * leaf::SIZE + usize::from(n)] = cubes.len() as u32;
            cubes.push(Cube { first: cube.first + first, ..cube });
        }
        all.extend(points);
        starts.push(all.len() as u32);
    }
    let triangles: Vec<Vec<[u32; 3]>> = (0..topology.len())
        .into_par_iter()
        .map(|l| {
            let at = |local: IVec3| {
                let slot = topology.reach(l, local.to_array())?;
                cubes.get(index[slot] as usize)
            };
            triangles_of_leaf(share, l, at)
        })
        .collect();
    Mesh { starts, points: all, triangles: triangles.concat(), base }
}

/// The values around a leaf; what no leaf holds is full of liquid or empty.
pub(super) fn nodes(share: &Grid<f32>, l: usize, liquid: &Liquid, frame: &Frame) -> block::Block<f32> {
    let mut nodes = [0.0; block::SIZE];
    block::load(&mut nodes, &share.values, &share.topology.neighbours()[l], f32::NAN);
    if nodes.iter().any(|v| v.is_nan()) {
        let origin = share.topology.origins()[l];
        let mut sampler = Sampler::new(&liquid.surface.topology);
        for (n, value) in nodes.iter_mut().enumerate().filter(|(_, v)| v.is_nan()) {
            let local = IVec3::new((n / 100) as i32, (n / 10 % 10) as i32, (n % 10) as i32) - 1;
            let distance = sampler.sample(&liquid.surface, frame.in_liquid(origin, local.as_vec3()));
            *value = in_depth(distance, frame) - 0.5;
        }
    }
    nodes
}

/// The cubes of a leaf that the surface runs through, and their points relative to a voxel `origin` away from the leaf.
fn points_of_leaf(nodes: &block::Block<f32>, origin: IVec3) -> (Vec<(u16, Cube)>, Vec<Vec3>) {
    let (mut cubes, mut points) = (Vec::new(), Vec::new());
    for n in 0..leaf::SIZE {
        let local = IVec3::from_array(leaf::local(n));
        let values: [f32; 8] = std::array::from_fn(|c| {
            let p = local + corner(c);
            nodes[block::index(p.x, p.y, p.z)]
        });
        let inside = values.iter().filter(|v| **v > 0.0).count();
        if inside == 0 || inside == values.len() {
            continue;
        }
        let loops = Loops::of(&values);
        cubes.push((n as u16, Cube { loops, first: points.len() as u32 }));
        let low = (local + origin).as_vec3();
        points.extend((0..u32::from(loops.count)).map(|number| low + middle(&values, &loops, number)));
        for axis in (0..3).filter(|axis| loops.double >> axis & 1 == 1) {
            points.extend([0, 1].map(|piece| low + between(&values, &loops, axis, piece)));
        }
    }
    (cubes, points)
}

/// The point of a loop: the mean of its crossings, brought onto the surface.
fn middle(values: &[f32; 8], loops: &Loops, number: u32) -> Vec3 {
    let is_cut = |e: usize| (values[ends(e)[0]] > 0.0) != (values[ends(e)[1]] > 0.0);
    let own = (0..EDGES).filter(|&e| is_cut(e) && loops.at(e) == number);
    let (sum, count) = own.fold((Vec3::ZERO, 0.0), |(sum, n), e| (sum + crossing(e, values), n + 1.0));
    let mut at = sum / count;
    if loops.count > 1 {
        return at;
    }
    for _ in 0..2 {
        let (value, slope) = trilinear_gradient(values, at);
        let steepness = slope.length_squared();
        if steepness > 1e-12 {
            at = (at - slope * (value / steepness)).clamp(Vec3::ZERO, Vec3::ONE);
        }
    }
    at
}

/// The middle of a piece of surface on a lower face: of where it crosses an edge along the axis after the face's, at place
/// `piece`, and one along the axis after that.
fn between(values: &[f32; 8], loops: &Loops, axis: usize, piece: usize) -> Vec3 {
    let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
    let other = if loops.piece(axis, false, 0) == 0 { piece } else { 1 - piece };
    (crossing(b * 4 + piece, values) + crossing(c * 4 + 2 * other, values)) * 0.5
}

/// The polygons around the edges that start from voxels of a leaf.
fn triangles_of_leaf<'a>(
    share: &Grid<f32>,
    l: usize,
    cube: impl Fn(IVec3) -> Option<&'a Cube>,
) -> Vec<[u32; 3]> {
    let mut triangles = Vec::new();
    for n in 0..leaf::SIZE {
        let local = IVec3::from_array(leaf::local(n));
        let inside = share.values[l * leaf::SIZE + n] > 0.0;
        for a in 0..3 {
            let end = local + IVec3::AXES[a];
            let Some(slot) = share.topology.reach(l, end.to_array()) else { continue };
            if (share.values[slot] > 0.0) != inside {
                polygon(a, local, inside, &cube, &mut triangles);
            }
        }
    }
    triangles
}

/// The polygon around the edge along axis a from a voxel, cut into triangles.
fn polygon<'a>(
    a: usize,
    from: Coord,
    upwards: bool,
    cube: impl Fn(IVec3) -> Option<&'a Cube>,
    triangles: &mut Vec<[u32; 3]>,
) {
    let (b, c) = ((a + 1) % 3, (a + 2) % 3);
    let [step_b, step_c] = [IVec3::AXES[b], IVec3::AXES[c]];
    // The cubes around the edge, anticlockwise seen from its end, and their number of the edge.
    let around = [
        (from, a * 4),
        (from - step_b, a * 4 + 1),
        (from - step_b - step_c, a * 4 + 3),
        (from - step_c, a * 4 + 2),
    ];
    let cubes = around.map(|(place, _)| cube(place));
    let [Some(c0), Some(c1), Some(c2), Some(c3)] = cubes else { return };
    let point = |cube: &Cube, edge: usize| cube.first + cube.loops.at(edge);
    // The face between two cubes: that with the face below it, the face's axis, whether the edge runs along the axis after
    // that one, and its place on the face.
    let faces = [(c0, b, false, 0), (c1, c, true, 1), (c3, b, false, 1), (c0, c, true, 0)];
    let mut corners = [0_u32; 8];
    let (mut count, mut extra) = (0, None);
    for (n, (cube, (_, edge))) in [c0, c1, c2, c3].into_iter().zip(around).enumerate() {
        corners[count] = point(cube, edge);
        count += 1;
        let (owner, axis, is_first, k) = faces[n];
        if owner.loops.double >> axis & 1 == 1 {
            let before = u32::from(owner.loops.count) + 2 * owner.loops.doubles_before(axis);
            extra.get_or_insert(count);
            corners[count] = owner.first + before + owner.loops.piece(axis, is_first, k);
            count += 1;
        }
    }
    let corners = &mut corners[..count];
    // Diagonals from an extra point are no other polygon's.
    corners.rotate_left(extra.unwrap_or(0));
    for n in 1..count - 1 {
        let [p, q, r] = [corners[0], corners[n], corners[n + 1]];
        triangles.push(if upwards { [p, q, r] } else { [p, r, q] });
    }
}
