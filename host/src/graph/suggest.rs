//! "Did you mean …?"

/// The candidate nearest to `word`, if it is near enough to be a typing mistake.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = word.chars().count().div_ceil(3).clamp(1, 4);
    candidates
        .into_iter()
        .map(|c| (distance(word, c), c))
        .filter(|&(d, _)| d <= limit)
        .min_by_key(|&(d, _)| d)
        .map(|(_, c)| c)
}

/// What to add to the sentence about an unknown word: the nearest candidate, or all of them when there are few.
pub fn hint<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    let all: Vec<&str> = candidates.into_iter().collect();
    match nearest(word, all.iter().copied()) {
        Some(c) => format!("; did you mean `{c}`?"),
        None if all.is_empty() => String::new(),
        None if all.len() <= 24 => format!("; there are: {}", all.join(", ")),
        None => String::new(),
    }
}

/// Edit distance [Levenshtein 1966], letters compared without case; words beyond 64 letters never match.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) =
        (a.to_lowercase().chars().collect(), b.to_lowercase().chars().collect());
    if a.len().max(b.len()) > 64 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_fingers_are_recognised() {
        let names = ["particle_separation", "viscosity", "density"];
        assert_eq!(nearest("particle_seperation", names), Some("particle_separation"));
        assert_eq!(nearest("Density", names), Some("density"));
        assert_eq!(nearest("colour", names), None);
        assert_eq!(nearest(&"x".repeat(10_000), names), None);
    }
}
