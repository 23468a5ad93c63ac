//! Bodies that move through liquid without a surface, by Rigid Fluid: nothing brakes them but friction and added mass.
//! `floating_bodies`, which solves for liquid, bodies and contacts at once, is the measure.

use crate::{GRAVITY, number};
use meniscus_tests::shot::Shot;
use serde_json::{Value, json};

const BOTH: [&str; 2] = ["floating_bodies", "rigid_fluid"];
/// Voxels, m.
const H: f64 = 0.025;

/// The records of a body in a box that liquid fills to all of its closed sides. `extra` stand in the solvers' way, or hold the body.
fn cooked(
    coupling: &str,
    mut extra: Vec<Value>,
    [solvers, rigid]: [&[&str]; 2],
    shot: &Box,
    g: [f64; 3],
) -> Vec<Value> {
    let sides = ["neg_x", "pos_x", "neg_y", "pos_y", "neg_z", "pos_z"].map(|s| format!("side_{s}"));
    let mut limits = json!({ "limit_center": [0, 0, 0], "limit_size": shot.size });
    sides.iter().for_each(|side| limits[side] = "closed".into());
    let moving = [solvers, rigid, &["gravity"]].concat();
    let wetting = [&["water"], solvers, &["gravity"]].concat();
    extra.extend([
        json!({ "name": "water", "type": "liquid_object", "inputs": ["fill"], "params": { "particle_separation": 0.5 * H } }),
        json!({ "name": "gravity", "type": "gravity", "params": { "force": g } }),
        json!({ "name": "rigid", "type": "rigid_solver", "inputs": moving, "params": limits }),
        json!({ "name": "flip", "type": "flip_solver", "inputs": wetting, "params": limits }),
        json!({ "name": "both", "type": coupling, "inputs": ["rigid", "flip"] }),
    ]);
    let graph = json!({ "format": "meniscus.graph/1", "fps": 24, "frames": [1, shot.frames],
                        "substeps": { "min": shot.steps, "max": shot.steps, "cfl": 3.0 }, "nodes": extra });
    let shot = Shot::new(&graph);
    shot.cook(&[]);
    shot.stats()
}

/// The solvers' box, m, and how long it is cooked.
struct Box {
    size: [f64; 3],
    frames: u32,
    steps: u32,
}

/// A vector along the floor, up from it, and across, where axis `up` points up.
fn placed(up: usize, [along, high, across]: [f64; 3]) -> [f64; 3] {
    let mut at = [0.0; 3];
    (at[(up + 1) % 3], at[up], at[(up + 2) % 3]) = (along, high, across);
    at
}

/// A block of stone on the floor of the box.
#[derive(Clone, Copy)]
struct Block {
    up: usize,
    friction: f64,
    /// Its speed at first, m/s.
    speed: f64,
    /// Tangent of the floor's slope.
    slope: f64,
}

impl Block {
    /// Its speed along the floor after each frame, m/s.
    fn speeds(self, coupling: &str, steps: u32) -> Vec<f64> {
        let Self { up, friction, speed, slope } = self;
        let in_box = Box { size: placed(up, [0.7, 0.3, 0.3]), frames: 11, steps };
        let angle = slope.atan();
        let g = placed(up, [GRAVITY * angle.sin(), -GRAVITY * angle.cos(), 0.0]);
        let extra = vec![
            json!({ "name": "fill", "type": "box", "params": { "size": in_box.size } }),
            json!({ "name": "mesh", "type": "box",
                    "params": { "size": placed(up, [0.15, 0.1, 0.15]), "center": placed(up, [-0.1, -0.1, 0.0]) } }),
            json!({ "name": "block", "type": "rigid_object", "inputs": ["mesh"],
                    "params": { "density": 2500, "friction": friction, "division_size": 0.5 * H, "velocity": placed(up, [speed, 0.0, 0.0]) } }),
        ];
        let stats = cooked(coupling, extra, [&["block"], &[]], &in_box, g);
        let along = format!("/bodies/0/v/{}", (up + 1) % 3);
        stats.iter().skip(steps as usize - 1).step_by(steps as usize).map(|r| number(r, &along)).collect()
    }

