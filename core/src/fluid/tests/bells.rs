//! Bells: cups and funnels upside down keep the air that water closes off.

use super::flip::{GRAVITY, Scene};
use super::*;
use crate::coupling::Bubble;
use crate::fluid::flip::suggest_dt;
use crate::levelset::SignedDistance;
use crate::solid::{Collider, DomainLimits, Motion, Side};
use glam::IVec3;

/// Height of the bores and of the water, voxels.
const HEIGHT: f64 = 10.0;
const LEVEL: f64 = 10.0;
/// Where a bell that sinks comes to rest, voxels.
const LOWEST: f64 = 3.0;
/// How deep a rim is under water that closes it, voxels.
const CLOSED: f64 = 2.0;
/// How many of the last substeps the air that particles leave is averaged over.
const LAST: usize = 10;

pub(super) struct Bell {
    /// Radius of its bore at the rim, by how much that shrinks a voxel up, and thickness of its walls, voxels.
    pub(super) bore: f64,
    pub(super) slope: f64,
    pub(super) thick: f64,
    /// Where its axis stands, voxels from the middle of the tank.
    pub(super) at: [f64; 2],
    /// Speed at which it sinks, m/s; 0 for one that stands with its rim under water, its air in it.
    pub(super) speed: f64,
}

/// What becomes of a bell's air, as parts of what it should have when its rim is closed.
#[derive(Debug)]
pub(super) struct Kept {
    /// The least and the greatest that it should have.
    pub(super) rest: [f64; 2],
    /// What particles leave it in the end.
    pub(super) found: f64,
    /// Its ids.
    pub(super) ids: Vec<i32>,
}

impl Bell {
    /// Its signed distance, the rim's middle at the origin.
    fn distance(&self) -> Arc<SignedDistance> {
        let &Self { bore, slope, thick, .. } = self;
        let distance = move |p: DVec3| {
            let (away, y) = (p.x.hypot(p.z) / H, p.y / H);
            let cone = |radius: f64, low: f64, high: f64| {
                let (beside, above) =
                    ((away - radius + slope * y) / slope.hypot(1.0), (low - y).max(y - high));
                beside.max(0.0).hypot(above.max(0.0)) + beside.max(above).min(0.0)
            };
            H * cone(bore + thick, 0.0, HEIGHT + thick).max(-cone(bore, -50.0, HEIGHT))
        };
        let (low, high) = (IVec3::splat(-16), IVec3::new(16, 24, 16));
        Arc::new(SignedDistance::from_fn(&transform(), low, high, 3.0, distance))
    }

    /// Height of its rim at a time, voxels.
    fn rim(&self, t: f64) -> f64 {
        match self.speed > 0.0 {
            true => (LEVEL + 0.5 - self.speed * t / H).max(LOWEST),
            false => LEVEL - 3.0,
        }
    }

    /// The tank, with the bell as it is at first.
    fn scene(&self, cast: &dyn Fn(f64) -> Collider) -> Scene {
        let domain = DomainLimits {
            min: place(-12.0, 0.0, -12.0),
            max: place(12.0, 36.0, 12.0),
            sides: [Side::Closed, Side::Closed, Side::Closed, Side::Open, Side::Closed, Side::Closed],
        };
        let (level, rim, axis) = (LEVEL - 0.5, self.rim(0.0), place(self.at[0], 0.0, self.at[1]));
        let outer = self.bore + self.thick;
        // Under a bell whose rim is under water it stands half a voxel above the rim.
        let inside = move |p: DVec3| {
            let away = (p - axis).with_y(0.0).length() / H;
            p.y < H * if away < outer { level.min(rim) } else { level }
        };
        let mut scene = Scene::among(vec![cast(0.0)], domain, inside, Vec3::ZERO);
        scene.keeps_air = true;
        scene
    }

