//! The C ABI: the header against its Rust mirror, what the plugin exports, and C programs on both sides.

mod descriptors;
mod header;
mod layout;
mod symbols;
