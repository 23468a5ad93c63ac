//! Bodies that are projected as fluid and made rigid again.

use super::*;
use crate::coupling::bodies::{Bodies, Body, Moved, Piece, Twist};
use crate::coupling::rigid_fluid;
use glam::DQuat;
use std::f64::consts::PI;

const DT: f64 = 0.01;
const H: f64 = 0.02;

/// A solid: its distance from its middle, m, and its rest frame's turn.
#[derive(Clone, Copy)]
enum Form {
    Cuboid(DVec3, DQuat),
    Ball(f64),
}

impl Form {
    fn distance(&self, p: DVec3) -> f64 {
        match *self {
            Self::Cuboid(half, turn) => {
                let q = (turn.inverse() * p).abs() - half;
                q.max(DVec3::ZERO).length() + q.max_element().min(0.0)
            }
            Self::Ball(radius) => p.length() - radius,
        }
    }

    fn volume(&self) -> f64 {
        match *self {
            Self::Cuboid(half, _) => 8.0 * half.element_product(),
            Self::Ball(radius) => 4.0 / 3.0 * PI * radius.powi(3),
        }
    }

    /// Moments of inertia per mass, world axes, m².
    fn gyration(&self) -> glam::DMat3 {
        match *self {
            Self::Cuboid(half, turn) => {
                let square = half * half;
                let own = (DVec3::splat(square.element_sum()) - square) / 3.0;
                let turn = glam::DMat3::from_quat(turn);
                turn * glam::DMat3::from_diagonal(own) * turn.transpose()
            }
            Self::Ball(radius) => glam::DMat3::from_diagonal(DVec3::splat(0.4 * radius * radius)),
        }
    }

    /// A body of this form: its middle, m, its density, kg/m³, and its velocities, m/s and rad/s, before and after forces.
    fn body(&self, middle: DVec3, density: f64, [before, now]: [[f64; 6]; 2]) -> Body {
        let unit = |n: usize, of: usize| if n / 3 == of { DVec3::AXES[n % 3] } else { DVec3::ZERO };
        let twists = (0..6).map(|n| Twist { linear: unit(n, 0), angular: unit(n, 1) }).collect();
        let mass = density * self.volume();
        let gyration = self.gyration();
        let entry = |n: usize| match (n / 6, n % 6) {
            (i, j) if i < 3 && i == j => mass,
            (i, j) if i >= 3 && j >= 3 => mass * gyration.col(j - 3)[i - 3],
            _ => 0.0,
        };
        Body {
            velocity: now.to_vec(),
            before: Some(before.to_vec()),
            mass: (0..36).map(entry).collect::<Vec<f64>>().into(),
            pieces: vec![Piece { pivot: middle, twists }].into(),
        }
    }
}

/// Bodies among liquid.
struct Afloat {
    scene: Scene,
    owner: FaceGrid<u32>,
    bodies: Vec<Body>,
    kick: DVec3,
}

impl Afloat {
    /// A box of `size` cells, closed where `walled`.
    fn new(
        size: IVec3,
        walled: [bool; 6],
        liquid: impl Fn(DVec3) -> f64 + Sync,
        forms: &[(Form, DVec3)],
        bodies: Vec<Body>,
    ) -> Self {
        let distance = |p: DVec3, n: usize| forms[n].0.distance(p - forms[n].1);
        let solid = |p: DVec3| (0..forms.len()).map(|n| distance(p, n)).fold(f64::MAX, f64::min);
        let scene = Scene::still(H, size, walled, liquid, solid);
        let owner = FaceGrid::from_fn(scene.vel.topology.clone(), 0, |a, c| {
            let at = scene.transform.face_centre(a, c);
            let nearest = (0..forms.len()).min_by(|&a, &b| distance(at, a).total_cmp(&distance(at, b)));
            nearest.filter(|&n| distance(at, n) < 3.0 * H).map_or(0, |n| n as u32 + 1)
        });
        Self { scene, owner, bodies, kick: DVec3::ZERO }
    }

    /// Lets gravity act for a substep on liquid and bodies that were at rest.
    fn falling(mut self, axis: usize) -> Self {
        let fall = -GRAVITY * DT;
        self.scene = self.scene.with_velocity(|a, _| if a == axis { fall } else { 0.0 });
        self.kick[axis] = fall;
        for body in &mut self.bodies {
            body.velocity[axis] += fall;
        }
        self
    }

    /// The volume of the bodies below a level as the lattice has it, m³.
    fn sampled(&self, axis: usize, level: f64) -> f64 {
        let volume = &self.scene.volume;
        let below = |slot: usize| {
            let low = f64::from(volume.topology.coord(slot)[axis]);
            (1.0 - f64::from(volume.values[slot])) * (level / H - low).clamp(0.0, 1.0)
        };
        (0..volume.values.len()).map(below).sum::<f64>() * H.powi(3)
    }

