//! Takes over the writes of a call: checks shapes and finite values, merges contributions.

use super::Written;
use super::merge::Contributions;
use crate::data::{Array, Attribute, Data, Element, Geometry, Grid, LEAF_VOXELS, Object};
use crate::engine::state::{Slot, State};
use crate::node::{Merge, PortSpec};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Takes the writes of a node into the state. `contributions` remembers what each node contributed in this substep to
/// ports that several share. `threads` check that values are finite. The error is one sentence.
pub(in crate::engine) fn commit(
    state: &mut State,
    writes: BTreeMap<Slot, Written>,
    ports: &[PortSpec],
    node: &str,
    stage: crate::node::Stage,
    contributions: &mut Contributions,
    threads: u32,
) -> Result<(), String> {
    let made = || writes.iter().filter_map(|(slot, written)| Some((slot, written.data.as_ref()?)));
    let sound = all_finite(made(), state, threads);
    for (slot, data) in made() {
        let name = &slot.port;
        if let Some(defect) = defect(data) {
            return Err(format!("`{name}`: {defect}"));
        }
        if let Some(place) = non_finite(data, state.get(slot), sound) {
            return Err(format!("`{name}`: {place}"));
        }
    }
    for (slot, Written { port, data }) in writes {
        let Some(spec) = ports.get(port) else { continue };
        let holder = state.holders.entry(slot.holder).or_insert_with(|| Object::new("", ""));
        let before = holder.ports.get(&slot.port);
        let data = if spec.merge == Merge::Replace || spec.access(stage).reads {
            contributions.replaced(&slot, node);
            data
        } else {
            let new = if let Some(Data::Grid(g)) = data { Some(g) } else { None };
            let there = if let Some(Data::Grid(g)) = before.map(|p| &p.data) { Some(g) } else { None };
            let all = contributions.contributed(&slot, node, spec.merge, new, there);
            all.map_err(|e| format!("`{}`: {e}", slot.port))?.map(Data::Grid)
        };
        let Some(data) = data else {
            holder.ports.remove(&slot.port);
            continue;
        };
        // A force changes what is there, and says nothing of how long it lives.
        let lifetime = before.filter(|_| spec.is_every_movable()).map_or(spec.lifetime, |p| p.lifetime);
        holder.set(&slot.port, lifetime, data);
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
    if !g.has_place() {
        return Some("its transform gives voxels no volume, or is not affine".into());
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
