//! Ports of a descriptor.

use super::{Reader, once};
use crate::data::{Drawn, Element, GridClass, Lifetime, Sampling, Shown};
use crate::node::{Access, Carries, Merge, PortOwner, PortSpec, Report, Reported, STATS_KEYS, Stage};
use meniscus_abi as abi;

/// Host element type of an ABI code.
pub(crate) fn element(e: abi::Element) -> Option<Element> {
    usize::try_from(e.0).ok().and_then(|i| Element::ALL.get(i)).copied()
}

/// Host sampling of an ABI code.
pub(crate) fn sampling(s: abi::Sampling) -> Option<Sampling> {
    match s {
        abi::Sampling::CENTER => Some(Sampling::Centre),
        abi::Sampling::FACE => Some(Sampling::Face),
        abi::Sampling::NODE => Some(Sampling::Node),
        _ => None,
    }
}

/// A port as the host knows it.
pub(super) fn port(read: &Reader, p: &abi::Port, roles: usize) -> Result<PortSpec, String> {
    let (name, help, unit) = (read.name(p.name, "a port")?, read.text(p.help), read.text(p.unit));
    let unknown = |what: &str, code: i32| format!("port `{name}` has the unknown {what} {code}");
    let carries = match p.carries {
        abi::Carries::GRID => Carries::Grid {
            element: element(p.element).ok_or_else(|| unknown("element type", p.element.0))?,
            components: p.components as usize,
            sampling: sampling(p.sampling).ok_or_else(|| unknown("sampling", p.sampling.0))?,
        },
        abi::Carries::GEOMETRY => Carries::Geometry,
        abi::Carries::TABLE => Carries::Table,
        other => return Err(unknown("kind of data", other.0)),
    };
    if let Carries::Grid { components, .. } = carries
        && !(1..=crate::data::MAX_COMPONENTS).contains(&components)
    {
        return Err(format!("port `{name}` has {components} components, a grid has 1 to 9"));
    }
    let owner = match p.owner {
        abi::Owner::OBJECT => PortOwner::Object,
        abi::Owner::AFFECTOR => PortOwner::Affector,
        abi::Owner::INPUT => PortOwner::Input,
        abi::Owner::MEMBER if p.role == abi::Role::ANY => PortOwner::Member(None),
        abi::Owner::MEMBER if (p.role as usize) < roles => PortOwner::Member(Some(p.role as usize)),
        abi::Owner::PARTICIPANT if (p.role as usize) < roles => PortOwner::Participant(p.role as usize),
        abi::Owner::PARTICIPANT | abi::Owner::MEMBER => {
            return Err(format!("port `{name}` names role {}, there are {roles}", p.role));
        }
        abi::Owner::NODE => PortOwner::Node,
        abi::Owner::SOLVED => PortOwner::Solved,
        other => return Err(unknown("owner", other.0)),
    };
    let merge = match p.merge {
        abi::Merge::REPLACE => Merge::Replace,
        abi::Merge::ADD => Merge::Add,
        abi::Merge::MIN => Merge::Min,
        other => return Err(unknown("merge rule", other.0)),
    };
    let lifetime = match p.lifetime {
        abi::Lifetime::STATE => Lifetime::State,
        abi::Lifetime::SUBSTEP => Lifetime::Substep,
        other => return Err(unknown("lifetime", other.0)),
    };
    let has = |flag| p.flags & flag != 0;
    let is_movable = has(abi::flags::MOVABLE);
    let takes_forces = carries == Carries::Geometry
        || matches!(carries, Carries::Grid { components: 3, element: Element::F32, .. });
    let may_be_nameless = is_movable && takes_forces && owner == PortOwner::Object;
    if name.is_empty() && !may_be_nameless {
        return Err("a port has no name".into());
    }
    if is_movable && !takes_forces {
        let sentence = format!(
            "port `{name}` is a {} that forces move; they move geometry and grids of three f32",
            carries.described()
        );
        return Err(sentence);
    }
    let class = match p.grid_class {
        abi::GridClass::PLAIN => GridClass::Plain,
        abi::GridClass::LEVEL_SET => GridClass::LevelSet,
        abi::GridClass::FOG => GridClass::Fog,
        other => return Err(unknown("class", other.0)),
    };
    let drawn = match p.drawn {
        abi::Drawn::NOT => None,
        abi::Drawn::LIQUID => Some(Drawn::Liquid),
        abi::Drawn::SOLID => Some(Drawn::Solid),
        abi::Drawn::DOTS => Some(Drawn::Dots),
        other => return Err(unknown("way to be drawn", other.0)),
    };
    let is_scalar =
        matches!(carries, Carries::Grid { components: 1, element: Element::F32 | Element::F64, .. });
    if class != GridClass::Plain && !is_scalar {
        return Err(format!("port `{name}` has a class, which only a grid of one number has"));
    }
    if drawn == Some(Drawn::Dots) && carries != Carries::Geometry {
        return Err(format!("port `{name}` is drawn as dots, which only points are"));
    }
    if drawn.is_some() && class != GridClass::LevelSet && carries != Carries::Geometry {
        return Err(format!("port `{name}` is drawn, and neither a level set nor geometry"));
    }
    let report = report(&read.text(p.report), &name, carries)?;
    if let Some(stage) = Stage::ALL.into_iter().find(|&s| p.access[s as usize] & !3 != 0) {
        let (bits, stage) = (p.access[stage as usize], stage.name());
        return Err(format!("port `{name}` has access {bits} in {stage}: 1 reads, 2 writes, 3 does both"));
    }
    let access = Stage::ALL.map(|s| {
        let bits = p.access[s as usize];
        Access { reads: bits & 1 != 0, writes: bits & 2 != 0 }
    });
    Ok(PortSpec {
        name,
        help,
        unit,
        carries,
        owner,
        lifetime,
        merge,
        required: p.required != 0,
        access,
        shown: Shown { class, drawn },
        is_result: has(abi::flags::RESULT),
        is_movable,
        report,
    })
}

/// Reads how points are listed: a key, then attributes.
fn report(text: &str, port: &str, carries: Carries) -> Result<Option<Report>, String> {
    let mut words = text.split_ascii_whitespace();
    let Some(key) = words.next() else { return Ok(None) };
    let fits = |word: &str| word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && !word.is_empty();
    let entry = |word: &str| {
        let (word, is_truth) = word.strip_suffix('?').map_or((word, false), |word| (word, true));
        let (key, name) = word.split_once('=').unwrap_or((word, word));
        Reported { key: key.into(), name: name.into(), is_truth }
    };
    let entries: Vec<Reported> = words.map(entry).collect();
    if carries != Carries::Geometry || entries.is_empty() {
        return Err(format!("port `{port}` has a report, and no points with attributes to list"));
    }
    if !fits(key) || entries.iter().any(|e| !fits(&e.key) || !(fits(&e.name) || e.name == Reported::OBJECT)) {
        return Err(format!("the report of port `{port}` is no list of names"));
    }
    if STATS_KEYS.contains(&key) {
        return Err(format!("port `{port}` is listed under `{key}`, which is the host's own key"));
    }
    once(&entries, |e| e.key.clone(), &format!("entries of the report of port `{port}`"))?;
    Ok(Some(Report { key: key.into(), entries }))
}
