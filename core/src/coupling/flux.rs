//! Net outflow of every liquid cell and every air region.

use super::block::{self, Block};
use super::fields::LiquidFields;
use super::open_volume::open_volume;
use super::regions::{LABEL_SOLID, Regions, component_of};
use crate::grid::{Coord, FaceGrid, Topology, leaf};
use rayon::prelude::*;

/// Outflows of the constraints D u + s = 0 and B u + s_b = 0 [Goldade and Batty 2017, Eq. 5-8], m³/s.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Flux {
    /// (D u + s) of each liquid cell less its source, `[leaf][512]` of the pressure system; 0 elsewhere.
    pub(super) cells: Vec<f64>,
    /// Sum of `cells` over each connected liquid component.
    pub(super) liquid: Vec<f64>,
    /// (B u + s_b) of each air region.
    pub(super) air: Vec<f64>,
}

impl Flux {
    /// The same, with the outflow that air regions shall have taken off.
    pub(super) fn less(mut self, wanted: &[f64]) -> Self {
        self.air.iter_mut().zip(wanted).for_each(|(air, wanted)| *air -= wanted);
        self
    }
}

/// Sums by number, in the order of first use.
#[derive(Default)]
struct Tally(Vec<(usize, f64)>);

impl Tally {
    fn add(&mut self, number: usize, value: f64) {
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
pub(super) fn flux(
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

/// The moving solids of a projection.
pub(super) struct Walls {
    /// Whether a solid moves in a leaf of its velocity field.
    moving: Vec<bool>,
    /// s_b of each air region, m³/s.
    outflow: Vec<f64>,
}

impl Walls {
    /// Finds what moves, and what outflow that prescribes to the air.
    pub(super) fn new(fields: &LiquidFields, regions: &Regions) -> Self {
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

    /// The solids' velocities around a leaf, unless none of them moves at the faces of its cells.
    fn around(&self, fields: &LiquidFields, origin: Coord) -> Option<[Block<f32>; 3]> {
        let solids = fields.vel_solid;
        let around = block::surroundings(&solids.topology, origin);
        let moves = |&slot: &usize| match around[slot] {
            leaf::ABSENT => solids.background != 0.0,
            l => self.moving[l as usize],
        };
        let reached = [leaf::SELF_SLOT, leaf::FACE_SLOTS[1], leaf::FACE_SLOTS[3], leaf::FACE_SLOTS[5]];
        reached.iter().any(moves).then(|| block::faces_around(solids, &around))
    }
}

/// (D u + s) − source of a leaf's liquid cells, and what their faces take from liquids and air regions:
/// (D u)_i = Σ_f ± α h² u_f and, for solids of velocity w, s_i = Σ_f ± (1 − α) h² w_f [Batty et al. 2007], less what
/// they swell by inside the cell.
fn leaf_flux(
    fields: &LiquidFields,
    regions: &Regions,
    walls: &Walls,
    vel: &FaceGrid<f32>,
    origin: Coord,
    cells: &mut [f64],
) -> [Tally; 2] {
    let (mut liquid, mut air) = (Tally::default(), Tally::default());
    let is_liquid = |&label: &i32| label < LABEL_SOLID;
    if !regions.of_leaf(origin).is_some_and(|own| own.iter().any(is_liquid)) {
        return [liquid, air];
    }
    let labels = regions.block(origin);
    let h = fields.voxel_size();
    let open = block::faces(fields.open, origin);
    let velocity = block::faces(vel, origin);
    let solid = walls.around(fields, origin);
    let source = fields.source.map(|s| Block::of(s, origin));
    let swelling = fields.swelling.map(|s| Block::of(s, origin));
    for (n, out) in cells.iter_mut().enumerate() {
        let i = block::centre(n);
        if labels[i] >= LABEL_SOLID {
            continue;
        }
        let mut outflow = 0.0;
        for axis in 0..3 {
            for (sign, f, j) in
                [(-1.0, i, i - block::STEP[axis]), (1.0, i + block::STEP[axis], i + block::STEP[axis])]
            {
                let alpha = if labels[j] == LABEL_SOLID { 0.0 } else { f64::from(open[axis][f]) };
                let through = sign * alpha * h * h * f64::from(velocity[axis][f]);
                outflow += through;
                if let Some(solid) = &solid {
                    outflow += sign * (1.0 - alpha) * h * h * f64::from(solid[axis][f]);
                }
                if labels[j] >= 0 {
                    air.add(labels[j] as usize, -through);
                }
            }
        }
        if let Some(source) = &source {
            let faces = std::array::from_fn(|a| [open[a][i], open[a][i + block::STEP[a]]]);
            outflow -= f64::from(source[i] * open_volume(faces)) * h * h * h;
        }
        if let Some(swelling) = &swelling {
            outflow -= f64::from(swelling[i]) * h * h * h;
        }
        *out = outflow;
        liquid.add(component_of(labels[i]), outflow);
    }
    [liquid, air]
}

/// s_b: outflow of a leaf's air cells through moving solids [Goldade and Batty 2017, Eq. 6].
fn wall_flux(fields: &LiquidFields, regions: &Regions, walls: &Walls, origin: Coord) -> Tally {
    let mut air = Tally::default();
    let Some(labels) = regions.of_leaf(origin) else { return air };
    if labels.iter().all(|&label| label < 0) {
        return air;
    }
    let Some(solid) = walls.around(fields, origin) else { return air };
    let h = fields.voxel_size();
    let open = block::faces(fields.open, origin);
    let swelling = fields.swelling.map(|s| Block::of(s, origin));
    for (n, &label) in labels.iter().enumerate().filter(|(_, label)| **label >= 0) {
        let i = block::centre(n);
        let through =
            |axis: usize, f: usize| (1.0 - f64::from(open[axis][f])) * h * h * f64::from(solid[axis][f]);
        let outflow: f64 = (0..3).map(|a| through(a, i + block::STEP[a]) - through(a, i)).sum();
        let swells = swelling.as_ref().map_or(0.0, |s| f64::from(s[i]) * h * h * h);
        air.add(label as usize, outflow - swells);
    }
    air
}
