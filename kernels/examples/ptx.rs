//! Compiles the device module with NVRTC for every architecture it is meant for, and compares the PTX that ships with
//! what the source gives; `--write` renews it. Needs no GPU; `.ci/ptx` brings NVRTC.

use cudarc::nvrtc::{CompileError, CompileOptions, compile_ptx_with_opts, sys};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The one that ships comes first: the driver translates it for every later device. `sm_…` assembles it as well.
const ARCHITECTURES: [&str; 4] = ["compute_80", "compute_90", "sm_80", "sm_90"];

fn compile(folder: &Path, architecture: &'static str) -> Result<String, String> {
    let source = std::fs::read_to_string(folder.join("pressure.cu")).map_err(|e| e.to_string())?;
    let options = CompileOptions {
        // Every operation rounds by itself, as on the processor: the emulation gives the device's bits.
        fmad: Some(false),
        options: vec!["--std=c++17".into()],
        include_paths: vec![folder.display().to_string()],
        arch: Some(architecture),
        name: Some("pressure.cu".into()),
        ..CompileOptions::default()
    };
    let compiled = compile_ptx_with_opts(source, options).map_err(|e| match e {
        CompileError::CompileError { log, .. } => log.to_string_lossy().into_owned(),
        other => format!("{other:?}"),
    })?;
    Ok(compiled.to_src())
}

fn check(write: bool) -> Result<(), String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let shipped = folder.join("ptx/pressure.ptx");
    for (i, architecture) in ARCHITECTURES.into_iter().enumerate() {
        let ptx = compile(&folder.join("cuda"), architecture).map_err(|e| format!("{architecture}: {e}"))?;
        println!(
            "{architecture}: {} kernels, {} bytes of PTX",
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
    match check(std::env::args().any(|a| a == "--write")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
