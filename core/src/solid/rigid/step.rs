//! One substep of all bodies.

use super::bounce::{before_bounces, held, lifts, meeting, target};
use super::contact::{Contact, Memory, recall};
use super::detect::{Surroundings, away, contacts, near, new_ones, speeding};
use super::islands::{settle, stirs, wake, wake_by_forces, wake_by_solids, wake_by_touch};
use super::joints::{Bound, Joint, Linkage, apart, hold, mend, stir};
use super::solve::{Ended, Solve, TOLERANCE, Until};
use super::ties::{Tie, ties};
use super::turning::look_ahead;
use super::{Body, Intervals, Key, Velocity};
use crate::interrupt::Interrupt;
use crate::solid::Collider;
use glam::DVec3;

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
    /// By how much, m/s, the contacts still change in the end: the last sweep's largest change, or what Newton's method left.
    pub change: f64,
    /// Deepest overlap, m.
    pub overlap: f64,
    /// The largest gap (m) and the largest turn (rad) by which a joint does not fit.
    pub apart: [f64; 2],
    /// Joints that broke.
    pub broken: usize,
    /// Energy, J, that joints took from swings that are too fast for the substep.
    pub damped: f64,
}

/// Overlap that is left, by the body's radius.
const SLOP: f64 = 5e-4;
/// Fastest undoing of overlaps, radii per second.
const PUSH: f64 = 4.0;
/// What undoes overlaps gives way by this share of what an impulse does: two presses that meet do not squirt out what is between them.
const SOFT: f64 = 0.01;
/// Most that a body may turn in a substep, rad, and move, by its radius.
const REACH: f64 = 0.5;

/// Moves all bodies for a substep, and lets forces act on them. `memory`: the contacts of the last substep, sorted. Gives the
/// largest gap, m, that the drift has left in a joint.
pub fn fly(bodies: &mut [Body], joints: &[Joint], memory: &[Memory], times: &Intervals) -> f64 {
    wake_by_forces(bodies, memory);
    bodies.iter_mut().for_each(|body| body.drift(times.drift));
    stir(bodies, joints);
    let gap = mend(bodies, joints);
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

/// Finds the velocities of the next substep from those that forces, and perhaps a liquid, gave the bodies, and the rows of contacts
/// and joints, for those who solve for more than the bodies. `memory`: the contacts of the last substep, sorted; those of this one
/// after the call. A caller whose interrupt has asked to stop drops the result.
pub fn meet(
    bodies: &mut [Body],
    joints: &mut [Joint],
    memory: &mut Vec<Memory>,
    around: &Surroundings,
    times: &Intervals,
    settings: &Settings,
) -> (Report, Vec<Tie>) {
    wake_by_solids(bodies, around, memory);
    let strangers = apart(joints);
    let (mut found, linkage, mut report, ties) = loop {
        let mut found = contacts(bodies, around, &strangers, times.next);
        while !around.interrupt.asked() && wake_by_touch(bodies, &found, memory, times.next) {
            found = contacts(bodies, around, &strangers, times.next);
        }
        recall(&mut found, memory, bodies);
        let (mut linkage, mut bounds) = Linkage::new(bodies, joints, times);
        let all = Together { joints, linkage: &mut linkage, bounds: &mut bounds };
        let near = Near { around, strangers: &strangers, memory };
        match impulses(bodies, &mut found, all, times, (settings, near)) {
            Ok((report, ties)) => break (found, linkage, report, ties),
            Err(woken) => woken.into_iter().for_each(|n| wake(&mut bodies[n])),
        }
    };
    let apart = linkage.apart;
    undo_overlaps(bodies, &mut found, &linkage, times, (settings, around.interrupt));
    bodies.iter_mut().for_each(|body| body.limit_push(times.next));
    settle(bodies, &found, memory, times.drift);
    stir(bodies, joints);
    remember(bodies, &found, memory);
    bodies.iter_mut().for_each(|body| body.motion[1] = body.coming(times.next));
    report.apart = apart;
    (report, ties)
}

/// What joints do in a substep.
struct Together<'a> {
    joints: &'a mut [Joint],
    linkage: &'a mut Linkage,
    bounds: &'a mut [Bound],
}

