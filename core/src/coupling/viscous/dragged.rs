//! The bodies of a projection as viscosity drags them.

use crate::coupling::bodies::{Bodies, Body, Constraint, Moved, Pieces};
use crate::coupling::mass::Mass;
use crate::coupling::projection::Projection;
use crate::grid::FaceGrid;
use crate::mesh::NearestTriangle;
use crate::pressure::Progress;
use crate::viscosity::{self, Info, Params, Pushed, Row, ViscousLiquid, diffuse_with};
use glam::DVec3;

/// The bodies as the first projection left them.
pub(super) struct Drag<'a> {
    bodies: Bodies<'a>,
    /// First degree of freedom of each body among those of all.
    first: Vec<usize>,
    /// Of the bodies that deform.
    skins: Vec<Option<NearestTriangle>>,
    velocity: Vec<f64>,
    /// Which joints and contacts hold, and as viscosity knows them.
    holding: Vec<usize>,
    rows: Vec<Row>,
}

impl<'a> Drag<'a> {
    /// `first`: the projection that moved them.
    pub(super) fn new(bodies: Bodies<'a>, first: &Projection) -> Self {
        let mut size = 0;
        let mut of_body = Vec::with_capacity(bodies.bodies.len());
        for body in bodies.bodies {
            of_body.push(size);
            size += body.velocity.len();
        }
        let skin = |body: &Body| match &body.pieces {
            Pieces::Rigid(_) => None,
            Pieces::Skin(skin) => Some(NearestTriangle::of(&skin.triangles, |p| skin.points[p as usize])),
        };
        // A contact that does not press is open to what comes: the second projection looks after it.
        let holds = |(row, given): (&Constraint, f64)| row.range[0] < given && given < row.range[1];
        let impulses = first.constraints.impulses.iter().copied();
        let holding: Vec<usize> = bodies
            .constraints
            .iter()
            .zip(impulses)
            .enumerate()
            .filter_map(|(r, pair)| holds(pair).then_some(r))
            .collect();
        let row = |&r: &usize| {
            let Constraint { entries, soft, .. } = &bodies.constraints[r];
            let entries = entries.iter().map(|&(body, freedom, j)| (of_body[body] + freedom, j)).collect();
            Row { entries, soft: *soft }
        };
        Self {
            bodies,
            skins: bodies.bodies.iter().map(skin).collect(),
            velocity: first.bodies.iter().flat_map(|moved| moved.velocity.iter().copied()).collect(),
            rows: holding.iter().map(row).collect(),
            holding,
            first: of_body,
        }
    }

    /// J of a wall of a solid along an axis at a place (world, m).
    fn motion(&self, number: u32, axis: usize, place: DVec3) -> Vec<(usize, f64)> {
        let Some((body, piece)) = self.bodies.of_number(number) else { return Vec::new() };
        let first = self.first[body];
        match (&self.bodies.bodies[body].pieces, &self.skins[body]) {
            (Pieces::Rigid(pieces), _) => {
                let Some(piece) = pieces.get(piece) else { return Vec::new() };
                let along = piece.along(axis, place).enumerate();
                along.filter(|(_, j)| *j != 0.0).map(|(n, j)| (first + n, j)).collect()
            }
            (Pieces::Skin(_), Some(tree)) => {
                let Some(nearest) = tree.nearest(place) else { return Vec::new() };
                let corners = nearest.points.into_iter().zip(nearest.weights);
                corners.filter(|(_, w)| *w != 0.0).map(|(p, w)| (first + 3 * p as usize + axis, w)).collect()
            }
            (Pieces::Skin(_), None) => Vec::new(),
        }
    }

    /// The masses of all bodies: the lower triangle of each.
    fn mass(&self) -> Vec<(u32, u32, f64)> {
        let mut all = Vec::new();
        for (body, &first) in self.bodies.bodies.iter().zip(&self.first) {
            let (first, k) = (first as u32, body.velocity.len());
            match &body.mass {
                Mass::Dense(mass) => {
                    let lower = (0..k).flat_map(|i| (0..=i).map(move |j| (i, j)));
                    let entry =
                        |(i, j): (usize, usize)| (first + i as u32, first + j as u32, mass[i * k + j]);
                    all.extend(lower.map(entry).filter(|e| e.2 != 0.0));
                }
                Mass::Sparse(mass) => {
                    all.extend(mass.entries().iter().map(|&(i, j, m)| (first + i, first + j, m)));
                }
            }
        }
        all
    }

    /// Lets viscosity act on the liquid and on them.
    pub(super) fn diffuse(
        &self,
        liquid: &ViscousLiquid,
        u: &mut FaceGrid<f32>,
        dt: f64,
        params: &Params,
        progress: Progress,
    ) -> Result<(Info, Pushed), viscosity::Error> {
        let moves: Vec<bool> = self.bodies.pieces.iter().map(Option::is_some).collect();
        let bodies = viscosity::Bodies {
            owner: self.bodies.owner,
            moves: &moves,
            motion: &|number, axis, place| self.motion(number, axis, place),
            velocity: &self.velocity,
            mass: &self.mass(),
            rows: &self.rows,
        };
        diffuse_with(liquid, Some(&bodies), u, dt, params, progress)
    }

    /// Adds what viscosity did to them to what the first projection gave.
    pub(super) fn give(&self, pushed: &Pushed, first: &mut Projection) {
        let mut held = vec![0.0; self.velocity.len()];
        for ((&r, row), &given) in self.holding.iter().zip(&self.rows).zip(&pushed.rows) {
            first.constraints.impulses[r] += given;
            row.entries.iter().for_each(|&(dof, j)| held[dof] += given * j);
        }
        for ((moved, body), &at) in first.bodies.iter_mut().zip(self.bodies.bodies).zip(&self.first) {
            let change = &pushed.change[at..at + body.velocity.len()];
            moved.velocity.iter_mut().zip(change).for_each(|(v, change)| *v += change);
            let gained = body.mass.times(change);
            for ((impulse, gained), held) in moved.impulse.iter_mut().zip(gained).zip(&held[at..]) {
                *impulse += gained - held;
            }
        }
    }

    /// The bodies as they go on; the liquid at their walls moves as they do.
    pub(super) fn moved(&self, moved: &[Moved]) -> Vec<Body> {
        let went_on = |(body, moved): (&Body, &Moved)| Body {
            velocity: moved.velocity.clone(),
            before: Some(moved.velocity.clone()),
            ..body.clone()
        };
        self.bodies.bodies.iter().zip(moved).map(went_on).collect()
    }

    /// What is left of joints and contacts that have given these impulses: all of them together do not pull.
    pub(super) fn left(&self, given: &[f64]) -> Vec<Constraint> {
        let left = |(row, given): (&Constraint, &f64)| Constraint {
            range: row.range.map(|end| end - given),
            wanted: row.wanted - row.soft * given,
            pressed: 0.0,
            ..row.clone()
        };
        self.bodies.constraints.iter().zip(given).map(left).collect()
    }
}
