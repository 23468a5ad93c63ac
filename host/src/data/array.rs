//! Typed arrays: the one storage under grids, attributes and table columns.

/// The type of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// 32-bit float.
    F32,
    /// 64-bit float.
    F64,
    /// 32-bit signed integer.
    I32,
    /// 64-bit signed integer.
    I64,
    /// Byte.
    U8,
    /// 32-bit unsigned integer.
    U32,
    /// 64-bit unsigned integer.
    U64,
}

impl Element {
    /// Every element type, in the order of their codes in the C ABI and in checkpoints.
    pub const ALL: [Element; 7] =
        [Element::F32, Element::F64, Element::I32, Element::I64, Element::U8, Element::U32, Element::U64];

    /// Bytes of one element.
    pub fn size(self) -> usize {
        match self {
            Element::F32 | Element::I32 | Element::U32 => 4,
            Element::F64 | Element::I64 | Element::U64 => 8,
            Element::U8 => 1,
        }
    }

    /// Name as shown to people: `f32`, `i64`, …
    pub fn name(self) -> &'static str {
        match self {
            Element::F32 => "f32",
            Element::F64 => "f64",
            Element::I32 => "i32",
            Element::I64 => "i64",
            Element::U8 => "u8",
            Element::U32 => "u32",
            Element::U64 => "u64",
        }
    }
}

/// A contiguous array of one element type.
#[derive(Clone, Debug, PartialEq)]
pub enum Array {
    /// 32-bit floats.
    F32(Vec<f32>),
    /// 64-bit floats.
    F64(Vec<f64>),
    /// 32-bit signed integers.
    I32(Vec<i32>),
    /// 64-bit signed integers.
    I64(Vec<i64>),
    /// Bytes.
    U8(Vec<u8>),
    /// 32-bit unsigned integers.
    U32(Vec<u32>),
    /// 64-bit unsigned integers.
    U64(Vec<u64>),
}

macro_rules! each {
    ($array:expr, $v:ident => $body:expr) => {
        match $array {
            Array::F32($v) => $body,
            Array::F64($v) => $body,
            Array::I32($v) => $body,
            Array::I64($v) => $body,
            Array::U8($v) => $body,
            Array::U32($v) => $body,
            Array::U64($v) => $body,
        }
    };
}

impl Array {
    /// `len` zeros.
    pub fn zeros(element: Element, len: usize) -> Self {
        match element {
            Element::F32 => Array::F32(vec![0.0; len]),
            Element::F64 => Array::F64(vec![0.0; len]),
            Element::I32 => Array::I32(vec![0; len]),
            Element::I64 => Array::I64(vec![0; len]),
            Element::U8 => Array::U8(vec![0; len]),
            Element::U32 => Array::U32(vec![0; len]),
            Element::U64 => Array::U64(vec![0; len]),
        }
    }

    /// The element type.
    pub fn element(&self) -> Element {
        match self {
            Array::F32(_) => Element::F32,
            Array::F64(_) => Element::F64,
            Array::I32(_) => Element::I32,
            Array::I64(_) => Element::I64,
            Array::U8(_) => Element::U8,
            Array::U32(_) => Element::U32,
            Array::U64(_) => Element::U64,
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        each!(self, v => v.len())
    }

    /// True when there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.len() * self.element().size()
    }

    /// Element `i` as f64, or `None` past the end (i64 beyond 2⁵³ rounds).
    pub fn get(&self, i: usize) -> Option<f64> {
        #[allow(clippy::unnecessary_cast)]
        {
            each!(self, v => v.get(i).map(|&x| x as f64))
        }
    }

    /// The values when they are f32.
    pub fn as_f32(&self) -> Option<&[f32]> {
        if let Array::F32(v) = self { Some(v) } else { None }
    }

    /// The values when they are f64.
    pub fn as_f64(&self) -> Option<&[f64]> {
        if let Array::F64(v) = self { Some(v) } else { None }
    }

    /// The values when they are i64.
    pub fn as_i64(&self) -> Option<&[i64]> {
        if let Array::I64(v) = self { Some(v) } else { None }
    }

    /// The values when they are bytes.
    pub fn as_u8(&self) -> Option<&[u8]> {
        if let Array::U8(v) = self { Some(v) } else { None }
    }

