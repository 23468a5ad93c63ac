//! The contacts of cells and super-cells in the order that kernels read them: by row for the cells, in runs of limited
//! length for the super-cells.

use super::layout::{Entry, WideEntry};
use crate::conjugate_gradients::LowRank;
use crate::multigrid::{Contacts, Level, ZERO};

/// No page.
const ABSENT: u32 = u32::MAX;
/// Rows of a half-leaf.
const ROWS: usize = 64;
/// Contacts of a super-cell that one block sums.
const RUN: usize = 512;

/// Entries by row: `RowLists` of layout.cuh.
#[derive(Debug)]
pub struct Pages<E> {
    /// `[2 * leaf + colour]`; empty when there are no entries at all.
    pub page: Vec<u32>,
    /// `[page][65]`.
    pub first: Vec<u32>,
    /// The entries.
    pub entries: Vec<E>,
}

impl<E> Pages<E> {
    fn new(leaves: usize) -> Self {
        Self { page: vec![ABSENT; 2 * leaves], first: Vec::new(), entries: Vec::new() }
    }

    /// Adds the entries of a half-leaf, each with its place row · 4 + lane; entries of one cell keep their order.
    fn add(&mut self, half: usize, list: &mut Vec<(u8, E)>) {
        if list.is_empty() {
            return;
        }
        list.sort_by_key(|e| e.0);
        self.page[half] = (self.first.len() / (ROWS + 1)) as u32;
        let base = self.entries.len();
        let first = (0..=ROWS).map(|r| (base + list.partition_point(|e| ((e.0 >> 2) as usize) < r)) as u32);
        self.first.extend(first);
        self.entries.extend(list.drain(..).map(|e| e.1));
    }

    /// Drops the page table when there is nothing in it.
    fn finish(mut self) -> Self {
        if self.entries.is_empty() {
            self.page.clear();
        }
        self
    }
}

/// Contacts of cells with super-cells, and with known zeros.
pub fn contact_pages(contacts: &Contacts, leaves: usize) -> [Pages<Entry>; 2] {
    let mut pages = [Pages::new(leaves), Pages::new(leaves)];
    let mut lists = [Vec::new(), Vec::new()];
    for half in 0..2 * leaves {
        for group in contacts.groups_of(half / 2, half % 2) {
            let kind = usize::from(group.target == ZERO);
            lists[kind].extend(
                contacts.of(group).iter().map(|c| {
                    (c.lane, Entry { weight: c.weight, target: c.target, lane: (c.lane & 3).into() })
                }),
            );
        }
        for (pages, list) in pages.iter_mut().zip(&mut lists) {
            pages.add(half, list);
        }
    }
    pages.map(Pages::finish)
}

/// The attached masses' entries by cell; their target is the column.
pub fn mass_pages(low_rank: &[LowRank], leaves: usize) -> Pages<WideEntry> {
    let columns = low_rank.iter().flat_map(|t| &t.columns).enumerate();
    let mut all: Vec<(usize, u8, WideEntry)> = columns
        .flat_map(|(number, column)| {
            column.cells.iter().map(move |&(leaf, colour, row, lane, weight)| {
                let entry = WideEntry { weight, target: number as u32, lane: lane.into() };
                (2 * leaf as usize + colour as usize, row * 4 + lane, entry)
            })
        })
        .collect();
    all.sort_by_key(|e| e.0);
    let mut pages = Pages::new(leaves);
    for half in all.chunk_by(|a, b| a.0 == b.0) {
        pages.add(half[0].0, &mut half.iter().map(|e| (e.1, e.2)).collect());
    }
    pages.finish()
}

/// The bodies' entries by cell; their target is the degree of freedom.
pub fn body_pages(level: &Level) -> Pages<WideEntry> {
    let mut all: Vec<(usize, u8, WideEntry)> = Vec::new();
    let mut first = 0;
    for block in &level.blocks.list {
        for colour in 0..2 {
            for ((leaf, lane), row) in block.cells(colour) {
                let entries = row.iter().enumerate().filter(|(_, weight)| **weight != 0.0);
                all.extend(entries.map(|(j, &weight)| {
                    let entry = WideEntry { weight, target: (first + j) as u32, lane: (lane & 3).into() };
                    (2 * leaf as usize + colour, lane, entry)
                }));
            }
        }
        first += block.size;
    }
    for sheet in &level.sheets {
        for (colour, cells) in sheet.cells.iter().enumerate() {
            all.extend(cells.iter().map(|&(leaf, lane, j, c)| {
                let target = (first + j as usize) as u32;
                let entry = WideEntry { weight: c.into(), target, lane: (lane & 3).into() };
                (2 * leaf as usize + colour, lane, entry)
            }));
        }
        first += sheet.size;
    }
    all.sort_by_key(|e| e.0);
    let mut pages = Pages::new(level.leaves());
    for half in all.chunk_by(|a, b| a.0 == b.0) {
        pages.add(half[0].0, &mut half.iter().map(|e| (e.1, e.2)).collect());
    }
    pages.finish()
}

/// A cell's name on the device: colour << 31 | leaf · 256 + row · 4 + lane.
pub fn cell_name(leaf: usize, colour: usize, row: usize, lane: usize) -> u32 {
    ((colour << 31) | (leaf * 256 + row * 4 + lane)) as u32
}

/// The contacts of super-cells from their side, cut into runs.
#[derive(Debug, Default)]
pub struct Runs {
    /// First contact of each run, and the end.
    pub first: Vec<u32>,
    /// The super-cell of each run.
    pub owner: Vec<u32>,
    /// First run of each super-cell, and the end.
    pub first_run: Vec<u32>,
    /// Cells by name.
    pub cells: Vec<u32>,
    /// Coefficients.
    pub weights: Vec<f32>,
}

impl Runs {
    /// Cuts the contacts of `supers` super-cells.
    pub fn new(contacts: &Contacts, supers: usize) -> Self {
        let mut out = Self { first: vec![0], first_run: vec![0], ..Self::default() };
        for b in 0..supers {
            let begin = out.cells.len();
            for &g in contacts.groups_of_super(b) {
                let group = &contacts.groups[g as usize];
                for c in contacts.of(group) {
                    let (row, lane) = c.at();
                    out.cells.push(cell_name(group.leaf as usize, c.colour as usize, row, lane));
                    out.weights.push(c.weight);
                }
            }
            let end = out.cells.len();
            for run in (begin..end).step_by(RUN) {
                out.first.push((run + RUN).min(end) as u32);
                out.owner.push(b as u32);
            }
            out.first_run.push(out.owner.len() as u32);
        }
        out
    }
}
