//! Copies a multigrid hierarchy and the attached masses to a device.

use super::arena::{Arena, starts};
use super::attached::{upload_bodies, upload_factors};
use super::device::{Device, Failure};
use super::layout;
use super::pages::{Runs, cell_name, contact_pages, mass_pages};
use crate::checkerboard;
use crate::conjugate_gradients::{LowRank, Weight};
use crate::dense::Cholesky;
use crate::multigrid::{Aggregation, Level, Multigrid, Parent};

/// Number of values of a field with `leaves` leaves, the void included.
pub fn field_values(leaves: usize) -> usize {
    2 * (leaves + 1) * 256
}

/// A level and its vectors on a device.
#[derive(Clone, Copy, Debug)]
pub struct DeviceLevel {
    /// Its description.
    pub level: layout::Level,
    /// Its vectors in the cycle.
    pub work: layout::Work,
    /// Scratch, one entry per super-cell.
    pub totals: u64,
}

impl DeviceLevel {
    fn upload<D: Device>(device: &mut D, arena: &mut Arena<D>, level: &Level) -> Result<Self, Failure> {
        let (leaves, supers) = (level.leaves(), level.super_count());
        let [bubbles, zeros] = contact_pages(&level.contacts, leaves);
        let faces = [0, 1, 2].map(|axis| arena.field(device, &level.faces[axis]));
        let [x, y, z] = faces;
        let runs = Runs::new(&level.contacts, supers);
        let on_device = layout::Level {
            leaves: leaves as u32,
            padding: 0,
            neighbours: arena.fill(device, &level.neighbours)?,
            faces: [x?, y?, z?],
            diagonal: arena.field(device, &level.diagonal)?,
            uniform: arena.next().join(device, &[&level.uniform[0], &level.uniform[1]])?,
            bubbles: arena.pages(device, &bubbles)?,
            zeros: arena.pages(device, &zeros)?,
            supers: upload_supers(device, arena, level, &runs)?,
            bodies: upload_bodies(device, arena, level)?,
        };
        let work = layout::Work {
            x: arena.zeros::<f32>(device, field_values(leaves))?,
            b: arena.zeros::<f32>(device, field_values(leaves))?,
            x_super: arena.zeros::<f64>(device, supers)?,
            b_super: arena.zeros::<f64>(device, supers)?,
            inflow: arena.zeros::<f64>(device, runs.owner.len())?,
        };
        Ok(Self { level: on_device, work, totals: arena.zeros::<f64>(device, supers)? })
    }
}

fn upload_supers<D: Device>(
    device: &mut D,
    arena: &mut Arena<D>,
    level: &Level,
    runs: &Runs,
) -> Result<layout::Supers, Failure> {
    let s = &level.supers;
    let links = s.neighbours.iter().flatten();
    let others: Vec<u32> = links.clone().map(|n| n.0).collect();
    let weights: Vec<f64> = links.map(|n| n.1).collect();
    let linked = s.neighbours.iter().enumerate().filter(|(_, n)| !n.is_empty());
    let linked: Vec<u32> = linked.map(|(b, _)| b as u32).collect();
    let tied: Vec<f64> = s.compliance.iter().zip(&s.fixed).map(|(c, f)| c + f).collect();
    Ok(layout::Supers {
        count: level.super_count() as u32,
        runs: runs.owner.len() as u32,
        linked: linked.len() as u32,
        padding: 0,
        run_first: arena.fill(device, &runs.first)?,
        run_owner: arena.fill(device, &runs.owner)?,
        first_run: arena.fill(device, &runs.first_run)?,
        contact_cell: arena.fill(device, &runs.cells)?,
        contact_weight: arena.fill(device, &runs.weights)?,
        first_neighbour: arena.fill(device, &starts(s.neighbours.iter().map(Vec::len)))?,
        neighbour: arena.fill(device, &others)?,
        neighbour_weight: arena.fill(device, &weights)?,
        linked_list: arena.fill(device, &linked)?,
        diagonal: arena.fill(device, &s.diagonal)?,
        tied: arena.fill(device, &tied)?,
    })
}

