//! Liquid that hangs on solids under open air: it parts from walls where air gets between, and nowhere else.

use crate::{GRAVITY, number};
use meniscus_tests::{points::positions, shot::Shot};
use serde_json::{Value, json};

const SEPARATION: f64 = 0.01;
const VOXEL: f64 = 2.0 * SEPARATION;
/// Between solids and what fills them, so that meshes do not touch, metres.
const APART: f64 = 1e-4;

/// A rectangle in the plane of a tank four voxels thick: x from, x to, y from, y to, metres.
type Rectangle = [f64; 4];

fn slab(name: &str, [x0, x1, y0, y1]: Rectangle, thick: f64) -> Value {
    json!({ "name": name, "type": "box",
            "params": { "size": [x1 - x0, y1 - y0, thick], "center": [0.5 * (x0 + x1), 0.5 * (y0 + y1), 0.0] } })
}

/// What stands in a tank under open air.
struct Scene<'a> {
    width: f64,
    solids: &'a [Rectangle],
    filled: &'a [Rectangle],
    /// One more solid, with the keys of its way.
    moving: Option<(Rectangle, Value)>,
    frames: u32,
    /// Pa; `None` leaves it as the solver has it.
    cavitation: Option<f64>,
    /// Whether trapped air keeps its volume.
    coupled: bool,
}

impl Scene<'_> {
    fn cook(&self) -> Shot {
        let (mut nodes, mut fill, mut solids) = (Vec::new(), Vec::new(), Vec::new());
        for (n, &rectangle) in self.filled.iter().enumerate() {
            fill.push(format!("fill{n}"));
            nodes.push(slab(&fill[n], rectangle, 4.0 * VOXEL));
        }
        nodes.push(json!({ "name": "fill", "type": "merge", "inputs": fill }));
        let mut solid = |nodes: &mut Vec<Value>, mesh: &str| {
            solids.push(format!("solid_{mesh}"));
            nodes.push(json!({ "name": solids.last(), "type": "static_object", "inputs": [mesh],
                               "params": { "division_size": VOXEL } }));
        };
        for (n, &rectangle) in self.solids.iter().enumerate() {
            nodes.push(slab(&format!("wall{n}"), rectangle, 8.0 * VOXEL));
            solid(&mut nodes, &format!("wall{n}"));
        }
        if let Some((rectangle, keys)) = &self.moving {
            nodes.push(slab("block", *rectangle, 8.0 * VOXEL));
            nodes.push(json!({ "name": "piston", "type": "transform", "inputs": ["block"],
                               "params": { "translate": { "keys": keys } } }));
            solid(&mut nodes, "piston");
        }
        let mut limits = json!({ "limit_center": [0.0, 0.3, 0.0], "limit_size": [self.width, 0.6, 4.0 * VOXEL],
                             "side_neg_x": "closed", "side_pos_x": "closed", "side_neg_y": "closed",
                             "side_pos_y": "open", "side_neg_z": "closed", "side_pos_z": "closed",
                             "wall_separation": true });
        if let Some(pressure) = self.cavitation {
            limits["cavitation_pressure"] = json!(pressure);
        }
        let mut inputs = vec!["water".to_owned(), "gravity".to_owned()];
        inputs.extend(solids);
        nodes.extend([
            json!({ "name": "water", "type": "liquid_object", "inputs": ["fill"],
                    "params": { "particle_separation": SEPARATION } }),
            json!({ "name": "gravity", "type": "gravity" }),
            json!({ "name": "flip", "type": "flip_solver", "inputs": inputs, "params": limits }),
            json!({ "name": "air", "type": "constraint_bubbles", "inputs": ["flip"],
                    "bypass": !self.coupled }),
            json!({ "name": "points", "type": "geometry_cache", "inputs": ["air"] }),
        ]);
        let shot = Shot::new(&json!({ "format": "meniscus.graph/1", "fps": 24, "frames": [1, self.frames],
                                      "substeps": { "min": 1, "max": 6, "cfl": 2.0 }, "nodes": nodes }));
        shot.cook(&[]);
        shot
    }
}

/// Volume of the water in a rectangle at the end of a frame, over that of the rectangle.
fn filled(shot: &Shot, frame: u32, [x0, x1, y0, y1]: Rectangle) -> f64 {
    let points = positions(&shot.out().join(format!("points/points.{frame:04}.geo")));
    let inside = points.iter().filter(|p| p[0] > x0 && p[0] < x1 && p[1] > y0 && p[1] < y1).count();
    inside as f64 * SEPARATION.powi(3) / ((x1 - x0) * (y1 - y0) * 4.0 * VOXEL)
}

