//! J M⁻¹ Jᵀ of bodies that hang together, factored.

use super::given;
use crate::solid::rigid::Body;
use crate::solid::rigid::joints::rows::{Row, dot};
use glam::DMat3;
use meniscus_kernels::sparse::SparseFactor;
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// Added to the diagonal of J M⁻¹ Jᵀ, by itself: rows of a loop depend on each other.
const DEPENDENT: f64 = 1e-10;
/// Refinements of a solve, at most: each brings the error of [`DEPENDENT`] down by what rows do not depend.
const REFINED: usize = 4;
/// Rows at one body from which it is a [`Hub`]: with fewer, they are sooner factored than left out.
const MANY: usize = 60;

/// Entries of a sparse matrix: row, column, value.
type Entries = Vec<(u32, u32, f64)>;

/// Bodies that joints hold together.
#[derive(Clone, Debug, Default)]
pub(super) struct Assembly {
    /// Free bodies, by their places in the list, ascending.
    pub bodies: Vec<usize>,
    /// Its rows.
    pub rows: Vec<usize>,
    /// J M⁻¹ Jᵀ and the softness of springs, brought to a unit diagonal: entries of both triangles, hubs left out.
    matrix: Entries,
    /// 1 / √ of the diagonal.
    scale: Vec<f64>,
    factor: SparseFactor,
    hubs: Option<Hubs>,
}

/// Bodies that so many joints hold that the rows at one of them are all each other's neighbours. Their part of J M⁻¹ Jᵀ has a rank
/// of 6 each: it is added to the inverse of the rest by Woodbury's formula [Golub and Van Loan 2013, §2.1.4].
#[derive(Clone, Debug)]
struct Hubs {
    /// Rows of the assembly by the hubs' velocities, scaled as the matrix: row, first column of the hub, what it counts.
    counts: Vec<(u32, u32, [f64; 6])>,
    /// M⁻¹ of each, as blocks.
    inverse: Vec<(f64, DMat3)>,
    /// The rest's inverse times `counts`, column by column.
    answers: Vec<Vec<f64>>,
    /// M + countsᵀ answers.
    own: Cholesky<f64, Dyn>,
}

