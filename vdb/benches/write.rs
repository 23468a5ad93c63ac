//! Writing a frame's caches, a level set and a velocity: `cargo bench -p openvdb-sys [filter]`.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use openvdb_sys::{Class, GridOut, Values, to_bytes};
use std::time::Duration;

/// Edge length of a voxel, metres.
const H: f64 = 0.01;
/// Half width of the level set's band, voxels.
const BAND: f64 = 3.0;

/// The leaves of a half-full box of n³ voxels with a wavy surface, and what they hold.
struct Frame {
    origins: Vec<[i32; 3]>,
    /// Distance to the surface, metres.
    surface: Vec<f32>,
    /// Per component, m/s.
    velocity: [Vec<f32>; 3],
}

impl Frame {
    fn new(n: i32) -> Self {
        let mut frame = Self { origins: vec![], surface: vec![], velocity: Default::default() };
        let tiles = |end: i32| (0..end).step_by(8);
        let height = |x: f64, z: f64| 0.5 * f64::from(n) + 3.0 * (0.2 * x).sin() * (0.3 * z).cos();
        for [x, y, z] in
            tiles(n).flat_map(|x| tiles(n / 2 + 16).flat_map(move |y| tiles(n).map(move |z| [x, y, z])))
        {
            frame.origins.push([x, y, z]);
            for v in 0..512 {
                let [x, y, z] = [x + (v >> 6), y + (v >> 3 & 7), z + (v & 7)].map(f64::from);
                frame.surface.push(((y - height(x, z)).clamp(-BAND, BAND) * H) as f32);
                let wave = |k: f64| (k * x).sin() * (k * y + 1.0).cos() * (k * z + 2.0).sin();
                for (axis, u) in frame.velocity.iter_mut().enumerate() {
                    u.push((wave(0.1 + 0.05 * axis as f64) + 0.2 * wave(0.9)) as f32);
                }
            }
        }
        frame
    }

    fn grid<'a>(&'a self, name: &'a str, class: Class, values: Values<'a>) -> GridOut<'a> {
        let is_surface = class == Class::LevelSet;
        GridOut {
            name,
            class,
            transform: [H, 0., 0., 0., 0., H, 0., 0., 0., 0., H, 0., 0., 0., 0., 1.],
            background: [if is_surface { BAND * H } else { 0.0 }, 0.0, 0.0],
            origins: &self.origins,
            masks: None,
            values,
            tiles: &[],
            half: !is_surface,
            flood: is_surface,
            vector_type: (!is_surface).then_some("contravariant relative"),
            metadata: &[],
        }
    }
}

fn write(c: &mut Criterion) {
    for n in [32, 64] {
        let frame = Frame::new(n);
        let [x, y, z] = &frame.velocity;
        let surface = frame.grid("surface", Class::LevelSet, Values::Float(&frame.surface));
        let velocity = frame.grid("vel", Class::Staggered, Values::Vector([x, y, z]));
        let mut group = c.benchmark_group("write");
        for (name, grid, width) in [("surface", &surface, 4), ("velocity", &velocity, 12)] {
            let grids = std::slice::from_ref(grid);
            let size = to_bytes(grids, &[]).map(|b| b.len()).expect("a file");
            let elements = 512 * frame.origins.len() as u64;
            println!("{n} {name}: {elements} voxels, {size} bytes in the file");
            group
                .throughput(Throughput::ElementsAndBytes { elements, bytes: width * elements + size as u64 });
            group.bench_function(BenchmarkId::new(name, n), |b| b.iter(|| to_bytes(grids, &[])));
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(15)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2));
    targets = write
}
criterion_main!(benches);
