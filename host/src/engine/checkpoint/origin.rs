//! Records what a state was made from, and decides whether another cook may go on from it.

use crate::data::Lifetime;
use crate::files::open_file;
use crate::graph::{Bound, Network};
use crate::loader::Plugins;
use crate::node::{NodeKind, ParamKind, PortOwner, PortSpec, Stage, Value};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A parameter longer than this is kept by its hash.
const LONGEST: usize = 120;

/// Everything that determines the result of a cook: settings, nodes, plugins, files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// Settings of the shot by name.
    pub settings: BTreeMap<String, String>,
    /// Nodes by name.
    pub nodes: BTreeMap<String, Made>,
    /// Version and hash of every plugin with a node in the graph, by name.
    pub plugins: BTreeMap<String, String>,
    /// Hash of every file that was read so far, by the name of the node that reads it, then by the file's.
    pub files: BTreeMap<String, BTreeMap<String, String>>,
}

/// One node of a graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Made {
    /// Type and version.
    pub kind: String,
    /// Nodes wired in.
    pub inputs: Vec<String>,
    /// It only passes its input through.
    pub bypass: bool,
    /// It writes files, and nothing reads what it makes.
    pub output: bool,
    /// It shapes geometry and has no state.
    pub geometry: bool,
    /// It owns part of the simulated state.
    pub keeps_state: bool,
    /// Parameters, as text or as the hash of a long text.
    pub params: BTreeMap<String, String>,
}

impl Origin {
    /// What a cook of this network is made from, before it has read any file but those of plugins' nodes. Files are
    /// looked for relative to `folder`.
    pub fn new(network: &Network, plugins: &Plugins, folder: &Path) -> Self {
        let s = &network.settings;
        let settings = [
            ("fps", s.fps.to_string()),
            ("first frame", s.frames.0.to_string()),
            ("substeps.min", s.substeps.min.to_string()),
            ("substeps.max", s.substeps.max.to_string()),
            ("substeps.cfl", s.substeps.cfl.to_string()),
        ];
        let mut origin = Origin {
            settings: settings.map(|(name, value)| (name.to_owned(), value)).into(),
            ..Origin::default()
        };
        for node in &network.nodes {
            origin.nodes.insert(node.name.clone(), made(node, network));
            if let Some(contract) = &node.node_type.contract
                && let Some(plugin) = plugins.loaded.get(contract.plugin)
                && !origin.plugins.contains_key(&plugin.name)
            {
                let print = format!("{} {}", plugin.version, hash_of(&plugin.path).unwrap_or_default());
                origin.plugins.insert(plugin.name.clone(), print);
            }
            if node.node_type.contract.is_some() && !node.bypass {
                files_of(node, folder).for_each(|(file, hash)| origin.read(&node.name, &file, &hash));
            }
        }
        origin
    }

    /// Notes a file that a node has read.
    pub fn read(&mut self, node: &str, file: &str, hash: &str) {
        self.files
            .entry(node.to_owned())
            .or_default()
            .entry(file.to_owned())
            .or_insert_with(|| hash.to_owned());
    }

    /// The same with the values of another cook for whatever keyframes may change: as if it had a key there.
    pub fn keyed_as(mut self, now: &Origin, network: &Network) -> Self {
        for node in &network.nodes {
            let (Some(was), Some(is)) = (self.nodes.get_mut(&node.name), now.nodes.get(&node.name)) else {
                continue;
            };
            for spec in node.node_type.params.iter().filter(|p| p.takes_keys()) {
                let value = is.params.get(&spec.name).filter(|_| was.kind == is.kind);
                value.into_iter().for_each(|v| drop(was.params.insert(spec.name.clone(), v.clone())));
            }
        }
        self
    }

    /// The reason why a cook of `now` cannot go on from here, if there is one: one sentence. Files are looked for
    /// relative to `folder`.
    pub fn misfit(&self, now: &Origin, folder: &Path) -> Option<String> {
        self.settings_differ(now)
            .or_else(|| self.nodes_differ(now))
            .or_else(|| self.plugins_differ(now))
            .or_else(|| self.files_differ(now, folder))
            .map(|what| format!("{what}; cook from the start"))
    }

