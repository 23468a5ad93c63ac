//! A plugin without nodes that describes the ABI's layout as ours does when it is built with the feature `layout-check`.

#[path = "../../src/layout_check.rs"]
mod layout_check;

const NODES: [meniscus_abi::Node; 0] = [];

meniscus_abi::export_plugin! {
    name: c"described",
    version: c"1",
    vendor: c"The Meniscus authors",
    nodes: NODES,
    make: |_| None,
}
