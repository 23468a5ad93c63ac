//! The fraction of an edge, a face or a cell on the negative side of a level set.
//!
//! Faces are cut into four triangles around their centre, cells into 24 tetrahedra around theirs, with the
//! mean of the corners at the centres, and the level set is linear in each piece. So the fractions are exact
//! for planes, the same under every symmetry of the cube, and the faces of a cell bound exactly the piece of
//! the cell that [`cell_inside`] measures. A corner with φ = 0 is on the surface; a face with no corner
//! outside (all φ ≤ 0) is wholly inside, so a wall that lies in a plane of faces closes them.

use glam::{Vec4, Vec4Swizzles};

/// Smallest fraction of the way from a liquid to an air sample at which the interface may lie; keeps
/// 1/θ bounded [Gibou et al. 2002].
pub const THETA_MIN: f32 = 0.01;

/// Where the interface cuts the line from a liquid sample (φ < 0) to an air sample (φ ≥ 0), as a fraction of
/// its length counted from the liquid: θ = φₗ / (φₗ − φₐ), at least [`THETA_MIN`] [Gibou et al. 2002].
#[inline]
pub fn theta(phi_liquid: f32, phi_air: f32) -> f32 {
    let span = phi_liquid - phi_air;
    if span < 0.0 { (phi_liquid / span).clamp(THETA_MIN, 1.0) } else { 1.0 }
}

/// Fraction of a triangle inside, from φ at its corners.
#[inline]
fn triangle_inside(a: f32, b: f32, c: f32) -> f32 {
    let cap = |a: f32, b: f32, c: f32| (a / (a - b)) * (a / (a - c));
    match (a > 0.0, b > 0.0, c > 0.0) {
        (false, false, false) => 1.0,
        (true, true, true) => 0.0,
        (false, true, true) => cap(a, b, c),
        (true, false, true) => cap(b, c, a),
        (true, true, false) => cap(c, a, b),
        (true, false, false) => 1.0 - cap(a, b, c),
        (false, true, false) => 1.0 - cap(b, c, a),
        (false, false, true) => 1.0 - cap(c, a, b),
    }
}

/// Tetrahedra of a cell.
const TETRAHEDRA: usize = 24;

/// Fraction inside of four tetrahedra, from φ at their corners. Without branches, all at once.
#[inline(always)]
fn tetrahedra_inside([a, b, c, d]: [Vec4; 4]) -> Vec4 {
    let cut = |from: Vec4, to: Vec4| from / (from - to);
    let pair = |a: Vec4, b: Vec4| (a.min(b), b.max(a));
    let is_outside = |phi: Vec4| phi.cmpgt(Vec4::ZERO);
    let ((a, b), (c, d)) = (pair(a, b), pair(c, d));
    let ((a, c), (b, d)) = (pair(a, c), pair(b, d));
    let (b, c) = pair(b, c);
    let (ac, ad, bc, bd) = (cut(a, c), cut(a, d), cut(b, c), cut(b, d));
    let all_but_d = 1.0 - cut(d, a) * cut(d, b) * cut(d, c);
    // A prism between the triangles (a, ac, ad) and (b, bc, bd), as three tetrahedra.
    let prism = bc * bd + ac * ad * (1.0 - bd) + ac * bd * (1.0 - bc);
    let only_a = cut(a, b) * ac * ad;
    let two_or_less = Vec4::select(is_outside(b), only_a, prism);
    let some = Vec4::select(is_outside(c), two_or_less, all_but_d);
    let less = Vec4::select(is_outside(d), some, Vec4::ONE);
    Vec4::select(is_outside(a), Vec4::ZERO, less)
}

/// Fraction of a face's area inside (φ < 0), from φ at its corners (0,0), (1,0), (0,1), (1,1).
#[inline]
pub fn face_inside(phi: [f32; 4]) -> f32 {
    let [p00, p10, p01, p11] = phi;
    match phi.iter().filter(|&&p| p > 0.0).count() {
        0 => 1.0,
        4 => 0.0,
        _ => {
            let centre = 0.25 * ((p00 + p11) + (p10 + p01));
            let triangle = |a, b| triangle_inside(a, b, centre);
            0.25 * ((triangle(p00, p10) + triangle(p11, p01)) + (triangle(p10, p11) + triangle(p01, p00)))
        }
    }
}

/// Open fraction α of a face (φ > 0), from the solid's φ at its corners (0,0), (1,0), (0,1), (1,1): the
/// face weight of [Batty et al. 2007].
#[inline]
pub fn face_open(phi: [f32; 4]) -> f32 {
    (1.0 - face_inside(phi)).clamp(0.0, 1.0)
}

