//! Levels to compare on: tanks with a wavy surface, bubbles, cut cells and bodies, and pure noise.

use crate::checkerboard::{self, place};
use crate::conjugate_gradients::{LowRank, LowRankColumn, Weight};
use crate::leaf;
use crate::multigrid::{Bodies, Contact, Contacts, Extent, Level, Supers, ZERO, neighbours};
use crate::sparse::SparseFactor;
use std::sync::Arc;

/// A small reproducible generator (SplitMix64).
#[derive(Clone)]
pub struct Random(pub u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in [−1, 1).
    pub fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    /// Uniform in 0..n.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }
}

/// What a cell is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Label {
    Cell,
    Zero,
    Solid,
    Super(u32),
}

/// A finest level with what belongs to it.
pub struct Scene {
    pub level: Level,
    pub extents: Vec<Extent>,
    pub low_rank: Vec<LowRank>,
}

impl Scene {
    /// The bodies as the smoother knows them.
    pub fn bodies(&self) -> Bodies {
        Bodies::new(&self.low_rank, &self.level)
    }
}

/// How a scene is told: what a cell is, and the coefficient of a cell's lower face.
pub struct Plan<'a> {
    /// Leaves along x, y, z.
    pub leaves: [i32; 3],
    pub label: &'a dyn Fn([i32; 3]) -> Label,
    pub face: &'a dyn Fn(usize, [i32; 3]) -> f32,
    pub compliance: Vec<f64>,
}

/// The lowest cell: below zero, as leaves may well be.
const LOW: i32 = -8;

fn step(mut cell: [i32; 3], axis: usize, by: i32) -> [i32; 3] {
    cell[axis] += by;
    cell
}

impl Plan<'_> {
    fn label(&self, cell: [i32; 3]) -> Label {
        let inside = (0..3).all(|a| (LOW..LOW + 8 * self.leaves[a]).contains(&cell[a]));
        if inside { (self.label)(cell) } else { Label::Solid }
    }

    /// The scene, without bodies.
    pub fn build(&self) -> Scene {
        let [nx, ny, nz] = self.leaves;
        let all = (0..nx * ny * nz).map(|i| [i / (ny * nz), i / nz % ny, i % nz].map(|c| LOW + 8 * c));
        let holds = |o: &[i32; 3]| (0..leaf::SIZE).any(|n| self.label(at(*o, n)) == Label::Cell);
        let origins: Vec<[i32; 3]> = all.filter(holds).collect();
        let mut level = Level { neighbours: neighbours(&origins), origins, ..Level::default() };
        level.faces.iter_mut().for_each(|f| checkerboard::reset(f, level.origins.len()));
        let mut lists: Vec<Vec<Contact>> = vec![Vec::new(); level.leaves()];
        for (l, list) in lists.iter_mut().enumerate() {
            for n in 0..leaf::SIZE {
                self.add_cell(&mut level, l, n, list);
            }
            list.sort_by_key(|c| (c.colour, c.target, c.lane));
        }
        let (supers, extents) = self.supers();
        level.contacts = Contacts::new(&lists, self.compliance.len());
        level.supers = supers;
        level.finish();
        Scene { level, extents, low_rank: Vec::new() }
    }

    fn add_cell(&self, level: &mut Level, l: usize, n: usize, list: &mut Vec<Contact>) {
        let cell = at(level.origins[l], n);
        if self.label(cell) != Label::Cell {
            return;
        }
        let (colour, row, lane) = place(n);
        for axis in 0..3 {
            for (other, owner) in [(step(cell, axis, -1), cell), (step(cell, axis, 1), step(cell, axis, 1))] {
                let weight = (self.face)(axis, owner);
                let target = match self.label(other) {
                    Label::Cell if owner == cell => {
                        level.faces[axis][colour][l][row][lane] = weight;
                        continue;
                    }
                    Label::Cell | Label::Solid => continue,
                    Label::Zero => ZERO,
                    Label::Super(b) => b,
                };
                if weight > 0.0 {
                    list.push(Contact { colour: colour as u8, lane: (row * 4 + lane) as u8, target, weight });
                }
            }
        }
    }

    fn supers(&self) -> (Supers, Vec<Extent>) {
        let count = self.compliance.len();
        let mut extents: Vec<Extent> = vec![None; count];
        let mut out =
            Supers { compliance: self.compliance.clone(), fixed: vec![0.0; count], ..Supers::default() };
        let size = self.leaves.map(|n| 8 * n);
        for i in 0..size.iter().product::<i32>() {
            let cell = [i / (size[1] * size[2]), i / size[2] % size[1], i % size[2]].map(|c| LOW + c);
            let Label::Super(b) = self.label(cell) else { continue };
            let (low, high) = extents[b as usize].unwrap_or((cell, cell));
            let low = std::array::from_fn(|a| low[a].min(cell[a]));
            extents[b as usize] = Some((low, std::array::from_fn(|a| high[a].max(cell[a]))));
            for axis in 0..3 {
                for (other, owner) in
                    [(step(cell, axis, -1), cell), (step(cell, axis, 1), step(cell, axis, 1))]
                {
                    let weight = f64::from((self.face)(axis, owner));
                    match self.label(other) {
                        Label::Zero => out.fixed[b as usize] += weight,
                        Label::Super(o) if o > b && weight > 0.0 => out.pairs.push((b, o, weight)),
                        _ => {}
                    }
                }
            }
        }
        out.pairs.sort_by_key(|p| (p.0, p.1));
        out.pairs.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        (out, extents)
    }
}

