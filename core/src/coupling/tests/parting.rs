use super::*;
use crate::coupling::Parting;
use crate::coupling::memory::BubbleMemory;
use crate::pressure::MultigridSolver;

const DT: f64 = 0.01;
/// Pa: what water in open air bears.
const VAPOUR: f64 = -101_325.0;

/// Pa and iterations that the engine is given.
const CLOSE: Params = Params { tolerance: 1e-9, max_iterations: 2000 };

/// Walls on all sides but the floor, where air is open.
const OPEN_FLOOR: [bool; 6] = [true, true, false, true, true, true];
const OPEN_TOP: [bool; 6] = [true, true, true, false, true, true];

/// What a projection hands to the next.
#[derive(Default)]
struct Carried {
    parted: Option<Grid<f32>>,
    pressure: Option<Grid<f32>>,
    bubbles: Option<BubbleMemory>,
}

/// Substeps of a scene that does not move, of which each finds the liquid at the scene's velocity.
fn repeated(
    scene: &Scene,
    cavitation: f64,
    times: usize,
    coupled: bool,
) -> (FaceGrid<f32>, Projection, Grid<f32>) {
    let mut carried = Carried::default();
    let mut last = None;
    for _ in 0..times {
        let mut vel = scene.vel.clone();
        let parting = Parting { cavitation, previous: carried.parted.as_ref() };
        let fields = LiquidFields {
            parting: Some(parting),
            cells: CellGrids { pressure: carried.pressure.as_ref(), ..CellGrids::default() },
            previous_bubbles: carried.bubbles.as_ref(),
            ..scene.fields()
        };
        let project = if coupled { constraint_bubbles::project } else { free_surface::project };
        let solved =
            project(&fields, &mut vel, DT, &mut MultigridSolver::default(), &CLOSE, &mut run_on).unwrap();
        assert!(solved.info.converged, "{:?}", solved.info);
        let parted = solved.parted.clone().unwrap();
        carried = Carried {
            parted: Some(parted.clone()),
            pressure: Some(solved.pressure.clone()),
            bubbles: Some(solved.memory.clone()),
        };
        last = Some((vel, solved, parted));
    }
    last.unwrap()
}

fn count(parted: &Grid<f32>) -> usize {
    parted.values.iter().filter(|v| **v > 0.0).count()
}

#[test]
fn a_sheet_under_a_ceiling_falls_freely() {
    let h = 0.02;
    let size = IVec3::new(14, 12, 9);
    let ceiling = f64::from(size.y) * h;
    let sheet = |p: DVec3| (p.x - 0.14).abs().max((p.z - 0.09).abs()) - 0.045;
    let liquid = move |p: DVec3| sheet(p).max(ceiling - 0.05 - p.y);
    let scene = Scene::still(h, size, OPEN_FLOOR, liquid, empty).falling(DT);
    let (held, _) = scene.free_surface(DT);
    let (vel, projection, parted) = repeated(&scene, VAPOUR, 8, false);
    let worst = |vel: &FaceGrid<f32>| {
        let faces = scene.liquid_faces().filter(|(axis, _)| *axis == 1);
        faces.map(|(axis, c)| (f64::from(vel.get(axis, c)) + GRAVITY * DT).abs()).fold(0.0, f64::max)
    };
    assert!(worst(&held) > 0.3 * GRAVITY * DT, "without parting the ceiling holds it");
    assert!(worst(&vel) < 1e-5, "{} m/s", worst(&vel));
    assert!(projection.max_divergence < 1e-4, "{}", projection.max_divergence);
    // Every cell at the ceiling has let go, at the speed of the fall.
    let wetted = (0..size.x * size.z)
        .filter(|n| scene.surface.get(IVec3::new(n % size.x, size.y - 1, n / size.x)) < 0.0);
    assert_eq!(count(&parted), wetted.count());
    let falls = parted.values.iter().filter(|v| **v > 0.0);
    assert!(falls.into_iter().all(|v| (f64::from(*v) - GRAVITY * DT).abs() < 1e-5));
}

#[test]
fn a_sheet_falls_off_a_sloping_ceiling() {
    let h = 0.02;
    let size = IVec3::new(16, 16, 8);
    let normal = DVec3::new(0.3, -1.0, 0.1).normalize();
    let under = move |p: DVec3| normal.dot(p - DVec3::new(0.16, 0.24, 0.08));
    let liquid =
        move |p: DVec3| (under(p) - 0.05).max((p.x - 0.16).abs() - 0.07).max((p.z - 0.08).abs() - 0.05);
    let scene = Scene::still(h, size, [false; 6], liquid, under).falling(DT);
    let (vel, projection, parted) = repeated(&scene, VAPOUR, 12, false);
    assert!(count(&parted) > 0 && projection.max_divergence < 1e-4);
    let worst = scene
        .liquid_faces()
        .map(|(axis, c)| (f64::from(vel.get(axis, c)) - f64::from(scene.vel.get(axis, c))).abs())
        .fold(0.0, f64::max);
    assert!(worst < 0.05 * GRAVITY * DT, "{worst} m/s from a free fall");
}

