//! Creates new data in the shape that a plugin asks for.

use super::convert::{element, filled, meaning, owner, room};
use crate::data::{
    Array, Attribute, Column, Element, Geometry, Grid, LEAF_VOXELS, MAX_COMPONENTS, Meaning, Owner,
    Primitives, Table, Tile, next_stamp,
};
use crate::node::{Carries, PortSpec};
use meniscus_abi as abi;
use std::sync::Arc;

/// Most attributes or arrays of one request.
const MAX_PARTS: u32 = 10_000;

/// # Safety
/// `first` is null or leads to `count` values.
unsafe fn list<T: Copy>(first: *const T, count: u64) -> Result<Vec<T>, String> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if first.is_null() || count > isize::MAX as u64 / size_of::<T>().max(1) as u64 {
        return Err(format!("a list of {count} items is announced but not there"));
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(first, count as usize) }.to_vec())
}

/// # Safety
/// `text` is null or a string.
unsafe fn name(text: *const std::ffi::c_char) -> Result<String, String> {
    // SAFETY: the caller's promise.
    match unsafe { abi::text(text) } {
        Some(t) if !t.is_empty() => Ok(t.to_owned()),
        _ => Err("an attribute or array has no name".into()),
    }
}

/// A grid in the shape asked for, filled with its background. `shared` finds the leaves of a grid of this call.
///
/// # Safety
/// The request is as the header says.
pub(super) unsafe fn grid(
    s: &abi::Grid,
    port: &PortSpec,
    shared: impl Fn(u64) -> Option<Arc<Vec<[i32; 3]>>>,
) -> Result<Grid, String> {
    let element = element(s.element)?;
    let sampling =
        crate::loader::sampling(s.sampling).ok_or_else(|| format!("sampling {} is unknown", s.sampling.0))?;
    let asked = Carries::Grid { element, components: s.components as usize, sampling };
    if asked != port.carries {
        return Err(format!(
            "it was shaped as a {} but is declared as a {}",
            asked.described(),
            port.carries.described()
        ));
    }
    let reused = (s.topology_id != 0).then(|| shared(s.topology_id)).flatten();
    let topology_id = if reused.is_some() { s.topology_id } else { next_stamp() };
    let origins = match reused {
        Some(o) => o,
        // SAFETY: `origins` leads to `leaf_count` triples.
        None => Arc::new(unsafe { list(s.origins.cast::<[i32; 3]>(), s.leaf_count) }?),
    };
    let mut g = Grid::new(element, s.components as usize, sampling);
    // SAFETY: `tiles` leads to `tile_count` tiles, `tile_values` to as many values per component.
    let (tiles, values) = unsafe {
        (
            list(s.tiles, s.tile_count)?,
            list(s.tile_values, s.tile_count.saturating_mul(u64::from(s.components)))?,
        )
    };
    let tile = |(t, v): (&abi::Tile, &[f64])| {
        let mut value = [0.0; MAX_COMPONENTS];
        value[..v.len()].copy_from_slice(v);
        Tile { origin: t.origin, edge: t.edge.max(0) as u32, value }
    };
    g.tiles =
        Arc::new(tiles.iter().zip(values.chunks_exact(s.components.max(1) as usize)).map(tile).collect());
    g.background = s.background;
    g.transform = s.index_to_world;
    g.topology_id = topology_id;
    let len = origins.len() as u64 * LEAF_VOXELS as u64;
    for (c, channel) in g.channels.iter_mut().enumerate() {
        *channel = Arc::new(filled(element, len, s.background[c])?);
    }
    g.origins = origins;
    match g.defect() {
        Some(defect) => Err(defect),
        None => Ok(g),
    }
}

/// Geometry in the shape asked for, all zero; so many `threads` write the zeros.
///
/// # Safety
/// The request is as the header says.
pub(super) unsafe fn geometry(s: &abi::Geometry, threads: u32) -> Result<Geometry, String> {
    let (points, vertices, primitives) = (s.point_count, s.vertex_count, s.primitive_count);
    if points.max(vertices).max(primitives) > u64::from(u32::MAX) {
        return Err(format!("{points} points, {vertices} vertices are more than a geometry may have"));
    }
    let zeros = |n: u64| {
        let mut v: Vec<u32> = Vec::new();
        crate::process::trying(|| v.try_reserve_exact(n as usize))
            .map_err(|_| format!("there is no memory for {n} vertices"))?;
        v.resize(n as usize, 0);
        Ok::<_, String>(Arc::new(v))
    };
    let primitives = match s.primitive {
        abi::Primitive::POINTS => Primitives::Points,
        abi::Primitive::POLYLINES => {
            Primitives::Polylines { starts: zeros(primitives + 1)?, vertices: zeros(vertices)? }
        }
        abi::Primitive::TRIANGLES if primitives.checked_mul(3) == Some(vertices) => {
            Primitives::Triangles { vertices: zeros(vertices)? }
        }
        abi::Primitive::TRIANGLES => {
            return Err(format!("{primitives} triangles do not have {vertices} vertices"));
        }
        other => return Err(format!("primitive kind {} is unknown", other.0)),
    };
    let mut g = Geometry { points: points as usize, primitives, origin: s.origin, ..Geometry::default() };
    if s.attribute_count > MAX_PARTS {
        return Err(format!("{} attributes are more than a geometry may have", s.attribute_count));
    }
    let mut wanted: Vec<Wanted> = Vec::new();
    // SAFETY: `attributes` leads to `attribute_count` requests.
    for a in unsafe { abi::read_array(s.attributes, s.attribute_count) } {
        // SAFETY: as above, for the name.
        let next = unsafe { Wanted::read(&a, |owner| g.count(owner)) }?;
        if wanted.iter().any(|w| (w.owner, &w.name) == (next.owner, &next.name)) {
            return Err(format!("attribute `{}` is asked for twice", next.name));
        }
        wanted.push(next);
    }
    g.attributes = make_all(wanted, threads)?;
    Ok(g)
}

