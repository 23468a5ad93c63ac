//! Runs a solve on a device: copies the system there, launches iterations ahead, reads the state from time to time.

use super::arena::Arena;
use super::device::{Device, Failure, Slot};
use super::hierarchy::{DeviceHierarchy, field_values, upload_masses};
use super::iteration::{Stage, Stages, Vectors};
use super::layout::{DONE, HISTORY, REPLACE, State, Vector as Place};
use crate::checkerboard::Field;
use crate::conjugate_gradients::{LowRank, Outcome, Progress, RightSide, Stop, Vector};
use crate::multigrid::{GRAIN, Multigrid};
use rayon::prelude::*;
use std::time::Instant;

/// Iterations launched before the host reads the state again.
const AHEAD: usize = 4;

/// Conjugate gradients preconditioned by the multigrid cycle, on a device. Holds only memory between solves.
pub struct DeviceConjugateGradients<D: Device> {
    pub(super) device: D,
    /// Iterations launched between two looks at the state; no result depends on it.
    pub ahead: usize,
    pub(super) levels: Vec<Arena<D>>,
    masses: Arena<D>,
    scratch: Arena<D>,
    double: Arena<D>,
    cells: Slot<D>,
    supers: Slot<D>,
    pub(super) state: Slot<D>,
    seconds: f64,
}

impl<D: Device> DeviceConjugateGradients<D> {
    /// A solver on a device.
    pub fn new(device: D) -> Self {
        Self {
            device,
            ahead: AHEAD,
            levels: Vec::new(),
            masses: Arena::default(),
            scratch: Arena::default(),
            double: Arena::default(),
            cells: Slot::default(),
            supers: Slot::default(),
            state: Slot::default(),
            seconds: 0.0,
        }
    }

    /// The device, in words.
    pub fn describe(&self) -> String {
        self.device.describe()
    }

    /// Bytes allocated on the device.
    pub fn bytes(&self) -> usize {
        let arenas = self.levels.iter().chain([&self.masses, &self.scratch, &self.double]);
        let slots = [&self.cells, &self.supers, &self.state].map(Slot::bytes);
        arenas.map(Arena::bytes).sum::<usize>() + slots.iter().sum::<usize>()
    }

    /// Wall time of the last solve from the first launch to the last look at the state, copies not counted, s.
    pub fn iterating_seconds(&self) -> f64 {
        self.seconds
    }

    /// Solves A x = b from the given x, as [`crate::conjugate_gradients::ConjugateGradients::solve`] does. The callback
    /// gets its iterations when the host reads the state, so it may stop a solve some iterations late.
    pub fn solve(
        &mut self,
        multigrid: &Multigrid,
        low_rank: &[LowRank],
        stop: Stop,
        right_side: &dyn RightSide,
        x: &mut Vector,
        progress: Progress,
    ) -> Result<Outcome, Failure> {
        let mut hierarchy = DeviceHierarchy::upload(&mut self.device, &mut self.levels, multigrid)?;
        let (leaves, supers) = (multigrid.levels[0].leaves(), multigrid.levels[0].super_count());
        self.masses.rewind();
        let masses = upload_masses(&mut self.device, &mut self.masses, low_rank, leaves, supers)?;
        let mut vectors = self.upload_vectors(&hierarchy, right_side, x, stop)?;
        let mut watch = Watch { stop, progress, told: 0, cancelled: false };

        self.look()?;
        let start = Instant::now();
        let stages = Stages { hierarchy: &hierarchy, masses, vectors };
        // SAFETY: every address in the programs is of memory held by `self`, which is not touched until they end.
        unsafe { self.device.run(&stages.measure_right_side(), 1)? };
        let mut state = self.iterate(&stages, Stage::Single, &mut watch)?;
        if state.norm == 0.0 {
            x.fit(leaves, supers);
            return Ok(Outcome::default());
        }
        while state.broken != 0 && watch.goes_on(&state) && hierarchy.take_v_cycle() {
            self.state.fill(&mut self.device, &[state.anew()])?;
            let stages = Stages { hierarchy: &hierarchy, masses, vectors };
            state = self.iterate(&stages, Stage::Single, &mut watch)?;
        }
        if watch.goes_on(&state) {
            hierarchy.take_v_cycle();
            self.prepare_double(&mut vectors, &mut state, leaves, supers)?;
            state =
                self.iterate(&Stages { hierarchy: &hierarchy, masses, vectors }, Stage::Double, &mut watch)?;
        }
        self.seconds = start.elapsed().as_secs_f64();
        self.download(x, leaves)?;
        let cancelled = watch.cancelled;
        Ok(Outcome { iterations: state.iterations as usize, residual: state.residual, cancelled })
    }

    /// Runs a stage until it is done or the callback stops it.
    fn iterate(&mut self, stages: &Stages, stage: Stage, watch: &mut Watch) -> Result<State, Failure> {
        let (replace, iterate) = (stages.replace(stage), stages.iterate(stage));
        // SAFETY: as in `solve`.
        unsafe { self.device.run(&replace, 1)? };
        loop {
            let mut state = self.look()?;
            watch.tell(&state);
            if state.phase == DONE {
                return Ok(state);
            }
            if watch.cancelled {
                state.phase = REPLACE;
                self.state.fill(&mut self.device, &[state])?;
                // SAFETY: as in `solve`.
                unsafe { self.device.run(&replace, 1)? };
                return self.look();
            }
            // SAFETY: as in `solve`.
            unsafe { self.device.run(&iterate, self.ahead.clamp(1, HISTORY))? };
        }
    }

