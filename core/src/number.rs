//! Writes numbers for sentences in messages.

/// A number as a person writes it: with an exponent instead of a long row of digits or zeros.
pub fn written(x: f64) -> String {
    match x.abs() {
        0.0 => "0".into(),
        1e-4..1e7 => {
            let short = format!("{x:.6}");
            let exact = x.to_string();
            // Numbers that six decimals would round are written with six significant digits.
            if exact.len() <= short.len() { exact } else { rounded(x) }
        }
        _ => {
            let exact = format!("{x:e}");
            if exact.len() <= 10 { exact } else { shorter(format!("{x:.3e}")) }
        }
    }
}

/// [`written`] with three significant digits.
pub fn roughly(x: f64) -> String {
    written(format!("{x:.2e}").parse().unwrap_or(x))
}

/// Six significant digits, without trailing zeros.
fn rounded(x: f64) -> String {
    let digits = (5 - x.abs().log10().floor() as i32).max(0) as usize;
    let text = format!("{x:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// `1.500e3` without the zeros.
fn shorter(text: String) -> String {
    match text.split_once('e') {
        Some((digits, exponent)) => {
            format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.'))
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{roughly, written};

    #[test]
    fn numbers_read_as_people_write_them() {
        for (x, text) in [
            (0.0, "0"),
            (-0.1, "-0.1"),
            (0.05, "0.05"),
            (1e6, "1000000"),
            (1e-7, "1e-7"),
            (1e-320, "1e-320"),
            (1e30, "1e30"),
            (-1e300, "-1e300"),
            (0.1 + 0.2, "0.3"),
            (1.0 / 3.0, "0.333333"),
            (123_456.789_012_3, "123457"),
            (f64::from(1e30f32), "1e30"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(written(x), text);
        }
        assert_eq!([roughly(0.012_345), roughly(98_765.0), roughly(1.5e-9)], ["0.0123", "98800", "1.5e-9"]);
    }
}
