//! Sources fill and sinks empty at the rate they say, between their first and last frame.

use crate::number;
use meniscus_tests::shot::Shot;
use serde_json::{Value, json};

const SEPARATION: f64 = 0.01;
/// Edge of the tank's square floor, metres.
const SIDE: f64 = 0.24;
const FPS: f64 = 24.0;

/// A closed tank with this much water and a region at which a force acts.
fn tank(frames: u32, depth: f64, region: Value, force: Value) -> Value {
    let filled = depth > 0.0;
    let fill = json!({ "name": "fill", "type": "box",
                       "params": { "size": [SIDE, depth.max(0.01), SIDE], "center": [0.0, 0.5 * depth, 0.0] } });
    let inputs: &[&str] = if filled { &["fill"] } else { &[] };
    json!({
        "format": "meniscus.graph/1", "fps": FPS, "frames": [1, frames],
        "substeps": { "min": 2, "max": 4, "cfl": 1.5 },
        "nodes": [
            fill, region,
            { "name": "water", "type": "liquid_object", "inputs": inputs, "params": { "particle_separation": SEPARATION } },
            { "name": "gravity", "type": "gravity" },
            force,
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "gravity", force["name"]],
              "params": { "limit_center": [0.0, 0.2, 0.0], "limit_size": [SIDE, 0.4, SIDE],
                          "side_neg_x": "closed", "side_pos_x": "closed", "side_neg_y": "closed",
                          "side_pos_y": "closed", "side_neg_z": "closed", "side_pos_z": "closed" } }
        ]
    })
}

/// When a frame ends.
struct End {
    frame: u32,
    /// When its last substep began, seconds.
    time: f64,
    /// How much the liquid has, and should have, cubic metres.
    volume: f64,
    entered: f64,
}

fn ends(shot: &Shot) -> Vec<End> {
    let mut ends: Vec<End> = Vec::new();
    for record in shot.stats() {
        let frame = number(&record, "/frame") as u32;
        ends.retain(|end| end.frame != frame);
        let of = |what: &str| number(&record, &format!("/objects/water/{what}"));
        let (volume, entered) = (of("volume"), of("rest_volume"));
        ends.push(End { frame, time: number(&record, "/time"), volume, entered });
    }
    ends
}

/// A tap of 8 × 8 cm under the lid at 1 m/s, open from frame 5 to frame 17: half a second. `viscosity` in Pa·s.
fn tapped(gravity: f64, viscosity: f64) -> Vec<End> {
    let region = json!({ "name": "mouth", "type": "box",
                         "params": { "size": [WIDTH, HIGH, WIDTH], "center": [0.0, 0.36, 0.0] } });
    let tap = json!({ "name": "tap", "type": "liquid_source", "inputs": ["mouth"],
                      "params": { "velocity": [0, -SPEED, 0], "viscosity": viscosity, "start_frame": FIRST, "end_frame": LAST } });
    let mut graph = tank(29, 0.0, region, tap);
    graph["nodes"][3]["params"] = json!({ "force": [0, -gravity, 0] });
    let shot = Shot::new(&graph);
    shot.cook(&[]);
    ends(&shot)
}
const WIDTH: f64 = 0.08;
const HIGH: f64 = 0.06;
const SPEED: f64 = 1.0;
const FIRST: u32 = 5;
const LAST: u32 = 17;

/// What a mouth has given when the last substep of a frame begins, at `time` seconds, cubic metres: what it holds, and
/// what has left it.
fn given(frame: u32, time: f64) -> f64 {
    let open = time - f64::from(FIRST - 1) / FPS;
    if frame > FIRST { WIDTH * WIDTH * (HIGH + SPEED * open) } else { 0.0 }
}

#[test]
fn a_source_gives_its_rate_between_its_frames() {
    // Water drops off what leaves the mouth; honey hangs on it with its weight.
    for (gravity, viscosity) in [(0.0, 0.0), (9.81, 0.0), (9.81, 100.0)] {
        for End { frame, time, entered, .. } in tapped(gravity, viscosity) {
            let expected = given(frame, time);
            assert!(
                frame > LAST || (entered - expected).abs() <= 0.02 * expected,
                "{viscosity} Pa·s at {gravity} m/s²: {entered:.6} m³ entered by frame {frame}, not {expected:.6}"
            );
        }
    }
}

