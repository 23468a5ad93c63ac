//! Nozzles of driving sources: regions whose back and sides are closed and whose front emits liquid at a given
//! velocity.

use crate::grid::morphology::VoxelMask;
use crate::grid::sampling::Sampler;
use crate::grid::{Coord, FaceGrid, Grid, Topology, Transform, leaf};
use crate::solid::SolidFields;
use glam::{DVec3, Vec3};
use rayon::prelude::*;
use std::sync::Arc;

/// Samples along a face's edge that tell how much of it a nozzle covers.
const SAMPLES: i32 = 8;
/// Share of a face that a nozzle must cover for particles there to move with the nozzle.
const MOST: f32 = 0.499;
/// Distance by which a nozzle's front is moved forward, voxels, so that it covers the faces on it.
const SHIFT: f64 = 0.02;
/// Smallest thickness of a nozzle, voxels: thinner ones are extended to it.
const LEAST: f64 = 2.0;
/// Samples along the way from a point of a thickened nozzle back to its region, per thickness of the region.
const LOOKS: f64 = 3.0;

/// The nozzles of driving sources. Pressure and viscosity do not change the velocity of the faces that they cover.
/// Where liquid leaves such a face and none enters the cell behind, it is created there: no liquid is drawn from around
/// the nozzle.
#[derive(Clone, Debug)]
pub struct Inlet {
    /// The share of each face that nozzles cover.
    pub faces: FaceGrid<f32>,
    /// Their velocity there, m/s.
    pub velocity: FaceGrid<f32>,
}

/// A region that drives the liquid in it.
#[derive(Clone, Copy, Debug)]
pub struct Nozzle {
    /// Lowest and highest corner, world metres.
    pub bounds: (DVec3, DVec3),
    /// Thickness of the region, m; regions thinner than the grid can resolve are extended along the velocity.
    pub thickness: f64,
    /// Velocity of what leaves it, m/s.
    pub velocity: Vec3,
}

impl Nozzle {
    /// How far it is extended beyond its front, m, so that no cell reaches through it or through what a wall leaves of
    /// it.
    fn carried_on(&self, h: f64) -> DVec3 {
        let along = self.velocity.as_dvec3().normalize_or_zero();
        along * (LEAST * along.abs().element_sum() * h - self.thickness).max(0.0)
    }
}

impl Inlet {
    /// The greatest speed that it gives, m/s.
    pub fn speed(&self) -> f64 {
        let of_axis = |(share, velocity): (&Vec<f32>, &Vec<f32>)| {
            let driven = share.iter().zip(velocity).filter(|(share, _)| **share > 0.0);
            driven.map(|(_, v)| v.abs()).fold(0.0f32, f32::max)
        };
        let axes = self.faces.values.iter().zip(&self.velocity.values).map(of_axis);
        axes.map(|v| f64::from(v).powi(2)).sum::<f64>().sqrt()
    }

