//! Computes how geometry moves during a substep.

use super::matrix::Affine;
use crate::data::{Array, Attribute, Geometry, Meaning, Owner, next_stamp};
use glam::{DMat3, DQuat, DVec3, Vec3};
use std::sync::Arc;

/// Detail attribute: rest → world, 16 × f64, row-major, acting on row vectors.
pub const RIGID_TRANSFORM: &str = "rigid_transform";
/// Detail attribute: velocity of the pivot, m/s.
pub const RIGID_LINEAR: &str = "rigid_linear";
/// Detail attribute: angular velocity, rad/s, world axes.
pub const RIGID_ANGULAR: &str = "rigid_angular";
/// Detail attributes: the same velocities in the next substep.
pub const RIGID_NEXT: [&str; 2] = ["rigid_linear_next", "rigid_angular_next"];
/// Point attribute: velocity in the next substep, m/s.
const V_NEXT: &str = "v_next";
/// Detail attribute: the pivot, m, world.
pub const RIGID_PIVOT: &str = "rigid_pivot";

/// Geometry at one moment.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) geometry: Arc<Geometry>,
    /// The rest geometry and its motion, when the motion is rigid.
    pub(super) rigid: Option<(Arc<Geometry>, Affine)>,
}

impl Shape {
    pub(super) fn still(geometry: Arc<Geometry>) -> Self {
        Self { geometry, rigid: None }
    }
}

/// The geometry of `now` with its motion written on it: from `before`, `dt` seconds earlier (a negative `dt`: that many
/// seconds later), and on to `after`, `ahead` seconds later, if that is known.
pub(super) fn with_motion(now: &Shape, before: &Shape, dt: f64, after: Option<(&Shape, f64)>) -> Geometry {
    if let Some((rest, m, m0)) = same_body(now, before) {
        let after = after.and_then(|(after, ahead)| Some((same_body(now, after)?.2, -ahead)));
        return rigid(&now.geometry, rest, m, (m0, dt), after);
    }
    let mut g = (*now.geometry).clone();
    let of_points = |other: &Shape, dt: f64| -> Option<Vec<f32>> {
        let (p, p0) = (now.geometry.positions(), other.geometry.positions());
        let same = p.len() == p0.len() && now.geometry.primitives == other.geometry.primitives;
        let moved = p.iter().zip(p0);
        same.then(|| {
            moved
                .flat_map(|(a, b)| (0..3).map(move |c| ((f64::from(a[c]) - f64::from(b[c])) / dt) as f32))
                .collect()
        })
    };
    let v = of_points(before, dt);
    let next = after.and_then(|(after, ahead)| of_points(after, -ahead)).or_else(|| v.clone());
    for (name, v) in [("v", v), (V_NEXT, next)] {
        if let Some(v) = v {
            g.set(Owner::Point, name, 3, Array::F32(v));
        }
    }
    g
}

/// The rest geometry of a body that two moments share, and its places in them.
fn same_body<'a>(a: &'a Shape, b: &'a Shape) -> Option<(&'a Geometry, &'a Affine, &'a Affine)> {
    match (&a.rigid, &b.rigid) {
        (Some((rest, m)), Some((other, m0))) if Arc::ptr_eq(rest, other) => Some((rest, m, m0)),
        _ => None,
    }
}

/// Velocity of the pivot, m/s, and angular velocity, rad/s, between two places, `dt` seconds from `m0` to `m`. What rests is
/// exactly at rest, in bits too: a resumed cook may ask for the two the other way round.
fn velocities(m: &Affine, m0: &Affine, dt: f64) -> [DVec3; 2] {
    let linear = (m.translation - m0.translation) / dt;
    let angular = || rotation_vector(&(m.linear * m0.linear.inverse())) / dt;
    [
        if m.translation == m0.translation { DVec3::ZERO } else { linear },
        if m.linear == m0.linear { DVec3::ZERO } else { angular() },
    ]
}

/// A rigidly moved geometry: `v = linear + angular × (x − pivot)`, and what a collider needs to move its SDF.
fn rigid(
    g: &Geometry,
    rest: &Geometry,
    m: &Affine,
    (m0, dt): (&Affine, f64),
    after: Option<(&Affine, f64)>,
) -> Geometry {
    let mut out = g.clone();
    let pivot = m.translation;
    let [linear, angular] = velocities(m, m0, dt);
    let next = after.map_or([linear, angular], |(after, dt)| velocities(m, after, dt));
    let v = g
        .positions()
        .iter()
        .flat_map(|p| (linear + angular.cross(Vec3::from(*p).as_dvec3() - pivot)).as_vec3().to_array());
    out.set(Owner::Point, "v", 3, Array::F32(v.collect()));
    if let Some(p) = rest.attribute(Owner::Point, "P") {
        let rest_p = Attribute { name: "restP".into(), meaning: Meaning::Position, ..p.clone() };
        out.attributes.retain(|a| a.name != "restP");
        out.attributes.push(rest_p);
    }
    let mut detail = |name: &str, values: &[f64]| {
        out.attributes.retain(|a| a.name != name);
        out.attributes.push(Attribute {
            name: name.into(),
            owner: Owner::Detail,
            components: values.len(),
            meaning: Meaning::Plain,
            values: Arc::new(Array::F64(values.to_vec())),
            value_id: next_stamp(),
        });
    };
    detail(RIGID_TRANSFORM, &m.to_row_major());
    detail(RIGID_LINEAR, &linear.to_array());
    detail(RIGID_ANGULAR, &angular.to_array());
    detail(RIGID_PIVOT, &pivot.to_array());
    for (name, velocity) in RIGID_NEXT.iter().zip(next) {
        detail(name, &velocity.to_array());
    }
    out
}

/// Axis times angle of a rotation, rad.
fn rotation_vector(r: &DMat3) -> DVec3 {
    let q = DQuat::from_mat3(r).normalize();
    let q = if q.w < 0.0 { -q } else { q };
    let s = q.xyz().length();
    // For small angles the quotient tends to 2.
    let factor = if s < 1e-12 { 2.0 } else { 2.0 * s.atan2(q.w) / s };
    q.xyz() * factor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_vector_is_axis_times_angle() {
        for angle in [1e-9, 0.3, 3.0] {
            let axis = DVec3::new(1.0, 2.0, -2.0) / 3.0;
            let v = rotation_vector(&DMat3::from_axis_angle(axis, angle));
            assert!((v - axis * angle).length() < 1e-12 + 1e-9 * angle, "{v}");
        }
        assert_eq!(rotation_vector(&DMat3::IDENTITY), DVec3::ZERO);
    }

    #[test]
    fn what_rests_has_no_velocity_whichever_moment_comes_first() {
        let turned = DMat3::from_rotation_x(0.3) * DMat3::from_rotation_y(-1.1);
        let here = Affine { linear: turned, translation: DVec3::new(0.0, -1.0, 2.0) };
        for dt in [0.02, -0.02] {
            let bits = velocities(&here, &here, dt).map(|v| v.to_array().map(f64::to_bits));
            assert_eq!(bits, [[0; 3]; 2], "{dt}");
        }
    }
}
