//! The whole chain against analytic results and experiments.

mod aloft;
mod archimedes;
mod basin;
mod conservation;
mod contacts;
mod dam_break;
mod doors;
mod energy;
mod falling;
mod floating;
mod forces;
mod gliding;
mod grid_scale;
mod heave;
mod held;
mod impacts;
mod moving_solids;
mod pendulum;
mod pistons;
mod pools;
mod radiation;
mod rigid_fluid;
mod settling;
mod sheets;
mod slabs;
mod sources;
mod tank_at_rest;
mod toys;
mod two_liquids;
mod waves;

use serde_json::Value;

/// Gravity of the default `gravity` node, m/s².
const GRAVITY: f64 = 9.81;

/// A number of a `stats.jsonl` record, by its JSON pointer.
fn number(record: &Value, pointer: &str) -> f64 {
    record
        .pointer(pointer)
        .and_then(Value::as_f64)
        .unwrap_or_else(|| panic!("{pointer} is missing in {record}"))
}
