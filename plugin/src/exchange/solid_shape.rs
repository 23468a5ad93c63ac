//! The shape of a static object: its meshes, and how they move.

use super::Exchange;
use super::solids::{ColliderPorts, mesh_of, no_inside, stamps_of};
use glam::{DVec3, Vec3};
use meniscus_abi::guest::{Call, Failure, GeometryView, GridShape};
use meniscus_abi::{Element, Level, On, Sampling, Stage, Tile};
use meniscus_core::grid::{Grid, Transform};
use meniscus_core::interrupt::Interrupt;
use meniscus_core::levelset::{self, SignedDistance};
use meniscus_core::mesh::TriMesh;
use meniscus_core::number::{roughly, written};

/// A rigid motion as the host's geometry carries it on its detail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Rest → world.
    transform: Transform,
    /// Velocity of the pivot in this substep and in the next, m/s.
    linear: [[f64; 3]; 2],
    /// Angular velocity in this substep and in the next, rad/s, world axes.
    angular: [[f64; 3]; 2],
    /// Pivot, world metres.
    pivot: [f64; 3],
}

impl Placement {
    /// The row-major map of a lattice that is moved along.
    pub fn after(&self, lattice: &[f64; 16]) -> [f64; 16] {
        self.transform.after(&Transform::from_row_major(lattice)).to_row_major()
    }

    /// Rest → world.
    pub fn transform(&self) -> &Transform {
        &self.transform
    }

    /// Velocity (m/s) of the material at a world position and angular velocity (rad/s), in this substep and in the next.
    pub fn velocity(&self, world: DVec3) -> [[DVec3; 2]; 2] {
        [0, 1].map(|when| {
            let [linear, angular] = [self.linear[when], self.angular[when]].map(DVec3::from_array);
            [linear + angular.cross(world - DVec3::from_array(self.pivot)), angular]
        })
    }
}

/// The meshes of a solid at the end of the substep.
#[derive(Clone, Debug)]
pub enum SolidShape {
    /// A mesh in its rest pose and where it is now.
    Rigid {
        /// In the rest pose.
        rest: TriMesh,
        /// Where it is.
        placement: Placement,
        /// Stamps of what the mesh was read from; None where some were missing.
        stamps: Option<Vec<u64>>,
    },
    /// Meshes in world space, with velocities where they deform.
    Free {
        /// In the world.
        mesh: TriMesh,
        /// Velocities of the points in the next substep, m/s, where they deform.
        next: Option<Vec<Vec3>>,
        /// Stamps of what the mesh was read from; None where some were missing.
        stamps: Option<Vec<u64>>,
    },
}

impl SolidShape {
    /// Equal stamps, same signed distance.
    pub fn stamps(&self) -> Option<Vec<u64>> {
        match self {
            Self::Rigid { stamps, .. } | Self::Free { stamps, .. } => stamps.clone(),
        }
    }

    /// The lattice of its signed distance with voxels of `h` metres, in the mesh's own space. `last`: where the distance
    /// was sampled before; a mesh that begins to deform, or comes to rest, keeps it, so that the solid does not jump.
    pub fn lattice(&self, h: f64, last: Option<Transform>) -> Transform {
        let own = |last: &Transform| last.linear == Transform::uniform(h, DVec3::ZERO).linear;
        match (self, last.filter(own)) {
            (Self::Free { .. }, Some(last)) => last,
            (Self::Free { mesh, .. }, None) if mesh.velocities.is_some() => {
                Transform::uniform(h, DVec3::ZERO)
            }
            _ => levelset::lattice(self.mesh(), h),
        }
    }

    /// Velocities of the points in this substep and in the next, m/s, where they deform.
    fn velocities(&self) -> [Option<&[Vec3]>; 2] {
        match self {
            Self::Rigid { .. } => [None; 2],
            Self::Free { mesh, next, .. } => [mesh.velocities.as_deref(), next.as_deref()],
        }
    }

    /// Its mesh, in the rest frame where it moves rigidly.
    pub fn mesh(&self) -> &TriMesh {
        match self {
            Self::Rigid { rest, .. } => rest,
            Self::Free { mesh, .. } => mesh,
        }
    }
}

/// Half width of the band of a collider's signed distance, voxels.
pub(super) const BAND: f32 = 4.0;

impl Exchange {
    /// The meshes wired into a port, in their rest pose where one of them moves rigidly.
    pub fn solid_shape(&self, call: &Call, port: u32) -> Result<SolidShape, Failure> {
        let items: Vec<GeometryView> = (0..call.items(port)).filter_map(|n| call.geometry(port, n)).collect();
        Self::shape_of(call, port, items)
    }

