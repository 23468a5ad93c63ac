//! A u = M u + Bᵀ k B u, leaf by leaf and without a matrix: B takes velocity to strain.

use crate::grid::block::{self as blocks, SIZE, STRIDE};
use crate::grid::{Topology, leaf};
use rayon::prelude::*;
use std::sync::Arc;

/// Faces of a leaf: `[axis][512]`.
pub(super) const FACES: usize = 3 * leaf::SIZE;
/// First channels of stiffness per voxel: its cell, then its lower edges along x, y, z.
pub(super) const CELL: usize = 0;
pub(super) const EDGE: usize = 1;
/// Channels of a lattice without walls. With walls, two factors per edge follow.
pub(super) const FACTOR: usize = 4;

/// Masses below this, kg/m³, are no liquid's: a face with less is no unknown.
const NOTHING: f64 = 1e-30;

/// The two axes across an edge along `c`; the first factor of the edge belongs to Δ_b u_a, the second to Δ_a u_b.
#[inline(always)]
pub(super) const fn across(c: usize) -> (usize, usize) {
    ((c + 1) % 3, (c + 2) % 3)
}

/// Stiffness of a leaf and the voxels around it, blocks of [`SIZE`].
pub(super) struct Stiffness {
    pub(super) cell: [f32; SIZE],
    pub(super) edge: [[f32; SIZE]; 3],
    /// Factors at walls; `None` where all are 1.
    pub(super) factor: Option<Box<[[[f32; SIZE]; 2]; 3]>>,
}

/// A on leaves.
pub(super) struct Operator {
    pub(super) topology: Arc<Topology>,
    /// Neighbour table for channels `[leaf][3][512]`.
    pub(super) around: Vec<[u32; leaf::NEIGHBOURS]>,
    /// m_f, kg/m³, `[leaf][3][512]`.
    pub(super) mass: Vec<f32>,
    /// Per leaf.
    pub(super) stiffness: Vec<Stiffness>,
    /// 1 / A_ff; 0 where a face is no unknown, `[leaf][3][512]`.
    pub(super) inverse_diagonal: Vec<f32>,
    /// Leaves with unknowns.
    pub(super) active: Vec<bool>,
}

/// The number type of velocities: f64, or f32 in a preconditioner, which needs no more.
pub(super) trait Real:
    Copy
    + Default
    + Send
    + Sync
    + From<f32>
    + Into<f64>
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::AddAssign
{
}

impl Real for f32 {}
impl Real for f64 {}

/// Values on a leaf and its shell, one block a component.
type Blocks<T> = [[T; SIZE]; 3];

/// Voxels of a block from which every neighbour one step down, and then up, lies in the block too.
const SWEEP: std::ops::Range<usize> = STRIDE[0] + STRIDE[1]..SIZE - STRIDE[0] - STRIDE[1];

/// Voxels of a block from which every neighbour one step down lies in it.
const SHEAR: std::ops::Range<usize> = STRIDE[0]..SIZE;

impl Operator {
    /// Builds the operator from the masses of faces and `per_leaf` channels of stiffness per leaf,
    /// `[leaf][per_leaf][512]`: cells, edges, and factors if there are walls. Closed faces are no unknowns.
    pub(super) fn new(
        topology: Arc<Topology>,
        mass: Vec<f32>,
        channels: &[f32],
        per_leaf: usize,
        closed: &[bool],
    ) -> Self {
        let leaves = (0..topology.len()).into_par_iter();
        let stiffness = leaves.map(|l| Stiffness::gather(&topology, channels, per_leaf, l)).collect();
        let around = topology.neighbours().iter().map(|row| times(row, 3)).collect();
        let mut operator =
            Self { topology, around, mass, stiffness, inverse_diagonal: Vec::new(), active: Vec::new() };
        operator.inverse_diagonal = operator.diagonal(closed);
        let unknowns = operator.inverse_diagonal.chunks_exact(FACES);
        operator.active = unknowns.map(|leaf| leaf.iter().any(|&d| d > 0.0)).collect();
        operator
    }

