//! What a joint is, and what it remembers.

use crate::solid::rigid::{Body, Key, Pose, Velocity};
use glam::{DQuat, DVec3};
use std::f64::consts::{PI, TAU};

/// What a joint leaves free. Its axis is the x axis of its frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Nothing.
    Fixed,
    /// All turns about a point.
    Ball,
    /// Turns about the axis.
    Revolute,
    /// Ways along the axis.
    Prismatic,
    /// Everything: a force between two points that are this far apart without force, m.
    Spring(f64),
}

/// What a motor aims at; rad or m, along what the joint leaves free.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drive {
    /// A speed, rad/s or m/s.
    Speed(f64),
    /// To be there at the end of the next drift, rad or m.
    Place(f64),
}

/// A motor of a revolute or a prismatic joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motor {
    /// What it aims at.
    pub drive: Drive,
    /// The most it gives, N m or N.
    pub most: f64,
}

/// What a joint remembers from one substep to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointState {
    /// It has broken, and holds nothing any more.
    pub broken: bool,
    /// How far it has turned or slid since the start, rad or m. Whole turns count.
    pub turned: f64,
    /// What the motor and the stops at the low and the high limit gave in the last kick, N m or N.
    pub pressed: [f64; 3],
    /// Force (N) and torque (N m) that it held in the last kick.
    pub load: [f64; 2],
}

/// A joint between two bodies, or a body and the world.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// The bodies' names; `None`: the world.
    pub ends: [Option<Key>; 2],
    /// The joint's frame in the rest frames of both, or in the world.
    pub frames: [Pose; 2],
    /// What it leaves free.
    pub kind: Kind,
    /// Lowest and highest turn or way, rad or m. Of a ball joint the highest counts: the angle between both axes.
    pub limits: Option<[f64; 2]>,
    /// Its motor.
    pub motor: Option<Motor>,
    /// Stiffness of the spring, N/m; of a revolute joint N m/rad.
    pub stiffness: f64,
    /// Damping, N s/m; of a revolute joint N m s/rad.
    pub damping: f64,
    /// Turn or way, rad or m, at which the spring of a revolute or prismatic joint gives no force.
    pub rest: f64,
    /// Force (N) and torque (N m) above which it breaks.
    pub breaking: [f64; 2],
    /// Whether its bodies touch each other.
    pub meets: bool,
    /// What it remembers.
    pub state: JointState,
}

impl Joint {
    /// A joint that holds, without springs, limits or a motor, where its frames meet at `at` (world) now.
    pub fn new(kind: Kind, ends: [Option<&Body>; 2], at: [Pose; 2]) -> Self {
        let frame = |n: usize| match ends[n] {
            None => at[n],
            Some(body) => Pose {
                position: body.pose.to_rest(at[n].position),
                orientation: (body.pose.orientation.inverse() * at[n].orientation).normalize(),
            },
        };
        Self {
            ends: ends.map(|end| end.map(|body| body.key)),
            frames: [frame(0), frame(1)],
            kind,
            limits: None,
            motor: None,
            stiffness: 0.0,
            damping: 0.0,
            rest: 0.0,
            breaking: [f64::INFINITY; 2],
            meets: false,
            state: JointState::default(),
        }
    }

    /// A pose at a place whose x axis is that axis.
    pub fn frame_at(place: DVec3, axis: DVec3) -> Pose {
        let axis = axis.try_normalize().unwrap_or(DVec3::X);
        Pose { position: place, orientation: DQuat::from_rotation_arc(DVec3::X, axis).normalize() }
    }

    /// The joint's frames in the world, where its bodies are there.
    pub(super) fn placed(&self, poses: [Pose; 2]) -> [Pose; 2] {
        [0, 1].map(|n| Pose {
            position: poses[n].place(self.frames[n].position),
            orientation: poses[n].orientation * self.frames[n].orientation,
        })
    }

    /// How far it has turned (rad) or slid (m), whole turns as they were last counted.
    pub(super) fn way(&self, poses: [Pose; 2]) -> f64 {
        let [a, b] = self.placed(poses);
        match self.kind {
            Kind::Prismatic => (b.position - a.position).dot(a.orientation * DVec3::X),
            Kind::Revolute => {
                let turn = a.orientation.inverse() * b.orientation;
                let angle = 2.0 * turn.x.atan2(turn.w);
                let more = (angle - self.state.turned).rem_euclid(TAU);
                self.state.turned + if more > PI { more - TAU } else { more }
            }
            Kind::Ball => (a.orientation * DVec3::X).angle_between(b.orientation * DVec3::X),
            Kind::Spring(length) => (b.position - a.position).length() - length,
            Kind::Fixed => 0.0,
        }
    }
}

/// The names of pairs of bodies that a joint holds and that do not touch each other, sorted.
pub(in crate::solid::rigid) fn apart(joints: &[Joint]) -> Vec<[Key; 2]> {
    let held = joints.iter().filter(|j| !j.meets && !j.state.broken);
    let pair = |j: &Joint| Some([j.ends[0]?.min(j.ends[1]?), j.ends[0]?.max(j.ends[1]?)]);
    let mut pairs: Vec<[Key; 2]> = held.filter_map(pair).collect();
    pairs.sort_unstable();
    pairs
}

/// Where a body is led to at the velocity of its keyframes, or would be if it stood still.
pub(in crate::solid::rigid) fn freed(body: &Body, velocity: Velocity, dt: f64) -> Pose {
    if body.led.is_some() {
        let turn = DQuat::from_scaled_axis(velocity.angular * dt);
        return Pose {
            position: body.pose.position + velocity.linear * dt,
            orientation: (turn * body.pose.orientation).normalize(),
        };
    }
    body.flown(velocity, dt)
}