fn upload_map<D: Device>(
    device: &mut D,
    arena: &mut Arena<D>,
    map: &Aggregation,
) -> Result<layout::Aggregation, Failure> {
    let parents: Vec<u32> = map.parents.iter().map(|&(leaf, octant)| leaf << 3 | u32::from(octant)).collect();
    let mut shrunk: Vec<(u32, u32)> = Vec::new();
    for (b, parent) in map.supers.iter().enumerate() {
        if let Parent::Cell(leaf, offset) = *parent {
            let (colour, row, lane) = checkerboard::place(offset as usize);
            shrunk.push((cell_name(leaf as usize, colour, row, lane), b as u32));
        }
    }
    shrunk.sort_unstable();
    let groups: Vec<&[(u32, u32)]> = shrunk.chunk_by(|a, b| a.0 == b.0).collect();
    let cells: Vec<u32> = groups.iter().map(|g| g[0].0).collect();
    let mut parent_of: Vec<u32> =
        map.supers.iter().map(|p| if let Parent::Super(p) = p { *p } else { 0 }).collect();
    for (i, group) in groups.iter().enumerate() {
        group.iter().for_each(|&(_, b)| parent_of[b as usize] = 1 << 31 | i as u32);
    }
    let members: Vec<u32> = shrunk.iter().map(|s| s.1).collect();
    Ok(layout::Aggregation {
        coarse_leaves: map.children.len() as u32,
        cells: cells.len() as u32,
        children: arena.fill(device, &map.children)?,
        parents: arena.fill(device, &parents)?,
        super_parent: arena.fill(device, &parent_of)?,
        cell: arena.fill(device, &cells)?,
        first_shrunk: arena.fill(device, &starts(groups.iter().map(|g| g.len())))?,
        shrunk: arena.fill(device, &members)?,
    })
}

fn upload_coarsest<D: Device>(
    device: &mut D,
    arena: &mut Arena<D>,
    cells: &[(usize, usize, usize, usize)],
    factor: &Cholesky,
) -> Result<layout::Coarsest, Failure> {
    let by_row = factor.inverse_factor();
    let n = by_row.len().isqrt();
    let by_column: Vec<f64> = (0..n * n).map(|e| by_row[e % n * n + e / n]).collect();
    let names: Vec<u32> = cells.iter().map(|&(c, l, r, k)| cell_name(l, c, r, k)).collect();
    Ok(layout::Coarsest {
        cells: names.len() as u32,
        size: n as u32,
        cell: arena.fill(device, &names)?,
        by_row: arena.fill(device, &by_row)?,
        by_column: arena.fill(device, &by_column)?,
    })
}

