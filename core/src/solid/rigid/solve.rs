//! The impulses that contacts, motors and stops need. Bodies that joints hold together give way as one.

mod cone;
mod factor;
mod newton;
mod pair;
mod sweeps;

use super::contact::{Contact, Other};
use super::joints::{Bound, Linkage, Response, dot};
use super::{Body, Velocity};
use crate::interrupt::Interrupt;
use crate::union_find::DisjointSets;
use glam::{DMat3, DVec3};
use pair::Pair;
use std::rc::Rc;

/// What gives way by less than this share of what it would without joints is held by them: what is left is rounding.
const HELD: f64 = 1e-8;

/// Share of a kick's velocity to which impulses are found.
pub(super) const TOLERANCE: f64 = 1e-6;

/// A body's part in the solve.
struct Side {
    inverse_mass: f64,
    inverse_inertia: DMat3,
    position: DVec3,
    velocity: Velocity,
}

impl Side {
    fn at(&self, place: DVec3) -> DVec3 {
        self.velocity.linear + self.velocity.angular.cross(place - self.position)
    }

    /// Kinetic energy, J; 0 where it cannot move.
    fn kinetic_energy(&self) -> f64 {
        if self.inverse_mass <= 0.0 {
            return 0.0;
        }
        let Velocity { linear, angular } = self.velocity;
        let turning = angular.dot(self.inverse_inertia.inverse() * angular);
        0.5 * (linear.length_squared() / self.inverse_mass + turning)
    }

    /// Velocity that it gets from an impulse and an angular impulse.
    fn given(&self, wrench: &Velocity) -> Velocity {
        Velocity { linear: wrench.linear * self.inverse_mass, angular: self.inverse_inertia * wrench.angular }
    }
}

/// All that takes part.
pub(super) struct Solve {
    sides: Vec<Side>,
    /// What an impulse does to bodies that joints hold; of bodies that nothing else touches it is not known.
    responses: Vec<Option<Rc<Response>>>,
    /// Per contact: velocity per impulse along the normal, and the most across it.
    yields: Vec<[f64; 2]>,
    /// Per contact, what sweeps need of it where joints hold neither body.
    pairs: Vec<Option<Pair>>,
}

/// When sweeps end.
#[derive(Clone, Copy, Debug)]
pub struct Until<'a> {
    /// Sweeps, at most.
    pub most: u32,
    /// The change of velocity that is none, m/s.
    pub tolerance: f64,
    /// By how much of their speed per impulse contacts give way to an impulse: where nothing fulfils all of them, as in a press, the
    /// impulses stay so many times as large as one contact alone would need. 0: they do not.
    pub soft: f64,
    /// Kinetic energy of each body before contacts give any, J, 0 of what cannot move: it bounds what a solve without joints, motors and
    /// stops gives. `None`: nothing does.
    pub energy_before: Option<&'a [f64]>,
    /// Whether to stop.
    pub interrupt: Interrupt<'a>,
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Ended {
    /// Sweeps over all contacts.
    pub sweeps: u32,
    /// The largest change in the last one, m/s.
    pub change: f64,
}

impl Solve {
    pub fn new(bodies: &[Body], contacts: &[Contact], linkage: &Linkage, bounds: &[Bound]) -> Self {
        let side = |body: &Body| Side {
            inverse_mass: if body.is_free() { 1.0 / body.shape.mass() } else { 0.0 },
            inverse_inertia: if body.is_free() { body.inverse_inertia() } else { DMat3::ZERO },
            position: body.pose.position,
            velocity: if body.rest.asleep { Velocity::default() } else { body.speed() },
        };
        let responses = vec![None; bodies.len()];
        let sides = bodies.iter().map(side).collect();
        let mut solve = Self { sides, responses, yields: Vec::new(), pairs: Vec::new() };
        solve.respond(contacts, linkage, bounds);
        solve.yields = contacts.iter().map(|c| solve.yield_of(c)).collect();
        solve.pairs = contacts.iter().map(|c| Pair::of(c, &solve)).collect();
        solve
    }

