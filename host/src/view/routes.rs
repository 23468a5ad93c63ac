//! What is answered to which request.

use super::assets;
use super::cooks::{Change, Cook, Cooks};
use super::guard::{self, Guard};
use super::http::{Body, Method, Request, Response};
use super::shapes::{Kind, Refused, Store};
use super::summary;
use crate::process::own_file;
use serde_json::{Value as Json, json};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};

/// Everything that answers need.
pub struct Routes {
    guard: Guard,
    cooks: Arc<Cooks>,
    store: Store,
    types: OnceLock<Arc<[u8]>>,
}

impl Routes {
    /// For these cooks.
    pub fn new(guard: Guard, cooks: Arc<Cooks>) -> Self {
        Self { guard, cooks, store: Store::default(), types: OnceLock::new() }
    }

    /// The answer to a request.
    pub fn answer(&self, request: &Request) -> Response {
        if !guard::is_host(request) {
            return Response::sentence(403, "this server answers to localhost and 127.0.0.1 alone");
        }
        let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
        let Some(("api", rest)) = path.split_first().map(|(first, rest)| (*first, rest)) else {
            return asset(request);
        };
        if !guard::is_origin(request) {
            return Response::sentence(403, "another page may not ask this");
        }
        if !self.guard.has_token(request) {
            return Response::sentence(
                401,
                "the token is missing or wrong: open the address that `meniscus view` printed",
            );
        }
        match (request.method, rest) {
            (Method::Post, ["cooks", number, "change"]) => {
                self.with(number, |cook| self.change(cook, &request.body))
            }
            (Method::Post, ["cooks", number, "check"]) => {
                self.with(number, |cook| self.check(cook, &request.body))
            }
            (Method::Post, ["cooks", number, "stop"]) => self.with(number, |cook| self.stop(cook)),
            (Method::Post, _) => Response::sentence(405, "this can only be read"),
            (_, ["types"]) => self.types(),
            (_, ["cooks"]) => self.list(),
            (_, ["cooks", number]) => {
                self.with(number, |cook| Response::json(&summary::whole(number.parse().unwrap_or(0), cook)))
            }
            (_, ["cooks", number, "stats"]) => self.with(number, |cook| stats(cook, request)),
            (_, ["cooks", number, "shapes", node, name]) => {
                self.with(number, |cook| self.shapes(cook, node, name))
            }
            (_, ["cooks", number, "scenery", frame]) => self.with(number, |cook| self.scenery(cook, frame)),
            (_, ["cooks", number, "files", names @ ..]) => self.with(number, |cook| file(cook, names)),
            _ => nothing(),
        }
    }

    fn with(&self, number: &str, answer: impl FnOnce(&Cook) -> Response) -> Response {
        self.cooks.get(number).map_or_else(nothing, |cook| answer(&cook))
    }

    fn list(&self) -> Response {
        let cooks: Vec<Json> =
            self.cooks.all().iter().enumerate().map(|(n, c)| summary::short(n, c)).collect();
        Response::json(
            &json!({ "cooks": cooks, "read_only": self.cooks.read_only, "version": env!("CARGO_PKG_VERSION") }),
        )
    }

    /// The node types of all plugins, as `meniscus nodes --json` tells them; asked once.
    fn types(&self) -> Response {
        let bytes = self.types.get_or_init(|| {
            let program = own_file().map(Command::new);
            let said = program.and_then(|mut p| {
                p.args(["nodes", "--json"]).stdin(Stdio::null()).stderr(Stdio::null()).output()
            });
            let said = said.ok().filter(|s| s.status.success()).map(|s| s.stdout);
            said.unwrap_or_else(|| b"[]".to_vec()).into()
        });
        let tag = blake3::hash(bytes).to_hex()[..16].to_owned();
        Response::new(200, "application/json", Body::Bytes(bytes.clone())).tagged(tag)
    }

    fn shapes(&self, cook: &Cook, node: &str, name: &str) -> Response {
        let Some(kind) = Kind::of(name) else { return nothing() };
        self.drawn(cook, &[node, name], kind)
    }

    /// The solids of the graph, of which the server knows no more than the record.
    fn scenery(&self, cook: &Cook, frame: &str) -> Response {
        let Ok(frame) = frame.parse() else { return nothing() };
        self.drawn(cook, &["cook.json"], Kind::Scenery(frame))
    }

    fn drawn(&self, cook: &Cook, names: &[&str], kind: Kind) -> Response {
        let Ok(file) = cook.folder.open(names) else { return nothing() };
        let Some(version) = version(&file).map(|v| format!("{v}-{}", kind.words().concat())) else {
            return nothing();
        };
        match self.store.shapes(&version, kind, &names.iter().collect::<PathBuf>(), file) {
            Ok(bytes) => Response::new(200, BINARY, Body::Bytes(bytes)).tagged(version),
            Err(Refused::Busy) => {
                Response::sentence(503, "too many files are being read").with("Retry-After", 1)
            }
            Err(Refused::Because(why)) => Response::sentence(422, &why),
        }
    }

