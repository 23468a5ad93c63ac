//! Geometry that breaks solvers: tiny θ, films, needles, channels, density jumps, swarms of bubbles.

use crate::{Random, relative_residual, solve};
use meniscus_core::grid::{Coord, Topology, leaf};
use meniscus_core::pressure::{CELL, FIXED, Info, Params, PressureSystem, SOLID, SuperCell, Unknowns};
use std::sync::Arc;

const PARAMS: Params = Params { tolerance: 1e-8, max_iterations: 400 };

/// A system on an N³ box (cells outside are solid) from labels and from coefficients of lower faces.
fn build(
    n: i32,
    supers: usize,
    label: impl Fn(Coord) -> i32,
    coefficient: impl Fn(usize, Coord, i32, i32) -> f64,
) -> PressureSystem {
    build_box(Coord::splat(n), supers, label, coefficient)
}

/// The same on a box of any size.
fn build_box(
    size: Coord,
    supers: usize,
    label: impl Fn(Coord) -> i32,
    coefficient: impl Fn(usize, Coord, i32, i32) -> f64,
) -> PressureSystem {
    let leaves = |n: i32| (0..n).step_by(8);
    let origins = leaves(size.x)
        .flat_map(|x| leaves(size.y).flat_map(move |y| leaves(size.z).map(move |z| Coord::new(x, y, z))));
    let topology = Arc::new(Topology::new(origins.collect()));
    let inside = |c: Coord| c.cmpge(Coord::ZERO).all() && c.cmplt(size).all();
    let label_of = |c: Coord| if inside(c) { label(c) } else { SOLID };
    let slots = topology.len() * leaf::SIZE;
    let face = std::array::from_fn(|axis| {
        let weight = |s: usize| {
            let c = topology.coord(s);
            coefficient(axis, c, label_of(c), label_of(c - Coord::AXES[axis])) as f32
        };
        (0..slots).map(weight).collect()
    });
    PressureSystem {
        label: (0..slots).map(|s| label_of(topology.coord(s))).collect(),
        face,
        super_cells: vec![SuperCell::default(); supers],
        attached: vec![],
        links: vec![],
        topology,
    }
}

/// 1 inside, 1/θ where liquid meets air.
fn surface(theta: f64) -> impl Fn(usize, Coord, i32, i32) -> f64 {
    move |_, _, a, b| if a != b { 1.0 / theta } else { 1.0 }
}

fn converges(name: &str, system: &PressureSystem, limit: usize) -> Info {
    let rhs = Random(7).unknowns(system);
    let (info, x) = solve(system, &rhs, PARAMS);
    assert!(info.converged && info.iterations <= limit, "{name}: {info:?}");
    if info.null_space == 0 {
        assert!(relative_residual(system, &rhs, &x) <= 1.1e-8, "{name}");
    }
    info
}

#[test]
fn the_smallest_theta_everywhere() {
    let ball = |c: Coord| if (c.as_vec3() - 15.5).length() < 12.0 { CELL } else { FIXED };
    converges("ball, θ = 0.01", &build(32, 0, ball, surface(0.01)), 30);
    let bubble = |c: Coord| {
        if (c.as_vec3() - 15.5).length() < 6.0 {
            0
        } else if c.y < 28 {
            CELL
        } else {
            FIXED
        }
    };
    converges("bubble, θ = 0.01", &build(32, 1, bubble, surface(0.01)), 30);
}

#[test]
fn films_needles_and_checkered_walls() {
    let film = |c: Coord| if c.y == 9 { CELL } else { FIXED };
    converges("film under air", &build(32, 0, film, surface(0.01)), 10);
    let skin = |c: Coord| {
        if c.y == 9 || c.y == 10 {
            CELL
        } else if c.y > 10 && c.x < 4 {
            FIXED
        } else {
            SOLID
        }
    };
    converges("film under a lid", &build(64, 0, skin, surface(0.5)), 60);
    let needles = |c: Coord| if c.x % 3 == 1 && c.z % 3 == 1 { CELL } else { FIXED };
    converges("needles", &build(32, 0, needles, surface(0.3)), 10);
    let wall = |c: Coord| {
        if (c.x + c.y + c.z) % 7 == 0 && c.y < 20 {
            SOLID
        } else if c.y < 20 {
            CELL
        } else {
            FIXED
        }
    };
    converges("porous", &build(40, 0, wall, surface(1.0)), 150);
}

