//! Net outflow of every liquid cell and every air region.

use crate::coupling::air::regions::sets::{NONE, Words, has};
use crate::coupling::air::regions::{Regions, component_of};
use crate::coupling::fields::LiquidFields;
use crate::coupling::optional::CellGrids;
use crate::grid::block;
use crate::grid::morphology::offsets;
use crate::grid::rows::{Row, Rows, row_of};
use crate::grid::{Coord, FaceGrid, Topology, leaf};
use crate::levelset::open_volume;
use rayon::prelude::*;
use std::sync::Arc;

/// Outflows of the constraints D u + s = 0 and B u + s_b = 0 [Goldade and Batty 2017, Eq. 5-8], m³/s.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Flux {
    /// (D u + s) of each liquid cell less its source, `[leaf][512]` of the pressure system; 0 elsewhere.
    pub(crate) cells: Vec<f64>,
    /// Sum of `cells` over each connected liquid component.
    pub(crate) liquid: Vec<f64>,
    /// (B u + s_b) of each air region.
    pub(crate) air: Vec<f64>,
}

impl Flux {
    /// The same, minus the outflow that air regions should have.
    pub(crate) fn less(mut self, wanted: &[f64]) -> Self {
        self.air.iter_mut().zip(wanted).for_each(|(air, wanted)| *air -= wanted);
        self
    }
}

/// Sums by number, in the order of first use.
#[derive(Default)]
pub(super) struct Tally(pub(super) Vec<(usize, f64)>);

impl Tally {
    pub(super) fn add(&mut self, number: usize, value: f64) {
        match self.0.iter_mut().rev().find(|(n, _)| *n == number) {
            Some((_, sum)) => *sum += value,
            None => self.0.push((number, value)),
        }
    }

    fn add_to(self, totals: &mut [f64]) {
        for (n, v) in self.0 {
            totals[n] += v;
        }
    }
}

/// The flux of a velocity field, m/s, on the leaves of a pressure system.
pub(crate) fn flux(
    fields: &LiquidFields,
    regions: &Regions,
    walls: &Walls,
    topology: &Topology,
    vel: &FaceGrid<f32>,
) -> Flux {
    let mut out = Flux {
        cells: vec![0.0; topology.len() * leaf::SIZE],
        liquid: vec![0.0; regions.liquid_cells.len()],
        air: walls.outflow.clone(),
    };
    let leaves = out.cells.par_chunks_mut(leaf::SIZE).zip(topology.origins());
    let tallies: Vec<[Tally; 2]> =
        leaves.map(|(cells, &origin)| leaf_flux(fields, regions, walls, vel, origin, cells)).collect();
    for [liquid, air] in tallies {
        liquid.add_to(&mut out.liquid);
        air.add_to(&mut out.air);
    }
    out
}

/// The moving solids in a projection.
pub(crate) struct Walls {
    /// Whether a solid moves in a leaf of its velocity field.
    moving: Vec<bool>,
    /// s_b of each air region, m³/s.
    outflow: Vec<f64>,
}

impl Walls {
    /// Finds which solids move, and the outflow that they prescribe to the air.
    pub(crate) fn new(fields: &LiquidFields, regions: &Regions) -> Self {
        let moves = |l: usize| {
            let own = |v: &Vec<f32>| v[l * leaf::SIZE..][..leaf::SIZE].iter().any(|&v| v != 0.0);
            fields.vel_solid.values.iter().any(own)
        };
        let moving = (0..fields.vel_solid.topology.len()).into_par_iter().map(moves).collect();
        let mut walls = Self { moving, outflow: vec![0.0; regions.air.len()] };
        let origins = regions.cells.topology.origins().par_iter();
        let tallies: Vec<Tally> = origins.map(|&origin| wall_flux(fields, regions, &walls, origin)).collect();
        for air in tallies {
            air.add_to(&mut walls.outflow);
        }
        walls
    }

    /// The leaves of the solids' velocities around a leaf, unless none of them moves at the faces of its cells.
    fn around(&self, fields: &LiquidFields, origin: Coord) -> Option<[u32; leaf::NEIGHBOURS]> {
        let solids = fields.vel_solid;
        let around = solids.topology.surroundings(origin);
        let moves = |&slot: &usize| match around[slot] {
            leaf::ABSENT => solids.background != 0.0,
            l => self.moving[l as usize],
        };
        let reached = [leaf::SELF_SLOT, leaf::FACE_SLOTS[1], leaf::FACE_SLOTS[3], leaf::FACE_SLOTS[5]];
        reached.iter().any(moves).then_some(around)
    }
}

