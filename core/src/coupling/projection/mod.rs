//! The projection that every liquid coupling shares: flux → pressure → velocity.
//!
//! `flux` computes the net outflow of every region, `compatible` decides what takes the outflow that no velocity can
//! remove, `assemble` makes the pressure system, `first_guess` its initial guess, and `parting` finds where liquid
//! leaves a solid.

pub(super) mod assemble;
mod attached;
mod body_faces;
mod compatible;
mod constraints;
mod covered;
mod first_guess;
mod flux;
mod gauge;
mod kept_air;
mod lining;
mod parting;
mod passes;
mod skin_lining;
mod skinned;

use super::air::regions::{LABEL_SOLID, Regions, component_of};
use super::air::volumes::ClosedVolume;
use super::air::{chambers, gas};
use super::bodies::Moved;
use super::fields::LiquidFields;
use super::memory::BubbleMemory;
use crate::grid::{FaceGrid, Grid, Topology, leaf};
use crate::pressure::{self, Info, Params, PressureSolver, PressureSystem, Progress, Unknowns};
use crate::pressure::{pressures, update_velocity};
use assemble::AirUnknowns;
use attached::Attached;
use compatible::Leftover;
use flux::{Flux, Walls};
use glam::DVec3;
use kept_air::KeptAir;
pub(crate) use kept_air::share;
pub use kept_air::{AirRow, AirShare};
use passes::{Known, Solved};
use rayon::prelude::*;
use std::sync::Arc;

/// A region of air after the solve.
#[derive(Clone, Debug, PartialEq)]
pub struct Bubble {
    /// Its id for as long as it exists; [`OUTSIDE`](super::memory::OUTSIDE) when exterior.
    pub id: i32,
    /// Volume, m³; infinite when exterior.
    pub volume: f64,
    /// Its volume as the particles leave it, m³, before the surface was fitted.
    pub found_volume: f64,
    /// Volume it should have, m³; infinite when exterior.
    pub rest_volume: f64,
    /// Pressure λ, Pa, relative to the air of given pressure; in a closed volume, relative to its largest bubble.
    pub pressure: f64,
    /// Centre of volume in world space, m.
    pub centroid: DVec3,
    /// The solve kept its volume, by its own row or because the other rows imply it.
    pub constrained: bool,
    /// It reaches unbounded air.
    pub exterior: bool,
    /// Faces it shares with liquid.
    pub liquid_faces: usize,
    /// Area of the liquid surface that bounds it, m².
    pub liquid_area: f64,
}

/// The results of a projection besides the velocity.
#[derive(Clone, Debug)]
pub struct Projection {
    /// Pressure, Pa: of the liquid's cells, λ in the air's.
    pub pressure: Grid<f32>,
    /// The level set, m, fitted to the volumes of liquid and bubbles; `None` where it is unchanged.
    pub surface: Option<Grid<f32>>,
    /// Liquid volume that the fit took away, m³.
    pub taken: f64,
    /// Volume, m³, that the liquid's level set claims of what other liquids of the solve fill.
    pub overlap: f64,
    /// The air regions, in the order of their first cells.
    pub bubbles: Vec<Bubble>,
    /// Which of the bubbles is around each chamber's place; `None` in open air, liquid and solids.
    pub chambers: Vec<Option<usize>>,
    /// The cells of the regions, and what the next substep needs to recognise them.
    pub memory: BubbleMemory,
    /// What the bodies get back, in their order.
    pub bodies: Vec<Moved>,
    /// What joints and contacts of theirs did.
    pub constraints: ConstraintReport,
    /// Velocity of the solids on faces, m/s, with the bodies as the solve moved them; `None` without bodies.
    pub vel_solid: Option<FaceGrid<f32>>,
    /// Speed, m/s, at which liquid leaves the walls of its cells; 0 where it has not parted from them. `None` where
    /// parting is off.
    pub parted: Option<Grid<f32>>,
    /// What the solver reports.
    pub info: Info,
    /// Largest |D u + s − source| / h³ of a liquid cell after the update, 1/s.
    pub max_divergence: f64,
    /// Largest net outflow |B u + s_b| of a constrained bubble after the update, m³/s, beyond the outflow that returns
    /// it to its rest volume and the outflow that a closed volume's walls and sources force on it.
    pub max_bubble_flux: f64,
    /// Largest outflow that a closed volume's walls and sources prescribe to it, m³/s. No velocity can satisfy it, so
    /// its bubbles take it (or its liquid, where it has none).
    pub incompatible_flux: f64,
}

