//! Shots in USD: that Pixar's own USD finds in them what the other caches hold, however they were cooked.

use meniscus_tests::points::{positions, vectors, whole_numbers};
use meniscus_tests::shot::Shot;
use meniscus_tests::usd::Stage;
use meniscus_tests::{assert_same_files, surface};
use serde_json::{Value, json};

/// A box that spins and falls into a small tank of water, at a rate that is no whole number and from a frame before 0; a post
/// stands beside it. `shot` are parameters of the output.
fn splash(last: i32, shot: Value) -> Value {
    let tank = json!({ "limit_center": [0, 0.25, 0], "limit_size": [0.4, 0.5, 0.4], "side_neg_x": "closed", "side_pos_x": "closed",
        "side_neg_y": "closed", "side_neg_z": "closed", "side_pos_z": "closed" });
    json!({ "format": "meniscus.graph/1", "fps": 23.976, "frames": [-1, last], "substeps": { "min": 1, "max": 4, "cfl": 2.0 }, "nodes": [
        { "name": "fill", "type": "box", "params": { "size": [0.4, 0.15, 0.4], "center": [0, 0.075, 0] } },
        { "name": "water", "type": "liquid_object", "inputs": ["fill"], "params": { "particle_separation": 0.025 } },
        { "name": "brick", "type": "box", "params": { "size": [0.12, 0.08, 0.05] } },
        { "name": "places", "type": "points", "params": { "count": [2, 1, 1], "spacing": [0.15, 0, 0], "center": [0.01, 0.28, 0] } },
        { "name": "stones", "type": "rigid_object", "inputs": ["brick", "places"],
          "params": { "density": 1500, "velocity": [0, -1, 0], "spin": [2, 9, 3], "division_size": 0.025 } },
        { "name": "post-1", "type": "tube", "params": { "radius_bottom": 0.02, "radius_top": 0.02, "height": 0.3, "center": [0.3, 0.15, 0] } },
        { "name": "gravity", "type": "gravity" },
        { "name": "rigid", "type": "rigid_solver", "inputs": ["stones", "gravity"], "params": tank },
        { "name": "flip", "type": "flip_solver", "inputs": ["water", "stones", "gravity"], "params": tank },
        { "name": "float", "type": "floating_bodies", "inputs": ["rigid", "flip"] },
        { "name": "shot", "type": "usd_shot", "inputs": ["float", "post-1"], "params": shot },
        { "name": "cache", "type": "vdb_cache", "inputs": ["float"] },
        { "name": "points", "type": "geometry_cache", "inputs": ["float"], "params": { "geometry": ["particles", "mesh"], "attributes": "*" } } ] })
}

/// Fails unless two lists of points are the same.
fn assert_near(name: &str, found: &[[f64; 3]], wanted: &[[f64; 3]], most: f64) {
    assert_eq!(found.len(), wanted.len(), "{name}");
    let off = found.iter().zip(wanted).flat_map(|(a, b)| (0..3).map(move |c| (a[c] - b[c]).abs()));
    let off = off.fold(0.0, f64::max);
    assert!(off < most, "{name}: {off} off");
}

#[test]
fn a_shot_holds_what_the_caches_hold() {
    let shot = Shot::new(&splash(2, json!({})));
    shot.cook(&[]);
    let stage = Stage::open(&shot.out().join("shot/shot.usda"));
    let is = |key: &str, wanted: Value| assert_eq!(stage.0[key], wanted, "{key}");
    is("default", json!("/shot"));
    is("metres", json!(1.0));
    is("up", json!("Y"));
    is("fps", json!([23.976, 23.976]));
    is("times", json!([-1.0, 2.0]));
    is("seen", json!(true));
    assert_eq!(stage.prim("/shot/post_1/geometry/geometry")["type"], "Mesh", "a geometry node comes along");
    for frame in -1i32..=2 {
        let sign = if frame < 0 { "-" } else { "" };
        let file = |stem: &str| shot.out().join(format!("points/{stem}.{sign}{:04}.geo", frame.abs()));
        particles_are_those_of(&stage, frame, &file("points"));
        bodies_are_where(&stage, frame, &file("points_mesh"));
        surface_encloses_the_liquid(&shot, &stage, frame);
        volumes_are_there(&stage, frame);
    }
}

fn particles_are_those_of(stage: &Stage, frame: i32, cached: &std::path::Path) {
    let prim = "/shot/water/particles";
    assert_near("points", &stage.vectors(prim, "points", frame), &positions(cached), 1e-5);
    assert_near("velocities", &stage.vectors(prim, "velocities", frame), &vectors(cached, "v"), 1e-5);
    assert_eq!(*stage.at(prim, "ids", frame), json!(whole_numbers(cached, "id")));
    let widths = stage.at(prim, "widths", frame).as_array().expect("a width each").clone();
    assert!(widths.iter().all(|w| (w.as_f64().expect("a number") - 0.025).abs() < 1e-6));
}

