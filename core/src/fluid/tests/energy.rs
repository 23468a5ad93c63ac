//! No sealed tank gains energy, whatever the steps follow.

use super::flip::Scene;
use super::*;
use crate::fluid::flip::longest_step;
use crate::fluid::step::Step;
use crate::fluid::transport::transfer::VelocityTransfer;
use crate::solid::{DomainLimits, Side};
use std::f64::consts::PI;

const GRAVITY: f64 = 9.81;
const LENGTH: f64 = 4.0;
const DEPTH: f64 = 1.4;
const PERIODS: usize = 3;

/// Steps that cut frames as a host does: as few a frame as the speed allows, at most twice as long as the last.
struct Frames {
    frame: f64,
    cfl: f64,
    /// Left of this frame, s.
    left: f64,
    promised: Option<f64>,
    lead: f64,
}

impl Frames {
    fn new(fps: f64, cfl: f64) -> Self {
        Self { frame: 1.0 / fps, cfl, left: 1.0 / fps, promised: None, lead: 0.0 }
    }

    fn next(&mut self, speed: f64) -> Step {
        let wish = longest_step(speed, H, self.cfl, GRAVITY);
        let cut = |left: f64, wish: f64| left / (left / wish).ceil().clamp(1.0, 64.0);
        let drift = self.promised.unwrap_or_else(|| cut(self.left, wish)).min(self.left);
        let rest = self.left - drift;
        self.left = if rest > 1e-9 { rest } else { self.frame };
        let next = cut(self.left, wish.min(2.0 * drift));
        let kick = drift + 0.5 * next - self.lead;
        (self.promised, self.lead) = (Some(next), 0.5 * next);
        Step { drift, kick, next }
    }
}

/// Mean energy and kinetic energy per mass, J/kg, of each period of the first wave, counted from the flat level.
fn energies(transfer: VelocityTransfer, fps: f64, cfl: f64) -> Vec<[f64; 2]> {
    // One cell thick, its walls on the cells' faces.
    let low = DVec3::splat(-0.5 * H);
    let domain = DomainLimits::uniform(low, low + DVec3::new(LENGTH, 2.0 * DEPTH, H), Side::Closed);
    let tilted = |x: DVec3| x.y - low.y < DEPTH + 1.4 * ((x.x - low.x) / LENGTH - 0.5);
    let mut scene = Scene::new(domain, tilted, Vec3::ZERO);
    scene.params.transfer = transfer;
    scene.params.cfl = cfl as f32;
    let k = PI / LENGTH;
    let period = 2.0 * PI / (GRAVITY * k * (k * DEPTH).tanh()).sqrt();
    let mut frames = Frames::new(fps, cfl);
    let (mut time, mut sums) = (0.0, [[0.0f64; 3]; PERIODS]);
    while time < PERIODS as f64 * period - 1e-9 {
        let step = frames.next(f64::from(scene.liquid.particles.max_speed()));
        scene.step(&step, GRAVITY);
        time += step.drift;
        let n = scene.now.len() as f64;
        let kinetic = scene.now.iter().map(|v| 0.5 * v.as_dvec3().length_squared()).sum::<f64>() / n;
        let height = scene.liquid.particles.position.iter().map(|x| f64::from(x.y) - low.y).sum::<f64>() / n;
        let energy = kinetic + GRAVITY * (height - 0.5 * DEPTH);
        if let Some(sum) = sums.get_mut((time / period) as usize) {
            let add = [energy, kinetic, 1.0].map(|x| x * step.drift);
            *sum = std::array::from_fn(|i| sum[i] + add[i]);
        }
    }
    sums.map(|[energy, kinetic, time]| [energy / time, kinetic / time]).to_vec()
}

#[test]
fn a_sloshing_tank_never_gains_energy() {
    for (transfer, fps, cfl) in
        [(VelocityTransfer::Apic, 12.0, 2.0), (VelocityTransfer::Flip { flip: 0.97 }, 6.0, 5.0)]
    {
        let energy = energies(transfer, fps, cfl);
        println!("{transfer:?} {fps} fps CFL {cfl}: {energy:.4?}");
        for pair in energy.windows(2) {
            let grew = (0..2).any(|i| pair[1][i] > pair[0][i] + 0.005 * energy[0][i]);
            assert!(!grew, "{transfer:?} {fps} fps CFL {cfl}: {energy:.4?}");
        }
    }
}
