//! What a membrane costs a projection: a sheet in a tank on a given path, as a rigid body, and as points with a sparse
//! mass. Times are this thread's own.
//!
//! ```text
//! cargo bench -p meniscus-core --bench sheet -- [cells a side …] [points=58] [turns=3]
//! ```
//!
//! Default: 64 cells, 58² points (10 092 degrees of freedom).

#[path = "engine/clock.rs"]
mod clock;

use clock::own_seconds;
use glam::{DVec3, IVec3};
use meniscus_core::coupling::bodies::{Bodies, Body, Piece, Pieces, Skin, Twist};
use meniscus_core::coupling::mass::{Mass, SparseMass};
use meniscus_core::coupling::{LiquidFields, free_surface};
use meniscus_core::grid::{FaceGrid, Grid, Topology, Transform};
use meniscus_core::levelset::fractions::{cell_inside, face_open};
use meniscus_core::pressure::{Density, Info, MultigridSolver, Params};
use meniscus_core::solid::{DomainLimits, Side};
use std::ops::ControlFlow;
use std::sync::Arc;

const DT: f64 = 0.005;
const WATER: f64 = 1000.0;
/// Half the sheet's width, and half its thickness in voxels.
const HALF: f64 = 0.4;
const THICK: f64 = 1.2;

/// A tank of edge 1 m with water in it, and a sheet in the middle of the water.
struct Tank {
    transform: Transform,
    surface: Grid<f32>,
    open: FaceGrid<f32>,
    walls: FaceGrid<f32>,
    volume: Grid<f32>,
    owner: FaceGrid<u32>,
}

impl Tank {
    fn new(n: i32) -> Self {
        let h = 1.0 / f64::from(n);
        let transform = Transform::uniform(h, DVec3::ZERO);
        let side = n / 8;
        let tile = |i: i32| IVec3::new(i / (side * side), i / side % side, i % side) * 8;
        let topology = Arc::new(Topology::new((0..side * side * side).map(tile).collect()));
        let sheet = |p: DVec3| {
            let q = (p - DVec3::new(0.5, 0.4123, 0.5)).abs() - DVec3::new(HALF, THICK * h, HALF);
            q.max(DVec3::ZERO).length() + q.max_element().min(0.0)
        };
        let node = |p: DVec3| sheet(transform.to_world(p)) as f32;
        let open = FaceGrid::from_fn(topology.clone(), 1.0, |axis, c| {
            if c[axis] == 0 {
                return 0.0;
            }
            face_open([(0., 0.), (1., 0.), (0., 1.), (1., 1.)].map(|(i, j)| {
                let mut p = c.as_dvec3() - DVec3::splat(0.5);
                (p[(axis + 1) % 3], p[(axis + 2) % 3]) = (p[(axis + 1) % 3] + i, p[(axis + 2) % 3] + j);
                node(p)
            }))
        });
        let corner = |c: IVec3, k: i32| c.as_dvec3() - 0.5 + IVec3::new(k & 1, k >> 1 & 1, k >> 2).as_dvec3();
        let volume = Grid::from_fn(topology.clone(), 1.0, |c| {
            1.0 - cell_inside(std::array::from_fn(|k| node(corner(c, k as i32))))
        });
        let owner = FaceGrid::from_fn(topology.clone(), 0, |axis, c| {
            let mut p = c.as_dvec3();
            p[axis] -= 0.5;
            u32::from(sheet(transform.to_world(p)) < 3.0 * h)
        });
        let surface = Grid::from_fn(topology.clone(), 3.0 * h as f32, |c| {
            let p = transform.to_world(c.as_dvec3());
            (p.y - 0.7 - 0.03 * (9.0 * p.x).sin()) as f32
        });
        Self { transform, surface, open, walls: FaceGrid::new(topology, 0.0), volume, owner }
    }

    fn mass(&self, density: f64) -> f64 {
        density * WATER * 4.0 * HALF * HALF * 2.0 * THICK * self.transform.voxel_size()
    }
}

/// side² points with springs to their neighbours, stretched over the sheet.
fn membrane(side: usize, mass: f64) -> Body {
    let at = |n: usize| HALF * (2.0 * n as f64 / (side - 1) as f64 - 1.0);
    let point = |n: usize| DVec3::new(0.5 + at(n / side), 0.4123, 0.5 + at(n % side));
    let squares = (0..(side - 1) * (side - 1)).map(|n| n / (side - 1) * side + n % (side - 1));
    let halves = |n: usize| [[n, n + 1, n + side], [n + 1, n + side + 1, n + side]];
    let triangles = squares.flat_map(halves).map(|t| t.map(|p| p as u32)).collect();
    let k = 3 * side * side;
    let own = mass / (side * side) as f64;
    let mut entries: Vec<(u32, u32, f64)> = (0..k as u32).map(|dof| (dof, dof, own)).collect();
    for p in 0..side * side {
        for (q, inside) in [(p + 1, p % side + 1 < side), (p + side, p + side < side * side)] {
            for (i, j) in (0..3).filter(|_| inside).map(|a| ((3 * p + a) as u32, (3 * q + a) as u32)) {
                entries.extend([(i, i, 3.0 * own), (j, j, 3.0 * own), (j, i, -3.0 * own)]);
            }
        }
    }
    let fall = |dof: usize| if dof % 3 == 1 { -9.81 * DT } else { 0.0 };
    Body {
        velocity: (0..k).map(fall).collect(),
        before: Some(vec![0.0; k]),
        mass: Mass::Sparse(SparseMass::new(k, &entries).expect("a mass")),
        pieces: Pieces::Skin(Arc::new(Skin { points: (0..side * side).map(point).collect(), triangles })),
    }
}