/// Steps of Newton's method for the joints' places at the end of the next drift, at most.
const NEWTON: usize = 16;
/// Times that contacts are looked for anew where an impact has made bodies faster, at most.
const WAVES: usize = 4;
/// Times that contacts are placed anew where bodies turn otherwise than was thought, at most.
const TURNINGS: usize = 4;
/// Sweeps over all contacts with which they follow each of these steps, at most.
const FOLLOWS: u32 = 10;

/// What bodies may meet.
struct Near<'a> {
    around: &'a Surroundings<'a>,
    /// Pairs that do not.
    strangers: &'a [[Key; 2]],
    /// Contacts of the last substep.
    memory: &'a [Memory],
}

/// Finds the impulses of contacts, motors, stops and joints, and gives them to the bodies. Gives their rows; or, with nothing
/// done, the sleeping bodies that an impact brings others to, which must take part.
fn impulses(
    bodies: &mut [Body],
    found: &mut Vec<Contact>,
    Together { joints, linkage, bounds }: Together,
    times: &Intervals,
    (settings, near): (&Settings, Near),
) -> Result<(Report, Vec<Tie>), Vec<usize>> {
    let interrupt = near.around.interrupt;
    let nearing = |body: &Body| body.nearing.filter(|_| body.is_free() && !body.rest.asleep);
    let mut before = Solve::new(bodies, found, linkage, bounds);
    let holding = linkage.holding(&before.velocities());
    let known =
        before.velocities().into_iter().zip(bodies.iter()).map(|(now, body)| nearing(body).unwrap_or(now));
    let known: Vec<Velocity> = known.collect();
    // A liquid may have slowed a body before it bounces: what it came with counts, too.
    let mut energies = before.energies();
    before = before.moving(known.into_iter());
    energies.iter_mut().zip(before.energies()).for_each(|(had, comes_with)| *had = had.max(comes_with));
    before.join(linkage, &linkage.holding(&before.velocities()));
    look_ahead(bodies, found, &before.velocities(), (times.next, 0.0));
    let until =
        Until { most: settings.sweeps, tolerance: TOLERANCE, soft: 0.0, energy_before: None, interrupt };
    let lifts = lifts(bodies, found, linkage, &before, (times.next, until));
    before = before.gaining(&lifts);
    let meets = meeting(bodies, found, linkage, &before, (times.next, until));
    let aim = |(c, meets): (&mut Contact, &bool)| target((&before, &lifts), bodies, c, times.next, *meets);
    let mut targets: Vec<f64> = found.iter_mut().zip(&meets).map(aim).collect();
    bounds.iter_mut().for_each(|bound| bound.aim(before.light(bound), (times.kick, times.next)));
    let kicked = bodies.iter().map(|b| b.kick.linear.length()).fold(0.0, f64::max);
    let known = targets.iter().filter(|t| t.is_finite());
    let speed = known.map(|t| t.abs()).fold(kicked, f64::max).max(1e-6);
    let tolerance = TOLERANCE * speed;
    let until = |most| Until { most, tolerance, soft: 0.0, energy_before: Some(&energies), interrupt };
    let most = until(settings.sweeps);
    // Impulses act where bodies will meet.
    let (mut solve, Ended { mut sweeps, mut change }) =
        solved(bodies, (found, bounds), (linkage, &holding), &mut targets, most);
    for _ in 0..WAVES {
        let Some(moving) = speeding(bodies, &solve.velocities(), times.next) else { break };
        let all = contacts(&moving, near.around, near.strangers, times.next);
        let woken = stirs(moving, &all, near.memory, times.next);
        if !woken.is_empty() && !interrupt.asked() {
            return Err(woken);
        }
        let mut more = new_ones(all, found);
        if more.is_empty() {
            break;
        }
        look_ahead(bodies, &mut more, &solve.velocities(), (times.next, 0.0));
        // None of them would have been met without the impact: they do not bounce in this drift.
        targets.extend(more.iter_mut().map(|c| target((&before, &lifts), bodies, c, times.next, false)));
        found.append(&mut more);
        let ended;
        (solve, ended) = solved(bodies, (found, bounds), (linkage, &holding), &mut targets, most);
        (sweeps, change) = (sweeps + ended.sweeps, ended.change);
    }
    for _ in 0..TURNINGS {
        if !look_ahead(bodies, found, &solve.velocities(), (times.next, SLOP)) {
            break;
        }
        found
            .iter()
            .zip(&mut targets)
            .filter(|(c, t)| c.late.is_none() && t.is_finite())
            .for_each(|(c, t)| *t = held(c, times.next));
        let ended;
        (solve, ended) = solved(bodies, (found, bounds), (linkage, &holding), &mut targets, most);
        (sweeps, change) = (sweeps + ended.sweeps, ended.change);
    }
    let mut worst = f64::INFINITY;
    for _ in 0..if times.next > 0.0 { NEWTON } else { 0 } {
        let aimed = linkage.aim(bodies, joints, &solve.velocities(), (times.next, worst));
        let Some((more, off)) = aimed.filter(|_| !interrupt.asked()) else { break };
        worst = off;
        solve.join(linkage, &linkage.changing(&more));
        let ended = solve.run(found, bounds, &mut targets, until(FOLLOWS.min(settings.sweeps)));
        (sweeps, change) = (sweeps + ended.sweeps, ended.change);
    }
    let waits = |found: &[Contact], targets: &[f64]| {
        let (mut found, mut bounds, mut targets) = (found.to_vec(), bounds.to_vec(), targets.to_vec());
        solved(bodies, (&mut found, &mut bounds), (linkage, &holding), &mut targets, most).0.velocities()
    };
    let back = before_bounces(bodies, (&*found, &targets), (&solve, waits), times.next);
    let mut given = given(bodies, found);
    let (broken, held) = hold(bodies, joints, linkage, bounds, &mut given, times.kick);
    let ties = ties(bodies, (&*found, &targets), (&*linkage, &held), &*bounds);
    take(bodies, &given, &back);
    let report = Report {
        contacts: found.iter().filter(|c| c.pressed > 0.0).count(),
        sweeps,
        change,
        overlap: found.iter().map(|c| -c.gap).fold(0.0, f64::max),
        apart: [0.0; 2],
        broken,
        damped: linkage.damped(bodies, &held),
    };
    Ok((report, ties))
}

