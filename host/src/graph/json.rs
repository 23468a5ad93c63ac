//! JSON as a graph needs it: keys in order and never twice, numbers finite, depth bounded.

use crate::text::{number, one_line};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A finite number.
    Number(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// An object, keys in the order of the file.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads a text; the error says line, column and what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|e| format!("not valid JSON: {e}"))
    }

    /// What the value is, for messages: `the text "big"`, `a list of 2`, …
    pub fn describe(&self) -> String {
        match self {
            Json::Null => "null".into(),
            Json::Bool(b) => b.to_string(),
            Json::Number(x) => format!("the number {}", number(*x)),
            Json::Text(t) => format!("the text \"{}\"", shorten(t)),
            Json::List(l) => format!("a list of {}", l.len()),
            Json::Object(_) => "an object {…}".into(),
        }
    }

    /// The number, when it is one.
    pub fn number(&self) -> Option<f64> {
        if let Json::Number(x) = self { Some(*x) } else { None }
    }

    /// The number as an integer, when it is one exactly.
    pub fn integer(&self) -> Option<i64> {
        self.number().filter(|x| x.fract() == 0.0 && x.abs() <= 9.007_199_254_740_992e15).map(|x| x as i64)
    }

    /// The text, when it is one.
    pub fn text(&self) -> Option<&str> {
        if let Json::Text(t) = self { Some(t) } else { None }
    }

    /// The pairs, when it is an object.
    pub fn object(&self) -> Option<&[(String, Json)]> {
        if let Json::Object(o) = self { Some(o) } else { None }
    }

    /// The items, when it is a list.
    pub fn list(&self) -> Option<&[Json]> {
        if let Json::List(l) = self { Some(l) } else { None }
    }
}

/// At most 60 letters of a text, for messages.
pub(super) fn shorten(text: &str) -> String {
    one_line(text, 60)
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, v: bool) -> Result<Json, E> {
        Ok(Json::Bool(v))
    }

    fn visit_i64<E>(self, v: i64) -> Result<Json, E> {
        Ok(Json::Number(v as f64))
    }

    fn visit_u64<E>(self, v: u64) -> Result<Json, E> {
        Ok(Json::Number(v as f64))
    }

    fn visit_f64<E: Error>(self, v: f64) -> Result<Json, E> {
        if v.is_finite() { Ok(Json::Number(v)) } else { Err(E::custom("a number must be finite")) }
    }

    fn visit_str<E>(self, v: &str) -> Result<Json, E> {
        Ok(Json::Text(v.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = seq.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut seen = std::collections::HashSet::new();
        let mut pairs = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, Json>()? {
            if !seen.insert(key.clone()) {
                return Err(A::Error::custom(format!(
                    "the key `{}` stands twice in one object",
                    shorten(&key)
                )));
            }
            pairs.push((key, value));
        }
        Ok(Json::Object(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_standing_twice_is_refused_with_its_place() {
        let e = Json::parse("{\"a\": 1,\n \"a\": 2}").unwrap_err();
        assert!(e.contains("`a` stands twice") && e.contains("line 2"), "{e}");
    }

    #[test]
    fn depth_and_size_of_numbers_are_bounded() {
        assert!(Json::parse(&"[".repeat(100_000)).is_err());
        assert!(Json::parse("1e999").is_err());
        assert!(Json::parse("NaN").is_err());
    }
}
