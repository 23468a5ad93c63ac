//! The scenes every peer's solver is measured on: `wave`, a half-full box with a wavy surface, and `cooler`,
//! two chambers joined by a neck with three closed bubbles; and `tank`, with as many bubbles as one likes.
//! Index y is up; coefficients are 1 inside and 1/θ at the surface (a unit dt h/ρ).

use meniscus_core::grid::{Coord, Topology, leaf};
use meniscus_core::pressure::{CELL, FIXED, PressureSystem, SOLID, SuperCell, Unknowns};
use std::collections::VecDeque;
use std::f64::consts::PI;
use std::sync::Arc;

/// Smallest θ of the ghost-fluid method.
const THETA_MIN: f64 = 0.01;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Matter {
    Solid,
    Liquid,
    Air,
}

/// Labels, level set and air regions on an N³ box with closed walls.
pub struct Scene {
    pub n: i32,
    matter: Vec<Matter>,
    phi: Vec<f32>,
    /// Air region of each cell: 0 is the atmosphere, k ≥ 1 a closed bubble.
    region: Vec<i32>,
    pub bubbles: usize,
}

fn wave(x: f64, y: f64, z: f64) -> (bool, f64) {
    let h = 0.5
        + 0.06 * (2.0 * PI * (1.5 * x + 0.7 * z)).sin()
        + 0.03 * (2.0 * PI * (3.1 * z - 1.2 * x)).cos()
        + 0.01 * (2.0 * PI * (9.0 * x + 7.0 * z)).sin();
    (false, y - h)
}

fn cooler(x: f64, y: f64, z: f64) -> (bool, f64) {
    let within = |v: f64, lo: f64, hi: f64| v > lo && v < hi;
    let r = (x - 0.5).hypot(z - 0.5);
    let upper = within(x, 0.1, 0.9) && within(y, 0.55, 0.95) && within(z, 0.1, 0.9);
    let lower = within(x, 0.05, 0.95) && within(y, 0.05, 0.45) && within(z, 0.05, 0.95);
    let neck = r < 0.08 && (0.45..=0.55).contains(&y);
    let surface = 0.2 + 0.015 * (2.0 * PI * (2.3 * x + 1.1 * z)).sin();
    let mut phi = (y - surface).min(r - 0.065 - if y > 0.45 { 10.0 } else { 0.0 });
    for (a, b, c, radius) in [(0.30, 0.75, 0.40, 0.08), (0.65, 0.70, 0.62, 0.06), (0.5, 0.51, 0.5, 0.05)] {
        let d: f64 = (x - a) * (x - a) + (y - b) * (y - b) + (z - c) * (z - c);
        phi = phi.max(radius - d.sqrt());
    }
    (!(upper || lower || neck), phi.max(-10.0))
}

/// A tank filled to 9/10 with a lattice of `count` balls of air, each 0.3 of the lattice's spacing in radius.
fn tank(count: usize) -> impl Fn(f64, f64, f64) -> (bool, f64) {
    let per_side = (1..).find(|k| k * k * k >= count).unwrap_or(1);
    let spacing = 0.8 / per_side as f64;
    move |x, y, z| {
        let place = |v: f64| (((v - 0.05) / spacing).floor().max(0.0) as usize).min(per_side - 1);
        let at = [place(x), place(y), place(z)];
        let centre = at.map(|i| 0.05 + (i as f64 + 0.5) * spacing);
        let d = ((x - centre[0]).powi(2) + (y - centre[1]).powi(2) + (z - centre[2]).powi(2)).sqrt();
        let inside = at[1] * per_side * per_side + at[0] * per_side + at[2] < count;
        let ball = if inside { 0.3 * spacing - d } else { f64::MIN };
        (false, (y - 0.9).max(ball))
    }
}

impl Scene {
    pub fn wave(n: i32) -> Self {
        Self::new(n, wave)
    }

    pub fn cooler(n: i32) -> Self {
        Self::new(n, cooler)
    }

    pub fn tank(n: i32, bubbles: usize) -> Self {
        Self::new(n, tank(bubbles))
    }

    fn id(&self, c: Coord) -> Option<usize> {
        let inside = c.cmpge(Coord::ZERO).all() && c.cmplt(Coord::splat(self.n)).all();
        inside.then(|| c.x as usize + self.n as usize * (c.y as usize + self.n as usize * c.z as usize))
    }

    fn new(n: i32, shape: impl Fn(f64, f64, f64) -> (bool, f64)) -> Self {
        let size = (n * n * n) as usize;
        let at = |i: usize| {
            let (i, n) = (i as i32, n);
            Coord::new(i % n, i / n % n, i / (n * n))
        };
        let mut matter = Vec::with_capacity(size);
        let mut phi = Vec::with_capacity(size);
        for i in 0..size {
            let p = (at(i).as_dvec3() + 0.5) / n as f64;
            let (solid, distance) = shape(p.x, p.y, p.z);
            phi.push(distance as f32);
            matter.push(match (solid, distance < 0.0) {
                (true, _) => Matter::Solid,
                (_, true) => Matter::Liquid,
                _ => Matter::Air,
            });
        }
        let mut scene = Self { n, matter, phi, region: vec![-1; size], bubbles: 0 };
        scene.find_regions(&at);
        scene
    }

