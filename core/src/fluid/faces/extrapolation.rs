//! Extrapolates the velocity from the liquid into the air around it and into solids.

pub use super::closed::Walls;
use super::closed::constrain;
use super::inlet::Inlet;
use crate::fluid::particles::cells::Cells;
use crate::grid::morphology::{VoxelMask, words_of};
use crate::grid::rows::{Row, Rows, count_rows, in_pieces, put_rows, row_of, rows_with, select, starts};
use crate::grid::{FaceGrid, Grid, Topology, leaf};
use rayon::prelude::*;
use std::sync::Arc;

/// Every voxel of a leaf.
const ALL: [u64; 8] = [u64::MAX; 8];

/// The faces that an extrapolation reached.
pub struct Extended {
    /// Per axis the faces that have a velocity, and the closed ones, which need none.
    pub known: [VoxelMask; 3],
    /// Per axis the open faces among them whose velocity was extrapolated: neither faces of liquid cells nor faces that
    /// only spray touches.
    pub fresh: [VoxelMask; 3],
    /// The liquid's cells.
    pub liquid: VoxelMask,
}

/// Extrapolates a projected face velocity by `layers` faces into air and solids, in place.
///
/// The known faces are the open faces of liquid cells (`surface` < 0), and the faces whose velocity an `inlet` gives.
/// Faces that only spray touches (particles in cells that are air, a cell or more away from any known face) keep the
/// velocity that the spray transferred to them, so that drops fly on their own path. Every layer takes the mean of the
/// known faces beside it along the three axes. Faces farther away are set to zero.
///
/// `before` is the velocity as it came from the particles. Where it is given, the first layer differs at faces of cells with
/// particles. Such a face keeps its own velocity of before. To it is added the mean change of the known faces beside it that
/// have particles, too, as far as that brings it nearer to theirs. So the particles feel what the solve did to the liquid, do not
/// take over its speed, and get no speed that neither had: films finer than the grid would boil.
///
/// Inside solids the result keeps its tangential part and takes the solid's normal part [Batty et al. 2007, §4.2], so that no
/// particle is driven into a wall. Where liquid has parted from a wall, it leaves at the speed that the solve found.
pub fn extrapolate(
    velocity: &mut FaceGrid<f32>,
    cells: &Cells,
    surface: &Grid<f32>,
    walls: &Walls,
    inlet: Option<&Inlet>,
    layers: usize,
    before: Option<&FaceGrid<f32>>,
) -> Extended {
    let topology = &cells.topology;
    let driven = inlet.map(|inlet| {
        inlet.drive(velocity);
        inlet.masks(topology)
    });
    let liquid = within(&surface.topology, &surface.values, surface.background, topology, |phi| phi < 0.0);
    let wet = VoxelMask::from_words(topology.clone(), |l| occupied(cells, l));
    let (beyond, driven) = (surface.background < 0.0, driven.as_ref());
    let from = Sources { liquid: &liquid, beyond, wet: &wet, driven, before };
    let axis = |axis: usize, values: &mut [f32]| {
        let open = &walls.solid.open;
        let open = within(&open.topology, &open.values[axis], open.background, topology, |alpha| alpha > 0.0);
        let (known, fresh) = extend(values, axis, &open, &from, layers);
        (open, known, fresh)
    };
    let [x, y, z] = &mut velocity.values;
    let (x, (y, z)) = rayon::join(|| axis(0, x), || rayon::join(|| axis(1, y), || axis(2, z)));
    constrain(velocity, [&x.0, &y.0, &z.0], walls);
    if let Some(inlet) = inlet {
        inlet.drive_closed(velocity);
    }
    Extended { known: [x.1, y.1, z.1], fresh: [x.2, y.2, z.2], liquid }
}

/// The faces that have a velocity before the extrapolation.
struct Sources<'a> {
    /// The liquid's cells; cells without a leaf belong to them if `beyond`.
    liquid: &'a VoxelMask,
    beyond: bool,
    /// The cells with particles.
    wet: &'a VoxelMask,
    /// Per axis the faces that an inlet drives.
    driven: Option<&'a [VoxelMask; 3]>,
    /// The velocity as it came from the particles.
    before: Option<&'a FaceGrid<f32>>,
}

/// The cells of a leaf that hold particles.
fn occupied(cells: &Cells, l: usize) -> [u64; 8] {
    if cells.leaf_range(l).is_empty() {
        return [0; 8];
    }
    let start = &cells.start[l * leaf::SIZE..][..leaf::SIZE + 1];
    words_of(&std::array::from_fn(|n| start[n + 1] - start[n]), |count| count > 0)
}

