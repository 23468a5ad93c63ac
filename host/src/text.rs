//! Text and numbers for messages: text from files, graphs and plugins is cleaned of terminal control characters.

use std::borrow::Cow;

/// Longest sentence of a plugin or a file that is passed on, letters.
pub(crate) const SENTENCE: usize = 1000;

/// Whether a character is a terminal control character, or changes the direction of the text around it.
fn steers(c: char) -> bool {
    const MARKS: [char; 5] = ['\u{61c}', '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}'];
    c.is_control()
        || ('\u{202a}'..='\u{202e}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c)
        || MARKS.contains(&c)
}

/// Text of several lines without terminal control characters.
pub(crate) fn tame(text: &str) -> Cow<'_, str> {
    let wild = |c: char| c != '\n' && steers(c);
    if !text.contains(wild) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if wild(c) { stand_in(c) } else { c }).collect())
}

/// Text on one line, cut after so many letters.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let mut line: String = text.chars().take(most).map(|c| if steers(c) { stand_in(c) } else { c }).collect();
    if text.chars().nth(most).is_some() {
        line.push('…');
    }
    line
}

fn stand_in(c: char) -> char {
    if c.is_whitespace() { ' ' } else { char::REPLACEMENT_CHARACTER }
}

/// A number as a person writes it: with an exponent instead of a long row of digits or zeros.
pub(crate) fn number(x: f64) -> String {
    match x.abs() {
        0.0 => "0".into(),
        1e-4..1e7 => {
            let exact = x.to_string();
            // A number that needs more than six decimals is written with six significant digits.
            let digits = (5 - x.abs().log10().floor() as i32).max(0) as usize;
            if exact.len() <= format!("{x:.6}").len() { exact } else { trimmed(&format!("{x:.digits$}")) }
        }
        _ => {
            let exact = format!("{x:e}");
            if exact.len() <= 10 {
                return exact;
            }
            let short = format!("{x:.3e}");
            short.split_once('e').map_or(short.clone(), |(digits, e)| format!("{}e{e}", trimmed(digits)))
        }
    }
}

/// Three significant digits.
pub(crate) fn rounded(x: f64) -> f64 {
    format!("{x:.2e}").parse().unwrap_or(x)
}

/// Decimals without trailing zeros.
fn trimmed(text: &str) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_a_terminal() {
        let wild = "a\x1b[2Jb\rc\u{9b}31md\u{202e}e\nf\tg\x07\u{7f}";
        assert_eq!(one_line(wild, 100), "a\u{fffd}[2Jb c\u{fffd}31md\u{fffd}e f g\u{fffd}\u{fffd}");
        assert_eq!(tame(wild).lines().count(), 2);
        assert!(!tame(wild).contains(|c: char| c.is_control() && c != '\n'));
        assert!(matches!(tame("two\nlines of Größe 3 µm"), Cow::Borrowed(_)));
        assert_eq!(one_line("Größe", 3), "Grö…");
        assert_eq!(one_line("Größe", 5), "Größe");
    }

    #[test]
    fn numbers_read_as_people_write_them() {
        for (x, text) in [
            (0.0, "0"),
            (-0.1, "-0.1"),
            (24.0, "24"),
            (1e6, "1000000"),
            (1e-7, "1e-7"),
            (1e-320, "1e-320"),
            (-1e300, "-1e300"),
            (0.1 + 0.2, "0.3"),
            (f64::from(1e30f32), "1e30"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(number(x), text);
        }
    }
}
