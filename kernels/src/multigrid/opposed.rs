//! What red and black cells push a light body by against each other.
//!
//! Sweeps of one colour at a time cannot change it: a light body (W large) holds Cᵀ x of red and black together near 0, so
//! each colour answers what the other does, and red +s with black −s stays as it is. On coarser levels it cannot be told from 0.
//! So a red sweep between two black ones answers for both colours. With the black rows eliminated, as the black sweeps do,
//! and the red directions V = D⁻¹ C of a body, it corrects x by
//!
//! ```text
//! V K⁻¹ Vᵀ ρ   in place of   V G⁻¹ Vᵀ ρ,   K = Vᵀ S V,   G = Vᵀ A_rr V = T + T W T
//! ```
//!
//! ρ the red residual, S = A_rr − A_rb A_bb⁻¹ A_br. All other red directions are answered as before. It is a sum of two
//! subspace corrections of S, so that no eigenvalue exceeds 2 [Xu 1992] and the smoother converges. That holds for black rows that are
//! solved: a body beside a bubble, which is solved between black and red, is answered as before. With U = A_f V, A_f the faces
//! between red and black,
//!
//! ```text
//! K = T_r − Uᵀ D⁻¹ U + (T_r + Z)ᵀ W (1 + T_b W)⁻¹ (T_r + Z),   Z = C_bᵀ D⁻¹ U
//! ```
//!
//! Neighbours. Black cells that another body or a sheet pushes have A_bb > D: they are left out of Uᵀ D⁻¹ U, which makes K larger, so
//! the step shorter. Light bodies that reach the same black rows are not orthogonal in S. With n such neighbours a body's K counts
//! 1 + n times: Σ P / (1 + n) has no eigenvalue above that of the same sum over a graph's degrees, 1, and the two corrections still
//! come to at most 2.

use super::block::{Block, Member, Opposed};
use super::body::{Name, name};
use super::level::{Level, ZERO};
use super::response::respond;
use crate::checkerboard::{offset, place};
use crate::dense;
use crate::leaf;
use rayon::prelude::*;

/// Largest entry of T W beside 1 below which a body is not light.
const LIGHT: f64 = 0.25;
/// Share of T that is added to K, so that no direction is overdone.
const GUARD: f64 = 0.05;
/// Share of the diagonal of T that counts as rounding error of f32 coefficients: a motion without red cells has no part.
const ROUNDING: f64 = 1e-6;

/// Gives the blocks of a level, whose carries and whose sheets are known, their second answers.
pub fn answer(level: &mut Level) {
    let moved = moved_cells(level);
    let blocks = level.blocks.list.par_iter().enumerate();
    let light: Vec<Option<Light>> = blocks.map(|(i, b)| Light::new(b, i as u32, level, &moved)).collect();
    let neighbours = neighbours(&light);
    let blocks = level.blocks.list.par_iter_mut().zip(light).zip(neighbours);
    blocks.for_each(|((block, light), n)| block.opposed = light.map(|l| l.answer(block, 1.0 + n as f64)));
}

/// Black rows that are solved together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rows {
    /// Of a cell (leaf, row · 4 + lane).
    Cell(u32, u8),
    /// All that a block pushes, or a sheet; sheets are numbered behind the blocks.
    Moved(u32),
}

