//! Builds the engine's finest level from a system: only leaves that hold unknown cells, red and black cells stored
//! apart.

use super::attached::{AttachedMass, Column};
use super::system::{CELL, FIXED, PressureSystem, SOLID};
use crate::grid::leaf;
use meniscus_kernels::checkerboard::{self, Half, place};
use meniscus_kernels::conjugate_gradients::{LowRank, LowRankColumn};
use meniscus_kernels::memory;
use meniscus_kernels::multigrid::{Contact, Contacts, Extent, GRAIN, Level, Supers, ZERO};
use rayon::prelude::*;

/// The leaves of a system that hold unknown cells.
#[derive(Clone, Debug, Default)]
pub(super) struct ActiveLeaves {
    /// Topology leaf of each active leaf, ascending.
    pub leaves: Vec<u32>,
    /// Active leaf of each topology leaf; the number of active leaves where it is none.
    pub number: Vec<u32>,
}

impl ActiveLeaves {
    pub fn new(system: &PressureSystem) -> Self {
        let labels = system.label.par_chunks(leaf::SIZE);
        let holds: Vec<bool> = labels.map(|l| l.contains(&CELL)).collect();
        let leaves: Vec<u32> = (0..holds.len() as u32).filter(|&l| holds[l as usize]).collect();
        let mut number = vec![leaves.len() as u32; holds.len()];
        for (i, &l) in leaves.iter().enumerate() {
            number[l as usize] = i as u32;
        }
        Self { leaves, number }
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        memory::of(&self.leaves) + memory::of(&self.number)
    }
}

/// The finest level of a system, in the memory of an old one.
pub(super) fn finest_level(system: &PressureSystem, active: &ActiveLeaves, old: Level) -> Level {
    let topology = &system.topology;
    let void = active.leaves.len() as u32;
    let neighbours = active.leaves.iter().map(|&l| {
        leaf::FACE_SLOTS.map(|s| match topology.neighbours()[l as usize][s] {
            leaf::ABSENT => void,
            n => active.number[n as usize],
        })
    });
    let mut level = Level {
        origins: active.leaves.iter().map(|&l| topology.origins()[l as usize].to_array()).collect(),
        neighbours: neighbours.collect(),
        ..old
    };
    let mut per_leaf: Vec<Vec<Contact>> = vec![Vec::new(); active.leaves.len()];
    for (axis, field) in level.faces.iter_mut().enumerate() {
        checkerboard::reset(field, active.leaves.len());
        let [red, black] = field;
        let halves = red.par_iter_mut().zip(black.par_iter_mut()).zip(&active.leaves).zip(&mut per_leaf);
        halves.with_min_len(GRAIN).for_each(|(((red, black), &l), contacts)| {
            split_faces(system, l as usize, axis, [red, black], contacts);
        });
    }
    for link in system.links.iter().filter(|link| link.weight > 0.0) {
        let (colour, row, lane) = place(link.cell as usize % leaf::SIZE);
        let target = link.to.unwrap_or(ZERO);
        let (colour, lane, weight) = (colour as u8, (row * 4 + lane) as u8, link.weight);
        per_leaf[active.number[link.cell as usize / leaf::SIZE] as usize].push(Contact {
            colour,
            lane,
            target,
            weight,
        });
    }
    per_leaf.par_iter_mut().for_each(|list| list.sort_by_key(|c| (c.colour, c.target, c.lane)));
    level.contacts = Contacts::new(&per_leaf, system.super_cells.len());
    level.supers = supers(system);
    level.finish();
    level
}

