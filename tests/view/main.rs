//! `meniscus view`: who is answered, and what.

mod changes;
mod page;

use page::{Page, get, post};
use serde_json::{Value as Json, json};
use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};

/// A finished cook of three frames beside a secret file, as far as the server looks at it.
fn cook() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shot.out");
    std::fs::create_dir_all(out.join("look")).unwrap();
    std::fs::write(dir.path().join("secret.png"), b"the secret").unwrap();
    let record = json!({
        "meniscus": "0.1.0", "graph_file": "nowhere.meniscus.json", "graph_hash": "0", "set": ["a.p=1"], "fps": 24.0,
        "frames": [1, 3], "written": [{ "file": "look/look.$F4.png", "frames": [1, 3] }],
        "graph": { "nodes": [{ "name": "look", "type": "preview", "inputs": [] }] },
        "nodes": { "look": { "type": "meniscus.preview", "params": {} } },
    });
    std::fs::write(out.join("cook.json"), record.to_string()).unwrap();
    std::fs::write(out.join("stats.jsonl"), "{\"frame\":2,\"dt\":1}\n{\"frame\":3,\"dt\":1}\n").unwrap();
    for frame in 1..=3 {
        std::fs::write(out.join(format!("look/look.{frame:04}.png")), format!("picture {frame}")).unwrap();
    }
    (dir, out)
}

const PICTURE: &str = "/api/cooks/0/files/look/look.0002.png";

#[test]
fn only_who_has_the_token_is_answered() {
    let (_dir, out) = cook();
    let page = Page::begin(&[&out], &["--read-only"]);
    let with = |token: &str| page.ask(&get("/api/cooks", &[("Authorization", token)])).status;
    let right = format!("Bearer {}", page.token);
    assert_eq!(with(&right), 200);
    let mut wrong = right.clone().into_bytes();
    *wrong.last_mut().unwrap() ^= 1;
    let wrong = String::from_utf8(wrong).unwrap();
    for token in
        [&wrong, &right[..right.len() - 1], &page.token, "Bearer ", "", &format!("{right}0"), "Basic abc"]
    {
        assert_eq!(with(token), 401, "{token}");
    }
    for path in ["/api/types", "/api/cooks/0", "/api/cooks/0/stats", PICTURE, "/api/none"] {
        assert_eq!(page.ask(&get(path, &[])).status, 401, "{path}");
        let query = format!("{path}?token={}", page.token);
        assert_eq!(page.ask(&get(&query, &[])).status, 401, "a token in an address is none");
        assert_eq!(page.ask(&get(path, &[("Cookie", &format!("token={}", page.token))])).status, 401);
    }
    // The page itself has no secret, and nothing of it changes what is answered.
    let index = page.ask(&get("/", &[]));
    assert_eq!(index.status, 200);
    assert!(!index.text().contains(&page.token));
    let (token, said) = (page.token.clone(), page.end());
    assert!(!said.contains(&token), "the token is printed once: {said}");
}

#[test]
fn other_hosts_and_other_origins_are_refused() {
    let (_dir, out) = cook();
    let page = Page::begin(&[&out], &[]);
    let with = |host: &str, more: &[(&str, &str)]| {
        let token = format!("Bearer {}", page.token);
        let mut headers = vec![("Host", host), ("Authorization", token.as_str())];
        headers.extend(more);
        page.ask(&page::raw("GET", "/api/cooks", &headers, "")).status
    };
    // A tunnel may end at any port.
    for host in ["localhost:1234", "127.0.0.1", "[::1]:80", &page.host()] {
        assert_eq!(with(host, &[]), 200, "{host}");
        assert_eq!(
            with(host, &[("Origin", &format!("http://{host}")), ("Sec-Fetch-Site", "same-origin")]),
            200,
            "{host}"
        );
    }
    for host in
        ["example.com", "127.0.0.1.example.com", "localhost.example.com:80", "127.1", "[::1", "0.0.0.0"]
    {
        assert_eq!(with(host, &[]), 403, "{host}");
    }
    let own = page.host();
    for origin in ["http://example.com", "null", "http://localhost:1", "https://127.0.0.1", "http://", ""] {
        assert_eq!(with(&own, &[("Origin", origin)]), 403, "{origin}");
    }
    for site in ["cross-site", "same-site", "other"] {
        assert_eq!(with(&own, &[("Sec-Fetch-Site", site)]), 403, "{site}");
    }
    let index = |host: &str| page.ask(&page::raw("GET", "/", &[("Host", host)], "")).status;
    assert_eq!([index("example.com"), index(&own)], [403, 200]);
    assert_eq!(page.ask("GET / HTTP/1.1\r\n\r\n").status, 403, "without a host");
    assert_eq!(page.ask(&page::raw("GET", "/", &[("Host", &own), ("Host", "example.com")], "")).status, 400);
}

