//! Drops and waves that surface tension moves have the frequencies of their formulas.

use super::flip::Scene;
use super::*;
use crate::fluid::surface::tension::{greatest, longest_step};
use crate::solid::{DomainLimits, Side};
use std::f64::consts::{PI, TAU};

const DENSITY: f64 = 1000.0;

/// The angular frequency of an oscillation that starts at its turning point, 1/s, from the times between its zeros.
fn frequency(samples: &[(f64, f64)]) -> f64 {
    let crossing = |pair: &[(f64, f64)]| {
        let ((t0, a), (t1, b)) = (pair[0], pair[1]);
        ((a < 0.0) != (b < 0.0)).then(|| t0 + (t1 - t0) * a / (a - b))
    };
    let zeros: Vec<f64> = samples.windows(2).filter_map(crossing).collect();
    assert!(zeros.len() >= 2, "{zeros:?} in {samples:?}");
    PI * (zeros.len() - 1) as f64 / (zeros[zeros.len() - 1] - zeros[0])
}

/// The mean of `f` over the liquid among the positions where `here` holds.
fn mean(scene: &Scene, here: impl Fn(DVec3) -> bool, f: impl Fn(DVec3) -> f64) -> f64 {
    let surface = &scene.liquid.surface;
    let (mut sum, mut volume) = (0.0, 0.0);
    for (slot, &phi) in surface.values.iter().enumerate() {
        let x = scene.liquid.transform.to_world(surface.topology.coord(slot).as_dvec3());
        if here(x) {
            let liquid = (0.5 - f64::from(phi) / H).clamp(0.0, 1.0);
            sum += liquid * f(x);
            volume += liquid;
        }
    }
    sum / volume
}

/// Mode 2 of a drop: ω² = 8 σ/(ρR³) [Lamb 1932, §275].
#[test]
fn a_drop_oscillates_at_lambs_frequency() {
    let (radius, sigma, amplitude) = (10.0 * H, 20.0, 0.08);
    let inside = |x: DVec3| {
        let r = x.length();
        let cos = if r > 0.0 { x.y / r } else { 0.0 };
        r < radius * (1.0 + amplitude * 0.5 * (3.0 * cos * cos - 1.0))
    };
    let mut scene = Scene::new(DomainLimits::unbounded(), inside, Vec3::ZERO);
    scene.params.tension = sigma;
    let omega = (8.0 * sigma / (DENSITY * radius.powi(3))).sqrt();
    let dt = 0.9 * longest_step(sigma, DENSITY, H);
    let (mut samples, mut time) = (Vec::new(), 0.0);
    while time < 1.3 * TAU / omega {
        scene.substep(dt, 0.0);
        time += dt;
        let stretch = mean(&scene, |_| true, |p| 2.0 * p.y * p.y - p.x * p.x - p.z * p.z);
        samples.push((time, stretch));
    }
    let measured = frequency(&samples);
    println!("drop: {measured:.4} 1/s, Lamb {omega:.4} 1/s");
    assert!((measured / omega - 1.0).abs() < 0.05, "{measured} 1/s, not {omega} 1/s");
    let lasting = samples.iter().rev().take(samples.len() / 3).map(|s| s.1.abs()).fold(0.0, f64::max);
    assert!(lasting > 0.3 * samples[0].1.abs(), "it lasts: {lasting} of {}", samples[0].1);
}

