//! The launches of an iteration: the twins of the stages in [`crate::conjugate_gradients`], with every scalar on the
//! device.

use super::cycle::append_cycle;
use super::hierarchy::{DeviceHierarchy, DeviceLevel};
use super::launch::{LEAF_THREADS, LONE_THREADS, Launch, Program, RUN_THREADS};
use super::layout::{LowRank, REPLACE, RUN, Vector};

/// The precision of the recurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// f32 vectors under a true residual in f64.
    Single,
    /// f64 vectors, where f32 does not gain.
    Double,
}

/// The addresses of a solve's vectors.
#[derive(Clone, Copy, Debug, Default)]
pub struct Vectors {
    /// The right side, f64.
    pub right_side: Vector,
    /// The solution, f64.
    pub x: Vector,
    /// Sum of the corrections to x since the last true residual, cells, f32.
    pub gained: u64,
    /// f32 or f64.
    pub direction: Vector,
    /// f32 or f64.
    pub image: Vector,
    /// f64 stage only; in the f32 stage this is the cycle's right side.
    pub residual: Vector,
    /// One a leaf.
    pub partials: u64,
    /// One per leaf: the size of the operator's rounding errors, up to a factor; f32 stage only.
    pub magnitudes: u64,
    /// One a run of super-cells' contacts.
    pub flow: u64,
    /// [`super::layout::State`].
    pub state: u64,
}

/// Writes the launches of a stage.
pub struct Stages<'a> {
    /// The preconditioner, the operator on its finest level.
    pub hierarchy: &'a DeviceHierarchy,
    /// The attached masses.
    pub masses: LowRank,
    /// The vectors.
    pub vectors: Vectors,
}

