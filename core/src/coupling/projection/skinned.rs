//! A body that deforms, in the pressure system. Work and memory grow with the faces that it owns, not with faces times degrees
//! of freedom.

use super::assemble::AirUnknowns;
use super::flux::wall_flux_by_cell;
use super::gauge::Net;
use crate::coupling::air::regions::{LABEL_SOLID, Regions, component_of};
use crate::coupling::bodies::{Bodies, Skin};
use crate::coupling::fields::LiquidFields;
use crate::grid::{Coord, FaceGrid, Topology, leaf};
use crate::mesh::NearestTriangle;
use crate::pressure::{CELL, Column, PressureSystem};
use glam::IVec3;
use rayon::prelude::*;
use std::sync::Arc;

/// The faces of a body that deforms, and C.
pub(super) struct Skinned {
    /// Number of each face that it owns, counted from 1; 0 for others.
    number: FaceGrid<u32>,
    places: Vec<Place>,
    /// The leaves of the cells that its faces bound.
    near: Topology,
    /// First part of each degree of freedom, and the end.
    start: Vec<usize>,
    parts: Vec<Part>,
}

/// Where on the skin a face is: J of the face has these weights in the degrees of freedom of its axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    points: [u32; 3],
    weights: [f64; 3],
}

impl Place {
    /// (degree of freedom, weight) along an axis.
    pub(super) fn along(&self, axis: usize) -> impl Iterator<Item = (usize, f64)> + Clone + use<'_> {
        let pairs = self.points.iter().zip(&self.weights).filter(|(_, w)| **w != 0.0);
        pairs.map(move |(&p, &w)| (3 * p as usize + axis, w))
    }
}

/// Where a part of C stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    /// A cell of a near leaf, and the number of its liquid.
    Cell { leaf: u32, n: u32, liquid: u32 },
    /// An air region.
    Air(u32),
}

/// An entry of one column of C: outflow per unit of the degree of freedom, m².
#[derive(Clone, Copy, Debug)]
struct Part {
    at: At,
    outflow: f64,
}

impl Skinned {
    /// Finds the place of every face that the body owns, and what their motion prescribes. `own`: the leaves with its faces,
    /// `near`: those of their cells.
    pub(super) fn find(
        fields: &LiquidFields,
        regions: &Regions,
        bodies: &Bodies,
        body: usize,
        skin: &Skin,
        (own, near): (Vec<Coord>, Topology),
    ) -> Self {
        let (number, places) = places(fields, bodies, body, skin, own);
        let mut skinned = Self { number, places, near, start: Vec::new(), parts: Vec::new() };
        skinned.fill(fields, regions, 3 * skin.points.len());
        skinned
    }

    /// Where a lower face is, if the body owns it.
    pub(super) fn place(&self, axis: usize, face: Coord) -> Option<&Place> {
        self.places.get((self.number.get(axis, face) as usize).wrapping_sub(1))
    }

    /// The leaves of the cells that its faces bound.
    pub(super) fn near(&self) -> &Topology {
        &self.near
    }

