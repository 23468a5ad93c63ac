use super::*;
use crate::fluid::cells;
use crate::fluid::reseeding::{Reseeding, reseed};
use crate::fluid::seeding::{Material, Seeding};
use crate::fluid::sources::{drain, emit};
use crate::fluid::transfer::{VelocityTransfer, particles_to_faces};
use crate::grid::{Grid, leaf};
use proptest::prelude::*;
use std::collections::BTreeSet;

const WATER: Material = Material { density: 1000.0, viscosity: 0.001 };

fn seeding() -> Seeding {
    Seeding::for_voxel(H as f32)
}

#[test]
fn seeding_puts_eight_particles_in_every_voxel() {
    let mut particles = Particles::new(DVec3::new(0.3, -0.2, 5.0));
    let mut next_id = 10;
    let bounds = (DVec3::splat(0.2), DVec3::splat(1.0));
    let all = |_: DVec3| true;
    seeding().fill(&mut particles, &transform(), bounds, all, |_| Vec3::X, WATER, &mut next_id);
    assert_eq!(particles.len(), 8 * 512);
    assert_eq!(next_id, 10 + 8 * 512);
    let cells = sorted(&mut particles);
    let counts: BTreeSet<usize> = (0..cells.topology.len() * leaf::SIZE).map(|s| cells.count(s)).collect();
    assert_eq!(counts, BTreeSet::from([0, 8]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn reseeding_keeps_limits_ids_and_attributes(n in 200usize..6000) {
        let hi = Vec3::splat(1.2);
        let (mut particles, cells) = cloud(n, Vec3::ZERO, hi, |x| x);
        for p in 0..n {
            particles.viscosity[p] = particles.position[p].x;
        }
        let old = particles.clone();
        let faces = particles_to_faces(&particles, &cells, &transform(), VelocityTransfer::Apic).value;
        let deep = Grid::from_fn(cells.topology.clone(), 0.3, |c| {
            let x = transform().to_world(c.as_dvec3());
            ((x - 0.6).abs().max_element() - 0.6) as f32
        });
        let limits = Reseeding::default();
        let mut next_id = n as i64;
        let selection = reseed(&mut particles, &cells, &transform(), &deep, &faces, None, &limits, &mut next_id);
        prop_assert_eq!(selection.source.len(), particles.len());

        let ids: BTreeSet<i64> = particles.id.iter().copied().collect();
        prop_assert_eq!(ids.len(), particles.len());
        prop_assert!(ids.last().is_none_or(|&last| last < next_id));
        for (p, &source) in selection.source.iter().enumerate() {
            let source = source as usize;
            prop_assert_eq!(particles.viscosity[p], old.viscosity[source]);
            if particles.id[p] < n as i64 {
                prop_assert_eq!(particles.get(p), old.get(source));
            } else {
                prop_assert!(particles.position[p].distance(old.position[source]) < 4.0 * H as f32);
            }
        }
        // Still in cell order, and every interior cell within the limits (or without any particle to copy).
        let after = cells::Cells::of_sorted(&particles, &transform(), &cells.topology).unwrap();
        for s in 0..deep.values.len() {
            if deep.values[s] < -limits.depth * H as f32 {
                prop_assert!(after.count(s) <= limits.most);
                prop_assert!(after.count(s) >= limits.fewest || n < 3000);
            } else {
                prop_assert_eq!(after.count(s), cells.count(s));
            }
        }
    }
}

#[test]
fn a_source_fills_up_what_is_missing_and_a_sink_takes_it_away() {
    let mut particles = Particles::new(DVec3::ZERO);
    let mut next_id = 0;
    let bounds = (DVec3::splat(0.0), DVec3::splat(0.8));
    let ball = |x: DVec3| (x - 0.4).length() < 0.35;
    let mut pour = |particles: &mut Particles| {
        emit(particles, &transform(), &seeding(), bounds, ball, |_| Vec3::NEG_Y, WATER, &mut next_id)
    };
    let first = pour(&mut particles);
    assert!(first.source.iter().all(|&s| s == super::super::Selection::NONE));
    let full = particles.len();
    let expected = 4.19 * 3.5f64.powi(3) * 8.0;
    assert!((full as f64 / expected - 1.0).abs() < 0.02, "{full} of {expected}");
    // Nothing moved: hardly anything is missing (other places are drawn each time).
    pour(&mut particles);
    assert!(particles.len() - full < full / 20);
    // Everything above a plane has left: it comes back.
    let selection = drain(&mut particles, |x| x.y > 0.4);
    assert_eq!(selection.source.len(), particles.len());
    let rest = particles.len();
    assert!((rest as f64 / full as f64 - 0.5).abs() < 0.1);
    pour(&mut particles);
    assert!((particles.len() as f64 / full as f64 - 1.0).abs() < 0.05);
    assert!(particles.velocity.iter().all(|v| *v == Vec3::NEG_Y));
    let ids: BTreeSet<i64> = particles.id.iter().copied().collect();
    assert_eq!(ids.len(), particles.len());
}
