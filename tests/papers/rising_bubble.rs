//! A cube of air rises through water and breaks up [Goldade and Batty 2017, Fig. 2].

use crate::kept_volume::liquid_keeps_its_volume;
use meniscus_tests::{Cooked, cook_example};
use serde_json::Value;
use std::collections::BTreeSet;

/// The cube has become a cap and a ring and broken into four pieces, one in each quarter of the tank; none has come up yet.
const FRAMES: u32 = 20;
/// The twin's bubble is gone.
const TWIN_FRAMES: u32 = 8;

fn bubble(bypass: bool) -> Cooked {
    let graph = "bubbles/rising_bubble/rising_bubble.meniscus.json";
    let last = if bypass { TWIN_FRAMES } else { FRAMES };
    let (frames, bypass) = (format!("frames=[1, {last}]"), format!("air.bypass={bypass}"));
    cook_example(graph, &["--quality", "preview", "--set", &frames, "--set", &bypass])
}

fn bubbles(record: &Value) -> &[Value] {
    record["bubbles"].as_array().expect("the coupling lists its bubbles")
}

fn number(record: &Value, pointer: &str) -> f64 {
    record.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer} in {record}"))
}

fn sum(record: &Value, what: &str) -> f64 {
    bubbles(record).iter().map(|b| number(b, what)).sum()
}

/// Ids of the bubbles of more than a five-hundredth of the air.
fn large(record: &Value) -> BTreeSet<i64> {
    let all = sum(record, "/rest_volume");
    let large = bubbles(record).iter().filter(|b| number(b, "/rest_volume") > 0.002 * all);
    large.map(|b| number(b, "/id") as i64).collect()
}

#[test]
fn a_rising_bubble_keeps_its_air_as_it_breaks_up_and_its_twin_collapses() {
    let stats = bubble(false).stats();
    liquid_keeps_its_volume(&stats);
    let rest = sum(&stats[0], "/rest_volume");
    let (mut squares, mut splits) = (0.0, 0);
    for record in &stats {
        let [kept, held, found] =
            ["/rest_volume", "/volume", "/found_volume"].map(|what| sum(record, what) / rest);
        let frame = &record["frame"];
        assert!((kept - 1.0).abs() < 1e-3, "{kept} of the air has a bubble to be in, in frame {frame}");
        assert!((held - kept).abs() < 0.01, "{:+.4} of the air in frame {frame}", held - kept);
        // Before the surface is fitted: the flow itself keeps the air.
        let error = found - kept;
        assert!(error.abs() < 0.03, "{error:+.4} as the particles have it, in frame {frame}");
        squares += error * error;
        let energy = number(record, "/objects/water/kinetic_energy");
        assert!(energy < rest * 1000.0 * 9.81 * 1.6, "{energy} J in frame {}", record["frame"]);
    }
    for pair in stats.windows(2) {
        let (before, after) = (large(&pair[0]), large(&pair[1]));
        splits += usize::from(after.difference(&before).next().is_some());
    }
    assert!(splits >= 1, "it does not break up");
    // The tank and the cube look alike from four sides, and so does what becomes of it.
    let last = stats.last().expect("a substep");
    let pieces = bubbles(last).iter().filter(|b| number(b, "/rest_volume") > 0.15 * rest);
    let quarters: BTreeSet<[bool; 2]> =
        pieces.map(|b| [0, 2].map(|axis| number(b, &format!("/centroid/{axis}")) > 0.0)).collect();
    assert_eq!(quarters.len(), 4, "pieces in the quarters {quarters:?}");
    let error = (squares / stats.len() as f64).sqrt();
    assert!(error < 0.01, "{error:.4} of the air is missing or too much, root mean square");

    let stats = bubble(true).stats();
    liquid_keeps_its_volume(&stats);
    let kept = sum(stats.last().expect("a substep"), "/volume") / sum(&stats[0], "/volume");
    assert!(kept < 0.5, "{kept:.4} of the twin's air is left");
}
