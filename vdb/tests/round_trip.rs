//! What is written is what is read: values, masks, tiles, metadata, bytes; and what happens to bad files.

use openvdb_sys::{Class, Data, Element, GridOut, Meta, Tile, Values};
use std::path::Path;

const H: f64 = 0.01;

fn transform(h: f64) -> [f64; 16] {
    [h, 0., 0., 0., 0., h, 0., 0., 0., 0., h, 0., 0.5 * h, 0.5 * h, 0.5 * h, 1.]
}

/// Leaves that the surface of a sphere passes through, and their signed distances, metres.
fn sphere(radius_voxels: f64) -> (Vec<[i32; 3]>, Vec<f32>) {
    let (mut origins, mut values) = (Vec::new(), Vec::new());
    let reach = (radius_voxels as i32 / 8 + 2) * 8;
    for x in (-reach..reach).step_by(8) {
        for y in (-reach..reach).step_by(8) {
            for z in (-reach..reach).step_by(8) {
                let leaf: Vec<f32> = (0..512)
                    .map(|n| {
                        let p = [x + (n >> 6), y + (n >> 3 & 7), z + (n & 7)].map(f64::from);
                        let r = p.iter().map(|c| c * c).sum::<f64>().sqrt();
                        ((r - radius_voxels) * H) as f32
                    })
                    .collect();
                if leaf.iter().any(|v| f64::from(v.abs()) < 3.0 * H) {
                    origins.push([x, y, z]);
                    values.extend(leaf);
                }
            }
        }
    }
    (origins, values)
}

fn level_set<'a>(origins: &'a [[i32; 3]], values: &'a [f32]) -> GridOut<'a> {
    GridOut {
        name: "surface",
        class: Class::LevelSet,
        transform: transform(H),
        background: [3.0 * H, 0.0, 0.0],
        origins,
        masks: None,
        values: Values::Float(values),
        tiles: &[],
        half: false,
        flood: true,
        vector_type: None,
        metadata: &[],
    }
}

fn save(path: &Path, grids: &[GridOut]) {
    let metadata = [("creator", Meta::Text("test".into())), ("fps", Meta::Float(24.0))];
    std::fs::write(path, openvdb_sys::to_bytes(grids, &metadata).unwrap()).unwrap();
}

#[test]
fn a_level_set_comes_back_with_its_inside_filled() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sphere.0001.vdb");
    let (origins, values) = sphere(40.0);
    save(&path, &[level_set(&origins, &values)]);

    let file = openvdb_sys::open(&path).unwrap();
    let info = file.info(file.find("surface").unwrap()).unwrap();
    assert_eq!((info.class, info.element, info.half), (Class::LevelSet, Element::Float, false));
    assert!((info.background[0] - 3.0 * H).abs() < 1e-8);
    assert!(info.voxel_size().iter().all(|h| (h - H).abs() < 1e-12));
    assert!(info.transform.iter().zip(transform(H)).all(|(a, b)| (a - b).abs() < 1e-15));
    assert!(file.metadata().iter().any(|e| e.key == "fps" && e.value == "24"));

    let leaves = file.leaves(0).unwrap();
    let Data::Float(read) = &leaves.data else { panic!("not floats") };
    for (l, o) in origins.iter().enumerate() {
        let at = leaves.slot(*o).unwrap();
        for n in 0..512 {
            let wanted = values[l * 512 + n].clamp(-0.03, 0.03);
            assert_eq!(read[at + n], wanted);
        }
    }
    assert!(leaves.tile([0, 0, 0]).is_some_and(|t| t.value[0] < 0.0), "deep inside must read negative");
    assert!(leaves.tile([1000, 0, 0]).is_none_or(|t| t.value[0] > 0.0));

    let check = file.stats(0).unwrap();
    let surface = check.level_set.unwrap();
    assert_eq!((check.non_finite, surface.wrong_sign, surface.beyond_band), (0, 0, 0));
    assert!(surface.gradient_min > 0.99 && surface.gradient_max < 1.01, "{surface:?}");
}