#[test]
fn a_source_fills_a_tank() {
    let ends = tapped(9.81, 0.0);
    let [closed, last] =
        [LAST, 29].map(|n| ends.iter().find(|end| end.frame == n).expect("the frame is there"));
    assert_eq!(last.entered, closed.entered, "the tap closed at frame {LAST}");
    let kept = last.volume / last.entered - 1.0;
    assert!(kept.abs() < 0.03, "{:.6} m³ of {:.6} are there in the end", last.volume, last.entered);
}

/// A drain over the whole floor in frames 4 and 5: what is in it leaves, and nothing after; also where few particles stand
/// for it.
#[test]
fn a_sink_empties_between_its_frames() {
    for band in [0.0, 3.0] {
        sink_empties_between_its_frames(band);
    }
}

fn sink_empties_between_its_frames(band: f64) {
    let (depth, high) = (0.16, 0.04);
    let region = json!({ "name": "hole", "type": "box",
                         "params": { "size": [2.0 * SIDE, 2.0 * high, 2.0 * SIDE], "center": [0.0, 0.0, 0.0] } });
    let drain = json!({ "name": "drain", "type": "liquid_sink", "inputs": ["hole"],
                        "params": { "start_frame": 3, "end_frame": 5 } });
    let mut graph = tank(9, depth, region, drain);
    graph["nodes"][5]["params"]["particle_band"] = json!(band);
    let shot = Shot::new(&graph);
    shot.cook(&[]);
    let full = SIDE * SIDE * depth;
    let ends = ends(&shot);
    let at =
        |frame: u32| ends.iter().find(|end| end.frame == frame).expect("the frame is there").entered / full;
    assert!((at(3) - 1.0).abs() < 0.01, "before its first frame nothing leaves: {:.4}", at(3));
    // The quarter in the hole leaves at once; what falls after it begins to in the next frame.
    assert!((at(4) - 0.75).abs() < 0.01, "the layer in the hole leaves in frame 4: {:.4}", at(4));
    assert!(at(5) < 0.72 && at(5) > 0.5, "what falls into the hole leaves in frame 5: {:.4}", at(5));
    assert_eq!([at(6), at(9)], [at(5), at(5)], "after its last frame nothing leaves");
    let last = ends.last().expect("frames");
    let kept = last.volume / last.entered - 1.0;
    assert!(kept.abs() < 0.03, "of the rest {kept:+.4} is missing");
}

/// A spring deep in a full tank has nothing to fill: few particles there are no lack of liquid.
#[test]
fn a_spring_does_not_pump_where_particles_are_few() {
    let region = json!({ "name": "hole", "type": "box",
                         "params": { "size": [WIDTH, HIGH, WIDTH], "center": [0.0, 0.1, 0.0] } });
    let spring = json!({ "name": "spring", "type": "liquid_source", "inputs": ["hole"] });
    let mut graph = tank(9, 0.26, region, spring);
    graph["nodes"][5]["params"]["particle_band"] = json!(3.0);
    let shot = Shot::new(&graph);
    shot.cook(&[]);
    let ends = ends(&shot);
    let [first, .., last] = ends.as_slice() else { panic!("frames") };
    let grown = last.entered / first.entered - 1.0;
    assert!(grown.abs() < 0.002, "{grown:+.4} of the liquid came out of a spring in the deep");
}

/// All of the water leaves, through a drain or over a side: nothing is left on the books either.
#[test]
fn what_is_drained_is_exactly_nothing() {
    let hole = json!({ "name": "hole", "type": "box", "params": { "size": [1, 1, 1] } });
    let drain =
        json!({ "name": "drain", "type": "liquid_sink", "inputs": ["hole"], "params": { "start_frame": 2 } });
    let mut over_a_side = tank(7, 0.04, hole.clone(), drain.clone());
    over_a_side["nodes"][4]["bypass"] = json!(true);
    over_a_side["nodes"][5]["params"]["side_neg_y"] = json!("kill");
    for graph in [tank(4, 0.04, hole, drain), over_a_side] {
        let shot = Shot::new(&graph);
        shot.cook(&[]);
        let records = shot.stats();
        let [first, .., last] = records.as_slice() else { panic!("substeps") };
        let of = |record, what| number(record, &format!("/objects/water/{what}"));
        assert!(of(first, "rest_volume") > 0.002, "{first}");
        for what in ["particles", "volume", "rest_volume", "mass"] {
            assert_eq!(of(last, what), 0.0, "{what} of a drained tank");
        }
    }
}

