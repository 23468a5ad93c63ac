//! The command line: commands and their options.

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Liquids and what they touch, for film: cooks node graphs into VDB caches and geometry.
#[derive(Debug, Parser)]
#[command(name = "meniscus", version, max_term_width = 110, arg_required_else_help = true)]
pub(super) struct Args {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Cooks a graph
    Cook(CookArgs),
    /// Cooks a graph with many values of its parameters, and puts pictures and figures side by side
    Wedge(WedgeArgs),
    /// Writes a job for render farms: a bundle in the form of Open Job Description
    Job(JobArgs),
    /// Finds errors in a graph and estimates the time, memory and disk space of a cook
    Check(CheckArgs),
    /// Lists the node types, or one in full
    Nodes(NodesArgs),
    /// Shows what is in a .vdb or .geo file, a checkpoint, stats.jsonl or a folder of them, with warnings
    Inspect(InspectArgs),
    /// Shows machine, devices, plugins and their versions
    Doctor,
    /// Cooks a water cooler twice, with trapped air and without, and bodies that sink and float; or another example
    Demo(DemoArgs),
    /// Writes a folder with a shot of a mesh of its own, to begin from
    NewShot(NewShotArgs),
    /// Writes a folder with a plugin that builds: an object and its solver, in C or Rust
    NewPlugin(NewPluginArgs),
    /// Shows cooks in a browser, live or finished: the network, a timeline, the water in 3D, plots of all statistics
    View(ViewArgs),
    /// Prints the shapes of a cache for `view`, which runs this for every file it shows
    #[command(hide = true)]
    ViewShapes(ShapesArgs),
    /// Opens one plugin and says on standard output whether it can be used; every command runs this on plugins that
    /// it does not know yet
    #[command(hide = true)]
    ScanPlugin(ScanArgs),
}

#[derive(Clone, Debug, ClapArgs)]
pub(super) struct GraphArgs {
    /// A graph file, *.meniscus.json
    pub(super) graph: PathBuf,
    /// Sets a parameter (node.param=value), a variable, fps, frames, substeps.min, substeps.max or substeps.cfl
    #[arg(long, value_name = "NODE.PARAM=VALUE")]
    pub(super) set: Vec<String>,
    /// Chooses one of the graph's qualities
    #[arg(long, value_name = "NAME")]
    pub(super) quality: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Device {
    /// A GPU if there is one, else the processor
    Auto,
    /// The processor
    Cpu,
    /// A GPU; without one the cook fails
    Cuda,
}

impl Device {
    /// As the command line has it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Device::Auto => "auto",
            Device::Cpu => "cpu",
            Device::Cuda => "cuda",
        }
    }
}

impl From<Device> for crate::engine::Device {
    fn from(device: Device) -> Self {
        match device {
            Device::Auto => Self::Auto,
            Device::Cpu => Self::Cpu,
            Device::Cuda => Self::Cuda,
        }
    }
}

#[derive(Clone, Debug, ClapArgs)]
pub(super) struct CookArgs {
    #[command(flatten)]
    pub(super) graph: GraphArgs,
    /// Frames to write, such as 1-48 or 12; the simulation always begins at the graph's first frame
    #[arg(long, value_name = "A-B", value_parser = frame_range, allow_hyphen_values = true)]
    pub(super) frames: Option<(i32, i32)>,
    /// Folder for everything written [default: <graph name>.out]
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Device that computes
    #[arg(long, value_enum, default_value_t = Device::Auto)]
    pub(super) device: Device,
    /// Threads to use [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(super) threads: Option<u32>,
    /// Goes on from the latest checkpoint in the output folder
    #[arg(long)]
    pub(super) resume: bool,
    /// Removes files that an earlier cook's cook.json lists and that this cook will not write
    #[arg(long, conflicts_with = "resume")]
    pub(super) replace: bool,
    /// The folder of another cook that this one changes; cook.json then names it
    #[arg(long, value_name = "DIR")]
    pub(super) parent: Option<PathBuf>,
    /// Goes on after this frame of that cook, from its latest checkpoint up to there; only what takes keyframes may differ
    #[arg(
        long,
        value_name = "FRAME",
        requires = "parent",
        conflicts_with = "replace",
        allow_hyphen_values = true
    )]
    pub(super) fork: Option<i32>,
    /// Frames between checkpoints
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) checkpoint_every: u32,
    /// Keeps the checkpoints of every Nth frame besides the latest two, for --fork
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) keep_checkpoints: Option<u32>,
    /// Cooks even if `check` expects it to need more memory than is free
    #[arg(long)]
    pub(super) force: bool,
    /// Checks after every node call that the node did not change data it may only read (for plugin authors; slower)
    #[arg(long)]
    pub(super) paranoid: bool,
    /// Makes every node forget its caches before every call: slower, the same files (for plugin authors)
    #[arg(long)]
    pub(super) drop_caches: bool,
    /// Prints progress for Open Job Description farms on standard output
    #[arg(long)]
    pub(super) openjd: bool,
    /// Prints nothing but warnings and errors
    #[arg(long, short)]
    pub(super) quiet: bool,
}

