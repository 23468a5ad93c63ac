//! Keeps books on the liquid's volume and corrects its drift.

use super::cells::Cells;
use super::fraction::open_volume;
use super::halo;
use crate::grid::{Grid, leaf};
use crate::levelset::fractions::cell_inside;
use rayon::prelude::*;

/// What the volume should be, and how long it has not been; part of the liquid's state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VolumeBook {
    /// The volume the liquid should have, m³: what it started with, plus sources, less sinks.
    pub rest: f64,
    /// ∫ (V − V₀)/V₀ dt, s.
    pub drift: f64,
}

/// The controller that steers the volume back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VolumeControl {
    /// Rate at which drift dies out, 1/s; 0 switches the control off.
    pub gain: f64,
    /// Rate at which crowded particles spread out, 1/s; 0 leaves them.
    pub spreading: f64,
}

impl Default for VolumeControl {
    /// Nine tenths of a drift are gone after 25 frames of 1/24 s [Kim et al. 2007, §4], two thirds of a crowd
    /// after one.
    fn default() -> Self {
        Self { gain: 2.3 / (25.0 / 24.0), spreading: 24.0 }
    }
}

impl VolumeBook {
    /// Enters the volume measured now, `dt` seconds after the last entry, and returns the divergence (1/s) that
    /// the next solve should give the liquid.
    ///
    /// With x = (V − V₀)/V₀ and y = ∫x dt: ∇·u = −(k_p x + k_i y)/(1 + x), k_i = k_p²/16 [Kim et al. 2007, Eq. 5].
    pub fn enter(&mut self, volume: f64, dt: f64, control: &VolumeControl) -> f64 {
        if self.rest <= 0.0 || volume <= 0.0 {
            return 0.0;
        }
        let x = volume / self.rest - 1.0;
        self.drift += x * dt;
        let k_i = control.gain * control.gain / 16.0;
        -(control.gain * x + k_i * self.drift) / (1.0 + x)
    }
}

/// A liquid's volume, m³.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LiquidVolume {
    /// Inside the level set.
    pub surface: f64,
    /// Of particles with no cell of liquid around them: drops and films finer than the grid.
    pub spray: f64,
}

impl LiquidVolume {
    /// Both.
    pub fn total(&self) -> f64 {
        self.surface + self.spray
    }
}

/// Volume of the liquid outside solids. `solid` is the solids' level set at nodes on the leaves of `surface`;
/// `cells` hold the particles, `per_voxel` of which fill a voxel.
///
/// Every cell has the mean liquid fraction of the eight cubes of cell centres that overlap it, times its own open
/// fraction. `surface` runs on into solids, so that walls cut it by their open fraction alone and corners
/// between liquid, wall and air lose nothing.
pub fn of_liquid(
    surface: &Grid<f32>,
    solid: &Grid<f32>,
    cells: &Cells,
    per_voxel: f32,
    h: f64,
) -> LiquidVolume {
    let topology = &surface.topology;
    let open = open_volume(topology, solid);
    let leaves: Vec<LiquidVolume> = (0..topology.len())
        .into_par_iter()
        .map(|l| {
            let mut phi = [0.0; halo::SIZE];
            halo::load(&mut phi, &surface.values, &topology.neighbours()[l], surface.background);
            let resolved = phi.iter().any(|&p| p < 0.0).then(|| (cube_fractions(&phi), lowest_around(&phi)));
            let particles = cells.topology.leaf_of(topology.origins()[l]);
            let mut volume = LiquidVolume::default();
            for n in 0..leaf::SIZE {
                let [x, y, z] = leaf::local(n);
                let at = halo::index(x, y, z);
                let space = open[l * leaf::SIZE + n];
                match (&resolved, particles) {
                    (Some((cubes, lowest)), _) if lowest[at] < 0.0 => {
                        let inside = CORNERS.iter().map(|&step| cubes[at - step]).sum::<f32>() / 8.0;
                        volume.surface += f64::from(space * inside);
                    }
                    (_, Some(p)) => {
                        let held = cells.count(p * leaf::SIZE + n) as f32 / per_voxel;
                        volume.spray += f64::from(held.min(space));
                    }
                    _ => {}
                }
            }
            volume
        })
        .collect();
    let voxel = h * h * h;
    LiquidVolume {
        surface: leaves.iter().map(|v| v.surface).sum::<f64>() * voxel,
        spray: leaves.iter().map(|v| v.spray).sum::<f64>() * voxel,
    }
}

