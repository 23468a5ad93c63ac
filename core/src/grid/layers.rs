//! Extrapolates values, layer by layer, beyond the cells that have them.

use super::morphology::{VoxelMask, offsets};
use super::{Grid, halo, leaf};
use rayon::prelude::*;

/// Voxels around a leaf that the mean reads.
const HALO: usize = 1;
const STRIDES: [usize; 3] = halo::strides(HALO);
/// The 26 around the voxel one step on along each axis: steps and weights.
const AROUND: [(usize, f32); 26] = {
    let (mut around, mut n) = ([(0, 0.0); 26], 0);
    while n < 26 {
        let d = if n < 13 { n } else { n + 1 };
        let (x, y, z): (usize, usize, usize) = (d / 9, d / 3 % 3, d % 3);
        let squared = x.abs_diff(1) + y.abs_diff(1) + z.abs_diff(1);
        around[n] = (x * STRIDES[0] + y * STRIDES[1] + z, 1.0 / squared as f32);
        n += 1;
    }
    around
};
/// Relative difference up to which openness counts as a product of what two walls leave open.
const PRODUCT: f32 = 0.05;
/// Marks a voxel without a value.
const NONE: f32 = f32::NAN;

/// Cells that take values only from some of those around them: per leaf the offset of each, ascending, and which of the
/// 27 around it, itself among them, count: bit 9x + 3y + z for the one at (x, y, z) − 1.
pub type Limited = [Vec<(usize, u32)>];

/// Where cells may take their values from.
#[derive(Clone, Copy, Default)]
pub struct Sources<'a> {
    /// Cells that take their value only from some cells. Those of them that get none in this way take the mean of all around in
    /// the end. No entries at all: nowhere limited.
    pub limited: &'a Limited,
    /// How open the surroundings of each cell are, `[leaf][512]`: values go on along its gradient, the wall's normal. They come
    /// from the cells beside a cell's faces that are more open, by how much, and a cell waits for these. Without it, or where it is
    /// constant, they come from all cells around alike.
    pub openness: Option<&'a [f32]>,
}

/// Gives the cells beyond `known`, layer by layer, the mean of those of the 26 cells around them that have a value,
/// weighted by 1/distance². `known` is a mask on the field's leaves, whose values there are finite.
pub fn carry_on(field: &mut Grid<f32>, known: VoxelMask, layers: usize) {
    carry_on_from(field, known, layers, Sources::default());
}

/// [`carry_on`] from chosen cells.
pub fn carry_on_from(
    field: &mut Grid<f32>,
    mut known: VoxelMask,
    layers: usize,
    Sources { limited, openness }: Sources,
) {
    const ALL: [u64; 8] = [u64::MAX; 8];
    let topology = field.topology.clone();
    if (0..topology.len()).all(|l| *known.words(l) == ALL) {
        return;
    }
    let mut values = vec![NONE; field.values.len()];
    let leaves = values.par_chunks_mut(leaf::SIZE).zip(field.values.par_chunks(leaf::SIZE));
    leaves.enumerate().with_min_len(8).for_each(|(l, (values, field))| match known.words(l) {
        &ALL => values.copy_from_slice(field),
        words => offsets(words).for_each(|n| values[n] = field[n]),
    });
    let limits = |l: usize| limited.get(l).map_or(&[][..], |limits| &limits[..]);
    let last = usize::from(limited.iter().any(|limits| !limits.is_empty()));
    for round in 0..layers + last {
        let is_last = round == layers;
        let layer = VoxelMask::from_words(topology.clone(), |l| match known.words(l) {
            &ALL => [0; 8],
            own => {
                let around = known.grown_in(l, false);
                let asked = if is_last { words_of_offsets(limits(l)) } else { ALL };
                std::array::from_fn(|x| around[x] & !own[x] & asked[x])
            }
        });
        let leaves: Vec<usize> = (0..topology.len()).filter(|&l| *layer.words(l) != [0; 8]).collect();
        let means = |(block, open): &mut (Vec<f32>, Vec<f32>), &l: &usize| {
            halo::gather::<HALO, _>(&topology, &values, l, NONE, block);
            let mut means = means(block, layer.words(l));
            if !is_last {
                limits(l).iter().for_each(|&(n, among)| means[n] = mean_among(block, n, among));
            }
            if let Some(openness) = openness {
                halo::gather::<HALO, _>(&topology, openness, l, 0.0, open);
                let anywhere = (1 << 27) - 1;
                let mut limits = limits(l).iter().peekable();
                for n in offsets(layer.words(l)) {
                    while limits.next_if(|limit| limit.0 < n).is_some() {}
                    let limit = limits.peek().filter(|limit| limit.0 == n && !is_last);
                    let waits = round + 1 < layers;
                    let among = limit.map_or(anywhere, |limit| limit.1);
                    let along = along_normal(block, open, n, (among, limit.is_some()), waits);
                    means[n] = along.unwrap_or(means[n]);
                }
            }
            means
        };
        let means: Vec<[f32; leaf::SIZE]> =
            leaves.par_iter().with_min_len(4).map_init(Default::default, means).collect();
        for (&l, means) in leaves.iter().zip(&means) {
            let mut found = *layer.words(l);
            for n in offsets(layer.words(l)) {
                if means[n].is_nan() {
                    found[n / 64] &= !(1 << (n % 64));
                    continue;
                }
                (values[l * leaf::SIZE + n], field.values[l * leaf::SIZE + n]) = (means[n], means[n]);
            }
            known.words_mut(l).iter_mut().zip(found).for_each(|(known, new)| *known |= new);
        }
    }
}

