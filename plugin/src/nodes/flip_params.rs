//! The parameters of the FLIP solver, translated into the core's settings.

use super::box_params::{self, BoxParams};
use super::{frames, projection};
use meniscus_abi::guest::{Call, Failure};
use meniscus_abi::{Means, MenuItem, Param, param};
use meniscus_core::fluid::params::{FlipParams, MOST_CFL};
use meniscus_core::fluid::population::reseeding::Reseeding;
use meniscus_core::fluid::surface::volume::VolumeControl;
use meniscus_core::fluid::transport::transfer::VelocityTransfer;
use meniscus_core::number::written;
use meniscus_core::solid::DomainLimits;
use meniscus_core::viscosity::Walls;

const TRANSFERS: &[MenuItem] =
    &[MenuItem::new(c"apic", c"Swirly Kernel (APIC)"), MenuItem::new(c"flip", c"Splashy Kernel (FLIP/PIC)")];
const APIC: i64 = 0;

const fn side(name: &'static std::ffi::CStr, label: &'static std::ffi::CStr, means: Means) -> Param {
    box_params::side(name, label, means).help(
        c"Closed: a wall. Open: liquid passes, and the air beyond is unbounded. Kill: liquid that crosses it is removed, and the air beyond is unbounded.",
    )
}

/// Every parameter.
pub const PARAMS: &[Param] = &[
    Param::menu(c"velocity_transfer", c"Velocity Transfer", APIC as u32, TRANSFERS)
        .folder(c"Particle Motion")
        .help(c"How particles and the grid exchange velocity. Swirly keeps vortices and stays calm at rest. Splashy is livelier and noisier.")
        .houdini(c"velocitytransfer"),
    Param::float(c"flip_ratio", c"FLIP Ratio", 0.97)
        .folder(c"Particle Motion")
        .range(0.0, 1.0)
        .hard_min()
        .hard_max()
        .help(c"For the splashy kernel. Higher: livelier and noisier, because particles keep more of their own velocity. Lower: smoother and more viscous, because they take more of the grid's.")
        .disable_when(c"{ velocity_transfer == apic }"),
    box_params::CENTER,
    box_params::size().help(c"Size of the box that contains the simulation. Larger: the liquid reaches the box's sides later. Memory grows with the liquid, not with the box."),
    side(c"side_neg_x", c"-X Side", Means::BOX_NEG_X),
    side(c"side_pos_x", c"+X Side", Means::BOX_POS_X),
    side(c"side_neg_y", c"-Y Side", Means::BOX_NEG_Y),
    side(c"side_pos_y", c"+Y Side", Means::BOX_POS_Y),
    side(c"side_neg_z", c"-Z Side", Means::BOX_NEG_Z),
    side(c"side_pos_z", c"+Z Side", Means::BOX_POS_Z),
    Param::float(c"collision_separation", c"Collision Separation", 0.05)
        .folder(c"Collisions")
        .unit(c"voxels")
        .range(0.0, 0.5)
        .hard_min()
        .hard_max()
        .help(c"Distance that particles keep from solids. Higher: they stop farther from walls.")
        .houdini(c"collisionseparation"),
    Param::toggle(c"wall_separation", c"Separate from Walls", false)
        .folder(c"Wall Separation")
        .help(c"On: liquid parts from solids wherever air gets between them. Jets contract behind an edge, and sheets fall off ceilings. Water held up by suction parts from its wall, too, once air reaches it. Off: liquid clings to whatever it touches and only slides along it."),
    Param::float(c"cavitation_pressure", c"Cavitation Pressure", -101_325.0)
        .folder(c"Wall Separation")
        .unit(c"Pa")
        .range(-200_000.0, 0.0)
        .hard_max()
        .help(c"Pressure, relative to open air, below which liquid tears away from a wall that no air touches. Higher, towards 0: it leaves pistons and siphons sooner. Water in air holds down to -101325. It has no effect where constraint_bubbles keeps the air's volume.")
        .disable_when(c"{ wall_separation == 0 }"),
    Param::toggle(c"volume_correction", c"Correct Volume", true)
        .folder(c"Volume")
        .help(c"On: the liquid returns to the volume that it should have, and its surface is fitted to that volume, by up to a quarter of a voxel. Off: the volume drifts slowly, as in any FLIP simulation."),
    Param::float(c"correction_time", c"Correction Time", 0.125)
        .folder(c"Volume")
        .unit(c"s")
        .range(0.1, 5.0)
        .hard_min()
        .help(c"Time in which nine tenths of a volume error are corrected; one of more than 2 % takes longer. Higher: slower, gentler corrections.")
        .disable_when(c"{ volume_correction == 0 }"),
    Param::float(c"band", c"Surface Band", 3.0)
        .folder(c"Volume")
        .unit(c"voxels")
        .range(2.0, 6.0)
        .hard_min()
        .hard_max()
        .help(c"Width of the band around the surface in which the level set is a true distance. Higher: the saved surface can be offset farther, and takes more memory."),
    Param::toggle(c"air_particles", c"Air Particles", false)
        .folder(c"Volume")
        .help(c"On: passive particles fill the air beside the surface. They tell thin layers of air from gaps between the liquid's particles, so that films of air and small bubbles in turbulent shots last longer. They take as much memory and time as liquid three voxels deep along the surface."),
    Param::toggle(c"reseed", c"Reseed Particles", true)
        .folder(c"Reseeding")
        .help(c"Keeps the number of particles per voxel inside the liquid between the two limits. The surface is not changed.")
        .houdini(c"reseed"),
    Param::int(c"min_particles", c"Min Particles per Voxel", 4)
        .folder(c"Reseeding")
        .range(1.0, 64.0)
        .hard_min()
        .hard_max()
        .help(c"Voxels inside the liquid with fewer particles are filled up to this many, or up to 8 with a particle band. Higher: smoother motion, more memory. Counted at grid_scale 2, where a voxel starts with 8 particles; at grid_scale 4 the limit is eight times higher.")
        .disable_when(c"{ reseed == 0 }"),
    Param::int(c"max_particles", c"Max Particles per Voxel", 12)
        .folder(c"Reseeding")
        .range(4.0, 256.0)
        .hard_min()
        .hard_max()
        .help(c"Voxels inside the liquid with more particles are thinned to this many. Higher: more particles stay where they crowd. Counted at grid_scale 2; in proportion at other scales.")
        .disable_when(c"{ reseed == 0 }"),
    Param::float(c"particle_band", c"Particle Band", 0.0)
        .folder(c"Reseeding")
        .unit(c"voxels")
        .range(0.0, 8.0)
        .hard_min()
        .hard_max()
        .help(c"Layers of voxels below the surface that keep all their particles. Deeper voxels are thinned to one particle each, and are filled again when they come up. Pools and tanks many voxels deep then take less time and memory, and their surface looks the same. Higher: more particles stay. 0 keeps all particles everywhere; less than 3 is taken as 3.")
        .disable_when(c"{ reseed == 0 }"),
    Param::toggle(c"viscosity", c"Enable Viscosity", true)
        .folder(c"Viscosity")
        .help(c"On: the viscosity that the liquid was given acts. This takes a viscous solve and a second pressure projection per substep; a liquid without viscosity costs nothing extra. Off: every liquid flows like water.")
        .houdini(c"enableviscosity"),
    Param::toggle(c"wall_slip", c"Slip at Walls", false)
        .folder(c"Viscosity")
        .help(c"Off: a viscous liquid sticks to solids and closed sides, and moving ones drag it along. On: it slides along them without friction.")
        .disable_when(c"{ viscosity == 0 }"),
    Param::float(c"surface_tension", c"Surface Tension", 0.0)
        .folder(c"Surface Tension")
        .unit(c"N/m")
        .range(0.0, 1.0)
        .hard_min()
        .help(c"Higher: drops round off faster, and films break sooner. Water in air has 0.072, which is visible where voxels are a millimetre or smaller; raise it for larger shots. Fine voxels need many substeps, of at most 0.4 √(density voxel³ / surface tension) seconds each. The solver asks for them; if the graph allows fewer, it lowers the surface tension to what they allow, and says so.")
        .houdini(c"surfacetension"),
    projection::TOLERANCE,
    projection::MAX_ITERATIONS,
    frames::START_FRAME,
    frames::END_FRAME,
];

