//! The air beside a liquid: its connected regions, their identities, and the volumes they should have.
//!
//! [`regions`] finds the connected regions, [`identity`] recognises the bubbles of the substep before, `volumes` finds
//! the liquid and air that are cut off from the outside, `growth` says how fast each bubble returns to its rest volume,
//! `chambers` lets others keep and blow air, and `fit` moves the surface so that all volumes are right.

pub(crate) mod chambers;
pub(crate) mod fit;
pub(crate) mod gas;
pub(crate) mod growth;
pub mod identity;
pub mod regions;
pub(crate) mod volumes;
