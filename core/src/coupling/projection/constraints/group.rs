//! Bodies that joints and contacts join: what holds them, and how they move.

use super::eliminate::{Eliminated, dot, weigh};
use crate::coupling::bodies::Constraint;
use crate::pressure::{AttachedMass, Column, MassError};

/// Share of the speeds by which a contact may be missed before it is taken up, and pull before it is let go.
const CLOSE: f64 = 1e-4;
/// The same, m/s, where nothing moves.
const STILL: f64 = 1e-9;
/// Sweeps that look for the rows that press, at most, and the share of [`CLOSE`] at which they end.
const SWEEPS: usize = 2000;
const FINE: f64 = 1e-3;
/// A row gives way by less than this share of what it would without joints: they hold it.
const HELD: f64 = 1e-8;

/// What a row does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Its speed is as it wants it.
    Holds,
    /// It gives the least impulse that it can.
    Least,
    /// It gives the most.
    Most,
}

/// How a group moves.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Motion {
    /// q̇ after the solve.
    pub(crate) velocity: Vec<f64>,
    /// λ of each row of the group, N s.
    pub(crate) impulses: Vec<f64>,
}

/// Whether a solve can stay as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No row pulls, and none is passed.
    Settled,
    /// Other rows hold now: the pressure must be solved for again.
    Changed,
    /// They have held before: it would go on for ever.
    Circles,
}

/// Bodies that rows join, as one body.
#[derive(Debug)]
pub(crate) struct Group {
    /// Its bodies, ascending, and the first degree of freedom of each.
    pub(crate) bodies: Vec<(usize, usize)>,
    /// Its rows, ascending.
    pub(crate) rows: Vec<usize>,
    /// J, one row after the other.
    jacobian: Vec<Vec<f64>>,
    /// What the rows say.
    laws: Vec<Law>,
    /// M⁻¹, row-major.
    inverse: Vec<f64>,
    /// q̇ without pressures and rows.
    start: Vec<f64>,
    /// Impulses to start from.
    told: Vec<f64>,
    states: Vec<State>,
    tried: Vec<Vec<State>>,
    held: Holding,
}

/// A row's numbers; see [`Constraint`].
#[derive(Clone, Copy, Debug)]
struct Law {
    wanted: f64,
    soft: f64,
    range: [f64; 2],
}

impl Law {
    fn is_joint(&self) -> bool {
        self.range == [f64::NEG_INFINITY, f64::INFINITY]
    }

    fn at(&self, state: State) -> f64 {
        match state {
            State::Holds => 0.0,
            State::Least => self.range[0],
            State::Most => self.range[1],
        }
    }
}

/// What follows from the states of the rows.
#[derive(Debug, Default)]
struct Holding {
    /// (M + Jₛᵀ Jₛ / soft)⁻¹ with the rows that hold and give way.
    weight: Vec<f64>,
    /// q̇ without pressures and without the rigid rows that hold.
    given: Vec<f64>,
    /// The rigid rows that hold.
    rigid: Eliminated,
}

impl Group {
    /// `parts`: bodies, with M⁻¹ (row-major) and q̇ without the solve of each; `rows`: the constraints among them.
    pub(crate) fn new(
        parts: &[(usize, &[f64], &[f64])],
        rows: Vec<usize>,
        constraints: &[Constraint],
    ) -> Self {
        let mut bodies = Vec::with_capacity(parts.len());
        let size = parts.iter().map(|part| part.2.len()).sum();
        let (mut inverse, mut start) = (vec![0.0; size * size], Vec::with_capacity(size));
        for &(body, weight, velocity) in parts {
            let (first, k) = (start.len(), velocity.len());
            bodies.push((body, first));
            for (i, row) in weight.chunks_exact(k.max(1)).enumerate() {
                inverse[(first + i) * size + first..][..k].copy_from_slice(row);
            }
            start.extend_from_slice(velocity);
        }
        let row = |&r: &usize| {
            let mut row = vec![0.0; size];
            for &(body, freedom, value) in &constraints[r].entries {
                if let Ok(at) = bodies.binary_search_by_key(&body, |b| b.0) {
                    row[bodies[at].1 + freedom] += value;
                }
            }
            row
        };
        let jacobian: Vec<Vec<f64>> = rows.iter().map(row).collect();
        let of = |&r: &usize| {
            let Constraint { wanted, soft, range, .. } = constraints[r];
            Law { wanted, soft, range }
        };
        let state = |&r: &usize| {
            let Constraint { range: [least, most], pressed, .. } = constraints[r];
            match pressed {
                p if p <= least => State::Least,
                p if p >= most => State::Most,
                _ => State::Holds,
            }
        };
        let told = |&r: &usize| {
            let Constraint { range: [least, most], pressed, .. } = constraints[r];
            pressed.max(least).min(most)
        };
        let told = rows.iter().map(told).collect();
        let laws = rows.iter().map(of).collect();
        let states: Vec<State> = rows.iter().map(state).collect();
        let tried = vec![states.clone()];
        let held = Holding::default();
        let mut group = Self { bodies, jacobian, laws, inverse, start, told, states, tried, held, rows };
        group.held = group.holding();
        group
    }

