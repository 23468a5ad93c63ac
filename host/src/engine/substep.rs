//! Runs one substep, and one frame.

use super::call::Timing;
use super::clock::{Limits, Pace, cut, pace, shorter};
use super::plan::Call;
use super::simulation::{Ran, Simulation, Stop};
use super::span::span;
use super::state::{Clock, Holder};
use super::stats::{Gathering, SubstepStats};
use crate::graph::Problem;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

impl Simulation<'_> {
    fn limits(&self) -> Limits {
        let settings = &self.network.settings;
        Limits { frame: 1.0 / settings.fps, substeps: settings.substeps }
    }

    /// Makes the objects of the first frame.
    pub fn initialise(&mut self) -> Result<(), Stop> {
        let undone = self.state.clone();
        self.begin_and_end_objects(&mut Gathering::default()).inspect_err(|_| self.state = undone)
    }

    /// Takes one substep. True when it ended its frame; the clock then stands at that frame with nothing
    /// elapsed, and objects that begin there are made.
    pub fn substep(&mut self) -> Result<(SubstepStats, bool), Stop> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(Stop::Cancelled);
        }
        let undone = self.state.clone();
        if self.state.clock.substep == 0 {
            self.state.clock.frame += 1;
            self.end_objects();
        }
        self.stepping = true;
        let mut result = self.step_through();
        self.stepping = false;
        if matches!(result, Ok((_, true))) {
            let begun = self.begin_and_end_objects(&mut Gathering::default());
            result = begun.and(result);
        }
        result.inspect_err(|_| self.state = undone)
    }

    fn step_through(&mut self) -> Result<(SubstepStats, bool), Stop> {
        let started = std::time::Instant::now();
        let limits = self.limits();
        let before = self.state.clone();
        let wish = self.wish()?;
        let mut next = pace(&self.state.clock, wish.dt, &limits);
        let gathering = loop {
            match self.attempt(&next)? {
                Attempt::Done(gathering) => break gathering,
                Attempt::Rejected(call, suggestion) => {
                    self.state = before.clone();
                    next = self.retry(&next, &call, suggestion, &limits)?;
                }
            }
        };
        let timing = self.timing(next.dt, next.dt_next);
        let stats = gathering.finish(
            self.network,
            &self.declared.reports,
            &self.state,
            &timing,
            wish.asked,
            started.elapsed().as_secs_f64(),
        );
        let clock = &mut self.state.clock;
        *clock = Clock {
            frame: clock.frame,
            substep: if next.last { 0 } else { clock.substep + 1 },
            elapsed: if next.last { 0.0 } else { clock.elapsed + next.dt },
            promise: Some(next.dt_next),
            wish: gathering.wish,
        };
        Ok((stats, next.last))
    }

    /// True when the substep being taken lies between the node's first and last frame; between substeps, when the frame
    /// does.
    pub(super) fn runs(&self, node: usize) -> bool {
        let (start, end) = span(&self.network.nodes[node], self.network.settings.frames);
        (start + i32::from(self.stepping)..=end).contains(&self.state.clock.frame)
    }

    /// True when an object and its solver, if it has one, both run: what nobody steps would heap up what forces give it.
    fn is_stepped(&self, object: usize) -> bool {
        self.runs(object) && self.plan.solver_of(object).is_none_or(|solver| self.runs(solver))
    }

    /// Takes a substep. Objects that have not moved yet first get their velocities half a substep ahead: in a substep
    /// of length 0, forces and the solve act until the middle of this one.
    fn attempt(&mut self, next: &Pace) -> Result<Attempt, Stop> {
        let begun = self.begun();
        if !begun.is_empty() {
            let half = Pace { dt: 0.0, dt_next: next.dt, last: false };
            let taken = self.take(&half, |object| begun.contains(&object))?;
            if matches!(taken, Attempt::Rejected(..)) {
                return Ok(taken);
            }
        }
        self.take(next, |_| true)
    }

    /// Objects before their first substep, unless a stage also sees objects that have taken theirs.
    fn begun(&self) -> BTreeSet<usize> {
        let lead = |o: usize| self.state.holders.get(&Holder::Object(o)).map(|object| object.lead);
        let alone = |o: usize| {
            let mut beside = self.plan.calls.iter().map(|c| self.plan.objects_of(c));
            beside.all(|all| !all.contains(&o) || all.iter().all(|&o| lead(o).is_none_or(|lead| lead == 0.0)))
        };
        let called: BTreeSet<usize> = self.plan.calls.iter().flat_map(|c| self.plan.objects_of(c)).collect();
        called.into_iter().filter(|&o| lead(o) == Some(0.0) && self.is_stepped(o) && alone(o)).collect()
    }

    /// Runs the stages of a substep for the objects that take part.
    fn take(&mut self, next: &Pace, takes_part: impl Fn(usize) -> bool) -> Result<Attempt, Stop> {
        let (mut gathering, mut stepped) = (Gathering::default(), BTreeSet::new());
        self.state.drop_scratch();
        let timing = self.timing(next.dt, next.dt_next);
        for call in self.plan.calls.clone() {
            let there = |o: &usize| takes_part(*o) && self.state.holders.contains_key(&Holder::Object(*o));
            let mut objects = self.plan.objects_of(&call);
            objects.retain(there);
            let runs = self.runs(call.node) && call.object.is_none_or(|o| self.is_stepped(o));
            if objects.is_empty() || !runs {
                continue;
            }
            let timing = Timing { dt_kick: self.kick(&call, next), ..timing };
            if let Ran::Rejected(suggestion) = self.run(&call, timing, &mut gathering)? {
                return Ok(Attempt::Rejected(call, suggestion));
            }
            stepped.extend(objects);
        }
        for object in stepped {
            if let Some(object) = self.state.holders.get_mut(&Holder::Object(object)) {
                object.lead = 0.5 * next.dt_next;
            }
        }
        Ok(Attempt::Done(gathering))
    }

    /// The kick of a call, s: the longest of its objects'.
    fn kick(&self, call: &Call, next: &Pace) -> f64 {
        let objects = self.plan.objects_of(call).into_iter().map(Holder::Object);
        let kicks = objects.filter_map(|o| self.state.kick(o, next.dt, next.dt_next));
        kicks.reduce(f64::max).unwrap_or(next.dt + 0.5 * next.dt_next)
    }

    /// A shorter substep after `call` rejected one.
    fn retry(
        &mut self,
        rejected: &Pace,
        call: &Call,
        suggestion: f64,
        limits: &Limits,
    ) -> Result<Pace, Stop> {
        let Some(dt) = shorter(&self.state.clock, rejected.dt, suggestion, limits) else {
            let node = &self.network.nodes[call.node].name;
            let message = format!(
                "{} rejects a substep of {:.3e} s, and `substeps.max` {} allows none shorter: raise it",
                call.stage.name(),
                rejected.dt,
                limits.substeps.max
            );
            return Err(Problem::node(node, message).into());
        };
        Ok(cut(&self.state.clock, dt, limits))
    }
}

enum Attempt {
    Done(Gathering),
    Rejected(Call, f64),
}
