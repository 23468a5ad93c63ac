use super::*;
use crate::coupling::memory::BubbleMemory;
use glam::ivec3;

const H: f64 = 0.01;
const DT: f64 = 0.01;
/// Radius, m, and centres of two bubbles in a tank without a lid, filled to [`LEVEL`].
const RADIUS: f64 = 0.052;
const CENTRES: [DVec3; 2] = [DVec3::new(0.083, 0.081, 0.079), DVec3::new(0.237, 0.081, 0.079)];
const LEVEL: f64 = 0.257;

fn two_bubbles() -> Scene {
    let liquid = |p: DVec3| {
        let air = CENTRES.map(|c| RADIUS - p.distance(c));
        (p.y - LEVEL).max(air[0]).max(air[1])
    };
    Scene::still(H, ivec3(32, 32, 16), [true, true, true, false, true, true], liquid, empty)
}

/// What is solved when the bubbles should be what `memory` says: the liquid has too much of what they lack.
fn solved(scene: &Scene, memory: &BubbleMemory, volume_gain: f64) -> Projection {
    let excess = memory.bubbles.iter().map(|b| b.book.rest - b.volume).sum();
    with_excess(scene, memory, excess, volume_gain)
}

/// What is solved when the liquid has so much, m³, beyond what it should have.
fn with_excess(scene: &Scene, memory: &BubbleMemory, liquid_excess: f64, volume_gain: f64) -> Projection {
    let previous_bubbles = Some(memory);
    let fields = LiquidFields { previous_bubbles, liquid_excess, volume_gain, ..scene.fields() };
    let mut vel = scene.vel.clone();
    constraint_bubbles::project(&fields, &mut vel, DT, &mut PlainCg, &TIGHT, &mut run_on).unwrap()
}

#[test]
fn each_bubble_s_surface_moves_to_where_it_has_its_rest_volume() {
    let scene = two_bubbles();
    let (_, before) = scene.bubbles(DT);
    for errors in [[0.01, -0.03], [-0.04, 0.02], [0.05, 0.0]] {
        let mut memory = before.memory.clone();
        memory.bubbles.iter_mut().zip(errors).for_each(|(b, e)| b.book.rest *= 1.0 + e);
        let after = solved(&scene, &memory, 12.0);
        for (bubble, e) in after.bubbles.iter().filter(|b| !b.exterior).zip(errors) {
            let (found, held) =
                (bubble.found_volume / bubble.rest_volume - 1.0, bubble.volume / bubble.rest_volume - 1.0);
            assert!((found - (1.0 / (1.0 + e) - 1.0)).abs() < 1e-9, "{found}, {e}");
            assert!(held.abs() < 2e-3, "{held:+.5} left of {found:+.5}");
        }
        let fitted = after.surface.expect("a bubble was off");
        for (slot, (was, is)) in scene.surface.values.iter().zip(&fitted.values).enumerate() {
            let at = fitted.topology.coord(slot);
            assert_eq!(*was < 0.0, *is < 0.0, "{at} changed sides");
            if f64::from(at.y) * H > LEVEL - 3.0 * H {
                assert_eq!(was, is, "{at} is of the open surface");
            }
        }
    }
}

#[test]
fn a_surface_moves_no_farther_than_particles_leave_open() {
    let scene = two_bubbles();
    let (_, before) = scene.bubbles(DT);
    let mut memory = before.memory.clone();
    memory.bubbles[0].book.rest *= 2.0;
    let after = solved(&scene, &memory, 12.0);
    let fitted = after.surface.expect("a bubble was off");
    let farthest =
        scene.surface.values.iter().zip(&fitted.values).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!((farthest - 0.25 * H as f32).abs() < 1e-6, "{farthest}");
    let first = after.bubbles.iter().find(|b| !b.exterior).expect("the first bubble");
    assert!(first.found_volume < first.volume && first.volume < 0.7 * first.rest_volume);
}

#[test]
fn volumes_that_may_drift_leave_the_surface_alone() {
    let scene = two_bubbles();
    let (_, before) = scene.bubbles(DT);
    let mut memory = before.memory.clone();
    memory.bubbles[0].book.rest *= 1.03;
    assert!(solved(&scene, &memory, 0.0).surface.is_none());
    assert!(solved(&scene, &before.memory, 12.0).surface.is_none(), "no bubble is off");
    let (_, free) = scene.free_surface(DT);
    assert!(free.surface.is_none());
}

