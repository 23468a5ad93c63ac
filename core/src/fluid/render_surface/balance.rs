//! How much volume a surface lacks.

use super::corners::corner;
use super::lattice::leaves_between;
use super::{Frame, Liquid, contour};
use crate::grid::sampling::trilinear_gradient;
use crate::grid::{Grid, block, leaf};
use crate::solid::{SolidProbe, Solids};
use glam::{DVec3, IVec3, Vec3};
use rayon::prelude::*;

/// Farthest that a surface is moved to have the liquid's volume, in the liquid's voxels: particles know where the surface is
/// to about that.
pub(super) const FARTHEST: f32 = 0.25;

/// Parts of a cube along each axis, in which solids in it are measured.
const PARTS: usize = 3;

/// Volume, in voxels, that the particles have and a closed surface does not enclose in open space.
pub(super) fn lacking(
    enclosed: f64,
    liquid: &Liquid,
    share: &Grid<f32>,
    solids: &Solids,
    frame: &Frame,
) -> f64 {
    let in_solids =
        in_solids_near(liquid, share, solids, frame) + in_solids_below(liquid, share, solids, frame);
    particles(liquid, frame) - (enclosed - in_solids)
}

/// Volume of the particles, voxels.
fn particles(liquid: &Liquid, frame: &Frame) -> f64 {
    let masses = match liquid.mass_share {
        [] => liquid.position.len() as f64,
        shares => shares.iter().map(|&[share]| f64::from(share)).sum(),
    };
    masses * (liquid.separation / frame.voxel).powi(3)
}

/// The part of a voxel with an edge of `edge` metres that is solid.
fn solid_part(probe: &mut SolidProbe, place: DVec3, edge: f64) -> f64 {
    (0.5 - probe.distance(place) / edge).clamp(0.0, 1.0)
}

/// What the surface encloses of solids in the cubes between the lattice's places, as far as leaves hold them: in [`PARTS`]³ parts
/// of each, from the share between its corners, as the mesh is made; voxels.
fn in_solids_near(liquid: &Liquid, share: &Grid<f32>, solids: &Solids, frame: &Frame) -> f64 {
    let of_leaf = |l: usize| {
        let mut probe = solids.probe();
        let origin = share.topology.origins()[l].as_dvec3();
        let nodes = contour::nodes(share, l, liquid, frame);
        let of_cube = |n: usize| {
            let local = IVec3::from_array(leaf::local(n));
            let corners: [f32; 8] = std::array::from_fn(|c| {
                let p = local + corner(c);
                nodes[block::index(p.x, p.y, p.z)]
            });
            let low = origin + local.as_dvec3();
            let middle = frame.world(low + 0.5);
            if corners.iter().all(|&v| v <= 0.0) || probe.distance(middle) > frame.voxel {
                return 0.0;
            }
            let of_part = |m: usize| {
                let [x, y, z] = [m / PARTS / PARTS, m / PARTS % PARTS, m % PARTS];
                let at = (Vec3::new(x as f32, y as f32, z as f32) + 0.5) / PARTS as f32;
                let (value, slope) = trilinear_gradient(&corners, at);
                let part =
                    solid_part(&mut probe, frame.world(low + at.as_dvec3()), frame.voxel / PARTS as f64);
                f64::from(inside(value, slope / PARTS as f32)) * part
            };
            (0..PARTS.pow(3)).map(of_part).sum::<f64>() / PARTS.pow(3) as f64
        };
        (0..leaf::SIZE).map(of_cube).sum::<f64>()
    };
    sum((0..share.topology.len()).into_par_iter().map(of_leaf))
}

/// The same below the surface, where there are no such leaves: solids thinner than the level set goes on into them, voxels.
fn in_solids_below(liquid: &Liquid, share: &Grid<f32>, solids: &Solids, frame: &Frame) -> f64 {
    let surface = &liquid.surface;
    let edge = frame.voxel / frame.scale;
    let of_leaf = |l: usize| {
        let mut probe = solids.probe();
        let of_voxel = |n: usize| {
            let slot = l * leaf::SIZE + n;
            if surface.values[slot] >= 0.0 {
                return 0.0;
            }
            let cell = surface.topology.coord(slot).as_dvec3();
            let part = solid_part(&mut probe, liquid.transform.to_world(cell), edge);
            if part > 0.0 { part * outside_leaves(share, cell, frame) } else { 0.0 }
        };
        (0..leaf::SIZE).map(of_voxel).sum::<f64>()
    };
    sum((0..surface.topology.len()).into_par_iter().map(of_leaf))
}

/// Volume of one of the liquid's voxels that the lattice's leaves do not cover, voxels of the lattice.
fn outside_leaves(share: &Grid<f32>, cell: DVec3, frame: &Frame) -> f64 {
    let [low, high] = [-0.5, 0.5].map(|half| (cell + half) / frame.scale);
    let dim = leaf::DIM as f64;
    let covered = |origin: IVec3| {
        let shared = high.min(origin.as_dvec3() + dim) - low.max(origin.as_dvec3());
        shared.max(DVec3::ZERO).element_product()
    };
    let [first, last] = [low, high].map(|end| end.floor().as_ivec3());
    let leaves = leaves_between(first, last);
    let held = leaves.filter(|&origin| share.topology.leaf_of(origin).is_some());
    ((high - low).element_product() - held.map(covered).sum::<f64>()).max(0.0)
}

/// In their order, so that threads change nothing.
fn sum(parts: impl IndexedParallelIterator<Item = f64>) -> f64 {
    parts.collect::<Vec<_>>().into_iter().sum()
}

/// The part of a voxel that is inside, from a value in its middle, positive inside, and its change over a voxel along each
/// axis: that of a plane through a ball of the voxel's volume is nearly linear.
fn inside(value: f32, slope: Vec3) -> f32 {
    let width = slope.length();
    if width > 0.0 { (0.5 + value / width).clamp(0.0, 1.0) } else { f32::from(value > 0.0) }
}
