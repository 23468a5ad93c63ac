//! The numbers with names: C enumerations, each an integer of fixed width with known values.
//!
//! They are newtypes, not Rust enums: a value this build does not know is data from the other side and
//! must not be undefined behaviour.

macro_rules! names {
    ($(#[$doc:meta])* $name:ident: $repr:ty { $($(#[$vdoc:meta])* $value:ident = $number:expr,)* }) => {
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        #[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
        pub struct $name(pub $repr);

        impl $name {
            $($(#[$vdoc])* pub const $value: Self = Self($number);)*

            /// Every value this build knows, with its name.
            pub const ALL: &'static [(Self, &'static str)] = &[$((Self::$value, stringify!($value)),)*];

            /// The name of a known value.
            pub fn name(self) -> Option<&'static str> {
                Self::ALL.iter().find(|(v, _)| *v == self).map(|(_, n)| *n)
            }
        }
    };
}

names! {
    /// What a call returns: 0 done, > 0 stopped without an error, < 0 failed.
    Status: i32 {
        /// Done.
        OK = 0,
        /// `progress` asked for it.
        CANCELLED = 1,
        /// What was written stands; the host warns.
        NOT_CONVERGED = 2,
        /// `reject_dt` was called: the host rewinds the substep and retries.
        DT_REJECTED = 3,
        /// The simulation cannot go on.
        FAILED = -1,
        /// A fault of the plugin; the instance may only be destroyed now.
        INTERNAL = -2,
        /// The caller broke the contract.
        BAD_ARGUMENT = -3,
        /// Out of memory.
        OUT_OF_MEMORY = -4,
        /// NaN or infinity at a port.
        NOT_FINITE = -5,
        /// Needs what this host or machine has not.
        UNSUPPORTED = -6,
        /// The data at a port cannot be used.
        BAD_INPUT = -7,
        /// A parameter's value cannot be used.
        BAD_PARAMETER = -8,
    }
}

names! {
    /// Kinds of node. Geometry and output nodes are the host's own.
    NodeKind: i32 {
        /// Makes geometry.
        GEOMETRY = 0,
        /// Creates the data that is simulated.
        OBJECT = 1,
        /// Acts on an object just before its solver predicts.
        FORCE = 2,
        /// Steps the objects of its medium.
        SOLVER = 3,
        /// Solves the unknowns its participants share.
        COUPLING = 4,
        /// Writes files.
        OUTPUT = 5,
    }
}

names! {
    /// Stages of a step.
    Stage: i32 {
        /// At the first frame of an object: of the object, its forces, its solver and its couplings.
        INIT = 0,
        /// Advects, integrates its own forces, collides.
        PREDICT = 1,
        /// Moves ahead of the others (solids, one step).
        ADVANCE = 2,
        /// Transports and remeshes between two solves.
        TRANSPORT = 3,
        /// Solves the shared unknowns.
        SOLVE = 4,
        /// Takes the solution back into its own state.
        CORRECT = 5,
        /// Writes its share of a coupling's system.
        CONTRIBUTE = 6,
    }
}

names! {
    /// Whether a node uses a GPU.
    Gpu: i32 {
        /// Never.
        NEVER = 0,
        /// Where there is one.
        OPTIONAL = 1,
        /// Does not run without.
        REQUIRED = 2,
    }
}

names! {
    /// What a port carries.
    Carries: i32 {
        /// A sparse grid.
        GRID = 0,
        /// Points, polylines or triangles with attributes.
        GEOMETRY = 1,
        /// Named typed arrays.
        TABLE = 2,
    }
}

names! {
    /// Whose data a port names.
    Owner: i32 {
        /// The object being created, acted on or solved.
        OBJECT = 0,
        /// Every other object wired into the solver.
        AFFECTOR = 1,
        /// Geometry wired into the node.
        INPUT = 2,
        /// The objects of a coupling's participants of one role.
        PARTICIPANT = 3,
        /// Data kept for the node itself.
        NODE = 4,
        /// All objects that a solver solves.
        SOLVED = 5,
        /// What a coupling's participants of one role keep for themselves.
        MEMBER = 6,
    }
}

names! {
    /// Where a grid's values sit.
    Sampling: i32 {
        /// Cell centres.
        CENTER = 0,
        /// Component c on the lower face across axis c.
        FACE = 1,
        /// The voxel's lower corner.
        NODE = 2,
    }
}

names! {
    /// How long data at a port lives.
    Lifetime: i32 {
        /// Checkpointed.
        STATE = 0,
        /// Scratch, gone when the substep ends.
        SUBSTEP = 1,
    }
}

names! {
    /// What a stage does with a port.
    Access: u8 {
        /// Nothing.
        NONE = 0,
        /// Reads it.
        READ = 1,
        /// Makes it anew.
        WRITE = 2,
        /// Changes it.
        READ_WRITE = 3,
    }
}

