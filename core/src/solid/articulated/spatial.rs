//! Spatial vectors of a rigid link, at its origin and in its axes [Featherstone 2008, chapter 2].

use crate::solid::rigid::{MassProperties, Pose};
use glam::{DMat3, DVec3};

/// A velocity, an acceleration, or an axis of motion.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Motion {
    pub angular: DVec3,
    pub linear: DVec3,
}

/// A force, or a momentum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Force {
    pub torque: DVec3,
    pub force: DVec3,
}

impl Motion {
    pub fn plus(self, other: Motion, by: f64) -> Self {
        Self { angular: self.angular + by * other.angular, linear: self.linear + by * other.linear }
    }

    /// The same motion, of a link that is placed so in this one.
    pub fn of_child(self, child: &Pose) -> Self {
        let back = child.orientation.inverse();
        Self {
            angular: back * self.angular,
            linear: back * (self.linear + self.angular.cross(child.position)),
        }
    }

    /// How a motion that is fixed to a link changes where the link moves so.
    pub fn across(self, other: Motion) -> Self {
        Self {
            angular: self.angular.cross(other.angular),
            linear: self.angular.cross(other.linear) + self.linear.cross(other.angular),
        }
    }

    /// How a momentum that is fixed to a link changes where the link moves so.
    pub fn turns(self, momentum: Force) -> Force {
        Force {
            torque: self.angular.cross(momentum.torque) + self.linear.cross(momentum.force),
            force: self.angular.cross(momentum.force),
        }
    }

    /// Power of a force.
    pub fn dot(self, force: Force) -> f64 {
        self.angular.dot(force.torque) + self.linear.dot(force.force)
    }
}

impl Force {
    pub fn plus(self, other: Force) -> Self {
        Self { torque: self.torque + other.torque, force: self.force + other.force }
    }

    /// The same force, at the origin of the parent in which the link is placed so.
    pub fn of_parent(self, child: &Pose) -> Self {
        let force = child.orientation * self.force;
        Self { torque: child.orientation * self.torque + child.position.cross(force), force }
    }
}

/// Momentum of a mass that moves so, or the force that accelerates it so.
pub(super) fn momentum(body: &MassProperties, motion: Motion) -> Force {
    let force = body.mass * (motion.linear + motion.angular.cross(body.centre));
    Force { torque: body.inertia * motion.angular + body.centre.cross(force), force }
}

/// The mass of a link in the frame of the parent in which it is placed so.
pub(super) fn moved(body: &MassProperties, child: &Pose) -> MassProperties {
    let turn = DMat3::from_quat(child.orientation);
    let inertia = turn * body.inertia * turn.transpose();
    MassProperties { mass: body.mass, centre: child.place(body.centre), inertia }
}

/// Two masses as one.
pub(super) fn together(a: &MassProperties, b: &MassProperties) -> MassProperties {
    let mass = a.mass + b.mass;
    if mass <= 0.0 {
        return *a;
    }
    let apart = b.centre - a.centre;
    let across = DMat3::from_diagonal(DVec3::splat(apart.length_squared()))
        - DMat3::from_cols(apart * apart.x, apart * apart.y, apart * apart.z);
    MassProperties {
        mass,
        centre: a.centre + apart * (b.mass / mass),
        inertia: a.inertia + b.inertia + across * (a.mass * b.mass / mass),
    }
}
