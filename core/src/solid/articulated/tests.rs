//! Trees against MuJoCo, Pinocchio, finite differences and themselves.

use super::*;
use crate::solid::rigid::{MassProperties, Pose};
use glam::{DMat3, DQuat, DVec3};
use nalgebra::{DMatrix, Matrix3};

const GRAVITY: Gravity = Gravity(DVec3::new(0.3, -9.81, 1.1));

/// A tree, a state of it, and what others say of it.
struct Reference {
    tree: Tree,
    state: State,
    mass: DMatrix<f64>,
    bias: Vec<f64>,
}

fn numbers(line: &str) -> Vec<f64> {
    line.split_whitespace().map(|t| t.parse().unwrap()).collect()
}

fn link_of(line: &str) -> Link {
    let mut words = line.split_whitespace();
    let parent = words.next().unwrap().parse::<usize>().ok();
    let kind = words.next().unwrap();
    let n: Vec<f64> = words.map(|t| t.parse().unwrap()).collect();
    let axis = DVec3::from_slice(&n);
    let joint = match kind {
        "fixed" => Joint::Fixed,
        "ball" => Joint::Ball,
        "revolute" => Joint::Revolute(axis),
        "prismatic" => Joint::Prismatic(axis),
        "free" => Joint::Free,
        other => panic!("{other}"),
    };
    let frame = Pose { position: DVec3::from_slice(&n[3..]), orientation: DQuat::from_slice(&n[6..]) };
    let inertia = DMat3::from_cols_array(n[14..23].try_into().unwrap());
    let mass = MassProperties { mass: n[10], centre: DVec3::from_slice(&n[11..]), inertia };
    Link { parent, joint, frame, mass }
}

fn references(text: &str) -> Vec<Reference> {
    let mut lines = text.lines().filter(|l| !l.starts_with('#'));
    let mut found = Vec::new();
    while let Some(head) = lines.next() {
        let count: usize = head.strip_prefix("tree ").unwrap().parse().unwrap();
        let tree = Tree::new((0..count).map(|_| link_of(lines.next().unwrap())).collect()).unwrap();
        let mut row = || numbers(lines.next().unwrap());
        let (q, v, mass, bias) = (row(), row(), row(), row());
        assert_eq!((q.len(), v.len()), (tree.coordinates(), tree.freedoms()));
        let mass = DMatrix::from_row_slice(v.len(), v.len(), &mass);
        found.push(Reference { tree, state: State { q, v }, mass, bias });
    }
    found
}

fn all() -> Vec<Reference> {
    let mut all = references(include_str!("reference/mujoco.txt"));
    all.extend(references(include_str!("reference/pinocchio.txt")));
    all
}

#[test]
fn mass_and_bias_are_those_of_mujoco_and_pinocchio() {
    assert_eq!(all().len(), 24);
    for Reference { tree, state, mass, bias: theirs } in all() {
        let ours = mass_matrix(&tree, &state.q);
        let off = (&ours - &mass).amax() / mass.amax();
        assert!(off < 1e-9, "M of {} links is off by {off}", tree.links().len());
        let largest = theirs.iter().fold(mass.amax(), |m, b| m.max(b.abs()));
        for (a, b) in bias(&tree, &state.q, &state.v, GRAVITY).iter().zip(&theirs) {
            assert!((a - b).abs() < 1e-9 * largest, "{a}, not {b}");
        }
    }
}

#[test]
fn mass_is_symmetric_positive_definite_and_the_sum_over_links() {
    for Reference { tree, state, .. } in all() {
        let mass = mass_matrix(&tree, &state.q);
        assert_eq!(mass, mass.transpose());
        assert!(mass.symmetric_eigenvalues().min() > 0.0);
        let placed = place(&tree, &state.q);
        let mut sum = DMatrix::zeros(tree.freedoms(), tree.freedoms());
        for (n, link) in tree.links().iter().enumerate() {
            let pose = placed.0[n];
            let j = jacobian(&tree, &state.q, &placed, n, pose.place(link.mass.centre));
            let turn = DMat3::from_quat(pose.orientation);
            let inertia = turn * link.mass.inertia * turn.transpose();
            let inertia = Matrix3::from_column_slice(&inertia.to_cols_array());
            let (linear, angular) = (j.rows(0, 3), j.rows(3, 3));
            sum += link.mass.mass * linear.transpose() * linear + angular.transpose() * inertia * angular;
        }
        let off = (&sum - &mass).amax() / mass.amax();
        assert!(off < 1e-12, "{off}");
    }
}

