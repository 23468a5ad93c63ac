//! Plugins: where they are found, how they are opened, what their descriptors say.

mod describe;
mod discover;
mod elf;
mod open;

pub(crate) use describe::{element, sampling};
pub use discover::{Found, search_folders};
pub use open::{Plugin, Refusal};

use crate::graph::Types;
use crate::{geometry, output};
use std::sync::Arc;

/// Every plugin found, opened or refused.
#[derive(Debug, Default)]
pub struct Plugins {
    /// Opened plugins; [`crate::node::Contract::plugin`] is a place in this list.
    pub loaded: Vec<Plugin>,
    /// Files that were refused, with one sentence each.
    pub refused: Vec<Refusal>,
}

impl Plugins {
    /// Opens every plugin of `MENISCUS_PLUGIN_PATH`, beside the binary and in `~/.meniscus/plugins`.
    pub fn load() -> Self {
        Self::open_all(discover::find(&search_folders()))
    }

    /// Opens the given files.
    pub fn open_all(files: Vec<Found>) -> Self {
        let mut plugins = Plugins::default();
        for file in files {
            match Plugin::open(&file, plugins.loaded.len()) {
                Ok(plugin) => plugins.loaded.push(plugin),
                Err(refusal) => plugins.refused.push(refusal),
            }
        }
        plugins
    }

    /// The node types of the host and of every opened plugin; where two plugins bring the same type and
    /// version, the one found first stays.
    pub fn types(&self) -> Types {
        let mut types = Types::default();
        for node_type in geometry::types().into_iter().chain(output::types()) {
            types.add(Arc::new(node_type));
        }
        for node_type in self.loaded.iter().flat_map(|p| &p.types) {
            types.add(node_type.clone());
        }
        self.refused.iter().for_each(|r| types.refuse(r.to_string()));
        types
    }
}
