//! Several liquids in one projection.
//!
//! [`Joined`] makes one liquid's fields of them, which any coupling projects; [`Joined::handed_to`] gives each liquid its
//! part of what came out. A cell belongs to the liquid that is deepest there, and a face has the velocity of the mass
//! that the liquids have around it. All liquids lie on one lattice, in one box.

mod handed;
mod join;
mod overlap;

use super::bodies::Bodies;
use super::fields::{LiquidFields, Parting};
use super::optional::{CellGrids, FaceGrids};
use crate::grid::{FaceGrid, Grid};
use crate::pressure::Density;
use glam::DVec3;
pub use handed::Handed;
use join::{Faces, Lattice};
use overlap::Overlap;

/// The fields of several liquids, joined.
#[derive(Debug)]
pub struct Joined {
    /// The liquid that each cell belongs to.
    owner: Grid<u8>,
    /// Velocity on faces, m/s, before the projection.
    vel: FaceGrid<f32>,
    surface: Grid<f32>,
    /// What forces added to the velocity of each, m/s.
    kicks: Vec<DVec3>,
    /// Volume, m³, that each claims of what others fill.
    overlaps: Vec<f64>,
    /// Share of each face that solids leave open.
    left: FaceGrid<f32>,
    /// Less than that where others shut faces.
    open: Option<FaceGrid<f32>>,
    vel_solid: FaceGrid<f32>,
    /// Solid that a cut face belongs to; those of the second liquid are counted on from those of the first.
    solids: Option<FaceGrid<u32>>,
    pieces: Vec<Option<(usize, usize)>>,
    /// See [`Bodies::left_by_first`]; `None` without bodies.
    left_by_first: Option<Grid<f32>>,
    /// See [`Bodies::room`].
    room: Option<Grid<f32>>,
    density: Result<f64, Grid<f32>>,
    /// kg/m³. It changes as a surface between two liquids moves past a face, so that waves lower than a voxel are felt;
    /// momentum is joined with the same masses.
    face_density: Option<FaceGrid<f32>>,
    cells: CellGrids<Grid<f32>>,
    faces: FaceGrids<FaceGrid<f32>>,
    parted: Option<Grid<f32>>,
}

impl Joined {
    /// Joins the fields of some liquids, at least one, and their velocities on faces, m/s.
    pub fn of(liquids: &[LiquidFields], vel: &[&FaceGrid<f32>]) -> Self {
        let h = liquids.first().map_or(1.0, |liquid| liquid.voxel_size()) as f32;
        let surfaces: Vec<_> = liquids.iter().map(|liquid| liquid.surface).collect();
        let lattice = Lattice::of(&surfaces, h);
        let faces = Faces::of(liquids);
        let rho: Vec<_> = liquids.iter().map(|liquid| liquid.density).collect();
        let every = |of: fn(&LiquidFields<'_>) -> bool| liquids.iter().any(of);
        let parted: Vec<_> = liquids.iter().map(|liquid| liquid.parting?.previous).collect();
        let drift = liquids.first().map_or(1.0, |liquid| liquid.drift);
        let cells: Vec<_> = liquids.iter().map(|liquid| liquid.cells).collect();
        let cells = CellGrids::joined(&cells, |by, parts| lattice.joined(by, parts));
        let on_faces: Vec<_> = liquids.iter().map(|liquid| liquid.faces).collect();
        let overlap = Overlap::find(liquids, &lattice, &faces.left);
        let density = lattice.density(&rho);
        let joined = lattice.on_faces(vel, &rho);
        Self {
            vel: joined.vel,
            face_density: density.is_err().then_some(joined.density),
            density,
            cells: CellGrids {
                divergence: Some(lattice.divergence(cells.divergence, overlap.real, drift)),
                ..cells
            },
            parted: if every(|liquid| liquid.parting.is_some()) { lattice.of_owner(&parted) } else { None },
            faces: FaceGrids::joined(&on_faces, join::faces),
            left: faces.left,
            open: faces.open,
            vel_solid: faces.vel_solid,
            solids: faces.solids,
            pieces: liquids.iter().flat_map(|l| l.bodies.map_or(&[][..], |b| b.pieces)).copied().collect(),
            left_by_first: join::least(
                &liquids.iter().map(|l| l.bodies.map(|b| b.left_by_first)).collect::<Vec<_>>(),
            ),
            room: join::least(&liquids.iter().map(|l| l.bodies?.room).collect::<Vec<_>>()),
            kicks: liquids.iter().map(|liquid| liquid.kick).collect(),
            overlaps: overlap.of_each,
            owner: lattice.owner,
            surface: lattice.surface,
        }
    }

    /// The velocity on faces, m/s, from which the projection starts.
    pub fn velocity(&self) -> &FaceGrid<f32> {
        &self.vel
    }

    /// The fields for a projection; what is the coupling's, not a liquid's, stands with each of the `liquids` alike.
    pub fn fields<'a>(&'a self, liquids: &[LiquidFields<'a>]) -> Option<LiquidFields<'a>> {
        let first = liquids.first()?;
        let bodies = liquids.iter().find_map(|liquid| liquid.bodies);
        // Without `..`: who adds a field decides here what it is for all liquids.
        Some(LiquidFields {
            surface: &self.surface,
            kicks: Some((&self.kicks, &self.owner)),
            open: self.open.as_ref().unwrap_or(&self.left),
            without_lids: self.open.is_some().then_some(&self.left),
            vel_solid: &self.vel_solid,
            cells: self.cells.as_ref(),
            faces: self.faces.as_ref(),
            density: match &self.density {
                Ok(rho) => Density::Uniform(*rho),
                Err(rho) => Density::PerCell(rho),
            },
            face_density: self.face_density.as_ref(),
            liquid_excess: liquids.iter().map(|liquid| liquid.liquid_excess).sum(),
            previous_bubbles: liquids.iter().find_map(|liquid| liquid.previous_bubbles),
            parting: first.parting.map(|parting| Parting { previous: self.parted.as_ref(), ..parting }),
            bodies: match (bodies, &self.solids, &self.left_by_first) {
                (Some(bodies), Some(owner), Some(left_by_first)) => Some(Bodies {
                    owner,
                    left_by_first,
                    room: self.room.as_ref(),
                    pieces: &self.pieces,
                    ..bodies
                }),
                _ => None,
            },
            transform: first.transform,
            domain: first.domain,
            jump: first.jump,
            rest_volume: liquids.iter().map(|liquid| liquid.rest_volume).sum(),
            kick: first.kick,
            drift: first.drift,
            volume_gain: first.volume_gain,
            gas: first.gas,
            pressed: first.pressed,
            chambers: first.chambers,
        })
    }

    /// φ of all solids at the cells' lower nodes, m: the least of what the liquids meet.
    pub fn solid(parts: &[Option<&Grid<f32>>]) -> Option<Grid<f32>> {
        join::least(parts)
    }

    /// Viscosity of the liquid that each cell belongs to, Pa s; 0 where that has none.
    pub fn viscosity(&self, parts: &[Option<&Grid<f32>>]) -> Option<Grid<f32>> {
        join::of_owner(&self.owner, parts)
    }
}
