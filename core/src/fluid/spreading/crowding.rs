//! Measures where particles are too dense or too sparse, and by how much each cell's liquid should grow or shrink.

use crate::fluid::particles::cells::Cells;
use crate::fluid::surface::distance_of;
use crate::fluid::surface::fraction::{LEAST_OPEN, spread_cells};
use crate::grid::block;
use crate::grid::{Grid, Topology, leaf};
use crate::tuned::Tuned;
use rayon::prelude::*;

/// Deviation of the particles' density that counts as noise: about the standard deviation of the density over the
/// kernel's volume, for eight particles per voxel. Smaller deviations cause no growth.
const CHANCE: Tuned<f32> = Tuned::new("crowding::CHANCE", 0.1);
/// The same near the surface, where only a density above that of a full cell is a signal.
const CHANCE_AT_SURFACE: Tuned<f32> = Tuned::new("crowding::CHANCE_AT_SURFACE", 0.2);
/// Share of the liquid's volume error that one substep corrects. Less than all, because the measured error is one
/// substep old.
const ANSWER: Tuned<f64> = Tuned::new("crowding::ANSWER", 0.75);
/// Largest difference between the requested growth and the measured volume error, as a share of the liquid's volume. It
/// leaves room for crowds that this substep made, which the last measurement does not contain. Smaller where there is
/// too much liquid already.
const SLACK: Tuned<f64> = Tuned::new("crowding::SLACK", 0.003);
/// How much larger the difference must be before deviations within the noise are used. The volume of a level set is
/// uncertain by about this share.
const FAR: Tuned<f64> = Tuned::new("crowding::FAR", 0.005);
/// Mean density of a cell's neighbours from which the cell counts as far below the surface, so that too few particles
/// in it are a signal.
const LIQUID: Tuned<f32> = Tuned::new("crowding::LIQUID", 0.6);
/// Largest share of a cell's volume that one substep adds or takes.
const MOST: Tuned<f32> = Tuned::new("crowding::MOST", 0.5);
/// Share of a leaf's liquid that must be out of place before anything is moved. Noise alone makes less than half of it.
const TOLERABLE: Tuned<f64> = Tuned::new("crowding::TOLERABLE", 0.02);
/// Smallest open fraction that a density is divided by.
const NARROW: Tuned<f32> = Tuned::new("crowding::NARROW", 0.1);

/// The growth that crowded or sparse particles need.
pub(crate) struct Crowds {
    /// The liquid's level set from the particles' density alone, m; negative inside.
    pub surface: Grid<f32>,
    /// The share of its volume by which each cell's liquid should grow.
    pub growth: Grid<f32>,
}

/// The growth that each cell's particles need, ρ/ρ₀ − 1, where ρ is their density over a quadratic B-spline and ρ₀ the
/// density as seeded; `None` where it is too little to act on. Near the surface only crowds count. Cells that are full
/// though they hold few particles need no growth.
///
/// `excess` is (V − V₀)/V₀ of the liquid, a number without noise. It decides how much grows in all; the particles'
/// density decides where. `open` is the open fraction of the cells, on their leaves.
pub(crate) fn crowds(cells: &Cells, open: &Grid<f32>, h: f32, per_voxel: f32, excess: f64) -> Option<Crowds> {
    let topology = &cells.topology;
    let mut counts = vec![0.0f32; topology.len() * leaf::SIZE];
    let is_wet = |l: usize| !cells.leaf_range(l).is_empty();
    let wet = counts.par_chunks_mut(leaf::SIZE).enumerate().with_min_len(8).filter(|(l, _)| is_wet(*l));
    wet.for_each(|(l, counts)| {
        let first = l * leaf::SIZE;
        counts.iter_mut().enumerate().for_each(|(n, count)| {
            let full = cells.is_full(first + n);
            *count = if full { 1.0 } else { cells.count(first + n) as f32 / per_voxel };
        });
    });
    let space = spread_cells(topology, &open.values, 1.0);
    let mut density = spread_cells(topology, &counts, 0.0);
    density.par_iter_mut().zip(&space).with_min_len(4096).for_each(|(d, s)| *d /= s.max(NARROW.get()));

    // The fewer the particles, the larger the noise.
    let more = (8.0 / per_voxel).sqrt();
    let mut growth = Grid::new(topology.clone(), 0.0);
    let mut chance = vec![0.0; growth.values.len()];
    let leaves = growth.values.par_chunks_mut(leaf::SIZE).zip(chance.par_chunks_mut(leaf::SIZE));
    let asked: Vec<Asked> = leaves
        .enumerate()
        .with_min_len(8)
        .map(|(l, (growth, chance))| {
            if !is_wet(l) {
                return Asked::default();
            }
            ask(growth, chance, topology, l, (&density, &space), more);
            let counts = &counts[l * leaf::SIZE..][..leaf::SIZE];
            Asked::of(growth, chance, counts.iter().map(|&c| f64::from(c)).sum())
        })
        .collect();
    if excess.abs() <= SLACK.get() && !asked.iter().any(Asked::is_worth_while) {
        return None;
    }
    let balance = asked.iter().fold(Asked::default(), Asked::plus).balance(excess);
    growth.values.par_iter_mut().zip(&chance).with_min_len(4096).for_each(|(g, &c)| {
        *g = balance.of(*g, c).clamp(-MOST.get(), MOST.get());
    });
    let mut surface = Grid::new(topology.clone(), 2.0 * h);
    let of_density = |(phi, &d): (&mut f32, &f32)| *phi = h * distance_of(d);
    surface.values.par_iter_mut().zip(&density).with_min_len(4096).for_each(of_density);
    Some(Crowds { surface, growth })
}

