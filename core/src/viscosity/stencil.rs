//! The coefficients of the viscous step: masses of faces, stiffness of cells and edges, per leaf.
//!
//! Divided by the volume of a voxel, the energy is
//! ½ Σ_f m_f (u_f − u*_f)² + ½ Σ_c k_c Σ_a (Δ_a u_a)² + ½ Σ_e k_e (s Δ_b u_a + s' Δ_a u_b)² with
//! m = ρ w, k_c = 2 dt μ w_c / h², k_e = dt μ w_e / h² [Batty and Bridson 2008]. w are the liquid fractions of
//! [`volumes`](super::volumes). The factors s are 1 except at walls. There a difference reaches from the face beside
//! the wall only to the wall, θ voxels away, and s = 1/θ.

use super::operator::{CELL, EDGE, FACES, FACTOR, Operator, across};
use super::volumes::{HALO, HalfSteps, leaves};
use super::{Viscosity, ViscousLiquid, Walls};
use crate::grid::block::STRIDE;
use crate::grid::{Coord, FaceGrid, Grid, Topology, Transform, halo, leaf};
use crate::levelset::fractions::theta;
use crate::pressure::Density;
use rayon::prelude::*;
use std::sync::Arc;

/// Channels of stiffness per voxel: those of [`Operator::new`], and two factors per edge.
const CHANNELS: usize = 10;

/// The viscous step of a liquid.
pub(super) struct System {
    /// A = M + dt K.
    pub(super) operator: Operator,
    /// What moving walls add to the right side, kg/m³ · m/s, `[leaf][3][512]`; empty where none moves.
    pub(super) walls: Vec<f64>,
    /// Drag of the wall on partly open faces whose centre is in a solid, kg/m³, and the wall's velocity, m/s.
    pub(super) drag: Vec<[f32; 2]>,
}

/// A step as it was built, for what else its walls say.
pub(super) struct Assembly<'a> {
    pub(super) system: System,
    fields: Fields<'a>,
    /// `[leaf][CHANNELS][512]`.
    channels: Vec<f32>,
}

/// The coefficients of one leaf.
struct Leaf<'a> {
    mass: &'a mut [f32],
    channels: &'a mut [f32],
    /// −k times the walls' part of each strain: cell differences and edges, `[6][512]`; or nothing.
    pull: &'a mut [f64],
    drag: &'a mut [[f32; 2]],
    closed: &'a mut [bool],
}

/// The fields of the liquid on leaves that reach around every leaf of the system.
struct Fields<'a> {
    topology: Arc<Topology>,
    surface: Grid<f32>,
    solid: Grid<f32>,
    open: FaceGrid<f32>,
    /// Of solids that no body of the step is; 0 on faces of those that are.
    vel_solid: FaceGrid<f32>,
    density: Result<f64, Grid<f32>>,
    face_density: Option<FaceGrid<f32>>,
    viscosity: Result<f64, Grid<f32>>,
    /// Numbers of the solids that are bodies of the step; 0 elsewhere.
    owner: Option<FaceGrid<u32>>,
    liquid: &'a ViscousLiquid<'a>,
    /// dt / h², s/m².
    step: f64,
}

impl<'a> Fields<'a> {
    fn new(
        liquid: &'a ViscousLiquid<'a>,
        owner: Option<&FaceGrid<u32>>,
        topology: &Topology,
        dt: f64,
    ) -> Self {
        let topology = Arc::new(topology.dilated(1));
        let mut vel_solid = liquid.vel_solid.on(&topology);
        let owner = owner.map(|owner| owner.on(&topology));
        if let Some(owner) = &owner {
            for (walls, owner) in vel_solid.values.iter_mut().zip(&owner.values) {
                walls.iter_mut().zip(owner).filter(|(_, n)| **n > 0).for_each(|(v, _)| *v = 0.0);
            }
        }
        Self {
            surface: liquid.surface.on(&topology),
            solid: liquid.solid.on(&topology),
            open: liquid.open.on(&topology),
            vel_solid,
            owner,
            face_density: liquid.face_density.map(|rho| rho.on(&topology)),
            density: match liquid.density {
                Density::Uniform(rho) => Ok(rho),
                Density::PerCell(rho) => Err(rho.on(&topology)),
            },
            viscosity: match liquid.viscosity {
                Viscosity::Uniform(mu) => Ok(mu),
                Viscosity::PerCell(mu) => Err(mu.on(&topology)),
            },
            topology,
            liquid,
            step: dt / liquid.transform.voxel_size().powi(2),
        }
    }

