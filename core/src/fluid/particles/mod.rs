//! The particles of a liquid: a structure of arrays, sorted by cell, and the rule by which attributes follow them.

pub mod cells;
pub(crate) mod four;
pub(crate) mod random;
pub mod seeding;

use crate::grid::Transform;
use crate::scan;
use four::Four;
use glam::{DVec3, IVec3, Vec3, Vec4};
use rayon::prelude::*;
use std::borrow::Cow;

/// Particles of one liquid, structure of arrays; every array has the same length.
///
/// The order of the particles is state: sums over particles run in this order, so it must be kept for results to be
/// repeatable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Particles {
    /// World position of the object's origin, metres.
    pub origin: DVec3,
    /// Positions relative to [`Self::origin`], metres.
    pub position: Vec<Vec3>,
    /// Velocities, m/s.
    pub velocity: Vec<Vec3>,
    /// Per velocity component its gradient, 1/s: `u_a(x) ≈ v_a + affine[a] · (x − x_p)` [Jiang et al. 2015].
    pub affine: [Vec<Vec3>; 3],
    /// Persistent identities, drawn from a counter that never runs backwards.
    pub id: Vec<i64>,
    /// Density of the liquid, kg/m³.
    pub density: Vec<f32>,
    /// Dynamic viscosity of the liquid, Pa·s.
    pub viscosity: Vec<f32>,
    /// Mass, as a share of what a particle is seeded with. 1, until it shares its mass with newborn particles or takes
    /// over that of removed ones.
    pub mass_share: Vec<f32>,
}

/// The values of one particle, for adding particles one at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Particle {
    /// Position relative to the object's origin, metres.
    pub position: Vec3,
    /// Velocity, m/s.
    pub velocity: Vec3,
    /// Gradient of each velocity component, 1/s.
    pub affine: [Vec3; 3],
    /// Persistent identity.
    pub id: i64,
    /// Density, kg/m³.
    pub density: f32,
    /// Dynamic viscosity, Pa·s.
    pub viscosity: f32,
    /// Mass, as a share of what a particle is seeded with.
    pub mass_share: f32,
}

