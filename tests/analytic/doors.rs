//! A plugin in plain C takes part in a solve by faces alone: a wall without thickness, and a fan in it, by which the pressure
//! jumps.

use crate::GRAVITY;
use meniscus_tests::points::{positions, vectors};
use meniscus_tests::{assert_same_files, c, shot::Shot};
use serde_json::{Value, json};

/// A tank of water with a door in its middle, at x = 0; levels left and right of it.
fn tank(levels: [f64; 2], door: Value, coupling: &str, frames: u32) -> Shot {
    let shot = Shot::new(&graph(levels, door, coupling, frames));
    c::plugin("tests/abi/door.c", &[], &shot.plugins());
    shot
}

fn graph([left, right]: [f64; 2], door: Value, coupling: &str, frames: u32) -> Value {
    let closed = |side: &str| (format!("side_{side}"), json!("closed"));
    let mut sides: serde_json::Map<String, Value> =
        ["neg_x", "pos_x", "neg_y", "pos_y", "neg_z", "pos_z"].into_iter().map(closed).collect();
    sides.insert("limit_center".into(), json!([0, 0.16, 0]));
    sides.insert("limit_size".into(), json!([0.32, 0.32, 0.08]));
    // The two do not share an edge.
    let part = |name: &str, x: f64, level: f64| {
        json!({ "name": name, "type": "box",
                "params": { "size": [0.1598, level, 0.08], "center": [x, 0.5 * level, 0] } })
    };
    json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, frames],
        "substeps": { "min": 2, "max": 8, "cfl": 1.0 },
        "nodes": [
            part("left", -0.08, left), part("right", 0.08, right),
            { "name": "fill", "type": "merge", "inputs": ["left", "right"] },
            { "name": "water", "type": "liquid_object", "inputs": ["fill"], "params": { "particle_separation": 0.01 } },
            { "name": "gravity", "type": "gravity" },
            { "name": "door", "type": "test.door", "params": door },
            { "name": "hinge", "type": "test.door_solver", "inputs": ["door"] },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "gravity"], "params": sides },
            { "name": "both", "type": coupling, "inputs": ["hinge", "flip"] },
            { "name": "points", "type": "geometry_cache", "inputs": ["both"] }
        ]
    })
}

/// Shares of the water beyond the door, and the fastest particle, m/s, in a frame.
fn beyond(shot: &Shot, frame: u32) -> (f64, f64) {
    let file = shot.path(&format!("out/points/points.{frame:04}.geo"));
    let places = positions(&file);
    let there = places.iter().filter(|p| p[0] > 0.0).count() as f64 / places.len() as f64;
    let speed = |v: &[f64; 3]| v.iter().map(|c| c * c).sum::<f64>().sqrt();
    (there, vectors(&file, "v").iter().map(speed).fold(0.0, f64::max))
}

/// What the door felt, the mean over the cook: force, N, flow, m³/s, and volume, m³, and pressure, Pa, of the air it keeps.
fn felt(shot: &Shot) -> [f64; 4] {
    let steps = shot.stats();
    let mean = |of: &str| {
        let door = |step: &Value| {
            assert_eq!(step["doors"][0]["name"], "door", "{step}");
            step["doors"][0][of].as_f64().expect("it is listed")
        };
        steps.iter().map(door).sum::<f64>() / steps.len() as f64
    };
    ["force", "flow", "volume", "pressure"].map(mean)
}

