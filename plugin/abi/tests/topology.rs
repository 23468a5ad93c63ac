//! Triangles and polylines written from Rust, in a host that hands out memory as the header says.

use meniscus_abi::guest::{self, AttributeShape, Call, Failure, GeometryShape, Node, Outcome};
use meniscus_abi::{
    self as abi, Access, Context, Element, Geometry, Growable, Meaning, Merge, NodeKind, Owner, Port,
    Primitive, Sampling, Stage, Status,
};
use std::ffi::c_void;

/// The host's memory.
#[derive(Default)]
struct Host {
    shaped: Option<Geometry>,
    positions: Vec<[f32; 3]>,
    attribute: Option<abi::Attribute>,
    vertices: Vec<u32>,
    starts: Vec<u32>,
    cleared: Vec<(u32, u32)>,
}

unsafe extern "C" fn shape_geometry(
    ctx: *mut Context,
    _port: u32,
    _item: u32,
    shape: *const Geometry,
) -> *const Geometry {
    // SAFETY: the test's own context, and a request of its own crate.
    let (host, wanted) = unsafe { (&mut *(*ctx).host.cast::<Host>(), abi::read(shape)) };
    let Some(mut g) = wanted else { return std::ptr::null() };
    host.positions = vec![[0.0; 3]; g.point_count as usize];
    host.vertices = vec![7; g.vertex_count as usize];
    let lines = g.primitive == Primitive::POLYLINES;
    host.starts = vec![7; if lines { g.primitive_count as usize + 1 } else { 0 }];
    // SAFETY: one attribute, of its own crate.
    let asked = unsafe { abi::read(g.attributes) };
    let positions = host.positions.as_mut_ptr().cast::<c_void>();
    host.attribute = asked.map(|a| abi::Attribute {
        count: g.point_count,
        stride: 12,
        values: positions,
        writable: positions,
        ..a
    });
    g.attributes = host.attribute.as_ref().map_or(std::ptr::null(), |a| a);
    (g.vertices, g.writable_vertices) = (host.vertices.as_ptr(), host.vertices.as_mut_ptr());
    if lines {
        (g.starts, g.writable_starts) = (host.starts.as_ptr(), host.starts.as_mut_ptr());
    }
    host.shaped.insert(g)
}

unsafe extern "C" fn clear(ctx: *mut Context, port: u32, item: u32) -> Status {
    // SAFETY: the test's own context.
    unsafe { (*(*ctx).host.cast::<Host>()).cleared.push((port, item)) };
    Status::OK
}

/// Makes a tetrahedron in predict and two threads in correct.
struct Maker;

const TETRAHEDRON: [u32; 12] = [0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3];
const THREADS: [u32; 5] = [0, 1, 2, 3, 4];

impl Node for Maker {
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        let position = AttributeShape::on_points(c"P", Element::F32, 3, Meaning::POSITION);
        let meshes = call.stage() == Stage::PREDICT;
        let shape = match meshes {
            true => GeometryShape::triangles(4, 4, [0.0; 3], vec![position]),
            false => GeometryShape::polylines(5, 5, 2, [0.0; 3], vec![position]),
        };
        let mut made = call.shape_geometry(0, 0, &shape)?;
        let (vertices, starts): (&[u32], &[u32]) =
            if meshes { (&TETRAHEDRON, &[]) } else { (&THREADS, &[0, 2, 5]) };
        assert!(!made.write_topology(&vertices[1..], starts), "a vertex short");
        assert!(!made.write_topology(vertices, &[0]), "too few starts, or some where there are no lines");
        assert!(made.write_topology(vertices, starts));
        assert!(made.points("P", (0..made.point_count()).map(|i| [i as f32, 0.0, 0.0])));
        call.clear(1, 2)?;
        Ok(Outcome::Done)
    }
}

static PORTS: [Port; 2] = [
    Port::geometry(Owner::OBJECT, c"mesh").on(Stage::PREDICT, Access::WRITE),
    Port::grid(Owner::OBJECT, c"heat", Sampling::CENTER, Element::F32)
        .adds()
        .on(Stage::PREDICT, Access::WRITE),
];
static NODES: [abi::Node; 1] = [abi::Node::new(NodeKind::OBJECT, c"test.maker", c"Maker").ports(&PORTS)];

fn make(_: u32) -> Option<Box<dyn Node>> {
    Some(Box::new(Maker))
}

#[test]
fn triangles_and_polylines_are_written_whole_or_not_at_all() {
    let mut host = Host::default();
    let mut ctx = Context {
        host: (&raw mut host).cast(),
        shape_geometry: Some(shape_geometry),
        clear: Some(clear),
        ..Context::blank()
    };
    let mut instance = std::ptr::null_mut();
    // SAFETY: a context, and a place to write to.
    assert_eq!(unsafe { guest::create(&mut ctx, 0, &mut instance, &NODES, make) }, Status::OK);
    for (stage, vertices, starts) in
        [(Stage::PREDICT, &TETRAHEDRON[..], &[][..]), (Stage::CORRECT, &THREADS[..], &[0, 2, 5][..])]
    {
        ctx.stage = stage;
        // SAFETY: a live instance and a context.
        assert_eq!(unsafe { guest::run(instance, &mut ctx) }, Status::OK);
        assert_eq!((&host.vertices[..], &host.starts[..]), (vertices, starts));
        assert_eq!(host.positions[3], [3.0, 0.0, 0.0]);
    }
    assert_eq!(host.cleared, [(1, 2), (1, 2)]);
    // SAFETY: created above, destroyed once.
    unsafe { guest::destroy(instance) };
}

#[test]
fn a_port_says_how_contributions_go_together() {
    assert_eq!(
        (PORTS[0].merge, PORTS[1].merge, PORTS[1].least().merge),
        (Merge::REPLACE, Merge::ADD, Merge::MIN)
    );
}
