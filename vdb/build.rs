//! Compiles the C++ shim and links OpenVDB.

use std::path::Path;

const SHIM: [&str; 6] = ["write.cc", "read.cc", "polygons.cc", "trace.cc", "render.cc", "terminate.cc"];

fn main() {
    println!("cargo::rerun-if-changed=src/shim");
    let found = |header: &str| include_folders().iter().any(|folder| Path::new(folder).join(header).exists());
    for (header, package) in [("openvdb/openvdb.h", "libopenvdb-dev"), ("boost/version.hpp", "libboost-dev")]
    {
        if !found(header) {
            eprintln!(
                "error: {header} was not found, and Meniscus reads and writes VDB files through it. \
                 Install it with `apt-get install libopenvdb-dev libboost-dev` ({package} is missing), or set \
                 OPENVDB_INCLUDE_DIR to the folder that holds it."
            );
            std::process::exit(1);
        }
    }
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").warnings(false).flag("-ffp-contract=off").debug(false).opt_level(2);
    for folder in extra_folders() {
        build.include(folder);
    }
    for file in SHIM {
        build.file(format!("src/shim/{file}"));
    }
    build.compile("meniscus_vdb_shim");
    println!("cargo::rerun-if-env-changed=OPENVDB_LIB_DIR");
    if let Ok(folder) = std::env::var("OPENVDB_LIB_DIR") {
        println!("cargo::rustc-link-search=native={folder}");
    }
    println!("cargo::rustc-link-lib=dylib=openvdb");
    println!("cargo::rustc-link-lib=dylib=tbb");
    println!("cargo::rustc-link-lib=dylib=Imath");
}

/// Folders named by the user, `OPENVDB_INCLUDE_DIR` being a list like `PATH`.
fn extra_folders() -> Vec<std::path::PathBuf> {
    println!("cargo::rerun-if-env-changed=OPENVDB_INCLUDE_DIR");
    std::env::var_os("OPENVDB_INCLUDE_DIR").map(|v| std::env::split_paths(&v).collect()).unwrap_or_default()
}

fn include_folders() -> Vec<std::path::PathBuf> {
    let mut folders = extra_folders();
    folders.extend(["/usr/include".into(), "/usr/local/include".into()]);
    folders
}
