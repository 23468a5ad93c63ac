//! Bodies that a viscous liquid drags: their motion is unknown together with the liquid's velocity.
//!
//! A strain at a wall reads the wall's velocity J q̇ where the wall belongs to a body. With q̇ = q̇* + δ free, the energy of
//! the step ([`super::stencil`]) gets ½ δᵀ M δ, and its minimum is
//!
//! ```text
//! ( A   B ) ( u )   ( M u* + walls − Σ k l (c · q̇*) )     strain = l · u + c · q̇ + p    l: of liquid faces, c = J: of bodies,
//! ( Bᵀ  K̂ ) ( δ ) = ( f                             )     K̂ = M / h³ + Σ k c cᵀ          p: of other walls
//! ```
//!
//! with B = Σ k l cᵀ and f = −Σ k c (c · q̇* + p): symmetric and positive definite, so that no step length and no viscosity makes
//! it unstable, and light bodies need no care. δ is eliminated: (A − B P Bᵀ) u = …, where P is K̂⁻¹ on the motions that joints
//! and contacts allow. No slip is the strain's, so a rigid motion of liquid and bodies together costs nothing, and what the
//! liquid loses in momentum the bodies gain.
//!
//! Faces that only their wall drags on are eliminated too: k m / (k + m) of each pulls on the body. Liquid of closed faces
//! moves with the body and counts with its mass.

mod parts;
mod strains;

use super::Error;
use super::operator::FACES;
use super::stencil::Assembly;
use crate::grid::FaceGrid;
use glam::DVec3;
use parts::{Part, parts};
use strains::{Dragged, fold, touched};

/// The velocity of a wall along an axis at a place (world, m) of a solid, by its number: (degree of freedom, m/s per unit).
pub type Motion<'a> = &'a (dyn Fn(u32, usize, DVec3) -> Vec<(usize, f64)> + Sync);

/// The bodies that a viscous liquid drags. Their degrees of freedom are numbered from the first body's to the last one's.
#[derive(Clone, Copy)]
pub struct Bodies<'a> {
    /// Solid that a face belongs to, counted from 1; 0: to none.
    pub owner: &'a FaceGrid<u32>,
    /// Whether a body moves with each solid, by its number.
    pub moves: &'a [bool],
    /// How the walls move with the bodies.
    pub motion: Motion<'a>,
    /// q̇ before.
    pub velocity: &'a [f64],
    /// M, (row, column, value): its lower triangle, positive definite. Its kinetic energy ½ q̇ᵀ M q̇ is in J.
    pub mass: &'a [(u32, u32, f64)],
    /// Joints and contacts that hold.
    pub rows: &'a [Row],
}

/// A joint or contact that holds: J δ + soft λ = 0, so that what it kept before it keeps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// J: (degree of freedom, coefficient).
    pub entries: Vec<(usize, f64)>,
    /// Speed by impulse with which it gives way, m/s per N s; 0: it is rigid.
    pub soft: f64,
}

/// What viscosity did to bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pushed {
    /// Change of q̇.
    pub change: Vec<f64>,
    /// λ of each row, N s.
    pub rows: Vec<f64>,
}

impl Bodies<'_> {
    /// The owners of faces, without solids that no body moves with.
    pub(super) fn owned(&self) -> FaceGrid<u32> {
        let mut owner = self.owner.clone();
        let moves = |number: u32| self.moves.get((number as usize).wrapping_sub(1)) == Some(&true);
        owner.values.iter_mut().flatten().filter(|n| !moves(**n)).for_each(|n| *n = 0);
        owner
    }
}

/// The bodies in a step: B, P and what pulls on them.
pub(super) struct Attached {
    /// Faces that B speaks of, ascending, the first entry of each, and the end.
    faces: Vec<u32>,
    start: Vec<usize>,
    entries: Vec<(usize, f64)>,
    /// First of `faces` in each leaf, and the end.
    first: Vec<usize>,
    parts: Vec<Part>,
    velocity: Vec<f64>,
    force: Vec<f64>,
    pull: Vec<(u32, f64)>,
    dragged: Vec<Dragged>,
    rows: Vec<Row>,
    /// h³, m³.
    voxel: f64,
}

