//! Measures the liquid's volume and corrects its drift.

use crate::control::gains;
use crate::fluid::particles::Particles;
use crate::fluid::particles::cells::Cells;
use crate::fluid::step::Step;
use crate::grid::block;
use crate::grid::sampling::trilinear;
use crate::grid::{Grid, Topology, Transform, leaf};
use crate::levelset;
use glam::{DVec3, Vec3};
use rayon::prelude::*;
use std::sync::Arc;

/// The volume that the liquid should have, and the integral of its error; part of the liquid's state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VolumeBook {
    /// The volume the liquid should have, m³: what it started with, plus sources, less sinks.
    pub rest: f64,
    /// Its volume, m³: as found, minus what the fit of its surface has taken since.
    pub volume: f64,
    /// The volume V as last measured, m³: as the particles leave it, without `overlap`, before the fit moves the surface.
    pub found: f64,
    /// (V − V₀)/V₀ as last measured; 0 where nothing corrects it.
    pub excess: f64,
    /// ∫ (V − V₀)/V₀ dt, s, of an error and to an end that are both bounded (`MOST_AT_ONCE`, `MOST_STEADY`).
    pub drift: f64,
    /// What its level set claimed in the last solve of the volume of other liquids, m³: it does not count.
    pub overlap: f64,
}

/// Largest error of the volume, a share of it, that is answered in proportion; a larger one is answered as this.
const MOST_AT_ONCE: f64 = 0.02;
/// The integral of the error answers at most as much as the error itself does where it is this share of the volume: with the
/// usual gain, a steady loss of a fifth of the liquid a second. Where an error stays whatever is done, as in films thinner than
/// the grid, whose volume no level set knows so well, an answer without bounds makes the liquid boil.
const MOST_STEADY: f64 = 0.01;

/// The controller that steers the volume back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VolumeControl {
    /// Rate at which drift dies out, 1/s; 0 switches the control off.
    pub gain: f64,
    /// Whether crowded particles spread.
    pub spread: bool,
}

impl VolumeControl {
    /// Nine tenths of a drift are gone after so many seconds; `e^(−gain t) = 1/10`.
    pub fn within(seconds: f64) -> Self {
        Self { gain: std::f64::consts::LN_10 / seconds, spread: true }
    }
}

impl Default for VolumeControl {
    /// About three frames of 1/24 s: 2.3 stands for ln 10.
    fn default() -> Self {
        Self { gain: 2.3 / 0.125, spread: true }
    }
}

impl VolumeBook {
    /// V − V₀ as last measured, m³.
    pub fn excess_volume(&self) -> f64 {
        self.excess * self.rest
    }

    /// Keeps `kept` of `all` particles, counted as seeded, in the books. All particles have an equal share of the
    /// volume and of its drift, so both are zero when the last particle is gone.
    pub fn keep(&mut self, kept: f64, all: f64) {
        if kept <= 0.0 {
            *self = Self::default();
        } else {
            self.rest *= kept / all;
        }
    }

    /// Records the volume measured after a substep's drift, and returns the divergence (1/s) that the next solve should
    /// give the liquid.
    ///
    /// With x = (V − V₀)/V₀ and y = ∫x dt: ∇·u = −(k_p x + k_i y)/(1 + x) [Kim et al. 2007, Eq. 5], with the gains of `control`.
    /// Here |x| ≤ `MOST_AT_ONCE` and k_i |y| ≤ k_p `MOST_STEADY`.
    pub fn enter(&mut self, volume: f64, step: &Step, control: &VolumeControl) -> f64 {
        (self.volume, self.found) = (volume, volume);
        if self.rest <= 0.0 || volume <= 0.0 {
            return 0.0;
        }
        let x = volume / self.rest - 1.0;
        self.excess = if control.gain > 0.0 { x } else { 0.0 };
        let [k_p, k_i] = gains(control.gain, step.next);
        let x = x.clamp(-MOST_AT_ONCE, MOST_AT_ONCE);
        let most = if k_i > 0.0 { MOST_STEADY * k_p / k_i } else { f64::INFINITY };
        self.drift = (self.drift + x * step.drift).clamp(-most, most);
        -(k_p * x + k_i * self.drift) / (1.0 + x)
    }
}

/// A liquid's volume, m³.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LiquidVolume {
    /// Inside the level set.
    pub surface: f64,
    /// Of particles outside it: drops and films finer than the grid.
    pub spray: f64,
    /// Centre of both in the world, m; 0 where there is none.
    pub centre: DVec3,
}

