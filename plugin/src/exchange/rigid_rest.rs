//! What a rigid object is made of: its mesh in the rest frame, its hulls, its signed distance, and where its bodies
//! start.

use super::Exchange;
use super::solid_shape::{BAND, SolidShape, tell_if_empty, write_distance};
use super::solids::no_inside;
use glam::{DMat3, DQuat, DVec3, Vec3};
use meniscus_abi::guest::{AttributeShape, Call, Failure, GeometryShape, GeometryView};
use meniscus_abi::{Element, Level, Meaning, On, Primitive};
use meniscus_core::grid::Transform;
use meniscus_core::interrupt::Interrupt;
use meniscus_core::levelset;
use meniscus_core::mesh::TriMesh;
use meniscus_core::solid::rigid::{Led, MassProperties, Pose, Shape, Velocity};

/// Why a mesh whose points move by themselves makes no body.
const DEFORMS: &str = "its mesh changes its form or is of several that move, and a rigid body keeps one form: key only the center and \
                       rotate of one mesh, or the translate and rotate of a transform after it, or use a static_object";

/// A rigid object before its first substep.
#[derive(Debug)]
pub struct RigidRest {
    /// Form and mass.
    pub shape: Shape,
    /// What the mesh encloses, m³.
    pub volume: f64,
    /// The mesh in the rest frame.
    pub mesh: TriMesh,
    /// Where each body starts; its velocity, where points give one; and its number.
    pub starts: Vec<Start>,
    /// The mesh is moved by an animated input, and no points say where bodies start.
    pub animated: bool,
}

/// Where a body starts.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Its rest frame.
    pub pose: Pose,
    /// Linear (m/s) and angular (rad/s), where points say.
    pub velocity: [Option<DVec3>; 2],
    /// Its number.
    pub id: i64,
}

/// What a mesh weighs.
#[derive(Clone, Copy, Debug)]
pub enum Weight {
    /// kg/m³.
    Density(f64),
    /// kg.
    Mass(f64),
}

impl Exchange {
    /// What the inputs of a rigid object make: one body where its meshes are, or one at each of the points among them.
    pub fn rigid_rest(&self, call: &Call, port: u32, weight: Weight, h: f64) -> Result<RigidRest, Failure> {
        let items: Vec<GeometryView> = (0..call.items(port)).filter_map(|n| call.geometry(port, n)).collect();
        let (points, meshes): (Vec<_>, Vec<_>) =
            items.into_iter().partition(|view| view.primitive() == Primitive::POINTS);
        if meshes.is_empty() {
            return Err(Failure::input(port, "no mesh is wired in: wire in the closed mesh of a body"));
        }
        let solid = Self::shape_of(call, port, meshes)?;
        let mesh = match &solid {
            SolidShape::Rigid { rest, .. } => rest,
            SolidShape::Free { mesh, .. } if mesh.velocities.is_some() => {
                return Err(Failure::input(port, DEFORMS));
            }
            SolidShape::Free { mesh, .. } => mesh,
        };
        // Refused here with the mesh's name; also what no grid can hold.
        self.install(|| levelset::can_be_made(mesh, &levelset::lattice(mesh, h), BAND))
            .map_err(|e| no_inside(call, port, 0, "division_size", &e))?;
        let volume = MassProperties::of(mesh, 1.0).mass;
        let density = match weight {
            Weight::Density(density) => density,
            Weight::Mass(mass) => mass / volume,
        };
        let (shape, centre) = self
            .install(|| Shape::of(mesh, density))
            .map_err(|e| Failure::input(port, format!("`{}`: {e}", call.item_name(port, 0))))?;
        let starts = match (&solid, points.is_empty()) {
            (SolidShape::Rigid { placement, .. }, true) => vec![alone(placement.transform(), centre)],
            (_, true) => {
                vec![alone(&Transform { linear: DMat3::IDENTITY, translation: DVec3::ZERO }, centre)]
            }
            (_, false) => {
                tell_of_unused(call, &points);
                at_points(call, port, &points, centre)?
            }
        };
        let animated = matches!(solid, SolidShape::Rigid { .. }) && points.is_empty();
        let points = mesh.points.iter().map(|p| (p.as_dvec3() - centre).as_vec3()).collect();
        let mesh = TriMesh { points, triangles: mesh.triangles.clone(), velocities: None };
        Ok(RigidRest { shape, volume, mesh, starts, animated })
    }

    /// Where the animated input of a body leads it.
    pub fn led(&self, call: &Call, port: u32) -> Result<Led, Failure> {
        let solid = self.solid_shape(call, port)?;
        let mesh = match &solid {
            SolidShape::Rigid { rest, .. } => rest,
            SolidShape::Free { mesh, .. } if mesh.velocities.is_none() => mesh,
            SolidShape::Free { .. } => {
                return Err(Failure::input(port, DEFORMS));
            }
        };
        let centre = MassProperties::of(mesh, 1.0).centre;
        let still = Velocity::default();
        Ok(match &solid {
            SolidShape::Free { .. } => {
                Led { pose: Pose { position: centre, orientation: DQuat::IDENTITY }, velocity: [still; 2] }
            }
            SolidShape::Rigid { placement, .. } => {
                let pose = alone(placement.transform(), centre).pose;
                let velocity =
                    placement.velocity(pose.position).map(|[linear, angular]| Velocity { linear, angular });
                Led { pose, velocity }
            }
        })
    }

