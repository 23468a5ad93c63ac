//! The layout of the whole contract, checked by `abi_stable` at load time: for hosts and plugins in Rust.
//!
//! The header and the layout hash are the contract with everybody. A Rust plugin built with the feature
//! `layout-check` exports abi_stable's root as a second symbol, which leads to the same table and carries a
//! description of every field behind it.

use crate::Plugin;
use abi_stable::library::{LibraryError, RootModule, lib_header_from_path};
use abi_stable::sabi_types::VersionStrings;
use abi_stable::{StableAbi, package_version_strings};
use std::path::Path;

/// What the second symbol leads to.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = RootRef)))]
#[sabi(missing_field(panic))]
pub struct Root {
    /// The same table as `mns_plugin`.
    #[sabi(last_prefix_field)]
    pub plugin: extern "C" fn() -> *const Plugin,
}

impl RootModule for RootRef {
    abi_stable::declare_root_module_statics! {RootRef}
    const BASE_NAME: &'static str = "meniscus_plugin";
    const NAME: &'static str = "meniscus_plugin";
    const VERSION_STRINGS: VersionStrings = package_version_strings!();
}

/// Compares the layout a plugin describes with this build's: `Ok(false)` when it describes none (a plugin that
/// is not Rust, or was built without the feature).
///
/// The library stays loaded for the life of the process.
pub fn check_layout(library: &Path) -> Result<bool, String> {
    let header = match lib_header_from_path(library) {
        Ok(header) => header,
        Err(LibraryError::GetSymbolError { .. }) => return Ok(false),
        Err(error) => return Err(error.to_string()),
    };
    // Not `load_from_file`: that one caches by type and would answer for the first plugin it met.
    header.init_root_module::<RootRef>().map(|_| true).map_err(|error| error.to_string())
}
