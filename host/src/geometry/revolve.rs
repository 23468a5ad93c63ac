//! Surfaces of revolution about Y: tube and sphere.

use super::matrix::Affine;
use super::primitives::placement;
use crate::data::Geometry;
use crate::node::{NodeKind, NodeType, ParamSpec, Params};
use glam::DVec3;
use std::f64::consts::{PI, TAU};

pub(super) fn node_types() -> Vec<NodeType> {
    let center = || ParamSpec::number("center", "Center", &[0.0; 3], "m", "Position of the middle.");
    let rotate = || {
        ParamSpec::number("rotate", "Rotate", &[0.0; 3], "deg", "Rotation about x, y and z, in that order.")
    };
    let columns = |n| {
        ParamSpec::integer("columns", "Columns", n, "Segments around the axis. Higher: rounder.")
            .within(Some(3.0), Some(1024.0))
    };
    let length = |name, label, default, help| {
        ParamSpec::number(name, label, &[default], "m", help).within(Some(1e-6), Some(1e4))
    };
    vec![
        NodeType::host("meniscus.sphere", "Sphere", NodeKind::Geometry, (0, Some(0)), "A closed sphere.")
            .with(vec![
                length("radius", "Radius", 0.5, "Radius."),
                center(),
                ParamSpec::integer("rows", "Rows", 24, "Segments from pole to pole. Higher: rounder.")
                    .within(Some(3.0), Some(1024.0)),
                columns(48),
            ]),
        NodeType::host(
            "meniscus.tube",
            "Tube",
            NodeKind::Geometry,
            (0, Some(0)),
            "A cylinder or cone along y. With a wall thickness it is a pipe, a cup or a closed bottle.",
        )
        .with(vec![
            ParamSpec::number(
                "radius_bottom",
                "Bottom Radius",
                &[0.5],
                "m",
                "Outer radius at the lower end; 0 makes a cone.",
            )
            .within(Some(0.0), Some(1e4)),
            ParamSpec::number(
                "radius_top",
                "Top Radius",
                &[0.5],
                "m",
                "Outer radius at the upper end; 0 makes a cone.",
            )
            .within(Some(0.0), Some(1e4)),
            length("height", "Height", 1.0, "Length along the axis."),
            ParamSpec::number(
                "thickness",
                "Wall Thickness",
                &[0.0],
                "m",
                "0: a massive tube. Above 0: a hollow tube with a wall of this thickness.",
            )
            .within(Some(0.0), Some(1e4)),
            ParamSpec::toggle(
                "caps",
                "End Caps",
                true,
                "On: the ends of a massive tube are closed. Off: it is an open shell, which encloses no volume.",
            ),
            ParamSpec::toggle(
                "floor",
                "Floor",
                false,
                "For hollow tubes: closes the lower end with a floor as thick as the wall.",
            ),
            ParamSpec::toggle(
                "lid",
                "Lid",
                false,
                "For hollow tubes: closes the upper end with a lid as thick as the wall.",
            ),
            center(),
            rotate(),
            columns(48),
        ]),
    ]
}

pub(super) fn sphere(params: &Params) -> Geometry {
    let (radius, rows) = (params.number("radius"), params.integer("rows"));
    let profile: Vec<[f64; 2]> = (0..=rows)
        .map(|i| match i {
            0 => [0.0, -radius],
            _ if i == rows => [0.0, radius],
            _ => {
                let a = PI * (i as f64 / rows as f64 - 0.5);
                [radius * a.cos(), radius * a.sin()]
            }
        })
        .collect();
    let mut surface = Surface::default();
    surface.revolve(&profile, false, params.integer("columns"));
    surface.placed(&placement(params))
}

pub(super) fn tube(params: &Params) -> Result<Geometry, (&'static str, String)> {
    let (bottom, top) = (params.number("radius_bottom"), params.number("radius_top"));
    let (h, t, columns) =
        (0.5 * params.number("height"), params.number("thickness"), params.integer("columns"));
    if bottom == 0.0 && top == 0.0 {
        return Err(("radius_bottom", "both radii are 0: nothing is left of the tube".into()));
    }
    let mut surface = Surface::default();
    if t == 0.0 {
        let mut profile = vec![[bottom, -h], [top, h]];
        if params.toggle("caps") {
            profile.insert(0, [0.0, -h]);
            profile.push([0.0, h]);
        }
        surface.revolve(&profile, false, columns);
    } else {
        if t >= bottom.min(top) || t >= h {
            let room = bottom.min(top).min(h);
            return Err((
                "thickness",
                format!("a wall of {t} m leaves no room inside: it must be below {room} m"),
            ));
        }
        let (floor, lid) = (params.toggle("floor"), params.toggle("lid"));
        let inner = |y: f64| bottom + (top - bottom) * (y + h) / (2.0 * h) - t;
        let (y0, y1) = (if floor { t - h } else { -h }, if lid { h - t } else { h });
        let outside = [[bottom, -h], [top, h]];
        let inside = [[inner(y1), y1], [inner(y0), y0]];
        match (floor, lid) {
            (false, false) => surface.revolve(&[outside, inside].concat(), true, columns),
            (true, false) => {
                surface.revolve(&[&[[0.0, -h]], &outside[..], &inside, &[[0.0, y0]]].concat(), false, columns)
            }
            (false, true) => {
                surface.revolve(&[&[[0.0, y1]], &inside[..], &outside, &[[0.0, h]]].concat(), false, columns)
            }
            (true, true) => {
                surface.revolve(&[&[[0.0, -h]], &outside[..], &[[0.0, h]]].concat(), false, columns);
                surface.revolve(&[&[[0.0, y1]], &inside[..], &[[0.0, y0]]].concat(), false, columns);
            }
        }
    }
    Ok(surface.placed(&placement(params)))
}