/// Steps from a voxel of a block to the eight corners of the cube above it, x fastest.
const CORNERS: [usize; 8] = {
    let [x, y, z] = halo::STRIDE;
    [0, x, y, x + y, z, x + z, y + z, x + y + z]
};

/// Per voxel of a leaf, the lowest of the 3³ values around it.
fn lowest_around(phi: &[f32; halo::SIZE]) -> [f32; halo::SIZE] {
    let mut lowest = *phi;
    for stride in halo::STRIDE {
        let before = lowest;
        for n in stride..halo::SIZE - stride {
            lowest[n] = before[n].min(before[n - stride]).min(before[n + stride]);
        }
    }
    lowest
}

/// Per voxel −1 ..= 7 of a block, the liquid fraction of the cube between its centre and the seven above.
fn cube_fractions(phi: &[f32; halo::SIZE]) -> [f32; halo::SIZE] {
    let mut fractions = [0.0; halo::SIZE];
    for x in -1..8 {
        for y in -1..8 {
            for z in -1..8 {
                let at = halo::index(x, y, z);
                fractions[at] = cell_inside(CORNERS.map(|step| phi[at + step]));
            }
        }
    }
    fractions
}

/// A divergence source, 1/s, of `rate` in the liquid's cells.
pub fn source(surface: &Grid<f32>, rate: f64) -> Grid<f32> {
    let mut source = Grid::new(surface.topology.clone(), 0.0);
    source.values.par_iter_mut().zip(&surface.values).with_min_len(4096).for_each(|(s, &phi)| {
        if phi < 0.0 {
            *s = rate as f32;
        }
    });
    source
}

#[cfg(test)]
mod tests {
    use super::super::{Particles, cells};
    use super::*;
    use crate::grid::{Coord, Topology, Transform};
    use glam::DVec3;
    use std::sync::Arc;

    #[test]
    fn control_brings_the_volume_back_without_overshooting_far() {
        let control = VolumeControl::default();
        let mut book = VolumeBook { rest: 2.0, drift: 0.0 };
        let (mut volume, dt) = (1.8, 1.0 / 48.0);
        let mut highest = 0.0f64;
        for _ in 0..48 * 6 {
            let divergence = book.enter(volume, dt, &control);
            volume += volume * divergence * dt;
            highest = highest.max(volume);
        }
        assert!((volume - 2.0).abs() < 0.01, "{volume}");
        assert!(highest < 2.02, "{highest}");
    }

    #[test]
    fn a_filled_corner_of_a_box_is_measured_in_full() {
        let topology = Arc::new(Topology::new(vec![Coord::ZERO]).dilated(1));
        let surface = Grid::from_fn(topology.clone(), 1.0, |c| c.y as f32 - 4.2);
        // Solid below y = 0 and beyond x, z = 0 and 6 (the lower node of cell c lies at c − ½).
        let solid = Grid::from_fn(topology.clone(), -1.0, |c| {
            let x = c.as_vec3();
            x.min_element().min((6.0 - x.x).min(6.0 - x.z))
        });
        let nothing =
            cells::sort(&mut Particles::new(DVec3::ZERO), &Transform::uniform(1.0, DVec3::ZERO), &topology).0;
        let volume = of_liquid(&surface, &solid, &nothing, 8.0, 1.0);
        assert!((volume.total() - 36.0 * 4.7).abs() < 0.01, "{volume:?}");
    }

    #[test]
    fn nothing_to_correct_nothing_done() {
        let mut book = VolumeBook { rest: 1.0, drift: 0.0 };
        assert_eq!(book.enter(1.0, 0.1, &VolumeControl::default()), 0.0);
        assert_eq!(VolumeBook::default().enter(1.0, 0.1, &VolumeControl::default()), 0.0);
    }
}
