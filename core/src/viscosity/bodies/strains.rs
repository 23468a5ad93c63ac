//! The strains that walls of bodies take part in.

use super::super::operator::{CELL, EDGE, FACES, FACTOR, across};
use super::super::stencil::{Around, System};
use super::Bodies;
use crate::grid::{Coord, Transform, leaf};
use glam::DVec3;

/// A face that only the wall of a body drags on.
pub(super) struct Dragged {
    pub(super) slot: usize,
    /// k m / (k + m), kg/m³.
    pub(super) weight: f64,
    /// J of the wall.
    pub(super) along: Vec<(usize, f64)>,
}

/// What the strains of one leaf say; entries may repeat.
#[derive(Default)]
pub(super) struct Touched {
    /// B: (face, degree of freedom, value).
    pub(super) coupling: Vec<(u32, u32, f64)>,
    /// Σ k c cᵀ and the liquid of closed faces, lower triangle.
    pub(super) stiffness: Vec<(u32, u32, f64)>,
    /// f.
    pub(super) force: Vec<(u32, f64)>,
    /// −Σ k l (c · q̇*).
    pub(super) pull: Vec<(u32, f64)>,
    pub(super) dragged: Vec<Dragged>,
}

/// A strain that a body's wall takes part in.
#[derive(Default)]
struct Strain {
    liquid: Vec<(usize, f64)>,
    bodies: Vec<(usize, f64)>,
    fixed: f64,
}

impl Strain {
    /// Adds a wall that moves as `along` says, times `by`.
    fn add(&mut self, along: Vec<(usize, f64)>, by: f64) {
        self.bodies.extend(along.into_iter().map(|(dof, j)| (dof, by * j)));
    }

    /// Each degree of freedom once.
    fn tidy(&mut self) {
        self.bodies.sort_by_key(|e| e.0);
        self.bodies.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
    }
}

impl Touched {
    fn outer(&mut self, along: &[(usize, f64)], by: f64) {
        for (n, &(i, ci)) in along.iter().enumerate() {
            self.stiffness.extend(along[..=n].iter().map(|&(j, cj)| (i as u32, j as u32, by * ci * cj)));
        }
    }

    fn enter(&mut self, k: f64, mut strain: Strain, velocity: &[f64]) {
        strain.tidy();
        let moving: f64 = strain.bodies.iter().map(|&(dof, c)| c * velocity[dof]).sum();
        for &(dof, c) in &strain.bodies {
            self.force.push((dof as u32, -k * c * (moving + strain.fixed)));
            self.coupling.extend(strain.liquid.iter().map(|&(slot, l)| (slot as u32, dof as u32, k * l * c)));
        }
        self.pull.extend(strain.liquid.iter().map(|&(slot, l)| (slot as u32, -k * l * moving)));
        self.outer(&strain.bodies, k);
    }
}

