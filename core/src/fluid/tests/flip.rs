use super::*;
use crate::coupling::memory::BubbleMemory;
use crate::coupling::viscous::{Viscous, between_projections};
use crate::coupling::{Bubble, CellGrids, LiquidFields, Parting, constraint_bubbles, free_surface};
use crate::fluid::flip::{correct_on, predict, start, suggest_dt};
use crate::fluid::liquid::Liquid;
use crate::fluid::params::FlipParams;
use crate::fluid::particles::seeding::{Material, Seeding};
use crate::fluid::step::Step;
use crate::fluid::transport::device::Processor;
use crate::fluid::transport::transfer::VelocityTransfer;
use crate::grid::{FaceGrid, Grid};
use crate::levelset::SignedDistance;
use crate::pressure::{Density, MultigridSolver, Params};
use crate::solid::SolidMemory;
use crate::solid::{Collider, DomainLimits, Motion, Side, Solids};
use crate::viscosity::{self, Viscosity, ViscousLiquid, Walls};
use std::ops::ControlFlow;

const WATER: Material = Material { density: 1000.0, viscosity: 0.001 };
pub(super) const GRAVITY: f64 = 9.81;

pub(super) struct Scene {
    pub(super) liquid: Liquid,
    domain: DomainLimits,
    pub(super) colliders: Vec<Collider>,
    pub(super) params: FlipParams,
    memory: SolidMemory,
    solver: MultigridSolver,
    /// Velocities of the particles where they are, m/s.
    pub(super) now: Vec<Vec3>,
    /// Viscosity acts before the only projection, not between two.
    pub(super) viscous_first: bool,
    /// Trapped air keeps its volume.
    pub(super) keeps_air: bool,
    air: Option<BubbleMemory>,
    /// The regions of air, as the projection left them.
    pub(super) bubbles: Vec<Bubble>,
    /// Liquid parts from solids, at this pressure (Pa) where no air reaches.
    pub(super) parts_at: Option<f64>,
    pub(super) pressure: Option<Grid<f32>>,
}

impl Scene {
    pub(super) fn new(domain: DomainLimits, inside: impl Fn(DVec3) -> bool + Sync, velocity: Vec3) -> Self {
        Self::among(Vec::new(), domain, inside, velocity)
    }

    pub(super) fn among(
        colliders: Vec<Collider>,
        domain: DomainLimits,
        inside: impl Fn(DVec3) -> bool + Sync,
        velocity: Vec3,
    ) -> Self {
        let mut liquid = Liquid::new(transform(), DVec3::ZERO);
        let finite = |x: DVec3, else_: f64| x.map(|x| if x.is_finite() { x } else { else_ });
        let bounds = (finite(domain.min, -4.0), finite(domain.max, 4.0));
        let seeding = Seeding::for_voxel(H as f32);
        let Liquid { particles, next_id, .. } = &mut liquid;
        seeding.fill(particles, &transform(), bounds, inside, |_| velocity, WATER, next_id);
        let mut scene = Self {
            liquid,
            domain,
            colliders,
            params: FlipParams { viscosity: false, ..FlipParams::for_voxel(H as f32) },
            memory: SolidMemory::default(),
            solver: MultigridSolver::default(),
            now: Vec::new(),
            viscous_first: false,
            keeps_air: false,
            air: None,
            bubbles: Vec::new(),
            parts_at: None,
            pressure: None,
        };
        let solids = Solids { colliders: &scene.colliders, domain: &scene.domain };
        start(&mut scene.liquid, &solids, &scene.params, &mut scene.memory);
        scene
    }

    pub(super) fn substep(&mut self, dt: f64, gravity: f64) {
        self.step(&Step::steady(dt), gravity);
    }

