//! Meshes that enclose nothing, or are no meshes.

use super::{says, tank};
use meniscus_tests::shot::Shot;
use serde_json::{Value, json};

/// The corners of a cube of 0.1 m at `x`, and its triangles, counter-clockwise from outside.
fn corners(x: f32) -> Vec<[f32; 3]> {
    (0..8).map(|i| [x + 0.1 * (i & 1) as f32, 0.1 * (i >> 1 & 1) as f32, 0.1 * (i >> 2) as f32]).collect()
}
const FACES: [[usize; 3]; 12] = [
    [0, 4, 6],
    [0, 6, 2],
    [1, 3, 7],
    [1, 7, 5],
    [0, 1, 5],
    [0, 5, 4],
    [2, 6, 7],
    [2, 7, 3],
    [0, 2, 3],
    [0, 3, 1],
    [4, 5, 7],
    [4, 7, 6],
];

fn obj(points: &[[f32; 3]], faces: &[[usize; 3]]) -> String {
    let points = points.iter().map(|[x, y, z]| format!("v {x} {y} {z}\n"));
    points.chain(faces.iter().map(|[a, b, c]| format!("f {} {} {}\n", a + 1, b + 1, c + 1))).collect()
}

fn ply(points: &[[f32; 3]], faces: &[[usize; 3]]) -> Vec<u8> {
    let header = format!(
        "ply\nformat binary_little_endian 1.0\nelement vertex {}\nproperty float x\nproperty float y\n\
         property float z\nelement face {}\nproperty list uchar int vertex_indices\nend_header\n",
        points.len(),
        faces.len()
    );
    let mut bytes = header.into_bytes();
    points.iter().flatten().for_each(|x| bytes.extend(x.to_le_bytes()));
    for face in faces {
        bytes.push(3);
        face.iter().for_each(|&v| bytes.extend((v as i32).to_le_bytes()));
    }
    bytes
}

/// The tank with a mesh file as its filling.
fn filled(file: &str) -> Value {
    let mut graph = tank();
    graph["nodes"][0] = json!({ "name": "fill", "type": "file", "params": { "file": file } });
    graph
}

/// The tank with a mesh file as a collider.
fn with_collider(file: &str) -> Value {
    let mut graph = tank();
    let nodes = graph["nodes"].as_array_mut().expect("nodes");
    nodes[3]["inputs"].as_array_mut().expect("inputs").push(json!("rock"));
    nodes.insert(0, json!({ "name": "mesh", "type": "file", "params": { "file": file } }));
    nodes.insert(
        1,
        json!({ "name": "rock", "type": "static_object", "inputs": ["mesh"], "params": { "division_size": 0.04 } }),
    );
    graph
}

/// Cooks the tank, then the same with the mesh as filling and as collider: both are refused, and name who needs it.
fn refused_wherever_it_is_wired(shot: &Shot, file: &str, words: &[&str]) {
    for (graph, node) in [(filled(file), "node `water`"), (with_collider(file), "node `rock`")] {
        shot.graph(graph.to_string().as_bytes());
        let sentence = shot.refused(&[]);
        says(&sentence, &[node]);
        says(&sentence, words);
    }
}

#[test]
fn the_cube_itself_is_taken() {
    let shot = Shot::new(&filled("cube.obj"));
    shot.file("cube.obj", obj(&corners(0.0), &FACES).as_bytes());
    shot.cook(&["--frames", "1-1"]);
    shot.graph(with_collider("cube.ply").to_string().as_bytes());
    shot.file("cube.ply", &ply(&corners(0.0), &FACES));
    shot.cook(&["--frames", "1-1"]);
}

#[test]
fn meshes_that_enclose_no_volume_are_refused() {
    let shot = Shot::new(&tank());
    shot.cook(&[]);
    let cube = corners(0.0);
    shot.file("open.obj", obj(&cube, &FACES[..11]).as_bytes());
    refused_wherever_it_is_wired(&shot, "open.obj", &["not watertight"]);
    let inverted = FACES.map(|[a, b, c]| [a, c, b]);
    shot.file("inverted.obj", obj(&cube, &inverted).as_bytes());
    refused_wherever_it_is_wired(&shot, "inverted.obj", &["inside out"]);
    let mut twisted = FACES;
    twisted[5].swap(1, 2);
    shot.file("twisted.obj", obj(&cube, &twisted).as_bytes());
    refused_wherever_it_is_wired(&shot, "twisted.obj", &["not wound alike"]);
    let both: Vec<[f32; 3]> = corners(0.0)
        .into_iter()
        .chain(corners(0.05).iter().map(|p| [p[0], p[1] + 0.03, p[2] + 0.02]))
        .collect();
    let faces: Vec<[usize; 3]> = FACES.iter().copied().chain(FACES.map(|t| t.map(|v| v + 8))).collect();
    shot.file("crossing.obj", obj(&both, &faces).as_bytes());
    refused_wherever_it_is_wired(&shot, "crossing.obj", &["intersects itself"]);
    shot.file("flat.obj", b"v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\nf 1 3 2\n");
    refused_wherever_it_is_wired(&shot, "flat.obj", &["encloses no volume"]);
}

#[test]
fn files_that_are_no_meshes_are_refused() {
    let shot = Shot::new(&tank());
    shot.cook(&[]);
    let text = obj(&corners(0.0), &FACES);
    let bytes = ply(&corners(0.0), &FACES);
    for (name, content, words) in [
        ("nan.obj", text.replacen("0.1", "nan", 1).into_bytes(), vec!["line 2", "nan"]),
        ("huge.obj", text.replacen("0.1", "1e39", 1).into_bytes(), vec!["line 2", "1e39"]),
        ("cut.obj", text.as_bytes()[..text.len() / 3].to_vec(), vec![]),
        ("empty.obj", b"# nothing\n".to_vec(), vec!["no vertices"]),
        ("words.obj", b"f one two three\n".to_vec(), vec!["line 1"]),
        ("names.obj", b"v 0 0 0\nf 1 2 3\n".to_vec(), vec!["line 2"]),
        ("cut.ply", bytes[..bytes.len() - 5].to_vec(), vec!["face 12"]),
        ("head.ply", bytes[..40].to_vec(), vec!["header"]),
        ("empty.ply", Vec::new(), vec!["header"]),
        ("mesh.fbx", b"Kaydara".to_vec(), vec!["expected an .obj or .ply file"]),
    ] {
        shot.file(name, &content);
        shot.graph(with_collider(name).to_string().as_bytes());
        let sentence = shot.refused(&[]);
        says(&sentence, &words);
        if name != "cut.obj" {
            says(&sentence, &["node `mesh`", "parameter `file`", name]);
        }
    }
    shot.graph(filled("nowhere.obj").to_string().as_bytes());
    says(&shot.refused(&[]), &["node `fill`", "nowhere.obj", "No such file"]);
    shot.graph(filled("ball.$F4.obj").to_string().as_bytes());
    says(&shot.refused(&[]), &["node `fill`", "ball.0001.obj", "No such file"]);
}
