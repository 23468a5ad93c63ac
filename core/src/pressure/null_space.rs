//! The null space of a pressure system: one constant per set of unknowns without a connection to a known pressure.
//! Examples are a closed tank full of liquid, a pocket behind a lid, the liquid and the bubbles of a bottle.
//!
//! Sets of unknowns joined by open faces are found by union-find; a set that touches no [`FIXED`] cell and
//! holds no compliance is singular, unless an attached mass resists its constant: the null space is then the
//! kernel of Nᵀ Cᵀ Z, Z the indicators of the singular sets, N the motions that the masses' constraints allow. (A piston
//! between two closed volumes leaves one constant of two.) `joined.rs` says what counts as a change of a set.
//!
//! [`FIXED`]: super::FIXED

use super::assemble::ActiveLeaves;
use super::attached::orthonormal;
use super::joined::{Outflow, changes};
use super::system::{CELL, PressureSystem, Unknowns};
use crate::grid::leaf;
use crate::union_find::DisjointSets;
use meniscus_kernels::checkerboard;
use meniscus_kernels::memory;
use meniscus_kernels::multigrid::{GRAIN, Level, ZERO};
use rayon::prelude::*;

/// Marks unknowns that belong to no singular set.
const REGULAR: u32 = u32::MAX;

/// The null space of one system.
#[derive(Clone, Debug, Default)]
pub(super) struct NullSpace {
    /// Per active leaf, the singular set of each of its local components.
    sets: Vec<Vec<u32>>,
    /// `[active leaf][512]` local component of each unknown cell.
    local: Vec<u16>,
    /// Singular set of each super-cell.
    super_sets: Vec<u32>,
    /// Unknowns in each singular set.
    sizes: Vec<f64>,
    /// Combinations of the sets' constants that attached masses resist, orthonormal as vectors: (set, value) lists.
    held: Vec<Vec<(u32, f64)>>,
}

impl NullSpace {
    /// Finds the null space of a system whose finest level is given.
    pub fn find(system: &PressureSystem, active: &ActiveLeaves, level: &Level) -> Self {
        let mut local = vec![0u16; active.leaves.len() * leaf::SIZE];
        let counts: Vec<usize> = local
            .par_chunks_mut(leaf::SIZE)
            .zip(&active.leaves)
            .map(|(local, &l)| label_leaf(system, l as usize, local))
            .collect();
        let mut base = vec![0u32];
        for n in &counts {
            base.push(base[base.len() - 1] + *n as u32);
        }
        let nodes = base[counts.len()];
        let mut forest = DisjointSets::new(nodes as usize + system.super_cells.len());
        for (a, b) in joints(system, active, &local, &base).into_iter().flatten() {
            forest.union(a as usize, b as usize);
        }
        let grounded = ground(level, &local, &base, &mut forest);
        let mut out = Self { local, ..Self::default() };
        out.number_sets(&mut forest, &grounded, &base);
        if !out.is_empty() {
            out.measure(active, system);
            out.tie(system, active);
        }
        out
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        let sets = memory::of_nested(&self.sets) + memory::of(&self.super_sets) + memory::of(&self.sizes);
        sets + memory::of(&self.local) + memory::of_nested(&self.held)
    }

    /// True when no constant is left in the null space.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Dimension of the null space.
    pub fn dimension(&self) -> usize {
        self.sizes.len() - self.held.len()
    }

    fn number_sets(&mut self, forest: &mut DisjointSets, grounded: &[bool], base: &[u32]) {
        let nodes = base[base.len() - 1];
        let mut set_of_root = vec![REGULAR; forest.len()];
        let mut set = |forest: &mut DisjointSets, node: u32| {
            let root = forest.find(node as usize);
            if grounded[root] {
                return REGULAR;
            }
            if set_of_root[root] == REGULAR {
                set_of_root[root] = self.sizes.len() as u32;
                self.sizes.push(0.0);
            }
            set_of_root[root]
        };
        self.sets = base.windows(2).map(|w| (w[0]..w[1]).map(|node| set(forest, node)).collect()).collect();
        self.super_sets = (nodes..forest.len() as u32).map(|node| set(forest, node)).collect();
    }

