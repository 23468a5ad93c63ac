//! Sources and sinks: where liquid enters and leaves.

use crate::fluid::faces::inlet::Inlet;
use crate::fluid::particles::random;
use crate::fluid::particles::seeding::{Material, Seeding};
use crate::fluid::particles::{Particle, Particles, Selection};
use crate::grid::{Coord, Transform};
use crate::solid::Solids;
use glam::{DVec3, IVec3, Vec3};
use rustc_hash::{FxHashMap, FxHashSet};

/// The properties that a source gives to its liquid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jet {
    /// Velocity of what enters, m/s.
    pub velocity: Vec3,
    /// For a source that drives its liquid: the offset of the lattice of new particles from where it was at the start,
    /// m. The lattice moves with the liquid, so every lattice point gives one particle once: area × speed × time in
    /// all. `None`: the liquid moves freely, and new random places are used every time.
    pub travelled: Option<DVec3>,
    /// Density and viscosity of the liquid.
    pub material: Material,
}

/// The lattice of a jet: a seeding lattice that moves with it.
struct Places {
    seeding: Seeding,
    /// The voxels; the lattice stood on a corner of them before it moved.
    moved: Transform,
    corner: DVec3,
}

impl Places {
    fn of(jet: &Jet, transform: &Transform, seeding: &Seeding, next_id: i64) -> Self {
        let corner = transform.to_world(DVec3::splat(-0.5)) + jet.travelled.unwrap_or_default();
        let moved = Transform::uniform(transform.voxel_size(), corner);
        let seed = if jet.travelled.is_some() { 0 } else { next_id as u64 };
        Self { seeding: Seeding { seed: seeding.seed.wrapping_add(seed), ..*seeding }, moved, corner }
    }

    /// The lattice's cell that a position lies in.
    fn cell(&self, world: DVec3) -> IVec3 {
        ((world - self.corner) / f64::from(self.seeding.separation)).floor().as_ivec3()
    }

    fn voxel(&self, world: DVec3) -> Coord {
        (self.moved.to_index(world) + 0.5).floor().as_ivec3()
    }
}

/// Particles that move with a jet, grouped by the cells of its lattice.
struct Riding(FxHashMap<IVec3, Vec<DVec3>>);

impl Riding {
    /// The particles in a world box.
    fn of(particles: &Particles, places: &Places, velocity: Vec3, (low, high): (DVec3, DVec3)) -> Self {
        /// Largest difference of two velocities that count as the same, of the jet's velocity.
        const SAME: f32 = 1e-3;
        let mut riding: FxHashMap<IVec3, Vec<DVec3>> = FxHashMap::default();
        for (x, v) in particles.position.iter().zip(&particles.velocity) {
            let at = particles.origin + x.as_dvec3();
            let is_there = at.cmpge(low).all() && at.cmple(high).all();
            if is_there && v.distance(velocity) < SAME * velocity.length() {
                riding.entry(places.cell(at)).or_default().push(at);
            }
        }
        Self(riding)
    }

    /// Whether a particle stands at a point of the lattice: its own, or one from another source of the same velocity.
    fn has(&self, places: &Places, place: DVec3) -> bool {
        /// Tolerance for rounding, of the distance between lattice points.
        const AT: f64 = 0.02;
        let near = AT * f64::from(places.seeding.separation);
        // A point on the border of its lattice cell may be rounded into the next cell.
        let corner =
            |n: u32| DVec3::new(f64::from(n & 1), f64::from(n >> 1 & 1), f64::from(n >> 2)) * 2.0 - 1.0;
        (0..8).any(|n| {
            let cell = places.cell(place + corner(n) * near);
            self.0.get(&cell).is_some_and(|there| there.iter().any(|at| at.distance(place) < near))
        })
    }
}

/// Appends a particle of a jet.
fn bear(particles: &mut Particles, site: DVec3, jet: &Jet, next_id: &mut i64) {
    particles.push(Particle {
        position: (site - particles.origin).as_vec3(),
        velocity: jet.velocity,
        affine: [Vec3::ZERO; 3],
        id: *next_id,
        density: jet.material.density,
        viscosity: jet.material.viscosity,
        mass_share: 1.0,
    });
    *next_id += 1;
}