#[test]
fn every_answer_keeps_the_page_to_itself() {
    let (_dir, out) = cook();
    let page = Page::begin(&[&out], &[]);
    for path in ["/", "/app.js", "/three/three.core.min.js", "/none", "/api/cooks", PICTURE] {
        let answer = page.get(path);
        for (name, words) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
            ("content-security-policy", "default-src 'none'; script-src 'self';"),
            ("content-security-policy", "frame-ancestors 'none'"),
        ] {
            assert!(answer.header(name).is_some_and(|h| h.contains(words)), "{path}: {name}");
        }
        assert_eq!(answer.header("set-cookie"), None, "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{path}");
    }
    let policy = page.get("/").header("content-security-policy").unwrap().to_owned();
    assert!(!policy.contains("unsafe") && !policy.contains('*') && !policy.contains("http"), "{policy}");
}

#[test]
fn nothing_outside_the_folder_is_read() {
    let (dir, out) = cook();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(dir.path().join("secret.png"), out.join("look/link.png")).unwrap();
        std::os::unix::fs::symlink(dir.path(), out.join("up")).unwrap();
        assert!(
            std::process::Command::new("mkfifo").arg(out.join("look/pipe.png")).status().unwrap().success()
        );
    }
    std::fs::write(out.join("look/.hidden.png"), b"x").unwrap();
    std::fs::write(out.join("look/notes.txt"), b"x").unwrap();
    let page = Page::begin(&[&out], &[]);
    assert_eq!(page.get(PICTURE).text(), "picture 2");
    for path in [
        "../secret.png",
        "..%2fsecret.png",
        "%2e%2e/secret.png",
        "look/../../secret.png",
        "look/..%2f..%2fsecret.png",
        "look/%2e%2e%2f%2e%2e%2fsecret.png",
        "up/secret.png",
        "look/link.png",
        "look/pipe.png",
        "look/.hidden.png",
        "look/notes.txt",
        "look//look.0002.png",
        "/look/look.0002.png",
        "%2fetc%2fpasswd",
        "look%00/look.0002.png",
        "look/look.0002.png%00",
        "..\\secret.png",
        "look\\look.0002.png",
        "look",
        "",
        "look/",
        "failed.txt",
        "look/look.0009.png",
        "a/b/look.0002.png",
    ] {
        for of in ["files", "shapes"] {
            let answer = page.get(&format!("/api/cooks/0/{of}/{path}"));
            assert!([400, 404].contains(&answer.status), "{of}/{path}: {}", answer.status);
            assert!(!answer.text().contains("secret"), "{of}/{path}");
        }
    }
    for path in [
        "/../Cargo.toml",
        "/three/../../Cargo.toml",
        "/assets/view/app.js",
        "/three",
        "/app.js/",
        "/%61pp.js%00",
    ] {
        assert!([400, 404].contains(&page.get(path).status), "{path}");
    }
}

#[test]
fn parts_of_files_and_versions() {
    let (_dir, out) = cook();
    let page = Page::begin(&[&out], &[]);
    let whole = page.get(PICTURE);
    assert_eq!((whole.status, whole.header("content-type")), (200, Some("image/png")));
    let tag = whole.header("etag").unwrap().to_owned();
    let with = |headers: &[(&str, &str)]| page.get_with(PICTURE, headers);
    let part = with(&[("Range", "bytes=3-6")]);
    assert_eq!((part.status, part.text().as_str()), (206, "ture"));
    assert_eq!(part.header("content-range"), Some("bytes 3-6/9"));
    assert_eq!(with(&[("Range", "bytes=-1")]).text(), "2");
    assert_eq!(with(&[("Range", "bytes=99-")]).status, 416);
    assert_eq!(with(&[("If-None-Match", &tag)]).status, 304);
    assert_eq!(with(&[("Range", "bytes=3-6"), ("If-Range", &tag)]).status, 206);
    assert_eq!(with(&[("Range", "bytes=3-6"), ("If-Range", "\"old\"")]).text(), "picture 2");
    std::fs::write(out.join("look/look.0002.png"), b"another picture").unwrap();
    assert_eq!(with(&[("If-None-Match", &tag)]).text(), "another picture");
    let head = page.ask(&page::raw("HEAD", PICTURE, &page.own_headers(), ""));
    assert_eq!((head.status, head.header("content-length"), head.body.len()), (200, Some("15"), 0));
}

