//! The control that brings volumes back to what they should be.

/// Gains k_p (1/s) and k_i (1/s²) of the control of [Kim et al. 2007, Eq. 5] that puts an error right at `rate`, 1/s, without
/// taking more than there is in a step of `dt` seconds. k_i = k_p²/4 damps critically; theirs, k_p²/16, is slower to answer
/// what keeps coming.
pub fn gains(rate: f64, dt: f64) -> [f64; 2] {
    let k_p = rate.min(1.0 / dt);
    [k_p, k_p * k_p / 4.0]
}