/// Solves for contacts, motors and stops from the impulses that they have. `holding`: the impulses with which joints hold bodies
/// that nothing touches.
fn solved(
    bodies: &[Body],
    (found, bounds): (&mut [Contact], &mut [Bound]),
    (linkage, holding): (&Linkage, &[f64]),
    targets: &mut [f64],
    until: Until,
) -> (Solve, Ended) {
    let mut solve = Solve::new(bodies, found, linkage, bounds);
    solve.join(linkage, holding);
    solve.start(found, bounds);
    let ended = solve.run(found, bounds, targets, until);
    (solve, ended)
}

/// Impulses and angular impulses, per body.
type Impulses = Vec<(DVec3, DVec3)>;

/// What contacts give each body.
fn given(bodies: &[Body], found: &[Contact]) -> Impulses {
    let mut given = vec![(DVec3::ZERO, DVec3::ZERO); bodies.len()];
    for contact in found {
        for (n, at, sign) in contact.ends().into_iter().flatten() {
            let impulse = contact.impulse() * sign;
            let turn = (at - bodies[n].pose.position).cross(impulse);
            given[n] = (given[n].0 + impulse, given[n].1 + turn);
        }
    }
    given
}

/// Gives bodies their impulses. `back`: what is taken back of their ways in the next drift, as velocity.
fn take(bodies: &mut [Body], given: &Impulses, back: &[Velocity]) {
    for ((body, given), back) in
        bodies.iter_mut().zip(given).zip(back).filter(|((body, _), _)| body.is_free())
    {
        let (mass, inverse) = (body.shape.mass(), body.inverse_inertia());
        if body.kicked > 0.0 {
            body.struck =
                Velocity { linear: given.0 / mass / body.kicked, angular: inverse * given.1 / body.kicked };
        }
        body.push = *back;
        body.velocity += given.0 / mass;
        body.momentum += given.1;
    }
}