#[derive(Default)]
struct Surface {
    points: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
}

impl Surface {
    /// Turns a profile of (radius, y) about the y axis. The outside is on the right of the profile's direction
    /// (a profile that climbs has its outside away from the axis); `closed` joins its end to its start. Points on
    /// the axis are shared, so a profile from axis to axis gives a watertight surface.
    fn revolve(&mut self, profile: &[[f64; 2]], closed: bool, columns: i64) {
        let mut rings: Vec<Vec<u32>> = Vec::with_capacity(profile.len() + 1);
        for &[r, y] in profile {
            let first = self.points.len() as u32;
            let around = if r == 0.0 { 1 } else { columns };
            let angle = |c: i64| TAU * c as f64 / columns as f64;
            self.points.extend((0..around).map(|c| DVec3::new(r * angle(c).cos(), y, -r * angle(c).sin())));
            rings.push((0..columns as u32).map(|c| first + if r == 0.0 { 0 } else { c }).collect());
        }
        if closed {
            rings.extend(rings.first().cloned());
        }
        for pair in rings.windows(2) {
            for c in 0..columns as usize {
                let d = (c + 1) % columns as usize;
                let (a, b, e, f) = (pair[0][c], pair[0][d], pair[1][c], pair[1][d]);
                self.push([a, b, f]);
                self.push([a, f, e]);
            }
        }
    }

    fn push(&mut self, t: [u32; 3]) {
        if t[0] != t[1] && t[1] != t[2] && t[2] != t[0] {
            self.triangles.push(t);
        }
    }

    fn placed(self, map: &Affine) -> Geometry {
        let points: Vec<[f32; 3]> = self.points.iter().map(|&p| map.apply(p).as_vec3().to_array()).collect();
        Geometry::from_triangles(&points, &self.triangles)
    }
}

/// Open or wrongly wound edges of a mesh: 0 for a watertight one.
#[cfg(test)]
pub(super) fn open_edges(g: &Geometry) -> usize {
    let mut balance = std::collections::BTreeMap::<(u32, u32), i32>::new();
    for t in g.triangles() {
        for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
            *balance.entry((a.min(b), a.max(b))).or_default() += if a < b { 1 } else { -1 };
        }
    }
    balance.values().filter(|&&n| n != 0).count()
}

/// Enclosed volume by the divergence theorem, positive for outward winding.
#[cfg(test)]
pub(super) fn volume(g: &Geometry) -> f64 {
    let p = |i: u32| glam::Vec3::from(g.positions()[i as usize]).as_dvec3();
    g.triangles().iter().map(|t| p(t[0]).dot(p(t[1]).cross(p(t[2]))) / 6.0).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::Value;

    fn params(type_id: &str, set: &[(&str, Value)]) -> Params {
        let types = node_types();
        let spec = types.iter().find(|t| t.id == type_id).unwrap();
        let mut values: std::collections::BTreeMap<_, _> =
            spec.params.iter().map(|p| (p.name.clone(), p.default.clone())).collect();
        set.iter().for_each(|(k, v)| drop(values.insert((*k).into(), v.clone())));
        Params { values }
    }

    fn number(x: f64) -> Value {
        Value::Numbers(vec![x])
    }

    #[test]
    fn a_sphere_is_watertight_and_wound_outwards() {
        let g = sphere(&params(
            "meniscus.sphere",
            &[("rows", Value::Integers(vec![200])), ("columns", Value::Integers(vec![200]))],
        ));
        assert_eq!((open_edges(&g), g.defect()), (0, None));
        let exact = 4.0 / 3.0 * PI * 0.125;
        assert!((volume(&g) / exact - 1.0).abs() < 1e-3, "{} vs {exact}", volume(&g));
    }

    #[test]
    fn every_tube_with_closed_ends_is_watertight_with_the_right_volume() {
        let n = ("columns", Value::Integers(vec![720]));
        let wall = ("thickness", number(0.1));
        let (floor, lid) = (("floor", Value::Toggle(true)), ("lid", Value::Toggle(true)));
        let (solid, hole) = (PI * 0.25, PI * 0.16);
        for (set, exact) in [
            (vec![n.clone()], solid),
            (vec![n.clone(), wall.clone()], solid - hole),
            (vec![n.clone(), wall.clone(), floor.clone()], solid - hole * 0.9),
            (vec![n.clone(), wall.clone(), lid.clone()], solid - hole * 0.9),
            (vec![n.clone(), wall, floor, lid], solid - hole * 0.8),
            (vec![n.clone(), ("radius_top", number(0.0))], solid / 3.0),
            (vec![n, ("rotate", Value::Numbers(vec![90.0, 10.0, 5.0]))], solid),
        ] {
            let g = tube(&params("meniscus.tube", &set)).unwrap();
            assert_eq!((open_edges(&g), g.defect()), (0, None));
            assert!((volume(&g) / exact - 1.0).abs() < 1e-3, "{set:?}: {} vs {exact}", volume(&g));
        }
    }

    #[test]
    fn a_wall_too_thick_is_refused() {
        let e = tube(&params("meniscus.tube", &[("thickness", number(0.6))])).unwrap_err();
        assert_eq!(e.0, "thickness");
    }

    #[test]
    fn a_tube_without_caps_is_open() {
        let g = tube(&params("meniscus.tube", &[("caps", Value::Toggle(false))])).unwrap();
        assert_eq!(open_edges(&g), 96);
    }
}
