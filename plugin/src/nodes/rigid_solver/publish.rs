//! What the rigid solver writes for everyone.

use super::{AT, RigidSolver};
use crate::exchange::rigid::{self, Published};
use meniscus_abi::guest::{Call, Failure};
use meniscus_core::solid::rigid::{Body, Velocity};

impl RigidSolver {
    /// Writes the state of an object's bodies; false where it has none.
    pub(super) fn write_state(
        &mut self,
        call: &mut Call,
        item: u32,
        of: &[Published],
    ) -> Result<bool, Failure> {
        let Some(table) = call.table(AT.rigid, item) else { return Ok(false) };
        let sleeping = table.first::<i32>("sleeping") == Some(1);
        let wet = table.first::<i32>("wet").unwrap_or(0);
        let (shape, surface) = self.shapes.kept(call, AT, item)?;
        rigid::write_state(call, AT.rigid, item, &shape, (surface, sleeping), of)?;
        call.write_array(AT.rigid, item, c"wet", 1, &[wet])?;
        Ok(true)
    }

    /// Writes an object's bodies for everyone.
    pub(super) fn publish(
        &mut self,
        call: &mut Call,
        item: u32,
        of: &[Published],
        pressed: &[Velocity],
    ) -> Result<(), Failure> {
        if !self.write_state(call, item, of)? {
            return Ok(());
        }
        if pressed.iter().any(|p| *p != Velocity::default()) {
            rigid::write_velocities(call, AT.rigid, item, c"pressed", pressed)?;
        }
        let (shape, _) = self.shapes.kept(call, AT, item)?;
        rigid::write_points(call, AT.bodies, item, &shape, of)?;
        rigid::write_motion(call, AT.motion, item, of)?;
        if call.ends_frame() {
            self.exchange.write_moved_mesh(call, (AT.shape, AT.mesh), item, of)?;
        }
        Ok(())
    }
}

/// Velocity at the time of a body's position: half a substep before that of its momentum.
///
/// `before`: its velocity and its angular momentum before forces acted.
pub(super) fn synchronised(body: &Body, before: Velocity, next: f64) -> Velocity {
    let back = if body.kicked > 0.0 { 0.5 * next / body.kicked } else { 0.0 };
    if let Some(led) = body.led {
        return led.velocity[0];
    }
    if body.rest.asleep {
        return Velocity::default();
    }
    let momentum = body.momentum - back * (body.momentum - before.angular);
    Velocity {
        linear: body.velocity - back * (body.velocity - before.linear),
        angular: body.inverse_inertia() * momentum,
    }
}