    fn walls_move(&self) -> bool {
        self.vel_solid.values.iter().flatten().any(|&v| v != 0.0)
    }
}

/// Scratch of one task: blocks around a leaf.
#[derive(Default)]
pub(super) struct Around {
    half_steps: HalfSteps,
    surface: Vec<f32>,
    solid: Vec<f32>,
    open: [Vec<f32>; 3],
    vel_solid: [Vec<f32>; 3],
    /// Empty where there are no bodies.
    owner: [Vec<u32>; 3],
    density: Vec<f32>,
    face_density: [Vec<f32>; 3],
    viscosity: Vec<f32>,
}

impl Around {
    fn load(&mut self, fields: &Fields, l: usize) {
        let gather = |grid: &Grid<f32>, block: &mut Vec<f32>| {
            halo::gather::<HALO, _>(&fields.topology, &grid.values, l, grid.background, block);
        };
        gather(&fields.surface, &mut self.surface);
        gather(&fields.solid, &mut self.solid);
        for axis in 0..3 {
            let faces = |grid: &FaceGrid<f32>, block: &mut Vec<f32>| {
                halo::gather::<HALO, _>(&fields.topology, &grid.values[axis], l, grid.background, block);
            };
            faces(&fields.open, &mut self.open[axis]);
            faces(&fields.vel_solid, &mut self.vel_solid[axis]);
            if let Some(rho) = &fields.face_density {
                faces(rho, &mut self.face_density[axis]);
            }
            if let Some(owner) = &fields.owner {
                let (values, block) = (&owner.values[axis], &mut self.owner[axis]);
                halo::gather::<HALO, _>(&fields.topology, values, l, 0, block);
            }
        }
        let h = fields.liquid.transform.voxel_size() as f32;
        self.half_steps.load(&self.surface, &self.solid, &self.open, h);
        if let Err(rho) = &fields.density {
            gather(rho, &mut self.density);
        }
        if let Err(mu) = &fields.viscosity {
            gather(mu, &mut self.viscosity);
        }
    }

    /// Whether viscosity treats the lower face of a voxel as a wall: it is closed, or centred in a solid.
    pub(super) fn is_wall(&self, axis: usize, at: [i32; 3]) -> bool {
        self.is_closed(axis, at) || self.solid_at(axis, at) <= 0.0
    }

    /// Whether nothing flows through the lower face of a voxel.
    pub(super) fn is_closed(&self, axis: usize, at: [i32; 3]) -> bool {
        self.open[axis][halo::index(HALO, at)] <= 0.0
    }

    fn solid_at(&self, axis: usize, at: [i32; 3]) -> f32 {
        self.half_steps.solid(centre(axis, at))
    }

    /// Number of the body of the step that a lower face belongs to; 0: to none.
    pub(super) fn owner(&self, axis: usize, at: [i32; 3]) -> u32 {
        self.owner[axis].get(halo::index(HALO, at)).copied().unwrap_or(0)
    }

    /// Velocity of the wall on a face of a solid that no body of the step is, m/s.
    pub(super) fn wall(&self, axis: usize, at: [i32; 3]) -> f64 {
        f64::from(self.vel_solid[axis][halo::index(HALO, at)])
    }

    fn mean(block: &[f32], at: [i32; 3], steps: &[usize]) -> f64 {
        let i = halo::index(HALO, at);
        let sum: f64 = steps.iter().map(|step| f64::from(block[i - step])).sum();
        sum / steps.len() as f64
    }

