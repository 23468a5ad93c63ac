//! Estimates the cost of a shot before anything is cooked.

use super::falls::{self, is_liquid};
use super::plan::{Plan, idle, loose, misscheduled, offer, uncoupled, unwritten};
use super::poured::{SourceEstimate, poured};
use crate::data::Geometry;
use crate::geometry::{Evaluator, wall_thickness};
use crate::graph::{Bound, Network, Problem};
use crate::node::NodeKind;
use crate::output::Bounds;
use crate::text;
use glam::{DVec3, Vec3};
use meniscus_abi::Means;
use std::collections::BTreeSet;

/// Bytes the program takes before there is anything to simulate.
const PROGRAM_BYTES: f64 = 60e6;
/// Voxels of 8³ leaves that are active per voxel of the surface, on average, because leaves are whole.
const LEAF_FILL: f64 = 12.0;
/// Bytes of a level set in a file per voxel of its narrow band, compressed.
const FILE_BYTES: f64 = 3.0;
/// Width of a narrow band, voxels.
const BAND: f64 = 6.0;
/// Bytes of a particle in a .geo text file.
const GEO_BYTES: f64 = 110.0;
/// Bytes of a particle in a USD file.
const USD_BYTES: f64 = 36.0;
/// Bytes of a liquid's surface in a mesh per voxel that it runs through at the start, grown to what a splash makes of it: in a .ply file,
/// as text in an .obj file, and in a USD file.
const PLY_BYTES: f64 = 120.0;
const OBJ_BYTES: f64 = 260.0;
const USD_MESH_BYTES: f64 = 110.0;
/// Bytes of a corner of a closed mesh and of its two triangles in a .geo text file.
const MESH_BYTES: f64 = 90.0;
/// Seconds of one core that a substep takes however little liquid there is.
const STEP_SECONDS: f64 = 0.012;
/// Thinnest wall that keeps liquid in, voxels: one on either side of its middle.
const TIGHT_WALL: f64 = 2.0;
/// Share of a wall's thickness that the flat triangles of a round mesh may remove.
const FLATTENED: f64 = 0.05;
/// Rounding of an f32 position, relative to its size.
const F32_ROUNDING: f64 = 1.0 / 16_777_216.0;

/// The cost of one object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectEstimate {
    /// Name of the object.
    pub name: String,
    /// What it is made from is so wide along each axis, m; 0 where it begins empty.
    pub size: DVec3,
    /// Edge of its voxels, m.
    pub voxel: f64,
    /// Voxels held.
    pub voxels: f64,
    /// Voxels that the surface of its liquid runs through at the start.
    pub surface: f64,
    /// Particles held; 0 where it has none.
    pub particles: f64,
    /// Bytes held while a substep runs.
    pub memory: f64,
    /// Bytes written per frame by the output nodes that see it.
    pub disk: f64,
    /// Seconds of one core for a substep.
    pub seconds: f64,
    /// Parameter that sets its resolution; empty where none does.
    pub resolution: String,
}

/// The cost of a shot, and advice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimate {
    /// By object.
    pub objects: Vec<ObjectEstimate>,
    /// By source.
    pub sources: Vec<SourceEstimate>,
    /// Substeps a frame in which its fastest liquid crosses no more voxels than the CFL number says, as far as heights of fall and
    /// sources tell.
    pub fall: f64,
    /// One sentence each.
    pub advice: Vec<String>,
}

impl ObjectEstimate {
    /// Adds the liquid that a source will have made at the end of the shot.
    fn pours(&mut self, source: &SourceEstimate) {
        let volume = source.fills + source.drives;
        self.particles += source.particles(volume);
        if self.voxel > 0.0 {
            // As much surface as a cube has.
            let surface = 6.0 * volume.powf(2.0 / 3.0) / self.voxel.powi(2);
            self.surface += surface;
            self.voxels += volume / self.voxel.powi(3) + surface * LEAF_FILL;
        }
    }
}

impl Estimate {
    /// Bytes of memory, all together.
    pub fn memory(&self) -> f64 {
        PROGRAM_BYTES + self.objects.iter().map(|o| o.memory).sum::<f64>()
    }

