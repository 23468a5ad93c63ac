//! Decides the length of the next substep.

use super::state::Clock;
use crate::graph::Substeps;
use meniscus_abi::PROMISED;

/// The limits of a substep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Length of a frame, s.
    pub(super) frame: f64,
    /// Substeps per frame.
    pub(super) substeps: Substeps,
}

/// A substep to be taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pace {
    /// Its length, s.
    pub(super) dt: f64,
    /// Length promised for the one after, s: forces act until the middle of that one.
    pub(super) dt_next: f64,
    /// It ends the frame.
    pub(super) last: bool,
}

/// How many times longer a substep may be than the one before it.
const GROWTH: f64 = 2.0;

/// Number of equal substeps that `left` seconds are cut into: as few as the wish and the limits allow.
fn parts(left: f64, wish: f64, limits: &Limits, done: u32) -> u32 {
    let (least, most) = (limits.substeps.min.saturating_sub(done), limits.substeps.max.saturating_sub(done));
    let wanted = (left / wish * (1.0 - 1e-9)).ceil().max(1.0);
    // A wish of 0 or NaN saturates the cast, so the upper limit applies.
    (wanted as u32).clamp(least.max(1), most.max(least).max(1))
}

/// The next substep, when nodes wish for substeps of at most `wish` seconds.
///
/// It has the promised length, unless that has become far too long. The length of the one after it is promised now.
pub(super) fn pace(clock: &Clock, wish: f64, limits: &Limits) -> Pace {
    let left = limits.frame - clock.elapsed;
    let wished = left / f64::from(parts(left, wish, limits, clock.substep));
    let promised = clock.promise.filter(|&dt| dt <= left * (1.0 + 1e-9));
    let longest = PROMISED * wish.max(wished);
    let dt = promised.filter(|&dt| longest.is_nan() || dt <= longest).unwrap_or(wished);
    ahead(clock, dt, wish, limits)
}

/// The next substep, whatever was promised, of at most `wish` seconds.
pub(super) fn cut(clock: &Clock, wish: f64, limits: &Limits) -> Pace {
    let left = limits.frame - clock.elapsed;
    ahead(clock, left / f64::from(parts(left, wish, limits, clock.substep)), wish, limits)
}

/// A substep of `dt` seconds, and what is promised after it.
///
/// Velocities belong to the middle of the promised substep. If this one is shorter, the next one ends no earlier than
/// the promised one would have; forces then have at least half a substep to act.
fn ahead(clock: &Clock, dt: f64, wish: f64, limits: &Limits) -> Pace {
    let left = limits.frame - clock.elapsed;
    let last = dt >= left * (1.0 - 1e-9);
    let dt = if last { left } else { dt };
    let (left, done) = if last { (limits.frame, 0) } else { (left - dt, clock.substep + 1) };
    let parts = parts(left, wish.min(GROWTH * dt), limits, done);
    let broken = clock.promise.map_or(0.0, |promised| promised - dt);
    let most = if broken > 0.0 { (left / broken).max(1.0) as u32 } else { u32::MAX };
    Pace { dt, dt_next: left / f64::from(parts.min(most)), last }
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

    fn limits(min: u32, max: u32) -> Limits {
        Limits { frame: 1.0, substeps: Substeps { min, max, cfl: 1.0 } }
    }

    /// The substeps of `frames` frames; the wish may depend on the time.
    fn substeps(frames: i32, wish: impl Fn(f64) -> f64, limits: &Limits) -> Vec<Vec<f64>> {
        let mut clock = Clock::at_frame(1);
        let mut all = Vec::new();
        for frame in 0..frames {
            let mut dts = Vec::new();
            loop {
                let p = pace(&clock, wish(f64::from(frame) + clock.elapsed), limits);
                dts.push(p.dt);
                clock.substep = if p.last { 0 } else { clock.substep + 1 };
                clock.elapsed = if p.last { 0.0 } else { clock.elapsed + p.dt };
                clock.promise = Some(p.dt_next);
                if p.last {
                    break;
                }
            }
            all.push(dts);
        }
        all
    }

    #[test]
    fn a_frame_is_cut_into_equal_parts_within_the_limits() {
        for (wish, expected) in
            [(10.0, 2), (0.34, 3), (0.25, 4), (0.01, 8), (0.0, 8), (f64::NAN, 2), (f64::INFINITY, 2)]
        {
            for dts in substeps(2, |_| wish, &limits(2, 8)) {
                assert_eq!(dts.len(), expected, "wish {wish}");
                assert!((dts.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_promise_is_kept_unless_it_has_become_far_too_long() {
        let l = limits(1, 32);
        let first = pace(&Clock::at_frame(1), 0.3, &l);
        let clock =
            Clock { substep: 1, elapsed: first.dt, promise: Some(first.dt_next), ..Clock::at_frame(1) };
        assert_eq!(pace(&clock, 0.8 * first.dt_next, &l).dt, first.dt_next);
        assert!(pace(&clock, 0.3 * first.dt_next, &l).dt <= 0.3 * first.dt_next + 1e-12);
    }

    #[test]
    fn substeps_grow_at_most_twofold_and_fill_their_frames() {
        let wish = |time: f64| if time < 2.0 { 0.11 } else { 5.0 };
        let frames = substeps(8, wish, &limits(1, 16));
        for dts in &frames {
            assert!((dts.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{dts:?}");
        }
        let all: Vec<f64> = frames.concat();
        assert!(all.windows(2).all(|d| d[1] <= 2.0 * d[0] * (1.0 + 1e-9)), "{all:?}");
        assert_eq!(*all.last().unwrap(), 1.0);
    }

    #[test]
    fn forces_always_have_time_to_act_and_act_for_all_time() {
        let l = limits(1, 40);
        let mut clock = Clock::at_frame(1);
        let (mut lead, mut time, mut kicks, mut seed) = (0.0, 0.0, 0.0, 7u64);
        for _ in 0..2000 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let wish = 2f64.powf(-((seed >> 40) as f64 / (1u64 << 24) as f64) * 5.0);
            let p = if seed >> 63 == 0 { pace(&clock, wish, &l) } else { cut(&clock, wish, &l) };
            let kick = p.dt + 0.5 * p.dt_next - lead;
            assert!(kick > 0.49 * p.dt, "{kick} in {p:?} after {clock:?}");
            (time, kicks, lead) = (time + p.dt, kicks + kick, 0.5 * p.dt_next);
            clock.promise = Some(p.dt_next);
            (clock.substep, clock.elapsed) =
                if p.last { (0, 0.0) } else { (clock.substep + 1, clock.elapsed + p.dt) };
        }
        assert!((kicks - time - lead).abs() < 1e-9 * time);
    }

    #[test]
    fn a_rejected_substep_gets_shorter_until_the_limit() {
        let clock = Clock::at_frame(1);
        let l = limits(1, 8);
        assert_eq!(shorter(&clock, 1.0, 0.3, &l), Some(0.3));
        assert_eq!(shorter(&clock, 1.0, f64::NAN, &l), Some(0.5));
        assert_eq!(shorter(&clock, 0.2, 0.01, &l), Some(0.125));
        assert_eq!(shorter(&clock, 0.125, 0.01, &l), None);
    }
}
