//! The C functions of the call context.

use super::bridge::Bridge;
use super::{Level, Solve};
use crate::process::end_for_want;
use crate::text::{SENTENCE, one_line};
use meniscus_abi::{self as abi, Context, Growable, Status};
use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

/// Points the context's functions at this host.
pub(super) fn install(ctx: &mut Context) {
    ctx.progress = Some(progress);
    ctx.log = Some(log);
    ctx.fail = Some(fail);
    ctx.measure = Some(measure);
    ctx.measure_item = Some(measure_item);
    ctx.solved = Some(solved);
    ctx.items = Some(items);
    ctx.item_name = Some(item_name);
    ctx.item_kick = Some(item_kick);
    ctx.grid = Some(grid);
    ctx.geometry = Some(geometry);
    ctx.table = Some(table);
    ctx.shape_grid = Some(shape_grid);
    ctx.shape_geometry = Some(shape_geometry);
    ctx.shape_table = Some(shape_table);
    ctx.edit_grid = Some(edit_grid);
    ctx.edit_attribute = Some(edit_attribute);
    ctx.edit_array = Some(edit_array);
    ctx.place_grid = Some(place_grid);
    ctx.clear = Some(clear);
    ctx.suggest_dt = Some(suggest_dt);
    ctx.reject_dt = Some(reject_dt);
    ctx.extension = Some(extension);
}

/// Runs `f` with the bridge of a context. A panic of the host does not cross into the plugin: it gives `otherwise`.
fn with<R>(ctx: *mut Context, otherwise: R, f: impl FnOnce(&Bridge) -> R) -> R {
    if ctx.is_null() {
        return otherwise;
    }
    // SAFETY: the context was made by this host for a call that still lasts, so `host` is its bridge.
    let bridge = unsafe { (*ctx).host.cast::<Bridge>().as_ref() };
    match bridge {
        Some(bridge) => catch_unwind(AssertUnwindSafe(|| f(bridge))).unwrap_or(otherwise),
        None => otherwise,
    }
}

/// Text that a plugin hands over for the length of a call, on one line.
fn text(s: *const c_char) -> String {
    if s.is_null() {
        return String::new();
    }
    // SAFETY: the header asks for a string that ends in NUL.
    one_line(&unsafe { std::ffi::CStr::from_ptr(s) }.to_string_lossy(), SENTENCE)
}

/// What was made, or null and a noted failure.
fn made<T>(bridge: &Bridge, port: u32, result: Result<*const T, (Status, String)>) -> *const T {
    result.unwrap_or_else(|(status, sentence)| {
        bridge.fail(status, i32::try_from(port).unwrap_or(-1), &sentence);
        std::ptr::null()
    })
}

unsafe extern "C" fn progress(ctx: *mut Context, done: f64) -> i32 {
    with(ctx, 0, |b| {
        let stage = b.request.stage.map_or("", |s| s.name());
        b.request.watcher.progress(b.request.node, stage, done);
        i32::from(b.request.cancel.load(Ordering::Relaxed))
    })
}

unsafe extern "C" fn log(ctx: *mut Context, level: abi::Level, sentence: *const c_char) {
    let level = match level {
        abi::Level::DEBUG => Level::Debug,
        abi::Level::WARNING => Level::Warning,
        _ => Level::Info,
    };
    with(ctx, (), |b| b.request.watcher.log(b.request.node, level, &text(sentence)));
}

unsafe extern "C" fn fail(ctx: *mut Context, status: Status, port: i32, sentence: *const c_char) -> Status {
    with(ctx, status, |b| b.fail(status, port, &text(sentence)))
}

unsafe extern "C" fn measure(ctx: *mut Context, key: *const c_char, count: u32, values: *const f64) {
    with(ctx, (), |b| b.measured(b.request.object, text(key), measured(count, values)));
}

unsafe extern "C" fn measure_item(
    ctx: *mut Context,
    port: u32,
    item: u32,
    key: *const c_char,
    count: u32,
    values: *const f64,
) {
    with(ctx, (), |b| {
        let object = b.object_of(port, item).or(b.request.object);
        b.measured(object, text(key), measured(count, values));
    });
}

/// The values that a plugin measured; none where they are more than anybody measures.
fn measured(count: u32, values: *const f64) -> Vec<f64> {
    if values.is_null() || count > 1000 {
        return Vec::new();
    }
    // SAFETY: the header asks for `count` values.
    unsafe { std::slice::from_raw_parts(values, count as usize) }.to_vec()
}

unsafe extern "C" fn solved(ctx: *mut Context, solve: *const abi::Solve) {
    with(ctx, (), |b| {
        // SAFETY: the header asks for a solve, its size true.
        let Some(s) = (unsafe { abi::read(solve) }) else { return };
        if let Some(x) = [s.residual, s.seconds].into_iter().find(|x| !x.is_finite()) {
            b.fail(Status::NOT_FINITE, -1, &format!("its solve `{}` reports {x}", text(s.name)));
            return;
        }
        b.notes().solves.push(Solve {
            name: text(s.name),
            device: text(s.device),
            unknowns: s.unknowns,
            iterations: s.iterations,
            residual: s.residual,
            seconds: s.seconds,
        });
    });
}

unsafe extern "C" fn items(ctx: *mut Context, port: u32) -> u32 {
    with(ctx, 0, |b| b.request.items.get(port as usize).map_or(0, |i| i.len() as u32))
}

