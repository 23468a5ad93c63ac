//! What joints give to bodies in the end, when they break, and what puts bodies back that have left them.

use super::bounds::Bound;
use super::joint::Joint;
use super::linkage::{Linkage, ends_of, places};
use crate::solid::rigid::{Body, Intervals, Velocity};
use glam::{DQuat, DVec3};

/// Bodies that joints hold do not sleep.
pub(in crate::solid::rigid) fn stir(bodies: &mut [Body], joints: &[Joint]) {
    if joints.is_empty() {
        return;
    }
    let places = places(bodies);
    for joint in joints {
        for n in ends_of(joint, bodies, &places).into_iter().flatten().flatten() {
            (bodies[n].rest.asleep, bodies[n].rest.still) = (false, 0.0);
        }
    }
}

/// Steps in which bodies are put back, at most, and the most that one turns a body, rad.
const MENDS: usize = 12;
const TURN: f64 = 0.3;

/// Puts bodies back where their joints fit, by the least ways, weighted with their masses, if the drift has left gaps that are not small:
/// of fast turns Newton's method may not find the end. Gives the largest gap before, m.
pub(in crate::solid::rigid) fn mend(bodies: &mut [Body], joints: &[Joint]) -> f64 {
    if joints.is_empty() {
        return 0.0;
    }
    let mut joints = joints.to_vec();
    let times = Intervals { drift: 0.0, kick: 0.0, next: 0.0 };
    let mut before = None;
    for _ in 0..MENDS {
        let (mut linkage, _) = Linkage::gathered(bodies, &mut joints, &times);
        before = before.or(Some(linkage.apart[0]));
        let Some(ways) = linkage.closing(1.0, f64::INFINITY, 1.0) else { break };
        linkage.assemble(bodies);
        let mut moved = vec![Velocity::default(); bodies.len()];
        linkage.add(&linkage.changing(&ways), &mut moved);
        for (body, way) in bodies.iter_mut().zip(moved).filter(|(body, _)| body.is_free()) {
            let turn = way.angular.clamp_length_max(TURN);
            body.pose.position += way.linear;
            body.pose.orientation = (DQuat::from_scaled_axis(turn) * body.pose.orientation).normalize();
        }
    }
    before.unwrap_or(0.0)
}

/// Adds the impulses of motors, stops and joints to those of contacts, `given`, (impulse, angular impulse) of each body.
/// Breaks joints that held too much; the number of them, and the impulses of the joints' rows.
pub(in crate::solid::rigid) fn hold(
    bodies: &[Body],
    joints: &mut [Joint],
    linkage: &Linkage,
    bounds: &[Bound],
    given: &mut [(DVec3, DVec3)],
    kick: f64,
) -> (usize, Vec<f64>) {
    if joints.is_empty() {
        return (0, Vec::new());
    }
    for bound in bounds {
        for (end, j) in bound.row.ends.iter().zip(&bound.row.jacobian) {
            if let Some(n) = *end {
                given[n].0 += j.linear * bound.pressed;
                given[n].1 += j.angular * bound.pressed;
            }
        }
    }
    let freed = |(body, (linear, angular)): (&Body, &(DVec3, DVec3))| {
        let Velocity { linear: v, angular: w } = body.speed();
        match body.is_free() {
            true => Velocity {
                linear: v + *linear / body.shape.mass(),
                angular: w + body.inverse_inertia() * *angular,
            },
            false => Velocity { linear: v, angular: w },
        }
    };
    let velocities: Vec<Velocity> = bodies.iter().zip(given.iter()).map(freed).collect();
    let impulses = linkage.holding(&velocities);
    linkage.wrenches(&impulses, given);
    let mut loads = linkage.loads(&impulses, joints.len());
    let mut pressed = vec![[0.0; 3]; joints.len()];
    for bound in bounds {
        let Bound { row, pressed: impulse, which, .. } = bound;
        pressed[row.joint][*which] = *impulse;
        loads[row.joint].0 += row.jacobian[1].linear * *impulse;
        let turns = row.jacobian[1].linear == DVec3::ZERO;
        loads[row.joint].1 += if turns { row.jacobian[1].angular * *impulse } else { DVec3::ZERO };
    }
    let by = if kick > 0.0 { 1.0 / kick } else { 0.0 };
    let mut broken = 0;
    for ((joint, load), pressed) in joints.iter_mut().zip(loads).zip(pressed) {
        let [force, torque] = [load.0, load.1].map(|v| v.length() * by);
        joint.state.load = [force, torque];
        joint.state.pressed = pressed.map(|p| p * by);
        if !joint.state.broken && (force > joint.breaking[0] || torque > joint.breaking[1]) {
            joint.state.broken = true;
            broken += 1;
        }
    }
    (broken, impulses)
}
