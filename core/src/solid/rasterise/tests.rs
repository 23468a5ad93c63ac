use super::super::{Motion, Side, SolidMemory, cut_leaves, occupancy};
use super::*;
use crate::levelset::SignedDistance;
use glam::{DMat3, DVec3, IVec3};
use proptest::prelude::*;

/// A collider from a distance function (metres) in [−1, 1]³, `n` voxels across, placed by a rigid motion.
fn collider(n: i32, place: (DMat3, DVec3), motion: Motion, f: impl Fn(DVec3) -> f64 + Sync) -> Collider {
    let own = Transform::uniform(2.0 / f64::from(n), DVec3::splat(-1.0));
    let sdf = SignedDistance::from_fn(&own, IVec3::ZERO, IVec3::splat(n - 1), 3.0, f);
    let placed = Transform { linear: place.0 * own.linear, translation: place.0 * own.translation + place.1 };
    Collider::new(Arc::new(sdf), placed, motion)
}

const STAY: (DMat3, DVec3) = (DMat3::IDENTITY, DVec3::ZERO);

fn cube_topology(n: i32) -> Arc<Topology> {
    let steps = move || (0..n).step_by(8);
    let origins = steps().flat_map(|x| steps().flat_map(move |y| steps().map(move |z| IVec3::new(x, y, z))));
    Arc::new(Topology::new(origins.collect()))
}

fn same(a: &SolidFields, b: &SolidFields) -> bool {
    a.nodes.values == b.nodes.values
        && a.open.values == b.open.values
        && a.velocity.values == b.velocity.values
        && a.volume.values == b.volume.values
}

/// In each cut cell the open areas miss the solid's area vector; its length sums to the sphere's area.
#[test]
fn open_areas_bound_a_sphere() {
    let error = |n: i32| {
        let h = 2.0 / f64::from(n);
        let ball = collider(n, STAY, Motion::Static, |p| p.length() - 0.7);
        let transform = Transform::uniform(h, DVec3::splat(-1.0));
        let topology = cube_topology(n);
        let fields = rasterise(&[ball], &DomainLimits::unbounded(), &topology, &transform);
        let (mut area, mut total) = (0.0, DVec3::ZERO);
        for slot in 0..topology.len() * leaf::SIZE {
            let c = topology.coord(slot);
            let flux = |axis: usize| {
                f64::from(fields.open.get(axis, c + IVec3::AXES[axis]) - fields.open.get(axis, c)) * h * h
            };
            let solid = DVec3::new(flux(0), flux(1), flux(2));
            area += solid.length();
            total += solid;
        }
        assert!(total.length() < 1e-6, "the closed surface's area vector is zero, got {total}");
        (area / (4.0 * std::f64::consts::PI * 0.49) - 1.0).abs()
    };
    let (coarse, fine) = (error(16), error(32));
    assert!(fine < 8e-3 && coarse / fine > 3.0, "area error {coarse} → {fine} is not second order");
}

/// Of a solid whose voxels are far larger than the fluid's only what lies in the domain is looked at: here one face of six
/// kilometres, of which a metre is in it.
#[test]
fn a_solid_of_huge_voxels_costs_what_the_domain_has_of_it() {
    let own = Transform::uniform(1000.0, DVec3::splat(-1.0));
    let cells = IVec3::splat(8);
    let face =
        SignedDistance::from_fn(&own, -cells, cells, 3.0, |p| (p.x - 0.5).max(p.abs().max_element() - 6e3));
    let solid = Collider::new(Arc::new(face), own, Motion::Static);
    let transform = Transform::uniform(0.02, DVec3::ZERO);
    let domain = DomainLimits::uniform(DVec3::ZERO, DVec3::ONE, Side::Closed);
    let leaves = cut_leaves(&[solid], &domain, &transform);
    assert!(leaves.len() >= 7 * 7 && leaves.len() <= 3 * 9 * 9, "{} leaves", leaves.len());
    let inside = |o: &IVec3| o.cmpge(IVec3::splat(-16)).all() && o.cmplt(IVec3::splat(64)).all();
    assert!(leaves.origins().iter().all(inside));
}