impl Attached {
    /// From the strains at the bodies' walls.
    pub(super) fn new(assembly: &Assembly, bodies: &Bodies) -> Result<Self, Error> {
        let (system, transform) = (&assembly.system, assembly.transform());
        let all = assembly
            .near_bodies(|l, around, channels| touched(system, bodies, around, transform, (l, channels)));
        let size = bodies.velocity.len();
        let (mut coupling, mut stiffness, mut pull) = (Vec::new(), Vec::new(), Vec::new());
        let (mut force, mut dragged) = (vec![0.0; size], Vec::new());
        for of_leaf in all {
            coupling.extend(of_leaf.coupling);
            stiffness.extend(of_leaf.stiffness);
            pull.extend(of_leaf.pull);
            dragged.extend(of_leaf.dragged);
            of_leaf.force.into_iter().for_each(|(dof, v)| force[dof as usize] += v);
        }
        fold(&mut coupling);
        fold(&mut stiffness);
        let mut faces: Vec<u32> = coupling.iter().map(|e| e.0).collect();
        faces.dedup();
        let start =
            faces.iter().map(|&f| coupling.partition_point(|e| e.0 < f)).chain([coupling.len()]).collect();
        let leaves = system.operator.topology.len();
        let first = (0..=leaves).map(|l| faces.partition_point(|&f| (f as usize) < l * FACES)).collect();
        let voxel = transform.voxel_size().powi(3);
        Ok(Self {
            faces,
            start,
            entries: coupling.into_iter().map(|(_, dof, v)| (dof as usize, v)).collect(),
            first,
            parts: parts(bodies, &stiffness, voxel)?,
            velocity: bodies.velocity.to_vec(),
            force,
            pull,
            dragged,
            rows: bodies.rows.to_vec(),
            voxel,
        })
    }

    fn entries_of(&self, face: usize) -> &[(usize, f64)] {
        &self.entries[self.start[face]..self.start[face + 1]]
    }

    /// f, with what the faces that only their wall drags on pull; `u`: their velocity before, m/s, by slot.
    pub(super) fn force(&self, u: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut force = self.force.clone();
        for Dragged { slot, weight, along } in &self.dragged {
            let slip = u(*slot) - along.iter().map(|&(dof, j)| j * self.velocity[dof]).sum::<f64>();
            along.iter().for_each(|&(dof, j)| force[dof] += weight * j * slip);
        }
        force
    }

    /// Adds −Σ k l (c · q̇*) to the right side.
    pub(super) fn enter_pull(&self, right_side: &mut [f64]) {
        self.pull.iter().for_each(|&(slot, v)| right_side[slot as usize] += v);
    }

    /// Bᵀ u.
    pub(super) fn felt(&self, u: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.velocity.len()];
        for (n, &face) in self.faces.iter().enumerate() {
            let u = u[face as usize];
            self.entries_of(n).iter().for_each(|&(dof, b)| out[dof] += b * u);
        }
        out
    }

    /// Subtracts B w from a leaf's values, and calls `told` with the face's place in the leaf and what was subtracted.
    pub(super) fn subtract(&self, l: usize, w: &[f64], image: &mut [f64], mut told: impl FnMut(usize, f64)) {
        for n in self.first[l]..self.first[l + 1] {
            let f = self.faces[n] as usize - l * FACES;
            let pulled: f64 = self.entries_of(n).iter().map(|&(dof, b)| b * w[dof]).sum();
            image[f] -= pulled;
            told(f, pulled);
        }
    }

    /// P f.
    pub(super) fn yields(&self, force: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; force.len()];
        for part in &self.parts {
            let (v, _) = part.yields(force);
            part.freedoms.iter().zip(v).for_each(|(&dof, v)| out[dof] = v);
        }
        out
    }

    /// The change of the bodies' motion under `force`, and what the rows give.
    pub(super) fn pushed(&self, force: &[f64]) -> Pushed {
        let mut out = Pushed { change: vec![0.0; force.len()], rows: vec![0.0; self.rows.len()] };
        for part in &self.parts {
            let (v, given) = part.yields(force);
            part.freedoms.iter().zip(v).for_each(|(&dof, v)| out.change[dof] = v);
            for (bound, given) in part.bound.iter().zip(given) {
                bound.rows.iter().for_each(|&(r, c)| out.rows[r] -= self.voxel * given * c);
            }
        }
        for (row, given) in self.rows.iter().zip(&mut out.rows).filter(|(row, _)| row.soft > 0.0) {
            *given = -row.entries.iter().map(|&(dof, j)| j * out.change[dof]).sum::<f64>() / row.soft;
        }
        out
    }

    /// The velocity of the wall of each face that only a body's wall drags on, m/s, with its slot.
    pub(super) fn walls_of_dragged(&self, pushed: &Pushed) -> impl Iterator<Item = (usize, f64)> {
        let now = |dof: usize| self.velocity[dof] + pushed.change[dof];
        self.dragged.iter().map(move |d| (d.slot, d.along.iter().map(|&(dof, j)| j * now(dof)).sum()))
    }
}