    /// The faces that a nozzle covers; `inside` says whether a world position is in its region, the region's sides
    /// included.
    pub fn new(transform: &Transform, nozzle: &Nozzle, inside: impl Fn(DVec3) -> bool + Sync) -> Self {
        let h = transform.voxel_size();
        let on = nozzle.carried_on(h);
        let looks = (LOOKS * on.length() / nozzle.thickness.max(1e-3 * h)).ceil() as i32;
        // A face on the front belongs to the nozzle; one on the back does not.
        let back = nozzle.velocity.as_dvec3().normalize_or_zero() * (SHIFT * h);
        let covers = |at: DVec3| {
            (0..=looks).any(|n| inside(at - back - on * (f64::from(n) / f64::from(looks.max(1)))))
        };
        let (low, high) =
            (nozzle.bounds.0.min(nozzle.bounds.0 + on), nozzle.bounds.1.max(nozzle.bounds.1 + on));
        let [low, high] = [low, high].map(|x| transform.to_index(x).floor().as_ivec3());
        let leaf_of = |x: Coord| x >> leaf::DIM.ilog2() as i32;
        let (first, last) = (leaf_of(low - 1), leaf_of(high + 2));
        let along = |a: usize| first[a]..=last[a];
        let origins =
            along(0).flat_map(|x| along(1).flat_map(move |y| along(2).map(move |z| Coord::new(x, y, z))));
        let topology = Arc::new(Topology::new(origins.map(|o| o * leaf::DIM as i32).collect()));
        let is_near = |cell: Coord| cell.cmpge(low - 1).all() && cell.cmple(high + 2).all();
        let covered = |axis: usize, cell: Coord| match is_near(cell) {
            true => share_of_face(transform, axis, cell, covers),
            false => 0.0,
        };
        let faces = FaceGrid::from_fn(topology, 0.0, covered);
        let mut given = faces.clone();
        for axis in 0..3 {
            let u = nozzle.velocity[axis];
            given.values[axis].iter_mut().for_each(|v| *v = if *v > 0.0 { u } else { 0.0 });
        }
        Self { faces, velocity: given }
    }

    /// The faces of both nozzles. Where they overlap, `later` decides.
    pub fn and(&self, later: &Self) -> Self {
        let topology = Arc::new(self.faces.topology.union(&later.faces.topology));
        let (mut both, over) = (self.on(&topology), later.on(&topology));
        for axis in 0..3 {
            for (slot, &share) in
                over.faces.values[axis].iter().enumerate().filter(|(_, share)| **share > 0.0)
            {
                let (shares, velocities) = (&mut both.faces.values[axis], &mut both.velocity.values[axis]);
                // The faces that the earlier nozzle covers in excess of the later one are assumed to lie beside it.
                let beside = shares[slot].min(1.0 - share);
                let sum = share + beside;
                let flux = share * over.velocity.values[axis][slot] + beside * velocities[slot];
                (shares[slot], velocities[slot]) = (sum, flux / sum);
            }
        }
        both
    }

    /// Closes the covered faces to pressure and viscosity, as a solid moving at their velocity would. Where a solid
    /// cuts a face, the liquid flows through the open part. Faces in solids are no longer given. Returns the flow
    /// through each face, m/s of the whole face.
    pub fn close(&mut self, solid: &mut SolidFields) -> FaceGrid<f32> {
        let mut given = self.on(&solid.open.topology);
        for axis in 0..3 {
            let faces = given.faces.values[axis].par_iter_mut().zip(&mut given.velocity.values[axis]);
            let walls = solid.open.values[axis].par_iter_mut().zip(&mut solid.velocity.values[axis]);
            faces.zip(walls).with_min_len(4096).for_each(|((share, u), (open, wall))| {
                if *share > 0.0 && *open > 0.0 {
                    let left = *open * (1.0 - *share);
                    *u *= *open * *share;
                    *wall = (*u + (1.0 - *open) * *wall) / (1.0 - left);
                    *open = left;
                } else {
                    (*share, *u) = (0.0, 0.0);
                }
            });
        }
        self.faces = given.faces.on(&self.faces.topology);
        given.velocity
    }

    /// Adds the liquid that nozzles create in each cell, 1/s: the outflow through the covered faces of a cell at the
    /// back, minus the inflow through them. `flux` is what [`Self::close`] returns, on the same leaves.
    pub fn add_springs(&self, flux: &FaceGrid<f32>, h: f32, to: &mut Grid<f32>) {
        let topology = &flux.topology;
        to.values.par_chunks_mut(leaf::SIZE).enumerate().for_each(|(l, springs)| {
            if self.faces.topology.leaf_of(topology.origins()[l]).is_none() {
                return;
            }
            for (n, spring) in springs.iter_mut().enumerate() {
                let at = leaf::local(n);
                let outflow = |axis: usize| {
                    let mut above = at;
                    above[axis] += 1;
                    flux.reach(axis, l, above) - flux.reach(axis, l, at)
                };
                *spring += ((0..3).map(outflow).sum::<f32>() / h).max(0.0);
            }
        });
    }

