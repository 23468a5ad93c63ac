//! `geometry_cache`: particles, bubbles and meshes, one `.geo` file a frame (Houdini's JSON).

use super::pattern::Pattern;
use super::{FRAME, Frame, Offer, Output, OutputError, geo_json, save};
use crate::node::{NodeKind, NodeType, ParamSpec, Params};
use std::path::PathBuf;

/// The node at work: it keeps nothing from frame to frame.
pub struct GeometryCache;

/// Its description.
pub fn node_type() -> NodeType {
    let help = "Writes particles and other geometry of the objects as Houdini geometry (.geo, JSON), one file per frame. A hash in each file lets inspect find damage.";
    NodeType::host("meniscus.geometry_cache", "Geometry Cache", NodeKind::Output, (1, None), help).with(vec![
        ParamSpec::texts(
            "geometry",
            "Geometry",
            &[],
            "Names of the geometry to write; empty: the results of the nodes, of a liquid particles and bubbles. The first goes to files named <node>, the others to <node>_<name>. \
             Geometry that an object does not have, or does not have yet, is skipped.",
        ),
        ParamSpec::text(
            "attributes",
            "Attributes",
            "* ^C0 ^C1 ^C2",
            "Attributes to write, by name. * stands for any part of a name; ^ before a name leaves it out. P is always written.",
        ),
    ])
}

impl Output for GeometryCache {
    fn write(&mut self, frame: &Frame) -> Result<Vec<PathBuf>, OutputError> {
        let names = frame.offer.wanted(frame.params.texts("geometry"), |o| &o.geometry);
        let mut written = Vec::new();
        for (i, name) in names.iter().enumerate() {
            written.extend(write_named(frame, name, i)?);
        }
        Ok(written)
    }

    fn files(&self, node: &str, params: &Params, offer: &Offer) -> Vec<String> {
        let mut files = Vec::new();
        for (i, name) in offer.wanted(params.texts("geometry"), |o| &o.geometry).into_iter().enumerate() {
            let objects = offer.objects.iter().filter(|o| o.geometry.iter().any(|g| g == name));
            files.extend(objects.map(|o| format!("{}.{FRAME}.geo", stem(node, i, name, &o.object, offer))));
        }
        files
    }
}

/// Name of the files of an object's geometry: the first in the list has the node's name, the others their own behind it;
/// where several objects ever have such geometry, the object's name stands behind that.
fn stem(node: &str, at: usize, name: &str, object: &str, offer: &Offer) -> String {
    let stem = if at == 0 { node.to_owned() } else { format!("{node}_{name}") };
    let shared = offer.is_shared(|o| o.geometry.iter().any(|g| g == name));
    if shared { format!("{stem}_{object}") } else { stem }
}

/// Refuses names that no object will ever have geometry of.
pub(super) fn check(params: &Params, offer: &Offer) -> Result<(), OutputError> {
    let offered = offer.geometry();
    let wanted = offer.wanted(params.texts("geometry"), |o| &o.geometry);
    if wanted.is_empty() {
        return Err(OutputError::param("geometry", Offer::nothing("geometry", &offered)));
    }
    let unknown = wanted.iter().find(|name| !offered.contains(name));
    let refuse =
        |name: &&str| Err(OutputError::param("geometry", Offer::unknown("geometry", name, &offered)));
    unknown.map_or(Ok(()), refuse)
}

