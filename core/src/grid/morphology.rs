//! Sets of voxels as bit masks: dilation, union and queries.

use super::{Coord, Topology, leaf};
use glam::IVec3;
use rayon::prelude::*;
use std::sync::Arc;

/// A set of voxels: one bit each, a word per x-slab of a leaf (OpenVDB's order).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoxelMask {
    topology: Arc<Topology>,
    /// `[leaf][x]`, bit `y << 3 | z`.
    words: Vec<[u64; 8]>,
}

impl VoxelMask {
    /// The empty set on the leaves of a topology.
    pub fn new(topology: Arc<Topology>) -> Self {
        let words = vec![[0; 8]; topology.len()];
        Self { topology, words }
    }

    /// The set of the given voxels (repeats allowed), on just the leaves that hold them.
    pub fn covering(voxels: impl IntoIterator<Item = Coord> + Clone) -> Self {
        let mut mask = Self::new(Arc::new(Topology::covering(voxels.clone())));
        for v in voxels {
            mask.insert(v);
        }
        mask
    }

    /// The voxels for which `inside(slot)` holds; slot = `leaf * 512 + offset`.
    pub fn from_fn(topology: Arc<Topology>, inside: impl Fn(usize) -> bool + Sync) -> Self {
        let words = (0..topology.len())
            .into_par_iter()
            .map(|l| {
                std::array::from_fn(|x| {
                    let first = l * leaf::SIZE + x * 64;
                    (0..64).fold(0, |word, bit| word | u64::from(inside(first + bit)) << bit)
                })
            })
            .collect();
        Self { topology, words }
    }

    /// The voxels whose value in a channel, `[leaf][512]`, fulfils a condition.
    pub fn of_values<T: Copy + Sync>(
        topology: Arc<Topology>,
        values: &[T],
        inside: impl Fn(T) -> bool + Sync,
    ) -> Self {
        let leaves = values.as_chunks::<{ leaf::SIZE }>().0;
        let words = leaves.par_iter().with_min_len(16).map(|leaf| words_of(leaf, &inside)).collect();
        Self { topology, words }
    }

    /// The leaves this set lives on.
    pub fn topology(&self) -> &Arc<Topology> {
        &self.topology
    }

    /// Adds a voxel; false when its leaf is not active.
    pub fn insert(&mut self, ijk: Coord) -> bool {
        let Some(slot) = self.topology.slot_of(ijk) else { return false };
        let n = slot % leaf::SIZE;
        self.words[slot / leaf::SIZE][n / 64] |= 1 << (n % 64);
        true
    }

    /// Whether the voxel at `leaf * 512 + offset` belongs to the set.
    #[inline(always)]
    pub fn has(&self, slot: usize) -> bool {
        let n = slot % leaf::SIZE;
        self.words[slot / leaf::SIZE][n / 64] >> (n % 64) & 1 == 1
    }

    /// The set's voxels in a leaf, a bit each: word x, bit `y << 3 | z`.
    #[inline]
    pub fn words(&self, l: usize) -> &[u64; 8] {
        &self.words[l]
    }

    /// The same, to change.
    #[inline]
    pub fn words_mut(&mut self, l: usize) -> &mut [u64; 8] {
        &mut self.words[l]
    }

    /// The set whose words in leaf `l` are `words(l)`.
    pub fn from_words(topology: Arc<Topology>, words: impl Fn(usize) -> [u64; 8] + Sync + Send) -> Self {
        let words = (0..topology.len()).into_par_iter().map(words).collect();
        Self { topology, words }
    }

    /// The set with these words, `[leaf]`.
    pub fn of_words(topology: Arc<Topology>, words: Vec<[u64; 8]>) -> Self {
        assert_eq!(words.len(), topology.len());
        Self { topology, words }
    }

    /// The voxels of either set; both live on the same leaves.
    pub fn union(&self, other: &Self) -> Self {
        let both = |l: usize| std::array::from_fn(|x| self.words[l][x] | other.words[l][x]);
        Self::from_words(self.topology.clone(), both)
    }

