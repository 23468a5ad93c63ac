use super::regions::{cut_regions, limits, regions, walls};
use super::*;
use crate::coupling::air::identity::identify;
use crate::coupling::air::regions::Regions;
use crate::coupling::memory::{BubbleMemory, OUTSIDE};
use glam::ivec3;

const SIZE: IVec3 = IVec3::splat(24);

/// A full box with air where `air` says so; its lid is open when `open`.
fn tank(air: impl Fn(Coord) -> bool + Sync, open: bool) -> Regions {
    let mut domain = limits(IVec3::ZERO, SIZE, true);
    let closed = walls(IVec3::ZERO, SIZE);
    if open {
        domain.sides[3] = Side::Open;
    }
    let lid = move |axis: usize, c: Coord| open && axis == 1 && c.y == SIZE.y;
    let inside = |c: Coord| c.cmpge(IVec3::ZERO).all() && c.cmplt(SIZE).all();
    regions(
        leaves(IVec3::splat(-8), SIZE + 8),
        domain,
        |c| inside(c) && !air(c),
        |axis, c| closed(axis, c) && !lid(axis, c),
    )
}

fn block(low: IVec3, high: IVec3) -> impl Fn(Coord) -> bool + Sync {
    move |c| c.cmpge(low).all() && c.cmplt(high).all()
}

/// The region at a cell.
fn at(regions: &Regions, c: Coord) -> usize {
    usize::try_from(regions.cells.get(c)).expect("there is air")
}

fn remembered(memory: &BubbleMemory) -> f64 {
    memory.bubbles.iter().map(|b| b.book.rest).sum()
}

#[test]
fn a_bubble_that_moves_stays_itself() {
    let first = tank(block(ivec3(4, 4, 4), ivec3(8, 8, 8)), false);
    let before = identify(&first, None, 1.0);
    let rest = first.air[at(&first, ivec3(5, 5, 5))].volume;
    let mut memory = before.memory(first);
    for step in 1..6 {
        let shift = IVec3::Y * step;
        let now = tank(block(ivec3(4, 4, 4) + shift, ivec3(8, 8, 8) + shift), false);
        let found = identify(&now, Some(&memory), 1.0);
        let bubble = found.regions[at(&now, ivec3(5, 5, 5) + shift)];
        assert_eq!((bubble.id, bubble.book.rest, bubble.void), (1, rest, false));
        memory = found.memory(now);
    }
}

#[test]
fn a_single_cell_that_jumps_past_itself_is_found_again() {
    let first = tank(|c| c == ivec3(5, 5, 5), false);
    let memory = identify(&first, None, 1.0).memory(first);
    let now = tank(|c| c == ivec3(5, 8, 4), false);
    let found = identify(&now, Some(&memory), 1.0);
    assert_eq!((found.regions[0].id, found.regions[0].void), (1, false));
    assert_eq!(found.regions[0].book.rest, memory.bubbles[0].book.rest);
    let far = tank(|c| c == ivec3(5, 15, 4), false);
    let found = identify(&far, Some(&memory), 1.0);
    assert_eq!(found.regions[0].id, 2, "too far to be the same");
}

/// A wall leaves the lowest layer of cells a quarter open. Air in a few of these cells is where no particle reaches; air that
/// has a whole cell, or more cells than eight in volume, is a bubble.
#[test]
fn a_shot_begins_with_voids_in_the_corners_that_walls_cut_off() {
    let shut = walls(IVec3::ZERO, SIZE);
    let open = |axis: usize, c: Coord| match (shut(axis, c), axis == 1 || c.y > 0) {
        (true, _) => 0.0,
        (_, true) => 1.0,
        _ => 0.25,
    };
    let first = |air: &(dyn Fn(Coord) -> bool + Sync)| {
        let domain = limits(IVec3::ZERO, SIZE, true);
        let found = cut_regions(leaves(IVec3::splat(-8), SIZE + 8), domain, |c| !air(c), open);
        let identities = identify(&found, None, 1.0);
        let (own, there) =
            (identities.regions[at(&found, ivec3(5, 0, 5))], &found.air[at(&found, ivec3(5, 0, 5))]);
        assert!(own.id > OUTSIDE);
        assert_eq!(own.book.rest, if own.void { 0.0 } else { there.volume });
        own.void
    };
    assert!(first(&block(ivec3(5, 0, 5), ivec3(6, 1, 6))), "one cut cell");
    assert!(first(&block(ivec3(4, 0, 4), ivec3(8, 1, 8))), "sixteen quarters");
    assert!(!first(&block(ivec3(5, 0, 5), ivec3(6, 2, 6))), "a whole cell above it");
    assert!(!first(&block(ivec3(2, 0, 2), ivec3(10, 1, 10))), "a film of sixteen cells in volume");
}

