//! What a wedge or a job varies: values of parameters, and all their combinations.

use std::collections::BTreeSet;

/// Most variants of a wedge.
const MOST: usize = 1000;
/// Letters of a folder's name after its number.
const LETTERS: usize = 60;

/// One cook of a wedge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    /// From 1 on.
    pub(super) number: usize,
    /// What it sets, each `node.param=value`.
    pub(super) set: Vec<String>,
    /// What sets it apart, in words.
    pub(super) title: String,
    /// Name of its folder: its number and what sets it apart.
    pub(super) folder: String,
}

/// A parameter and its values.
struct Varied {
    key: String,
    values: Vec<String>,
}

/// All combinations; the last parameter changes fastest. `vary` are `node.param=a,b,c`, `seeds` are `node.param=count`. The error
/// is one sentence.
pub(super) fn variants(vary: &[String], seeds: &[String]) -> Result<Vec<Variant>, String> {
    let mut all: Vec<Varied> = vary.iter().map(|text| listed(text)).collect::<Result<_, _>>()?;
    for text in seeds {
        all.push(counted(text)?);
    }
    let mut keys = BTreeSet::new();
    if let Some(twice) = all.iter().find(|v| !keys.insert(v.key.as_str())) {
        return Err(format!("`{}` is varied twice; give all its values at once", twice.key));
    }
    let count = all.iter().try_fold(1usize, |count, v| count.checked_mul(v.values.len()));
    let Some(count) = count.filter(|&count| count <= MOST) else {
        return Err(format!("these are more than {MOST} combinations; vary less at a time"));
    };
    Ok((0..count).map(|place| variant(place, count, &all)).collect())
}

fn variant(place: usize, count: usize, all: &[Varied]) -> Variant {
    let (mut rest, mut chosen) = (place, Vec::new());
    for varied in all.iter().rev() {
        chosen.push((varied, &varied.values[rest % varied.values.len()]));
        rest /= varied.values.len();
    }
    chosen.reverse();
    let words: Vec<String> = chosen.iter().map(|(v, value)| format!("{} {value}", name(v, all))).collect();
    let title = words.join(", ");
    let plain = |c: char| if c.is_ascii_alphanumeric() || ".-+".contains(c) { c } else { '_' };
    let label = title.replace(", ", "_").replace(['[', ']', '{', '}', '"'], "");
    let label: String = label.chars().map(plain).take(LETTERS).collect();
    let digits = count.to_string().len();
    Variant {
        number: place + 1,
        set: chosen.iter().map(|(v, value)| format!("{}={value}", v.key)).collect(),
        folder: format!("{:0digits$}_{label}", place + 1),
        title,
    }
}

/// The parameter's own name, with its node where another node's of that name is varied as well.
fn name<'a>(varied: &'a Varied, all: &[Varied]) -> &'a str {
    let short = |key: &'a str| key.rsplit('.').next().unwrap_or(key);
    let own = short(&varied.key);
    let is_alone = all.iter().filter(|v| v.key.rsplit('.').next() == Some(own)).count() == 1;
    if is_alone { own } else { &varied.key }
}

fn parts<'a>(option: &str, text: &'a str, expected: &str) -> Result<(String, &'a str), String> {
    match text.split_once('=') {
        Some((key, values)) if !key.trim().is_empty() && !values.trim().is_empty() => {
            Ok((key.trim().to_owned(), values))
        }
        _ => Err(format!("{option} expects {expected}, found `{text}`")),
    }
}

fn listed(text: &str) -> Result<Varied, String> {
    let (key, values) = parts("--vary", text, "node.param=a,b,c")?;
    let values = apart(values).ok_or_else(|| format!("--vary {key}: a bracket or a quote is not closed"))?;
    if values.iter().any(String::is_empty) {
        return Err(format!("--vary {key}: a value between two commas is missing"));
    }
    let mut known = BTreeSet::new();
    match values.iter().find(|v| !known.insert(v.as_str())) {
        Some(twice) => Err(format!("--vary {key}: the value {twice} is given twice")),
        None => Ok(Varied { key, values }),
    }
}

