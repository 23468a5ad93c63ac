//! What lies in faces: jumps of pressure, and faces that somebody shuts.

use super::*;
use crate::coupling::shut;

const DT: f64 = 0.01;
const H: f64 = 0.02;
const RISE: f64 = 730.0;

/// A column of water in a shaft along an axis, open at both ends, between two places, cells.
fn column(axis: usize, [low, high]: [f64; 2]) -> Scene {
    let mut size = IVec3::splat(3);
    size[axis] = 16;
    let walled = std::array::from_fn(|side| side / 2 != axis);
    let away = move |p: DVec3| (low - 0.5 - p[axis] / H).max(p[axis] / H + 0.5 - high) * H;
    Scene::still(H, size, walled, away, empty)
}

/// A value on all faces of a layer across an axis.
fn layer(scene: &Scene, axis: usize, at: i32, value: f32) -> FaceGrid<f32> {
    let of = |a: usize, c: Coord| if a == axis && c[axis] == at { value } else { 0.0 };
    FaceGrid::from_fn(scene.vel.topology.clone(), 0.0, of)
}

fn projected(scene: &Scene, jump: Option<&FaceGrid<f32>>) -> (FaceGrid<f32>, Projection) {
    let mut vel = scene.vel.clone();
    let fields = LiquidFields { jump, ..scene.fields() };
    let solved = free_surface::project(&fields, &mut vel, DT, &mut PlainCg, &TIGHT, &mut run_on).unwrap();
    (vel, solved)
}

/// A fan in a column of length L that is free at both ends: u = dt R / (ρ L), wherever it stands and wherever the column ends.
#[test]
fn a_fan_drives_a_free_column_by_its_rise_over_its_mass() {
    for axis in 0..3 {
        for ends in [[3.0, 11.0], [2.3, 11.9], [3.71, 9.2]] {
            for at in [4, 7, 9] {
                let scene = column(axis, ends);
                let (vel, _) = projected(&scene, Some(&layer(&scene, axis, at, RISE as f32)));
                let expected = DT * RISE / (WATER * (ends[1] - ends[0]) * H);
                for (_, c) in scene.liquid_faces().filter(|f| f.0 == axis) {
                    let u = f64::from(vel.get(axis, c));
                    assert!(
                        (u - expected).abs() < 2e-3 * expected,
                        "axis {axis}, {ends:?}, fan at {at}: {u} m/s at {c}, not {expected}"
                    );
                }
            }
        }
    }
}

/// In a closed box, water stays still and the pressure is as much higher behind the layer.
#[test]
fn what_cannot_move_carries_the_rise_as_pressure() {
    let scene = Scene::still(H, IVec3::new(5, 8, 4), [true; 6], |_| -H, empty).falling(DT);
    let (vel, with) = projected(&scene, Some(&layer(&scene, 1, 4, RISE as f32)));
    let (_, without) = projected(&scene, None);
    assert!(scene.fastest(&vel) < 1e-6, "{} m/s", scene.fastest(&vel));
    let across =
        |p: &Projection| f64::from(p.pressure.get(IVec3::new(2, 6, 2)) - p.pressure.get(IVec3::new(2, 1, 2)));
    let rise = across(&with) - across(&without);
    assert!((rise - RISE).abs() < 1e-3 * RISE, "{rise} Pa");
}

/// A shut layer stops a column; one that is shut in part lets through what it lets in, faster.
#[test]
fn shut_faces_stop_and_narrow_a_column() {
    for axis in 0..3 {
        for share in [0.25, 0.5, 1.0f32] {
            let mut scene = column(axis, [3.0, 11.0]).with_velocity(|a, _| if a == axis { 1.0 } else { 0.0 });
            let shutter = layer(&scene, axis, 6, share);
            scene.open = shut(&scene.fields(), &shutter).open;
            let (vel, _) = projected(&scene, None);
            let mut c = IVec3::ONE;
            c[axis] = 9;
            let far = vel.get(axis, c);
            c[axis] = 6;
            let through = vel.get(axis, c);
            if share < 1.0 {
                assert!((through * (1.0 - share) - far).abs() < 1e-5 && far > 0.3, "{through}, {far} m/s");
                assert!(far < 1.0, "{far} m/s");
            } else {
                assert!(scene.fastest(&vel) < 1e-6 && through == 0.0, "{} m/s", scene.fastest(&vel));
            }
        }
    }
}

