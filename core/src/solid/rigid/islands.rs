//! Which bodies rest together.

use super::Body;
use super::contact::{COLLIDER, Contact, GONE, Memory, Other, WALL};
use super::detect::Surroundings;
use crate::solid::{Collider, Motion, Side};
use crate::union_find::DisjointSets;
use glam::DVec3;

/// Time, s, for which bodies must have been still before they fall asleep.
const STILL: f64 = 0.5;
/// Speed below which a body is still, by what gravity would give it in a tenth of a second.
const SLOW: f64 = 0.01;
/// Relative change of a force that wakes.
const CHANGED: f64 = 1e-3;
/// Overlap, by the body's radius, in which nothing falls asleep.
const DEEP: f64 = 0.02;

/// Wakes sleeping bodies whose support has gone or is carried along, or on which forces have changed. Bodies asleep are not
/// kicked.
pub(super) fn wake_by_forces(bodies: &mut [Body], memory: &[Memory]) {
    let mut there: Vec<_> = bodies.iter().map(|b| (b.key, b.carries())).collect();
    there.sort_unstable();
    let holds = |key: &[i64; 2]| match there.binary_search_by_key(key, |t| t.0) {
        Ok(n) => !there[n].1,
        Err(_) => key[0] < 0 && key[0] != GONE,
    };
    wake_those(bodies, memory, holds);
    for body in bodies.iter_mut().filter(|b| b.rest.asleep) {
        let pull = if body.kicked > 0.0 { body.kick.linear / body.kicked } else { body.rest.pull };
        let changed = (pull - body.rest.pull).length() > CHANGED * (pull.length() + body.rest.pull.length());
        if changed || body.led.is_some() {
            wake(body);
        }
    }
}

/// Wakes sleeping bodies on solids that move, and at sides that have moved.
pub(super) fn wake_by_solids(bodies: &mut [Body], around: &Surroundings, memory: &[Memory]) {
    let is_still = |c: &Collider| !matches!(c.motion(), Motion::Rigid { .. }) || c.motion().is_still();
    let holds = |key: &[i64; 2]| {
        let at = |colliders: &[Collider]| {
            usize::try_from(key[1]).ok().and_then(|n| colliders.get(n)).map(is_still)
        };
        key[0] != COLLIDER || around.colliders.iter().all(|colliders| at(colliders) == Some(true))
    };
    wake_those(bodies, memory, holds);
    let mut places: Vec<_> = bodies.iter().enumerate().map(|(n, b)| (b.key, n)).collect();
    places.sort_unstable();
    for m in memory.iter().filter(|m| m.between[1][0] == WALL && m.pressed > 0.0) {
        let Ok(at) = places.binary_search_by_key(&m.between[0], |place| place.0) else { continue };
        let body = &mut bodies[places[at].1];
        let side =
            usize::try_from(m.between[1][1]).ok().filter(|&side| around.domain.sides[side] == Side::Closed);
        let gap = side.map(|side| around.domain.side_distance(side, body.pose.place(m.at)) - body.keeps());
        // Nothing falls asleep farther off, or deeper.
        let holds = gap.is_some_and(|gap| gap.abs() <= DEEP * body.shape.radius());
        if body.rest.asleep && !holds {
            wake(body);
        }
    }
}

/// Wakes sleeping bodies that touch what does not hold them any longer.
fn wake_those(bodies: &mut [Body], memory: &[Memory], holds: impl Fn(&[i64; 2]) -> bool) {
    let mut lonely: Vec<_> =
        memory.iter().filter(|m| !m.between.iter().all(&holds)).flat_map(|m| m.between).collect();
    lonely.sort_unstable();
    let is_lonely = |b: &&mut Body| b.rest.asleep && lonely.binary_search(&b.key).is_ok();
    bodies.iter_mut().filter(is_lonely).for_each(wake);
}

pub(super) fn wake(body: &mut Body) {
    body.rest.asleep = false;
    body.rest.still = 0.0;
}

/// Whether a contact is closed, or will be within `next` seconds.
fn closes(bodies: &[Body], contact: &Contact, next: f64) -> bool {
    let speed = |n: usize| {
        let v = bodies[n].speed();
        v.linear + v.angular.cross(contact.at - bodies[n].pose.position)
    };
    let other = match contact.other {
        Other::Body(b) => speed(b),
        Other::Solid(_) => contact.solid,
    };
    let approach = (other - speed(contact.body)).dot(contact.normal);
    contact.gap <= (0.01 * bodies[contact.body].shape.radius()).max(approach * next)
}