    /// Gives the first body, which has a density of 1 kg/m³, the mass of `volume` of water.
    fn weighing(mut self, volume: f64, form: Form) -> Self {
        let by = WATER * volume / form.volume();
        if let crate::coupling::mass::Mass::Dense(mass) = &mut self.bodies[0].mass {
            mass.iter_mut().for_each(|m| *m *= by);
        }
        self
    }

    fn project(&self, vel: &mut FaceGrid<f32>) -> Result<Projection, Error> {
        let pieces: Vec<_> = (0..self.bodies.len()).map(|b| Some((b, 0))).collect();
        let mut fields = self.scene.fields();
        fields.kick = self.kick;
        fields.bodies = Some(Bodies {
            bodies: &self.bodies,
            constraints: &[],
            owner: &self.owner,
            left_by_first: &self.scene.volume,
            room: None,
            pieces: &pieces,
        });
        rigid_fluid::project(&fields, vel, DT, &mut PlainCg, &TIGHT, &mut run_on)
    }

    fn solved(&self) -> (FaceGrid<f32>, Vec<Moved>) {
        let mut vel = self.scene.vel.clone();
        let projected = self.project(&mut vel).unwrap();
        assert!(projected.info.converged, "{:?}", projected.info);
        (vel, projected.bodies)
    }
}

const WALLS: [bool; 6] = [true; 6];

/// Closed but for the upper side.
fn open_above(axis: usize) -> [bool; 6] {
    let mut walled = WALLS;
    walled[2 * axis + 1] = false;
    walled
}

/// [Archimedes]: a body that displaces its own mass stays where it is, and so does the liquid.
#[test]
fn bodies_float_at_rest_anywhere_on_the_lattice() {
    let level = 12.27 * H;
    for (n, density) in [100.0, 300.0, 500.0, 700.0, 900.0].into_iter().enumerate() {
        let axis = n % 3;
        let high = 12.0 * H;
        let mut half = DVec3::splat(5.2 * H);
        half[axis] = 0.5 * high;
        let form = Form::Cuboid(half, DQuat::IDENTITY);
        let mut middle = H * (DVec3::new(9.6, 9.33, 9.87) + 0.13 * n as f64);
        middle[axis] = level - density / WATER * high + 0.5 * high;
        let body = form.body(middle, 1.0, [[0.0; 6]; 2]);
        let afloat = Afloat::new(
            IVec3::splat(24),
            open_above(axis),
            |p| p[axis] - level,
            &[(form, middle)],
            vec![body],
        );
        let displaced = afloat.sampled(axis, level);
        let off = displaced * WATER / (density * form.volume()) - 1.0;
        println!("the lattice displaces {off:+.4} of what the form does");
        let afloat = afloat.weighing(displaced, form).falling(axis);
        let (vel, moved) = afloat.solved();
        let fall = GRAVITY * DT;
        let (up, fastest) = (moved[0].velocity[axis] / fall, afloat.scene.fastest(&vel) / fall);
        let turn = (3..6).map(|k| moved[0].velocity[k].abs()).fold(0.0, f64::max) * half.max_element() / fall;
        println!("{density} kg/m³: rises at {up:.5} g dt, turns at {turn:.5}, liquid {fastest:.5}");
        // In volume: the body's own times its density.
        assert!((up * density / WATER).abs() < 0.01, "{density} kg/m³ rises at {up} g dt");
        assert!(turn < 0.05 && fastest < 0.05, "{density} kg/m³: turns at {turn}, liquid at {fastest}");
    }
}

#[test]
fn a_neutral_body_stays_in_still_water() {
    let turned = DQuat::from_euler(glam::EulerRot::XYZ, 0.4, 0.7, 0.2);
    for (n, form) in
        [Form::Ball(3.7 * H), Form::Cuboid(H * DVec3::new(3.3, 2.6, 4.1), turned)].into_iter().enumerate()
    {
        let middle = H * (DVec3::new(9.1, 8.77, 9.4) + 0.21 * n as f64);
        let body = form.body(middle, 1.0, [[0.0; 6]; 2]);
        let afloat =
            Afloat::new(IVec3::splat(20), open_above(1), |p| p.y - 18.0 * H, &[(form, middle)], vec![body]);
        let volume = afloat.sampled(1, f64::MAX);
        let afloat = afloat.weighing(volume, form).falling(1);
        let (vel, moved) = afloat.solved();
        let fall = GRAVITY * DT;
        let (up, fastest) = (moved[0].velocity[1] / fall, afloat.scene.fastest(&vel) / fall);
        println!("rises at {up:.5} g dt, liquid {fastest:.5}");
        assert!(up.abs() < 0.02 && fastest < 0.02, "rises at {up} g dt, liquid at {fastest}");
    }
}

