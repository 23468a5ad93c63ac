//! A body with a sparse mass on one level of the hierarchy, and its way to the next level: a membrane.
//!
//! Its degrees of freedom are coarsened with the cells. Those whose middles lie in one coarse cell become at most four, one
//! for each way in which a smooth pressure can push them: a gradient e_a moves a degree of freedom j with the first moments
//! m_j by q_j = m_ja / M_jj, where springs are left out, and a mean pressure by Σ c / M_jj. With the columns q as Q,
//!
//! ```text
//! C' = Pᵀ C Q,    M' = Qᵀ M Q
//! ```
//!
//! The energy xᵀ C' M'⁻¹ C'ᵀ x is that of C M⁻¹ Cᵀ for motions in the range of Q, and never more.

use super::aggregation::{Aggregation, Parent};
use super::body::{Name, name, parent};
use super::level::Level;
use crate::checkerboard::offset;
use crate::leaf;
use crate::low_rank::{LowRank, Weight};

/// A combination of gradients that pushes a group this much less than another does, in energy, is left out of Q: a plane
/// is pushed along its normal alone, whatever rounding says of the other directions.
const FLAT: f64 = 1e-2;

/// A body with a sparse mass on one level.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// Degrees of freedom.
    pub size: usize,
    /// M: (row, column, value), row ≥ column, sorted, each place once.
    pub mass: Vec<(u32, u32, f64)>,
    /// (cell, degree of freedom, entry of C), sorted, each place once.
    pub cells: Vec<(Name, u32, f64)>,
    /// (super-cell, degree of freedom, entry of C), sorted, each place once.
    pub supers: Vec<(u32, u32, f64)>,
    /// Per degree of freedom: its middle, in cells of the level.
    pub middle: Vec<[f64; 3]>,
    /// Per degree of freedom: Σ c (position − middle), in cells of the finest level, and Σ c.
    pub moments: Vec<[f64; 4]>,
}

impl Sheet {
    /// A low-rank term as a sheet, if its weight is the inverse of a sparse matrix.
    pub fn new(term: &LowRank, level: &Level) -> Option<Self> {
        let Weight::Inverse(factor) = &term.weight else { return None };
        let size = term.columns.len();
        let (mut cells, mut supers) = (Vec::new(), Vec::new());
        let (mut middle, mut moments) = (vec![[0.0; 3]; size], vec![[0.0; 4]; size]);
        for (j, column) in term.columns.iter().enumerate() {
            let place = |l: u32, c: u8, r: u8, k: u8| {
                let at = leaf::local(offset(c.into(), r.into(), k.into()));
                [0, 1, 2].map(|a| f64::from(level.origins[l as usize][a] + at[a]) + 0.5)
            };
            let total: f64 = column.cells.iter().map(|e| e.4.abs()).sum();
            // Without cells it has no place, and no moments.
            for &(l, c, r, k, w) in &column.cells {
                cells.push(((c, l, r * 4 + k), j as u32, w));
                let at = place(l, c, r, k);
                (0..3).for_each(|a| middle[j][a] += w.abs() / total * at[a]);
            }
            for &(l, c, r, k, w) in &column.cells {
                let at = place(l, c, r, k);
                (0..3).for_each(|a| moments[j][a] += w * (at[a] - middle[j][a]));
                moments[j][3] += w;
            }
            supers.extend(column.supers.iter().map(|&(b, w)| (b, j as u32, w)));
        }
        let (cells, supers) = (summed(cells), summed(supers));
        Some(Self { size, mass: factor.matrix.clone(), cells, supers, middle, moments })
    }

