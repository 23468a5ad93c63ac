//! The pressure system as data: what a coupling describes and the engine solves.

use super::attached::AttachedMass;
use crate::grid::{Topology, leaf};
use rayon::prelude::*;
use std::sync::Arc;

/// Label of a cell whose pressure is unknown.
pub const CELL: i32 = -1;
/// Label of a cell whose pressure is given; the engine takes it as 0 (a known value moves to the right side).
pub const FIXED: i32 = -2;
/// Label of a cell that takes no part: solid, or beyond the system. Its faces count as closed.
pub const SOLID: i32 = -3;

/// One unknown that borders many cells: a bubble with one pressure λ.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SuperCell {
    /// Volume it gives up per pascal and second: V/(γ p dt) in m³/(s·Pa) for a gas; 0 keeps its volume exactly.
    pub compliance: f64,
}

/// A connection between a cell and a pressure without a shared face: the air behind a wall from which liquid has
/// parted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Position `leaf * 512 + offset` of a [`CELL`].
    pub cell: u32,
    /// The super-cell, or `None` for a pressure known to be 0.
    pub to: Option<u32>,
    /// Coefficient c ≥ 0, m³/(s·Pa), as of a face.
    pub weight: f32,
}

/// The symmetric positive (semi)definite system `A x = b` of a pressure solve, as data.
///
/// Unknowns are the pressures p of the cells labelled [`CELL`] and the pressures λ of the super-cells:
///
/// ```text
/// (A x)_i = Σ_f c_f (p_i − x_nb)                       x_nb = p_j, λ_b, or 0 beyond a FIXED face
/// (A x)_b = Σ_f c_f (λ_b − x_nb) + compliance_b λ_b    plus  C M̃⁻¹ Cᵀ x
/// ```
///
/// [Goldade and Batty 2017, Eq. 8] with c_f = dt α h / (ρ θ), m³/(s·Pa): x in Pa, b in m³/s.
/// Faces that touch a [`SOLID`] cell or an absent leaf count as closed, so an open face of a [`CELL`] must
/// have active leaves on both sides. Faces between two cells of one super-cell do nothing.
#[derive(Clone, Debug, Default)]
pub struct PressureSystem {
    /// The leaves everything below lives on.
    pub topology: Arc<Topology>,
    /// `[leaf][512]`: [`CELL`], [`FIXED`], [`SOLID`], or b ≥ 0 for a cell of super-cell b.
    pub label: Vec<i32>,
    /// Per axis `[leaf][512]`: coefficient c_f ≥ 0 of the cell's lower face, m³/(s·Pa); 0 is closed.
    pub face: [Vec<f32>; 3],
    /// The super-cells.
    pub super_cells: Vec<SuperCell>,
    /// Bodies moved by the pressure.
    pub attached: Vec<AttachedMass>,
    /// Connections between cells and air that share no face.
    pub links: Vec<Link>,
}

/// A vector over the unknowns of a [`PressureSystem`]; entries of cells not labelled [`CELL`] are 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unknowns {
    /// `[leaf][512]`.
    pub cells: Vec<f64>,
    /// `[super-cell]`.
    pub supers: Vec<f64>,
}

impl Unknowns {
    /// The zero vector of a system.
    pub fn zeros(system: &PressureSystem) -> Self {
        Self {
            cells: vec![0.0; system.topology.len() * leaf::SIZE],
            supers: vec![0.0; system.super_cells.len()],
        }
    }
}

/// What is wrong with a [`PressureSystem`] or its right side.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SystemError {
    /// An array does not fit the topology.
    #[error("pressure system: {what} has {got} values, {expected} expected")]
    Shape {
        /// Which array.
        what: &'static str,
        /// Its length.
        got: usize,
        /// The length the topology asks for.
        expected: usize,
    },
    /// A face coefficient is negative or not finite.
    #[error("pressure system: face coefficient {value} on the lower {axis} face of cell {cell:?}")]
    FaceCoefficient {
        /// The cell that owns the face.
        cell: [i32; 3],
        /// 'x', 'y' or 'z'.
        axis: char,
        /// The value found.
        value: f32,
    },
    /// A label names no super-cell and is none of the constants.
    #[error("pressure system: cell {cell:?} has label {label}, but there are {super_cells} super-cells")]
    Label {
        /// The cell.
        cell: [i32; 3],
        /// Its label.
        label: i32,
        /// How many super-cells the system has.
        super_cells: usize,
    },
    /// A link is malformed.
    #[error("pressure system: link of {cell} to {to:?} with coefficient {weight}")]
    Link {
        /// The cell's position.
        cell: u32,
        /// The super-cell.
        to: Option<u32>,
        /// Its coefficient.
        weight: f32,
    },
    /// A compliance is negative or not finite.
    #[error("pressure system: super-cell {super_cell} has compliance {value}")]
    Compliance {
        /// The super-cell.
        super_cell: usize,
        /// The value found.
        value: f64,
    },
    /// An attached mass is malformed.
    #[error("pressure system: attached mass {mass}: {what}")]
    Attached {
        /// Its number.
        mass: usize,
        /// What is wrong, in words.
        what: String,
    },
    /// A vector holds a value that is not finite.
    #[error("pressure system: {what} is {value} at {place}")]
    Vector {
        /// "right side" or "initial guess".
        what: &'static str,
        /// The value found.
        value: f64,
        /// Which cell or super-cell.
        place: String,
    },
}

