//! The liquid's surface inside bodies.

use crate::grid::{Grid, leaf};

/// What is known of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cells {
    /// The liquid says it.
    Known,
    /// It lies in a body.
    Unknown,
    /// It lies in another solid, and says nothing.
    Wall,
}

/// Gives the `unknown` cells the surface of the liquid around them: layer by layer across `up`, each cell the mean of the known
/// cells beside it, ring by ring inwards. So a level surface goes on level. A layer that nothing known borders takes the one
/// above or below it. Without an `up` all directions are alike. Cells that nothing known reaches keep what they have.
///
/// `density`, kg/m³, is carried along; 0 where a cell has none.
pub(super) fn carry_on(
    surface: &mut Grid<f32>,
    mut density: Option<&mut Grid<f32>>,
    mut cells: Vec<Cells>,
    unknown: &[usize],
    up: Option<usize>,
) {
    let topology = surface.topology.clone();
    let beside = |slot: usize, side: usize| {
        let mut local = leaf::local(slot % leaf::SIZE);
        local[side / 2] += side as i32 % 2 * 2 - 1;
        topology.reach(slot / leaf::SIZE, local)
    };
    let (across, along): (Vec<usize>, Vec<usize>) = (0..6).partition(|side| Some(side / 2) != up);
    let mut left = unknown.to_vec();
    let mut next = left.clone();
    let mut sides = &across;
    while !next.is_empty() {
        let mean = |&slot: &usize| {
            let (mut sum, mut count) = (0.0, 0.0);
            let (mut mass, mut heavy) = (0.0, 0.0);
            for &side in sides {
                match beside(slot, side) {
                    None => {
                        sum += surface.background;
                        count += 1.0;
                    }
                    Some(other) if cells[other] == Cells::Known => {
                        sum += surface.values[other];
                        count += 1.0;
                        let rho = density.as_ref().map_or(0.0, |rho| rho.values[other]);
                        if rho > 0.0 {
                            mass += rho;
                            heavy += 1.0;
                        }
                    }
                    Some(_) => {}
                }
            }
            (count > 0.0).then(|| (slot, sum / count, if heavy > 0.0 { mass / heavy } else { 0.0 }))
        };
        let found: Vec<(usize, f32, f32)> = next.iter().filter_map(mean).collect();
        for &(slot, phi, rho) in &found {
            surface.values[slot] = phi;
            if let Some(density) = &mut density {
                density.values[slot] = rho;
            }
            cells[slot] = Cells::Known;
        }
        let fresh = found.iter().flat_map(|(slot, ..)| across.iter().filter_map(|&side| beside(*slot, side)));
        next = fresh.filter(|&slot| cells[slot] == Cells::Unknown).collect();
        next.sort_unstable();
        next.dedup();
        if !next.is_empty() {
            sides = &across;
            continue;
        }
        // What no layer reaches from its own rim.
        left.retain(|&slot| cells[slot] == Cells::Unknown);
        let stuck = std::ptr::eq(sides, &along) && found.is_empty();
        if !stuck && !along.is_empty() {
            sides = &along;
            next.clone_from(&left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Topology;
    use glam::IVec3;
    use std::sync::Arc;

    /// A block of cells in the middle of one leaf, around which φ is some function.
    fn carried(up: Option<usize>, phi: impl Fn(IVec3) -> f32 + Sync) -> (Grid<f32>, Vec<usize>) {
        let topology = Arc::new(Topology::new(vec![IVec3::ZERO]));
        let mut surface = Grid::from_fn(topology.clone(), 3.0, phi);
        let unknown: Vec<usize> =
            (0..512).filter(|&n| leaf::local(n).iter().all(|c| (2..6).contains(c))).collect();
        let mut cells = vec![Cells::Known; 512];
        unknown.iter().for_each(|&n| {
            cells[n] = Cells::Unknown;
            surface.values[n] = 9.0;
        });
        carry_on(&mut surface, None, cells, &unknown, up);
        (surface, unknown)
    }

    #[test]
    fn a_level_surface_goes_on_level_though_its_distances_end() {
        for up in 0..3 {
            let level = |c: IVec3| (c[up] as f32 - 3.3).clamp(-1.0, 1.0);
            let (surface, unknown) = carried(Some(up), level);
            for n in unknown {
                let expected = level(IVec3::from_array(leaf::local(n)));
                assert!((surface.values[n] - expected).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn nothing_is_deeper_or_higher_than_what_it_is_carried_from() {
        let around = |c: IVec3| ((c.x * 7 + c.y * 3 + c.z * 5) % 11) as f32 / 11.0;
        for up in [None, Some(0), Some(1), Some(2)] {
            let (surface, unknown) = carried(up, around);
            assert!(unknown.iter().all(|&n| (0.0..1.0).contains(&surface.values[n])));
        }
    }

    /// A plug: its middle layers border nothing but walls.
    #[test]
    fn layers_between_walls_take_the_one_above_or_below() {
        let topology = Arc::new(Topology::new(vec![IVec3::ZERO]));
        let mut surface = Grid::from_fn(topology, 3.0, |c| if c.y < 2 { -1.0 } else { 1.0 });
        let unknown: Vec<usize> = (0..512).filter(|&n| (2..6).contains(&leaf::local(n)[1])).collect();
        let mut cells = vec![Cells::Known; 512];
        for &n in &unknown {
            let inner = [0, 2].iter().all(|&a| (1..7).contains(&leaf::local(n)[a]));
            cells[n] = if inner { Cells::Unknown } else { Cells::Wall };
        }
        let unknown: Vec<usize> = unknown.into_iter().filter(|&n| cells[n] == Cells::Unknown).collect();
        carry_on(&mut surface, None, cells, &unknown, Some(1));
        let at = |y: i32| surface.get(IVec3::new(3, y, 3));
        assert_eq!([at(2), at(3), at(4), at(5)], [-1.0, -1.0, 1.0, 1.0]);
    }
}
