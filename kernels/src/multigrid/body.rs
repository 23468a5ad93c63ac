//! A body on one level of the hierarchy: the term C W Cᵀ of a few degrees of freedom, and its way to the next level.

use super::aggregation::{Aggregation, Parent};
use super::level::Level;
use crate::checkerboard::{offset, place};
use crate::leaf;
use crate::low_rank::{LowRank, Weight};
use std::sync::Arc;

/// Name of a cell: colour, leaf, row · 4 + lane.
pub type Name = (u8, u32, u8);

/// The largest T_jj W_jj, T = Cᵀ D⁻¹ C, up to which a body is left out of a level: by so much the block of a colour differs from
/// D. Measured in docs/pressure.md.
const HEAVY: f64 = 0.03;

/// A body on one level.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// Degrees of freedom.
    pub size: usize,
    /// W, row-major.
    pub weight: Arc<Vec<f64>>,
    /// The cells it pushes, sorted, no repeats.
    pub cells: Vec<Name>,
    /// `[cell][degree of freedom]`: C.
    pub coefficients: Vec<f32>,
    /// The super-cells it pushes, sorted, with their rows of C.
    pub supers: Vec<(u32, Vec<f64>)>,
    /// Its moments.
    pub shape: Shape,
}

impl Body {
    /// A low-rank term as a body, if it is dense and of at most `limit` degrees of freedom.
    pub fn new(term: &LowRank, level: &Level, limit: usize) -> Option<Self> {
        let k = term.columns.len();
        let Weight::Dense(weight) = &term.weight else { return None };
        if k == 0 || k > limit {
            return None;
        }
        let cells = term.columns.iter().enumerate().flat_map(|(j, column)| {
            column.cells.iter().map(move |&(l, c, r, lane, w)| ((c, l, r * 4 + lane), j, w))
        });
        let supers = term.columns.iter().enumerate();
        let supers = supers.flat_map(|(j, column)| column.supers.iter().map(move |&(b, w)| (b, j, w)));
        let (cells, coefficients) = gather(cells.collect(), k);
        let (numbers, rows) = gather(supers.collect(), k);
        let rows = rows.chunks_exact(k).map(<[f64]>::to_vec);
        let coefficients: Vec<f32> = coefficients.iter().map(|&c| c as f32).collect();
        Some(Self {
            size: k,
            weight: weight.clone(),
            shape: Shape::new(level, &cells, &coefficients, k),
            cells,
            coefficients,
            supers: numbers.into_iter().zip(rows).collect(),
        })
    }

    /// The body on the next coarser level: every coarse cell is pushed as all the cells that it is made of are.
    pub fn coarsen(&self, map: &Aggregation) -> Self {
        let k = self.size;
        let mut cells: Vec<(Name, usize, f64)> = Vec::with_capacity(self.cells.len() * k);
        let mut add = |name: Name, j: usize, c: f64| {
            if c != 0.0 {
                cells.push((name, j, c));
            }
        };
        for (&cell, row) in self.cells.iter().zip(self.coefficients.chunks_exact(k)) {
            let name = parent(map, cell);
            row.iter().enumerate().for_each(|(j, &c)| add(name, j, c.into()));
        }
        let mut supers: Vec<(u32, usize, f64)> = Vec::new();
        for (b, row) in &self.supers {
            match map.supers[*b as usize] {
                Parent::Super(p) => supers.extend(row.iter().enumerate().map(|(j, &c)| (p, j, c))),
                Parent::Cell(l, n) => {
                    let name = name(l, n.into());
                    row.iter().enumerate().for_each(|(j, &c)| add(name, j, c));
                }
            }
        }
        let (cells, coefficients) = gather(cells, k);
        let (numbers, rows) = gather(supers, k);
        let rows = rows.chunks_exact(k).map(<[f64]>::to_vec);
        Self {
            cells,
            coefficients: coefficients.iter().map(|&c| c as f32).collect(),
            supers: numbers.into_iter().zip(rows).collect(),
            weight: self.weight.clone(),
            shape: self.shape.halved(),
            ..*self
        }
    }

