//! The velocity on faces beside the liquid: extended into air, held at walls, given by sources.

pub(crate) mod air_flow;
mod closed;
pub mod extrapolation;
pub mod inlet;
pub mod swelling;
