//! Sets the velocity of the faces that solids close.

use crate::grid::block;
use crate::grid::morphology::{VoxelMask, words_of};
use crate::grid::rows::{Row, count_rows, in_pieces, row_of, rows_with, select, starts};
use crate::grid::sampling::{Position, Sampler, trilinear_gradient};
use crate::grid::{Coord, FaceGrid, Grid, leaf};
use crate::solid::SolidFields;
use glam::Vec3;
use rayon::prelude::*;

/// Smallest slope of a level set from which a normal is taken; smaller slopes occur in the middle of thin walls.
const LEAST_SLOPE: f32 = 0.3;

/// What closes faces.
pub struct Walls<'a> {
    /// The solids.
    pub solid: &'a SolidFields,
    /// Speed, m/s, at which liquid leaves the walls of its cells, where it has parted from them.
    pub parted: Option<&'a Grid<f32>>,
    /// The solids do not move, whatever their velocity.
    pub at_rest: bool,
    /// Edge of a voxel, m.
    pub h: f32,
}

impl<'a> Walls<'a> {
    /// Walls from which no liquid parts.
    pub fn held(solid: &'a SolidFields, h: f32) -> Self {
        Self { solid, parted: None, at_rest: false, h }
    }
}

/// Gives closed faces, those not in `open`, the normal velocity of the solid that they lie in, plus the speed at which
/// liquid leaves it.
pub(crate) fn constrain(velocity: &mut FaceGrid<f32>, open: [&VoxelMask; 3], walls: &Walls) {
    let &Walls { solid, parted, at_rest, h } = walls;
    let topology = velocity.topology.clone();
    let (moves, flow) = rayon::join(|| moving(solid, at_rest), || flow(velocity));
    // Beside solids at rest, only closed faces with any flow around them are computed, and leaves without flow stay as
    // they are. Beside moving solids all closed faces are computed.
    let none_moves = moves.is_empty();
    let is_still = |l: usize| {
        let own = solid.velocity.topology.leaf_of(topology.origins()[l]);
        let near = |l: usize| &solid.velocity.topology.neighbours()[l];
        let moves = |m: &u32| moves.get(*m as usize) == Some(&true);
        none_moves || own.is_some_and(|l| !near(l).iter().any(moves))
    };
    let flows = |l: usize| {
        let mut around = topology.neighbours()[l].iter().filter(|&&m| m != leaf::ABSENT);
        around.any(|&m| *flow.words(m as usize) != [0; 8])
    };
    let of_leaf = |l: usize| -> Option<Constrained> {
        let closed = open.map(|open| open.words(l).map(|word| !word));
        if closed.as_flattened().iter().all(|&word| word == 0) {
            return None;
        }
        let still = is_still(l);
        if still && !flows(l) {
            return None;
        }
        let near = if still { flow.grown_in(l, velocity.background != 0.0) } else { [u64::MAX; 8] };
        let asked = closed.map(|closed| std::array::from_fn(|x| closed[x] & near[x]));
        Some(Constrained { closed, asked, still })
    };
    let constrained: Vec<Option<Constrained>> = (0..topology.len()).into_par_iter().map(of_leaf).collect();
    let start = starts(constrained.iter().map(|of_leaf| of_leaf.as_ref().map_or(0, Constrained::rows)));
    let mut rows = vec![[0.0; leaf::DIM]; start[topology.len()]];
    in_pieces(&mut rows, &start).into_par_iter().for_each(|(l, rows)| {
        let Some(Constrained { asked, still, .. }) = &constrained[l] else { return };
        let mut faces = ClosedFaces::around(velocity, solid, parted, l, *still, h);
        let asked = asked
            .iter()
            .enumerate()
            .flat_map(|(axis, set)| rows_with(set).map(move |n| (axis, n, row_of(set, n))));
        asked.zip(rows).for_each(|((axis, n, set), row)| *row = faces.row(n, axis, set));
    });
    let [x, y, z] = &mut velocity.values;
    let leaves =
        x.par_chunks_mut(leaf::SIZE).zip(y.par_chunks_mut(leaf::SIZE)).zip(z.par_chunks_mut(leaf::SIZE));
    leaves.zip(&constrained).enumerate().for_each(|(l, (((x, y), z), constrained))| {
        if let Some(constrained) = constrained {
            constrained.write(&rows[start[l]..start[l + 1]], [x, y, z]);
        }
    });
}

