//! The fraction of a cell that is not solid, from the open fractions of its faces.

/// Fraction of a cell's volume that no solid fills, from α of its lower and upper face across each axis.
///
/// The mean of the open fractions of two opposite faces integrates the open section between them; it is most accurate
/// along the axis on which that section changes least. A wall that lies in a face closes it without filling the cell:
/// so does one in a closed face that has an edge in common with a wholly open one, and the section behind it is that of the
/// opposite face. A cell whose faces are all fully open or fully closed is not cut at all.
#[inline]
pub(crate) fn open_volume(faces: [[f32; 2]; 3]) -> f32 {
    let whole = |alpha: &f32| *alpha <= 0.0 || *alpha >= 1.0;
    if faces.as_flattened().iter().all(whole) {
        return if faces.as_flattened().iter().any(|&alpha| alpha > 0.0) { 1.0 } else { 0.0 };
    }
    let is_wholly_open = faces.map(|pair| pair.iter().any(|&alpha| alpha >= 1.0));
    let mut best = (f32::MAX, 0.0);
    for (axis, [low, high]) in faces.into_iter().enumerate() {
        let beside_open = is_wholly_open[(axis + 1) % 3] || is_wholly_open[(axis + 2) % 3];
        let (change, mean) = match low.min(high) <= 0.0 && beside_open {
            true => (0.0, low.max(high)),
            false => ((high - low).abs(), 0.5 * (low + high)),
        };
        if change < best.0 || (change == best.0 && mean > best.1) {
            best = (change, mean);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::open_volume;
    use crate::levelset::fractions::{cell_inside, face_open};
    use glam::Vec3;
    use proptest::prelude::*;

    /// α of a cell's faces and its open volume for a solid below a plane.
    fn cut(normal: Vec3, offset: f32) -> ([[f32; 2]; 3], f32) {
        let phi: [f32; 8] = std::array::from_fn(|n| {
            let corner = Vec3::new((n & 1) as f32, (n >> 1 & 1) as f32, (n >> 2) as f32);
            normal.dot(corner - 0.5) + offset
        });
        let face = |axis: usize, side: usize| {
            let first = side << axis;
            let others: Vec<usize> = (0..3).filter(|&a| a != axis).map(|a| 1 << a).collect();
            face_open([0, others[0], others[1], others[0] + others[1]].map(|n| phi[first + n]))
        };
        (std::array::from_fn(|a| [face(a, 0), face(a, 1)]), 1.0 - cell_inside(phi))
    }

    proptest! {
        #[test]
        fn near_the_volume_that_a_plane_leaves(x in -1f32..1.0, y in -1f32..1.0, z in -1f32..1.0, d in -0.8f32..0.8) {
            prop_assume!(Vec3::new(x, y, z).length() > 0.1);
            let (faces, volume) = cut(Vec3::new(x, y, z).normalize(), d);
            prop_assert!((open_volume(faces) - volume).abs() < 0.15, "{} {volume}", open_volume(faces));
        }
    }

    #[test]
    fn exact_for_planes_along_an_axis() {
        for axis in 0..3 {
            for d in [-0.4, -0.1, 0.0, 0.3] {
                let (faces, volume) = cut(Vec3::AXES[axis], d);
                assert!((open_volume(faces) - volume).abs() < 1e-6);
            }
        }
    }

    /// In the corner of a box whose sides lie in the planes of faces, a piston takes what it takes elsewhere.
    #[test]
    fn a_piston_takes_as_much_of_a_corner_between_walls_in_the_faces() {
        for left in [1.0, 0.9995, 0.7, 0.5, 0.1] {
            for axis in 0..3 {
                for end in 0..8 {
                    // α across an axis: of the piston's own, of a wall in the lower or upper face, or with no wall.
                    let pair = |walled: usize| match walled {
                        0 => [0.0, left],
                        1 => [left, 0.0],
                        _ => [left, left],
                    };
                    let mut faces = [[0.0f32; 2]; 3];
                    faces[axis] = if end & 1 == 0 { [1.0, 0.0] } else { [0.0, 1.0] };
                    faces[(axis + 1) % 3] = pair(end >> 1 & 1);
                    faces[(axis + 2) % 3] = pair(if end & 4 == 0 { 2 } else { end >> 1 & 1 });
                    assert_eq!(open_volume(faces), left, "{faces:?}");
                }
            }
        }
    }

    #[test]
    fn walls_in_the_faces_take_no_volume() {
        assert_eq!(open_volume([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]), 1.0);
        assert_eq!(open_volume([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]), 1.0);
        assert_eq!(open_volume([[0.0; 2]; 3]), 0.0);
    }
}