names! {
    /// How several writers' contributions go together.
    Merge: i32 {
        /// The last one stands.
        REPLACE = 0,
        /// Summed.
        ADD = 1,
        /// The smallest.
        MIN = 2,
    }
}

names! {
    /// What a grid means to other programs.
    GridClass: i32 {
        /// Nothing in particular.
        PLAIN = 0,
        /// A signed distance.
        LEVEL_SET = 1,
        /// A density.
        FOG = 2,
    }
}

names! {
    /// How pictures draw a level set, or points.
    Drawn: i32 {
        /// Not at all.
        NOT = 0,
        /// Like water.
        LIQUID = 1,
        /// Like glass or clay.
        SOLID = 2,
        /// Points: each as a white ball of its `pscale`.
        DOTS = 3,
    }
}

names! {
    /// What a parameter means to the host.
    Means: i32 {
        /// Nothing.
        NOTHING = 0,
        /// First frame a node runs.
        FIRST_FRAME = 1,
        /// Last frame a node runs.
        LAST_FRAME = 2,
        /// Distance between particles.
        SEPARATION = 3,
        /// Edge of a voxel in such distances.
        VOXEL_SCALE = 4,
        /// Edge of a voxel.
        VOXEL = 5,
        /// Middle of the box that objects stay in.
        BOX_CENTER = 6,
        /// Size of that box.
        BOX_SIZE = 7,
        /// Its side -x.
        BOX_NEG_X = 8,
        /// Its side +x.
        BOX_POS_X = 9,
        /// Its side -y.
        BOX_NEG_Y = 10,
        /// Its side +y.
        BOX_POS_Y = 11,
        /// Its side -z.
        BOX_NEG_Z = 12,
        /// Its side +z.
        BOX_POS_Z = 13,
        /// The source works now.
        ACTIVE = 14,
        /// The source drives what it makes.
        DRIVES = 15,
        /// Velocity with which what a source makes enters, or with which an object begins.
        VELOCITY = 16,
    }
}

names! {
    /// Element types.
    Element: i32 {
        /// `f32`
        F32 = 0,
        /// `f64`
        F64 = 1,
        /// `i32`
        I32 = 2,
        /// `i64`
        I64 = 3,
        /// `u8`
        U8 = 4,
        /// `u32`
        U32 = 5,
        /// `u64`
        U64 = 6,
    }
}

impl Element {
    /// Bytes of one element, 0 for a type this build does not know.
    pub const fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
            _ => 0,
        }
    }
}

names! {
    /// Parameter types.
    ParamType: i32 {
        /// A number.
        FLOAT = 0,
        /// A whole number.
        INT = 1,
        /// Off or on.
        TOGGLE = 2,
        /// One of a list.
        MENU = 3,
        /// Text.
        STRING = 4,
        /// A path.
        FILE = 5,
        /// Three numbers.
        VECTOR3 = 6,
    }
}

names! {
    /// What geometry is made of.
    Primitive: i32 {
        /// Each point is a primitive.
        POINTS = 0,
        /// Open polylines.
        POLYLINES = 1,
        /// Triangles.
        TRIANGLES = 2,
    }
}

names! {
    /// What an attribute is on.
    On: i32 {
        /// One value per point.
        POINTS = 0,
        /// One value per vertex.
        VERTICES = 1,
        /// One value per primitive.
        PRIMITIVES = 2,
        /// One value.
        DETAIL = 3,
    }
}

names! {
    /// How an attribute moves with its geometry.
    Meaning: i32 {
        /// It does not.
        PLAIN = 0,
        /// A position.
        POSITION = 1,
        /// A vector.
        VECTOR = 2,
        /// A normal.
        NORMAL = 3,
        /// A rotation (x, y, z, w).
        QUATERNION = 4,
        /// A colour.
        COLOR = 5,
    }
}

names! {
    /// Weight of a log line.
    Level: i32 {
        /// For whoever looks into the plugin.
        DEBUG = 0,
        /// For whoever watches the cook.
        INFO = 1,
        /// Something to act on.
        WARNING = 2,
    }
}

/// Bits of `Node::flags`, `Port::flags` and `Param::flags`.
pub mod flags {
    /// Solver: what it solves may gain and lose mass.
    pub const ACCEPTS_SOURCES: u32 = 1;
    /// Force: adds or removes mass.
    pub const IS_SOURCE: u32 = 2;

    /// Port: caches write it unless their user names something else.
    pub const RESULT: u32 = 1;
    /// Port: forces act on its points.
    pub const MOVABLE: u32 = 2;

    /// Parameter: values below the range are refused.
    pub const HARD_MIN: u32 = 1;
    /// Parameter: values above the range are refused.
    pub const HARD_MAX: u32 = 2;
    /// Parameter: read at `init` or fixed for the shot.
    pub const NOT_ANIMATED: u32 = 4;
}
