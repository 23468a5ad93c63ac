//! The system's operator, written directly from its definition. Tests compare every engine's kernels with it.

use super::system::{CELL, FIXED, PressureSystem, SOLID, Unknowns};
use crate::grid::leaf;
use rayon::prelude::*;

/// One end of a face of the system.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// An unknown cell, by its position.
    Cell(usize),
    /// A super-cell.
    Super(usize),
    /// A pressure known to be 0.
    Zero,
}

impl PressureSystem {
    /// The unknown (or known zero) that a cell stands for; `None` when it takes no part.
    fn end(&self, slot: usize) -> Option<End> {
        match self.label[slot] {
            CELL => Some(End::Cell(slot)),
            FIXED => Some(End::Zero),
            SOLID => None,
            b => Some(End::Super(b as usize)),
        }
    }

    /// Calls `f(lower end, upper end, coefficient)` for every open face owned by leaf `l`.
    fn for_faces_of(&self, l: usize, mut f: impl FnMut(End, End, f64)) {
        for n in 0..leaf::SIZE {
            let slot = l * leaf::SIZE + n;
            let Some(upper) = self.end(slot) else { continue };
            let at = leaf::local(n);
            for axis in 0..3 {
                let c = self.face[axis][slot];
                if c > 0.0 {
                    let mut below = at;
                    below[axis] -= 1;
                    let lower = self.topology.reach(l, below).and_then(|s| self.end(s));
                    if let Some(lower) = lower.filter(|&e| e != upper) {
                        f(lower, upper, c as f64);
                    }
                }
            }
        }
    }

    /// y = A x, one face after the other in a fixed order.
    pub fn apply(&self, x: &Unknowns, y: &mut Unknowns) {
        y.cells.par_iter_mut().for_each(|v| *v = 0.0);
        for (b, s) in self.super_cells.iter().enumerate() {
            y.supers[b] = s.compliance * x.supers[b];
        }
        let value = |e: End| match e {
            End::Cell(s) => x.cells[s],
            End::Super(b) => x.supers[b],
            End::Zero => 0.0,
        };
        for l in 0..self.topology.len() {
            self.for_faces_of(l, |lower, upper, c| {
                let flow = c * (value(upper) - value(lower));
                for (end, sign) in [(upper, 1.0), (lower, -1.0)] {
                    match end {
                        End::Cell(s) => y.cells[s] += sign * flow,
                        End::Super(b) => y.supers[b] += sign * flow,
                        End::Zero => {}
                    }
                }
            });
        }
        for link in &self.links {
            let known = link.to.map_or(0.0, |b| x.supers[b as usize]);
            let flow = f64::from(link.weight) * (x.cells[link.cell as usize] - known);
            y.cells[link.cell as usize] += flow;
            if let Some(b) = link.to {
                y.supers[b as usize] -= flow;
            }
        }
        for mass in &self.attached {
            let moved: Vec<f64> = mass.columns().iter().map(|c| c.dot(x)).collect();
            for (column, v) in mass.columns().iter().zip(mass.weigh(&moved)) {
                column.cells.iter().for_each(|&(s, w)| y.cells[s as usize] += w * v);
                column.supers.iter().for_each(|&(b, w)| y.supers[b as usize] += w * v);
            }
        }
    }
}

impl super::attached::Column {
    /// cᵀ x.
    pub fn dot(&self, x: &Unknowns) -> f64 {
        let cells: f64 = self.cells.iter().map(|&(s, w)| w * x.cells[s as usize]).sum();
        let supers: f64 = self.supers.iter().map(|&(b, w)| w * x.supers[b as usize]).sum();
        cells + supers
    }
}
