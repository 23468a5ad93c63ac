//! One substep, one frame.

use super::clock::{Limits, Pace, pace, shorter};
use super::plan::Call;
use super::simulation::{Ran, Simulation, Stop};
use super::state::{Clock, Holder};
use super::stats::{Gathering, SubstepStats};
use crate::graph::{Bound, Problem};
use crate::node::{NodeKind, NodeType, ParamSpec, Value};
use std::sync::atomic::Ordering;

/// Start and end frame of an object node.
pub(super) fn span(node: &Bound, frame: f64) -> (i64, i64) {
    let read = |name: &str, otherwise: i64| match node.params.get(name).map(|p| p.at(frame)) {
        Some(Value::Integers(v)) => v.first().copied().unwrap_or(otherwise),
        Some(Value::Numbers(v)) => v.first().map_or(otherwise, |x| *x as i64),
        _ => otherwise,
    };
    (read(START_FRAME, i64::MIN), read(END_FRAME, i64::MAX))
}

const START_FRAME: &str = "start_frame";
const END_FRAME: &str = "end_frame";

/// Gives an object type the host's own parameters, where the plugin brings none of that name.
pub(crate) fn with_span(mut node_type: NodeType) -> NodeType {
    if node_type.kind != NodeKind::Object {
        return node_type;
    }
    for (name, label, default, help) in [
        (START_FRAME, "Start Frame", -1_000_000, "First frame the object exists; before the shot: from its first frame."),
        (END_FRAME, "End Frame", 1_000_000, "Last frame the object exists."),
    ] {
        if node_type.param(name).is_none() {
            let spec = ParamSpec::integer(name, label, default, help).within(Some(-1e6), Some(1e6));
            node_type.host_params.push(ParamSpec { animatable: false, folder: "Time".into(), ..spec });
        }
    }
    node_type
}

impl Simulation<'_> {
    fn limits(&self) -> Limits {
        let settings = &self.network.settings;
        Limits { frame: 1.0 / settings.fps, substeps: settings.substeps, looks_ahead: self.plan.looks_ahead }
    }

    /// Makes the objects of the first frame.
    pub fn initialise(&mut self) -> Result<(), Stop> {
        self.begin_and_end_objects(&mut Gathering::default())
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
        }
        self.stepping = true;
        let result = self.step_through();
        self.stepping = false;
        match result {
            Ok((stats, true)) => {
                self.begin_and_end_objects(&mut Gathering::default())?;
                Ok((stats, true))
            }
            Ok(done) => Ok(done),
            Err(stop) => {
                self.state = undone;
                Err(stop)
            }
        }
    }

    fn step_through(&mut self) -> Result<(SubstepStats, bool), Stop> {
        let started = std::time::Instant::now();
        let limits = self.limits();
        let before = self.state.clone();
        let wish = self.wish()?;
        let mut next = pace(&self.state.clock, wish, &limits);
        let gathering = loop {
            match self.attempt(&next)? {
                Attempt::Done(gathering) => break gathering,
                Attempt::Rejected(call, suggestion) => {
                    self.state = before.clone();
                    next = self.retry(&next, &call, suggestion, &limits)?;
                }
            }
        };
        let timing = self.timing(next.dt, None);
        let stats = gathering.finish(self.network, &self.state, &timing, started.elapsed().as_secs_f64());
        let clock = &mut self.state.clock;
        *clock = Clock {
            frame: clock.frame,
            substep: if next.last { 0 } else { clock.substep + 1 },
            elapsed: if next.last { 0.0 } else { clock.elapsed + next.dt },
            promise: next.dt_next,
            wish: gathering.wish,
        };
        Ok((stats, next.last))
    }

    fn attempt(&mut self, next: &Pace) -> Result<Attempt, Stop> {
        let mut gathering = Gathering::default();
        self.state.drop_scratch();
        let timing = self.timing(next.dt, next.dt_next);
        for call in self.plan.calls.clone() {
            let exists = |o: usize| self.state.holders.contains_key(&Holder::Object(o));
            let needed = match call.object {
                Some(o) => exists(o),
                None => self.plan.solved_by(call.node).into_iter().any(exists),
            };
            if !needed {
                continue;
            }
            if let Ran::Rejected(suggestion) = self.run(&call, timing, &mut gathering)? {
                return Ok(Attempt::Rejected(call, suggestion));
            }
        }
        Ok(Attempt::Done(gathering))
    }

    /// A shorter substep after `call` rejected one.
    fn retry(&mut self, rejected: &Pace, call: &Call, suggestion: f64, limits: &Limits) -> Result<Pace, Stop> {
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
        self.state.clock.promise = None;
        Ok(pace(&self.state.clock, dt, limits))
    }
}

enum Attempt {
    Done(Gathering),
    Rejected(Call, f64),
}
