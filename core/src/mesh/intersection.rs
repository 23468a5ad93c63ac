//! Finds triangles of a mesh that cross each other.

use super::TriMesh;
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// How far, relative to the size of the triangles, an edge must pass through before it counts as crossing, so that
/// parts that only touch do not count.
const DEPTH: f64 = 1e-6;

/// Triangles in a leaf of the tree.
const LEAF: usize = 8;

#[derive(Clone, Copy)]
struct Bounds {
    low: Vec3,
    high: Vec3,
}

impl Bounds {
    fn overlaps(&self, other: &Self) -> bool {
        self.low.cmple(other.high).all() && other.low.cmple(self.high).all()
    }
}

/// A tree of boxes: node n holds `order[range]`; its children are 2n + 1 and 2n + 2.
struct BoxTree<'a> {
    order: Vec<u32>,
    nodes: Vec<(Bounds, std::ops::Range<usize>)>,
    boxes: &'a [Bounds],
}

impl<'a> BoxTree<'a> {
    fn new(boxes: &'a [Bounds]) -> Self {
        let mut tree = Self { order: (0..boxes.len() as u32).collect(), nodes: Vec::new(), boxes };
        tree.split(0, 0..boxes.len());
        tree
    }

    fn split(&mut self, node: usize, range: std::ops::Range<usize>) {
        let none = Bounds { low: Vec3::INFINITY, high: Vec3::NEG_INFINITY };
        let all = self.order[range.clone()].iter().fold(none, |b, &t| {
            let own = &self.boxes[t as usize];
            Bounds { low: b.low.min(own.low), high: b.high.max(own.high) }
        });
        if self.nodes.len() <= node {
            self.nodes.resize(node + 1, (none, 0..0));
        }
        self.nodes[node] = (all, range.clone());
        if range.len() <= LEAF {
            return;
        }
        let axis = (all.high - all.low).max_position();
        let key = |t: &u32| self.boxes[*t as usize].low[axis] + self.boxes[*t as usize].high[axis];
        let middle = range.len() / 2;
        self.order[range.clone()]
            .select_nth_unstable_by(middle, |a, b| key(a).total_cmp(&key(b)).then(a.cmp(b)));
        self.split(2 * node + 1, range.start..range.start + middle);
        self.split(2 * node + 2, range.start + middle..range.end);
    }

    fn any_overlapping(&self, with: &Bounds, mut found: impl FnMut(usize)) {
        let mut stack = vec![0];
        while let Some(node) = stack.pop() {
            let (bounds, range) = &self.nodes[node];
            if !bounds.overlaps(with) {
                continue;
            }
            if range.len() > LEAF {
                stack.extend([2 * node + 1, 2 * node + 2]);
                continue;
            }
            for &t in &self.order[range.clone()] {
                if self.boxes[t as usize].overlaps(with) {
                    found(t as usize);
                }
            }
        }
    }
}

/// The first pair of triangles (in their order) that cross, if any. `welded` are the triangles with points at
/// the same place made one.
pub(super) fn first_self_intersection(mesh: &TriMesh, welded: &[[u32; 3]]) -> Option<[usize; 2]> {
    let bounds = |t: usize| {
        let [a, b, c] = mesh.corners(t);
        Bounds { low: a.min(b).min(c), high: a.max(b).max(c) }
    };
    let boxes: Vec<Bounds> = (0..mesh.triangles.len()).map(bounds).collect();
    let tree = BoxTree::new(&boxes);
    (0..boxes.len()).into_par_iter().find_map_first(|t| {
        let mut first = None;
        tree.any_overlapping(&boxes[t], |other| {
            if other > t && first.is_none_or(|f| other < f) && cross(mesh, welded, t, other) {
                first = Some(other);
            }
        });
        first.map(|other| [t, other])
    })
}

/// Whether an edge of one triangle that shares no point with the other runs through it, or the reverse.
fn cross(mesh: &TriMesh, welded: &[[u32; 3]], t: usize, other: usize) -> bool {
    let shared = welded[t].iter().filter(|p| welded[other].contains(p)).count();
    if shared >= 2 {
        return false;
    }
    let pierces = |edges: usize, through: usize| {
        let corners = mesh.corners(edges).map(|p| p.as_dvec3());
        let triangle = mesh.corners(through).map(|p| p.as_dvec3());
        (0..3).any(|side| {
            let ends = [side, (side + 1) % 3];
            let free = ends.iter().all(|&e| !welded[through].contains(&welded[edges][e]));
            free && segment_pierces(ends.map(|e| corners[e]), triangle)
        })
    };
    pierces(t, other) || pierces(other, t)
}

/// Whether a segment runs through a triangle, its edges included, by the signs of tetrahedra volumes.
fn segment_pierces([p, q]: [DVec3; 2], [a, b, c]: [DVec3; 3]) -> bool {
    let volume = |a: DVec3, b: DVec3, c: DVec3, d: DVec3| (b - a).dot((c - a).cross(d - a));
    let size = [b - a, c - b, a - c, q - p].iter().map(|e| e.length()).fold(0.0, f64::max);
    let least = DEPTH * size.powi(3);
    let (below, above) = (volume(a, b, c, p), volume(a, b, c, q));
    if below.abs() < least || above.abs() < least || (below > 0.0) == (above > 0.0) {
        return false;
    }
    let around = [volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a)];
    around.iter().all(|&v| v > -least) || around.iter().all(|&v| v < least)
}
