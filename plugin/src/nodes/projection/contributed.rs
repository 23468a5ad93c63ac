//! What takes part in a projection without degrees of freedom: jumps of pressure, faces that somebody shuts, air that is kept;
//! and what those get back.

use crate::exchange::{Exchange, Field};
use glam::DVec3;
use meniscus_abi::guest::{Call, Failure};
use meniscus_abi::port_places;
use meniscus_core::coupling::{self, AtFaces, Bubble, Chamber, Lids, LiquidFields, Projection};
use meniscus_core::grid::{FaceGrid, Topology, Transform};
use meniscus_core::number::written;
use std::collections::BTreeMap;
use std::sync::Arc;

port_places! {
    /// Where they stand.
    pub struct ContributedPorts { jump, shut, chambers, load, passing, kept_air }
}

/// The shares of all objects, as one.
#[derive(Default)]
pub(super) struct Contributed {
    /// By how much the pressure is higher above each face, Pa.
    pub(super) jump: Option<FaceGrid<f32>>,
    /// Share of each face that is shut.
    pub(super) shut: Option<FaceGrid<f32>>,
    /// Air that is kept.
    pub(super) chambers: Vec<Chamber>,
    /// The leaves on which each item contributes to faces.
    leaves: BTreeMap<u32, Arc<Topology>>,
    /// Items that keep air, and in how many chambers each.
    keepers: Vec<(u32, usize)>,
}

impl Contributed {
    /// Reads them; `lattice`: of the liquids.
    pub(super) fn read(
        exchange: &mut Exchange,
        call: &Call,
        ports: ContributedPorts,
        lattice: Option<Transform>,
    ) -> Result<Self, Failure> {
        let Some(lattice) = lattice else { return Ok(Self::default()) };
        let mut own = Self::default();
        let leaves = &mut own.leaves;
        own.jump = joined(exchange, call, ports.jump, lattice, leaves, |_| true, |a, b| a + b)?;
        let is_share = |s| (0.0..=1.0).contains(&s);
        let both = |a, b| 1.0 - (1.0 - a) * (1.0 - b);
        own.shut = joined(exchange, call, ports.shut, lattice, leaves, is_share, both)?;
        for (item, chambers) in chambers(call, ports.chambers)? {
            own.keepers.push((item, chambers.len()));
            own.chambers.extend(chambers);
        }
        Ok(own)
    }

    /// Some of some face is shut.
    pub(super) fn shuts(&self) -> bool {
        self.shut.iter().flat_map(|shut| &shut.values).flatten().any(|&share| share > 0.0)
    }

    /// A liquid's faces with what they shut; `None` where they shut nothing.
    pub(super) fn lids(&self, fields: &LiquidFields) -> Option<Lids> {
        self.shut.as_ref().map(|shut| coupling::shut(fields, shut))
    }

    /// Writes what each gets back; `vel`: of all liquids, m/s, as it passes what is shut.
    pub(super) fn write(
        &self,
        exchange: &mut Exchange,
        call: &mut Call,
        ports: ContributedPorts,
        (projected, vel, lattice): (&Projection, &FaceGrid<f32>, &Transform),
    ) -> Result<(), Failure> {
        for (&item, leaves) in &self.leaves {
            let AtFaces { load, passing } = exchange.install(|| coupling::at_faces(projected, vel, leaves));
            let fields = [(ports.load, &load), (ports.passing, &passing)];
            let fields = fields.map(|(port, faces)| Field::faces(port, faces).of_item(item));
            exchange.write_fields(call, lattice, &fields)?;
        }
        let mut chambers = projected.chambers.as_slice();
        for &(item, count) in &self.keepers {
            let (own, others) = chambers.split_at(count.min(chambers.len()));
            chambers = others;
            let airs: Vec<_> = own.iter().map(|bubble| projected.bubbles.get((*bubble)?)).collect();
            let of = |f: fn(&Bubble) -> f64| airs.iter().map(|air| air.map_or(0.0, f)).collect::<Vec<_>>();
            call.shape_table(ports.kept_air, item)?;
            call.write_array(ports.kept_air, item, c"volume", 1, &of(|air| air.volume))?;
            call.write_array(ports.kept_air, item, c"pressure", 1, &of(|air| air.pressure))?;
        }
        Ok(())
    }
}

