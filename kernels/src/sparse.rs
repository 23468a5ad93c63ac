//! Sparse symmetric positive definite systems, factored once and solved often: L D Lᵀ, column by column, in an order that
//! keeps the factor sparse. Plain scalar loops in one order: the same bits on every processor and for any number of
//! threads.

use crate::memory;

/// Nodes below which a graph is not cut further.
const SMALL: usize = 24;

/// The factor of a matrix A: P A Pᵀ = L D Lᵀ.
#[derive(Clone, Debug, Default)]
pub struct SparseFactor {
    /// The row of A that stands at each place of the factor.
    pub order: Vec<u32>,
    /// First entry of each column of L below the diagonal, and the end.
    pub start: Vec<u32>,
    /// Row of each entry, ascending in each column.
    pub row: Vec<u32>,
    /// The entries of L.
    pub value: Vec<f64>,
    /// 1 / D.
    pub inverse_pivot: Vec<f64>,
    /// First column of each supernode, and the end: columns in a row that have the same rows below them.
    pub supernode: Vec<u32>,
    /// A: its entries on and below the diagonal, sorted, each place once.
    pub matrix: Vec<(u32, u32, f64)>,
}

/// The entries on and below the diagonal of a symmetric matrix, sorted, each place once, from those that
/// [`SparseFactor::new`] takes; `Err`: the row of one whose two halves differ.
pub fn lower_triangle(entries: &[(u32, u32, f64)]) -> Result<Vec<(u32, u32, f64)>, usize> {
    // Place, and whether it was given from above the diagonal.
    let mut list: Vec<(u32, u32, bool, f64)> =
        entries.iter().map(|&(i, j, v)| (i.max(j), i.min(j), i < j, v)).collect();
    list.sort_by_key(|e| (e.0, e.1, e.2));
    list.dedup_by(|next, kept| {
        let same = (next.0, next.1, next.2) == (kept.0, kept.1, kept.2);
        if same {
            kept.3 += next.3;
        }
        same
    });
    let mut lower: Vec<(u32, u32, f64)> = Vec::with_capacity(list.len());
    let mut twice = 0;
    for &(i, j, _, v) in &list {
        match lower.last() {
            // Rounded sums of one value differ by the order in which they were taken.
            Some(&(row, column, other)) if (row, column) == (i, j) => {
                twice += 1;
                if (other - v).abs() > 1e-9 * (other.abs() + v.abs()) {
                    return Err(i as usize);
                }
            }
            _ => lower.push((i, j, v)),
        }
    }
    let mut pairs = lower.iter().filter(|e| e.0 != e.1);
    if twice > 0 && twice != pairs.clone().count() {
        return Err(pairs.next().map_or(0, |e| e.0 as usize));
    }
    Ok(lower)
}

impl SparseFactor {
    /// Factors the symmetric n × n matrix with these entries, (row, column, value): those off the diagonal all once, in
    /// either order, or all in both orders with one value each. Entries that repeat in one order are summed. Gives the number of a row
    /// that shows that the matrix is not positive definite, that two halves differ, or that an entry is out of place.
    pub fn new(n: usize, entries: &[(u32, u32, f64)]) -> Result<Self, usize> {
        let bad = |&&(i, j, v): &&(u32, u32, f64)| i as usize >= n || j as usize >= n || !v.is_finite();
        if let Some(&(i, _, _)) = entries.iter().find(bad) {
            return Err(i as usize);
        }
        let list = lower_triangle(entries)?;
        let order = dissection(n, &list);
        let mut place = vec![0u32; n];
        order.iter().enumerate().for_each(|(k, &i)| place[i as usize] = k as u32);
        // Upper triangle by columns: row k of the lower triangle.
        let mut permuted: Vec<(u32, u32, f64)> = list
            .iter()
            .map(|&(i, j, v)| {
                let (a, b) = (place[i as usize], place[j as usize]);
                (a.max(b), a.min(b), v)
            })
            .collect();
        permuted.sort_by_key(|e| (e.0, e.1));
        Ok(Self { matrix: list, ..Self::factor(order, &permuted)? })
    }

