//! The examples as scenes of the demo: their list, and one of them cooked.

use super::{cook_args, examples};
use crate::cli::args::{DemoArgs, GraphArgs};
use crate::cli::cook::{cook_once, load};
use crate::cli::signals::Signals;
use crate::cli::{BAD_USAGE, DONE, FAILED, fail, say, tell};
use crate::files::read_file;
use crate::graph::nearest;
use crate::text::{SENTENCE, one_line};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Ending of a graph's file.
const GRAPH: &str = ".meniscus.json";
/// Largest graph file that is read, bytes.
const LARGEST: u64 = 1 << 20;
/// Most folders within one another that are looked into.
const DEEPEST: usize = 3;

/// An example that can be cooked.
struct Scene {
    name: String,
    graph: PathBuf,
}

/// `meniscus demo --list`
pub(super) fn list() -> u8 {
    let scenes = match scenes() {
        Ok(scenes) => scenes,
        Err(e) => return fail(FAILED, &e),
    };
    let width = scenes.iter().map(|s| s.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for scene in &scenes {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "  {:width$}  {}", scene.name, about(&scene.graph));
    }
    say(&format!("{text}\n`meniscus demo --scene NAME` cooks one; without a name the demo cooks three.\n"))
}

/// `meniscus demo --scene NAME`
pub(super) fn cook(name: &str, args: &DemoArgs) -> u8 {
    let scenes = match scenes() {
        Ok(scenes) => scenes,
        Err(e) => return fail(FAILED, &e),
    };
    let Some(scene) = scenes.iter().find(|s| s.name == name) else {
        let near = nearest(name, scenes.iter().map(|s| s.name.as_str()));
        let hint = near.map_or("`meniscus demo --list` names all".into(), |n| format!("did you mean `{n}`?"));
        return fail(BAD_USAGE, &format!("there is no scene `{}`; {hint}", one_line(name, 60)));
    };
    let signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(e) => return fail(FAILED, &e),
    };
    let quality = Some("preview".to_owned());
    let mut graph = GraphArgs { graph: scene.graph.clone(), set: Vec::new(), quality };
    // Not every graph has qualities.
    let loaded = load(&graph).or_else(|_| {
        graph.quality = None;
        load(&graph)
    });
    let (first, last) = match loaded {
        Ok(loaded) => loaded.network.settings.frames,
        Err(e) => return fail(BAD_USAGE, &e),
    };
    let out = args.out.join(name);
    let mut cook = cook_args(args, graph, &out);
    cook.frames = Some((first, args.last.unwrap_or(last).clamp(first, last)));
    tell(&format!("{name}: {}", about(&scene.graph)));
    match cook_once(&cook, &signals) {
        DONE => say(&format!("\nmeniscus view {} shows it\n", out.display())),
        code => code,
    }
}

/// The examples, by name. Those that need a plugin of their own are left out: their folders say how they are cooked.
fn scenes() -> Result<Vec<Scene>, String> {
    let mut scenes = Vec::new();
    look(&examples()?, DEEPEST, &mut scenes);
    let cooks = |scene: &Scene| {
        load(&GraphArgs { graph: scene.graph.clone(), set: Vec::new(), quality: None }).is_ok()
    };
    scenes.retain(cooks);
    scenes.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(scenes)
}

fn look(folder: &Path, depth: usize, scenes: &mut Vec<Scene>) {
    for path in std::fs::read_dir(folder).into_iter().flatten().filter_map(|e| e.ok().map(|e| e.path())) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(stem) = name.strip_suffix(GRAPH).filter(|_| path.is_file()) {
            scenes.push(Scene { name: stem.to_owned(), graph: path });
        } else if depth > 1 && path.is_dir() {
            look(&path, depth - 1, scenes);
        }
    }
}

/// The first sentence of a graph's comment.
fn about(graph: &Path) -> String {
    let json: Option<serde_json::Value> =
        read_file(graph, LARGEST).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let comment = json.as_ref().and_then(|j| j["comment"].as_str()).unwrap_or_default();
    // A full stop within a word or behind an abbreviation ends no sentence.
    let ends =
        |at: &usize| comment[at + 2..].starts_with(char::is_uppercase) && !comment[..*at].ends_with("Fig");
    let end = comment.match_indices(". ").map(|(at, _)| at).find(ends).unwrap_or(comment.len());
    one_line(comment[..end].trim_end_matches('.'), SENTENCE)
}