/// Fraction of a cell's volume inside (φ < 0), from φ at its corners, x fastest.
pub fn cell_inside(phi: [f32; 8]) -> f32 {
    /// Corners of each face, in order around it.
    const FACES: [[usize; 4]; 6] =
        [[0, 2, 6, 4], [1, 3, 7, 5], [0, 1, 5, 4], [2, 3, 7, 6], [0, 1, 3, 2], [4, 5, 7, 6]];
    match phi.iter().filter(|&&p| p > 0.0).count() {
        0 => return 1.0,
        8 => return 0.0,
        _ => {}
    }
    let centre = phi.iter().sum::<f32>() / 8.0;
    let of_face = |face: &[usize; 4]| {
        let around = face.map(|c| phi[c]);
        match around.iter().filter(|&&p| p > 0.0).count() {
            0 if centre <= 0.0 => return 4.0,
            4 if centre > 0.0 => return 0.0,
            _ => {}
        }
        let middle = around.iter().sum::<f32>() / 4.0;
        let from = Vec4::from_array(around);
        let corners = [from, from.yzwx(), Vec4::splat(middle), Vec4::splat(centre)];
        tetrahedra_inside(corners).to_array().iter().sum::<f32>()
    };
    (FACES.iter().map(of_face).sum::<f32>() / TETRAHEDRA as f32).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DVec3, Vec3};
    use proptest::prelude::*;

    fn corner(n: usize) -> Vec3 {
        Vec3::new((n & 1) as f32, (n >> 1 & 1) as f32, (n >> 2) as f32)
    }

    /// Fraction of one tetrahedron inside, case by case.
    fn tetrahedron_inside(mut phi: [f32; 4]) -> f32 {
        phi.sort_by(f32::total_cmp);
        let [a, b, c, d] = phi;
        let cut = |from: f32, to: f32| from / (from - to);
        match phi.iter().filter(|&&p| p > 0.0).count() {
            0 => 1.0,
            1 => 1.0 - cut(d, a) * cut(d, b) * cut(d, c),
            2 => {
                let (ac, ad, bc, bd) = (cut(a, c), cut(a, d), cut(b, c), cut(b, d));
                bc * bd + ac * ad * (1.0 - bd) + ac * bd * (1.0 - bc)
            }
            3 => cut(a, b) * cut(a, c) * cut(a, d),
            _ => 0.0,
        }
    }

    proptest! {
        #[test]
        fn four_tetrahedra_are_each_by_itself(corners in prop::array::uniform4(prop::array::uniform4(-3i32..4))) {
            let phi = corners.map(|of_corner| of_corner.map(|p| p as f32 * 0.3));
            let inside = tetrahedra_inside(phi.map(Vec4::from_array)).to_array();
            for n in 0..4 {
                prop_assert_eq!(inside[n], tetrahedron_inside(phi.map(|of_corner| of_corner[n])));
            }
        }
    }

    /// Volume of {x in the unit cube: n·x < d} for n > 0: inclusion–exclusion over the corners,
    /// [Scardovelli and Zaleski 2000].
    fn below_plane(n: DVec3, d: f64) -> f64 {
        let term = |c: usize| {
            let corner = corner(c).as_dvec3();
            let sign = if (c.count_ones() & 1) == 0 { 1.0 } else { -1.0 };
            sign * (d - n.dot(corner)).max(0.0).powi(3)
        };
        (0..8).map(term).sum::<f64>() / (6.0 * n.x * n.y * n.z)
    }

    fn below_line(n: [f64; 2], d: f64) -> f64 {
        let term = |x: f64, y: f64, sign: f64| sign * (d - n[0] * x - n[1] * y).max(0.0).powi(2);
        (term(0., 0., 1.) + term(1., 0., -1.) + term(0., 1., -1.) + term(1., 1., 1.)) / (2.0 * n[0] * n[1])
    }

    proptest! {
        #[test]
        fn cells_are_exact_for_planes(x in 0.05f64..1.0, y in 0.05f64..1.0, z in 0.05f64..1.0, s in 0.0f64..1.0) {
            let n = DVec3::new(x, y, z);
            let d = s * (x + y + z);
            let phi: [f32; 8] = std::array::from_fn(|c| (n.dot(corner(c).as_dvec3()) - d) as f32);
            let exact = below_plane(n, d);
            prop_assert!((f64::from(cell_inside(phi)) - exact).abs() < 1e-4, "{} {exact}", cell_inside(phi));
            prop_assert!((cell_inside(phi) + cell_inside(phi.map(|p| -p)) - 1.0).abs() < 1e-5);
        }

        #[test]
        fn faces_are_exact_for_planes(x in 0.05f64..1.0, y in 0.05f64..1.0, s in 0.0f64..1.0) {
            let d = s * (x + y);
            let phi = [-d, x - d, y - d, x + y - d].map(|p| p as f32);
            prop_assert!((f64::from(face_inside(phi)) - below_line([x, y], d)).abs() < 1e-5);
            prop_assert!((face_inside(phi) + face_open(phi) - 1.0).abs() < 1e-6);
        }

        #[test]
        fn inside_and_outside_fill_the_cell(phi in prop::array::uniform8(-1f32..1.0)) {
            let v = cell_inside(phi);
            prop_assert!((0.0..=1.0).contains(&v));
            prop_assert!((v + cell_inside(phi.map(|p| -p)) - 1.0).abs() < 2e-6);
        }

        #[test]
        fn symmetric_under_the_cube_group(phi in prop::array::uniform8(-1f32..1.0)) {
            let mirror_x: [f32; 8] = std::array::from_fn(|n| phi[n ^ 1]);
            let rotate: [f32; 8] = std::array::from_fn(|n| phi[(n >> 1) | (n & 1) << 2]);
            prop_assert!((cell_inside(phi) - cell_inside(mirror_x)).abs() < 2e-6);
            prop_assert!((cell_inside(phi) - cell_inside(rotate)).abs() < 2e-6);
        }
    }

    #[test]
    fn walls_in_a_plane_of_faces_close_them() {
        assert_eq!(face_open([0.0; 4]), 0.0);
        assert_eq!(face_open([0.0, 0.0, 1.0, 1.0]), 1.0);
        assert_eq!(face_open([0.0, 0.0, -1.0, -1.0]), 0.0);
    }

    #[test]
    fn theta_is_the_crossing() {
        assert_eq!(theta(-1.0, 3.0), 0.25);
        assert_eq!(theta(-1e-9, 1.0), THETA_MIN);
        assert_eq!(theta(0.0, 0.0), 1.0);
    }
}
