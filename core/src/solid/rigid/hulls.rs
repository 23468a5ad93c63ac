//! Convex hulls that stand for a mesh in contacts.

use crate::mesh::TriMesh;
use crate::union_find::DisjointSets;
use glam::DVec3;
use parry3d_f64::math::Vec3;
use parry3d_f64::shape::{ConvexPolyhedron, Shape};
use parry3d_f64::transformation::vhacd::{VHACD, VHACDParameters};
use parry3d_f64::transformation::voxelization::FillMode;
use rustc_hash::FxHashMap;

/// Share of its volume by which a convex mesh may differ from its hull.
const CONVEX: f64 = 2e-3;
/// Voxels along the longest side of a concave mesh while it is cut into convex parts.
const RESOLUTION: u32 = 96;

/// Why a mesh has no hulls.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HullError {
    /// No volume.
    #[error("the mesh is too flat to be a body")]
    Flat,
    /// The decomposition never came to its end.
    #[error("no convex pieces were found that fill the mesh: simplify it, or cut it into convex pieces")]
    Uncut,
    /// A part of the mesh lies within another, and both are wound alike.
    #[error(
        "a closed part of the mesh near {0} lies within another and is wound as that: what both enclose would weigh twice; remove \
         it, or turn it inside out to make a cavity"
    )]
    Nested(glam::Vec3),
    /// A part that is inside out lies within no other.
    #[error(
        "a closed part of the mesh near {0} is inside out and lies within no other: reverse its triangles"
    )]
    Inverted(glam::Vec3),
}

/// The corners of convex hulls that together fill a closed mesh: its own corners where it is convex, or where each of its
/// separate pieces is; else of an approximate convex decomposition [Mamou and Ghorbel 2009].
pub fn hulls(mesh: &TriMesh) -> Result<Vec<Vec<DVec3>>, HullError> {
    let pieces = pieces(mesh);
    nested(&pieces)?;
    let own: Option<Vec<Vec<DVec3>>> = pieces.iter().map(convex).collect();
    if let Some(hulls) = own {
        return Ok(hulls);
    }
    // A cavity belongs to the piece around it, so a mesh that has one is cut as a whole.
    let hollow = pieces.iter().any(|piece| piece.volume() < 0.0);
    if hollow {
        return decomposed(mesh, true);
    }
    let mut hulls = Vec::new();
    for piece in &pieces {
        match convex(piece) {
            Some(hull) => hulls.push(hull),
            None => hulls.extend(decomposed(piece, false)?),
        }
    }
    Ok(hulls)
}

pub(super) fn points_of(mesh: &TriMesh) -> Vec<DVec3> {
    mesh.points.iter().map(|p| p.as_dvec3()).collect()
}

/// The corners of a convex mesh; `None` of any other.
fn convex(mesh: &TriMesh) -> Option<Vec<DVec3>> {
    let points: Vec<Vec3> = mesh.points.iter().map(|p| Vec3::from_array(p.as_dvec3().to_array())).collect();
    let hull = ConvexPolyhedron::from_convex_hull(&points)?;
    let (volume, filled) = (mesh.volume(), hull.mass_properties(1.0).mass());
    ((filled - volume).abs() <= CONVEX * filled).then(|| corners(hull.points()))
}

fn corners(points: &[Vec3]) -> Vec<DVec3> {
    points.iter().map(|p| DVec3::from_array(p.to_array())).collect()
}

fn decomposed(mesh: &TriMesh, hollow: bool) -> Result<Vec<Vec<DVec3>>, HullError> {
    let points: Vec<Vec3> = mesh.points.iter().map(|p| Vec3::from_array(p.as_dvec3().to_array())).collect();
    let params = VHACDParameters {
        resolution: RESOLUTION,
        concavity: 0.002,
        max_convex_hulls: 64,
        fill_mode: FillMode::FloodFill { detect_cavities: hollow },
        ..VHACDParameters::default()
    };
    // The decomposition panics where rounding leaves a hull unfinished; a little coarser it comes out otherwise.
    let cut = |coarser: u32| {
        let params = VHACDParameters { resolution: RESOLUTION - 5 * coarser, ..params };
        let decompose = || VHACD::decompose(&params, &points, &mesh.triangles, true);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(decompose)).ok()
    };
    let cut = (0..8).find_map(cut).ok_or(HullError::Uncut)?;
    let parts = cut.compute_primitive_intersections(&points, &mesh.triangles);
    let hulls: Vec<Vec<DVec3>> = parts.iter().filter_map(|points| around(points)).collect();
    if hulls.is_empty() { Err(HullError::Flat) } else { Ok(hulls) }
}

