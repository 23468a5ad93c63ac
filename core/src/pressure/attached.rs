//! Bodies that the pressure moves, as operators.

use meniscus_kernels::conjugate_gradients::Weight;
use meniscus_kernels::dense::semidefinite_factor;
use meniscus_kernels::sparse::SparseFactor;
use std::sync::Arc;

/// One column of an attachment: how one degree of freedom of a body moves the unknowns' volumes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// (position `leaf * 512 + offset` of a [`CELL`](super::CELL), entry).
    pub cells: Vec<(u32, f64)>,
    /// (super-cell, entry).
    pub supers: Vec<(u32, f64)>,
    /// What the entries are sums of, in absolute values; 0 where they are no sums. Of a body that lies in one bubble the entry is
    /// what rounding leaves of it.
    pub moved: f64,
}

/// A row that is smaller than this share of itself after others have been taken out of it depends on them.
const DEPENDENT: f64 = 1e-9;

/// A body that the pressure moves: the Schur term C M̃⁻¹ Cᵀ of its degrees of freedom.
///
/// M̃⁻¹ carries dt, so that C M̃⁻¹ Cᵀ has the units of the face coefficients. It is checked when it is made, and copies share it:
/// a body of the same mass gets new columns by [`Self::with_columns`].
#[derive(Clone, Debug, Default)]
pub struct AttachedMass {
    columns: Vec<Column>,
    weight: Weight,
    /// A basis of the motions that M̃⁻¹ allows, without masses; `None`: all of them.
    motions: Option<Arc<Vec<Vec<f64>>>>,
}

/// Why an inverse mass is none.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MassError {
    /// A matrix does not fit the columns.
    #[error("{what} has {got} values, {expected} expected")]
    Shape {
        /// Which matrix.
        what: &'static str,
        /// Its length.
        got: usize,
        /// What the columns ask for.
        expected: usize,
    },
    /// The inverse mass is no symmetric positive semidefinite matrix.
    #[error("inverse mass is not symmetric positive semidefinite: see degree of freedom {0}")]
    Indefinite(usize),
    /// The sparse mass is no symmetric positive definite matrix.
    #[error("sparse mass is not positive definite: see degree of freedom {0}")]
    Mass(usize),
}

impl AttachedMass {
    /// A body with a dense M̃⁻¹, k × k for k columns, row-major, symmetric positive semidefinite.
    pub fn dense(columns: Vec<Column>, inverse_mass: Vec<f64>) -> Result<Self, MassError> {
        let factor = factor_of(&inverse_mass, columns.len())?;
        let motions = motions_of(&factor, columns.len());
        Ok(Self { columns, weight: Weight::Dense(Arc::new(inverse_mass)), motions: motions.map(Arc::new) })
    }

    /// A body with a dense inverse mass whose motions v are bound by J v = 0: contacts, joints. Each row of `constraints`
    /// is one row of J; rows may depend on each other.
    ///
    /// ```text
    /// M̃⁻¹ = M⁻¹ − M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁺ J M⁻¹ = F (1 − Q Qᵀ) Fᵀ,    M⁻¹ = F Fᵀ, Q an orthonormal basis of Fᵀ Jᵀ
    /// ```
    pub fn constrained(
        columns: Vec<Column>,
        inverse_mass: &[f64],
        constraints: &[Vec<f64>],
    ) -> Result<Self, MassError> {
        let k = columns.len();
        if let Some(row) = constraints.iter().find(|row| row.len() != k) {
            return Err(MassError::Shape { what: "a constraint", got: row.len(), expected: k });
        }
        let factor = factor_of(inverse_mass, k)?;
        let pull = |row: &Vec<f64>| -> Vec<f64> {
            (0..k).map(|m| (0..k).map(|i| factor[i * k + m] * row[i]).sum()).collect()
        };
        let bound = orthonormal(constraints.iter().map(pull).collect());
        let mut free = factor.clone();
        for row in free.chunks_exact_mut(k.max(1)) {
            for q in &bound {
                let along: f64 = q.iter().zip(&*row).map(|(q, f)| q * f).sum();
                row.iter_mut().zip(q).for_each(|(f, q)| *f -= along * q);
            }
        }
        let entry = |e: usize| -> f64 {
            let (i, j) = (e / k, e % k);
            free[i * k..][..k].iter().zip(&free[j * k..][..k]).map(|(a, b)| a * b).sum()
        };
        let weight = Weight::Dense(Arc::new((0..k * k).map(entry).collect()));
        let motions = match motions_of(&factor, k) {
            None if constraints.is_empty() => None,
            None => Some(kernel(constraints, k)),
            Some(_) => Some((0..k).map(|m| (0..k).map(|i| free[i * k + m]).collect()).collect()),
        };
        Ok(Self { columns, weight, motions: motions.map(Arc::new) })
    }

    /// A body with many degrees of freedom, each coupled to few others: a membrane. `mass` is M̃, one column of C a row,
    /// as entries (row, column, value) of its lower triangle or of both; it is factored here, and every product
    /// with M̃⁻¹ is a solve.
    pub fn sparse(columns: Vec<Column>, mass: &[(u32, u32, f64)]) -> Result<Self, MassError> {
        let factor = SparseFactor::new(columns.len(), mass).map_err(MassError::Mass)?;
        Ok(Self { columns, weight: Weight::Inverse(Arc::new(factor)), motions: None })
    }

