use super::*;

const DT: f64 = 0.01;
const CLOSED: [bool; 6] = [true; 6];
const H: f64 = 0.02;

/// A closed duct 32 × 4 × 4, a piston of velocity `left` up to x = 3.3 cells, one of velocity `right` from
/// x = 28.7 on, liquid where φ says.
fn duct(left: f64, right: f64, liquid: impl Fn(DVec3) -> f64 + Sync) -> Scene {
    let solid = |p: DVec3| (p.x - 3.3 * H).min(28.7 * H - p.x);
    let motion = move |p: DVec3| DVec3::X * if p.x < 16.0 * H { left } else { right };
    Scene::new(H, IVec3::new(32, 4, 4), CLOSED, liquid, solid, motion)
}

const AREA: f64 = 16.0 * H * H;

#[test]
fn air_carries_a_piston_s_push_to_a_liquid_it_does_not_touch() {
    let scene = duct(0.7, 0.7, |p| (10.2 * H - p.x).max(p.x - 20.6 * H));
    let (vel, projection) = scene.bubbles(DT);
    assert_eq!(projection.bubbles.iter().filter(|b| b.constrained).count(), 2);
    for x in 10..=21 {
        let u = f64::from(vel.get(0, IVec3::new(x, 1, 2)));
        assert!((u - 0.7).abs() < 1e-6, "{u} m/s at {x}");
    }
    assert!(projection.incompatible_flux < 1e-6 * AREA);
    let (free, _) = scene.free_surface(DT);
    assert!(scene.fastest(&free) < 1e-6, "with a free surface the push is lost");
}

#[test]
fn a_liquid_between_a_piston_and_air_moves_with_the_piston() {
    let scene = duct(-0.4, -0.4, |p| p.x - 20.6 * H);
    for (vel, _) in [scene.bubbles(DT), scene.free_surface(DT)] {
        for x in 4..=20 {
            let u = f64::from(vel.get(0, IVec3::new(x, 1, 2)));
            assert!((u + 0.4).abs() < 1e-6, "{u} m/s at {x}");
        }
    }
}

#[test]
fn compressed_contents_yield_in_their_air_in_proportion_to_volume() {
    let bubble = DVec3::new(0.0, 2.0, 2.0) * H;
    let phi = |p: DVec3| {
        let axis = DVec3::new(0.0, p.y, p.z).distance(bubble);
        (1.4 * H - axis.max((p.x - 10.0 * H).abs())).max(p.x - 22.5 * H)
    };
    let scene = duct(0.5, 0.0, phi);
    let (vel, projection) = scene.bubbles(DT);
    assert_eq!(projection.bubbles.len(), 2);
    let squeezed = 0.5 * AREA;
    assert!((projection.incompatible_flux - squeezed).abs() < 1e-5 * squeezed);
    assert!(projection.max_divergence * H < 1e-5, "the liquid itself does not yield");
    assert!(projection.max_bubble_flux < 1e-6 * AREA);
    let big = projection.bubbles.iter().max_by(|a, b| a.volume.total_cmp(&b.volume)).unwrap();
    let total: f64 = projection.bubbles.iter().map(|b| b.volume).sum();
    let into_big: f64 = (0..16).map(|n| f64::from(vel.get(0, IVec3::new(22, n / 4, n % 4))) * H * H).sum();
    let expected = squeezed * big.volume / total;
    assert!((into_big - expected).abs() < 1e-4 * expected, "{into_big} {expected}");
}

#[test]
fn a_full_duct_spreads_what_cannot_be() {
    let scene = duct(0.5, 0.0, |_| -3.0 * H);
    for (vel, projection) in [scene.bubbles(DT), scene.free_surface(DT)] {
        assert!(projection.bubbles.is_empty());
        assert!((projection.incompatible_flux - 0.5 * AREA).abs() < 1e-5 * AREA);
        assert!(projection.max_divergence * H < 1e-5);
        let u = |x| f64::from(vel.get(0, IVec3::new(x, 1, 1)));
        assert!(u(4) > u(10) && u(10) > u(20) && u(20) > u(28) && u(28) > -1e-6);
    }
    let scene = duct(0.5, 0.5, |_| -3.0 * H);
    for (vel, projection) in [scene.bubbles(DT), scene.free_surface(DT)] {
        assert!(projection.incompatible_flux < 1e-6 * AREA);
        for x in 4..=28 {
            assert!((f64::from(vel.get(0, IVec3::new(x, 2, 1))) - 0.5).abs() < 1e-5);
        }
    }
}

#[test]
fn air_makes_room_for_a_liquid_s_source() {
    let scene = duct(0.0, 0.0, |p| p.x - 16.5 * H);
    let source = Grid::from_fn(scene.surface.topology.clone(), 0.0, |c| if c.x < 16 { 0.3 } else { 0.0 });
    let mut fields = scene.fields();
    fields.cells.divergence = Some(&source);
    let mut vel = scene.vel.clone();
    let projection =
        constraint_bubbles::project(&fields, &mut vel, DT, &mut PlainCg, &TIGHT, &mut run_on).unwrap();
    assert!(projection.max_divergence * H < 1e-5);
    let grown = 0.3 * (16.0 - 3.3) * H * AREA;
    // The open volume of the cells that the piston cuts is an estimate.
    let made = projection.incompatible_flux;
    assert!((made - grown).abs() < 0.01 * grown, "{made} {grown}");
    let out: f64 = (0..16).map(|n| f64::from(vel.get(0, IVec3::new(16, n / 4, n % 4))) * H * H).sum();
    assert!((out - made).abs() < 1e-5 * made, "{out} {made}");
}
