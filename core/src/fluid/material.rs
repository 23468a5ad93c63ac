//! Density and viscosity at the cells of the grid.

use super::particles::Particles;
use super::particles::cells::Cells;
use crate::grid::{Grid, Transform, leaf};
use crate::scan;
use crate::viscosity::MAX_VISCOSITY;
use glam::Vec3;
use rayon::prelude::*;

/// Smallest and largest density that is accepted, kg/m³: products of densities must fit an f32.
pub const DENSITIES: std::ops::RangeInclusive<f64> = 1e-3..=1e6;

/// Density at cell centres, kg/m³; `None` when all particles share one density.
pub fn density(particles: &Particles, cells: &Cells, transform: &Transform) -> Option<Grid<f32>> {
    if particles.is_empty() || particles.uniform_density().is_some() {
        return None;
    }
    Some(per_cell(particles, &particles.density, cells, transform))
}

/// Dynamic viscosity at cell centres, Pa·s; `None` when no particle has any.
pub fn viscosity(particles: &Particles, cells: &Cells, transform: &Transform) -> Option<Grid<f32>> {
    if particles.is_empty() {
        return None;
    }
    let Some(shared) = scan::shared(&particles.viscosity) else {
        return Some(per_cell(particles, &particles.viscosity, cells, transform));
    };
    (shared != 0.0).then(|| Grid::new(cells.topology.clone(), shared))
}

/// The first particle whose viscosity is not an accepted number.
pub fn find_impossible_viscosity(particles: &Particles) -> Option<usize> {
    scan::first(&particles.viscosity, |mu| !(0.0..=MAX_VISCOSITY as f32).contains(mu))
}

/// A quantity of the particles at cell centres: the mean of those around, weighted trilinearly. Cells without
/// particles around take the mean of all.
fn per_cell(particles: &Particles, quantity: &[f32], cells: &Cells, transform: &Transform) -> Grid<f32> {
    let frame = particles.frame(transform);
    let topology = &cells.topology;
    let mean = quantity.iter().map(|&d| f64::from(d)).sum::<f64>() / quantity.len() as f64;
    let mut grid = Grid::new(topology.clone(), mean as f32);
    grid.values.par_chunks_mut(leaf::SIZE).enumerate().for_each(|(l, values)| {
        for (n, value) in values.iter_mut().enumerate() {
            let c = leaf::local(n);
            let centre = (topology.coord(l * leaf::SIZE + n) - frame.base).as_vec3();
            let (mut sum, mut weight) = (0.0, 0.0);
            for d in 0..27i32 {
                let near = [c[0] + d / 9 - 1, c[1] + d / 3 % 3 - 1, c[2] + d % 3 - 1];
                let Some(slot) = topology.reach(l, near) else { continue };
                for p in cells.range(slot) {
                    let away = (frame.local(particles.position[p]) - centre).abs();
                    let w = (1.0 - away).max(Vec3::ZERO).element_product() * particles.mass_share[p];
                    sum += w * quantity[p];
                    weight += w;
                }
            }
            if weight > 0.0 {
                *value = sum / weight;
            }
        }
    });
    grid
}
