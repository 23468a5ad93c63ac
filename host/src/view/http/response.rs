//! Writes one response.

use super::range::{Asked, asked};
use super::request::{Method, Request};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

/// Time that a client has to take each piece of a response.
const PATIENCE: Duration = Duration::from_secs(20);
/// Bytes of a file that are read at a time.
const PIECE: usize = 1 << 16;

/// Headers of every response. The page loads nothing from elsewhere, is shown in no frame of another page, and says to
/// nobody where it is.
const ALWAYS: &str = "Connection: close\r\n\
    X-Content-Type-Options: nosniff\r\n\
    X-Frame-Options: DENY\r\n\
    Referrer-Policy: no-referrer\r\n\
    Cross-Origin-Opener-Policy: same-origin\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n";

/// What a response carries.
#[derive(Debug)]
pub enum Body {
    /// Bytes.
    Bytes(Arc<[u8]>),
    /// Bytes of the program itself.
    Static(&'static [u8]),
    /// An open file, and its length.
    File(File, u64),
}

impl Body {
    fn length(&self) -> u64 {
        match self {
            Body::Bytes(b) => b.len() as u64,
            Body::Static(b) => b.len() as u64,
            Body::File(_, length) => *length,
        }
    }
}

/// One response.
#[derive(Debug)]
pub struct Response {
    status: u16,
    kind: &'static str,
    headers: Vec<(&'static str, String)>,
    /// The body's version: a client that has it already gets 304.
    tag: Option<String>,
    body: Body,
}

impl Response {
    /// A response of a media type.
    pub fn new(status: u16, kind: &'static str, body: Body) -> Self {
        Self { status, kind, headers: Vec::new(), tag: None, body }
    }

    /// A sentence for people.
    pub fn sentence(status: u16, text: &str) -> Self {
        let bytes = format!("{text}\n").into_bytes();
        Self::new(status, "text/plain; charset=utf-8", Body::Bytes(bytes.into()))
    }

    /// A JSON value, with its hash as its version.
    pub fn json(json: &serde_json::Value) -> Self {
        let bytes = json.to_string().into_bytes();
        let tag = blake3::hash(&bytes).to_hex()[..16].to_owned();
        Self::new(200, "application/json", Body::Bytes(bytes.into())).tagged(tag)
    }

    /// The same with a header.
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    /// The same with a version.
    pub fn tagged(mut self, tag: String) -> Self {
        self.tag = Some(tag);
        self
    }

    /// Sends it as the answer to a request, or to none that could be read. A client that is gone is no failure.
    pub fn send(self, request: Option<&Request>, stream: &mut TcpStream) {
        let _ = stream.set_write_timeout(Some(PATIENCE));
        let _ = self.write(request, stream);
    }

    fn write(mut self, request: Option<&Request>, out: &mut TcpStream) -> std::io::Result<()> {
        let header = |name| request.and_then(|r| r.header(name));
        let (mut from, mut length) = (0, self.body.length());
        let quoted = self.tag.as_ref().map(|t| format!("\"{t}\""));
        let known =
            |tag: &String| header("if-none-match").is_some_and(|h| h.split(',').any(|t| t.trim() == tag));
        let mut head = String::new();
        let is_same = self.status == 200 && quoted.as_ref().is_some_and(known);
        if is_same {
            (self.status, length) = (304, 0);
        } else if self.status == 200 {
            // A part of another version would be put together with what the client has.
            let valid = header("if-range").is_none_or(|tag| quoted.as_deref() == Some(tag));
            let whole = length;
            match asked(header("range").filter(|_| valid), whole) {
                Asked::All => {}
                Asked::Part { from: first, length: count } => {
                    (self.status, from, length) = (206, first, count);
                    let _ = write!(head, "Content-Range: bytes {first}-{}/{whole}\r\n", first + count - 1);
                }
                Asked::Nothing => {
                    (self.status, length) = (416, 0);
                    let _ = write!(head, "Content-Range: bytes */{whole}\r\n");
                }
            }
            head += "Accept-Ranges: bytes\r\n";
        }
        // Writing into a String cannot fail.
        let _ = write!(head, "Cache-Control: no-cache\r\nContent-Type: {}\r\n", self.kind);
        if !is_same {
            let _ = write!(head, "Content-Length: {length}\r\n");
        }
        if let Some(tag) = quoted {
            let _ = write!(head, "ETag: {tag}\r\n");
        }
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {}\r\n", value.replace(char::is_control, " "));
        }
        let status = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status));
        out.write_all(format!("{status}{ALWAYS}{head}\r\n").as_bytes())?;
        if request.is_some_and(|r| r.method == Method::Head) {
            return Ok(());
        }
        self.body.write(from, length, out)
    }
}

impl Body {
    fn write(&mut self, from: u64, length: u64, out: &mut TcpStream) -> std::io::Result<()> {
        let part = |bytes: &[u8], out: &mut TcpStream| {
            // Both lie within the bytes, whose number they were computed from.
            out.write_all(&bytes[from as usize..(from + length) as usize])
        };
        match self {
            Body::Bytes(b) => part(b, out),
            Body::Static(b) => part(b, out),
            Body::File(file, _) => {
                file.seek(SeekFrom::Start(from))?;
                let (mut left, mut piece) = (length, vec![0; PIECE]);
                while left > 0 {
                    let most = left.min(PIECE as u64) as usize;
                    let count = file.read(&mut piece[..most])?;
                    if count == 0 {
                        // It became shorter: the client sees that the body ends too early.
                        return Ok(());
                    }
                    out.write_all(&piece[..count])?;
                    left -= count as u64;
                }
                Ok(())
            }
        }
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        206 => "Partial Content",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        413 => "Content Too Large",
        416 => "Range Not Satisfiable",
        422 => "Unprocessable Content",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        _ => "Error",
    }
}
