//! Finds where bodies touch each other, colliders and the closed sides of the domain.

use super::contact::{COLLIDER, Contact, Other, WALL};
use super::faces::{Placed, apart, clearest, has_many_corners, ours, touching};
use super::joints::{self, Joint};
use super::shape::Part;
use super::{Body, Key, Pose, Velocity};
use crate::interrupt::Interrupt;
use crate::levelset::SdfSampler;
use crate::solid::{Collider, DomainLimits, Motion, Side};
use glam::{DMat3, DQuat, DVec3};
use parry3d_f64::math::{Pose3, Rot3, Vec3};
use parry3d_f64::query::{ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher};
use std::collections::BTreeSet;

/// What bodies meet besides each other.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// Solids that bodies cannot move (of other solvers, too), as they moved in this substep and as they will in the next.
    pub colliders: [&'a [Collider]; 2],
    /// The box that they stay in.
    pub domain: &'a DomainLimits,
    /// Whether to stop: what bodies do then is unfinished.
    pub interrupt: Interrupt<'a>,
}

/// Contacts of a body with one other, at most: enough to hold it, spread as far as they go.
const KEPT: usize = 8;
/// Distance at which touching bodies are kept apart, by the smaller one's radius: hulls that overlap have no clear normal.
const SKIN: f64 = 2e-4;

/// What is nearer than this share of the radius may touch, however slow it is.
const SLACK: f64 = 0.011;

/// The least turn in a drift, rad, after which a solid of voxels is asked for gaps anew: below it places rise by less than a
/// thousandth of the radius.
const TURNS: f64 = 0.04;

/// How far a point of a body goes in a drift of `next` seconds, m, at most.
fn travels(body: &Body, next: f64) -> f64 {
    let v = body.speed();
    let turn = (v.angular.length() * next).min(2.0);
    v.linear.length() * next + turn * body.shape.radius()
}

/// Whether a body turns so far in a drift of `next` seconds that other places come to touch.
fn turns(body: &Body, next: f64) -> bool {
    body.speed().angular.length() * next > TURNS
}

/// Contacts that may close in a drift of `next` seconds, in a fixed order. Pairs that both rest are left out.
/// `apart`: pairs that do not meet, sorted, each with the lower key first.
pub(super) fn contacts(
    bodies: &[Body],
    around: &Surroundings,
    apart: &[[Key; 2]],
    next: f64,
) -> Vec<Contact> {
    let mut found = Vec::new();
    let meets = |&(a, b): &(usize, usize)| apart.binary_search(&[bodies[a].key, bodies[b].key]).is_err();
    for (a, b) in pairs(bodies, next).into_iter().filter(meets) {
        if around.interrupt.asked() {
            return found;
        }
        let reach = SKIN * bodies[a].shape.radius()
            + bodies[a].keeps_from(&bodies[b])
            + travels(&bodies[a], next)
            + travels(&bodies[b], next);
        between(bodies, (a, b), (reach, next), &mut found);
    }
    for n in 0..bodies.len() {
        if around.interrupt.asked() {
            return found;
        }
        if bodies[n].led.is_some() {
            continue;
        }
        let reach = bodies[n].keeps() + travels(&bodies[n], next);
        with_colliders(bodies, n, around, reach, next, &mut found);
        with_walls(bodies, n, around.domain, (reach, next), &mut found);
    }
    found.retain(|contact| can_close(bodies, contact, next));
    found
}

/// The bodies as impulses have made them, where these have made one so much faster that in a drift of `next` seconds it may meet
/// what nothing was looked for at: what stands still beside it.
pub(super) fn speeding(bodies: &[Body], speeds: &[Velocity], next: f64) -> Option<Vec<Body>> {
    let faster = |(body, speed): (&Body, &Velocity)| {
        let (was, radius) = (body.speed(), body.shape.radius());
        let turn = ((speed.angular - was.angular).length() * next).min(2.0) * radius;
        body.is_free() && (speed.linear - was.linear).length() * next + turn > SLACK * radius
    };
    let moving = |(body, speed): (&Body, &Velocity)| match body.is_free() && !body.rest.asleep {
        true => body.clone().moving(*speed),
        false => body.clone(),
    };
    let all = || bodies.iter().zip(speeds);
    all().any(faster).then(|| all().map(moving).collect())
}

/// The contacts that are not among the `known` ones.
pub(super) fn new_ones(mut found: Vec<Contact>, known: &[Contact]) -> Vec<Contact> {
    let place = |c: &Contact| (c.body, c.other, c.own.to_array().map(f64::to_bits));
    let known: BTreeSet<_> = known.iter().map(place).collect();
    found.retain(|c| !known.contains(&place(c)));
    found
}

