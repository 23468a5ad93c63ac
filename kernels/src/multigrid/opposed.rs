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
//! subspace corrections of S, so that no eigenvalue exceeds 2 [Xu 1992] and the smoother converges. That holds for black rows
//! that are solved: a body beside a bubble, which is solved between black and red, is answered as before. With U = A_f V, A_f the
//! faces between red and black,
//!
//! ```text
//! K = T_r − Uᵀ D⁻¹ U + (T_r + Z)ᵀ H (T_r + Z),   Z = C_bᵀ D⁻¹ U,   H = W (1 + T_b W)⁻¹
//! ```
//!
//! Neighbours. Where faces join what bodies i and j push, their answers are not orthogonal in S. With the sum over all bodies m
//!
//! ```text
//! K_ij = V_iᵀ S V_j = δ_ij T_i − U_iᵀ D⁻¹ U_j + Σ Y_miᵀ H_m Y_mj,   Y_mi = C_mᵀ D⁻¹ U_i + δ_mi T_i
//! ```
//!
//! the K of body i counts 1 + Σ ‖K_ii^-½ K_ij K_jj^-½‖ times. By Gershgorin's theorem for blocks, no eigenvalue of the bodies'
//! corrections together then exceeds 1, and the two corrections still come to at most 2. Black cells that a sheet pushes have
//! A_bb > D: they are left out of U, which makes K larger, so the step shorter; two bodies beside one sheet count fully.

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
    let blocks = &level.blocks.list;
    let held: Vec<Vec<f64>> = blocks.par_iter().map(held).collect();
    let light: Vec<Option<Light>> =
        blocks.par_iter().enumerate().map(|(i, b)| Light::new(b, i as u32, level, (&moved, &held))).collect();
    let beside = neighbours(&light);
    let times = times(&light, &beside, level);
    let blocks = level.blocks.list.par_iter_mut().zip(light).zip(times);
    blocks.for_each(|((block, light), times)| block.opposed = light.map(|l| l.answer(block.size, times)));
}

/// Black rows that are solved together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rows {
    /// Of a cell (leaf, row · 4 + lane).
    Cell(u32, u8),
    /// All that a block pushes, or a sheet; sheets are numbered behind the blocks.
    Moved(u32),
}

impl Rows {
    /// The block or sheet that pushes them.
    fn moved(&self) -> Option<u32> {
        match self {
            Rows::Cell(..) => None,
            Rows::Moved(number) => Some(*number),
        }
    }
}

/// A black cell (leaf, row · 4 + lane), and the number of the block or sheet that pushes it.
type Owned = ((u32, u8), u32);

