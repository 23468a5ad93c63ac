//! Bodies that the smoother solves together, as data, and their answer to what pushes them (`settle.rs` says why).

use crate::memory;

/// Place of the super-cells beside the colours 0 and 1.
pub const SUPERS: usize = 2;

/// A body in a block.
#[derive(Clone, Debug, Default)]
pub struct Member {
    /// First of its degrees of freedom in the block.
    pub at: usize,
    /// How many.
    pub size: usize,
    /// Per colour: the cells it pushes, (leaf, row · 4 + lane).
    pub cells: [Vec<(u32, u8)>; 2],
    /// Per colour, `[cell][degree of freedom]`.
    pub coefficients: [Vec<f32>; 2],
    /// The super-cells it pushes.
    pub supers: Vec<(u32, Vec<f64>)>,
}

/// Bodies that are solved together.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Degrees of freedom.
    pub size: usize,
    /// The bodies.
    pub members: Vec<Member>,
    /// W.
    pub weight: Vec<f64>,
    /// (1 + T W)⁻¹ of red, black, super-cells.
    pub carry: [Vec<f64>; 3],
    /// How a red sweep between two black ones answers; `None`: as any other.
    pub opposed: Option<Opposed>,
}

/// How the pressure pushes a block or a sheet.
#[derive(Clone, Debug, Default)]
pub struct Motion {
    /// Cᵀ x of red, black, super-cells.
    pub moved: [Vec<f64>; 3],
    /// The last y.
    pub impulse: Vec<f64>,
    /// Room for Cᵀ t.
    pub pushed: Vec<f64>,
    /// Room for what it comes to with all else that pushes.
    pub total: Vec<f64>,
}

/// The bodies of a level.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    /// No two touch a cell or a super-cell in common.
    pub list: Vec<Block>,
    /// Cells of all bodies, repeats counted.
    pub cells: usize,
}

/// The second answer of a block.
#[derive(Clone, Debug, Default)]
pub struct Opposed {
    /// (K⁻¹ − G⁻¹) (1 + T W): what the bodies are pushed less by, from the change of what pushes them.
    pub answer: Vec<f64>,
    /// T times that: what they are pushed more by.
    pub push: Vec<f64>,
}

impl Blocks {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        let member = |m: &Member| {
            let cells = m.cells.iter().map(memory::of).sum::<usize>();
            let supers = m.supers.iter().map(|s| memory::of(&s.1)).sum::<usize>();
            cells + m.coefficients.iter().map(memory::of).sum::<usize>() + supers + memory::of(&m.supers)
        };
        let block = |b: &Block| {
            let matrices = b.carry.iter().chain([&b.weight]).map(memory::of);
            matrices.sum::<usize>() + memory::of(&b.members) + b.members.iter().map(member).sum::<usize>()
        };
        memory::of(&self.list) + self.list.iter().map(block).sum::<usize>()
    }
}

impl Member {
    /// Keeps the cells of one colour that pass the test.
    pub fn retain(&mut self, colour: usize, keep: impl Fn(&(u32, u8)) -> bool) {
        let cells = std::mem::take(&mut self.cells[colour]);
        let rows = std::mem::take(&mut self.coefficients[colour]);
        for (cell, row) in cells.into_iter().zip(rows.chunks_exact(self.size)).filter(|(c, _)| keep(c)) {
            self.cells[colour].push(cell);
            self.coefficients[colour].extend_from_slice(row);
        }
    }
}

impl Block {
    /// Rows of C: the cells of one colour; cells of several members repeat.
    pub fn cells(&self, colour: usize) -> impl Iterator<Item = ((u32, u8), Vec<f64>)> {
        self.members.iter().flat_map(move |m| {
            let rows = m.coefficients[colour].chunks_exact(m.size);
            m.cells[colour].iter().zip(rows).map(move |(&cell, row)| {
                let mut wide = vec![0.0; self.size];
                wide[m.at..m.at + m.size].iter_mut().zip(row).for_each(|(w, &c)| *w = f64::from(c));
                (cell, wide)
            })
        })
    }

    /// Rows of C: the super-cells.
    pub fn super_rows(&self) -> impl Iterator<Item = (u32, Vec<f64>)> {
        self.members.iter().flat_map(move |m| {
            m.supers.iter().map(move |(b, row)| {
                let mut wide = vec![0.0; self.size];
                wide[m.at..m.at + m.size].copy_from_slice(row);
                (*b, wide)
            })
        })
    }

    /// The new Cᵀ x and y of a place, from Cᵀ t in `motion.pushed`. `between`: of red, between two sweeps over black.
    pub fn answer(&self, place: usize, between: bool, motion: &mut Motion) {
        let n = self.size;
        let Motion { moved, impulse, pushed, total } = motion;
        let (one, two) = (usize::from(place == 0), if place == SUPERS { 1 } else { SUPERS });
        for i in 0..n {
            total[i] = pushed[i] + (moved[one][i] + moved[two][i]);
        }
        for i in 0..n {
            pushed[i] = dot(&self.carry[place][i * n..][..n], total);
        }
        self.weigh(pushed, impulse);
        if let Some(opposed) = self.opposed.as_ref().filter(|_| between) {
            for i in 0..n {
                total[i] = pushed[i] - (moved[one][i] + moved[two][i]) - moved[place][i];
            }
            for i in 0..n {
                impulse[i] -= dot(&opposed.answer[i * n..][..n], total);
                pushed[i] += dot(&opposed.push[i * n..][..n], total);
            }
        }
        for i in 0..n {
            moved[place][i] = pushed[i] - (moved[one][i] + moved[two][i]);
        }
    }

    /// W v, body by body.
    pub fn weigh(&self, v: &[f64], out: &mut [f64]) {
        for member in &self.members {
            let range = member.at..member.at + member.size;
            for i in range.clone() {
                out[i] = dot(&self.weight[i * self.size..][range.clone()], &v[range.clone()]);
            }
        }
    }
}

/// Σ a b by four running sums.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, rest) = a.as_chunks::<4>();
    let (b, other) = b.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    let rest: f64 = rest.iter().zip(other).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

impl Motion {
    /// Of some degrees of freedom, at rest.
    pub fn of(size: usize) -> Self {
        let zeros = || vec![0.0; size];
        Self { moved: [zeros(), zeros(), zeros()], impulse: zeros(), pushed: zeros(), total: zeros() }
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        self.moved.iter().chain([&self.impulse, &self.pushed, &self.total]).map(memory::of).sum()
    }
}
