//! What drives a liquid: table `forces`, which says how long a substep may be before one has been run.

use meniscus_abi::guest::{Call, Failure};

/// What forces may add to the speed of an object that nothing says more of, m/s²: standard gravity.
const UNKNOWN: f64 = 9.80665;

/// What forces and sources do to a liquid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drive {
    /// The greatest acceleration that forces give to a particle, m/s².
    pub(super) acceleration: f64,
    /// The greatest speed that sources give, m/s.
    pub(super) speed: f64,
    /// Whether forces gave every particle the same acceleration, and no second liquid acts on it. Liquid that
    /// nothing touches then flies on a parabola.
    pub(super) alike: bool,
}

impl Drive {
    /// As it was announced, or last was.
    pub(super) fn read(call: &Call, port: u32) -> Self {
        let said = |what| said(call, port, what);
        let alike = said("alike") == Some(1.0);
        let acceleration = said("acceleration").unwrap_or(UNKNOWN);
        Self { acceleration, speed: said("speed").unwrap_or(0.0), alike }
    }

    /// The strongest of all items'.
    pub(super) fn of_all(call: &Call, port: u32) -> Self {
        let said = |what| (0..call.items(port)).filter_map(move |item| said_of(call, port, item, what));
        let acceleration = said("acceleration").reduce(f64::max).unwrap_or(UNKNOWN);
        Self { acceleration, speed: said("speed").fold(0.0, f64::max), alike: false }
    }

    /// Writes what forces gave an item in this substep, where it wants to know.
    pub(super) fn write_of(self, call: &mut Call, port: u32, item: u32) -> Result<(), Failure> {
        if call.table(port, item).is_none() {
            return Ok(());
        }
        call.shape_table(port, item)?;
        self.write_all(call, port, item)
    }

    pub(super) fn write(self, call: &mut Call, port: u32) -> Result<(), Failure> {
        call.shape_table(port, 0)?;
        self.write_all(call, port, 0)
    }

    fn write_all(self, call: &mut Call, port: u32, item: u32) -> Result<(), Failure> {
        call.write_array(port, item, c"acceleration", 1, &[self.acceleration])?;
        call.write_array(port, item, c"speed", 1, &[self.speed])?;
        call.write_array(port, item, c"alike", 1, &[f64::from(u8::from(self.alike))])
    }
}

/// A force that is about to act adds what it will give at most, m/s², to what others have said. An object that has made
/// no table for it does not want to know.
pub(super) fn announce_acceleration(call: &mut Call, port: u32, acceleration: f64) -> Result<(), Failure> {
    if call.table(port, 0).is_none() {
        return Ok(());
    }
    let others = said(call, port, "acceleration").unwrap_or(0.0);
    let speed = Drive::read(call, port).speed;
    Drive { acceleration: others + acceleration, speed, alike: false }.write(call, port)
}

/// A source that is about to give liquid a speed, m/s, says so.
pub(super) fn announce_speed(call: &mut Call, port: u32, speed: f64) -> Result<(), Failure> {
    let others = said(call, port, "speed").unwrap_or(0.0);
    let acceleration = said(call, port, "acceleration");
    call.shape_table(port, 0)?;
    if let Some(acceleration) = acceleration {
        call.write_array(port, 0, c"acceleration", 1, &[acceleration])?;
    }
    call.write_array(port, 0, c"speed", 1, &[others.max(speed)])
}

fn said(call: &Call, port: u32, what: &str) -> Option<f64> {
    said_of(call, port, 0, what)
}

fn said_of(call: &Call, port: u32, item: u32, what: &str) -> Option<f64> {
    let said = call.table(port, item)?.first::<f64>(what);
    said.filter(|a| a.is_finite() && *a >= 0.0)
}