    pub(super) fn step(&mut self, step: &Step, gravity: f64) {
        let dt = step.kick;
        let mut unkicked = self.liquid.particles.velocity.clone();
        for v in &mut self.liquid.particles.velocity {
            v.y -= (gravity * dt) as f32;
        }
        let solids = Solids { colliders: &self.colliders, domain: &self.domain };
        let moved = predict(&mut self.liquid, &solids, &solids, step, &self.params, &mut self.memory);
        unkicked = moved.apply(&unkicked, Vec3::ZERO).into_owned();
        let fields = LiquidFields {
            transform: self.liquid.transform,
            domain: self.domain,
            surface: &self.liquid.surface,
            open: &self.liquid.solid.open,
            without_lids: None,
            vel_solid: &self.liquid.solid.velocity,
            faces: Default::default(),
            cells: CellGrids {
                swelling: self.liquid.swelling.as_ref(),
                divergence: Some(&self.liquid.divergence),
                tension: self.liquid.tension.as_ref(),
                spray: Some(&self.liquid.spray),
                pressure: self.pressure.as_ref(),
            },
            kick: glam::DVec3::ZERO,
            kicks: None,
            liquid_excess: self.liquid.volume.excess_volume(),
            rest_volume: 0.0,
            density: Density::Uniform(1000.0),
            face_density: None,
            jump: None,
            chambers: &[],
            previous_bubbles: self.air.as_ref(),
            drift: step.next,
            volume_gain: 10.0,
            bodies: None,
            gas: None,
            pressed: &[],
            parting: self
                .parts_at
                .map(|cavitation| Parting { cavitation, previous: self.liquid.parted.as_ref() }),
        };
        let keep_going = |_| ControlFlow::Continue(());
        let params = Params::default();
        let (vel, solver) = (&mut self.liquid.velocity, &mut self.solver);
        let coupling = if self.keeps_air { constraint_bubbles::project } else { free_surface::project };
        let mut project = |fields: &LiquidFields, vel: &mut FaceGrid<f32>| {
            coupling(fields, vel, dt, solver, &params, &mut { keep_going })
        };
        match &self.liquid.viscosity {
            None => {
                let solved = project(&fields, vel).unwrap();
                self.air = Some(solved.memory);
                self.bubbles = solved.bubbles;
                if self.parts_at.is_some() {
                    self.pressure = Some(solved.pressure);
                }
                self.liquid.parted = solved.parted;
                if let Some(fitted) = solved.surface {
                    self.liquid.surface = fitted;
                }
            }
            Some(mu) if self.viscous_first => {
                let liquid = ViscousLiquid {
                    transform: fields.transform,
                    surface: fields.surface,
                    solid: &self.liquid.solid.nodes,
                    open: fields.open,
                    vel_solid: fields.vel_solid,
                    density: fields.density,
                    face_density: None,
                    viscosity: Viscosity::PerCell(mu),
                    walls: Walls::NoSlip,
                };
                viscosity::diffuse(&liquid, vel, dt, &viscosity::Params::default(), &mut { keep_going })
                    .unwrap();
                project(&fields, vel).unwrap();
            }
            Some(mu) => {
                let viscous = Viscous {
                    solid: &self.liquid.solid.nodes,
                    viscosity: Viscosity::PerCell(mu),
                    walls: Walls::NoSlip,
                    params: viscosity::Params::default(),
                };
                let go_on = &mut { keep_going };
                between_projections(&fields, &viscous, vel, dt, &mut project, go_on).unwrap();
            }
        }
        let Ok((_, gained)) = correct_on(&mut self.liquid, &unkicked, &self.params, &mut Processor);
        self.now = step.synchronised(&self.liquid.particles.velocity, &gained);
    }

    pub(super) fn rms_speed(&self) -> f64 {
        let v = &self.liquid.particles.velocity;
        (v.iter().map(|v| v.as_dvec3().length_squared()).sum::<f64>() / v.len() as f64).sqrt()
    }

    fn momentum(&self) -> DVec3 {
        self.liquid.particles.velocity.iter().map(|v| v.as_dvec3()).sum::<DVec3>()
            / self.liquid.particles.len() as f64
    }

    pub(super) fn volume(&self) -> f64 {
        self.liquid.measured.total()
    }
}

#[test]
fn a_drop_without_gravity_keeps_its_momentum_and_shape() {
    let centre = DVec3::new(0.03, 0.05, -0.02);
    let u = Vec3::new(1.0, -0.5, 0.25);
    let mut scene = Scene::new(DomainLimits::unbounded(), |x| (x - centre).length() < 0.5, u);
    scene.params.reseeding = None;
    let before = scene.momentum();
    let volume = scene.volume();
    for _ in 0..20 {
        scene.substep(1.0 / 48.0, 0.0);
    }
    assert!((scene.momentum() - before).length() < 1e-3, "{} → {}", before, scene.momentum());
    assert!((scene.volume() / volume - 1.0).abs() < 0.02);
    let spread = scene.liquid.particles.velocity.iter().map(|v| (*v - u).length()).fold(0.0, f32::max);
    assert!(spread < 0.02, "a drop in uniform motion deforms: {spread} m/s");
}

/// What walls cut off cells holds few particles, and is to hold few: births there would crowd, and swell the liquid.
#[test]
fn slivers_beside_walls_are_not_filled_again_and_again() {
    for sliver in [0.13, 0.3, 0.6] {
        let wall = DVec3::splat((6.5 + sliver) * H);
        let mut scene =
            Scene::new(DomainLimits::uniform(-wall, wall, Side::Closed), |x| x.y < 0.2, Vec3::ZERO);
        let born = scene.liquid.next_id;
        for _ in 0..6 {
            scene.substep(1.0 / 48.0, 0.0);
        }
        let births = scene.liquid.next_id - born;
        assert_eq!(births, 0, "nothing moves, slivers of {sliver} voxels, {born} particles");
    }
}