#[test]
fn air_where_none_was_is_a_void() {
    let first = tank(|_| false, false);
    let memory = identify(&first, None, 1.0).memory(first);
    let now = tank(|c| c == ivec3(5, 8, 4), false);
    let found = identify(&now, Some(&memory), 1.0);
    assert_eq!((found.regions[0].id, found.regions[0].book.rest, found.regions[0].void), (1, 0.0, true));
}

#[test]
fn what_a_bubble_that_vanishes_should_hold_goes_to_the_nearest_air() {
    let (near, far) = (block(ivec3(4, 4, 4), ivec3(8, 8, 8)), block(ivec3(4, 16, 4), ivec3(8, 20, 8)));
    let crumb = |c: Coord| c == ivec3(5, 10, 5);
    let first = tank(|c| near(c) || far(c) || crumb(c), false);
    let memory = identify(&first, None, 1.0).memory(first);
    let now = tank(|c| near(c) || far(c), false);
    let found = identify(&now, Some(&memory), 1.0);
    let [a, b] = [ivec3(5, 5, 5), ivec3(5, 17, 5)].map(|c| found.regions[at(&now, c)].book.rest);
    let lost: f64 = remembered(&memory) - now.air.iter().map(|r| r.volume).sum::<f64>();
    assert!(lost > 0.1, "the crumb holds {lost}");
    assert!((a - b - lost).abs() < 1e-12, "{a} {b} {lost}");

    // Nearer to the outside it is gone.
    let high = |c: Coord| c == ivec3(5, 19, 5);
    let open = block(ivec3(0, 22, 0), ivec3(24, 24, 24));
    let first = tank(|c| near(c) || open(c) || high(c), true);
    let memory = identify(&first, None, 1.0).memory(first);
    let now = tank(|c| near(c) || open(c), true);
    let found = identify(&now, Some(&memory), 1.0);
    let r = at(&now, ivec3(5, 5, 5));
    assert_eq!(found.regions[r].book.rest, now.air[r].volume);
}

#[test]
fn a_film_that_moves_by_a_cell_lets_no_air_through() {
    // Air under a film one cell thick, outside above it; the film moves up into cells that were outside.
    let tank_with_film = |y: i32| tank(move |c: Coord| c.y >= 12 && c.y != y && c.y != y + 1, true);
    let first = tank_with_film(16);
    let before = identify(&first, None, 1.0);
    let rest = before.regions[at(&first, ivec3(5, 13, 5))].book.rest;
    let memory = before.memory(first);
    for (y, least, most) in [(18, 1.0, 1.5), (15, 0.75, 1.0)] {
        let now = tank_with_film(y);
        let found = identify(&now, Some(&memory), 1.0);
        let kept = found.regions[at(&now, ivec3(5, 13, 5))].book.rest / rest;
        assert!((least..=most).contains(&kept), "{kept} with the film at {y}");
    }
}

#[test]
fn the_rest_of_a_room_that_opens_in_part_keeps_its_share() {
    let (left, right) = (block(ivec3(2, 2, 2), ivec3(12, 20, 22)), block(ivec3(12, 2, 2), ivec3(22, 20, 22)));
    let chimney = block(ivec3(14, 20, 10), ivec3(16, 24, 12));
    let wall = |c: Coord| c.x == 12;
    let first = tank(|c| left(c) || right(c), true);
    let memory = identify(&first, None, 1.0).memory(first);
    let now = tank(|c| left(c) || (right(c) && !wall(c)) || chimney(c), true);
    let found = identify(&now, Some(&memory), 1.0);
    let r = at(&now, ivec3(5, 5, 5));
    let kept = found.regions[r].book.rest / now.air[r].volume;
    assert!((kept - 1.0).abs() < 0.1, "{kept}");
}

