//! Computes which part of a source's region makes liquid: not the part in solids, outside the box, or in another
//! source.

use crate::data::Geometry;
use glam::{DVec2, DVec3, Vec3};

/// Lines across the widest side of a region that sample it.
const LINES: usize = 64;

/// Shares of a region, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Left {
    /// Share of its volume in which it makes liquid.
    pub(super) volume: f64,
    /// Share of its front through which it drives liquid.
    pub(super) front: f64,
}

/// The things that reduce a region.
#[derive(Default)]
pub(super) struct Claims<'a> {
    /// Regions of sources that come before: a place in several regions counts once.
    pub(super) sources: Vec<&'a Geometry>,
    /// Solids, which liquid cannot enter.
    pub(super) solids: Vec<&'a Geometry>,
    /// The box, m; liquid cannot be outside it. Infinite at its open sides.
    pub(super) limits: Option<(DVec3, DVec3)>,
}

/// Lines along a direction, evenly spread over a box.
struct Lines {
    /// Two axes across, one along.
    axes: [DVec3; 3],
    low: DVec2,
    step: f64,
    count: [usize; 2],
}

impl Lines {
    fn over(region: &[&Geometry], along: DVec3) -> Option<Self> {
        let w = along.try_normalize().unwrap_or(DVec3::Z);
        let (u, v) = w.any_orthonormal_pair();
        let mut ends = (DVec2::INFINITY, DVec2::NEG_INFINITY);
        for corner in region.iter().flat_map(|g| corners(g)).flatten() {
            let at = DVec2::new(corner.dot(u), corner.dot(v));
            ends = (ends.0.min(at), ends.1.max(at));
        }
        let size = ends.1 - ends.0;
        let step = size.max_element() / LINES as f64;
        let count = [size.x, size.y].map(|s| (s / step).ceil().clamp(1.0, LINES as f64) as usize);
        // The lines run through the middle of the columns that they stand for.
        let spare = DVec2::new(count[0] as f64, count[1] as f64) * step - size;
        (step > 0.0 && step.is_finite()).then_some(Self {
            axes: [u, v, w],
            low: ends.0 - 0.5 * spare,
            step,
            count,
        })
    }

    /// The intervals of each line that lie inside the meshes.
    fn inside(&self, meshes: &[&Geometry]) -> Vec<Vec<(f64, f64)>> {
        let mut crossings: Vec<Vec<(f64, i32)>> = vec![Vec::new(); self.count[0] * self.count[1]];
        for triangle in meshes.iter().flat_map(|g| corners(g)) {
            self.cross(triangle, &mut crossings);
        }
        crossings.into_iter().map(spans).collect()
    }

    fn cross(&self, triangle: [DVec3; 3], crossings: &mut [Vec<(f64, i32)>]) {
        let [u, v, w] = self.axes;
        let [a, b, c] = triangle.map(|p| (DVec2::new(p.dot(u), p.dot(v)) - self.low) / self.step - 0.5);
        let area = (b - a).perp_dot(c - a);
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        if area == 0.0 || !area.is_finite() {
            return;
        }
        let range = |low: f64, high: f64, count: usize| {
            (low.ceil().max(0.0) as usize)..((high.floor() + 1.0).clamp(0.0, count as f64) as usize)
        };
        // At an edge that two triangles share, a line crosses only one of them.
        let is_left = |from: DVec2, to: DVec2, at: DVec2| {
            let (flips, from, to) =
                if (from.x, from.y) > (to.x, to.y) { (true, to, from) } else { (false, from, to) };
            ((to - from).perp_dot(at - from) >= 0.0) != flips
        };
        for y in range(low.y, high.y, self.count[1]) {
            for x in range(low.x, high.x, self.count[0]) {
                let at = DVec2::new(x as f64, y as f64);
                let sides = [is_left(a, b, at), is_left(b, c, at), is_left(c, a, at)];
                if sides.iter().all(|left| *left == (area > 0.0)) {
                    let (of_b, of_c) = ((at - a).perp_dot(c - a) / area, (b - a).perp_dot(at - a) / area);
                    let depth = triangle.map(|p| p.dot(w));
                    let depth = depth[0] + of_b * (depth[1] - depth[0]) + of_c * (depth[2] - depth[0]);
                    crossings[y * self.count[0] + x].push((depth, if area > 0.0 { -1 } else { 1 }));
                }
            }
        }
    }

    /// Where on a line the box is.
    fn limited(&self, n: usize, (low, high): (DVec3, DVec3)) -> (f64, f64) {
        let [u, v, w] = self.axes;
        let at = |n: usize, axis: usize| self.low[axis] + (n as f64 + 0.5) * self.step;
        let foot = u * at(n % self.count[0], 0) + v * at(n / self.count[0], 1);
        let mut ends = (f64::NEG_INFINITY, f64::INFINITY);
        for axis in 0..3 {
            let (from, to) = (low[axis] - foot[axis], high[axis] - foot[axis]);
            if w[axis] == 0.0 {
                if from > 0.0 || to < 0.0 {
                    return (0.0, 0.0);
                }
            } else {
                let (a, b) = (from / w[axis], to / w[axis]);
                ends = (ends.0.max(a.min(b)), ends.1.min(a.max(b)));
            }
        }
        ends
    }
}

