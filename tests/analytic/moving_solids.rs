//! Solids that are moved push water out of their way, and nothing of it is lost.

use crate::number;
use meniscus_tests::{points::positions, shot::Shot};
use serde_json::{Value, json};
use std::f64::consts::PI;

/// Edge of the tank's square floor, metres.
const SIDE: f64 = 0.3;

/// A closed tank with water of this depth and a solid in it: `nodes` end in a geometry node called `shape`.
fn tank(depth: f64, frames: u32, nodes: &[Value]) -> Value {
    let mut all = nodes.to_vec();
    let rest = json!([
        { "name": "solid", "type": "static_object", "inputs": ["shape"], "params": { "division_size": 0.015 } },
        { "name": "fill", "type": "box", "params": { "size": [SIDE, depth, SIDE], "center": [0.0, 0.5 * depth, 0.0] } },
        { "name": "water", "type": "liquid_object", "inputs": ["fill"], "params": { "particle_separation": 0.0075 } },
        { "name": "gravity", "type": "gravity" },
        { "name": "flip", "type": "flip_solver", "inputs": ["water", "solid", "gravity"],
          "params": { "limit_center": [0.0, 0.2, 0.0], "limit_size": [SIDE, 0.4, SIDE],
                      "side_neg_x": "closed", "side_pos_x": "closed", "side_neg_y": "closed",
                      "side_pos_y": "closed", "side_neg_z": "closed", "side_pos_z": "closed" } },
        { "name": "points", "type": "geometry_cache", "inputs": ["flip"], "params": { "attributes": "id" } }
    ]);
    all.extend(rest.as_array().expect("nodes").iter().cloned());
    json!({ "format": "meniscus.graph/1", "fps": 24, "frames": [1, frames],
            "substeps": { "min": 2, "max": 4, "cfl": 1.5 }, "nodes": all })
}

fn points(shot: &Shot, frame: u32) -> Vec<[f64; 3]> {
    positions(&shot.out().join(format!("points/points.{frame:04}.geo")))
}

/// A paddle as wide as the tank, keyed to and fro through the water.
#[test]
fn a_paddle_keeps_the_water_and_stays_empty() {
    let (depth, frames, at) = (0.1, 17, |frame: u32| 0.08 * (f64::from(frame) - 9.0).abs() / 8.0 - 0.04);
    let nodes = [
        json!({ "name": "board", "type": "box", "params": { "size": [0.06, 0.16, 2.0 * SIDE], "center": [0.0, 0.12, 0.0] } }),
        json!({ "name": "shape", "type": "transform", "inputs": ["board"],
                "params": { "translate": { "keys": [[1, [at(1), 0, 0]], [9, [at(9), 0, 0]], [17, [at(17), 0, 0]]] } } }),
    ];
    let shot = Shot::new(&tank(depth, frames, &nodes));
    shot.cook(&[]);
    let stats = shot.stats();
    let rest = number(&stats[0], "/objects/water/rest_volume");
    for record in &stats {
        let (volume, time) = (number(record, "/objects/water/volume"), number(record, "/time"));
        assert!((volume / rest - 1.0).abs() < 0.01, "{volume:.6} m³ of {rest:.6} at {time:.3} s");
    }
    // In the first frame the solver has not met the paddle yet: water filled into it is there still.
    for frame in 2..=frames {
        let centre = at(frame);
        let deepest = points(&shot, frame)
            .iter()
            .map(|p| (0.03 - (p[0] - centre).abs()).min(p[1] - 0.04).min(0.2 - p[1]))
            .fold(f64::NEG_INFINITY, f64::max);
        // The collision field rounds edges by a fraction of its voxel of 15 mm.
        assert!(deepest < 0.004, "a particle is {deepest:.4} m inside the paddle in frame {frame}");
    }
}

/// Centre of the ball, metres above the floor.
const BALL: f64 = 0.1;

/// Volume of the ball: it swells at the same rate in every frame, cubic metres.
fn displaced(frame: f64, frames: u32) -> f64 {
    let volume = |radius: f64| 4.0 / 3.0 * PI * f64::powi(radius, 3);
    let (small, large) = (volume(0.04), volume(0.08));
    small + (large - small) * (frame - 1.0) / f64::from(frames - 1)
}

