//! How a tree stands and moves.

use super::tree::{Joint, Tree};
use glam::{DQuat, DVec3};

/// Coordinates and velocities of a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Coordinates, link by link; see [`Joint`].
    pub q: Vec<f64>,
    /// Velocities, link by link, in the tangent space of the coordinates.
    pub v: Vec<f64>,
}

impl State {
    /// All coordinates 0, no turn, at rest.
    pub fn rest(tree: &Tree) -> Self {
        let mut q = vec![0.0; tree.coordinates()];
        for (n, link) in tree.links().iter().enumerate() {
            if matches!(link.joint, Joint::Ball | Joint::Free) {
                q[tree.coordinates_of(n).end - 1] = 1.0;
            }
        }
        Self { q, v: vec![0.0; tree.freedoms()] }
    }

    /// Moves the coordinates along a vector of their tangent space: `velocity` for one second. Quaternions turn by the
    /// exponential map, so that they stay unit quaternions.
    pub fn advance(&mut self, tree: &Tree, velocity: &[f64]) {
        for (n, link) in tree.links().iter().enumerate() {
            let (q, v) = (&mut self.q[tree.coordinates_of(n)], &velocity[tree.freedoms_of(n)]);
            match link.joint {
                Joint::Ball => turn(q, v),
                Joint::Free => {
                    q.iter_mut().zip(v).take(3).for_each(|(q, v)| *q += v);
                    turn(&mut q[3..], &v[3..]);
                }
                _ => q.iter_mut().zip(v).for_each(|(q, v)| *q += v),
            }
        }
    }
}

fn turn(q: &mut [f64], by: &[f64]) {
    let turned = DQuat::from_slice(q) * DQuat::from_scaled_axis(DVec3::from_slice(by));
    turned.normalize().write_to_slice(q);
}
