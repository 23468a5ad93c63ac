//! The impulses that contacts need.

use super::contact::{Contact, Other};
use super::{Body, Velocity};
use glam::{DMat3, DVec3};

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

    fn push(&mut self, place: DVec3, impulse: DVec3) {
        self.velocity.linear += impulse * self.inverse_mass;
        self.velocity.angular += self.inverse_inertia * (place - self.position).cross(impulse);
    }

    /// Velocity per impulse at a place, along two directions.
    fn gives(&self, place: DVec3, n: DVec3, m: DVec3) -> f64 {
        let arm = place - self.position;
        self.inverse_mass * n.dot(m) + (self.inverse_inertia * arm.cross(n)).dot(arm.cross(m))
    }
}

/// All that takes part.
pub(super) struct Solve {
    sides: Vec<Side>,
    /// Per contact: velocity per impulse along the normal, and the most across it.
    yields: Vec<[f64; 2]>,
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
    pub fn new(bodies: &[Body], contacts: &[Contact]) -> Self {
        let side = |body: &Body| Side {
            inverse_mass: if body.is_free() { 1.0 / body.shape.mass() } else { 0.0 },
            inverse_inertia: if body.is_free() { body.inverse_inertia() } else { DMat3::ZERO },
            position: body.pose.position,
            velocity: if body.rest.asleep { Velocity::default() } else { body.speed() },
        };
        let mut solve = Self { sides: bodies.iter().map(side).collect(), yields: Vec::new() };
        solve.yields = contacts.iter().map(|c| solve.yield_of(c)).collect();
        solve
    }

    fn yield_of(&self, contact: &Contact) -> [f64; 2] {
        let along = |n: DVec3, m: DVec3| {
            let other = match contact.other {
                Other::Body(b) => self.sides[b].gives(contact.at, n, m),
                Other::Solid(_) => 0.0,
            };
            self.sides[contact.body].gives(contact.at, n, m) + other
        };
        let n = contact.normal;
        let (s, t) = n.any_orthonormal_pair();
        let (ss, tt, st) = (along(s, s), along(t, t), along(s, t));
        let across = 0.5 * (ss + tt) + (0.25 * (ss - tt).powi(2) + st * st).sqrt();
        [along(n, n), across]
    }

    /// Velocity at a contact of the body relative to the other, m/s.
    pub fn relative(&self, contact: &Contact) -> DVec3 {
        let other = match contact.other {
            Other::Body(b) => self.sides[b].at(contact.at),
            Other::Solid(_) => contact.solid,
        };
        self.sides[contact.body].at(contact.at) - other
    }

    fn push(&mut self, contact: &Contact, impulse: DVec3) {
        self.sides[contact.body].push(contact.at, impulse);
        if let Other::Body(b) = contact.other {
            self.sides[b].push(contact.at, -impulse);
        }
    }

    /// Applies the impulses that the contacts start with.
    pub fn start(&mut self, contacts: &[Contact]) {
        for contact in contacts {
            self.push(contact, contact.normal * contact.pressed + contact.rubbed);
        }
    }

    /// Finds impulses so that each contact parts at `targets` m/s or faster where it presses, and obeys Coulomb's law.
    /// Sweeps to and fro over all contacts bring each to its own solution [Jean 1999]; between them, the
    /// impulses go on along conjugate directions [Silcowitz et al. 2010]. It ends when no contact changes by more than
    /// `tolerance` m/s.
    pub fn run(&mut self, contacts: &mut [Contact], targets: &[f64], most: u32, tolerance: f64) -> Ended {
        let mut ended = Ended::default();
        let count = contacts.len();
        let mut directions = vec![DVec3::ZERO; count];
        let mut last = 0.0;
        while ended.sweeps < most && count > 0 {
            let before: Vec<DVec3> = contacts.iter().map(Contact::impulse).collect();
            ended.change = 0.0;
            for n in (0..count).chain((0..count).rev()) {
                let changed = self.relax(&mut contacts[n], self.yields[n], targets[n]);
                ended.change = ended.change.max(changed);
            }
            ended.sweeps += 2;
            if ended.change <= tolerance {
                break;
            }
            let steps: Vec<DVec3> = contacts.iter().zip(&before).map(|(c, b)| c.impulse() - *b).collect();
            let square: f64 = steps.iter().zip(&self.yields).map(|(s, y)| s.length_squared() * y[1]).sum();
            let more = if last > 0.0 { square / last } else { 0.0 };
            last = square;
            if more > 1.0 || ended.sweeps >= most {
                directions = steps;
                last = if more > 1.0 { 0.0 } else { last };
                continue;
            }
            for ((contact, direction), step) in contacts.iter_mut().zip(&mut directions).zip(&steps) {
                let on = *direction * more;
                contact.take(on);
                self.push(contact, on);
                *direction = on + *step;
            }
        }
        ended
    }

    /// Brings one contact to its solution; the change of velocity there, m/s.
    fn relax(&mut self, contact: &mut Contact, [along, across]: [f64; 2], target: f64) -> f64 {
        if along <= 0.0 {
            return 0.0;
        }
        let n = contact.normal;
        let speed = self.relative(contact).dot(n);
        let pressed = (contact.pressed + (target - speed) / along).max(0.0);
        let more = pressed - contact.pressed;
        contact.pressed = pressed;
        self.push(contact, n * more);
        let velocity = self.relative(contact);
        let sliding = velocity - n * velocity.dot(n);
        let wanted = contact.rubbed - sliding / across;
        let most = contact.friction * pressed;
        let rubbed = wanted.clamp_length_max(most);
        let rubs = rubbed - contact.rubbed;
        contact.rubbed = rubbed;
        self.push(contact, rubs);
        (more.abs() * along).max(rubs.length() * across)
    }

    /// The same bodies at rest, for the solve that only undoes overlaps.
    pub fn at_rest(mut self) -> Self {
        self.sides.iter_mut().for_each(|s| s.velocity = Velocity::default());
        self
    }

    /// Velocities as they are now.
    pub fn velocities(&self) -> impl Iterator<Item = Velocity> {
        self.sides.iter().map(|s| s.velocity)
    }
}
