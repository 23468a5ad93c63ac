//! The PI controller that returns volumes to what they should be.

/// Gains k_p (1/s) and k_i (1/s²) of the control of [Kim et al. 2007, Eq. 5]. The error decays at `rate`, 1/s, and one
/// step of `dt` seconds never corrects more than the whole error. k_i = k_p²/4 damps critically; their k_p²/16 responds
/// more slowly to a steady disturbance.
pub fn gains(rate: f64, dt: f64) -> [f64; 2] {
    let k_p = rate.min(1.0 / dt);
    [k_p, k_p * k_p / 4.0]
}