impl Stages<'_> {
    fn finest(&self) -> &DeviceLevel {
        &self.hierarchy.levels[0]
    }

    /// A launch whose first argument is the finest level; one block per leaf and `more` blocks.
    fn leaves(&self, kernel: &'static str, more: u32) -> Launch {
        let level = self.finest().level;
        Launch::new(kernel, level.leaves + more, LEAF_THREADS).with(level)
    }

    /// A launch of one block whose first arguments are the finest level and the partial sums.
    fn scalars(&self, kernel: &'static str) -> Launch {
        Launch::new(kernel, 1, LONE_THREADS).with(self.finest().level).with(self.vectors.partials)
    }

    /// ‖b‖.
    pub fn measure_right_side(&self) -> Program {
        let v = &self.vectors;
        let mut program = Program::default();
        program.push(self.leaves("square_right_side", 0).with(v.right_side).with(v.partials));
        program.push(self.scalars("measure_right_side").with(v.right_side.supers).with(v.state));
        program
    }

    /// The operator on the direction, and the step along it.
    #[cfg(test)]
    pub fn image(&self, stage: Stage) -> Program {
        let mut program = Program::default();
        self.append_image(&mut program, stage);
        program
    }

    /// Adds the corrections to x, and computes the true residual.
    pub fn replace(&self, stage: Stage) -> Program {
        let mut program = Program::default();
        self.append_replacement(&mut program, stage);
        program
    }

    /// One iteration, with a residual replacement when it is due.
    pub fn iterate(&self, stage: Stage) -> Program {
        let mut program = Program::default();
        append_cycle(&mut program, self.hierarchy, self.vectors.state);
        self.append_direction(&mut program, stage);
        self.append_image(&mut program, stage);
        self.append_update(&mut program, stage);
        self.append_replacement(&mut program, stage);
        program
    }

    /// p = z + β p.
    fn append_direction(&self, program: &mut Program, stage: Stage) {
        let (v, work) = (&self.vectors, self.finest().work);
        let residual_supers = match stage {
            Stage::Single => {
                program.push(self.leaves("dot_single", 0).with(work).with(v.partials).with(v.state));
                work.b_super
            }
            Stage::Double => {
                let launch = self.leaves("dot_double", 0).with(v.residual).with(work);
                program.push(launch.with(v.partials).with(v.state));
                v.residual.supers
            }
        };
        program.push(self.scalars("choose_direction").with(residual_supers).with(work.x_super).with(v.state));
        let turn = if stage == Stage::Single { "turn_single" } else { "turn_double" };
        program.push(self.leaves(turn, 1).with(work).with(v.direction).with(v.state));
    }

    /// q = A p and the step.
    fn append_image(&self, program: &mut Program, stage: Stage) {
        let v = &self.vectors;
        let (apply, gather) = match stage {
            Stage::Single => ("apply_single", "gather_flow_single"),
            Stage::Double => ("apply_double", "gather_flow_double"),
        };
        self.append_masses(program, v.direction, stage, RUN);
        let launch = self.leaves(apply, 0).with(self.masses).with(v.direction).with(v.image);
        let launch = match stage {
            Stage::Single => launch.with(v.partials).with(v.magnitudes),
            Stage::Double => launch.with(v.partials),
        };
        program.push(launch.with(v.state));
        if self.append_flow(program, gather, v.direction, RUN) {
            let launch = Launch::new("apply_supers", 1, LONE_THREADS).with(self.finest().level);
            let launch = launch.with(self.masses).with(v.direction.supers).with(v.flow);
            program.push(launch.with(v.image.supers).with(v.state));
        }
        let launch = self.scalars("choose_step").with(v.direction.supers).with(v.image.supers);
        program.push(launch.with(v.state));
    }

    /// W Cᵀ x of the attached masses.
    fn append_masses(&self, program: &mut Program, x: Vector, stage: Stage, phase: u32) {
        if self.masses.columns == 0 {
            return;
        }
        let dot = if stage == Stage::Single { "dot_columns_single" } else { "dot_columns_double" };
        let launch = Launch::new(dot, self.masses.columns, RUN_THREADS).with(self.finest().level);
        program.push(launch.with(self.masses).with(x).with(phase).with(self.vectors.state));
        let launch = Launch::new("weigh_columns", 1, LONE_THREADS).with(self.masses);
        program.push(launch.with(phase).with(self.vectors.state));
    }

    /// Flow out of super-cells; returns whether there are any.
    fn append_flow(&self, program: &mut Program, kernel: &'static str, x: Vector, phase: u32) -> bool {
        let (v, level) = (&self.vectors, self.finest().level);
        let launch = Launch::new(kernel, level.supers.runs, RUN_THREADS).with(level).with(x);
        program.push(launch.with(v.flow).with(phase).with(v.state));
        level.supers.count > 0
    }

    /// A step along p.
    fn append_update(&self, program: &mut Program, stage: Stage) {
        let (v, work) = (&self.vectors, self.finest().work);
        let (update, measure, residual) = match stage {
            Stage::Single => ("update_single", "measure_single", work.b_super),
            Stage::Double => ("update_double", "measure_double", v.residual.supers),
        };
        let launch = self.leaves(update, 1).with(v.direction).with(v.image);
        let launch = match stage {
            Stage::Single => launch.with(v.gained),
            Stage::Double => launch.with(v.residual),
        };
        program.push(launch.with(work).with(v.x).with(v.partials).with(v.state));
        let launch = self.scalars(measure).with(residual);
        let launch = if stage == Stage::Single { launch.with(v.magnitudes) } else { launch };
        program.push(launch.with(v.state));
    }

    /// b − A x, and the decision that follows from its length.
    fn append_replacement(&self, program: &mut Program, stage: Stage) {
        let (v, work) = (&self.vectors, self.finest().work);
        let (residual, judge, out) = match stage {
            Stage::Single => {
                ("residual_single", "judge_single", Vector { cells: work.b, supers: work.b_super })
            }
            Stage::Double => ("residual_double", "judge_double", v.residual),
        };
        if stage == Stage::Single {
            program.push(self.leaves("fold", 0).with(v.gained).with(v.x).with(v.state));
        }
        self.append_masses(program, v.x, Stage::Double, REPLACE);
        let launch = self.leaves(residual, 0).with(self.masses).with(v.right_side).with(v.x);
        program.push(launch.with(out).with(v.partials).with(v.state));
        if self.append_flow(program, "gather_flow_double", v.x, REPLACE) {
            let launch = Launch::new("residual_supers", 1, LONE_THREADS).with(self.finest().level);
            let launch = launch.with(self.masses).with(v.right_side.supers).with(v.x.supers).with(v.flow);
            program.push(launch.with(out.supers).with(u32::from(stage == Stage::Single)).with(v.state));
        }
        program.push(self.scalars(judge).with(v.state));
        if stage == Stage::Double {
            let launch = self.leaves("restart", 1).with(v.residual).with(v.direction).with(work);
            program.push(launch.with(v.state));
            program.push(Launch::new("resume", 1, 1).with(v.state));
        }
    }
}
