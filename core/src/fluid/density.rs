//! Density where liquids meet.

use super::cells::Cells;
use super::particles::Particles;
use crate::grid::{Grid, Transform, leaf};
use glam::Vec3;
use rayon::prelude::*;

/// Density at cell centres, kg/m³: the mean of the particles around, weighted trilinearly; `None` when all
/// particles share one density. Cells without particles around take the densities' mean.
pub fn per_cell(particles: &Particles, cells: &Cells, transform: &Transform) -> Option<Grid<f32>> {
    if particles.is_empty() || particles.uniform_density().is_some() {
        return None;
    }
    let frame = particles.frame(transform);
    let topology = &cells.topology;
    let mean = particles.density.iter().map(|&d| f64::from(d)).sum::<f64>() / particles.len() as f64;
    let mut density = Grid::new(topology.clone(), mean as f32);
    density.values.par_chunks_mut(leaf::SIZE).enumerate().for_each(|(l, values)| {
        for (n, value) in values.iter_mut().enumerate() {
            let c = leaf::local(n);
            let centre = (topology.coord(l * leaf::SIZE + n) - frame.base).as_vec3();
            let (mut sum, mut weight) = (0.0, 0.0);
            for d in 0..27i32 {
                let near = [c[0] + d / 9 - 1, c[1] + d / 3 % 3 - 1, c[2] + d % 3 - 1];
                let Some(slot) = topology.reach(l, near) else { continue };
                for p in cells.range(slot) {
                    let away = (frame.local(particles.position[p]) - centre).abs();
                    let w = (1.0 - away).max(Vec3::ZERO).element_product();
                    sum += w * particles.density[p];
                    weight += w;
                }
            }
            if weight > 0.0 {
                *value = sum / weight;
            }
        }
    });
    Some(density)
}
