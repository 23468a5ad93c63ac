//! Air that can be compressed: a bubble is a spring.

use super::identity::Identities;
use crate::coupling::fields::LiquidFields;

/// Share of the rate at which volumes are corrected that is left where air is a spring. What measures a bubble errs by a few
/// hundredths of a voxel, differently at every place of a wall; a control as fast as the spring would drive it with that.
pub(crate) const SLOWER: f64 = 0.04;

/// The gas law of one bubble, linear over a drift: it grows by `compliance` (`level` − λ), m³/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spring {
    /// m³/(s Pa)
    pub(crate) compliance: f64,
    /// Pa
    pub(crate) level: f64,
}

impl Spring {
    /// Rate at which the bubble grows at a pressure λ, m³/s.
    pub(crate) fn growth(&self, pressure: f64) -> f64 {
        self.compliance * (self.level - pressure)
    }
}

/// The springs of the air regions that have a row.
///
/// A bubble of which V₀ had the pressure of open air has, at volume V, λ = p₀ ((V₀/V)^γ − 1) and stiffness K = γ (p₀ + λ) / V.
/// The pressure over the kick is that of the mean volume ¼ V₋ + ½ V + ¼ V₊ of the last drift, now, and the next one
/// [Newmark 1959, β = ¼], so that no step length adds energy or takes any:
/// λ = λ(V) − ¼ K (ΔV₊ − ΔV₋).
pub(crate) fn springs(fields: &LiquidFields, identities: &Identities, rowed: &[bool]) -> Vec<Option<Spring>> {
    let spring = |r: usize| {
        let (gas, book) = (fields.gas?, identities.regions[r].book);
        let is_one = rowed[r] && book.rest > 0.0 && book.gas > 0.0;
        is_one.then(|| {
            let pressure = gas.pressure * (book.gas / book.rest).powf(gas.heat_ratio);
            let stiffness = gas.heat_ratio * pressure / book.rest;
            let before = fields.pressed.get(r).copied().unwrap_or(0.0);
            let level = pressure - gas.pressure + 0.25 * stiffness * book.last - before;
            Spring { compliance: 4.0 / (stiffness * fields.drift), level }
        })
    };
    (0..rowed.len()).map(spring).collect()
}

/// Enters into the books how much each bubble grows in the drift that follows, m³.
pub(crate) fn enter(springs: &[Option<Spring>], identities: &mut Identities, growth: impl Fn(usize) -> f64) {
    for (r, identity) in identities.regions.iter_mut().enumerate().filter(|(r, _)| springs[*r].is_some()) {
        let book = &mut identity.book;
        book.last = growth(r).max(-0.5 * book.rest);
        book.rest += book.last;
    }
}
