//! Descriptors written in Rust: constant builders, so that a node's table is a `static`.

use crate::{
    Access, Carries, Drawn, Element, Gpu, GridClass, Growable, Lifetime, Means, MenuItem, Merge, Node,
    NodeKind, Owner, Param, ParamType, Port, Role, Sampling, Stage, Step, flags,
};
use std::ffi::{CStr, c_char};
use std::ptr::null;

type Text = &'static CStr;

impl MenuItem {
    /// An entry of a menu.
    pub const fn new(token: Text, label: Text) -> Self {
        Self { token: token.as_ptr(), label: label.as_ptr() }
    }
}

impl Param {
    const fn new(
        ty: ParamType,
        name: Text,
        label: Text,
        default_number: [f64; 3],
        default_text: *const c_char,
    ) -> Self {
        Self {
            size: <Self as Growable>::SIZE,
            ty,
            name: name.as_ptr(),
            label: label.as_ptr(),
            folder: null(),
            unit: null(),
            help: null(),
            houdini_name: null(),
            disable_when: null(),
            default_text,
            default_number,
            range: [0.0; 2],
            flags: 0,
            menu_count: 0,
            menu: null(),
            means: Means::NOTHING,
            reserved: 0,
        }
    }

    /// A number.
    pub const fn float(name: Text, label: Text, default: f64) -> Self {
        Self::new(ParamType::FLOAT, name, label, [default, 0.0, 0.0], null())
    }

    /// A whole number.
    pub const fn int(name: Text, label: Text, default: i32) -> Self {
        Self::new(ParamType::INT, name, label, [default as f64, 0.0, 0.0], null())
    }

    /// Off or on.
    pub const fn toggle(name: Text, label: Text, default: bool) -> Self {
        Self::new(ParamType::TOGGLE, name, label, [default as u8 as f64, 0.0, 0.0], null())
    }

    /// One of a list; the default is an entry number.
    pub const fn menu(name: Text, label: Text, default: u32, items: &'static [MenuItem]) -> Self {
        let mut p = Self::new(ParamType::MENU, name, label, [default as f64, 0.0, 0.0], null());
        p.menu = items.as_ptr();
        p.menu_count = items.len() as u32;
        p
    }

    /// Text.
    pub const fn string(name: Text, label: Text, default: Text) -> Self {
        Self::new(ParamType::STRING, name, label, [0.0; 3], default.as_ptr())
    }

    /// Three numbers.
    pub const fn vector3(name: Text, label: Text, default: [f64; 3]) -> Self {
        Self::new(ParamType::VECTOR3, name, label, default, null())
    }

    /// Tab.
    pub const fn folder(mut self, folder: Text) -> Self {
        self.folder = folder.as_ptr();
        self
    }

    /// SI unit.
    pub const fn unit(mut self, unit: Text) -> Self {
        self.unit = unit.as_ptr();
        self
    }

    /// A sentence or two for an artist.
    pub const fn help(mut self, help: Text) -> Self {
        self.help = help.as_ptr();
        self
    }

    /// Houdini's parameter of this meaning.
    pub const fn houdini(mut self, name: Text) -> Self {
        self.houdini_name = name.as_ptr();
        self
    }

    /// Greyed out when the expression holds.
    pub const fn disable_when(mut self, expression: Text) -> Self {
        self.disable_when = expression.as_ptr();
        self
    }

    /// Ends of the slider.
    pub const fn range(mut self, low: f64, high: f64) -> Self {
        self.range = [low, high];
        self
    }

    /// Values below the range are refused.
    pub const fn hard_min(mut self) -> Self {
        self.flags |= flags::HARD_MIN;
        self
    }

    /// Values above the range are refused.
    pub const fn hard_max(mut self) -> Self {
        self.flags |= flags::HARD_MAX;
        self
    }

    /// What it means to the host.
    pub const fn means(mut self, means: Means) -> Self {
        self.means = means;
        self
    }

    /// Fixed for the shot.
    pub const fn not_animated(mut self) -> Self {
        self.flags |= flags::NOT_ANIMATED;
        self
    }
}

impl Port {
    const fn new(carries: Carries, owner: Owner, name: Text) -> Self {
        Self {
            size: <Self as Growable>::SIZE,
            carries,
            name: name.as_ptr(),
            help: null(),
            unit: null(),
            owner,
            role: 0,
            sampling: Sampling::CENTER,
            element: Element::F32,
            components: 1,
            lifetime: Lifetime::STATE,
            merge: Merge::REPLACE,
            required: 0,
            access: [0; Port::STAGES],
            grid_class: GridClass::PLAIN,
            drawn: Drawn::NOT,
            flags: 0,
            reserved: 0,
            report: null(),
        }
    }

