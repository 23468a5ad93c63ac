//! Finds where liquid parts from solids: 0 ≤ p − λ ⊥ (u − w)·n ≥ 0 [Batty et al. 2007], with one wall patch per cell.
//!
//! The wall of a cell is the solid part of its faces, a = −Σ_f ±(1 − α_f) h² e_f, which points into the liquid. While
//! the liquid touches the wall, it flows along it. Where it has parted, a link joins the cell to the air behind. The
//! flow through the link, G = a·(u* − w) + c (λ − p) with c = dt |a| / (ρ θ h), opens a void that belongs to that air.
//! The same formula holds in both states, so the pressure of the last substep tells which walls part in this one, and
//! the solve tells which close again.

use super::assemble::AirUnknowns;
use crate::coupling::air::regions::{Regions, component_of, links};
use crate::coupling::air::volumes::ClosedVolume;
use crate::coupling::fields::{LiquidFields, Parting};
use crate::grid::rows::Rows;
use crate::grid::{Coord, FaceGrid, Grid, Topology, leaf};
use crate::pressure::{CELL, Link, PressureSystem, Unknowns};
use crate::tuned::Tuned;
use glam::{DVec3, IVec3};
use rayon::prelude::*;
use std::sync::Arc;

/// Smallest area of a wall, of a face's, that liquid parts from.
const LEAST_AREA: Tuned<f64> = Tuned::new("parting::LEAST_AREA", 0.05);
/// Smallest distance, voxels a substep, by which liquid must move away from a wall to part from it.
const LEAST_WAY: Tuned<f64> = Tuned::new("parting::LEAST_WAY", 1e-3);
/// Distance from the middle of a cell to its wall, voxels, which is half of one where the wall lies in a face, and the
/// smallest that is left of it where a gap has opened.
const TO_WALL: Tuned<f64> = Tuned::new("parting::TO_WALL", 0.5);
const LEAST_TO_SURFACE: Tuned<f64> = Tuned::new("parting::LEAST_TO_SURFACE", 0.1);

/// What fills the gap behind a wall that has parted.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Into {
    /// An air region.
    Air(usize),
    /// A void at the cavitation pressure.
    Void,
}

/// A wall that has parted.
#[derive(Clone, Copy, Debug)]
struct Gap {
    /// The cell's slot in the system.
    slot: usize,
    /// Number of its liquid.
    liquid: usize,
    into: Into,
    /// |a|, m².
    area: f64,
    /// a·(u* − w), m³/s.
    free: f64,
    /// c, m³/(s·Pa).
    weight: f64,
}

/// The walls that have parted in a substep, by slot.
#[derive(Debug, Default)]
pub(crate) struct Parted {
    gaps: Vec<Gap>,
    cavitation: f64,
}

/// The conditions that decide whether a wall parts.
pub(crate) struct Walls<'a> {
    pub(crate) fields: &'a LiquidFields<'a>,
    pub(crate) regions: &'a Regions,
    pub(crate) topology: &'a Arc<Topology>,
    pub(crate) air: &'a AirUnknowns,
    pub(crate) closed: &'a [ClosedVolume],
    pub(crate) vel: &'a FaceGrid<f32>,
    pub(crate) dt: f64,
}

