//! How long the next substep is.

use super::state::Clock;
use crate::graph::Substeps;

/// What limits a substep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Length of a frame, s.
    pub(super) frame: f64,
    /// Substeps per frame.
    pub(super) substeps: Substeps,
    /// A coupling needs to know the length of the substep after the next.
    pub(super) looks_ahead: bool,
}

/// A substep to be taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pace {
    /// Its length, s.
    pub(super) dt: f64,
    /// Length of the one after, s, where someone looks ahead.
    pub(super) dt_next: Option<f64>,
    /// It ends the frame.
    pub(super) last: bool,
}

/// Number of equal substeps that `left` seconds are cut into: as few as the wish and the limits allow.
fn parts(left: f64, wish: f64, limits: &Limits, done: u32) -> u32 {
    let (least, most) = (limits.substeps.min.saturating_sub(done), limits.substeps.max.saturating_sub(done));
    let wanted = (left / wish * (1.0 - 1e-9)).ceil().max(1.0);
    // A wish of 0 or NaN saturates the cast; the upper limit stands.
    (wanted as u32).clamp(least.max(1), most.max(least).max(1))
}

/// The next substep, when nodes wish for substeps of at most `wish` seconds.
pub(super) fn pace(clock: &Clock, wish: f64, limits: &Limits) -> Pace {
    let left = limits.frame - clock.elapsed;
    if let Some(dt) = clock.promise.filter(|&dt| dt <= left * (1.0 + 1e-9)) {
        let last = dt >= left * (1.0 - 1e-9);
        let after = Clock { substep: clock.substep + 1, elapsed: clock.elapsed + dt, ..*clock };
        return Pace {
            dt: if last { left } else { dt },
            dt_next: limits.looks_ahead.then(|| ahead(&after, last, wish, limits)),
            last,
        };
    }
    let n = parts(left, wish, limits, clock.substep);
    let last = n == 1;
    let dt = if last { left } else { left / f64::from(n) };
    let next = if last { ahead(clock, true, wish, limits) } else { (left - dt) / f64::from(n - 1) };
    Pace { dt, dt_next: limits.looks_ahead.then_some(next), last }
}

/// Length of the substep that begins at `clock`, or of the first of the next frame.
fn ahead(clock: &Clock, next_frame: bool, wish: f64, limits: &Limits) -> f64 {
    let (left, done) =
        if next_frame { (limits.frame, 0) } else { (limits.frame - clock.elapsed, clock.substep) };
    left / f64::from(parts(left, wish, limits, done))
}

/// The shorter substep after one was rejected, or `None` when the limits allow none.
pub(super) fn shorter(clock: &Clock, rejected: f64, suggestion: f64, limits: &Limits) -> Option<f64> {
    let left = limits.frame - clock.elapsed;
    let most = limits.substeps.max.saturating_sub(clock.substep).max(1);
    let shortest = left / f64::from(most);
    if rejected <= shortest * (1.0 + 1e-9) {
        return None;
    }
    let wish = if suggestion > 0.0 && suggestion < rejected { suggestion } else { 0.5 * rejected };
    Some(wish.max(shortest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(min: u32, max: u32, looks_ahead: bool) -> Limits {
        Limits { frame: 1.0, substeps: Substeps { min, max, cfl: 1.0 }, looks_ahead }
    }

    /// The substeps of a frame under a constant wish.
    fn frame(wish: f64, limits: &Limits) -> Vec<f64> {
        let mut clock = Clock::at_frame(1);
        let mut dts = Vec::new();
        loop {
            let p = pace(&clock, wish, limits);
            dts.push(p.dt);
            clock.substep += 1;
            clock.elapsed += p.dt;
            clock.promise = p.dt_next;
            if p.last {
                return dts;
            }
        }
    }

    #[test]
    fn a_frame_is_cut_into_equal_parts_within_the_limits() {
        for (wish, expected) in
            [(10.0, 2), (0.34, 3), (0.25, 4), (0.01, 8), (0.0, 8), (f64::NAN, 2), (f64::INFINITY, 2)]
        {
            for looks_ahead in [false, true] {
                let dts = frame(wish, &limits(2, 8, looks_ahead));
                assert_eq!(dts.len(), expected, "wish {wish}");
                assert!((dts.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_promise_is_kept() {
        let l = limits(1, 8, true);
        let mut clock = Clock::at_frame(1);
        let first = pace(&clock, 0.3, &l);
        clock.substep = 1;
        clock.elapsed = first.dt;
        clock.promise = first.dt_next;
        let second = pace(&clock, 0.01, &l);
        assert_eq!(Some(second.dt), first.dt_next);
    }

    #[test]
    fn a_rejected_substep_gets_shorter_until_the_limit() {
        let clock = Clock::at_frame(1);
        let l = limits(1, 8, false);
        assert_eq!(shorter(&clock, 1.0, 0.3, &l), Some(0.3));
        assert_eq!(shorter(&clock, 1.0, f64::NAN, &l), Some(0.5));
        assert_eq!(shorter(&clock, 0.2, 0.01, &l), Some(0.125));
        assert_eq!(shorter(&clock, 0.125, 0.01, &l), None);
    }
}
