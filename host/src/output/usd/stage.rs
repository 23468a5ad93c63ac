//! The layer that a shot is opened by, and the manifest that says which values come from the layers of its frames: these are
//! value clips of USD, one a frame. The shot's own layer holds what is small: prims, materials, camera, and the time samples
//! that point at VDB files.

use super::super::{FRAME, Frame, OutputError, Shot, Volume, creator, file_name};
use super::layer::{Field, Layer, Prim, Property, asset};
use super::parts::{Kind, Parts};
use super::{PARTS, identifier, look, samples};
use crate::data::GridClass;
use crate::node::Carries;
use openusd::gf;
use openusd::sdf::{AssetPath, FieldKey, ListOp, Reference, Value};
use std::collections::HashMap;

/// Units of every layer: metres, Y up.
pub fn units() -> Vec<Field> {
    up("Y")
}

fn up(axis: &str) -> Vec<Field> {
    vec![("metersPerUnit", Value::Double(1.0)), ("upAxis", Value::Token(axis.into()))]
}

/// What tells renderers not to round a mesh.
pub fn polygonal() -> Property {
    Property::attribute("token", "subdivisionScheme").uniform().is(Value::Token("none".into()))
}

/// A shot as it is after a frame.
pub struct Stage<'a> {
    /// The last frame.
    pub frame: &'a Frame<'a>,
    /// What is known from the start.
    pub shot: &'a Shot,
    /// Frames whose layers there are, in order.
    pub frames: &'a [i32],
    /// All parts.
    pub parts: &'a Parts,
}

