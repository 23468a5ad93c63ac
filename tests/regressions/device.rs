//! What `--device` promises: a GPU where there is one, and honest words where there is none.

use meniscus_tests::shot::Shot;
use serde_json::json;

fn pool() -> Shot {
    Shot::new(&json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, 2],
        "substeps": { "min": 1, "max": 1, "cfl": 2.0 },
        "nodes": [
            { "name": "fill", "type": "box", "params": { "size": [0.2, 0.1, 0.2], "center": [0.0, 0.05, 0.0] } },
            { "name": "water", "type": "liquid_object", "inputs": ["fill"], "params": { "particle_separation": 0.02 } },
            { "name": "gravity", "type": "gravity" },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "gravity"] }
        ]
    }))
}

/// Where the solves of a cook ran.
fn device(shot: &Shot) -> String {
    shot.stats()[0]["solves"][0]["device"].as_str().expect("a device").to_owned()
}

#[test]
fn auto_falls_back_to_the_processor_with_one_line_that_says_why() {
    let (auto, processor) = (pool(), pool());
    let output = auto.command(&["--device", "auto"]).output().expect("meniscus starts");
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines = said.lines().filter(|l| l.contains("pressure is solved on the processor: ")).count();
    processor.cook(&["--device", "cpu"]);
    assert_eq!(device(&processor), "cpu");
    if device(&auto) == "cpu" {
        assert_eq!(lines, 1, "{said}");
        assert_eq!(auto.stats()[0]["solves"][0]["residual"], processor.stats()[0]["solves"][0]["residual"]);
    } else {
        assert_eq!((device(&auto).as_str(), lines), ("cuda", 0), "{said}");
    }
}

#[test]
fn cuda_means_cuda_or_one_clear_error() {
    let shot = pool();
    let output = shot.command(&["--device", "cuda"]).output().expect("meniscus starts");
    if output.status.success() {
        assert_eq!(device(&shot), "cuda");
    } else {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let errors: Vec<&str> = said.lines().filter(|l| l.starts_with("error: ")).collect();
        assert_eq!(errors.len(), 1, "{said}");
        assert!(errors[0].contains("node `flip`") && errors[0].contains("CUDA"), "{said}");
    }
}