/// Whether a contact can close in a drift of `next` seconds, wherever the bodies turn: no point of a body leaves the ball about
/// its centre of mass.
fn can_close(bodies: &[Body], contact: &Contact, next: f64) -> bool {
    let swings = |n: usize, towards: DVec3| {
        let body = &bodies[n];
        let reached = (contact.at - body.pose.position).dot(towards);
        let turned = body.speed().angular.length() * body.shape.radius() * next;
        turned.min((body.shape.radius() - reached).max(0.0)) + body.speed().linear.dot(towards) * next
    };
    let n = contact.normal;
    let other = match contact.other {
        Other::Body(b) => swings(b, n),
        Other::Solid(_) => contact.solid.dot(n) * next,
    };
    let slack = SLACK * bodies[contact.body].shape.radius();
    contact.gap <= slack || contact.gap - swings(contact.body, -n) - other <= slack
}

/// Pairs of bodies whose boxes come within reach, the one of lower key first, in the order of their keys.
fn pairs(bodies: &[Body], next: f64) -> Vec<(usize, usize)> {
    // However it turns, it stays in its ball.
    let reach = |b: &Body| b.shape.radius() * (1.0 + SKIN) + b.keeps() + b.speed().linear.length() * next;
    let ends: Vec<(DVec3, DVec3)> =
        bodies.iter().map(|b| (b.pose.position - reach(b), b.pose.position + reach(b))).collect();
    let mut order: Vec<usize> = (0..bodies.len()).collect();
    order.sort_by(|&a, &b| ends[a].0.x.total_cmp(&ends[b].0.x).then(a.cmp(&b)));
    let mut found = Vec::new();
    for (i, &a) in order.iter().enumerate() {
        for &b in order[i + 1..].iter().take_while(|&&b| ends[b].0.x <= ends[a].1.x) {
            let apart = ends[a].0.cmpgt(ends[b].1).any() || ends[b].0.cmpgt(ends[a].1).any();
            let leads = |a: usize, b: usize| bodies[a].carries() && bodies[b].led.is_none();
            let moves = bodies[a].is_free() || bodies[b].is_free() || leads(a, b) || leads(b, a);
            let (s, t) = (&bodies[a].surface, &bodies[b].surface);
            if !apart && moves && s.group & t.mask != 0 && t.group & s.mask != 0 {
                found.push(if bodies[a].key < bodies[b].key { (a, b) } else { (b, a) });
            }
        }
    }
    found.sort_by_key(|&(a, b)| (bodies[a].key, bodies[b].key));
    found
}

fn placed<'a>(pose: &Pose, part: &'a Part) -> Placed<'a> {
    let at = pose.place(part.centre);
    let q = pose.orientation;
    let at = Pose3::from_parts(Vec3::new(at.x, at.y, at.z), Rot3::from_xyzw(q.x, q.y, q.z, q.w));
    Placed { part, at }
}

/// Rounding of a distance between two parts, by their radii.
const EXACT: f64 = 1e-6;

/// Overlap, by the smaller part's radius, from which parry's normal is held against those of the faces.
const DEEP: f64 = 5e-3;

/// Where two parts may touch along a normal from the second to the first: the normal, and places on both. Where parry cuts a face with one
/// that stands steep on it, it finds places far behind both: those are left out.
fn met(first: &Placed, second: &Placed, reach: f64) -> Option<(DVec3, Vec<[DVec3; 2]>)> {
    let mut manifold = ContactManifold::<(), ()>::new();
    let (p, q) = (first.part, second.part);
    let between = first.at.inv_mul(&second.at);
    DefaultQueryDispatcher
        .contact_manifold_convex_convex(&between, &*p.shape, &*q.shape, None, None, reach, &mut manifold)
        .ok()?;
    let mut normal = -ours(first.at.rotation * manifold.local_n1);
    if manifold.points.is_empty() || !normal.is_finite() {
        return None;
    }
    let known = manifold.points.iter();
    let mut ends: Vec<[DVec3; 2]> =
        known.map(|point| [ours(first.at * point.local_p1), ours(second.at * point.local_p2)]).collect();
    let mut nearest = apart(first, second, normal);
    if nearest < -DEEP * p.radius.min(q.radius) {
        let clearest = clearest(first, second, normal);
        let met = if clearest == normal { Vec::new() } else { touching(first, second, clearest) };
        if !met.is_empty() {
            (normal, ends) = (clearest, met);
            nearest = apart(first, second, normal);
        }
    } else if has_many_corners(first, second, normal) {
        ends.extend(touching(first, second, normal));
    }
    let nearest = nearest - EXACT * (p.radius + q.radius);
    ends.retain(|[a, b]| (*a - *b).dot(normal) >= nearest && a.is_finite() && b.is_finite());
    Some((normal, ends))
}

