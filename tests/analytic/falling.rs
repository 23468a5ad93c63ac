//! Drops in free flight are exact at any step and set none; what they meet they meet in time.

use crate::{GRAVITY, number};
use meniscus_tests::{assert_same_files, cook, points};
use serde_json::{Value, json};

/// Voxels, m.
const H: f64 = 0.02;

/// A drop 0.1 m wide, 3 m above the floor, thrown sideways.
const HEIGHT: f64 = 3.0;
const RADIUS: f64 = 0.05;
const THROWN: f64 = 2.0;

fn thrown(fps: f64) -> Value {
    let frames = 1 + (1.2 * fps) as u32;
    json!({
        "format": "meniscus.graph/1", "fps": fps, "frames": [1, frames],
        "substeps": { "min": 1, "max": 64, "cfl": 2.0 },
        "nodes": [
            { "name": "ball", "type": "sphere", "params": { "radius": RADIUS, "center": [0.3, HEIGHT, 0.2] } },
            { "name": "water", "type": "liquid_object", "inputs": ["ball"],
              "params": { "particle_separation": 0.5 * H, "velocity": [THROWN, 0, 0] } },
            { "name": "gravity", "type": "gravity" },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "gravity"],
              "params": { "limit_center": [0, 5, 0], "limit_size": [20, 10, 20], "side_neg_y": "closed" } },
            { "name": "points", "type": "geometry_cache", "inputs": ["flip"] }
        ]
    })
}

#[test]
fn a_drop_lands_where_and_when_it_should_at_any_frame_rate() {
    let fall = (2.0 * (HEIGHT - RADIUS) / GRAVITY).sqrt();
    for fps in [10.0, 24.0, 60.0] {
        let cooked = cook(&thrown(fps), &[]);
        let middle = |frame: i64| {
            let all = points::positions(&cooked.out.join(format!("points/points.{frame:04}.geo")));
            [0, 1].map(|axis| all.iter().map(|x| x[axis]).sum::<f64>() / all.len() as f64)
        };
        let start = middle(1);
        let (mut steps, mut in_flight, mut landed) = (0, 0, false);
        let stats = cooked.stats();
        for line in &stats {
            let (time, dt) = (number(line, "/time"), number(line, "/dt"));
            let end = time + dt;
            let speed = -number(line, "/objects/water/momentum/1") / number(line, "/objects/water/mass");
            steps += 1;
            if end < fall - 2.0 * dt {
                assert!(
                    (speed - GRAVITY * end).abs() < 1e-3 * GRAVITY * fall,
                    "{fps} fps, {end} s: {speed} m/s"
                );
                in_flight = steps;
            } else if !landed && speed < 0.98 * GRAVITY * end {
                // It is found within a substep of its time, and that substep is as short as CFL wants it.
                landed = true;
                assert!((end - fall).abs() < 2.0 * dt, "{fps} fps: lands at {end} s, not {fall} s");
                let crossed = speed.max(GRAVITY * fall) * dt / H;
                assert!(crossed < 3.4, "{fps} fps: {crossed} voxels when it lands");
            }
        }
        assert!(landed, "{fps} fps: it never lands");
        // In steps of two voxels it would be 75, and more since its speed grows within steps.
        let least = (0.6 * HEIGHT / (2.0 * H)).max(fall * fps + 8.0);
        assert!(f64::from(in_flight) < least, "{fps} fps: {in_flight} substeps in flight");
        for frame in 2..=(fall * fps) as i64 {
            let time = (frame - 1) as f64 / fps;
            let at = middle(frame);
            let expected = [start[0] + THROWN * time, start[1] - 0.5 * GRAVITY * time * time];
            let off = (at[0] - expected[0]).hypot(at[1] - expected[1]);
            assert!(off < 0.1 * H, "{fps} fps, frame {frame}: at {at:?}, not {expected:?}");
        }
        // In the end it lies on the floor, all of it.
        let last = stats.last().expect("substeps");
        let all =
            points::positions(&cooked.out.join(format!("points/points.{:04}.geo", number(last, "/frame"))));
        assert!(all.iter().all(|x| x[1] > 0.0 && x[1] < 0.5), "{fps} fps: {:?}", all[0]);
        let kept = number(last, "/objects/water/mass") / number(&stats[0], "/objects/water/mass");
        assert!((kept - 1.0).abs() < 0.02, "{fps} fps: {kept} of its mass");
    }
}