fn at(origin: [i32; 3], n: usize) -> [i32; 3] {
    let local = leaf::local(n);
    std::array::from_fn(|a| origin[a] + local[a])
}

/// Uniform in [0, 1), by cell and axis.
fn noise(seed: u64, axis: usize, cell: [i32; 3]) -> f64 {
    let [x, y, z] = cell.map(|c| u64::from(c.cast_unsigned()));
    let mut random = Random(seed ^ x << 40 ^ y << 20 ^ z << 2 ^ axis as u64);
    random.unit();
    random.unit()
}

/// A tank of `n` leaves a side, filled to about `fill` with a wavy surface, with round bubbles of the given radii.
pub fn tank(n: i32, fill: f64, radii: &[f64], compliance: f64) -> Scene {
    let side = f64::from(8 * n);
    let centre = |i: usize| {
        let t = i as f64 + 0.5;
        [0.27, 0.55, 0.81].map(|r| (t * r).fract() * 0.8 + 0.1).map(|c| f64::from(LOW) + c * side)
    };
    let label = |cell: [i32; 3]| {
        let [x, y, z] = cell.map(|c| f64::from(c) + 0.5);
        let inside = |(i, r): (usize, &f64)| {
            let c = centre(i);
            (x - c[0]).powi(2) + ((y - c[1] * fill).powi(2)) + (z - c[2]).powi(2) < r * r
        };
        if let Some(b) = radii.iter().enumerate().position(inside) {
            return Label::Super(b as u32);
        }
        let surface = f64::from(LOW) + side * (fill + 0.04 * (x * 0.3).sin() * (z * 0.2).cos());
        if y < surface { Label::Cell } else { Label::Zero }
    };
    let face = |axis: usize, cell: [i32; 3]| {
        let below = step(cell, axis, -1);
        let surface = (label(cell) == Label::Zero) != (label(below) == Label::Zero);
        if surface { (1.0 / (0.01 + 0.99 * noise(7, axis, cell))) as f32 } else { 1.0 }
    };
    Plan { leaves: [n; 3], label: &label, face: &face, compliance: vec![compliance; radii.len()] }.build()
}