    /// Whether it changes little of what the sweeps of a level do.
    pub fn is_heavy(&self, level: &Level) -> bool {
        let k = self.size;
        let mut pushed = vec![0.0; k];
        for (&(colour, l, lane), row) in self.cells.iter().zip(self.coefficients.chunks_exact(k)) {
            let d = level.diagonal[usize::from(colour)][l as usize][usize::from(lane >> 2)]
                [usize::from(lane & 3)];
            pushed.iter_mut().zip(row).for_each(|(t, &c)| *t += f64::from(c * c / d));
        }
        for (b, row) in &self.supers {
            let d = level.supers.diagonal[*b as usize];
            pushed.iter_mut().zip(row).for_each(|(t, &c)| *t += c * c / d);
        }
        pushed.iter().enumerate().all(|(j, t)| t * self.weight[j * k + j] <= HEAVY)
    }

    /// Cells that its cells span along the axis where they span most; none if it pushes super-cells.
    pub fn span(&self, level: &Level) -> Option<i32> {
        if !self.supers.is_empty() {
            return None;
        }
        let (mut low, mut high) = ([i32::MAX; 3], [i32::MIN; 3]);
        for &(colour, l, lane) in &self.cells {
            let at = leaf::local(offset(colour.into(), (lane >> 2).into(), (lane & 3).into()));
            for a in 0..3 {
                let c = level.origins[l as usize][a] + at[a];
                (low[a], high[a]) = (low[a].min(c), high[a].max(c));
            }
        }
        (0..3).map(|a| high[a].saturating_sub(low[a]).saturating_add(1)).max()
    }

    /// What a body that has become small does to the cells around it. A gradient g of the pressure pushes its degrees of
    /// freedom by m · g, and their motion carries W m · g m through the faces; a mean pressure p pushes them by s p, which
    /// carries s W s p.
    pub fn conductances(&self) -> Conductances {
        let k = self.size;
        let form = |v: &dyn Fn(usize) -> f64| -> f64 {
            (0..k * k).map(|e| v(e / k) * self.weight[e] * v(e % k)).sum()
        };
        let shape = &self.shape;
        let home = shape.centre.map(|c| c.floor() as i32);
        let mut faces = Vec::new();
        for axis in 0..3 {
            let conductance = form(&|j| shape.moments[j][axis]);
            let part = shape.centre[axis] - f64::from(home[axis]);
            for (side, share) in [(0, 1.0 - part), (1, part)] {
                let mut upper = home;
                upper[axis] += side;
                faces.push((axis, upper, share * conductance));
            }
        }
        Conductances { faces, home, held: form(&|j| shape.sums[j]) }
    }
}

/// What a small body adds to a level without it.
#[derive(Clone, Debug)]
pub struct Conductances {
    /// (axis, cell, conductance) of the cell's lower face.
    pub faces: Vec<(usize, [i32; 3], f64)>,
    /// The cell it lies in.
    pub home: [i32; 3],
    /// Conductance of that cell to a pressure known to be 0.
    pub held: f64,
}

/// The first moments of a body's rows of C, in cells of its level.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// Where it is.
    centre: [f64; 3],
    /// Per degree of freedom: Σ c.
    sums: Vec<f64>,
    /// Per degree of freedom: Σ c (position − centre).
    moments: Vec<[f64; 3]>,
}

