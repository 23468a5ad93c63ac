//! Sweeps over contacts, motors and stops, one island after the other.

use super::newton::ENOUGH;
use super::pair::{Pair, pressed};
use super::{Ended, Solve, Until};
use crate::solid::rigid::Velocity;
use crate::solid::rigid::contact::{Contact, Other};
use crate::solid::rigid::joints::{Bound, dot};
use crate::union_find::DisjointSets;
use glam::DVec3;

/// Sweeps after which an island's contacts are solved for all at once.
const FEW: u32 = 10;

/// How many times the energy that there was and that of what bounces contacts may leave. Those that agree leave no more, but for what they
/// give for the turn in a drift.
const MOST_GROWTH: f64 = 1.5;
/// How many times the energy that they would have with the speed of what drives them: levers are faster than what strikes them.
const MOST_DRIVEN: f64 = 10.0;

/// Contacts and bounds whose impulses feel each other.
#[derive(Default)]
struct Island {
    contacts: Vec<usize>,
    bounds: Vec<usize>,
}

/// What the rows are brought to: per contact its least speed, per bound its speed by impulse.
struct Aims<'a> {
    targets: &'a [f64],
    light: &'a [f64],
}

impl Solve {
    /// Finds impulses so that each contact parts at `targets` m/s or faster where it presses, and obeys Coulomb's law, and
    /// each motor and stop has its speed or the most that it gives. It ends when nothing changes by more than `tolerance` m/s.
    /// Targets that are given up are no more than 0 afterwards.
    pub fn run(
        &mut self,
        contacts: &mut [Contact],
        bounds: &mut [Bound],
        targets: &mut [f64],
        until: Until,
    ) -> Ended {
        let light: Vec<f64> = bounds.iter().map(|bound| self.light(bound)).collect();
        let mut ended = Ended::default();
        for island in self.islands(contacts, bounds) {
            let one = self.settle_within_reason(contacts, bounds, (&island, targets, &light), until);
            ended.sweeps = ended.sweeps.max(one.sweeps);
            ended.change = ended.change.max(one.change);
        }
        ended
    }

    /// The islands, in the order of their first contacts.
    fn islands(&self, contacts: &[Contact], bounds: &[Bound]) -> Vec<Island> {
        let mut sets = DisjointSets::new(self.sides.len());
        let moves = |n: usize| self.sides[n].inverse_mass > 0.0;
        for contact in contacts {
            if let Other::Body(b) = contact.other
                && moves(b)
                && moves(contact.body)
            {
                sets.union(contact.body, b);
            }
        }
        for bound in bounds {
            let mut ends = bound.row.ends.into_iter().flatten().filter(|&n| moves(n));
            if let (Some(a), Some(b)) = (ends.next(), ends.next()) {
                sets.union(a, b);
            }
        }
        self.unite_joined(&mut sets);
        let mut islands: Vec<Island> = Vec::new();
        let mut place = vec![usize::MAX; self.sides.len()];
        let mut of = |sets: &mut DisjointSets, ends: [Option<usize>; 2]| {
            let body = ends.into_iter().flatten().find(|&n| moves(n))?;
            let place = &mut place[sets.find(body)];
            if *place == usize::MAX {
                *place = islands.len();
                islands.push(Island::default());
            }
            Some(*place)
        };
        let mut members = Vec::with_capacity(contacts.len());
        for contact in contacts {
            let other = if let Other::Body(b) = contact.other { Some(b) } else { None };
            members.push(of(&mut sets, [Some(contact.body), other]));
        }
        let turned: Vec<_> = bounds.iter().map(|bound| of(&mut sets, bound.row.ends)).collect();
        let each = |all: Vec<Option<usize>>| all.into_iter().enumerate().filter_map(|(n, at)| Some((n, at?)));
        each(members).for_each(|(n, at)| islands[at].contacts.push(n));
        each(turned).for_each(|(n, at)| islands[at].bounds.push(n));
        islands
    }

