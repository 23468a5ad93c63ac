//! Conserves mass and momentum when particles are added or removed: a newborn particle shares its parent's, a removed
//! one leaves its own to an heir.

use crate::fluid::particles::Particles;
use glam::{DVec3, Vec3};

/// The mass and momentum that a removed particle leaves.
pub(crate) struct Legacy {
    /// The index of the particle that takes them over.
    heir: usize,
    /// Mass as a share of that of a seeded particle of its density, kg/m³.
    mass: f64,
    velocity: DVec3,
    affine: [DVec3; 3],
}

/// A newborn particle, and the parent whose mass it shares.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Family {
    /// Its parent's index.
    pub(crate) parent: usize,
    /// Its own index.
    pub(crate) child: usize,
}

fn mass(particles: &Particles, p: usize) -> f64 {
    f64::from(particles.mass_share[p]) * f64::from(particles.density[p])
}

fn affine(particles: &Particles, p: usize) -> [DVec3; 3] {
    particles.affine.each_ref().map(|rows| rows[p].as_dvec3())
}

impl Legacy {
    /// The mass and momentum that particle `p` leaves to the one at index `heir`.
    pub(crate) fn of(particles: &Particles, p: usize, heir: usize) -> Self {
        let velocity = particles.velocity[p].as_dvec3();
        Self { heir, mass: mass(particles, p), velocity, affine: affine(particles, p) }
    }
}

/// Gives an heir mass, momentum and affine moment of a particle that died: m = m₁ + m₂, v = (m₁ v₁ + m₂ v₂)/m.
pub(crate) fn bequeath(particles: &mut Particles, legacy: &Legacy) {
    let p = legacy.heir;
    let (own, density) = (mass(particles, p), f64::from(particles.density[p]));
    let all = own + legacy.mass;
    if all <= 0.0 || density <= 0.0 {
        return;
    }
    let mean = |own_value: DVec3, left: DVec3| ((own * own_value + legacy.mass * left) / all).as_vec3();
    particles.velocity[p] = mean(particles.velocity[p].as_dvec3(), legacy.velocity);
    let own_affine = affine(particles, p);
    for (a, rows) in particles.affine.iter_mut().enumerate() {
        rows[p] = mean(own_affine[a], legacy.affine[a]);
    }
    particles.mass_share[p] = (all / density) as f32;
}

/// Divides the mass of each parent evenly among it and its children, and shifts their velocities by one amount so that
/// together they have the momentum that the parent had.
pub(crate) fn share_out(particles: &mut Particles, mut families: Vec<Family>) {
    families.sort_unstable();
    for family in families.chunk_by(|a, b| a.parent == b.parent) {
        let parent = family[0].parent;
        let (all, before) = (mass(particles, parent), particles.velocity[parent].as_dvec3());
        let members = || std::iter::once(parent).chain(family.iter().map(|f| f.child));
        let each = all / (family.len() + 1) as f64;
        for p in members() {
            let density = f64::from(particles.density[p]);
            particles.mass_share[p] = if density > 0.0 { (each / density) as f32 } else { 0.0 };
        }
        // The parent takes the rounding error.
        let given: f64 = family.iter().map(|f| mass(particles, f.child)).sum();
        let density = f64::from(particles.density[parent]);
        if density > 0.0 {
            particles.mass_share[parent] = ((all - given) / density) as f32;
        }
        let of_all = |value: &dyn Fn(usize) -> DVec3| members().map(value).sum::<DVec3>();
        let momentum = of_all(&|p| mass(particles, p) * particles.velocity[p].as_dvec3());
        let now: f64 = members().map(|p| mass(particles, p)).sum();
        if now > 0.0 {
            let shift: Vec3 = ((all * before - momentum) / now).as_vec3();
            members().for_each(|p| particles.velocity[p] += shift);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::particles::Particle;

    fn three() -> Particles {
        let mut particles = Particles::new(DVec3::ZERO);
        for (n, density) in [1000.0, 800.0, 1000.0].into_iter().enumerate() {
            let n = n as f32;
            particles.push(Particle {
                position: Vec3::X * n,
                velocity: Vec3::new(1.0, n, -2.0 * n),
                affine: [Vec3::X * n; 3],
                id: n as i64,
                density,
                viscosity: 0.0,
                mass_share: 1.0 + 0.3 * n,
            });
        }
        particles
    }

    fn totals(particles: &Particles) -> (f64, DVec3) {
        let all = 0..particles.len();
        let momentum = |p| mass(particles, p) * particles.velocity[p].as_dvec3();
        (all.clone().map(|p| mass(particles, p)).sum(), all.map(momentum).sum())
    }

    #[test]
    fn an_heir_takes_all_there_was() {
        let mut particles = three();
        let before = totals(&particles);
        let legacy = Legacy::of(&particles, 1, 0);
        particles.retain(|p| p != 1);
        bequeath(&mut particles, &legacy);
        let after = totals(&particles);
        assert!((after.0 / before.0 - 1.0).abs() < 1e-6, "{after:?} {before:?}");
        assert!(after.1.distance(before.1) < 1e-6 * before.1.length(), "{after:?} {before:?}");
        assert!(particles.affine[0][0].x > 0.0 && particles.affine[0][0].x < 1.0);
    }

    #[test]
    fn a_family_has_what_its_parent_had() {
        let mut particles = three();
        let (mass, momentum) = (mass(&particles, 2), mass(&particles, 2) * particles.velocity[2].as_dvec3());
        let families = vec![Family { parent: 2, child: 1 }, Family { parent: 2, child: 0 }];
        share_out(&mut particles, families);
        let after = totals(&particles);
        assert!((after.0 / mass - 1.0).abs() < 1e-6, "{after:?}");
        assert!(after.1.distance(momentum) < 1e-6 * momentum.length(), "{after:?} {momentum:?}");
        // Their differences are kept.
        let apart = particles.velocity[0] - particles.velocity[1];
        assert!((apart - Vec3::new(0.0, -1.0, 2.0)).length() < 1e-5, "{apart:?}");
    }
}
