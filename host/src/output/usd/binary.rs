//! Layers in USD's binary form (`.usdc`, version 0.8), as far as the layers of frames need it.
//!
//! The file is a head, values, and six tables: tokens, strings, fields (a key and a value), sets of fields, paths, and specs (a
//! path with its set). A value is eight bytes: what it is, and itself or its place in the file. Tables must be compressed; they
//! are small, so they are stored in the compressed form without looking for what repeats. Arrays are stored as they are.
//!
//! The crate `openusd` writes version 0.12 alone, which Blender 4.2 refuses.

use super::super::OutputError;
use super::layer::{Layer, Prim, Property};
use super::value::Value;

/// Version of the form.
const VERSION: [u8; 8] = [0, 8, 0, 0, 0, 0, 0, 0];
/// Bytes of the head: mark, version, place of the table of contents, and what is left free.
const HEAD: usize = 88;
/// Ends a set of fields.
const END: u32 = u32::MAX;

/// Kinds of spec.
const ATTRIBUTE: u32 = 1;
const PRIM: u32 = 6;
const ROOT: u32 = 7;

/// Types of values.
const INT: u64 = 3;
const INT64: u64 = 5;
const FLOAT: u64 = 8;
const DOUBLE: u64 = 9;
const TOKEN: u64 = 11;
const QUATF: u64 = 17;
const VEC3D: u64 = 23;
const VEC3F: u64 = 24;
const TOKENS: u64 = 41;
const SPECIFIER: u64 = 42;
const VARIABILITY: u64 = 44;
const SAMPLES: u64 = 46;
const DOUBLES: u64 = 48;
/// The value is an array.
const ARRAY: u64 = 1 << 63;
/// The value itself is in the eight bytes.
const INLINE: u64 = 1 << 62;

/// The bytes of a layer; values that no layer of a frame holds are refused.
pub fn bytes(layer: &Layer) -> Result<Vec<u8>, OutputError> {
    let mut file = File { out: vec![0; HEAD], ..File::default() };
    // A property's name is marked by a negative number, so that the first token is nobody's name.
    file.token("");
    let root = &layer.root;
    let mut fields = vec![file.token_field("defaultPrim", &root.name)];
    for (key, value) in &layer.fields {
        let value = file.value(value)?;
        fields.push(file.field(key, value));
    }
    fields.push(file.names("primChildren", &[root.name.as_str()]));
    file.spec(ROOT, &fields);
    file.paths.push(Path { token: 0, jump: ONLY_CHILD });
    file.prim(root, false)?;
    Ok(file.finish())
}

/// A path, by its last name.
struct Path {
    /// Of its name; negative for properties.
    token: i32,
    /// What follows it.
    jump: i32,
}

/// What follows a path: neither child nor sibling, a child alone, a sibling at once. A positive number: a child, and a
/// sibling so many paths on.
const LEAF: i32 = -2;
const ONLY_CHILD: i32 = -1;
const ONLY_SIBLING: i32 = 0;

#[derive(Default)]
struct File {
    out: Vec<u8>,
    tokens: Vec<String>,
    /// Token and value.
    fields: Vec<(u32, u64)>,
    sets: Vec<u32>,
    /// In the order of specs.
    paths: Vec<Path>,
    /// Start of its set of fields, and kind.
    specs: Vec<(u32, u32)>,
}

impl File {
    fn token(&mut self, text: &str) -> u32 {
        let known = self.tokens.iter().position(|t| t == text);
        known.unwrap_or_else(|| {
            self.tokens.push(text.to_owned());
            self.tokens.len() - 1
        }) as u32
    }

    fn field(&mut self, key: &str, value: u64) -> u32 {
        let token = self.token(key);
        self.fields.push((token, value));
        self.fields.len() as u32 - 1
    }

    fn token_field(&mut self, key: &str, text: &str) -> u32 {
        let value = inline(TOKEN, u64::from(self.token(text)));
        self.field(key, value)
    }

