//! Particles that overlap after advection are separated by a second, position-only projection. Gaps are closed in the
//! same way.

mod crowding;
mod poisson;

use super::faces::extrapolation::{Walls, extrapolate};
use super::particles::Particles;
use super::particles::cells::{CHUNK, Cells};
use super::transport::advection::AdvectionParams;
use super::transport::collision::Sweep;
use crate::device::Device;
use crate::grid::sampling::Sampler;
use crate::grid::{FaceGrid, Transform};
use crate::pressure::{self, Unknowns, pressures, solver, update_velocity};
use crate::solid::{SolidFields, Solids};
use crate::tuned::Tuned;
use crowding::{Crowds, crowds};
use poisson::poisson;
use rayon::prelude::*;
use std::ops::ControlFlow;

/// Tolerance of the displacement's solve. The next substep corrects what is left.
const TOLERANCE: Tuned<f64> = Tuned::new("spreading::TOLERANCE", 1e-2);
/// Its largest number of iterations.
const MOST_ITERATIONS: usize = 50;
/// Layers of faces by which the displacement is extrapolated around the liquid: particles of cells beyond the surface, one
/// voxel; the voxel between which a sample is interpolated; and half a voxel by which faces lie beside cells.
const LAYERS: Tuned<usize> = Tuned::new("spreading::LAYERS", 3);
/// Largest displacement of a particle in a substep, voxels.
const FARTHEST: Tuned<f32> = Tuned::new("spreading::FARTHEST", 1.0);

/// Moves particles so that the liquid has its density everywhere [Kugelstadt et al. 2021]: x ← x + δ, δ = −∇q, ∇·δ =
/// growth in the liquid, δ·n = 0 at walls, q = 0 in air. Only positions change: a velocity that spread a crowd would
/// add energy to the liquid. Returns whether any particle moved.
///
/// Advection is exact along each particle's path only. Where two bodies of liquid meet within a substep, or one meets a
/// wall, they overlap by up to their relative speed times the step. No later divergence-free velocity separates them.
/// `excess` is (V − V₀)/V₀ of the liquid as last measured; `fields` are the solids' fields, on the cells' leaves at
/// least.
pub(super) fn spread_out(
    particles: &mut Particles,
    cells: &Cells,
    transform: &Transform,
    (solids, fields): (&Solids, &SolidFields),
    per_voxel: f32,
    excess: f64,
    params: &AdvectionParams,
) -> bool {
    let h = transform.voxel_size();
    let open = fields.volume.seen_on(&cells.topology);
    let Some(crowds) = crowds(cells, &open, h as f32, per_voxel, excess) else { return false };
    let Some(displacement) = displacement(&crowds, cells, transform, fields) else { return false };
    let frame = particles.frame(transform);
    let origin = particles.origin;
    particles.position.par_chunks_mut(CHUNK).for_each(|positions| {
        let mut sampler = Sampler::new(&displacement.topology);
        let mut sweep = Sweep::new(solids, params.separation * h, params.sweep_step * h, 0.0, 0.0);
        for x in positions {
            let at = frame.local(*x).as_dvec3() + frame.base.as_dvec3();
            let way = sampler.sample_velocity(&displacement, at).clamp_length_max(FARTHEST.get() * h as f32);
            let from = origin + x.as_dvec3();
            *x = (sweep.land(from, from + way.as_dvec3()).position - origin).as_vec3();
        }
    });
    true
}

/// δ on faces, m; `None` when the solver refuses the system. It then refuses the substep's own system, too.
fn displacement(
    crowds: &Crowds,
    cells: &Cells,
    transform: &Transform,
    fields: &SolidFields,
) -> Option<FaceGrid<f32>> {
    let h = transform.voxel_size();
    let (system, right_side) = poisson(crowds, &fields.open, h);
    let mut q = Unknowns::zeros(&system);
    let params = pressure::Params { tolerance: TOLERANCE.get(), max_iterations: MOST_ITERATIONS };
    let go_on = &mut |_| ControlFlow::Continue(());
    solver(Device::Cpu).solve(&system, &right_side, &mut q, &params, go_on).ok()?;
    let still = FaceGrid::new(cells.topology.clone(), 0.0);
    let mut displacement = still.clone();
    update_velocity(&fields.open, &still, h, &system, &pressures(&system, &q), None, &mut displacement);
    let walls = Walls { at_rest: true, ..Walls::held(fields, h as f32) };
    extrapolate(&mut displacement, cells, &crowds.surface, &walls, None, LAYERS.get(), None);
    Some(displacement)
}