/// The corners of the hull around some points. Rounding can leave a hull unfinished; then it is that of the same points on a
/// coarser lattice, or the box around them. `None` of points that enclose nothing.
fn around(points: &[Vec3]) -> Option<Vec<DVec3>> {
    let least = points.iter().copied().reduce(|a, b| a.min(b))?;
    let most = points.iter().copied().reduce(|a, b| a.max(b))?;
    let size = most - least;
    if size.min_element() <= 0.0 {
        return None;
    }
    if let Some(hull) = ConvexPolyhedron::from_convex_hull(points) {
        return Some(corners(hull.points()));
    }
    let step = size.max_element() * 2f64.powi(-16);
    let rounded: Vec<Vec3> = points.iter().map(|p| ((*p - least) / step).round() * step + least).collect();
    match ConvexPolyhedron::from_convex_hull(&rounded) {
        Some(hull) => Some(corners(hull.points())),
        None => {
            let pick = |n: usize, bit: usize, a: usize| if n >> bit & 1 == 0 { least[a] } else { most[a] };
            Some((0..8).map(|n| DVec3::new(pick(n, 0, 0), pick(n, 1, 1), pick(n, 2, 2))).collect())
        }
    }
}

/// Refuses pieces by which a mesh encloses some place other than once. The pieces do not cross each other.
fn nested(pieces: &[TriMesh]) -> Result<(), HullError> {
    let bounds: Vec<_> = pieces.iter().map(TriMesh::bounds).collect();
    for (n, piece) in pieces.iter().enumerate() {
        let (volume, extent) = (piece.volume(), f64::from((bounds[n].1 - bounds[n].0).max_element()));
        if volume.abs() <= 1e-12 * extent.powi(3) {
            continue;
        }
        // Off the points and edges that pieces may share.
        let near = piece.corners(0).iter().sum::<glam::Vec3>() / 3.0;
        let around = |m: &usize| {
            let (low, high) = bounds[*m];
            *m != n && near.cmpge(low).all() && near.cmple(high).all()
        };
        let others = (0..pieces.len()).filter(around);
        let winding: f64 = others.map(|m| pieces[m].winding(near.as_dvec3())).sum();
        match volume > 0.0 {
            true if winding > 0.75 => return Err(HullError::Nested(near)),
            false if winding < 0.25 => return Err(HullError::Inverted(near)),
            _ => {}
        }
    }
    Ok(())
}

