//! Interpolation of grids at index positions.
//!
//! A [`Sampler`] remembers the last leaf it met, so neighbouring look-ups cost no hash: keep one per task and
//! hand it points that lie near each other. It belongs to a topology and reads any channel that lives on it.
//! Values outside every leaf are the grid's background.

use super::{Coord, FaceGrid, Grid, Topology, leaf};
use glam::{DVec3, IVec3, Vec3};
use std::ops::{Add, Mul};

/// A value that can be interpolated linearly.
pub trait Linear: Copy + Send + Sync + Add<Output = Self> + Mul<f32, Output = Self> {}
impl<T: Copy + Send + Sync + Add<Output = T> + Mul<f32, Output = T>> Linear for T {}

/// No slot: the voxel lies outside every leaf.
const NONE: usize = usize::MAX;

/// An index position split into the lattice point below it and the remainder (each in [0, 1)), so that
/// positions far from the origin keep their precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// Lattice point with the lowest coordinates of the surrounding cube of eight.
    pub base: Coord,
    /// Place in that cube.
    pub fraction: Vec3,
}

impl From<Vec3> for Position {
    #[inline(always)]
    fn from(p: Vec3) -> Self {
        // Floor by truncation: `f32::floor` is a library call on the baseline instruction set.
        let cut = p.as_ivec3();
        let base = cut - IVec3::from(p.cmplt(cut.as_vec3()));
        Self { base, fraction: p - base.as_vec3() }
    }
}

impl From<DVec3> for Position {
    #[inline(always)]
    fn from(p: DVec3) -> Self {
        let cut = p.as_ivec3();
        let base = cut - IVec3::from(p.cmplt(cut.as_dvec3()));
        Self { base, fraction: (p - base.as_dvec3()).as_vec3() }
    }
}

impl Position {
    /// The position moved by half a voxel along `axis`: maps index space to the lattice of the lower faces.
    #[inline(always)]
    pub fn up_half(mut self, axis: usize) -> Self {
        self.fraction[axis] += 0.5;
        if self.fraction[axis] >= 1.0 {
            self.fraction[axis] -= 1.0;
            self.base[axis] += 1;
        }
        self
    }

    /// Maps index space to the lattice of the lower nodes: half a voxel along every axis.
    #[inline(always)]
    pub fn to_nodes(self) -> Self {
        self.up_half(0).up_half(1).up_half(2)
    }
}

/// A look-up that remembers the last leaf it found.
#[derive(Clone, Debug)]
pub struct Sampler<'a> {
    topology: &'a Topology,
    leaf: usize,
    origin: Coord,
    /// The last leaf that was looked for and is not active.
    missed: Option<Coord>,
}

impl<'a> Sampler<'a> {
    /// A sampler for the channels of a topology.
    pub fn new(topology: &'a Topology) -> Self {
        Self { topology, leaf: NONE, origin: IVec3::ZERO, missed: None }
    }

    /// Number of the leaf that holds a voxel; the leaf is remembered.
    #[inline]
    pub fn leaf_of(&mut self, ijk: Coord) -> Option<usize> {
        let origin = ijk & !7;
        if self.leaf != NONE {
            let d = (origin - self.origin) >> leaf::LOG2_DIM as i32;
            if d == IVec3::ZERO {
                return Some(self.leaf);
            }
            if d.abs().max_element() == 1 {
                return match self.topology.neighbours()[self.leaf][leaf::slot(d.x, d.y, d.z)] {
                    leaf::ABSENT => None,
                    l => Some(self.remember(l as usize, origin)),
                };
            }
        }
        if self.missed == Some(origin) {
            return None;
        }
        match self.topology.leaf_of(ijk) {
            Some(l) => Some(self.remember(l, origin)),
            None => {
                self.missed = Some(origin);
                None
            }
        }
    }

    #[inline(always)]
    fn remember(&mut self, leaf: usize, origin: Coord) -> usize {
        self.leaf = leaf;
        self.origin = origin;
        leaf
    }

    /// Position of a voxel in a channel slice: `leaf * 512 + offset`.
    #[inline(always)]
    pub fn slot_of(&mut self, ijk: Coord) -> Option<usize> {
        self.leaf_of(ijk).map(|l| l * leaf::SIZE + leaf::offset(ijk.x, ijk.y, ijk.z))
    }

