//! Finds plugin files.

use super::library_file::LibraryFile;
use std::path::{Path, PathBuf};

/// Extension of a shared library here.
const EXTENSION: &str = std::env::consts::DLL_EXTENSION;

/// A file that may be a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The file.
    pub path: PathBuf,
    /// The user named it or its folder, so a file that is no plugin is reported.
    pub meant: bool,
}

/// The places searched, in order: the entries of `MENISCUS_PLUGIN_PATH` (folders or files), the folder of the
/// binary, `~/.meniscus/plugins`. The flag says whether the place holds plugins only.
pub fn search_folders() -> Vec<(PathBuf, bool)> {
    let mut places = Vec::new();
    if let Some(path) = std::env::var_os("MENISCUS_PLUGIN_PATH") {
        places.extend(std::env::split_paths(&path).filter(|p| !p.as_os_str().is_empty()).map(|p| (p, true)));
    }
    if let Some(folder) = crate::process::own_file().ok().and_then(|p| p.parent().map(Path::to_path_buf)) {
        places.push((folder, false));
    }
    if let Some(home) = std::env::var_os("HOME").filter(|h| !h.is_empty()) {
        places.push((Path::new(&home).join(".meniscus").join("plugins"), true));
    }
    // One that is named twice is looked through once, where it stands first.
    let mut seen = std::collections::HashSet::new();
    places.retain(|(place, _)| seen.insert(place.canonicalize().unwrap_or_else(|_| place.clone())));
    places
}

/// The shared libraries in these places, by place, then by name; each file once.
pub(super) fn find(places: &[(PathBuf, bool)]) -> Vec<Found> {
    let mut found = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for (place, meant) in places {
        let mut files = if place.is_file() { vec![place.clone()] } else { libraries(place) };
        files.sort();
        for path in files {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            if seen.insert(real) {
                found.push(Found { path, meant: *meant });
            }
        }
        found.retain(|f| f.meant || is_to_be_opened(&f.path));
    }
    found
}

/// Whether a file beside the binary is opened: there may be libraries that are no plugins, which is told by the symbol's name. One that cannot be
/// read, is no library or is cut off may have been a plugin, so it is opened, too, which says what is wrong with it.
fn is_to_be_opened(path: &Path) -> bool {
    LibraryFile::look(path).map_or(true, |library| !library.is_whole || library.names_symbol)
}

fn libraries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    // A link that leads nowhere is what is left of a plugin.
    let is_there = |p: &PathBuf| p.is_file() || (p.is_symlink() && !p.exists());
    let is_library = |p: &PathBuf| p.extension().is_some_and(|e| e == EXTENSION) && is_there(p);
    entries.filter_map(|e| e.ok().map(|e| e.path())).filter(is_library).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_found_in_order_and_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &[u8]| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let b = file(&format!("b.{EXTENSION}"), b"\x7fELF..mns_plugin\0..");
        let a = file(&format!("a.{EXTENSION}"), b"\x7fELF of something else");
        file("readme.txt", b"mns_plugin\0");
        let here = dir.path().to_path_buf();
        let paths = |places: &[_]| find(places).into_iter().map(|f| f.path).collect::<Vec<_>>();
        assert_eq!(paths(&[(here.clone(), true), (b.clone(), true)]), [a, b.clone()]);
        assert_eq!(paths(&[(here, false)]), std::slice::from_ref(&b));
        assert!(paths(&[("/nowhere".into(), true)]).is_empty());
        // What should be a library and is none is not passed over.
        let c = file(&format!("c.{EXTENSION}"), b"x");
        assert_eq!(paths(&[(dir.path().into(), false)]), [b, c]);
    }
}
