//! Solids: input meshes, and the colliders that static objects offer.

use super::Exchange;
use super::grids::{incomplete, name};
use glam::{DMat3, DVec3, Vec3};
use meniscus_abi::guest::{Call, Failure, GeometryView, GridView};
use meniscus_abi::{On, Primitive, port_places};
use meniscus_core::grid::{Grid, Transform};
use meniscus_core::levelset::SignedDistance;
use meniscus_core::mesh::{MeshError, TriMesh};
use meniscus_core::solid::{Collider, Enclosed, Motion, is_seen_anew, with_volume};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// Signed distances and velocity fields of colliders by their stamps.
#[derive(Debug, Default)]
pub struct LevelSets {
    distances: Vec<(u64, Arc<SignedDistance>)>,
    velocities: Vec<(u64, Arc<Grid<Vec3>>)>,
    /// Those of bodies that keep their volume, by stamp and the bits of what else they depend on.
    kept_volumes: Vec<(Vec<u64>, Arc<SignedDistance>)>,
}

/// Level sets that are kept beyond one for each item.
const KEPT: usize = 64;

port_places! {
    /// The ports by which a solid is seen, a static object or a body: signed distance in the object's own space, velocity per voxel of
    /// deforming meshes in this substep and in the next, and rigid motion.
    pub struct ColliderPorts { collision, collision_vel, collision_vel_next, motion }
}

impl Exchange {
    /// The colliders among the affectors, in the order of their names, as they moved in this substep and as they will in the next. One
    /// with a share of a solve, at the port `dynamics`, is a body; on a fluid's `lattice` it keeps its volume.
    pub fn colliders(
        &mut self,
        call: &Call,
        ports: ColliderPorts,
        dynamics: u32,
        lattice: Option<&Transform>,
    ) -> Result<[Vec<Collider>; 2], Failure> {
        let mut colliders = [Vec::new(), Vec::new()];
        let most = KEPT + call.items(ports.collision) as usize;
        for item in by_name(call, ports.collision) {
            let Some(view) = call.grid(ports.collision, item) else { continue };
            bounded(call, ports.collision, item, &view)?;
            let transform = Transform::from_row_major(view.index_to_world());
            let distance = match known(&self.level_sets.distances, view.value_id()) {
                Some(distance) => distance,
                None => {
                    let (grid, _) = self
                        .grid::<f32>(call, ports.collision, item)?
                        .ok_or_else(|| incomplete(call, ports.collision))?;
                    let distance = Arc::new(self.install(|| SignedDistance::new(grid)));
                    remember(&mut self.level_sets.distances, view.value_id(), &distance, most);
                    distance
                }
            };
            let is_body = call.table(dynamics, item).is_some();
            let enclosed = enclosed(call, ports.motion, item, &transform).filter(|_| is_body);
            let places = placements(call, ports.motion, item)?;
            let most = most + 2 * places.as_ref().map_or(1, Vec::len);
            for (when, colliders) in colliders.iter_mut().enumerate() {
                let placed = match &places {
                    Some(places) => copies(call, ports.motion, item, when, places, transform)?,
                    None => vec![(transform, self.motion(call, ports, item, when)?)],
                };
                let (places, motions): (Vec<_>, Vec<_>) = placed.into_iter().unzip();
                places.iter().try_for_each(|place| in_reach(call, ports.collision, item, place))?;
                let seen = match (lattice, enclosed) {
                    (Some(lattice), Some(enclosed)) => {
                        self.with_volumes((view.value_id(), &distance), &places, lattice, enclosed, most)
                    }
                    _ => vec![distance.clone(); places.len()],
                };
                for ((seen, place), motion) in seen.into_iter().zip(places).zip(motions) {
                    let collider = Collider::new(seen, place, motion);
                    colliders.push(if is_body { collider.as_body() } else { collider });
                }
            }
        }
        Ok(colliders)
    }

