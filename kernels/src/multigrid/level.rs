//! One grid of the multigrid hierarchy: leaves, face coefficients, and the cells' contacts.

use super::block::Blocks;
use super::moving::Moving;
use crate::checkerboard::Field;
use crate::memory;

/// Target of a contact with a pressure known to be 0.
pub const ZERO: u32 = u32::MAX;

/// A cell's coupling to something that is not a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Colour of the cell.
    pub colour: u8,
    /// row · 4 + lane of the cell in its half-leaf.
    pub lane: u8,
    /// A super-cell, or [`ZERO`].
    pub target: u32,
    /// Coefficient.
    pub weight: f32,
}

impl Contact {
    /// Row and lane of the cell.
    #[inline(always)]
    pub fn at(&self) -> (usize, usize) {
        ((self.lane >> 2) as usize, (self.lane & 3) as usize)
    }
}

/// A run of contacts of one half-leaf with one target.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The leaf.
    pub leaf: u32,
    /// The shared target.
    pub target: u32,
    /// First contact.
    pub first: u32,
    /// One past the last contact.
    pub end: u32,
}

/// All contacts of a level, ordered by leaf, colour, target, cell.
#[derive(Clone, Debug, Default)]
pub struct Contacts {
    /// The contacts.
    pub list: Vec<Contact>,
    /// Runs of [`Self::list`] by (leaf, colour, target).
    pub groups: Vec<Group>,
    /// `[leaf * 2 + colour]` and one more: first group of each half-leaf.
    pub start: Vec<u32>,
    /// The groups of each super-cell, in order: `by_super[super_start[b]..super_start[b + 1]]`.
    pub by_super: Vec<u32>,
    /// See [`Self::by_super`].
    pub super_start: Vec<u32>,
}

impl Contacts {
    /// From the contacts of each leaf, each list sorted by (colour, target, lane).
    pub fn new(per_leaf: &[Vec<Contact>], supers: usize) -> Self {
        let mut out = Self { start: vec![0], super_start: vec![0; supers + 1], ..Self::default() };
        for (leaf, list) in per_leaf.iter().enumerate() {
            let black = list.partition_point(|c| c.colour == 0);
            for half in [&list[..black], &list[black..]] {
                for run in half.chunk_by(|a, b| a.target == b.target) {
                    let (first, target) = (out.list.len() as u32, run[0].target);
                    out.list.extend_from_slice(run);
                    out.groups.push(Group { leaf: leaf as u32, target, first, end: out.list.len() as u32 });
                    if target != ZERO {
                        out.super_start[target as usize + 1] += 1;
                    }
                }
                out.start.push(out.groups.len() as u32);
            }
        }
        for b in 0..supers {
            out.super_start[b + 1] += out.super_start[b];
        }
        let mut next = out.super_start.clone();
        out.by_super = vec![0; out.super_start[supers] as usize];
        for (g, group) in out.groups.iter().enumerate().filter(|(_, g)| g.target != ZERO) {
            out.by_super[next[group.target as usize] as usize] = g as u32;
            next[group.target as usize] += 1;
        }
        out
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        let numbers = [&self.start, &self.by_super, &self.super_start].map(memory::of);
        memory::of(&self.list) + memory::of(&self.groups) + numbers.iter().sum::<usize>()
    }

    /// The groups of a half-leaf.
    #[inline(always)]
    pub fn groups_of(&self, leaf: usize, colour: usize) -> &[Group] {
        let k = leaf * 2 + colour;
        &self.groups[self.start[k] as usize..self.start[k + 1] as usize]
    }

    /// The contacts of a group.
    #[inline(always)]
    pub fn of(&self, group: &Group) -> &[Contact] {
        &self.list[group.first as usize..group.end as usize]
    }

    /// The groups of a super-cell, by number.
    #[inline(always)]
    pub fn groups_of_super(&self, b: usize) -> &[u32] {
        &self.by_super[self.super_start[b] as usize..self.super_start[b + 1] as usize]
    }
}

/// The couplings of super-cells besides their contacts with cells.
#[derive(Clone, Debug, Default)]
pub struct Supers {
    /// Per super-cell: compliance.
    pub compliance: Vec<f64>,
    /// Per super-cell: couplings to a pressure known to be 0.
    pub fixed: Vec<f64>,
    /// Couplings between two super-cells (lower number, higher number, coefficient), sorted, no repeats.
    pub pairs: Vec<(u32, u32, f64)>,
    /// Per super-cell: its row's diagonal, 1 for an empty row; filled by [`Level::finish`].
    pub diagonal: Vec<f64>,
    /// Per super-cell: [`Self::pairs`] seen from it (other super-cell, coefficient); filled by [`Level::finish`].
    pub neighbours: Vec<Vec<(u32, f64)>>,
}

/// One grid of the hierarchy. Unknowns: the cells with a non-zero row, and the super-cells.
#[derive(Clone, Debug, Default)]
pub struct Level {
    /// Sorted leaf origins.
    pub origins: Vec<[i32; 3]>,
    /// Per leaf, its neighbours −x +x −y +y −z +z; the void (= number of leaves) where absent.
    pub neighbours: Vec<[u32; 6]>,
    /// Per axis: coefficient between a cell and the cell below it; 0 unless both are unknowns.
    pub faces: [Field<f32>; 3],
    /// Row sums of |off-diagonals| and contacts; 1 for cells that are no unknowns.
    pub diagonal: Field<f32>,
    /// `[colour][leaf]`: the one coefficient and the one diagonal of a half-leaf whose rows are all alike, or 0;
    /// filled by [`Level::finish`].
    pub uniform: [Vec<[f32; 2]>; 2],
    /// Couplings of cells with super-cells and known zeros.
    pub contacts: Contacts,
    /// The super-cells.
    pub supers: Supers,
    /// The bodies, as the smoother knows them; filled by [`super::Multigrid::build`].
    pub blocks: Blocks,
    /// The bodies with sparse masses that are light here; filled likewise.
    pub sheets: Vec<Moving>,
    /// Number of cells that are unknowns; filled by [`Level::finish`].
    pub unknown_cells: usize,
}

/// Number of leaves below which a loop runs on one thread.
pub const GRAIN: usize = 8;

impl Level {
    /// Number of leaves.
    pub fn leaves(&self) -> usize {
        self.origins.len()
    }

    /// Number of super-cells.
    pub fn super_count(&self) -> usize {
        self.supers.compliance.len()
    }

    /// The one coefficient of a leaf whose rows are all alike.
    #[inline(always)]
    pub fn uniform_weight(&self, l: usize) -> Option<f32> {
        let [[red, _], [black, _]] = [self.uniform[0].get(l)?, self.uniform[1].get(l)?];
        (*red > 0.0 && red == black).then_some(*red)
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        let s = &self.supers;
        let fields = self.faces.iter().chain([&self.diagonal]).map(memory::of_field).sum::<usize>();
        let supers = [&s.compliance, &s.fixed, &s.diagonal].map(memory::of).iter().sum::<usize>();
        let links = memory::of(&s.pairs) + memory::of_nested(&s.neighbours);
        let uniform = self.uniform.iter().map(memory::of).sum::<usize>();
        let leaves = memory::of(&self.origins) + memory::of(&self.neighbours) + uniform;
        let sheets = memory::of(&self.sheets) + self.sheets.iter().map(Moving::bytes).sum::<usize>();
        leaves + fields + self.contacts.bytes() + supers + links + self.blocks.bytes() + sheets
    }
}