/// Acceleration of balls that are let go: g (ρ_r − ρ_f) / (ρ_r + ½ ρ_f) [Lamb 1932, §92], a little less between walls. The fluid
/// that a light ball is taken for dodges in the first substeps, so it is the eighth that counts; nothing drifts.
#[test]
fn balls_start_with_half_their_displaced_mass_added() {
    for density in [100.0, 500.0, 2000.0, 9000.0] {
        let form = Form::Ball(4.0 * H);
        let middle = H * DVec3::new(12.6, 12.27, 12.41);
        let body = form.body(middle, 1.0, [[0.0; 6]; 2]);
        let tank =
            Afloat::new(IVec3::splat(25), open_above(1), |p| p.y - 24.0 * H, &[(form, middle)], vec![body]);
        let volume = tank.sampled(1, f64::MAX);
        let mut afloat = tank.weighing(volume * density / WATER, form).falling(1);
        let mut vel = afloat.scene.vel.clone();
        let mut speeds = vec![0.0];
        for _ in 0..8 {
            let moved = afloat.project(&mut vel).unwrap().bodies;
            speeds.push(moved[0].velocity[1]);
            let body = &mut afloat.bodies[0];
            body.before = Some(moved[0].velocity.clone());
            body.velocity = moved[0].velocity.clone();
            body.velocity[1] -= GRAVITY * DT;
            vel.values[1].iter_mut().for_each(|u| *u -= (GRAVITY * DT) as f32);
        }
        let theory = -GRAVITY * (density - WATER) / (density + 0.5 * WATER);
        let measured = (speeds[8] - speeds[7]) / DT;
        let each: Vec<String> =
            speeds.windows(2).map(|v| format!("{:.2}", (v[1] - v[0]) / DT / theory)).collect();
        println!("{density} kg/m³: {measured:.3} m/s², theory {theory:.3}; by substeps {}", each.join(" "));
        assert!((measured / theory - 1.0).abs() < 0.15, "{density} kg/m³: {measured} m/s², not {theory}");
    }
}

/// A body a thousand times lighter than the liquid would be thrown; one that is dry may be as light.
#[test]
fn bodies_that_would_be_thrown_are_refused() {
    let form = Form::Ball(4.0 * H);
    let solved = |density: f64, level: f64| {
        let middle = H * DVec3::new(12.6, 12.27, 12.41);
        let body = form.body(middle, density, [[0.0; 6]; 2]);
        let tank =
            Afloat::new(IVec3::splat(25), open_above(1), |p| p.y - level * H, &[(form, middle)], vec![body]);
        let afloat = tank.falling(1);
        afloat.project(&mut afloat.scene.vel.clone()).map(|_| ())
    };
    assert_eq!(solved(0.9e-3 * WATER, 24.0), Err(Error::Light(0)));
    assert_eq!(solved(2e-3 * WATER, 24.0), Ok(()));
    assert_eq!(solved(1e-6 * WATER, 5.0), Ok(()));
}

/// A drop in free fall with bodies in it, all at random speeds.
fn thrown(seed: u64, densities: [f64; 2]) -> Afloat {
    let middles = [DVec3::new(8.3, 9.1, 8.8), DVec3::new(14.6, 9.4, 9.2)].map(|m| H * m);
    let forms =
        [Form::Ball(2.7 * H), Form::Cuboid(H * DVec3::new(2.1, 2.6, 1.9), DQuat::from_rotation_z(0.3))];
    let speeds = |b: u64| -> [f64; 6] {
        std::array::from_fn(|k| noise(seed * 64 + b * 8 + k as u64) * if k < 3 { 1.0 } else { 10.0 })
    };
    let bodies = (0..2).map(|b| forms[b].body(middles[b], densities[b], [speeds(b as u64); 2])).collect();
    let drop = |p: DVec3| p.distance(H * DVec3::new(11.2, 9.4, 9.1)) - 7.6 * H;
    let forms: Vec<_> = forms.into_iter().zip(middles).collect();
    let mut afloat = Afloat::new(IVec3::new(24, 20, 20), [false; 6], drop, &forms, bodies);
    afloat.scene = afloat.scene.with_velocity(noisy_velocity);
    afloat
}

/// Kinetic energy, J, and momentum and angular momentum of liquid and bodies, f64: `held` says what each body moves at.
struct Sums {
    energy: f64,
    momentum: DVec3,
    spin: DVec3,
}