#[test]
fn statistics_are_read_once() {
    let (_dir, out) = cook();
    let page = Page::begin(&[&out], &[]);
    let first = page.get("/api/cooks/0/stats?from=0");
    assert_eq!(first.text().lines().count(), 2);
    let (file, next) = (first.header("meniscus-file").unwrap(), first.header("meniscus-next").unwrap());
    let mut stats = std::fs::OpenOptions::new().append(true).open(out.join("stats.jsonl")).unwrap();
    stats.write_all(b"{\"frame\":4,\"dt\":1}\n{\"frame\":5").unwrap();
    let on = |next: &str, file: &str| page.get(&format!("/api/cooks/0/stats?from={next}&file={file}"));
    let second = on(next, file);
    assert_eq!(second.text(), "{\"frame\":4,\"dt\":1}\n", "whole lines, and only new ones");
    let next = second.header("meniscus-next").unwrap();
    assert_eq!(on(next, file).text(), "");
    assert_eq!(on("999999", file).text().lines().count(), 3, "a file that became shorter is read anew");
    assert_eq!(on(next, "other").text().lines().count(), 3);
    assert_eq!(on("-1", file).status, 200);
}

#[test]
fn a_folder_may_vanish_and_come_back() {
    let (dir, out) = cook();
    let page = Page::begin(&[&out], &[]);
    let state = || page.get("/api/cooks/0").json()["state"].clone();
    assert_eq!(state(), "finished");
    std::fs::rename(&out, dir.path().join("away")).unwrap();
    assert_eq!(state(), "gone");
    for path in [PICTURE, "/api/cooks/0/stats", "/api/cooks/0/files/cook.json"] {
        assert_eq!(page.get(path).status, 404, "{path}");
    }
    std::fs::rename(dir.path().join("away"), &out).unwrap();
    assert_eq!((state(), page.get(PICTURE).status), (json!("finished"), 200));
    std::fs::write(out.join("cook.json"), b"{ damaged").unwrap();
    assert_eq!((state(), page.get("/api/cooks/0").status), (json!("waiting"), 200));
}

#[test]
fn many_at_once_and_silent_ones_beside() {
    let (_dir, out) = cook();
    let page = Page::begin(&[&out], &[]);
    let connect = || TcpStream::connect(("127.0.0.1", page.port)).unwrap();
    let silent: Vec<TcpStream> = (0..100).map(|_| connect()).collect();
    let request = page::raw("GET", PICTURE, &page.own_headers(), "");
    // All are connected before any of them asks.
    let mut asking: Vec<TcpStream> = (0..300).map(|_| connect()).collect();
    asking.iter_mut().for_each(|s| s.write_all(request.as_bytes()).unwrap());
    for stream in asking {
        let answer = page::read(stream);
        assert_eq!((answer.status, answer.text().as_str()), (200, "picture 2"));
    }
    drop(silent);
    assert_eq!(page.get("/api/cooks").status, 200);
}

