//! Makes the extrapolated velocity in the air beside the liquid incompressible, so that advection keeps volume.
//!
//! Constant extrapolation produces a velocity with a divergence of its own. Where the surface moves into the air, this
//! divergence squeezes or stretches the liquid that follows, with an error of first order in the step: at two voxels a
//! step, a rising bubble gained a third of its volume per second. As in [Sussman 2003], a projection of the faces in
//! the air removes the divergence; the faces of the liquid are held fixed.

use super::extrapolation::Extended;
use crate::grid::morphology::{VoxelMask, offsets};
use crate::grid::{Coord, FaceGrid, Topology, leaf, rows};
use crate::solid::SolidFields;
use meniscus_kernels::conjugate_gradients::Stop;
use meniscus_kernels::conjugate_gradients::plain::{self, Operator};
use rayon::prelude::*;
use std::ops::ControlFlow;

/// Relative divergence at which the projection stops, and its largest number of iterations.
const TOLERANCE: f64 = 1e-2;
const MOST_ITERATIONS: usize = 40;
/// A leaf without air cells.
const NONE: u32 = u32::MAX;
/// Cells that one task sums up.
const CHUNK: usize = 4096;

/// The air cells whose faces all have a velocity, at least one of them extrapolated; in slot order.
struct AirCells {
    faces: Vec<Faces>,
    links: Vec<Links>,
    /// Net inflow of each cell, with faces of area 1.
    inflow: Vec<f64>,
}

/// Where the faces of a cell are.
#[derive(Clone, Copy, Default)]
struct Faces {
    /// The cell's slot, which is that of its lower faces, and its upper neighbours' slots, which are those of its upper
    /// faces.
    slot: usize,
    upper: [usize; 3],
}

impl Faces {
    /// The slot of face `k`, by axis, lower first.
    fn slot(&self, k: usize) -> usize {
        if k % 2 == 1 { self.upper[k / 2] } else { self.slot }
    }
}

/// The neighbours that a cell is coupled to, by axis, lower face first.
#[derive(Clone, Copy, Default)]
struct Links {
    /// The air cell behind each face; the number of all cells where there is none.
    beside: [u32; 6],
    /// How open a face is whose velocity may change; 0 for one whose velocity may not.
    open: [f32; 6],
}

/// Makes the faces that were extrapolated over `layers` layers incompressible.
///
/// Solves Σ_f α_f (q − q_f) + q/layers² = −∇·u, then u_f ← u_f − ∇q, with q = 0 beyond the layers. The term q/layers²
/// lets the air yield over as many voxels as there are layers. So liquid in a closing gap is not shot out of it, and a
/// bubble that is to grow does so throughout.
pub(crate) fn carry_volume(
    velocity: &mut FaceGrid<f32>,
    extended: &Extended,
    solid: &SolidFields,
    layers: usize,
) {
    let AirCells { faces, links, mut inflow } = cells(velocity, extended, solid);
    inflow.push(0.0);
    let operator = AirOperator::new(&links, 1.0 / (layers * layers) as f64);
    let norm = plain::dot(&inflow, &inflow, CHUNK).sqrt();
    let stop = Stop { tolerance: TOLERANCE, max_iterations: MOST_ITERATIONS };
    let go_on = &mut |_: usize, _: f64| ControlFlow::Continue(());
    let (q, _) = plain::solve(&operator, vec![0.0; inflow.len()], inflow, norm, None, stop, go_on);
    let none = links.len() as u32;
    velocity.values.par_iter_mut().enumerate().for_each(|(a, values)| {
        for ((faces, links), own) in faces.iter().zip(&links).zip(&q) {
            // Of two cells the upper one changes the face between them.
            if links.open[2 * a] > 0.0 {
                values[faces.slot] -= (own - q[links.beside[2 * a] as usize]) as f32;
            }
            if links.open[2 * a + 1] > 0.0 && links.beside[2 * a + 1] == none {
                values[faces.upper[a]] += *own as f32;
            }
        }
    });
}

/// The air's cells in the leaves that hold any.
struct Numbering {
    /// Those leaves.
    leaves: Vec<u32>,
    /// Per leaf of the topology, its place among them, or [`NONE`].
    place: Vec<u32>,
    /// Per leaf that holds any, the first number in it, and last the number of all.
    first: Vec<usize>,
    /// Per leaf that holds any, its cells' numbers; the number of all cells where a cell is not one of them.
    numbers: Vec<[u32; leaf::SIZE]>,
}

