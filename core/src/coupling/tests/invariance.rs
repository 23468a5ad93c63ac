use super::*;

const DT: f64 = 0.01;

/// A lopsided tank: sloping floor, two bubbles, a moving ball, in coordinates turned by `turn`.
fn turned(turn: fn(DVec3) -> DVec3, back: fn(DVec3) -> DVec3) -> Scene {
    let h = 0.01;
    let liquid = move |p: DVec3| {
        let q = back(p);
        (q.y - 0.123)
            .max(0.027 - q.distance(DVec3::new(0.05, 0.07, 0.08)))
            .max(0.021 - q.distance(DVec3::new(0.12, 0.08, 0.06)))
    };
    let solid = move |p: DVec3| {
        let q = back(p);
        (q.y - 0.02 - 0.2 * q.x).min(q.distance(DVec3::new(0.09, 0.11, 0.11)) - 0.024)
    };
    let motion =
        move |p: DVec3| if back(p).y > 0.08 { turn(DVec3::new(0.3, -0.8, 0.2)) } else { DVec3::ZERO };
    let fall = turn(DVec3::new(0.1, -GRAVITY * DT, 0.0));
    Scene::new(h, IVec3::splat(16), [true; 6], liquid, solid, motion)
        .with_velocity(move |axis, p| fall[axis] * (1.0 + back(p).x))
}

#[test]
fn the_whole_turned_by_a_quarter_gives_the_result_turned() {
    let straight = turned(|q| q, |p| p);
    let (u, a) = straight.bubbles(DT);
    // (x, y, z) → (L − y, x, z): a quarter turn about z.
    let quarter = turned(|q| DVec3::new(-q.y, q.x, q.z), |p| DVec3::new(p.y, 0.16 - p.x, p.z));
    let (v, b) = quarter.bubbles(DT);
    assert_eq!(a.bubbles.len(), b.bubbles.len());
    for (axis, c) in straight.liquid_faces() {
        let expected = f64::from(u.get(axis, c));
        let found = f64::from(match axis {
            0 => v.get(1, IVec3::new(15 - c.y, c.x, c.z)),
            1 => -v.get(0, IVec3::new(16 - c.y, c.x, c.z)),
            _ => v.get(2, IVec3::new(15 - c.y, c.x, c.z)),
        });
        assert!((found - expected).abs() < 2e-5, "{axis} {c}: {found} {expected}");
    }
    let pressures = |p: &Projection| {
        let mut list: Vec<(f64, f64)> = p.bubbles.iter().map(|b| (b.volume, b.pressure)).collect();
        list.sort_by(|a, b| a.0.total_cmp(&b.0));
        list
    };
    for (x, y) in pressures(&a).into_iter().zip(pressures(&b)) {
        assert!((x.0 - y.0).abs() < 1e-4 * x.0 && (x.1 - y.1).abs() < 1e-2, "{x:?} {y:?}");
    }
}

#[test]
fn threads_change_no_bit() {
    let scene = turned(|q| q, |p| p);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| scene.bubbles(DT))
    };
    let (u, a) = with(1);
    for threads in [2, 5] {
        let (v, b) = with(threads);
        assert_eq!(u.values, v.values);
        assert_eq!(a.pressure.values, b.pressure.values);
        assert_eq!(a.memory.cells.values, b.memory.cells.values);
        assert_eq!(a.bubbles, b.bubbles);
        assert_eq!(a.max_divergence, b.max_divergence);
    }
}

#[test]
fn the_pressure_before_is_only_a_start() {
    let scene = turned(|q| q, |p| p);
    let (u, first) = scene.bubbles(DT);
    let mut fields = scene.fields();
    fields.cells.pressure = Some(&first.pressure);
    let mut vel = scene.vel.clone();
    let again =
        constraint_bubbles::project(&fields, &mut vel, DT, &mut PlainCg, &TIGHT, &mut run_on).unwrap();
    assert!(
        again.info.iterations < first.info.iterations / 2,
        "{} {}",
        again.info.iterations,
        first.info.iterations
    );
    for (axis, c) in scene.liquid_faces() {
        assert!((u.get(axis, c) - vel.get(axis, c)).abs() < 1e-5);
    }
}

#[test]
fn nothing_is_changed_by_a_projection_that_fails() {
    let scene = turned(|q| q, |p| p);
    let fields = scene.fields();
    let mut vel = scene.vel.clone();
    let mut stop = |_| std::ops::ControlFlow::Break(());
    let cancelled = constraint_bubbles::project(&fields, &mut vel, DT, &mut PlainCg, &TIGHT, &mut stop);
    assert!(matches!(cancelled, Err(Error::Solve(_))));
    let step = constraint_bubbles::project(&fields, &mut vel, 0.0, &mut PlainCg, &TIGHT, &mut run_on);
    assert_eq!(step.unwrap_err(), Error::Step(0.0));
    assert_eq!(vel.values, scene.vel.values);
}

#[test]
fn a_domain_without_liquid_is_no_problem() {
    let scene = Scene::still(0.1, IVec3::splat(8), [true; 6], |_| 0.3, empty).falling(DT);
    let (_, projection) = scene.bubbles(DT);
    assert_eq!(projection.bubbles.len(), 1);
    assert_eq!(projection.max_divergence, 0.0);
    assert!(!projection.bubbles[0].constrained);
}
