use super::*;
use crate::fluid::particles::cells;
use crate::fluid::particles::{Particle, Particles};
use crate::grid::{Coord, Grid};
use glam::{DVec3, IVec3};
use std::sync::Arc;

/// The quadratic B-spline.
fn spline(t: f32) -> f32 {
    match t.abs() {
        a if a <= 0.5 => 0.75 - a * a,
        a if a <= 1.5 => 0.5 * (1.5 - a) * (1.5 - a),
        _ => 0.0,
    }
}

#[test]
fn particles_spread_by_the_spline() {
    let transform = Transform::uniform(0.5, DVec3::new(0.1, 0.2, -0.3));
    let mut particles = Particles::new(DVec3::new(1.0, 2.0, 3.0));
    for n in 0..300 {
        let mix = |k: u32| (n * k % 997) as f32 / 997.0;
        let position = glam::Vec3::new(mix(331), mix(607), mix(89)) * 4.0;
        let (velocity, affine) = (glam::Vec3::ZERO, [glam::Vec3::ZERO; 3]);
        particles.push(Particle {
            position,
            velocity,
            affine,
            id: 0,
            density: 1000.0,
            viscosity: 0.0,
            mass_share: 1.0,
        });
    }
    let topology = Arc::new(cells::covering(&particles, &transform, 2));
    let (cells, _) = cells::sort(&mut particles, &transform, &topology);
    let weights = Weights::new(&cells, None, None, 8.0);
    let spread = Spread::new(&particles, &cells, &transform, &weights);
    let (frame, of_leaf) = (particles.frame(&transform), |l| weights.in_leaf(l));
    for l in 0..topology.len() {
        let mut sum = [0.0; leaf::SIZE];
        spread.add_to(&mut sum, l);
        for (n, &sum) in sum.iter().enumerate().step_by(7) {
            let c = topology.coord(l * leaf::SIZE + n);
            let mut wanted = 0.0;
            for (m, weights) in (0..topology.len()).map(|m| (m, of_leaf(m))) {
                for (k, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
                    for p in cells.range(m * leaf::SIZE + k) {
                        let d = frame.local(particles.position[p]) - (c - frame.base).as_vec3();
                        wanted += weight * spline(d.x) * spline(d.y) * spline(d.z);
                    }
                }
            }
            assert!((sum - wanted).abs() < 1e-5, "{sum} {wanted}");
        }
    }
}

#[test]
fn cells_spread_by_the_integrals_of_the_spline() {
    let topology = Arc::new(Topology::covering([Coord::ZERO, Coord::X * 8, Coord::new(8, -1, 9)]));
    let content =
        Grid::from_fn(topology.clone(), 1.0, |c| ((c.x * 7 + c.y * 13 + c.z * 29) % 17) as f32 * 0.1);
    let sum = spread_cells(&topology, &content.values, content.background);
    let share = |d: i32| if d == 0 { 4.0 / 6.0 } else { 1.0 / 6.0 };
    for (s, sum) in sum.iter().enumerate() {
        let around = (0..27).map(|d| IVec3::new(d / 9, d / 3 % 3, d % 3) - 1);
        let each = around.map(|d| share(d.x) * share(d.y) * share(d.z) * content.get(topology.coord(s) + d));
        assert!((sum - each.sum::<f32>()).abs() < 1e-5);
    }
}
