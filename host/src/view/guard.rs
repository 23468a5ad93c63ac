//! Who may ask: whoever has the token, from this page, at this machine's own names.
//!
//! The token stands in the address's fragment, which browsers send to nobody. The page sends it in a header. A cookie
//! would be sent to every port of this machine, other people's servers included, and by every page; a header is sent by
//! our page alone.

use super::http::Request;
use std::io::Read;

/// Bytes of chance in a token.
const BYTES: usize = 24;

/// The names of the loopback address. A tunnel may end at any port, so ports are not compared.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The token of one server.
pub struct Guard {
    token: String,
}

impl Guard {
    /// With a token from the system's source of chance.
    pub fn new() -> std::io::Result<Self> {
        let mut bytes = [0; BYTES];
        std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Self { token: bytes.iter().map(|b| format!("{b:02x}")).collect() })
    }

    /// The token, for the address that the user gets.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Whether the token came with it.
    pub fn has_token(&self, request: &Request) -> bool {
        let given = request.header("authorization").and_then(|h| h.strip_prefix("Bearer "));
        given.is_some_and(|given| is_same(given.as_bytes(), self.token.as_bytes()))
    }
}

/// Compares in the same time wherever they differ.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

/// Whether it was sent to one of this machine's own names: another name means that a page elsewhere had it resolved to
/// this machine.
pub fn is_host(request: &Request) -> bool {
    request.header("host").is_some_and(is_own)
}

fn is_own(host: &str) -> bool {
    let is_port = |p: &str| p.parse::<u16>().is_ok() && p.bytes().all(|b| b.is_ascii_digit());
    NAMES.iter().any(|name| match host.to_ascii_lowercase().strip_prefix(name) {
        Some("") => true,
        Some(rest) => rest.strip_prefix(':').is_some_and(is_port),
        None => false,
    })
}

/// Whether no page of another origin had it sent.
pub fn is_origin(request: &Request) -> bool {
    let own = request.header("host").map(|host| format!("http://{host}"));
    let origin = request.header("origin").is_none_or(|o| own.is_some_and(|own| own.eq_ignore_ascii_case(o)));
    let site = request.header("sec-fetch-site").is_none_or(|s| ["same-origin", "none"].contains(&s));
    origin && site
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machines_own_names_are_its_own() {
        for host in ["localhost", "127.0.0.1", "LocalHost:80", "127.0.0.1:43211", "[::1]:1"] {
            assert!(is_own(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "evil.localhost",
            "127.0.0.1.nip.io",
            "localhost:",
            "localhost:x",
            "localhost:1@evil",
            "127.0.0.1:99999",
            "127.0.0.2",
            "[::2]:1",
            "localhost:+1",
        ] {
            assert!(!is_own(host), "{host}");
        }
    }

    #[test]
    fn no_two_tokens_are_the_same() {
        let (a, b) = (Guard::new().unwrap(), Guard::new().unwrap());
        assert_ne!(a.token(), b.token());
        assert_eq!(a.token().len(), 2 * BYTES);
        assert!(is_same(b"abc", b"abc") && !is_same(b"abc", b"abd") && !is_same(b"abc", b"ab"));
    }
}