/// The pieces of a mesh that have no point in common; points at the same place count as one.
fn pieces(mesh: &TriMesh) -> Vec<TriMesh> {
    let mut first: FxHashMap<[u32; 3], u32> = FxHashMap::default();
    let weld: Vec<u32> = (0u32..)
        .zip(&mesh.points)
        .map(|(n, p)| *first.entry((*p + glam::Vec3::ZERO).to_array().map(f32::to_bits)).or_insert(n))
        .collect();
    let mut sets = DisjointSets::new(mesh.points.len());
    for t in &mesh.triangles {
        let [a, b, c] = t.map(|i| weld[i as usize] as usize);
        sets.union(a, b);
        sets.union(a, c);
    }
    let (mut number, mut pieces) = (FxHashMap::default(), Vec::<TriMesh>::new());
    let mut place: Vec<Option<u32>> = vec![None; mesh.points.len()];
    for t in &mesh.triangles {
        let of = sets.find(weld[t[0] as usize] as usize);
        let count = number.len();
        let n: usize = *number.entry(of).or_insert(count);
        if n == pieces.len() {
            pieces.push(TriMesh::default());
        }
        let piece = &mut pieces[n];
        let corners = t.map(|i| {
            let i = weld[i as usize] as usize;
            *place[i].get_or_insert_with(|| {
                piece.points.push(mesh.points[i]);
                piece.points.len() as u32 - 1
            })
        });
        piece.triangles.push(corners);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::shapes::{ball, cuboid, torus};
    use glam::Vec3;

    fn volume(hull: &[DVec3]) -> f64 {
        let points: Vec<_> = hull.iter().map(|p| parry3d_f64::math::Vec3::from_array(p.to_array())).collect();
        ConvexPolyhedron::from_convex_hull(&points).unwrap().mass_properties(1.0).mass()
    }

    #[test]
    fn a_convex_mesh_is_its_own_hull_and_so_is_each_of_several() {
        assert_eq!(hulls(&cuboid(Vec3::ONE)).unwrap()[0].len(), 8);
        assert_eq!(hulls(&ball(1.0, 24)).unwrap().len(), 1);
        let mut two = cuboid(Vec3::ONE);
        let other = cuboid(Vec3::ONE);
        let first = two.points.len() as u32;
        two.points.extend(other.points.iter().map(|p| *p + Vec3::X * 3.0));
        two.triangles.extend(other.triangles.iter().map(|t| t.map(|i| i + first)));
        assert_eq!(hulls(&two).unwrap().iter().map(Vec::len).collect::<Vec<_>>(), [8, 8]);
    }

    /// Boxes of given sizes and places, wound outwards or inwards, as one mesh.
    fn boxes(all: &[(f32, f32, bool)]) -> TriMesh {
        let mut mesh = TriMesh::default();
        for &(size, x, outwards) in all {
            let (part, first) = (cuboid(Vec3::splat(size)), mesh.points.len() as u32);
            let shift = Vec3::new(x, 0.0, 0.0) - 0.5 * size;
            mesh.points.extend(part.points.iter().map(|p| *p + shift));
            let wound = |&[a, b, c]: &[u32; 3]| if outwards { [a, b, c] } else { [a, c, b] };
            mesh.triangles.extend(part.triangles.iter().map(|t| wound(t).map(|i| i + first)));
        }
        mesh
    }

    /// Every place is enclosed once or not at all.
    #[test]
    fn parts_that_would_weigh_twice_are_refused() {
        let fault = |all: &[(f32, f32, bool)]| hulls(&boxes(all)).err();
        let nested = |all: &[(f32, f32, bool)]| matches!(fault(all), Some(HullError::Nested(_)));
        let inverted = |all: &[(f32, f32, bool)]| matches!(fault(all), Some(HullError::Inverted(_)));
        assert!(nested(&[(1.0, 0.0, true), (0.5, 0.0, true)]));
        assert!(nested(&[(0.5, 0.0, true), (1.0, 0.0, true)]));
        assert!(nested(&[(1.0, 0.0, true), (0.8, 0.0, false), (0.6, 0.0, true), (0.4, 0.0, true)]));
        assert!(inverted(&[(1.0, 0.0, true), (0.5, 3.0, false)]));
        assert!(inverted(&[(1.0, 0.0, true), (0.8, 0.0, false), (0.4, 0.0, false)]));
        assert_eq!(fault(&[(1.0, 0.0, true), (0.5, 3.0, true)]), None);
        assert_eq!(fault(&[(1.0, 0.0, true), (1.0, 1.0, true)]), None, "they share a side");
        assert_eq!(fault(&[(1.0, 0.0, true), (0.5, 0.0, false)]), None, "a cavity");
        assert_eq!(fault(&[(1.0, 0.0, true), (0.8, 0.0, false), (0.4, 0.0, true)]), None, "what lies in one");
    }

    /// A tube with a lid, at places where rounding has left hulls unfinished.
    #[test]
    fn a_bell_has_hulls_wherever_it_stands() {
        for n in 0..12 {
            let ring = torus(0.12, 0.02, 48, 4);
            let shift = Vec3::new(0.003, 0.235 + 0.0013 * n as f32, 0.002);
            let moved = TriMesh { points: ring.points.iter().map(|p| *p + shift).collect(), ..ring };
            assert!(hulls(&moved).is_ok_and(|parts| parts.iter().all(|p| p.len() >= 4)));
        }
    }

    #[test]
    fn a_ring_keeps_its_hole() {
        let ring = torus(0.6, 0.2, 32, 16);
        let parts = hulls(&ring).unwrap();
        assert!(parts.len() > 4, "{}", parts.len());
        let filled: f64 = parts.iter().map(|p| volume(p)).sum();
        assert!((filled / ring.volume() - 1.0).abs() < 0.25, "{filled} for {}", ring.volume());
        // The same hulls whenever they are made.
        assert_eq!(parts, hulls(&ring).unwrap());
    }
}
