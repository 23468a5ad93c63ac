//! Conjugate gradients on a plain vector of f64, for operators from elsewhere [Shewchuk 1994, §B3].
//!
//! Sums are partial sums of chunks, added in order, so that the number of threads does not change a bit.

use super::{Outcome, Progress, Stop};
use rayon::prelude::*;

/// A symmetric positive definite matrix A that is applied, not stored.
pub trait Operator: Sync {
    /// Entries of a vector that one task works on.
    const CHUNK: usize;

    /// Writes a chunk of A v; returns its part of vᵀ A v.
    fn apply(&self, chunk: usize, v: &[f64], image: &mut [f64]) -> f64;

    /// 1 / A_ii of a chunk; 0 for an entry that is no unknown.
    fn inverse_diagonal(&self, chunk: usize) -> &[f32];

    /// Writes A v, and each chunk's part of vᵀ A v to the first of its `sums`: chunk by chunk, unless A has a part that joins
    /// entries from all over.
    fn apply_all(&self, v: &[f64], image: &mut [f64], sums: &mut [[f64; 2]]) {
        image.par_chunks_mut(Self::CHUNK).zip(sums).enumerate().for_each(|(c, (image, sum))| {
            *sum = [self.apply(c, v, image), 0.0];
        });
    }
}

/// A preconditioner in place of the diagonal.
pub trait Cycle {
    /// Approximately A⁻¹ r.
    fn cycle(&mut self, r: &[f64]) -> &[f32];
}

/// The state of a solve; x and b are 0 in entries that are no unknowns.
pub struct Plain<'a, A> {
    operator: &'a A,
    x: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    image: Vec<f64>,
    /// One entry a chunk.
    partials: Vec<[f64; 2]>,
}

/// Solves A x = b from the given x until ‖b − A x‖₂ ≤ tolerance · `norm`; returns x and how it ended.
pub fn solve<A: Operator>(
    operator: &A,
    x: Vec<f64>,
    right_side: Vec<f64>,
    norm: f64,
    cycle: Option<&mut dyn Cycle>,
    stop: Stop,
    progress: Progress,
) -> (Vec<f64>, Outcome) {
    let n = x.len();
    let mut at = Plain {
        operator,
        x,
        residual: right_side,
        direction: vec![0.0; n],
        image: vec![0.0; n],
        partials: vec![[0.0; 2]; n.div_ceil(A::CHUNK)],
    };
    let outcome = at.run(norm, cycle, stop, progress);
    (at.x, outcome)
}

/// Σ a b, in chunks of `chunk`.
pub fn dot(a: &[f64], b: &[f64], chunk: usize) -> f64 {
    let product = |(a, b): (&[f64], &[f64])| a.iter().zip(b).map(|(a, b)| a * b).sum();
    let parts: Vec<f64> = a.par_chunks(chunk).zip(b.par_chunks(chunk)).map(product).collect();
    parts.iter().sum()
}

fn add(sums: &[[f64; 2]]) -> [f64; 2] {
    sums.iter().fold([0.0; 2], |[a, b], s| [a + s[0], b + s[1]])
}

