//! A rigid body: where it is, how it moves, and what it is made of.

use super::shape::Shape;
use super::spin;
use glam::{DMat3, DQuat, DVec3};
use std::sync::Arc;

/// What names a body or a solid: a body by its object and its number there; a solid that is not a body by -1 (a collider) or
/// -2 (a side of the domain) and its number.
pub type Key = [i64; 2];

/// Place and orientation of a body's rest frame, whose origin is the centre of mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Of the centre of mass, m.
    pub position: DVec3,
    /// From the rest frame to the world.
    pub orientation: DQuat,
}

impl Pose {
    /// The world's place of a point of the rest frame.
    pub fn place(&self, rest: DVec3) -> DVec3 {
        self.position + self.orientation * rest
    }

    /// The rest frame's place of a point of the world.
    pub fn to_rest(&self, world: DVec3) -> DVec3 {
        self.orientation.inverse() * (world - self.position)
    }
}

/// Velocity of a body, or a change of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Velocity {
    /// Of the centre of mass, m/s.
    pub linear: DVec3,
    /// Angular, rad/s, world axes.
    pub angular: DVec3,
}

/// What a body's surface does in a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    /// Coulomb's coefficient of friction. Between two bodies the geometric mean of theirs counts.
    pub friction: f64,
    /// Speed after an impact by the speed before. Between two bodies the larger counts.
    pub restitution: f64,
    /// Distance, m, that it keeps from what it touches.
    pub padding: f64,
    /// Bits of the groups that the body belongs to.
    pub group: u32,
    /// Bits of the groups that it meets. Two bodies meet where each is in a group that the other meets.
    pub mask: u32,
}

/// Whether a body has come to rest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rest {
    /// Time for which it has been still, s.
    pub still: f64,
    /// It sleeps: it is not moved until something touches it.
    pub asleep: bool,
    /// Acceleration that forces gave it when it fell asleep, m/s².
    pub pull: DVec3,
}

/// A body that follows keyframes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Led {
    /// Where it is at the end of the substep.
    pub pose: Pose,
    /// Its velocity in this substep and in the next.
    pub velocity: [Velocity; 2],
}

/// A rigid body.
#[derive(Clone, Debug)]
pub struct Body {
    /// Its name among all bodies.
    pub key: Key,
    /// Its form and mass.
    pub shape: Arc<Shape>,
    /// Its surface.
    pub surface: Surface,
    /// Where it is.
    pub pose: Pose,
    /// Velocity of the centre of mass in the middle of the next substep, m/s.
    pub velocity: DVec3,
    /// Angular momentum in the middle of the next substep, kg m²/s, world axes.
    pub momentum: DVec3,
    /// Velocity by which the next drift also undoes overlaps, its turn only as far as the energy of the spin allows. It is no part of the
    /// body's momentum.
    pub push: Velocity,
    /// Whether it rests.
    pub rest: Rest,
    /// Whether it may fall asleep.
    pub may_sleep: bool,
    /// Where keyframes lead it, if so.
    pub led: Option<Led>,
    /// What forces change in this substep's kick.
    pub kick: Velocity,
    /// Length of that kick, s.
    pub kicked: f64,
    /// Its velocity before this kick, where a liquid moves it, too: how fast it comes where it bounces. What the kick would give
    /// it without the contact is not known then.
    pub nearing: Option<Velocity>,
    /// Its velocity as it drifted in this substep, and as it will in the next.
    pub motion: [Velocity; 2],
    /// Accelerations (m/s², rad/s²) that contacts gave it in this kick: no part of `push`.
    pub struck: Velocity,
}

/// How many times the energy of its turn a push may leave a body, besides that of a kick's speed.
const MOST_OF_PUSH: f64 = 1.01;

impl Body {
    /// A body at rest, moved by what touches it.
    pub fn new(key: Key, shape: Arc<Shape>, surface: Surface, pose: Pose) -> Self {
        let zero = Velocity::default();
        Self {
            key,
            shape,
            surface,
            pose,
            velocity: DVec3::ZERO,
            momentum: DVec3::ZERO,
            push: zero,
            rest: Rest::default(),
            may_sleep: true,
            led: None,
            kick: zero,
            kicked: 0.0,
            nearing: None,
            motion: [zero; 2],
            struck: zero,
        }
    }

    /// The same body with a velocity.
    pub fn moving(mut self, velocity: Velocity) -> Self {
        self.velocity = velocity.linear;
        self.momentum = self.inertia() * velocity.angular;
        self
    }

    /// Distance, m, that it keeps from solids that are not bodies.
    pub(super) fn keeps(&self) -> f64 {
        self.surface.padding
    }

    /// Distance, m, that two bodies keep.
    pub(super) fn keeps_from(&self, other: &Self) -> f64 {
        self.surface.padding + other.surface.padding
    }

    /// True where contacts move it.
    pub fn is_free(&self) -> bool {
        self.led.is_none() && !self.rest.asleep
    }

