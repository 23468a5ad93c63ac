//! Makes the blocks of a level: which bodies are solved together, and their matrices.

use super::block::{Block, Blocks, Member, SUPERS};
use super::body::{Body, Name};
use super::level::Level;
use super::response::respond;
use crate::dense;
use rayon::prelude::*;

/// Degrees of freedom of bodies that are solved together; bodies that would make more lose the cells that they share.
pub const TOGETHER: usize = 256;

/// The bodies of a level whose diagonal is known, but for heavy ones.
pub fn on_level(level: &Level, bodies: &[Body]) -> Blocks {
    let bodies: Vec<&Body> = bodies.iter().filter(|body| !body.is_heavy(level)).collect();
    let mut names: Vec<(Name, u32)> = Vec::new();
    for (i, body) in bodies.iter().enumerate() {
        let supers = body.supers.iter().map(|s| (SUPERS as u8, s.0, 0));
        names.extend(body.cells.iter().copied().chain(supers).map(|cell| (cell, i as u32)));
    }
    names.sort_unstable();
    let group = together(&bodies, &names);
    let mut list: Vec<Block> = Vec::new();
    let mut block_of = vec![usize::MAX; bodies.len()];
    for (i, body) in bodies.iter().enumerate() {
        let root = group[i];
        if root == i {
            block_of[i] = list.len();
            list.push(Block::default());
        }
        block_of[i] = block_of[root];
        let number = block_of[i];
        let block = &mut list[number];
        let mut member = Member { at: block.size, size: body.size, ..Member::default() };
        let owned = |name: Name| {
            let first = names[names.partition_point(|n| n.0 < name)].1;
            group[first as usize] == root
        };
        for (&cell, row) in body.cells.iter().zip(body.coefficients.chunks_exact(body.size)) {
            if owned(cell) {
                let colour = usize::from(cell.0);
                member.cells[colour].push((cell.1, cell.2));
                member.coefficients[colour].extend_from_slice(row);
            }
        }
        let alone = |b: u32| level.supers.neighbours[b as usize].is_empty();
        let supers = body.supers.iter().filter(|s| alone(s.0) && owned((SUPERS as u8, s.0, 0)));
        member.supers = supers.cloned().collect();
        block.size += body.size;
        block.members.push(member);
    }
    let mut weights: Vec<Vec<&[f64]>> = vec![Vec::new(); list.len()];
    bodies.iter().zip(&block_of).for_each(|(body, &number)| weights[number].push(&body.weight));
    list.par_iter_mut().zip(weights).for_each(|(block, weights)| finish(block, level, &weights));
    let cells = list.iter().flat_map(|b| &b.members).map(|m| m.cells[0].len() + m.cells[1].len()).sum();
    Blocks { list, cells }
}

/// Which bodies are solved together: the lowest number among them. Unlike the core's `DisjointSets`, which the kernels do not
/// see, a set that would become too large is not joined.
fn together(bodies: &[&Body], names: &[(Name, u32)]) -> Vec<usize> {
    let mut group: Vec<usize> = (0..bodies.len()).collect();
    let mut size: Vec<usize> = bodies.iter().map(|b| b.size).collect();
    let root = |group: &[usize], mut i: usize| {
        while group[i] != i {
            i = group[i];
        }
        i
    };
    for pair in names.windows(2).filter(|p| p[0].0 == p[1].0) {
        let (a, b) = (root(&group, pair[0].1 as usize), root(&group, pair[1].1 as usize));
        if a != b && size[a] + size[b] <= TOGETHER {
            group[a.max(b)] = a.min(b);
            size[a.min(b)] += size[a.max(b)];
        }
    }
    (0..bodies.len()).map(|i| root(&group, i)).collect()
}

/// Computes the matrices of a block whose members are known.
fn finish(block: &mut Block, level: &Level, weights: &[&[f64]]) {
    let n = block.size;
    block.weight = vec![0.0; n * n];
    let mut factor = vec![0.0; n * n];
    for (member, weight) in block.members.iter().zip(weights) {
        let k = member.size;
        let own = dense::semidefinite_factor(weight, k);
        for (i, j) in (0..k * k).map(|e| (e / k, e % k)) {
            let at = (member.at + i) * n + member.at + j;
            (block.weight[at], factor[at]) = (weight[i * k + j], own[i * k + j]);
        }
    }
    let response = |place| respond(&block.members, &block.members, level, place, [n, n]);
    block.carry = std::array::from_fn(|place| dense::carry(&factor, &response(place), n));
}

/// Gives cells that only bodies couple to anything a diagonal of the bodies' size.
pub fn set_lone_diagonals(level: &mut Level, bodies: &[Body]) {
    for body in bodies {
        let k = body.size;
        for (&(colour, leaf, lane), row) in body.cells.iter().zip(body.coefficients.chunks_exact(k)) {
            let product = |e: usize| f64::from(row[e / k]) * body.weight[e] * f64::from(row[e % k]);
            let place = (colour.into(), (lane >> 2).into(), (lane & 3).into());
            level.set_lone_diagonal(leaf as usize, place, || (0..k * k).map(product).sum::<f64>() as f32);
        }
        for (b, row) in &body.supers {
            let product = |e: usize| row[e / k] * body.weight[e] * row[e % k];
            level.set_lone_super_diagonal(*b as usize, || (0..k * k).map(product).sum());
        }
    }
}
