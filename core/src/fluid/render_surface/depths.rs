//! Where particles lie to the liquid's level set.

use super::{Frame, Liquid};
use crate::grid::sampling::Sampler;
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// Depth from which the level set alone says that there is liquid, in the liquid's voxels.
pub(super) const DEEP: f32 = 1.5;

/// How far below the surface liquid is asked for, in the liquid's voxels.
const BELOW: f32 = 2.0;

/// What the level set says of a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Depth {
    /// Signed distance to the surface, voxels of the lattice.
    pub(super) distance: f32,
    /// Outward.
    pub(super) normal: Vec3,
    /// Length of the gradient: in the middle of a sheet or drop finer than the level set shows, it vanishes.
    steepness: f32,
    /// Signed distance at the place [`BELOW`] the surface along the normal, in the liquid's voxels: in a sheet or drop, that is
    /// near the other side.
    below: f32,
}

impl Depth {
    /// How much a particle there belongs to liquid that the level set shows: 0 to 1.
    pub(super) fn bulk(&self, frame: &Frame) -> f32 {
        let distance = self.distance / frame.cell;
        if distance < -1.0 {
            return 1.0 - self.thin(frame);
        }
        (1.0 - self.thin(frame)) * smooth(1.0 - 2.0 * distance) * smooth(2.0 * self.steepness - 0.5)
    }

    /// How much the liquid there is thinner than the level set shows: 0 to 1.
    pub(super) fn thin(&self, frame: &Frame) -> f32 {
        if self.distance < -DEEP * frame.cell { 0.0 } else { smooth(2.5 + 2.0 * self.below) }
    }
}

/// The depths of places.
pub(super) fn sample(liquid: &Liquid, frame: &Frame, places: &[DVec3]) -> Vec<Depth> {
    let per_metre = (1.0 / frame.voxel) as f32;
    let per_cell = (frame.scale / frame.voxel) as f32;
    let of_some = |places: &[DVec3]| {
        let mut sampler = Sampler::new(&liquid.surface.topology);
        let of_one = |p: &DVec3| {
            let at = *p * frame.scale;
            let (distance, slope) = sampler.sample_gradient(&liquid.surface, at);
            let normal = slope.normalize_or_zero();
            let to_deep = BELOW + distance * per_cell;
            let below = sampler.sample(&liquid.surface, at - (normal * to_deep).as_dvec3()) * per_cell;
            Depth { distance: distance * per_metre, normal, steepness: slope.length() * per_cell, below }
        };
        places.iter().map(of_one).collect::<Vec<_>>()
    };
    places.par_chunks(4096).map(of_some).collect::<Vec<_>>().concat()
}

/// 3x² − 2x³ between 0 and 1.
pub(super) fn smooth(x: f32) -> f32 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}