/// The intervals inside, from the points where a line enters and leaves.
fn spans(mut crossings: Vec<(f64, i32)>) -> Vec<(f64, f64)> {
    crossings.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut depth, mut from, mut spans) = (0, 0.0, Vec::new());
    for (at, turn) in crossings {
        if depth == 0 {
            from = at;
        }
        depth += turn;
        if depth == 0 && at > from {
            spans.push((from, at));
        }
    }
    spans
}

/// The part of some disjoint intervals that others leave free.
fn without(spans: &[(f64, f64)], taken: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut left = spans.to_vec();
    for &(from, to) in taken {
        let parts = |(a, b): (f64, f64)| [(a, b.min(from)), (a.max(to), b)];
        left = left.into_iter().flat_map(parts).filter(|(a, b)| a < b).collect();
    }
    left
}

/// The free part of a region that drives liquid along a direction; a direction of 0 means that it does not drive.
pub(super) fn left(region: &[&Geometry], along: DVec3, claims: &Claims) -> Left {
    let whole = Left { volume: 1.0, front: 1.0 };
    let Some(lines) = Lines::over(region, along) else { return whole };
    let [own, sources, solids] = [region, &claims.sources, &claims.solids].map(|meshes| lines.inside(meshes));
    let (mut length, mut left, mut fronts, mut open) = (0.0, 0.0, 0usize, 0usize);
    for (n, own) in own.iter().enumerate() {
        let Some(front) = own.iter().map(|s| s.1).reduce(f64::max) else { continue };
        let mut free = without(own, &solids[n]);
        if let Some(limits) = claims.limits {
            let (from, to) = lines.limited(n, limits);
            free = without(&free, &[(f64::NEG_INFINITY, from), (to, f64::INFINITY)]);
        }
        let sum = |spans: &[(f64, f64)]| spans.iter().map(|(a, b)| b - a).sum::<f64>();
        let unclaimed = without(&free, &sources[n]);
        (length, left) = (length + sum(own), left + sum(&unclaimed));
        // Liquid that passes through another source's region belongs to that source, and liquid made inside a solid
        // never comes out.
        let near = 1e-6 * lines.step;
        let comes_out = free.iter().any(|s| s.1 > front - near) && sum(&unclaimed) > sum(&free) - near;
        (fronts, open) = (fronts + 1, open + usize::from(comes_out));
    }
    match fronts {
        0 => whole,
        _ => Left { volume: left / length, front: open as f64 / fronts as f64 },
    }
}

/// The corners of a mesh's triangles, m.
pub(super) fn corners(g: &Geometry) -> impl Iterator<Item = [DVec3; 3]> {
    let p = |i: u32| g.positions().get(i as usize).map_or(DVec3::ZERO, |p| Vec3::from(*p).as_dvec3());
    g.triangles().iter().map(move |t| [p(t[0]), p(t[1]), p(t[2])])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::{Params, Value};

    fn cuboid(size: [f64; 3], center: [f64; 3]) -> Geometry {
        let mut params = Params::default();
        let types = crate::geometry::types();
        for spec in types.iter().find(|t| t.id == "meniscus.box").expect("a box").params.iter() {
            params.values.insert(spec.name.clone(), spec.default.clone());
        }
        params.values.insert("size".into(), Value::Numbers(size.to_vec()));
        params.values.insert("center".into(), Value::Numbers(center.to_vec()));
        crate::geometry::cuboid(&params)
    }

    fn near(a: Left, b: (f64, f64)) {
        assert!((a.volume - b.0).abs() < 0.02 && (a.front - b.1).abs() < 0.02, "{a:?}, not {b:?}");
    }

    #[test]
    fn what_others_have_is_not_left() {
        let own = cuboid([1.0, 0.5, 1.0], [0.0; 3]);
        let region = [&own];
        let with = |claims: &Claims| left(&region, DVec3::Y, claims);
        near(with(&Claims::default()), (1.0, 1.0));
        let same = Claims { sources: vec![&own], ..Claims::default() };
        near(with(&same), (0.0, 0.0));
        let beside = cuboid([1.0, 0.5, 1.0], [0.25, 0.0, 0.0]);
        near(with(&Claims { sources: vec![&beside], ..Claims::default() }), (0.25, 0.25));
        // Half as thick, below: its liquid comes through.
        let below = cuboid([1.0, 0.25, 1.0], [0.0, -0.125, 0.0]);
        near(with(&Claims { sources: vec![&below], ..Claims::default() }), (0.5, 0.0));
        // A solid at the back leaves the front open, one at the front does not.
        near(with(&Claims { solids: vec![&below], ..Claims::default() }), (0.5, 1.0));
        let above = cuboid([1.0, 0.25, 1.0], [0.0, 0.125, 0.0]);
        near(with(&Claims { solids: vec![&above], ..Claims::default() }), (0.5, 0.0));
        let limits = Some((DVec3::new(0.0, -1.0, -9.0), DVec3::new(0.3, f64::INFINITY, 9.0)));
        near(with(&Claims { limits, ..Claims::default() }), (0.3, 0.3));
        let tilted =
            left(&region, DVec3::new(1.0, 2.0, 3.0), &Claims { sources: vec![&beside], ..Claims::default() });
        assert!((tilted.volume - 0.25).abs() < 0.02, "{tilted:?}");
    }
}