impl Parted {
    /// The walls that part: those that had parted before and those that air reaches, where the pressure (in the guess
    /// `x`) would make the liquid leave.
    pub(crate) fn find(walls: &Walls, system: &PressureSystem, x: &Unknowns) -> Self {
        let Some(parting) = &walls.fields.parting else { return Self::default() };
        let pressure = |r: usize| walls.air[r].map_or(0.0, |b| x.supers[b as usize]);
        let in_leaves = walls.regions.highest_in_leaves(pressure);
        let mut in_closed = vec![false; walls.regions.liquid_cells.len()];
        walls.closed.iter().flat_map(|volume| &volume.liquids).for_each(|&k| in_closed[k] = true);
        let of_leaf = |(l, &origin): (usize, &Coord)| {
            let mut gaps = Vec::new();
            let mut at: Option<Leaf> = None;
            let around = walls.regions.around(origin);
            let (wet, whole) = (around.liquid(), (0..6).map(|k| around.whole(k)));
            let uncut = whole.fold([u64::MAX; 8], |all, set| std::array::from_fn(|x| all[x] & set[x]));
            let walled: [u64; 8] = std::array::from_fn(|x| wet[x] & !uncut[x]);
            for n in crate::grid::morphology::offsets(&walled) {
                let slot = l * leaf::SIZE + n;
                if system.label[slot] != CELL {
                    continue;
                }
                let at = at.get_or_insert_with(|| {
                    let near = walls.regions.highest_around(origin, &in_leaves, pressure);
                    Leaf::of(walls, parting, origin, near.max(parting.cavitation))
                });
                // Liquid does not part from bodies: their velocity is not known yet.
                let cell = origin + IVec3::from_array(leaf::local(n));
                if walls.fields.bodies.is_some_and(|bodies| bodies.touch(cell)) {
                    continue;
                }
                let Some((area, free, weight)) = at.patch(n) else { continue };
                let leaves = |level: f64| free + weight * (level - x.cells[slot]);
                let least = LEAST_WAY.get() * walls.fields.voxel_size() * area / walls.dt;
                let had_parted = at.previous.as_ref().is_some_and(|speed| speed.at(n) > 0.0);
                if !had_parted && leaves(at.highest) <= least {
                    continue;
                }
                let liquid = component_of(around.label(n));
                let reached = at.reached(cell, had_parted);
                let into = match reached {
                    Some(r) if had_parted || leaves(pressure(r)) > least => Into::Air(r),
                    None if !in_closed[liquid] && leaves(parting.cavitation) > least => Into::Void,
                    _ => continue,
                };
                gaps.push(Gap { slot, liquid, into, area, free, weight });
            }
            gaps
        };
        let origins = walls.topology.origins();
        let leaves: Vec<Vec<Gap>> = origins.par_iter().enumerate().map(of_leaf).collect();
        Self { gaps: leaves.concat(), cavitation: parting.cavitation }
    }

    /// Joins the cells to the air behind their walls.
    pub(crate) fn link(&self, air: &AirUnknowns, system: &mut PressureSystem) {
        let target = |into: Into| match into {
            Into::Air(r) => air[r],
            Into::Void => None,
        };
        let link =
            |gap: &Gap| Link { cell: gap.slot as u32, to: target(gap.into), weight: gap.weight as f32 };
        system.links = self.gaps.iter().map(link).collect();
    }

    /// Flow that opens the gaps at the pressures `x`, m³/s each; without a pressure, the free flow a·(u* − w).
    pub(crate) fn opening(&self, air: &AirUnknowns, x: Option<&Unknowns>) -> Vec<f64> {
        let of_gap = |gap: &Gap| {
            let level = match gap.into {
                Into::Air(r) => x.and_then(|x| Some(x.supers[air[r]? as usize])).unwrap_or(0.0),
                Into::Void => self.cavitation,
            };
            let weight = f64::from(gap.weight as f32);
            gap.free + weight * (level - x.map_or(0.0, |x| x.cells[gap.slot]))
        };
        self.gaps.iter().map(of_gap).collect()
    }

    /// Subtracts the flow into the gaps from the outflow of their cells, and adds it to that of the air.
    pub(crate) fn enter(&self, opening: &[f64], flux: &mut super::flux::Flux) {
        for (gap, opening) in self.gaps.iter().zip(opening) {
            flux.cells[gap.slot] -= opening;
            flux.liquid[gap.liquid] -= opening;
            if let Into::Air(r) = gap.into {
                flux.air[r] += opening;
            }
        }
    }

    /// Speed, m/s, at which liquid leaves the walls of its cells, on the leaves that have any.
    pub(crate) fn speeds(&self, topology: &Topology, opening: &[f64]) -> Grid<f32> {
        let leaves = self.gaps.chunk_by(|a, b| a.slot / leaf::SIZE == b.slot / leaf::SIZE);
        let origins = leaves.map(|gaps| topology.origins()[gaps[0].slot / leaf::SIZE]).collect();
        let mut speeds = Grid::new(Arc::new(Topology::new(origins)), 0.0);
        for (gap, opening) in self.gaps.iter().zip(opening) {
            speeds.set(topology.coord(gap.slot), (opening / gap.area) as f32);
        }
        speeds
    }
}

