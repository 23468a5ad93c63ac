//! Reads one request within a deadline.

use std::io::Read;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Longest request line and headers together, bytes.
const HEAD: usize = 16 << 10;
/// Longest body, bytes.
const BODY: usize = 64 << 10;
/// Most headers.
const HEADERS: usize = 64;
/// Time that a client has for its whole request.
const DEADLINE: Duration = Duration::from_secs(10);

/// The methods that are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Read.
    Get,
    /// Read, without the body.
    Head,
    /// Do something.
    Post,
}

/// One request.
#[derive(Clone, Debug)]
pub struct Request {
    /// What is asked for.
    pub method: Method,
    /// The path's parts between slashes, decoded; none of them is empty, `.`, `..`, or holds a slash or a control
    /// character.
    pub path: Vec<String>,
    query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    /// Its body.
    pub body: Vec<u8>,
}

/// The status of the answer to a request that is none.
pub type Refused = u16;

impl Request {
    /// A header's value; its name in small letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|h| h.0 == name).map(|h| h.1.as_str())
    }

    /// A value of the query.
    pub fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|q| q.0 == name).map(|q| q.1.as_str())
    }

    /// Reads a request; `None` when the client is gone, the status of a refusal when it sends something else.
    pub fn read(stream: &mut TcpStream) -> Option<Result<Self, Refused>> {
        let mut input = Input { stream, until: Instant::now() + DEADLINE, bytes: Vec::new() };
        let end = loop {
            if let Some(end) = find(&input.bytes, b"\r\n\r\n") {
                break end;
            }
            if input.bytes.len() > HEAD {
                return Some(Err(431));
            }
            match input.more() {
                Some(0) if input.bytes.is_empty() => return None,
                None if input.bytes.is_empty() => return None,
                Some(0) => return Some(Err(400)),
                None => return Some(Err(408)),
                Some(_) => {}
            }
        };
        if end > HEAD {
            return Some(Err(431));
        }
        let mut request = match head(&input.bytes[..end]) {
            Ok(request) => request,
            Err(status) => return Some(Err(status)),
        };
        let length = match request.length() {
            Ok(length) => length,
            Err(status) => return Some(Err(status)),
        };
        let begin = end + 4;
        while input.bytes.len() < begin + length {
            match input.more() {
                Some(0) => return Some(Err(400)),
                None => return Some(Err(408)),
                Some(_) => {}
            }
        }
        request.body = input.bytes[begin..begin + length].to_vec();
        Some(Ok(request))
    }

    fn length(&self) -> Result<usize, Refused> {
        if self.header("transfer-encoding").is_some() {
            return Err(501);
        }
        let Some(text) = self.header("content-length") else { return Ok(0) };
        let length = text.parse().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit())).ok_or(400u16)?;
        if length > BODY { Err(413) } else { Ok(length) }
    }
}

/// What came so far.
struct Input<'a> {
    stream: &'a mut TcpStream,
    until: Instant,
    bytes: Vec<u8>,
}

impl Input<'_> {
    /// Reads on; `None` after the deadline or on an error, nought at the end.
    fn more(&mut self) -> Option<usize> {
        let left = self.until.checked_duration_since(Instant::now()).filter(|d| !d.is_zero())?;
        self.stream.set_read_timeout(Some(left)).ok()?;
        let mut piece = [0; 4096];
        let count = self.stream.read(&mut piece).ok()?;
        self.bytes.extend_from_slice(&piece[..count]);
        Some(count)
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|w| w == what)
}