    fn change(&self, cook: &Cook, body: &[u8]) -> Response {
        let change = match asked(body) {
            Ok(change) => change,
            Err(why) => return Response::sentence(400, why),
        };
        match self.cooks.change(cook, &change) {
            Ok(number) => Response::json(&json!({ "id": number })),
            Err(why) => self.refused(&why),
        }
    }

    fn check(&self, cook: &Cook, body: &[u8]) -> Response {
        if self.cooks.read_only {
            return self.refused("this page only shows cooks (--read-only)");
        }
        match asked(body).map(|change| self.cooks.check(cook, &change)) {
            // That something is wrong with a graph is an answer, too. One that nobody waits for any more is empty.
            Ok(Some(Ok(said))) => Response::json(&json!({ "said": said })),
            Ok(Some(Err(why))) => Response::json(&json!({ "wrong": why })),
            Ok(None) => Response::json(&json!({})),
            Err(why) => Response::sentence(400, why),
        }
    }

    fn refused(&self, why: &str) -> Response {
        Response::sentence(if self.cooks.read_only { 403 } else { 409 }, why)
    }

    fn stop(&self, cook: &Cook) -> Response {
        match &cook.job {
            _ if self.cooks.read_only => Response::sentence(403, "this page only shows cooks (--read-only)"),
            Some(job) => {
                job.stop();
                Response::json(&json!({}))
            }
            None => Response::sentence(409, "this cook was begun elsewhere; stop it there"),
        }
    }
}

/// What a page wants changed; the error is one sentence.
fn asked(body: &[u8]) -> Result<Change, &'static str> {
    let json: Json = serde_json::from_slice(body).unwrap_or_default();
    let set = json["set"].as_object().cloned().ok_or("this is no JSON object with `set`")?;
    let fork = json["fork"].as_i64().and_then(|frame| i32::try_from(frame).ok());
    if fork.is_none() && !json["fork"].is_null() {
        return Err("`fork` is no frame");
    }
    Ok(Change { set, fork })
}

const BINARY: &str = "application/octet-stream";

fn nothing() -> Response {
    Response::sentence(404, "there is nothing here")
}

fn asset(request: &Request) -> Response {
    match assets::find(&request.path) {
        Some(_) if request.method == Method::Post => Response::sentence(405, "this can only be read"),
        Some((kind, bytes)) => {
            let tag = blake3::hash(bytes).to_hex()[..16].to_owned();
            Response::new(200, kind, Body::Static(bytes)).tagged(tag)
        }
        None => nothing(),
    }
}

/// What tells a file from others and from itself before and after a change.
fn version(file: &File) -> Option<String> {
    let meta = file.metadata().ok()?;
    let changed = meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?.as_nanos();
    #[cfg(unix)]
    let (device, number) =
        (std::os::unix::fs::MetadataExt::dev(&meta), std::os::unix::fs::MetadataExt::ino(&meta));
    #[cfg(not(unix))]
    let (device, number) = (0, 0);
    Some(format!("{device:x}-{number:x}-{:x}-{changed:x}", meta.len()))
}

/// Lines of the statistics from a byte on.
fn stats(cook: &Cook, request: &Request) -> Response {
    let from = request.query("from").and_then(|f| f.parse().ok()).unwrap_or(0);
    match cook.folder.lines("stats.jsonl", from, request.query("file")) {
        Ok(lines) => Response::new(200, "application/x-ndjson", Body::Bytes(lines.bytes.into()))
            .with("Meniscus-File", lines.id)
            .with("Meniscus-Next", lines.next)
            .with("Meniscus-Length", lines.length),
        Err(_) => nothing(),
    }
}

/// A file of the cook as it is: what a node wrote, the record, the statistics.
fn file(cook: &Cook, names: &[&str]) -> Response {
    let is_shown = match names {
        [name] => ["cook.json", "stats.jsonl"].contains(name),
        [_, name] => {
            ["vdb", "geo", "png"].iter().any(|end| Path::new(name).extension().is_some_and(|e| e == *end))
        }
        _ => false,
    };
    let opened = || {
        let file = cook.folder.open(names).ok()?;
        let length = file.metadata().ok()?.len();
        Some((version(&file)?, file, length))
    };
    let Some((version, file, length)) = is_shown.then(opened).flatten() else { return nothing() };
    let is_picture = names.last().is_some_and(|n| n.ends_with(".png"));
    let kind = if is_picture { "image/png" } else { BINARY };
    let response = Response::new(200, kind, Body::File(file, length)).tagged(version);
    if is_picture { response } else { response.with("Content-Disposition", "attachment") }
}
