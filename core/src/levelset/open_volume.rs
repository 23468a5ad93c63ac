//! The fraction of a cell that is not solid, from the open fractions of its faces.

/// Fraction of a cell's volume that no solid fills, from α of its lower and upper face across each axis.
///
/// The mean of the open fractions of two opposite faces integrates the open section between them; it is most accurate
/// along the axis on which that section changes least. A wall that lies in a face closes it without filling the cell,
/// so a cell whose faces are all fully open or fully closed is not cut at all.
#[inline]
pub(crate) fn open_volume(faces: [[f32; 2]; 3]) -> f32 {
    let whole = |alpha: &f32| *alpha <= 0.0 || *alpha >= 1.0;
    if faces.as_flattened().iter().all(whole) {
        return if faces.as_flattened().iter().any(|&alpha| alpha > 0.0) { 1.0 } else { 0.0 };
    }
    let better = |best: (f32, f32), [low, high]: &[f32; 2]| {
        let (change, mean) = ((high - low).abs(), 0.5 * (low + high));
        if change < best.0 || (change == best.0 && mean > best.1) { (change, mean) } else { best }
    };
    faces.iter().fold((f32::MAX, 0.0), better).1
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

    #[test]
    fn walls_in_the_faces_take_no_volume() {
        assert_eq!(open_volume([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]), 1.0);
        assert_eq!(open_volume([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]), 1.0);
        assert_eq!(open_volume([[0.0; 2]; 3]), 0.0);
    }
}
