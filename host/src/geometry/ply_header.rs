//! The header of a PLY file.

/// How the body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Ascii,
    LittleEndian,
    BigEndian,
}

/// The type of a number in the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Scalar {
    fn named(name: &str) -> Result<Self, String> {
        Ok(match name {
            "char" | "int8" => Scalar::I8,
            "uchar" | "uint8" => Scalar::U8,
            "short" | "int16" => Scalar::I16,
            "ushort" | "uint16" => Scalar::U16,
            "int" | "int32" => Scalar::I32,
            "uint" | "uint32" => Scalar::U32,
            "float" | "float32" => Scalar::F32,
            "double" | "float64" => Scalar::F64,
            other => {
                return Err(format!(
                    "`{}` is no PLY number type",
                    other.chars().take(40).collect::<String>()
                ));
            }
        })
    }

    pub(super) fn size(self) -> usize {
        match self {
            Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::F64 => 8,
        }
    }
}

/// A property of an element: a number, or a list with the type of its length.
#[derive(Clone, Debug)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) length: Option<Scalar>,
    pub(super) scalar: Scalar,
}

/// A kind of thing in the body, such as `vertex`.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) count: usize,
    pub(super) properties: Vec<Property>,
}

/// What the body holds, and where it starts.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub(super) format: Format,
    pub(super) elements: Vec<Element>,
    pub(super) body: usize,
}

/// Reads the header.
pub(super) fn read(bytes: &[u8]) -> Result<Header, String> {
    let mut header = Header { format: Format::Ascii, elements: Vec::new(), body: 0 };
    let mut format = None;
    for number in 1usize.. {
        let rest = bytes.get(header.body..).unwrap_or(&[]);
        let Some(end) = rest.iter().position(|&b| b == b'\n') else {
            return Err("the file ends inside its header (no `end_header`)".into());
        };
        header.body += end + 1;
        let line = String::from_utf8_lossy(&rest[..end]);
        let words: Vec<&str> = line.split_whitespace().collect();
        let wrong = |e: String| format!("header line {number}: {e}");
        match (number, words.as_slice()) {
            (1, ["ply"]) => {}
            (1, _) => return Err("the first line is not `ply`: this is no PLY file".into()),
            (_, ["end_header"]) => break,
            (_, ["format", name, _]) => format = Some(named_format(name).map_err(wrong)?),
            (_, ["element", name, count]) => header.elements.push(Element {
                name: (*name).to_owned(),
                count: count.parse().map_err(|_| wrong(format!("`{count}` is not a count")))?,
                properties: Vec::new(),
            }),
            (_, ["property", "list", length, scalar, name]) => {
                let length = Some(Scalar::named(length).map_err(wrong)?);
                add(&mut header, name, length, scalar).map_err(wrong)?;
            }
            (_, ["property", scalar, name]) => add(&mut header, name, None, scalar).map_err(wrong)?,
            (_, ["comment" | "obj_info", ..] | []) => {}
            (_, [other, ..]) => {
                return Err(wrong(format!(
                    "`{}` is not understood",
                    other.chars().take(40).collect::<String>()
                )));
            }
        }
    }
    header.format = format.ok_or("the header names no format")?;
    Ok(header)
}

fn named_format(name: &str) -> Result<Format, String> {
    match name {
        "ascii" => Ok(Format::Ascii),
        "binary_little_endian" => Ok(Format::LittleEndian),
        "binary_big_endian" => Ok(Format::BigEndian),
        _ => Err("the format is none of ascii, binary_little_endian, binary_big_endian".into()),
    }
}

fn add(header: &mut Header, name: &str, length: Option<Scalar>, scalar: &str) -> Result<(), String> {
    let element = header.elements.last_mut().ok_or("a property stands before any element")?;
    if element.properties.len() >= 1000 {
        return Err("an element has more than 1000 properties".into());
    }
    element.properties.push(Property { name: name.to_owned(), length, scalar: Scalar::named(scalar)? });
    Ok(())
}
