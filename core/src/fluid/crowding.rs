//! Where particles crowd or thin out: the drift of positions that no projection of velocities sees.

use super::cells::Cells;
use super::fraction::{LEAST_OPEN, spread_cells};
use super::volume::bounded;
use crate::grid::{Grid, leaf};
use rayon::prelude::*;

/// Deviation of the particles' density that is chance: about its standard deviation over the kernel's volume for
/// eight particles a voxel. Below it nothing is asked for.
const CHANCE: f32 = 0.1;
/// The same near the surface, where chance has one sign only: what is fuller than full.
const CHANCE_AT_SURFACE: f32 = 0.3;
/// Depth below the surface, voxels, from which the kernel lies in liquid alone, so that too few particles mean
/// something.
const DEEP: f32 = 1.5;
/// Most of a cell's volume that one substep may add or take.
const MOST: f32 = 0.5;

/// Adds to `source` (divergence the next solve gives the liquid, 1/s) what lets crowded particles spread and thinned
/// ones close up within about 1/`rate` seconds: ∇·u = rate (ρ/ρ₀ − 1), ρ the particles' density over a
/// quadratic B-spline, ρ₀ as seeded [Losasso et al. 2008].
///
/// `surface` is the liquid's level set (m), on the leaves of `source`; `open` the open fraction of the cells, on
/// theirs.
pub fn spread_out(
    source: &mut Grid<f32>,
    cells: &Cells,
    surface: &Grid<f32>,
    open: &Grid<f32>,
    h: f32,
    per_voxel: f32,
    rate: f32,
    dt: f64,
) {
    let topology = &cells.topology;
    let counts: Vec<f32> = (0..topology.len() * leaf::SIZE)
        .into_par_iter()
        .with_min_len(4096)
        .map(|s| cells.count(s) as f32 / per_voxel)
        .collect();
    let density = spread_cells(topology, &counts, 0.0);
    let space = spread_cells(topology, &open.values, 1.0);
    let most = MOST / dt as f32;
    let rate = bounded(f64::from(rate), dt) as f32;
    let leaves = source.topology.clone();
    source.values.par_chunks_mut(leaf::SIZE).zip(leaves.origins()).enumerate().for_each(
        |(l, (source, &o))| {
            let Some(first) = topology.leaf_of(o).map(|l| l * leaf::SIZE) else { return };
            let phi = &surface.values[l * leaf::SIZE..][..leaf::SIZE];
            for (n, source) in source.iter_mut().enumerate() {
                let space = space[first + n];
                if phi[n] >= 0.0 || space < LEAST_OPEN {
                    continue;
                }
                let excess = density[first + n] / space - 1.0;
                let beyond_chance = match phi[n] < -DEEP * h {
                    true => excess - excess.clamp(-CHANCE, CHANCE),
                    false => (excess - CHANCE_AT_SURFACE).max(0.0),
                };
                *source += (rate * beyond_chance).clamp(-most, most);
            }
        },
    );
}