    /// Finds what impulses do to the bodies that contacts and bounds touch.
    fn respond(&mut self, contacts: &[Contact], linkage: &Linkage, bounds: &[Bound]) {
        if linkage.is_empty() {
            return;
        }
        let mut touched = vec![false; self.sides.len()];
        for contact in contacts {
            contact.ends().into_iter().flatten().for_each(|(n, ..)| touched[n] = true);
        }
        bounds.iter().flat_map(|b| b.row.ends).flatten().for_each(|n| touched[n] = true);
        for n in (0..touched.len()).filter(|&n| touched[n]) {
            self.responses[n] = linkage.response(n);
        }
    }

    /// What one body's velocity, as `counts` counts it, gets from an impulse and an angular impulse on another one.
    fn gives(&self, body: usize, counts: &Velocity, on: usize, wrench: &Velocity) -> f64 {
        let Some(response) = &self.responses[on] else {
            return if body == on { dot(counts, &self.sides[on].given(wrench)) } else { 0.0 };
        };
        let Ok(place) = response.binary_search_by_key(&body, |r| r.0) else { return 0.0 };
        dot(counts, &sum(&response[place].1, wrench))
    }

    fn push_body(&mut self, body: usize, wrench: &Velocity) {
        // Most contacts and stops do not press; what moves with a body may be many.
        if *wrench == Velocity::default() {
            return;
        }
        let Self { sides, responses, .. } = self;
        let mut add = |n: usize, given: Velocity| {
            sides[n].velocity.linear += given.linear;
            sides[n].velocity.angular += given.angular;
        };
        match &responses[body] {
            None => {
                let given = sides[body].given(wrench);
                sides[body].velocity.linear += given.linear;
                sides[body].velocity.angular += given.angular;
            }
            Some(response) => response.iter().for_each(|(n, units)| add(*n, sum(units, wrench))),
        }
    }

    fn wrench(&self, body: usize, place: DVec3, impulse: DVec3) -> Velocity {
        Velocity { linear: impulse, angular: (place - self.sides[body].position).cross(impulse) }
    }

    fn yield_of(&self, contact: &Contact) -> [f64; 2] {
        let other = match contact.other {
            Other::Body(b) => Some(b),
            Other::Solid(_) => None,
        };
        let ends = [(Some(contact.body), contact.on_body(), 1.0), (other, contact.on_other(), -1.0)];
        let along = |n: DVec3, m: DVec3| {
            let mut all = 0.0;
            for (a, place, s) in ends {
                for (b, other, t) in ends {
                    let (Some(a), Some(b)) = (a, b) else { continue };
                    let (counts, wrench) = (self.wrench(a, place, n), self.wrench(b, other, m));
                    all += s * t * self.gives(a, &counts, b, &wrench);
                }
            }
            all
        };
        let n = contact.normal;
        let (s, t) = n.any_orthonormal_pair();
        let (ss, tt, st) = (along(s, s), along(t, t), along(s, t));
        let across = 0.5 * (ss + tt) + (0.25 * (ss - tt).powi(2) + st * st).sqrt();
        let bare = |m: DVec3| -> f64 {
            let of = |(body, place, _): (Option<usize>, DVec3, f64)| {
                body.map_or(0.0, |body| {
                    let wrench = self.wrench(body, place, m);
                    dot(&wrench, &self.sides[body].given(&wrench))
                })
            };
            ends.into_iter().map(of).sum()
        };
        [given_way(along(n, n), bare(n)), given_way(across, bare(s) + bare(t))]
    }

    /// Speed by impulse of a motor or a stop.
    pub fn light(&self, bound: &Bound) -> f64 {
        let mut all = 0.0;
        for (a, counts) in bound.row.ends.iter().zip(&bound.row.jacobian) {
            for (b, wrench) in bound.row.ends.iter().zip(&bound.row.jacobian) {
                if let (Some(a), Some(b)) = (*a, *b) {
                    all += self.gives(a, counts, b, wrench);
                }
            }
        }
        let ends = bound.row.ends.iter().zip(&bound.row.jacobian);
        let bare = ends.filter_map(|(n, counts)| Some(dot(counts, &self.sides[(*n)?].given(counts)))).sum();
        given_way(all, bare)
    }

    /// Velocity at a contact of the body relative to the other, m/s.
    pub fn relative(&self, contact: &Contact) -> DVec3 {
        let other = match contact.other {
            Other::Body(b) => self.sides[b].at(contact.on_other()) + contact.solid,
            Other::Solid(_) => contact.solid,
        };
        self.sides[contact.body].at(contact.on_body()) - other
    }

