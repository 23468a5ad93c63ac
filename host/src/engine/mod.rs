//! The simulation engine: turns a network into a plan of calls, runs substeps by the plan, and frames by substeps.

mod call;
mod checkpoint;
mod claimed;
mod clock;
mod cook;
mod estimate;
mod extent;
mod frames;
mod listed;
mod lock;
mod outputs;
mod plan;
mod plan_check;
mod poured;
mod record;
mod rehearsal;
mod scene;
mod simulation;
mod state;
mod stats;
mod substep;

pub use call::{Device, Level, Solve, Watcher};
pub use checkpoint::{Checkpoint, CheckpointError, latest as latest_checkpoint};
pub use cook::{CookError, CookOptions, Ended, Onlooker, cook};
pub use estimate::{Estimate, ObjectEstimate, estimate};
pub use plan::{Call, CouplingWires, Plan, SolverWires};
pub use plan_check::check as check_plan;
pub use poured::SourceEstimate;
pub use record::Record;
pub(crate) use record::damage as damage_of_stats;
pub use rehearsal::rehearse;
pub use simulation::{Simulation, Stop};
pub use state::{Clock, Holder, Slot, State};
pub use stats::{BubbleStats, Measure, ObjectStats, SubstepStats};
