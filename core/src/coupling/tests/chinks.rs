//! Which openings let air through.

use super::regions::{limits, solid_box, walls};
use super::*;
use crate::coupling::air::identity::identify;
use crate::coupling::air::regions::{LABEL_SOLID, Regions};
use crate::coupling::memory::BubbleMemory;
use crate::solid::SolidMemory;
use crate::solid::Solids;
use glam::ivec3;
use std::collections::BTreeSet;

const SIZE: IVec3 = IVec3::new(24, 16, 12);

/// Air with the level set `phi` (voxels) in a closed box, α of whose faces is `alpha` where that says so, else 1.
fn air(phi: impl Fn(Coord) -> f32 + Sync, alpha: impl Fn(usize, Coord) -> Option<f32> + Sync) -> Regions {
    air_after(None, phi, alpha)
}

/// The same, a substep after air that was `before`.
fn air_after(
    before: Option<&BubbleMemory>,
    phi: impl Fn(Coord) -> f32 + Sync,
    alpha: impl Fn(usize, Coord) -> Option<f32> + Sync,
) -> Regions {
    let topology = leaves(IVec3::ZERO, SIZE);
    let closed = walls(IVec3::ZERO, SIZE);
    let surface = Grid::from_fn(topology.clone(), 3.0, phi);
    let open = FaceGrid::from_fn(topology.clone(), 1.0, |a, c| match closed(a, c) {
        true => 0.0,
        false => alpha(a, c).unwrap_or(1.0),
    });
    let vel_solid = FaceGrid::new(topology, 0.0);
    let transform = Transform::uniform(1.0, DVec3::ZERO);
    let fields = water(transform, limits(IVec3::ZERO, SIZE, true), &surface, &open, &vel_solid);
    Regions::find(&LiquidFields { previous_bubbles: before, ..fields })
}

/// The faces of a wall with one hole.
fn wall_with_hole(hole: f32) -> impl Fn(usize, Coord) -> Option<f32> {
    move |axis, c| match (axis, c.x) {
        (0, 12) => Some(if c.y == 4 && c.z == 4 { hole } else { 0.0 }),
        _ => None,
    }
}

#[test]
fn two_rooms_are_one_through_a_hole_but_not_through_a_chink() {
    for (hole, rooms) in [(1.0, 1), (0.6, 1), (0.4, 2), (0.05, 2)] {
        let found = air(|_| 3.0, wall_with_hole(hole));
        assert_eq!(found.air.len(), rooms, "a hole of {hole} of a voxel's face");
        let volume: f64 = found.air.iter().map(|a| a.volume).sum();
        assert!((volume / f64::from(SIZE.element_product()) - 1.0).abs() < 1e-6, "{volume}");
    }
}

#[test]
fn what_water_all_but_fills_is_a_chink_and_open_water_has_none() {
    let wet = |c: Coord| if (c.x == 11 || c.x == 12) && c.y == 4 && c.z == 4 { 0.05 } else { 3.0 };
    assert_eq!(air(wet, wall_with_hole(0.6)).air.len(), 2);
    assert_eq!(air(wet, wall_with_hole(1.0)).air.len(), 1);
}

#[test]
fn what_lies_behind_chinks_alone_belongs_to_the_air_beside_it() {
    // The lowest cells are all but filled by a floor, each a chink from the others, and less so from the room.
    let floor = |axis: usize, c: Coord| match (axis, c.y) {
        (1, 1) => Some(0.3),
        (_, 0) => Some(0.2),
        _ => None,
    };
    let found = air(|_| 3.0, floor);
    assert_eq!(found.air.len(), 1);
    assert!(found.cells.values.iter().all(|&label| label == 0 || label == LABEL_SOLID));
}

/// A room full of air behind the wall, beyond it water but for a gap of two cells at the hole, if there is one.
fn water_with(gap: bool) -> impl Fn(Coord) -> f32 + Sync {
    move |c| if c.x < 12 || gap && c.x < 14 && c.y == 4 && c.z == 4 { 3.0 } else { -1.0 }
}

#[test]
fn a_gap_that_opens_beyond_a_chink_is_not_the_bubbles() {
    let first = air(water_with(false), wall_with_hole(0.05));
    let (volume, memory) = (first.air[0].volume, identify(&first, None, 1.0).memory(first));
    let found = air_after(Some(&memory), water_with(true), wall_with_hole(0.05));
    assert_eq!(found.air.len(), 2, "the bubble has grown through a chink");
    assert!((found.air[0].volume / volume - 1.0).abs() < 1e-6, "{} {volume}", found.air[0].volume);
    // Through an opening it grows, and what was its own stays its own.
    assert_eq!(air_after(Some(&memory), water_with(true), wall_with_hole(0.6)).air.len(), 1);
    let open = air(water_with(true), wall_with_hole(0.6));
    let memory = identify(&open, None, 1.0).memory(open);
    assert_eq!(air_after(Some(&memory), water_with(true), wall_with_hole(0.05)).air.len(), 1);
}

