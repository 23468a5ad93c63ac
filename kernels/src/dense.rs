//! Small dense symmetric systems, for the coarsest level.

/// Cholesky factor of a dense symmetric positive semidefinite matrix.
///
/// A pivot that rounding may have left marks a dependent unknown. It gets its diagonal back as pivot, as if
/// that unknown had one more connection to 0. The solve stays symmetric positive definite, and for right sides
/// compatible with the null space it is exact.
///
/// A pivot is yᵀ A y, where y is 1 at its unknown and what those before it answer. Entries that are rounded to f32 leave up to
/// ε |y|ᵀ |A| |y| of it [Higham 2002, §10.1]. A pivot of that size is no stiffness: its inverse would answer what rounding puts
/// into the null space, and conjugate gradients in f32 would run away along it.
#[derive(Clone, Debug, Default)]
pub struct Cholesky {
    n: usize,
    /// Lower factor, row-major; the diagonal holds the inverse pivots (0 for empty rows).
    factor: Vec<f64>,
}

/// A pivot above this share of its diagonal is not rounding error of f32 coefficients, whatever the others.
const SOUND: f64 = 1e-2;

impl Cholesky {
    /// Factors the lower triangle of a row-major n × n matrix.
    pub fn new(mut a: Vec<f64>, n: usize) -> Self {
        let entries = a.clone();
        for i in 0..n {
            let (above, row) = a.split_at_mut(i * n);
            let diagonal = row[i];
            for j in 0..i {
                let upper = &above[j * n..j * n + j];
                let sum: f64 = row[..j].iter().zip(upper).map(|(p, q)| p * q).sum();
                row[j] = (row[j] - sum) * above[j * n + j];
            }
            let pivot = diagonal - row[..i].iter().map(|v| v * v).sum::<f64>();
            let sound = pivot > SOUND * diagonal || pivot > rounding(&entries, above, &row[..i], n);
            let pivot = if sound { pivot } else { diagonal };
            row[i] = if pivot > 0.0 { 1.0 / pivot.sqrt() } else { 0.0 };
        }
        Self { n, factor: a }
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        crate::memory::of(&self.factor)
    }

    /// L⁻¹, row-major: two products with it solve the system, all rows at once.
    pub fn inverse_factor(&self) -> Vec<f64> {
        let (n, l) = (self.n, &self.factor);
        let mut inverse = vec![0.0; n * n];
        for i in 0..n {
            let (above, row) = inverse.split_at_mut(i * n);
            for (j, factor) in l[i * n..i * n + i].iter().enumerate().filter(|(_, factor)| **factor != 0.0) {
                let known = &above[j * n..j * n + j + 1];
                row.iter_mut().zip(known).for_each(|(r, v)| *r -= factor * v);
            }
            row[i] = 1.0;
            row[..=i].iter_mut().for_each(|r| *r *= l[i * n + i]);
        }
        inverse
    }

    /// Overwrites b with the solution of L Lᵀ x = b.
    pub fn solve(&self, b: &mut [f64]) {
        let (n, l) = (self.n, &self.factor);
        for i in 0..n {
            let sum: f64 = l[i * n..i * n + i].iter().zip(&b[..i]).map(|(p, q)| p * q).sum();
            b[i] = (b[i] - sum) * l[i * n + i];
        }
        for i in (0..n).rev() {
            b[i] *= l[i * n + i];
            let (x, head) = (b[i], &mut b[..i]);
            head.iter_mut().zip(&l[i * n..i * n + i]).for_each(|(h, p)| *h -= p * x);
        }
    }
}

