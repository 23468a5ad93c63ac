//! The law of joints and contacts, held against dense systems.

use super::*;
use crate::coupling::mass::Mass;
use crate::coupling::tests::noise;
use crate::pressure::Column;
use nalgebra::{DMatrix, DVector};
use std::f64::consts::PI;

/// Bodies of `k` degrees of freedom with full masses, and their velocities.
fn bodies(count: usize, k: usize, seed: u64) -> Vec<Body> {
    let body = |b: usize| {
        let value = |n: usize| noise(seed + 1000 * b as u64 + n as u64);
        let root = DMatrix::from_fn(k, k, |i, j| value(i * k + j) + if i == j { 2.0 } else { 0.0 });
        let mass = 10f64.powf(value(77)) * &root * root.transpose();
        let mass = 0.5 * (&mass + mass.transpose());
        Body {
            velocity: (0..k).map(|i| value(50 + i)).collect(),
            before: None,
            mass: mass.as_slice().to_vec().into(),
            pieces: Vec::new().into(),
        }
    };
    (0..count).map(body).collect()
}

fn row(entries: Vec<(usize, usize, f64)>, wanted: f64, range: [f64; 2]) -> Constraint {
    Constraint { entries, wanted, range, ..Constraint::default() }
}

const JOINT: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];
const CONTACT: [f64; 2] = [0.0, f64::INFINITY];

/// A row between two bodies.
fn between(a: usize, b: usize, k: usize, seed: u64) -> Vec<(usize, usize, f64)> {
    let of = |body: usize| (0..k).map(move |i| (body, i, noise(seed + 31 * body as u64 + i as u64)));
    of(a).chain(of(b)).collect()
}

fn held(bodies: &[Body], rows: &[Constraint]) -> ConstraintGroups {
    let inverse: Vec<Vec<f64>> = bodies
        .iter()
        .map(|b| {
            let k = b.velocity.len();
            let inverse = DMatrix::from_row_slice(k, k, values(b)).try_inverse().unwrap();
            (0.5 * (&inverse + inverse.transpose())).as_slice().to_vec()
        })
        .collect();
    let velocity: Vec<Vec<f64>> = bodies.iter().map(|b| b.velocity.clone()).collect();
    ConstraintGroups::new(bodies, rows, (&inverse, &velocity), 1.0).unwrap()
}

/// M of a body, row-major.
fn values(body: &Body) -> &[f64] {
    match &body.mass {
        Mass::Dense(values) => values,
        Mass::Sparse(_) => panic!("these bodies have dense masses"),
    }
}

/// M, q̇* and J of bodies of one size.
fn dense(bodies: &[Body], rows: &[Constraint]) -> (DMatrix<f64>, DVector<f64>, DMatrix<f64>) {
    let k = bodies[0].velocity.len();
    let n = k * bodies.len();
    let mut mass = DMatrix::zeros(n, n);
    for (b, body) in bodies.iter().enumerate() {
        mass.view_mut((b * k, b * k), (k, k)).copy_from(&DMatrix::from_row_slice(k, k, values(body)));
    }
    let velocity = DVector::from_iterator(n, bodies.iter().flat_map(|b| b.velocity.iter().copied()));
    let mut jacobian = DMatrix::zeros(rows.len(), n);
    for (r, row) in rows.iter().enumerate() {
        row.entries.iter().for_each(|&(b, i, value)| jacobian[(r, b * k + i)] += value);
    }
    (mass, velocity, jacobian)
}

/// The motion of bodies on which some rows hold, by elimination of the whole system; λ of these rows.
fn kkt(
    bodies: &[Body],
    rows: &[Constraint],
    which: &[usize],
    pressed: &[f64],
) -> (DVector<f64>, DVector<f64>) {
    let (mass, velocity, jacobian) = dense(bodies, rows);
    let (n, m) = (velocity.len(), which.len());
    let mut all = DMatrix::zeros(n + m, n + m);
    all.view_mut((0, 0), (n, n)).copy_from(&mass);
    let mut right = DVector::zeros(n + m);
    right.rows_mut(0, n).copy_from(&(mass * velocity + DVector::from_column_slice(pressed)));
    for (at, &r) in which.iter().enumerate() {
        for i in 0..n {
            all[(i, n + at)] = -jacobian[(r, i)];
            all[(n + at, i)] = jacobian[(r, i)];
        }
        all[(n + at, n + at)] = rows[r].soft;
        right[n + at] = rows[r].wanted;
    }
    let found = all.lu().solve(&right).unwrap();
    (found.rows(0, n).into_owned(), found.rows(n, m).into_owned())
}