    /// Settles an island. Contacts that press a body from both sides, as in a wall that it lies in, may have no solution but an extreme
    /// turn: where bodies without joints would get more energy than they had, and than what moves or bounces has, contacts only
    /// hold, and part at no speed of their own. Then bodies at rest obey them all, so that no energy comes from them; sweeps that
    /// begin without impulses take energy from the first one on. Where solves follow each other, each with contacts placed for
    /// the turns that the last one found, the energy that counts is that before the first.
    fn settle_within_reason(
        &mut self,
        contacts: &mut [Contact],
        bounds: &mut [Bound],
        (island, targets, light): (&Island, &mut [f64], &[f64]),
        until: Until,
    ) -> Ended {
        let pairs: Vec<&Pair> = island.contacts.iter().filter_map(|&n| self.pairs[n].as_ref()).collect();
        let Some(before) =
            until.energy_before.filter(|_| island.bounds.is_empty() && pairs.len() == island.contacts.len())
        else {
            return self.settle(contacts, bounds, (island, &Aims { targets, light }), until);
        };
        let mut bodies: Vec<usize> =
            pairs.iter().flat_map(|pair| pair.ends()).filter_map(|end| end.0).collect();
        bodies.retain(|&n| self.sides[n].inverse_mass > 0.0);
        bodies.sort_unstable();
        bodies.dedup();
        // What presses parts as fast as it must so that it does not overlap: that is no speed of its own. What bounces has one, and may
        // bounce off what moves.
        let mut speeds = [0.0f64; 2];
        for (pair, &n) in pairs.iter().zip(&island.contacts) {
            let parting = if contacts[n].late.is_some() { targets[n].max(0.0) } else { 0.0 };
            let driven = pair.driven_speed(&self.sides);
            speeds = [speeds[0].max(driven), speeds[1].max(driven + parting)];
        }
        let energy = |solve: &Self| -> f64 { bodies.iter().map(|&n| solve.sides[n].kinetic_energy()).sum() };
        let had: f64 = bodies.iter().map(|&n| before[n]).sum();
        let mass: f64 = bodies.iter().map(|&n| 1.0 / self.sides[n].inverse_mass).sum();
        let [driven, bounced] = speeds.map(|speed| 0.5 * mass * speed * speed);
        let most = MOST_GROWTH * (had + bounced) + MOST_DRIVEN * driven;
        let speeds: Vec<Velocity> = bodies.iter().map(|&n| self.sides[n].velocity).collect();
        let known: Vec<Contact> = island.contacts.iter().map(|&n| contacts[n]).collect();
        let ended = self.settle(contacts, bounds, (island, &Aims { targets, light }), until);
        if energy(self) <= most {
            return ended;
        }
        bodies.iter().zip(speeds).for_each(|(&n, speed)| self.sides[n].velocity = speed);
        for (&n, contact) in island.contacts.iter().zip(known) {
            contacts[n] = Contact { pressed: 0.0, rubbed: DVec3::ZERO, late: None, ..contact };
            if let Some(pair) = &self.pairs[n] {
                pair.push(&mut self.sides, (0.0, -contact.impulse()));
            }
            targets[n] = targets[n].min(0.0);
        }
        let again = self.settle(contacts, bounds, (island, &Aims { targets, light }), until);
        Ended { sweeps: ended.sweeps + again.sweeps, ..again }
    }

