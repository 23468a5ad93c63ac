//! Bodies in the smoother. The cells of one colour are not coupled by faces, but every body couples those it touches:
//! their block of the matrix is D + C W Cᵀ, D diagonal. With t = D⁻¹ (b − …) from the sweep over faces and m the
//! volume that the other unknowns push the body by, Cᵀ x, the block is solved exactly by
//!
//! ```text
//! s = (1 + T W)⁻¹ (Cᵀ t + m),   y = W s,   x = t − D⁻¹ C y,   T = Cᵀ D⁻¹ C
//! ```
//!
//! [Golub and Van Loan 2013, §2.1.4], so that the sweeps stay Gauss-Seidel, block by block. Bodies that touch a cell in
//! common are solved together. s is what the pressure pushes them by in the end, Cᵀ x + m. W may be semidefinite:
//! (1 + T W)⁻¹ = 1 − T F (1 + Fᵀ T F)⁻¹ Fᵀ with W = F Fᵀ.

use super::body::{Body, Name, parent};
use super::level::Level;
use super::opposed::Opposed;
use super::smoother::Work;
use super::transfer::{Aggregation, Parent};
use crate::checkerboard::place;
use crate::dense;
use crate::memory;
use rayon::prelude::*;

/// Degrees of freedom of bodies that are solved together; bodies that would make more lose the cells that they share.
pub const TOGETHER: usize = 256;
/// Cells of bodies on a level above which loops over bodies run on several threads.
const MANY: usize = 4096;
/// Place of the super-cells beside the colours 0 and 1.
pub const SUPERS: usize = 2;

/// A body in a block.
#[derive(Clone, Debug, Default)]
pub struct Member {
    /// First of its degrees of freedom in the block.
    pub at: usize,
    /// How many.
    pub size: usize,
    /// Per colour: the cells it pushes, (leaf, row · 4 + lane).
    pub cells: [Vec<(u32, u8)>; 2],
    /// Per colour, `[cell][degree of freedom]`.
    pub coefficients: [Vec<f32>; 2],
    /// The super-cells it pushes.
    pub supers: Vec<(u32, Vec<f64>)>,
}

/// Bodies that are solved together.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Degrees of freedom.
    pub size: usize,
    /// The bodies.
    pub members: Vec<Member>,
    /// W.
    pub weight: Vec<f64>,
    /// (1 + T W)⁻¹ of red, black, super-cells.
    pub carry: [Vec<f64>; 3],
    /// How a red sweep between two black ones answers; `None`: as any other.
    pub opposed: Option<Opposed>,
}

/// How the pressure pushes a block or a sheet.
#[derive(Clone, Debug, Default)]
pub struct Motion {
    /// Cᵀ x of red, black, super-cells.
    pub moved: [Vec<f64>; 3],
    /// The last y.
    pub impulse: Vec<f64>,
    /// Room for Cᵀ t.
    pushed: Vec<f64>,
    /// Room for what it comes to with all else that pushes.
    total: Vec<f64>,
}

/// The bodies of a level.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    /// No two touch a cell or a super-cell in common.
    pub list: Vec<Block>,
    /// Cells of all bodies, repeats counted.
    pub cells: usize,
}

impl Blocks {
    /// The bodies of a level whose diagonal is known, but for heavy ones.
    pub fn new(level: &Level, bodies: &[Body]) -> Self {
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
        list.par_iter_mut().zip(weights).for_each(|(block, weights)| block.finish(level, &weights));
        let cells = list.iter().flat_map(|b| &b.members).map(|m| m.cells[0].len() + m.cells[1].len()).sum();
        Self { list, cells }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        let member = |m: &Member| {
            let cells = m.cells.iter().map(memory::of).sum::<usize>();
            let supers = m.supers.iter().map(|s| memory::of(&s.1)).sum::<usize>();
            cells + m.coefficients.iter().map(memory::of).sum::<usize>() + supers + memory::of(&m.supers)
        };
        let block = |b: &Block| {
            let matrices = b.carry.iter().chain([&b.weight]).map(memory::of);
            matrices.sum::<usize>() + memory::of(&b.members) + b.members.iter().map(member).sum::<usize>()
        };
        memory::of(&self.list) + self.list.iter().map(block).sum::<usize>()
    }
}