/// Finds the velocities by which the next drift undoes a share of the overlaps and of the gaps of joints, and makes none.
fn undo_overlaps(
    bodies: &mut [Body],
    found: &mut [Contact],
    linkage: &Linkage,
    times: &Intervals,
    (settings, interrupt): (&Settings, Interrupt),
) {
    let slop = |c: &Contact| SLOP * bodies[c.body].shape.radius();
    if times.next <= 0.0 {
        return;
    }
    let closing = linkage.closing(settings.correction, PUSH, times.next);
    let speeds: Vec<Velocity> = bodies.iter().map(Body::speed).collect();
    look_ahead(bodies, found, &speeds, (times.next, 0.0));
    let after = Solve::new(bodies, found, linkage, &[]);
    let left = |c: &Contact| c.gap + c.bend + after.relative(c).dot(c.normal) * times.next;
    let deep = |c: &Contact| c.gap < -slop(c) || c.restitution > 0.0 || left(c) < -slop(c);
    if closing.is_none() && !found.iter().any(deep) {
        return;
    }
    let mut targets: Vec<f64> = found
        .iter()
        .map(|c| {
            let left = left(c);
            // All of what would come, and a share of what is there.
            let there = (-left).min((-c.gap).max(0.0));
            let come = (-left - there).max(0.0);
            let deep = come + (there - slop(c)).max(0.0) * settings.correction;
            let most = PUSH * bodies[c.body].shape.radius();
            if left > 0.0 { -left / times.next } else { (deep / times.next).min(most.max(come / times.next)) }
        })
        .collect();
    let mut contacts: Vec<Contact> = found
        .iter()
        .map(|c| Contact { pressed: 0.0, rubbed: DVec3::ZERO, friction: 0.0, solid: DVec3::ZERO, ..*c })
        .collect();
    let mut solve = after.moving(bodies.iter().map(|body| body.push));
    if let Some(speeds) = closing {
        solve.join(linkage, &linkage.changing(&speeds));
    }
    let until =
        Until { most: settings.sweeps, tolerance: 1e-4 * SLOP, soft: SOFT, energy_before: None, interrupt };
    solve.run(&mut contacts, &mut [], &mut targets, until);
    for (body, push) in bodies.iter_mut().zip(solve.velocities()).filter(|(body, _)| body.is_free()) {
        body.push = push;
    }
}

/// Writes down the contacts for the next substep; those of sleeping bodies stay as they were.
fn remember(bodies: &[Body], found: &[Contact], memory: &mut Vec<Memory>) {
    let mut rests: Vec<_> =
        bodies.iter().filter(|b| b.rest.asleep || b.led.is_some()).map(|b| b.key).collect();
    rests.sort_unstable();
    let rests = |key: &[i64; 2]| key[0] < 0 || rests.binary_search(key).is_ok();
    memory.retain(|m| m.between.iter().all(rests));
    let mut kept: Vec<_> = memory.iter().map(|m| m.between).collect();
    kept.dedup();
    // What bounces is not pressed in the next substep.
    let new = found.iter().filter(|c| c.pressed > 0.0 && c.late.is_none());
    let new: Vec<Memory> = new.map(|c| Memory::of(c, bodies)).collect();
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
        // What comes towards it is not passed either.
        let met = |c: &Collider| {
            let far = away(body.pose.position, radius, c) + BAND * f64::from(c.sdf().grid.background);
            far / (v.linear - c.velocity(body.pose.position)).length()
        };
        let moving = colliders.iter().filter(|c| !c.motion().is_still());
        let along = moving.map(met).fold(along, f64::min);
        let around = REACH.min(far / radius) / v.angular.length();
        along.min(around)
    };
    bodies.iter().map(of).fold(f64::INFINITY, f64::min)
}
