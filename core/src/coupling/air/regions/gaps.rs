//! The inactive space between and around the leaves, described by few boxes of inactive tiles.
//!
//! A slab of tiles without any leaf is one box; in a slab with leaves, a row without any is one box; in a
//! row with leaves, each stretch between two of them is one box. There are at most a few boxes per leaf,
//! however large the bounding box, and the outermost ones reach to infinity.

use crate::coupling::fields::AirLimits;
use crate::grid::{Coord, leaf};
use std::ops::Range;

/// Tile coordinate that stands for infinity: no leaf lies this far out.
const FAR: i32 = 1 << 28;

/// Inactive tiles `low..high` (tile coordinates, 8 voxels each) that touch no leaf inside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GapBox {
    low: [i32; 3],
    high: [i32; 3],
}

impl GapBox {
    /// Index-space extent inside the limits, per axis (low, high).
    fn extent(&self, limits: &AirLimits) -> [(f64, f64); 3] {
        std::array::from_fn(|a| {
            let edge = |t: i32, far: f64| match t {
                t if t.abs() >= FAR => far,
                t => f64::from(t) * leaf::DIM as f64 - 0.5,
            };
            let (lo, hi) = (edge(self.low[a], f64::NEG_INFINITY), edge(self.high[a], f64::INFINITY));
            let (lo, hi) = (
                if limits.walled[2 * a] { lo.max(limits.low[a]) } else { lo },
                if limits.walled[2 * a + 1] { hi.min(limits.high[a]) } else { hi },
            );
            (lo, hi.max(lo))
        })
    }

    /// True when the box reaches past a side of the domain that has no wall.
    pub(crate) fn is_exterior(&self, limits: &AirLimits) -> bool {
        self.extent(limits).iter().enumerate().any(|(a, &(lo, hi))| {
            (!limits.walled[2 * a] && lo < limits.low[a])
                || (!limits.walled[2 * a + 1] && hi > limits.high[a])
        })
    }

    /// Volume in voxels and centre in index space; the volume of an unbounded box is infinite.
    pub(crate) fn volume_and_centre(&self, limits: &AirLimits) -> (f64, [f64; 3]) {
        let extent = self.extent(limits);
        (extent.iter().map(|(lo, hi)| hi - lo).product(), extent.map(|(lo, hi)| 0.5 * (lo + hi)))
    }
}

/// A slab or a row: an interval of tile coordinates and what it is divided into.
#[derive(Debug)]
struct Interval {
    low: i32,
    high: i32,
    parts: Range<usize>,
}

/// All gap boxes of a set of leaves.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    pub(crate) boxes: Vec<GapBox>,
    rows: Vec<Interval>,
    slabs: Vec<Interval>,
}

/// Splits `low..high` at the given sorted items: calls `f(interval, items inside)`, where an interval with
/// items is one tile thick and one without spans everything up to the next item.
fn split<T>(
    (low, high): (i32, i32),
    items: &[T],
    key: impl Fn(&T) -> i32,
    mut f: impl FnMut((i32, i32), &[T]),
) {
    let mut from = low;
    for group in items.chunk_by(|a, b| key(a) == key(b)) {
        let at = key(&group[0]);
        if at < low || at >= high {
            continue;
        }
        if at > from {
            f((from, at), &[]);
        }
        f((at, at + 1), group);
        from = at + 1;
    }
    if from < high {
        f((from, high), &[]);
    }
}

impl Gaps {
    /// The gaps between sorted leaf origins, inside the walled sides of the domain.
    pub(crate) fn new(origins: &[Coord], limits: &AirLimits) -> Self {
        let tiles: Vec<Coord> = origins.iter().map(|&o| o >> leaf::LOG2_DIM as i32).collect();
        let range: [(i32, i32); 3] = std::array::from_fn(|a| {
            let tile = |index: f64| ((index + 0.5) / leaf::DIM as f64).clamp(-f64::from(FAR), f64::from(FAR));
            let low = if limits.walled[2 * a] { tile(limits.low[a]).floor() as i32 } else { -FAR };
            let high = if limits.walled[2 * a + 1] { tile(limits.high[a]).ceil() as i32 } else { FAR };
            (low, high)
        });
        let mut gaps = Self::default();
        split(
            range[0],
            &tiles,
            |t| t.x,
            |(x0, x1), slab| {
                let first_row = gaps.rows.len();
                split(
                    range[1],
                    slab,
                    |t| t.y,
                    |(y0, y1), row| {
                        let first_box = gaps.boxes.len();
                        split(
                            range[2],
                            row,
                            |t| t.z,
                            |(z0, z1), leaves| {
                                if leaves.is_empty() {
                                    gaps.boxes.push(GapBox { low: [x0, y0, z0], high: [x1, y1, z1] });
                                }
                            },
                        );
                        gaps.rows.push(Interval { low: y0, high: y1, parts: first_box..gaps.boxes.len() });
                    },
                );
                gaps.slabs.push(Interval { low: x0, high: x1, parts: first_row..gaps.rows.len() });
            },
        );
        gaps
    }

    /// The box that holds the tile of a leaf origin; `None` for an active leaf or beyond a walled side.
    pub(crate) fn locate(&self, origin: Coord) -> Option<u32> {
        let tile = origin >> leaf::LOG2_DIM as i32;
        let inside = |list: &[Interval], t: i32| -> Option<usize> {
            let i = list.partition_point(|v| v.high <= t);
            list.get(i).filter(|v| v.low <= t).map(|_| i)
        };
        let slab = &self.slabs[inside(&self.slabs, tile.x)?];
        let rows = &self.rows[slab.parts.clone()];
        let row = &rows[inside(rows, tile.y)?];
        let boxes = &self.boxes[row.parts.clone()];
        let i = boxes.partition_point(|b| b.high[2] <= tile.z);
        boxes.get(i).filter(|b| b.low[2] <= tile.z).map(|_| (row.parts.start + i) as u32)
    }

    /// Calls `f` for every two boxes that share a face. Linear in the number of boxes.
    pub(crate) fn adjacent(&self, mut f: impl FnMut(u32, u32)) {
        for slab in &self.slabs {
            for pair in self.rows[slab.parts.clone()].windows(2) {
                self.adjacent_boxes(&pair[0], &pair[1], &mut f);
            }
        }
        for pair in self.slabs.windows(2) {
            let (a, b) = (&self.rows[pair[0].parts.clone()], &self.rows[pair[1].parts.clone()]);
            overlaps(a, b, |v| (v.low, v.high), |i, j| self.adjacent_boxes(&a[i], &b[j], &mut f));
        }
    }

    fn adjacent_boxes(&self, a: &Interval, b: &Interval, f: &mut impl FnMut(u32, u32)) {
        overlaps(
            &self.boxes[a.parts.clone()],
            &self.boxes[b.parts.clone()],
            |v| (v.low[2], v.high[2]),
            |i, j| f((a.parts.start + i) as u32, (b.parts.start + j) as u32),
        );
    }
}

/// Calls `f(i, j)` for every two overlapping intervals of two sorted lists.
fn overlaps<T>(a: &[T], b: &[T], span: impl Fn(&T) -> (i32, i32), mut f: impl FnMut(usize, usize)) {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let ((a0, a1), (b0, b1)) = (span(&a[i]), span(&b[j]));
        if a0 < b1 && b0 < a1 {
            f(i, j);
        }
        if a1 <= b1 {
            i += 1;
        } else {
            j += 1;
        }
    }
}