/// Sorts the `axis` faces of a leaf's unknown cells into couplings between cells and contacts.
fn split_faces(
    system: &PressureSystem,
    l: usize,
    axis: usize,
    halves: [&mut Half<f32>; 2],
    contacts: &mut Vec<Contact>,
) {
    let neighbours = &system.topology.neighbours()[l];
    let block = |slot: usize| match neighbours[slot] {
        leaf::ABSENT => None,
        n => Some(n as usize * leaf::SIZE),
    };
    let (here, below, above) =
        (l * leaf::SIZE, block(leaf::FACE_SLOTS[2 * axis]), block(leaf::FACE_SLOTS[2 * axis + 1]));
    let (stride, face) = (leaf::STRIDE[axis], &system.face[axis]);
    let wrap = (leaf::DIM - 1) * stride;
    let submerged = |n: usize| {
        let at = (n / stride) & 7;
        system.label[here + n] == CELL
            && (at > 0 || below.is_some_and(|b| system.label[b + n + wrap] == CELL))
            && (at < 7 || above.is_some_and(|a| system.label[a + n - wrap] == CELL))
    };
    if (0..leaf::SIZE).all(submerged) {
        let [red, black] = halves;
        return checkerboard::split(&face[here..here + leaf::SIZE], red, black);
    }
    for n in (0..leaf::SIZE).filter(|&n| system.label[here + n] == CELL) {
        let at = (n / stride) & 7;
        let lower = if at > 0 { Some(here + n - stride) } else { below.map(|b| b + n + wrap) };
        let upper = if at < 7 { Some(here + n + stride) } else { above.map(|a| a + n - wrap) };
        if let Some(lower) = lower {
            let weight = face[here + n];
            match system.label[lower] {
                CELL => {
                    let (colour, row, lane) = place(n);
                    halves[colour][row][lane] = weight;
                }
                label => touch(contacts, n, label, weight),
            }
        }
        if let Some(upper) = upper.filter(|&u| system.label[u] != CELL) {
            touch(contacts, n, system.label[upper], face[upper]);
        }
    }
}

fn touch(contacts: &mut Vec<Contact>, n: usize, label: i32, weight: f32) {
    if weight > 0.0 && label != SOLID {
        let (colour, row, lane) = place(n);
        let target = if label == FIXED { ZERO } else { label as u32 };
        contacts.push(Contact { colour: colour as u8, lane: (row * 4 + lane) as u8, target, weight });
    }
}

/// The super-cells' own data: compliance, and their faces to known zeros and to each other.
fn supers(system: &PressureSystem) -> Supers {
    let count = system.super_cells.len();
    let mut out = Supers {
        compliance: system.super_cells.iter().map(|s| s.compliance).collect(),
        fixed: vec![0.0; count],
        ..Supers::default()
    };
    if count == 0 {
        return out;
    }
    let faces: Vec<Vec<(i32, i32, f64)>> = (0..system.topology.len())
        .into_par_iter()
        .with_min_len(GRAIN)
        .map(|l| dry_faces(system, l))
        .collect();
    for &(lower, upper, c) in faces.iter().flatten() {
        match (lower, upper) {
            (FIXED, b) | (b, FIXED) => out.fixed[b as usize] += c,
            (a, b) => out.pairs.push((a.min(b) as u32, a.max(b) as u32, c)),
        }
    }
    out.pairs.sort_by_key(|p| (p.0, p.1));
    out.pairs.dedup_by(|next, kept| {
        let same = (next.0, next.1) == (kept.0, kept.1);
        if same {
            kept.2 += next.2;
        }
        same
    });
    out
}

/// The faces owned by a leaf that join super-cells with each other or with known zeros, by their labels.
fn dry_faces(system: &PressureSystem, l: usize) -> Vec<(i32, i32, f64)> {
    let mut out = Vec::new();
    let dry = |label: i32| label == FIXED || label >= 0;
    let labels = &system.label[l * leaf::SIZE..(l + 1) * leaf::SIZE];
    if !labels.iter().fold(false, |any, &label| any | dry(label)) {
        return out;
    }
    for n in (0..leaf::SIZE).filter(|&n| dry(labels[n])) {
        for axis in 0..3 {
            let c = system.face[axis][l * leaf::SIZE + n];
            let mut below = leaf::local(n);
            below[axis] -= 1;
            let lower = system.topology.reach(l, below).map_or(SOLID, |s| system.label[s]);
            if c > 0.0 && dry(lower) && lower != labels[n] {
                out.push((lower, labels[n], c as f64));
            }
        }
    }
    out
}