/// Contacts between two bodies within `reach`.
fn between(bodies: &[Body], (a, b): (usize, usize), (reach, next): (f64, f64), found: &mut Vec<Contact>) {
    let (first, second) = (&bodies[a], &bodies[b]);
    let padding = first.keeps_from(second);
    let skin = padding + SKIN * first.shape.radius().min(second.shape.radius());
    let mut all = Vec::new();
    for p in first.shape.parts() {
        let at = first.pose.place(p.centre);
        for q in second.shape.parts() {
            if (second.pose.place(q.centre) - at).length() > p.radius + q.radius + reach {
                continue;
            }
            let Some((normal, ends)) = met(&placed(&first.pose, p), &placed(&second.pose, q), reach) else {
                continue;
            };
            for ends in ends {
                let distance = (ends[0] - ends[1]).dot(normal);
                if distance <= reach {
                    let at = 0.5 * (ends[0] + ends[1]);
                    let contact = Contact::new(a, Other::Body(b), at, normal, distance - skin);
                    all.push(Contact { own: ends[0], ..contact });
                }
            }
        }
    }
    let (s, t) = (&first.surface, &second.surface);
    let led = |body: &Body| {
        let velocity = body.led.as_ref()?.velocity[1];
        Some((velocity.angular, body.pose.position))
    };
    let rides = |turning: Option<(DVec3, DVec3)>, on_it: &Body| {
        turning.map_or(DVec3::ZERO, |turning| inwards(turning, on_it.pose.position, next))
    };
    let rides = rides(led(second), first) - rides(led(first), second);
    for contact in &mut all {
        contact.solid = across(rides, contact.normal);
        contact.friction = (s.friction * t.friction).sqrt();
        contact.restitution = s.restitution.max(t.restitution);
    }
    let kept = if first.shape.parts().len() * second.shape.parts().len() > 1 { 2 * KEPT } else { KEPT };
    found.extend(spread(all, kept));
}

/// The contacts that hold a body where it is and where it will have turned to, in their order.
fn spread(all: Vec<Contact>, most: usize) -> Vec<Contact> {
    let mut chosen = chosen(&all, most, |contact| contact.gap);
    if all.iter().any(|contact| contact.bend != 0.0) {
        chosen.extend(self::chosen(&all, most, |contact| contact.gap + contact.bend));
    }
    chosen.sort_unstable();
    chosen.dedup();
    chosen.into_iter().map(|n| all[n]).collect()
}

/// The deepest contact, as `gap` has it, and those farthest from the ones chosen before.
fn chosen(all: &[Contact], most: usize, gap: impl Fn(&Contact) -> f64) -> Vec<usize> {
    if all.len() <= most {
        return (0..all.len()).collect();
    }
    let gap = |n: usize| gap(&all[n]);
    let mut chosen: Vec<usize> = Vec::new();
    let deepest = |a: &usize, b: &usize| gap(*a).total_cmp(&gap(*b)).then(a.cmp(b));
    chosen.extend((0..all.len()).min_by(deepest));
    // What is far off closes later, if at all: it counts as nearer.
    let least = gap(chosen[0]);
    let mut apart: Vec<f64> = vec![f64::INFINITY; all.len()];
    while let Some(&last) = chosen.last().filter(|_| chosen.len() < most) {
        for (n, apart) in apart.iter_mut().enumerate() {
            let distance = (all[n].at - all[last].at).length() - 2.0 * (gap(n) - least).max(0.0);
            *apart = apart.min(if n == last { f64::NEG_INFINITY } else { distance });
        }
        let farthest = (0..all.len()).max_by(|&a, &b| apart[a].total_cmp(&apart[b]).then(b.cmp(&a)));
        match farthest.filter(|&n| apart[n] > f64::NEG_INFINITY) {
            Some(n) => chosen.push(n),
            None => break,
        }
    }
    chosen
}

/// The map of the rest frame of a body, turned so, into a collider's lattice.
fn map_into(orientation: DQuat, body: &Body, collider: &Collider) -> (DMat3, DVec3) {
    let turn = DMat3::from_quat(orientation);
    let linear = collider.transform().linear.inverse();
    (linear * turn, collider.to_index(body.pose.position))
}