/// What a source made of what its nozzle should have by the last substep: area across its velocity × speed × time. The tank
/// is half a second under way, its water `depth` metres deep; the regions are boxes `(size, center)`.
fn share_made(depth: f64, regions: &[([f64; 3], [f64; 3])], velocity: [f64; 3], area: f64) -> f64 {
    let mut graph = tank(13, depth, json!({ "name": "r", "type": "box" }), json!({ "name": "s" }));
    let nodes = graph["nodes"].as_array_mut().expect("nodes");
    nodes.retain(|node| node["name"] != "r" && node["name"] != "s");
    let mut inputs = vec![json!("water"), json!("gravity")];
    for (n, (size, center)) in regions.iter().enumerate() {
        let (region, source) = (format!("region{n}"), format!("source{n}"));
        nodes.insert(
            0,
            json!({ "name": region, "type": "box", "params": { "size": size, "center": center } }),
        );
        let params = json!({ "velocity": velocity });
        nodes.insert(
            nodes.len() - 1,
            json!({ "name": source, "type": "liquid_source", "inputs": [region], "params": params }),
        );
        inputs.push(json!(source));
    }
    let last = nodes.len() - 1;
    nodes[last]["inputs"] = json!(inputs);
    nodes[last]["params"]["side_pos_y"] = json!("open");
    let records = cooked(&graph);
    let [first, .., last] = records.as_slice() else { panic!("substeps") };
    let of = |record, what: &str| number(record, &format!("/objects/water/{what}"));
    let speed = velocity.iter().map(|v| v * v).sum::<f64>().sqrt();
    let (volume, rest) = (of(last, "volume"), of(last, "rest_volume"));
    assert!((volume / rest - 1.0).abs() < 0.02, "{regions:?}: {volume} m³ are there, not {rest}");
    let mass = of(last, "mass") / of(first, "mass");
    let grown = rest / of(first, "rest_volume");
    assert!((mass / grown - 1.0).abs() < 3e-3, "{regions:?}: the mass grew {mass} times, the volume {grown}");
    flow(&records) / (area * speed)
}

fn cooked(graph: &Value) -> Vec<Value> {
    let shot = Shot::new(graph);
    shot.cook(&[]);
    shot.stats()
}

/// What sources made between the first and the last substep, m³/s.
fn flow(records: &[Value]) -> f64 {
    let [first, .., last] = records else { panic!("substeps") };
    let gone = |what: &str| number(last, what) - number(first, what);
    gone("/objects/water/rest_volume") / gone("/time")
}

/// Springs of three voxels and less, on the floor, in it and above it, across the whole floor, from the side, aslant and into
/// each other.
#[test]
fn a_nozzle_under_water_gives_its_rate() {
    const H: f64 = 2.0 * SEPARATION;
    let mouth = |y: f64, high: f64| ([0.12, high, 0.12], [0.0, y + 0.5 * high, 0.0]);
    let up = [0.0, 0.15, 0.0];
    let whole = 0.12 * 0.12;
    for (name, regions, velocity, area) in [
        ("three voxels on the floor", vec![mouth(0.0, 3.0 * H)], up, whole),
        ("two voxels, one above the floor", vec![mouth(H, 2.0 * H)], up, whole),
        ("one voxel over the whole floor", vec![([SIDE, H, SIDE], [0.0, 0.5 * H, 0.0])], up, SIDE * SIDE),
        ("half a voxel", vec![mouth(1.3 * H, 0.5 * H)], up, whole),
        ("half in the floor", vec![mouth(-1.5 * H, 3.0 * H)], up, whole),
        (
            "aslant",
            vec![([0.08, 0.06, 0.08], [-0.04, 0.05, 0.0])],
            [0.12, 0.16, 0.0],
            0.6 * 0.06 * 0.08 + 0.8 * 0.08 * 0.08,
        ),
        (
            "aslant through all axes",
            vec![([0.1, 0.1, 0.06], [0.0, 0.07, 0.02])],
            [-0.1, -0.1, 0.05],
            (0.1 * 0.06 * 2.0 + 0.5 * 0.01) / 1.5,
        ),
        ("off the lattice", vec![([0.113, 0.047, 0.127], [0.007, 0.043, -0.003])], up, 0.113 * 0.127),
        ("from the side", vec![([0.04, 0.08, 0.08], [-0.1, 0.05, 0.0])], [0.2, 0.0, 0.0], 0.08 * 0.08),
        (
            "two that overlap",
            vec![mouth(H, 2.0 * H), ([0.12, 2.0 * H, 0.12], [0.06, 2.5 * H, 0.0])],
            up,
            1.5 * whole,
        ),
        (
            "the later one behind",
            vec![([0.12, 2.0 * H, 0.12], [0.06, 2.5 * H, 0.0]), mouth(H, 2.0 * H)],
            up,
            1.5 * whole,
        ),
        ("the same twice", vec![mouth(H, 2.0 * H), mouth(H, 2.0 * H)], up, whole),
        (
            "side by side, half in each other, off the lattice",
            vec![([0.113, 0.047, 0.1], [-0.03, 0.043, -0.003]), ([0.113, 0.047, 0.1], [0.02, 0.043, -0.003])],
            up,
            0.163 * 0.1,
        ),
        ("one on the other", vec![mouth(2.3 * H, 2.0 * H), mouth(H, 2.0 * H)], up, whole),
    ] {
        let made = share_made(0.1, &regions, velocity, area);
        assert!((made - 1.0).abs() < 0.02, "{name}: {made:.4} of area times speed times time");
    }
}

