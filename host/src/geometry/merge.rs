//! The merge node: several geometries as one.

use crate::data::{Array, Attribute, Geometry, Owner, Primitives, next_stamp};
use crate::node::{NodeKind, NodeType};
use std::sync::Arc;

pub(super) fn node_type() -> NodeType {
    NodeType::host(
        "meniscus.merge",
        "Merge",
        NodeKind::Geometry,
        (1, None),
        "Joins several geometries into one.",
    )
}

/// One geometry with everything of the inputs, in order. An attribute that an input lacks is zero there.
pub(super) fn merge(inputs: &[&Geometry]) -> Result<Geometry, String> {
    let filled: Vec<&Geometry> = inputs.iter().copied().filter(|g| g.points > 0).collect();
    let mut out = Geometry { points: filled.iter().map(|g| g.points).sum(), ..Geometry::default() };
    if out.points > u32::MAX as usize {
        return Err("more than four thousand million points together".into());
    }
    out.primitives = merge_primitives(&filled)?;
    for g in &filled {
        for a in g.attributes.iter().filter(|a| a.owner != Owner::Detail) {
            if out.attribute(a.owner, &a.name).is_none() {
                let values = join(&filled, a)?;
                out.attributes.push(Attribute {
                    values: Arc::new(values),
                    value_id: next_stamp(),
                    ..a.clone()
                });
            }
        }
    }
    Ok(out)
}

fn merge_primitives(inputs: &[&Geometry]) -> Result<Primitives, String> {
    let mut base = 0u32;
    let (mut all, mut ends) = (Vec::new(), vec![0u32]);
    let mut kinds = [false; 3];
    for g in inputs {
        match &g.primitives {
            Primitives::Points => kinds[0] = true,
            Primitives::Polylines { starts, vertices } => {
                kinds[1] = true;
                let offset = all.len() as u32;
                ends.extend(starts.iter().skip(1).map(|s| s + offset));
                all.extend(vertices.iter().map(|v| v + base));
            }
            Primitives::Triangles { vertices } => {
                kinds[2] = true;
                all.extend(vertices.iter().map(|v| v + base));
            }
        }
        base += g.points as u32;
    }
    match kinds {
        [_, false, false] => Ok(Primitives::Points),
        [false, true, false] => Ok(Primitives::Polylines { starts: Arc::new(ends), vertices: Arc::new(all) }),
        [false, false, true] => Ok(Primitives::Triangles { vertices: Arc::new(all) }),
        _ => Err("a geometry holds points, polylines or triangles; the inputs mix them".into()),
    }
}

fn join(inputs: &[&Geometry], like: &Attribute) -> Result<Array, String> {
    let element = like.values.element();
    let mut bytes = Vec::new();
    for g in inputs {
        match g.attribute(like.owner, &like.name) {
            Some(a) if a.components == like.components && a.values.element() == element => {
                a.values.write_le(&mut bytes)
            }
            Some(_) => return Err(format!("attribute `{}` is of different types in the inputs", like.name)),
            None => Array::zeros(element, g.count(like.owner) * like.components).write_le(&mut bytes),
        }
    }
    Ok(Array::read_le(element, &bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_triangles_and_attributes_are_joined() {
        let mut a = Geometry::from_triangles(&[[0.0; 3]; 3], &[[0, 1, 2]]);
        a.set(Owner::Point, "id", 1, Array::I64(vec![7, 8, 9]));
        let b = Geometry::from_triangles(&[[1.0; 3]; 3], &[[2, 1, 0]]);
        let m = merge(&[&a, &b]).unwrap();
        assert_eq!(m.defect(), None);
        assert_eq!(m.triangles(), &[[0, 1, 2], [5, 4, 3]]);
        let ids = m.attribute(Owner::Point, "id").unwrap();
        assert_eq!(*ids.values, Array::I64(vec![7, 8, 9, 0, 0, 0]));
        assert!(merge(&[&a, &Geometry::from_points(&[[0.0; 3]])]).is_err());
        assert_eq!(merge(&[]).unwrap().points, 0);
    }
}
