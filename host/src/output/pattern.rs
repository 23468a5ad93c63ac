//! Houdini's patterns of names.

/// Blank-separated names with `*` for any part of one; `^` leaves out. The last match decides.
pub struct Pattern<'a> {
    words: Vec<&'a str>,
}

impl<'a> Pattern<'a> {
    /// The pattern a text stands for; an empty one matches nothing.
    pub fn new(text: &'a str) -> Self {
        Self { words: text.split_whitespace().collect() }
    }

    /// Whether a name is chosen.
    pub fn matches(&self, name: &str) -> bool {
        self.words.iter().fold(false, |kept, word| match word.strip_prefix('^') {
            Some(left_out) => kept && !glob(left_out, name),
            None => kept || glob(word, name),
        })
    }
}

fn glob(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, tail)) => match name.strip_prefix(head) {
            None => false,
            Some(rest) => {
                rest.char_indices().map(|(i, _)| i).chain([rest.len()]).any(|i| glob(tail, &rest[i..]))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_choose_as_in_houdini() {
        let p = Pattern::new("* ^C0 ^rest* restP");
        assert!(p.matches("v") && p.matches("id") && p.matches("restP"));
        assert!(!p.matches("C0") && !p.matches("restLength"));
        assert!(!Pattern::new("").matches("v"));
        assert!(Pattern::new("a*c*e").matches("abcde") && !Pattern::new("a*c*e").matches("abde"));
    }
}
