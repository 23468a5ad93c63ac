//! Rebuilds a level set as a signed distance without moving its zero.

mod march;
mod upwind;

use super::InsideTiles;
use crate::grid::morphology::{VoxelMask, offsets};
use crate::grid::{Grid, Topology, halo, leaf};
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::Arc;

/// Distance of a voxel that the front has not reached: larger than any band.
const UNREACHED: f32 = f32::INFINITY;
/// A neighbour without a leaf; no interface is assumed there.
const MISSING: f32 = f32::NAN;

/// The signed distance (metres) to the zero set of `phi`, in a band of `band_voxels` around it and
/// ±`band_voxels · h` beyond, on the leaves of `phi` and those the band needs. Signs are kept everywhere.
///
/// Voxels next to the interface take φ/|∇φ|, which keeps the zero where it is to second order and leaves a signed
/// distance unchanged [Russo and Smereka 2000]. The rest of the band solves |∇φ| = 1 outward from them with
/// second-order upwind differences [Sethian 1999]. All voxels are updated at once, until no value changes, so the
/// result does not depend on any order. Only leaves are searched: where they end, no interface is assumed.
pub fn redistance(phi: &Grid<f32>, h: f32, band_voxels: f32) -> Grid<f32> {
    let width = band_voxels * h;
    let steps = band_voxels.ceil() as usize + 1;
    let mut crossing = interface(phi);
    let (source, active) = match crossing.near_leaves(steps) {
        Some(active) => (Cow::Borrowed(phi), active),
        None => {
            let near = crossing.leaves_within(steps);
            let source = extended(phi, Arc::new(phi.topology.union(&near)));
            let active = source.topology.origins().iter().map(|&o| near.leaf_of(o).is_some()).collect();
            crossing = interface(&source);
            (Cow::Owned(source), active)
        }
    };
    let mut distance = interface_distance(&source, &crossing, h);
    march::march(&mut distance, &crossing, &active, h, band_voxels);
    distance.values.par_iter_mut().with_min_len(4096).for_each(|d| *d = d.clamp(-width, width));
    distance.background = if phi.background < 0.0 { -width } else { width };
    distance
}

/// Whether a value is inside; zero is not.
#[inline(always)]
fn is_inside(phi: f32) -> bool {
    phi < 0.0
}

/// The voxels with a face neighbour of the other sign.
pub fn interface(phi: &Grid<f32>) -> VoxelMask {
    let inside = VoxelMask::of_values(phi.topology.clone(), &phi.values, is_inside);
    VoxelMask::from_words(phi.topology.clone(), |l| {
        let mut words = [0; 8];
        for (axis, step) in [(0, -1), (0, 1), (1, -1), (1, 1), (2, -1), (2, 1)] {
            // Where there is no leaf, no interface is assumed, on neither side.
            let (any, all) = (inside.shifted(l, axis, step, false), inside.shifted(l, axis, step, true));
            for (x, word) in words.iter_mut().enumerate() {
                let own = inside.words(l)[x];
                *word |= own & !all[x] | !own & any[x];
            }
        }
        words
    })
}

/// `phi` on more leaves; new ones take the background with the sign of the side they lie on.
fn extended(phi: &Grid<f32>, topology: Arc<Topology>) -> Grid<f32> {
    let inside = InsideTiles::of(phi);
    let mut out = phi.on(&topology);
    out.values.par_chunks_mut(leaf::SIZE).zip(topology.origins()).for_each(|(values, &o)| {
        if phi.topology.leaf_of(o).is_none() && inside.contains(o) {
            values.fill(-phi.background.abs());
        }
    });
    out
}

/// Signed distance of the voxels next to the interface; ±[`UNREACHED`] elsewhere.
fn interface_distance(phi: &Grid<f32>, crossing: &VoxelMask, h: f32) -> Grid<f32> {
    let mut out = Grid::new(phi.topology.clone(), phi.background);
    out.values.par_chunks_mut(leaf::SIZE).enumerate().for_each_init(Vec::new, |block, (l, out)| {
        let values = &phi.values[l * leaf::SIZE..][..leaf::SIZE];
        let sign = |value: f32| if is_inside(value) { -1.0 } else { 1.0 };
        out.iter_mut().zip(values).for_each(|(out, &value)| *out = sign(value) * UNREACHED);
        if *crossing.words(l) == [0; 8] {
            return;
        }
        halo::gather::<1, _>(&phi.topology, &phi.values, l, MISSING, block);
        for n in offsets(crossing.words(l)) {
            let at = halo::index(1, leaf::local(n));
            out[n] = sign(values[n]) * distance_at_interface(block, at, h).unwrap_or(UNREACHED);
        }
    });
    out
}

/// |φ|/|∇φ| of a voxel with a neighbour of the other sign, and never more than the distance to the zero
/// along an axis. Differences are central where φ is monotone and the steeper one-sided difference where
/// it is not (an interface on both sides), so that thin films keep their thickness.
fn distance_at_interface(block: &[f32], at: usize, h: f32) -> Option<f32> {
    let phi = block[at];
    let mut slope2 = 0.0;
    let mut along_axis = UNREACHED;
    for stride in halo::strides(1) {
        let (below, above) = (block[at - stride], block[at + stride]);
        for beyond in [below, above] {
            if !beyond.is_nan() && is_inside(beyond) != is_inside(phi) {
                along_axis = along_axis.min(h * phi.abs() / (phi - beyond).abs());
            }
        }
        let (back, front) = (phi - below, above - phi);
        let monotone = back * front > 0.0;
        // `max` ignores a missing neighbour's NaN, so the other side's difference is used.
        let slope = if monotone { 0.5 * (back + front) } else { back.abs().max(front.abs()).max(0.0) };
        slope2 += slope * slope;
    }
    (along_axis < UNREACHED).then(|| along_axis.min(h * phi.abs() / slope2.sqrt()))
}

#[cfg(test)]
mod tests;
