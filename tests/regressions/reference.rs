//! The node reference is whole: every node, parameter and port has a help, a unit where it has one, and what moves or writes
//! has a picture.

use meniscus_tests::{meniscus, root};
use serde_json::Value as Json;

/// Parameters that are ratios, counts or directions, and so have no unit: node and name, `*` for any node.
const RATIOS: [[&str; 2]; 12] = [
    ["liquid_mesher", "voxel_scale"],
    ["liquid_mesher", "smoothing"],
    ["transform", "scale"],
    ["transform", "uniform_scale"],
    ["liquid_object", "grid_scale"],
    ["liquid_object", "jitter"],
    ["rigid_joint", "axis"],
    ["rigid_object", "friction"],
    ["rigid_object", "restitution"],
    ["flip_solver", "flip_ratio"],
    ["constraint_bubbles", "heat_ratio"],
    ["*", "tolerance"],
];
/// Grids of shares, from 0 to 1, and of numbers of something.
const SHARES: [&str; 9] =
    ["open", "region", "inlet", "spray", "owner", "open_volume", "room", "others", "shut"];

fn said(args: &[&str]) -> String {
    let output = meniscus(args).current_dir(root()).output().expect("meniscus starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn nodes() -> Vec<Json> {
    serde_json::from_str(&said(&["nodes", "--json"])).expect("it is JSON")
}

fn text<'a>(of: &'a Json, key: &str) -> &'a str {
    of[key].as_str().unwrap_or_default()
}

fn short(node: &Json) -> &str {
    text(node, "id").trim_start_matches("meniscus.")
}

/// What is missing in the description of a node.
fn gaps(node: &Json) -> Vec<String> {
    let name = short(node);
    let list = |key: &str| node[key].as_array().cloned().unwrap_or_default();
    let mut gaps = Vec::new();
    let mut missing = |is: bool, what: String| gaps.extend(is.then_some(what));
    missing(text(node, "help").is_empty(), format!("{name} has no help"));
    for param in list("params") {
        let own = text(&param, "name");
        missing(text(&param, "help").is_empty(), format!("{name}.{own} has no help"));
        let is_ratio = RATIOS.iter().any(|[node, ratio]| (*node == name || *node == "*") && *ratio == own);
        let needs = text(&param, "kind") == "number";
        missing(needs && text(&param, "unit").is_empty() != is_ratio, format!("{name}.{own}: its unit"));
    }
    for port in list("ports") {
        let own = text(&port, "name");
        missing(text(&port, "help").is_empty(), format!("port {own} of {name} has no help"));
        let is_share = SHARES.contains(&own);
        let needs = text(&port, "carries") == "grid";
        missing(
            needs && text(&port, "unit").is_empty() != is_share,
            format!("port {own} of {name}: its unit"),
        );
    }
    gaps
}

#[test]
fn every_node_parameter_and_port_is_explained() {
    let nodes = nodes();
    assert!(nodes.len() > 15, "{} nodes", nodes.len());
    let all: Vec<String> = nodes.iter().flat_map(gaps).collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn a_gap_would_be_found() {
    let node = serde_json::json!({
        "id": "meniscus.x", "help": "",
        "params": [{ "name": "a", "help": "", "kind": "number", "unit": "m" },
                   { "name": "b", "help": "B.", "kind": "number", "unit": "" },
                   { "name": "tolerance", "help": "T.", "kind": "number", "unit": "m" }],
        "ports": [{ "name": "p", "help": "", "carries": "grid", "unit": "" }]
    });
    assert_eq!(
        gaps(&node),
        [
            "x has no help",
            "x.a has no help",
            "x.b: its unit",
            "x.tolerance: its unit",
            "port p of x has no help",
            "port p of x: its unit"
        ]
    );
}

#[test]
fn solvers_couplings_and_outputs_have_pictures() {
    for node in nodes().iter().filter(|n| ["solver", "coupling", "output"].contains(&text(n, "kind"))) {
        let path = root().join(format!("docs/book/nodes/{}.png", short(node)));
        let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert!(bytes.starts_with(b"\x89PNG"), "{}", path.display());
    }
}

/// `make reference` makes it anew.
#[test]
fn the_node_reference_is_what_the_nodes_say() {
    let page =
        std::fs::read_to_string(root().join("docs/book/node_reference.md")).expect("the page is there");
    let now = said(&["nodes", "--reference", "--pictures", "docs/book/nodes"]);
    assert!(page == now, "docs/book/node_reference.md is old: make reference");
}

/// Every link of the pages for users that leads to a file leads to one that is there.
#[test]
fn links_between_pages_lead_somewhere() {
    let mut pages = vec![root().join("README.md")];
    for folder in ["docs", "docs/book"] {
        let entries = std::fs::read_dir(root().join(folder)).expect("a folder");
        pages.extend(
            entries.map(|e| e.expect("an entry").path()).filter(|p| p.extension().is_some_and(|e| e == "md")),
        );
    }
    let mut count = 0;
    for page in pages {
        let text = std::fs::read_to_string(&page).expect("a page");
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap_or_default();
            if file.is_empty() || file.contains("://") || file.contains(char::is_whitespace) {
                continue;
            }
            count += 1;
            let there = page.parent().expect("a folder").join(file);
            assert!(there.exists(), "{}: {target}", page.display());
        }
    }
    assert!(count > 40, "{count} links were found");
}
