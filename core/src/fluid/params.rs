//! The parameters of a FLIP liquid.

use super::population::reseeding::Reseeding;
use super::surface::volume::VolumeControl;
use super::surface::{SurfaceParams, tension};
use super::transport::advection::AdvectionParams;
use super::transport::transfer::VelocityTransfer;

/// Largest number of voxels that a substep may be set to cross. Velocity is extrapolated that far, and stays within a
/// leaf's reach.
pub const MOST_CFL: f64 = 5.0;

/// The settings of a liquid's simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlipParams {
    /// Distance between particles as they are seeded, m; half a voxel for eight particles per voxel.
    pub particle_separation: f32,
    /// How particles and faces exchange velocity.
    pub transfer: VelocityTransfer,
    /// Most voxels a particle travels in a substep. Velocity is extrapolated that far around the liquid, and two voxels
    /// farther.
    pub cfl: f32,
    /// Width of the surface's band of distances, voxels.
    pub band: f32,
    /// How particles meet solids.
    pub advection: AdvectionParams,
    /// Limits on the particles of an interior cell; `None` leaves them alone.
    pub reseeding: Option<Reseeding>,
    /// Correction of the volume's drift.
    pub volume: VolumeControl,
    /// Whether the particles' viscosity is simulated.
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

    /// Width of the surface's band, voxels: deep enough for the cells to be thinned and, with surface tension, at least
    /// what its curvature is computed from.
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
        // Where the level set ends in solids, cells beside them lie at most that far away.
        let into_solids = for_tension.max(self.thinned_below().ceil() as usize);
        SurfaceParams { per_voxel: self.per_voxel(h), band: self.surface_band(), into_solids }
    }

    /// Layers of faces by which velocity is extrapolated around the liquid.
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
