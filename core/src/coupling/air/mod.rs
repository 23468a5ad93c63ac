//! The air beside a liquid: its regions, who they are, and the volumes they should have.
//!
//! [`regions`] finds what is connected, [`identity`] recognises the bubbles of the substep before, `volumes` says which
//! liquid and air no outside reaches, `growth` how fast each bubble returns to its rest volume, and `fit` moves the surface
//! to where all have what they should.

pub(crate) mod fit;
pub(crate) mod growth;
pub mod identity;
pub(crate) mod open_volume;
pub mod regions;
pub(crate) mod volumes;