    /// A field that lists names.
    fn names(&mut self, key: &str, names: &[&str]) -> u32 {
        let tokens: Vec<u32> = names.iter().map(|name| self.token(name)).collect();
        let at = self.place(tokens.len(), tokens.iter().flat_map(|t| t.to_le_bytes()));
        self.field(key, TOKENS << 48 | at)
    }

    fn spec(&mut self, kind: u32, fields: &[u32]) {
        self.specs.push((self.sets.len() as u32, kind));
        self.sets.extend(fields);
        self.sets.push(END);
    }

    fn prim(&mut self, prim: &Prim, has_sibling: bool) -> Result<(), OutputError> {
        let mut fields =
            vec![self.field("specifier", inline(SPECIFIER, u64::from(prim.type_name.is_none())))];
        fields.extend(prim.type_name.map(|name| self.token_field("typeName", name)));
        for (key, value) in &prim.fields {
            let value = self.value(value)?;
            fields.push(self.field(key, value));
        }
        let properties: Vec<&str> = prim.properties.iter().map(|p| p.name.as_str()).collect();
        if !properties.is_empty() {
            fields.push(self.names("properties", &properties));
        }
        let children: Vec<&str> = prim.children.iter().map(|c| c.name.as_str()).collect();
        if !children.is_empty() {
            fields.push(self.names("primChildren", &children));
        }
        self.spec(PRIM, &fields);
        let (own, token) = (self.paths.len(), self.token(&prim.name) as i32);
        self.paths.push(Path { token, jump: 0 });
        let last = properties.len() + children.len();
        for (n, property) in prim.properties.iter().enumerate() {
            self.property(property, n + 1 < last)?;
        }
        for (n, child) in prim.children.iter().enumerate() {
            self.prim(child, properties.len() + n + 1 < last)?;
        }
        self.paths[own].jump = match (last > 0, has_sibling) {
            (true, true) => (self.paths.len() - own) as i32,
            (true, false) => ONLY_CHILD,
            (false, sibling) => leaf(sibling),
        };
        Ok(())
    }

    fn property(&mut self, property: &Property, has_sibling: bool) -> Result<(), OutputError> {
        let Some(type_name) = property.type_name.filter(|_| property.target.is_none()) else {
            return Err(OutputError::new("a binary layer holds no relationships"));
        };
        let mut fields = vec![self.token_field("typeName", type_name)];
        if property.is_uniform {
            fields.push(self.field("variability", inline(VARIABILITY, 1)));
        }
        fields.extend(property.interpolation.map(|each| self.token_field("interpolation", each)));
        if let Some(value) = &property.value {
            let value = self.value(value)?;
            fields.push(self.field("default", value));
        }
        if !property.samples.is_empty() {
            let samples = self.samples(&property.samples)?;
            fields.push(self.field("timeSamples", samples));
        }
        self.spec(ATTRIBUTE, &fields);
        let token = -(self.token(&property.name) as i32);
        self.paths.push(Path { token, jump: leaf(has_sibling) });
        Ok(())
    }

    /// Appends a value; the eight bytes that stand for it.
    fn value(&mut self, value: &Value) -> Result<u64, OutputError> {
        fn flat<const N: usize>(values: &[[f32; N]]) -> impl Iterator<Item = u8> {
            values.as_flattened().iter().flat_map(|x| x.to_le_bytes())
        }
        Ok(match value {
            Value::Token(text) => inline(TOKEN, u64::from(self.token(text))),
            Value::Double(v) => DOUBLE << 48 | self.append(v.to_le_bytes()),
            Value::Double3(v) => VEC3D << 48 | self.append(v.iter().flat_map(|x| x.to_le_bytes())),
            Value::Quaternion(v) => QUATF << 48 | self.append(flat(&[*v])),
            Value::Ints(v) => self.array(INT, v.len(), v.iter().flat_map(|x| x.to_le_bytes())),
            Value::Longs(v) => self.array(INT64, v.len(), v.iter().flat_map(|x| x.to_le_bytes())),
            Value::Floats(v) => self.array(FLOAT, v.len(), v.iter().flat_map(|x| x.to_le_bytes())),
            Value::Vectors(v) => self.array(VEC3F, v.len(), flat(v)),
            other => {
                return Err(OutputError::new(format!("a binary layer holds no {}", other.type_name())));
            }
        })
    }