    /// Says to raise the parameters that set the objects' resolution, by their names; `None` where no node has any.
    pub fn raise(&self) -> Option<String> {
        let names = self.objects.iter().map(|o| &o.resolution).filter(|name| !name.is_empty());
        let names: BTreeSet<String> = names.map(|name| format!("`{name}`")).collect();
        let names: Vec<String> = names.into_iter().collect();
        (!names.is_empty()).then(|| format!("raise {}", names.join(" and ")))
    }

    /// Why a cook with `room` bytes of free memory refuses the shot, if it does; one sentence.
    pub fn too_large(&self, room: f64) -> Option<String> {
        let needed = self.memory();
        let gigabytes = |bytes: f64| format!("{} GB", text::number(text::rounded(bytes * 1e-9)));
        let most = self.objects.iter().find(|o| o.memory > 0.5 * needed);
        let (who, share) =
            most.map_or((String::new(), ""), |o| (format!("node `{}`: ", o.name), ", most of it here"));
        let raise = self.raise().map_or(String::new(), |raise| format!("{raise}, "));
        (needed > room).then(|| {
            format!(
                "{who}the shot will need about {} of memory{share}, and {} are free: {raise}choose a lower quality, or \
                 cook it all the same with --force",
                gigabytes(needed),
                gigabytes(room)
            )
        })
    }

    /// Seconds of one core for a substep.
    pub fn substep_seconds(&self) -> f64 {
        let of_objects: f64 = self.objects.iter().map(|o| o.seconds).sum();
        if of_objects > 0.0 { of_objects + STEP_SECONDS } else { 0.0 }
    }

    /// Bytes written per frame, checkpoints not counted: two of them are kept, each about as large as the memory
    /// of the particles.
    pub fn disk_per_frame(&self) -> f64 {
        self.objects.iter().fold(0.0, |sum, o| sum + o.disk)
    }
}

/// Estimates every object of a network from the geometry it starts as, and says which walls are too thin.
pub fn estimate(network: &Network, plan: &Plan, evaluator: &mut Evaluator) -> Result<Estimate, Problem> {
    let (sources, fall) = (poured(network, plan, evaluator)?, falls::substeps(network, plan, evaluator)?);
    let mut estimate = Estimate { sources, fall, ..Estimate::default() };
    let outputs = network.nodes.iter().filter(|n| n.node_type.kind == NodeKind::Output && !n.bypass);
    let writes = |wanted: &str| outputs.clone().any(|n| n.node_type.short_name() == wanted);
    let (volumes, points, shot) = (writes("vdb_cache"), writes("geometry_cache"), writes("usd_shot"));
    let of_mesh = |n: &Bound| match n.node_type.short_name() {
        "mesh_cache" if n.params_at(0.0).text("format") == "obj" => OBJ_BYTES,
        "mesh_cache" => PLY_BYTES,
        "usd_shot" => USD_MESH_BYTES,
        _ => 0.0,
    };
    let of_mesh: f64 = outputs.clone().map(of_mesh).sum();
    let drawn = drawn(network, plan);
    for node in network.nodes.iter().filter(|n| n.node_type.kind == NodeKind::Object && !n.bypass) {
        let mut object = ObjectEstimate { name: node.name.clone(), ..ObjectEstimate::default() };
        resolve(node, &mut object);
        let mut farthest = 0.0f64;
        let mut bounds: Option<Bounds> = None;
        // Corners of its meshes, and places where copies of them are.
        let (mut corners, mut places) = (0, 0);
        for &input in &node.inputs {
            let frame = f64::from(network.settings.frames.0);
            let g = evaluator.evaluate(network, input, frame, 0.0, 0.0)?;
            measure(node, &g, &mut object);
            let origin = DVec3::from(g.origin);
            let at = g.positions().iter().map(|&p| Vec3::from(p).as_dvec3() + origin);
            bounds = bounds.into_iter().chain(Bounds::around(at)).reduce(Bounds::union);
            *(if g.triangles().is_empty() { &mut places } else { &mut corners }) += g.positions().len();
            let reach = g.positions().iter().flatten().fold(0.0f32, |m, c| m.max(c.abs()));
            farthest = farthest.max(f64::from(reach));
        }
        object.size = bounds.map_or(DVec3::ZERO, |b| b.max - b.min);
        for source in estimate.sources.iter().filter(|source| source.object == node.name) {
            object.pours(source);
        }
        let cost = node.node_type.contract.as_ref().map(|c| c.cost).unwrap_or_default();
        object.memory = object.particles * cost.particle_bytes + object.voxels * cost.voxel_bytes;
        let copies = if corners > 0 && object.particles == 0.0 { places.max(1) as f64 } else { 1.0 };
        if is_solved(network, plan, &node.name) || meets_liquid(network, plan, &node.name) {
            object.seconds =
                object.particles * cost.particle_seconds + object.voxels * copies * cost.voxel_seconds;
        }
        let band = if volumes { object.voxels * FILE_BYTES } else { 0.0 };
        let of_point = if points { GEO_BYTES } else { 0.0 } + if shot { USD_BYTES } else { 0.0 };
        object.disk = band + object.particles * of_point + object.surface * of_mesh;
        if object.particles == 0.0 && drawn.contains(&object.name) {
            object.disk += (corners * places.max(1)) as f64 * MESH_BYTES;
        }
        advise(&object, farthest, &mut estimate.advice);
        estimate.objects.push(object);
    }
    own_walls(network, plan, evaluator, &mut estimate)?;
    thin_walls(network, plan, evaluator, &mut estimate)?;
    let idle = idle(network, plan).into_iter();
    let idle = idle.chain(uncoupled(network, plan)).chain(misscheduled(network, plan));
    let idle = idle.chain(falls::endless(network, plan, evaluator)?);
    let idle = idle.chain(falls::outside(network, plan, evaluator)?).chain(loose(network));
    estimate
        .advice
        .extend(idle.map(|(node, sentence)| format!("node `{}`: {sentence}", network.nodes[node].name)));
    estimate.advice.extend(unwritten(network));
    Ok(estimate)
}

