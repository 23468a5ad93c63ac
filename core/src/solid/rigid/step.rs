//! One substep of all bodies.

use super::contact::{Contact, Memory, Other, recall};
use super::detect::{Surroundings, contacts, near};
use super::islands::{settle, wake_by_forces, wake_by_touch};
use super::joints::{Bound, Joint, Linkage, apart, hold, mend, stir};
use super::solve::{Ended, Solve};
use super::{Body, Velocity};
use crate::solid::Collider;
use glam::DVec3;

/// Lengths of time, s; see `fluid::step::Step`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intervals {
    /// Of the substep.
    pub drift: f64,
    /// From the middle of this substep to the middle of the next.
    pub kick: f64,
    /// Of the next substep.
    pub next: f64,
}

/// How contacts are solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Sweeps over all contacts, at most.
    pub sweeps: u32,
    /// Share of an overlap that one substep undoes.
    pub correction: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { sweeps: 200, correction: 0.3 }
    }
}

/// What a substep was like.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// Contacts that press.
    pub contacts: usize,
    /// Sweeps over all contacts.
    pub sweeps: u32,
    /// The largest change of velocity in the last sweep, m/s.
    pub change: f64,
    /// True where the sweeps were used up.
    pub capped: bool,
    /// Deepest overlap, m.
    pub overlap: f64,
    /// The largest gap (m) and the largest turn (rad) by which a joint does not fit.
    pub apart: [f64; 2],
    /// Joints that broke.
    pub broken: usize,
}

/// Share of a kick's velocity to which impulses are found.
const TOLERANCE: f64 = 1e-6;
/// Impacts slower than this many kicks do not bounce.
const BOUNCES: f64 = 2.0;
/// Overlap that is left, by the body's radius.
const SLOP: f64 = 5e-4;
/// Fastest undoing of overlaps, radii per second.
const PUSH: f64 = 4.0;
/// Most that a body may turn in a substep, rad, and move, by its radius.
const REACH: f64 = 0.5;

/// Moves all bodies for a substep, and lets forces act on them. `memory`: the contacts of the last substep, sorted. Gives the
/// largest gap, m, that the drift has left in a joint.
pub fn fly(bodies: &mut [Body], joints: &[Joint], memory: &[Memory], times: &Intervals) -> f64 {
    bodies.iter_mut().for_each(|body| body.drift(times.drift));
    stir(bodies, joints);
    let gap = mend(bodies, joints);
    wake_by_forces(bodies, memory, times.kick);
    for body in bodies.iter_mut() {
        (body.push, body.struck) = Default::default();
        if body.is_free() {
            body.velocity += body.kick.linear;
            body.momentum += body.inertia() * body.kick.angular;
        }
        body.motion[1] = body.coming(times.next);
    }
    gap
}

/// Finds the velocities of the next substep from those that forces, and perhaps a liquid, gave the bodies. `memory`: the
/// contacts of the last substep, sorted; those of this one after the call.
pub fn touch(
    bodies: &mut [Body],
    joints: &mut [Joint],
    memory: &mut Vec<Memory>,
    around: &Surroundings,
    times: &Intervals,
    settings: &Settings,
) -> Report {
    let strangers = apart(joints);
    let mut found = contacts(bodies, around, &strangers, memory, times.next);
    while wake_by_touch(bodies, &found, memory, times.next) {
        found = contacts(bodies, around, &strangers, memory, times.next);
    }
    recall(&mut found, memory, bodies, times.kick);
    let (mut linkage, mut bounds) = Linkage::new(bodies, joints, times);
    let apart = linkage.apart;
    let all = Together { joints, linkage: &mut linkage, bounds: &mut bounds };
    let mut report = impulses(bodies, &mut found, all, times, settings);
    undo_overlaps(bodies, &found, &linkage, times, settings);
    settle(bodies, &found, memory, times.drift, times.kick);
    stir(bodies, joints);
    remember(bodies, &found, memory, times.kick);
    bodies.iter_mut().for_each(|body| body.motion[1] = body.coming(times.next));
    report.apart = apart;
    report
}

