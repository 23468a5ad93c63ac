//! What every scene is asked: that its liquid keeps its volume.

use serde_json::Value;

/// Every liquid has the volume that it should have, within a hundredth, after every substep, and was found with it, within
/// two, before its surface was fitted to it.
pub fn liquid_keeps_its_volume(stats: &[Value]) {
    let mut measured = 0;
    for record in stats {
        let objects = record["objects"].as_object().expect("a record lists the objects");
        for (name, object) in objects {
            let (Some(volume), Some(rest)) = (object["volume"].as_f64(), object["rest_volume"].as_f64())
            else {
                continue;
            };
            let change = volume / rest - 1.0;
            assert!(change.abs() < 0.01, "{name}: volume {change:+.4} in frame {}", record["frame"]);
            let found =
                object["found_volume"].as_f64().expect("what has a volume was found with one") / rest - 1.0;
            assert!(found.abs() < 0.02, "{name}: found {found:+.4} in frame {}", record["frame"]);
            measured += 1;
        }
    }
    assert!(measured > 0, "no liquid");
}
