//! What the scenes with trapped air are asked: where it is, and how high the water stands beside it.

use meniscus_tests::{Cooked, cook_example, surface::Surface};
use serde_json::Value;

/// Cooks the frames up to `last` of an example at `voxel` metres and writes those from `first` on.
pub fn cook(scene: &str, voxel: f64, [first, last]: [u32; 2], extra: &[&str]) -> Cooked {
    let graph = format!("bubbles/{scene}/{scene}.meniscus.json");
    let sets = [format!("voxel={voxel}"), format!("frames=[1, {last}]"), "preview.sheet=0".to_owned()];
    let frames = format!("{first}-{last}");
    let mut args = vec!["--quality", "preview", "--frames", &frames];
    args.extend(sets.iter().flat_map(|s| ["--set", s.as_str()]));
    args.extend(extra);
    cook_example(&graph, &args)
}

/// The surface in frame `frame` of such a cook.
pub fn surface(cooked: &Cooked, frame: u32) -> Surface {
    Surface::read(&cooked.out.join(format!("cache/cache.{frame:04}.vdb")))
}

/// A bubble of a line of `stats.jsonl`.
pub struct Bubble {
    /// m³
    pub volume: f64,
    /// m³, as the particles leave it, before the surface is fitted.
    pub found_volume: f64,
    /// m
    pub centroid: [f64; 3],
    pub constrained: bool,
}

/// The bubbles of a line of `stats.jsonl`, the largest first.
pub fn bubbles(record: &Value) -> Vec<Bubble> {
    let list = record["bubbles"].as_array().expect("the coupling lists its bubbles");
    let number = |v: &Value| v.as_f64().unwrap_or_else(|| panic!("no number in {record}"));
    let mut bubbles: Vec<Bubble> = list
        .iter()
        .map(|b| Bubble {
            volume: number(&b["volume"]),
            found_volume: number(&b["found_volume"]),
            centroid: std::array::from_fn(|axis| number(&b["centroid"][axis])),
            constrained: b["constrained"] == true,
        })
        .collect();
    bubbles.sort_by(|a, b| b.volume.total_cmp(&a.volume));
    bubbles
}
