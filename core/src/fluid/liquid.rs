//! A FLIP liquid: how it is simulated, its state, and the fields of its substep.

use super::advection::AdvectionParams;
use super::inlet::Inlet;
use super::particles::Particles;
use super::reseeding::Reseeding;
use super::surface::SurfaceParams;
use super::tension;
use super::transfer::VelocityTransfer;
use super::volume::{LiquidVolume, VolumeBook, VolumeControl};
use crate::grid::{FaceGrid, Grid, Topology, Transform};
use crate::solid::SolidFields;
use glam::DVec3;
use std::sync::Arc;

/// Most voxels a substep may be meant to cross: as far as velocity is extended around the liquid within a leaf's reach.
pub const MOST_CFL: f64 = 5.0;

/// How a liquid is simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlipParams {
    /// Distance between particles as they are seeded, m; half a voxel for eight particles per voxel.
    pub particle_separation: f32,
    /// How particles and faces exchange velocity.
    pub transfer: VelocityTransfer,
    /// Most voxels a particle travels in a substep: velocity is extended that far, and two more, around the
    /// liquid.
    pub cfl: f32,
    /// Width of the surface's band of distances, voxels.
    pub band: f32,
    /// How particles meet solids.
    pub advection: AdvectionParams,
    /// Limits on the particles of an interior cell; `None` leaves them alone.
    pub reseeding: Option<Reseeding>,
    /// Correction of the volume's drift.
    pub volume: VolumeControl,
    /// Whether the particles' viscosity counts.
    pub viscosity: bool,
    /// Surface tension, N/m; 0 for none.
    pub tension: f64,
    /// Whether passive particles sample the air beside the liquid.
    pub air_particles: bool,
}

impl FlipParams {
    /// Eight particles per voxel of edge `h` metres, two voxels a substep.
    pub fn for_voxel(h: f32) -> Self {
        Self {
            particle_separation: 0.5 * h,
            transfer: VelocityTransfer::Apic,
            cfl: 2.0,
            band: 3.0,
            advection: AdvectionParams::default(),
            reseeding: Some(Reseeding::default()),
            volume: VolumeControl::default(),
            viscosity: true,
            tension: 0.0,
            air_particles: false,
        }
    }

    /// Width of the surface's band, voxels: with surface tension at least what its curvature is read from, and as deep as
    /// thinned cells begin.
    pub(super) fn surface_band(&self) -> f32 {
        let band = self.band.max(self.thinned_below().ceil());
        if self.tension > 0.0 { band.max(tension::LEAST_BAND) } else { band }
    }

    /// Depth below the surface, voxels, from which cells are thinned; 0: nowhere.
    pub(super) fn thinned_below(&self) -> f32 {
        self.reseeding.map_or(0.0, |limits| limits.thinned_below)
    }

    /// How the surface is made of particles on voxels of `h` metres.
    pub(super) fn surface(&self, h: f32) -> SurfaceParams {
        let narrow = SurfaceParams::default().into_solids;
        let for_tension = if self.tension > 0.0 { tension::LEAST_INTO_SOLIDS } else { narrow };
        // Where the level set ends in solids, cells beside them are no deeper than that is away.
        let into_solids = for_tension.max(self.thinned_below().ceil() as usize);
        SurfaceParams { per_voxel: self.per_voxel(h), band: self.surface_band(), into_solids }
    }

    /// Layers of faces by which velocity is extended around the liquid.
    pub fn layers(&self) -> usize {
        self.cfl.ceil().clamp(1.0, MOST_CFL as f32) as usize + 2
    }

    /// Particles per voxel of a filled region.
    pub fn per_voxel(&self, h: f32) -> f32 {
        (h / self.particle_separation).powi(3)
    }

    /// Distance, voxels, from the particles to the end of the leaves.
    pub(super) fn reach(&self) -> i32 {
        (self.layers() as i32 + 1).max(self.surface_band().ceil() as i32 + 1).min(8)
    }
}

/// A liquid and the fields of its substep.
#[derive(Clone, Debug)]
pub struct Liquid {
    /// Index space → world of all grids; uniform, axis-aligned.
    pub transform: Transform,
    /// The particles. State.
    pub particles: Particles,
    /// Passive particles of the air, where it is sampled. State.
    pub air: Particles,
    /// Level set, m, negative inside. State.
    pub surface: Grid<f32>,
    /// Face velocity, m/s. State.
    pub velocity: FaceGrid<f32>,
    /// The id the next particle gets. State.
    pub next_id: i64,
    /// Depth below the surface, m, from which cells were thinned in the last substep; 0: nowhere. State.
    pub thinned_below: f32,
    /// Particles with ids from here on are newer than [`Self::velocity`]: they move with their own. State.
    pub born_from: i64,
    /// Newer ones with ids from here on came through the backs of nozzles; others fill the regions of sources.
    pub entered_from: i64,
    /// What the volume should be. State.
    pub volume: VolumeBook,
    /// Speed, m/s, at which it leaves the walls of its cells, where it has parted from them. State.
    pub parted: Option<Grid<f32>>,
    /// Face velocity as the particles carried it to the faces, m/s. Of this substep.
    pub transferred: FaceGrid<f32>,
    /// The solids on the liquid's lattice. Of this substep.
    pub solid: SolidFields,
    /// What deforming solids swell by inside the cells they cut, 1/s. Of this substep.
    pub swelling: Option<Grid<f32>>,
    /// Density per cell, kg/m³, where liquids of several densities meet. Of this substep.
    pub density: Option<Grid<f32>>,
    /// Dynamic viscosity per cell, Pa·s, where there is any and it counts. Of this substep.
    pub viscosity: Option<Grid<f32>>,
    /// Jump of pressure at the surface, Pa, where there is surface tension. Of this substep.
    pub tension: Option<Grid<f32>>,
    /// Fraction of each cell that particles outside the surface fill. Of this substep.
    pub spray: Grid<f32>,
    /// Where sources drive it. Of this substep.
    pub inlet: Option<Inlet>,
    /// The volume it was found to have. Of this substep.
    pub measured: LiquidVolume,
    /// Divergence that the solve should give the liquid, 1/s, on the leaves of the surface. Of this substep.
    pub divergence: Grid<f32>,
}

impl Liquid {
    /// A liquid without particles.
    pub fn new(transform: Transform, origin: DVec3) -> Self {
        let nowhere = Arc::new(Topology::default());
        Self {
            transform,
            particles: Particles::new(origin),
            air: Particles::new(origin),
            surface: Grid::new(nowhere.clone(), (3.0 * transform.voxel_size()) as f32),
            velocity: FaceGrid::new(nowhere.clone(), 0.0),
            next_id: 0,
            born_from: 0,
            entered_from: 0,
            thinned_below: 0.0,
            volume: VolumeBook::default(),
            parted: None,
            transferred: FaceGrid::new(nowhere.clone(), 0.0),
            solid: SolidFields::open(&nowhere, &transform),
            swelling: None,
            density: None,
            viscosity: None,
            tension: None,
            spray: Grid::new(nowhere.clone(), 0.0),
            inlet: None,
            measured: LiquidVolume::default(),
            divergence: Grid::new(nowhere.clone(), 0.0),
        }
    }

    pub(super) fn h(&self) -> f32 {
        self.transform.voxel_size() as f32
    }
}
