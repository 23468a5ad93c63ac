//! Houdini's name patterns, with `*` and `^`.

/// Blank-separated names with `*` for any part of one; `^` leaves out. The last match decides.
pub struct Pattern<'a> {
    words: Vec<&'a str>,
}

impl<'a> Pattern<'a> {
    /// The pattern a text stands for; an empty one matches nothing.
    pub fn new(text: &'a str) -> Self {
        Self { words: text.split_whitespace().collect() }
    }

    /// Its names without `*` that are none of those there are.
    pub fn strangers(&self, known: &[&str]) -> Vec<&'a str> {
        let names = self.words.iter().map(|word| word.strip_prefix('^').unwrap_or(word));
        names.filter(|name| !name.is_empty() && !name.contains('*') && !known.contains(name)).collect()
    }

    /// Whether a name is chosen.
    pub fn matches(&self, name: &str) -> bool {
        self.matches_any(&[name])
    }

    /// Whether something is chosen that has several names.
    pub fn matches_any(&self, names: &[&str]) -> bool {
        let is_meant = |word: &str| names.iter().any(|name| glob(word, name));
        self.words.iter().fold(false, |kept, word| match word.strip_prefix('^') {
            Some(left_out) => kept && !is_meant(left_out),
            None => kept || is_meant(word),
        })
    }
}

fn glob(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(head) else { return false };
    let (parts, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    // Each part where it comes first: that leaves the most for those behind it.
    for part in parts.split('*').filter(|part| !part.is_empty()) {
        let Some((_, after)) = left.split_once(part) else { return false };
        left = after;
    }
    left.ends_with(tail)
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
        for (pattern, name, matches) in [
            ("*", "", true),
            ("a*a", "a", false),
            ("a*a", "aba", true),
            ("*ab*", "cabd", true),
            ("**b", "ab", true),
            ("a*b*b", "ab", false),
            ("a*bc*c", "abc", false),
            ("x*", "ax", false),
        ] {
            assert_eq!(Pattern::new(pattern).matches(name), matches, "{pattern} {name}");
        }
    }

    #[test]
    fn any_of_its_names_chooses_a_thing_and_leaves_it_out() {
        let names = ["glass", "cup"];
        for (pattern, is_chosen) in [
            ("cup", true),
            ("gl*", true),
            ("* ^cup", false),
            ("* ^glass", false),
            ("* ^water", true),
            ("", false),
        ] {
            assert_eq!(Pattern::new(pattern).matches_any(&names), is_chosen, "{pattern}");
        }
    }

    #[test]
    fn what_no_name_is_is_found() {
        let known = ["water", "glass"];
        assert_eq!(Pattern::new("* ^glas glass wa* watre").strangers(&known), ["glas", "watre"]);
        assert_eq!(Pattern::new("").strangers(&known), [] as [&str; 0]);
    }

    #[test]
    fn many_stars_take_no_longer() {
        let pattern = format!("{}b", "a*".repeat(60));
        assert!(!Pattern::new(&pattern).matches(&"a".repeat(100)));
    }
}