    /// Gives the faces the nozzles' velocity, in proportion to the share that nozzles cover.
    pub fn drive(&self, velocity: &mut FaceGrid<f32>) {
        self.give(velocity, |share, u, v| share * u + (1.0 - share) * v);
    }

    /// Gives the faces that nozzles cover wholly their velocity.
    pub fn drive_closed(&self, velocity: &mut FaceGrid<f32>) {
        self.give(velocity, |share, u, v| if share >= 1.0 { u } else { v });
    }

    fn give(&self, velocity: &mut FaceGrid<f32>, value: impl Fn(f32, f32, f32) -> f32 + Sync) {
        let given = self.on(&velocity.topology);
        for axis in 0..3 {
            let faces = given.faces.values[axis].par_iter().zip(&given.velocity.values[axis]);
            velocity.values[axis].par_iter_mut().zip(faces).with_min_len(4096).for_each(
                |(v, (&share, &u))| {
                    if share > 0.0 {
                        *v = value(share, u, *v);
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
                .map(|at| (self.faces.reach(axis, l, at) > MOST).then(|| self.velocity.reach(axis, l, at)));
            through |= below.is_some() && above.is_some();
            velocity[axis] = match (below, above) {
                (Some(below), Some(above)) => 0.5 * (below + above),
                (one, other) => one.or(other).unwrap_or(0.0),
            };
        }
        through.then_some(velocity)
    }

    /// The given velocity at an index position, m/s; `None` outside the nozzles. The covered shares of the faces around
    /// say where their sides are.
    pub fn velocity_at(&self, at: DVec3) -> Option<Vec3> {
        let mut sampler = Sampler::new(&self.faces.topology);
        let share = sampler.sample_velocity(&self.faces, at);
        let given = sampler.sample_velocity(&self.velocity, at);
        // At a side, the faces of two axes tell how much of them lies outside.
        let median = share.element_sum() - share.min_element() - share.max_element();
        (median > 0.5).then(|| given / share.max(Vec3::splat(0.5)))
    }

    /// Per axis, the faces on some leaves that nozzles cover for the most part.
    pub fn masks(&self, topology: &Arc<Topology>) -> [VoxelMask; 3] {
        let faces = self.faces.on(topology);
        std::array::from_fn(|axis| VoxelMask::from_fn(topology.clone(), |s| faces.values[axis][s] > MOST))
    }

    fn on(&self, topology: &Arc<Topology>) -> Self {
        Self { faces: self.faces.on(topology), velocity: self.velocity.on(topology) }
    }
}

/// The share of the lower `axis` face of a cell that lies `inside`.
fn share_of_face(transform: &Transform, axis: usize, cell: Coord, inside: impl Fn(DVec3) -> bool) -> f32 {
    let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
    let is_inside = |i: i32, j: i32| {
        let part = |n: i32| (f64::from(n) + 0.5) / f64::from(SAMPLES) - 0.5;
        let mut at = cell.as_dvec3();
        at[axis] -= 0.5;
        at[b] += part(i);
        at[c] += part(j);
        inside(transform.to_world(at))
    };
    // Nine samples find whether a face lies on the rim.
    let few = [0, 1, 2].map(|n| n * SAMPLES / 2 - n / 2);
    let mut looks = few.iter().flat_map(|&i| few.map(|j| is_inside(i, j)));
    let first = looks.next().unwrap_or(false);
    if looks.all(|look| look == first) {
        return f32::from(first);
    }
    let all = (0..SAMPLES).flat_map(|i| (0..SAMPLES).map(move |j| (i, j)));
    let covered = all.filter(|&(i, j)| is_inside(i, j)).count();
    covered as f32 / (SAMPLES * SAMPLES) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    const H: f64 = 0.1;

    fn mouth(low: DVec3, high: DVec3, velocity: Vec3) -> Inlet {
        let inside = |x: DVec3| x.cmpge(low - 1e-3).all() && x.cmple(high + 1e-3).all();
        let nozzle = Nozzle { bounds: (low, high), thickness: (high - low).min_element(), velocity };
        Inlet::new(&Transform::uniform(H, DVec3::ZERO), &nozzle, inside)
    }

    fn shares(inlet: &Inlet, axis: usize) -> f64 {
        inlet.faces.values[axis].iter().map(|&share| f64::from(share)).sum()
    }

    /// The liquid created in the nozzles, and the flow out of their fronts, m³/s.
    fn made(inlet: &mut Inlet, solid: &mut SolidFields) -> (f64, f64) {
        let flux = inlet.close(solid);
        let mut springs = Grid::new(flux.topology.clone(), 0.0);
        inlet.add_springs(&flux, H as f32, &mut springs);
        let made = springs.values.iter().map(|&s| f64::from(s)).sum::<f64>() * H.powi(3);
        let mut taken = Grid::new(flux.topology.clone(), 0.0);
        let mut back = flux.clone();
        back.values.iter_mut().flatten().for_each(|u| *u = -*u);
        inlet.add_springs(&back, H as f32, &mut taken);
        (made, taken.values.iter().map(|&s| f64::from(s)).sum::<f64>() * H.powi(3))
    }

    fn open_around(inlet: &Inlet) -> SolidFields {
        SolidFields::open(&inlet.faces.topology, &Transform::uniform(H, DVec3::ZERO))
    }

    #[test]
    fn the_faces_in_the_region_are_given() {
        // Across the borders of leaves, below 0 too, and between the lattice's planes.
        let inlet = mouth(DVec3::new(-0.4, 0.22, 1.5), DVec3::new(0.6, 0.48, 2.1), Vec3::new(0.0, -2.0, 0.0));
        // 10 × 6 columns; sections at 0.3 and 0.4 m.
        assert!((shares(&inlet, 1) - 10.0 * 6.0 * 2.0).abs() < 1e-6, "{}", shares(&inlet, 1));
        for (slot, &share) in inlet.faces.values[1].iter().enumerate() {
            assert_eq!(inlet.velocity.values[1][slot], if share > 0.0 { -2.0 } else { 0.0 });
        }
    }

    /// Area × speed is created and leaves through the front, wherever the region lies on the lattice.
    #[test]
    fn a_nozzle_makes_what_leaves_it() {
        for (name, low, size, velocity) in [
            ("on the lattice", DVec3::ZERO, DVec3::splat(0.8), Vec3::Y),
            ("off the lattice", DVec3::new(0.013, 0.024, -0.037), DVec3::new(0.77, 0.43, 0.81), Vec3::Y),
            ("two voxels", DVec3::ZERO, DVec3::new(0.8, 0.2, 0.8), Vec3::NEG_Y),
            ("one voxel", DVec3::ZERO, DVec3::new(0.8, 0.1, 0.8), Vec3::Y),
            ("less", DVec3::new(0.0, 0.071, 0.0), DVec3::new(0.8, 0.03, 0.8), Vec3::Y),
            ("aslant", DVec3::ZERO, DVec3::splat(0.8), Vec3::new(0.6, 0.8, 0.0)),
            ("aslant, thin", DVec3::ZERO, DVec3::new(0.8, 0.1, 0.8), Vec3::new(0.48, 0.6, 0.64)),
        ] {
            let mut inlet = mouth(low, low + size, velocity);
            let (made, left) = made(&mut inlet.clone(), &mut open_around(&inlet));
            let sides = DVec3::new(size.y * size.z, size.x * size.z, size.x * size.y);
            let given = velocity.as_dvec3().abs().dot(sides);
            assert!((made / given - 1.0).abs() < 0.02, "{name}: {made} of {given} m³/s");
            assert!((left / given - 1.0).abs() < 0.02, "{name}: {left} of {given} m³/s leave");
            // The same with a wall behind: the flow through the front is still created.
            let mut solid = open_around(&inlet);
            solid.open.values[1].iter_mut().for_each(|open| *open *= 0.5);
            let (half, left) = self::tests::made(&mut inlet, &mut solid);
            assert!((half - left).abs() < 1e-3 * given, "{name}: {half} made, {left} left");
        }
    }

    #[test]
    fn cells_in_the_region_move_with_it_and_the_one_beyond_the_mouth_does_not() {
        let inlet = mouth(DVec3::ZERO, DVec3::splat(0.8), Vec3::new(0.0, -2.0, 0.0));
        assert_eq!(inlet.velocity_in(Coord::new(0, 0, 0)), Some(Vec3::new(0.0, -2.0, 0.0)));
        assert_eq!(inlet.velocity_in(Coord::new(7, 7, 3)), Some(Vec3::new(0.0, -2.0, 0.0)));
        assert_eq!(inlet.velocity_in(Coord::new(3, -1, 3)), None);
        assert_eq!(inlet.velocity_in(Coord::new(30, 3, 3)), None);
    }

    /// Its sides are found between the lattice's planes.
    #[test]
    fn what_is_in_the_region_is_told_from_what_is_not() {
        let (low, high) = (DVec3::new(-0.03, 0.05, 0.0), DVec3::new(0.77, 0.52, 0.6));
        let inlet = mouth(low, high, Vec3::new(0.0, 2.0, 0.0));
        let at = |x: f64, y: f64, z: f64| inlet.velocity_at(DVec3::new(x, y, z) / H - 0.5);
        let margin = 0.15 * H;
        for (near, far, middle) in [
            (at(low.x + margin, 0.3, 0.3), at(low.x - margin, 0.3, 0.3), "x"),
            (at(0.3, low.y + margin, 0.3), at(0.3, low.y - margin, 0.3), "y"),
            (at(0.3, 0.3, high.z - margin), at(0.3, 0.3, high.z + margin), "z"),
        ] {
            assert_eq!((near.map(|u| u.y >= 2.0), far), (Some(true), None), "{middle}");
        }
    }

    #[test]
    fn the_later_of_two_decides() {
        let (low, high) = (DVec3::ZERO, DVec3::splat(0.8));
        let first = mouth(low, high, Vec3::X);
        let both = first.and(&mouth(low + DVec3::X * 0.4, high + DVec3::X * 0.4, Vec3::Y));
        let driven = |inlet: &Inlet| inlet.velocity.values[0].iter().filter(|&&u| u == 1.0).count();
        // Eight sections, without the back's; the later takes those from 0.4 m on.
        assert_eq!([driven(&first), driven(&both)], [8 * 64, 3 * 64]);
    }

    #[test]
    fn a_solid_keeps_its_faces_and_narrows_those_it_cuts() {
        let mut inlet = mouth(DVec3::ZERO, DVec3::splat(0.8), Vec3::new(0.0, 3.0, 0.0));
        let mut solid = open_around(&inlet);
        let (shut, cut) = (Coord::new(2, 2, 2), Coord::new(3, 2, 2));
        assert!(solid.open.set(1, shut, 0.0) && solid.open.set(1, cut, 0.25));
        let before = shares(&inlet, 1);
        inlet.close(&mut solid);
        assert_eq!(shares(&inlet, 1), before - 1.0);
        assert_eq!([solid.velocity.get(1, shut), solid.open.get(1, shut)], [0.0, 0.0]);
        assert_eq!([solid.velocity.get(1, cut), solid.open.get(1, cut)], [0.75, 0.0]);
        let mut velocity = FaceGrid::new(solid.open.topology.clone(), 0.0);
        inlet.drive(&mut velocity);
        assert_eq!([velocity.get(1, shut), velocity.get(1, cut)], [0.0, 3.0]);
    }
}
