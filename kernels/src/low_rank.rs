//! Low-rank terms C W Cᵀ of an operator: what attached masses are to it.

use crate::sparse::SparseFactor;
use std::sync::Arc;

/// W of a [`LowRank`] term: symmetric positive semidefinite.
#[derive(Clone, Debug)]
pub enum Weight {
    /// Row-major.
    Dense(Arc<Vec<f64>>),
    /// The inverse of a sparse matrix.
    Inverse(Arc<SparseFactor>),
}

impl Default for Weight {
    fn default() -> Self {
        Self::Dense(Arc::default())
    }
}

impl Weight {
    /// W v.
    pub fn apply(&self, v: &[f64], out: &mut [f64]) {
        match self {
            Self::Dense(w) => {
                let k = v.len();
                out.iter_mut()
                    .enumerate()
                    .for_each(|(i, out)| *out = w[i * k..][..k].iter().zip(v).map(|(w, v)| w * v).sum());
            }
            Self::Inverse(factor) => factor.solve(v, out),
        }
    }

    /// cᵀ W c of a sparse row of C; a sparse factor's is estimated from its pivots.
    pub fn form(&self, size: usize, row: &[(usize, f64)]) -> f64 {
        match self {
            Self::Dense(w) => {
                let pairs = row.iter().flat_map(|a| row.iter().map(move |b| (a, b)));
                pairs.map(|((i, a), (j, b))| a * w[i * size + j] * b).sum()
            }
            Self::Inverse(factor) => {
                let smallest = factor.inverse_pivot.iter().copied().fold(0.0, f64::max);
                row.iter().map(|(_, c)| c * c * smallest).sum()
            }
        }
    }
}

/// A low-rank term C W Cᵀ with sparse columns C.
#[derive(Clone, Debug, Default)]
pub struct LowRank {
    /// The columns of C.
    pub columns: Vec<LowRankColumn>,
    /// W.
    pub weight: Weight,
}

/// One column of a [`LowRank`] term.
#[derive(Clone, Debug, Default)]
pub struct LowRankColumn {
    /// (leaf, colour, row, lane, entry).
    pub cells: Vec<(u32, u8, u8, u8, f64)>,
    /// (super-cell, entry).
    pub supers: Vec<(u32, f64)>,
}
