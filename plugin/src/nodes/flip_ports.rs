//! The ports of the FLIP solver, and their places.

use super::projection::Ports;
use super::{collider_ports, liquid_ports as ports};
use crate::exchange::{ColliderPorts, InletPorts, StatePorts, SubstepPorts};
use meniscus_abi::{Access, Owner, Port, Stage};

const READ: Access = Access::READ;
const WRITE: Access = Access::WRITE;
const BOTH: Access = Access::READ_WRITE;
const OBJECT: Owner = Owner::OBJECT;
const AFFECTOR: Owner = Owner::AFFECTOR;

/// Every port.
pub(super) static PORTS: [Port; 29] = [
    ports::particles(OBJECT)
        .required()
        .on(Stage::INIT, BOTH)
        .on(Stage::PREDICT, BOTH)
        .on(Stage::CORRECT, BOTH),
    ports::surface(OBJECT)
        .required()
        .on(Stage::INIT, BOTH)
        .on(Stage::PREDICT, BOTH)
        .on(Stage::SOLVE, BOTH)
        .on(Stage::CORRECT, READ),
    ports::vel_drift(OBJECT)
        .required()
        .on(Stage::INIT, BOTH)
        .on(Stage::PREDICT, BOTH)
        .on(Stage::SOLVE, BOTH)
        .on(Stage::CORRECT, BOTH),
    ports::liquid(OBJECT)
        .required()
        .on(Stage::INIT, BOTH)
        .on(Stage::PREDICT, BOTH)
        .on(Stage::SOLVE, READ)
        .on(Stage::CORRECT, BOTH),
    ports::vel_transferred(OBJECT).required().on(Stage::PREDICT, WRITE).on(Stage::CORRECT, READ),
    ports::open(OBJECT).required().on(Stage::PREDICT, WRITE).on(Stage::SOLVE, READ).on(Stage::CORRECT, READ),
    ports::vel_solid(OBJECT)
        .required()
        .on(Stage::PREDICT, WRITE)
        .on(Stage::SOLVE, READ)
        .on(Stage::CORRECT, READ),
    ports::solid(OBJECT).required().on(Stage::PREDICT, WRITE).on(Stage::SOLVE, READ).on(Stage::CORRECT, READ),
    ports::density(OBJECT).on(Stage::PREDICT, WRITE).on(Stage::SOLVE, READ),
    ports::divergence(OBJECT).on(Stage::PREDICT, WRITE).on(Stage::SOLVE, READ),
    ports::domain(OBJECT).required().on(Stage::PREDICT, WRITE).on(Stage::SOLVE, READ),
    ports::pressure(OBJECT).on(Stage::SOLVE, BOTH),
    ports::region(OBJECT).on(Stage::SOLVE, BOTH),
    ports::bubbles(OBJECT).on(Stage::SOLVE, WRITE),
    collider_ports::collision(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    collider_ports::collision_vel(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    collider_ports::motion(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    ports::swelling(OBJECT).on(Stage::PREDICT, WRITE).on(Stage::SOLVE, READ),
    ports::viscosity(OBJECT).on(Stage::PREDICT, WRITE).on(Stage::SOLVE, READ),
    ports::air(OBJECT).on(Stage::SOLVE, BOTH).on(Stage::CORRECT, READ),
    ports::tension(OBJECT).on(Stage::PREDICT, WRITE).on(Stage::SOLVE, READ),
    ports::inlet(OBJECT).on(Stage::PREDICT, BOTH).on(Stage::SOLVE, READ).on(Stage::CORRECT, READ),
    ports::vel_inlet(OBJECT).on(Stage::PREDICT, BOTH).on(Stage::CORRECT, READ),
    ports::spray(OBJECT).on(Stage::PREDICT, WRITE).on(Stage::SOLVE, READ),
    ports::air_particles(OBJECT).on(Stage::INIT, BOTH).on(Stage::PREDICT, BOTH),
    collider_ports::collision_vel_next(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    ports::vel(OBJECT).on(Stage::INIT, WRITE).on(Stage::CORRECT, WRITE),
    ports::forces(OBJECT).on(Stage::PREDICT, WRITE),
    ports::parted(OBJECT).on(Stage::SOLVE, BOTH).on(Stage::CORRECT, READ),
];

/// The liquid's state.
pub(super) const STATE: StatePorts = StatePorts { particles: 0, surface: 1, vel: 2, liquid: 3 };
/// The fields of a substep.
pub(super) const SUBSTEP: SubstepPorts = SubstepPorts {
    vel_transferred: 4,
    open: 5,
    vel_solid: 6,
    solid: 7,
    density: 8,
    viscosity: 18,
    divergence: 9,
    domain: 10,
    swelling: 17,
    tension: 20,
    spray: 23,
};
/// What a projection reads and writes.
pub(super) const SOLVE: Ports = Ports {
    surface: 1,
    vel: 2,
    open: 5,
    vel_solid: 6,
    density: 8,
    divergence: 9,
    liquid: 3,
    domain: 10,
    pressure: 11,
    region: 12,
    bubbles: 13,
    swelling: 17,
    viscosity: 18,
    solid: 7,
    air: 19,
    tension: 20,
    spray: 23,
    parted: 28,
    inlet: 21,
};
/// Where sources drive the liquid.
pub(super) const INLET: InletPorts = InletPorts { faces: 21, velocity: 22 };
/// The air's particles.
pub(super) const AIR_PARTICLES: u32 = 24;
/// Velocity as it is now, for who looks at frames.
pub(super) const VEL: u32 = 26;
/// What forces say of themselves.
pub(super) const FORCES: u32 = 27;
/// The solids.
pub(super) const COLLIDERS: ColliderPorts =
    ColliderPorts { collision: 14, collision_vel: [15, 25], motion: 16 };
