//! Extends the projection's change of velocity to faces that the liquid's surface cuts but no liquid cell touches.
//!
//! A projection changes the faces of liquid cells. Viscosity also counts the mass just beyond them, in face cubes that
//! are less than half full. There the change of velocity must be extended: otherwise those particles fall without
//! pressure, and viscosity would drag the liquid along with them.

use crate::grid::{FaceGrid, Grid, leaf};
use glam::IVec3;
use rayon::prelude::*;

/// Adds to every face around the liquid's cells the mean change `after` − `before` of the liquid's faces beside it.
pub(crate) fn continue_outward(
    surface: &Grid<f32>,
    open: &FaceGrid<f32>,
    before: &FaceGrid<f32>,
    after: &mut FaceGrid<f32>,
) {
    let topology = after.topology.clone();
    let (surface, open, before) = (surface.on(&topology), open.on(&topology), before.on(&topology));
    for (axis, values) in after.values.iter_mut().enumerate() {
        let step = IVec3::AXES[axis].to_array();
        let wet = |l: usize, at: [i32; 3]| {
            let below = std::array::from_fn(|a| at[a] - step[a]);
            surface.reach(l, at) < 0.0 || surface.reach(l, below) < 0.0
        };
        let moved = values.clone();
        let change = |l: usize, at: [i32; 3]| {
            let slot = topology.reach(l, at).filter(|&s| open.values[axis][s] > 0.0 && wet(l, at));
            slot.map(|s| moved[s] - before.values[axis][s])
        };
        values.par_chunks_mut(leaf::SIZE).enumerate().for_each(|(l, values)| {
            let own = &surface.values[l * leaf::SIZE..][..leaf::SIZE];
            let near = own.iter().any(|&p| p < surface.background);
            for n in (0..leaf::SIZE).filter(|_| near) {
                let at = leaf::local(n);
                if own[n] < surface.background && !wet(l, at) {
                    values[n] += mean_around(|around| change(l, around), at);
                }
            }
        });
    }
}

/// Mean over the nearest voxels that have a value: across faces, else edges, else corners.
fn mean_around(value: impl Fn([i32; 3]) -> Option<f32>, at: [i32; 3]) -> f32 {
    for distance in 1..=3 {
        let (mut sum, mut count) = (0.0, 0.0);
        for d in 0..27i32 {
            let d = [d / 9 - 1, d / 3 % 3 - 1, d % 3 - 1];
            if d.iter().map(|d| d * d).sum::<i32>() == distance
                && let Some(v) = value(std::array::from_fn(|a| at[a] + d[a]))
            {
                sum += v;
                count += 1.0;
            }
        }
        if count > 0.0 {
            return sum / count;
        }
    }
    0.0
}