/// Reads the request line and the headers.
fn head(bytes: &[u8]) -> Result<Request, Refused> {
    let text = std::str::from_utf8(bytes).map_err(|_| 400u16)?;
    if text.bytes().any(|b| b == 0) {
        return Err(400);
    }
    let mut lines = text.split("\r\n");
    let words: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let [method, target, "HTTP/1.1" | "HTTP/1.0"] = words[..] else { return Err(400) };
    let method = match method {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" => Method::Post,
        _ => return Err(405),
    };
    let mut headers: Vec<(String, String)> = Vec::new();
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(400u16)?;
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_!#$%&'*+.^`|~".contains(&b);
        if name.is_empty() || !name.bytes().all(is_plain) || headers.len() == HEADERS {
            return Err(400);
        }
        let name = name.to_ascii_lowercase();
        // Two of a kind that decides something are a way to be read differently by others.
        let decides = ["host", "origin", "authorization", "content-length"].contains(&name.as_str());
        if decides && headers.iter().any(|h| h.0 == name) {
            return Err(400);
        }
        headers.push((name, value.trim().to_owned()));
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    Ok(Request { method, path: parts(path)?, query: pairs(query)?, headers, body: Vec::new() })
}

/// The parts of a path.
fn parts(path: &str) -> Result<Vec<String>, Refused> {
    let inside = path.strip_prefix('/').ok_or(400u16)?;
    if inside.is_empty() {
        return Ok(Vec::new());
    }
    inside.split('/').map(|part| decoded(part).filter(|p| is_name(p)).ok_or(404)).collect()
}

/// Whether a part of a path is the name of something in a folder.
fn is_name(part: &str) -> bool {
    !["", ".", ".."].contains(&part) && !part.contains(|c: char| c == '/' || c == '\\' || c.is_control())
}

fn pairs(query: &str) -> Result<Vec<(String, String)>, Refused> {
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Some((decoded(name)?, decoded(value)?))
    };
    query.split('&').filter(|p| !p.is_empty()).map(|p| pair(p).ok_or(400)).collect()
}

/// Text with `%41` as `A`; `None` where it is no UTF-8.
fn decoded(text: &str) -> Option<String> {
    let digit = |b: u8| char::from(b).to_digit(16).and_then(|d| u8::try_from(d).ok());
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.bytes());
    while let Some(b) = rest.next() {
        bytes.push(match b {
            b'%' => digit(rest.next()?)? << 4 | digit(rest.next()?)?,
            b if b.is_ascii_graphic() => b,
            _ => return None,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read() {
        let r = head(b"GET /api/a%20b?x=1%26&y HTTP/1.1\r\nHost: localhost\r\nRANGE:  bytes=0- ").unwrap();
        assert_eq!((r.method, &r.path[..]), (Method::Get, &["api".to_owned(), "a b".to_owned()][..]));
        assert_eq!([r.query("x"), r.query("y"), r.query("z")], [Some("1&"), Some(""), None]);
        assert_eq!([r.header("host"), r.header("range")], [Some("localhost"), Some("bytes=0-")]);
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for (text, status) in [
            ("", 400),
            ("GET /", 400),
            ("GET / HTTP/2", 400),
            ("GET  / HTTP/1.1", 400),
            ("PUT / HTTP/1.1", 405),
            ("GET http://a/ HTTP/1.1", 400),
            ("GET /a/../b HTTP/1.1", 404),
            ("GET /a/%2e%2E/b HTTP/1.1", 404),
            ("GET /a%2fb HTTP/1.1", 404),
            ("GET /a%5cb HTTP/1.1", 404),
            ("GET /%00 HTTP/1.1", 404),
            ("GET /%ff HTTP/1.1", 404),
            ("GET /%4 HTTP/1.1", 404),
            ("GET //a HTTP/1.1", 404),
            ("GET / HTTP/1.1\r\nno colon", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: b", 400),
            ("GET / HTTP/1.1\r\nHost : a", 400),
            ("GET / HTTP/1.1\r\n folded: a", 400),
        ] {
            assert_eq!(head(text.as_bytes()).map(|r| r.path).unwrap_err(), status, "{text}");
        }
        assert_eq!(head(b"GET /\xff HTTP/1.1").unwrap_err(), 400);
        let many = format!("GET / HTTP/1.1{}", "\r\na: b".repeat(HEADERS + 1));
        assert_eq!(head(many.as_bytes()).unwrap_err(), 400);
    }
}
