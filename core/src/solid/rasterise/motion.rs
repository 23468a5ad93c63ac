//! The velocity of solids on the faces of a leaf.

use super::nodes::{NodeBlock, STEP};
use crate::grid::{Coord, leaf};
use crate::solid::occupancy::{Nearby, Placed};
use glam::{DVec3, IVec3};

/// How much nearer than others, voxels, a solid is to a corner of a face that it surely owns: distances from the corner and from
/// the middle of the face differ by up to 0.71 voxels each.
const SURELY: f64 = 2.0;
/// Share of its band in which a solid reaches a node: beyond it, rounding decides.
const IN_BAND: f64 = 1.0 - 1e-4;

/// The faces of a leaf that solids own: numbers of colliders, counted from 1, of the lower faces across each axis.
pub(super) type LeafOwners = [[u32; leaf::SIZE]; 3];

/// Writes the velocity of the solid that each face belongs to over a leaf filled with 0, m/s, and which one that is over owners
/// filled with 0, if they are wanted.
pub(super) fn solid_velocity(
    velocity: &mut [&mut [f32]; 3],
    mut numbers: Option<&mut LeafOwners>,
    placed: &Placed,
    near: &mut Nearby,
    block: &NodeBlock,
    origin: Coord,
) {
    let colliders = placed.solids.colliders;
    let owners = Owners::of(placed, near);
    for (axis, values) in velocity.iter_mut().enumerate() {
        // The component of the solid that was met last: affine in the index position, if it is rigid.
        let mut met = (usize::MAX, None);
        for (n, v) in values.iter_mut().enumerate() {
            let local = leaf::local(n);
            let face = (origin + IVec3::from_array(local)).as_dvec3() - 0.5 * DVec3::AXES[axis];
            let Some(owner) = owners.of_face(near, block, local, axis, face) else { continue };
            if let Some(numbers) = &mut numbers {
                numbers[axis][n] = owner as u32 + 1;
            }
            if met.0 != owner {
                met = (owner, colliders[owner].velocity_on(axis, placed.transform()));
            }
            *v = match met.1 {
                Some((at_origin, gradient)) => at_origin + gradient.dot(face),
                None => colliders[owner].velocity(placed.world(face))[axis],
            } as f32;
        }
    }
}

/// Says which solid owns a face near a leaf, as [`Nearby::owner`] does, from the distances at the face's corners where these
/// suffice.
struct Owners {
    /// The only solid near, if there is but one.
    only: Option<usize>,
    /// φ up to which a node lies in the solids' band, where that is the same for all of them.
    band: Option<f32>,
    /// [`SURELY`], metres.
    surely: f64,
}

impl Owners {
    fn of(placed: &Placed, near: &Nearby) -> Self {
        let mut bands = near.touching.iter().map(|&n| placed.solids.colliders[n].band().min(near.far()));
        let band = bands.next().filter(|first| bands.all(|band| band == *first));
        let band = band.map(|band| (IN_BAND * band) as f32);
        Self { only: near.only(), band, surely: SURELY * placed.h }
    }

    fn of_face(
        &self,
        near: &mut Nearby,
        block: &NodeBlock,
        local: [i32; 3],
        axis: usize,
        face: DVec3,
    ) -> Option<usize> {
        let Some(band) = self.band else { return near.owner(face) };
        let i = NodeBlock::index(local);
        let (s, t) = (STEP[(axis + 1) % 3], STEP[(axis + 2) % 3]);
        let corners = [i, i + s, i + t, i + s + t].map(|i| block.phi[i]);
        if corners.iter().all(|&phi| phi >= band) {
            return None;
        }
        if self.only.is_some() {
            return self.only;
        }
        let Some(each) = &block.each else { return near.owner(face) };
        let node = face + 0.5 * DVec3::AXES[axis] - 0.5;
        let (owner, lead) = near.lead(node, |cut| each[cut][i])?;
        if lead.abs() < self.surely {
            return near.owner_among(face, |cut| each[cut][i], self.surely);
        }
        (lead > 0.0).then_some(owner)
    }
}