    /// A body's distance, `id` its stamp, with its volume on a lattice in each of these places; what is remembered is not made anew.
    fn with_volumes(
        &mut self,
        (id, distance): (u64, &Arc<SignedDistance>),
        places: &[Transform],
        lattice: &Transform,
        enclosed: Enclosed,
        most: usize,
    ) -> Vec<Arc<SignedDistance>> {
        let h = lattice.voxel_size();
        let key = |place: &Transform| -> Vec<u64> {
            let mut depends_on = vec![h, enclosed.volume];
            depends_on.extend(enclosed.centroid.into_iter().flat_map(|c| c.to_array()));
            if is_seen_anew(distance, place, h) {
                depends_on.extend(place.to_row_major());
                depends_on.extend(lattice.to_row_major());
            }
            // What has no stamp is not remembered.
            match id {
                0 => Vec::new(),
                id => [id].into_iter().chain(depends_on.into_iter().map(f64::to_bits)).collect(),
            }
        };
        let keys: Vec<Vec<u64>> = places.iter().map(key).collect();
        // Copies of a large body look alike everywhere: those of one key are made once, at the first of their places.
        let mut places_of = HashMap::new();
        let first = |(n, key): (usize, &Vec<u64>)| {
            if key.is_empty() { n } else { *places_of.entry(key.clone()).or_insert(n) }
        };
        let firsts: Vec<usize> = keys.iter().enumerate().map(first).collect();
        let kept = self.level_sets.kept_volumes.iter();
        let kept: HashMap<&[u64], &Arc<SignedDistance>> = kept.map(|(k, seen)| (&k[..], seen)).collect();
        let known: Vec<_> = keys.iter().map(|key| kept.get(&key[..]).map(|&seen| seen.clone())).collect();
        let see = |n: usize| {
            let made = || Arc::new(with_volume(distance, &places[n], lattice, enclosed));
            (firsts[n] == n).then(|| known[n].clone().unwrap_or_else(made))
        };
        let seen: Vec<Option<Arc<SignedDistance>>> =
            self.install(|| (0..places.len()).into_par_iter().map(see).collect());
        for ((key, known), seen) in keys.into_iter().zip(&known).zip(&seen) {
            if let (None, Some(seen)) = (known, seen) {
                remember(&mut self.level_sets.kept_volumes, key, seen, most);
            }
        }
        firsts.iter().filter_map(|&first| seen[first].clone()).collect()
    }

    /// How a collider moves in this substep (`when` 0) or in the next (1). Without data for the next one the motion
    /// goes on unchanged.
    fn motion(
        &mut self,
        call: &Call,
        ports: ColliderPorts,
        item: u32,
        when: usize,
    ) -> Result<Motion, Failure> {
        let next = when == 1 && call.grid(ports.collision_vel_next, item).is_some();
        let collision_vel = if next { ports.collision_vel_next } else { ports.collision_vel };
        if let Some(view) = call.grid(collision_vel, item) {
            if let Some(field) = known(&self.level_sets.velocities, view.value_id()) {
                return Ok(Motion::PerVoxel(field));
            }
            let topology = self.topology(call, collision_vel, &view)?;
            let mut axes = [const { Vec::new() }; 3];
            for (c, axis) in axes.iter_mut().enumerate() {
                *axis = self.component::<f32>(call, collision_vel, &view, c)?;
            }
            let [x, y, z] = &axes;
            let values = x.iter().zip(y).zip(z).map(|((&x, &y), &z)| Vec3::new(x, y, z)).collect();
            let field = Arc::new(Grid { topology, values, background: Vec3::ZERO });
            let most = KEPT + call.items(collision_vel) as usize;
            remember(&mut self.level_sets.velocities, view.value_id(), &field, most);
            return Ok(Motion::PerVoxel(field));
        }
        let Some(table) = call.table(ports.motion, item) else { return Ok(Motion::Static) };
        let vector = |array: &str| -> Result<DVec3, Failure> {
            let values = table.array::<f64>(array).and_then(|v| v.try_into().ok()).map(DVec3::from_array);
            values.filter(|v| v.is_finite()).ok_or_else(|| {
                let sentence = format!(
                    "the vector `{array}` of `{}` is missing or not finite",
                    name(call, ports.motion)
                );
                Failure::input(ports.motion, sentence)
            })
        };
        let said = when == 1 && table.array::<f64>("linear_next").is_some();
        let [linear, angular] = if said { ["linear_next", "angular_next"] } else { ["linear", "angular"] };
        let (linear, angular) = (vector(linear)?, vector(angular)?);
        if linear == DVec3::ZERO && angular == DVec3::ZERO {
            return Ok(Motion::Static);
        }
        Ok(Motion::Rigid { linear, angular, pivot: vector("pivot")? })
    }
}

/// The items of a port in the order of their names: which solid counts where several meet must not hang on the wires.
fn by_name(call: &Call, port: u32) -> Vec<u32> {
    let mut items: Vec<u32> = (0..call.items(port)).collect();
    items.sort_by_key(|&item| call.item_name(port, item));
    items
}

