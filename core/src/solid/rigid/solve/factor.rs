//! Symmetric positive definite matrices of 6 × 6 blocks, one row of them a body, and their sparse Cholesky factors.

use std::collections::BTreeSet;

/// A block, by rows.
pub(super) type Block = [[f64; 6]; 6];
/// What a body has of a vector.
pub(super) type Six = [f64; 6];

const ZERO: Block = [[0.0; 6]; 6];

/// Which blocks a factor has. Bodies are eliminated in the order of least degree.
pub(super) struct Pattern {
    /// Per body, when it is eliminated.
    place: Vec<usize>,
    /// Per place, the later ones that its column has blocks of, in their order.
    columns: Vec<Vec<usize>>,
    /// Per place, the number of its first block below the diagonal.
    start: Vec<usize>,
}

impl Pattern {
    /// Of some bodies, where `pairs` touch. `None` where a factorization takes more than about `most` multiplications.
    pub fn new(count: usize, pairs: impl Iterator<Item = [usize; 2]>, most: f64) -> Option<Self> {
        let mut beside = vec![BTreeSet::new(); count];
        for [a, b] in pairs {
            beside[a].insert(b);
            beside[b].insert(a);
        }
        let mut left: BTreeSet<(usize, usize)> = (0..count).map(|n| (beside[n].len(), n)).collect();
        let (mut place, mut later) = (vec![0; count], Vec::with_capacity(count));
        let mut work = 0.0;
        while let Some((degree, next)) = left.pop_first() {
            work += 108.0 * ((degree + 1) as f64).powi(2);
            if work > most {
                return None;
            }
            place[next] = later.len();
            let around = std::mem::take(&mut beside[next]);
            for &a in &around {
                left.remove(&(beside[a].len(), a));
                beside[a].remove(&next);
                beside[a].extend(around.iter().filter(|&&b| b != a));
                left.insert((beside[a].len(), a));
            }
            later.push(around);
        }
        let column = |bodies: BTreeSet<usize>| {
            let mut column: Vec<usize> = bodies.into_iter().map(|n| place[n]).collect();
            column.sort_unstable();
            column
        };
        let columns: Vec<Vec<usize>> = later.into_iter().map(column).collect();
        let start = columns.iter().scan(0, |sum, c| Some(std::mem::replace(sum, *sum + c.len()))).collect();
        Some(Self { place, columns, start })
    }

    /// The number of the block of two bodies that touch, and whether the first is its row.
    pub fn block(&self, a: usize, b: usize) -> Option<(usize, bool)> {
        let (p, q) = (self.place[a], self.place[b]);
        let (column, row) = (p.min(q), p.max(q));
        let k = self.columns[column].binary_search(&row).ok()?;
        Some((self.start[column] + k, p > q))
    }

    /// A matrix of zeros.
    pub fn zeros(&self) -> Matrix {
        let below = self.columns.iter().map(Vec::len).sum();
        Matrix { diagonal: vec![ZERO; self.place.len()], below: vec![ZERO; below] }
    }

    /// Factors a matrix in place: A = L Lᵀ. `None` where it is not positive definite, or not finite.
    pub fn factor<'a>(&'a self, mut matrix: Matrix) -> Option<Factor<'a>> {
        let mut inverse = Vec::with_capacity(self.place.len());
        for (p, column) in self.columns.iter().enumerate() {
            let lower = inverse_of_factor(&matrix.diagonal[p])?;
            let own = self.start[p]..self.start[p] + column.len();
            // L of the column: A L⁻ᵀ.
            let turned = transposed(&lower);
            matrix.below[own.clone()].iter_mut().for_each(|block| *block = times(block, &turned));
            for (k, &q) in column.iter().enumerate() {
                let left = matrix.below[own.start + k];
                let turned = transposed(&left);
                subtract(&mut matrix.diagonal[q], &left, &turned);
                let mut at = 0;
                for (m, r) in column.iter().enumerate().skip(k + 1) {
                    // Both are sorted.
                    at += self.columns[q][at..].iter().take_while(|c| *c < r).count();
                    let right = matrix.below[own.start + m];
                    subtract(&mut matrix.below[self.start[q] + at], &right, &turned);
                }
            }
            inverse.push(lower);
        }
        Some(Factor { pattern: self, inverse, below: matrix.below })
    }
}

/// A matrix with a pattern.
pub(super) struct Matrix {
    /// Per place.
    diagonal: Vec<Block>,
    /// What stands below.
    below: Vec<Block>,
}

impl Matrix {
    /// Adds to the block on the diagonal of a body.
    pub fn add(&mut self, pattern: &Pattern, body: usize, block: &Block) {
        plus(&mut self.diagonal[pattern.place[body]], block);
    }

    /// Adds to a block below it.
    pub fn add_below(&mut self, number: usize, block: &Block) {
        plus(&mut self.below[number], block);
    }
}

/// A factored matrix.
pub(super) struct Factor<'a> {
    pattern: &'a Pattern,
    /// Inverse of the factor's blocks on the diagonal.
    inverse: Vec<Block>,
    below: Vec<Block>,
}

