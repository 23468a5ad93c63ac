//! The data of a mesh: the port of its object and its solver.

use meniscus_abi::{Drawn, Owner, Port};

/// The triangles.
pub const fn mesh(owner: Owner) -> Port {
    Port::geometry(owner, c"render_mesh")
        .drawn(Drawn::LIQUID)
        .result()
        .substep()
        .help(c"Triangles, closed and counter-clockwise seen from outside: P (m), v (m/s, of the liquid there, at the end of the frame). Their number changes from frame to frame. They go on half a voxel of the liquid into walls. There at the end of each frame.")
}