    /// The nodes that took part so far and do not any more, outputs aside.
    pub fn left_out<'a>(&'a self, now: &'a Origin) -> impl Iterator<Item = (&'a String, &'a Made)> {
        let without = |name: &str| now.nodes.get(name).is_none_or(|n| n.bypass);
        self.nodes.iter().filter(move |(name, was)| !was.bypass && !was.output && without(name))
    }

    fn settings_differ(&self, now: &Origin) -> Option<String> {
        let (name, was, is) = first_change(&self.settings, &now.settings)?;
        Some(format!(
            "the shot's timing is not as it was when the checkpoint was made: `{name}` was {was} and is {is}"
        ))
    }

    fn nodes_differ(&self, now: &Origin) -> Option<String> {
        if let Some((name, _)) = self.left_out(now).find(|(_, was)| was.keeps_state) {
            return Some(format!("node `{name}` keeps part of the state, so it cannot be left out half-way"));
        }
        let gone: BTreeSet<&str> =
            self.nodes.keys().map(String::as_str).filter(|n| !now.nodes.contains_key(*n)).collect();
        let changed = self.nodes.iter().find_map(|(name, was)| {
            let is = now.nodes.get(name)?;
            self.change(was, is, &gone)
                .map(|what| format!("node `{name}` is not as it was when the checkpoint was made: {what}"))
        });
        let added = |(name, is): &(&String, &Made)| {
            !self.nodes.contains_key(*name) && !is.output && !is.geometry && !is.bypass
        };
        let new = || now.nodes.iter().find(added);
        changed.or_else(|| {
            new().map(|(name, _)| format!("node `{name}` was not there when the checkpoint was made"))
        })
    }

    /// The change of a node, if there is one; `gone` are the nodes that were removed.
    fn change(&self, was: &Made, is: &Made, gone: &BTreeSet<&str>) -> Option<String> {
        if was.kind != is.kind {
            return Some(format!("it was a {} and is a {}", was.kind, is.kind));
        }
        if was.bypass && !is.bypass && !was.output {
            return Some("it was bypassed".into());
        }
        if was.bypass || is.bypass {
            // An output that wrote nothing so far counts as new, and a node that is bypassed now does not matter.
            return None;
        }
        if let Some((param, was, is)) = first_change(&was.params, &is.params) {
            return Some(format!("`{param}` was {was} and is {is}"));
        }
        let dropped: Vec<&String> = was.inputs.iter().filter(|i| !gone.contains(i.as_str())).collect();
        let rewired = was.inputs.iter().flat_map(|i| self.past(i, gone)).collect::<Vec<_>>();
        let now: Vec<&String> = is.inputs.iter().collect();
        (now != dropped && now != rewired).then(|| {
            let list = |names: &[&String]| match names {
                [] => "nothing".into(),
                _ => names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", "),
            };
            format!(
                "{} were wired into it and now {}",
                list(&was.inputs.iter().collect::<Vec<_>>()),
                list(&now)
            )
        })
    }

    /// The nodes at the end of a wire when nodes that are gone pass their inputs through.
    fn past<'a>(&'a self, input: &'a String, gone: &BTreeSet<&str>) -> Vec<&'a String> {
        match self.nodes.get(input).filter(|_| gone.contains(input.as_str())) {
            Some(node) => node.inputs.iter().flat_map(|i| self.past(i, gone)).collect(),
            None => vec![input],
        }
    }

    fn plugins_differ(&self, now: &Origin) -> Option<String> {
        let changed = |(name, is): &(&String, &String)| self.plugins.get(*name).is_some_and(|was| was != *is);
        let (name, is) = now.plugins.iter().find(changed)?;
        let version = |print: &str| print.split(' ').next().unwrap_or_default().to_owned();
        let (was, is) = (version(self.plugins.get(name)?), version(is));
        let how = if was == is {
            "its file has changed".into()
        } else {
            format!("it was version {was} and is {is}")
        };
        Some(format!("plugin `{name}` is not the one that the checkpoint was made with: {how}"))
    }

    fn files_differ(&self, now: &Origin, folder: &Path) -> Option<String> {
        let read_now = |node: &str| now.nodes.get(node).is_some_and(|n| !n.bypass);
        let files = self.files.iter().filter(|(node, _)| read_now(node));
        files.flat_map(|(node, files)| files.iter().map(move |(f, hash)| (node, f, hash))).find_map(
            |(node, file, was)| match hash_of(&folder.join(file)) {
                Ok(is) if is == *was => None,
                Ok(_) => Some(format!(
                    "{file}, which node `{node}` reads, is not as it was when the checkpoint was made"
                )),
                Err(e) => Some(format!("{file}, which node `{node}` reads, cannot be read: {e}")),
            },
        )
    }
}

