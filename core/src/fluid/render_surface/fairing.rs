//! Bumps and volume of a mesh.

use super::contour::Mesh;
use super::points::Weight;
use crate::interrupt::{Interrupt, Interrupted};
use glam::Vec3;
use rayon::prelude::*;

/// Steps of Taubin's filter, forwards and back: 1/λ + 1/μ = 0.1, which leaves long waves [Taubin 1995].
const STEPS: [f32; 2] = [0.630_7, -0.673_2];

/// Rounds after which waves of two of the liquid's voxels are a fifth, on a lattice of its voxels: waves of w voxels keep
/// (1 − λk)(1 − μk) a round, k = (1 − cos 2π/w)/2.
const ROUNDS: f64 = 5.0;

/// Most rounds.
const MOST: f64 = 200.0;

/// Rounds for an amount of smoothing on a lattice with so many voxels in an edge of the liquid's.
pub(super) fn rounds(smoothing: f64, cell: f32) -> usize {
    (ROUNDS * smoothing * f64::from(cell).powi(2)).round().min(MOST) as usize
}

/// Smooths bumps of the size of a voxel without shrinking what is curved. Points are moved by their weights.
pub(super) fn fair(
    mesh: &mut Mesh,
    weights: &[Weight],
    rounds: usize,
    interrupt: Interrupt,
) -> Result<(), Interrupted> {
    let beside = Beside::of(mesh);
    for _ in 0..rounds {
        interrupt.check()?;
        for step in STEPS {
            let before = &mesh.points;
            let moved = |n: usize| {
                let around = beside.of_point(n);
                let sum: Vec3 = around.iter().map(|&m| before[m as usize]).sum();
                before[n] + (sum / around.len().max(1) as f32 - before[n]) * (step * weights[n].faired)
            };
            mesh.points = (0..before.len()).into_par_iter().with_min_len(2048).map(moved).collect();
        }
    }
    Ok(())
}

/// The points that are joined to each by an edge.
struct Beside {
    starts: Vec<u32>,
    points: Vec<u32>,
}

impl Beside {
    /// Every edge belongs to two triangles that run along it in opposite directions: each names the other's end once.
    fn of(mesh: &Mesh) -> Self {
        let edges = || mesh.triangles.iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]);
        let mut starts = vec![0_u32; mesh.points.len() + 1];
        edges().for_each(|(from, _)| starts[from as usize + 1] += 1);
        (1..starts.len()).for_each(|n| starts[n] += starts[n - 1]);
        let mut next = starts.clone();
        let mut points = vec![0; mesh.triangles.len() * 3];
        for (from, to) in edges() {
            points[next[from as usize] as usize] = to;
            next[from as usize] += 1;
        }
        Self { starts, points }
    }

    fn of_point(&self, n: usize) -> &[u32] {
        &self.points[self.starts[n] as usize..self.starts[n + 1] as usize]
    }
}

/// Enclosed volume, voxels.
pub(super) fn volume(mesh: &Mesh) -> f64 {
    let of_some = |some: &[[u32; 3]]| {
        let of_one = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|n| mesh.points[n as usize].as_dvec3());
            a.dot(b.cross(c)) / 6.0
        };
        some.iter().map(of_one).sum::<f64>()
    };
    mesh.triangles.par_chunks(4096).map(of_some).collect::<Vec<_>>().into_iter().sum()
}

/// Area times normal that belongs to each point, voxels².
fn areas(mesh: &Mesh) -> Vec<Vec3> {
    let mut areas = vec![Vec3::ZERO; mesh.points.len()];
    for t in &mesh.triangles {
        let [a, b, c] = t.map(|n| mesh.points[n as usize]);
        let area = (b - a).cross(c - a) / 6.0;
        t.iter().for_each(|&n| areas[n as usize] += area);
    }
    areas
}

/// Brings points back that lie outside because the lattice shows nothing thinner.
pub(super) fn slim(mesh: &mut Mesh, weights: &[Weight]) {
    let areas = areas(mesh);
    let points = mesh.points.par_iter_mut().zip(&areas).zip(weights);
    points.for_each(|((point, area), weight)| *point -= area.normalize_or_zero() * weight.fat);
}

/// Moves the surface outwards, everywhere by the same distance but for the weights, until it encloses so much more: at
/// most `farthest`. Returns the distance and what is still lacking.
pub(super) fn grow(mesh: &mut Mesh, weights: &[Weight], lacking: f64, farthest: f32) -> (f32, f64) {
    let (before, mut moved, mut lacks) = (volume(mesh), 0.0_f32, lacking);
    // The volume is nearly linear in the distance.
    for _ in 0..3 {
        let areas = areas(mesh);
        let area: f64 = areas.iter().zip(weights).map(|(a, w)| f64::from(a.length() * w.open)).sum();
        if area <= 0.0 {
            break;
        }
        let step = ((lacks / area) as f32).clamp(-farthest - moved, farthest - moved);
        let points = mesh.points.par_iter_mut().zip(&areas).zip(weights);
        points.for_each(|((point, area), weight)| *point += area.normalize_or_zero() * (step * weight.open));
        moved += step;
        lacks = lacking - (volume(mesh) - before);
    }
    (moved, lacks)
}