/// The attached masses on a device.
pub fn upload_masses<D: Device>(
    device: &mut D,
    arena: &mut Arena<D>,
    low_rank: &[LowRank],
    leaves: usize,
    supers: usize,
) -> Result<layout::LowRank, Failure> {
    let columns: Vec<_> = low_rank.iter().flat_map(|t| &t.columns).collect();
    let cells = columns.iter().flat_map(|c| &c.cells);
    let names: Vec<u32> =
        cells.clone().map(|e| cell_name(e.0 as usize, e.1 as usize, e.2 as usize, e.3 as usize)).collect();
    let weights: Vec<f64> = cells.map(|e| e.4).collect();
    let super_entries = columns.iter().flat_map(|c| &c.supers);
    let numbers: Vec<u32> = super_entries.clone().map(|e| e.0).collect();
    let super_weights: Vec<f64> = super_entries.map(|e| e.1).collect();
    let mut of_supers: Vec<Vec<(u32, f64)>> = vec![Vec::new(); supers];
    for (number, column) in columns.iter().enumerate() {
        column.supers.iter().for_each(|&(b, w)| of_supers[b as usize].push((number as u32, w)));
    }
    let (mut body_first, mut body_columns, mut weight_first) = (Vec::new(), Vec::new(), Vec::new());
    let (mut column, mut weight) = (0, 0);
    for term in low_rank {
        let k = term.columns.len();
        // Of a sparse mass there is no dense row: its factor gives what its columns are weighed by.
        let dense = if let Weight::Dense(_) = term.weight { k } else { 0 };
        for i in 0..k {
            body_first.push(column as u32);
            body_columns.push(dense as u32);
            weight_first.push((weight + i * dense) as u32);
        }
        column += k;
        weight += k * dense;
    }
    let mut all: Vec<f64> = Vec::new();
    for term in low_rank {
        if let Weight::Dense(w) = &term.weight {
            all.extend_from_slice(w);
        }
    }
    let column_of_super: Vec<u32> = of_supers.iter().flatten().map(|e| e.0).collect();
    let weight_of_super: Vec<f64> = of_supers.iter().flatten().map(|e| e.1).collect();
    Ok(layout::LowRank {
        columns: columns.len() as u32,
        padding: 0,
        first_entry: arena.fill(device, &starts(columns.iter().map(|c| c.cells.len())))?,
        entry_cell: arena.fill(device, &names)?,
        entry_weight: arena.fill(device, &weights)?,
        first_super: arena.fill(device, &starts(columns.iter().map(|c| c.supers.len())))?,
        super_number: arena.fill(device, &numbers)?,
        super_weight: arena.fill(device, &super_weights)?,
        body_first: arena.fill(device, &body_first)?,
        body_columns: arena.fill(device, &body_columns)?,
        weight_first: arena.fill(device, &weight_first)?,
        weight: arena.fill(device, &all)?,
        cells: arena.pages(device, &mass_pages(low_rank, leaves))?,
        first_of_super: arena.fill(device, &starts(of_supers.iter().map(Vec::len)))?,
        column_of_super: arena.fill(device, &column_of_super)?,
        weight_of_super: arena.fill(device, &weight_of_super)?,
        moved: arena.zeros::<f64>(device, columns.len())?,
        weighed: arena.zeros::<f64>(device, columns.len())?,
        factor: upload_masses_factor(device, arena, low_rank)?,
    })
}

/// The factors of all sparse masses as one.
fn upload_masses_factor<D: Device>(
    device: &mut D,
    arena: &mut Arena<D>,
    low_rank: &[LowRank],
) -> Result<layout::Factor, Failure> {
    let mut first = 0;
    let mut factors = Vec::new();
    for term in low_rank {
        if let Weight::Inverse(factor) = &term.weight {
            factors.push((&**factor, first));
        }
        first += term.columns.len() as u32;
    }
    upload_factors(device, arena, factors.into_iter())
}

/// A hierarchy on a device.
#[derive(Clone, Debug, Default)]
pub struct DeviceHierarchy {
    /// Finest first.
    pub levels: Vec<DeviceLevel>,
    /// The transfer between each level and the next coarser one.
    pub maps: Vec<layout::Aggregation>,
    /// Sweeps on each level.
    pub sweeps: Vec<usize>,
    /// Visits to the next level in one visit to each.
    pub visits: Vec<usize>,
    /// The direct solve of the last level, unless it is swept.
    pub coarsest: Option<layout::Coarsest>,
}

impl DeviceHierarchy {
    /// Copies a hierarchy to the device; `arenas` holds the memory, one per level.
    pub fn upload<D: Device>(
        device: &mut D,
        arenas: &mut Vec<Arena<D>>,
        multigrid: &Multigrid,
    ) -> Result<Self, Failure> {
        let parts = multigrid.parts();
        arenas.resize_with(parts.levels.len(), Arena::default);
        let mut out = Self { sweeps: parts.sweeps, visits: parts.visits, ..Self::default() };
        for (l, (level, arena)) in parts.levels.iter().zip(&mut *arenas).enumerate() {
            arena.rewind();
            out.levels.push(DeviceLevel::upload(device, arena, level)?);
            if let Some(map) = parts.maps.get(l) {
                out.maps.push(upload_map(device, arena, map)?);
            } else if let Some(factor) = parts.factor {
                out.coarsest = Some(upload_coarsest(device, arena, parts.coarsest_cells, factor)?);
            }
        }
        Ok(out)
    }

    /// Uses V-cycles from now on; returns whether that changes anything.
    pub fn take_v_cycle(&mut self) -> bool {
        let changes = self.visits.iter().any(|&visits| visits > 1);
        self.visits.fill(1);
        changes
    }
}
