//! Which particles are near a place.

use glam::{DVec3, IVec3};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Places sorted into cubes as wide as the distance that is asked for.
pub(super) struct Neighbours {
    edge: f64,
    /// Numbers of the places, cube by cube, ascending in each.
    sorted: Vec<u32>,
    /// Range in `sorted` of each cube.
    cubes: FxHashMap<IVec3, (u32, u32)>,
}

impl Neighbours {
    /// Of places, to be asked for neighbours within `reach`.
    pub(super) fn new(places: &[DVec3], reach: f64) -> Self {
        let cube = |p: &DVec3| (*p / reach).floor().as_ivec3();
        let mut sorted: Vec<u32> = (0..places.len() as u32).collect();
        sorted.par_sort_unstable_by_key(|&n| (cube(&places[n as usize]).to_array(), n));
        let mut cubes = FxHashMap::default();
        let mut first = 0;
        for run in sorted.chunk_by(|&a, &b| cube(&places[a as usize]) == cube(&places[b as usize])) {
            let end = first + run.len() as u32;
            cubes.insert(cube(&places[run[0] as usize]), (first, end));
            first = end;
        }
        Self { edge: reach, sorted, cubes }
    }

    /// Numbers of the places in the 27 cubes around a place, always in the same order.
    pub(super) fn around(&self, place: DVec3) -> impl Iterator<Item = usize> + '_ {
        let middle = (place / self.edge).floor().as_ivec3();
        let cubes = (0..27).map(move |n| middle + IVec3::new(n / 9, n / 3 % 3, n % 3) - 1);
        let ranges = cubes.filter_map(|cube| self.cubes.get(&cube));
        ranges.flat_map(|&(first, end)| &self.sorted[first as usize..end as usize]).map(|&n| n as usize)
    }
}