/// A sphere of this volume as OBJ: rings of points between two poles. Flat triangles hold less than the sphere through
/// their corners; the radius makes up for it.
fn ball(volume: f64) -> String {
    let (rings, around) = (24, 48);
    let mut unit = vec![[0.0, -1.0, 0.0]];
    for r in 1..rings {
        let (sin, cos) = (PI * f64::from(r) / f64::from(rings)).sin_cos();
        for a in 0..around {
            let (s, c) = (2.0 * PI * f64::from(a) / f64::from(around)).sin_cos();
            unit.push([sin * c, -cos, -sin * s]);
        }
    }
    unit.push([0.0, 1.0, 0.0]);
    let (around, top) = (around as usize, unit.len() - 1);
    let at = |ring: usize, a: usize| 1 + ring * around + a % around;
    let mut faces = Vec::new();
    for a in 0..around {
        faces.push([0, at(0, a + 1), at(0, a)]);
        faces.push([top, at(rings as usize - 2, a), at(rings as usize - 2, a + 1)]);
        for r in 0..rings as usize - 2 {
            faces.push([at(r, a), at(r, a + 1), at(r + 1, a + 1)]);
            faces.push([at(r, a), at(r + 1, a + 1), at(r + 1, a)]);
        }
    }
    let triple = |[a, b, c]: [usize; 3]| {
        let [p, q, r]: [[f64; 3]; 3] = [unit[a], unit[b], unit[c]];
        p[0] * (q[1] * r[2] - q[2] * r[1])
            + p[1] * (q[2] * r[0] - q[0] * r[2])
            + p[2] * (q[0] * r[1] - q[1] * r[0])
    };
    let held = faces.iter().map(|&f| triple(f)).sum::<f64>() / 6.0;
    assert!(held > 0.0, "the ball is inside out");
    let radius = (volume / held).cbrt();
    let points =
        unit.iter().map(|[x, y, z]| format!("v {} {} {}\n", radius * x, BALL + radius * y, radius * z));
    points.chain(faces.iter().map(|[a, b, c]| format!("f {} {} {}\n", a + 1, b + 1, c + 1))).collect()
}

/// A mesh sequence of a ball that swells below the surface: the level rises by what it displaces, and in every substep
/// at the same speed, for the ball moves between its frames as well.
#[test]
fn a_swelling_ball_raises_the_level() {
    let (depth, frames) = (0.22, 17u32);
    let nodes = [json!({ "name": "shape", "type": "file", "params": { "file": "ball.$F4.obj" } })];
    let shot = Shot::new(&tank(depth, frames, &nodes));
    for frame in 1..=frames {
        shot.file(&format!("ball.{frame:04}.obj"), ball(displaced(f64::from(frame), frames)).as_bytes());
    }
    shot.cook(&[]);
    let stats = shot.stats();
    let rest = number(&stats[0], "/objects/water/rest_volume");
    let filled = SIDE * SIDE * depth - displaced(1.0, frames);
    assert!((rest / filled - 1.0).abs() < 0.01, "{rest:.6} m³ of water, {filled:.6} m³ fit");
    for record in &stats {
        let (volume, time) = (number(record, "/objects/water/volume"), number(record, "/time"));
        assert!((volume / rest - 1.0).abs() < 0.01, "{volume:.6} m³ of {rest:.6} at {time:.3} s");
    }

    // Water up to a level L around a ball of volume B at height b has its centre at (A L²/2 − B b) / (A L − B).
    let level = |frame: u32| {
        let points = points(&shot, frame);
        let mean = points.iter().map(|p| p[1]).sum::<f64>() / points.len() as f64;
        let (area, solid) = (SIDE * SIDE, displaced(f64::from(frame), frames));
        mean + (mean * mean - 2.0 * solid * (mean - BALL) / area).sqrt()
    };
    let (rise, expected) = (
        level(frames) - level(1),
        (displaced(f64::from(frames), frames) - displaced(1.0, frames)) / (SIDE * SIDE),
    );
    // A tenth of a voxel of 15 mm.
    assert!((rise - expected).abs() < 0.0015, "the level rises by {rise:.5} m, not {expected:.5} m");

    // Sub-frame velocity: what the water weighs times the speed of its centre, d/dt of the formula above.
    let momenta: Vec<f64> = stats.iter().map(|s| number(s, "/objects/water/momentum/1")).collect();
    let mean = momenta.iter().sum::<f64>() / momenta.len() as f64;
    for (record, momentum) in stats.iter().zip(&momenta) {
        assert!(
            (momentum / mean - 1.0).abs() < 0.5,
            "momentum {momentum:.4} of {mean:.4} kg m/s in {record}"
        );
    }
}