impl Particles {
    /// No particles, around a world origin.
    pub fn new(origin: DVec3) -> Self {
        Self { origin, ..Self::default() }
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Appends a particle.
    pub fn push(&mut self, p: Particle) {
        self.position.push(p.position);
        self.velocity.push(p.velocity);
        for (rows, row) in self.affine.iter_mut().zip(p.affine) {
            rows.push(row);
        }
        self.id.push(p.id);
        self.density.push(p.density);
        self.viscosity.push(p.viscosity);
        self.mass_share.push(p.mass_share);
    }

    /// One particle as a value.
    pub fn get(&self, p: usize) -> Particle {
        Particle {
            position: self.position[p],
            velocity: self.velocity[p],
            affine: std::array::from_fn(|a| self.affine[a][p]),
            id: self.id[p],
            density: self.density[p],
            viscosity: self.viscosity[p],
            mass_share: self.mass_share[p],
        }
    }

    /// Keeps, repeats or reorders particles: entry n of the result is particle `selection.source[n]`.
    /// The selection must name particles that exist.
    pub fn select(&mut self, selection: &Selection) {
        if selection.is_identity(self.len()) {
            return;
        }
        self.position = selection.gather(&self.position);
        self.velocity = selection.gather(&self.velocity);
        for rows in &mut self.affine {
            *rows = selection.gather(rows);
        }
        self.id = selection.gather(&self.id);
        for numbers in [&mut self.density, &mut self.viscosity, &mut self.mass_share] {
            match scan::shared(numbers) {
                // In most liquids all particles have the same.
                Some(shared) => numbers.resize(selection.source.len(), shared),
                None => *numbers = selection.gather(numbers),
            }
        }
    }

    /// Keeps the particles that stay, in their order. Returns how they continue.
    pub fn retain(&mut self, mut stays: impl FnMut(usize) -> bool) -> Selection {
        let kept = (0..self.len() as u32).filter(|&p| stays(p as usize));
        let selection = Selection { source: kept.collect() };
        if selection.source.len() < self.len() {
            self.select(&selection);
        }
        selection
    }

    /// The first particle whose position, velocity or affine part is not finite.
    pub fn find_non_finite(&self) -> Option<usize> {
        /// Particles tested at once before the bad one among them is searched.
        const BATCH: usize = 1024;
        let [a, b, c] = &self.affine;
        let batches = self.len().div_ceil(BATCH);
        (0..batches).into_par_iter().find_map_first(|n| {
            let range = n * BATCH..((n + 1) * BATCH).min(self.len());
            // Without an early exit, so that the loop is vectorised.
            let is_sound = |v: &Vec3| v.x.is_finite() & v.y.is_finite() & v.z.is_finite();
            let sound = |v: &[Vec3]| v.iter().fold(true, |sound, x| sound & is_sound(x));
            let sound_number = |v: &[f32]| v.iter().fold(true, |sound, x| sound & x.is_finite());
            let vectors = [&self.position, &self.velocity, a, b, c];
            let numbers = [&self.density, &self.viscosity, &self.mass_share];
            let all_sound = vectors.iter().all(|v| sound(&v[range.clone()]))
                && numbers.iter().all(|v| sound_number(&v[range.clone()]));
            if all_sound {
                return None;
            }
            range.into_iter().find(|&p| {
                vectors.iter().any(|v| !v[p].is_finite()) || numbers.iter().any(|v| !v[p].is_finite())
            })
        })
    }

    /// The density all particles share, if they share one, kg/m³.
    pub fn uniform_density(&self) -> Option<f32> {
        scan::shared(&self.density)
    }

    /// How much each particle counts beside others, where they differ: its mass, in any unit.
    pub fn masses(&self) -> Option<Vec<f32>> {
        let alike = scan::shared(&self.mass_share).is_some();
        match (self.uniform_density(), alike) {
            (Some(_), true) => None,
            (Some(_), false) => Some(self.mass_share.clone()),
            (None, true) => Some(self.density.clone()),
            (None, false) => {
                let both = self.mass_share.par_iter().with_min_len(4096).zip(&self.density);
                Some(both.map(|(share, density)| share * density).collect())
            }
        }
    }

    /// Largest speed, m/s.
    pub fn max_speed(&self) -> f32 {
        greatest_speed(&self.velocity)
    }

    /// How this object's positions map to the index space of a grid.
    pub fn frame(&self, transform: &Transform) -> IndexFrame {
        IndexFrame::new(self.origin, transform)
    }
}

/// The greatest of some speeds, m/s.
pub fn greatest_speed<V: Copy + Sync + Into<Vec3>>(velocities: &[V]) -> f32 {
    scan::greatest(velocities, |&v| v.into().length_squared()).sqrt()
}

/// Maps positions relative to an object's origin to index space without losing f32 precision far from
/// index (0, 0, 0): `index = base + local`, where `base` is whole voxels and `local` stays small.
#[derive(Clone, Copy, Debug)]
pub struct IndexFrame {
    /// Whole voxels of the object's origin.
    pub base: IVec3,
    /// What is left of the origin, in voxels, each in −½..½.
    pub offset: Vec3,
    /// Voxels per metre.
    pub per_metre: f32,
    /// Edge length of a voxel, metres.
    pub h: f32,
}

impl IndexFrame {
    /// The frame of an object with this world origin on this (uniform, axis-aligned) grid.
    pub fn new(origin: DVec3, transform: &Transform) -> Self {
        let index = transform.to_index(origin);
        let whole = index.round();
        let h = transform.voxel_size();
        Self {
            base: whole.as_ivec3(),
            offset: (index - whole).as_vec3(),
            per_metre: (1.0 / h) as f32,
            h: h as f32,
        }
    }

    /// Index position relative to [`Self::base`].
    #[inline(always)]
    pub fn local(&self, position: Vec3) -> Vec3 {
        position * self.per_metre + self.offset
    }

