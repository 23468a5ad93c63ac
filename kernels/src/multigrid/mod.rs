//! A symmetric multigrid cycle on leaves: unsmoothed 2×2×2 aggregation with red-black Gauss-Seidel in f32.
//!
//! Coarse leaves hold 8³ coarse cells, so every level runs the same kernels. Super-cells stay unknowns on
//! every level until they fit into one coarse cell; then they become that cell.

mod aggregation;
mod block;
mod blocks;
mod bodies;
mod body;
mod coarsen;
mod conductance;
mod diagonal;
mod level;
mod moving;
mod opposed;
mod parts;
mod plane;
mod response;
mod rows;
mod settle;
mod sheet;
mod sheets;
pub(crate) mod smoother;
pub(crate) mod transfer;
mod work;

pub use aggregation::{Aggregation, Parent};
pub use block::{Block, Blocks, Member, Motion, Opposed};
pub use bodies::Bodies;
pub use body::Body;
pub use coarsen::{Extent, neighbours};
pub use level::{Contact, Contacts, GRAIN, Group, Level, Supers, ZERO};
pub use moving::Moving;
pub use parts::Parts;
pub use plane::{Pair, pair};
pub use rows::{Rows, lanes};
pub use sheet::Sheet;
pub use smoother::relax_colour;
pub use work::Work;

use crate::checkerboard::{self, Field, Half};
use crate::dense::Cholesky;
use crate::memory;
use crate::sparse::SparseFactor;

/// Shape of the cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycle {
    /// Sweeps before and after the coarse correction, on the finest level.
    pub sweeps: usize,
    /// The same on every coarser level.
    pub coarse_sweeps: usize,
    /// Visits of each level but the second in one visit to the level above: 1 is a V-cycle, 2 a W-cycle. (The second
    /// level is always visited only once, because the two finest levels cost nearly everything.)
    pub visits: usize,
}

impl Default for Cycle {
    fn default() -> Self {
        Self { sweeps: 2, coarse_sweeps: 2, visits: 2 }
    }
}

/// Cells below which a level is solved directly.
const DIRECT_CELLS: usize = 96;
/// Unknowns (super-cells included) up to which a dense factor is cheaper than sweeps.
const DIRECT_UNKNOWNS: usize = 600;
/// Sweeps that replace the direct solve above that.
const COARSEST_SWEEPS: usize = 12;

/// The unknowns of the coarsest level and the factor of its matrix.
#[derive(Clone, Debug, Default)]
struct Coarsest {
    /// (colour, leaf, row, lane) of each unknown cell; super-cells follow.
    cells: Vec<(usize, usize, usize, usize)>,
    factor: Option<Cholesky>,
    values: Vec<f64>,
}

/// The hierarchy: level 0 is the finest.
#[derive(Clone, Debug, Default)]
pub struct Multigrid {
    /// Finest first.
    pub levels: Vec<Level>,
    maps: Vec<Aggregation>,
    /// The vectors of each level; `work[0].b` and `.b_super` are the cycle's input, `.x` its output.
    pub work: Vec<Work>,
    coarsest: Coarsest,
    cycle: Cycle,
}

impl Multigrid {
    /// Drops the hierarchy and its finest level, to free memory.
    pub fn take_finest(&mut self) -> Level {
        self.levels.drain(..).next().unwrap_or_default()
    }

    /// Builds the coarser levels under `finest`, whose super-cells have the given extents and which these bodies push.
    pub fn build(&mut self, mut finest: Level, mut extents: Vec<Extent>, bodies: Bodies, cycle: Cycle) {
        self.cycle = cycle;
        self.levels.clear();
        self.maps.clear();
        let Bodies { mut few, mut sheets } = bodies;
        finest.blocks = blocks::on_level(&finest, &few);
        finest.sheets = sheets::on_level(&finest, &sheets);
        opposed::answer(&mut finest);
        self.levels.push(finest);
        while let Some(fine) = self.levels.last() {
            if fine.unknown_cells <= DIRECT_CELLS {
                break;
            }
            let (mut coarse, map) = coarsen::coarsen(fine, &mut extents, &mut few);
            sheets = sheets.iter().map(|sheet| sheet.coarsen(&map)).collect();
            if coarse.unknown_cells >= fine.unknown_cells {
                break;
            }
            blocks::set_lone_diagonals(&mut coarse, &few);
            sheets::set_lone_diagonals(&mut coarse, &sheets);
            coarse.blocks = blocks::on_level(&coarse, &few);
            coarse.sheets = sheets::on_level(&coarse, &sheets);
            opposed::answer(&mut coarse);
            self.levels.push(coarse);
            self.maps.push(map);
        }
        self.work.resize_with(self.levels.len(), Work::default);
        for (work, level) in self.work.iter_mut().zip(&self.levels) {
            work.fit(level);
        }
        self.coarsest = self.levels.last().map(Coarsest::new).unwrap_or_default();
    }

