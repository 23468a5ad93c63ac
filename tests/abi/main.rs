//! The C ABI: the header against its Rust mirror, what the plugin exports, and C programs on both sides.

mod air;
mod c_host;
mod descriptors;
mod header;
mod layout;
mod symbols;

/// Plugins in plain C: the example's and the tests'.
const C_PLUGINS: [&str; 9] = [
    "examples/c_plugin/drag.c",
    "examples/c_coupling/piston.c",
    "host/tests/c_plugins/shares.c",
    "tests/abi/c_air.c",
    "tests/abi/c_coupling.c",
    "tests/abi/c_descriptors.c",
    "tests/abi/c_faults.c",
    "tests/abi/c_tag.c",
    "tests/abi/sheet.c",
];
