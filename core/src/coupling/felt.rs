//! What those feel who take part in a projection by faces: a fan, a lid.

use super::air::regions::LABEL_SOLID;
use super::projection::Projection;
use crate::grid::{FaceGrid, Grid, Topology, leaf};
use glam::IVec3;
use rayon::prelude::*;
use std::sync::Arc;

/// What a projection left at faces; 0 where a solid or no liquid is beside them.
#[derive(Clone, Debug)]
pub struct AtFaces {
    /// Pressure in the cell above each face, less that in the cell below, Pa: what a lid there bears.
    pub load: FaceGrid<f32>,
    /// Velocity through each face, m/s, of which what solids leave open is the area: the flow by area.
    pub passing: FaceGrid<f32>,
}

/// What a projection left at the faces of some leaves; `vel`: m/s, as it passes what is shut ([`passed`](super::passed)).
pub fn at_faces(projected: &Projection, vel: &FaceGrid<f32>, leaves: &Arc<Topology>) -> AtFaces {
    let (near, cells) = (projected.pressure.on(leaves), projected.memory.cells.on(leaves));
    let pressure = |l, local| beside(&near, &projected.pressure, l, local);
    let label = |l, local| beside(&cells, &projected.memory.cells, l, local);
    let mut out = AtFaces { load: FaceGrid::new(leaves.clone(), 0.0), passing: vel.on(leaves) };
    out.passing.background = 0.0;
    let faces = out.load.values.iter_mut().zip(&mut out.passing.values).enumerate();
    for (axis, (load, passing)) in faces {
        let of_leaves = load.par_chunks_mut(leaf::SIZE).zip(passing.par_chunks_mut(leaf::SIZE)).enumerate();
        of_leaves.for_each(|(l, (load, passing))| {
            for (n, (load, passing)) in load.iter_mut().zip(passing).enumerate() {
                let above = leaf::local(n);
                let mut below = above;
                below[axis] -= 1;
                let labels = [label(l, below), label(l, above)];
                if labels.contains(&LABEL_SOLID) || !labels.iter().any(|&label| label < LABEL_SOLID) {
                    *passing = 0.0;
                } else {
                    *load = pressure(l, above) - pressure(l, below);
                }
            }
        });
    }
    out
}

/// The value at a place relative to leaf `l` of `near`, which holds some leaves of `all`.
fn beside<T: Copy + Send + Sync>(near: &Grid<T>, all: &Grid<T>, l: usize, local: [i32; 3]) -> T {
    match near.topology.reach(l, local) {
        Some(slot) => near.values[slot],
        None => all.get(near.topology.origins()[l] + IVec3::from_array(local)),
    }
}
