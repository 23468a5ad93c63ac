//! The ports by which bodies take part in a pressure solve. Any plugin's object that has them is a body.

use meniscus_abi::{Element, Owner, Port, Sampling};

/// A body's share of the system.
pub const fn dynamics(owner: Owner) -> Port {
    Port::table(owner, c"dynamics")
        .help(c"A body with k degrees of freedom, for couplings; f64 each. velocity [k]: as it will be in the next substep if no pressure acts. before [k]: as it was before forces acted in this one; if absent, the last half voxel of liquid at the body is taken to move as velocity says. mass [k*k]: symmetric, positive definite, so that velocity * mass * velocity / 2 is its kinetic energy (J); of a body that steps implicitly, M + dt^2 K, and velocity its solution without pressure. mass_rows, mass_columns [n] (i64, from 0) and mass_values [n] in place of mass: its entries, of one triangle or of both, where most are 0; those that repeat are summed. pivot [pieces][3] (m, world) and basis [pieces*k][6]: linear velocity of the pivot (m/s) and angular velocity (rad/s, world axes) of each solid piece, per unit of each degree of freedom. points [k/3][3] (m, world) and triangles [t][3] (i64, numbers of points) in place of pivot and basis: a solid that deforms. Its degrees of freedom are the velocities of the points (m/s, world axes; x, y, z of each point in turn), and every face of the solid moves as the nearest place on the triangles. They may enclose the solid, or lie in the middle of a thin one. count (i64; 1 if absent): so many independent bodies, of as many degrees of freedom and pieces each, whose arrays follow each other; rows and columns of entries count on. An object's pieces are those of its `motion`: one, its `collision`, unless that says otherwise. There from init on; the body's solver brings it up to date when it contributes.")
}

/// Joints and contacts between bodies.
pub const fn constraints(owner: Owner) -> Port {
    Port::table(owner, c"constraints")
        .substep()
        .help(c"Joints and contacts that couplings keep in their solve: rows J over the degrees of freedom of bodies, of one object or of several; f64 unless said otherwise. objects (u8): names of these objects, each ends with 0. start [rows+1] (i64): where the entries of each row begin. object, freedom [entries] (i64): of `objects`, and of its `dynamics`' `velocity`; value [entries]: of J. wanted [rows]: the speed J * velocity (m/s, rad/s), as a contact's -gap/dt. kind [rows] (i32): 0 a joint: the speed is as wanted; 1 a contact: it is at least that, and the row only pushes; 2 a motor: a joint that gives at most `most` [rows] (N s, N m s). soft [rows]: speed by impulse with which a row gives way; pressed [rows]: an impulse to start from (contacts that have one are taken to press); all 0 if absent. Rows may depend on each other. Friction is no part of them. Bodies that deform take none. Bodies without a row stay cheap: rows make one dense matrix of the bodies that they join. Written when bodies contribute; gone with the substep.")
}

/// A jump of pressure.
pub const fn jump(owner: Owner) -> Port {
    Port::grid(owner, c"jump", Sampling::FACE, Element::F32)
        .substep()
        .unit(c"Pa")
        .help(c"For couplings: by how much the pressure is higher above each face than below it, beside surface tension, as something thinner than a voxel in the face carries it: a membrane, a fan, a filter. On the lattice of the liquids; jumps of several objects are summed. Written when they contribute; gone with the substep.")
}

/// Faces that are shut.
pub const fn shut(owner: Owner) -> Port {
    Port::grid(owner, c"shut", Sampling::FACE, Element::F32)
        .substep()
        .help(c"For couplings: share of each face, from 0 to 1, that something without thickness shuts, standing still: a lid, a valve, a door. Shut faces part liquid from liquid and air from air; what passes a face that is shut in part loses speed, as in a grille. On the lattice of the liquids; where several objects shut a face, what they leave open is multiplied. Written when they contribute; gone with the substep.")
}

/// Air that is kept.
pub const fn chambers(owner: Owner) -> Port {
    Port::table(owner, c"chambers")
        .substep()
        .help(c"Air that couplings keep, whatever they do with other air; f64 each. place [n][3] (m): a point in each chamber. The enclosed air around it keeps its volume, and pushes at what would change that. inflow [n] (m^3/s, at the pressure of open air): air that is blown into it, sucked out where negative; 0 if absent. Where a place lies in open air, liquid or a solid, nothing happens. Written when they contribute; gone with the substep.")
}

/// What a body gets back.
pub const fn moved(owner: Owner) -> Port {
    Port::table(owner, c"moved")
        .substep()
        .help(c"What the solve gave to a body; f64 each. velocity [k]: of its degrees of freedom, for the next substep. impulse [k]: of the liquid along each (of a displacement: N s), without what constraints gave. pulled [k]: what the rows of all `constraints` gave along each, those of other objects included. held [rows]: impulse of each row of the own `constraints` (N s).")
}

/// What comes back for the faces of `jump` and `shut`: the pressure across them.
pub const fn load(owner: Owner) -> Port {
    Port::grid(owner, c"load", Sampling::FACE, Element::F32)
        .substep()
        .unit(c"Pa")
        .help(c"What the solve left at the faces of the leaves of `jump` and `shut`: the pressure in the cell above each face, less that in the cell below. What shuts a face bears it, on its share of the area that solids leave open. 0 where a solid or no liquid is beside the face.")
}

/// What comes back for the faces of `jump` and `shut`: how fast liquid passes.
pub const fn passing(owner: Owner) -> Port {
    Port::grid(owner, c"passing", Sampling::FACE, Element::F32)
        .substep()
        .unit(c"m/s")
        .help(c"How fast liquid passes the faces of the leaves of `jump` and `shut` after the solve: flow by the area that solids leave open of each face, positive towards the cell above. Where liquid is on one side alone, it is the speed of its surface there: air passes if that retreats from the face. 0 where a solid or no liquid is beside it.")
}

/// What comes back for `chambers`: the air that they keep.
pub const fn kept_air(owner: Owner) -> Port {
    Port::table(owner, c"kept_air")
        .substep()
        .help(c"The air of each of the own `chambers` after the solve; f64 each. volume [n] (m^3): of the enclosed air around its place. pressure [n] (Pa): its pressure over open air. Both 0 where the place lies in open air, liquid or a solid.")
}
