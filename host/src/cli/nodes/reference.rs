//! A page of all nodes, their parameters and ports, for people (`docs/book/node_reference.md`).

use super::{inputs, ports, range};
use crate::node::{NodeType, ParamSpec};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

// Writing into a String cannot fail, so the results of writeln! below are dropped.

/// The page. Of a node that has one, it shows the picture `pictures/<node>.png`; the page is to lie beside that folder.
pub(super) fn page(types: &[Arc<NodeType>], pictures: Option<&Path>) -> String {
    let mut text = String::from(
        "# Node reference\n\nEvery node, parameter and port. `meniscus nodes --reference` prints this page; `meniscus nodes TYPE` shows a node in the terminal.\n\n\
         Units are SI: metres, kilograms, seconds. A parameter without a unit is a number, a switch, a name or a \
         ratio. *Fixed* parameters take no keyframes. Values beyond a range are refused, but for ranges that are only *usual*.\n",
    );
    let mut kind = None;
    for t in types {
        if kind != Some(t.kind) {
            kind = Some(t.kind);
            let _ = writeln!(text, "\n## Kind: {}\n", t.kind.name());
            for t in types.iter().filter(|other| other.kind == t.kind) {
                let name = t.short_name();
                let _ = writeln!(text, "- [{name}](#{}): {}", anchor(name), cell(first_sentence(&t.help)));
            }
        }
        node(&mut text, t, pictures);
    }
    text
}

fn node(text: &mut String, t: &NodeType, pictures: Option<&Path>) {
    let name = t.short_name();
    let _ = writeln!(text, "\n### {name}\n");
    if let Some(folder) = pictures.filter(|folder| folder.join(format!("{name}.png")).is_file()) {
        let folder = folder.file_name().unwrap_or_default().to_string_lossy();
        let _ = writeln!(text, "![{}]({folder}/{name}.png)\n", t.label);
    }
    let _ = writeln!(text, "{}\n", cell(&t.help));
    let mut facts = vec![format!("*{}*, version {}", t.label, t.version), format!("inputs: {}", inputs(t))];
    facts.extend((!t.plugin.is_empty()).then(|| format!("plugin `{}`", t.plugin)));
    facts.extend((!t.houdini_name.is_empty()).then(|| format!("in Houdini `{}`", t.houdini_name)));
    let papers: Vec<String> = t.cites.split_whitespace().map(|key| format!("[{key}]")).collect();
    facts.extend((!papers.is_empty()).then(|| format!("papers {}", papers.join(" "))));
    let _ = writeln!(text, "{}.", facts.join("; "));
    let mut folder = None;
    for p in &t.params {
        if folder != Some(&p.folder) {
            folder = Some(&p.folder);
            let title = if p.folder.is_empty() { "Parameters" } else { &p.folder };
            let _ = writeln!(
                text,
                "\n| {title} | default | unit | range | what it does |\n|---|---|---|---|---|"
            );
        }
        param(text, p);
    }
    let ports: Vec<String> =
        ports::rows(t).map(|row| format!("| {} |", row.map(|c| cell(&c)).join(" | "))).collect();
    if !ports.is_empty() {
        let _ = writeln!(
            text,
            "\n| port | of | data | stages | what it is |\n|---|---|---|---|---|\n{}",
            ports.join("\n")
        );
    }
}

fn param(text: &mut String, p: &ParamSpec) {
    let mut limits: Vec<String> = range(&p.range).into_iter().collect();
    if !p.menu.is_empty() {
        let tokens: Vec<String> = p.menu.iter().map(|m| format!("`{}`", m.0)).collect();
        limits.push(tokens.join(", "));
    }
    limits.extend((!p.animatable).then(|| "fixed".to_owned()));
    let houdini =
        if p.houdini_name.is_empty() { String::new() } else { format!(" Houdini: `{}`.", p.houdini_name) };
    let default = crate::graph::to_json_value(&p.default);
    let _ = writeln!(
        text,
        "| `{}` | `{}` | {} | {} | **{}.** {}{houdini} |",
        p.name,
        cell(&default.to_string()),
        p.unit,
        cell(&limits.join("; ")),
        cell(&p.label),
        cell(&p.help),
    );
}

/// Text that no table or page of Markdown takes for its own signs.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('\n', " ")
}

fn first_sentence(help: &str) -> &str {
    help.split_inclusive(". ").next().unwrap_or_default().trim()
}

/// As pages name their headings.
fn anchor(heading: &str) -> String {
    heading.replace('.', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_keep_their_columns() {
        assert_eq!(cell("a | b\n< c"), "a \\| b &lt; c");
        assert_eq!(first_sentence("One, 1.5 m. Two."), "One, 1.5 m.");
        assert_eq!(anchor("example.drag"), "exampledrag");
    }
}
