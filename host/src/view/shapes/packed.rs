//! How shapes travel: `MNSV`, version, length of the description (each 4 bytes, little-endian), the description (JSON,
//! filled up with blanks to 4 bytes), then arrays of 32-bit numbers.

use serde_json::{Value as Json, json};

const MAGIC: &[u8; 4] = b"MNSV";
const VERSION: u32 = 1;

/// Shapes on their way.
#[derive(Debug, Default)]
pub struct Packed {
    shapes: Vec<Json>,
    data: Vec<u8>,
}

impl Packed {
    /// Appends numbers, and says where they are.
    pub fn floats(&mut self, values: &[f32]) -> Json {
        let at = self.data.len();
        self.data.extend(values.iter().flat_map(|v| v.to_le_bytes()));
        json!({ "at": at, "count": values.len() })
    }

    /// Appends whole numbers, and says where they are.
    pub fn indices(&mut self, values: &[u32]) -> Json {
        let at = self.data.len();
        self.data.extend(values.iter().flat_map(|v| v.to_le_bytes()));
        json!({ "at": at, "count": values.len() })
    }

    /// Adds a shape.
    pub fn shape(&mut self, shape: Json) {
        self.shapes.push(shape);
    }

    /// The bytes.
    pub fn bytes(self) -> Vec<u8> {
        with_description(&json!({ "shapes": self.shapes }), &self.data)
    }

    /// The bytes of an answer without shapes.
    pub fn refusal(self, why: &str) -> Vec<u8> {
        with_description(
            &json!({ "shapes": [], "error": crate::text::one_line(why, crate::text::SENTENCE) }),
            &[],
        )
    }
}

fn with_description(description: &Json, data: &[u8]) -> Vec<u8> {
    let mut text = description.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    [MAGIC.as_slice(), &VERSION.to_le_bytes(), &length.to_le_bytes(), &text, data].concat()
}

/// Whether the bytes are a whole answer, as far as they say.
pub fn is_whole(bytes: &[u8]) -> bool {
    let length = |at: usize| bytes.get(at..at + 4).and_then(|b| Some(u32::from_le_bytes(b.try_into().ok()?)));
    let description = || bytes.get(12..12 + length(8)? as usize);
    bytes.starts_with(MAGIC) && description().is_some_and(|d| serde_json::from_slice::<Json>(d).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_where_it_says() {
        let mut packed = Packed::default();
        let (a, b) = (packed.floats(&[1.5, -2.0]), packed.indices(&[7]));
        packed.shape(json!({ "a": a, "b": b }));
        let bytes = packed.bytes();
        assert!(is_whole(&bytes) && !is_whole(&bytes[..20]) && !is_whole(b"") && !is_whole(&bytes[1..]));
        let length = u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize;
        let description: Json = serde_json::from_slice(&bytes[12..12 + length]).unwrap();
        let shape = &description["shapes"][0];
        assert_eq!(length % 4, 0);
        let data = &bytes[12 + length..];
        assert_eq!((shape["a"]["at"].as_u64(), shape["b"]["at"].as_u64()), (Some(0), Some(8)));
        assert_eq!(data[4..8], (-2.0f32).to_le_bytes());
        assert_eq!(data[8..], 7u32.to_le_bytes());
        assert!(is_whole(&Packed::default().refusal("no \"such\" file")));
    }
}
