//! Creates instances of plugin nodes and runs their stages.

use super::bridge::Bridge;
use super::paranoid::Fingerprints;
use super::{Ending, Measured, Outcome, Request, callbacks};
use crate::engine::state::State;
use crate::loader::Plugin;
use crate::node::PortSpec;
use crate::process::board::enter;
use meniscus_abi::{self as abi, Context, Status};
use std::ffi::CString;
use std::sync::atomic::Ordering;

/// An instance of a node.
#[derive(Debug)]
pub(in crate::engine) struct Instance {
    table: abi::Plugin,
    address: *mut abi::Instance,
    /// Its node, for crash messages.
    subject: String,
    /// Its plugin, for crash messages.
    plugin: String,
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let Some(destroy) = self.table.destroy {
            let _noted = enter(&self.subject, "while it was destroyed", &self.plugin);
            // SAFETY: `address` came from this plugin's `create` and is destroyed once.
            unsafe { destroy(self.address) };
        }
    }
}

impl Instance {
    /// Makes an instance; the error is one sentence.
    pub(in crate::engine) fn create(plugin: &Plugin, node: u32, request: &Request) -> Result<Self, String> {
        let table = plugin.table;
        let Some(create) = table.create else { return Err("its plugin cannot create it".into()) };
        let (state, shown) = (State::new(0), plugin.shown());
        let subject = format!("node `{}`", request.node);
        let mut address = std::ptr::null_mut();
        let outcome = call(request, ("while it was made", &shown), &[], &state, |ctx| {
            // SAFETY: the loader checked the table; the context is whole and lives until the call returns.
            unsafe { create(ctx, node, &raw mut address) }
        });
        match outcome.ending {
            Ending::Done | Ending::NotConverged if !address.is_null() => {
                Ok(Self { table, address, subject, plugin: shown })
            }
            Ending::Done => Err("its plugin created nothing".into()),
            _ => Err(outcome.reason),
        }
    }

    /// Forgets every cache.
    pub(in crate::engine) fn drop_caches(&mut self) {
        if let Some(drop_caches) = self.table.drop_caches {
            let _noted = enter(&self.subject, "in drop_caches", &self.plugin);
            // SAFETY: the instance is alive, and no call of it lasts.
            unsafe { drop_caches(self.address) };
        }
    }

    /// Runs the stage of the request.
    pub(in crate::engine) fn run(&mut self, request: &Request, ports: &[PortSpec], state: &State) -> Outcome {
        let whose = request.object.filter(|o| *o != request.node);
        let doing = format!(
            "in {}{}, frame {}",
            request.stage.map_or("run", |s| s.name()),
            whose.map_or(String::new(), |o| format!(" of `{o}`")),
            request.timing.frame
        );
        call(request, (&doing, &self.plugin), ports, state, |ctx| match self.table.run {
            // SAFETY: the instance is alive, the context whole; both outlive the call.
            Some(run) => unsafe { run(self.address, ctx) },
            None => Status::UNSUPPORTED,
        })
    }

    /// The longest substep that the node accepts from here, s, and what it says of the cause.
    pub(in crate::engine) fn suggest_dt(
        &mut self,
        request: &Request,
        ports: &[PortSpec],
        state: &State,
    ) -> Result<(f64, Vec<Measured>), Box<Outcome>> {
        let Some(suggest) = self.table.suggest_dt else { return Ok((f64::INFINITY, Vec::new())) };
        let mut dt = f64::INFINITY;
        let doing = format!("in suggest_dt, frame {}", request.timing.frame);
        let outcome = call(request, (&doing, &self.plugin), ports, state, |ctx| {
            // SAFETY: the instance is alive, the context whole; both outlive the call.
            unsafe { suggest(self.address, ctx, &raw mut dt) }
        });
        match outcome.ending {
            Ending::Done | Ending::NotConverged if dt > 0.0 => Ok((dt, outcome.measures)),
            Ending::Done | Ending::NotConverged => {
                let reason = format!("it suggests one of {dt} s, which must be above 0");
                Err(Box::new(Outcome { ending: Ending::Failed, reason, ..outcome }))
            }
            _ => Err(Box::new(outcome)),
        }
    }
}

