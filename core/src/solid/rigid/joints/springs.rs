//! The springs in joints: how fast bodies can swing on them, and their rows.

use super::joint::Joint;
use super::rows::{Row, dot, free, rigid, spring};
use crate::solid::rigid::{Body, Intervals, Pose, Velocity};
use glam::DMat3;
use nalgebra::{DMatrix, DVector};

/// A spring or a damper in a joint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spring {
    /// Place of the joint in the list.
    joint: usize,
    ends: [Option<usize>; 2],
    /// What it counts.
    jacobian: [Velocity; 2],
    /// Square of the swing that it would give each end alone, 1/s².
    alone: [f64; 2],
}

impl Spring {
    /// The spring of a joint whose bodies have these inverse masses and inertias; `None` where it has none.
    pub fn of(
        (number, joint): (usize, &Joint),
        ends: [Option<usize>; 2],
        poses: [Pose; 2],
        inverse: [(f64, DMat3); 2],
    ) -> Option<Self> {
        let jacobian = free(joint, poses).filter(|_| joint.stiffness > 0.0 || joint.damping > 0.0)?;
        let left = allowed(jacobian, joint, poses, inverse);
        let light = |n: usize| dot(&left[n], &weighed(&left, inverse)[n]);
        Some(Self { joint: number, ends, jacobian, alone: [0, 1].map(|n| joint.stiffness * light(n)) })
    }
}

/// The rows of all springs, with the swings that together they may give their bodies.
pub(super) fn rows(springs: &[Spring], joints: &[Joint], bodies: &[Body], times: &Intervals) -> Vec<Row> {
    // Of all springs on a body, by Gershgorin's theorem and Cauchy's inequality, no swing is faster than that.
    let mut together = vec![0.0; bodies.len()];
    for spring in springs {
        for (n, alone) in spring.ends.iter().zip(spring.alone) {
            if let Some(n) = *n {
                together[n] += alone.sqrt();
            }
        }
    }
    let row = |&Spring { joint, ends, jacobian, alone }: &Spring| {
        let each = ends.iter().zip(alone);
        let squared = each.filter_map(|(n, alone)| Some(alone.sqrt() * together[(*n)?])).sum();
        let drifted = |n: usize| ends[n].map_or(0.0, |end| dot(&jacobian[n], &bodies[end].motion[0]));
        let moved = (joints[joint].state.turned, drifted(0) + drifted(1));
        let (target, soft) = spring(&joints[joint], moved, squared, times)?;
        Some(Row { joint, ends, jacobian, soft, target, is_spring: true })
    };
    springs.iter().filter_map(row).collect()
}

/// M⁻¹ of what a row gives to both ends.
fn weighed(row: &[Velocity; 2], inverse: [(f64, DMat3); 2]) -> [Velocity; 2] {
    [0, 1].map(|n| Velocity { linear: row[n].linear * inverse[n].0, angular: inverse[n].1 * row[n].angular })
}

/// What of a row the joint's own rigid rows leave: on a hinge, it turns its bodies about the hinge and not about their middles.
fn allowed(row: [Velocity; 2], joint: &Joint, poses: [Pose; 2], inverse: [(f64, DMat3); 2]) -> [Velocity; 2] {
    let rigid: Vec<[Velocity; 2]> = rigid(joint, poses).into_iter().map(|(_, row)| row).collect();
    if rigid.is_empty() {
        return row;
    }
    let of = |a: &[Velocity; 2], b: &[Velocity; 2]| {
        let b = weighed(b, inverse);
        dot(&a[0], &b[0]) + dot(&a[1], &b[1])
    };
    let matrix = DMatrix::from_fn(rigid.len(), rigid.len(), |i, j| of(&rigid[i], &rigid[j]));
    let asked = DVector::from_iterator(rigid.len(), rigid.iter().map(|other| of(other, &row)));
    let Some(factor) = matrix.cholesky() else { return row };
    let mut left = row;
    for (other, share) in rigid.iter().zip(factor.solve(&asked).iter()) {
        for n in 0..2 {
            left[n].linear -= other[n].linear * *share;
            left[n].angular -= other[n].angular * *share;
        }
    }
    left
}
