//! Liquid finer than the grid: sheets in space and films on floors.

use super::flip::{GRAVITY, Scene};
use super::*;
use crate::solid::{DomainLimits, Side};

/// Gives the particles velocities along x and z at random, up to half a metre a second.
fn stir(scene: &mut Scene) {
    let mut seed = 5;
    for v in &mut scene.liquid.particles.velocity {
        *v = Vec3::new(noise(&mut seed) - 0.5, 0.0, noise(&mut seed) - 0.5);
    }
}

/// Kinetic energy per mass, J/kg, after each of some substeps.
fn energies(scene: &mut Scene, gravity: f64, steps: usize) -> Vec<f64> {
    let mut energy = || {
        scene.substep(1.0 / 64.0, gravity);
        0.5 * scene.rms_speed().powi(2)
    };
    (0..steps).map(|_| energy()).collect()
}

/// Particles of a sheet meet, part and meet again. Faces that took the speed of a few beside them would multiply its energy.
#[test]
fn a_thin_sheet_in_space_gains_no_energy() {
    for (low, thickness) in [(0.05, 0.4), (0.5, 0.4), (0.05, 0.2), (0.05, 0.08)] {
        let inside = |x: DVec3| {
            let y = x.y / H - low;
            x.x.abs().max(x.z.abs()) < 6.5 * H && y > 0.0 && y < thickness
        };
        let mut scene = Scene::new(DomainLimits::unbounded(), inside, Vec3::ZERO);
        stir(&mut scene);
        let e = energies(&mut scene, 0.0, 160);
        let least = e.iter().copied().fold(f64::MAX, f64::min);
        println!(
            "{thickness} voxels at {low}: {:.2e} at first, {least:.2e} at least, {:.2e} at last",
            e[0], e[159]
        );
        assert!(e[159] < 0.9 * e[0], "{} J/kg became {}", e[0], e[159]);
    }
}

/// In boxes whose sides cut voxels, at their middles too. A film can have no more energy than it falls by, and comes to rest.
#[test]
fn a_film_on_a_floor_does_not_boil() {
    // Floor, walls, thickness, voxels; and the most at the end, as a share of what falls by a voxel has.
    for (floor, wall, thickness, rest) in [
        (5.09, 6.5, 0.4, 0.05),
        (5.3, 6.8, 0.4, 0.05),
        (5.3, 6.5, 1.4, 0.005),
        (5.09, 6.8, 1.4, 0.005),
        (4.55, 6.5, 0.8, 0.01),
    ] {
        let low = DVec3::new(-wall, -floor, -wall) * H;
        let domain =
            DomainLimits::uniform(low, low + DVec3::new(2.0 * wall, 8.0, 2.0 * wall) * H, Side::Closed);
        let mut scene = Scene::new(domain, |x| x.y < low.y + thickness * H, Vec3::ZERO);
        stir(&mut scene);
        let e = energies(&mut scene, GRAVITY, 200);
        let most = e.iter().copied().fold(0.0, f64::max);
        println!(
            "{thickness} voxels on a floor at {floor}, walls at {wall}: {most:.2e} J/kg at most, {:.2e} at last",
            e[199]
        );
        assert!(most < 0.2 * GRAVITY * H, "{most} J/kg");
        assert!(e[199] < rest * GRAVITY * H, "{} J/kg at last", e[199]);
    }
}
