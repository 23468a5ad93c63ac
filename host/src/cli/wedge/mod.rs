//! `meniscus wedge`: cooks a graph with many values of its parameters, each into a folder of its own.
//!
//! Every variant is a `meniscus cook` in a process of its own, one after the other, so that one that fails or crashes does not
//! keep the others from being cooked. What became of them is read from their folders ([`collect`]).

mod collect;

pub(super) use collect::LIST;

use super::args::{GraphArgs, WedgeArgs};
use super::cook::{default_out, load, quoted, shown};
use super::signals::Signals;
use super::vary::{Variant, variants};
use super::{BAD_USAGE, DONE, FAILED, INTERRUPTED, fail, say, tell};
use crate::files::read_file;
use crate::process::{Stream, ask_to_end, dies_with_us, own_file};
use serde_json::Value as Json;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Time between two looks whether a cook has ended.
const LOOKS: Duration = Duration::from_millis(20);
/// Largest list of variants that is read, bytes.
const LARGEST: u64 = 1 << 26;

pub(super) fn run(args: &WedgeArgs) -> u8 {
    let signals = match Signals::listen_and_pass_on() {
        Ok(signals) => signals,
        Err(e) => return fail(FAILED, &e),
    };
    let (wedge, preview) = match planned(args) {
        Ok(planned) => planned,
        Err(e) => return fail(BAD_USAGE, &e),
    };
    let mut failed = Vec::new();
    let list = |failed: &[usize], now: Option<usize>| {
        collect::list(&wedge.out, &args.graph.graph, &wedge.variants, failed, now).map(drop)
    };
    for variant in wedge.wanted(args) {
        // Whoever looks at the wedge while it is cooked finds all of its variants in the list.
        if let Err(e) = list(&failed, Some(variant.number)) {
            return fail(FAILED, &e);
        }
        match wedge.cook(variant, args, &signals) {
            Ok(DONE) => {}
            Ok(INTERRUPTED) => {
                tell(&format!("go on with: {}", resume_command()));
                return list(&failed, None).map_or_else(|e| fail(FAILED, &e), |()| INTERRUPTED);
            }
            Ok(_) => failed.push(variant.number),
            Err(e) => {
                // The first error is told.
                let _ = list(&failed, None);
                return fail(FAILED, &e);
            }
        }
    }
    // A task on a farm leaves the sheet to the last one.
    let preview = preview.as_ref().filter(|_| args.only.is_none());
    let preview = preview.map(|(node, frames)| (node.as_str(), *frames));
    let code = match collect::collect(&wedge.out, &args.graph.graph, &wedge.variants, &failed, preview) {
        Ok(_) if args.quiet || args.only.is_some() => DONE,
        Ok(table) => say(&table),
        Err(e) => return fail(FAILED, &e),
    };
    match failed.len() {
        0 => code,
        n => {
            let folders: Vec<&str> =
                failed.iter().map(|&number| wedge.variants[number - 1].folder.as_str()).collect();
            let (all, folders) = (wedge.variants.len(), folders.join(", "));
            fail(FAILED, &format!("{n} of {all} variants failed, see the messages above: {folders}"))
        }
    }
}

/// A wedge that may begin.
struct Wedge {
    out: PathBuf,
    variants: Vec<Variant>,
}

/// The name of the node that makes pictures, and the frames of the shot.
type Preview = (String, (i32, i32));

/// Finds the variants and checks each of their graphs, and the folder; the error says what to do.
fn planned(args: &WedgeArgs) -> Result<(Wedge, Option<Preview>), String> {
    let variants = variants(&args.vary, &args.seeds)?;
    if let Some(number) = args.only.filter(|&number| number == 0 || number > variants.len()) {
        return Err(format!("--only: there are variants 1 to {}, and no {number}", variants.len()));
    }
    let mut preview = None;
    for variant in &variants {
        let mut graph = args.graph.clone();
        graph.set.extend(variant.set.iter().cloned());
        let network =
            load(&graph).map_err(|e| format!("{e} (variant {}: {})", variant.number, variant.title))?.network;
        let drawn = network.nodes.iter().find(|n| n.node_type.id == "meniscus.preview" && !n.bypass);
        preview = preview.or(drawn.map(|n| (n.name.clone(), network.settings.frames)));
    }
    let out = args.out.clone().unwrap_or_else(|| default_out(&args.graph.graph).with_extension("wedge"));
    std::fs::create_dir_all(&out).map_err(|e| format!("cannot make the folder {}: {e}", shown(&out)))?;
    if !args.replace {
        same_as_before(&out, &variants, args.collect)?;
    }
    Ok((Wedge { out, variants }, preview))
}

