//! A simulation: a planned network, its instances and its state.

use super::asked::Wish;
use super::call::{Device, Ending, Instance, Item, Level, Outcome, Request, Source, Timing, Watcher, commit};
use super::origin::origin;
use super::plan::{Call, Declared, Plan, check, contract};
use super::span::span;
use super::state::{Clock, Holder, Slot, State};
use super::stats::Gathering;
use crate::cuda;
use crate::data::{Geometry, Object};
use crate::geometry::Evaluator;
use crate::graph::{Bound, Network, Problem, Problems};
use crate::loader::Plugins;
use crate::node::{ParamKind, ParamSpec, PortOwner, PortSpec, Stage, Value};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Why a simulation stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// It was cancelled.
    Cancelled,
    /// An error; one sentence with node and stage.
    Failed(Problem),
}

impl From<Problem> for Stop {
    fn from(p: Problem) -> Self {
        Stop::Failed(p)
    }
}

/// The result of a call that does not stop the simulation.
pub(super) enum Ran {
    Done,
    /// The stage wants a shorter substep; the suggestion, s.
    Rejected(f64),
}

/// How a simulation runs; results depend on the device alone.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// Thread budget.
    pub threads: u32,
    /// The device for solves.
    pub device: Device,
    /// Every call is checked for changes of read-only data.
    pub paranoid: bool,
    /// Every instance forgets its caches before every call.
    pub drop_caches: bool,
}

/// Refuses nodes that need a GPU where there is none, or none is wanted.
fn check_devices(network: &Network, device: Device) -> Result<(), Problems> {
    let needs = |n: &&Bound| !n.bypass && contract(n).needs_gpu;
    let mut needy = network.nodes.iter().filter(needs).peekable();
    let why = match device {
        _ if needy.peek().is_none() => return Ok(()),
        Device::Cpu => "and this cook is told to use none (--device)",
        Device::Auto | Device::Cuda if cuda::is_there() => return Ok(()),
        Device::Auto | Device::Cuda => "and this machine has none (see `meniscus doctor`)",
    };
    let complaint = |n: &Bound| Problem::node(&n.name, format!("needs a GPU, {why}"));
    Problems(needy.map(complaint).collect()).unless_any(())
}

/// A planned network with its instances and state.
pub struct Simulation<'a> {
    pub(super) network: &'a Network,
    pub(super) plan: Plan,
    pub(super) declared: Declared,
    pub(super) state: State,
    pub(super) evaluator: Evaluator,
    /// A substep is being taken; the clock shows the frame that it works towards.
    pub(super) stepping: bool,
    instances: BTreeMap<usize, Instance>,
    folder: PathBuf,
    pub(super) manner: Manner,
    /// A rehearsal: nothing is cooked.
    pub(super) trial: bool,
    pub(super) cancel: &'a AtomicBool,
    pub(super) watcher: &'a dyn Watcher,
}

impl<'a> Simulation<'a> {
    /// Plans and checks a network and makes an instance of every plugin node. Files are looked for relative to
    /// `folder`.
    pub fn new(
        network: &'a Network,
        plugins: &Plugins,
        folder: &Path,
        manner: Manner,
        cancel: &'a AtomicBool,
        watcher: &'a dyn Watcher,
    ) -> Result<Self, Problems> {
        let plan = Plan::new(network)?;
        check(network, &plan)?;
        check_devices(network, manner.device)?;
        let declared = Declared::of(network, &plan);
        let mut simulation = Self {
            network,
            plan,
            declared,
            state: State::new(network.settings.frames.0),
            evaluator: Evaluator::new(network, folder),
            stepping: false,
            instances: BTreeMap::new(),
            folder: folder.into(),
            manner,
            trial: false,
            cancel,
            watcher,
        };
        let mut problems = Problems::default();
        for (i, node) in network.nodes.iter().enumerate() {
            let Some(contract) = node.node_type.contract.as_ref().filter(|_| !node.bypass) else { continue };
            let Some(plugin) = plugins.loaded.get(contract.plugin) else { continue };
            let timing = simulation.timing(0.0, 0.0);
            let request = simulation.request(i, None, None, 0, Vec::new(), timing);
            match Instance::create(plugin, contract.node, &request) {
                Ok(instance) => drop(simulation.instances.insert(i, instance)),
                Err(e) => problems.0.push(Problem::node(&node.name, e)),
            }
        }
        problems.unless_any(simulation)
    }