#[test]
fn a_jacobian_is_the_derivative_of_a_place_and_of_a_turn() {
    for Reference { tree, state, .. } in all() {
        let (placed, link) = (place(&tree, &state.q), tree.links().len() - 1);
        let own = DVec3::new(0.3, -0.2, 0.5);
        let j = jacobian(&tree, &state.q, &placed, link, placed.0[link].place(own));
        for f in 0..tree.freedoms() {
            let (mut ends, step) = (Vec::new(), 1e-6);
            for sign in [1.0, -1.0] {
                let mut moved = state.clone();
                let mut way = vec![0.0; tree.freedoms()];
                way[f] = sign * step;
                moved.advance(&tree, &way);
                ends.push(place(&tree, &moved.q).0[link]);
            }
            let linear = (ends[0].place(own) - ends[1].place(own)) / (2.0 * step);
            let turn = ends[0].orientation * ends[1].orientation.inverse();
            let angular = turn.xyz() * turn.w.signum() / step;
            for c in 0..3 {
                assert!((j[(c, f)] - linear[c]).abs() < 1e-8, "{} and {}", j[(c, f)], linear[c]);
                assert!((j[(3 + c, f)] - angular[c]).abs() < 1e-8);
            }
        }
    }
}

#[test]
fn springs_pull_as_their_energy_says() {
    for Reference { tree, state, .. } in all().into_iter().filter(|r| r.tree.links().len() > 3) {
        let ends = [(Some(0), DVec3::new(0.1, 0.2, 0.0)), (Some(3), DVec3::X * 0.4)];
        let spring = Spring { ends, length: 0.3, stiffness: 40.0, damping: 0.0 };
        let mut force = vec![0.0; tree.freedoms()];
        let still = vec![0.0; tree.freedoms()];
        spring.push(&tree, &state.q, &still, &place(&tree, &state.q), &mut force);
        for f in 0..tree.freedoms() {
            let energy = |step: f64| {
                let mut moved = state.clone();
                let mut way = still.clone();
                way[f] = step;
                moved.advance(&tree, &way);
                spring.energy(&place(&tree, &moved.q))
            };
            let slope = (energy(1e-6) - energy(-1e-6)) / 2e-6;
            assert!((force[f] + slope).abs() < 1e-6, "{} and {slope}", force[f]);
        }
        // A damper takes out its constant times the square of the speed at which its length changes.
        let damper = Spring { stiffness: 0.0, damping: 3.0, ..spring };
        let mut force = still.clone();
        damper.push(&tree, &state.q, &state.v, &place(&tree, &state.q), &mut force);
        let power: f64 = force.iter().zip(&state.v).map(|(f, v)| f * v).sum();
        let length = |step: f64| {
            let mut moved = state.clone();
            moved.advance(&tree, &state.v.iter().map(|v| step * v).collect::<Vec<f64>>());
            (2.0 * Spring { length: 0.0, stiffness: 1.0, ..spring }.energy(&place(&tree, &moved.q))).sqrt()
        };
        let speed = (length(1e-6) - length(-1e-6)) / 2e-6;
        assert!(speed.abs() > 1e-3 && (power + 3.0 * speed * speed).abs() < 1e-6, "{power} at {speed} m/s");
    }
}

fn rod(parent: Option<usize>, joint: Joint, at: DVec3) -> Link {
    let frame = Pose { position: at, orientation: DQuat::IDENTITY };
    let inertia = DMat3::from_diagonal(DVec3::new(1.0 / 12.0, 1e-4, 1.0 / 12.0));
    Link { parent, joint, frame, mass: MassProperties { mass: 1.0, centre: DVec3::Y * -0.5, inertia } }
}

/// Three rods of 1 m and 1 kg that hang from each other.
fn triple(joint: Joint) -> Tree {
    let below = DVec3::Y * -1.0;
    let links = vec![rod(None, joint, DVec3::ZERO), rod(Some(0), joint, below), rod(Some(1), joint, below)];
    Tree::new(links).unwrap()
}

