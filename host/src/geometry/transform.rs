//! The transform node.

use super::matrix::Affine;
use crate::data::{Array, Geometry, Meaning, Primitives, next_stamp};
use crate::node::{NodeKind, NodeType, ParamSpec, Params};
use glam::{DQuat, DVec3, Vec3};
use std::sync::Arc;

pub(super) fn node_type() -> NodeType {
    let vector = |name, label, default, unit, help| ParamSpec::number(name, label, &[default; 3], unit, help);
    NodeType::host(
        "meniscus.transform",
        "Transform",
        NodeKind::Geometry,
        (1, Some(1)),
        "Moves, rotates and scales its input.",
    )
    .with(vec![
        vector("translate", "Translate", 0.0, "m", "Distance by which the input is moved; applied last.")
            .within(Some(-1e6), Some(1e6)),
        vector(
            "rotate",
            "Rotate",
            0.0,
            "deg",
            "Rotation about x, y and z, in that order; applied after scaling.",
        ),
        vector("scale", "Scale", 1.0, "", "Scale along each axis; applied first. A negative factor mirrors.")
            .within(Some(-1e6), Some(1e6)),
        ParamSpec::number(
            "uniform_scale",
            "Uniform Scale",
            &[1.0],
            "",
            "Scale along all axes; multiplies the others.",
        )
        .within(Some(1e-9), Some(1e6)),
        vector("pivot", "Pivot", 0.0, "m", "Point about which the input is rotated and scaled.")
            .within(Some(-1e6), Some(1e6)),
    ])
}

/// The parts of a transform at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placement {
    translate: DVec3,
    rotate: DVec3,
    scale: DVec3,
    pivot: DVec3,
}

impl Placement {
    pub(super) fn of(params: &Params) -> Result<Self, (&'static str, String)> {
        let scale = DVec3::from(params.vector("scale")) * params.number("uniform_scale");
        if let Some(axis) = [0, 1, 2].into_iter().find(|&a| scale[a].abs() < 1e-9) {
            let name = ["x", "y", "z"][axis];
            return Err((
                "scale",
                format!("the scale along {name} is {}: nothing would be left", scale[axis]),
            ));
        }
        Ok(Self {
            translate: DVec3::from(params.vector("translate")),
            rotate: DVec3::from(params.vector("rotate")),
            scale,
            pivot: DVec3::from(params.vector("pivot")),
        })
    }

    /// The whole map.
    pub(super) fn map(&self) -> Affine {
        Affine::new(self.translate, self.rotate, self.scale, self.pivot)
    }

    /// The constant part of a rigid motion: scales about the pivot and puts the pivot at the origin.
    pub(super) fn rest(&self) -> Affine {
        let scaling = Affine::new(DVec3::ZERO, DVec3::ZERO, self.scale, self.pivot);
        scaling.then(&Affine::new(-self.pivot, DVec3::ZERO, DVec3::ONE, DVec3::ZERO))
    }

    /// The moving part of a rigid motion: `rest().then(motion())` is `map()`.
    pub(super) fn motion(&self) -> Affine {
        Affine::new(self.translate + self.pivot, self.rotate, DVec3::ONE, DVec3::ZERO)
    }

    /// The map without scale, for geometry that already moves rigidly; `None` when there is a scale.
    pub(super) fn rigid(&self) -> Option<Affine> {
        (self.scale == DVec3::ONE).then(|| self.map())
    }
}

/// The image of a geometry, every attribute by its meaning.
pub(super) fn apply(g: &Geometry, map: &Affine) -> Geometry {
    let mut out = g.clone();
    if map.linear.determinant() < 0.0
        && let Primitives::Triangles { vertices } = &mut out.primitives
    {
        Arc::make_mut(vertices).as_chunks_mut::<3>().0.iter_mut().for_each(|t| t.swap(1, 2));
        out.topology_id = next_stamp();
    }
    out.origin = [0.0; 3];
    let origin = DVec3::from(g.origin);
    let normal = map.linear.inverse().transpose();
    let turn = DQuat::from_mat3(&glam::DMat3::from_cols(
        map.linear.x_axis.normalize_or(DVec3::X),
        map.linear.y_axis.normalize_or(DVec3::Y),
        map.linear.z_axis.normalize_or(DVec3::Z),
    ));
    for a in &mut out.attributes {
        if a.meaning == Meaning::Plain {
            continue;
        }
        let Array::F32(values) = Arc::make_mut(&mut a.values) else { continue };
        match (a.meaning, a.components) {
            (Meaning::Position, 3) => each3(values, |p| map.apply(p + origin)),
            (Meaning::Vector, 3) => each3(values, |v| map.linear * v),
            (Meaning::Normal, 3) => each3(values, |n| (normal * n).normalize_or_zero()),
            (Meaning::Quaternion, 4) => values.as_chunks_mut::<4>().0.iter_mut().for_each(|q| {
                *q = (turn * DQuat::from_array(q.map(f64::from))).as_quat().to_array();
            }),
            _ => continue,
        }
        a.value_id = next_stamp();
    }
    out
}

fn each3(values: &mut [f32], f: impl Fn(DVec3) -> DVec3) {
    for v in values.as_chunks_mut::<3>().0 {
        *v = f(Vec3::from(*v).as_dvec3()).as_vec3().to_array();
    }
}

#[cfg(test)]
mod tests {
    use super::super::revolve::{open_edges, volume};
    use super::*;

    #[test]
    fn rest_and_motion_make_up_the_map() {
        let p = Placement {
            translate: DVec3::new(1.0, 2.0, 3.0),
            rotate: DVec3::new(30.0, 40.0, 50.0),
            scale: DVec3::new(1.0, -2.0, 0.5),
            pivot: DVec3::new(0.3, 0.2, 0.1),
        };
        let x = DVec3::new(0.7, -0.4, 0.9);
        assert!((p.rest().then(&p.motion()).apply(x) - p.map().apply(x)).length() < 1e-12);
    }

    #[test]
    fn mirroring_keeps_the_winding_outward() {
        let g = Geometry::from_triangles(
            &[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            &[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        );
        let mirrored =
            apply(&g, &Affine::new(DVec3::ZERO, DVec3::ZERO, DVec3::new(-2.0, 1.0, 1.0), DVec3::ZERO));
        assert_eq!(open_edges(&mirrored), 0);
        assert!((volume(&mirrored) - 1.0 / 3.0).abs() < 1e-6);
    }
}
