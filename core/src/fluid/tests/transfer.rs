use super::*;
use crate::fluid::material;
use crate::fluid::transport::transfer::{Transfer, VelocityTransfer, faces_to_particles, particles_to_faces};
use crate::grid::{FaceGrid, leaf};
use glam::{DVec3, Mat3};

const APIC: VelocityTransfer = VelocityTransfer::Apic;

fn exchange(cells: &Cells, method: VelocityTransfer) -> Transfer<'_> {
    Transfer { cells, transform: transform(), method }
}

fn apic(cells: &Cells) -> Transfer<'_> {
    exchange(cells, APIC)
}

fn swirl(x: Vec3) -> Vec3 {
    Vec3::new((3.0 * x.y).sin(), x.x * x.z - 0.3, (2.0 * x.x).cos() + x.y)
}

/// World position of the lower `axis` face at a slot.
fn face_position(field: &FaceGrid<f32>, axis: usize, slot: usize) -> DVec3 {
    transform().face_centre(axis, field.topology.coord(slot))
}

/// Momentum and angular momentum per unit mass of the faces.
fn face_momentum(value: &FaceGrid<f32>, weight: &FaceGrid<f32>) -> (DVec3, DVec3) {
    let (mut linear, mut angular) = (DVec3::ZERO, DVec3::ZERO);
    for axis in 0..3 {
        for s in 0..value.values[axis].len() {
            let m = weight.values[axis][s] as f64 * value.values[axis][s] as f64;
            linear += DVec3::AXES[axis] * m;
            angular += face_position(value, axis, s).cross(DVec3::AXES[axis] * m);
        }
    }
    (linear, angular)
}

#[test]
fn sorting_keeps_every_particle_and_orders_cells() {
    let (particles, cells) = cloud(3000, Vec3::splat(-0.9), Vec3::splat(1.1), swirl);
    let mut ids = particles.id.clone();
    ids.sort_unstable();
    assert_eq!(ids, (0..3000).collect::<Vec<i64>>());
    let frame = particles.frame(&transform());
    for s in 0..cells.topology.len() * leaf::SIZE {
        for p in cells.range(s) {
            assert_eq!(frame.cell(particles.position[p]), cells.topology.coord(s));
        }
    }
    let again = Cells::of_sorted(&particles, &transform(), &cells.topology).unwrap();
    assert_eq!(again.start, cells.start);
}

#[test]
fn leaves_reach_the_asked_distance_and_no_further() {
    for reach in 1..=8 {
        let mut particles = Particles::new(DVec3::ZERO);
        particles.push(particle(Vec3::new(0.05, 0.35, 0.75), Vec3::ZERO, 0));
        let t = cells::covering(&particles, &transform(), reach);
        let cell = particles.frame(&transform()).cell(particles.position[0]);
        for x in -12i32..12 {
            for y in -12i32..12 {
                for z in -12i32..12 {
                    let near = (-reach..=reach).contains(&x) && y.abs() <= reach && z.abs() <= reach;
                    let at = cell + glam::IVec3::new(x, y, z);
                    assert!(!near || t.leaf_of(at).is_some(), "{at} missing at reach {reach}");
                }
            }
        }
        let leaves = |c: i32| (c + reach).div_euclid(8) - (c - reach).div_euclid(8) + 1;
        assert_eq!(t.len() as i32, leaves(cell.x) * leaves(cell.y) * leaves(cell.z));
    }
}

#[test]
fn transfer_keeps_momentum_and_angular_momentum() {
    let (mut particles, cells) = cloud(4000, Vec3::splat(0.3), Vec3::splat(1.9), swirl);
    let particle_momentum: DVec3 = particles.velocity.iter().map(|v| v.as_dvec3()).sum();
    let carried = particles_to_faces(&particles, &apic(&cells));
    let (linear, angular) = face_momentum(&carried.value, &carried.weight);
    assert!((linear - particle_momentum).length() < 1e-5 * particle_momentum.length());

    faces_to_particles(&mut particles, &apic(&cells), &carried.value, &carried.value);
    let back: DVec3 = particles.velocity.iter().map(|v| v.as_dvec3()).sum();
    assert!((back - particle_momentum).length() < 1e-5 * particle_momentum.length());
    let again = particles_to_faces(&particles, &apic(&cells));
    let (_, angular_again) = face_momentum(&again.value, &again.weight);
    assert!((angular_again - angular).length() < 1e-5 * angular.length(), "{angular} → {angular_again}");
}

