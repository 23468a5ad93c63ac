//! Two liquids in one solve, one lying on the other.

use super::flip::GRAVITY;
use super::*;
use crate::coupling::memory::BubbleMemory;
use crate::coupling::several::Joined;
use crate::coupling::{CellGrids, LiquidFields, constraint_bubbles};
use crate::fluid::flip::{correct, predict, start};
use crate::fluid::liquid::Liquid;
use crate::fluid::params::FlipParams;
use crate::fluid::particles::seeding::{Material, Seeding};
use crate::fluid::step::Step;
use crate::grid::{FaceGrid, Grid};
use crate::pressure::{Density, MultigridSolver, Params};
use crate::solid::{DomainLimits, Side, SolidMemory, Solids};
use std::f64::consts::{PI, TAU};
use std::ops::ControlFlow;

/// Two liquids in a tank.
pub(super) struct Layers {
    liquids: [Liquid; 2],
    density: [f64; 2],
    air: Option<BubbleMemory>,
    pressure: [Option<Grid<f32>>; 2],
    domain: DomainLimits,
    params: FlipParams,
    memory: [SolidMemory; 2],
    solver: MultigridSolver,
    /// Volume of the air that nothing let in, m³.
    void: f64,
}

impl Layers {
    /// Layers in a tank that is open above, the lower one first: `size` of the tank, m, and the heights of the two surfaces above x,
    /// m.
    pub(super) fn new(
        size: DVec3,
        density: [f64; 2],
        between: impl Fn(f64) -> f64 + Sync,
        above: f64,
    ) -> Self {
        let mut domain = DomainLimits::uniform(DVec3::ZERO, size, Side::Closed);
        domain.sides[3] = Side::Open;
        Self::of(domain, density, |p| (p.y < above).then(|| usize::from(p.y >= between(p.x))))
    }

    /// A closed tank, full of the liquids that `which` says.
    pub(super) fn closed(size: DVec3, density: [f64; 2], which: impl Fn(DVec3) -> usize + Sync) -> Self {
        let domain = DomainLimits::uniform(DVec3::ZERO, size, Side::Closed);
        Self::of(domain, density, |p| Some(which(p)))
    }

    fn of(domain: DomainLimits, density: [f64; 2], which: impl Fn(DVec3) -> Option<usize> + Sync) -> Self {
        let params = FlipParams { viscosity: false, ..FlipParams::for_voxel(H as f32) };
        let mut memory = [SolidMemory::default(), SolidMemory::default()];
        let liquids = [0, 1].map(|n| {
            let mut liquid = Liquid::new(transform(), DVec3::ZERO);
            let inside = |p: DVec3| which(p) == Some(n);
            let Liquid { particles, next_id, .. } = &mut liquid;
            let seeding = Seeding { seed: n as u64, ..Seeding::for_voxel(H as f32) };
            let material = Material { density: density[n] as f32, viscosity: 0.0 };
            seeding.fill(
                particles,
                &transform(),
                (domain.min, domain.max),
                inside,
                |_| Vec3::ZERO,
                material,
                next_id,
            );
            let solids = Solids { colliders: &[], domain: &domain };
            start(&mut liquid, &solids, &params, &mut memory[n]);
            liquid
        });
        let solver = MultigridSolver::default();
        Self {
            liquids,
            density,
            air: None,
            pressure: [None, None],
            domain,
            params,
            memory,
            solver,
            void: 0.0,
        }
    }

    pub(super) fn substep(&mut self, dt: f64) {
        let Self { liquids, domain, params, memory, .. } = self;
        let solids = Solids { colliders: &[], domain };
        for (liquid, memory) in liquids.iter_mut().zip(memory) {
            liquid.particles.velocity.iter_mut().for_each(|v| v.y -= (GRAVITY * dt) as f32);
            predict(liquid, &solids, &solids, &Step::steady(dt), params, memory);
        }
        let fields = [0, 1].map(|n| {
            let liquid = &self.liquids[n];
            let (surface, open, walls) = (&liquid.surface, &liquid.solid.open, &liquid.solid.velocity);
            let density = Density::Uniform(self.density[n]);
            LiquidFields {
                cells: CellGrids {
                    spray: Some(&liquid.spray),
                    divergence: Some(&liquid.divergence),
                    pressure: self.pressure[n].as_ref(),
                    ..CellGrids::default()
                },
                liquid_excess: liquid.volume.excess_volume(),
                rest_volume: liquid.volume.rest,
                previous_bubbles: self.air.as_ref(),
                drift: dt,
                volume_gain: 24.0,
                ..LiquidFields::new(liquid.transform, self.domain, surface, open, walls, density)
            }
        });
        let joined = Joined::of(&fields, &[&self.liquids[0].velocity, &self.liquids[1].velocity]);
        let mut vel: FaceGrid<f32> = joined.velocity().clone();
        let all = joined.fields(&fields).unwrap();
        let go_on = &mut |_| ControlFlow::Continue(());
        let solved =
            constraint_bubbles::project(&all, &mut vel, dt, &mut self.solver, &Params::default(), go_on)
                .unwrap();
        let handed =
            [0, 1].map(|n| joined.handed_to(n, &fields[n], &self.liquids[n].velocity, &solved, &vel));
        self.void = solved.bubbles.iter().filter(|b| b.rest_volume == 0.0).map(|b| b.volume).sum();
        self.air = Some(solved.memory);
        for (n, handed) in handed.into_iter().enumerate() {
            let liquid = &mut self.liquids[n];
            (liquid.velocity, liquid.others) = (handed.vel, Some(handed.others));
            liquid.volume.overlap = handed.projection.overlap;
            if let Some(fitted) = handed.projection.surface {
                liquid.surface = fitted;
            }
            self.pressure[n] = Some(handed.projection.pressure);
            correct(liquid, &self.params);
        }
    }

