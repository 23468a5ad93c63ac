//! Solids as fluids meet them: colliders, the limits of the domain, and their fields on a grid.

mod closest;
mod collider;
mod domain;
mod intersection;
mod mesh;
mod nearest;
mod occupancy;
mod rasterise;
#[cfg(test)]
pub(crate) mod shapes;
mod split_cells;

pub(crate) use closest::{Feature, Normals, closest_point};
pub use collider::{Collider, Motion, SolidProbe, Solids};
pub use domain::{DomainLimits, Side};
pub use mesh::{MeshError, TriMesh};
pub use nearest::{NearestPlace, NearestTriangle};
pub use occupancy::{Occupancy, cut_leaves, occupancy};
pub use rasterise::{Rasteriser, SolidFields, rasterise};
