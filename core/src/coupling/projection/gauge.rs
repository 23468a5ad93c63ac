//! The freedoms of a pressure: in a closed volume it is determined up to a constant, unless a body that it moves joins the
//! volume to others.

use crate::coupling::air::volumes::ClosedVolume;
use crate::pressure::{Outflow, changes};

/// The outflow of a body's degree of freedom into whole regions, m³/s per unit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Net {
    /// Sum of the absolute values of all its entries.
    pub(crate) all: f64,
    /// (connected liquid, outflow).
    pub(crate) liquid: Vec<(usize, f64)>,
    /// (air region, outflow).
    pub(crate) air: Vec<(usize, f64)>,
}

impl Net {
    /// Of a motion, `by` how much of each degree of freedom.
    pub(crate) fn sum(nets: &[Self], by: &[f64]) -> Self {
        let mut sum = Self::default();
        for (net, by) in nets.iter().zip(by).filter(|(_, by)| **by != 0.0) {
            sum.all += by.abs() * net.all;
            sum.liquid.extend(net.liquid.iter().map(|&(n, v)| (n, by * v)));
            sum.air.extend(net.air.iter().map(|&(n, v)| (n, by * v)));
        }
        sum
    }

    /// Net outflow into each closed volume.
    fn into(&self, closed: &[ClosedVolume]) -> Outflow {
        let of = |list: &[(usize, f64)], members: &[usize]| -> f64 {
            list.iter().filter(|(n, _)| members.binary_search(n).is_ok()).map(|(_, v)| v).sum()
        };
        let net = closed.iter().map(|v| of(&self.liquid, &v.liquids) + of(&self.air, &v.air));
        (net.collect(), self.all)
    }
}

/// The constants that the pressures of closed volumes leave free: all combinations z of one constant per volume for
/// which no body is moved, G z = 0, where G holds the net outflow of each degree of freedom into each volume.
#[derive(Clone, Debug)]
pub(crate) struct Gauge {
    /// Volumes whose constant is chosen; those of all others follow.
    free: Vec<bool>,
    /// An orthonormal basis of the rows of G.
    held: Vec<Vec<f64>>,
}

impl Gauge {
    /// Of the closed volumes among bodies.
    pub(crate) fn of(closed: &[ClosedVolume], nets: &[Net]) -> Self {
        let held = changes(nets.iter().map(|net| net.into(closed)));
        // A volume with air can have its constant chosen by leaving out a row, so volumes without go first.
        let mut order: Vec<usize> = (0..closed.len()).collect();
        order.sort_by_key(|&v| !closed[v].air.is_empty());
        let mut free = vec![true; closed.len()];
        pivots(held.clone(), &order).into_iter().for_each(|v| free[v] = false);
        Self { free, held }
    }

    /// The volumes whose constant is chosen.
    pub(crate) fn chosen<'c>(&self, closed: &'c [ClosedVolume]) -> impl Iterator<Item = &'c ClosedVolume> {
        closed.iter().zip(self.free.clone()).filter(|(_, free)| *free).map(|(volume, _)| volume)
    }

    /// The part of what is prescribed to each volume that no velocity can remove.
    pub(crate) fn left(&self, mut totals: Vec<f64>) -> Vec<f64> {
        for q in &self.held {
            let along: f64 = q.iter().zip(&totals).map(|(q, t)| q * t).sum();
            totals.iter_mut().zip(q).for_each(|(left, q)| *left -= along * q);
        }
        totals
    }
}

/// Columns in which unit rows are independent, as many as there are rows: of those that will do, the first in an order.
fn pivots(mut rows: Vec<Vec<f64>>, order: &[usize]) -> Vec<usize> {
    // A unit row has a column that is a thousand times as large, and what is left is brought back to length 1.
    let least = 1e-3 / (order.len() as f64).sqrt();
    let mut pivots = Vec::new();
    while !rows.is_empty() {
        let found = order.iter().find_map(|&c| Some((c, rows.iter().position(|row| row[c].abs() > least)?)));
        let Some((column, row)) = found else { break };
        let base = rows.remove(row);
        for row in &mut rows {
            let times = row[column] / base[column];
            row.iter_mut().zip(&base).for_each(|(v, b)| *v -= times * b);
            row[column] = 0.0;
            let length = row.iter().map(|v| v * v).sum::<f64>().sqrt();
            row.iter_mut().for_each(|v| *v /= length);
        }
        pivots.push(column);
    }
    pivots
}

#[cfg(test)]
mod tests {
    use super::*;

    fn volume(air: usize) -> ClosedVolume {
        ClosedVolume { liquids: vec![air], air: vec![air] }
    }

    fn net(air: &[(usize, f64)]) -> Net {
        Net { all: air.iter().map(|(_, v)| v.abs()).sum(), air: air.to_vec(), ..Net::default() }
    }

    #[test]
    fn a_piston_between_two_volumes_leaves_one_constant() {
        let closed = [volume(0), volume(1), volume(2)];
        let gauge = Gauge::of(&closed, &[net(&[(0, 0.5), (1, -0.5)])]);
        assert_eq!(gauge.chosen(&closed).collect::<Vec<_>>(), [&closed[1], &closed[2]]);
        let left = gauge.left(vec![1.0, 0.0, 3.0]);
        // What is pressed into the first flows on into the second: half each.
        for (left, expected) in left.iter().zip([0.5, 0.5, 3.0]) {
            assert!((left - expected).abs() < 1e-12, "{left} {expected}");
        }
        // Out of one volume alone, a piston takes whatever is prescribed.
        let gauge = Gauge::of(&closed[..1], &[net(&[(0, 0.5)])]);
        assert_eq!((gauge.chosen(&closed[..1]).count(), gauge.left(vec![7.0])), (0, vec![0.0]));
    }

    #[test]
    fn a_body_that_floats_in_a_volume_leaves_its_constant_however_small_it_is() {
        let closed = [volume(0)];
        let floats = Net { all: 1e-9, liquid: vec![(0, 5e-10)], air: vec![(0, -5e-10 + 1e-16)] };
        let gauge = Gauge::of(&closed, &[floats, net(&[(5, 1e3)])]);
        assert_eq!(gauge.left(vec![2.0]), [2.0]);
        // A tiny piston counts as much as a large one.
        let tiny = Net { all: 1e-12, liquid: vec![(0, 1e-12)], ..Net::default() };
        assert_eq!(Gauge::of(&closed, &[tiny]).left(vec![2.0]), [0.0]);
    }
}