/// Index-space bounds of each super-cell's cells.
pub(super) fn extents(system: &PressureSystem) -> Vec<Extent> {
    let mut out: Vec<Extent> = vec![None; system.super_cells.len()];
    if out.is_empty() {
        return out;
    }
    let grow = |e: &mut Extent, low: [i32; 3], high: [i32; 3]| match e {
        None => *e = Some((low, high)),
        Some((l, h)) => {
            *l = std::array::from_fn(|a| l[a].min(low[a]));
            *h = std::array::from_fn(|a| h[a].max(high[a]));
        }
    };
    let per_leaf: Vec<Vec<(usize, Extent)>> = (0..system.topology.len())
        .into_par_iter()
        .with_min_len(GRAIN)
        .map(|l| {
            let mut found: Vec<(usize, Extent)> = Vec::new();
            let labels = &system.label[l * leaf::SIZE..(l + 1) * leaf::SIZE];
            if !labels.iter().fold(false, |any, &label| any | (label >= 0)) {
                return found;
            }
            for slot in (l * leaf::SIZE..(l + 1) * leaf::SIZE).filter(|&s| system.label[s] >= 0) {
                let (b, cell) = (system.label[slot] as usize, system.topology.coord(slot).to_array());
                match found.iter_mut().find(|(known, _)| *known == b) {
                    Some((_, extent)) => grow(extent, cell, cell),
                    None => found.push((b, Some((cell, cell)))),
                }
            }
            found
        })
        .collect();
    for &(b, extent) in per_leaf.iter().flatten() {
        if let Some((low, high)) = extent {
            grow(&mut out[b], low, high);
        }
    }
    out
}

/// Scale for unknowns that only attached masses couple to anything: the diagonal of C M̃⁻¹ Cᵀ.
pub(super) fn set_lone_diagonals(level: &mut Level, attached: &[AttachedMass], active: &ActiveLeaves) {
    for mass in attached {
        let form = |row: &[(usize, f64)]| mass.weight().form(mass.columns().len(), row);
        for_rows(
            mass,
            |c| &c.cells,
            |slot, row| {
                let (leaf, n) = (active.number[slot as usize / leaf::SIZE], slot as usize % leaf::SIZE);
                level.set_lone_diagonal(leaf as usize, place(n), || form(row) as f32);
            },
        );
        for_rows(mass, |c| &c.supers, |b, row| level.set_lone_super_diagonal(b as usize, || form(row)));
    }
}

/// Calls `f(row, entries by column)` for the rows of C that one kind of entries names.
fn for_rows(
    mass: &AttachedMass,
    kind: fn(&Column) -> &Vec<(u32, f64)>,
    mut f: impl FnMut(u32, &[(usize, f64)]),
) {
    let columns = mass.columns().iter().enumerate();
    let mut entries: Vec<(u32, usize, f64)> =
        columns.flat_map(|(j, c)| kind(c).iter().map(move |&(row, w)| (row, j, w))).collect();
    entries.sort_by_key(|e| (e.0, e.1));
    for run in entries.chunk_by(|a, b| a.0 == b.0) {
        let row: Vec<(usize, f64)> = run.iter().map(|e| (e.1, e.2)).collect();
        f(run[0].0, &row);
    }
}

/// The attached masses in the engine's order.
pub(super) fn low_rank(attached: &[AttachedMass], active: &ActiveLeaves) -> Vec<LowRank> {
    let column = |c: &Column| LowRankColumn {
        cells: c
            .cells
            .iter()
            .map(|&(slot, w)| {
                let (colour, row, lane) = place(slot as usize % leaf::SIZE);
                (active.number[slot as usize / leaf::SIZE], colour as u8, row as u8, lane as u8, w)
            })
            .collect(),
        supers: c.supers.clone(),
    };
    let term = |a: &AttachedMass| LowRank {
        columns: a.columns().iter().map(column).collect(),
        weight: a.weight().clone(),
    };
    attached.iter().map(term).collect()
}