    /// The shape of some of the items of a port.
    pub(super) fn shape_of(call: &Call, port: u32, items: Vec<GeometryView>) -> Result<SolidShape, Failure> {
        if let [only] = items.as_slice()
            && let Some(placement) = placement(only)
        {
            let rest = mesh_of(call, port, std::slice::from_ref(only), "restP")?;
            return Ok(SolidShape::Rigid { rest, placement, stamps: stamps_of(&items, &["restP"]) });
        }
        let mut mesh = mesh_of(call, port, &items, "P")?;
        let still = |v: &Option<Vec<Vec3>>| v.iter().flatten().all(|v| *v == Vec3::ZERO);
        let mut next = velocities_next(&items, &mesh);
        if still(&mesh.velocities) && still(&next) {
            (mesh.velocities, next) = (None, None);
        }
        let moves = mesh.velocities.is_some();
        let read: &[&str] = if moves { &["P", "v", "v_next"] } else { &["P"] };
        // A mesh that has come to rest is not treated as the moving one, though its points are the same.
        let stamps = stamps_of(&items, read).map(|mut s| {
            s.push(u64::from(moves));
            s
        });
        Ok(SolidShape::Free { mesh, next, stamps })
    }

    /// Refuses a solid that [`Self::write_collision`] would refuse, and makes nothing of any other.
    pub fn check_shape(
        &self,
        call: &Call,
        mesh_port: u32,
        shape: &SolidShape,
        h: f64,
    ) -> Result<(), Failure> {
        let lattice = self.install(|| shape.lattice(h, None));
        self.install(|| levelset::can_be_made(shape.mesh(), &lattice, BAND))
            .map_err(|e| no_inside(call, mesh_port, 0, "division_size", &e))
    }

    /// Makes the signed distance of a solid and, where it deforms, its velocity per voxel: in this substep and in the next.
    /// `last`: where the distance was sampled before.
    pub fn write_collision(
        &mut self,
        call: &mut Call,
        ports: ColliderPorts,
        mesh_port: u32,
        shape: &SolidShape,
        h: f64,
        last: Option<Transform>,
    ) -> Result<(), Failure> {
        let lattice = self.install(|| shape.lattice(h, last));
        let watch = call.progress().watch();
        let stopped = || watch.stopped();
        let interrupt = Interrupt::new(&stopped);
        let made = self.install(|| levelset::from_mesh_unless(shape.mesh(), &lattice, BAND, interrupt));
        let made = made.map_err(|e| no_inside(call, mesh_port, 0, "division_size", &e))?;
        tell_if_empty(call, mesh_port, shape.mesh(), &made, h);
        let placed = match shape {
            SolidShape::Rigid { placement, .. } => placement.after(&lattice.to_row_major()),
            SolidShape::Free { .. } => lattice.to_row_major(),
        };
        write_distance(call, ports.collision, &made, placed)?;
        let velocities = [ports.collision_vel, ports.collision_vel_next];
        for (port, of_points) in velocities.into_iter().zip(shape.velocities()) {
            let field = |v| levelset::mesh_velocity(shape.mesh(), v, &made.grid, &lattice);
            let velocity = match of_points {
                Some(v) => self.install(|| field(v)),
                None if call.grid(port, 0).is_some() => Grid::new(Default::default(), Vec3::ZERO),
                None => continue,
            };
            write_velocity(call, port, &velocity, placed)?;
        }
        Ok(())
    }

    /// Writes the table `motion`.
    pub fn write_motion(&self, call: &mut Call, port: u32, shape: &SolidShape) -> Result<(), Failure> {
        let still = [0.0; 3];
        let (linear, angular, pivot) = match shape {
            SolidShape::Rigid { placement: p, .. } => (p.linear, p.angular, p.pivot),
            SolidShape::Free { .. } => ([still; 2], [still; 2], still),
        };
        call.shape_table(port, 0)?;
        call.write_array(port, 0, c"linear", 3, &linear[0])?;
        call.write_array(port, 0, c"angular", 3, &angular[0])?;
        call.write_array(port, 0, c"linear_next", 3, &linear[1])?;
        call.write_array(port, 0, c"angular_next", 3, &angular[1])?;
        call.write_array(port, 0, c"pivot", 3, &pivot)
    }
}

fn placement(view: &GeometryView) -> Option<Placement> {
    let detail = |name: &str| view.attribute(On::DETAIL, name);
    let vector = |name: &str| detail(name)?.read::<f64, 3>()?.first().copied();
    // A host that does not give the next motion means that the motion goes on unchanged.
    let next_to = |name: &str| {
        let now = vector(name)?;
        Some([now, vector(&format!("{name}_next")).unwrap_or(now)])
    };
    let matrix = *detail("rigid_transform")?.read::<f64, 16>()?.first()?;
    view.attribute(On::POINTS, "restP")?;
    Some(Placement {
        transform: Transform::from_row_major(&matrix),
        linear: next_to("rigid_linear")?,
        angular: next_to("rigid_angular")?,
        pivot: vector("rigid_pivot")?,
    })
}

/// Velocities of the points in the next substep, m/s; as in this one where a mesh does not say.
fn velocities_next(items: &[GeometryView], mesh: &TriMesh) -> Option<Vec<Vec3>> {
    let mut next = mesh.velocities.clone()?;
    let mut first = 0;
    for item in items {
        if let Some(v) = item.points::<f32, 3>("v_next") {
            next.iter_mut().skip(first).zip(v.iter()).for_each(|(to, &v)| *to = Vec3::from_array(v));
        }
        first += item.point_count();
    }
    Some(next)
}