    /// Finds C. Each cell has one face across an axis whose coordinate is even and one where it is odd, so six
    /// fluxes of unit motions tell what each face prescribes to the cells on both its sides.
    fn fill(&mut self, fields: &LiquidFields, regions: &Regions, size: usize) {
        let mut list: Vec<(usize, Part)> = Vec::new();
        for (axis, parity) in (0..6).map(|k| (k / 2, k as i32 % 2)) {
            let moves = |a: usize, c: Coord, number: u32| a == axis && c[axis] & 1 == parity && number > 0;
            let basis = FaceGrid::from_fn(self.number.topology.clone(), 0.0, |a, c| {
                f32::from(u8::from(moves(a, c, self.number.get(a, c))))
            });
            let unit = LiquidFields { vel_solid: &basis, ..*fields };
            let flux = wall_flux_by_cell(&unit, regions, self.near.origins());
            for ((l, &origin), cells) in self.near.origins().iter().enumerate().zip(&flux) {
                let Some(labels) = regions.of_leaf(origin) else { continue };
                for (n, &outflow) in cells.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                    let mut face = origin + IVec3::from_array(leaf::local(n));
                    face[axis] += (face[axis] & 1) ^ parity;
                    let at = match labels[n] {
                        air if air > LABEL_SOLID => At::Air(air as u32),
                        k => At::Cell { leaf: l as u32, n: n as u32, liquid: component_of(k) as u32 },
                    };
                    let place = self.place(axis, face).into_iter();
                    let each = place.flat_map(|place| place.along(axis));
                    list.extend(each.map(|(dof, w)| (dof, Part { at, outflow: w * outflow })));
                }
            }
        }
        // By degree of freedom, then by place; what one moves in one place through two faces is one entry.
        list.sort_by_key(|(dof, part)| (*dof, part.at));
        list.dedup_by(|next, kept| {
            let same = (next.0, next.1.at) == (kept.0, kept.1.at);
            if same {
                kept.1.outflow += next.1.outflow;
            }
            same
        });
        self.start = (0..=size).map(|dof| list.partition_point(|(d, _)| *d < dof)).collect();
        self.parts = list.into_iter().map(|(_, part)| part).collect();
    }

    fn columns_of(&self) -> impl Iterator<Item = &[Part]> {
        self.start.windows(2).map(|ends| &self.parts[ends[0]..ends[1]])
    }

    /// The air regions whose volume it changes.
    pub(super) fn air(&self) -> impl Iterator<Item = usize> + '_ {
        self.parts.iter().filter_map(|part| match part.at {
            At::Air(r) if part.outflow != 0.0 => Some(r as usize),
            _ => None,
        })
    }

    /// The net outflow of each degree of freedom.
    pub(super) fn nets(&self) -> impl Iterator<Item = Net> + '_ {
        self.columns_of().map(|column| {
            let mut net = Net::default();
            for part in column {
                net.all += part.outflow.abs();
                match part.at {
                    At::Cell { liquid, .. } => net.liquid.push((liquid as usize, part.outflow)),
                    At::Air(r) => net.air.push((r as usize, part.outflow)),
                }
            }
            net
        })
    }

    /// C over the unknowns of a system; bubbles without a row take none.
    pub(super) fn columns(&self, system: &PressureSystem, air: &AirUnknowns) -> Vec<Column> {
        let leaves: Vec<_> = self.near.origins().iter().map(|&o| system.topology.leaf_of(o)).collect();
        let slot = |leaf: u32, n: u32| {
            let slot = leaves[leaf as usize]? * leaf::SIZE + n as usize;
            (system.label[slot] == CELL).then_some(slot as u32)
        };
        let column = |parts: &[Part]| {
            let mut column = Column::default();
            for &Part { at, outflow } in parts {
                match at {
                    At::Cell { leaf, n, .. } => column.cells.extend(slot(leaf, n).map(|s| (s, outflow))),
                    At::Air(r) => column.supers.extend(air[r as usize].map(|b| (b, outflow))),
                }
            }
            column
        };
        self.columns_of().map(column).collect()
    }

    /// Writes its faces' velocities, m/s, where its degrees of freedom have `velocity`.
    pub(super) fn write(&self, velocity: &[f64], walls: &mut FaceGrid<f32>) {
        let topology = walls.topology.clone();
        for (axis, numbers) in self.number.values.iter().enumerate() {
            for (l, &origin) in self.number.topology.origins().iter().enumerate() {
                let Some(to) = topology.leaf_of(origin) else { continue };
                let to = &mut walls.values[axis][to * leaf::SIZE..][..leaf::SIZE];
                for (to, &number) in to.iter_mut().zip(&numbers[l * leaf::SIZE..]).filter(|(_, n)| **n > 0) {
                    let place = &self.places[number as usize - 1];
                    *to = place.along(axis).map(|(dof, w)| w * velocity[dof]).sum::<f64>() as f32;
                }
            }
        }
    }
}

