//! Viscosity and trapped air in one substep.

use super::*;
use crate::coupling::bodies::{Bodies, Body, Constraint, Piece, Twist};
use crate::coupling::rigid_fluid;
use crate::coupling::viscous::{Viscous, between_projections};
use crate::pressure::MultigridSolver;
use crate::viscosity::{self, Viscosity, Walls};
use std::f64::consts::PI;

/// A closed tank full of honey but for a bubble, thrown about.
fn honey() -> Scene {
    let h = 0.01;
    let c = DVec3::new(8.3, 7.8, 8.1) * h;
    Scene::still(h, IVec3::splat(16), [true; 6], move |p: DVec3| 4.3 * h - p.distance(c), empty)
        .with_velocity(noisy_velocity)
}

#[test]
fn honey_around_a_bubble_is_incompressible_and_so_is_the_bubble() {
    let scene = honey();
    let (h, dt) = (scene.transform.voxel_size(), 0.01);
    let solid = Grid::new(scene.surface.topology.clone(), 1.0);
    for mu in [1.0, 1e5] {
        let viscous = Viscous {
            solid: &solid,
            viscosity: Viscosity::Uniform(mu),
            walls: Walls::NoSlip,
            params: viscosity::Params::default(),
        };
        let mut vel = scene.vel.clone();
        let mut project = |fields: &LiquidFields, vel: &mut FaceGrid<f32>| {
            constraint_bubbles::project(fields, vel, dt, &mut PlainCg, &TIGHT, &mut run_on)
        };
        let (p, info) =
            between_projections(&scene.fields(), &viscous, &mut vel, dt, &mut project, &mut run_on).unwrap();
        assert!(info.converged && p.info.converged, "{info:?} {:?}", p.info);
        assert_eq!(p.bubbles.len(), 1);
        println!("{mu} Pa·s: divergence {} 1/s, flux {} m³/s", p.max_divergence, p.max_bubble_flux);
        assert!(p.max_divergence * h < 2e-5, "{mu} Pa·s: {} m/s", p.max_divergence * h);
        assert!(p.max_bubble_flux < 1e-4 * h * h, "{mu} Pa·s: {} m³/s", p.max_bubble_flux);
        assert!(scene.fastest(&vel) < scene.fastest(&scene.vel), "{mu} Pa·s");
    }
}

const JOINT: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// A ball: middle and radius, m; density, kg/m³.
#[derive(Clone, Copy)]
struct Ball(DVec3, f64, f64);

/// Balls in a viscous liquid that fills what `solid` leaves of a closed box, and never change their places.
struct Afloat {
    scene: Scene,
    solid: Grid<f32>,
    owner: FaceGrid<u32>,
    bodies: Vec<Body>,
    mu: f64,
}

impl Afloat {
    fn new(h: f64, size: IVec3, balls: &[Ball], solid: impl Fn(DVec3) -> f64 + Sync, mu: f64) -> Self {
        let away = |n: usize, p: DVec3| p.distance(balls[n].0) - balls[n].1;
        let all = |p: DVec3| (0..balls.len()).map(|n| away(n, p)).fold(solid(p), f64::min);
        let scene = Scene::still(h, size, [true; 6], |_| -1.0, all);
        let domain = move |p: DVec3| p.min_element().min((size.as_dvec3() * h - p).min_element());
        let node = |c: Coord| scene.transform.to_world(c.as_dvec3() - 0.5);
        let solid_nodes = Grid::from_fn(scene.surface.topology.clone(), 1.0, |c| {
            let p = node(c);
            all(p).min(domain(p)) as f32
        });
        let owner = FaceGrid::from_fn(scene.vel.topology.clone(), 0, |a, c| {
            let p = scene.transform.face_centre(a, c);
            let nearest = (0..balls.len()).min_by(|&i, &j| away(i, p).total_cmp(&away(j, p)));
            nearest.filter(|&n| away(n, p) < solid(p).min(domain(p))).map_or(0, |n| n as u32 + 1)
        });
        let body = |ball: &Ball| {
            let mass = ball.2 * 4.0 / 3.0 * PI * ball.1.powi(3);
            let of = |n: usize| if n < 3 { mass } else { 0.4 * mass * ball.1 * ball.1 };
            let unit = |n: usize, of: usize| if n / 3 == of { DVec3::AXES[n % 3] } else { DVec3::ZERO };
            let twists = (0..6).map(|n| Twist { linear: unit(n, 0), angular: unit(n, 1) }).collect();
            let mass: Vec<f64> = (0..36).map(|n| if n / 6 == n % 6 { of(n / 6) } else { 0.0 }).collect();
            Body {
                velocity: vec![0.0; 6],
                before: Some(vec![0.0; 6]),
                mass: mass.into(),
                pieces: vec![Piece { pivot: ball.0, twists }].into(),
            }
        };
        Self { solid: solid_nodes, owner, bodies: balls.iter().map(body).collect(), mu, scene }
    }

