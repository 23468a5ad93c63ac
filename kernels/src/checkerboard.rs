//! Red-black order inside a leaf: the two colours are stored apart, so that a red-black sweep reads one array and
//! writes another, z-rows stay contiguous, and every SIMD lane is used.
//!
//! Row r = x·8 + y of colour c holds the four voxels z = 2·lane + phase, phase = (x + y + c) & 1. Neighbours
//! across x and y sit in the same lane of the other colour; only z neighbours shift by a lane.

use crate::leaf;

/// The four voxels of one colour in a z-row.
pub type Row<T> = [T; 4];
/// The 256 voxels of one colour of a leaf.
pub type Half<T> = [Row<T>; 64];
/// A field: per colour, one [`Half`] per leaf and a last one, the void, which stays zero and stands for absent
/// neighbours.
pub type Field<T> = [Vec<Half<T>>; 2];

/// (colour, row, lane) of an offset in leaf order.
#[inline(always)]
pub const fn place(offset: usize) -> (usize, usize, usize) {
    let row = offset >> 3;
    (((row >> 3) + row + offset) & 1, row, (offset & 7) >> 1)
}

/// Offset in leaf order of (colour, row, lane): the inverse of [`place`].
#[inline(always)]
pub const fn offset(colour: usize, row: usize, lane: usize) -> usize {
    row << 3 | lane << 1 | ((row >> 3) + row + colour) & 1
}

/// A zero field for some leaves and the void; keeps the old allocation.
pub fn reset<T: Copy + Default>(field: &mut Field<T>, leaves: usize) {
    for half in field {
        half.clear();
        half.resize(leaves + 1, [[T::default(); 4]; 64]);
    }
}

/// Copies the leaf-order values of one leaf into its two halves.
pub fn split<T: Copy>(values: &[T], red: &mut Half<T>, black: &mut Half<T>) {
    let (rows, _) = values.as_chunks::<{ leaf::DIM }>();
    for (r, row) in rows.iter().enumerate() {
        let (even, odd) = ([row[0], row[2], row[4], row[6]], [row[1], row[3], row[5], row[7]]);
        if ((r >> 3) + r) & 1 == 0 {
            (red[r], black[r]) = (even, odd)
        } else {
            (red[r], black[r]) = (odd, even)
        }
    }
}

/// Copies two halves back into leaf order: the inverse of [`split`].
pub fn join<T: Copy>(red: &Half<T>, black: &Half<T>, values: &mut [T]) {
    let (rows, _) = values.as_chunks_mut::<{ leaf::DIM }>();
    for (r, row) in rows.iter_mut().enumerate() {
        let (even, odd) = if ((r >> 3) + r) & 1 == 0 { (&red[r], &black[r]) } else { (&black[r], &red[r]) };
        for k in 0..4 {
            row[2 * k] = even[k];
            row[2 * k + 1] = odd[k];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_and_offset_are_inverse_and_split_follows_them() {
        let values: Vec<usize> = (0..leaf::SIZE).collect();
        let mut halves = [[[0; 4]; 64]; 2];
        let [red, black] = &mut halves;
        split(&values, red, black);
        for n in 0..leaf::SIZE {
            let (colour, row, lane) = place(n);
            let [x, y, z] = leaf::local(n);
            assert_eq!(colour as i32, (x + y + z) & 1);
            assert_eq!(offset(colour, row, lane), n);
            assert_eq!(halves[colour][row][lane], n);
        }
        let mut back = vec![0; leaf::SIZE];
        join(&halves[0], &halves[1], &mut back);
        assert_eq!(back, values);
    }
}
