//! Box and grid.

use super::matrix::Affine;
use crate::data::Geometry;
use crate::node::{NodeKind, NodeType, ParamSpec, Params, Value};
use glam::DVec3;

pub(super) fn node_types() -> Vec<NodeType> {
    let center = || ParamSpec::number("center", "Center", &[0.0; 3], "m", "Position of the middle.");
    let rotate = || {
        ParamSpec::number("rotate", "Rotate", &[0.0; 3], "deg", "Rotation about x, y and z, in that order.")
    };
    let count = |name, label, help| ParamSpec::integer(name, label, 10, help).within(Some(2.0), Some(4096.0));
    vec![
        NodeType::host("meniscus.box", "Box", NodeKind::Geometry, (0, Some(0)), "A closed box.").with(vec![
            ParamSpec::number("size", "Size", &[1.0; 3], "m", "Edge lengths.").within(Some(1e-6), Some(1e5)),
            center(),
            rotate(),
        ]),
        NodeType::host(
            "meniscus.grid",
            "Grid",
            NodeKind::Geometry,
            (0, Some(0)),
            "A flat sheet in the xz plane, facing up; it encloses no volume.",
        )
        .with(vec![
            ParamSpec::number("size", "Size", &[1.0; 2], "m", "Edge lengths along x and z.")
                .within(Some(1e-6), Some(1e5)),
            center(),
            rotate(),
            count("rows", "Rows", "Number of points along z. Higher: a finer mesh."),
            count("columns", "Columns", "Number of points along x. Higher: a finer mesh."),
        ]),
        NodeType::host(
            "meniscus.points",
            "Points",
            NodeKind::Geometry,
            (0, Some(0)),
            "A block of points, evenly spaced: places for copies of a mesh.",
        )
        .with(vec![
            ParamSpec {
                components: 3,
                default: Value::Integers(vec![1; 3]),
                ..ParamSpec::integer(
                    "count",
                    "Count",
                    1,
                    "Number of points along x, y and z. Higher: more of them.",
                )
                .within(Some(1.0), Some(4096.0))
            },
            ParamSpec::number(
                "spacing",
                "Spacing",
                &[1.0; 3],
                "m",
                "Distance between points along x, y and z. Higher: they stand farther apart.",
            )
            .within(Some(0.0), Some(1e5)),
            center(),
            rotate(),
        ]),
    ]
}

/// From a shape about the origin to where `center` and `rotate` put it.
pub(super) fn placement(params: &Params) -> Affine {
    let vector = |name| if params.values.contains_key(name) { params.vector(name) } else { [0.0; 3] };
    let (center, rotate) = (DVec3::from(vector("center")), DVec3::from(vector("rotate")));
    Affine::new(center, rotate, DVec3::ONE, DVec3::ZERO)
}

pub(crate) fn cuboid(params: &Params) -> Geometry {
    let (map, half) = (placement(params), DVec3::from(params.vector("size")) * 0.5);
    let corner = |i: usize| {
        let side = |bit: usize| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
        map.apply(half * DVec3::new(side(0), side(1), side(2))).as_vec3().to_array()
    };
    let points: [[f32; 3]; 8] = std::array::from_fn(corner);
    // Corner i has bit 0 for +x, bit 1 for +y, bit 2 for +z; quads counter-clockwise from outside.
    let quads: [[u32; 4]; 6] =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles: Vec<[u32; 3]> =
        quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
    Geometry::from_triangles(&points, &triangles)
}

pub(super) fn grid(params: &Params) -> Geometry {
    let (map, size) = (placement(params), params.numbers("size").to_vec());
    let (rows, columns) = (params.integer("rows") as u32, params.integer("columns") as u32);
    let along = |i: u32, n: u32, axis: usize| {
        (f64::from(i) / f64::from(n.max(2) - 1) - 0.5) * size.get(axis).copied().unwrap_or(1.0)
    };
    let mut points = Vec::new();
    let mut triangles = Vec::new();
    for r in 0..rows {
        for c in 0..columns {
            points.push(
                map.apply(DVec3::new(along(c, columns, 0), 0.0, along(r, rows, 1))).as_vec3().to_array(),
            );
            if r + 1 < rows && c + 1 < columns {
                let (a, b) = (r * columns + c, (r + 1) * columns + c);
                triangles.push([a, b, b + 1]);
                triangles.push([a, b + 1, a + 1]);
            }
        }
    }
    Geometry::from_triangles(&points, &triangles)
}

pub(super) fn points(params: &Params) -> Result<Geometry, String> {
    /// More points than this are taken for a slip.
    const MOST: i64 = 10_000_000;
    let (map, spacing) = (placement(params), DVec3::from(params.vector("spacing")));
    let count: [i64; 3] = match params.values.get("count") {
        Some(Value::Integers(v)) => std::array::from_fn(|c| v.get(c).copied().unwrap_or(1)),
        _ => [1; 3],
    };
    let all = count.iter().map(|&n| n as f64).product::<f64>();
    if all > MOST as f64 {
        return Err(format!("{all} points are too many: {MOST} is the most"));
    }
    let at = |n: i64, of: i64| n as f64 - 0.5 * (of - 1) as f64;
    let mut points = Vec::new();
    for z in 0..count[2] {
        for y in 0..count[1] {
            for x in 0..count[0] {
                let step = DVec3::new(at(x, count[0]), at(y, count[1]), at(z, count[2]));
                points.push(map.apply(step * spacing).as_vec3().to_array());
            }
        }
    }
    Ok(Geometry::from_points(&points))
}

#[cfg(test)]
mod tests {
    use super::super::revolve::{open_edges, volume};
    use super::*;
    use glam::Vec3;

    fn params(i: usize) -> Params {
        Params {
            values: node_types()[i].params.iter().map(|p| (p.name.clone(), p.default.clone())).collect(),
        }
    }

    #[test]
    fn a_box_is_watertight_wound_outwards_and_of_its_size() {
        let mut p = params(0);
        p.values.insert("size".into(), Value::Numbers(vec![1.0, 2.0, 3.0]));
        p.values.insert("rotate".into(), Value::Numbers(vec![10.0, 20.0, 30.0]));
        let g = cuboid(&p);
        assert_eq!((open_edges(&g), g.defect()), (0, None));
        assert!((volume(&g) - 6.0).abs() < 1e-5);
    }

    #[test]
    fn a_grid_faces_up() {
        let g = grid(&params(1));
        assert_eq!((g.points, g.triangles().len(), g.defect()), (100, 162, None));
        for t in g.triangles() {
            let p = |k: usize| Vec3::from(g.positions()[t[k] as usize]);
            assert!((p(1) - p(0)).cross(p(2) - p(0)).y > 0.0);
        }
    }

    #[test]
    fn points_stand_in_a_block_about_their_centre() {
        let mut p = params(2);
        p.values.insert("count".into(), Value::Integers(vec![2, 3, 1]));
        p.values.insert("spacing".into(), Value::Numbers(vec![1.0, 0.5, 9.0]));
        p.values.insert("center".into(), Value::Numbers(vec![0.0, 1.0, 0.0]));
        let g = points(&p).unwrap();
        assert_eq!((g.points, g.positions()[0], g.positions()[5]), (6, [-0.5, 0.5, 0.0], [0.5, 1.5, 0.0]));
        p.values.insert("count".into(), Value::Integers(vec![4096; 3]));
        assert!(points(&p).is_err());
    }
}
