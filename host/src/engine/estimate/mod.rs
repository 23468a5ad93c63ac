//! Estimates the cost of a shot before anything is cooked.

mod beyond;
mod claimed;
mod effort;
mod falls;
mod files;
mod poured;
mod walls;

pub use poured::SourceEstimate;

use super::media;
use super::plan::{Plan, idle, loose, misscheduled, uncoupled, unwritten};
use crate::data::Geometry;
use crate::geometry::Evaluator;
use crate::graph::{Bound, Network, Problem};
use crate::node::NodeKind;
use crate::output::{self, Bounds};
use crate::text;
use files::Files;
use glam::{DVec3, Vec3};
use meniscus_abi::Means;
use poured::poured;
use std::collections::BTreeSet;

/// Bytes the program takes before there is anything to simulate.
const PROGRAM_BYTES: f64 = 60e6;
/// Bytes that an output node takes while it draws a picture of a liquid and a few solids, about.
const PICTURE_BYTES: f64 = 20e6;
/// Bytes that a pixel of it takes besides, and bytes of its file a pixel.
const PIXEL_BYTES: (f64, f64) = (48.0, 1.5);
/// Bytes of what a body keeps of itself for each copy of it.
const COPY_BYTES: f64 = 350e3;
/// Seconds of one core for a frame of an output, however little it writes.
const FILE_SECONDS: f64 = 0.01;
/// Seconds of one core that a pixel of such a picture takes, on the examples and one core of an AMD EPYC.
const PIXEL_SECONDS: f64 = 1.6e-6;
/// Bytes of grids, particles and meshes that one core compresses and writes in a second.
const WRITTEN_BYTES: f64 = 1e8;
/// Voxels of 8³ leaves that are active per voxel of the surface, on average, because leaves are whole.
const LEAF_FILL: f64 = 12.0;
/// Width of a narrow band, voxels.
const BAND: f64 = 6.0;
/// Seconds of one core that a substep takes however little there is.
const STEP_SECONDS: f64 = 0.012;
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
    /// Substeps a frame in which its fastest liquid crosses no more voxels than the CFL number says, as far as heights of fall,
    /// sources and what begins to move tell.
    pub fall: f64,
    /// Bytes held while pictures are drawn.
    pub pictures: f64,
    /// Pixels drawn a frame.
    pub pixels: f64,
    /// Nodes that write.
    pub outputs: u32,
    /// Some node solves something.
    pub is_solved: bool,
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
        PROGRAM_BYTES + self.pictures + self.objects.iter().map(|o| o.memory).sum::<f64>()
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
        if self.is_solved { of_objects + STEP_SECONDS } else { 0.0 }
    }

    /// Seconds of one core for what is drawn and written at a frame.
    pub fn frame_seconds(&self) -> f64 {
        f64::from(self.outputs) * FILE_SECONDS
            + self.pixels * PIXEL_SECONDS
            + self.disk_per_frame() / WRITTEN_BYTES
    }

    /// Bytes written per frame, checkpoints not counted: two of them are kept, each about as large as the memory
    /// of the particles.
    pub fn disk_per_frame(&self) -> f64 {
        self.objects.iter().fold(self.pixels * PIXEL_BYTES.1, |sum, o| sum + o.disk)
    }
}

