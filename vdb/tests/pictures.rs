//! Pictures: what is drawn where, and that threads do not matter.

use openvdb_sys::{Camera, Class, GridOut, Material, Picture, Surface, Values, render};
use std::sync::atomic::AtomicBool;

const H: f64 = 0.01;

struct Ball {
    origins: Vec<[i32; 3]>,
    values: Vec<f32>,
}

/// The distance to a ball around the origin, on a cube of leaves that holds it.
fn ball(radius: f64) -> Ball {
    field(|r| r - radius)
}

/// A hollow ball between two radii.
fn shell(inner: f64, outer: f64) -> Ball {
    field(|r| (inner - r).max(r - outer))
}

/// A function of the distance from the origin.
fn field(f: impl Fn(f64) -> f64) -> Ball {
    field_of(|p| f(p.iter().map(|c| c * c).sum::<f64>().sqrt()))
}

fn field_of(f: impl Fn([f64; 3]) -> f64) -> Ball {
    let steps = || (-24..24).step_by(8);
    let origins: Vec<[i32; 3]> =
        steps().flat_map(|x| steps().flat_map(move |y| steps().map(move |z| [x, y, z]))).collect();
    let voxel = |o: &[i32; 3], n: i32| {
        let p = [o[0] + (n >> 6), o[1] + (n >> 3 & 7), o[2] + (n & 7)].map(|c| f64::from(c) * H);
        f(p) as f32
    };
    let values = origins.iter().flat_map(|o| (0..512).map(move |n| voxel(o, n))).collect();
    Ball { origins, values }
}

fn surface(ball: &Ball, material: Material) -> Surface<'_> {
    let grid = GridOut {
        name: "surface",
        class: Class::LevelSet,
        transform: [H, 0., 0., 0., 0., H, 0., 0., 0., 0., H, 0., 0., 0., 0., 1.],
        background: [3.0 * H, 0.0, 0.0],
        origins: &ball.origins,
        masks: None,
        values: Values::Float(&ball.values),
        tiles: &[],
        half: false,
        flood: true,
        vector_type: None,
        metadata: &[],
    };
    Surface { grid, material }
}

fn shoot(surfaces: &[Surface], threads: usize) -> Vec<u8> {
    let camera = Camera { position: [0.0, 0.1, 1.5], look_at: [0.0; 3], fov: 25.0 };
    let picture = Picture { width: 90, height: 80, threads, floor: -0.2, size: 0.6, target: [0.0; 3] };
    render(surfaces, &camera, &picture, &AtomicBool::new(false)).unwrap().expect("nobody halted it")
}

fn pixel(picture: &[u8], x: usize, y: usize) -> [i32; 3] {
    std::array::from_fn(|c| i32::from(picture[(y * 90 + x) * 3 + c]))
}

/// How blue a pixel is.
fn blueness([r, _, b]: [i32; 3]) -> i32 {
    b - r
}

#[test]
fn water_is_blue_and_stays_so_behind_glass() {
    let (water, glass) = (ball(0.1), shell(0.13, 0.16));
    let naked = shoot(&[surface(&water, Material::Liquid)], 1);
    let cased = shoot(&[surface(&glass, Material::Glass), surface(&water, Material::Liquid)], 1);
    for picture in [&naked, &cased] {
        assert!(blueness(pixel(picture, 45, 40)) > 60, "{:?}", pixel(picture, 45, 40));
        assert!(blueness(pixel(picture, 3, 3)) < 25, "{:?}", pixel(picture, 3, 3));
    }
    let beside_water = |p: &[u8]| pixel(p, 45 + 16, 40);
    assert!(blueness(beside_water(&cased)) < 25, "glass alone is colourless");
    assert_ne!(beside_water(&naked), beside_water(&cased), "but seen");
}

