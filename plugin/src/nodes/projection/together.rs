//! Projects one liquid, or several as one.

use super::inputs::Inputs;
use meniscus_core::coupling::several::Joined;
use meniscus_core::coupling::viscous::{Project, SplitError, Viscous, between_projections};
use meniscus_core::coupling::{LiquidFields, Projection};
use meniscus_core::grid::{FaceGrid, Grid};
use meniscus_core::pressure::Iteration;
use meniscus_core::viscosity::{self, Viscosity};
use std::ops::ControlFlow;

/// What a projection gave.
pub(super) struct Solved {
    /// Of all liquids.
    pub(super) of_all: Projection,
    /// The velocity of all, m/s; `None` where there is only one, whose own it is.
    pub(super) vel_of_all: Option<FaceGrid<f32>>,
    /// Of each of several, and where the others are; empty where there is only one.
    pub(super) of_each: Vec<(Projection, Grid<f32>)>,
    /// The viscous solve, where there was one.
    pub(super) viscous: Option<viscosity::Info>,
}

/// Projects the liquids' velocities `vel`, m/s, over `dt` seconds; `None` where there is no liquid.
pub(super) fn solve(
    liquids: &[Inputs],
    fields: &[LiquidFields],
    vel: &mut [FaceGrid<f32>],
    dt: f64,
    project: Project,
    go_on: impl Fn(Iteration) -> ControlFlow<()> + Copy,
) -> Result<Option<Solved>, SplitError> {
    let Some(first) = liquids.first() else { return Ok(None) };
    let walls = first.walls();
    if let ([own], [vel]) = (fields, &mut *vel) {
        let (of_all, viscous) = project_viscous(own, first.viscous(), walls, vel, dt, project, go_on)?;
        return Ok(Some(Solved { of_all, vel_of_all: None, of_each: Vec::new(), viscous }));
    }
    let joined = Joined::of(fields, &vel.iter().collect::<Vec<_>>());
    let Some(all) = joined.fields(fields) else { return Ok(None) };
    let of_viscous = |n: usize| -> Vec<_> {
        liquids.iter().map(|l| l.viscous().map(|(solid, viscosity)| [solid, viscosity][n])).collect()
    };
    let (solid, viscosity) = (Joined::solid(&of_viscous(0)), joined.viscosity(&of_viscous(1)));
    let mut solved = joined.velocity().clone();
    let viscous = solid.as_ref().zip(viscosity.as_ref());
    let (of_all, viscous) = project_viscous(&all, viscous, walls, &mut solved, dt, project, go_on)?;
    let mut of_each = Vec::with_capacity(liquids.len());
    for (i, own) in fields.iter().enumerate() {
        let handed = joined.handed_to(i, own, &vel[i], &of_all, &solved);
        vel[i] = handed.vel;
        of_each.push((handed.projection, handed.others));
    }
    Ok(Some(Solved { of_all, vel_of_all: Some(solved), of_each, viscous }))
}

/// A projection, or two with viscosity between them; `viscous` are φ of the solids, m, and the viscosity, Pa s.
fn project_viscous(
    fields: &LiquidFields,
    viscous: Option<(&Grid<f32>, &Grid<f32>)>,
    walls: viscosity::Walls,
    vel: &mut FaceGrid<f32>,
    dt: f64,
    project: Project,
    go_on: impl Fn(Iteration) -> ControlFlow<()> + Copy,
) -> Result<(Projection, Option<viscosity::Info>), SplitError> {
    let Some((solid, viscosity)) = viscous else { return Ok((project(fields, vel)?, None)) };
    let params = viscosity::Params::default();
    let viscous = Viscous { solid, viscosity: Viscosity::PerCell(viscosity), walls, params };
    let (projected, info) = between_projections(fields, &viscous, vel, dt, project, &mut { go_on })?;
    Ok((projected, Some(info)))
}