/// The conditions that decide whether the walls of a leaf's cells part.
struct Leaf<'a> {
    walls: &'a Walls<'a>,
    open: [Rows<'a, f32>; 3],
    vel: [Rows<'a, f32>; 3],
    vel_solid: [Rows<'a, f32>; 3],
    /// What solids leave open.
    left: [Rows<'a, f32>; 3],
    driven: Option<[Rows<'a, f32>; 3]>,
    surface: Rows<'a, f32>,
    previous: Option<Rows<'a, f32>>,
    faces: links::OpenFaces<'a>,
    origin: Coord,
    /// Highest pressure, Pa, of the air near a leaf that could get behind a wall.
    highest: f64,
}

impl<'a> Leaf<'a> {
    fn of(walls: &'a Walls<'a>, parting: &Parting<'a>, origin: Coord, highest: f64) -> Self {
        let fields = walls.fields;
        Self {
            walls,
            open: Rows::faces(fields.open, origin),
            left: Rows::faces(fields.left_by_solids(), origin),
            vel: Rows::faces(walls.vel, origin),
            vel_solid: Rows::faces(fields.vel_solid, origin),
            driven: fields.faces.inlet.map(|driven| Rows::faces(driven, origin)),
            surface: Rows::of(fields.surface, origin),
            previous: parting.previous.map(|speed| Rows::of(speed, origin)),
            faces: links::OpenFaces::around(fields.open, origin),
            origin,
            highest,
        }
    }

    /// |a|, a·(u* − w) and c of the wall of cell `n`, if it has one.
    fn patch(&self, n: usize) -> Option<(f64, f64, f64)> {
        let (fields, h) = (self.walls.fields, self.walls.fields.voxel_size());
        let (mut area, mut slip) = (DVec3::ZERO, DVec3::ZERO);
        for axis in 0..3 {
            let mut solid = 0.0;
            for (upper, sign) in [(false, 1.0), (true, -1.0)] {
                let face = |rows: &[Rows<f32>; 3]| match upper {
                    true => rows[axis].at_behind(n, 2 * axis + 1),
                    false => rows[axis].at(n),
                };
                if self.driven.as_ref().is_some_and(|driven| face(driven) > 0.0) {
                    return None;
                }
                let closed = 1.0 - f64::from(face(&self.open));
                let by_solids = 1.0 - f64::from(face(&self.left));
                area[axis] += sign * closed;
                // What shuts a face besides stands still.
                slip[axis] +=
                    closed * f64::from(face(&self.vel)) - by_solids * f64::from(face(&self.vel_solid));
                solid += closed;
            }
            slip[axis] = if solid > 0.0 { slip[axis] / solid } else { 0.0 };
        }
        let size = area.length();
        if size < LEAST_AREA.get() {
            return None;
        }
        let density = fields.density.at(self.origin + IVec3::from_array(leaf::local(n)));
        let way = (-f64::from(self.surface.at(n)) / h).clamp(LEAST_TO_SURFACE.get(), TO_WALL.get());
        Some((size * h * h, area.dot(slip) * h * h, self.walls.dt * size * h / (density * way)))
    }

    /// The air that reaches the wall of a cell: beside it, or through walls that have parted.
    fn reached(&self, cell: Coord, had_parted: bool) -> Option<usize> {
        let regions = self.walls.regions;
        let of = |cell: Coord| usize::try_from(regions.gap_at(cell)).ok();
        if had_parted && let Some(region) = of(cell) {
            return Some(region);
        }
        let air = |c: &Coord| usize::try_from(regions.label_at(*c)).ok();
        if let Some(region) = self.faces.behind(cell).find_map(|c| air(&c)) {
            return Some(region);
        }
        let beside = self.faces.beside(cell);
        beside.iter().find_map(air).or_else(|| beside.iter().find_map(|&c| of(c)))
    }
}