    fn harmonic_mean(block: &[f32], at: [i32; 3], steps: &[usize]) -> f64 {
        let i = halo::index(HALO, at);
        let sum: f64 = steps.iter().map(|step| 1.0 / f64::from(block[i - step])).sum();
        steps.len() as f64 / sum
    }

    /// The difference across `b` of the faces of axis `a` on either side of an edge, as (factor, walls' part); `w` is
    /// the fraction of the edge that is liquid. `None` where slip removes the edge.
    fn difference(&self, a: usize, b: usize, at: [i32; 3], w: f32, walls: Walls) -> Option<(f32, f64)> {
        let mut below = at;
        below[b] -= 1;
        let (low_wall, high_wall) = (self.is_wall(a, below), self.is_wall(a, at));
        if !low_wall && !high_wall {
            return Some((1.0, 0.0));
        }
        if walls == Walls::Slip {
            return None;
        }
        if low_wall && high_wall {
            return Some((1.0, self.wall(a, at) - self.wall(a, below)));
        }
        let (inside, outside, sign) = if low_wall { (at, below, -1.0) } else { (below, at, 1.0) };
        // At least as far as the liquid is wide, so that a wall that grazes a face does not hold it like one that
        // crosses it.
        let distance = theta(-self.solid_at(a, inside), -self.solid_at(a, outside)).max(w);
        let wall = self.wall_between(a, inside, outside, f64::from(distance));
        Some((1.0 / distance, sign * wall / f64::from(distance)))
    }

    /// Velocity of the wall between the face `inside` the liquid and the one `outside`, `distance` voxels from the first, m/s; 0
    /// where it is a body's.
    pub(super) fn wall_between(
        &self,
        axis: usize,
        inside: [i32; 3],
        outside: [i32; 3],
        distance: f64,
    ) -> f64 {
        let far = self.wall(axis, outside);
        // What the wall is not does not say how it moves.
        match (self.owner(axis, outside), self.owner(axis, inside)) {
            (0, 0) => {
                let near = self.wall(axis, inside);
                near + distance * (far - near)
            }
            _ => far,
        }
    }
}

/// Centre of the lower `axis` face of a voxel, half steps.
fn centre(axis: usize, at: [i32; 3]) -> [i32; 3] {
    let mut q = at.map(|c| 2 * c);
    q[axis] -= 1;
    q
}

impl Leaf<'_> {
    fn assemble(&mut self, fields: &Fields, around: &Around, n: usize) {
        let at = leaf::local(n);
        let density = |axis: usize| {
            let on_face =
                around.face_density[axis].get(halo::index(HALO, at)).map_or(0.0, |&rho| f64::from(rho));
            match fields.density {
                _ if on_face > 0.0 => on_face,
                Ok(rho) => rho,
                Err(_) => Around::mean(&around.density, at, &[0, STRIDE[axis]]),
            }
        };
        let viscosity = |steps: &[usize]| match fields.viscosity {
            Ok(mu) => mu,
            Err(_) => Around::harmonic_mean(&around.viscosity, at, steps),
        };
        let cell = 2.0 * fields.step * viscosity(&[0]);
        let w = around.half_steps.fraction(at.map(|c| 2 * c));
        self.channels[CELL * leaf::SIZE + n] = (cell * f64::from(w)) as f32;
        for a in 0..3 {
            let slot = a * leaf::SIZE + n;
            let w = around.half_steps.fraction(centre(a, at));
            self.mass[slot] = (density(a) * f64::from(w)) as f32;
            self.closed[slot] = around.is_wall(a, at);
            let i = halo::index(HALO, at);
            let (alpha, wall) = (around.open[a][i], around.vel_solid[a][i]);
            if self.closed[slot] && alpha > 0.0 && w > 0.0 && fields.liquid.walls == Walls::NoSlip {
                // The open part is α wide. Its middle is α/2 away from the wall that drags on it, over the area of a
                // face.
                let mu = viscosity(&[0, STRIDE[a]]);
                self.drag[slot] = [(4.0 * fields.step * mu / f64::from(alpha)) as f32, wall];
            }
        }
        for c in 0..3 {
            let (a, b) = across(c);
            let mut q = centre(a, at);
            q[b] -= 1;
            let w = around.half_steps.fraction(q);
            let mu = viscosity(&[0, STRIDE[a], STRIDE[b], STRIDE[a] + STRIDE[b]]);
            let differences =
                [(a, b), (b, a)].map(|(a, b)| around.difference(a, b, at, w, fields.liquid.walls));
            let [Some((s, p)), Some((t, q))] = differences else { continue };
            let k = fields.step * mu * f64::from(w);
            self.channels[(EDGE + c) * leaf::SIZE + n] = k as f32;
            self.channels[(FACTOR + 2 * c) * leaf::SIZE + n] = s;
            self.channels[(FACTOR + 2 * c + 1) * leaf::SIZE + n] = t;
            if !self.pull.is_empty() {
                self.pull[(3 + c) * leaf::SIZE + n] = k * (p + q);
            }
        }
        if !self.pull.is_empty() {
            let k = f64::from(self.channels[CELL * leaf::SIZE + n]);
            for a in 0..3 {
                let mut above = at;
                above[a] += 1;
                let of = |c: [i32; 3]| match around.is_wall(a, c) {
                    true => f64::from(around.vel_solid[a][halo::index(HALO, c)]),
                    false => 0.0,
                };
                self.pull[a * leaf::SIZE + n] = k * (of(above) - of(at));
            }
        }
    }
}