    /// Degrees of freedom.
    pub(crate) fn size(&self) -> usize {
        self.start.len()
    }

    fn which(&self, wanted: impl Fn(usize) -> bool) -> Vec<usize> {
        (0..self.rows.len()).filter(|&r| wanted(r)).collect()
    }

    /// Lets rows that give way act on a weight and a velocity.
    fn soften(&self, rows: &[usize], weight: &mut [f64], velocity: &mut [f64]) {
        let k = self.size();
        for &r in rows {
            let (j, Law { wanted, soft, .. }) = (&self.jacobian[r], self.laws[r]);
            let pull = weigh(weight, j);
            let by = 1.0 / (soft + dot(j, &pull));
            let missing = wanted - dot(j, velocity);
            velocity.iter_mut().zip(&pull).for_each(|(v, p)| *v += by * missing * p);
            for (i, row) in weight.chunks_exact_mut(k.max(1)).enumerate() {
                row.iter_mut().zip(&pull).for_each(|(w, p)| *w -= by * pull[i] * p);
            }
        }
    }

    /// Gives the impulses of rows that are at their least or most.
    fn push(&self, rows: &[usize], velocity: &mut [f64]) {
        for &r in rows {
            let impulse = self.laws[r].at(self.states[r]);
            if impulse != 0.0 {
                let pull = weigh(&self.inverse, &self.jacobian[r]);
                velocity.iter_mut().zip(&pull).for_each(|(v, p)| *v += impulse * p);
            }
        }
    }

    fn holding(&self) -> Holding {
        let holds = |r: usize| self.states[r] == State::Holds;
        let (mut weight, mut given) = (self.inverse.clone(), self.start.clone());
        self.push(&self.which(|r| !holds(r)), &mut given);
        self.soften(&self.which(|r| holds(r) && self.laws[r].soft > 0.0), &mut weight, &mut given);
        let rigid = self.which(|r| holds(r) && self.laws[r].soft <= 0.0);
        let rigid = Eliminated::new(&weight, &self.jacobian, &rigid);
        Holding { weight, given, rigid }
    }

    /// dt M̃⁻¹ as an operator on columns, as many as there are degrees of freedom.
    pub(crate) fn operator(&self, columns: Vec<Column>, dt: f64) -> Result<AttachedMass, MassError> {
        let weight: Vec<f64> = self.held.weight.iter().map(|w| dt * w).collect();
        let rows: Vec<Vec<f64>> = self.held.rigid.rows.iter().map(|&r| self.jacobian[r].clone()).collect();
        AttachedMass::constrained(columns, &symmetric(weight, self.size()), &rows)
    }

    /// The body whose mass an error of the operator is about.
    pub(crate) fn at_fault(&self, error: &MassError) -> usize {
        let row = if let MassError::Indefinite(row) = *error { row } else { 0 };
        self.bodies.iter().rev().find(|(_, first)| *first <= row).map_or(0, |(body, _)| *body)
    }

    /// q̇ without pressures, with the rows that hold.
    pub(crate) fn unpressed(&self) -> Vec<f64> {
        self.moved(&vec![0.0; self.size()]).velocity
    }