    /// The state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Goes on from a saved state.
    pub fn restore(&mut self, state: State) {
        self.state = state;
    }

    /// The frame number at the end of a substep of `dt` seconds from here (fractions lie between frames).
    pub(super) fn frame_after(&self, dt: f64) -> f64 {
        let clock = &self.state.clock;
        if !self.stepping {
            return f64::from(clock.frame);
        }
        let done = (clock.elapsed + dt) * self.network.settings.fps;
        // A sum of substeps that ends a frame up to rounding ends it exactly.
        let done = if (done - 1.0).abs() < 1e-9 { 1.0 } else { done };
        f64::from(clock.frame - 1) + done
    }

    /// When a substep of `dt` seconds from here happens. Frame 1 is time 0.
    pub(super) fn timing(&self, dt: f64, dt_next: f64) -> Timing {
        let settings = &self.network.settings;
        let Clock { frame, substep, elapsed, .. } = self.state.clock;
        let start = f64::from(if self.stepping { frame - 1 } else { frame } - 1) / settings.fps;
        Timing {
            time: start + elapsed,
            dt,
            dt_next,
            dt_kick: 0.0,
            frame_left: if self.stepping { 1.0 / settings.fps - elapsed } else { 0.0 },
            fps: settings.fps,
            cfl: settings.substeps.cfl,
            frame,
            substep,
        }
    }

