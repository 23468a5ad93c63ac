//! The forces that a tree needs to keep its velocities as they are.

use super::spatial::{Force, Motion, momentum};
use super::tree::Tree;
use glam::DVec3;

/// An acceleration of everything with mass, m/s².
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gravity(pub DVec3);

/// Bias forces c(q, v), so that M v̇ + c = τ: Coriolis and centrifugal forces, and gravity's with the sign of a load.
/// Velocities and accelerations are passed on from link to link, forces back: recursive Newton–Euler
/// [Featherstone 2008, table 5.1].
pub fn bias(tree: &Tree, q: &[f64], v: &[f64], gravity: Gravity) -> Vec<f64> {
    let links = tree.links();
    let placed: Vec<_> = (0..links.len()).map(|n| tree.placed(n, q)).collect();
    // The ground is accelerated upwards instead of masses downwards.
    let ground = [Motion::default(), Motion { angular: DVec3::ZERO, linear: -gravity.0 }];
    let (mut moves, mut felt): (Vec<[Motion; 2]>, Vec<Force>) = (Vec::new(), Vec::new());
    for (n, link) in links.iter().enumerate() {
        let [velocity, acceleration] = link.parent.map_or(ground, |p| moves[p]);
        let (q, v) = (&q[tree.coordinates_of(n)], &v[tree.freedoms_of(n)]);
        let own = link.joint.motion(q, v);
        let velocity = velocity.of_child(&placed[n]).plus(own, 1.0);
        let acceleration = acceleration
            .of_child(&placed[n])
            .plus(link.joint.steady(q, v), 1.0)
            .plus(velocity.across(own), 1.0);
        let force = momentum(&link.mass, acceleration);
        felt.push(force.plus(velocity.turns(momentum(&link.mass, velocity))));
        moves.push([velocity, acceleration]);
    }
    let mut bias = vec![0.0; tree.freedoms()];
    for (n, link) in links.iter().enumerate().rev() {
        let own = &q[tree.coordinates_of(n)];
        for (f, b) in bias[tree.freedoms_of(n)].iter_mut().enumerate() {
            *b = link.joint.axis(f, own).dot(felt[n]);
        }
        if let Some(parent) = link.parent {
            felt[parent] = felt[parent].plus(felt[n].of_parent(&placed[n]));
        }
    }
    bias
}