    /// Factors the lower triangle, sorted by (row, column): the pattern first, then the values, supernode by supernode.
    fn factor(order: Vec<u32>, lower: &[(u32, u32, f64)]) -> Result<Self, usize> {
        let mut out = Self::pattern(order, lower);
        out.find_supernodes();
        out.fill(lower).map(|()| out)
    }

    /// Where L has entries: row k reaches from each of A's entries up the elimination tree to k [Davis 2005].
    fn pattern(order: Vec<u32>, lower: &[(u32, u32, f64)]) -> Self {
        const NONE: u32 = u32::MAX;
        let n = order.len();
        let (mut parent, mut seen, mut count) = (vec![NONE; n], vec![NONE; n], vec![0u32; n]);
        let mut reach = |f: &mut dyn FnMut(usize, u32)| {
            seen.fill(NONE);
            for &(k, j, _) in lower {
                seen[k as usize] = k;
                let mut i = j as usize;
                while seen[i] != k {
                    if parent[i] == NONE {
                        parent[i] = k;
                    }
                    f(i, k);
                    seen[i] = k;
                    i = parent[i] as usize;
                }
            }
        };
        reach(&mut |i, _| count[i] += 1);
        let mut start = vec![0u32; n + 1];
        for j in 0..n {
            start[j + 1] = start[j] + count[j];
        }
        let mut next = start.clone();
        let mut row = vec![0u32; start[n] as usize];
        reach(&mut |i, k| {
            row[next[i] as usize] = k;
            next[i] += 1;
        });
        let value = vec![0.0; row.len()];
        Self { order, start, row, value, ..Self::default() }
    }

    /// Columns in a row that have the same rows below them.
    fn find_supernodes(&mut self) {
        let n = self.order.len();
        let count = |j: usize| self.start[j + 1] - self.start[j];
        let goes_on = |j: usize| {
            count(j) == count(j + 1) + 1 && self.row.get(self.start[j] as usize) == Some(&(j as u32 + 1))
        };
        let ends = (0..n).filter(|&j| j + 1 == n || !goes_on(j)).map(|j| j as u32 + 1);
        self.supernode = std::iter::once(0).chain(ends).collect();
    }

    /// The values, each supernode from those before it that reach into it [Ng and Peyton 1993].
    fn fill(&mut self, lower: &[(u32, u32, f64)]) -> Result<(), usize> {
        let n = self.order.len();
        let supernodes = self.supernode.len() - 1;
        let mut owner = vec![0u32; n];
        for s in 0..supernodes {
            owner[self.supernode[s] as usize..self.supernode[s + 1] as usize].fill(s as u32);
        }
        let mut columns: Vec<(u32, u32, f64)> = lower.iter().map(|&(i, j, v)| (j, i, v)).collect();
        columns.sort_by_key(|e| (e.0, e.1));
        let mut columns = columns.as_slice();
        // Those that reach into a supernode: (number, first of its rows there).
        let mut reaching: Vec<Vec<(u32, u32)>> = vec![Vec::new(); supernodes];
        let mut place = vec![0u32; n];
        let (mut panel, mut block) = (Vec::new(), Vec::new());
        self.inverse_pivot = vec![0.0; n];
        for s in 0..supernodes {
            let (first, end) = (self.supernode[s] as usize, self.supernode[s + 1] as usize);
            let (width, below) = (end - first, self.start[end - 1] as usize..self.start[end] as usize);
            let height = width + below.len();
            (first..end).for_each(|j| place[j] = (j - first) as u32);
            self.row[below.clone()]
                .iter()
                .enumerate()
                .for_each(|(p, &i)| place[i as usize] = (width + p) as u32);
            panel.clear();
            panel.resize(width * height, 0.0);
            let (own, rest) = columns.split_at(columns.partition_point(|e| (e.0 as usize) < end));
            columns = rest;
            let mut diagonal = vec![0.0; width];
            for &(j, i, v) in own {
                panel[(j as usize - first) * height + place[i as usize] as usize] += v;
                diagonal[j as usize - first] += if i == j { v } else { 0.0 };
            }
            for (number, from) in std::mem::take(&mut reaching[s]) {
                let last = self.supernode[number as usize + 1] as usize - 1;
                let rows = &self.row[self.start[last] as usize..self.start[last + 1] as usize];
                let rows = &rows[from as usize..];
                let here = rows.partition_point(|&i| (i as usize) < end);
                self.product(number as usize, from as usize, here, &mut block);
                for (c, column) in block.chunks_exact(rows.len()).enumerate() {
                    let panel = &mut panel[place[rows[c] as usize] as usize * height..][..height];
                    for (&i, v) in rows[c..].iter().zip(&column[c..]) {
                        panel[place[i as usize] as usize] -= v;
                    }
                }
                if let Some(&next) = rows.get(here) {
                    reaching[owner[next as usize] as usize].push((number, from + here as u32));
                }
            }
            if let Some(&next) = self.row[below].first() {
                reaching[owner[next as usize] as usize].push((s as u32, 0));
            }
            for j in 0..width {
                let (done, rest) = panel.split_at_mut((j + 1) * height);
                let column = &mut done[j * height..];
                let pivot = column[j];
                if !(pivot > 1e-14 * diagonal[j] && pivot.is_finite()) {
                    return Err(self.order[first + j] as usize);
                }
                self.inverse_pivot[first + j] = 1.0 / pivot;
                for (c, other) in rest.chunks_exact_mut(height).enumerate() {
                    let c = j + 1 + c;
                    let entry = column[c] / pivot;
                    other[c..].iter_mut().zip(&column[c..]).for_each(|(o, v)| *o -= entry * v);
                }
                column[j + 1..].iter_mut().for_each(|v| *v /= pivot);
                let at = self.start[first + j] as usize;
                self.value[at..at + height - j - 1].copy_from_slice(&column[j + 1..]);
            }
        }
        Ok(())
    }

