//! The wall with two rows of holes: air that cannot come back holds the water up [Goldade and Batty 2017, Fig. 4].

use crate::kept_volume::liquid_keeps_its_volume;
use crate::trapped_air::{bubbles, cook, surface};

const FRAMES: u32 = 60;
/// The tank's half width and its height; the wall's half thickness, metres.
const HALF: f64 = 0.32;
const HEIGHT: f64 = 0.64;
const WALL: f64 = 0.02;

/// Levels left and right of the wall at the end, and the one on the left that leaves room for the air above it,
/// metres.
fn levels(bypass: bool) -> [f64; 3] {
    let bypass = format!("air.bypass={bypass}");
    let cooked = cook("wall_with_holes", 0.02, [FRAMES, FRAMES], &["--set", &bypass]);
    let surface = surface(&cooked, FRAMES);
    let left = surface.level([-HALF, 0.0, -HALF], [-WALL, HEIGHT, HALF]);
    let right = surface.level([WALL, 0.0, -HALF], [HALF, HEIGHT, HALF]);
    let stats = cooked.stats();
    liquid_keeps_its_volume(&stats);
    let bubbles = bubbles(stats.last().expect("a substep"));
    let air: f64 = bubbles.iter().filter(|b| b.centroid[0] < -WALL).map(|b| b.volume).sum();
    [left, right, HEIGHT - air / ((HALF - WALL) * 2.0 * HALF)]
}

#[test]
fn air_that_cannot_come_back_keeps_the_levels_apart() {
    let [left, right, by_air] = levels(false);
    assert!(left - right > 0.1, "levels {left:.3} and {right:.3} m");
    assert!(
        (left / by_air - 1.0).abs() < 0.01,
        "a level of {left:.4} m; the air leaves room for {by_air:.4} m"
    );
    // The upper holes end 0.2 m above the floor: under water, no air comes back through them.
    assert!((0.19..0.23).contains(&right), "the water on the right ends at {right:.3} m");
}

#[test]
#[ignore = "takes a minute: make scenes"]
fn without_the_constraint_the_levels_become_equal() {
    let [left, right, _] = levels(true);
    assert!((left - right).abs() < 0.03, "levels {left:.3} and {right:.3} m are still apart");
}
