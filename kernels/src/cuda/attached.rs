//! Copies the bodies of a level to a device: blocks, sheets and sparse factors.

use super::arena::{Arena, starts};
use super::device::{Device, Failure};
use super::layout;
use super::pages::{body_pages, cell_name};
use crate::multigrid::{Level, Moving};
use crate::sparse::SparseFactor;

/// Matrices of a block besides its weight.
const MATRICES: usize = 5;

/// The bodies of a level in the smoother; nothing where there are none.
pub fn upload_bodies<D: Device>(
    device: &mut D,
    arena: &mut Arena<D>,
    level: &Level,
) -> Result<layout::Bodies, Failure> {
    let list = &level.blocks.list;
    let sheets = &level.sheets;
    if list.is_empty() && sheets.is_empty() {
        return Ok(layout::Bodies::default());
    }
    let of_blocks: usize = list.iter().map(|b| b.size).sum();
    let degrees = of_blocks + sheets.iter().map(|s| s.size).sum::<usize>();
    let mut of_degrees: Vec<Vec<(u32, f64)>> = vec![Vec::new(); 3 * degrees];
    let mut of_supers: Vec<Vec<(u32, f64)>> = vec![Vec::new(); level.super_count()];
    let mut begin = 0;
    for block in list {
        for colour in 0..2 {
            for ((leaf, lane), row) in block.cells(colour) {
                let name = cell_name(leaf as usize, colour, (lane >> 2).into(), (lane & 3).into());
                for (j, &c) in row.iter().enumerate().filter(|(_, c)| **c != 0.0) {
                    of_degrees[colour * degrees + begin + j].push((name, c));
                }
            }
        }
        for (b, row) in block.super_rows() {
            for (j, &c) in row.iter().enumerate().filter(|(_, c)| **c != 0.0) {
                of_degrees[2 * degrees + begin + j].push((b, c));
                of_supers[b as usize].push(((begin + j) as u32, c));
            }
        }
        begin += block.size;
    }
    for sheet in sheets {
        for (colour, cells) in sheet.cells.iter().enumerate() {
            for &(leaf, lane, j, c) in cells {
                let name = cell_name(leaf as usize, colour, (lane >> 2).into(), (lane & 3).into());
                of_degrees[colour * degrees + begin + j as usize].push((name, c.into()));
            }
        }
        for &(b, j, c) in &sheet.supers {
            of_degrees[2 * degrees + begin + j as usize].push((b, c));
            of_supers[b as usize].push(((begin + j as usize) as u32, c));
        }
        begin += sheet.size;
    }
    let mut carry: Vec<f64> = Vec::new();
    for block in list {
        block.carry.iter().for_each(|matrix| carry.extend(matrix));
        let none = vec![0.0; block.size * block.size];
        let opposed = block.opposed.as_ref().map_or([&none, &none], |o| [&o.answer, &o.push]);
        opposed.iter().for_each(|matrix| carry.extend(*matrix));
    }
    let mut matrix = starts(list.iter().map(|b| MATRICES * b.size * b.size));
    matrix.pop();
    let weight: Vec<f64> = list.iter().flat_map(|b| &b.weight).copied().collect();
    let (cells, weights): (Vec<u32>, Vec<f64>) = of_degrees.iter().flatten().copied().unzip();
    let (super_degrees, super_weights): (Vec<u32>, Vec<f64>) = of_supers.iter().flatten().copied().unzip();
    Ok(layout::Bodies {
        count: list.len() as u32,
        degrees: degrees as u32,
        first: arena.fill(device, &starts(list.iter().map(|b| b.size)))?,
        first_matrix: arena.fill(device, &matrix)?,
        carry: arena.fill(device, &carry)?,
        weight: arena.fill(device, &weight)?,
        first_entry: arena.fill(device, &starts(of_degrees.iter().map(Vec::len)))?,
        entry_cell: arena.fill(device, &cells)?,
        entry_weight: arena.fill(device, &weights)?,
        cells: arena.pages(device, &body_pages(level))?,
        first_of_super: arena.fill(device, &starts(of_supers.iter().map(Vec::len)))?,
        degree_of_super: arena.fill(device, &super_degrees)?,
        weight_of_super: arena.fill(device, &super_weights)?,
        pushed: arena.zeros::<f64>(device, degrees)?,
        moved: arena.zeros::<f64>(device, 3 * degrees)?,
        impulse: arena.zeros::<f64>(device, degrees)?,
        sheets: upload_sheets(device, arena, sheets, of_blocks)?,
    })
}