/// The leaves of solids that move; none where all are at rest.
fn moving(solid: &SolidFields, at_rest: bool) -> Vec<bool> {
    if at_rest {
        return Vec::new();
    }
    let some = |values: &[f32]| values.iter().fold(false, |some, &u| some | (u != 0.0));
    let leaf =
        |l: usize| solid.velocity.values.iter().any(|values| some(&values[l * leaf::SIZE..][..leaf::SIZE]));
    let moves: Vec<bool> =
        (0..solid.velocity.topology.len()).into_par_iter().with_min_len(16).map(leaf).collect();
    if moves.contains(&true) { moves } else { Vec::new() }
}

/// The voxels with a velocity other than zero on any of their lower faces.
fn flow(velocity: &FaceGrid<f32>) -> VoxelMask {
    let leaves = velocity.values.each_ref().map(|values| values.as_chunks::<{ leaf::SIZE }>().0);
    VoxelMask::from_words(velocity.topology.clone(), |l| {
        let [x, y, z] = leaves.map(|leaves| words_of(&leaves[l], |u| u != 0.0));
        std::array::from_fn(|n| x[n] | y[n] | z[n])
    })
}

/// The closed faces of a leaf that get a value.
struct Constrained {
    /// Per axis the closed faces, and those among them whose value is not zero.
    closed: [[u64; 8]; 3],
    asked: [[u64; 8]; 3],
    /// Whether no solid near it moves.
    still: bool,
}

impl Constrained {
    /// How many rows have a value that is not zero.
    fn rows(&self) -> usize {
        self.asked.iter().map(count_rows).sum()
    }

    /// Writes the values of those rows, by axis, into the leaf.
    fn write(&self, rows: &[Row<f32>], leaf: [&mut [f32]; 3]) {
        let mut given = rows.iter();
        for ((values, closed), asked) in leaf.into_iter().zip(&self.closed).zip(&self.asked) {
            if *closed == [0; 8] {
                continue;
            }
            for (n, row) in values.as_chunks_mut::<{ leaf::DIM }>().0.iter_mut().enumerate() {
                let (closed, asked) = (row_of(closed, n), row_of(asked, n));
                if closed != 0 {
                    *row = select(closed, [0.0; leaf::DIM], *row);
                }
                if asked != 0
                    && let Some(&given) = given.next()
                {
                    *row = select(asked, given, *row);
                }
            }
        }
    }
}

/// The velocity and the solids around the faces of one leaf.
struct ClosedFaces<'a> {
    /// Per axis its component there.
    blocks: [[f32; block::SIZE]; 3],
    walls: Around<'a>,
    parted: Option<&'a Grid<f32>>,
    origin: Coord,
    /// Whether no solid moves.
    still: bool,
    least_slope: f32,
}

impl<'a> ClosedFaces<'a> {
    fn around(
        velocity: &FaceGrid<f32>,
        solid: &'a SolidFields,
        parted: Option<&'a Grid<f32>>,
        l: usize,
        still: bool,
        h: f32,
    ) -> Self {
        let origin = velocity.topology.origins()[l];
        let mut blocks = [[0.0; block::SIZE]; 3];
        for (block, values) in blocks.iter_mut().zip(&velocity.values) {
            block::load(block, values, &velocity.topology.neighbours()[l], velocity.background);
        }
        let near = |parted: &&Grid<f32>| {
            let reached = |&m: &u32| {
                m != leaf::ABSENT
                    && parted.topology.leaf_of(velocity.topology.origins()[m as usize]).is_some()
            };
            velocity.topology.neighbours()[l].iter().any(reached)
        };
        let (walls, parted) = (Around::of(solid, origin), parted.filter(near));
        Self { blocks, walls, parted, origin, still, least_slope: LEAST_SLOPE * h }
    }

    /// u + n ((w − u)·n + v) on the lower `axis` faces of the z-row n, where v is the speed at which liquid leaves the
    /// wall. Only the faces in `set` are valid.
    fn row(&mut self, n: usize, axis: usize, set: u8) -> Row<f32> {
        let first = [(n / leaf::DIM) as i32, (n % leaf::DIM) as i32, 0];
        let u = self.velocity(first, axis);
        let mut solid = [[0.0; leaf::DIM]; 3];
        if !self.still {
            for z in (0..leaf::DIM).filter(|z| set & 1 << z != 0) {
                let cell = self.origin + Coord::new(first[0], first[1], z as i32);
                let velocity = self.walls.velocity(cell, axis);
                (0..3).for_each(|a| solid[a][z] = velocity[a]);
            }
        }
        let mut leaves = [0.0; leaf::DIM];
        if let Some(parted) = self.parted {
            for z in (0..leaf::DIM).filter(|z| set & 1 << z != 0) {
                leaves[z] =
                    self.walls.leaves(parted, self.origin + Coord::new(first[0], first[1], z as i32), axis);
            }
        }
        let gradient = self.walls.gradients(first, axis);
        let (still, least) = (self.still, self.least_slope);
        let (u_along, solid_along, slope_along) = (u[axis], solid[axis], gradient[axis]);
        // Without branches, so that the faces of the row are computed at once.
        let mut row = [0.0; leaf::DIM];
        for z in 0..leaf::DIM {
            let [u, of_solid, gradient] =
                [&u, &solid, &gradient].map(|v| Vec3::new(v[0][z], v[1][z], v[2][z]));
            // n = ∇φ / |∇φ|.
            let per_slope = gradient.length_recip();
            let into = (of_solid - u).dot(gradient * per_slope) + leaves[z];
            let slides = u_along[z] + into * (slope_along[z] * per_slope);
            let moved = if gradient.length() < least { solid_along[z] } else { slides };
            let calm = still & (u.x == 0.0) & (u.y == 0.0) & (u.z == 0.0) & (leaves[z] == 0.0);
            row[z] = if calm { 0.0 } else { moved };
        }
        row
    }