/// The value at a leaf's voxel `n` from those cells beside its faces, `among` the 27 around it, that are more open: n·∇f = 0, n the
/// gradient of `open`, by differences towards where it grows. A cell that `has_room` of its own in the corner of a floor and a wall
/// along the axes, where openness is a product, goes on in a straight line instead, f(a) + f(b) − f(a + b): between the two, the
/// surface of a film is level. [`NONE`] where most of what it asks has no value yet and it `waits`; `None` where it asks nothing, or
/// nothing that will have one.
fn along_normal(
    block: &[f32],
    open: &[f32],
    n: usize,
    (among, has_room): (u32, bool),
    waits: bool,
) -> Option<f32> {
    const BIT: [isize; 3] = [9, 3, 1];
    let own = halo::index(HALO, leaf::local(n));
    let there = |step: [isize; 3]| -> (f32, f32) {
        let way = |with: [isize; 3]| -> isize { step.iter().zip(with).map(|(s, w)| s * w).sum() };
        let slot = own.wrapping_add_signed(way(STRIDES.map(|s| s as isize)));
        if among >> (13 + way(BIT)) & 1 == 1 { (block[slot], open[slot] - open[own]) } else { (NONE, 0.0) }
    };
    let (mut sum, mut weight, mut all) = (0.0, 0.0, 0.0);
    let mut sides: [Option<([isize; 3], f32)>; 3] = [None; 3];
    for axis in 0..3 {
        let mut best = 0.0;
        for side in [-1, 1] {
            let mut step = [0; 3];
            step[axis] = side;
            let (value, more) = there(step);
            if more <= 0.0 {
                continue;
            }
            all += more;
            if !value.is_nan() {
                sum += more * value;
                weight += more;
                if more > best {
                    (best, sides[axis]) = (more, Some((step, value)));
                }
            }
        }
    }
    if waits && 2.0 * weight < all {
        return Some(NONE);
    }
    let more_at = |step| there(step).1;
    let (mut straight, mut count) = (0.0, 0.0);
    for (i, j) in [(0, 1), (0, 2), (1, 2)] {
        let (Some((a, at_a)), Some((b, at_b))) = (sides[i], sides[j]) else { continue };
        let (beyond, more) = there(std::array::from_fn(|axis| a[axis] + b[axis]));
        // Floors and walls along the axes: what one leaves open is left open by the other, too.
        let [whole, parts] =
            [open[own] * (open[own] + more), (open[own] + more_at(a)) * (open[own] + more_at(b))];
        if has_room && !beyond.is_nan() && (whole - parts).abs() < PRODUCT * parts {
            straight += at_a + at_b - beyond;
            count += 1.0;
        }
    }
    if count > 0.0 {
        return Some(straight / count);
    }
    (weight > 0.0).then(|| sum / weight)
}

/// The set of some cells of a leaf.
fn words_of_offsets(cells: &[(usize, u32)]) -> [u64; 8] {
    let mut words = [0; 8];
    cells.iter().for_each(|&(n, _)| words[n / 64] |= 1 << (n % 64));
    words
}

/// The mean of those values around a leaf's voxel `n` that are `among` the 27 around it, weighted by 1/distance²;
/// [`NONE`] if there are none.
fn mean_among(block: &[f32], n: usize, among: u32) -> f32 {
    let [x, y, z] = leaf::local(n);
    let first = halo::index(HALO, [x - 1, y - 1, z - 1]);
    let (mut sum, mut weight) = (0.0, 0.0);
    for (k, (step, w)) in AROUND.into_iter().enumerate() {
        let bit = if k < 13 { k } else { k + 1 };
        let value = block[first + step];
        if among >> bit & 1 == 1 && !value.is_nan() {
            sum += w * value;
            weight += w;
        }
    }
    sum / weight
}