/// The voxels of some leaves whose value in a field on other leaves, `background` elsewhere, fulfils a condition.
fn within(
    own: &Arc<Topology>,
    values: &[f32],
    background: f32,
    topology: &Arc<Topology>,
    inside: impl Fn(f32) -> bool + Copy + Sync + Send,
) -> VoxelMask {
    let same = Arc::ptr_eq(topology, own);
    let leaves = values.as_chunks::<{ leaf::SIZE }>().0;
    let elsewhere = if inside(background) { ALL } else { [0; 8] };
    VoxelMask::from_words(topology.clone(), |l| {
        let there = if same { Some(l) } else { own.leaf_of(topology.origins()[l]) };
        there.map_or(elsewhere, |l| words_of(&leaves[l], inside))
    })
}

/// Extrapolates the `axis` component. Returns the faces that have a velocity, closed ones included, and the open ones
/// among them whose velocity was extrapolated.
fn extend(
    values: &mut [f32],
    axis: usize,
    open: &VoxelMask,
    from: &Sources,
    layers: usize,
) -> (VoxelMask, VoxelMask) {
    let topology = open.topology();
    let of_cells = |cells: &VoxelMask, beyond: bool, l: usize| {
        let below = cells.shifted(l, axis, -1, beyond);
        std::array::from_fn(|x| (cells.words(l)[x] | below[x]) & open.words(l)[x])
    };
    let solved = VoxelMask::from_words(topology.clone(), |l| {
        let wet: [u64; 8] = of_cells(from.liquid, from.beyond, l);
        from.driven.map_or(wet, |driven| both(&wet, driven[axis].words(l)))
    });
    let mut known = solved.clone();
    let with_particles = VoxelMask::from_words(topology.clone(), |l| of_cells(from.wet, false, l));
    let kept = from.before.map(|before| {
        let heard = VoxelMask::from_words(topology.clone(), |l| {
            let (solved, with_particles) = (solved.words(l), with_particles.words(l));
            std::array::from_fn(|x| solved[x] & with_particles[x])
        });
        Kept { before: &before.values[axis], with_particles: &with_particles, heard }
    });
    grow(values, &mut known, kept.as_ref());
    let given = VoxelMask::from_words(topology.clone(), |l| {
        let (solved, spray, known) = (solved.words(l), with_particles.words(l), known.words(l));
        std::array::from_fn(|x| solved[x] | spray[x] & !known[x])
    });
    known = known.union(&with_particles);
    for _ in 2..=layers {
        grow(values, &mut known, None);
    }
    values.par_chunks_mut(leaf::SIZE).enumerate().for_each(|(l, values)| keep(values, known.words(l)));
    let fresh = VoxelMask::from_words(topology.clone(), |l| {
        std::array::from_fn(|x| known.words(l)[x] & !given.words(l)[x] & open.words(l)[x])
    });
    let settled = VoxelMask::from_words(topology.clone(), |l| {
        std::array::from_fn(|x| known.words(l)[x] | !open.words(l)[x])
    });
    (settled, fresh)
}

/// The voxels of either set in a leaf.
fn both(a: &[u64; 8], b: &[u64; 8]) -> [u64; 8] {
    std::array::from_fn(|x| a[x] | b[x])
}

/// Sets the values of a leaf that are not in a set to zero.
pub(crate) fn keep(values: &mut [f32], set: &[u64; 8]) {
    match *set {
        ALL => {}
        [0, 0, 0, 0, 0, 0, 0, 0] => values.fill(0.0),
        _ => {
            for (n, row) in values.as_chunks_mut::<{ leaf::DIM }>().0.iter_mut().enumerate() {
                *row = select(row_of(set, n), *row, [0.0; leaf::DIM]);
            }
        }
    }
}

/// What the first layer keeps of the particles' own velocity.
struct Kept<'a> {
    /// The velocity as it came from them.
    before: &'a [f32],
    /// The faces of cells with particles.
    with_particles: &'a VoxelMask,
    /// The known ones among them: of others no velocity came, so their change is none.
    heard: VoxelMask,
}

/// Gives unknown faces beside known ones the mean of those, and makes them known. With `kept`, faces of cells with particles get
/// their own velocity of before and the mean change of those.
fn grow(values: &mut [f32], known: &mut VoxelMask, kept: Option<&Kept>) {
    let topology = known.topology().clone();
    let fresh = VoxelMask::from_words(topology.clone(), |l| {
        let (own, beside) = (known.words(l), beside(known, l));
        std::array::from_fn(|x| beside.iter().fold(0, |any, words| any | words[x]) & !own[x])
    });
    // The values of all rows with such faces, in one array: leaves that allocate by themselves wait for each other.
    let start = starts((0..topology.len()).map(|l| count_rows(fresh.words(l))));
    let mut rows = vec![[0.0; leaf::DIM]; start[topology.len()]];
    in_pieces(&mut rows, &start).into_par_iter().for_each(|(l, rows)| {
        grow_in(values, known, kept, l, fresh.words(l), rows);
    });
    values.par_chunks_mut(leaf::SIZE).enumerate().for_each(|(l, values)| {
        put_rows(values, fresh.words(l), &rows[start[l]..start[l + 1]]);
    });
    *known = known.union(&fresh);
}

