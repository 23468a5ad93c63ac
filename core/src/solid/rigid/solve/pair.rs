//! A contact between bodies that no joints hold.

use super::{Side, Solve};
use crate::solid::rigid::contact::{Contact, Other};
use glam::DVec3;

/// A contact between bodies that no joints hold, as the sweeps see it. Arms lead from the middles of mass to where it acts, m.
pub(super) struct Pair {
    pub body: usize,
    pub other: Option<usize>,
    pub normal: DVec3,
    pub arms: [DVec3; 2],
    /// Velocity there of a solid that is not a body, m/s.
    pub solid: DVec3,
    /// Angular velocity that each gets per impulse along the normal, (rad/s)/(N s).
    turns: [DVec3; 2],
    /// Relative velocity there per impulse along the normal, 1/kg.
    parts: DVec3,
}

impl Pair {
    /// `None` where joints hold one of the bodies.
    pub fn of(contact: &Contact, solve: &Solve) -> Option<Self> {
        let (body, normal) = (contact.body, contact.normal);
        let other = match contact.other {
            Other::Body(b) => Some(b),
            Other::Solid(_) => None,
        };
        let is_held = |n: usize| solve.responses[n].is_some();
        if is_held(body) || other.is_some_and(is_held) {
            return None;
        }
        let arm = |n: usize, place: DVec3| place - solve.sides[n].position;
        let arms = [arm(body, contact.on_body()), other.map_or(DVec3::ZERO, |b| arm(b, contact.on_other()))];
        let mut parts = DVec3::ZERO;
        let mut turns = [DVec3::ZERO; 2];
        for ((n, arm), turns) in [Some(body), other].into_iter().zip(arms).zip(&mut turns) {
            let Some(side) = n.map(|n| &solve.sides[n]) else { continue };
            *turns = side.inverse_inertia * arm.cross(normal);
            parts += normal * side.inverse_mass + turns.cross(arm);
        }
        Some(Self { body, other, normal, arms, solid: contact.solid, turns, parts })
    }

    /// The two, and the sign of what each gets.
    pub fn ends(&self) -> [(Option<usize>, f64); 2] {
        [(Some(self.body), 1.0), (self.other, -1.0)]
    }

    /// The speed there, m/s, of what no impulse moves: a solid or a body that keyframes lead.
    pub fn driven_speed(&self, sides: &[Side]) -> f64 {
        let unmoved = |(end, arm): ((Option<usize>, f64), DVec3)| {
            let side = end.0.map(|n| &sides[n]).filter(|side| side.inverse_mass <= 0.0);
            side.map_or(0.0, |side| (side.velocity.linear + side.velocity.angular.cross(arm)).length())
        };
        self.ends().into_iter().zip(self.arms).map(unmoved).fold(self.solid.length(), f64::max)
    }

    /// As `Solve::relax`.
    pub fn relax(
        &self,
        sides: &mut [Side],
        contact: &mut Contact,
        [along, across]: [f64; 2],
        (target, soft): (f64, f64),
    ) -> f64 {
        let at = |side: &Side, arm: DVec3| side.velocity.linear + side.velocity.angular.cross(arm);
        let [own, others] = self.arms;
        let against = self.solid + self.other.map_or(DVec3::ZERO, |b| at(&sides[b], others));
        let mut velocity = at(&sides[self.body], own) - against;
        let speed = velocity.dot(self.normal);
        let pressed = pressed(contact.pressed, target - speed, (along, soft));
        let more = pressed - contact.pressed;
        contact.pressed = pressed;
        let mut pushed = more.abs() * along;
        let mut impulse = DVec3::ZERO;
        if across > 0.0 {
            velocity += self.parts * more;
            let sliding = velocity - self.normal * velocity.dot(self.normal);
            let rubbed = (contact.rubbed - sliding / across).clamp_length_max(contact.friction * pressed);
            impulse = rubbed - contact.rubbed;
            contact.rubbed = rubbed;
            pushed = pushed.max(impulse.length() * across);
        }
        if pushed == 0.0 {
            return 0.0;
        }
        self.push(sides, (more, impulse));
        pushed
    }

    /// Applies so much along the normal, and an impulse, N s.
    pub fn push(&self, sides: &mut [Side], (along, impulse): (f64, DVec3)) {
        let whole = self.normal * along + impulse;
        for (((n, sign), arm), turns) in self.ends().into_iter().zip(self.arms).zip(self.turns) {
            let Some(side) = n.map(|n| &mut sides[n]) else { continue };
            side.velocity.linear += whole * (sign * side.inverse_mass);
            side.velocity.angular += (turns * along + side.inverse_inertia * arm.cross(impulse)) * sign;
        }
    }
}

/// The impulse along the normal with which a contact parts as it should, once it has given way by its share; `more`: what its speed
/// lacks with the impulse that it has.
pub(super) fn pressed(now: f64, more: f64, (along, soft): (f64, f64)) -> f64 {
    (now + (more / along - soft * now) / (1.0 + soft)).max(0.0)
}
