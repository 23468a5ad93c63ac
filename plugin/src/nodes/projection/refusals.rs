//! What an artist is told when a projection could not be made.

use meniscus_abi::Status;
use meniscus_abi::guest::{Failure, Outcome};
use meniscus_core::coupling::Error;
use meniscus_core::coupling::viscous::SplitError;
use meniscus_core::{pressure, viscosity};

/// The end of a stage whose projection ended with `error`; `names`: those of the bodies that it counts, whose masses came from `port`.
pub(super) fn end(error: &SplitError, names: &[String], port: Option<u32>) -> Result<Outcome, Failure> {
    if let SplitError::Projection(Error::Solve(pressure::Error::Cancelled { .. }))
    | SplitError::Viscosity(viscosity::Error::Cancelled { .. }) = error
    {
        return Ok(Outcome::Cancelled);
    }
    Err(match about_body(error, names) {
        Some(sentence) => {
            Failure { status: Status::BAD_INPUT, port: port.filter(|_| is_of_mass(error)), sentence }
        }
        None => Failure::new(Status::FAILED, error.to_string()),
    })
}

/// Whether a body's mass is at fault.
fn is_of_mass(error: &SplitError) -> bool {
    matches!(error, SplitError::Projection(Error::Mass(_) | Error::Indefinite { .. } | Error::Light(_)))
}

/// What is wrong with a body, if one is at fault.
fn about_body(error: &SplitError, names: &[String]) -> Option<String> {
    let SplitError::Projection(error) = error else { return None };
    let name = |body: usize| names.get(body).map_or("", String::as_str);
    Some(match *error {
        Error::Mass(body) => format!(
            "the mass of `{}` is not symmetric and positive definite, or of another size than its velocity",
            name(body)
        ),
        Error::Indefinite { body, row } => {
            format!("the mass of `{}` is not positive definite: see degree of freedom {row}", name(body))
        }
        Error::Thin(body) => format!(
            "`{}` is thinner than a voxel, so that liquid would pass through it: make particle_separation smaller, or use floating_bodies",
            name(body)
        ),
        Error::Light(body) => format!(
            "`{}` is more than a thousand times lighter than the liquid, and rigid_fluid would throw it: make it heavier, or use floating_bodies",
            name(body)
        ),
        Error::Deforms(body) => {
            format!("`{}` deforms, and rigid_fluid moves rigid bodies only: use floating_bodies", name(body))
        }
        Error::SkinHeld(body) => {
            format!(
                "`{}` deforms, and joints and contacts of a solve hold rigid bodies only: take its rows out",
                name(body)
            )
        }
        _ => return None,
    })
}
