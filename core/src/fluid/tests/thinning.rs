use super::flip::Scene;
use super::*;
use crate::fluid::population::reseeding::Reseeding;
use crate::fluid::population::sources::drain;
use crate::fluid::population::thinning::{Shares, Thinned, fill_gaps, fill_where};
use crate::fluid::transport::transfer::{Transfer, VelocityTransfer, particles_to_faces};
use crate::grid::{Coord, leaf};
use crate::solid::{DomainLimits, Side};
use glam::Mat3;

const PER_VOXEL: f32 = 8.0;
/// Depth, voxels, from which the tests thin.
const BELOW: f32 = 2.5;
/// Where the liquid and the walls end, on the sides of cells.
const TOP: f64 = 16.0 * H;
const FLOOR: f64 = 0.0;
const LID: f64 = 24.0 * H;

/// A tank of 24³ cells, filled to 16; thinned, except where `below` is 0.
fn tank(below: f32) -> Scene {
    let domain = DomainLimits::uniform(DVec3::splat(FLOOR), DVec3::splat(LID), Side::Closed);
    let mut scene = Scene::new(domain, |x| x.y < TOP, Vec3::ZERO);
    let limits = Reseeding { filled: 8, thinned_below: below, ..Reseeding::default() };
    scene.params.reseeding = Some(limits);
    scene
}

/// The depth, voxels, of a cell's centre in the tank.
fn depth(cell: Coord) -> f64 {
    TOP / H - f64::from(cell.y) - 0.5
}

fn cells_of(scene: &mut Scene) -> Cells {
    sorted(&mut scene.liquid.particles)
}

#[test]
fn deep_cells_keep_one_particle_that_stands_for_all() {
    let mut scene = tank(BELOW);
    let all = scene.liquid.particles.len();
    scene.substep(0.01, 0.0);
    let shares = Shares::of(&scene.liquid, PER_VOXEL);
    let left = scene.liquid.particles.len();
    assert!(left < all / 3, "{left} of {all}");
    let total = shares.total(left);
    assert!((total / all as f64 - 1.0).abs() < 1e-6, "{total} of {all}");
    let cells = cells_of(&mut scene);
    for slot in 0..cells.topology.len() * leaf::SIZE {
        let cell = cells.topology.coord(slot);
        let inside = cell.cmpge(Coord::ZERO).all() && cell.cmplt(Coord::splat(24)).all() && depth(cell) > 0.0;
        // Where walls meet, a cell is not clear of them.
        let walls = (0..3).filter(|&a| cell[a] == 0 || (a != 1 && cell[a] == 23)).count();
        let is_thin = depth(cell) > f64::from(BELOW) + 0.2 && walls < 2;
        let expected = match (inside, is_thin) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => 8,
        };
        assert_eq!(cells.count(slot), expected, "{cell}");
    }
}

#[test]
fn a_thinned_tank_at_rest_stays_full_and_level() {
    let (mut full, mut thinned) = (tank(0.0), tank(BELOW));
    for _ in 0..20 {
        full.substep(0.01, 9.81);
        thinned.substep(0.01, 9.81);
        let [a, b] = [&full, &thinned].map(|scene| scene.liquid.measured.total());
        assert!((a - b).abs() < 5e-4 * a, "{a} {b} m³");
    }
    for (slot, &phi) in thinned.liquid.surface.values.iter().enumerate() {
        let cell = thinned.liquid.surface.topology.coord(slot);
        if cell.cmplt(Coord::ZERO).any() || cell.cmpge(Coord::splat(24)).any() {
            continue;
        }
        let expected = full.liquid.surface.get(cell);
        let alike = (phi - expected).abs() < 0.1 * H as f32 || phi.max(expected) < -1.2 * H as f32;
        assert!(alike, "{cell}: {phi} m, not {expected}");
    }
    // The surface's bumps, as they were seeded, make waves in both.
    let [all, few] = [&full, &thinned].map(|scene| scene.liquid.particles.max_speed());
    assert!(few < 1.5 * all, "{few} m/s, not {all}");
}

