//! The box that a solver's objects stay in.

use crate::graph::Bound;
use glam::DVec3;
use meniscus_abi::Means;

/// What ends at a side of the box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// A wall.
    Closed,
    /// Nothing: what leaves goes on.
    Open,
    /// What leaves is deleted.
    Deletes,
}

/// The box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tank {
    min: DVec3,
    max: DVec3,
    /// -x +x -y +y -z +z
    sides: [Side; 6],
}

impl Tank {
    /// Of a solver that says it has one.
    pub(super) fn of(solver: &Bound, frame: f64) -> Option<Self> {
        let vector = |means| solver.meant_vector(means, frame).map(DVec3::from_array);
        let (center, half) = (vector(Means::BOX_CENTER)?, vector(Means::BOX_SIZE)? * 0.5);
        let side = |n: usize| match solver.meant(Means(Means::BOX_NEG_X.0 + n as i32), frame) {
            Some(0.0) => Side::Closed,
            Some(1.0) | None => Side::Open,
            Some(_) => Side::Deletes,
        };
        Some(Self { min: center - half, max: center + half, sides: std::array::from_fn(side) })
    }

    /// Its ends, infinite at open sides.
    pub(super) fn limits(&self) -> (DVec3, DVec3) {
        let end = |n: usize, at: f64, far: f64| if self.sides[n] == Side::Open { far } else { at };
        let low = |axis: usize| end(2 * axis, self.min[axis], f64::NEG_INFINITY);
        let high = |axis: usize| end(2 * axis + 1, self.max[axis], f64::INFINITY);
        (DVec3::from_array([0, 1, 2].map(low)), DVec3::from_array([0, 1, 2].map(high)))
    }

    /// The height of its floor, m, if it is closed there.
    pub(super) fn floor(&self) -> Option<f64> {
        (self.sides[2] == Side::Closed).then_some(self.min.y)
    }

    /// Where what falls ends at the latest, m; −∞ where it is open below.
    pub(super) fn lowest(&self) -> f64 {
        self.limits().0.y
    }

    /// Where liquid goes that begins within bounds: with closed sides all round as wide as the box, and down to its floor
    /// where there is one; elsewhere nobody knows.
    pub(super) fn fills(&self, (low, high): (DVec3, DVec3)) -> Option<(DVec3, DVec3)> {
        let around = [0, 1, 4, 5].iter().all(|&n| self.sides[n] == Side::Closed);
        let floor = if self.sides[2] == Side::Closed { self.min.y } else { low.y };
        around.then(|| (self.min.with_y(floor), self.max.with_y(high.y)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Side::{Closed, Deletes, Open};

    #[test]
    fn only_closed_sides_widen_a_liquid() {
        let tank = |sides| Tank { min: DVec3::new(-2.0, 0.0, -0.5), max: DVec3::new(2.0, 2.0, 0.5), sides };
        let liquid = (DVec3::new(-2.0, 0.25, -0.5), DVec3::new(-1.0, 1.5, 0.5));
        let wide = (DVec3::new(-2.0, 0.0, -0.5), DVec3::new(2.0, 1.5, 0.5));
        assert_eq!(tank([Closed; 6]).fills(liquid), Some(wide));
        let bottomless = [Closed, Closed, Deletes, Closed, Closed, Closed];
        assert_eq!(tank(bottomless).fills(liquid).map(|b| b.0.y), Some(0.25));
        assert_eq!(tank([Closed, Open, Closed, Closed, Closed, Closed]).fills(liquid), None);
        let (low, high) = tank([Closed, Open, Deletes, Open, Open, Closed]).limits();
        assert_eq!(
            (low, high),
            (DVec3::new(-2.0, 0.0, f64::NEG_INFINITY), DVec3::new(f64::INFINITY, f64::INFINITY, 0.5))
        );
    }
}
