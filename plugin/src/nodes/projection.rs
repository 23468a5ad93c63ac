//! The solve stage that every pressure coupling of a liquid shares: read fields, project, write fields.

use super::liquid_ports as ports;
use crate::exchange::{
    Exchange, Field, read_cavitation_pressure, read_domain, read_walls, write_bubble_memory, write_bubbles,
};
use meniscus_abi::guest::{Call, Failure, Outcome, SolveReport};
use meniscus_abi::{Access, Level, Owner, Param, Port, Sampling, Stage, Status};
use meniscus_core::coupling::{Density, Error, LiquidFields, Parting, Projection};
use meniscus_core::fluid::viscosity::{self, SplitError, Viscosity, Viscous, Walls, between_projections};
use meniscus_core::grid::{FaceGrid, Grid};
use meniscus_core::number::{roughly, written};
use meniscus_core::pressure::{self, Device, Iteration, Params, PressureSolver};
use std::ops::ControlFlow;

/// A coupling's projection.
pub type Project = fn(
    &LiquidFields,
    &mut FaceGrid<f32>,
    f64,
    &mut dyn PressureSolver,
    &Params,
    pressure::Progress,
) -> Result<Projection, Error>;

/// Number of ports a projection needs.
pub const PORT_COUNT: usize = 19;

/// The ports of a projection, in their order from the first one on.
pub const fn port_list(owner: Owner) -> [Port; PORT_COUNT] {
    const READ: Access = Access::READ;
    const WRITE: Access = Access::WRITE;
    const BOTH: Access = Access::READ_WRITE;
    [
        ports::surface(owner).required().on(Stage::SOLVE, BOTH),
        ports::vel_drift(owner).required().on(Stage::SOLVE, BOTH),
        ports::open(owner).required().on(Stage::SOLVE, READ),
        ports::vel_solid(owner).required().on(Stage::SOLVE, READ),
        ports::density(owner).on(Stage::SOLVE, READ),
        ports::divergence(owner).on(Stage::SOLVE, READ),
        ports::liquid(owner).required().on(Stage::SOLVE, READ),
        ports::domain(owner).required().on(Stage::SOLVE, READ),
        ports::pressure(owner).on(Stage::SOLVE, BOTH),
        ports::region(owner).on(Stage::SOLVE, BOTH),
        ports::bubbles(owner).on(Stage::SOLVE, WRITE),
        ports::swelling(owner).on(Stage::SOLVE, READ),
        ports::viscosity(owner).on(Stage::SOLVE, READ),
        ports::solid(owner).on(Stage::SOLVE, READ),
        ports::air(owner).on(Stage::SOLVE, BOTH),
        ports::tension(owner).on(Stage::SOLVE, READ),
        ports::spray(owner).on(Stage::SOLVE, READ),
        ports::parted(owner).on(Stage::SOLVE, BOTH),
        ports::inlet(owner).on(Stage::SOLVE, READ),
    ]
}

/// Where the ports of a projection stand in a node's list.
#[derive(Clone, Copy, Debug)]
pub struct Ports {
    /// Level set.
    pub surface: u32,
    /// Face velocity.
    pub vel: u32,
    /// Open fractions.
    pub open: u32,
    /// Velocity of solids.
    pub vel_solid: u32,
    /// Density per cell.
    pub density: u32,
    /// Wanted divergence.
    pub divergence: u32,
    /// Counters and books.
    pub liquid: u32,
    /// Limits of the domain.
    pub domain: u32,
    /// Pressure.
    pub pressure: u32,
    /// Regions.
    pub region: u32,
    /// Bubbles.
    pub bubbles: u32,
    /// Swelling of deforming solids.
    pub swelling: u32,
    /// Viscosity per cell.
    pub viscosity: u32,
    /// Level set of the solids.
    pub solid: u32,
    /// Identities of the bubbles.
    pub air: u32,
    /// Jump of pressure at the surface.
    pub tension: u32,
    /// Liquid outside the surface.
    pub spray: u32,
    /// Where the liquid has parted from solids.
    pub parted: u32,
    /// Faces that sources drive.
    pub inlet: u32,
}

