//! The files of new projects, parts of the program: those of `host/assets/new`, the headers, and the crate `meniscus-abi`.

/// A file of a project.
pub(super) struct File {
    /// Its path in the project, with words in double braces.
    pub(super) path: &'static str,
    /// What stands in it.
    pub(super) text: &'static str,
    /// Whether words in double braces are replaced in it.
    pub(super) filled: bool,
}

/// A template of `host/assets/new`, and where it goes.
macro_rules! template {
    ($name:literal, $path:literal) => {
        File { path: $path, text: include_str!(concat!("../../../assets/new/", $name)), filled: true }
    };
}

/// A header of `plugin/include`.
macro_rules! header {
    ($name:literal) => {
        File {
            path: concat!("include/", $name),
            text: include_str!(concat!("../../../../plugin/include/", $name)),
            filled: false,
        }
    };
}

/// A source of the crate `meniscus-abi`.
macro_rules! abi {
    ($name:literal) => {
        File {
            path: concat!("meniscus-abi/src/", $name),
            text: include_str!(concat!("../../../../plugin/abi/src/", $name)),
            filled: false,
        }
    };
}

/// `meniscus new-shot`
pub(super) const SHOT: &[File] = &[
    template!("shot/README.md", "README.md"),
    template!("shot/shot.meniscus.json", "{{name}}.meniscus.json"),
    template!("shot/bottle.obj", "bottle.obj"),
    template!("shot/bottle.py", "bottle.py"),
];

/// `meniscus new-plugin --c`
pub(super) const C_PLUGIN: &[File] = &[
    template!("c_plugin/README.md", "README.md"),
    template!("c_plugin/Makefile", "Makefile"),
    template!("c_plugin/plugin.c", "{{name}}.c"),
    template!("c_plugin/shot.meniscus.json", "shot.meniscus.json"),
    header!("meniscus.h"),
    header!("meniscus_find.h"),
];

/// `meniscus new-plugin --rust`
pub(super) const RUST_PLUGIN: &[File] = &[
    template!("rust_plugin/README.md", "README.md"),
    template!("rust_plugin/manifest.toml", "Cargo.toml"),
    template!("rust_plugin/lib.rs", "src/lib.rs"),
    template!("c_plugin/shot.meniscus.json", "shot.meniscus.json"),
    template!("rust_plugin/abi_manifest.toml", "meniscus-abi/Cargo.toml"),
    abi!("builder.rs"),
    abi!("context.rs"),
    abi!("descriptor.rs"),
    abi!("geometry.rs"),
    abi!("grid.rs"),
    abi!("layout.rs"),
    abi!("lib.rs"),
    abi!("names.rs"),
    abi!("plugin.rs"),
    abi!("sized.rs"),
    abi!("table.rs"),
    abi!("guest/attributes.rs"),
    abi!("guest/call.rs"),
    abi!("guest/entry.rs"),
    abi!("guest/failure.rs"),
    abi!("guest/grids.rs"),
    abi!("guest/heap.rs"),
    abi!("guest/mod.rs"),
    abi!("guest/places.rs"),
    abi!("guest/ports.rs"),
    abi!("guest/progress.rs"),
    abi!("guest/requests.rs"),
    abi!("guest/scalar.rs"),
    abi!("guest/tables.rs"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// The Rust files below a folder.
    fn sources(folder: &Path, found: &mut Vec<String>, root: &Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => sources(&path, found, root),
                false => found.push(path.strip_prefix(root).unwrap().to_string_lossy().into_owned()),
            }
        }
    }

    #[test]
    fn the_whole_crate_is_copied() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugin/abi/src");
        let mut there = Vec::new();
        sources(&root, &mut there, &root);
        // The layout check needs a crate from a registry.
        there.retain(|name| name != "checked.rs");
        there.sort();
        let prefix = "meniscus-abi/src/";
        let copied = RUST_PLUGIN.iter().filter_map(|f| f.path.strip_prefix(prefix)).map(str::to_owned);
        let mut copied: Vec<String> = copied.collect();
        copied.sort();
        assert_eq!(copied, there);
    }
}
