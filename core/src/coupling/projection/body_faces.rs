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

/// The faces of a body, how they move with each of its k degrees of freedom, and the cells beside them.
pub(super) struct BodyFaces {
    /// Leaf by leaf.
    faces: Vec<Face>,
    /// Degrees of freedom.
    k: usize,
    /// `[face][degree of freedom]`: velocity along the face's axis, m/s per unit.
    basis: Vec<f32>,
    /// By leaf, in the order of its cells.
    cells: Vec<(Coord, Vec<CellBeside>)>,
}

/// A cell of liquid or air beside faces of the body.
struct CellBeside {
    n: usize,
    /// As in [`Regions::cells`].
    label: i32,
    /// Of its faces, by axis, lower first, those of the body: (1 − α_s) h², m², and its place among [`BodyFaces::faces`].
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
        let this = &bodies.bodies[body];
        let mut owned = Owned::new(Arc::new(Topology::new(own)));
        let (mut faces, mut basis) = (Vec::new(), Vec::new());
        for (l, &origin) in owned.topology().clone().origins().iter().enumerate() {
            let Some(there) = bodies.owner.topology.leaf_of(origin) else { continue };
            for axis in 0..3 {
                owned.first[l][axis] = faces.len();
                let owners = &bodies.owner.values[axis][there * leaf::SIZE..][..leaf::SIZE];
                for (n, &owner) in owners.iter().enumerate() {
                    let Some((_, piece)) = bodies.of_number(owner).filter(|(of, _)| *of == body) else {
                        continue;
                    };
                    let at = origin + IVec3::from_array(leaf::local(n));
                    match this.pieces.rigid().get(piece) {
                        Some(piece) => {
                            let along = piece.along(axis, fields.transform.face_centre(axis, at));
                            basis.extend(along.map(|v| v as f32));
                        }
                        None => basis.resize(basis.len() + this.velocity.len(), 0.0),
                    }
                    faces.push(Face { axis, at, owner });
                    owned.masks[axis].words_mut(l)[n / 64] |= 1 << (n % 64);
                }
            }
        }
        let beside = |&origin: &Coord| (origin, cells_beside(fields, regions, &owned, origin));
        let cells = near.origins().par_iter().map(beside).collect();
        Self { faces, k: this.velocity.len(), basis, cells }
    }

    /// Writes how the faces move, m/s; `velocity`: of the body's degrees of freedom.
    pub(super) fn write(&self, velocity: &[f64], walls: &mut FaceGrid<f32>) {
        let mut last = None;
        for (face, basis) in self.faces.iter().zip(self.basis.chunks_exact(self.k.max(1))) {
            let origin = IVec3::from_array(face.at.to_array().map(leaf::origin));
            let there = match last {
                Some((of, there)) if of == origin => there,
                _ => walls.topology.leaf_of(origin),
            };
            last = Some((origin, there));
            if let Some(l) = there {
                let moved: f64 = basis.iter().zip(velocity).map(|(&j, v)| v * f64::from(j)).sum();
                let [x, y, z] = face.at.to_array();
                walls.values[face.axis][l * leaf::SIZE + leaf::offset(x, y, z)] = moved as f32;
            }
        }
    }

    /// The outflow that a unit motion along a degree of freedom prescribes: s_i and s_b of the flux, as [`super::flux`] sums them.
    pub(super) fn outflow(&self, dof: usize) -> Vec<BodyFlux> {
        let of_leaf = |(origin, beside): &(Coord, Vec<CellBeside>)| {
            let (mut cells, mut liquid, mut air) = (Vec::new(), Tally::default(), Tally::default());
            let mut moved = 0.0;
            for cell in beside {
                let through = cell.faces.map(|face| {
                    face.map_or(0.0, |(share, face)| share * f64::from(self.basis[face * self.k + dof]))
                });
                moved += through.iter().map(|v| v.abs()).sum::<f64>();
                if cell.label < LABEL_SOLID {
                    let sign = |k: usize| if k % 2 == 1 { 1.0 } else { -1.0 };
                    let outflow = (0..6).fold(0.0, |sum, k| sum + sign(k) * through[k]);
                    cells.push((cell.n, outflow));
                    liquid.add(component_of(cell.label), outflow);
                } else {
                    let outflow = (0..3).map(|a| through[2 * a + 1] - through[2 * a]).sum();
                    air.add(cell.label as usize, outflow);
                }
            }
            BodyFlux { origin: *origin, cells, liquid: liquid.0, air: air.0, moved }
        };
        self.cells.iter().map(of_leaf).collect()
    }
}

/// Where a body's faces are.
struct Owned {
    masks: [VoxelMask; 3],
    /// By leaf and axis, the first of its faces there.
    first: Vec<[usize; 3]>,
}

impl Owned {
    fn new(topology: Arc<Topology>) -> Self {
        let first = vec![[0; 3]; topology.len()];
        Self { masks: [0; 3].map(|_| VoxelMask::new(topology.clone())), first }
    }

    fn topology(&self) -> &Arc<Topology> {
        self.masks[0].topology()
    }

    /// Which of the faces is that of a leaf's slot.
    fn face(&self, l: usize, axis: usize, n: usize) -> usize {
        let words = self.masks[axis].words(l);
        let below = words[n / 64] & ((1 << (n % 64)) - 1);
        let before: u32 = words[..n / 64].iter().map(|word| word.count_ones()).sum();
        self.first[l][axis] + (before + below.count_ones()) as usize
    }
}

/// The cells of a leaf beside faces that the body owns.
fn cells_beside(fields: &LiquidFields, regions: &Regions, owned: &Owned, origin: Coord) -> Vec<CellBeside> {
    let Some(labels) = regions.of_leaf(origin) else { return Vec::new() };
    let topology = owned.topology();
    let own = topology.leaf_of(origin);
    let above = IVec3::AXES.map(|axis| topology.leaf_of(origin + leaf::DIM as i32 * axis));
    let words = |axis: usize, l: Option<usize>| l.map_or(&NONE, |l| owned.masks[axis].words(l));
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
            if !has(&sets[k], n) {
                return None;
            }
            let (l, there) = match behind(n, k) {
                _ if !upper => (own?, n),
                Ok(there) => (own?, there),
                Err(there) => (above[axis]?, there),
            };
            let left = if upper { left[axis].at_behind(n, k) } else { left[axis].at(n) };
            // Liquid flows to liquid and air only.
            let is_shut = label < LABEL_SOLID && !has(&passes[k], n);
            let left = if is_shut { 0.0 } else { left };
            Some(((1.0 - f64::from(left)) * h * h, owned.face(l, axis, there)))
        };
        (label != LABEL_SOLID).then(|| CellBeside { n, label, faces: std::array::from_fn(face) })
    };
    offsets(&any).filter_map(cell).collect()
}