/// A basin of still water on a floor, and a drop that falls beside it, 2 m below and on.
fn beside(drop: bool) -> Value {
    let shapes = if drop { json!(["fill", "drop"]) } else { json!(["fill"]) };
    json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, 15],
        "substeps": { "min": 1, "max": 64, "cfl": 2.0 },
        "nodes": [
            { "name": "basin_mesh", "type": "tube",
              "params": { "radius_bottom": 0.24, "radius_top": 0.24, "height": 0.3, "thickness": 0.06, "floor": true } },
            { "name": "basin", "type": "static_object", "inputs": ["basin_mesh"], "params": { "division_size": H } },
            { "name": "fill", "type": "tube",
              "params": { "radius_bottom": 0.18, "radius_top": 0.18, "height": 0.14, "center": [0, -0.02, 0] } },
            { "name": "drop", "type": "sphere", "params": { "radius": 0.04, "center": [1.5, -2.0, 0.0] } },
            { "name": "both", "type": "merge", "inputs": shapes },
            { "name": "water", "type": "liquid_object", "inputs": ["both"], "params": { "particle_separation": 0.5 * H } },
            { "name": "gravity", "type": "gravity" },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "basin", "gravity"] },
            { "name": "cache", "type": "vdb_cache", "inputs": ["flip"] },
            { "name": "points", "type": "geometry_cache", "inputs": ["flip"] }
        ]
    })
}

#[test]
fn a_drop_that_falls_beside_a_still_pool_sets_no_step() {
    let with = cook(&beside(true), &["--threads", "1"]);
    let stats = with.stats();
    assert_eq!(stats.len(), cook(&beside(false), &[]).stats().len(), "as many substeps as without it");
    // It fell 1.7 m in the meantime, and at 5.7 m/s a step of two voxels is a sixth of a frame.
    let lowest = |frame: u32| {
        let all = points::positions(&with.out.join(format!("points/points.{frame:04}.geo")));
        all.iter().map(|x| x[1]).fold(f64::INFINITY, f64::min)
    };
    assert!(lowest(15) < -3.5, "{} m", lowest(15));
    for how in [&["--threads", "2"][..], &["--threads", "2", "--drop-caches"]] {
        let again = cook(&beside(true), how);
        assert_same_files(&with.out, &again.out, &["stats.jsonl", "cook.json"]);
    }
}

