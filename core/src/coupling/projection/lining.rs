//! The liquid between a body's walls and the planes of faces that the pressure presses on.

use super::covered::Covered;
use crate::coupling::air::regions::{LABEL_SOLID, Regions};
use crate::coupling::bodies::{Bodies, Body, Pieces};
use crate::coupling::fields::LiquidFields;
use crate::coupling::mass::Mass;
use crate::grid::rows::Rows;
use crate::grid::{Coord, leaf};
use crate::levelset::open_volume;
use crate::solid::{is_shared, owners_of_cell};
use glam::IVec3;
use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;
use std::borrow::Cow;

/// The lining of a body with k degrees of freedom: liquid that moves with its walls.
///
/// Faces measure a body by its sections with the planes of faces. What a section misses or has too much of is a layer
/// of liquid of up to half a voxel on a flat wall, of volume h³ δ in a cell, and it moves with the wall:
///
/// ```text
/// δ_i = V − ½ (α_low + α_high)    V: open share of the cell; α: of its two faces across axis i
/// S = Σ ρ h³ δ_i J_i J_iᵀ         J_i: velocity of the wall along axis i, per unit of each degree of freedom
/// ```
///
/// Σ δ over a column of cells is its open volume less that of its sections, so with the lining a body displaces exactly its own
/// volume, wherever on the lattice it lies. S is added to the mass of the body, what forces give to the liquid to its
/// momentum. A layer that the sections have too much of counts negative.
///
/// Volume fractions of dual cells in place of α [Batty et al. 2007] push a body as exactly; but they need pressures inside it,
/// let liquid through plates thinner than two voxels, and move it across slopes.
///
/// Where another solid covers a wall, the lining reaches from the wall to the cells whose pressure it has ([`Covered`]).
pub(super) struct Lining {
    /// S, k × k, row-major, in units of mass.
    mass: Vec<f64>,
    /// Σ ρ h³ δ_i J_i · (what forces gave to the liquid, m/s): impulse along each degree of freedom.
    impulse: Vec<f64>,
}

impl Lining {
    /// The linings of all bodies that do not deform; `near`: the leaves whose cells touch bodies' faces.
    pub(super) fn of_all(
        fields: &LiquidFields,
        regions: &Regions,
        bodies: &Bodies,
        near: &[Coord],
        covered: &Covered,
    ) -> Vec<Self> {
        let none = |body: &Body| {
            let k = match body.pieces {
                Pieces::Rigid(_) => body.velocity.len(),
                Pieces::Skin(_) => 0,
            };
            Self { mass: vec![0.0; k * k], impulse: vec![0.0; k] }
        };
        let mut linings: Vec<Self> = bodies.bodies.iter().map(none).collect();
        // A mass that moves with a wall, and a pull on the wall besides, kg m/s.
        let mut add = |(mass, pull): (f64, f64), axis: usize, cell: Coord, owner: u32| {
            let Some((body, piece)) = bodies.of_number(owner) else { return };
            let Some(piece) = bodies.bodies[body].pieces.rigid().get(piece) else { return };
            let along: Vec<f64> = piece.along(axis, fields.transform.to_world(cell.as_dvec3())).collect();
            let pull = mass * fields.kick_at(cell)[axis] + pull;
            let Self { mass: all, impulse } = &mut linings[body];
            for ((row, impulse), by) in all.chunks_exact_mut(along.len().max(1)).zip(impulse).zip(&along) {
                row.iter_mut().zip(&along).for_each(|(entry, j)| *entry += mass * by * j);
                *impulse += by * pull;
            }
        };
        for layer in layers(fields, regions, bodies, near) {
            add((layer.mass, 0.0), layer.axis, layer.cell, bodies.owner.get(layer.axis, layer.face));
        }
        let whole = fields.voxel_size().powi(3);
        for (cell, body) in
            covered.cells().iter().flat_map(|cell| cell.bodies(bodies).into_iter().map(move |b| (cell, b)))
        {
            let of_body = |number: u32| bodies.of_number(number).is_some_and(|(b, _)| b == body);
            let Some((owners, left)) = cell.shared(body, bodies) else { continue };
            // What presses here lies elsewhere: the liquid on the way there belongs to the lining.
            let way = cell.way();
            for (axis, owners) in owners.iter().enumerate() {
                let closed = owners.iter().filter(|&&number| of_body(number)).count() as f64;
                let defect = cell.density * (left - 1.0 + 0.5 * closed) / closed;
                for (side, &number) in owners.iter().enumerate().filter(|(_, number)| of_body(**number)) {
                    let sign = if side == 1 { 1.0 } else { -1.0 };
                    let kick = fields.kick_at(cell.at);
                    let across = way.dot(kick) - way[axis] * kick[axis];
                    add((whole * (defect + sign * way[axis]), whole * sign * across), axis, cell.at, number);
                }
            }
        }
        linings
    }

