//! The copies of a liquid on a device; collisions with solids are computed here, on the processor.

use super::Mover;
use crate::fluid::particles::cells::{CHUNK, Cells};
use crate::fluid::particles::{IndexFrame, Particles, Selection};
use crate::fluid::transport::advection::{AdvectionParams, Way, fastest_solid};
use crate::fluid::transport::collision::Sweep;
use crate::fluid::transport::transfer::{Transfer, VelocityTransfer};
use crate::grid::{FaceGrid, Topology};
use crate::levelset::SignedDistance;
use crate::solid::{Collider, Side, Solids};
use glam::Vec3;
use meniscus_kernels::cuda::{
    self, CellList, DeviceParticles, Exchange, Failure, Fate, Field, Frame, LeafTable, Newborn,
    ParticleArrays, SolidShape, SolidTable, Stamp, Stamped,
};
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::Arc;

/// A value and its stamp on the device; every new value gets a new stamp.
struct Stamps<T> {
    known: Vec<(Arc<T>, Stamp)>,
    next: u64,
}

impl<T> Stamps<T> {
    fn new() -> Self {
        Self { known: Vec::new(), next: 1 }
    }

    /// A new stamp for the value at index `n`.
    fn of(&mut self, n: usize, thing: &Arc<T>, same: impl Fn(&T, &T) -> bool) -> Stamp {
        match self.known.get(n) {
            Some((known, stamp)) if Arc::ptr_eq(known, thing) || same(known, thing) => *stamp,
            _ => {
                let stamp = Stamp::of(self.next);
                self.next += 1;
                self.known.truncate(n);
                self.known.push((thing.clone(), stamp));
                stamp
            }
        }
    }
}

/// The particles' copies on a device.
pub struct OnDevice<D: cuda::Device> {
    particles: DeviceParticles<D>,
    topologies: Stamps<Topology>,
    shapes: Stamps<SignedDistance>,
}

impl<D: cuda::Device> OnDevice<D> {
    /// No particles there yet.
    pub fn new(device: D) -> Self {
        let particles = DeviceParticles::new(device);
        Self { particles, topologies: Stamps::new(), shapes: Stamps::new() }
    }

    fn leaves<'a>(&mut self, topology: &'a Arc<Topology>) -> LeafTable<'a> {
        let stamp = self.topologies.of(0, topology, |a, b| a == b);
        LeafTable { stamp, origins: topology.origins(), neighbours: topology.neighbours() }
    }

    fn cells<'a>(&mut self, cells: &'a Cells) -> CellList<'a> {
        CellList { leaves: self.leaves(&cells.topology), start: Stamped::unknown(&cells.start) }
    }

    fn shape<'a>(&mut self, n: usize, collider: &'a Collider) -> SolidShape<'a> {
        let sdf = collider.sdf();
        let stamp = self.shapes.of(n, sdf, |_, _| false);
        let topology = &sdf.grid.topology;
        SolidShape {
            leaves: LeafTable { stamp, origins: topology.origins(), neighbours: topology.neighbours() },
            values: &sdf.grid.values,
            inside: sdf.inside.runs(),
            background: sdf.grid.background,
            to_index: collider.transform().linear.inverse().to_cols_array(),
            translation: collider.transform().translation.to_array(),
        }
    }
}

impl<D: cuda::Device> Mover for OnDevice<D> {
    type Error = Failure;

    fn advect(
        &mut self,
        particles: &mut Particles,
        way: &Way,
        solids: &Solids,
        params: &AdvectionParams,
    ) -> Result<Selection, Failure> {
        let (frame, origin) = (particles.frame(&way.transform), particles.origin);
        let h = way.transform.voxel_size();
        let fastest = fastest_solid(solids, origin, &particles.position, h);
        // Particles that leave the known velocity move with their own, as new particles do. On the device they are
        // treated as new ones.
        let alone = |(&id, &v): (&i64, &Vec3)| if way.outruns(v) { i64::MAX } else { id };
        let ids = match particles.velocity.par_iter().any(|&v| way.outruns(v)) {
            true => Cow::Owned(particles.id.par_iter().zip(&particles.velocity).map(alone).collect()),
            false => Cow::Borrowed(&particles.id),
        };
        let newest = ids.par_iter().any(|&id| id >= way.born_from);
        let newborn = newest.then(|| Newborn {
            id: Stamped::unknown(&ids),
            born_from: way.born_from,
            velocity: Stamped::unknown(&particles.velocity),
        });
        let there = cuda::Way {
            leaves: self.leaves(&way.velocity.topology),
            velocity: field(way.velocity),
            newborn,
            origin: origin.to_array(),
            step: way.dt as f32 * frame.per_metre,
        };
        let shapes: Vec<SolidShape> =
            solids.colliders.iter().enumerate().map(|(n, collider)| self.shape(n, collider)).collect();
        let side = |s: usize| if s.is_multiple_of(2) { solids.domain.min } else { solids.domain.max }[s / 2];
        let table = SolidTable {
            shapes: &shapes,
            side: std::array::from_fn(side),
            closed: solids.domain.sides.map(|s| s == Side::Closed),
            kills: solids.domain.sides.map(|s| s == Side::Kill),
            moving: fastest > 0.0,
            separation: params.separation * h,
            swept: fastest * way.dt,
        };
        let mut arrived = vec![Vec3::ZERO; particles.len()];
        self.particles.advect(Stamped::unknown(&particles.position), on_device(&frame), &there, &table)?;
        let fates = self.particles.fetch_arrivals(&mut arrived)?;
        let sweep = || Sweep::new(solids, params.separation * h, params.sweep_step * h, fastest, way.dt);
        Ok(land(particles, &frame, way, solids, (&arrived, &fates), sweep))
    }