    pub(super) fn request(
        &self,
        node: usize,
        object: Option<usize>,
        stage: Option<Stage>,
        step: u32,
        items: Vec<Vec<Item>>,
        timing: Timing,
    ) -> Request<'a> {
        let bound = &self.network.nodes[node];
        let values = bound.params_at(self.frame_after(timing.dt)).values;
        Request {
            node: &bound.name,
            object: object.map(|o| self.network.nodes[o].name.as_str()),
            stage,
            step,
            items,
            params: bound.node_type.params.iter().map(|p| self.param(p, values.get(&p.name))).collect(),
            timing,
            threads: self.manner.threads,
            device: self.manner.device,
            trial: self.trial,
            paranoid: self.manner.paranoid,
            cancel: self.cancel,
            watcher: self.watcher,
        }
    }

    /// A parameter's value as the ABI carries it; file names are made relative to the graph's folder.
    fn param(&self, spec: &ParamSpec, value: Option<&Value>) -> ([f64; 3], Option<CString>) {
        let text = |t: &str| CString::new(t).ok();
        let three = |f: &dyn Fn(usize) -> Option<f64>| std::array::from_fn(|i| f(i).unwrap_or(0.0));
        match value {
            Some(Value::Toggle(b)) => ([f64::from(u8::from(*b)), 0.0, 0.0], None),
            Some(Value::Numbers(v)) => (three(&|i| v.get(i).copied()), None),
            Some(Value::Integers(v)) => (three(&|i| v.get(i).map(|&x| x as f64)), None),
            Some(Value::Text(t)) if spec.kind == ParamKind::Menu => {
                let entry = spec.menu.iter().position(|m| m.0 == *t).unwrap_or(0);
                ([entry as f64, 0.0, 0.0], text(t))
            }
            Some(Value::Text(t)) if spec.kind == ParamKind::File && !t.is_empty() => {
                ([0.0; 3], text(&self.folder.join(t).to_string_lossy()))
            }
            Some(Value::Text(t)) => ([0.0; 3], text(t)),
            Some(Value::Texts(t)) => ([0.0; 3], text(&t.join(" "))),
            None => ([0.0; 3], None),
        }
    }

    /// The items of every port of a call, at the end of a substep of `dt` seconds with one of `ahead` seconds to follow.
    pub(super) fn items(&mut self, call: &Call, dt: f64, ahead: f64) -> Result<Vec<Vec<Item>>, Problem> {
        let network = self.network;
        let bound = &network.nodes[call.node];
        let frame = self.frame_after(dt);
        let mut geometry: Option<Vec<(CString, Arc<Geometry>)>> = None;
        let mut all = Vec::new();
        for port in &contract(bound).ports {
            if port.owner != PortOwner::Input {
                all.push(self.slots(call, port));
                continue;
            }
            if geometry.is_none() {
                let mut list = Vec::new();
                for &i in &bound.inputs {
                    let g = self.evaluator.evaluate(network, i, frame, dt, ahead)?;
                    list.push((CString::new(network.nodes[i].name.as_str()).unwrap_or_default(), g));
                }
                geometry = Some(list);
            }
            let list = geometry.iter().flatten();
            all.push(
                list.map(|(name, g)| Item { name: name.clone(), source: Source::Input(g.clone()) }).collect(),
            );
        }
        Ok(all)
    }

    /// The items of every port but those of inputs, whose geometry would have to be made for a moment of its own.
    fn items_kept(&self, call: &Call) -> Vec<Vec<Item>> {
        let ports = &contract(&self.network.nodes[call.node]).ports;
        let kept = |port: &PortSpec| {
            if port.owner == PortOwner::Input { Vec::new() } else { self.slots(call, port) }
        };
        ports.iter().map(kept).collect()
    }

    /// The simulated data that a port refers to now, of objects that exist and members that run at this time.
    fn slots(&self, call: &Call, port: &PortSpec) -> Vec<Item> {
        let slots = self.plan.slots(self.network, call.node, call.object, port);
        let there = |s: &Slot| !port.is_every_movable() || self.state.get(s).is_some();
        let exists = |o: &usize| self.state.holders.contains_key(&Holder::Object(*o));
        let alive = |s: &Slot| match s.holder {
            Holder::Object(o) => exists(&o),
            Holder::Node(n) => n == call.node || (self.runs(n) && self.plan.solved_by(n).iter().any(exists)),
        };
        let item = |slot: Slot| {
            let (Holder::Object(i) | Holder::Node(i)) = slot.holder;
            let name = CString::new(self.network.nodes[i].name.as_str()).unwrap_or_default();
            Item { name, source: Source::Slot(slot) }
        };
        slots.into_iter().filter(|s| alive(s) && there(s)).map(item).collect()
    }

    /// Runs a call and takes over its writes.
    pub(super) fn run(
        &mut self,
        call: &Call,
        timing: Timing,
        gathering: &mut Gathering,
    ) -> Result<Ran, Stop> {
        let network = self.network;
        let bound = &network.nodes[call.node];
        let ports = &contract(bound).ports;
        let items = self.items(call, timing.dt, timing.dt_next)?;
        self.check_required(call, &items)?;
        let request = self.request(call.node, call.object, Some(call.stage), call.step, items, timing);
        self.forget();
        let started = std::time::Instant::now();
        let Some(instance) = self.instances.get_mut(&call.node) else { return Ok(Ran::Done) };
        let outcome = instance.run(&request, ports, &self.state);
        gathering.took(&bound.name, call.stage, started.elapsed().as_secs_f64());
        let about = match request.object.filter(|o| *o != bound.name) {
            Some(o) => format!("{} of `{o}`", call.stage.name()),
            None => call.stage.name().into(),
        };
        match outcome.ending {
            Ending::Cancelled => return Err(Stop::Cancelled),
            Ending::Rejected => return Ok(Ran::Rejected(outcome.suggestion)),
            Ending::Failed => {
                let failed = match (call.stage, call.object.filter(|&o| o != call.node)) {
                    (Stage::Init, Some(o)) => format!("cannot begin with `{}`", network.nodes[o].name),
                    (Stage::Init, None) => "cannot begin".into(),
                    _ => format!("{about} failed"),
                };
                let reason = self.reason(call, &outcome);
                return Err(Problem::node(&bound.name, format!("{failed}: {reason}")).into());
            }
            Ending::NotConverged => {
                self.watcher.log(
                    &bound.name,
                    Level::Warning,
                    &format!("{about} did not converge: {}", outcome.reason),
                );
            }
            Ending::Done => {}
        }
        let Outcome { writes, measures, solves, wish, .. } = outcome;
        commit(
            &mut self.state,
            writes,
            ports,
            &bound.name,
            call.stage,
            &mut gathering.contributions,
            self.manner.threads,
        )
        .map_err(|e| {
            let plugin = &bound.node_type.plugin;
            Problem::node(&bound.name, format!("{about} of plugin `{plugin}` wrote what cannot be used: {e}"))
        })?;
        gathering.noted(measures, solves, wish);
        Ok(Ran::Done)
    }

    /// Why a call failed, with the data that it could not use.
    fn reason(&self, call: &Call, outcome: &Outcome) -> String {
        let port = outcome.port.and_then(|p| contract(&self.network.nodes[call.node]).ports.get(p));
        let from = port.map_or(String::new(), |port| origin(self.network, &self.plan, call, port));
        format!("{}{from}", outcome.reason)
    }

    /// Lets every instance forget its caches, where that is asked for.
    fn forget(&mut self) {
        if self.manner.drop_caches {
            self.instances.values_mut().for_each(Instance::drop_caches);
        }
    }

    /// Checks that data that a stage needs exists.
    fn check_required(&self, call: &Call, items: &[Vec<Item>]) -> Result<(), Problem> {
        let bound = &self.network.nodes[call.node];
        for (port, items) in contract(bound).ports.iter().zip(items) {
            if !port.required || !port.access(call.stage).reads || port.owner == PortOwner::Affector {
                continue;
            }
            let missing = items.iter().find(|i| match &i.source {
                Source::Slot(slot) => self.state.get(slot).is_none(),
                Source::Input(_) => false,
            });
            if let Some(item) = missing {
                let (stage, whose) = (call.stage.name(), item.name.to_string_lossy());
                let from = origin(self.network, &self.plan, call, port);
                let message = format!("{stage} reads data of `{whose}`, which has none{from}");
                return Err(Problem::node(&bound.name, message));
            }
        }
        Ok(())
    }

    /// The longest next substep that its nodes accept from here.
    pub(super) fn wish(&mut self) -> Result<Wish, Stop> {
        let mut wish = Wish::new(self.state.clock.wish);
        for call in self.plan.advisers.clone() {
            let there = |o: usize| self.state.holders.contains_key(&Holder::Object(o)) && self.runs(o);
            if !self.runs(call.node) || call.object.is_some_and(|o| !there(o)) {
                continue;
            }
            let items = self.items_kept(&call);
            let timing = self.timing(0.0, 0.0);
            let request = self.request(call.node, call.object, None, 0, items, timing);
            let bound = &self.network.nodes[call.node];
            self.forget();
            let Some(instance) = self.instances.get_mut(&call.node) else { continue };
            match instance.suggest_dt(&request, &contract(bound).ports, &self.state) {
                Ok((dt, said)) => {
                    let object = call.object.map(|o| self.network.nodes[o].name.as_str());
                    wish.and(dt, &bound.name, object, said);
                }
                Err(o) if o.ending == Ending::Cancelled => return Err(Stop::Cancelled),
                Err(o) => {
                    return Err(Problem::node(
                        &bound.name,
                        format!("cannot choose a substep: {}", self.reason(&call, &o)),
                    )
                    .into());
                }
            }
        }
        Ok(wish)
    }

    /// Makes the objects that begin at the clock's frame, and removes those that ended. Forces, solvers and couplings are
    /// initialised for the new ones when all of them exist.
    pub(super) fn begin_and_end_objects(&mut self, gathering: &mut Gathering) -> Result<(), Stop> {
        self.end_objects();
        let frame = self.state.clock.frame;
        let mut begun = Vec::new();
        for object in self.plan.objects.clone() {
            let bound = &self.network.nodes[object];
            let (start, end) = span(bound, self.network.settings.frames);
            let holder = Holder::Object(object);
            if frame == start && frame <= end && !self.state.holders.contains_key(&holder) {
                self.state.holders.insert(holder, Object::new(&bound.name, &bound.node_type.id));
                begun.push(object);
                if contract(bound).implements(Stage::Init) {
                    let call = Call { node: object, stage: Stage::Init, object: Some(object), step: 0 };
                    self.init(&call, gathering)?;
                }
            }
        }
        for call in self.plan.meetings(self.network, &begun) {
            if self.runs(call.node) {
                self.init(&call, gathering)?;
            }
        }
        Ok(())
    }

    /// Removes the objects whose last frame the clock has left: nobody sees them in a substep that leads beyond it.
    pub(super) fn end_objects(&mut self) {
        let frame = self.state.clock.frame;
        for &object in &self.plan.objects {
            if frame > span(&self.network.nodes[object], self.network.settings.frames).1 {
                self.state.holders.remove(&Holder::Object(object));
            }
        }
    }

    fn init(&mut self, call: &Call, gathering: &mut Gathering) -> Result<(), Stop> {
        match self.run(call, self.timing(0.0, 0.0), gathering)? {
            Ran::Done => Ok(()),
            Ran::Rejected(_) => {
                let name = &self.network.nodes[call.node].name;
                Err(Problem::node(
                    name,
                    "rejects a substep where there is none, before the first: its plugin is at fault",
                )
                .into())
            }
        }
    }
}
