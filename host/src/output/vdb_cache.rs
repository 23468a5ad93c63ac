//! `vdb_cache`: grids of the simulated objects, one `.vdb` file a frame.

use super::vdb_grid::{Converted, Velocity, convert};
use super::{FRAME, Frame, Offer, Offered, Output, OutputError, Volume, creator};
use crate::data::{Drawn, Object};
use crate::node::{NodeKind, NodeType, ParamSpec, Params};
use openvdb_sys::{Class, GridOut, Meta};
use std::path::{Path, PathBuf};

/// The node at work: it keeps nothing from frame to frame.
pub struct VdbCache;

/// Its description.
pub fn node_type() -> NodeType {
    let help = "Writes grids of the objects, such as their surface, as one OpenVDB file per frame.";
    NodeType::host("meniscus.vdb_cache", "VDB Cache", NodeKind::Output, (1, None), help).with(vec![
        ParamSpec::texts("grids", "Grids", &[],
            "Names of the grids to write; empty: the results of the nodes, of a liquid surface and vel. The first frame is the state before anything moves. Grids that the first \
             solve makes, such as pressure, are in the files from the second frame on."),
        ParamSpec::menu(
            "velocity",
            "Velocity Sampling",
            &[("collocated", "Collocated"), ("staggered", "Staggered")],
            "Where vector values are stored: at cell centres, as renderers expect, or on faces, to continue the simulation elsewhere.",
        ),
        ParamSpec::toggle(
            "half_float",
            "16-bit Float",
            true,
            "Stores vectors and fog volumes as 16-bit floats: smaller files, less precise. Surfaces always have 32 bits.",
        ),
    ])
}

impl Output for VdbCache {
    fn write(&mut self, frame: &Frame) -> Result<Vec<PathBuf>, OutputError> {
        let staggered = frame.params.text("velocity") == "staggered";
        let velocity = if staggered { Velocity::Staggered } else { Velocity::Collocated };
        let mut converted = Vec::new();
        for name in frame.offer.wanted(frame.params.texts("grids"), |o| &o.grids) {
            converted.extend(grids_named(frame, name, velocity)?);
        }
        let path = frame.file(frame.node, "vdb");
        save(&path, &converted, frame)?;
        Ok(vec![path])
    }

    fn files(&self, node: &str, _params: &Params, _offer: &Offer) -> Vec<String> {
        vec![format!("{node}.{FRAME}.vdb")]
    }
}

/// Refuses names that no object will ever have a grid of.
pub(super) fn check(params: &Params, offer: &Offer) -> Result<(), OutputError> {
    let known = offer.grids();
    let wanted = offer.wanted(params.texts("grids"), |o| &o.grids);
    if wanted.is_empty() {
        return Err(OutputError::param("grids", Offer::nothing("grid", &known)));
    }
    let unknown = wanted.iter().find(|name| !known.contains(name));
    let refuse = |name: &&str| Err(OutputError::param("grids", Offer::unknown("a grid", name, &known)));
    unknown.map_or(Ok(()), refuse)
}

/// The grids that a node of that name writes.
pub(super) fn volumes(node: &str, params: &Params, offer: &Offer) -> Vec<Volume> {
    let staggered = params.text("velocity") == "staggered";
    let of_object = |object: &Offered| {
        let wanted = offer.wanted(params.texts("grids"), |o| &o.grids);
        let own = wanted.into_iter().filter(|name| object.grids.iter().any(|g| g == name));
        let volume = |name: &str| Volume {
            cache: node.into(),
            file: format!("../{node}/{node}.{FRAME}.vdb"),
            object: object.object.clone(),
            grid: name.into(),
            stored: stored_name(offer, &object.object, name),
            staggered,
        };
        own.map(volume).collect::<Vec<_>>()
    };
    offer.objects.iter().flat_map(of_object).collect()
}

