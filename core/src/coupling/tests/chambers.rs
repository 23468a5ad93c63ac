//! Air that somebody keeps, whatever the coupling does with other air.

use super::hydrostatics::u_tube;
use super::*;
use crate::coupling::Chamber;
use crate::coupling::memory::BubbleMemory;

const DT: f64 = 0.01;
const H: f64 = 0.05;
const LEVELS: [f64; 2] = [0.837, 0.411];

fn projected(
    scene: &Scene,
    chambers: &[Chamber],
    before: Option<&BubbleMemory>,
) -> (FaceGrid<f32>, Projection) {
    let mut vel = scene.vel.clone();
    let fields = LiquidFields { chambers, previous_bubbles: before, ..scene.fields() };
    let solved = free_surface::project(&fields, &mut vel, DT, &mut PlainCg, &TIGHT, &mut run_on).unwrap();
    (vel, solved)
}

/// A place in the air of one arm of a closed U-tube, and one in its water.
const AIR: DVec3 = DVec3::new(0.5 * H, 0.93, 0.5 * H);
const WATER_BELOW: DVec3 = DVec3::new(0.5 * H, 0.3, 0.5 * H);

#[test]
fn a_kept_arm_holds_the_levels_and_what_is_blown_in_drives_the_water() {
    let scene = u_tube(H, LEVELS[0], LEVELS[1], [true; 6]).falling(DT);
    let (free, _) = projected(&scene, &[], None);
    assert!(scene.fastest(&free) > 0.01, "the water does not fall: {} m/s", scene.fastest(&free));
    for (inflow, parts) in [(0.0, 1), (2e-4, 1), (-2e-4, 1), (2e-4, 2)] {
        let chambers = vec![Chamber { place: AIR, inflow: inflow / f64::from(parts) }; parts as usize];
        let (vel, solved) = projected(&scene, &chambers, None);
        // Down the kept arm, and up the other one.
        let through = |x: i32| f64::from(vel.get(1, IVec3::new(x, 5, 0)));
        let expected = inflow / (H * H);
        assert!(
            (through(0) + expected).abs() < 1e-5 && (through(11) - expected).abs() < 1e-5,
            "{} and {} m/s, not {expected}",
            through(0),
            through(11)
        );
        let kept: Vec<_> = solved.bubbles.iter().filter(|b| b.constrained).collect();
        assert_eq!(kept.len(), 1);
        // It carries what the levels differ by.
        let head = -WATER * GRAVITY * (LEVELS[0] - LEVELS[1]);
        if inflow == 0.0 {
            assert!(
                (kept[0].pressure - head).abs() < 0.01 * head.abs(),
                "{} Pa, not {head}",
                kept[0].pressure
            );
        }
        let rest = solved.memory.bubbles.iter().find(|b| b.id == kept[0].id).unwrap().book.rest;
        let first = projected(&scene, &[Chamber { place: AIR, inflow: 0.0 }], None).1;
        let was = first.memory.bubbles.iter().find(|b| b.id == kept[0].id).unwrap().book.rest;
        assert!((rest - was - inflow * 0.01).abs() < 1e-12, "{rest} m³ after {was}");
    }
}

/// Air that yields takes what is blown in as pressure: λ rises by γ p₀ per share of air, and its volume follows.
#[test]
fn air_that_yields_takes_what_is_blown_in_as_pressure() {
    let mut scene = u_tube(H, 0.6, 0.6, [true; 6]).falling(DT);
    scene.domain.sides = [crate::solid::Side::Closed; 6];
    let gas = Some(crate::coupling::Gas { pressure: 1e5, heat_ratio: 1.4 });
    let run = |inflow: f64, before: Option<&BubbleMemory>| {
        let mut vel = scene.vel.clone();
        let chambers = [Chamber { place: AIR, inflow }];
        let fields = LiquidFields { chambers: &chambers, previous_bubbles: before, gas, ..scene.fields() };
        let solved = free_surface::project(&fields, &mut vel, DT, &mut PlainCg, &TIGHT, &mut run_on).unwrap();
        let kept = solved.bubbles.iter().find(|b| b.constrained).unwrap().clone();
        let book = solved.memory.bubbles.iter().find(|b| b.id == kept.id).unwrap().book;
        (kept.pressure, book, solved.memory)
    };
    let (still, book, memory) = run(0.0, None);
    let (_, blown, after) = run(1e-4, None);
    assert!((blown.gas - book.gas - 1e-4 * 0.01).abs() < 1e-15, "{} m³ of gas after {}", blown.gas, book.gas);
    let [with, without] = [&after, &memory].map(|memory| run(0.0, Some(memory)).0);
    assert!(still.abs() < 1.0 && without.abs() < 1.0 && with > 1.0, "{still}, {without}, {with} Pa");
}

/// However hard somebody blows or sucks, the book stays within a factor of two of the air that is there.
#[test]
fn no_book_runs_away_from_its_air() {
    let scene = u_tube(H, LEVELS[0], LEVELS[1], [true; 6]).falling(DT);
    let mut memory: Option<BubbleMemory> = None;
    for inflow in [1e20, 1e20, -1e20, -1e20, -1e20] {
        let solved = projected(&scene, &[Chamber { place: AIR, inflow }], memory.as_ref()).1;
        let kept = solved.bubbles.iter().find(|b| b.constrained).unwrap();
        let share = kept.rest_volume / kept.found_volume;
        assert!((0.5..=2.0).contains(&share), "{inflow}: {share} of the volume");
        memory = Some(solved.memory);
    }
}

#[test]
fn places_in_water_in_solids_and_outside_keep_nothing() {
    let scene = u_tube(H, LEVELS[0], LEVELS[1], [true; 6]).falling(DT);
    let (free, _) = projected(&scene, &[], None);
    for place in [WATER_BELOW, DVec3::new(0.3, 0.9, 0.5 * H), DVec3::splat(1e30), DVec3::new(0.3, -4.0, 0.0)]
    {
        let (vel, solved) = projected(&scene, &[Chamber { place, inflow: 1.0 }], None);
        assert!(solved.bubbles.iter().all(|b| !b.constrained), "{place}");
        assert_eq!(vel.values, free.values, "{place}");
    }
}

/// Far above the water, where no leaf is, a place is known as one beside it is.
#[test]
fn a_place_far_from_water_is_in_the_air_around_it() {
    let surface = |p: DVec3| p.y - 4.3 * H;
    let mut scene = Scene::still(H, IVec3::new(4, 60, 4), [true; 6], surface, empty);
    let near = leaves(IVec3::splat(-1), IVec3::new(5, 16, 5));
    scene.surface = scene.surface.on(&near);
    (scene.open, scene.vel_solid) = (scene.open.on(&near), scene.vel_solid.on(&near));
    scene.vel = FaceGrid::new(near, 0.0);
    let at = |y: f64| Chamber { place: DVec3::new(2.0, y, 2.0) * H, inflow: 0.0 };
    let (_, solved) = projected(&scene, &[at(8.5), at(40.5), at(2.5), at(70.5)], None);
    let found: Vec<_> =
        solved.chambers.iter().map(|b| Some(solved.bubbles[(*b)?].volume / H.powi(3))).collect();
    let air = found[0].expect("beside the water is air");
    assert!((air - 16.0 * (60.0 - 4.3)).abs() < 1.0, "{air} cells");
    assert_eq!(found, [Some(air), Some(air), None, None]);
}
