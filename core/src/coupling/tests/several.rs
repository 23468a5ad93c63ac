//! What a projection of two liquids hands to each of them.

use super::*;
use crate::coupling::several::Joined;
use crate::coupling::{Bubble, CELL_GRIDS, FaceGrids};
use glam::ivec3;

const H: f64 = 0.01;
const DT: f64 = 0.01;
const RADIUS: f64 = 0.035;
/// The liquids meet in the plane x = 0.12 m.
const BETWEEN: DVec3 = DVec3::new(0.12, 0.08, 0.08);
const IN_THE_RIGHT: DVec3 = DVec3::new(0.24, 0.08, 0.08);

/// One of two liquids that fill a tank but for a bubble around `centre`.
fn liquid(is_left: bool, centre: DVec3) -> Scene {
    let side = if is_left { 1.0 } else { -1.0 };
    let phi = move |p: DVec3| (side * (p.x - 0.12)).max(RADIUS - p.distance(centre));
    Scene::still(H, IVec3::new(32, 16, 16), [true; 6], phi, empty).falling(DT)
}

/// The bubbles of the projection, and those listed at each liquid.
fn bubbles(liquids: [&Scene; 2]) -> (Vec<Bubble>, [Vec<Bubble>; 2]) {
    let fields = liquids.map(Scene::fields);
    let joined = Joined::of(&fields, &liquids.map(|scene| &scene.vel));
    let mut vel = joined.velocity().clone();
    let all = joined.fields(&fields).unwrap();
    let projected =
        constraint_bubbles::project(&all, &mut vel, DT, &mut PlainCg, &TIGHT, &mut run_on).unwrap();
    let listed =
        [0, 1].map(|i| joined.handed_to(i, &fields[i], &liquids[i].vel, &projected, &vel).projection.bubbles);
    (projected.bubbles, listed)
}

#[test]
fn a_bubble_between_two_liquids_is_listed_once_whichever_comes_first() {
    let [left, right] = [true, false].map(|is_left| liquid(is_left, BETWEEN));
    for liquids in [[&left, &right], [&right, &left]] {
        let (all, [first, second]) = bubbles(liquids);
        assert_eq!(all.len(), 1, "{all:?}");
        assert!(all[0].constrained && !all[0].exterior, "{all:?}");
        assert_eq!([first.len(), second.len()], [1, 0], "{first:?} {second:?}");
        assert_eq!((first[0].id, first[0].volume), (all[0].id, all[0].volume));
    }
}

#[test]
fn a_bubble_in_one_of_two_liquids_is_listed_there() {
    let [left, right] = [true, false].map(|is_left| liquid(is_left, IN_THE_RIGHT));
    for (liquids, at) in [([&left, &right], 1), ([&right, &left], 0)] {
        let (all, listed) = bubbles(liquids);
        assert_eq!(all.len(), 1, "{all:?}");
        assert_eq!(listed.map(|bubbles| bubbles.len()), if at == 0 { [1, 0] } else { [0, 1] });
    }
}

/// A grid of one value on the leaves of a liquid's surface.
fn flat(scene: &Scene, value: f32) -> Grid<f32> {
    let mut grid = Grid::new(scene.surface.topology.clone(), 0.0);
    grid.values.fill(value);
    grid
}