impl Numbering {
    fn of(cells: &VoxelMask) -> Self {
        let all = 0..cells.topology().len();
        let holds = |l: &usize| *cells.words(*l) != [0; 8];
        let leaves: Vec<u32> = all.filter(holds).map(|l| l as u32).collect();
        let mut place = vec![NONE; cells.topology().len()];
        let mut first = vec![0];
        for (i, &l) in leaves.iter().enumerate() {
            place[l as usize] = i as u32;
            let count = cells.words(l as usize).iter().map(|word| word.count_ones() as usize).sum::<usize>();
            first.push(first[i] + count);
        }
        let none = first[leaves.len()] as u32;
        let number = |(&l, &first): (&u32, &usize)| {
            let mut numbers = [none; leaf::SIZE];
            let own = offsets(cells.words(l as usize));
            own.enumerate().for_each(|(i, n)| numbers[n] = (first + i) as u32);
            numbers
        };
        let numbers = leaves.par_iter().zip(&first).map(number).collect();
        Self { leaves, place, first, numbers }
    }

    /// Cuts an array over all cells into one slice for each leaf that holds any.
    fn cut<'a, T>(&self, mut all: &'a mut [T]) -> Vec<&'a mut [T]> {
        let counts = self.first.windows(2).map(|pair| pair[1] - pair[0]);
        counts.filter_map(|count| all.split_off_mut(..count)).collect()
    }

    /// The numbers of the cells in a leaf of the topology, if it holds any.
    fn of_leaf(&self, l: u32) -> Option<&[u32; leaf::SIZE]> {
        self.numbers.get(*self.place.get(l as usize)? as usize)
    }
}

fn cells(velocity: &FaceGrid<f32>, extended: &Extended, solid: &SolidFields) -> AirCells {
    let topology = &velocity.topology;
    let of_air = VoxelMask::from_words(topology.clone(), |l| air_of_leaf(extended, l));
    let numbering = Numbering::of(&of_air);
    let count = numbering.first[numbering.leaves.len()];
    let mut all = AirCells {
        faces: vec![Faces::default(); count],
        links: vec![Links::default(); count],
        inflow: vec![0.0; count],
    };
    let (open, walls) = (Seen::on(&solid.open, topology), Seen::on(&solid.velocity, topology));
    let places = numbering.cut(&mut all.faces).into_par_iter().zip(numbering.cut(&mut all.links));
    let leaves = places.zip(numbering.cut(&mut all.inflow)).zip(&numbering.leaves);
    leaves.for_each(|(((faces, links), inflow), &l)| {
        let around = Around::of(topology, &numbering, l as usize);
        for (i, n) in offsets(of_air.words(l as usize)).enumerate() {
            let own;
            (own, links[i].beside) = around.cell(n);
            links[i].open = std::array::from_fn(|k| {
                let (a, f) = (k / 2, own.slot(k));
                if extended.fresh[a].has(f) { open.at(a, f) } else { 0.0 }
            });
            let through = |k: usize| {
                let (a, f, sign) = (k / 2, own.slot(k), if k % 2 == 1 { 1.0 } else { -1.0 });
                let (alpha, u, w) = (open.at(a, f), velocity.values[a][f], walls.at(a, f));
                sign * f64::from(alpha * u + (1.0 - alpha) * w)
            };
            inflow[i] = -(0..6).map(through).sum::<f64>();
            faces[i] = own;
        }
    });
    all
}

/// A field as another topology's slots see it.
struct Seen<'a> {
    field: &'a FaceGrid<f32>,
    /// Per leaf of that topology, the field's first slot in it.
    first: Vec<Option<usize>>,
}

impl<'a> Seen<'a> {
    fn on(field: &'a FaceGrid<f32>, topology: &Topology) -> Self {
        let first = |&origin: &Coord| field.topology.leaf_of(origin).map(|l| l * leaf::SIZE);
        Self { field, first: topology.origins().iter().map(first).collect() }
    }

    fn at(&self, axis: usize, slot: usize) -> f32 {
        let first = self.first[slot / leaf::SIZE];
        first.map_or(self.field.background, |first| self.field.values[axis][first + slot % leaf::SIZE])
    }
}

/// The air's cells of a leaf.
fn air_of_leaf(extended: &Extended, l: usize) -> [u64; 8] {
    let mut all: [u64; 8] = extended.liquid.words(l).map(|word| !word);
    let mut any = [0; 8];
    for a in 0..3 {
        let (known, fresh) = (&extended.known[a], &extended.fresh[a]);
        let above = (known.shifted(l, a, 1, false), fresh.shifted(l, a, 1, false));
        for x in 0..8 {
            all[x] &= known.words(l)[x] & above.0[x];
            any[x] |= fresh.words(l)[x] | above.1[x];
        }
    }
    std::array::from_fn(|x| all[x] & any[x])
}

