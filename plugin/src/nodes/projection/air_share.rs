//! The share of a coupling whose solve another one makes: the air's rows as data.

use super::contributed::Contributed;
use super::inputs::Inputs;
use super::{Air, Solve, alike};
use crate::exchange::{BodyShares, Exchange, Field, write_bubble_memory, write_bubbles};
use meniscus_abi::Sampling;
use meniscus_abi::guest::{Call, Failure, Outcome};
use meniscus_core::coupling::constraint_bubbles;

impl Solve {
    /// Writes what the air would add to the system at `rows`, and the books of the bubbles.
    pub fn contribute(
        &self,
        exchange: &mut Exchange,
        call: &mut Call,
        air: Air,
        rows: u32,
    ) -> Result<Outcome, Failure> {
        let at = self.ports;
        alike::check(call, at)?;
        if air.gas.is_some() {
            let sentence = "compressible air needs its pressure back from the solve, which no other coupling gives: turn compressible off, or let this node solve";
            return Err(Failure::new(meniscus_abi::Status::BAD_INPUT, sentence));
        }
        let (liquids, _) = Inputs::read_all(exchange, call, at, self.optional)?;
        let [liquid] = liquids.as_slice() else {
            if liquids.is_empty() {
                return Ok(Outcome::Done);
            }
            let sentence = "contributes the air of one liquid, not of several that may enclose it together: let this node solve";
            return Err(Failure::new(meniscus_abi::Status::BAD_INPUT, sentence));
        };
        let contributed = match self.contributed {
            Some(ports) => Contributed::read(exchange, call, ports, Some(liquid.transform))?,
            None => Contributed::default(),
        };
        if contributed.shuts() {
            let sentence = "a participant shuts faces, which only a coupling that solves can keep shut: let this node solve";
            return Err(Failure::new(meniscus_abi::Status::BAD_INPUT, sentence));
        }
        let shares = BodyShares::default();
        let fields = liquid.fields(air, &shares, &[], &contributed);
        let share = exchange
            .install(|| constraint_bubbles::share(&fields))
            .map_err(|error| Failure::new(meniscus_abi::Status::FAILED, error.to_string()))?;
        let item = liquid.item;
        let center = |port, grid| Field::grid(port, Sampling::CENTER, grid).of_item(item);
        if let Some(fitted) = &share.surface {
            exchange.write_fields(call, &liquid.transform, &[center(at.surface, fitted)])?;
        }
        let region = Field::grid(at.region, Sampling::CENTER, &share.memory.cells).of_item(item);
        exchange.write_fields(call, &liquid.transform, &[region])?;
        write_bubble_memory(call, at.air, item, &share.memory, [share.taken, 0.0])?;
        write_bubbles(call, at.bubbles, item, &share.bubbles)?;
        let ids: Vec<i64> = share.rows.iter().map(|row| i64::from(row.id)).collect();
        let outflow: Vec<f64> = share.rows.iter().map(|row| row.outflow).collect();
        call.shape_table(rows, item)?;
        call.write_array(rows, item, c"id", 1, &ids)?;
        call.write_array(rows, item, c"outflow", 1, &outflow)?;
        Ok(Outcome::Done)
    }
}