/// What joints do in a substep.
struct Together<'a> {
    joints: &'a mut [Joint],
    linkage: &'a mut Linkage,
    bounds: &'a mut [Bound],
}

/// Steps of Newton's method for the joints' places at the end of the next drift, at most.
const NEWTON: usize = 16;
/// Sweeps over all contacts with which they follow each of these steps, at most.
const FOLLOWS: u32 = 10;

/// Finds the impulses of contacts, motors, stops and joints, and gives them to the bodies.
fn impulses(
    bodies: &mut [Body],
    found: &mut [Contact],
    Together { joints, linkage, bounds }: Together,
    times: &Intervals,
    settings: &Settings,
) -> Report {
    let mut solve = Solve::new(bodies, found, linkage, bounds);
    let holding = linkage.holding(&solve.velocities());
    solve.join(linkage, &holding);
    let targets: Vec<f64> = found.iter_mut().map(|c| target(&solve, bodies, c, times)).collect();
    bounds.iter_mut().for_each(|bound| bound.aim(solve.light(bound), (times.kick, times.next)));
    solve.start(found, bounds);
    let kicked = bodies.iter().map(|b| b.kick.linear.length()).fold(0.0, f64::max);
    let speed = targets.iter().map(|t| t.abs()).fold(kicked, f64::max).max(1e-6);
    let tolerance = TOLERANCE * speed;
    let Ended { mut sweeps, mut change } = solve.run(found, bounds, &targets, settings.sweeps, tolerance);
    let mut worst = f64::INFINITY;
    for _ in 0..if times.next > 0.0 { NEWTON } else { 0 } {
        let aimed = linkage.aim(bodies, joints, &solve.velocities(), (times.next, worst));
        let Some((more, off)) = aimed else { break };
        worst = off;
        solve.join(linkage, &linkage.changing(&more));
        let ended = solve.run(found, bounds, &targets, FOLLOWS.min(settings.sweeps), tolerance);
        (sweeps, change) = (sweeps + ended.sweeps, ended.change);
    }
    let mut given = vec![(DVec3::ZERO, DVec3::ZERO); bodies.len()];
    for contact in found.iter_mut() {
        let impulse = contact.normal * contact.pressed + contact.rubbed;
        let arm = |n: usize| contact.at - bodies[n].pose.position;
        given[contact.body].0 += impulse;
        given[contact.body].1 += arm(contact.body).cross(impulse);
        if let Other::Body(b) = contact.other {
            given[b].0 -= impulse;
            given[b].1 -= arm(b).cross(impulse);
        }
        if contact.pressed == 0.0 {
            contact.rebound = 0.0;
        }
    }
    let broken = hold(bodies, joints, linkage, bounds, &mut given, times.kick);
    for (body, (linear, angular)) in bodies.iter_mut().zip(given).filter(|(body, _)| body.is_free()) {
        body.velocity += linear / body.shape.mass();
        body.momentum += angular;
        if times.kick > 0.0 {
            body.struck = Velocity {
                linear: linear / body.shape.mass() / times.kick,
                angular: body.inverse_inertia() * angular / times.kick,
            };
        }
    }
    Report {
        contacts: found.iter().filter(|c| c.pressed > 0.0).count(),
        sweeps,
        change,
        capped: sweeps >= settings.sweeps && change > tolerance,
        overlap: found.iter().map(|c| -c.gap).fold(0.0, f64::max),
        apart: [0.0; 2],
        broken,
    }
}

/// The least speed at which a contact must part, m/s, so that it does not overlap after the drift that comes. Where the
/// two meet in that drift and bounce, it is their mean speed over it; they part at `rebound` afterwards.
fn target(solve: &Solve, bodies: &[Body], contact: &mut Contact, times: &Intervals) -> f64 {
    let gap = contact.gap.max(0.0);
    let held = if times.next > 0.0 { -gap / times.next } else { 0.0 };
    let approach = -solve.relative(contact).dot(contact.normal);
    let kick = |n: usize| {
        bodies[n].kick.linear.length() + bodies[n].kick.angular.length() * bodies[n].shape.radius()
    };
    let kicked = kick(contact.body) + if let Other::Body(b) = contact.other { kick(b) } else { 0.0 };
    contact.rebound = 0.0;
    if contact.parting > 0.0 {
        return contact.parting.max(held);
    }
    let met = approach * times.next > gap && approach > BOUNCES * kicked;
    if contact.restitution > 0.0 && met && times.next > 0.0 {
        contact.rebound = contact.restitution * approach;
        return (contact.restitution * (approach * times.next - gap) - gap) / times.next;
    }
    held
}