/// The six faces around one, as (axis, step).
const AROUND: [(usize, i32); 6] = [(0, -1), (0, 1), (1, -1), (1, 1), (2, -1), (2, 1)];

/// The voxels of a leaf from which the face around them is in a set, by face.
fn beside(set: &VoxelMask, l: usize) -> [[u64; 8]; 6] {
    AROUND.map(|(axis, step)| set.shifted(l, axis, step, false))
}

/// Of the faces around each of a row, the sum of those in a set, `beside` them, and how many these are.
fn sum_beside(rows: &Rows<f32>, beside: &[[u64; 8]; 6], n: usize) -> (Row<f32>, Row<i32>) {
    let around: [Row<f32>; 6] = std::array::from_fn(|k| rows.row_behind(n, k));
    let (mut sum, mut count) = ([0.0; leaf::DIM], [0; leaf::DIM]);
    for (words, row) in beside.iter().zip(around) {
        let set = row_of(words, n);
        let values = select(set, row, [0.0; leaf::DIM]);
        for z in 0..leaf::DIM {
            sum[z] += values[z];
            count[z] += i32::from(set & 1 << z != 0);
        }
    }
    (sum, count)
}

/// A value, or the one of two ends that it lies beyond. NaN stays NaN, and is refused where a substep ends.
fn between(a: f32, b: f32, value: f32) -> f32 {
    let (low, high) = (a.min(b), a.max(b));
    if value < low {
        low
    } else if value > high {
        high
    } else {
        value
    }
}

/// The values of `fresh` faces of a leaf: a row for each that has any.
fn grow_in(
    values: &[f32],
    known: &VoxelMask,
    kept: Option<&Kept>,
    l: usize,
    fresh: &[u64; 8],
    rows: &mut [Row<f32>],
) {
    let neighbours = &known.topology().neighbours()[l];
    let (now, around) = (Rows::around(values, 0.0, neighbours), beside(known, l));
    let kept = kept.map(|kept| {
        let before = Rows::around(kept.before, 0.0, neighbours);
        (before, kept.with_particles.words(l), beside(&kept.heard, l))
    });
    let value = |n: usize| -> Row<f32> {
        let (sum, count) = sum_beside(&now, &around, n);
        let mean = std::array::from_fn(|z| sum[z] / count[z] as f32);
        let Some((before, with_particles, heard)) = &kept else { return mean };
        let set = row_of(with_particles, n) & row_of(fresh, n);
        if set == 0 {
            return mean;
        }
        let ((after, count), (was, _)) = (sum_beside(&now, heard, n), sum_beside(before, heard, n));
        let own = before.row(n);
        std::array::from_fn(|z| match count[z] {
            1.. if set & 1 << z != 0 => {
                let (after, was) = (after[z] / count[z] as f32, was[z] / count[z] as f32);
                between(own[z], after, own[z] + after - was)
            }
            _ if set & 1 << z != 0 => own[z],
            _ => mean[z],
        })
    };
    rows_with(fresh).zip(rows).for_each(|(n, row)| *row = value(n));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Coord;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_layer_takes_the_means_of_the_known_faces_beside_it(
            known in prop::collection::vec((-9i32..17, -9i32..17, -9i32..17), 1..60),
        ) {
            let known = known.into_iter().map(|(x, y, z)| Coord::new(x, y, z)).collect::<Vec<_>>();
            let before = VoxelMask::covering(known);
            let topology = before.topology().clone();
            let grid = Grid::from_fn(topology.clone(), 0.0, |c| (c.x * 17 + c.y * 5 + c.z) as f32);
            let (mut values, mut known) = (grid.values.clone(), before.clone());
            grow(&mut values, &mut known, None);
            for slot in 0..values.len() {
                let beside = (0..6).filter_map(|k| {
                    let mut there = leaf::local(slot % leaf::SIZE);
                    there[k / 2] += if k % 2 == 1 { 1 } else { -1 };
                    topology.reach(slot / leaf::SIZE, there).filter(|&s| before.has(s)).map(|s| grid.values[s])
                });
                let beside: Vec<f32> = beside.collect();
                let fresh = !before.has(slot) && !beside.is_empty();
                let mean = beside.iter().sum::<f32>() / beside.len() as f32;
                prop_assert_eq!(known.has(slot), before.has(slot) || fresh);
                prop_assert_eq!(values[slot], if fresh { mean } else { grid.values[slot] });
            }
        }
    }
}
