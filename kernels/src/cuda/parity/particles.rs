//! The particles' kernels: what stays on the device, the order of threads and blocks, and a GPU against the emulation.
//! Their twins on the processor are in core, which compares them (`core/src/fluid/tests/device.rs`).

use super::scene::Random;
use crate::cuda::{
    CellList, Device, DeviceParticles, Emulation, Exchange, Failure, Fate, Field, Frame, LeafTable, Newborn,
    ParticleArrays, SolidShape, SolidTable, Stamp, Stamped, Traffic, Way,
};
use crate::leaf;
use glam::{IVec3, Vec3};

const NONE: Stamp = Stamp::NONE;
const H: f32 = 0.1;

/// Leaves with a hole among them, particles sorted by cell, and a face velocity.
struct Cloud {
    origins: Vec<IVec3>,
    neighbours: Vec<[u32; leaf::NEIGHBOURS]>,
    start: Vec<u32>,
    position: Vec<Vec3>,
    velocity: Vec<Vec3>,
    affine: [Vec<Vec3>; 3],
    density: Vec<f32>,
    id: Vec<i64>,
    faces: [Vec<f32>; 3],
}

fn vec3(random: &mut Random) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|_| random.signed() as f32))
}

fn neighbour_table(origins: &[IVec3]) -> Vec<[u32; leaf::NEIGHBOURS]> {
    let of = |o: &IVec3, s: usize| {
        let d = IVec3::from_array(crate::leaf::displacement(s));
        origins.iter().position(|at| *at == *o + 8 * d).map_or(leaf::ABSENT, |l| l as u32)
    };
    origins.iter().map(|o| std::array::from_fn(|s| of(o, s))).collect()
}

impl Cloud {
    fn new(seed: u64) -> Self {
        let random = &mut Random(seed);
        let all = (0..27).map(|s| 8 * IVec3::new(s / 9 - 1, s / 3 % 3 - 1, s % 3 - 1));
        let origins: Vec<IVec3> = all.filter(|_| random.unit() < 0.7).collect();
        let leaves = origins.len();
        let mut cloud = Self {
            neighbours: neighbour_table(&origins),
            start: vec![0],
            position: Vec::new(),
            velocity: Vec::new(),
            affine: Default::default(),
            density: Vec::new(),
            id: Vec::new(),
            faces: std::array::from_fn(|_| {
                (0..leaves * leaf::SIZE).map(|_| random.signed() as f32).collect()
            }),
            origins,
        };
        for l in 0..leaves {
            // Some leaves have no particles at all.
            let most = if random.below(4) == 0 { 1 } else { 4 };
            for n in 0..leaf::SIZE {
                let cell = (cloud.origins[l] + IVec3::from_array(leaf::local(n))).as_vec3();
                for _ in 0..random.below(most) {
                    // Short of the cell's borders, which rounding may move.
                    cloud.position.push((cell + 0.499 * vec3(random)) * H);
                    cloud.velocity.push(vec3(random));
                    cloud.affine.iter_mut().for_each(|rows| rows.push(10.0 * vec3(random)));
                    cloud.density.push(1000.0 + 100.0 * random.signed() as f32);
                    cloud.id.push(random.below(1000) as i64);
                }
                cloud.start.push(cloud.position.len() as u32);
            }
        }
        cloud
    }

    fn frame() -> Frame {
        Frame { base: [0; 3], offset: [0.0; 3], per_metre: 1.0 / H, h: H }
    }

