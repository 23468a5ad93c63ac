//! What the tuned constants do at half and at twice their values: the rows of `docs/constants.md`.
//!
//! `cargo test --release -p meniscus-core --lib sensitivity -- --ignored --nocapture [--test-threads 1]` prints them.

use super::bells::Bell;
use super::flip::{GRAVITY, Scene};
use super::parting::Slot;
use super::spreading::{round, tank};
use super::*;
use crate::fluid::flip::suggest_dt;
use crate::solid::{DomainLimits, Side};
use crate::tuned::scaled::scale;

/// What a scene is measured by: names with units, and numbers.
type Measured = Vec<(&'static str, f64)>;

/// Eight voxels cubed hold every particle twice, in a pool of 16 by 8 by 16 voxels; twelve rounds of spreading.
fn crowd() -> Measured {
    let (mut particles, domain) = tank(|p| (p - 0.2).min_element() > 0.0 && (1.0 - p).min_element() > 0.0);
    let held = particles.len() as f64 / 8.0;
    let volume = (0..12).map(|_| round(&mut particles, &domain).1).last().unwrap_or_default();
    vec![("volume of a spread crowd, error %", 100.0 * (volume / held - 1.0))]
}

/// The same pool, each particle somewhere in its own eighth of a voxel; one round.
fn scatter() -> Measured {
    let (mut particles, domain) = tank(|_| false);
    let mut seed = 3;
    for x in &mut particles.position {
        let mut step = || 0.5 * H as f32 * (noise(&mut seed) - 0.5);
        *x += Vec3::new(step(), step(), step());
    }
    let before: std::collections::BTreeMap<i64, Vec3> =
        particles.id.iter().copied().zip(particles.position.iter().copied()).collect();
    round(&mut particles, &domain);
    let moved =
        particles.id.iter().zip(&particles.position).map(|(id, x)| (*x - before[id]).length_squared());
    let rms = (moved.sum::<f32>() / particles.len() as f32).sqrt() / H as f32;
    vec![("even liquid, moved by its noise, rms voxels", f64::from(rms))]
}

/// A block of 8 by 8 by 16 voxels falls two voxels into a pool of 4, in a closed box of 16³; a second.
fn fall() -> Measured {
    let domain = DomainLimits::uniform(DVec3::ZERO, DVec3::splat(1.6), Side::Closed);
    let inside = |p: DVec3| p.y < 0.4 || (p.x < 0.8 && p.y > 0.6 && p.y < 1.4);
    let mut scene = Scene::new(domain, inside, Vec3::ZERO);
    let poured = 1.6 * 1.6 * 0.4 + 0.8 * 0.8 * 1.6;
    let (mut t, mut worst) = (0.0, 0.0f64);
    while t < 1.0 {
        let dt = suggest_dt(&scene.liquid, 2.0, GRAVITY).clamp(1.0 / 240.0, 1.0 / 24.0);
        scene.substep(dt, GRAVITY);
        t += dt;
        worst = worst.max((scene.volume() / poured - 1.0).abs());
    }
    vec![
        ("fallen block, largest volume error %", 100.0 * worst),
        ("fallen block after 1 s, rms speed m/s", scene.rms_speed()),
    ]
}

/// A bell of eleven voxels with walls of two sinks into water.
fn bell() -> Measured {
    let kept = Bell { bore: 5.5, slope: 0.0, thick: 2.0, at: [0.0; 2], speed: 0.335 }.run();
    vec![
        ("sinking bell, its air as particles leave it %", 100.0 * kept.found),
        ("sinking bell, least and most air in its book %", 100.0 * kept.rest[0]),
        ("", 100.0 * kept.rest[1]),
        ("sinking bell, ids its air had", kept.ids.len() as f64),
    ]
}

/// A bubble of five voxels rises in water of 20, in a box of 14 by 14; a second.
fn bubble() -> Measured {
    let mut domain = DomainLimits::uniform(DVec3::ZERO, DVec3::new(1.4, 2.6, 1.4), Side::Closed);
    domain.sides[3] = Side::Open;
    let centre = DVec3::new(0.7, 0.5, 0.7);
    let mut scene = Scene::new(domain, |p| p.y < 2.0 && p.distance(centre) > 0.25, Vec3::ZERO);
    scene.keeps_air = true;
    let (mut t, mut found, mut first, mut most) = (0.0, Vec::new(), None, 0usize);
    while t < 1.0 {
        let dt = suggest_dt(&scene.liquid, 2.0, GRAVITY).clamp(1.0 / 120.0, 1.0 / 24.0);
        scene.substep(dt, GRAVITY);
        t += dt;
        let enclosed = || scene.bubbles.iter().filter(|b| !b.exterior);
        let rest: f64 = enclosed().map(|b| b.rest_volume).sum();
        let first = *first.get_or_insert(rest);
        most = most.max(enclosed().filter(|b| b.rest_volume > 0.0).count());
        found.push((enclosed().map(|b| b.found_volume).sum::<f64>() / first, rest / first));
    }
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| found.iter().map(of).sum::<f64>() / found.len() as f64;
    vec![
        ("rising bubble, its air as particles leave it, mean %", 100.0 * mean(&|f| f.0)),
        ("rising bubble, air in its book in the end %", 100.0 * found.last().map_or(0.0, |f| f.1)),
        ("rising bubble, most pieces", most as f64),
    ]
}

/// The jet of a slot of four voxels.
fn jet() -> Measured {
    let theory = std::f64::consts::PI / (std::f64::consts::PI + 2.0);
    let slot = Slot { voxels: 4, ..Slot::on_faces() };
    vec![("jet of a slot, contraction, error %", 100.0 * (slot.contraction() / theory - 1.0))]
}

/// The constants and the scenes that show what they do.
const SHOWN: [(&[&str], &[fn() -> Measured]); 5] = [
    (
        &[
            "crowding::CHANCE",
            "crowding::CHANCE_AT_SURFACE",
            "crowding::ANSWER",
            "crowding::SLACK",
            "crowding::FAR",
            "crowding::LIQUID",
            "crowding::MOST",
            "crowding::TOLERABLE",
            "crowding::NARROW",
            "spreading::TOLERANCE",
            "spreading::LAYERS",
            "spreading::FARTHEST",
        ],
        &[crowd, scatter, fall],
    ),
    (&["growth::MOST"], &[bubble, bell]),
    (&["fit::FARTHEST", "fit::LAYERS", "fit::LEAST", "fit::STEPS", "fit::CLOSE"], &[bubble, bell]),
    (
        &[
            "identity::REACH",
            "identity::LARGEST_CRUMB",
            "identity::WHOLE_OF_CRUMB",
            "chinks::LEAST_PASSAGE",
            "chinks::LEAST_POCKET",
            "chinks::LEAST_ROOM",
        ],
        &[bell, bubble],
    ),
    (&["parting::LEAST_AREA", "parting::LEAST_WAY", "parting::TO_WALL", "parting::LEAST_TO_SURFACE"], &[jet]),
];

#[test]
#[ignore = "minutes: it prints docs/constants.md"]
fn sensitivity_of_the_tuned_constants() {
    let mut known = std::collections::BTreeMap::<usize, Measured>::new();
    let only = std::env::var("ONLY").unwrap_or_default();
    for (names, scenes) in SHOWN {
        for name in names.iter().filter(|name| name.contains(&only)) {
            for scene in scenes {
                let started = std::time::Instant::now();
                let run = |factor: f64| {
                    scale(name, factor);
                    let measured = std::panic::catch_unwind(scene);
                    scale("", 1.0);
                    measured.unwrap_or_default()
                };
                let plain = known.entry(*scene as usize).or_insert_with(|| run(1.0)).clone();
                let [half, double] = [0.5, 2.0].map(run);
                for (n, (what, value)) in plain.iter().enumerate() {
                    let of = |m: &Measured| m.get(n).map_or("stops".into(), |m| format!("{:.4}", m.1));
                    println!("| {name} | {what} | {} | {value:.4} | {} |", of(&half), of(&double));
                }
                eprintln!("{name} {:?}", started.elapsed());
            }
        }
    }
}