    /// Connected components of air; the biggest is the atmosphere.
    fn find_regions(&mut self, at: &dyn Fn(usize) -> Coord) {
        let mut sizes: Vec<usize> = Vec::new();
        for seed in 0..self.matter.len() {
            if self.matter[seed] != Matter::Air || self.region[seed] >= 0 {
                continue;
            }
            let number = sizes.len() as i32;
            self.region[seed] = number;
            let mut queue = VecDeque::from([seed]);
            let mut count = 0;
            while let Some(i) = queue.pop_front() {
                count += 1;
                for step in [Coord::X, Coord::Y, Coord::Z] {
                    for c in [at(i) - step, at(i) + step] {
                        if let Some(j) =
                            self.id(c).filter(|&j| self.matter[j] == Matter::Air && self.region[j] < 0)
                        {
                            self.region[j] = number;
                            queue.push_back(j);
                        }
                    }
                }
            }
            sizes.push(count);
        }
        let biggest = (0..sizes.len()).rev().max_by_key(|&r| sizes[r]).unwrap_or(0) as i32;
        for r in &mut self.region {
            *r = match *r {
                -1 => -1,
                r if r == biggest => 0,
                r if r < biggest => r + 1,
                r => r,
            };
        }
        self.bubbles = sizes.len().saturating_sub(1);
    }

    /// The pressure system and its right side; closed bubbles become super-cells if `constrained`.
    pub fn assemble(&self, constrained: bool) -> (PressureSystem, Unknowns) {
        let cells = (0..self.n)
            .flat_map(|x| (0..self.n).flat_map(move |y| (0..self.n).map(move |z| Coord::new(x, y, z))));
        let wet = |c: Coord| self.id(c).is_some_and(|i| self.matter[i] == Matter::Liquid);
        let near =
            |c: &Coord| wet(*c) || [Coord::X, Coord::Y, Coord::Z].iter().any(|&s| wet(*c - s) || wet(*c + s));
        let topology = Arc::new(Topology::covering(cells.filter(near)));
        let size = topology.len() * leaf::SIZE;
        let mut system = PressureSystem {
            topology: topology.clone(),
            label: vec![SOLID; size],
            face: std::array::from_fn(|_| vec![0.0; size]),
            super_cells: vec![SuperCell::default(); if constrained { self.bubbles } else { 0 }],
            attached: vec![],
            links: vec![],
        };
        let mut rhs = Unknowns::zeros(&system);
        for slot in 0..size {
            let cell = topology.coord(slot);
            let Some(i) = self.id(cell) else { continue };
            system.label[slot] = match self.matter[i] {
                Matter::Solid => SOLID,
                Matter::Liquid => CELL,
                Matter::Air if constrained && self.region[i] > 0 => self.region[i] - 1,
                Matter::Air => FIXED,
            };
        }
        for slot in 0..size {
            for axis in 0..3 {
                self.add_face(&mut system, &mut rhs, slot, axis);
            }
        }
        (system, rhs)
    }

    fn add_face(&self, system: &mut PressureSystem, rhs: &mut Unknowns, slot: usize, axis: usize) {
        let cell = system.topology.coord(slot);
        let below = cell - Coord::AXES[axis];
        let (Some(i), Some(j), Some(other)) = (self.id(cell), self.id(below), system.topology.slot_of(below))
        else {
            return;
        };
        let wet = [self.matter[i], self.matter[j]].iter().filter(|m| **m == Matter::Liquid).count();
        if wet == 0 || self.matter[i] == Matter::Solid || self.matter[j] == Matter::Solid {
            return;
        }
        let (liquid, air) = if self.matter[i] == Matter::Liquid { (i, j) } else { (j, i) };
        let theta = if wet == 2 { 1.0 } else { theta(self.phi[liquid] as f64, self.phi[air] as f64) };
        system.face[axis][slot] = (1.0 / theta) as f32;
        let flow = face_velocity(axis, cell, self.n);
        for (slot, inflow) in [(slot, flow), (other, -flow)] {
            match system.label[slot] {
                CELL => rhs.cells[slot] += inflow,
                b if b >= 0 => rhs.supers[b as usize] += inflow,
                _ => {}
            }
        }
    }
}

fn theta(liquid: f64, air: f64) -> f64 {
    (liquid / (liquid - air)).clamp(THETA_MIN, 1.0)
}

fn hash01(x: u64) -> f64 {
    let mut x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^= x >> 31;
    (x >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
}

fn face_velocity(axis: usize, c: Coord, n: i32) -> f64 {
    let mut p = c.as_dvec3() + 0.5;
    p[axis] -= 0.5;
    let p = p / n as f64;
    let v = match axis {
        0 => (2.0 * PI * p.x).sin() * (3.0 * PI * p.y).cos(),
        1 => -1.0 + 0.5 * (2.0 * PI * p.x).cos() * (2.0 * PI * p.z).sin(),
        _ => 0.7 * (4.0 * PI * p.z).sin() * (PI * p.x).cos(),
    };
    let key = (axis as u64) << 60 ^ (c.x as u64) << 40 ^ (c.y as u64) << 20 ^ c.z as u64;
    v + 0.05 * (hash01(key) - 0.5)
}
