//! The smoother, the transfer between levels, and the whole cycle.

use super::scene::{Random, Scene, body, noisy, sheet, tank};
use super::{Pair, difference, field_difference, read};
use crate::conjugate_gradients::Weight;
use crate::cuda::cycle::append_cycle;
use crate::cuda::launch::{LEAF_THREADS, LONE_THREADS, Launch, Program, ROWS, RUN_THREADS};
use crate::multigrid::{smoother, transfer};
use std::sync::Arc;

/// Scenes without super-cells: nothing but stencils, so the same bits.
fn plain() -> Vec<Scene> {
    vec![tank(2, 0.6, &[], 0.0), tank(3, 0.45, &[], 0.0)]
}

/// Scenes with super-cells, whose sums run in another order.
fn bubbly() -> Vec<Scene> {
    let mut all: Vec<Scene> = (0..12).map(noisy).collect();
    all.push(tank(3, 0.7, &[6.0, 3.0, 1.5, 0.8], 0.0));
    all.push(tank(2, 0.8, &[2.0, 5.0], 1e-2));
    all
}

/// Every scene, in both orders of threads and blocks, with the difference that is allowed.
fn for_pairs(mut test: impl FnMut(&mut Pair, &mut Random, f64)) {
    for (scenes, allowed) in [(plain(), 0.0), (bubbly(), 2e-6)] {
        for (i, scene) in scenes.iter().enumerate() {
            test(&mut Pair::new(scene, i % 2 == 1), &mut Random(i as u64), allowed);
        }
    }
}

#[test]
fn a_sweep_over_one_colour() {
    for_pairs(|pair, random, _| {
        for (l, colour) in (0..pair.hierarchy.levels.len()).flat_map(|l| [(l, 0), (l, 1)]) {
            pair.shake(l, random);
            let place = pair.hierarchy.levels[l];
            let launch =
                Launch::new("relax_colour", place.level.leaves, ROWS).with(place.level).with(place.work);
            let launch = launch.with(colour as u32).with(pair.state.address());
            pair.run(&Program { launches: vec![launch] });
            smoother::relax_colour(&pair.multigrid.levels[l], &mut pair.multigrid.work[l], colour, false);
            assert_eq!(pair.difference(l, |w| (&w.x, &w.x_super), true), 0.0);
        }
    });
}

#[test]
fn the_first_red_sweep_and_the_super_cells_rows() {
    for_pairs(|pair, random, allowed| {
        for l in 0..pair.hierarchy.levels.len() {
            pair.shake(l, random);
            let (place, state) = (pair.hierarchy.levels[l], pair.state.address());
            let mut program = Program::default();
            let supers = Launch::new("relax_supers", 1, LONE_THREADS).with(place.level).with(place.work);
            program.push(supers.with(place.totals).with(0u32).with(1u32).with(state));
            program.push(
                Launch::new("start_red", place.level.leaves, ROWS)
                    .with(place.level)
                    .with(place.work)
                    .with(state),
            );
            let black =
                Launch::new("relax_colour", place.level.leaves, ROWS).with(place.level).with(place.work);
            program.push(black.with(1u32).with(state));
            pair.run(&program);
            smoother::smooth_down(&pair.multigrid.levels[l], &mut pair.multigrid.work[l], 1, true);
            assert!(pair.difference(l, |w| (&w.x, &w.x_super), true) <= 1e3 * allowed);
        }
    });
}

#[test]
fn what_flows_into_super_cells() {
    for_pairs(|pair, random, _| {
        for l in 0..pair.hierarchy.levels.len() {
            pair.shake(l, random);
            let place = pair.hierarchy.levels[l];
            let launch = Launch::new("gather_inflow", place.level.supers.runs, RUN_THREADS);
            let mut program = Program::default();
            program.push(launch.with(place.level).with(place.work).with(pair.state.address()));
            pair.run(&program);
            let (level, work) = (&pair.multigrid.levels[l], &mut pair.multigrid.work[l]);
            smoother::gather_inflow(level, work);
            let first: Vec<u32> = read(place.level.supers.first_run, level.super_count() + 1);
            let runs: Vec<f64> = read(place.work.inflow, place.level.supers.runs as usize);
            for b in 0..level.super_count() {
                let groups = level.contacts.groups_of_super(b).iter();
                let expected: f64 = groups.clone().map(|&g| work.inflow[g as usize]).sum();
                let scale: f64 = level.contacts.list.iter().map(|c| f64::from(c.weight)).sum::<f64>() + 1.0;
                let sum: f64 = runs[first[b] as usize..first[b + 1] as usize].iter().sum();
                assert!((sum - expected).abs() <= 1e-14 * scale);
            }
        }
    });
}

