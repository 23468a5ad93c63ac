//! Small scenes drawn at random from what liquids really do to a grid: films, needles, channels one cell wide, pools
//! apart, closed tanks, bubbles in bubbles and on walls, θ down to 0.01, a density ratio of 1000. Against a dense
//! direct solve: right to 1e-8, or truthfully said not to be.

use crate::random_systems::{difference, direct, energy};
use crate::{Random, relative_residual, solve};
use meniscus_core::grid::{Coord, Topology, leaf};
use meniscus_core::pressure::{CELL, FIXED, Params, PressureSystem, SOLID, SuperCell, Unknowns};
use proptest::prelude::*;
use std::sync::Arc;

/// Ratio of the two liquids' densities.
const DENSITY_RATIO: f64 = 1000.0;

/// Labels on a small box, painted feature by feature.
struct Painting {
    size: Coord,
    label: Vec<i32>,
    /// Cells of the light liquid.
    light: Vec<bool>,
    bubbles: i32,
}

impl Painting {
    /// A tank, full and closed, or with air above, or all solid.
    fn new(random: &mut Random) -> Self {
        let size = Coord::from_array(std::array::from_fn(|_| 3 + random.below(6) as i32));
        let level = if random.unit() < 0.3 { size.y } else { 1 + random.below(size.y as usize) as i32 };
        let ground = if random.unit() < 0.2 { SOLID } else { CELL };
        let mut out = Self { size, label: vec![], light: vec![], bubbles: 0 };
        let count = (size.x * size.y * size.z) as usize;
        out.light = vec![false; count];
        out.label = (0..count).map(|i| if out.cell(i).y < level { ground } else { FIXED }).collect();
        out
    }

    fn cell(&self, i: usize) -> Coord {
        let (i, s) = (i as i32, self.size);
        Coord::new(i / (s.y * s.z), i / s.z % s.y, i % s.z)
    }

    fn at(&self, c: Coord) -> Option<usize> {
        let inside = c.cmpge(Coord::ZERO).all() && c.cmplt(self.size).all();
        inside.then(|| ((c.x * self.size.y + c.y) * self.size.z + c.z) as usize)
    }

    fn label(&self, c: Coord) -> i32 {
        self.at(c).map_or(SOLID, |i| self.label[i])
    }

    fn somewhere(&self, random: &mut Random) -> Coord {
        self.cell(random.below(self.label.len()))
    }

    /// Paints a box.
    fn fill(&mut self, low: Coord, high: Coord, label: i32) {
        for i in 0..self.label.len() {
            let c = self.cell(i);
            if c.cmpge(low).all() && c.cmple(high).all() {
                self.label[i] = label;
            }
        }
    }

    /// A bubble (on a wall, when it is drawn there), at times with a film of liquid and another bubble inside.
    fn bubble(&mut self, random: &mut Random) {
        let (low, reach) = (self.somewhere(random), random.below(5) as i32);
        self.fill(low, low + reach, self.bubbles);
        self.bubbles += 1;
        if reach >= 4 {
            self.fill(low + 1, low + reach - 1, CELL);
            self.fill(low + 2, low + reach - 2, self.bubbles);
            self.bubbles += 1;
        }
    }

    /// One feature.
    fn paint(&mut self, random: &mut Random) {
        let (c, axis) = (self.somewhere(random), random.below(3));
        let along = Coord::AXES[axis];
        let (line, plane) = (self.size * along, self.size * (Coord::ONE - along));
        match random.below(7) {
            // A wall, and a door in it at times: pools apart.
            0 => {
                self.fill(c * along, c * along + plane, SOLID);
                let door = if random.unit() < 0.5 { SOLID } else { CELL };
                self.fill(c, c, door);
            }
            // A film.
            1 => self.fill(c * along, c * along + plane, CELL),
            // A needle, or a channel where it goes through solid.
            2 => self.fill(c - line, c + line, CELL),
            // Spray.
            3 => self.fill(c, c, CELL),
            4 => self.fill(c, c + 2, FIXED),
            // A light liquid.
            5 => (0..self.light.len()).filter(|&i| i % 5 < 2 + axis).for_each(|i| self.light[i] = true),
            _ => self.bubble(random),
        }
    }

    /// The system, leaf borders through the middle of the box.
    fn system(self, random: &mut Random) -> PressureSystem {
        let shift = Coord::from_array(std::array::from_fn(|_| random.below(8) as i32));
        let smallest = if random.unit() < 0.5 { 0.01 } else { 0.5 };
        let theta_is_smallest = random.unit() < 0.3;
        let corners = (0..8).map(|k| Coord::new(k & 1, k >> 1 & 1, k >> 2) * (self.size + 1) + shift - 1);
        let topology = Arc::new(Topology::covering(corners));
        let slots = topology.len() * leaf::SIZE;
        let inverse_density = |c: Coord| match self.at(c) {
            Some(i) if self.light[i] => DENSITY_RATIO,
            _ => 1.0,
        };
        let mut face: [Vec<f32>; 3] = std::array::from_fn(|_| vec![0.0; slots]);
        for (axis, face) in face.iter_mut().enumerate() {
            for (slot, face) in face.iter_mut().enumerate() {
                let c = topology.coord(slot) - shift;
                let below = c - Coord::AXES[axis];
                let (a, b) = (inverse_density(c), inverse_density(below));
                let theta = match (self.label(c) == CELL) == (self.label(below) == CELL) {
                    true => 1.0,
                    false if theta_is_smallest => smallest,
                    false => smallest + (1.0 - smallest) * random.unit(),
                };
                *face = (2.0 / (1.0 / a + 1.0 / b) / theta) as f32;
            }
        }
        let label = (0..slots).map(|s| self.label(topology.coord(s) - shift)).collect();
        let super_cells = vec![SuperCell::default(); self.bubbles as usize];
        PressureSystem { topology, label, face, super_cells, attached: vec![], links: vec![] }
    }
}

fn random_scene(random: &mut Random) -> PressureSystem {
    let mut painting = Painting::new(random);
    for _ in 0..random.below(7) {
        painting.paint(random);
    }
    painting.system(random)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn right_to_1e_8_or_said_not_to_be(seed in any::<u64>()) {
        let mut random = Random(seed);
        let system = random_scene(&mut random);
        let truth = random.unknowns(&system);
        let mut rhs = Unknowns::zeros(&system);
        system.apply(&truth, &mut rhs);
        let (info, x) = solve(&system, &rhs, Params { tolerance: 1e-12, max_iterations: 1000 });
        prop_assert!(info.residual <= 1e-8, "{info:?}");
        if info.unknowns > 0 && info.residual > 0.0 {
            prop_assert!((relative_residual(&system, &rhs, &x) - info.residual).abs() <= 1e-12, "{info:?}");
        }
        let exact = direct(&system, &rhs);
        let error = energy(&system, &difference(&x, &exact)).max(0.0).sqrt();
        let bound = if info.converged { 1e-8 } else { 1e-4 };
        prop_assert!(error <= bound * energy(&system, &exact).max(0.0).sqrt() + 1e-20, "{error:e} {info:?}");
    }
}
