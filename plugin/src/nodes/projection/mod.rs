//! The solve stage that every pressure coupling of a liquid shares: read fields, project, write fields.

mod air_share;
pub mod alike;
mod contributed;
mod inputs;
mod optional_ports;
mod refusals;
mod report;
mod together;

use crate::exchange::{BodyPorts, BodyShares, Exchange, Field, write_bubble_memory, write_bubbles};
use contributed::Contributed;
pub use contributed::ContributedPorts;
use inputs::Inputs;
use meniscus_abi::guest::{Call, Failure, Outcome};
use meniscus_abi::{Level, Param, Sampling, param_places, port_places};
use meniscus_core::coupling::{self, Error, Gas, LiquidFields, Projection};
use meniscus_core::device::Device;
use meniscus_core::grid::{FaceGrid, Grid};
use meniscus_core::pressure::{self, Iteration, Params, PressureSolver};
pub use optional_ports::OptionalPorts;
use std::ops::ControlFlow;
use together::Solved;

port_places! {
    /// What a projection reads and writes beside [`OptionalPorts`]: a liquid solver's ports of the solve stage.
    pub struct SolvePorts {
        surface, vel_drift, open, vel_solid, density, liquid, domain, pressure, region, bubbles, viscosity, solid, air,
        parted, owner, owners, others, open_volume, room,
    }
}

param_places! {
    /// Where a node's [`TOLERANCE`] and [`MAX_ITERATIONS`] stand.
    pub struct SolveParams { tolerance, max_iterations }
}

/// When the pressure solve stops.
pub const TOLERANCE: Param = Param::float(c"tolerance", c"Tolerance", 1e-5)
    .folder(c"Pressure Solve")
    .range(1e-10, 1e-2)
    .hard_min()
    .help(c"Residual at which the pressure solve stops, relative to the divergence it removes. Smaller keeps volumes better and takes longer.")
    .houdini(c"tolerance");

/// When the pressure solve gives up.
pub const MAX_ITERATIONS: Param = Param::int(c"max_iterations", c"Max Iterations", 1000)
    .folder(c"Pressure Solve")
    .range(1.0, 5000.0)
    .hard_min()
    .help(c"Iterations after which the pressure solve gives up and warns.")
    .houdini(c"maxiter");

/// A coupling's projection in the core.
pub type Project = fn(
    &LiquidFields,
    &mut FaceGrid<f32>,
    f64,
    &mut dyn PressureSolver,
    &Params,
    pressure::Progress,
) -> Result<Projection, Error>;

/// A projection as a node runs it.
pub struct Solve {
    /// Of the node.
    pub ports: SolvePorts,
    /// Of the node.
    pub optional: OptionalPorts,
    /// Of the node.
    pub params: SolveParams,
    /// Where bodies take part.
    pub bodies: Option<BodyPorts>,
    /// Where jumps, shut faces and chambers take part.
    pub contributed: Option<ContributedPorts>,
    /// For stats.jsonl.
    pub name: &'static str,
    /// What it runs.
    pub project: Project,
}

/// Rate at which air that is kept returns to its rest volume where nobody sets it, 1/s.
pub const VOLUME_GAIN: f64 = 24.0;

/// How the air behaves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Air {
    /// Rate at which bubbles return to their rest volumes, 1/s.
    pub volume_gain: f64,
    /// How it yields to pressure; `None`: it does not.
    pub gas: Option<Gas>,
}

/// Caches of a projection.
#[derive(Default)]
pub struct Caches {
    solver: Option<Box<dyn PressureSolver>>,
    /// Somebody was told that a closed volume is full.
    told_full: bool,
    /// And that liquids are in one place.
    told_overlap: bool,
}