/// The black cells that blocks and sheets push, sorted.
fn moved_cells(level: &Level) -> Vec<Owned> {
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

/// Per block, the others that reach black rows that it reaches, sorted.
fn neighbours(light: &[Option<Light>]) -> Vec<Vec<usize>> {
    let mut reached: Vec<(Rows, usize)> = Vec::new();
    for (i, light) in light.iter().enumerate() {
        reached.extend(light.iter().flat_map(|l| &l.reach).map(|&rows| (rows, i)));
    }
    reached.sort_unstable();
    let mut out = vec![Vec::new(); light.len()];
    for run in reached.chunk_by(|a, b| a.0 == b.0) {
        for (_, i) in run {
            out[*i].extend(run.iter().map(|r| r.1).filter(|j| j != i));
        }
    }
    out.iter_mut().for_each(|of| {
        of.sort_unstable();
        of.dedup();
    });
    out
}

/// How often the K of each block counts.
fn times(light: &[Option<Light>], beside: &[Vec<usize>], level: &Level) -> Vec<f64> {
    let near = |i: usize, j: usize| match (&light[i], &light[j]) {
        (Some(own), Some(other)) => nearness(own, other, [i, j], level),
        _ => 0.0,
    };
    // Each pair once, at the first of the two.
    let later = |i: usize| beside[i].iter().copied().skip_while(move |&j| j < i);
    let pairs: Vec<Vec<f64>> =
        (0..light.len()).into_par_iter().map(|i| later(i).map(|j| near(i, j)).collect()).collect();
    let mut times = vec![1.0; light.len()];
    for (i, pairs) in pairs.iter().enumerate() {
        for (j, near) in later(i).zip(pairs) {
            times[i] += near;
            times[j] += near;
        }
    }
    times
}

/// A bound on ‖K_ii^-½ K_ij K_jj^-½‖, at most 1.
fn nearness(own: &Light, other: &Light, [i, j]: [usize; 2], level: &Level) -> f64 {
    let blocks = &level.blocks.list;
    let [n, m] = [i, j].map(|b| blocks[b].size);
    let mut between = respond(&own.beside, &other.beside, level, 1, [n, m]);
    between.iter_mut().for_each(|k| *k = -*k);
    let common = own.reach.iter().filter(|rows| other.reach.binary_search(rows).is_ok());
    for b in common.filter_map(Rows::moved) {
        let (Some(one), Some(two)) = (own.pushed_of(b), other.pushed_of(b)) else { return 1.0 };
        let size = blocks[b as usize].size;
        let through = product(&transposed(&one.by, [size, n]), &two.held, [n, size, m]);
        between.iter_mut().zip(through).for_each(|(k, t)| *k += t);
    }
    let left = product(&own.factor, &between, [n, n, m]);
    let both = product(&left, &transposed(&other.factor, [m, m]), [n, m, m]);
    both.iter().map(|v| v * v).sum::<f64>().sqrt().min(1.0)
}

/// H.
fn held(block: &Block) -> Vec<f64> {
    product(&block.weight, &block.carry[1], [block.size; 3])
}

/// What the second answer of a light block is made of.
struct Light {
    /// T of red.
    red: Vec<f64>,
    /// T W of red.
    tw: Vec<f64>,
    /// L⁻¹ of K = L Lᵀ.
    factor: Vec<f64>,
    /// The rows of U, without those of sheets' cells.
    beside: Vec<Member>,
    /// The black rows that its red directions touch, sorted.
    reach: Vec<Rows>,
    /// What its red directions push the black cells of those blocks by, sorted.
    pushed: Vec<Pushed>,
}

/// What red directions push the black cells of a block by.
struct Pushed {
    block: u32,
    /// Y.
    by: Vec<f64>,
    /// H Y.
    held: Vec<f64>,
}

impl Light {
    /// `None` where it is not light.
    fn new(
        block: &Block,
        number: u32,
        level: &Level,
        (moved, held): (&[Owned], &[Vec<f64>]),
    ) -> Option<Self> {
        let n = block.size;
        let red = respond(&block.members, &block.members, level, 0, [n, n]);
        let tw = product(&red, &block.weight, [n; 3]);
        if tw.iter().fold(0.0, |most: f64, v| most.max(v.abs())) < LIGHT {
            return None;
        }
        let mut beside: Vec<Member> = block.members.iter().map(|m| faces(m, level)).collect();
        if block.members.iter().chain(&beside).any(|m| touches_a_bubble(m, level)) {
            return None;
        }
        let blocks = &level.blocks.list;
        let owner = |cell: &(u32, u8)| moved.binary_search_by_key(cell, |m| m.0).ok().map(|at| moved[at].1);
        let touched = beside.iter().flat_map(|m| &m.cells[1]);
        let touched = touched.map(|cell| owner(cell).map_or(Rows::Cell(cell.0, cell.1), Rows::Moved));
        let mut reach: Vec<Rows> = touched.chain([Rows::Moved(number)]).collect();
        reach.sort_unstable();
        reach.dedup();
        let is_of_sheet = |cell: &(u32, u8)| owner(cell).is_some_and(|o| o as usize >= blocks.len());
        beside.iter_mut().for_each(|m| m.retain(1, |cell| !is_of_sheet(cell)));
        let mut light = Self { red, tw, factor: Vec::new(), beside, reach, pushed: Vec::new() };

        let between = respond(&light.beside, &light.beside, level, 1, [n, n]);
        let mut k: Vec<f64> = light.red.iter().zip(&between).map(|(t, y)| t * (1.0 + GUARD) - y).collect();
        for b in light.reach.iter().filter_map(Rows::moved) {
            let Some(other) = blocks.get(b as usize) else { continue };
            let by = light.pushes(other, b == number, n, level);
            let held = product(&held[b as usize], &by, [other.size, other.size, n]);
            let through = product(&transposed(&by, [other.size, n]), &held, [n, other.size, n]);
            k.iter_mut().zip(through).for_each(|(k, t)| *k += t);
            light.pushed.push(Pushed { block: b, by, held });
        }
        light.round_up(&mut k, n);
        light.factor = dense::Cholesky::new(k, n).inverse_factor();
        Some(light)
    }

    /// What it pushes a block by, if it reaches its black cells.
    fn pushed_of(&self, block: u32) -> Option<&Pushed> {
        let at = self.pushed.binary_search_by_key(&block, |pushed| pushed.block).ok()?;
        Some(&self.pushed[at])
    }

    /// Y: what its red directions push the black cells of a block by.
    fn pushes(&self, block: &Block, is_own: bool, n: usize, level: &Level) -> Vec<f64> {
        let mut out = respond(&block.members, &self.beside, level, 1, [block.size, n]);
        if is_own {
            out.iter_mut().zip(&self.red).for_each(|(y, t)| *y += t);
        }
        out
    }

    /// Adds rounding error to a diagonal.
    fn round_up(&self, matrix: &mut [f64], n: usize) {
        for i in 0..n {
            let t = self.red[i * n + i];
            matrix[i * n + i] += if t > 0.0 { ROUNDING * t } else { 1.0 };
        }
    }

    /// The answer when K counts so many times.
    fn answer(self, n: usize, times: f64) -> Opposed {
        let mut g = product(&self.tw, &self.red, [n; 3]);
        g.iter_mut().zip(&self.red).for_each(|(g, t)| *g += t);
        self.round_up(&mut g, n);
        let mut change = square(&self.factor, n);
        let without = square(&dense::Cholesky::new(g, n).inverse_factor(), n);
        change.iter_mut().zip(without).for_each(|(k, g)| *k = *k / times - g);
        let mut one = self.tw;
        (0..n).for_each(|i| one[i * n + i] += 1.0);
        let answer = product(&change, &one, [n; 3]);
        Opposed { push: product(&self.red, &answer, [n; 3]), answer }
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

/// The product of an l × m and an m × n matrix.
fn product(a: &[f64], b: &[f64], [l, m, n]: [usize; 3]) -> Vec<f64> {
    let mut out = vec![0.0; l * n];
    if [m, n] == [6; 2] {
        // Single bodies, nearly all there are: rows of a known length.
        let (b, rows) = (b.as_chunks::<6>().0, a.as_chunks::<6>().0);
        for (row, out) in rows.iter().zip(out.as_chunks_mut::<6>().0) {
            row.iter().zip(b).for_each(|(a, b)| (0..6).for_each(|j| out[j] += a * b[j]));
        }
        return out;
    }
    for (row, out) in a.chunks_exact(m).zip(out.chunks_exact_mut(n)) {
        for (&a, b) in row.iter().zip(b.chunks_exact(n)).filter(|(a, _)| **a != 0.0) {
            out.iter_mut().zip(b).for_each(|(o, b)| *o += a * b);
        }
    }
    out
}

/// The transposed of an m × n matrix.
fn transposed(a: &[f64], [m, n]: [usize; 2]) -> Vec<f64> {
    (0..m * n).map(|e| a[e % m * n + e / m]).collect()
}

/// L⁻ᵀ L⁻¹.
fn square(factor: &[f64], n: usize) -> Vec<f64> {
    product(&transposed(factor, [n, n]), factor, [n; 3])
}
