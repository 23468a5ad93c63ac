//! Attributes painted on meshes reach the particles made inside them, and stay through reseeding, files and `--resume`.

use meniscus_tests::points::{numbers, positions, vectors, whole_numbers};
use meniscus_tests::{assert_same_files, shot::Shot};
use serde_json::{Value, json};
use std::path::PathBuf;

const FRAMES: u32 = 6;

/// A closed box as ASCII PLY whose vertices carry `columns` (type and name), filled by `of` from their positions.
fn painted(low: [f32; 3], high: [f32; 3], columns: &[&str], of: impl Fn([f32; 3]) -> String) -> Vec<u8> {
    let mut text = String::from("ply\nformat ascii 1.0\nelement vertex 8\n");
    for column in ["float x", "float y", "float z"].iter().chain(columns) {
        text += &format!("property {column}\n");
    }
    text += "element face 6\nproperty list uchar int vertex_indices\nend_header\n";
    for i in 0..8usize {
        let [x, y, z] = std::array::from_fn(|c| if i >> c & 1 == 1 { high[c] } else { low[c] });
        text += &format!("{x} {y} {z} {}\n", of([x, y, z]));
    }
    text += "4 0 4 6 2\n4 1 3 7 5\n4 0 1 5 4\n4 2 6 7 3\n4 0 2 3 1\n4 4 5 7 6\n";
    text.into_bytes()
}

/// A block that gets redder upwards and is in two parts, and a jet with a temperature and a density.
fn graph() -> Value {
    json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, FRAMES],
        "substeps": { "min": 1, "max": 4, "cfl": 2.0 },
        "nodes": [
            { "name": "block", "type": "file", "params": { "file": "block.ply" } },
            { "name": "lift", "type": "transform", "inputs": ["block"], "params": { "translate": [0, 0.1, 0] } },
            { "name": "water", "type": "liquid_object", "inputs": ["lift"], "params": { "particle_separation": 0.02 } },
            { "name": "mouth", "type": "file", "params": { "file": "mouth.ply" } },
            { "name": "tap", "type": "liquid_source", "inputs": ["mouth"], "params": { "velocity": [0, -1, 0], "start_frame": 3 } },
            { "name": "gravity", "type": "gravity" },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "gravity", "tap"],
              "params": { "limit_center": [0.0, 0.3, 0.0], "limit_size": [0.4, 0.6, 0.4],
                          "side_neg_x": "closed", "side_pos_x": "closed", "side_neg_y": "closed",
                          "side_neg_z": "closed", "side_pos_z": "closed" } },
            { "name": "points", "type": "geometry_cache", "inputs": ["flip"], "params": { "geometry": ["particles"] } },
            { "name": "cache", "type": "vdb_cache", "inputs": ["flip"] }
        ]
    })
}

fn shot() -> Shot {
    let shot = Shot::new(&graph());
    let red = |[x, y, _]: [f32; 3]| format!("{} 0 0 {}", (y * 255.0 / 0.2) as u8, i32::from(x > 0.0));
    let columns = ["uchar red", "uchar green", "uchar blue", "int part"];
    shot.file("block.ply", &painted([-0.2, 0.0, -0.2], [0.2, 0.2, 0.2], &columns, red));
    let warm = |_: [f32; 3]| "42.5 800".to_owned();
    let columns = ["double heat", "float density"];
    shot.file("mouth.ply", &painted([-0.06, 0.48, -0.06], [0.06, 0.54, 0.06], &columns, warm));
    shot
}

fn points(shot: &Shot, frame: u32) -> PathBuf {
    shot.out().join(format!("points/points.{frame:04}.geo"))
}

#[test]
fn particles_take_what_is_painted_on_the_nearest_triangle() {
    let shot = shot();
    shot.cook(&[]);
    let first = points(&shot, 1);
    let (red, part) = (vectors(&first, "Cd"), whole_numbers(&first, "part"));
    let mut looked_at = 0;
    for (([x, y, z], red), part) in positions(&first).into_iter().zip(red).zip(part) {
        // Nearest to a wall the colour is that of the height; a whole number is one of the corners'.
        if x.abs().max(z.abs()) > 0.17 && (0.14..0.26).contains(&y) {
            assert!((red[0] - (y - 0.1) / 0.2).abs() < 0.01, "{red:?} at {x} {y} {z}");
            looked_at += 1;
        }
        assert!((red[1], red[2]) == (0.0, 0.0) && [0, 1].contains(&part));
        assert!(x.abs() < 0.17 || z.abs() > 0.16 || part == i64::from(x > 0.0), "part {part} at x = {x}");
    }
    assert!(looked_at > 200, "{looked_at} particles are near the walls");

    let last = points(&shot, FRAMES);
    let (heat, density, red) = (numbers(&last, "heat"), numbers(&last, "density"), vectors(&last, "Cd"));
    let mut of_tap = 0;
    for ((heat, density), red) in heat.into_iter().zip(density).zip(red) {
        match density {
            800.0 => assert_eq!((heat, red), (42.5, [0.0; 3]), "of the tap"),
            _ => assert_eq!((heat, density), (0.0, 1000.0), "of the block"),
        }
        of_tap += usize::from(density == 800.0);
    }
    assert!(of_tap > 100, "{of_tap} particles came from the tap");
}

#[test]
fn painted_particles_resume_to_the_same_bytes() {
    let (whole, cut) = (shot(), shot());
    whole.cook(&["--threads", "2"]);
    cut.cook(&["--frames", "1-4", "--threads", "1"]);
    cut.cook(&["--resume"]);
    for folder in ["points", "cache"] {
        assert_same_files(&whole.out().join(folder), &cut.out().join(folder), &[]);
    }
}

#[test]
fn what_no_particle_can_take_is_refused() {
    let shot = shot();
    let columns = ["float density"];
    let heavy = |density: &str| painted([-0.2, 0.0, -0.2], [0.2, 0.2, 0.2], &columns, |_| density.to_owned());
    shot.file("block.ply", &heavy("-5"));
    let sentence = shot.refused(&[]);
    assert!(sentence.contains("node `water`") && sentence.contains("a density of -5"), "{sentence}");
}
