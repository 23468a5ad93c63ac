//! Constraint bubbles: trapped air keeps its volume [Goldade and Batty 2017].

use super::coupled::{self, Coupled, CoupledSolve};
use super::coupled_ports::{self, BODY, COUPLED, LIQUID};
use super::projection::{self, Air, MAX_ITERATIONS, Solve, TOLERANCE};
use meniscus_abi::guest::Call;
use meniscus_abi::{Access, Node, NodeKind, Owner, Param, Port, Role, Stage, Step, param, port};
use meniscus_core::coupling::{Gas, constraint_bubbles};

const PARAMS: &[Param] = &[
    Param::float(c"volume_gain", c"Bubble Volume Gain", projection::VOLUME_GAIN)
        .folder(c"Bubbles")
        .unit(c"1/s")
        .range(0.0, 50.0)
        .hard_min()
        .help(c"Higher: a bubble that has lost or gained volume returns sooner to the volume it should have. Most of an error is gone after 2 / gain seconds, and a steady loss is balanced completely. The surface around a bubble is fitted to its volume, too, by up to a quarter of a voxel. 0 turns both off and lets volumes drift, as the paper does."),
    Param::toggle(c"compressible", c"Compressible Air", false)
        .folder(c"Bubbles")
        .help(c"On: trapped air gives way under pressure and springs back, as in a shock absorber. Off: it keeps its volume whatever presses on it."),
    Param::float(c"air_pressure", c"Air Pressure", 101_325.0)
        .folder(c"Bubbles")
        .unit(c"Pa")
        .range(1000.0, 1_000_000.0)
        .hard_min()
        .help(c"Pressure of the open air. Higher: trapped air is stiffer, and what lies on it bounces faster.")
        .disable_when(c"{ compressible == 0 }"),
    Param::float(c"heat_ratio", c"Heat Capacity Ratio", 1.4)
        .folder(c"Bubbles")
        .range(1.0, 1.7)
        .hard_min()
        .hard_max()
        .help(c"Higher: compressed air is stiffer. 1.4 for air that has no time to lose its heat, 1 for air that has all the time.")
        .disable_when(c"{ compressible == 0 }"),
    TOLERANCE,
    MAX_ITERATIONS,
];
/// What couplings of liquids and bodies take, and the air's rows for a coupling that solves in this one's stead.
const PORTS: &[Port] =
    &Port::joined::<COUPLED, 1, { COUPLED + 1 }>(coupled_ports::contributing(), [air_rows()]);

/// The air's part of a pressure system.
const fn air_rows() -> Port {
    Port::table(Owner::PARTICIPANT, c"air_rows")
        .role(LIQUID)
        .help(c"One row for each region of air that keeps its volume. id [n] (i64): its cells in `region`. outflow [n] (f64, m^3/s): the net outflow of its faces that the solve should give, the return to its rest volume included. The row of a volume without a way out is there as well: who solves owns the null space.")
        .substep()
        .on(Stage::CONTRIBUTE, Access::WRITE)
}

/// As without a list, but for its own share, which counts where another coupling solves.
const STEPS: &[Step] = &[
    Step { role: BODY, stage: Stage::PREDICT },
    Step { role: LIQUID, stage: Stage::PREDICT },
    Step { role: BODY, stage: Stage::CONTRIBUTE },
    Step { role: LIQUID, stage: Stage::CONTRIBUTE },
    Step { role: Step::SELF, stage: Stage::SOLVE },
    Step { role: BODY, stage: Stage::CORRECT },
    Step { role: LIQUID, stage: Stage::CORRECT },
];
const ROLES: &[Role] = &[
    Role::new(c"body", c"", 0, 0, c"Solvers of bodies that the pressure moves, such as pistons: they move the liquid and the air, which push back."),
    Role::new(c"liquid", c"liquid", 1, 0, c"The liquids that enclose the air: wire in their FLIP solvers. Several push each other where they touch; they need voxels of one size, and one box."),
];

/// The descriptor.
pub const NODE: Node = Node::new(NodeKind::COUPLING, c"meniscus.constraint_bubbles", c"Constraint Bubbles")
    .help(c"Solves a liquid's pressure so that every enclosed region of air keeps its volume, without simulating the air: bottles glug, levels behind walls stay apart, trapped bubbles do not collapse. Bypass it to see the same liquid with a free surface.")
    .cites(c"GoldadeBatty2017 Batty2007 Gibou2002 Kim2007 BattyBridson2008 Hintermueller2002")
    .stages(&[Stage::INIT, Stage::CONTRIBUTE, Stage::SOLVE])
    .steps(STEPS)
    .inputs(&[NodeKind::SOLVER, NodeKind::COUPLING], 1, 0)
    .ports(PORTS)
    .params(PARAMS)
    .roles(ROLES);

/// An instance.
pub type ConstraintBubbles = Coupled<Own>;

/// What is its own.
pub enum Own {}

impl CoupledSolve for Own {
    const SOLVE: Solve = coupled::solve(PORTS, PARAMS, "constraint_bubbles", constraint_bubbles::project);
    const AIR_ROWS: Option<u32> = Some(port!(PORTS, air_rows));

    fn air(call: &Call) -> Air {
        let gas = call.on(param!(PARAMS, compressible)).then(|| Gas {
            pressure: call.number(param!(PARAMS, air_pressure)),
            heat_ratio: call.number(param!(PARAMS, heat_ratio)),
        });
        Air { volume_gain: call.number(param!(PARAMS, volume_gain)), gas }
    }
}
