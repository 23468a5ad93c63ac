//! The fields that a pressure projection reads.

use super::bodies::Bodies;
use super::memory::BubbleMemory;
use super::optional::{CellGrids, FaceGrids};
use crate::grid::{Coord, FaceGrid, Grid, Transform, leaf};
use crate::pressure::Density;
use crate::solid::{DomainLimits, Side};
use glam::{DVec3, IVec3};
use std::borrow::Cow;

/// The limits of the air: the sides of the domain in index space (x low, x high, y low, … for `walled`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AirLimits {
    /// Lowest index position inside, per axis.
    pub(super) low: [f64; 3],
    /// Highest index position inside, per axis.
    pub(super) high: [f64; 3],
    /// A closed side is a wall; beyond one that is not (open, kill) air is unbounded.
    pub(super) walled: [bool; 6],
}

impl AirLimits {
    /// The limits of a domain on an axis-aligned lattice.
    pub(super) fn new(domain: &DomainLimits, transform: &Transform) -> Self {
        // Infinite limits stay infinite: each axis is transformed by itself, so that 0 · ∞ does not occur.
        let index = |p: DVec3| -> [f64; 3] {
            let step = transform.linear.to_cols_array_2d();
            std::array::from_fn(|a| (p[a] - transform.translation[a]) / step[a][a])
        };
        let walled = domain.sides.map(|side| side == Side::Closed);
        Self { low: index(domain.min), high: index(domain.max), walled }
    }
}

/// How air yields to pressure. Without it, air keeps its volume whatever presses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gas {
    /// Pressure of open air, Pa: pressures count from it.
    pub pressure: f64,
    /// Ratio of specific heats γ: 1.4 for air that has no time to lose heat, 1 for air that keeps its temperature.
    pub heat_ratio: f64,
}

/// How liquid parts from solids.
#[derive(Clone, Copy, Debug)]
pub struct Parting<'a> {
    /// Pressure, Pa, below which liquid parts where no air reaches.
    pub cavitation: f64,
    /// Speed, m/s, at which liquid left the walls of its cells in the substep before; above 0 where it had parted.
    pub previous: Option<&'a Grid<f32>>,
}

/// Enclosed air that is kept, whatever a coupling does with other air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chamber {
    /// A point in it, world space, m.
    pub place: DVec3,
    /// Air that is blown into it, m³/s at the pressure of open air.
    pub inflow: f64,
}

/// The fields of a liquid at the time of its pressure solve. Grids need not share a topology.
#[derive(Clone, Copy, Debug)]
pub struct LiquidFields<'a> {
    /// Index space to world space; uniform, axis-aligned voxels.
    pub transform: Transform,
    /// Sides of the domain.
    pub domain: DomainLimits,
    /// φ of the liquid at cell centres, m; negative inside, carried on into solids.
    pub surface: &'a Grid<f32>,
    /// Fraction α of each face that is not solid, on leaves that include every leaf a solid's surface
    /// passes through, liquid or not ([`cut_leaves`](crate::solid::cut_leaves)): air in the tiles
    /// elsewhere is unobstructed.
    pub open: &'a FaceGrid<f32>,
    /// The same as solids alone leave it, where `open` is less because somebody else [shuts](super::shut) faces; `None`: nobody does.
    pub without_lids: Option<&'a FaceGrid<f32>>,
    /// Velocity of the solids on faces, m/s; read where they close some of a face.
    pub vel_solid: &'a FaceGrid<f32>,
    /// What it may have per cell.
    pub cells: CellGrids<&'a Grid<f32>>,
    /// What it may have on faces.
    pub faces: FaceGrids<&'a FaceGrid<f32>>,
    /// Density of the liquid.
    pub density: Density<'a>,
    /// Density on the faces between liquid cells, kg/m³; `None`: the mean of both cells.
    pub face_density: Option<&'a FaceGrid<f32>>,
    /// By how much the pressure is higher above each face than below it, Pa, beside surface tension: what something thinner than a
    /// voxel carries there, such as a membrane or a fan.
    pub jump: Option<&'a FaceGrid<f32>>,
    /// Volume of liquid, spray included, beyond what there should be, m³.
    pub liquid_excess: f64,
    /// Volume that the liquid should have, m³; read where there are several.
    pub rest_volume: f64,
    /// What forces added to the liquid's velocity in this kick, m/s: its mean.
    pub kick: DVec3,
    /// The same of each of several liquids, and the liquid that each cell belongs to; `None`: there is one.
    pub kicks: Option<(&'a [DVec3], &'a Grid<u8>)>,
    /// The bubbles of the previous substep.
    pub previous_bubbles: Option<&'a BubbleMemory>,
    /// Length of the drift that follows the solve, s: a volume error is corrected over this time.
    pub drift: f64,
    /// Rate at which a constrained bubble returns to its rest volume, 1/s; 0 lets it drift.
    pub volume_gain: f64,
    /// How air yields to pressure; `None`: it keeps its volume.
    pub gas: Option<Gas>,
    /// Pressure of the air regions from an earlier projection of the same kick, Pa; empty: there was none.
    pub pressed: &'a [f64],
    /// Air that is kept.
    pub chambers: &'a [Chamber],
    /// How liquid parts from solids; `None`: it never does.
    pub parting: Option<Parting<'a>>,
    /// The bodies that the pressure moves; `vel_solid` holds their velocities without the solve.
    pub bodies: Option<Bodies<'a>>,
}