impl Afloat {
    /// Of the liquid beside bodies, which moves at `vel`, and of the bodies.
    fn sums(&self, vel: &FaceGrid<f32>, velocities: &[Vec<f64>]) -> Sums {
        let mut sums = Sums { energy: 0.0, momentum: DVec3::ZERO, spin: DVec3::ZERO };
        let share = |c: Coord| f64::from(self.scene.volume.get(c));
        let faces = (0..self.scene.surface.values.len()).flat_map(|s| (0..3).map(move |axis| (axis, s)));
        let faces = faces.map(|(axis, s)| (axis, self.scene.surface.topology.coord(s)));
        let is_liquid = |c: Coord| self.scene.surface.get(c) < 0.0;
        for (axis, c) in faces.filter(|&(axis, c)| is_liquid(c) || is_liquid(c - IVec3::AXES[axis])) {
            let (low, high) = (c - IVec3::AXES[axis], c);
            let phi = [low, high].map(|c| self.scene.surface.get(c));
            let part = match phi.map(|phi| phi < 0.0) {
                [true, true] => 0.5 * (share(low) + share(high)),
                [true, false] => share(low) * f64::from(crate::levelset::fractions::theta(phi[0], phi[1])),
                [_, _] => share(high) * f64::from(crate::levelset::fractions::theta(phi[1], phi[0])),
            };
            let mass = WATER * part * H.powi(3);
            // On closed faces it moves with the body.
            let at = self.scene.transform.face_centre(axis, c);
            let u = match self.scene.open.get(axis, c) > 0.0 {
                true => f64::from(vel.get(axis, c)),
                false => {
                    let b = self.owner.get(axis, c) as usize - 1;
                    let crate::coupling::bodies::Pieces::Rigid(pieces) = &self.bodies[b].pieces else {
                        continue;
                    };
                    let of = |k: usize| velocities[b][k] * pieces[0].twists[k].at(at - pieces[0].pivot)[axis];
                    (0..6).map(of).sum()
                }
            };
            sums.energy += 0.5 * mass * u * u;
            sums.momentum[axis] += mass * u;
            sums.spin += at.cross(mass * u * DVec3::AXES[axis]);
        }
        for (body, velocity) in self.bodies.iter().zip(velocities) {
            let momentum = body.mass.times(velocity);
            let crate::coupling::bodies::Pieces::Rigid(pieces) = &body.pieces else { continue };
            let [linear, angular] = [0, 3].map(|k| DVec3::from_slice(&momentum[k..k + 3]));
            sums.energy += 0.5 * momentum.iter().zip(velocity).map(|(p, v)| p * v).sum::<f64>();
            sums.momentum += linear;
            sums.spin += pieces[0].pivot.cross(linear) + angular;
        }
        sums
    }
}

/// Nothing pushes a drop and the bodies in it: what one gives the other takes. Velocities on faces are f32.
#[test]
fn liquid_and_bodies_keep_their_momentum() {
    for (seed, densities) in [[50.0, 500.0], [1000.0, 3000.0], [9000.0, 200.0]].into_iter().enumerate() {
        let afloat = thrown(seed as u64 + 10, densities);
        let before: Vec<Vec<f64>> = afloat.bodies.iter().map(|b| b.velocity.clone()).collect();
        let (vel, moved) = afloat.solved();
        let after: Vec<Vec<f64>> = moved.iter().map(|moved| moved.velocity.clone()).collect();
        let [before, after] = [(&afloat.scene.vel, &before), (&vel, &after)].map(|(u, v)| afloat.sums(u, v));
        let exchanged: f64 = moved.iter().map(|moved| DVec3::from_slice(&moved.impulse).length()).sum();
        let off = (after.momentum - before.momentum).length() / exchanged;
        let turned = (after.spin - before.spin).length() / (exchanged * 10.0 * H);
        println!("{densities:?}: {off:.1e}, angular {turned:.1e}");
        assert!(off < 1e-5 && turned < 1e-5, "{densities:?}: {off} and {turned} of what was exchanged");
    }
}

/// Whatever the densities: light bodies are the hard ones.
#[test]
fn no_projection_adds_energy() {
    for (seed, densities) in
        [[20.0, 100.0], [300.0, 900.0], [1000.0, 2000.0], [9000.0, 20_000.0]].into_iter().enumerate()
    {
        let mut afloat = thrown(seed as u64, densities);
        let mut vel = afloat.scene.vel.clone();
        let velocities =
            |afloat: &Afloat| -> Vec<Vec<f64>> { afloat.bodies.iter().map(|b| b.velocity.clone()).collect() };
        let mut last = afloat.sums(&vel, &velocities(&afloat)).energy;
        let first = last;
        for n in 0..12 {
            let projected = afloat.project(&mut vel).unwrap();
            for (body, moved) in afloat.bodies.iter_mut().zip(projected.bodies) {
                body.before = Some(moved.velocity.clone());
                body.velocity = moved.velocity;
            }
            let now = afloat.sums(&vel, &velocities(&afloat)).energy;
            println!("{densities:?}: {n} {:.5}", now / first);
            assert!(now < last * (1.0 + 1e-6), "{densities:?}, projection {n}: {last} J become {now} J");
            last = now;
        }
    }
}