impl<A: Operator> Plain<'_, A> {
    fn run(
        &mut self,
        norm: f64,
        mut cycle: Option<&mut dyn Cycle>,
        stop: Stop,
        progress: Progress,
    ) -> Outcome {
        let mut out = Outcome::default();
        if norm == 0.0 {
            self.x.fill(0.0);
            return out;
        }
        // r = b − A x: a step of length 1 along x, which itself is not changed.
        self.direction.copy_from_slice(&self.x);
        self.apply();
        self.direction.fill(0.0);
        let [mut square, mut of_diagonal] = self.update(1.0);
        out.residual = square.sqrt() / norm;
        if !out.goes_on(stop) {
            return out;
        }
        let mut energy = self.turn(&mut cycle, of_diagonal, f64::INFINITY, 0.0);
        while out.goes_on(stop) {
            let step = energy / self.apply();
            if !step.is_finite() || step <= 0.0 {
                break;
            }
            [square, of_diagonal] = self.update(step);
            out.iterations += 1;
            out.residual = square.sqrt() / norm;
            out.cancelled = progress(out.iterations, out.residual).is_break();
            if out.goes_on(stop) {
                energy = self.turn(&mut cycle, of_diagonal, energy, step);
            }
        }
        out
    }

    /// image = A p; returns pᵀ A p.
    fn apply(&mut self) -> f64 {
        let Self { operator, direction, image, partials, .. } = self;
        operator.apply_all(direction, image, partials);
        add(partials)[0]
    }

    /// x += step p, r −= step A p; returns rᵀ r and rᵀ D⁻¹ r.
    fn update(&mut self, step: f64) -> [f64; 2] {
        let Self { operator, x, residual, direction, image, partials } = self;
        let ways = x.par_chunks_mut(A::CHUNK).zip(direction.par_chunks(A::CHUNK));
        let residuals = residual.par_chunks_mut(A::CHUNK).zip(image.par_chunks(A::CHUNK));
        ways.zip(residuals).zip(&mut *partials).enumerate().for_each(|(c, (((x, p), (r, q)), sum))| {
            *sum = [0.0; 2];
            let entries = x.iter_mut().zip(p).zip(r.iter_mut().zip(q));
            for (((x, p), (r, q)), &inverse) in entries.zip(operator.inverse_diagonal(c)) {
                *x += step * p;
                *r -= step * q;
                sum[0] += *r * *r;
                sum[1] += *r * *r * f64::from(inverse);
            }
        });
        add(partials)
    }

    /// p = z + β p for the preconditioned residual z; returns rᵀ z. `before` is the last rᵀ z, after which a `step`
    /// along p was taken. For the diagonal, rᵀ z is known. A cycle has rounding errors, so for it β = zᵀ (r − r_before)
    /// / before, which keeps directions conjugate all the same [Notay 2000].
    /// The pressure engine keeps β = rᵀ z / before with its cycle: it computes its residual anew every nine digits, and
    /// the change of r is one more vector to read in a pass that only memory limits.
    fn turn(&mut self, cycle: &mut Option<&mut dyn Cycle>, of_diagonal: f64, before: f64, step: f64) -> f64 {
        let Self { operator, residual, direction, image, partials, .. } = self;
        let Some(cycle) = cycle else {
            let beta = of_diagonal / before;
            let chunks = direction.par_chunks_mut(A::CHUNK).zip(residual.par_chunks(A::CHUNK));
            chunks.enumerate().for_each(|(c, (p, r))| {
                for ((p, r), &inverse) in p.iter_mut().zip(r).zip(operator.inverse_diagonal(c)) {
                    *p = f64::from(inverse) * r + beta * *p;
                }
            });
            return of_diagonal;
        };
        let z = cycle.cycle(residual);
        let chunks =
            residual.par_chunks(A::CHUNK).zip(z.par_chunks(A::CHUNK)).zip(image.par_chunks(A::CHUNK));
        chunks.zip(&mut *partials).for_each(|(((r, z), image), sum)| {
            *sum = [0.0; 2];
            for ((r, image), z) in r.iter().zip(image).zip(z.iter().map(|&z| f64::from(z))) {
                sum[0] += r * z;
                sum[1] -= step * image * z;
            }
        });
        let [energy, change] = add(partials);
        let beta = change / before;
        direction.par_chunks_mut(A::CHUNK).zip(z.par_chunks(A::CHUNK)).for_each(|(p, z)| {
            p.iter_mut().zip(z).for_each(|(p, &z)| *p = f64::from(z) + beta * *p);
        });
        energy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::ControlFlow;

    /// −x_{i−1} + (2 + shift) x_i − x_{i+1}; every seventh entry is no unknown.
    struct Chain {
        shift: f64,
        inverse: Vec<f32>,
    }

    impl Chain {
        fn new(n: usize, shift: f64) -> Self {
            let of = |i: usize| if i % 7 == 3 { 0.0 } else { (1.0 / (2.0 + shift)) as f32 };
            Self { shift, inverse: (0..n).map(of).collect() }
        }
    }

    impl Operator for Chain {
        const CHUNK: usize = 16;

        fn apply(&self, chunk: usize, v: &[f64], image: &mut [f64]) -> f64 {
            let mut sum = 0.0;
            for (i, image) in (chunk * Self::CHUNK..).zip(image) {
                let at = |i: usize| v.get(i).copied().unwrap_or(0.0);
                let full = (2.0 + self.shift) * v[i] - at(i.wrapping_sub(1)) - at(i + 1);
                *image = if self.inverse[i] > 0.0 { full } else { 0.0 };
                sum += v[i] * *image;
            }
            sum
        }

        fn inverse_diagonal(&self, chunk: usize) -> &[f32] {
            let first = chunk * Self::CHUNK;
            &self.inverse[first..(first + Self::CHUNK).min(self.inverse.len())]
        }
    }

    /// Some sweeps of Gauss and Seidel forth and back in f32, each result off by a part that differs from call to call.
    struct Sweeps<'a> {
        chain: &'a Chain,
        off: f32,
        calls: usize,
        z: Vec<f32>,
    }

    impl Cycle for Sweeps<'_> {
        fn cycle(&mut self, r: &[f64]) -> &[f32] {
            let n = r.len();
            self.z = vec![0.0; n];
            for _ in 0..3 {
                for i in (0..n).chain((0..n).rev()) {
                    let at = |i: usize| self.z.get(i).copied().unwrap_or(0.0);
                    let rest = r[i] as f32 + at(i.wrapping_sub(1)) + at(i + 1);
                    self.z[i] = self.chain.inverse[i] * rest;
                }
            }
            self.calls += 1;
            for (i, z) in self.z.iter_mut().enumerate() {
                *z *= 1.0 + self.off * ((i * 13 + self.calls * 7) as f32).sin();
            }
            &self.z
        }
    }

    /// A long chain that is all unknowns, with a right side; its solve by the diagonal takes many iterations.
    fn stiff() -> (Chain, Vec<f64>) {
        let mut chain = Chain::new(400, 1e-3);
        chain.inverse.fill((1.0 / 2.001) as f32);
        (chain, (0..400).map(|i| (i as f64 * 0.37).sin()).collect())
    }

    #[test]
    fn a_cycle_takes_the_place_of_the_diagonal_even_if_it_is_inexact() {
        let (chain, right) = stiff();
        let norm = dot(&right, &right, Chain::CHUNK).sqrt();
        let stop = Stop { tolerance: 1e-10, max_iterations: 1000 };
        let run = |cycle: Option<&mut dyn Cycle>| {
            let go_on = &mut |_: usize, _: f64| ControlFlow::Continue(());
            let (x, out) = solve(&chain, vec![0.0; 400], right.clone(), norm, cycle, stop, go_on);
            let mut image = vec![0.0; 400];
            for (c, image) in image.chunks_mut(Chain::CHUNK).enumerate() {
                chain.apply(c, &x, image);
            }
            let left = image.iter().zip(&right).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            assert!(left <= 2e-10 * norm && !out.cancelled, "{left} {out:?}");
            out.iterations
        };
        let diagonal = run(None);
        for (off, most) in [(0.0, diagonal / 3), (0.02, diagonal / 2)] {
            let mut cycle = Sweeps { chain: &chain, off, calls: 0, z: Vec::new() };
            let with_cycle = run(Some(&mut cycle));
            println!("{diagonal} iterations with the diagonal, {with_cycle} with a cycle off by {off}");
            assert!(with_cycle <= most, "{with_cycle} of {diagonal}, off by {off}");
            assert_eq!(cycle.calls, with_cycle, "one cycle an iteration");
        }
    }

    #[test]
    fn a_right_side_of_norm_zero_has_the_solution_zero() {
        let chain = Chain::new(100, 0.1);
        let stop = Stop { tolerance: 1e-10, max_iterations: 200 };
        let never = &mut |_: usize, _: f64| panic!("no iteration is needed");
        let (x, out) = solve(&chain, vec![1.0; 100], vec![0.0; 100], 0.0, None, stop, never);
        assert!(x.iter().all(|&x| x == 0.0) && out.iterations == 0 && out.residual == 0.0, "{out:?}");
    }

    #[test]
    fn what_is_solved_for_is_found_from_any_start() {
        let chain = Chain::new(100, 0.1);
        let known = |i: usize| if chain.inverse[i] > 0.0 { (i as f64 * 0.7).sin() } else { 0.0 };
        let exact: Vec<f64> = (0..100).map(known).collect();
        let mut right = vec![0.0; 100];
        for (c, image) in right.chunks_mut(Chain::CHUNK).enumerate() {
            chain.apply(c, &exact, image);
        }
        let norm = dot(&right, &right, Chain::CHUNK).sqrt();
        let stop = Stop { tolerance: 1e-10, max_iterations: 200 };
        for start in [
            vec![0.0; 100],
            exact
                .iter()
                .map(|x| 3.0 - x)
                .zip(&chain.inverse)
                .map(|(x, &i)| if i > 0.0 { x } else { 0.0 })
                .collect(),
        ] {
            let (x, out) =
                solve(&chain, start, right.clone(), norm, None, stop, &mut |_, _| ControlFlow::Continue(()));
            assert!(out.residual <= 1e-10 && out.iterations > 3, "{out:?}");
            let worst = x.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-8, "{worst}");
        }
        let (_, out) =
            solve(&chain, vec![0.0; 100], right, norm, None, stop, &mut |_, _| ControlFlow::Break(()));
        assert!(out.cancelled && out.iterations == 1);
    }
}