/// The means of the 26 values around the voxels of a leaf in a block, weighted by 1/distance²; values that are [`NONE`]
/// do not count. Computed a row at a time, for rows where a voxel is `wanted`.
fn means(block: &[f32], wanted: &[u64; 8]) -> [f32; leaf::SIZE] {
    let mut means = [NONE; leaf::SIZE];
    for (n, mean) in means.as_chunks_mut::<{ leaf::DIM }>().0.iter_mut().enumerate() {
        let (x, y) = (n / leaf::DIM, n % leaf::DIM);
        if wanted[x] >> (8 * y) & 0xff == 0 {
            continue;
        }
        let first = x * STRIDES[0] + y * STRIDES[1];
        let (mut sum, mut weight) = ([0.0; leaf::DIM], [0.0; leaf::DIM]);
        for (step, w) in AROUND {
            let Some(row) = block[first + step..].first_chunk::<{ leaf::DIM }>() else { continue };
            for z in 0..leaf::DIM {
                let there = !row[z].is_nan();
                sum[z] += if there { w * row[z] } else { 0.0 };
                weight[z] += if there { w } else { 0.0 };
            }
        }
        (0..leaf::DIM).for_each(|z| mean[z] = sum[z] / weight[z]);
    }
    means
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Coord, Topology};
    use std::sync::Arc;

    /// The mean of those values around that exist.
    fn plain_mean(field: &Grid<f32>, known: &VoxelMask, c: Coord) -> f32 {
        let (mut sum, mut weight) = (0.0, 0.0);
        for d in (0..27).filter(|&d| d != 13) {
            let d = Coord::new(d / 9, d / 3 % 3, d % 3) - 1;
            if field.topology.slot_of(c + d).is_some_and(|s| known.has(s)) {
                let w = 1.0 / d.length_squared() as f32;
                sum += w * field.get(c + d);
                weight += w;
            }
        }
        sum / weight
    }

    /// In the corner of a floor and a wall, a field that grows upwards goes on beyond the wall as it is beside it.
    #[test]
    fn a_level_goes_on_into_a_corner() {
        let topology = Arc::new(Topology::covering([Coord::ZERO]));
        let mut field = Grid::from_fn(topology.clone(), 0.0, |c| c.y as f32);
        // The wall lies in the middles of cells, where the floor tips the balance.
        let opens = |c: Coord| {
            let across = [1.0, 1.0, 1.0, 0.95, 0.5, 0.05, 0.0, 0.0][c.x as usize];
            across * [0.0, 0.1, 0.35, 0.9, 1.0, 1.0, 1.0, 1.0][c.y as usize]
        };
        let openness: Vec<f32> = (0..leaf::SIZE).map(|s| opens(topology.coord(s))).collect();
        let known = VoxelMask::from_fn(topology.clone(), |s| openness[s] > 0.46);
        field.values.iter_mut().enumerate().filter(|(s, _)| !known.has(*s)).for_each(|(_, v)| *v = 99.0);
        carry_on_from(&mut field, known, 3, Sources { limited: &[], openness: Some(&openness) });
        for y in 3..7 {
            for x in 4..6 {
                let found = field.get(Coord::new(x, y, 4));
                assert!((found - y as f32).abs() < 0.15, "{found} at {x} {y}");
            }
        }
        assert_eq!(field.get(Coord::new(2, 2, 4)), 3.0);
    }

    #[test]
    fn each_layer_is_the_mean_of_those_before() {
        let topology = Arc::new(Topology::covering([Coord::ZERO, Coord::X * 8, Coord::new(8, -1, 9)]));
        let key = |c: Coord| ((c.x * 7 + c.y * 13 + c.z * 29) % 17) as f32 * 0.3;
        let field = Grid::from_fn(topology.clone(), 0.0, key);
        let first = VoxelMask::from_fn(topology.clone(), |s| {
            let c = topology.coord(s);
            c.x + 2 * c.y < 5 && c.x != 3
        });
        let (mut plain, mut known) = (field.clone(), first.clone());
        for _ in 0..2 {
            let around = known.grown(false);
            let layer: Vec<usize> =
                (0..field.values.len()).filter(|&s| around.has(s) && !known.has(s)).collect();
            let before = plain.clone();
            layer.iter().for_each(|&s| plain.values[s] = plain_mean(&before, &known, topology.coord(s)));
            known = known.union(&VoxelMask::from_fn(topology.clone(), |s| layer.contains(&s)));
        }
        let mut carried = field.clone();
        carry_on(&mut carried, first, 2);
        assert_eq!(carried.values, plain.values);
        assert_ne!(carried.values, field.values);
    }
}
