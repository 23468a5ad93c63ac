//! `meniscus inspect` as it is typed: what it says of good files and of bad ones.

use openvdb_sys::{Class, GridOut, Meta, Values};
use std::path::Path;
use std::process::{Command, Output};

const H: f64 = 0.02;
const RADIUS: f64 = 0.3;

fn inspect(path: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_meniscus")).arg("inspect").arg(path).output().unwrap()
}

fn report(path: &Path) -> String {
    let out = inspect(path);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// Writes a ball's surface and a velocity.
fn write_vdb(path: &Path, fps: f32) {
    let steps = || (-24..24).step_by(8);
    let origins: Vec<[i32; 3]> =
        steps().flat_map(|x| steps().flat_map(move |y| steps().map(move |z| [x, y, z]))).collect();
    let at = |o: &[i32; 3], n: i32| {
        [o[0] + (n >> 6), o[1] + (n >> 3 & 7), o[2] + (n & 7)].map(|c| (f64::from(c) + 0.5) * H)
    };
    let voxels = || origins.iter().flat_map(|o| (0..512).map(move |n| at(o, n)));
    let distance = |p: [f64; 3]| (p.iter().map(|c| c * c).sum::<f64>().sqrt() - RADIUS) as f32;
    let surface: Vec<f32> = voxels().map(distance).collect();
    let zeros = vec![0f32; surface.len()];
    let speed: Vec<f32> = voxels().map(|p| p[0] as f32).collect();
    let transform = [H, 0., 0., 0., 0., H, 0., 0., 0., 0., H, 0., 0.5 * H, 0.5 * H, 0.5 * H, 1.];
    let grid = GridOut {
        name: "surface",
        class: Class::LevelSet,
        transform,
        background: [3.0 * H, 0.0, 0.0],
        origins: &origins,
        masks: None,
        values: Values::Float(&surface),
        tiles: &[],
        half: false,
        flood: true,
        vector_type: None,
        metadata: &[],
    };
    let vel = GridOut {
        name: "vel",
        class: Class::Unknown,
        background: [0.0; 3],
        values: Values::Vector([&speed, &zeros, &zeros]),
        half: true,
        flood: false,
        vector_type: Some("contravariant relative"),
        ..grid.clone()
    };
    let metadata = [("fps", Meta::Float(fps)), ("frame", Meta::Int(7))];
    std::fs::write(path, openvdb_sys::to_bytes(&[grid, vel], &metadata).unwrap()).unwrap();
}

#[test]
fn a_cache_of_ours_has_nothing_to_warn_of() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache.0007.vdb");
    write_vdb(&path, 24.0);
    let text = report(&path);
    for expected in [
        "cache.0007.vdb: OpenVDB, 2 grids",
        "fps 24, frame 7",
        "surface: float, class level set\n  voxel size: 0.02 m",
        "vel: vec3s, class unknown, 16-bit",
        "|gradient| near the surface: 0.99",
        "vector_type: contravariant relative",
        "lengths: 0.010002 to 0.469971",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!text.contains("warning"), "{text}");
}

/// The text behind `label` on the first line that begins with it.
fn field<'a>(text: &'a str, label: &str) -> &'a str {
    let line = text.lines().map(str::trim).find(|l| l.starts_with(label));
    line.unwrap_or_else(|| panic!("no {label} in {text}"))[label.len()..].trim()
}

#[test]
fn facts_agree_with_openvdbs_own_tool() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache.0007.vdb");
    write_vdb(&path, 24.0);
    let Ok(out) = Command::new("vdb_print").arg("-l").arg(&path).output() else {
        eprintln!("skipped: vdb_print (package libopenvdb-tools) is not installed");
        return;
    };
    let theirs = String::from_utf8(out.stdout).unwrap();
    let ours = report(&path);
    let (theirs, ours): (Vec<&str>, Vec<&str>) = (
        theirs.split("Name: ").skip(1).collect(),
        ["surface: ", "vel: "].map(|g| ours.split_once(g).unwrap().1).into(),
    );
    for (theirs, ours) in theirs.into_iter().zip(ours) {
        let active = |text: &'_ str, label| field(text, label).split(' ').next().unwrap().to_owned();
        assert_eq!(active(theirs, "Number of active voxels:"), active(ours, "active voxels:"));
        let bounds = field(theirs, "Bounding box of active voxels:");
        assert_eq!(field(ours, "index bounds:").split_once(", ").map(|_| ()), Some(()));
        assert!(field(ours, "index bounds:").starts_with(bounds), "{bounds}");
        assert!(field(ours, "index bounds:").ends_with(field(theirs, "Dimensions of active voxels:")));
        assert_eq!(field(theirs, "voxel size:"), field(ours, "voxel size:").trim_end_matches(" m"));
        for key in ["class:", "file_mem_bytes:", "file_voxel_count:", "file_compression:"] {
            let expected = field(theirs, key);
            let found = if key == "class:" {
                ours.contains(&format!("class {expected}"))
            } else {
                field(ours, key) == expected
            };
            assert!(found, "{key} {expected}: {ours}");
        }
        let bytes = field(theirs, "file_mem_bytes:").to_owned();
        let memory = field(ours, "memory:").replace(',', "");
        assert!(memory.contains(&format!("({bytes} bytes)")), "{memory} {bytes}");
    }
}