/// What the constraints of the bodies of a projection did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConstraintReport {
    /// Impulse of each, N s.
    pub impulses: Vec<f64>,
    /// Times that the pressure was solved for.
    pub passes: usize,
    /// Whether no contact pulls or is passed; where it is false, the passes were used up.
    pub settled: bool,
}

/// Why a projection gave no result; nothing was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The substep is not a positive time.
    #[error("pressure projection: a substep of {0} s")]
    Step(f64),
    /// The voxels have no size.
    #[error("pressure projection: a voxel size of {0} m")]
    VoxelSize(f64),
    /// A body's mass is no symmetric positive definite matrix of its degrees of freedom.
    #[error(
        "pressure projection: the mass of body {0} is not symmetric and positive definite, or of another size than its velocity"
    )]
    Mass(usize),
    /// A body is thinner than a voxel, so that the coupling would let liquid through it.
    #[error("pressure projection: body {0} is thinner than a voxel")]
    Thin(usize),
    /// A body is so much lighter than the liquid that the coupling would throw it.
    #[error("pressure projection: body {0} is more than a thousand times lighter than the liquid")]
    Light(usize),
    /// A body deforms, and the coupling moves rigid ones only.
    #[error("pressure projection: body {0} deforms")]
    Deforms(usize),
    /// A joint or contact is none.
    #[error(
        "pressure projection: constraint {0} speaks of a degree of freedom that is not there, or has a number that is not finite"
    )]
    Constraint(usize),
    /// A joint or contact speaks of a body that deforms.
    #[error("pressure projection: a constraint speaks of body {0}, which deforms")]
    SkinHeld(usize),
    /// The sparse mass of a body is not positive definite.
    #[error(
        "pressure projection: the mass of body {body} is not positive definite: see degree of freedom {row}"
    )]
    Indefinite {
        /// Which body.
        body: usize,
        /// A degree of freedom that shows it.
        row: usize,
    },
    /// The solver refused the system, or was cancelled.
    #[error(transparent)]
    Solve(#[from] pressure::Error),
}

/// How a coupling treats the air: which regions carry a volume constraint.
pub(crate) type Constrained = fn(&Regions) -> Vec<bool>;

/// Solver and its settings, borrowed for one projection.
pub(crate) struct Engine<'a> {
    pub(crate) solver: &'a mut dyn PressureSolver,
    pub(crate) params: &'a Params,
    pub(crate) progress: Progress<'a>,
}

/// Projects `vel` (m/s, after forces that acted for `dt` seconds) onto the constraints D u + s = 0 on the liquid's
/// cells and B u + s_b = 0 on the constrained air regions [Goldade and Batty 2017, Eq. 7]. A region with a volume error
/// gets the outflow that returns it to its rest volume instead of 0.
pub(crate) fn project(
    fields: &LiquidFields,
    constrained: Constrained,
    vel: &mut FaceGrid<f32>,
    dt: f64,
    engine: Engine,
) -> Result<Projection, Error> {
    let h = fields.voxel_size();
    for length in [dt, fields.drift] {
        if !(length > 0.0 && length < f64::INFINITY) {
            return Err(Error::Step(length));
        }
    }
    if !(h > 0.0 && h < f64::INFINITY) {
        return Err(Error::VoxelSize(h));
    }
    let regions = Regions::find(fields);
    let mut attached = Attached::find(fields, &regions, dt)?;
    let mut kept = KeptAir::find(fields, &regions, constrained, &attached)?;
    let surface = kept.fitted.as_ref().map_or(fields.surface, |f| &f.surface);
    let fields = &LiquidFields { surface, ..*fields };
    let topology = assemble::liquid_leaves(&regions);
    let known = Known { fields, regions: &regions, topology, kept: &kept, dt };
    let mut engine = engine;
    let (solved, held) = known.solve(&mut attached, vel, &mut engine)?;
    let Known { topology, .. } = known;
    let Solved { system, x, air, walls, parted, left, jumps, info, motions } = solved;

    let (moved, impulses) = attached.moved(&motions);
    let vel_solid = attached.end(fields, &moved);
    let fields = &LiquidFields { vel_solid: vel_solid.as_ref().unwrap_or(fields.vel_solid), ..*fields };
    let walls = if vel_solid.is_some() { Walls::new(fields, &regions) } else { walls };
    let values = pressures(&system, &x);
    include_leaves(vel, &topology);
    update_velocity(fields.open, &fields.closed_velocity(), h, &system, &values, jumps.as_ref(), vel);
    let mut after = flux::flux(fields, &regions, &walls, &topology, vel).less(&kept.grow);
    attached.enter_end(&topology, &moved, &mut after);
    let opening = parted.opening(&air, Some(&x));
    parted.enter(&opening, &mut after);
    gas::enter(&kept.springs, &mut kept.identities, |r| after.air[r] * fields.drift);
    let pressure_of = |r: usize| air[r].map_or(0.0, |b| x.supers[b as usize]);
    for (r, spring) in kept.springs.iter().enumerate() {
        after.air[r] -= spring.as_ref().map_or(0.0, |spring| spring.growth(pressure_of(r)));
    }
    let (max_divergence, max_bubble_flux) = remaining(&regions, &system, &kept.constrained, &after, &left, h);
    let forced = |v: &ClosedVolume| {
        let air: f64 = v.air.iter().map(|&r| left.air[r]).sum();
        (air + left.of_liquid(v)).abs()
    };
    Ok(Projection {
        pressure: pressure_grid(fields, &regions, &system, &values, &air, &x),
        bubbles: kept.bubbles(&regions, pressure_of),
        chambers: chambers::around(fields, &regions),
        parted: fields.parting.is_some().then(|| parted.speeds(&topology, &opening)),
        info,
        max_divergence,
        max_bubble_flux,
        incompatible_flux: kept.closed.iter().map(forced).fold(0.0, f64::max),
        memory: kept.identities.memory(regions),
        taken: kept.fitted.as_ref().map_or(0.0, |f| f.taken),
        overlap: 0.0,
        surface: kept.fitted.map(|f| f.surface),
        bodies: moved,
        constraints: ConstraintReport { impulses, ..held },
        vel_solid,
    })
}