impl LiquidVolume {
    /// Measures what is inside a level set (m), in the `open` part of cells, and the spray outside of it ([`spray`]).
    pub fn measure(surface: &Grid<f32>, open: &Grid<f32>, spray: &Grid<f32>, transform: &Transform) -> Self {
        let h = transform.voxel_size();
        let inside = levelset::fractions_inside(surface, h as f32);
        let drops = spray.values.iter().enumerate().filter(|(_, share)| **share > 0.0);
        let of_drops = drops.map(|(s, &share)| f64::from(share) * spray.topology.coord(s).as_dvec3());
        let moment = of_drops.fold(levelset::moment(surface, &inside, Some(open)), |all, drop| all + drop);
        let mut own = Self {
            surface: levelset::volume(&inside, Some(open), h),
            spray: levelset::volume(spray, None, h),
            centre: DVec3::ZERO,
        };
        if own.total() > 0.0 {
            own.centre = transform.to_world(moment / (own.total() / h.powi(3)));
        }
        own
    }

    /// Both.
    pub fn total(&self) -> f64 {
        self.surface + self.spray
    }
}

/// Fraction of every voxel that spray fills. Spray is the particles that lie outside the level set by more than half
/// their spacing.
///
/// `per_voxel` of them fill a voxel; a voxel's fraction is at most 1. `surface` lies on the leaves of `cells`; the
/// result lies on those of them that hold spray.
pub fn spray(
    particles: &Particles,
    cells: &Cells,
    surface: &Grid<f32>,
    transform: &Transform,
    per_voxel: f32,
) -> Grid<f32> {
    let topology = &cells.topology;
    let frame = particles.frame(transform);
    let far = 0.5 * frame.h / per_voxel.cbrt();
    let of_leaf = |l: usize| {
        if cells.leaf_range(l).is_empty() {
            return None;
        }
        let mut phi = [0.0; block::SIZE];
        block::load(&mut phi, &surface.values, &topology.neighbours()[l], surface.background);
        // Where all values around a cell are far below zero, so are the values between them.
        let highest = block::around(&phi, |[a, b, c]| a.max(b).max(c));
        let origin = (topology.origins()[l] - frame.base).as_vec3();
        let mut spray = [0.0; leaf::SIZE];
        for (n, _) in highest.as_flattened().iter().enumerate().filter(|(_, highest)| **highest > 0.5 * far) {
            let [x, y, z] = leaf::local(n);
            let (centre, first) =
                (Vec3::new(x as f32, y as f32, z as f32), block::index(x - 1, y - 1, z - 1));
            let is_outside = |&p: &usize| {
                // From the lowest centre of the cube, of the eight around the cell's, that the particle is in.
                let at = frame.local(particles.position[p]) - origin;
                let upper = at.cmpge(centre);
                let step = |axis: usize| usize::from(upper.test(axis)) * block::STRIDE[axis];
                let first = first + step(0) + step(1) + step(2);
                let base = Vec3::select(upper, centre, centre - 1.0);
                trilinear(&CORNERS.map(|step| phi[first + step]), at - base) > far
            };
            let outside = cells.range(l * leaf::SIZE + n).filter(is_outside).count();
            spray[n] = (outside as f32 / per_voxel).min(1.0);
        }
        spray.iter().any(|&s| s > 0.0).then(|| (topology.origins()[l], spray))
    };
    let leaves = (0..topology.len()).into_par_iter().with_min_len(4).filter_map(of_leaf);
    let (origins, spray): (Vec<_>, Vec<_>) = leaves.unzip();
    Grid { topology: Arc::new(Topology::new(origins)), values: spray.into_flattened(), background: 0.0 }
}

/// Steps from a voxel of a block to the eight corners of the cube above it, x fastest.
const CORNERS: [usize; 8] = {
    let [x, y, z] = block::STRIDE;
    [0, x, y, x + y, z, x + z, y + z, x + y + z]
};