/// What is shut in part moves as the mean of a wall that moves there and what stands still: the flux of both stays.
#[test]
fn a_face_that_is_shut_keeps_the_flux_of_its_walls() {
    for (alpha, share, speed) in [(0.5, 0.5, 2.0f32), (1.0, 0.3, 2.0), (0.0, 0.7, -1.0), (0.25, 1.0, 3.0)] {
        let mut scene = column(1, [3.0, 11.0]);
        let faces = |value: f32| FaceGrid::from_fn(scene.vel.topology.clone(), value, |_, _| value);
        let (left, vel_solid) = (faces(alpha), faces(speed));
        scene.open = shut(&LiquidFields { open: &left, ..scene.fields() }, &faces(share)).open;
        let fields = LiquidFields { vel_solid: &vel_solid, without_lids: Some(&left), ..scene.fields() };
        let (open, moves) = (scene.open.get(1, IVec3::ONE), fields.closed_velocity().get(1, IVec3::ONE));
        assert!((open - alpha * (1.0 - share)).abs() < 1e-6);
        assert!(((1.0 - open) * moves - (1.0 - alpha) * speed).abs() < 1e-6, "{moves} m/s");
    }
}

/// A lid far from liquid, where no leaf is, parts the air of a duct; the same lid inside a solid or beyond a closed side adds no air.
#[test]
fn a_lid_without_leaves_parts_open_air_and_nothing_else() {
    for axis in 0..3 {
        let along = |n: i32| {
            let mut cells = IVec3::splat(4);
            cells[axis] = n;
            cells
        };
        let water = |p: DVec3| p[axis] - 4.3 * H;
        let regions = |length: f64, solid_from: f64| {
            let solid = move |p: DVec3| solid_from * H - p[axis];
            let mut scene = Scene::still(H, along(30), [true; 6], water, solid);
            scene.domain.max[axis] = length * H;
            // Its leaves end at cell 16.
            let near = leaves(IVec3::splat(-1), along(15) + 1 - IVec3::AXES[axis]);
            scene.surface = scene.surface.on(&near);
            (scene.open, scene.vel_solid) = (scene.open.on(&near), scene.vel_solid.on(&near));
            let lid = FaceGrid::from_fn(leaves(along(24) * IVec3::AXES[axis], along(40)), 0.0, |a, c| {
                if a == axis && c[axis] == 26 { 1.0 } else { 0.0 }
            });
            let lids = shut(&scene.fields(), &lid);
            let fields = lids.over(scene.fields());
            let mut vel = FaceGrid::new(near, 0.0);
            let solved =
                constraint_bubbles::project(&fields, &mut vel, DT, &mut PlainCg, &TIGHT, &mut run_on)
                    .unwrap();
            solved.bubbles.iter().map(|bubble| bubble.volume / H.powi(3)).collect::<Vec<_>>()
        };
        // Of a cell that a side cuts, the share is known to 0.07.
        let near = |found: &[f64], expected: &[f64]| {
            found.len() == expected.len()
                && found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 16.0 * 0.07)
        };
        let below = 16.0 * (26.0 - 4.3);
        // The side at its end may cut a cell.
        for length in [30.0, 29.4, 27.7] {
            let parted = regions(length, 1e9);
            let above = 16.0 * (length - 26.0);
            assert!(near(&parted, &[below, above]), "axis {axis}, {length} long: parted {parted:?}");
        }
        for length in [24.0, 23.6] {
            let beyond = regions(length, 1e9);
            assert!(near(&beyond, &[16.0 * (length - 4.3)]), "axis {axis}: beyond a side {beyond:?}");
        }
        let inside = regions(30.0, 12.5);
        assert!(near(&inside, &[16.0 * (12.5 - 4.3)]), "axis {axis}: in a solid {inside:?}");
    }
}
