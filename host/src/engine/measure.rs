//! What a node measured, as it is written into `stats.jsonl`.

/// A number or a few.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum Measure {
    /// A whole number.
    Count(u64),
    /// A number.
    Number(f64),
    /// A vector.
    Numbers(Vec<f64>),
}

impl Measure {
    /// The values of a measure of that key.
    pub(super) fn new(key: &str, values: &[f64]) -> Self {
        match values {
            [x] if key == "particles" => Self::Count(*x as u64),
            [x] => Self::Number(*x),
            many => Self::Numbers(many.to_vec()),
        }
    }
}