#[test]
fn one_cell_channels() {
    // A serpentine in the plane y = 1: open at one end only.
    let n = 24;
    let serpentine = |c: Coord| {
        let turn = if c.z / 2 % 2 == 0 { n - 1 } else { 0 };
        match c {
            c if c.y != 1 => SOLID,
            c if c.z == 0 && c.x == 0 => FIXED,
            c if c.z % 2 == 0 || c.x == turn => CELL,
            _ => SOLID,
        }
    };
    converges("serpentine", &build(n, 0, serpentine, surface(1.0)), 300);
    let straight = |c: Coord| {
        if c.y != 5 || c.z != 3 {
            SOLID
        } else if c.x == 0 {
            FIXED
        } else {
            CELL
        }
    };
    converges("straight channel", &build(64, 0, straight, surface(1.0)), 30);
}

#[test]
fn thin_walls_between_pools_at_different_levels() {
    // Walls without thickness: closed faces at odd places, so that aggregates straddle them.
    let label = |c: Coord| if c.y < 20 - c.x / 13 * 3 { CELL } else { FIXED };
    let weight = |axis: usize, c: Coord, a: i32, b: i32| match (axis, c.x) {
        (0, 13) | (0, 26) => 0.0,
        _ if a != b => 2.0,
        _ => 1.0,
    };
    converges("pools", &build(40, 0, label, weight), 60);
}

#[test]
fn a_density_ratio_of_a_thousand() {
    let light = |c: Coord| (c.as_vec3() - 15.5).length() < 8.0;
    let weight = |axis: usize, c: Coord, _: i32, _: i32| match (light(c), light(c - Coord::AXES[axis])) {
        (true, true) => 1000.0,
        (false, false) => 1.0,
        _ => 2.0 / (1.0 + 1e-3),
    };
    let label = |c: Coord| if c.y < 30 { CELL } else { FIXED };
    converges("light ball", &build(32, 0, label, weight), 40);
    let random = |axis: usize, c: Coord, _: i32, _: i32| {
        let key = (c.x as u64) << 40 ^ (c.y as u64) << 20 ^ c.z as u64 ^ (axis as u64) << 60;
        10f64.powf(3.0 * Random(key).unit())
    };
    converges("random over three decades", &build(32, 0, label, random), 60);
}

#[test]
fn cut_cells_with_vanishing_open_area() {
    let cut = |axis: usize, c: Coord, a: i32, b: i32| {
        let mut random = Random((c.x as u64) << 40 ^ (c.y as u64) << 20 ^ c.z as u64 ^ (axis as u64) << 60);
        let alpha = if random.unit() < 0.3 { 10f64.powf(-6.0 * random.unit()) } else { 1.0 };
        let theta = if a != b { 0.01 + 0.99 * random.unit() } else { 1.0 };
        if random.unit() < 0.05 { 0.0 } else { alpha / theta }
    };
    let label = |c: Coord| if c.y < 20 { CELL } else { FIXED };
    converges("cut cells", &build(32, 0, label, cut), 80);
}

#[test]
fn a_million_random_cut_cells() {
    let unit = |axis: usize, c: Coord| {
        let key = (c.x as u64) << 40 ^ (c.y as u64) << 20 ^ c.z as u64 ^ (axis as u64) << 60;
        Random(key).unit()
    };
    let cut = move |axis: usize, c: Coord, a: i32, b: i32| {
        let theta = if a != b { 0.01 + 0.99 * unit(axis, c + 1) } else { 1.0 };
        unit(axis, c) / theta
    };
    let label = |c: Coord| if c.y < 100 { CELL } else { FIXED };
    converges("a million cut cells", &build(104, 0, label, cut), 40);
}

