//! Mirrors the level set at walls, so that a surface with tension meets walls at a right angle.

use crate::grid::morphology::{VoxelMask, offsets};
use crate::grid::sampling::Sampler;
use crate::grid::{Grid, Transform, leaf};
use crate::solid::Solids;
use glam::DVec3;
use rayon::prelude::*;

/// Gives cells in solids the value of `distance` at their mirror image on the other side of the wall: φ(x − 2 d n),
/// where d is the solids' distance (negative inside) and n their normal. Adds these cells to the `known` ones.
///
/// A field that is constant along n also meets the wall at a right angle, but it bends there: half the curvature of a
/// wave with its crest at a wall would be lost. `depth`: how far from the wall cells are treated, m. Cells whose mirror
/// image is not known (in corners, beyond thin walls) are left unchanged.
pub(crate) fn mirror(
    distance: &mut Grid<f32>,
    known: &mut VoxelMask,
    transform: &Transform,
    solids: &Solids,
    depth: f64,
) {
    const ALL: [u64; 8] = [u64::MAX; 8];
    let (before, legible, topology) = (distance.clone(), known.clone(), distance.topology.clone());
    let leaves = distance.values.par_chunks_mut(leaf::SIZE).enumerate().with_min_len(4);
    let found: Vec<[u64; 8]> = leaves
        .map_init(
            || (solids.probe(), Sampler::new(&topology)),
            |(probe, sampler), (l, values)| {
                let mut found = *legible.words(l);
                if found == ALL {
                    return found;
                }
                let unknown: [u64; 8] = std::array::from_fn(|x| !found[x]);
                for n in offsets(&unknown) {
                    let at = transform.to_world(topology.coord(l * leaf::SIZE + n).as_dvec3());
                    let d = probe.distance(at);
                    if d >= 0.0 || d < -depth {
                        continue;
                    }
                    let image = at - 2.0 * d * probe.normal(at);
                    if let Some(value) = sample_known(sampler, &before, &legible, transform.to_index(image)) {
                        values[n] = value;
                        found[n / 64] |= 1 << (n % 64);
                    }
                }
                found
            },
        )
        .collect();
    *known = VoxelMask::of_words(topology.clone(), found);
}

/// The trilinear mean of the known cells around an index position; `None` where they have less than half the weight.
fn sample_known(sampler: &mut Sampler, field: &Grid<f32>, known: &VoxelMask, at: DVec3) -> Option<f32> {
    let low = at.floor();
    let t = at - low;
    let (mut sum, mut weight) = (0.0, 0.0);
    for corner in 0..8 {
        let step = DVec3::new(f64::from(corner & 1), f64::from(corner >> 1 & 1), f64::from(corner >> 2));
        let share = (1.0 - (t - step).abs()).to_array().iter().product::<f64>();
        let Some(slot) = sampler.slot_of((low + step).as_ivec3()).filter(|&slot| known.has(slot)) else {
            continue;
        };
        sum += share * f64::from(field.values[slot]);
        weight += share;
    }
    (weight > 0.5).then(|| (sum / weight) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Coord, Topology};
    use crate::solid::{DomainLimits, Side};
    use std::sync::Arc;

    #[test]
    fn a_crest_at_a_wall_goes_on_beyond_it() {
        let h = 0.1;
        let transform = Transform::uniform(h, DVec3::ZERO);
        let origins = (-2..2).flat_map(|x| (-1..1).map(move |y| Coord::new(8 * x, 8 * y, 0)));
        let topology = Arc::new(Topology::covering(origins));
        // Walls at cells' faces, at their centres, and between.
        for wall in [0.4, 0.35, 0.37] {
            let mut domain = DomainLimits::unbounded();
            (domain.max.x, domain.sides[1]) = (wall, Side::Closed);
            let solids = Solids { colliders: &[], domain: &domain };
            let at = |c: Coord| transform.to_world(c.as_dvec3());
            let phi = |c: Coord| (at(c).y - 0.2 * (2.0 * (at(c).x - wall)).cos()) as f32;
            let inside = |c: Coord| at(c).x < wall;
            let mut field = Grid::from_fn(topology.clone(), 1.0, |c| if inside(c) { phi(c) } else { 0.0 });
            let mut known = VoxelMask::from_fn(topology.clone(), |slot| inside(topology.coord(slot)));
            mirror(&mut field, &mut known, &transform, &solids, 0.45);
            let mut beyond = 0;
            for slot in 0..field.values.len() {
                let c = topology.coord(slot);
                if known.has(slot) && !inside(c) {
                    beyond += 1;
                    // Interpolation costs at most h²/8 of its curvature, and more beside the wall.
                    assert!((field.values[slot] - phi(c)).abs() < 2e-3, "{wall} {c}: {}", field.values[slot]);
                }
            }
            assert!(beyond >= 3 * 16 * 8, "{beyond}");
        }
    }
}
