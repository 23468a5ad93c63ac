//! `meniscus job`: a bundle for render farms, in the form of Open Job Description (jobtemplate-2023-09).
//!
//! A simulation is one task, which may be begun anew: it goes on from its checkpoints. A wedge has a task for every variant, and
//! a step that puts them side by side once all are cooked.

use super::args::JobArgs;
use super::check::cost_of;
use super::cook::{default_out, folder_of, load, quoted, shown};
use super::vary::{Variant, variants};
use super::{BAD_USAGE, FAILED, fail, say};
use crate::files::write_atomically;
use crate::geometry::frame_path;
use crate::graph::{Animated, Network};
use crate::node::{ParamKind, Value};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Longest name of a job, letters.
const NAME: usize = 64;
/// Seconds that a task may take to save what it has, once it is told to end.
const NOTICE: u32 = 120;
/// Memory that is asked for beyond the estimate, a share of it: estimates are rough.
const SPARE: f64 = 0.25;

pub(super) fn run(args: &JobArgs) -> u8 {
    let job = match Job::plan(args) {
        Ok(job) => job,
        Err(e) => return fail(BAD_USAGE, &e),
    };
    match job.write() {
        Ok(()) => say(&job.what_to_do()),
        Err(e) => fail(FAILED, &e),
    }
}

/// A job that may be written.
struct Job<'a> {
    args: &'a JobArgs,
    name: String,
    graph: PathBuf,
    bundle: PathBuf,
    out: PathBuf,
    variants: Vec<Variant>,
    /// Files that the graph and its variants read.
    files: BTreeSet<PathBuf>,
    /// Most memory that one of them is expected to need, bytes.
    memory: f64,
}

impl<'a> Job<'a> {
    /// Checks graph and variants; the error says what to do.
    fn plan(args: &'a JobArgs) -> Result<Self, String> {
        let is_wedge = !args.vary.is_empty() || !args.seeds.is_empty();
        let variants = if is_wedge { variants(&args.vary, &args.seeds)? } else { Vec::new() };
        for text in args.graph.set.iter().chain(&args.vary).chain(&args.graph.quality) {
            if text.contains("{{") {
                return Err(format!(
                    "`{text}`: two opening braces in a row mean something else to a farm; put a space between them"
                ));
            }
        }
        let whole = |path: &Path| {
            std::path::absolute(path).map_err(|e| format!("{} cannot be found: {e}", shown(path)))
        };
        let default = default_out(&args.graph.graph);
        let cooked = if is_wedge { default.with_extension("wedge") } else { default.clone() };
        let graph = whole(&args.graph.graph)?;
        let mut job = Self {
            args,
            name: name_of(&default),
            bundle: args.out.clone().unwrap_or_else(|| default.with_extension("job")),
            out: whole(args.cook_out.as_deref().unwrap_or(&cooked))?,
            files: [graph.clone()].into(),
            graph,
            variants,
            memory: 0.0,
        };
        let sets: Vec<&[String]> =
            if is_wedge { job.variants.iter().map(|v| v.set.as_slice()).collect() } else { vec![&[]] };
        let (mut files, mut memory) = (BTreeSet::new(), 0.0);
        for set in sets {
            let mut graph = args.graph.clone();
            graph.set.extend(set.iter().cloned());
            let loaded = load(&graph)?;
            let folder = folder_of(&job.graph);
            let (_, cost) = cost_of(&loaded, &folder).map_err(|p| {
                let lines: Vec<String> =
                    p.0.iter().map(|p| format!("{}: {p}", shown(&graph.graph))).collect();
                lines.join("\n")
            })?;
            memory = cost.memory().max(memory);
            files.extend(read_by(&loaded.network, &folder));
        }
        job.files.append(&mut files);
        job.memory = memory;
        Ok(job)
    }

    /// Writes the bundle; the error is one sentence.
    fn write(&self) -> Result<(), String> {
        let bundle = &self.bundle;
        std::fs::create_dir_all(bundle)
            .map_err(|e| format!("cannot make the folder {}: {e}", shown(bundle)))?;
        let values = json!({ "parameterValues": [
            { "name": "Graph", "value": text(&self.graph) },
            { "name": "Out", "value": text(&self.out) },
        ] });
        let assets = json!({ "assetReferences": {
            "inputs": { "filenames": self.files.iter().map(|f| text(f)).collect::<Vec<_>>(), "directories": [] },
            "outputs": { "directories": [text(&self.out)] },
        } });
        for (name, content) in [
            ("template.json", self.template()),
            ("parameter_values.json", values),
            ("asset_references.json", assets),
        ] {
            let path = bundle.join(name);
            let written = serde_json::to_string_pretty(&content).map_err(|e| e.to_string());
            written
                .and_then(|t| write_atomically(&path, t.as_bytes()).map_err(|e| e.to_string()))
                .map_err(|e| format!("cannot write {}: {e}", shown(&path)))?;
        }
        Ok(())
    }

