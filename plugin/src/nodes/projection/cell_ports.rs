//! Where the grids stand that a liquid may have per cell: each has a port of its own name.

use meniscus_abi::Port;
use meniscus_abi::guest::{port_place, port_place_of_role};
use meniscus_core::coupling::CELL_GRIDS;

/// Their places in a node's list, in the order of [`CELL_GRIDS`].
#[derive(Clone, Copy, Debug)]
pub struct CellPorts([u32; CELL_GRIDS.len()]);

impl CellPorts {
    /// In a solver's list.
    pub const fn of(ports: &[Port]) -> Self {
        Self::found(ports, None)
    }

    /// Those of the participants of a role, in a coupling's list.
    pub const fn of_role(ports: &[Port], role: u32) -> Self {
        Self::found(ports, Some(role))
    }

    const fn found(ports: &[Port], role: Option<u32>) -> Self {
        let (mut places, mut i) = ([0; CELL_GRIDS.len()], 0);
        while i < CELL_GRIDS.len() {
            places[i] = match role {
                None => port_place(ports, CELL_GRIDS[i]),
                Some(role) => port_place_of_role(ports, role, CELL_GRIDS[i]),
            };
            i += 1;
        }
        Self(places)
    }

    /// All places.
    pub(super) const fn all(&self) -> &[u32] {
        &self.0
    }
}
