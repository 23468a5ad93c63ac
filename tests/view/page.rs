//! A running `meniscus view`, and plain requests to it.

use serde_json::Value as Json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A server, ended with this value.
pub struct Page {
    child: Child,
    out: BufReader<ChildStdout>,
    pub port: u16,
    pub token: String,
}

/// An answer.
pub struct Answer {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|h| h.0 == name).map(|h| h.1.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Json {
        serde_json::from_slice(&self.body).unwrap()
    }
}

impl Page {
    pub fn begin(shown: &[&Path], args: &[&str]) -> Self {
        Self::run(meniscus_tests::meniscus(&["view"]), shown, args)
    }

    /// With a command of the shell before it, which may limit what it gets.
    pub fn begin_with(before: &str, shown: &[&Path], args: &[&str]) -> Self {
        let mut shell = Command::new("sh");
        shell
            .arg("-c")
            .arg(format!("{before}; exec \"$@\""))
            .arg("sh")
            .arg(meniscus_tests::binary())
            .arg("view");
        Self::run(shell, shown, args)
    }

    fn run(mut command: Command, shown: &[&Path], args: &[&str]) -> Self {
        // New cooks lie beside what is shown.
        command
            .current_dir(shown[0].parent().unwrap())
            .args(args)
            .args(shown)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let (host, token) = line.trim().strip_prefix("http://127.0.0.1:").unwrap().split_once("/#").unwrap();
        Self { child, out, port: host.parse().unwrap(), token: token.to_owned() }
    }

    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn own_headers(&self) -> [(&'static str, &'static str); 2] {
        // A few bytes for the length of a test.
        let token = Box::leak(format!("Bearer {}", self.token).into_boxed_str());
        [("Host", "localhost"), ("Authorization", token)]
    }

    pub fn ask(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        // A server that refuses early may close before it has everything.
        let _ = stream.write_all(request.as_bytes());
        read(stream)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.get_with(path, &[])
    }

    pub fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.ask(&raw("GET", path, &[&self.own_headers()[..], headers].concat(), ""))
    }

    /// Ends it as Ctrl-C does; everything that it printed after its address.
    pub fn end(mut self) -> String {
        let interrupt = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
        assert!(interrupt.unwrap().success());
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        let mut said = String::new();
        self.out.read_to_string(&mut said).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        said
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request with exactly these headers.
pub fn raw(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> String {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("{method} {path} HTTP/1.1\r\n{headers}\r\n{body}")
}

/// A request to this machine without the token.
pub fn get(path: &str, headers: &[(&str, &str)]) -> String {
    raw("GET", path, &[&[("Host", "localhost")], headers].concat(), "")
}

pub fn post(path: &str, headers: &[(&str, &str)], body: &str) -> String {
    let length = body.len().to_string();
    raw("POST", path, &[headers, &[("Content-Length", &length)]].concat(), body)
}

pub fn read(mut stream: TcpStream) -> Answer {
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        // What was sent after the request is not taken in.
        Err(e) if e.kind() == std::io::ErrorKind::ConnectionReset => {}
        read => drop(read.unwrap()),
    }
    let end = bytes.windows(4).position(|w| w == b"\r\n\r\n").expect("an answer has a head");
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let split = |line: &str| line.split_once(": ").map(|(n, v)| (n.to_ascii_lowercase(), v.to_owned()));
    Answer { status, headers: lines.filter_map(split).collect(), body: bytes[end + 4..].to_vec() }
}
