//! The layer that a shot is opened by, and the manifest that says which values come from the layers of its frames: these are
//! value clips of USD, one a frame. The shot's own layer holds what is small: prims, materials, camera, and the time samples
//! that point at VDB files.

use super::super::pattern::Pattern;
use super::super::{FRAME, Frame, Shot, Volume, creator, file_name};
use super::layer::{Layer, Prim, Property, UpAxis, units};
use super::parts::{Kind, Parts};
use super::value::{Value, asset, token};
use super::{PARTS, identifier, look, samples};
use crate::data::{Drawn, GridClass};
use crate::node::Carries;

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
    pub fn layer(&self) -> Layer {
        let fps = self.frame.fps;
        let end = |frame: Option<&i32>| Value::Double(f64::from(frame.copied().unwrap_or(self.frame.number)));
        let z_up = self.frame.params.text("up_axis") == "z";
        let texts = Value::Texts(self.parts.to_texts());
        let mut fields = units(if z_up { UpAxis::Z } else { UpAxis::Y });
        fields.extend([
            ("doc", Value::Text(format!("Written by {}.", creator()))),
            ("customLayerData", Value::Dictionary(vec![(PARTS, texts)])),
            ("startTimeCode", end(self.frames.first())),
            ("endTimeCode", end(self.frames.last())),
            ("timeCodesPerSecond", Value::Double(fps)),
            ("framesPerSecond", Value::Double(fps)),
        ]);
        let name = identifier(self.frame.node);
        let mut root =
            Prim::def("Xform", &name).with("kind", token("component")).with("clips", self.clips(&name));
        if z_up {
            root = root
                .has(Property::attribute("double", "xformOp:rotateX").is(Value::Double(90.0)))
                .has(order(&["xformOp:rotateX"]));
        }
        let materials = format!("/{name}/{}", look::MATERIALS);
        root = root.holds(look::materials(&materials)).holds(look::camera(self.frame.params, self.shot));
        for object in self.parts.objects() {
            root = root.holds(self.object(object, &name, &materials));
        }
        Layer { fields, root }
    }

    /// Which layers the values of frames come from.
    fn clips(&self, root: &str) -> Value {
        let node = self.frame.node;
        let pattern = format!("./{node}.{FRAME}.usdc");
        let files = self.frames.iter().map(|n| file_name(&pattern, *n));
        let time = |n: &i32| f64::from(*n);
        let times = self.frames.iter().map(|n| [time(n); 2]);
        let active = self.frames.iter().enumerate().map(|(at, n)| [time(n), at as f64]);
        let clips = vec![
            ("primPath", Value::Text(format!("/{root}"))),
            ("manifestAssetPath", asset(&format!("./{}", super::manifest_name(node)))),
            ("assetPaths", Value::Assets(files.collect())),
            ("times", Value::Pairs(times.collect())),
            ("active", Value::Pairs(active.collect())),
        ];
        Value::Dictionary(vec![("default", Value::Dictionary(clips))])
    }

    /// An object with its parts.
    fn object(&self, object: &str, root: &str, materials: &str) -> Prim {
        let own = identifier(object);
        let mut prim = Prim::def("Xform", &own);
        let is_glass = self.shot.names(&Pattern::new(self.frame.params.text("glass")), object);
        for (name, kind) in self.parts.of(object) {
            let part = identifier(name);
            let mut child = match kind {
                Kind::Liquid | Kind::Mesh => Prim::def("Mesh", &part).has(Property::polygonal()),
                Kind::Points => Prim::def("Points", &part),
                Kind::Body => Prim::def("Xform", &part)
                    .with(
                        "references",
                        Value::Reference(format!("./{}", super::body_name(self.frame.node, object))),
                    )
                    .with("instanceable", Value::Truth(true))
                    .has(order(&["xformOp:translate", "xformOp:orient"])),
                Kind::Still => self.resting(&part, object),
                Kind::Volume => self.volume(&part, name, object, &format!("/{root}/{own}/{part}")),
            };
            let material = match kind {
                Kind::Points if self.is_foam(object, name) => Some(look::FOAM),
                Kind::Liquid | Kind::Points => Some(look::WATER),
                Kind::Mesh | Kind::Still if is_glass => Some(look::GLASS),
                Kind::Mesh | Kind::Still => Some(look::MATTE),
                // Bodies bring their own.
                Kind::Body | Kind::Volume => None,
            };
            child = child.has_all(samples::attributes(kind));
            if let Some(material) = material {
                let bound = |prim: Prim| look::bound(prim, &format!("{materials}/{material}"));
                // Blender looks for a material at meshes alone.
                child = match kind {
                    Kind::Still => child.holds(bound(Prim::over(super::REST))),
                    _ => bound(child),
                };
            }
            prim = prim.holds(child);
        }
        prim
    }

    /// Whether points are drawn as white balls.
    fn is_foam(&self, object: &str, name: &str) -> bool {
        let offered = self.frame.offer.objects.iter().find(|o| o.object == object);
        let about = offered.and_then(|o| o.about.get(name));
        about.is_some_and(|about| about.shown.drawn == Some(Drawn::Dots))
    }

    /// A prim over the mesh that all frames share.
    fn resting(&self, part: &str, object: &str) -> Prim {
        let file = format!("./{}", super::rest_name(self.frame.node, object));
        Prim::def("Xform", part).with("references", Value::Reference(file))
    }

    /// A volume with the grids of an object in a VDB cache.
    fn volume(&self, part: &str, name: &str, object: &str, path: &str) -> Prim {
        let is_own = |v: &&Volume| super::parts::volume_name(&v.cache) == name && v.object == object;
        let mut prim = Prim::def("Volume", part);
        for grid in self.shot.volumes.iter().filter(is_own) {
            let field = identifier(&grid.grid);
            prim = prim.has(Property::relationship(&format!("field:{field}"), &format!("{path}/{field}")));
            prim = prim.holds(self.field(&field, grid));
        }
        prim
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
        let named = |name: &str, value: &str| Property::attribute("token", name).is(token(value));
        let mut prim = Prim::def("OpenVDBAsset", name)
            .has(Property::attribute("asset", "filePath").at(files.collect()))
            .has(named("fieldName", &grid.stored))
            .has(Property::attribute("int", "fieldIndex").is(Value::Int(0)))
            .has(named("fieldClass", class))
            .has(named("fieldDataType", data_type));
        if is_vector {
            prim = prim.has(named("vectorDataRoleHint", "Vector"));
        }
        prim
    }

    /// The layer that names the attributes whose values come from the frames' layers. What a frame has not is not seen.
    pub fn manifest(&self) -> Layer {
        let hidden = || Property::attribute("token", "visibility").is(token("invisible"));
        let part = |(name, kind): (&str, Kind)| {
            Prim::over(&identifier(name)).has_all(samples::attributes(kind)).has(hidden())
        };
        let object = |object: &str| {
            Prim::over(&identifier(object)).holds_all(self.parts.of(object).map(part).collect::<Vec<_>>())
        };
        let objects: Vec<Prim> = self.parts.objects().into_iter().map(object).collect();
        Layer { fields: units(UpAxis::Y), root: Prim::over(&identifier(self.frame.node)).holds_all(objects) }
    }
}

/// The order in which a prim's motion is put together.
fn order(names: &[&str]) -> Property {
    let names = names.iter().map(|&n| n.into()).collect();
    Property::attribute("token[]", "xformOpOrder").uniform().is(Value::Tokens(names))
}
