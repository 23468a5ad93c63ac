//! Where the optional grids of a liquid stand, those per cell and those on faces: each has a port of its own name.

use meniscus_abi::Port;
use meniscus_abi::guest::{port_place, port_place_of_role};
use meniscus_core::coupling::{CELL_GRIDS, FACE_GRIDS};

/// Their places in a node's list.
#[derive(Clone, Copy, Debug)]
pub struct OptionalPorts {
    /// In the order of [`CELL_GRIDS`].
    pub(super) cells: [u32; CELL_GRIDS.len()],
    /// In the order of [`FACE_GRIDS`].
    pub(super) faces: [u32; FACE_GRIDS.len()],
}

impl OptionalPorts {
    /// In a solver's list.
    pub const fn of(ports: &[Port]) -> Self {
        Self { cells: found(ports, None, CELL_GRIDS), faces: found(ports, None, FACE_GRIDS) }
    }

    /// Those of the participants of a role, in a coupling's list.
    pub const fn of_role(ports: &[Port], role: u32) -> Self {
        Self { cells: found(ports, Some(role), CELL_GRIDS), faces: found(ports, Some(role), FACE_GRIDS) }
    }
}

const fn found<const N: usize>(ports: &[Port], role: Option<u32>, names: [&str; N]) -> [u32; N] {
    let (mut places, mut i) = ([0; N], 0);
    while i < N {
        places[i] = match role {
            None => port_place(ports, names[i]),
            Some(role) => port_place_of_role(ports, role, names[i]),
        };
        i += 1;
    }
    places
}
