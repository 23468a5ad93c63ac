//! The freedoms of a pressure: in a closed volume it is determined up to a constant, unless a body that it moves joins the
//! volume to others.

use crate::coupling::air::volumes::ClosedVolume;

/// Share of what a degree of freedom moves that must remain in sum, so that it changes a volume.
const LEAST_NET: f64 = 1e-5;

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

    /// Net outflow into a closed volume, as a share of all that the degree of freedom moves.
    fn share_in(&self, volume: &ClosedVolume) -> f64 {
        let of = |list: &[(usize, f64)], members: &[usize]| -> f64 {
            list.iter().filter(|(n, _)| members.binary_search(n).is_ok()).map(|(_, v)| v).sum()
        };
        let net = of(&self.liquid, &volume.liquids) + of(&self.air, &volume.air);
        if self.all > 0.0 { net / self.all } else { 0.0 }
    }
}

/// The constants that the pressures of closed volumes leave free: all combinations z of one constant per volume for
/// which no body is moved, G z = 0, where G holds the net outflow of each degree of freedom into each volume.
#[derive(Clone, Debug)]
pub(crate) struct Gauge {
    /// Volumes whose constant is chosen; those of all others follow.
    free: Vec<bool>,
    /// An orthonormal basis of the free combinations; `None`: every volume by itself.
    basis: Option<Vec<Vec<f64>>>,
}

impl Gauge {
    /// Of the closed volumes among bodies.
    pub(crate) fn of(closed: &[ClosedVolume], nets: &[Net]) -> Self {
        let row = |net: &Net| -> Vec<f64> { closed.iter().map(|v| net.share_in(v)).collect() };
        let moving = |row: &Vec<f64>| row.iter().any(|v| v.abs() > LEAST_NET);
        let rows: Vec<Vec<f64>> = nets.iter().map(row).filter(moving).collect();
        if rows.is_empty() {
            return Self { free: vec![true; closed.len()], basis: None };
        }
        // A volume with air can have its constant chosen by leaving out a row, so volumes without go first.
        let mut order: Vec<usize> = (0..closed.len()).collect();
        order.sort_by_key(|&v| !closed[v].air.is_empty());
        let (reduced, pivots) = reduce(rows, &order);
        let mut free = vec![true; closed.len()];
        pivots.iter().for_each(|&v| free[v] = false);
        let direction = |v: usize| {
            let mut z = vec![0.0; closed.len()];
            z[v] = 1.0;
            pivots.iter().zip(&reduced).for_each(|(&p, row)| z[p] = -row[v]);
            z
        };
        let basis = orthonormal((0..closed.len()).filter(|&v| free[v]).map(direction).collect());
        Self { free, basis: Some(basis) }
    }

    /// The volumes whose constant is chosen.
    pub(crate) fn chosen<'c>(&self, closed: &'c [ClosedVolume]) -> impl Iterator<Item = &'c ClosedVolume> {
        closed.iter().zip(self.free.clone()).filter(|(_, free)| *free).map(|(volume, _)| volume)
    }

    /// The part of what is prescribed to each volume that no velocity can remove.
    pub(crate) fn left(&self, totals: Vec<f64>) -> Vec<f64> {
        let Some(basis) = &self.basis else { return totals };
        let mut left = vec![0.0; totals.len()];
        for z in basis {
            let along: f64 = z.iter().zip(&totals).map(|(z, t)| z * t).sum();
            left.iter_mut().zip(z).for_each(|(left, z)| *left += along * z);
        }
        left
    }
}

/// Reduces rows so that each has a 1 in a column where all others have 0, columns taken in an order. Returns the rows and
/// these columns.
fn reduce(mut rows: Vec<Vec<f64>>, order: &[usize]) -> (Vec<Vec<f64>>, Vec<usize>) {
    let mut pivots = Vec::new();
    for &column in order {
        let done = pivots.len();
        let largest =
            (done..rows.len()).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()));
        let Some(row) = largest.filter(|&r| rows[r][column].abs() > LEAST_NET) else { continue };
        rows.swap(done, row);
        let pivot = rows[done][column];
        rows[done].iter_mut().for_each(|v| *v /= pivot);
        let base = rows[done].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(r, _)| *r != done) {
            let times = row[column];
            row.iter_mut().zip(&base).for_each(|(v, b)| *v -= times * b);
        }
        pivots.push(column);
    }
    rows.truncate(pivots.len());
    (rows, pivots)
}

/// Gram and Schmidt's way, twice.
fn orthonormal(directions: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for mut z in directions {
        for _ in 0..2 {
            for b in &basis {
                let along = dot(b, &z);
                z.iter_mut().zip(b).for_each(|(z, b)| *z -= along * b);
            }
        }
        let length = dot(&z, &z).sqrt();
        z.iter_mut().for_each(|z| *z /= length);
        basis.push(z);
    }
    basis
}

#[cfg(test)]
mod tests {
    use super::*;

    fn volume(air: usize) -> ClosedVolume {
        ClosedVolume { liquids: vec![air], air: vec![air] }
    }

    fn net(air: &[(usize, f64)]) -> Net {
        Net { all: air.iter().map(|(_, v)| v.abs()).sum(), liquid: Vec::new(), air: air.to_vec() }
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
        let tiny = Net { all: 1e-12, liquid: vec![(0, 1e-12)], air: Vec::new() };
        assert_eq!(Gauge::of(&closed, &[tiny]).left(vec![2.0]), [0.0]);
    }
}
