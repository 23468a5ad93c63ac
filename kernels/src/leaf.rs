//! The 8×8×8 leaf in OpenVDB's order: the unit of files, the ABI, rayon tasks and CUDA blocks.
//!
//! Voxel (x, y, z) of a leaf stands at offset `(x & 7) << 6 | (y & 7) << 3 | (z & 7)`, so a z-row of 8 values
//! is contiguous. A channel is one slice `[leaf][512]`.

/// Voxels along one edge of a leaf.
pub const DIM: usize = 8;
/// log2 of [`DIM`].
pub const LOG2_DIM: usize = 3;
/// Voxels in a leaf.
pub const SIZE: usize = DIM * DIM * DIM;
/// Neighbour slots of a leaf: 3×3×3, itself included (slot [`SELF_SLOT`]).
pub const NEIGHBOURS: usize = 27;
/// The slot of the leaf itself in its neighbour table.
pub const SELF_SLOT: usize = 13;
/// Marks an absent leaf in a neighbour table.
pub const ABSENT: u32 = u32::MAX;
/// Offset step of one voxel along x, y, z.
pub const STRIDE: [usize; 3] = [64, 8, 1];

/// Offset of a voxel inside its leaf; only the low three bits of each coordinate count.
#[inline(always)]
pub const fn offset(x: i32, y: i32, z: i32) -> usize {
    (((x & 7) << 6) | ((y & 7) << 3) | (z & 7)) as usize
}

/// Local coordinates (0..8 each) of an offset: the inverse of [`offset`].
#[inline(always)]
pub const fn local(offset: usize) -> [i32; 3] {
    [(offset >> 6) as i32, ((offset >> 3) & 7) as i32, (offset & 7) as i32]
}

/// Origin of the leaf that holds a coordinate (floor to a multiple of 8, also for negatives).
#[inline(always)]
pub const fn origin(c: i32) -> i32 {
    c & !7
}

/// Slot in the 27-entry neighbour table of the leaf displaced by (dx, dy, dz) ∈ {-1, 0, 1}³ leaves.
#[inline(always)]
pub const fn slot(dx: i32, dy: i32, dz: i32) -> usize {
    ((dx + 1) * 9 + (dy + 1) * 3 + (dz + 1)) as usize
}

/// Displacement, in leaves, of the neighbour in a slot: the inverse of [`slot`].
#[inline(always)]
pub const fn displacement(slot: usize) -> [i32; 3] {
    [slot as i32 / 9 - 1, slot as i32 / 3 % 3 - 1, slot as i32 % 3 - 1]
}

/// The six face-neighbour slots, −x +x −y +y −z +z.
pub const FACE_SLOTS: [usize; 6] =
    [slot(-1, 0, 0), slot(1, 0, 0), slot(0, -1, 0), slot(0, 1, 0), slot(0, 0, -1), slot(0, 0, 1)];

/// Where the voxel at leaf-local coordinates (each in −8..16) lies: (neighbour slot, offset there).
#[inline(always)]
pub const fn reach(x: i32, y: i32, z: i32) -> (usize, usize) {
    (slot(x >> 3, y >> 3, z >> 3), offset(x, y, z))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offset_and_local_are_inverse() {
        for n in 0..SIZE {
            let [x, y, z] = local(n);
            assert_eq!(offset(x, y, z), n);
        }
    }

    #[test]
    fn reach_agrees_with_global_coordinates() {
        for x in -8..16 {
            for y in -8..16 {
                for z in -8..16 {
                    let (s, n) = reach(x, y, z);
                    let d = displacement(s);
                    assert_eq!(slot(d[0], d[1], d[2]), s);
                    let l = local(n);
                    assert_eq!([d[0] * 8 + l[0], d[1] * 8 + l[1], d[2] * 8 + l[2]], [x, y, z]);
                }
            }
        }
    }
}