    fn leaves(&self, stamp: Stamp) -> LeafTable<'_> {
        LeafTable { stamp, origins: &self.origins, neighbours: &self.neighbours }
    }

    fn cells(&self, stamp: Stamp) -> CellList<'_> {
        CellList { leaves: self.leaves(stamp), start: Stamped::new(stamp, &self.start) }
    }

    fn arrays(&self, stamp: Stamp) -> ParticleArrays<'_> {
        ParticleArrays {
            position: Stamped::new(stamp, &self.position),
            velocity: Stamped::new(stamp, &self.velocity),
            affine: Some(self.affine.each_ref().map(|rows| Stamped::new(stamp, rows.as_slice()))),
            density: Some(Stamped::new(stamp, &self.density)),
        }
    }

    fn field(&self, stamp: Stamp) -> Field<'_> {
        Field { values: self.faces.each_ref().map(|v| Stamped::new(stamp, v.as_slice())), background: 0.0 }
    }

    /// A field and particles that are newer than it.
    fn way(&self, stamp: Stamp) -> Way<'_> {
        let newborn = Newborn {
            id: Stamped::new(stamp, &self.id),
            born_from: 900,
            velocity: Stamped::new(stamp, &self.velocity),
        };
        Way {
            leaves: self.leaves(stamp),
            velocity: self.field(stamp),
            newborn: Some(newborn),
            origin: [0.0; 3],
            step: 2.5,
        }
    }

    fn bytes(&self) -> Bytes {
        let (vectors, faces) = (12 * self.position.len(), 4 * self.faces[0].len());
        Bytes { vectors, faces, leaves: 120 * self.origins.len(), cells: 4 * self.start.len() }
    }
}

/// What arrays weigh: of a vector a particle, of one axis of a face field, of a topology, and of a cell list.
struct Bytes {
    vectors: usize,
    faces: usize,
    leaves: usize,
    cells: usize,
}

/// A slab of a solid below y = −4 voxels, on the leaves around the surface.
fn slab(origins: &[IVec3]) -> Vec<f32> {
    let distance = |o: &IVec3, n: usize| H * ((o.y + leaf::local(n)[1]) as f32 + 4.0).clamp(-3.0, 3.0);
    origins.iter().flat_map(|o| (0..leaf::SIZE).map(move |n| distance(o, n))).collect()
}

fn with_solids<R>(act: impl FnOnce(&SolidTable) -> R) -> R {
    let range = || (-2..2).map(|c| 8 * c);
    let origins: Vec<IVec3> = range().flat_map(|x| range().map(move |z| IVec3::new(x, -8, z))).collect();
    let (neighbours, values) = (neighbour_table(&origins), slab(&origins));
    let shape = SolidShape {
        leaves: LeafTable { stamp: Stamp::of(77), origins: &origins, neighbours: &neighbours },
        values: &values,
        inside: &[[-1, -2, -1, 1], [0, -2, -1, 1]],
        background: 3.0 * H,
        to_index: [10.0, 0.0, 0.0, 0.0, 10.0, 0.0, 0.0, 0.0, 10.0],
        translation: [0.0; 3],
    };
    act(&SolidTable {
        shapes: &[shape],
        side: [-0.8, 1.6, -0.8, 1.6, -0.8, 1.6],
        closed: [false, true, false, false, true, false],
        kills: [true, false, false, false, false, false],
        moving: false,
        separation: 0.005,
        swept: 0.0,
    })
}