/// An attribute that was asked for.
struct Wanted {
    name: String,
    owner: Owner,
    element: Element,
    components: usize,
    meaning: Meaning,
    /// Number of values.
    len: u64,
}

impl Wanted {
    /// # Safety
    /// The name of the request is a string.
    unsafe fn read(a: &abi::Attribute, count: impl Fn(Owner) -> usize) -> Result<Self, String> {
        // SAFETY: the caller's promise.
        let name = unsafe { name(a.name) }?;
        let (owner, element) = (owner(a.on)?, element(a.element)?);
        if !(1..=64).contains(&a.components) {
            return Err(format!("attribute `{name}` has {} components, 1 to 64 are possible", a.components));
        }
        let len = count(owner) as u64 * u64::from(a.components);
        Ok(Self { name, owner, element, components: a.components as usize, meaning: meaning(a.meaning), len })
    }

    /// The attribute, all zero.
    fn make(self) -> Result<Attribute, String> {
        let values = filled(self.element, self.len, 0.0)?;
        Ok(self.with(values))
    }

    fn with(self, values: Array) -> Attribute {
        let Self { name, owner, components, meaning, .. } = self;
        Attribute { name, owner, components, meaning, values: Arc::new(values), value_id: next_stamp() }
    }
}

/// Attributes, all zero. Large ones are zeroed by a second thread as well, because one thread does not use the memory's
/// full bandwidth.
fn make_all(wanted: Vec<Wanted>, threads: u32) -> Result<Vec<Attribute>, String> {
    /// The lower bound: bytes that take longer to zero than a thread takes to start. The upper bound: bytes that the
    /// process keeps when they are freed; larger arrays come from the system, which zeroes them.
    const MANY: std::ops::Range<u64> = 1 << 23..1 << 30;
    let bytes = |w: &Wanted| w.len.saturating_mul(w.element.size() as u64);
    let all = wanted.iter().map(bytes).fold(0, u64::saturating_add);
    if threads < 2 || !MANY.contains(&all) {
        return wanted.into_iter().map(Wanted::make).collect();
    }
    // The memory is reserved before any other thread starts.
    let empty: Result<Vec<Array>, String> = wanted.iter().map(|w| room(w.element, w.len)).collect();
    let mut arrays: Vec<(Array, usize)> =
        empty?.into_iter().zip(wanted.iter().map(|w| w.len as usize)).collect();
    let mut sum = 0;
    let half = wanted.iter().position(|w| {
        sum += bytes(w);
        sum > all / 2
    });
    let zero = |arrays: &mut [(Array, usize)]| arrays.iter_mut().for_each(|(array, len)| array.resize(*len));
    let (first, rest) = arrays.split_at_mut(half.unwrap_or(0));
    std::thread::scope(|scope| {
        // If no thread can start, its part is zeroed below.
        let helper = std::thread::Builder::new().spawn_scoped(scope, move || zero(rest));
        zero(first);
        drop(helper);
    });
    zero(&mut arrays);
    let attributes = wanted.into_iter().zip(arrays);
    Ok(attributes.map(|(wanted, (values, _))| wanted.with(values)).collect())
}

/// An attribute in the shape asked for, all zero.
///
/// # Safety
/// The name of the request is a string.
pub(super) unsafe fn attribute(
    a: &abi::Attribute,
    count: impl Fn(Owner) -> usize,
) -> Result<Attribute, String> {
    // SAFETY: the caller's promise.
    unsafe { Wanted::read(a, count) }?.make()
}

/// An array in the shape asked for, all zero.
///
/// # Safety
/// The name of the request is a string.
pub(super) unsafe fn column(a: &abi::Array) -> Result<Column, String> {
    // SAFETY: the caller's promise.
    let name = unsafe { name(a.name) }?;
    let len =
        a.count.checked_mul(u64::from(a.components)).ok_or_else(|| format!("array `{name}` is too long"))?;
    let values = Arc::new(filled(element(a.element)?, len, 0.0)?);
    Ok(Column { name, components: a.components as usize, values, value_id: next_stamp() })
}

/// A table in the shape asked for, all zero.
///
/// # Safety
/// The request is as the header says.
pub(super) unsafe fn table(s: &abi::Table) -> Result<Table, String> {
    if s.array_count > MAX_PARTS {
        return Err(format!("{} arrays are more than a table may have", s.array_count));
    }
    let mut t = Table::default();
    // SAFETY: `arrays` leads to `array_count` requests.
    for a in unsafe { abi::read_array(s.arrays, s.array_count) } {
        // SAFETY: as above, for the name.
        let made = unsafe { column(&a) }?;
        if t.column(&made.name).is_some() {
            return Err(format!("array `{}` is asked for twice", made.name));
        }
        t.columns.push(made);
    }
    Ok(t)
}
