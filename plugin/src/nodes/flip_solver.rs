//! FLIP: particles carry the liquid, a grid makes it incompressible.

use super::drive::Drive;
use super::flip_params::{PARAMS, cavitation_pressure, domain_limits, flip_params, surface_tension, walls};
use super::flip_step::{COLLIDERS, LongestStep};
use super::flip_totals::{Totals, potential_energy};
use super::flip_warnings::{Told, check_loss, check_viscosity, least};
use super::liquid_ports::PORTS;
use super::projection::{self, Air, Caches, OptionalPorts, Solve, SolveParams, SolvePorts};
use crate::exchange::{
    Beside, Exchange, Field, InletPorts, LiquidState, OwnerPorts, StatePorts, SubstepPorts, shared_density,
    write_domain, write_table,
};
use glam::{DVec3, Vec3};
use meniscus_abi::guest::{Call, Failure, Node as Instance, Outcome};
use meniscus_abi::{Level, Node, NodeKind, Stage, Status, flags, port};
use meniscus_core::coupling::free_surface;
use meniscus_core::fluid::flip;
use meniscus_core::fluid::liquid::Liquid;
use meniscus_core::fluid::params::FlipParams;
use meniscus_core::fluid::population::sources;
use meniscus_core::fluid::population::thinning::Shares;
use meniscus_core::fluid::step::Step;
use meniscus_core::fluid::transport::device::{DeviceError, DeviceMover, Interruptible, Stopped};
use meniscus_core::fluid::transport::travel;
use meniscus_core::fluid::{Particles, Selection, greatest_speed};
use meniscus_core::interrupt::Interrupt;
use meniscus_core::scan;
use meniscus_core::solid::{Collider, SolidMemory, Solids};
use rayon::prelude::*;

const STATE: StatePorts = StatePorts::of(PORTS);
const SUBSTEP: SubstepPorts = SubstepPorts::of(PORTS);
const INLET: InletPorts = InletPorts::of(PORTS);
const OWNERS: OwnerPorts = OwnerPorts::of(PORTS);
const AIR_PARTICLES: u32 = port!(PORTS, air_particles);
const FORCES: u32 = port!(PORTS, forces);
const SOLVE: Solve = Solve {
    ports: SolvePorts::of(PORTS),
    optional: OptionalPorts::of(PORTS),
    params: SolveParams::of(PARAMS),
    bodies: None,
    contributed: None,
    name: "free_surface",
    project: free_surface::project,
};

/// The descriptor.
pub const NODE: Node = Node::new(NodeKind::SOLVER, c"meniscus.flip_solver", c"FLIP Solver")
    .help(c"Simulates a liquid. Wire in one liquid object, the solids it collides with, and forces, in the order in which they act, sources first. By itself it solves a free surface: all air has the same pressure. Wire it into a coupling to solve the pressure together with something else, such as trapped air or another liquid: without one, two liquids pass through each other.")
    .medium(c"liquid")
    .houdini(c"flipsolver")
    .cites(c"ZhuBridson2005 Jiang2015 Batty2007 Gibou2002 Kim2007 BattyBridson2008 HongKim2005 Sussman2003 Kugelstadt2021 Enright2003 Hong2008")
    .stages(&[Stage::INIT, Stage::PREDICT, Stage::SOLVE, Stage::CORRECT])
    .inputs(&[NodeKind::OBJECT, NodeKind::FORCE], 1, 0)
    .flags(flags::ACCEPTS_SOURCES)
    .ports(PORTS)
    .params(PARAMS);

/// An instance.
#[derive(Default)]
pub struct FlipSolver {
    exchange: Exchange,
    memory: SolidMemory,
    caches: Caches,
    mover: Option<DeviceMover>,
    told: Told,
}

