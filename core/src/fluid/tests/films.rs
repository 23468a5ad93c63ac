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

/// In boxes whose sides cut voxels. A film can have no more energy than it falls by.
#[test]
fn a_film_on_a_floor_does_not_boil() {
    for (floor, wall, thickness) in [(5.09, 6.5, 0.4), (5.3, 6.8, 0.4), (5.09, 6.8, 1.4)] {
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
        // A fifth of what falls by a voxel has.
        assert!(most < 0.2 * GRAVITY * H, "{most} J/kg");
    }
}

#[test]
#[ignore]
fn zz_where_films_boil() {
    for (floor, wall, thickness) in [
        (5.3, 6.5, 1.4),
        (5.3, 6.8, 1.4),
        (5.09, 6.5, 1.4),
        (5.0, 6.5, 1.4),
        (5.3, 7.0, 1.4),
        (4.55, 6.5, 0.8),
    ] {
        let low = DVec3::new(-wall, -floor, -wall) * H;
        let domain =
            DomainLimits::uniform(low, low + DVec3::new(2.0 * wall, 8.0, 2.0 * wall) * H, Side::Closed);
        let mut scene = Scene::new(domain, |x| x.y < low.y + thickness * H, Vec3::ZERO);
        stir(&mut scene);
        let e = energies(&mut scene, GRAVITY, 200);
        println!(
            "floor {floor} wall {wall} thick {thickness}: {:?}",
            e.iter().step_by(10).map(|e| format!("{e:.1e}")).collect::<Vec<_>>()
        );
        // by zones: distance to the nearest wall in voxels, height over floor in voxels
        let mut zones = vec![[0.0f64; 8]; 8];
        let p = &scene.liquid.particles;
        for (x, v) in p.position.iter().zip(&scene.now) {
            let d = (wall - (f64::from(x.x.abs().max(x.z.abs())) / H)).clamp(0.0, 6.9);
            let y = ((f64::from(x.y) - low.y) / H).clamp(0.0, 6.9);
            let z = &mut zones[(d) as usize];
            z[0] += 1.0;
            z[1] += f64::from(v.x * v.x + v.z * v.z) * 0.5;
            z[2] += f64::from(v.y * v.y) * 0.5;
            z[3] = z[3].max(y);
            z[4] += y;
        }
        for (i, z) in zones.iter().enumerate() {
            if z[0] > 0.0 {
                println!(
                    "   {i} from wall: n {} horizontal {:.2e} vertical {:.2e} highest {:.2} mean {:.2}",
                    z[0],
                    z[1] / z[0],
                    z[2] / z[0],
                    z[3],
                    z[4] / z[0]
                );
            }
        }
    }
}

#[test]
#[ignore]
fn zz_surface_at_walls() {
    for (floor, wall, thickness) in [(5.3, 6.5, 1.4), (5.3, 6.45, 1.4), (5.3, 6.55, 1.4), (5.3, 6.8, 1.4)] {
        let low = DVec3::new(-wall, -floor, -wall) * H;
        let domain =
            DomainLimits::uniform(low, low + DVec3::new(2.0 * wall, 8.0, 2.0 * wall) * H, Side::Closed);
        let mut scene = Scene::new(domain, |x| x.y < low.y + thickness * H, Vec3::ZERO);
        stir(&mut scene);
        for step in 0..60 {
            scene.substep(1.0 / 64.0, GRAVITY);
            if step % 12 == 0 {
                println!("floor {floor} wall {wall} step {step}");
                for y in [-3, -4, -5, -6, -7] {
                    let row: Vec<String> = (2..8)
                        .map(|x| {
                            format!("{:+.2}", scene.liquid.surface.get(glam::IVec3::new(x, y, 0)) as f64 / H)
                        })
                        .collect();
                    let ux: Vec<String> = (2..8)
                        .map(|x| format!("{:+.2}", scene.liquid.velocity.get(0, glam::IVec3::new(x, y, 0))))
                        .collect();
                    let ax: Vec<String> = (2..8)
                        .map(|x| format!("{:.2}", scene.liquid.solid.open.get(0, glam::IVec3::new(x, y, 0))))
                        .collect();
                    println!("  y {y}: phi {row:?} u {ux:?} open {ax:?}");
                }
            }
        }
    }
}