    /// The sheet on the next coarser level.
    pub fn coarsen(&self, map: &Aggregation) -> Self {
        let Groups { rows, middle, moments } = self.groups();
        let pairs = |i: u32, j: u32, v: f64| {
            let (one, other) = (&rows[i as usize], &rows[j as usize]);
            one.iter().flat_map(move |&(a, p)| other.iter().map(move |&(b, q)| (a, b, p * v * q)))
        };
        let mass = self.mass.iter().flat_map(|&(i, j, v)| {
            let turned = (i != j).then(|| pairs(j, i, v)).into_iter().flatten();
            pairs(i, j, v).chain(turned).filter(|e| e.0 >= e.1)
        });
        let mass = summed(mass.collect());
        let spread = |j: u32, c: f64| rows[j as usize].iter().map(move |&(to, q)| (to, c * q));
        let mut cells: Vec<(Name, u32, f64)> = Vec::new();
        for &(cell, j, c) in &self.cells {
            let cell = parent(map, cell);
            cells.extend(spread(j, c).map(|(j, c)| (cell, j, c)));
        }
        let mut supers = Vec::new();
        for &(b, j, c) in &self.supers {
            match map.supers[b as usize] {
                Parent::Super(p) => supers.extend(spread(j, c).map(|(j, c)| (p, j, c))),
                Parent::Cell(l, n) => {
                    cells.extend(spread(j, c).map(|(j, c)| (name(l, n.into()), j, c)));
                }
            }
        }
        Self { size: middle.len(), mass, cells: summed(cells), supers: summed(supers), middle, moments }
    }

    /// Q. What pushes no cell is left out.
    fn groups(&self) -> Groups {
        let diagonal = diagonal(self.size, &self.mass);
        let home = |j: usize| self.middle[j].map(|x| (0.5 * x).floor() as i32);
        let moves = |j: &usize| self.moments[*j].iter().any(|&m| m != 0.0);
        let mut order: Vec<usize> = (0..self.size).filter(moves).collect();
        order.sort_by_key(|&j| (home(j), j));
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); self.size];
        let (mut middle, mut moments) = (Vec::new(), Vec::new());
        for group in order.chunk_by(|&i, &j| home(i) == home(j)) {
            let product = |a: usize, b: usize| -> f64 {
                group.iter().map(|&j| self.moments[j][a] * self.moments[j][b] / diagonal[j]).sum()
            };
            let gram: [[f64; 4]; 4] = std::array::from_fn(|a| std::array::from_fn(|b| product(a, b)));
            let weight = |j: usize| self.moments[j].iter().map(|m| m * m).sum::<f64>() / diagonal[j];
            let total: f64 = group.iter().map(|&j| weight(j)).sum();
            let centre = [0, 1, 2]
                .map(|a| group.iter().map(|&j| 0.5 * weight(j) * self.middle[j][a]).sum::<f64>() / total);
            for direction in directions(gram) {
                let number = middle.len() as u32;
                let mut moment = [0.0; 4];
                for &j in group {
                    let q = (0..4).map(|a| direction[a] * self.moments[j][a]).sum::<f64>() / diagonal[j];
                    rows[j].push((number, q));
                    (0..4).for_each(|a| moment[a] += q * self.moments[j][a]);
                }
                middle.push(centre);
                moments.push(moment);
            }
        }
        Groups { rows, middle, moments }
    }
}

/// Degrees of freedom as the next level has them.
struct Groups {
    /// Q by rows.
    rows: Vec<Vec<(u32, f64)>>,
    /// Per column: its middle there.
    middle: Vec<[f64; 3]>,
    /// Per column: its moments.
    moments: Vec<[f64; 4]>,
}

/// The diagonal of a matrix.
pub fn diagonal(size: usize, entries: &[(u32, u32, f64)]) -> Vec<f64> {
    let mut out = vec![0.0; size];
    entries.iter().filter(|e| e.0 == e.1).for_each(|e| out[e.0 as usize] = e.2);
    out
}

/// Entries (row, column, value), sorted, with equal places summed and zeros left out.
pub fn summed<T: Copy + Ord>(mut entries: Vec<(T, u32, f64)>) -> Vec<(T, u32, f64)> {
    entries.sort_by_key(|e| (e.0, e.1));
    entries.dedup_by(|next, kept| {
        let same = (next.0, next.1) == (kept.0, kept.1);
        if same {
            kept.2 += next.2;
        }
        same
    });
    entries.retain(|e| e.2 != 0.0);
    entries
}

