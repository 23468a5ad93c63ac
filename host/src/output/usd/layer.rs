//! A layer of USD as a tree of prims, and its bytes: text (`.usda`) or binary (`.usdc`).

use super::super::OutputError;
use openusd::sdf::{self, ChildrenKey, FieldKey, ListOp, SpecType, Specifier, Value, Variability};
use std::io::Cursor;

/// A field of a layer, a prim or a property: its key and its value.
pub type Field = (&'static str, Value);

/// A prim with its attributes and children.
pub struct Prim {
    name: String,
    fields: Vec<Field>,
    properties: Vec<Property>,
    children: Vec<Prim>,
}

impl Prim {
    /// A prim of that type.
    pub fn def(type_name: &str, name: &str) -> Self {
        let fields = vec![
            (FieldKey::Specifier.as_str(), Value::Specifier(Specifier::Def)),
            (FieldKey::TypeName.as_str(), Value::Token(type_name.into())),
        ];
        Self { name: name.into(), fields, properties: Vec::new(), children: Vec::new() }
    }

    /// Opinions about a prim that another layer defines.
    pub fn over(name: &str) -> Self {
        let fields = vec![(FieldKey::Specifier.as_str(), Value::Specifier(Specifier::Over))];
        Self { name: name.into(), fields, properties: Vec::new(), children: Vec::new() }
    }

    /// With a metadata field.
    pub fn with(mut self, key: FieldKey, value: Value) -> Self {
        self.fields.push((key.as_str(), value));
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

    fn write(self, parent: &str, data: &mut sdf::Data) -> Result<(), OutputError> {
        let path = format!("{parent}/{}", self.name);
        let spec = data.create_spec(path_of(&path)?, SpecType::Prim);
        self.fields.into_iter().for_each(|(key, value)| spec.add(key, value));
        if !self.properties.is_empty() {
            let names = self.properties.iter().map(|p| p.name.as_str().into()).collect();
            spec.add(ChildrenKey::PropertyChildren, Value::TokenVec(names));
        }
        if !self.children.is_empty() {
            let names = self.children.iter().map(|c| c.name.as_str().into()).collect();
            spec.add(ChildrenKey::PrimChildren, Value::TokenVec(names));
        }
        for property in self.properties {
            let spec = data.create_spec(path_of(&format!("{path}.{}", property.name))?, property.kind);
            property.fields.into_iter().for_each(|(key, value)| spec.add(key, value));
        }
        self.children.into_iter().try_for_each(|child| child.write(&path, data))
    }
}

/// An attribute or a relationship of a prim.
pub struct Property {
    name: String,
    kind: SpecType,
    fields: Vec<Field>,
}

impl Property {
    /// An attribute of that type, without a value.
    pub fn attribute(type_name: &str, name: &str) -> Self {
        let fields = vec![(FieldKey::TypeName.as_str(), Value::Token(type_name.into()))];
        Self { name: name.into(), kind: SpecType::Attribute, fields }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A relationship to a prim or a property, by its path.
    pub fn relationship(name: &str, target: &str) -> Result<Self, OutputError> {
        let targets = Value::PathListOp(ListOp::explicit([path_of(target)?]));
        let fields = vec![
            (FieldKey::Variability.as_str(), Value::Variability(Variability::Uniform)),
            (FieldKey::TargetPaths.as_str(), targets),
        ];
        Ok(Self { name: name.into(), kind: SpecType::Relationship, fields })
    }

    fn with(mut self, key: FieldKey, value: Value) -> Self {
        self.fields.push((key.as_str(), value));
        self
    }

    /// Its value at all times.
    pub fn is(self, value: Value) -> Self {
        self.with(FieldKey::Default, value)
    }

    /// Its values at some times.
    pub fn at(self, samples: Vec<(f64, Value)>) -> Self {
        self.with(FieldKey::TimeSamples, Value::TimeSamples(samples))
    }

    /// It never changes.
    pub fn uniform(self) -> Self {
        self.with(FieldKey::Variability, Value::Variability(Variability::Uniform))
    }

    /// One value for each point.
    pub fn per_point(mut self) -> Self {
        self.fields.push(("interpolation", Value::Token("vertex".into())));
        self
    }

    /// It takes its value from another attribute, by that one's path.
    pub fn from(self, source: &str) -> Result<Self, OutputError> {
        let sources = Value::PathListOp(ListOp::explicit([path_of(source)?]));
        Ok(self.with(FieldKey::ConnectionPaths, sources))
    }
}

/// A whole layer.
pub struct Layer {
    /// Its metadata.
    pub fields: Vec<Field>,
    /// Its only root prim.
    pub root: Prim,
}

impl Layer {
    fn data(self) -> Result<sdf::Data, OutputError> {
        let mut data = sdf::Data::new();
        let name: openusd::tf::Token = self.root.name.as_str().into();
        let spec = data.create_spec(sdf::Path::abs_root(), SpecType::PseudoRoot);
        spec.add(FieldKey::DefaultPrim, Value::Token(name.clone()));
        self.fields.into_iter().for_each(|(key, value)| spec.add(key, value));
        spec.add(ChildrenKey::PrimChildren, Value::TokenVec(vec![name]));
        self.root.write("", &mut data)?;
        Ok(data)
    }

    /// Its bytes as text.
    pub fn to_text(self) -> Result<Vec<u8>, OutputError> {
        openusd::usda::TextWriter::write_to_string(&self.data()?).map(String::into_bytes).map_err(failed)
    }

    /// Its bytes as a binary file.
    pub fn to_binary(self) -> Result<Vec<u8>, OutputError> {
        let mut out = Cursor::new(Vec::new());
        openusd::usdc::CrateWriter::write(&self.data()?, &mut out).map_err(failed)?;
        Ok(out.into_inner())
    }
}

/// A text in the metadata of a text layer; `None` where there is no such layer or text.
pub fn texts_of(layer: &[u8], key: &str) -> Option<Vec<String>> {
    let data = openusd::usda::parse(std::str::from_utf8(layer).ok()?).ok()?;
    let root = data.spec(&sdf::Path::abs_root())?;
    let custom = root.fields.iter().find(|(name, _)| name == FieldKey::CustomLayerData.as_str());
    match custom.map(|(_, value)| value) {
        Some(Value::Dictionary(all)) => match all.get(key) {
            Some(Value::StringVec(texts)) => Some(texts.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// A path to a file, from the layer that it stands in.
pub fn asset(path: &str) -> Value {
    Value::AssetPath(sdf::AssetPath::new(path))
}

fn path_of(path: &str) -> Result<sdf::Path, OutputError> {
    sdf::path(path).map_err(failed)
}

fn failed(e: impl std::fmt::Display) -> OutputError {
    OutputError::new(format!("the USD layer cannot be made: {e}"))
}