#[test]
fn a_level_set_without_filled_inside_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hollow.vdb");
    let (origins, values) = sphere(40.0);
    save(&path, &[GridOut { flood: false, ..level_set(&origins, &values) }]);
    let check = openvdb_sys::open(&path).unwrap().stats(0).unwrap();
    assert!(check.level_set.unwrap().wrong_sign > 0);
}

#[test]
fn several_grids_share_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.vdb");
    let (origins, values) = sphere(10.0);
    let n = values.len();
    let components: Vec<Vec<f32>> = (0..3).map(|c| (0..n).map(|i| (i + c) as f32).collect()).collect();
    let regions: Vec<i32> = (0..n as i32).collect();
    let masks: Vec<[u64; 8]> =
        (0..origins.len() as u64).map(|l| std::array::from_fn(|w| l << 8 | w as u64)).collect();
    let tiles = [Tile { origin: [128, 0, -128], width: 128, active: true, value: [1.0, 2.0, 3.0] }];
    let base = level_set(&origins, &values);
    let vel = GridOut {
        name: "vel",
        class: Class::Staggered,
        background: [0.0; 3],
        masks: Some(&masks),
        values: Values::Vector([&components[0], &components[1], &components[2]]),
        tiles: &tiles,
        flood: false,
        vector_type: Some("contravariant relative"),
        ..base.clone()
    };
    let region = GridOut {
        name: "region",
        class: Class::Unknown,
        background: [-1.0, 0.0, 0.0],
        values: Values::Int(&regions),
        flood: false,
        metadata: &[("is_index", Meta::Bool(true)), ("bubbles", Meta::Int(3))],
        ..base.clone()
    };
    save(&path, &[base, vel, region]);

    let file = openvdb_sys::open(&path).unwrap();
    let names: Vec<String> = file.grids().unwrap().into_iter().map(|g| g.name).collect();
    assert_eq!(names, ["region", "surface", "vel"], "by name");
    let info = file.info(2).unwrap();
    assert_eq!((info.class, info.meta("vector_type")), (Class::Staggered, Some("contravariant relative")));
    let leaves = file.leaves(2).unwrap();
    assert_eq!(leaves.tiles, tiles);
    let Data::Vector(read) = &leaves.data else { panic!("not vectors") };
    for (l, o) in origins.iter().enumerate() {
        let at = leaves.slot(*o).unwrap();
        assert_eq!(leaves.masks[at / 512], masks[l]);
        for k in (0..512).filter(|k| masks[l][k >> 6] >> (k & 63) & 1 == 1) {
            assert_eq!(read[at + k], std::array::from_fn(|c| components[c][l * 512 + k]));
        }
    }
    let leaves = file.leaves(0).unwrap();
    let Data::Int(read) = &leaves.data else { panic!("not integers") };
    for (l, o) in origins.iter().enumerate() {
        let at = leaves.slot(*o).unwrap();
        assert!(read[at..at + 512] == regions[l * 512..l * 512 + 512]);
    }
    let info = file.info(0).unwrap();
    assert_eq!((info.meta("is_index"), info.meta("bubbles")), (Some("true"), Some("3")));
}

#[test]
fn half_floats_keep_three_digits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("half.vdb");
    let (origins, values) = sphere(10.0);
    let interleaved: Vec<f32> = values.iter().flat_map(|v| [*v, 2.0 * *v, 3.0]).collect();
    let grid = GridOut {
        name: "vel",
        class: Class::Unknown,
        values: Values::Interleaved(&interleaved),
        half: true,
        flood: false,
        ..level_set(&origins, &values)
    };
    save(&path, &[grid]);
    let file = openvdb_sys::open(&path).unwrap();
    assert!(file.info(0).unwrap().half);
    let leaves = file.leaves(0).unwrap();
    let Data::Vector(read) = &leaves.data else { panic!("not vectors") };
    for (l, o) in origins.iter().enumerate() {
        let at = leaves.slot(*o).unwrap();
        for (a, b) in read[at..at + 512].iter().flatten().zip(&interleaved[l * 1536..]) {
            assert!((a - b).abs() <= 1e-3 * b.abs() + 1e-6, "{a} {b}");
        }
    }
}

