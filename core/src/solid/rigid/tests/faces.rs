//! Bodies that stand on faces of many corners.

use super::*;
use crate::mesh::shapes::drum;

fn a_drum(radius: f32, height: f32, columns: u32) -> Arc<Shape> {
    Arc::new(Shape::of(&drum(radius, height, columns), 500.0).unwrap().0)
}

/// How far the bodies of a pile have moved or turned (m, rad) in two seconds, at the most.
fn stirred(pile: &[(Arc<Shape>, DVec3)]) -> (f64, f64) {
    let mut scene = Scene::on_floor(DVec3::Y * -9.81, 1.0 / 96.0);
    for (shape, at) in pile {
        scene.add(shape, *at).may_sleep = false;
    }
    assert_eq!(overlap(&scene.bodies, &[], |_| true), None);
    scene.run(2.0);
    let moved = scene.bodies.iter().zip(pile).map(|(body, (_, at))| (body.pose.position - *at).length());
    let turned = scene.bodies.iter().map(|body| 2.0 * body.pose.orientation.w.abs().min(1.0).acos());
    (moved.fold(0.0, f64::max), turned.fold(0.0, f64::max))
}

#[test]
fn barrels_and_coins_stand_on_each_other_whatever_their_columns() {
    for columns in [5, 6, 8, 12, 31, 48, 64] {
        for (radius, height) in [(0.3f32, 0.4f32), (0.1, 0.6), (0.3, 0.06)] {
            let shape = a_drum(radius, height, columns);
            let at = |n: i32| DVec3::Y * f64::from(height) * (f64::from(n) + 0.5);
            let pile: Vec<_> = (0..3).map(|n| (shape.clone(), at(n))).collect();
            let (moved, turned) = stirred(&pile);
            assert!(
                moved < 2e-3 * f64::from(radius) && turned < 2e-3,
                "{columns}, {radius}: {moved} m, {turned} rad"
            );
        }
    }
}

#[test]
fn small_things_stand_anywhere_on_a_wide_drum() {
    let wide = a_drum(1.0, 0.4, 48);
    for (shape, half) in
        [(a_box(DVec3::splat(0.06), 500.0), 0.03), (a_drum(0.05, 0.1, 7), 0.05), (crate_of(0.3), 0.15)]
    {
        for (x, z) in [(0.0, 0.0), (0.5, 0.2), (-0.3, 0.6), (0.1, -0.7)] {
            let pile = [(wide.clone(), DVec3::Y * 0.2), (shape.clone(), DVec3::new(x, 0.4 + half, z))];
            let (moved, turned) = stirred(&pile);
            assert!(moved < 1e-3 && turned < 2e-3, "{half} at {x}, {z}: {moved} m, {turned} rad");
        }
    }
}

#[test]
fn a_barrel_that_lies_across_another_overlaps_it_by_what_it_does() {
    let shape = a_drum(0.1, 0.6, 48);
    for depth in [0.02f64, 0.05] {
        let mut scene = Scene::on_floor(DVec3::ZERO, 1.0 / 96.0);
        scene.add(&shape, DVec3::Y * 0.3);
        scene.add(&shape, DVec3::Y * (0.9 - depth));
        let (_, _, found) = overlap(&scene.bodies, &[], |_| true).expect("they overlap");
        assert!((found - depth).abs() < 1e-3, "{found}, not {depth}");
    }
}
