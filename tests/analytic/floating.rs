//! Bodies in liquid: Archimedes, the frequency of heave, what lies on the floor, and what air carries.

use crate::{GRAVITY, number};
use meniscus_tests::assert_same_files;
use meniscus_tests::shot::Shot;
use serde_json::{Value, json};

/// Edge of a voxel, m.
const VOXEL: f64 = 0.02;
/// Width and depth of the square tank's water, m.
const TANK: [f64; 2] = [0.48, 0.24];

/// A body from `mesh` in the tank.
fn tank(mesh: Value, body: Value, coupling: &str, frames: u32) -> Vec<Value> {
    tank_in_steps(TANK, mesh, body, coupling, frames, 1)
}

/// The same in at least `steps` substeps a frame.
fn tank_in_steps(
    [wide, deep]: [f64; 2],
    mesh: Value,
    body: Value,
    coupling: &str,
    frames: u32,
    steps: u32,
) -> Vec<Value> {
    let limits = json!({
        "limit_center": [0, 0.3, 0], "limit_size": [wide, 0.6, wide], "side_neg_x": "closed", "side_pos_x": "closed",
        "side_neg_y": "closed", "side_neg_z": "closed", "side_pos_z": "closed" });
    let shot = Shot::new(&json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, frames],
        "substeps": { "min": steps, "max": 8, "cfl": 1.0 },
        "nodes": [
            { "name": "fill", "type": "box", "params": { "size": [wide, deep, wide], "center": [0, 0.5 * deep, 0] } },
            { "name": "water", "type": "liquid_object", "inputs": ["fill"],
              "params": { "particle_separation": 0.5 * VOXEL } },
            mesh,
            { "name": "body", "type": "rigid_object", "inputs": ["mesh"], "params": body },
            { "name": "gravity", "type": "gravity" },
            { "name": "rigid", "type": "rigid_solver", "inputs": ["body", "gravity"], "params": limits },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "body", "gravity"], "params": limits },
            { "name": "both", "type": coupling, "inputs": ["rigid", "flip"] }
        ]
    }));
    shot.cook(&[]);
    shot.stats()
}

/// (time, s; height, m) of the body in every substep.
fn heights(stats: &[Value]) -> Vec<(f64, f64)> {
    stats.iter().map(|r| (number(r, "/time") + number(r, "/dt"), number(r, "/bodies/0/position/1"))).collect()
}

/// Mean over time from `since` on.
fn mean(samples: &[(f64, f64)], since: f64) -> f64 {
    let late = samples.windows(2).filter(|pair| pair[0].0 >= since);
    let (sum, time) = late.fold((0.0, 0.0), |(sum, time), pair| {
        let dt = pair[1].0 - pair[0].0;
        (sum + 0.5 * dt * (pair[0].1 + pair[1].1), time + dt)
    });
    sum / time
}

/// Boxes whose flat sides are up: of light ones little is under water, of heavy ones most [Archimedes]. They start a little
/// off their place, so they heave; the mean counts.
#[test]
fn boxes_displace_their_own_mass() {
    let (wide, high) = (0.16, 0.1);
    for (density, at) in [(200.0, [0.003, 0.007]), (450.0, [0.0, -0.009]), (850.0, [0.006, 0.001])] {
        let under = density / 1000.0 * high;
        let start = TANK[1] - under + 0.5 * high + 0.008;
        let mesh = json!({ "name": "mesh", "type": "box",
                           "params": { "size": [wide, high, wide], "center": [at[0], start, at[1]] } });
        let stats =
            tank(mesh, json!({ "density": density, "division_size": 0.5 * VOXEL }), "floating_bodies", 44);
        // The water that the body pushed away at the start was never there.
        let level = TANK[1] + (0.008 * wide * wide) / TANK[0].powi(2);
        let measured = level - (mean(&heights(&stats), 0.6) - 0.5 * high);
        let error = (measured - under) / high;
        println!("{density} kg/m³: {measured:.4} m under water, theory {under:.4}: {error:+.4} of the box");
        assert!(error.abs() < 0.02, "{density} kg/m³ displaces {measured} m, not {under} m");
    }
}

