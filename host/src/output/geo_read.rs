//! Reads the facts of a `.geo` file (Houdini's JSON), and the numbers of those attributes that are asked for.
//!
//! The format consists of flat lists in which keys and values alternate. [`Flat`] walks such a list and passes every
//! key to a [`Pairs`].

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, SeqAccess, Visitor};
use serde_json::Value as Json;
use std::fmt;

/// The facts that a file states about itself and its attributes.
#[derive(Debug, Default)]
pub(crate) struct GeoFile {
    pub(crate) version: Option<String>,
    pub(crate) points: u64,
    pub(crate) vertices: u64,
    pub(crate) primitives: u64,
    pub(crate) info: Json,
    pub(crate) attributes: Vec<Attribute>,
    /// The points of every vertex, where numbers are asked for.
    pub(crate) indices: Vec<u32>,
    /// The primitives as the file gives them, where numbers are asked for.
    pub(crate) kinds: Json,
    /// Names of the attributes whose numbers are kept.
    keep: &'static [&'static str],
}

impl GeoFile {
    /// The attribute of that owner and name.
    pub(crate) fn attribute(&self, owner: &str, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|a| a.owner == owner && a.name == name)
    }
}

/// One attribute.
#[derive(Debug, Default)]
pub(crate) struct Attribute {
    /// `point`, `vertex`, `primitive` or `detail`.
    pub(crate) owner: &'static str,
    pub(crate) name: String,
    pub(crate) storage: String,
    pub(crate) size: u64,
    pub(crate) values: Values,
    keep: &'static [&'static str],
}

/// The numbers of an attribute; other storage (text, packed pages) leaves it empty.
#[derive(Debug, Default)]
pub(crate) struct Values {
    /// How many elements there are; `None` when they are not plain lists.
    pub(crate) count: Option<u64>,
    /// Smallest number of each component.
    pub(crate) low: Vec<f64>,
    /// Largest number of each component.
    pub(crate) high: Vec<f64>,
    /// All of them, in the file's order, where they are asked for.
    pub(crate) kept: Option<Vec<f32>>,
}

impl Values {
    fn see(&mut self, component: usize, x: f64) {
        if self.low.len() <= component {
            self.low.resize(component + 1, f64::INFINITY);
            self.high.resize(component + 1, f64::NEG_INFINITY);
        }
        self.low[component] = self.low[component].min(x);
        self.high[component] = self.high[component].max(x);
        if let Some(kept) = &mut self.kept {
            kept.push(x as f32);
        }
    }
}

/// Reads the bytes of a file, and keeps the numbers of the attributes of these names; the error is what the parser says.
pub(crate) fn read(bytes: &[u8], keep: &'static [&'static str]) -> Result<GeoFile, String> {
    let mut file = GeoFile { keep, ..GeoFile::default() };
    let mut parser = serde_json::Deserializer::from_slice(bytes);
    Flat(&mut file).deserialize(&mut parser).and_then(|()| parser.end()).map_err(|e| e.to_string())?;
    if file.version.is_none() {
        return Err("it does not begin like Houdini geometry".into());
    }
    Ok(file)
}

/// Takes the keys of a flat list.
trait Pairs {
    /// Reads the value of a key.
    fn pair<'de, A: SeqAccess<'de>>(&mut self, key: &str, list: &mut A) -> Result<(), A::Error>;
}

struct Flat<'a, P>(&'a mut P);

impl<'de, P: Pairs> DeserializeSeed<'de> for Flat<'_, P> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_seq(self)
    }
}

impl<'de, P: Pairs> Visitor<'de> for Flat<'_, P> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of keys and values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(key) = list.next_element::<String>()? {
            self.0.pair(&key, &mut list)?;
        }
        Ok(())
    }
}

/// The value that follows a key.
fn value<'de, T: serde::Deserialize<'de>, A: SeqAccess<'de>>(list: &mut A) -> Result<T, A::Error> {
    list.next_element()?.ok_or_else(|| A::Error::custom("a key has no value"))
}

/// The value that follows a key, read in a way of its own.
fn seeded<'de, S: DeserializeSeed<'de>, A: SeqAccess<'de>>(
    list: &mut A,
    seed: S,
) -> Result<S::Value, A::Error> {
    list.next_element_seed(seed)?.ok_or_else(|| A::Error::custom("a key has no value"))
}

fn skip<'de, A: SeqAccess<'de>>(list: &mut A) -> Result<(), A::Error> {
    value::<IgnoredAny, A>(list).map(drop)
}

