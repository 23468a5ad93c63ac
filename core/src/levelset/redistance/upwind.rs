//! Upwind differences, a row of voxels at a time.

use super::UNREACHED;
use crate::grid::leaf;

/// Voxels to either side that the second-order stencil reads.
pub(super) const HALO: usize = 2;
/// A z-row of a leaf.
pub(super) type Row = [f32; leaf::DIM];

/// The values in a row for which upwind differences give |∇φ| = 1 [Sethian 1999, second-order scheme];
/// ±[`UNREACHED`] when no neighbour is nearer than `width`.
///
/// `x` and `y` are the rows two, one voxels before and one, two after along these axes, `z` is the row itself with two
/// voxels more at either end. Without branches, so that the row's voxels are computed at once.
#[inline(never)]
pub(super) fn upwind(
    own: &Row,
    x: [&Row; 4],
    y: [&Row; 4],
    z: &[f32; leaf::DIM + 2 * HALO],
    h: f32,
    width: f32,
) -> Row {
    let mut values = [0.0; leaf::DIM];
    for n in 0..leaf::DIM {
        let sign = 1f32.copysign(own[n]);
        let axes = [
            along_axis(sign, x.map(|row| row[n])),
            along_axis(sign, y.map(|row| row[n])),
            along_axis(sign, [z[n], z[n + 1], z[n + 3], z[n + 4]]),
        ];
        values[n] = sign * solve(axes, h, width);
    }
    values
}

/// The upwind value a and the weight w along an axis: w (u − a)² is h² times the squared difference.
#[inline(always)]
fn along_axis(sign: f32, values: [f32; 4]) -> (f32, f32) {
    // What the front has not reached counts on neither side: a missing leaf's +∞ is no front to a voxel inside.
    let [before, below, above, after] =
        values.map(|value| if value.abs() < UNREACHED { sign * value } else { UNREACHED });
    let is_below = below <= above;
    let near = if is_below { below } else { above };
    let far = if is_below { before } else { after };
    // (3u − 4a + b)/2 where the front also passed b before a, else u − a.
    let second = (far <= near) & (near < UNREACHED);
    let value = if second { (4.0 * near - far) / 3.0 } else { near };
    (value, if second { 2.25 } else { 1.0 })
}

/// u with Σ w (u − a)² = h² over the axes with a < u: with one axis after another, the nearest first.
#[inline(always)]
fn solve([a, b, c]: [(f32, f32); 3], h: f32, width: f32) -> f32 {
    let none = (a.0 >= width) & (b.0 >= width) & (c.0 >= width);
    let (a, b) = sorted(a, b);
    let (b, c) = sorted(b, c);
    let (a, b) = sorted(a, b);
    // Relative to the nearest axis, for precision.
    let (db, dc) = (b.0 - a.0, c.0 - a.0);
    let one = a.0 + (a.1 * (h * h)).sqrt() / a.1;
    let root = |w: f32, wd: f32, wdd: f32| {
        let discriminant = wd * wd - w * (wdd - h * h);
        (discriminant, a.0 + (wd + discriminant.sqrt()) / w)
    };
    let (w, wd, wdd) = (a.1 + b.1, b.1 * db, b.1 * db * db);
    let (real, two) = root(w, wd, wdd);
    let stays_one = (one <= b.0) | (real < 0.0);
    let (real, three) = root(w + c.1, wd + c.1 * dc, wdd + c.1 * dc * dc);
    let stays_two = (two <= c.0) | (real < 0.0);
    let more = if stays_two { two } else { three };
    let reached = if stays_one { one } else { more };
    if none { UNREACHED } else { reached }
}

/// Two axes, the nearer first.
#[inline(always)]
fn sorted(a: (f32, f32), b: (f32, f32)) -> ((f32, f32), (f32, f32)) {
    let swap = b.0 < a.0;
    let pick = |yes: f32, no: f32| if swap { yes } else { no };
    ((pick(b.0, a.0), pick(b.1, a.1)), (pick(a.0, b.0), pick(a.1, b.1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_leaf_is_no_front_on_either_side() {
        let (h, width, missing) = (0.02, 0.06, [UNREACHED; leaf::DIM]);
        let near = std::array::from_fn(|n| 0.0072 + 1e-4 * n as f32);
        let far = std::array::from_fn(|n| 0.0272 + 1e-4 * n as f32);
        let z = |sign: f32| std::array::from_fn(|n| if n < 2 + leaf::DIM { sign * 0.027 } else { UNREACHED });
        let solved = |sign: f32| {
            let signed = |row: &Row| row.map(|v| sign * v);
            let (near, far) = (signed(&near), signed(&far));
            upwind(
                &far,
                [&near, &near, &missing, &missing],
                [&missing, &far, &missing, &missing],
                &z(sign),
                h,
                width,
            )
        };
        let (outside, inside) = (solved(1.0), solved(-1.0));
        assert!(outside.iter().all(|v| (0.0..width).contains(v)), "{outside:?}");
        assert_eq!(inside, outside.map(|v| -v));
    }
}
