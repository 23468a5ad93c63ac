use super::*;
use crate::coupling::air::regions::Regions;
use crate::coupling::air::volumes;
use crate::coupling::projection::assemble;
use crate::grid::leaf;
use crate::pressure::CELL;
use crate::pressure::MultigridSolver;

const DT: f64 = 0.01;

/// Spheres of air, liquid and moving solid thrown about a box.
fn thrown(seed: u64, walled: [bool; 6]) -> Scene {
    let h = 0.01;
    let at = |n: u64| {
        let c = |k: u64| 0.08 + 0.07 * noise(seed * 1000 + 10 * n + k);
        (DVec3::new(c(0), c(1), c(2)), 0.03 + 0.015 * noise(seed * 1000 + 10 * n + 5))
    };
    let union = move |from: u64, count: u64| {
        move |p: DVec3| (from..from + count).map(|n| p.distance(at(n).0) - at(n).1).fold(f64::MAX, f64::min)
    };
    let (liquid, air, solid) = (union(0, 9), union(20, 4), union(40, 2));
    let motion = move |p: DVec3| {
        let k = |n| noise(seed + n);
        DVec3::new(k(90), k(91), k(92)) + DVec3::new(k(93), k(94), k(95)).cross(p * 10.0)
    };
    let phi = move |p: DVec3| liquid(p).max(-air(p));
    Scene::new(h, IVec3::splat(16), walled, phi, solid, motion).with_velocity(noisy_velocity)
}

#[test]
fn random_states_end_without_divergence_and_without_bubble_flux() {
    for seed in 0..6 {
        for walled in [[false; 6], [true; 6], [true, true, true, false, true, true]] {
            let scene = thrown(seed, walled);
            let (h, dt) = (scene.transform.voxel_size(), DT);
            for (_, p) in [scene.bubbles(dt), scene.free_surface(dt)] {
                // Velocities are stored as f32: a cell's six faces round to about 1e-7 of a few m/s.
                assert!(p.max_divergence * h < 2e-5, "seed {seed}: {} m/s", p.max_divergence * h);
                assert!(p.max_bubble_flux < 1e-4 * h * h, "seed {seed}: {} m³/s", p.max_bubble_flux);
            }
        }
    }
}

/// Mass of a face, M_f = ρ α θ h³ = dt α² h⁴ / c_f, kg, for every face with a coefficient.
fn face_masses(scene: &Scene, constrain: bool) -> Vec<(usize, Coord, f64)> {
    let fields = scene.fields();
    let regions = Regions::find(&fields);
    let topology = assemble::liquid_leaves(&regions);
    let mut count = 0..;
    let air =
        regions.air.iter().map(|a| if constrain && !a.exterior { count.next() } else { None }).collect();
    let system = assemble::system(&fields, &regions, &topology, &air, DT);
    let h = scene.transform.voxel_size();
    let mut masses = Vec::new();
    for axis in 0..3 {
        for (slot, &c) in system.face[axis].iter().enumerate().filter(|(_, c)| **c > 0.0) {
            let ijk = topology.coord(slot);
            let alpha = f64::from(scene.open.get(axis, ijk));
            masses.push((axis, ijk, DT * (alpha * h * h).powi(2) / f64::from(c)));
        }
    }
    masses
}

#[test]
fn pressure_moves_no_momentum_of_its_own() {
    for seed in 0..4 {
        let h = 0.01;
        let c = |n: u64, k: u64| 0.08 + 0.03 * noise(seed * 100 + 10 * n + k);
        let at = move |n: u64| DVec3::new(c(n, 0), c(n, 1), c(n, 2));
        let liquid = move |p: DVec3| (p.distance(at(0)) - 0.045).max(0.015 - p.distance(at(0)));
        let scene =
            Scene::still(h, IVec3::splat(16), [false; 6], liquid, empty).with_velocity(noisy_velocity);
        for (constrain, (vel, _)) in [(true, scene.bubbles(DT)), (false, scene.free_surface(DT))] {
            let (mut change, mut exchanged) = (DVec3::ZERO, 0.0);
            for (axis, ijk, mass) in face_masses(&scene, constrain) {
                let impulse = mass * f64::from(vel.get(axis, ijk) - scene.vel.get(axis, ijk));
                change[axis] += impulse;
                exchanged += impulse.abs();
            }
            assert!(change.length() < 1e-6 * exchanged, "{change} of {exchanged} kg m/s");
        }
    }
}