impl Instance for FlipSolver {
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        self.exchange.begin(call)?;
        match call.stage() {
            Stage::INIT => self.init(call),
            Stage::PREDICT => self.predict(call),
            Stage::SOLVE => {
                // Without a coupling, no bubble has a volume to return to.
                SOLVE.run(&mut self.exchange, &mut self.caches, call, Air::default())
            }
            Stage::CORRECT => self.correct(call),
            _ => Err(Failure::new(Status::BAD_ARGUMENT, "the FLIP solver has no such stage")),
        }
    }

    fn suggest_dt(&mut self, call: &mut Call) -> Result<Option<f64>, Failure> {
        let Some(view) = call.geometry(STATE.particles, 0) else { return Ok(None) };
        let Some(voxel) = call.table(STATE.liquid, 0).and_then(|t| t.first::<f64>("voxel_size")) else {
            return Ok(None);
        };
        self.exchange.begin(call)?;
        let drive = Drive::read(call, FORCES);
        let density = least(view.points::<f32, 1>("density").unwrap_or_default().iter().map(|&[d]| d));
        let step = LongestStep { voxel, drive, tension: surface_tension(call), density };
        Ok(Some(step.find(&mut self.exchange, call, &view)?))
    }

    fn drop_caches(&mut self) {
        *self = Self::default();
    }
}

impl FlipSolver {
    /// Places the liquid among the solids: the first frame is the state from which the first substep starts.
    fn init(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        let mut held = self.exchange.liquid(call, STATE)?;
        let params = flip_params(call, held.particle_separation)?;
        let domain = domain_limits(call)?;
        let lattice = Some(&held.liquid.transform);
        let [colliders, _] = self.exchange.colliders(call, COLLIDERS, port!(PORTS, dynamics), lattice)?;
        let [as_made, _] = self.exchange.colliders(call, COLLIDERS, port!(PORTS, dynamics), None)?;
        let solids = Solids { colliders: &colliders, domain: &domain };
        let LiquidState { liquid, followers, .. } = &mut held;
        let (memory, filled) = (&mut self.memory, !liquid.particles.is_empty());
        let (selection, density) = self.exchange.install(|| {
            let selection = meet_solids(liquid, &as_made, &solids, &params, memory);
            (selection, shared_density(&liquid.particles))
        });
        if filled && liquid.particles.is_empty() {
            let sentence =
                "all of the liquid lies in solids, or outside of the box of limit_center and limit_size";
            return Err(Failure::input(STATE.particles, sentence));
        }
        self.exchange.install(|| followers.follow(&selection));
        let now = vec![Field::faces(port!(PORTS, vel), &held.liquid.velocity)];
        self.exchange.write_liquid(call, STATE, &held, density, now)?;
        write_domain(call, SUBSTEP.domain, &domain, walls(call), cavitation_pressure(call))?;
        self.exchange.write_air_particles(call, AIR_PARTICLES, &held.liquid.air)?;
        self.exchange.kept().keep_particles(held.liquid.particles);
        Ok(Outcome::Done)
    }