const DOWN: Gravity = Gravity(DVec3::new(0.0, -9.81, 0.0));

fn energy(tree: &Tree, state: &State) -> f64 {
    let (placed, v) = (place(tree, &state.q), nalgebra::DVector::from_row_slice(&state.v));
    let kinetic = 0.5 * v.dot(&(mass_matrix(tree, &state.q) * &v));
    let height = |n: usize| placed.0[n].place(tree.links()[n].mass.centre).y * tree.links()[n].mass.mass;
    kinetic + 9.81 * (0..tree.links().len()).map(height).sum::<f64>()
}

/// The energy at each place of a shot of the leapfrog, with the velocity of that time.
fn energies(tree: &Tree, mut state: State, dt: f64, seconds: f64) -> Vec<f64> {
    let still = vec![0.0; tree.freedoms()];
    let mut found = vec![energy(tree, &state)];
    kick(tree, &mut state, &still, DOWN, 0.5 * dt).unwrap();
    for _ in 0..(seconds / dt).round() as usize {
        drift(tree, &mut state, dt);
        let before = state.v.clone();
        let kicked = kick(tree, &mut state, &still, DOWN, dt).unwrap();
        assert!(kicked.change < 1e-9 && kicked.iterations < 20, "{kicked:?}");
        let mean = before.iter().zip(&state.v).map(|(a, b)| 0.5 * (a + b)).collect();
        found.push(energy(tree, &State { q: state.q.clone(), v: mean }));
    }
    found
}

/// The energies of the classical fourth-order Runge–Kutta method on the same tree, of joints with one coordinate each.
fn energies_of_runge_kutta(tree: &Tree, mut state: State, dt: f64, seconds: f64) -> Vec<f64> {
    let slope = |s: &State| -> (Vec<f64>, Vec<f64>) {
        let push: Vec<f64> = bias(tree, &s.q, &s.v, DOWN).iter().map(|c| -c).collect();
        let a = mass_matrix(tree, &s.q).cholesky().unwrap().solve(&nalgebra::DVector::from_vec(push));
        (s.v.clone(), a.as_slice().to_vec())
    };
    let add = |s: &State, (dq, dv): &(Vec<f64>, Vec<f64>), by: f64| State {
        q: s.q.iter().zip(dq).map(|(a, b)| a + by * b).collect(),
        v: s.v.iter().zip(dv).map(|(a, b)| a + by * b).collect(),
    };
    let mut found = vec![energy(tree, &state)];
    for _ in 0..(seconds / dt).round() as usize {
        let a = slope(&state);
        let b = slope(&add(&state, &a, 0.5 * dt));
        let c = slope(&add(&state, &b, 0.5 * dt));
        let d = slope(&add(&state, &c, dt));
        for (k, by) in [(a, 1.0), (b, 2.0), (c, 2.0), (d, 1.0)] {
            state = add(&state, &k, by * dt / 6.0);
        }
        found.push(energy(tree, &state));
    }
    found
}

/// Mean of the last second less the first one's, and the largest swing, by the depth of the fall, 3 × 9.81 × 1.5 J.
fn drift_and_swing(energies: &[f64], seconds: f64) -> (f64, f64) {
    let second = (energies.len() as f64 / seconds) as usize;
    let mean = |e: &[f64]| e.iter().sum::<f64>() / e.len() as f64;
    let (first, last) = (mean(&energies[..second]), mean(&energies[energies.len() - second..]));
    let swing = energies.iter().map(|e| (e - energies[0]).abs()).fold(0.0, f64::max);
    ((last - first) / 44.145, swing / 44.145)
}

