//! The laws that projections keep, on scenes given by formulas.

mod bodies;
mod bubbles;
mod chambers;
mod chinks;
mod conservation;
mod constraints;
mod covered;
mod displaced;
mod fit;
mod hydrostatics;
mod identity;
mod invariance;
mod jumps;
mod momentum;
mod parting;
mod pistons;
mod regions;
mod rigid_fluid;
mod several;
mod sheets;
mod viscous;

use super::{CellGrids, Error, LiquidFields, Projection, constraint_bubbles, free_surface};
use crate::grid::{Coord, FaceGrid, Grid, Topology, Transform};
use crate::levelset::fractions::{cell_inside, face_open};
use crate::pressure::{Density, Info, Iteration, Params, PressureSolver, PressureSystem, Progress, Unknowns};
use crate::solid::{DomainLimits, Side};
use glam::{DVec3, IVec3};
use std::sync::Arc;

pub(super) const GRAVITY: f64 = 9.81;
pub(super) const WATER: f64 = 1000.0;

/// Plain conjugate gradients on the operator's definition: slow, and nothing to hide behind.
#[derive(Default)]
pub(super) struct PlainCg;

impl PressureSolver for PlainCg {
    fn solve(
        &mut self,
        system: &PressureSystem,
        rhs: &Unknowns,
        x: &mut Unknowns,
        params: &Params,
        progress: Progress,
    ) -> Result<Info, crate::pressure::Error> {
        system.validate()?;
        system.validate_vector("right side", rhs)?;
        let dot = |a: &Unknowns, b: &Unknowns| -> f64 {
            let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            sum(&a.cells, &b.cells) + sum(&a.supers, &b.supers)
        };
        let add = |a: &mut Unknowns, s: f64, b: &Unknowns| {
            a.cells.iter_mut().zip(&b.cells).for_each(|(a, b)| *a += s * b);
            a.supers.iter_mut().zip(&b.supers).for_each(|(a, b)| *a += s * b);
        };
        let mut q = Unknowns::zeros(system);
        system.apply(x, &mut q);
        let mut r = rhs.clone();
        add(&mut r, -1.0, &q);
        let goal = params.tolerance.powi(2) * dot(rhs, rhs);
        let mut d = r.clone();
        let mut rr = dot(&r, &r);
        let mut iterations = 0;
        while rr > goal && iterations < params.max_iterations {
            system.apply(&d, &mut q);
            let step = rr / dot(&d, &q);
            add(x, step, &d);
            add(&mut r, -step, &q);
            let next = dot(&r, &r);
            let mut direction = r.clone();
            add(&mut direction, next / rr, &d);
            (d, rr) = (direction, next);
            iterations += 1;
            if progress(Iteration { number: iterations, residual: rr.sqrt() }).is_break() {
                return Err(crate::pressure::Error::Cancelled { iterations });
            }
        }
        Ok(Info { iterations, converged: rr <= goal, ..Info::default() })
    }
}

/// A liquid among solids, sampled from formulas of the world position.
pub(super) struct Scene {
    pub(super) transform: Transform,
    pub(super) domain: DomainLimits,
    pub(super) surface: Grid<f32>,
    pub(super) open: FaceGrid<f32>,
    pub(super) vel_solid: FaceGrid<f32>,
    pub(super) vel: FaceGrid<f32>,
    /// Share of each cell that no solid fills.
    pub(super) volume: Grid<f32>,
}

/// Every leaf of the cells `low..high`.
pub(super) fn leaves(low: IVec3, high: IVec3) -> Arc<Topology> {
    let (a, b): (IVec3, IVec3) = (low >> 3, (high - 1) >> 3);
    let mut origins = Vec::new();
    for x in a.x..=b.x {
        for y in a.y..=b.y {
            for z in a.z..=b.z {
                origins.push(IVec3::new(x, y, z) * 8);
            }
        }
    }
    Arc::new(Topology::new(origins))
}

impl Scene {
    /// Liquid φ, solid φ and solid velocity over all leaves around a box of `size` cells whose sides are
    /// closed where `walled`.
    pub(super) fn new(
        h: f64,
        size: IVec3,
        walled: [bool; 6],
        liquid: impl Fn(DVec3) -> f64 + Sync,
        solid: impl Fn(DVec3) -> f64 + Sync,
        solid_velocity: impl Fn(DVec3) -> DVec3 + Sync,
    ) -> Self {
        let transform = Transform::uniform(h, DVec3::ZERO);
        // Nodes that a solid passes through up to rounding lie on it.
        let at_node = |p: DVec3| {
            let phi = solid(p);
            if phi.abs() < 1e-9 * h { 0.0 } else { phi }
        };
        // Sides lie on faces, so they close whole faces; a duct may be one cell wide.
        let beyond_walls =
            |c: Coord| (0..3).any(|a| (walled[2 * a] && c[a] < 0) || (walled[2 * a + 1] && c[a] >= size[a]));
        let topology = leaves(IVec3::splat(-1), size + 1);
        let surface = Grid::from_fn(topology.clone(), 3.0 * h as f32, |c| {
            liquid(transform.to_world(c.as_dvec3())) as f32
        });
        let open = FaceGrid::from_fn(topology.clone(), 1.0, |axis, c| {
            if beyond_walls(c) || beyond_walls(c - IVec3::AXES[axis]) {
                return 0.0;
            }
            let corner = |i: f64, j: f64| {
                let mut p = c.as_dvec3() - DVec3::splat(0.5);
                p[(axis + 1) % 3] += i;
                p[(axis + 2) % 3] += j;
                at_node(transform.to_world(p)) as f32
            };
            face_open([corner(0., 0.), corner(1., 0.), corner(0., 1.), corner(1., 1.)])
        });
        let vel_solid = FaceGrid::from_fn(topology.clone(), 0.0, |axis, c| {
            solid_velocity(transform.face_centre(axis, c))[axis] as f32
        });
        let volume = Grid::from_fn(topology.clone(), 1.0, |c| {
            let corner = |k: i32| c.as_dvec3() - 0.5 + IVec3::new(k & 1, k >> 1 & 1, k >> 2).as_dvec3();
            1.0 - cell_inside(std::array::from_fn(|k| at_node(transform.to_world(corner(k as i32))) as f32))
        });
        let sides = walled.map(|w| if w { Side::Closed } else { Side::Open });
        let domain = DomainLimits { min: DVec3::ZERO, max: size.as_dvec3() * h, sides };
        let vel = FaceGrid::new(topology, 0.0);
        Self { transform, domain, surface, open, vel_solid, vel, volume }
    }

