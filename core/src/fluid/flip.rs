//! One substep of a FLIP liquid: its two steps *predict* (advect particles, build the grid) and *correct* (update
//! particles).
//!
//! Between the two, a solve makes [`Liquid::velocity`] divergence-free. At the end of a substep particles, surface and
//! velocity are consistent with each other; they, the counters and the volume book are the whole state.

use super::faces::air_flow::carry_volume;
use super::faces::extrapolation::{Extended, Walls, extrapolate};
use super::faces::swelling::swelling;
use super::liquid::Liquid;
use super::material;
use super::params::FlipParams;
use super::particles::cells::{self, Cells};
use super::particles::{Particles, Selection};
use super::population::air::sample_air;
use super::population::reseeding::{Interior, reseed};
use super::population::sources;
use super::population::thinning::{Shares, fill_gaps, spared, to_thin};
use super::spreading::spread_out;
use super::step::Step;
use super::surface::gravity_waves;
use super::surface::surface;
use super::surface::tension;
use super::surface::volume::{self, LiquidVolume, VolumeBook};
use super::transport::advection::Way;
use super::transport::collision::keep_for_bodies;
use super::transport::device::{Mover, Processor};
use super::transport::transfer::Transfer;
use super::transport::travel;
use crate::grid::{FaceGrid, Grid, Topology};
use crate::levelset;
use crate::solid::{Collider, SolidMemory, Solids};
use glam::Vec3;
use rayon::prelude::*;
use std::sync::Arc;

/// Gives a newly filled liquid its fields, and takes its volume as the one to keep.
pub fn start(
    liquid: &mut Liquid,
    solids: &Solids,
    params: &FlipParams,
    memory: &mut SolidMemory,
) -> Selection {
    let (cells, order) = sort_into_cells(liquid, params, &mut Shares::default());
    let Ok(()) = take_velocity_from_particles(liquid, &cells, params, &mut Processor);
    place_solids_and_surface(liquid, &cells, (solids, f64::INFINITY), params, memory);
    extend_velocity(liquid, &cells, params);
    measure_volume(liquid, &cells, params);
    let volume = liquid.measured.total();
    liquid.volume = VolumeBook { rest: volume, volume, found: volume, ..Default::default() };
    liquid.born_from = liquid.next_id;
    order
}

/// Advects the particles, and makes from them the face velocity and the surface that the next solve starts from.
///
/// Forces have already changed the particles' velocities. `solids` move as they do in this substep; `coming` are the
/// same solids in the same places, with the motion of the next substep. Returns how the particles continue.
pub fn predict(
    liquid: &mut Liquid,
    solids: &Solids,
    coming: &Solids,
    step: &Step,
    params: &FlipParams,
    memory: &mut SolidMemory,
) -> Selection {
    let Ok(moved) = predict_on(liquid, solids, coming, step, params, memory, &mut Processor);
    moved
}

/// [`predict`] with the particles moved by `mover`.
pub fn predict_on<M: Mover>(
    liquid: &mut Liquid,
    solids: &Solids,
    coming: &Solids,
    step: &Step,
    params: &FlipParams,
    memory: &mut SolidMemory,
    mover: &mut M,
) -> Result<Selection, M::Error> {
    // After thinning, one particle stands for several.
    let mut shares = Shares::of(liquid, params.per_voxel(liquid.h()));
    let born = bring_out_newborn(liquid, solids, step.drift, params);
    shares.follow(&born);
    let before = shares.total(liquid.particles.len());
    // Particles follow the velocity of the last solve, around solids.
    let Liquid { particles, transform, velocity, born_from, entered_from, inlet, volume, kick, .. } = liquid;
    let (born_from, inlet) = (*born_from, inlet.as_ref());
    let reach = params.layers() as f32;
    let way = Way { born_from, inlet, reach, ..Way::through(velocity, *transform, step.drift) };
    let kick = *kick;
    // Those that outrun it follow their own, as it was before forces acted; so whether they do is asked of that, too.
    let kicked = born_from.max(*entered_from);
    let all = particles.velocity.par_iter().zip(&particles.id).with_min_len(4096);
    let outruns = |v: Vec3| way.outruns(v) || way.outruns(v - kick);
    let outrun: Vec<bool> = all.map(|(&v, &id)| id < kicked && outruns(v)).collect();
    let carried = solids.colliders.iter().any(Collider::is_body).then(|| particles.velocity.clone());
    add_to(particles, &outrun, -kick);
    let moved = mover.advect(particles, &way, solids, &params.advection)?;
    add_to(particles, &moved.apply(&outrun, false), kick);
    shares.follow(&moved);
    volume.keep(shares.total(particles.len()), before);
    // The particles of the air, if there are any, are advected, too.
    let way = Way::through(&liquid.velocity, liquid.transform, step.drift);
    mover.advect(&mut liquid.air, &way, solids, &params.advection)?;
    // They are sorted into the cells they came to; those cells and a rim around them are the new grid.
    let sorted = sort_into_cells(liquid, params, &mut shares);
    mover.go_on()?;
    // Particles that overlap after advection are separated.
    let (cells, order) = spread_crowds(liquid, sorted, &mut shares, coming, params, memory);
    // The surface is built around them.
    place_solids_and_surface(liquid, &cells, (coming, step.next), params, memory);
    mover.go_on()?;
    // Their momentum is transferred to the faces.
    if let Some(carried) = carried {
        let carried = moved.then(&order).apply(&carried, Vec3::ZERO).into_owned();
        keep_for_bodies(&mut liquid.particles, &carried, &cells, &liquid.surface, coming);
    }
    take_velocity_from_particles(liquid, &cells, params, mover)?;
    // The solve needs their viscosity.
    liquid.viscosity = viscosity_of_particles(liquid, &cells, params);
    mover.go_on()?;
    // The solve needs the surface tension.
    liquid.tension =
        (params.tension > 0.0).then(|| tension::jump(&liquid.surface, params.tension, liquid.h()));
    // The solve is asked for the divergence that returns the volume lost or gained on the way.
    measure_volume(liquid, &cells, params);
    let rate = liquid.volume.enter(liquid.measured.total(), step, &params.volume);
    liquid.divergence = volume::source(&liquid.surface, rate);
    Ok(born.then(&moved).then(&order))
}

