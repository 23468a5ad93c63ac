//! No bytes make a mesh reader panic, and what it accepts is consistent.
#![no_main]

use libfuzzer_sys::fuzz_target;
use meniscus_host::geometry::{MeshFormat, parse_mesh};

fuzz_target!(|bytes: &[u8]| {
    for format in [MeshFormat::Obj, MeshFormat::Ply] {
        if let Ok(mesh) = parse_mesh(bytes, format) {
            assert!(mesh.defect().is_none(), "{:?}", mesh.defect());
        }
    }
});
