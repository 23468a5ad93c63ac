//! What a projection of two liquids hands to each of them.

use super::*;
use crate::coupling::Bubble;
use crate::coupling::several::Joined;

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