    /// Whether keyframes take it elsewhere, or did in this substep.
    pub(super) fn carries(&self) -> bool {
        self.led.is_some_and(|led| self.pose != led.pose || led.velocity != [Velocity::default(); 2])
    }

    /// Its inertia as it is turned now, kg m², world axes.
    pub fn inertia(&self) -> DMat3 {
        let turn = DMat3::from_quat(self.pose.orientation);
        turn * self.shape.inertia() * turn.transpose()
    }

    /// The inverse of [`Self::inertia`].
    pub fn inverse_inertia(&self) -> DMat3 {
        let turn = DMat3::from_quat(self.pose.orientation);
        turn * self.shape.inverse_inertia() * turn.transpose()
    }

    /// The velocity that its momentum gives it as it is turned now; that of its keyframes where they lead it.
    pub fn speed(&self) -> Velocity {
        match self.led {
            Some(led) => led.velocity[1],
            None => Velocity { linear: self.velocity, angular: self.inverse_inertia() * self.momentum },
        }
    }

    /// Gives it a velocity that something else has solved for, in place of its own.
    pub fn take(&mut self, velocity: Velocity) {
        let gained = velocity.angular - self.speed().angular;
        self.momentum += self.inertia() * gained;
        self.velocity = velocity.linear;
        self.motion[1] = self.coming(0.0);
    }

    /// Moves it for `dt` seconds.
    pub(super) fn drift(&mut self, dt: f64) {
        if let Some(led) = self.led {
            self.pose = led.pose;
            self.motion[0] = led.velocity[0];
            return;
        }
        let before = self.pose;
        if !self.rest.asleep && dt > 0.0 {
            self.pose = self.after(dt);
        }
        self.motion[0] = match dt > 0.0 {
            true => between(&before, &self.pose, dt),
            false => self.coming(0.0),
        };
    }

    /// Its velocity over the next `dt` seconds, `push` included.
    pub(super) fn coming(&self, dt: f64) -> Velocity {
        if let Some(led) = self.led {
            return led.velocity[1];
        }
        if self.rest.asleep {
            return Velocity::default();
        }
        if dt <= 0.0 {
            let Velocity { linear, angular } = self.speed();
            return Velocity { linear: linear + self.push.linear, angular: angular + self.push.angular };
        }
        between(&self.pose, &self.after(dt), dt)
    }

    /// Where a velocity would bring it in `dt` seconds of free flight.
    pub(super) fn flown(&self, velocity: Velocity, dt: f64) -> Pose {
        if !self.is_free() {
            return self.pose;
        }
        let momentum = self.inertia() * velocity.angular;
        Pose {
            position: self.pose.position + dt * velocity.linear,
            orientation: spin::turned(self.pose.orientation, momentum, self.shape.principal(), dt),
        }
    }

    fn after(&self, dt: f64) -> Pose {
        let turned = spin::turned(self.pose.orientation, self.momentum, self.shape.principal(), dt);
        Pose {
            position: self.pose.position + dt * (self.velocity + self.push.linear),
            orientation: (DQuat::from_scaled_axis(self.push.angular * dt) * turned).normalize(),
        }
    }

    /// Limits the turn by which the next drift of `dt` seconds undoes overlaps. A slim body that is turned about a short axis may come to lie
    /// so that its momentum gives it a hundred times the energy: it is turned by all, a half, a quarter, or nothing of it. What
    /// overlaps stays so for longer then.
    pub(super) fn limit_push(&mut self, dt: f64) {
        if self.push.angular == DVec3::ZERO || dt <= 0.0 || !self.is_free() {
            return;
        }
        // What lies nearly still is not held by rounding.
        let still = 0.5 * self.shape.mass() * self.kick.linear.length_squared();
        let most = MOST_OF_PUSH * self.turning_energy(self.pose.orientation) + still;
        let turned = spin::turned(self.pose.orientation, self.momentum, self.shape.principal(), dt);
        let pushed = |share: f64| DQuat::from_scaled_axis(self.push.angular * (share * dt)) * turned;
        let mut shares = [1.0, 0.5, 0.25].into_iter();
        let share = shares.find(|&share| self.turning_energy(pushed(share)) <= most);
        self.push.angular *= share.unwrap_or(0.0);
    }

    /// Energy, J, that its momentum has where the body is turned so.
    fn turning_energy(&self, orientation: DQuat) -> f64 {
        let own = orientation.inverse() * self.momentum;
        0.5 * own.dot(self.shape.inverse_inertia() * own)
    }

    /// Kinetic energy, J.
    pub fn kinetic_energy(&self) -> f64 {
        let Velocity { linear, angular } = self.speed();
        0.5 * self.shape.mass() * linear.length_squared() + 0.5 * angular.dot(self.momentum)
    }
}

fn between(from: &Pose, to: &Pose, dt: f64) -> Velocity {
    Velocity {
        linear: (to.position - from.position) / dt,
        angular: spin::rate(from.orientation, to.orientation, dt),
    }
}