    /// L D Lᵀ of a supernode's columns: `here` columns from the row `from` of those below it, each with the rows from there on.
    fn product(&self, number: usize, from: usize, here: usize, out: &mut Vec<f64>) {
        let (first, end) = (self.supernode[number] as usize, self.supernode[number + 1] as usize);
        let height = (self.start[end] - self.start[end - 1]) as usize - from;
        out.clear();
        out.resize(here * height, 0.0);
        for j in first..end {
            let values = &self.value[self.start[j + 1] as usize - height..self.start[j + 1] as usize];
            for (c, column) in out.chunks_exact_mut(height).enumerate() {
                let entry = values[c] / self.inverse_pivot[j];
                column[c..].iter_mut().zip(&values[c..]).for_each(|(o, v)| *o += entry * v);
            }
        }
    }

    /// Rows of the matrix.
    pub fn size(&self) -> usize {
        self.order.len()
    }

    /// x = A⁻¹ b. The columns of a supernode share the rows below it.
    pub fn solve(&self, b: &[f64], x: &mut [f64]) {
        let mut y: Vec<f64> = self.order.iter().map(|&i| b[i as usize]).collect();
        let mut far: Vec<f64> = Vec::new();
        let columns = |j: usize| self.start[j] as usize..self.start[j + 1] as usize;
        for s in self.supernode.windows(2) {
            let (first, end) = (s[0] as usize, s[1] as usize);
            let below = &self.row[columns(end - 1)];
            far.clear();
            far.extend(below.iter().map(|&i| y[i as usize]));
            for j in first..end {
                let known = y[j];
                let (near, rest) = self.value[columns(j)].split_at(end - 1 - j);
                y[j + 1..end].iter_mut().zip(near).for_each(|(y, v)| *y -= v * known);
                far.iter_mut().zip(rest).for_each(|(y, v)| *y -= v * known);
            }
            below.iter().zip(&far).for_each(|(&i, v)| y[i as usize] = *v);
        }
        for s in self.supernode.windows(2).rev() {
            let (first, end) = (s[0] as usize, s[1] as usize);
            far.clear();
            far.extend(self.row[columns(end - 1)].iter().map(|&i| y[i as usize]));
            let rest = |j: usize| &self.value[columns(j)][end - 1 - j..][..far.len()];
            // Four columns at once: their sums do not wait for each other.
            let mut j = first;
            while j < end {
                let several = (end - j).min(4);
                let mut sums: [f64; 4] =
                    std::array::from_fn(
                        |k| {
                            if k < several { y[j + k] * self.inverse_pivot[j + k] } else { 0.0 }
                        },
                    );
                let of: [&[f64]; 4] = std::array::from_fn(|k| rest(j + k.min(several - 1)));
                for (p, v) in far.iter().enumerate() {
                    (0..4).for_each(|k| sums[k] -= of[k][p] * v);
                }
                y[j..j + several].copy_from_slice(&sums[..several]);
                j += several;
            }
            for j in (first..end).rev() {
                let near = &self.value[columns(j)][..end - 1 - j];
                y[j] = near.iter().zip(&y[j + 1..end]).fold(y[j], |sum, (v, y)| sum - v * y);
            }
        }
        for (&i, v) in self.order.iter().zip(y) {
            x[i as usize] = v;
        }
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        let numbers = [&self.order, &self.start, &self.row, &self.supernode].map(memory::of);
        numbers.iter().sum::<usize>()
            + memory::of(&self.value)
            + memory::of(&self.inverse_pivot)
            + memory::of(&self.matrix)
    }
}

