//! Converts a plugin's descriptors to the host's own types.

use super::brief::{HELP_LETTERS, brief, name};
use crate::data::{Element, Lifetime, Sampling};
use crate::node::{
    Access, Carries, Contract, Merge, NodeKind, NodeType, ParamSpec, PortOwner, PortSpec, Range, Role, Stage,
    Step, Value,
};
use crate::text::{number, one_line};
use meniscus_abi as abi;
use std::ffi::c_char;

/// Most node types of a plugin, and most entries of any other list of a descriptor.
const MOST_NODES: u32 = 10_000;
const MOST_ENTRIES: u32 = 1000;
/// Largest descriptor of a future version, bytes.
const LARGEST: u32 = 1 << 16;

/// The node types of a plugin, and a sentence for each that this host does not understand. The error says why none can be
/// read.
///
/// # Safety
/// The table passed the loader's checks and its library is open.
pub(super) unsafe fn describe(
    table: &abi::Plugin,
    plugin: usize,
) -> Result<(Vec<NodeType>, Vec<String>), String> {
    let (mut types, mut left_out) = (Vec::new(), Vec::new());
    // SAFETY: the caller's promise is the reader's.
    let read = unsafe { Reader::new() };
    let nodes = read.structs(table.nodes, table.node_count, MOST_NODES, "node types")?;
    for (number, node) in nodes.iter().enumerate() {
        match node_type(&read, node, plugin, number as u32) {
            Ok(t) => types.push(t),
            Err(e) => {
                left_out.push(format!("node type `{}` is left out: {e}", one_line(read.raw(node.id), 60)))
            }
        }
    }
    Ok((types, left_out))
}

/// Follows the pointers of descriptors.
struct Reader(());

impl Reader {
    /// # Safety
    /// Everything read with it belongs to the descriptors of a library that passed the loader's checks and
    /// stays open as long as the reader lives.
    unsafe fn new() -> Self {
        Self(())
    }

    fn raw(&self, s: *const c_char) -> &str {
        // SAFETY: a string of a descriptor, by the promise made in `new`.
        unsafe { abi::text(s) }.unwrap_or("")
    }

    /// Text for people.
    fn text(&self, s: *const c_char) -> String {
        brief(self.raw(s), HELP_LETTERS)
    }

    /// A name that graphs and files use.
    fn name(&self, s: *const c_char, what: &str) -> Result<String, String> {
        name(self.raw(s), what)
    }

    /// Structs that may grow.
    fn structs<T: abi::Growable>(
        &self,
        first: *const T,
        count: u32,
        most: u32,
        what: &str,
    ) -> Result<Vec<T>, String> {
        announced(count, most, what, first.is_null())?;
        if count == 0 {
            return Ok(Vec::new());
        }
        // SAFETY: `size` comes first, by the promise made in `new`; each is looked at before it says where the next is.
        let size = |n: u32, stride: u32| unsafe {
            first.cast::<u8>().add(n as usize * stride as usize).cast::<u32>().read_unaligned()
        };
        let stride = size(0, 0);
        let fits = stride >= size_of::<u32>() as u32
            && stride <= LARGEST
            && (stride as usize).is_multiple_of(align_of::<T>());
        if !fits {
            return Err(format!(
                "the first of its {what} says it is {stride} bytes long, this host knows {}",
                T::SIZE
            ));
        }
        if let Some(n) = (1..count).find(|&n| size(n, stride) != stride) {
            let other = size(n, stride);
            return Err(format!(
                "number {n} of its {what} says it is {other} bytes long, the first {stride}"
            ));
        }
        // SAFETY: an array of a descriptor, by the promise made in `new`.
        Ok(unsafe { abi::read_array(first, count) })
    }

    /// Structs of fixed size.
    fn items<T: Copy>(&self, first: *const T, count: u32, what: &str) -> Result<Vec<T>, String> {
        announced(count, MOST_ENTRIES, what, first.is_null())?;
        if count == 0 {
            return Ok(Vec::new());
        }
        // SAFETY: an array of a descriptor, by the promise made in `new`.
        Ok(unsafe { std::slice::from_raw_parts(first, count as usize) }.to_vec())
    }
}

/// Refuses lists that are too long, and lists whose entries are missing.
fn announced(count: u32, most: u32, what: &str, nothing: bool) -> Result<(), String> {
    match (count, nothing) {
        (1.., true) => Err(format!("it announces {count} {what} but shows none")),
        _ if count > most => Err(format!("it announces {count} {what}, {most} at most are taken")),
        _ => Ok(()),
    }
}