#[test]
fn a_frictionless_triple_pendulum_keeps_its_energy_for_ten_seconds() {
    let tree = triple(Joint::Revolute(DVec3::Z));
    let start = State { q: vec![1.5, 0.3, -0.2], v: vec![0.0; 3] };
    let of = |dt: f64| {
        let ours = drift_and_swing(&energies(&tree, start.clone(), dt, 10.0), 10.0);
        let theirs = drift_and_swing(&energies_of_runge_kutta(&tree, start.clone(), dt, 10.0), 10.0);
        println!(
            "dt {dt}: leapfrog drift {:+.2e} swing {:.2e}; RK4 {:+.2e} {:.2e}",
            ours.0, ours.1, theirs.0, theirs.1
        );
        ours
    };
    let (coarse, fine) = (of(1.0 / 120.0), of(1.0 / 480.0));
    of(1.0 / 60.0);
    assert!(coarse.0.abs() < 5e-3 && fine.0.abs() < 5e-4, "{coarse:?} {fine:?}");
    // A quarter of the step: the swing is much smaller.
    assert!(fine.1 < coarse.1 / 4.0, "{coarse:?} {fine:?}");
}

#[test]
fn balls_and_free_bases_keep_energy_and_momentum() {
    let hung = triple(Joint::Ball);
    let mut state = State::rest(&hung);
    let start = [0.9, 0.0, 1.2, 0.5, 0.1, -0.4, -0.3, 0.2, 0.6];
    state.advance(&hung, &start);
    let (drift_, swing) = drift_and_swing(&energies(&hung, state, 1.0 / 480.0, 10.0), 10.0);
    println!("balls: drift {drift_:+.2e}, swing {swing:.2e}");
    assert!(drift_.abs() < 2e-3 && swing < 2e-2, "{drift_} {swing}");

    // A chain of four that flies freely: its centre of mass follows a parabola.
    let mut links = vec![rod(None, Joint::Free, DVec3::ZERO)];
    for n in 0..3 {
        links.push(rod(Some(n), Joint::Ball, DVec3::Y * -1.0));
    }
    let tree = Tree::new(links).unwrap();
    let mut state = State::rest(&tree);
    state.v.iter_mut().enumerate().for_each(|(n, v)| *v = 0.8 * (1.7 * n as f64).sin());
    let centre = |s: &State| {
        let placed = place(&tree, &s.q);
        (0..4).map(|n| placed.0[n].place(DVec3::Y * -0.5)).sum::<DVec3>() / 4.0
    };
    let momentum = |s: &State| -> DVec3 {
        let placed = place(&tree, &s.q);
        let of = |n: usize| {
            let j = jacobian(&tree, &s.q, &placed, n, placed.0[n].place(DVec3::Y * -0.5));
            let v = j * nalgebra::DVector::from_row_slice(&s.v);
            DVec3::new(v[0], v[1], v[2])
        };
        (0..4).map(of).sum()
    };
    let (at, flies, dt) = (centre(&state), momentum(&state) / 4.0, 1.0 / 480.0);
    let still = vec![0.0; tree.freedoms()];
    kick(&tree, &mut state, &still, DOWN, 0.5 * dt).unwrap();
    for _ in 0..480 {
        drift(&tree, &mut state, dt);
        kick(&tree, &mut state, &still, DOWN, dt).unwrap();
    }
    let expected = at + flies + 0.5 * DOWN.0;
    let off = (centre(&state) - expected).length();
    println!("free chain: off by {off:.2e}");
    assert!(off < 2e-5, "{off}");
}

#[test]
fn lists_that_are_no_trees_are_refused() {
    let good = rod(None, Joint::Ball, DVec3::ZERO);
    let refused = |link: Link| Tree::new(vec![good, link]).unwrap_err();
    assert_eq!(refused(Link { parent: Some(1), ..good }), TreeError::Order(1));
    assert_eq!(refused(Link { joint: Joint::Revolute(DVec3::Y * 2.0), ..good }), TreeError::Axis(1));
    assert_eq!(refused(Link { joint: Joint::Prismatic(DVec3::NAN), ..good }), TreeError::Axis(1));
    let mut light = good;
    light.mass.mass = -1.0;
    assert_eq!(refused(light), TreeError::Mass(1));
    let mut inverted = good;
    inverted.mass.inertia = -inverted.mass.inertia;
    assert_eq!(refused(inverted), TreeError::Mass(1));
    // A rod without thickness has no inertia about its own axis: a ball joint there moves no mass.
    let mut thin = good;
    thin.mass.inertia.y_axis.y = 0.0;
    let tree = Tree::new(vec![thin]).unwrap();
    assert!(kick(&tree, &mut State::rest(&tree), &[0.0; 3], DOWN, 0.01).is_none());
}