impl Stage<'_> {
    /// The layer that the shot is opened by.
    pub fn layer(&self) -> Result<Layer, OutputError> {
        let fps = self.frame.fps;
        let end = |frame: Option<&i32>| Value::Double(f64::from(frame.copied().unwrap_or(self.frame.number)));
        let z_up = self.frame.params.text("up_axis") == "z";
        let texts = Value::StringVec(self.parts.to_texts());
        let mut fields = up(if z_up { "Z" } else { "Y" });
        fields.extend([
            (FieldKey::Documentation.as_str(), Value::String(format!("Written by {}.", creator()))),
            (FieldKey::CustomLayerData.as_str(), Value::Dictionary(HashMap::from([(PARTS.into(), texts)]))),
            (FieldKey::StartTimeCode.as_str(), end(self.frames.first())),
            (FieldKey::EndTimeCode.as_str(), end(self.frames.last())),
            (FieldKey::TimeCodesPerSecond.as_str(), Value::Double(fps)),
            (FieldKey::FramesPerSecond.as_str(), Value::Double(fps)),
        ]);
        let name = identifier(self.frame.node);
        let mut root = Prim::def("Xform", &name)
            .with(FieldKey::Kind, Value::Token("component".into()))
            .with(FieldKey::Clips, self.clips(&name));
        if z_up {
            root = root
                .has(Property::attribute("double", "xformOp:rotateX").is(Value::Double(90.0)))
                .has(order(&["xformOp:rotateX"]));
        }
        let materials = format!("/{name}/{}", look::MATERIALS);
        root = root.holds(look::materials(&materials)?).holds(look::camera(self.frame.params, self.shot));
        for object in self.parts.objects() {
            root = root.holds(self.object(object, &name, &materials)?);
        }
        Ok(Layer { fields, root })
    }

    /// Which layers the values of frames come from.
    fn clips(&self, root: &str) -> Value {
        let node = self.frame.node;
        let file = |n: &i32| AssetPath::new(format!("./{}", file_name(&format!("{node}.{FRAME}.usdc"), *n)));
        let times = self.frames.iter().map(|n| gf::vec2d(f64::from(*n), f64::from(*n)));
        let active = self.frames.iter().enumerate().map(|(at, n)| gf::vec2d(f64::from(*n), at as f64));
        let clips = HashMap::from([
            ("primPath".to_owned(), Value::String(format!("/{root}"))),
            ("manifestAssetPath".to_owned(), asset(&format!("./{}", super::manifest_name(node)))),
            ("assetPaths".to_owned(), Value::AssetPathVec(self.frames.iter().map(file).collect())),
            ("times".to_owned(), Value::Vec2dVec(times.collect())),
            ("active".to_owned(), Value::Vec2dVec(active.collect())),
        ]);
        Value::Dictionary(HashMap::from([("default".to_owned(), Value::Dictionary(clips))]))
    }

    /// An object with its parts.
    fn object(&self, object: &str, root: &str, materials: &str) -> Result<Prim, OutputError> {
        let own = identifier(object);
        let mut prim = Prim::def("Xform", &own);
        for (name, kind) in self.parts.of(object) {
            let part = identifier(name);
            let mut child = match kind {
                Kind::Liquid | Kind::Mesh => Prim::def("Mesh", &part).has(polygonal()),
                Kind::Points => Prim::def("Points", &part),
                Kind::Body => self.resting(&part, object).has(order(&["xformOp:translate", "xformOp:orient"])),
                Kind::Still => self.resting(&part, object),
                Kind::Volume => self.volume(&part, name, object, &format!("/{root}/{own}/{part}"))?,
            };
            let material = match kind {
                Kind::Liquid | Kind::Points => Some(look::WATER),
                Kind::Mesh | Kind::Body | Kind::Still => Some(look::SOLID),
                Kind::Volume => None,
            };
            child = child.has_all(samples::attributes(kind));
            if let Some(material) = material {
                let applied = Value::TokenListOp(ListOp::prepended(["MaterialBindingAPI".into()]));
                let target = format!("{materials}/{material}");
                child = child.with(FieldKey::ApiSchemas, applied);
                child = child.has(Property::relationship("material:binding", &target)?);
            }
            prim = prim.holds(child);
        }
        Ok(prim)
    }

    /// A prim over the mesh that the bodies of an object or all frames share.
    fn resting(&self, part: &str, object: &str) -> Prim {
        let file = format!("./{}", super::rest_name(self.frame.node, object));
        let reference = Reference { asset_path: file, ..Reference::default() };
        Prim::def("Xform", part)
            .with(FieldKey::References, Value::ReferenceListOp(ListOp::prepended([reference])))
            .with(FieldKey::Instanceable, Value::Bool(true))
    }

    /// A volume with the grids of an object in a VDB cache.
    fn volume(&self, part: &str, name: &str, object: &str, path: &str) -> Result<Prim, OutputError> {
        let is_own = |v: &&Volume| super::parts::volume_name(&v.cache) == name && v.object == object;
        let mut prim = Prim::def("Volume", part);
        for grid in self.shot.volumes.iter().filter(is_own) {
            let field = identifier(&grid.grid);
            prim = prim.has(Property::relationship(&format!("field:{field}"), &format!("{path}/{field}"))?);
            prim = prim.holds(self.field(&field, grid));
        }
        Ok(prim)
    }

    /// A grid in the files of a VDB cache.
    fn field(&self, name: &str, grid: &Volume) -> Prim {
        let about = self.frame.offer.objects.iter().find(|o| o.object == grid.object);
        let about = about.and_then(|o| o.about.get(&grid.grid));
        let is_vector = about.is_some_and(|a| matches!(a.carries, Carries::Grid { components: 3, .. }));
        let class = match about.map(|a| a.shown.class).unwrap_or_default() {
            GridClass::LevelSet => "levelSet",
            GridClass::Fog => "fogVolume",
            GridClass::Plain if is_vector && grid.staggered => "staggered",
            GridClass::Plain => "unknown",
        };
        let is_whole = about.is_some_and(|a| a.carries.is_whole());
        let data_type = match (is_vector, is_whole) {
            (true, _) => "float3",
            (false, true) => "int",
            (false, false) => "float",
        };
        let files = self.frames.iter().map(|n| (f64::from(*n), asset(&file_name(&grid.file, *n))));
        let token = |name: &str, value: &str| {
            Property::attribute("token", name).is(Value::Token(value.into()))
        };
        let mut prim = Prim::def("OpenVDBAsset", name)
            .has(Property::attribute("asset", "filePath").at(files.collect()))
            .has(token("fieldName", &grid.stored))
            .has(Property::attribute("int", "fieldIndex").is(Value::Int(0)))
            .has(token("fieldClass", class))
            .has(token("fieldDataType", data_type));
        if is_vector {
            prim = prim.has(token("vectorDataRoleHint", "Vector"));
        }
        prim
    }

    /// The layer that names the attributes whose values come from the frames' layers. What a frame has not is not seen.
    pub fn manifest(&self) -> Layer {
        let hidden = || Property::attribute("token", "visibility").is(Value::Token("invisible".into()));
        let part = |(name, kind): (&str, Kind)| {
            Prim::over(&identifier(name)).has_all(samples::attributes(kind)).has(hidden())
        };
        let object = |object: &str| {
            Prim::over(&identifier(object)).holds_all(self.parts.of(object).map(part).collect::<Vec<_>>())
        };
        let objects: Vec<Prim> = self.parts.objects().into_iter().map(object).collect();
        Layer { fields: units(), root: Prim::over(&identifier(self.frame.node)).holds_all(objects) }
    }
}

/// The order in which a prim's motion is put together.
fn order(names: &[&str]) -> Property {
    let names = names.iter().map(|&n| n.into()).collect();
    Property::attribute("token[]", "xformOpOrder").uniform().is(Value::TokenVec(names))
}
