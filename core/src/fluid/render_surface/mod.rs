//! The surface of a liquid for renderers: triangles made of its particles, finer or coarser than its voxels.
//!
//! Every particle spreads its volume over an ellipsoid that has the shape of the liquid around it
//! [Yu and Turk 2013]: flat along a surface and in a sheet, long in a thread, a small ball where the particle is alone
//! (`grains`). The sum is the share of space that is liquid, on a lattice around the surface (`lattice`). Where it is a
//! half, there the surface is (`contour`). Sheets and threads that would slip through the lattice are fattened for it, and
//! their points brought back (`points`). Bumps of the size of a voxel are faired away and the volume is made the liquid's
//! (`fairing`, `balance`). Drops of a few particles are finer than the lattice and become ellipsoids of their own (`drops`).

mod balance;
mod contour;
mod corners;
mod depths;
mod drops;
mod fairing;
mod grains;
mod lattice;
mod neighbours;
mod points;

use crate::grid::{FaceGrid, Grid, Transform};
use crate::interrupt::{Interrupt, Interrupted};
use crate::solid::Solids;
use glam::{DVec3, IVec3, Vec3};
use rayon::prelude::*;

/// A liquid at the end of a frame.
#[derive(Clone, Debug)]
pub struct Liquid<'a> {
    /// Where its cells are.
    pub transform: Transform,
    /// Signed distance to its surface, m.
    pub surface: Grid<f32>,
    /// Velocity on faces, m/s.
    pub velocity: Option<FaceGrid<f32>>,
    /// Distance between its particles as they are seeded, m.
    pub separation: f64,
    /// World position of the particles' origin, metres.
    pub origin: DVec3,
    /// Positions relative to it, metres.
    pub position: &'a [[f32; 3]],
    /// Velocities, m/s.
    pub particle_velocity: &'a [[f32; 3]],
    /// Masses, by that of a seeded particle; empty: all are 1.
    pub mass_share: &'a [[f32; 1]],
}

/// How the surface is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Edge of the lattice's voxels, in voxels of the liquid.
    pub voxel_scale: f64,
    /// How much is faired: 0 nothing, 1 waves up to about two voxels of the liquid.
    pub smoothing: f64,
    /// Whether the surface is moved to where it encloses the liquid's volume.
    pub keep_volume: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { voxel_scale: 0.5, smoothing: 1.0, keep_volume: true }
    }
}

/// A surface: every edge belongs to two triangles, which run counter-clockwise seen from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RenderSurface {
    /// Positions relative to the origin of the particles, metres.
    pub points: Vec<Vec3>,
    /// Velocities of the points, m/s.
    pub velocities: Vec<Vec3>,
    /// Numbers of three points each.
    pub triangles: Vec<[u32; 3]>,
    /// Its volume.
    pub account: Account,
}

/// What the volume of a surface is compared with; m³ and m.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Account {
    /// Volume that the surface lacked in open space before it was moved.
    pub lacked: f64,
    /// How far it was moved outwards.
    pub moved: f64,
    /// What it lacked afterwards.
    pub lacks: f64,
    /// Volume of the drops among it.
    pub drops: f64,
}

/// Why there is no surface.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SurfaceError {
    /// The user cancelled.
    #[error("it was asked to stop")]
    Interrupted,
    /// The lattice would be too large.
    #[error(
        "voxels of {voxel:.3} m make at least {} million of them around the surface, and {} million are the most",
        voxels.div_ceil(1_000_000), MOST_VOXELS / 1_000_000
    )]
    TooFine {
        /// Edge of the lattice's voxels, m.
        voxel: f64,
        /// How many there would be at least.
        voxels: u64,
    },
}

impl From<Interrupted> for SurfaceError {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

/// Most voxels around a surface: they take 8 bytes each, their leaves three times as many.
pub const MOST_VOXELS: u64 = 300_000_000;

/// The lattice, and what it lies in. Places are in its index space: voxel centres at integers.
struct Frame {
    /// Edge of a voxel in the liquid's.
    scale: f64,
    /// Edge of a voxel, m.
    voxel: f64,
    /// The liquid's voxel, in voxels of the lattice.
    cell: f32,
    /// Distance between seeded particles, in voxels of the lattice.
    spacing: f32,
    /// The liquid's own lattice.
    transform: Transform,
    /// World position that places of the result are relative to, m.
    origin: DVec3,
}

impl Frame {
    fn of(liquid: &Liquid, scale: f64) -> Self {
        let h = liquid.transform.voxel_size();
        let voxel = h * scale;
        Self {
            scale,
            voxel,
            cell: (1.0 / scale) as f32,
            spacing: (liquid.separation / voxel) as f32,
            transform: liquid.transform,
            origin: liquid.origin,
        }
    }

    /// The place of a particle.
    fn place(&self, position: [f32; 3]) -> DVec3 {
        self.transform.to_index(self.origin + Vec3::from(position).as_dvec3()) / self.scale
    }

    /// World position of a place, m.
    fn world(&self, place: DVec3) -> DVec3 {
        self.transform.to_world(place * self.scale)
    }

    /// Position of a place `offset` from a voxel, relative to the origin, m.
    fn position(&self, voxel: IVec3, offset: Vec3) -> Vec3 {
        (self.world(voxel.as_dvec3() + offset.as_dvec3()) - self.origin).as_vec3()
    }

    /// The index position, in the liquid's own lattice, of a place `offset` from a voxel.
    fn in_liquid(&self, voxel: IVec3, offset: Vec3) -> DVec3 {
        (voxel.as_dvec3() + offset.as_dvec3()) * self.scale
    }
}

/// The surface of a liquid among solids.
pub fn reconstruct(
    liquid: &Liquid,
    solids: &Solids,
    settings: &Settings,
    interrupt: Interrupt,
) -> Result<RenderSurface, SurfaceError> {
    let frame = Frame::of(liquid, settings.voxel_scale);
    lattice::check_size(liquid, solids, &frame)?;
    let places: Vec<DVec3> = liquid.position.par_iter().map(|&p| frame.place(p)).collect();
    let depths = depths::sample(liquid, &frame, &places);
    let drops = drops::find(liquid, &frame, &places, &depths);
    interrupt.check()?;
    let grains = grains::of(liquid, solids, &frame, &places, &depths, &drops);
    interrupt.check()?;
    let lattice = lattice::Lattice::around(liquid, solids, &frame, grains);
    let share = lattice.share(liquid, solids, &frame);
    interrupt.check()?;
    let mut mesh = contour::contour(&lattice, &share, liquid, &frame);
    interrupt.check()?;
    let weights = mesh.settle(&lattice, solids, &frame);
    fairing::fair(&mut mesh, &weights, fairing::rounds(settings.smoothing, frame.cell), interrupt)?;
    fairing::slim(&mut mesh, &weights);
    let drop_volume = drops.volume();
    let enclosed = fairing::volume(&mesh) + drop_volume;
    let lacked = balance::lacking(enclosed, liquid, &share, solids, &frame);
    let (mut moved, mut lacks) = (0.0, lacked);
    if settings.keep_volume {
        (moved, lacks) = fairing::grow(&mut mesh, &weights, lacked, balance::FARTHEST * frame.cell);
    }
    let cube = frame.voxel.powi(3);
    let mut surface = mesh.into_surface(&lattice, liquid, &frame);
    drops.add_to(&mut surface, &frame);
    surface.account = Account {
        lacked: lacked * cube,
        moved: f64::from(moved) * frame.voxel,
        lacks: lacks * cube,
        drops: drop_volume * cube,
    };
    Ok(surface)
}