/// Divides the excess density of each cell of leaf `l` into the part within the noise, `more` of it than for eight
/// particles per voxel, and the part beyond it: `growth`.
fn ask(
    growth: &mut [f32],
    chance: &mut [f32],
    topology: &Topology,
    l: usize,
    (density, space): (&[f32], &[f32]),
    more: f32,
) {
    let mut around = [0.0; block::SIZE];
    block::load(&mut around, density, &topology.neighbours()[l], 0.0);
    let mut room = [0.0; block::SIZE];
    block::load(&mut room, space, &topology.neighbours()[l], 1.0);
    // In a cell without room, any density counts as liquid.
    let mut least = around;
    least
        .iter_mut()
        .zip(&room)
        .for_each(|(d, &room)| *d = if room < LEAST_OPEN { f32::INFINITY } else { *d });
    let least = block::around(&least, |[a, b, c]| a.min(b).min(c));
    let rows = growth.as_chunks_mut::<{ leaf::DIM }>().0.iter_mut().zip(chance.as_chunks_mut().0);
    for (n, (growth, chance)) in rows.enumerate() {
        let (own, room) = (block::row(&around, n, [0; 3]), block::row(&room, n, [0; 3]));
        let chance: &mut [f32; leaf::DIM] = chance;
        for z in 0..leaf::DIM {
            let (asks, deep) = ((own[z] > 0.5) & (room[z] >= LEAST_OPEN), least[n][z] > LIQUID.get());
            let excess = own[z] - 1.0;
            let (low, high) = if deep {
                (-CHANCE.get() * more, CHANCE.get() * more)
            } else {
                (0.0, CHANCE_AT_SURFACE.get() * more)
            };
            let may_be = excess.max(low).min(high);
            let beyond = if deep { excess } else { excess.max(0.0) } - may_be;
            chance[z] = if asks { may_be } else { 0.0 };
            growth[z] = if asks { beyond } else { 0.0 };
        }
    }
}

/// Sums of the cells' growth, in cells.
#[derive(Clone, Copy, Default)]
struct Asked {
    /// All liquid.
    liquid: f64,
    /// Crowds and gaps beyond the noise.
    beyond: [f64; 2],
    /// Crowds and gaps within the noise.
    chance: [f64; 2],
}

impl Asked {
    fn of(growth: &[f32], chance: &[f32], liquid: f64) -> Self {
        let (mut beyond, mut may_be) = ([0.0; 2], [0.0; 2]);
        // Four sums side by side, because each addition waits for the last one.
        for (&growth, &chance) in growth.iter().zip(chance) {
            for (n, sign) in [1.0, -1.0].into_iter().enumerate() {
                beyond[n] += f64::from((sign * growth).max(0.0));
                may_be[n] += f64::from((sign * chance).max(0.0));
            }
        }
        Self { liquid, beyond, chance: may_be }
    }

    fn plus(self, other: &Self) -> Self {
        let add = |a: [f64; 2], b: [f64; 2]| [a[0] + b[0], a[1] + b[1]];
        Self {
            liquid: self.liquid + other.liquid,
            beyond: add(self.beyond, other.beyond),
            chance: add(self.chance, other.chance),
        }
    }

    fn is_worth_while(&self) -> bool {
        self.beyond[0] + self.beyond[1] > TOLERABLE.get() * self.liquid
    }

    /// The share of each kind that is used, so that the total growth is what the volume lacks, within the slack. Too
    /// much growth is scaled down; where far too little is asked for, deviations within the noise are used as well.
    fn balance(&self, excess: f64) -> Balance {
        let [crowds, gaps] = self.beyond;
        let lacking = -ANSWER.get() * excess;
        let fresh = (SLACK.get() - excess.max(0.0)).max(0.0);
        let (least, most) = ((lacking - SLACK.get()) * self.liquid, (lacking + fresh) * self.liquid);
        let share = |wanted: f64, there: f64| match there > 0.0 {
            true => (wanted / there).clamp(0.0, 1.0) as f32,
            false => 0.0,
        };
        let far = FAR.get() * self.liquid;
        Balance {
            crowds: share(gaps + most, crowds),
            gaps: share(crowds - least, gaps),
            chance: [share(least - far - crowds, self.chance[0]), share(-most - far - gaps, self.chance[1])],
        }
    }
}

/// The shares of crowds and gaps that are used.
struct Balance {
    crowds: f32,
    gaps: f32,
    chance: [f32; 2],
}

impl Balance {
    fn of(&self, beyond: f32, chance: f32) -> f32 {
        let [crowded, thin] = self.chance;
        beyond.max(0.0) * self.crowds
            + beyond.min(0.0) * self.gaps
            + chance.max(0.0) * crowded
            + chance.min(0.0) * thin
    }
}
