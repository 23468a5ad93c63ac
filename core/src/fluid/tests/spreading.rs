//! Crowds spread to the room that their particles need, and nothing else moves.

use super::surface::seeded;
use super::*;
use crate::fluid::spreading::spread_out;
use crate::fluid::surface::{SurfaceParams, surface};
use crate::fluid::transport::advection::AdvectionParams;
use crate::grid::Grid;
use crate::levelset;
use crate::solid::{DomainLimits, Rasteriser, Side, Solids};

/// A tank of 16³ cells whose lower half holds a pool at rest, and every particle of the cells `crowd` twice.
fn tank(crowd: impl Fn(Vec3) -> bool) -> (Particles, DomainLimits) {
    tank_in(0.0, crowd)
}

/// The same with walls that leave slivers of cells, m, on all sides.
pub(super) fn tank_in(sliver: f64, crowd: impl Fn(Vec3) -> bool) -> (Particles, DomainLimits) {
    let (low, high) = (DVec3::splat(-sliver), DVec3::splat(1.6 + sliver));
    let domain = DomainLimits::uniform(low, high, Side::Closed);
    let (mut particles, _) = seeded(low, high.with_y(0.8), |_| true);
    let twice: Vec<Vec3> = particles.position.iter().copied().filter(|&p| crowd(p)).collect();
    for (n, p) in twice.iter().enumerate() {
        particles.push(particle(*p + 0.01, Vec3::ZERO, 100_000 + n as i64));
    }
    (particles, domain)
}

/// One round; whether anything moved, and the volume of the level set, voxels.
pub(super) fn round(particles: &mut Particles, domain: &DomainLimits) -> (bool, f64) {
    let solids = Solids { colliders: &[], domain };
    let held = particles.len() as f64 / 8.0;
    let measured = |particles: &mut Particles| {
        let cells = sorted(particles);
        let fields = Rasteriser::default().rasterise(&[], domain, &cells.topology, &transform());
        let phi =
            surface(particles, &cells, None, &transform(), Some(&fields), None, &SurfaceParams::default());
        let phi: Grid<f32> = levelset::redistance(&phi, H as f32, 3.0);
        (
            levelset::volume(
                &levelset::fractions_inside(&phi, H as f32),
                Some(&fields.volume.on(&phi.topology)),
                H,
            ) / H.powi(3),
            cells,
            fields,
        )
    };
    let (volume, cells, fields) = measured(particles);
    let around = (&solids, &*fields);
    let excess = volume / held - 1.0;
    let moved = spread_out(particles, &cells, &transform(), around, 8.0, excess, &AdvectionParams::default());
    (moved, measured(particles).0)
}

#[test]
fn an_even_liquid_is_left_alone() {
    let (mut particles, domain) = tank(|_| false);
    let before = particles.position.clone();
    assert!(!round(&mut particles, &domain).0);
    assert_eq!(particles.position, before);
}

#[test]
fn a_crowd_takes_the_room_it_needs() {
    let block = |low: Vec3, high: Vec3| {
        move |p: Vec3| (p - low).min_element() > 0.0 && (high - p).min_element() > 0.0
    };
    let middle = block(Vec3::splat(0.2), Vec3::new(1.0, 0.6, 1.0));
    let corner = block(Vec3::ZERO, Vec3::new(0.6, 0.6, 0.6));
    for crowd in [&middle as &dyn Fn(Vec3) -> bool, &corner] {
        let (mut particles, domain) = tank(crowd);
        let held = particles.len() as f64 / 8.0;
        let mut volume = 0.0;
        for _ in 0..12 {
            volume = round(&mut particles, &domain).1;
        }
        // Less than (SLACK + FAR)/ANSWER may be the measurement: the solve's own control is for that.
        assert!((volume / held - 1.0).abs() < 0.011, "{volume} of {held} voxels");
        assert!(particles.position.iter().all(|p| domain.contains(p.as_dvec3())));
        assert!(particles.velocity.iter().all(|&v| v == Vec3::ZERO), "positions alone");
    }
}
