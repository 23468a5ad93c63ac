//! What `--device` promises: a GPU where there is one, and honest words where there is none.

use meniscus_tests::shot::one_sentence;
use meniscus_tests::{Cooked, cook, try_cook};
use serde_json::{Value, json};

fn pool() -> Value {
    json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, 2],
        "substeps": { "min": 1, "max": 1, "cfl": 2.0 },
        "nodes": [
            { "name": "fill", "type": "box", "params": { "size": [0.2, 0.1, 0.2], "center": [0.0, 0.05, 0.0] } },
            { "name": "water", "type": "liquid_object", "inputs": ["fill"], "params": { "particle_separation": 0.02 } },
            { "name": "gravity", "type": "gravity" },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "gravity"] }
        ]
    })
}

/// Where the solves of a cook ran.
fn device(cooked: &Cooked) -> String {
    cooked.stats()[0]["solves"][0]["device"].as_str().expect("a device").to_owned()
}

#[test]
fn auto_falls_back_to_the_processor_with_one_line_that_says_why() {
    let (auto, processor) = (cook(&pool(), &["--device", "auto"]), cook(&pool(), &["--device", "cpu"]));
    let lines = ["pressure is solved on the processor: ", "particles move on the processor: "];
    let [said, elsewhere] = [&auto, &processor].map(|c| lines.map(|line| c.stderr().matches(line).count()));
    assert_eq!((device(&processor).as_str(), elsewhere), ("cpu", [0, 0]));
    if device(&auto) == "cpu" {
        assert_eq!(said, [1, 1], "{}", auto.stderr());
        assert_eq!(auto.stats()[0]["solves"][0]["residual"], processor.stats()[0]["solves"][0]["residual"]);
    } else {
        assert_eq!((device(&auto).as_str(), said), ("cuda", [0, 0]), "{}", auto.stderr());
    }
}

#[test]
fn cuda_means_cuda_or_one_clear_error() {
    let cooked = try_cook(&pool(), &["--quiet", "--device", "cuda"]);
    if cooked.output.status.success() {
        assert_eq!(device(&cooked), "cuda");
    } else {
        let sentence = one_sentence(&cooked.output);
        assert!(sentence.contains("node `flip`") && sentence.contains("CUDA"), "{sentence}");
    }
}
