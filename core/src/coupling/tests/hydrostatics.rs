use super::*;
use crate::levelset;
use crate::pressure::MultigridSolver;

const DT: f64 = 0.01;
const CLOSED: [bool; 6] = [true; 6];
const OPEN_TOP: [bool; 6] = [true, true, true, false, true, true];

#[test]
fn a_column_at_rest_stays_and_its_floor_feels_rho_g_depth() {
    let h = 0.02;
    for depth in [0.111, 0.125, 0.1302, 0.1499, 0.16] {
        let scene = Scene::still(h, IVec3::new(6, 14, 5), OPEN_TOP, |p| p.y - depth, empty).falling(DT);
        for (vel, projection) in [scene.free_surface(DT), scene.bubbles(DT)] {
            assert!(scene.fastest(&vel) < 1e-6, "depth {depth}: {} m/s", scene.fastest(&vel));
            let bottom = f64::from(projection.pressure.get(IVec3::new(2, 0, 2)));
            let expected = WATER * GRAVITY * (depth - 0.5 * h);
            assert!(
                (bottom - expected).abs() < 1e-4 * expected,
                "depth {depth}: {bottom} Pa, {expected} expected"
            );
            assert_eq!(projection.bubbles.len(), 1);
            assert!(projection.bubbles[0].exterior && !projection.bubbles[0].constrained);
        }
    }
}

#[test]
fn still_water_over_a_sloping_floor_stays_still() {
    let h = 0.02;
    for degrees in [3.0f64, 10.0, 26.565, 37.0, 45.0, 63.0] {
        for turn in [0.0f64, 0.4] {
            let (sin, cos) = degrees.to_radians().sin_cos();
            let normal = DVec3::new(-sin * turn.cos(), cos, -sin * turn.sin());
            let floor = |p: DVec3| normal.dot(p - DVec3::new(0.13, 0.087, 0.1));
            let scene =
                Scene::still(h, IVec3::new(13, 15, 10), OPEN_TOP, |p| p.y - 0.1713, floor).falling(DT);
            for (vel, _) in [scene.free_surface(DT), scene.bubbles(DT)] {
                let fastest = scene.fastest(&vel);
                assert!(fastest < 1e-6, "{degrees}° turned {turn}: {fastest} m/s");
            }
        }
    }
}

/// A tube one cell wide and thick, in the shape of a U of 12 × 20 cells.
pub(super) fn u_tube(h: f64, left: f64, right: f64, walled: [bool; 6]) -> Scene {
    let size = IVec3::new(12, 20, 1);
    let width = f64::from(size.x) * h;
    let wall = move |p: DVec3| (p.x - h).min(width - h - p.x).min(p.y - h);
    let level = move |p: DVec3| p.y - if p.x < 0.5 * width { left } else { right };
    Scene::still(h, size, walled, level, move |p| -wall(p))
}

#[test]
fn closed_arms_hold_unequal_levels_and_open_ones_let_go() {
    let h = 0.05;
    let (left, right) = (0.837, 0.411);
    let scene = u_tube(h, left, right, CLOSED).falling(DT);
    let (vel, projection) = scene.bubbles(DT);
    assert!(scene.fastest(&vel) < 1e-6, "{} m/s", scene.fastest(&vel));
    let bubble = |x: f64| projection.bubbles.iter().find(|b| (b.centroid.x - x).abs() < h).unwrap();
    let (over_left, over_right) = (bubble(0.5 * h), bubble(11.5 * h));
    assert!(over_left.constrained && over_right.constrained);
    let held = over_right.pressure - over_left.pressure;
    let expected = WATER * GRAVITY * (left - right);
    assert!((held - expected).abs() < 1e-5 * expected, "{held} Pa");
    assert!((over_left.volume - (20.0 * h - left) * h * h).abs() < 1e-4 * h * h, "{over_left:?}");

    // The column of length L (along the tube's middle) accelerates by g Δ/L.
    let length = (left - 0.5 * h) + 11.0 * h + (right - 0.5 * h);
    let (vel, _) = scene.free_surface(DT);
    let speed = GRAVITY * (left - right) / length * DT;
    for (axis, c, sign) in [
        (1, IVec3::new(0, 5, 0), -1.0),
        (1, IVec3::new(11, 5, 0), 1.0),
        (1, IVec3::new(0, 1, 0), -1.0),
        (0, IVec3::new(6, 0, 0), 1.0),
    ] {
        let u = f64::from(vel.get(axis, c));
        assert!((u - sign * speed).abs() < 1e-5 * speed, "{u} m/s at {axis} {c}, {speed} expected");
    }
}

