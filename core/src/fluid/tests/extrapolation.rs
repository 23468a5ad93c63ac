use super::*;
use crate::fluid::extrapolation::extrapolate;
use crate::grid::{FaceGrid, Grid, leaf};
use crate::solid::{DomainLimits, Side, rasterise};

const LAYERS: usize = 4;

/// A block of liquid that fills x < 0.8, y < 0.8, z < 0.8, and its surface.
fn block() -> (Particles, Cells, Grid<f32>) {
    let (particles, cells) = cloud(6000, Vec3::splat(0.01), Vec3::splat(0.79), |_| Vec3::ZERO);
    let phi = Grid::from_fn(cells.topology.clone(), 0.3, |c| {
        (transform().to_world(c.as_dvec3()).max_element() - 0.8) as f32
    });
    (particles, cells, phi)
}

#[test]
fn a_constant_stays_constant_and_ends_after_its_layers() {
    let (_, cells, phi) = block();
    let solid = rasterise(&[], &DomainLimits::unbounded(), &cells.topology, &transform());
    let u = [1.5, -2.0, 0.25];
    // The solve knows nothing of air faces: they hold rubbish.
    let mut velocity = FaceGrid::from_fn(cells.topology.clone(), 0.0, |axis, c| {
        let liquid = |c| phi.get(c) < 0.0;
        let mut below = c;
        below[axis] -= 1;
        if liquid(c) || liquid(below) { u[axis] } else { 1e9 }
    });
    extrapolate(&mut velocity, &cells, &phi, &solid, H as f32, LAYERS);
    for axis in 0..3 {
        for s in 0..phi.values.len() {
            let c = cells.topology.coord(s);
            let beyond = (c - 7).max(glam::IVec3::ZERO).element_sum();
            let value = velocity.values[axis][s];
            assert!(value == u[axis] || value == 0.0, "{value} at {c}");
            if c.min_element() >= 0 && beyond <= LAYERS as i32 {
                assert_eq!(value, u[axis], "{c}");
            }
            if beyond > LAYERS as i32 + 1 {
                assert_eq!(value, 0.0, "{c}");
            }
        }
    }
}

#[test]
fn spray_keeps_its_own_velocity() {
    let (mut particles, _, _) = block();
    particles.push(particle(Vec3::new(0.45, 1.05, 0.45), Vec3::ZERO, 9999));
    let cells = sorted(&mut particles);
    let phi = Grid::from_fn(cells.topology.clone(), 0.3, |c| {
        (transform().to_world(c.as_dvec3()).max_element() - 0.8) as f32
    });
    let solid = rasterise(&[], &DomainLimits::unbounded(), &cells.topology, &transform());
    let mut velocity = FaceGrid::from_fn(cells.topology.clone(), 0.0, |axis, c| match (axis, c.y) {
        (1, 9..) => -5.0,
        (1, _) => 1.0,
        _ => 0.0,
    });
    extrapolate(&mut velocity, &cells, &phi, &solid, H as f32, LAYERS);
    let drop = glam::IVec3::new(4, 10, 4);
    assert_eq!(velocity.get(1, drop), -5.0);
    assert_eq!(velocity.get(1, glam::IVec3::new(4, 9, 0)), 1.0);
}

#[test]
fn walls_let_velocity_slip_along_them_but_not_through() {
    let (_, cells, phi) = block();
    let domain = DomainLimits::uniform(DVec3::ZERO, DVec3::splat(1.6), Side::Closed);
    let solid = rasterise(&[], &domain, &cells.topology, &transform());
    let u = [1.0, -2.0, 0.5];
    let mut velocity = FaceGrid::from_fn(cells.topology.clone(), 0.0, |axis, _| u[axis]);
    extrapolate(&mut velocity, &cells, &phi, &solid, H as f32, LAYERS);
    for s in 0..phi.values.len() {
        let c = cells.topology.coord(s);
        let face_in_floor = c.y <= 0 && c.y >= -2 && (2..6).contains(&c.x) && (2..6).contains(&c.z);
        if face_in_floor {
            assert!(velocity.values[1][s].abs() < 1e-6, "through the floor at {c}");
            if c.y < 0 {
                assert!((velocity.values[0][s] - 1.0).abs() < 1e-6, "along the floor at {c}");
            }
        }
    }
    assert_eq!(velocity.values[0].len() % leaf::SIZE, 0);
}
