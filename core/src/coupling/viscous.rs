//! Applies viscosity between two pressure projections.

use super::bodies::{Bodies, Body, Constraint, Moved};
use super::fields::LiquidFields;
use super::projection::{self, Projection};
use crate::grid::{FaceGrid, Grid};
use crate::pressure::Progress;
use crate::viscosity::{self, Info, Params, Viscosity, ViscousLiquid, Walls, continue_outward, diffuse};
use glam::DVec3;

/// The fields and settings that a viscous solve needs besides those of the pressure solve.
#[derive(Clone, Copy, Debug)]
pub struct Viscous<'a> {
    /// φ of the solids at the cells' lower nodes, m; negative inside.
    pub solid: &'a Grid<f32>,
    /// Viscosity.
    pub viscosity: Viscosity<'a>,
    /// What happens at walls.
    pub walls: Walls,
    /// When to stop.
    pub params: Params,
}

/// Which solve of a viscous substep failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SplitError {
    /// A projection.
    #[error(transparent)]
    Projection(#[from] projection::Error),
    /// The viscous solve.
    #[error(transparent)]
    Viscosity(#[from] viscosity::Error),
}

/// A coupling's projection of a velocity, m/s.
pub type Project<'a> =
    &'a mut dyn FnMut(&LiquidFields, &mut FaceGrid<f32>) -> Result<Projection, projection::Error>;

/// Projects `vel`, lets viscosity act on it for `dt` seconds, and projects it again.
///
/// `project` is the coupling's projection. Surface tension and other jumps act in the first one. The second one's report is the
/// substep's. The pressure is the sum of both. On an error nothing is changed.
pub fn between_projections(
    fields: &LiquidFields,
    viscous: &Viscous,
    vel: &mut FaceGrid<f32>,
    dt: f64,
    project: Project,
    progress: Progress,
) -> Result<(Projection, Info), SplitError> {
    let mut u = vel.clone();
    let first = project(fields, &mut u)?;
    // Bodies go on as the first projection moved them.
    let moved: Option<Vec<Body>> = fields.bodies.map(|b| {
        let pairs = b.bodies.iter().zip(&first.bodies);
        let went_on = |(body, moved): (&Body, &Moved)| Body {
            velocity: moved.velocity.clone(),
            before: Some(moved.velocity.clone()),
            ..body.clone()
        };
        pairs.map(went_on).collect()
    });
    // What joints and contacts have given counts: the two together do not pull.
    let left = |(row, given): (&Constraint, &f64)| Constraint {
        range: row.range.map(|end| end - given),
        wanted: row.wanted - row.soft * given,
        pressed: 0.0,
        ..row.clone()
    };
    let rows = fields.bodies.map_or(&[][..], |b| b.constraints).iter().zip(&first.held.impulses);
    let constraints: Vec<Constraint> = rows.map(left).collect();
    let constraints = constraints.as_slice();
    let bodies = fields.bodies.zip(moved.as_deref()).map(|(b, bodies)| Bodies { bodies, constraints, ..b });
    let walls = first.vel_solid.clone();
    let vel_solid = walls.as_ref().unwrap_or(fields.vel_solid);
    let fields = &LiquidFields { vel_solid, bodies, ..*fields };
    let projected = u.clone();
    continue_outward(fields.surface, fields.open, vel, &mut u);
    let liquid = ViscousLiquid {
        transform: fields.transform,
        surface: fields.surface,
        solid: viscous.solid,
        open: fields.open,
        vel_solid: fields.vel_solid,
        density: fields.density,
        viscosity: viscous.viscosity,
        walls: viscous.walls,
    };
    let info = diffuse(&liquid, &mut u, dt, &viscous.params, progress)?;
    if info.unknowns == 0 {
        *vel = projected;
        return Ok((first, info));
    }
    let pressed: Vec<f64> = first.bubbles.iter().map(|b| b.pressure).collect();
    let kick = DVec3::ZERO;
    let left = LiquidFields {
        tension: None,
        jump: None,
        previous_pressure: None,
        pressed: &pressed,
        kick,
        ..*fields
    };
    let second = project(&left, &mut u)?;
    *vel = u;
    Ok((sum(first, second), info))
}

/// The second projection with the sum of both pressures and both costs.
fn sum(first: Projection, mut second: Projection) -> Projection {
    second.pressure.values.iter_mut().zip(&first.pressure.values).for_each(|(p, q)| *p += q);
    for (body, before) in second.bodies.iter_mut().zip(&first.bodies) {
        body.impulse.iter_mut().zip(&before.impulse).for_each(|(i, j)| *i += j);
    }
    second.held.impulses.iter_mut().zip(&first.held.impulses).for_each(|(i, j)| *i += j);
    second.held.passes += first.held.passes;
    second.held.settled &= first.held.settled;
    for (bubble, before) in second.bubbles.iter_mut().zip(&first.bubbles) {
        bubble.pressure += before.pressure;
    }
    second.info.iterations += first.info.iterations;
    second.info.setup_seconds += first.info.setup_seconds;
    second.info.solve_seconds += first.info.solve_seconds;
    second.info.converged &= first.info.converged;
    second
}