#[derive(Clone, Debug, ClapArgs)]
pub(super) struct WedgeArgs {
    #[command(flatten)]
    pub(super) graph: GraphArgs,
    /// Values of a parameter, a variable or whatever --set sets; several of these give all combinations
    #[arg(long, value_name = "NODE.PARAM=A,B,C", required_unless_present = "seeds")]
    pub(super) vary: Vec<String>,
    /// Varies a seed: 0, 1, 2 and so on, so many
    #[arg(long, value_name = "NODE.PARAM=COUNT")]
    pub(super) seeds: Vec<String>,
    /// Folder for everything written, a folder each variant [default: <graph name>.wedge]
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Cooks this variant alone, by its number: a task on a farm
    #[arg(long, value_name = "N", conflicts_with = "collect")]
    pub(super) only: Option<usize>,
    /// Cooks nothing: makes table and sheet anew from what is in the folders
    #[arg(long, conflicts_with = "replace")]
    pub(super) collect: bool,
    /// Device that computes
    #[arg(long, value_enum, default_value_t = Device::Auto)]
    pub(super) device: Device,
    /// Threads to use [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(super) threads: Option<u32>,
    /// Goes on with what is there: whole variants stay, others go on from their latest checkpoint
    #[arg(long)]
    pub(super) resume: bool,
    /// Removes files that earlier cooks of the variants list and that these will not write
    #[arg(long, conflicts_with = "resume")]
    pub(super) replace: bool,
    /// Frames between checkpoints
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) checkpoint_every: u32,
    /// Cooks even if `check` expects a variant to need more memory than is free
    #[arg(long)]
    pub(super) force: bool,
    /// Prints progress for Open Job Description farms on standard output
    #[arg(long, requires = "only")]
    pub(super) openjd: bool,
    /// Prints nothing but warnings and errors
    #[arg(long, short)]
    pub(super) quiet: bool,
}

#[derive(Clone, Debug, ClapArgs)]
pub(super) struct JobArgs {
    #[command(flatten)]
    pub(super) graph: GraphArgs,
    /// Values of a parameter as for `wedge`: every variant becomes a task of its own
    #[arg(long, value_name = "NODE.PARAM=A,B,C")]
    pub(super) vary: Vec<String>,
    /// Varies a seed: 0, 1, 2 and so on, so many
    #[arg(long, value_name = "NODE.PARAM=COUNT")]
    pub(super) seeds: Vec<String>,
    /// Folder for the bundle [default: <graph name>.job]
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Folder that the job writes to, on a disk that all machines share [default: as `cook` and `wedge` have it]
    #[arg(long, value_name = "DIR")]
    pub(super) cook_out: Option<PathBuf>,
    /// Device that computes; cuda asks for machines with a GPU
    #[arg(long, value_enum, default_value_t = Device::Auto)]
    pub(super) device: Device,
    /// Frames between checkpoints: what a task that is begun anew may lose
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) checkpoint_every: u32,
}

#[derive(Clone, Debug, ClapArgs)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    pub(super) graph: GraphArgs,
}

#[derive(Clone, Debug, ClapArgs)]
pub(super) struct NodesArgs {
    /// A node type, with or without `meniscus.`
    pub(super) type_name: Option<String>,
    /// Prints JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Prints a page of all the data that nodes exchange, for those who write plugins
    #[arg(long, conflicts_with_all = ["type_name", "json"])]
    pub(super) ports: bool,
    /// Prints a page of all nodes with their parameters and ports
    #[arg(long, conflicts_with_all = ["type_name", "json", "ports"])]
    pub(super) reference: bool,
    /// Shows the picture DIR/<node>.png of each node that has one on that page, which is to lie beside DIR
    #[arg(long, value_name = "DIR", requires = "reference")]
    pub(super) pictures: Option<PathBuf>,
}

