//! Flows with a formula. All run along x in slabs that are free on their sides in z and at their far ends.

use super::*;

const MU: f64 = 2.0;
const G: f64 = 9.81;

/// A slab of height 1 m, `length` times as long, `n` cells high: liquid for `shift < y < 1 + shift` (cells of shift),
/// with a wall below, and one above where `closed`. It is half as thick as high, for the lattice rounds a film's edges.
fn slab(n: i32, length: i32, shift: f64, closed: bool) -> Scene {
    let h = 1.0 / f64::from(n);
    let (low, high) = (shift * h, 1.0 + shift * h);
    let cells = [IVec3::new(-8, -8, -8), IVec3::new(length * n + 8, n + 8, n / 2 + 8)];
    let far = f64::from(length);
    let liquid = move |p: DVec3| {
        let sides = (-p.x).max(p.x - far).max(-p.z).max(p.z - 0.5);
        if closed { sides } else { sides.max(p.y - high) }
    };
    let solid = move |p: DVec3| if closed { (p.y - low).min(high - p.y) } else { p.y - low };
    Scene::new(h, cells, liquid, solid).viscosity(MU)
}

/// Largest error of the velocity along x in the middle of a slab, against its largest value.
fn error(scene: &Scene, u: &FaceGrid<f32>, n: i32, length: i32, exact: impl Fn(f64) -> f64) -> f64 {
    let (mut off, mut most) = (0.0f64, 0.0f64);
    for y in 0..=n {
        let c = IVec3::new(length * n / 2, y, n / 4);
        let at = scene.transform.face_centre(0, c).y;
        let wet = scene.surface.get(c) < 0.0 && scene.half_open(c);
        if wet {
            off = off.max((f64::from(u.get(0, c)) - exact(at)).abs());
            most = most.max(exact(at).abs());
        }
    }
    off / most
}

impl Scene {
    /// Whether the lower x face of a cell is centred outside solids.
    fn half_open(&self, c: Coord) -> bool {
        [(0, 0), (0, 1), (1, 0), (1, 1)]
            .iter()
            .map(|&(y, z)| self.solid.get(c + IVec3::new(0, y, z)))
            .sum::<f32>()
            > 0.0
    }
}

/// Errors at 8 and 16 cells of the flow that one step of `dt` reaches from rest under gravity along x.
fn errors(shift: f64, closed: bool, exact: impl Fn(f64) -> f64) -> [f64; 2] {
    // Free ends disturb as far as the slowest mode, of wave number π/H or, in a film, half of that.
    let length = if closed { 6 } else { 12 };
    [8, 16].map(|n| {
        let dt = 1e6;
        let scene = slab(n, length, shift, closed).moving(|_| G * dt * DVec3::X);
        let mut u = scene.velocity.clone();
        let params = Params { tolerance: 1e-8, ..TIGHT };
        let info = diffuse(&scene.liquid(), &mut u, dt, &params, &mut run_on).unwrap();
        assert!(info.converged);
        let h = scene.h;
        error(&scene, &u, n, length, |y| exact(y - shift * h))
    })
}

fn is_second_order(errors: [f64; 2], what: &str) {
    println!("{what}: errors {errors:?}, ratio {}", errors[0] / errors[1]);
    assert!(errors[1] < 0.02, "{what}: {errors:?}");
    assert!(errors[0] / errors[1] > 3.0, "{what}: {errors:?}");
}

#[test]
fn plane_poiseuille_flow() {
    for shift in [0.0, 0.3, 0.7] {
        let found = errors(shift, true, |y| RHO * G / (2.0 * MU) * y * (1.0 - y));
        is_second_order(found, &format!("channel, walls {shift} cells off"));
    }
}

#[test]
fn a_film_down_a_wall() {
    for shift in [0.0, 0.4] {
        let found = errors(shift, false, |y| RHO * G / MU * (y - 0.5 * y * y));
        is_second_order(found, &format!("film, {shift} cells off"));
    }
}

#[test]
fn couette_flow() {
    for shift in [0.0, 0.3, 0.7] {
        let n = 16;
        let scene = slab(n, 6, shift, true).walls_move(|p| if p.y > 0.5 { DVec3::X } else { DVec3::ZERO });
        let (u, _) = scene.solve(1e6);
        let off = error(&scene, &u, n, 6, |y| y - shift * scene.h);
        println!("Couette, walls {shift} cells off: {off}");
        assert!(off < 0.02, "{off}");
    }
}

/// The first mode of a liquid between walls decays as exp(−ν (π/H)² t); of a film on a wall, a quarter as fast.
#[test]
fn shear_waves_decay_as_they_should() {
    for (closed, k) in [(true, std::f64::consts::PI), (false, 0.5 * std::f64::consts::PI)] {
        let (n, length) = (16, if closed { 4 } else { 8 });
        let mut scene = slab(n, length, 0.0, closed).moving(|p| (k * p.y).sin() * DVec3::X);
        let rate = MU / RHO * k * k;
        let steps = 50;
        let dt = 1.0 / rate / f64::from(steps);
        for _ in 0..steps {
            scene.step(dt);
        }
        let middle = IVec3::new(length * n / 2, n / 2, n / 4);
        let y = scene.transform.face_centre(0, middle).y;
        let found = -(f64::from(scene.velocity.get(0, middle)) / (k * y).sin()).ln();
        // Backward Euler in time: ln(1 + rate dt) / dt in place of the rate.
        let expected = f64::from(steps) * (rate * dt).ln_1p();
        println!("decay over 1/(νk²): {found} (exact 1, at this step {expected})");
        assert!((found - 1.0).abs() < 0.02 && (found / expected - 1.0).abs() < 0.02, "{found}");
    }
}

/// Two liquids between walls, the lower a tenth as viscous: the stress is the same in both, so that the lower shears
/// ten times as fast.
#[test]
fn couette_flow_of_two_viscosities() {
    let n = 16;
    let scene = slab(n, 6, 0.0, true).walls_move(|p| if p.y > 0.5 { DVec3::X } else { DVec3::ZERO });
    let (thin, thick) = (0.2, 2.0);
    let of_cell = |c: Coord| if scene.transform.to_world(c.as_dvec3()).y < 0.5 { thin } else { thick };
    let mu = Grid::from_fn(scene.surface.topology.clone(), thick as f32, |c| of_cell(c) as f32);
    let liquid = ViscousLiquid { viscosity: Viscosity::PerCell(&mu), ..scene.liquid() };
    let mut u = scene.velocity.clone();
    let info = diffuse(&liquid, &mut u, 1e6, &Params { tolerance: 1e-9, ..TIGHT }, &mut run_on).unwrap();
    assert!(info.converged, "{info:?}");
    let between = thick / (thin + thick);
    let off = error(&scene, &u, n, 6, |y| match y < 0.5 {
        true => 2.0 * y * between,
        false => between + (2.0 * y - 1.0) * (1.0 - between),
    });
    println!("Couette flow of two liquids: {off}");
    assert!(off < 0.02, "{off}");
}
