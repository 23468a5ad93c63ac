//! What an articulated body is made of.

use super::spatial::Motion;
use crate::solid::rigid::{MassProperties, Pose};
use glam::{DQuat, DVec3};

/// How a link moves in the one that carries it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Joint {
    /// Not at all.
    Fixed,
    /// It turns freely about a point. Coordinates: a quaternion x y z w. Velocities: angular, rad/s, axes of the link.
    Ball,
    /// It turns about an axis, a unit vector in the axes of the link. Coordinate: the angle, rad.
    Revolute(DVec3),
    /// It slides along an axis, a unit vector in the axes of the link. Coordinate: the way, m.
    Prismatic(DVec3),
    /// It flies: the floating base of a tree. Coordinates: its place, m, and a quaternion x y z w. Velocities:
    /// linear, m/s, axes of the joint's frame; angular, rad/s, axes of the link.
    Free,
}

impl Joint {
    /// Numbers that say how it stands.
    pub fn coordinates(&self) -> usize {
        match self {
            Joint::Fixed => 0,
            Joint::Ball => 4,
            Joint::Revolute(_) | Joint::Prismatic(_) => 1,
            Joint::Free => 7,
        }
    }

    /// Numbers that say how it moves: its degrees of freedom.
    pub fn freedoms(&self) -> usize {
        match self {
            Joint::Fixed => 0,
            Joint::Ball => 3,
            Joint::Revolute(_) | Joint::Prismatic(_) => 1,
            Joint::Free => 6,
        }
    }

    /// Place of the link in the joint's frame.
    pub(super) fn pose(&self, q: &[f64]) -> Pose {
        let (mut position, mut orientation) = (DVec3::ZERO, DQuat::IDENTITY);
        match self {
            Joint::Fixed => {}
            Joint::Ball => orientation = DQuat::from_slice(q),
            Joint::Revolute(axis) => orientation = DQuat::from_axis_angle(*axis, q[0]),
            Joint::Prismatic(axis) => position = *axis * q[0],
            Joint::Free => (position, orientation) = (DVec3::from_slice(q), DQuat::from_slice(&q[3..])),
        }
        Pose { position, orientation }
    }

    /// The motion of the link, at its origin and in its axes, that one degree of freedom makes.
    pub(super) fn axis(&self, freedom: usize, q: &[f64]) -> Motion {
        let turns = |angular| Motion { angular, linear: DVec3::ZERO };
        let slides = |linear| Motion { angular: DVec3::ZERO, linear };
        match self {
            Joint::Fixed => Motion::default(),
            Joint::Ball => turns(DVec3::AXES[freedom]),
            Joint::Revolute(axis) => turns(*axis),
            Joint::Prismatic(axis) => slides(*axis),
            Joint::Free if freedom < 3 => slides(DQuat::from_slice(&q[3..]).inverse() * DVec3::AXES[freedom]),
            Joint::Free => turns(DVec3::AXES[freedom - 3]),
        }
    }

    /// The motion that velocities make.
    pub(super) fn motion(&self, q: &[f64], v: &[f64]) -> Motion {
        v.iter().enumerate().fold(Motion::default(), |sum, (n, v)| sum.plus(self.axis(n, q), *v))
    }

    /// The acceleration, in the axes of the link, that steady velocities make: only those of [`Joint::Free`] are not
    /// in its axes.
    pub(super) fn steady(&self, q: &[f64], v: &[f64]) -> Motion {
        match self {
            Joint::Free => {
                let Motion { angular, linear } = self.motion(q, v);
                Motion { angular: DVec3::ZERO, linear: -angular.cross(linear) }
            }
            _ => Motion::default(),
        }
    }
}

/// A rigid part of an articulated body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The link that carries it, which stands before it in the list; `None`: the ground.
    pub parent: Option<usize>,
    /// How it moves in that one.
    pub joint: Joint,
    /// Place of the joint's frame in the frame of the link that carries it. At coordinates 0 the link's own frame is
    /// there.
    pub frame: Pose,
    /// Mass, its centre and the inertia about that, in the link's frame.
    pub mass: MassProperties,
}

/// Links that carry each other.
#[derive(Clone, Debug)]
pub struct Tree {
    links: Vec<Link>,
    /// Of each link: its first coordinate, and its first degree of freedom; behind the last: their numbers.
    first: Vec<[usize; 2]>,
}

/// Why links are no tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// A link is carried by one behind it, or by itself.
    #[error("link {0} is carried by a link that does not stand before it")]
    Order(usize),
    /// An axis has no direction, or not length 1.
    #[error("the axis of link {0} is no unit vector")]
    Axis(usize),
    /// A mass is negative or no number, or an inertia is not symmetric positive semidefinite.
    #[error("the mass of link {0} is none")]
    Mass(usize),
}

impl Tree {
    /// A tree of links, each behind the one that carries it.
    pub fn new(links: Vec<Link>) -> Result<Self, TreeError> {
        let mut first = vec![[0, 0]];
        for (n, link) in links.iter().enumerate() {
            if link.parent.is_some_and(|p| p >= n) {
                return Err(TreeError::Order(n));
            }
            if let Joint::Revolute(axis) | Joint::Prismatic(axis) = link.joint
                && (axis.is_nan() || (axis.length() - 1.0).abs() > 1e-9)
            {
                return Err(TreeError::Axis(n));
            }
            if !is_mass(&link.mass) {
                return Err(TreeError::Mass(n));
            }
            let [q, v] = first[n];
            first.push([q + link.joint.coordinates(), v + link.joint.freedoms()]);
        }
        Ok(Self { links, first })
    }

    /// Its links.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Degrees of freedom.
    pub fn freedoms(&self) -> usize {
        self.first[self.links.len()][1]
    }

    /// Coordinates; more than degrees of freedom where quaternions are among them.
    pub fn coordinates(&self) -> usize {
        self.first[self.links.len()][0]
    }

    /// The coordinates of a link.
    pub fn coordinates_of(&self, link: usize) -> std::ops::Range<usize> {
        self.first[link][0]..self.first[link + 1][0]
    }

    /// The degrees of freedom of a link.
    pub fn freedoms_of(&self, link: usize) -> std::ops::Range<usize> {
        self.first[link][1]..self.first[link + 1][1]
    }

    /// Place of a link in the one that carries it.
    pub(super) fn placed(&self, link: usize, q: &[f64]) -> Pose {
        let Link { joint, frame, .. } = &self.links[link];
        let own = joint.pose(&q[self.coordinates_of(link)]);
        Pose { position: frame.place(own.position), orientation: frame.orientation * own.orientation }
    }
}

fn is_mass(mass: &MassProperties) -> bool {
    let i = mass.inertia;
    let size = i.x_axis.x + i.y_axis.y + i.z_axis.z;
    let symmetric = (i - i.transpose()).to_cols_array().iter().all(|d| d.abs() <= 1e-9 * size);
    let moments = nalgebra::Matrix3::from_column_slice(&i.to_cols_array()).symmetric_eigenvalues();
    let positive = moments.iter().all(|&m| m >= -1e-12 * size);
    mass.mass >= 0.0
        && mass.mass.is_finite()
        && mass.centre.is_finite()
        && i.is_finite()
        && symmetric
        && positive
}