fn group(held: &mut ConstraintGroups) -> &mut Group {
    let [Unit::Joined(group)] = held.units.as_mut_slice() else { panic!("one group") };
    group
}

fn off(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn chain(seed: u64) -> Vec<Constraint> {
    let joint = |n: u64| {
        let a = (n % 3) as usize;
        row(between(a, a + 1, 6, seed + 100 * n), noise(seed + n), JOINT)
    };
    (0..8).map(joint).collect()
}

#[test]
fn joints_hold_as_the_whole_system_eliminated_at_once_says() {
    for seed in 0..5 {
        let (bodies, mut rows) = (bodies(4, 6, seed), chain(seed));
        rows[3].soft = 0.2;
        let pressed: Vec<f64> = (0..24).map(|i| noise(900 + seed + i)).collect();
        let which: Vec<usize> = (0..8).collect();
        let (velocity, impulses) = kkt(&bodies, &rows, &which, &pressed);
        // One that says the same as two others changes nothing.
        let mut told = rows.clone();
        let mut twice = rows[0].entries.clone();
        twice.extend(rows[1].entries.iter().map(|&(b, i, v)| (b, i, 0.5 * v)));
        told.push(row(twice, rows[0].wanted + 0.5 * rows[1].wanted, JOINT));
        let mut all = held(&bodies, &told);
        let group = group(&mut all);
        let mut motion = group.moved(&pressed);
        assert!(off(&motion.velocity, velocity.as_slice()) < 1e-10, "seed {seed}");
        let (mass, before, jacobian) = dense(&bodies, &rows);
        let given = &mass * (DVector::from_column_slice(&motion.velocity) - &before)
            - DVector::from_column_slice(&pressed);
        assert!(off(&group.given(&motion.impulses), given.as_slice()) < 1e-9);
        assert!(off(&group.given(&motion.impulses), (jacobian.transpose() * impulses).as_slice()) < 1e-9);
        assert_eq!(group.judge(&pressed, &mut motion), Verdict::Settled);
        // The operator that the pressure sees moves them the same way.
        let operator = group.operator(vec![Column::default(); 24], 1.0).unwrap();
        let mut by_operator = group.unpressed();
        by_operator.iter_mut().zip(operator.weigh(&pressed)).for_each(|(v, w)| *v += w);
        assert!(off(&by_operator, &motion.velocity) < 1e-10);
    }
}

/// Solves with pressures that stay until nothing changes.
fn settle(group: &mut Group, pressed: &[f64]) -> Motion {
    for _ in 0..20 {
        let mut motion = group.moved(pressed);
        match group.judge(pressed, &mut motion) {
            Verdict::Settled => return motion,
            Verdict::Changed => {}
            Verdict::Circles => panic!("it goes round in a circle"),
        }
    }
    panic!("it does not settle");
}

/// The one motion in which no contact pulls and none is passed, among all sets of contacts that may hold.
fn by_trial(bodies: &[Body], rows: &[Constraint], pressed: &[f64]) -> DVector<f64> {
    let (_, _, jacobian) = dense(bodies, rows);
    let mut found: Vec<DVector<f64>> = Vec::new();
    for set in 0..1 << rows.len() {
        let which: Vec<usize> = (0..rows.len()).filter(|r| set >> r & 1 == 1).collect();
        let (velocity, impulses) = kkt(bodies, rows, &which, pressed);
        let speeds = &jacobian * &velocity;
        if impulses.iter().all(|&i| i >= 0.0) && (0..rows.len()).all(|r| speeds[r] >= rows[r].wanted - 1e-9) {
            found.push(velocity);
        }
    }
    assert_eq!(found.len(), 1);
    found.remove(0)
}

#[test]
fn contacts_press_and_none_pulls_or_is_passed_whatever_they_start_from() {
    for seed in 0..30 {
        let bodies = bodies(3, 6, seed);
        let contact = |n: u64| {
            let a = (n % 2) as usize;
            let pressed = if noise(5 * seed + n) > 0.0 { 1.0 } else { 0.0 };
            let row = row(between(a, a + 1, 6, seed + 100 * n), noise(seed + 7 * n), CONTACT);
            Constraint { pressed, ..row }
        };
        let rows: Vec<Constraint> = (0..7).map(contact).collect();
        let pressed: Vec<f64> = (0..18).map(|i| 5.0 * noise(400 + seed + i)).collect();
        let velocity = by_trial(&bodies, &rows, &pressed);
        let mut all = held(&bodies, &rows);
        let motion = settle(group(&mut all), &pressed);
        // A contact may be missed or pull by a ten-thousandth of the speeds.
        assert!(off(&motion.velocity, velocity.as_slice()) < 2e-3 * velocity.amax(), "seed {seed}");
        let least = motion.impulses.iter().copied().fold(f64::INFINITY, f64::min);
        let most = motion.impulses.iter().copied().fold(0.0, f64::max);
        assert!(least >= -1e-3 * most, "seed {seed}: {least} of {most}");
    }
}

/// A box on four corners: as many impulses carry it as one likes, and none of those found pulls.
#[test]
fn corners_of_a_box_carry_it_wherever_its_weight_acts_and_let_go_beyond_its_edge() {
    let mass = 3.0;
    let diagonal: Vec<f64> = (0..36).map(|n| if n / 6 == n % 6 { mass } else { 0.0 }).collect();
    let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
    // The speed of a corner upwards: v_y + (ω × r)_y.
    let rows: Vec<Constraint> = corners
        .iter()
        .map(|&(x, z)| {
            let up = row(vec![(0, 1, 1.0), (0, 3, -z), (0, 5, x)], 0.0, CONTACT);
            Constraint { pressed: 1.0, ..up }
        })
        .collect();
    let body =
        Body { velocity: vec![0.0; 6], before: None, mass: diagonal.into(), pieces: Vec::new().into() };
    for n in 0..12 {
        let (sin, cos) = (f64::from(n) * PI / 6.0 + 0.1).sin_cos();
        let square = 1.0 / sin.abs().max(cos.abs());
        for (share, stays) in [(0.3, true), (0.7, true), (0.97, true), (1.1, false)] {
            let (x, z) = (share * square * cos, share * square * sin);
            let pressed = [0.0, -10.0, 0.0, 10.0 * z, 0.0, -10.0 * x];
            let mut all = held(std::slice::from_ref(&body), &rows);
            let motion = settle(group(&mut all), &pressed);
            let fastest = motion.velocity.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            assert_eq!(fastest < 1e-9, stays, "{share} at {n}: {motion:?}");
            assert!(motion.impulses.iter().all(|&i| i >= -1e-9), "{share} at {n}: {motion:?}");
            let carried: f64 = motion.impulses.iter().sum();
            assert!(!stays || (carried - 10.0).abs() < 1e-9, "{carried}");
        }
    }
}

#[test]
fn a_motor_gives_no_more_than_it_can() {
    let body = Body { velocity: vec![0.0], before: None, mass: vec![2.0].into(), pieces: Vec::new().into() };
    let motor = |wanted: f64| row(vec![(0, 0, 1.0)], wanted, [-0.6, 0.6]);
    for (wanted, speed) in [(0.1, 0.1), (0.5, 0.3), (-0.2, -0.2), (-2.0, -0.3)] {
        let mut all = held(std::slice::from_ref(&body), &[motor(wanted)]);
        let motion = settle(group(&mut all), &[0.0]);
        assert!((motion.velocity[0] - speed).abs() < 1e-12, "{wanted}: {motion:?}");
        assert!((motion.impulses[0] - 2.0 * speed).abs() < 1e-12);
    }
}

#[test]
fn the_order_of_bodies_and_rows_does_not_matter_and_no_energy_is_made() {
    let (bodies, mut rows) = (bodies(4, 6, 3), chain(3));
    for (n, row) in rows.iter_mut().enumerate() {
        row.wanted = 0.0;
        if n % 3 == 1 {
            (row.range, row.pressed) = (CONTACT, 1.0);
        }
    }
    let still = vec![0.0; 24];
    let mut all = held(&bodies, &rows);
    let motion = settle(group(&mut all), &still);
    let (mass, before, _) = dense(&bodies, &rows);
    let energy = |v: &DVector<f64>| 0.5 * v.dot(&(&mass * v));
    let after = energy(&DVector::from_column_slice(&motion.velocity));
    assert!(after <= energy(&before), "{after} J of {}", energy(&before));
    let (places, order) = ([2, 0, 3, 1], [5, 2, 7, 0, 3, 6, 1, 4]);
    let moved: Vec<Body> = places.iter().map(|&b| bodies[b].clone()).collect();
    let place = |b: usize| places.iter().position(|&p| p == b).unwrap();
    let renamed = |&r: &usize| {
        let entries = rows[r].entries.iter().map(|&(b, i, v)| (place(b), i, v)).collect();
        Constraint { entries, ..rows[r].clone() }
    };
    let turned: Vec<Constraint> = order.iter().map(renamed).collect();
    let mut all = held(&moved, &turned);
    let other = settle(group(&mut all), &still);
    for b in 0..4 {
        let at = place(b);
        assert!(off(&motion.velocity[6 * b..6 * b + 6], &other.velocity[6 * at..6 * at + 6]) < 1e-11);
    }
}

#[test]
fn bodies_that_share_no_row_stay_by_themselves_and_rows_that_are_none_are_refused() {
    let bodies = bodies(5, 6, 1);
    let rows = [row(between(1, 3, 6, 9), 0.0, JOINT), row(vec![(4, 2, 1.0)], 0.0, CONTACT)];
    let all = held(&bodies, &rows);
    let names: Vec<Vec<usize>> =
        all.units.iter().map(|unit| unit.bodies().iter().map(|b| b.0).collect()).collect();
    assert_eq!(names, [vec![0], vec![1, 3], vec![2], vec![4]]);
    assert!(matches!(all.units[0], Unit::Alone(0)) && matches!(all.units[3], Unit::Joined(_)));
    let refused = |bad: Constraint| {
        let velocity: Vec<Vec<f64>> = bodies.iter().map(|b| b.velocity.clone()).collect();
        let inverse = vec![vec![0.0; 36]; 5];
        ConstraintGroups::new(&bodies, &[rows[0].clone(), bad], (&inverse, &velocity), 1.0).err()
    };
    let good = || rows[1].clone();
    assert_eq!(refused(good()), None);
    for bad in [
        Constraint { entries: vec![(5, 0, 1.0)], ..good() },
        Constraint { entries: vec![(0, 6, 1.0)], ..good() },
        Constraint { entries: vec![(0, 0, f64::NAN)], ..good() },
        Constraint { wanted: f64::INFINITY, ..good() },
        Constraint { soft: -1.0, ..good() },
        Constraint { range: [1.0, 0.0], ..good() },
        Constraint { range: [f64::NAN, 0.0], ..good() },
    ] {
        assert_eq!(refused(bad), Some(Error::Constraint(1)));
    }
}

/// Of bodies that rows join, the one whose mass is none is named; a free one beside them changes nothing.
#[test]
fn a_mass_that_is_none_is_named_among_joined_bodies() {
    const K: usize = 3;
    let all = bodies(4, K, 7);
    let rows = [row(between(1, 2, K, 3), 0.0, JOINT), row(between(2, 3, K, 5), 0.0, CONTACT)];
    let velocity: Vec<Vec<f64>> = all.iter().map(|b| b.velocity.clone()).collect();
    let sound: Vec<f64> = DMatrix::<f64>::identity(K, K).as_slice().to_vec();
    for fault in 1..4 {
        for (at, value) in [(0, -1.0), (4, f64::NAN), (1, 3.0)] {
            let mut inverse = vec![sound.clone(); 4];
            inverse[fault][at] = value;
            let groups = ConstraintGroups::new(&all, &rows, (&inverse, &velocity), 1.0).unwrap();
            let joined = groups.units.iter().find_map(|unit| match unit {
                Unit::Joined(group) => Some(group),
                Unit::Alone(_) => None,
            });
            let group = joined.expect("rows join three of them");
            let columns = vec![Column::default(); group.size()];
            let error = group.operator(columns, 1.0).unwrap_err();
            assert_eq!(group.at_fault(&error), fault, "{error}");
        }
    }
}