    /// One substep under gravity `g`: what the last projection reports. Places stay as they are, and so does momentum in them.
    fn step(&mut self, g: f64, dt: f64, constraints: &[Constraint], rigid_fluid: bool) -> Projection {
        for body in &mut self.bodies {
            body.before = Some(body.velocity.clone());
            body.velocity[1] -= g * dt;
        }
        self.scene.vel.values[1].iter_mut().for_each(|v| *v -= (g * dt) as f32);
        let pieces: Vec<_> = (0..self.bodies.len()).map(|b| Some((b, 0))).collect();
        let mut fields = self.scene.fields();
        fields.kick.y = -g * dt;
        let (bodies, left_by_first) = (self.bodies.as_slice(), &self.scene.volume);
        fields.bodies = Some(Bodies {
            bodies,
            constraints,
            owner: &self.owner,
            left_by_first,
            room: None,
            pieces: &pieces,
        });
        let viscous = Viscous {
            solid: &self.solid,
            viscosity: Viscosity::Uniform(self.mu),
            walls: Walls::NoSlip,
            params: viscosity::Params { tolerance: 1e-8, ..viscosity::Params::default() },
        };
        let params = Params { tolerance: 1e-8, ..TIGHT };
        let mut solver = MultigridSolver::default();
        let coupling = if rigid_fluid { rigid_fluid::project } else { free_surface::project };
        let mut project = |fields: &LiquidFields, vel: &mut FaceGrid<f32>| {
            coupling(fields, vel, dt, &mut solver, &params, &mut run_on)
        };
        let mut vel = self.scene.vel.clone();
        let (p, info) =
            between_projections(&fields, &viscous, &mut vel, dt, &mut project, &mut run_on).unwrap();
        assert!(info.converged && p.info.converged, "{info:?} {:?}", p.info);
        self.scene.vel = vel;
        for (body, moved) in self.bodies.iter_mut().zip(&p.bodies) {
            body.velocity.clone_from(&moved.velocity);
        }
        p
    }
}

/// Drag of a sphere on the axis of a cylinder of 1 / `ratio` times its radius, over Stokes' [Haberman and Sayre 1958].
fn haberman_sayre(ratio: f64) -> f64 {
    let l = |n: i32| ratio.powi(n);
    (1.0 - 0.75857 * l(5)) / (1.0 - 2.1050 * ratio + 2.0865 * l(3) - 1.7068 * l(5) + 0.72603 * l(6))
}

/// A ball of some voxels a diameter on the axis of a tube of 2.5 times its diameter, ν dt / h² as given: the speed at which
/// it falls over that of theory.
fn fall_in_a_tube(across: f64, stiffness: f64) -> f64 {
    let (h, rho, mu, ratio) = (1.0 / 1024.0, 1.15 * WATER, 2.0, 0.4);
    let (r, tube) = (0.5 * across * h, 0.5 * across * h / ratio);
    let (wide, high) = ((2.0 * tube / h).ceil() as i32 + 2, (4.0 * across) as i32);
    let middle =
        DVec3::new(0.5 * f64::from(wide) + 0.13, 0.5 * f64::from(high) + 0.27, 0.5 * f64::from(wide) - 0.21)
            * h;
    let solid = move |p: DVec3| tube - DVec3::new(p.x - middle.x, 0.0, p.z - middle.z).length();
    let size = IVec3::new(wide, high, wide);
    // The lattice cuts off what is curved: it is shown a ball that is larger, so that it sees the right volume.
    let volume = 4.0 / 3.0 * PI * r.powi(3);
    let seen = |r: f64| -> f64 {
        let alone = Scene::still(h, size, [true; 6], |_| -1.0, |p: DVec3| p.distance(middle) - r);
        alone.volume.values.iter().map(|&open| 1.0 - f64::from(open)).sum::<f64>() * h.powi(3)
    };
    let shown = (0..4).fold(r, |shown, _| shown * (volume / seen(shown)).cbrt());
    println!("shown {} of the radius", shown / r);
    let ball = Ball(middle, shown, rho * (r / shown).powi(3));
    let mut afloat = Afloat::new(h, size, &[ball], solid, mu);
    let dt = stiffness * WATER * h * h / mu;
    let mut last = 0.0;
    for n in 0..400 {
        afloat.step(GRAVITY, dt, &[], false);
        let speed = -afloat.bodies[0].velocity[1];
        if n > 5 && (speed / last - 1.0f64).abs() < 1e-4 * stiffness.min(1.0) {
            println!("steady after {n} steps");
            break;
        }
        last = speed;
    }
    let weight = (rho - WATER) * volume * GRAVITY;
    last / (weight / (6.0 * PI * mu * r * haberman_sayre(ratio)))
}

/// Few voxels and one step per h²/ν leave it too fast: by a seventh for the grid, and by 4 % for the steps.
#[test]
fn a_ball_falls_through_a_tube_nearly_as_slowly_as_theory_says() {
    let found = fall_in_a_tube(8.0, 1.0);
    println!("{found} of theory at 8 voxels a diameter");
    assert!((found - 1.0).abs() < 0.22, "{found}");
}

