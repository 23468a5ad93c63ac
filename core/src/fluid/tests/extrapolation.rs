use super::*;
use crate::fluid::faces::air_flow::carry_volume;
use crate::fluid::faces::extrapolation::{Walls, extrapolate};
use crate::grid::{FaceGrid, Grid, leaf};
use crate::solid::{DomainLimits, Side, rasterise};

const LAYERS: usize = 4;

/// The surface of a block that fills x < 0.8, y < 0.8, z < 0.8.
fn surface(cells: &Cells) -> Grid<f32> {
    Grid::from_fn(cells.topology.clone(), 0.3, |c| {
        (transform().to_world(c.as_dvec3()).max_element() - 0.8) as f32
    })
}

/// A block of liquid that fills x < 0.8, y < 0.8, z < 0.8, and its surface.
fn block() -> (Particles, Cells, Grid<f32>) {
    let (particles, cells) = cloud(6000, Vec3::splat(0.01), Vec3::splat(0.79), |_| Vec3::ZERO);
    let phi = surface(&cells);
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
    extrapolate(&mut velocity, &cells, &phi, &Walls::held(&solid, H as f32), None, LAYERS, None);
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
    let phi = surface(&cells);
    let solid = rasterise(&[], &DomainLimits::unbounded(), &cells.topology, &transform());
    let mut velocity = FaceGrid::from_fn(cells.topology.clone(), 0.0, |axis, c| match (axis, c.y) {
        (1, 9..) => -5.0,
        (1, _) => 1.0,
        _ => 0.0,
    });
    extrapolate(&mut velocity, &cells, &phi, &Walls::held(&solid, H as f32), None, LAYERS, None);
    let drop = glam::IVec3::new(4, 10, 4);
    assert_eq!(velocity.get(1, drop), -5.0);
    assert_eq!(velocity.get(1, glam::IVec3::new(4, 9, 0)), 1.0);
}

/// A drop that passes close to liquid feels what the solve does to the liquid, and does not take its speed over.
#[test]
fn particles_beside_liquid_keep_their_velocity_and_take_its_change() {
    let (mut particles, _, _) = block();
    particles.push(particle(Vec3::new(0.41, 0.81, 0.41), Vec3::ZERO, 9999));
    let cells = sorted(&mut particles);
    let phi = surface(&cells);
    let solid = rasterise(&[], &DomainLimits::unbounded(), &cells.topology, &transform());
    let field = |of_liquid: f32| {
        FaceGrid::from_fn(cells.topology.clone(), 0.0, move |_, c| if c.y >= 8 { -5.0 } else { of_liquid })
    };
    let (drop, empty) = (glam::IVec3::new(4, 8, 4), glam::IVec3::new(1, 8, 1));
    let beside = |before: Option<&FaceGrid<f32>>, cells: &Cells| {
        let mut velocity = field(3.0);
        let walls = Walls::held(&solid, H as f32);
        extrapolate(&mut velocity, cells, &phi, &walls, None, LAYERS, before);
        // Where no particle is, the liquid's velocity goes on.
        assert_eq!(velocity.get(0, empty), 3.0);
        velocity.get(0, drop)
    };
    assert_eq!(beside(None, &cells), 3.0);
    assert_eq!(beside(Some(&field(1.0)), &cells), -5.0 + (3.0 - 1.0));
    // Nothing overtakes the liquid by what the solve did to it: what flies away goes on as it does.
    assert_eq!(beside(Some(&field(8.0)), &cells), -5.0);
    // Liquid without particles has brought no velocity, so nothing has changed from it.
    let mut alone = Particles::new(DVec3::ZERO);
    alone.push(particle(Vec3::new(0.41, 0.81, 0.41), Vec3::ZERO, 0));
    let (lone, _) = cells::sort(&mut alone, &transform(), &cells.topology);
    assert_eq!(beside(Some(&field(0.0)), &lone), -5.0);
}

#[test]
fn walls_let_velocity_slip_along_them_but_not_through() {
    let (_, cells, phi) = block();
    let domain = DomainLimits::uniform(DVec3::ZERO, DVec3::splat(1.6), Side::Closed);
    let solid = rasterise(&[], &domain, &cells.topology, &transform());
    let u = [1.0, -2.0, 0.5];
    let mut velocity = FaceGrid::from_fn(cells.topology.clone(), 0.0, |axis, _| u[axis]);
    extrapolate(&mut velocity, &cells, &phi, &Walls::held(&solid, H as f32), None, LAYERS, None);
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

/// Largest |∇·u| h, m/s, of the air cells that touch the top of the block away from its edges.
fn divergence_above(velocity: &FaceGrid<f32>) -> f32 {
    let mut largest = 0.0f32;
    for x in 2..6 {
        for z in 2..6 {
            let c = glam::IVec3::new(x, 8, z);
            let sum: f32 =
                (0..3).map(|a| velocity.get(a, c + glam::IVec3::AXES[a]) - velocity.get(a, c)).sum();
            largest = largest.max(sum.abs());
        }
    }
    largest
}

#[test]
fn the_air_beside_the_liquid_neither_squeezes_nor_stretches_it() {
    let (_, cells, phi) = block();
    let solid = rasterise(&[], &DomainLimits::unbounded(), &cells.topology, &transform());
    let flow = |u: [fn(glam::DVec3) -> f64; 3]| {
        let mut velocity = FaceGrid::from_fn(cells.topology.clone(), 0.0, |axis, c| {
            u[axis](transform().face_centre(axis, c)) as f32
        });
        let extended =
            extrapolate(&mut velocity, &cells, &phi, &Walls::held(&solid, H as f32), None, LAYERS, None);
        let before = velocity.clone();
        carry_volume(&mut velocity, &extended, &solid, LAYERS);
        (before, velocity)
    };
    // The liquid streams together and up.
    let (before, after) = flow([|p| 0.4 - p.x, |p| p.y, |_| 0.0]);
    let (squeezed, left) = (divergence_above(&before), divergence_above(&after));
    assert!(left < 0.4 * squeezed, "{left} of {squeezed} m/s");
    for s in 0..phi.values.len() {
        let c = cells.topology.coord(s);
        for axis in 0..3 {
            if phi.get(c) < 0.0 || phi.get(c - glam::IVec3::AXES[axis]) < 0.0 {
                assert_eq!(before.values[axis][s], after.values[axis][s], "the liquid's own at {c}");
            }
        }
    }
    // What moves as a whole squeezes nothing.
    let (before, after) = flow([|_| 1.0, |_| 2.0, |_| -3.0]);
    assert!(divergence_above(&before) < 1e-6 && divergence_above(&after) < 0.02);
}
