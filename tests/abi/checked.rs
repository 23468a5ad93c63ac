//! With the feature `layout-check`, a Rust plugin describes its whole layout and a Rust host compares it.

use meniscus_abi::checked::check_layout;
use meniscus_tests::c;

#[test]
fn our_layout_is_described_and_a_c_plugin_describes_none() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert_eq!(check_layout(&c::plugin("examples/c_plugin/drag.c", &[], folder.path())), Ok(false));
    let ours = c::our_plugin_with(&["--features", "layout-check"], folder.path());
    assert_eq!(check_layout(&ours), Ok(true));
    let garbage = folder.path().join("libgarbage.so");
    std::fs::write(&garbage, b"not a library").expect("the file is written");
    assert!(check_layout(&garbage).is_err());
}