/// A leaf and those beyond its faces.
struct Around<'a> {
    /// Those beyond the faces, by axis, lower first, and the leaf itself: their first slots and the numbers of their cells.
    leaves: [(Option<usize>, Option<&'a [u32; leaf::SIZE]>); 7],
    own: usize,
    none: u32,
}

impl<'a> Around<'a> {
    fn of(topology: &Topology, numbering: &'a Numbering, l: usize) -> Self {
        let around = &topology.neighbours()[l];
        let of_leaf = |k: usize| {
            let m = around[leaf::FACE_SLOTS.get(k).copied().unwrap_or(leaf::SELF_SLOT)];
            ((m != leaf::ABSENT).then_some(m as usize * leaf::SIZE), numbering.of_leaf(m))
        };
        let none = numbering.first[numbering.leaves.len()] as u32;
        Self { leaves: std::array::from_fn(of_leaf), own: l * leaf::SIZE, none }
    }

    /// The faces of the cell at an offset, and the cells behind them.
    fn cell(&self, n: usize) -> (Faces, [u32; 6]) {
        let (mut upper, mut beside) = ([0; 3], [0; 6]);
        for (k, beside) in beside.iter_mut().enumerate() {
            let ((first, numbers), there) = match rows::behind(n, k) {
                Ok(there) => (self.leaves[6], there),
                Err(there) => (self.leaves[k], there),
            };
            *beside = numbers.map_or(self.none, |numbers| numbers[there]);
            if k % 2 == 1 {
                // A missing leaf has no face with a velocity, so it is never above one of these cells.
                upper[k / 2] = first.map_or(self.own + n, |first| first + there);
            }
        }
        (Faces { slot: self.own + n, upper }, beside)
    }
}

/// A + `give`, over the air cells and one entry more, which stands for a missing neighbour and is no unknown.
struct AirOperator<'a> {
    links: &'a [Links],
    give: f64,
    inverse_diagonal: Vec<f32>,
}

impl<'a> AirOperator<'a> {
    fn new(links: &'a [Links], give: f64) -> Self {
        let inverse = |c: &Links| (1.0 / (give + f64::from(c.open.iter().sum::<f32>()))) as f32;
        let mut inverse_diagonal: Vec<f32> = links.par_iter().with_min_len(CHUNK).map(inverse).collect();
        inverse_diagonal.push(0.0);
        Self { links, give, inverse_diagonal }
    }
}

impl Operator for AirOperator<'_> {
    const CHUNK: usize = CHUNK;

    fn apply(&self, chunk: usize, p: &[f64], image: &mut [f64]) -> f64 {
        let first = chunk * CHUNK;
        let mut product = 0.0;
        for ((image, cell), own) in image.iter_mut().zip(&self.links[first..]).zip(&p[first..]) {
            let mut flow = 0.0;
            for (open, &beside) in cell.open.iter().zip(&cell.beside) {
                flow += f64::from(*open) * (own - p[beside as usize]);
            }
            *image = self.give * own + flow;
            product += own * *image;
        }
        product
    }

    fn inverse_diagonal(&self, chunk: usize) -> &[f32] {
        let rest = &self.inverse_diagonal[chunk * CHUNK..];
        &rest[..rest.len().min(CHUNK)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cells_are_numbered_in_slot_order_and_know_what_is_beside_them(
            voxels in prop::collection::vec((-9i32..17, -9i32..17, -9i32..17), 0..80),
        ) {
            let voxels = voxels.into_iter().map(|(x, y, z)| Coord::new(x, y, z));
            let cells = VoxelMask::covering(voxels.collect::<Vec<_>>());
            let topology = cells.topology();
            let numbering = Numbering::of(&cells);
            let slots: Vec<usize> = (0..topology.len() * leaf::SIZE).filter(|&s| cells.has(s)).collect();
            prop_assert_eq!(numbering.first.last(), Some(&slots.len()));
            for &slot in &slots {
                let (l, n) = (slot / leaf::SIZE, slot % leaf::SIZE);
                let (faces, beside) = Around::of(topology, &numbering, l).cell(n);
                for k in 0..6 {
                    let mut there = leaf::local(n);
                    there[k / 2] += if k % 2 == 1 { 1 } else { -1 };
                    let there = topology.reach(l, there);
                    let number = there.and_then(|s| slots.binary_search(&s).ok()).unwrap_or(slots.len());
                    prop_assert_eq!(beside[k] as usize, number);
                    let face = if k % 2 == 1 { there.unwrap_or(slot) } else { slot };
                    prop_assert_eq!(faces.slot(k), face);
                }
            }
        }
    }
}
