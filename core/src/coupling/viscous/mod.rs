//! Applies viscosity between two pressure projections.

mod dragged;

use super::bodies::Bodies;
use super::fields::LiquidFields;
use super::projection::{self, Projection};
use crate::grid::{FaceGrid, Grid};
use crate::pressure::Progress;
use crate::viscosity::{self, Info, Params, Pushed, Viscosity, ViscousLiquid, Walls};
use crate::viscosity::{continue_outward, diffuse};
use dragged::Drag;
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
/// substep's. The pressure is the sum of both. Bodies go on from each of the three solves to the next: viscosity drags them
/// ([`viscosity::Bodies`]), and what all three gave is summed. On an error nothing is changed.
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
    let drag = fields.bodies.map(|bodies| Drag::new(bodies, &first));
    let walls = first.vel_solid.clone();
    let projected = u.clone();
    continue_outward(fields.surface, fields.open, vel, &mut u);
    let vel_solid = walls.as_ref().unwrap_or(fields.vel_solid);
    let closed = LiquidFields { vel_solid, ..*fields }.closed_velocity();
    let liquid = ViscousLiquid {
        transform: fields.transform,
        surface: fields.surface,
        solid: viscous.solid,
        open: fields.open,
        vel_solid: &closed,
        density: fields.density,
        face_density: fields.face_density,
        viscosity: viscous.viscosity,
        walls: viscous.walls,
    };
    let diffused = match &drag {
        None => diffuse(&liquid, &mut u, dt, &viscous.params, progress).map(|info| (info, Pushed::default())),
        Some(drag) => drag.diffuse(&liquid, &mut u, dt, &viscous.params, progress),
    };
    let (info, pushed) = diffused?;
    if info.unknowns == 0 {
        *vel = projected;
        return Ok((first, info));
    }
    let mut first = first;
    let mut walls = walls;
    let mut went_on = None;
    if let Some(drag) = &drag {
        drag.give(&pushed, &mut first);
        if let (Some(walls), Some(bodies)) = (&mut walls, fields.bodies) {
            // Those of bodies that deform are the projection's affair.
            bodies.write_walls(&fields.transform, &first.bodies, walls);
        }
        went_on = Some((drag.moved(&first.bodies), drag.left(&first.constraints.impulses)));
    }
    let bodies = went_on.as_ref().zip(fields.bodies);
    let bodies = bodies.map(|((bodies, constraints), b)| Bodies { bodies, constraints, ..b });
    let pressed: Vec<f64> = first.bubbles.iter().map(|b| b.pressure).collect();
    // Without `..`: who adds a field decides here whether it acts again.
    let left = LiquidFields {
        vel_solid: walls.as_ref().unwrap_or(fields.vel_solid),
        bodies,
        jump: None,
        pressed: &pressed,
        kick: DVec3::ZERO,
        kicks: None,
        transform: fields.transform,
        domain: fields.domain,
        surface: fields.surface,
        open: fields.open,
        without_lids: fields.without_lids,
        cells: fields.cells.after_viscosity(),
        faces: fields.faces.after_viscosity(),
        density: fields.density,
        face_density: fields.face_density,
        liquid_excess: fields.liquid_excess,
        rest_volume: fields.rest_volume,
        previous_bubbles: fields.previous_bubbles,
        drift: fields.drift,
        volume_gain: fields.volume_gain,
        gas: fields.gas,
        chambers: fields.chambers,
        parting: fields.parting,
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
    second.constraints.impulses.iter_mut().zip(&first.constraints.impulses).for_each(|(i, j)| *i += j);
    second.constraints.passes += first.constraints.passes;
    second.constraints.settled &= first.constraints.settled;
    for (bubble, before) in second.bubbles.iter_mut().zip(&first.bubbles) {
        bubble.pressure += before.pressure;
    }
    second.info.iterations += first.info.iterations;
    second.info.setup_seconds += first.info.setup_seconds;
    second.info.solve_seconds += first.info.solve_seconds;
    second.info.converged &= first.info.converged;
    second
}