fn node_type(read: &Reader, node: &abi::Node, plugin: usize, number: u32) -> Result<NodeType, String> {
    let id = read.name(node.id, "a node type")?;
    if id.is_empty() || id.chars().any(char::is_whitespace) {
        return Err("it has no usable id".into());
    }
    let kind = match node.kind {
        abi::NodeKind::OBJECT => NodeKind::Object,
        abi::NodeKind::FORCE => NodeKind::Force,
        abi::NodeKind::SOLVER => NodeKind::Solver,
        abi::NodeKind::COUPLING => NodeKind::Coupling,
        abi::NodeKind::GEOMETRY | abi::NodeKind::OUTPUT => {
            return Err("geometry and output nodes are the host's own".into());
        }
        other => return Err(format!("node kind {} is unknown", other.0)),
    };
    let mut params = Vec::new();
    for p in read.structs(node.params, node.param_count, MOST_ENTRIES, "parameters")? {
        params.push(param(read, &p)?);
    }
    once(&params, |p| p.name.clone(), "parameters")?;
    let contract = contract(read, node, plugin, number, kind)?;
    in_order((node.min_inputs, node.max_inputs), "inputs")?;
    if contract.accepts.is_empty() && node.min_inputs > 0 {
        return Err(format!("it needs {} inputs and takes no kind of node as one", node.min_inputs));
    }
    let (label, help) = (read.text(node.label), read.text(node.help));
    let most = (node.max_inputs > 0).then_some(node.max_inputs as usize);
    let inputs = (node.min_inputs as usize, if contract.accepts.is_empty() { Some(0) } else { most });
    Ok(NodeType {
        version: node.version.max(1),
        params,
        houdini_name: read.text(node.houdini_name),
        cites: read.text(node.cites),
        contract: Some(contract),
        ..NodeType::host(&id, if label.is_empty() { &id } else { &label }, kind, inputs, &help)
    })
}

/// Refuses two entries of one name.
fn once<T, K: PartialEq + std::fmt::Display>(
    list: &[T],
    name: impl Fn(&T) -> K,
    what: &str,
) -> Result<(), String> {
    let twice = list.iter().enumerate().find(|(i, x)| list[..*i].iter().any(|y| name(y) == name(x)));
    twice.map_or(Ok(()), |(_, x)| Err(format!("two {what} are called `{}`", name(x))))
}

/// Refuses counts that cannot be met; a largest count of 0 means any number.
fn in_order((least, most): (u32, u32), what: &str) -> Result<(), String> {
    if most > 0 && least > most {
        return Err(format!("it needs at least {least} {what} and takes at most {most}"));
    }
    Ok(())
}

fn param(read: &Reader, p: &abi::Param) -> Result<ParamSpec, String> {
    let (name, label, help) = (read.name(p.name, "a parameter")?, read.text(p.label), read.text(p.help));
    if p.default_number.iter().any(|x| !x.is_finite()) || p.range.iter().any(|x| x.is_nan()) {
        return Err(format!("the default or the range of parameter `{name}` is no number"));
    }
    let label = if label.is_empty() { name.clone() } else { label };
    let [x, y, z] = p.default_number;
    let mut spec = match p.ty {
        abi::ParamType::FLOAT => ParamSpec::number(&name, &label, &[x], "", &help),
        abi::ParamType::VECTOR3 => ParamSpec::number(&name, &label, &[x, y, z], "", &help),
        abi::ParamType::INT => ParamSpec::integer(&name, &label, x as i64, &help),
        abi::ParamType::TOGGLE => ParamSpec::toggle(&name, &label, x != 0.0, &help),
        abi::ParamType::STRING => ParamSpec::text(&name, &label, &read.text(p.default_text), &help),
        abi::ParamType::FILE => {
            let default = Value::Text(read.text(p.default_text));
            ParamSpec { default, ..ParamSpec::file(&name, &label, &help) }
        }
        abi::ParamType::MENU => {
            let items = menu(read, p)?;
            once(&items, |m| m.0.clone(), &format!("entries of menu `{name}`"))?;
            let entry = (x >= 0.0 && x.fract() == 0.0).then(|| items.get(x as usize)).flatten();
            let default = entry.map(|m| m.0.clone()).ok_or_else(|| {
                let (shown, count) = (number(x), items.len());
                format!("the default of menu `{name}` is entry {shown}, counted from 0 it has {count}")
            })?;
            let items: Vec<(&str, &str)> = items.iter().map(|(t, l)| (t.as_str(), l.as_str())).collect();
            ParamSpec { default: Value::Text(default), ..ParamSpec::menu(&name, &label, &items, &help) }
        }
        other => return Err(format!("parameter `{name}` has the unknown type {}", other.0)),
    };
    if name.is_empty() {
        return Err("a parameter has no name".into());
    }
    if p.ty == abi::ParamType::INT && x.fract() != 0.0 {
        return Err(format!("the default of parameter `{name}` is {}, no whole number", number(x)));
    }
    in_range(p, &name)?;
    let end = |x: f64, flag: u32| (p.flags & flag != 0).then_some(x);
    let ranged = p.range[0] != p.range[1] || p.flags & (abi::flags::HARD_MIN | abi::flags::HARD_MAX) != 0;
    spec.range = Range {
        hard_min: end(p.range[0], abi::flags::HARD_MIN),
        hard_max: end(p.range[1], abi::flags::HARD_MAX),
        soft_min: ranged.then_some(p.range[0]),
        soft_max: ranged.then_some(p.range[1]),
    };
    spec.folder = read.text(p.folder);
    spec.unit = read.text(p.unit);
    spec.disable_when = read.text(p.disable_when);
    spec.houdini_name = read.text(p.houdini_name);
    spec.animatable = p.flags & abi::flags::NOT_ANIMATED == 0;
    Ok(spec)
}

