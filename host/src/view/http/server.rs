//! Takes connections, and answers each on a thread of its own, up to a number of them.

use super::request::Request;
use super::response::Response;
use crate::process::limits::open_files;
use std::io::Read;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// Most connections at a time; more wait in the system's queue. A client that sends nothing holds one of them for the
/// time that a request may take, and nobody else's.
const MOST: usize = 1500;
/// Open files that a connection may need: itself, and the file that it asks for or the process that reads it.
const FILES: u64 = 3;
/// Open files for everything else.
const OTHER_FILES: u64 = 32;
/// Bytes of a thread's stack.
const STACK: usize = 512 << 10;
/// Pause after the system had no connection to give: mostly because too many files are open.
const PAUSE: Duration = Duration::from_millis(20);
/// Time in which the rest of a refused request is taken in, and most bytes of it: a connection that is closed with
/// bytes unread takes the answer with it.
const REST: Duration = Duration::from_millis(200);
const MOST_REST: u64 = 1 << 20;

/// The connections there are.
struct Open {
    most: usize,
    count: Mutex<usize>,
    fewer: Condvar,
}

/// One of them, until it is dropped.
struct Place(Arc<Open>);

impl Open {
    /// With as many places as there may be open files for: a request without one would be told that there is no such file.
    fn new() -> Self {
        let files = open_files().map_or(MOST as u64, |files| files.saturating_sub(OTHER_FILES) / FILES);
        let most = usize::try_from(files).unwrap_or(MOST).clamp(1, MOST);
        Self { most, count: Mutex::default(), fewer: Condvar::new() }
    }

    /// Waits until there is a place.
    fn enter(self: &Arc<Self>) -> Place {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let mut count =
            self.fewer.wait_while(count, |count| *count >= self.most).unwrap_or_else(PoisonError::into_inner);
        *count += 1;
        Place(self.clone())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        *self.0.count.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.fewer.notify_one();
    }
}

/// Begins to answer; goes on until the process ends. The error says which thread could not begin.
pub fn serve(
    listener: TcpListener,
    answer: impl Fn(&Request) -> Response + Send + Sync + 'static,
) -> std::io::Result<()> {
    let (open, answer) = (Arc::new(Open::new()), Arc::new(answer));
    let accept = move || {
        loop {
            let place = open.enter();
            let Ok((stream, _)) = listener.accept() else {
                std::thread::sleep(PAUSE);
                continue;
            };
            let answer = answer.clone();
            let attend = move || {
                attend(stream, &*answer);
                drop(place);
            };
            // Without a thread the connection is closed: the client asks again.
            let _ = Builder::new().name("view".into()).stack_size(STACK).spawn(attend);
        }
    };
    Builder::new().name("view accepts".into()).spawn(accept).map(drop)
}

/// Answers one request. A panic is one request's, and is answered as such.
fn attend(mut stream: TcpStream, answer: &(impl Fn(&Request) -> Response + Sync)) {
    let _ = stream.set_nodelay(true);
    match Request::read(&mut stream) {
        None => {}
        Some(Ok(request)) => {
            let answered = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| answer(&request)));
            let response = answered.unwrap_or_else(|_| Response::sentence(500, "the server made a mistake"));
            response.send(Some(&request), &mut stream);
        }
        Some(Err(status)) => {
            Response::sentence(status, "this is no request that is answered here").send(None, &mut stream);
            let _ = stream.shutdown(Shutdown::Write).and_then(|()| stream.set_read_timeout(Some(REST)));
            let _ = std::io::copy(&mut (&mut stream).take(MOST_REST), &mut std::io::sink());
        }
    }
}