/// Whether a solver moves the liquid of an object.
fn is_solved(network: &Network, plan: &Plan, object: &str) -> bool {
    let is = |&o: &usize| network.nodes[o].name == object && is_liquid(&network.nodes[o]);
    plan.solvers.values().any(|wires| wires.solved.iter().any(is))
}

/// Whether a solver moves liquid around an object; where none does, it takes next to no time.
fn meets_liquid(network: &Network, plan: &Plan, object: &str) -> bool {
    let is = |o: &usize| network.nodes[*o].name == object;
    plan.solvers.values().any(|wires| {
        wires.affectors.iter().any(is) && wires.solved.iter().any(|&o| is_liquid(&network.nodes[o]))
    })
}

/// The objects of which a node writes geometry.
fn drawn(network: &Network, plan: &Plan) -> BTreeSet<String> {
    let writers = network.nodes.iter().enumerate().filter(|(_, n)| {
        n.node_type.kind == NodeKind::Output && !n.bypass && n.node_type.short_name() == "geometry_cache"
    });
    let offered = writers.filter_map(|(i, _)| offer(network, plan, i)).flat_map(|offer| offer.objects);
    offered.filter(|o| o.geometry.iter().any(|g| o.results.contains(g))).map(|o| o.object).collect()
}

/// Thickness of the thinnest walls of what an object is made of, m, as it begins; infinite where there are none.
fn thinnest(network: &Network, evaluator: &mut Evaluator, node: &Bound) -> Result<f64, Problem> {
    let first = f64::from(network.settings.frames.0);
    let mut thinnest = f64::INFINITY;
    for &input in &node.inputs {
        let g = evaluator.evaluate(network, input, first, 0.0, 0.0)?;
        thinnest = wall_thickness(&g).map_or(thinnest, |t| thinnest.min(t));
    }
    Ok(thinnest)
}

/// Advises where walls of an object are thinner than its own voxels.
fn own_walls(
    network: &Network,
    plan: &Plan,
    evaluator: &mut Evaluator,
    estimate: &mut Estimate,
) -> Result<(), Problem> {
    for node in plan.objects.iter().map(|&o| &network.nodes[o]) {
        let Some(voxel) = node.meant(Means::VOXEL, 0.0).filter(|voxel| *voxel > 0.0) else { continue };
        let Some(resolution) = node.node_type.params.iter().find(|p| p.means == Means::VOXEL) else {
            continue;
        };
        let thinnest = thinnest(network, evaluator, node)?;
        if thinnest < voxel * (1.0 - FLATTENED) {
            estimate.advice.push(format!(
                "node `{}`: its walls are {} m thin, and its voxels {} m wide: they get holes; lower `{}`",
                node.name,
                text::number(text::rounded(thinnest)),
                text::number(voxel),
                resolution.name
            ));
        }
    }
    Ok(())
}