/// The first entry that differs: name, was, is.
fn first_change<'a>(
    was: &'a BTreeMap<String, String>,
    is: &'a BTreeMap<String, String>,
) -> Option<(&'a str, &'a str, &'a str)> {
    let names = was.keys().chain(is.keys());
    let value =
        |of: &'a BTreeMap<String, String>, name: &String| of.get(name).map_or("not there", String::as_str);
    names.map(|n| (n.as_str(), value(was, n), value(is, n))).find(|(_, a, b)| a != b)
}

fn made(node: &Bound, network: &Network) -> Made {
    let t = &node.node_type;
    let param = |(name, value): (&String, &_)| {
        let text = crate::graph::to_json(value).to_string();
        let short = text.len() <= LONGEST;
        (name.clone(), if short { text } else { format!("#{}", blake3::hash(text.as_bytes()).to_hex()) })
    };
    Made {
        kind: format!("{} {}", t.id, t.version),
        inputs: node.inputs.iter().map(|&i| network.nodes[i].name.clone()).collect(),
        bypass: node.bypass,
        output: t.kind == NodeKind::Output,
        geometry: t.kind == NodeKind::Geometry,
        keeps_state: keeps_state(node, network),
        params: node.params.iter().map(param).collect(),
    }
}

/// True for a node that owns part of the state. A force changes what others own, and owns nothing of it.
fn keeps_state(node: &Bound, network: &Network) -> bool {
    // A force that moves whatever can be moved keeps nothing.
    let is_kept = |p: &PortSpec| {
        let writes = Stage::ALL.iter().any(|s| p.access(*s).writes);
        p.lifetime == Lifetime::State && writes && !p.is_every_movable()
    };
    let ports = |n: &'_ Bound| n.node_type.contract.iter().flat_map(|c| c.ports.clone()).collect::<Vec<_>>();
    let elsewhere = |p: &PortSpec| {
        let others = network.nodes.iter().filter(|n| n.node_type.id != node.node_type.id);
        others.flat_map(ports).any(|q| is_kept(&q) && q.name == p.name)
    };
    match node.node_type.kind {
        NodeKind::Object => true,
        NodeKind::Force => {
            ports(node).iter().any(|p| is_kept(p) && (p.owner == PortOwner::Node || !elsewhere(p)))
        }
        _ => ports(node).iter().any(is_kept),
    }
}

/// The files that a plugin's node is told to read, with their hashes.
fn files_of<'a>(node: &'a Bound, folder: &'a Path) -> impl Iterator<Item = (String, String)> + 'a {
    let specs = node.node_type.params.iter().filter(|p| p.kind == ParamKind::File);
    specs.filter_map(move |spec| match node.params.get(&spec.name)?.at(0.0) {
        Value::Text(file) if !file.is_empty() => {
            let hash = hash_of(&folder.join(&file)).ok()?;
            Some((file, hash))
        }
        _ => None,
    })
}

