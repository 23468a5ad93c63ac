//! What the rigid solver tells a coupling, and what it takes from it.

use super::{AT, CONSTRAINTS, CONTACTS, DYNAMICS, MOVED, Met, RigidSolver, names, sum};
use crate::exchange::{constraints, contacts, rigid};
use meniscus_abi::guest::{Call, Failure, Outcome};
use meniscus_core::solid::rigid::{Body, Velocity, given};
use std::collections::BTreeMap;

impl RigidSolver {
    /// What a coupling is told of the bodies: their velocities, and the joints and contacts that it solves for with its
    /// pressure. Those that press under the pressure of the substep before are a first guess. Friction acts as it does
    /// with that guess; and so do the contacts of more bodies than a coupling can join. In the first substep there is no guess: what
    /// hardly rests on the floor would be held by the friction of its whole weight, so nothing rubs until the pressure is known.
    pub(super) fn contribute(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        let (bodies, before) = rigid::read_flying(call, AT, &mut self.shapes)?;
        let pressed = each(call, &bodies, "pressed")?;
        let mut held = bodies.clone();
        for (body, pressed) in held.iter_mut().zip(&pressed).filter(|(b, _)| b.led.is_none()) {
            body.take(sum(body.speed(), pressed.unwrap_or_default(), body.kicked));
        }
        for (body, before) in held.iter_mut().zip(&before) {
            body.nearing = Some(speed_of(body, *before));
        }
        let alone: Vec<Velocity> = held.iter().map(Body::speed).collect();
        let Met { memory, mut ties, .. } = self.contacts(call, &mut held)?;
        let places = places(call, &bodies);
        ties.retain(|tie| tie.ends.iter().all(|(n, _)| places[*n].is_some()));
        // The coupling finds what these rows give anew.
        let given = given(&held, &ties);
        let told = |n: usize| match pressed[n] {
            Some(_) => sum(sum(sum(bodies[n].speed(), held[n].speed(), 1.0), alone[n], -1.0), given[n], -1.0),
            None => bodies[n].speed(),
        };
        let told: Vec<Velocity> = (0..bodies.len()).map(told).collect();
        for item in 0..call.items(AT.rigid) {
            if call.table(AT.rigid, item).is_none() || call.table(DYNAMICS, item).is_none() {
                continue;
            }
            let of = |n: &usize| places[*n].is_some() && bodies[*n].key[0] == i64::from(item);
            let own: Vec<usize> = (0..bodies.len()).filter(of).collect();
            let told: Vec<(&Body, Velocity)> = own.iter().map(|&n| (&bodies[n], told[n])).collect();
            let before = own.iter().map(|&n| speed_of(&bodies[n], before[n]));
            rigid::write_dynamics(call, DYNAMICS, item, &told, Some(&before.collect::<Vec<_>>()))?;
            call.write_array(AT.rigid, item, c"wet", 1, &[1i32])?;
        }
        let names = names(call)?;
        if let Some((object, _)) = ties.first().and_then(|tie| places[tie.ends[0].0]) {
            constraints::write(call, CONSTRAINTS, object as u32, &names.objects, &places, &ties)?;
        }
        contacts::write(call, CONTACTS, &names, &memory)?;
        Ok(Outcome::Done)
    }