impl System {
    /// Builds the step of `dt` seconds. `owner`: numbers of the solids that are bodies of the step; 0 elsewhere.
    pub(super) fn assemble<'a>(
        liquid: &'a ViscousLiquid<'a>,
        owner: Option<&FaceGrid<u32>>,
        dt: f64,
    ) -> Assembly<'a> {
        let topology = Arc::new(leaves(liquid.surface, liquid.transform.voxel_size() as f32));
        let fields = Fields::new(liquid, owner, &topology, dt);
        let n = topology.len();
        let (mut mass, mut channels) = (vec![0f32; n * FACES], vec![0f32; n * CHANNELS * leaf::SIZE]);
        let mut drag = vec![[0f32; 2]; n * FACES];
        let mut closed = vec![true; n * FACES];
        let per_leaf = if fields.walls_move() { 6 * leaf::SIZE } else { 0 };
        let mut pull = vec![0f64; n * per_leaf];
        let mut no_pull: Vec<&mut [f64]> = pull.chunks_mut(per_leaf.max(1)).collect();
        no_pull.resize_with(n, Default::default);
        let leaves = mass.par_chunks_mut(FACES).zip(channels.par_chunks_mut(CHANNELS * leaf::SIZE));
        let leaves = leaves.zip(drag.par_chunks_mut(FACES)).zip(closed.par_chunks_mut(FACES)).zip(no_pull);
        leaves.zip(topology.origins()).for_each_init(
            Around::default,
            |around, (((((mass, channels), drag), closed), pull), &origin)| {
                let Some(l) = fields.topology.leaf_of(origin) else { return };
                around.load(&fields, l);
                channels[FACTOR * leaf::SIZE..].fill(1.0);
                let mut out = Leaf { mass, channels, pull, drag, closed };
                (0..leaf::SIZE).for_each(|n| out.assemble(&fields, around, n));
            },
        );
        hold_rim(&topology, &mut channels);
        let operator = Operator::new(topology, mass, &channels, CHANNELS, &closed);
        let mut system = Self { operator, walls: Vec::new(), drag };
        system.walls = system.pull_of_walls(&channels, &pull);
        Assembly { system, fields, channels }
    }

    /// Faces that are solved for.
    pub(super) fn unknowns(&self) -> usize {
        self.operator.unknowns()
    }

    /// For faces that only their wall drags on: the share of its own velocity that the face keeps, and the wall's
    /// velocity, m/s: u = (m u* + k u_wall) / (m + k).
    pub(super) fn dragged(&self, slot: usize) -> Option<(f64, f64)> {
        let [k, wall] = self.drag[slot].map(f64::from);
        let m = f64::from(self.operator.mass[slot]);
        (k > 0.0).then(|| (m / (m + k), wall))
    }

    /// −Bᵀ k of the walls' part of the strains.
    fn pull_of_walls(&self, channels: &[f32], pull: &[f64]) -> Vec<f64> {
        if pull.is_empty() {
            return Vec::new();
        }
        let mut walls = vec![0f64; self.operator.mass.len()];
        walls.par_chunks_mut(FACES).enumerate().for_each(|(l, walls)| {
            for (f, out) in walls.iter_mut().enumerate() {
                let (a, at) = (f / leaf::SIZE, leaf::local(f % leaf::SIZE));
                let reach = |axis: usize, d: i32| {
                    let mut at = at;
                    at[axis] += d;
                    self.operator.topology.reach(l, at).map(|s| (s / leaf::SIZE, s % leaf::SIZE))
                };
                let of = |channel: usize, place: Option<(usize, usize)>| {
                    place.map_or(0.0, |(l, n)| pull[(l * 6 + channel) * leaf::SIZE + n])
                };
                let mut sum = of(a, reach(a, -1)) - of(a, reach(a, 0));
                for c in (0..3).filter(|&c| c != a) {
                    let (first, second) = across(c);
                    let (half, b) = if a == first { (0, second) } else { (1, first) };
                    for (place, sign) in [(reach(b, 0), 1.0), (reach(b, 1), -1.0)] {
                        let channel = FACTOR + 2 * c + half;
                        let s =
                            place.map_or(0.0, |(l, n)| channels[(l * CHANNELS + channel) * leaf::SIZE + n]);
                        sum += sign * f64::from(s) * of(3 + c, place);
                    }
                }
                *out = -sum;
            }
        });
        walls
    }
}

