//! The V-cycle as launches: the twin of `multigrid::Multigrid::precondition`.

use super::hierarchy::{DeviceHierarchy, DeviceLevel};
use super::launch::{LEAF_THREADS, LONE_THREADS, Launch, Program, ROWS, RUN_THREADS};

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

    fn relax(&mut self, colour: u32) {
        let DeviceLevel { level, work, .. } = *self.level;
        let launch = Launch::new("relax_colour", level.leaves, ROWS);
        self.program.push(launch.with(level).with(work).with(colour).with(self.state));
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
    }

    /// `sweeps` of λ, red, black from a zero guess.
    fn down(&mut self, sweeps: usize) {
        let DeviceLevel { level, work, .. } = *self.level;
        if self.has_supers() {
            self.relax_supers(false, true);
        }
        self.program
            .push(Launch::new("start_red", level.leaves, ROWS).with(level).with(work).with(self.state));
        self.relax(1);
        for _ in 1..sweeps {
            if self.has_supers() {
                self.gather();
                self.relax_supers(false, false);
            }
            self.relax(0);
            self.relax(1);
        }
    }

    /// `sweeps` of black, red, λ.
    fn up(&mut self, sweeps: usize) {
        for _ in 0..sweeps {
            self.relax(1);
            self.relax(0);
            if self.has_supers() {
                self.gather();
                self.relax_supers(true, false);
            }
        }
    }
}

/// Appends one V-cycle from a zero guess: the finest level's x ≈ A⁻¹ b.
pub fn append_cycle(program: &mut Program, hierarchy: &DeviceHierarchy, state: u64) {
    let last = hierarchy.levels.len() - 1;
    for l in 0..last {
        let (fine, coarse, map) = (&hierarchy.levels[l], &hierarchy.levels[l + 1], hierarchy.maps[l]);
        let mut smoother = Smoother { program, level: fine, state };
        smoother.down(hierarchy.sweeps[l]);
        let launch = Launch::new("restrict_cells", map.coarse_leaves, LEAF_THREADS);
        let launch = launch.with(fine.level).with(fine.work).with(map).with(coarse.work).with(state);
        smoother.program.push(launch);
        if smoother.has_supers() {
            smoother.gather();
            let launch = Launch::new("restrict_supers", 1, LONE_THREADS).with(fine.level).with(fine.work);
            program.push(launch.with(fine.totals).with(map).with(coarse.work).with(state));
        }
    }
    append_coarsest(program, hierarchy, state);
    for l in (0..last).rev() {
        let (fine, coarse, map) = (&hierarchy.levels[l], &hierarchy.levels[l + 1], hierarchy.maps[l]);
        let launch = Launch::new("prolong", fine.level.leaves + 1, ROWS).with(fine.level).with(fine.work);
        program.push(launch.with(map).with(coarse.work).with(state));
        Smoother { program, level: fine, state }.up(hierarchy.sweeps[l]);
    }
}

/// The last level: directly, or by many sweeps where it is too large for that.
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
            smoother.down(hierarchy.sweeps[last]);
            smoother.up(hierarchy.sweeps[last]);
        }
    }
}