    /// A scene whose solids stand still.
    pub(super) fn still(
        h: f64,
        size: IVec3,
        walled: [bool; 6],
        liquid: impl Fn(DVec3) -> f64 + Sync,
        solid: impl Fn(DVec3) -> f64 + Sync,
    ) -> Self {
        Self::new(h, size, walled, liquid, solid, |_| DVec3::ZERO)
    }

    /// Sets the velocity before projection from the world position of each face.
    pub(super) fn with_velocity(mut self, u: impl Fn(usize, DVec3) -> f64 + Sync) -> Self {
        let transform = self.transform;
        self.vel = FaceGrid::from_fn(self.vel.topology.clone(), 0.0, |axis, c| {
            u(axis, transform.face_centre(axis, c)) as f32
        });
        self
    }

    /// Sets the velocity that gravity gives to a liquid at rest in `dt`.
    pub(super) fn falling(self, dt: f64) -> Self {
        self.with_velocity(|axis, _| if axis == 1 { -GRAVITY * dt } else { 0.0 })
    }

    pub(super) fn fields(&self) -> LiquidFields<'_> {
        let (surface, open, vel_solid) = (&self.surface, &self.open, &self.vel_solid);
        water(self.transform, self.domain, surface, open, vel_solid)
    }

    /// Its fields, and what it has per cell.
    pub(super) fn with<'a>(&'a self, cells: CellGrids<&'a Grid<f32>>) -> LiquidFields<'a> {
        LiquidFields { cells, ..self.fields() }
    }

    pub(super) fn bubbles(&self, dt: f64) -> (FaceGrid<f32>, Projection) {
        let solve = |fields: &LiquidFields, vel: &mut FaceGrid<f32>| {
            constraint_bubbles::project(fields, vel, dt, &mut PlainCg, &TIGHT, &mut run_on)
        };
        self.run(solve)
    }

    pub(super) fn free_surface(&self, dt: f64) -> (FaceGrid<f32>, Projection) {
        let solve = |fields: &LiquidFields, vel: &mut FaceGrid<f32>| {
            free_surface::project(fields, vel, dt, &mut PlainCg, &TIGHT, &mut run_on)
        };
        self.run(solve)
    }

    fn run(
        &self,
        solve: impl Fn(&LiquidFields, &mut FaceGrid<f32>) -> Result<Projection, Error>,
    ) -> (FaceGrid<f32>, Projection) {
        let mut vel = self.vel.clone();
        let projection = solve(&self.fields(), &mut vel).unwrap();
        assert!(projection.info.converged, "{:?}", projection.info);
        (vel, projection)
    }

    /// Largest |u| over the open faces that bound a liquid cell, m/s.
    pub(super) fn fastest(&self, vel: &FaceGrid<f32>) -> f64 {
        self.liquid_faces().map(|(axis, c)| f64::from(vel.get(axis, c)).abs()).fold(0.0, f64::max)
    }

    /// Open faces that bound a liquid cell.
    pub(super) fn liquid_faces(&self) -> impl Iterator<Item = (usize, Coord)> {
        let topology = &self.surface.topology;
        (0..topology.len() * 512).flat_map(move |s| (0..3).map(move |axis| (axis, topology.coord(s)))).filter(
            |&(axis, c)| {
                self.open.get(axis, c) > 0.0
                    && (self.surface.get(c) < 0.0 || self.surface.get(c - IVec3::AXES[axis]) < 0.0)
            },
        )
    }
}

/// Water of one density that nothing drives.
pub(super) fn water<'a>(
    transform: Transform,
    domain: DomainLimits,
    surface: &'a Grid<f32>,
    open: &'a FaceGrid<f32>,
    vel_solid: &'a FaceGrid<f32>,
) -> LiquidFields<'a> {
    let water = LiquidFields::new(transform, domain, surface, open, vel_solid, Density::Uniform(WATER));
    LiquidFields { drift: 0.01, ..water }
}

pub(super) const TIGHT: Params = Params { tolerance: 1e-11, max_iterations: 20_000 };

pub(super) fn run_on(_: Iteration) -> std::ops::ControlFlow<()> {
    std::ops::ControlFlow::Continue(())
}

/// No solids.
pub(super) fn empty(_: DVec3) -> f64 {
    f64::MAX
}

/// A value in −1..1 that looks random, from an integer.
pub(super) fn noise(n: u64) -> f64 {
    let mut z = n.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// A velocity in −1..1 m/s that looks random, for a face.
pub(super) fn noisy_velocity(axis: usize, p: DVec3) -> f64 {
    let q = (p * 1e6).round().as_i64vec3();
    noise((q.x as u64) ^ (q.y as u64).rotate_left(21) ^ (q.z as u64).rotate_left(42) ^ (axis as u64) << 61)
}