/// Says that a solid's field cannot show it, if its bounds are thinner than a voxel of `h` metres: then liquids and bodies go through
/// it. Thin walls of large solids, and thin plates that lie aslant, are not found this way.
pub fn tell_if_lost(call: &Call, mesh_port: u32, mesh: &TriMesh, h: f64) {
    let (low, high) = mesh.bounds();
    let thick = f64::from((high - low).min_element());
    if thick < h {
        let sentence = format!(
            "`{}` is {} m thick, and its field has voxels of {} m: what meets it may go through; set division_size to {} or less",
            call.item_name(mesh_port, 0),
            roughly(thick),
            written(h),
            roughly(0.5 * thick)
        );
        call.log(Level::WARNING, &sentence);
    }
}

/// Says of a solid's first field that nothing meets it, if no sample lies in it or close to it; where its bounds say so,
/// [`tell_if_lost`] does.
pub(super) fn tell_if_empty(call: &Call, mesh_port: u32, mesh: &TriMesh, made: &SignedDistance, h: f64) {
    let (low, high) = mesh.bounds();
    if call.stage() == Stage::INIT && levelset::is_lost(made, h) && f64::from((high - low).min_element()) >= h
    {
        let sentence = format!(
            "no voxel of the field of `{}` lies in it, so nothing meets it; set division_size to less than {} m",
            call.item_name(mesh_port, 0),
            written(h)
        );
        call.log(Level::WARNING, &sentence);
    }
}

pub(super) fn write_distance(
    call: &mut Call,
    port: u32,
    distance: &SignedDistance,
    index_to_world: [f64; 16],
) -> Result<(), Failure> {
    let grid = &distance.grid;
    let origins: Vec<[i32; 3]> = grid.topology.origins().iter().map(|o| o.to_array()).collect();
    let tiles: Vec<Tile> = distance
        .inside
        .boxes()
        .flat_map(|(low, high)| {
            (low.z..=high.z).step_by(8).map(move |z| Tile { origin: [low.x, low.y, z], edge: 8 })
        })
        .collect();
    let tile_values = vec![-f64::from(grid.background); tiles.len()];
    let shape = GridShape {
        element: Element::F32,
        components: 1,
        sampling: Sampling::CENTER,
        topology_id: 0,
        origins: &origins,
        tiles: &tiles,
        tile_values: &tile_values,
        background: f64::from(grid.background),
        index_to_world,
    };
    let mut made = call.shape_grid(port, 0, &shape)?;
    fill(port, made.values::<f32>(0), grid.values.iter().copied())
}

fn write_velocity(
    call: &mut Call,
    port: u32,
    velocity: &Grid<Vec3>,
    index_to_world: [f64; 16],
) -> Result<(), Failure> {
    let origins: Vec<[i32; 3]> = velocity.topology.origins().iter().map(|o| o.to_array()).collect();
    let shape = GridShape {
        element: Element::F32,
        components: 3,
        sampling: Sampling::CENTER,
        topology_id: 0,
        origins: &origins,
        tiles: &[],
        tile_values: &[],
        background: 0.0,
        index_to_world,
    };
    let mut made = call.shape_grid(port, 0, &shape)?;
    for c in 0..3 {
        fill(port, made.values::<f32>(c), velocity.values.iter().map(|v| v[c]))?;
    }
    Ok(())
}

fn fill(port: u32, to: Option<&mut [f32]>, from: impl ExactSizeIterator<Item = f32>) -> Result<(), Failure> {
    let to = to.filter(|to| to.len() == from.len());
    let to = to.ok_or_else(|| Failure::host(port, "the host shaped another grid than was asked for"))?;
    to.iter_mut().zip(from).for_each(|(to, v)| *to = v);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const H: f64 = 0.1;

    fn free(points: Vec<Vec3>, velocity: Option<Vec3>) -> SolidShape {
        let velocities = velocity.map(|v| vec![v; points.len()]);
        let mesh = TriMesh { points, triangles: Vec::new(), velocities };
        SolidShape::Free { mesh, next: None, stamps: None }
    }

    #[test]
    fn a_solid_that_begins_to_deform_or_comes_to_rest_keeps_its_lattice() {
        let on = vec![Vec3::ZERO, Vec3::splat(0.5)];
        let off = vec![Vec3::splat(0.03), Vec3::splat(0.47)];
        let at_rest = free(on.clone(), None).lattice(H, None);
        let moving = free(off.clone(), Some(Vec3::X)).lattice(H, None);
        assert_ne!(at_rest, moving);
        assert_eq!(free(off, Some(Vec3::X)).lattice(H, Some(at_rest)), at_rest);
        assert_eq!(free(on.clone(), None).lattice(H, Some(moving)), moving);
        // One of other voxels, or turned, is none of its own.
        assert_eq!(free(on, None).lattice(H, Some(Transform::uniform(0.2, DVec3::ZERO))), at_rest);
    }
}