    fn template(&self) -> Json {
        let mut steps = vec![self.cook()];
        if !self.variants.is_empty() {
            steps.push(self.sheet());
        }
        json!({
            "specificationVersion": "jobtemplate-2023-09",
            "name": self.name,
            "parameterDefinitions": [
                { "name": "Graph", "type": "PATH", "objectType": "FILE", "dataFlow": "IN",
                  "description": "The graph that is cooked.",
                  "userInterface": { "control": "CHOOSE_INPUT_FILE", "label": "Graph" } },
                { "name": "Out", "type": "PATH", "objectType": "DIRECTORY", "dataFlow": "OUT",
                  "description": "Folder for everything written. All machines must share it: a task that is begun anew goes on from the checkpoints in it.",
                  "userInterface": { "control": "CHOOSE_DIRECTORY", "label": "Output Folder" } },
                { "name": "Meniscus", "type": "STRING", "default": "meniscus",
                  "description": "The program, by its path where it is in no folder that the machines search.",
                  "userInterface": { "control": "LINE_EDIT", "label": "Program" } },
            ],
            "steps": steps,
        })
    }

    /// The step that cooks: one task, or one for every variant.
    fn cook(&self) -> Json {
        let mut args = self.common();
        args.extend([
            "--resume".to_owned(),
            "--openjd".to_owned(),
            format!("--device={}", self.args.device.word()),
            format!("--checkpoint-every={}", self.args.checkpoint_every),
        ]);
        let mut step = json!({ "name": "Cook", "hostRequirements": self.requirements() });
        if !self.variants.is_empty() {
            let range = format!("1-{}", self.variants.len());
            let numbers = json!([{ "name": "Variant", "type": "INT", "range": range }]);
            step["parameterSpace"] = json!({ "taskParameterDefinitions": numbers });
            args.push("--only={{Task.Param.Variant}}".into());
        }
        step["script"] = script(args, NOTICE);
        step
    }

    /// The step that puts variants side by side.
    fn sheet(&self) -> Json {
        let mut args = self.common();
        args.push("--collect".into());
        json!({ "name": "Sheet", "dependencies": [{ "dependsOn": "Cook" }], "script": script(args, NOTICE) })
    }

    /// Words of the command line of both steps.
    fn common(&self) -> Vec<String> {
        let command = if self.variants.is_empty() { "cook" } else { "wedge" };
        let mut words = vec![command.to_owned(), "{{Param.Graph}}".into(), "--out={{Param.Out}}".into()];
        let all = [("set", &self.args.graph.set), ("vary", &self.args.vary), ("seeds", &self.args.seeds)];
        for (option, texts) in all {
            words.extend(texts.iter().map(|text| format!("--{option}={text}")));
        }
        words.extend(self.args.graph.quality.iter().map(|quality| format!("--quality={quality}")));
        words
    }

    fn requirements(&self) -> Json {
        let mebibytes = (self.memory * (1.0 + SPARE) / f64::from(1 << 20)).ceil();
        let mut amounts = vec![json!({ "name": "amount.worker.memory", "min": mebibytes })];
        if self.args.device == super::args::Device::Cuda {
            amounts.push(json!({ "name": "amount.worker.gpu", "min": 1 }));
        }
        json!({ "amounts": amounts })
    }

    fn what_to_do(&self) -> String {
        let bundle = shown(&self.bundle);
        let (tasks, last) = match self.variants.len() {
            0 => ("one task, which goes on from its checkpoints when it is begun anew".into(), "Cook"),
            n => (
                format!(
                    "{n} tasks that go on from their checkpoints when they are begun anew, and one for the sheet"
                ),
                "Sheet",
            ),
        };
        let given = [("Graph", &self.graph), ("Out", &self.out)];
        let given = given.map(|(name, path)| format!("-p {}", quoted(&format!("{name}={}", text(path)))));
        let memory = super::units::bytes(self.memory * (1.0 + SPARE));
        let template = quoted(&text(&self.bundle.join("template.json")));
        format!(
            "{bundle}: {tasks}; about {memory} of memory each\n\
             here:           openjd run {template} --step {last} --run-dependencies {}\n\
             Deadline Cloud: deadline bundle submit {}\n",
            given.join(" "),
            quoted(&text(&self.bundle)),
        )
    }
}

/// The only action of a step. Once told to end it has some seconds to save.
fn script(args: Vec<String>, notice: u32) -> Json {
    let cancelation = json!({ "mode": "NOTIFY_THEN_TERMINATE", "notifyPeriodInSeconds": notice });
    json!({ "actions": { "onRun": { "command": "{{Param.Meniscus}}", "args": args, "cancelation": cancelation } } })
}

/// A job's name: that of the graph.
fn name_of(default: &Path) -> String {
    let name = default.with_extension("").to_string_lossy().replace("{{", "{ {");
    name.chars().filter(|c| !c.is_control()).take(NAME).collect()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The files that a graph's parameters name, those of all frames where they name a sequence.
fn read_by(network: &Network, folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for node in &network.nodes {
        for spec in node.node_type.params.iter().filter(|spec| spec.kind == ParamKind::File) {
            let Some(Animated::Constant(Value::Text(name))) = node.params.get(&spec.name) else { continue };
            let (first, last) = network.settings.frames;
            // A moving mesh is asked for the frame after the last, too.
            let names = (i64::from(first)..=i64::from(last) + 1).map(|n| frame_path(name, n));
            let names: BTreeSet<String> = names.collect();
            found.extend(names.iter().map(|n| folder.join(n)).filter(|path| path.is_file()));
        }
    }
    found
}
