use super::*;
use crate::fluid::Selection;
use crate::fluid::flip::{predict, start};
use crate::fluid::liquid::Liquid;
use crate::fluid::params::FlipParams;
use crate::fluid::particles::seeding::{Material, Seeding};
use crate::fluid::population::air;
use crate::fluid::step::Step;
use crate::fluid::surface::volume::VolumeControl;
use crate::fluid::surface::{SurfaceParams, surface};
use crate::grid::FaceGrid;
use crate::grid::sampling::Sampler;
use crate::solid::SolidMemory;
use crate::solid::{DomainLimits, Side, Solids};
use glam::IVec3;

const WATER: Material = Material { density: 1000.0, viscosity: 0.001 };

/// A liquid that a given flow carries.
struct Carried {
    liquid: Liquid,
    domain: DomainLimits,
    params: FlipParams,
    memory: SolidMemory,
}

impl Carried {
    fn new(domain: DomainLimits, air_particles: bool, inside: impl Fn(DVec3) -> bool + Sync) -> Self {
        let mut liquid = Liquid::new(transform(), DVec3::ZERO);
        let bounds = (DVec3::splat(-2.0), DVec3::splat(2.0));
        let Liquid { particles, next_id, .. } = &mut liquid;
        let seeding = Seeding::for_voxel(H as f32);
        seeding.fill(particles, &transform(), bounds, inside, |_| Vec3::ZERO, WATER, next_id);
        let params = FlipParams {
            viscosity: false,
            air_particles,
            volume: VolumeControl { spread: false, ..VolumeControl::default() },
            ..FlipParams::for_voxel(H as f32)
        };
        let mut carried = Self { liquid, domain, params, memory: SolidMemory::default() };
        let solids = Solids { colliders: &[], domain: &carried.domain };
        start(&mut carried.liquid, &solids, &carried.params, &mut carried.memory);
        carried
    }

    fn step(&mut self, dt: f64, u: impl Fn(DVec3) -> DVec3 + Sync) {
        let topology = self.liquid.surface.topology.clone();
        self.liquid.velocity =
            FaceGrid::from_fn(topology, 0.0, |axis, c| u(transform().face_centre(axis, c))[axis] as f32);
        let solids = Solids { colliders: &[], domain: &self.domain };
        predict(&mut self.liquid, &solids, &solids, &Step::steady(dt), &self.params, &mut self.memory);
    }

    /// Volume of the air within `radius` (m) of the origin, voxels, and that of the difference to `truth` (negative
    /// distances in the air, m).
    fn air(&self, radius: f64, truth: impl Fn(DVec3) -> f64) -> (f64, f64) {
        let mut sampler = Sampler::new(&self.liquid.surface.topology);
        let n = (radius / H) as i32 + 1;
        let (mut volume, mut wrong) = (0.0, 0.0);
        let fraction = |phi: f64| (0.5 + phi / H).clamp(0.0, 1.0);
        for x in -n..=n {
            for y in -n..=n {
                for z in -n..=n {
                    let at = IVec3::new(x, y, z).as_dvec3();
                    if transform().to_world(at).length() < radius {
                        let has = fraction(f64::from(sampler.sample(&self.liquid.surface, at)));
                        volume += has;
                        wrong += (has - fraction(-truth(transform().to_world(at)))).abs();
                    }
                }
            }
        }
        (volume, wrong)
    }
}

/// A disc of air, `thickness` voxels thick, in a ball of liquid that turns: worst errors of its volume and its place,
/// relative to its volume.
fn turning_disc(thickness: f64, air_particles: bool) -> (f64, f64) {
    let disc = move |x: DVec3, angle: f64| {
        let (s, c) = angle.sin_cos();
        let (across, along) = (c * x.y - s * x.x, c * x.x + s * x.y);
        let rim = (along * along + x.z * x.z).sqrt() - 0.7;
        (across.abs() - 0.5 * thickness * H).max(rim)
    };
    let ball = move |x: DVec3| x.length() < 1.5 && disc(x, 0.4) > 0.0;
    let mut carried = Carried::new(DomainLimits::unbounded(), air_particles, ball);
    let held = std::f64::consts::PI * 0.49 * thickness * H / H.powi(3);
    let steps = 60;
    let mut worst = (0.0f64, 0.0f64);
    for n in 1..=steps {
        carried.step(std::f64::consts::TAU / f64::from(steps), |x| DVec3::new(-x.y, x.x, 0.0));
        let angle = 0.4 + std::f64::consts::TAU * f64::from(n) / f64::from(steps);
        let (volume, wrong) = carried.air(1.1, |x| disc(x, angle));
        worst = (worst.0.max((volume / held - 1.0).abs()), worst.1.max(wrong / held));
    }
    worst
}

