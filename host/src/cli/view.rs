//! `meniscus view`: shows cooks in a browser.

use super::args::{ShapesArgs, ViewArgs};
use super::cook::{default_out, shown};
use super::{BAD_USAGE, DONE, FAILED, fail, say, tell};
use crate::view::{Shown, View, shapes_of};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

pub(super) fn run(args: &ViewArgs) -> u8 {
    let mut shown = Vec::new();
    for path in &args.shown {
        match what(path) {
            Ok(found) => shown.push(found),
            Err(e) => return fail(BAD_USAGE, &e),
        }
    }
    let signals = Ending::listen();
    let view = match View::begin(shown, args.port, args.read_only) {
        Ok(view) => view,
        Err(e) => return fail(FAILED, &e),
    };
    let address = view.address();
    let code = say(&format!("{address}\n"));
    if code != DONE {
        return code;
    }
    tell(&hint(args.read_only));
    let opened = args.open.then(|| open(&address));
    if let Some(Err(e)) = &opened {
        tell(&format!("warning: --open: the browser cannot be opened: {e}; open the address yourself"));
    }
    signals.wait();
    if let Some(Ok(page)) = &opened {
        remove(page);
    }
    let ended = view.end();
    if ended > 0 {
        let what = if ended == 1 {
            "1 cook that the page had begun was"
        } else {
            "the cooks that the page had begun were"
        };
        tell(&format!("{what} stopped and saved"));
    }
    DONE
}

fn hint(read_only: bool) -> String {
    let may = if read_only { "see these cooks" } else { "see these cooks and cook with your plugins" };
    format!("whoever has this address may {may}: keep it to yourself. Ctrl-C ends it.")
}

/// What a path of the command line is: the folder of a cook, or a graph and the folder that it cooks into.
fn what(path: &Path) -> Result<Shown, String> {
    let whole =
        |path: &Path| std::path::absolute(path).map_err(|e| format!("{} cannot be found: {e}", shown(path)));
    if path.is_dir() && path.join(super::wedge::LIST).is_file() {
        return Err(format!("{} is a wedge: name the folders of its variants in it", shown(path)));
    }
    if path.is_dir() {
        return Ok(Shown { folder: whole(path)?, graph: None });
    }
    let is_graph = path.extension().is_some_and(|e| e == "json");
    if !is_graph || !path.is_file() {
        return Err(format!("{} is neither the folder of a cook nor a graph, *.meniscus.json", shown(path)));
    }
    // A cook lies where it was begun: here, or beside its graph.
    let (here, beside) = (default_out(path), path.with_file_name(default_out(path)));
    let folder = if !here.is_dir() && beside.is_dir() { beside } else { here };
    Ok(Shown { folder: whole(&folder)?, graph: Some(whole(path)?) })
}

/// Opens the address in the user's browser. Other users see the arguments of processes, so the address stands in a file
/// that only this user reads.
fn open(address: &str) -> std::io::Result<PathBuf> {
    let path = private_page(address)?;
    let mut command = std::process::Command::new("xdg-open");
    let command = command.arg(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // It may be the browser itself, which goes on.
    command.spawn().map(|_| path.clone()).inspect_err(|_| remove(&path))
}

fn remove(page: &Path) {
    // One that stays leads to a server that is not there any more.
    let _ = std::fs::remove_file(page);
}

/// A page that leads to the address, in a folder of this user's.
fn private_page(address: &str) -> std::io::Result<PathBuf> {
    let folder = std::env::var_os("XDG_RUNTIME_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let path = folder.join(format!("meniscus-view-{}.html", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&path)?;
    let page = format!(
        "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url={address}\"><title>Meniscus</title>\n"
    );
    file.write_all(page.as_bytes())?;
    Ok(path)
}

/// Waits for Ctrl-C or SIGTERM.
struct Ending {
    #[cfg(unix)]
    signals: Option<signal_hook::iterator::Signals>,
}

impl Ending {
    /// Hears them from now on.
    fn listen() -> Self {
        #[cfg(unix)]
        {
            use signal_hook::consts::{SIGINT, SIGTERM};
            // Without it a signal ends the program, as it does by itself.
            Self { signals: signal_hook::iterator::Signals::new([SIGINT, SIGTERM]).ok() }
        }
        #[cfg(not(unix))]
        Self {}
    }

    fn wait(self) {
        #[cfg(unix)]
        if let Some(mut signals) = self.signals {
            signals.forever().next();
            return;
        }
        loop {
            std::thread::park();
        }
    }
}

/// Prints what `view` shows of a file.
pub(super) fn shapes(args: &ShapesArgs) -> u8 {
    let mut out = std::io::stdout().lock();
    let bytes = shapes_of(&args.kind, &args.file, args.frame);
    // Nobody reads on: nobody needs it any more.
    if out.write_all(&bytes).and_then(|()| out.flush()).is_ok() { DONE } else { FAILED }
}
