//! `meniscus cook`: reads a graph, cooks it, prints progress.

use super::args::{CookArgs, GraphArgs};
use super::learning::Learning;
use super::progress::Progress;
use super::signals::Signals;
use super::{BAD_USAGE, DONE, FAILED, INTERRUPTED, fail, say, tell, units};
use crate::engine::{CookError, CookOptions, Ended, Fork, Manner, Record, cook};
use crate::files::read_file;
use crate::graph::{Graph, Network, Override, Problems};
use crate::loader::Plugins;
use crate::text::one_line;
use std::path::{Path, PathBuf};

/// Longest sentence about a cook, letters: names of folders may be long.
const LONGEST: usize = 20_000;
/// Largest graph file that is read, bytes.
const LARGEST_GRAPH: u64 = 1 << 30;

/// A graph file read and checked.
pub(super) struct Loaded {
    pub(super) text: String,
    pub(super) graph: Graph,
    pub(super) network: Network,
    pub(super) plugins: Plugins,
}

/// Reads a graph file with its overrides and checks it against the node types; the error names the file.
pub(super) fn load(args: &GraphArgs) -> Result<Loaded, String> {
    let shown = shown(&args.graph);
    let text =
        read_file(&args.graph, LARGEST_GRAPH).map_err(|e| format!("cannot read the graph {shown}: {e}"))?;
    let text = String::from_utf8(text).map_err(|_| format!("{shown}: a graph is UTF-8 text, this is not"))?;
    let wrong = |p: Problems| p.0.iter().map(|p| format!("{shown}: {p}")).collect::<Vec<_>>().join("\n");
    let mut overrides = Vec::new();
    for set in &args.set {
        overrides.push(Override::parse(set).map_err(|p| wrong(p.into()))?);
    }
    overrides.extend(args.quality.as_deref().map(Override::quality));
    let graph = Graph::read(&text, &overrides).map_err(wrong)?;
    let plugins = Plugins::load();
    // Else every node of the plugin would be reported.
    if let Some(refused) = plugins.refused.iter().find(|r| r.is_for_want_of_memory()) {
        return Err(refused.to_string());
    }
    let network = Network::bind(&graph, &plugins.types()).map_err(wrong)?;
    Ok(Loaded { text, graph, network, plugins })
}

/// A path on one line.
pub(super) fn shown(path: &Path) -> String {
    one_line(&path.to_string_lossy(), LONGEST)
}

/// What was set on the command line.
pub(super) fn said(args: &GraphArgs) -> Vec<String> {
    let mut said = args.set.clone();
    said.extend(args.quality.iter().map(|q| format!("quality={q}")));
    said
}

/// Folder that file parameters are relative to.
pub(super) fn folder_of(graph: &Path) -> PathBuf {
    graph.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_path_buf()
}

/// `<graph name>.out`
pub(super) fn default_out(graph: &Path) -> PathBuf {
    let name = graph.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".meniscus.json").or_else(|| name.strip_suffix(".json")).unwrap_or(&name);
    PathBuf::from(format!("{stem}.out"))
}

/// Folder that a cook writes to.
pub(super) fn out_folder(args: &CookArgs) -> PathBuf {
    args.out.clone().unwrap_or_else(|| default_out(&args.graph.graph))
}

/// Threads to use when the user does not say.
pub(super) fn processors() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

/// Cooks; gives the exit code and the folder written to.
pub(super) fn run(args: &CookArgs) -> u8 {
    let code = match Signals::listen() {
        Ok(signals) => cook_once(args, &signals),
        Err(e) => fail(FAILED, &e),
    };
    if args.openjd && code == FAILED {
        say("openjd_fail: the cook failed, see the messages above\n");
    }
    code
}