    /// Rms speed of the lower liquid, m/s.
    pub(super) fn rms_speed(&self) -> f64 {
        let v = &self.liquids[0].particles.velocity;
        (v.iter().map(|v| f64::from(v.length_squared())).sum::<f64>() / v.len() as f64).sqrt()
    }

    /// The liquids' volumes as found, over those that they should have. What they claim of each other is left out already, so
    /// voids and centres, which nothing corrects, say more.
    fn volumes(&self) -> [f64; 2] {
        [0, 1].map(|n| self.liquids[n].volume.found / self.liquids[n].volume.rest)
    }

    /// Mean height of a liquid, m.
    pub(super) fn height(&self, n: usize) -> f64 {
        let x = &self.liquids[n].particles.position;
        x.iter().map(|x| f64::from(x.y)).sum::<f64>() / x.len() as f64
    }

    /// Momentum of the lower liquid along x, per particle's mass, m/s.
    fn momentum(&self) -> f64 {
        self.liquids[0].particles.velocity.iter().map(|v| f64::from(v.x)).sum()
    }
}

/// Six voxels of one liquid on six of another, their common surface anywhere on the lattice.
pub(super) fn at_rest(density: [f64; 2], off: f64) -> (Layers, [f64; 2]) {
    let between = (6.0 + off) * H;
    let layers =
        Layers::new(DVec3::splat(12.0) * H + DVec3::Y * 0.4, density, |_| between, between + 6.0 * H);
    let heights = [layers.height(0), layers.height(1)];
    (layers, heights)
}

/// A light liquid on a heavy one rests, and neither sinks into the other.
#[test]
fn oil_rests_on_water() {
    for (off, light) in [(0.0, 700.0), (0.5, 700.0), (0.3, 100.0), (0.75, 950.0)] {
        let (mut layers, heights) = at_rest([1000.0, light], off);
        (0..48).for_each(|_| layers.substep(1.0 / 24.0));
        let speed = layers.rms_speed() / (GRAVITY * H).sqrt();
        let moved = [0, 1].map(|n| (layers.height(n) - heights[n]) / H);
        println!("{off} {light}: {speed:.4} of √(gh), moved {moved:.3?} voxels");
        assert!(speed < 0.02, "{light} kg/m³, {off} off: {speed} √(gh)");
        assert!(moved.iter().all(|m| m.abs() < 0.1), "{light} kg/m³, {off} off: moved by {moved:?} voxels");
    }
}

/// A heavy liquid on a light one is unstable; the particles' uneven places are enough to start it.
#[test]
fn the_heavy_liquid_sinks_through_the_light_one() {
    let (mut layers, heights) = at_rest([700.0, 1000.0], 0.4);
    (0..60).for_each(|_| layers.substep(1.0 / 24.0));
    let moved = [0, 1].map(|n| (layers.height(n) - heights[n]) / H);
    // They have begun to change places.
    assert!(moved[0] > 0.3 && moved[1] < -0.3, "the layers moved by {moved:?} voxels");
}

/// A drop of a heavy liquid in a full tank of a lighter one falls to the floor, and both keep their volumes while it is stirred up:
/// what is mixed finer than a voxel is neither pulled together nor pushed apart.
#[test]
fn a_heavy_drop_falls_to_the_floor_and_no_void_opens() {
    let size = DVec3::new(16.0, 16.0, 4.0) * H;
    let in_drop = |p: DVec3| (p - DVec3::new(8.0, 9.0, 2.0) * H).abs().max_element() < 2.0 * H;
    let mut layers = Layers::closed(size, [1000.0, 1500.0], |p| usize::from(in_drop(p)));
    let mut lowest = f64::INFINITY;
    for n in 0..150 {
        layers.substep(1.0 / 60.0);
        let height = layers.height(1) / H;
        lowest = lowest.min(height);
        if n % 15 == 0 {
            println!("{n}: {height:.2} voxels, volumes {:.3?}", layers.volumes());
        }
        assert!(layers.volumes().iter().all(|v| (v - 1.0).abs() < 0.25), "{n}: {:?}", layers.volumes());
        assert!(layers.void < 0.01 * size.x * size.y * size.z, "{n}: {} m³ are empty", layers.void);
    }
    assert!(lowest < 4.0, "its centre came down to {lowest} voxels");
}

