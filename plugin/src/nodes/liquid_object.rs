//! The liquid object: particles that fill a mesh, and the fields made from them.

use super::material::{self, MaterialParams};
use super::{frames, limits, liquid_ports as ports};
use crate::exchange::{Beside, Exchange, Field, Followers, LiquidState, StatePorts, shared_density};
use glam::{DVec3, Vec3};
use meniscus_abi::guest::{Call, Failure, Node as Instance, Outcome};
use meniscus_abi::{Access, Means, Node, NodeKind, Owner, Param, Port, Stage, param, port};
use meniscus_core::fluid::flip;
use meniscus_core::fluid::liquid::Liquid;
use meniscus_core::fluid::params::FlipParams;
use meniscus_core::fluid::particles::seeding::Seeding;
use meniscus_core::grid::Transform;
use meniscus_core::number::written;
use meniscus_core::solid::SolidMemory;
use meniscus_core::solid::{DomainLimits, Solids};

const WRITE: Access = Access::WRITE;
const PORTS: &[Port] = &[
    ports::particles(Owner::OBJECT).on(Stage::INIT, WRITE),
    ports::surface(Owner::OBJECT).on(Stage::INIT, WRITE),
    ports::vel_drift(Owner::OBJECT).on(Stage::INIT, WRITE),
    ports::liquid(Owner::OBJECT).on(Stage::INIT, WRITE),
    Port::geometry(Owner::INPUT, c"fill")
        .help(
            c"Closed meshes whose inside is filled with liquid. Without any, the liquid starts empty and sources fill it.",
        )
        .on(Stage::INIT, Access::READ),
    ports::vel(Owner::OBJECT).on(Stage::INIT, WRITE),
    ports::forces(Owner::OBJECT).on(Stage::INIT, WRITE),
];
const STATE: StatePorts = StatePorts::of(PORTS);
const FILL: u32 = port!(PORTS, fill);

const PARAMS: &[Param] = &[
    Param::float(c"particle_separation", c"Particle Separation", 0.05)
        .means(Means::SEPARATION)
        .unit(c"m")
        .range(0.001, 1.0)
        .not_animated()
        .help(c"Distance between particles; it sets detail, memory and time. Higher: less detail, faster. Half of it gives eight times the particles.")
        .houdini(c"particlesep"),
    Param::float(c"grid_scale", c"Grid Scale", 2.0)
        .means(Means::VOXEL_SCALE)
        .range(2.0, 4.0)
        .hard_min()
        .hard_max()
        .not_animated()
        .help(c"Voxel size divided by particle separation. 2 suits almost every shot; 4 gives a smoother surface and takes longer.")
        .houdini(c"gridscale"),
    Param::float(c"jitter", c"Jitter Scale", 1.0)
        .range(0.0, 1.0)
        .hard_min()
        .hard_max()
        .not_animated()
        .help(c"How far particles are moved at random from a regular lattice at the start. Higher: a more irregular filling. 0: the lattice itself.")
        .houdini(c"jitterscale"),
    Param::int(c"seed", c"Jitter Seed", 0)
        .range(0.0, 100.0)
        .hard_min()
        .not_animated()
        .help(c"Another number gives other random places to the particles at the start.")
        .houdini(c"jitterseed"),
    Param::vector3(c"velocity", c"Initial Velocity", [0.0; 3])
        .means(Means::VELOCITY)
        .unit(c"m/s")
        .not_animated()
        .help(c"Velocity the liquid starts with."),
    material::density()
        .not_animated()
        .help(c"Mass per volume. Water has 1000. Where liquids of several densities meet, the denser one sinks. A point attribute density of the meshes replaces this value."),
    material::viscosity()
        .not_animated()
        .help(c"Dynamic viscosity. Higher: the liquid flows more slowly. Water has 0.001 (use 0), oil 0.1, honey 10, tar 1000. Any value above 0 makes the liquid stick to walls, unless the solver's Slip at Walls is on, and the solve takes longer. A coarse grid adds viscosity of its own: values below speed x voxel x density look alike."),
    frames::START_FRAME,
    frames::END_FRAME,
];

const MATERIAL: MaterialParams = MaterialParams::of(PARAMS);

