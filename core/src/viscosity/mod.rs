//! Viscosity, implicit and variational: the new velocity of a viscous liquid minimises
//!
//! ½ ∫ ρ |u − u*|² + dt ∫ μ |ε(u)|²,  ε = ½ (∇u + ∇uᵀ)
//!
//! over the volume that it fills [Batty and Bridson 2008]. Faces, cells and edges of the lattice enter with the part of
//! their volume that is liquid (`volumes`). The traction-free condition of a free surface is then the natural boundary
//! condition, and a spinning drop is not slowed. Walls prescribe their velocity (no slip) at their true distance. The
//! step is unconditionally stable and symmetric positive definite; `stencil` builds it, `operator` applies it, `solve`
//! runs conjugate gradients on it. Walls of bodies that the liquid can move are unknown with it (`bodies`).
//!
//! Viscosity acts between two pressure projections. Its input must be divergence-free already; otherwise walls shear
//! the fall that the pressure is about to cancel, and honey at rest in a jar circulates for ever. Its result is not
//! divergence-free, and is projected again. (Both at once is the Stokes problem of [Larionov et al. 2017].)
//! [`between_projections`](crate::coupling::viscous::between_projections) does all three. Without viscosity neither the solve nor the second projection takes place.

mod bodies;
mod coarsen;
mod impulse;
mod multigrid;
mod operator;
mod solve;
mod stencil;
#[cfg(test)]
mod tests;
mod transfer;
mod volumes;

use bodies::Attached;
pub use bodies::{Bodies, Motion, Pushed, Row};
pub(crate) use impulse::continue_outward;

use crate::grid::{FaceGrid, Grid, Transform, leaf};
use crate::pressure::{Density, Progress};
use rayon::prelude::*;
use std::time::Instant;

/// The largest dynamic viscosity that is accepted, Pa·s: some times that of pitch, 2.3e8 [Edgeworth et al. 1984]. So
/// stiff a flow is rigid within a substep, and rounding errors begin to exceed its inertia.
pub const MAX_VISCOSITY: f64 = 1e9;

/// Dynamic viscosity of the liquid.
#[derive(Clone, Copy, Debug)]
pub enum Viscosity<'a> {
    /// The same everywhere, Pa·s.
    Uniform(f64),
    /// Per cell, Pa·s. Edges take the harmonic mean of the cells around, so that the shear stress is continuous where
    /// two liquids meet [Deubelbeiss and Kaus 2008].
    PerCell(&'a Grid<f32>),
}

/// What the liquid does at walls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Walls {
    /// It sticks to them.
    #[default]
    NoSlip,
    /// It slides along them without friction.
    Slip,
}

/// The fields of a viscous liquid. Grids need not share a topology.
#[derive(Clone, Copy, Debug)]
pub struct ViscousLiquid<'a> {
    /// Index space to world space; uniform, axis-aligned voxels.
    pub transform: Transform,
    /// φ of the liquid at cell centres, m; negative inside, carried on into solids.
    pub surface: &'a Grid<f32>,
    /// φ of the solids at the cells' lower nodes, m; negative inside.
    pub solid: &'a Grid<f32>,
    /// Fraction α of each face that is not solid.
    pub open: &'a FaceGrid<f32>,
    /// Velocity of the solids on faces, m/s.
    pub vel_solid: &'a FaceGrid<f32>,
    /// Density.
    pub density: Density<'a>,
    /// Density of what is around each face, kg/m³, where it is not 0; else, and without it, the mean of the cells on both sides.
    pub face_density: Option<&'a FaceGrid<f32>>,
    /// Viscosity.
    pub viscosity: Viscosity<'a>,
    /// What happens at walls.
    pub walls: Walls,
}

/// The preconditioner of the iteration. The result is the same within the tolerance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preconditioner {
    /// Chosen by speed, from the viscosity.
    #[default]
    Auto,
    /// The operator's diagonal.
    Diagonal,
    /// A multigrid cycle.
    Multigrid,
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Relative residual to reach: ‖b − A u‖₂ ≤ tolerance ‖b‖₂, b the momentum before and the walls' drag.
    pub tolerance: f64,
    /// Iterations after which the solve gives up (and says so in [`Info::converged`]).
    pub max_iterations: usize,
    /// The preconditioner.
    pub preconditioner: Preconditioner,
}

impl Default for Params {
    fn default() -> Self {
        Self { tolerance: 1e-5, max_iterations: 1000, preconditioner: Preconditioner::Auto }
    }
}

/// The result of a solve in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Info {
    /// Faces whose velocity was solved for.
    pub unknowns: usize,
    /// Iterations spent.
    pub iterations: usize,
    /// Relative residual of the result.
    pub residual: f64,
    /// Whether `residual` reached the tolerance.
    pub converged: bool,
    /// Time spent, seconds.
    pub seconds: f64,
}

/// Why a solve gave no result; nothing was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The substep is not a positive time.
    #[error("viscosity: a substep of {0} s")]
    Step(f64),
    /// The voxels have no size.
    #[error("viscosity: a voxel size of {0} m")]
    VoxelSize(f64),
    /// A viscosity is negative, not a number, or more than can be counted with.
    #[error("viscosity: {0} Pa·s is not a viscosity (from 0 to {MAX_VISCOSITY:e}; pitch has 2e8)")]
    Viscosity(f64),
    /// A density is not a positive number.
    #[error("viscosity: {0} kg/m³ is not a density (more than 0)")]
    Density(f64),
    /// A body's mass and the drag on it are not positive definite.
    #[error(
        "viscosity: the mass of a body is not positive definite: see degree of freedom {0} of all bodies"
    )]
    Mass(usize),
    /// The velocity of the liquid or of a wall is not finite.
    #[error("viscosity: the velocity it starts from is not finite")]
    Velocity,
    /// The progress callback asked to stop.
    #[error("viscosity solve cancelled after {iterations} iterations")]
    Cancelled {
        /// Iterations done until then.
        iterations: usize,
    },
}