    /// Bytes allocated, all levels.
    pub fn bytes(&self) -> usize {
        let levels = self.levels.iter().map(Level::bytes).sum::<usize>();
        let maps = self.maps.iter().map(Aggregation::bytes).sum::<usize>();
        let work = self.work.iter().map(Work::bytes).sum::<usize>();
        levels + maps + work + self.coarsest.bytes()
    }

    /// Uses V-cycles from now on, until the next hierarchy is built; returns whether that changes anything.
    pub fn take_v_cycle(&mut self) -> bool {
        let changes = (0..self.levels.len()).any(|l| self.visits_from(l) > 1);
        self.cycle.visits = 1;
        changes
    }

    /// Visits to the next coarser level in one visit to level `l`.
    fn visits_from(&self, l: usize) -> usize {
        if l == 0 || l + 2 >= self.levels.len() { 1 } else { self.cycle.visits }
    }

    /// One cycle from a zero guess: `work[0].x ≈ A⁻¹ work[0].b`; linear and symmetric. With B_l one visit to level l,
    /// two visits are 2 B_l − B_l A_l B_l. This is positive definite as long as no eigenvalue of B_l A_l exceeds 2,
    /// which is not guaranteed, because coarse levels are no Galerkin products. One visit is always positive definite.
    pub fn precondition(&mut self) {
        self.improve(0, true);
    }

    /// Smooths a level, corrects it by the next coarser one once or more, and smooths it in reverse order.
    fn improve(&mut self, l: usize, from_zero: bool) {
        if l + 1 == self.levels.len() {
            return self.coarsest.solve(&self.levels[l], &mut self.work[l]);
        }
        let sweeps = self.cycle.sweeps_on(l);
        smoother::smooth_down(&self.levels[l], &mut self.work[l], sweeps, from_zero);
        let (fine, coarse) = self.work.split_at_mut(l + 1);
        transfer::restrict(&self.levels[l], &mut fine[l], &self.maps[l], &mut coarse[0]);
        (0..self.visits_from(l)).for_each(|visit| self.improve(l + 1, visit == 0));
        let (fine, coarse) = self.work.split_at_mut(l + 1);
        transfer::prolong(&self.levels[l], &mut fine[l], &self.maps[l], &coarse[0]);
        smoother::smooth_up(&self.levels[l], &mut fine[l], sweeps);
    }
}

impl Cycle {
    fn sweeps_on(&self, level: usize) -> usize {
        if level == 0 { self.sweeps } else { self.coarse_sweeps }
    }
}

impl Coarsest {
    fn new(level: &Level) -> Self {
        let mut index: Field<i32> = Default::default();
        checkerboard::reset(&mut index, level.leaves());
        let mut cells = Vec::new();
        for leaf in 0..level.leaves() {
            for colour in 0..2 {
                let mut open = [[false; 4]; 64];
                level.for_weights(leaf, colour, |r, w| {
                    open[r] = std::array::from_fn(|k| w.iter().any(|w| w[k] > 0.0));
                });
                for c in level.contacts.groups_of(leaf, colour).iter().flat_map(|g| level.contacts.of(g)) {
                    open[c.at().0][c.at().1] = true;
                }
                let of_blocks = level.blocks.list.iter().flat_map(|b| b.cells(colour)).map(|e| e.0);
                let of_sheets = level.sheets.iter().flat_map(|s| &s.cells[colour]).map(|e| (e.0, e.1));
                for cell in of_blocks.chain(of_sheets) {
                    if cell.0 as usize == leaf {
                        open[usize::from(cell.1 >> 2)][usize::from(cell.1 & 3)] = true;
                    }
                }
                for r in 0..64 {
                    for k in 0..4 {
                        if open[r][k] {
                            index[colour][leaf][r][k] = cells.len() as i32;
                            cells.push((colour, leaf, r, k));
                        }
                    }
                }
            }
        }
        let n = cells.len() + level.super_count();
        let factor = (n <= DIRECT_UNKNOWNS).then(|| Cholesky::new(assemble(level, &cells, &index), n));
        Self { cells, factor, values: vec![0.0; n] }
    }

    fn bytes(&self) -> usize {
        let factor = self.factor.as_ref().map_or(0, Cholesky::bytes);
        memory::of(&self.cells) + memory::of(&self.values) + factor
    }

    fn solve(&mut self, level: &Level, work: &mut Work) {
        let Some(factor) = &self.factor else {
            smoother::smooth_down(level, work, COARSEST_SWEEPS, true);
            smoother::smooth_up(level, work, COARSEST_SWEEPS);
            return;
        };
        // Cells without any neighbour (at most coupled to attached masses) are not part of the factor.
        for (x, (b, d)) in work.x.iter_mut().zip(work.b.iter().zip(&level.diagonal)) {
            let values = x.as_flattened_mut().as_flattened_mut().iter_mut();
            let known = b.as_flattened().as_flattened().iter().zip(d.as_flattened().as_flattened());
            values.zip(known).for_each(|(x, (b, d))| *x = b / d);
        }
        let (cells, supers) = self.values.split_at_mut(self.cells.len());
        for (v, &(c, l, r, k)) in cells.iter_mut().zip(&self.cells) {
            *v = work.b[c][l][r][k] as f64;
        }
        supers.copy_from_slice(&work.b_super);
        factor.solve(&mut self.values);
        let (cells, supers) = self.values.split_at(self.cells.len());
        for (v, &(c, l, r, k)) in cells.iter().zip(&self.cells) {
            work.x[c][l][r][k] = *v as f32;
        }
        work.x_super.copy_from_slice(supers);
    }
}

