//! The data of a liquid: the ports of its solver, and how other nodes see the same data. Every port is declared here
//! once and is found by its name.

use super::body_ports::dynamics;
use super::collider_ports as colliders;
use meniscus_abi::{Access, Drawn, Element, Owner, Port, Sampling, Stage};

const READ: Access = Access::READ;
const WRITE: Access = Access::WRITE;
const BOTH: Access = Access::READ_WRITE;
const OBJECT: Owner = Owner::OBJECT;
const AFFECTOR: Owner = Owner::AFFECTOR;

/// The ports of a liquid's solver.
pub const PORTS: &[Port] = &[
    particles(OBJECT).required()
        .on(Stage::INIT, BOTH).on(Stage::PREDICT, BOTH).on(Stage::CORRECT, BOTH),
    surface(OBJECT).required()
        .on(Stage::INIT, BOTH).on(Stage::PREDICT, BOTH).on(Stage::SOLVE, BOTH).on(Stage::CORRECT, READ),
    vel_drift(OBJECT).required()
        .on(Stage::INIT, BOTH).on(Stage::PREDICT, BOTH).on(Stage::SOLVE, BOTH).on(Stage::CORRECT, BOTH),
    liquid(OBJECT).required()
        .on(Stage::INIT, BOTH).on(Stage::PREDICT, BOTH).on(Stage::SOLVE, READ).on(Stage::CORRECT, BOTH),
    Port::grid(OBJECT, c"vel_transferred", Sampling::FACE, Element::F32)
        .unit(c"m/s")
        .help(c"Velocity on faces before the solve. FLIP adds the change since then to the particles' velocity.")
        .substep().required()
        .on(Stage::PREDICT, WRITE).on(Stage::CORRECT, READ),
    Port::grid(OBJECT, c"open", Sampling::FACE, Element::F32)
        .help(c"Fraction of each face that is not in a solid.")
        .substep().required()
        .on(Stage::PREDICT, WRITE).on(Stage::SOLVE, READ).on(Stage::CORRECT, READ),
    Port::grid(OBJECT, c"vel_solid", Sampling::FACE, Element::F32)
        .unit(c"m/s")
        .help(c"Velocity of the solids on faces. The solve changes that of bodies.")
        .substep().required()
        .on(Stage::PREDICT, WRITE).on(Stage::SOLVE, BOTH).on(Stage::CORRECT, READ),
    Port::grid(OBJECT, c"solid", Sampling::NODE, Element::F32)
        .unit(c"m")
        .help(c"Signed distance to all solids and closed sides, at nodes, negative inside.")
        .substep().required()
        .on(Stage::PREDICT, WRITE).on(Stage::SOLVE, READ).on(Stage::CORRECT, READ),
    Port::grid(OBJECT, c"density", Sampling::CENTER, Element::F32)
        .unit(c"kg/m^3")
        .help(c"Density per cell; absent if the whole liquid has one density.")
        .substep()
        .on(Stage::PREDICT, WRITE).on(Stage::SOLVE, READ),
    Port::grid(OBJECT, c"divergence", Sampling::CENTER, Element::F32)
        .unit(c"1/s")
        .help(c"Divergence that the solve should give the liquid (volume correction); absent if there is none.")
        .substep()
        .on(Stage::PREDICT, WRITE).on(Stage::SOLVE, READ),
    domain(OBJECT).required()
        .on(Stage::INIT, WRITE).on(Stage::PREDICT, WRITE).on(Stage::SOLVE, READ),
    Port::grid(OBJECT, c"pressure", Sampling::CENTER, Element::F32)
        .unit(c"Pa")
        .help(c"Pressure of the liquid, and of bubbles in their cells.")
        .on(Stage::SOLVE, BOTH),
    Port::grid(OBJECT, c"region", Sampling::CENTER, Element::I32)
        .help(c"0: air that reaches the outside; 1 and up: id of the bubble; -1 solid; -2 and down: connected piece of liquid.")
        .on(Stage::SOLVE, BOTH),
    Port::geometry(OBJECT, c"bubbles").result()
        .reported(c"bubbles id volume rest_volume found_volume pressure constrained? centroid=P")
        .help(c"One point per enclosed region of air: P (its centroid), id, volume (m^3), rest_volume (m^3; the volume it should have), found_volume (m^3; before the surface is fitted to rest_volume), pressure (Pa), constrained.")
        .on(Stage::SOLVE, WRITE),
    colliders::collision(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    colliders::collision_vel(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    colliders::motion(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    Port::grid(OBJECT, c"swelling", Sampling::CENTER, Element::F32)
        .unit(c"1/s")
        .help(c"What solids prescribe to a cell beyond the flux through its faces: the divergence of deforming ones in the part that they fill, and what two that go into each other would press out of it beyond what it holds. Plus the liquid that sources create behind the faces that they drive. Absent if there is nothing of it.")
        .substep()
        .on(Stage::PREDICT, WRITE).on(Stage::SOLVE, READ),
    Port::grid(OBJECT, c"viscosity", Sampling::CENTER, Element::F32)
        .unit(c"Pa*s")
        .help(c"Dynamic viscosity per cell; absent if the liquid has none, or its solver ignores it.")
        .substep()
        .on(Stage::PREDICT, WRITE).on(Stage::SOLVE, READ),
    Port::table(OBJECT, c"air")
        .help(c"id, volume (m^3), rest_volume (m^3), drift (m^3 s), gas_volume (m^3; at the pressure of open air) and last_growth (m^3; what compressible air grew by in the last substep) of the bubbles in `region`, by ascending id; taken (m^3): the volume that the liquid lost when its surface was fitted; overlap (m^3): what its surface encloses of the volume of other liquids; next_id.")
        .on(Stage::SOLVE, BOTH).on(Stage::CORRECT, READ),
    Port::grid(OBJECT, c"tension", Sampling::CENTER, Element::F32)
        .unit(c"Pa")
        .help(c"Surface tension times mean curvature, at the cells beside the surface; absent if there is no surface tension.")
        .substep()
        .on(Stage::PREDICT, WRITE).on(Stage::SOLVE, READ),
    inlet(OBJECT).on(Stage::PREDICT, BOTH).on(Stage::SOLVE, READ).on(Stage::CORRECT, READ),
    vel_inlet(OBJECT).on(Stage::PREDICT, BOTH).on(Stage::CORRECT, READ),
    Port::grid(OBJECT, c"spray", Sampling::CENTER, Element::F32)
        .help(c"Fraction of each cell that spray fills: particles outside the surface, in drops and films finer than the grid.")
        .substep()
        .on(Stage::PREDICT, WRITE).on(Stage::SOLVE, READ),
    Port::geometry(OBJECT, c"air_particles")
        .help(c"Passive particles in the air beside the liquid: P, id; absent if its solver makes none.")
        .on(Stage::INIT, BOTH).on(Stage::PREDICT, BOTH),
    dynamics(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    Port::grid(OBJECT, c"owner", Sampling::FACE, Element::I32)
        .help(c"Solid that a cut face belongs to, whose velocity `vel_solid` has there: its place in `owners`, counted from 1; 0: closed sides, and far from solids. Absent if no solid is a body.")
        .substep()
        .on(Stage::PREDICT, WRITE).on(Stage::SOLVE, READ),
    Port::grid(OBJECT, c"open_volume", Sampling::CENTER, Element::F32)
        .help(c"`room`, but in cells that a body shares with other solids (`owner` has several numbers) the share that the first body there leaves to liquid and others, below 0 in closed cells where it lies in a wall. Absent if no solid is a body.")
        .substep()
        .on(Stage::PREDICT, WRITE).on(Stage::SOLVE, READ),
    Port::grid(OBJECT, c"room", Sampling::CENTER, Element::F32)
        .help(c"Share of each cell that no solid fills. Absent if no solid is a body.")
        .substep()
        .on(Stage::PREDICT, WRITE).on(Stage::SOLVE, READ),
    Port::table(OBJECT, c"owners")
        .help(c"names: the objects that `owner` counts (u8, each ends with 0), one of several pieces once for each.")
        .substep()
        .on(Stage::PREDICT, WRITE).on(Stage::SOLVE, READ),
    colliders::collision_vel_next(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    vel(OBJECT).on(Stage::INIT, WRITE).on(Stage::CORRECT, WRITE),
    forces(OBJECT).on(Stage::PREDICT, BOTH).on(Stage::CORRECT, BOTH),
    Port::grid(OBJECT, c"others", Sampling::CENTER, Element::F32)
        .help(c"1 in cells that other liquids of the same solve fill, where this liquid is not; absent if it is alone.")
        .substep()
        .on(Stage::SOLVE, WRITE).on(Stage::CORRECT, READ),
    Port::grid(OBJECT, c"parted", Sampling::CENTER, Element::F32)
        .unit(c"m/s")
        .help(c"Speed at which the liquid leaves the wall beside a cell; 0 where it has not parted from it; absent if it never does.")
        .on(Stage::SOLVE, BOTH).on(Stage::CORRECT, READ),
];

/// What the solver hands to a coupling that solves the pressure in its stead: the ports of its participants of a role.
pub const fn handed_to_solve(role: u32) -> [Port; HANDED] {
    let mut handed = [PORTS[0]; HANDED];
    let (mut i, mut n) = (0, 0);
    while i < PORTS.len() {
        if is_handed(&PORTS[i]) {
            handed[n] = PORTS[i].owned_by(Owner::PARTICIPANT).role(role).only_on(Stage::SOLVE);
            // A coupling looks at what is there before it begins.
            if PORTS[i].access[Stage::INIT.0 as usize] != 0 {
                handed[n] = handed[n].on(Stage::INIT, READ);
            }
            n += 1;
        }
        i += 1;
    }
    handed
}

/// How many ports these are.
pub const HANDED: usize = {
    let (mut i, mut n) = (0, 0);
    while i < PORTS.len() {
        n += is_handed(&PORTS[i]) as usize;
        i += 1;
    }
    n
};

const fn is_handed(port: &Port) -> bool {
    port.access[Stage::SOLVE.0 as usize] != 0
}

/// The particles.
pub const fn particles(owner: Owner) -> Port {
    Port::geometry(owner, c"particles")
        .movable()
        .result()
        .help(c"Particles: P, v (m/s, at the end of the substep), dv (m/s, written by forces: the velocity that they add over ctx->dt_kick), v_drift (m/s, moves the particles in the next substep), its affine part C0 C1 C2 (1/s), id, density, viscosity, mass_share (mass divided by that of a seeded particle; 1 if absent), and all attributes that users add.")
}

/// The level set.
pub const fn surface(owner: Owner) -> Port {
    Port::grid(owner, c"surface", Sampling::CENTER, Element::F32)
        .level_set(Drawn::LIQUID)
        .result()
        .unit(c"m")
        .help(c"Signed distance to the liquid's surface, negative inside.")
}

/// The face velocity in the middle of the next substep.
pub const fn vel_drift(owner: Owner) -> Port {
    Port::grid(owner, c"vel_drift", Sampling::FACE, Element::F32)
        .unit(c"m/s")
        .help(c"Divergence-free velocity of the liquid on faces, for the middle of the next substep. It moves the liquid in that substep.")
}

/// The face velocity at the end of a frame.
pub const fn vel(owner: Owner) -> Port {
    Port::grid(owner, c"vel", Sampling::FACE, Element::F32)
        .result()
        .unit(c"m/s")
        .help(c"Velocity of the liquid on faces at the end of a frame, the time that the surface belongs to.")
        .substep()
}

/// Counters and books.
pub const fn liquid(owner: Owner) -> Port {
    Port::table(owner, c"liquid")
        .help(c"volume (m^3), found_volume (m^3; as the particles leave it, without overlap, before the surface is fitted to rest_volume), rest_volume (m^3; what it should be), excess ((found_volume - rest_volume) / rest_volume as the volume correction uses it), drift (s; its integral over time), overlap (m^3; what its surface enclosed of other liquids in the last solve), particle_separation (m), voxel_size (m), density (kg/m^3; 0: several), thinned_below (m; depth from which cells were thinned; 0: none), next_id (of the next new particle), born_from (particles with ids from here on are newer than vel_drift and move with their own velocity), entered_from (of those, from here on they came through nozzles), kick (m/s, 3 numbers; what forces added to its velocity in this substep, the mean; there while the pressure is solved).")
}

/// The box that the solver works in.
pub const fn domain(owner: Owner) -> Port {
    Port::table(owner, c"domain")
        .help(c"min, max (m, world) and sides (-x +x -y +y -z +z: 0 closed, 1 open, 2 kill), slip (1: viscous liquid slips along walls), cavitation_pressure (Pa; absent if liquid never parts from walls).")
        .substep()
}

/// How strongly forces pull.
pub const fn forces(owner: Owner) -> Port {
    Port::table(owner, c"forces")
        .help(c"acceleration (m/s^2): the largest that forces gave a particle in the last substep; speed (m/s): the largest that sources gave; alike: 1 if forces gave every particle the same acceleration, and no second liquid acts on it: drops in free flight then set no step. A force or source that adds its own in init makes the first substep short enough; it does so if the object made this table in its init.")
}

/// Faces that sources drive.
pub const fn inlet(owner: Owner) -> Port {
    Port::grid(owner, c"inlet", Sampling::FACE, Element::F32)
        .help(c"Share of each face whose velocity a source gives; absent if no source does.")
        .substep()
}

/// The velocity that sources give.
pub const fn vel_inlet(owner: Owner) -> Port {
    Port::grid(owner, c"vel_inlet", Sampling::FACE, Element::F32)
        .unit(c"m/s")
        .help(c"Velocity of the faces whose velocity a source gives.")
        .substep()
}