/// What the strains of leaf `l` say, whose `channels` of stiffness are given.
pub(super) fn touched(
    system: &System,
    bodies: &Bodies,
    around: &Around,
    transform: Transform,
    (l, channels): (usize, &[f32]),
) -> Touched {
    let topology = &system.operator.topology;
    let origin: Coord = topology.origins()[l];
    let slot = |axis: usize, at: [i32; 3]| {
        let voxel = topology.reach(l, at)?;
        let slot = voxel / leaf::SIZE * FACES + axis * leaf::SIZE + voxel % leaf::SIZE;
        (system.operator.inverse_diagonal[slot] > 0.0).then_some(slot)
    };
    let centre =
        |axis: usize, at: [i32; 3]| (origin + Coord::from_array(at)).as_dvec3() - 0.5 * DVec3::AXES[axis];
    let motion =
        |number: u32, axis: usize, place: DVec3| (bodies.motion)(number, axis, transform.to_world(place));
    let owner = |axis: usize, at: [i32; 3]| match around.is_wall(axis, at) {
        true => around.owner(axis, at),
        false => 0,
    };
    let step = |mut at: [i32; 3], axis: usize, by: i32| {
        at[axis] += by;
        at
    };
    // A face at its middle, as it is in a strain.
    let face = |strain: &mut Strain, axis: usize, at: [i32; 3], by: f64| {
        if !around.is_wall(axis, at) {
            strain.liquid.extend(slot(axis, at).map(|slot| (slot, by)));
            return;
        }
        match around.owner(axis, at) {
            0 => strain.fixed += by * around.wall(axis, at),
            number => strain.add(motion(number, axis, centre(axis, at)), by),
        }
    };
    let mut out = Touched::default();
    for n in 0..leaf::SIZE {
        let at = leaf::local(n);
        let channel = |c: usize| f64::from(channels[c * leaf::SIZE + n]);
        let k = channel(CELL);
        for a in (0..3).filter(|_| k > 0.0) {
            let above = step(at, a, 1);
            if owner(a, at) > 0 || owner(a, above) > 0 {
                let mut strain = Strain::default();
                face(&mut strain, a, at, -1.0);
                face(&mut strain, a, above, 1.0);
                out.enter(k, strain, bodies.velocity);
            }
        }
        for c in (0..3).filter(|&c| channel(EDGE + c) > 0.0) {
            let (a, b) = across(c);
            let halves = [(a, b, channel(FACTOR + 2 * c)), (b, a, channel(FACTOR + 2 * c + 1))];
            let is_body =
                |&(a, b, _): &(usize, usize, f64)| owner(a, at) > 0 || owner(a, step(at, b, -1)) > 0;
            if !halves.iter().any(is_body) {
                continue;
            }
            let mut strain = Strain::default();
            for (a, b, factor) in halves {
                let below = step(at, b, -1);
                let (low_wall, high_wall) = (around.is_wall(a, below), around.is_wall(a, at));
                if low_wall == high_wall {
                    face(&mut strain, a, below, -factor);
                    face(&mut strain, a, at, factor);
                    continue;
                }
                let (inside, outside, sign) =
                    if low_wall { (at, below, factor) } else { (below, at, -factor) };
                strain.liquid.extend(slot(a, inside).map(|slot| (slot, sign)));
                let way = 1.0 / factor;
                match around.owner(a, outside) {
                    0 => strain.fixed -= sign * around.wall_between(a, inside, outside, way),
                    number => {
                        let (near, far) = (centre(a, inside), centre(a, outside));
                        strain.add(motion(number, a, near + way * (far - near)), -sign);
                    }
                }
            }
            out.enter(channel(EDGE + c), strain, bodies.velocity);
        }
        for axis in 0..3 {
            let (number, slot) = (owner(axis, at), l * FACES + axis * leaf::SIZE + n);
            let mass = f64::from(system.operator.mass[slot]);
            if number == 0 || mass <= 0.0 {
                continue;
            }
            let [drag, _] = system.drag[slot].map(f64::from);
            if drag > 0.0 {
                let mut strain = Strain::default();
                strain.add(motion(number, axis, centre(axis, at)), 1.0);
                strain.tidy();
                let weight = mass * drag / (mass + drag);
                out.outer(&strain.bodies, weight);
                out.dragged.push(Dragged { slot, weight, along: strain.bodies });
            } else if around.is_closed(axis, at) {
                out.outer(&motion(number, axis, centre(axis, at)), mass);
            }
        }
    }
    fold(&mut out.stiffness);
    fold(&mut out.coupling);
    out
}

/// Sorts entries by place and sums those of one place, in the order in which they stand.
pub(super) fn fold(entries: &mut Vec<(u32, u32, f64)>) {
    entries.sort_by_key(|e| (e.0, e.1));
    entries.dedup_by(|next, kept| {
        let same = (next.0, next.1) == (kept.0, kept.1);
        if same {
            kept.2 += next.2;
        }
        same
    });
}
