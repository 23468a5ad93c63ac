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
        Self::factor(n, order, &permuted)
    }

    /// The up-looking factorisation [Davis 2005] of the lower triangle, sorted by (row, column).
    fn factor(n: usize, order: Vec<u32>, lower: &[(u32, u32, f64)]) -> Result<Self, usize> {
        const NONE: usize = usize::MAX;
        let rows: Vec<&[(u32, u32, f64)]> = {
            let mut rest = lower;
            (0..n)
                .map(|k| {
                    let (row, tail) = rest.split_at(rest.partition_point(|e| e.0 as usize <= k));
                    rest = tail;
                    row
                })
                .collect()
        };
        let (mut parent, mut seen, mut count) = (vec![NONE; n], vec![NONE; n], vec![0usize; n]);
        for (k, row) in rows.iter().enumerate() {
            seen[k] = k;
            for &(_, j, _) in row.iter().filter(|e| e.1 as usize != k) {
                let mut i = j as usize;
                while seen[i] != k {
                    if parent[i] == NONE {
                        parent[i] = k;
                    }
                    count[i] += 1;
                    seen[i] = k;
                    i = parent[i];
                }
            }
        }
        let mut start = vec![0u32; n + 1];
        for j in 0..n {
            start[j + 1] = start[j] + count[j] as u32;
        }
        let entries = start[n] as usize;
        let (mut row, mut value) = (vec![0u32; entries], vec![0.0; entries]);
        let (mut filled, mut y) = (vec![0usize; n], vec![0.0; n]);
        let (mut pivot, mut pattern, mut path) = (vec![0.0; n], Vec::<usize>::new(), Vec::<usize>::new());
        seen.fill(NONE);
        for (k, of_row) in rows.iter().enumerate() {
            pattern.clear();
            seen[k] = k;
            let mut diagonal = 0.0;
            for &(_, j, v) in *of_row {
                let mut i = j as usize;
                if i == k {
                    diagonal += v;
                    continue;
                }
                y[i] += v;
                path.clear();
                while seen[i] != k {
                    path.push(i);
                    seen[i] = k;
                    i = parent[i];
                }
                pattern.extend(path.iter().rev());
            }
            let mut rest = diagonal;
            for &i in pattern.iter().rev() {
                let known = std::mem::take(&mut y[i]);
                let first = start[i] as usize;
                for p in first..first + filled[i] {
                    y[row[p] as usize] -= value[p] * known;
                }
                let entry = known / pivot[i];
                rest -= entry * known;
                (row[first + filled[i]], value[first + filled[i]]) = (k as u32, entry);
                filled[i] += 1;
            }
            if !(rest > 1e-14 * diagonal && rest.is_finite()) {
                return Err(order[k] as usize);
            }
            pivot[k] = rest;
        }
        Ok(Self { order, start, row, value, inverse_pivot: pivot.iter().map(|d| 1.0 / d).collect() })
    }

    /// Rows of the matrix.
    pub fn size(&self) -> usize {
        self.order.len()
    }

    /// x = A⁻¹ b.
    pub fn solve(&self, b: &[f64], x: &mut [f64]) {
        let n = self.size();
        let mut y: Vec<f64> = self.order.iter().map(|&i| b[i as usize]).collect();
        for j in 0..n {
            let known = y[j];
            for p in self.start[j] as usize..self.start[j + 1] as usize {
                y[self.row[p] as usize] -= self.value[p] * known;
            }
        }
        for j in (0..n).rev() {
            let mut sum = y[j] * self.inverse_pivot[j];
            for p in self.start[j] as usize..self.start[j + 1] as usize {
                sum -= self.value[p] * y[self.row[p] as usize];
            }
            y[j] = sum;
        }
        for (&i, v) in self.order.iter().zip(y) {
            x[i as usize] = v;
        }
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        let numbers = [&self.order, &self.start, &self.row].map(memory::of);
        numbers.iter().sum::<usize>() + memory::of(&self.value) + memory::of(&self.inverse_pivot)
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
        assert_eq!(sum, 0xf1b7_1f65_2e52_5617, "{sum:#x}");
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
