//! What several nodes put into one port in a substep, merged so that it does not matter who was first.

use crate::data::{Array, Element, Grid, LEAF_VOXELS, MAX_COMPONENTS};
use crate::engine::state::Slot;
use crate::node::Merge;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The contributions of one substep, by port.
#[derive(Debug, Default)]
pub(in crate::engine) struct Contributions(BTreeMap<Slot, Parts>);

/// What nodes put into one port.
#[derive(Debug, Default)]
struct Parts {
    /// Who replaced what was there; what it left becomes its contribution when others join it.
    base: Option<String>,
    /// By node, so that they are merged in the order of names.
    of: BTreeMap<String, Grid>,
}

impl Contributions {
    /// A node replaced what was there: what others contribute from now on joins it.
    pub(super) fn replaced(&mut self, slot: &Slot, node: &str) {
        self.0.insert(slot.clone(), Parts { base: Some(node.into()), of: BTreeMap::new() });
    }

    /// What is at a port after a node contributed `new`, in place of what it contributed before; `there` is what is there
    /// now. `None`: nothing is.
    pub(super) fn contributed(
        &mut self,
        slot: &Slot,
        node: &str,
        rule: Merge,
        new: Option<Grid>,
        there: Option<&Grid>,
    ) -> Result<Option<Grid>, String> {
        let Parts { base, of: parts } = self.0.entry(slot.clone()).or_default();
        if let Some((base, there)) = base.take().zip(there) {
            parts.insert(base, there.clone());
        }
        match new {
            Some(new) => drop(parts.insert(node.into(), new)),
            None => drop(parts.remove(node)),
        }
        let mut all = parts.iter();
        let Some((first, sum)) = all.next() else { return Ok(None) };
        let mut sum = sum.clone();
        for (name, part) in all {
            let put: fn(f64, f64) -> f64 = if rule == Merge::Min { f64::min } else { |a, b| a + b };
            sum = merged(&sum, part, put).ok_or_else(|| {
                format!("`{first}` and `{name}` contribute grids of different types or transforms")
            })?;
        }
        Ok(Some(sum))
    }
}

/// Two contributions to a grid put together voxel by voxel; where one has no leaf, its background stands. `None` where
/// their shapes differ.
fn merged(a: &Grid, b: &Grid, put: impl Fn(f64, f64) -> f64) -> Option<Grid> {
    if (a.element, a.components(), a.sampling, a.transform)
        != (b.element, b.components(), b.sampling, b.transform)
    {
        return None;
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
    Some(out)
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
    use crate::engine::state::Holder;

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
        assert!(merged(&a, &b, f64::min).is_none());
    }

    /// What is there after nodes contributed or (`None`) took back, in this order.
    fn after(rule: Merge, acts: &[(&str, Option<f32>)]) -> Option<f64> {
        let slot = Slot { holder: Holder::Object(0), port: "push".into() };
        let (mut all, mut there) = (Contributions::default(), None);
        for (node, value) in acts {
            let new = value.map(|v| grid([0; 3], v));
            there = all.contributed(&slot, node, rule, new, there.as_ref()).unwrap();
        }
        there.map(|g| g.value(0, [0; 3]))
    }

    #[test]
    fn the_order_of_contributions_does_not_matter_nor_how_often_one_is_written_anew() {
        // In f32 a sum depends on its order.
        let (a, b, c) = (("a", Some(1e8)), ("b", Some(-1e8)), ("c", Some(0.5)));
        for order in [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]] {
            assert_eq!(after(Merge::Add, &order), Some(0.5), "{order:?}");
            assert_eq!(after(Merge::Min, &order), Some(-1e8), "{order:?}");
        }
        let first = ("a", Some(7.0));
        for order in [[first, b, a], [b, first, a], [first, a, b]] {
            assert_eq!(after(Merge::Add, &order), Some(0.0), "{order:?}");
        }
        assert_eq!(after(Merge::Min, &[a, b, ("b", None)]), Some(1e8));
        assert_eq!(after(Merge::Add, &[a, ("a", None)]), None);
    }

    #[test]
    fn what_replaces_is_joined_by_what_follows() {
        let slot = Slot { holder: Holder::Object(0), port: "push".into() };
        let mut all = Contributions::default();
        let before = all.contributed(&slot, "z", Merge::Add, Some(grid([0; 3], 100.0)), None).unwrap();
        assert_eq!(before.unwrap().value(0, [0; 3]), 100.0);
        all.replaced(&slot, "m");
        let there = grid([0; 3], 1.0);
        let sum =
            all.contributed(&slot, "a", Merge::Add, Some(grid([0; 3], 2.0)), Some(&there)).unwrap().unwrap();
        assert_eq!(sum.value(0, [0; 3]), 3.0);
        let sum =
            all.contributed(&slot, "a", Merge::Add, Some(grid([0; 3], 4.0)), Some(&sum)).unwrap().unwrap();
        assert_eq!(sum.value(0, [0; 3]), 5.0);
        // Who replaced it contributes in its own place.
        let sum =
            all.contributed(&slot, "m", Merge::Add, Some(grid([0; 3], 8.0)), Some(&sum)).unwrap().unwrap();
        assert_eq!(sum.value(0, [0; 3]), 12.0);
    }
}