impl<'a> LiquidFields<'a> {
    /// A liquid that nothing drives, whose walls hold it and whose surface does not pull: the other fields are absent. `open`
    /// and `vel_solid` describe its solids.
    pub fn new(
        transform: Transform,
        domain: DomainLimits,
        surface: &'a Grid<f32>,
        open: &'a FaceGrid<f32>,
        vel_solid: &'a FaceGrid<f32>,
        density: Density<'a>,
    ) -> Self {
        Self {
            transform,
            domain,
            surface,
            open,
            without_lids: None,
            vel_solid,
            cells: CellGrids::default(),
            faces: FaceGrids::default(),
            density,
            face_density: None,
            jump: None,
            liquid_excess: 0.0,
            rest_volume: 0.0,
            kick: DVec3::ZERO,
            kicks: None,
            previous_bubbles: None,
            drift: 1.0,
            volume_gain: 0.0,
            gas: None,
            pressed: &[],
            chambers: &[],
            parting: None,
            bodies: None,
        }
    }

    /// Fraction of each face that no solid closes, whatever else shuts it.
    pub(crate) fn left_by_solids(&self) -> &'a FaceGrid<f32> {
        self.without_lids.unwrap_or(self.open)
    }

    /// Velocity of what closes each face, m/s: the mean of solids, w, and of what shuts it besides, which stands still:
    /// w (1 − α) / (1 − α'), α what solids leave open.
    pub(crate) fn closed_velocity(&self) -> Cow<'a, FaceGrid<f32>> {
        let Some(left) = self.without_lids else { return Cow::Borrowed(self.vel_solid) };
        let mut mean = self.vel_solid.clone();
        for (axis, l) in (0..3).flat_map(|axis| (0..mean.topology.len()).map(move |l| (axis, l))) {
            let origin = mean.topology.origins()[l];
            for n in 0..leaf::SIZE {
                let cell = origin + IVec3::from_array(leaf::local(n));
                let closed = 1.0 - self.open.get(axis, cell);
                if closed > 0.0 {
                    mean.values[axis][l * leaf::SIZE + n] *= (1.0 - left.get(axis, cell)) / closed;
                }
            }
        }
        Cow::Owned(mean)
    }

    /// What forces added to the velocity of the liquid at a cell in this kick, m/s.
    pub(crate) fn kick_at(&self, cell: Coord) -> DVec3 {
        let own = self.kicks.and_then(|(each, owner)| each.get(usize::from(owner.get(cell))).copied());
        own.unwrap_or(self.kick)
    }

    /// Edge length of a voxel, m.
    pub fn voxel_size(&self) -> f64 {
        self.transform.voxel_size()
    }
}
