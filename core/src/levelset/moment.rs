//! Where the volume enclosed by a level set lies.

use crate::grid::{Grid, block, leaf};
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// Sum, over the voxels, of the share that is inside times the middle of what is, in voxels: divided by the sum of the
/// shares it is the centre of volume in index space. `inside` is as [`fractions_inside`](super::fractions_inside) makes it
/// of `phi`, `open` the open fraction of each cell on the same leaves, where there are solids.
///
/// The part I of a voxel below a plane across n, a unit vector along an axis, has its middle (1 − I)/2 voxels before the
/// voxel's own. The same is taken for any n = ∇φ/|∇φ|. Without it the centre would swing by up to an eighth of a voxel
/// times the share of cells at the surface, as a level rises from voxel to voxel.
pub fn moment(phi: &Grid<f32>, inside: &Grid<f32>, open: Option<&Grid<f32>>) -> DVec3 {
    let of_leaf = |l: usize| {
        let own = l * leaf::SIZE..(l + 1) * leaf::SIZE;
        let shares = &inside.values[own.clone()];
        if shares.iter().all(|&share| share == 0.0) {
            return DVec3::ZERO;
        }
        let open = open.map(|open| &open.values[own]);
        let mut around = [0.0; block::SIZE];
        block::load(&mut around, &phi.values, &phi.topology.neighbours()[l], phi.background);
        let origin = phi.topology.origins()[l].as_dvec3();
        let mut sum = DVec3::ZERO;
        for (n, &share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
            let mut middle = origin + DVec3::from_array(leaf::local(n).map(f64::from));
            if share < 1.0 {
                let at = block::centre(n);
                let slope = block::STRIDE.map(|step| around[at + step] - around[at - step]);
                middle -= (0.5 * (1.0 - share) * Vec3::from_array(slope).normalize_or_zero()).as_dvec3();
            }
            sum += f64::from(share * open.map_or(1.0, |open| open[n])) * middle;
        }
        sum
    };
    let leaves: Vec<DVec3> =
        (0..inside.topology.len()).into_par_iter().with_min_len(8).map(of_leaf).collect();
    leaves.into_iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Coord, Topology};
    use crate::levelset::{fractions_inside, volume};
    use std::sync::Arc;

    fn centre(
        open: Option<&Grid<f32>>,
        topology: &Arc<Topology>,
        phi: impl Fn(DVec3) -> f64 + Sync,
    ) -> DVec3 {
        let phi = Grid::from_fn(topology.clone(), 3.0, |x| phi(x.as_dvec3()) as f32);
        let inside = fractions_inside(&phi, 1.0);
        moment(&phi, &inside, open) / volume(&inside, open, 1.0)
    }

    #[test]
    fn a_pool_of_any_level_and_tilt_has_its_centre() {
        let topology = Arc::new(Topology::new(vec![Coord::ZERO, Coord::new(8, 0, 0)]).dilated(1));
        // Walls below x, y, z = 0 and beyond x = 12, z = 6.
        let is_open = |c: Coord| c.min_element() >= 0 && c.x < 12 && c.z < 6;
        let open = Grid::from_fn(topology.clone(), 0.0, |c| f32::from(is_open(c)));
        for n in 0..20 {
            let (level, slope) = (3.0 + 0.17 * f64::from(n), 0.02 * f64::from(n % 5));
            let surface = |x: DVec3| (x.y + 0.5 - level - slope * (x.x - 5.5)) / (1.0 + slope * slope).sqrt();
            let centre = centre(Some(&open), &topology, surface);
            // Of the column from 0 to η = level + s x over a length of 12, with mean(x²) = 12.
            let exact = DVec3::new(slope * 12.0 / level, 0.5 * (level + slope * slope * 12.0 / level), 3.0)
                + DVec3::new(5.5, -0.5, -0.5);
            assert!((centre - exact).abs().max_element() < 0.01, "{level} {slope}: {centre} of {exact}");
        }
    }

    #[test]
    fn a_ball_has_its_centre_wherever_it_lies() {
        let origins = (0..27).map(|n| Coord::new(n / 9, n / 3 % 3, n % 3) * 8).collect();
        let topology = Arc::new(Topology::new(origins));
        for n in 0..8 {
            let middle = DVec3::splat(11.0) + DVec3::new(0.13, 0.41, 0.77) * f64::from(n) * 0.2;
            let centre = centre(None, &topology, |x| (x - middle).length() - 4.0);
            assert!((centre - middle).length() < 0.02, "{centre} of {middle}");
        }
    }
}
