//! Where a source drives its liquid: faces whose velocity is given.

use crate::grid::morphology::VoxelMask;
use crate::grid::{Coord, FaceGrid, Topology, Transform, leaf};
use crate::solid::SolidFields;
use glam::{DVec3, Vec3};
use rayon::prelude::*;
use std::sync::Arc;

/// The faces in the regions of driving sources. No pressure and no viscosity changes their velocity, so that through any
/// section of a region goes area × speed, whatever pulls at what has left it.
#[derive(Clone, Debug)]
pub struct Inlet {
    /// 1 on the faces whose velocity is given, 0 elsewhere.
    pub faces: FaceGrid<f32>,
    /// Their velocity, m/s.
    pub velocity: FaceGrid<f32>,
}

impl Inlet {
    /// The faces whose middle is `inside`, within the world box `bounds`, at `velocity` (m/s).
    pub fn new(
        transform: &Transform,
        bounds: (DVec3, DVec3),
        inside: impl Fn(DVec3) -> bool + Sync,
        velocity: Vec3,
    ) -> Self {
        let [low, high] = [bounds.0, bounds.1].map(|x| transform.to_index(x).floor().as_ivec3());
        let leaf_of = |x: Coord| x >> leaf::DIM.ilog2() as i32;
        let (first, last) = (leaf_of(low), leaf_of(high + 1));
        let along = |a: usize| first[a]..=last[a];
        let origins =
            along(0).flat_map(|x| along(1).flat_map(move |y| along(2).map(move |z| Coord::new(x, y, z))));
        let topology = Arc::new(Topology::new(origins.map(|o| o * leaf::DIM as i32).collect()));
        let is_driven = |axis: usize, cell: Coord| {
            let mut middle = cell.as_dvec3();
            middle[axis] -= 0.5;
            inside(transform.to_world(middle))
        };
        let faces = FaceGrid::from_fn(topology, 0.0, |axis, cell| f32::from(is_driven(axis, cell)));
        let mut given = faces.clone();
        for axis in 0..3 {
            given.values[axis].iter_mut().for_each(|u| *u *= velocity[axis]);
        }
        Self { faces, velocity: given }
    }

    /// The faces of both; `later` decides where they overlap.
    pub fn and(&self, later: &Self) -> Self {
        let topology = Arc::new(self.faces.topology.union(&later.faces.topology));
        let (mut both, over) = (self.on(&topology), later.on(&topology));
        for axis in 0..3 {
            for (slot, _) in over.faces.values[axis].iter().enumerate().filter(|(_, given)| **given > 0.0) {
                both.faces.values[axis][slot] = 1.0;
                both.velocity.values[axis][slot] = over.velocity.values[axis][slot];
            }
        }
        both
    }

    /// Closes the given faces to pressure and viscosity, as a solid would that moves with their velocity; of a face that a
    /// solid cuts, the liquid goes through what is open. Faces in solids are given no longer.
    pub fn close(&mut self, solid: &mut SolidFields) {
        let mut given = self.on(&solid.open.topology);
        for axis in 0..3 {
            let faces = given.faces.values[axis].par_iter_mut().zip(&given.velocity.values[axis]);
            let walls = solid.open.values[axis].par_iter_mut().zip(&mut solid.velocity.values[axis]);
            faces.zip(walls).with_min_len(4096).for_each(|((given, &u), (open, wall))| {
                if *given > 0.0 && *open > 0.0 {
                    *wall = *open * u + (1.0 - *open) * *wall;
                    *open = 0.0;
                } else {
                    *given = 0.0;
                }
            });
        }
        self.faces = given.faces.on(&self.faces.topology);
    }

    /// Gives the faces their velocity.
    pub fn drive(&self, velocity: &mut FaceGrid<f32>) {
        let given = self.on(&velocity.topology);
        for axis in 0..3 {
            let faces = given.faces.values[axis].par_iter().zip(&given.velocity.values[axis]);
            velocity.values[axis].par_iter_mut().zip(faces).with_min_len(4096).for_each(
                |(v, (&given, &u))| {
                    if given > 0.0 {
                        *v = u;
                    }
                },
            );
        }
    }

    /// The given velocity in a cell, m/s; `None` where no axis has both of its faces given: beyond the mouth.
    pub fn velocity_in(&self, cell: Coord) -> Option<Vec3> {
        let l = self.faces.topology.leaf_of(cell)?;
        let at = (cell & (leaf::DIM as i32 - 1)).to_array();
        let (mut through, mut velocity) = (false, Vec3::ZERO);
        for axis in 0..3 {
            let mut above = at;
            above[axis] += 1;
            let [below, above] = [at, above]
                .map(|at| (self.faces.reach(axis, l, at) > 0.0).then(|| self.velocity.reach(axis, l, at)));
            through |= below.is_some() && above.is_some();
            velocity[axis] = match (below, above) {
                (Some(below), Some(above)) => 0.5 * (below + above),
                (one, other) => one.or(other).unwrap_or(0.0),
            };
        }
        through.then_some(velocity)
    }

