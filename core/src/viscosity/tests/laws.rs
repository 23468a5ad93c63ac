use super::*;

const CENTRE: DVec3 = DVec3::new(0.081, 0.083, 0.077);

/// A free ball of 5.3 cells.
fn ball() -> Scene {
    Scene::new(0.01, [IVec3::ZERO, IVec3::splat(16)], |p| p.distance(CENTRE) - 0.053, empty)
}

/// Largest difference over the faces of cells whose centre is liquid, m/s.
fn difference(scene: &Scene, a: &FaceGrid<f32>, b: &FaceGrid<f32>) -> f64 {
    let topology = &scene.surface.topology;
    let wet = (0..topology.len() * 512).map(|s| topology.coord(s)).filter(|&c| scene.surface.get(c) < 0.0);
    wet.flat_map(|c| (0..3).map(move |axis| (axis, c)))
        .map(|(axis, c)| f64::from((a.get(axis, c) - b.get(axis, c)).abs()))
        .fold(0.0, f64::max)
}

#[test]
fn a_translating_drop_is_untouched() {
    let scene = ball().viscosity(100.0).moving(|_| DVec3::new(1.0, -0.3, 0.7));
    let (u, info) = scene.solve(0.1);
    assert_eq!(info.iterations, 0);
    assert_eq!(u.values, scene.velocity.values);
}

#[test]
fn a_spinning_drop_is_untouched() {
    let omega = DVec3::new(3.0, -5.0, 2.0);
    for (mu, dt) in [(1.0, 0.01), (1e3, 1.0)] {
        let scene = ball().viscosity(mu).moving(|p| omega.cross(p - CENTRE));
        let (u, _) = scene.solve(dt);
        let off = difference(&scene, &u, &scene.velocity);
        println!("rigid rotation changes by {off} m/s at {mu} Pa·s");
        assert!(off < 1e-6);
    }
}

#[test]
fn momentum_and_angular_momentum_are_kept_without_walls() {
    let omega = DVec3::new(3.0, -5.0, 2.0);
    let scene = ball().viscosity(10.0).moving(|p| omega.cross(p - CENTRE) + noisy(p) + DVec3::X);
    let (u, info) = scene.solve(0.02);
    let (p, l) = (scene.momentum(&scene.velocity), scene.angular_momentum(&scene.velocity));
    let (dp, dl) = (scene.momentum(&u) - p, scene.angular_momentum(&u) - l);
    println!("{info:?}: {dp} of {p}, {dl} of {l}");
    assert!(dp.length() < 1e-6 * p.length() && dl.length() < 1e-6 * l.length());
    assert!(difference(&scene, &u, &scene.velocity) > 0.1);
}

#[test]
fn kinetic_energy_never_grows() {
    for dt in [1e-6, 1e-3, 1.0, 1e3, 1e6] {
        for scene in [ball(), lopsided(|p| p)] {
            let scene = scene.viscosity(3.0).moving(noisy);
            let mut u = scene.velocity.clone();
            let info = diffuse(&scene.liquid(), &mut u, dt, &Params::default(), &mut run_on).unwrap();
            assert!(info.converged, "{dt} {info:?}");
            let (before, after) = (scene.energy(&scene.velocity), scene.energy(&u));
            println!("dt {dt}: {} iterations, energy {before} → {after}", info.iterations);
            assert!(after <= before);
        }
    }
}

