//! Small sisters of the scenes of examples/rigid: what sinks and what floats, a plug, pistons on trapped air, a water wheel.

use meniscus_tests::{Cooked, cook_example, points::positions};
use serde_json::Value;

/// The paper's own coupling in the place of ours.
const RIGID_FLUID: [&str; 2] = ["float.bypass=true", "paper.bypass=false"];
/// Pictures of these would be looked at by nobody.
const UNSEEN: [&str; 2] = ["preview.resolution=[16,16]", "preview.sheet=0"];

/// Cooks the frames up to `last` of a scene.
fn cook(scene: &str, last: u32, sets: &[&str]) -> Cooked {
    let frames = format!("frames=[1, {last}]");
    let mut args = vec!["--quality", "preview", "--set", &frames];
    args.extend(UNSEEN.iter().chain(sets).flat_map(|set| ["--set", set]));
    cook_example(&format!("rigid/{scene}.meniscus.json"), &args)
}

fn number(record: &Value, pointer: &str) -> f64 {
    record.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer} in {record}"))
}

/// Places of the bodies of an object in a record.
fn places(record: &Value, name: &str) -> Vec<[f64; 3]> {
    let bodies = record["bodies"].as_array().expect("bodies are listed");
    let of = |b: &Value| std::array::from_fn(|c| b["position"][c].as_f64().expect("a number"));
    bodies.iter().filter(|b| b["name"] == name).map(of).collect()
}

/// Share of the particles that lie below the neck of the hourglass in a frame, and those that are there.
fn passed(cooked: &Cooked, frame: u32) -> (f64, usize) {
    const NECK: f64 = 0.29;
    let points = positions(&cooked.out.join(format!("points/points.{frame:04}.geo")));
    (points.iter().filter(|p| p[1] < NECK).count() as f64 / points.len() as f64, points.len())
}

/// At most one part in a thousand passes a ball in the neck, and no liquid is lost: what the paper says its method cannot hold
/// [Carlson et al. 2004, §9].
fn a_ball_plugs_the_neck(last: u32) {
    let cooked = cook("hourglass", last, &[]);
    let ((share, count), (_, first)) = (passed(&cooked, last), passed(&cooked, 1));
    println!("{share} of the water passed in {last} frames; {count} of {first} particles");
    assert!(share <= 1e-3, "{share} of the water passed");
    let stats = cooked.stats();
    let last = &stats[stats.len() - 1];
    let [mass, before] = [last, &stats[0]].map(|r| number(r, "/objects/water/mass"));
    assert!((mass / before - 1.0).abs() < 1e-3, "{before} kg became {mass} kg");
}

#[test]
fn a_ball_plugs_the_neck_of_an_hourglass() {
    a_ball_plugs_the_neck(16);
}

#[test]
#[ignore = "ten seconds of water"]
fn a_ball_plugs_the_neck_of_an_hourglass_for_ten_seconds() {
    a_ball_plugs_the_neck(241);
    let share = passed(&cook("hourglass", 241, &RIGID_FLUID), 241).0;
    println!("rigid_fluid lets {share} pass");
    assert!(share > 1e-3, "{share}: the plug holds by itself, so this test shows nothing");
}

/// What trapped air carries stays as high as it is: the air between two pistons that slide freely keeps its volume, so the sum of
/// their heights is that of the start, whichever of them goes up.
#[test]
fn pistons_on_trapped_air_rise_by_what_the_other_sinks() {
    let stats = cook("pistons", 40, &[]).stats();
    let sum = |r: &Value| places(r, "heavy")[0][1] + places(r, "light")[0][1];
    let swing = stats.iter().map(|r| places(r, "heavy")[0][1]).fold(f64::MAX, f64::min);
    assert!(swing < 0.5, "the heavy one sinks to {swing} m and no farther");
    for record in &stats {
        let (air, rest) = record["bubbles"]
            .as_array()
            .expect("bubbles")
            .iter()
            .fold((0.0, 0.0), |sum, b| (sum.0 + number(b, "/volume"), sum.1 + number(b, "/rest_volume")));
        assert!((air / rest - 1.0).abs() < 0.01, "{air} m³ of air, not {rest}, in frame {}", record["frame"]);
        // A tenth of a voxel.
        assert!((sum(record) - 0.95).abs() < 0.004, "they stand {} m too high", sum(record) - 0.95);
    }
}

/// Drafting, kissing, tumbling: in the wake of the lower stone the upper one falls faster, comes close to it and overtakes it, before
/// the floor [Carlson et al. 2004, Fig. 5].
#[test]
fn the_trailing_stone_catches_up_and_overtakes() {
    let stats = cook("stones", 26, &[]).stats();
    let both = |r: &Value| [places(r, "upper")[0], places(r, "lower")[0]];
    let distance = |[a, b]: [[f64; 3]; 2]| (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f64>().sqrt();
    let start = distance(both(&stats[0]));
    let nearest = stats.iter().map(|r| distance(both(r))).fold(f64::MAX, f64::min);
    // They touch at 0.165 m; a voxel is 0.055 m.
    assert!(
        start > 0.205 && nearest > 0.164 && nearest < 0.187,
        "{start} m at first, {nearest} m at the nearest"
    );
    let overtaken = stats.iter().map(both).find(|[upper, lower]| upper[1] < lower[1]);
    let [upper, _] = overtaken.expect("the upper stone overtakes");
    // Stones that lie have their middles at 0.08 m.
    assert!(upper[1] > 0.12, "it overtakes at {} m", upper[1]);
}

/// Gears of metal sink and rabbits of wood float, in both couplings [Carlson et al. 2004, Fig. 7].
#[test]
#[ignore = "minutes"]
fn gears_sink_and_bunnies_float() {
    for sets in [&[][..], &RIGID_FLUID] {
        let stats = cook("gears_and_bunnies", 36, sets).stats();
        let last = &stats[stats.len() - 1];
        for gears in ["gears_a", "gears_b"] {
            let highest = places(last, gears).iter().map(|p| p[1]).fold(0.0, f64::max);
            assert!(highest < 0.11, "a gear is {highest} m high");
        }
        let lowest = places(last, "bunnies").iter().map(|p| p[1]).fold(f64::MAX, f64::min);
        assert!(lowest > 0.35, "a bunny is {lowest} m high");
    }
}