    /// The same operator on other columns, as many as before.
    pub fn with_columns(&self, columns: Vec<Column>) -> Result<Self, MassError> {
        let (got, expected) = (columns.len(), self.columns.len());
        if got != expected {
            return Err(MassError::Shape { what: "C", got, expected });
        }
        Ok(Self { columns, ..self.clone() })
    }

    /// C, one sparse column per degree of freedom.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// M̃⁻¹ v.
    pub fn weigh(&self, v: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; v.len()];
        self.weight.apply(v, &mut out);
        out
    }

    /// M̃⁻¹.
    pub(super) fn weight(&self) -> &Weight {
        &self.weight
    }

    /// A basis of the motions that M̃⁻¹ allows, without masses; `None`: all of them.
    pub(crate) fn motions(&self) -> Option<&[Vec<f64>]> {
        self.motions.as_ref().map(|m| m.as_slice())
    }

    /// Bytes of the operator.
    pub fn bytes(&self) -> usize {
        match &self.weight {
            Weight::Dense(w) => 8 * w.len(),
            Weight::Inverse(factor) => factor.bytes(),
        }
    }
}

/// F with F Fᵀ = W, or why there is none.
fn factor_of(w: &[f64], k: usize) -> Result<Vec<f64>, MassError> {
    if w.len() != k * k {
        return Err(MassError::Shape { what: "inverse mass", got: w.len(), expected: k * k });
    }
    // An entry beside a diagonal one that is none cannot be judged.
    if let Some(i) = (0..k).find(|i| !(0.0..f64::INFINITY).contains(&w[i * k + i])) {
        return Err(MassError::Indefinite(i));
    }
    let sound = |i: usize, j: usize| {
        let size = (w[i * k + i] * w[j * k + j]).sqrt();
        (w[i * k + j] - w[j * k + i]).abs() <= 1e-9 * size && w[i * k + j].is_finite()
    };
    if let Some(e) = (0..k * k).find(|e| !sound(e / k, e % k)) {
        return Err(MassError::Indefinite(e / k));
    }
    let factor = semidefinite_factor(w, k);
    for (i, j) in (0..k * k).map(|e| (e / k, e % k)) {
        let known: f64 = factor[i * k..][..k].iter().zip(&factor[j * k..][..k]).map(|(a, b)| a * b).sum();
        let size = (w[i * k + i] * w[j * k + j]).sqrt();
        if (w[i * k + j] - known).abs() > 1e-8 * size {
            return Err(MassError::Indefinite(i));
        }
    }
    Ok(factor)
}

/// The columns of a factor, if they do not span everything.
fn motions_of(factor: &[f64], k: usize) -> Option<Vec<Vec<f64>>> {
    let column = |m: usize| (0..k).map(|i| factor[i * k + m]).collect::<Vec<f64>>();
    let columns: Vec<Vec<f64>> = (0..k).map(column).filter(|c| c.iter().any(|&v| v != 0.0)).collect();
    (columns.len() < k).then_some(columns)
}

/// A basis of the motions v with J v = 0.
fn kernel(constraints: &[Vec<f64>], k: usize) -> Vec<Vec<f64>> {
    let bound = orthonormal(constraints.to_vec());
    let free = (0..k).map(|i| {
        let mut v: Vec<f64> = (0..k).map(|j| if i == j { 1.0 } else { 0.0 }).collect();
        bound.iter().for_each(|q| remove(&mut v, q));
        bound.iter().for_each(|q| remove(&mut v, q));
        v
    });
    let sizes: Vec<Vec<f64>> = free.filter(|v| length(v) > DEPENDENT).collect();
    let mut basis = orthonormal_of(sizes, k - bound.len(), DEPENDENT);
    basis.iter_mut().flatten().filter(|v| v.abs() < 1e-14).for_each(|v| *v = 0.0);
    basis
}

fn length(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

fn remove(v: &mut [f64], q: &[f64]) {
    let along: f64 = v.iter().zip(q).map(|(v, q)| v * q).sum();
    v.iter_mut().zip(q).for_each(|(v, q)| *v -= along * q);
}

/// An orthonormal basis of the rows, each first brought to length 1, so that none is lost beside larger ones.
pub(super) fn orthonormal(mut rows: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    rows.retain(|row| length(row) > 0.0);
    for row in &mut rows {
        let size = length(row);
        row.iter_mut().for_each(|v| *v /= size);
    }
    let count = rows.len();
    orthonormal_of(rows, count, DEPENDENT)
}

/// At most `count` orthonormal rows, always from the row of which most is left, while that is more than `least`
/// [Golub and Van Loan 2013, §5.2].
pub(super) fn orthonormal_of(mut rows: Vec<Vec<f64>>, count: usize, least: f64) -> Vec<Vec<f64>> {
    let mut out: Vec<Vec<f64>> = Vec::new();
    while out.len() < count {
        let longest = (0..rows.len()).rev().max_by(|&a, &b| length(&rows[a]).total_cmp(&length(&rows[b])));
        let Some(longest) = longest.filter(|&i| length(&rows[i]) > least) else { break };
        let mut q = rows.swap_remove(longest);
        out.iter().for_each(|known| remove(&mut q, known));
        let size = length(&q);
        q.iter_mut().for_each(|v| *v /= size);
        rows.iter_mut().for_each(|row| remove(row, &q));
        out.push(q);
    }
    out
}