/// Lets viscosity act on `velocity` (m/s) for `dt` seconds: one step of backward Euler, (M + dt K) u = M u*
/// [Batty and Bridson 2008]. Without viscosity nothing happens.
pub fn diffuse(
    liquid: &ViscousLiquid,
    velocity: &mut FaceGrid<f32>,
    dt: f64,
    params: &Params,
    progress: Progress,
) -> Result<Info, Error> {
    diffuse_with(liquid, None, velocity, dt, params, progress).map(|(info, _)| info)
}

/// The same with bodies that the liquid drags, and what it did to them.
pub fn diffuse_with(
    liquid: &ViscousLiquid,
    bodies: Option<&Bodies>,
    velocity: &mut FaceGrid<f32>,
    dt: f64,
    params: &Params,
    progress: Progress,
) -> Result<(Info, Pushed), Error> {
    let start = Instant::now();
    let most = check(liquid, dt)?;
    let unmoved = || {
        let (change, rows) = bodies.map_or((0, 0), |b| (b.velocity.len(), b.rows.len()));
        Pushed { change: vec![0.0; change], rows: vec![0.0; rows] }
    };
    if most == 0.0 {
        return Ok((Info { converged: true, ..Info::default() }, unmoved()));
    }
    let stiffness = most / lightest(liquid.density) * dt / liquid.transform.voxel_size().powi(2);
    let owner = bodies.map(Bodies::owned);
    let assembly = stencil::System::assemble(liquid, owner.as_ref(), dt);
    let attached = bodies.map(|bodies| Attached::new(&assembly, bodies)).transpose()?;
    let mut system = assembly.system;
    let solved = solve::solve(&system, attached.as_ref(), velocity, stiffness, params, progress)?;
    let pushed = solved.pushed.unwrap_or_else(unmoved);
    if let Some(attached) = &attached {
        attached.walls_of_dragged(&pushed).for_each(|(slot, wall)| system.drag[slot][1] = wall as f32);
    }
    store(&system, &solved.velocity, velocity);
    let info = Info {
        unknowns: system.unknowns(),
        iterations: solved.iterations,
        residual: solved.residual,
        converged: solved.residual <= params.tolerance,
        seconds: start.elapsed().as_secs_f64(),
    };
    Ok((info, pushed))
}

/// The largest viscosity, Pa·s; an error if a value is not a number that is accepted.
fn check(liquid: &ViscousLiquid, dt: f64) -> Result<f64, Error> {
    let h = liquid.transform.voxel_size();
    if !(dt > 0.0 && dt < f64::INFINITY) {
        return Err(Error::Step(dt));
    }
    if !(h > 0.0 && h < f64::INFINITY) {
        return Err(Error::VoxelSize(h));
    }
    let density = match liquid.density {
        Density::Uniform(rho) => Some(rho).filter(|&rho| !is_density(rho)),
        Density::PerCell(rho) => values(rho).find(|&rho| !is_density(rho)),
    };
    if let Some(rho) = density {
        return Err(Error::Density(rho));
    }
    let refused = match liquid.viscosity {
        Viscosity::Uniform(mu) => Some(mu).filter(|&mu| !is_viscosity(mu)),
        Viscosity::PerCell(mu) => values(mu).find(|&mu| !is_viscosity(mu)),
    };
    if let Some(mu) = refused {
        return Err(Error::Viscosity(mu));
    }
    Ok(match liquid.viscosity {
        Viscosity::Uniform(mu) => mu,
        Viscosity::PerCell(mu) => values(mu).fold(0.0, f64::max),
    })
}

fn is_viscosity(mu: f64) -> bool {
    (0.0..=MAX_VISCOSITY).contains(&mu)
}

fn is_density(rho: f64) -> bool {
    rho > 0.0 && rho < f64::INFINITY
}

/// The smallest density, kg/m³.
fn lightest(density: Density) -> f64 {
    match density {
        Density::Uniform(rho) => rho,
        Density::PerCell(rho) => values(rho).fold(f64::INFINITY, f64::min),
    }
}

fn values(grid: &Grid<f32>) -> impl Iterator<Item = f64> + '_ {
    grid.values.iter().chain([&grid.background]).map(|&v| f64::from(v))
}

/// Writes the solved faces, and those that a wall's drag alone moved.
fn store(system: &stencil::System, solved: &[f64], velocity: &mut FaceGrid<f32>) {
    let topology = velocity.topology.clone();
    for (axis, values) in velocity.values.iter_mut().enumerate() {
        values.par_chunks_mut(leaf::SIZE).zip(topology.origins()).for_each(|(values, &origin)| {
            let Some(l) = system.operator.topology.leaf_of(origin) else { return };
            let here = (3 * l + axis) * leaf::SIZE..(3 * l + axis + 1) * leaf::SIZE;
            for (n, slot) in here.enumerate() {
                if system.operator.inverse_diagonal[slot] > 0.0 {
                    values[n] = solved[slot] as f32;
                } else if let Some((keep, wall)) = system.dragged(slot) {
                    values[n] = (keep * f64::from(values[n]) + (1.0 - keep) * wall) as f32;
                }
            }
        });
    }
}