/// A shut door holds a dam; without it the dam breaks. Under bubbles, too, whose air it parts.
#[test]
fn a_shut_door_holds_a_dam() {
    for coupling in ["floating_bodies", "constraint_bubbles"] {
        let held = tank([0.16, 0.04], json!({ "sill": -1.0 }), coupling, 7);
        held.cook(&[]);
        let (first, _) = beyond(&held, 1);
        let (last, speed) = beyond(&held, 7);
        assert!((last - first).abs() < 1e-9, "{first} of the water was beyond, {last} is");
        // Its edge is no wall to particles: those beside it jostle, and none passes.
        assert!(speed < 0.1, "{coupling}: it moves at {speed} m/s");
        // It bears the water's weight on either side, and lets none through.
        let [force, flow, ..] = felt(&held);
        let expected = -0.5 * 1000.0 * GRAVITY * 0.08 * (0.16f64.powi(2) - 0.04f64.powi(2));
        println!("{coupling}: {force} N of {expected}, {flow} m³/s");
        assert!((force / expected - 1.0).abs() < 0.02 && flow.abs() < 1e-7, "{force} N, {flow} m³/s");
        let ajar = tank([0.16, 0.04], json!({ "sill": -1.0, "shut": 0.0 }), coupling, 7);
        ajar.cook(&[]);
        let (flown, speed) = beyond(&ajar, 7);
        assert!(flown > first + 0.1 && speed > 0.3, "{coupling}: {flown} flowed at {speed} m/s");
    }
}

/// The more of a door is shut, the less flows, and what flows is what the faces say: bubbles on both sides keep their air.
#[test]
fn a_door_that_is_shut_in_part_lets_less_through() {
    let flown = |shut: f64| {
        let tank = tank([0.16, 0.04], json!({ "sill": -1.0, "shut": shut }), "constraint_bubbles", 4);
        tank.cook(&[]);
        // The door reaches beyond the tank; no air is there.
        let volume = |bubble: &Value| bubble["volume"].as_f64().expect("it is enclosed");
        let air = |step: &Value| {
            step["bubbles"].as_array().expect("bubbles are listed").iter().map(volume).sum::<f64>()
        };
        let space = 0.32 * 0.32 * 0.08 - 0.16 * 0.08 * 0.2;
        let steps = tank.stats();
        assert!(steps.iter().all(|step| (air(step) / space - 1.0).abs() < 0.02), "{}", steps[0]);
        beyond(&tank, 4).0 - beyond(&tank, 1).0
    };
    let all: Vec<f64> = [0.0, 0.9, 0.9999].into_iter().map(flown).collect();
    assert!(all[1] < 0.5 * all[0] && all[2].abs() < 0.002, "shares of the water that flowed: {all:?}");
}

/// Under open air, what a door feels passing it is what comes.
#[test]
fn what_a_door_feels_passing_is_what_comes() {
    for shut in [0.0, 0.5, 0.9] {
        let tank = tank([0.16, 0.04], json!({ "sill": -1.0, "shut": shut }), "floating_bodies", 4);
        tank.cook(&[]);
        let moved = beyond(&tank, 4).0 - beyond(&tank, 1).0;
        // A solve's velocity moves liquid in the next substep.
        let steps = tank.stats();
        let passed = |pair: &[Value]| Some(pair[1]["dt"].as_f64()? * pair[0]["doors"][0]["flow"].as_f64()?);
        let later = steps.windows(2).filter(|pair| pair[1]["frame"].as_i64() > Some(1));
        let passed: f64 = later.filter_map(passed).sum::<f64>() / (0.16 * 0.08 * 0.2);
        println!("shut by {shut}: {moved} of the water moved, {passed} passed");
        assert!(
            (moved - passed).abs() < 0.1 * passed + 0.002,
            "shut by {shut}: {moved} moved, {passed} passed"
        );
    }
}

/// A fan below a shut wall holds levels apart by rise / (ρ g); one that is too strong drives the water over to its side.
#[test]
fn a_fan_holds_levels_apart_by_its_rise() {
    let rise = 1000.0 * GRAVITY * 0.06;
    for side in [1.0, -1.0] {
        let levels = if side > 0.0 { [0.1, 0.16] } else { [0.16, 0.1] };
        let door = |rise: f64| json!({ "sill": 0.06, "rise": side * rise });
        let held = tank(levels, door(rise), "constraint_bubbles", 7);
        held.cook(&["--threads", "1"]);
        let [(first, _), (last, speed)] = [beyond(&held, 1), beyond(&held, 7)];
        assert!((last - first).abs() < 0.01 && speed < 0.05, "{first} to {last}, {speed} m/s");
        for (rise, way) in [(1.5 * rise, side), (0.5 * rise, -side)] {
            let moved = tank(levels, door(rise), "floating_bodies", 4);
            moved.cook(&[]);
            let [(first, _), (last, _)] = [beyond(&moved, 1), beyond(&moved, 4)];
            assert!(way * (last - first) > 0.005, "{rise} Pa: {first} to {last}");
        }
        let again = tank(levels, door(rise), "constraint_bubbles", 7);
        again.cook(&["--threads", "2", "--drop-caches"]);
        assert_same_files(&held.path("out/points"), &again.path("out/points"), &[]);
    }
}

