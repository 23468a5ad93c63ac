//! The surface of a level set as a mesh of triangles: surface nets on the lattice of every `step`-th voxel.
//!
//! Every cell of the lattice that the surface crosses gets a vertex, the mean of where it crosses the cell's edges; every
//! edge of the lattice that it crosses gets two triangles, between the vertices of the four cells around it.

use std::collections::HashMap;

/// Voxels along a leaf.
const EDGE: i32 = 8;
/// Voxels of a leaf.
const LEAF: usize = 512;
/// No vertex.
const NONE: u32 = u32::MAX;

/// A sparse level set.
pub struct Field<'a> {
    /// Lowest voxel of every leaf.
    pub origins: &'a [[i32; 3]],
    /// `[leaf][512]`, z fastest.
    pub values: &'a [f32],
    /// Regions of one value beside the leaves: lowest voxel, voxels along an edge, value.
    pub tiles: &'a [([i32; 3], i32, f32)],
    /// Value everywhere else.
    pub background: f32,
}

/// A mesh in voxels.
#[derive(Debug, Default)]
pub struct Mesh {
    /// `[vertex]`
    pub positions: Vec<[f32; 3]>,
    /// `[triangle]`; seen from outside, their corners go round against the clock.
    pub triangles: Vec<[u32; 3]>,
    /// Voxels between two samples.
    pub step: i32,
}

/// The mesh of a surface, with a step that leaves at most so many triangles; with the largest step, of 8 voxels, there may
/// be more.
pub fn mesh(field: &Field, most: usize) -> Mesh {
    let net = Net::new(field);
    for step in [1, 2, 4] {
        if 2 * net.crossings(step) <= most {
            return net.mesh(step);
        }
    }
    net.mesh(EDGE)
}

/// Where a value comes from.
#[derive(Clone, Copy)]
enum Block {
    Leaf(usize),
    Constant(f32),
}

struct Net<'a> {
    field: &'a Field<'a>,
    leaves: HashMap<[i32; 3], usize>,
    /// Tiles of a leaf's size.
    small: HashMap<[i32; 3], f32>,
    large: Vec<&'a ([i32; 3], i32, f32)>,
}

impl<'a> Net<'a> {
    fn new(field: &'a Field<'a>) -> Self {
        let leaves = field.origins.iter().enumerate().map(|(i, o)| (*o, i)).collect();
        let is_small = |t: &&([i32; 3], i32, f32)| t.1 == EDGE;
        let small = field.tiles.iter().filter(is_small).map(|t| (t.0, t.2)).collect();
        let large = field.tiles.iter().filter(|t| !is_small(t)).collect();
        Self { field, leaves, small, large }
    }

    /// What is at the leaf of that origin.
    fn block(&self, origin: [i32; 3]) -> Block {
        if let Some(&leaf) = self.leaves.get(&origin) {
            return Block::Leaf(leaf);
        }
        if let Some(&value) = self.small.get(&origin) {
            return Block::Constant(value);
        }
        let covers =
            |t: &&&([i32; 3], i32, f32)| (0..3).all(|c| (0..t.1).contains(&(origin[c].wrapping_sub(t.0[c]))));
        Block::Constant(self.large.iter().find(covers).map_or(self.field.background, |t| t.2))
    }

    /// The leaf and its seven neighbours above, by the bits of x, y, z.
    fn above(&self, origin: [i32; 3]) -> [Block; 8] {
        std::array::from_fn(|n| self.block(moved(origin, bits(n).map(|b| b * EDGE))))
    }

    /// The value at a voxel of those eight, counted from the first one's lowest.
    fn value(&self, blocks: &[Block; 8], p: [i32; 3]) -> f32 {
        let n = (0..3).map(|c| usize::from(p[c] >= EDGE) << c).sum::<usize>();
        match blocks[n] {
            Block::Constant(value) => value,
            Block::Leaf(leaf) => self.field.values[leaf * LEAF + slot(p.map(|c| c & (EDGE - 1)))],
        }
    }

    fn corners(&self, blocks: &[Block; 8], p: [i32; 3], step: i32) -> [f32; 8] {
        std::array::from_fn(|n| self.value(blocks, moved(p, bits(n).map(|b| b * step))))
    }