#[test]
fn bad_files_get_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write_vdb(&at("whole.vdb"), 24.0);
    let whole = std::fs::read(at("whole.vdb")).unwrap();
    let geo =
        br#"["fileversion","20.5.0","pointcount",1,"attributes",["pointattributes",[[["name","P"],["size",3"#;
    let files: [(&str, &[u8]); 12] = [
        ("empty.vdb", b""),
        ("text.vdb", b"this is no VDB file at all, only text"),
        ("cut.vdb", &whole[..whole.len() / 2]),
        ("short.vdb", &whole[..whole.len() - 3]),
        ("empty.geo", b""),
        ("cut.geo", geo),
        ("other.geo", br#"["a", 1]"#),
        ("classic.geo", b"PGEOMETRY V5\nNPoints 3"),
        ("object.geo", b"{}"),
        ("bad.mns", b"MNSCHKPT\x01"),
        ("stats.jsonl", b"{\"frame\":1,\"dt\":0.1}\n{\"frame\":2,\"d"),
        ("notes.txt", b"hello"),
    ];
    for (name, bytes) in files {
        std::fs::write(at(name), bytes).unwrap();
        let out = inspect(&at(name));
        let said = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(1), "{name}: {said}");
        assert!(out.stdout.is_empty(), "{name}");
        assert!(
            said.starts_with("error: ") && said.lines().count() == 1 && said.contains(name),
            "{name}: {said}"
        );
    }
    assert_eq!(inspect(&at("missing.vdb")).status.code(), Some(1));
    std::fs::create_dir(at("nothing")).unwrap();
    assert_eq!(inspect(&at("nothing")).status.code(), Some(1));
}

#[test]
fn a_folder_is_checked_for_gaps_rates_and_leftovers() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (frame, fps) in [(1, 24.0), (2, 24.0), (4, 25.0)] {
        write_vdb(&at(&format!("cache.{frame:04}.vdb")), fps);
    }
    std::fs::write(at(".cache.0005.vdb.tmp"), b"cut").unwrap();
    let text = report(folder.path());
    for expected in [
        "cache.*.vdb: frames 1 to 4, 3 files",
        "warning: cache.*.vdb: frames 3 are missing",
        "warning: cache: frame 1 says 24 fps, frame 4 says 25",
        "warning: .cache.0005.vdb.tmp is left",
        "surface: float, class level set",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    std::fs::write(at("cache.0002.vdb"), b"").unwrap();
    let out = inspect(folder.path());
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8(out.stderr).unwrap().contains("cache.0002.vdb"));
}

#[test]
fn a_cook_is_shown_whole() {
    let folder = tempfile::tempdir().unwrap();
    let graph = folder.path().join("shot.meniscus.json");
    let nodes = r#"{ "format": "meniscus.graph/1", "fps": 24, "frames": [1, 3], "nodes": [
        { "name": "brick", "type": "box" },
        { "name": "out", "type": "geometry_cache", "inputs": ["brick"], "params": { "geometry": ["geometry"] } } ] }"#;
    std::fs::write(&graph, nodes).unwrap();
    let out = folder.path().join("shot.out");
    let cook = Command::new(env!("CARGO_BIN_EXE_meniscus"))
        .args(["cook", "--quiet", "--out"])
        .arg(&out)
        .arg(&graph)
        .output()
        .unwrap();
    assert!(cook.status.success(), "{}", String::from_utf8_lossy(&cook.stderr));
    let text = report(&out);
    for expected in [
        "out.*.geo: frames 1 to 3, 3 files",
        "out.0003.geo: Houdini geometry, 8 points, 36 vertices, 12 primitives",
        "point P: 3 x fpreal32, [-0.5, -0.5, -0.5] to [0.5, 0.5, 0.5]",
        "checkpoint.0003.mns: Meniscus checkpoint at the end of frame 3",
        "stats.jsonl: ",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}
