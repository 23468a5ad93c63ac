//! How much of their volumes liquids claim twice.
//!
//! A level set is built from a liquid's own particles. Where two liquids are mixed finer than a voxel, both of theirs reach around the
//! same cells, and their volumes sum up to more than there is. A liquid that took that for its own volume would pull its particles
//! together until the other were gone from between them.

use super::join::{Lattice, inside};
use crate::coupling::fields::LiquidFields;
use crate::grid::rows::Rows;
use crate::grid::{FaceGrid, leaf};
use crate::levelset::open_volume;
use rayon::prelude::*;

/// What the liquids claim, in cells. A cell is contested where several claim some of it.
#[derive(Clone)]
struct Claims {
    /// Of each liquid.
    all: Vec<f64>,
    /// Of each liquid, in contested cells.
    contested: Vec<f64>,
    /// More than contested cells have room for.
    beyond: f64,
    /// The same, less what is left free in others of them.
    net: f64,
}

impl Claims {
    /// What is claimed twice.
    fn twice(&self) -> f64 {
        self.net.max(0.0)
    }
}

/// What several liquids claim twice.
pub(super) struct Overlap {
    /// The volume, m³, that each claims of what others fill: what is claimed twice is taken from those that are the most beyond
    /// their rest volumes.
    pub(super) of_each: Vec<f64>,
    /// Part of what cells claim beyond their room that is real: as far as it is missing from their rest volumes, the liquids lie in
    /// one another. The rest is mixed finer than a voxel.
    pub(super) real: f32,
}

impl Overlap {
    /// Finds it. With V what the liquids claim and V₀ what they should have, all of them together and in cells:
    ///
    /// ```text
    /// missing = Σ V₀ − (Σ V − net)      what all of them fill is Σ V − net
    /// real    = 1 − (net − missing) / beyond
    /// ```
    /// `left`: share of each face that solids leave open.
    pub(super) fn find(liquids: &[LiquidFields], lattice: &Lattice, left: &FaceGrid<f32>) -> Self {
        let cell = liquids.first().map_or(1.0, |liquid| liquid.voxel_size()).powi(3);
        let claims = claims(liquids, lattice, left);
        let rest: Vec<f64> = liquids.iter().map(|liquid| liquid.rest_volume / cell).collect();
        let missing = rest.iter().sum::<f64>() - claims.all.iter().sum::<f64>() + claims.net;
        let mixed = (claims.twice() - missing.max(0.0)).max(0.0);
        let real = if mixed > 0.0 { 1.0 - (mixed / claims.beyond).min(1.0) } else { 1.0 };
        let of_each = share_out(&claims, &rest).iter().map(|share| share * cell).collect();
        Self { of_each, real: real as f32 }
    }
}

/// Sums the claims leaf by leaf.
fn claims(liquids: &[LiquidFields], lattice: &Lattice, left: &FaceGrid<f32>) -> Claims {
    let count = liquids.len();
    let topology = &lattice.surface.topology;
    let none = Claims { all: vec![0.0; count], contested: vec![0.0; count], beyond: 0.0, net: 0.0 };
    let sprays: Vec<_> = liquids.iter().map(|liquid| Some(liquid.cells.spray?.on(topology))).collect();
    let of_leaf = |l: usize| {
        let mut claims = none.clone();
        let open = Rows::faces(left, topology.origins()[l]);
        let mut own = vec![0.0; count];
        let is_full = |slot: usize| lattice.surface.values[slot] <= -0.5 * lattice.h;
        for n in 0..leaf::SIZE {
            let slot = l * leaf::SIZE + n;
            for (i, own) in own.iter_mut().enumerate() {
                let spray = sprays[i].as_ref().map_or(0.0, |spray| spray.values[slot]);
                *own = inside(lattice.each[i].values[slot], lattice.h) + spray;
            }
            if own.iter().all(|&share| share == 0.0) {
                continue;
            }
            let room = f64::from(open_volume(std::array::from_fn(|a| {
                [open[a].at(n), open[a].at_behind(n, 2 * a + 1)]
            })));
            let several = own.iter().filter(|share| **share > 0.0).count() > 1;
            for (i, &share) in own.iter().enumerate() {
                claims.all[i] += room * f64::from(share);
                claims.contested[i] += if several { room * f64::from(share) } else { 0.0 };
            }
            let sum: f64 = own.iter().map(|&share| f64::from(share)).sum();
            if several {
                claims.beyond += room * (sum - 1.0).max(0.0);
                // Where air has some of it, a cell need not be full.
                claims.net += if sum > 1.0 || is_full(slot) { room * (sum - 1.0) } else { 0.0 };
            }
        }
        claims
    };
    let leaves: Vec<Claims> = (0..topology.len()).into_par_iter().map(of_leaf).collect();
    leaves.into_iter().fold(none, |mut sum, leaf| {
        sum.all.iter_mut().zip(&leaf.all).for_each(|(sum, own)| *sum += own);
        sum.contested.iter_mut().zip(&leaf.contested).for_each(|(sum, own)| *sum += own);
        sum.beyond += leaf.beyond;
        sum.net += leaf.net;
        sum
    })
}

/// Shares of what is claimed twice: max(0, V − (1 + x) V₀) of each, at most what it has in contested cells, with the x for which
/// they sum up to it.
fn share_out(claims: &Claims, rest: &[f64]) -> Vec<f64> {
    let at = |x: f64| -> Vec<f64> {
        let own = |i: usize| (claims.all[i] - (1.0 + x) * rest[i]).clamp(0.0, claims.contested[i]);
        (0..rest.len()).map(|i| if rest[i] > 0.0 { own(i) } else { 0.0 }).collect()
    };
    let twice = claims.twice();
    if twice <= 0.0 {
        return vec![0.0; rest.len()];
    }
    // All of it at -1, nothing at the largest excess.
    let most =
        claims.all.iter().zip(rest).filter(|(_, rest)| **rest > 0.0).map(|(all, rest)| all / rest - 1.0);
    let (mut low, mut high) = (-1.0, most.fold(0.0, f64::max));
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        match at(middle).iter().sum::<f64>() > twice {
            true => low = middle,
            false => high = middle,
        }
    }
    at(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(all: [f64; 2], contested: [f64; 2], twice: f64, rest: [f64; 2]) -> Vec<f64> {
        let claims = Claims { all: all.to_vec(), contested: contested.to_vec(), beyond: twice, net: twice };
        share_out(&claims, &rest)
    }

    #[test]
    fn what_is_claimed_twice_is_taken_from_who_has_too_much() {
        let near = |found: Vec<f64>, expected: [f64; 2]| {
            let off = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-9, "{found:?}, not {expected:?}");
        };
        // Mixed finer than a voxel: each claims all of the cells that both fill.
        near(shared([10.0, 10.0], [10.0, 10.0], 10.0, [5.0, 5.0]), [5.0, 5.0]);
        // Both in one place, which has room for one: neither has its volume.
        near(shared([5.0, 5.0], [5.0, 5.0], 5.0, [5.0, 5.0]), [2.5, 2.5]);
        // A drop that is dispersed in a pool.
        near(shared([99.0, 4.0], [4.0, 4.0], 3.0, [99.0, 1.0]), [0.0, 3.0]);
        // No more than it has there.
        near(shared([9.0, 9.0], [1.0, 9.0], 3.0, [1.0, 9.0]), [1.0, 2.0]);
        near(shared([9.0, 9.0], [0.0, 0.0], 0.0, [1.0, 9.0]), [0.0, 0.0]);
    }
}
