//! A FLIP liquid: its state, and the fields of its substep.

use super::faces::inlet::Inlet;
use super::particles::Particles;
use super::surface::volume::{LiquidVolume, VolumeBook};
use crate::grid::{FaceGrid, Grid, Topology, Transform};
use crate::solid::SolidFields;
use glam::{DVec3, Vec3};
use std::sync::Arc;

/// A liquid: its state, and the fields of one substep.
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
    /// Particles with ids from here on are newer than [`Self::velocity`]: they move with their own velocity. State.
    pub born_from: i64,
    /// Newer particles with ids from here on entered through the backs of nozzles; others fill the regions of sources.
    pub entered_from: i64,
    /// The volume that it should have, and the error so far. State.
    pub volume: VolumeBook,
    /// Speed, m/s, at which it leaves the walls of its cells, where it has parted from them. State.
    pub parted: Option<Grid<f32>>,
    /// What forces have added to the velocity of all its particles since that of the drift, m/s; zero where they did not
    /// give all the same. Of this substep.
    pub kick: Vec3,
    /// Above 0 in cells that other liquids of the same solve fill. Of this substep.
    pub others: Option<Grid<f32>>,
    /// Face velocity as transferred from the particles, m/s. Of this substep.
    pub transferred: FaceGrid<f32>,
    /// The solids on the liquid's lattice. Of this substep.
    pub solid: Arc<SolidFields>,
    /// Volume rate at which deforming solids swell inside the cells that they cut, 1/s. Of this substep.
    pub swelling: Option<Grid<f32>>,
    /// Density per cell, kg/m³, where liquids of several densities meet. Of this substep.
    pub density: Option<Grid<f32>>,
    /// Dynamic viscosity per cell, Pa·s, where it is simulated and not zero. Of this substep.
    pub viscosity: Option<Grid<f32>>,
    /// Jump of pressure at the surface, Pa, where there is surface tension. Of this substep.
    pub tension: Option<Grid<f32>>,
    /// Fraction of each cell that particles outside the surface fill. Of this substep.
    pub spray: Grid<f32>,
    /// The faces where sources drive it. Of this substep.
    pub inlet: Option<Inlet>,
    /// Its volume as measured. Of this substep.
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
            kick: Vec3::ZERO,
            others: None,
            transferred: FaceGrid::new(nowhere.clone(), 0.0),
            solid: Arc::new(SolidFields::open(&nowhere, &transform)),
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