    /// Faces that are solved for.
    pub(super) fn unknowns(&self) -> usize {
        self.inverse_diagonal.par_iter().filter(|&&d| d > 0.0).count()
    }

    /// 1 / A_ff of the faces that are unknowns: no walls, and with mass or stress.
    fn diagonal(&self, closed: &[bool]) -> Vec<f32> {
        let mut inverse = vec![0f32; self.mass.len()];
        inverse.par_chunks_mut(FACES).enumerate().for_each(|(l, inverse)| {
            let stiffness = &self.stiffness[l];
            for (f, inverse) in inverse.iter_mut().enumerate() {
                let slot = l * FACES + f;
                let sum = f64::from(self.mass[slot]) + stiffness.of_face(f, |_, k| k);
                *inverse = if !closed[slot] && sum > NOTHING { (1.0 / sum) as f32 } else { 0.0 };
            }
        });
        inverse
    }

    /// Writes A u of leaf `l` to `out`, 0 on faces that are no unknowns; returns the leaf's part of uᵀ A u.
    /// `u`, `[leaf][3][512]`, is 0 on those faces.
    pub(super) fn apply<T: Real>(&self, l: usize, u: &[T], out: &mut [T]) -> f64 {
        if !self.active[l] {
            out.fill(T::default());
            return 0.0;
        }
        let mut velocity: Blocks<T> = [[T::default(); SIZE]; 3];
        for (axis, block) in velocity.iter_mut().enumerate() {
            blocks::load(block, &u[axis * leaf::SIZE..], &self.around[l], T::default());
        }
        let force = match &self.stiffness[l] {
            plain @ Stiffness { factor: None, .. } => stress_force::<false, T>(plain, &velocity),
            at_walls => stress_force::<true, T>(at_walls, &velocity),
        };
        let here = l * FACES..(l + 1) * FACES;
        let (mass, inverse, u) =
            (&self.mass[here.clone()], &self.inverse_diagonal[here.clone()], &u[here.clone()]);
        let mut sum = 0.0;
        for row in 0..FACES / leaf::DIM {
            let [x, y, _] = leaf::local(row * leaf::DIM % leaf::SIZE);
            let first = blocks::index(x, y, 0);
            let force = &force[row * leaf::DIM / leaf::SIZE][first..first + leaf::DIM];
            for z in 0..leaf::DIM {
                let n = row * leaf::DIM + z;
                out[n] = if inverse[n] > 0.0 { T::from(mass[n]) * u[n] + force[z] } else { T::default() };
                sum += u[n].into() * out[n].into();
            }
        }
        sum
    }
}

