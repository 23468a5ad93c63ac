//! Coarsens the viscous step to a lattice with twice the voxel size.
//!
//! Masses are restricted like forces. Stiffness is that of the strain over twice the distance, from the mean of the
//! cells or edges around, so that rigid motion costs no energy on any level. Strain at a wall is not coarsened as
//! strain: it becomes a spring to the wall, half as stiff at the coarse face, which is twice as far away.

use super::operator::{CELL, EDGE, FACES, FACTOR, Operator, across, times};
use super::transfer::{Links, MEAN, OCTANT, ON_SIDE, Weights, gather, of_faces, offset};
use crate::grid::block::{self as blocks, SIZE, STRIDE};
use crate::grid::leaf;
use rayon::prelude::*;
use std::sync::Arc;

/// Factor on springs to walls when they are coarsened.
const AT_TWICE_THE_DISTANCE: f32 = 0.5;
/// Factor on the stiffness of a strain over twice the distance.
const OVER_TWICE_THE_DISTANCE: f32 = 0.25;

/// A coarse level.
pub(super) struct Coarse {
    pub(super) operator: Operator,
    /// The liquid's part of the operator's mass, kg/m³, `[leaf][3][512]`.
    pub(super) mass: Vec<f32>,
    /// The part that is springs to walls.
    pub(super) springs: Vec<f32>,
    pub(super) links: Links,
}

/// The data that a level passes to the next coarser one.
struct Parts {
    /// Stiffness of cells and edges away from walls, `[leaf][4][512]`.
    inner: Vec<f32>,
    /// Springs to walls, kg/m³, `[leaf][3][512]`: those from finer levels, and those of the strains at walls.
    springs: Vec<f32>,
}

impl Operator {
    /// 1 on unknowns of a leaf and its shell.
    fn unknown_around(&self, l: usize) -> [[bool; SIZE]; 3] {
        [0, 1, 2].map(|axis| {
            let mut block = [0.0; SIZE];
            blocks::load(&mut block, &self.inverse_diagonal[axis * leaf::SIZE..], &self.around[l], 0.0);
            block.map(|d| d > 0.0)
        })
    }

    fn parts(&self, springs: &[f32]) -> Parts {
        let mut inner = vec![0f32; self.topology.len() * FACTOR * leaf::SIZE];
        let mut all = vec![0f32; self.mass.len()];
        let leaves = inner.par_chunks_mut(FACTOR * leaf::SIZE).zip(all.par_chunks_mut(FACES));
        leaves.enumerate().for_each(|(l, (inner, all))| {
            let (stiffness, unknown) = (&self.stiffness[l], self.unknown_around(l));
            let at_wall = |channel: usize, i: usize| match channel {
                CELL => (0..3).any(|a| !(unknown[a][i] && unknown[a][i + STRIDE[a]])),
                _ => {
                    let (a, b) = across(channel - EDGE);
                    let (low_a, low_b) = (unknown[a][i - STRIDE[b]], unknown[b][i - STRIDE[a]]);
                    !(unknown[a][i] && low_a && unknown[b][i] && low_b)
                }
            };
            for n in 0..leaf::SIZE {
                let [x, y, z] = leaf::local(n);
                let i = blocks::index(x, y, z);
                for channel in 0..FACTOR {
                    let k =
                        if channel == CELL { stiffness.cell[i] } else { stiffness.edge[channel - EDGE][i] };
                    inner[channel * leaf::SIZE + n] = if at_wall(channel, i) { 0.0 } else { k };
                }
            }
            for (f, out) in all.iter_mut().enumerate() {
                let slot = l * FACES + f;
                if self.inverse_diagonal[slot] > 0.0 {
                    let here = stiffness.of_face(f, |(c, i), k| if at_wall(c, i) { k } else { 0.0 });
                    *out = springs.get(slot).copied().unwrap_or_default() + here as f32;
                }
            }
        });
        Parts { inner, springs: all }
    }

