//! Takes over the writes of a call: checks shapes and finite values, merges contributions.

use super::Written;
use crate::data::{Array, Attribute, Data, Element, Geometry, Grid, LEAF_VOXELS, MAX_COMPONENTS, Object};
use crate::engine::state::{Slot, State};
use crate::node::{Merge, PortSpec};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Takes the writes of a node into the state. `writers` remembers which node wrote what in this substep, so that a
/// second writer's contribution is merged by the port's rule. `threads` check that values are finite. The error is one
/// sentence.
pub(in crate::engine) fn commit(
    state: &mut State,
    writes: BTreeMap<Slot, Written>,
    ports: &[PortSpec],
    node: usize,
    stage: crate::node::Stage,
    writers: &mut BTreeMap<Slot, usize>,
    threads: u32,
) -> Result<(), String> {
    let made = || writes.iter().filter_map(|(slot, written)| Some((slot, written.data.as_ref()?)));
    let sound = all_finite(made(), state, threads);
    for (slot, data) in made() {
        let name = &slot.port;
        if let Some(defect) = defect(data) {
            return Err(format!("port `{name}`: {defect}"));
        }
        if let Some(place) = non_finite(data, state.get(slot), sound) {
            return Err(format!("port `{name}`: {place}"));
        }
    }
    for (slot, Written { port, data }) in writes {
        let Some(spec) = ports.get(port) else { continue };
        let holder = state.holders.entry(slot.holder).or_insert_with(|| Object::new("", ""));
        let Some(data) = data else {
            holder.ports.remove(&slot.port);
            writers.remove(&slot);
            continue;
        };
        let before = holder.ports.get(&slot.port);
        let merges = !spec.access(stage).reads && writers.get(&slot).is_some_and(|&w| w != node);
        let merge = |put: fn(f64, f64) -> f64, old: &Grid, new: &Grid| {
            merged(old, new, put).map_err(|e| format!("port `{}`: {e}", slot.port))
        };
        let data = match (spec.merge, data, before.map(|p| &p.data)) {
            (Merge::Add, Data::Grid(new), Some(Data::Grid(old))) if merges => {
                Data::Grid(merge(|a, b| a + b, old, &new)?)
            }
            (Merge::Min, Data::Grid(new), Some(Data::Grid(old))) if merges => {
                Data::Grid(merge(f64::min, old, &new)?)
            }
            (_, data, _) => data,
        };
        // A force changes what is there, and says nothing of how long it lives.
        let lifetime = before.filter(|_| spec.is_every_movable()).map_or(spec.lifetime, |p| p.lifetime);
        holder.set(&slot.port, lifetime, data);
        writers.insert(slot, node);
    }
    Ok(())
}

/// What is wrong with data from a file, if anything: its shape, or a value that is not finite.
pub(in crate::engine) fn unsound(data: &Data) -> Option<String> {
    defect(data).or_else(|| non_finite(data, None, false))
}

fn defect(data: &Data) -> Option<String> {
    match data {
        Data::Grid(g) => g.defect(),
        Data::Geometry(g) => g.defect(),
        Data::Table(_) => None,
    }
}

/// The large arrays that differ from those that were there before.
fn changed<'a>(data: &'a Data, before: Option<&Data>) -> Vec<&'a Array> {
    let is_new = |a: &Arc<Array>, old: Option<&Arc<Array>>| old.is_none_or(|old| !Arc::ptr_eq(old, a));
    match (data, before) {
        (Data::Grid(g), before) => {
            let old = if let Some(Data::Grid(o)) = before { Some(o) } else { None };
            let old = |c: usize| old.and_then(|o| o.channels.get(c));
            let channels = g.channels.iter().enumerate();
            channels.filter(|(c, a)| is_new(a, old(*c))).map(|(_, a)| &**a).collect()
        }
        (Data::Geometry(g), before) => {
            let old = if let Some(Data::Geometry(o)) = before { Some(o) } else { None };
            let old = |a: &Attribute| Some(&old?.attribute(a.owner, &a.name)?.values);
            g.attributes.iter().filter(|a| is_new(&a.values, old(a))).map(|a| &*a.values).collect()
        }
        (Data::Table(_), _) => Vec::new(),
    }
}