fn counted(text: &str) -> Result<Varied, String> {
    let (key, count) = parts("--seeds", text, "node.param=count")?;
    match count.trim().parse::<usize>() {
        Ok(count @ 1..=MOST) => Ok(Varied { key, values: (0..count).map(|n| n.to_string()).collect() }),
        _ => Err(format!("--seeds {key}: expected how many, 1 to {MOST}, found `{}`", count.trim())),
    }
}

/// Values between the commas that stand in no bracket and no quotes; `None` where one is not closed.
fn apart(text: &str) -> Option<Vec<String>> {
    let (mut depth, mut quoted, mut escaped) = (0i32, false, false);
    let mut values = vec![String::new()];
    for c in text.chars() {
        match c {
            '"' if !escaped => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return None;
        }
        escaped = quoted && c == '\\' && !escaped;
        match values.last_mut() {
            Some(last) if c != ',' || depth > 0 || quoted => last.push(c),
            _ => values.push(String::new()),
        }
    }
    (depth == 0 && !quoted).then(|| values.iter().map(|v| v.trim().to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(vary: &[&str], seeds: &[&str]) -> Result<Vec<Variant>, String> {
        let owned = |texts: &[&str]| texts.iter().map(|&t| t.to_owned()).collect::<Vec<_>>();
        variants(&owned(vary), &owned(seeds))
    }

    #[test]
    fn every_combination_has_a_number_and_a_folder_of_its_own() {
        let all =
            of(&["water.viscosity=0.1, 1,10", "box.size=[1,1,1],[2,2,2]"], &["water.jitter_seed=2"]).unwrap();
        assert_eq!(all.len(), 12);
        assert_eq!(all[0].set, ["water.viscosity=0.1", "box.size=[1,1,1]", "water.jitter_seed=0"]);
        assert_eq!(all[1].set[2], "water.jitter_seed=1");
        assert_eq!(all[11].set, ["water.viscosity=10", "box.size=[2,2,2]", "water.jitter_seed=1"]);
        assert_eq!(all[2].title, "viscosity 0.1, size [2,2,2], jitter_seed 0");
        assert_eq!(all[2].folder, "03_viscosity_0.1_size_2_2_2_jitter_seed_0");
        let folders: BTreeSet<&str> = all.iter().map(|v| v.folder.as_str()).collect();
        assert_eq!(folders.len(), 12);
    }

    #[test]
    fn texts_may_hold_commas_and_names_tell_nodes_apart() {
        let all = of(&[r#"glass.file="a, \"b\".obj",c.obj"#, "a.size=1", "b.size=2"], &[]).unwrap();
        assert_eq!(all[0].set[0], r#"glass.file="a, \"b\".obj""#);
        assert_eq!(all[1].title, "file c.obj, a.size 1, b.size 2");
        assert!(!all[0].folder.contains(['/', ' ', '"', '=']));
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (vary, seeds, said) in [
            (vec!["water"], vec![], "expects node.param=a,b,c"),
            (vec!["=1,2"], vec![], "expects"),
            (vec!["a.b="], vec![], "expects"),
            (vec!["a.b=1,,2"], vec![], "missing"),
            (vec!["a.b=[1,2"], vec![], "not closed"),
            (vec!["a.b=1]"], vec![], "not closed"),
            (vec!["a.b=\"x"], vec![], "not closed"),
            (vec!["a.b=1,1"], vec![], "twice"),
            (vec!["a.b=1", "a.b=2"], vec![], "varied twice"),
            (vec!["a.b=1"], vec!["a.b=2"], "varied twice"),
            (vec![], vec!["a.b=0"], "how many"),
            (vec![], vec!["a.b=x"], "how many"),
            (vec![], vec!["a.b=100", "a.c=100"], "combinations"),
        ] {
            let error = of(&vary, &seeds).unwrap_err();
            assert!(error.contains(said) && !error.contains('\n'), "{vary:?} {seeds:?}: {error}");
        }
    }
}
