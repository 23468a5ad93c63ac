//! What is attacked: files of every kind, each with the command that reads it.

use crate::mutate;
use meniscus_tests::random::Random;
use meniscus_tests::{c, meniscus, shot::Shot};
use serde_json::{Value, json};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Longest that a command may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Memory that a command may take, bytes: what `inspect` may, and as much again that threads only reserve.
const MEMORY: u64 = 3 << 30;
/// Bytes of a checkpoint before its payload: magic, version, length, hash.
const HEAD: usize = 52;

/// Kinds of files that are attacked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// A cache of ours: every change must be seen.
    OwnCache,
    /// A cache of another program.
    TheirCache,
    /// Points of ours: every change must be seen.
    Points,
    /// A graph.
    Graph,
    /// A mesh, as `.obj`.
    Obj,
    /// A mesh, as `.ply`.
    Ply,
    /// A checkpoint: every change must be seen.
    Checkpoint,
    /// A checkpoint whose hash fits what was changed.
    FittingCheckpoint,
    /// What an earlier cook left beside its files.
    Records,
    /// A plugin, its descriptors before all: every command goes on without it.
    Plugin,
}

impl Target {
    pub const ALL: [Target; 10] = [
        Target::OwnCache,
        Target::TheirCache,
        Target::Points,
        Target::Graph,
        Target::Obj,
        Target::Ply,
        Target::Checkpoint,
        Target::FittingCheckpoint,
        Target::Records,
        Target::Plugin,
    ];
}

/// The sound files of one small shot.
pub struct Range {
    shot: Shot,
    cache: Vec<u8>,
    points: Vec<u8>,
    checkpoint: Vec<u8>,
    graph: Vec<u8>,
    plugin: Vec<u8>,
}

const CACHE: &str = "out/cache/cache.0002.vdb";
const POINTS: &str = "out/points/points.0002.geo";
const CHECKPOINT: &str = "out/checkpoints/checkpoint.0002.mns";
const OBJ: &[u8] = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 1\nvt 0.5 0.5\nf 1/1/1 3/1/1 2/1/1\nf 1 2 4\nf 2 3 4\nf 1//1 4//1 3//1\n";

/// Water in a closed box, some eight voxels wide, with trapped air looked after.
fn shot(frames: u32) -> Value {
    json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, frames],
        "substeps": { "min": 1, "max": 2, "cfl": 2.0 },
        "variables": { "size": 0.2 },
        "nodes": [
            { "name": "fill", "type": "box", "params": { "size": ["$size", 0.1, 0.2], "center": [0.0, 0.05, 0.0] } },
            { "name": "water", "type": "liquid_object", "inputs": ["fill"], "params": { "particle_separation": 0.02 } },
            { "name": "gravity", "type": "gravity" },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "gravity"],
              "params": { "limit_center": [0.0, 0.15, 0.0], "limit_size": [0.2, 0.3, 0.2],
                          "side_neg_x": "closed", "side_pos_x": "closed", "side_neg_y": "closed",
                          "side_neg_z": "closed", "side_pos_z": "closed" } },
            { "name": "air", "type": "constraint_bubbles", "inputs": ["flip"] },
            { "name": "cache", "type": "vdb_cache", "inputs": ["air"] },
            { "name": "points", "type": "geometry_cache", "inputs": ["air"] }
        ]
    })
}

/// A mesh that is only written out again.
fn mesh(file: &str) -> Value {
    json!({
        "format": "meniscus.graph/1", "frames": [1, 1], "nodes": [
            { "name": "mesh", "type": "file", "params": { "file": file } },
            { "name": "points", "type": "geometry_cache", "inputs": ["mesh"], "params": { "geometry": ["geometry"] } }
        ]
    })
}