    fn array(&mut self, kind: u64, count: usize, bytes: impl Iterator<Item = u8>) -> u64 {
        ARRAY | kind << 48 | self.place(count, bytes)
    }

    /// Values by time. The form has two signposts: how far on the times are described, and how far on the values are.
    fn samples(&mut self, samples: &[(f64, Value)]) -> Result<u64, OutputError> {
        let values: Vec<u64> =
            samples.iter().map(|(_, value)| self.value(value)).collect::<Result<_, _>>()?;
        let times = self.place(samples.len(), samples.iter().flat_map(|(time, _)| time.to_le_bytes()));
        const NEXT: u64 = size_of::<u64>() as u64;
        let head = [NEXT, DOUBLES << 48 | times, NEXT, values.len() as u64];
        let at = self.append(head.iter().chain(&values).flat_map(|x| x.to_le_bytes()));
        Ok(SAMPLES << 48 | at)
    }

    /// Appends a number of elements and their bytes; says where.
    fn place(&mut self, count: usize, bytes: impl IntoIterator<Item = u8>) -> u64 {
        self.append((count as u64).to_le_bytes().into_iter().chain(bytes))
    }

    /// Appends bytes at a multiple of eight; says where.
    fn append(&mut self, bytes: impl IntoIterator<Item = u8>) -> u64 {
        self.out.resize(self.out.len().next_multiple_of(8), 0);
        let at = self.out.len();
        self.out.extend(bytes);
        at as u64
    }

    /// Appends the tables and the table of contents, and writes the head.
    fn finish(mut self) -> Vec<u8> {
        let names = ["TOKENS", "STRINGS", "FIELDS", "FIELDSETS", "PATHS", "SPECS"];
        let tables = [
            self.token_table(),
            0u64.to_le_bytes().to_vec(),
            self.field_table(),
            self.set_table(),
            self.path_table(),
            self.spec_table(),
        ];
        let mut contents = (names.len() as u64).to_le_bytes().to_vec();
        for (name, table) in names.into_iter().zip(tables) {
            let size = table.len() as u64;
            let at = self.append(table);
            let mut label = [0; 16];
            label[..name.len()].copy_from_slice(name.as_bytes());
            contents.extend(label);
            contents.extend([at, size].iter().flat_map(|x| x.to_le_bytes()));
        }
        let at = self.append(contents);
        self.out[..8].copy_from_slice(b"PXR-USDC");
        self.out[8..16].copy_from_slice(&VERSION);
        self.out[16..24].copy_from_slice(&at.to_le_bytes());
        self.out
    }

    fn token_table(&self) -> Vec<u8> {
        let text: Vec<u8> = self.tokens.iter().flat_map(|t| t.bytes().chain([0])).collect();
        [count(self.tokens.len()), count(text.len()), sized(&packed(&text))].concat()
    }

    fn field_table(&self) -> Vec<u8> {
        let values: Vec<u8> = self.fields.iter().flat_map(|f| f.1.to_le_bytes()).collect();
        let tokens = whole(self.fields.iter().map(|f| f.0 as i32));
        [count(self.fields.len()), sized(&tokens), sized(&packed(&values))].concat()
    }

    fn set_table(&self) -> Vec<u8> {
        [count(self.sets.len()), sized(&whole(self.sets.iter().map(|&s| s as i32)))].concat()
    }

    fn path_table(&self) -> Vec<u8> {
        let numbers = whole(0..self.paths.len() as i32);
        let tokens = whole(self.paths.iter().map(|p| p.token));
        let jumps = whole(self.paths.iter().map(|p| p.jump));
        let own = count(self.paths.len());
        [own.clone(), own, sized(&numbers), sized(&tokens), sized(&jumps)].concat()
    }