/// Which bodies are solved together: the lowest number among them.
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

impl Member {
    /// Calls `f(row of C, row of the other's C, diagonal)` for the cells of a colour, or the super-cells, that both push.
    fn for_shared(
        &self,
        other: &Self,
        level: &Level,
        place: usize,
        mut f: impl FnMut(&dyn Fn(usize) -> f64, &dyn Fn(usize) -> f64, f64),
    ) {
        if place == SUPERS {
            for (b, row) in &self.supers {
                for (_, theirs) in other.supers.iter().filter(|o| o.0 == *b) {
                    f(&|i| row[i], &|j| theirs[j], level.supers.diagonal[*b as usize]);
                }
            }
            return;
        }
        let (cells, theirs) = (&self.cells[place], &other.cells[place]);
        let mut next = 0;
        for (c, &cell) in cells.iter().enumerate() {
            while next < theirs.len() && theirs[next] < cell {
                next += 1;
            }
            if theirs.get(next) == Some(&cell) {
                let row = &self.coefficients[place][c * self.size..][..self.size];
                let their_row = &other.coefficients[place][next * other.size..][..other.size];
                let diagonal = level.diagonal[place][cell.0 as usize][usize::from(cell.1 >> 2)];
                let d = f64::from(diagonal[usize::from(cell.1 & 3)]);
                f(&|i| f64::from(row[i]), &|j| f64::from(their_row[j]), d);
            }
        }
    }
}

/// Cᵀ D⁻¹ C' of a colour, or of the super-cells, n × n.
pub fn respond(members: &[Member], others: &[Member], level: &Level, place: usize, n: usize) -> Vec<f64> {
    let mut out = vec![0.0; n * n];
    for one in members {
        for other in others {
            one.for_shared(other, level, place, |c, o, d| {
                for (i, j) in (0..one.size * other.size).map(|e| (e / other.size, e % other.size)) {
                    out[(one.at + i) * n + other.at + j] += c(i) * o(j) / d;
                }
            });
        }
    }
    out
}

impl Block {
    /// Rows of C: the cells of one colour; cells of several members repeat.
    pub fn cells(&self, colour: usize) -> impl Iterator<Item = ((u32, u8), Vec<f64>)> {
        self.members.iter().flat_map(move |m| {
            let rows = m.coefficients[colour].chunks_exact(m.size);
            m.cells[colour].iter().zip(rows).map(move |(&cell, row)| {
                let mut wide = vec![0.0; self.size];
                wide[m.at..m.at + m.size].iter_mut().zip(row).for_each(|(w, &c)| *w = f64::from(c));
                (cell, wide)
            })
        })
    }

    /// Rows of C: the super-cells.
    pub fn super_rows(&self) -> impl Iterator<Item = (u32, Vec<f64>)> {
        self.members.iter().flat_map(move |m| {
            m.supers.iter().map(move |(b, row)| {
                let mut wide = vec![0.0; self.size];
                wide[m.at..m.at + m.size].copy_from_slice(row);
                (*b, wide)
            })
        })
    }

    fn finish(&mut self, level: &Level, weights: &[&[f64]]) {
        let n = self.size;
        self.weight = vec![0.0; n * n];
        let mut factor = vec![0.0; n * n];
        for (member, weight) in self.members.iter().zip(weights) {
            let k = member.size;
            let own = dense::semidefinite_factor(weight, k);
            for (i, j) in (0..k * k).map(|e| (e / k, e % k)) {
                let at = (member.at + i) * n + member.at + j;
                (self.weight[at], factor[at]) = (weight[i * k + j], own[i * k + j]);
            }
        }
        let response = |place| respond(&self.members, &self.members, level, place, n);
        self.carry = std::array::from_fn(|place| dense::carry(&factor, &response(place), n));
        self.opposed = Opposed::new(self, level);
    }