    /// The velocity in the middle of the lower `axis` faces of a z-row: the other components are the means of the four
    /// faces around.
    fn velocity(&self, first: [i32; 3], axis: usize) -> [Row<f32>; 3] {
        std::array::from_fn(|other| {
            let at = |back: i32, on: i32| -> Row<f32> {
                let mut at = first;
                at[axis] -= back;
                at[other] += on;
                *row_at(&self.blocks[other], block::index(at[0], at[1], at[2]))
            };
            if other == axis {
                return at(0, 0);
            }
            // The axes are summed in order, as an interpolation does.
            let [a, b, c, d] = match axis < other {
                true => [at(1, 0), at(0, 0), at(1, 1), at(0, 1)],
                false => [at(1, 0), at(1, 1), at(0, 0), at(0, 1)],
            };
            std::array::from_fn(|z| 0.25 * ((a[z] + b[z]) + (c[z] + d[z])))
        })
    }
}

/// The row of eight values of a block from an index on.
#[inline(always)]
fn row_at(block: &[f32; block::SIZE], first: usize) -> &Row<f32> {
    block[first..].first_chunk().expect("a row inside the block")
}

/// The solids around one leaf.
struct Around<'a> {
    solid: &'a SolidFields,
    nodes: [f32; block::SIZE],
    sampler: Sampler<'a>,
}

impl<'a> Around<'a> {
    fn of(solid: &'a SolidFields, origin: Coord) -> Self {
        Self { solid, nodes: block::of(&solid.nodes, origin), sampler: Sampler::new(&solid.nodes.topology) }
    }

    /// ∇φ, per voxel, in the middle of the lower `axis` faces of a z-row.
    fn gradients(&self, first: [i32; 3], axis: usize) -> [Row<f32>; 3] {
        let first = block::index(first[0], first[1], first[2]);
        let [x, y, z] = block::STRIDE;
        let corners = [0, x, y, x + y, z, x + z, y + z, x + y + z];
        let mut middle = Vec3::splat(0.5);
        middle[axis] = 0.0;
        let mut gradients = [[0.0; leaf::DIM]; 3];
        let corners = corners.map(|step| row_at(&self.nodes, first + step));
        for z in 0..leaf::DIM {
            let gradient = trilinear_gradient(&corners.map(|row| row[z]), middle).1;
            [gradients[0][z], gradients[1][z], gradients[2][z]] = gradient.to_array();
        }
        gradients
    }

    /// Speed at which liquid leaves the wall in the lower `axis` face of a cell, m/s: that of the liquid beside the face, or
    /// beside the solid cells on its sides.
    fn leaves(&self, parted: &Grid<f32>, cell: Coord, axis: usize) -> f32 {
        let open = &self.solid.open;
        let both = [cell, cell - Coord::AXES[axis]];
        let is_solid =
            |c: Coord| (0..3).all(|a| open.get(a, c) <= 0.0 && open.get(a, c + Coord::AXES[a]) <= 0.0);
        let own = parted.get(both[0]) + parted.get(both[1]);
        if own != 0.0 || !both.into_iter().all(is_solid) {
            return own;
        }
        let mut around =
            both.into_iter().flat_map(|c| Coord::AXES.into_iter().flat_map(move |e| [c + e, c - e]));
        around.find_map(|c| Some(parted.get(c)).filter(|v| *v != 0.0)).unwrap_or(0.0)
    }

    /// The solids' velocity in the middle of the lower `axis` face of a cell.
    fn velocity(&mut self, cell: Coord, axis: usize) -> Vec3 {
        let mut base = cell;
        base[axis] -= 1;
        let middle = Position { base, fraction: 0.5 * Vec3::AXES[axis] };
        self.sampler.sample_velocity(&self.solid.velocity, middle)
    }
}