/// Finds the velocities by which the next drift undoes a share of the overlaps and of the gaps of joints, and makes none.
fn undo_overlaps(
    bodies: &mut [Body],
    found: &[Contact],
    linkage: &Linkage,
    times: &Intervals,
    settings: &Settings,
) {
    let slop = |c: &Contact| SLOP * bodies[c.body].shape.radius();
    if times.next <= 0.0 {
        return;
    }
    let closing = linkage.closing(settings.correction, PUSH, times.next);
    if closing.is_none() && !found.iter().any(|c| c.gap < -slop(c)) {
        return;
    }
    let after = Solve::new(bodies, found, linkage, &[]);
    let targets: Vec<f64> = found
        .iter()
        .map(|c| {
            let left = c.gap + after.relative(c).dot(c.normal) * times.next;
            let deep = (-left - slop(c)).max(0.0) * settings.correction;
            let most = PUSH * bodies[c.body].shape.radius();
            if left > 0.0 { -left / times.next } else { (deep / times.next).min(most) }
        })
        .collect();
    let mut contacts: Vec<Contact> = found
        .iter()
        .map(|c| Contact { pressed: 0.0, rubbed: DVec3::ZERO, friction: 0.0, solid: DVec3::ZERO, ..*c })
        .collect();
    let mut solve = after.at_rest();
    if let Some(speeds) = closing {
        solve.join(linkage, &linkage.changing(&speeds));
    }
    solve.run(&mut contacts, &mut [], &targets, settings.sweeps, 1e-4 * SLOP);
    for (body, push) in bodies.iter_mut().zip(solve.velocities()).filter(|(body, _)| body.is_free()) {
        body.push = push;
    }
}

/// Writes down the contacts for the next substep; those between sleeping bodies stay as they were.
fn remember(bodies: &[Body], found: &[Contact], memory: &mut Vec<Memory>, kick: f64) {
    let mut asleep: Vec<_> = bodies.iter().filter(|b| b.rest.asleep).map(|b| b.key).collect();
    asleep.sort_unstable();
    let sleeps = |key: &[i64; 2]| key[0] < 0 || asleep.binary_search(key).is_ok();
    memory.retain(|m| m.between.iter().all(sleeps));
    let mut kept: Vec<_> = memory.iter().map(|m| m.between).collect();
    kept.dedup();
    let new = found.iter().filter(|c| c.pressed > 0.0 || c.rebound > 0.0);
    let new: Vec<Memory> = new.map(|c| Memory::of(c, bodies, kick)).collect();
    memory.extend(new.into_iter().filter(|m| kept.binary_search(&m.between).is_err()));
    memory.sort_by_key(|m| m.between);
}

/// Share of the band of a collider's signed distance that a body may cross in a substep.
const BAND: f64 = 0.6;

/// The longest substep, s, that bodies should take, where forces accelerate them by so much, m/s². Beside colliders, a body
/// stays in the band where their distances are known.
pub fn longest_step(bodies: &[Body], colliders: &[Collider], acceleration: f64) -> f64 {
    let of = |body: &Body| {
        if body.rest.asleep || body.led.is_some() {
            return f64::INFINITY;
        }
        let (v, radius) = (body.speed(), body.shape.radius());
        let far = colliders.iter().filter(|c| near(body, c, 2.0 * REACH * radius));
        let far = far.fold(2.0 * REACH * radius, |far, c| far.min(BAND * f64::from(c.sdf().grid.background)));
        let speed = v.linear.length();
        // The time in which it moves that far, if forces go on.
        let along = 2.0 * far / (speed + (speed * speed + 2.0 * acceleration * far).sqrt());
        let around = REACH.min(far / radius) / v.angular.length();
        along.min(around)
    };
    bodies.iter().map(of).fold(f64::INFINITY, f64::min)
}