    /// The same of up to four positions.
    #[inline(always)]
    pub(super) fn locals(&self, positions: &[Vec3]) -> Four {
        let Four(x) = Four::of(positions);
        let offset = self.offset.to_array();
        Four(std::array::from_fn(|a| x[a] * self.per_metre + offset[a]))
    }

    /// Position, metres, of an index position relative to [`Self::base`].
    #[inline(always)]
    pub fn position(&self, local: Vec3) -> Vec3 {
        (local - self.offset) * self.h
    }

    /// The voxel whose cell holds a position.
    #[inline(always)]
    pub fn cell(&self, position: Vec3) -> IVec3 {
        let x = self.local(position) + 0.5;
        four::floor_to_whole(Vec4::new(x.x, x.y, x.z, 0.0)).truncate() + self.base
    }
}

/// The origin of the particles of a changed set, so that any other per-particle array can follow.
///
/// Entry n of the new set continues (or, for a particle that was born, copies) particle `source[n]` of the
/// old set; [`Selection::NONE`] marks a particle born from a source, which takes the attribute's default.
/// Whether a particle is new can be told by its id alone: ids at or past the counter's old value are new.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Old index per new particle.
    pub source: Vec<u32>,
}

impl Selection {
    /// Marks a particle without a source.
    pub const NONE: u32 = u32::MAX;

    /// Every one of `n` particles stays where it is.
    pub fn identity(n: usize) -> Self {
        Self { source: (0..n as u32).collect() }
    }

    /// True when applying it to `n` particles changes nothing.
    pub fn is_identity(&self, n: usize) -> bool {
        self.source.len() == n && scan::is_counting(&self.source)
    }

    /// This selection followed by another one, as one.
    pub fn then(&self, next: &Selection) -> Selection {
        if self.is_identity(self.source.len()) {
            return next.clone();
        }
        let through = |s: u32| if s == Self::NONE { Self::NONE } else { self.source[s as usize] };
        Selection { source: next.source.par_iter().with_min_len(4096).map(|&s| through(s)).collect() }
    }

    /// An attribute array that follows the selection; particles without a source take `default`.
    pub fn apply<'a, T: Copy + Send + Sync>(&self, values: &'a [T], default: T) -> Cow<'a, [T]> {
        if self.is_identity(values.len()) {
            return Cow::Borrowed(values);
        }
        let of = |&s: &u32| if s == Self::NONE { default } else { values[s as usize] };
        Cow::Owned(self.source.par_iter().with_min_len(4096).map(of).collect())
    }

    pub(super) fn gather<T: Copy + Send + Sync>(&self, values: &[T]) -> Vec<T> {
        self.source.par_iter().with_min_len(4096).map(|&s| values[s as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selections_compose() {
        let first = Selection { source: vec![2, 0, Selection::NONE] };
        let second = Selection { source: vec![1, 1, 2] };
        assert_eq!(first.then(&second).apply(&[10, 11, 12], -1), vec![10, 10, -1]);
        assert_eq!(Selection::identity(3).then(&second), second);
        assert_eq!(Selection::identity(3).apply(&[10, 11, 12], -1), vec![10, 11, 12]);
        assert!(Selection::identity(3).is_identity(3));
        assert!(!second.is_identity(3));
    }

    #[test]
    fn frame_maps_there_and_back() {
        let t = Transform::uniform(0.01, DVec3::new(-3.0, 0.0, 1000.0));
        let frame = IndexFrame::new(DVec3::new(0.003, 0.0, 1000.5), &t);
        let x = Vec3::new(0.0234, -0.017, 0.2);
        assert!((frame.position(frame.local(x)) - x).length() < 1e-7);
        let world = DVec3::new(0.003, 0.0, 1000.5) + x.as_dvec3();
        let expected = (t.to_index(world) + 0.5).floor().as_ivec3();
        assert_eq!(frame.cell(x), expected);
    }
}