    /// The next coarser level of this one, whose mass is the liquid's `mass` and `springs` to walls (or no springs).
    pub(super) fn coarsened(&self, mass: &[f32], springs: &[f32]) -> Coarse {
        let (topology, links) = Links::new(&self.topology);
        let parts = self.parts(springs);
        let n = topology.len();
        let [mut sum, mut coarse_mass, mut coarse_springs] = [0, 1, 2].map(|_| vec![0f32; n * FACES]);
        let mut closed = vec![true; n * FACES];
        let mut channels = vec![0f32; n * FACTOR * leaf::SIZE];
        let leaves = sum.par_chunks_mut(FACES).zip(coarse_mass.par_chunks_mut(FACES));
        let leaves = leaves.zip(coarse_springs.par_chunks_mut(FACES)).zip(closed.par_chunks_mut(FACES));
        let leaves = leaves.zip(channels.par_chunks_mut(FACTOR * leaf::SIZE)).zip(&links.children);
        leaves.for_each(|(((((sum, coarse_mass), coarse_springs), closed), channels), children)| {
            for (octant, &child) in children.iter().enumerate().filter(|(_, c)| **c != leaf::ABSENT) {
                for axis in 0..3 {
                    let of_octant = self.face_sums(mass, &parts.springs, child as usize, axis);
                    for (n, [mass, springs, unknowns]) in of_octant.into_iter().enumerate() {
                        let to = axis * leaf::SIZE + offset(octant, n);
                        let springs = AT_TWICE_THE_DISTANCE * springs;
                        (coarse_mass[to], coarse_springs[to]) = (mass, springs);
                        (sum[to], closed[to]) = (mass + springs, unknowns == 0.0);
                    }
                }
                for channel in 0..FACTOR {
                    let of_octant = self.stiffness_sums(&parts.inner, child as usize, channel);
                    for (n, k) in of_octant.into_iter().enumerate() {
                        channels[channel * leaf::SIZE + offset(octant, n)] = OVER_TWICE_THE_DISTANCE * k;
                    }
                }
            }
        });
        let operator = Operator::new(Arc::new(topology), sum, &channels, FACTOR, &closed);
        Coarse { operator, mass: coarse_mass, springs: coarse_springs, links }
    }

    /// Mass, springs and share of unknowns of the coarse faces in leaf `l`.
    fn face_sums(&self, mass: &[f32], springs: &[f32], l: usize, axis: usize) -> [[f32; 3]; OCTANT] {
        let first = axis * leaf::SIZE;
        let [mut liquid, mut held, mut inverse] = [[0f32; SIZE]; 3];
        blocks::load(&mut liquid, &mass[first..], &self.around[l], 0.0);
        blocks::load(&mut held, &springs[first..], &self.around[l], 0.0);
        blocks::load(&mut inverse, &self.inverse_diagonal[first..], &self.around[l], 0.0);
        let unknown = inverse.map(|d| if d > 0.0 { 1.0 } else { 0.0 });
        let [mass, springs, unknowns] = [liquid, held, unknown].map(|block| gather(&block, of_faces(axis)));
        std::array::from_fn(|n| [mass[n], springs[n], unknowns[n]])
    }

    /// Mean stiffness of the fine cells, or edges, that make up the coarse ones in leaf `l`.
    fn stiffness_sums(&self, inner: &[f32], l: usize, channel: usize) -> [f32; OCTANT] {
        let mut block = [0f32; SIZE];
        let around = times(&self.topology.neighbours()[l], FACTOR as u32);
        blocks::load(&mut block, &inner[channel * leaf::SIZE..], &around, 0.0);
        let weights: [Weights; 3] = match channel {
            CELL => [MEAN; 3],
            edge => std::array::from_fn(|a| if a == edge - EDGE { MEAN } else { ON_SIDE }),
        };
        gather(&block, weights)
    }
}