    /// Cells that the surface crosses.
    fn crossings(&self, step: i32) -> usize {
        let of_leaf = |origin: &[i32; 3]| {
            let blocks = self.above(*origin);
            points(step).filter(|&p| is_crossed(&self.corners(&blocks, p, step))).count()
        };
        self.field.origins.iter().map(of_leaf).sum()
    }

    fn mesh(&self, step: i32) -> Mesh {
        let mut mesh = Mesh { step, ..Mesh::default() };
        let mut vertices = vec![NONE; self.field.origins.len() * LEAF];
        for (leaf, origin) in self.field.origins.iter().enumerate() {
            let blocks = self.above(*origin);
            for p in points(step) {
                let corners = self.corners(&blocks, p, step);
                if is_crossed(&corners) {
                    vertices[leaf * LEAF + slot(p)] = mesh.positions.len() as u32;
                    let within = middle(&corners);
                    let at = |c: usize| (origin[c] + p[c]) as f32 + within[c] * step as f32;
                    mesh.positions.push([at(0), at(1), at(2)]);
                }
            }
        }
        for origin in self.field.origins {
            let blocks = self.above(*origin);
            for p in points(step) {
                self.faces(&mut mesh, &vertices, *origin, &blocks, p);
            }
        }
        mesh
    }

    /// The triangles of the three edges that begin at a point of the lattice.
    fn faces(&self, mesh: &mut Mesh, vertices: &[u32], origin: [i32; 3], blocks: &[Block; 8], p: [i32; 3]) {
        let step = mesh.step;
        let is_inside = self.value(blocks, p) < 0.0;
        for a in 0..3 {
            let mut far = p;
            far[a] += step;
            if is_inside == (self.value(blocks, far) < 0.0) {
                continue;
            }
            let (b, c) = ((a + 1) % 3, (a + 2) % 3);
            let around = [[-1, -1], [0, -1], [0, 0], [-1, 0]].map(|[of_b, of_c]| {
                let mut cell = moved(origin, p);
                cell[b] += of_b * step;
                cell[c] += of_c * step;
                let leaf = self.leaves.get(&cell.map(|i| i & !(EDGE - 1)));
                leaf.map_or(NONE, |&leaf| vertices[leaf * LEAF + slot(cell.map(|i| i & (EDGE - 1)))])
            });
            // Where the surface runs out of the leaves it ends.
            if !around.contains(&NONE) {
                mesh.quad(around, is_inside);
            }
        }
    }
}