#[test]
fn films_of_air_last() {
    for thickness in [1.25, 1.0] {
        let [without, with] = [false, true].map(|on| turning_disc(thickness, on));
        println!("{thickness} voxels: volume, place without {without:.3?}, with {with:.3?}");
        assert!(with.0 < 0.2 && with.0 < 0.5 * without.0, "a film of {thickness} voxels");
        assert!(with.1 < without.1, "a film of {thickness} voxels");
    }
}

/// A pool one metre deep, its air sampled, in a closed box whose lid is `height` metres up.
fn pool(height: f64) -> Carried {
    let (low, high) = (DVec3::new(-1.0, -1.0, -1.0), DVec3::new(1.0, height - 1.0, 1.0));
    Carried::new(DomainLimits::uniform(low, high, Side::Closed), true, |x| {
        x.y < 0.0 && x.cmpgt(low).all() && x.cmplt(high).all()
    })
}

#[test]
fn the_band_is_filled_and_nothing_beyond_it() {
    let mut pool = pool(2.0);
    let at_start = pool.liquid.air.len();
    // Up and down by three voxels, by steps of half a voxel, under a surface that stays flat.
    for n in 0..12 {
        pool.step(0.05, |_| DVec3::Y * if n < 6 { 1.0 } else { -1.0 });
    }
    let Liquid { air, surface, .. } = &pool.liquid;
    let mut sampler = Sampler::new(&surface.topology);
    for x in &air.position {
        let x = x.as_dvec3();
        assert!(pool.domain.distance(x) > 0.0, "{x} outside the box");
        let phi = f64::from(sampler.sample(surface, transform().to_index(x))) / H;
        assert!((-1.8..3.4).contains(&phi), "{x}, {phi} voxels from the surface");
    }
    let mut ids = air.id.clone();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), air.len());
    // A band 2.5 voxels wide: as many as then, and about as many as fill it.
    let filled = 8.0 * 20.0 * 20.0 * 2.5;
    for count in [at_start, air.len()] {
        assert!((0.75..1.25).contains(&(count as f64 / filled)), "{count} of {filled}");
    }
}

#[test]
fn air_that_is_far_away_costs_nothing() {
    assert_eq!(pool(2.0).liquid.air.len(), pool(3.8).liquid.air.len());
}

#[test]
fn a_particle_of_air_opens_a_gap_and_no_liquid() {
    let params = SurfaceParams::default();
    let (mut liquid, _) = super::surface::seeded(DVec3::ZERO, DVec3::splat(1.6), |_| true);
    let middle = Vec3::splat(0.85);
    let opened = |liquid: &mut Particles, air: bool| {
        let cells = sorted(liquid);
        let mut passive = air::passive(DVec3::ZERO, vec![middle], vec![0]);
        let own = cells::sort(&mut passive, &transform(), &cells.topology).0;
        let of_air = air.then_some(&own);
        surface(liquid, &cells, of_air, &transform(), None, None, &params)
    };
    // One that strays into cells that are full of liquid.
    assert_eq!(opened(&mut liquid, true).values, opened(&mut liquid, false).values);
    // One amid a cell without liquid.
    let gap = transform().to_index(middle.as_dvec3()).round();
    let outside = |x: &Vec3| (transform().to_index(x.as_dvec3()) - gap).abs().max_element() > 0.5;
    let kept = (0..liquid.len() as u32).filter(|&p| outside(&liquid.position[p as usize])).collect();
    liquid.select(&Selection { source: kept });
    let (with, without) = (opened(&mut liquid, true), opened(&mut liquid, false));
    assert!(with.get(gap.as_ivec3()) > without.get(gap.as_ivec3()));
}
