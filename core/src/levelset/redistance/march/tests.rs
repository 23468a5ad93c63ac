use super::super::{interface, interface_distance};
use super::*;
use crate::grid::{Coord, halo};
use glam::{IVec3, Vec3};
use proptest::prelude::*;
use std::sync::Arc;

/// Read where there is no leaf.
const MISSING: f32 = f32::NAN;

/// The value at one voxel, one axis after another.
fn plain_upwind(block: &[f32], at: usize, h: f32, width: f32) -> f32 {
    let sign = 1f32.copysign(block[at]);
    let value = |at: usize| if block[at].is_nan() { UNREACHED } else { sign * block[at] };
    let mut axes = [(UNREACHED, 1.0); 3];
    for (axis, stride) in axes.iter_mut().zip(halo::strides(HALO)) {
        let (below, above) = (value(at - stride), value(at + stride));
        let (near, far) =
            if below <= above { (below, value(at - 2 * stride)) } else { (above, value(at + 2 * stride)) };
        *axis = if far <= near && near < UNREACHED { ((4.0 * near - far) / 3.0, 2.25) } else { (near, 1.0) };
    }
    if axes.iter().all(|axis| axis.0 >= width) {
        return sign * UNREACHED;
    }
    axes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut u = UNREACHED;
    let (mut w, mut wa, mut waa) = (0.0, 0.0, 0.0);
    for (a, weight) in axes {
        if u <= a {
            break;
        }
        let da = a - axes[0].0;
        (w, wa, waa) = (w + weight, wa + weight * da, waa + weight * da * da);
        let discriminant = wa * wa - w * (waa - h * h);
        if discriminant < 0.0 {
            break;
        }
        u = axes[0].0 + (wa + discriminant.sqrt()) / w;
    }
    sign * u
}

/// Passes over every voxel.
fn plain_march(distance: &mut Grid<f32>, fixed: &VoxelMask, active: &[bool], h: f32, band: f32) {
    let topology = distance.topology.clone();
    let mut block = Vec::new();
    for _ in 0..(3f32.sqrt() * band).ceil() as usize + 2 {
        let before = distance.values.clone();
        for l in (0..topology.len()).filter(|&l| active[l]) {
            halo::gather::<HALO, _>(&topology, &before, l, MISSING, &mut block);
            for n in (0..leaf::SIZE).filter(|n| !fixed.has(l * leaf::SIZE + n)) {
                let at = halo::index(HALO, leaf::local(n));
                distance.values[l * leaf::SIZE + n] = plain_upwind(&block, at, h, band * h);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..Default::default() })]
    /// Some balls on four by four by four leaves, without some of those that are not near.
    #[test]
    fn a_front_is_that_of_plain_passes(
        balls in prop::collection::vec((prop::array::uniform3(0f32..16.0), 0.3f32..4.0), 1..5),
        inverted in prop::bool::ANY, dropped in prop::collection::vec(0usize..64, 0..40), band in 1.0f32..4.0,
    ) {
        let (h, sign) = (0.25, if inverted { -1.0 } else { 1.0 });
        let origins: Vec<Coord> = (0..64).map(|n| (Coord::new(n / 16, n / 4 % 4, n % 4) - 1) * 8).collect();
        let sample = |origins: Vec<Coord>| Grid::from_fn(Arc::new(Topology::new(origins)), sign, |c: IVec3| {
            let to = |(centre, r): &([f32; 3], f32)| c.as_vec3().distance(Vec3::from_array(*centre)) - r;
            sign * h * balls.iter().map(to).fold(3.0, f32::min)
        });
        let reach = band.ceil() as usize + 1;
        let Some(near) = interface(&sample(origins.clone())).near_leaves(reach) else { return Ok(()) };
        let kept = (0..64).filter(|&l| near[l] || !dropped.contains(&l)).map(|l| origins[l]);
        let phi = sample(kept.collect());
        let crossing = interface(&phi);
        let active = crossing.near_leaves(reach).unwrap_or_default();
        prop_assert_eq!(active.len(), phi.topology.len());
        let mut marched = interface_distance(&phi, &crossing, h);
        let mut plain = marched.clone();
        march(&mut marched, &crossing, &active, h, band);
        plain_march(&mut plain, &crossing, &active, h, band);
        let clamped = |d: &f32| d.clamp(-band * h, band * h);
        let values = |grid: &Grid<f32>| grid.values.iter().map(clamped).collect::<Vec<_>>();
        prop_assert!(values(&marched) == values(&plain));
    }
}