/// Whether a body's ball comes within `reach` of a collider's values.
pub(super) fn near(body: &Body, collider: &Collider, reach: f64) -> bool {
    away(body.pose.position, body.shape.radius(), collider) <= reach
}

/// Distance of a ball from the box of a collider's values, m; 0 within.
pub(super) fn away(at: DVec3, radius: f64, collider: &Collider) -> f64 {
    let Some((low, high)) = collider.sdf().bounds() else { return f64::INFINITY };
    let at = collider.to_index(at);
    // What is interpolated reaches one voxel on.
    let nearest = at.clamp(low.as_dvec3() - 1.0, high.as_dvec3() + 1.0);
    ((nearest - at).length() * collider.transform().voxel_size() - radius).max(0.0)
}

/// Places looked at on a way, at most.
const LOOKS: f64 = 1e5;

/// Contacts of a body that would be in a collider somewhere on its way in the drift that comes, farther off than distances are
/// known: where its places first are in it, as seen from where it is now.
fn on_its_way(body: &Body, n: usize, c: usize, coming: &Collider, next: f64) -> Vec<Contact> {
    let v = body.speed();
    let way = (v.linear - coming.velocity(body.pose.position)) * next;
    let h = coming.transform().voxel_size();
    let looks = (way.length() / (0.5 * h)).ceil().min(LOOKS);
    let sampler: &mut SdfSampler = &mut coming.sdf().sampler();
    let mut found = Vec::new();
    for look in 1..=looks as usize {
        let moved = way * (look as f64 / looks);
        let at = body.pose.position + moved;
        if away(at, body.shape.radius(), coming) > 0.0 {
            continue;
        }
        let mut all: Vec<(f64, DVec3)> = Vec::new();
        for &sample in body.shape.samples() {
            let place = body.pose.place(sample);
            let gap = f64::from(sampler.distance(coming.to_index(place + moved))) - body.keeps();
            if gap < 0.5 * h {
                all.push((gap, place));
            }
        }
        if !all.iter().any(|(gap, _)| *gap < 0.0) {
            continue;
        }
        for (gap, place) in all {
            let normal = coming.normal(place + moved);
            if normal.dot(way) < 0.0 {
                let other = Other::Solid([COLLIDER, c as i64]);
                found.push(Contact::new(n, other, place, normal, gap - normal.dot(moved)));
            }
        }
        if !found.is_empty() {
            break;
        }
    }
    found
}

/// What the straight way of a drift of `next` seconds lacks where somebody rides on what turns about a pivot, m/s: he ends on the circle
/// that he began on if his velocity is that of the chord, (R(ω Δt) − I) r / Δt, and not that of the tangent, ω × r.
fn inwards((angular, pivot): (DVec3, DVec3), at: DVec3, next: f64) -> DVec3 {
    let arm = at - pivot;
    match next > 0.0 && angular != DVec3::ZERO {
        true => (DQuat::from_scaled_axis(angular * next) * arm - arm) / next - angular.cross(arm),
        false => DVec3::ZERO,
    }
}

/// The part of a velocity across a unit normal.
fn across(velocity: DVec3, normal: DVec3) -> DVec3 {
    velocity - normal * velocity.dot(normal)
}

fn with_colliders(
    bodies: &[Body],
    n: usize,
    around: &Surroundings,
    reach: f64,
    next: f64,
    found: &mut Vec<Contact>,
) {
    let body = &bodies[n];
    let ahead = body.flown(body.speed(), next);
    for (c, (collider, coming)) in around.colliders[0].iter().zip(around.colliders[1]).enumerate() {
        let carried = coming.velocity(body.pose.position).length() * next;
        let reach = reach + carried + 1e-3 * body.shape.radius();
        if !near(body, collider, reach) || (body.rest.asleep && coming.motion().is_still()) {
            continue;
        }
        let other = Other::Solid([COLLIDER, c as i64]);
        let (linear, from) = map_into(body.pose.orientation, body, collider);
        let turned = turns(body, next).then(|| map_into(ahead.orientation, body, collider));
        let sampler: &mut SdfSampler = &mut collider.sdf().sampler();
        let mut all = Vec::new();
        for &sample in body.shape.samples() {
            let gap = f64::from(sampler.distance(linear * sample + from));
            if gap < reach && gap < f64::from(collider.sdf().grid.background) {
                let at = body.pose.place(sample);
                let mut contact = Contact::new(n, other, at, DVec3::ZERO, gap - body.keeps());
                if let Some((linear, from)) = turned {
                    contact.bend = f64::from(sampler.distance(linear * sample + from)) - gap;
                }
                all.push(contact);
            }
        }
        let rides = match *coming.motion() {
            Motion::Rigid { angular, pivot, .. } => inwards((angular, pivot), body.pose.position, next),
            _ => DVec3::ZERO,
        };
        let way = (body.speed().linear - coming.velocity(body.pose.position)).length() * next;
        let is_in = |c: &Contact| c.gap < 0.0;
        if way > 0.5 * f64::from(collider.sdf().grid.background) && !all.iter().any(is_in) {
            let ahead = on_its_way(body, n, c, coming, next);
            if !ahead.is_empty() {
                all = ahead;
            }
        }
        for mut contact in spread(all, KEPT) {
            if contact.normal == DVec3::ZERO {
                contact.normal = collider.normal(contact.at);
            }
            contact.solid = coming.velocity(contact.at) + across(rides, contact.normal);
            contact.friction = body.surface.friction;
            contact.restitution = body.surface.restitution;
            if contact.normal != DVec3::ZERO {
                found.push(contact);
            }
        }
    }
}

