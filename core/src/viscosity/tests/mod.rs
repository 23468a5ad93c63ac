//! The laws of viscosity, against formulas.

mod bodies;
mod flows;
mod laws;
mod multigrid;
mod operator;

use super::*;
use crate::grid::{Coord, Topology};
use crate::levelset::fractions::face_open;
use glam::{DVec3, IVec3};
use std::ops::ControlFlow;
use std::sync::Arc;

const RHO: f64 = 1000.0;
const TIGHT: Params =
    Params { tolerance: 1e-11, max_iterations: 20_000, preconditioner: Preconditioner::Auto };

fn run_on(_: crate::pressure::Iteration) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A solve has the same bits on one thread and on several.
fn same_on_any_threads(solve: impl Fn() -> (FaceGrid<f32>, Info) + Sync) {
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(&solve)
    };
    let (u, a) = with(1);
    for threads in [2, 5] {
        let (v, b) = with(threads);
        assert_eq!(u.values, v.values);
        assert_eq!((a.iterations, a.residual), (b.iterations, b.residual));
    }
}

/// A liquid among solids, from formulas of the world position, on the cells `low..high`.
struct Scene {
    h: f64,
    transform: Transform,
    surface: Grid<f32>,
    solid: Grid<f32>,
    open: FaceGrid<f32>,
    vel_solid: FaceGrid<f32>,
    velocity: FaceGrid<f32>,
    mu: f64,
}

impl Scene {
    fn new(
        h: f64,
        cells: [IVec3; 2],
        liquid: impl Fn(DVec3) -> f64 + Sync,
        solid: impl Fn(DVec3) -> f64 + Sync,
    ) -> Self {
        let transform = Transform::uniform(h, DVec3::ZERO);
        let (a, b): (IVec3, IVec3) = (cells[0] >> 3, (cells[1] - 1) >> 3);
        let across = |axis: usize| a[axis]..=b[axis];
        let origins = across(0).flat_map(|x| across(1).map(move |y| (x, y)));
        let origins = origins.flat_map(|(x, y)| across(2).map(move |z| IVec3::new(x, y, z) * 8));
        let topology = Arc::new(Topology::new(origins.collect()));
        let far = 3.0 * h as f32;
        let node = |c: DVec3| solid(transform.to_world(c - 0.5)) as f32;
        Self {
            h,
            transform,
            surface: Grid::from_fn(topology.clone(), far, |c| {
                liquid(transform.to_world(c.as_dvec3())) as f32
            }),
            solid: Grid::from_fn(topology.clone(), far, |c| node(c.as_dvec3())),
            open: FaceGrid::from_fn(topology.clone(), 1.0, |axis, c| {
                let (s, t) = (DVec3::AXES[(axis + 1) % 3], DVec3::AXES[(axis + 2) % 3]);
                let c = c.as_dvec3();
                face_open([node(c), node(c + s), node(c + t), node(c + s + t)])
            }),
            vel_solid: FaceGrid::new(topology.clone(), 0.0),
            velocity: FaceGrid::new(topology, 0.0),
            mu: 1.0,
        }
    }

    fn at_faces(&self, u: impl Fn(DVec3) -> DVec3 + Sync) -> FaceGrid<f32> {
        let transform = self.transform;
        FaceGrid::from_fn(self.velocity.topology.clone(), 0.0, |axis, c| {
            u(transform.face_centre(axis, c))[axis] as f32
        })
    }

    fn moving(mut self, u: impl Fn(DVec3) -> DVec3 + Sync) -> Self {
        self.velocity = self.at_faces(u);
        self
    }

    fn walls_move(mut self, u: impl Fn(DVec3) -> DVec3 + Sync) -> Self {
        self.vel_solid = self.at_faces(u);
        self
    }

    fn viscosity(mut self, mu: f64) -> Self {
        self.mu = mu;
        self
    }

    fn liquid(&self) -> ViscousLiquid<'_> {
        ViscousLiquid {
            transform: self.transform,
            surface: &self.surface,
            solid: &self.solid,
            open: &self.open,
            vel_solid: &self.vel_solid,
            density: Density::Uniform(RHO),
            face_density: None,
            viscosity: Viscosity::Uniform(self.mu),
            walls: Walls::NoSlip,
        }
    }

    fn solve(&self, dt: f64) -> (FaceGrid<f32>, Info) {
        let mut u = self.velocity.clone();
        let info = diffuse(&self.liquid(), &mut u, dt, &TIGHT, &mut run_on).unwrap();
        assert!(info.converged, "{info:?}");
        (u, info)
    }

    fn step(&mut self, dt: f64) {
        self.velocity = self.solve(dt).0;
    }

    fn system(&self, dt: f64) -> stencil::System {
        stencil::System::assemble(&self.liquid(), None, dt).system
    }

    /// Σ over the faces that are solved for of mass (kg) × f(axis, face, velocity).
    fn sum<T: std::ops::Add<Output = T> + std::ops::Mul<f64, Output = T> + Default>(
        &self,
        u: &FaceGrid<f32>,
        f: impl Fn(usize, DVec3, f64) -> T,
    ) -> T {
        let system = self.system(1.0);
        let mut sum = T::default();
        for slot in (0..system.operator.mass.len()).filter(|&s| system.operator.inverse_diagonal[s] > 0.0) {
            let axis = slot / 512 % 3;
            let c = system.operator.topology.coord(slot / 1536 * 512 + slot % 512);
            let mass = f64::from(system.operator.mass[slot]) * self.h.powi(3);
            sum = sum + f(axis, self.transform.face_centre(axis, c), f64::from(u.get(axis, c))) * mass;
        }
        sum
    }

    fn momentum(&self, u: &FaceGrid<f32>) -> DVec3 {
        self.sum(u, |axis, _, v| v * DVec3::AXES[axis])
    }

    fn angular_momentum(&self, u: &FaceGrid<f32>) -> DVec3 {
        self.sum(u, |axis, x, v| x.cross(v * DVec3::AXES[axis]))
    }

    fn energy(&self, u: &FaceGrid<f32>) -> f64 {
        self.sum(u, |_, _, v| 0.5 * v * v)
    }
}

/// No solids.
fn empty(_: DVec3) -> f64 {
    1e3
}

/// A value in −1..1 that looks random, from an integer.
fn noise(n: u64) -> f64 {
    let mut z = n.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// A velocity in −1..1 m/s that looks random.
fn noisy(p: DVec3) -> DVec3 {
    let q = (p * 1e6).round().as_i64vec3();
    let key = (q.x as u64) ^ (q.y as u64).rotate_left(21) ^ (q.z as u64).rotate_left(42);
    DVec3::new(noise(key), noise(key ^ 1 << 61), noise(key ^ 1 << 62))
}

/// A lopsided drop that touches a sloping floor and a ball, in coordinates turned by `back`.
fn lopsided(back: fn(DVec3) -> DVec3) -> Scene {
    let h = 0.01;
    let liquid = move |p: DVec3| back(p).distance(DVec3::new(0.09, 0.06, 0.08)) - 0.053;
    let solid = move |p: DVec3| {
        let q = back(p);
        (q.y - 0.023 - 0.2 * q.x).min(q.distance(DVec3::new(0.11, 0.1, 0.1)) - 0.024)
    };
    Scene::new(h, [IVec3::splat(-4), IVec3::splat(20)], liquid, solid)
}
