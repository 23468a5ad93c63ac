//! The points of a mesh among the grains and walls.

use super::contour::Mesh;
use super::depths::smooth;
use super::grains::Grain;
use super::lattice::Lattice;
use super::{Frame, Liquid, RenderSurface};
use crate::grid::sampling::Sampler;
use crate::solid::{SolidProbe, Solids};
use glam::{IVec3, Vec3};
use rayon::prelude::*;

/// How a point may be moved.
#[derive(Clone, Copy, Default)]
pub(super) struct Weight {
    /// 0 in walls, elsewhere 1.
    pub(super) open: f32,
    /// 0 in walls, and in sheets and threads that the level set does not show and that fairing would take away; elsewhere 1.
    pub(super) faired: f32,
    /// How far it lies outside because the lattice shows nothing thinner, voxels.
    pub(super) fat: f32,
}

/// Farthest that a point is brought to where the share is a half, voxels.
const FARTHEST: f32 = 0.7;

/// Steps towards it.
const STEPS: usize = 4;

impl Mesh {
    /// How each point may be moved. Points of thin sheets and threads are brought to where the share is a half: it is curved so
    /// much there that what lies between the lattice's places is far from linear.
    pub(super) fn settle(&mut self, lattice: &Lattice, solids: &Solids, frame: &Frame) -> Vec<Weight> {
        let of_leaf = |l: usize| {
            let mut probe = solids.probe();
            let settled = |&point: &Vec3| self.settled(point, l, lattice, &mut probe, frame);
            self.of_leaf(l).iter().map(settled).collect::<Vec<_>>()
        };
        let settled: Vec<_> = (0..lattice.topology.len()).into_par_iter().map(of_leaf).collect();
        let (points, weights) = settled.into_iter().flatten().unzip();
        self.points = points;
        weights
    }

    fn settled(
        &self,
        point: Vec3,
        l: usize,
        lattice: &Lattice,
        probe: &mut SolidProbe,
        frame: &Frame,
    ) -> (Vec3, Weight) {
        let (voxel, from) = self.place(point);
        let distance = probe.distance(frame.world(voxel.as_dvec3() + from.as_dvec3())) / frame.voxel;
        let open = smooth(1.0 + distance as f32 / frame.cell.max(1.0) * 2.0);
        let (mut all, mut bulk, mut thin, mut fat) = (0.0, 0.0, 0.0, 0.0);
        for grain in lattice.grains(l) {
            let share = grain.share(self.offset(grain, point));
            all += share;
            bulk += share * grain.bulk;
            thin += share * grain.thin;
            fat += share * grain.fat;
        }
        if all <= 0.0 {
            return (point, Weight { open, faired: open, fat: 0.0 });
        }
        let weight = Weight { open, faired: open * smooth(bulk / all), fat: open * fat / all };
        if thin == 0.0 || open == 0.0 {
            return (point, weight);
        }
        let mut at = point;
        for _ in 0..STEPS {
            let (mut share, mut slope) = (-0.5, Vec3::ZERO);
            for grain in lattice.grains(l) {
                let (own, its) = grain.share_and_slope(self.offset(grain, at));
                share += own;
                slope += its;
            }
            let steepness = slope.length_squared();
            if steepness < 1e-6 {
                break;
            }
            at = point + (at - slope * (share / steepness) - point).clamp_length_max(FARTHEST);
        }
        (point.lerp(at, open * smooth(thin / all)), weight)
    }

    /// The voxel and the place from it of a point.
    fn place(&self, point: Vec3) -> (IVec3, Vec3) {
        let voxel = point.floor();
        (self.base + voxel.as_ivec3(), point - voxel)
    }

    /// The way from a grain to a point.
    fn offset(&self, grain: &Grain, point: Vec3) -> Vec3 {
        point - (grain.at - self.base.as_dvec3()).as_vec3()
    }

    fn of_leaf(&self, l: usize) -> &[Vec3] {
        &self.points[self.starts[l] as usize..self.starts[l + 1] as usize]
    }

    /// In metres, with velocities: below the surface of the level set the liquid's own, else that of the grains.
    pub(super) fn into_surface(self, lattice: &Lattice, liquid: &Liquid, frame: &Frame) -> RenderSurface {
        let of_leaf = |l: usize| {
            let on_faces = liquid.velocity.as_ref();
            let mut faces = on_faces.map(|faces| Sampler::new(&faces.topology));
            let velocity = |&point: &Vec3| {
                let (mut all, mut bulk, mut flow) = (0.0, 0.0, Vec3::ZERO);
                for grain in lattice.grains(l) {
                    let share = grain.share(self.offset(grain, point));
                    all += share;
                    bulk += share * grain.bulk;
                    flow += grain.velocity * share;
                }
                let own = flow / all.max(f32::MIN_POSITIVE);
                let (voxel, offset) = self.place(point);
                match (on_faces, &mut faces) {
                    (Some(faces), Some(sampler)) => {
                        let there = sampler.sample_velocity(faces, frame.in_liquid(voxel, offset));
                        let weight = if all > 0.0 { bulk / all } else { 1.0 };
                        own.lerp(there, weight)
                    }
                    _ => own,
                }
            };
            self.of_leaf(l).iter().map(velocity).collect::<Vec<_>>()
        };
        let velocities =
            (0..lattice.topology.len()).into_par_iter().map(of_leaf).collect::<Vec<_>>().concat();
        let position = |&point: &Vec3| {
            let (voxel, offset) = self.place(point);
            frame.position(voxel, offset)
        };
        let points = self.points.par_iter().map(position).collect();
        RenderSurface { points, velocities, triangles: self.triangles, ..RenderSurface::default() }
    }
}