/// Adds to the velocity (m/s) of some particles.
fn add_to(particles: &mut Particles, chosen: &[bool], velocity: Vec3) {
    if velocity != Vec3::ZERO {
        let all = particles.velocity.par_iter_mut().zip(chosen).with_min_len(4096);
        all.filter(|(_, chosen)| **chosen).for_each(|(v, _)| *v += velocity);
    }
}

/// Moves particles that sources made inside solids out of them; those that cannot get out are removed. Returns how the
/// particles continue.
fn bring_out_newborn(liquid: &mut Liquid, solids: &Solids, dt: f64, params: &FlipParams) -> Selection {
    let Liquid { particles, transform, born_from, entered_from, inlet, volume, .. } = liquid;
    let new = (*born_from, *entered_from);
    let count = particles.len();
    let Some(inlet) = inlet else { return Selection::identity(count) };
    let stays = sources::out_of_solids(particles, new, inlet, transform, solids, dt);
    let unborn = (count - particles.len()) as f64;
    volume.rest -= unborn * f64::from(params.particle_separation).powi(3);
    stays
}

/// The particles take the solved velocity. Returns how they continue.
pub fn correct(liquid: &mut Liquid, params: &FlipParams) -> Selection {
    let before = liquid.particles.velocity.clone();
    let Ok((selection, _)) = correct_on(liquid, &before, params, &mut Processor);
    selection
}

/// [`correct`] with the particles' velocity taken from the faces by `mover`. Returns how they continue, and by how
/// much, m/s, each one's velocity has changed from what it was in `before`. A newborn particle counts with the change
/// of the one it copies.
pub fn correct_on<M: Mover>(
    liquid: &mut Liquid,
    before: &[Vec3],
    params: &FlipParams,
    mover: &mut M,
) -> Result<(Selection, Vec<Vec3>), M::Error> {
    let topology = liquid.transferred.topology.clone();
    let (cells, order) = match Cells::of_sorted(&liquid.particles, &liquid.transform, &topology) {
        Some(cells) => (cells, Selection::identity(liquid.particles.len())),
        None => cells::sort(&mut liquid.particles, &liquid.transform, &topology),
    };
    liquid.velocity = liquid.velocity.on(&topology);
    // The solved velocity is extended into air and solids.
    let extended = extend_velocity(liquid, &cells, params);
    // Particles take their velocity from the faces.
    let Liquid { particles, transform, velocity, transferred, .. } = liquid;
    let transfer = Transfer { cells: &cells, transform: *transform, method: params.transfer };
    mover.faces_to_particles(particles, &transfer, velocity, transferred)?;
    let before = order.apply(before, Vec3::ZERO);
    let gained =
        particles.velocity.par_iter().zip(&*before).with_min_len(4096).map(|(&v, &before)| v - before);
    let gained: Vec<Vec3> = gained.collect();
    // Interior cells with too few or too many particles are refilled or thinned.
    let reseeded = reseed_interior(liquid, &cells, params);
    mover.go_on()?;
    // The particles will move into the air without being squeezed. The velocity of the air is not transferred to them.
    carry_volume(&mut liquid.velocity, &extended, &liquid.solid, params.layers());
    liquid.born_from = liquid.next_id;
    Ok((order.then(&reseeded), reseeded.apply(&gained, Vec3::ZERO).into_owned()))
}