#[test]
fn a_tank_at_rest_settles_and_keeps_its_level() {
    let (lo, hi) = (DVec3::ZERO, DVec3::new(1.2, 1.6, 1.0));
    let depth = 0.83;
    let mut scene = Scene::new(DomainLimits::uniform(lo, hi, Side::Closed), |x| x.y < depth, Vec3::ZERO);
    let rest = scene.volume();
    println!("volume {rest} of {}", 1.2 * depth);
    let dt = 1.0 / 48.0;
    for step in 0..96 {
        scene.substep(dt, GRAVITY);
        if step % 12 == 11 {
            println!(
                "t {:.2}: rms {:.4} max {:.3} volume {:.4} n {}",
                (step + 1) as f64 * dt,
                scene.rms_speed(),
                scene.liquid.particles.max_speed(),
                scene.volume() / rest,
                scene.liquid.particles.len()
            );
        }
    }
    assert!(scene.rms_speed() < 0.01 * (GRAVITY * depth).sqrt(), "{}", scene.rms_speed());
    assert!((scene.volume() / rest - 1.0).abs() < 0.01);
}

/// A tank one voxel thick along an axis across gravity, with a free surface between two rows of voxels.
#[test]
fn a_tank_one_voxel_thick_keeps_its_volume_and_level() {
    let depth = 0.83;
    for (axis, across) in [(0, 2), (2, 0)] {
        let mut hi = DVec3::new(1.2, 1.6, 1.2);
        hi[axis] = H;
        let domain = DomainLimits::uniform(DVec3::ZERO, hi, Side::Closed);
        let mut scene = Scene::new(domain, |x| x.y < depth, Vec3::ZERO);
        let poured = 1.2 * H * depth;
        for step in 0..72 {
            scene.substep(1.0 / 48.0, GRAVITY);
            let volume = scene.volume() / poured;
            assert!((volume - 1.0).abs() < 0.03, "{volume} of the volume after {step} steps");
        }
        assert!(scene.rms_speed() < 0.01 * (GRAVITY * depth).sqrt(), "{}", scene.rms_speed());
        for column in 2..10 {
            let mut cell = glam::IVec3::ZERO;
            cell[across] = column;
            let phi = |y: i32| f64::from(scene.liquid.surface.get(cell + y * glam::IVec3::Y));
            let level = (0..15)
                .find(|&y| phi(y) < 0.0 && phi(y + 1) >= 0.0)
                .map(|y| H * (f64::from(y) + 0.5 + phi(y) / (phi(y) - phi(y + 1))));
            assert!(level.is_some_and(|y| (y - depth).abs() < 0.2 * H), "level {level:?} in column {column}");
        }
    }
}

/// A ball-shaped hole, radius 0.6 m, in a block of solid.
fn bowl(motion: Motion) -> Collider {
    let lattice = Transform::uniform(H, DVec3::ZERO);
    let distance = |x: DVec3| 0.6 - x.length();
    let sdf =
        SignedDistance::from_fn(&lattice, glam::IVec3::splat(-10), glam::IVec3::splat(9), 3.0, distance);
    Collider::new(Arc::new(sdf), lattice, motion)
}

#[test]
fn water_in_a_round_bowl_comes_to_rest_and_none_leaks() {
    let domain = DomainLimits::unbounded();
    let water = |x: DVec3| x.length() < 0.58 && x.y < 0.1;
    let mut scene = Scene::among(vec![bowl(Motion::Static)], domain, water, Vec3::ZERO);
    let rest = scene.volume();
    for step in 0..96 {
        scene.substep(1.0 / 48.0, GRAVITY);
        if step % 24 == 23 {
            println!(
                "bowl: rms {:.4} max {:.3} volume {:.4} n {}",
                scene.rms_speed(),
                scene.liquid.particles.max_speed(),
                scene.volume() / rest,
                scene.liquid.particles.len()
            );
        }
    }
    let farthest = scene.liquid.particles.position.iter().map(|x| x.length()).fold(0.0, f32::max);
    assert!(farthest < 0.6, "{farthest}");
    assert!(scene.rms_speed() < 0.01 * (GRAVITY * 0.7f64).sqrt(), "{}", scene.rms_speed());
    assert!((scene.volume() / rest - 1.0).abs() < 0.01);
}

