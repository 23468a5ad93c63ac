//! Whitewater: it changes nothing of its liquid, keeps its bytes over threads, dropped caches and a stop, and says what it lacks.

use crate::breaking::tank;
use meniscus_tests::points::{numbers, positions, whole_numbers};
use meniscus_tests::shot::Shot;
use meniscus_tests::{assert_same_files, files};
use serde_json::{Value, json};

/// The breaking column; `extra` are further parameters of the whitewater's solver.
fn breaking(last: i32, whitewater: bool, extra: Value) -> Value {
    let more = json!([
        { "name": "foam", "type": "whitewater_object" },
        { "name": "a_foam", "type": "whitewater_solver", "inputs": ["foam", "gravity", "post", "water"], "params": extra },
        { "name": "white", "type": "geometry_cache", "inputs": ["a_foam"] },
        { "name": "look", "type": "preview", "inputs": ["a_flip", "a_foam"], "params": { "resolution": [48, 32] } },
    ]);
    tank(last, if whitewater { more.as_array().expect("an array") } else { &[] })
}

#[test]
fn it_has_the_same_bytes_however_it_is_cooked_and_leaves_the_liquid_alone() {
    let whole = Shot::new(&breaking(16, true, json!({})));
    whole.cook(&["--threads", "1"]);
    let (fresh, resumed) =
        (Shot::new(&breaking(16, true, json!({}))), Shot::new(&breaking(11, true, json!({}))));
    fresh.cook(&["--threads", "3", "--drop-caches"]);
    resumed.cook(&["--threads", "2"]);
    resumed.graph(breaking(16, true, json!({})).to_string().as_bytes());
    resumed.cook(&["--resume"]);
    for other in [&fresh, &resumed] {
        assert_same_files(&whole.path("out/white"), &other.path("out/white"), &[]);
        assert_same_files(&whole.path("out/look"), &other.path("out/look"), &["look_sheet.png"]);
    }
    let alone = Shot::new(&breaking(16, false, json!({})));
    alone.cook(&[]);
    assert_same_files(&alone.path("out/liquid"), &whole.path("out/liquid"), &[]);

    let stats = whole.stats();
    let foam = |n: usize, what: &str| stats[n]["objects"]["foam"][what].as_f64().unwrap_or(-1.0);
    let kinds = ["spray_particles", "foam_particles", "bubble_particles"];
    assert!(kinds.iter().all(|kind| foam(0, kind) == 0.0), "nothing is born before anything moves");
    let last = stats.len() - 1;
    assert!(kinds.iter().all(|kind| foam(last, kind) > 20.0), "{:?}", stats[last]["objects"]["foam"]);
    let file = whole.path("out/white/white_whitewater.0016.geo");
    let ids = whole_numbers(&file, "id");
    assert!(
        ids.is_sorted_by(|a, b| a < b)
            && ids.len() as f64 == kinds.iter().map(|kind| foam(last, kind)).sum::<f64>()
    );
    let (ages, lives, sizes) = (numbers(&file, "age"), numbers(&file, "life"), numbers(&file, "pscale"));
    assert!(ages.iter().zip(&lives).all(|(age, life)| *age >= 0.0 && age < life));
    let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
    assert!((mean / (0.1 / 12.0) - 1.0).abs() < 0.05, "{mean}");
    // One that has just been born may lie a quarter of a voxel in a wall; its first way takes it out.
    let moved = positions(&file).into_iter().zip(&ages).filter(|(_, age)| **age > 0.0);
    for ([x, y, z], _) in moved {
        assert!(x.abs() < 1.0 && y > 0.0 && z.abs() < 0.3, "{x} {y} {z} is in a wall");
        assert!(!((0.32..0.48).contains(&x) && y < 0.78 && z.abs() < 0.08), "{x} {y} {z} is in the post");
    }
}

#[test]
fn no_more_are_made_than_was_allowed_and_that_is_told() {
    let shot = Shot::new(&breaking(14, true, json!({ "max_particles": 100 })));
    let output = shot.command(&[]).output().expect("meniscus starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches("max_particles").count(), 1, "{said}");
    let count = positions(&shot.path("out/white/white_whitewater.0014.geo")).len();
    assert!((50..=100).contains(&count), "{count}");
}

#[test]
fn a_solver_without_a_liquid_is_refused_before_anything_is_cooked() {
    let mut graph = breaking(3, true, json!({}));
    graph["nodes"][8]["inputs"] = json!(["foam", "gravity"]);
    let shot = Shot::new(&graph);
    let said = shot.refused(&[]);
    assert!(said.contains("a_foam") && said.contains("wire in the liquid object"), "{said}");
    assert!(
        !shot.out().exists()
            || files(&shot.out(), &[]).iter().all(|(name, _)| !name.ends_with("white_whitewater.0001.geo"))
    );
}