impl Assembly<'_> {
    /// Index space to world space.
    pub(super) fn transform(&self) -> Transform {
        self.fields.liquid.transform
    }

    /// What `f` says of each leaf near faces that bodies own: its number, what is around it, and its channels of stiffness.
    pub(super) fn near_bodies<R: Send>(&self, f: impl Fn(usize, &Around, &[f32]) -> R + Sync) -> Vec<R> {
        let Self { system, fields, channels } = self;
        let Some(owner) = &fields.owner else { return Vec::new() };
        let of_leaf = |around: &mut Around, (l, &origin): (usize, &Coord)| {
            let here = fields.topology.leaf_of(origin)?;
            let is_near = |&m: &u32| {
                let of = |axis: usize| &owner.values[axis][m as usize * leaf::SIZE..][..leaf::SIZE];
                m != leaf::ABSENT && (0..3).any(|axis| of(axis).iter().any(|&n| n > 0))
            };
            if !fields.topology.neighbours()[here].iter().any(is_near) {
                return None;
            }
            around.load(fields, here);
            Some(f(l, around, &channels[l * CHANNELS * leaf::SIZE..][..CHANNELS * leaf::SIZE]))
        };
        let leaves = system.operator.topology.origins().par_iter().enumerate();
        leaves.map_init(Around::default, of_leaf).flatten().collect()
    }
}

/// Edges and cells at the rim of the leaves, where a face is missing, get no stiffness.
fn hold_rim(topology: &Topology, channels: &mut [f32]) {
    channels.par_chunks_mut(CHANNELS * leaf::SIZE).enumerate().for_each(|(l, channels)| {
        for n in 0..leaf::SIZE {
            let at = leaf::local(n);
            let missing = |axis: usize, d: i32| {
                let mut at = at;
                at[axis] += d;
                topology.reach(l, at).is_none()
            };
            if (0..3).any(|a| missing(a, 1)) {
                channels[CELL * leaf::SIZE + n] = 0.0;
            }
            for c in 0..3 {
                let (a, b) = across(c);
                if missing(a, -1) || missing(b, -1) {
                    channels[(EDGE + c) * leaf::SIZE + n] = 0.0;
                }
            }
        }
    });
}
