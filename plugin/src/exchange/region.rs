//! Regions of space that input meshes enclose: where liquid starts, enters or leaves.

use super::Exchange;
use super::solids::{mesh_of, no_inside, stamps_of};
use glam::{DVec3, Vec3};
use meniscus_abi::guest::{Call, Failure};
use meniscus_core::grid::Transform;
use meniscus_core::interrupt::Interrupt;
use meniscus_core::levelset::{self, SignedDistance};
use meniscus_core::mesh::TriMesh;
use meniscus_core::number::roughly;
use std::sync::Arc;

/// The inside of closed meshes; they may overlap.
#[derive(Clone, Debug)]
pub struct Region {
    parts: Vec<SignedDistance>,
    transform: Transform,
    low: DVec3,
    high: DVec3,
    /// Of each part its volume, m³, and the area vectors of its triangles, m².
    sizes: Vec<(f64, Vec<Vec3>)>,
    centre: DVec3,
}

/// The last region, and the stamps of the meshes it was made of.
#[derive(Debug, Default)]
pub struct LastRegion(Option<(Vec<u64>, Arc<Region>)>);

/// Half width of the band around a region's boundary, voxels.
const BAND: f32 = 3.0;
/// Voxels across the thinnest part of a region. The grid rounds its edges by about half a voxel.
const ACROSS: f64 = 24.0;
/// Most voxels on a region's boundary when its grid is finer than the distance between particles.
const FINE: f64 = 5e5;
/// Smallest thickness of a region, of the distance between particles.
const THINNEST: f64 = 0.05;

impl Region {
    /// Lowest and highest corner, metres.
    pub fn bounds(&self) -> (DVec3, DVec3) {
        (self.low, self.high)
    }

    /// Whether a world position is inside.
    pub fn contains(&self, world: DVec3) -> bool {
        self.reaches(world, 0.0)
    }

    /// Whether a world position is inside, or no farther than `margin` metres from it.
    pub fn reaches(&self, world: DVec3, margin: f64) -> bool {
        self.distance(world) < margin
    }

    /// Distance of a world position, m, below 0 inside; a few voxels away no more than that.
    pub fn distance(&self, world: DVec3) -> f64 {
        let index = self.transform.to_index(world);
        let of_each = self.parts.iter().map(|part| f64::from(part.sampler().distance(index)));
        of_each.fold(f64::INFINITY, f64::min)
    }

    /// Thickness of the thinnest part along a direction, m: its volume over its projection.
    pub fn thickness(&self, along: Vec3) -> f64 {
        let along = along.normalize_or_zero();
        let projected =
            |areas: &[Vec3]| areas.iter().map(|a| 0.5 * f64::from(a.dot(along).abs())).sum::<f64>();
        self.sizes.iter().map(|(volume, areas)| volume / projected(areas)).fold(f64::INFINITY, f64::min)
    }

    /// The mean of its points, m: it moves as the region does.
    pub fn centre(&self) -> DVec3 {
        self.centre
    }
}

impl Exchange {
    /// Lowest and highest corner of the meshes at a port, metres; None where nothing is wired in.
    pub fn bounds(&self, call: &Call, port: u32) -> Result<Option<(DVec3, DVec3)>, Failure> {
        let items: Vec<_> = (0..call.items(port)).filter_map(|n| call.geometry(port, n)).collect();
        let points = mesh_of(call, port, &items, "P")?.points;
        let bounds = points.iter().map(|p| p.as_dvec3()).fold(None, |bounds, p| {
            let (low, high) = bounds.unwrap_or((p, p));
            Some((p.min(low), p.max(high)))
        });
        Ok(bounds)
    }

    /// Refuses meshes at a port that [`Self::region`] would refuse, and makes nothing of the others.
    pub fn check_region(&self, call: &Call, port: u32, h: f64) -> Result<(), Failure> {
        let transform = Transform::uniform(h, DVec3::ZERO);
        for n in 0..call.items(port) {
            let Some(view) = call.geometry(port, n) else { continue };
            let mesh = mesh_of(call, port, std::slice::from_ref(&view), "P")?;
            self.install(|| levelset::can_be_made(&mesh, &transform, BAND))
                .map_err(|e| no_inside(call, port, n, "particle_separation", &e))?;
        }
        Ok(())
    }

    /// What the meshes at a port enclose, for particles `h` metres apart; None where nothing is wired in.
    pub fn region(&mut self, call: &Call, port: u32, h: f64) -> Result<Option<Arc<Region>>, Failure> {
        let items: Vec<_> =
            (0..call.items(port)).filter_map(|n| Some((n, call.geometry(port, n)?))).collect();
        let views: Vec<_> = items.iter().map(|(_, view)| view.clone()).collect();
        let stamps = stamps_of(&views, &["P"]).map(|mut stamps| {
            stamps.push(h.to_bits());
            stamps
        });
        if let Some((last, region)) = &self.last_region.0
            && stamps.as_ref() == Some(last)
        {
            return Ok(Some(region.clone()));
        }
        let watch = call.progress().watch();
        let stopped = || watch.stopped();
        let mut meshes = Vec::new();
        for (n, view) in &items {
            meshes.push((*n, mesh_of(call, port, std::slice::from_ref(view), "P")?));
        }
        let thinnest = meshes.iter().map(|(_, mesh)| thickness(mesh)).fold(f64::INFINITY, f64::min);
        let area: f64 = meshes.iter().map(|(_, mesh)| mesh.area()).sum();
        let fine = (thinnest / ACROSS).max((area / FINE).sqrt());
        let transform = Transform::uniform(if fine > 0.0 { fine.min(h) } else { h }, DVec3::ZERO);
        let mut region = Region {
            parts: Vec::new(),
            transform,
            low: DVec3::INFINITY,
            high: DVec3::NEG_INFINITY,
            sizes: Vec::new(),
            centre: DVec3::ZERO,
        };
        for (n, mesh) in &meshes {
            for p in &mesh.points {
                region.low = region.low.min(p.as_dvec3());
                region.high = region.high.max(p.as_dvec3());
                region.centre += p.as_dvec3();
            }
            let part = self
                .install(|| levelset::from_mesh_unless(mesh, &transform, BAND, Interrupt::new(&stopped)))
                .map_err(|e| no_inside(call, port, *n, "particle_separation", &e))?;
            let thin = thickness(mesh);
            if thin < THINNEST * h || thin < transform.voxel_size() {
                let name = call.item_name(port, *n);
                let sentence = format!(
                    "`{name}`: a region {} m thick holds no particle, which stand {h} m apart; make it thicker, or particle_separation smaller",
                    roughly(thin)
                );
                return Err(Failure::input(port, sentence));
            }
            region.parts.push(part);
            region.sizes.push((mesh.volume().abs(), areas(mesh)));
        }
        if region.parts.is_empty() {
            return Ok(None);
        }
        region.centre /= meshes.iter().map(|(_, mesh)| mesh.points.len()).sum::<usize>() as f64;
        let region = Arc::new(region);
        self.last_region.0 = stamps.map(|stamps| (stamps, region.clone()));
        Ok(Some(region))
    }
}

/// Mean thickness of what a mesh encloses, m: that of a sheet; two thirds of the radius of a ball.
fn thickness(mesh: &TriMesh) -> f64 {
    2.0 * mesh.volume().abs() / mesh.area()
}

/// The area vectors of a mesh's triangles, m².
fn areas(mesh: &TriMesh) -> Vec<Vec3> {
    let area = |t: usize| {
        let [a, b, c] = mesh.corners(t);
        0.5 * (b - a).cross(c - a)
    };
    (0..mesh.triangles.len()).map(area).collect()
}