    /// A grid of one component for centres and nodes, three for faces.
    pub const fn grid(owner: Owner, name: Text, sampling: Sampling, element: Element) -> Self {
        let mut p = Self::new(Carries::GRID, owner, name);
        p.sampling = sampling;
        p.element = element;
        p.components = if sampling.0 == Sampling::FACE.0 { 3 } else { 1 };
        p
    }

    /// Geometry.
    pub const fn geometry(owner: Owner, name: Text) -> Self {
        Self::new(Carries::GEOMETRY, owner, name)
    }

    /// A table.
    pub const fn table(owner: Owner, name: Text) -> Self {
        Self::new(Carries::TABLE, owner, name)
    }

    /// Components per voxel.
    pub const fn components(mut self, components: u32) -> Self {
        self.components = components;
        self
    }

    /// The ports of two lists, `N = A + B` of them, those of the first list first.
    pub const fn joined<const A: usize, const B: usize, const N: usize>(
        a: [Self; A],
        b: [Self; B],
    ) -> [Self; N] {
        assert!(A + B == N && A > 0, "as many as both lists have");
        let mut all = [a[0]; N];
        let mut i = 0;
        while i < N {
            all[i] = if i < A { a[i] } else { b[i - A] };
            i += 1;
        }
        all
    }

    /// Of another owner.
    pub const fn owned_by(mut self, owner: Owner) -> Self {
        self.owner = owner;
        self
    }

    /// With the access of one stage alone.
    pub const fn only_on(mut self, stage: Stage) -> Self {
        let access = self.access[stage.0 as usize];
        self.access = [0; Port::STAGES];
        self.access[stage.0 as usize] = access;
        self
    }

    /// Of which role's participants or members; [`Role::ANY`] for all members.
    pub const fn role(mut self, role: u32) -> Self {
        self.role = role;
        self
    }

    /// A sentence.
    pub const fn help(mut self, help: Text) -> Self {
        self.help = help.as_ptr();
        self
    }

    /// SI unit.
    pub const fn unit(mut self, unit: Text) -> Self {
        self.unit = unit.as_ptr();
        self
    }

    /// Scratch: gone when the substep ends.
    pub const fn substep(mut self) -> Self {
        self.lifetime = Lifetime::SUBSTEP;
        self
    }

    /// A reading stage does not run without it.
    pub const fn required(mut self) -> Self {
        self.required = 1;
        self
    }

    /// Contributions of several writers are summed.
    pub const fn adds(mut self) -> Self {
        self.merge = Merge::ADD;
        self
    }

    /// Of the contributions of several writers, the least counts.
    pub const fn least(mut self) -> Self {
        self.merge = Merge::MIN;
        self
    }

    /// A signed distance, drawn so.
    pub const fn level_set(mut self, drawn: Drawn) -> Self {
        self.grid_class = GridClass::LEVEL_SET;
        self.drawn = drawn;
        self
    }

    /// Points at which pictures show the object's level sets that are drawn so, or the mesh that stands at each of them; a mesh
    /// without such points is a surface where it is.
    pub const fn drawn(mut self, drawn: Drawn) -> Self {
        self.drawn = drawn;
        self
    }

    /// A density for volume renderers.
    pub const fn fog(mut self) -> Self {
        self.grid_class = GridClass::FOG;
        self
    }

    /// Caches write it unless their user names something else.
    pub const fn result(mut self) -> Self {
        self.flags |= flags::RESULT;
        self
    }

    /// Forces act on its points; of a grid of three f32, they add to it what they change velocities by, m/s.
    pub const fn movable(mut self) -> Self {
        self.flags |= flags::MOVABLE;
        self
    }

    /// Of a force: every geometry of the object that forces may move.
    pub const fn every_movable() -> Self {
        let mut p = Self::new(Carries::GEOMETRY, Owner::OBJECT, c"").movable();
        p.name = null();
        p
    }

    /// Of a force: every grid of three f32 of the object, sampled like this, that forces may add to.
    pub const fn every_movable_grid(sampling: Sampling) -> Self {
        let mut p = Self::grid(Owner::OBJECT, c"", sampling, Element::F32).components(3).movable();
        p.name = null();
        p
    }