impl Assembly {
    /// Factors the matrix of its rows.
    pub fn factor(&mut self, rows: &[Row], inverse: &[(f64, DMat3)], bodies: &[Body]) {
        // Rows at each of its bodies.
        let mut at: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.bodies.len()];
        for (place, &r) in self.rows.iter().enumerate() {
            for (end, n) in rows[r].ends.iter().enumerate() {
                if let Some(b) = n.and_then(|n| self.bodies.binary_search(&n).ok()) {
                    at[b].push((place, end));
                }
            }
        }
        let mut diagonal = vec![0.0; self.rows.len()];
        let mut entries = Vec::new();
        for at in &at {
            for &(i, end) in at {
                let (row, given) = (&rows[self.rows[i]], given(&rows[self.rows[i]], end, inverse));
                diagonal[i] += dot(&row.jacobian[end], &given);
                if at.len() >= MANY {
                    continue;
                }
                for &(j, other) in at {
                    entries.push((i as u32, j as u32, dot(&rows[self.rows[j]].jacobian[other], &given)));
                }
            }
        }
        let softened = diagonal.iter().zip(&self.rows).map(|(d, &r)| d + rows[r].soft);
        self.scale = softened.map(|d: f64| 1.0 / d.max(f64::MIN_POSITIVE).sqrt()).collect();
        entries.extend(self.rows.iter().enumerate().map(|(i, &r)| (i as u32, i as u32, rows[r].soft)));
        self.matrix = summed(entries);
        for (i, j, value) in &mut self.matrix {
            *value *= self.scale[*i as usize] * self.scale[*j as usize];
        }
        let lower = self.matrix.iter().filter(|(i, j, _)| i >= j);
        let safe: Entries = lower.map(|&(i, j, v)| (i, j, if i == j { v + DEPENDENT } else { v })).collect();
        self.factor = SparseFactor::new(self.rows.len(), &safe).unwrap_or_default();
        let hubs: Vec<usize> = (0..at.len()).filter(|&b| at[b].len() >= MANY).collect();
        if !hubs.is_empty() && self.factor.size() == self.rows.len() {
            let hubs: Vec<_> = hubs.into_iter().map(|b| (self.bodies[b], at[b].as_slice())).collect();
            self.hubs = self.hubs_of(&hubs, rows, inverse, bodies);
            if self.hubs.is_none() {
                self.factor = SparseFactor::default();
            }
        }
    }

    /// The hubs, each with its rows.
    fn hubs_of(
        &self,
        hubs: &[(usize, &[(usize, usize)])],
        rows: &[Row],
        inverse: &[(f64, DMat3)],
        bodies: &[Body],
    ) -> Option<Hubs> {
        let mut counts = Vec::new();
        let mut own = DMatrix::zeros(6 * hubs.len(), 6 * hubs.len());
        for (h, (n, at)) in hubs.iter().enumerate() {
            let (mass, inertia) = (bodies[*n].shape.mass(), bodies[*n].inertia());
            for c in 0..3 {
                own[(6 * h + c, 6 * h + c)] = mass;
                (0..3).for_each(|r| own[(6 * h + 3 + r, 6 * h + 3 + c)] = inertia.col(c)[r]);
            }
            for &(i, end) in *at {
                let jacobian = &rows[self.rows[i]].jacobian[end];
                let six = std::array::from_fn(|c| {
                    let of = if c < 3 { jacobian.linear[c] } else { jacobian.angular[c - 3] };
                    of * self.scale[i]
                });
                counts.push((i as u32, 6 * h as u32, six));
            }
        }
        let mut answers = vec![vec![0.0; self.rows.len()]; 6 * hubs.len()];
        let mut asked = vec![0.0; self.rows.len()];
        for (column, answer) in answers.iter_mut().enumerate() {
            asked.fill(0.0);
            let of_hub = counts.iter().filter(|(_, first, _)| *first as usize == column - column % 6);
            of_hub.for_each(|(i, _, six)| asked[*i as usize] = six[column % 6]);
            self.factor.solve(&asked, answer);
        }
        for (column, answer) in answers.iter().enumerate() {
            for (i, first, six) in &counts {
                (0..6).for_each(|c| own[(*first as usize + c, column)] += six[c] * answer[*i as usize]);
            }
        }
        let inverse = hubs.iter().map(|(n, _)| inverse[*n]).collect();
        Some(Hubs { counts, inverse, answers, own: Cholesky::new(own)? })
    }

    /// The impulses λ of its rows with (J M⁻¹ Jᵀ + soft) λ = `speeds`; least ones where rows depend on each other.
    pub fn impulses(&self, speeds: &[f64]) -> Vec<f64> {
        let count = self.rows.len();
        if self.factor.size() != count {
            return vec![0.0; count];
        }
        let wanted: Vec<f64> = speeds.iter().zip(&self.scale).map(|(s, by)| s * by).collect();
        let (mut found, mut left, mut more) = (vec![0.0; count], wanted.clone(), vec![0.0; count]);
        let enough = 1e-14 * wanted.iter().fold(0.0f64, |m, w| m.max(w.abs()));
        for _ in 0..REFINED {
            self.factor.solve(&left, &mut more);
            if let Some(hubs) = &self.hubs {
                hubs.correct(&mut more);
            }
            found.iter_mut().zip(&more).for_each(|(f, m)| *f += m);
            left.copy_from_slice(&wanted);
            for &(i, j, value) in &self.matrix {
                left[i as usize] -= value * found[j as usize];
            }
            if let Some(hubs) = &self.hubs {
                hubs.take(&found, &mut left);
            }
            if left.iter().all(|l| l.abs() <= enough) {
                break;
            }
        }
        found.iter().zip(&self.scale).map(|(f, by)| f * by).collect()
    }
}

impl Hubs {
    /// countsᵀ v.
    fn given(&self, v: &[f64]) -> DVector<f64> {
        let mut given = DVector::zeros(6 * self.inverse.len());
        for (i, first, six) in &self.counts {
            (0..6).for_each(|c| given[*first as usize + c] += six[c] * v[*i as usize]);
        }
        given
    }

    /// From what the rest answers to what all does.
    fn correct(&self, answer: &mut [f64]) {
        let by = self.own.solve(&self.given(answer));
        for (column, by) in self.answers.iter().zip(by.iter()) {
            answer.iter_mut().zip(column).for_each(|(a, c)| *a -= c * by);
        }
    }

    /// Takes from `left` the speeds that impulses give the rows by the hubs.
    fn take(&self, impulses: &[f64], left: &mut [f64]) {
        let given = self.given(impulses);
        let mut moved = given.clone();
        for (h, (mass, inertia)) in self.inverse.iter().enumerate() {
            let turn = *inertia * glam::DVec3::new(given[6 * h + 3], given[6 * h + 4], given[6 * h + 5]);
            for c in 0..3 {
                moved[6 * h + c] *= *mass;
                moved[6 * h + 3 + c] = turn[c];
            }
        }
        for (i, first, six) in &self.counts {
            let speed: f64 = (0..6).map(|c| six[c] * moved[*first as usize + c]).sum();
            left[*i as usize] -= speed;
        }
    }
}

/// The same entries in order, each place once.
fn summed(mut entries: Entries) -> Entries {
    entries.sort_by_key(|e| (e.0, e.1));
    entries.dedup_by(|next, kept| {
        let same = (next.0, next.1) == (kept.0, kept.1);
        if same {
            kept.2 += next.2;
        }
        same
    });
    entries
}
