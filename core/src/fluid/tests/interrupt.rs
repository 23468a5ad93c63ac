//! Long loops hear that they are to stop, and none is longer than it may be.

use super::flip::Scene;
use super::*;
use crate::fluid::flip;
use crate::fluid::step::Step;
use crate::fluid::transport::advection::{AdvectionParams, Way, advect};
use crate::fluid::transport::collision::Sweep;
use crate::fluid::transport::device::{Interruptible, Processor, Stopped};
use crate::grid::{FaceGrid, Topology};
use crate::interrupt::Interrupt;
use crate::levelset;
use crate::mesh::{MeshError, shapes};
use crate::solid::SolidMemory;
use crate::solid::{DomainLimits, Side, Solids};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Says yes from the `n`th question on.
fn after(n: usize) -> impl Fn() -> bool + Sync {
    let asked = AtomicUsize::new(0);
    move || asked.fetch_add(1, Ordering::Relaxed) + 1 >= n
}

#[test]
fn particles_that_are_not_reached_stay() {
    let (mut particles, _) = cloud(20_000, Vec3::ZERO, Vec3::ONE, |_| Vec3::X);
    let domain = DomainLimits::unbounded();
    let solids = Solids { colliders: &[], domain: &domain };
    let still = FaceGrid::new(Arc::new(Topology::default()), 0.0);
    let before = particles.position.clone();
    let asked = after(20);
    let way =
        Way { born_from: 0, interrupt: Interrupt::new(&asked), ..Way::through(&still, transform(), 0.1) };
    advect(&mut particles, &way, &solids, &AdvectionParams::default());
    let moved = particles.position.iter().zip(&before).filter(|(a, b)| a != b).count();
    assert!(moved > 0 && moved <= 20 * 64, "{moved}");
}

/// Between any two of its parts a substep can be broken off.
#[test]
fn a_substep_is_broken_off_wherever_it_stands() {
    let box_ = DomainLimits::uniform(DVec3::ZERO, DVec3::ONE, Side::Closed);
    let solids = Solids { colliders: &[], domain: &box_ };
    let wet = |x: DVec3| x.y < 0.5;
    let mut heard = 0;
    for n in 1.. {
        let mut scene = Scene::new(box_, wet, Vec3::ZERO);
        let params = scene.params;
        let asked = after(n);
        let mover = &mut Interruptible { mover: &mut Processor, interrupt: Interrupt::new(&asked) };
        let memory = &mut SolidMemory::default();
        let step = Step::steady(0.01);
        let liquid = &mut scene.liquid;
        let predicted = flip::predict_on(liquid, &solids, &solids, &step, &params, memory, mover);
        let before = liquid.particles.velocity.clone();
        let done = predicted.and_then(|_| flip::correct_on(liquid, &before, &params, mover));
        match done {
            Err(stopped) => assert_eq!(stopped, Stopped::Interrupted),
            Ok(_) => break,
        }
        heard = n;
    }
    assert!(heard > 8, "it asked {heard} times");
}

#[test]
fn a_signed_distance_is_broken_off() {
    let ball = shapes::ball(0.5, 16);
    let transform = Transform::uniform(0.02, DVec3::ZERO);
    for n in [1, 2, 30, 100] {
        let asked = after(n);
        let made = levelset::from_mesh_unless(&ball, &transform, 3.0, Interrupt::new(&asked));
        assert_eq!(made.err(), Some(MeshError::Interrupted), "asked {n} times");
    }
    let made = levelset::from_mesh_unless(&ball, &transform, 3.0, Interrupt::NEVER).expect("a closed mesh");
    assert_eq!(made.grid.values, levelset::from_mesh(&ball, &transform, 3.0).expect("the same").grid.values);
}

/// Along a wall every look finds it near, and the way is as long as from here to the moon.
#[test]
fn no_way_along_a_wall_is_too_long() {
    let floor = DomainLimits::uniform(DVec3::splat(-1e12), DVec3::splat(1e12), Side::Closed);
    let floor = DomainLimits { min: DVec3::new(-1e12, 0.0, -1e12), ..floor };
    let solids = Solids { colliders: &[], domain: &floor };
    let mut sweep = Sweep::new(&solids, 0.05 * H, 0.2 * H, 0.0, 1.0);
    let from = DVec3::new(0.0, 0.06 * H, 0.0);
    let landing = sweep.land(from, DVec3::new(4e8, 0.06 * H, 0.0));
    assert!(landing.position.is_finite() && landing.position.x > 1000.0 && landing.position.x < 1e4);
    assert!((landing.position.y - from.y).abs() < H);
}
