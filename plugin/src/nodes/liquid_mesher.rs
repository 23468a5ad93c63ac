//! The liquid mesher: a mesh for renderers, made of the particles of the liquids that are wired in.

use super::{collider_ports as colliders, liquid_ports as liquid, mesh_ports as ports};
use crate::exchange::{ColliderPorts, Exchange, mesh, mesh::MeshedPorts};
use meniscus_abi::guest::{Call, Failure, Node as Instance, Outcome};
use meniscus_abi::{Access, Level, Node, NodeKind, Owner, Param, Port, Stage, param, port};
use meniscus_core::fluid::render_surface::{Settings, SurfaceError, reconstruct};
use meniscus_core::interrupt::Interrupt;
use meniscus_core::solid::{DomainLimits, Solids};

const READ: Access = Access::READ;
const AFFECTOR: Owner = Owner::AFFECTOR;
const PORTS: &[Port] = &[
    ports::mesh(Owner::OBJECT).on(Stage::INIT, Access::WRITE).on(Stage::PREDICT, Access::WRITE),
    liquid::particles(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    liquid::surface(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    liquid::vel(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    liquid::liquid(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    liquid::domain(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    colliders::collision(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    colliders::collision_vel(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    colliders::collision_vel_next(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    colliders::motion(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    super::body_ports::dynamics(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
];
const LIQUIDS: MeshedPorts = MeshedPorts::of(PORTS);
const COLLIDERS: ColliderPorts = ColliderPorts::of(PORTS);

const PARAMS: &[Param] = &[
    Param::float(c"voxel_scale", c"Voxel Scale", 0.5)
        .range(0.1, 2.0)
        .hard_min()
        .help(c"Edge of the mesh's voxels, by that of the liquid's. Higher: fewer, larger triangles, and sheets, threads and drops of few particles come out fatter. Half of it makes four times as many triangles."),
    Param::float(c"smoothing", c"Smoothing", 1.0)
        .range(0.0, 4.0)
        .hard_min()
        .help(c"How much of the particles' pattern is faired away: at 1, ripples shorter than about two voxels of the liquid. Higher: a calmer surface on which small waves are flatter. Volume is kept."),
    Param::toggle(c"keep_volume", c"Keep Volume", true)
        .help(c"On: the surface is moved, by a quarter of the liquid's voxel at most and everywhere alike, to where it encloses the volume of the particles. Off: it stays where the particles end."),
];

/// The descriptor.
pub const NODE: Node = Node::new(NodeKind::SOLVER, c"meniscus.liquid_mesher", c"Liquid Mesher")
    .help(c"Makes a smooth mesh of a liquid for renderers, finer than the simulation's voxels, with its sheets and drops. Wire in one mesh object, the liquid objects, and the solids that they touch. It acts at the end of each frame, after the liquids' own solvers, and changes nothing of them.")
    .medium(c"mesh")
    .cites(c"YuTurk2013 Nielson2004 NielsonHamann1991 Taubin1995")
    .rank(Node::RANK_WHITEWATER + 100)
    .stages(&[Stage::INIT, Stage::PREDICT])
    .inputs(&[NodeKind::OBJECT], 1, 0)
    .ports(PORTS)
    .params(PARAMS);

/// An instance.
#[derive(Default)]
pub struct LiquidMesher {
    exchange: Exchange,
}

impl Instance for LiquidMesher {
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        let begins = call.stage() == Stage::INIT;
        if !begins && !call.ends_frame() {
            return Ok(Outcome::Done);
        }
        self.exchange.begin(call)?;
        let domain = self.exchange.first_domain(call, LIQUIDS)?.unwrap_or_else(DomainLimits::unbounded);
        let [colliders, _] = self.exchange.colliders(call, COLLIDERS, port!(PORTS, dynamics), None)?;
        let held = self.exchange.meshed_liquids(call, LIQUIDS)?;
        let settings = Settings {
            voxel_scale: call.number(param!(PARAMS, voxel_scale)),
            smoothing: call.number(param!(PARAMS, smoothing)),
            keep_volume: call.on(param!(PARAMS, keep_volume)),
        };
        let watch = call.progress().watch();
        let stopped = || watch.stopped();
        let solids = Solids { colliders: &colliders, domain: &domain };
        let mut made = Vec::new();
        for liquid in &held {
            let seen = liquid.seen();
            let interrupt = Interrupt::new(&stopped);
            let surface = self.exchange.install(|| reconstruct(&seen, &solids, &settings, interrupt));
            made.push((seen.origin, surface.map_err(refused)?));
        }
        let sum = |of: fn(&meniscus_core::fluid::render_surface::Account) -> f64| {
            made.iter().map(|(_, s)| of(&s.account)).sum::<f64>() + 0.0
        };
        let triangles: usize = made.iter().map(|(_, s)| s.triangles.len()).sum();
        call.measure("mesh_triangles", &[triangles as f64]);
        call.measure("mesh_lacked_volume", &[sum(|a| a.lacked)]);
        call.measure("mesh_lacks_volume", &[sum(|a| a.lacks)]);
        if begins && held.is_empty() {
            call.log(Level::WARNING, &format!("{NO_LIQUID}, unless it only begins later"));
        }
        drop(held);
        let origin = made.first().map_or(glam::DVec3::ZERO, |(origin, _)| *origin);
        mesh::write(call, port!(PORTS, render_mesh), origin, &made)?;
        Ok(Outcome::Done)
    }

    fn drop_caches(&mut self) {
        *self = Self::default();
    }
}

const NO_LIQUID: &str = "no liquid is wired in: wire in the liquid object that is to be meshed";

/// Why there is no mesh.
fn refused(error: SurfaceError) -> Failure {
    match error {
        SurfaceError::Interrupted => Failure::cancelled(),
        SurfaceError::TooFine { .. } => Failure::parameter(format!("voxel_scale: {error}; raise it")),
    }
}