/// ω² of the mode that is mostly the bubble's, of a bubble of radius a in a ball of liquid of radius b, 1/s²: both
/// surfaces move, ζ_a and ζ_b times a spherical harmonic of degree l. In the liquid φ = A r^l + B r^−(l+1) with φ_r = ζ̇
/// at a and b, and there ρ φ̇ = ±T ζ/r², T = σ (l−1)(l+2), as [Lamb 1932, §275] for one surface alone.
fn bubble_in_a_ball(a: f64, b: f64, sigma: f64, l: i32) -> f64 {
    let n = f64::from(l);
    // (A, B) that give (ζ̇_a, ζ̇_b) = (1, 0) and (0, 1).
    let slopes =
        [[n * a.powi(l - 1), -(n + 1.0) * a.powi(-l - 2)], [n * b.powi(l - 1), -(n + 1.0) * b.powi(-l - 2)]];
    let det = slopes[0][0] * slopes[1][1] - slopes[0][1] * slopes[1][0];
    let of = |ra: f64, rb: f64| {
        [(ra * slopes[1][1] - rb * slopes[0][1]) / det, (rb * slopes[0][0] - ra * slopes[1][0]) / det]
    };
    let potential = |[p, q]: [f64; 2], r: f64| p * r.powi(l) + q * r.powi(-l - 1);
    let (by_a, by_b) = (of(1.0, 0.0), of(0.0, 1.0));
    // ρ ω² M ζ = K ζ with K = diag(−T/a², T/b²), M the potentials at a and b.
    let t = sigma * (n - 1.0) * (n + 2.0) / DENSITY;
    let m = [[-potential(by_a, a), -potential(by_b, a)], [potential(by_a, b), potential(by_b, b)]];
    let k = [t / (a * a), t / (b * b)];
    // det(K − ω² M) = 0.
    let (qa, qb, qc) =
        (m[0][0] * m[1][1] - m[0][1] * m[1][0], -(k[0] * m[1][1] + k[1] * m[0][0]), k[0] * k[1]);
    let root = (qb * qb - 4.0 * qa * qc).sqrt();
    let roots = [(-qb + root) / (2.0 * qa), (-qb - root) / (2.0 * qa)];
    let alone = (n - 1.0) * (n + 1.0) * (n + 2.0) * sigma / (DENSITY * a.powi(3));
    if (roots[0] - alone).abs() < (roots[1] - alone).abs() { roots[0] } else { roots[1] }
}

/// r^l times the Legendre polynomial P_l of the angle from the y axis, for l = 2 and 4.
fn solid_harmonic(degree: i32, x: DVec3) -> f64 {
    let (r2, y2) = (x.length_squared(), x.y * x.y);
    match degree {
        2 => 0.5 * (3.0 * y2 - r2),
        4 => 0.125 * (35.0 * y2 * y2 - 30.0 * y2 * r2 + 3.0 * r2 * r2),
        _ => panic!("no harmonic of degree {degree}"),
    }
}

/// Lets a bubble of radius `inner` that no air is simulated in, in a ball of radius `outer`, oscillate in the mode of a
/// degree: its angular frequency and the formula's, 1/s.
fn bubble_frequencies([inner, outer]: [f64; 2], degree: i32, amplitude: f64) -> [f64; 2] {
    let sigma = 20.0;
    let scene = |amplitude: f64| {
        let inside = |x: DVec3| {
            let r = x.length();
            r < outer && r > inner * (1.0 + amplitude * solid_harmonic(degree, x / r))
        };
        Scene::new(DomainLimits::unbounded(), inside, Vec3::ZERO)
    };
    let near = |x: DVec3| x.length() < 0.5 * (inner + outer);
    // What the liquid lacks the bubble has.
    let shape = |scene: &Scene| -mean(scene, near, |x| solid_harmonic(degree, x));
    // The voxels that `near` cuts have a shape of their own.
    let round = shape(&scene(0.0));
    let mut scene = scene(amplitude);
    (scene.params.tension, scene.keeps_air) = (sigma, true);
    let omega = bubble_in_a_ball(inner, outer, sigma, degree).sqrt();
    let dt = longest_step(sigma, DENSITY, H);
    let (mut samples, mut time) = (Vec::new(), 0.0);
    while time < 1.3 * TAU / omega {
        scene.substep(dt, 0.0);
        time += dt;
        samples.push((time, shape(&scene) - round));
    }
    [frequency(&samples), omega]
}

/// Mode 2 of a bubble.
#[test]
fn a_bubble_oscillates_at_its_frequency() {
    let inner = 8.0 * H;
    let alone = 12.0 * 20.0 / (DENSITY * inner.powi(3));
    let far = bubble_in_a_ball(inner, 100.0 * inner, 20.0, 2);
    assert!((far / alone - 1.0).abs() < 1e-3, "{far} {alone}");
    let [measured, omega] = bubble_frequencies([inner, 2.0 * inner], 2, 0.1);
    println!("bubble: {measured:.4} 1/s, formula {omega:.4} 1/s, alone {:.4} 1/s", alone.sqrt());
    assert!((measured / omega - 1.0).abs() < 0.05, "{measured} 1/s, not {omega} 1/s");
}

