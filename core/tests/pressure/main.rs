//! The laws of the pressure engine.

mod bodies;
mod device;
mod hard_cases;
mod iterations;
mod null_spaces;
mod operator;
mod random_scenes;
mod random_systems;
mod scene;
mod shoal;
mod threads;
#[path = "../common/worn.rs"]
mod worn;

use meniscus_core::device::Device;
use meniscus_core::pressure::{Info, Params, PressureSystem, Unknowns, solver};
use std::ops::ControlFlow;

/// Solves from zero and checks that the reported residual is the true one.
fn solve(system: &PressureSystem, rhs: &Unknowns, params: Params) -> (Info, Unknowns) {
    let mut x = Unknowns::zeros(system);
    let info = solver(Device::Cpu)
        .solve(system, rhs, &mut x, &params, &mut |_| ControlFlow::Continue(()))
        .expect("a well-formed system");
    assert!(x.cells.iter().chain(&x.supers).all(|v| v.is_finite()));
    assert_eq!(info.converged, info.residual <= params.tolerance);
    (info, x)
}

/// ‖b − A x‖₂ / ‖b‖₂ by the reference operator.
fn relative_residual(system: &PressureSystem, rhs: &Unknowns, x: &Unknowns) -> f64 {
    let mut y = Unknowns::zeros(system);
    system.apply(x, &mut y);
    for (y, b) in y.cells.iter_mut().zip(&rhs.cells).chain(y.supers.iter_mut().zip(&rhs.supers)) {
        *y -= b;
    }
    (dot(&y, &y) / dot(rhs, rhs)).sqrt()
}

fn dot(a: &Unknowns, b: &Unknowns) -> f64 {
    let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    sum(&a.cells, &b.cells) + sum(&a.supers, &b.supers)
}

/// A small reproducible generator (SplitMix64).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Uniform in [0, 1).
    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in [−1, 1).
    fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    /// Uniform in 0..n.
    fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// A random vector over the unknowns of a system.
    fn unknowns(&mut self, system: &PressureSystem) -> Unknowns {
        let mut x = Unknowns::zeros(system);
        for (v, &l) in x.cells.iter_mut().zip(&system.label) {
            if l == meniscus_core::pressure::CELL {
                *v = self.signed();
            }
        }
        x.supers.iter_mut().for_each(|v| *v = self.signed());
        x
    }
}