impl Shape {
    fn new(level: &Level, cells: &[Name], coefficients: &[f32], k: usize) -> Self {
        let place = |&(colour, l, lane): &Name| {
            let at = leaf::local(offset(colour.into(), (lane >> 2).into(), (lane & 3).into()));
            [0, 1, 2].map(|a| f64::from(level.origins[l as usize][a] + at[a]) + 0.5)
        };
        let (mut centre, mut total) = ([0.0; 3], 0.0);
        for (cell, row) in cells.iter().zip(coefficients.chunks_exact(k)) {
            let size = row.iter().map(|c| f64::from(c.abs())).sum::<f64>();
            let at = place(cell);
            (0..3).for_each(|a| centre[a] += size * at[a]);
            total += size;
        }
        if total > 0.0 {
            centre = centre.map(|c| c / total);
        }
        let (mut sums, mut moments) = (vec![0.0; k], vec![[0.0; 3]; k]);
        for (cell, row) in cells.iter().zip(coefficients.chunks_exact(k)) {
            let at = place(cell);
            for (j, &c) in row.iter().enumerate() {
                sums[j] += f64::from(c);
                (0..3).for_each(|a| moments[j][a] += f64::from(c) * (at[a] - centre[a]));
            }
        }
        Self { centre, sums, moments }
    }

    fn halved(&self) -> Self {
        let half = |v: [f64; 3]| v.map(|c| 0.5 * c);
        let moments = self.moments.iter().map(|&m| half(m)).collect();
        Self { centre: half(self.centre), sums: self.sums.clone(), moments }
    }
}

/// The coarse cell that a cell belongs to.
pub fn parent(map: &Aggregation, (colour, l, lane): Name) -> Name {
    let at = leaf::local(offset(colour.into(), (lane >> 2).into(), (lane & 3).into()));
    let (parent, octant) = map.parents[l as usize];
    let base = [octant >> 2, octant >> 1 & 1, octant & 1].map(|o| 4 * i32::from(o));
    let [x, y, z] = std::array::from_fn(|a| base[a] + (at[a] >> 1));
    name(parent, leaf::offset(x, y, z))
}

/// The name of a cell by its leaf and offset in leaf order.
pub fn name(leaf: u32, n: usize) -> Name {
    let (colour, row, lane) = place(n);
    (colour as u8, leaf, (row * 4 + lane) as u8)
}

/// Entries (row, column, value) as sorted rows with dense values, `[row][column]`.
fn gather<T: Copy + Ord>(mut entries: Vec<(T, usize, f64)>, columns: usize) -> (Vec<T>, Vec<f64>) {
    entries.sort_by_key(|e| (e.0, e.1));
    let (mut rows, mut values) = (Vec::new(), Vec::new());
    for run in entries.chunk_by(|a, b| a.0 == b.0) {
        rows.push(run[0].0);
        let start = values.len();
        values.resize(start + columns, 0.0);
        run.iter().for_each(|e| values[start + e.1] += e.2);
    }
    (rows, values)
}

/// The neighbour of a cell on one side of an axis, if a face connects the two.
fn linked(level: &Level, l: u32, cell: [i32; 3], axis: usize, upper: bool) -> Option<(u32, usize)> {
    let mut other = cell;
    other[axis] += if upper { 1 } else { -1 };
    let outside = !(0..leaf::DIM as i32).contains(&other[axis]);
    let there = if outside { level.neighbours[l as usize][2 * axis + usize::from(upper)] } else { l };
    if there as usize >= level.leaves() {
        return None;
    }
    let n = leaf::offset(other[0], other[1], other[2]);
    let (owner, at) = if upper { (there, n) } else { (l, leaf::offset(cell[0], cell[1], cell[2])) };
    let (colour, row, lane) = place(at);
    (level.faces[axis][colour][owner as usize][row][lane] > 0.0).then_some((there, n))
}

/// Whether a cell is joined to anything but bodies.
pub fn is_joined(level: &Level, (colour, l, lane): Name) -> bool {
    let (colour, l, row, k) = (colour as usize, l as usize, (lane >> 2) as usize, (lane & 3) as usize);
    let at = leaf::local(offset(colour, row, k));
    let faces = (0..3).any(|axis| {
        linked(level, l as u32, at, axis, false).is_some()
            || linked(level, l as u32, at, axis, true).is_some()
    });
    faces
        || level
            .contacts
            .groups_of(l, colour)
            .iter()
            .any(|g| level.contacts.of(g).iter().any(|c| c.lane == lane))
}