    fn measure(&mut self, active: &ActiveLeaves, system: &PressureSystem) {
        let ones = Unknowns {
            cells: system.label.par_iter().map(|&l| if l == CELL { 1.0 } else { 0.0 }).collect(),
            supers: vec![1.0; system.super_cells.len()],
        };
        self.sizes = self.sums(active, &ones);
    }

    /// Set of an unknown cell at position `slot` of the system's topology.
    fn set_of(&self, active: &ActiveLeaves, slot: usize) -> u32 {
        let l = active.number[slot / leaf::SIZE] as usize;
        self.sets[l][self.local[l * leaf::SIZE + slot % leaf::SIZE] as usize]
    }

    /// Σ v over each singular set.
    fn sums(&self, active: &ActiveLeaves, v: &Unknowns) -> Vec<f64> {
        let per_leaf: Vec<Vec<f64>> = (0..active.leaves.len())
            .into_par_iter()
            .with_min_len(GRAIN)
            .map(|l| {
                let mut sums = vec![0.0; self.sets[l].len()];
                if self.sets[l].iter().any(|&s| s != REGULAR) {
                    let values = &v.cells[active.leaves[l] as usize * leaf::SIZE..][..leaf::SIZE];
                    for (v, &c) in values.iter().zip(&self.local[l * leaf::SIZE..]) {
                        if let Some(sum) = sums.get_mut(c as usize) {
                            *sum += v;
                        }
                    }
                }
                sums
            })
            .collect();
        let mut out = vec![0.0; self.sizes.len()];
        let cells = self.sets.iter().flatten().zip(per_leaf.iter().flatten());
        let supers = self.super_sets.iter().zip(&v.supers);
        for (&set, sum) in cells.chain(supers).filter(|&(&set, _)| set != REGULAR) {
            out[set as usize] += sum;
        }
        out
    }

    /// What to subtract from each singular set so that v has no component in the null space.
    pub fn shifts(&self, active: &ActiveLeaves, v: &Unknowns) -> Vec<f64> {
        let sums = self.sums(active, v);
        let mut shifts: Vec<f64> = sums.iter().zip(&self.sizes).map(|(sum, size)| sum / size).collect();
        for vector in &self.held {
            let along: f64 = vector.iter().map(|&(k, a)| a * sums[k as usize]).sum();
            for &(k, a) in vector {
                shifts[k as usize] -= along * a;
            }
        }
        shifts
    }

    /// ‖v − Π v‖₂ for shifts of v.
    pub fn norm(&self, shifts: &[f64]) -> f64 {
        shifts.iter().zip(&self.sizes).map(|(s, n)| s * s * n).sum::<f64>().sqrt()
    }

    /// Shift of a super-cell.
    pub fn shift_super(&self, b: usize, shifts: &[f64]) -> f64 {
        shifts.get(self.super_sets[b] as usize).copied().unwrap_or(0.0)
    }

    /// Subtracts the shifts from the values (leaf order) of an active leaf; cells that are no unknowns keep
    /// theirs.
    pub fn subtract(&self, l: usize, shifts: &[f64], values: &mut [f64]) {
        if self.sets[l].iter().any(|&s| s != REGULAR) {
            for (v, &c) in values.iter_mut().zip(&self.local[l * leaf::SIZE..]) {
                let set = self.sets[l].get(c as usize).copied().unwrap_or(REGULAR);
                if set != REGULAR {
                    *v -= shifts[set as usize];
                }
            }
        }
    }