/// The values of all items of a port, in the order of their names; none where no item has any.
fn joined(
    exchange: &mut Exchange,
    call: &Call,
    port: u32,
    lattice: Transform,
    leaves: &mut BTreeMap<u32, Arc<Topology>>,
    is_sound: fn(f32) -> bool,
    join: fn(f32, f32) -> f32,
) -> Result<Option<FaceGrid<f32>>, Failure> {
    let mut all: Option<FaceGrid<f32>> = None;
    for item in 0..call.items(port) {
        let Some((own, transform)) = exchange.faces(call, port, item)? else { continue };
        let refuse = |what: String| {
            let (grid, name) = (call.port_name(port), call.item_name(port, item));
            Err(Failure::input(port, format!("`{grid}` of `{name}` {what}")))
        };
        if !transform.is_same_lattice(&lattice) {
            let [x, y, z] = lattice.translation.to_array().map(written);
            return refuse(format!(
                "does not lie on the lattice of the liquid: voxels of {} m, the middle of voxel 0 at ({x}, {y}, {z}) m",
                written(lattice.voxel_size())
            ));
        }
        // Where there is no leaf, nobody contributes.
        let beyond = call.grid(port, item).map(|view| (0..3).any(|c| view.background(c) != 0.0));
        if beyond != Some(false) {
            return refuse("has a background that is not 0".into());
        }
        let has_tiles =
            call.grid(port, item).and_then(|view| view.tiles()).is_some_and(|tiles| !tiles.is_empty());
        if has_tiles {
            return refuse("has tiles, and only leaves are read: give it leaves there".into());
        }
        if !own.values.iter().flatten().all(|&value| is_sound(value)) {
            return refuse("holds a value that is no share from 0 to 1".into());
        }
        let known = leaves.entry(item).or_insert_with(|| own.topology.clone());
        if **known != *own.topology {
            *known = Arc::new(known.union(&own.topology));
        }
        all = Some(match all {
            None => own,
            Some(known) => {
                let topology = Arc::new(known.topology.union(&own.topology));
                let (mut known, own) = (known.on(&topology), own.on(&topology));
                for (known, own) in known.values.iter_mut().zip(&own.values) {
                    known.iter_mut().zip(own).for_each(|(k, o)| *k = join(*k, *o));
                }
                known
            }
        });
    }
    Ok(all)
}

/// The chambers of each item that keeps air.
fn chambers(call: &Call, port: u32) -> Result<Vec<(u32, Vec<Chamber>)>, Failure> {
    let mut all = Vec::new();
    for item in 0..call.items(port) {
        let Some(table) = call.table(port, item) else { continue };
        let array = |name| table.array::<f64>(name).map(|v| v.to_vec());
        let places = array("place").unwrap_or_default();
        let inflow = array("inflow").unwrap_or_else(|| vec![0.0; places.len() / 3]);
        let sound = places.len() == 3 * inflow.len();
        if !sound || !places.iter().chain(&inflow).all(|v| v.is_finite()) {
            let sentence = format!(
                "`chambers` of `{}` needs three finite numbers `place` for each chamber, and one `inflow` for each or none at all",
                call.item_name(port, item)
            );
            return Err(Failure::input(port, sentence));
        }
        let places = places.as_chunks::<3>().0.iter().map(|&place| DVec3::from_array(place));
        all.push((item, places.zip(inflow).map(|(place, inflow)| Chamber { place, inflow }).collect()));
    }
    Ok(all)
}