/// A body that nothing pushes up lies on the floor, and the water around it comes to rest.
#[test]
fn lead_lies_on_the_floor() {
    let mesh = json!({ "name": "mesh", "type": "sphere", "params": { "radius": 0.05, "center": [0.01, 0.12, 0.0] } });
    let body = json!({ "density": 11_340, "division_size": 0.01 });
    for coupling in ["floating_bodies", "constraint_bubbles"] {
        let stats = tank(mesh.clone(), body.clone(), coupling, 40);
        let last = stats.last().expect("a cook has substeps");
        let height = number(last, "/bodies/0/position/1");
        assert!((height - 0.05).abs() < 0.002, "{coupling}: its middle is {height} m above the floor");
        let speed = (2.0 * number(last, "/objects/water/kinetic_energy")
            / number(last, "/objects/water/mass"))
        .sqrt();
        assert!(speed < 0.1, "{coupling}: the water moves at {speed} m/s");
    }
}

/// Accelerations of spheres that are let go deep under water: g (ρ_w − ρ) / (ρ + ½ ρ_w), the added mass being half of the
/// displaced one [Lamb 1932, §92], and a little more between walls.
#[test]
fn spheres_start_with_half_their_displaced_mass_added() {
    for density in [200.0, 3000.0] {
        let mesh = json!({ "name": "mesh", "type": "sphere",
                           "params": { "radius": 0.06, "center": [0.004, 0.22, 0.003] } });
        let body = json!({ "density": density, "division_size": 0.01 });
        let stats = tank_in_steps([0.48, 0.44], mesh, body, "floating_bodies", 2, 8);
        let theory = GRAVITY * (1000.0 - density) / (density + 500.0);
        let of = |r: &Value| (number(r, "/time") + number(r, "/dt"), number(r, "/bodies/0/v/1"));
        // Of the first substeps: later air may open behind the sphere for a moment, a gap between two particles.
        for pair in stats.windows(2).take(3) {
            let ((then, before), (now, after)) = (of(&pair[0]), of(&pair[1]));
            let measured = (after - before) / (now - then);
            println!("{density} kg/m³: {measured:.3} m/s², theory {theory:.3}");
            assert!((measured / theory - 1.0).abs() < 0.05, "{density} kg/m³: {measured} m/s², not {theory}");
        }
    }
}

/// The same bytes whatever the number of threads, without caches, and after a stop.
#[test]
fn a_floating_body_is_the_same_however_it_is_cooked() {
    let graph = |last: u32| {
        let sides = json!({ "limit_center": [0, 0.2, 0], "limit_size": [0.3, 0.4, 0.3], "side_neg_x": "closed",
                            "side_pos_x": "closed", "side_neg_y": "closed", "side_neg_z": "closed",
                            "side_pos_z": "closed" });
        json!({
            "format": "meniscus.graph/1", "fps": 24, "frames": [1, last],
            "substeps": { "min": 1, "max": 4, "cfl": 1.0 },
            "nodes": [
                { "name": "fill", "type": "box", "params": { "size": [0.3, 0.16, 0.3], "center": [0, 0.08, 0] } },
                { "name": "water", "type": "liquid_object", "inputs": ["fill"],
                  "params": { "particle_separation": 0.0125 } },
                { "name": "mesh", "type": "box", "params": { "size": [0.08, 0.08, 0.08], "rotate": [20, 0, 35] } },
                { "name": "places", "type": "points",
                  "params": { "count": [2, 1, 1], "spacing": [0.13, 0, 0], "center": [0, 0.19, 0.01] } },
                { "name": "body", "type": "rigid_object", "inputs": ["mesh", "places"],
                  "params": { "density": 400, "division_size": 0.0125 } },
                { "name": "gravity", "type": "gravity" },
                { "name": "rigid", "type": "rigid_solver", "inputs": ["body", "gravity"], "params": sides },
                { "name": "flip", "type": "flip_solver", "inputs": ["water", "body", "gravity"], "params": sides },
                { "name": "both", "type": "constraint_bubbles", "inputs": ["rigid", "flip"] },
                { "name": "meshes", "type": "geometry_cache", "inputs": ["both"] }
            ]
        })
    };
    let first = Shot::new(&graph(7));
    first.cook(&["--threads", "1"]);
    for how in [&["--threads", "2"][..], &["--drop-caches"]] {
        let again = Shot::new(&graph(7));
        again.cook(how);
        assert_same_files(&first.path("out/meshes"), &again.path("out/meshes"), &[]);
    }
    let resumed = Shot::new(&graph(4));
    resumed.cook(&[]);
    resumed.graph(graph(7).to_string().as_bytes());
    resumed.cook(&["--resume"]);
    assert_same_files(&first.path("out/meshes"), &resumed.path("out/meshes"), &[]);
}