    /// Slots of the cube of eight lattice points whose lowest corner is `base`, x fastest: corner n lies at
    /// `base + (n & 1, n >> 1 & 1, n >> 2)`; [`NONE`] where no leaf is.
    #[inline]
    fn cube(&mut self, base: Coord) -> [usize; 8] {
        let Some(l) = self.leaf_of(base) else {
            return std::array::from_fn(|n| self.slot_of(base + corner(n)).unwrap_or(NONE));
        };
        let local = base & 7;
        if local.max_element() < 7 {
            let s = l * leaf::SIZE + leaf::offset(local.x, local.y, local.z);
            return std::array::from_fn(|n| s + [0, 64, 8, 72, 1, 65, 9, 73][n]);
        }
        std::array::from_fn(|n| self.topology.reach(l, (local + corner(n)).to_array()).unwrap_or(NONE))
    }

    /// Values at the cube of eight lattice points around a position (order as [`trilinear`] wants them);
    /// where no leaf is, `outside(voxel)`.
    #[inline(always)]
    pub fn cube_values<T: Copy>(
        &mut self,
        values: &[T],
        base: Coord,
        mut outside: impl FnMut(Coord) -> T,
    ) -> [T; 8] {
        let slots = self.cube(base);
        std::array::from_fn(|n| match values.get(slots[n]) {
            Some(&v) => v,
            None => outside(base + corner(n)),
        })
    }

    #[inline(always)]
    fn gather<T: Copy>(&mut self, values: &[T], background: T, base: Coord) -> [T; 8] {
        let slots = self.cube(base);
        std::array::from_fn(|n| values.get(slots[n]).copied().unwrap_or(background))
    }

    /// Trilinear interpolation of a grid whose values sit at integer index positions (cell centres).
    #[inline]
    pub fn sample<T: Linear>(&mut self, grid: &Grid<T>, at: impl Into<Position>) -> T {
        let at = at.into();
        trilinear(&self.gather(&grid.values, grid.background, at.base), at.fraction)
    }

    /// Trilinear interpolation of a grid whose value ijk sits at the lower node of cell ijk.
    #[inline]
    pub fn sample_nodes<T: Linear>(&mut self, grid: &Grid<T>, at: impl Into<Position>) -> T {
        self.sample(grid, at.into().to_nodes())
    }

    /// Value and gradient (per index unit) of the trilinear interpolant of a centre grid.
    #[inline]
    pub fn sample_gradient(&mut self, grid: &Grid<f32>, at: impl Into<Position>) -> (f32, Vec3) {
        let at = at.into();
        trilinear_gradient(&self.gather(&grid.values, grid.background, at.base), at.fraction)
    }

    /// One component of a staggered field at an index position.
    #[inline]
    pub fn sample_face<T: Linear>(&mut self, grid: &FaceGrid<T>, axis: usize, at: impl Into<Position>) -> T {
        let at = at.into().up_half(axis);
        trilinear(&self.gather(&grid.values[axis], grid.background, at.base), at.fraction)
    }

    /// A staggered vector field at an index position.
    #[inline]
    pub fn sample_velocity(&mut self, grid: &FaceGrid<f32>, at: impl Into<Position>) -> Vec3 {
        let at = at.into();
        Vec3::new(self.sample_face(grid, 0, at), self.sample_face(grid, 1, at), self.sample_face(grid, 2, at))
    }
}

/// Corner n of a cube of eight, x fastest.
#[inline(always)]
fn corner(n: usize) -> IVec3 {
    let n = n as i32;
    IVec3::new(n & 1, n >> 1 & 1, n >> 2)
}

/// Trilinear interpolation in a cube of eight values, x fastest, at `t` in [0, 1]³.
#[inline(always)]
pub fn trilinear<T: Linear>(v: &[T; 8], t: Vec3) -> T {
    let lerp = |a: T, b: T, t: f32| a * (1.0 - t) + b * t;
    let y0 = lerp(lerp(v[0], v[1], t.x), lerp(v[2], v[3], t.x), t.y);
    let y1 = lerp(lerp(v[4], v[5], t.x), lerp(v[6], v[7], t.x), t.y);
    lerp(y0, y1, t.z)
}

