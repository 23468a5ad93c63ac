//! The functions behind the plugin's table: panics end here, and an instance that met one is done.

use super::{Call, Failure, Outcome};
use crate::{Context, Instance, Status};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// One instance of a node: caches only, all state is in the ports.
pub trait Node {
    /// Runs [`Call::stage`].
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure>;

    /// The longest dt this node would take from here, s; None: no opinion.
    fn suggest_dt(&mut self, _call: &mut Call) -> Result<Option<f64>, Failure> {
        Ok(None)
    }

    /// Forgets every cache.
    fn drop_caches(&mut self) {}
}

/// What an [`Instance`] pointer leads to.
struct Held {
    node: Box<dyn Node>,
    descriptor: &'static crate::Node,
    /// A panic left it in an unknown state.
    broken: bool,
}

/// Behind `create`.
///
/// # Safety
/// As the header says: `ctx` a context, `instance` writable.
pub unsafe fn create(
    ctx: *mut Context,
    node: u32,
    instance: *mut *mut Instance,
    nodes: &'static [crate::Node],
    make: fn(u32) -> Option<Box<dyn Node>>,
) -> Status {
    if instance.is_null() {
        return Status::BAD_ARGUMENT;
    }
    let Some(descriptor) = nodes.get(node as usize) else {
        return Status::BAD_ARGUMENT;
    };
    // SAFETY: the caller's context.
    let Some(call) = (unsafe { Call::new(ctx, descriptor) }) else {
        return Status::BAD_ARGUMENT;
    };
    super::heap::meet(&call);
    match catch_unwind(|| make(node)) {
        Ok(Some(node)) => {
            let held = Box::new(Held { node, descriptor, broken: false });
            // SAFETY: writable (contract).
            unsafe { instance.write(Box::into_raw(held).cast()) };
            Status::OK
        }
        Ok(None) => Status::BAD_ARGUMENT,
        Err(panic) => report(&call, &internal(panic.as_ref())),
    }
}

/// Behind `destroy`.
///
/// # Safety
/// `instance` is null or came from [`create`] and was not destroyed.
pub unsafe fn destroy(instance: *mut Instance) {
    if !instance.is_null() {
        // SAFETY: made by `create`, ours again.
        let held = unsafe { Box::from_raw(instance.cast::<Held>()) };
        // A panic in a drop has nobody to hear of it.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(held)));
    }
}

/// Behind `drop_caches`.
///
/// # Safety
/// `instance` is null or came from [`create`] and was not destroyed.
pub unsafe fn drop_caches(instance: *mut Instance) {
    // SAFETY: made by `create`, this thread's for the call.
    if let Some(held) = unsafe { instance.cast::<Held>().as_mut() } {
        let node = AssertUnwindSafe(&mut held.node);
        let forget = move || { node }.drop_caches();
        held.broken |= catch_unwind(AssertUnwindSafe(forget)).is_err();
    }
}

/// Behind `run`.
///
/// # Safety
/// `instance` came from [`create`] and was not destroyed; `ctx` is a context.
pub unsafe fn run(instance: *mut Instance, ctx: *mut Context) -> Status {
    // SAFETY: the caller's instance and context.
    unsafe {
        guarded(instance, ctx, |node, call| {
            Ok(match node.run(call)? {
                Outcome::Done => Status::OK,
                Outcome::Cancelled => Status::CANCELLED,
                Outcome::NotConverged(sentence) => {
                    report(call, &Failure::new(Status::NOT_CONVERGED, sentence))
                }
                Outcome::RejectDt(suggestion) => {
                    call.reject_dt(suggestion);
                    Status::DT_REJECTED
                }
            })
        })
    }
}

/// Behind `suggest_dt`.
///
/// # Safety
/// As [`run`]; `dt` is writable.
pub unsafe fn suggest_dt(instance: *mut Instance, ctx: *mut Context, dt: *mut f64) -> Status {
    if dt.is_null() {
        return Status::BAD_ARGUMENT;
    }
    // SAFETY: the caller's instance and context; `dt` is writable.
    unsafe {
        guarded(instance, ctx, |node, call| {
            if let Some(longest) = node.suggest_dt(call)? {
                dt.write(longest);
            }
            Ok(Status::OK)
        })
    }
}

