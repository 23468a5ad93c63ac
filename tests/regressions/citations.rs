//! Every citation tag in the code resolves in references.bib.

use meniscus_tests::root;
use std::path::{Path, PathBuf};

/// Rust, C and CUDA sources of the workspace.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the entry can be read").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                sources(&path, found);
            }
        } else if ["rs", "h", "c", "cc", "cu"].iter().any(|e| path.extension().is_some_and(|x| x == *e)) {
            found.push(path);
        }
    }
}

/// The keys that the tags of `text` name: `[Goldade and Batty 2017, Eq. 8]` → `GoldadeBatty2017`,
/// `[Jiang et al. 2015]` → `Jiang2015`.
fn keys(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for tag in text.split('[').skip(1).filter_map(|t| t.split(']').next()) {
        let words: Vec<&str> = tag.split(',').next().unwrap_or("").split_whitespace().collect();
        let Some((year, names)) = words.split_last() else { continue };
        let is_year = year.len() == 4 && (year.starts_with("19") || year.starts_with("20"));
        let is_year = is_year && year.chars().all(|c| c.is_ascii_digit());
        if !is_year || names.is_empty() || !names[0].starts_with(|c: char| c.is_ascii_uppercase()) {
            continue;
        }
        let authors = names.iter().filter(|n| !matches!(**n, "and" | "&" | "et" | "al."));
        found.push(authors.copied().collect::<String>() + year);
    }
    found
}

#[test]
fn every_citation_resolves() {
    let bib = std::fs::read_to_string(root().join("references.bib")).expect("references.bib can be read");
    let mut files = Vec::new();
    sources(root(), &mut files);
    let mut seen = 0;
    for file in files {
        for key in keys(&std::fs::read_to_string(&file).unwrap_or_default()) {
            seen += 1;
            assert!(bib.contains(&format!("{{{key},")), "{}: {key} is not in references.bib", file.display());
        }
    }
    assert!(seen > 20, "the test found only {seen} citations: has their form changed?");
}

#[test]
fn tags_become_keys() {
    assert_eq!(
        keys("x [Goldade and Batty 2017, Eq. 8] y [i + 1] [Jiang et al. 2015]"),
        ["GoldadeBatty2017", "Jiang2015"]
    );
}
