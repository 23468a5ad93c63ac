use super::flip::{GRAVITY, Scene};
use super::*;
use crate::fluid::flip::suggest_dt;
use crate::levelset::SignedDistance;
use crate::solid::{Collider, DomainLimits, Motion, Side};
use glam::IVec3;

/// Two cells: with one, all nodes would lie on walls.
const THICK: f64 = 2.0 * H;

/// Signed distance to a box that is endless along z, m.
fn slab(p: DVec3, low: [f64; 2], high: [f64; 2]) -> f64 {
    let d = DVec3::new((low[0] - p.x).max(p.x - high[0]), (low[1] - p.y).max(p.y - high[1]), 0.0);
    d.max(DVec3::ZERO).length() + d.x.max(d.y).min(0.0)
}

fn collider(low: IVec3, high: IVec3, distance: impl Fn(DVec3) -> f64 + Sync) -> Collider {
    // Sampled at the nodes of the liquid's lattice, so that edges on it stay sharp.
    let lattice = Transform::uniform(H, DVec3::splat(-0.5 * H));
    let sdf = SignedDistance::from_fn(&lattice, low, high, 3.0, distance);
    Collider::new(Arc::new(sdf), lattice, Motion::Static)
}

/// Width of a plane jet out of a slot of `voxels` in a plate of two, over that of the slot, 1 to 1.5 slots behind its
/// inlet; as it is, and without what gravity stretches it by.
fn contraction(voxels: i32, deep: f64, parts_at: Option<f64>) -> (f64, f64) {
    let slot = f64::from(voxels) * H;
    let (wide, plate) = (3.0 * slot, 2.0 * H);
    let domain = DomainLimits {
        min: DVec3::new(-wide, -2.5 * slot, 0.0),
        max: DVec3::new(wide, deep * slot + 10.0 * H, THICK),
        sides: [Side::Closed, Side::Closed, Side::Kill, Side::Open, Side::Closed, Side::Closed],
    };
    let n = voxels * 4 + 8;
    let distance = move |p: DVec3| {
        slab(p, [-2.0 * wide, -plate], [-0.5 * slot, 0.0]).min(slab(
            p,
            [0.5 * slot, -plate],
            [2.0 * wide, 0.0],
        )) - 1e-3 * H
    };
    let plate = collider(IVec3::new(-n, -8, -8), IVec3::new(n, 8, 8), distance);
    let inside = move |p: DVec3| p.y > 0.0 && p.y < deep * slot;
    let mut scene = Scene::among(vec![plate], domain, inside, Vec3::ZERO);
    scene.parts_at = parts_at;
    let speed = (2.0 * GRAVITY * deep * slot).sqrt();
    let (mut t, end) = (0.0, 9.0 * slot / speed);
    let (mut sum, mut count) = (DVec3::ZERO, 0);
    let mut step = 0;
    while t < end {
        let dt = suggest_dt(&scene.liquid, 2.0, GRAVITY).min(1.0 / 48.0);
        scene.substep(dt, GRAVITY);
        t += dt;
        step += 1;
        let (low, high) = (-1.5 * slot, -slot);
        let inside = |x: f64| x > low && x < high;
        let p = &scene.liquid.particles;
        let jet: Vec<usize> = (0..p.len()).filter(|&n| inside(f64::from(p.position[n].y))).collect();
        let volume = jet.len() as f64 * f64::from(scene.params.particle_separation).powi(3);
        let width = volume / THICK / (high - low) / slot;
        let v = jet.iter().map(|&n| -f64::from(p.velocity[n].y)).sum::<f64>() / jet.len().max(1) as f64;
        if t > 0.6 * end {
            sum += DVec3::new(width, v / speed, 0.0);
            count += 1;
        }
        if step == 20 || step == 30 {
            draw(&scene);
            println!("t {t:.3} dt {dt:.4} width {width:.3} v {v:.2} of {speed:.2} n {}", p.len());
        }
    }
    let mean = sum / f64::from(count);
    (mean.x, mean.x * ((deep + 1.25) / deep).sqrt())
}

fn draw(scene: &Scene) {
    let (lo, hi) = scene.liquid.surface.topology.bounds().unwrap();
    for y in (lo.y.max(-24)..hi.y.min(30)).rev() {
        let row: String = (lo.x.max(-28)..hi.x.min(28))
            .map(|x| {
                let c = IVec3::new(x, y, 0);
                let open = (0..2).any(|a| scene.liquid.solid.open.get(a, c) > 0.0);
                match (open, scene.liquid.surface.get(c) < 0.0) {
                    (false, _) => '#',
                    _ if scene.liquid.parted.as_ref().is_some_and(|p| p.get(c) != 0.0) => {
                        if scene.liquid.parted.as_ref().unwrap().get(c) > 0.0 { 'P' } else { 'c' }
                    }
                    (true, true) => 'o',
                    _ => '.',
                }
            })
            .collect();
        println!("{row}");
    }
}

#[test]
fn a_jet_contracts() {
    for n in [8] {
        for parts in [None, Some(-101_325.0)] {
            println!("{n}: {parts:?} {:?}", contraction(n, 6.0, parts));
        }
    }
}

#[test]
fn a_sheet_falls_off_a_ceiling() {
    let domain = DomainLimits {
        min: DVec3::new(-2.0, -3.0, 0.0),
        max: DVec3::new(2.0, 0.0, THICK),
        sides: [Side::Closed, Side::Closed, Side::Open, Side::Closed, Side::Closed, Side::Closed],
    };
    for parts in [None, Some(-101_325.0)] {
        let mut scene = Scene::new(domain, |p| p.x.abs() < 0.6 && p.y > -0.3, Vec3::ZERO);
        scene.parts_at = parts;
        for step in 0..14 {
            scene.substep(1.0 / 48.0, GRAVITY);
            let p = &scene.liquid.particles;
            let highest = p.position.iter().map(|x| x.y).fold(f32::MIN, f32::max);
            let mean = p.position.iter().map(|x| x.y).sum::<f32>() / p.len() as f32 + 0.15;
            if step == 13 {
                println!("highest {highest} mean {mean} volume {}", scene.volume());
                // What clings to the ceiling only drips; what has let go falls all but freely.
                assert_eq!(highest < -0.15, parts.is_some(), "{parts:?}: highest particle at {highest} m");
            }
        }
    }
}
