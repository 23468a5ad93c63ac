use super::*;
use crate::coupling::air::regions::sets::has;
use crate::coupling::air::regions::{LABEL_SOLID, Regions};
use crate::grid::block;
use crate::grid::leaf;
use crate::levelset::from_mesh;
use crate::mesh::shapes::cuboid;
use crate::solid::SolidMemory;
use crate::solid::{Collider, Motion, Solids};
use glam::ivec3;

/// Regions of liquid cells given one by one, among closed faces given one by one, on given leaves.
pub(super) fn regions(
    topology: Arc<Topology>,
    domain: DomainLimits,
    liquid: impl Fn(Coord) -> bool + Sync,
    closed: impl Fn(usize, Coord) -> bool + Sync,
) -> Regions {
    cut_regions(topology, domain, liquid, |a, c| f32::from(u8::from(!closed(a, c))))
}

/// The same among faces with open fractions given one by one.
pub(super) fn cut_regions(
    topology: Arc<Topology>,
    domain: DomainLimits,
    liquid: impl Fn(Coord) -> bool + Sync,
    open: impl Fn(usize, Coord) -> f32 + Sync,
) -> Regions {
    let surface = Grid::from_fn(topology.clone(), 3.0, |c| if liquid(c) { -0.5 } else { 0.5 });
    let open = FaceGrid::from_fn(topology.clone(), 1.0, open);
    let vel_solid = FaceGrid::new(topology, 0.0);
    let transform = Transform::uniform(1.0, DVec3::ZERO);
    Regions::find(&water(transform, domain, &surface, &open, &vel_solid))
}

/// Limits of the cells `low..high` (voxels of 1 m, cell 0 from 0 to 1).
pub(super) fn limits(low: IVec3, high: IVec3, walled: bool) -> DomainLimits {
    let side = if walled { Side::Closed } else { Side::Kill };
    DomainLimits::uniform(low.as_dvec3(), high.as_dvec3(), side)
}

/// Closed faces around the cells `low..high`.
pub(super) fn walls(low: IVec3, high: IVec3) -> impl Fn(usize, Coord) -> bool {
    move |axis, c| {
        let inside = |c: IVec3| c.cmpge(low).all() && c.cmplt(high).all();
        !(inside(c) && inside(c - IVec3::AXES[axis]))
    }
}

#[test]
fn cells_that_meet_at_an_edge_or_a_corner_are_apart() {
    let air = [ivec3(3, 3, 3), ivec3(4, 4, 3), ivec3(5, 5, 4), ivec3(7, 5, 4), ivec3(8, 5, 4)];
    let size = IVec3::splat(12);
    let found = regions(
        leaves(IVec3::ZERO, size),
        limits(IVec3::ZERO, size, true),
        |c| !air.contains(&c),
        walls(IVec3::ZERO, size),
    );
    assert_eq!(found.air.len(), 4);
    assert_eq!(found.liquid_cells, [12 * 12 * 12 - 5]);
    let faces: Vec<usize> = found.air.iter().map(|a| a.liquid_faces).collect();
    assert_eq!(faces, [6, 6, 6, 10]);
    assert_eq!(found.cells.get(air[3]), found.cells.get(air[4]));
    assert_eq!(found.cells.get(ivec3(13, 3, 3)), LABEL_SOLID);
    assert!(found.air.iter().all(|a| !a.exterior && a.liquids == [0]));
}

#[test]
fn a_wall_without_thickness_parts_air_and_liquid() {
    let size = ivec3(16, 10, 8);
    let thin = |axis: usize, c: Coord| (axis == 0 && c.x == 11) || walls(IVec3::ZERO, size)(axis, c);
    let found = regions(leaves(IVec3::ZERO, size), limits(IVec3::ZERO, size, true), |c| c.y < 4, thin);
    assert_eq!((found.air.len(), found.liquid_cells.len()), (2, 2));
    assert_eq!(found.air[0].liquids, [0]);
    assert_eq!(found.air[1].liquids, [1]);
    assert_eq!(found.liquid_cells, [11 * 4 * 8, 5 * 4 * 8]);
}