/// Hash of a file's bytes.
fn hash_of(path: &Path) -> std::io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(open_file(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(kind: &str, inputs: &[&str], params: &[(&str, &str)]) -> Made {
        Made {
            kind: kind.into(),
            inputs: inputs.iter().map(|i| (*i).to_owned()).collect(),
            params: params.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            output: kind == "cache",
            geometry: matches!(kind, "box" | "transform"),
            keeps_state: matches!(kind, "liquid" | "solver"),
            ..Made::default()
        }
    }

    /// box → move → water ┐
    ///            gravity ┴ flip → cache
    fn shot() -> Origin {
        let nodes = [
            ("box", node("box", &[], &[("size", "1")])),
            ("move", node("transform", &["box"], &[])),
            ("water", node("liquid", &["move"], &[("density", "1000")])),
            ("gravity", node("force", &[], &[])),
            ("flip", node("solver", &["water", "gravity"], &[])),
            ("cache", node("cache", &["flip"], &[("grids", "surface")])),
        ];
        Origin {
            settings: [("fps".to_owned(), "24".to_owned())].into(),
            nodes: nodes.map(|(name, n)| (name.to_owned(), n)).into(),
            plugins: [("p".to_owned(), "1.0 abc".to_owned())].into(),
            files: BTreeMap::new(),
        }
    }

    fn misfit(change: impl FnOnce(&mut Origin)) -> Option<String> {
        let mut now = shot();
        change(&mut now);
        shot().misfit(&now, Path::new("."))
    }

    fn get<'a>(o: &'a mut Origin, name: &str) -> &'a mut Made {
        o.nodes.get_mut(name).unwrap()
    }

    #[test]
    fn what_changes_the_result_is_named() {
        let change = |name: &'static str, value: &'static str, node: &'static str| {
            misfit(move |o| drop(get(o, node).params.insert(name.into(), value.into()))).unwrap()
        };
        let said = change("density", "900", "water");
        assert!(said.contains("node `water`") && said.contains("`density` was 1000 and is 900"), "{said}");
        assert!(said.contains("cook from the start"), "{said}");
        let said = change("grids", "vel", "cache");
        assert!(said.contains("node `cache`") && said.contains("`grids`"), "{said}");
        let said = misfit(|o| drop(o.settings.insert("fps".into(), "25".into()))).unwrap();
        assert!(said.contains("timing") && said.contains("`fps` was 24 and is 25"), "{said}");
        let said = misfit(|o| drop(o.plugins.insert("p".into(), "1.0 abd".into()))).unwrap();
        assert!(said.contains("plugin `p`") && said.contains("its file has changed"), "{said}");
        let said = misfit(|o| drop(o.plugins.insert("p".into(), "1.1 abd".into()))).unwrap();
        assert!(said.contains("was version 1.0 and is 1.1"), "{said}");
    }

    #[test]
    fn only_what_keeps_no_state_may_be_left_out() {
        for (name, users, past) in [("gravity", "flip", vec![]), ("move", "water", vec!["box"])] {
            let bypassed = misfit(|o| get(o, name).bypass = true);
            assert_eq!(bypassed, None, "{name}");
            let taken_out = misfit(|o| {
                o.nodes.remove(name);
                let inputs = &mut get(o, users).inputs;
                let at = inputs.iter().position(|i| i == name).unwrap();
                inputs.splice(at..=at, past.iter().map(|p: &&str| (*p).to_owned()));
            });
            assert_eq!(taken_out, None, "{name}");
        }
        for name in ["water", "flip"] {
            let said = misfit(|o| get(o, name).bypass = true).unwrap();
            assert!(said.contains(name) && said.contains("keeps part of the state"), "{said}");
        }
        let said = misfit(|o| {
            o.nodes.remove("gravity");
            get(o, "flip").inputs = vec!["gravity".into()];
        });
        assert!(said.unwrap().contains("wired into it"));
        assert!(misfit(|o| get(o, "flip").inputs.reverse()).unwrap().contains("wired into it"));
        let mut was = shot();
        get(&mut was, "gravity").bypass = true;
        assert!(was.misfit(&shot(), Path::new(".")).unwrap().contains("was bypassed"));
    }

    #[test]
    fn outputs_may_come_and_go() {
        let added = |o: &mut Origin| {
            o.nodes.insert("shape".into(), node("box", &[], &[]));
            o.nodes.insert("more".into(), node("cache", &["flip", "shape"], &[]));
        };
        assert_eq!(misfit(added), None);
        assert_eq!(misfit(|o| drop(o.nodes.remove("cache"))), None);
        assert_eq!(misfit(|o| get(o, "cache").bypass = true), None);
        let said = misfit(|o| drop(o.nodes.insert("air".into(), node("coupling", &["flip"], &[]))));
        assert!(said.unwrap().contains("`air` was not there"));
    }

    #[test]
    fn files_that_were_read_must_be_the_same() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.obj"), b"one").unwrap();
        let mut was = shot();
        was.read("box", "a.obj", &hash_of(&dir.path().join("a.obj")).unwrap());
        assert_eq!(was.misfit(&shot(), dir.path()), None);
        std::fs::write(dir.path().join("a.obj"), b"two").unwrap();
        let said = was.misfit(&shot(), dir.path()).unwrap();
        assert!(said.contains("a.obj, which node `box` reads, is not as it was"), "{said}");
        std::fs::remove_file(dir.path().join("a.obj")).unwrap();
        assert!(was.misfit(&shot(), dir.path()).unwrap().contains("cannot be read"));
        let mut without = shot();
        without.nodes.remove("box");
        get(&mut without, "move").inputs.clear();
        assert_eq!(was.misfit(&without, dir.path()), None);
    }
}
