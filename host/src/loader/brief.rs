//! Cleans and shortens texts that plugins provide.

use crate::text::one_line;

/// Most bytes of a name: of a node type, a parameter, a port.
pub(super) const NAME_LETTERS: usize = 128;
/// Most bytes of a help text.
pub(super) const HELP_LETTERS: usize = 8192;

/// The text without control letters, cut to so many bytes.
pub(super) fn brief(text: &str, most: usize) -> String {
    let end = text.floor_char_boundary(most);
    let plain = |c: char| if c.is_control() && c != '\n' { ' ' } else { c };
    let cut: String = text[..end].chars().map(plain).collect();
    if end < text.len() { format!("{cut}…") } else { cut }
}

/// A name that can be written and read: short, without control letters.
pub(super) fn name(text: &str, what: &str) -> Result<String, String> {
    let shown = || one_line(text, 24);
    if text.len() > NAME_LETTERS {
        return Err(format!(
            "the name of {what}, `{}`, is {} bytes long, {NAME_LETTERS} at most",
            shown(),
            text.len()
        ));
    }
    if text.chars().any(char::is_control) {
        return Err(format!("the name of {what}, `{}`, has control letters", shown()));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_plain() {
        assert_eq!(name("vel", "a port"), Ok("vel".into()));
        assert!(name(&"x".repeat(1 << 20), "a port").is_err_and(|e| e.len() < 100 && e.contains("1048576")));
        assert!(name("a\nb", "a port").is_err_and(|e| !e.contains('\n')));
        assert!(name("a\u{1b}[2J", "a port").is_err_and(|e| !e.contains('\u{1b}')));
        assert_eq!(brief("tön\u{7}e", 100), "tön e");
        assert_eq!(brief("töne", 2), "t…");
    }
}