/// The black cells that blocks and sheets push, sorted, with their numbers.
fn moved_cells(level: &Level) -> Vec<((u32, u8), u32)> {
    let count = level.blocks.list.len();
    let mut out = Vec::new();
    for (i, block) in level.blocks.list.iter().enumerate() {
        out.extend(block.members.iter().flat_map(|m| &m.cells[1]).map(|&cell| (cell, i as u32)));
    }
    for (i, sheet) in level.sheets.iter().enumerate() {
        out.extend(sheet.cells[1].iter().map(|e| ((e.0, e.1), (count + i) as u32)));
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// Per block, how many others reach black rows that it reaches.
fn neighbours(light: &[Option<Light>]) -> Vec<usize> {
    let mut reached: Vec<(Rows, usize)> = Vec::new();
    for (i, light) in light.iter().enumerate() {
        reached.extend(light.iter().flat_map(|l| &l.reach).map(|&rows| (rows, i)));
    }
    reached.sort_unstable();
    reached.dedup();
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for run in reached.chunk_by(|a, b| a.0 == b.0) {
        pairs.extend(run.iter().flat_map(|a| run.iter().map(|b| (a.1, b.1))));
    }
    pairs.retain(|p| p.0 != p.1);
    pairs.sort_unstable();
    pairs.dedup();
    let mut out = vec![0; light.len()];
    pairs.iter().for_each(|p| out[p.0] += 1);
    out
}

/// What the second answer of a light block is made of.
struct Light {
    /// T of red.
    red: Vec<f64>,
    /// T W of red.
    tw: Vec<f64>,
    /// K.
    k: Vec<f64>,
    /// The black rows that its red directions touch.
    reach: Vec<Rows>,
}

impl Light {
    /// `None` where it is not light.
    fn new(block: &Block, number: u32, level: &Level, moved: &[((u32, u8), u32)]) -> Option<Self> {
        let n = block.size;
        let red = respond(&block.members, &block.members, level, 0, n);
        let tw = product(&red, &block.weight, n);
        if tw.iter().fold(0.0, |most: f64, v| most.max(v.abs())) < LIGHT {
            return None;
        }
        let mut beside: Vec<Member> = block.members.iter().map(|m| faces(m, level)).collect();
        if block.members.iter().chain(&beside).any(|m| touches_a_bubble(m, level)) {
            return None;
        }
        let owner = |cell: &(u32, u8)| moved.binary_search_by_key(cell, |m| m.0).ok().map(|at| moved[at].1);
        let touched = beside.iter().flat_map(|m| &m.cells[1]);
        let touched = touched.map(|cell| owner(cell).map_or(Rows::Cell(cell.0, cell.1), Rows::Moved));
        let reach = touched.chain([Rows::Moved(number)]).collect();
        beside.iter_mut().for_each(|m| m.retain(1, |cell| owner(cell).is_none_or(|o| o == number)));

        let mut shared = respond(&block.members, &beside, level, 1, n);
        let between = respond(&beside, &beside, level, 1, n);
        shared.iter_mut().zip(&red).for_each(|(z, t)| *z += t);
        // W (1 + T_b W)⁻¹.
        let held = product(&block.weight, &block.carry[1], n);
        let opposed = product(&transposed(&shared, n), &product(&held, &shared, n), n);
        let k = red.iter().zip(&between).zip(&opposed).map(|((t, y), o)| t * (1.0 + GUARD) - y + o).collect();
        Some(Self { red, tw, k, reach })
    }

    /// The answer when K counts so many times.
    fn answer(self, block: &Block, times: f64) -> Opposed {
        let Self { red, tw, mut k, .. } = self;
        let n = block.size;
        let mut g = product(&tw, &red, n);
        g.iter_mut().zip(&red).for_each(|(g, t)| *g += t);
        k.iter_mut().for_each(|k| *k *= times);
        for i in 0..n {
            let rounding = if red[i * n + i] > 0.0 { ROUNDING * red[i * n + i] } else { 1.0 };
            k[i * n + i] += rounding;
            g[i * n + i] += rounding;
        }
        let mut change = inverse(k, n);
        change.iter_mut().zip(inverse(g, n)).for_each(|(k, g)| *k -= g);
        let mut one = tw;
        (0..n).for_each(|i| one[i * n + i] += 1.0);
        let answer = product(&change, &one, n);
        Opposed { push: product(&red, &answer, n), answer }
    }
}

/// Whether a black cell borders a super-cell.
fn touches_a_bubble(member: &Member, level: &Level) -> bool {
    let touches = |&(l, lane): &(u32, u8)| {
        let groups = level.contacts.groups_of(l as usize, 1).iter().filter(|g| g.target != ZERO);
        groups.flat_map(|g| level.contacts.of(g)).any(|c| c.lane == lane)
    };
    !member.supers.is_empty() || member.cells[1].iter().any(touches)
}

/// What the faces join to the red directions of a body: black cells with the rows of U.
fn faces(member: &Member, level: &Level) -> Member {
    let n = member.size;
    let mut joined: Vec<(Name, u32, f32)> = Vec::with_capacity(6 * member.cells[0].len());
    for (c, &(l, lane)) in member.cells[0].iter().enumerate() {
        let (row, k) = (usize::from(lane >> 2), usize::from(lane & 3));
        let cell = leaf::local(offset(0, row, k));
        let diagonal = level.diagonal[0][l as usize][row][k];
        for (axis, upper) in (0..6).map(|f| (f / 2, f % 2 == 1)) {
            let mut other = cell;
            other[axis] += if upper { 1 } else { -1 };
            let outside = !(0..leaf::DIM as i32).contains(&other[axis]);
            let there = if outside { level.neighbours[l as usize][2 * axis + usize::from(upper)] } else { l };
            if there as usize >= level.leaves() {
                continue;
            }
            let at = leaf::offset(other[0], other[1], other[2]);
            let (owner, slot) =
                if upper { (there, at) } else { (l, leaf::offset(cell[0], cell[1], cell[2])) };
            let (colour, r, z) = place(slot);
            let weight = level.faces[axis][colour][owner as usize][r][z];
            if weight > 0.0 {
                joined.push((name(there, at), c as u32, weight / diagonal));
            }
        }
    }
    joined.sort_unstable_by_key(|j| (j.0, j.1));
    let mut out = Member { at: member.at, size: n, ..Member::default() };
    for run in joined.chunk_by(|a, b| a.0 == b.0) {
        let start = out.coefficients[1].len();
        out.cells[1].push((run[0].0.1, run[0].0.2));
        out.coefficients[1].resize(start + n, 0.0);
        for &(_, c, share) in run {
            let row = &member.coefficients[0][c as usize * n..][..n];
            out.coefficients[1][start..].iter_mut().zip(row).for_each(|(u, v)| *u += share * v);
        }
    }
    out
}

fn product(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
    let mut out = vec![0.0; n * n];
    for (row, out) in a.chunks_exact(n).zip(out.chunks_exact_mut(n)) {
        for (&a, b) in row.iter().zip(b.chunks_exact(n)).filter(|(a, _)| **a != 0.0) {
            out.iter_mut().zip(b).for_each(|(o, b)| *o += a * b);
        }
    }
    out
}

fn transposed(a: &[f64], n: usize) -> Vec<f64> {
    (0..n * n).map(|e| a[e % n * n + e / n]).collect()
}

/// L⁻ᵀ L⁻¹ of a definite matrix.
fn inverse(a: Vec<f64>, n: usize) -> Vec<f64> {
    let factor = dense::Cholesky::new(a, n).inverse_factor();
    product(&transposed(&factor, n), &factor, n)
}