/// What each liquid has per cell, by rule: of the owner (tension, divergence), the greatest (swelling), the sum (spray), of the
/// first liquid that has the leaf (pressure).
#[test]
fn what_liquids_have_per_cell_is_joined_by_its_rule_in_either_order() {
    let [left, right] = [true, false].map(|is_left| liquid(is_left, BETWEEN));
    let of = |scene: &Scene, [swelling, tension, spray, pressure]: [f32; 4]| CellGrids {
        swelling: Some(flat(scene, swelling)),
        tension: Some(flat(scene, tension)),
        spray: Some(flat(scene, spray)),
        pressure: Some(flat(scene, pressure)),
        ..CellGrids::default()
    };
    let cells = [of(&left, [-4.0, 3.0, 0.1, 7.0]), of(&right, [3.0, 5.0, 0.2, 9.0])];
    let fields = [left.with(cells[0].as_ref()), right.with(cells[1].as_ref())];
    let [a, b] = [ivec3(4, 8, 8), ivec3(20, 8, 8)];
    for (order, first) in [([0, 1], 7.0), ([1, 0], 9.0)] {
        let (fields, vel) = (order.map(|i| fields[i]), order.map(|i| &[&left, &right][i].vel));
        let joined = Joined::of(&fields, &vel);
        let all = joined.fields(&fields).unwrap().cells;
        let at = |grid: Option<&Grid<f32>>, cell| grid.unwrap().get(cell);
        assert_eq!([a, b].map(|cell| at(all.tension, cell)), [3.0, 5.0]);
        assert!([a, b].iter().all(|&cell| (at(all.spray, cell) - 0.3).abs() < 1e-6));
        assert_eq!([a, b].map(|cell| at(all.swelling, cell)), [-4.0; 2]);
        assert_eq!([a, b].map(|cell| at(all.pressure, cell)), [first; 2]);
        let again = all.after_viscosity();
        assert!(again.tension.is_none() && again.pressure.is_none());
        assert!(again.swelling.is_some() && again.spray.is_some() && again.divergence.is_some());
    }
}

/// A liquid that is alone has what it had.
#[test]
fn what_one_liquid_has_per_cell_stays_as_it_is() {
    let scene = liquid(true, BETWEEN);
    let mut grid = Grid::new(scene.surface.topology.clone(), 0.0);
    grid.values.iter_mut().zip(0..).for_each(|(v, n)| *v = n as f32);
    let given = CellGrids::from([(); CELL_GRIDS.len()].map(|()| Some(&grid)));
    let fields = [scene.with(given)];
    let joined = Joined::of(&fields, &[&scene.vel]);
    let all = joined.fields(&fields).unwrap().cells;
    for of_all in [all.swelling, all.divergence, all.tension, all.spray, all.pressure].map(Option::unwrap) {
        for &origin in scene.surface.topology.origins() {
            assert_eq!(of_all.get(origin + 3), grid.get(origin + 3));
        }
    }
}

/// What liquids have on faces is joined by its rule (here the greatest), on the leaves of all.
#[test]
fn what_liquids_have_on_faces_is_joined_by_its_rule_in_either_order() {
    let [left, right] = [true, false].map(|is_left| liquid(is_left, BETWEEN));
    let leaves = |x: &[i32]| Arc::new(Topology::new(x.iter().map(|&x| ivec3(x, 8, 8)).collect()));
    let shares =
        |x: &[i32], share: f32| FaceGrid::from_fn(leaves(x), 0.0, move |axis, _| share * (axis + 1) as f32);
    let [few, many] = [shares(&[0, 8], 0.1), shares(&[8, 16], 0.3)];
    let of = |scene, inlet| LiquidFields { faces: FaceGrids { inlet: Some(inlet) }, ..Scene::fields(scene) };
    let fields = [of(&left, &few), of(&right, &many)];
    for order in [[0, 1], [1, 0]] {
        let fields = order.map(|i| fields[i]);
        let joined = Joined::of(&fields, &order.map(|i| &[&left, &right][i].vel));
        let all = joined.fields(&fields).unwrap().faces;
        let at = |faces: &FaceGrid<f32>, x, axis| faces.get(axis, ivec3(x, 8, 8));
        for (x, share) in [(0, 0.1), (8, 0.3), (16, 0.3), (24, 0.0)] {
            let found = [0, 1, 2].map(|axis| at(all.inlet.unwrap(), x, axis));
            assert_eq!(found, [share, share * 2.0, share * 3.0], "at {x}");
        }
        assert!(all.after_viscosity().inlet.is_some());
    }
}
