//! What the rigid solver refuses: bodies that start where they cannot be, and motions that are no longer numbers.

use super::{AT, COLLIDERS, DYNAMICS_OF_AFFECTORS, JOINTS, PARAMS, RigidSolver, names};
use crate::exchange::{Exchange, joints, rigid};
use crate::nodes::box_params::{self, BoxParams};
use meniscus_abi::Level;
use meniscus_abi::guest::{Call, Failure, Outcome};
use meniscus_core::fluid::transport::travel::MOST_SPEED;
use meniscus_core::number::roughly;
use meniscus_core::solid::rigid::{Body, Velocity, longest_step, overlap, overlap_with_solids};
use meniscus_core::solid::{DomainLimits, Side};

/// The fastest spin that is followed, rad/s.
const MOST_SPIN: f64 = 1e7;

impl RigidSolver {
    /// Refuses new bodies that start in others, in solids or outside the box. Those that are there already may have come to lie
    /// deeper than they could have started.
    pub(super) fn init(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        let bodies = rigid::read(call, AT, &mut self.shapes)?;
        let domain = box_params::read(call, BoxParams::of(PARAMS))?;
        let [colliders, _] = self.exchange.colliders(call, COLLIDERS, DYNAMICS_OF_AFFECTORS, None)?;
        let named = |body: &Body| named(call, &bodies, body);
        let object = call.object_name();
        let is_new = |b: &Body| object.is_none_or(|name| call.item_name(AT.rigid, b.key[0] as u32) == name);
        if let Some(body) = bodies.iter().find(|b| b.led.is_none() && is_new(b) && !inside(&domain, b)) {
            let sentence = format!(
                "{} starts outside of the box of limit_center and limit_size, or across a closed side of it: move it in, or make the box larger",
                named(body)
            );
            return Err(Failure::input(AT.rigid, sentence));
        }
        let joints = joints::read(call, JOINTS, &names(call)?.objects, &bodies)?;
        if let Some((a, b, depth)) = overlap(&bodies, &joints.all, is_new) {
            let sentence = format!(
                "{} and {} overlap by {} m at the start: move them apart",
                named(&bodies[a]),
                named(&bodies[b]),
                roughly(depth)
            );
            return Err(Failure::input(AT.rigid, sentence));
        }
        if let Some((body, collider, depth)) = overlap_with_solids(&bodies, &colliders, is_new) {
            let names = Exchange::collider_names(call, COLLIDERS)?;
            let sentence = format!(
                "{} starts {} m deep in `{}`: move it out",
                named(&bodies[body]),
                roughly(depth),
                names.get(collider).map_or("", String::as_str)
            );
            return Err(Failure::input(AT.rigid, sentence));
        }
        Ok(Outcome::Done)
    }
}

/// What a sentence calls a body.
fn named(call: &Call, bodies: &[Body], body: &Body) -> String {
    let alone = bodies.iter().filter(|b| b.key[0] == body.key[0]).count() == 1;
    let name = call.item_name(AT.rigid, body.key[0] as u32);
    if alone { format!("`{name}`") } else { format!("body {} of `{name}`", body.key[1]) }
}

/// Says, once, which body's middle has come to lie beyond a closed side of the box. A wall alone lets none through.
pub(super) fn tell_if_beyond(call: &Call, domain: &DomainLimits, bodies: &[Body], told: &mut bool) {
    let wall = |b: &Body| domain.nearest_wall(b.pose.position).filter(|(distance, _)| *distance < 0.0);
    let beyond = bodies.iter().filter(|b| b.led.is_none()).find_map(|b| Some((b, wall(b)?)));
    let Some((body, (distance, side))) = beyond.filter(|_| !*told) else { return };
    *told = true;
    let sentence = format!(
        "{} lies {} m beyond {}, which is closed: look for a solid that begins over it, or for what presses or throws it through",
        named(call, bodies, body),
        roughly(-distance),
        box_params::SIDE_NAMES[side]
    );
    call.log(Level::WARNING, &sentence);
}

/// Overlap, by the smallest body's radius, of which somebody is told.
const DEEP: f64 = 0.5;

/// Says, once, that a body is so deep in something that nothing brings it out: two things are where only one can be.
pub(super) fn tell_if_deep(call: &Call, bodies: &[Body], overlap: f64, told: &mut bool) {
    let free = bodies.iter().filter(|b| b.led.is_none());
    let smallest = free.map(|b| b.shape.radius()).fold(f64::INFINITY, f64::min);
    if *told || overlap <= DEEP * smallest {
        return;
    }
    *told = true;
    let sentence = format!(
        "a body is {} m deep in another, in a solid or in a closed side: look for a solid that begins over it, or for what presses it",
        roughly(overlap)
    );
    call.log(Level::WARNING, &sentence);
}

/// How many times longer a substep is than bodies should take when somebody is told.
const LONG: f64 = 20.0;

