//! Objects of one call that begin at different frames: each is kicked from where its own velocities are.

use super::c_plugins::{Bench, graph};
use meniscus_host::engine::Holder;

const FALLS: &str = "tests/c_plugins/falls.c";
/// Gravity there, m/s²; a frame is one substep of 0.1 s.
const G: f64 = 10.0;
const DT: f64 = 0.1;

/// Velocity and place of two drops after five frames, the second of which begins at frame 3.
fn fallen(bench: &Bench, solver: &str) -> [(f64, f64); 2] {
    let nodes = format!(
        r#"{{ "name": "early", "type": "test.drop" }},
           {{ "name": "late", "type": "test.drop", "params": {{ "first": 3 }} }}, {solver}"#
    );
    bench.cook_into("a", &graph(5, &nodes), false).unwrap();
    let state = bench.state("a");
    std::fs::remove_dir_all(bench.out("a")).unwrap();
    [0, 1].map(|object| {
        let table = state.holders[&Holder::Object(object)].table("fall").unwrap();
        (table.number("v").unwrap(), table.number("x").unwrap())
    })
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

#[test]
fn objects_that_begin_at_different_frames_fall_alike_whoever_moves_them() {
    let bench = Bench::new(&[FALLS]);
    let both = r#""inputs": ["early", "late"] }"#;
    let coupled = format!(
        r#"{{ "name": "idle", "type": "test.idle", {both}, {{ "name": "hold", "type": "test.held", "inputs": ["idle"] }}"#
    );
    for solver in [
        format!(r#"{{ "name": "fall", "type": "test.by_one", {both}"#),
        format!(r#"{{ "name": "fall", "type": "test.by_all", {both}"#),
        coupled,
    ] {
        let [early, late] = fallen(&bench, &solver);
        // Velocities belong to the middle of the next substep.
        assert!(is_near(early.0, G * 4.5 * DT), "{solver}: {early:?}");
        assert!(is_near(late.0, G * 2.5 * DT), "{solver}: {late:?}");
        assert!(is_near(early.1, 0.5 * G * (4.0 * DT).powi(2)), "{solver}: {early:?}");
        // Only alone a new object gets its velocity half a substep ahead before it moves.
        let behind = if solver.contains("by_one") { 0.0 } else { 0.5 * G * DT * DT };
        assert!(is_near(late.1, 0.5 * G * (2.0 * DT).powi(2) - behind), "{solver}: {late:?}");
    }
}

#[test]
fn what_is_measured_of_an_item_stands_under_its_object() {
    let bench = Bench::new(&[FALLS]);
    let nodes = r#"{ "name": "early", "type": "test.drop" },
        { "name": "late", "type": "test.drop", "params": { "first": 3 } },
        { "name": "fall", "type": "test.by_all", "inputs": ["late", "early"] }"#;
    bench.cook_into("a", &graph(5, nodes), false).unwrap();
    let stats = bench.stats("a");
    // The first substep of the new drop makes up for the half step that it did not have.
    let kicks = |frame: usize, object: &str| stats[frame - 2]["objects"][object]["kick"].as_f64();
    for (frame, early, late) in
        [(2, Some(DT), None), (3, Some(DT), None), (4, Some(DT), Some(1.5 * DT)), (5, Some(DT), Some(DT))]
    {
        for (object, expected) in [("early", early), ("late", late)] {
            let found = kicks(frame, object);
            assert!(
                found.is_some() == expected.is_some()
                    && found.zip(expected).is_none_or(|(found, expected)| is_near(found, expected)),
                "frame {frame}, {object}: {found:?}"
            );
        }
        let longest = stats[frame - 2]["longest"].as_f64().unwrap();
        assert!(is_near(longest, late.unwrap_or(DT)), "frame {frame}: {longest}");
        assert!(stats[frame - 2].get("kick").is_none());
    }
}
