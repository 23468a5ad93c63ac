//! The mass of a body, dense or sparse.

use meniscus_kernels::sparse::lower_triangle;

/// M of a body with k degrees of freedom, kg where they are metres.
#[derive(Clone, Debug, PartialEq)]
pub enum Mass {
    /// k × k, row-major.
    Dense(Vec<f64>),
    /// k degrees of freedom, each coupled to few others.
    Sparse(SparseMass),
}

/// A symmetric matrix of which only the entries on and below the diagonal are kept.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseMass {
    size: usize,
    /// (row, column, value), row ≥ column, sorted, each place once.
    entries: Vec<(u32, u32, f64)>,
}

/// Why entries make no mass.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MassFault {
    /// An entry lies outside of the matrix.
    #[error("entry {entry} lies in row {row} and column {column}, but there are {size} degrees of freedom")]
    Place {
        /// Its number.
        entry: usize,
        /// Its row.
        row: u32,
        /// Its column.
        column: u32,
        /// Degrees of freedom.
        size: usize,
    },
    /// An entry is not a finite number.
    #[error("entry {0} is not finite")]
    NotFinite(usize),
    /// The two halves differ, or only a part of one is there.
    #[error(
        "the entries of row {0} above and below the diagonal differ; give one triangle, or both with equal values"
    )]
    Asymmetric(usize),
    /// A diagonal entry is missing or not positive.
    #[error("the diagonal entry of degree of freedom {0} is not positive")]
    Diagonal(usize),
}

impl SparseMass {
    /// The mass of `size` degrees of freedom with these entries, (row, column, value): those off the diagonal all once, in
    /// either order, or all in both orders with one value each. Entries that repeat in one order are summed.
    pub fn new(size: usize, entries: &[(u32, u32, f64)]) -> Result<Self, MassFault> {
        for (entry, &(row, column, value)) in entries.iter().enumerate() {
            if row as usize >= size || column as usize >= size {
                return Err(MassFault::Place { entry, row, column, size });
            }
            if !value.is_finite() {
                return Err(MassFault::NotFinite(entry));
            }
        }
        let entries = lower_triangle(entries).map_err(MassFault::Asymmetric)?;
        let mut diagonal = vec![0.0; size];
        entries.iter().filter(|e| e.0 == e.1).for_each(|e| diagonal[e.0 as usize] = e.2);
        match diagonal.iter().position(|&d| d <= 0.0) {
            Some(row) => Err(MassFault::Diagonal(row)),
            None => Ok(Self { size, entries }),
        }
    }

    /// Degrees of freedom.
    pub fn size(&self) -> usize {
        self.size
    }

    /// (row, column, value), row ≥ column, sorted, each place once.
    pub fn entries(&self) -> &[(u32, u32, f64)] {
        &self.entries
    }

    /// k × k, row-major.
    pub fn dense(&self) -> Vec<f64> {
        let k = self.size;
        let mut out = vec![0.0; k * k];
        for &(i, j, v) in &self.entries {
            out[i as usize * k + j as usize] = v;
            out[j as usize * k + i as usize] = v;
        }
        out
    }
}

impl Mass {
    /// M v.
    pub fn times(&self, v: &[f64]) -> Vec<f64> {
        match self {
            Self::Dense(mass) => {
                let of_row = |row: &[f64]| row.iter().zip(v).map(|(m, v)| m * v).sum();
                mass.chunks_exact(v.len().max(1)).map(of_row).collect()
            }
            Self::Sparse(mass) => {
                let mut out = vec![0.0; v.len()];
                for &(i, j, m) in &mass.entries {
                    out[i as usize] += m * v[j as usize];
                    if i != j {
                        out[j as usize] += m * v[i as usize];
                    }
                }
                out
            }
        }
    }
}

impl Default for Mass {
    fn default() -> Self {
        Self::Dense(Vec::new())
    }
}

impl From<Vec<f64>> for Mass {
    fn from(dense: Vec<f64>) -> Self {
        Self::Dense(dense)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_triangle_or_both_make_the_same_mass() {
        let lower = [(0, 0, 2.0), (1, 1, 3.0), (2, 2, 4.0), (2, 0, -1.0), (1, 0, 0.5)];
        let mass = SparseMass::new(3, &lower).unwrap();
        assert_eq!(mass.dense(), [2.0, 0.5, -1.0, 0.5, 3.0, 0.0, -1.0, 0.0, 4.0]);
        let upper = lower.map(|(i, j, v)| (j, i, v));
        assert_eq!(SparseMass::new(3, &upper).unwrap(), mass);
        let both: Vec<_> = lower.iter().chain(upper.iter().filter(|e| e.0 != e.1)).copied().collect();
        assert_eq!(SparseMass::new(3, &both).unwrap(), mass);
        let v = [1.0, -2.0, 3.0];
        assert_eq!(Mass::Sparse(mass.clone()).times(&v), Mass::Dense(mass.dense()).times(&v));
    }

    #[test]
    fn what_is_no_mass_is_refused() {
        let sound = [(0, 0, 2.0), (1, 1, 3.0)];
        let with = |e: (u32, u32, f64)| SparseMass::new(2, &[sound[0], sound[1], e]);
        assert_eq!(with((2, 0, 1.0)), Err(MassFault::Place { entry: 2, row: 2, column: 0, size: 2 }));
        assert_eq!(with((1, 0, f64::NAN)), Err(MassFault::NotFinite(2)));
        let both = |v: f64| SparseMass::new(2, &[sound[0], sound[1], (1, 0, 1.0), (0, 1, v)]);
        assert_eq!(both(1.5), Err(MassFault::Asymmetric(1)));
        assert!(both(1.0).is_ok());
        assert_eq!(SparseMass::new(2, &sound[..1]), Err(MassFault::Diagonal(1)));
        assert_eq!(with((0, 0, -2.0)), Err(MassFault::Diagonal(0)));
    }
}
