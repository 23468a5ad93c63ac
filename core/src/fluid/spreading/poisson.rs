//! The Poisson problem of a displacement: ∇·(α ∇q) = −growth in the liquid, q = 0 in air, closed at walls.

use super::crowding::Crowds;
use crate::grid::block;
use crate::grid::morphology::shift;
use crate::grid::rows::Rows;
use crate::grid::{Coord, FaceGrid, Grid, Topology, leaf};
use crate::levelset::fractions::theta;
use crate::levelset::open_volume;
use crate::pressure::{CELL, FIXED, PressureSystem, SOLID, Unknowns};
use glam::IVec3;
use rayon::prelude::*;
use std::sync::Arc;

/// The system and its right side, m³: the coefficient of a face is c_f = α h/θ, θ the ghost-fluid factor of a face between
/// liquid and air, else 1 [Gibou et al. 2002]. `open` is α, `h` the edge of a voxel, m.
pub(super) fn poisson(crowds: &Crowds, open: &FaceGrid<f32>, h: f64) -> (PressureSystem, Unknowns) {
    let topology = leaves(&crowds.surface, open);
    let size = topology.len() * leaf::SIZE;
    let mut system = PressureSystem {
        topology: topology.clone(),
        label: vec![SOLID; size],
        face: std::array::from_fn(|_| vec![0.0; size]),
        ..PressureSystem::default()
    };
    let mut right = Unknowns::zeros(&system);
    let [fx, fy, fz] = &mut system.face;
    let faces =
        fx.par_chunks_mut(leaf::SIZE).zip(fy.par_chunks_mut(leaf::SIZE)).zip(fz.par_chunks_mut(leaf::SIZE));
    let cells = system.label.par_chunks_mut(leaf::SIZE).zip(right.cells.par_chunks_mut(leaf::SIZE));
    cells.zip(faces).zip(topology.origins()).for_each(|(((label, right), ((fx, fy), fz)), &origin)| {
        let (phi, alpha) = (block::of(&crowds.surface, origin), Rows::faces(open, origin));
        let growth = Rows::of(&crowds.growth, origin);
        for n in 0..leaf::SIZE {
            let around: [[f32; 2]; 3] =
                std::array::from_fn(|a| [alpha[a].at(n), alpha[a].at_behind(n, 2 * a + 1)]);
            let is_open = around.as_flattened().iter().any(|&alpha| alpha > 0.0);
            let i = block::centre(n);
            label[n] = match phi[i] < 0.0 {
                _ if !is_open => SOLID,
                true => CELL,
                false => FIXED,
            };
            if label[n] == CELL {
                right[n] = f64::from(growth.at(n) * open_volume(around)) * h * h * h;
            }
            for (axis, face) in [&mut *fx, &mut *fy, &mut *fz].into_iter().enumerate() {
                face[n] = coefficient(phi[i - block::STRIDE[axis]], phi[i], around[axis][0], h) as f32;
            }
        }
    });
    (system, right)
}

/// c_f of the face between two cells with these φ, m; 0 where nothing is coupled.
fn coefficient(low: f32, high: f32, alpha: f32, h: f64) -> f64 {
    let area = f64::from(alpha) * h;
    match (low < 0.0, high < 0.0) {
        _ if alpha <= 0.0 => 0.0,
        (true, true) => area,
        (true, false) => area / f64::from(theta(low, high)),
        (false, true) => area / f64::from(theta(high, low)),
        (false, false) => 0.0,
    }
}

/// The leaves with liquid, and those that its cells touch through a face.
fn leaves(surface: &Grid<f32>, open: &FaceGrid<f32>) -> Arc<Topology> {
    let reached = |(l, &origin): (usize, &Coord)| {
        let phi = &surface.values[l * leaf::SIZE..][..leaf::SIZE];
        let mut wet = [0u64; leaf::DIM];
        if phi.iter().any(|&phi| phi < 0.0) {
            let alpha = Rows::faces(open, origin);
            let is_open = |n: usize, k: usize| match k % 2 == 1 {
                true => alpha[k / 2].at_behind(n, k) > 0.0,
                false => alpha[k / 2].at(n) > 0.0,
            };
            let cells = (0..leaf::SIZE).filter(|&n| phi[n] < 0.0 && (0..6).any(|k| is_open(n, k)));
            cells.for_each(|n| wet[n / 64] |= 1 << (n % 64));
        }
        if wet == [0; leaf::DIM] {
            return Vec::new();
        }
        let mut out = vec![origin];
        for side in 0..6 {
            let sign = side as i32 % 2 * 2 - 1;
            let inside = shift(&[u64::MAX; leaf::DIM], &[0; leaf::DIM], side / 2, sign);
            if (0..leaf::DIM).any(|x| wet[x] & !inside[x] != 0) {
                let mut step = IVec3::ZERO;
                step[side / 2] = sign * leaf::DIM as i32;
                out.push(origin + step);
            }
        }
        out
    };
    let origins: Vec<Vec<Coord>> = surface.topology.origins().par_iter().enumerate().map(reached).collect();
    Arc::new(Topology::new(origins.concat()))
}