#[test]
fn liquid_that_reaches_into_a_wall_takes_its_shape() {
    let glass = shell(0.12, 0.17);
    let draw =
        |radius: f64| shoot(&[surface(&glass, Material::Glass), surface(&ball(radius), Material::Liquid)], 1);
    let (little, much) = (draw(0.131), draw(0.145));
    let difference: f64 = little.iter().zip(&much).map(|(a, b)| f64::from(a.abs_diff(*b))).sum();
    let mean = difference / little.len() as f64;
    assert!(mean < 0.5, "{mean}");
    assert!(blueness(pixel(&little, 45, 40)) > 60);
}

/// Solids whose fine grids do not reach as far as the water's voxels let them be felt.
#[test]
fn solids_far_away_do_not_change_the_water() {
    let water = ball(0.1);
    let alone = shoot(&[surface(&water, Material::Liquid)], 1);
    let mut crumb = surface(&water, Material::GREY_CLAY);
    // The same ball at an eighth of the size, behind the camera: its band is three eighths of a voxel of the water.
    let [h, behind] = [H / 8.0, 3.0];
    crumb.grid.transform = [h, 0., 0., 0., 0., h, 0., 0., 0., 0., h, 0., 0., 0., behind, 1.];
    let values: Vec<f32> = water.values.iter().map(|v| v / 8.0).collect();
    (crumb.grid.values, crumb.grid.background) = (Values::Float(&values), [3.0 * h, 0.0, 0.0]);
    let mut many = vec![crumb; 60];
    many.push(surface(&water, Material::Liquid));
    let seen = shoot(&many, 1);
    for [x, y] in [[45, 40], [40, 36], [50, 44], [45, 46]] {
        let (alone, seen) = (pixel(&alone, x, y), pixel(&seen, x, y));
        assert!((0..3).all(|c| (alone[c] - seen[c]).abs() < 6), "{x} {y}: {alone:?} {seen:?}");
    }
}

/// Films are nearly clear, however thin: a ray that misses the back of one of less than half a voxel is not in water from there on.
#[test]
fn thin_films_of_water_are_nearly_clear() {
    let empty = pixel(&shoot(&[surface(&ball(-1.0), Material::Liquid)], 1), 45, 40);
    for thickness in [0.1, 0.2, 0.4, 0.6, 1.0] {
        let film = field_of(|p| p[2].abs() - 0.5 * thickness * H);
        let picture = shoot(&[surface(&film, Material::Liquid)], 1);
        for [x, y] in [[45, 40], [40, 36], [50, 44], [45, 46]] {
            let seen = pixel(&picture, x, y);
            assert!(
                blueness(seen) < blueness(empty) + 12,
                "{thickness} voxels, {x} {y}: {seen:?}, without {empty:?}"
            );
        }
    }
}

/// A ball of foam that takes away this share of light, 1/m.
fn foam(radius: f64, density: f64) -> Ball {
    field(move |r| if r < radius { density } else { 0.0 })
}

fn foam_surface(foam: &Ball) -> Surface<'_> {
    let mut surface = surface(foam, Material::Foam);
    (surface.grid.class, surface.grid.background, surface.grid.flood) = (Class::FogVolume, [0.0; 3], false);
    surface
}

#[test]
fn foam_is_white_and_hides_as_much_as_it_is_thick() {
    let water = ball(0.1);
    let seen = |density: f64| {
        let foam = foam(0.05, density);
        pixel(&shoot(&[surface(&water, Material::Liquid), foam_surface(&foam)], 1), 45, 40)
    };
    let clear = pixel(&shoot(&[surface(&water, Material::Liquid)], 1), 45, 40);
    let [none, thin, thick] = [0.0, 5.0, 500.0].map(seen);
    assert_eq!(none, clear);
    assert!(thin[0] > clear[0] + 8 && thick[0] > thin[0] + 8, "{clear:?} {thin:?} {thick:?}");
    // In front of the water it hides the blue; in the air it shadows nothing that it does not cover.
    let outside = foam(0.14, 500.0);
    let covered = shoot(&[surface(&water, Material::Liquid), foam_surface(&outside)], 1);
    assert!(blueness(pixel(&covered, 45, 40)) < 25, "{:?}", pixel(&covered, 45, 40));
    assert!(pixel(&covered, 45, 40).iter().all(|&c| c > 140));
    let threads = |n| shoot(&[surface(&water, Material::Liquid), foam_surface(&outside)], n);
    assert!(threads(1) == threads(5));
}