/// Everything that the kernels make of a cloud, as bits.
fn results<D: Device>(device: D, cloud: &Cloud) -> Result<Vec<u32>, Failure> {
    let mut particles = DeviceParticles::new(device);
    let (count, faces) = (cloud.position.len(), cloud.faces[0].len());
    let (mut vectors, mut scalars) = (vec![Vec3::ZERO; count], vec![0.0f32; faces]);
    let mut out: Vec<u32> = Vec::new();
    let (cells, frame) = (cloud.cells(NONE), Cloud::frame());
    particles.particles_to_faces(&cells, &cloud.arrays(NONE), frame, NONE)?;
    for axis in 0..3 {
        particles.fetch_carried(axis, &mut scalars)?;
        out.extend(scalars.iter().map(|v| v.to_bits()));
        particles.fetch_weight(axis, &mut scalars)?;
        out.extend(scalars.iter().map(|v| v.to_bits()));
    }
    let position = Stamped::unknown(cloud.position.as_slice());
    let velocity = Stamped::unknown(cloud.velocity.as_slice());
    let other: [Vec<f32>; 3] = cloud.faces.each_ref().map(|v| v.iter().map(|v| 0.5 * v * v).collect());
    let before = Field { values: other.each_ref().map(|v| Stamped::unknown(v.as_slice())), background: 0.0 };
    for exchange in [Exchange::Apic, Exchange::Flip { flip: 0.95, before, velocity }] {
        particles.faces_to_particles(&cells, position, frame, &cloud.field(NONE), &exchange, NONE)?;
        particles.fetch_velocity(&mut vectors)?;
        out.extend(vectors.iter().flat_map(|v| v.to_array()).map(f32::to_bits));
        for axis in 0..3 {
            particles.fetch_affine(axis, &mut vectors)?;
            out.extend(vectors.iter().flat_map(|v| v.to_array()).map(f32::to_bits));
        }
    }
    with_solids(|solids| particles.advect(position, frame, &cloud.way(NONE), solids))?;
    let fates = particles.fetch_arrivals(&mut vectors)?;
    for fate in [Fate::Arrived, Fate::Gone, Fate::MeetsSolid] {
        assert!(fates.contains(&fate), "no particle {fate:?}");
    }
    out.extend(fates.into_iter().map(|f| f as u32));
    out.extend(vectors.iter().flat_map(|v| v.to_array()).map(f32::to_bits));
    Ok(out)
}

#[test]
fn no_result_depends_on_the_order_of_threads_and_blocks() {
    for seed in 0..4 {
        let cloud = Cloud::new(seed);
        let forward = results(Emulation { descending: false }, &cloud).expect("memory");
        assert_eq!(forward, results(Emulation { descending: true }, &cloud).expect("memory"));
    }
}

#[test]
fn only_what_the_device_lacks_is_sent() {
    let cloud = Cloud::new(1);
    let Bytes { vectors, faces, leaves, cells } = cloud.bytes();
    let mut particles = DeviceParticles::new(Emulation::default());
    let mut before = Traffic::default();
    let mut sent = |particles: &DeviceParticles<Emulation>| {
        let now = particles.traffic();
        let sent = now.sent - before.sent;
        before = now;
        sent
    };
    let [first, second, third] = [1, 2, 3].map(Stamp::of);
    let (list, frame) = (cloud.cells(first), Cloud::frame());

    // Five vectors and a density a particle; the same again is not sent again.
    particles.particles_to_faces(&list, &cloud.arrays(first), frame, first).expect("memory");
    assert_eq!(sent(&particles), 5 * vectors + vectors / 3 + leaves + cells);
    particles.particles_to_faces(&list, &cloud.arrays(first), frame, first).expect("memory");
    assert_eq!(sent(&particles), 0);

    // Another face velocity; positions and leaves are there. The particles' new velocity is the device's alone.
    let position = Stamped::new(first, cloud.position.as_slice());
    let after = cloud.field(second);
    particles.faces_to_particles(&list, position, frame, &after, &Exchange::Apic, third).expect("memory");
    assert_eq!((sent(&particles), particles.traffic().fetched), (3 * faces, 0));

    // The host fetches the velocity alone; what it got has the stamp that was given. What it had before is stale.
    let mut velocity = vec![Vec3::ZERO; cloud.position.len()];
    particles.fetch_velocity(&mut velocity).expect("it is there");
    assert_eq!(particles.traffic().fetched, vectors);
    let solved = ParticleArrays { velocity: Stamped::new(third, &velocity), ..cloud.arrays(third) };
    let known = ParticleArrays { position, density: cloud.arrays(first).density, ..solved };
    particles.particles_to_faces(&list, &known, frame, second).expect("memory");
    assert_eq!(sent(&particles), 0);
    particles.particles_to_faces(&list, &cloud.arrays(first), frame, first).expect("memory");
    assert_eq!(sent(&particles), 4 * vectors);

    // The face velocity that came from the particles is what FLIP needs before; it never left the device.
    let carried: [Vec<f32>; 3] = std::array::from_fn(|_| vec![0.0; cloud.faces[0].len()]);
    let before_solve =
        Field { values: carried.each_ref().map(|v| Stamped::new(first, v.as_slice())), background: 0.0 };
    let velocity = Stamped::new(first, cloud.velocity.as_slice());
    let flip = Exchange::Flip { flip: 1.0, before: before_solve, velocity };
    particles.faces_to_particles(&list, position, frame, &after, &flip, NONE).expect("memory");
    assert_eq!(sent(&particles), 0);

    // Nobody knows the result's stamp: it must be sent, and so must everything without one, every time.
    particles.particles_to_faces(&list, &cloud.arrays(NONE), frame, NONE).expect("memory");
    particles.particles_to_faces(&list, &cloud.arrays(NONE), frame, NONE).expect("memory");
    assert_eq!(sent(&particles), 2 * (5 * vectors + vectors / 3));

    // A solid is sent once.
    let way = cloud.way(second);
    with_solids(|solids| particles.advect(position, frame, &way, solids)).expect("memory");
    assert!(sent(&particles) > 0);
    let position = Stamped::unknown(cloud.position.as_slice());
    with_solids(|solids| particles.advect(position, frame, &way, solids)).expect("memory");
    assert_eq!(sent(&particles), vectors);
}