/// The last position inside a region on a `way` (m) that ended `at`; `None` if it was never inside. Steps along the way
/// are as long as the distance to the region [Hart 1996].
fn last_inside(distance: impl Fn(DVec3) -> f64, at: DVec3, way: DVec3) -> Option<DVec3> {
    /// Smallest step, of the way; a corner of the region that the way crosses by less may be missed.
    const LEAST: f64 = 1e-3;
    let (length, mut behind) = (way.length(), 0.0);
    while behind <= 1.0 {
        let place = at - way * behind;
        let far = distance(place);
        if far < 0.0 {
            return Some(place);
        }
        behind += (far / length).max(LEAST);
    }
    None
}

/// Lets particles of a driving source enter at its back. These are the points of its lattice that, on their last `way`
/// (m), came into the region or through it, whatever else is there: area × speed × time. Where nozzles of other sources
/// bring liquid to its back, only the difference in speed enters. Returns how the particles continue (the new ones
/// stand at the end, without a source).
///
/// `distance` is that of a world position from the region, m, below 0 inside it; `bounds` are those of the region.
#[allow(clippy::too_many_arguments)]
pub fn enter(
    particles: &mut Particles,
    transform: &Transform,
    seeding: &Seeding,
    (low, high): (DVec3, DVec3),
    distance: impl Fn(DVec3) -> f64 + Sync,
    (jet, way): (&Jet, DVec3),
    others: Option<&Inlet>,
    next_id: &mut i64,
) -> Selection {
    let places = Places::of(jet, transform, seeding, *next_id);
    let is_brought = |at: DVec3| {
        others.and_then(|others| others.velocity_at(transform.to_index(at))).is_some_and(|brought| {
            let share = brought.dot(jet.velocity) / jet.velocity.length_squared();
            random::point(places.cell(at), 0).x < share
        })
    };
    let (low, high) = (low.min(low + way), high.max(high + way));
    let riding = others.map(|_| Riding::of(particles, &places, jet.velocity, (low, high)));
    let is_there = |at: DVec3| riding.as_ref().is_some_and(|riding| riding.has(&places, at));
    let came_in = |at: DVec3| {
        distance(at - way) >= 0.0
            && last_inside(&distance, at, way).is_some_and(|place| !is_brought(place))
            && !is_there(at)
    };
    let sites = places.seeding.sites(&places.moved, low, high, came_in);
    let mut selection = Selection::identity(particles.len());
    for site in sites {
        selection.source.push(Selection::NONE);
        bear(particles, site, jet, next_id);
    }
    selection
}

/// Removes particles, with ids from `entered_from` on, that other sources brought to places where this nozzle already
/// was on the last `way` (m): the liquid there is this nozzle's own. Returns how the particles continue.
pub fn give_way(
    particles: &mut Particles,
    entered_from: i64,
    inside: impl Fn(DVec3) -> bool,
    way: DVec3,
) -> Selection {
    let brought = |p: usize| {
        particles.id[p] >= entered_from && inside(particles.origin + particles.position[p].as_dvec3() - way)
    };
    let brought: Vec<bool> = (0..particles.len()).map(brought).collect();
    particles.retain(|p| !brought[p])
}

