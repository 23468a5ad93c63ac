//! Archimedes at sixteen voxels a side and more: how deep boxes float, which side of a prism is up, and what does not sink.

use crate::basin::{Basin, cuboid, mean, samples};
use crate::number;
use serde_json::{Value, json};

/// Height of the boxes, m.
const HIGH: f64 = 0.16;

/// How much deeper a flat box of some density, `cells` voxels high, floats than it should, by its height [Archimedes]. It starts
/// off its place and off the lattice, so it heaves; the mean counts.
fn too_deep(density: f64, cells: f64, coupling: &'static str, frames: u32) -> f64 {
    let h = HIGH / cells;
    let (wide, across, deep, off) = (1.5 * HIGH, 3.0 * HIGH, 1.5 * HIGH, 0.05 * HIGH);
    let under = density / 1000.0 * HIGH;
    let start = deep - under + 0.5 * HIGH + off;
    let body = (cuboid([wide, HIGH, wide], [0.13 * h, start, 0.31 * h], 0.0), json!({ "density": density }));
    let basin = Basin {
        low: [-0.5 * across, 0.0, -0.5 * across],
        high: [0.5 * across, 2.0 * deep, 0.5 * across],
        level: deep,
        h,
        bodies: vec![body],
        joints: Vec::new(),
        walled: true,
        coupling,
        frames,
        steps: 1,
    };
    let heights = samples(&basin.cooked(), |r| number(r, "/bodies/0/position/1"));
    // The water that the body pushed away at the start was never there.
    let level = deep + off * (wide / across).powi(2);
    (level - (mean(&heights, 0.5 * f64::from(frames) / 24.0) - 0.5 * HIGH) - under) / HIGH
}

#[test]
#[ignore = "many minutes: make scenes"]
fn boxes_of_16_voxels_displace_their_own_mass() {
    for (coupling, bound) in [("floating_bodies", 0.01), ("rigid_fluid", 0.05)] {
        for density in [100.0, 300.0, 500.0, 700.0, 900.0] {
            let error = too_deep(density, 16.0, coupling, 60);
            println!("{coupling}, {density} kg/m³: {error:+.4} of the box too deep");
            assert!(error.abs() < bound, "{coupling}: {density} kg/m³ floats {error} of its height too deep");
        }
    }
}

/// How a square prism lies whose density is `s` that of water, `cells` voxels a side, after `seconds`: degrees, 0 flat, 45
/// corner up. It starts at `turn` degrees. A carrier above the water slides up and down, and the prism turns about a hinge in
/// it, so that its ends stay where they are.
fn lies(s: f64, turn: f64, cells: f64, seconds: f64) -> f64 {
    let (side, h) = (0.2, 0.2 / cells);
    let (long, gap) = (6.0 * h, 2.0 * h);
    let (wide, deep) = (2.0 * side, (1.1 * cells).round() * h);
    let middle = [0.13 * h, deep + (0.5 - s) * side, 0.0];
    let prism = (cuboid([side, side, long], middle, turn), json!({ "density": 1000.0 * s }));
    let above = [middle[0], middle[1] + 2.0 * side, 0.0];
    let weight = json!({ "mass": 0.02 * 1000.0 * s * side * side * long });
    let carrier = (cuboid([4.0 * h; 3], above, 0.0), weight);
    let joint = |name: &str, params: Value| json!({ "name": name, "type": "rigid_joint", "params": params });
    let slide = json!({ "joint_type": "prismatic", "body_a": "body_1", "pivot": above, "axis": [0, 1, 0] });
    let hinge = json!({ "joint_type": "revolute", "body_a": "body_0", "body_b": "body_1", "pivot": middle,
                        "axis": [0, 0, 1] });
    let basin = Basin {
        low: [-0.5 * wide, 0.0, -0.5 * long - gap],
        high: [0.5 * wide, 4.5 * side, 0.5 * long + gap],
        level: deep,
        h,
        bodies: vec![prism, carrier],
        joints: vec![joint("slide", slide), joint("hinge", hinge)],
        walled: true,
        coupling: "floating_bodies",
        frames: (24.0 * seconds) as u32,
        steps: 1,
    };
    let angle = |r: &Value| {
        let [x, y, z, w] = [0, 1, 2, 3].map(|c| number(r, &format!("/bodies/0/orient/{c}")));
        assert!(x.abs() < 1e-3 && y.abs() < 1e-3, "it turns about another axis than its hinge's");
        2.0 * z.atan2(w).to_degrees() + turn
    };
    mean(&samples(&basin.cooked(), angle), 0.5 * seconds)
}

/// With the water's line across two opposite sides at the slope t, the middle of what is under water lies under the prism's
/// middle where t = 0 or t² = 12 s (1 − s) − 2: flat for s (1 − s) < 1/6, s = 0.2113, else tilted; corner up, the metacentre is
/// above the middle where 4/3 √s > 1/√2, s > 9/32.
///
/// Checks prisms of some s, `cells` voxels a side, that start at some degrees.
fn check_prisms(starts: &[(f64, f64)], cells: f64, seconds: f64) {
    for &(s, turn) in starts {
        let expected = match s {
            ..0.2113 => 0.0,
            ..0.28125 => (12.0 * s * (1.0 - s) - 2.0).sqrt().atan().to_degrees(),
            _ => 45.0,
        };
        let found = lies(s, turn, cells, seconds);
        println!("s = {s}, {cells} voxels: {found:.2} degrees, theory {expected:.2}");
        assert!((found - expected).abs() < 3.0, "s = {s}: it lies at {found} degrees, not {expected}");
    }
}

#[test]
fn a_half_heavy_square_prism_lies_corner_up() {
    check_prisms(&[(0.5, 33.0)], 12.0, 2.0);
}

#[test]
#[ignore = "many minutes: make scenes"]
fn square_prisms_lie_flat_or_tilted_or_corner_up() {
    check_prisms(&[(0.15, 12.0)], 12.0, 2.0);
    check_prisms(&[(0.25, 22.0)], 12.0, 3.0);
    check_prisms(&[(0.15, 12.0), (0.25, 22.0), (0.5, 33.0)], 32.0, 8.0);
}

/// How far, voxels, a cube of 5.37 voxels that is as dense as water goes in some seconds; nothing but drag brings it back.
fn strays(seconds: f64) -> f64 {
    let h = 0.02;
    let start = [0.003, 0.17, 0.006];
    let basin = Basin {
        low: [-0.14, 0.0, -0.14],
        high: [0.14, 0.4, 0.14],
        level: 0.3,
        h,
        bodies: vec![(cuboid([5.37 * h; 3], start, 0.0), json!({ "density": 1000 }))],
        joints: Vec::new(),
        walled: true,
        coupling: "floating_bodies",
        frames: 1 + (24.0 * seconds) as u32,
        steps: 1,
    };
    let stats = basin.cooked();
    let last = stats.last().expect("substeps");
    let off = |c: usize| (number(last, &format!("/bodies/0/position/{c}")) - start[c]) / h;
    (0..3).map(off).map(|off| off * off).sum::<f64>().sqrt()
}

/// One that were 0.1 % lighter would rise by a tenth of a voxel in the first 0.8 s.
#[test]
fn a_neutral_body_hardly_leaves_its_place() {
    let off = strays(1.0);
    println!("a neutral cube is {off:.3} voxels off after a second");
    assert!(off < 0.1, "it is {off} voxels off after a second");
}