/// ε |y|ᵀ |A| |y| of the pivot behind `row`, the last row so far of the factor: y = (−L⁻ᵀ row, 1).
fn rounding(a: &[f64], factor: &[f64], row: &[f64], n: usize) -> f64 {
    let i = row.len();
    let mut y: Vec<f64> = row.iter().map(|v| -v).collect();
    for j in (0..i).rev() {
        let (head, rest) = y.split_at_mut(j);
        rest[0] *= factor[j * n + j];
        head.iter_mut().zip(&factor[j * n..]).for_each(|(h, l)| *h -= l * rest[0]);
    }
    y.push(1.0);
    let mut sum = 0.0;
    for (j, y_j) in y.iter().enumerate() {
        let before: f64 = a[j * n..][..j].iter().zip(&y).map(|(a, y)| (a * y).abs()).sum();
        sum += y_j.abs() * (2.0 * before + a[j * n + j] * y_j.abs());
    }
    f64::from(f32::EPSILON) * sum
}

/// A pivot below this share of its diagonal is rounding error of f64 entries.
const DEPENDENT: f64 = 1e-12;

/// F with F Fᵀ = A of a symmetric positive semidefinite matrix, row-major n × n; its last columns are 0 where A has no
/// full rank. Cholesky's factor with the pivot that is largest beside its own diagonal [Higham 2002, §10.3], so that
/// the units of the rows do not count.
pub fn semidefinite_factor(a: &[f64], n: usize) -> Vec<f64> {
    let mut factor = vec![0.0; n * n];
    let mut rest: Vec<f64> = (0..n).map(|i| a[i * n + i]).collect();
    for column in 0..n {
        let share = |i: usize| if a[i * n + i] > 0.0 { rest[i] / a[i * n + i] } else { 0.0 };
        let pivot = (0..n).rev().max_by(|&i, &j| share(i).total_cmp(&share(j))).unwrap_or(0);
        if share(pivot) <= DEPENDENT {
            break;
        }
        let root = rest[pivot].sqrt();
        let head: Vec<f64> = factor[pivot * n..][..column].to_vec();
        for i in 0..n {
            let row = &mut factor[i * n..][..=column];
            let known: f64 = row.iter().zip(&head).map(|(p, q)| p * q).sum();
            let done = rest[i] <= DEPENDENT * a[i * n + i];
            row[column] = if done { 0.0 } else { (a[i * n + pivot] - known) / root };
            rest[i] -= row[column] * row[column];
        }
        rest[pivot] = 0.0;
    }
    factor
}

