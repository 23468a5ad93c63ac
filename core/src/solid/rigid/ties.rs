//! What holds bodies, for those who solve for more than the bodies: joints, motors, stops and contacts as rows over their
//! velocities.

use super::contact::{Contact, Other};
use super::joints::{Bound, Linkage, dot};
use super::{Body, Velocity};
use crate::union_find::DisjointSets;

/// The most bodies that joints join in rows. A coupling makes one dense matrix of them, and its multigrid knows those of up to 42
/// bodies. What joins more is taken as it was without the pressure's answer.
const JOINED: usize = 40;
/// The same of bodies that touch. Contacts that come and go make a pressure be solved for several times, and what touches in a heap
/// changes all the time: 27 crates that fell into water took up to eight solves a substep, 21 iterations in place of 5, and often
/// did not settle; 12 took two; what lies takes one.
const TOUCHING: usize = 12;

/// A row: the sum of `ends` over the bodies' velocities is `wanted` where its impulse is within `range`, at least that where it
/// is the least, at most that where it is the most.
#[derive(Clone, Debug, PartialEq)]
pub struct Tie {
    /// The free bodies, by their places in the list, and what the row counts of their velocities: an impulse of 1 gives
    /// each as much.
    pub ends: Vec<(usize, Velocity)>,
    /// Speed, m/s or rad/s.
    pub wanted: f64,
    /// Speed by impulse with which it gives way, 0 where it is rigid.
    pub soft: f64,
    /// The least and the most impulse, N s or N m s.
    pub range: [f64; 2],
    /// The impulse that it has, as far as one knows without the pressure.
    pub pressed: f64,
}

impl Tie {
    /// `ends` of bodies that something else moves count as what they do.
    fn new(bodies: &[Body], ends: &[(usize, Velocity)], wanted: f64) -> Self {
        let (free, led): (Vec<_>, Vec<_>) = ends.iter().partition(|(n, _)| bodies[*n].is_free());
        let does = |(n, counts): &(usize, Velocity)| match bodies[*n].rest.asleep {
            true => 0.0,
            false => dot(counts, &bodies[*n].speed()),
        };
        let wanted = wanted - led.iter().map(does).sum::<f64>();
        Self { ends: free, wanted, soft: 0.0, range: [f64::NEG_INFINITY, f64::INFINITY], pressed: 0.0 }
    }

    /// Whether it only pushes.
    fn is_contact(&self) -> bool {
        self.range == [0.0, f64::INFINITY]
    }

    fn of_contact(bodies: &[Body], contact: &Contact, target: f64) -> Self {
        let n = contact.normal;
        let arm = |place: glam::DVec3, body: usize| (place - bodies[body].pose.position).cross(n);
        let own = Velocity { linear: n, angular: arm(contact.on_body(), contact.body) };
        let mut ends = vec![(contact.body, own)];
        let carried = match contact.other {
            Other::Solid(_) => contact.solid.dot(n),
            Other::Body(b) => {
                ends.push((b, Velocity { linear: -n, angular: -arm(contact.on_other(), b) }));
                0.0
            }
        };
        let pressed = contact.pressed;
        Self { range: [0.0, f64::INFINITY], pressed, ..Self::new(bodies, &ends, target + carried) }
    }
}

/// The rows of contacts with their least speeds, of joints with their impulses, and of motors and stops, as long as they join
/// few bodies.
pub(super) fn ties(
    bodies: &[Body],
    (contacts, targets): (&[Contact], &[f64]),
    (linkage, impulses): (&Linkage, &[f64]),
    bounds: &[Bound],
) -> Vec<Tie> {
    let meets = contacts.iter().zip(targets).filter(|(_, target)| target.is_finite());
    let mut all: Vec<Tie> =
        meets.map(|(contact, &target)| Tie::of_contact(bodies, contact, target)).collect();
    let ends = |row: &super::joints::Row| -> Vec<(usize, Velocity)> {
        row.ends.iter().zip(row.jacobian).filter_map(|(end, j)| Some(((*end)?, j))).collect()
    };
    for (row, &pressed) in linkage.rows().iter().zip(impulses) {
        all.push(Tie { soft: row.soft, pressed, ..Tie::new(bodies, &ends(row), row.target) });
    }
    for Bound { row, range, pressed, .. } in bounds {
        let (range, pressed) = (*range, *pressed);
        all.push(Tie { range, pressed, ..Tie::new(bodies, &ends(row), row.target) });
    }
    all.retain(|tie| !tie.ends.is_empty());
    let together = together(bodies, &all);
    all.retain(|tie| !tie.is_contact() || together[tie.ends[0].0] <= TOUCHING);
    let together = self::together(bodies, &all);
    all.retain(|tie| together[tie.ends[0].0] <= JOINED);
    all
}

/// How many free bodies rows join with each.
fn together(bodies: &[Body], ties: &[Tie]) -> Vec<usize> {
    let mut sets = DisjointSets::new(bodies.len());
    let pairs = ties.iter().flat_map(|tie| tie.ends.windows(2));
    pairs.for_each(|pair| sets.union(pair[0].0, pair[1].0));
    let mut count = vec![0; bodies.len()];
    (0..bodies.len()).filter(|&n| bodies[n].is_free()).for_each(|n| count[sets.find(n)] += 1);
    (0..bodies.len()).map(|n| count[sets.find(n)]).collect()
}

/// What rows have given each body, as a change of its velocity.
pub fn given(bodies: &[Body], ties: &[Tie]) -> Vec<Velocity> {
    let mut given = vec![Velocity::default(); bodies.len()];
    for tie in ties {
        for (n, counts) in &tie.ends {
            given[*n].linear += counts.linear * tie.pressed;
            given[*n].angular += counts.angular * tie.pressed;
        }
    }
    for (body, given) in bodies.iter().zip(&mut given) {
        given.linear /= body.shape.mass();
        given.angular = body.inverse_inertia() * given.angular;
    }
    given
}