/// A tetrahedron as binary `.ply`.
fn ply() -> Vec<u8> {
    let mut bytes =
        b"ply\nformat binary_little_endian 1.0\nelement vertex 4\nproperty float x\nproperty float y\n\
        property float z\nelement face 4\nproperty list uchar int vertex_indices\nend_header\n"
            .to_vec();
    for p in [[0f32; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] {
        p.iter().for_each(|c| bytes.extend(c.to_le_bytes()));
    }
    for f in [[0i32, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]] {
        bytes.push(3);
        f.iter().for_each(|v| bytes.extend(v.to_le_bytes()));
    }
    bytes
}

impl Range {
    pub fn new() -> Self {
        let shot = Shot::new(&shot(2));
        shot.cook(&[]);
        let read = |name: &str| std::fs::read(shot.path(name)).expect("the cook wrote it");
        let (cache, points, checkpoint) = (read(CACHE), read(POINTS), read(CHECKPOINT));
        let graph = serde_json::to_string_pretty(&self::shot(3)).expect("a graph is JSON").into_bytes();
        let library = c::plugin("tests/abi/c_descriptors.c", &[], &shot.plugins());
        let plugin = std::fs::read(&library).expect("the compiler wrote it");
        std::fs::remove_file(library).expect("it can be removed");
        let range = Self { shot, cache, points, checkpoint, graph, plugin };
        // What is damaged is what is read: without damage it is sound.
        let same = range.fitting(&range.checkpoint[HEAD..]);
        assert!(same == range.checkpoint, "a checkpoint is laid out in another way");
        assert!(range.cache[21..57].is_ascii(), "a cache is laid out in another way");
        range
    }

    /// Changes a file at random and has it read; the error says what happened.
    pub fn attack(&self, target: Target, r: &mut Random) -> Result<(), String> {
        match target {
            Target::OwnCache => self.inspect(CACHE, &self.cache, mutate::bytes(&self.cache, r), true),
            Target::TheirCache => {
                let mut theirs = self.cache.clone();
                theirs[21..57].copy_from_slice(b"0bad5eed-0123-4567-8901-0123456789ab");
                let mutant = mutate::bytes(&theirs, r);
                self.inspect(CACHE, &theirs, mutant, false)
            }
            Target::Points => self.inspect(POINTS, &self.points, mutate::text(&self.points, r), true),
            Target::Graph => {
                let file = self.shot.file("attack/shot.meniscus.json", &mutate::text(&self.graph, r));
                bearable(meniscus(&["check"]).arg(file), &[0, 1, 2])
            }
            Target::Obj => self.mesh("attack/mesh.obj", &mutate::text(OBJ, r)),
            Target::Ply => self.mesh("attack/mesh.ply", &mutate::bytes(&ply(), r)),
            Target::Checkpoint => {
                let mutant = mutate::bytes(&self.checkpoint, r);
                let codes: &[i32] = if mutant == self.checkpoint { &[0] } else { &[1] };
                self.resume(&mutant, codes)
            }
            Target::FittingCheckpoint => {
                let mutant = self.fitting(&mutate::bytes(&self.checkpoint[HEAD..], r));
                self.resume(&mutant, &[0, 1])
            }
            Target::Records => self.records(r),
            Target::Plugin => {
                self.shot.file("attack/plugins/libmutant.so", &mutate::words(&self.plugin, r));
                let mut nodes = meniscus(&["nodes"]);
                nodes.env("MENISCUS_PLUGIN_PATH", self.shot.path("attack/plugins"));
                nodes.env("HOME", self.shot.path("attack")).env_remove("XDG_CACHE_HOME");
                bearable(nodes.env("MENISCUS_SCAN_SECONDS", "2"), &[0])
            }
        }
    }

    /// A checkpoint with this payload, whose length and hash fit.
    fn fitting(&self, payload: &[u8]) -> Vec<u8> {
        let mut file = self.checkpoint[..HEAD].to_vec();
        file[12..20].copy_from_slice(&(payload.len() as u64).to_le_bytes());
        file[20..HEAD].copy_from_slice(blake3::hash(payload).as_bytes());
        file.extend(payload);
        file
    }

    fn inspect(&self, name: &str, whole: &[u8], mutant: Vec<u8>, all_seen: bool) -> Result<(), String> {
        let codes: &[i32] = match all_seen {
            true if mutant == whole => &[0],
            true => &[1],
            false => &[0, 1],
        };
        let name = Path::new(name).file_name().expect("it has a name").to_string_lossy().into_owned();
        let file = self.shot.file(&format!("attack/{name}"), &mutant);
        bearable(meniscus(&["inspect"]).arg(file), codes)
    }

    fn mesh(&self, name: &str, mutant: &[u8]) -> Result<(), String> {
        let file = self.shot.file(name, mutant);
        let graph = mesh(&file.to_string_lossy()).to_string();
        let graph = self.shot.file("attack/mesh.meniscus.json", graph.as_bytes());
        let out = self.shot.path("attack/mesh.out");
        bearable(meniscus(&["cook", "--quiet"]).arg(graph).arg("--out").arg(out), &[0, 1, 2])
    }

    /// Goes on for one frame from a checkpoint.
    fn resume(&self, checkpoint: &[u8], codes: &[i32]) -> Result<(), String> {
        let graph = self.shot.file("attack/shot.meniscus.json", &self.graph);
        let out = self.shot.path("attack/resumed");
        // What an earlier one left would be gone on from.
        let _ = std::fs::remove_dir_all(&out);
        self.shot.file("attack/resumed/checkpoints/checkpoint.0002.mns", checkpoint);
        bearable(meniscus(&["cook", "--quiet", "--resume"]).arg(graph).arg("--out").arg(out), codes)
    }

    /// Cooks into a folder whose records are damaged; files that are nobody's must stay.
    fn records(&self, r: &mut Random) -> Result<(), String> {
        let kept = self.shot.file("attack/mesh.out/points/notes.txt", b"mine");
        let beside = self.shot.file("attack/beside.txt", b"mine");
        let record = json!({ "written": [
            { "file": "points/points.$F4.geo", "frames": [1, 9] },
            { "file": "points/../../beside.txt" } ] });
        for name in ["cook.json", "stats.jsonl", "cook.lock"] {
            let bytes = mutate::text(record.to_string().as_bytes(), r);
            self.shot.file(&format!("attack/mesh.out/{name}"), &bytes);
        }
        let mesh = self.shot.file("attack/mesh.obj", OBJ);
        let graph = self::mesh(&mesh.to_string_lossy()).to_string();
        let graph = self.shot.file("attack/mesh.meniscus.json", graph.as_bytes());
        let out = self.shot.path("attack/mesh.out");
        bearable(meniscus(&["cook", "--quiet", "--replace"]).arg(graph).arg("--out").arg(out), &[0, 1])?;
        let gone = [kept, beside].into_iter().find(|f| !f.exists());
        gone.map_or(Ok(()), |f| Err(format!("{} was removed", f.display())))
    }

    /// Where the files of the last attack are, to be kept.
    pub fn evidence(&self) -> PathBuf {
        let to = std::env::temp_dir().join(format!("meniscus-attack-{}", std::process::id()));
        let copied = Command::new("cp").arg("-r").arg(self.shot.path("attack")).arg(&to).status();
        copied.map_or_else(|_| self.shot.path("attack"), |_| to)
    }
}

/// Runs a command that must end by itself, within time and memory, with one of these codes and without a panic.
fn bearable(command: &mut Command, codes: &[i32]) -> Result<(), String> {
    // SAFETY: setrlimit may be called between fork and exec; the limit lies on the child's stack.
    unsafe {
        command.pre_exec(|| {
            let limit = libc::rlimit { rlim_cur: MEMORY, rlim_max: MEMORY };
            libc::setrlimit(libc::RLIMIT_DATA, &raw const limit);
            let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
            Ok(())
        });
    }
    let shown = format!("{command:?}");
    let output = within(command, PATIENCE).ok_or_else(|| format!("it does not end: {shown}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code();
    let told = code == Some(0) || said.contains("error: ");
    if !code.is_some_and(|c| codes.contains(&c)) || !told || said.contains("panicked") {
        let signal = output.status.signal();
        return Err(format!("code {code:?}, signal {signal:?}, expected {codes:?}: {shown}\n{said}"));
    }
    Ok(())
}

fn within(command: &mut Command, limit: Duration) -> Option<Output> {
    let piped = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("meniscus starts");
    let begun = Instant::now();
    while child.try_wait().expect("the child can be asked").is_none() {
        if begun.elapsed() > limit {
            child.kill().expect("the child can be ended");
            child.wait().expect("the child ends");
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Some(child.wait_with_output().expect("the child has ended"))
}