/// Noise: labels, coefficients over decades, closed faces, bubbles that touch each other, and bodies.
pub fn noisy(seed: u64) -> Scene {
    let mut random = Random(seed);
    let leaves = [1 + random.below(2) as i32, 1 + random.below(3) as i32, 1 + random.below(2) as i32];
    let (supers, decades, closed) = (random.below(5), 4.0 * random.unit(), 0.4 * random.unit());
    let share = [0.2 * random.unit(), 0.2 * random.unit(), 0.2 * random.unit()];
    let label = |cell: [i32; 3]| match noise(seed, 3, cell) {
        d if d < share[0] => Label::Zero,
        d if d < share[0] + share[1] => Label::Solid,
        d if d < share.iter().sum() && supers > 0 => Label::Super((d * 1e6) as u32 % supers as u32),
        _ => Label::Cell,
    };
    let face = |axis: usize, cell: [i32; 3]| {
        let dice = noise(seed, axis, cell);
        if dice < closed { 0.0 } else { 10f64.powf(-3.0 + decades * dice) as f32 }
    };
    let compliance = (0..supers).map(|b| if b % 2 == 0 { 0.0 } else { 0.01 * random.unit() }).collect();
    let mut scene = Plan { leaves, label: &label, face: &face, compliance }.build();
    scene.low_rank = (0..random.below(3)).map(|_| body(&mut random, &scene.level)).collect();
    scene
}

/// Layers a thousand times apart, which coarse levels meet at other places than fine ones.
pub fn layers() -> Scene {
    let label = |cell: [i32; 3]| if cell[1] < LOW + 38 { Label::Cell } else { Label::Zero };
    let face = |_: usize, cell: [i32; 3]| if cell[0].div_euclid(12) % 2 == 0 { 1000.0 } else { 1.0 };
    Plan { leaves: [6, 6, 3], label: &label, face: &face, compliance: Vec::new() }.build()
}

/// More bubbles than a dense factor takes, each of cells that lie far apart, so that none ever shrinks to one.
pub fn swarm(bubbles: usize) -> Scene {
    let label = |cell: [i32; 3]| match noise(3, 3, cell) {
        d if d < 0.4 => Label::Super((d * 1e6) as u32 % bubbles as u32),
        d if d < 0.42 => Label::Zero,
        _ => Label::Cell,
    };
    Plan { leaves: [2; 3], label: &label, face: &|_, _| 1.0, compliance: vec![0.0; bubbles] }.build()
}

/// A body with up to six degrees of freedom that pushes on random cells.
pub fn body(random: &mut Random, level: &Level) -> LowRank {
    let k = 1 + random.below(6);
    let entry = |random: &mut Random| loop {
        let (l, colour) = (random.below(level.leaves()), random.below(2));
        let (row, lane) = (random.below(64), random.below(4));
        let mut open = false;
        level.for_weights(l, colour, |r, w| open |= r == row && w.iter().any(|w| w[lane] > 0.0));
        if open || random.unit() < 1e-3 {
            return (l as u32, colour as u8, row as u8, lane as u8, random.signed());
        }
    };
    let column = |random: &mut Random| LowRankColumn {
        cells: (0..1 + random.below(6)).map(|_| entry(random)).collect(),
        supers: (0..level.super_count() as u32)
            .filter(|b| b % 2 == 1)
            .map(|b| (b, random.signed()))
            .collect(),
    };
    let columns = (0..k).map(|_| column(random)).collect();
    let g: Vec<f64> = (0..k * k).map(|_| random.signed()).collect();
    let gram = |i: usize, j: usize| (0..k).map(|m| g[i * k + m] * g[j * k + m]).sum::<f64>();
    let weight = (0..k * k).map(|e| gram(e / k, e % k) + if e / k == e % k { 0.1 } else { 0.0 }).collect();
    LowRank { columns, weight: Weight::Dense(Arc::new(weight)) }
}

/// A light chain with springs that pushes on random cells, and on all super-cells.
pub fn sheet(random: &mut Random, level: &Level) -> LowRank {
    let mut columns: Vec<LowRankColumn> = Vec::new();
    while columns.len() < 60 {
        columns.append(&mut body(random, level).columns);
    }
    let k = columns.len() as u32;
    let mass = |i: u32| 0.01 * f64::from(1 + i % 5);
    let mut entries: Vec<(u32, u32, f64)> = (0..k).map(|i| (i, i, mass(i))).collect();
    for i in 1..k {
        entries.extend([(i, i, 0.1), (i - 1, i - 1, 0.1), (i, i - 1, -0.1)]);
    }
    let factor = SparseFactor::new(k as usize, &entries).expect("positive definite");
    LowRank { columns, weight: Weight::Inverse(Arc::new(factor)) }
}