#[test]
fn air_of_a_closed_tank_has_the_room_that_its_liquid_should_leave() {
    let liquid = |p: DVec3| {
        let air = CENTRES.map(|c| RADIUS - p.distance(c));
        air[0].max(air[1])
    };
    let scene = Scene::still(H, ivec3(32, 32, 16), [true; 6], liquid, empty);
    let (_, before) = scene.bubbles(DT);
    let memory = before.memory.clone();
    let found: f64 = before.bubbles.iter().map(|b| b.volume).sum();
    for excess in [0.02 * found, -0.03 * found, 0.0] {
        let after = with_excess(&scene, &memory, excess, 12.0);
        let held: f64 = after.bubbles.iter().map(|b| b.volume).sum();
        assert!((held - found - excess).abs() < 2e-3 * found, "{held} m³, not {}", found + excess);
        assert!(after.max_bubble_flux < 1e-6 * H * H, "no flow is asked of what cannot flow");
    }
}

/// The room holds a hundred times as much air as liquid: two parts in a thousand of the air are a quarter of the drop.
#[test]
fn a_drop_in_a_large_closed_room_has_the_volume_that_it_should_have() {
    let drop = |p: DVec3| p.distance(DVec3::new(0.163, 0.155, 0.161)) - 0.0417;
    let scene = Scene::still(H, IVec3::splat(32), [true; 6], drop, empty);
    let (_, before) = scene.bubbles(DT);
    let memory = before.memory.clone();
    let air = |p: &Projection| p.bubbles.iter().map(|b| b.volume).sum::<f64>();
    let liquid = 0.32f64.powi(3) - air(&before);
    for part in [0.1, -0.06, 0.02] {
        let after = with_excess(&scene, &memory, part * liquid, 12.0);
        let gone = (air(&after) - air(&before)) / liquid;
        assert!((gone - part).abs() < 0.004, "{gone} of the drop gave way, not {part}");
    }
}

#[test]
fn free_air_makes_room_for_what_the_liquid_should_have() {
    let scene = two_bubbles();
    let (_, before) = scene.bubbles(DT);
    let liquid: f64 =
        0.32 * 0.16 * LEVEL - before.bubbles.iter().map(|b| b.volume).filter(|v| v.is_finite()).sum::<f64>();
    let solve = |excess: f64, kept: bool| {
        let memory = kept.then_some(&before.memory);
        let fields = LiquidFields {
            liquid_excess: excess,
            previous_bubbles: memory,
            volume_gain: 12.0,
            ..scene.fields()
        };
        let coupling = if kept { constraint_bubbles::project } else { free_surface::project };
        coupling(&fields, &mut scene.vel.clone(), DT, &mut PlainCg, &TIGHT, &mut run_on).unwrap()
    };
    // A flat surface moves until its cells would change sides.
    for part in [0.006, -0.008] {
        let excess = part * liquid;
        // With the bubbles kept, the open surface alone yields.
        let kept = solve(excess, true);
        assert!((kept.taken / excess - 1.0).abs() < 0.2, "{} m³ of {excess}", kept.taken);
        for bubble in kept.bubbles.iter().filter(|b| !b.exterior) {
            assert!((bubble.volume / bubble.rest_volume - 1.0).abs() < 2e-3);
        }
        let free = solve(excess, false);
        assert!((free.taken / excess - 1.0).abs() < 0.2, "{} m³ of {excess}", free.taken);
    }
    assert!(solve(1e-3 * liquid, true).surface.is_none(), "too little to move a surface for");
}

#[test]
fn spray_takes_no_part_in_a_bubble_s_volume() {
    let scene = two_bubbles();
    let (_, before) = scene.bubbles(DT);
    let centre = scene.transform.to_index(CENTRES[0]).round().as_ivec3();
    let drops = |c: Coord| if (c - centre).abs().max_element() <= 1 { 0.25 } else { 0.0 };
    let spray = Grid::from_fn(scene.surface.topology.clone(), 0.0, drops);
    let fields = scene.with(CellGrids { spray: Some(&spray), ..CellGrids::default() });
    let mut vel = scene.vel.clone();
    let wet = constraint_bubbles::project(&fields, &mut vel, DT, &mut PlainCg, &TIGHT, &mut run_on).unwrap();
    let volumes = |p: &Projection| p.bubbles.iter().map(|b| b.volume).collect::<Vec<f64>>();
    let (dry, wet) = (volumes(&before), volumes(&wet));
    let first = dry.iter().position(|v| v.is_finite()).expect("the first bubble");
    let sprayed = dry[first] - wet[first];
    assert!((sprayed - 27.0 * 0.25 * H.powi(3)).abs() < 1e-4 * sprayed, "{sprayed} m³");
    assert!(dry[first + 1..].iter().zip(&wet[first + 1..]).all(|(a, b)| a == b));
}
