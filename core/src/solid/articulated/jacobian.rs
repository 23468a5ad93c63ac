//! Where links are, and how their points move with the degrees of freedom.

use super::tree::Tree;
use crate::solid::rigid::Pose;
use glam::DVec3;
use nalgebra::DMatrix;

/// The place of every link in the world.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed(pub Vec<Pose>);

/// Places all links.
pub fn place(tree: &Tree, q: &[f64]) -> Placed {
    let mut poses: Vec<Pose> = Vec::new();
    for (n, link) in tree.links().iter().enumerate() {
        let own = tree.placed(n, q);
        poses.push(match link.parent.map(|p| poses[p]) {
            Some(on) => {
                Pose { position: on.place(own.position), orientation: on.orientation * own.orientation }
            }
            None => own,
        });
    }
    Placed(poses)
}

/// J(q), 6 × freedoms: J v is the velocity (m/s, rows 0 to 2) of the point of a link that is at `at` (m, world), and the
/// angular velocity of the link (rad/s, rows 3 to 5), world axes. Jᵀ of a force and a torque there are the generalised
/// forces.
pub fn jacobian(tree: &Tree, q: &[f64], placed: &Placed, link: usize, at: DVec3) -> DMatrix<f64> {
    let mut jacobian = DMatrix::zeros(6, tree.freedoms());
    let mut on = Some(link);
    while let Some(n) = on {
        let (pose, own) = (&placed.0[n], &q[tree.coordinates_of(n)]);
        for (f, column) in tree.freedoms_of(n).enumerate() {
            let axis = tree.links()[n].joint.axis(f, own);
            let angular = pose.orientation * axis.angular;
            let linear = pose.orientation * axis.linear + angular.cross(at - pose.position);
            for c in 0..3 {
                jacobian[(c, column)] = linear[c];
                jacobian[(3 + c, column)] = angular[c];
            }
        }
        on = tree.links()[n].parent;
    }
    jacobian
}
