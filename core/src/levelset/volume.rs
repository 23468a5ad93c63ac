//! Volume enclosed by a level set, below the voxel.

use super::fractions::cell_inside;
use crate::grid::{Grid, Topology, leaf};
use rayon::prelude::*;

/// Volume (m³) where `phi` (at cell centres) is negative and, with `solid` (at lower nodes), outside the
/// solid. `h` is the voxel size, metres. Second order for smooth surfaces: each cube of eight centres is
/// measured by [`cell_inside`].
pub fn volume(phi: &Grid<f32>, solid: Option<&Grid<f32>>, h: f32) -> f64 {
    let h3 = f64::from(h).powi(3);
    let cells: Vec<f64> = (0..phi.topology.len())
        .into_par_iter()
        .map(|l| {
            let mut sum = 0.0;
            // Cubes are named by their lowest corner; those of missing leaves belong to their first leaf.
            for x in -1..8 {
                for y in -1..8 {
                    for z in -1..8 {
                        if owner(&phi.topology, l, [x, y, z]) == Some(l) {
                            sum += f64::from(cell_inside(cube(phi, solid, l, [x, y, z])));
                        }
                    }
                }
            }
            sum
        })
        .collect();
    cells.iter().sum::<f64>() * h3
}

fn corners([x, y, z]: [i32; 3]) -> [[i32; 3]; 8] {
    std::array::from_fn(|n| [x + (n & 1) as i32, y + (n >> 1 & 1) as i32, z + (n >> 2) as i32])
}

/// The first leaf that holds a corner of the cube.
#[inline]
fn owner(topology: &Topology, l: usize, lowest: [i32; 3]) -> Option<usize> {
    if lowest.iter().all(|&c| c >= 0) {
        return Some(l);
    }
    corners(lowest).iter().find_map(|&c| topology.reach(l, c)).map(|s| s / leaf::SIZE)
}

fn cube(phi: &Grid<f32>, solid: Option<&Grid<f32>>, l: usize, lowest: [i32; 3]) -> [f32; 8] {
    let liquid = corners(lowest).map(|c| phi.reach(l, c));
    let Some(solid) = solid.filter(|_| liquid.iter().any(|&p| p <= 0.0)) else { return liquid };
    let origin = phi.topology.origins()[l];
    let nodes = |c: [i32; 3]| {
        let around = corners(c).map(|n| solid.get(origin + glam::IVec3::from_array(n)));
        around.iter().sum::<f32>() / 8.0
    };
    let places = corners(lowest);
    std::array::from_fn(|n| liquid[n].max(-nodes(places[n])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{IVec3, Vec3};
    use std::sync::Arc;

    fn ball(n: i32, leaves: impl Fn(IVec3) -> bool) -> f64 {
        let h = 2.0 / n as f32;
        let steps = move || (0..n).step_by(8);
        let all = steps().flat_map(|x| steps().flat_map(move |y| steps().map(move |z| IVec3::new(x, y, z))));
        let topology = Arc::new(Topology::new(all.filter(|&o| leaves(o)).collect()));
        let phi = Grid::from_fn(topology, 3.0 * h, |c| ((c.as_vec3() + 0.5) * h - 1.0).length() - 0.7);
        volume(&phi, None, h)
    }

    #[test]
    fn a_ball_converges_with_second_order() {
        let exact = 4.0 / 3.0 * std::f64::consts::PI * 0.343;
        let errors = [16, 32, 64].map(|n| (ball(n, |_| true) / exact - 1.0).abs());
        assert!(errors[2] < 2e-3, "{errors:?}");
        assert!(errors[0] / errors[1] > 3.0 && errors[1] / errors[2] > 3.0, "{errors:?}");
    }

    #[test]
    fn what_a_solid_fills_does_not_count() {
        let (n, h) = (64, 2.0 / 64.0);
        let topology =
            Arc::new(Topology::new((0..512).map(|l| IVec3::new(l / 64, l / 8 % 8, l % 8) * 8).collect()));
        let at = |c: IVec3, shift: f32| (c.as_vec3() + shift) * h - Vec3::ONE;
        let phi = Grid::from_fn(topology.clone(), 1.0, |c| at(c, 0.5).length() - 0.7);
        let nodes = Grid::from_fn(topology, 1.0, |c| at(c, 0.0).x);
        let exact = 2.0 / 3.0 * std::f64::consts::PI * 0.343;
        let half = volume(&phi, Some(&nodes), h);
        assert!((half / exact - 1.0).abs() < 5e-3, "{half} of {exact} at {n}");
    }
}