    /// The new Cᵀ x and y of a place, from Cᵀ t in `motion.pushed`. `between`: of red, between two sweeps over black.
    fn answer(&self, place: usize, between: bool, motion: &mut Motion) {
        let n = self.size;
        let Motion { moved, impulse, pushed, total } = motion;
        let (one, two) = (usize::from(place == 0), if place == SUPERS { 1 } else { SUPERS });
        for i in 0..n {
            total[i] = pushed[i] + (moved[one][i] + moved[two][i]);
        }
        for i in 0..n {
            pushed[i] = dot(&self.carry[place][i * n..][..n], total);
        }
        self.weigh(pushed, impulse);
        if let Some(opposed) = self.opposed.as_ref().filter(|_| between) {
            for i in 0..n {
                total[i] = pushed[i] - (moved[one][i] + moved[two][i]) - moved[place][i];
            }
            for i in 0..n {
                impulse[i] -= dot(&opposed.answer[i * n..][..n], total);
                pushed[i] += dot(&opposed.push[i * n..][..n], total);
            }
        }
        for i in 0..n {
            moved[place][i] = pushed[i] - (moved[one][i] + moved[two][i]);
        }
    }

    /// W v, body by body.
    fn weigh(&self, v: &[f64], out: &mut [f64]) {
        for member in &self.members {
            let range = member.at..member.at + member.size;
            for i in range.clone() {
                out[i] = dot(&self.weight[i * self.size..][range.clone()], &v[range.clone()]);
            }
        }
    }
}

/// Σ a b by four running sums.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, rest) = a.as_chunks::<4>();
    let (b, other) = b.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    let rest: f64 = rest.iter().zip(other).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

impl Motion {
    /// Of some degrees of freedom, at rest.
    pub fn of(size: usize) -> Self {
        let zeros = || vec![0.0; size];
        Self { moved: [zeros(), zeros(), zeros()], impulse: zeros(), pushed: zeros(), total: zeros() }
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        self.moved.iter().chain([&self.impulse, &self.pushed, &self.total]).map(memory::of).sum()
    }
}

/// Cᵀ x of a colour, or of the super-cells.
fn push(block: &Block, x: &crate::checkerboard::Field<f32>, x_super: &[f64], place: usize, out: &mut [f64]) {
    out.fill(0.0);
    for member in &block.members {
        let sums = &mut out[member.at..member.at + member.size];
        if place == SUPERS {
            for (b, row) in &member.supers {
                sums.iter_mut().zip(row).for_each(|(s, c)| *s += c * x_super[*b as usize]);
            }
        } else if member.size == 6 {
            let mut six = [0.0; 6];
            let (rows, _) = member.coefficients[place].as_chunks::<6>();
            for (&(leaf, lane), row) in member.cells[place].iter().zip(rows) {
                let x = f64::from(x[place][leaf as usize][usize::from(lane >> 2)][usize::from(lane & 3)]);
                for j in 0..6 {
                    six[j] += f64::from(row[j]) * x;
                }
            }
            sums.copy_from_slice(&six);
        } else {
            let rows = member.coefficients[place].chunks_exact(member.size);
            for (&(leaf, lane), row) in member.cells[place].iter().zip(rows) {
                let x = f64::from(x[place][leaf as usize][usize::from(lane >> 2)][usize::from(lane & 3)]);
                sums.iter_mut().zip(row).for_each(|(s, &c)| *s += f64::from(c) * x);
            }
        }
    }
}

fn for_blocks(level: &Level, motions: &mut [Motion], f: impl Fn(&Block, &mut Motion) + Sync) {
    let blocks = &level.blocks;
    if blocks.cells > MANY {
        blocks.list.par_iter().zip(motions).for_each(|(block, motion)| f(block, motion));
    } else {
        blocks.list.iter().zip(motions).for_each(|(block, motion)| f(block, motion));
    }
}

/// Forgets all motion: x = 0.
pub fn rest(work: &mut Work) {
    for motion in &mut work.motions {
        motion.moved.iter_mut().for_each(|m| m.fill(0.0));
    }
}

/// Computes Cᵀ x of red cells and super-cells anew, after a coarse correction.
pub fn measure(level: &Level, work: &mut Work) {
    let Work { x, x_super, motions, .. } = work;
    for_blocks(level, motions, |block, motion| {
        for place in [0, SUPERS] {
            push(block, x, x_super, place, &mut motion.moved[place]);
        }
    });
}

