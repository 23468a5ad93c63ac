//! Solids: as boundary conditions of fluids (colliders, the limits of the domain, and their fields on a grid), and as rigid and
//! articulated bodies that move.

pub mod articulated;
mod collider;
mod domain;
mod kept_volume;
mod memory;
mod occupancy;
mod rasterise;
pub mod rigid;
mod split_cells;

pub use collider::{Collider, Motion, SolidProbe, Solids};
pub use domain::{DomainLimits, Side};
pub use kept_volume::{Enclosed, is_seen_anew, with_volume};
pub use memory::SolidMemory;
pub use occupancy::{Occupancy, cut_leaves, occupancy};
pub(crate) use rasterise::{NARROW, is_shared, owners_of_cell};
pub use rasterise::{Rasteriser, SolidFields, rasterise};