    fn predict(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        let mut held = self.exchange.liquid(call, STATE)?;
        let mut params = flip_params(call, held.particle_separation)?;
        params.tension = self.told.bearable_tension(call, &held.liquid);
        self.exchange.read_ahead(call, &[STATE.vel_drift]);
        held.liquid.velocity = self.exchange.required_faces(call, STATE.vel_drift)?.0;
        self.exchange.thinned_surface(call, STATE.surface, &mut held.liquid)?;
        let domain = domain_limits(call)?;
        let lattice = Some(&held.liquid.transform);
        let colliders = self.exchange.colliders(call, COLLIDERS, port!(PORTS, dynamics), lattice)?;
        let [solids, coming] = colliders.each_ref().map(|colliders| Solids { colliders, domain: &domain });
        held.liquid.inlet = self.exchange.inlet(call, INLET)?;
        if params.air_particles {
            held.liquid.air = self.exchange.air_particles(call, AIR_PARTICLES, &held.liquid)?;
        }
        let step = step_of(call);
        let outran = self.thrown(call, &held.liquid, &params, step.drift)?;
        let memory = &mut self.memory;
        let mover = self.mover.get_or_insert_with(|| DeviceMover::on(projection::device(call)));
        let watch = call.progress().watch();
        let stopped = || watch.stopped();
        let mover = &mut Interruptible { mover, interrupt: Interrupt::new(&stopped) };
        let LiquidState { liquid, followers, .. } = &mut held;
        let kicks = followers.take(Beside::Kick);
        let are_alike = kicks.as_deref().is_none_or(|kicks| self.exchange.install(|| alike(kicks)));
        let shared = kicks.as_deref().filter(|_| are_alike).and_then(|kicks| kicks.first());
        liquid.kick = shared.copied().unwrap_or(Vec3::ZERO);
        let predicted = self.exchange.install(|| {
            followers.put(Beside::Now, liquid.particles.velocity.clone());
            if let Some(kicks) = &kicks {
                let entered_from = liquid.born_from.max(liquid.entered_from);
                kick(&mut liquid.particles, kicks, entered_from);
            }
            if params.viscosity {
                check_viscosity(&liquid.particles)?;
            }
            travel::check(liquid, step.drift)
                .map_err(|far| Failure::input(STATE.particles, far.to_string()))?;
            let before = liquid.volume;
            let moved = flip::predict_on(liquid, &solids, &coming, &step, &params, memory, mover)
                .map_err(broken_off)?;
            check_loss(liquid, &before, &outran, params.cfl)?;
            Ok((moved, shared_density(&liquid.particles)))
        });
        let (moved, density) = predicted?;
        self.exchange.install(|| followers.follow(&moved));
        let fastest =
            kicks.as_deref().map_or(0.0, |kicks| f64::from(self.exchange.install(|| greatest_speed(kicks))));
        let given = held.liquid.inlet.as_ref().map_or(0.0, |inlet| self.exchange.install(|| inlet.speed()));
        let acceleration =
            if step.kick > 0.0 { fastest / step.kick } else { Drive::read(call, FORCES).acceleration };
        Drive { acceleration, speed: given, alike: are_alike }.write(call, FORCES)?;
        let per_particle = held.particle_separation.powi(3);
        let energy = self.exchange.install(|| {
            let shares = Shares::of(&held.liquid, held.per_voxel());
            potential_energy(&held.liquid, kicks.as_deref(), &step, &shares, per_particle)
        });
        if let Some(energy) = energy {
            call.measure("potential_energy", &[energy]);
        }
        self.tell_where_particles_move(call);
        self.told.of_loss(call, &held.liquid, step.drift);
        // An empty sum is -0.
        call.measure("volume", &[held.liquid.measured.total() + 0.0]);
        call.measure("found_volume", &[held.liquid.measured.total() + 0.0]);
        call.measure("rest_volume", &[held.liquid.volume.rest + 0.0]);
        call.measure("unfitted_volume", &[unfitted(&held.liquid)]);
        call.measure("spray_volume", &[held.liquid.measured.spray + 0.0]);
        let fields = SUBSTEP.fields(&held.liquid);
        self.exchange.write_liquid(call, STATE, &held, density, fields)?;
        let walls = walls(call);
        let cavitation_pressure = cavitation_pressure(call);
        write_domain(call, SUBSTEP.domain, &domain, walls, cavitation_pressure)?;
        let mean = kicks.as_deref().map_or(DVec3::ZERO, |kicks| self.exchange.install(|| mean(kicks)));
        if step.kick > 0.0 {
            self.told.of_waves(call, held.liquid.transform.voxel_size(), mean.length() / step.kick);
            self.told.of_leaving(call, &held.liquid, &coming, mean / step.kick);
        }
        call.write_array(STATE.liquid, 0, c"kick", 3, &mean.to_array())?;
        let names = Exchange::collider_names(call, COLLIDERS)?;
        self.exchange.write_owners(call, OWNERS, &held.liquid.solid, &names, &held.liquid.transform)?;
        if let Some(inlet) = &held.liquid.inlet {
            self.exchange.write_inlet(call, INLET, inlet, &held.liquid.transform)?;
        }
        self.exchange.write_air_particles(call, AIR_PARTICLES, &held.liquid.air)?;
        // Correct reads these particles again; their velocity will have changed by then.
        let Liquid { particles, surface, transferred, solid, .. } = held.liquid;
        let kept = self.exchange.kept();
        kept.keep_particles(particles);
        kept.keep(STATE.surface, [surface.values]);
        kept.keep(SUBSTEP.vel_transferred, transferred.values);
        kept.keep_solids(SUBSTEP.of_solids(), solid);
        Ok(Outcome::Done)
    }

