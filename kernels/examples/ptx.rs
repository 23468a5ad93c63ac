//! Compiles the device modules with NVRTC for every architecture they are meant for, and compares the PTX that ships with
//! what the source gives; `--write` renews it. Needs no GPU; `.ci/ptx` brings NVRTC.

use cudarc::nvrtc::{CompileError, CompileOptions, compile_ptx_with_opts, sys};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The one that ships comes first: the driver translates it for every later device. `sm_…` assembles it as well.
const ARCHITECTURES: [&str; 4] = ["compute_80", "compute_90", "sm_80", "sm_90"];

/// The modules: `cuda/NAME.cu`, which ships as `ptx/NAME.ptx`.
const MODULES: [&str; 2] = ["pressure", "particles"];

fn compile(folder: &Path, module: &str, architecture: &'static str) -> Result<String, String> {
    let name = format!("{module}.cu");
    let source = std::fs::read_to_string(folder.join(&name)).map_err(|e| e.to_string())?;
    let options = CompileOptions {
        // Every operation rounds by itself, as on the processor: the emulation gives the device's bits.
        fmad: Some(false),
        options: vec!["--std=c++17".into()],
        include_paths: vec![folder.display().to_string()],
        arch: Some(architecture),
        name: Some(name),
        ..CompileOptions::default()
    };
    let compiled = compile_ptx_with_opts(source, options).map_err(|e| match e {
        CompileError::CompileError { log, .. } => log.to_string_lossy().into_owned(),
        other => format!("{other:?}"),
    })?;
    Ok(compiled.to_src())
}

fn check(module: &str, write: bool) -> Result<(), String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let shipped = folder.join(format!("ptx/{module}.ptx"));
    for (i, architecture) in ARCHITECTURES.into_iter().enumerate() {
        let ptx = compile(&folder.join("cuda"), module, architecture)
            .map_err(|e| format!("{module}, {architecture}: {e}"))?;
        println!(
            "{module}, {architecture}: {} kernels, {} bytes of PTX",
            ptx.matches(".visible .entry").count(),
            ptx.len()
        );
        if i > 0 {
            continue;
        }
        if write {
            std::fs::write(&shipped, &ptx).map_err(|e| format!("{}: {e}", shipped.display()))?;
        } else if !std::fs::read_to_string(&shipped).is_ok_and(|old| old == ptx) {
            return Err(format!("{} is not what the source gives: run `make ptx`", shipped.display()));
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    // SAFETY: looks for the library by its well-known names; loading it has no other effect.
    if !unsafe { sys::is_culib_present() } {
        eprintln!("no NVRTC on this machine: run .ci/ptx");
        return ExitCode::FAILURE;
    }
    let write = std::env::args().any(|a| a == "--write");
    match MODULES.into_iter().try_for_each(|module| check(module, write)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