/// # Safety
/// As [`run`].
unsafe fn guarded(
    instance: *mut Instance,
    ctx: *mut Context,
    body: impl FnOnce(&mut dyn Node, &mut Call) -> Result<Status, Failure>,
) -> Status {
    // SAFETY: made by `create`, this thread's for the call.
    let Some(held) = (unsafe { instance.cast::<Held>().as_mut() }) else {
        return Status::BAD_ARGUMENT;
    };
    // SAFETY: the caller's context.
    let Some(mut call) = (unsafe { Call::new(ctx, held.descriptor) }) else {
        return Status::BAD_ARGUMENT;
    };
    if held.broken {
        let sentence = "an earlier call met an internal error; this instance can only be destroyed";
        return report(&call, &Failure::new(Status::INTERNAL, sentence));
    }
    match catch_unwind(AssertUnwindSafe(|| body(held.node.as_mut(), &mut call))) {
        Ok(Ok(status)) => status,
        Ok(Err(failure)) => report(&call, &failure),
        Err(panic) => {
            held.broken = true;
            report(&call, &internal(panic.as_ref()))
        }
    }
}

fn report(call: &Call, failure: &Failure) -> Status {
    if !failure.sentence.is_empty() {
        call.fail(failure);
    }
    failure.status
}

fn internal(panic: &(dyn std::any::Any + Send)) -> Failure {
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    Failure::new(Status::INTERNAL, format!("internal error: {said}"))
}

/// Exports the plugin's table: the one symbol, and the C functions behind it.
#[macro_export]
macro_rules! export_plugin {
    (name: $name:expr, version: $version:expr, vendor: $vendor:expr, nodes: $nodes:expr, make: $make:expr $(,)?) => {
        unsafe extern "C" fn mns_create(
            ctx: *mut $crate::Context,
            node: u32,
            instance: *mut *mut $crate::Instance,
        ) -> $crate::Status {
            // SAFETY: the host keeps to the header.
            unsafe { $crate::guest::create(ctx, node, instance, &$nodes, $make) }
        }

        unsafe extern "C" fn mns_destroy(instance: *mut $crate::Instance) {
            // SAFETY: the host keeps to the header.
            unsafe { $crate::guest::destroy(instance) }
        }

        unsafe extern "C" fn mns_run(
            instance: *mut $crate::Instance,
            ctx: *mut $crate::Context,
        ) -> $crate::Status {
            // SAFETY: the host keeps to the header.
            unsafe { $crate::guest::run(instance, ctx) }
        }

        unsafe extern "C" fn mns_suggest_dt(
            instance: *mut $crate::Instance,
            ctx: *mut $crate::Context,
            dt: *mut f64,
        ) -> $crate::Status {
            // SAFETY: the host keeps to the header.
            unsafe { $crate::guest::suggest_dt(instance, ctx, dt) }
        }

        unsafe extern "C" fn mns_drop_caches(instance: *mut $crate::Instance) {
            // SAFETY: the host keeps to the header.
            unsafe { $crate::guest::drop_caches(instance) }
        }

        /// The plugin.
        // SAFETY: the name is the contract's, and nothing else in a process looks it up but in this library.
        #[unsafe(no_mangle)]
        #[allow(non_upper_case_globals)]
        pub static mns_plugin: $crate::Plugin = $crate::Plugin {
            size: ::core::mem::size_of::<$crate::Plugin>() as u32,
            abi_major: $crate::ABI_MAJOR,
            abi_minor: $crate::ABI_MINOR,
            node_count: $nodes.len() as u32,
            layout_hash: $crate::LAYOUT_HASH,
            name: $name.as_ptr(),
            version: $version.as_ptr(),
            vendor: $vendor.as_ptr(),
            nodes: $nodes.as_ptr(),
            create: Some(mns_create),
            destroy: Some(mns_destroy),
            run: Some(mns_run),
            suggest_dt: Some(mns_suggest_dt),
            drop_caches: Some(mns_drop_caches),
            extension: None,
        };
    };
}
