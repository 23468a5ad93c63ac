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

use super::aggregation::{Aggregation, Parent};
use super::block::{Block, Motion, SUPERS};
use super::body::parent;
use super::level::Level;
use super::work::Work;
use crate::checkerboard::place;
use rayon::prelude::*;

/// Cells of bodies on a level above which loops over bodies run on several threads.
const MANY: usize = 4096;

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