/// The core's settings from the parameters; limits that contradict each other are an error.
pub fn flip_params(call: &Call, particle_separation: f64) -> Result<FlipParams, Failure> {
    /// Smallest particle band, voxels, for which thinned cells and the cells around them are clear of the surface.
    const LEAST_BAND: f64 = 3.0;
    let mut params = FlipParams::for_voxel(2.0 * particle_separation as f32);
    params.particle_separation = particle_separation as f32;
    params.transfer = match call.int(param!(PARAMS, velocity_transfer)) {
        APIC => VelocityTransfer::Apic,
        _ => VelocityTransfer::Flip { flip: call.number(param!(PARAMS, flip_ratio)) as f32 },
    };
    params.cfl = cfl(call)?;
    params.band = call.number(param!(PARAMS, band)) as f32;
    params.viscosity = call.on(param!(PARAMS, viscosity));
    params.tension = surface_tension(call);
    params.air_particles = call.on(param!(PARAMS, air_particles));
    params.advection.separation = call.number(param!(PARAMS, collision_separation));
    let limits = [param!(PARAMS, min_particles), param!(PARAMS, max_particles)];
    let [fewest, most] = limits.map(|limit| call.int(limit).max(1) as usize);
    if call.on(param!(PARAMS, reseed)) && fewest > most {
        let sentence = format!("min_particles, {fewest}, is more than max_particles, {most}");
        return Err(Failure::parameter(sentence));
    }
    let thinned_below = match call.number(param!(PARAMS, particle_band)) {
        0.0 => 0.0,
        layers => layers.max(LEAST_BAND) as f32 - 0.5,
    };
    // Cells that come up are filled as they were before they were thinned.
    let nominal = params.per_voxel(2.0 * particle_separation as f32).round() as usize;
    let filled = if thinned_below > 0.0 { nominal.clamp(fewest, most) } else { fewest };
    let limits = Reseeding { fewest, filled, most, thinned_below, ..Reseeding::default() };
    params.reseeding = call.on(param!(PARAMS, reseed)).then_some(limits);
    params.volume = match call.on(param!(PARAMS, volume_correction)) {
        true => VolumeControl::within(call.number(param!(PARAMS, correction_time))),
        false => VolumeControl { gain: 0.0, spread: false },
    };
    Ok(params)
}

