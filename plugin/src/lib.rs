//! The solver nodes of Meniscus, behind the one symbol `mns_plugin`.
//!
//! A node is a descriptor and a few lines per stage: read ports, call the core, write ports. There is no
//! physics here. `exchange` turns ports into the core's types and back.

mod exchange;
mod nodes;

meniscus_abi::export_plugin! {
    name: c"meniscus",
    version: VERSION,
    vendor: c"The Meniscus authors",
    nodes: nodes::NODES,
    make: nodes::make,
}

#[global_allocator]
static HEAP: meniscus_abi::guest::Heap = meniscus_abi::guest::Heap;

#[cfg(feature = "layout-check")]
mod layout_check;

const VERSION: &std::ffi::CStr =
    match std::ffi::CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"?",
    };
