//! Sums over a liquid's particles, for stats.jsonl.

use glam::{DVec3, Vec3};
use meniscus_core::fluid::Particles;
use meniscus_core::fluid::liquid::Liquid;
use meniscus_core::fluid::population::thinning::Shares;
use meniscus_core::fluid::step::Step;
use meniscus_core::scan;
use rayon::prelude::*;

/// Particles summed by one task.
const SUMMED: usize = 8192;

/// A liquid's totals, for stats.jsonl.
pub(super) struct Totals {
    /// kg
    pub(super) mass: f64,
    /// kg m/s
    pub(super) momentum: DVec3,
    /// J
    pub(super) kinetic_energy: f64,
}

impl Totals {
    /// The totals of particles at these velocities (m/s), each seeded with this volume, m³.
    pub(super) fn of(particles: &Particles, velocity: &[Vec3], volume: f64) -> Self {
        let of_some = |(velocity, (density, share)): (&[Vec3], (&[f32], &[f32]))| {
            let (mut mass, mut momentum, mut energy) = (0.0, DVec3::ZERO, 0.0);
            for (&v, (&density, &share)) in velocity.iter().zip(density.iter().zip(share)) {
                let (m, v) = (f64::from(density) * f64::from(share) * volume, v.as_dvec3());
                mass += m;
                momentum += m * v;
                energy += 0.5 * m * v.length_squared();
            }
            (mass, momentum, energy)
        };
        let Particles { density, mass_share, .. } = particles;
        let weights = density.par_chunks(SUMMED).zip(mass_share.par_chunks(SUMMED));
        let sums: Vec<_> = velocity.par_chunks(SUMMED).zip(weights).map(of_some).collect();
        let add = |a: (f64, DVec3, f64), b: (f64, DVec3, f64)| (a.0 + b.0, a.1 + b.1, a.2 + b.2);
        let (mass, momentum, kinetic_energy) = sums.into_iter().fold((0.0, DVec3::ZERO, 0.0), add);
        Self { mass, momentum, kinetic_energy }
    }
}

/// Positions, densities and mass shares of some particles.
type Chunk<'a> = ((&'a [Vec3], &'a [f32]), &'a [f32]);

/// Potential energy, J, of a liquid in the uniform field that made `kicks`, m/s, in this substep: −m a · x, with m its
/// mass and x its centre of mass, counted from the world's origin. `None` where kicks are not the same for all
/// particles: such forces have no energy of this form.
///
/// The centre is that of the shape as the particles leave it: the liquid's density is uniform, and theirs is so only on
/// average. Where several densities mix, the particles say how far off that centre the mass lies.
pub(super) fn potential_energy(
    liquid: &Liquid,
    kicks: Option<&[Vec3]>,
    step: &Step,
    shares: &Shares,
    volume: f64,
) -> Option<f64> {
    let acceleration = scan::shared(kicks?)?.as_dvec3() / step.kick;
    let (mass, off_centre) = match liquid.particles.uniform_density() {
        Some(density) => (f64::from(density) * sum(&liquid.particles.mass_share), DVec3::ZERO),
        None => mass_of_mixed(&liquid.particles, shares),
    };
    Some(-mass * volume * acceleration.dot(liquid.measured.centre + off_centre))
}

/// The sum of some numbers.
fn sum(values: &[f32]) -> f64 {
    let of_some = |some: &[f32]| some.iter().map(|&x| f64::from(x)).sum::<f64>();
    let parts: Vec<f64> = values.par_chunks(SUMMED).map(of_some).collect();
    parts.into_iter().sum()
}

/// The mass of particles of several densities, per volume of one, and how far its centre lies off that of their shape, m.
fn mass_of_mixed(particles: &Particles, shares: &Shares) -> (f64, DVec3) {
    let Particles { position, density, mass_share, .. } = particles;
    let (positions, densities) = (position.par_chunks(SUMMED), density.par_chunks(SUMMED));
    let of_some = |(chunk, ((position, density), mass)): (usize, Chunk)| {
        let each = (chunk * SUMMED..).zip(position).zip(density.iter().zip(mass));
        each.fold(Sums::default(), |sums, ((p, x), (&density, &of_mass))| {
            let (x, space, density) = (x.as_dvec3(), f64::from(shares.share(p)), f64::from(density));
            let mass = density * f64::from(of_mass);
            sums.plus(&Sums {
                mass,
                space: [space, space * density],
                moment: [space * x, space * density * x],
            })
        })
    };
    let parts = positions.zip(densities).zip(mass_share.par_chunks(SUMMED)).enumerate().map(of_some);
    let parts: Vec<_> = parts.collect();
    let Sums { mass, space, moment } = parts.iter().fold(Sums::default(), Sums::plus);
    (mass, moment[1] / space[1] - moment[0] / space[0])
}

/// Sums over particles.
#[derive(Clone, Default)]
struct Sums {
    /// Of their masses, per volume of one.
    mass: f64,
    /// Of the space they fill, and of it times their density.
    space: [f64; 2],
    /// Both times their positions.
    moment: [DVec3; 2],
}

impl Sums {
    fn plus(self, other: &Self) -> Self {
        Self {
            mass: self.mass + other.mass,
            space: [0, 1].map(|n| self.space[n] + other.space[n]),
            moment: [0, 1].map(|n| self.moment[n] + other.moment[n]),
        }
    }
}