/// Bᵀ k B u of a block; valid on the leaf itself, undefined on its shell.
fn stress_force<const WALLS: bool, T: Real>(stiffness: &Stiffness, u: &Blocks<T>) -> Blocks<T> {
    let mut force: Blocks<T> = [[T::default(); SIZE]; 3];
    let mut stress = [T::default(); SIZE];
    for a in 0..3 {
        let s = STRIDE[a];
        let differences = u[a].iter().zip(&u[a][s..]).map(|(&low, &high)| high - low);
        for ((stress, k), difference) in stress.iter_mut().zip(&stiffness.cell).zip(differences) {
            *stress = T::from(*k) * difference;
        }
        let (below, own) = (&stress[SWEEP.start - s..], &stress[SWEEP]);
        for ((force, below), own) in force[a][SWEEP].iter_mut().zip(below).zip(own) {
            *force += *below - *own;
        }
    }
    for c in 0..3 {
        let (a, b) = across(c);
        let (k, sa, sb) = (&stiffness.edge[c][SHEAR], STRIDE[a], STRIDE[b]);
        let factors = stiffness.factor.as_ref().filter(|_| WALLS).map(|f| &f[c]);
        let difference = |axis: usize, step: usize| {
            u[axis][SHEAR].iter().zip(&u[axis][SHEAR.start - step..]).map(|(&high, &low)| high - low)
        };
        let strains = difference(a, sb).zip(difference(b, sa));
        let out = stress[SHEAR].iter_mut().zip(k).zip(strains);
        match factors {
            Some([s, t]) => {
                for (((stress, k), (p, q)), (s, t)) in out.zip(s[SHEAR].iter().zip(&t[SHEAR])) {
                    *stress = T::from(*k) * (T::from(*s) * p + T::from(*t) * q);
                }
            }
            None => out.for_each(|((stress, k), (p, q))| *stress = T::from(*k) * (p + q)),
        }
        for (axis, step, half) in [(a, sb, 0), (b, sa, 1)] {
            let (own, above) = (&stress[SWEEP], &stress[SWEEP.start + step..]);
            let out = force[axis][SWEEP].iter_mut().zip(own.iter().zip(above));
            match factors {
                Some(f) => {
                    let (s, t) = (&f[half][SWEEP], &f[half][SWEEP.start + step..]);
                    for ((force, (own, above)), (s, t)) in out.zip(s.iter().zip(t)) {
                        *force += T::from(*s) * *own - T::from(*t) * *above;
                    }
                }
                None => out.for_each(|(force, (own, above))| *force += *own - *above),
            }
        }
    }
    force
}

/// A row of the neighbour table for `channels` channels a leaf.
pub(super) fn times(row: &[u32; leaf::NEIGHBOURS], channels: u32) -> [u32; leaf::NEIGHBOURS] {
    row.map(|m| if m == leaf::ABSENT { m } else { channels * m })
}

/// Which stiffness: of the cell (0) or of the edge along an axis (1 + axis).
pub(super) type Channel = usize;

impl Stiffness {
    fn gather(topology: &Topology, channels: &[f32], per_leaf: usize, l: usize) -> Self {
        let neighbours = times(&topology.neighbours()[l], per_leaf as u32);
        let load = |channel: usize, background: f32| {
            let mut block = [0f32; SIZE];
            blocks::load(&mut block, &channels[channel * leaf::SIZE..], &neighbours, background);
            block
        };
        let with_factors = || [0, 1, 2].map(|c| [0, 1].map(|half| load(FACTOR + 2 * c + half, 1.0)));
        let factor = (per_leaf > FACTOR).then(with_factors);
        let walls = |f: &[[[f32; SIZE]; 2]; 3]| f.as_flattened().as_flattened().iter().any(|&s| s != 1.0);
        Self {
            cell: load(CELL, 0.0),
            edge: [0, 1, 2].map(|c| load(EDGE + c, 0.0)),
            factor: factor.filter(walls).map(Box::new),
        }
    }

    /// Σ k s² of the cells and edges on whose strain face `f` of the leaf acts; `part` says how much of each counts,
    /// given its channel, its place in the block and k.
    pub(super) fn of_face(&self, f: usize, part: impl Fn((Channel, usize), f32) -> f32) -> f64 {
        let (a, [x, y, z]) = (f / leaf::SIZE, leaf::local(f % leaf::SIZE));
        let i = blocks::index(x, y, z);
        let mut sum = 0.0;
        for i in [i - STRIDE[a], i] {
            sum += f64::from(part((CELL, i), self.cell[i]));
        }
        for c in (0..3).filter(|&c| c != a) {
            let (first, second) = across(c);
            let (half, b) = if a == first { (0, second) } else { (1, first) };
            for i in [i, i + STRIDE[b]] {
                let s = self.factor.as_ref().map_or(1.0, |f| f64::from(f[c][half][i]));
                sum += f64::from(part((EDGE + c, i), self.edge[c][i])) * s * s;
            }
        }
        sum
    }
}