#[test]
fn closed_sides_on_the_lattice_are_closed_faces() {
    let (n, h) = (8, 0.1f32);
    let corner = DVec3::new(0.3, -0.7, 12.1);
    let transform = Transform::uniform(f64::from(h), corner);
    let mut domain =
        DomainLimits::uniform(corner, corner + f64::from(h) * DVec3::new(8.0, 6.0, 1.0), Side::Closed);
    domain.sides[3] = Side::Open;
    let topology = Arc::new(Topology::covering([IVec3::ZERO]).dilated(1));
    let fields = rasterise(&[], &domain, &topology, &transform);
    for x in 0..n {
        for y in 0..6 {
            let c = IVec3::new(x, y, 0);
            assert_eq!(fields.open.get(2, c), 0.0);
            assert_eq!(fields.open.get(2, c + IVec3::Z), 0.0);
            assert_eq!(fields.open.get(0, c), if x == 0 { 0.0 } else { 1.0 });
            assert_eq!(fields.open.get(1, c), if y == 0 { 0.0 } else { 1.0 });
        }
        assert_eq!(fields.open.get(1, IVec3::new(x, 6, 0)), 1.0, "the open side");
        assert_eq!(fields.open.get(0, IVec3::new(8, 3, 0)), 0.0);
    }
    let t = &transform;
    assert_eq!(occupancy(&[], &domain, t, IVec3::new(-16, 0, 0)), Occupancy::Solid);
    assert_eq!(occupancy(&[], &domain, t, IVec3::new(0, 800, 0)), Occupancy::Cut);
}

/// Asserts that exactly the cells in `inside` are open, and exactly the faces between two of them.
fn assert_only_open_inside(fields: &SolidFields, inside: impl Fn(Coord) -> bool) {
    let topology = &fields.nodes.topology;
    let mut open = 0;
    for slot in 0..topology.len() * leaf::SIZE {
        let c = topology.coord(slot);
        open += usize::from(inside(c));
        assert_eq!(fields.volume.get(c), f32::from(u8::from(inside(c))), "volume of {c}");
        for axis in 0..3 {
            let joined = inside(c) && inside(c - IVec3::AXES[axis]);
            assert_eq!(fields.open.get(axis, c), f32::from(u8::from(joined)), "face {axis} of {c}");
        }
    }
    assert!(open > 0);
}

#[test]
fn closed_boxes_one_voxel_thick_are_open_inside() {
    let corner = DVec3::new(0.3, -0.7, 12.1);
    let h = 0.1;
    let transform = Transform::uniform(h, corner);
    let topology = Arc::new(Topology::covering([IVec3::ZERO]).dilated(1));
    let long = IVec3::new(5, 11, 4);
    // One voxel along each axis, along two of them, and along all.
    for thin in 1..8 {
        let size = IVec3::from_array(std::array::from_fn(|a| if thin >> a & 1 == 1 { 1 } else { long[a] }));
        for low in [IVec3::ZERO, IVec3::new(-1, 7, -8)] {
            let min = corner + h * low.as_dvec3();
            let domain = DomainLimits::uniform(min, min + h * size.as_dvec3(), Side::Closed);
            let fields = rasterise(&[], &domain, &topology, &transform);
            assert_only_open_inside(&fields, |c| c.cmpge(low).all() && c.cmplt(low + size).all());
        }
    }
}

