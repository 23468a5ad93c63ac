//! How a shot looks until somebody lights it: its materials and a camera that sees it.

use super::super::Shot;
use super::super::drawn::body_colour;
use super::super::framing::{self, Bounds, View};
use super::super::pattern::Pattern;
use super::identifier;
use super::layer::{Layer, Prim, Property, UpAxis, units};
use super::value::{Value, token};
use crate::node::Params;
use glam::DVec3;

/// Prim that holds the materials.
pub const MATERIALS: &str = "materials";
/// The camera's prim.
pub const CAMERA: &str = "camera";
/// Material of liquids.
pub const WATER: &str = "water";
/// Material of points that are drawn as white balls: spray, foam and the like.
pub const FOAM: &str = "foam";
/// Material of what is named as glass.
pub const GLASS: &str = "glass";
/// Material of everything else.
pub const MATTE: &str = "matte";

/// Width and height of the camera's film, m: those of a 35 mm camera that takes pictures of 16 : 9.
const FILM: [f64; 2] = [0.036, 0.02025];
/// USD gives films and lenses in tenths of the scene's unit.
const TENTHS: f64 = 10.0;
/// Nearest and farthest distance that the camera sees, in distances from it to the middle of the shot.
const CLIPPING: [f64; 2] = [0.01, 100.0];

/// Index of refraction, roughness and opacity.
type Surface = [(&'static str, f32); 3];
const OF_WATER: Surface = [("ior", 1.333), ("roughness", 0.02), ("opacity", 0.25)];
const OF_GLASS: Surface = [("ior", 1.5), ("roughness", 0.02), ("opacity", 0.12)];
const OF_SOLIDS: Surface = [("ior", 1.5), ("roughness", 0.5), ("opacity", 1.0)];
/// Colour of glass, linear.
const CLEAR: [f32; 3] = [0.9, 0.95, 0.95];

/// The materials; `path` is that of the prim that holds them.
pub fn materials(path: &str) -> Prim {
    Prim::def("Scope", MATERIALS)
        .holds(material(path, WATER, [0.16, 0.42, 0.55], OF_WATER))
        .holds(material(path, FOAM, [0.9, 0.92, 0.94], OF_SOLIDS))
        .holds(material(path, GLASS, CLEAR, OF_GLASS))
        .holds(material(path, MATTE, [0.62, 0.56, 0.5], OF_SOLIDS))
}

/// The layer of what all bodies of an object are: the mesh in a file, with a material of its own. Tools that copy shared meshes, such
/// as Blender, look for a material at the mesh alone. Bodies of the object with another `number` have another colour.
pub fn body(object: &str, mesh: &str, number: usize, is_glass: bool) -> Layer {
    let name = identifier(object);
    // Tools show this name without its path.
    let (path, look) = (format!("/{name}"), format!("{name}_look"));
    let own = match is_glass {
        true => material(&path, &look, CLEAR, OF_GLASS),
        false => material(&path, &look, body_colour(number, 0).map(|c| c as f32), OF_SOLIDS),
    };
    let dressed = bound(Prim::over(super::REST), &format!("{path}/{look}"));
    let root = Prim::def("Xform", &name).with("references", Value::Reference(mesh.to_owned()));
    Layer { fields: units(UpAxis::Y), root: root.holds(own).holds(dressed) }
}

/// A prim with the material at a path.
pub fn bound(prim: Prim, material: &str) -> Prim {
    prim.with("apiSchemas", Value::Schemas(vec!["MaterialBindingAPI"]))
        .has(Property::relationship("material:binding", material))
}

fn material(path: &str, name: &str, colour: [f32; 3], inputs: Surface) -> Prim {
    let input = |(name, value): (&str, f32)| {
        Property::attribute("float", &format!("inputs:{name}")).is(Value::Float(value))
    };
    let colour = Property::attribute("color3f", "inputs:diffuseColor").is(Value::Float3(colour));
    let shader = Prim::def("Shader", "preview")
        .has(Property::attribute("token", "info:id").uniform().is(token("UsdPreviewSurface")))
        .has(colour)
        .has_all(inputs.map(input))
        .has(Property::attribute("token", "outputs:surface"));
    let source = format!("{path}/{name}/preview.outputs:surface");
    let material = Prim::def("Material", name);
    material.has(Property::attribute("token", "outputs:surface").from(&source)).holds(shader)
}

/// A camera that stands still where it sees all objects as they begin.
pub fn camera(params: &Params, shot: &Shot) -> Prim {
    let pattern = Pattern::new(params.text("objects"));
    let chosen = shot.extents.iter().filter(|(name, _)| pattern.matches(name));
    let bounds = chosen.map(|(_, b)| *b).reduce(Bounds::union).unwrap_or(framing::NOWHERE);
    let view = View { azimuth: params.number("azimuth"), elevation: params.number("elevation") };
    let [width, height] = FILM;
    let fov = params.number("field_of_view");
    let camera = framing::frame(&bounds, view, fov, width / height);
    let (at, target) = (DVec3::from(camera.position), DVec3::from(camera.look_at));
    let distance = at.distance(target);
    let back = (at - target) / distance;
    let right = DVec3::Y.cross(back).normalize();
    let up = back.cross(right);
    let rows = [right.extend(0.0), up.extend(0.0), back.extend(0.0), at.extend(1.0)];
    let matrix: [f64; 16] = std::array::from_fn(|n| rows[n / 4][n % 4]);
    let focal = 0.5 * height / (0.5 * fov).to_radians().tan();
    let number = |name: &str, metres: f64| {
        Property::attribute("float", name).is(Value::Float((metres * TENTHS) as f32))
    };
    let [near, far] = CLIPPING.map(|share| (share * distance) as f32);
    let order = Value::Tokens(vec!["xformOp:transform".into()]);
    Prim::def("Camera", CAMERA)
        .has(Property::attribute("matrix4d", "xformOp:transform").is(Value::Matrix(matrix)))
        .has(Property::attribute("token[]", "xformOpOrder").uniform().is(order))
        .has(Property::attribute("token", "projection").is(token("perspective")))
        .has(number("focalLength", focal))
        .has(number("horizontalAperture", width))
        .has(number("verticalAperture", height))
        .has(Property::attribute("float2", "clippingRange").is(Value::Float2([near, far])))
}
