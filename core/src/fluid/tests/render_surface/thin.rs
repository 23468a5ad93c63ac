//! Clumps, threads and sheets that are thinner than the level set shows: they stay, whole, and keep their volume.

use super::*;

const SPACING: f64 = 0.5 * H;
const SCALES: [f64; 2] = [0.25, 0.5];

/// A repeatable number from −½ to ½.
fn jitter(seed: &mut u64) -> f64 {
    f64::from(noise(seed)) - 0.5
}

fn direction(seed: &mut u64) -> DVec3 {
    let v = DVec3::new(jitter(seed), jitter(seed), jitter(seed));
    if v.length() > 0.1 { v.normalize() } else { DVec3::X }
}

/// The `n` places of a jittered cubic lattice that are nearest to a middle that lies anywhere.
fn clump(n: usize, mut seed: u64) -> Vec<Vec3> {
    let seed = &mut seed;
    let middle = DVec3::new(jitter(seed), jitter(seed), jitter(seed));
    let turn = DQuat::from_axis_angle(direction(seed), 3.0 * jitter(seed));
    let mut at: Vec<DVec3> = (0..1000)
        .map(|n| DVec3::new((n / 100) as f64, (n / 10 % 10) as f64, (n % 10) as f64) - 4.5)
        .map(|x| x + DVec3::new(jitter(seed), jitter(seed), jitter(seed)) * 0.4 - middle)
        .collect();
    at.sort_by(|a, b| a.length_squared().total_cmp(&b.length_squared()));
    at.truncate(n);
    at.iter().map(|x| (turn * *x * SPACING + middle).as_vec3()).collect()
}

/// Rows of particles along a direction, `wide` times `wide` of them.
fn thread(along: DVec3, wide: usize, mut seed: u64) -> Vec<Vec3> {
    let seed = &mut seed;
    let turn = DQuat::from_rotation_arc(DVec3::X, along.normalize());
    let from = DVec3::new(jitter(seed), jitter(seed), jitter(seed)) * H;
    let mut at = Vec::new();
    for n in 0..60 {
        for m in 0..wide * wide {
            let x = DVec3::new(f64::from(n), (m / wide) as f64, (m % wide) as f64);
            let x = x + DVec3::new(0.3, 0.2, 0.2) * DVec3::new(jitter(seed), jitter(seed), jitter(seed));
            at.push((turn * x * SPACING + from).as_vec3());
        }
    }
    at
}

/// Volume by that of the particles, as the surface is made and as it is moved.
fn volumes(shape: &Shape, scale: f64) -> [f64; 2] {
    [false, true].map(|keep_volume| {
        let settings = Settings { voxel_scale: scale, keep_volume, ..Settings::default() };
        enclosed(&shape.surface(&settings)) / shape.volume() - 1.0
    })
}

/// Whether all are within so much.
fn assert_within(what: &str, volumes: &[[f64; 2]], most: f64) {
    let worst = |k: usize| volumes.iter().map(|v| v[k].abs()).fold(0.0, f64::max);
    println!("{what}: volumes within {:.3} as they are made, {:.4} as they are moved", worst(0), worst(1));
    assert!(worst(0) < most && worst(1) < 0.005, "{what}: {volumes:.3?}");
}

#[test]
fn clumps_of_any_number_keep_their_volume() {
    for scale in SCALES {
        for n in [1, 2, 5, 9, 27, 28, 30, 50, 64, 100, 200] {
            let shapes = (1..=5).map(|seed| Shape::at(clump(n, seed).into_iter()));
            let made: Vec<[f64; 2]> = shapes.map(|shape| volumes(&shape, scale)).collect();
            // Nine are a drop if no level set holds them.
            let most = if n == 9 { 0.4 } else { 0.15 };
            assert_within(&format!("clump of {n} at scale {scale}"), &made, most);
        }
    }
}

#[test]
fn threads_keep_their_volume() {
    let ways = [DVec3::X, DVec3::new(1.0, 1.0, 0.0), DVec3::new(1.0, 0.7, 0.4)];
    for scale in SCALES {
        for wide in [1, 2] {
            for along in ways {
                let shapes = (1..=4).map(|seed| Shape::at(thread(along, wide, seed).into_iter()));
                let made: Vec<[f64; 2]> = shapes.map(|shape| volumes(&shape, scale)).collect();
                assert_within(&format!("thread {wide} wide along {along} at scale {scale}"), &made, 0.15);
            }
        }
    }
}

/// Places in the middle of a sheet that have a particle nearby.
fn covered(shape: &Shape, middle: DVec3, normal: DVec3) -> Vec<DVec3> {
    let (a, b) = normal.any_orthonormal_pair();
    let places = (0..225).map(|n| {
        let [u, v] = [n / 15, n % 15].map(|k| 0.0613 * (f64::from(k) - 7.0));
        middle + a * u + b * v
    });
    let from_axis = |x: DVec3, place: DVec3| (x - place).reject_from_normalized(normal).length();
    let particles = || shape.particles.position.iter().map(|x| x.as_dvec3());
    places.filter(|&place| particles().any(|x| from_axis(x, place) < 0.5 * SPACING)).collect()
}

#[test]
fn sheets_have_no_holes_and_keep_their_volume() {
    let ways = [
        (DVec3::Y, 0.013),
        (DVec3::Y, 0.04),
        (DVec3::new(0.1, 1.0, 0.2), 0.013),
        (DVec3::new(1.0, 1.0, 0.8), 0.02),
    ];
    for thickness in [1.0, 1.5, 2.0, 3.0, 4.0] {
        for (normal, offset) in ways {
            let normal = normal.normalize();
            let middle = DVec3::new(2.0, 2.0 + offset, 2.0);
            let half = 0.5 * thickness * SPACING;
            let inside = |x: DVec3| (x - middle).dot(normal).abs() < half;
            let shape = Shape::filled(middle - 0.7, middle + 0.7, 5, inside);
            let places = covered(&shape, middle, normal);
            assert!(places.len() > 120, "{}", places.len());
            for scale in SCALES {
                let made = shape.surface(&Settings { voxel_scale: scale, ..unmoved() });
                let missed =
                    places.iter().filter(|&&x| ray(&made, x - normal * 0.5, normal).is_nan()).count();
                let what = format!("sheet of {thickness} along {normal:.2} at {offset}, scale {scale}");
                println!("{what}: {missed} of {} are missed", places.len());
                assert_within(&what, &[volumes(&shape, scale)], 0.15);
                // One particle thick on the mean, it is thinner in places.
                let most = if thickness > 1.0 { 0 } else { places.len() / 40 };
                assert!(missed <= most, "{what}: {missed} of {}", places.len());
            }
        }
    }
}
