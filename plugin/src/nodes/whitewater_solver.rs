//! The whitewater solver: spray, foam and bubbles, made by the liquids that are wired in.

use super::{collider_ports as colliders, liquid_ports as liquid, whitewater_ports as ports};
use crate::exchange::{ColliderPorts, Exchange, LiquidPorts, WhitewaterPorts, whitewater};
use meniscus_abi::guest::{Call, Failure, Node as Instance, Outcome};
use meniscus_abi::{Access, Level, Node, NodeKind, Owner, Param, Port, Stage, param, port};
use meniscus_core::fluid::whitewater::{Birth, Drift, Potentials, Whitewater, bear, drift, kick};
use meniscus_core::solid::{DomainLimits, Solids};

const READ: Access = Access::READ;
const AFFECTOR: Owner = Owner::AFFECTOR;
const PORTS: &[Port] = &[
    ports::whitewater(Owner::OBJECT).required().on(Stage::PREDICT, Access::READ_WRITE),
    ports::counters(Owner::OBJECT).required().on(Stage::PREDICT, Access::READ_WRITE),
    liquid::particles(AFFECTOR).on(Stage::PREDICT, READ),
    liquid::surface(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    liquid::vel_drift(AFFECTOR).on(Stage::PREDICT, READ),
    liquid::domain(AFFECTOR).on(Stage::PREDICT, READ),
    colliders::collision(AFFECTOR).on(Stage::PREDICT, READ),
    colliders::collision_vel(AFFECTOR).on(Stage::PREDICT, READ),
    colliders::collision_vel_next(AFFECTOR).on(Stage::PREDICT, READ),
    colliders::motion(AFFECTOR).on(Stage::PREDICT, READ),
    super::body_ports::dynamics(AFFECTOR).on(Stage::PREDICT, READ),
];
const AT: WhitewaterPorts = WhitewaterPorts::of(PORTS);
const LIQUIDS: LiquidPorts = LiquidPorts::of(PORTS);
const COLLIDERS: ColliderPorts = ColliderPorts::of(PORTS);

const PARAMS: &[Param] = &[
    Param::float(c"trapping", c"From Trapped Air", 60.0)
        .folder(c"Emission")
        .unit(c"1/s")
        .range(0.0, 1000.0)
        .hard_min()
        .help(c"Particles that each particle of the liquid makes per second where liquid runs into liquid and traps air, as under a waterfall. Higher: more foam and bubbles there."),
    Param::float(c"crests", c"From Crests", 60.0)
        .folder(c"Emission")
        .unit(c"1/s")
        .range(0.0, 1000.0)
        .hard_min()
        .help(c"Particles that each particle of the liquid makes per second at sharp crests that move outwards, as where waves break. Higher: more spray along edges and waves."),
    Param::float(c"drops", c"From Drops", 10.0)
        .folder(c"Emission")
        .unit(c"1/s")
        .range(0.0, 1000.0)
        .hard_min()
        .help(c"Particles that each particle of the liquid makes per second while it flies by itself, outside of the surface. Higher: splashes are wrapped in finer spray."),
    Param::float(c"min_speed", c"Least Speed", 0.8)
        .folder(c"Emission")
        .unit(c"m/s")
        .range(0.0, 20.0)
        .hard_min()
        .help(c"Liquid slower than this makes no whitewater. Higher: calm water stays clear, and only the fastest foams."),
    Param::float(c"full_speed", c"Full Speed", 3.0)
        .folder(c"Emission")
        .unit(c"m/s")
        .range(0.0, 40.0)
        .hard_min()
        .help(c"Liquid at this speed or faster makes whitewater in full; in between, by its energy. Higher: less whitewater."),
    Param::float(c"min_impact", c"Least Impact", 0.15)
        .folder(c"Emission")
        .unit(c"m/s")
        .range(0.0, 5.0)
        .hard_min()
        .help(c"Speed at which liquid must run into the liquid around it to trap air. Higher: only harder impacts make foam.")
        .disable_when(c"{ trapping == 0 }"),
    Param::float(c"full_impact", c"Full Impact", 0.8)
        .folder(c"Emission")
        .unit(c"m/s")
        .range(0.0, 10.0)
        .hard_min()
        .help(c"Impacts at this speed or faster trap air in full. Higher: less foam.")
        .disable_when(c"{ trapping == 0 }"),
    Param::float(c"crest_radius", c"Crest Radius", 3.0)
        .folder(c"Emission")
        .unit(c"voxels")
        .range(1.0, 10.0)
        .hard_min()
        .help(c"Crests rounder than this radius make no spray; half of it makes spray in full. Higher: gentler waves make spray, too.")
        .disable_when(c"{ crests == 0 }"),
    Param::int(c"max_particles", c"Most Particles", 5_000_000)
        .folder(c"Emission")
        .range(1.0, 100_000_000.0)
        .hard_min()
        .hard_max()
        .help(c"There are never more particles than this. When it is reached, new ones are born only as others vanish; the cook tells."),
    Param::int(c"seed", c"Seed", 0)
        .folder(c"Emission")
        .range(0.0, 100.0)
        .hard_min()
        .not_animated()
        .help(c"Another number gives other random particles."),
    Param::float(c"lifespan", c"Life Expectancy", 2.0)
        .folder(c"Life")
        .unit(c"s")
        .range(0.01, 60.0)
        .hard_min()
        .help(c"Age at which spray and foam vanish: half of it to one and a half times. Bubbles last until they reach the surface. Higher: foam covers more of the water."),
    Param::float(c"air_drag", c"Air Drag", 0.5)
        .folder(c"Motion")
        .unit(c"1/s")
        .range(0.0, 20.0)
        .hard_min()
        .help(c"Share of its velocity that spray loses to the air per second. Higher: spray hangs in the air like mist."),
    Param::float(c"rise_speed", c"Rise Speed", 0.25)
        .folder(c"Motion")
        .unit(c"m/s")
        .range(0.0, 2.0)
        .hard_min()
        .help(c"Speed at which bubbles rise through still water: 0.25 is that of bubbles of some millimetres. Higher: they come up sooner. 0: they go with the water. Without a gravity wired in they do not rise."),
    Param::float(c"radius", c"Particle Radius", 0.0)
        .folder(c"Look")
        .unit(c"m")
        .range(0.0, 0.1)
        .hard_min()
        .help(c"Radius of a particle in the caches, attribute pscale; each has between a half and one and a half of it. 0: a twelfth of the liquid's voxel size. Higher: a coarser look. Nothing else changes."),
];

/// The descriptor.
pub const NODE: Node = Node::new(NodeKind::SOLVER, c"meniscus.whitewater_solver", c"Whitewater Solver")
    .help(c"Makes spray, foam and bubbles where a liquid is rough. Wire in one whitewater object, the liquid objects that make it, the solids it collides with, and a gravity, without which spray flies straight on. It acts after the liquids' own solvers and changes nothing of the liquid.")
    .medium(c"whitewater")
    .houdini(c"whitewatersolver")
    .cites(c"Ihmsen2012 Lamb1932")
    .rank(Node::RANK_WHITEWATER)
    .stages(&[Stage::INIT, Stage::PREDICT])
    .inputs(&[NodeKind::OBJECT, NodeKind::FORCE], 1, 0)
    .ports(PORTS)
    .params(PARAMS);

/// An instance.
#[derive(Default)]
pub struct WhitewaterSolver {
    exchange: Exchange,
    told: bool,
}

impl Instance for WhitewaterSolver {
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        if call.stage() == Stage::INIT {
            return find_liquid(call);
        }
        self.exchange.begin(call)?;
        let (mut held, kicks) = whitewater::read(call, AT)?;
        let affectors = self.exchange.liquids_around(call, LIQUIDS)?;
        let domain = affectors.domain.unwrap_or_else(DomainLimits::unbounded);
        let [colliders, _] = self.exchange.colliders(call, COLLIDERS, port!(PORTS, dynamics), None)?;
        let particles = affectors.particles(call, LIQUIDS)?;
        let liquids = affectors.seen(&particles);
        let Some(voxel) = liquids.iter().map(|l| l.transform.voxel_size()).reduce(f64::min) else {
            // It is there as long as a liquid is.
            whitewater::write(call, AT, &Whitewater { next_id: held.next_id, ..Default::default() }, 0.0)?;
            return Ok(Outcome::Done);
        };
        let (birth, by) = (birth(call), motion(call));
        let (dt, dt_kick, next) = (call.dt(), call.dt_kick(), call.dt_next());
        let share = self.exchange.install(|| {
            drift(&mut held, &Solids { colliders: &colliders, domain: &domain }, voxel, dt);
            let share = bear(&mut held, &liquids, &birth, dt);
            kick(&mut held, &liquids, &kicks, &by, dt_kick, next);
            share
        });
        if share < 1.0 && !std::mem::replace(&mut self.told, true) {
            let sentence = format!(
                "max_particles: the water makes more whitewater than the {} particles that are allowed; raise it, or lower the rates",
                birth.most
            );
            call.log(Level::WARNING, &sentence);
        }
        let [spray, foam, bubbles] = held.counts().map(|n| n as f64);
        call.measure("spray_particles", &[spray]);
        call.measure("foam_particles", &[foam]);
        call.measure("bubble_particles", &[bubbles]);
        let radius = match call.number(param!(PARAMS, radius)) {
            0.0 => voxel / 12.0,
            given => given,
        };
        whitewater::write(call, AT, &held, radius)?;
        Ok(Outcome::Done)
    }

    fn drop_caches(&mut self) {
        *self = Self { told: self.told, ..Self::default() };
    }
}