/// The mesh of a body, moved as its prim says, is the mesh that is cached where it is: places, turns and their handedness.
fn bodies_are_where(stage: &Stage, frame: i32, cached: &std::path::Path) {
    let moved = |id: i32| stage.world(&format!("/shot/stones/body_{id}/geometry"), frame);
    let all: Vec<[f64; 3]> = [moved(0), moved(1)].concat();
    assert_near("bodies", &all, &positions(cached), 1e-5);
    let [w, x, y, z] = std::array::from_fn(|n| {
        stage.at("/shot/stones/body_0", "xformOp:orient", frame)[n].as_f64().expect("a number")
    });
    assert!((w * w + x * x + y * y + z * z - 1.0).abs() < 1e-5);
    assert!(frame == -1 || y.abs() > 0.1, "frame {frame}: it does not turn: {w} {x} {y} {z}");
}

/// The polygons enclose what the cached level set does, into walls as well, and their corners lie on it.
fn surface_encloses_the_liquid(shot: &Shot, stage: &Stage, frame: i32) {
    let prim = "/shot/water/surface";
    let points = stage.vectors(prim, "points", frame);
    let corners = stage.at(prim, "faceVertexIndices", frame).as_array().expect("corners").clone();
    let corners: Vec<usize> = corners.iter().map(|n| n.as_u64().expect("a number") as usize).collect();
    let counts = stage.at(prim, "faceVertexCounts", frame).as_array().expect("polygons").clone();
    assert!(counts.iter().all(|n| *n == json!(4)) && corners.len() == 4 * counts.len());
    let triple = |a: [f64; 3], b: [f64; 3], c: [f64; 3]| {
        a[0] * (b[1] * c[2] - b[2] * c[1])
            + a[1] * (b[2] * c[0] - b[0] * c[2])
            + a[2] * (b[0] * c[1] - b[1] * c[0])
    };
    let of = |q: &[usize]| {
        let [a, b, c, d] = std::array::from_fn(|n| points[q[n]]);
        (triple(a, b, c) + triple(a, c, d)) / 6.0
    };
    let volume: f64 = corners.chunks_exact(4).map(of).sum();
    let sign = if frame < 0 { "-" } else { "" };
    let file = shot.out().join(format!("cache/cache.{sign}{:04}.vdb", frame.abs()));
    let level_set = surface::Surface::read(&file);
    let around = 0.6; // a multiple of the voxel, beyond the tank and what of the level set lies in its walls
    let wanted = level_set.level([-around; 3], [around; 3]) * (2.0 * around).powi(2);
    // Edges of the block are cut off by half a voxel's square: 5.8 m of them, 8 % of so coarse a volume.
    assert!((volume / wanted - 1.0).abs() < 0.08, "frame {frame}: it encloses {volume} m^3 of {wanted}");
    let off = |p: &[f64; 3]| {
        let voxel =
            std::array::from_fn(|axis| level_set.voxels(axis, p[axis], p[axis] + level_set.voxel).start);
        level_set.distance(voxel).abs()
    };
    assert!(points.iter().all(|p| off(p) < 2.0 * level_set.voxel), "a corner lies far from the level set");
    let [normals, velocities] = ["normals", "velocities"].map(|name| stage.vectors(prim, name, frame));
    assert!(normals.len() == points.len() && velocities.len() == points.len());
    let fastest = velocities.iter().flatten().fold(0.0f64, |most, v| most.max(v.abs()));
    assert!(fastest < 5.0 && (frame < 1 || fastest > 0.05), "frame {frame}: {fastest} m/s");
}

fn volumes_are_there(stage: &Stage, frame: i32) {
    for (grid, class, kind) in [("surface", "levelSet", "float"), ("vel", "unknown", "float3")] {
        let field = format!("/shot/water/cache_volume/{grid}");
        let file = stage.at(&field, "filePath", frame);
        let (path, resolved) = (file["path"].as_str(), file["resolved"].as_str().expect("it is found"));
        assert!(path.is_some_and(|p| p.starts_with("../cache/cache.")), "{file}");
        let vdb = openvdb_sys::open(std::path::Path::new(resolved)).expect("a VDB file");
        assert!(vdb.grids().expect("grids").iter().any(|g| g.name == grid), "{resolved} has no {grid}");
        let always = |name: &str| stage.prim(&field)["attributes"][name]["always"].clone();
        let wanted = [("fieldName", grid), ("fieldClass", class), ("fieldDataType", kind)];
        wanted.into_iter().for_each(|(name, value)| assert_eq!(always(name), json!(value), "{field}"));
    }
}