/// Refuses a range that ends before it begins, and a default that it would refuse of a graph.
fn in_range(p: &abi::Param, name: &str) -> Result<(), String> {
    let [least, most] = p.range;
    if least > most {
        let (least, most) = (number(least), number(most));
        return Err(format!("the range of parameter `{name}` begins at {least} and ends at {most}"));
    }
    let numbers = match p.ty {
        abi::ParamType::FLOAT | abi::ParamType::INT => &p.default_number[..1],
        abi::ParamType::VECTOR3 => &p.default_number[..],
        _ => &[],
    };
    let has = |flag| p.flags & flag != 0;
    let outside =
        |x: &&f64| has(abi::flags::HARD_MIN) && **x < least || has(abi::flags::HARD_MAX) && **x > most;
    match numbers.iter().find(outside) {
        Some(x) => Err(format!(
            "the default of parameter `{name}`, {}, lies outside its own range of {} to {}",
            number(*x),
            if has(abi::flags::HARD_MIN) { number(least) } else { "anything".into() },
            if has(abi::flags::HARD_MAX) { number(most) } else { "anything".into() }
        )),
        None => Ok(()),
    }
}

fn menu(read: &Reader, p: &abi::Param) -> Result<Vec<(String, String)>, String> {
    let items = read.items(p.menu, p.menu_count, "menu entries")?;
    items.iter().map(|m| Ok((read.name(m.token, "a menu entry")?, read.text(m.label)))).collect()
}

fn contract(
    read: &Reader,
    node: &abi::Node,
    plugin: usize,
    number: u32,
    kind: NodeKind,
) -> Result<Contract, String> {
    let mut ports = Vec::new();
    for p in read.structs(node.ports, node.port_count, MOST_ENTRIES, "ports")? {
        let port: PortSpec = port(read, &p, node.role_count as usize)?;
        if ports.iter().any(|q: &PortSpec| q.name == port.name && q.owner == port.owner) {
            return Err(format!("two ports of one owner are called `{}`", port.name));
        }
        ports.push(port);
    }
    let mut roles = Vec::new();
    for r in read.structs(node.roles, node.role_count, MOST_ENTRIES, "roles")? {
        roles.push(Role {
            name: read.name(r.name, "a role")?,
            medium: read.name(r.medium, "a medium")?,
            min_count: r.min_count as usize,
            max_count: (r.max_count > 0).then_some(r.max_count as usize),
        });
        in_order((r.min_count, r.max_count), "participants of one role")?;
    }
    once(&roles, |r| r.name.clone(), "roles")?;
    let mut steps = Vec::new();
    for s in read.items(node.steps, node.step_count, "steps")? {
        let role = (s.role != abi::Step::SELF).then_some(s.role as usize);
        if role.is_some_and(|r| r >= roles.len()) {
            return Err(format!("its schedule names role {}, there are {}", s.role, roles.len()));
        }
        let stage = stage(s.stage).filter(|s| *s != Stage::Init);
        steps.push(Step {
            role,
            stage: stage.ok_or_else(|| format!("its schedule names stage {}", s.stage.0))?,
        });
    }
    let has = |flag| node.flags & flag != 0;
    Ok(Contract {
        plugin,
        node: number,
        medium: read.name(node.medium, "a medium")?,
        stages: Stage::ALL.map(|s| node.stages & (1 << s as u32) != 0),
        accepts: accepted(node, kind),
        ports,
        roles,
        steps,
        accepts_sources: has(abi::flags::ACCEPTS_SOURCES),
        is_source: has(abi::flags::IS_SOURCE),
        needs_gpu: node.gpu == abi::Gpu::REQUIRED,
    })
}