    /// Removes from the null space the constants that attached masses resist.
    fn tie(&mut self, system: &PressureSystem, active: &ActiveLeaves) {
        let pulls = system.attached.iter().map(|mass| {
            let columns = mass.columns().iter().map(|c| self.pull(active, c));
            (mass, columns.collect::<Vec<Pull>>())
        });
        let pulls: Vec<_> = pulls.collect();
        let mut touched: Vec<u32> =
            pulls.iter().flat_map(|(_, p)| p).flat_map(|p| &p.sets).map(|e| e.0).collect();
        touched.sort_unstable();
        touched.dedup();
        let sum = |parts: &mut dyn Iterator<Item = (f64, &Pull)>| -> Outflow {
            let mut out = (vec![0.0; touched.len()], 0.0);
            for (v, pull) in parts {
                pull.sets.iter().for_each(|&(set, net)| {
                    out.0[touched.partition_point(|&t| t < set)] += v * net;
                });
                out.1 += v.abs() * pull.moved;
            }
            out
        };
        let outflows = pulls.iter().flat_map(|(mass, pulls)| match mass.motions() {
            None => pulls.iter().map(|pull| sum(&mut [(1.0, pull)].into_iter())).collect::<Vec<Outflow>>(),
            Some(motions) => {
                motions.iter().map(|motion| sum(&mut motion.iter().copied().zip(pulls))).collect()
            }
        });
        let rows = changes(outflows);
        // The same changes, orthonormal as vectors of unknowns.
        let scale: Vec<f64> = touched.iter().map(|&t| self.sizes[t as usize].sqrt()).collect();
        let wide = rows.into_iter().map(|row| row.iter().zip(&scale).map(|(v, scale)| v / scale).collect());
        for q in orthonormal(wide.collect()) {
            let entries = q.iter().zip(&scale).zip(&touched).filter(|((q, _), _)| **q != 0.0);
            self.held.push(entries.map(|((q, scale), &set)| (set, q / scale)).collect());
        }
    }

    /// cᵀ Z: how much a column changes the volume of each singular set.
    fn pull(&self, active: &ActiveLeaves, column: &super::attached::Column) -> Pull {
        let cells = column.cells.iter().map(|&(s, w)| (self.set_of(active, s as usize), w));
        let supers = column.supers.iter().map(|&(b, w)| (self.super_sets[b as usize], w));
        let mut sets: Vec<(u32, f64)> = cells.chain(supers).collect();
        let moved = sets.iter().map(|e| e.1.abs()).sum::<f64>().max(column.moved);
        sets.retain(|e| e.0 != REGULAR);
        sets.sort_by_key(|e| e.0);
        sets.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
        Pull { sets, moved }
    }
}

/// What a degree of freedom moves.
struct Pull {
    /// (set, net outflow into it), by set.
    sets: Vec<(u32, f64)>,
    /// The absolute values of all entries, or of what they are sums of.
    moved: f64,
}

/// True when all 512 cells are unknowns and every face between them is open.
fn is_one_body(labels: &[i32], faces: [&[f32]; 3]) -> bool {
    let open = |faces: &[f32]| faces.iter().fold(true, |open, &f| open & (f > 0.0));
    labels.iter().fold(true, |all, &l| all & (l == CELL))
        && open(&faces[0][leaf::STRIDE[0]..])
        && faces[1].chunks(leaf::STRIDE[0]).all(|plane| open(&plane[leaf::STRIDE[1]..]))
        && faces[2].chunks(leaf::DIM).all(|row| open(&row[1..]))
}

