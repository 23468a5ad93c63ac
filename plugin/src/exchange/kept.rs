//! Keeps the core's fields and particles from one stage for the next one of the same instance.
//!
//! The host holds the same data. If its stamps show that nobody changed them, they need not be read back. If they are
//! not kept here (after a rewind, or because the caches were dropped) they are read; the results are the same.

use super::attributes::ATTRIBUTES;
use meniscus_core::fluid::Particles;
use meniscus_core::solid::SolidFields;
use std::sync::Arc;

/// Fields and particles by their stamps.
#[derive(Debug, Default)]
pub struct Kept {
    /// What the ports held when this call read or wrote them last, `(port, stamp)`.
    stamps: Vec<(u32, u64)>,
    fields: Vec<Field>,
    /// Ports of fields that this call was lent.
    lent: Vec<u32>,
    /// Fields that this call is about to ask for, `(port, [component][leaf][512])`.
    ahead: Vec<(u32, Vec<Vec<f32>>)>,
    /// Fields of solids, and what the ports with them held.
    solids: Option<(OfSolids, Arc<SolidFields>)>,
    /// Of each attribute when it was last read or written; 0: none.
    pub(super) attributes: [u64; ATTRIBUTES],
    /// The particles that these stamps are of.
    pub(super) particles: Particles,
}

/// What the ports with the fields of solids hold, `(port, stamp)`.
pub(super) type OfSolids = [(u32, u64); 3];

#[derive(Debug)]
struct Field {
    port: u32,
    stamp: u64,
    /// `[component][leaf][512]`
    values: Vec<Vec<f32>>,
}

impl Kept {
    /// A new call: what the ports hold now is not known yet.
    pub(super) fn begin(&mut self) {
        self.stamps.clear();
        self.lent.clear();
        self.ahead.clear();
    }

    /// Notes what a port holds now.
    pub(super) fn meet(&mut self, port: u32, stamp: u64) {
        self.stamps.retain(|(p, _)| *p != port);
        self.stamps.push((port, stamp));
    }

    /// Lends the field with a stamp to [`Self::take`]; false where it is not kept.
    pub(super) fn lend(&mut self, port: u32, stamp: u64) -> bool {
        let Some(place) = self.fields.iter().position(|f| (f.port, f.stamp) == (port, stamp)) else {
            return false;
        };
        let field = self.fields.swap_remove(place);
        self.lent.push(port);
        self.ahead.push((port, field.values));
        true
    }

    /// Has the values of a port ready for [`Self::take`].
    pub(super) fn read(&mut self, port: u32, values: Vec<Vec<f32>>) {
        self.ahead.push((port, values));
    }

    /// The values of a port that were lent, or read ahead.
    pub(super) fn take(&mut self, port: u32) -> Option<Vec<Vec<f32>>> {
        let place = self.ahead.iter().position(|(p, _)| *p == port)?;
        Some(self.ahead.swap_remove(place).1)
    }

    /// Keeps the values that this call last read from or wrote to a port.
    pub fn keep(&mut self, port: u32, values: impl IntoIterator<Item = Vec<f32>>) {
        self.fields.retain(|f| f.port != port);
        let stamp = self.stamps.iter().find(|(p, stamp)| *p == port && *stamp != 0);
        self.fields.extend(stamp.map(|&(port, stamp)| {
            let values = values.into_iter().collect();
            Field { port, stamp, values }
        }));
    }

    /// Keeps the values of a port, unchanged, where they were kept before this call took them.
    pub fn give_back(&mut self, port: u32, values: impl IntoIterator<Item = Vec<f32>>) {
        if self.lent.contains(&port) {
            self.keep(port, values);
        }
    }

    /// Keeps the fields of solids that this call last wrote to some ports.
    pub fn keep_solids(&mut self, ports: [u32; 3], solids: Arc<SolidFields>) {
        let stamp = |port: u32| self.stamps.iter().find(|(p, _)| *p == port).map_or(0, |(_, stamp)| *stamp);
        let stamps = ports.map(|port| (port, stamp(port)));
        self.solids = stamps.iter().all(|(_, stamp)| *stamp != 0).then_some((stamps, solids));
    }

    /// Lets go of the fields of solids; gives them where the ports still hold them.
    pub(super) fn take_solids(&mut self, held: OfSolids) -> Option<Arc<SolidFields>> {
        let (stamps, solids) = self.solids.take()?;
        (stamps == held).then_some(solids)
    }

    /// Keeps the particles that this call last read or wrote.
    pub fn keep_particles(&mut self, particles: Particles) {
        self.particles = particles;
    }

    /// Lets go of all fields but those of solids.
    pub fn drop_fields(&mut self) {
        self.fields = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_core::grid::Transform;

    #[test]
    fn solids_are_kept_for_as_long_as_their_ports_hold_the_same() {
        let lattice = Transform::uniform(0.1, Default::default());
        let solids = Arc::new(SolidFields::open(&Arc::default(), &lattice));
        let keep = |stamps: [u64; 3]| {
            let mut kept = Kept::default();
            (4..).zip(stamps).for_each(|(port, stamp)| kept.meet(port, stamp));
            kept.keep_solids([4, 5, 6], solids.clone());
            kept
        };
        let held = |stamps: [u64; 3]| [(4, stamps[0]), (5, stamps[1]), (6, stamps[2])];
        let mut kept = keep([7, 8, 9]);
        assert!(kept.take_solids(held([7, 8, 9])).is_some_and(|found| Arc::ptr_eq(&found, &solids)));
        assert!(kept.take_solids(held([7, 8, 9])).is_none(), "they are given away");
        for other in [[1, 8, 9], [7, 1, 9], [7, 8, 1]] {
            assert!(keep([7, 8, 9]).take_solids(held(other)).is_none(), "{other:?}");
        }
        // Without a stamp nobody knows.
        assert!(keep([7, 0, 9]).take_solids(held([7, 0, 9])).is_none());
    }
}
