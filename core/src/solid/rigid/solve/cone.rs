//! Coulomb's law at a contact: the impulse lies in a cone.

use super::factor::Block;
use super::pair::Pair;
use crate::solid::rigid::Velocity;
use glam::{DMat3, DVec3};

/// A contact: its impulse lies in Coulomb's cone.
pub(super) struct Cone<'a> {
    pub pair: &'a Pair,
    /// Place among the contacts.
    pub number: usize,
    /// Places of its bodies among those of the island; `None` where nothing can move.
    pub ends: [Option<usize>; 2],
    pub friction: f64,
    /// The most velocity that an impulse of 1 gives.
    pub yields: f64,
    /// The least speed at which it parts, m/s.
    pub target: f64,
    pub impulse: DVec3,
    /// Relative velocity that what nothing can move has there, m/s.
    pub carried: DVec3,
    /// What its sliding adds to the speed along the normal, m/s: with it the cone's own normal is the law's [De Saxce and Feng 1998].
    pub lift: f64,
}

impl Cone<'_> {
    /// Velocity of the body relative to the other, as far as it comes from bodies that can move.
    pub fn relative(&self, velocities: &[Velocity]) -> DVec3 {
        let of = |k: usize| {
            self.ends[k].map_or(DVec3::ZERO, |n| {
                velocities[n].linear + velocities[n].angular.cross(self.pair.arms[k])
            })
        };
        of(0) - of(1)
    }

    /// By how much it is more than the contact asks for.
    pub fn excess(&self, velocities: &[Velocity]) -> DVec3 {
        self.relative(velocities) + self.carried - self.pair.normal * (self.target - self.lift)
    }

    /// Impulse per velocity at which it gives way.
    pub fn stiffness(&self, stiff: f64) -> f64 {
        stiff / self.yields
    }

    /// What an impulse there gives to the bodies.
    pub fn give(&self, impulse: DVec3, mut to: impl FnMut(usize, Velocity)) {
        for (k, sign) in [1.0, -1.0].into_iter().enumerate() {
            let Some(n) = self.ends[k] else { continue };
            let linear = impulse * sign;
            to(n, Velocity { linear, angular: self.pair.arms[k].cross(linear) });
        }
    }
}

/// The nearest impulse in Coulomb's cone, and how it changes with the one given.
pub(super) fn project(impulse: DVec3, normal: DVec3, friction: f64) -> (DVec3, DMat3) {
    let along = impulse.dot(normal);
    let across = impulse - normal * along;
    let length = across.length();
    if along >= 0.0 && length <= friction * along {
        return (impulse, if friction > 0.0 { DMat3::IDENTITY } else { outer(normal, normal) });
    }
    if friction * length <= -along {
        return (DVec3::ZERO, DMat3::ZERO);
    }
    let slope = 1.0 + friction * friction;
    let pressed = (along + friction * length) / slope;
    let way = across / length;
    let edge = normal + way * friction;
    let round = DMat3::IDENTITY - outer(normal, normal) - outer(way, way);
    (edge * pressed, outer(edge, edge) * (1.0 / slope) + round * (friction * pressed / length))
}

/// a bᵀ.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// The matrix of a cross product with `a`.
fn cross(a: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, a.z, -a.y), DVec3::new(-a.z, 0.0, a.x), DVec3::new(a.y, -a.x, 0.0))
}

/// Jᵀ D J of the bodies at two arms: J = (1, -[arm]×).
pub(super) fn seen(arms: [DVec3; 2], d: DMat3) -> Block {
    let [row, column] = arms.map(cross);
    let (right, below) = (d * column * -1.0, row * d);
    let corner = row * right;
    let of = |m: &DMat3, i: usize, j: usize| m.col(j)[i];
    std::array::from_fn(|i| {
        std::array::from_fn(|j| match (i < 3, j < 3) {
            (true, true) => of(&d, i, j),
            (true, false) => of(&right, i, j - 3),
            (false, true) => of(&below, i - 3, j),
            (false, false) => of(&corner, i - 3, j - 3),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vector() -> impl Strategy<Value = DVec3> {
        (-1.0f64..1.0, -1.0f64..1.0, -1.0f64..1.0).prop_map(|(x, y, z)| DVec3::new(x, y, z))
    }

    proptest! {
        /// The projection is the nearest place of the cone: what is left of the impulse lies in the cone's polar and is at right
        /// angles to it. Its change is that of finite differences.
        #[test]
        fn impulses_are_projected_into_the_cone(
            impulse in vector(), axis in vector(), way in vector(), friction in 0.0f64..1.5,
        ) {
            prop_assume!(axis.length() > 0.1);
            let normal = axis.normalize();
            let (found, slope) = project(impulse, normal, friction);
            let parts = |v: DVec3| (v.dot(normal), (v - normal * v.dot(normal)).length());
            let ((along, across), (off, aside)) = (parts(found), parts(found - impulse));
            prop_assert!(across <= friction * along + 1e-12);
            prop_assert!(off >= friction * aside - 1e-12);
            prop_assert!((found - impulse).dot(found).abs() < 1e-12);
            let step = 1e-6;
            let [ahead, behind] = [step, -step].map(|s| project(impulse + way * s, normal, friction));
            prop_assume!((ahead.1.mul_vec3(way) - behind.1.mul_vec3(way)).length() < 1e-3);
            prop_assert!(((ahead.0 - behind.0) / (2.0 * step) - slope * way).length() < 1e-5);
        }
    }
}