    /// Cuts or zero-extends to `len` elements.
    pub fn resize(&mut self, len: usize) {
        match self {
            Array::F32(v) => v.resize(len, 0.0),
            Array::F64(v) => v.resize(len, 0.0),
            Array::I32(v) => v.resize(len, 0),
            Array::I64(v) => v.resize(len, 0),
            Array::U8(v) => v.resize(len, 0),
            Array::U32(v) => v.resize(len, 0),
            Array::U64(v) => v.resize(len, 0),
        }
    }

    /// Makes room for so many elements; false where there is none.
    pub fn try_reserve(&mut self, len: usize) -> bool {
        crate::process::trying(|| each!(self, v => v.try_reserve_exact(len).is_ok()))
    }

    /// Index of the first element that is NaN or infinite.
    pub fn first_non_finite(&self) -> Option<usize> {
        /// Values compared at once: a search that may end at any value compares one by one.
        const BATCH: usize = 512;
        macro_rules! search {
            ($v:expr) => {
                $v.chunks(BATCH).enumerate().find_map(|(n, batch)| {
                    let sound = batch.iter().fold(true, |sound, x| sound & x.is_finite());
                    if sound {
                        return None;
                    }
                    batch.iter().position(|x| !x.is_finite()).map(|at| n * BATCH + at)
                })
            };
        }
        match self {
            Array::F32(v) => search!(v),
            Array::F64(v) => search!(v),
            _ => None,
        }
    }

    /// Address of the first element, for views handed over the C ABI.
    pub fn as_ptr(&self) -> *const u8 {
        each!(self, v => v.as_ptr().cast())
    }

    /// Address of the first element, for outputs a plugin writes in place.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        each!(self, v => v.as_mut_ptr().cast())
    }

    /// The elements as this machine keeps them.
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: plain numbers without padding, all of them initialised.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.bytes()) }
    }

    /// Appends the elements as little-endian bytes.
    pub fn write_le(&self, out: &mut Vec<u8>) {
        self.write_le_of(0..self.len(), out);
    }

    /// Appends some of the elements as little-endian bytes; nothing for a range that is not all there.
    pub fn write_le_of(&self, range: std::ops::Range<usize>, out: &mut Vec<u8>) {
        fn append<T: Copy, const N: usize>(values: &[T], out: &mut Vec<u8>, bytes: impl Fn(T) -> [u8; N]) {
            let first = out.len();
            out.resize(first + values.len() * N, 0);
            let places = out[first..].as_chunks_mut::<N>().0;
            places.iter_mut().zip(values).for_each(|(to, x)| *to = bytes(*x));
        }
        each!(self, v => append(v.get(range).unwrap_or_default(), out, |x| x.to_le_bytes()));
    }

    /// Reads elements from little-endian bytes; a trailing partial element is left out.
    pub fn read_le(element: Element, bytes: &[u8]) -> Self {
        macro_rules! read {
            ($variant:ident, $t:ty) => {
                Array::$variant(
                    bytes
                        .chunks_exact(size_of::<$t>())
                        .map(|c| <$t>::from_le_bytes(c.try_into().unwrap_or_default()))
                        .collect(),
                )
            };
        }
        match element {
            Element::F32 => read!(F32, f32),
            Element::F64 => read!(F64, f64),
            Element::I32 => read!(I32, i32),
            Element::I64 => read!(I64, i64),
            Element::U8 => Array::U8(bytes.to_vec()),
            Element::U32 => read!(U32, u32),
            Element::U64 => read!(U64, u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_endian_bytes_round_trip() {
        for a in [
            Array::F32(vec![1.5, -0.0, f32::MIN_POSITIVE]),
            Array::F64(vec![1.0 / 3.0]),
            Array::I32(vec![-7, i32::MAX]),
            Array::I64(vec![i64::MIN]),
            Array::U8(vec![0, 255]),
            Array::U32(vec![u32::MAX]),
            Array::U64(vec![u64::MAX]),
        ] {
            let mut bytes = Vec::new();
            a.write_le(&mut bytes);
            assert_eq!(bytes.len(), a.bytes());
            assert_eq!(Array::read_le(a.element(), &bytes), a);
        }
    }

    #[test]
    fn the_first_non_finite_value_is_found() {
        assert_eq!(Array::F32(vec![0.0, f32::NAN]).first_non_finite(), Some(1));
        assert_eq!(Array::F64(vec![0.0, f64::INFINITY]).first_non_finite(), Some(1));
        assert_eq!(Array::I32(vec![i32::MAX]).first_non_finite(), None);
    }
}
