//! How much volume a surface lacks.

use super::{Frame, Liquid};
use crate::grid::sampling::Sampler;
use crate::grid::{Grid, block, leaf};
use crate::solid::Solids;
use glam::{IVec3, Vec3};
use rayon::prelude::*;

/// Farthest that a surface is moved to have the liquid's volume, in the liquid's voxels: particles know where the surface is
/// to about that.
pub(super) const FARTHEST: f32 = 0.25;

/// Volume in open space, in voxels, that the particles have more than where their share (less a half) is positive. That is
/// measured against the level set: away from the lattice's leaves both agree.
///
/// It comes out too small for what is curved: the level set, sampled between its voxels, encloses less than its voxels say
/// (4 % less for a ball with a radius of 4 voxels, 0.5 % for 10), and the surface is moved inwards by that. The mesh is
/// closed, so its own volume, less what lies in walls, would be exact.
pub(super) fn lacking(liquid: &Liquid, share: &Grid<f32>, solids: &Solids, frame: &Frame) -> f64 {
    let of_leaf = |l: usize| {
        let origin = share.topology.origins()[l];
        let mut nodes = [0.0; block::SIZE];
        block::load(&mut nodes, &share.values, &share.topology.neighbours()[l], f32::NAN);
        let (mut sampler, mut probe) = (Sampler::new(&liquid.surface.topology), solids.probe());
        let mut more = 0.0;
        for n in 0..leaf::SIZE {
            let place = IVec3::from_array(leaf::local(n)).as_vec3();
            let (distance, slope) = sampler.sample_gradient(&liquid.surface, frame.in_liquid(origin, place));
            let there = inside(-distance, slope * frame.scale as f32);
            let here = inside(nodes[block::centre(n)], slope_at(&nodes, block::centre(n)));
            if there != here {
                let world = frame.world(origin.as_dvec3() + place.as_dvec3());
                let open = (0.5 + probe.distance(world) / frame.voxel).clamp(0.0, 1.0);
                more += f64::from(there - here) * open;
            }
        }
        more
    };
    let parts: Vec<f64> = (0..share.topology.len()).into_par_iter().map(of_leaf).collect();
    let more: f64 = parts.into_iter().sum();
    particles(liquid, frame) - (in_level_set(liquid, solids, frame) - more)
}

/// Volume of the particles, voxels.
fn particles(liquid: &Liquid, frame: &Frame) -> f64 {
    let masses = match liquid.mass_share {
        [] => liquid.position.len() as f64,
        shares => shares.iter().map(|&[share]| f64::from(share)).sum(),
    };
    masses * (liquid.separation / frame.voxel).powi(3)
}

/// Volume in open space inside of the level set, voxels.
fn in_level_set(liquid: &Liquid, solids: &Solids, frame: &Frame) -> f64 {
    let surface = &liquid.surface;
    let h = frame.voxel / frame.scale;
    let of_leaf = |l: usize| {
        let mut nodes = [0.0; block::SIZE];
        block::load(&mut nodes, &surface.values, &surface.topology.neighbours()[l], surface.background);
        let mut probe = solids.probe();
        let of_voxel = |n: usize| {
            let middle = block::centre(n);
            let there = inside(-nodes[middle], slope_at(&nodes, middle));
            if there == 0.0 {
                return 0.0;
            }
            let world = liquid.transform.to_world(surface.topology.coord(l * leaf::SIZE + n).as_dvec3());
            f64::from(there) * (0.5 + probe.distance(world) / h).clamp(0.0, 1.0)
        };
        (0..leaf::SIZE).map(of_voxel).sum::<f64>()
    };
    let parts: Vec<f64> = (0..surface.topology.len()).into_par_iter().map(of_leaf).collect();
    parts.into_iter().sum::<f64>() / frame.scale.powi(3)
}

/// Central differences, one-sided beside voxels that no leaf holds.
fn slope_at(nodes: &block::Block<f32>, n: usize) -> Vec3 {
    let along = |step: usize| {
        let [before, own, after] = [nodes[n - step], nodes[n], nodes[n + step]];
        match (before.is_nan(), after.is_nan()) {
            (false, false) => 0.5 * (after - before),
            (true, false) => after - own,
            (false, true) => own - before,
            _ => 0.0,
        }
    };
    Vec3::from_array(block::STRIDE.map(along))
}

/// The part of a voxel that is inside, from a value in its middle, positive inside, and its change over a voxel along each
/// axis: that of a plane through a ball of the voxel's volume is nearly linear.
fn inside(value: f32, slope: Vec3) -> f32 {
    let width = slope.length();
    if width > 0.0 { (0.5 + value / width).clamp(0.0, 1.0) } else { f32::from(value > 0.0) }
}
