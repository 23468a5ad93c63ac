//! Arithmetic on four particles at once, one per SIMD lane.

use glam::{IVec4, Vec3, Vec4};

/// Four vectors, axis by axis.
#[derive(Clone, Copy, Default)]
pub struct Four(pub [Vec4; 3]);

impl Four {
    /// Up to four vectors; the last one again where there are fewer, nothing where there is none.
    #[inline(always)]
    pub fn of(vectors: &[Vec3]) -> Self {
        let Some(last) = vectors.len().checked_sub(1) else { return Self::default() };
        let lane = |n: usize| vectors[n.min(last)];
        let [a, b, c, d] = [lane(0), lane(1), lane(2), lane(3)];
        Self([Vec4::new(a.x, b.x, c.x, d.x), Vec4::new(a.y, b.y, c.y, d.y), Vec4::new(a.z, b.z, c.z, d.z)])
    }

    /// One of them.
    #[inline(always)]
    pub fn lane(&self, n: usize) -> Vec3 {
        Vec3::new(self.0[0][n], self.0[1][n], self.0[2][n])
    }

    /// This + `factor` · other.
    #[inline(always)]
    pub fn plus(&self, factor: f32, other: Self) -> Self {
        Self(std::array::from_fn(|a| self.0[a] + factor * other.0[a]))
    }

    /// Less one vector each.
    #[inline(always)]
    pub fn minus(&self, vector: Vec3) -> Self {
        Self([self.0[0] - vector.x, self.0[1] - vector.y, self.0[2] - vector.z])
    }
}

/// 2²³: from here on an f32 holds whole numbers only, and their value is in its lowest bits.
const WHOLE: f32 = 8_388_608.0;

/// The floor of numbers from 0 to 2²², by rounding: a cast that checks for overflow is several times as slow.
#[inline(always)]
pub fn floor(x: Vec4) -> Vec4 {
    let near = (x + WHOLE) - WHOLE;
    near - Vec4::select(near.cmpgt(x), Vec4::ONE, Vec4::ZERO)
}

/// The floor of numbers as whole ones; beyond what an i32 holds, the nearest that it does.
#[inline(always)]
pub fn floor_to_whole(x: Vec4) -> IVec4 {
    /// 1.5 · 2²³: for numbers up to 2²² on either side of it an f32 holds whole numbers only.
    const MIDDLE: f32 = 1.5 * WHOLE;
    let near = x + MIDDLE;
    if x.abs().cmplt(Vec4::splat(0.5 * WHOLE)).all() {
        let above = Vec4::select((near - MIDDLE).cmpgt(x), Vec4::ONE, Vec4::ZERO);
        IVec4::from_array((near - above).to_array().map(|at| at.to_bits() as i32)) - MIDDLE.to_bits() as i32
    } else {
        IVec4::from_array(x.to_array().map(|x| x.floor() as i32))
    }
}

/// Whole numbers from 0 to 2²² as indices.
#[inline(always)]
pub fn indices(whole: Vec4) -> [usize; 4] {
    (whole + WHOLE).to_array().map(|at| (at.to_bits() & 0x3f_ffff) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn floors_and_indices_are_those_of_casts(x in prop::array::uniform4(0f32..4e6), n in 0u32..1000) {
            let mut x = x;
            x[3] = n as f32;
            prop_assert_eq!(floor(Vec4::from_array(x)).to_array(), x.map(f32::floor));
            prop_assert_eq!(indices(floor(Vec4::from_array(x))), x.map(|x| x as usize));
        }
    }

    proptest! {
        #[test]
        fn whole_floors_are_those_of_casts(x in prop::array::uniform4(-5e6f32..5e6), n in -1000i32..1000) {
            for x in [x, [x[0], n as f32, x[2] * 1e-6, n as f32 - 1e-6], [x[0] * 1e-3, 0.0, -0.0, -0.5]] {
                let cast = x.map(|x| x.floor() as i32);
                prop_assert_eq!(floor_to_whole(Vec4::from_array(x)).to_array(), cast);
            }
        }
    }

    #[test]
    fn lanes_are_the_vectors_they_were_made_of() {
        let vectors = [Vec3::X, Vec3::Y, Vec3::new(1.0, 2.0, 3.0)];
        let four = Four::of(&vectors);
        assert_eq!([0, 1, 2, 3].map(|n| four.lane(n)), [vectors[0], vectors[1], vectors[2], vectors[2]]);
        assert_eq!(four.minus(Vec3::X).plus(2.0, four).lane(2), Vec3::new(2.0, 6.0, 9.0));
    }
}
