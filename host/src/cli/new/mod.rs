//! `meniscus new-shot` and `meniscus new-plugin`: write projects that cook and build as they are.

mod templates;

use super::args::{NewPluginArgs, NewShotArgs};
use super::cook::shown;
use super::{BAD_USAGE, FAILED, fail, say};
use crate::files::write_atomically;
use crate::text::one_line;
use std::io::ErrorKind;
use std::path::Path;
use templates::{C_PLUGIN, File, RUST_PLUGIN, SHOT};

/// Most letters of a name.
const LONGEST: usize = 40;

pub(super) fn shot(args: &NewShotArgs) -> u8 {
    let name = &args.name;
    project(name, SHOT, &format!("cd {name} && meniscus cook {name}.meniscus.json"))
}

pub(super) fn plugin(args: &NewPluginArgs) -> u8 {
    let name = &args.name;
    if args.c || !args.rust {
        return project(name, C_PLUGIN, &format!("cd {name} && make && make cook"));
    }
    let library = format!("target/release/lib{}_plugin.so", identifier(name));
    let next = format!(
        "cd {name} && cargo build --release && MENISCUS_PLUGIN_PATH={library} meniscus cook shot.meniscus.json"
    );
    project(name, RUST_PLUGIN, &next)
}

/// Writes the files of a project into a new folder of its name, and says what comes next.
fn project(name: &str, files: &[File], next: &str) -> u8 {
    if let Err(sentence) = check(name) {
        return fail(BAD_USAGE, &sentence);
    }
    let folder = Path::new(name);
    if let Err(e) = std::fs::create_dir(folder) {
        return match e.kind() {
            ErrorKind::AlreadyExists => {
                fail(BAD_USAGE, &format!("{name} is there already; choose another name, or remove it first"))
            }
            _ => fail(FAILED, &format!("cannot make the folder {name}: {e}")),
        };
    }
    if let Err(sentence) = write(name, folder, files) {
        // It was made above, so all that is in it is ours.
        let _ = std::fs::remove_dir_all(folder);
        return fail(FAILED, &sentence);
    }
    say(&format!("wrote {name}; read {name}/README.md\nnext: {next}\n"))
}

fn write(name: &str, folder: &Path, files: &[File]) -> Result<(), String> {
    for file in files {
        let path = folder.join(filled(file.path, name));
        let cannot = |e: std::io::Error| format!("cannot write {}: {e}", shown(&path));
        let above = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(above).map_err(cannot)?;
        let text = if file.filled { filled(file.text, name) } else { file.text.to_owned() };
        write_atomically(&path, text.as_bytes()).map_err(cannot)?;
    }
    Ok(())
}

/// A template with the project's name, and what follows from it, in place of the words in double braces.
fn filled(template: &str, name: &str) -> String {
    template
        .replace("{{name}}", name)
        .replace("{{identifier}}", &identifier(name))
        .replace("{{version}}", env!("CARGO_PKG_VERSION"))
        .replace("{{rust}}", env!("CARGO_PKG_RUST_VERSION"))
}

/// The name as an identifier of C and Rust, and as the first part of a node's id.
fn identifier(name: &str) -> String {
    name.replace('-', "_")
}

/// Names that become folders, files, node ids and crates.
fn check(name: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    let good = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(is_plain);
    if !good || name.len() > LONGEST {
        return Err(format!(
            "`{}` cannot be a name: take lower-case letters, digits, - and _, the first a letter, {LONGEST} at most",
            one_line(name, LONGEST)
        ));
    }
    // Its node ids would pass for ours.
    if name == "meniscus" {
        return Err("the name `meniscus` belongs to our own nodes; choose another".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for good in ["drain", "a", "my-dust_2"] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        let long = "a".repeat(LONGEST + 1);
        for bad in [
            "", "../x", "a/b", "a b", "2x", "-x", "_x", ".", "..", ".x", "a.b", "Ä", "a\n", "Up", "meniscus",
            &long,
        ] {
            assert!(check(bad).is_err_and(|e| e.lines().count() == 1), "{bad}");
        }
    }

    #[test]
    fn no_word_in_braces_is_left() {
        for file in [SHOT, C_PLUGIN, RUST_PLUGIN].into_iter().flatten().filter(|f| f.filled) {
            let text = filled(file.path, "my-dust") + &filled(file.text, "my-dust");
            assert!(!text.contains("{{"), "{}", file.path);
        }
    }
}