/// Where the system allows few open files, fewer are answered at a time, and each as it should be.
#[test]
fn a_thousand_at_once_with_few_open_files() {
    let (_dir, out) = cook();
    let page = Page::begin_with("ulimit -n 256", &[&out], &[]);
    let request = page::raw("GET", PICTURE, &page.own_headers(), "");
    let ask = || {
        let mut stream = TcpStream::connect(("127.0.0.1", page.port)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        page::read(stream)
    };
    std::thread::scope(|scope| {
        let clients: Vec<_> =
            (0..40).map(|_| scope.spawn(|| (0..25).map(|_| ask()).collect::<Vec<_>>())).collect();
        for answer in clients.into_iter().flat_map(|c| c.join().unwrap()) {
            assert_eq!((answer.status, answer.text().as_str()), (200, "picture 2"));
        }
    });
    // So many that send a byte now and then that the first of them are cut off before the others are heard.
    let mut slow: Vec<TcpStream> =
        (0..80).map(|_| TcpStream::connect(("127.0.0.1", page.port)).unwrap()).collect();
    slow.iter_mut().for_each(|s| s.write_all(b"GET / HTTP/1.1\r\nX: ").unwrap());
    let asked = std::time::Instant::now();
    assert_eq!(page.get(PICTURE).text(), "picture 2");
    assert!(asked.elapsed().as_secs() < 30, "{:?}", asked.elapsed());
    for stream in slow {
        let answer = page::read(stream);
        assert_eq!(answer.status, 408);
    }
}

/// No socket of browsers is opened, whatever is sent after the request.
#[test]
fn what_asks_for_a_socket_gets_a_plain_answer() {
    let (_dir, out) = cook();
    let page = Page::begin(&[&out], &[]);
    let upgrade = [
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="),
    ];
    assert_eq!(page.ask(&get("/api/cooks", &upgrade)).status, 401);
    let request = page::raw("GET", "/api/cooks", &[&page.own_headers()[..], &upgrade].concat(), "");
    for frame in ["", "\u{1}\u{7f}damaged", &"\u{0}".repeat(60_000)] {
        let mut stream = TcpStream::connect(("127.0.0.1", page.port)).unwrap();
        let _ = stream.write_all(format!("{request}{frame}").as_bytes());
        let answer = page::read(stream);
        assert_eq!((answer.status, answer.header("upgrade")), (200, None), "{}", frame.len());
    }
}

/// A folder that is removed and comes back again and again is there or it is not, and never harms the server.
#[test]
fn a_folder_that_comes_and_goes_while_it_is_asked_for() {
    let (dir, out) = cook();
    let page = Page::begin(&[&out], &[]);
    let away = dir.path().join("away");
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..300 {
                std::fs::rename(&out, &away).unwrap();
                std::thread::yield_now();
                std::fs::rename(&away, &out).unwrap();
            }
            done.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        while !done.load(std::sync::atomic::Ordering::Relaxed) {
            let picture = page.get(PICTURE);
            assert!(picture.status == 404 || picture.text() == "picture 2", "{}", picture.status);
            assert_eq!(page.get("/api/cooks/0").status, 200);
            assert!([200, 404].contains(&page.get("/api/cooks/0/stats").status));
        }
    });
    // Another folder in its place, by a link.
    std::fs::rename(&out, &away).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc", &out).unwrap();
    for path in ["files/cook.json", "files/apt/sources.png", "files/passwd", "stats", "shapes/apt/a.geo"] {
        let answer = page.get(&format!("/api/cooks/0/{path}"));
        assert!(answer.status == 404 || answer.body.is_empty(), "{path}: {}", answer.status);
    }
    assert_eq!(page.get("/api/cooks/0").json()["state"], "waiting");
}

#[test]
fn what_is_too_much_or_no_request_is_refused() {
    let (_dir, out) = cook();
    let page = Page::begin(&[&out], &[]);
    let host = page.host();
    let long = "a".repeat(20_000);
    for (request, status) in [
        (get(&format!("/{long}"), &[]), 431),
        (get("/", &[("X-Long", &long)]), 431),
        (page::raw("POST", "/", &[("Host", &host), ("Content-Length", "99999999")], ""), 413),
        (page::raw("POST", "/", &[("Host", &host), ("Content-Length", "-1")], ""), 400),
        (page::raw("POST", "/", &[("Host", &host), ("Transfer-Encoding", "chunked")], "0\r\n\r\n"), 501),
        (page::raw("DELETE", "/", &[("Host", &host)], ""), 405),
        (page::raw("POST", "/", &[("Host", &host)], ""), 405),
        ("no request at all\r\n\r\n".into(), 400),
        ("\r\n\r\n".into(), 400),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nA: \0\r\n\r\n".into(), 400),
    ] {
        assert_eq!(page.ask(&request).status, status, "{}", &request[..request.len().min(60)]);
    }
    // A connection that is closed in the middle harms nobody.
    for cut in ["", "GET", "GET / HTTP/1.1\r\nHost: loc"] {
        TcpStream::connect(("127.0.0.1", page.port)).unwrap().write_all(cut.as_bytes()).unwrap();
    }
    assert_eq!(page.get("/api/cooks").status, 200);
}

/// What the reading process says of a file: its status, and the description.
fn shapes(page: &Page, name: &str) -> (u16, Json) {
    let answer = page.get(&format!("/api/cooks/0/shapes/look/{name}"));
    if answer.status != 200 {
        return (answer.status, Json::Null);
    }
    assert_eq!(&answer.body[..4], b"MNSV");
    let length = u32::from_le_bytes(answer.body[8..12].try_into().unwrap()) as usize;
    (200, serde_json::from_slice(&answer.body[12..12 + length]).unwrap())
}