/// Makes a velocity cover every face of a system.
fn include_leaves(vel: &mut FaceGrid<f32>, topology: &Topology) {
    if topology.origins().iter().any(|&o| vel.topology.leaf_of(o).is_none()) {
        *vel = vel.on(&Arc::new(vel.topology.union(topology)));
    }
}

/// Largest divergence of a cell, 1/s, and largest net outflow of a constrained bubble, m³/s.
fn remaining(
    regions: &Regions,
    system: &PressureSystem,
    constrained: &[bool],
    after: &Flux,
    left: &Leftover,
    h: f64,
) -> (f64, f64) {
    let nothing_left = left.is_none();
    let of_leaf = |(l, cells): (usize, &[f64])| {
        if nothing_left {
            // Outflows are 0 where no liquid is.
            return cells
                .iter()
                .fold(0.0, |most, outflow| if outflow.abs() > most { outflow.abs() } else { most });
        }
        let Some(labels) = regions.of_leaf(system.topology.origins()[l]) else { return 0.0 };
        let excess = |(n, outflow): (usize, &f64)| match labels[n] {
            k @ ..LABEL_SOLID => (outflow - left.of_cell(component_of(k), l * leaf::SIZE + n)).abs(),
            _ => 0.0,
        };
        cells.iter().enumerate().map(excess).fold(0.0, f64::max)
    };
    let cells = after.cells.par_chunks(leaf::SIZE).enumerate().map(of_leaf).reduce(|| 0.0, f64::max);
    let bubble = |r: usize| if constrained[r] { (after.air[r] - left.air[r]).abs() } else { 0.0 };
    (cells / (h * h * h), (0..after.air.len()).map(bubble).fold(0.0, f64::max))
}

/// The pressure on the surface's leaves, Pa: p in liquid, λ in air, 0 in solids.
fn pressure_grid(
    fields: &LiquidFields,
    regions: &Regions,
    system: &PressureSystem,
    pressures: &[f64],
    air: &AirUnknowns,
    x: &Unknowns,
) -> Grid<f32> {
    let mut grid = Grid::new(fields.surface.topology.clone(), 0f32);
    let topology = grid.topology.clone();
    grid.values.par_chunks_mut(leaf::SIZE).zip(topology.origins()).for_each(|(out, &origin)| {
        // On leaves of the system, the pressures of all cells are known.
        if let Some(l) = system.topology.leaf_of(origin) {
            let solved = &pressures[l * leaf::SIZE..];
            out.iter_mut().zip(solved).for_each(|(out, &p)| *out = p as f32);
            return;
        }
        let Some(labels) = regions.of_leaf(origin) else { return };
        for (out, &label) in out.iter_mut().zip(labels).filter(|(_, label)| **label > LABEL_SOLID) {
            *out = air[label as usize].map_or(0.0, |b| x.supers[b as usize]) as f32;
        }
    });
    grid
}
