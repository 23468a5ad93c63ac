//! `meniscus check`: finds errors in a graph and estimates the cost of a cook.

use super::args::CheckArgs;
use super::cook::{Loaded, folder_of, load, processors, said, shown};
use super::learning::shot;
use super::{BAD_USAGE, fail, say, units};
use crate::costs::{Costs, Known, Took};
use crate::engine::{Device, Estimate, Manner, Plan, SourceEstimate, check_plan, estimate, rehearse};
use crate::geometry::Evaluator;
use crate::graph::{Network, Problems};
use crate::node::NodeKind;
use crate::text::{number, rounded};
use std::fmt::Write;
use std::path::Path;

/// Share of the memory or of the free disk above which a warning is given.
const TIGHT: f64 = 0.8;

pub(super) fn run(args: &CheckArgs) -> u8 {
    let loaded = match load(&args.graph) {
        Ok(loaded) => loaded,
        Err(e) => return fail(BAD_USAGE, &e),
    };
    match report(&loaded, &said(&args.graph), &folder_of(&args.graph.graph)) {
        Ok(text) => {
            let qualities = match loaded.graph.qualities.as_slice() {
                [] => String::new(),
                all => format!("qualities on offer: {}\n", all.join(", ")),
            };
            say(&format!("{text}{qualities}"))
        }
        Err(p) => {
            let shown = shown(&args.graph.graph);
            fail(BAD_USAGE, &p.0.iter().map(|p| format!("{shown}: {p}")).collect::<Vec<_>>().join("\n"))
        }
    }
}

fn report(loaded: &Loaded, said: &[String], folder: &Path) -> Result<String, Problems> {
    let (plan, cost) = cost_of(loaded, folder)?;
    let shot = shot(&loaded.text, &loaded.network, said, processors(), &cost);
    Ok(describe(&loaded.network, &plan, &cost, &Costs::read().expected(&shot)))
}

/// What a substep does and costs, with advice.
pub(super) fn cost_of(loaded: &Loaded, folder: &Path) -> Result<(Plan, Estimate), Problems> {
    let network = &loaded.network;
    let plan = Plan::new(network)?;
    check_plan(network, &plan)?;
    let mut evaluator = Evaluator::new(network, folder);
    let first = f64::from(network.settings.frames.0);
    let mut problems = Problems::default();
    for (i, node) in network.nodes.iter().enumerate() {
        if node.node_type.kind == NodeKind::Geometry {
            problems.0.extend(evaluator.evaluate(network, i, first, 0.0, 0.0).err());
        }
    }
    problems.unless_any(())?;
    let mut cost = estimate(network, &plan, &mut evaluator)?;
    let threads = processors();
    let manner = Manner { threads, device: Device::Auto, paranoid: false, drop_caches: false };
    cost.advice.extend(rehearse(network, &loaded.plugins, folder, manner)?);
    Ok((plan, cost))
}

