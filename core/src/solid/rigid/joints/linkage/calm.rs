//! Which swings of bodies that hang together are too fast for the substeps, and the damping that joints give those.

use super::{Assembly, Linkage, poses_of};
use crate::solid::rigid::joints::joint::Joint;
use crate::solid::rigid::joints::rows::{Row, about, turning};
use crate::solid::rigid::joints::stiffness::{FOLLOWED, damping, outer, restoring, stiffness};
use crate::solid::rigid::{Body, Intervals, Velocity};
use glam::{DMat3, DVec3};

/// Steps of the power method for the fastest swing. It finds less than there is, by far less than the factor 4 to what is unstable.
const POWERS: usize = 12;

impl Linkage {
    /// Lets joints damp the turns of bodies that their forces would make unstable; see [`stiffness`](super::stiffness).
    pub(super) fn calm(&mut self, bodies: &[Body], joints: &[Joint], times: &Intervals) {
        if times.kick <= 0.0 || self.is_empty() {
            return;
        }
        let dt = times.next.max(times.drift);
        let turns = self.turns(bodies, joints, times.kick);
        let of = |(n, body): (usize, &Body)| match self.of_body[n] {
            Some(_) => damping(&body.inertia(), &turns[n], dt),
            None => 0.0,
        };
        let mut calms: Vec<f64> = bodies.iter().enumerate().map(of).collect();
        for assembly in &self.assemblies {
            let too_fast = assembly.bodies.iter().any(|&n| calms[n] > 0.0);
            if too_fast && dt * dt * self.fastest(assembly, bodies, &turns) <= FOLLOWED {
                assembly.bodies.iter().for_each(|&n| calms[n] = 0.0);
            }
        }
        for place in 0..self.places.len() {
            let (joint, ends, _) = self.places[place];
            let calm: f64 = ends.into_iter().flatten().map(|n| calms[n]).sum();
            if calm > 0.0 {
                let soft = 1.0 / (calm * times.kick);
                for axis in turning(&joints[joint], poses_of(bodies, ends)) {
                    let (jacobian, target, is_spring) = (about(axis), 0.0, true);
                    self.push_soft(Row { joint, ends, jacobian, soft, target, is_spring });
                }
            }
        }
        if self.rows.len() > self.damping {
            self.assemble(bodies);
        }
    }

    /// The stiffness of each body's turns under the forces that its joints would give.
    fn turns(&self, bodies: &[Body], joints: &[Joint], kick: f64) -> Vec<DMat3> {
        let velocities: Vec<Velocity> = bodies.iter().map(Body::speed).collect();
        let loads = self.loads(&self.holding(&velocities), joints.len());
        let mut pulls = vec![DMat3::ZERO; bodies.len()];
        for &(joint, ends, at) in &self.places {
            let force = loads[joint].0 / kick;
            for (n, pull) in ends.into_iter().zip([-force, force]) {
                if let Some(n) = n.filter(|&n| self.inverse[n].0 > 0.0) {
                    pulls[n] += outer(at - bodies[n].pose.position, pull);
                }
            }
        }
        bodies.iter().zip(&pulls).map(|(body, pulls)| stiffness(pulls, &body.inertia())).collect()
    }

    /// Energy, J, that these impulses of the rows take from what substeps cannot follow.
    pub fn damped(&self, bodies: &[Body], impulses: &[f64]) -> f64 {
        let drifted: Vec<Velocity> = bodies.iter().map(|body| body.motion[0]).collect();
        let taken = |(r, impulse): (usize, &f64)| {
            let after = -impulse * self.rows[r].soft;
            -impulse * 0.5 * (self.speed(r, &drifted) + after)
        };
        impulses.iter().enumerate().skip(self.damping).map(taken).sum()
    }

    /// ω² of the fastest swing that the joints allow, 1/s²: the largest eigenvalue of P M⁻¹ K by the power method [Golub and Van Loan 2013, §7.3], P the projection onto
    /// velocities that the joints allow, K the [`stiffness`] of each body's turns.
    /// What is no number counts as too fast.
    fn fastest(&self, assembly: &Assembly, bodies: &[Body], turns: &[DMat3]) -> f64 {
        let back: Vec<DMat3> = assembly.bodies.iter().map(|&n| restoring(&turns[n])).collect();
        let mut way = vec![Velocity::default(); bodies.len()];
        for (place, &n) in assembly.bodies.iter().enumerate() {
            // Any start that no symmetry of a scene shares.
            let phase = DVec3::new(1.0, 2.3, 3.7) * (1.0 + place as f64);
            way[n].angular = DVec3::new(phase.x.sin(), phase.y.sin(), phase.z.sin()) + DVec3::splat(0.1);
        }
        let energy = |way: &[Velocity]| -> f64 {
            let of = |&n: &usize| {
                let Velocity { linear, angular } = way[n];
                bodies[n].shape.mass() * linear.length_squared() + angular.dot(bodies[n].inertia() * angular)
            };
            assembly.bodies.iter().map(of).sum()
        };
        let mut squared = 0.0;
        for power in 0..=POWERS {
            if power > 0 {
                for (&n, back) in assembly.bodies.iter().zip(&back) {
                    let torque = *back * way[n].angular;
                    way[n] = Velocity { linear: DVec3::ZERO, angular: self.inverse[n].1 * torque };
                }
            }
            self.allow(assembly, &mut way);
            let size = energy(&way).sqrt();
            if size == 0.0 {
                return squared;
            }
            // The way was scaled to 1 before the step.
            squared = if power > 0 { size } else { 0.0 };
            for &n in &assembly.bodies {
                way[n] = Velocity { linear: way[n].linear / size, angular: way[n].angular / size };
            }
        }
        squared
    }

    /// Takes from velocities what the joints of an assembly forbid.
    fn allow(&self, assembly: &Assembly, velocities: &mut [Velocity]) {
        let speeds: Vec<f64> = assembly.rows.iter().map(|&r| -self.speed(r, velocities)).collect();
        for (&r, impulse) in assembly.rows.iter().zip(assembly.impulses(&speeds)) {
            for (end, n) in self.rows[r].ends.iter().enumerate() {
                let Some(n) = n.filter(|&n| self.inverse[n].0 > 0.0) else { continue };
                let given = self.given(r, end);
                velocities[n].linear += given.linear * impulse;
                velocities[n].angular += given.angular * impulse;
            }
        }
    }
}
