//! Measures the thickness of a mesh's walls.

use crate::data::Geometry;
use glam::{DVec3, Vec3};

/// Tests of a line against a triangle that may be spent on a mesh.
const TESTS: usize = 8_000_000;
/// Fewest and most places at which a mesh is measured.
const PLACES: (usize, usize) = (16, 512);
/// Share of the surface that is ignored: edges and tips are thin however thick the walls are.
const TIPS: f64 = 0.05;

/// Thickness, m, of a closed mesh's walls, the thinnest twentieth of the surface ignored. It is measured from the
/// middles of triangles, evenly spread over the list, straight in to the other side. `None` if no line meets the other
/// side.
pub(crate) fn wall_thickness(g: &Geometry) -> Option<f64> {
    let (points, triangles) = (g.positions(), g.triangles());
    let corners = |t: &[u32; 3]| -> Option<[DVec3; 3]> {
        let at = |i: u32| points.get(i as usize).map(|p| Vec3::from(*p).as_dvec3());
        Some([at(t[0])?, at(t[1])?, at(t[2])?])
    };
    let all: Vec<[DVec3; 3]> = triangles.iter().filter_map(corners).collect();
    let places = (TESTS / all.len().max(1)).clamp(PLACES.0, PLACES.1).min(all.len());
    let mut found: Vec<(f64, f64)> = (0..places)
        .filter_map(|n| {
            let [a, b, c] = all[n * all.len() / places];
            let across = (b - a).cross(c - a);
            Some((inwards(&all, (a + b + c) / 3.0, -across.try_normalize()?)?, across.length()))
        })
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let left_out = TIPS * found.iter().map(|(_, area)| area).sum::<f64>();
    let mut passed = 0.0;
    found
        .into_iter()
        .find(|(_, area)| {
            passed += area;
            passed > left_out
        })
        .map(|(thickness, _)| thickness)
}

/// Distance from a place on the surface to where a line into the mesh leaves it first.
fn inwards(all: &[[DVec3; 3]], from: DVec3, direction: DVec3) -> Option<f64> {
    all.iter().filter_map(|corners| leaves(*corners, from, direction)).min_by(f64::total_cmp)
}

/// Where a line leaves the mesh through a triangle [Moller and Trumbore 1997].
fn leaves([a, b, c]: [DVec3; 3], from: DVec3, direction: DVec3) -> Option<f64> {
    let (ab, ac) = (b - a, c - a);
    let across = direction.cross(ac);
    let facing = ab.dot(across);
    // A crossing where the line enters, or runs along the triangle, does not count.
    if facing >= 0.0 {
        return None;
    }
    let to = from - a;
    let u = to.dot(across) / facing;
    let around = to.cross(ab);
    let v = direction.dot(around) / facing;
    let distance = ac.dot(around) / facing;
    (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance > 0.0).then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::super::{merge, primitives};
    use super::*;
    use crate::node::{Params, Value};

    fn cuboid(size: [f64; 3]) -> Geometry {
        let mut params = Params::default();
        for spec in
            super::super::types().iter().find(|t| t.id == "meniscus.box").expect("a box").params.iter()
        {
            params.values.insert(spec.name.clone(), spec.default.clone());
        }
        params.values.insert("size".into(), Value::Numbers(size.to_vec()));
        primitives::cuboid(&params)
    }

    /// The same, inside out.
    fn hollow(size: [f64; 3]) -> Geometry {
        let mut g = cuboid(size);
        let crate::data::Primitives::Triangles { vertices } = &mut g.primitives else { panic!("triangles") };
        let mut turned = (**vertices).clone();
        turned.as_chunks_mut::<3>().0.iter_mut().for_each(|t| t.swap(0, 1));
        *vertices = std::sync::Arc::new(turned);
        g
    }

    #[test]
    fn the_thinnest_side_counts() {
        let slab = wall_thickness(&cuboid([2.0, 0.01, 1.0])).expect("a thickness");
        assert!((slab - 0.01).abs() < 1e-6, "{slab}");
        let block = wall_thickness(&cuboid([2.0, 3.0, 1.0])).expect("a thickness");
        assert!((block - 1.0).abs() < 1e-6, "{block}");
        assert_eq!(wall_thickness(&Geometry::default()), None);
    }

    #[test]
    fn a_shell_is_as_thick_as_its_walls() {
        let shell = merge::merge(&[&cuboid([1.0; 3]), &hollow([0.9; 3])]).expect("both are meshes");
        let wall = wall_thickness(&shell).expect("a thickness");
        assert!((wall - 0.05).abs() < 1e-6, "{wall}");
    }
}