    /// The body with its lining: the inverse of its mass, row-major, and its velocity without the solve. `None` unless M
    /// is k × k, symmetric and positive definite.
    ///
    /// Where the sections have too much of a light body, less of S counts as mass, so that what is left of M is at
    /// least [`LEAST_MASS`] of it; the impulse counts whole.
    pub(super) fn line(&self, body: &Body) -> Option<(Vec<f64>, Vec<f64>)> {
        let k = body.velocity.len();
        if k == 0 {
            return Some((Vec::new(), Vec::new()));
        }
        let mass = match &body.mass {
            Mass::Dense(mass) => Cow::Borrowed(mass),
            Mass::Sparse(mass) => Cow::Owned(mass.dense()),
        };
        if mass.len() != k * k || body.pieces.rigid().iter().any(|p| p.twists.len() != k) {
            return None;
        }
        let mass = DMatrix::from_row_slice(k, k, &mass);
        if (&mass - mass.transpose()).amax() > 1e-9 * mass.amax() {
            return None;
        }
        let factor = mass.clone().cholesky()?.unpack();
        let lining = DMatrix::from_row_slice(k, k, &self.mass);
        let relative = factor.solve_lower_triangular(&lining)?.transpose();
        let relative = factor.solve_lower_triangular(&relative)?;
        let least = (0.5 * (&relative + relative.transpose())).symmetric_eigenvalues().min();
        let share = if least < LEAST_MASS - 1.0 { (LEAST_MASS - 1.0) / least } else { 1.0 };
        let lined = (&mass + share * &lining).cholesky()?;
        let inverse = lined.inverse();
        let inverse = 0.5 * (&inverse + inverse.transpose());
        let velocity = match &body.before {
            // The liquid at its walls moves as they do, whatever moves them.
            None => body.velocity.clone(),
            Some(before) if before.len() == k => {
                let own = mass * DVector::from_column_slice(&body.velocity);
                let at_walls = share * lining * DVector::from_column_slice(before);
                let momentum = own + at_walls + DVector::from_column_slice(&self.impulse);
                (&inverse * momentum).as_slice().to_vec()
            }
            Some(_) => return None,
        };
        let inverse: Vec<f64> = (0..k * k).map(|n| inverse[(n / k, n % k)]).collect();
        inverse.iter().chain(&velocity).all(|v| v.is_finite()).then_some((inverse, velocity))
    }
}

/// The liquid of one cell between a wall and the plane of a face.
#[derive(Clone, Copy)]
pub(super) struct Layer {
    /// ρ h³ δ, kg, of the share that the face has in it.
    pub(super) mass: f64,
    pub(super) axis: usize,
    pub(super) cell: Coord,
    /// The face, named by the cell above it.
    pub(super) face: Coord,
}

/// The layers in the cells of some leaves, those of all solids, in the order of the cells.
pub(super) fn layers(
    fields: &LiquidFields,
    regions: &Regions,
    bodies: &Bodies,
    near: &[Coord],
) -> Vec<Layer> {
    let of_leaf = |&origin: &Coord| {
        let mut layers = Vec::new();
        let Some(labels) = regions.of_leaf(origin) else { return layers };
        let (open, owner) = (Rows::faces(fields.left_by_solids(), origin), Rows::faces(bodies.owner, origin));
        for n in (0..leaf::SIZE).filter(|&n| labels[n] < LABEL_SOLID) {
            let faces: [[f32; 2]; 3] =
                std::array::from_fn(|a| [open[a].at(n), open[a].at_behind(n, 2 * a + 1)]);
            if faces.as_flattened().iter().any(|&alpha| alpha < 1.0) {
                let cell = origin + IVec3::from_array(leaf::local(n));
                layers_of_cell(fields, bodies, cell, (faces, owners_of_cell(&owner, n)), &mut layers);
            }
        }
        layers
    };
    near.par_iter().map(of_leaf).collect::<Vec<_>>().concat()
}

/// The layers of a cell; α of its lower and upper face across each axis, and their owners.
///
/// Where several solids share the cell, those of each body are its own: α and V are what it leaves, with others or without.
fn layers_of_cell(
    fields: &LiquidFields,
    bodies: &Bodies,
    cell: Coord,
    (faces, owners): ([[f32; 2]; 3], [[u32; 2]; 3]),
    layers: &mut Vec<Layer>,
) {
    let whole = fields.density.at(cell) * fields.voxel_size().powi(3);
    let volume = f64::from(bodies.left_by_first.get(cell));
    let mut add = |of: &dyn Fn(u32) -> bool, volume: f64| {
        for axis in 0..3 {
            let closed = |side: usize| match of(owners[axis][side]) {
                true => 1.0 - f64::from(faces[axis][side]),
                false => 0.0,
            };
            let closed = [closed(0), closed(1)];
            let defect = volume - 1.0 + 0.5 * (closed[0] + closed[1]);
            if closed[0] + closed[1] <= 0.0 || defect == 0.0 {
                continue;
            }
            for (side, closed_here) in closed.into_iter().enumerate().filter(|(_, closed)| *closed > 0.0) {
                let face = cell + side as i32 * IVec3::AXES[axis];
                let mass = whole * defect * closed_here / (closed[0] + closed[1]);
                layers.push(Layer { mass, axis, cell, face });
            }
        }
    };
    if !is_shared(&owners) {
        return add(&|_| true, volume);
    }
    let mut all: Vec<u32> = owners.as_flattened().to_vec();
    all.retain(|&number| bodies.of_number(number).is_some());
    all.sort_unstable();
    all.dedup();
    let others = match bodies.room {
        Some(_) => f64::from(bodies.left_by_others(cell)),
        // What of it is not open.
        None => 1.0 - (volume - f64::from(open_volume(faces))).clamp(0.0, 1.0),
    };
    for (n, number) in all.into_iter().enumerate() {
        add(&|owner| owner == number, if n == 0 { volume } else { others });
    }
}

/// Least share of a body's mass that is left beside a lining that counts negative.
pub(super) const LEAST_MASS: f64 = 0.5;