/// Face velocity, m/s, of a corrected liquid whose particles carry other velocities than their own, such as those of
/// the moment that their positions belong to. `velocity` is exchanged for theirs on the way, and comes back unchanged.
pub fn velocity_now(liquid: &mut Liquid, velocity: &mut Vec<Vec3>, params: &FlipParams) -> FaceGrid<f32> {
    let (topology, transform, h) = (liquid.transferred.topology.clone(), liquid.transform, liquid.h());
    let carry = |particles: &Particles, cells: &Cells| {
        let transfer = Transfer { cells, transform, method: params.transfer };
        let Ok(faces) = Processor.particles_to_faces(particles, &transfer);
        faces
    };
    std::mem::swap(&mut liquid.particles.velocity, velocity);
    let (mut faces, cells) = match Cells::of_sorted(&liquid.particles, &transform, &topology) {
        Some(cells) => (carry(&liquid.particles, &cells), cells),
        None => {
            let mut particles = liquid.particles.clone();
            let (cells, _) = cells::sort(&mut particles, &transform, &topology);
            (carry(&particles, &cells), cells)
        }
    };
    std::mem::swap(&mut liquid.particles.velocity, velocity);
    fill_gaps(&mut faces, &cells);
    let Liquid { surface, solid, inlet, parted, .. } = liquid;
    let walls = Walls { solid, parted: parted.as_ref(), at_rest: false, h };
    extrapolate(&mut faces, &cells, surface, &walls, inlet.as_ref(), params.layers(), None);
    faces
}

/// The longest step, s, of [`longest_step`] for the particles of a liquid.
pub fn suggest_dt(liquid: &Liquid, cfl: f64, gravity: f64) -> f64 {
    longest_step(f64::from(liquid.particles.max_speed()), liquid.transform.voxel_size(), cfl, gravity)
}

/// The longest step, s, of [`travel::longest_step`] that waves of gravity bear, too ([`gravity_waves`]).
pub fn longest_step(speed: f64, h: f64, cfl: f64, gravity: f64) -> f64 {
    travel::longest_step(speed, h, cfl, gravity).min(gravity_waves::longest_step(gravity, h))
}

fn sort_into_cells(liquid: &mut Liquid, params: &FlipParams, shares: &mut Shares) -> (Cells, Selection) {
    let h = liquid.h();
    let Liquid { particles, transform, .. } = liquid;
    let topology = Arc::new(cells::covering(particles, transform, params.reach()));
    let (mut cells, order) = cells::sort(particles, transform, &topology);
    shares.follow(&order);
    cells.full = shares.full_cells(&cells, params.per_voxel(h));
    (cells, order)
}

fn spread_crowds(
    liquid: &mut Liquid,
    (cells, order): (Cells, Selection),
    shares: &mut Shares,
    solids: &Solids,
    params: &FlipParams,
    memory: &mut SolidMemory,
) -> (Cells, Selection) {
    if !params.volume.spread {
        return (cells, order);
    }
    let mut solid = memory.fields(solids, &liquid.transform, &cells.topology);
    if let Some(inlet) = &mut liquid.inlet {
        inlet.close(Arc::make_mut(&mut solid));
    }
    let per_voxel = params.per_voxel(liquid.h());
    let Liquid { particles, transform, volume, .. } = liquid;
    let around = (solids, &*solid);
    if !spread_out(particles, &cells, transform, around, per_voxel, volume.excess, &params.advection) {
        return (cells, order);
    }
    let (cells, again) = sort_into_cells(liquid, params, shares);
    (cells, order.then(&again))
}

fn take_velocity_from_particles<M: Mover>(
    liquid: &mut Liquid,
    cells: &Cells,
    params: &FlipParams,
    mover: &mut M,
) -> Result<(), M::Error> {
    let Liquid { particles, transform, .. } = liquid;
    let transfer = Transfer { cells, transform: *transform, method: params.transfer };
    liquid.velocity = mover.particles_to_faces(particles, &transfer)?;
    fill_gaps(&mut liquid.velocity, cells);
    liquid.transferred = liquid.velocity.clone();
    liquid.density = material::density(particles, cells, transform);
    Ok(())
}

fn viscosity_of_particles(liquid: &Liquid, cells: &Cells, params: &FlipParams) -> Option<Grid<f32>> {
    if params.viscosity { material::viscosity(&liquid.particles, cells, &liquid.transform) } else { None }
}