fn describe(network: &Network, plan: &Plan, cost: &Estimate, expected: &(Took, Known)) -> String {
    let s = &network.settings;
    let frames = f64::from(s.frames.1) - f64::from(s.frames.0) + 1.0;
    let mut text = String::new();
    let quality = s.quality.as_ref().map(|q| format!(", quality {q}")).unwrap_or_default();
    // Writing into a String cannot fail.
    let _ = writeln!(
        text,
        "shot: frames {}-{} at {} fps, {} to {} substeps a frame, CFL {}{quality}",
        s.frames.0,
        s.frames.1,
        number(s.fps),
        s.substeps.min,
        s.substeps.max,
        number(s.substeps.cfl)
    );
    for o in &cost.objects {
        if o.particles + o.voxels <= 0.0 {
            let _ = writeln!(text, "{}: empty at first", o.name);
            continue;
        }
        let particles = if o.particles > 0.0 {
            format!("{} particles, ", units::count(o.particles))
        } else {
            String::new()
        };
        let voxel = if o.voxel > 0.0 { format!(" of {}", units::length(o.voxel)) } else { String::new() };
        let size =
            if o.size.max_element() > 0.0 { format!("{}, ", units::size(o.size)) } else { String::new() };
        let _ = writeln!(text, "{}: {size}about {particles}{} voxels{voxel}", o.name, units::count(o.voxels));
    }
    for s in &cost.sources {
        let _ = writeln!(text, "{}", source(s));
    }
    let steps: Vec<String> = plan
        .calls
        .iter()
        .map(|c| {
            let whose = c.object.filter(|&o| o != c.node).map(|o| format!("({})", network.nodes[o].name));
            format!("{}.{}{}", network.nodes[c.node].name, c.stage.name(), whose.unwrap_or_default())
        })
        .collect();
    let _ = writeln!(
        text,
        "a substep: {}",
        if steps.is_empty() { "nothing moves".into() } else { steps.join(" → ") }
    );
    if cost.substep_seconds() > 0.0 || expected.1 == Known::Itself {
        let _ = writeln!(text, "{}", time(expected, frames - 1.0));
    }
    let (memory, disk) = (cost.memory(), cost.disk_per_frame() * frames);
    let (has, free) = (machine_memory(), free_disk());
    let of =
        |x: Option<f64>, what: &str| x.map(|x| format!(" ({what} {})", units::bytes(x))).unwrap_or_default();
    let _ = writeln!(text, "memory: about {}{}", units::bytes(memory), of(has, "this machine has"));
    let _ = writeln!(
        text,
        "disk: about {} a frame, {} in all{}",
        units::bytes(cost.disk_per_frame()),
        units::bytes(disk),
        of(free, "free here:")
    );
    let mut advice = cost.advice.clone();
    let refused = crate::memory::free().and_then(|room| cost.too_large(room));
    if refused.is_none() && has.is_some_and(|h| memory > TIGHT * h) {
        let raise = cost.raise().map_or(String::new(), |raise| format!("{raise}, or "));
        advice.push(format!("the memory is too small: {raise}choose a lower quality"));
    }
    if free.is_some_and(|f| disk > TIGHT * f) {
        advice.push(
            "the disk is too small: write fewer frames or grids, or choose another folder with --out".into(),
        );
    }
    for a in advice {
        let _ = writeln!(text, "advice: {a}");
    }
    match refused {
        None => drop(writeln!(text, "the graph is sound")),
        Some(why) => {
            let _ = writeln!(text, "warning: {why}");
            let _ = writeln!(text, "the graph is sound, but `cook` refuses it on this machine as it is now");
        }
    }
    text
}

/// The amount that a source will make over the shot.
fn source(s: &SourceEstimate) -> String {
    let amount =
        |volume| format!("about {} particles ({})", units::count(s.particles(volume)), units::volume(volume));
    let over = format!("{}: {} into `{}` over the shot", s.name, amount(s.drives), s.object);
    match (s.fills > 0.0, s.drives > 0.0) {
        (false, _) => format!(
            "{}: nothing into `{}`: it never runs, or its region lies in others, in solids or beyond the box",
            s.name, s.object
        ),
        (true, true) => {
            format!("{over}, and {} to fill its region first where that is empty", amount(s.fills))
        }
        (true, false) => {
            format!("{}: keeps its region in `{}` filled, with {}", s.name, s.object, amount(s.fills))
        }
    }
}

/// The expected time, and what it rests on.
fn time((took, known): &(Took, Known), frames: f64) -> String {
    let processors = processors();
    let each = format!(
        "{} substeps a frame of {} on {processors} processors",
        number(rounded(took.substeps)),
        if took.substep < 10.0 {
            format!("{} ms", number(rounded(1e3 * took.substep)))
        } else {
            units::rough_time(took.substep)
        }
    );
    let why = match known {
        Known::Itself => "as this shot took when it was cooked here",
        Known::Alike => "going by shots of the same nodes that were cooked here",
        Known::Others => "going by shots of other nodes that were cooked here",
        Known::Nothing => "a first guess: none of its kind was cooked here yet",
    };
    // The first frame is written, but not simulated.
    let seconds = frames * took.frame() + took.beside;
    format!("time: roughly {} ({each}; {why})", units::rough_time(seconds))
}

/// Memory of this machine, bytes.
pub(super) fn machine_memory() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("MemTotal:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kib| kib * 1024.0)
}

/// Free room on the disk of the current folder, bytes.
fn free_disk() -> Option<f64> {
    #[cfg(unix)]
    {
        // SAFETY: zero is a valid statvfs to be filled in; the path is a constant string.
        let (code, stat) = unsafe {
            let mut stat: libc::statvfs = std::mem::zeroed();
            (libc::statvfs(c".".as_ptr(), &raw mut stat), stat)
        };
        (code == 0).then_some(stat.f_bavail as f64 * stat.f_frsize as f64)
    }
    #[cfg(not(unix))]
    None
}
