//! The trial's pressure system: a box of n³ cells with a wavy free surface, a ball of liquid above it, a solid ball and a solid
//! step in it, and a bubble. Everything follows from a cell's coordinates, so each rank makes its own part.

use meniscus_kernels::checkerboard::{self, place};
use meniscus_kernels::leaf;
use meniscus_kernels::multigrid::{Contact, Contacts, Level, Supers, ZERO};
use std::collections::HashMap;

/// A leaf's origin.
pub type Origin = [i32; 3];

/// What a cell is.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Liquid,
    Air,
    Bubble,
    Solid,
}

/// The box of n³ cells.
#[derive(Clone, Copy)]
pub struct Scene {
    pub n: i32,
}

/// Distance to a ball whose centre and radius are shares of the box, in cells.
fn ball(n: f64, at: [f64; 3], centre: [f64; 3], radius: f64) -> f64 {
    let square: f64 = at.iter().zip(centre).map(|(x, c)| (x - c * n).powi(2)).sum();
    square.sqrt() - radius * n
}

/// Reproducible noise in −1..1.
pub fn noise(cell: [i32; 3], salt: u64) -> f64 {
    let mut h = salt.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for c in cell {
        h = (h ^ c as u32 as u64).wrapping_mul(0xff51_afd7_ed55_8ccd);
        h ^= h >> 32;
    }
    (h >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

impl Scene {
    /// Distance to the solids, in cells; positive where liquid can be.
    fn open(&self, at: [f64; 3]) -> f64 {
        let n = f64::from(self.n);
        let step = (0.8 * n - at[0]).max(at[1] - 0.2 * n);
        ball(n, at, [0.35, 0.3, 0.6], 0.13).min(step)
    }

    fn bubble(&self, at: [f64; 3]) -> f64 {
        ball(f64::from(self.n), at, [0.62, 0.28, 0.35], 0.1)
    }

    /// Level set of the liquid: negative inside.
    fn liquid(&self, at: [f64; 3]) -> f64 {
        let n = f64::from(self.n);
        let turn = std::f64::consts::TAU / n;
        let height = n * (0.5 + 0.06 * (1.5 * turn * at[0]).sin() * (turn * at[2]).cos());
        let pool = at[1] - height;
        pool.min(ball(n, at, [0.6, 0.8, 0.4], 0.1)).max(-self.bubble(at))
    }

    fn kind(&self, cell: [i32; 3]) -> Kind {
        let at = cell.map(|c| f64::from(c) + 0.5);
        if cell.iter().any(|c| !(0..self.n).contains(c)) || self.open(at) < 0.0 {
            Kind::Solid
        } else if self.liquid(at) < 0.0 {
            Kind::Liquid
        } else if self.bubble(at) < 0.0 {
            Kind::Bubble
        } else {
            Kind::Air
        }
    }

    /// Coefficient of the face between a cell and its lower neighbour, by what they are.
    fn face(&self, cell: [i32; 3], below: [i32; 3], kinds: [Kind; 2], axis: usize) -> f32 {
        let mut middle = cell.map(|c| f64::from(c) + 0.5);
        middle[axis] -= 0.5;
        let share = (0.5 + self.open(middle)).clamp(0.0, 1.0);
        if share < 0.02 {
            return 0.0;
        }
        let theta = if kinds[0] == kinds[1] {
            1.0
        } else {
            let [a, b] = [cell, below].map(|c| self.liquid(c.map(|c| f64::from(c) + 0.5)).abs());
            let (wet, dry) = if kinds[0] == Kind::Liquid { (a, b) } else { (b, a) };
            (wet / (wet + dry)).clamp(0.01, 1.0)
        };
        (share / theta) as f32
    }

    /// The sorted leaves that hold liquid, found from every `stride`-th cell.
    pub fn leaves(&self, stride: usize) -> Vec<Origin> {
        let side = || (0..self.n).step_by(leaf::DIM);
        let all = side().flat_map(|x| side().flat_map(move |y| side().map(move |z| [x, y, z])));
        let cells = |o: Origin| {
            let along = || (0..leaf::DIM as i32).step_by(stride);
            along().flat_map(move |x| {
                along().flat_map(move |y| along().map(move |z| [o[0] + x, o[1] + y, o[2] + z]))
            })
        };
        all.filter(|&o| cells(o).any(|cell| self.kind(cell) == Kind::Liquid)).collect()
    }

    /// The finest level of some leaves, of which the first `own` have contacts; the others only lend their coefficients.
    pub fn level(&self, origins: &[Origin], own: usize) -> Level {
        let number: HashMap<Origin, u32> = origins.iter().enumerate().map(|(l, &o)| (o, l as u32)).collect();
        let neighbour = |o: Origin, f: usize| {
            let d = leaf::displacement(leaf::FACE_SLOTS[f]);
            let beside = std::array::from_fn(|a| o[a] + d[a] * leaf::DIM as i32);
            number.get(&beside).copied().unwrap_or(origins.len() as u32)
        };
        let mut level = Level {
            origins: origins.to_vec(),
            neighbours: origins.iter().map(|&o| std::array::from_fn(|f| neighbour(o, f))).collect(),
            ..Level::default()
        };
        let mut contacts = vec![Vec::new(); origins.len()];
        for (axis, field) in level.faces.iter_mut().enumerate() {
            checkerboard::reset(field, origins.len());
            for (l, &o) in origins.iter().enumerate() {
                for n in 0..leaf::SIZE {
                    let (colour, row, lane) = place(n);
                    let at = leaf::local(n);
                    let cell: [i32; 3] = std::array::from_fn(|a| o[a] + at[a]);
                    let kind = self.kind(cell);
                    if kind != Kind::Liquid {
                        continue;
                    }
                    for up in [0, 1] {
                        let mut beside = cell;
                        beside[axis] += 2 * up - 1;
                        let other = self.kind(beside);
                        if other == Kind::Solid || other == Kind::Liquid && up == 1 {
                            continue;
                        }
                        let weight = if up == 0 {
                            self.face(cell, beside, [kind, other], axis)
                        } else {
                            self.face(beside, cell, [other, kind], axis)
                        };
                        if other == Kind::Liquid {
                            field[colour][l][row][lane] = weight;
                        } else if weight > 0.0 && l < own {
                            let target = if other == Kind::Bubble { 0 } else { ZERO };
                            let lane = (row * 4 + lane) as u8;
                            contacts[l].push(Contact { colour: colour as u8, lane, target, weight });
                        }
                    }
                }
            }
        }
        contacts.iter_mut().for_each(|list| list.sort_by_key(|c| (c.colour, c.target, c.lane)));
        level.contacts = Contacts::new(&contacts, 1);
        level.supers = Supers { compliance: vec![0.5], fixed: vec![0.0], ..Supers::default() };
        level.finish();
        level
    }

    /// Values of a vector in a leaf, in leaf order: `f` of a liquid cell, 0 elsewhere.
    pub fn values(&self, o: Origin, f: impl Fn([i32; 3]) -> f64) -> [f64; leaf::SIZE] {
        std::array::from_fn(|n| {
            let at = leaf::local(n);
            let cell = std::array::from_fn(|a| o[a] + at[a]);
            if self.kind(cell) == Kind::Liquid { f(cell) } else { 0.0 }
        })
    }
}
