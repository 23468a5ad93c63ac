//! Balls in a tank with a wavy surface, either moved by the pressure or moved along given paths: what bodies cost.
//! Index y is up; coefficients are 1 inside and 1/θ at the surface (a unit dt h/ρ), faces of balls are closed.

use crate::Random;
use meniscus_core::grid::{Coord, Topology, leaf};
use meniscus_core::pressure::{AttachedMass, CELL, Column, FIXED, PressureSystem, SOLID, Unknowns};
use std::sync::Arc;

/// Balls in a tank of n³ cells.
pub struct Shoal {
    pub n: i32,
    /// Centre and radius, cells.
    pub balls: Vec<([f64; 3], f64)>,
    /// Density of each ball, that of the liquid being 1.
    pub density: Vec<f64>,
    /// Whether the tank is full, so that no pressure is known.
    pub full: bool,
}

impl Shoal {
    /// `count` balls on a lattice, shifted a little, all of one density.
    pub fn lattice(n: i32, count: usize, density: f64) -> Self {
        let side = (1..).find(|k| k * k * k >= count).unwrap_or(1);
        let spacing = 0.8 * f64::from(n) / side as f64;
        let mut random = Random(count as u64);
        let ball = |i: usize| {
            let at = [i % side, i / side % side, i / (side * side)];
            let place =
                |k: usize| 0.05 * f64::from(n) + (k as f64 + 0.5) * spacing + 0.1 * spacing * random.signed();
            (at.map(place), 0.3 * spacing)
        };
        Self { n, balls: (0..count).map(ball).collect(), density: vec![density; count], full: false }
    }

    fn ball_at(&self, c: Coord) -> Option<usize> {
        let p = c.as_dvec3() + 0.5;
        self.balls.iter().position(|&(at, r)| (p - glam::DVec3::from(at)).length_squared() < r * r)
    }

    fn surface(&self, c: Coord) -> f64 {
        if self.full {
            return 1.0;
        }
        let s = |v: i32| (f64::from(v) + 0.5) / f64::from(self.n);
        0.9 + 0.02 * (9.0 * s(c.x) + 4.0 * s(c.z)).sin() - s(c.y)
    }

    /// The system and a right side; the balls' degrees of freedom are attached if they are `free`.
    pub fn assemble(&self, free: bool) -> (PressureSystem, Unknowns) {
        let n = self.n;
        let cells = (0..n).flat_map(|x| (0..n).flat_map(move |y| (0..n).map(move |z| Coord::new(x, y, z))));
        let topology = Arc::new(Topology::covering(cells));
        let size = topology.len() * leaf::SIZE;
        let inside = |c: Coord| c.cmpge(Coord::ZERO).all() && c.cmplt(Coord::splat(n)).all();
        let mut system = PressureSystem {
            topology: topology.clone(),
            label: vec![SOLID; size],
            face: std::array::from_fn(|_| vec![0.0; size]),
            ..PressureSystem::default()
        };
        let mut ball = vec![None; size];
        for slot in (0..size).filter(|&s| inside(topology.coord(s))) {
            let c = topology.coord(slot);
            ball[slot] = self.ball_at(c);
            let label = if self.surface(c) > 0.0 { CELL } else { FIXED };
            system.label[slot] = if ball[slot].is_some() { SOLID } else { label };
        }
        let mut columns: Vec<Vec<Column>> = vec![vec![Column::default(); 6]; self.balls.len()];
        let mut rhs = Unknowns::zeros(&system);
        let mut random = Random(7);
        for slot in 0..size {
            let c = topology.coord(slot);
            for axis in 0..3 {
                let Some(below) = topology.slot_of(c - Coord::AXES[axis]).filter(|_| inside(c)) else {
                    continue;
                };
                for (wet, other, sign) in [(slot, below, 1.0), (below, slot, -1.0)] {
                    if let (CELL, Some(b)) = (system.label[wet], ball[other]) {
                        self.push(&mut columns[b], b, (wet as u32, c, axis), sign);
                    }
                }
                let (upper, lower) = (system.label[slot], system.label[below]);
                let flow = random.signed() + if axis == 1 { -1.0 } else { 0.0 };
                if upper == SOLID || lower == SOLID || (upper == FIXED && lower == FIXED) {
                    continue;
                }
                let (one, two) = (self.surface(c), self.surface(c - Coord::AXES[axis]));
                let share = one.max(two) / (one.max(two) - one.min(two));
                let theta = if upper == lower { 1.0 } else { share.clamp(0.01, 1.0) };
                system.face[axis][slot] = (1.0 / theta) as f32;
                for (slot, inflow) in [(slot, flow), (below, -flow)] {
                    if system.label[slot] == CELL {
                        rhs.cells[slot] += inflow;
                    }
                }
            }
        }
        for (b, columns) in columns.into_iter().enumerate() {
            for column in &columns[..3] {
                let speed = random.signed();
                column.cells.iter().for_each(|&(slot, w)| rhs.cells[slot as usize] += speed * w);
            }
            let radius = self.balls[b].1;
            let mass = self.density[b] * 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
            let mut inverse = vec![0.0; 36];
            for i in 0..6 {
                inverse[7 * i] = 1.0 / if i < 3 { mass } else { 0.4 * mass * radius * radius };
            }
            if free {
                system.attached.push(AttachedMass::dense(columns, inverse).expect("a mass"));
            }
        }
        (system, rhs)
    }

