//! `meniscus view`: a page in the browser that shows cooks, live or finished, and can cook changed ones.
//!
//! The server listens on the loopback address alone; the page's files are part of the program ([`assets`]). It knows a
//! cook by its folder ([`cooks`]): what stands there is all there is to show, so a cook that died is shown like any
//! other. Node types are asked of `meniscus nodes`, caches are read by processes of their own ([`shapes`]), and cooks
//! begun from the page are processes of their own as well ([`job`]): no plugin's code and no cache is opened here.

mod assets;
mod cooks;
mod folder;
mod guard;
mod heard;
mod http;
mod job;
mod routes;
mod shapes;
mod summary;

pub(crate) use shapes::answer as shapes_of;
pub(crate) use summary::state_of;

use cooks::Cooks;
use guard::Guard;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;

/// What to show.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    /// The folder of a cook, an absolute path; it may not be there yet.
    pub(crate) folder: PathBuf,
    /// Its graph, where that is known.
    pub(crate) graph: Option<PathBuf>,
}

/// A running server.
pub(crate) struct View {
    cooks: Arc<Cooks>,
    port: u16,
    token: String,
}

impl View {
    /// Begins to serve on a port of the loopback address; 0 is a free one. The error is one sentence.
    pub(crate) fn begin(shown: Vec<Shown>, port: u16, read_only: bool) -> Result<Self, String> {
        let cannot = |e: std::io::Error| match e.kind() {
            std::io::ErrorKind::AddrInUse => {
                format!("--port: {port} is taken by another program; choose another, or none for a free one")
            }
            _ => format!("cannot listen on port {port} of this machine: {e}"),
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(cannot)?;
        let port = listener.local_addr().map_err(cannot)?.port();
        let guard = Guard::new().map_err(|e| format!("the system gives no random numbers: {e}"))?;
        let token = guard.token().to_owned();
        let cooks = Arc::new(Cooks::new(shown, read_only));
        let routes = routes::Routes::new(guard, cooks.clone());
        let begun = http::serve(listener, move |request| routes.answer(request));
        begun.map_err(|e| crate::process::limits::no_thread_because("begin a thread that answers", &e))?;
        Ok(Self { cooks, port, token })
    }

    /// The page's address; whoever has it can do what the page can.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/#{}", self.port, self.token)
    }

    /// Asks the cooks that were begun from the page to save and end, and waits for them; how many there were.
    pub(crate) fn end(&self) -> usize {
        self.cooks.end()
    }
}