/// Name of an object's grid in the files: where one object ever has such a grid it keeps the name; where several have, they
/// are called `<object>_<name>`, from the first frame to the last.
fn stored_name(offer: &Offer, object: &str, name: &str) -> String {
    let shared = offer.is_shared(|o| o.grids.iter().any(|g| g == name));
    if shared { format!("{object}_{name}") } else { name.to_owned() }
}

/// Every object's grid of that name; those that are not made yet are left out.
fn grids_named(
    frame: &Frame,
    name: &str,
    velocity: Velocity,
) -> Result<Vec<(String, Converted)>, OutputError> {
    let found = frame.scene.objects.iter().filter_map(|o| Some((o, o.grid(name)?)));
    let convert_one = |(object, grid): (&Object, _)| {
        let surface = object.drawn().find(|(_, _, drawn)| *drawn == Drawn::Liquid).map(|(_, grid, _)| grid);
        let class = object.ports.get(name).map(|p| p.shown.class).unwrap_or_default();
        let converted = convert(class, grid, surface, velocity).map_err(|reason| {
            OutputError::new(format!("grid `{name}` of `{}` cannot be written: {reason}", object.name))
        })?;
        Ok((stored_name(frame.offer, &object.name, name), converted))
    };
    found.map(convert_one).collect()
}

fn save(path: &Path, grids: &[(String, Converted)], frame: &Frame) -> Result<(), OutputError> {
    let half = frame.params.toggle("half_float");
    let creator = creator();
    let metadata = [
        ("creator", Meta::Text(creator.clone())),
        ("fps", Meta::Float(frame.fps as f32)),
        ("frame", Meta::Int(i64::from(frame.number))),
    ];
    let grids: Vec<GridOut> = grids
        .iter()
        .map(|(name, grid)| {
            let values = grid.channels.values();
            let is_vector = matches!(values, openvdb_sys::Values::Vector(_));
            GridOut {
                name,
                class: grid.class,
                transform: grid.transform,
                background: grid.background,
                origins: &grid.origins,
                masks: grid.masks.as_deref(),
                values,
                tiles: &grid.tiles,
                half: half && (is_vector || grid.class == Class::FogVolume),
                flood: grid.flood,
                vector_type: is_vector.then_some("contravariant relative"),
                metadata: &metadata[..2],
            }
        })
        .collect();
    let bytes = openvdb_sys::to_bytes(&grids, &metadata).map_err(|e| OutputError::new(e.to_string()))?;
    super::save(path, &bytes)
}

#[cfg(test)]
mod tests {
    use super::super::test_scene::{H, RADIUS, defaults, offer, scene, spin};
    use super::*;
    use crate::data::Scene;
    use crate::node::Value;
    use openvdb_sys::Data as Values;

    fn cook(scene: &Scene, params: &Params) -> Result<(tempfile::TempDir, PathBuf), OutputError> {
        cook_of(scene, &offer(scene), params)
    }

    fn cook_of(
        scene: &Scene,
        offer: &Offer,
        params: &Params,
    ) -> Result<(tempfile::TempDir, PathBuf), OutputError> {
        let folder = tempfile::tempdir().unwrap();
        let frame =
            Frame { number: 1001, fps: 25.0, node: "cache", scene, offer, params, folder: folder.path() };
        let files = VdbCache.write(&frame)?;
        assert_eq!(files, [folder.path().join("cache.1001.vdb")]);
        Ok((folder, files[0].clone()))
    }