/// What comes up is filled again, and what was deep is all there.
#[test]
fn half_a_thinned_tank_drained_is_half_a_tank() {
    let mut scene = tank(BELOW);
    let all = scene.liquid.particles.len() as f64;
    scene.substep(0.01, 0.0);
    let rest = scene.liquid.volume.rest;
    let middle = 8.0 * H;
    fill_where(&mut scene.liquid, PER_VOXEL, |x| x.y > middle - 3.0 * H);
    let mut shares = Shares::of(&scene.liquid, PER_VOXEL);
    let before = shares.total(scene.liquid.particles.len());
    assert!((before / all - 1.0).abs() < 1e-6, "{before} of {all}");
    let drained = drain(&mut scene.liquid.particles, |x| x.y > middle);
    shares.follow(&drained);
    let kept = shares.total(scene.liquid.particles.len());
    scene.liquid.volume.keep(kept, before);
    assert!((scene.liquid.volume.rest / rest - 0.5).abs() < 1e-6, "{}", scene.liquid.volume.rest / rest);
    for _ in 0..3 {
        scene.substep(0.01, 0.0);
    }
    let volume = scene.liquid.measured.total();
    assert!((volume / (0.5 * rest) - 1.0).abs() < 0.03, "{volume} m³ of {}", 0.5 * rest);
    // The band under the new surface holds what was seeded there.
    let cells = cells_of(&mut scene);
    let band = (4..20).flat_map(|x| (4..20).map(move |z| Coord::new(x, 6, z)));
    let counts: Vec<usize> = band.filter_map(|c| cells.topology.slot_of(c)).map(|s| cells.count(s)).collect();
    let mean = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    assert!(mean > 7.0 && mean < 9.0, "{mean} particles a cell");
    assert!(scene.liquid.particles.len() as f64 > 0.2 * all);
}

/// One particle a cell carries linear velocity exactly [Jiang et al. 2015, §5.3], and across a hole well enough.
#[test]
fn few_particles_carry_a_linear_velocity() {
    let gradient = Mat3::from_cols_array(&[0.3, -1.0, 0.5, 2.0, 0.1, -0.7, 0.4, 0.9, -0.4]);
    let field = |x: Vec3| gradient * x + Vec3::new(1.0, -2.0, 0.5);
    let mut scene = tank(BELOW);
    scene.substep(0.01, 0.0);
    let hole = DVec3::new(1.2, 0.6, 1.2);
    for emptied in [false, true] {
        let mut shares = Shares::of(&scene.liquid, PER_VOXEL);
        let particles = &mut scene.liquid.particles;
        if emptied {
            let stay = drain(particles, |x| (x - hole).abs().max_element() < 1.5 * H);
            shares.follow(&stay);
        }
        for p in 0..particles.len() {
            particles.velocity[p] = field(particles.position[p]);
            (0..3).for_each(|a| particles.affine[a][p] = gradient.row(a));
        }
        let topology = Arc::new(cells::covering(particles, &transform(), 4));
        let (mut cells, order) = cells::sort(particles, &transform(), &topology);
        shares.follow(&order);
        cells.full = shares.full_cells(&cells, PER_VOXEL);
        let transfer = Transfer { cells: &cells, transform: transform(), method: VelocityTransfer::Apic };
        let mut faces = particles_to_faces(particles, &transfer).value;
        fill_gaps(&mut faces, &cells);
        let allowed = if emptied { 0.5 * H as f32 } else { 1e-4 };
        for (axis, values) in faces.values.iter().enumerate() {
            for x in 2..22 {
                for y in 2..12 {
                    for z in 2..22 {
                        let cell = Coord::new(x, y, z);
                        let Some(slot) = topology.slot_of(cell) else { panic!("{cell} has no leaf") };
                        assert!(cells.is_full(slot), "{cell}");
                        let expected = field(transform().face_centre(axis, cell).as_vec3())[axis];
                        let apart = (values[slot] - expected).abs();
                        assert!(apart < allowed, "{cell}, axis {axis}: {} m/s, not {expected}", values[slot]);
                    }
                }
            }
        }
    }
}

#[test]
fn thinned_cells_lack_nothing() {
    let mut scene = tank(BELOW);
    assert!(Thinned::of(&scene.liquid).is_none(), "nothing was thinned yet");
    scene.substep(0.01, 0.0);
    let thinned = Thinned::of(&scene.liquid).expect("cells were thinned");
    assert!(thinned.contain(DVec3::new(1.2, 0.4, 1.2)));
    assert!(!thinned.contain(DVec3::new(1.2, TOP - 0.15, 1.2)), "near the surface");
    assert!(!thinned.contain(DVec3::new(1.2, TOP + 0.3, 1.2)), "in the air");
    assert!(!thinned.contain(DVec3::splat(9.0)), "where no leaf is");
    // Switched off, they are filled again.
    scene.params.reseeding = Some(Reseeding::default());
    scene.substep(0.01, 0.0);
    assert!(Thinned::of(&scene.liquid).is_none());
    let cells = cells_of(&mut scene);
    let slot = cells.topology.slot_of(Coord::new(12, 4, 12)).expect("a leaf");
    assert!(cells.count(slot) >= Reseeding::default().fewest - 1, "{}", cells.count(slot));
}
