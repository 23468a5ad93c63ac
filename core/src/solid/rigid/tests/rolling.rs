//! Round bodies roll, and bounce on their lowest place, whatever the steps.

use super::*;
use std::f64::consts::TAU;

const G: f64 = 9.81;
const RADIUS: f64 = 0.15;

/// A prism of so many sides about z, which stands for a cylinder.
fn roller(sides: u32) -> Arc<Shape> {
    let corner = |n: u32, z: f64| {
        let angle = TAU * f64::from(n) / f64::from(sides);
        DVec3::new(RADIUS * angle.sin(), -RADIUS * angle.cos(), z).as_vec3()
    };
    let points = (0..sides).flat_map(|n| [corner(n, -RADIUS), corner(n, RADIUS)]).collect();
    let mut mesh = TriMesh { points, ..TriMesh::default() };
    for n in 0..sides {
        let (a, b) = (2 * n, 2 * ((n + 1) % sides));
        mesh.triangles.extend([[a, b, a + 1], [b, b + 1, a + 1]]);
        if n > 1 {
            mesh.triangles.extend([[0, 2 * n, 2 * n - 2], [1, 2 * n - 1, 2 * n + 1]]);
        }
    }
    Arc::new(Shape::of(&mesh, 500.0).unwrap().0)
}

fn a_ball() -> Arc<Shape> {
    Arc::new(Shape::of(&ball(RADIUS as f32, 80), 500.0).unwrap().0)
}

/// A floor of voxels, whose top is at height 0.
fn slab() -> Collider {
    let (low, high) = (DVec3::new(-1.0, -0.5, -1.0), DVec3::new(6.0, 0.0, 1.0));
    let mut mesh = cuboid((high - low).as_vec3());
    mesh.points.iter_mut().for_each(|p| *p += low.as_vec3());
    let (distance, lattice) = levelset_of(&mesh, 0.05);
    Collider::new(distance, lattice, Motion::Static)
}

/// A body at rest on the floor at the origin, or on the top of a slab; `gravity` may be aslant, which makes a slope of it.
fn on(shape: &Arc<Shape>, of_voxels: bool, gravity: DVec3, dt: f64) -> Scene {
    let mut scene = if of_voxels { Scene::new(gravity, dt) } else { Scene::on_floor(gravity, dt) };
    if of_voxels {
        scene.colliders.push(slab());
    }
    let body = scene.add(shape, DVec3::Y * RADIUS);
    (body.surface.friction, body.may_sleep) = (1.0, false);
    scene
}

/// Moves for a second; the least and the largest height of the centre above the floor by the radius.
fn heights(scene: &mut Scene) -> [f64; 2] {
    let mut heights = [f64::INFINITY, 0.0f64];
    for _ in 0..(1.0 / scene.dt).round() as usize {
        scene.run(scene.dt);
        let y = scene.bodies[0].pose.position.y / RADIUS;
        heights = [heights[0].min(y), heights[1].max(y)];
    }
    heights
}

const STEPS: [f64; 4] = [1.0 / 24.0, 1.0 / 48.0, 1.0 / 90.0, 1.0 / 240.0];

#[test]
fn what_rolls_goes_on_and_does_not_hop() {
    for (shape, of_voxels) in [(roller(256), false), (a_ball(), false), (roller(256), true)] {
        for dt in STEPS {
            for restitution in [0.0, 0.5] {
                let mut scene = on(&shape, of_voxels, DVec3::Y * -G, dt);
                let body = &mut scene.bodies[0];
                body.surface.restitution = restitution;
                *body = body
                    .clone()
                    .moving(Velocity { linear: DVec3::X * 2.0, angular: DVec3::Z * -2.0 / RADIUS });
                let [low, high] = heights(&mut scene);
                let kept = scene.bodies[0].speed().linear.x / 2.0;
                let case = format!("voxels {of_voxels}, dt {dt}, e {restitution}: {kept}, {low} to {high}");
                assert!(kept > 0.92 && kept < 1.01, "{case}");
                assert!(low > 0.985 && high < 1.015, "{case}");
            }
        }
    }
}

/// Down a slope without sliding: two thirds of g sin for a cylinder, five sevenths for a ball.
#[test]
fn what_rolls_down_a_slope_speeds_up_as_its_inertia_lets_it() {
    for (shape, share) in [(roller(256), 2.0 / 3.0), (a_ball(), 5.0 / 7.0)] {
        for degrees in [10.0f64, 30.0] {
            let (sin, cos) = degrees.to_radians().sin_cos();
            for dt in STEPS {
                let mut scene = on(&shape, false, DVec3::new(sin, -cos, 0.0) * G, dt);
                scene.run(1.0);
                // The velocity is that of half a step later.
                let v = scene.bodies[0].velocity.x / (1.0 + 0.5 * dt);
                assert!((v / (G * sin) / share - 1.0).abs() < 0.04, "{degrees}, dt {dt}: {v}");
            }
        }
    }
}

/// A ball that is thrown without spin slides until it rolls, then with five sevenths of its speed, whatever the friction.
#[test]
fn what_slides_comes_to_roll_with_the_speed_that_its_inertia_leaves_it() {
    for (shape, share) in [(roller(256), 2.0 / 3.0), (a_ball(), 5.0 / 7.0)] {
        for friction in [0.2, 0.5] {
            for dt in STEPS {
                let mut scene = on(&shape, false, DVec3::Y * -G, dt);
                let body = &mut scene.bodies[0];
                (body.surface.friction, body.velocity) = (friction, DVec3::X * 1.5);
                scene.run(0.6);
                let Velocity { linear, angular } = scene.bodies[0].speed();
                assert!((linear.x / 1.5 / share - 1.0).abs() < 0.05, "{friction}, dt {dt}: {linear}");
                assert!(
                    (linear.x + angular.z * RADIUS).abs() < 0.03,
                    "{friction}, dt {dt}: {linear} {angular}"
                );
            }
        }
    }
}

/// It comes up to the square of its restitution times the height that it fell from, spinning or not.
#[test]
fn spin_does_not_change_how_high_a_ball_bounces() {
    for (spin, restitution) in [(0.0, 1.0), (0.0, 0.6), (12.0, 1.0), (12.0, 0.6), (-12.0, 0.3)] {
        for dt in STEPS {
            let mut scene = on(&a_ball(), false, DVec3::Y * -G, dt);
            let body = &mut scene.bodies[0];
            (body.pose.position.y, body.surface.restitution) = (RADIUS + 0.6, restitution);
            *body = body.clone().moving(Velocity { linear: DVec3::ZERO, angular: DVec3::Z * spin });
            let height = 0.6 * restitution * restitution;
            let fall = (2.0f64 * 0.6 / G).sqrt();
            scene.run(fall + dt);
            let mut highest = 0.0f64;
            for _ in 0..(2.0 * restitution * fall / dt) as usize {
                scene.run(dt);
                highest = highest.max(scene.bodies[0].pose.position.y - RADIUS);
            }
            assert!(
                (highest / height - 1.0).abs() < 0.06,
                "{spin}, {restitution}, dt {dt}: {highest} for {height}"
            );
        }
    }
}