/// Mode 4, the one that a cube excites: its waves are 18 voxels long here.
#[test]
#[ignore = "takes a minute: make scenes"]
fn a_cubes_mode_of_a_bubble_has_its_frequency() {
    let [measured, omega] = bubble_frequencies([13.0 * H, 22.0 * H], 4, 0.06);
    println!("mode 4: {measured:.4} 1/s, formula {omega:.4} 1/s");
    assert!((measured / omega - 1.0).abs() < 0.05, "{measured} 1/s, not {omega} 1/s");
}

/// Standing waves: ω² = (g k + σ k³/ρ) tanh(k d) [Lamb 1932, §267].
#[test]
fn waves_have_the_dispersion_of_gravity_and_capillarity() {
    has_its_dispersion(24.0);
}

#[test]
#[ignore = "takes a minute: make scenes"]
fn longer_waves_have_the_dispersion_of_gravity_and_capillarity() {
    has_its_dispersion(40.0);
}

/// A wave of so many voxels.
fn has_its_dispersion(voxels: f64) {
    let (gravity, depth, sigma) = (9.81, 12.0 * H, 990.0);
    let length = voxels * H;
    let k = TAU / length;
    let height = |x: f64| depth + 0.75 * H * (k * x).cos();
    let sides = [Side::Closed, Side::Closed, Side::Closed, Side::Open, Side::Closed, Side::Closed];
    let mut domain =
        DomainLimits::uniform(DVec3::ZERO, DVec3::new(length, 2.0 * depth, 4.0 * H), Side::Closed);
    domain.sides = sides;
    let mut scene = Scene::new(domain, |x| x.y < height(x.x), Vec3::ZERO);
    scene.params.tension = sigma;
    let omega = ((gravity * k + sigma * k.powi(3) / DENSITY) * (k * depth).tanh()).sqrt();
    let dt = (TAU / omega / 60.0).min(longest_step(sigma, DENSITY, H));
    let (mut samples, mut time) = (Vec::new(), 0.0);
    while time < 1.4 * TAU / omega {
        scene.substep(dt, gravity);
        time += dt;
        let inside = |p: DVec3| p.cmpgt(domain.min).all() && p.cmplt(domain.max).all();
        // Where the crests are there is more liquid.
        samples.push((time, mean(&scene, inside, |p| (k * p.x).cos())));
    }
    let measured = frequency(&samples);
    println!("wave of {voxels} voxels: {measured:.4} 1/s, formula {omega:.4} 1/s");
    assert!((measured / omega - 1.0).abs() < 0.05, "{voxels} voxels: {measured} 1/s, not {omega} 1/s");
}

#[test]
fn the_longest_step_is_stable() {
    let (sigma, density) = (20.0, DENSITY);
    let dt = longest_step(sigma, density, H);
    assert!((greatest(density, H, dt) / sigma - 1.0).abs() < 1e-12);
    let mut scene = Scene::new(DomainLimits::unbounded(), |x| x.abs().max_element() < 4.6 * H, Vec3::ZERO);
    scene.params.tension = sigma;
    // No more energy than the cube's surface has beyond the sphere's.
    let volume = scene.liquid.volume.rest;
    let area = 6.0 * volume.powf(2.0 / 3.0);
    let most = sigma * area * (1.0 - (PI / 6.0).cbrt()) / (density * volume);
    let mut fastest = 0f64;
    for _ in 0..140 {
        scene.substep(dt, 0.0);
        let v = &scene.liquid.particles.velocity;
        let energy = v.iter().map(|v| 0.5 * f64::from(v.length_squared())).sum::<f64>() / v.len() as f64;
        assert!(energy < 1.1 * most, "{energy} J/kg of {most}");
        fastest = fastest.max(energy);
    }
    assert!(fastest > 0.2 * most, "it moves: {fastest} J/kg of {most}");
}