/// Moves particles that entered a nozzle inside a solid to where their way through the nozzle leaves the solid. They
/// are spread over the distance that they travel in a substep of `dt` seconds, as a steady flow would be. Particles
/// that stay inside solids up to the nozzle's end are removed, and so are all others made inside solids. New particles
/// have ids from `born_from` on; those from `entered_from` on entered. Returns how the particles continue.
pub fn out_of_solids(
    particles: &mut Particles,
    (born_from, entered_from): (i64, i64),
    inlet: &Inlet,
    transform: &Transform,
    solids: &Solids,
    dt: f64,
) -> Selection {
    /// Step along the way, voxels.
    const STEP: f64 = 0.1;
    let h = transform.voxel_size();
    let mut probe = solids.probe();
    let mut lost = vec![false; particles.len()];
    for p in (0..particles.len()).filter(|&p| particles.id[p] >= born_from) {
        let start = particles.origin + particles.position[p].as_dvec3();
        if probe.distance(start) >= 0.0 {
            continue;
        }
        let given = |at: DVec3| inlet.velocity_in((transform.to_index(at) + 0.5).floor().as_ivec3());
        let entered = particles.id[p] >= entered_from;
        let velocity = if entered { particles.velocity[p].as_dvec3() } else { DVec3::ZERO };
        let along = velocity.normalize_or_zero();
        // The cell at the back may hold so little of the nozzle that its velocity is not given.
        let first = along.abs().element_sum().max(1.0) * h;
        let way = (0..).map(|n| f64::from(n) * STEP * h).map(|far| (far, start + along * far));
        let mut way =
            way.take_while(|&(far, at)| along != DVec3::ZERO && (far <= first || given(at).is_some()));
        let Some((_, out)) = way.find(|&(_, at)| probe.distance(at) >= 0.0) else {
            lost[p] = true;
            continue;
        };
        let share = f64::from(random::point(IVec3::ZERO, particles.id[p] as u64).x);
        let further = out + velocity * dt * share;
        let at = if probe.distance(further) >= 0.0 { further } else { out };
        particles.position[p] = (at - particles.origin).as_vec3();
    }
    particles.retain(|p| !lost[p])
}

/// Fills a region up to the density of seeding, in empty cells of a seeding lattice, the emptiest voxels first, with
/// ids drawn from `next_id`. Returns how the particles continue (the new ones stand at the end, without a source).
///
/// No more particles enter than the region as a whole lacks. Moved particles are spread unevenly over voxels; if every
/// voxel with too few were filled while others have too many, the source would pump.
///
/// `inside` says for a world position whether liquid enters there (in the source and not in a solid), within
/// the world box `bounds`.
pub fn emit(
    particles: &mut Particles,
    transform: &Transform,
    seeding: &Seeding,
    bounds: (DVec3, DVec3),
    inside: impl Fn(DVec3) -> bool + Sync,
    jet: &Jet,
    next_id: &mut i64,
) -> Selection {
    let places = Places::of(jet, transform, seeding, *next_id);
    let sites = places.seeding.sites(&places.moved, bounds.0, bounds.1, &inside);
    let (lattice, voxel) = (|world| places.cell(world), |world| places.voxel(world));

    let mut lacking: FxHashMap<Coord, i32> = FxHashMap::default();
    for &site in &sites {
        *lacking.entry(voxel(site)).or_default() += 1;
    }
    let mut taken: FxHashSet<IVec3> = FxHashSet::default();
    let mut there = 0;
    for &x in &particles.position {
        let world = particles.origin + x.as_dvec3();
        if world.cmpge(bounds.0).all() && world.cmple(bounds.1).all() && inside(world) {
            there += 1;
            taken.insert(lattice(world));
            if let Some(lacking) = lacking.get_mut(&voxel(world)) {
                *lacking -= 1;
            }
        }
    }

    let lacks = |site: DVec3| lacking.get(&voxel(site)).copied().unwrap_or(0);
    let mut empty: Vec<(i32, DVec3)> = sites
        .iter()
        .filter(|&&site| !taken.contains(&lattice(site)))
        .map(|&site| (lacks(site), site))
        .collect();
    empty.sort_by_key(|(lacks, _)| -lacks);
    empty.truncate(sites.len().saturating_sub(there));
    let mut selection = Selection::identity(particles.len());
    for (_, site) in empty {
        selection.source.push(Selection::NONE);
        bear(particles, site, jet, next_id);
    }
    selection
}

/// Gives the particles in a region a velocity, m/s: how a source drives the liquid that it emits.
pub fn drive(particles: &mut Particles, inside: impl Fn(DVec3) -> bool, velocity: Vec3) {
    for p in 0..particles.len() {
        let world = particles.origin + particles.position[p].as_dvec3();
        if inside(world) {
            particles.velocity[p] = velocity;
            for rows in &mut particles.affine {
                rows[p] = Vec3::ZERO;
            }
        }
    }
}

/// Removes the particles of a region.
pub fn drain(particles: &mut Particles, inside: impl Fn(DVec3) -> bool) -> Selection {
    let gone: Vec<bool> =
        particles.position.iter().map(|x| inside(particles.origin + x.as_dvec3())).collect();
    particles.retain(|p| !gone[p])
}
