//! Computes coarse coefficients: the conductance between two blocks of cells, with links treated as resistors.
//!
//! Piecewise constant prolongation makes a smooth field too stiff, because the whole difference between two blocks
//! drops over the faces between them. In reality it drops over the distance from the middle of one block to the middle
//! of the other, so every fine face is in series with half of the link behind it on either side. Far inside a liquid
//! this halves the coefficient, which is the over-correction of aggregation methods [Braess 1995] [Shao et al. 2022].
//! At a surface, in a neck or beside a bubble the series adapts to the links there. Across a jump of the density it is
//! the harmonic mean [Alcouffe et al. 1981]. A block without inner links (a super-cell, a block with a single cell) has
//! no resistance of its own.

use super::level::Level;
use crate::checkerboard::{self, Half, Row, place};
use crate::leaf;

/// The contacts of a leaf's cells that are no cells, as the coarse level needs them.
#[derive(Default)]
pub struct Touched {
    /// (axis, offset of the upper cell, conductance): connections between cells of one block through a target that both
    /// touch.
    links: Vec<(u8, u16, f32)>,
    /// (target, offset of the cell, conductance), by target.
    pub contacts: Vec<(u32, u16, f32)>,
}

impl Touched {
    /// Of leaf `l`.
    pub fn new(level: &Level, l: usize) -> Self {
        let mut out = Self::default();
        let groups = || [0, 1].into_iter().flat_map(|colour| level.contacts.groups_of(l, colour));
        let mut targets: Vec<u32> = groups().map(|g| g.target).collect();
        if targets.is_empty() {
            return out;
        }
        targets.sort_unstable();
        targets.dedup();
        let mut weight = [0.0; leaf::SIZE];
        let mut cells = Vec::new();
        for target in targets {
            for c in groups().filter(|g| g.target == target).flat_map(|g| level.contacts.of(g)) {
                let n = checkerboard::offset(c.colour as usize, c.at().0, c.at().1);
                if weight[n] == 0.0 {
                    cells.push(n);
                }
                weight[n] += c.weight;
            }
            cells.iter().for_each(|&n| out.add(level, l, target, n, &weight));
            cells.drain(..).for_each(|n| weight[n] = 0.0);
        }
        out
    }

    /// Adds cell n, given how strongly each cell of the leaf touches the target. Its contact is in series with half of
    /// its links to those cells of its block that do not touch the target themselves.
    fn add(&mut self, level: &Level, l: usize, target: u32, n: usize, weight: &[f32; leaf::SIZE]) {
        let mut behind = 0.0;
        for (axis, stride) in leaf::STRIDE.into_iter().enumerate() {
            let (own, partner) = (weight[n], weight[n ^ stride]);
            if partner == 0.0 {
                let (colour, row, lane) = place(n | stride);
                behind += level.faces[axis][colour][l][row][lane];
            } else if n & stride != 0 {
                self.links.push((axis as u8, n as u16, own / (1.0 + own / partner)));
            }
        }
        self.contacts.push((target, n as u16, series(weight[n], [behind, 0.0])));
    }
}

/// The `axis` faces of some leaves; those inside blocks include what [`Touched`] adds.
pub struct Faces<'a> {
    /// The level.
    pub level: &'a Level,
    /// Per leaf.
    pub touched: &'a [Touched],
    /// The axis.
    pub axis: usize,
}

impl Faces<'_> {
    /// The halves of a leaf (or the void).
    #[inline(always)]
    fn of<'b>(&'b self, l: usize, copy: &'b mut [Half<f32>; 2]) -> [&'b Half<f32>; 2] {
        let faces = self.level.faces[self.axis].each_ref().map(|f| &f[l]);
        let links = self.touched.get(l).map_or(&[][..], |t| &t.links);
        if links.iter().all(|link| link.0 as usize != self.axis) {
            return faces;
        }
        *copy = faces.map(|half| *half);
        for &(_, n, conductance) in links.iter().filter(|link| link.0 as usize == self.axis) {
            let (colour, row, lane) = place(n as usize);
            copy[colour][row][lane] += conductance;
        }
        copy.each_ref()
    }

    /// Calls `f(x, y, conductances)` for the lower sides of the four blocks along z at (x, y), for all x, y of leaf `l`.
    pub fn for_lower_sides(&self, l: usize, mut f: impl FnMut(usize, usize, Row<f32>)) {
        let below = self.level.neighbours[l][2 * self.axis] as usize;
        let blocks = (0..16).map(|n| (n >> 2, n & 3));
        if let Some(weight) =
            self.level.uniform_weight(l).filter(|&w| self.level.uniform_weight(below) == Some(w))
        {
            let side = (0..4).fold(0.0, |sum, _| sum + series(weight, [weight; 2]));
            return blocks.for_each(|(x, y)| f(x, y, [side; 4]));
        }
        let mut copies = [[[[0.0; 4]; 64]; 2]; 2];
        let [here_copy, below_copy] = &mut copies;
        let (here, below) = (self.of(l, here_copy), self.of(below, below_copy));
        blocks.for_each(|(x, y)| f(x, y, lower_sides(here, below, self.axis, 16 * x + 2 * y)));
    }
}

/// Resistance of half a link; 0 where there is no link, because the cell is then alone in its block.
#[inline(always)]
fn half_link(link: f32) -> f32 {
    if link > 0.0 { 0.5 / link } else { 0.0 }
}

/// A coefficient in series with half of the links behind its two ends: 1 / (1/c + 1/(2 k₀) + 1/(2 k₁)).
#[inline(always)]
fn series(coefficient: f32, behind: [f32; 2]) -> f32 {
    let resistance = half_link(behind[0]) + half_link(behind[1]);
    if coefficient > 0.0 { coefficient / (1.0 + coefficient * resistance) } else { 0.0 }
}

/// Conductances through the lower `axis` sides of the four 2×2×2 blocks that start at row r, from the faces of their leaf
/// and of the leaf below.
#[inline(always)]
fn lower_sides(here: [&Half<f32>; 2], below: [&Half<f32>; 2], axis: usize, r: usize) -> Row<f32> {
    let mut out = [0.0; 4];
    let mut add = |face: &Row<f32>, above: &Row<f32>, below: &Row<f32>| {
        for k in 0..4 {
            out[k] += series(face[k], [above[k], below[k]]);
        }
    };
    for colour in 0..2 {
        let (own, other, beyond) = (here[colour], here[1 - colour], below[1 - colour]);
        match axis {
            0 => {
                for r in [r, r + 1] {
                    add(&own[r], &other[r + 8], if r >= 8 { &other[r - 8] } else { &beyond[r + 56] });
                }
            }
            1 => {
                for r in [r, r + 8] {
                    add(&own[r], &other[r + 1], if r & 7 > 0 { &other[r - 1] } else { &beyond[r + 7] });
                }
            }
            // Even z: the colour of phase 0, which is red in rows with even x + y.
            _ => {
                for r in [r + colour, r + 9 - colour] {
                    let z = &other[r];
                    add(&own[r], z, &[beyond[r][3], z[0], z[1], z[2]]);
                }
            }
        }
    }
    out
}
