//! No files of a crate import each other in a ring.
//!
//! A file's arrows are the `use` lines and paths in its code; what a page passes on is followed to where it is declared.
//! An arrow from a file to the page of its own folder is left out: a page declares the words of its chapters and calls
//! them, and Rust lets a chapter see its page's private items for that reason.

use meniscus_tests::root;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A file's module, from the crate's root.
type Module = Vec<String>;

/// Arrows that may close a ring: crate, from, to, and why.
const ARGUED: [[&str; 4]; 2] = [
    [
        "host",
        "process/board/calls",
        "process/open_files",
        "whoever notes a call's end looks what it left open, and says so",
    ],
    ["host", "loader/open", "loader/scan", "what is opened here is named as the scan named it"],
];

/// The modules of a crate and their code, without tests, strings and comments.
fn modules(folder: &Path, own: &Module, found: &mut BTreeMap<Module, String>) {
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().and_then(|n| n.to_str()).unwrap_or_default().to_owned();
        let is_page = ["mod", "lib"].contains(&name.as_str());
        let module =
            if is_page { own.clone() } else { [own.as_slice(), std::slice::from_ref(&name)].concat() };
        match path.is_dir() {
            true if name != "tests" => modules(&path, &module, found),
            false if path.extension().is_some_and(|e| e == "rs") && !["tests", "main"].contains(&&*name) => {
                found.insert(module, code(&std::fs::read_to_string(&path).expect("it can be read")));
            }
            _ => {}
        }
    }
}

/// A file's code alone.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut out = String::new();
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default();
        // Every other part lies between quotation marks.
        line.split('"').step_by(2).for_each(|part| out += part);
        out.push('\n');
    }
    out
}

/// The paths of a `use` tree.
fn leaves_of(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((stem, inside)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default().trim();
        return if path.is_empty() { Vec::new() } else { vec![path.into()] };
    };
    let inside = inside.trim_end().strip_suffix('}').expect("braces close");
    let (mut depth, mut part, mut parts) = (0, String::new(), Vec::new());
    for c in inside.chars().chain([',']) {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if c == ',' && depth == 0 {
            parts.push(std::mem::take(&mut part));
        } else {
            part.push(c);
        }
    }
    let whole = |leaf: String| {
        if leaf == "self" { stem.trim_end_matches("::").to_owned() } else { stem.to_owned() + &leaf }
    };
    parts.iter().flat_map(|part| leaves_of(part)).map(whole).collect()
}

/// The paths of a file's `use` lines, and those in the rest of its code.
fn paths(code: &str) -> (Vec<String>, Vec<String>) {
    let (mut used, mut rest) = (Vec::new(), String::new());
    for statement in code.split_inclusive([';', '{', '}']) {
        let opens = statement.trim_start().trim_start_matches("pub").trim_start();
        let opens =
            opens.strip_prefix('(').and_then(|o| o.split_once(')')).map_or(opens, |o| o.1.trim_start());
        match (opens.strip_prefix("use "), used.last_mut()) {
            (Some(tree), _) => used.push(tree.to_owned()),
            // The rest of a tree with braces.
            (None, Some(open)) if !open.ends_with(';') => *open += statement,
            _ => rest += statement,
        }
    }
    let used = used.iter().flat_map(|tree| leaves_of(tree.trim_end_matches(';'))).collect();
    let of_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let rest = rest.split(|c| !of_path(c)).map(|path| path.trim_end_matches(':').to_owned());
    (used, rest.filter(|path| path.contains("::")).collect())
}

