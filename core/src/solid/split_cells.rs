//! Finds cells that a thin wall cuts into two sides.

/// Whether the outside corners of a cell (bit n set: corner n, x fastest, is outside the solid) form several pieces
/// that no edges of the cell join.
///
/// Such a cell holds air of both sides of a wall thinner than its diagonal, so a fluid that treats it as one volume
/// leaks through. Closing its faces seals every wall at least one voxel thick: in any other cell, edges join the
/// outside corners, and no edge can cross a wall that is as thick as the edge is long.
pub fn is_split(outside: u8) -> bool {
    SPLIT[outside as usize]
}

static SPLIT: [bool; 256] = {
    let mut table = [false; 256];
    let mut pattern = 0;
    while pattern < 256 {
        table[pattern] = falls_apart(pattern as u8);
        pattern += 1;
    }
    table
};

const fn falls_apart(outside: u8) -> bool {
    let mut reached = outside & outside.wrapping_neg();
    loop {
        // One step along each axis: x joins bits n and n ^ 1, y n ^ 2, z n ^ 4.
        let x = ((reached & 0x55) << 1) | ((reached & 0xAA) >> 1);
        let y = ((reached & 0x33) << 2) | ((reached & 0xCC) >> 2);
        let z = reached.rotate_right(4);
        let grown = (reached | x | y | z) & outside;
        if grown == reached {
            return reached != outside;
        }
        reached = grown;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_corners_apart_are_split() {
        assert!(!is_split(0) && !is_split(0xFF));
        for n in 0..8 {
            assert!(!is_split(1 << n), "one corner");
            assert!(!is_split(!(1 << n)), "a corner cut off the solid side");
            assert!(is_split(1 << n | 1 << (n ^ 7)), "opposite corners");
            assert!(is_split(1 << n | 1 << (n ^ 3)), "a face's diagonal");
            assert!(!is_split(1 << n | 1 << (n ^ 1)), "an edge");
        }
    }
}
