//! The faces of a body, and the cells of liquid and air beside them.

use super::covered::Face;
use super::flux::Tally;
use crate::coupling::air::regions::sets::{NONE, Words, has};
use crate::coupling::air::regions::{LABEL_SOLID, Regions, component_of};
use crate::coupling::bodies::Bodies;
use crate::coupling::fields::LiquidFields;
use crate::grid::morphology::{VoxelMask, offsets, shift};
use crate::grid::rows::{Rows, behind};
use crate::grid::{Coord, FaceGrid, Topology, leaf};
use glam::IVec3;
use rayon::prelude::*;
use std::sync::Arc;

/// The faces of a body, and what flows through them out of the cells beside them.
pub(super) struct BodyFaces {
    /// The leaves with its faces.
    topology: Arc<Topology>,
    /// Each with its slot there.
    faces: Vec<(Face, usize)>,
    /// By leaf, in the order of its cells.
    cells: Vec<(Coord, Vec<CellBeside>)>,
}

/// A cell of liquid or air beside faces of the body.
struct CellBeside {
    n: usize,
    /// As in [`Regions::cells`].
    label: i32,
    /// Of its faces, by axis, lower first, those of the body: (1 − α_s) h², m², and the slot.
    faces: [Option<(f64, usize)>; 6],
}

/// The outflow that a motion of the body prescribes to the cells and the air of one leaf, m³/s.
#[derive(Clone, Debug)]
pub(super) struct BodyFlux {
    /// The leaf.
    pub(super) origin: Coord,
    /// Of its liquid cells beside the body, by their offset.
    pub(super) cells: Vec<(usize, f64)>,
    /// Sums by connected liquid.
    pub(super) liquid: Vec<(usize, f64)>,
    /// By air region.
    pub(super) air: Vec<(usize, f64)>,
    /// What flows through each face of these cells, in absolute values.
    pub(super) moved: f64,
}

impl BodyFaces {
    /// Of the body `body`; `own`: the leaves with its faces, `near`: those of their cells.
    pub(super) fn find(
        fields: &LiquidFields,
        regions: &Regions,
        bodies: &Bodies,
        body: usize,
        (own, near): (Vec<Coord>, &Topology),
    ) -> Self {
        let topology = Arc::new(Topology::new(own));
        let mut owned = [0; 3].map(|_| VoxelMask::new(topology.clone()));
        let mut faces = Vec::new();
        for (l, &origin) in topology.origins().iter().enumerate() {
            let Some(there) = bodies.owner.topology.leaf_of(origin) else { continue };
            for (axis, owned) in owned.iter_mut().enumerate() {
                let owners = &bodies.owner.values[axis][there * leaf::SIZE..][..leaf::SIZE];
                for (n, &owner) in owners.iter().enumerate() {
                    if bodies.of_number(owner).is_some_and(|(of, _)| of == body) {
                        let at = origin + IVec3::from_array(leaf::local(n));
                        faces.push((Face { axis, at, owner }, l * leaf::SIZE + n));
                        owned.words_mut(l)[n / 64] |= 1 << (n % 64);
                    }
                }
            }
        }
        let beside = |&origin: &Coord| (origin, cells_beside(fields, regions, &owned, origin));
        let cells = near.origins().par_iter().map(beside).collect();
        Self { topology, faces, cells }
    }

    /// A velocity on the faces, m/s.
    pub(super) fn velocity(&self, at_face: impl Fn(&Face) -> f64) -> FaceGrid<f32> {
        let mut velocity = FaceGrid::new(self.topology.clone(), 0.0);
        for (face, slot) in &self.faces {
            velocity.values[face.axis][*slot] = at_face(face) as f32;
        }
        velocity
    }

    /// The outflow that such a velocity prescribes: s_i and s_b of the flux, as [`super::flux`] sums them.
    pub(super) fn outflow(&self, velocity: &FaceGrid<f32>) -> Vec<BodyFlux> {
        let of_leaf = |(origin, beside): &(Coord, Vec<CellBeside>)| {
            let (mut cells, mut liquid, mut air) = (Vec::new(), Tally::default(), Tally::default());
            let mut moved = 0.0;
            for cell in beside {
                let through = |k: usize| {
                    cell.faces[k].map_or(0.0, |(share, slot)| share * f64::from(velocity.values[k / 2][slot]))
                };
                moved += (0..6).map(|k| through(k).abs()).sum::<f64>();
                if cell.label < LABEL_SOLID {
                    let sign = |k: usize| if k % 2 == 1 { 1.0 } else { -1.0 };
                    let outflow = (0..6).fold(0.0, |sum, k| sum + sign(k) * through(k));
                    cells.push((cell.n, outflow));
                    liquid.add(component_of(cell.label), outflow);
                } else {
                    let outflow = (0..3).map(|a| through(2 * a + 1) - through(2 * a)).sum();
                    air.add(cell.label as usize, outflow);
                }
            }
            BodyFlux { origin: *origin, cells, liquid: liquid.0, air: air.0, moved }
        };
        self.cells.iter().map(of_leaf).collect()
    }
}

/// The cells of a leaf beside faces that the body owns.
fn cells_beside(
    fields: &LiquidFields,
    regions: &Regions,
    owned: &[VoxelMask; 3],
    origin: Coord,
) -> Vec<CellBeside> {
    let Some(labels) = regions.of_leaf(origin) else { return Vec::new() };
    let topology = owned[0].topology();
    let own = topology.leaf_of(origin);
    let above = IVec3::AXES.map(|axis| topology.leaf_of(origin + leaf::DIM as i32 * axis));
    let words = |axis: usize, l: Option<usize>| l.map_or(&NONE, |l| owned[axis].words(l));
    let sets: [Words; 6] = std::array::from_fn(|k| match k % 2 == 1 {
        true => shift(words(k / 2, own), words(k / 2, above[k / 2]), k / 2, 1),
        false => *words(k / 2, own),
    });
    let any: Words = std::array::from_fn(|x| sets.iter().fold(0, |any, set| any | set[x]));
    if any == NONE {
        return Vec::new();
    }
    let around = regions.around(origin);
    let (h, left) = (fields.voxel_size(), Rows::faces(fields.left_by_solids(), origin));
    let passes: [Words; 6] = std::array::from_fn(|k| {
        let (liquid, air) = (around.liquid_behind(k), around.air_behind(k));
        std::array::from_fn(|x| liquid[x] | air[x])
    });
    let cell = |n: usize| {
        let label = labels[n];
        let face = |k: usize| {
            let (upper, axis) = (k % 2 == 1, k / 2);
            let slot = match behind(n, k) {
                _ if !upper => own? * leaf::SIZE + n,
                Ok(there) => own? * leaf::SIZE + there,
                Err(there) => above[axis]? * leaf::SIZE + there,
            };
            let left = if upper { left[axis].at_behind(n, k) } else { left[axis].at(n) };
            // Liquid flows to liquid and air only.
            let is_shut = label < LABEL_SOLID && !has(&passes[k], n);
            let left = if is_shut { 0.0 } else { left };
            has(&sets[k], n).then_some(((1.0 - f64::from(left)) * h * h, slot))
        };
        (label != LABEL_SOLID).then(|| CellBeside { n, label, faces: std::array::from_fn(face) })
    };
    offsets(&any).filter_map(cell).collect()
}
