//! Converts a plugin's descriptors to the host's own types.

mod contract;
mod params;
mod ports;

pub(crate) use ports::{element, sampling};

use super::brief::{HELP_LETTERS, brief, name};
use crate::node::{NodeKind, NodeType};
use crate::text::one_line;
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
        params.push(params::param(read, &p)?);
    }
    once(&params, |p| p.name.clone(), "parameters")?;
    params::meant_once(&params)?;
    let contract = contract::contract(read, node, plugin, number, kind)?;
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
