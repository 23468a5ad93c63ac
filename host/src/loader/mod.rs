//! Finds plugins, opens them, and reads their descriptors.

mod brief;
mod describe;
mod discover;
mod elf;
mod library_file;
mod open;
mod scan;
mod scan_cache;

pub(crate) use describe::{element, sampling};
pub use discover::{Found, search_folders};
pub(crate) use open::OPENING;
pub use open::{Plugin, Refusal};
pub(crate) use scan::{leave_alone, scan_here};

use crate::graph::Types;
use crate::node::NodeType;
use crate::{geometry, output};
use std::sync::{Arc, LazyLock};

/// Every plugin found, opened or refused.
#[derive(Debug, Default)]
pub struct Plugins {
    /// Opened plugins; [`crate::node::Contract::plugin`] is a place in this list.
    pub loaded: Vec<Plugin>,
    /// Files that were refused, with one sentence each.
    pub refused: Vec<Refusal>,
}

impl Plugins {
    /// Opens every plugin of `MENISCUS_PLUGIN_PATH`, beside the binary and in `~/.meniscus/plugins` that passes a scan
    /// in another process.
    pub fn load() -> Self {
        Self::open_each(discover::find(&search_folders()), scan::scan)
    }

    /// Opens the given files.
    pub fn open_all(files: Vec<Found>) -> Self {
        Self::open_each(files, |_| Ok(()))
    }

    fn open_each(files: Vec<Found>, look: impl Fn(&Found) -> Result<(), Refusal>) -> Self {
        let mut plugins = Plugins::default();
        for file in files {
            match look(&file).and_then(|()| Plugin::open(&file, plugins.loaded.len())) {
                Ok(mut plugin) => {
                    plugins.keep_names(&mut plugin);
                    plugins.loaded.push(plugin);
                }
                Err(refusal) => plugins.refused.push(refusal),
            }
        }
        plugins
    }

    /// Removes a plugin's node types whose names are taken: the plugin found first keeps the name, for all versions of
    /// the node.
    fn keep_names(&self, plugin: &mut Plugin) {
        let mut kept: Vec<Arc<NodeType>> = Vec::new();
        for node_type in std::mem::take(&mut plugin.types) {
            let name = node_type.short_name();
            let of_host = || host_types().iter().any(|t| t.short_name() == name);
            let other = self.loaded.iter().find(|p| p.types.iter().any(|t| t.short_name() == name));
            let own = kept.iter().any(|t| t.short_name() == name && t.version == node_type.version);
            let owner = match other {
                Some(p) => Some(p.shown()),
                None if of_host() => Some("Meniscus itself".into()),
                None => own.then(|| "this plugin already".into()),
            };
            match owner {
                Some(owner) => plugin.left_out.push(format!(
                    "node type `{}` is left out: the name is taken by {owner}, which was found first",
                    node_type.id
                )),
                None => kept.push(node_type),
            }
        }
        plugin.types = kept;
    }

    /// A sentence for every file that was refused and every node type that was left out.
    pub fn warnings(&self) -> Vec<String> {
        let refused = self.refused.iter().map(ToString::to_string);
        let left_out = self.loaded.iter().flat_map(|p| {
            let path = p.path.display();
            p.left_out.iter().map(move |sentence| format!("plugin {path}: {sentence}"))
        });
        refused.chain(left_out).collect()
    }

    /// The node types of the host and of every opened plugin.
    pub fn types(&self) -> Types {
        let mut types = Types::default();
        for node_type in host_types().iter().chain(self.loaded.iter().flat_map(|p| &p.types)) {
            types.add(node_type.clone());
        }
        self.warnings().into_iter().for_each(|sentence| types.refuse(sentence));
        types
    }
}

/// The host's own node types.
fn host_types() -> &'static [Arc<NodeType>] {
    static TYPES: LazyLock<Vec<Arc<NodeType>>> =
        LazyLock::new(|| geometry::types().into_iter().chain(output::types()).map(Arc::new).collect());
    &TYPES
}
