//! A device that is not there, or fails in the middle of a substep: the processor takes over from what the device began
//! with, and says so once.

#[path = "common/worn.rs"]
mod worn;

use glam::{DVec3, Vec3};
use meniscus_core::device::Device;
use meniscus_core::fluid::particles::cells::{self, Cells};
use meniscus_core::fluid::transport::advection::{AdvectionParams, Way};
use meniscus_core::fluid::transport::device::{DeviceError, DeviceMover, Mover, Processor};
use meniscus_core::fluid::transport::transfer::{Transfer, VelocityTransfer};
use meniscus_core::fluid::{Particle, Particles};
use meniscus_core::grid::{FaceGrid, Transform};
use meniscus_core::solid::{DomainLimits, Side, Solids};
use meniscus_kernels::cuda::{Emulation, Failure};
use std::sync::Arc;
use worn::Worn;

const FLIP: VelocityTransfer = VelocityTransfer::Flip { flip: 0.95 };

fn transform() -> Transform {
    Transform::uniform(0.1, DVec3::ZERO)
}

fn particles() -> (Particles, Cells) {
    let mut particles = Particles::new(DVec3::ZERO);
    for n in 0..2000 {
        let wave = |k: f32| (k * n as f32).sin();
        let velocity = Vec3::new(wave(0.3), wave(0.5), wave(0.9));
        particles.push(Particle {
            position: Vec3::new(wave(0.7), wave(1.1), wave(1.9)),
            velocity,
            affine: [velocity, -velocity, Vec3::ONE],
            id: n,
            density: 1000.0,
            viscosity: 0.001,
            mass_share: 1.0,
        });
    }
    let topology = Arc::new(cells::covering(&particles, &transform(), 3));
    let cells = cells::sort(&mut particles, &transform(), &topology).0;
    (particles, cells)
}

/// Every step of a substep once.
fn substep<M: Mover>(mover: &mut M) -> Result<(Particles, FaceGrid<f32>), M::Error> {
    let (mut particles, cells) = particles();
    let transfer = Transfer { cells: &cells, transform: transform(), method: FLIP };
    let faces = mover.particles_to_faces(&particles, &transfer)?;
    let mut half = faces.clone();
    half.values.iter_mut().flatten().for_each(|u| *u *= 0.5);
    mover.faces_to_particles(&mut particles, &transfer, &half, &faces)?;
    let domain = DomainLimits::uniform(DVec3::splat(-1.05), DVec3::splat(1.05), Side::Closed);
    let way = Way { born_from: 1900, ..Way::through(&faces, transform(), 0.1) };
    let solids = Solids { colliders: &[], domain: &domain };
    mover.advect(&mut particles, &way, &solids, &AdvectionParams::default())?;
    Ok((particles, faces))
}

#[test]
fn a_device_that_fails_leaves_nothing_half_done() {
    let Ok((expected, faces)) = substep(&mut Processor);
    let opens: [fn() -> Result<Worn, Failure>; 5] = [
        || Err(Failure("worn out".into())),
        || Ok(Worn { downloads: 2, ..Worn::default() }),
        || Ok(Worn { downloads: 3, ..Worn::default() }),
        || Ok(Worn { downloads: 5, ..Worn::default() }),
        || Ok(Worn { downloads: 8, ..Worn::default() }),
    ];
    for open in opens {
        let mut mover = DeviceMover::new(open, false);
        let (there, carried) = substep(&mut mover).expect("a way back");
        let pairs = carried.values.iter().flatten().zip(faces.values.iter().flatten());
        assert!(pairs.map(|(a, b)| (a - b).abs()).all(|apart| apart < 1e-5));
        assert_eq!(there.id, expected.id);
        let apart = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).all(|(a, b)| (*a - *b).length() < 1e-5);
        assert!(apart(&there.position, &expected.position) && apart(&there.velocity, &expected.velocity));
        assert_eq!(mover.notice().as_deref(), Some("particles move on the processor: worn out"));
        substep(&mut mover).expect("a way back");
        assert_eq!(mover.notice(), None);

        let refused = substep(&mut DeviceMover::new(open, true)).err().map(|e: DeviceError| e.to_string());
        assert_eq!(refused.as_deref(), Some("no particles on a CUDA device: worn out"));
    }
}

#[test]
fn on_the_processor_nobody_asks_for_a_device() {
    let mut mover = DeviceMover::on(Device::Cpu);
    let Ok((expected, _)) = substep(&mut Processor);
    assert_eq!(substep(&mut mover).expect("the processor").0, expected);
    assert_eq!(mover.notice(), None);
}

#[test]
fn what_a_device_holds_changes_no_bit() {
    let mut used = DeviceMover::new(|| Ok(Emulation::default()), true);
    let first = substep(&mut used).expect("the emulation does not fail");
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        for mover in [&mut used, &mut DeviceMover::new(|| Ok(Emulation::default()), true)] {
            let again = pool.install(|| substep(mover)).expect("the emulation does not fail");
            assert_eq!((&again.0, &again.1.values), (&first.0, &first.1.values), "{threads} threads");
        }
    }
}