/// Orders the rows of a symmetric matrix by nested dissection [George 1973]: a graph is cut at the middle level of a
/// breadth-first search from its rim, both halves are ordered, and the cut comes last.
fn dissection(n: usize, lower: &[(u32, u32, f64)]) -> Vec<u32> {
    let mut around: Vec<Vec<u32>> = vec![Vec::new(); n];
    for &(i, j, _) in lower.iter().filter(|e| e.0 != e.1) {
        around[i as usize].push(j);
        around[j as usize].push(i);
    }
    // Parts still to be ordered, and cuts to be written, last first.
    enum Task {
        Order(Vec<u32>),
        Write(Vec<u32>),
    }
    let (mut part, mut number) = (vec![0u32; n], 0u32);
    let (mut out, mut tasks) = (Vec::with_capacity(n), vec![Task::Order((0..n as u32).collect())]);
    while let Some(task) = tasks.pop() {
        let nodes = match task {
            Task::Write(nodes) => {
                out.extend(nodes);
                continue;
            }
            Task::Order(nodes) if nodes.len() <= SMALL => {
                out.extend(nodes);
                continue;
            }
            Task::Order(nodes) => nodes,
        };
        number += 1;
        nodes.iter().for_each(|&i| part[i as usize] = number);
        let mut levels = search(&around, &mut part, &mut number, nodes[0]);
        for _ in 0..2 {
            let rim = levels.last().and_then(|l| l.iter().min_by_key(|&&i| around[i as usize].len()));
            let rim = rim.copied().unwrap_or(nodes[0]);
            levels = search(&around, &mut part, &mut number, rim);
        }
        let reached: usize = levels.iter().map(Vec::len).sum();
        if reached < nodes.len() {
            let rest = nodes.iter().copied().filter(|&i| part[i as usize] != number).collect();
            tasks.push(Task::Order(rest));
            tasks.push(Task::Order(levels.concat()));
            continue;
        }
        if levels.len() < 3 {
            out.extend(nodes);
            continue;
        }
        let mut before = 0;
        let half = |l: &&Vec<u32>| {
            before += l.len();
            before <= reached / 2
        };
        let middle = levels.iter().take_while(half).count().clamp(1, levels.len() - 2);
        tasks.push(Task::Write(levels[middle].clone()));
        tasks.push(Task::Order(levels[middle + 1..].concat()));
        tasks.push(Task::Order(levels[..middle].concat()));
    }
    out
}