/// Wakes what is touched by something that moves, or will be within `next` seconds. True if anything woke: contacts must be
/// found anew.
pub(super) fn wake_by_touch(bodies: &mut [Body], contacts: &[Contact], memory: &[Memory], next: f64) -> bool {
    let mut woken = false;
    let mut islands = islands(bodies, contacts, memory);
    let mut stirred = vec![false; bodies.len()];
    for contact in contacts.iter().filter(|c| closes(bodies, c, next)) {
        let (a, b) = (contact.body, contact.other);
        match b {
            Other::Body(b) => {
                let stirs = |n: usize, by: usize| bodies[n].rest.asleep && moves(&bodies[by]);
                if stirs(a, b) || stirs(b, a) {
                    let n = if bodies[a].rest.asleep { a } else { b };
                    stirred[islands.find(n)] = true;
                }
            }
            Other::Solid(_) => {
                if bodies[a].rest.asleep && contact.solid.length() > 0.0 {
                    stirred[islands.find(a)] = true;
                }
            }
        }
    }
    for n in 0..bodies.len() {
        if bodies[n].rest.asleep && stirred[islands.find(n)] {
            wake(&mut bodies[n]);
            woken = true;
        }
    }
    woken
}

/// The sleeping bodies that would be touched, as others are `moving`.
pub(super) fn stirs(mut moving: Vec<Body>, contacts: &[Contact], memory: &[Memory], next: f64) -> Vec<usize> {
    let sleeps = |body: &Body| body.rest.asleep;
    let slept: Vec<bool> = moving.iter().map(sleeps).collect();
    wake_by_touch(&mut moving, contacts, memory, next);
    (0..slept.len()).filter(|&n| slept[n] && !sleeps(&moving[n])).collect()
}

/// Whether a body is awake and free, or is led somewhere.
fn moves(body: &Body) -> bool {
    let v = body.speed();
    match body.led {
        Some(_) => v.linear.length() + v.angular.length() > 0.0,
        None => !body.rest.asleep,
    }
}

/// Counts the time for which bodies have been still, and lets those that rest together fall asleep.
pub(super) fn settle(bodies: &mut [Body], contacts: &[Contact], memory: &[Memory], drift: f64) {
    let mut islands = islands(bodies, contacts, memory);
    let mut stirred = vec![false; bodies.len()];
    for contact in contacts {
        let carried = match contact.other {
            Other::Body(b) => bodies[b].carries() || bodies[contact.body].carries(),
            Other::Solid(_) => contact.solid != DVec3::ZERO,
        };
        let stirs =
            contact.gap < -DEEP * bodies[contact.body].shape.radius() || (carried && contact.pressed > 0.0);
        contact.ends().into_iter().flatten().for_each(|(n, ..)| stirred[n] |= stirs);
    }
    for (body, stirred) in bodies.iter_mut().zip(stirred).filter(|(b, _)| b.is_free()) {
        let v = body.speed();
        let pull = if body.kicked > 0.0 { body.kick.linear.length() / body.kicked } else { 0.0 };
        let fast = v.linear.length().max(v.angular.length() * body.shape.radius());
        let still = body.may_sleep && !stirred && fast < SLOW * 0.1 * pull.max(0.1);
        body.rest.still = if still { body.rest.still + drift } else { 0.0 };
    }
    let mut least = vec![f64::INFINITY; bodies.len()];
    for n in 0..bodies.len() {
        let r = islands.find(n);
        if bodies[n].is_free() {
            least[r] = least[r].min(bodies[n].rest.still);
        }
    }
    // In free fall, nothing rests.
    let mut held = vec![false; bodies.len()];
    for contact in contacts.iter().filter(|c| c.pressed > 0.0) {
        contact.ends().into_iter().flatten().for_each(|(n, ..)| held[n] = true);
    }
    for n in 0..bodies.len() {
        let still = least[islands.find(n)];
        let body = &mut bodies[n];
        if body.is_free()
            && still >= STILL
            && still.is_finite()
            && (held[n] || body.kick.linear.length() == 0.0)
        {
            body.rest.asleep = true;
            body.rest.pull = if body.kicked > 0.0 { body.kick.linear / body.kicked } else { body.rest.pull };
            body.velocity = DVec3::ZERO;
            body.momentum = DVec3::ZERO;
            body.push = Default::default();
        }
    }
}

/// The islands: bodies that touch. What is led by keyframes joins nothing.
fn islands(bodies: &[Body], contacts: &[Contact], memory: &[Memory]) -> DisjointSets {
    let mut islands = DisjointSets::new(bodies.len());
    let mut join = |a: usize, b: usize| {
        if bodies[a].led.is_none() && bodies[b].led.is_none() {
            islands.union(a, b);
        }
    };
    for contact in contacts {
        if let Other::Body(b) = contact.other
            && contact.gap <= 0.01 * bodies[contact.body].shape.radius()
        {
            join(contact.body, b);
        }
    }
    let mut place: Vec<usize> = (0..bodies.len()).collect();
    place.sort_by_key(|&n| bodies[n].key);
    let of = |key: &[i64; 2]| place.binary_search_by_key(key, |&n| bodies[n].key).ok().map(|i| place[i]);
    for m in memory {
        if let (Some(a), Some(b)) = (of(&m.between[0]), of(&m.between[1]))
            && bodies[a].rest.asleep
            && bodies[b].rest.asleep
        {
            join(a, b);
        }
    }
    islands
}
