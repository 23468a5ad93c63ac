//! A splash in an open tank: a column collapses into a pool with bubbles, a ball of water falls in.

use glam::{DVec3, IVec3};
use meniscus_core::coupling::memory::BubbleMemory;
use meniscus_core::coupling::{CellGrids, LiquidFields, Projection, constraint_bubbles};
use meniscus_core::fluid::flip::{correct, predict, start, suggest_dt};
use meniscus_core::fluid::liquid::Liquid;
use meniscus_core::fluid::params::FlipParams;
use meniscus_core::fluid::particles::seeding::{Material, Seeding};
use meniscus_core::fluid::step::Step;
use meniscus_core::grid::{Grid, Transform};
use meniscus_core::levelset::SignedDistance;
use meniscus_core::pressure::{Density, MultigridSolver, Params};
use meniscus_core::solid::SolidMemory;
use meniscus_core::solid::{Collider, DomainLimits, Motion, Side, Solids};
use std::ops::ControlFlow;
use std::sync::Arc;

/// m/s².
pub const GRAVITY: f64 = 9.81;
const WATER: Material = Material { density: 1000.0, viscosity: 0.001 };
/// Inner walls of the tank, metres: it fills most of the unit cube and has no lid.
const TANK: (DVec3, DVec3) = (DVec3::splat(0.1), DVec3::new(0.9, 0.8, 0.9));
/// Thickness of its walls, metres.
const WALL: f64 = 0.09;
/// Centres and radii of the bubbles that it starts with, metres.
const BUBBLES: [(DVec3, f64); 7] = [
    (DVec3::new(0.22, 0.40, 0.30), 0.07),
    (DVec3::new(0.22, 0.52, 0.65), 0.06),
    (DVec3::new(0.45, 0.22, 0.25), 0.07),
    (DVec3::new(0.45, 0.21, 0.75), 0.06),
    (DVec3::new(0.62, 0.20, 0.50), 0.07),
    (DVec3::new(0.78, 0.20, 0.28), 0.06),
    (DVec3::new(0.78, 0.21, 0.72), 0.06),
];

/// Signed distance to a box, metres.
fn cuboid(p: DVec3, (low, high): (DVec3, DVec3)) -> f64 {
    let d = (low - p).max(p - high);
    d.max(DVec3::ZERO).length() + d.max_element().min(0.0)
}

fn tank(p: DVec3) -> f64 {
    let outer = (TANK.0 - WALL, TANK.1 + DVec3::new(WALL, 0.0, WALL));
    let room = (TANK.0, DVec3::new(TANK.1.x, 2.0, TANK.1.z));
    cuboid(p, outer).max(-cuboid(p, room))
}

fn is_ball(p: DVec3) -> bool {
    p.distance(DVec3::new(0.65, 0.6, 0.5)) < 0.1
}

fn is_water(p: DVec3) -> bool {
    let pool = p.y < 0.35 || (p.x < 0.35 && p.y < 0.7);
    (pool && BUBBLES.iter().all(|(centre, radius)| p.distance(*centre) > *radius)) || is_ball(p)
}

/// The liquid between two substeps, and what its solver remembers.
pub struct Splash {
    pub liquid: Liquid,
    pub domain: DomainLimits,
    pub colliders: Vec<Collider>,
    pub params: FlipParams,
    memory: SolidMemory,
    solver: MultigridSolver,
    pub pressure: Option<Grid<f32>>,
    pub air: Option<BubbleMemory>,
}

impl Splash {
    /// The start, on voxels of 1/n m, in a domain `room` times the unit cube a side, about its centre.
    pub fn new(n: i32, room: f64, side: Side) -> Self {
        let transform = Transform::uniform(1.0 / f64::from(n), DVec3::ZERO);
        let (low, high) = (DVec3::splat(0.5 - 0.5 * room), DVec3::splat(0.5 + 0.5 * room));
        let sdf = SignedDistance::from_fn(&transform, IVec3::splat(-8), IVec3::splat(n + 8), 3.0, tank);
        let params = FlipParams { viscosity: false, ..FlipParams::for_voxel(transform.voxel_size() as f32) };
        let mut splash = Self {
            liquid: Liquid::new(transform, DVec3::ZERO),
            domain: DomainLimits::uniform(low, high, side),
            colliders: vec![Collider::new(Arc::new(sdf), transform, Motion::Static)],
            params,
            memory: SolidMemory::default(),
            solver: MultigridSolver::default(),
            pressure: None,
            air: None,
        };
        let Liquid { particles, next_id, .. } = &mut splash.liquid;
        let velocity = |p: DVec3| if is_ball(p) { -3.0 * glam::Vec3::Y } else { glam::Vec3::ZERO };
        Seeding::for_voxel(params.particle_separation * 2.0)
            .fill(particles, &transform, TANK, is_water, velocity, WATER, next_id);
        let solids = Solids { colliders: &splash.colliders, domain: &splash.domain };
        start(&mut splash.liquid, &solids, &splash.params, &mut splash.memory);
        splash
    }

    /// A few substeps on: surfaces are rough, bubbles have moved, solvers start from a pressure.
    pub fn in_motion(n: i32) -> Self {
        let mut splash = Self::new(n, 1.0, Side::Open);
        for _ in 0..6 {
            splash.substep();
        }
        splash
    }

    /// The longest step, seconds, in which no particle travels more than two voxels.
    pub fn dt(&self) -> f64 {
        suggest_dt(&self.liquid, f64::from(self.params.cfl), GRAVITY)
    }

    /// Gravity and everything before the solve.
    pub fn predict(&mut self, dt: f64) {
        for v in &mut self.liquid.particles.velocity {
            v.y -= (GRAVITY * dt) as f32;
        }
        let solids = Solids { colliders: &self.colliders, domain: &self.domain };
        predict(&mut self.liquid, &solids, &solids, &Step::steady(dt), &self.params, &mut self.memory);
    }

    /// What a projection reads.
    pub fn fields(&self) -> LiquidFields<'_> {
        let (liquid, density) = (&self.liquid, Density::Uniform(f64::from(WATER.density)));
        let solid = &liquid.solid;
        let water = LiquidFields::new(
            liquid.transform,
            self.domain,
            &liquid.surface,
            &solid.open,
            &solid.velocity,
            density,
        );
        LiquidFields {
            cells: CellGrids {
                spray: Some(&liquid.spray),
                divergence: Some(&liquid.divergence),
                pressure: self.pressure.as_ref(),
                ..CellGrids::default()
            },
            kick: glam::DVec3::ZERO,
            kicks: None,
            liquid_excess: liquid.volume.excess_volume(),
            rest_volume: 0.0,
            previous_bubbles: self.air.as_ref(),
            volume_gain: 2.0,
            ..water
        }
    }

    /// One whole substep with constraint bubbles.
    pub fn substep(&mut self) {
        let dt = self.dt();
        self.predict(dt);
        let (mut vel, mut solver) = (self.liquid.velocity.clone(), std::mem::take(&mut self.solver));
        let go_on = &mut |_| ControlFlow::Continue(());
        let solved =
            constraint_bubbles::project(&self.fields(), &mut vel, dt, &mut solver, &Params::default(), go_on);
        let Projection { pressure, memory, surface, .. } = solved.expect("the splash has a pressure");
        (self.pressure, self.air, self.solver) = (Some(pressure), Some(memory), solver);
        self.liquid.velocity = vel;
        if let Some(fitted) = surface {
            self.liquid.surface = fitted;
        }
        correct(&mut self.liquid, &self.params);
    }
}
