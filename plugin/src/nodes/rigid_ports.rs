//! The ports of rigid bodies. A plugin that solves bodies of its own reads and writes these.

use meniscus_abi::{Drawn, Owner, Port};

/// The bodies, a point each.
pub const fn bodies(owner: Owner) -> Port {
    Port::geometry(owner, c"bodies")
        .movable()
        .result()
        .drawn(Drawn::SOLID)
        .reported(c"bodies name=@object id=id position=P v=v orient=orient w=w asleep=asleep?")
        .help(c"One point per body: P, its centre of mass (m); orient, from the rest frame of `shape` to the world (x y z w); v (m/s), w (rad/s, world axes); mass (kg), inertia (kg m^2, rest frame, 9 numbers), id, asleep. dv (m/s) and dw (rad/s) take what forces add over ctx->dt_kick. v_contact (m/s^2) and w_contact (rad/s^2): what contacts added in the last kick, over its time, without what undoes overlaps.")
}

/// What the points cannot hold.
pub const fn rigid(owner: Owner) -> Port {
    Port::table(owner, c"rigid").help(
        c"State of the bodies, in the order of the points of `bodies`; f64 unless said otherwise. position [n][3] (m) and orientation [n][4] (x y z w): of the rest frame. velocity [n][3] (m/s) and momentum [n][3] (kg m^2/s, angular, world axes): in the middle of the next substep. push [n][6] (m/s, rad/s): what the next drift adds to undo overlaps. still [n] (s), asleep [n] (i32), pull [n][3] (m/s^2): since when it is still, whether it sleeps, and the force it sleeps under. id [n] (i64). For all: mass (kg), inertia [9] (kg m^2, rest frame), friction, restitution, padding (m; what it keeps away from what it touches), group and mask (i64, bits), sleeping (i32), wet (i32, 1: a coupling moves it, so that it stays awake). flight [n][18], from predict until contacts are solved for: what forces gave it (m/s, rad/s), its velocity in the drift (m/s, rad/s), and the velocity and angular momentum that it drifted with. pressed [n][6] (m/s^2, rad/s^2): what the coupling gave it in the last kick.",
    )
}

/// What bodies touch with.
pub const fn hulls(owner: Owner) -> Port {
    Port::table(owner, c"hulls").help(
        c"Convex hulls that stand for the mesh in contacts, rest frame, m, f64: corners [m][3], starts [hulls + 1] (i64) of each hull in it; samples [s][3]: places on the surface, which are held against level sets.",
    )
}

/// The mesh in the rest frame.
pub const fn shape(owner: Owner) -> Port {
    Port::geometry(owner, c"shape").drawn(Drawn::SOLID).help(
        c"The mesh of every body in its rest frame: the centre of mass at the origin, axes as they were wired in.",
    )
}

/// The meshes where they are.
pub const fn moved_mesh(owner: Owner) -> Port {
    Port::geometry(owner, c"mesh")
        .result()
        .help(c"The meshes of all bodies where they are, one behind the other, with v (m/s) for motion blur and id of the body.")
}

/// Where keyframes lead a body.
pub const fn keyframes(owner: Owner) -> Port {
    Port::table(owner, c"keyframes").help(
        c"Of a keyframed body, f64: position [3] (m) and orientation [4] (x y z w) of its rest frame at the end of the substep; linear [2][3] (m/s, of the centre of mass) and angular [2][3] (rad/s, world axes) in this substep and in the next.",
    )
}

/// Contacts, for the next substep.
pub const fn contacts(owner: Owner) -> Port {
    Port::table(owner, c"contacts").help(
        c"Contacts of the last substep, sorted; f64 unless said otherwise. objects (u8): names of the objects, each ends with 0; colliders (u8): of the colliders, a name for each piece. between [n][4] (i64): object and id of the body; object and id of the other, or -1 and the number of a collider, or -2 and a side. at [n][3] (m) in the body's rest frame; pressed [n] (N), rubbed [n][3] (N, body's rest frame). made_by (u8): what found them; others are refused.",
    )
}

/// What a joint is.
pub const fn joint(owner: Owner) -> Port {
    Port::table(owner, c"joint").help(
        c"A joint, f64 unless said otherwise. bodies (u8): names of its two bodies, each ends with 0, as `object` or `object:id`; empty: the world. type [2] (i32): 0 fixed, 1 ball, 2 revolute, 3 prismatic, 4 spring; motor 0 none, 1 speed, 2 target. toggles [3] (i32): it has limits; it joins each body of the first object to the next; its bodies touch each other. pivot [2][3] (m) and axis [3]: world, when it begins. limits [2] (rad, m). motor [2]: speed (rad/s, m/s) or target (rad, m), and the most that it gives (N m, N). spring [3]: stiffness (N/m, N m/rad), damping (N s/m, N m s/rad), rest (m, rad). breaking [2] (N, N m; 0: never).",
    )
}

/// Joints, for the next substep.
pub const fn joints(owner: Owner) -> Port {
    Port::table(owner, c"joints").help(
        c"Joints as they are now; f64 unless said otherwise. names (u8): of the joints' nodes, and objects (u8): of the rigid objects, each ends with 0. of [n] (i64): place in names. ends [n][4] (i64): place in objects (-1: the world) and id, of both bodies. frames [n][14]: place (m) and orientation (x y z w) of the joint's frame in the rest frames of both. length [n] (m): of a spring. broken [n] (i32). turned [n] (rad, m): since it began. pressed [n][3]: what motor and stops gave (N m, N). load [n][2] (N, N m): what it held in the last kick.",
    )
}
