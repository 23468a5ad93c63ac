//! The page's files, parts of the program.

/// Path, media type, bytes.
type Asset = (&'static str, &'static str, &'static [u8]);

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// A file of `host/assets/view` under its name.
macro_rules! asset {
    ($name:literal, $kind:expr) => {
        ($name, $kind, include_bytes!(concat!("../../assets/view/", $name)))
    };
}

const ALL: [Asset; 16] = [
    asset!("index.html", HTML),
    asset!("style.css", CSS),
    asset!("icon.svg", SVG),
    asset!("app.js", JS),
    asset!("api.js", JS),
    asset!("camera.js", JS),
    asset!("dom.js", JS),
    asset!("network.js", JS),
    asset!("panel.js", JS),
    asset!("plots.js", JS),
    asset!("series.js", JS),
    asset!("shapes.js", JS),
    asset!("stage.js", JS),
    asset!("timeline.js", JS),
    asset!("three/three.module.min.js", JS),
    asset!("three/three.core.min.js", JS),
];

/// The file of a path, and its media type.
pub fn find(path: &[String]) -> Option<(&'static str, &'static [u8])> {
    let name = if path.is_empty() { "index.html".to_owned() } else { path.join("/") };
    ALL.iter().find(|(own, ..)| *own == name).map(|&(_, kind, bytes)| (kind, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn nothing_is_loaded_from_elsewhere() {
        for (name, _, bytes) in ALL.iter().filter(|a| !a.0.starts_with("three/")) {
            let text = String::from_utf8_lossy(bytes);
            for line in text.lines().filter(|line| line.contains("://")) {
                assert!(line.contains("http://www.w3.org/"), "{name}: {line}");
            }
            for word in
                ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"]
            {
                assert!(!text.contains(word), "{name}: {word}");
            }
        }
    }

    #[test]
    fn every_file_is_served() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/view");
        for entry in std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap()) {
            let name = entry.file_name().into_string().unwrap();
            let known = ["README.md", "three"].contains(&name.as_str()) || ALL.iter().any(|a| a.0 == name);
            assert!(known, "{name} is not in the list");
        }
    }

    /// SHA-256, as `sha256sum` prints it.
    fn sha256(bytes: &[u8]) -> String {
        let is_prime = |n: u64| (2..n).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
        let primes = || (2u64..).filter(|&n| is_prime(n));
        // The first 32 bits after the point of a root of a prime.
        let cube = |p: u64| {
            let p = u128::from(p) << 96;
            let (mut low, mut high) = (0u128, 1 << 36);
            while high - low > 1 {
                let middle = (low + high) / 2;
                if middle * middle * middle <= p { low = middle } else { high = middle }
            }
            low as u32
        };
        let square = |p: u64| (u128::from(p) << 64).isqrt() as u32;
        let k: Vec<u32> = primes().take(64).map(cube).collect();
        let mut state: Vec<u32> = primes().take(8).map(square).collect();
        let mut padded = [bytes, &[0x80]].concat();
        padded.resize((bytes.len() + 9).next_multiple_of(64) - 8, 0);
        padded.extend((8 * bytes.len() as u64).to_be_bytes());
        for block in padded.chunks_exact(64) {
            let word = |c: &[u8]| c.iter().fold(0, |w, b| w << 8 | u32::from(*b));
            let mut w: Vec<u32> = block.chunks_exact(4).map(word).collect();
            for i in 16..64 {
                let s0 = w[i - 15].rotate_right(7) ^ w[i - 15].rotate_right(18) ^ w[i - 15] >> 3;
                let s1 = w[i - 2].rotate_right(17) ^ w[i - 2].rotate_right(19) ^ w[i - 2] >> 10;
                w.push(w[i - 16].wrapping_add(s0).wrapping_add(w[i - 7]).wrapping_add(s1));
            }
            let mut v = state.clone();
            for i in 0..64 {
                let s1 = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
                let choice = v[4] & v[5] ^ !v[4] & v[6];
                let one = [s1, choice, k[i], w[i]].into_iter().fold(v[7], u32::wrapping_add);
                let s0 = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
                let two = s0.wrapping_add(v[0] & v[1] ^ v[0] & v[2] ^ v[1] & v[2]);
                v.rotate_right(1);
                v[4] = v[4].wrapping_add(one);
                v[0] = one.wrapping_add(two);
            }
            state.iter_mut().zip(v).for_each(|(s, v)| *s = s.wrapping_add(v));
        }
        state.iter().map(|s| format!("{s:08x}")).collect()
    }

    #[test]
    fn what_others_wrote_is_what_they_wrote() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/view/three");
        let sums = std::fs::read_to_string(folder.join("SHA256SUMS")).unwrap();
        let known: Vec<(&str, &str)> = sums.lines().filter_map(|line| line.split_once("  ")).collect();
        for (sum, name) in &known {
            assert_eq!(sha256(&std::fs::read(folder.join(name)).unwrap()), *sum, "{name}");
        }
        for (name, ..) in ALL.iter().filter_map(|a| a.0.strip_prefix("three/").map(|n| (n, a.1))) {
            assert!(known.iter().any(|k| k.1 == name), "{name} has no sum");
        }
    }
}