    /// Per axis, the given faces on some leaves.
    pub fn masks(&self, topology: &Arc<Topology>) -> [VoxelMask; 3] {
        let faces = self.faces.on(topology);
        std::array::from_fn(|axis| VoxelMask::from_fn(topology.clone(), |s| faces.values[axis][s] > 0.0))
    }

    fn on(&self, topology: &Arc<Topology>) -> Self {
        Self { faces: self.faces.on(topology), velocity: self.velocity.on(topology) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const H: f64 = 0.1;

    fn mouth(low: DVec3, high: DVec3, velocity: Vec3) -> Inlet {
        let inside = |x: DVec3| x.cmpge(low).all() && x.cmplt(high).all();
        Inlet::new(&Transform::uniform(H, DVec3::ZERO), (low, high), inside, velocity)
    }

    fn count(inlet: &Inlet, axis: usize) -> usize {
        inlet.faces.values[axis].iter().filter(|&&given| given > 0.0).count()
    }

    #[test]
    fn the_faces_in_the_region_are_given() {
        // Across the borders of leaves, below 0 too, and between the lattice's planes.
        let inlet = mouth(DVec3::new(-0.4, 0.22, 1.5), DVec3::new(0.6, 0.48, 2.1), Vec3::new(0.0, -2.0, 1.0));
        // 10 × 6 columns; sections at 0.3 and 0.4 m.
        assert_eq!(count(&inlet, 1), 10 * 6 * 2);
        let transform = Transform::uniform(H, DVec3::ZERO);
        for slot in 0..inlet.faces.values[1].len() {
            let below = transform.to_world(inlet.faces.topology.coord(slot).as_dvec3() - DVec3::Y * 0.5);
            let given = inlet.faces.values[1][slot] > 0.0;
            assert_eq!(inlet.velocity.values[1][slot], if given { -2.0 } else { 0.0 }, "{below}");
        }
    }

    #[test]
    fn cells_in_the_region_move_with_it_and_the_one_beyond_the_mouth_does_not() {
        let inlet = mouth(DVec3::ZERO, DVec3::splat(0.8), Vec3::new(0.0, -2.0, 0.0));
        assert_eq!(inlet.velocity_in(Coord::new(0, 0, 0)), Some(Vec3::new(0.0, -2.0, 0.0)));
        assert_eq!(inlet.velocity_in(Coord::new(7, 6, 3)), Some(Vec3::new(0.0, -2.0, 0.0)));
        // Its upper face is the region's end, which no longer lies in it.
        assert_eq!(inlet.velocity_in(Coord::new(3, -1, 3)), None);
        assert_eq!(inlet.velocity_in(Coord::new(30, 3, 3)), None);
    }

    #[test]
    fn the_later_of_two_decides() {
        let (low, high) = (DVec3::ZERO, DVec3::splat(0.8));
        let first = mouth(low, high, Vec3::X);
        let both = first.and(&mouth(low + DVec3::X * 0.4, high + DVec3::X * 0.4, Vec3::Y));
        assert_eq!(count(&both, 0), count(&first, 0) * 3 / 2);
        let sum: f32 = both.velocity.values[0].iter().sum();
        assert_eq!(sum as usize, count(&first, 0) / 2);
    }

    #[test]
    fn a_solid_keeps_its_faces_and_narrows_those_it_cuts() {
        let mut inlet = mouth(DVec3::ZERO, DVec3::splat(0.8), Vec3::new(0.0, 3.0, 0.0));
        let mut solid = SolidFields::open(&inlet.faces.topology, &Transform::uniform(H, DVec3::ZERO));
        let (shut, cut) = (Coord::new(2, 2, 2), Coord::new(3, 2, 2));
        assert!(solid.open.set(1, shut, 0.0) && solid.open.set(1, cut, 0.25));
        let before = count(&inlet, 1);
        inlet.close(&mut solid);
        assert_eq!(count(&inlet, 1), before - 1);
        assert_eq!([solid.velocity.get(1, shut), solid.open.get(1, shut)], [0.0, 0.0]);
        assert_eq!([solid.velocity.get(1, cut), solid.open.get(1, cut)], [0.75, 0.0]);
        let mut velocity = FaceGrid::new(solid.open.topology.clone(), 0.0);
        inlet.drive(&mut velocity);
        assert_eq!([velocity.get(1, shut), velocity.get(1, cut)], [0.0, 3.0]);
    }
}