/// `next`: s, how long the solids move as they do.
fn place_solids_and_surface(
    liquid: &mut Liquid,
    cells: &Cells,
    (solids, next): (&Solids, f64),
    params: &FlipParams,
    memory: &mut SolidMemory,
) {
    let h = liquid.h();
    place_solids(liquid, &cells.topology, (solids, next), memory);
    let Liquid { particles, air, transform, solid, .. } = liquid;
    let of_air = params.air_particles.then(|| cells::sort(air, transform, &cells.topology).0);
    let walls = (params.tension > 0.0).then_some(solids);
    let phi = surface(particles, cells, of_air.as_ref(), transform, Some(solid), walls, &params.surface(h));
    liquid.surface = levelset::redistance(&phi, h, params.surface_band());
    if let Some(own) = &of_air {
        let on_cells = liquid.surface.on(&cells.topology);
        let open = solid.volume.seen_on(&cells.topology);
        sample_air(
            (air, own),
            (particles, cells),
            transform,
            &on_cells,
            (&open, &solid.nodes),
            params.per_voxel(h),
        );
    }
    // The surface's band may reach leaves beyond the cells'. Without their solids those leaves would have no walls.
    if liquid.surface.topology != cells.topology {
        let topology = liquid.surface.topology.clone();
        place_solids(liquid, &topology, (solids, next), memory);
    }
}

fn place_solids(
    liquid: &mut Liquid,
    topology: &Arc<Topology>,
    (solids, next): (&Solids, f64),
    memory: &mut SolidMemory,
) {
    liquid.solid = memory.fields(solids, &liquid.transform, topology);
    liquid.swelling = swelling(solids, &liquid.solid, &liquid.transform, next);
    if let Some(inlet) = &mut liquid.inlet {
        let flux = inlet.close(Arc::make_mut(&mut liquid.solid));
        let swelling = liquid.swelling.get_or_insert_with(|| Grid::new(flux.topology.clone(), 0.0));
        inlet.add_springs(&flux.on(&swelling.topology), liquid.transform.voxel_size() as f32, swelling);
    }
}

fn extend_velocity(liquid: &mut Liquid, cells: &Cells, params: &FlipParams) -> Extended {
    let h = liquid.h();
    let Liquid { velocity, transferred, surface, solid, inlet, parted, others, .. } = liquid;
    let walls = Walls { solid, parted: parted.as_ref(), at_rest: false, h };
    // Other liquids are no air: the solve has found their velocity, too.
    let filled = others.as_ref().map(|others| filled(surface, others));
    // Not among several liquids: a face may hold few particles of each, and their velocity is noise.
    let before = if others.is_some() { None } else { Some(&*transferred) };
    let surface = filled.as_ref().unwrap_or(surface);
    extrapolate(velocity, cells, surface, &walls, inlet.as_ref(), params.layers(), before)
}

/// A level set that is negative in the cells that others fill, too.
fn filled(surface: &Grid<f32>, others: &Grid<f32>) -> Grid<f32> {
    let mut filled = surface.clone();
    let others = others.seen_on(&surface.topology);
    let cells = filled.values.par_iter_mut().zip(&others.values).with_min_len(4096);
    cells.filter(|(_, other)| **other > 0.0).for_each(|(phi, _)| *phi = -phi.abs());
    filled
}

fn reseed_interior(liquid: &mut Liquid, cells: &Cells, params: &FlipParams) -> Selection {
    let Some(limits) = &params.reseeding else {
        return Selection::identity(liquid.particles.len());
    };
    let h = liquid.h();
    let surface = liquid.surface.on(&cells.topology);
    let Liquid { particles, transform, velocity, solid, inlet, next_id, .. } = liquid;
    liquid.thinned_below = limits.thinned_below * h;
    let deep = (limits.thinned_below > 0.0)
        .then(|| to_thin(&surface, liquid.thinned_below, &solid.nodes, inlet.as_ref(), h));
    // A thinned cell counts as if it held all its particles.
    let spared = deep.as_ref().map_or(0.0, |deep| spared(deep, cells, params.per_voxel(h)));
    let wanted = liquid.volume.rest / f64::from(params.particle_separation).powi(3);
    let limits = limits.for_filling(params.per_voxel(h)).balanced(particles.len() as f64 + spared, wanted);
    let (solid, open, deep) = (Some(&solid.nodes), Some(&solid.open), deep.as_ref());
    let interior = Interior { cells, transform, surface: &surface, velocity, solid, open, deep };
    reseed(particles, &interior, &limits, next_id)
}

fn measure_volume(liquid: &mut Liquid, cells: &Cells, params: &FlipParams) {
    let h = liquid.h();
    let Liquid { particles, surface, solid, transform, .. } = liquid;
    let on_cells = surface.seen_on(&cells.topology);
    liquid.spray = volume::spray(particles, cells, &on_cells, transform, params.per_voxel(h));
    let open = solid.volume.seen_on(&surface.topology);
    liquid.measured = LiquidVolume::measure(surface, &open, &liquid.spray, transform);
    liquid.measured.surface -= liquid.volume.overlap;
}
