//! What `check`, `doctor` and `nodes` say to an artist.

use meniscus_tests::{meniscus, root};

/// The standard output of a command that succeeds.
fn said(args: &[&str]) -> String {
    let output = meniscus(args).output().expect("meniscus starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Fails unless some line begins with `start` and holds all of the words.
fn has_line(text: &str, start: &str, words: &[&str]) {
    let fits = |line: &str| line.trim_start().starts_with(start) && words.iter().all(|w| line.contains(w));
    assert!(text.lines().any(fits), "no line `{start} … {words:?}` in:\n{text}");
}

#[test]
fn check_shows_the_plan_before_anything_is_cooked() {
    let graph = root().join("examples/bubbles/water_cooler/water_cooler.meniscus.json");
    let graph = graph.to_string_lossy();
    let text = said(&["check", &graph]);
    has_line(&text, "shot:", &["frames 1-", "24 fps", "1 to 8 substeps", "CFL 2", "quality preview"]);
    has_line(&text, "bottle:", &["voxels of 1 cm"]);
    has_line(&text, "water:", &["particles", "voxels of 1 cm"]);
    has_line(&text, "a substep:", &["flip.predict(water) → air.solve → flip.correct(water)"]);
    has_line(&text, "time:", &["roughly", "substeps a frame of", "processors"]);
    has_line(&text, "memory:", &["about", "this machine has"]);
    has_line(&text, "disk:", &["a frame", "in all", "free here"]);
    has_line(&text, "the graph is sound", &[]);
    has_line(&text, "qualities on offer:", &["preview", "half", "final"]);

    let bypassed = said(&["check", &graph, "--set", "air.bypass=true", "--quality", "final"]);
    has_line(&bypassed, "a substep:", &["flip.predict(water) → flip.solve(water) → flip.correct(water)"]);
    has_line(&bypassed, "water:", &["million particles", "2.5 mm"]);
}

#[test]
fn doctor_says_whether_anything_can_be_cooked() {
    let text = said(&["doctor"]);
    has_line(&text, "Meniscus ", &[std::env::consts::ARCH]);
    has_line(&text, "machine:", &["processors", "memory"]);
    has_line(&text, "devices:", &["cpu", "cuda: "]);
    has_line(&text, "plugin ABI:", &["1."]);
    has_line(&text, "plugin meniscus", &["node types", "libmeniscus_plugin"]);
    has_line(&text, "ready to cook", &[]);
}

/// `meniscus nodes --ports > docs/ports.md` makes it anew.
#[test]
fn the_page_of_ports_is_what_the_nodes_say() {
    let page =
        std::fs::read_to_string(meniscus_tests::root().join("docs/ports.md")).expect("the page is there");
    assert_eq!(
        page,
        said(&["nodes", "--ports"]),
        "docs/ports.md is old: meniscus nodes --ports > docs/ports.md"
    );
}

#[test]
fn nodes_explains_every_type_in_full() {
    let list = said(&["nodes"]);
    for (name, words) in
        [("box", "closed box"), ("liquid_object", "liquid"), ("constraint_bubbles", "keeps its volume")]
    {
        has_line(&list, name, &[words]);
        let text = said(&["nodes", name]);
        has_line(&text, &format!("meniscus.{name}"), &["version"]);
        assert!(text.lines().all(|line| line == line.trim_end()), "lines end in blanks:\n{text}");
    }
    let text = said(&["nodes", "liquid_object"]);
    has_line(&text, "particle_separation = 0.05", &["[m;", "Houdini: particlesep"]);
    has_line(&text, "Inputs:", &["geometry"]);
    let ports = said(&["nodes", "flip_solver"]);
    has_line(
        &ports,
        "surface of the object",
        &[
            "grid (f32 at cell centres); level set; drawn like liquid; m; kept; caches write it unless told otherwise; needed",
            "solve changes it",
        ],
    );
    has_line(&ports, "vel_solid of the object", &["grid (3 x f32 at lower faces); m/s; of one substep"]);
    let json = said(&["nodes", "constraint_bubbles", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    let pressure = json["ports"].as_array().expect("ports").iter().find(|p| p["name"] == "pressure");
    let pressure = pressure.expect("a coupling has a pressure");
    let about =
        [("owner", "participant"), ("role", "liquid"), ("element", "f32"), ("sampling", "cell centres")];
    about.into_iter().for_each(|(key, value)| assert_eq!(pressure[key], value, "{pressure}"));
    assert_eq!(pressure["access"], serde_json::json!({ "solve": "changes", "contribute": "reads" }));

    let output = meniscus(&["nodes", "liquid_objekt"]).output().expect("meniscus starts");
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("did you mean `liquid_object`?"), "{error}");
}
