//! Neighbour values and coefficients for the eight rows of one x of a half-leaf, gathered once, so that the loop over
//! rows needs no tests for leaf borders.

use super::level::Level;
use crate::checkerboard::{Half, Row};
use crate::leaf::DIM;

/// The rows of one x.
pub type Plane<T> = [Row<T>; DIM];
/// Two rows side by side: eight lanes.
pub type Pair<T> = [T; 8];

/// Rows y and y + 1 of some rows.
#[inline(always)]
pub fn pair<T: Copy>(rows: &[Row<T>], y: usize) -> Pair<T> {
    *rows[y..y + 2].as_flattened().first_chunk().expect("two rows of four")
}

#[inline(always)]
fn join<T: Copy>(a: Row<T>, b: Row<T>) -> Pair<T> {
    [a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]]
}

/// A row one lane on: `before` moves in.
#[inline(always)]
fn after<T: Copy>(before: T, row: Row<T>) -> Row<T> {
    [before, row[0], row[1], row[2]]
}

/// A row one lane back: `next` moves in.
#[inline(always)]
fn before<T: Copy>(row: Row<T>, next: T) -> Row<T> {
    [row[1], row[2], row[3], next]
}

/// A half-leaf by x.
#[inline(always)]
pub fn planes<T>(half: &Half<T>) -> &[Plane<T>; DIM] {
    half.as_chunks::<DIM>().0.first_chunk::<DIM>().expect("64 rows are 8 planes of 8")
}

/// Rows y + 1 and y + 2 of a plane, y even, where `next` follows its last row. They are read where they stand:
/// with pairs cut from a copy a solve takes 1.2 to 1.4 times as long, because the processor waits for each load that spans two stores.
#[inline(always)]
fn following<T: Copy>(rows: &Plane<T>, y: usize, next: Row<T>) -> Pair<T> {
    if y + 2 < DIM { pair(rows, y + 1) } else { join(rows[y + 1], next) }
}

/// Rows y − 1 and y, y even, where `last` stands before the first row.
#[inline(always)]
fn preceding<T: Copy>(last: Row<T>, rows: &Plane<T>, y: usize) -> Pair<T> {
    if y > 0 { pair(rows, y - 1) } else { join(last, rows[y]) }
}

/// Coefficients of a plane's rows.
pub struct PlaneWeights<'a> {
    /// Towards −x, +x, −y and −z.
    lower_x: &'a Plane<f32>,
    upper_x: &'a Plane<f32>,
    lower_y: &'a Plane<f32>,
    lower_z: &'a Plane<f32>,
    /// The other colour's lower y faces, here and the first row beyond.
    other_y: &'a Plane<f32>,
    beyond_y: Row<f32>,
    /// The other colour's lower z faces, here and in the leaf above.
    other_z: &'a Plane<f32>,
    beyond_z: &'a Plane<f32>,
}

impl<'a> PlaneWeights<'a> {
    #[inline(always)]
    pub fn new(level: &'a Level, leaf: usize, colour: usize, x: usize) -> Self {
        let n = level.neighbours[leaf].map(|n| n as usize);
        let (own, other) = (colour, 1 - colour);
        let [fx, fy, fz] = &level.faces;
        let upper_x = planes(&fx[other][leaf]);
        Self {
            lower_x: &planes(&fx[own][leaf])[x],
            upper_x: if x + 1 < DIM { &upper_x[x + 1] } else { &planes(&fx[other][n[1]])[0] },
            lower_y: &planes(&fy[own][leaf])[x],
            other_y: &planes(&fy[other][leaf])[x],
            beyond_y: fy[other][n[3]][x * DIM],
            lower_z: &planes(&fz[own][leaf])[x],
            other_z: &planes(&fz[other][leaf])[x],
            beyond_z: &planes(&fz[other][n[5]])[x],
        }
    }

    /// Coefficients of row y towards −x +x −y +y −z +z; `phase` is 0 where lane 0 stands at z = 0.
    #[inline(always)]
    pub fn row(&self, y: usize, phase: usize) -> [Row<f32>; 6] {
        let z = self.other_z[y];
        let upper_z = if phase == 0 { z } else { before(z, self.beyond_z[y][0]) };
        let upper_y = if y + 1 < DIM { self.other_y[y + 1] } else { self.beyond_y };
        [self.lower_x[y], self.upper_x[y], self.lower_y[y], upper_y, self.lower_z[y], upper_z]
    }

    /// The same of rows y and y + 1, y even; `PHASE` is that of row y.
    #[inline(always)]
    pub fn pair<const PHASE: usize>(&self, y: usize) -> [Pair<f32>; 6] {
        let (one, two) = (self.other_z[y], self.other_z[y + 1]);
        let upper_z = if PHASE == 0 {
            join(one, before(two, self.beyond_z[y + 1][0]))
        } else {
            join(before(one, self.beyond_z[y][0]), two)
        };
        let upper_y = following(self.other_y, y, self.beyond_y);
        let [lower_y, lower_z] = [pair(self.lower_y, y), pair(self.lower_z, y)];
        [pair(self.lower_x, y), pair(self.upper_x, y), lower_y, upper_y, lower_z, upper_z]
    }
}

/// Values beside a plane's rows, all of the other colour.
pub struct PlaneValues<'a, T> {
    below_x: &'a Plane<T>,
    above_x: &'a Plane<T>,
    /// The rows of y −1, of 0 to 7, and of 8.
    below_y: Row<T>,
    here: &'a Plane<T>,
    above_y: Row<T>,
    below_z: &'a Plane<T>,
    above_z: &'a Plane<T>,
}

impl<'a, T: Copy> PlaneValues<'a, T> {
    #[inline(always)]
    pub fn new(here: &'a Half<T>, [xm, xp, ym, yp, zm, zp]: [&'a Half<T>; 6], x: usize) -> Self {
        let (here, row) = (planes(here), x * DIM);
        Self {
            below_x: if x > 0 { &here[x - 1] } else { &planes(xm)[DIM - 1] },
            above_x: if x + 1 < DIM { &here[x + 1] } else { &planes(xp)[0] },
            below_y: ym[row + DIM - 1],
            here: &here[x],
            above_y: yp[row],
            below_z: &planes(zm)[x],
            above_z: &planes(zp)[x],
        }
    }

    /// Values beside rows y and y + 1, y even, towards −x +x −y +y −z +z. `PHASE` is 0 where lane 0 of row y stands at z = 0:
    /// the other colour's lanes then stand one above, else one below; in row y + 1 it is the other way round.
    #[inline(always)]
    pub fn pair<const PHASE: usize>(&self, y: usize) -> [Pair<T>; 6] {
        let (one, two) = (self.here[y], self.here[y + 1]);
        let (below, above) = if PHASE == 0 {
            (join(after(self.below_z[y][3], one), two), join(one, before(two, self.above_z[y + 1][0])))
        } else {
            (join(one, after(self.below_z[y + 1][3], two)), join(before(one, self.above_z[y][0]), two))
        };
        let below_y = preceding(self.below_y, self.here, y);
        let above_y = following(self.here, y, self.above_y);
        [pair(self.below_x, y), pair(self.above_x, y), below_y, above_y, below, above]
    }
}