#[test]
fn a_jar_that_turns_takes_the_liquid_along() {
    // Everything solid outside a ball; at rest in the frame of the jar is at rest in it for ever.
    let omega = DVec3::new(1.0, 2.0, -3.0);
    let spin = move |p: DVec3| omega.cross(p - CENTRE) + DVec3::new(0.5, 0.0, -0.2);
    let jar = |p: DVec3| 0.053 - p.distance(CENTRE);
    let scene = Scene::new(0.01, [IVec3::ZERO, IVec3::splat(16)], |_| -1.0, jar).viscosity(10.0);
    let scene = scene.moving(spin).walls_move(spin);
    let (u, _) = scene.solve(1.0);
    let drag = scene.sum(&u, |axis, x, v| (v - spin(x)[axis]).powi(2)) / scene.sum(&u, |_, _, v| v * v);
    assert!(drag.sqrt() < 1e-5, "{}", drag.sqrt());
    let still = Scene { velocity: FaceGrid::new(scene.velocity.topology.clone(), 0.0), ..scene };
    let (u, _) = still.solve(1e6);
    let lag = still.sum(&u, |axis, x, v| (v - spin(x)[axis]).powi(2)) / still.sum(&u, |_, _, v| v * v);
    assert!(lag.sqrt() < 1e-5, "{}", lag.sqrt());
}

#[test]
fn the_whole_turned_by_a_quarter_gives_the_result_turned() {
    let flow = |q: DVec3| DVec3::new((40.0 * q.y).sin(), 3.0 * q.x, 1.0 - 7.0 * q.x * q.y / 0.16);
    let straight = lopsided(|p| p).moving(flow);
    // (x, y, z) → (L − y, x, z): a quarter turn about z.
    let back = |p: DVec3| DVec3::new(p.y, 0.16 - p.x, p.z);
    let turned = lopsided(back).moving(|p| {
        let u = flow(back(p));
        DVec3::new(-u.y, u.x, u.z)
    });
    let ((u, a), (v, b)) = (straight.solve(0.05), turned.solve(0.05));
    assert!(a.unknowns.abs_diff(b.unknowns) < 4, "{a:?} {b:?}");
    let system = straight.system(0.05);
    for slot in (0..system.operator.mass.len()).filter(|&s| system.operator.mass[s] > 10.0) {
        let (axis, c) = (slot / 512 % 3, system.operator.topology.coord(slot / 1536 * 512 + slot % 512));
        let expected = u.get(axis, c);
        let found = match axis {
            0 => v.get(1, IVec3::new(15 - c.y, c.x, c.z)),
            1 => -v.get(0, IVec3::new(16 - c.y, c.x, c.z)),
            _ => v.get(2, IVec3::new(15 - c.y, c.x, c.z)),
        };
        assert!((found - expected).abs() < 1e-4, "{axis} {c}: {found} {expected}");
    }
}

#[test]
fn threads_change_no_bit() {
    let scene = lopsided(|p| p).moving(noisy).walls_move(|p| DVec3::new(p.y, 0.3, 0.0));
    same_on_any_threads(|| scene.solve(0.1));
}

#[test]
fn without_viscosity_nothing_is_done() {
    let scene = lopsided(|p| p).viscosity(0.0).moving(noisy);
    let (u, info) = scene.solve(0.1);
    assert_eq!((info.unknowns, info.iterations), (0, 0));
    assert_eq!(u.values, scene.velocity.values);
    let none = Grid::new(scene.surface.topology.clone(), 0.0);
    let liquid = ViscousLiquid { viscosity: Viscosity::PerCell(&none), ..scene.liquid() };
    let mut v = scene.velocity.clone();
    assert_eq!(diffuse(&liquid, &mut v, 0.1, &TIGHT, &mut run_on).unwrap().unknowns, 0);
}

#[test]
fn a_grid_of_one_viscosity_is_uniform_viscosity_and_the_thin_part_moves_on() {
    let scene = ball().viscosity(5.0).moving(noisy);
    let on = |f: &(dyn Fn(Coord) -> f32 + Sync)| {
        let mu = Grid::from_fn(scene.surface.topology.clone(), 5.0, f);
        let liquid = ViscousLiquid { viscosity: Viscosity::PerCell(&mu), ..scene.liquid() };
        let mut u = scene.velocity.clone();
        diffuse(&liquid, &mut u, 0.1, &TIGHT, &mut run_on).unwrap();
        u
    };
    assert!(difference(&scene, &on(&|_| 5.0), &scene.solve(0.1).0) < 1e-6);
    let half = on(&|c| if c.x < 8 { 5.0 } else { 0.0 });
    let at = |c| f64::from((half.get(1, c) - scene.velocity.get(1, c)).abs());
    assert_eq!(at(IVec3::new(11, 8, 8)), 0.0);
    assert!(at(IVec3::new(5, 8, 8)) > 0.01);
}