/// The kinds a node takes, kept to what its own kind can use.
fn accepted(node: &abi::Node, kind: NodeKind) -> Vec<NodeKind> {
    let sensible: &[(abi::NodeKind, NodeKind)] = match kind {
        NodeKind::Solver => {
            &[(abi::NodeKind::OBJECT, NodeKind::Object), (abi::NodeKind::FORCE, NodeKind::Force)]
        }
        NodeKind::Coupling => {
            &[(abi::NodeKind::SOLVER, NodeKind::Solver), (abi::NodeKind::COUPLING, NodeKind::Coupling)]
        }
        _ => &[(abi::NodeKind::GEOMETRY, NodeKind::Geometry)],
    };
    sensible.iter().filter(|(k, _)| node.takes(*k)).map(|&(_, k)| k).collect()
}

fn stage(s: abi::Stage) -> Option<Stage> {
    usize::try_from(s.0).ok().and_then(|i| Stage::ALL.get(i)).copied()
}

/// Host element type of an ABI code.
pub(crate) fn element(e: abi::Element) -> Option<Element> {
    usize::try_from(e.0).ok().and_then(|i| Element::ALL.get(i)).copied()
}

/// Host sampling of an ABI code.
pub(crate) fn sampling(s: abi::Sampling) -> Option<Sampling> {
    match s {
        abi::Sampling::CENTER => Some(Sampling::Centre),
        abi::Sampling::FACE => Some(Sampling::Face),
        abi::Sampling::NODE => Some(Sampling::Node),
        _ => None,
    }
}

fn port(read: &Reader, p: &abi::Port, roles: usize) -> Result<PortSpec, String> {
    let (name, help, unit) = (read.name(p.name, "a port")?, read.text(p.help), read.text(p.unit));
    let unknown = |what: &str, code: i32| format!("port `{name}` has the unknown {what} {code}");
    let carries = match p.carries {
        abi::Carries::GRID => Carries::Grid {
            element: element(p.element).ok_or_else(|| unknown("element type", p.element.0))?,
            components: p.components as usize,
            sampling: sampling(p.sampling).ok_or_else(|| unknown("sampling", p.sampling.0))?,
        },
        abi::Carries::GEOMETRY => Carries::Geometry,
        abi::Carries::TABLE => Carries::Table,
        other => return Err(unknown("kind of data", other.0)),
    };
    if let Carries::Grid { components, .. } = carries
        && !(1..=crate::data::MAX_COMPONENTS).contains(&components)
    {
        return Err(format!("port `{name}` has {components} components, a grid has 1 to 9"));
    }
    let owner = match p.owner {
        abi::Owner::OBJECT => PortOwner::Object,
        abi::Owner::AFFECTOR => PortOwner::Affector,
        abi::Owner::INPUT => PortOwner::Input,
        abi::Owner::PARTICIPANT if (p.role as usize) < roles => PortOwner::Participant(p.role as usize),
        abi::Owner::PARTICIPANT => {
            return Err(format!("port `{name}` names role {}, there are {roles}", p.role));
        }
        abi::Owner::NODE => PortOwner::Node,
        other => return Err(unknown("owner", other.0)),
    };
    let merge = match p.merge {
        abi::Merge::REPLACE => Merge::Replace,
        abi::Merge::ADD => Merge::Add,
        abi::Merge::MIN => Merge::Min,
        other => return Err(unknown("merge rule", other.0)),
    };
    let lifetime = match p.lifetime {
        abi::Lifetime::STATE => Lifetime::State,
        abi::Lifetime::SUBSTEP => Lifetime::Substep,
        other => return Err(unknown("lifetime", other.0)),
    };
    if name.is_empty() {
        return Err("a port has no name".into());
    }
    let access = Stage::ALL.map(|s| {
        let bits = p.access[s as usize];
        Access { reads: bits & 1 != 0, writes: bits & 2 != 0 }
    });
    Ok(PortSpec { name, help, unit, carries, owner, lifetime, merge, required: p.required != 0, access })
}