/// A glass upside down in a bath of 0.12 m, full up to its bottom 0.28 m above.
fn glass(cavitation: Option<f64>, coupled: bool) -> f64 {
    let inside = [-0.06, 0.06, 0.12, 0.40];
    let solids =
        [[-0.10, -0.06, 0.08, 0.44], [0.06, 0.10, 0.08, 0.44], [-0.06 + APART, 0.06 - APART, 0.40, 0.44]];
    let within = [-0.06 + APART, 0.06 - APART, 0.12 + APART, 0.40];
    let filling = [[-0.3, 0.3, 0.0, 0.12], within];
    let scene = Scene {
        width: 0.6,
        solids: &solids,
        filled: &filling,
        moving: None,
        frames: 16,
        cavitation,
        coupled,
    };
    let shot = scene.cook();
    filled(&shot, 16, inside) / filled(&shot, 1, inside)
}

#[test]
fn a_glass_upside_down_holds_its_water_unless_it_cavitates() {
    for coupled in [false, true] {
        let holds = glass(None, coupled);
        assert!((holds - 1.0).abs() < 0.02, "{holds:.3} of the water is left in the glass");
    }
    // Water that bears less than half of its column's weight; where the air is coupled, a void is a bubble that gets none.
    let drops = glass(Some(-0.4 * 1000.0 * GRAVITY * 0.28), false);
    assert!(drops < 0.9, "{drops:.3} of the water is left, though it bears only 0.11 m of it");
}

/// The air's own pressure matters: without its coupling any void in the duct stands at that of the open air, and breaks the
/// siphon, whatever walls do.
#[test]
fn a_siphon_runs_until_the_levels_meet() {
    // Over a wall of 0.36 m through a duct of two voxels and four, from a level of 0.30 m to one of 0.14 m.
    let solids = [
        [-0.02, 0.02, 0.0, 0.36],
        [-0.14, -0.10, 0.08, 0.48],
        [0.10, 0.14, 0.08, 0.48],
        [-0.10 + APART, 0.10 - APART, 0.44, 0.48],
    ];
    let filling = [
        [-0.4, -0.02 - APART, 0.0, 0.30],
        [0.02 + APART, 0.4, 0.0, 0.14],
        [-0.10 + APART, -0.02 - APART, 0.30 + APART, 0.44],
        [0.02 + APART, 0.10 - APART, 0.14 + APART, 0.44],
        [-0.02, 0.02, 0.36 + APART, 0.44],
    ];
    let frames = 48;
    let scene = Scene {
        width: 0.8,
        solids: &solids,
        filled: &filling,
        moving: None,
        frames,
        cavitation: None,
        coupled: true,
    };
    let shot = scene.cook();
    let level = |frame: u32, x0: f64, x1: f64| 0.6 * filled(&shot, frame, [x0, x1, 0.0, 0.6]);
    let apart = |frame: u32| level(frame, -0.4, -0.14) - level(frame, 0.14, 0.4);
    println!("levels {:.3} m apart, then {:.3}", apart(1), apart(frames));
    assert!(apart(1) > 0.15, "{} m at first", apart(1));
    assert!(apart(frames).abs() < 0.04, "{} m in the end", apart(frames));
    let top = filled(&shot, frames, [-0.10, 0.10, 0.36, 0.44]);
    println!("top {top:.3}");
    assert!(top > 0.9, "the duct is filled to {top:.3} over the wall");
}

#[test]
fn water_follows_a_piston_that_is_drawn_up() {
    let (frames, rise) = (26, 0.2);
    let solids = [[-0.10, -0.06, 0.08, 0.58], [0.06, 0.10, 0.08, 0.58]];
    let keys = json!([[1, [0.0, 0.0, 0.0]], [25, [0.0, rise, 0.0]]]);
    let moving = Some(([-0.06 + APART, 0.06 - APART, 0.14, 0.24], keys));
    let filling = [[-0.3, 0.3, 0.0, 0.14]];
    let scene = Scene {
        width: 0.6,
        solids: &solids,
        filled: &filling,
        moving,
        frames,
        cavitation: None,
        coupled: true,
    };
    let shot = scene.cook();
    let drawn = filled(&shot, frames, [-0.06, 0.06, 0.14, 0.14 + rise]);
    println!("drawn {drawn:.3}");
    assert!(drawn > 0.93, "{drawn:.3} of what the piston has drawn is water");
    let rest = number(&shot.stats()[0], "/objects/water/rest_volume");
    let found = number(shot.stats().last().expect("a record"), "/objects/water/found_volume");
    assert!((found / rest - 1.0).abs() < 0.05, "{found} m³ of {rest}");
}
