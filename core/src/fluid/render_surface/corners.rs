//! How a surface runs through a cube of eight corners: the loops of edges that it crosses.

use glam::{IVec3, Vec3};

/// Edge `a * 4 + b + 2 c` runs along axis a; b and c are its places along the axes that follow a.
pub(super) const EDGES: usize = 12;

/// A corner that an edge starts from, and the one where it ends; corner n is at (n & 1, n >> 1 & 1, n >> 2).
pub(super) const fn ends(edge: usize) -> [usize; 2] {
    let a = edge / 4;
    let low = (edge & 1) << ((a + 1) % 3) | (edge >> 1 & 1) << ((a + 2) % 3);
    [low, low | 1 << a]
}

/// Place of a corner.
pub(super) fn corner(n: usize) -> IVec3 {
    IVec3::new(n as i32 & 1, n as i32 >> 1 & 1, n as i32 >> 2)
}

/// The loops of a cube.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Loops {
    /// Number of loops, at most 4.
    pub(super) count: u8,
    /// Two bits for each edge: its loop.
    numbers: u32,
    /// Lower faces, by axis, that the surface crosses twice.
    pub(super) double: u8,
    /// Of these, those on which it joins edges at different places.
    crossed: u8,
}

impl Loops {
    /// Of the values at a cube's corners, positive inside.
    pub(super) fn of(values: &[f32; 8]) -> Self {
        let mut loops = Self::default();
        let mut links = [[None; 2]; EDGES];
        let mut link = |from: usize, to: usize| {
            for (one, other) in [(from, to), (to, from)] {
                let place = usize::from(links[one][0].is_some());
                links[one][place] = Some(other);
            }
        };
        let is_cut =
            |edge: usize| ends(edge).map(|n| values[n] > 0.0).windows(2).any(|ends| ends[0] != ends[1]);
        for face in 0..6 {
            let (axis, side) = (face / 2, face % 2);
            let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
            let along_b = [0, 1].map(|at_c| b * 4 + at_c + 2 * side);
            let along_c = [0, 1].map(|at_b| c * 4 + side + 2 * at_b);
            let [b0, b1, c0, c1] = [along_b[0], along_b[1], along_c[0], along_c[1]];
            let cut = Cut::of([b0, b1, c0, c1], is_cut);
            match cut.count {
                2 => link(cut.edges[0], cut.edges[1]),
                4 => {
                    let at = |at_b: usize, at_c: usize| values[side << axis | at_b << b | at_c << c];
                    let crossed = is_crossed([at(0, 0), at(1, 0), at(0, 1), at(1, 1)]);
                    for k in 0..2 {
                        link(along_b[k], along_c[k ^ usize::from(crossed)]);
                    }
                    if side == 0 {
                        loops.double |= 1 << axis;
                        loops.crossed |= u8::from(crossed) << axis;
                    }
                }
                _ => {}
            }
        }
        let mut number = [None; EDGES];
        for first in 0..EDGES {
            if number[first].is_some() || links[first][0].is_none() {
                continue;
            }
            let mut next = Some(first);
            while let Some(edge) = next {
                number[edge] = Some(loops.count);
                loops.numbers |= u32::from(loops.count) << (2 * edge);
                next = links[edge].into_iter().flatten().find(|&n| number[n].is_none());
            }
            loops.count += 1;
        }
        loops
    }

    /// The loop that crosses an edge.
    pub(super) fn at(&self, edge: usize) -> u32 {
        self.numbers >> (2 * edge) & 3
    }

    /// Of the two pieces of surface on a lower face that is crossed twice, the one that crosses the face's edge along the
    /// axis after (`is_first`) the face's, or the one after that, at place k.
    pub(super) fn piece(&self, axis: usize, is_first: bool, k: usize) -> u32 {
        let crossed = self.crossed >> axis & 1;
        if is_first { k as u32 } else { k as u32 ^ u32::from(crossed) }
    }

    /// How many lower faces before an axis the surface crosses twice.
    pub(super) fn doubles_before(&self, axis: usize) -> u32 {
        (self.double & ((1 << axis) - 1)).count_ones()
    }
}

/// The cut edges of a face.
struct Cut {
    count: usize,
    edges: [usize; 4],
}

impl Cut {
    fn of(all: [usize; 4], is_cut: impl Fn(usize) -> bool) -> Self {
        let mut found = Self { count: 0, edges: [0; 4] };
        for edge in all.into_iter().filter(|&e| is_cut(e)) {
            found.edges[found.count] = edge;
            found.count += 1;
        }
        found
    }
}

/// Whether, on a face with two corners inside that are not neighbours, the surface cuts off corners (0, 1) and (1, 0): the
/// asymptotic decider [Nielson and Hamann 1991]. Values at (0, 0), (1, 0), (0, 1), (1, 1).
fn is_crossed([v00, v10, v01, v11]: [f32; 4]) -> bool {
    let are_joined = (v00 * v11 - v10 * v01) / (v00 + v11 - v10 - v01) > 0.0;
    // What is cut off are the corners on the other side than the middle.
    (v00 > 0.0) == are_joined
}

/// Where a surface crosses an edge of a cube.
pub(super) fn crossing(edge: usize, values: &[f32; 8]) -> Vec3 {
    let [from, to] = ends(edge);
    let t = values[from] / (values[from] - values[to]);
    corner(from).as_vec3().lerp(corner(to).as_vec3(), t.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_crossed_edge_is_on_a_loop_and_both_sides_of_a_face_agree() {
        for signs in 0..256_usize {
            let values: [f32; 8] =
                std::array::from_fn(
                    |n| if signs >> n & 1 == 1 { 1.0 + n as f32 } else { -0.5 - (n * n) as f32 },
                );
            let loops = Loops::of(&values);
            let cut = (0..EDGES).filter(|&e| {
                ends(e).map(|n| values[n] > 0.0) == [true, false]
                    || ends(e).map(|n| values[n] > 0.0) == [false, true]
            });
            let mut used = [0; 4];
            cut.for_each(|e| used[loops.at(e) as usize] += 1);
            for (n, used) in used.iter().enumerate() {
                assert!(if n < usize::from(loops.count) { *used >= 3 } else { *used == 0 }, "{signs:b}");
            }
        }
    }
}