/// Cooks, with the signal handlers already set.
pub(super) fn cook_once(args: &CookArgs, signals: &Signals) -> u8 {
    let loaded = match load(&args.graph) {
        Ok(loaded) => loaded,
        Err(e) => return fail(BAD_USAGE, &e),
    };
    for warning in loaded.plugins.warnings() {
        tell(&format!("warning: {warning}"));
    }
    let out = out_folder(args);
    // A plugin may change the folder that relative paths start from.
    let whole =
        |path: &Path| std::path::absolute(path).map_err(|e| format!("{} cannot be found: {e}", shown(path)));
    let (whole_out, folder) = match (whole(&out), whole(&folder_of(&args.graph.graph))) {
        (Ok(out), Ok(folder)) => (out, folder),
        (Err(e), _) | (_, Err(e)) => return fail(FAILED, &e),
    };
    let said = said(&args.graph);
    let record = Record::new(&loaded.text, &args.graph.graph, &said, &loaded.network, &loaded.plugins);
    let (record, fork) = match of_parent(record, args, &loaded.network) {
        Ok(found) => found,
        Err(e) => return fail(BAD_USAGE, &e),
    };
    let progress = Progress::new(args.quiet, args.openjd);
    let options = CookOptions {
        out: &whole_out,
        folder: &folder,
        frames: args.frames,
        resume: args.resume,
        fork: fork.as_ref(),
        replace: args.replace,
        checkpoint_every: args.checkpoint_every,
        keep_checkpoints: args.keep_checkpoints,
        manner: Manner {
            threads: args.threads.unwrap_or_else(processors),
            device: args.device.into(),
            paranoid: args.paranoid,
            drop_caches: args.drop_caches,
        },
        room: if args.force { None } else { crate::memory::free() },
        stop: &signals.stop,
        cancel: &signals.cancel,
        record: &record,
    };
    let started = std::time::Instant::now();
    let learning = Learning::beside(&progress);
    let result = cook(&loaded.network, &loaded.plugins, &options, &learning);
    progress.finish();
    if result.is_ok() {
        learning.keep(&loaded.text, &loaded.network, &said, options.manner.threads);
    }
    match result {
        Ok(Ended::Done) => {
            if !args.quiet {
                let took = units::duration(started.elapsed().as_secs_f64());
                tell(&format!("done in {took}: {}", shown(&out)));
            }
            DONE
        }
        Ok(Ended::Interrupted(checkpoint)) => {
            tell(&format!("stopped; saved {}\ngo on with: {}", shown(&checkpoint), resume_command()));
            INTERRUPTED
        }
        Err(CookError::Graph(p)) => {
            let shown = shown(&args.graph.graph);
            fail(BAD_USAGE, &p.0.iter().map(|p| format!("{shown}: {p}")).collect::<Vec<_>>().join("\n"))
        }
        Err(CookError::Failed(e)) => fail(FAILED, &one_line(&e, LONGEST)),
    }
}

/// The record with the cook that this one changes, if one is named, and where it goes on from there.
fn of_parent(record: Record, args: &CookArgs, network: &Network) -> Result<(Record, Option<Fork>), String> {
    let Some(parent) = &args.parent else { return Ok((record, None)) };
    let cannot = |e| format!("--parent: {} is no folder of a cook: its cook.json: {e}", shown(parent));
    let bytes = read_file(&parent.join("cook.json"), LARGEST_GRAPH).map_err(cannot)?;
    let whole = std::path::absolute(parent).map_err(cannot)?;
    let (own, of_parent) = (real(&out_folder(args)), real(parent));
    if own == of_parent {
        return Err(format!("--parent: {} cannot be its own parent; choose another --out", shown(parent)));
    } else if own.starts_with(&of_parent) {
        return Err(format!("--out: {} lies in its parent; choose another --out", shown(&out_folder(args))));
    }
    let record = record.changes(&whole, &bytes);
    let Some(frame) = args.fork else { return Ok((record, None)) };
    let fork = Fork::find(&whole, frame).map_err(|e| one_line(&format!("--fork: {e}"), LONGEST))?;
    let was = serde_json::from_slice(&bytes).unwrap_or_default();
    if fork.frame < frame && !args.quiet {
        tell(&format!(
            "--fork: goes on after frame {}, the latest up to {frame} that has a checkpoint",
            fork.frame
        ));
    }
    let is_same = fork.is_same_before(&was, network);
    Ok((record.forks(fork.frame, is_same, network.settings.frames.0), Some(fork)))
}

/// A path without links, by whatever name it was given; the last part of it need not be there.
fn real(path: &Path) -> PathBuf {
    let above = || Some(folder_of(path).canonicalize().ok()?.join(path.file_name()?));
    let found = path.canonicalize().ok().or_else(above).or_else(|| std::path::absolute(path).ok());
    found.unwrap_or_else(|| path.into())
}

/// The command that was typed, with `--resume`.
pub(super) fn resume_command() -> String {
    let mut words: Vec<String> = std::env::args().map(|a| quoted(&a)).collect();
    if !words.iter().any(|w| w == "--resume") && words.get(1).is_some_and(|w| w == "cook") {
        words.push("--resume".into());
    }
    words.join(" ")
}

pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if word.contains(char::is_control) {
        // As shells with `$'…'` read it: on one line, and steering no terminal.
        let escaped = |c: char| match c {
            '\'' | '\\' => format!("\\{c}"),
            c if c.is_control() => c.to_string().bytes().map(|b| format!("\\x{b:02x}")).collect(),
            c => c.to_string(),
        };
        format!("$'{}'", word.chars().map(escaped).collect::<String>())
    } else if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_words() {
        assert_eq!(default_out(Path::new("a/shot.meniscus.json")), Path::new("shot.out"));
        assert_eq!(default_out(Path::new("shot.json")), Path::new("shot.out"));
        assert_eq!(folder_of(Path::new("shot.json")), Path::new("."));
        assert_eq!(quoted("b.size=[1, 2]"), "'b.size=[1, 2]'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("a\nb'c\u{9b}"), r"$'a\x0ab\'c\xc2\x9b'");
    }
}