impl Factor<'_> {
    /// A⁻¹ b, in the order of the bodies.
    pub fn solve(&self, b: &[Six]) -> Vec<Six> {
        let Pattern { place, columns, start } = self.pattern;
        let mut x = vec![[0.0; 6]; b.len()];
        place.iter().zip(b).for_each(|(&p, b)| x[p] = *b);
        for (p, column) in columns.iter().enumerate() {
            x[p] = by(&self.inverse[p], &x[p]);
            let own = x[p];
            for (k, &q) in column.iter().enumerate() {
                let less = by(&self.below[start[p] + k], &own);
                (0..6).for_each(|i| x[q][i] -= less[i]);
            }
        }
        for (p, column) in columns.iter().enumerate().rev() {
            for (k, &q) in column.iter().enumerate() {
                let less = by_transposed(&self.below[start[p] + k], &x[q]);
                (0..6).for_each(|i| x[p][i] -= less[i]);
            }
            x[p] = by_transposed(&self.inverse[p], &x[p]);
        }
        place.iter().map(|&p| x[p]).collect()
    }
}

fn plus(to: &mut Block, block: &Block) {
    for (to, more) in to.iter_mut().zip(block) {
        (0..6).for_each(|j| to[j] += more[j]);
    }
}

fn transposed(a: &Block) -> Block {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i]))
}

/// A row times B: a processor takes several columns at once.
#[inline(always)]
fn row_times(row: &Six, b: &Block) -> Six {
    let mut sum = b[0].map(|x| row[0] * x);
    for k in 1..6 {
        (0..6).for_each(|j| sum[j] += row[k] * b[k][j]);
    }
    sum
}

/// A B.
fn times(a: &Block, b: &Block) -> Block {
    a.map(|row| row_times(&row, b))
}

/// Takes A B from a block.
fn subtract(from: &mut Block, a: &Block, b: &Block) {
    for (to, row) in from.iter_mut().zip(a) {
        let less = row_times(row, b);
        (0..6).for_each(|j| to[j] -= less[j]);
    }
}

fn by(a: &Block, x: &Six) -> Six {
    std::array::from_fn(|i| (0..6).map(|k| a[i][k] * x[k]).sum())
}

fn by_transposed(a: &Block, x: &Six) -> Six {
    std::array::from_fn(|i| (0..6).map(|k| a[k][i] * x[k]).sum())
}

/// The inverse of a block's lower factor; `None` where it has none.
fn inverse_of_factor(a: &Block) -> Option<Block> {
    let mut lower = ZERO;
    for i in 0..6 {
        for j in 0..=i {
            let rest = a[i][j] - (0..j).map(|k| lower[i][k] * lower[j][k]).sum::<f64>();
            lower[i][j] = if i == j { rest.sqrt() } else { rest / lower[j][j] };
        }
        if !(lower[i][i] > 0.0 && lower[i][i].is_finite()) {
            return None;
        }
    }
    let mut inverse = ZERO;
    for j in 0..6 {
        for i in j..6 {
            let unit = f64::from(u8::from(i == j));
            inverse[i][j] = (unit - (j..i).map(|k| lower[i][k] * inverse[k][j]).sum::<f64>()) / lower[i][i];
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A x = b, for bodies that touch at random.
        #[test]
        fn a_factor_solves_its_matrix(
            pairs in prop::collection::vec((0usize..9, 0usize..9), 0..20),
            numbers in prop::collection::vec(-1.0f64..1.0, 72),
        ) {
            let pairs: BTreeSet<[usize; 2]> =
                pairs.into_iter().filter(|(a, b)| a != b).map(|(a, b)| [a.min(b), a.max(b)]).collect();
            assert!(Pattern::new(9, pairs.iter().copied(), 1e2).is_none());
            let pattern = Pattern::new(9, pairs.iter().copied(), 1e9).unwrap();
            let mut matrix = pattern.zeros();
            let mut dense = vec![[0.0; 54]; 54];
            let mut put = |a: usize, b: usize, block: &Block| {
                for i in 0..6 {
                    for j in 0..6 {
                        dense[6 * a + i][6 * b + j] += block[i][j];
                    }
                }
            };
            let block = |n: usize, scale: f64| -> Block {
                std::array::from_fn(|i| std::array::from_fn(|j| scale * numbers[(7 * n + 6 * i + j) % 72]))
            };
            for n in 0..9 {
                let square = block(n, 1.0);
                let mut own = times(&square, &transposed(&square));
                (0..6).for_each(|i| own[i][i] += 30.0);
                matrix.add(&pattern, n, &own);
                put(n, n, &own);
            }
            for (n, &[a, b]) in pairs.iter().enumerate() {
                let (number, first_is_row) = pattern.block(a, b).unwrap();
                let block = block(n, 0.5);
                let turned: Block = std::array::from_fn(|i| std::array::from_fn(|j| block[j][i]));
                matrix.add_below(number, if first_is_row { &block } else { &turned });
                put(a, b, &block);
                put(b, a, &turned);
            }
            let b: Vec<Six> = (0..9).map(|n| std::array::from_fn(|i| numbers[6 * n + i])).collect();
            let x = pattern.factor(matrix).unwrap().solve(&b);
            let flat: Vec<f64> = x.iter().flatten().copied().collect();
            for (row, b) in dense.iter().zip(b.iter().flatten()) {
                let found: f64 = row.iter().zip(&flat).map(|(a, x)| a * x).sum();
                prop_assert!((found - b).abs() < 1e-12, "{} {}", found, b);
            }
        }
    }
}
