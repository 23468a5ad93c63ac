//! The C ABI: the header against its Rust mirror, what the plugin exports, and C programs on both sides.

mod c_host;
#[cfg(feature = "layout-check")]
mod checked;
mod descriptors;
mod header;
mod layout;
mod symbols;
