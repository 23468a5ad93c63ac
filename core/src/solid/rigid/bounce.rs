//! Bodies that bounce in the middle of a substep.

use super::contact::{Contact, Other};
use super::joints::Linkage;
use super::solve::{Solve, Until};
use super::{Body, Velocity};
use crate::union_find::DisjointSets;
use glam::DVec3;

/// Impacts slower than this many kicks do not bounce.
const BOUNCES: f64 = 2.0;

/// What the contacts that pressed in the last substep give the bodies in this one if nothing bounces: what lies on a floor is not
/// falling when a ball hits it. Nothing where nothing may bounce.
pub(super) fn lifts(
    bodies: &[Body],
    found: &[Contact],
    linkage: &Linkage,
    before: &Solve,
    (next, until): (f64, Until),
) -> Vec<Velocity> {
    let rests = |c: &&Contact| c.pressed > 0.0;
    if !found.iter().any(|c| c.restitution > 0.0 && !rests(&c)) || !found.iter().any(|c| rests(&c)) {
        return vec![Velocity::default(); bodies.len()];
    }
    let mut resting: Vec<Contact> = found.iter().filter(rests).copied().collect();
    let held = holding(bodies, &mut resting, linkage, before, (next, until));
    let lift = |(held, free): (Velocity, Velocity)| Velocity {
        linear: held.linear - free.linear,
        angular: held.angular - free.angular,
    };
    held.into_iter().zip(before.velocities()).map(lift).collect()
}

/// Solves for contacts that all press, from the impulses that they have and the velocities of `before`, whose energy bounds what they give.
/// Gives the velocities.
fn holding(
    bodies: &[Body],
    contacts: &mut [Contact],
    linkage: &Linkage,
    before: &Solve,
    (next, until): (f64, Until),
) -> Vec<Velocity> {
    let mut targets: Vec<f64> = contacts.iter().map(|c| held(c, next)).collect();
    let mut solve = Solve::new(bodies, contacts, linkage, &[]).moving(before.velocities().into_iter());
    solve.start(contacts, &[]);
    let energies = before.energies();
    solve.run(contacts, &mut [], &mut targets, Until { energy_before: Some(&energies), ..until });
    solve.velocities()
}

/// The least speed at which a contact must part, m/s: it does not overlap after the drift that comes, or bounces in it.
pub(super) fn target(
    (before, lifts): (&Solve, &[Velocity]),
    bodies: &[Body],
    contact: &mut Contact,
    next: f64,
    meets: bool,
) -> f64 {
    let (parting, late) = match bounce((before, lifts), bodies, contact, next) {
        Meeting::Presses => return held(contact, next),
        Meeting::Bounce { parting, late } if meets => (parting, late),
        _ => {
            (contact.pressed, contact.rubbed) = (0.0, DVec3::ZERO);
            return f64::NEG_INFINITY;
        }
    };
    contact.late = Some(late);
    let Other::Body(b) = contact.other else { return parting };
    let (a, b) = (&bodies[contact.body], &bodies[b]);
    if !a.is_free() || !b.is_free() {
        return parting;
    }
    let approach = -before.relative(contact).dot(contact.normal);
    let gained = late * (b.speed().linear - a.speed().linear);
    contact.shift = (0.5 * gained).clamp_length_max(0.5 * a.shape.radius().min(b.shape.radius()));
    // Spin gives the places where the impulse acts another speed; it is that one that turns around.
    let there = -before.relative(contact).dot(contact.normal);
    if there <= 0.0 {
        contact.shift = DVec3::ZERO;
        return parting;
    }
    parting + contact.restitution * (there - approach)
}

/// Which contacts bounce if they are fast enough. On a solid, those do that would press if nothing bounced.
/// Others only come near because these were not held: what rolls does not hop, and a ball bounces on its lowest place.
pub(super) fn meeting(
    bodies: &[Body],
    found: &[Contact],
    linkage: &Linkage,
    before: &Solve,
    (next, until): (f64, Until),
) -> Vec<bool> {
    let bounces = |c: &Contact| matches!(c.other, Other::Solid(_)) && c.restitution > 0.0;
    let asked: Vec<usize> = (0..found.len()).filter(|&n| bounces(&found[n])).collect();
    let free = |n: &usize| Contact { pressed: 0.0, rubbed: DVec3::ZERO, friction: 0.0, ..found[*n] };
    let mut pressing: Vec<Contact> = asked.iter().map(free).collect();
    holding(bodies, &mut pressing, linkage, before, (next, until));
    let mut meets = vec![true; found.len()];
    asked.iter().zip(&pressing).for_each(|(n, contact)| meets[*n] = contact.pressed > 0.0);
    meets
}

/// The least speed, m/s, at which a contact that presses parts: the two do not overlap at the end of the drift.
pub(super) fn held(contact: &Contact, next: f64) -> f64 {
    if next > 0.0 { -(contact.gap.max(0.0) + contact.bend) / next } else { 0.0 }
}

/// What a contact does in the drift that comes.
enum Meeting {
    /// It presses as far as it must so that the two do not overlap.
    Presses,
    /// The two do not meet by themselves. If others push them together they bounce in the next substep: held now, they would
    /// lose what they bounce with.
    Later,
    /// They bounce.
    Bounce {
        /// Speed at which they part, m/s, as the middle of the drift knows it.
        parting: f64,
        /// Time until they meet, s.
        late: f64,
    },
}

