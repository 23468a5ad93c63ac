//! Byte-identical caches for any `--threads`.

use super::splash;
use meniscus_tests::{assert_same_files, cook};

#[test]
fn one_thread_and_two_write_the_same_bytes() {
    let graph = splash(4);
    let one = cook(&graph, &["--threads", "1"]);
    let two = cook(&graph, &["--threads", "2"]);
    assert_same_files(&one.out.join("cache"), &two.out.join("cache"), &[]);
    assert_same_files(&one.out.join("points"), &two.out.join("points"), &[]);
}
