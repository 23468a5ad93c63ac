//! A thick jet on a plate [Batty and Bridson 2008]: it gets from its nozzle what the nozzle gives, and keeps it.

use crate::kept_volume::liquid_keeps_its_volume;
use meniscus_tests::cook_example;
use serde_json::Value;
use std::f64::consts::PI;

/// The jet has met the plate.
const FRAMES: u32 = 14;
const FPS: f64 = 24.0;
/// Radius of the nozzle, m, and speed of what leaves it, m/s.
const RADIUS: f64 = 0.018;
const SPEED: f64 = 0.6;

/// What has been given when a frame ends, m³.
fn given(stats: &[Value], frame: u32) -> f64 {
    let record = stats.iter().rfind(|r| r["frame"] == frame).expect("each frame has a substep");
    record["objects"]["honey"]["rest_volume"].as_f64().expect("the honey has a volume")
}

#[test]
fn a_jet_that_hangs_on_its_nozzle_gets_area_times_speed() {
    let frames = format!("frames=[1, {FRAMES}]");
    let cooked =
        cook_example("viscous_jet/viscous_jet.meniscus.json", &["--quality", "preview", "--set", &frames]);
    let stats = cooked.stats();
    liquid_keeps_its_volume(&stats);
    let entered = given(&stats, FRAMES) - given(&stats, 4);
    let expected = PI * RADIUS * RADIUS * SPEED * f64::from(FRAMES - 4) / FPS;
    assert!((entered / expected - 1.0).abs() < 0.02, "{entered:.4e} m³ of {expected:.4e} m³");
}