#[test]
fn a_shot_can_stand_upright_for_tools_whose_z_is_up() {
    let open = |axis: &str| {
        let shot = Shot::new(&splash(0, json!({ "up_axis": axis })));
        shot.cook(&[]);
        Stage::open(&shot.out().join("shot/shot.usda"))
    };
    let (y, z) = (open("y"), open("z"));
    assert_eq!((&y.0["up"], &z.0["up"]), (&json!("Y"), &json!("Z")));
    assert_eq!(z.0["seen"], json!(true), "the camera turns with the shot");
    for prim in
        ["/shot/water/particles", "/shot/water/surface", "/shot/stones/body_1/geometry", "/shot/camera"]
    {
        let turned: Vec<[f64; 3]> = y.world(prim, 0).iter().map(|p| [p[0], -p[2], p[1]]).collect();
        assert_near(prim, &z.world(prim, 0), &turned, 1e-6);
    }
}

#[test]
fn half_a_shot_opens_and_goes_on_to_the_same_bytes() {
    let whole = Shot::new(&splash(2, json!({})));
    whole.cook(&["--threads", "1"]);
    let cut = Shot::new(&splash(2, json!({})));
    cut.cook(&["--frames", "-1-0", "--threads", "2"]);
    let half = Stage::open(&cut.out().join("shot/shot.usda"));
    assert_eq!(half.0["times"], json!([-1.0, 0.0]));
    assert_eq!(
        half.prim("/shot/water/particles")["attributes"]["points"].as_object().map(|v| v.len()),
        Some(2)
    );
    cut.cook(&["--resume", "--threads", "2"]);
    assert_same_files(&whole.path("out/shot"), &cut.path("out/shot"), &[]);
}

/// A ball that leaves through a side which kills; the shot shows it as long as it was there.
#[test]
fn what_has_gone_stays_in_the_shot_and_is_not_seen() {
    let graph = |last: i32| {
        json!({ "format": "meniscus.graph/1", "fps": 24, "frames": [1001, last], "substeps": { "min": 1, "max": 4, "cfl": 2.0 }, "nodes": [
            { "name": "round", "type": "sphere", "params": { "radius": 0.2, "center": [0, 0.7, 0] } },
            { "name": "ball", "type": "rigid_object", "inputs": ["round"], "params": { "division_size": 0.1, "velocity": [0, -9, 0] } },
            { "name": "gravity", "type": "gravity" },
            { "name": "rigid", "type": "rigid_solver", "inputs": ["ball", "gravity"],
              "params": { "limit_center": [0, 0.8, 0], "limit_size": [4, 1, 4], "side_neg_y": "kill" } },
            { "name": "shot", "type": "usd_shot", "inputs": ["rigid"] } ] })
    };
    let (whole, cut) = (Shot::new(&graph(1006)), Shot::new(&graph(1006)));
    whole.cook(&[]);
    cut.cook(&["--frames", "1001-1005"]);
    cut.cook(&["--resume"]);
    assert_same_files(&whole.path("out/shot"), &cut.path("out/shot"), &[]);
    let stage = Stage::open(&whole.out().join("shot/shot.usda"));
    let visible = &stage.prim("/shot/ball/body_0")["visible"];
    assert_eq!((&visible["1001.0"], &visible["1006.0"]), (&json!(true), &json!(false)), "{visible}");
}

#[test]
fn a_shot_of_nothing_is_refused() {
    let refused = |params: Value, words: &[&str]| {
        let sentence = Shot::new(&splash(0, params)).refused(&[]);
        words.iter().for_each(|word| assert!(sentence.contains(word), "{word}: {sentence}"));
    };
    refused(json!({ "objects": "watr" }), &["node `shot`", "`objects`", "post-1"]);
    refused(json!({ "geometry": ["foam"] }), &["node `shot`", "`geometry`", "`foam`", "particles"]);
    let mut graph = splash(0, json!({}));
    graph["nodes"][5]["name"] = json!("stones-1");
    graph["nodes"][10]["inputs"] = json!(["float", "stones-1", "stones_1"]);
    let twin = json!({ "name": "stones_1", "type": "box" });
    graph["nodes"].as_array_mut().expect("nodes").insert(0, twin);
    let sentence = Shot::new(&graph).refused(&[]);
    assert!(
        sentence.contains("`stones_1` and `stones-1`") || sentence.contains("`stones-1` and `stones_1`"),
        "{sentence}"
    );
}