/// Says, once, that a substep is far too long for what bodies do in it under an `acceleration`, m/s².
pub(super) fn tell_if_long(call: &Call, bodies: &[Body], acceleration: f64, told: &mut bool) {
    let most = longest_step(bodies, &[], acceleration);
    if *told || call.dt_next() <= LONG * most {
        return;
    }
    *told = true;
    let sentence = format!(
        "a substep of {} s is {} times longer than bodies so fast can be followed in: raise fps or substeps.max, or look at what drives them",
        roughly(call.dt_next()),
        roughly(call.dt_next() / most)
    );
    call.log(Level::WARNING, &sentence);
}

/// Radii that a keyframed body may go in a substep, and angle, rad, that it may turn by, before somebody is told.
const FAR: [f64; 2] = [10.0, 1.5];

/// Says, once, that a keyframed body goes so far in a substep that it meets what lies between, or misses it.
pub(super) fn tell_if_jumps(call: &Call, bodies: &[Body], told: &mut bool) {
    let next = call.dt_next();
    let jumps = |b: &&Body| {
        b.led.as_ref().is_some_and(|led| {
            let Velocity { linear, angular } = led.velocity[1];
            linear.length() * next > FAR[0] * b.shape.radius() || angular.length() * next > FAR[1]
        })
    };
    let Some(body) = bodies.iter().find(jumps).filter(|_| !*told) else { return };
    *told = true;
    let Velocity { linear, angular } = body.led.as_ref().map_or_else(Velocity::default, |l| l.velocity[1]);
    let sentence = format!(
        "{} is keyed to move by {} m and turn by {} degrees in a substep of {} s: it sweeps away what lies between, or passes it; raise fps or substeps.min, or spread its keys",
        named(call, bodies, body),
        roughly(linear.length() * next),
        roughly((angular.length() * next).to_degrees()),
        roughly(next)
    );
    call.log(Level::WARNING, &sentence);
}

/// Share of the bodies' kinetic energy that joints take in a second when somebody is told.
const DAMPED: f64 = 0.05;

/// Says, once, that joints take energy, J, from swings which a substep cannot follow.
pub(super) fn tell_if_damped(call: &Call, bodies: &[Body], damped: f64, told: &mut bool) {
    let all: f64 = bodies.iter().map(Body::kinetic_energy).sum();
    let is_much = damped > DAMPED * call.dt() * (all + damped);
    if *told || !is_much {
        return;
    }
    *told = true;
    let sentence = format!(
        "bodies swing on their joints faster than a substep of {} s can follow, and joints damp that: raise substeps.min if they lose too much of their swing",
        roughly(call.dt())
    );
    call.log(Level::WARNING, &sentence);
}

pub(super) fn check_finite(call: &Call, bodies: &[Body]) -> Result<(), Failure> {
    let is_lost = |b: &&Body| !(b.pose.position.is_finite() && b.momentum.is_finite());
    if let Some(lost) = bodies.iter().find(is_lost) {
        let name = call.item_name(AT.rigid, lost.key[0] as u32);
        let sentence =
            format!("the position of a body of `{name}` is no longer a finite number: use more substeps");
        return Err(Failure::not_finite(AT.rigid, sentence));
    }
    let too_fast = |b: &&Body| {
        let Velocity { linear, angular } = b.speed();
        !(linear.length() <= MOST_SPEED && angular.length() <= MOST_SPIN)
    };
    let Some(fast) = bodies.iter().find(too_fast) else { return Ok(()) };
    let Velocity { linear, angular } = fast.speed();
    let why = match fast.led {
        Some(_) => "look at the keyframes of its input",
        None => "look at its mass, at the forces and joints that act on it, and at what strikes it",
    };
    let sentence = format!(
        "a body of `{}` moves at {} m/s and turns at {} rad/s, which is too fast: {why}",
        call.item_name(AT.rigid, fast.key[0] as u32),
        roughly(linear.length()),
        roughly(angular.length())
    );
    Err(Failure::not_finite(AT.rigid, sentence))
}

/// Whether a body's middle is in the box and the body does not reach through a closed side, its skin left out.
fn inside(domain: &DomainLimits, body: &Body) -> bool {
    let corners = || body.shape.hulls().iter().flatten().map(|c| body.pose.place(*c));
    let slack = 0.01 * body.shape.radius();
    let closed = (0..6).filter(|&s| domain.sides[s] == Side::Closed);
    domain.contains(body.pose.position)
        && closed.into_iter().all(|s| corners().all(|c| domain.side_distance(s, c) >= -slack))
}

/// Whether a body lies beyond a side that removes bodies, all of it.
pub(super) fn gone(domain: &DomainLimits, body: &Body) -> bool {
    let beyond = |s: usize| domain.side_distance(s, body.pose.position) < -body.shape.radius();
    body.led.is_none() && (0..6).any(|s| domain.sides[s] == Side::Kill && beyond(s))
}