    /// Lets it sink, or stand.
    pub(super) fn run(&self) -> Kept {
        let sdf = self.distance();
        let cast = |t: f64| {
            let speed = if self.rim(t) > LOWEST { self.speed } else { 0.0 };
            let linear = DVec3::new(0.0, -speed, 0.0);
            let motion = Motion::Rigid { linear, angular: DVec3::ZERO, pivot: DVec3::ZERO };
            let at = place(self.at[0], self.rim(t), self.at[1]);
            Collider::new(sdf.clone(), Transform::uniform(H, at), motion)
        };
        let mut scene = self.scene(&cast);
        let end = if self.speed > 0.0 { (LEVEL - CLOSED) * H / self.speed } else { 2.0 };
        let (mut t, mut air) = (0.0, Vec::<Bubble>::new());
        while t < end {
            let dt = suggest_dt(&scene.liquid, 2.0, GRAVITY).clamp(1.0 / 64.0, 1.0 / 12.0);
            t += dt;
            scene.colliders = vec![cast(t)];
            scene.substep(dt, GRAVITY);
            if self.rim(t) <= LEVEL - CLOSED {
                let enclosed = scene.bubbles.iter().filter(|b| !b.exterior);
                let largest = enclosed.max_by(|a, b| a.rest_volume.total_cmp(&b.rest_volume));
                air.push(largest.expect("it has air").clone());
            }
        }
        let part = |volume: f64| volume / air[0].rest_volume;
        let mut ids: Vec<i32> = air.iter().map(|b| b.id).collect();
        ids.dedup();
        let widen =
            |[low, high]: [f64; 2], b: &Bubble| [low.min(part(b.rest_volume)), high.max(part(b.rest_volume))];
        let last = &air[air.len() - LAST..];
        let found = last.iter().map(|b| part(b.found_volume)).sum::<f64>() / LAST as f64;
        Kept { rest: air.iter().fold([1.0; 2], widen), found, ids }
    }
}

/// A place in voxels, which begin at half their numbers.
fn place(x: f64, y: f64, z: f64) -> DVec3 {
    DVec3::new(x, y, z) * H - 0.5 * H
}

/// Bells of these radii, slopes, walls, places and speeds keep their air, one air all the time.
fn keep_their_air(bells: &[(f64, f64, f64, [f64; 2], f64)]) {
    let kept = |&(bore, slope, thick, at, speed)| Bell { bore, slope, thick, at, speed }.run();
    let all: Vec<Kept> = bells.iter().map(kept).collect();
    bells.iter().zip(&all).for_each(|(bell, kept)| println!("{bell:?}: {kept:.4?}"));
    for (bell, Kept { rest, found, ids }) in bells.iter().zip(&all) {
        assert_eq!(ids.len(), 1, "{bell:?}: the bubbles {ids:?}");
        assert!(rest[0] > 0.99 && rest[1] < 1.01, "{bell:?}: {rest:?} of its air");
        assert!((found - 1.0).abs() < 0.02, "{bell:?}: {found} of its air as particles leave it");
    }
}

#[test]
fn bells_that_sink_keep_their_air_once_their_rims_are_two_voxels_under() {
    keep_their_air(&[
        (5.5, 0.0, 2.0, [2.0, 2.0], 0.335),
        (5.2, 0.0, 3.0, [0.5, 0.0], 0.335),
        (5.5, 0.0, 3.0, [0.0, 0.0], 0.2),
    ]);
}

#[test]
#[ignore = "takes half a minute: make scenes"]
fn more_bells_that_sink_keep_their_air() {
    keep_their_air(&[(5.5, 0.0, 2.0, [0.0, 0.0], 0.335), (5.2, 0.0, 4.0, [0.0, 0.0], 0.335)]);
}

#[test]
fn a_funnel_that_sinks_keeps_its_air() {
    keep_their_air(&[(6.5, 0.3, 3.0, [0.0, 0.0], 0.335)]);
}

#[test]
fn bells_that_stand_keep_their_air() {
    keep_their_air(&[(5.5, 0.0, 3.0, [0.0, 0.0], 0.0), (5.2, 0.0, 4.0, [1.3, 0.4], 0.0)]);
}