/// Two liquids of which the heavy one lies above change places. Whatever becomes of them they fill the tank: their common centre
/// stays in its middle, and no void stays open.
#[test]
fn liquids_that_change_places_go_on_filling_their_tank() {
    for light in [500.0, 800.0] {
        let size = DVec3::new(16.0, 8.0, 2.0) * H;
        let mut layers = Layers::closed(size, [light, 1000.0], |p| usize::from(p.y > 4.0 * H));
        let mut late = 0.0;
        for n in 0..180 {
            layers.substep(1.0 / 60.0);
            let all = 0.5 * (layers.height(0) + layers.height(1)) / H;
            let void = layers.void / (size.x * size.y * size.z);
            if n % 20 == 0 {
                println!(
                    "{light}, {n}: centre {all:.2} voxels, void {void:.4}, volumes {:.3?}",
                    layers.volumes()
                );
            }
            assert!((all - 4.0).abs() < 0.4, "{light}, {n}: their centre is {all} voxels high");
            assert!(void < 0.08, "{light}, {n}: {void} of the tank is empty");
            late += if n >= 120 { void / 60.0 } else { 0.0 };
        }
        println!("{light}: {late:.4} empty at last");
        assert!(late < 0.03, "{light}: {late} of the tank stays empty");
    }
}

/// The slow mode of two layers of depths d₁ (below) and d₂ under air: the smaller root of
/// ω⁴ (ρ₁ coth kd₁ coth kd₂ + ρ₂) − ω² ρ₁ (coth kd₁ + coth kd₂) g k + (ρ₁ − ρ₂) g² k² = 0 [Lamb 1932, §231].
fn frequency([heavy, light]: [f64; 2], [d1, d2]: [f64; 2], k: f64) -> f64 {
    let (c1, c2) = (1.0 / (k * d1).tanh(), 1.0 / (k * d2).tanh());
    let (a, b) = (heavy * c1 * c2 + light, -heavy * (c1 + c2) * GRAVITY * k);
    let c = (heavy - light) * (GRAVITY * k).powi(2);
    ((-b - (b * b - 4.0 * a * c).sqrt()) / (2.0 * a)).sqrt()
}

/// By how much the frequency of half a wave of some voxels, `light` (kg/m³) on water, is off. The surface between them
/// lies `off` voxels from a face.
fn frequency_error(voxels: f64, light: f64, off: f64) -> f64 {
    let density = [1000.0, light];
    let (length, depths) = (voxels * H, [(0.4 * voxels + off) * H, 0.4 * voxels * H]);
    let k = PI / length;
    let wave = |x: f64| depths[0] + 0.06 * voxels * H * (k * x).cos();
    let size = DVec3::new(length, depths[0] + depths[1] + 5.0 * H, 4.0 * H);
    let mut layers = Layers::new(size, density, wave, depths[0] + depths[1]);
    let theory = frequency(density, depths, k);
    let dt = TAU / theory / 60.0;
    let (mut turns, mut before) = (Vec::new(), 0.0);
    for n in 0..100 {
        layers.substep(dt);
        let now = layers.momentum();
        if n > 0 && now * before < 0.0 {
            turns.push(dt * (f64::from(n) + before / (before - now)));
        }
        before = now;
    }
    assert!(turns.len() >= 3, "{light} kg/m³ on water turns at {turns:.2?} s only");
    let measured = PI * (turns.len() - 1) as f64 / (turns[turns.len() - 1] - turns[0]);
    println!("{voxels} voxels, {light} kg/m³: {measured:.4} 1/s, Lamb {theory:.4}");
    measured / theory - 1.0
}

/// What slips past each other shares one velocity in the cells between, which slows a short wave: the error is of first
/// order in the voxel.
#[test]
fn waves_between_two_liquids_swing_as_lamb_says() {
    for (light, off) in [(500.0, 0.0), (200.0, 0.2)] {
        let error = frequency_error(20.0, light, off);
        assert!(error.abs() < 0.08, "{light} kg/m³, {off} off: {error:+.3}");
    }
}

#[test]
#[ignore = "takes a minute: make scenes"]
fn waves_between_two_liquids_converge() {
    let error = frequency_error(20.0, 800.0, 0.5);
    assert!(error.abs() < 0.08, "{error:+.3}");
    let errors = [10.0, 20.0, 40.0].map(|voxels| frequency_error(voxels, 600.0, 0.3));
    println!("{errors:+.3?}");
    assert!(errors[2].abs() < 0.7 * errors[1].abs() && errors[1].abs() < 0.7 * errors[0].abs(), "{errors:?}");
}
