//! The liquid mesher: the same bytes however it is cooked, and a liquid that is as it would be without it. The
//! volume of the mesh as it is written is that of the particles.

use crate::breaking::tank;
use meniscus_tests::shot::Shot;
use meniscus_tests::{assert_same_files, files, points};
use serde_json::{Value, json};
use std::path::Path;

/// The breaking column, with or without its mesh.
fn breaking(last: i32, meshed: bool) -> Value {
    let more = json!([
        { "name": "skin", "type": "mesh_object" },
        { "name": "a_mesher", "type": "liquid_mesher", "inputs": ["skin", "water", "post"] },
        { "name": "mesh", "type": "geometry_cache", "inputs": ["a_mesher"], "params": { "geometry": ["render_mesh"] } },
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

    let meshed: Vec<Value> = whole.stats();
    let last = meshed.last().expect("a record");
    let volume = last["objects"]["water"]["volume"].as_f64().expect("a volume");
    let of = |what: &str| last["objects"]["skin"][what].as_f64().expect("a figure");
    assert!(of("mesh_lacked_volume").abs() < 0.02 * volume, "before it is moved: {last}");
    assert!(of("mesh_lacks_volume").abs() < 1e-4 * volume, "{last}");

    let written = |of: &str| files(&whole.path(of), &[]).pop().expect("a file").0;
    let written = |of: &str| whole.path(of).join(written(of));
    let particles = points::positions(&written("out/liquid")).len() as f64 * 0.05_f64.powi(3);
    let open = open_volume(&written("out/mesh"));
    assert!((open / particles - 1.0).abs() < 0.02, "{open} of {particles}");
}

/// What a mesh encloses in the tank and not in its post, m³: points in solids are brought to where these end.
fn open_volume(mesh: &Path) -> f64 {
    let outside = |x: f64, low: f64, high: f64| [x - low, high - x];
    let in_tank = |[x, y, z]: [f64; 3]| [x.clamp(-1.0, 1.0), y.clamp(0.0, 2.0), z.clamp(-0.3, 0.3)];
    let beside_post = |[x, y, z]: [f64; 3]| {
        let [west, east] = outside(x, 0.3, 0.5);
        let [back, front] = outside(z, -0.1, 0.1);
        let least = [west, east, back, front, 0.8 - y].into_iter().fold(f64::MAX, f64::min);
        match least {
            d if d <= 0.0 => [x, y, z],
            d if d == west => [0.3, y, z],
            d if d == east => [0.5, y, z],
            d if d == back => [x, y, -0.1],
            d if d == front => [x, y, 0.1],
            _ => [x, 0.8, z],
        }
    };
    let points: Vec<_> = points::positions(mesh).into_iter().map(|x| beside_post(in_tank(x))).collect();
    let of_one = |t: &[usize; 3]| {
        let [a, b, c] = t.map(|n| points[n]);
        let cross = [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]];
        a.iter().zip(cross).map(|(a, n)| a * n).sum::<f64>() / 6.0
    };
    points::triangles(mesh).iter().map(of_one).sum::<f64>().abs()
}
