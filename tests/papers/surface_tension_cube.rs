//! A cube of air in a weightless ball of water [Goldade and Batty 2017, Fig. 6].

use crate::kept_volume::liquid_keeps_its_volume;
use crate::trapped_air::{bubbles, cook, surface};
use meniscus_tests::surface::Surface;
use std::f64::consts::{PI, TAU};

const FRAMES: u32 = 30;
/// Edge of the cube; radius of the ball looked at, within the water's, metres.
const EDGE: f64 = 0.06;
const REACH: f64 = 0.055;
/// A sphere's fourth moment.
const SPHERE: f64 = 0.6;
/// Surface tension, N/m; density, kg/m³.
const TENSION: f64 = 0.072;
const DENSITY: f64 = 1000.0;
const FPS: f64 = 24.0;

/// Fourth moments of the air, Σ (x⁴ + y⁴ + z⁴) / Σ r⁴: [`SPHERE`], less for a cube with these axes, more for an
/// octahedron.
fn fourth_moment(surface: &Surface) -> f64 {
    let [x, y, z] = [0, 1, 2].map(|axis| surface.voxels(axis, -REACH, REACH));
    let (mut axial, mut round) = (0.0, 0.0);
    for i in x {
        for j in y.clone() {
            for k in z.clone() {
                let squares = surface.centre([i, j, k]).map(|c| c * c);
                let r2: f64 = squares.iter().sum();
                if r2 < REACH * REACH {
                    let air = (0.5 + surface.distance([i, j, k]) / surface.voxel).clamp(0.0, 1.0);
                    axial += air * squares.iter().map(|s| s * s).sum::<f64>();
                    round += air * r2 * r2;
                }
            }
        }
    }
    axial / round
}

/// Period of small oscillations of the mode that a cube excites, degree 4, of a bubble in much liquid, s:
/// ω² = (l−1)(l+1)(l+2) σ/(ρR³) [Lamb 1932, §275].
fn small_period() -> f64 {
    let radius_cubed = EDGE.powi(3) * 3.0 / (4.0 * PI);
    TAU / (90.0 * TENSION / (DENSITY * radius_cubed)).sqrt()
}

/// Times, s, at which the moments, one a frame, pass a sphere's.
fn rounds(moments: &[f64]) -> Vec<f64> {
    let frames = moments.windows(2).enumerate().filter_map(|(frame, pair)| {
        let (a, b) = (pair[0] - SPHERE, pair[1] - SPHERE);
        ((a < 0.0) != (b < 0.0)).then(|| frame as f64 + a / (a - b))
    });
    frames.map(|f| f / FPS).collect()
}

#[test]
#[ignore = "takes minutes: make scenes"]
fn a_cubic_bubble_rings_and_keeps_its_volume() {
    let cooked = cook("surface_tension_cube", 0.004, [1, FRAMES], &[]);
    assert!(!cooked.stderr().contains("surface tension"), "the step bears the tension: {}", cooked.stderr());
    let stats = cooked.stats();
    liquid_keeps_its_volume(&stats);
    let cube = EDGE.powi(3);
    let first = bubbles(&stats[0])[0].volume;
    assert!((first / cube - 1.0).abs() < 0.01, "{first} m³ of air in a cube of {cube} m³");
    for record in &stats {
        let bubble = &bubbles(record)[0];
        let change = bubble.volume / first - 1.0;
        let frame = &record["frame"];
        assert!(bubble.constrained && change.abs() < 0.01, "volume {change:+.4} in frame {frame}");
    }

    let moments: Vec<f64> = (1..=FRAMES).map(|frame| fourth_moment(&surface(&cooked, frame))).collect();
    let rounds = rounds(&moments);
    assert!(rounds.len() >= 4, "the bubble is round at {rounds:.3?} s only: {moments:.3?}");
    // From the cube through the sphere to an octahedron and back, each swing smaller than the last one to its side.
    let swings: Vec<f64> = std::iter::once(0.0)
        .chain(rounds.iter().copied())
        .zip(&rounds)
        .map(|(from, &to)| {
            let frames = (from * FPS).ceil() as usize..=(to * FPS).floor() as usize;
            moments[frames].iter().map(|m| (m - SPHERE).abs()).fold(0.0, f64::max)
        })
        .collect();
    assert!(swings.windows(3).all(|s| s[2] < s[0]), "the swings {swings:.3?} do not become smaller");
    // Lamb's period is that of small swings on fine voxels, which the first ones of a cube on 15 voxels exceed;
    // `core` compares small swings with it.
    let period = 2.0 * (rounds[rounds.len() - 1] - rounds[0]) / (rounds.len() - 1) as f64;
    let slower = period / small_period() - 1.0;
    assert!(
        (0.0..0.2).contains(&slower),
        "a period of {period:.3} s, {slower:+.3} from that of small swings"
    );
}