/// True where every large array that changed is finite.
fn all_finite<'a>(writes: impl Iterator<Item = (&'a Slot, &'a Data)>, state: &State, threads: u32) -> bool {
    /// Number of bytes up to which a check by one thread is faster than starting another.
    const FEW: usize = 1 << 22;
    /// Number of threads that use the full memory bandwidth.
    const MOST: u32 = 4;
    let arrays: Vec<&Array> = writes.flat_map(|(slot, data)| changed(data, state.get(slot))).collect();
    let next = AtomicUsize::new(0);
    let look = || {
        let mut array = || arrays.get(next.fetch_add(1, Ordering::Relaxed));
        std::iter::from_fn(&mut array).all(|a| a.first_non_finite().is_none())
    };
    if arrays.iter().map(|a| a.bytes()).sum::<usize>() < FEW {
        return look();
    }
    std::thread::scope(|scope| {
        let helper = |_| std::thread::Builder::new().spawn_scoped(scope, look).ok();
        let helpers: Vec<_> = (1..threads.min(MOST)).filter_map(helper).collect();
        let own = look();
        helpers.into_iter().fold(own, |sound, helper| sound & helper.join().unwrap_or(false))
    })
}

/// Where a value that is not finite stands, looking only at what changed, and at arrays unless they are `sound`.
fn non_finite(data: &Data, before: Option<&Data>, sound: bool) -> Option<String> {
    match (data, before) {
        (Data::Grid(g), before) => {
            let old = if let Some(Data::Grid(o)) = before { Some(o) } else { None };
            non_finite_grid(g, old, sound)
        }
        (Data::Geometry(_), _) if sound => None,
        (Data::Geometry(g), before) => {
            let old = if let Some(Data::Geometry(o)) = before { Some(o) } else { None };
            non_finite_geometry(g, old)
        }
        (Data::Table(t), _) => t.columns.iter().find_map(|c| {
            let nan = (0..c.values.len()).find(|&i| c.values.get(i).is_some_and(f64::is_nan));
            nan.filter(|_| is_float(&c.values)).map(|i| format!("array `{}` holds NaN at entry {i}", c.name))
        }),
    }
}

fn is_float(a: &Array) -> bool {
    matches!(a.element(), Element::F32 | Element::F64)
}

fn non_finite_grid(g: &Grid, old: Option<&Grid>, sound: bool) -> Option<String> {
    if let Some(x) = g.transform.iter().chain(&g.background).find(|x| !x.is_finite()) {
        return Some(format!("its transform or background holds {x}"));
    }
    if let Some(t) = g.tiles.iter().find(|t| t.value.iter().any(|x| !x.is_finite())) {
        return Some(format!("the tile at {:?} is not finite", t.origin));
    }
    if sound {
        return None;
    }
    g.channels.iter().enumerate().find_map(|(c, a)| {
        if old.and_then(|o| o.channels.get(c)).is_some_and(|o| Arc::ptr_eq(o, a)) {
            return None;
        }
        let at = a.first_non_finite()?;
        let n = at % LEAF_VOXELS;
        let local = [n >> 6, n >> 3 & 7, n & 7];
        let origin = g.origins.get(at / LEAF_VOXELS)?;
        let voxel: [i32; 3] = std::array::from_fn(|i| origin[i] + local[i] as i32);
        Some(format!("component {c} is {} at voxel {voxel:?}", a.get(at)?))
    })
}

fn non_finite_geometry(g: &Geometry, old: Option<&Geometry>) -> Option<String> {
    g.attributes.iter().find_map(|a| {
        if old.and_then(|o| o.attribute(a.owner, &a.name)).is_some_and(|o| Arc::ptr_eq(&o.values, &a.values))
        {
            return None;
        }
        let at = a.values.first_non_finite()?;
        Some(format!(
            "attribute `{}` is {} at element {}",
            a.name,
            a.values.get(at)?,
            at / a.components.max(1)
        ))
    })
}