    /// How its points are listed in stats.jsonl: a key, then attributes (`name` or `name_there=name`; `?` behind it for
    /// true or false).
    pub const fn reported(mut self, report: Text) -> Self {
        self.report = report.as_ptr();
        self
    }

    /// Access of a stage.
    pub const fn on(mut self, stage: Stage, access: Access) -> Self {
        self.access[stage.0 as usize] = access.0;
        self
    }
}

impl Role {
    /// A part played by participants of a medium, between `min_count` and `max_count` (0: any number) of them.
    pub const fn new(name: Text, medium: Text, min_count: u32, max_count: u32, help: Text) -> Self {
        Self {
            size: <Self as Growable>::SIZE,
            min_count,
            max_count,
            max_objects: 0,
            name: name.as_ptr(),
            medium: medium.as_ptr(),
            help: help.as_ptr(),
        }
    }

    /// With so many objects at most.
    pub const fn max_objects(mut self, most: u32) -> Self {
        self.max_objects = most;
        self
    }
}

impl Node {
    /// A node type with nothing but its names.
    pub const fn new(kind: NodeKind, id: Text, label: Text) -> Self {
        Self {
            size: <Self as Growable>::SIZE,
            version: 1,
            id: id.as_ptr(),
            label: label.as_ptr(),
            help: null(),
            medium: null(),
            houdini_name: null(),
            cites: null(),
            kind,
            stages: 0,
            accepts: 0,
            min_inputs: 0,
            max_inputs: 0,
            gpu: Gpu::NEVER,
            flags: 0,
            port_count: 0,
            param_count: 0,
            role_count: 0,
            step_count: 0,
            rank: Self::RANK_LIQUID,
            ports: null(),
            params: null(),
            roles: null(),
            steps: null(),
            particle_bytes: 0.0,
            voxel_bytes: 0.0,
            particle_seconds: 0.0,
            voxel_seconds: 0.0,
        }
    }

    /// What it does, for an artist.
    pub const fn help(mut self, help: Text) -> Self {
        self.help = help.as_ptr();
        self
    }

    /// What it is made of or solves.
    pub const fn medium(mut self, medium: Text) -> Self {
        self.medium = medium.as_ptr();
        self
    }

    /// Houdini's node of this meaning.
    pub const fn houdini(mut self, name: Text) -> Self {
        self.houdini_name = name.as_ptr();
        self
    }

    /// Papers it implements.
    pub const fn cites(mut self, keys: Text) -> Self {
        self.cites = keys.as_ptr();
        self
    }

    /// Stages it implements.
    pub const fn stages(mut self, stages: &[Stage]) -> Self {
        let mut i = 0;
        while i < stages.len() {
            self.stages |= 1 << stages[i].0;
            i += 1;
        }
        self
    }

    /// Kinds of node it takes as inputs, and how many (`most` 0: any number).
    pub const fn inputs(mut self, kinds: &[NodeKind], fewest: u32, most: u32) -> Self {
        let mut i = 0;
        while i < kinds.len() {
            self.accepts |= 1 << kinds[i].0;
            i += 1;
        }
        self.min_inputs = fewest;
        self.max_inputs = most;
        self
    }

    /// [`flags`]
    pub const fn flags(mut self, flags: u32) -> Self {
        self.flags = flags;
        self
    }

    /// Solver: when it steps among others, the lowest first.
    pub const fn rank(mut self, rank: i32) -> Self {
        self.rank = rank;
        self
    }

    /// Its ports.
    pub const fn ports(mut self, ports: &'static [Port]) -> Self {
        self.ports = ports.as_ptr();
        self.port_count = ports.len() as u32;
        self
    }

    /// Its parameters.
    pub const fn params(mut self, params: &'static [Param]) -> Self {
        self.params = params.as_ptr();
        self.param_count = params.len() as u32;
        self
    }

    /// Its roles.
    pub const fn roles(mut self, roles: &'static [Role]) -> Self {
        self.roles = roles.as_ptr();
        self.role_count = roles.len() as u32;
        self
    }

    /// What an object costs while a substep runs: bytes and core seconds per particle and per voxel.
    pub const fn costs(mut self, bytes: (f64, f64), seconds: (f64, f64)) -> Self {
        (self.particle_bytes, self.voxel_bytes) = bytes;
        (self.particle_seconds, self.voxel_seconds) = seconds;
        self
    }

    /// Its schedule.
    pub const fn steps(mut self, steps: &'static [Step]) -> Self {
        self.steps = steps.as_ptr();
        self.step_count = steps.len() as u32;
        self
    }
}