/// Bodies on or nearly on each other in a tank without air are pushed by what is between them as by what is around. If one lacked a part of
/// its surface, it would look like a piston: what a full tank has no room for (voids that close, volume that is corrected) would be
/// carried through the lack, and they would fly apart at metres a second.
#[test]
fn neutral_cubes_on_each_other_in_a_full_tank_stay() {
    for gap in [0.0, 0.0003, 0.003] {
        let fastest = fastest_of_two_cubes(gap, (24, 8), json!({ "min": 2, "max": 8, "cfl": 1.0 }));
        assert!(fastest < 0.06, "{gap} m apart: {fastest} m/s");
    }
}

/// Nor do they push each other: each has the water between them as its own, and no air is seen where neither leaves room for it. In
/// the first substep, by gravity.
#[test]
fn neutral_cubes_beside_each_other_do_not_push() {
    for gap in [0.0, 0.002, 0.01, 0.02, 0.039] {
        let step = json!({ "min": 1, "max": 1 });
        let pushed = fastest_of_two_cubes(gap, (240, 2), step) * 240.0 / 9.81;
        assert!(pushed < 0.015, "{gap} m apart: {pushed} g");
    }
}

/// Thin bodies do not draw air to their rims. Water behind a thin plate lies at the far sides of the cells that the plate cuts; a measure of
/// how full a place is that took it by its particles' places, and its room by whole cells, would miss a fifth of it there. In the
/// first substep, by gravity.
#[test]
fn thin_neutral_bodies_in_a_full_tank_stay() {
    let plate = |thick: f64| [thick, 4.1, 4.3];
    let rod = |thick: f64| [thick, 5.0, thick];
    for (size, most) in [
        (plate(1.2), 0.03),
        (plate(1.5), 0.015),
        (plate(1.75), 0.015),
        (plate(2.0), 0.015),
        (plate(2.5), 0.015),
        (rod(2.0), 0.015),
        ([2.0; 3], 0.025),
        ([3.0; 3], 0.015),
    ] {
        let (pushed, air) = pushed_in_a_full_tank(size);
        println!("{size:?} voxels: {pushed:.4} g, {air} pockets of air");
        assert!(pushed < most && air == 0, "{size:?} voxels: {pushed} g, {air} pockets of air");
    }
}

/// Nor does the floor turn what stands tilted on it: friction holds a body by the weight that the water leaves it, in the first substep,
/// too.
#[test]
fn neutral_cubes_tilted_on_the_floor_do_not_turn() {
    for tilt in [5.0, 15.0, 30.0] {
        let turn = f64::to_radians(tilt);
        let up = 0.1 * (turn.cos() + turn.sin()) - 0.5;
        let mesh = json!({ "name": "m", "type": "box", "params": { "size": [0.2, 0.2, 0.2],
                           "center": [0.007, up, 0.011], "rotate": [0, 0, tilt] } });
        let stats = first_substep_in_a_full_tank(vec![mesh]);
        let turns = (0..3).map(|a| number(&stats[0], &format!("/bodies/0/w/{a}")).abs() * 240.0);
        let turns = turns.fold(0.0, f64::max);
        println!("tilted by {tilt}: {turns:.2} rad/s²");
        assert!(turns < 0.6, "tilted by {tilt}: {turns} rad/s²");
    }
}