#[test]
fn equal_grids_give_equal_bytes() {
    let (origins, values) = sphere(30.0);
    let grids = [level_set(&origins, &values)];
    let first = openvdb_sys::to_bytes(&grids, &[]).unwrap();
    assert_eq!(first, openvdb_sys::to_bytes(&grids, &[]).unwrap());
    let mut other = values.clone();
    let near = values.iter().position(|v| v.abs() < 0.01).unwrap();
    other[near] *= 0.5;
    let second = openvdb_sys::to_bytes(&[level_set(&origins, &other)], &[]).unwrap();
    assert_ne!(first[21..57], second[21..57], "another content, another identifier");
}

#[test]
fn a_nan_is_written_and_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nan.vdb");
    let (origins, mut values) = sphere(10.0);
    values[100] = f32::NAN;
    save(&path, &[level_set(&origins, &values)]);
    assert_eq!(openvdb_sys::open(&path).unwrap().stats(0).unwrap().non_finite, 1);
}

#[test]
fn an_outline_is_read_without_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("meta.vdb");
    let (origins, values) = sphere(20.0);
    save(&path, &[level_set(&origins, &values)]);
    let outline = openvdb_sys::outline(&path).unwrap();
    assert!(outline.ours);
    assert_eq!(outline.grids, ["surface"]);
    assert_eq!(outline.number("fps"), Some(24.0));
}

/// Of 500 damaged files every one is refused with a sentence, before OpenVDB sees it.
#[test]
fn no_damage_to_our_own_files_passes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.vdb");
    let (origins, values) = sphere(10.0);
    let whole = openvdb_sys::to_bytes(&[level_set(&origins, &values)], &[]).unwrap();
    for i in 0..500usize {
        let mut bytes = whole.clone();
        let at = i * 7919 % whole.len();
        match i % 3 {
            0 => bytes[at] ^= 1 << (i % 8),
            1 => bytes.truncate(at),
            _ => drop(bytes.splice(at..at, u32::MAX.to_le_bytes())),
        }
        std::fs::write(&path, &bytes).unwrap();
        assert!(sentence(&path).contains("not a complete VDB file"), "mutant {i} at {at}");
    }
}

fn sentence(path: &Path) -> String {
    openvdb_sys::open(path).err().expect("must not open").to_string()
}

#[test]
fn bad_files_get_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache.0001.vdb");
    assert!(sentence(&path).contains("cannot read"), "{}", sentence(&path));
    assert!(sentence(folder.path()).contains("cannot read"));
    std::fs::write(&path, b"this is no volume").unwrap();
    assert!(sentence(&path).contains("not a complete VDB file"));
    std::fs::write(&path, b"").unwrap();
    assert!(sentence(&path).contains("not a complete VDB file"));
    let (origins, values) = sphere(20.0);
    let bytes = openvdb_sys::to_bytes(&[level_set(&origins, &values)], &[]).unwrap();
    for keep in [4, 15, 30, 80, bytes.len() / 3, bytes.len() - 40] {
        std::fs::write(&path, &bytes[..keep]).unwrap();
        assert!(sentence(&path).contains("not a complete VDB file"), "{keep} bytes");
    }
}

#[test]
fn grids_that_make_no_sense_are_refused() {
    let (origins, values) = sphere(10.0);
    let refused = |grid: GridOut| openvdb_sys::to_bytes(&[grid], &[]).unwrap_err().to_string();
    let base = level_set(&origins, &values);
    assert!(
        refused(GridOut { values: Values::Float(&values[1..]), ..base.clone() }).contains("512 per leaf")
    );
    assert!(
        refused(GridOut { origins: &[[1, 0, 0]], values: Values::Float(&values[..512]), ..base.clone() })
            .contains("multiple of 8")
    );
    assert!(refused(GridOut { transform: [0.0; 16], ..base.clone() }).contains("singular"));
    assert!(refused(GridOut { background: [0.0; 3], ..base.clone() }).contains("positive background"));
    let tiles = [Tile { origin: [0; 3], width: 16, active: false, value: [1.0; 3] }];
    assert!(refused(GridOut { tiles: &tiles, ..base }).contains("8, 128 or 4096"));
}