fn rigid(mass: f64) -> Body {
    let unit = |n: usize, of: usize| if n / 3 == of { DVec3::AXES[n % 3] } else { DVec3::ZERO };
    let twists = (0..6).map(|n| Twist { linear: unit(n, 0), angular: unit(n, 1) }).collect();
    let of = |n: usize| if n < 3 { mass } else { mass * HALF * HALF / 3.0 };
    let dense: Vec<f64> = (0..36).map(|n| if n / 6 == n % 6 { of(n / 6) } else { 0.0 }).collect();
    let mut velocity = vec![0.0; 6];
    velocity[1] = -9.81 * DT;
    let pieces = vec![Piece { pivot: DVec3::new(0.5, 0.4123, 0.5), twists }];
    Body { velocity, before: Some(vec![0.0; 6]), mass: dense.into(), pieces: pieces.into() }
}

/// Peak memory of this process, MB.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|l| l.starts_with("VmHWM")).expect("a peak");
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).expect("kB") / 1024.0
}

/// One projection: its report, all its seconds, and those of an iteration after the first.
fn turn(tank: &Tank, bodies: &[Body], solver: &mut MultigridSolver) -> (Info, f64, f64) {
    let mut sides = [Side::Closed; 6];
    sides[3] = Side::Open;
    let domain = DomainLimits { min: DVec3::ZERO, max: DVec3::ONE, sides };
    let water = Density::Uniform(WATER);
    let mut fields = LiquidFields::new(tank.transform, domain, &tank.surface, &tank.open, &tank.walls, water);
    (fields.drift, fields.kick) = (DT, DVec3::new(0.0, -9.81 * DT, 0.0));
    let of_owner = [Some((0, 0))];
    fields.bodies = (!bodies.is_empty()).then_some(Bodies {
        constraints: &[],
        bodies,
        owner: &tank.owner,
        left_by_first: &tank.volume,
        room: None,
        pieces: &of_owner,
    });
    let fall = (-9.81 * DT) as f32;
    let mut vel =
        FaceGrid::from_fn(tank.walls.topology.clone(), 0.0, |axis, _| if axis == 1 { fall } else { 0.0 });
    let params = Params { tolerance: 1e-8, ..Params::default() };
    let start = own_seconds();
    let (mut first, mut last) = (start, start);
    let projected = free_surface::project(&fields, &mut vel, DT, solver, &params, &mut |iteration| {
        last = own_seconds();
        first = if iteration.number == 1 { last } else { first };
        ControlFlow::Continue(())
    });
    let info = projected.expect("a pressure").info;
    let an_iteration = (last - first) / (info.iterations.max(2) - 1) as f64;
    (info, own_seconds() - start, an_iteration)
}

fn row(name: &str, tank: &Tank, bodies: &[Body], turns: usize) {
    let mut solver = MultigridSolver::default();
    let mut all: Vec<_> = (0..turns).map(|_| turn(tank, bodies, &mut solver)).collect();
    let info = all[0].0;
    let mut median = |of: fn(&(Info, f64, f64)) -> f64| {
        all.sort_by(|a, b| of(a).total_cmp(&of(b)));
        of(&all[turns / 2])
    };
    println!(
        "| {name} | {} | {:.3} | {:.5} | {:.1} | {:.0} |",
        info.iterations,
        median(|t| t.1),
        median(|t| t.2),
        info.bytes as f64 * 1e-6,
        peak()
    );
}

fn main() {
    let (mut sizes, mut points, mut turns) = (Vec::new(), 58, 3);
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some(("points", n)) => points = n.parse().expect("points=POINTS A SIDE"),
            Some(("turns", n)) => turns = n.parse().expect("turns=NUMBER"),
            _ => sizes.extend(argument.parse::<i32>()),
        }
    }
    if sizes.is_empty() {
        sizes = vec![64];
    }
    println!(
        "| cells a side, sheet | iterations to 1e-8 | projection s | an iteration s | engine MB | peak MB |"
    );
    println!("|---|---|---|---|---|---|");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    pool.install(|| {
        for n in sizes {
            let tank = Tank::new(n);
            row(&format!("{n}, on its path"), &tank, &[], turns);
            for density in [0.01, 1.0, 100.0] {
                let mass = tank.mass(density);
                row(&format!("{n}, rigid, density {density}"), &tank, &[rigid(mass)], turns);
                let name = format!("{n}, {points}² points, density {density}");
                row(&name, &tank, &[membrane(points, mass)], turns);
            }
        }
    });
}