    fn particles_to_faces(
        &mut self,
        particles: &Particles,
        transfer: &Transfer,
    ) -> Result<FaceGrid<f32>, Failure> {
        let Transfer { cells, transform, method } = transfer;
        let affine = *method == VelocityTransfer::Apic;
        let masses = particles.masses();
        let arrays = ParticleArrays {
            position: Stamped::unknown(&particles.position),
            velocity: Stamped::unknown(&particles.velocity),
            affine: affine.then(|| particles.affine.each_ref().map(|rows| Stamped::unknown(rows.as_slice()))),
            density: masses.as_ref().map(|masses| Stamped::unknown(masses.as_slice())),
        };
        let (list, frame) = (self.cells(cells), particles.frame(transform));
        self.particles.particles_to_faces(&list, &arrays, on_device(&frame), Stamp::NONE)?;
        let mut value = FaceGrid::new(cells.topology.clone(), 0.0);
        for (axis, values) in value.values.iter_mut().enumerate() {
            self.particles.fetch_carried(axis, values)?;
        }
        Ok(value)
    }

    fn faces_to_particles(
        &mut self,
        particles: &mut Particles,
        transfer: &Transfer,
        velocity: &FaceGrid<f32>,
        before: &FaceGrid<f32>,
    ) -> Result<(), Failure> {
        let Transfer { cells, transform, method } = transfer;
        let (list, frame) = (self.cells(cells), particles.frame(transform));
        let exchange = match *method {
            VelocityTransfer::Apic => Exchange::Apic,
            VelocityTransfer::Flip { flip } => {
                let velocity = Stamped::unknown(particles.velocity.as_slice());
                Exchange::Flip { flip, before: field(before), velocity }
            }
        };
        let (position, faces) = (Stamped::unknown(particles.position.as_slice()), field(velocity));
        let there = &mut self.particles;
        there.faces_to_particles(&list, position, on_device(&frame), &faces, &exchange, Stamp::NONE)?;
        // All or nothing: if the device fails, the processor starts from the same input.
        let mut fetched: [Vec<Vec3>; 4] = std::array::from_fn(|_| vec![Vec3::ZERO; particles.len()]);
        let [v, rows @ ..] = &mut fetched;
        there.fetch_velocity(v)?;
        for (axis, rows) in rows.iter_mut().enumerate() {
            there.fetch_affine(axis, rows)?;
        }
        let [v, rows @ ..] = fetched;
        (particles.velocity, particles.affine) = (v, rows);
        Ok(())
    }
}

fn on_device(frame: &IndexFrame) -> Frame {
    let (base, offset) = (frame.base.to_array(), frame.offset.to_array());
    Frame { base, offset, per_metre: frame.per_metre, h: frame.h }
}

fn field(faces: &FaceGrid<f32>) -> Field<'_> {
    let values = faces.values.each_ref().map(|v| Stamped::unknown(v.as_slice()));
    Field { values, background: faces.background }
}

/// Sets particles to where the device moved them. Those that a source drives, and those that meet a solid, are moved
/// along their way here. Removes those beyond sides of the domain that remove liquid.
fn land<'a>(
    particles: &mut Particles,
    frame: &IndexFrame,
    way: &Way,
    solids: &Solids<'a>,
    (arrived, fates): (&[Vec3], &[Fate]),
    sweep: impl Fn() -> Sweep<'a> + Sync,
) -> Selection {
    let (origin, step) = (particles.origin, way.dt as f32 * frame.per_metre);
    let driven = |x: Vec3| {
        let given = way.inlet?.velocity_in(frame.cell(x))?;
        let start = frame.local(x);
        Some((start + given * step - start) * frame.h)
    };
    let positions = particles.position.par_chunks_mut(CHUNK).zip(particles.velocity.par_chunks_mut(CHUNK));
    let gone: Vec<bool> = positions
        .zip(arrived.par_chunks(CHUNK).zip(fates.par_chunks(CHUNK)))
        .flat_map_iter(|((positions, velocities), (arrived, fates))| {
            let mut sweep = sweep();
            let mut land = |x: &mut Vec3, v: &mut Vec3, way: Vec3| {
                let from = origin + x.as_dvec3();
                let landing = sweep.land(from, from + way.as_dvec3());
                landing.take(origin, x, v);
                solids.domain.kills(landing.position)
            };
            let particles = positions.iter_mut().zip(velocities).zip(arrived.iter().zip(fates));
            let gone = particles.map(|((x, v), (&arrived, fate))| match (driven(*x), fate) {
                (Some(given), _) => land(x, v, given),
                (None, Fate::MeetsSolid) => land(x, v, arrived),
                (None, Fate::Gone) => true,
                (None, Fate::Arrived) => {
                    *x = arrived;
                    false
                }
            });
            gone.collect::<Vec<_>>()
        })
        .collect();
    particles.retain(|p| !gone[p])
}