/// What a solid does that is keyed onto or through a side of a closed box of 1 m × 1.2 m × 1 m over 0.3 m of water: `size`: of the box that it is, m.
fn through_a_side(size: [f64; 3], center: [f64; 3], keys: Value, frames: u32) -> Shot {
    let mut motion = keys;
    motion["translate"] = match motion.get("translate") {
        Some(keyed) => keyed.clone(),
        None => json!([0.5, 1.1, 0.5]),
    };
    let side = |name: &str| (name.to_owned(), json!("closed"));
    let mut limits = serde_json::Map::from_iter([
        ("limit_center".to_owned(), json!([0.5, 0.6, 0.5])),
        ("limit_size".to_owned(), json!([1.0, 1.2, 1.0])),
    ]);
    let sides = ["side_neg_x", "side_pos_x", "side_neg_y", "side_pos_y", "side_neg_z", "side_pos_z"];
    limits.extend(sides.map(side));
    let shot = Shot::new(&json!({ "format": "meniscus.graph/1", "fps": 24, "frames": [1, frames],
        "substeps": { "min": 1, "cfl": 2 }, "nodes": [
        { "name": "bar", "type": "box", "params": { "size": size, "center": center } },
        { "name": "moved", "type": "transform", "inputs": ["bar"], "params": motion },
        { "name": "solid", "type": "static_object", "inputs": ["moved"], "params": { "division_size": 0.06 } },
        { "name": "fill", "type": "box", "params": { "size": [1.0, 0.3, 1.0], "center": [0.5, 0.15, 0.5] } },
        { "name": "water", "type": "liquid_object", "inputs": ["fill"], "params": { "particle_separation": 0.03 } },
        { "name": "gravity", "type": "gravity" },
        { "name": "flip", "type": "flip_solver", "inputs": ["solid", "water", "gravity"], "params": limits },
        { "name": "points", "type": "geometry_cache", "inputs": ["flip"], "params": { "attributes": "id" } } ] }));
    shot.cook(&[]);
    // In the first frame the solver has not met the solid yet.
    for frame in 2..=frames {
        let beyond =
            |p: &[f64; 3]| (0..3).map(|a| (-p[a]).max(p[a] - [1.0, 1.2, 1.0][a])).fold(f64::MIN, f64::max);
        let worst = points(&shot, frame).iter().map(beyond).fold(f64::MIN, f64::max);
        assert!(worst < 1e-6, "a particle is {worst} m beyond a side in frame {frame}");
    }
    shot
}

/// An arm that swings through the side and the floor of a box leaves cells that it and the side fill together but for slivers. The water
/// in them has nowhere to go. It gets no speed from that: were all of it as fast as the arm's end, it would have ½ m (ω r)².
#[test]
fn an_arm_that_swings_through_a_side_throws_nothing() {
    for length in [0.85, 0.94, 0.98, 1.0] {
        let turn = json!({ "rotate": { "keys": [[1, [0, 0, -60]], [10, [0, 0, 75]]] } });
        let shot = through_a_side([0.2, 0.2, 0.6], [0.0, -length, 0.0], turn, 10);
        let speed = 15f64.to_radians() * 24.0 * f64::hypot(length + 0.1, 0.1);
        for record in &shot.stats() {
            let at = |name: &str| number(record, &format!("/objects/water/{name}"));
            let (energy, most) = (at("kinetic_energy"), 0.5 * at("mass") * speed * speed);
            let (frame, substep) = (&record["frame"], &record["substep"]);
            assert!(
                energy < most,
                "{length} m: {energy} J of at most {most} in frame {frame}, substep {substep}"
            );
        }
    }
}

/// A block that is driven into a side presses out the water between them, upwards; what it leaves no room for stays in the box.
#[test]
fn a_block_driven_into_a_side_presses_nothing_through_it() {
    let shot = through_a_side(
        [0.2, 0.4, 1.2],
        [0.3, 0.2, 0.5],
        json!({ "translate": { "keys": [[1, [0, 0, 0]], [13, [0.75, 0, 0]]] } }),
        13,
    );
    let stats = shot.stats();
    let highest = |record: &Value| number(record, "/objects/water/potential_energy");
    let (start, risen) = (highest(&stats[0]), stats.iter().map(highest).fold(0.0, f64::max));
    // 0.6 m of pool in front of the block come to lie on 0.2 m behind it and on the block.
    assert!(risen > 1.3 * start, "{risen} J of potential energy after {start}");
}
