//! The `meniscus` command.

/// Called by the system's loader before the constructors of libraries.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".preinit_array")]
static FIRST: extern "C" fn() = meniscus_host::cli::before_libraries;

fn main() -> std::process::ExitCode {
    meniscus_host::cli::run()
}