unsafe extern "C" fn item_name(ctx: *mut Context, port: u32, item: u32) -> *const c_char {
    with(ctx, std::ptr::null(), |b| b.item_name(port, item))
}

unsafe extern "C" fn item_kick(ctx: *mut Context, port: u32, item: u32) -> f64 {
    with(ctx, 0.0, |b| b.item_kick(port, item))
}

unsafe extern "C" fn grid(ctx: *mut Context, port: u32, item: u32) -> *const abi::Grid {
    with(ctx, std::ptr::null(), |b| b.grid(port, item))
}

unsafe extern "C" fn geometry(ctx: *mut Context, port: u32, item: u32) -> *const abi::Geometry {
    with(ctx, std::ptr::null(), |b| b.geometry(port, item))
}

unsafe extern "C" fn table(ctx: *mut Context, port: u32, item: u32) -> *const abi::Table {
    with(ctx, std::ptr::null(), |b| b.table(port, item))
}

unsafe extern "C" fn shape_grid(
    ctx: *mut Context,
    port: u32,
    item: u32,
    s: *const abi::Grid,
) -> *const abi::Grid {
    // SAFETY: the header asks for a request, its size true.
    with(ctx, std::ptr::null(), |b| made(b, port, unsafe { b.shape_grid(port, item, s) }))
}

unsafe extern "C" fn shape_geometry(
    ctx: *mut Context,
    port: u32,
    item: u32,
    s: *const abi::Geometry,
) -> *const abi::Geometry {
    // SAFETY: the header asks for a request, its size true.
    with(ctx, std::ptr::null(), |b| made(b, port, unsafe { b.shape_geometry(port, item, s) }))
}

unsafe extern "C" fn shape_table(
    ctx: *mut Context,
    port: u32,
    item: u32,
    s: *const abi::Table,
) -> *const abi::Table {
    // SAFETY: the header asks for a request, its size true.
    with(ctx, std::ptr::null(), |b| made(b, port, unsafe { b.shape_table(port, item, s) }))
}

unsafe extern "C" fn edit_grid(ctx: *mut Context, port: u32, item: u32) -> *const abi::Grid {
    with(ctx, std::ptr::null(), |b| made(b, port, b.edit_grid(port, item)))
}

unsafe extern "C" fn edit_attribute(
    ctx: *mut Context,
    port: u32,
    item: u32,
    s: *const abi::Attribute,
) -> *const abi::Attribute {
    // SAFETY: the header asks for a request, its size true.
    with(ctx, std::ptr::null(), |b| made(b, port, unsafe { b.edit_attribute(port, item, s) }))
}

unsafe extern "C" fn edit_array(
    ctx: *mut Context,
    port: u32,
    item: u32,
    s: *const abi::Array,
) -> *const abi::Array {
    // SAFETY: the header asks for a request, its size true.
    with(ctx, std::ptr::null(), |b| made(b, port, unsafe { b.edit_array(port, item, s) }))
}

unsafe extern "C" fn place_grid(
    ctx: *mut Context,
    port: u32,
    item: u32,
    index_to_world: *const f64,
) -> Status {
    with(ctx, Status::INTERNAL, |b| {
        // SAFETY: the header asks for 16 numbers.
        let Some(matrix) = (unsafe { index_to_world.cast::<[f64; 16]>().as_ref() }) else {
            return b.fail(Status::BAD_ARGUMENT, -1, "a grid was placed without saying where");
        };
        match b.place_grid(port, item, *matrix) {
            Ok(()) => Status::OK,
            Err((status, sentence)) => b.fail(status, i32::try_from(port).unwrap_or(-1), &sentence),
        }
    })
}

unsafe extern "C" fn clear(ctx: *mut Context, port: u32, item: u32) -> Status {
    with(ctx, Status::INTERNAL, |b| match b.clear(port, item) {
        Ok(()) => Status::OK,
        Err((status, sentence)) => b.fail(status, i32::try_from(port).unwrap_or(-1), &sentence),
    })
}

unsafe extern "C" fn suggest_dt(ctx: *mut Context, dt: f64) {
    with(ctx, (), |b| {
        if dt > 0.0 {
            let desk = &mut *b.desk();
            desk.wish = Some(desk.wish.map_or(dt, |w| w.min(dt)));
        }
    });
}

unsafe extern "C" fn reject_dt(ctx: *mut Context, suggestion: f64) -> Status {
    with(ctx, Status::DT_REJECTED, |b| {
        b.desk().suggestion = suggestion;
        Status::DT_REJECTED
    })
}

/// The extensions of this host: the device for solves, whether this is a rehearsal, and what to call when memory runs
/// out.
unsafe extern "C" fn extension(ctx: *mut Context, id: *const c_char, revision: u32) -> *const c_void {
    with(ctx, std::ptr::null(), |b| {
        let id = text(id);
        let is = |known: &std::ffi::CStr| revision == 1 && id.as_bytes() == known.to_bytes();
        match () {
            () if is(abi::DEVICE_EXTENSION) => b.request.device.text().as_ptr().cast(),
            () if is(abi::TRIAL_EXTENSION) && b.request.trial => abi::TRIAL_EXTENSION.as_ptr().cast(),
            () if is(abi::MEMORY_EXTENSION) => end_for_want as *const c_void,
            () => std::ptr::null(),
        }
    })
}

/// A context without functions, its size set.
pub(super) fn blank() -> Context {
    Context::blank()
}
