//! The mass matrix of a tree.

use super::spatial::{Force, Motion, momentum, moved, together};
use super::tree::Tree;
use nalgebra::DMatrix;

/// M(q), so that ½ vᵀ M v is the kinetic energy: of each degree of freedom, the momentum that it gives to all that its link
/// carries, felt by the degrees of freedom on the way to the ground. The composite-rigid-body algorithm
/// [Featherstone 2008, table 6.2].
pub fn mass_matrix(tree: &Tree, q: &[f64]) -> DMatrix<f64> {
    let links = tree.links();
    let placed: Vec<_> = (0..links.len()).map(|n| tree.placed(n, q)).collect();
    let mut carried: Vec<_> = links.iter().map(|link| link.mass).collect();
    for n in (0..links.len()).rev() {
        if let Some(parent) = links[n].parent {
            carried[parent] = together(&carried[parent], &moved(&carried[n], &placed[n]));
        }
    }
    let axes = |n: usize| -> Vec<Motion> {
        let own = &q[tree.coordinates_of(n)];
        (0..links[n].joint.freedoms()).map(|f| links[n].joint.axis(f, own)).collect()
    };
    let axes: Vec<Vec<Motion>> = (0..links.len()).map(axes).collect();
    let mut mass = DMatrix::zeros(tree.freedoms(), tree.freedoms());
    for n in 0..links.len() {
        for (f, axis) in axes[n].iter().enumerate() {
            let column = tree.freedoms_of(n).start + f;
            let mut felt: Force = momentum(&carried[n], *axis);
            let mut at = n;
            loop {
                for (g, other) in axes[at].iter().enumerate() {
                    let row = tree.freedoms_of(at).start + g;
                    // Of a link's own block each half is computed; they differ by rounding.
                    if at != n || g <= f {
                        mass[(row, column)] = other.dot(felt);
                        mass[(column, row)] = mass[(row, column)];
                    }
                }
                let Some(parent) = links[at].parent else { break };
                felt = felt.of_parent(&placed[at]);
                at = parent;
            }
        }
    }
    mass
}