#[derive(Clone, Debug, ClapArgs)]
pub(super) struct ScanArgs {
    /// A shared library
    pub(super) file: PathBuf,
}

#[derive(Clone, Debug, ClapArgs)]
pub(super) struct InspectArgs {
    /// A file or a folder
    pub(super) path: PathBuf,
}

#[derive(Clone, Debug, ClapArgs)]
pub(super) struct ViewArgs {
    /// One or two folders of cooks, or graphs, whose folders are <graph name>.out; two are shown side by side
    #[arg(required = true, num_args = 1..=2, value_name = "DIR|GRAPH")]
    pub(super) shown: Vec<PathBuf>,
    /// Port of the page on this machine's own address [default: a free one]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(super) port: u16,
    /// Refuses to cook from the page
    #[arg(long)]
    pub(super) read_only: bool,
    /// Opens the page in the browser
    #[arg(long)]
    pub(super) open: bool,
}

#[derive(Clone, Debug, ClapArgs)]
pub(super) struct ShapesArgs {
    /// vdb, geo, or scenery for a cook.json
    pub(super) kind: String,
    /// The frame of the scenery
    #[arg(long, default_value_t = 0, allow_hyphen_values = true)]
    pub(super) frame: i32,
    /// The file
    pub(super) file: PathBuf,
}

#[derive(Clone, Debug, ClapArgs)]
pub(super) struct DemoArgs {
    /// Folder for everything written
    #[arg(long, value_name = "DIR", default_value = "demo.out")]
    pub(super) out: PathBuf,
    /// Threads to use [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(super) threads: Option<u32>,
    /// Last frame to cook [default: 48, two seconds; of a scene its own last frame]
    #[arg(long, value_name = "FRAME")]
    pub(super) last: Option<i32>,
    /// Lists the examples that can be cooked, and cooks nothing
    #[arg(long, conflicts_with = "scene")]
    pub(super) list: bool,
    /// Cooks this example instead, at preview quality, into a folder of its name
    #[arg(long, value_name = "NAME")]
    pub(super) scene: Option<String>,
    /// Removes files that an earlier cook's cook.json lists and that this cook will not write
    #[arg(long)]
    pub(super) replace: bool,
}

#[derive(Clone, Debug, ClapArgs)]
pub(super) struct NewShotArgs {
    /// Its name, and that of the new folder: lower-case letters, digits, - and _
    pub(super) name: String,
}

#[derive(Clone, Debug, ClapArgs)]
pub(super) struct NewPluginArgs {
    /// Its name, and that of the new folder: lower-case letters, digits, - and _
    pub(super) name: String,
    /// In C, with a Makefile and the headers [default]
    #[arg(long, conflicts_with = "rust")]
    pub(super) c: bool,
    /// In Rust, with a copy of the crate meniscus-abi
    #[arg(long)]
    pub(super) rust: bool,
}

/// The largest number of a frame, as in graphs.
const MAX_FRAME: u32 = 1_000_000;

/// `A-B` or `A`; either may be negative.
fn frame_range(text: &str) -> Result<(i32, i32), String> {
    let expected = || format!("expected frames as A-B or A, found `{text}`");
    let split = text.char_indices().skip(1).find(|(_, c)| *c == '-').map(|(i, _)| i);
    let (a, b) = match split {
        Some(i) => (&text[..i], &text[i + 1..]),
        None => (text, text),
    };
    let (a, b): (i32, i32) =
        (a.trim().parse().map_err(|_| expected())?, b.trim().parse().map_err(|_| expected())?);
    let beyond = |frame: i32| frame.unsigned_abs() > MAX_FRAME;
    if beyond(a) || beyond(b) {
        return Err(format!("frames lie within ±{MAX_FRAME}"));
    }
    if a > b { Err(format!("the first frame {a} comes after the last, {b}")) } else { Ok((a, b)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_ranges() {
        assert_eq!(frame_range("1-48"), Ok((1, 48)));
        assert_eq!(frame_range("7"), Ok((7, 7)));
        assert_eq!(frame_range("-5--2"), Ok((-5, -2)));
        assert_eq!(frame_range("-5-3"), Ok((-5, 3)));
        for bad in ["", "-", "a-b", "3-1", "1-", "1-1000001", "99999999999"] {
            assert!(frame_range(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_arguments_are_consistent() {
        use clap::CommandFactory;
        Args::command().debug_assert();
    }
}
