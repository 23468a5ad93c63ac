//! Measures how fast single passes over the finest level, and over a liquid's particles, run on a device: for
//! benchmarks.

use super::cycle::append_cycle;
use super::device::{Device, Failure};
use super::hierarchy::DeviceHierarchy;
use super::iteration::{Stage, Stages};
use super::launch::{Launch, Program, ROWS};
use super::layout::{LowRank, RUN, State};
use super::particle_layout::Frame;
use super::particle_tables::{CellList, Exchange, ParticleArrays, SolidTable, Way};
use super::particles::DeviceParticles;
use super::solver::DeviceConjugateGradients;
use crate::conjugate_gradients::{RightSide, Stop, Vector};
use crate::multigrid::{Level, Multigrid};
use std::time::Instant;

/// A pass over the finest level or over particles, or a whole cycle.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Which.
    pub name: &'static str,
    /// Bytes that it cannot avoid moving, with every array counted once (docs/pressure.md, "What an iteration moves");
    /// 0 if unknown.
    pub bytes: f64,
    /// Wall time of one, seconds.
    pub seconds: f64,
}

/// Voxels of a leaf.
const LEAF: f64 = 512.0;

/// Half-leaves whose coefficients must be read.
fn uneven(level: &Level, colour: usize) -> f64 {
    level.uniform[colour].iter().filter(|u| u[0] == 0.0).count() as f64
}

impl<D: Device> DeviceConjugateGradients<D> {
    /// Measures the passes of an iteration in f32 on a level, each as the mean over `times` launches in a row.
    pub fn measure(
        &mut self,
        multigrid: &Multigrid,
        right_side: &dyn RightSide,
        times: usize,
    ) -> Result<Vec<Pass>, Failure> {
        let level = &multigrid.levels[0];
        let mut x = Vector::default();
        x.fit(level.leaves(), level.super_count());
        let hierarchy = DeviceHierarchy::upload(&mut self.device, &mut self.levels, multigrid)?;
        let stop = Stop { tolerance: 0.0, max_iterations: usize::MAX };
        let vectors = self.upload_vectors(&hierarchy, right_side, &x, stop)?;
        let stages = Stages { hierarchy: &hierarchy, masses: LowRank::default(), vectors };
        self.state.fill(&mut self.device, &[State { phase: RUN, ..State::start(stop) }])?;
        let leaves = level.leaves() as f64 * LEAF;
        let halves = |colours: f64| colours * LEAF / 2.0;
        let finest = hierarchy.levels[0];
        let relax = |colour: u32| {
            let launch = Launch::new("relax_colour", finest.level.leaves, ROWS).with(finest.level);
            Program { launches: vec![launch.with(finest.work).with(colour).with(vectors.state)] }
        };
        let mut cycle = Program::default();
        append_cycle(&mut cycle, &hierarchy, vectors.state);
        let both = uneven(level, 0) + uneven(level, 1);
        // Of b one colour, of x both; three faces and the diagonal, the faces of both colours.
        let sweep = |colour: usize| 6.0 * leaves + halves(28.0 * uneven(level, colour));
        let passes = [
            ("q = A p", stages.pass("apply_single"), 8.0 * leaves + halves(12.0 * both)),
            ("p = z + β p", stages.pass("turn_single"), 12.0 * leaves),
            ("d, r, ‖r‖", stages.pass("update_single"), 24.0 * leaves),
            ("red sweep", relax(0), sweep(0)),
            ("black sweep", relax(1), sweep(1)),
            ("cycle", cycle, 0.0),
        ];
        let mut out = Vec::new();
        for (name, program, bytes) in passes {
            let seconds = self.time(&program, times)?;
            out.push(Pass { name, bytes, seconds });
        }
        Ok(out)
    }

    /// Seconds of one run of a program, as the mean over some.
    fn time(&mut self, program: &Program, times: usize) -> Result<f64, Failure> {
        // SAFETY: every address in the program is of memory held by `self`, which is not touched until it ends.
        unsafe { self.device.run(program, 1)? };
        self.look()?;
        let start = Instant::now();
        // SAFETY: see above.
        unsafe { self.device.run(program, times)? };
        self.look()?;
        Ok(start.elapsed().as_secs_f64() / times as f64)
    }
}

impl<D: Device> DeviceParticles<D> {
    /// Measures the kernels of a substep, each as the mean over `times` launches in a row; their results are not used.
    pub fn measure(
        &mut self,
        cells: &CellList,
        particles: &ParticleArrays,
        frame: Frame,
        (way, solids): (&Way, &SolidTable),
        times: usize,
    ) -> Result<Vec<Pass>, Failure> {
        let position = particles.position;
        let (count, voxels) = (position.values.len() as f64, cells.leaves.origins.len() as f64 * LEAF);
        let carry = self.prepare_carrying(cells, particles, frame)?;
        let mut passes = vec![self.time("to the faces", carry, 60.0 * count + 24.0 * voxels, times)?];
        let take = self.prepare_taking(cells, position, frame, &way.velocity, &Exchange::Apic)?;
        passes.push(self.time("from the faces", take, 60.0 * count + 12.0 * voxels, times)?);
        let advect = self.prepare_moving(position, frame, way, solids)?;
        passes.push(self.time("advection", advect, 25.0 * count + 12.0 * voxels, times)?);
        Ok(passes)
    }

    fn time(
        &mut self,
        name: &'static str,
        launch: Launch,
        bytes: f64,
        times: usize,
    ) -> Result<Pass, Failure> {
        self.launch(launch.clone(), 1)?;
        self.wait()?;
        let start = Instant::now();
        self.launch(launch, times)?;
        self.wait()?;
        Ok(Pass { name, bytes, seconds: start.elapsed().as_secs_f64() / times as f64 })
    }
}

impl Stages<'_> {
    /// One launch out of an iteration.
    fn pass(&self, kernel: &str) -> Program {
        only(self.iterate(Stage::Single), kernel)
    }
}

fn only(mut program: Program, kernel: &str) -> Program {
    program.launches.retain(|launch| launch.kernel == kernel);
    program
}
