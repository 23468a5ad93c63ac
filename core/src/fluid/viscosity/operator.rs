//! A u = M u + Bᵀ k B u, leaf by leaf and without a matrix: B takes velocity to strain.

use super::stencil::{FACES, Stiffness, System, across};
use crate::fluid::halo::{self as blocks, SIZE, STRIDE};
use crate::grid::leaf;

/// Values on a leaf and its shell, one block a component.
type Blocks = [[f64; SIZE]; 3];

/// Voxels of a block from which every neighbour one step down, and then up, lies in the block too.
const SWEEP: std::ops::Range<usize> = STRIDE[0] + STRIDE[1]..SIZE - STRIDE[0] - STRIDE[1];

/// Voxels of a block from which every neighbour one step down lies in it.
const SHEAR: std::ops::Range<usize> = STRIDE[0]..SIZE;

impl System {
    /// Writes A u of leaf `l` to `out`, 0 on faces that are no unknowns; returns the leaf's part of uᵀ A u.
    /// `u`, `[leaf][3][512]`, is 0 on those faces.
    pub(super) fn apply(&self, l: usize, u: &[f64], out: &mut [f64]) -> f64 {
        if !self.inverse_diagonal[l * FACES..][..FACES].iter().any(|&d| d > 0.0) {
            out.fill(0.0);
            return 0.0;
        }
        let mut velocity: Blocks = [[0.0; SIZE]; 3];
        for (axis, block) in velocity.iter_mut().enumerate() {
            blocks::load(block, &u[axis * leaf::SIZE..], &self.around[l], 0.0);
        }
        let force = match &self.stiffness[l] {
            plain @ Stiffness { factor: None, .. } => stress_force::<false>(plain, &velocity),
            at_walls => stress_force::<true>(at_walls, &velocity),
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
                out[n] = if inverse[n] > 0.0 { f64::from(mass[n]) * u[n] + force[z] } else { 0.0 };
                sum += u[n] * out[n];
            }
        }
        sum
    }
}

/// Bᵀ k B u of a block; right on the leaf itself, anything on its shell.
fn stress_force<const WALLS: bool>(stiffness: &Stiffness, u: &Blocks) -> Blocks {
    let mut force: Blocks = [[0.0; SIZE]; 3];
    let mut stress = [0.0; SIZE];
    for a in 0..3 {
        let s = STRIDE[a];
        let differences = u[a].iter().zip(&u[a][s..]).map(|(low, high)| high - low);
        for ((stress, k), difference) in stress.iter_mut().zip(&stiffness.cell).zip(differences) {
            *stress = f64::from(*k) * difference;
        }
        let (below, own) = (&stress[SWEEP.start - s..], &stress[SWEEP]);
        for ((force, below), own) in force[a][SWEEP].iter_mut().zip(below).zip(own) {
            *force += below - own;
        }
    }
    for c in 0..3 {
        let (a, b) = across(c);
        let (k, sa, sb) = (&stiffness.edge[c][SHEAR], STRIDE[a], STRIDE[b]);
        let factors = stiffness.factor.as_ref().filter(|_| WALLS).map(|f| &f[c]);
        let difference = |axis: usize, step: usize| {
            u[axis][SHEAR].iter().zip(&u[axis][SHEAR.start - step..]).map(|(high, low)| high - low)
        };
        let strains = difference(a, sb).zip(difference(b, sa));
        let out = stress[SHEAR].iter_mut().zip(k).zip(strains);
        match factors {
            Some([s, t]) => {
                for (((stress, k), (p, q)), (s, t)) in out.zip(s[SHEAR].iter().zip(&t[SHEAR])) {
                    *stress = f64::from(*k) * (f64::from(*s) * p + f64::from(*t) * q);
                }
            }
            None => out.for_each(|((stress, k), (p, q))| *stress = f64::from(*k) * (p + q)),
        }
        for (axis, step, half) in [(a, sb, 0), (b, sa, 1)] {
            let (own, above) = (&stress[SWEEP], &stress[SWEEP.start + step..]);
            let out = force[axis][SWEEP].iter_mut().zip(own.iter().zip(above));
            match factors {
                Some(f) => {
                    let (s, t) = (&f[half][SWEEP], &f[half][SWEEP.start + step..]);
                    for ((force, (own, above)), (s, t)) in out.zip(s.iter().zip(t)) {
                        *force += f64::from(*s) * own - f64::from(*t) * above;
                    }
                }
                None => out.for_each(|(force, (own, above))| *force += own - above),
            }
        }
    }
    force
}
