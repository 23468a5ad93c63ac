//! Bodies that many joints hold.

use super::*;

/// `hubs` boxes in a row, joined to each other, each with so many bobs around it on ball joints; all turn and drift.
fn hubs(hubs: usize, bobs: usize) -> Scene {
    let mut scene = Scene::new(DVec3::ZERO, 1.0 / 48.0);
    let (middle, bob) = (a_box(DVec3::splat(0.4), 500.0), a_box(DVec3::splat(0.05), 2000.0));
    let spin = DVec3::new(0.7, 1.1, -0.4);
    let add = |scene: &mut Scene, shape, at: DVec3| {
        let velocity = Velocity { linear: DVec3::X + spin.cross(at), angular: spin };
        let body = scene.add(shape, at);
        *body = body.clone().moving(velocity);
        (body.may_sleep, body.surface.mask) = (false, 0);
        scene.bodies.len() - 1
    };
    let mut last = None;
    for hub in 0..hubs {
        let centre = DVec3::X * hub as f64;
        let own = add(&mut scene, &middle, centre);
        if let Some(last) = last {
            join(&mut scene, Kind::Fixed, [Some(last), Some(own)], centre - 0.5 * DVec3::X, DVec3::X);
        }
        last = Some(own);
        for n in 0..bobs {
            let (y, turn) = (1.0 - 2.0 * (n as f64 + 0.5) / bobs as f64, n as f64 * 2.399);
            let way = DVec3::new((1.0 - y * y).sqrt() * turn.cos(), y, (1.0 - y * y).sqrt() * turn.sin());
            let at = add(&mut scene, &bob, centre + 0.4 * way);
            join(&mut scene, Kind::Ball, [Some(own), Some(at)], centre + 0.2 * way, DVec3::Z);
        }
    }
    scene
}

// From twenty ball joints on, a body's own part of the matrix is added by another way.
#[test]
fn bodies_that_few_or_many_joints_hold_stay_held_and_keep_their_momentum() {
    for (count, bobs) in [(1, 10), (1, 19), (1, 20), (1, 80), (3, 30)] {
        let mut scene = hubs(count, bobs);
        let (p, l) = (scene.momentum(), scene.angular_momentum());
        let worst = widest(&mut scene, 1.0);
        let (dp, dl) = ((scene.momentum() - p).length(), (scene.angular_momentum() - l).length());
        println!("{count} hubs of {bobs}: gaps {worst:?}, momentum {dp:.1e}, angular {dl:.1e}");
        assert!(worst[0] < 1e-8 && worst[1] < 1e-7, "{count} of {bobs}: {worst:?}");
        assert!(dp < 1e-11 * p.length() && dl < 1e-10 * l.length(), "{count} of {bobs}: {dp} {dl}");
    }
}
