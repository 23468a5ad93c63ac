//! Where particles lie to the liquid's level set.

use super::{Frame, Liquid};
use crate::grid::sampling::Sampler;
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// Signed distance (voxels of the lattice), outward normal and length of the gradient of the level set at places.
pub(super) fn sample(liquid: &Liquid, frame: &Frame, places: &[DVec3]) -> Vec<(f32, Vec3, f32)> {
    let per_metre = (1.0 / frame.voxel) as f32;
    let per_cell = (frame.scale / frame.voxel) as f32;
    let of_some = |places: &[DVec3]| {
        let mut sampler = Sampler::new(&liquid.surface.topology);
        let of_one = |p: &DVec3| {
            let (distance, slope) = sampler.sample_gradient(&liquid.surface, *p * frame.scale);
            (distance * per_metre, slope.normalize_or_zero(), slope.length() * per_cell)
        };
        places.iter().map(of_one).collect::<Vec<_>>()
    };
    places.par_chunks(4096).map(of_some).collect::<Vec<_>>().concat()
}