#[test]
fn projection_takes_kinetic_energy_and_never_gives() {
    for seed in 0..4 {
        let mut scene = thrown(seed, [true; 6]);
        scene.vel_solid = FaceGrid::new(scene.vel.topology.clone(), 0.0);
        for (constrain, (vel, _)) in [(true, scene.bubbles(DT)), (false, scene.free_surface(DT))] {
            let energy = |u: &FaceGrid<f32>| -> f64 {
                let of = |(axis, ijk, m): (usize, Coord, f64)| 0.5 * m * f64::from(u.get(axis, ijk)).powi(2);
                face_masses(&scene, constrain).into_iter().map(of).sum()
            };
            assert!(energy(&vel) < energy(&scene.vel), "seed {seed}");
        }
    }
}

#[test]
fn a_projection_done_twice_changes_nothing_more() {
    let mut scene = thrown(3, [true; 6]);
    let (once, _) = scene.bubbles(DT);
    scene.vel = once.clone();
    let (twice, _) = scene.bubbles(DT);
    for (axis, c) in scene.liquid_faces() {
        assert!((once.get(axis, c) - twice.get(axis, c)).abs() < 1e-5);
    }
}

#[test]
fn assembled_operators_are_symmetric_and_semidefinite() {
    for seed in 0..4 {
        let scene = thrown(seed, [true; 6]);
        let fields = scene.fields();
        let regions = Regions::find(&fields);
        let topology = assemble::liquid_leaves(&regions);
        let constrained: Vec<bool> = regions.air.iter().map(|a| !a.exterior).collect();
        let rowed: Vec<bool> =
            regions.air.iter().zip(&constrained).map(|(a, &c)| c && a.liquid_faces > 0).collect();
        let closed = volumes::closed_volumes(&regions, &constrained, &rowed);
        assert!(!closed.is_empty());
        let air = (0..regions.air.len()).map(|r| Some(r as u32)).collect();
        let system = assemble::system(&fields, &regions, &topology, &air, DT);
        system.validate().unwrap();
        let random = |shift: u64| {
            let mut x = Unknowns::zeros(&system);
            for (s, v) in x.cells.iter_mut().enumerate() {
                *v = if system.label[s] == CELL { noise(s as u64 + shift) } else { 0.0 };
            }
            x.supers.iter_mut().enumerate().for_each(|(b, v)| *v = noise(b as u64 + 7 * shift));
            x
        };
        let dot = |a: &Unknowns, b: &Unknowns| -> f64 {
            a.cells.iter().zip(&b.cells).map(|(a, b)| a * b).sum::<f64>()
                + a.supers.iter().zip(&b.supers).map(|(a, b)| a * b).sum::<f64>()
        };
        let (x, y) = (random(1_000_003), random(77_000_021));
        let (mut ax, mut ay) = (Unknowns::zeros(&system), Unknowns::zeros(&system));
        system.apply(&x, &mut ax);
        system.apply(&y, &mut ay);
        let scale = dot(&x, &ax);
        assert!(scale > 0.0 && (dot(&y, &ax) - dot(&x, &ay)).abs() < 1e-12 * scale);
        // With every bubble an unknown, constants over a closed volume are in the null space.
        let mut one = Unknowns::zeros(&system);
        one.cells.iter_mut().enumerate().for_each(|(s, v)| *v = f64::from(u8::from(system.label[s] == CELL)));
        one.supers.fill(1.0);
        system.apply(&one, &mut ax);
        let largest = ax.cells.iter().chain(&ax.supers).fold(0.0f64, |m, v| m.max(v.abs()));
        assert!(largest < 1e-12 * scale, "{largest} {scale}");
        assert_eq!(system.label.len(), topology.len() * leaf::SIZE);
    }
}

/// A full tank cannot take what its liquid asks for, whatever the walls leave of its cells: nothing moves. When every cell
/// was given the same share, slivers shot it out of their narrow faces.
#[test]
fn a_full_tank_that_asks_for_volume_rests() {
    let h = 0.05;
    for degrees in [0.0f64, 3.0, 20.0, 40.0] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let normal = DVec3::new(-sin, cos, 0.3 * sin).normalize();
        let floor = |p: DVec3| normal.dot(p - DVec3::new(0.21, 0.1013, 0.2));
        let scene = Scene::still(h, IVec3::new(10, 9, 8), [true; 6], |_| -1.0, floor).falling(0.01);
        let source = Grid::new(scene.surface.topology.clone(), 1.0);
        let mut vel = scene.vel.clone();
        let fields = scene.with(CellGrids { divergence: Some(&source), ..CellGrids::default() });
        let (params, solver) = (Params { tolerance: 1e-9, ..TIGHT }, &mut MultigridSolver::default());
        let solved =
            constraint_bubbles::project(&fields, &mut vel, 0.01, solver, &params, &mut run_on).unwrap();
        assert!(solved.incompatible_flux > 0.0);
        let fastest = scene.fastest(&vel);
        assert!(fastest < 1e-5, "{degrees}°: {fastest} m/s");
    }
}