impl Mesh {
    /// Two triangles, parted along the shorter diagonal.
    fn quad(&mut self, mut q: [u32; 4], as_it_is: bool) {
        if !as_it_is {
            q.reverse();
        }
        let at = |i: usize| self.positions[q[i] as usize];
        let distance = |a: [f32; 3], b: [f32; 3]| (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f32>();
        let parted = if distance(at(0), at(2)) <= distance(at(1), at(3)) {
            [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]
        } else {
            [[q[1], q[2], q[3]], [q[1], q[3], q[0]]]
        };
        self.triangles.extend(parted);
    }
}

fn moved(p: [i32; 3], by: [i32; 3]) -> [i32; 3] {
    std::array::from_fn(|c| p[c].wrapping_add(by[c]))
}

fn bits(n: usize) -> [i32; 3] {
    std::array::from_fn(|c| (n >> c & 1) as i32)
}

fn slot(p: [i32; 3]) -> usize {
    (p[0] << 6 | p[1] << 3 | p[2]) as usize
}

/// The points of the lattice within a leaf.
fn points(step: i32) -> impl Iterator<Item = [i32; 3]> {
    let n = EDGE / step;
    (0..n * n * n).map(move |i| [i / (n * n), i / n % n, i % n].map(|c| c * step))
}

fn is_crossed(corners: &[f32; 8]) -> bool {
    let inside = corners.iter().filter(|v| **v < 0.0).count();
    (1..8).contains(&inside)
}

/// The mean of where the surface crosses a cell's edges, 0..1 along each axis.
fn middle(corners: &[f32; 8]) -> [f32; 3] {
    let (mut sum, mut count) = ([0.0f32; 3], 0.0f32);
    for n in 0..8 {
        for c in (0..3).filter(|c| n >> c & 1 == 0) {
            let (a, b) = (corners[n], corners[n | 1 << c]);
            if (a < 0.0) == (b < 0.0) {
                continue;
            }
            let part = a / (a - b);
            let along = if part.is_finite() { part } else { 0.5 };
            let at = bits(n).map(|b| b as f32);
            (0..3).for_each(|axis| sum[axis] += at[axis] + if axis == c { along } else { 0.0 });
            count += 1.0;
        }
    }
    sum.map(|s| s / count.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tile: its lower corner, its voxels along a side, its value.
    type Tile = ([i32; 3], i32, f32);

    /// A ball of that radius, voxels, around a point, in a band of leaves: their origins and values, and the tiles inside.
    fn ball(radius: f32, centre: [f32; 3]) -> (Vec<[i32; 3]>, Vec<f32>, Vec<Tile>) {
        let reach = (radius / 8.0) as i32 + 2;
        let phi = |p: [i32; 3]| {
            let d = (0..3).map(|c| (p[c] as f32 - centre[c]).powi(2)).sum::<f32>().sqrt() - radius;
            d.clamp(-3.0, 3.0)
        };
        let (mut origins, mut values, mut tiles) = (Vec::new(), Vec::new(), Vec::new());
        for x in -reach..reach {
            for y in -reach..reach {
                for z in -reach..reach {
                    let o = [x * 8, y * 8, z * 8];
                    let leaf: Vec<f32> = points(1).map(|p| phi(moved(o, p))).collect();
                    if leaf.iter().any(|v| v.abs() < 3.0) {
                        origins.push(o);
                        values.extend(leaf);
                    } else if leaf[0] < 0.0 {
                        tiles.push((o, 8, -3.0));
                    }
                }
            }
        }
        (origins, values, tiles)
    }

    /// Six times the volume that triangles enclose, and the edges that are not shared by two.
    fn closed(mesh: &Mesh) -> (f64, usize) {
        let at = |i: u32| mesh.positions[i as usize].map(f64::from);
        let mut edges: HashMap<(u32, u32), i32> = HashMap::new();
        let mut six = 0.0;
        for t in &mesh.triangles {
            let [a, b, c] = t.map(at);
            six += a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
                + a[2] * (b[0] * c[1] - b[1] * c[0]);
            for (i, j) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
                *edges.entry((i.min(j), i.max(j))).or_default() += if i < j { 1 } else { -1 };
            }
        }
        (six, edges.values().filter(|n| **n != 0).count())
    }

    #[test]
    fn a_balls_mesh_is_closed_and_has_its_volume() {
        for (radius, step, slack) in [(12.0, 1, 0.01), (20.3, 1, 0.005), (20.3, 2, 0.02), (20.3, 4, 0.08)] {
            let (origins, values, tiles) = ball(radius, [0.3, -0.4, 0.1]);
            let field = Field { origins: &origins, values: &values, tiles: &tiles, background: 3.0 };
            // The band is narrower than four voxels, so only the sign is left of what a large step sees.
            let mesh = Net::new(&field).mesh(step);
            let (six, open) = closed(&mesh);
            let volume = 4.0 / 3.0 * std::f64::consts::PI * f64::from(radius).powi(3);
            assert_eq!(open, 0, "radius {radius}, step {step}");
            assert!((six / 6.0 / volume - 1.0).abs() < slack, "{radius} {step}: {} of {volume}", six / 6.0);
        }
    }

    #[test]
    fn fewer_triangles_are_made_where_there_are_too_many() {
        let (origins, values, tiles) = ball(20.0, [0.0; 3]);
        let field = Field { origins: &origins, values: &values, tiles: &tiles, background: 3.0 };
        let fine = mesh(&field, usize::MAX);
        let coarse = mesh(&field, fine.triangles.len() / 2);
        assert_eq!((fine.step, coarse.step), (1, 2));
        assert!(coarse.triangles.len() <= fine.triangles.len() / 2);
        assert_eq!(mesh(&field, 0).step, 8);
    }

    #[test]
    fn what_is_no_number_makes_none() {
        let (origins, mut values, tiles) = ball(10.0, [0.0; 3]);
        values.iter_mut().step_by(7).for_each(|v| *v = f32::NAN);
        let field = Field { origins: &origins, values: &values, tiles: &tiles, background: f32::NAN };
        assert!(mesh(&field, usize::MAX).positions.iter().flatten().all(|x| x.is_finite()));
        let none = Field { origins: &[], values: &[], tiles: &[], background: 1.0 };
        assert!(mesh(&none, usize::MAX).triangles.is_empty());
    }
}