#[test]
#[ignore = "minutes: finer grids and steps; run by hand"]
fn a_ball_falls_through_a_tube_better_on_finer_grids() {
    let mut last = f64::INFINITY;
    for (across, stiffness) in [(6.0, 1.0), (8.0, 1.0), (8.0, 0.25), (12.0, 0.25)] {
        let off = fall_in_a_tube(across, stiffness) - 1.0;
        println!("{across} voxels, ν dt/h² {stiffness}: {off:+} of theory");
        assert!(off.abs() < last, "{off}");
        last = off.abs();
    }
}

/// Joints hold through all three solves, and what the liquid gives is what changes the momenta besides them.
#[test]
fn joints_hold_through_viscosity() {
    let h = 0.01;
    let balls = [
        Ball(DVec3::new(5.2, 8.1, 8.0) * h, 2.4 * h, 300.0),
        Ball(DVec3::new(10.8, 7.8, 8.2) * h, 2.6 * h, 3000.0),
    ];
    let mut afloat = Afloat::new(h, IVec3::splat(16), &balls, |_| 1e3, 30.0);
    let place = DVec3::splat(8.0 * h);
    let at = |b: usize, axis: usize, sign: f64| {
        let turn = (place - balls[b].0).cross(DVec3::AXES[axis]).to_array();
        let all = DVec3::AXES[axis].to_array().into_iter().chain(turn);
        all.enumerate().map(move |(n, v)| (b, n, sign * v)).filter(|e| e.2 != 0.0)
    };
    let row = |axis: usize| Constraint {
        entries: at(0, axis, 1.0).chain(at(1, axis, -1.0)).collect(),
        range: JOINT,
        ..Constraint::default()
    };
    let rows: Vec<Constraint> = (0..3).map(row).collect();
    for _ in 0..3 {
        let before: Vec<Vec<f64>> = afloat.bodies.iter().map(|b| b.velocity.clone()).collect();
        let p = afloat.step(GRAVITY, 0.01, &rows, false);
        for row in &rows {
            let speed: f64 = row.entries.iter().map(|&(b, n, j)| j * p.bodies[b].velocity[n]).sum();
            assert!(speed.abs() < 1e-9, "{speed}");
        }
        for (b, body) in afloat.bodies.iter().enumerate() {
            for n in 0..6 {
                let weight = if n == 1 { -GRAVITY * 0.01 } else { 0.0 };
                let mut change = vec![0.0; 6];
                change[n] = p.bodies[b].velocity[n] - before[b][n] - weight;
                let gained = body.mass.times(&change)[n];
                let held: f64 = rows
                    .iter()
                    .zip(&p.constraints.impulses)
                    .map(|(row, given)| {
                        row.entries.iter().filter(|e| (e.0, e.1) == (b, n)).map(|e| e.2 * given).sum::<f64>()
                    })
                    .sum();
                let liquid = p.bodies[b].impulse[n];
                assert!(
                    (gained - held - liquid).abs()
                        < 1e-9 * (gained.abs() + held.abs() + liquid.abs()) + 1e-12
                );
            }
        }
    }
    let [light, heavy] = [0, 1].map(|b: usize| afloat.bodies[b].velocity[1]);
    assert!(light > 1e-4 && heavy < -1e-4, "they turn about the place that joins them: {light} {heavy}");
}

/// A ball thrown into honey stops there, and takes the honey along, whichever coupling solves and however light it is; none
/// throws it back.
#[test]
fn a_ball_in_honey_stops() {
    let h = 0.01;
    for (density, rigid_fluid) in
        [(10.0, false), (1000.0, false), (8000.0, false), (400.0, true), (2000.0, true)]
    {
        let ball = Ball(DVec3::new(8.2, 7.9, 8.1) * h, 3.4 * h, density);
        let mut afloat = Afloat::new(h, IVec3::splat(16), &[ball], |_| 1e3, 50.0);
        afloat.bodies[0].velocity = vec![1.0, 0.0, 0.0, 0.0, 0.0, 30.0];
        let mut speeds = vec![(1.0, 30.0)];
        for _ in 0..6 {
            afloat.step(0.0, 0.02, &[], rigid_fluid);
            let v = &afloat.bodies[0].velocity;
            speeds.push((v[0], v[5]));
        }
        println!("{density} kg/m³, rigid_fluid {rigid_fluid}: {speeds:?}");
        for pair in speeds.windows(2) {
            assert!(pair[1].0 < pair[0].0 && pair[1].1 < pair[0].1, "it slows: {speeds:?}");
            assert!(pair[1].0 > -1e-3 && pair[1].1 > -0.03, "nothing throws it back: {speeds:?}");
        }
        let last = speeds[6];
        assert!(last.0 < 0.05 && last.1 < 3.0, "{density}: {speeds:?}");
    }
}