/// A glass upside down, 4 cells wide, its rim `under` the level of the water around it, full up to its bottom.
fn glass(h: f64, under: f64) -> Scene {
    let size = IVec3::new(16, 24, 4);
    let (level, rim, bottom) = (0.2, 0.2 - under, 0.44);
    let wall = move |p: DVec3| {
        let across = (p.x - 0.16).abs();
        let side = (across - 0.08).max(0.04 - across).max(rim - p.y).max(p.y - bottom);
        let lid = (across - 0.08).max(bottom - 0.04 - p.y).max(p.y - bottom);
        side.min(lid)
    };
    let inside = move |p: DVec3| (p.x - 0.16).abs() < 0.06 && p.y < bottom;
    let liquid = move |p: DVec3| if inside(p) { -0.5 * h } else { p.y - level - 1e-3 * h };
    Scene::still(h, size, OPEN_TOP, liquid, wall).falling(DT)
}

#[test]
fn a_glass_upside_down_under_water_holds_it_and_below_the_cavitation_pressure_lets_go() {
    let scene = glass(0.02, 0.08);
    let (vel, _, parted) = repeated(&scene, VAPOUR, 6, false);
    assert_eq!(count(&parted), 0);
    assert!(scene.fastest(&vel) < 1e-5, "{} m/s", scene.fastest(&vel));
    // The water under the lid hangs at −ρ g 0.2 m; it cannot at a quarter of that.
    let cavitation = -0.25 * WATER * GRAVITY * 0.2;
    let (vel, projection, parted) = repeated(&scene, cavitation, 6, false);
    assert!(count(&parted) > 0 && scene.fastest(&vel) > 0.1 * GRAVITY * DT, "{}", scene.fastest(&vel));
    let under_lid = f64::from(projection.pressure.get(IVec3::new(7, 19, 1)));
    assert!((under_lid - cavitation).abs() < WATER * GRAVITY * 0.02, "{under_lid} of {cavitation} Pa");
}

#[test]
fn walls_beside_a_bubble_count_from_its_own_pressure() {
    // Both arms are closed; the air over the deeper one is at less than the open air's pressure.
    let h = 0.05;
    let size = IVec3::new(12, 20, 3);
    let width = f64::from(size.x) * h;
    let level = move |p: DVec3| p.y - if p.x < 0.5 * width { 0.837 } else { 0.411 };
    let wall = move |p: DVec3| -(p.x - 2.0 * h).min(width - 2.0 * h - p.x).min(p.y - 2.0 * h);
    let sides = [true, true, true, true, true, true];
    let scene = Scene::still(h, size, sides, level, wall).falling(DT);
    let (vel, _, parted) = repeated(&scene, VAPOUR, 6, true);
    assert_eq!(count(&parted), 0);
    assert!(scene.fastest(&vel) < 1e-5, "{} m/s", scene.fastest(&vel));
}

#[test]
fn what_opens_at_a_wall_is_taken_from_the_bubble_behind() {
    // A ball of air at the ceiling of a full, closed box whose water is thrown down: it lets go beside the bubble only.
    let h = 0.02;
    let centre = DVec3::new(0.12, 0.24, 0.12);
    let liquid = move |p: DVec3| 0.053 - p.distance(centre);
    let scene = Scene::still(h, IVec3::new(12, 12, 12), [true; 6], liquid, empty)
        .with_velocity(|axis, p| if axis == 1 { -((p.x - 0.12) * 30.0).cos() } else { 0.0 });
    let (_, projection, parted) = repeated(&scene, VAPOUR, 3, true);
    assert!(count(&parted) > 0);
    assert!(projection.max_divergence < 1e-4, "{}", projection.max_divergence);
    assert!(projection.max_bubble_flux < 1e-9, "{}", projection.max_bubble_flux);
}

#[test]
fn nothing_parts_in_a_tank_at_rest() {
    for degrees in [0.0f64, 20.0, 45.0] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let floor = move |p: DVec3| DVec3::new(-sin, cos, 0.0).dot(p - DVec3::new(0.13, 0.087, 0.1));
        let scene = Scene::still(0.02, IVec3::new(13, 15, 10), OPEN_TOP, |p| p.y - 0.1713, floor).falling(DT);
        let (vel, _, parted) = repeated(&scene, VAPOUR, 3, true);
        assert_eq!(count(&parted), 0, "{degrees}°");
        assert!(scene.fastest(&vel) < 1e-6, "{degrees}°: {} m/s", scene.fastest(&vel));
    }
}
