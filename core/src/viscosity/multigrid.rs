//! A multigrid V-cycle for the viscous step: the preconditioner for viscosity that reaches over many voxels in a
//! substep.
//!
//! The smoother is a Chebyshev polynomial of the operator scaled by its diagonal; it does not depend on the order of
//! the unknowns and is symmetric [Adams et al. 2003]. The coarser levels are the same step on coarser lattices
//! ([`super::coarsen`]); the coarsest is solved directly. [Aanjaneya et al. 2019] show that multigrid suits viscous
//! liquids.

use super::coarsen::Coarse;
use super::operator::{FACES, Operator};
use super::transfer::{Links, prolong, restrict};
use meniscus_kernels::dense::Cholesky;
use rayon::prelude::*;

/// Unknowns up to which a level is solved directly.
const DIRECT: usize = 400;
/// Applications of the operator per smoothing.
const DEGREE: usize = 2;
/// The range of eigenvalues of D⁻¹A that a smoothing damps. None is above 4: the strain of an edge depends on four
/// faces, that of a cell on two, and k b bᵀ ≤ 4 k diag(b²). The coarser level handles those below the lower bound.
const DAMPED: [f32; 2] = [0.35, 4.0];

/// The vectors of one level, `[leaf][3][512]`.
#[derive(Default)]
struct Work {
    x: Vec<f32>,
    residual: Vec<f32>,
    direction: Vec<f32>,
    image: Vec<f32>,
}

/// The levels below the finest, and the vectors of all.
pub(super) struct Multigrid {
    coarse: Vec<Coarse>,
    /// Finest first.
    work: Vec<Work>,
    bottom: Bottom,
}

/// The coarsest level's unknowns and the factor of its matrix.
struct Bottom {
    slots: Vec<usize>,
    factor: Cholesky,
}

impl Bottom {
    fn new(operator: &Operator) -> Self {
        let unknown = |&s: &usize| operator.inverse_diagonal[s] > 0.0;
        let slots: Vec<usize> = (0..operator.mass.len()).filter(unknown).collect();
        let n = slots.len();
        let mut matrix = vec![0.0; n * n];
        let (mut unit, mut image) = (vec![0.0; operator.mass.len()], vec![0.0; operator.mass.len()]);
        for (row, &slot) in matrix.chunks_exact_mut(n.max(1)).zip(&slots) {
            unit[slot] = 1.0;
            image.chunks_exact_mut(FACES).enumerate().for_each(|(l, image)| {
                operator.apply(l, &unit, image);
            });
            unit[slot] = 0.0;
            row.iter_mut().zip(&slots).for_each(|(entry, &s)| *entry = image[s]);
        }
        Self { slots, factor: Cholesky::new(matrix, n) }
    }

    fn solve(&self, work: &mut Work) {
        let mut values: Vec<f64> = self.slots.iter().map(|&s| f64::from(work.residual[s])).collect();
        self.factor.solve(&mut values);
        self.slots.iter().zip(values).for_each(|(&s, x)| work.x[s] = x as f32);
    }
}

impl Multigrid {
    /// Builds the coarser levels of an operator.
    pub(super) fn new(finest: &Operator) -> Self {
        let mut coarse: Vec<Coarse> = Vec::new();
        loop {
            let (above, mass, springs) = match coarse.last() {
                Some(c) => (&c.operator, &c.mass[..], &c.springs[..]),
                None => (finest, &finest.mass[..], &[][..]),
            };
            let unknowns = above.unknowns();
            if unknowns <= DIRECT {
                break;
            }
            let next = above.coarsened(mass, springs);
            if next.operator.unknowns() >= unknowns {
                break;
            }
            coarse.push(next);
        }
        let operators = std::iter::once(finest).chain(coarse.iter().map(|c| &c.operator));
        let of_size = |n: usize| Work {
            x: vec![0.0; n],
            residual: vec![0.0; n],
            direction: vec![0.0; n],
            image: vec![0.0; n],
        };
        let work = operators.map(|o| of_size(o.mass.len())).collect();
        let bottom = Bottom::new(coarse.last().map_or(finest, |c| &c.operator));
        Self { coarse, work, bottom }
    }

    /// One cycle for A z = r; returns z.
    pub(super) fn cycle(&mut self, finest: &Operator, r: &[f64]) -> &[f32] {
        let Self { coarse, work, bottom } = self;
        work[0].residual.par_iter_mut().zip(r).for_each(|(to, &r)| *to = r as f32);
        let level = |l: usize| if l == 0 { finest } else { &coarse[l - 1].operator };
        let links = |l: usize| -> &Links { &coarse[l].links };
        for l in 0..coarse.len() {
            let (fine, below) = work.split_at_mut(l + 1);
            fine[l].x.fill(0.0);
            smooth(level(l), &mut fine[l], true);
            restrict(links(l), level(l), &fine[l].residual, level(l + 1), &mut below[0].residual);
        }
        bottom.solve(&mut work[coarse.len()]);
        for l in (0..coarse.len()).rev() {
            let (fine, below) = work.split_at_mut(l + 1);
            let at = &mut fine[l];
            prolong(links(l), level(l + 1), &below[0].x, level(l), &mut at.direction);
            advance(level(l), at);
            smooth(level(l), at, false);
        }
        &work[0].x
    }
}

/// x += d, r −= A d.
fn advance(a: &Operator, work: &mut Work) {
    let Work { x, residual, direction, image } = work;
    let leaves = x.par_chunks_mut(FACES).zip(residual.par_chunks_mut(FACES)).zip(image.par_chunks_mut(FACES));
    leaves.enumerate().for_each(|(l, ((x, r), image))| {
        if !a.active[l] {
            return;
        }
        let d = &direction[l * FACES..][..FACES];
        a.apply(l, direction, image);
        for f in 0..FACES {
            x[f] += d[f];
            r[f] -= image[f];
        }
    });
}

/// Chebyshev iteration, starting from the residual [Saad 2003, Alg. 12.1]; updates the residual if asked to.
fn smooth(a: &Operator, work: &mut Work, residual: bool) {
    let [low, high] = DAMPED;
    let (middle, half) = (0.5 * (high + low), 0.5 * (high - low));
    let mut rho = half / middle;
    turn(a, work, 0.0, 1.0 / middle);
    for _ in 1..DEGREE {
        advance(a, work);
        let next = 1.0 / (2.0 * middle / half - rho);
        turn(a, work, next * rho, 2.0 * next / half);
        rho = next;
    }
    if residual {
        advance(a, work);
    } else {
        let Work { x, direction, .. } = work;
        x.par_chunks_mut(FACES).zip(direction.par_chunks(FACES)).for_each(|(x, d)| {
            x.iter_mut().zip(d).for_each(|(x, d)| *x += d);
        });
    }
}

/// d = keep d + step D⁻¹ r.
fn turn(a: &Operator, work: &mut Work, keep: f32, step: f32) {
    let Work { residual, direction, .. } = work;
    direction.par_chunks_mut(FACES).enumerate().for_each(|(l, d)| {
        if !a.active[l] {
            return;
        }
        let here = l * FACES..(l + 1) * FACES;
        let (r, inverse) = (&residual[here.clone()], &a.inverse_diagonal[here]);
        for f in 0..FACES {
            d[f] = keep * d[f] + step * inverse[f] * r[f];
        }
    });
}
