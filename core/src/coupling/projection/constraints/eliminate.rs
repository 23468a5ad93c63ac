//! Takes rigid rows out of the motions of bodies.

/// What must be left of a row, squared and by itself, once others are taken out of it, so that it does not depend on them.
const DEPENDENT: f64 = 1e-10;
/// Corrections of a solve: each brings its rounding error down by what rows nearly depend on each other.
const REFINED: usize = 3;

/// Rows J of bodies with the inverse mass W, and the Cholesky factor of J W Jᵀ.
#[derive(Debug, Default)]
pub(super) struct Eliminated {
    /// The rows, always the one of which most was left; those that depend on them are left out.
    pub(super) rows: Vec<usize>,
    /// W Jᵀ, one row's after the other's.
    pulls: Vec<Vec<f64>>,
    /// What brings the diagonal of J W Jᵀ to 1.
    scale: Vec<f64>,
    /// L of L Lᵀ = J W Jᵀ, scaled; `[row][..=row]`.
    lower: Vec<Vec<f64>>,
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// W v.
pub(super) fn weigh(weight: &[f64], v: &[f64]) -> Vec<f64> {
    weight.chunks_exact(v.len().max(1)).map(|row| dot(row, v)).collect()
}

impl Eliminated {
    /// Of the rows `which` of J; `weight`: W, row-major.
    pub(super) fn new(weight: &[f64], jacobian: &[Vec<f64>], which: &[usize]) -> Self {
        let pulls: Vec<Vec<f64>> = which.iter().map(|&r| weigh(weight, &jacobian[r])).collect();
        let sizes: Vec<f64> = which.iter().zip(&pulls).map(|(&r, pull)| dot(&jacobian[r], pull)).collect();
        let mut left: Vec<usize> = (0..which.len()).filter(|&i| sizes[i] > 0.0).collect();
        let scale: Vec<f64> = sizes.iter().map(|s| s.max(f64::MIN_POSITIVE).sqrt().recip()).collect();
        let mut lower: Vec<Vec<f64>> = vec![Vec::new(); which.len()];
        let mut rest = vec![1.0f64; which.len()];
        let mut chosen = Vec::new();
        while let Some(at) = (0..left.len()).rev().max_by(|&a, &b| rest[left[a]].total_cmp(&rest[left[b]])) {
            let pivot = left[at];
            if rest[pivot] <= DEPENDENT {
                break;
            }
            left.remove(at);
            let root = rest[pivot].sqrt();
            for &i in &left {
                let entry = scale[i] * scale[pivot] * dot(&jacobian[which[i]], &pulls[pivot]);
                let value = (entry - dot(&lower[i], &lower[pivot])) / root;
                lower[i].push(value);
                rest[i] -= value * value;
            }
            lower[pivot].push(root);
            chosen.push(pivot);
        }
        Self {
            rows: chosen.iter().map(|&i| which[i]).collect(),
            pulls: chosen.iter().map(|&i| pulls[i].clone()).collect(),
            scale: chosen.iter().map(|&i| scale[i]).collect(),
            lower: chosen.iter().map(|&i| std::mem::take(&mut lower[i])).collect(),
        }
    }

    /// (J W Jᵀ)⁻¹ of a speed per row.
    fn solve(&self, speeds: &[f64]) -> Vec<f64> {
        let mut y: Vec<f64> = speeds.iter().zip(&self.scale).map(|(s, scale)| s * scale).collect();
        for i in 0..y.len() {
            y[i] = (y[i] - dot(&self.lower[i][..i], &y[..i])) / self.lower[i][i];
        }
        for i in (0..y.len()).rev() {
            let later: f64 = (i + 1..y.len()).map(|j| self.lower[j][i] * y[j]).sum();
            y[i] = (y[i] - later) / self.lower[i][i];
        }
        y.iter().zip(&self.scale).map(|(y, scale)| y * scale).collect()
    }

    /// Gives the rows their speeds by the least change of `velocity`, in the measure of the mass. The impulses that do it.
    pub(super) fn hold(
        &self,
        jacobian: &[Vec<f64>],
        wanted: impl Fn(usize) -> f64,
        velocity: &mut [f64],
    ) -> Vec<f64> {
        let mut impulses = vec![0.0; self.rows.len()];
        for _ in 0..if self.rows.is_empty() { 0 } else { REFINED } {
            let missing: Vec<f64> =
                self.rows.iter().map(|&r| wanted(r) - dot(&jacobian[r], velocity)).collect();
            for ((impulse, more), pull) in impulses.iter_mut().zip(self.solve(&missing)).zip(&self.pulls) {
                *impulse += more;
                velocity.iter_mut().zip(pull).for_each(|(v, p)| *v += more * p);
            }
        }
        impulses
    }

    /// W − W Jᵀ (J W Jᵀ)⁻¹ J W.
    pub(super) fn free(&self, weight: &[f64]) -> Vec<f64> {
        let mut free = weight.to_vec();
        let mut known: Vec<Vec<f64>> = Vec::new();
        for ((lower, scale), pull) in self.lower.iter().zip(&self.scale).zip(&self.pulls) {
            let mut q: Vec<f64> = pull.iter().map(|p| p * scale).collect();
            for (before, l) in known.iter().zip(lower) {
                q.iter_mut().zip(before).for_each(|(q, b)| *q -= l * b);
            }
            let root = lower[known.len()];
            q.iter_mut().for_each(|q| *q /= root);
            let k = q.len();
            for (i, row) in free.chunks_exact_mut(k).enumerate() {
                row.iter_mut().zip(&q).for_each(|(w, other)| *w -= q[i] * other);
            }
            known.push(q);
        }
        free
    }
}