#[test]
fn a_sliver_that_water_leaves_is_the_airs_beside_it() {
    let sliver = |c: Coord| c == ivec3(12, 4, 4);
    let narrow = |axis: usize, c: Coord| {
        if sliver(c) || sliver(c - IVec3::AXES[axis]) {
            return Some(0.3);
        }
        wall_with_hole(0.0)(axis, c)
    };
    let now = |c: Coord| if sliver(c) { 1.0 } else { water_with(false)(c) };
    let first = air(water_with(false), narrow);
    let memory = identify(&first, None, 1.0).memory(first);
    let found = air_after(Some(&memory), now, narrow);
    assert_eq!((found.air.len(), found.cells.get(ivec3(12, 4, 4))), (1, 0));
}

#[test]
fn a_duct_narrower_than_a_voxel_is_one_and_leads_to_one_of_its_ends() {
    let duct = |c: Coord| c.y == 4 && c.z == 4 && (6..18).contains(&c.x);
    let solid = |c: Coord| (6..18).contains(&c.x) && !duct(c);
    let around = move |axis: usize, c: Coord| {
        let below = c - IVec3::AXES[axis];
        if solid(c) || solid(below) {
            return Some(0.0);
        }
        (duct(c) || duct(below)).then_some(if axis == 0 { 0.4 } else { 0.0 })
    };
    let found = air(|_| 3.0, around);
    assert_eq!(found.air.len(), 2, "a duct cuts the rooms at its ends apart");
    // By itself it is one, however many cells long.
    let shut = move |axis: usize, c: Coord| match axis == 0 && (c.x == 6 || c.x == 18) {
        true => Some(0.0),
        false => around(axis, c),
    };
    let found = air(|_| 3.0, shut);
    let inside: BTreeSet<i32> = (6..18).map(|x| found.cells.get(ivec3(x, 4, 4))).collect();
    assert_eq!((found.air.len(), inside.len()), (3, 1));
}

/// A cup upside down in a pool, its lower edge at `rim`, its walls `thick` voxels; the water stands at `inside` in it and
/// at `outside` around it (voxels), as particles show it: with noise of 0.3 voxels. Whether its air is trapped.
fn is_trapped(thick: f64, rim: f64, [inside, outside]: [f64; 2], seed: u64) -> bool {
    let h = 0.01;
    let (centre, inner) = (20.0, 6.0);
    let (near, far, top) = (inner, inner + thick, 24.0);
    let part = |low: [f64; 3], high: [f64; 3]| {
        let at = |p: [f64; 3]| (DVec3::from_array(p) + DVec3::new(centre, 0.0, centre)) * h;
        solid_box(at(low), at(high), h)
    };
    let lid = top + thick;
    let colliders = [
        part([-far, rim, -far], [-near, lid, far]),
        part([near, rim, -far], [far, lid, far]),
        part([-far, rim, -far], [far, lid, -near]),
        part([-far, rim, near], [far, lid, far]),
        part([-far, top, -far], [far, lid, far]),
    ];
    let size = IVec3::new(40, 40, 40);
    let mut domain = DomainLimits::uniform(DVec3::ZERO, size.as_dvec3() * h, Side::Closed);
    domain.sides[3] = Side::Open;
    let transform = Transform::uniform(h, DVec3::splat(0.5 * h));
    let topology = leaves(IVec3::splat(-1), size + 1);
    let solid = SolidMemory::default()
        .fields(&Solids { colliders: &colliders, domain: &domain }, &transform, &topology)
        .clone();
    let surface = Grid::from_fn(topology, 3.0 * h as f32, |c| {
        let at = transform.to_world(c.as_dvec3()) / h;
        let away = (at.x - centre).abs().max((at.z - centre).abs());
        let part = ((away - near) / thick).clamp(0.0, 1.0);
        let level = inside + part * (outside - inside);
        let chance =
            noise(seed.wrapping_mul(1_000_003) ^ (c.x as u64) << 40 ^ (c.y as u64) << 20 ^ c.z as u64);
        ((at.y - level + 0.3 * chance) * h) as f32
    });
    let found = Regions::find(&water(transform, domain, &surface, &solid.open, &solid.velocity));
    let label = found.cells.get(ivec3(20, 20, 20));
    !found.air[usize::try_from(label).expect("there is air in the cup")].exterior
}

#[test]
fn a_bell_keeps_its_air_while_water_closes_its_rim_and_lets_it_go_when_it_does_not() {
    for thick in [2.0, 3.0, 5.0] {
        for seed in 0..6 {
            let rim = 10.0 + noise(seed) * 0.5;
            for [inside, outside] in [[0.5, 2.0], [0.5, 6.0], [2.0, 2.0]] {
                assert!(
                    is_trapped(thick, rim, [rim + inside, rim + outside], seed),
                    "walls of {thick}, the rim at {rim}, water {inside} and {outside} above it, seed {seed}"
                );
            }
            assert!(!is_trapped(thick, rim, [rim - 2.0; 2], seed), "walls of {thick}, a gap of two voxels");
        }
    }
}