    /// The voxels of leaf `l` from which the voxel `step` voxels on along `axis` (−2 ..= 2, not 0) is in the set;
    /// voxels of missing leaves count as in the set if `beyond`.
    #[inline]
    pub fn shifted(&self, l: usize, axis: usize, step: i32, beyond: bool) -> [u64; 8] {
        let next = match self.topology.neighbours()[l][leaf::FACE_SLOTS[2 * axis + usize::from(step > 0)]] {
            leaf::ABSENT if beyond => &[u64::MAX; 8],
            leaf::ABSENT => &[0; 8],
            m => &self.words[m as usize],
        };
        shift(&self.words[l], next, axis, step)
    }

    /// The voxels of leaf `l` that have a voxel of the set `1 ..= reach` (at most 2) steps away along an axis.
    #[inline]
    pub fn beside(&self, l: usize, reach: i32) -> [u64; 8] {
        let mut near = [0; 8];
        for axis in 0..3 {
            for n in 1..=reach {
                for step in [-n, n] {
                    let there = self.shifted(l, axis, step, false);
                    near.iter_mut().zip(there).for_each(|(near, there)| *near |= there);
                }
            }
        }
        near
    }

    /// The voxels of the set and the 26 around each, on the same leaves; voxels of missing leaves count as in the set if
    /// `beyond`.
    pub fn grown(&self, beyond: bool) -> Self {
        Self::from_words(self.topology.clone(), |l| self.grown_in(l, beyond))
    }

    /// The words of [`Self::grown`] in leaf `l`.
    pub fn grown_in(&self, l: usize, beyond: bool) -> [u64; 8] {
        const NONE: [u64; 8] = [0; 8];
        const ALL: [u64; 8] = [u64::MAX; 8];
        let around = self.topology.neighbours()[l].map(|m| match m {
            leaf::ABSENT if beyond => &ALL,
            leaf::ABSENT => &NONE,
            m => &self.words[m as usize],
        });
        if around.iter().all(|&words| *words == NONE) {
            return NONE;
        }
        // The slab x of the leaves at one displacement along x, grown along z, then y.
        let slab = |dx: usize, x: usize| {
            let column = |dy: usize| {
                let [below, own, above] = [0, 1, 2].map(|dz| around[9 * dx + 3 * dy + dz][x]);
                let (first, last) = (rows_below(1), rows_below(8) & !rows_below(7));
                own | own << 1 & !first | below >> 7 & first | own >> 1 & !last | above << 7 & last
            };
            let [below, own, above] = [column(0), column(1), column(2)];
            own | own << 8 | below >> 56 | own >> 8 | above << 56
        };
        let own: [u64; 8] = std::array::from_fn(|x| slab(1, x));
        let (before, after) = (slab(0, 7), slab(2, 0));
        std::array::from_fn(|x| {
            let below = if x == 0 { before } else { own[x - 1] };
            let above = if x == 7 { after } else { own[x + 1] };
            own[x] | below | above
        })
    }

    /// Per leaf, whether it has a voxel at most `n` steps away from the set along every axis; `None` when a leaf that is
    /// missing has one, or might have (`n` above 8).
    pub fn near_leaves(&self, n: usize) -> Option<Vec<bool>> {
        if n > leaf::DIM {
            return None;
        }
        let mut near = vec![false; self.words.len()];
        for (words, neighbours) in self.words.iter().zip(self.topology.neighbours()) {
            if *words == [0; 8] {
                continue;
            }
            for (s, &m) in neighbours.iter().enumerate() {
                let d = IVec3::from_array(leaf::displacement(s));
                match near.get_mut(m as usize) {
                    Some(near) => *near = *near || touches(words, d, n as i32),
                    None if touches(words, d, n as i32) => return None,
                    None => {}
                }
            }
        }
        Some(near)
    }

    /// Number of voxels in the set.
    pub fn count(&self) -> usize {
        self.words.iter().flatten().map(|w| w.count_ones() as usize).sum()
    }