#[test]
fn long_and_flat_domains() {
    let pipe = |c: Coord| if c.x < 1 { FIXED } else { CELL };
    converges("pipe", &build_box(Coord::new(800, 8, 8), 0, pipe, surface(0.3)), 40);
    let plate = |c: Coord| if c.y == 2 { FIXED } else { CELL };
    converges("plate", &build_box(Coord::new(200, 3, 160), 0, plate, surface(0.01)), 20);
    // Cells as flat as 1 : 10: coefficients that differ by a hundred between the axes.
    let flat =
        |axis: usize, _: Coord, a: i32, b: i32| [1.0, 100.0, 1.0][axis] * if a != b { 3.0 } else { 1.0 };
    let label = |c: Coord| if c.y < 40 { CELL } else { FIXED };
    converges("flat cells", &build(48, 0, label, flat), 100);
}

/// One big and many tiny bubbles in a tank under air.
fn swarm(n: i32, constrained: bool, theta: f64) -> PressureSystem {
    let cell = |c: Coord| c.map_bubble(n);
    let count = 1 + ((n / 6) * (n / 6) * (n / 6)) as usize;
    let label = move |c: Coord| match cell(c) {
        b if b >= 0 && !constrained => FIXED,
        b => b,
    };
    build(n, if constrained { count } else { 0 }, label, surface(theta))
}

trait BubbleMap {
    fn map_bubble(self, n: i32) -> i32;
}

impl BubbleMap for Coord {
    /// A lattice of one- to eight-cell bubbles around a big one in the middle.
    fn map_bubble(self, n: i32) -> i32 {
        let c = self;
        if c.y >= n - 3 {
            return FIXED;
        }
        if (c.as_vec3() - n as f32 * 0.5).length() < n as f32 * 0.2 {
            return 0;
        }
        let (block, at) = (c / 6, c % 6);
        let size = 1 + (block.x + block.y + block.z) % 2;
        let solid_distance = ((block * 6).as_vec3() + 3.0 - n as f32 * 0.5).length();
        let lattice = n / 6;
        let here = at.cmpge(Coord::splat(2)).all() && at.cmplt(Coord::splat(2 + size)).all();
        if here
            && block.cmplt(Coord::splat(lattice)).all()
            && solid_distance > n as f32 * 0.2 + 6.0
            && c.y < n - 8
        {
            1 + block.x + lattice * (block.y + lattice * block.z)
        } else {
            CELL
        }
    }
}

#[test]
fn one_huge_and_hundreds_of_tiny_bubbles() {
    for (theta, extra) in [(1.0, 1), (0.1, 1), (0.01, 20)] {
        let with = converges("swarm of bubbles", &swarm(48, true, theta), 60);
        let without = converges("swarm of holes", &swarm(48, false, theta), 60);
        assert!(with.iterations <= without.iterations + extra, "θ = {theta}: {with:?} {without:?}");
    }
}

#[test]
fn stiff_bubbles_in_closed_tanks() {
    // The stiffer, the nearer to singular: pressures of 1/compliance, which f32 cannot hold and must notice at once.
    // (At 10⁻⁵ f64 does not hold them to 10⁻⁸ either.)
    let label = |c: Coord| if (c.as_vec3() - 15.5).length() < 6.0 { 0 } else { CELL };
    for (compliance, limit) in [(1.0, 10), (1e-2, 10), (1e-4, 20)] {
        let mut system = build(32, 1, label, surface(0.2));
        system.super_cells[0].compliance = compliance;
        converges("stiff bubble", &system, limit);
    }
}

#[test]
fn giving_up_is_said() {
    let label = |c: Coord| if c.y < 30 { CELL } else { FIXED };
    let system = build(32, 0, label, surface(1.0));
    let rhs = Random(3).unknowns(&system);
    let (info, x) = solve(&system, &rhs, Params { tolerance: 1e-8, max_iterations: 2 });
    assert!(!info.converged && info.iterations == 2 && info.residual > 1e-8, "{info:?}");
    assert!((relative_residual(&system, &rhs, &x) - info.residual).abs() < 1e-12);
    // Asking for more than f64 holds ends as well.
    let (info, _) = solve(&system, &rhs, Params { tolerance: 0.0, max_iterations: 500 });
    assert!(!info.converged && info.residual < 1e-12 && info.iterations < 500, "{info:?}");
    let zero = Unknowns::zeros(&system);
    assert_eq!(solve(&system, &zero, PARAMS).1, zero);
}