    fn spec_table(&self) -> Vec<u8> {
        let paths = whole(0..self.specs.len() as i32);
        let sets = whole(self.specs.iter().map(|s| s.0 as i32));
        let kinds = whole(self.specs.iter().map(|s| s.1 as i32));
        [count(self.specs.len()), sized(&paths), sized(&sets), sized(&kinds)].concat()
    }
}

fn inline(kind: u64, payload: u64) -> u64 {
    INLINE | kind << 48 | payload
}

fn leaf(has_sibling: bool) -> i32 {
    if has_sibling { ONLY_SIBLING } else { LEAF }
}

fn count(n: usize) -> Vec<u8> {
    (n as u64).to_le_bytes().to_vec()
}

/// Bytes behind their number.
fn sized(bytes: &[u8]) -> Vec<u8> {
    [&count(bytes.len()), bytes].concat()
}

/// Whole numbers in the form's own code: a common difference, two bits each that say in how many bytes the difference to the
/// one before stands, and these. Here all stand in four bytes.
fn whole(numbers: impl Iterator<Item = i32>) -> Vec<u8> {
    let numbers: Vec<i32> = numbers.collect();
    let mut out = 0i32.to_le_bytes().to_vec();
    out.resize(out.len() + numbers.len().div_ceil(4), 0xff);
    let before = [0].into_iter().chain(numbers.iter().copied());
    out.extend(numbers.iter().zip(before).flat_map(|(n, before)| n.wrapping_sub(before).to_le_bytes()));
    packed(&out)
}

/// Bytes as LZ4 stores those that do not repeat: one piece, of literals alone.
fn packed(bytes: &[u8]) -> Vec<u8> {
    const LONG: usize = 15;
    let mut out = vec![0, (bytes.len().min(LONG) as u8) << 4];
    if bytes.len() >= LONG {
        let rest = bytes.len() - LONG;
        out.extend(std::iter::repeat_n(255, rest / 255));
        out.push((rest % 255) as u8);
    }
    out.extend(bytes);
    out
}

#[cfg(test)]
mod tests {
    use super::super::value::token;
    use super::*;

    fn layer(value: Value) -> Layer {
        let points = Property::attribute("point3f[]", "points").at(vec![(3.0, value)]);
        Layer { fields: vec![("upAxis", token("Y"))], root: Prim::over("shot").has(points) }
    }

    #[test]
    fn arrays_are_in_the_file_as_they_are_and_the_same_layer_gives_the_same_bytes() {
        let points = vec![[1.5, -2.0, 3.25], [0.0, 7.0, 9.0]];
        let file = bytes(&layer(Value::Vectors(points.clone()))).unwrap();
        assert_eq!(file, bytes(&layer(Value::Vectors(points.clone()))).unwrap());
        assert_eq!((&file[..8], &file[8..16]), (&b"PXR-USDC"[..], &VERSION[..]));
        let own: Vec<u8> = points.as_flattened().iter().flat_map(|x: &f32| x.to_le_bytes()).collect();
        let at = file.windows(own.len()).position(|w| w == own).unwrap();
        assert_eq!((at % 8, &file[at - 8..at]), (0, &2u64.to_le_bytes()[..]));
        assert!(bytes(&layer(Value::Truth(true))).is_err());
    }

    #[test]
    fn bytes_are_packed_as_literals() {
        for n in [0, 14, 15, 16, 269, 270, 271, 600] {
            let bytes = vec![7; n];
            let out = packed(&bytes);
            assert_eq!(out[0], 0);
            let head = usize::from(out[1] >> 4);
            let more = out[2..].iter().take_while(|b| **b == 255).count();
            let (length, start) = match head {
                15 => (15 + 255 * more + usize::from(out[2 + more]), 3 + more),
                short => (short, 2),
            };
            assert_eq!((length, &out[start..]), (n, &bytes[..]));
        }
    }
}