    fn push(&mut self, contact: &Contact, impulse: DVec3) {
        for (n, at, sign) in contact.ends().into_iter().flatten() {
            self.push_body(n, &self.wrench(n, at, impulse * sign));
        }
    }

    fn push_bound(&mut self, bound: &Bound, impulse: f64) {
        for (end, j) in bound.row.ends.iter().zip(&bound.row.jacobian) {
            if let Some(n) = *end {
                self.push_body(n, &Velocity { linear: j.linear * impulse, angular: j.angular * impulse });
            }
        }
    }

    /// Applies the impulses that contacts and bounds start with.
    pub fn start(&mut self, contacts: &[Contact], bounds: &[Bound]) {
        for contact in contacts {
            self.push(contact, contact.normal * contact.pressed + contact.rubbed);
        }
        bounds.iter().for_each(|bound| self.push_bound(bound, bound.pressed));
    }

    /// The same bodies at other velocities, for the solve that only undoes overlaps.
    pub fn moving(mut self, velocities: impl Iterator<Item = Velocity>) -> Self {
        self.sides.iter_mut().zip(velocities).for_each(|(side, velocity)| side.velocity = velocity);
        self
    }

    /// The same bodies with more velocity.
    pub fn gaining(mut self, more: &[Velocity]) -> Self {
        for (side, more) in self.sides.iter_mut().zip(more) {
            side.velocity.linear += more.linear;
            side.velocity.angular += more.angular;
        }
        self
    }

    /// Whether joints hold the body, and something touches it.
    pub fn is_joined(&self, body: usize) -> bool {
        self.responses[body].is_some()
    }

    /// Unites bodies that joints hold together.
    pub fn unite_joined(&self, sets: &mut DisjointSets) {
        for (n, response) in self.responses.iter().enumerate() {
            response.iter().flat_map(|r| r.iter()).for_each(|(b, _)| sets.union(n, *b));
        }
    }

    /// Velocities as they are now.
    pub fn velocities(&self) -> Vec<Velocity> {
        self.sides.iter().map(|s| s.velocity).collect()
    }

    /// Kinetic energy of each body, J; 0 where it cannot move.
    pub fn energies(&self) -> Vec<f64> {
        self.sides.iter().map(Side::kinetic_energy).collect()
    }

    /// Adds what impulses of joints do.
    pub fn join(&mut self, linkage: &Linkage, impulses: &[f64]) {
        let mut velocities = self.velocities();
        linkage.add(impulses, &mut velocities);
        self.sides.iter_mut().zip(velocities).for_each(|(side, velocity)| side.velocity = velocity);
    }
}

/// Speed by impulse, 0 where joints hold; `bare`: without them.
fn given_way(yields: f64, bare: f64) -> f64 {
    if yields > HELD * bare { yields } else { 0.0 }
}

