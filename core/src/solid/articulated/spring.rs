//! Springs: forces between two points. They hold nothing; a joint does.

use super::jacobian::{Placed, jacobian};
use super::tree::Tree;
use glam::DVec3;

/// A spring with a damper between two points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// Its ends: a link and a point of its frame, m; without a link, a point of the world.
    pub ends: [(Option<usize>, DVec3); 2],
    /// Length without force, m.
    pub length: f64,
    /// Force per way, N/m.
    pub stiffness: f64,
    /// Force per speed, N s/m.
    pub damping: f64,
}

impl Spring {
    /// Adds its generalised forces to `force`.
    pub fn push(&self, tree: &Tree, q: &[f64], v: &[f64], placed: &Placed, force: &mut [f64]) {
        let at = self.ends.map(|(link, point)| link.map_or(point, |n| placed.0[n].place(point)));
        let (length, Some(along)) = ((at[1] - at[0]).length(), (at[1] - at[0]).try_normalize()) else {
            return;
        };
        // How the length changes with the velocities.
        let mut rate = vec![0.0; tree.freedoms()];
        for (n, (link, _)) in self.ends.iter().enumerate() {
            let Some(link) = link else { continue };
            let j = jacobian(tree, q, placed, *link, at[n]);
            let sign = if n == 0 { -1.0 } else { 1.0 };
            for (column, rate) in rate.iter_mut().enumerate() {
                *rate += sign * (0..3).map(|c| along[c] * j[(c, column)]).sum::<f64>();
            }
        }
        let speed: f64 = rate.iter().zip(v).map(|(r, v)| r * v).sum();
        let pull = self.stiffness * (length - self.length) + self.damping * speed;
        force.iter_mut().zip(&rate).for_each(|(f, r)| *f -= pull * r);
    }

    /// Energy in it, J.
    pub fn energy(&self, placed: &Placed) -> f64 {
        let at = self.ends.map(|(link, point)| link.map_or(point, |n| placed.0[n].place(point)));
        0.5 * self.stiffness * ((at[1] - at[0]).length() - self.length).powi(2)
    }
}