#[test]
fn colliders_one_voxel_apart_are_open_between() {
    let n = 16;
    let h = 2.0 / f64::from(n);
    let transform = Transform::uniform(h, DVec3::splat(-1.0));
    let topology = cube_topology(n);
    // Away from the colliders' own rims.
    let inner = |c: Coord| c.cmpge(IVec3::splat(1)).all() && c.cmplt(IVec3::splat(n - 1)).all();
    for axis in 0..3 {
        let below = move |p: DVec3| p[axis];
        let above = move |p: DVec3| h - p[axis];
        let still = |f: &(dyn Fn(DVec3) -> f64 + Sync)| collider(n, STAY, Motion::Static, f);
        let both = still(&|p| below(p).min(above(p)));
        for colliders in [vec![still(&below), still(&above)], vec![both]] {
            let fields = rasterise(&colliders, &DomainLimits::unbounded(), &topology, &transform);
            let between = |c: Coord| c[axis] == n / 2;
            for slot in (0..topology.len() * leaf::SIZE).filter(|&s| inner(topology.coord(s))) {
                let c = topology.coord(slot);
                assert_eq!(fields.volume.get(c), f32::from(u8::from(between(c))), "volume of {c}");
                for a in 0..3 {
                    let open = f32::from(u8::from(a != axis && between(c)));
                    assert_eq!(fields.open.get(a, c), open, "face {a} of {c}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A wall one voxel thick (two of its own), at any angle, lets nothing through.
    #[test]
    fn thin_walls_are_sealed(x in -1f64..1.0, y in -1f64..1.0, z in -1f64..1.0, shift in 0f64..0.2, wide in prop::bool::ANY) {
        let normal = DVec3::new(x, y, z).normalize_or(DVec3::X);
        let n = 32;
        let h = 2.0 / f64::from(n);
        let (own, half) = if wide { (n, h) } else { (2 * n, 0.505 * h) };
        let wall = collider(own, STAY, Motion::Static, |p| (normal.dot(p) - shift).abs() - half);
        let transform = Transform::uniform(h, DVec3::splat(-1.0) + 0.013);
        let topology = cube_topology(n);
        let open = rasterise(&[wall], &DomainLimits::unbounded(), &topology, &transform).open;
        let side = |c: Coord| normal.dot(transform.to_world(c.as_dvec3())) - shift;
        // Flood from a cell well on one side, away from the collider's rim.
        let inner = |c: Coord| c.cmpge(IVec3::splat(3)).all() && c.cmplt(IVec3::splat(n - 3)).all();
        let mut seen = vec![false; topology.len() * leaf::SIZE];
        let start = (0..seen.len()).find(|&s| inner(topology.coord(s)) && side(topology.coord(s)) > 3.0 * h);
        let Some(start) = start else { return Ok(()) };
        let mut stack = vec![start];
        while let Some(s) = stack.pop() {
            if std::mem::replace(&mut seen[s], true) { continue; }
            let c = topology.coord(s);
            prop_assert!(side(c) > -2.0 * h, "leaked to {c} at {}", side(c) / h);
            for axis in 0..3 {
                for (to, face) in [(c - IVec3::AXES[axis], c), (c + IVec3::AXES[axis], c + IVec3::AXES[axis])] {
                    if inner(to) && open.get(axis, face) > 0.0 {
                        stack.extend(topology.slot_of(to));
                    }
                }
            }
        }
    }

    #[test]
    fn memory_changes_nothing(steps in prop::collection::vec((0f64..0.4, 0usize..3), 1..5)) {
        let transform = Transform::uniform(2.0 / 24.0, DVec3::splat(-1.0));
        let domain = DomainLimits::uniform(DVec3::splat(-0.9), DVec3::splat(0.9), Side::Closed);
        let still = collider(24, STAY, Motion::Static, |p| p.distance(DVec3::splat(-0.5)) - 0.3);
        let base = collider(24, STAY, Motion::Static, |p| p.distance(DVec3::splat(0.3)) - 0.2);
        let mut rasteriser = Rasteriser::default();
        for (x, rings) in steps {
            let place = Transform { translation: base.transform().translation - x, ..*base.transform() };
            let motion = Motion::Rigid { linear: DVec3::X, angular: DVec3::Z, pivot: DVec3::ZERO };
            let colliders = [still.clone(), Collider::new(base.sdf().clone(), place, motion)];
            let topology = Arc::new(Topology::covering([IVec3::splat(8)]).dilated(rings));
            let fresh = rasterise(&colliders, &domain, &topology, &transform);
            let remembered = rasteriser.rasterise(&colliders, &domain, &topology, &transform);
            prop_assert!(same(&fresh, &remembered));
        }
    }
}

/// Quarter turns and whole-voxel shifts of the solids turn and shift the fields.
#[test]
fn fields_follow_quarter_turns_and_shifts() {
    let (n, h) = (16, 2.0 / 16.0);
    let shape = |p: DVec3| (p - DVec3::new(0.2, 0.05, -0.1)).length() - 0.45;
    let transform = Transform::uniform(h, DVec3::splat(-1.0));
    let topology = cube_topology(n);
    let turn = DMat3::from_cols(DVec3::Y, -DVec3::X, DVec3::Z);
    let fields = |place| {
        let c = collider(n, place, Motion::Static, shape);
        rasterise(&[c], &DomainLimits::unbounded(), &topology, &transform)
    };
    let (plain, turned) = (fields(STAY), fields((turn, DVec3::ZERO)));
    let moved = fields((DMat3::IDENTITY, DVec3::X * h));
    for slot in 0..topology.len() * leaf::SIZE {
        let c = topology.coord(slot);
        // The turn maps cell (x, y) to (n−1−y, x); its lower x face becomes a lower y face.
        let to = IVec3::new(n - 1 - c.y, c.x, c.z);
        assert!((plain.open.get(0, c) - turned.open.get(1, to)).abs() < 1e-5);
        assert!((plain.open.get(2, c) - turned.open.get(2, to)).abs() < 1e-5);
        if c.x + 1 < n {
            assert!((plain.nodes.get(c) - moved.nodes.get(c + IVec3::X)).abs() < 1e-6);
        }
    }
}

#[test]
fn faces_move_with_the_nearest_solid() {
    let h = 2.0 / 32.0;
    let (pivot, angular) = (DVec3::new(0.1, 0.2, 0.0), DVec3::new(0.0, 0.0, 3.0));
    let motion = Motion::Rigid { linear: DVec3::Y, angular, pivot };
    let spin = collider(32, STAY, motion, |p| (p - DVec3::X * 0.5).length() - 0.3);
    let still = collider(32, STAY, Motion::Static, |p| (p + DVec3::X * 0.5).length() - 0.3);
    let transform = Transform::uniform(h, DVec3::splat(-1.0));
    let topology = cube_topology(32);
    let fields = rasterise(&[still, spin], &DomainLimits::unbounded(), &topology, &transform);
    let mut met = 0;
    for slot in 0..topology.len() * leaf::SIZE {
        let c = topology.coord(slot);
        for axis in 0..3 {
            let p = transform.face_centre(axis, c);
            let v = f64::from(fields.velocity.get(axis, c));
            if (p - DVec3::X * 0.5).length() < 0.3 + h {
                met += 1;
                assert!((v - (DVec3::Y + angular.cross(p - pivot))[axis]).abs() < 1e-5);
            } else if (p + DVec3::X * 0.5).length() < 0.3 + h {
                assert_eq!(v, 0.0);
            }
        }
    }
    assert!(met > 1000);
}

#[test]
fn the_same_on_any_number_of_threads() {
    let transform = Transform::uniform(2.0 / 32.0, DVec3::splat(-1.0));
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok();
        pool.map(|p| {
            p.install(|| {
                let ball = collider(48, STAY, Motion::Static, |p| p.length() - 0.7);
                rasterise(&[ball], &DomainLimits::unbounded(), &cube_topology(32), &transform)
            })
        })
    };
    assert!(matches!((run(1), run(5)), (Some(a), Some(b)) if same(&a, &b)));
}

#[test]
fn cut_leaves_are_the_leaves_of_the_surface() {
    let n = 64;
    let transform = Transform::uniform(2.0 / f64::from(n), DVec3::splat(-1.0));
    let ball = collider(32, STAY, Motion::Static, |p| p.length() - 0.7);
    let domain = DomainLimits::uniform(DVec3::splat(-1.0), DVec3::new(0.0, 1.0, 1.0), Side::Open);
    let colliders = [ball];
    let topology = cube_topology(n);
    let nodes = rasterise(&colliders, &domain, &topology, &transform).nodes;
    let cut = cut_leaves(&colliders, &domain, &transform);
    for (l, &o) in topology.origins().iter().enumerate() {
        let values = &nodes.values[l * leaf::SIZE..][..leaf::SIZE];
        let crossed = values.iter().any(|&v| v > 0.0) && values.iter().any(|&v| v <= 0.0);
        if crossed && o.x + 8 < n / 2 {
            assert!(cut.leaf_of(o).is_some());
        }
        if o.x > n / 2 {
            assert!(cut.leaf_of(o).is_none(), "beyond the domain");
        }
    }
    assert!(cut.len() < topology.len() / 2);
}

/// The faces on a leaf's border belong to the leaf above it. Where a solid fills that one, it is there all the same: without it
/// nothing would part the air below from the space of the leaves behind.
#[test]
fn a_solid_whose_side_is_a_border_of_leaves_has_its_closed_faces() {
    let n = 64;
    let transform = Transform::uniform(2.0 / f64::from(n), DVec3::splat(-1.0));
    let domain = DomainLimits::uniform(DVec3::splat(-0.6), DVec3::splat(0.6), Side::Open);
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let half = collider(64, STAY, Motion::Static, |p| side * p[axis]);
            let cut = cut_leaves(std::slice::from_ref(&half), &domain, &transform);
            let fields = rasterise(&[half], &domain, &Arc::new(cut.clone()), &transform);
            let across = (16..48).flat_map(|a| (16..48).map(move |b| (a, b)));
            for (a, b) in across {
                let mut face = IVec3::splat(n / 2);
                (face[(axis + 1) % 3], face[(axis + 2) % 3]) = (a, b);
                assert!(cut.leaf_of(face & !7).is_some(), "axis {axis}, side {side}: no leaf holds {face}");
                assert_eq!(fields.open.get(axis, face), 0.0, "axis {axis}, side {side}: {face} is closed");
            }
        }
    }
}

/// Faces take the velocity of the solid that the distances themselves name, wherever on the grid the solids stand, alone
/// or beside each other and a wall.
#[test]
fn corners_of_faces_name_the_owner_that_distances_name() {
    let h = 2.0 / 32.0;
    let transform = Transform::uniform(h, DVec3::splat(-1.0));
    let topology = cube_topology(32);
    let spin = Motion::Rigid { linear: DVec3::Y, angular: DVec3::new(1.0, -2.0, 3.0), pivot: DVec3::ZERO };
    let slide = Motion::Rigid { linear: DVec3::X * 2.0, angular: DVec3::ZERO, pivot: DVec3::ZERO };
    let floor = |side| DomainLimits {
        sides: [Side::Open, Side::Open, side, Side::Open, Side::Open, Side::Open],
        ..DomainLimits::uniform(DVec3::splat(-0.9), DVec3::splat(2.0), Side::Open)
    };
    for turn in 0..4 {
        let angle = 0.4 * f64::from(turn);
        let place = |x: f64| (DMat3::from_rotation_z(angle), DVec3::new(x, -0.5, 0.013 * f64::from(turn)));
        let cube = |p: DVec3| p.abs().max_element() - 0.3;
        let one = collider(32, place(-0.35), spin.clone(), cube);
        let other = collider(40, place(0.37), slide.clone(), |p: DVec3| p.length() - 0.35);
        // It fills whole leaves, in which others may lie.
        let large =
            collider(32, (STAY.0, DVec3::splat(-0.3)), slide.clone(), |p| p.abs().max_element() - 0.9);
        let with_large = vec![large, one.clone(), other.clone()];
        for colliders in [vec![one.clone()], vec![one.clone(), other.clone()], vec![other, one], with_large] {
            for domain in [floor(Side::Open), floor(Side::Closed)] {
                let fields = rasterise(&colliders, &domain, &topology, &transform);
                let mut probe = Solids { colliders: &colliders, domain: &domain }.probe();
                let bands = colliders.iter().map(|c| f64::from(c.sdf().grid.background));
                let (band, mut met) = (bands.fold(f64::INFINITY, f64::min), 0);
                for slot in 0..topology.len() * leaf::SIZE {
                    let c = topology.coord(slot);
                    for axis in 0..3 {
                        let face = transform.face_centre(axis, c);
                        let apart: Vec<f64> = colliders.iter().map(|c| c.distance(face)).collect();
                        // At the end of a band rounding decides.
                        if apart.iter().all(|&d| d > 0.95 * band) {
                            continue;
                        }
                        let v = fields.velocity.get(axis, c);
                        let expected = probe.velocity(face)[axis] as f32;
                        let tied = apart.len() == 2 && (apart[0] - apart[1]).abs() < 1e-5;
                        assert!(tied || (v - expected).abs() < 1e-5, "{face}: {v}, not {expected}");
                        met += u32::from(expected != 0.0);
                    }
                }
                assert!(met > 5000, "{met}");
            }
        }
    }
}

/// A solid sweeps over another one: with what was remembered, the fields and their leaves are those found anew, also where its
/// band is so narrow that it is told beyond it.
#[test]
fn memory_of_moving_solids_changes_no_bit() {
    [64, 128].into_iter().for_each(sweeps_over_another);
}

fn sweeps_over_another(division: i32) {
    let transform = Transform::uniform(2.0 / 64.0, DVec3::splat(-1.0));
    let domain = DomainLimits::unbounded();
    let shell = collider(64, STAY, Motion::Static, |p| (p.length() - 0.5).abs() - 0.08);
    let at = |x: f64| (DMat3::IDENTITY, DVec3::X * x);
    let ball = |x: f64| collider(division, at(x), Motion::Static, |p| p.length() - 0.6);
    let mover = ball(0.0).sdf().clone();
    let mut memory = SolidMemory::default();
    for step in 0..12 {
        let place = ball(2.0 - 0.3 * f64::from(step)).transform().to_owned();
        let motion = Motion::Rigid { linear: -DVec3::X, angular: DVec3::ZERO, pivot: DVec3::ZERO };
        let colliders = [shell.clone(), Collider::new(mover.clone(), place, motion)];
        let solids = Solids { colliders: &colliders, domain: &domain };
        // The liquid comes and goes, too.
        let origins = (0..3).map(|x| IVec3::new(8 * (x + step % 4), 24, 24)).collect();
        let liquid = Arc::new(Topology::new(origins));
        let known = memory.fields(&solids, &transform, &liquid).clone();
        let mut none = SolidMemory::default();
        let anew = none.fields(&solids, &transform, &liquid);
        assert_eq!(known.nodes.topology, anew.nodes.topology, "step {step}");
        assert!(same(&known, &anew), "step {step}");
        let all = liquid.union(&cut_leaves(&colliders, &domain, &transform));
        assert_eq!(*known.nodes.topology, all, "step {step}");
    }
}
