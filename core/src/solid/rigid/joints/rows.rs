//! The rows of joints: what must not change, and how it would.

use super::joint::{Joint, Kind};
use crate::solid::rigid::{Intervals, Pose, Velocity};
use glam::DVec3;

/// A row of J: the speed that a joint forbids, or a spring slows, as a sum over the velocities of its two ends.
#[derive(Clone, Copy, Debug)]
pub(in crate::solid::rigid) struct Row {
    /// Place of the joint in the list.
    pub joint: usize,
    /// The bodies' places in the list; `None`: the world.
    pub ends: [Option<usize>; 2],
    /// Of each end: what its velocity counts, and the impulse and torque that a unit of the row's impulse gives.
    pub jacobian: [Velocity; 2],
    /// Speed by impulse that a spring gives way with, 0 for what is rigid.
    pub soft: f64,
    /// Wanted speed, m/s or rad/s.
    pub target: f64,
    /// It is one of a spring.
    pub is_spring: bool,
}

pub(in crate::solid::rigid) fn dot(a: &Velocity, b: &Velocity) -> f64 {
    a.linear.dot(b.linear) + a.angular.dot(b.angular)
}

/// A speed along a direction at a place.
pub(super) fn along(direction: DVec3, place: DVec3, poses: [Pose; 2]) -> [Velocity; 2] {
    [(-direction, 0), (direction, 1)]
        .map(|(d, n)| Velocity { linear: d, angular: (place - poses[n].position).cross(d) })
}

/// A speed of turning about a direction.
pub(super) fn about(direction: DVec3) -> [Velocity; 2] {
    [-direction, direction].map(|d| Velocity { linear: DVec3::ZERO, angular: d })
}

/// Each row of a joint that holds: what it must keep at 0 (m, rad), and the derivative of that.
///
/// Impulses at both ends act at one place, so that they change no angular momentum.
pub(super) fn rigid(joint: &Joint, poses: [Pose; 2]) -> Vec<(f64, [Velocity; 2])> {
    let [a, b] = joint.placed(poses);
    let gap = b.position - a.position;
    let [x, y, z] = DVec3::AXES.map(|axis| a.orientation * axis);
    let turn = {
        let turn = b.orientation * a.orientation.inverse();
        turn.xyz() * (2.0 * turn.w.signum())
    };
    let middle = 0.5 * (a.position + b.position);
    let points = || DVec3::AXES.map(|n| (gap.dot(n), along(n, middle, poses)));
    let turns = || DVec3::AXES.map(|n| (turn.dot(n), about(n)));
    match joint.kind {
        Kind::Fixed => points().into_iter().chain(turns()).collect(),
        Kind::Ball => points().to_vec(),
        Kind::Revolute => {
            let tilt = x.cross(b.orientation * DVec3::X);
            points().into_iter().chain([y, z].map(|n| (tilt.dot(n), about(n)))).collect()
        }
        Kind::Prismatic => {
            let across = [y, z].map(|n| (gap.dot(n), along(n, b.position, poses)));
            across.into_iter().chain(turns()).collect()
        }
        Kind::Spring(_) => Vec::new(),
    }
}

/// The derivative of what a joint leaves free, [`Joint::way`]; `None` where nothing or several things are.
pub(super) fn free(joint: &Joint, poses: [Pose; 2]) -> Option<[Velocity; 2]> {
    let [a, b] = joint.placed(poses);
    let axis = a.orientation * DVec3::X;
    match joint.kind {
        Kind::Revolute => Some(about(axis)),
        Kind::Prismatic => Some(along(axis, b.position, poses)),
        Kind::Spring(_) => {
            let apart = (b.position - a.position).try_normalize().unwrap_or(DVec3::X);
            Some(along(apart, b.position, poses))
        }
        Kind::Ball => {
            let tilt = axis.cross(b.orientation * DVec3::X);
            tilt.try_normalize().map(about)
        }
        Kind::Fixed => None,
    }
}

/// The axes about which a joint lets its bodies turn.
pub(super) fn turning(joint: &Joint, poses: [Pose; 2]) -> Vec<DVec3> {
    match joint.kind {
        Kind::Ball => DVec3::AXES.to_vec(),
        Kind::Revolute => vec![joint.placed(poses)[0].orientation * DVec3::X],
        Kind::Fixed | Kind::Prismatic | Kind::Spring(_) => Vec::new(),
    }
}

/// Wanted speed and softness of a spring's row. What it gives over a kick is
///
/// ```text
/// −k (kick g + β next² v⁺ − β drift² v⁻) − c kick v⁺
/// ```
///
/// with g the way where bodies are, v⁻, v⁺ its speeds in the drift before and in the next, and β of each drift from [`follows`].
/// So springs of any stiffness are stable, swing with the period of theory as long as substeps follow them, and hold what pulls at
/// them where theory says; dampers only take energy. `squared`: ω², 1/s², of the fastest swing that springs may give its bodies.
/// `None` where it does nothing.
pub(super) fn spring(
    joint: &Joint,
    (way, before): (f64, f64),
    squared: f64,
    times: &Intervals,
) -> Option<(f64, f64)> {
    let (k, c) = (joint.stiffness, joint.damping);
    let shares = |dt: f64| follows(squared * dt * dt) * dt * dt;
    let gives = k * shares(times.next) + c * times.kick;
    if !(gives > 0.0 && times.kick > 0.0) {
        return None;
    }
    let rest = if matches!(joint.kind, Kind::Spring(_)) { 0.0 } else { joint.rest };
    let drifted = shares(times.drift) * before;
    Some((k * (drifted - times.kick * (way - rest)) / gives, 1.0 / gives))
}

/// (dt ω)² up to which the period is that of theory.
const FOLLOWED: f64 = 1.0;

/// β of Newmark's method [Newmark 1959] for a swing of (dt ω)² = `square`. Up to [`FOLLOWED`] it is the one that gives the exact
/// period [Mickens 1994]: 1/12 for slow ones. From there on it tends to ¼, so that (¼ − β) dt² ω² stays what it was, below 1: stable
/// whatever the stiffness.
fn follows(square: f64) -> f64 {
    let exact = |square: f64| match square < 1e-2 {
        true => 1.0 / 12.0 + square / 240.0,
        false => 0.25 / (0.5 * square.sqrt()).sin().powi(2) - 1.0 / square,
    };
    match square <= FOLLOWED {
        true => exact(square),
        false => 0.25 - (0.25 - exact(FOLLOWED)) * FOLLOWED / square,
    }
}
