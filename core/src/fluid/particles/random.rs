//! Random numbers as a pure function of a place and a seed, so that no generator has state.

use glam::{IVec3, Vec3};

/// Mixes 64 bits so that any change of input changes half the output bits [Steele et al. 2014, `mix64`].
#[inline]
const fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A point of the unit cube that belongs to a lattice site and a seed.
#[inline]
pub fn point(site: IVec3, seed: u64) -> Vec3 {
    let mut key = mix(seed);
    for c in site.to_array() {
        key = mix(key ^ c as u32 as u64);
    }
    // 21 bits per coordinate.
    let unit = |bits: u64| (bits & 0x1f_ffff) as f32 / (1 << 21) as f32;
    Vec3::new(unit(key), unit(key >> 21), unit(key >> 42))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_fill_the_cube_evenly() {
        let n = 20;
        let mut mean = Vec3::ZERO;
        let mut octants = [0; 8];
        for x in 0..n {
            for y in 0..n {
                for z in 0..n {
                    let p = point(IVec3::new(x, y, z), 3);
                    mean += p / (n * n * n) as f32;
                    octants[usize::from(p.x < 0.5)
                        | usize::from(p.y < 0.5) << 1
                        | usize::from(p.z < 0.5) << 2] += 1;
                }
            }
        }
        assert!((mean - 0.5).abs().max_element() < 0.01);
        assert!(octants.iter().all(|&c| (900..1100).contains(&c)));
        assert_ne!(point(IVec3::ZERO, 0), point(IVec3::ZERO, 1));
    }
}
