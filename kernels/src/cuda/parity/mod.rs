//! Every kernel on the emulated device against its twin on the processor, and whole solves.

mod cycle;
mod indefinite;
mod operator;
mod particles;
mod scene;
mod solve;

use super::arena::Arena;
use super::bytes::Plain;
use super::device::{Device, Slot};
use super::emulation::Emulation;
use super::hierarchy::DeviceHierarchy;
use super::launch::{Launch, PARTICLE_KERNELS, PRESSURE_KERNELS, Program};
use super::layout::{RUN, State};
use crate::checkerboard::Field;
use crate::conjugate_gradients::Stop;
use crate::multigrid::{Bodies, Cycle, Multigrid, Work};
use scene::{Random, Scene};

/// A hierarchy on both sides, and a state that lets kernels run.
struct Pair {
    device: Emulation,
    multigrid: Multigrid,
    hierarchy: DeviceHierarchy,
    state: Slot<Emulation>,
    _arenas: Vec<Arena<Emulation>>,
}

impl Pair {
    fn new(scene: &Scene, descending: bool) -> Self {
        Self::with(scene, Bodies::default(), descending)
    }

    fn with(scene: &Scene, bodies: Bodies, descending: bool) -> Self {
        let mut multigrid = Multigrid::default();
        multigrid.build(scene.level.clone(), scene.extents.clone(), bodies, Cycle::default());
        let (mut device, mut arenas, mut state) =
            (Emulation { descending }, Vec::new(), Slot::<Emulation>::default());
        let hierarchy = DeviceHierarchy::upload(&mut device, &mut arenas, &multigrid).expect("memory");
        let start = State { phase: RUN, ..State::start(Stop { tolerance: 0.0, max_iterations: 1000 }) };
        state.fill(&mut device, &[start]).expect("memory");
        Self { device, multigrid, hierarchy, state, _arenas: arenas }
    }

    fn run(&mut self, program: &Program) {
        // SAFETY: the tests' programs name memory of this pair.
        unsafe { self.device.run(program, 1) }.expect("a sound launch");
    }

    /// Fills the vectors of a level with noise, on both sides.
    fn shake(&mut self, l: usize, random: &mut Random) {
        let work = &mut self.multigrid.work[l];
        for field in [&mut work.x, &mut work.b] {
            shake(field, random, |v| v as f32);
        }
        work.x_super.iter_mut().chain(&mut work.b_super).for_each(|v| *v = random.signed());
        let place = self.hierarchy.levels[l].work;
        write_field(place.x, &work.x);
        write_field(place.b, &work.b);
        write(place.x_super, &work.x_super);
        write(place.b_super, &work.b_super);
    }

    /// Largest difference of a level's vectors between the two sides, against 1 (the vectors are of that size).
    fn difference(&self, l: usize, part: fn(&Work) -> (&Field<f32>, &Vec<f64>), x: bool) -> f64 {
        let (cells, supers) = part(&self.multigrid.work[l]);
        let place = self.hierarchy.levels[l].work;
        let (at, at_super) = if x { (place.x, place.x_super) } else { (place.b, place.b_super) };
        field_difference(at, cells, f64::from).max(difference(&read::<f64>(at_super, supers.len()), supers))
    }
}

/// Random values in all leaves but the void.
fn shake<T: Copy>(field: &mut Field<T>, random: &mut Random, round: impl Fn(f64) -> T) {
    for half in field {
        let leaves = half.len() - 1;
        half[..leaves]
            .as_flattened_mut()
            .as_flattened_mut()
            .iter_mut()
            .for_each(|v| *v = round(random.signed()));
    }
}

/// What stands at an address of the emulated device.
fn read<T: Plain>(address: u64, count: usize) -> Vec<T> {
    // SAFETY: the tests read arrays of living memory, of as many values.
    (0..count).map(|i| unsafe { (address as *const T).add(i).read() }).collect()
}

/// Writes to an address of the emulated device.
fn write<T: Plain>(address: u64, values: &[T]) {
    // SAFETY: the tests write arrays of living memory, of as many values.
    values.iter().enumerate().for_each(|(i, v)| unsafe { (address as *mut T).add(i).write(*v) });
}

fn write_field<T: Plain>(address: u64, field: &Field<T>) {
    let size = size_of_val(field[0].as_slice()) as u64;
    write(address, field[0].as_flattened().as_flattened());
    write(address + size, field[1].as_flattened().as_flattened());
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, |m, d| if d <= m { m } else { d })
}

fn field_difference<T: Plain>(address: u64, field: &Field<T>, widen: fn(T) -> f64) -> f64 {
    let values: Vec<T> = field.iter().flatten().flatten().flatten().copied().collect();
    let there: Vec<T> = read(address, values.len());
    difference(
        &there.into_iter().map(widen).collect::<Vec<_>>(),
        &values.into_iter().map(widen).collect::<Vec<_>>(),
    )
}

#[test]
fn every_kernel_is_known_and_wrong_arguments_are_noticed() {
    let mut device = Emulation::default();
    for kernel in PRESSURE_KERNELS.into_iter().chain(PARTICLE_KERNELS) {
        let program = Program { launches: vec![Launch::new(kernel, 1, 1).with(7u32)] };
        // SAFETY: never gets as far as to use the argument as an address.
        let failure = unsafe { device.run(&program, 1) }.expect_err("no kernel takes one number");
        assert_eq!(failure.to_string(), format!("{kernel}: the arguments are not what the kernel takes"));
    }
}