/// A divergence source, 1/s, of `rate` in the liquid's cells.
pub fn source(surface: &Grid<f32>, rate: f64) -> Grid<f32> {
    let mut source = Grid::new(surface.topology.clone(), 0.0);
    source.values.par_iter_mut().zip(&surface.values).with_min_len(4096).for_each(|(s, &phi)| {
        if phi < 0.0 {
            *s = rate as f32;
        }
    });
    source
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::particles::Particle;
    use crate::fluid::particles::cells;
    use crate::grid::Coord;
    use crate::grid::sampling::Sampler;

    /// A volume that cannot be known asks for no more from substep to substep.
    #[test]
    fn an_error_that_stays_is_answered_alike_for_ever() {
        let control = VolumeControl::default();
        let mut book = VolumeBook { rest: 2.0, ..Default::default() };
        let step = Step::steady(1.0 / 192.0);
        let rates: Vec<f64> = (0..2000).map(|_| book.enter(1.84, &step, &control)).collect();
        assert!(rates[1999] > 0.0 && rates[1999] < 1.5 * rates[0], "{} became {}", rates[0], rates[1999]);
        assert_eq!(rates[1000], rates[1999]);
    }

    #[test]
    fn control_brings_the_volume_back_without_overshooting_far() {
        let control = VolumeControl::default();
        let mut book = VolumeBook { rest: 2.0, ..Default::default() };
        let (mut volume, dt) = (1.8, 1.0 / 48.0);
        let mut highest = 0.0f64;
        for _ in 0..48 * 6 {
            let divergence = book.enter(volume, &Step::steady(dt), &control);
            volume += volume * divergence * dt;
            highest = highest.max(volume);
        }
        assert!((volume - 2.0).abs() < 0.01, "{volume}");
        // Critically damped, x' = −k x − k²/4 ∫x overshoots by e⁻² of where it started.
        let overshoot = (highest - 2.0) / 0.2;
        assert!(overshoot < 1.1 * (-2f64).exp(), "{overshoot}");
    }

    #[test]
    fn control_is_stable_in_steps_longer_than_its_own_time() {
        let control = VolumeControl::default();
        for dt in [0.1, 0.3, 1.0] {
            let mut book = VolumeBook { rest: 2.0, ..Default::default() };
            let mut volume = 1.8;
            for _ in 0..60 {
                volume += volume * book.enter(volume, &Step::steady(dt), &control) * dt;
                assert!((volume - 2.0).abs() < 0.21, "{volume} in steps of {dt} s");
            }
            assert!((volume - 2.0).abs() < 0.01, "{volume} in steps of {dt} s");
        }
    }

    #[test]
    fn what_is_drained_takes_its_volume_along() {
        let mut book = VolumeBook { rest: 2.1, drift: 0.1, ..Default::default() };
        book.keep(3.0, 4.0);
        assert!((book.rest - 1.575).abs() < 1e-12 && book.drift == 0.1);
        book.keep(0.0, 3.0);
        assert_eq!(book, VolumeBook::default());
    }

    #[test]
    fn spray_is_what_lies_outside_particle_by_particle() {
        let transform = Transform::uniform(0.5, DVec3::new(0.1, -0.2, 0.3));
        let mut particles = Particles::new(DVec3::ZERO);
        for n in 0..2000 {
            let mix = |k: u32| (n * k % 1999) as f32 / 1999.0;
            let (position, zero) = (Vec3::new(mix(331), mix(607), mix(89)) * 5.0, Vec3::ZERO);
            let fresh = Particle {
                position,
                velocity: zero,
                affine: [zero; 3],
                id: 0,
                density: 1.0,
                viscosity: 0.0,
                mass_share: 1.0,
            };
            particles.push(fresh);
        }
        let topology = Arc::new(cells::covering(&particles, &transform, 1));
        let (cells, _) = cells::sort(&mut particles, &transform, &topology);
        // A pool with waves of a voxel.
        let height = |c: Coord| c.y as f32 - 9.0 + ((c.x * 5 + c.z * 3) % 4) as f32 * 0.4;
        let surface = Grid::from_fn(topology.clone(), 1.5, |c| (0.5 * height(c)).clamp(-1.5, 1.5));
        let spray = spray(&particles, &cells, &surface, &transform, 8.0);
        let mut sampler = Sampler::new(&topology);
        for s in 0..topology.len() * leaf::SIZE {
            let is_outside = |&p: &usize| {
                let at = transform.to_index(particles.position[p].as_dvec3());
                sampler.sample(&surface, at) > 0.125
            };
            let outside = cells.range(s).filter(is_outside).count();
            assert_eq!(spray.get(topology.coord(s)), (outside as f32 / 8.0).min(1.0));
        }
        assert!(spray.values.iter().any(|&s| s > 0.0) && spray.topology.len() < topology.len());
    }

    #[test]
    fn nothing_to_correct_nothing_done() {
        let mut book = VolumeBook { rest: 1.0, ..Default::default() };
        assert_eq!(book.enter(1.0, &Step::steady(0.1), &VolumeControl::default()), 0.0);
        assert_eq!(VolumeBook::default().enter(1.0, &Step::steady(0.1), &VolumeControl::default()), 0.0);
    }
}
