//! What a rigid projection keeps, before anything is rounded.

use super::*;
use crate::coupling::bodies::{Bodies, Body, Piece, Twist};
use crate::coupling::tests::{Scene, noise, noisy_velocity};
use glam::{DVec3, IVec3};

const H: f64 = 0.02;

/// Momentum, N s, and angular momentum about the origin, N m s.
#[derive(Debug, Default)]
struct Sum {
    linear: DVec3,
    angular: DVec3,
    /// Of the parts.
    size: f64,
}

impl Sum {
    fn add(&mut self, at: DVec3, momentum: DVec3) {
        self.linear += momentum;
        self.angular += at.cross(momentum);
        self.size += momentum.length();
    }
}

/// A field at random speeds in a ball that is deep, cut by the surface, or hardly wet: the rigid motion has the field's
/// momentum and angular momentum, with what the rest of the body has.
#[test]
fn a_rigid_projection_keeps_momentum_and_angular_momentum() {
    for (n, (level, density)) in
        [(14.0, 300.0), (8.3, 300.0), (6.2, 40.0), (14.0, 9000.0), (7.7, 1000.0)].into_iter().enumerate()
    {
        let (middle, radius) = (H * (DVec3::new(8.1, 7.8, 8.4) + 0.07 * n as f64), 3.3 * H);
        let ball = |p: DVec3| p.distance(middle) - radius;
        let scene = Scene::still(H, IVec3::splat(16), [true; 6], |p| p.y - level * H, ball);
        let owner = FaceGrid::from_fn(scene.vel.topology.clone(), 0, |a, c| {
            u32::from(ball(scene.transform.face_centre(a, c)) < 3.0 * H)
        });
        let unit = |n: usize, of: usize| if n / 3 == of { DVec3::AXES[n % 3] } else { DVec3::ZERO };
        let twists: Vec<Twist> = (0..6).map(|n| Twist { linear: unit(n, 0), angular: unit(n, 1) }).collect();
        let mass = density * 4.19 * radius.powi(3);
        let entry = |n: usize| if n < 3 { mass } else { 0.4 * mass * radius * radius };
        let dense: Vec<f64> = (0..36).map(|n| if n / 6 == n % 6 { entry(n / 6) } else { 0.0 }).collect();
        let velocity: Vec<f64> = (0..6).map(|k| noise(100 * n as u64 + k)).collect();
        let this = [Body {
            before: Some(velocity.clone()),
            velocity,
            mass: dense.into(),
            pieces: vec![Piece { pivot: middle, twists }].into(),
        }];
        let bodies = Bodies {
            bodies: &this,
            constraints: &[],
            owner: &owner,
            left_by_first: &scene.volume,
            room: None,
            pieces: &[Some((0, 0))],
        };
        let mut fields = scene.fields();
        fields.kick = DVec3::new(0.01, -0.1, 0.02);
        fields.bodies = Some(bodies);
        let domain = Domain::find(&fields, &bodies);
        let (rigid, _) = rigid::find_all(&fields, &bodies, &domain).unwrap();
        let random = |place: &Place, by: f64| {
            noisy_velocity(
                place.axis,
                by * scene.transform.face_centre(place.axis, domain.topology.coord(place.slot)),
            )
        };
        let part = |(place, masses): (&Place, &Option<places::Masses>)| {
            let (body, liquid) = (random(place, 1.0), random(place, 3.0));
            masses.map(|_| rigid::Parts { body, liquid, mixed: 0.0 })
        };
        let parts: Vec<_> = rigid[0].places.iter().zip(&rigid[0].masses).map(part).collect();
        let made = rigid[0].made_rigid(&parts);
        let at = |velocity: &[f64], p: DVec3| {
            DVec3::from_slice(&velocity[..3]) + DVec3::from_slice(&velocity[3..]).cross(p - middle)
        };
        let start = rigid[0].start();
        let (mut before, mut after) = (Sum::default(), Sum::default());
        for (sum, velocity) in [(&mut before, &start), (&mut after, &made)] {
            sum.add(middle, mass * DVec3::from_slice(&velocity[..3]));
            sum.angular += 0.4 * mass * radius * radius * DVec3::from_slice(&velocity[3..]);
        }
        for ((place, masses), parts) in rigid[0].places.iter().zip(&rigid[0].masses).zip(&parts) {
            let (Some(masses), Some(parts)) = (masses, parts) else { continue };
            let p = scene.transform.face_centre(place.axis, domain.topology.coord(place.slot));
            let along = DVec3::AXES[place.axis];
            let lining = if place.is_closed { masses.liquid } else { 0.0 };
            // The field takes the place of what the body's own mass has there.
            let own = masses.own * (parts.body - at(&start, p)[place.axis]);
            before.add(p, (own + lining * parts.liquid) * along);
            after.add(p, at(&made, p)[place.axis] * lining * along);
        }
        let scale = before.size.max(after.size);
        let off =
            [(before.linear - after.linear).length(), (before.angular - after.angular).length() / (8.0 * H)];
        println!("level {level}, {density} kg/m³: {:.1e} and {:.1e}", off[0] / scale, off[1] / scale);
        assert!(off.iter().all(|off| *off < 1e-12 * scale), "{before:?} {after:?}");
    }
}

/// A body that lies on a floor has no free surface under it: the cells in the floor, where no particle comes and which pass for air,
/// go on as the liquid around does. Under a dry body they stay air.
#[test]
fn cells_that_a_body_closes_with_a_floor_take_the_liquid_around() {
    for axis in 0..3 {
        // The floor is the side of the box; contacts let a body overlap it a little.
        let half = H * DVec3::new(3.2, 2.5, 3.7);
        let mut middle = H * DVec3::new(7.6, 7.3, 7.9);
        middle[axis] = half[axis] - 0.01 * H;
        let block = |p: DVec3| ((p - middle).abs() - half).max_element();
        for (above_floor, is_wet) in [(-2.0 * H, true), (2.0 * H, false)] {
            let liquid = |p: DVec3| if p[axis] < 0.0 { 2.0 * H } else { above_floor };
            let scene = Scene::still(H, IVec3::splat(16), [true; 6], liquid, block);
            let owner = FaceGrid::from_fn(scene.vel.topology.clone(), 0, |a, c| {
                let at = scene.transform.face_centre(a, c);
                u32::from(block(at) < 3.0 * H && block(at) <= at[axis])
            });
            let pieces = vec![Piece { pivot: middle, twists: vec![Twist::default(); 6] }].into();
            let body = [Body { velocity: vec![0.0; 6], pieces, ..Body::default() }];
            let bodies = Bodies {
                bodies: &body,
                constraints: &[],
                owner: &owner,
                left_by_first: &scene.volume,
                room: None,
                pieces: &[Some((0, 0))],
            };
            let mut fields = scene.fields();
            fields.kick[axis] = -0.1;
            fields.bodies = Some(bodies);
            let domain = Domain::find(&fields, &bodies);
            let on_floor = (0..domain.surface.values.len()).filter(|&slot| {
                let is_open = domain.open_to_all.values[axis][slot] > 0.0;
                domain.topology.coord(slot)[axis] == 0 && is_open && domain.owner.values[axis][slot] == 1
            });
            let under: Vec<f32> =
                on_floor.filter_map(|slot| Some(domain.surface.values[domain.below(axis, slot)?])).collect();
            assert!(
                !under.is_empty() && under.iter().all(|phi| (*phi < 0.0) == is_wet),
                "along {axis}: {under:?}"
            );
        }
    }
}
