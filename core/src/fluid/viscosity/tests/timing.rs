use super::*;

/// Seconds and iterations of a step on a ball of honey, 32 cells across; run by name.
#[test]
#[ignore = "a measurement"]
fn a_ball_of_honey() {
    let h = 1.0 / 32.0;
    let centre = DVec3::splat(0.5);
    let ball = Scene::new(h, [IVec3::splat(-8), IVec3::splat(40)], |p| p.distance(centre) - 0.5, empty);
    let mut scene = ball.moving(noisy);
    for stiffness in [0.01, 1.0, 100.0, 1e4] {
        let dt = 0.01;
        scene.mu = stiffness * RHO * h * h / dt;
        let mut u = scene.velocity.clone();
        let start = std::time::Instant::now();
        let system = scene.system(dt);
        let assembly = start.elapsed().as_secs_f64();
        let info = diffuse(&scene.liquid(), &mut u, dt, &Params::default(), &mut run_on).unwrap();
        println!(
            "ν dt/h² = {stiffness}: {info:?}, {} leaves, assembly {assembly} s",
            system.operator.topology.len()
        );
    }
}