#[test]
fn restriction_and_prolongation() {
    for_pairs(|pair, random, allowed| {
        for l in 1..pair.hierarchy.levels.len() {
            pair.shake(l - 1, random);
            pair.shake(l, random);
            let (fine, coarse) = (pair.hierarchy.levels[l - 1], pair.hierarchy.levels[l]);
            let (map, state) = (pair.hierarchy.maps[l - 1], pair.state.address());
            let start = |name, grid, block| Launch::new(name, grid, block).with(fine.level).with(fine.work);
            let mut program = Program::default();
            let cells = start("restrict_cells", map.coarse_leaves, LEAF_THREADS);
            program.push(cells.with(map).with(coarse.work).with(state));
            if fine.level.supers.count > 0 {
                program.push(start("gather_inflow", fine.level.supers.runs, RUN_THREADS).with(state));
                let supers = start("restrict_supers", 1, LONE_THREADS).with(fine.totals);
                program.push(supers.with(map).with(coarse.work).with(state));
            }
            pair.run(&program);
            let parts = pair.multigrid.parts();
            let (levels, maps) = (parts.levels.to_vec(), parts.maps.to_vec());
            let (above, below) = pair.multigrid.work.split_at_mut(l);
            transfer::restrict(&levels[l - 1], &mut above[l - 1], &maps[l - 1], &mut below[0]);
            let scale = largest(&below[0].b) + 1.0;
            assert!(pair.difference(l, |w| (&w.b, &w.b_super), false) <= allowed * scale);

            let mut program = Program::default();
            let prolong = start("prolong", fine.level.leaves + 1, ROWS).with(map);
            program.push(prolong.with(coarse.work).with(state));
            pair.run(&program);
            let (above, below) = pair.multigrid.work.split_at_mut(l);
            transfer::prolong(&levels[l - 1], &mut above[l - 1], &maps[l - 1], &below[0]);
            assert_eq!(pair.difference(l - 1, |w| (&w.x, &w.x_super), true), 0.0);
        }
    });
}

fn largest(field: &crate::checkerboard::Field<f32>) -> f64 {
    field.iter().flatten().flatten().flatten().map(|v| f64::from(v.abs())).fold(0.0, f64::max)
}

#[test]
fn the_whole_cycle_both_ways_round() {
    for_pairs(|pair, random, _| compare_cycle(pair, random));
}

#[test]
fn the_whole_cycle_with_bodies() {
    let (mut bodies, mut supers) = (0, 0);
    for (i, mut scene) in bubbly().into_iter().enumerate() {
        let mut random = Random(i as u64);
        // Bodies about as stiff as the faces: what f32 rounds, a stiffer one makes larger.
        let smallest = scene.level.faces.iter().flatten().flatten().flatten().flatten();
        let smallest = smallest.copied().filter(|&w| w > 0.0).fold(1.0, f32::min);
        scene.low_rank = (0..3).map(|_| body(&mut random, &scene.level)).collect();
        for term in &mut scene.low_rank {
            let Weight::Dense(w) = &term.weight else { continue };
            term.weight = Weight::Dense(Arc::new(w.iter().map(|w| w * f64::from(smallest)).collect()));
        }
        let mut pair = Pair::with(&scene, scene.bodies(), i % 2 == 1);
        bodies += pair.hierarchy.levels.iter().filter(|l| l.level.bodies.count > 0).count();
        supers += usize::from(scene.level.super_count() > 0);
        compare_cycle(&mut pair, &mut random);
    }
    assert!(bodies > 14 && supers > 5, "{bodies} levels, {supers} scenes with super-cells");
}

#[test]
fn the_whole_cycle_with_sheets() {
    let mut sheets = 0;
    for (i, mut scene) in bubbly().into_iter().enumerate() {
        let mut random = Random(i as u64);
        scene.low_rank = vec![body(&mut random, &scene.level)];
        scene.low_rank.extend((0..2).map(|_| sheet(&mut random, &scene.level)));
        let mut pair = Pair::with(&scene, scene.bodies(), i % 2 == 1);
        sheets += pair.hierarchy.levels.iter().filter(|l| l.level.bodies.sheets.degrees > 0).count();
        // Twice: nothing stays from the first time.
        (0..2).for_each(|_| compare_cycle(&mut pair, &mut random));
    }
    assert!(sheets > 14, "{sheets} levels");
}

fn compare_cycle(pair: &mut Pair, random: &mut Random) {
    {
        pair.shake(0, random);
        let mut program = Program::default();
        append_cycle(&mut program, &pair.hierarchy, pair.state.address());
        pair.run(&program);
        let place = pair.hierarchy.levels[0].work;
        let once: Vec<f32> = read(place.x, pair.multigrid.work[0].x[0].len() * 512);
        let supers: Vec<f64> = read(place.x_super, pair.multigrid.work[0].x_super.len());
        pair.device.descending = !pair.device.descending;
        pair.run(&program);
        let again: Vec<f32> = read(place.x, once.len());
        assert!(once.iter().zip(&again).all(|(a, b)| a.to_bits() == b.to_bits()));
        pair.multigrid.precondition();
        let work = &pair.multigrid.work[0];
        let scale = largest(&work.x).max(work.x_super.iter().fold(1.0, |m, v| m.max(v.abs())));
        assert!(field_difference(place.x, &work.x, f64::from) <= 1e-4 * scale, "{scale}");
        assert!(difference(&supers, &work.x_super) <= 1e-4 * scale);
    }
}