/// Breadth-first levels from a node inside its part; the nodes reached become a part of the next number.
fn search(around: &[Vec<u32>], part: &mut [u32], number: &mut u32, from: u32) -> Vec<Vec<u32>> {
    let old = part[from as usize];
    *number += 1;
    part[from as usize] = *number;
    let mut levels = vec![vec![from]];
    while let Some(last) = levels.last().filter(|l| !l.is_empty()) {
        let mut next = Vec::new();
        for &i in last {
            for &j in &around[i as usize] {
                if part[j as usize] == old {
                    part[j as usize] = *number;
                    next.push(j);
                }
            }
        }
        levels.push(next);
    }
    levels.pop();
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A membrane of n × n vertices: mass on the diagonal and springs to the neighbours.
    fn membrane(n: u32, mass: f64, spring: f64) -> Vec<(u32, u32, f64)> {
        let mut out: Vec<(u32, u32, f64)> = (0..n * n).map(|i| (i, i, mass)).collect();
        for i in 0..n * n {
            for (j, inside) in [(i + 1, i % n + 1 < n), (i + n, i + n < n * n)] {
                if inside {
                    out.extend([(i, i, spring), (j, j, spring), (j, i, -spring)]);
                }
            }
        }
        out
    }

    fn product(entries: &[(u32, u32, f64)], x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; x.len()];
        for &(i, j, v) in entries {
            y[i as usize] += v * x[j as usize];
            if i != j {
                y[j as usize] += v * x[i as usize];
            }
        }
        y
    }

    #[test]
    fn solves_a_membrane_and_stays_sparse() {
        let entries = membrane(60, 1.0, 50.0);
        let factor = SparseFactor::new(3600, &entries).expect("positive definite");
        let truth: Vec<f64> = (0..3600).map(|i| f64::from(i * 37 % 101) - 50.0).collect();
        let mut x = vec![0.0; 3600];
        factor.solve(&product(&entries, &truth), &mut x);
        assert!(x.iter().zip(&truth).all(|(a, b)| (a - b).abs() < 1e-9));
        // A band of 60 would hold 216 000.
        assert!(factor.value.len() < 110_000, "{}", factor.value.len());
    }

    /// One code path: these bits were written once and hold on every processor.
    #[test]
    fn the_bits_are_those_of_every_processor() {
        let factor = SparseFactor::new(400, &membrane(20, 0.7, 13.0)).expect("positive definite");
        let mut x = vec![0.0; 400];
        factor.solve(&(0..400).map(|i| 1.0 / f64::from(i + 1)).collect::<Vec<_>>(), &mut x);
        let sum = x.iter().fold(0u64, |sum, v| sum.rotate_left(7) ^ v.to_bits());
        assert_eq!(sum, 0x1f16_131b_0a99_5a79, "{sum:#x}");
    }

    #[test]
    fn unconnected_dense_and_indefinite_matrices() {
        let loose: Vec<(u32, u32, f64)> = (0..100).map(|i| (i, i, 2.0)).collect();
        let mut x = vec![0.0; 100];
        SparseFactor::new(100, &loose).expect("positive definite").solve(&[1.0; 100], &mut x);
        assert!(x.iter().all(|&v| v == 0.5));
        let dense = |shift: f64| -> Vec<(u32, u32, f64)> {
            let pairs = (0..50).flat_map(|i| (0..50).map(move |j| (i, j)));
            pairs.map(|(i, j)| (i, j, if i == j { shift } else { 1.0 })).collect()
        };
        let factor = SparseFactor::new(50, &dense(3.0)).expect("positive definite");
        factor.solve(&[52.0; 50], &mut x[..50]);
        assert!(x[..50].iter().all(|v| (v - 1.0).abs() < 1e-12));
        assert!(SparseFactor::new(50, &dense(0.5)).is_err());
        assert_eq!(SparseFactor::new(3, &[(0, 0, 1.0), (1, 1, 0.0), (2, 2, 1.0)]).err(), Some(1));
    }

    #[test]
    fn pairs_may_be_given_in_any_order_and_halves_that_differ_are_refused() {
        let entries = membrane(12, 0.7, 13.0);
        let solved = |entries: &[(u32, u32, f64)]| {
            let mut x = vec![0.0; 144];
            let b: Vec<f64> = (0..144).map(|i| f64::from(i * 31 % 17)).collect();
            SparseFactor::new(144, entries).expect("positive definite").solve(&b, &mut x);
            x
        };
        let (truth, turned) = (solved(&entries), |&(i, j, v): &(u32, u32, f64)| (j, i, v));
        for period in 1..7 {
            let swap = |(n, e): (usize, &(u32, u32, f64))| if n % period == 0 { turned(e) } else { *e };
            let mixed: Vec<_> = entries.iter().enumerate().map(swap).collect();
            assert_eq!(solved(&mixed), truth, "every {period}th is turned");
        }
        let mut both = entries.clone();
        both.extend(entries.iter().filter(|e| e.0 != e.1).map(turned));
        assert_eq!(solved(&both), truth);
        let last = both.len() - 1;
        both[last].2 += 0.1;
        assert!(SparseFactor::new(144, &both).is_err());
        both.truncate(last);
        assert!(SparseFactor::new(144, &both).is_err());
    }
}
