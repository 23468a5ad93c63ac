use super::*;
use crate::fluid::particles::cells;
use crate::fluid::particles::seeding::{Material, Seeding};
use crate::fluid::population::reseeding::{Interior, Reseeding, reseed};
use crate::fluid::population::sources::{Jet, drain, emit, enter};
use crate::fluid::transport::transfer::{Transfer, VelocityTransfer, particles_to_faces};
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

fn mass(particles: &Particles) -> f64 {
    particles.mass_share.iter().map(|&share| f64::from(share)).sum()
}

fn momentum(particles: &Particles) -> DVec3 {
    let of_each = particles.velocity.iter().zip(&particles.mass_share);
    of_each.map(|(v, &share)| v.as_dvec3() * f64::from(share)).sum()
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
        let transfer = Transfer { cells: &cells, transform: transform(), method: VelocityTransfer::Apic };
        let faces = particles_to_faces(&particles, &transfer).value;
        let deep = Grid::from_fn(cells.topology.clone(), 0.3, |c| {
            let x = transform().to_world(c.as_dvec3());
            ((x - 0.6).abs().max_element() - 0.6) as f32
        });
        let limits = Reseeding::default();
        let mut next_id = n as i64;
        let interior = Interior {
            cells: &cells,
            transform: &transform(),
            surface: &deep,
            velocity: &faces,
            solid: None,
            open: None,
            deep: None,
        };
        let selection = reseed(&mut particles, &interior, &limits, &mut next_id);
        prop_assert_eq!(selection.source.len(), particles.len());

        let ids: BTreeSet<i64> = particles.id.iter().copied().collect();
        prop_assert_eq!(ids.len(), particles.len());
        prop_assert!(ids.last().is_none_or(|&last| last < next_id));
        for (p, &source) in selection.source.iter().enumerate() {
            let source = source as usize;
            prop_assert_eq!(particles.viscosity[p], old.viscosity[source]);
            if particles.id[p] < n as i64 {
                prop_assert_eq!(particles.position[p], old.position[source]);
                prop_assert_eq!(particles.id[p], old.id[source]);
            } else {
                prop_assert!(particles.position[p].distance(old.position[source]) < 4.0 * H as f32);
            }
        }
        // What is born and what dies keeps mass and momentum.
        let ([mass, was], [momentum, before]) = ([&particles, &old].map(mass), [&particles, &old].map(momentum));
        prop_assert!((mass / was - 1.0).abs() < 1e-6, "{} of {}", mass, was);
        prop_assert!(momentum.distance(before) < 1e-6 * was, "{} of {}", momentum, before);
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
    let jet = Jet { velocity: Vec3::NEG_Y, travelled: None, material: WATER };
    let mut pour = |particles: &mut Particles| {
        emit(particles, &transform(), &seeding(), bounds, ball, &jet, &mut next_id)
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

/// Particles that leave a mouth at a constant velocity, and nothing else: what entered beyond the mouth's own
/// volume, over what it is swept by: area × speed × time, less, aslant, what would enter and leave in one step.
fn given(velocity: Vec3, size: DVec3, corner: DVec3, dt: f32, steps: usize) -> f64 {
    let mut particles = Particles::new(DVec3::ZERO);
    let mut next_id = 0;
    let bounds = (corner, corner + size);
    let inside = |x: DVec3| x.cmpge(bounds.0).all() && x.cmplt(bounds.1).all();
    let mut pour = |particles: &mut Particles, time: f64| {
        let jet = Jet { velocity, travelled: Some(velocity.as_dvec3() * time), material: WATER };
        emit(particles, &transform(), &seeding(), bounds, inside, &jet, &mut next_id);
        next_id as f64 * seeding().particle_volume()
    };
    let filled = pour(&mut particles, 0.0);
    let mut entered = filled;
    for step in 0..steps {
        particles.position.iter_mut().for_each(|x| *x += velocity * dt);
        entered = pour(&mut particles, f64::from(dt) * (step + 1) as f64);
    }
    let stays = (size - (velocity * dt).as_dvec3().abs()).element_product();
    (entered - filled) / (steps as f64 * (size.element_product() - stays))
}

#[test]
fn a_jet_gives_area_times_speed_times_time() {
    for (name, velocity, size, corner) in [
        ("along an axis", Vec3::NEG_Y, DVec3::new(0.8, 0.6, 0.8), DVec3::new(0.0, 1.0, 0.0)),
        ("off the lattice", Vec3::NEG_Y, DVec3::new(0.77, 0.43, 0.81), DVec3::new(0.013, 1.024, -0.037)),
        ("thin", Vec3::NEG_Y, DVec3::new(0.8, 0.11, 0.8), DVec3::new(0.0, 1.0, 0.0)),
        ("aslant", Vec3::new(0.6, -0.8, 0.0), DVec3::new(0.8, 0.6, 0.8), DVec3::new(0.0, 1.0, 0.0)),
    ] {
        for voxels in [0.13, 0.37, 0.5, 0.9] {
            let steps = (10.0 / voxels) as usize;
            let share = given(velocity, size, corner, voxels * H as f32, steps);
            assert!((share - 1.0).abs() < 0.01, "{name}, {voxels} voxels a step: {share:.4}");
        }
    }
}

/// What comes into a region, over many substeps, is area across the velocity × speed × time, whatever the direction, the
/// step and the shape.
#[test]
fn what_enters_is_area_times_speed_times_time() {
    let low = DVec3::new(0.013, 0.05, -0.02);
    for direction in
        [Vec3::Y, Vec3::new(0.6, 0.8, 0.0), Vec3::new(0.28, 0.0, 0.96), Vec3::new(0.48, 0.6, -0.64)]
    {
        for step in [0.01, 0.06, 0.2, 0.5] {
            for size in [DVec3::new(0.8, 0.6, 0.8), DVec3::new(0.8, 0.1, 0.8), DVec3::new(0.4, 0.3, 0.5)] {
                let half = 0.5 * size;
                let of_box = |at: DVec3| {
                    let q = (at - low - half).abs() - half;
                    q.max(DVec3::ZERO).length() + q.max_element().min(0.0)
                };
                let across = DVec3::new(size.y * size.z, size.x * size.z, size.x * size.y);
                let area = direction.as_dvec3().abs().dot(across);
                let made = entered((low, low + size), of_box, direction, step) / area;
                assert!((made - 1.0).abs() < 0.01, "box {size} along {direction}, {step}: {made}");
            }
            let of_ball = |at: DVec3| (at - low - 0.3).length() - 0.3;
            let made = entered((low, low + 0.6), of_ball, direction, step) / (std::f64::consts::PI * 0.09);
            assert!((made - 1.0).abs() < 0.01, "ball along {direction}, {step}: {made}");
        }
    }
}

/// The volume that enters a full region per metre that its places move, in steps of `step` metres, m².
fn entered(bounds: (DVec3, DVec3), distance: impl Fn(DVec3) -> f64 + Sync, velocity: Vec3, step: f64) -> f64 {
    let way = velocity.as_dvec3() * step;
    let (mut particles, mut next_id, places) = (Particles::new(DVec3::ZERO), 0, seeding());
    let steps = (3.0 / step).ceil() as i32;
    for n in 1..=steps {
        let jet = Jet { velocity, travelled: Some(way * f64::from(n)), material: WATER };
        let selection =
            enter(&mut particles, &transform(), &places, bounds, &distance, (&jet, way), None, &mut next_id);
        assert_eq!(selection.source.len(), particles.len());
        particles = Particles::new(DVec3::ZERO);
    }
    next_id as f64 * places.particle_volume() / (step * f64::from(steps))
}
