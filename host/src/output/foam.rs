//! Points that are drawn as foam, made into a fog.

use crate::data::{Array, Geometry, Owner};
use openvdb_sys::LEAF_SIZE;
use std::collections::BTreeMap;

/// Edge of a voxel, in radii of the largest point.
const VOXEL: f64 = 4.0;
/// Light that a ball takes away, in areas of its shadow: what it hits, and as much again that is bent around it.
const EXTINCTION: f64 = 2.0;
/// Most voxels along the edge of the box of all points.
const FINEST: f64 = 1000.0;

/// A fog of points: the share of light that it takes away, 1/m.
#[derive(Debug, Default, PartialEq)]
pub struct Foam {
    /// Edge of a voxel, m.
    pub voxel: f64,
    /// Lowest voxel of every leaf, in order.
    pub origins: Vec<[i32; 3]>,
    /// Values, `[leaf][512]`; they sit at whole voxels.
    pub values: Vec<f32>,
}

impl Foam {
    /// The fog of points with their radii (`pscale`, m); `None` where there are none that can be seen.
    pub fn of(points: &Geometry) -> Option<Self> {
        let radius = points.attribute(Owner::Point, "pscale").map(|a| &*a.values);
        let Some(Array::F32(radius)) = radius else { return None };
        let largest = radius.iter().fold(0.0f32, |most, &r| most.max(r));
        let (low, high) = points.bounds()?;
        if !(largest > 0.0 && largest.is_finite()) {
            return None;
        }
        let extent = (0..3).map(|c| f64::from(high[c]) - f64::from(low[c])).fold(0.0, f64::max);
        let voxel = (VOXEL * f64::from(largest)).max(extent / FINEST);
        let mut leaves: BTreeMap<[i32; 3], Box<[f32; LEAF_SIZE]>> = BTreeMap::new();
        for (p, &r) in points.positions().iter().zip(radius) {
            let at: [f64; 3] = std::array::from_fn(|c| (f64::from(p[c]) + points.origin[c]) / voxel);
            if at.iter().any(|x| x.abs() > f64::from(i32::MAX / 2)) {
                continue;
            }
            let base = at.map(f64::floor);
            let rest: [f64; 3] = std::array::from_fn(|c| at[c] - base[c]);
            let shadow = EXTINCTION * std::f64::consts::PI * f64::from(r).powi(2) / voxel.powi(3);
            for corner in 0..8 {
                let bit = |c: usize| f64::from(corner >> c & 1);
                let weight: f64 =
                    (0..3).map(|c| (1.0 - bit(c)) * (1.0 - rest[c]) + bit(c) * rest[c]).product();
                let ijk: [i32; 3] = std::array::from_fn(|c| base[c] as i32 + (corner >> c & 1));
                let n = (ijk[0] & 7) << 6 | (ijk[1] & 7) << 3 | (ijk[2] & 7);
                let leaf = leaves.entry(ijk.map(|x| x & !7)).or_insert_with(|| Box::new([0.0; LEAF_SIZE]));
                leaf[n as usize] += (shadow * weight) as f32;
            }
            // Between this voxel and the one below it the fog fades away: that is drawn, too.
            let below: [i32; 3] = std::array::from_fn(|c| (base[c] as i32 - 1) & !7);
            leaves.entry(below).or_insert_with(|| Box::new([0.0; LEAF_SIZE]));
        }
        let origins = leaves.keys().copied().collect();
        let values = leaves.into_values().flat_map(|leaf| leaf.to_vec()).collect();
        Some(Self { voxel, origins, values })
    }

    /// Index-to-world, row-major.
    pub fn transform(&self) -> [f64; 16] {
        let v = self.voxel;
        [v, 0.0, 0.0, 0.0, 0.0, v, 0.0, 0.0, 0.0, 0.0, v, 0.0, 0.0, 0.0, 0.0, 1.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn balls(places: &[[f32; 3]], radius: f32) -> Geometry {
        let mut points = Geometry::from_points(places);
        points.set(Owner::Point, "pscale", 1, Array::F32(vec![radius; places.len()]));
        points
    }

    #[test]
    fn a_fog_takes_away_the_light_that_its_balls_do() {
        let places: Vec<[f32; 3]> =
            (0..500).map(|n| [n as f32 * 0.37 - 90.0, (n % 7) as f32, -3.5]).collect();
        let mut points = balls(&places, 0.2);
        points.origin = [1000.0, 0.0, -7.0];
        let foam = Foam::of(&points).unwrap();
        assert!((foam.voxel - 0.8).abs() < 1e-6 && foam.origins.is_sorted());
        let taken: f64 = foam.values.iter().map(|&v| f64::from(v) * foam.voxel.powi(3)).sum();
        let shadows = 500.0 * 2.0 * std::f64::consts::PI * 0.04;
        assert!((taken / shadows - 1.0).abs() < 1e-5, "{taken} {shadows}");
        let middle: f64 = (0..foam.values.len())
            .map(|at| {
                let x = foam.origins[at / LEAF_SIZE][0] + (at % LEAF_SIZE / 64) as i32;
                f64::from(foam.values[at]) * f64::from(x) * foam.voxel.powi(4)
            })
            .sum::<f64>()
            / taken;
        let mean = places.iter().map(|p| f64::from(p[0]) + 1000.0).sum::<f64>() / 500.0;
        assert!((middle - mean).abs() < 1e-3, "{middle} {mean}");
    }

    #[test]
    fn nothing_is_made_of_nothing() {
        assert_eq!(Foam::of(&balls(&[], 0.2)), None);
        assert_eq!(Foam::of(&balls(&[[0.0; 3]], 0.0)), None);
        assert_eq!(Foam::of(&Geometry::from_points(&[[0.0; 3]])), None);
        let far = Foam::of(&balls(&[[-1e9, 0.0, 0.0], [1e9, 0.0, 0.0]], 1e-6)).unwrap();
        assert!(far.origins.len() <= 8 && far.voxel > 1e6);
    }
}