    /// Writes the mesh in the rest frame.
    pub fn write_rest_mesh(call: &mut Call, port: u32, mesh: &TriMesh) -> Result<(), Failure> {
        let p = AttributeShape::on_points(c"P", Element::F32, 3, Meaning::POSITION);
        let shape = GeometryShape::triangles(mesh.points.len(), mesh.triangles.len(), [0.0; 3], vec![p]);
        let mut made = call.shape_geometry(port, 0, &shape)?;
        let written = made.points("P", mesh.points.iter().map(Vec3::to_array))
            && made.write_topology(mesh.triangles.as_flattened(), &[]);
        if written {
            Ok(())
        } else {
            Err(Failure::host(port, "the host shaped another mesh than was asked for"))
        }
    }

    /// Makes the signed distance in the rest frame with voxels of `h` metres.
    pub fn write_rest_distance(
        &self,
        call: &mut Call,
        (port, mesh_port): (u32, u32),
        mesh: &TriMesh,
        h: f64,
    ) -> Result<(), Failure> {
        let watch = call.progress().watch();
        let stopped = || watch.stopped();
        let lattice = self.install(|| levelset::lattice(mesh, h));
        let interrupt = Interrupt::new(&stopped);
        let made = self.install(|| levelset::from_mesh_unless(mesh, &lattice, BAND, interrupt));
        let made = made.map_err(|e| no_inside(call, port, 0, "division_size", &e))?;
        tell_if_empty(call, mesh_port, mesh, &made, h);
        write_distance(call, port, &made, lattice.to_row_major())
    }
}

/// The start of a body whose mesh lies in a space that is moved into the world.
fn alone(to_world: &Transform, centre: DVec3) -> Start {
    let orientation = DQuat::from_mat3(&to_world.linear).normalize();
    Start { pose: Pose { position: to_world.to_world(centre), orientation }, velocity: [None; 2], id: 0 }
}

/// What a body takes from its point; and what has no meaning for one.
const TAKEN: [&str; 4] = ["P", "orient", "v", "w"];
const MEANS_NOTHING: [&str; 6] = ["id", "restP", "v_next", "Cd", "Alpha", "uv"];

/// Says which attributes of the points of bodies are not used.
fn tell_of_unused(call: &Call, items: &[GeometryView]) {
    let mut unused: Vec<String> = Vec::new();
    let mut first = 0;
    for view in items {
        let on_points = view.attributes().filter(|a| a.on() == On::POINTS);
        let named = on_points.filter(|a| !TAKEN.contains(&a.name()) && !MEANS_NOTHING.contains(&a.name()));
        unused.extend(named.map(|a| format!("`{}`", a.name())));
        let counted = (first as i64..).take(view.point_count());
        let short = || Some(view.points::<i32, 1>("id")?.iter().map(|[id]| i64::from(*id)).collect());
        let long = || Some(view.points::<i64, 1>("id")?.iter().map(|[id]| *id).collect());
        let ids: Option<Vec<i64>> = short().or_else(long);
        if view.attribute(On::POINTS, "id").is_some() && !ids.is_some_and(|ids| counted.eq(ids)) {
            unused.push("`id`".into());
        }
        first += view.point_count();
    }
    unused.sort();
    unused.dedup();
    if !unused.is_empty() {
        let sentence = format!(
            "{} of its points does nothing: a body takes orient, v and w from its point, all bodies of an object weigh the \
             same, and their ids count from 0 in the order of the points",
            unused.join(", ")
        );
        call.log(Level::WARNING, &sentence);
    }
}

/// One start for each point: the mesh's origin comes to the point, turned by its `orient`.
fn at_points(call: &Call, port: u32, items: &[GeometryView], centre: DVec3) -> Result<Vec<Start>, Failure> {
    let mut starts: Vec<Start> = Vec::new();
    for view in items {
        let lacks = || Failure::input(port, "the points of bodies lack the attribute `P`");
        let origin = DVec3::from_array(view.origin());
        let places = view.points::<f32, 3>("P").ok_or_else(lacks)?;
        for (name, components) in [("orient", 4), ("v", 3), ("w", 3)] {
            let other = view.attribute(On::POINTS, name).filter(|a| a.components() != components);
            if let Some(other) = other {
                let sentence = format!(
                    "`{}`: the points' `{name}` has {} numbers, and must have {components}",
                    call.item_name(port, 0),
                    other.components()
                );
                return Err(Failure::input(port, sentence));
            }
        }
        let vector = |name: &str| view.points::<f32, 3>(name);
        let (turns, linear, angular) = (view.points::<f32, 4>("orient"), vector("v"), vector("w"));
        for (n, p) in places.iter().enumerate() {
            let turn = turns.as_ref().map_or(DQuat::IDENTITY, |q| {
                let [x, y, z, w] = q[n].map(f64::from);
                DQuat::from_xyzw(x, y, z, w)
            });
            let at = |v: &Option<std::borrow::Cow<[[f32; 3]]>>| {
                v.as_ref().map(|v| Vec3::from_array(v[n]).as_dvec3())
            };
            let orientation = turn.normalize();
            if !orientation.is_finite() {
                let sentence =
                    format!("`{}`: the `orient` of point {n} is no rotation", call.item_name(port, 0));
                return Err(Failure::input(port, sentence));
            }
            let position = origin + Vec3::from_array(*p).as_dvec3() + orientation * centre;
            let velocity = [at(&linear), at(&angular)];
            starts.push(Start { pose: Pose { position, orientation }, velocity, id: starts.len() as i64 });
        }
    }
    Ok(starts)
}