#[test]
fn what_the_device_does_not_hold_cannot_be_fetched() {
    let cloud = Cloud::new(2);
    let mut particles = DeviceParticles::new(Emulation::default());
    let mut scalars = vec![0.0f32; cloud.faces[0].len()];
    assert!(particles.fetch_carried(0, &mut scalars).is_err());
    particles
        .particles_to_faces(&cloud.cells(NONE), &cloud.arrays(NONE), Cloud::frame(), NONE)
        .expect("memory");
    assert!(particles.fetch_carried(0, &mut scalars).is_ok());
    assert!(particles.fetch_carried(0, &mut scalars[1..]).is_err());
}

#[test]
fn arrays_that_do_not_fit_are_refused() {
    let cloud = Cloud::new(3);
    let mut particles = DeviceParticles::new(Emulation::default());
    let (cells, arrays, frame) = (cloud.cells(NONE), cloud.arrays(NONE), Cloud::frame());
    let short = Stamped::unknown(&cloud.position[1..]);
    let fewer = ParticleArrays { position: short, ..arrays };
    assert!(particles.particles_to_faces(&cells, &fewer, frame, NONE).is_err());
    let slower = ParticleArrays { velocity: short, ..arrays };
    assert!(particles.particles_to_faces(&cells, &slower, frame, NONE).is_err());
    let mut backwards = cloud.start.clone();
    backwards[5] = u32::MAX;
    let list = CellList { start: Stamped::unknown(&backwards), ..cells };
    assert!(particles.particles_to_faces(&list, &arrays, frame, NONE).is_err());
    let mut field = cloud.field(NONE);
    field.values[2] = Stamped::unknown(&[]);
    let position = arrays.position;
    assert!(particles.faces_to_particles(&cells, position, frame, &field, &Exchange::Apic, NONE).is_err());
    let way = Way { velocity: field, ..cloud.way(NONE) };
    assert!(with_solids(|solids| particles.advect(position, frame, &way, solids)).is_err());
}

/// The proof of the emulation, for whoever has a GPU: `cargo test -p meniscus-kernels -- --ignored gpu`.
#[cfg(feature = "cuda")]
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_gpu_moves_particles_as_the_emulation_does() {
    for seed in 0..20 {
        let cloud = Cloud::new(seed);
        let expected = results(Emulation::default(), &cloud).expect("memory");
        let gpu = crate::cuda::Cuda::open().expect("a GPU");
        assert_eq!(expected, results(gpu, &cloud).expect("memory"));
    }
}