/// The number of every face that a body owns, and its nearest place on the skin.
fn places(
    fields: &LiquidFields,
    bodies: &Bodies,
    body: usize,
    skin: &Skin,
    own: Vec<Coord>,
) -> (FaceGrid<u32>, Vec<Place>) {
    let tree = NearestTriangle::of(&skin.triangles, |p| skin.points[p as usize]);
    let mut number = FaceGrid::new(Arc::new(Topology::new(own)), 0u32);
    let of_leaf = |&origin: &Coord| {
        let mut found: Vec<(usize, usize, Place)> = Vec::new();
        for (axis, n) in (0..3 * leaf::SIZE).map(|k| (k / leaf::SIZE, k % leaf::SIZE)) {
            let cell = origin + IVec3::from_array(leaf::local(n));
            if bodies.of_face(axis, cell).is_none_or(|(owner, _)| owner != body) {
                continue;
            }
            let nearest = tree.nearest(fields.transform.face_centre(axis, cell));
            found.extend(nearest.map(|p| (axis, n, Place { points: p.points, weights: p.weights })));
        }
        found
    };
    let of_leaves: Vec<_> = number.topology.origins().par_iter().map(of_leaf).collect();
    let mut places = Vec::with_capacity(of_leaves.iter().map(Vec::len).sum());
    for (l, found) in of_leaves.into_iter().enumerate() {
        for (axis, n, place) in found {
            places.push(place);
            number.values[axis][l * leaf::SIZE + n] = places.len() as u32;
        }
    }
    (number, places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coupling::projection::assemble;
    use crate::coupling::projection::flux::{Walls, flux};
    use crate::coupling::projection::passes::air_unknowns;
    use crate::coupling::tests::{Scene, noise};
    use crate::grid::Grid;
    use glam::DVec3;
    use std::f64::consts::PI;

    const H: f64 = 0.01;

    /// Liquid and air in a box with a dented shell of points in it.
    fn dented(seed: u64) -> (Scene, Skin, FaceGrid<u32>) {
        let at = |k: u64| noise(seed * 100 + k);
        let (middle, air) =
            (DVec3::splat(0.08) + 0.01 * DVec3::new(at(0), at(1), at(2)), 0.05 + 0.02 * at(3));
        let body = move |p: DVec3| {
            let d = p - middle;
            d.length() - 0.035 - 0.012 * (d.x * 90.0 + seed as f64).sin() * (d.y * 70.0).cos()
        };
        let liquid = move |p: DVec3| (p.y - 0.11).max(air - p.distance(DVec3::new(0.02, 0.03, 0.12)));
        let scene = Scene::new(H, IVec3::splat(16), [true; 6], liquid, body, |_| DVec3::ZERO);
        let owner = FaceGrid::from_fn(scene.vel.topology.clone(), 0, |axis, c| {
            u32::from(body(scene.transform.face_centre(axis, c)) < 2.0 * H)
        });
        let (rings, around) = (5usize, 7usize);
        let point = |n: usize| {
            let (u, v) = (
                (n / around + 1) as f64 / (rings + 1) as f64 * PI,
                (n % around) as f64 / around as f64 * 2.0 * PI,
            );
            middle + 0.035 * DVec3::new(u.sin() * v.cos(), u.cos(), u.sin() * v.sin())
        };
        let squares = (0..(rings - 1) * around).map(|n| (n, n / around * around + (n + 1) % around));
        let halves = |(a, b): (usize, usize)| [[a, b, a + around], [b, b + around, a + around]];
        let triangles = squares.flat_map(halves).map(|t| t.map(|p| p as u32)).collect();
        (scene, Skin { points: (0..rings * around).map(point).collect(), triangles }, owner)
    }

    /// C q̇ is the outflow that the walls prescribe when the points move at q̇, for cells and for air: the law by which the
    /// pressure's work on the skin is what it takes from the liquid.
    #[test]
    fn what_the_points_prescribe_is_the_flux_of_their_walls() {
        for seed in 0..4 {
            let (scene, skin, owner) = dented(seed);
            let k = 3 * skin.points.len();
            let velocity: Vec<f64> = (0..k).map(|n| noise(seed * 1000 + n as u64)).collect();
            let bodies = [crate::coupling::bodies::Body { velocity: velocity.clone(), ..Default::default() }];
            let bodies = Bodies {
                bodies: &bodies,
                owner: &owner,
                left_by_first: &scene.volume,
                room: None,
                pieces: &[Some((0, 0))],
                constraints: &[],
            };
            let fields = scene.fields();
            let regions = Regions::find(&fields);
            assert!(regions.air.len() > 1);
            let own = owner.topology.origins().to_vec();
            let leaves = (own.clone(), Topology::new(own));
            let skinned = Skinned::find(&fields, &regions, &bodies, 0, &skin, leaves);

            let mut walls = FaceGrid::new(owner.topology.clone(), 0.0);
            skinned.write(&velocity, &mut walls);
            let moving = LiquidFields { vel_solid: &walls, ..fields };
            let topology = assemble::liquid_leaves(&regions);
            let still = FaceGrid::new(topology.clone(), 0.0);
            let prescribed = flux(&moving, &regions, &Walls::new(&moving, &regions), &topology, &still);

            let air = air_unknowns(&regions, &vec![true; regions.air.len()], [].iter());
            let system = assemble::system(&fields, &regions, &topology, &air, 0.01);
            let columns = skinned.columns(&system, &air);
            assert_eq!(columns.len(), k);
            let mut cells = Grid::new(topology.clone(), 0.0);
            let mut of_air = vec![0.0; regions.air.len()];
            for (column, v) in columns.iter().zip(&velocity) {
                column.cells.iter().for_each(|&(slot, c)| cells.values[slot as usize] += c * v);
                column.supers.iter().for_each(|&(b, c)| of_air[b as usize] += c * v);
            }
            let size = prescribed.cells.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            assert!(size > 0.1 * H * H, "the walls move");
            let off = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
            assert!(off(&cells.values, &prescribed.cells) < 1e-6 * size, "seed {seed}");
            assert!(prescribed.air.iter().any(|v| v.abs() > 0.1 * size), "the walls move air");
            assert!(
                off(&of_air, &prescribed.air) < 1e-5 * size,
                "seed {seed}: {of_air:?} {:?}",
                prescribed.air
            );

            // Into whole regions: what the null space of the pressure asks for.
            let mut liquid = vec![0.0; regions.liquid_cells.len()];
            for (net, v) in skinned.nets().zip(&velocity) {
                net.liquid.iter().for_each(|(l, c)| liquid[*l] += c * v);
            }
            assert!(off(&liquid, &prescribed.liquid) < 1e-5 * size, "seed {seed}");
        }
    }
}
