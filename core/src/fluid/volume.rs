//! Keeps books on the liquid's volume and corrects its drift.

use crate::grid::Grid;
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
}

impl Default for VolumeControl {
    /// Nine tenths of a drift are gone after 25 frames of 1/24 s [Kim et al. 2007, §4].
    fn default() -> Self {
        Self { gain: 2.3 / (25.0 / 24.0) }
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
    use super::*;

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
    fn nothing_to_correct_nothing_done() {
        let mut book = VolumeBook { rest: 1.0, drift: 0.0 };
        assert_eq!(book.enter(1.0, 0.1, &VolumeControl::default()), 0.0);
        assert_eq!(VolumeBook::default().enter(1.0, 0.1, &VolumeControl::default()), 0.0);
    }
}