    /// The leaves that hold a voxel at most `n` steps away from the set along every axis.
    pub fn leaves_within(&self, n: usize) -> Topology {
        let n = n as i32;
        let rings = (n + 7) / 8;
        let grown = self.topology.origins().par_iter().zip(&self.words).flat_map_iter(|(&origin, words)| {
            let span = -rings..=rings;
            span.clone()
                .flat_map(move |x| {
                    let span = span.clone();
                    span.clone().flat_map(move |y| span.clone().map(move |z| IVec3::new(x, y, z)))
                })
                .filter(move |&d| touches(words, d, n))
                .map(move |d| origin + d * leaf::DIM as i32)
        });
        Topology::new(grown.collect())
    }
}

/// The voxels of a leaf from which the voxel `step` voxels on along `axis` (−2 ..= 2, not 0) is in a set; `own` are its
/// words in the leaf, `next` those in the leaf on that side.
#[inline]
pub fn shift(own: &[u64; 8], next: &[u64; 8], axis: usize, step: i32) -> [u64; 8] {
    let n = step.unsigned_abs();
    match axis {
        0 => std::array::from_fn(|x| {
            let from = x as i32 + step;
            if from & !7 == 0 { own[from as usize] } else { next[(from & 7) as usize] }
        }),
        1 if step > 0 => std::array::from_fn(|x| own[x] >> (8 * n) | next[x] << (64 - 8 * n)),
        1 => std::array::from_fn(|x| own[x] << (8 * n) | next[x] >> (64 - 8 * n)),
        _ if step > 0 => {
            let kept = rows_below(8 - n);
            std::array::from_fn(|x| own[x] >> n & kept | next[x] << (8 - n) & !kept)
        }
        _ => {
            let new = rows_below(n);
            std::array::from_fn(|x| own[x] << n & !new | next[x] >> (8 - n) & new)
        }
    }
}

/// The bits of a word whose z is less than `n`.
const fn rows_below(n: u32) -> u64 {
    0x0101_0101_0101_0101 * ((1 << n) - 1)
}

/// A bit for each value of a leaf that fulfils a condition: word x, bit `y << 3 | z`.
#[inline(always)]
pub fn words_of<T: Copy>(values: &[T; leaf::SIZE], inside: impl Fn(T) -> bool) -> [u64; 8] {
    let mut words = [0; 8];
    for (word, slab) in words.iter_mut().zip(values.as_chunks::<64>().0) {
        // A byte each, many at once.
        let mut bytes = [0u8; 64];
        bytes.iter_mut().zip(slab).for_each(|(byte, &value)| *byte = u8::from(inside(value)));
        for (y, row) in bytes.as_chunks::<8>().0.iter().enumerate() {
            *word |= bits_of(*row) << (8 * y);
        }
    }
    words
}

/// A bit for each byte that is 1 and not 0: the product moves the lowest bits of the eight bytes into the highest.
#[inline(always)]
pub fn bits_of(bytes: [u8; 8]) -> u64 {
    u64::from_le_bytes(bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Offsets of the voxels of a leaf's words, ascending.
pub fn offsets(words: &[u64; 8]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(x, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                x * 64 + bit
            })
        })
    })
}