impl Ports {
    /// [`port_list`] as it stands.
    pub const AS_LISTED: Self = Self {
        surface: 0,
        vel: 1,
        open: 2,
        vel_solid: 3,
        density: 4,
        divergence: 5,
        liquid: 6,
        domain: 7,
        pressure: 8,
        region: 9,
        bubbles: 10,
        swelling: 11,
        viscosity: 12,
        solid: 13,
        air: 14,
        tension: 15,
        spray: 16,
        parted: 17,
        inlet: 18,
    };
}

/// The solver's parameters, for a node's list.
pub const fn param_list() -> [Param; 2] {
    [
        Param::float(c"tolerance", c"Tolerance", 1e-5)
            .folder(c"Pressure Solve")
            .range(1e-10, 1e-2)
            .hard_min()
            .help(c"Residual at which the pressure solve stops, relative to the divergence it removes. Smaller keeps volumes better and takes longer.")
            .houdini(c"tolerance"),
        Param::int(c"max_iterations", c"Max Iterations", 1000)
            .folder(c"Pressure Solve")
            .range(1.0, 5000.0)
            .hard_min()
            .help(c"Iterations after which the pressure solve gives up and warns.")
            .houdini(c"maxiter"),
    ]
}

/// Caches of a projection.
#[derive(Default)]
pub struct Caches {
    solver: Option<Box<dyn PressureSolver>>,
    /// Somebody was told that a closed volume is full.
    told: bool,
}