    /// How it moves if the pressure gives each degree of freedom these impulses.
    pub(crate) fn moved(&self, pressed: &[f64]) -> Motion {
        let Holding { weight, given, rigid } = &self.held;
        let mut velocity = weigh(weight, pressed);
        velocity.iter_mut().zip(given).for_each(|(v, g)| *v += g);
        let held = rigid.hold(&self.jacobian, |r| self.laws[r].wanted, &mut velocity);
        let mut impulses: Vec<f64> = (0..self.rows.len())
            .map(|r| match (self.states[r], self.laws[r]) {
                (State::Holds, Law { wanted, soft, .. }) if soft > 0.0 => {
                    (wanted - dot(&self.jacobian[r], &velocity)) / soft
                }
                (state, law) => law.at(state),
            })
            .collect();
        rigid.rows.iter().zip(held).for_each(|(&r, impulse)| impulses[r] = impulse);
        Motion { velocity, impulses }
    }

    /// Judges a motion that pressures gave, and finds which rows hold in the next solve: those of the ones that held or
    /// were passed which press if the pressures stay. A motion that none of them changes stays, and gets impulses that do not
    /// pull.
    pub(crate) fn judge(&mut self, pressed: &[f64], motion: &mut Motion) -> Verdict {
        let count = self.rows.len();
        let size = |j: &[f64], v: &[f64]| j.iter().zip(v).map(|(j, v)| (j * v).abs()).sum::<f64>();
        let speeds = self.jacobian.iter().map(|j| size(j, &self.start).max(size(j, &motion.velocity)));
        let close = CLOSE * speeds.fold(0.0, f64::max) + STILL;
        let yields: Vec<f64> =
            (0..count).map(|r| dot(&self.jacobian[r], &weigh(&self.inverse, &self.jacobian[r]))).collect();
        let is_wrong = |r: usize| {
            let Law { wanted, soft, range: [least, most] } = self.laws[r];
            let short = wanted - dot(&self.jacobian[r], &motion.velocity) - soft * motion.impulses[r];
            let slack = close / yields[r].max(f64::MIN_POSITIVE);
            match self.states[r] {
                State::Holds => {
                    motion.impulses[r] < least - slack
                        || motion.impulses[r] > most + slack
                        // One that depends on others is passed where they want something else.
                        || (soft <= 0.0 && !self.laws[r].is_joint() && short > close && motion.impulses[r] < most)
                }
                State::Least => short > close,
                State::Most => short < -close,
            }
        };
        let wrong = self.which(is_wrong);
        if wrong.is_empty() {
            return Verdict::Settled;
        }
        let off = |velocity: &[f64]| {
            let off = |j: &Vec<f64>| (dot(j, velocity) - dot(j, &motion.velocity)).abs();
            self.jacobian.iter().map(off).fold(0.0, f64::max)
        };
        // Where rows depend on each other, other impulses move it the same way: perhaps those that it started from.
        let by_told = self.pushed(pressed, &self.told);
        if off(&by_told) <= close && wrong.iter().all(|&r| self.states[r] == State::Holds) {
            motion.impulses = self.told.clone();
            return Verdict::Settled;
        }
        let considered = self
            .which(|r| !self.laws[r].is_joint() && (self.states[r] == State::Holds || wrong.contains(&r)));
        let found = self.press(pressed, &considered, FINE * close);
        if off(&found.velocity) <= close {
            motion.impulses = found.impulses;
            return Verdict::Settled;
        }
        for &r in &considered {
            let [least, most] = self.laws[r].range;
            let slack = FINE * close / yields[r].max(f64::MIN_POSITIVE);
            self.states[r] = match found.impulses[r] {
                p if p <= least + slack => State::Least,
                p if p >= most - slack => State::Most,
                _ => State::Holds,
            };
        }
        if self.tried.contains(&self.states) {
            return Verdict::Circles;
        }
        self.tried.push(self.states.clone());
        self.held = self.holding();
        Verdict::Changed
    }

    /// The velocity that impulses of pressures and rows make.
    fn pushed(&self, pressed: &[f64], impulses: &[f64]) -> Vec<f64> {
        let given: Vec<f64> = self.given(impulses).iter().zip(pressed).map(|(g, p)| g + p).collect();
        weigh(&self.inverse, &given).iter().zip(&self.start).map(|(v, s)| v + s).collect()
    }

