//! Level sets: signed distances in metres, φ < 0 inside liquid and inside solids.

mod curvature;
pub mod fractions;
mod from_mesh;
mod lattice;
mod moment;
mod open_volume;
mod redistance;
mod region;
mod signed_distance;
mod tiles;
mod volume;

pub use curvature::curvature;
pub use from_mesh::{can_be_made, from_mesh, from_mesh_unless, mesh_velocity};
pub use lattice::{is_lost, lattice};
pub use moment::moment;
pub(crate) use open_volume::open_volume;
pub use redistance::{interface, redistance};
pub use region::{Dense, Region};
pub use signed_distance::{SdfSampler, SignedDistance};
pub use tiles::InsideTiles;
pub use volume::{HALO as FRACTION_HALO, fraction_inside, fractions_inside, volume};