#[test]
fn air_is_one_across_inactive_tiles_and_its_volume_counts_them() {
    // Two pools 200 tiles apart in a closed hall, no leaf between them.
    let (low, high) = (IVec3::ZERO, ivec3(1608, 24, 8));
    let topology =
        Arc::new(leaves(low, ivec3(8, 8, 8)).union(&leaves(ivec3(1600, 0, 0), high - ivec3(0, 16, 0))));
    let pools = |c: Coord| c.y < 3;
    let found = regions(topology.clone(), limits(low, high, true), pools, walls(low, high));
    assert_eq!((found.air.len(), found.liquid_cells.len()), (1, 2));
    assert!(!found.air[0].exterior);
    assert_eq!(found.air[0].liquids, [0, 1]);
    let hall = f64::from(high.x * high.y * high.z);
    let liquid = 2.0 * 8.0 * 3.0 * 8.0;
    assert!((found.air[0].volume - (hall - liquid)).abs() < 1e-6 * hall, "{}", found.air[0].volume);
    let outdoors = regions(topology, limits(low, high, false), pools, |_, _| false);
    assert!(outdoors.air.len() == 1 && outdoors.air[0].exterior && outdoors.air[0].volume.is_infinite());
}

#[test]
fn one_open_side_far_away_makes_air_exterior() {
    let (low, high) = (IVec3::ZERO, ivec3(80_000, 80, 80));
    let hall = walls(low, high);
    let find = |open_side: Option<usize>| {
        let mut limits = limits(low, high, true);
        if let Some(side) = open_side {
            limits.sides[side] = Side::Open;
        }
        regions(leaves(IVec3::ZERO, IVec3::splat(16)), limits, |c| c.y < 3, &hall)
    };
    assert!(!find(None).air[0].exterior);
    assert!(find(Some(1)).air[0].exterior);
    assert!(find(Some(5)).air[0].exterior);
    // The low x side touches the leaves, and its faces are walled there.
    assert_eq!(find(Some(0)).air.len(), 1);
}

#[test]
fn a_box_of_walls_keeps_its_air_from_the_tiles_around_it() {
    // A sealed box of 20³ cells, thicker than a leaf in its middle, in unbounded space.
    let (low, high) = (IVec3::splat(2), IVec3::splat(22));
    let shell = leaves(IVec3::splat(0), IVec3::splat(24));
    let inside = |c: IVec3| c.cmpge(low).all() && c.cmplt(high).all();
    let sealed = |axis: usize, c: Coord| inside(c) != inside(c - IVec3::AXES[axis]);
    let space = limits(IVec3::splat(-1000), IVec3::splat(1000), false);
    let found = regions(shell, space, |c| inside(c) && c.y < 7, sealed);
    let exterior: Vec<bool> = found.air.iter().map(|a| a.exterior).collect();
    assert_eq!(exterior, [true, false]);
    assert!((found.air[1].volume - (20.0f64.powi(3) - 20.0 * 20.0 * 5.0)).abs() < 1e-3);
    let centre = found.air[1].centroid;
    assert!((centre - DVec3::new(12.0, 14.5, 12.0)).length() < 1e-3, "{centre}");
}

#[test]
fn hollow_leaves_leave_a_closed_gap() {
    // The middle leaf of 3³ is inactive: air in it belongs to what surrounds it, and to nothing when the
    // leaves around are closed to it.
    let all = leaves(IVec3::ZERO, IVec3::splat(24));
    let hollow: Vec<Coord> = all.origins().iter().copied().filter(|&o| o != IVec3::splat(8)).collect();
    let topology = Arc::new(Topology::new(hollow));
    let (low, high) = (IVec3::ZERO, IVec3::splat(24));
    let full = |c: Coord| !(c.x >= 8 && c.x < 16 && c.y >= 8 && c.y < 16);
    let found = regions(topology.clone(), limits(low, high, true), full, walls(low, high));
    assert_eq!(found.air.len(), 1);
    assert!((found.air[0].volume - 8.0 * 8.0 * 24.0).abs() < 1e-3);
    assert_eq!(found.air[0].liquid_faces, 4 * 8 * 24, "those to the inactive tile included");

    let middle = move |c: IVec3| c.cmpge(IVec3::splat(7)).all() && c.cmplt(IVec3::splat(17)).all();
    let stone =
        move |axis: usize, c: Coord| walls(low, high)(axis, c) || middle(c) || middle(c - IVec3::AXES[axis]);
    let found = regions(topology, limits(low, high, true), |c| c.y < 12, stone);
    assert_eq!(found.air.len(), 1);
    assert!((found.air[0].volume - (24.0 * 24.0 * 12.0 - 500.0)).abs() < 1e-3, "{}", found.air[0].volume);
}