/// The descriptor.
pub const NODE: Node = Node::new(NodeKind::OBJECT, c"meniscus.liquid_object", c"Liquid Object")
    .help(c"A liquid that fills the closed meshes wired into it. Particles take the point attributes of the nearest triangle of the meshes; attributes density and viscosity replace the parameters.")
    .medium(c"liquid")
    .houdini(c"flipobject")
    // Bytes fitted to the memory of the water cooler at two resolutions, seconds to the examples at preview.
    .costs((360.0, 380.0), (0.1e-6, 1.1e-6))
    .stages(&[Stage::INIT])
    .inputs(&[NodeKind::GEOMETRY], 0, 0)
    .ports(PORTS)
    .params(PARAMS);

/// An instance.
#[derive(Default)]
pub struct LiquidObject {
    exchange: Exchange,
}

/// Liquids of up to this many particles are built in a rehearsal, too, so that an empty one is found before the shot.
const TRIED_PARTICLES: f64 = 1e5;

impl Instance for LiquidObject {
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        self.exchange.begin(call)?;
        let separation = call.number(param!(PARAMS, particle_separation));
        let h = separation * call.number(param!(PARAMS, grid_scale));
        limits::positive("particle_separation", separation)?;
        limits::positive("grid_scale", h)?;
        let transform = Transform::uniform(h, DVec3::ZERO);
        let seeding = Seeding {
            separation: separation as f32,
            jitter: call.number(param!(PARAMS, jitter)) as f32,
            seed: call.int(param!(PARAMS, seed)) as u64,
        };
        let material = material::read(call, MATERIAL)?;
        let velocity = limits::velocity(call, param!(PARAMS, velocity), "velocity")?.as_vec3();

        let sites = match self.exchange.bounds(call, FILL)? {
            Some(bounds) => limits::particles(separation, bounds)?,
            None => 0.0,
        };
        limits::length("particle_separation", separation)?;
        let too_large_to_try = call.is_trial() && sites > TRIED_PARTICLES;
        let fill = match too_large_to_try {
            true => {
                self.exchange.check_region(call, FILL, separation)?;
                self.exchange.carried(call, FILL)?;
                None
            }
            false => self.exchange.region(call, FILL, separation)?,
        };
        let watch = call.progress().watch();
        let mut liquid = Liquid::new(transform, DVec3::ZERO);
        let mut followers = Followers::default();
        if let Some(fill) = &fill {
            let (low, high) = fill.bounds();
            liquid = Liquid::new(transform, origin(0.5 * (low + high), h));
            let Liquid { particles, next_id, .. } = &mut liquid;
            let inside = |at: DVec3| !watch.stopped() && fill.contains(at);
            let still = |_: DVec3| -> Vec3 { velocity };
            self.exchange.install(|| {
                seeding.fill(particles, &transform, (low, high), inside, still, material, next_id)
            });
            if watch.stopped() {
                return Ok(Outcome::Cancelled);
            }
            if let Some(carried) = self.exchange.carried(call, FILL)? {
                self.exchange.hand_over(&carried, particles, &mut followers, 0)?;
            }
        }
        if fill.is_some() && liquid.particles.is_empty() {
            let sentence = format!(
                "particle_separation: {} m apart, no particle has room in the meshes to fill",
                written(separation)
            );
            return Err(Failure::parameter(sentence));
        }
        let mut params = FlipParams::for_voxel(h as f32);
        params.particle_separation = separation as f32;
        let nothing = Solids { colliders: &[], domain: &DomainLimits::unbounded() };
        let memory = &mut SolidMemory::default();
        let order = self.exchange.install(|| flip::start(&mut liquid, &nothing, &params, memory));
        self.exchange.install(|| followers.follow(&order));
        followers.put(Beside::Now, liquid.particles.velocity.clone());
        let held = LiquidState { liquid, followers, particle_separation: separation };
        let density = self.exchange.install(|| shared_density(&held.liquid.particles));
        self.exchange.write_liquid(
            call,
            STATE,
            &held,
            density,
            vec![Field::faces(port!(PORTS, vel), &held.liquid.velocity)],
        )?;
        // Forces say here what they are about to do.
        call.shape_table(port!(PORTS, forces), 0)?;
        Ok(Outcome::Done)
    }

    fn drop_caches(&mut self) {
        *self = Self::default();
    }
}

/// The origin of the particles' positions: the world's origin, unless the liquid is thousands of voxels away from it.
/// There an f32 would lose more than a thousandth of a voxel.
fn origin(centre: DVec3, h: f64) -> DVec3 {
    let step = 4096.0 * h;
    (centre / step).round() * step
}
