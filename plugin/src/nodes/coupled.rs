//! The couplings of liquids and bodies: they differ in their projection, and in what they do with air.

use super::coupled_ports::{BODY, LIQUID};
use super::projection::{
    self, Air, Caches, ContributedPorts, OptionalPorts, Project, Solve, SolveParams, SolvePorts,
};
use crate::exchange::{BodyPorts, Exchange};
use meniscus_abi::guest::{Call, Failure, Node as Instance, Outcome};
use meniscus_abi::{Param, Port, Stage};
use std::marker::PhantomData;

/// The solve of a node with these ports, those of [`coupled_ports`](super::coupled_ports) among them, and parameters.
pub const fn solve(ports: &[Port], params: &[Param], name: &'static str, project: Project) -> Solve {
    Solve {
        ports: SolvePorts::of_role(ports, LIQUID),
        optional: OptionalPorts::of_role(ports, LIQUID),
        params: SolveParams::of(params),
        bodies: Some(BodyPorts::of_role(ports, BODY)),
        contributed: Some(ContributedPorts::of_role(ports, BODY)),
        name,
        project,
    }
}

/// What is a coupling's own.
pub trait CoupledSolve {
    /// Its ports, parameters and projection.
    const SOLVE: Solve;

    /// The port of the rows of air that it hands to a coupling around it; `None`: it hands none.
    const AIR_ROWS: Option<u32> = None;

    /// How air behaves: none but chambers is kept.
    fn air(_: &Call) -> Air {
        Air { volume_gain: projection::VOLUME_GAIN, gas: None }
    }
}

/// A node of such a coupling at work.
pub struct Coupled<K> {
    exchange: Exchange,
    caches: Caches,
    kind: PhantomData<K>,
}

impl<K> Default for Coupled<K> {
    fn default() -> Self {
        Self { exchange: Exchange::default(), caches: Caches::default(), kind: PhantomData }
    }
}

impl<K: CoupledSolve> Instance for Coupled<K> {
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        if call.stage() == Stage::INIT {
            projection::alike::check(call, K::SOLVE.ports)?;
            return Ok(Outcome::Done);
        }
        self.exchange.begin(call)?;
        let air = K::air(call);
        match K::AIR_ROWS {
            Some(rows) if call.stage() == Stage::CONTRIBUTE => {
                K::SOLVE.contribute(&mut self.exchange, call, air, rows)
            }
            _ => K::SOLVE.run(&mut self.exchange, &mut self.caches, call, air),
        }
    }

    fn drop_caches(&mut self) {
        *self = Self::default();
    }
}