    /// The particles that go farther in a drift of so many seconds than they can be followed, unless they fly freely.
    fn thrown(
        &mut self,
        call: &Call,
        liquid: &Liquid,
        params: &FlipParams,
        drift: f64,
    ) -> Result<travel::Outrunners, Failure> {
        let outran = self.exchange.install(|| travel::outrunners(liquid, drift, params.layers() as f64));
        let Some(view) = call.geometry(STATE.particles, 0).filter(|_| outran.share > 0.0) else {
            return Ok(outran);
        };
        let (voxel, drive) = (liquid.transform.voxel_size(), Drive::read(call, FORCES));
        let step = LongestStep { voxel, drive, tension: 0.0, density: 0.0 };
        let flies = step.bears(&mut self.exchange, call, &view, drift)?;
        Ok(if flies { travel::Outrunners::default() } else { outran })
    }

    fn correct(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        let mut held = self.exchange.liquid(call, STATE)?;
        self.exchange.solved_fields(call, (STATE, SUBSTEP), &mut held.liquid)?;
        held.liquid.inlet = self.exchange.inlet(call, INLET)?;
        held.liquid.parted = self.exchange.grid::<f32>(call, port!(PORTS, parted), 0)?.map(|g| g.0);
        held.liquid.others = self.exchange.grid::<f32>(call, port!(PORTS, others), 0)?.map(|g| g.0);
        if held.liquid.others.is_some() {
            // What it may meet of other liquids, its own state does not tell.
            Drive { alike: false, ..Drive::read(call, FORCES) }.write(call, FORCES)?;
        }
        let params = flip_params(call, held.particle_separation)?;
        let LiquidState { liquid, particle_separation, followers } = &mut held;
        let unkicked = followers.take(Beside::Now).unwrap_or_else(|| liquid.particles.velocity.clone());
        let (before, step, ends_frame) = (liquid.particles.len(), step_of(call), call.ends_frame());
        let mover = self.mover.get_or_insert_with(|| DeviceMover::on(projection::device(call)));
        let watch = call.progress().watch();
        let stopped = || watch.stopped();
        let mover = &mut Interruptible { mover, interrupt: Interrupt::new(&stopped) };
        let per_particle = particle_separation.powi(3);
        let corrected = self.exchange.install(|| {
            let (selection, gained) =
                flip::correct_on(liquid, &unkicked, &params, mover).map_err(broken_off)?;
            let mut now = step.synchronised(&liquid.particles.velocity, &gained);
            let vel = ends_frame.then(|| flip::velocity_now(liquid, &mut now, &params));
            let unmoved = selection.is_identity(before);
            Ok((selection, unmoved, shared_density(&liquid.particles), now, vel))
        });
        let (selection, unmoved, density, now, vel) = corrected?;
        let totals = self.exchange.install(|| Totals::of(&held.liquid.particles, &now, per_particle));
        if let Some(vel) = &vel {
            self.exchange.write_faces(call, port!(PORTS, vel), vel, &held.liquid.transform)?;
        }
        self.tell_where_particles_move(call);
        if unmoved {
            self.exchange.write_velocities(call, STATE.particles, &held.liquid.particles, &now)?;
        } else {
            self.exchange.install(|| held.followers.follow(&selection));
            held.followers.put(Beside::Now, now);
            self.exchange.write_particles(call, STATE.particles, &held.liquid.particles, &held.followers)?;
        }
        self.exchange.write_faces(call, STATE.vel_drift, &held.liquid.velocity, &held.liquid.transform)?;
        let of_solve = |what: &str| call.table(port!(PORTS, air), 0).and_then(|t| t.first::<f64>(what));
        held.liquid.volume.volume = held.liquid.volume.found - of_solve("taken").unwrap_or(0.0);
        held.liquid.volume.overlap = of_solve("overlap").unwrap_or(0.0);
        write_table(call, STATE.liquid, &held, density)?;
        call.measure("volume", &[held.liquid.volume.volume + 0.0]);
        call.measure("unfitted_volume", &[unfitted(&held.liquid)]);
        call.measure("mass", &[totals.mass]);
        call.measure("particles", &[held.liquid.particles.len() as f64]);
        call.measure("momentum", &totals.momentum.to_array());
        call.measure("kinetic_energy", &[totals.kinetic_energy]);
        // The next predict reads these again.
        let Liquid { particles, velocity, surface, .. } = held.liquid;
        self.exchange.kept().keep_particles(particles);
        self.exchange.kept().keep(STATE.vel_drift, velocity.values);
        self.exchange.kept().keep(STATE.surface, [surface.values]);
        Ok(Outcome::Done)
    }