/// Advises where walls of what a solver's objects meet are thinner than two voxels of the coarsest of these.
fn thin_walls(
    network: &Network,
    plan: &Plan,
    evaluator: &mut Evaluator,
    estimate: &mut Estimate,
) -> Result<(), Problem> {
    let voxel_of = |object: &usize| {
        let name = &network.nodes[*object].name;
        estimate
            .objects
            .iter()
            .find(|o| o.name == *name && o.voxel > 0.0 && o.particles > 0.0)
            .map(|o| (o.voxel, name))
    };
    let mut advice = Vec::new();
    for wires in plan.solvers.values() {
        let coarsest = wires.solved.iter().filter_map(voxel_of).max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((voxel, liquid)) = coarsest else { continue };
        for &solid in &wires.affectors {
            let node = &network.nodes[solid];
            let thinnest = thinnest(network, evaluator, node)?;
            if thinnest < TIGHT_WALL * voxel * (1.0 - FLATTENED) {
                advice.push(format!(
                    "node `{}`: its walls are {} m thin, and `{liquid}` has voxels of {} m: liquid may pass walls \
                     thinner than two voxels; make them thicker or its voxels smaller",
                    node.name,
                    text::number(text::rounded(thinnest)),
                    text::number(voxel)
                ));
            }
        }
    }
    estimate.advice.extend(advice);
    Ok(())
}

/// Takes the edge of an object's voxels from the parameters that set its resolution.
fn resolve(node: &Bound, object: &mut ObjectEstimate) {
    let meant = |means| node.meant(means, 0.0).filter(|x| *x > 0.0);
    let sets = [Means::SEPARATION, Means::VOXEL];
    let sets = node.node_type.params.iter().find(|p| sets.contains(&p.means) && meant(p.means).is_some());
    object.resolution = sets.map(|p| p.name.clone()).unwrap_or_default();
    let of_particles = meant(Means::SEPARATION).map(|s| s * meant(Means::VOXEL_SCALE).unwrap_or(1.0));
    object.voxel = of_particles.or(meant(Means::VOXEL)).unwrap_or(0.0);
}

/// Adds the cost of a piece of starting geometry.
fn measure(node: &Bound, g: &Geometry, object: &mut ObjectEstimate) {
    let p = |i: u32| g.positions().get(i as usize).map_or(DVec3::ZERO, |p| Vec3::from(*p).as_dvec3());
    let (mut volume, mut area) = (0.0, 0.0);
    for t in g.triangles() {
        let (a, b, c) = (p(t[0]), p(t[1]), p(t[2]));
        volume += a.dot(b.cross(c)) / 6.0;
        area += 0.5 * (b - a).cross(c - a).length();
    }
    if let Some(separation) = node.meant(Means::SEPARATION, 0.0).filter(|s| *s > 0.0) {
        object.particles += volume.abs() / separation.powi(3);
        object.surface += area / object.voxel.powi(2);
        object.voxels += volume.abs() / object.voxel.powi(3) + area / object.voxel.powi(2) * LEAF_FILL;
    } else if object.voxel > 0.0 {
        object.voxels += area / object.voxel.powi(2) * (BAND + LEAF_FILL) * 0.5;
    }
}

fn advise(object: &ObjectEstimate, farthest: f64, advice: &mut Vec<String>) {
    let name = &object.name;
    if object.voxel > 0.0 && farthest * F32_ROUNDING > object.voxel * 1e-3 {
        advice.push(format!(
            "node `{name}`: {} m from the origin, positions round to more than a thousandth of a voxel; \
             move the scene closer to the origin",
            text::number(farthest.round())
        ));
    }
    if object.particles > 4e9 {
        advice.push(format!(
            "node `{name}`: {} particles are more than can be numbered; is the scale in metres?",
            text::number(text::rounded(object.particles))
        ));
    }
    if object.particles > 0.0 && object.particles < 1000.0 {
        advice.push(format!(
            "node `{name}`: only {:.0} particles; is `{}` in metres?",
            object.particles, object.resolution
        ));
    }
}
