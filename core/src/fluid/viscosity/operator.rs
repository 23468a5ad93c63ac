//! A u = M u + Bᵀ k B u, leaf by leaf and without a matrix: B takes velocity to strain.

use super::stencil::{FACES, Stiffness, System, across};
use crate::fluid::halo::{self as blocks, SIZE, STRIDE};
use crate::grid::leaf;

/// Values on a leaf and its shell, one block a component.
type Blocks = [[f64; SIZE]; 3];

/// Voxels of a block from which every neighbour one step down, and then up, lies in the block too.
const SWEEP: std::ops::Range<usize> = STRIDE[0] + STRIDE[1]..SIZE - STRIDE[0] - STRIDE[1];

impl System {
    /// Writes A u of leaf `l` to `out`, 0 on faces that are no unknowns; returns the leaf's part of uᵀ A u.
    /// `u`, `[leaf][3][512]`, is 0 on those faces.
    pub(super) fn apply(&self, l: usize, u: &[f64], out: &mut [f64]) -> f64 {
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
        let (k, u, force) = (&stiffness.cell, &u[a], &mut force[a]);
        let s = STRIDE[a];
        for i in 0..SIZE - s {
            stress[i] = f64::from(k[i]) * (u[i + s] - u[i]);
        }
        for i in SWEEP {
            force[i] += stress[i - s] - stress[i];
        }
    }
    for c in 0..3 {
        let (a, b) = across(c);
        let (k, sa, sb) = (&stiffness.edge[c], STRIDE[a], STRIDE[b]);
        let factors = stiffness.factor.as_ref().filter(|_| WALLS).map(|f| &f[c]);
        for i in sa.max(sb)..SIZE {
            let (across_b, across_a) = (u[a][i] - u[a][i - sb], u[b][i] - u[b][i - sa]);
            let strain = match factors {
                Some([s, t]) => f64::from(s[i]) * across_b + f64::from(t[i]) * across_a,
                None => across_b + across_a,
            };
            stress[i] = f64::from(k[i]) * strain;
        }
        for (axis, step, half) in [(a, sb, 0), (b, sa, 1)] {
            let force = &mut force[axis];
            match factors {
                Some(f) => {
                    let s = &f[half];
                    for i in SWEEP {
                        force[i] += f64::from(s[i]) * stress[i] - f64::from(s[i + step]) * stress[i + step];
                    }
                }
                None => {
                    for i in SWEEP {
                        force[i] += stress[i] - stress[i + step];
                    }
                }
            }
        }
    }
    force
}
