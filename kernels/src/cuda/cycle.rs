//! The multigrid cycle as kernel launches: the twin of `multigrid::Multigrid::precondition`.

use super::hierarchy::{DeviceHierarchy, DeviceLevel};
use super::launch::{LEAF_THREADS, LONE_THREADS, Launch, Program, ROWS, RUN_THREADS};

/// The place of the super-cells beside the two colours.
const SUPERS: u32 = 2;
/// What is done with what pushes the bodies, as in `cuda/bodies.cuh`.
const ANSWER: u32 = 0;
const MEASURE: u32 = 1;
const ANSWER_FOR_BOTH: u32 = 2;

/// Writes the launches of smoothing on one level.
struct Smoother<'a> {
    program: &'a mut Program,
    level: &'a DeviceLevel,
    state: u64,
}

impl Smoother<'_> {
    fn has_supers(&self) -> bool {
        self.level.level.supers.count > 0
    }

    fn relax(&mut self, colour: u32, between: bool) {
        let DeviceLevel { level, work, .. } = *self.level;
        let launch = Launch::new("relax_colour", level.leaves, ROWS);
        self.program.push(launch.with(level).with(work).with(colour).with(self.state));
        self.settle(colour, false, between);
    }

    /// Lets the bodies answer a sweep over a colour, or over the super-cells. `between`: over red, between two over black.
    fn settle(&mut self, place: u32, from_zero: bool, between: bool) {
        let DeviceLevel { level, work, .. } = *self.level;
        if level.bodies.degrees == 0 {
            return;
        }
        self.settle_kind(place, u32::from(from_zero), if between { ANSWER_FOR_BOTH } else { ANSWER });
        let answer = match place {
            SUPERS => Launch::new("answer_supers", 1, LONE_THREADS).with(level).with(work),
            colour => Launch::new("answer_cells", level.leaves, ROWS).with(level).with(work).with(colour),
        };
        self.program.push(answer.with(self.state));
    }

    /// Cᵀ x and, unless it is only measured, the answer of blocks and sheets.
    fn settle_kind(&mut self, place: u32, from_zero: u32, how: u32) {
        let DeviceLevel { level, work, .. } = *self.level;
        let sheets = u32::from(level.bodies.sheets.degrees > 0);
        let blocks = Launch::new("settle_bodies", level.bodies.count, RUN_THREADS);
        let sheets = Launch::new("settle_sheets", sheets, LONE_THREADS);
        for launch in [blocks, sheets] {
            let launch = launch.with(level).with(work).with(place).with(from_zero).with(how);
            self.program.push(launch.with(self.state));
        }
    }

    /// What the bodies hold back of the residual. The last answer of a sheet says it already.
    fn hold(&mut self) {
        let level = self.level.level;
        let launch = Launch::new("hold_bodies", level.bodies.count, RUN_THREADS).with(level);
        self.program.push(launch.with(self.state));
    }

    /// What pushes the bodies after a coarse correction.
    fn measure(&mut self) {
        for place in [0, SUPERS] {
            self.settle_kind(place, 0, MEASURE);
        }
    }

    fn gather(&mut self) {
        let DeviceLevel { level, work, .. } = *self.level;
        let launch = Launch::new("gather_inflow", level.supers.runs, RUN_THREADS);
        self.program.push(launch.with(level).with(work).with(self.state));
    }

    fn relax_supers(&mut self, descending: bool, from_zero: bool) {
        let DeviceLevel { level, work, totals } = *self.level;
        let launch = Launch::new("relax_supers", 1, LONE_THREADS).with(level).with(work).with(totals);
        self.program.push(launch.with(u32::from(descending)).with(u32::from(from_zero)).with(self.state));
        self.settle(SUPERS, from_zero, false);
    }

    /// `sweeps` of λ, red, black.
    fn down(&mut self, sweeps: usize, from_zero: bool) {
        let DeviceLevel { level, work, .. } = *self.level;
        for sweep in 0..sweeps {
            let first = from_zero && sweep == 0;
            if self.has_supers() {
                if !first {
                    self.gather();
                }
                self.relax_supers(false, first);
            }
            if first {
                let start = Launch::new("start_red", level.leaves, ROWS);
                self.program.push(start.with(level).with(work).with(self.state));
                self.settle(0, !self.has_supers(), false);
            } else {
                self.relax(0, sweep > 0);
            }
            self.relax(1, false);
        }
    }

    /// `sweeps` of black, red, λ.
    fn up(&mut self, sweeps: usize) {
        for sweep in 0..sweeps {
            self.relax(1, false);
            self.relax(0, sweep + 1 < sweeps);
            if self.has_supers() {
                self.gather();
                self.relax_supers(true, false);
            }
        }
    }
}

/// Appends one cycle from a zero guess: the finest level's x ≈ A⁻¹ b.
pub fn append_cycle(program: &mut Program, hierarchy: &DeviceHierarchy, state: u64) {
    append_visit(program, hierarchy, 0, true, state);
}

/// One visit to level `l`, as `Multigrid::improve`.
fn append_visit(program: &mut Program, hierarchy: &DeviceHierarchy, l: usize, from_zero: bool, state: u64) {
    if l + 1 == hierarchy.levels.len() {
        return append_coarsest(program, hierarchy, state);
    }
    let (fine, coarse, map) = (&hierarchy.levels[l], &hierarchy.levels[l + 1], hierarchy.maps[l]);
    let mut smoother = Smoother { program: &mut *program, level: fine, state };
    smoother.down(hierarchy.sweeps[l], from_zero);
    smoother.hold();
    let launch = Launch::new("restrict_cells", map.coarse_leaves, LEAF_THREADS);
    smoother.program.push(launch.with(fine.level).with(fine.work).with(map).with(coarse.work).with(state));
    if smoother.has_supers() {
        smoother.gather();
        let launch = Launch::new("restrict_supers", 1, LONE_THREADS).with(fine.level).with(fine.work);
        program.push(launch.with(fine.totals).with(map).with(coarse.work).with(state));
    }
    for visit in 0..hierarchy.visits[l] {
        append_visit(program, hierarchy, l + 1, visit == 0, state);
    }
    let launch = Launch::new("prolong", fine.level.leaves + 1, ROWS).with(fine.level).with(fine.work);
    program.push(launch.with(map).with(coarse.work).with(state));
    let mut smoother = Smoother { program, level: fine, state };
    smoother.measure();
    smoother.up(hierarchy.sweeps[l]);
}

/// The last level: solved directly, or by many sweeps if it is too large for that.
fn append_coarsest(program: &mut Program, hierarchy: &DeviceHierarchy, state: u64) {
    let last = hierarchy.levels.len() - 1;
    let level = &hierarchy.levels[last];
    match hierarchy.coarsest {
        Some(dense) => {
            let launch = Launch::new("solve_coarsest", 1, LONE_THREADS).with(level.level).with(level.work);
            program.push(launch.with(dense).with(state));
        }
        None => {
            let mut smoother = Smoother { program, level, state };
            smoother.down(hierarchy.sweeps[last], true);
            smoother.up(hierarchy.sweeps[last]);
        }
    }
}