    fn tell_where_particles_move(&mut self, call: &Call) {
        if let Some(notice) = self.mover.as_mut().and_then(DeviceMover::notice) {
            call.log(Level::INFO, &notice);
        }
    }
}

/// The liquid's excess over its rest volume, m³; negative where it lacks some. (An empty sum is -0.)
fn unfitted(liquid: &Liquid) -> f64 {
    liquid.volume.volume - liquid.volume.rest + 0.0
}

/// Why predict or correct did not come to its end.
fn broken_off(why: Stopped<DeviceError>) -> Failure {
    match why {
        Stopped::Interrupted => Failure::cancelled(),
        Stopped::Failed(error) => Failure::new(Status::FAILED, error.to_string()),
    }
}

/// Applies the forces' `kicks`, m/s, to the particles' velocities. Particles with ids from `entered_from` on have just
/// entered a nozzle, whose velocity they keep.
fn kick(particles: &mut Particles, kicks: &[Vec3], entered_from: i64) {
    let particles = particles.velocity.par_iter_mut().zip(&particles.id);
    particles.zip(kicks).with_min_len(4096).for_each(|((v, &id), dv)| {
        if id < entered_from {
            *v += *dv;
        }
    });
}

/// Whether forces give all particles the same: within a thousandth, as positions and velocities are rounded.
fn alike(kicks: &[Vec3]) -> bool {
    const WITHIN: f32 = 1e-3;
    let Some(&first) = kicks.first() else { return true };
    let most = WITHIN * first.length();
    scan::first(kicks, |&kick| (kick - first).length_squared() > most * most).is_none()
}

/// The mean of some vectors.
fn mean(vectors: &[Vec3]) -> DVec3 {
    let of_some = |some: &[Vec3]| some.iter().map(|v| v.as_dvec3()).sum::<DVec3>();
    let parts: Vec<DVec3> = vectors.par_chunks(4096).map(of_some).collect();
    parts.into_iter().sum::<DVec3>() / vectors.len().max(1) as f64
}

/// The intervals of the substep.
fn step_of(call: &Call) -> Step {
    Step { drift: call.dt(), kick: call.dt_kick(), next: call.dt_next() }
}

/// Particles that were filled into solids go, and the volume that the others have between the solids is the volume to
/// keep. Returns how the particles continue. `as_made`: the colliders as they are, which the liquid's lattice sees a little larger where
/// it cuts off their edges; what is between the two belongs to the liquid.
fn meet_solids(
    liquid: &mut Liquid,
    as_made: &[Collider],
    solids: &Solids,
    params: &FlipParams,
    memory: &mut SolidMemory,
) -> Selection {
    let buried = |at: DVec3| as_made.iter().any(|c| c.distance(at) < 0.0) || solids.domain.distance(at) < 0.0;
    let free = sources::drain(&mut liquid.particles, buried);
    free.then(&flip::start(liquid, solids, params, memory))
}