/// [`trilinear`] and its derivative with respect to `t`.
#[inline(always)]
pub fn trilinear_gradient(v: &[f32; 8], t: Vec3) -> (f32, Vec3) {
    let lerp = |a: f32, b: f32, t: f32| a * (1.0 - t) + b * t;
    let dx = |n: usize| v[n + 1] - v[n];
    let x: [f32; 4] = std::array::from_fn(|n| lerp(v[2 * n], v[2 * n + 1], t.x));
    let (y0, y1) = (lerp(x[0], x[1], t.y), lerp(x[2], x[3], t.y));
    let gradient = Vec3::new(
        lerp(lerp(dx(0), dx(2), t.y), lerp(dx(4), dx(6), t.y), t.z),
        lerp(x[1] - x[0], x[3] - x[2], t.z),
        y1 - y0,
    );
    (lerp(y0, y1, t.z), gradient)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::Arc;

    /// Leaves around the origin, so that every border (faces, edges, the corner) is crossed.
    fn topology() -> Arc<Topology> {
        Arc::new(Topology::covering([IVec3::ZERO]).dilated(2))
    }

    fn affine(p: Vec3) -> f32 {
        1.5 + p.dot(Vec3::new(0.5, -2.0, 0.25))
    }

    proptest! {
        #[test]
        fn affine_fields_are_reproduced_across_leaf_borders(x in -12f32..12.0, y in -12f32..12.0, z in -12f32..12.0) {
            let topology = topology();
            let p = Vec3::new(x, y, z);
            let mut sampler = Sampler::new(&topology);
            let half = Vec3::splat(0.5);
            let centre = Grid::from_fn(topology.clone(), 0.0, |c| affine(c.as_vec3()));
            let nodes = Grid::from_fn(topology.clone(), 0.0, |c| affine(c.as_vec3() - half));
            let faces = FaceGrid::from_fn(topology.clone(), 0.0, |axis, c| {
                (axis as f32 + 1.0) * affine(c.as_vec3() - half * Vec3::AXES[axis])
            });
            let (value, gradient) = sampler.sample_gradient(&centre, p);
            prop_assert!((value - affine(p)).abs() < 1e-4);
            prop_assert!((gradient - Vec3::new(0.5, -2.0, 0.25)).length() < 1e-4);
            prop_assert!((sampler.sample(&centre, p.as_dvec3()) - affine(p)).abs() < 1e-4);
            prop_assert!((sampler.sample_nodes(&nodes, p) - affine(p)).abs() < 1e-4);
            let v = sampler.sample_velocity(&faces, p);
            prop_assert!((v - affine(p) * Vec3::new(1.0, 2.0, 3.0)).length() < 1e-3);
        }

        #[test]
        fn the_cache_never_changes_a_look_up(points in prop::collection::vec((-40i32..40, -40i32..40, -40i32..40), 1..60)) {
            let topology = topology();
            let mut sampler = Sampler::new(&topology);
            for (x, y, z) in points {
                let c = IVec3::new(x, y, z);
                prop_assert_eq!(sampler.slot_of(c), topology.slot_of(c));
            }
        }
    }

    #[test]
    fn the_gradient_is_the_derivative_of_the_interpolant() {
        let v = [0.3, -1.0, 2.0, 0.7, 1.1, 0.2, -0.4, 0.9];
        let (t, e) = (Vec3::new(0.3, 0.6, 0.2), 1e-2);
        let (_, gradient) = trilinear_gradient(&v, t);
        for axis in 0..3 {
            let d = Vec3::AXES[axis] * e;
            let numeric = (trilinear(&v, t + d) - trilinear(&v, t - d)) / (2.0 * e);
            assert!((gradient[axis] - numeric).abs() < 1e-4);
        }
    }

    #[test]
    fn outside_every_leaf_is_background() {
        let topology = topology();
        let grid = Grid::from_fn(topology.clone(), 7.0, |_| 1.0);
        let mut sampler = Sampler::new(&topology);
        assert_eq!(sampler.sample(&grid, Vec3::splat(100.3)), 7.0);
        assert_eq!(sampler.sample(&grid, Vec3::splat(0.3)), 1.0);
    }
}