    /// Settles an island. Sweeps to and fro over all bring each to its own solution [Jean 1999]; between them, the impulses go
    /// on along conjugate directions [Silcowitz et al. 2010]. Where a few do not do, Newton's method solves for all at once.
    fn settle(
        &mut self,
        contacts: &mut [Contact],
        bounds: &mut [Bound],
        (island, aims): (&Island, &Aims),
        until: Until,
    ) -> Ended {
        let Until { mut most, mut tolerance, soft, interrupt, .. } = until;
        let mut ended = Ended::default();
        let count = island.contacts.len();
        let all = count + island.bounds.len();
        let mut directions = vec![DVec3::ZERO; count];
        let mut turning = vec![0.0; island.bounds.len()];
        let mut last = 0.0;
        let mut at_once = island.bounds.is_empty();
        while ended.sweeps < most && !interrupt.asked() {
            let before: Vec<DVec3> = island.contacts.iter().map(|&n| contacts[n].impulse()).collect();
            let held: Vec<f64> = island.bounds.iter().map(|&n| bounds[n].pressed).collect();
            ended.change = 0.0;
            for n in (0..all).chain((0..all).rev()) {
                let changed = match island.contacts.get(n) {
                    Some(&n) => self.relax(n, &mut contacts[n], aims.targets[n], soft),
                    None => {
                        let n = island.bounds[n - count];
                        self.relax_bound(&mut bounds[n], aims.light[n])
                    }
                };
                ended.change = ended.change.max(changed);
            }
            ended.sweeps += 2;
            if ended.change <= tolerance {
                break;
            }
            if at_once && ended.sweeps >= FEW {
                at_once = false;
                let found = self.at_once(contacts, (&island.contacts, aims.targets), until);
                if let Some(found) = found {
                    ended = Ended { sweeps: ended.sweeps + found.sweeps, change: found.change };
                    if found.change <= tolerance {
                        break;
                    }
                    // Sweeps go on from there, and along directions of their own.
                    (most, tolerance, last) = (most + found.sweeps, tolerance * ENOUGH, 0.0);
                    continue;
                }
            }
            let steps: Vec<DVec3> =
                island.contacts.iter().zip(&before).map(|(&n, b)| contacts[n].impulse() - *b).collect();
            let turns: Vec<f64> =
                island.bounds.iter().zip(&held).map(|(&n, h)| bounds[n].pressed - h).collect();
            let of_contacts = island.contacts.iter().zip(&steps);
            let square: f64 = of_contacts.map(|(&n, s)| s.length_squared() * self.yields[n][1]).sum();
            let of_bounds = island.bounds.iter().zip(&turns);
            let square = square + of_bounds.map(|(&n, t)| t * t * aims.light[n]).sum::<f64>();
            let more = if last > 0.0 { square / last } else { 0.0 };
            last = square;
            if more > 1.0 || ended.sweeps >= most {
                (directions, turning) = (steps, turns);
                last = if more > 1.0 { 0.0 } else { last };
                continue;
            }
            for ((&n, direction), step) in island.contacts.iter().zip(&mut directions).zip(steps) {
                let on = *direction * more;
                contacts[n].take(on);
                match &self.pairs[n] {
                    Some(pair) => pair.push(&mut self.sides, (0.0, on)),
                    None => self.push(&contacts[n], on),
                }
                *direction = on + step;
            }
            for ((&n, direction), step) in island.bounds.iter().zip(&mut turning).zip(&turns) {
                let on = *direction * more;
                bounds[n].pressed += on;
                self.push_bound(&bounds[n], on);
                *direction = on + step;
            }
        }
        ended
    }

    /// Brings one motor or stop to its solution; the change of its speed.
    fn relax_bound(&mut self, bound: &mut Bound, light: f64) -> f64 {
        if light <= 0.0 {
            return 0.0;
        }
        let speed: f64 = bound
            .row
            .ends
            .iter()
            .zip(&bound.row.jacobian)
            .map(|(end, j)| end.map_or(0.0, |n| dot(j, &self.sides[n].velocity)))
            .sum();
        let [least, most] = bound.range;
        let pressed = (bound.pressed + (bound.row.target - speed) / light).max(least).min(most);
        let more = pressed - bound.pressed;
        bound.pressed = pressed;
        self.push_bound(bound, more);
        more.abs() * light
    }

    /// Brings one contact to its solution; the change of velocity there, m/s.
    fn relax(&mut self, at: usize, contact: &mut Contact, target: f64, soft: f64) -> f64 {
        let [along, across] = self.yields[at];
        if along <= 0.0 || target == f64::NEG_INFINITY {
            return 0.0;
        }
        if let Some(pair) = &self.pairs[at] {
            return pair.relax(&mut self.sides, contact, [along, across], (target, soft));
        }
        let n = contact.normal;
        let speed = self.relative(contact).dot(n);
        let pressed = pressed(contact.pressed, target - speed, (along, soft));
        let more = pressed - contact.pressed;
        contact.pressed = pressed;
        self.push(contact, n * more);
        if across <= 0.0 {
            return more.abs() * along;
        }
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
}