/// One file for every object that has this geometry now.
fn write_named(frame: &Frame, name: &str, at: usize) -> Result<Vec<PathBuf>, OutputError> {
    let found = frame.scene.objects.iter().filter_map(|o| Some((o.name.as_str(), o.geometry(name)?)));
    let pattern = Pattern::new(frame.params.text("attributes"));
    let mut written = Vec::new();
    for (object, geometry) in found {
        let path = frame.file(&stem(frame.node, at, name, object, frame.offer), "geo");
        let header = geo_json::Header { fps: frame.fps, frame: frame.number };
        let keep = |attribute: &str| attribute == "P" || pattern.matches(attribute);
        let bytes = geo_json::to_bytes(geometry, &header, keep).map_err(|reason| {
            OutputError::new(format!("`{name}` of `{object}` cannot be written: {reason}"))
        })?;
        save(&path, &bytes)?;
        written.push(path);
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::super::Offered;
    use super::super::test_scene::{defaults, offer, scene};
    use super::*;
    use crate::data::Geometry;
    use crate::node::Value;
    use serde_json::Value as Json;

    /// The value that follows a key in one of the format's flat key/value arrays.
    fn after<'a>(list: &'a Json, key: &str) -> &'a Json {
        let list = list.as_array().unwrap();
        &list[list.iter().position(|k| k == key).unwrap() + 1]
    }

    fn attribute<'a>(file: &'a Json, name: &str) -> Option<&'a Json> {
        let list = after(after(file, "attributes"), "pointattributes").as_array().unwrap();
        list.iter().find(|a| after(&a[0], "name") == name)
    }

    #[test]
    fn particles_become_houdini_points() {
        let folder = tempfile::tempdir().unwrap();
        let params = defaults(&node_type());
        let scene = scene();
        let frame = Frame {
            number: 7,
            fps: 24.0,
            node: "points",
            scene: &scene,
            offer: &offer(&scene),
            params: &params,
            folder: folder.path(),
        };
        let files = GeometryCache.write(&frame).unwrap();
        assert_eq!(files, [folder.path().join("points.0007.geo")], "no bubbles, no file for them");
        let file: Json = serde_json::from_slice(&std::fs::read(&files[0]).unwrap()).unwrap();
        assert_eq!(
            (after(&file, "pointcount"), after(&file, "primitivecount")),
            (&Json::from(3), &Json::from(0))
        );
        let p = attribute(&file, "P").unwrap();
        assert_eq!(after(&p[0], "options")["type"]["value"], "point");
        let tuples = after(after(&p[1], "values"), "tuples");
        assert_eq!(tuples[2][0].as_f64().unwrap() as f32, 1e-7);
        let id = attribute(&file, "id").unwrap();
        assert_eq!(after(&id[1], "storage"), "int64");
        assert_eq!(after(after(&id[1], "values"), "arrays"), &serde_json::json!([[7, 8, 9]]));
        let v = attribute(&file, "v").unwrap();
        assert_eq!(after(&v[0], "options")["type"]["value"], "vector");
        assert!(attribute(&file, "C0").is_none(), "solver state stays out");
    }

    #[test]
    fn meshes_are_wound_as_houdini_does_and_an_origin_is_added() {
        let mut mesh =
            Geometry::from_triangles(&[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], &[[0, 1, 2], [2, 1, 0]]);
        mesh.origin = [10.0, 0.0, 0.0];
        let bytes = geo_json::to_bytes(&mesh, &geo_json::Header { fps: 24.0, frame: 1 }, |_| true).unwrap();
        let file: Json = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(
            after(&file, "topology"),
            &serde_json::json!(["pointref", ["indices", [0, 2, 1, 2, 0, 1]]])
        );
        let primitive = &after(&file, "primitives")[0];
        assert_eq!(primitive[0], serde_json::json!(["type", "Polygon_run"]));
        assert_eq!(after(&primitive[1], "nvertices_rle"), &serde_json::json!([3, 2]));
        let tuples = after(after(&attribute(&file, "P").unwrap()[1], "values"), "tuples");
        assert_eq!(tuples[1], serde_json::json!([11.0, 0.0, 0.0]));
    }

    #[test]
    fn a_nan_and_an_unknown_name_are_refused() {
        let mut g = Geometry::from_points(&[[0.0; 3], [f32::NAN, 0.0, 0.0]]);
        let header = geo_json::Header { fps: 24.0, frame: 1 };
        let reason = geo_json::to_bytes(&g, &header, |_| true).unwrap_err();
        assert!(reason.contains("`P` of element 1"), "{reason}");
        g.points = 5;
        assert!(geo_json::to_bytes(&g, &header, |_| true).is_err());

        let mut params = defaults(&node_type());
        let geometry = vec!["particles".to_owned()];
        let offered = Offered { results: geometry.clone(), geometry, ..Offered::default() };
        let offer = Offer { objects: vec![offered] };
        assert_eq!(check(&params, &offer), Ok(()));
        assert!(check(&params, &Offer::default()).is_err());
        params.values.insert("geometry".into(), Value::Texts(vec!["particles".into(), "partcles".into()]));
        let error = check(&params, &offer).unwrap_err();
        assert_eq!(error.param, Some("geometry"));
        assert!(error.sentence.contains("partcles") && error.sentence.contains("particles"), "{error}");
    }
}
