//! When a parameter has no effect, in Houdini's notation: `{ a == x b != y } { c == 0 }`. The terms within braces must all
//! hold; one pair of braces suffices.

use super::Value;

/// The parameters by which a condition holds, if it does. A value that is not known makes its term fail.
pub fn holds_by(condition: &str, value: impl Fn(&str) -> Option<Value>) -> Option<Vec<&str>> {
    let clauses = condition.split('{').skip(1).map(|clause| clause.split('}').next().unwrap_or_default());
    for clause in clauses {
        let words: Vec<&str> = clause.split_whitespace().collect();
        let holds = |term: &[&str]| match *term {
            [name, "==", wanted] => value(name).is_some_and(|v| is(&v, wanted)),
            [name, "!=", wanted] => value(name).is_some_and(|v| !is(&v, wanted)),
            _ => false,
        };
        if !words.is_empty() && words.chunks(3).all(holds) {
            let mut names: Vec<&str> = words.chunks(3).map(|term| term[0]).collect();
            names.dedup();
            return Some(names);
        }
    }
    None
}

/// Whether a value is the one that a condition writes so.
fn is(value: &Value, written: &str) -> bool {
    let number = || written.parse::<f64>().ok();
    match value {
        Value::Toggle(on) => number() == Some(f64::from(*on)),
        Value::Integers(v) => v.first().map(|&n| n as f64) == number(),
        Value::Numbers(v) => v.first().copied() == number(),
        Value::Text(text) => text == written.trim_matches('"'),
        Value::Texts(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_joined_and_braces_are_choices() {
        let value = |name: &str| match name {
            "kind" => Some(Value::Text("ball".into())),
            "text" => Some(Value::Text(String::new())),
            "on" => Some(Value::Toggle(true)),
            "count" => Some(Value::Integers(vec![3])),
            "size" => Some(Value::Numbers(vec![0.5])),
            _ => None,
        };
        for (condition, by) in [
            ("{ kind == ball }", Some(vec!["kind"])),
            ("{ kind != ball }", None),
            ("{ kind != door kind != drawer }", Some(vec!["kind"])),
            ("{ kind == ball on == 0 }", None),
            ("{ kind == ball on == 1 }", Some(vec!["kind", "on"])),
            ("{ on == 0 } { count == 3 }", Some(vec!["count"])),
            ("{ text == \"\" }", Some(vec!["text"])),
            ("{ size != 0 }", Some(vec!["size"])),
            ("{ unknown == 1 }", None),
            ("{ unknown != 1 }", None),
            ("{ kind = ball }", None),
            ("{ }", None),
            ("", None),
        ] {
            assert_eq!(holds_by(condition, value), by, "{condition}");
        }
    }
}