/// Passes a context to `f` and collects what the call did. `noted` names the call and its plugin in the message if the
/// call does not return.
fn call(
    request: &Request,
    noted: (&str, &str),
    ports: &[PortSpec],
    state: &State,
    f: impl FnOnce(*mut Context) -> Status,
) -> Outcome {
    let bridge = Bridge::new(request, ports, state);
    let text = |s: &str| CString::new(s).unwrap_or_default();
    let (node, object) = (text(request.node), request.object.map(text));
    let values: Vec<abi::Value> = request
        .params
        .iter()
        .map(|(number, text)| abi::Value {
            number: *number,
            text: text.as_ref().map_or(std::ptr::null(), |t| t.as_ptr()),
        })
        .collect();
    let t = request.timing;
    let mut ctx = callbacks::blank();
    callbacks::install(&mut ctx);
    ctx.stage = abi::Stage(request.stage.map_or(-1, |s| s as i32));
    ctx.step = request.step;
    ctx.threads = request.threads;
    ctx.host = (&raw const bridge).cast_mut().cast();
    ctx.node = node.as_ptr();
    ctx.object = object.as_ref().map_or(std::ptr::null(), |o| o.as_ptr());
    (ctx.time, ctx.dt, ctx.dt_next, ctx.dt_kick) = (t.time, t.dt, t.dt_next, t.dt_kick);
    (ctx.frame_left, ctx.fps, ctx.cfl) = (t.frame_left, t.fps, t.cfl);
    (ctx.frame, ctx.substep) = (t.frame, t.substep);
    ctx.param_count = values.len() as u32;
    ctx.params = if values.is_empty() { std::ptr::null() } else { values.as_ptr() };
    let before = request.paranoid.then(|| Fingerprints::of(request, state));
    let entered = enter(&format!("node `{}`", request.node), noted.0, noted.1);
    let status = f(&raw mut ctx);
    drop(entered);
    let mut outcome = gather(status, bridge, noted.1);
    if let Some(changed) = before.and_then(|b| b.changed(&Fingerprints::of(request, state))) {
        outcome.ending = Ending::Failed;
        outcome.reason = format!("it changed {changed}, which a node may only read ({})", noted.1);
        outcome.port = None;
        outcome.writes.clear();
    }
    outcome
}

fn gather(status: Status, bridge: Bridge, plugin: &str) -> Outcome {
    let asked = bridge.request.cancel.load(Ordering::Relaxed);
    let notes = std::mem::take(&mut *bridge.notes());
    let mut desk = std::mem::take(&mut *bridge.desk());
    let ending = match status {
        // A call that reported an error failed, whatever it returns.
        Status::OK if notes.failure.is_some() => Ending::Failed,
        Status::OK => Ending::Done,
        Status::NOT_CONVERGED => Ending::NotConverged,
        Status::CANCELLED if asked => Ending::Cancelled,
        Status::DT_REJECTED => Ending::Rejected,
        _ => Ending::Failed,
    };
    let port = notes.failure.as_ref().and_then(|failure| failure.port);
    let told = notes.failure.map(|failure| failure.sentence).filter(|sentence| !sentence.is_empty());
    let reason = match (told, status.name()) {
        (Some(sentence), _) => sentence,
        (None, _) if status == Status::CANCELLED => {
            format!("it says that it was told to stop, and nobody told it ({plugin})")
        }
        (None, _) if ending == Ending::NotConverged => match notes.solves.last() {
            Some(s) => format!(
                "after {} iterations the residual of `{}` is {:.1e}; it does not say what was wanted",
                s.iterations, s.name, s.residual
            ),
            None => "it does not say what it reached".into(),
        },
        (None, Some(name)) => {
            let status = name.to_lowercase().replace('_', " ");
            format!("it gave up without a reason: status {status} ({plugin})")
        }
        (None, None) => format!("it answered with the unknown status {} ({plugin})", status.0),
    };
    let keep = matches!(ending, Ending::Done | Ending::NotConverged);
    Outcome {
        ending,
        reason,
        port,
        writes: if keep { std::mem::take(&mut desk.writes) } else { Default::default() },
        measures: notes.measures,
        solves: notes.solves,
        wish: desk.wish,
        suggestion: desk.suggestion,
    }
}
