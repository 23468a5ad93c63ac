//! Velocity where the solve left none: in the air around the liquid and inside solids.

use super::cells::Cells;
use super::halo;
use crate::grid::sampling::{Position, Sampler};
use crate::grid::{FaceGrid, Grid, leaf};
use crate::solid::SolidFields;
use glam::Vec3;
use rayon::prelude::*;

/// Marks a face whose velocity is not known.
const UNKNOWN: u8 = u8::MAX;

/// Extends a projected face velocity by `layers` faces into air and solids, in place.
///
/// Known are the open faces of liquid cells (`surface` < 0). Faces that only spray touches (particles in cells
/// that are air, a cell or more away from any known face) keep what the spray carried there, so that drops fly
/// on their own path. Every layer takes the mean of the known faces beside it along the three axes; faces
/// farther away are set to zero. Inside solids the result keeps its tangential part and takes the solid's
/// normal part [Batty et al. 2007, §4.2], so that no particle is driven into a wall.
pub fn extrapolate(
    velocity: &mut FaceGrid<f32>,
    cells: &Cells,
    surface: &Grid<f32>,
    solid: &SolidFields,
    h: f32,
    layers: usize,
) {
    let open = &solid.open.on(&cells.topology);
    for axis in 0..3 {
        let mut layer = known_faces(axis, cells, surface, open);
        grow(&mut velocity.values[axis], &mut layer, cells, 1);
        keep_spray(axis, &mut layer, cells, open);
        for n in 2..=layers.min(UNKNOWN as usize - 1) {
            grow(&mut velocity.values[axis], &mut layer, cells, n as u8);
        }
        velocity.values[axis].par_iter_mut().zip(&layer).with_min_len(4096).for_each(|(u, &n)| {
            if n == UNKNOWN {
                *u = 0.0;
            }
        });
    }
    constrain(velocity, open, solid, h);
}

/// Per face 0 if it is an open face of a liquid cell, else [`UNKNOWN`].
fn known_faces(axis: usize, cells: &Cells, surface: &Grid<f32>, open: &FaceGrid<f32>) -> Vec<u8> {
    let topology = &cells.topology;
    let mut layer = vec![UNKNOWN; surface.values.len()];
    layer.par_chunks_mut(leaf::SIZE).enumerate().for_each(|(l, layer)| {
        let mut phi = [0.0; halo::SIZE];
        halo::load(&mut phi, &surface.values, &topology.neighbours()[l], surface.background);
        for (n, layer) in layer.iter_mut().enumerate() {
            let c = leaf::local(n);
            let at = halo::index(c[0], c[1], c[2]);
            let liquid = phi[at] < 0.0 || phi[at - halo::STRIDE[axis]] < 0.0;
            if liquid && open.values[axis][l * leaf::SIZE + n] > 0.0 {
                *layer = 0;
            }
        }
    });
    layer
}

/// Marks as known the open faces of cells with particles that no known face has reached.
fn keep_spray(axis: usize, layer: &mut [u8], cells: &Cells, open: &FaceGrid<f32>) {
    let topology = &cells.topology;
    layer.par_chunks_mut(leaf::SIZE).enumerate().for_each(|(l, layer)| {
        for (n, layer) in layer.iter_mut().enumerate() {
            if *layer != UNKNOWN || open.values[axis][l * leaf::SIZE + n] == 0.0 {
                continue;
            }
            let mut below = leaf::local(n);
            below[axis] -= 1;
            let wet = cells.count(l * leaf::SIZE + n) > 0
                || topology.reach(l, below).is_some_and(|s| cells.count(s) > 0);
            if wet {
                *layer = 1;
            }
        }
    });
}

/// Gives unknown faces beside faces of earlier layers the mean of those, and the layer `n`.
fn grow(values: &mut [f32], layer: &mut [u8], cells: &Cells, n: u8) {
    let topology = &cells.topology;
    let grown: Vec<Vec<(u16, f32)>> = (0..topology.len())
        .into_par_iter()
        .map(|l| {
            let own = &layer[l * leaf::SIZE..][..leaf::SIZE];
            if own.iter().all(|&k| k != UNKNOWN) {
                return Vec::new();
            }
            let mut known = [UNKNOWN; halo::SIZE];
            halo::load(&mut known, &*layer, &topology.neighbours()[l], UNKNOWN);
            if known.iter().all(|&k| k == UNKNOWN) {
                return Vec::new();
            }
            let mut block = [0.0; halo::SIZE];
            halo::load(&mut block, &*values, &topology.neighbours()[l], 0.0);
            let mut grown = Vec::new();
            for offset in (0..leaf::SIZE).filter(|&o| own[o] == UNKNOWN) {
                let c = leaf::local(offset);
                let at = halo::index(c[0], c[1], c[2]);
                let (mut sum, mut count) = (0.0, 0);
                for step in halo::STRIDE {
                    for around in [at - step, at + step] {
                        if known[around] != UNKNOWN {
                            sum += block[around];
                            count += 1;
                        }
                    }
                }
                if count > 0 {
                    grown.push((offset as u16, sum / count as f32));
                }
            }
            grown
        })
        .collect();
    values.par_chunks_mut(leaf::SIZE).zip(layer.par_chunks_mut(leaf::SIZE)).zip(grown).for_each(
        |((values, layer), grown)| {
            for (offset, value) in grown {
                values[offset as usize] = value;
                layer[offset as usize] = n;
            }
        },
    );
}

/// Gives closed faces the normal velocity of the solid they lie in.
fn constrain(velocity: &mut FaceGrid<f32>, open: &FaceGrid<f32>, solid: &SolidFields, h: f32) {
    /// Least slope of a level set from which a normal is taken: less means the middle of a thin wall.
    const LEAST_SLOPE: f32 = 0.3;
    let topology = velocity.topology.clone();
    let before = velocity.clone();
    for axis in 0..3 {
        let open = &open.values[axis];
        velocity.values[axis].par_chunks_mut(leaf::SIZE).enumerate().for_each(|(l, values)| {
            let mut flow = Sampler::new(&topology);
            let mut walls = Sampler::new(&solid.nodes.topology);
            for (n, value) in values.iter_mut().enumerate() {
                let slot = l * leaf::SIZE + n;
                if open[slot] > 0.0 {
                    continue;
                }
                let face = face_position(topology.coord(slot), axis);
                let (_, gradient) = walls.sample_nodes_gradient(&solid.nodes, face);
                let of_solid = walls.sample_velocity(&solid.velocity, face);
                let u = flow.sample_velocity(&before, face);
                if gradient.length() < LEAST_SLOPE * h {
                    *value = of_solid[axis];
                } else {
                    let normal = gradient.normalize();
                    *value = u[axis] + (of_solid - u).dot(normal) * normal[axis];
                }
            }
        });
    }
}

/// Index position of the lower `axis` face of a cell.
fn face_position(cell: crate::grid::Coord, axis: usize) -> Position {
    let mut base = cell;
    base[axis] -= 1;
    Position { base, fraction: 0.5 * Vec3::AXES[axis] }
}
