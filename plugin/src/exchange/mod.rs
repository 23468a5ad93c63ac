//! Converts ports to the core's types, and back.
//!
//! The host's functions are called on the thread that made the call; everything else runs in that thread's pool.
//! Everything kept here can be dropped between any two calls: threads and, by their stamps, leaf sets, level sets and a
//! stage's results for the next one.

mod air_particles;
mod attributes;
mod bodies;
mod bubbles;
mod carried;
pub mod constraints;
pub mod contacts;
mod domain;
mod dynamics;
mod finite;
mod grids;
pub mod joints;
mod kept;
mod liquid;
pub mod mesh;
mod particles;
mod pool;
mod region;
pub mod rigid;
mod rigid_rest;
mod solid_shape;
mod solids;
pub mod whitewater;

pub use attributes::Beside;
pub use bodies::{BodyPorts, OwnerPorts, Owners, Shares as BodyShares};
pub use bubbles::{write as write_bubbles, write_memory as write_bubble_memory};
pub use domain::{read as read_domain, read_cavitation_pressure, read_walls, write as write_domain};
pub use grids::Field;
pub use liquid::{InletPorts, LiquidState, StatePorts, SubstepPorts, shared_density, write_table};
pub use particles::Followers;
pub use region::Region;
pub use rigid_rest::{RigidRest, Start, Weight};
pub use solid_shape::{SolidShape, tell_if_lost};
pub use solids::ColliderPorts;
pub use whitewater::{LiquidPorts, WhitewaterPorts};

use grids::Topologies;
use meniscus_abi::guest::{Call, Failure};
use solids::LevelSets;

/// The caches that an instance keeps for converting ports to the core's types.
#[derive(Debug, Default)]
pub struct Exchange {
    pool: pool::Pool,
    topologies: Topologies,
    level_sets: LevelSets,
    last_region: region::LastRegion,
    last_carried: carried::LastCarried,
    kept: kept::Kept,
    /// Stamps of buffers whose values are known to be finite.
    finite: Vec<u64>,
}

impl Exchange {
    /// To be called first in every call of the host.
    pub fn begin(&mut self, call: &Call) -> Result<(), Failure> {
        self.kept.begin();
        self.pool.fit(call.threads())
    }

    /// The results that stages keep for each other.
    pub fn kept(&mut self) -> &mut kept::Kept {
        &mut self.kept
    }

    /// Runs something in the pool of the call's thread.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.pool.install(work)
    }
}
