use super::*;
use crate::grid::Grid;
use proptest::prelude::*;
use std::sync::Arc;

/// Particles in a cell, −1 in a solid one without, and in an empty sliver alone among others that are not dry.
fn content(cells: &Cells, open: &Grid<f32>, c: Coord) -> f32 {
    let is_sliver = cells.topology.slot_of(c).is_some_and(|s| open.values[s] < SLIVER);
    let is_alone = || around(c).filter(|&there| there != c).all(|c| counted(cells, open, c) != 0.0);
    let own = counted(cells, open, c);
    if own == 0.0 && is_sliver && is_alone() { -1.0 } else { own }
}

/// Particles in a cell, −1 in a solid one without.
fn counted(cells: &Cells, open: &Grid<f32>, c: Coord) -> f32 {
    match cells.topology.slot_of(c) {
        None => 0.0,
        Some(s) if cells.count(s) == 0 && open.values[s] < LEAST_OPEN => -1.0,
        Some(s) => cells.count(s) as f32,
    }
}

fn around(c: Coord) -> impl Iterator<Item = Coord> {
    (0..27).map(move |d| c + Coord::new(d / 9, d / 3 % 3, d % 3) - 1)
}

fn is_full(cells: &Cells, open: &Grid<f32>, c: Coord, per_voxel: f32) -> bool {
    let of = |c| content(cells, open, c);
    let total: f32 = around(c).map(|c| of(c).max(0.0)).sum();
    let room = |c: Coord| cells.topology.slot_of(c).map_or(1.0, |s| open.values[s]);
    let rooms: f32 = around(c).filter(|&c| of(c) != -1.0).map(room).sum();
    let no_other_is_dry = around(c).filter(|&there| there != c).all(|c| of(c) != 0.0);
    total > 0.0 && total >= 0.5 * per_voxel * rooms && no_other_is_dry
}

fn weight(cells: &Cells, open: &Grid<f32>, c: Coord, per_voxel: f32) -> f32 {
    let own = content(cells, open, c).max(0.0);
    let full = |&c: &Coord| cells.topology.slot_of(c).is_some() && is_full(cells, open, c, per_voxel);
    let room = |c: Coord| cells.topology.slot_of(c).map_or(1.0, |s| open.values[s]);
    match (full(&c), own > 0.0) {
        (true, true) if room(c) == 1.0 => 1.0 / own,
        (true, _) => room(c),
        (false, true) => {
            let wet = around(c).filter(full).filter(|&c| content(cells, open, c) > 0.0);
            let add = |(sum, rooms), c| (sum + content(cells, open, c), rooms + room(c));
            let (sum, rooms) = wet.fold((per_voxel, 1.0), add);
            1.0 / (sum / rooms)
        }
        (false, false) => 0.0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..Default::default() })]
    /// Blocks of liquid, of solid and of cells that are partly solid in random places, with gaps.
    #[test]
    fn weights_are_those_of_each_cell_by_itself(
        liquid in prop::collection::vec((prop::array::uniform3(-8i32..16), 1i32..9, 1u32..12), 1..4),
        solid in prop::collection::vec((prop::array::uniform3(-8i32..16), 1i32..9, 0usize..4), 0..4),
        gaps in prop::collection::vec(prop::array::uniform3(-8i32..16), 0..30),
        leaves in prop::collection::vec(0i32..27, 1..20),
    ) {
        let origin = |n: i32| (Coord::new(n / 9, n / 3 % 3, n % 3) - 1) * 8;
        let topology = Arc::new(Topology::new(leaves.into_iter().map(origin).collect()));
        let within = |c: Coord, corner: [i32; 3], size: i32| {
            let d = c - Coord::from_array(corner);
            d.min_element() >= 0 && d.max_element() < size
        };
        let count = |c: Coord| match gaps.contains(&c.to_array()) {
            true => 0,
            false => liquid.iter().filter(|l| within(c, l.0, l.1)).map(|l| l.2).sum::<u32>(),
        };
        let mut start = vec![0];
        (0..topology.len() * leaf::SIZE).for_each(|s| start.push(start[s] + count(topology.coord(s))));
        let cells = Cells { topology: topology.clone(), start, full: None };
        let is_open = |c: Coord| {
            let cut = solid.iter().find(|s| within(c, s.0, s.1));
            cut.map_or(1.0, |s| [0.0, 0.125, 0.25, 0.75][s.2])
        };
        let open = Grid::from_fn(topology.clone(), 1.0, is_open);
        let weights = Weights::new(&cells, None, Some(&open.values), 8.0);
        for l in 0..topology.len() {
            let found = weights.in_leaf(l);
            for (n, &found) in found.iter().enumerate() {
                let wanted = weight(&cells, &open, topology.coord(l * leaf::SIZE + n), 8.0);
                prop_assert_eq!(found, wanted);
                prop_assert!(weights.any[l] || wanted == 0.0);
            }
        }
    }
}