/// Runs a projection; `first_param` is the place of [`param_list`] in the node's list, `volume_gain` the rate (1/s) at which
/// bubbles return to their rest volumes.
#[allow(clippy::too_many_arguments)]
pub fn solve(
    exchange: &mut Exchange,
    caches: &mut Caches,
    call: &mut Call,
    at: Ports,
    first_param: usize,
    volume_gain: f64,
    name: &str,
    project: Project,
) -> Result<Outcome, Failure> {
    let always = [at.surface, at.vel, at.open, at.vel_solid, at.density, at.divergence];
    let sometimes = [at.swelling, at.tension, at.spray, at.pressure, at.viscosity, at.parted, at.inlet];
    exchange.read_ahead(call, &[&always[..], &sometimes].concat());
    let (surface, transform) = exchange.required_grid(call, at.surface)?;
    let mut vel = exchange.required_faces(call, at.vel)?.0;
    let open = exchange.required_faces(call, at.open)?.0;
    let vel_solid = exchange.required_faces(call, at.vel_solid)?.0;
    let density = exchange.grid::<f32>(call, at.density, 0)?.map(|g| g.0);
    let source = exchange.grid::<f32>(call, at.divergence, 0)?.map(|g| g.0);
    let swelling = exchange.grid::<f32>(call, at.swelling, 0)?.map(|g| g.0);
    let tension = exchange.grid::<f32>(call, at.tension, 0)?.map(|g| g.0);
    let spray = exchange.grid::<f32>(call, at.spray, 0)?.map(|g| g.0);
    let previous = exchange.grid::<f32>(call, at.pressure, 0)?.map(|g| g.0);
    let parted = exchange.grid::<f32>(call, at.parted, 0)?.map(|g| g.0);
    let cavitation = read_cavitation_pressure(call, at.domain, 0);
    let driven = if cavitation.is_some() { exchange.faces(call, at.inlet, 0)?.map(|f| f.0) } else { None };
    let bubbles = exchange.bubble_memory(call, at.region, at.air)?;
    let domain = read_domain(call, at.domain, 0)?;
    let walls = read_walls(call, at.domain, 0);
    let per_cell_viscosity = exchange.grid::<f32>(call, at.viscosity, 0)?.map(|g| g.0);
    let solid = match per_cell_viscosity {
        Some(_) => Some(exchange.required_grid(call, at.solid)?.0),
        None => None,
    };
    let fields = LiquidFields {
        transform,
        domain,
        surface: &surface,
        open: &open,
        vel_solid: &vel_solid,
        swelling: swelling.as_ref(),
        density: match &density {
            Some(per_cell) => Density::PerCell(per_cell),
            None => Density::Uniform(uniform_density(call, at)?),
        },
        source: source.as_ref(),
        tension: tension.as_ref(),
        spray: spray.as_ref(),
        liquid_excess: liquid_excess(call, at),
        previous_pressure: previous.as_ref(),
        previous_bubbles: bubbles.as_ref(),
        drift: call.dt_next(),
        volume_gain,
        parting: cavitation.map(|cavitation| Parting {
            cavitation,
            previous: parted.as_ref(),
            driven: driven.as_ref(),
        }),
    };
    let params = Params {
        tolerance: call.number(first_param),
        max_iterations: call.int(first_param + 1).max(1) as usize,
    };
    let (dt, progress) = (call.dt_kick(), call.progress());
    let solver = caches.solver.get_or_insert_with(|| pressure::solver(device(call)));
    let go_on = |_: Iteration| match progress.cancelled(-1.0) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let mut projection = |fields: &LiquidFields, vel: &mut FaceGrid<f32>| {
        project(fields, vel, dt, solver.as_mut(), &params, &mut { go_on })
    };
    let solved = exchange.install(|| match (&per_cell_viscosity, &solid) {
        (Some(mu), Some(solid)) => {
            let viscous = viscous(solid, mu, walls);
            let go_on = &mut { go_on };
            let solved = between_projections(&fields, &viscous, &mut vel, dt, &mut projection, go_on);
            solved.map(|(projected, info)| (projected, Some(info)))
        }
        _ => Ok((projection(&fields, &mut vel)?, None)),
    });
    let (projected, viscous) = match solved {
        Ok(solved) => solved,
        Err(SplitError::Projection(Error::Solve(pressure::Error::Cancelled { .. }))) => {
            return Ok(Outcome::Cancelled);
        }
        Err(SplitError::Viscosity(viscosity::Error::Cancelled { .. })) => return Ok(Outcome::Cancelled),
        Err(error) => return Err(Failure::new(Status::FAILED, error.to_string())),
    };

    if let Some(notice) = caches.solver.as_mut().and_then(|solver| solver.notice()) {
        call.log(Level::INFO, &notice);
    }
    let mut fields =
        vec![Field::faces(at.vel, &vel), Field::grid(at.pressure, Sampling::CENTER, &projected.pressure)];
    let fitted = projected.surface.as_ref();
    fields.extend(fitted.map(|fitted| Field::grid(at.surface, Sampling::CENTER, fitted)));
    // One that was left by an earlier substep does not stay when liquid no longer parts.
    let none = parted.as_ref().map(|p| Grid::new(p.topology.clone(), 0.0));
    let parted = projected.parted.as_ref().or(none.as_ref());
    fields.extend(parted.map(|parted| Field::grid(at.parted, Sampling::CENTER, parted)));
    exchange.write_fields(call, &transform, &fields)?;
    exchange.write_grid(call, at.region, Sampling::CENTER, &projected.memory.cells, &transform)?;
    write_bubble_memory(call, at.air, &projected.memory, projected.taken)?;
    write_bubbles(call, at.bubbles, &projected.bubbles)?;
    let kept = exchange.kept();
    if projected.surface.is_none() {
        kept.give_back(at.surface, [surface.values]);
    }
    kept.give_back(at.open, open.values);
    kept.give_back(at.vel_solid, vel_solid.values);
    report(call, name, &projected);
    let pressed = swelling.map_or(0.0, |made| pressed_in(&made, transform.voxel_size()));
    if pressed > 0.0 && projected.incompatible_flux > PRESSED * pressed && !caches.told {
        caches.told = true;
        call.log(Level::WARNING, &no_room(projected.incompatible_flux));
    }
    if let Some(info) = &viscous {
        report_viscosity(call, info);
    }
    Ok(match unconverged(&projected.info, viscous.as_ref(), &params) {
        None => Outcome::Done,
        Some(reached) => Outcome::NotConverged(reached),
    })
}

