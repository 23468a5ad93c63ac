//! How the cells of a level answer what bodies push them by.

use super::block::{Member, SUPERS};
use super::level::Level;

/// Cᵀ D⁻¹ C' of a colour, or of the super-cells, rows × columns.
pub fn respond(
    members: &[Member],
    others: &[Member],
    level: &Level,
    place: usize,
    [rows, columns]: [usize; 2],
) -> Vec<f64> {
    let mut out = vec![0.0; rows * columns];
    for one in members {
        for other in others {
            for_shared(one, other, level, place, |c, o, d| {
                for (i, j) in (0..one.size * other.size).map(|e| (e / other.size, e % other.size)) {
                    out[(one.at + i) * columns + other.at + j] += c(i) * o(j) / d;
                }
            });
        }
    }
    out
}

/// Calls `f(row of C, row of the other's C, diagonal)` for the cells of a colour, or the super-cells, that both push.
fn for_shared(
    one: &Member,
    other: &Member,
    level: &Level,
    place: usize,
    mut f: impl FnMut(&dyn Fn(usize) -> f64, &dyn Fn(usize) -> f64, f64),
) {
    if place == SUPERS {
        for (b, row) in &one.supers {
            for (_, theirs) in other.supers.iter().filter(|o| o.0 == *b) {
                f(&|i| row[i], &|j| theirs[j], level.supers.diagonal[*b as usize]);
            }
        }
        return;
    }
    let (cells, theirs) = (&one.cells[place], &other.cells[place]);
    let mut next = 0;
    for (c, &cell) in cells.iter().enumerate() {
        while next < theirs.len() && theirs[next] < cell {
            next += 1;
        }
        if theirs.get(next) == Some(&cell) {
            let row = &one.coefficients[place][c * one.size..][..one.size];
            let their_row = &other.coefficients[place][next * other.size..][..other.size];
            let diagonal = level.diagonal[place][cell.0 as usize][usize::from(cell.1 >> 2)];
            let d = f64::from(diagonal[usize::from(cell.1 & 3)]);
            f(&|i| f64::from(row[i]), &|j| f64::from(their_row[j]), d);
        }
    }
}