impl Solve {
    /// Runs it.
    pub fn run(
        &self,
        exchange: &mut Exchange,
        caches: &mut Caches,
        call: &mut Call,
        air: Air,
    ) -> Result<Outcome, Failure> {
        let at = self.ports;
        alike::check(call, at)?;
        let (liquids, mut vel) = Inputs::read_all(exchange, call, at, self.optional)?;
        let lattice = liquids.first().map(|liquid| liquid.transform);
        let contributed = self
            .contributed
            .map(|ports| Contributed::read(exchange, call, ports, lattice))
            .transpose()?
            .unwrap_or_default();
        let shares = self.bodies.map(|ports| BodyShares::read(call, ports)).transpose()?.unwrap_or_default();
        alike::check_bodies(call, at, &liquids, &shares)?;
        let pieces: Vec<_> = liquids.iter().map(|liquid| liquid.pieces(&shares)).collect();
        let each =
            liquids.iter().zip(&pieces).map(|(l, pieces)| l.fields(air, &shares, pieces, &contributed));
        let each: Vec<_> = each.collect();
        let lids: Vec<_> = exchange.install(|| each.iter().map(|fields| contributed.lids(fields)).collect());
        let under = each.iter().zip(&lids);
        let each: Vec<_> =
            under.map(|(fields, lids)| lids.as_ref().map_or(*fields, |lids| lids.over(*fields))).collect();
        let params = Params {
            tolerance: call.number(self.params.tolerance),
            max_iterations: call.int(self.params.max_iterations).max(1) as usize,
        };
        let (dt, progress) = (call.dt_kick(), call.progress());
        let solver = caches.solver.get_or_insert_with(|| pressure::solver(device(call)));
        let go_on = |_: Iteration| match progress.cancelled(-1.0) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let mut projection = |fields: &LiquidFields, vel: &mut FaceGrid<f32>| {
            (self.project)(fields, vel, dt, solver.as_mut(), &params, &mut { go_on })
        };
        let solved =
            exchange.install(|| together::solve(&liquids, &each, &mut vel, dt, &mut projection, go_on));
        let Solved { of_all, mut vel_of_all, of_each, viscous } = match solved {
            Ok(Some(solved)) => solved,
            Ok(None) => return Ok(Outcome::Done),
            Err(error) => {
                return refusals::end(&error, &shares.names, self.bodies.map(|ports| ports.dynamics));
            }
        };

        if let Some(notice) = caches.solver.as_mut().and_then(|solver| solver.notice()) {
            call.log(Level::INFO, &notice);
        }
        if let Some(shut) = &contributed.shut {
            vel.iter_mut().chain(&mut vel_of_all).for_each(|vel| coupling::passed(vel, shut));
        }
        for (n, liquid) in liquids.iter().enumerate() {
            write(exchange, call, at, liquid, &vel[n], of_each.get(n).map_or(&of_all, |(part, _)| part))?;
            if let Some((_, others)) = of_each.get(n) {
                let others = Field::grid(at.others, Sampling::CENTER, others).of_item(liquid.item);
                exchange.write_fields(call, &liquid.transform, &[others])?;
            }
        }
        if let Some(ports) = self.bodies {
            shares.write(call, ports, (&of_all.bodies, &of_all.constraints.impulses))?;
        }
        if let (Some(ports), Some(lattice), [first, ..]) = (self.contributed, lattice, &vel[..]) {
            let solved = (&of_all, vel_of_all.as_ref().unwrap_or(first), &lattice);
            contributed.write(exchange, call, ports, solved)?;
        }
        report::pressure(call, self.name, &of_all);
        if !shares.constraints.is_empty() {
            report::constraints(call, &of_all.constraints);
        }
        if let Some(info) = &viscous {
            report::viscosity(call, info);
        }
        let made = liquids.iter().filter_map(|l| l.cells.swelling.as_ref());
        let full = liquids.first().and_then(|first| report::no_room(made, &first.transform, &of_all));
        if let Some(sentence) = full.filter(|_| !caches.told_full) {
            caches.told_full = true;
            call.log(Level::WARNING, &sentence);
        }
        let overlaps = liquids.iter().zip(&of_each).find_map(|(liquid, (part, _))| {
            let name = call.item_name(at.surface, liquid.item);
            report::in_one_place(name, part.overlap, liquid.rest_volume)
        });
        if let Some(sentence) = overlaps.filter(|_| !caches.told_overlap) {
            caches.told_overlap = true;
            call.log(Level::WARNING, &sentence);
        }
        if let Ok([liquid]) = <[Inputs; 1]>::try_from(liquids) {
            liquid.give_back(exchange, at, &of_all);
        }
        Ok(match report::unconverged(&of_all.info, viscous.as_ref(), &params) {
            None => Outcome::Done,
            Some(reached) => Outcome::NotConverged(reached),
        })
    }
}

/// Writes what a projection made of a liquid, and what the next one is to know.
fn write(
    exchange: &mut Exchange,
    call: &mut Call,
    at: SolvePorts,
    liquid: &Inputs,
    vel: &FaceGrid<f32>,
    projected: &Projection,
) -> Result<(), Failure> {
    let item = liquid.item;
    let center = |port, grid| Field::grid(port, Sampling::CENTER, grid).of_item(item);
    let mut fields =
        vec![Field::faces(at.vel_drift, vel).of_item(item), center(at.pressure, &projected.pressure)];
    fields.extend(projected.surface.as_ref().map(|fitted| center(at.surface, fitted)));
    // One that was left by an earlier substep does not stay when liquid no longer parts.
    let none = liquid.parted.as_ref().map(|p| Grid::new(p.topology.clone(), 0.0));
    let parted = projected.parted.as_ref().or(none.as_ref());
    fields.extend(parted.map(|parted| center(at.parted, parted)));
    fields.extend(projected.vel_solid.as_ref().map(|walls| Field::faces(at.vel_solid, walls).of_item(item)));
    exchange.write_fields(call, &liquid.transform, &fields)?;
    let memory = Field::grid(at.region, Sampling::CENTER, &projected.memory.cells).of_item(item);
    exchange.write_fields(call, &liquid.transform, &[memory])?;
    write_bubble_memory(call, at.air, item, &projected.memory, [projected.taken, projected.overlap])?;
    write_bubbles(call, at.bubbles, item, &projected.bubbles)
}

/// Where the user wants the work to be done.
pub fn device(call: &Call) -> Device {
    match call.device() {
        "cpu" => Device::Cpu,
        "cuda" => Device::Cuda,
        _ => Device::Auto,
    }
}
