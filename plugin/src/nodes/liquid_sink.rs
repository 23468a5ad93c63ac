//! The sink: removes liquid from a region.

use super::flip_step::bound_everywhere;
use super::liquid_source::{REGION, STATE, STATE_AND_REGION, look_at_region};
use super::{frames, liquid_ports as ports};
use crate::exchange::{Exchange, shared_density, write_table};
use glam::DVec3;
use meniscus_abi::guest::{Call, Failure, Node as Instance, Outcome};
use meniscus_abi::{Access, Node, NodeKind, Owner, Param, Port, Stage, flags, param, port};
use meniscus_core::fluid::population::sources;
use meniscus_core::fluid::population::thinning::{Shares, fill_where};

/// How far around the region, in voxels, thinned cells are filled up.
const REACH: f64 = 3.0;

const DRAIN: [Port; 1] = [ports::forces(Owner::OBJECT).on(Stage::PREDICT, Access::READ)];
const PORTS: &[Port] = &Port::joined::<5, 1, 6>(STATE_AND_REGION, DRAIN);

const PARAMS: &[Param] = &[
    Param::toggle(c"active", c"Active", true)
        .help(c"Key it to open and close the drain.")
        .houdini(c"activate"),
    frames::START_FRAME,
    frames::END_FRAME,
];

/// The descriptor.
pub const NODE: Node = Node::new(NodeKind::FORCE, c"meniscus.liquid_sink", c"Liquid Sink")
    .help(c"Removes the liquid that enters a region: a drain.")
    .stages(&[Stage::INIT, Stage::PREDICT])
    .inputs(&[NodeKind::GEOMETRY], 1, 0)
    .flags(flags::IS_SOURCE)
    .ports(PORTS)
    .params(PARAMS);

/// An instance.
#[derive(Default)]
pub struct LiquidSink {
    exchange: Exchange,
}

impl Instance for LiquidSink {
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        if !call.on(param!(PARAMS, active)) {
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
        self.exchange.thinned_surface(call, STATE.surface, &mut held.liquid)?;
        let (h, per_voxel) = (held.liquid.transform.voxel_size(), held.per_voxel());
        let (low, high) = region.bounds();
        // In thinned cells few particles stand for many, so the region would cut coarsely through them.
        let near = |at: DVec3| {
            let within = |step: i32| (step as f64 - 1.0) * REACH * h;
            let around = |n: i32| at + DVec3::new(within(n / 9), within(n / 3 % 3), within(n % 3));
            let far = at.cmplt(low - REACH * h).any() || at.cmpgt(high + REACH * h).any();
            !far && (0..27).any(|n| region.contains(around(n)))
        };
        let liquid = &mut held.liquid;
        let filled = self.exchange.install(|| fill_where(liquid, per_voxel, near));
        let mut shares = Shares::of(liquid, per_voxel);
        let before = liquid.particles.len();
        let all = shares.total(before);
        let drained =
            self.exchange.install(|| sources::drain(&mut liquid.particles, |at| region.contains(at)));
        if liquid.particles.len() == before && filled.is_identity(before) {
            return Ok(Outcome::Done);
        }
        self.exchange.install(|| shares.follow(&drained));
        liquid.volume.keep(shares.total(liquid.particles.len()), all);
        self.exchange.install(|| held.followers.follow(&filled.then(&drained)));
        self.exchange.write_particles(call, STATE.particles, &held.liquid.particles, &held.followers)?;
        let density = self.exchange.install(|| shared_density(&held.liquid.particles));
        write_table(call, STATE.liquid, &held, density)?;
        Ok(Outcome::Done)
    }

    fn suggest_dt(&mut self, call: &mut Call) -> Result<Option<f64>, Failure> {
        if !call.on(param!(PARAMS, active)) {
            return Ok(None);
        }
        bound_everywhere(&mut self.exchange, call, STATE, port!(PORTS, forces))
    }

    fn drop_caches(&mut self) {
        *self = Self::default();
    }
}