/// The bounce in the drift that comes, if there is one: where the two meet, at a height and with a speed that forces
/// give them until then, `restitution` turns that speed around (impacts are solved for with restitution, contacts without [Guendelman et al. 2003]), and forces go on. Exact for a constant force along the
/// normal: a body that loses nothing comes back to the height that it fell from. It is given as one impulse in the middle of the
/// drift; what they go until they meet is undone by [`Body::push`].
fn bounce((before, lifts): (&Solve, &[Velocity]), bodies: &[Body], contact: &Contact, next: f64) -> Meeting {
    let (gap, e) = ((contact.gap.max(0.0) + contact.bend).max(0.0), contact.restitution);
    let approach = -before.relative(contact).dot(contact.normal);
    if e <= 0.0 || next <= 0.0 {
        return Meeting::Presses;
    }
    let others = if let Other::Body(b) = contact.other { Some(b) } else { None };
    // What forces give the two in a second there, and what they do while others hold the bodies.
    let pulled = |n: usize, of: Velocity| {
        let body = &bodies[n];
        let there = of.linear + of.angular.cross(contact.at - body.pose.position);
        if body.is_free() && body.kicked > 0.0 { there / body.kicked } else { DVec3::ZERO }
    };
    let kicks = [Some(contact.body), others].map(|n| n.map_or(DVec3::ZERO, |n| pulled(n, bodies[n].kick)));
    let lifted = [Some(contact.body), others].map(|n| n.map_or(DVec3::ZERO, |n| pulled(n, lifts[n])));
    let pull = kicks[0] + lifted[0] - kicks[1] - lifted[1];
    // What rests on what is held lies on it with all of its own pull, though the two are pulled alike.
    let along = kicks.map(|kick| kick.dot(contact.normal).abs());
    let slow = BOUNCES * pull.length().max(along[0]).max(along[1]) * next;
    if approach * next <= gap {
        return if approach.abs() >= slow { Meeting::Later } else { Meeting::Presses };
    }
    let g = -pull.dot(contact.normal);
    let first = approach - 0.5 * g * next;
    let hit = (first * first + 2.0 * g * gap).max(0.0).sqrt();
    let until = if first >= 0.0 { 2.0 * gap / (first + hit) } else { (hit - first) / g };
    let after = next - until.clamp(0.0, next);
    let end = (e * hit - 0.5 * g * after) * after;
    if hit <= slow || end <= 0.0 {
        return Meeting::Presses;
    }
    let parting = e * hit + g * (0.5 * next - after);
    Meeting::Bounce { parting, late: (gap + next * parting - end) / (parting + approach) }
}

/// What the next drift, `next` seconds, differs by from the speed after the bounces in it, as velocity: until then bodies go on as
/// before. `after`: the solve as it ended. `waits` solves for contacts without these, from the impulses that they have.
///
/// What nothing else holds goes at its speed before the impulse. What others hold, such as the crate that a ball falls on and
/// those below it, they hold until then, with other impulses than during the bounce.
pub(super) fn before_bounces(
    bodies: &[Body],
    (found, targets): (&[Contact], &[f64]),
    (after, waits): (&Solve, impl Fn(&[Contact], &[f64]) -> Vec<Velocity>),
    next: f64,
) -> Vec<Velocity> {
    let mut back = vec![Velocity::default(); bodies.len()];
    let presses = |c: &&Contact| c.pressed > 0.0;
    if next <= 0.0 || !found.iter().filter(presses).any(|c| c.late.is_some()) {
        return back;
    }
    let mut sets = DisjointSets::new(bodies.len());
    after.unite_joined(&mut sets);
    for contact in found.iter().filter(presses) {
        if let Other::Body(b) = contact.other
            && bodies[b].is_free()
            && bodies[contact.body].is_free()
        {
            sets.union(contact.body, b);
        }
    }
    // Of each body, and of all that press on each other, the impulses of bounces, and these by their times.
    let mut own = vec![[0.0; 2]; bodies.len()];
    let mut all = own.clone();
    let mut held = vec![false; bodies.len()];
    for contact in found.iter().filter(presses) {
        for (n, at, sign) in contact.ends().into_iter().flatten().filter(|(n, ..)| bodies[*n].is_free()) {
            let set = sets.find(n);
            let Some(time) = contact.late else {
                held[set] = true;
                continue;
            };
            let impulse = contact.impulse() * (-sign * time / next);
            let turn = (at - bodies[n].pose.position).cross(impulse);
            back[n].linear += impulse / bodies[n].shape.mass();
            back[n].angular += bodies[n].inverse_inertia() * turn;
            for sum in [&mut own[n], &mut all[set]] {
                *sum = [sum[0] + contact.pressed, sum[1] + contact.pressed * time];
            }
            held[set] |= after.is_joined(n);
        }
    }
    let set: Vec<usize> = (0..bodies.len()).map(|n| sets.find(n)).collect();
    let both: Vec<usize> = (0..bodies.len()).filter(|&n| held[set[n]] && all[set[n]][0] > 0.0).collect();
    if both.is_empty() {
        return back;
    }
    let free = |c: &Contact| Contact { pressed: 0.0, rubbed: DVec3::ZERO, ..*c };
    let others: Vec<Contact> = found.iter().map(|c| if c.late.is_some() { free(c) } else { *c }).collect();
    let targets: Vec<f64> = found
        .iter()
        .zip(targets)
        .map(|(c, t)| if c.late.is_some() { f64::NEG_INFINITY } else { *t })
        .collect();
    let (before, after) = (waits(&others, &targets), after.velocities());
    for n in both {
        let [impulses, times] = if own[n][0] > 0.0 { own[n] } else { all[set[n]] };
        let share = times / impulses / next;
        back[n].linear = (before[n].linear - after[n].linear) * share;
        back[n].angular = (before[n].angular - after[n].angular) * share;
    }
    back
}
