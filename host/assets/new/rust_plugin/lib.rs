//! A Meniscus plugin in Rust: points that fall, are slowed by the air, and bounce off a floor.
//!
//! A plugin is one symbol, which `export_plugin!` makes. It leads to descriptors: tables that say which nodes there are, and
//! their parameters and ports. A port is data that nodes exchange; the host owns it. The host calls `run` once a stage. All
//! state is in the ports, so a cook that was killed goes on to the same bytes.

use meniscus_abi::guest::{AttributeShape, Call, Failure, GeometryShape, Heap, Node as Instance, Outcome};
use meniscus_abi::{Access, Element, Meaning, Node, NodeKind, Owner, Param, Port, Stage, param, port};

// ---- What the nodes are -------------------------------------------------------------------------------------

/// The object makes the points in the stage `init`.
const OBJECT_PARAMS: &[Param] = &[Param::vector3(c"velocity", c"Initial Velocity", [0.0; 3])
    .unit(c"m/s")
    .not_animated()
    .help(c"Velocity the points start with.")];

const OBJECT_PORTS: &[Port] = &[
    points().on(Stage::INIT, Access::WRITE),
    Port::geometry(Owner::INPUT, c"mesh")
        .required()
        .help(c"A mesh (m): a point is made at each of its points.")
        .on(Stage::INIT, Access::READ),
];

/// The solver moves them in the stage `predict`, after the forces that are wired in.
const SOLVER_PARAMS: &[Param] = &[
    Param::float(c"drag", c"Drag", 0.0)
        .unit(c"1/s")
        .range(0.0, 10.0)
        .hard_min()
        .help(c"Share of the velocity that the air takes per second. Higher: the points fall more slowly."),
    Param::float(c"floor", c"Floor", 0.0).unit(c"m").range(-10.0, 10.0).help(c"Height of the floor."),
    Param::float(c"bounce", c"Bounce", 0.5)
        .range(0.0, 1.0)
        .hard_min()
        .hard_max()
        .help(c"Share of the speed that is left after the floor was hit. 0: the points stay on the floor. 1: nothing is lost."),
];

const SOLVER_PORTS: &[Port] = &[points().required().on(Stage::PREDICT, Access::READ_WRITE)];

const fn points() -> Port {
    Port::geometry(Owner::OBJECT, c"points")
        .movable()
        .result()
        .help(c"The points: P (m), v (m/s), and dv (m/s), what forces add.")
}

/// A solver solves the objects of its own medium; other objects that are wired in are those that it meets.
static NODES: [Node; 2] = [
    Node::new(NodeKind::OBJECT, c"{{identifier}}.points", c"{{name}} Points")
        .help(c"Points at the points of a mesh. Wire it into a {{identifier}}.solver.")
        .medium(c"{{identifier}}")
        .stages(&[Stage::INIT])
        .inputs(&[NodeKind::GEOMETRY], 1, 1)
        .ports(OBJECT_PORTS)
        .params(OBJECT_PARAMS),
    Node::new(NodeKind::SOLVER, c"{{identifier}}.solver", c"{{name}} Solver")
        .help(c"Lets points fall, slows them down, and lets them bounce off a floor.")
        .medium(c"{{identifier}}")
        .stages(&[Stage::PREDICT])
        .inputs(&[NodeKind::OBJECT, NodeKind::FORCE], 1, 0)
        .ports(SOLVER_PORTS)
        .params(SOLVER_PARAMS),
];

// ---- What they do -------------------------------------------------------------------------------------------

/// An instance may keep caches, never state. These keep nothing.
struct Points;
struct Solver;

/// P, v and dv: three floats on each point.
fn attributes() -> [AttributeShape; 3] {
    let three = |name, meaning| AttributeShape::on_points(name, Element::F32, 3, meaning);
    [three(c"P", Meaning::POSITION), three(c"v", Meaning::VECTOR), three(c"dv", Meaning::VECTOR)]
}

impl Instance for Points {
    /// Makes the points.
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        const MESH: u32 = port!(OBJECT_PORTS, mesh);
        let velocity = call.vector(param!(OBJECT_PARAMS, velocity)).map(|v| v as f32);
        let mesh = call.geometry(MESH, 0);
        let places = mesh.as_ref().and_then(|mesh| mesh.points::<f32, 3>("P"));
        let (Some(mesh), Some(places)) = (&mesh, places) else {
            return Err(Failure::input(MESH, "the mesh has no points; wire a geometry node into it"));
        };
        let (places, origin) = (places.into_owned(), mesh.origin());
        let shape = GeometryShape::points(places.len(), origin, attributes().to_vec());
        let mut points = call.shape_geometry(port!(OBJECT_PORTS, points), 0, &shape)?;
        points.points("v", places.iter().map(|_| velocity));
        points.points("P", places.iter().copied());
        Ok(Outcome::Done)
    }
}

impl Instance for Solver {
    /// Moves the points over `dt`. The velocity `v` belongs to the middle of the substep; what acts on it acts over
    /// `dt_kick`, to the middle of the next one. The host chooses both.
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        const POINTS: u32 = port!(SOLVER_PORTS, points);
        let (height, bounce) = (call.number(param!(SOLVER_PARAMS, floor)), call.number(param!(SOLVER_PARAMS, bounce)));
        // Exact, so no step makes it unstable.
        let kept = (-call.number(param!(SOLVER_PARAMS, drag)) * call.dt_kick()).exp() as f32;
        let dt = call.dt() as f32;
        let origin = call.geometry(POINTS, 0).map_or(0.0, |points| points.origin()[1]);
        let (height, bounce) = ((height - origin) as f32, bounce as f32);

        let mut edited = call.edit_attributes(POINTS, 0, &attributes())?.into_iter();
        let mut next = || edited.next().and_then(|attribute| attribute.into_packed::<f32, 3>().ok());
        let (Some(places), Some(velocities), Some(changes)) = (next(), next(), next()) else {
            return Err(Failure::host(POINTS, "P, v and dv are not three floats a point"));
        };
        for ((p, v), dv) in places.iter_mut().zip(velocities).zip(changes) {
            (0..3).for_each(|c| p[c] += dt * v[c]);
            if p[1] < height && v[1] < 0.0 {
                p[1] = height;
                v[1] *= -bounce;
            }
            (0..3).for_each(|c| v[c] = kept * v[c] + dv[c]);
            *dv = [0.0; 3]; // for the forces of the next substep
        }
        Ok(Outcome::Done)
    }
}

// ---- The door -----------------------------------------------------------------------------------------------

/// The instance of a node, by its place in `NODES`.
fn make(node: u32) -> Option<Box<dyn Instance>> {
    match node {
        0 => Some(Box::new(Points)),
        1 => Some(Box::new(Solver)),
        _ => None,
    }
}

meniscus_abi::export_plugin! {
    name: c"{{name}}",
    version: c"0.1.0",
    vendor: c"",
    nodes: NODES,
    make: make,
}

/// Memory that the host counts, and refuses with a sentence where there is none left.
#[global_allocator]
static HEAP: Heap = Heap;
