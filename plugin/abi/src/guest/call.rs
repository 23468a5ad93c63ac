//! The context of a call, seen safely.

use super::{Failure, Progress};
use crate::{Context, DEVICE_EXTENSION, Growable, Level, Node, Solve, Stage, TRIAL_EXTENSION, Value, text};
use std::ffi::CString;
use std::marker::PhantomData;

/// What a linear solve did, for stats.jsonl.
#[derive(Clone, Copy, Debug)]
pub struct SolveReport<'a> {
    /// Which solve.
    pub name: &'a str,
    /// "cpu", "cuda"
    pub device: &'a str,
    /// Number of unknowns.
    pub unknowns: u64,
    /// Iterations done.
    pub iterations: u32,
    /// Final, relative to the right side.
    pub residual: f64,
    /// Wall time, s.
    pub seconds: f64,
}

/// One call of the host.
#[derive(Debug)]
pub struct Call<'a> {
    ctx: *mut Context,
    node: &'static Node,
    params: &'a [Value],
    life: PhantomData<&'a mut Context>,
}

impl<'a> Call<'a> {
    /// None when the context is not complete or does not fit the node's descriptor.
    ///
    /// # Safety
    /// `ctx` is null or leads to a context, its `size` true, that lives for `'a` and is this thread's.
    pub(super) unsafe fn new(ctx: *mut Context, node: &'static Node) -> Option<Self> {
        // SAFETY: the first field of any context is its size.
        if ctx.is_null() || unsafe { ctx.cast::<u32>().read() } < Context::SIZE {
            return None;
        }
        // SAFETY: complete, alive.
        let (params, count) = unsafe { ((*ctx).params, (*ctx).param_count) };
        // SAFETY: `param_count` values are there (contract).
        let params = unsafe { super::grids::slice(params, u64::from(count)) }?;
        // SAFETY: complete, alive.
        let stage = unsafe { (*ctx).stage };
        let in_stage = stage.0 >= 0;
        (count == node.param_count || !in_stage).then_some(Self { ctx, node, params, life: PhantomData })
    }

    pub(super) fn raw(&self) -> *mut Context {
        self.ctx
    }

    pub(super) fn context(&self) -> Context {
        // SAFETY: complete and alive for 'a (construction).
        unsafe { *self.ctx }
    }

