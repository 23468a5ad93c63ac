//! What a projection of several liquids hands to each of them.

use super::Joined;
use crate::coupling::air::regions::LABEL_SOLID;
use crate::coupling::fields::LiquidFields;
use crate::coupling::memory::OUTSIDE;
use crate::coupling::projection::Projection;
use crate::grid::{FaceGrid, Grid, leaf};
use crate::levelset::{fractions_inside, open_volume};
use glam::IVec3;
use rayon::prelude::*;

/// One liquid's part of a projection.
#[derive(Clone, Debug)]
pub struct Handed {
    /// Its velocity on faces, m/s.
    pub vel: FaceGrid<f32>,
    /// 1 in cells that other liquids fill.
    pub others: Grid<f32>,
    /// The projection on its own leaves: its surface, the bubbles listed at it, what its surface lost.
    pub projection: Projection,
}

impl Joined {
    /// The part of liquid `i`, whose fields and velocity were `own` and `vel`, of a projection of the joined fields that
    /// made the velocity `solved` of [`Self::velocity`].
    pub fn handed_to(
        &self,
        i: usize,
        own: &LiquidFields,
        vel: &FaceGrid<f32>,
        projected: &Projection,
        solved: &FaceGrid<f32>,
    ) -> Handed {
        let surface = projected.surface.as_ref().map(|fitted| self.fitted(i, own, fitted));
        let taken = surface.as_ref().map_or(0.0, |fitted| volume_lost(own, fitted));
        let listed = self.listed_at(i, projected);
        let is_own = |id: i32| id != OUTSIDE && listed.binary_search(&id).is_ok();
        let own_leaves = &own.surface.topology;
        let projection = Projection {
            pressure: projected.pressure.on(own_leaves),
            surface,
            taken,
            overlap: self.overlaps.get(i).copied().unwrap_or(0.0),
            bubbles: projected.bubbles.iter().filter(|b| b.exterior || is_own(b.id)).cloned().collect(),
            // Its bubbles are not all.
            chambers: Vec::new(),
            memory: projected.memory.clone(),
            bodies: projected.bodies.clone(),
            constraints: projected.constraints.clone(),
            vel_solid: projected.vel_solid.as_ref().map(|walls| walls.on(&own.vel_solid.topology)),
            parted: projected.parted.as_ref().map(|parted| parted.on(own_leaves)),
            info: projected.info,
            ..*projected
        };
        Handed { vel: self.velocity_of(vel, solved), others: self.beside(own), projection }
    }

    /// 1 in cells of a liquid's leaves that are not in it, but in another.
    fn beside(&self, own: &LiquidFields) -> Grid<f32> {
        let joined = self.surface.on(&own.surface.topology);
        let mut out = Grid::new(joined.topology.clone(), 0.0);
        let cells = out.values.par_iter_mut().zip(&joined.values).zip(&own.surface.values).with_min_len(4096);
        cells.for_each(|((out, &joined), &own)| *out = f32::from(joined < 0.0 && own >= 0.0));
        out
    }

    /// A liquid's velocity: on the faces of liquid cells what the solve made, elsewhere its own.
    fn velocity_of(&self, own: &FaceGrid<f32>, solved: &FaceGrid<f32>) -> FaceGrid<f32> {
        let topology = &own.topology;
        let (solved, before) = (solved.on(topology), self.vel.on(topology));
        let phi = self.surface.on(topology);
        let mut out = own.clone();
        for (axis, out) in out.values.iter_mut().enumerate() {
            out.par_chunks_mut(leaf::SIZE).enumerate().for_each(|(l, out)| {
                for (n, out) in out.iter_mut().enumerate() {
                    let slot = l * leaf::SIZE + n;
                    let mut below = leaf::local(n);
                    below[axis] -= 1;
                    let is_liquid = phi.values[slot] < 0.0 || phi.reach(l, below) < 0.0;
                    let u = solved.values[axis][slot];
                    if is_liquid || u != before.values[axis][slot] {
                        *out = u;
                    }
                }
            });
        }
        out
    }

    /// A liquid's surface, moved as the surface around all of them was in the cells that belong to it. No cell changes
    /// sign.
    fn fitted(&self, i: usize, own: &LiquidFields, fitted: &Grid<f32>) -> Grid<f32> {
        let mut out = own.surface.clone();
        let topology = out.topology.clone();
        let least = f32::MIN_POSITIVE;
        out.values.par_chunks_mut(leaf::SIZE).zip(topology.origins()).for_each(|(out, &origin)| {
            let (Some(to), Some(from)) =
                (fitted.topology.leaf_of(origin), self.surface.topology.leaf_of(origin))
            else {
                return;
            };
            for (n, out) in out.iter_mut().enumerate() {
                let (to, from) = (to * leaf::SIZE + n, from * leaf::SIZE + n);
                if usize::from(self.owner.values[from]) == i {
                    let moved = *out + (fitted.values[to] - self.surface.values[from]);
                    *out = if *out < 0.0 { moved.min(-least) } else { moved.max(least) };
                }
            }
        });
        out
    }

    /// Ids, ascending, of the bubbles that are listed at liquid `i`: each at the first liquid that it borders, so that their
    /// volumes can be summed over liquids.
    fn listed_at(&self, i: usize, projected: &Projection) -> Vec<i32> {
        let cells = &projected.memory.cells;
        let of_leaf = |(l, &origin): (usize, &IVec3)| {
            let mut found: Vec<(i32, usize)> = Vec::new();
            let own = &cells.values[l * leaf::SIZE..][..leaf::SIZE];
            let Some(at) = self.owner.topology.leaf_of(origin) else { return found };
            for n in (0..leaf::SIZE).filter(|&n| own[n] < LABEL_SOLID) {
                let liquid = usize::from(self.owner.values[at * leaf::SIZE + n]);
                for side in 0..6 {
                    let mut beside = leaf::local(n);
                    beside[side / 2] += side as i32 % 2 * 2 - 1;
                    let id = cells.reach(l, beside);
                    if id > OUTSIDE && !found.contains(&(id, liquid)) {
                        found.push((id, liquid));
                    }
                }
            }
            found
        };
        let mut borders =
            cells.topology.origins().par_iter().enumerate().flat_map_iter(of_leaf).collect::<Vec<_>>();
        borders.sort_unstable();
        borders.dedup_by_key(|&mut (id, _)| id);
        borders.into_iter().filter(|&(_, first)| first == i).map(|(id, _)| id).collect()
    }
}

/// Volume, m³, that a liquid lost when its surface was moved.
fn volume_lost(own: &LiquidFields, fitted: &Grid<f32>) -> f64 {
    let h = own.voxel_size();
    let [before, after] = [own.surface, fitted].map(|phi| fractions_inside(phi, h as f32));
    let lost = |l: usize| {
        let origin = before.topology.origins()[l];
        let mut sum = 0.0;
        for n in 0..leaf::SIZE {
            let slot = l * leaf::SIZE + n;
            let difference = before.values[slot] - after.values[slot];
            if difference == 0.0 {
                continue;
            }
            let cell = origin + IVec3::from_array(leaf::local(n));
            let left = own.left_by_solids();
            let alpha = |a: usize| [left.get(a, cell), left.get(a, cell + IVec3::AXES[a])];
            sum += f64::from(difference * open_volume(std::array::from_fn(alpha)));
        }
        sum
    };
    let lost: Vec<f64> = (0..before.topology.len()).into_par_iter().map(lost).collect();
    lost.iter().sum::<f64>() * h * h * h
}
