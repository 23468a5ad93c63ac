//! Numbers as people read them.

use crate::text::{number, rounded};

/// Beyond this many of the largest unit, numbers are written with an exponent.
const ROW: f64 = 1e6;

/// Bytes: `312 MB`, `1.4 GB`.
pub(super) fn bytes(n: f64) -> String {
    scaled(n, &[(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")], "B")
}

/// A count: `4.1 million`, `102 thousand`.
pub(super) fn count(n: f64) -> String {
    if n >= 1e15 {
        return short(n);
    }
    scaled(n, &[(1e9, "thousand million"), (1e6, "million"), (1e3, "thousand")], "").trim_end().to_owned()
}

/// A volume: `2.31 L`, `0.9 mL`.
pub(super) fn volume(cubic_metres: f64) -> String {
    match cubic_metres.abs() {
        v if v >= ROW => format!("{} m³", short(cubic_metres)),
        v if v >= 1.0 => format!("{cubic_metres:.2} m³"),
        v if v >= 1e-3 => format!("{:.2} L", cubic_metres * 1e3),
        _ => format!("{:.1} mL", cubic_metres * 1e6),
    }
}

/// A length: `5 mm`, `2.5 cm`.
pub(super) fn length(metres: f64) -> String {
    match metres.abs() {
        v if v >= 1.0 => format!("{} m", short(metres)),
        v if v >= 0.01 => format!("{} cm", short(metres * 100.0)),
        _ => format!("{} mm", short(metres * 1000.0)),
    }
}

/// Extent along each axis, in one unit.
pub(super) fn size(metres: glam::DVec3) -> String {
    let (unit, per_metre) = match metres.max_element() {
        largest if largest >= 1.0 => ("m", 1.0),
        largest if largest >= 0.01 => ("cm", 100.0),
        _ => ("mm", 1000.0),
    };
    let [x, y, z] = metres.to_array().map(|x| number(rounded(x * per_metre)));
    format!("{x} x {y} x {z} {unit}")
}

/// At most three decimals, and no zeros behind them; an exponent where there would be a row of digits.
fn short(x: f64) -> String {
    if x != 0.0 && !(1e-3..ROW).contains(&x.abs()) {
        return number(format!("{x:.2e}").parse().unwrap_or(x));
    }
    let text = format!("{x:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A time: `0:43`, `2:55:10`.
pub(super) fn duration(seconds: f64) -> String {
    let s = seconds.max(0.0).round() as u64;
    let (h, m, s) = (s / 3600, s / 60 % 60, s % 60);
    if h > 0 { format!("{h}:{m:02}:{s:02}") } else { format!("{m}:{s:02}") }
}

/// A time that is only known roughly: `26 s`, `4.4 min`, `2.9 h`.
pub(super) fn rough_time(seconds: f64) -> String {
    match seconds {
        s if s >= 3600.0 * ROW => "longer than anyone will wait".into(),
        s if s >= 36_000.0 => format!("{:.0} h", s / 3600.0),
        s if s >= 3600.0 => format!("{:.1} h", s / 3600.0),
        s if s >= 600.0 => format!("{:.0} min", s / 60.0),
        s if s >= 60.0 => format!("{:.1} min", s / 60.0),
        s if s < 0.5 => "a second or less".into(),
        s => format!("{s:.0} s"),
    }
}

fn scaled(n: f64, units: &[(f64, &str)], plain: &str) -> String {
    match units.iter().find(|u| n.abs() >= u.0) {
        Some((size, name)) if n / size >= ROW => format!("{} {name}", short(n / size)),
        Some((size, name)) if n / size >= 100.0 => format!("{:.0} {name}", n / size),
        Some((size, name)) => format!("{:.1} {name}", n / size),
        None => format!("{n:.0} {plain}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([bytes(312e6), bytes(1.44e9), bytes(12.0)], ["312 MB", "1.4 GB", "12 B"]);
        assert_eq!([count(4.13e6), count(999.0)], ["4.1 million", "999"]);
        assert_eq!([volume(2.314e-3), volume(9e-7)], ["2.31 L", "0.9 mL"]);
        assert_eq!([length(0.005), length(0.025), length(1.0)], ["5 mm", "2.5 cm", "1 m"]);
        assert_eq!([rough_time(26.4), rough_time(261.0), rough_time(10510.0)], ["26 s", "4.3 min", "2.9 h"]);
        assert_eq!([bytes(1e300), count(3.2e18)], ["1e288 TB", "3.2e18"]);
        assert_eq!([length(1e9), length(1e-320), volume(1e30)], ["1e9 m", "1e-317 mm", "1e30 m³"]);
        assert_eq!(rough_time(1e30), "longer than anyone will wait");
        assert_eq!([duration(43.2), duration(10510.0)], ["0:43", "2:55:10"]);
    }
}
