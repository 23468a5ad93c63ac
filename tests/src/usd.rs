//! Reads shots back with Pixar's own USD.

use crate::root;
use crate::wheel::Wheel;
use serde_json::Value;
use std::path::Path;

/// Pixar's USD for Python.
static USD: Wheel = Wheel::new("usd-core", "26.11");

/// A shot as `tests/usd/read.py` prints it.
pub struct Stage(pub Value);

impl Stage {
    /// Opens a shot; USD's validators must be silent.
    pub fn open(file: &Path) -> Self {
        let script = root().join("tests/usd/read.py");
        let output = USD.python().arg(script).arg(file).output();
        let output = output.expect("Python is there");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.is_empty(), "{}: {said}", file.display());
        let stage = Self(serde_json::from_slice(&output.stdout).expect("it prints JSON"));
        assert_eq!(stage.0["complaints"], serde_json::json!([]), "{}", file.display());
        stage
    }

    /// A prim, by its path.
    pub fn prim(&self, path: &str) -> &Value {
        let prim = &self.0["prims"][path];
        assert!(!prim.is_null(), "there is no {path} among {:?}", self.paths());
        prim
    }

    /// The paths of all prims.
    pub fn paths(&self) -> Vec<&str> {
        self.0["prims"].as_object().expect("prims").keys().map(String::as_str).collect()
    }

    /// The value of an attribute at a time code.
    pub fn at(&self, path: &str, attribute: &str, time: i32) -> &Value {
        let values = &self.prim(path)["attributes"][attribute];
        let value = &values[format!("{time}.0")];
        assert!(!value.is_null(), "{path}.{attribute} has no value at {time}: {values}");
        value
    }

    /// Vectors of an attribute at a time code.
    pub fn vectors(&self, path: &str, attribute: &str, time: i32) -> Vec<[f64; 3]> {
        vectors(self.at(path, attribute, time))
    }

    /// Where the points of a prim, or it itself, are in the world.
    pub fn world(&self, path: &str, time: i32) -> Vec<[f64; 3]> {
        vectors(&self.prim(path)["world"][format!("{time}.0")])
    }
}

fn vectors(value: &Value) -> Vec<[f64; 3]> {
    let list = value.as_array().expect("a list of vectors");
    list.iter().map(|v| std::array::from_fn(|c| v[c].as_f64().expect("a number"))).collect()
}
