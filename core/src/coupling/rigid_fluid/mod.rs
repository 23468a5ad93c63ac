//! Rigid Fluid: bodies are projected as if they were fluid, and are made rigid again [Carlson et al. 2004].
//!
//! One substep, with the domain C of the liquid and of those parts of bodies that lie below its surface:
//!
//! ```text
//! q̇ ← q̇ + M⁻¹ Jᵀλ                                  A_c, α_c: what joints and contacts give   [Eq. 15, 16]
//! ũ = w ũ_r + (1 − w) ũ_f                                          what flows in C             [Eq. 26]
//! u_r = ũ_r − dt ∇p/ρ_r,  u_f = ũ_f − dt ∇p/ρ_f,  D u* = 0 in C     one projection              [Eq. 5]
//! M q̇' = Σ ρ_r w u_r J ΔV + what the dry part has                  the rigid projection        [Eq. 24, 25]
//! ```
//!
//! **What the bodies' faces carry.** There are no particles in bodies. A face that lies in a body by the share w (of the
//! volume around it) has w of body, at the body's velocity, and beside it 1 − w of liquid, at the liquid's. One pressure moves
//! both, each by its density; the two slip past each other, for a common velocity would drag a layer of liquid along.
//!
//! **Weight.** The source S [Eq. 17] has the weight that a body has beyond that of the liquid in its place. The paper may add
//! it after the projection or before it (its §6.1). Here it comes before, as a rigid motion: q̇ first takes the weight of the
//! body and the lift of the liquid that it displaces, both known. In the cells stays what keeps liquid of the same shape at
//! rest. So a body that floats is at rest before, in and after the projection, and so is the liquid around it.
//!
//! **Density.** The projection gives the bodies' faces the bodies' density ρ_r; the bracket of Eq. 17 is then 0. With the
//! liquid's density, and the bracket after the projection, bodies lighter than a third of the liquid gain energy in every
//! substep: the liquid answers to a mass c ρ_f V that the body has not got, and |c (1 − ρ_f/ρ_r)| > 1 + c. With ρ_r both
//! projections take the shortest way in one norm, that of kinetic energy, so none of them adds any, whatever the densities.
//! ρ_r is the greatest density with which the cells have no more inertia than the body along any of its freedoms; what the body has
//! beyond (a core of lead) is felt in the rigid projection alone.
//!
//! **Dry parts** are no part of C: pressures end at the liquid's surface, carried on through the body. They count by their
//! mass and by what forces gave them. With them in C they would press on the liquid as a heap of it.
//!
//! **Cut faces** leave the liquid with u_f, where the paper takes the mixture [Eq. 26]: that would have momentum that neither the
//! liquid nor the body has given. Liquid of closed faces moves with the body, and counts with its mass.
//!
//! As in the paper, the two projections are separate: a body that plugs a hole lets liquid seep past, and plates thinner than
//! a voxel let it through.
//!
//! **Swings die down.** For the same reason a change of a body's velocity reaches the liquid over several substeps: after an impulse
//! P the body has P/(m + m_a) (1 + e_n) in the n-th, m_a its added mass, and e_n goes to 0. The sum L of all e_n depends on shape and
//! density, not on dt: 0.3 to 0.5 for half the liquid's density, 0.02 to 0.05 for stone. A force F = −k x then acts as if there were a damper beside
//! it, m_eff x'' = F + L dt F', and a swing at ω dies down as exp(−½ L dt ω² t), in proportion to dt. What moves steadily loses nothing.

mod carried;
mod domain;
mod mixture;
mod places;
mod rigid;
#[cfg(test)]
mod tests;

use super::bodies::Moved;
use super::fields::LiquidFields;
use super::free_surface;
use super::optional::CellGrids;
use super::projection::{ConstraintReport, Error, Projection};
use crate::grid::FaceGrid;
use crate::pressure::{Density, Params, PressureSolver, Progress};
use domain::Domain;
use mixture::Mixture;
use places::Place;

/// Makes `vel` (m/s, after forces over a step of `dt` seconds) free of divergence in the liquid and in the bodies below its
/// surface, with pressure 0 in all air, and makes the bodies rigid again. Without bodies it is [`free_surface::project`].
///
/// On an error nothing is changed.
pub fn project(
    fields: &LiquidFields,
    vel: &mut FaceGrid<f32>,
    dt: f64,
    solver: &mut dyn PressureSolver,
    params: &Params,
    progress: Progress,
) -> Result<Projection, Error> {
    let Some(bodies) = fields.bodies.filter(|b| !b.bodies.is_empty()) else {
        return free_surface::project(fields, vel, dt, solver, params, progress);
    };
    let domain = Domain::find(fields, &bodies);
    let (rigid, cell_density) = rigid::find_all(fields, &bodies, &domain)?;
    let mixture = Mixture::of(fields, &domain, &rigid, vel);
    let of_all = LiquidFields {
        surface: &domain.surface,
        open: domain.open_under_lids.as_ref().unwrap_or(&domain.open_to_all),
        without_lids: domain.open_under_lids.is_some().then_some(&domain.open_to_all),
        density: Density::PerCell(&cell_density),
        face_density: Some(&mixture.face_density),
        cells: CellGrids { divergence: mixture.source.as_ref(), ..fields.cells },
        bodies: None,
        ..*fields
    };
    let mut solved = mixture.vel;
    let mut projected = free_surface::project(&of_all, &mut solved, dt, solver, params, progress)?;
    let at = |place: &Place| solved.get(place.axis, domain.topology.coord(place.slot));
    let pressed: Vec<_> =
        rigid.iter().zip(&mixture.parts).map(|(rigid, parts)| rigid.pressed(parts, at)).collect();
    let moved: Vec<Moved> = rigid
        .iter()
        .zip(bodies.bodies)
        .zip(&pressed)
        .map(|((rigid, body), parts)| rigid.moved(body, parts))
        .collect();
    let mut walls = fields.vel_solid.clone();
    bodies.write_walls(&fields.transform, &moved, &mut walls);
    projected.vel_solid = Some(walls);
    for (place, parts) in rigid.iter().zip(&pressed).flat_map(|(rigid, parts)| rigid.places.iter().zip(parts))
    {
        let cell = domain.topology.coord(place.slot);
        let of_body = || bodies.wall_velocity(&fields.transform, &moved, place.axis, cell);
        let of_body = if place.is_closed { of_body() } else { None };
        if let Some(u) = of_body.or(parts.map(|parts| parts.liquid as f32)) {
            solved.set(place.axis, cell, u);
        }
    }
    *vel = solved;
    projected.bodies = moved;
    let impulses = bodies.constraints.iter().map(|row| row.pressed).collect();
    projected.constraints = ConstraintReport { impulses, passes: 1, settled: true };
    // The surface in the bodies is nobody's.
    projected.surface = None;
    projected.taken = 0.0;
    Ok(projected)
}