/// Estimates every object of a network from the geometry it starts as, and says which walls are too thin.
pub fn estimate(network: &Network, plan: &Plan, evaluator: &mut Evaluator) -> Result<Estimate, Problem> {
    let (sources, fall) = (poured(network, plan, evaluator)?, falls::substeps(network, plan, evaluator)?);
    let is_solved = plan.solvers.values().any(|wires| !wires.solved.is_empty());
    let mut estimate = Estimate { sources, fall, is_solved, ..Estimate::default() };
    let files = Files::of(network, plan);
    let first = f64::from(network.settings.frames.0);
    let active = || network.nodes.iter().filter(|n| !n.bypass);
    estimate.outputs = active().filter(|n| n.node_type.kind == NodeKind::Output).count() as u32;
    for pixels in active().filter_map(|n| output::pixels(&n.node_type.id, &n.params_at(first))) {
        estimate.pictures += PICTURE_BYTES + pixels * PIXEL_BYTES.0;
        estimate.pixels += pixels;
    }
    let objects = network.nodes.iter().enumerate();
    for (n, node) in objects.filter(|(_, n)| n.node_type.kind == NodeKind::Object && !n.bypass) {
        let mut object = ObjectEstimate { name: node.name.clone(), ..ObjectEstimate::default() };
        resolve(node, &mut object);
        let start = Start::of(network, node, evaluator, &mut object)?;
        for source in estimate.sources.iter().filter(|source| source.object == node.name) {
            object.pours(source);
        }
        let cost = node.node_type.contract.as_ref().map(|c| c.cost).unwrap_or_default();
        object.memory = object.particles * cost.particle_bytes + object.voxels * cost.voxel_bytes;
        object.memory += (start.copies() - 1.0) * COPY_BYTES;
        object.seconds = effort::seconds(network, plan, n, &object, &start);
        object.disk = files.bytes(&object, &start);
        advise(&object, start.reach, &mut estimate.advice);
        estimate.objects.push(object);
    }
    let thin = walls::full_of_holes(network, plan, evaluator)?;
    let thin = thin.into_iter().chain(walls::leaking(network, plan, evaluator, &estimate.objects)?);
    let idle = idle(network, plan).into_iter();
    let idle = idle.chain(uncoupled(network, plan)).chain(misscheduled(network, plan));
    let idle = idle.chain(beyond::endless(network, plan, evaluator)?);
    let idle = idle.chain(beyond::outside(network, plan, evaluator)?).chain(loose(network));
    let named =
        |(node, sentence): (usize, String)| format!("node `{}`: {sentence}", network.nodes[node].name);
    estimate.advice.extend(thin.chain(idle).map(named).chain(unwritten(network)));
    Ok(estimate)
}

/// Takes the edge of an object's voxels from the parameters that set its resolution.
fn resolve(node: &Bound, object: &mut ObjectEstimate) {
    let meant = |means| node.meant(means, 0.0).filter(|x| *x > 0.0);
    let sets = [Means::SEPARATION, Means::VOXEL];
    let sets = node.node_type.params.iter().find(|p| sets.contains(&p.means) && meant(p.means).is_some());
    object.resolution = sets.map(|p| p.name.clone()).unwrap_or_default();
    object.voxel = media::voxel(node).or(meant(Means::VOXEL)).unwrap_or(0.0);
}

/// What an object is made of when it begins.
#[derive(Default)]
struct Start {
    /// Corners of its meshes.
    corners: usize,
    /// Places where copies of them are; 0 where nothing says so.
    places: usize,
    /// The coordinate farthest from the origin, m.
    reach: f64,
}

impl Start {
    /// Adds what an object begins with to its cost.
    fn of(
        network: &Network,
        node: &Bound,
        evaluator: &mut Evaluator,
        object: &mut ObjectEstimate,
    ) -> Result<Self, Problem> {
        let frame = f64::from(network.settings.frames.0);
        let (mut start, mut bounds) = (Self::default(), None);
        for &input in &node.inputs {
            let g = evaluator.evaluate(network, input, frame, 0.0, 0.0)?;
            measure(node, &g, object);
            let origin = DVec3::from(g.origin);
            let at = g.positions().iter().map(|&p| Vec3::from(p).as_dvec3() + origin);
            bounds = bounds.into_iter().chain(Bounds::around(at)).reduce(Bounds::union);
            *(if g.triangles().is_empty() { &mut start.places } else { &mut start.corners }) +=
                g.positions().len();
            let reach = g.positions().iter().flatten().fold(0.0f32, |m, c| m.max(c.abs()));
            start.reach = start.reach.max(f64::from(reach));
        }
        object.size = bounds.map_or(DVec3::ZERO, |b: Bounds| b.max - b.min);
        Ok(start)
    }

    /// How many of its meshes there are.
    fn copies(&self) -> f64 {
        if self.corners > 0 { self.places.max(1) as f64 } else { 1.0 }
    }
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
