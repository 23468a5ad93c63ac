//! `meniscus doctor`: shows machine, devices, plugins and their versions.

use super::check::machine_memory;
use super::{DONE, FAILED, say, units};
use crate::cuda;
use crate::loader::{Plugins, search_folders};
use std::fmt::Write;

pub(super) fn run() -> u8 {
    let mut text = String::new();
    // Writing into a String cannot fail.
    let _ = writeln!(
        text,
        "Meniscus {} on {} {}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    );
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let memory = machine_memory().map_or(String::new(), |m| format!(", {} of memory", units::bytes(m)));
    let _ = writeln!(text, "machine: {}{processors} processors{memory}", processor_name());
    let _ = writeln!(text, "devices: cpu; {}", cuda::found());
    let (major, minor) = (meniscus_abi::ABI_MAJOR, meniscus_abi::ABI_MINOR);
    let _ = writeln!(text, "plugin ABI: {major}.{minor}, layout {:016x}", meniscus_abi::LAYOUT_HASH);
    let _ = writeln!(text, "plugins are looked for in:");
    for (place, _) in search_folders() {
        let there = if place.exists() { "" } else { " (not there)" };
        let _ = writeln!(text, "  {}{there}", place.display());
    }
    let plugins = Plugins::load();
    for p in &plugins.loaded {
        let (a, b) = p.abi;
        let _ = writeln!(
            text,
            "plugin {} {} (ABI {a}.{b}, {} node types): {}",
            p.name,
            p.version,
            p.types.len(),
            p.path.display()
        );
        for left_out in &p.left_out {
            let _ = writeln!(text, "  {left_out}");
        }
    }
    for refused in &plugins.refused {
        let _ = writeln!(text, "refused: {refused}");
    }
    let _ = writeln!(
        text,
        "{}",
        match (plugins.loaded.is_empty(), plugins.refused.is_empty()) {
            (true, _) =>
                "nothing can be cooked: no plugin was found; put libmeniscus_plugin beside the binary, or name its \
                 folder in MENISCUS_PLUGIN_PATH",
            (false, false) => "ready to cook, without what was refused",
            (false, true) => "ready to cook",
        }
    );
    say(&text);
    if plugins.loaded.is_empty() { FAILED } else { DONE }
}

fn processor_name() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find(|l| l.starts_with("model name")).and_then(|l| l.split_once(':'));
    name.map(|(_, n)| format!("{}, ", n.trim())).unwrap_or_default()
}