#[test]
fn merges_add_and_splits_divide_what_should_be_there() {
    let (low, high) = (block(ivec3(4, 4, 4), ivec3(8, 8, 8)), block(ivec3(4, 12, 4), ivec3(12, 20, 12)));
    let two = || tank(|c| low(c) || high(c), false);
    let apart = two();
    let memory = identify(&apart, None, 1.0).memory(two());
    let sum = remembered(&memory);
    let [small, large] = [ivec3(5, 5, 5), ivec3(5, 13, 5)].map(|c| apart.air[at(&apart, c)].volume);
    assert!((sum - small - large).abs() < 1e-12);
    let (id_small, id_large) = {
        let found = identify(&apart, None, 1.0);
        (found.regions[at(&apart, ivec3(5, 5, 5))].id, found.regions[at(&apart, ivec3(5, 13, 5))].id)
    };

    let channel = block(ivec3(5, 8, 5), ivec3(6, 12, 6));
    let joined = tank(|c| low(c) || high(c) || channel(c), false);
    let found = identify(&joined, Some(&memory), 1.0);
    let whole = found.regions[at(&joined, ivec3(5, 5, 5))];
    assert_eq!(whole.id, id_large, "the larger one lends its name");
    assert!((whole.book.rest - sum).abs() < 1e-12);

    let memory = found.memory(joined);
    let found = identify(&apart, Some(&memory), 1.0);
    let [a, b] = [ivec3(5, 5, 5), ivec3(5, 13, 5)].map(|c| found.regions[at(&apart, c)]);
    assert_eq!(b.id, id_large);
    assert!(a.id > id_small.max(id_large), "the smaller part is new");
    assert!((a.book.rest + b.book.rest - sum).abs() < 1e-12);
    assert!((a.book.rest / b.book.rest - small / large).abs() < 1e-12, "by the air they hold");
}

#[test]
fn a_crumb_that_parts_from_a_bubble_leaves_its_air_behind() {
    let whole = block(ivec3(4, 4, 4), ivec3(12, 12, 12));
    let crumb = block(ivec3(13, 5, 5), ivec3(14, 6, 7));
    let link = block(ivec3(12, 5, 5), ivec3(13, 6, 7));
    let first = tank(|c| whole(c) || link(c) || crumb(c), false);
    let memory = identify(&first, None, 1.0).memory(first);
    let now = tank(|c| whole(c) || crumb(c), false);
    let found = identify(&now, Some(&memory), 1.0);
    let [bubble, void] = [ivec3(5, 5, 5), ivec3(13, 5, 5)].map(|c| found.regions[at(&now, c)]);
    assert_eq!((bubble.id, bubble.book.rest), (1, remembered(&memory)));
    assert_eq!((void.id, void.book.rest, void.void), (2, 0.0, true));
    // Met again it brings nothing.
    let memory = found.memory(now);
    let again = tank(|c| whole(c) || link(c) || crumb(c), false);
    assert_eq!(identify(&again, Some(&memory), 1.0).regions[0], bubble);
}

#[test]
fn air_that_opens_gives_its_volume_up_and_air_that_is_sealed_starts_with_what_it_holds() {
    let pocket = block(ivec3(4, 12, 4), ivec3(12, 20, 12));
    let chimney = block(ivec3(6, 20, 6), ivec3(8, 24, 8));
    let sealed = tank(&pocket, true);
    let memory = identify(&sealed, None, 1.0).memory(sealed);
    assert_eq!(memory.bubbles.len(), 1);

    let opened = tank(|c| pocket(c) || chimney(c), true);
    let found = identify(&opened, Some(&memory), 1.0);
    assert_eq!(found.regions[at(&opened, ivec3(5, 13, 5))].id, OUTSIDE);
    let memory = found.memory(opened);
    assert!(memory.bubbles.is_empty());

    let smaller = block(ivec3(4, 12, 4), ivec3(12, 18, 12));
    let again = tank(&smaller, true);
    let found = identify(&again, Some(&memory), 1.0);
    let r = at(&again, ivec3(5, 13, 5));
    assert!(found.regions[r].id > 1, "it is not who it was");
    assert_eq!((found.regions[r].book.rest, found.regions[r].void), (again.air[r].volume, false));
}