/// What was reached by the first solve that stopped short of its tolerance, in a sentence.
fn unconverged(info: &pressure::Info, viscous: Option<&viscosity::Info>, params: &Params) -> Option<String> {
    let of_viscosity = viscosity::Params::default();
    let short = |what: &str, iterations: usize, residual: f64, tolerance: f64| {
        let iterations =
            if iterations == 1 { "1 iteration".into() } else { format!("{iterations} iterations") };
        format!(
            "after {iterations} the residual of the {what} is {}, not {}",
            roughly(residual),
            written(tolerance)
        )
    };
    if !info.converged {
        let (iterations, residual) = (info.iterations, info.residual);
        let told = short("pressure", iterations, residual, params.tolerance);
        return Some(format!("{told}; raise max_iterations, or look at what the graph asks of the liquid"));
    }
    let info = viscous.filter(|info| !info.converged)?;
    Some(short("viscosity", info.iterations, info.residual, of_viscosity.tolerance))
}

/// Share of what sources and swelling solids make from which a closed volume that cannot take it is worth a word.
const PRESSED: f64 = 0.5;

/// What sources and swelling solids make, m³/s.
fn pressed_in(made: &Grid<f32>, h: f64) -> f64 {
    made.values.iter().map(|&rate| f64::from(rate.max(0.0))).sum::<f64>() * h.powi(3)
}

fn no_room(flux: f64) -> String {
    format!(
        "{:.3} L/s are pressed into a closed volume that has no room for them; open a side of it, leave it more air, or close the source",
        1e3 * flux
    )
}

/// Where the user wants the work to be done.
pub fn device(call: &Call) -> Device {
    match call.device() {
        "cpu" => Device::Cpu,
        "cuda" => Device::Cuda,
        _ => Device::Auto,
    }
}

fn uniform_density(call: &Call, at: Ports) -> Result<f64, Failure> {
    let density = call.table(at.liquid, 0).and_then(|t| t.first::<f64>("density"));
    match density.filter(|d| d.is_finite() && *d >= 0.0) {
        // Without particles there is no density, and no pressure that would depend on it.
        Some(d) => Ok(if d > 0.0 { d } else { 1000.0 }),
        None => Err(Failure::input(at.liquid, "the table `liquid` lacks a density")),
    }
}

/// What the liquid has beyond its rest volume, m³; 0 where nobody keeps books.
fn liquid_excess(call: &Call, at: Ports) -> f64 {
    let number = |name| call.table(at.liquid, 0).and_then(|t| t.first::<f64>(name));
    let excess = number("excess").zip(number("rest_volume")).map(|(excess, rest)| excess * rest);
    excess.filter(|e| e.is_finite()).unwrap_or(0.0)
}

fn viscous<'a>(solid: &'a Grid<f32>, viscosity: &'a Grid<f32>, walls: Walls) -> Viscous<'a> {
    let params = viscosity::Params::default();
    Viscous { solid, viscosity: Viscosity::PerCell(viscosity), walls, params }
}

fn report_viscosity(call: &Call, info: &viscosity::Info) {
    call.solved(&SolveReport {
        name: "viscosity",
        device: "cpu",
        unknowns: info.unknowns as u64,
        iterations: info.iterations as u32,
        residual: info.residual,
        seconds: info.seconds,
    });
}

fn report(call: &Call, name: &str, projected: &Projection) {
    let info = &projected.info;
    call.solved(&SolveReport {
        name,
        device: info.device,
        unknowns: info.unknowns as u64,
        iterations: info.iterations as u32,
        residual: info.residual,
        seconds: info.setup_seconds + info.solve_seconds,
    });
    call.measure("max_divergence", &[projected.max_divergence]);
}
