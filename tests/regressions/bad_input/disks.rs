//! Folders that cannot be written, and disks that end.

use super::{says, tank};
use meniscus_tests::shot::{Shot, one_sentence};
use std::os::unix::process::CommandExt;
use std::path::Path;

/// Bytes a file may have: more than `cook.json` has, less than what a frame writes.
const LARGEST: u64 = 12 << 10;

#[test]
fn a_folder_that_cannot_be_made_is_refused() {
    let shot = Shot::new(&tank());
    shot.file("out", b"in the way");
    let sentence = one_sentence(&shot.command(&[]).output().expect("meniscus starts"));
    says(&sentence, &["cannot make the folder", "out", "--out"]);
    assert_eq!(std::fs::read(shot.out()).expect("it is still there"), b"in the way");
}

#[test]
fn an_output_that_cannot_be_written_names_its_node() {
    let shot = Shot::new(&tank());
    shot.file("out/points", b"in the way");
    says(&shot.refused(&[]), &["node `points`", "cannot make the folder"]);
}

/// A limit on the size of files (as when a disk is full, every write beyond it fails).
#[test]
fn a_write_that_fails_loses_nothing() {
    let shot = Shot::new(&tank());
    shot.cook(&["--frames", "1-2"]);
    let before = shot.written();
    let mut cook = shot.command(&["--resume"]);
    // SAFETY: setrlimit and signal may be called between fork and exec.
    unsafe {
        cook.pre_exec(|| {
            let limit = libc::rlimit { rlim_cur: LARGEST, rlim_max: LARGEST };
            libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit);
            // As a shell leaves it: the program itself must survive the signal.
            libc::signal(libc::SIGXFSZ, libc::SIG_DFL);
            Ok(())
        });
    }
    let sentence = one_sentence(&cook.output().expect("meniscus starts"));
    says(&sentence, &["node `", ".0003.", "takes no file of this size", "--out"]);
    let after = shot.written();
    // A checkpoint counts on its frame's files.
    assert!(!after.iter().any(|(name, _)| name.ends_with("checkpoint.0003.mns")));
    let goes_on = |name: &Path| name.starts_with("stats.jsonl") || name.starts_with("cook.json");
    for (name, bytes) in before.iter().filter(|(name, _)| !goes_on(name)) {
        assert!(after.contains(&(name.clone(), bytes.clone())), "{} was lost", name.display());
    }
    // It lists what it wrote before and what it was about to write.
    let record = std::fs::read_to_string(shot.out().join("cook.json")).expect("it is there");
    let record: serde_json::Value = serde_json::from_str(&record).expect("it is whole");
    assert_eq!(record["written"][0]["frames"], serde_json::json!([1, 3]));
    let whole = Shot::new(&tank());
    whole.cook(&[]);
    shot.cook(&["--resume"]);
    meniscus_tests::assert_same_files(&whole.out(), &shot.out(), &["stats.jsonl", "cook.json"]);
}
