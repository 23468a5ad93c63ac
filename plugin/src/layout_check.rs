//! The second symbol of a build for checking: abi_stable's root, which describes the whole memory layout of the ABI.
// The attribute makes statics that cannot carry a comment.
#![allow(missing_docs)]

use abi_stable::prefix_type::PrefixTypeTrait;
use meniscus_abi::Plugin;
use meniscus_abi::checked::{Root, RootRef};

#[abi_stable::export_root_module]
pub fn describe_layout() -> RootRef {
    extern "C" fn plugin() -> *const Plugin {
        &raw const crate::mns_plugin
    }
    Root { plugin }.leak_into_prefix()
}