/// Where a face's own density is known it counts, and the mean of its cells does not.
#[test]
fn the_density_of_faces_counts() {
    let scene = lopsided(|p| p).viscosity(5.0).moving(noisy);
    let solve = |density: f64, face_density: Option<&FaceGrid<f32>>| {
        let mut u = scene.velocity.clone();
        let liquid = ViscousLiquid { density: Density::Uniform(density), face_density, ..scene.liquid() };
        diffuse(&liquid, &mut u, 0.05, &TIGHT, &mut run_on).unwrap();
        u
    };
    let on_faces = FaceGrid::new(scene.velocity.topology.clone(), 500.0);
    assert_eq!(solve(RHO, Some(&on_faces)).values, solve(500.0, None).values);
}

/// A jar whose walls slip and that moves with its liquid does not strain it.
#[test]
fn a_slippery_jar_that_moves_along_strains_nothing() {
    let along = DVec3::new(0.5, -1.0, 0.25);
    let jar = |p: DVec3| 0.053 - p.distance(CENTRE);
    let scene = Scene::new(0.01, [IVec3::ZERO, IVec3::splat(16)], |_| -1.0, jar).viscosity(10.0);
    let scene = scene.moving(|_| along).walls_move(|_| along);
    let mut u = scene.velocity.clone();
    let liquid = ViscousLiquid { walls: Walls::Slip, ..scene.liquid() };
    diffuse(&liquid, &mut u, 1.0, &TIGHT, &mut run_on).unwrap();
    let off = difference(&scene, &u, &scene.velocity);
    assert!(off < 1e-6, "{off} m/s");
}

#[test]
fn nonsense_is_refused_in_a_sentence_and_changes_nothing() {
    let scene = ball().moving(noisy);
    let attempt = |mu: f64, rho: f64, dt: f64| {
        let mut u = scene.velocity.clone();
        let liquid = ViscousLiquid {
            viscosity: Viscosity::Uniform(mu),
            density: Density::Uniform(rho),
            ..scene.liquid()
        };
        let error = diffuse(&liquid, &mut u, dt, &TIGHT, &mut run_on).unwrap_err();
        assert_eq!(u.values, scene.velocity.values);
        error.to_string()
    };
    assert_eq!(
        attempt(-1.0, RHO, 0.1),
        "viscosity: -1 Pa·s is not a viscosity (from 0 to 1e9; pitch has 2e8)"
    );
    assert_eq!(
        attempt(f64::NAN, RHO, 0.1),
        "viscosity: NaN Pa·s is not a viscosity (from 0 to 1e9; pitch has 2e8)"
    );
    assert!(attempt(f64::INFINITY, RHO, 0.1).contains("not a viscosity"));
    assert!(attempt(1.0, 0.0, 0.1).contains("not a density"));
    assert!(attempt(1.0, RHO, 0.0).contains("substep"));
    let mut u = scene.velocity.clone();
    u.values[0].fill(f32::NAN);
    let error = diffuse(&scene.liquid(), &mut u, 0.1, &TIGHT, &mut run_on).unwrap_err();
    assert_eq!(error, Error::Velocity);
    let mut u = scene.velocity.clone();
    let mut stop = |_| ControlFlow::Break(());
    let error = diffuse(&scene.liquid(), &mut u, 0.1, &TIGHT, &mut stop).unwrap_err();
    assert_eq!(error, Error::Cancelled { iterations: 1 });
    assert_eq!(u.values, scene.velocity.values);
}