/// Lets the bodies answer a sweep over one colour; `between`: over red, between two over black.
pub fn settle_cells(level: &Level, work: &mut Work, colour: usize, between: bool) {
    let Work { x, x_super, motions, .. } = work;
    for_blocks(level, motions, |block, motion| {
        push(block, x, x_super, colour, &mut motion.pushed);
        block.answer(colour, between, motion);
    });
    let diagonal = &level.diagonal[colour];
    for_cells(
        level,
        motions,
        colour,
        |m| &m.impulse,
        |leaf, r, k, sum| {
            x[colour][leaf][r][k] -= sum as f32 / diagonal[leaf][r][k];
        },
    );
}

/// Lets the bodies answer a sweep over the super-cells.
pub fn settle_supers(level: &Level, work: &mut Work) {
    let Work { x, x_super, motions, .. } = work;
    for (block, motion) in level.blocks.list.iter().zip(motions) {
        push(block, x, x_super, SUPERS, &mut motion.pushed);
        block.answer(SUPERS, false, motion);
        for member in &block.members {
            let y = &motion.impulse[member.at..member.at + member.size];
            for (b, row) in &member.supers {
                let sum: f64 = row.iter().zip(y).map(|(c, y)| c * y).sum();
                x_super[*b as usize] -= sum / level.supers.diagonal[*b as usize];
            }
        }
    }
}

/// Calls `f(leaf, row, lane, c · v)` for every cell of one colour that a body touches, in a fixed order.
fn for_cells(
    level: &Level,
    motions: &[Motion],
    colour: usize,
    v: impl Fn(&Motion) -> &Vec<f64>,
    mut f: impl FnMut(usize, usize, usize, f64),
) {
    for (block, motion) in level.blocks.list.iter().zip(motions) {
        for member in &block.members {
            let v = &v(motion)[member.at..member.at + member.size];
            if let (6, Ok(v)) = (member.size, <&[f64; 6]>::try_from(v)) {
                let (rows, _) = member.coefficients[colour].as_chunks::<6>();
                for (&(leaf, lane), row) in member.cells[colour].iter().zip(rows) {
                    let c = row.map(f64::from);
                    let sum = ((c[0] * v[0] + c[1] * v[1]) + (c[2] * v[2] + c[3] * v[3]))
                        + (c[4] * v[4] + c[5] * v[5]);
                    f(leaf as usize, (lane >> 2).into(), (lane & 3).into(), sum);
                }
                continue;
            }
            let rows = member.coefficients[colour].chunks_exact(member.size);
            for (&(leaf, lane), row) in member.cells[colour].iter().zip(rows) {
                let sum = row.iter().zip(v).map(|(&c, v)| f64::from(c) * v).sum();
                f(leaf as usize, (lane >> 2).into(), (lane & 3).into(), sum);
            }
        }
    }
}

/// Takes what the bodies hold back, C W Cᵀ x, from the coarse right side. (The black rows are solved exactly by the last
/// sweep.)
pub fn restrict(level: &Level, work: &mut Work, map: &Aggregation, coarse: &mut Work) {
    let Work { motions, .. } = work;
    for (block, motion) in level.blocks.list.iter().zip(motions.iter_mut()) {
        let Motion { moved, impulse, total, .. } = motion;
        total.iter_mut().enumerate().for_each(|(i, total)| *total = moved.iter().map(|m| m[i]).sum());
        block.weigh(total, impulse);
        for member in &block.members {
            let y = &motion.impulse[member.at..member.at + member.size];
            for (s, row) in &member.supers {
                let held = row.iter().zip(y).map(|(c, y)| c * y).sum::<f64>();
                match map.supers[*s as usize] {
                    Parent::Super(p) => coarse.b_super[p as usize] -= held,
                    Parent::Cell(l, n) => {
                        let (colour, r, k) = place(n as usize);
                        coarse.b[colour][l as usize][r][k] -= held as f32;
                    }
                }
            }
        }
    }
    for_cells(
        level,
        motions,
        0,
        |m| &m.impulse,
        |leaf, r, k, held| {
            let (colour, leaf, lane) = parent(map, (0, leaf as u32, (r * 4 + k) as u8));
            coarse.b[usize::from(colour)][leaf as usize][usize::from(lane >> 2)][usize::from(lane & 3)] -=
                held as f32;
        },
    );
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