#[test]
fn scattered_leaves_cost_a_few_boxes_each() {
    // Leaves along the diagonal of an enormous cube: a lattice over their bounding box would be 10¹⁸ tiles.
    let n = 500;
    let at = |i: i32| IVec3::splat(i * 16_000 - 4_000_000);
    let topology = Arc::new(Topology::new((0..n).map(at).collect()));
    let space = limits(IVec3::splat(-(1 << 26)), IVec3::splat(1 << 26), false);
    let found = regions(topology, space, |c| c.x & 7 == 3 && c.y & 7 == 3 && c.z & 7 == 3, |_, _| false);
    assert_eq!((found.air.len(), found.liquid_cells.len()), (1, n as usize));
    assert!(found.gap_boxes() <= 5 * n as usize + 1, "{}", found.gap_boxes());
}

/// A box between two corners, m, as a solid with voxels of `h`.
pub(super) fn solid_box(low: DVec3, high: DVec3, h: f64) -> Collider {
    let mut mesh = cuboid((high - low).as_vec3());
    mesh.points.iter_mut().for_each(|p| *p += low.as_vec3());
    let own = Transform::uniform(h, low - 4.0 * h);
    let sdf = from_mesh(&mesh, &own, 3.0).expect("a box");
    Collider::new(Arc::new(sdf), own, Motion::Static)
}

#[test]
fn a_room_has_its_volume_whatever_leaves_are_there() {
    let (h, cells) = (0.008, 43);
    let size = f64::from(cells) * h;
    let transform = Transform::uniform(h, DVec3::ZERO);
    let domain = DomainLimits::uniform(DVec3::ZERO, DVec3::splat(size), Side::Closed);
    let wall = solid_box(DVec3::new(0.165, 0.06, -0.1), DVec3::new(0.195, 0.31, size + 0.1), h);
    let whole = leaves(IVec3::splat(-1), IVec3::splat(cells + 1));
    for step in (0..40u64).step_by(7) {
        let bottom = 0.21 - 0.002 * step as f64;
        let plate = solid_box(DVec3::new(-0.1, bottom, -0.1), DVec3::new(0.18, bottom + 0.03, size + 0.1), h);
        let colliders = [wall.clone(), plate];
        let solids = Solids { colliders: &colliders, domain: &domain };
        let volume = |liquid: &Arc<Topology>| {
            let fields = SolidMemory::default().fields(&solids, &transform, liquid).clone();
            let surface = Grid::new(liquid.clone(), 3.0 * h as f32);
            let room = crate::levelset::volume(&fields.volume, None, h);
            let found = Regions::find(&water(transform, domain, &surface, &fields.open, &fields.velocity));
            (found.air.iter().map(|a| a.volume).sum::<f64>(), room)
        };
        let (full, room) = volume(&whole);
        assert!((full / room - 1.0).abs() < 0.01, "{full} m³ of a room of {room}");
        for n in 0..6u64 {
            let some = |(k, _): &(usize, &Coord)| noise(step * 4096 + n * 97 + *k as u64 * 7919) > 0.3;
            let some = whole.origins().iter().enumerate().filter(some).map(|(_, &o)| o).collect();
            let (part, _) = volume(&Arc::new(Topology::new(some)));
            assert!((part / full - 1.0).abs() < 1e-3, "step {step}, {n}: {part} m³, with all leaves {full}");
        }
    }
}

#[test]
fn sets_around_a_leaf_say_what_its_labels_say() {
    let size = ivec3(20, 16, 12);
    let wall = |axis: usize, c: Coord| (axis == 0 && c.x == 11) || walls(IVec3::ZERO, size)(axis, c);
    // A leaf inside the box is missing: a tile of air.
    let topology = Arc::new(Topology::new(
        leaves(IVec3::ZERO, size).origins().iter().copied().filter(|&o| o != ivec3(8, 8, 0)).collect(),
    ));
    let found = regions(topology, limits(IVec3::ZERO, size, true), |c| c.y < 5 && c.x != 8, wall);
    for origin in [ivec3(0, 0, 0), ivec3(8, 0, 0), ivec3(8, 8, 0), ivec3(16, 8, 8), ivec3(-8, 0, 0)] {
        let (around, labels) = (found.around(origin), found.block(origin));
        for n in 0..leaf::SIZE {
            let i = block::centre(n);
            assert_eq!(around.label(n), labels[i]);
            assert_eq!(has(&around.liquid(), n), labels[i] < LABEL_SOLID);
            assert_eq!(has(&around.air(), n), labels[i] >= 0);
            for k in 0..6 {
                let step = block::STRIDE[k / 2];
                let there = labels[if k % 2 == 1 { i + step } else { i - step }];
                assert_eq!(around.label_behind(n, k), there, "{origin} {n} {k}");
                assert_eq!(has(&around.liquid_behind(k), n), there < LABEL_SOLID);
                assert_eq!(has(&around.air_behind(k), n), there >= 0);
            }
        }
    }
}