/// A hose that moves makes area × speed × time, its speed that of the liquid as seen from the hose: to its sides it makes
/// nothing, and it leaves less behind where it goes with its jet.
#[test]
fn a_nozzle_that_moves_gives_its_rate() {
    let (speed, side) = (0.5, 0.08);
    // The hose, half a second under way, and the share of its speed that it sees.
    for (way, seen) in [([0.1, 0.0, 0.0], 1.0), ([0.0, -0.1, 0.0], 0.6), ([0.06, 0.04, -0.08], 1.16)] {
        let mut graph = tank(13, 0.0, json!({ "name": "r", "type": "box" }), json!({ "name": "s" }));
        let nodes = graph["nodes"].as_array_mut().expect("nodes");
        nodes.retain(|node| !["fill", "r", "s"].contains(&node["name"].as_str().unwrap_or_default()));
        let keys = json!({ "keys": [[1, [0.0, 0.0, 0.0]], [13, way]] });
        nodes.insert(
            0,
            json!({ "name": "box", "type": "box",
            "params": { "size": [side, 0.06, side], "center": [-0.02, 0.25, 0.02] } }),
        );
        nodes.insert(1, json!({ "name": "mouth", "type": "transform", "inputs": ["box"], "params": { "translate": keys } }));
        nodes.insert(
            2,
            json!({ "name": "hose", "type": "liquid_source", "inputs": ["mouth"],
            "params": { "velocity": [0.0, -speed, 0.0] } }),
        );
        let last = nodes.len() - 1;
        nodes[last]["inputs"] = json!(["water", "gravity", "hose"]);
        nodes[last]["params"]["side_pos_y"] = json!("open");
        let made = flow(&cooked(&graph)) / (side * side * speed);
        assert!((made / seen - 1.0).abs() < 0.02, "a hose on its way {way:?} makes {made:.4}, not {seen}");
    }
}

/// A tank without air cannot take what a source makes, and the cook says so.
#[test]
fn a_full_tank_says_that_it_is_full() {
    let region = json!({ "name": "mouth", "type": "box",
                         "params": { "size": [WIDTH, HIGH, WIDTH], "center": [0.0, 0.1, 0.0] } });
    let spring = json!({ "name": "spring", "type": "liquid_source", "inputs": ["mouth"],
                         "params": { "velocity": [0, 0.1, 0] } });
    let shot = Shot::new(&tank(4, 0.4, region, spring));
    let output = shot.command(&[]).output().expect("meniscus starts");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && told.contains("no room"), "{told}");
}

/// `check` says how much a source will make.
#[test]
fn check_counts_what_sources_make() {
    let region = json!({ "name": "mouth", "type": "box",
                         "params": { "size": [0.1, 0.02, 0.1], "center": [0.0, 0.3, 0.0] } });
    let tap = json!({ "name": "tap", "type": "liquid_source", "inputs": ["mouth"],
                      "params": { "velocity": [0, -1, 0], "start_frame": 3, "end_frame": 15 } });
    let shot = Shot::new(&tank(25, 0.1, region, tap));
    let graph = shot.path("shot.meniscus.json");
    let output = meniscus_tests::meniscus(&["check"]).arg(graph).output().expect("meniscus starts");
    let plan = String::from_utf8_lossy(&output.stdout).into_owned();
    // Half a second through a hundredth of a square metre.
    assert!(plan.contains("tap: about 5.0 thousand particles (5.00 L) into `water`"), "{plan}");
}