impl Pairs for GeoFile {
    fn pair<'de, A: SeqAccess<'de>>(&mut self, key: &str, list: &mut A) -> Result<(), A::Error> {
        match key {
            "fileversion" => self.version = Some(value(list)?),
            "pointcount" => self.points = value(list)?,
            "vertexcount" => self.vertices = value(list)?,
            "primitivecount" => self.primitives = value(list)?,
            "info" => self.info = value(list)?,
            "attributes" => {
                let mut attributes = Attributes { keep: self.keep, list: &mut self.attributes };
                return seeded(list, Flat(&mut attributes));
            }
            "topology" if !self.keep.is_empty() => {
                return seeded(list, Flat(&mut Indices(&mut self.indices)));
            }
            "primitives" if !self.keep.is_empty() => self.kinds = value(list)?,
            _ => return skip(list),
        }
        Ok(())
    }
}

/// The list of the points of vertices, a list within a list.
struct Indices<'a>(&'a mut Vec<u32>);

impl Pairs for Indices<'_> {
    fn pair<'de, A: SeqAccess<'de>>(&mut self, key: &str, list: &mut A) -> Result<(), A::Error> {
        match key {
            "pointref" => seeded(list, Flat(self)),
            "indices" => {
                *self.0 = value(list)?;
                Ok(())
            }
            _ => skip(list),
        }
    }
}

struct Attributes<'a> {
    keep: &'static [&'static str],
    list: &'a mut Vec<Attribute>,
}

impl Pairs for Attributes<'_> {
    fn pair<'de, A: SeqAccess<'de>>(&mut self, key: &str, list: &mut A) -> Result<(), A::Error> {
        let owner = match key {
            "pointattributes" => "point",
            "vertexattributes" => "vertex",
            "primitiveattributes" => "primitive",
            "globalattributes" => "detail",
            _ => return skip(list),
        };
        let keep = self.keep;
        seeded(list, Each(|| Attribute { owner, keep, ..Attribute::default() }, &mut *self.list))
    }
}

/// A list of attributes, each made of a definition and a body.
struct Each<'a, F>(F, &'a mut Vec<Attribute>);

impl<'de, F: Fn() -> Attribute> DeserializeSeed<'de> for Each<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_seq(self)
    }
}

impl<'de, F: Fn() -> Attribute> Visitor<'de> for Each<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of attributes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        loop {
            let mut attribute = self.0();
            if list.next_element_seed(Halves(&mut attribute))?.is_none() {
                return Ok(());
            }
            self.1.push(attribute);
        }
    }
}

struct Halves<'a>(&'a mut Attribute);

impl<'de> DeserializeSeed<'de> for Halves<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Halves<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an attribute's definition and body")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        seeded(&mut list, Flat(&mut *self.0))?;
        seeded(&mut list, Flat(&mut *self.0))?;
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

impl Pairs for Attribute {
    fn pair<'de, A: SeqAccess<'de>>(&mut self, key: &str, list: &mut A) -> Result<(), A::Error> {
        match key {
            "name" => {
                self.name = value(list)?;
                self.values.kept = self.keep.contains(&self.name.as_str()).then(Vec::new);
            }
            "size" => self.size = value(list)?,
            "storage" => self.storage = value(list)?,
            "values" => return seeded(list, Flat(&mut self.values)),
            _ => return skip(list),
        }
        Ok(())
    }
}

impl Pairs for Values {
    fn pair<'de, A: SeqAccess<'de>>(&mut self, key: &str, list: &mut A) -> Result<(), A::Error> {
        match key {
            "tuples" => seeded(list, Rows { values: self, row_is_element: true }),
            "arrays" => seeded(list, Rows { values: self, row_is_element: false }),
            _ => skip(list),
        }
    }
}

/// A list of lists of numbers: one list per element, or one per component.
struct Rows<'a> {
    values: &'a mut Values,
    row_is_element: bool,
}

impl<'de> DeserializeSeed<'de> for Rows<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Rows<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of lists of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let (mut rows, mut longest) = (0, 0);
        while let Some(length) = list.next_element_seed(Row {
            values: &mut *self.values,
            component: (!self.row_is_element).then_some(rows),
        })? {
            rows += 1;
            longest = length.max(longest);
        }
        self.values.count = Some(if self.row_is_element { rows } else { longest } as u64);
        Ok(())
    }
}

/// A list of numbers: of one component, or one number of each.
struct Row<'a> {
    values: &'a mut Values,
    component: Option<usize>,
}

impl<'de> DeserializeSeed<'de> for Row<'_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<usize, D::Error> {
        d.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Row<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<usize, A::Error> {
        let mut length = 0;
        while let Some(x) = list.next_element::<f64>()? {
            self.values.see(self.component.unwrap_or(length), x);
            length += 1;
        }
        Ok(length)
    }
}
