//! `--set KEY=VALUE` on the command line.

use super::json::{Json, shorten};
use super::problem::Problem;

/// One override. The key is `quality`, `fps`, `frames`, `substeps.min|max|cfl`, a variable, `node.param` or
/// `node.bypass`; the value is JSON, or plain text where it is not.
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    /// What is set.
    pub key: String,
    /// To what.
    pub value: Json,
}

impl Override {
    /// Reads `KEY=VALUE`.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let (key, value) = text.split_once('=').filter(|(k, _)| !k.trim().is_empty()).ok_or_else(|| {
            Problem::graph(format!("--set expects node.param=value, found `{}`", shorten(text)))
        })?;
        let value = value.trim();
        let value = Json::parse(value).unwrap_or_else(|_| Json::Text(value.to_owned()));
        Ok(Self { key: key.trim().trim_start_matches('$').to_owned(), value })
    }

    /// An override that chooses a quality.
    pub fn quality(level: &str) -> Self {
        Self { key: "quality".into(), value: Json::Text(level.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_json_or_plain_text() {
        let o = Override::parse("water.particle_separation = 0.01").unwrap();
        assert_eq!(o, Override { key: "water.particle_separation".into(), value: Json::Number(0.01) });
        assert_eq!(Override::parse("quality=preview").unwrap(), Override::quality("preview"));
        assert_eq!(Override::parse("$voxel=1").unwrap().key, "voxel");
        assert!(Override::parse("water").is_err());
        assert!(Override::parse("=3").is_err());
    }
}
