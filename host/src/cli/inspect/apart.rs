//! The report on a file that may do anything to its reader, made in a process of its own.

use super::Report;
use crate::process::apart;
use serde_json::{Value as Json, json};
use std::ffi::OsStr;
use std::path::Path;

/// Largest report, bytes.
const LONGEST: u64 = 1 << 24;

/// True in the reading process; it has already set its own limits.
pub(super) fn is_here(path: &Path) -> bool {
    apart::is_here() && {
        apart::limit_memory(std::fs::metadata(path).map_or(0, |m| m.len()));
        true
    }
}

/// What the reading process reports to its parent.
pub(super) fn answer(report: Result<Report, String>) -> String {
    match report {
        Ok(r) => json!({ "lines": r.lines, "warnings": r.warnings }),
        Err(e) => json!({ "error": e }),
    }
    .to_string()
}

/// The report on a file; the error is one sentence.
pub(super) fn look(path: &Path) -> Result<Report, String> {
    let bytes = std::fs::metadata(path).map_or(0, |m| m.len());
    let args = [OsStr::new("inspect"), OsStr::new("--"), path.as_os_str()];
    let damaged = |why: &str| Err(format!("{} is not a complete VDB file: {why}", path.display()));
    match apart::ask(&args, path, None, bytes, LONGEST)? {
        apart::Answer::Endless => damaged("reading it does not come to an end"),
        apart::Answer::Said(said, well) => match report_of(&said) {
            Some(report) if well => report,
            _ => damaged("it is damaged, reading it fails or takes more memory than it can hold"),
        },
    }
}

fn report_of(said: &[u8]) -> Option<Result<Report, String>> {
    let json: Json = serde_json::from_slice(said).ok()?;
    if let Some(error) = json["error"].as_str() {
        return Some(Err(error.to_owned()));
    }
    let warnings = json["warnings"].as_array()?.iter().filter_map(|w| w.as_str().map(str::to_owned));
    Some(Ok(Report { lines: json["lines"].as_str()?.to_owned(), warnings: warnings.collect() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_goes_from_one_process_to_the_other() {
        let report = Report { lines: "a: b\n".into(), warnings: vec!["\"c\"".into()] };
        let found = report_of(answer(Ok(report)).as_bytes()).unwrap().unwrap();
        assert_eq!((found.lines.as_str(), &found.warnings[..]), ("a: b\n", &["\"c\"".to_owned()][..]));
        assert_eq!(report_of(answer(Err("no".into())).as_bytes()).unwrap().unwrap_err(), "no");
        assert!(report_of(b"Segm").is_none());
    }
}