    /// The state, after everything launched before is done.
    pub(super) fn look(&mut self) -> Result<State, Failure> {
        let mut state = [State::start(Stop { tolerance: 0.0, max_iterations: 0 })];
        self.state.read(&mut self.device, 0, &mut state)?;
        Ok(state[0])
    }

    /// The right side, x, and zeros for the rest.
    pub(super) fn upload_vectors(
        &mut self,
        hierarchy: &DeviceHierarchy,
        right_side: &dyn RightSide,
        x: &Vector,
        stop: Stop,
    ) -> Result<Vectors, Failure> {
        let Self { device, scratch, cells, supers, state, .. } = self;
        let level = &hierarchy.levels[0].level;
        let (leaves, count) = (level.leaves as usize, level.supers.count as usize);
        let mut b: Field<f64> = Default::default();
        crate::checkerboard::reset(&mut b, leaves);
        let [red, black] = &mut b;
        let halves = red[..leaves].par_iter_mut().zip(&mut black[..leaves]).with_min_len(GRAIN).enumerate();
        halves.for_each(|(l, (red, black))| right_side.cells(l, [red, black]));
        let b_supers: Vec<f64> = (0..count).map(|s| right_side.super_cell(s)).collect();
        scratch.rewind();
        let mut single = || -> Result<Place, Failure> {
            let cells = scratch.zeros::<f32>(device, field_values(leaves))?;
            Ok(Place { cells, supers: scratch.zeros::<f64>(device, count)? })
        };
        let (direction, image, gained) = (single()?, single()?, single()?.cells);
        Ok(Vectors {
            direction,
            image,
            gained,
            residual: Place::default(),
            partials: scratch.zeros::<f64>(device, leaves)?,
            magnitudes: scratch.zeros::<f64>(device, leaves)?,
            flow: scratch.zeros::<f64>(device, level.supers.runs as usize)?,
            right_side: Place { cells: scratch.field(device, &b)?, supers: scratch.fill(device, &b_supers)? },
            x: Place {
                cells: cells.join(device, &[&x.cells[0], &x.cells[1]])?,
                supers: supers.fill(device, &x.supers)?,
            },
            state: state.fill(device, &[State::start(stop)])?,
        })
    }

    /// The f64 stage's vectors, and the state it begins with.
    fn prepare_double(
        &mut self,
        vectors: &mut Vectors,
        state: &mut State,
        leaves: usize,
        supers: usize,
    ) -> Result<(), Failure> {
        let Self { device, double, .. } = self;
        double.rewind();
        let mut vector = || -> Result<Place, Failure> {
            let cells = double.zeros::<f64>(device, field_values(leaves))?;
            Ok(Place { cells, supers: double.zeros::<f64>(device, supers)? })
        };
        (vectors.direction, vectors.image, vectors.residual) = (vector()?, vector()?, vector()?);
        *state = state.anew();
        self.state.fill(&mut self.device, &[*state])?;
        Ok(())
    }

    fn download(&mut self, x: &mut Vector, leaves: usize) -> Result<(), Failure> {
        for (colour, half) in x.cells.iter_mut().enumerate() {
            self.cells.read(
                &mut self.device,
                colour * (leaves + 1) * 256,
                half.as_flattened_mut().as_flattened_mut(),
            )?;
        }
        self.supers.read(&mut self.device, 0, &mut x.supers)
    }
}

impl State {
    /// The state before the right side has been measured.
    pub fn start(stop: Stop) -> Self {
        Self {
            tolerance: stop.tolerance,
            norm: 0.0,
            residual: 0.0,
            trusted: f64::INFINITY,
            energy: 0.0,
            beta: 0.0,
            step: 0.0,
            scaled: 1.0,
            scale: 1.0,
            super_square: 0.0,
            rounding: 0.0,
            history: [0.0; HISTORY],
            max_iterations: u32::try_from(stop.max_iterations).unwrap_or(u32::MAX),
            iterations: 0,
            since: 0,
            phase: REPLACE,
            broken: 0,
            padding: 0,
        }
    }

    /// The state before a stage that goes on from here.
    fn anew(self) -> Self {
        Self { phase: REPLACE, trusted: f64::INFINITY, energy: 0.0, rounding: 0.0, broken: 0, ..self }
    }
}

/// The host's copy of the state.
struct Watch<'a> {
    stop: Stop,
    progress: Progress<'a>,
    /// Iterations reported to the callback.
    told: usize,
    cancelled: bool,
}

impl Watch<'_> {
    fn tell(&mut self, state: &State) {
        while self.told < state.iterations as usize && !self.cancelled {
            let residual = state.history[self.told % HISTORY];
            self.told += 1;
            self.cancelled = (self.progress)(self.told, residual).is_break();
        }
    }

    fn goes_on(&self, state: &State) -> bool {
        state.residual > self.stop.tolerance
            && (state.iterations as usize) < self.stop.max_iterations
            && !self.cancelled
    }
}
