//! Python packages by which tests hold what Meniscus writes against programs of others.

use crate::root;
use std::process::Command;
use std::sync::OnceLock;

/// A package of PyPI, of one version.
pub struct Wheel {
    name: &'static str,
    version: &'static str,
    folder: OnceLock<String>,
}

impl Wheel {
    /// Names it.
    pub const fn new(name: &'static str, version: &'static str) -> Self {
        Self { name, version, folder: OnceLock::new() }
    }

    /// A Python that can import it. It is fetched where it is not there yet.
    pub fn python(&self) -> Command {
        let folder = self.folder.get_or_init(|| {
            let output = Command::new(root().join(".ci/wheel")).args([self.name, self.version]).output();
            let output = output.expect("a shell is there");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{} {} cannot be had: {said}", self.name, self.version);
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        });
        let mut python = Command::new("python3");
        python.env("PYTHONPATH", folder);
        python
    }
}
