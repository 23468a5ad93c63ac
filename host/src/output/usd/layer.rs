//! A layer of USD as a tree of prims. [`super::text`] and [`super::binary`] write its bytes.

use super::value::{Value, token};

/// A field of a layer or a prim: its key and its value.
pub type Field = (&'static str, Value);

/// A prim with its properties and children.
pub struct Prim {
    /// Its name.
    pub name: String,
    /// Its type; `None`: another layer defines it, and this one has opinions about it.
    pub type_name: Option<&'static str>,
    /// Its metadata.
    pub fields: Vec<Field>,
    /// Attributes and relationships.
    pub properties: Vec<Property>,
    /// Prims within it.
    pub children: Vec<Prim>,
}

impl Prim {
    fn new(type_name: Option<&'static str>, name: &str) -> Self {
        let (fields, properties, children) = (Vec::new(), Vec::new(), Vec::new());
        Self { name: name.into(), type_name, fields, properties, children }
    }

    /// A prim of that type.
    pub fn def(type_name: &'static str, name: &str) -> Self {
        Self::new(Some(type_name), name)
    }

    /// Opinions about a prim that another layer defines.
    pub fn over(name: &str) -> Self {
        Self::new(None, name)
    }

    /// With a metadata field.
    pub fn with(mut self, key: &'static str, value: Value) -> Self {
        self.fields.push((key, value));
        self
    }

    /// With a property.
    pub fn has(mut self, property: Property) -> Self {
        self.properties.push(property);
        self
    }

    /// With several properties.
    pub fn has_all(mut self, properties: impl IntoIterator<Item = Property>) -> Self {
        self.properties.extend(properties);
        self
    }

    /// With a child.
    pub fn holds(mut self, child: Prim) -> Self {
        self.children.push(child);
        self
    }

    /// With several children.
    pub fn holds_all(mut self, children: impl IntoIterator<Item = Prim>) -> Self {
        self.children.extend(children);
        self
    }
}

/// An attribute or a relationship of a prim.
pub struct Property {
    /// Its name.
    pub name: String,
    /// Its type; `None`: it is a relationship.
    pub type_name: Option<&'static str>,
    /// It never changes.
    pub is_uniform: bool,
    /// What it has a value for each of, in USD's words; `None`: one for all.
    pub interpolation: Option<&'static str>,
    /// Its value at all times.
    pub value: Option<Value>,
    /// Its value at one time or at several.
    pub samples: Vec<(f64, Value)>,
    /// Path of what it points at, or takes its value from.
    pub target: Option<String>,
}

impl Property {
    /// An attribute of that type, without a value.
    pub fn attribute(type_name: &'static str, name: &str) -> Self {
        let (is_uniform, interpolation, value) = (false, None, None);
        let (name, type_name) = (name.into(), Some(type_name));
        Self { name, type_name, is_uniform, interpolation, value, samples: Vec::new(), target: None }
    }

    /// A relationship to a prim, by its path.
    pub fn relationship(name: &str, target: &str) -> Self {
        Self { type_name: None, target: Some(target.into()), ..Self::attribute("", name) }
    }

    /// What tells renderers not to round a mesh.
    pub fn polygonal() -> Self {
        Self::attribute("token", "subdivisionScheme").uniform().is(token("none"))
    }

    /// Its value at all times.
    pub fn is(self, value: Value) -> Self {
        Self { value: Some(value), ..self }
    }

    /// Its values at some times.
    pub fn at(self, samples: Vec<(f64, Value)>) -> Self {
        Self { samples, ..self }
    }

    /// It never changes.
    pub fn uniform(self) -> Self {
        Self { is_uniform: true, ..self }
    }

    /// One value for each point.
    pub fn per_point(self) -> Self {
        Self { interpolation: Some("vertex"), ..self }
    }

    /// One value for each corner of each polygon.
    pub fn per_corner(self) -> Self {
        Self { interpolation: Some("faceVarying"), ..self }
    }

    /// It takes its value from another attribute, by that one's path.
    pub fn from(self, source: &str) -> Self {
        Self { target: Some(source.into()), ..self }
    }
}

/// A whole layer.
pub struct Layer {
    /// Its metadata.
    pub fields: Vec<Field>,
    /// Its only root prim, which is its default.
    pub root: Prim,
}

/// The axis of a layer that points up.
#[derive(Clone, Copy)]
pub enum UpAxis {
    /// As in the host's own space.
    Y,
    /// As in Blender's.
    Z,
}

/// Units of a layer: metres, and which axis points up.
pub fn units(up: UpAxis) -> Vec<Field> {
    let axis = match up {
        UpAxis::Y => "Y",
        UpAxis::Z => "Z",
    };
    vec![("metersPerUnit", Value::Double(1.0)), ("upAxis", token(axis))]
}