    /// Takes what a coupling has solved for, and lets the bodies touch: the contacts that held in the coupling hold under its
    /// pressures, and rub. What rows of somebody else gave to the bodies stays.
    pub(super) fn correct(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        let (mut bodies, before) = rigid::read_flying(call, AT, &mut self.shapes)?;
        let mut pressed = vec![Velocity::default(); bodies.len()];
        let own_rows = own_rows(call)?;
        for item in 0..call.items(AT.rigid) {
            let Some(impulses) = rigid::read_moved(call, MOVED, item)? else { continue };
            let is_own = |n: &usize| bodies[*n].key[0] == i64::from(item) && bodies[*n].led.is_none();
            let own: Vec<usize> = (0..bodies.len()).filter(is_own).collect();
            let pulled = rigid::read_pulled(call, MOVED, item)?;
            for (number, (n, impulse)) in own.into_iter().zip(impulses).enumerate() {
                let given = own_rows.get(&(item as usize, number)).copied().unwrap_or_default();
                let foreign = sum(pulled.get(number).copied().unwrap_or(given), given, -1.0);
                let by_pressure = Velocity {
                    linear: impulse.linear / bodies[n].shape.mass(),
                    angular: bodies[n].inverse_inertia() * impulse.angular,
                };
                if bodies[n].kicked > 0.0 {
                    pressed[n] = sum(Velocity::default(), by_pressure, 1.0 / bodies[n].kicked);
                }
                bodies[n].nearing = Some(speed_of(&bodies[n], before[n]));
                let by_others = Velocity {
                    linear: foreign.linear / bodies[n].shape.mass(),
                    angular: bodies[n].inverse_inertia() * foreign.angular,
                };
                let freed = sum(sum(bodies[n].speed(), by_pressure, 1.0), by_others, 1.0);
                bodies[n].take(freed);
            }
        }
        self.touch(call, bodies, &before, &pressed)
    }
}

/// What the rows that this solver told gave to each body (N s, N m s), by object and number in its `dynamics`.
fn own_rows(call: &Call) -> Result<BTreeMap<(usize, usize), Velocity>, Failure> {
    let mut given: BTreeMap<(usize, usize), Velocity> = BTreeMap::new();
    for item in 0..call.items(CONSTRAINTS) {
        let Some(held) = call.table(MOVED, item).and_then(|t| t.array::<f64>("held").map(<[f64]>::to_vec))
        else {
            continue;
        };
        for (row, entries) in held.iter().zip(constraints::entries(call, CONSTRAINTS, item)) {
            for (object, freedom, value) in entries {
                let velocity = given.entry((object, freedom / 6)).or_default();
                let part = if freedom % 6 < 3 { &mut velocity.linear } else { &mut velocity.angular };
                part[freedom % 3] += value * row;
            }
        }
    }
    Ok(given)
}

/// Velocity of a body from that of its middle and its angular momentum.
fn speed_of(body: &Body, Velocity { linear, angular }: Velocity) -> Velocity {
    Velocity { linear, angular: body.inverse_inertia() * angular }
}

/// Per body that takes part in a coupling: its object, and its number in the `dynamics` of that.
fn places(call: &Call, bodies: &[Body]) -> Vec<Option<(usize, usize)>> {
    let mut counts = vec![0; call.items(AT.rigid) as usize];
    let place = |body: &Body| {
        let object = usize::try_from(body.key[0]).ok()?;
        call.table(DYNAMICS, object as u32).filter(|_| body.led.is_none())?;
        let count = counts.get_mut(object)?;
        *count += 1;
        Some((object, *count - 1))
    };
    bodies.iter().map(place).collect()
}

/// What the items' tables hold for each body under a name; `None` where they hold nothing.
fn each(call: &Call, bodies: &[Body], what: &str) -> Result<Vec<Option<Velocity>>, Failure> {
    let mut all = vec![None; bodies.len()];
    for item in 0..call.items(AT.rigid) {
        let Some(values) = rigid::read_velocities(call, AT, item, what)? else { continue };
        let own = (0..bodies.len()).filter(|&n| bodies[n].key[0] == i64::from(item));
        own.zip(values).for_each(|(n, value)| all[n] = Some(value));
    }
    Ok(all)
}

/// Whether the bodies have drifted in this substep and their contacts have not been solved for.
pub(super) fn is_flying(call: &Call) -> bool {
    let flies = |item| call.table(AT.rigid, item).is_some_and(|t| t.array::<f64>("flight").is_some());
    (0..call.items(AT.rigid)).any(flies)
}