/// What a body's distance encloses; `None` where it does not say. `lattice`: that of the distance.
fn enclosed(call: &Call, motion: u32, item: u32, lattice: &Transform) -> Option<Enclosed> {
    let table = call.table(motion, item)?;
    let volume = table.first::<f64>("volume").filter(|v| *v > 0.0 && *v < f64::INFINITY)?;
    let centroid = table.array::<f64>("centroid").and_then(|c| c.try_into().ok()).map(DVec3::from_array);
    Some(Enclosed { volume, centroid: centroid.filter(|c| c.is_finite()).map(|c| lattice.to_index(c)) })
}

impl Exchange {
    /// The names of [`Self::colliders`]: that of an object once for each of its pieces, in their order.
    pub fn collider_names(call: &Call, ports: ColliderPorts) -> Result<Vec<String>, Failure> {
        let mut names = Vec::new();
        let items = by_name(call, ports.collision).into_iter();
        for item in items.filter(|&i| call.grid(ports.collision, i).is_some()) {
            let pieces = placements(call, ports.motion, item)?.map_or(1, |places| places.len());
            names.extend(std::iter::repeat_n(call.item_name(ports.collision, item).to_owned(), pieces));
        }
        Ok(names)
    }
}

/// Where an object's signed distance is, once for each of its pieces; `None` where it is where its lattice says.
fn placements(call: &Call, motion: u32, item: u32) -> Result<Option<Vec<Transform>>, Failure> {
    let Some(values) = call.table(motion, item).and_then(|t| t.array::<f64>("placement")) else {
        return Ok(None);
    };
    let (places, rest) = values.as_chunks::<16>();
    if !rest.is_empty() || !values.iter().all(|v| v.is_finite()) {
        let sentence =
            format!("`placement` of `{}` is not made of finite 4x4 matrices", call.item_name(motion, item));
        return Err(Failure::input(motion, sentence));
    }
    let places: Vec<Transform> = places.iter().map(Transform::from_row_major).collect();
    if !places.iter().all(is_rigid) {
        let sentence = format!(
            "`placement` of `{}` does not keep lengths, or lies farther than {FARTHEST:e} m from the origin",
            call.item_name(motion, item)
        );
        return Err(Failure::input(motion, sentence));
    }
    Ok(Some(places))
}

/// Refuses a solid of tiles alone, or one that is everywhere: distances are read from leaves, which hold its surface.
fn bounded(call: &Call, port: u32, item: u32, view: &GridView) -> Result<(), Failure> {
    let has_leaves = view.origins().is_some_and(|leaves| !leaves.is_empty());
    let has_tiles = view.tiles().is_some_and(|tiles| !tiles.is_empty());
    if has_leaves || !(has_tiles || view.background(0) < 0.0) {
        return Ok(());
    }
    let name = call.item_name(port, item);
    let sentence = format!(
        "the level set of `{name}` has no leaves, so it has no surface: give it leaves where it ends"
    );
    Err(Failure::input(port, sentence))
}

/// Farthest place of a solid from the origin, m.
const FARTHEST: f64 = 1e9;

/// Refuses a solid whose lattice is so far away that its voxels have no number.
fn in_reach(call: &Call, port: u32, item: u32, place: &Transform) -> Result<(), Failure> {
    let voxel = place.voxel_size();
    let away = place.translation.length();
    if away <= FARTHEST && away <= f64::from(i32::MAX / 4) * voxel {
        return Ok(());
    }
    let name = call.item_name(port, item);
    let sentence = format!(
        "the lattice of `{name}`, of voxels of {voxel} m, begins {away:.3e} m from the origin: too far"
    );
    Err(Failure::input(port, sentence))
}

/// Whether a placement only turns and moves, or mirrors, and goes no farther than a number can tell.
fn is_rigid(place: &Transform) -> bool {
    let (m, t) = (place.linear, place.translation);
    let off = m.transpose() * m - DMat3::IDENTITY;
    let most = off.to_cols_array().iter().fold(0.0f64, |most, v| most.max(v.abs()));
    most < 1e-3 && t.length() <= FARTHEST
}