/// The greatest acceleration, by gravity, of 27 neutral boxes of this size (voxels) in several places and turns, in the first substep;
/// and how many pockets of air there are.
fn pushed_in_a_full_tank(size: [f64; 3]) -> (f64, usize) {
    let mesh = |n: usize| {
        let part = |g: f64| (n as f64 * g).fract();
        let place = [n / 9, n / 3 % 3, n % 3].map(|i| 0.32 * (i as f64 - 1.0));
        let shift = [0.7549, 0.5698, 0.4302].map(|g| 0.04 * (part(g) - 0.5));
        let turn = match n % 3 {
            0 => [[0.0; 3], [0.0, 0.0, 90.0], [90.0, 0.0, 0.0]][n / 3 % 3],
            1 => [0.0, 0.0, [15.0, 30.0, 45.0][n / 3 % 3]],
            _ => [0.8192, 0.6711, 0.5497].map(|g| 360.0 * part(g)),
        };
        let center: [f64; 3] = std::array::from_fn(|a| place[a] + shift[a]);
        let size = size.map(|voxels| 2.0 * VOXEL * voxels);
        json!({ "name": format!("m{n}"), "type": "box",
                "params": { "size": size, "rotate": turn, "center": center } })
    };
    let stats = first_substep_in_a_full_tank((0..27).map(mesh).collect());
    let of = |n: usize| number(&stats[0], &format!("/bodies/{}/v/{}", n / 3, n % 3)).abs();
    let fastest = (0..3 * 27).map(of).fold(0.0, f64::max);
    (fastest * 240.0 / GRAVITY, stats[0]["bubbles"].as_array().map_or(0, Vec::len))
}

/// The first substep, of 1/240 s, of neutral bodies in a tank of 25 voxels that is full to its lid.
fn first_substep_in_a_full_tank(meshes: Vec<Value>) -> Vec<Value> {
    full_tank(meshes, (240, 2), json!({ "min": 1, "max": 1 }))
}

/// The greatest speed, m/s, until a frame of two neutral cubes of five voxels, one `gap` m above the other; `per`: frames a second.
fn fastest_of_two_cubes(gap: f64, (per, last): (u32, u32), substeps: Value) -> f64 {
    let cube = |name: &str, up: f64| {
        json!({ "name": name, "type": "box",
                "params": { "size": [0.2, 0.2, 0.2], "center": [0.007, up, 0.011] } })
    };
    let stats = full_tank(vec![cube("low", -0.1), cube("high", 0.1 + gap)], (per, last), substeps);
    let speeds = stats.into_iter().flat_map(|record| {
        (0..6).map(|n| number(&record, &format!("/bodies/{}/v/{}", n / 3, n % 3)).abs()).collect::<Vec<_>>()
    });
    speeds.fold(0.0, f64::max)
}

/// Neutral bodies of some meshes in a tank of 25 voxels that is full to its lid, until a frame; `per`: frames a second.
fn full_tank(meshes: Vec<Value>, (per, last): (u32, u32), substeps: Value) -> Vec<Value> {
    let names: Vec<String> = (0..meshes.len()).map(|n| format!("body{n:02}")).collect();
    let body = |(name, mesh): (&String, &Value)| {
        json!({ "name": name, "type": "rigid_object", "inputs": [mesh["name"]],
                "params": { "density": 1000, "division_size": VOXEL, "sleeping": false } })
    };
    let closed = json!({ "limit_size": [1, 1, 1], "side_neg_x": "closed", "side_pos_x": "closed",
            "side_neg_y": "closed", "side_pos_y": "closed", "side_neg_z": "closed", "side_pos_z": "closed" });
    let of = |others: &[&str]| -> Vec<String> {
        names.iter().cloned().chain(others.iter().map(|name| (*name).to_owned())).collect()
    };
    let mut nodes = vec![
        json!({ "name": "fill", "type": "box", "params": { "size": [1, 1, 1], "center": [0, 0, 0] } }),
        json!({ "name": "water", "type": "liquid_object", "inputs": ["fill"],
                "params": { "particle_separation": VOXEL } }),
        json!({ "name": "gravity", "type": "gravity" }),
    ];
    nodes.extend(meshes.iter().cloned());
    nodes.extend(names.iter().zip(&meshes).map(body));
    nodes.extend([
        json!({ "name": "rigid", "type": "rigid_solver", "inputs": of(&["gravity"]), "params": closed }),
        json!({ "name": "flip", "type": "flip_solver", "inputs": of(&["water", "gravity"]), "params": closed }),
        json!({ "name": "both", "type": "floating_bodies", "inputs": ["rigid", "flip"] }),
    ]);
    let shot = Shot::new(&json!({ "format": "meniscus.graph/1", "fps": per, "frames": [1, last],
                                  "substeps": substeps, "nodes": nodes }));
    shot.cook(&[]);
    shot.stats()
}