/// Under open air, the water of a tank parted above its sill swings to one level. Air that the door keeps on one side holds it
/// up, and what is blown in moves as much water to the other side.
#[test]
fn kept_air_holds_a_level_and_blown_air_moves_as_much_water() {
    let share = |inflow: f64, keep: bool| {
        let door = json!({ "sill": 0.06, "keep": keep, "inflow": inflow });
        let shot = tank([0.16, 0.1], door, "floating_bodies", 5);
        shot.cook(&[]);
        let [(first, _), (last, _)] = [beyond(&shot, 1), beyond(&shot, 5)];
        (last - first, felt(&shot))
    };
    let (fallen, [.., volume, pressure]) = share(0.0, false);
    assert_eq!([volume, pressure], [0.0; 2], "it keeps none");
    assert!(fallen > 0.05, "it does not fall without: {fallen}");
    let volume = 0.16 * 0.08 * (0.16 + 0.1);
    let (still, [.., air, pressure]) = share(0.0, true);
    // What hangs from it, 6 cm of water, sucks at it.
    let space = 0.16 * 0.08 * 0.16;
    let expected = -1000.0 * GRAVITY * 0.06;
    println!("{pressure} Pa of {expected}");
    assert!((pressure / expected - 1.0).abs() < 0.03, "{pressure} of {expected} Pa");
    assert!((air / space - 1.0).abs() < 0.02, "{air} of {space} m³");
    assert!(still.abs() < 0.01, "{still} of the water flowed");
    for inflow in [1e-3, -5e-4] {
        let (moved, [.., blown, _]) = share(inflow, true);
        let (moved, expected) = (moved - still, inflow * 4.0 / 24.0 / volume);
        // An eighth more of it in each of the eight substeps: 9/16 in the mean.
        let more = 9.0 / 16.0 * expected * volume;
        assert!((blown - air - more).abs() < 0.05 * more.abs(), "{air} to {blown} m³, {more} more");
        println!("{moved} of the water moved, {expected} expected");
        assert!((moved - expected).abs() < 0.1 * expected.abs(), "{moved}, not {expected}");
    }
}

#[test]
fn faces_that_fit_no_liquid_are_refused_by_one_sentence() {
    let wrong = [
        (json!({ "keep": true, "fault": 3 }), "`chambers` of `door` needs three finite numbers `place`"),
        (json!({ "fault": 1 }), "jump"),
        (json!({ "sill": -1.0, "fault": 4 }), "`shut` of `door` has a background that is not 0"),
        (json!({ "sill": -1.0, "fault": 2 }), "`shut` of `door` holds a value that is no share from 0 to 1"),
        (
            json!({ "voxel": 0.015 }),
            "`jump` of `door` does not lie on the lattice of the liquid: voxels of 0.02 m",
        ),
    ];
    for (door, sentence) in wrong {
        let told = tank([0.1, 0.1], door, "floating_bodies", 2).refused_midway();
        assert!(told.contains(sentence), "{told}");
    }
}

/// A coupling that hands its air to another one cannot keep faces shut there.
#[test]
fn a_door_where_another_coupling_solves_is_refused() {
    let mut graph = graph([0.1, 0.1], json!({}), "constraint_bubbles", 2);
    let nodes = graph["nodes"].as_array_mut().expect("a list");
    nodes.push(json!({ "name": "toy", "type": "test.pools", "inputs": ["both"] }));
    let shot = Shot::new(&graph);
    c::plugin("tests/abi/door.c", &[], &shot.plugins());
    c::plugin("tests/abi/pools.c", &[], &shot.plugins());
    let told = shot.refused(&[]);
    assert!(
        told.contains("hinge") && told.contains("`jump`") && told.contains("`toy` solves in its stead"),
        "{told}"
    );
}
