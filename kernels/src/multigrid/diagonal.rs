//! The diagonals of a level, from its face coefficients, contacts and super-cells.

use super::body::is_joined;
use super::level::{GRAIN, Level};
use super::plane::PlaneWeights;
use crate::checkerboard::{Half, Row};
use crate::leaf;
use rayon::prelude::*;

impl Level {
    /// Computes the diagonals from everything else.
    pub fn finish(&mut self) {
        let leaves = self.leaves();
        let mut diagonal = std::mem::take(&mut self.diagonal);
        crate::checkerboard::reset(&mut diagonal, leaves);
        diagonal.iter_mut().for_each(|half| half[leaves] = [[1.0; 4]; 64]);
        let mut unknown_cells = 0;
        let mut uniform = std::mem::take(&mut self.uniform);
        for (colour, half) in diagonal.iter_mut().enumerate() {
            uniform[colour].clear();
            uniform[colour].resize(leaves, [0.0; 2]);
            let rows =
                half[..leaves].par_iter_mut().zip(&mut uniform[colour]).with_min_len(GRAIN).enumerate();
            unknown_cells +=
                rows.map(|(leaf, (d, uniform))| self.finish_half(leaf, colour, d, uniform)).sum::<usize>();
        }
        self.uniform = uniform;
        self.unknown_cells = unknown_cells;
        self.diagonal = diagonal;
        self.finish_supers();
    }

    /// The diagonal of a half-leaf and whether its rows are all alike; returns how many of its cells are unknowns.
    fn finish_half(&self, leaf: usize, colour: usize, d: &mut Half<f32>, uniform: &mut [f32; 2]) -> usize {
        let mut sums = [[0.0f64; 4]; 64];
        let first = self.faces[0][colour][leaf][0][0];
        let mut alike = first > 0.0;
        self.for_weights(leaf, colour, |r, w| {
            sums[r] = std::array::from_fn(|k| w.iter().map(|w| w[k] as f64).sum());
            alike &= w.iter().flatten().fold(true, |alike, &w| alike & (w == first));
        });
        for group in self.contacts.groups_of(leaf, colour) {
            for c in self.contacts.of(group) {
                let (r, k) = c.at();
                sums[r][k] += c.weight as f64;
            }
        }
        for (d, s) in d.iter_mut().zip(&sums) {
            *d = s.map(|s| if s > 0.0 { s as f32 } else { 1.0 });
        }
        if alike && self.contacts.groups_of(leaf, colour).is_empty() {
            *uniform = [first, d[0][0]];
        }
        sums.iter().flatten().filter(|&&s| s > 0.0).count()
    }

    /// Gives a cell that no face couples to anything the diagonal of its low-rank terms instead of 1.
    pub fn set_lone_diagonal(
        &mut self,
        leaf: usize,
        (colour, row, lane): (usize, usize, usize),
        value: impl FnOnce() -> f32,
    ) {
        let name = (colour as u8, leaf as u32, (row * 4 + lane) as u8);
        if !is_joined(self, name) {
            let value = value();
            self.diagonal[colour][leaf][row][lane] = if value > 0.0 { value } else { 1.0 };
        }
    }

    /// The same for a super-cell.
    pub fn set_lone_super_diagonal(&mut self, b: usize, value: impl FnOnce() -> f64) {
        let s = &mut self.supers;
        let tied = s.compliance[b] + s.fixed[b] > 0.0 || !s.neighbours[b].is_empty();
        if !tied && self.contacts.groups_of_super(b).is_empty() {
            let value = value();
            s.diagonal[b] = if value > 0.0 { value } else { 1.0 };
        }
    }

    fn finish_supers(&mut self) {
        let s = &mut self.supers;
        s.diagonal = s.compliance.iter().zip(&s.fixed).map(|(c, f)| c + f).collect();
        s.neighbours = vec![Vec::new(); s.diagonal.len()];
        for &(a, b, w) in &s.pairs {
            for (one, other) in [(a, b), (b, a)] {
                s.diagonal[one as usize] += w;
                s.neighbours[one as usize].push((other, w));
            }
        }
        for (b, d) in s.diagonal.iter_mut().enumerate() {
            for &g in self.contacts.groups_of_super(b) {
                let group = &self.contacts.groups[g as usize];
                *d += self.contacts.of(group).iter().map(|c| c.weight as f64).sum::<f64>();
            }
            if *d == 0.0 {
                *d = 1.0;
            }
        }
    }

    /// Calls `f(row, weights)` for the rows of a half-leaf: coefficients towards −x +x −y +y −z +z.
    #[inline(always)]
    pub fn for_weights(&self, leaf: usize, colour: usize, mut f: impl FnMut(usize, [Row<f32>; 6])) {
        for x in 0..leaf::DIM {
            let weights = PlaneWeights::new(self, leaf, colour, x);
            for y in 0..leaf::DIM {
                f(x * leaf::DIM + y, weights.row(y, (x + y + colour) & 1));
            }
        }
    }
}