/// A spray of single particles and drops, at a thin plate. Without gravity: what has gone around its edges would fall down behind it.
#[test]
fn what_flies_at_a_wall_does_not_pass_it() {
    for (speed, fps) in [(15.0f64, 24.0f64), (60.0, 24.0), (60.0, 6.0)] {
        let drops: Vec<Value> = (0..4)
            .map(|n| {
                let (y, z) = (0.4 * f64::from(n % 2), 0.4 * f64::from(n / 2));
                json!({ "name": format!("drop{n}"), "type": "sphere",
                        "params": { "radius": 0.012 + 0.008 * f64::from(n), "center": [-1.5, y, z] } })
            })
            .collect();
        let names: Vec<String> = (0..4).map(|n| format!("drop{n}")).collect();
        let nodes = [
            drops,
            vec![
                json!({ "name": "drops", "type": "merge", "inputs": names }),
                json!({ "name": "water", "type": "liquid_object", "inputs": ["drops"],
                        "params": { "particle_separation": 0.5 * H, "velocity": [speed, 0, 0] } }),
                json!({ "name": "plate", "type": "box", "params": { "size": [2.0 * H, 2, 2], "center": [0, 0.2, 0.2] } }),
                json!({ "name": "wall", "type": "static_object", "inputs": ["plate"], "params": { "division_size": H } }),
                json!({ "name": "flip", "type": "flip_solver", "inputs": ["water", "wall"] }),
                json!({ "name": "points", "type": "geometry_cache", "inputs": ["flip"] }),
            ],
        ]
        .concat();
        // No longer than that: what has gone around an edge may slide along the back of the plate.
        let frames = 1 + (1.5 * 2.0 / speed * fps).ceil() as u32;
        let graph = json!({ "format": "meniscus.graph/1", "fps": fps, "frames": [1, frames],
                            "substeps": { "min": 1, "max": 400, "cfl": 2.0 }, "nodes": nodes });
        let cooked = cook(&graph, &[]);
        let all = points::positions(&cooked.out.join(format!("points/points.{frames:04}.geo")));
        // What is behind it went around its edges, a metre from its middle.
        let passed = |x: &[f64; 3]| x[0] > 0.0 && (x[1] - 0.2).abs().max((x[2] - 0.2).abs()) < 0.8;
        let count = all.iter().filter(|&x| passed(x)).count();
        assert!(all.len() > 100 && count == 0, "{speed} m/s at {fps} fps: {count} of {}", all.len());
        let at_wall = all.iter().filter(|x| x[0] > -0.3).count();
        assert!(2 * at_wall > all.len(), "{speed} m/s: {at_wall} of {} came there", all.len());
        let far = cooked.stats().iter().map(|l| number(l, "/dt")).fold(0.0, f64::max) * speed / H;
        assert!(far > 2.5, "{speed} m/s at {fps} fps: {far} voxels at most in a step");
    }
}

/// A drop crosses a metre a frame. In its way, a sink or a source begins at a frame that the drop's step would fly over.
#[test]
fn what_begins_in_the_way_of_a_drop_is_met() {
    let shot = |kind: &str, start: u32| {
        let params = match kind {
            "liquid_sink" => json!({ "start_frame": start }),
            _ => json!({ "start_frame": start, "drive": false }),
        };
        json!({
            "format": "meniscus.graph/1", "fps": 24, "frames": [1, 7],
            "substeps": { "min": 1, "max": 64, "cfl": 2.0 },
            "nodes": [
                { "name": "ball", "type": "sphere", "params": { "radius": RADIUS, "center": [0, 6, 0] } },
                { "name": "water", "type": "liquid_object", "inputs": ["ball"],
                  "params": { "particle_separation": 0.5 * H, "velocity": [0, -24, 0] } },
                { "name": "place", "type": "box", "params": { "size": [0.4, 0.4, 0.4], "center": [0, 1.5, 0] } },
                { "name": "there", "type": kind, "inputs": ["place"], "params": params },
                { "name": "flip", "type": "flip_solver", "inputs": ["water", "there"] },
                { "name": "points", "type": "geometry_cache", "inputs": ["flip"] }
            ]
        })
    };
    let last = |kind, start| {
        let cooked = cook(&shot(kind, start), &[]);
        let most = cooked.stats().iter().map(|l| number(l, "/dt")).fold(0.0, f64::max) * 24.0 / H;
        assert!(most > 10.0, "{kind}: {most} voxels a step, so nothing was asked");
        points::positions(&cooked.out.join("points/points.0007.geo"))
    };
    // It is at 2 m in frame 5 and at 1 m in frame 6.
    assert_eq!(last("liquid_sink", 5).len(), 0, "the drop flies through the sink");
    let (met, missed) = (last("liquid_source", 5), last("liquid_source", 7));
    let beyond = |all: &[[f64; 3]]| all.iter().filter(|x| x[1] < 0.5).count();
    assert!(beyond(&missed) > 300, "{} particles", beyond(&missed));
    assert!(beyond(&met) < beyond(&missed) / 2, "{} of {} fly on", beyond(&met), beyond(&missed));
}
