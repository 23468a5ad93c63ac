//! Water rests in tanks and cups of thin walls, wherever these lie on the lattice.

use super::flip::{GRAVITY, Scene};
use super::*;
use crate::levelset::SignedDistance;
use crate::solid::{Collider, DomainLimits, Motion, Side};
use glam::{DQuat, IVec3};

/// Inner half-width and depth of the water, voxels.
const BORE: f64 = 6.0;
const DEPTH: f64 = 6.0;
const HEIGHT: f64 = 12.0;

/// An open vessel, the middle of its floor's upper side at `at`, voxels.
#[derive(Clone, Copy, Debug)]
struct Vessel {
    round: bool,
    wall: f64,
    at: DVec3,
    /// About the vertical and then about a horizontal axis, degrees.
    turned: [f64; 2],
    /// Water outside stands at this height, voxels over the inner floor.
    around: Option<f64>,
    keeps_air: bool,
}

impl Vessel {
    fn rotation(&self) -> DQuat {
        let [y, x] = self.turned.map(f64::to_radians);
        DQuat::from_rotation_x(x) * DQuat::from_rotation_y(y)
    }

    /// Distance, voxels, from a solid block as wide as the bore and `more` voxels, from `low` on up.
    fn block(&self, p: DVec3, more: f64, low: f64, high: f64) -> f64 {
        let beside = match self.round {
            true => p.x.hypot(p.z) - BORE - more,
            false => {
                let q = p.abs() - (BORE + more);
                q.x.max(0.0).hypot(q.z.max(0.0)) + q.x.max(q.z).min(0.0)
            }
        };
        let above = (low - p.y).max(p.y - high);
        beside.max(0.0).hypot(above.max(0.0)) + beside.max(above).min(0.0)
    }

    fn local(&self, p: DVec3) -> DVec3 {
        self.rotation().inverse() * (p / H - self.at)
    }

    fn distance(&self, p: DVec3) -> f64 {
        let p = self.local(p);
        H * self.block(p, self.wall, -self.wall, HEIGHT).max(-self.block(p, 0.0, 0.0, 99.0))
    }

    fn scene(&self) -> Scene {
        let me = *self;
        let sdf = SignedDistance::from_fn(&transform(), IVec3::splat(-16), IVec3::splat(20), 3.0, |p| {
            me.distance(p)
        });
        let wall = Collider::new(Arc::new(sdf), transform(), Motion::Static);
        let domain = match self.around {
            None => DomainLimits::unbounded(),
            Some(_) => DomainLimits {
                min: DVec3::new(-12.5, -8.5, -12.5) * H,
                max: DVec3::new(12.5, 20.5, 12.5) * H,
                sides: [Side::Closed, Side::Closed, Side::Closed, Side::Open, Side::Closed, Side::Closed],
            },
        };
        let level = self.at.y + DEPTH;
        let inside = move |p: DVec3| {
            let q = me.local(p);
            let within = me.block(q, 0.0, 0.0, 99.0) < 0.0 && p.y / H < level;
            let outside = me
                .around
                .is_some_and(|a| p.y / H < me.at.y + a && me.block(q, me.wall, -me.wall, HEIGHT) > 0.0);
            within || outside
        };
        let mut scene = Scene::among(vec![wall], domain, inside, Vec3::ZERO);
        scene.keeps_air = self.keeps_air;
        scene
    }
}

/// Walls of 1.5 and 2 voxels have cells in them that both sides would give a level set.
#[test]
fn water_rests_between_thin_walls() {
    let at = DVec3::new(0.15, 0.35, 0.55);
    let vessel = Vessel { round: false, wall: 2.0, at, turned: [0.0; 2], around: None, keeps_air: false };
    let members = [
        Vessel { round: true, ..vessel },
        Vessel { turned: [33.0, 0.0], ..vessel },
        Vessel { turned: [45.0, 0.0], keeps_air: true, ..vessel },
        Vessel { turned: [33.0, 0.0], around: Some(3.0), ..vessel },
        Vessel { wall: 1.5, ..vessel },
        Vessel { wall: 1.5, turned: [20.0, 0.0], ..vessel },
        Vessel { wall: 1.5, round: true, around: Some(3.0), ..vessel },
    ];
    for vessel in members {
        let mut scene = vessel.scene();
        (0..24).for_each(|_| scene.substep(1.0 / 24.0, GRAVITY));
        let speed = scene.rms_speed() / (GRAVITY * H).sqrt();
        println!("{vessel:?}: {speed:.4} of √(gh)");
        assert!(speed < 0.06, "{vessel:?}: water moves at {speed} √(gh)");
    }
}
