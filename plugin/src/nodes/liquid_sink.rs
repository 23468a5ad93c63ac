//! Where liquid leaves.

use super::frames;
use super::liquid_source::{PORTS, REGION, STATE, look_at_region};
use crate::exchange::{Exchange, shared_density, write_table};
use meniscus_abi::guest::{Call, Failure, Node as Instance, Outcome};
use meniscus_abi::{Node, NodeKind, Param, Stage, flags};
use meniscus_core::fluid::sources;

const ACTIVE: usize = 0;
static PARAMS: [Param; 3] = [
    Param::toggle(c"active", c"Active", true)
        .help(c"Key it to open and close the drain.")
        .houdini(c"activate"),
    frames::PARAMS[0],
    frames::PARAMS[1],
];

/// The descriptor.
pub const NODE: Node = Node::new(NodeKind::FORCE, c"meniscus.liquid_sink", c"Liquid Sink")
    .help(c"Removes the liquid that comes into a region: a drain.")
    .stages(&[Stage::INIT, Stage::PREDICT])
    .inputs(&[NodeKind::GEOMETRY], 1, 0)
    .flags(flags::IS_SOURCE)
    .ports(&PORTS)
    .params(&PARAMS);

/// An instance.
#[derive(Default)]
pub struct LiquidSink {
    exchange: Exchange,
}

impl Instance for LiquidSink {
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        if !call.on(ACTIVE) {
            return Ok(Outcome::Done);
        }
        self.exchange.begin(call)?;
        if call.stage() == Stage::INIT {
            return look_at_region(&mut self.exchange, call);
        }
        let mut held = self.exchange.liquid(call, STATE)?;
        let Some(region) = self.exchange.region(call, REGION, held.particle_separation)? else {
            return Ok(Outcome::Done);
        };
        let liquid = &mut held.liquid;
        let before = liquid.particles.len();
        let selection =
            self.exchange.install(|| sources::drain(&mut liquid.particles, |at| region.contains(at)));
        let left = before - liquid.particles.len();
        if left == 0 {
            return Ok(Outcome::Done);
        }
        liquid.volume.lose(left, before);
        held.followers.follow(&selection);
        self.exchange.write_particles(call, STATE.particles, &held.liquid.particles, &held.followers)?;
        let density = self.exchange.install(|| shared_density(&held.liquid.particles));
        write_table(call, STATE.liquid, &held, density)?;
        Ok(Outcome::Done)
    }

    fn drop_caches(&mut self) {
        *self = Self::default();
    }
}
