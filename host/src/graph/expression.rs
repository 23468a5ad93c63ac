//! Expressions in numeric parameters: numbers, `$variables`, `+ - * /` and parentheses.
//!
//! ```text
//! sum     = product (('+' | '-') product)*
//! product = factor (('*' | '/') factor)*
//! factor  = '-' factor | '(' sum ')' | number | '$' name
//! ```

use super::suggest::hint;
use std::collections::BTreeMap;

/// Deepest nesting of parentheses and signs.
const MAX_DEPTH: usize = 64;

/// The value of an expression, or one sentence that says what is wrong with it.
pub fn evaluate(text: &str, variables: &BTreeMap<String, f64>) -> Result<f64, String> {
    let mut parser = Parser { text, at: 0, depth: 0, variables };
    let value = parser.sum()?;
    parser.skip_spaces();
    if parser.at < text.len() {
        return Err(parser.unexpected("the end or one of + - * /"));
    }
    if !value.is_finite() {
        return Err(format!("`{}` is too large to be a number", super::json::shorten(text)));
    }
    Ok(value)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    variables: &'a BTreeMap<String, f64>,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn skip_spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Takes the next character when it is one of `wanted`.
    fn take(&mut self, wanted: &[char]) -> Option<char> {
        self.skip_spaces();
        let c = self.rest().chars().next().filter(|c| wanted.contains(c))?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Takes characters while `keep` holds.
    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> String {
        let rest = self.rest();
        let end = rest.find(|c| !keep(c)).unwrap_or(rest.len());
        let word = rest[..end].to_owned();
        self.at += end;
        word
    }

    fn unexpected(&self, expected: &str) -> String {
        let found = match self.rest().chars().next() {
            Some(c) => format!("`{c}`"),
            None => "the end".into(),
        };
        format!("expected {expected}, found {found} in `{}`", super::json::shorten(self.text))
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        while let Some(op) = self.take(&['+', '-']) {
            let right = self.product()?;
            value = if op == '+' { value + right } else { value - right };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.factor()?;
        while let Some(op) = self.take(&['*', '/']) {
            let right = self.factor()?;
            if op == '/' && right == 0.0 {
                return Err(format!("division by zero in `{}`", super::json::shorten(self.text)));
            }
            value = if op == '*' { value * right } else { value / right };
        }
        Ok(value)
    }

    fn factor(&mut self) -> Result<f64, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} nested signs or parentheses"));
        }
        let value = if self.take(&['-']).is_some() {
            -self.factor()?
        } else if self.take(&['(']).is_some() {
            let inner = self.sum()?;
            self.take(&[')']).ok_or_else(|| self.unexpected("`)`"))?;
            inner
        } else if self.take(&['$']).is_some() {
            self.variable()?
        } else {
            self.number()?
        };
        self.depth -= 1;
        Ok(value)
    }

    fn variable(&mut self) -> Result<f64, String> {
        let name = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        let names = self.variables.keys().map(String::as_str);
        self.variables.get(&name).copied().ok_or_else(|| match name.as_str() {
            "" => self.unexpected("the name of a variable after `$`"),
            _ => format!("there is no variable `${name}` here{}", hint(&name, names)),
        })
    }

    fn number(&mut self) -> Result<f64, String> {
        self.skip_spaces();
        let start = self.at;
        self.take_while(|c| c.is_ascii_digit() || c == '.');
        if self.at > start && self.rest().starts_with(['e', 'E']) {
            self.at += 1;
            if self.rest().starts_with(['+', '-']) {
                self.at += 1;
            }
            self.take_while(|c| c.is_ascii_digit());
        }
        let word = &self.text[start..self.at];
        word.parse().map_err(|_| {
            self.at = start;
            self.unexpected("a number, a `$variable` or `(`")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn variables() -> BTreeMap<String, f64> {
        BTreeMap::from([("voxel".into(), 0.02), ("n_2".into(), 3.0)])
    }

    #[test]
    fn arithmetic_follows_the_school_rules() {
        for (text, value) in [
            ("$voxel", 0.02),
            ("$voxel*0.5", 0.01),
            (" 1 - 2 - 3 ", -4.0),
            ("1 + 2 * $n_2", 7.0),
            ("(1+2)*$n_2", 9.0),
            ("8/4/2", 1.0),
            ("-2*-3", 6.0),
            ("2e-3*1E3", 2.0),
            (".5", 0.5),
        ] {
            let got = evaluate(text, &variables()).unwrap();
            assert!((got - value).abs() < 1e-12, "{text} = {got}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("", "expected a number"),
            ("$voxl", "did you mean `voxel`"),
            ("$", "name of a variable"),
            ("1/0", "division by zero"),
            ("(1", "expected `)`"),
            ("1 2", "found `2`"),
            ("1..2", "expected a number"),
            ("1e300*1e300", "too large to be a number"),
            ("2×3", "found `×`"),
        ] {
            let e = evaluate(text, &variables()).unwrap_err();
            assert!(e.contains(part), "{text}: {e}");
        }
        assert!(evaluate(&"(".repeat(1_000_000), &variables()).is_err());
        assert!(evaluate(&"-".repeat(1_000_000), &variables()).is_err());
    }

    proptest! {
        #[test]
        fn any_text_gives_a_finite_number_or_a_sentence(text in ".{0,40}") {
            if let Ok(x) = evaluate(&text, &variables()) {
                prop_assert!(x.is_finite());
            }
        }

        #[test]
        fn any_text_of_the_alphabet_is_safe(text in "[-+*/()$.e0-9voxel ]{0,30}") {
            let _ = evaluate(&text, &variables());
        }
    }
}
