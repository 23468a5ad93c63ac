//! A platform that comes down on trapped air [Goldade and Batty 2017, Fig. 5].

use crate::kept_volume::liquid_keeps_its_volume;
use crate::trapped_air::{Bubble, bubbles, cook, surface};
use meniscus_tests::{Cooked, surface::Surface};
use serde_json::Value;

/// The tank's half width; half the wall's thickness, metres.
const HALF: f64 = 0.3;
const WALL: f64 = 0.015;
/// Height of the wall's lower edge, metres.
const LIP: f64 = 0.12;
/// Frame in which the platform arrives.
const ARRIVAL: u32 = 73;
/// Until this frame the trapped air stays on its side of the wall; then it reaches the lip and escapes under it.
const AT_THE_LIP: u32 = 18;

/// Height of the platform's underside, metres.
fn underside(frame: u32) -> f64 {
    0.45 - 0.195 * f64::from(frame - 1) / f64::from(ARRIVAL - 1)
}

fn platform(bypass: bool, voxel: f64, frames: [u32; 2]) -> Cooked {
    let bypass = format!("air.bypass={bypass}");
    cook("moving_platform", voxel, frames, &["--set", &bypass])
}

/// Levels under the platform and right of the wall, metres.
fn levels(surface: &Surface) -> [f64; 2] {
    let left = surface.level([-HALF, 0.0, -HALF], [-WALL, 2.0 * HALF, HALF]);
    let right = surface.level([WALL, 0.0, -HALF], [HALF, 2.0 * HALF, HALF]);
    [left, right]
}

/// Volume of the bubbles under the platform, or what else is a volume of theirs, m³.
fn air_below(record: &Value, frame: u32, what: &str) -> f64 {
    let below = |c: &[f64; 3]| c[0] < -WALL && c[1] < underside(frame);
    let all = bubbles(record);
    let volume = |b: &Bubble| if what == "found_volume" { b.found_volume } else { b.volume };
    all.iter().filter(|b| below(&b.centroid)).map(volume).sum()
}

#[test]
fn the_level_under_the_platform_leaves_the_trapped_air_its_volume() {
    // Voxels on whose nodes the thin wall's faces lie.
    let cooked = platform(false, 0.015, [2, AT_THE_LIP]);
    let stats = cooked.stats();
    liquid_keeps_its_volume(&stats);
    let first = stats.first().expect("a cook has substeps");
    let trapped = air_below(first, 2, "volume");
    for frame in 2..=AT_THE_LIP {
        let [left, _] = levels(&surface(&cooked, frame));
        let by_level = (underside(frame) - left) * (HALF - WALL) * 2.0 * HALF;
        let record = stats.iter().rfind(|r| r["frame"] == frame).expect("each frame has a substep");
        // Not the surface against itself: against what was trapped at first.
        assert!(
            (by_level / trapped - 1.0).abs() < 0.01,
            "{trapped:.5} m³ of air were trapped, {by_level:.5} m³ by the level of frame {frame}"
        );
        let found = air_below(record, frame, "found_volume");
        assert!(
            (found / trapped - 1.0).abs() < 0.03,
            "{trapped:.5} m³ of air were trapped, {found:.5} m³ as the particles leave it in frame {frame}"
        );
    }
}

#[test]
#[ignore = "three minutes: make scenes"]
fn trapped_air_keeps_the_water_from_under_the_platform_and_its_twin_levels_out() {
    let voxel = 0.02;
    let end = |bypass| {
        let cooked = platform(bypass, voxel, [ARRIVAL, ARRIVAL]);
        liquid_keeps_its_volume(&cooked.stats());
        levels(&surface(&cooked, ARRIVAL))
    };
    let [left, right] = end(false);
    assert!(right - left > 0.1, "levels {left:.3} and {right:.3} m");
    // What air is above the lip has no way out, but for what waves let pass; a grid knows where it is to a voxel.
    assert!(left < LIP + voxel, "the water under the platform stands at {left:.3} m");
    let [left, right] = end(true);
    assert!((left - right).abs() < 0.03, "the twin's levels {left:.3} and {right:.3} m are still apart");
}