/// (1 + T W)⁻¹ with W = F Fᵀ, as 1 − T F (1 + Fᵀ T F)⁻¹ Fᵀ, which exists for every semidefinite W and T.
pub fn carry(factor: &[f64], t: &[f64], n: usize) -> Vec<f64> {
    // Row by row, so that sums run along rows and what is zero in the first, nearly all of F, costs nothing.
    let product = |a: &[f64], b: &[f64]| -> Vec<f64> {
        let mut out = vec![0.0; n * n];
        for (out, a) in out.chunks_exact_mut(n).zip(a.chunks_exact(n)) {
            for (a, b) in a.iter().zip(b.chunks_exact(n)).filter(|(a, _)| **a != 0.0) {
                out.iter_mut().zip(b).for_each(|(out, b)| *out += a * b);
            }
        }
        out
    };
    let transposed = |a: &[f64]| -> Vec<f64> { (0..n * n).map(|e| a[e % n * n + e / n]).collect() };
    let columns = transposed(factor);
    // (T F)ᵀ.
    let pushed = product(&columns, &transposed(t));
    let mut inner = product(&columns, &transposed(&pushed));
    (0..n).for_each(|i| inner[i * n + i] += 1.0);
    // Its factor Lᵀ, above the diagonal.
    for i in 0..n {
        let (row, below) = inner[i * n..].split_at_mut(n);
        let pivot = row[i].max(1.0).sqrt();
        row[i..].iter_mut().for_each(|v| *v /= pivot);
        row[i] = pivot;
        for (m, below) in (i + 1..n).zip(below.chunks_exact_mut(n)) {
            let share = row[m];
            below[m..].iter_mut().zip(&row[m..]).for_each(|(v, r)| *v -= share * r);
        }
    }
    // L⁻¹ Fᵀ and L⁻¹ (T F)ᵀ, row by row.
    let solved = |mut rows: Vec<f64>| -> Vec<f64> {
        for i in 0..n {
            let (above, row) = rows.split_at_mut(i * n);
            for m in 0..i {
                let (factor, known) = (inner[m * n + i], &above[m * n..][..n]);
                row.iter_mut().zip(known).for_each(|(r, v)| *r -= factor * v);
            }
            row[..n].iter_mut().for_each(|r| *r /= inner[i * n + i]);
        }
        rows
    };
    let mut out = product(&transposed(&solved(pushed)), &solved(columns));
    out.iter_mut().for_each(|v| *v = -*v);
    (0..n).for_each(|i| out[i * n + i] += 1.0);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carrying_by_semidefinite_matrices() {
        // W of rank 1, T of rank 2: (1 + T W) carry = 1.
        let (w, t) =
            ([4.0, 2.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0], [2.0, 1.0, 0.0, 1.0, 3.0, 0.0, 0.0, 0.0, 0.0]);
        let factor = semidefinite_factor(&w, 3);
        assert!(factor.chunks_exact(3).all(|row| row[1] == 0.0 && row[2] == 0.0));
        let carry = carry(&factor, &t, 3);
        let product = |a: &[f64], b: &[f64], i: usize, j: usize| {
            (0..3).map(|m| a[i * 3 + m] * b[m * 3 + j]).sum::<f64>()
        };
        let matrix: Vec<f64> =
            (0..9).map(|e| product(&t, &w, e / 3, e % 3) + f64::from(u8::from(e / 3 == e % 3))).collect();
        for (i, j) in (0..9).map(|e| (e / 3, e % 3)) {
            let one = f64::from(u8::from(i == j));
            assert!((product(&matrix, &carry, i, j) - one).abs() < 1e-13);
            let back: f64 = (0..3).map(|m| factor[i * 3 + m] * factor[j * 3 + m]).sum();
            assert!((back - w[i * 3 + j]).abs() < 1e-14);
        }
    }

    #[test]
    fn two_products_with_the_inverse_factor_solve_the_system() {
        let chol = Cholesky::new(vec![4.0, 0.0, 0.0, 2.0, 5.0, 0.0, 0.0, 1.0, 3.0], 3);
        let (inverse, given) = (chol.inverse_factor(), [8.0, 15.0, 11.0]);
        let forward: [f64; 3] = std::array::from_fn(|i| (0..3).map(|j| inverse[i * 3 + j] * given[j]).sum());
        let x: [f64; 3] = std::array::from_fn(|i| (0..3).map(|j| inverse[j * 3 + i] * forward[j]).sum());
        let mut expected = given;
        chol.solve(&mut expected);
        assert!(x.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-14));
    }

    #[test]
    fn solves_a_definite_and_a_singular_system() {
        let chol = Cholesky::new(vec![4.0, 0.0, 0.0, 2.0, 5.0, 0.0, 0.0, 1.0, 3.0], 3);
        let mut b = vec![8.0, 15.0, 11.0];
        chol.solve(&mut b);
        let a = [[4.0, 2.0, 0.0], [2.0, 5.0, 1.0], [0.0, 1.0, 3.0]];
        for (row, rhs) in a.iter().zip([8.0, 15.0, 11.0]) {
            let sum: f64 = row.iter().zip(&b).map(|(p, q)| p * q).sum();
            assert!((sum - rhs).abs() < 1e-12);
        }
        // A path of three cells without any fixed pressure: exact for a compatible right side.
        let path = Cholesky::new(vec![1.0, 0.0, 0.0, -1.0, 2.0, 0.0, 0.0, -1.0, 1.0], 3);
        let mut b = vec![1.0, 1.0, -2.0];
        path.solve(&mut b);
        assert!((b[0] - b[1] - 1.0).abs() < 1e-12 && (b[1] - b[2] - 2.0).abs() < 1e-12);
    }
}