/// Light that comes through foam falls off as e^(-density × way), whatever it is made of.
#[test]
fn foam_takes_light_away_by_the_way_through_it() {
    let through = |density: f64| {
        // A slab wider than the picture: the floor and backdrop behind it shine through.
        let slab = field(|_| density);
        let p = pixel(&shoot(&[foam_surface(&slab)], 1), 45, 22);
        p.map(f64::from)
    };
    let [empty, full] = [0.0, 1000.0].map(through);
    let share = |density: f64| (through(density)[1] - full[1]) / (empty[1] - full[1]);
    let (one, two) = (share(1.0), share(2.0));
    assert!(one < 0.95 && two < one && (two - one * one).abs() < 0.08, "{one} {two}");
}

#[test]
fn clay_hides_what_is_inside() {
    let (water, clay) = (ball(0.1), ball(0.16));
    let hidden = shoot(&[surface(&clay, Material::GREY_CLAY), surface(&water, Material::Liquid)], 1);
    assert!(blueness(pixel(&hidden, 45, 40)) < 10);
}

#[test]
fn any_number_of_threads_draws_the_same_picture() {
    let (water, glass) = (ball(0.1), shell(0.13, 0.16));
    let surfaces = [surface(&glass, Material::Glass), surface(&water, Material::Liquid)];
    let one = shoot(&surfaces, 1);
    assert!(one == shoot(&surfaces, 2) && one == shoot(&surfaces, 7));
}

#[test]
fn empty_scenes_and_impossible_sizes() {
    let none = Ball { origins: Vec::new(), values: Vec::new() };
    let picture = shoot(&[surface(&none, Material::Liquid)], 1);
    assert!(blueness(pixel(&picture, 45, 40)) < 25);
    let camera = Camera { position: [0.0, 0.1, 1.5], look_at: [0.0; 3], fov: 25.0 };
    let huge = Picture { width: 0, height: 80, threads: 1, floor: 0.0, size: 1.0, target: [0.0; 3] };
    let halt = AtomicBool::new(false);
    assert!(render(&[], &camera, &huge, &halt).is_err());
    let ball = ball(0.1);
    let mut fog = surface(&ball, Material::Liquid);
    fog.grid.class = Class::FogVolume;
    let small = Picture { width: 8, ..huge };
    assert!(render(&[fog], &camera, &small, &halt).unwrap_err().to_string().contains("another class"));
}

/// A picture of 34 million pixels, which would take seconds, is let go row by row.
#[test]
fn a_picture_that_nobody_wants_any_more_is_not_drawn() {
    let camera = Camera { position: [0.0, 0.1, 1.5], look_at: [0.0; 3], fov: 25.0 };
    let small = Picture { width: 90, height: 80, threads: 2, floor: -0.2, size: 0.6, target: [0.0; 3] };
    let ball = ball(0.1);
    let draw = |picture: &Picture, halt: &AtomicBool| {
        render(&[surface(&ball, Material::Liquid)], &camera, picture, halt).unwrap()
    };
    assert_eq!(draw(&small, &AtomicBool::new(true)), None);
    let halt = AtomicBool::new(false);
    let wide = Picture { width: 16384, height: 2048, ..small };
    std::thread::scope(|threads| {
        let drawing = threads.spawn(|| draw(&wide, &halt));
        std::thread::sleep(std::time::Duration::from_millis(50));
        halt.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(drawing.join().unwrap(), None);
    });
}