/// A ball of a level set, whose leaves are all there.
fn ball() -> Vec<u8> {
    let origins: Vec<[i32; 3]> = (0..64).map(|i| [i / 16, i / 4 % 4, i % 4].map(|c| 8 * (c - 2))).collect();
    let phi = |o: &[i32; 3], n: usize| {
        let p = [n >> 6, n >> 3 & 7, n & 7];
        let square: f32 = (0..3).map(|c| ((o[c] + p[c] as i32) as f32).powi(2)).sum();
        ((square.sqrt() - 10.0) * 0.1).clamp(-0.3, 0.3)
    };
    let values: Vec<f32> = origins.iter().flat_map(|o| (0..512).map(move |n| phi(o, n))).collect();
    let mut transform = [0.0; 16];
    [0, 5, 10].into_iter().for_each(|i| transform[i] = 0.1);
    transform[15] = 1.0;
    let grid = openvdb_sys::GridOut {
        name: "surface",
        class: openvdb_sys::Class::LevelSet,
        transform,
        background: [0.3, 0.0, 0.0],
        origins: &origins,
        masks: None,
        values: openvdb_sys::Values::Float(&values),
        tiles: &[],
        half: false,
        flood: true,
        vector_type: None,
        metadata: &[],
    };
    openvdb_sys::to_bytes(&[grid], &[]).unwrap()
}

#[test]
fn caches_are_drawn_and_damaged_ones_refused() {
    let (_dir, out) = cook();
    let whole = ball();
    let write = |name: &str, bytes: &[u8]| std::fs::write(out.join("look").join(name), bytes).unwrap();
    write("a.vdb", &whole);
    write("cut.vdb", &whole[..whole.len() / 2]);
    write("none.vdb", b"");
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    write("changed.vdb", &changed);
    write("a.geo", br#"["fileversion","20","pointcount",1,"attributes",["pointattributes",[[["name","P"],["size",3,"values",["size",3,"tuples",[[1,2,3]]]]]]]]"#);
    write("deep.geo", "[".repeat(1 << 20).as_bytes());
    let page = Page::begin(&[&out], &[]);
    let (status, said) = shapes(&page, "a.vdb");
    let mesh = &said["shapes"][0];
    assert_eq!((status, &mesh["kind"], &mesh["name"]), (200, &json!("triangles"), &json!("surface")));
    assert!(mesh["triangles"]["count"].as_u64().unwrap() > 3000, "{mesh}");
    let (_, said) = shapes(&page, "a.geo");
    assert_eq!((&said["shapes"][0]["kind"], &said["shapes"][0]["total"]), (&json!("points"), &json!(1)));
    for name in ["cut.vdb", "none.vdb", "changed.vdb", "deep.geo"] {
        let (status, said) = shapes(&page, name);
        assert!(status == 422 || said["error"].is_string(), "{name}: {status} {said}");
    }
    assert_eq!(page.get("/api/cooks/0/shapes/look/look.0002.png").status, 404);
}

#[test]
fn who_may_only_look_begins_nothing() {
    let (dir, out) = cook();
    let before = names(dir.path());
    for (args, status) in [(&["--read-only"][..], 403), (&[], 409)] {
        let page = Page::begin(&[&out], args);
        let asked = page.ask(&post("/api/cooks/0/change", &page.own_headers(), r#"{"set":{"a.p":2}}"#));
        assert_eq!(asked.status, status, "{}", asked.text());
        let checked = page.ask(&post("/api/cooks/0/check", &page.own_headers(), r#"{"set":{"a.p":2}}"#));
        assert!(checked.status == 403 || checked.json()["wrong"].is_string(), "{}", checked.text());
        assert_eq!(names(dir.path()), before, "no folder is made for a cook that cannot be");
        assert!([403, 409].contains(&page.ask(&post("/api/cooks/0/stop", &page.own_headers(), "{}")).status));
        assert_eq!(page.ask(&post("/api/cooks/0/change", &[("Host", "localhost")], "{}")).status, 401);
    }
    let page = Page::begin(&[&out], &[]);
    for body in ["", "{}", "[]", r#"{"set":3}"#, "\u{1f4a7}"] {
        assert_eq!(page.ask(&post("/api/cooks/0/change", &page.own_headers(), body)).status, 400, "{body}");
    }
    assert_eq!(page.ask(&post("/api/cooks/7/change", &page.own_headers(), "{}")).status, 404);
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn bad_arguments_get_one_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let port = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let taken = port.local_addr().unwrap().port().to_string();
    let folder = dir.path().to_string_lossy().into_owned();
    std::fs::write(dir.path().join("a.txt"), b"x").unwrap();
    let file = dir.path().join("a.txt").to_string_lossy().into_owned();
    for (args, word, code) in [
        (vec!["view", "/nowhere/at/all"], "neither the folder of a cook nor a graph", 2),
        (vec!["view", &file], "neither the folder", 2),
        (vec!["view", &folder, "--port", &taken], "is taken", 1),
    ] {
        let output = meniscus_tests::meniscus(&args).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), error.lines().count()), (Some(code), 1), "{error}");
        assert!(error.contains(word), "{error}");
    }
}