    /// A face of ball b with lower axis side at the middle of the face below cell c.
    fn push(&self, columns: &mut [Column], b: usize, (slot, c, axis): (u32, Coord, usize), sign: f64) {
        let mut at = c.as_dvec3() + 0.5;
        at[axis] -= 0.5;
        let arm = at - glam::DVec3::from(self.balls[b].0);
        let normal = Coord::AXES[axis].as_dvec3() * sign;
        let turn = arm.cross(normal);
        columns[axis].cells.push((slot, sign));
        (0..3).filter(|&a| a != axis).for_each(|a| columns[3 + a].cells.push((slot, turn[a])));
    }
}

/// A membrane of `side`² vertices across the middle of a tank of n³ cells, tied to its walls by its springs.
pub fn membrane(n: i32, side: u32, mass: f64, spring: f64) -> (PressureSystem, Unknowns) {
    let shoal = Shoal { n, balls: vec![], density: vec![], full: false };
    let (mut system, rhs) = shoal.assemble(true);
    let middle = n / 2;
    for slot in 0..system.label.len() {
        if system.topology.coord(slot).y == middle {
            system.face[1][slot] = 0.0;
        }
    }
    let mut columns = vec![Column::default(); (side * side) as usize];
    for (x, z) in (0..n).flat_map(|x| (0..n).map(move |z| (x, z))) {
        let place = |c: i32| (f64::from(c) + 0.5) * f64::from(side - 1) / f64::from(n);
        let (u, v) = (place(x), place(z));
        for (du, dv) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let (i, j) = (u as u32 + du, v as u32 + dv);
            let weight = (1.0 - (u - f64::from(i)).abs()) * (1.0 - (v - f64::from(j)).abs());
            for (y, sign) in [(middle - 1, 1.0), (middle, -1.0)] {
                let slot = system.topology.slot_of(Coord::new(x, y, z)).expect("in the tank");
                columns[(i * side + j) as usize].cells.push((slot as u32, sign * weight));
            }
        }
    }
    let mut entries: Vec<(u32, u32, f64)> = (0..side * side).map(|i| (i, i, mass)).collect();
    for i in 0..side * side {
        for (j, inside) in [(i + 1, i % side + 1 < side), (i + side, i + side < side * side)] {
            if inside {
                entries.extend([(i, i, spring), (j, j, spring), (j, i, -spring)]);
            }
        }
    }
    system.attached = vec![AttachedMass::sparse(columns, &entries).expect("a mass")];
    (system, rhs)
}
