//! Regions of space that input meshes enclose: where liquid starts, enters or leaves.

use super::Exchange;
use super::solids::{mesh_of, no_inside, stamps_of};
use glam::DVec3;
use meniscus_abi::guest::{Call, Failure};
use meniscus_core::grid::Transform;
use meniscus_core::interrupt::Interrupt;
use meniscus_core::levelset::{self, SignedDistance};
use std::sync::Arc;

/// The inside of closed meshes; they may overlap.
#[derive(Clone, Debug)]
pub struct Region {
    parts: Vec<SignedDistance>,
    transform: Transform,
    low: DVec3,
    high: DVec3,
}

/// The last region, and the stamps of the meshes it was made of.
#[derive(Debug, Default)]
pub struct LastRegion(Option<(Vec<u64>, Arc<Region>)>);

/// Half width of the band around a region's boundary, voxels.
const BAND: f32 = 3.0;

impl Region {
    /// Lowest and highest corner, metres.
    pub fn bounds(&self) -> (DVec3, DVec3) {
        (self.low, self.high)
    }

    /// Whether a world position is inside.
    pub fn contains(&self, world: DVec3) -> bool {
        let index = self.transform.to_index(world);
        self.parts.iter().any(|part| part.sampler().distance(index) < 0.0)
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

    /// What the meshes at a port enclose, on a lattice of `h` metres; None where nothing is wired in.
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
        let transform = Transform::uniform(h, DVec3::ZERO);
        let watch = call.progress().watch();
        let stopped = || watch.stopped();
        let mut region =
            Region { parts: Vec::new(), transform, low: DVec3::INFINITY, high: DVec3::NEG_INFINITY };
        for (n, view) in &items {
            let mesh = mesh_of(call, port, std::slice::from_ref(view), "P")?;
            for p in &mesh.points {
                region.low = region.low.min(p.as_dvec3());
                region.high = region.high.max(p.as_dvec3());
            }
            let part = self
                .install(|| levelset::from_mesh_unless(&mesh, &transform, BAND, Interrupt::new(&stopped)))
                .map_err(|e| no_inside(call, port, *n, "particle_separation", &e))?;
            region.parts.push(part);
        }
        if region.parts.is_empty() {
            return Ok(None);
        }
        let region = Arc::new(region);
        self.last_region.0 = stamps.map(|stamps| (stamps, region.clone()));
        Ok(Some(region))
    }
}
