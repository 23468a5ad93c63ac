//! Motors and stops: rows whose impulses have bounds.

use super::joint::{Drive, Joint, Kind};
use super::rows::{Row, free};
use crate::solid::rigid::Pose;
use glam::DVec3;
use std::f64::consts::FRAC_PI_2;

/// A motor, or the stop at a limit.
#[derive(Clone, Copy, Debug)]
pub(in crate::solid::rigid) struct Bound {
    /// Its row; `target` is the speed that it aims at, or the least one.
    pub row: Row,
    /// Which of the joint's [`JointState::pressed`](super::JointState::pressed) it is.
    pub which: usize,
    /// Least and most impulse.
    pub range: [f64; 2],
    /// Impulse, N s or N m s.
    pub pressed: f64,
    /// Where it is to be; see [`Drive::Place`]: its speed is found when it is known how light it is.
    pub way: Option<f64>,
}

/// Share of what has gone beyond a limit that one substep undoes.
const RETURN: f64 = 0.3;
/// Distance from a limit, rad, from which a substep does not reach it.
const FAR: f64 = FRAC_PI_2;

/// Of a joint that holds: its motor, and the stops that the next drift may reach.
pub(super) fn bounds(
    joint: &Joint,
    (number, ends): (usize, [Option<usize>; 2]),
    poses: [Pose; 2],
    (kick, next): (f64, f64),
) -> Vec<Bound> {
    let (Some(jacobian), way) = (free(joint, poses), joint.way(poses)) else { return Vec::new() };
    let mut found = Vec::new();
    let row = Row { joint: number, ends, jacobian, soft: 0.0, target: 0.0, is_spring: false };
    let pressed = |which: usize| joint.state.pressed[which] * kick;
    let is_driven = matches!(joint.kind, Kind::Revolute | Kind::Prismatic);
    if let Some(motor) = joint.motor.filter(|_| is_driven) {
        let most = if kick > 0.0 { motor.most * kick } else { 0.0 };
        let (target, aim) = match motor.drive {
            Drive::Speed(speed) => (speed, None),
            Drive::Place(place) => (0.0, Some(place - way)),
        };
        let pressed = pressed(0).clamp(-most, most);
        found.push(Bound { row: Row { target, ..row }, which: 0, range: [-most, most], pressed, way: aim });
    }
    let Some([low, high]) = joint.limits.filter(|_| next > 0.0) else { return found };
    let least = |gap: f64| if gap > 0.0 { -gap / next } else { -RETURN * gap / next };
    let far = if joint.kind == Kind::Revolute { FAR } else { f64::INFINITY };
    let range = [0.0, f64::INFINITY];
    let has_low = is_driven || matches!(joint.kind, Kind::Spring(_));
    if has_low && way - low < far {
        let target = least(way - low);
        found.push(Bound {
            row: Row { target, ..row },
            which: 1,
            range,
            pressed: pressed(1).max(0.0),
            way: None,
        });
    }
    if high - way < far {
        let jacobian =
            jacobian.map(|j| crate::solid::rigid::Velocity { linear: -j.linear, angular: -j.angular });
        let row = Row { jacobian, target: least(high - way), ..row };
        found.push(Bound { row, which: 2, range, pressed: pressed(2).max(0.0), way: None });
    }
    found
}

/// Share of what a motor can brake with that its speed is chosen for: forces that it does not know act as well.
const BRAKES: f64 = 0.5;
/// The most that such a motor turns in a substep, rad: whole turns must be counted.
const TURN: f64 = 0.5;

impl Bound {
    /// Chooses the speed of a motor that is to be somewhere: as fast as it can still brake from. `light`: speed by
    /// impulse.
    pub fn aim(&mut self, light: f64, (kick, next): (f64, f64)) {
        let Some(way) = self.way else { return };
        if !(kick > 0.0 && next > 0.0) {
            return;
        }
        let brakes = BRAKES * self.range[1] / kick * light;
        let fastest = if brakes.is_finite() { (2.0 * brakes * way.abs()).sqrt() } else { f64::INFINITY };
        let turns = self.row.jacobian[1].linear == DVec3::ZERO;
        let most = if turns { way.abs().min(TURN) } else { way.abs() };
        self.row.target = (most / next).min(fastest).copysign(way);
    }
}