/// What units of each impulse and torque do, summed.
fn sum(units: &[Velocity; 6], wrench: &Velocity) -> Velocity {
    let mut all = Velocity::default();
    for c in 0..3 {
        all.linear += units[c].linear * wrench.linear[c] + units[c + 3].linear * wrench.angular[c];
        all.angular += units[c].angular * wrench.linear[c] + units[c + 3].angular * wrench.angular[c];
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Scene, a_box};
    use super::super::{Intervals, Key};
    use super::*;
    use glam::DQuat;

    /// What sweeps find from arms is what they find from impulses on whole bodies.
    #[test]
    fn contacts_are_relaxed_alike_whether_bodies_are_joined_or_not() {
        let mut scene = Scene::new(DVec3::ZERO, 0.01);
        let places = [DVec3::ZERO, DVec3::new(0.1, 1.0, -0.2), DVec3::new(0.3, 2.0, 0.1)];
        for (n, at) in places.into_iter().enumerate() {
            let body = scene.add(&a_box(DVec3::new(1.0, 0.9, 0.6 + 0.2 * n as f64), 300.0), at);
            body.pose.orientation = DQuat::from_euler(glam::EulerRot::XYZ, 0.2 * n as f64, 0.3, -0.1);
            body.velocity = DVec3::new(0.4, -1.0 - n as f64, 0.3);
            body.momentum = DVec3::new(1.0, 20.0 * n as f64, -3.0);
        }
        let key: Key = [0, 0];
        let touch = |body, other, at, normal: DVec3| {
            let mut contact = Contact::new(body, other, at, normal.normalize(), 0.0);
            (contact.friction, contact.shift) = (0.4, DVec3::new(0.01, 0.0, -0.02));
            contact
        };
        let found = [
            touch(0, Other::Solid(key), DVec3::new(0.4, -0.5, 0.2), DVec3::new(0.1, 1.0, 0.0)),
            touch(0, Other::Solid(key), DVec3::new(-0.4, -0.5, 0.2), DVec3::Y),
            touch(1, Other::Body(0), DVec3::new(0.3, 0.5, 0.0), DVec3::new(0.0, 1.0, 0.2)),
            touch(1, Other::Body(2), DVec3::new(0.2, 1.5, 0.1), DVec3::new(0.1, -1.0, 0.1)),
        ];
        let times = Intervals { drift: 0.01, kick: 0.01, next: 0.01 };
        let (linkage, _) = Linkage::new(&scene.bodies, &mut [], &times);
        let until =
            Until { most: 8, tolerance: 0.0, soft: 0.0, energy_before: None, interrupt: Interrupt::NEVER };
        let solved = |with_pairs: bool| {
            let mut solve = Solve::new(&scene.bodies, &found, &linkage, &[]);
            assert!(solve.pairs.iter().all(Option::is_some));
            if !with_pairs {
                solve.pairs.iter_mut().for_each(|pair| *pair = None);
            }
            let mut contacts = found;
            solve.run(&mut contacts, &mut [], &mut [0.0; 4], until);
            (contacts.map(|c| c.impulse()), solve.velocities())
        };
        let ((impulses, velocities), (others, expected)) = (solved(true), solved(false));
        assert!(impulses.iter().filter(|i| i.length() > 1.0).count() >= 3, "{impulses:?}");
        for (a, b) in impulses.iter().zip(&others) {
            assert!(a.distance(*b) < 1e-9 * (1.0 + b.length()), "{a} {b}");
        }
        for (a, b) in velocities.iter().zip(&expected) {
            let off = a.linear.distance(b.linear) + a.angular.distance(b.angular);
            assert!(off < 1e-10, "{a:?} {b:?}");
        }
    }

    /// A body in the middle of a plate, pressed from both faces at arms that hardly differ: to part from both it would have to turn at a
    /// thousand radians a second.
    #[test]
    fn contacts_that_contradict_each_other_throw_no_body() {
        let mut scene = Scene::new(DVec3::ZERO, 0.01);
        scene.add(&a_box(DVec3::splat(0.12), 1000.0), DVec3::ZERO).velocity = DVec3::new(0.0, -2.0, 0.5);
        let key: Key = [0, 0];
        let touch = |x: f64, normal: DVec3| {
            let mut contact = Contact::new(0, Other::Solid(key), DVec3::new(x, 0.0, 0.0), normal, 0.0);
            contact.friction = 0.3;
            contact
        };
        let times = Intervals { drift: 0.01, kick: 0.01, next: 0.01 };
        let (linkage, _) = Linkage::new(&scene.bodies, &mut [], &times);
        for apart in [1e-2, 1e-3, 1e-5] {
            for targets in [[1.0, 1.0], [0.0, 3.0], [0.0, 0.0]] {
                let mut found = [touch(0.02, DVec3::Y), touch(0.02 + apart, -DVec3::Y)];
                let mut solve = Solve::new(&scene.bodies, &found, &linkage, &[]);
                let energies = solve.energies();
                let interrupt = Interrupt::NEVER;
                let until = Until {
                    most: 200,
                    tolerance: 1e-6,
                    soft: 0.0,
                    energy_before: Some(&energies),
                    interrupt,
                };
                solve.run(&mut found, &mut [], &mut targets.clone(), until);
                let mass = scene.bodies[0].shape.mass();
                let (before, after) = (energies[0], solve.energies()[0]);
                assert!(after <= 1.5 * before, "{apart} {targets:?}: {before} J -> {after} J");
                let given: DVec3 = found.iter().map(Contact::impulse).sum();
                let gained = (solve.velocities()[0].linear - scene.bodies[0].velocity) * mass;
                assert!((given - gained).length() < 1e-9 * (1.0 + given.length()), "{given} {gained}");
            }
        }
    }
}
