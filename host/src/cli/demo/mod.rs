//! `meniscus demo`: the water cooler, with trapped air and without, and blocks that a plank throws over a wave; or another
//! example.

mod scenes;

use super::args::{CookArgs, DemoArgs, Device, GraphArgs};
use super::cook::{cook_once, load};
use super::signals::Signals;
use super::{DONE, FAILED, fail, say, tell};
use crate::output::{Row, side_by_side};
use std::path::{Path, PathBuf};

const COOLER: &str = "bubbles/water_cooler/water_cooler.meniscus.json";
const BODIES: &str = "rigid/catapult.meniscus.json";
/// Last frame, unless it is named: two seconds, and the bottle is empty after about five.
const LAST: i32 = 48;
/// Most frames of the shot with bodies: by then the wave has met the wall behind them.
const FRAMES_OF_BODIES: i32 = 24;
/// Number of moments on the sheet that compares both shots.
const MOMENTS: usize = 8;

pub(super) fn run(args: &DemoArgs) -> u8 {
    if args.list {
        return scenes::list();
    }
    if let Some(name) = &args.scene {
        return scenes::cook(name, args);
    }
    let [graph, bodies] = match examples() {
        Ok(folder) => [COOLER, BODIES].map(|graph| folder.join(graph)),
        Err(e) => return fail(FAILED, &e),
    };
    let signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(e) => return fail(FAILED, &e),
    };
    let (glugs, pours) = (args.out.join("trapped_air"), args.out.join("free_surface"));
    let catapult = args.out.join("catapult");
    let last = args.last.unwrap_or(LAST);
    let shot = |graph: &Path, out: &Path, last: i32, set: &[&str]| {
        let mut set: Vec<String> = set.iter().map(|&s| s.to_owned()).collect();
        set.push(format!("frames=[1, {last}]"));
        cook_args(args, GraphArgs { graph: graph.into(), set, quality: Some("preview".into()) }, out)
    };
    let shots = [
        ("1 of 3: the air in the bottle keeps its volume", shot(&graph, &glugs, last, &[])),
        (
            "2 of 3: the same without (the coupling is bypassed)",
            shot(&graph, &pours, last, &["air.bypass=true"]),
        ),
        (
            "3 of 3: a block of silver throws blocks of wood",
            shot(&bodies, &catapult, last.min(FRAMES_OF_BODIES), &[]),
        ),
    ];
    for (title, shot) in &shots {
        tell(title);
        let code = cook_once(shot, &signals);
        if code != DONE {
            return code;
        }
    }
    let sheet = args.out.join("side_by_side.png");
    match compare(&shots[0].1.graph, &glugs, &pours, &sheet) {
        Ok(()) => say(&what_to_see(&glugs, &pours, &sheet, &catapult)),
        Err(e) => fail(FAILED, &e),
    }
}

/// Writes the sheet with both shots, the same moments one below the other.
fn compare(graph: &GraphArgs, glugs: &Path, pours: &Path, sheet: &Path) -> Result<(), String> {
    let network = load(graph)?.network;
    let preview = network.nodes.iter().find(|n| n.node_type.id == "meniscus.preview");
    let node = preview.map(|n| n.name.as_str()).ok_or("the example has no preview node")?;
    let (glugs, pours) = (glugs.join(node), pours.join(node));
    let rows = [Row { title: "trapped air", folder: &glugs }, Row { title: "free surface", folder: &pours }];
    match side_by_side(&rows, node, network.settings.frames, MOMENTS, sheet) {
        Ok(true) => Ok(()),
        Ok(false) => {
            Err(format!("there are no pictures to compare in {} and {}", glugs.display(), pours.display()))
        }
        Err(e) => Err(e.to_string()),
    }
}

fn cook_args(args: &DemoArgs, graph: GraphArgs, out: &Path) -> CookArgs {
    CookArgs {
        graph,
        frames: None,
        out: Some(out.into()),
        device: Device::Auto,
        threads: args.threads,
        resume: false,
        replace: args.replace,
        parent: None,
        fork: None,
        checkpoint_every: 24,
        keep_checkpoints: None,
        force: false,
        paranoid: false,
        drop_caches: false,
        openjd: false,
        quiet: false,
    }
}

/// The folder of the examples: named by `MENISCUS_EXAMPLES`, called `examples` beside or above the binary or above the
/// current folder, or where this was built.
fn examples() -> Result<PathBuf, String> {
    let named = std::env::var_os("MENISCUS_EXAMPLES").map(PathBuf::from);
    let starts = [crate::process::own_file().ok(), std::env::current_dir().ok().map(|d| d.join("."))];
    let above = starts.iter().flatten().flat_map(|s| s.ancestors().map(|a| a.join("examples")));
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("examples");
    let mut folders = named.into_iter().chain(above).chain([built]);
    folders.find(|folder| [COOLER, BODIES].iter().all(|graph| folder.join(graph).is_file())).ok_or_else(
        || format!("cannot find examples/{COOLER}; name the examples' folder in MENISCUS_EXAMPLES"),
    )
}

fn what_to_see(glugs: &Path, pours: &Path, sheet: &Path, catapult: &Path) -> String {
    let (a, b, c) = (glugs.display(), pours.display(), catapult.display());
    let sheet = sheet.display();
    format!(
        "\nWhat to look at\n\
         \x20 {sheet}  both on one sheet, the same moments one below the other\n\
         \x20 {a}/preview/  one picture a frame and a contact sheet: the water leaves in gulps; after\n\
         \x20                 each gulp a bubble rises through the neck\n\
         \x20 {b}/preview/  the same without trapped air: it pours straight through\n\
         \x20 {a}/cache/    surface and vel as VDB, for Houdini, Blender or vdb_print\n\
         \x20 {a}/points/   the particles as .geo\n\
         \x20 {c}/preview/preview_sheet.png  silver falls on a plank, blocks of wood fly over the wave;\n\
         \x20                 {c}/meshes/ has their meshes, with v for motion blur\n\
         \x20 stats.jsonl in all: volumes, bubbles, iterations of every substep\n"
    )
}