#[test]
fn heavier_particles_weigh_more() {
    let (mut particles, cells) = cloud(800, Vec3::splat(0.1), Vec3::splat(0.9), swirl);
    for p in 0..particles.len() {
        particles.density[p] = if p % 3 == 0 { 1000.0 } else { 800.0 };
    }
    let momentum: DVec3 =
        (0..particles.len()).map(|p| particles.velocity[p].as_dvec3() * particles.density[p] as f64).sum();
    let carried = particles_to_faces(&particles, &apic(&cells));
    let (linear, _) = face_momentum(&carried.value, &carried.weight);
    assert!((linear - momentum).length() < 1e-5 * momentum.length());
    let density = material::density(&particles, &cells, &transform()).unwrap();
    assert!(density.values.iter().all(|d| (799.9..1000.1).contains(d)));
    particles.density.fill(900.0);
    assert!(material::density(&particles, &cells, &transform()).is_none());
}

#[test]
fn affine_fields_pass_exactly() {
    let gradient = Mat3::from_cols_array(&[0.3, -1.0, 0.5, 2.0, 0.1, -0.7, 0.4, 0.9, -0.4]);
    let field = |x: Vec3| gradient * x + Vec3::new(1.0, -2.0, 0.5);
    let (mut particles, cells) = cloud(6000, Vec3::splat(0.2), Vec3::splat(1.4), field);
    for p in 0..particles.len() {
        for a in 0..3 {
            particles.affine[a][p] = gradient.row(a);
        }
    }
    let carried = particles_to_faces(&particles, &apic(&cells));
    for axis in 0..3 {
        for s in 0..carried.value.values[axis].len() {
            if carried.weight.values[axis][s] > 0.0 {
                let expected = field(face_position(&carried.value, axis, s).as_vec3())[axis];
                assert!((carried.value.values[axis][s] - expected).abs() < 2e-5);
            }
        }
    }
    faces_to_particles(&mut particles, &apic(&cells), &carried.value, &carried.value);
    for p in 0..particles.len() {
        assert!((particles.velocity[p] - field(particles.position[p])).length() < 2e-5);
        for a in 0..3 {
            assert!((particles.affine[a][p] - gradient.row(a)).length() < 2e-4);
        }
    }
}

#[test]
fn a_constant_velocity_stays_constant_and_flip_keeps_what_the_grid_cannot_see() {
    let u = Vec3::new(0.25, -1.5, 3.0);
    for transfer in [APIC, VelocityTransfer::Flip { flip: 0.95 }, VelocityTransfer::Flip { flip: 0.0 }] {
        let (mut particles, cells) = cloud(2000, Vec3::splat(0.2), Vec3::splat(1.0), |_| u);
        let carried = particles_to_faces(&particles, &exchange(&cells, transfer));
        faces_to_particles(&mut particles, &exchange(&cells, transfer), &carried.value, &carried.value);
        assert!(particles.velocity.iter().all(|v| (*v - u).length() < 1e-5));
    }
    let pure = VelocityTransfer::Flip { flip: 1.0 };
    let (mut particles, cells) = cloud(2000, Vec3::splat(0.2), Vec3::splat(1.0), |x| swirl(x * 50.0));
    let before = particles.velocity.clone();
    let carried = particles_to_faces(&particles, &exchange(&cells, pure));
    faces_to_particles(&mut particles, &exchange(&cells, pure), &carried.value, &carried.value);
    assert!(particles.velocity.iter().zip(&before).all(|(a, b)| (*a - *b).length() < 1e-5));
}

#[test]
fn a_quarter_turn_commutes_with_the_transfer() {
    // (x, y, z) → (−y, x, z) maps the face lattice onto itself about a node.
    let turn = |v: Vec3| Vec3::new(-v.y, v.x, v.z);
    let (a, cells_a) = cloud(3000, Vec3::splat(-0.8), Vec3::splat(0.8), swirl);
    let mut b = Particles::new(DVec3::ZERO);
    for p in 0..a.len() {
        b.push(particle(turn(a.position[p]), turn(a.velocity[p]), a.id[p]));
    }
    let cells_b = sorted(&mut b);
    let fa = particles_to_faces(&a, &apic(&cells_a));
    let fb = particles_to_faces(&b, &apic(&cells_b));
    for s in 0..fa.value.values[0].len() {
        let c = fa.value.topology.coord(s);
        // The x face of cell c turns into the y face of the cell turned about the origin node.
        let turned = glam::IVec3::new(-c.y - 1, c.x, c.z);
        assert!((fa.value.values[0][s] - fb.value.get(1, turned)).abs() < 1e-4);
        assert!((fa.weight.values[0][s] - fb.weight.get(1, turned)).abs() < 1e-4);
    }
}

#[test]
fn thread_count_does_not_change_a_bit() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (mut particles, cells) = cloud(20_000, Vec3::splat(-1.0), Vec3::splat(1.6), swirl);
            let carried = particles_to_faces(&particles, &apic(&cells));
            faces_to_particles(&mut particles, &apic(&cells), &carried.value, &carried.value);
            (particles, carried.value.values, carried.weight.values)
        })
    };
    assert!(run(1) == run(3));
}