/// Combinations of the four whose pushes are orthonormal in this Gram matrix, without those that hardly
/// push.
fn directions(gram: [[f64; 4]; 4]) -> Vec<[f64; 4]> {
    let product = |u: &[f64; 4], v: &[f64; 4]| -> f64 {
        (0..16).map(|e| u[e / 4] * gram[e / 4][e % 4] * v[e % 4]).sum()
    };
    let mut left: Vec<[f64; 4]> =
        (0..4).map(|a| std::array::from_fn(|b| f64::from(u8::from(a == b)))).collect();
    let largest = (0..4).map(|a| gram[a][a]).fold(0.0, f64::max);
    let mut out: Vec<[f64; 4]> = Vec::new();
    while let Some(at) = (0..left.len())
        .rev()
        .max_by(|&i, &j| product(&left[i], &left[i]).total_cmp(&product(&left[j], &left[j])))
    {
        let v = left.swap_remove(at);
        let size = product(&v, &v);
        if size <= FLAT * largest {
            break;
        }
        let unit = v.map(|x| x / size.sqrt());
        for w in &mut left {
            let along = product(w, &unit);
            (0..4).for_each(|a| w[a] -= along * unit[a]);
        }
        out.push(unit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkerboard::place;
    use crate::conjugate_gradients::LowRankColumn;
    use crate::multigrid::coarsen::{coarsen, neighbours};
    use crate::multigrid::level::Contacts;
    use crate::sparse::SparseFactor;
    use std::sync::Arc;

    /// xᵀ C M⁻¹ Cᵀ x of values by cell.
    fn energy(sheet: &Sheet, x: impl Fn(Name) -> f64) -> f64 {
        let factor = SparseFactor::new(sheet.size, &sheet.mass).expect("positive definite");
        let mut pushed = vec![0.0; sheet.size];
        sheet.cells.iter().for_each(|&(cell, j, c)| pushed[j as usize] += c * x(cell));
        let mut moved = vec![0.0; sheet.size];
        factor.solve(&pushed, &mut moved);
        moved.iter().zip(&pushed).map(|(m, p)| m * p).sum()
    }

    fn random(seed: u64) -> f64 {
        let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// A sheet between the layers y = 3 and y = 4 of a leaf, two points a cell, with springs between them.
    fn sheet(spring: f64) -> (Level, Sheet) {
        let mut level = Level { origins: vec![[0; 3]], ..Level::default() };
        level.neighbours = neighbours(&level.origins);
        for field in &mut level.faces {
            crate::checkerboard::reset(field, 1);
            field.iter_mut().for_each(|half| half[0] = [[1.0; 4]; 64]);
        }
        level.contacts = Contacts::new(&[Vec::new()], 0);
        level.finish();
        let cell = |x: i32, y: i32, z: i32, c: f64| {
            let (colour, row, lane) = place(leaf::offset(x, y, z));
            (0, colour as u8, row as u8, lane as u8, c)
        };
        let column = |n: i32| {
            let (x, z, share) = (n / 16, n / 2 % 8, 0.3 + 0.4 * f64::from(n % 2));
            LowRankColumn { cells: vec![cell(x, 3, z, share), cell(x, 4, z, -share)], supers: vec![] }
        };
        let mut mass: Vec<(u32, u32, f64)> = (0..128).map(|i| (i, i, 0.3 + 0.4 * f64::from(i % 2))).collect();
        for i in (1..128).filter(|i| i % 16 != 0) {
            mass.extend([(i, i, spring), (i - 1, i - 1, spring), (i, i - 1, -spring)]);
        }
        let weight = Weight::Inverse(Arc::new(SparseFactor::new(128, &mass).expect("positive definite")));
        let term = LowRank { columns: (0..128).map(column).collect(), weight };
        let sheet = Sheet::new(&term, &level).expect("a sheet");
        (level, sheet)
    }

    #[test]
    fn a_coarse_sheet_is_never_lighter_and_the_same_where_every_point_moves_alike() {
        for spring in [0.0, 0.1, 10.0] {
            let (level, fine) = sheet(spring);
            let (_, map) = coarsen(&level, &mut Vec::new(), &mut Vec::new());
            let coarse = fine.coarsen(&map);
            assert!(coarse.size < fine.size / 4, "{} degrees of freedom", coarse.size);
            for seed in 0..20 {
                let value = |n: Name| random(seed << 32 | u64::from(n.0) << 16 | u64::from(n.2));
                let (before, after) = (energy(&fine, |n| value(parent(&map, n))), energy(&coarse, value));
                assert!(after <= before * (1.0 + 1e-9), "{after} of {before}");
                if spring == 0.0 {
                    assert!((after - before).abs() <= 1e-9 * before, "{after} of {before}");
                }
            }
        }
    }
}