/// Whether a voxel of the leaf reaches, within `n` steps, the leaf displaced by `d` leaves.
fn touches(words: &[u64; 8], d: IVec3, n: i32) -> bool {
    // Local coordinates from which the displaced leaf [8d, 8d + 7] is at most n steps away.
    let reach = |d: i32| (8 * d - n).max(0)..(8 * d + 7 + n + 1).min(8);
    let row = reach(d.z).fold(0u64, |bits, z| bits | 1 << z);
    let slab = reach(d.y).fold(0u64, |bits, y| bits | row << (y * 8));
    reach(d.x).any(|x| words[x as usize] & slab != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn leaves_within_is_the_covering_of_the_dilated_voxels(
            voxels in prop::collection::vec((-20i32..20, -20i32..20, -20i32..20), 0..8), n in 0usize..12,
        ) {
            let voxels: Vec<Coord> = voxels.into_iter().map(|(x, y, z)| IVec3::new(x, y, z)).collect();
            let grown = VoxelMask::covering(voxels.iter().copied()).leaves_within(n);
            let r = n as i32;
            let box_around = |v: Coord| {
                (-r..=r).flat_map(move |x| (-r..=r).flat_map(move |y| (-r..=r).map(move |z| v + IVec3::new(x, y, z))))
            };
            let expected = Topology::covering(voxels.into_iter().flat_map(box_around));
            prop_assert_eq!(grown.origins(), expected.origins());
        }
    }

    proptest! {
        #[test]
        fn shifts_look_along_an_axis(
            voxels in prop::collection::vec((-9i32..17, -9i32..17, -9i32..17), 0..80),
            axis in 0usize..3, step in prop::sample::select(vec![-2, -1, 1, 2]), beyond in prop::bool::ANY,
        ) {
            let voxels = voxels.into_iter().map(|(x, y, z)| IVec3::new(x, y, z));
            let mask = VoxelMask::covering(voxels.collect::<Vec<_>>());
            for l in 0..mask.topology.len() {
                let words = mask.shifted(l, axis, step, beyond);
                let found: Vec<usize> = offsets(&words).collect();
                let wanted = (0..leaf::SIZE).filter(|&n| {
                    let there = mask.topology.coord(l * leaf::SIZE + n) + step * IVec3::AXES[axis];
                    mask.topology.slot_of(there).map_or(beyond, |s| mask.has(s))
                });
                prop_assert_eq!(found, wanted.collect::<Vec<_>>());
            }
        }
    }

    proptest! {
        #[test]
        fn growing_adds_the_26_around(
            voxels in prop::collection::vec((-9i32..17, -9i32..17, -9i32..17), 0..40), beyond in prop::bool::ANY,
        ) {
            let voxels = voxels.into_iter().map(|(x, y, z)| IVec3::new(x, y, z));
            let mask = VoxelMask::covering(voxels.collect::<Vec<_>>());
            let topology = mask.topology();
            let around = |s: usize| (0..27).any(|d| {
                let there = topology.coord(s) + IVec3::new(d / 9, d / 3 % 3, d % 3) - 1;
                topology.slot_of(there).map_or(beyond, |s| mask.has(s))
            });
            prop_assert_eq!(mask.grown(beyond), VoxelMask::from_fn(topology.clone(), around));
        }

        #[test]
        fn near_leaves_are_those_within_reach(
            voxels in prop::collection::vec((-9i32..17, -9i32..17, -9i32..17), 0..8), n in 0usize..10,
            rings in 0usize..2,
        ) {
            let voxels: Vec<Coord> = voxels.into_iter().map(|(x, y, z)| IVec3::new(x, y, z)).collect();
            let topology = Arc::new(Topology::covering(voxels.iter().copied()).dilated(rings));
            let mut mask = VoxelMask::new(topology.clone());
            voxels.iter().for_each(|&v| assert!(mask.insert(v)));
            let within = mask.leaves_within(n);
            let none_missing = within.origins().iter().all(|&o| topology.leaf_of(o).is_some());
            let wanted = || topology.origins().iter().map(|&o| within.leaf_of(o).is_some()).collect();
            prop_assert_eq!(mask.near_leaves(n), (none_missing && n <= 8).then(wanted));
        }

        #[test]
        fn values_become_bits(values in prop::collection::vec(-1f32..1.0, leaf::SIZE)) {
            let topology = Arc::new(Topology::new(vec![Coord::ZERO]));
            let mask = VoxelMask::of_values(topology.clone(), &values, |v| v < 0.0);
            prop_assert_eq!(mask, VoxelMask::from_fn(topology, |s| values[s] < 0.0));
        }
    }

    #[test]
    fn sets_remember_their_voxels() {
        let mask = VoxelMask::covering([IVec3::new(0, 0, 0), IVec3::new(9, -3, 5), IVec3::new(0, 0, 0)]);
        assert_eq!(mask.count(), 2);
        let slot = mask.topology().slot_of(IVec3::new(9, -3, 5));
        assert!(slot.is_some_and(|s| mask.has(s)));
        let again = VoxelMask::from_fn(mask.topology().clone(), |s| mask.has(s));
        assert_eq!(again, mask);
    }
}
