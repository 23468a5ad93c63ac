//! Files changed at random must not crash, hang or fool whoever reads them. Here with a fixed seed and few of each
//! kind; `make attack` draws a seed and goes on for as long as it is told.

mod mutate;
mod target;

use meniscus_tests::random::{Random, seed_from};
use std::time::{Duration, Instant};
use target::{Range, Target};

/// Seed of what runs with the other tests.
const FIXED: u64 = 15;

/// Seed of an attack's own stream, so that one can be repeated without those before.
fn own_seed(seed: u64, number: u64) -> u64 {
    Random::new(seed ^ number.wrapping_mul(0x2545_f491_4f6c_dd1d)).draw()
}

fn attack(range: &Range, target: Target, seed: u64, number: u64) {
    if let Err(what) = range.attack(target, &mut Random::new(own_seed(seed, number))) {
        let files = range.evidence();
        panic!("{target:?}, seed {seed}, attack {number} (files: {}): {what}", files.display());
    }
}

fn few(target: Target, count: u64) {
    let range = Range::new();
    println!("{target:?}: seed {FIXED}");
    (0..count).for_each(|number| attack(&range, target, FIXED, number));
}

#[test]
fn damaged_caches_are_told() {
    few(Target::OwnCache, 60);
}

#[test]
fn damaged_caches_of_other_programs_harm_nobody() {
    few(Target::TheirCache, 40);
}

#[test]
fn damaged_points_harm_nobody() {
    few(Target::Points, 20);
}

#[test]
fn damaged_graphs_harm_nobody() {
    few(Target::Graph, 40);
}

#[test]
fn damaged_meshes_harm_nobody() {
    few(Target::Obj, 15);
    few(Target::Ply, 15);
}

#[test]
fn damaged_checkpoints_are_told() {
    few(Target::Checkpoint, 15);
}

#[test]
fn absurd_checkpoints_harm_nobody() {
    few(Target::FittingCheckpoint, 25);
}

#[test]
fn damaged_records_harm_nobody() {
    few(Target::Records, 15);
}

#[test]
fn damaged_plugins_are_left_out() {
    few(Target::Plugin, 40);
}

/// `make attack`: MENISCUS_ATTACK_SECONDS long, from the seed MENISCUS_ATTACK_SEED or one that is drawn.
#[test]
#[ignore = "as long as it is told: make attack"]
fn as_long_as_told() {
    let seed = seed_from("MENISCUS_ATTACK_SEED");
    let seconds = std::env::var("MENISCUS_ATTACK_SECONDS").ok().and_then(|t| t.parse().ok()).unwrap_or(60);
    let only = std::env::var("MENISCUS_ATTACK_TARGET").unwrap_or_default();
    let from = std::env::var("MENISCUS_ATTACK_FROM").ok().and_then(|t| t.parse().ok()).unwrap_or(0);
    let targets: Vec<Target> =
        Target::ALL.into_iter().filter(|t| only.is_empty() || format!("{t:?}") == only).collect();
    assert!(!targets.is_empty(), "MENISCUS_ATTACK_TARGET is one of {:?}", Target::ALL);
    println!("seed {seed}, {seconds} s, {targets:?}");
    let (range, begun) = (Range::new(), Instant::now());
    let mut number = from;
    while begun.elapsed() < Duration::from_secs(seconds) {
        targets.iter().for_each(|&t| attack(&range, t, seed, number));
        number += 1;
        if number.is_multiple_of(100) {
            println!("{number} of each kind, {:.0} s", begun.elapsed().as_secs_f64());
        }
    }
    println!("seed {seed}: {} of each of {} kinds held", number - from, targets.len());
}
