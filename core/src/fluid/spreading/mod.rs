//! Particles that overlap after advection are separated by a second, position-only projection. Gaps are closed in the
//! same way.

mod crowding;

use super::faces::extrapolation::{Walls, extrapolate};
use super::particles::Particles;
use super::particles::cells::{CHUNK, Cells};
use super::transport::advection::AdvectionParams;
use super::transport::collision::Sweep;
use crate::coupling::{Density, LiquidFields, free_surface};
use crate::device::Device;
use crate::grid::sampling::Sampler;
use crate::grid::{FaceGrid, Topology, Transform};
use crate::pressure::{self, solver};
use crate::solid::{SolidFields, Solids};
use crate::tuned::Tuned;
use crowding::{Crowds, crowds};
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Tolerance of the displacement's solve. The next substep corrects what is left.
const TOLERANCE: Tuned<f64> = Tuned::new("spreading::TOLERANCE", 1e-2);
/// Its largest number of iterations.
const MOST_ITERATIONS: usize = 50;
/// Layers of faces by which the displacement is extrapolated around the liquid.
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
    let Some(displacement) = displacement(&crowds, cells, transform, solids, fields) else { return false };
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
    solids: &Solids,
    fields: &SolidFields,
) -> Option<FaceGrid<f32>> {
    let still = FaceGrid::new(Arc::new(Topology::default()), 0.0);
    let (density, domain) = (Density::Uniform(1.0), *solids.domain);
    let at_rest = LiquidFields::new(*transform, domain, &crowds.surface, &fields.open, &still, density);
    let liquid = LiquidFields { source: Some(&crowds.growth), ..at_rest };
    // A projection of a liquid at rest over one unit of time; the resulting velocity is the displacement.
    let mut displacement = FaceGrid::new(cells.topology.clone(), 0.0);
    let go_on = &mut |_| ControlFlow::Continue(());
    let solver = &mut *solver(Device::Cpu);
    let params = pressure::Params { tolerance: TOLERANCE.get(), max_iterations: MOST_ITERATIONS };
    free_surface::project(&liquid, &mut displacement, 1.0, solver, &params, go_on).ok()?;
    let mut displacement = displacement.on(&cells.topology);
    let at_rest = SolidFields { velocity: still.on(&cells.topology), ..fields.clone() };
    let h = transform.voxel_size() as f32;
    extrapolate(&mut displacement, cells, &crowds.surface, &Walls::held(&at_rest, h), None, LAYERS.get());
    Some(displacement)
}
