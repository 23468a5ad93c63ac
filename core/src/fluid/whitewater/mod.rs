//! Whitewater: the spray, foam and bubbles that a liquid throws up where it runs into itself, breaks or flies
//! [Ihmsen et al. 2012]. Its particles are passive: they have no mass, and the liquid does not feel them.

mod birth;
mod motion;
#[cfg(test)]
mod tests;

pub use birth::{Birth, Potentials, bear};
pub use motion::{Drift, drift, kick};

use crate::fluid::particles::{IndexFrame, Selection, random};
use crate::grid::sampling::{Position, Sampler};
use crate::grid::{FaceGrid, Grid, Transform};
use glam::{DVec3, IVec3, Vec3};

/// What a whitewater particle is: it follows from where it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(i32)]
pub enum Kind {
    /// Flies through the air.
    #[default]
    Spray = 0,
    /// Floats at the surface.
    Foam = 1,
    /// Rises below it.
    Bubble = 2,
}

/// Whitewater particles, structure of arrays; every array has the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Whitewater {
    /// World position of the object's origin, metres.
    pub origin: DVec3,
    /// Positions relative to [`Self::origin`], metres.
    pub position: Vec<Vec3>,
    /// Velocities in the middle of the next substep, m/s.
    pub velocity: Vec<Vec3>,
    /// Persistent identities, drawn from a counter that never runs backwards.
    pub id: Vec<i64>,
    /// Seconds since birth.
    pub age: Vec<f32>,
    /// Age at which the particle vanishes, s. It grows while the particle is a bubble: those wait for the surface.
    pub life: Vec<f32>,
    /// What it is.
    pub kind: Vec<Kind>,
    /// The next identity.
    pub next_id: i64,
    /// Substeps in which particles were born: part of the random numbers.
    pub births: i64,
}

impl Whitewater {
    /// Number of particles.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// How many of each [`Kind`] there are.
    pub fn counts(&self) -> [usize; 3] {
        let mut counts = [0; 3];
        self.kind.iter().for_each(|&kind| counts[kind as usize] += 1);
        counts
    }

    /// Size of a particle, as a share of the mean size: from a half to one and a half, and always the same.
    pub fn size(&self, id: i64) -> f32 {
        0.5 + random::point(IVec3::new(id as i32, (id >> 32) as i32, 0), SIZES).x
    }

    /// Keeps the particles for which `stays` holds.
    fn retain(&mut self, stays: impl Fn(usize) -> bool) {
        let mut kept = Selection::identity(self.len());
        kept.source.retain(|&p| stays(p as usize));
        if kept.is_identity(self.len()) {
            return;
        }
        fn keep<T: Copy + Send + Sync>(values: &mut Vec<T>, kept: &Selection, default: T) {
            *values = kept.apply(values, default).into_owned();
        }
        keep(&mut self.position, &kept, Vec3::ZERO);
        keep(&mut self.velocity, &kept, Vec3::ZERO);
        keep(&mut self.id, &kept, 0);
        keep(&mut self.age, &kept, 0.0);
        keep(&mut self.life, &kept, 0.0);
        keep(&mut self.kind, &kept, Kind::Spray);
    }
}

/// Seed of the particles' sizes.
const SIZES: u64 = 0x51_2e5;

/// A liquid as whitewater sees it, at the end of a substep.
pub struct Liquid<'a> {
    /// Where the cells are.
    pub transform: Transform,
    /// Signed distance to its surface, m.
    pub surface: Grid<f32>,
    /// Velocity on faces for the middle of the next substep, m/s.
    pub velocity: FaceGrid<f32>,
    /// Its particles.
    pub particles: Parcels<'a>,
}

/// The particles of a liquid, as far as whitewater asks.
pub struct Parcels<'a> {
    /// World position of their origin, metres.
    pub origin: DVec3,
    /// Positions relative to it, metres.
    pub position: &'a [[f32; 3]],
    /// Velocities, m/s.
    pub velocity: &'a [[f32; 3]],
    /// Identities.
    pub id: &'a [[i64; 1]],
}

/// Looks up liquids at places. Keep one per task.
struct Look<'a> {
    liquids: Vec<(&'a Liquid<'a>, IndexFrame, Sampler<'a>, Sampler<'a>)>,
}

/// A liquid at a place.
struct Seen {
    /// Number of the liquid.
    liquid: usize,
    /// Signed distance to its surface, in its voxels.
    depth: f32,
    /// The surface's outward unit normal; zero where there is none.
    normal: Vec3,
}

impl<'a> Look<'a> {
    /// For places relative to an origin, world metres.
    fn new(liquids: &'a [Liquid<'a>], origin: DVec3) -> Self {
        let of = |liquid: &'a Liquid<'a>| {
            let frame = IndexFrame::new(origin, &liquid.transform);
            let (surface, velocity) = (&liquid.surface.topology, &liquid.velocity.topology);
            (liquid, frame, Sampler::new(surface), Sampler::new(velocity))
        };
        Self { liquids: liquids.iter().map(of).collect() }
    }

    /// The liquid that a place lies deepest in, or is nearest to; `None` beyond the bands of all.
    fn at(&mut self, place: Vec3) -> Option<Seen> {
        let mut found: Option<Seen> = None;
        for (n, (liquid, frame, sampler, _)) in self.liquids.iter_mut().enumerate() {
            let (distance, slope) = sampler.sample_gradient(&liquid.surface, index(frame, place));
            let depth = distance * frame.per_metre;
            if distance < liquid.surface.background && found.as_ref().is_none_or(|f| depth < f.depth) {
                found = Some(Seen { liquid: n, depth, normal: slope.normalize_or_zero() });
            }
        }
        found
    }

    /// Velocity of a liquid at a place, m/s.
    fn velocity(&mut self, liquid: usize, place: Vec3) -> Vec3 {
        let (of, frame, _, sampler) = &mut self.liquids[liquid];
        sampler.sample_velocity(&of.velocity, index(frame, place))
    }

    /// Edge of a liquid's voxels, m.
    fn voxel(&self, liquid: usize) -> f32 {
        self.liquids[liquid].1.h
    }
}

/// Index position of a place relative to the frame's origin.
fn index(frame: &IndexFrame, place: Vec3) -> Position {
    let mut at = Position::from(frame.local(place));
    at.base += frame.base;
    at
}