/// Voxels a substep may cross.
fn cfl(call: &Call) -> Result<f32, Failure> {
    let cfl = call.cfl();
    if cfl <= MOST_CFL {
        return Ok(cfl as f32);
    }
    let [given, most] = [cfl, MOST_CFL].map(written);
    let sentence = format!(
        "the shot's substeps.cfl is {given}, and the velocity around the liquid reaches {most} voxels: {most} is the most"
    );
    Err(Failure::parameter(sentence))
}

/// Surface tension, N/m.
pub fn surface_tension(call: &Call) -> f64 {
    call.number(param!(PARAMS, surface_tension))
}

/// What a viscous liquid does at walls.
pub fn walls(call: &Call) -> Walls {
    if call.on(param!(PARAMS, wall_slip)) { Walls::Slip } else { Walls::NoSlip }
}

/// The pressure, Pa, below which liquid parts from walls; `None` where it stays on them.
pub fn cavitation_pressure(call: &Call) -> Option<f64> {
    call.on(param!(PARAMS, wall_separation)).then(|| call.number(param!(PARAMS, cavitation_pressure)))
}

/// The box that contains the simulation.
pub fn domain_limits(call: &Call) -> Result<DomainLimits, Failure> {
    box_params::read(call, BoxParams::of(PARAMS))
}
