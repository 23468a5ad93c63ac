//! Particles on the emulated device: what the processor gives, or an honest way back to the processor.

use super::*;
use crate::fluid::faces::inlet::{Inlet, Nozzle};
use crate::fluid::flip::{correct, correct_on, predict, predict_on, start};
use crate::fluid::liquid::Liquid;
use crate::fluid::params::FlipParams;
use crate::fluid::particles::seeding::{Material, Seeding};
use crate::fluid::population::sources::drain;
use crate::fluid::step::Step;
use crate::fluid::transport::advection::{AdvectionParams, Way};
use crate::fluid::transport::device::{DeviceMover, Mover, Processor};
use crate::fluid::transport::transfer::{Transfer, VelocityTransfer, faces_to_particles, particles_to_faces};
use crate::grid::{FaceGrid, Topology};
use crate::levelset::SignedDistance;
use crate::solid::SolidMemory;
use crate::solid::{Collider, DomainLimits, Motion, Side, Solids};
use glam::IVec3;
use meniscus_kernels::cuda::Emulation;

const TRANSFERS: [VelocityTransfer; 3] =
    [VelocityTransfer::Apic, VelocityTransfer::Flip { flip: 0.97 }, VelocityTransfer::Flip { flip: 0.0 }];

fn emulated() -> DeviceMover<Emulation> {
    DeviceMover::new(|| Ok(Emulation::default()), true)
}

fn vec3(seed: &mut u64) -> Vec3 {
    Vec3::new(noise(seed), noise(seed), noise(seed)) * 2.0 - 1.0
}

/// Blobs of particles far apart and close by, some exactly on the borders of cells and leaves, with velocities and
/// gradients at random, of one density or several.
fn blobs(seed: &mut u64, densities: bool) -> Particles {
    let mut particles = Particles::new(DVec3::new(0.03, -0.01, 0.02));
    for _ in 0..5 {
        let (centre, size) = (vec3(seed) * 2.5, 0.1 + 0.6 * noise(seed));
        for _ in 0..300 {
            let mut x = centre + size * vec3(seed);
            if noise(seed) < 0.1 {
                let origin = particles.origin.as_vec3();
                x[0] = ((x[0] / H as f32).round() + 0.5) * H as f32 - origin[0];
                x[2] = ((x[2] / (8.0 * H as f32)).round() * 8.0 - 0.5) * H as f32 - origin[2];
            }
            let mut p = particle(x, 3.0 * vec3(seed), particles.len() as i64);
            p.affine = std::array::from_fn(|_| 20.0 * vec3(seed));
            p.density = if densities { 800.0 + 200.0 * noise(seed).round() } else { 1000.0 };
            particles.push(p);
        }
    }
    particles
}

/// Sorted on the leaves within `reach` voxels: where that is 1, leaves have few neighbours.
fn sort_within(particles: &mut Particles, reach: i32) -> Cells {
    let topology = Arc::new(cells::covering(particles, &transform(), reach));
    cells::sort(particles, &transform(), &topology).0
}

/// Up to 3 m/s along every axis and `rough` m/s from face to face, as outside every leaf.
fn random_faces(seed: &mut u64, topology: &Arc<Topology>, rough: f32) -> FaceGrid<f32> {
    let drift = (3.0 - rough) * (2.0 * noise(seed) - 1.0);
    let mut faces = FaceGrid::new(topology.clone(), drift + 0.1 * rough);
    let values = faces.values.iter_mut().flatten();
    values.for_each(|u| *u = drift + rough * (2.0 * noise(seed) - 1.0));
    faces
}

/// Largest difference of two sets of vectors.
fn apart<'a>(a: impl IntoIterator<Item = &'a Vec3>, b: impl IntoIterator<Item = &'a Vec3>) -> f32 {
    let apart = a.into_iter().zip(b).map(|(a, b)| (*a - *b).abs().max_element());
    apart.fold(0.0, |m, d| if d <= m { m } else { d })
}

