//! The velocity on faces beside the liquid: extrapolated into air, set at walls, given by sources.

pub(crate) mod air_flow;
mod closed;
pub mod extrapolation;
pub mod inlet;
pub mod swelling;
