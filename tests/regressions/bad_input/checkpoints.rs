//! Checkpoints that `--resume` cannot go on from.

use super::{says, tank};
use meniscus_tests::shot::Shot;
use serde_json::json;

const LAST: &str = "out/checkpoints/checkpoint.0003.mns";

#[test]
fn damaged_checkpoints_are_refused() {
    let shot = Shot::new(&tank());
    shot.cook(&[]);
    let whole = std::fs::read(shot.path(LAST)).expect("a cook leaves a checkpoint");
    let cut = |n: usize| whole[..n].to_vec();
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    for (bytes, words) in [
        (cut(0), vec!["cut short"]),
        (cut(51), vec!["cut short"]),
        (cut(whole.len() / 2), vec!["cut short"]),
        (cut(whole.len() - 1), vec!["cut short"]),
        ([&whole[..], b"xy"].concat(), vec!["damaged"]),
        (flipped(0), vec!["no Meniscus checkpoint"]),
        (flipped(8), vec!["version"]),
        (flipped(30), vec!["damaged"]),
        (flipped(whole.len() / 2), vec!["damaged"]),
        (flipped(whole.len() - 1), vec!["damaged"]),
    ] {
        shot.file(LAST, &bytes);
        let sentence = shot.refused(&["--resume"]);
        says(&sentence, &["checkpoint.0003.mns"]);
        says(&sentence, &words);
        // What to do: the checkpoint before it is whole.
        says(&sentence, &["remove"]);
    }
    std::fs::remove_file(shot.path(LAST)).expect("the checkpoint can be removed");
    shot.cook(&["--resume"]);
    assert_eq!(std::fs::read(shot.path(LAST)).expect("it is made anew"), whole);
}

#[test]
fn a_checkpoint_of_another_graph_is_refused() {
    let shot = Shot::new(&tank());
    shot.cook(&[]);
    let mut other = tank();
    other["nodes"][1]["params"]["density"] = json!(900);
    shot.graph(other.to_string().as_bytes());
    says(&shot.refused(&["--resume"]), &["node `water`", "cook from the start"]);
    let mut renamed = tank();
    renamed["nodes"][2]["name"] = json!("pull");
    renamed["nodes"][3]["inputs"] = json!(["water", "pull"]);
    shot.graph(renamed.to_string().as_bytes());
    says(&shot.refused(&["--resume"]), &["cook from the start"]);
    let mut slower = tank();
    slower["fps"] = json!(25);
    shot.graph(slower.to_string().as_bytes());
    says(&shot.refused(&["--resume"]), &["timing"]);
}