/// The outflow that `vel_solid` alone prescribes to each cell of liquid and of air, leaf by leaf.
pub(crate) fn wall_flux_by_cell(
    fields: &LiquidFields,
    regions: &Regions,
    origins: &[Coord],
) -> Vec<Box<[f64; leaf::SIZE]>> {
    let fields = &LiquidFields { cells: CellGrids::default(), ..*fields };
    let still = FaceGrid::new(Arc::default(), 0.0);
    let walls = Walls { moving: vec![true; fields.vel_solid.topology.len()], outflow: Vec::new() };
    let of_leaf = |&origin: &Coord| {
        let mut cells = Box::new([0.0; leaf::SIZE]);
        leaf_flux(fields, regions, &walls, &still, origin, &mut cells[..]);
        air_wall_flux(fields, regions, &walls, origin, |n, _, outflow| cells[n] = outflow);
        cells
    };
    origins.par_iter().map(of_leaf).collect()
}

/// The fields around one leaf that its flux is made of.
struct LeafFields<'a> {
    open: [Rows<'a, f32>; 3],
    /// What solids leave open.
    left: [Rows<'a, f32>; 3],
    velocity: [Rows<'a, f32>; 3],
    /// Velocity of the solids, where any moves.
    solid: Option<[Rows<'a, f32>; 3]>,
    source: Option<Rows<'a, f32>>,
    swelling: Option<Rows<'a, f32>>,
    h: f64,
}

impl<'a> LeafFields<'a> {
    fn of(fields: &LiquidFields<'a>, walls: &Walls, vel: &'a FaceGrid<f32>, origin: Coord) -> Self {
        let solid = walls.around(fields, origin).map(|around| {
            let solid = fields.vel_solid;
            solid.values.each_ref().map(|values| Rows::around(values, solid.background, &around))
        });
        Self {
            open: Rows::faces(fields.open, origin),
            left: Rows::faces(fields.left_by_solids(), origin),
            velocity: Rows::faces(vel, origin),
            solid,
            source: fields.cells.divergence.map(|s| Rows::of(s, origin)),
            swelling: fields.cells.swelling.map(|s| Rows::of(s, origin)),
            h: fields.voxel_size(),
        }
    }

    /// Outflow through the faces of the cells of the z-row n. Faces `k` in `shut[k]` are closed.
    fn through_faces(&self, n: usize, shut: &[Words; 6]) -> Row<f64> {
        let (h, mut outflow) = (self.h, [0.0; leaf::DIM]);
        for (k, shut) in shut.iter().enumerate() {
            let (upper, shut) = (k % 2 == 1, row_of(shut, n));
            let sign = if upper { 1.0 } else { -1.0 };
            let row = |rows: &[Rows<f32>; 3]| match upper {
                true => rows[k / 2].row_behind(n, k),
                false => rows[k / 2].row(n),
            };
            let (alpha, velocity) = (row(&self.open), row(&self.velocity));
            let unless_shut = |open: Row<f32>| -> Row<f32> {
                std::array::from_fn(|z| if shut & 1 << z != 0 { 0.0 } else { open[z] })
            };
            let alpha = unless_shut(alpha);
            for z in 0..leaf::DIM {
                outflow[z] += sign * f64::from(alpha[z]) * h * h * f64::from(velocity[z]);
            }
            if let Some(solid) = &self.solid {
                let (left, solid) = (unless_shut(row(&self.left)), row(solid));
                for z in 0..leaf::DIM {
                    outflow[z] += sign * (1.0 - f64::from(left[z])) * h * h * f64::from(solid[z]);
                }
            }
        }
        outflow
    }

    /// The open volume of a cell.
    fn open_volume(&self, n: usize) -> f32 {
        open_volume(std::array::from_fn(|a| [self.left[a].at(n), self.left[a].at_behind(n, 2 * a + 1)]))
    }
}

/// (D u + s) − source of a leaf's liquid cells, and the flux through their faces to liquids and air regions: (D u)_i =
/// Σ_f ± α h² u_f and, for solids of velocity w, s_i = Σ_f ± (1 − α_s) h² w_f [Batty et al. 2007], α_s what they leave open, less the volume by
/// which they swell inside the cell.
fn leaf_flux(
    fields: &LiquidFields,
    regions: &Regions,
    walls: &Walls,
    vel: &FaceGrid<f32>,
    origin: Coord,
    cells: &mut [f64],
) -> [Tally; 2] {
    let (mut liquid, mut air) = (Tally::default(), Tally::default());
    let around = regions.around(origin);
    let wet = around.liquid();
    if wet == NONE {
        return [liquid, air];
    }
    let at = LeafFields::of(fields, walls, vel, origin);
    let h = at.h;
    let air_behind: [Words; 6] = std::array::from_fn(|k| around.air_behind(k));
    let shut: [Words; 6] = std::array::from_fn(|k| {
        let liquid_behind = around.liquid_behind(k);
        std::array::from_fn(|x| !(liquid_behind[x] | air_behind[k][x]))
    });
    let (open, cut) = if at.source.is_some() { around.open_and_cut() } else { (NONE, NONE) };
    for (n, out) in cells.as_chunks_mut::<{ leaf::DIM }>().0.iter_mut().enumerate() {
        let set = row_of(&wet, n);
        if set == 0 {
            continue;
        }
        let mut outflow = at.through_faces(n, &shut);
        if let Some(source) = &at.source {
            let (source, open, cut) = (source.row(n), row_of(&open, n), row_of(&cut, n));
            for z in 0..leaf::DIM {
                let volume = match cut & 1 << z != 0 {
                    true => at.open_volume(n * leaf::DIM + z),
                    false => f32::from(open >> z & 1),
                };
                outflow[z] -= f64::from(source[z] * volume) * h * h * h;
            }
        }
        if let Some(swelling) = &at.swelling {
            let swelling = swelling.row(n);
            (0..leaf::DIM).for_each(|z| outflow[z] -= f64::from(swelling[z]) * h * h * h);
        }
        for z in (0..leaf::DIM).filter(|z| set & 1 << z != 0) {
            out[z] = outflow[z];
            liquid.add(component_of(around.label(n * leaf::DIM + z)), outflow[z]);
        }
    }
    let touching: Words =
        std::array::from_fn(|x| wet[x] & air_behind.iter().fold(0, |any, behind| any | behind[x]));
    for n in offsets(&touching) {
        for k in (0..6).filter(|&k| has(&air_behind[k], n)) {
            let (a, sign) = (k / 2, if k % 2 == 1 { 1.0 } else { -1.0 });
            let face = |rows: &[Rows<f32>; 3]| match k % 2 == 1 {
                true => rows[a].at_behind(n, k),
                false => rows[a].at(n),
            };
            let through = sign * f64::from(face(&at.open)) * h * h * f64::from(face(&at.velocity));
            air.add(around.label_behind(n, k) as usize, -through);
        }
    }
    [liquid, air]
}

/// s_b: outflow of a leaf's air cells through moving solids, by region [Goldade and Batty 2017, Eq. 6].
fn wall_flux(fields: &LiquidFields, regions: &Regions, walls: &Walls, origin: Coord) -> Tally {
    let mut air = Tally::default();
    air_wall_flux(fields, regions, walls, origin, |_, region, outflow| air.add(region, outflow));
    air
}

/// Calls `f(cell, region, outflow through moving solids)` for a leaf's air cells.
fn air_wall_flux(
    fields: &LiquidFields,
    regions: &Regions,
    walls: &Walls,
    origin: Coord,
    mut f: impl FnMut(usize, usize, f64),
) {
    let Some(labels) = regions.of_leaf(origin) else { return };
    if labels.iter().all(|&label| label < 0) {
        return;
    }
    let Some(around) = walls.around(fields, origin) else { return };
    let solid = block::faces(fields.vel_solid, &around);
    let h = fields.voxel_size();
    let left = fields.left_by_solids();
    let left = block::faces(left, &left.topology.surroundings(origin));
    let swelling = fields.cells.swelling.map(|s| block::of(s, origin));
    for (n, &label) in labels.iter().enumerate().filter(|(_, label)| **label >= 0) {
        let i = block::centre(n);
        let through =
            |axis: usize, f: usize| (1.0 - f64::from(left[axis][f])) * h * h * f64::from(solid[axis][f]);
        let outflow: f64 = (0..3).map(|a| through(a, i + block::STRIDE[a]) - through(a, i)).sum();
        let swells = swelling.as_ref().map_or(0.0, |s| f64::from(s[i]) * h * h * h);
        f(n, label as usize, outflow - swells);
    }
}