/// Two contributions to a grid put together voxel by voxel; where one has no leaf, its background stands.
fn merged(a: &Grid, b: &Grid, put: impl Fn(f64, f64) -> f64) -> Result<Grid, String> {
    if (a.element, a.components(), a.sampling, a.transform)
        != (b.element, b.components(), b.sampling, b.transform)
    {
        return Err("two nodes contribute grids of different types or transforms".into());
    }
    let mut origins: Vec<[i32; 3]> = a.origins.iter().chain(b.origins.iter()).copied().collect();
    origins.sort_unstable();
    origins.dedup();
    let mut out = Grid::new(a.element, a.components(), a.sampling);
    out.transform = a.transform;
    out.background = std::array::from_fn(|c| put(a.background[c], b.background[c]));
    let mut tiles = (*a.tiles).clone();
    tiles
        .extend(b.tiles.iter().filter(|t| !a.tiles.iter().any(|o| (o.origin, o.edge) == (t.origin, t.edge))));
    for t in &mut tiles {
        let value = |g: &Grid| -> [f64; MAX_COMPONENTS] { std::array::from_fn(|c| g.value(c, t.origin)) };
        let (x, y) = (value(a), value(b));
        t.value = std::array::from_fn(|c| put(x[c], y[c]));
    }
    out.shape(origins, tiles);
    for c in 0..out.components() {
        let values: Vec<f64> = out
            .origins
            .iter()
            .flat_map(|o| {
                (0..LEAF_VOXELS)
                    .map(move |n| [o[0] + (n >> 6) as i32, o[1] + (n >> 3 & 7) as i32, o[2] + (n & 7) as i32])
            })
            .map(|ijk| put(a.value(c, ijk), b.value(c, ijk)))
            .collect();
        out.channels[c] = Arc::new(cast(a.element, &values));
    }
    Ok(out)
}

fn cast(element: Element, values: &[f64]) -> Array {
    match element {
        Element::F32 => Array::F32(values.iter().map(|&x| x as f32).collect()),
        Element::F64 => Array::F64(values.to_vec()),
        Element::I32 => Array::I32(values.iter().map(|&x| x as i32).collect()),
        Element::I64 => Array::I64(values.iter().map(|&x| x as i64).collect()),
        Element::U8 => Array::U8(values.iter().map(|&x| x as u8).collect()),
        Element::U32 => Array::U32(values.iter().map(|&x| x as u32).collect()),
        Element::U64 => Array::U64(values.iter().map(|&x| x as u64).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Sampling;

    fn grid(origin: [i32; 3], value: f32) -> Grid {
        let mut g = Grid::new(Element::F32, 1, Sampling::Centre);
        g.shape(vec![origin], vec![]);
        g.channels[0] = Arc::new(Array::F32(vec![value; LEAF_VOXELS]));
        g
    }

    #[test]
    fn contributions_are_merged_over_the_union_of_leaves() {
        let (a, mut b) = (grid([0, 0, 0], 2.0), grid([8, 0, 0], 3.0));
        b.background[0] = 0.5;
        let sum = merged(&a, &b, |x, y| x + y).unwrap();
        assert_eq!((sum.leaves(), sum.value(0, [0, 0, 0]), sum.value(0, [8, 0, 0])), (2, 2.5, 3.0));
        assert_eq!(merged(&a, &b, f64::min).unwrap().value(0, [1, 1, 1]), 0.5);
        b.transform[0] = 2.0;
        assert!(merged(&a, &b, f64::min).is_err());
    }

    #[test]
    fn a_value_that_is_not_finite_is_found_with_its_voxel() {
        let mut g = grid([8, 0, 0], 1.0);
        if let Array::F32(v) = Arc::make_mut(&mut g.channels[0]) {
            v[64 + 8 * 2 + 3] = f32::NAN;
        }
        let place = non_finite(&Data::Grid(g.clone()), None, false).unwrap();
        assert_eq!(place, "component 0 is NaN at voxel [9, 2, 3]");
        // An array that did not change was checked before and is not checked again.
        assert_eq!(non_finite(&Data::Grid(g.clone()), Some(&Data::Grid(g)), false), None);
    }
}
