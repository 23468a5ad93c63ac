//! Bodies that move as one in a step: K̂⁻¹ on the motions that joints and contacts allow.

use super::super::Error;
use super::{Bodies, Row};
use crate::union_find::DisjointSets;
use meniscus_kernels::sparse::SparseFactor;

/// What is left of a row, squared, by itself, once others are taken out of it, where it depends on them.
const DEPENDENT: f64 = 1e-10;

/// Bodies that strains, masses or rows join, and P of them.
pub(super) struct Part {
    /// Their degrees of freedom, ascending.
    pub(super) freedoms: Vec<usize>,
    /// K̂, with the rows that give way.
    factor: SparseFactor,
    /// Directions that the rigid rows take: z, K̂ z, and K̂ z as a sum of rows. zᵀ K̂ z is 1.
    pub(super) bound: Vec<Bound>,
}

pub(super) struct Bound {
    motion: Vec<f64>,
    pull: Vec<f64>,
    /// Per row of all.
    pub(super) rows: Vec<(usize, f64)>,
}

impl Part {
    /// P f of its degrees of freedom, and what of f each bound direction takes.
    pub(super) fn yields(&self, force: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let own: Vec<f64> = self.freedoms.iter().map(|&dof| force[dof]).collect();
        let mut out = vec![0.0; own.len()];
        self.factor.solve(&own, &mut out);
        let mut given = vec![0.0; self.bound.len()];
        // Twice, for what rounding leaves.
        for _ in 0..if self.bound.is_empty() { 0 } else { 2 } {
            for (bound, given) in self.bound.iter().zip(&mut given) {
                let along = dot(&bound.pull, &out);
                *given += along;
                out.iter_mut().zip(&bound.motion).for_each(|(v, z)| *v -= along * z);
            }
        }
        (out, given)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// P of all bodies that a strain reaches, directly or by rows; `stiffness`: Σ k c cᵀ, `voxel`: m³.
pub(super) fn parts(bodies: &Bodies, stiffness: &[(u32, u32, f64)], voxel: f64) -> Result<Vec<Part>, Error> {
    let size = bodies.velocity.len();
    let mut sets = DisjointSets::new(size);
    bodies.mass.iter().chain(stiffness).for_each(|&(i, j, _)| sets.union(i as usize, j as usize));
    let pairs = bodies.rows.iter().flat_map(|row| row.entries.windows(2));
    pairs.for_each(|pair| sets.union(pair[0].0, pair[1].0));
    let part: Vec<usize> = (0..size).map(|dof| sets.find(dof)).collect();
    let mut is_touched = vec![false; size];
    stiffness.iter().for_each(|e| is_touched[part[e.0 as usize]] = true);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); size];
    // Of each degree of freedom: its place in its part.
    let mut place = vec![0u32; size];
    for dof in 0..size {
        let of = &mut members[part[dof]];
        place[dof] = of.len() as u32;
        of.push(dof);
    }
    let mut entries: Vec<Vec<(u32, u32, f64)>> = vec![Vec::new(); size];
    let mut add = |(i, j, v): (u32, u32, f64)| {
        let own = [place[i as usize], place[j as usize]];
        entries[part[i as usize]].push((own[0].max(own[1]), own[0].min(own[1]), v));
    };
    bodies.mass.iter().for_each(|&(i, j, m)| add((i, j, m / voxel)));
    stiffness.iter().for_each(|&entry| add(entry));
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); size];
    for (r, row) in bodies.rows.iter().enumerate() {
        let Some(&(first, _)) = row.entries.first() else { continue };
        if row.soft > 0.0 {
            for (n, &(i, ji)) in row.entries.iter().enumerate() {
                let by = ji / (row.soft * voxel);
                row.entries[..=n].iter().for_each(|&(j, jj)| add((i as u32, j as u32, by * jj)));
            }
        } else {
            rows[part[first]].push(r);
        }
    }
    let of_root = |(n, freedoms): (usize, Vec<usize>)| -> Result<Option<Part>, Error> {
        if !is_touched[n] || freedoms.is_empty() {
            return Ok(None);
        }
        let factor = SparseFactor::new(freedoms.len(), &entries[n]);
        let factor = factor.map_err(|row| Error::Mass(freedoms.get(row).copied().unwrap_or(row)))?;
        let mut part = Part { freedoms, factor, bound: Vec::new() };
        for &r in &rows[n] {
            part.bind(r, &bodies.rows[r], &place);
        }
        Ok(Some(part))
    };
    let parts: Result<Vec<_>, Error> = members.into_iter().enumerate().map(of_root).collect();
    Ok(parts?.into_iter().flatten().collect())
}

impl Part {
    /// Takes a rigid row out of the motions, unless it depends on those that are out.
    fn bind(&mut self, r: usize, row: &Row, place: &[u32]) {
        let k = self.freedoms.len();
        let (mut pull, mut motion) = (vec![0.0; k], vec![0.0; k]);
        row.entries.iter().for_each(|&(dof, j)| pull[place[dof] as usize] += j);
        self.factor.solve(&pull, &mut motion);
        let all = dot(&pull, &motion);
        let mut sum: Vec<(usize, f64)> = vec![(r, 1.0)];
        for _ in 0..2 {
            for bound in &self.bound {
                let along = dot(&pull, &bound.motion);
                pull.iter_mut().zip(&bound.pull).for_each(|(p, g)| *p -= along * g);
                motion.iter_mut().zip(&bound.motion).for_each(|(m, z)| *m -= along * z);
                sum.extend(bound.rows.iter().map(|&(r, c)| (r, -along * c)));
            }
            sum.sort_by_key(|e| e.0);
            sum.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 += next.1;
                }
                same
            });
        }
        let left = dot(&pull, &motion);
        if left > DEPENDENT * all {
            let by = 1.0 / left.sqrt();
            [&mut pull, &mut motion].into_iter().flatten().for_each(|v| *v *= by);
            sum.iter_mut().for_each(|e| e.1 *= by);
            self.bound.push(Bound { motion, pull, rows: sum });
        }
    }
}
