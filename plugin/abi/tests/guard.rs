//! What stands between a plugin's Rust and its host's C: panics, poisoned instances, structs of other sizes.

use meniscus_abi::guest::{self, Call, Failure, Node, Outcome};
use meniscus_abi::{self as abi, Context, Growable, Instance, NodeKind, Stage, Status};
use std::ffi::{c_char, c_void};

struct Fragile;

impl Node for Fragile {
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        match call.stage() {
            Stage::PREDICT => Ok(Outcome::Done),
            Stage::CORRECT => Err(Failure::input(0, "not to its liking")),
            Stage::TRANSPORT => Ok(Outcome::RejectDt(0.25)),
            _ => panic!("it broke"),
        }
    }
}

static NODES: [abi::Node; 1] = [abi::Node::new(NodeKind::FORCE, c"test.fragile", c"Fragile")];

fn make(_: u32) -> Option<Box<dyn Node>> {
    Some(Box::new(Fragile))
}

#[derive(Default)]
struct Host {
    said: Vec<(Status, i32, String)>,
    rejected: Option<f64>,
}

unsafe extern "C" fn fail(ctx: *mut Context, status: Status, port: i32, sentence: *const c_char) -> Status {
    // SAFETY: the tests' own context and a string that ends in NUL.
    unsafe {
        let said = abi::text(sentence).unwrap_or("").to_owned();
        (*(*ctx).host.cast::<Host>()).said.push((status, port, said));
    }
    status
}

unsafe extern "C" fn reject_dt(ctx: *mut Context, suggestion: f64) -> Status {
    // SAFETY: the tests' own context.
    unsafe { (*(*ctx).host.cast::<Host>()).rejected = Some(suggestion) };
    Status::DT_REJECTED
}

fn context(host: &mut Host, stage: Stage) -> Context {
    let host: *mut c_void = (&raw mut *host).cast();
    Context { stage, host, fail: Some(fail), reject_dt: Some(reject_dt), ..Context::blank() }
}

fn create(ctx: &mut Context) -> *mut Instance {
    let mut instance = std::ptr::null_mut();
    // SAFETY: a context and a place to write to.
    assert_eq!(unsafe { guest::create(ctx, 0, &mut instance, &NODES, make) }, Status::OK);
    instance
}

fn run(instance: *mut Instance, host: &mut Host, stage: Stage) -> Status {
    let mut ctx = context(host, stage);
    // SAFETY: a live instance and a context.
    unsafe { guest::run(instance, &mut ctx) }
}

#[test]
fn a_panic_ends_at_the_boundary_and_the_instance_with_it() {
    let mut host = Host::default();
    let instance = create(&mut context(&mut host, Stage(-1)));
    assert_eq!(run(instance, &mut host, Stage::PREDICT), Status::OK);
    assert_eq!(run(instance, &mut host, Stage::SOLVE), Status::INTERNAL);
    assert_eq!(host.said.pop(), Some((Status::INTERNAL, -1, "internal error: it broke".into())));
    assert_eq!(run(instance, &mut host, Stage::PREDICT), Status::INTERNAL);
    assert!(host.said.pop().is_some_and(|(_, _, said)| said.contains("can only be destroyed")));
    // SAFETY: created above, destroyed once.
    unsafe { guest::destroy(instance) };
}

#[test]
fn a_failure_names_its_port_and_a_rejection_its_dt() {
    let mut host = Host::default();
    let instance = create(&mut context(&mut host, Stage(-1)));
    assert_eq!(run(instance, &mut host, Stage::CORRECT), Status::BAD_INPUT);
    assert_eq!(host.said.pop(), Some((Status::BAD_INPUT, 0, "not to its liking".into())));
    assert_eq!(run(instance, &mut host, Stage::TRANSPORT), Status::DT_REJECTED);
    assert_eq!(host.rejected, Some(0.25));
    // SAFETY: created above, destroyed once.
    unsafe { guest::destroy(instance) };
}

#[test]
fn a_context_that_is_too_small_is_refused() {
    let mut host = Host::default();
    let mut ctx = context(&mut host, Stage::PREDICT);
    ctx.size = 64;
    let mut instance = std::ptr::null_mut();
    // SAFETY: a context whose size understates it, and a place to write to.
    assert_eq!(unsafe { guest::create(&mut ctx, 0, &mut instance, &NODES, make) }, Status::BAD_ARGUMENT);
    assert!(instance.is_null());
    // SAFETY: what the header allows to be null.
    unsafe {
        assert_eq!(guest::run(instance, &mut ctx), Status::BAD_ARGUMENT);
        guest::destroy(instance);
    }
}

/// A port as a later minor version might write it.
#[repr(C)]
#[derive(Clone, Copy)]
struct LaterPort {
    port: abi::Port,
    news: u64,
}

#[test]
fn structs_of_other_sizes_are_read_by_their_size() {
    let size = size_of::<LaterPort>() as u32;
    let later = |role| LaterPort { port: abi::Port { size, role, ..abi::Port::blank() }, news: u64::MAX };
    let ports = [later(1), later(2), later(3)];
    // SAFETY: three structs that start with a port, `size` true.
    let read = unsafe { abi::read_array(ports.as_ptr().cast::<abi::Port>(), 3) };
    assert_eq!(read.iter().map(|p| p.role).collect::<Vec<_>>(), [1, 2, 3]);

    let mut earlier = abi::Solve { iterations: 7, residual: 1.0, ..abi::Solve::blank() };
    earlier.size = std::mem::offset_of!(abi::Solve, residual) as u32;
    // SAFETY: a struct that claims to end before its last fields.
    let read = unsafe { abi::read(&earlier) }.expect("there is one");
    assert_eq!((read.iterations, read.residual), (7, 0.0));
    // SAFETY: null is allowed.
    assert!(unsafe { abi::read::<abi::Grid>(std::ptr::null()) }.is_none());
}
