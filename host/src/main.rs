//! The `meniscus` command.

fn main() -> std::process::ExitCode {
    meniscus_host::cli::run()
}