/// An error where the folder holds a wedge of other values.
fn same_as_before(out: &Path, variants: &[Variant], collects: bool) -> Result<(), String> {
    let Ok(bytes) = read_file(&out.join(collect::LIST), LARGEST) else { return Ok(()) };
    let before: Option<Json> = serde_json::from_slice(&bytes).ok();
    let known = before.as_ref().and_then(|list| list["variants"].as_array());
    let same = known.is_some_and(|known| {
        known.len() == variants.len()
            && known.iter().zip(variants).all(|(k, v)| k["set"] == Json::from(v.set.clone()))
    });
    if same {
        return Ok(());
    }
    let what = if collects { "name these values" } else { "choose another --out, or --replace it" };
    Err(format!("{} holds a wedge of other values; {what}", shown(out)))
}

impl Wedge {
    /// The variants to cook now.
    fn wanted(&self, args: &WedgeArgs) -> impl Iterator<Item = &Variant> {
        let (only, collect) = (args.only, args.collect);
        self.variants.iter().filter(move |v| !collect && only.is_none_or(|number| number == v.number))
    }

    /// Cooks one; gives its exit code. The error is one sentence.
    fn cook(&self, variant: &Variant, args: &WedgeArgs, signals: &Signals) -> Result<u8, String> {
        if !args.quiet {
            tell(&format!("{} of {}: {}", variant.number, self.variants.len(), variant.title));
        }
        let cannot = |e| crate::process::limits::no_thread_because("begin a cook", &e);
        let mut command = Command::new(own_file().map_err(cannot)?);
        command.args(cook_args(args, variant, &self.out.join(&variant.folder))).stdin(Stdio::null());
        // What a cook says is no plugin's talk.
        command.stdout(Stream::Out.for_child().map_err(cannot)?);
        command.stderr(Stream::Err.for_child().map_err(cannot)?);
        dies_with_us(&mut command);
        let mut child = command.spawn().map_err(cannot)?;
        let end = wait(&mut child, signals).map_err(|e| format!("a cook cannot be waited for: {e}"))?;
        Ok(end.code().map_or(FAILED, |code| u8::try_from(code).unwrap_or(FAILED)))
    }
}

/// Waits for a cook and passes signals on to it: the first stops and saves, the second breaks it off.
fn wait(child: &mut Child, signals: &Signals) -> std::io::Result<ExitStatus> {
    let mut passed = 0;
    loop {
        if let Some(end) = child.try_wait()? {
            return Ok(end);
        }
        let asked = [&signals.stop, &signals.cancel].into_iter().filter(|s| s.load(Ordering::SeqCst)).count();
        if asked > passed {
            passed = asked;
            ask_to_end(child);
        }
        std::thread::sleep(LOOKS);
    }
}

/// The arguments of the cook of a variant.
fn cook_args(args: &WedgeArgs, variant: &Variant, out: &Path) -> Vec<OsString> {
    let GraphArgs { graph, set, quality } = &args.graph;
    let mut all: Vec<OsString> = vec!["cook".into(), "--out".into(), out.into()];
    all.extend(set.iter().chain(&variant.set).map(|s| format!("--set={s}").into()));
    all.extend(quality.iter().map(|q| format!("--quality={q}").into()));
    all.extend(args.threads.iter().map(|t| format!("--threads={t}").into()));
    all.push(format!("--device={}", args.device.word()).into());
    all.push(format!("--checkpoint-every={}", args.checkpoint_every).into());
    let flags = [
        ("--resume", args.resume),
        ("--replace", args.replace),
        ("--force", args.force),
        ("--openjd", args.openjd),
        ("--quiet", args.quiet),
    ];
    all.extend(flags.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag.into()));
    // The cook's advice adds `--resume` at the end, so no `--` may stand before the graph.
    let hidden = graph.as_os_str().as_encoded_bytes().starts_with(b"-");
    all.push(if hidden { Path::new(".").join(graph).into() } else { graph.into() });
    all
}

/// The command that was typed, with `--resume`.
fn resume_command() -> String {
    let mut words: Vec<String> = std::env::args().map(|a| quoted(&a)).collect();
    if !words.iter().any(|w| w == "--resume") {
        words.push("--resume".into());
    }
    words.join(" ")
}