impl PressureSystem {
    /// Number of unknown cells.
    pub fn cell_count(&self) -> usize {
        self.label.par_iter().filter(|&&l| l == CELL).count()
    }

    /// Checks shapes, labels, coefficients, compliances and attached masses; names the first fault found.
    pub fn validate(&self) -> Result<(), SystemError> {
        let n = self.topology.len() * leaf::SIZE;
        for (what, got) in [
            ("label", self.label.len()),
            ("face x", self.face[0].len()),
            ("face y", self.face[1].len()),
            ("face z", self.face[2].len()),
        ] {
            if got != n {
                return Err(SystemError::Shape { what, got, expected: n });
            }
        }
        let supers = self.super_cells.len();
        let bad_label = |l: &i32| *l < SOLID || *l >= 0 && *l as usize >= supers;
        if let Some(s) = first(&self.label, bad_label) {
            let cell = self.topology.coord(s).to_array();
            return Err(SystemError::Label { cell, label: self.label[s], super_cells: supers });
        }
        for (axis, face) in ['x', 'y', 'z'].into_iter().zip(&self.face) {
            let bad = |c: &f32| !(*c >= 0.0 && *c < f32::INFINITY);
            if let Some(s) = first(face, bad) {
                let cell = self.topology.coord(s).to_array();
                return Err(SystemError::FaceCoefficient { cell, axis, value: face[s] });
            }
        }
        for (super_cell, s) in self.super_cells.iter().enumerate() {
            if !(s.compliance >= 0.0 && s.compliance < f64::INFINITY) {
                return Err(SystemError::Compliance { super_cell, value: s.compliance });
            }
        }
        for &Link { cell, to, weight } in &self.links {
            let ends =
                self.label.get(cell as usize) == Some(&CELL) && to.is_none_or(|b| (b as usize) < supers);
            if !(ends && (0.0..f32::INFINITY).contains(&weight)) {
                return Err(SystemError::Link { cell, to, weight });
            }
        }
        for (mass, a) in self.attached.iter().enumerate() {
            self.validate_attached(a).map_err(|what| SystemError::Attached { mass, what })?;
        }
        Ok(())
    }

    /// Shape and finiteness; what kind of matrix the inverse mass is was checked when it was made.
    fn validate_attached(&self, a: &AttachedMass) -> Result<(), String> {
        for (number, column) in a.columns().iter().enumerate() {
            for &(slot, value) in &column.cells {
                if self.label.get(slot as usize) != Some(&CELL) || !value.is_finite() {
                    return Err(format!(
                        "column {number} has {value} at {slot}, not an unknown cell or not finite"
                    ));
                }
            }
            for &(b, value) in &column.supers {
                if b as usize >= self.super_cells.len() || !value.is_finite() {
                    return Err(format!(
                        "column {number} has {value} at super-cell {b}, absent or not finite"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Checks the shape and the finiteness of a vector over the unknowns.
    pub fn validate_vector(&self, what: &'static str, v: &Unknowns) -> Result<(), SystemError> {
        let n = self.topology.len() * leaf::SIZE;
        if v.cells.len() != n {
            return Err(SystemError::Shape { what, got: v.cells.len(), expected: n });
        }
        if v.supers.len() != self.super_cells.len() {
            let (got, expected) = (v.supers.len(), self.super_cells.len());
            return Err(SystemError::Shape { what, got, expected });
        }
        let first_bad = v.cells.par_chunks(leaf::SIZE).enumerate().find_map_first(|(l, cells)| {
            let sound = cells.iter().fold(true, |sound, x| sound & x.is_finite());
            let slot = |n: usize| l * leaf::SIZE + n;
            let bad = |&n: &usize| !cells[n].is_finite() && self.label[slot(n)] == CELL;
            if sound { None } else { (0..cells.len()).find(bad).map(slot) }
        });
        if let Some(s) = first_bad {
            let place = format!("cell {:?}", self.topology.coord(s).to_array());
            return Err(SystemError::Vector { what, value: v.cells[s], place });
        }
        if let Some(b) = v.supers.iter().position(|x| !x.is_finite()) {
            return Err(SystemError::Vector { what, value: v.supers[b], place: format!("super-cell {b}") });
        }
        Ok(())
    }
}

/// The first slot with a bad value. Each leaf is searched without an early exit, so that the loop is vectorised.
fn first<T: Sync>(values: &[T], bad: impl Fn(&T) -> bool + Sync) -> Option<usize> {
    values.par_chunks(leaf::SIZE).enumerate().find_map_first(|(l, leaf)| {
        let any = leaf.iter().fold(false, |any, value| any | bad(value));
        if any { leaf.iter().position(&bad).map(|n| l * leaf::SIZE + n) } else { None }
    })
}