    /// The descriptor of the node being run.
    pub fn node(&self) -> &'static Node {
        self.node
    }

    /// The name of a port of the descriptor.
    pub fn port_name(&self, port: u32) -> &'static str {
        if port >= self.node.port_count {
            return "?";
        }
        // SAFETY: the descriptor's ports are constants of this build, so their stride is their size here.
        unsafe { text((*self.node.ports.add(port as usize)).name) }.unwrap_or("?")
    }

    /// The node's name in the graph.
    pub fn node_name(&self) -> &'a str {
        // SAFETY: the string outlives the call.
        unsafe { text(self.context().node) }.unwrap_or("")
    }

    /// The object's name, where there is one.
    pub fn object_name(&self) -> Option<&'a str> {
        // SAFETY: the string outlives the call.
        unsafe { text(self.context().object) }
    }

    /// The stage being run.
    pub fn stage(&self) -> Stage {
        self.context().stage
    }

    /// Entry of the coupling's schedule.
    pub fn step(&self) -> u32 {
        self.context().step
    }

    /// The host's thread budget, at least 1.
    pub fn threads(&self) -> usize {
        self.context().threads.max(1) as usize
    }

    /// Where the user wants solves to run: "auto", "cpu" or "cuda"; "auto" where the host does not say.
    pub fn device(&self) -> &'a str {
        let Some(extension) = self.context().extension else { return "auto" };
        // SAFETY: [owner] function on the owner's thread; the id outlives it.
        let device = unsafe { extension(self.ctx, DEVICE_EXTENSION.as_ptr(), 1) };
        // SAFETY: this extension is a string that outlives the call.
        unsafe { text(device.cast()) }.unwrap_or("auto")
    }

    /// Whether the host only asks if the shot could begin: what would take long need not be made.
    pub fn is_trial(&self) -> bool {
        // SAFETY: [owner] function on the owner's thread; the id outlives it.
        self.context()
            .extension
            .is_some_and(|extension| unsafe { !extension(self.ctx, TRIAL_EXTENSION.as_ptr(), 1).is_null() })
    }

    /// At the start of the substep, s.
    pub fn time(&self) -> f64 {
        self.context().time
    }

    /// Of this substep, s; 0 in an object's first, which only puts its velocities half a substep ahead.
    pub fn dt(&self) -> f64 {
        self.context().dt
    }

    /// Of the next substep, s.
    pub fn dt_next(&self) -> f64 {
        self.context().dt_next
    }

    /// Over which accelerations, pressures and viscosity change velocities, s: to the middle of the next substep from
    /// where the velocities are. Of several objects the longest: [`Self::item_kick`].
    pub fn dt_kick(&self) -> f64 {
        self.context().dt_kick
    }

    /// [`Self::dt_kick`] of the object that an item is of, s.
    pub fn item_kick(&self, port: u32, item: u32) -> f64 {
        // SAFETY: [owner] function on the owner's thread.
        self.context().item_kick.map_or(self.dt_kick(), |kick| unsafe { kick(self.ctx, port, item) })
    }

    /// From [`Self::time`] to the end of the frame, s.
    pub fn frame_left(&self) -> f64 {
        self.context().frame_left
    }

    /// The substep ends its frame.
    pub fn ends_frame(&self) -> bool {
        self.dt() >= self.frame_left() * (1.0 - 1e-9)
    }

    /// Voxels a substep may cross.
    pub fn cfl(&self) -> f64 {
        self.context().cfl
    }

    /// The shot's frame number.
    pub fn frame(&self) -> i32 {
        self.context().frame
    }

    /// 0 at the start of each frame.
    pub fn substep(&self) -> u32 {
        self.context().substep
    }

    /// A numeric parameter by its place in the descriptor; 0 beyond it.
    pub fn number(&self, param: usize) -> f64 {
        self.params.get(param).map_or(0.0, |p| p.number[0])
    }

    /// A whole number.
    pub fn int(&self, param: usize) -> i64 {
        self.number(param) as i64
    }

    /// A toggle.
    pub fn on(&self, param: usize) -> bool {
        self.number(param) != 0.0
    }

    /// Three numbers.
    pub fn vector(&self, param: usize) -> [f64; 3] {
        self.params.get(param).map_or([0.0; 3], |p| p.number)
    }

    /// Text.
    pub fn text(&self, param: usize) -> &'a str {
        // SAFETY: the string outlives the call.
        self.params.get(param).and_then(|p| unsafe { text(p.text) }).unwrap_or("")
    }

    /// Says how far the call is and hears whether to stop; may be shared between threads.
    pub fn progress(&self) -> Progress<'a> {
        // SAFETY: complete and alive for 'a (construction).
        unsafe { Progress::new(self.ctx) }
    }

    /// A line for whoever watches the cook.
    pub fn log(&self, level: Level, sentence: &str) {
        let sentence = c_text(sentence);
        if let Some(log) = self.context().log {
            // SAFETY: [any] function; the string outlives it.
            unsafe { log(self.ctx, level, sentence.as_ptr()) };
        }
    }

    /// A number for stats.jsonl, under its key there.
    pub fn measure(&self, key: &str, values: &[f64]) {
        let key = c_text(key);
        if let Some(measure) = self.context().measure {
            // SAFETY: [any] function; key and values outlive it.
            unsafe { measure(self.ctx, key.as_ptr(), values.len() as u32, values.as_ptr()) };
        }
    }

    /// As [`Self::measure`], of the object that an item is of.
    pub fn measure_item(&self, port: u32, item: u32, key: &str, values: &[f64]) {
        let key = c_text(key);
        if let Some(measure) = self.context().measure_item {
            // SAFETY: [any] function; key and values outlive it.
            unsafe { measure(self.ctx, port, item, key.as_ptr(), values.len() as u32, values.as_ptr()) };
        }
    }

    /// A linear solve for stats.jsonl.
    pub fn solved(&self, report: &SolveReport) {
        let (name, device) = (c_text(report.name), c_text(report.device));
        let solve = Solve {
            iterations: report.iterations,
            name: name.as_ptr(),
            device: device.as_ptr(),
            unknowns: report.unknowns,
            residual: report.residual,
            seconds: report.seconds,
            ..Solve::blank()
        };
        if let Some(solved) = self.context().solved {
            // SAFETY: [any] function; the report outlives it.
            unsafe { solved(self.ctx, &solve) };
        }
    }

    /// The next dt should not be longer than this, s.
    pub fn suggest_dt(&self, dt: f64) {
        if let Some(suggest) = self.context().suggest_dt {
            // SAFETY: [owner] function on the owner's thread.
            unsafe { suggest(self.ctx, dt) };
        }
    }

    pub(super) fn fail(&self, failure: &Failure) {
        let sentence = c_text(&failure.sentence);
        let port = failure.port.map_or(-1, |p| p as i32);
        if let Some(fail) = self.context().fail {
            // SAFETY: [any] function; the string outlives it.
            unsafe { fail(self.ctx, failure.status, port, sentence.as_ptr()) };
        }
    }

    pub(super) fn reject_dt(&self, suggestion: f64) {
        if let Some(reject) = self.context().reject_dt {
            // SAFETY: [owner] function on the owner's thread.
            unsafe { reject(self.ctx, suggestion) };
        }
    }
}

/// Text for the other side; it ends at the first NUL.
fn c_text(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text.as_bytes()[..end]).unwrap_or_default()
}