    /// The motion under these impulses in which the rows `which` press as they must, all others doing what they do: each
    /// is brought to its own solution in turn [Jean 1999], joints as one before.
    fn press(&self, pressed: &[f64], which: &[usize], fine: f64) -> Motion {
        let mut weight = self.inverse.clone();
        let mut velocity = self.pushed(pressed, &vec![0.0; self.rows.len()]);
        let is_joint = |r: usize| self.laws[r].is_joint();
        let others = self.which(|r| !is_joint(r) && !which.contains(&r));
        self.push(&others, &mut velocity);
        let springs = self.which(|r| is_joint(r) && self.laws[r].soft > 0.0);
        self.soften(&springs, &mut weight, &mut velocity);
        let rigid = self.which(|r| is_joint(r) && self.laws[r].soft <= 0.0);
        let rigid = Eliminated::new(&weight, &self.jacobian, &rigid);
        rigid.hold(&self.jacobian, |r| self.laws[r].wanted, &mut velocity);
        let weight = rigid.free(&weight);
        let pulls: Vec<Vec<f64>> = which.iter().map(|&r| weigh(&weight, &self.jacobian[r])).collect();
        let mut found: Vec<f64> = (0..self.rows.len()).map(|r| self.laws[r].at(self.states[r])).collect();
        for (&r, pull) in which.iter().zip(&pulls) {
            found[r] = self.told[r].max(self.laws[r].range[0]).min(self.laws[r].range[1]);
            velocity.iter_mut().zip(pull).for_each(|(v, p)| *v += found[r] * p);
        }
        let lightest: Vec<f64> = self.jacobian.iter().map(|j| dot(j, &weigh(&self.inverse, j))).collect();
        for _ in 0..SWEEPS {
            let mut change = 0.0f64;
            for (&r, pull) in which.iter().zip(&pulls) {
                let Law { wanted, soft, range: [least, most] } = self.laws[r];
                let light = dot(&self.jacobian[r], pull) + soft;
                if light <= HELD * lightest[r] {
                    continue;
                }
                let missing = wanted - dot(&self.jacobian[r], &velocity) - soft * found[r];
                let impulse = (found[r] + missing / light).max(least).min(most);
                let more = impulse - found[r];
                found[r] = impulse;
                velocity.iter_mut().zip(pull).for_each(|(v, p)| *v += more * p);
                change = change.max(more.abs() * light);
            }
            if change <= fine {
                break;
            }
        }
        // What joints give follows from the momentum that is missing.
        let motion = self.joints_of(pressed, found, velocity);
        Motion { velocity: motion.0, impulses: motion.1 }
    }

    /// The impulses of all joints beside known ones of other rows, and the velocity that all make.
    fn joints_of(&self, pressed: &[f64], mut found: Vec<f64>, velocity: Vec<f64>) -> (Vec<f64>, Vec<f64>) {
        let joints = self.which(|r| self.laws[r].is_joint());
        if joints.is_empty() {
            return (velocity, found);
        }
        joints.iter().for_each(|&r| found[r] = 0.0);
        let (mut weight, mut moved) = (self.inverse.clone(), self.pushed(pressed, &found));
        let soft = |r: &usize| self.laws[*r].soft > 0.0;
        let (springs, rigid): (Vec<usize>, Vec<usize>) = joints.into_iter().partition(soft);
        self.soften(&springs, &mut weight, &mut moved);
        let rigid = Eliminated::new(&weight, &self.jacobian, &rigid);
        let held = rigid.hold(&self.jacobian, |r| self.laws[r].wanted, &mut moved);
        rigid.rows.iter().zip(held).for_each(|(&r, impulse)| found[r] = impulse);
        for r in springs {
            found[r] = (self.laws[r].wanted - dot(&self.jacobian[r], &moved)) / self.laws[r].soft;
        }
        (moved, found)
    }

    /// Jᵀ λ.
    pub(crate) fn given(&self, impulses: &[f64]) -> Vec<f64> {
        let mut given = vec![0.0; self.size()];
        for (j, impulse) in self.jacobian.iter().zip(impulses) {
            given.iter_mut().zip(j).for_each(|(g, j)| *g += impulse * j);
        }
        given
    }
}

/// Rounded sums differ by the order in which they are taken; a mass is symmetric.
fn symmetric(mut weight: Vec<f64>, k: usize) -> Vec<f64> {
    for i in 0..k {
        for j in 0..i {
            let mean = 0.5 * (weight[i * k + j] + weight[j * k + i]);
            (weight[i * k + j], weight[j * k + i]) = (mean, mean);
        }
    }
    weight
}