/// The arrows between the files of a crate.
fn arrows(crate_root: &Path) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut files = BTreeMap::new();
    modules(crate_root, &Vec::new(), &mut files);
    let absolute = |path: &str, own: &Module| -> Option<Module> {
        let parts: Vec<String> = path.split("::").map(|part| part.trim().to_owned()).collect();
        let up = parts.iter().take_while(|part| *part == "super").count();
        let (stem, skipped) = match parts[0].as_str() {
            "crate" => (Vec::new(), 1),
            "self" => (own.clone(), 1),
            "super" => (own[..own.len().checked_sub(up)?].to_vec(), up),
            child => {
                let inside = [own.as_slice(), &[child.to_owned()]].concat();
                (files.contains_key(&inside).then(|| own.clone())?, 0)
            }
        };
        Some([stem, parts[skipped..].to_vec()].concat())
    };
    // What each name that a file imports or passes on stands for.
    let (mut meant, mut named) = (BTreeMap::<Module, Module>::new(), BTreeMap::<Module, Vec<Module>>::new());
    for (own, code) in &files {
        let (used, rest) = paths(code);
        for path in used.iter().filter_map(|path| absolute(path, own)) {
            let name = path.last().cloned().unwrap_or_default();
            meant.insert([own.as_slice(), &[name]].concat(), path.clone());
            named.entry(own.clone()).or_default().push(path);
        }
        named.entry(own.clone()).or_default().extend(rest.iter().filter_map(|path| absolute(path, own)));
    }
    let resolved = |path: &Module| -> Module {
        let mut path = path.clone();
        for _ in 0..10 {
            let alias = (1..=path.len()).find(|&n| {
                !files.contains_key(&path[..n]) && meant.get(&path[..n]).is_some_and(|m| *m != path[..n])
            });
            let Some(n) = alias else { break };
            path = [meant[&path[..n]].as_slice(), &path[n..]].concat();
        }
        let file = (0..=path.len()).rev().find(|&n| files.contains_key(&path[..n]));
        path[..file.unwrap_or(0)].to_vec()
    };
    let to = |own: &Module, paths: &Vec<Module>| -> BTreeSet<Module> {
        paths.iter().map(resolved).filter(|there| !own.starts_with(there)).collect()
    };
    named.iter().map(|(own, paths)| (own.clone(), to(own, paths))).collect()
}

/// The arrows of a ring, if there is any: files without arrows are taken away until none is left, or only rings and what
/// leads to them.
fn ring(mut arrows: BTreeMap<Module, BTreeSet<Module>>) -> Vec<String> {
    loop {
        let targets: BTreeSet<Module> = arrows.values().flatten().cloned().collect();
        let before = arrows.len();
        arrows.retain(|own, to| !to.is_empty() && targets.contains(own));
        let left: BTreeSet<Module> = arrows.keys().cloned().collect();
        arrows.values_mut().for_each(|to| to.retain(|there| left.contains(there)));
        if arrows.len() == before {
            break;
        }
    }
    let line = |(own, to): (&Module, &BTreeSet<Module>)| {
        let to: Vec<String> = to.iter().map(|there| there.join("/")).collect();
        format!("{} -> {}", own.join("/"), to.join(", "))
    };
    arrows.iter().map(line).collect()
}

#[test]
fn no_files_import_each_other_in_a_ring() {
    let crates = [
        ("core", "core/src"),
        ("kernels", "kernels/src"),
        ("host", "host/src"),
        ("plugin", "plugin/src"),
        ("abi", "plugin/abi/src"),
    ];
    for (name, folder) in crates {
        let mut arrows = arrows(&root().join(folder));
        let count: usize = arrows.values().map(BTreeSet::len).sum();
        assert!(count > 30, "{name}: {count} arrows were found");
        for [_, from, to, _] in ARGUED.iter().filter(|argued| argued[0] == name) {
            let path = |text: &str| text.split('/').map(str::to_owned).collect::<Module>();
            let taken = arrows.get_mut(&path(from)).is_some_and(|there| there.remove(&path(to)));
            assert!(taken, "{name}: {from} -> {to} is argued for, and is not there");
        }
        assert_eq!(ring(arrows), Vec::<String>::new(), "{name}: these import each other");
    }
}

#[test]
fn rings_are_found_through_pages_and_trees() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    };
    write("lib.rs", "pub mod page;\nmod other;\n");
    write("page/mod.rs", "mod a;\nmod b;\npub use a::A;\nfn call() { b::call() }\n");
    write("page/a.rs", "use crate::other::{self, deep::{B as C}};\npub struct A;\n");
    write(
        "page/b.rs",
        "use super::A;\n// crate::other::B\nfn call() -> &'static str { \"crate::other::B\" }\n",
    );
    write("other.rs", "pub mod deep { }\n");
    assert_eq!(ring(arrows(folder.path())), Vec::<String>::new());
    write("other.rs", "fn f() -> crate::page::A { todo!() }\n");
    assert_eq!(ring(arrows(folder.path())), ["other -> page/a", "page/a -> other"]);
}