    #[test]
    fn surface_and_velocity_follow_the_conventions() {
        let (_folder, path) = cook(&scene(), &defaults(&node_type())).unwrap();
        let file = openvdb_sys::open(&path).unwrap();
        assert!(file.metadata().iter().any(|e| e.key == "fps" && e.value == "25"));
        let surface = file.info(file.find("surface").unwrap()).unwrap();
        assert_eq!((surface.class, surface.half), (Class::LevelSet, false));
        assert!((surface.background[0] - 3.0 * H).abs() < 1e-7);
        let check = file.stats(file.find("surface").unwrap()).unwrap().level_set.unwrap();
        assert!(check.wrong_sign == 0 && check.beyond_band == 0 && (check.gradient_mean - 1.0).abs() < 0.01);

        let at = file.find("vel").unwrap();
        let vel = file.info(at).unwrap();
        assert_eq!(
            (vel.class, vel.half, vel.meta("vector_type")),
            (Class::Unknown, true, Some("contravariant relative"))
        );
        let ball = 4.0 / 3.0 * std::f64::consts::PI * (RADIUS / H + 3.0).powi(3);
        let share = vel.active_voxels as f64 / ball;
        assert!((share - 1.0).abs() < 0.02, "kept in the liquid and the band around it: {share}");
        let leaves = file.leaves(at).unwrap();
        let Values::Vector(values) = &leaves.data else { panic!("not vectors") };
        for ijk in [[0, 0, 0], [7, 7, 7], [-1, 15, 3], [-15, -2, 8]] {
            let wanted = spin(ijk.map(|c: i32| (f64::from(c) + 0.5) * H));
            let got = values[leaves.slot(ijk).unwrap()];
            assert!(
                (0..3).all(|c| (f64::from(got[c]) - wanted[c]).abs() < 1e-3),
                "{ijk:?}: {got:?} {wanted:?}"
            );
        }
    }

    #[test]
    fn staggered_velocities_keep_their_faces() {
        let mut params = defaults(&node_type());
        params.values.insert("velocity".into(), Value::Text("staggered".into()));
        params.values.insert("half_float".into(), Value::Toggle(false));
        let scene = scene();
        let (_folder, path) = cook(&scene, &params).unwrap();
        let file = openvdb_sys::open(&path).unwrap();
        let at = file.find("vel").unwrap();
        let info = file.info(at).unwrap();
        assert_eq!((info.class, info.half), (Class::Staggered, false));
        let leaves = file.leaves(at).unwrap();
        let Values::Vector(values) = &leaves.data else { panic!("not vectors") };
        let vel = scene.objects[0].grid("vel").unwrap();
        let got = values[leaves.slot([3, -9, 2]).unwrap()];
        assert!((0..3).all(|c| f64::from(got[c]) == vel.value(c, [3, -9, 2])));
    }

    #[test]
    fn an_unknown_grid_is_named_and_one_to_come_is_left_out() {
        let mut params = defaults(&node_type());
        let grids = ["pressure", "surface", "vel"].map(String::from).into();
        let offer = Offer { objects: vec![Offered { grids, ..Offered::default() }] };
        params.values.insert("grids".into(), Value::Texts(vec!["surfce".into()]));
        let error = check(&params, &offer).unwrap_err();
        assert_eq!(error.param, Some("grids"));
        assert!(error.sentence.contains("`surfce`") && error.sentence.contains("surface, vel"), "{error}");

        params.values.insert("grids".into(), Value::Texts(vec!["pressure".into(), "surface".into()]));
        assert_eq!(check(&params, &offer), Ok(()));
        let (_folder, path) = cook(&scene(), &params).unwrap();
        let names: Vec<String> =
            openvdb_sys::open(&path).unwrap().grids().unwrap().into_iter().map(|g| g.name).collect();
        assert_eq!(names, ["surface"]);
    }

    #[test]
    fn two_objects_keep_their_grids_apart() {
        let mut scene = scene();
        let mut other = scene.objects[0].clone();
        other.name = "oil".into();
        scene.objects.push(other);
        let names = |scene: &Scene, offer: &Offer| -> Vec<String> {
            let (_folder, path) = cook_of(scene, offer, &defaults(&node_type())).unwrap();
            openvdb_sys::open(&path).unwrap().grids().unwrap().into_iter().map(|g| g.name).collect()
        };
        let both = offer(&scene);
        assert_eq!(names(&scene, &both), ["oil_surface", "oil_vel", "water_surface", "water_vel"]);
        // One of them ends, or has not begun: the other's grids are called as before.
        scene.objects.pop();
        assert_eq!(names(&scene, &both), ["water_surface", "water_vel"]);
    }
}