/// Refuses to begin without a liquid; one that only begins later is told of.
fn find_liquid(call: &Call) -> Result<Outcome, Failure> {
    let has_liquid = (0..call.items(LIQUIDS.surface)).any(|item| call.grid(LIQUIDS.surface, item).is_some());
    if call.items(LIQUIDS.surface) == 0 {
        return Err(Failure::input(LIQUIDS.surface, NO_LIQUID));
    }
    if !has_liquid {
        call.log(Level::WARNING, &format!("{NO_LIQUID}, unless it only begins later"));
    }
    Ok(Outcome::Done)
}

const NO_LIQUID: &str = "no liquid is wired in: wire in the liquid object that makes the whitewater";

/// How particles are born, from the parameters.
fn birth(call: &Call) -> Birth {
    let number = |param: usize| call.number(param) as f32;
    let potentials = Potentials {
        speed: [number(param!(PARAMS, min_speed)), number(param!(PARAMS, full_speed))],
        trapping: [number(param!(PARAMS, min_impact)), number(param!(PARAMS, full_impact))],
        crest: [1.0, 2.0].map(|share| share / number(param!(PARAMS, crest_radius))),
        rates: [
            number(param!(PARAMS, trapping)),
            number(param!(PARAMS, crests)),
            number(param!(PARAMS, drops)),
        ],
    };
    Birth {
        potentials,
        lifespan: number(param!(PARAMS, lifespan)),
        seed: call.int(param!(PARAMS, seed)) as u64,
        most: call.int(param!(PARAMS, max_particles)) as usize,
    }
}

/// How they move, from the parameters.
fn motion(call: &Call) -> Drift {
    Drift {
        air_drag: call.number(param!(PARAMS, air_drag)) as f32,
        rise_speed: call.number(param!(PARAMS, rise_speed)) as f32,
    }
}