fn with_walls(
    bodies: &[Body],
    n: usize,
    domain: &DomainLimits,
    (reach, next): (f64, f64),
    found: &mut Vec<Contact>,
) {
    let body = &bodies[n];
    if body.rest.asleep {
        return;
    }
    let ahead = Pose { position: body.pose.position, ..body.flown(body.speed(), next) };
    for side in (0..6).filter(|&s| domain.sides[s] == Side::Closed) {
        if domain.side_distance(side, body.pose.position) > body.shape.radius() + reach {
            continue;
        }
        let mut all = Vec::new();
        for corner in body.shape.hulls().iter().flatten() {
            let at = body.pose.place(*corner);
            let gap = domain.side_distance(side, at);
            if gap <= reach + 1e-3 * body.shape.radius() {
                let (wall, normal) = (Other::Solid([WALL, side as i64]), DomainLimits::normal(side));
                let mut contact = Contact::new(n, wall, at, normal, gap - body.keeps());
                contact.friction = body.surface.friction;
                contact.restitution = body.surface.restitution;
                contact.bend = domain.side_distance(side, ahead.place(*corner)) - gap;
                all.push(contact);
            }
        }
        found.extend(spread(all, KEPT));
    }
}

/// The two bodies, one of them new, that overlap most, and by how much, m, if by more than a hundredth of the smaller one's radius.
/// Those that a joint holds may overlap.
pub fn overlap(
    bodies: &[Body],
    joints: &[Joint],
    is_new: impl Fn(&Body) -> bool,
) -> Option<(usize, usize, f64)> {
    let mut worst: Option<(usize, usize, f64)> = None;
    let apart = joints::apart(joints);
    let meets = |&(a, b): &(usize, usize)| apart.binary_search(&[bodies[a].key, bodies[b].key]).is_err();
    let new = |&(a, b): &(usize, usize)| is_new(&bodies[a]) || is_new(&bodies[b]);
    for (a, b) in pairs(bodies, 0.0).into_iter().filter(new).filter(meets) {
        let mut found = Vec::new();
        between(bodies, (a, b), (0.0, 0.0), &mut found);
        let padding = bodies[a].keeps_from(&bodies[b]);
        let depth = found.iter().map(|c| -c.gap - padding).fold(0.0, f64::max);
        let small = bodies[a].shape.radius().min(bodies[b].shape.radius());
        if depth > 0.01 * small && worst.is_none_or(|(_, _, d)| depth > d) {
            worst = Some((a, b, depth));
        }
    }
    worst
}

/// A new body that reaches into a collider, which collider, and how far, m, if by more than a tenth of the body's radius
/// and a voxel.
pub fn overlap_with_solids(
    bodies: &[Body],
    colliders: &[Collider],
    is_new: impl Fn(&Body) -> bool,
) -> Option<(usize, usize, f64)> {
    for (n, body) in bodies.iter().enumerate().filter(|(_, body)| body.led.is_none() && is_new(body)) {
        for (c, collider) in colliders.iter().enumerate().filter(|(_, c)| near(body, c, 0.0)) {
            let allowed = (0.1 * body.shape.radius()).max(collider.transform().voxel_size());
            let (linear, from) = map_into(body.pose.orientation, body, collider);
            let mut sampler = collider.sdf().sampler();
            let inside = body.shape.samples().iter().chain([&DVec3::ZERO]);
            let depth = inside.map(|&s| -f64::from(sampler.distance(linear * s + from))).fold(0.0, f64::max);
            if depth > allowed {
                return Some((n, c, depth));
            }
        }
    }
    None
}