#[test]
fn an_open_arm_lets_the_levels_go_with_the_coupling_too() {
    let h = 0.05;
    let scene = u_tube(h, 0.837, 0.411, OPEN_TOP).falling(DT);
    let (free, _) = scene.free_surface(DT);
    let (coupled, projection) = scene.bubbles(DT);
    assert_eq!(free.values, coupled.values);
    assert!(projection.bubbles.iter().all(|b| b.exterior && !b.constrained));
}

#[test]
fn a_drop_under_surface_tension_has_the_pressure_of_laplace() {
    let (h, radius, sigma) = (0.001, 0.0053, 0.0728);
    let centre = DVec3::splat(0.008);
    let scene = Scene::still(h, IVec3::splat(16), [false; 6], |p| p.distance(centre) - radius, empty);
    let tension = Grid::from_fn(scene.surface.topology.clone(), 0.0, |_| (sigma * 2.0 / radius) as f32);
    let mut fields = scene.fields();
    fields.cells.tension = Some(&tension);
    let mut vel = scene.vel.clone();
    let projection =
        free_surface::project(&fields, &mut vel, 1e-4, &mut PlainCg, &TIGHT, &mut run_on).unwrap();
    let inside = f64::from(projection.pressure.get(IVec3::splat(7)));
    assert!((inside - 2.0 * sigma / radius).abs() < 1e-4 * inside, "{inside} Pa");
    assert!(scene.fastest(&vel) < 1e-6);
}

/// Drop and bubble at rest, with the curvature as a simulation finds it: Δp = 2σ/R [Laplace 1806].
#[test]
fn drops_and_bubbles_have_the_pressure_of_laplace() {
    const SIGMA: f64 = 0.0728;
    let error = |voxels: f64, bubble: bool| {
        let (h, cells) = (0.01 / voxels, (2.0 * voxels) as i32 + 36);
        let (radius, side) = (0.01, f64::from(cells) * h);
        let centre = DVec3::new(0.51, 0.48, 0.505) * side;
        let sign = if bubble { -1.0 } else { 1.0 };
        let far = 8.0 * h;
        let sphere = move |p: DVec3| (sign * (p.distance(centre) - radius)).clamp(-far, far);
        // A bubble lies in a tank that it is the only air of, but for a free surface far above.
        let liquid = |p: DVec3| if bubble { sphere(p).max(p.y - (side - 1.5 * h)) } else { sphere(p) };
        let sides = if bubble { [true, true, true, false, true, true] } else { [false; 6] };
        let scene = Scene::still(h, IVec3::splat(cells), sides, liquid, empty);
        let mut tension = levelset::curvature(&scene.surface, h as f32);
        for (slot, jump) in tension.values.iter_mut().enumerate() {
            let at = scene.transform.to_world(tension.topology.coord(slot).as_dvec3());
            let near = at.distance(centre) < radius + 3.0 * h;
            *jump *= if near { SIGMA as f32 } else { 0.0 };
        }
        let fields = scene.with(CellGrids { tension: Some(&tension), ..CellGrids::default() });
        let mut vel = scene.vel.clone();
        let mut solver = MultigridSolver::default();
        let params = Params { tolerance: 1e-8, max_iterations: 1000 };
        let projection =
            constraint_bubbles::project(&fields, &mut vel, 1e-4, &mut solver, &params, &mut run_on).unwrap();
        let found = match bubble {
            true => projection.bubbles.iter().find(|b| !b.exterior).unwrap().pressure,
            false => f64::from(projection.pressure.get((centre / h).as_ivec3())),
        };
        (found / (2.0 * SIGMA / radius) - 1.0).abs()
    };
    for bubble in [false, true] {
        let [coarse, middle, fine] = [5.0, 10.0, 20.0].map(|voxels| error(voxels, bubble));
        println!(
            "Laplace, bubble {bubble}: off by {coarse:.4} at R = 5 h, {middle:.4} at 10, {fine:.4} at 20"
        );
        assert!(middle < 0.05 && fine < 0.05);
        assert!(middle < 0.7 * coarse && fine < 0.7 * middle, "it converges: {coarse} {middle} {fine}");
    }
}