/// The sheets of a level, whose degrees of freedom begin at `begin`.
fn upload_sheets<D: Device>(
    device: &mut D,
    arena: &mut Arena<D>,
    sheets: &[Moving],
    begin: usize,
) -> Result<layout::Sheets, Failure> {
    if sheets.is_empty() {
        return Ok(layout::Sheets::default());
    }
    let degrees = sheets.iter().map(|s| s.size).sum();
    let mut mass: Vec<Vec<(u32, f64)>> = vec![Vec::new(); degrees];
    let (mut first, mut firsts) = (0, Vec::new());
    for sheet in sheets {
        for &(i, j, v) in &sheet.mass {
            let [i, j] = [i, j].map(|n| first + n as usize);
            mass[i].push(((begin + j) as u32, v));
            if i != j {
                mass[j].push(((begin + i) as u32, v));
            }
        }
        firsts.push((begin + first) as u32);
        first += sheet.size;
    }
    let (at, values): (Vec<u32>, Vec<f64>) = mass.iter().flatten().copied().unzip();
    let mut factor = |place: usize| {
        let factors = sheets.iter().zip(&firsts).map(|(s, &first)| (&s.carry[place], first));
        upload_factors(device, arena, factors)
    };
    let carry = [factor(0)?, factor(1)?, factor(2)?];
    Ok(layout::Sheets {
        degrees: degrees as u32,
        begin: begin as u32,
        mass_first: arena.fill(device, &starts(mass.iter().map(Vec::len)))?,
        mass_at: arena.fill(device, &at)?,
        mass_value: arena.fill(device, &values)?,
        carry,
    })
}

/// Factors as one, each with its first degree of freedom. A column's entries stand in the order in which the processor takes
/// them: those below its supernode first.
pub fn upload_factors<'a, D: Device>(
    device: &mut D,
    arena: &mut Arena<D>,
    factors: impl Iterator<Item = (&'a SparseFactor, u32)>,
) -> Result<layout::Factor, Failure> {
    let mut columns: Vec<Vec<(u32, f64)>> = Vec::new();
    let (mut at, mut pivots) = (Vec::new(), Vec::new());
    for (factor, first) in factors {
        let base = columns.len() as u32;
        for supernode in factor.supernode.windows(2) {
            for j in supernode[0] as usize..supernode[1] as usize {
                let near = supernode[1] as usize - 1 - j;
                let (start, end) = (factor.start[j] as usize, factor.start[j + 1] as usize);
                let order = (start + near..end).chain(start..start + near);
                columns.push(order.map(|p| (base + factor.row[p], factor.value[p])).collect());
            }
        }
        at.extend(factor.order.iter().map(|&i| first + i));
        pivots.extend_from_slice(&factor.inverse_pivot);
    }
    if columns.is_empty() {
        return Ok(layout::Factor::default());
    }
    let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); columns.len()];
    for (j, column) in columns.iter().enumerate() {
        column.iter().for_each(|&(i, v)| rows[i as usize].push((j as u32, v)));
    }
    let forward = steps(&rows, 0..rows.len());
    let backward = steps(&columns, (0..columns.len()).rev());
    let mut lists = |lists: &[Vec<(u32, f64)>]| -> Result<[u64; 3], Failure> {
        let (numbers, values): (Vec<u32>, Vec<f64>) = lists.iter().flatten().copied().unzip();
        let first = arena.fill(device, &starts(lists.iter().map(Vec::len)))?;
        Ok([first, arena.fill(device, &numbers)?, arena.fill(device, &values)?])
    };
    let (by_row, by_column) = (lists(&rows)?, lists(&columns)?);
    Ok(layout::Factor {
        size: columns.len() as u32,
        forward_steps: forward.len() as u32,
        backward_steps: backward.len() as u32,
        padding: 0,
        column: arena.fill(device, &at)?,
        row_first: by_row[0],
        row_at: by_row[1],
        row_value: by_row[2],
        column_first: by_column[0],
        column_at: by_column[1],
        column_value: by_column[2],
        inverse_pivot: arena.fill(device, &pivots)?,
        forward_first: arena.fill(device, &starts(forward.iter().map(Vec::len)))?,
        forward_list: arena.fill(device, &forward.concat())?,
        backward_first: arena.fill(device, &starts(backward.iter().map(Vec::len)))?,
        backward_list: arena.fill(device, &backward.concat())?,
        solution: arena.zeros::<f64>(device, columns.len())?,
    })
}

/// The rows of a triangular matrix in steps: each waits for those it names, which come before it in `order`.
fn steps(rows: &[Vec<(u32, f64)>], order: impl Iterator<Item = usize>) -> Vec<Vec<u32>> {
    let mut step = vec![0; rows.len()];
    let mut out: Vec<Vec<u32>> = Vec::new();
    for i in order {
        step[i] = rows[i].iter().map(|e| step[e.0 as usize] + 1).max().unwrap_or(0);
        out.resize_with(out.len().max(step[i] + 1), Vec::new);
        out[step[i]].push(i as u32);
    }
    out
}
