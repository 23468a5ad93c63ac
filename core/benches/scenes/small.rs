//! A cylinder of water falls onto a floor and splashes: into a closed box, into a cup, or into a cup that turns.

use glam::{DMat3, DVec3, IVec3, Vec3};
use meniscus_core::coupling::memory::BubbleMemory;
use meniscus_core::coupling::{CellGrids, LiquidFields, Projection, constraint_bubbles, free_surface};
use meniscus_core::fluid::flip::{correct, predict, start, suggest_dt};
use meniscus_core::fluid::liquid::Liquid;
use meniscus_core::fluid::params::FlipParams;
use meniscus_core::fluid::particles::seeding::{Material, Seeding};
use meniscus_core::fluid::step::Step;
use meniscus_core::grid::{Grid, Transform};
use meniscus_core::levelset::SignedDistance;
use meniscus_core::pressure::{Density, MultigridSolver, Params};
use meniscus_core::solid::{Collider, DomainLimits, Motion, Side, SolidMemory, Solids};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

/// m/s².
const GRAVITY: f64 = 9.81;
const WATER: Material = Material { density: 1000.0, viscosity: 0.001 };
/// Most substeps in a frame of 1/24 s: the longest of them is the shortest that is taken.
const LEAST_STEP: f64 = 1.0 / (24.0 * 8.0);

/// What the water falls into.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Into {
    Box,
    Cup,
    TurningCup,
}

/// Seconds of the parts of a substep.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts {
    pub predict: f64,
    pub solve: f64,
    pub correct: f64,
}

/// A shot between two substeps.
pub struct Small {
    pub liquid: Liquid,
    pub time: f64,
    domain: DomainLimits,
    cup: Option<Arc<SignedDistance>>,
    lattice: Transform,
    turns: f64,
    params: FlipParams,
    memory: SolidMemory,
    solver: MultigridSolver,
    pressure: Option<Grid<f32>>,
    air: Option<BubbleMemory>,
}

/// Distance to a cup of radius 0.12 m whose floor lies at y = 0, metres.
fn cup(p: DVec3) -> f64 {
    let cylinder = |radius: f64, low: f64, high: f64| {
        let side = DVec3::new(p.x, 0.0, p.z).length() - radius;
        let end = (low - p.y).max(p.y - high);
        side.max(0.0).hypot(end.max(0.0)) + side.max(end).min(0.0)
    };
    cylinder(0.12, -0.02, 0.2).max(-cylinder(0.1, 0.0, 0.4))
}

impl Small {
    /// The start, with about so many particles.
    pub fn new(particles: usize, into: Into) -> Self {
        let (radius, height) = (0.06f64, 0.15f64);
        let volume = std::f64::consts::PI * radius * radius * height;
        let h = 2.0 * (volume / particles as f64).cbrt();
        let lattice = Transform::uniform(h, DVec3::ZERO);
        let reach = (0.3 / h).ceil() as i32 + 8;
        let walls = || SignedDistance::from_fn(&lattice, IVec3::splat(-reach), IVec3::splat(reach), 3.0, cup);
        let side = if into == Into::Box { Side::Closed } else { Side::Kill };
        let params = FlipParams { viscosity: false, ..FlipParams::for_voxel(h as f32) };
        let mut shot = Self {
            liquid: Liquid::new(lattice, DVec3::ZERO),
            time: 0.0,
            domain: DomainLimits::uniform(DVec3::new(-0.3, -0.1, -0.3), DVec3::new(0.3, 0.7, 0.3), side),
            cup: (into != Into::Box).then(|| Arc::new(walls())),
            lattice,
            turns: if into == Into::TurningCup { 0.5 } else { 0.0 },
            params,
            memory: SolidMemory::default(),
            solver: MultigridSolver::default(),
            pressure: None,
            air: None,
        };
        let middle = DVec3::new(0.02, 0.2, 0.0);
        let is_water = |p: DVec3| (p - middle).with_y(0.0).length() < radius;
        let span = DVec3::new(radius, 0.5 * height, radius);
        let Liquid { particles, next_id, .. } = &mut shot.liquid;
        let still = |_: DVec3| Vec3::ZERO;
        let limits = (middle - span, middle + span);
        Seeding::for_voxel(h as f32).fill(particles, &lattice, limits, is_water, still, WATER, next_id);
        let (colliders, domain) = (shot.colliders(0.0), shot.domain);
        let solids = Solids { colliders: &colliders, domain: &domain };
        start(&mut shot.liquid, &solids, &shot.params, &mut shot.memory);
        shot
    }

    /// The solids at a time, s.
    fn colliders(&self, time: f64) -> Vec<Collider> {
        let Some(cup) = &self.cup else { return Vec::new() };
        let mut placed = self.lattice;
        placed.linear = DMat3::from_rotation_z(self.turns * time) * placed.linear;
        let turning =
            Motion::Rigid { linear: DVec3::ZERO, angular: self.turns * DVec3::Z, pivot: DVec3::ZERO };
        let motion = if self.turns == 0.0 { Motion::Static } else { turning };
        vec![Collider::new(cup.clone(), placed, motion)]
    }

    /// Takes a substep, and says how long its parts took.
    pub fn substep(&mut self) -> Parts {
        let began = Instant::now();
        let dt = suggest_dt(&self.liquid, f64::from(self.params.cfl), GRAVITY).clamp(LEAST_STEP, 1.0 / 24.0);
        self.time += dt;
        for v in &mut self.liquid.particles.velocity {
            v.y -= (GRAVITY * dt) as f32;
        }
        let (colliders, domain) = (self.colliders(self.time), self.domain);
        let solids = Solids { colliders: &colliders, domain: &domain };
        let step = Step::steady(dt);
        predict(&mut self.liquid, &solids, &solids, &step, &self.params, &mut self.memory);
        let predicted = Instant::now();
        self.solve(dt);
        let solved = Instant::now();
        correct(&mut self.liquid, &self.params);
        Parts {
            predict: (predicted - began).as_secs_f64(),
            solve: (solved - predicted).as_secs_f64(),
            correct: solved.elapsed().as_secs_f64(),
        }
    }

    fn solve(&mut self, dt: f64) {
        let Liquid { transform, surface, solid, spray, volume, divergence, .. } = &self.liquid;
        let density = Density::Uniform(f64::from(WATER.density));
        let plain =
            LiquidFields::new(*transform, self.domain, surface, &solid.open, &solid.velocity, density);
        let fields = LiquidFields {
            cells: CellGrids {
                spray: Some(spray),
                divergence: Some(divergence),
                pressure: self.pressure.as_ref(),
                ..CellGrids::default()
            },
            liquid_excess: volume.excess_volume(),
            previous_bubbles: self.air.as_ref(),
            volume_gain: 2.0,
            ..plain
        };
        let project = if self.cup.is_some() { constraint_bubbles::project } else { free_surface::project };
        let (mut vel, params) = (self.liquid.velocity.clone(), Params::default());
        let go_on = &mut |_| ControlFlow::Continue(());
        let solved = project(&fields, &mut vel, dt, &mut self.solver, &params, go_on);
        let Projection { pressure, memory, surface, .. } = solved.expect("a shot has a pressure");
        (self.pressure, self.air) = (Some(pressure), Some(memory));
        self.liquid.velocity = vel;
        if let Some(fitted) = surface {
            self.liquid.surface = fitted;
        }
    }
}