/// A column that collapses onto a dry floor.
fn dam() -> Scene {
    let domain = DomainLimits::uniform(DVec3::ZERO, DVec3::new(1.6, 1.2, 0.8), Side::Closed);
    Scene::new(domain, |x| x.x < 0.6 && x.y < 0.8, Vec3::ZERO)
}

#[test]
fn a_dam_break_keeps_its_volume_and_loses_energy() {
    let mut scene = dam();
    let rest = scene.volume();
    let energy = |s: &Scene| {
        let p = &s.liquid.particles;
        let each =
            |n: usize| 0.5 * f64::from(p.velocity[n].length_squared()) + GRAVITY * f64::from(p.position[n].y);
        (0..p.len()).map(each).sum::<f64>() / p.len() as f64
    };
    let mut last = energy(&scene);
    for step in 0..60 {
        scene.substep(suggest_dt(&scene.liquid, 2.0, GRAVITY).min(1.0 / 48.0), GRAVITY);
        let now = energy(&scene);
        if step % 6 == 5 {
            println!(
                "dam: energy {:.4} volume {:.4} n {} max {:.2}",
                now,
                scene.volume() / rest,
                scene.liquid.particles.len(),
                scene.liquid.particles.max_speed()
            );
        }
        assert!(now < last + 0.02, "energy grows: {last} → {now}");
        last = now;
        assert!((scene.volume() / rest - 1.0).abs() < 0.06, "{}", scene.volume() / rest);
    }
}

#[test]
fn neither_threads_nor_forgetting_change_a_bit() {
    let run = |threads: usize, forget: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut scene = dam();
            scene.params.transfer = VelocityTransfer::Flip { flip: 0.97 };
            for _ in 0..6 {
                if forget {
                    scene.memory = SolidMemory::default();
                    scene.solver = MultigridSolver::default();
                }
                scene.substep(1.0 / 48.0, GRAVITY);
            }
            (scene.liquid.particles, scene.liquid.velocity.values, scene.liquid.surface.values)
        })
    };
    let one = run(1, false);
    assert!(one == run(3, false), "threads");
    assert!(one == run(2, true), "caches");
}

#[test]
fn the_suggested_step_counts_what_gravity_adds() {
    let mut liquid = Liquid::new(transform(), DVec3::ZERO);
    assert_eq!(suggest_dt(&liquid, 2.0, 0.0), f64::INFINITY);
    liquid.particles.push(particle(Vec3::ZERO, Vec3::X * 3.0, 0));
    let dt = suggest_dt(&liquid, 0.5, GRAVITY);
    // In it, and in one as long after it.
    let way = |u: f64| (u + 0.5 * GRAVITY * dt) * dt;
    assert!((way(3.0 + GRAVITY * dt) - 0.5 * H).abs() < 1e-9 && way(3.0) < 0.5 * H);
}

#[test]
fn no_suggested_step_is_longer_than_waves_bear() {
    let mut liquid = Liquid::new(transform(), DVec3::ZERO);
    liquid.particles.push(particle(Vec3::ZERO, Vec3::ZERO, 0));
    for gravity in [0.1, 1.62, GRAVITY, 300.0] {
        let dt = suggest_dt(&liquid, 5.0, gravity);
        // The shortest wave of deep water that voxels resolve has kh = π.
        let shortest = (gravity * std::f64::consts::PI / H).sqrt();
        assert!(shortest * dt < 1.0, "{gravity} m/s²: ω dt = {}", shortest * dt);
    }
}

#[test]
fn every_leaf_of_the_surface_knows_its_walls() {
    let mut beyond = 0;
    for n in 0..12 {
        // Walls at different places in their cells, drops at different places on them.
        let corner = DVec3::new(-1.3, -1.1, -0.7) - H * DVec3::new(0.08, 0.13, 0.21) * f64::from(n);
        let domain = DomainLimits::uniform(corner, -corner, Side::Closed);
        let drops = |p: DVec3| {
            let q = (p - corner) / (5.3 * H);
            (q - q.round()).length() * 5.3 < 1.6
        };
        let scene = Scene::new(domain, drops, Vec3::ZERO);
        let (surface, open) = (&scene.liquid.surface.topology, &scene.liquid.solid.open.topology);
        assert!(surface.origins().iter().all(|&o| open.leaf_of(o).is_some()), "walls of set-up {n}");
        let reach = crate::fluid::particles::cells::covering(&scene.liquid.particles, &transform(), 5);
        beyond += surface.origins().iter().filter(|&&o| reach.leaf_of(o).is_none()).count();
    }
    assert!(beyond > 0, "in none of them the band reached beyond the cells");
}