/// The pieces of an object: where each is, and how it moves in this substep (`when` 0) or in the next (1).
fn copies(
    call: &Call,
    motion: u32,
    item: u32,
    when: usize,
    places: &[Transform],
    lattice: Transform,
) -> Result<Vec<(Transform, Motion)>, Failure> {
    let table = call.table(motion, item);
    let vectors = |array: &str| -> Result<Vec<DVec3>, Failure> {
        let values = table.as_ref().and_then(|t| t.array::<f64>(array)).unwrap_or_default();
        let (vectors, rest) = values.as_chunks::<3>();
        if vectors.len() == places.len() && rest.is_empty() && values.iter().all(|v| v.is_finite()) {
            return Ok(vectors.iter().map(|v| DVec3::from_array(*v)).collect());
        }
        let name = call.item_name(motion, item);
        Err(Failure::input(
            motion,
            format!("`{name}` lacks a finite vector `{array}` for each of its pieces"),
        ))
    };
    let said = when == 1 && table.as_ref().is_some_and(|t| t.array::<f64>("linear_next").is_some());
    let [linear, angular] = if said { ["linear_next", "angular_next"] } else { ["linear", "angular"] };
    let (linear, angular, pivot) = (vectors(linear)?, vectors(angular)?, vectors("pivot")?);
    let piece = |n: usize| {
        let (linear, angular, pivot) = (linear[n], angular[n], pivot[n]);
        let motion = match linear == DVec3::ZERO && angular == DVec3::ZERO {
            true => Motion::Static,
            false => Motion::Rigid { linear, angular, pivot },
        };
        (places[n].after(&lattice), motion)
    };
    Ok((0..places.len()).map(piece).collect())
}

/// Geometry items as one mesh in world space (or in the space of the named position attribute).
pub(super) fn mesh_of(
    call: &Call,
    port: u32,
    items: &[GeometryView],
    positions: &str,
) -> Result<TriMesh, Failure> {
    let mut mesh = TriMesh { points: Vec::new(), triangles: Vec::new(), velocities: None };
    for (n, view) in items.iter().enumerate() {
        append(&mut mesh, view, positions)
            .map_err(|what| Failure::input(port, format!("`{}` {what}", call.item_name(port, n as u32))))?;
    }
    Ok(mesh)
}

/// The message about a mesh that encloses nothing, with its name or, where voxels are too large, the parameter that
/// sets their size.
pub(super) fn no_inside(call: &Call, port: u32, item: u32, voxels: &str, error: &MeshError) -> Failure {
    match error {
        MeshError::VoxelSize(_) | MeshError::TooFine { .. } => {
            Failure::parameter(format!("{voxels}: {error}"))
        }
        MeshError::Interrupted => Failure::cancelled(),
        _ => Failure::input(port, format!("`{}`: {error}", call.item_name(port, item))),
    }
}

/// The stamps of vertices and point attributes; None where one is missing.
pub(super) fn stamps_of(items: &[GeometryView], attributes: &[&str]) -> Option<Vec<u64>> {
    let mut stamps = Vec::new();
    for item in items {
        stamps.push(item.topology_id());
        for name in attributes {
            stamps.extend(item.attribute(On::POINTS, name).map(|a| a.value_id()));
        }
    }
    stamps.iter().all(|&s| s != 0).then_some(stamps)
}

pub(super) fn append(mesh: &mut TriMesh, view: &GeometryView, positions: &str) -> Result<(), String> {
    if view.primitive() != Primitive::TRIANGLES {
        return Err("is not made of triangles".into());
    }
    let origin = DVec3::from_array(view.origin());
    let points =
        view.points::<f32, 3>(positions).ok_or_else(|| format!("lacks the point attribute `{positions}`"))?;
    let vertices = view.vertices().ok_or("lacks its vertices")?;
    if let Some(&v) = vertices.iter().find(|&&v| v as usize >= points.len()) {
        return Err(format!("has a triangle that names point {v} of {}", points.len()));
    }
    let first = mesh.points.len();
    let (triangles, _) = vertices.as_chunks::<3>();
    mesh.triangles.extend(triangles.iter().map(|t| t.map(|v| v + first as u32)));
    mesh.points.extend(points.iter().map(|&p| (origin + Vec3::from_array(p).as_dvec3()).as_vec3()));
    let moving = view.points::<f32, 3>("v").filter(|_| positions == "P");
    if moving.is_some() || mesh.velocities.is_some() {
        let velocities = mesh.velocities.get_or_insert_default();
        velocities.resize(first, Vec3::ZERO);
        velocities.extend(moving.iter().flat_map(|v| v.iter()).map(|&v| Vec3::from_array(v)));
        velocities.resize(mesh.points.len(), Vec3::ZERO);
    }
    Ok(())
}

fn known<T>(kept: &[(u64, Arc<T>)], id: u64) -> Option<Arc<T>> {
    kept.iter().find(|(k, _)| *k == id && id != 0).map(|(_, t)| t.clone())
}

/// Keeps at most `most`, the newest.
fn remember<K: PartialEq + Default, T>(kept: &mut Vec<(K, Arc<T>)>, key: K, value: &Arc<T>, most: usize) {
    if key != K::default() {
        kept.insert(0, (key, value.clone()));
        kept.truncate(most);
    }
}
