//! How far particles may travel in a substep.

use crate::fluid::liquid::Liquid;
use crate::number::written;
use crate::scan;
use glam::Vec3;

/// Most voxels a particle may travel in a substep. No realistic motion comes near it; a wrong unit, or a frame that
/// lasts minutes, exceeds it.
pub const MOST_VOXELS: f64 = 10_000.0;
/// Highest speed that liquid may be given, m/s: a hundred times the speed of sound in water. At such speeds no liquid
/// is incompressible.
pub const MOST_SPEED: f64 = 150_000.0;

/// A particle would travel farther in a substep than is allowed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "the particle with id {id} moves at {} m/s, which is {} voxels in a substep of {} s, and {} are the most: \
     look at the velocities and forces it was given, or raise substeps.max",
    written(*speed), written(voxels.round()), written(*dt), written(MOST_VOXELS)
)]
pub struct TooFast {
    /// The particle.
    pub id: i64,
    /// Its speed, m/s.
    pub speed: f64,
    /// How far it would travel, voxels.
    pub voxels: f64,
    /// Length of the substep, s.
    pub dt: f64,
}

/// The longest step, s, such that in it, and in a step of the same length after it, nothing with a speed of |u| m/s
/// travels more than `cfl` voxels of `h` metres, gravity included: the root of (|u| + 3/2 g dt) dt = cfl h. The bound
/// given for the next step (`dt_next`) then holds while things fall. Infinite for a liquid at rest without gravity.
pub fn longest_step(speed: f64, h: f64, cfl: f64, gravity: f64) -> f64 {
    let (u, way) = (speed, cfl * h);
    2.0 * way / (u + (u * u + 6.0 * gravity * way).sqrt())
}

/// Refuses a substep of `dt` seconds in which a particle would travel more than [`MOST_VOXELS`]; the error names the
/// first one.
pub fn check(liquid: &Liquid, dt: f64) -> Result<(), TooFast> {
    let way = dt / liquid.transform.voxel_size();
    let most = (MOST_VOXELS / way).powi(2);
    let fine = |v: &Vec3| v.as_dvec3().length_squared() <= most;
    match scan::first(&liquid.particles.velocity, |v| !fine(v)) {
        None => Ok(()),
        Some(p) => {
            let speed = liquid.particles.velocity[p].as_dvec3().length();
            Err(TooFast { id: liquid.particles.id[p], speed, voxels: speed * way, dt })
        }
    }
}

/// Particles that travel farther in a substep than the liquid's velocity is known around it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outrunners {
    /// Their share of all.
    pub share: f64,
    /// The greatest speed of all particles, m/s.
    pub speed: f64,
    /// How far that takes one in the substep, voxels.
    pub voxels: f64,
}

/// Those that travel more than `reach` voxels in `dt` seconds.
pub fn outrunners(liquid: &Liquid, dt: f64, reach: f64) -> Outrunners {
    let way = dt / liquid.transform.voxel_size();
    let velocity = &liquid.particles.velocity;
    let most = (reach / way).powi(2);
    let count = scan::count(velocity, |v| v.as_dvec3().length_squared() > most);
    let speed = f64::from(liquid.particles.max_speed());
    Outrunners { share: count as f64 / velocity.len().max(1) as f64, speed, voxels: speed * way }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::particles::Particle;
    use crate::grid::Transform;
    use glam::{DVec3, Vec3};

    #[test]
    fn only_what_flies_out_of_sight_is_refused() {
        let mut liquid = Liquid::new(Transform::uniform(0.01, DVec3::ZERO), DVec3::ZERO);
        for (id, speed) in [(7, 1.0), (8, 2000.0)] {
            let affine = [Vec3::ZERO; 3];
            let velocity = Vec3::new(0.0, -speed, 0.0);
            let position = Vec3::ZERO;
            liquid.particles.push(Particle {
                position,
                velocity,
                affine,
                id,
                density: 1e3,
                viscosity: 0.0,
                mass_share: 1.0,
            });
        }
        assert_eq!(check(&liquid, 1.0 / 24.0), Ok(()));
        assert_eq!(outrunners(&liquid, 1e-3, 7.0), Outrunners { share: 0.5, speed: 2000.0, voxels: 200.0 });
        assert_eq!(outrunners(&liquid, 1e-3, 201.0).share, 0.0);
        let far = check(&liquid, 1.0).expect_err("200 000 voxels");
        assert_eq!((far.id, far.speed), (8, 2000.0));
        liquid.particles.velocity[0] = Vec3::new(1e30, 1e30, 0.0);
        let far = check(&liquid, 1.0 / 24.0).expect_err("1e30 m/s").to_string();
        assert!(far.contains("id 7 moves at 1.414e30 m/s") && far.contains("substeps.max"), "{far}");
    }
}