/// What `check` says of a source, and what a cook then makes, litres; sources drive 0.01 m² at 1 m/s for half a second, or
/// five litres each.
fn counted_and_made(regions: &[[f64; 3]], solid: Option<([f64; 3], [f64; 3])>) -> (Vec<String>, f64) {
    let size = [0.1, 0.02, 0.1];
    let first = json!({ "name": "mouth0", "type": "box", "params": { "size": size, "center": regions[0] } });
    let tap = |n: usize| {
        json!({ "name": format!("tap{n}"), "type": "liquid_source", "inputs": [format!("mouth{n}")],
                "params": { "velocity": [0, -1, 0], "start_frame": 3, "end_frame": 15 } })
    };
    let mut graph = tank(25, 0.05, first, tap(0));
    let nodes = graph["nodes"].as_array_mut().expect("nodes");
    let mut flip = nodes.pop().expect("a solver");
    let mut wire = |nodes: &mut Vec<Value>, node: Value| {
        flip["inputs"].as_array_mut().expect("inputs").push(node["name"].clone());
        nodes.push(node);
    };
    for (n, centre) in regions.iter().enumerate().skip(1) {
        let params = json!({ "size": size, "center": centre });
        nodes.push(json!({ "name": format!("mouth{n}"), "type": "box", "params": params }));
        wire(nodes, tap(n));
    }
    if let Some((size, center)) = solid {
        nodes.push(json!({ "name": "block", "type": "box", "params": { "size": size, "center": center } }));
        let params = json!({ "division_size": SEPARATION });
        let stone =
            json!({ "name": "stone", "type": "static_object", "inputs": ["block"], "params": params });
        wire(nodes, stone);
    }
    nodes.push(flip);
    let shot = Shot::new(&graph);
    let graph = shot.path("shot.meniscus.json");
    let output = meniscus_tests::meniscus(&["check"]).arg(graph).output().expect("meniscus starts");
    let plan = String::from_utf8_lossy(&output.stdout).into_owned();
    let of_taps = plan.lines().filter(|line| line.starts_with("tap")).map(str::to_owned).collect();
    shot.cook(&[]);
    let records = shot.stats();
    let rest = |record: &Value| number(record, "/objects/water/rest_volume");
    (of_taps, 1e3 * (rest(&records[records.len() - 1]) - rest(&records[0])))
}

/// Places that several sources have in common count once, places in solids and beyond walls not at all; and so much is made.
#[test]
fn check_counts_places_that_give_liquid_and_those_once() {
    let middle = [0.0, 0.3, 0.0];
    let says =
        |line: &str, litres: &str| assert!(line.contains(&format!("({litres} L) into")), "{litres}: {line}");
    let near = |made: f64, litres: f64| {
        assert!((made - litres).abs() < 0.05 * litres + 0.05, "{made} of {litres} L")
    };

    let (twice, made) = counted_and_made(&[middle, middle], None);
    says(&twice[0], "5.00");
    assert!(twice[1].contains("nothing") || twice[1].contains("(0"), "{}", twice[1]);
    near(made, 5.0);

    let (half, made) = counted_and_made(&[middle, [0.05, 0.3, 0.0]], None);
    says(&half[0], "5.00");
    says(&half[1], "2.50");
    near(made, 7.5);

    let (beyond, made) = counted_and_made(&[[0.5 * SIDE, 0.3, 0.0]], None);
    says(&beyond[0], "2.50");
    near(made, 2.5);

    let (inside, made) = counted_and_made(&[middle], Some(([0.1, 0.1, 0.2], [0.05, 0.3, 0.0])));
    says(&inside[0], "2.50");
    near(made, 2.5);
}

/// Nothing but the source is fast at first: the substeps must be short enough for it from the first one on, or all that it
/// makes flies past the box's side before it is seen.
#[test]
fn a_fast_jet_into_an_empty_box_stands_in_it() {
    const SPEED: f64 = 20.0;
    let mouth = json!({ "name": "mouth", "type": "box", "params": { "size": [0.08, 0.04, 0.08], "center": [0.0, 0.3, 0.0] } });
    let jet = json!({ "name": "jet", "type": "liquid_source", "inputs": ["mouth"], "params": { "velocity": [0.0, -SPEED, 0.0] } });
    let mut graph = tank(4, 0.0, mouth, jet);
    graph["substeps"] = json!({ "min": 1, "max": 24, "cfl": 2.0 });
    let params = &mut graph["nodes"][5]["params"];
    for side in ["side_neg_x", "side_pos_x", "side_neg_y", "side_pos_y", "side_neg_z", "side_pos_z"] {
        params[side] = json!("kill");
    }
    let shot = Shot::new(&graph);
    shot.cook(&[]);
    // From the region's back to the floor.
    let expected = 0.08 * 0.08 * 0.32;
    for end in ends(&shot) {
        let off = end.volume / expected - 1.0;
        assert!(off.abs() < 0.15, "frame {}: {off}", end.frame);
    }
}
