//! The liquid mesher: the same bytes however it is cooked, and a liquid that is as it would be without it. The
//! volume of the mesh as it is written is that of the particles.

use crate::breaking::tank;
use meniscus_tests::shot::Shot;
use meniscus_tests::{assert_same_files, files, points};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The breaking column, with or without its mesh.
fn breaking(last: i32, meshed: bool) -> Value {
    let more = json!([
        { "name": "skin", "type": "mesh_object" },
        { "name": "a_mesher", "type": "liquid_mesher", "inputs": ["skin", "water", "post"] },
        { "name": "mesh", "type": "geometry_cache", "inputs": ["a_mesher"], "params": { "geometry": ["render_mesh"] } },
        { "name": "usd", "type": "usd_shot", "inputs": ["a_mesher"] },
        { "name": "ply", "type": "mesh_cache", "inputs": ["a_mesher"] },
    ]);
    tank(last, if meshed { more.as_array().expect("an array") } else { &[] })
}

#[test]
fn it_has_the_same_bytes_however_it_is_cooked_and_leaves_the_liquid_alone() {
    let whole = Shot::new(&breaking(12, true));
    whole.cook(&["--threads", "1"]);
    let (fresh, resumed) = (Shot::new(&breaking(12, true)), Shot::new(&breaking(7, true)));
    fresh.cook(&["--threads", "3", "--drop-caches"]);
    resumed.cook(&["--threads", "2"]);
    resumed.graph(breaking(12, true).to_string().as_bytes());
    resumed.cook(&["--resume"]);
    for other in [&fresh, &resumed] {
        assert_same_files(&whole.path("out/mesh"), &other.path("out/mesh"), &[]);
    }
    let alone = Shot::new(&breaking(12, false));
    alone.cook(&[]);
    assert_same_files(&alone.path("out/liquid"), &whole.path("out/liquid"), &[]);
    assert_eq!(files(&whole.path("out/mesh"), &[]).len(), 12);
    // It takes the place of the level set wherever surfaces are written.
    let shot = std::fs::read_to_string(whole.path("out/usd/usd.usda")).expect("a shot");
    assert!(shot.contains("def Mesh \"render_mesh\"") && !shot.contains("\"surface\""), "{shot}");
    let written = files(&whole.path("out/ply"), &[]);
    assert!(
        written.len() == 12 && written.iter().all(|(name, _)| name.to_string_lossy().starts_with("ply."))
    );

    let meshed: Vec<Value> = whole.stats();
    let last = meshed.last().expect("a record");
    let volume = last["objects"]["water"]["volume"].as_f64().expect("a volume");
    let of = |what: &str| last["objects"]["skin"][what].as_f64().expect("a figure");
    assert!(of("mesh_lacked_volume").abs() < 0.02 * volume, "before it is moved: {last}");
    assert!(of("mesh_lacks_volume").abs() < 1e-4 * volume, "{last}");

    let mesh = files(&whole.path("out/mesh"), &[]).pop().expect("a file").0;
    // Water of 1000 kg/m³.
    let particles = last["objects"]["water"]["mass"].as_f64().expect("a mass") / 1000.0;
    let open = open_volume(&whole.path("out/mesh").join(mesh));
    assert!((open / particles - 1.0).abs() < 0.01, "{open} of {particles}");
}

/// Distance of the lines that measure a volume, m.
const LINES: f64 = 0.01;

/// What a mesh encloses in the tank and not in its post, m³, along vertical lines.
fn open_volume(mesh: &Path) -> f64 {
    let points = points::positions(mesh);
    let mut crossings = BTreeMap::<[i32; 2], Vec<(f64, i32)>>::new();
    for triangle in points::triangles(mesh) {
        let [a, b, c] = triangle.map(|n| points[n]);
        let cross =
            |p: [f64; 3], q: [f64; 3], [x, z]: [f64; 2]| (p[0] - x) * (q[2] - z) - (p[2] - z) * (q[0] - x);
        let area = cross(b, c, [a[0], a[2]]);
        let lines = |axis: usize| {
            let ends = [a, b, c].map(|p| p[axis] / LINES - 0.5);
            let (low, high) = (
                ends.iter().copied().fold(f64::MAX, f64::min),
                ends.iter().copied().fold(f64::MIN, f64::max),
            );
            low.ceil() as i32..=high.floor() as i32
        };
        for i in lines(0) {
            for k in lines(2) {
                let at = [i, k].map(|n| (f64::from(n) + 0.5) * LINES);
                let shares = [cross(b, c, at), cross(c, a, at), cross(a, b, at)].map(|part| part / area);
                if shares.iter().all(|share| *share >= 0.0) {
                    let height = shares[0] * a[1] + shares[1] * b[1] + shares[2] * c[1];
                    crossings.entry([i, k]).or_default().push((height, if area > 0.0 { 1 } else { -1 }));
                }
            }
        }
    }
    let of_line = |([i, k], mut crossed): ([i32; 2], Vec<(f64, i32)>)| {
        let [x, z] = [i, k].map(|n| (f64::from(n) + 0.5) * LINES);
        crossed.sort_by(|a, b| a.0.total_cmp(&b.0));
        // A line through an edge crosses both of its triangles.
        crossed.dedup_by(|a, b| a.1 == b.1 && (a.0 - b.0).abs() < 1e-9);
        let floor = if (0.3..0.5).contains(&x) && z.abs() < 0.1 { 0.8 } else { 0.0 };
        let (mut inside, mut length) = (0, 0.0);
        for ends in crossed.windows(2) {
            inside += ends[0].1;
            if inside != 0 {
                length += (ends[1].0.min(2.0) - ends[0].0.max(floor)).max(0.0);
            }
        }
        if x.abs() < 1.0 && z.abs() < 0.3 { length * LINES * LINES } else { 0.0 }
    };
    crossings.into_iter().map(of_line).sum()
}
