//! Compiles the device module for the emulated device, where that is asked for.

fn main() {
    println!("cargo::rerun-if-changed=cuda");
    #[cfg(feature = "emulation")]
    emulation();
}

/// Every operation rounds by itself, as the PTX does (`--fmad=false`): the emulation gives a GPU's bits.
#[cfg(feature = "emulation")]
fn emulation() {
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").opt_level(2).warnings(true).extra_warnings(true);
    build.flag("-ffp-contract=off").flag("-Wno-unknown-pragmas").flag("-U_FORTIFY_SOURCE");
    build.files(["module.cpp", "block.cpp", "memory.cpp"].map(|file| format!("cuda/emulation/{file}")));
    build.compile("meniscus_emulation");
}