#[test]
fn faces_get_what_the_processor_gives_them() {
    let mut device = emulated();
    for n in 0..8 {
        let seed = &mut (n * 977 + 5);
        let mut particles = blobs(seed, n % 2 == 1);
        let cells = sort_within(&mut particles, [1, 2, 5, 8][n as usize / 2]);
        for method in TRANSFERS {
            let transfer = Transfer { cells: &cells, transform: transform(), method };
            let expected = particles_to_faces(&particles, &transfer).value;
            let faces = device.particles_to_faces(&particles, &transfer).unwrap();
            assert_eq!(faces.topology, expected.topology);
            // What particles bring is up to 3 m/s and 4 m/s a voxel; sums of some hundred are rounded.
            let values = |faces: &FaceGrid<f32>| faces.values.concat();
            let apart =
                values(&faces).iter().zip(values(&expected)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(apart < 3e-5, "{apart} m/s with {method:?}, seed {n}");
        }
    }
}

#[test]
fn particles_take_what_the_processor_gives_them() {
    let mut device = emulated();
    for n in 0..6 {
        let seed = &mut (n * 131 + 7);
        let mut particles = blobs(seed, false);
        let cells = sort_within(&mut particles, [1, 4, 8][n as usize / 2]);
        let [after, before] = [0, 1].map(|_| random_faces(seed, &cells.topology, 3.0));
        for method in TRANSFERS {
            let transfer = Transfer { cells: &cells, transform: transform(), method };
            let (mut here, mut there) = (particles.clone(), particles.clone());
            faces_to_particles(&mut here, &transfer, &after, &before);
            device.faces_to_particles(&mut there, &transfer, &after, &before).unwrap();
            // Velocities are up to 3 m/s, gradients up to 6 m/s a voxel.
            assert!(apart(&there.velocity, &here.velocity) < 4e-6);
            assert!(apart(there.affine.iter().flatten(), here.affine.iter().flatten()) < 2e-4);
        }
    }
}

fn ball(radius: f64, motion: Motion) -> Collider {
    let lattice = Transform::uniform(H, DVec3::new(0.013, 0.0, -0.02));
    let around = IVec3::splat((radius / H) as i32 + 4);
    let sdf = SignedDistance::from_fn(&lattice, -around, around, 3.0, |x| x.length() - radius);
    Collider::new(Arc::new(sdf), lattice, motion)
}

/// Moves the same particles on both and compares: those outside the solids, since the way out from deep inside several
/// multiplies what rounding makes.
fn race(device: &mut DeviceMover<Emulation>, particles: &Particles, way: &Way, solids: &Solids) {
    let params = AdvectionParams::default();
    let mut here = particles.clone();
    drain(&mut here, |x| solids.probe().distance(x) <= 0.0);
    assert!(here.len() > 100);
    let mut there = here.clone();
    let Ok(expected) = Processor.advect(&mut here, way, solids, &params);
    let selection = device.advect(&mut there, way, solids, &params).unwrap();
    assert_eq!(selection, expected);
    assert_eq!(there.id, here.id);
    // To a ten-thousandth of a voxel; but where two solids are as near as each other, rounding decides which one turns
    // a particle.
    let parts = |p: &Particles, n: usize| (p.position[n], p.velocity[n]);
    let alike = |n: usize| {
        let ((x, v), (y, u)) = (parts(&here, n), parts(&there, n));
        (x - y).abs().max_element() < 1e-5 && (v - u).abs().max_element() < 1e-4
    };
    let apart = (0..here.len()).filter(|&n| !alike(n)).count();
    assert!(apart <= here.len() / 500, "{apart} of {} particles", here.len());
}

#[test]
fn particles_come_to_where_the_processor_takes_them() {
    let mut device = emulated();
    let mut domain = DomainLimits::uniform(DVec3::splat(-2.0), DVec3::splat(2.2), Side::Closed);
    domain.sides[0] = Side::Kill;
    domain.sides[3] = Side::Open;
    let open = DomainLimits::unbounded();
    let turning = Motion::Rigid { linear: DVec3::X, angular: DVec3::new(0.5, 2.0, 0.0), pivot: DVec3::ZERO };
    // A small one, and one that has leafless tiles inside.
    let still = [ball(0.6, Motion::Static), ball(1.9, Motion::Static)];
    let moving = [ball(0.6, turning), ball(1.9, Motion::Static)];
    let (low, high) = (DVec3::splat(-1.5), DVec3::new(1.5, 0.0, 1.5));
    let driven = |x: DVec3| x.cmpge(low).all() && x.cmplt(high).all();
    let nozzle = Nozzle { bounds: (low, high), thickness: 1.5, velocity: Vec3::new(-4.0, 2.0, 1.0) };
    let mouth = Inlet::new(&transform(), &nozzle, driven);
    for n in 0..4 {
        let seed = &mut (n * 4711 + 1);
        let mut particles = blobs(seed, false);
        let cells = sort_within(&mut particles, [1, 6][n as usize % 2]);
        // Smooth enough that a way does not multiply what rounding makes.
        let velocity = random_faces(seed, &cells.topology, 0.1);
        // From a tenth of a voxel to several leaves.
        for dt in [0.003, 0.06, 0.5] {
            for born_from in [i64::MAX, 1200] {
                let way = Way { born_from, ..Way::through(&velocity, transform(), dt) };
                race(&mut device, &particles, &way, &Solids { colliders: &[], domain: &open });
            }
            let way = Way { reach: 2.0, ..Way::through(&velocity, transform(), dt) };
            race(&mut device, &particles, &way, &Solids { colliders: &[], domain: &open });
            let way = Way { inlet: Some(&mouth), ..Way::through(&velocity, transform(), dt) };
            race(&mut device, &particles, &way, &Solids { colliders: &[], domain: &domain });
            let way = Way { inlet: None, ..way };
            race(&mut device, &particles, &way, &Solids { colliders: &[], domain: &domain });
            race(&mut device, &particles, &way, &Solids { colliders: &still, domain: &domain });
            race(&mut device, &particles, &way, &Solids { colliders: &still[..1], domain: &open });
            race(&mut device, &particles, &way, &Solids { colliders: &moving, domain: &domain });
        }
    }
}

/// A column of water in a corner of a closed box.
fn column() -> (Liquid, DomainLimits, FlipParams, SolidMemory) {
    let domain = DomainLimits::uniform(DVec3::ZERO, DVec3::splat(1.6), Side::Closed);
    let mut liquid = Liquid::new(transform(), DVec3::ZERO);
    let Liquid { particles, next_id, .. } = &mut liquid;
    let inside = |x: DVec3| x.x < 0.7 && x.y < 0.9;
    let water = Material { density: 1000.0, viscosity: 0.0 };
    let bounds = (domain.min, domain.max);
    let velocity = |x: DVec3| Vec3::new(0.5, -x.x as f32, 0.3 * x.y as f32);
    Seeding::for_voxel(H as f32).fill(particles, &transform(), bounds, inside, velocity, water, next_id);
    let (params, mut memory) = (FlipParams::for_voxel(H as f32), SolidMemory::default());
    let solids = Solids { colliders: &[], domain: &domain };
    start(&mut liquid, &solids, &params, &mut memory);
    (liquid, domain, params, memory)
}

#[test]
fn whole_substeps_run_on_the_device() {
    let mut device = emulated();
    let ((mut here, domain, params, mut memory), (mut there, ..)) = (column(), column());
    let mut other = memory.clone();
    let solids = Solids { colliders: &[], domain: &domain };
    for _ in 0..3 {
        let step = &Step::steady(0.02);
        predict(&mut here, &solids, &solids, step, &params, &mut memory);
        predict_on(&mut there, &solids, &solids, step, &params, &mut other, &mut device).unwrap();
        assert!((here.measured.total() - there.measured.total()).abs() < 1e-6 * here.measured.total());
        correct(&mut here, &params);
        let before = there.particles.velocity.clone();
        correct_on(&mut there, &before, &params, &mut device).unwrap();
        assert_eq!(here.particles.id, there.particles.id);
        assert!(apart(&here.particles.position, &there.particles.position) < 1e-5);
        assert!(apart(&here.particles.velocity, &there.particles.velocity) < 1e-4);
    }
}