/// Adds the rows of cells to a dense matrix.
struct Entries<'a> {
    n: usize,
    /// Numbers of the cells.
    own: &'a Half<i32>,
    a: &'a mut [f64],
}

impl Rows<i32> for Entries<'_> {
    fn rows(&mut self, r: usize, w: [Pair<f32>; 6], _: Pair<f32>, others: [Pair<i32>; 6]) {
        let (n, own) = (self.n, pair(self.own, r));
        for (w, others) in w.iter().zip(&others) {
            for k in (0..8).filter(|&k| w[k] > 0.0) {
                let i = own[k] as usize;
                self.a[i * n + i] += w[k] as f64;
                self.a[i * n + others[k] as usize] -= w[k] as f64;
            }
        }
    }
}

/// The dense matrix of a level: its cells in the given order, then its super-cells.
fn assemble(level: &Level, cells: &[(usize, usize, usize, usize)], index: &Field<i32>) -> Vec<f64> {
    let n = cells.len() + level.super_count();
    let mut a = vec![0.0; n * n];
    for leaf in 0..level.leaves() {
        for colour in 0..2 {
            let own = index[colour][leaf];
            level.for_rows(leaf, colour, &index[1 - colour], &mut Entries { n, own: &own, a: &mut a });
            for group in level.contacts.groups_of(leaf, colour) {
                for c in level.contacts.of(group) {
                    let i = own[c.at().0][c.at().1] as usize;
                    a[i * n + i] += c.weight as f64;
                    if group.target != ZERO {
                        let b = cells.len() + group.target as usize;
                        a[i * n + b] -= c.weight as f64;
                        a[b * n + i] -= c.weight as f64;
                    }
                }
            }
        }
    }
    for (b, d) in level.supers.diagonal.iter().enumerate() {
        let i = cells.len() + b;
        a[i * n + i] = *d;
        for &(o, w) in &level.supers.neighbours[b] {
            a[i * n + cells.len() + o as usize] -= w;
        }
    }
    add_bodies(level, cells.len(), index, &mut a, n);
    add_sheets(level, cells.len(), index, &mut a, n);
    a
}

/// Adds C W Cᵀ of the bodies to the dense matrix of a level.
fn add_bodies(level: &Level, cells: usize, index: &Field<i32>, a: &mut [f64], n: usize) {
    for block in &level.blocks.list {
        let mut rows: Vec<(usize, Vec<f64>)> = Vec::new();
        for colour in 0..2 {
            rows.extend(block.cells(colour).map(|((leaf, lane), row)| {
                let at = index[colour][leaf as usize][usize::from(lane >> 2)][usize::from(lane & 3)];
                (at as usize, row)
            }));
        }
        rows.extend(block.super_rows().map(|(b, row)| (cells + b as usize, row)));
        let k = block.size;
        for (i, row) in &rows {
            let held: Vec<f64> =
                (0..k).map(|m| (0..k).map(|l| row[l] * block.weight[l * k + m]).sum()).collect();
            for (j, other) in &rows {
                a[i * n + j] += held.iter().zip(other).map(|(h, c)| h * c).sum::<f64>();
            }
        }
    }
}

/// Adds C M⁻¹ Cᵀ of the sheets to the dense matrix of a level.
fn add_sheets(level: &Level, cells: usize, index: &Field<i32>, a: &mut [f64], n: usize) {
    for sheet in &level.sheets {
        let Ok(mass) = SparseFactor::new(sheet.size, &sheet.mass) else { continue };
        let mut entries: Vec<(usize, u32, f64)> = Vec::new();
        for (index, cells) in index.iter().zip(&sheet.cells) {
            entries.extend(cells.iter().map(|&(leaf, lane, j, c)| {
                let at = index[leaf as usize][usize::from(lane >> 2)][usize::from(lane & 3)];
                (at as usize, j, f64::from(c))
            }));
        }
        entries.extend(sheet.supers.iter().map(|&(b, j, c)| (cells + b as usize, j, c)));
        let (mut pushed, mut held) = (vec![0.0; sheet.size], vec![0.0; sheet.size]);
        for row in entries.chunk_by(|a, b| a.0 == b.0) {
            pushed.fill(0.0);
            row.iter().for_each(|e| pushed[e.1 as usize] = e.2);
            mass.solve(&pushed, &mut held);
            entries.iter().for_each(|e| a[row[0].0 * n + e.0] += e.2 * held[e.1 as usize]);
        }
    }
}
