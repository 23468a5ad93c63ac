//! Water in the upper of two bulbs of a closed glass, a drop and a bubble on their ways.

use glam::{DVec3, IVec3};
use meniscus_core::coupling::LiquidFields;
use meniscus_core::grid::{FaceGrid, Grid, Topology, Transform};
use meniscus_core::levelset::fractions::face_open;
use meniscus_core::pressure::Density;
use meniscus_core::solid::{DomainLimits, Side};
use std::sync::Arc;

/// The glass: negative outside two balls of radius 0.23 joined by a neck of radius 0.06.
fn glass(p: DVec3) -> f64 {
    let ball = |y: f64| 0.23 - p.distance(DVec3::new(0.5, y, 0.5));
    let neck = (0.06 - DVec3::new(p.x - 0.5, 0.0, p.z - 0.5).length()).min(0.25 - (p.y - 0.5).abs());
    ball(0.26).max(ball(0.74)).max(neck)
}

fn water(p: DVec3) -> f64 {
    let pool = (0.55 - p.y).max(p.y - 0.8).max(0.05 - p.distance(DVec3::new(0.45, 0.65, 0.5)));
    pool.min(p.distance(DVec3::new(0.5, 0.4, 0.52)) - 0.04).min(p.y - 0.12)
}

/// The fields of the cooler on voxels of 1/n m.
pub struct Cooler {
    transform: Transform,
    surface: Grid<f32>,
    open: FaceGrid<f32>,
    vel_solid: FaceGrid<f32>,
}

impl Cooler {
    pub fn new(n: i32) -> Self {
        let h = 1.0 / f64::from(n);
        let transform = Transform::uniform(h, DVec3::ZERO);
        let side = n / 8;
        let tile = |i: i32| IVec3::new(i / (side * side), i / side % side, i % side) * 8;
        let wet = |o: &IVec3| glass(transform.to_world(o.as_dvec3() + 3.5)) > -8.0 * h;
        let topology = Arc::new(Topology::new((0..side * side * side).map(tile).filter(wet).collect()));
        let surface = Grid::from_fn(topology.clone(), 3.0 * h as f32, |c| {
            water(transform.to_world(c.as_dvec3())) as f32
        });
        let open = FaceGrid::from_fn(topology.clone(), 1.0, |axis, c| {
            face_open([(0., 0.), (1., 0.), (0., 1.), (1., 1.)].map(|(i, j)| {
                let mut p = c.as_dvec3() - DVec3::splat(0.5);
                (p[(axis + 1) % 3], p[(axis + 2) % 3]) = (p[(axis + 1) % 3] + i, p[(axis + 2) % 3] + j);
                glass(transform.to_world(p)) as f32
            }))
        });
        let vel_solid = FaceGrid::new(topology, 0.0);
        Self { transform, surface, open, vel_solid }
    }

    /// What a projection reads.
    pub fn fields(&self) -> LiquidFields<'_> {
        let domain = DomainLimits::uniform(DVec3::ZERO, DVec3::ONE, Side::Closed);
        let density = Density::Uniform(1000.0);
        LiquidFields::new(self.transform, domain, &self.surface, &self.open, &self.vel_solid, density)
    }

    /// Everything falls, having started at rest `dt` seconds ago.
    pub fn falling(&self, dt: f64) -> FaceGrid<f32> {
        let fall = (-9.81 * dt) as f32;
        FaceGrid::from_fn(self.surface.topology.clone(), 0.0, |axis, _| if axis == 1 { fall } else { 0.0 })
    }
}
