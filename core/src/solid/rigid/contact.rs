//! Contacts, and what is remembered of them from one substep to the next.

use super::body::{Body, Key};
use glam::DVec3;

/// First number of the key of something that is there no longer.
pub(super) const GONE: i64 = -3;
/// First number of a collider's key.
pub(super) const COLLIDER: i64 = -1;
/// First number of a side's key.
pub(super) const WALL: i64 = -2;

/// What a body meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Other {
    /// Another body, by its place in the list.
    Body(usize),
    /// A solid that nothing moves.
    Solid(Key),
}

/// A place where a body touches something, or may in the drift that comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    /// Place of the body in the list.
    pub body: usize,
    /// What it meets.
    pub other: Other,
    /// Where it acts, m, world: on a solid, where the place of the body will have turned to.
    pub at: DVec3,
    /// The place on the body's surface as it is now, m, world.
    pub own: DVec3,
    /// Unit normal from the other to the body.
    pub normal: DVec3,
    /// Distance, m; negative where they overlap.
    pub gap: f64,
    /// What the body's turning adds to the gap in the drift that comes, m: all of it where contacts are chosen; from
    /// `look_ahead` on, what its velocity at `at` does not.
    pub bend: f64,
    /// Velocity there, m/s, of a solid that is not a body, in the next drift; of a keyframed body, by how much more than its own what rides on it
    /// goes with.
    pub solid: DVec3,
    /// Coulomb's coefficient.
    pub friction: f64,
    /// Of the impact.
    pub restitution: f64,
    /// Impulse along the normal, N s.
    pub pressed: f64,
    /// Impulse of friction, N s, across the normal.
    pub rubbed: DVec3,
    /// Where they meet in the drift that comes and bounce: the time after which they do, s.
    pub late: Option<f64>,
    /// Half of what the second gains on the first until then, m: the impulse acts on each where it meets the other.
    pub shift: DVec3,
}

impl Contact {
    pub fn new(body: usize, other: Other, at: DVec3, normal: DVec3, gap: f64) -> Self {
        Self {
            body,
            other,
            at,
            own: at,
            normal,
            gap,
            bend: 0.0,
            solid: DVec3::ZERO,
            friction: 0.0,
            restitution: 0.0,
            pressed: 0.0,
            rubbed: DVec3::ZERO,
            late: None,
            shift: DVec3::ZERO,
        }
    }

    /// Where the impulse acts on the body, m, world.
    pub fn on_body(&self) -> DVec3 {
        self.at + self.shift
    }

    /// Where it acts on what the body meets, m, world.
    pub fn on_other(&self) -> DVec3 {
        self.at - self.shift
    }

    /// The bodies, by their places in the list, where the impulse acts on each, m, world, and its sign there.
    pub fn ends(&self) -> [Option<(usize, DVec3, f64)>; 2] {
        let other = if let Other::Body(b) = self.other { Some((b, self.on_other(), -1.0)) } else { None };
        [Some((self.body, self.on_body(), 1.0)), other]
    }

    /// The whole impulse on the body, N s.
    pub fn impulse(&self) -> DVec3 {
        self.normal * self.pressed + self.rubbed
    }

    /// Adds to the impulse.
    pub fn take(&mut self, impulse: DVec3) {
        let along = impulse.dot(self.normal);
        self.pressed += along;
        self.rubbed += impulse - self.normal * along;
    }

    /// The names of the two.
    pub fn keys(&self, bodies: &[Body]) -> [Key; 2] {
        let other = match self.other {
            Other::Body(b) => bodies[b].key,
            Other::Solid(key) => key,
        };
        [bodies[self.body].key, other]
    }
}

/// A contact of the last substep: the next one starts from its impulses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// The two.
    pub between: [Key; 2],
    /// Where, in the rest frame of the first, m.
    pub at: DVec3,
    /// Impulse along the normal by the time over which it acted, N.
    pub pressed: f64,
    /// Impulse of friction by that time, N, rest frame of the first.
    pub rubbed: DVec3,
}

impl Memory {
    pub(super) fn of(contact: &Contact, bodies: &[Body]) -> Self {
        let Body { pose, kicked: kick, .. } = bodies[contact.body];
        let by = if kick > 0.0 { 1.0 / kick } else { 0.0 };
        Self {
            between: contact.keys(bodies),
            at: pose.to_rest(contact.own),
            pressed: contact.pressed * by,
            rubbed: pose.orientation.inverse() * contact.rubbed * by,
        }
    }
}

/// Share of a body's radius within which a contact counts as one of the last substep.
const NEAR: f64 = 0.15;

/// Gives contacts the impulses that they had in the last substep, for the kick of the body.
pub(super) fn recall(contacts: &mut [Contact], memory: &[Memory], bodies: &[Body]) {
    let mut used = vec![false; memory.len()];
    for contact in contacts {
        let keys = contact.keys(bodies);
        let first = memory.partition_point(|m| m.between < keys);
        let last = first + memory[first..].partition_point(|m| m.between == keys);
        let body = &bodies[contact.body];
        let at = body.pose.to_rest(contact.own);
        let reach = NEAR * body.shape.radius();
        let known = (first..last)
            .filter(|&m| !used[m])
            .map(|m| ((memory[m].at - at).length(), m))
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let Some((distance, m)) = known else { continue };
        if distance > reach {
            continue;
        }
        used[m] = true;
        contact.pressed = memory[m].pressed * body.kicked;
        let rubbed = body.pose.orientation * memory[m].rubbed * body.kicked;
        contact.rubbed = rubbed - contact.normal * rubbed.dot(contact.normal);
    }
}