    /// What both couplings make of it agrees to a tenth of its fastest.
    fn check(self, steps: u32) {
        let [strong, split] = BOTH.map(|coupling| self.speeds(coupling, steps));
        println!("up {}, {steps} steps: {strong:.3?}\n{split:.3?}", self.up);
        let fastest = strong.iter().fold(0.0, |fastest: f64, v| fastest.max(*v));
        for (frame, (strong, split)) in strong.iter().zip(&split).enumerate() {
            let off = split - strong;
            assert!(
                off.abs() < 0.1 * fastest,
                "up {}, {steps} steps, frame {}: {split} m/s, not {strong}",
                self.up,
                frame + 2
            );
        }
    }
}

/// Friction μ slows it by what presses it to the floor, its weight less its buoyancy, and what pulls it down the slope is less by as
/// much. A free surface under it would press it down by the weight of all the water above, and hold it.
#[test]
fn blocks_slide_down_under_water_as_friction_lets_them() {
    for (up, steps) in [(1, 2), (1, 4), (0, 2)] {
        Block { up, friction: 0.3, speed: 0.0, slope: 0.45 }.check(steps);
    }
}

/// No drag where nothing rubs: a block that slides keeps its momentum, as far as the water lets it at this resolution.
#[test]
fn blocks_without_friction_glide_on_under_water() {
    for (up, steps) in [(1, 2), (1, 4), (2, 2)] {
        Block { up, friction: 0.0, speed: 0.4, slope: 0.0 }.check(steps);
    }
}

/// Largest way of a cylinder on a spring in a tube full of liquid, m, in the first and in the last third of two seconds; its ends
/// touch the sides.
fn swings(coupling: &str, axis: usize, steps: u32) -> [f64; 2] {
    let (radius, wide, long) = (0.1, 0.2, 0.2);
    let rotate = [[0, 0, 90], [0, 0, 0], [90, 0, 0]][axis];
    let tube = |name: &str, radius: f64, long: f64, thickness: f64| {
        let params = json!({ "radius_bottom": radius, "radius_top": radius, "height": long, "columns": 96,
                             "rotate": rotate, "thickness": thickness });
        json!({ "name": name, "type": "tube", "params": params })
    };
    let across = placed(axis, [1.0, 0.0, 0.0]);
    let extra = vec![
        tube("fill", wide, long, 0.0),
        tube("pipe", wide + 4.0 * H, 1.6 * long, 4.0 * H),
        tube("mesh", radius, long, 0.0),
        json!({ "name": "wall", "type": "static_object", "inputs": ["pipe"], "params": { "division_size": 0.5 * H } }),
        json!({ "name": "cylinder", "type": "rigid_object", "inputs": ["mesh"],
                "params": { "density": 500, "division_size": 0.5 * H, "velocity": across.map(|c| 0.05 * c) } }),
        json!({ "name": "rail", "type": "rigid_joint", "params": { "joint_type": "prismatic", "body_a": "cylinder",
                "pivot": [0, 0, 0], "axis": across, "stiffness": 1000 } }),
    ];
    let size = placed(axis, [2.0 * wide + 4.0 * H, long, 2.0 * wide + 4.0 * H]);
    let in_box = Box { size, frames: 40, steps };
    let stats = cooked(coupling, extra, [&["cylinder", "wall"], &["rail"]], &in_box, [0.0; 3]);
    let way = format!("/bodies/0/position/{}", (axis + 1) % 3);
    let third = stats.len() / 3;
    [&stats[..third], &stats[stats.len() - third..]]
        .map(|part| part.iter().map(|r| number(r, &way).abs()).fold(0.0, f64::max))
}

/// It goes on swinging. What the two projections of a substep leave to the next one damps it, by a share in proportion to the step;
/// a free surface at its ends would stop it within two periods at any.
#[test]
fn a_cylinder_in_a_full_tube_swings_on() {
    let lost = |coupling: &str, axis: usize, steps: u32| {
        let [first, last] = swings(coupling, axis, steps);
        println!("along {axis}, {coupling}, {steps} steps: {first:.5} m, then {last:.5} m");
        (first / last).ln()
    };
    let more = |(axis, steps)| lost("rigid_fluid", axis, steps) - lost("floating_bodies", axis, steps);
    let [coarse, fine, turned] = [(1, 2), (1, 4), (0, 2)].map(more);
    println!("lost beyond floating_bodies: {coarse:.3}, {fine:.3}, and {turned:.3} turned");
    assert!(coarse < 0.45 && fine < 0.67 * coarse, "it loses {coarse}, and {fine} in half the step");
    assert!((turned - coarse).abs() < 0.05, "it loses {coarse}, and {turned} turned");
}