/// Numbers the components of unknown cells inside one leaf (u16::MAX elsewhere); returns how many.
fn label_leaf(system: &PressureSystem, l: usize, local: &mut [u16]) -> usize {
    let here = l * leaf::SIZE..(l + 1) * leaf::SIZE;
    let labels = &system.label[here.clone()];
    let faces = system.face.each_ref().map(|f| &f[here.clone()]);
    if is_one_body(labels, faces) {
        local.fill(0);
        return 1;
    }
    let mut root: [u16; leaf::SIZE] = std::array::from_fn(|n| n as u16);
    // joined[axis] of the voxel before in the z-row.
    let mut before = [false; 3];
    for n in 0..leaf::SIZE {
        let mut joined = [false; 3];
        for axis in [2, 1, 0] {
            let stride = leaf::STRIDE[axis];
            joined[axis] = (n / stride) & 7 > 0
                && faces[axis][n] > 0.0
                && labels[n] == CELL
                && labels[n - stride] == CELL;
            // If the pair before this one along z is joined, and both cells are connected to that pair, joining adds
            // nothing.
            let known = axis != 2
                && joined[2]
                && before[axis]
                && faces[2][n - stride] > 0.0
                && labels[n - 1 - stride] == CELL;
            if joined[axis] && !known {
                let (a, b) = (find(&mut root, n), find(&mut root, n - stride));
                root[a.max(b)] = a.min(b) as u16;
            }
        }
        before = joined;
    }
    let mut count = 0;
    for n in 0..leaf::SIZE {
        local[n] = if labels[n] != CELL {
            u16::MAX
        } else if root[n] as usize == n {
            count += 1;
            count as u16 - 1
        } else {
            local[find(&mut root, n)]
        };
    }
    count
}

/// The first cell of the set that holds cell `n`. [`DisjointSets`] would allocate for every leaf, and be twice as wide.
fn find(root: &mut [u16; leaf::SIZE], mut n: usize) -> usize {
    while root[n] as usize != n {
        root[n] = root[root[n] as usize];
        n = root[n] as usize;
    }
    n
}

/// Per leaf, the components it joins with those of its lower neighbours.
fn joints(
    system: &PressureSystem,
    active: &ActiveLeaves,
    local: &[u16],
    base: &[u32],
) -> Vec<Vec<(u32, u32)>> {
    let of_leaf = |(i, &l): (usize, &u32)| {
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for axis in 0..3 {
            let below = system.topology.neighbours()[l as usize][leaf::FACE_SLOTS[2 * axis]];
            let below =
                if below == leaf::ABSENT { usize::MAX } else { active.number[below as usize] as usize };
            if below >= active.leaves.len() {
                continue;
            }
            let stride = leaf::STRIDE[axis];
            let wrap = (leaf::DIM - 1) * stride;
            for n in (0..leaf::SIZE).filter(|n| (n / stride) & 7 == 0) {
                let (a, b) = (local[i * leaf::SIZE + n], local[below * leaf::SIZE + n + wrap]);
                let open = system.face[axis][l as usize * leaf::SIZE + n] > 0.0;
                if open && a != u16::MAX && b != u16::MAX {
                    let pair = (base[i] + a as u32, base[below] + b as u32);
                    if pairs.last() != Some(&pair) {
                        pairs.push(pair);
                    }
                }
            }
        }
        pairs
    };
    active.leaves.par_iter().enumerate().with_min_len(GRAIN).map(of_leaf).collect()
}

/// Joins super-cells to the components they touch; returns which roots are tied to a known pressure.
fn ground(level: &Level, local: &[u16], base: &[u32], forest: &mut DisjointSets) -> Vec<bool> {
    let nodes = base[base.len() - 1];
    let mut touched = Vec::new();
    for group in &level.contacts.groups {
        let mut last = u32::MAX;
        for c in level.contacts.of(group) {
            let (row, lane) = c.at();
            let n = checkerboard::offset(c.colour as usize, row, lane);
            let node = base[group.leaf as usize] + local[group.leaf as usize * leaf::SIZE + n] as u32;
            if node != last {
                last = node;
                if group.target == ZERO {
                    touched.push(node)
                } else {
                    forest.union(node as usize, (nodes + group.target) as usize)
                }
            }
        }
    }
    for &(a, b, _) in &level.supers.pairs {
        forest.union((nodes + a) as usize, (nodes + b) as usize);
    }
    let supers = &level.supers;
    let tied = (0..level.super_count()).filter(|&b| supers.compliance[b] + supers.fixed[b] > 0.0);
    touched.extend(tied.map(|b| nodes + b as u32));
    let mut grounded = vec![false; forest.len()];
    for node in touched {
        grounded[forest.find(node as usize)] = true;
    }
    grounded
}
