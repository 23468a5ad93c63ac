//! Converts the ABI's codes to the host's types, and back.

use crate::data::{Array, Element, Meaning, Owner, Sampling};
use meniscus_abi as abi;

pub(super) fn element_code(e: Element) -> abi::Element {
    match e {
        Element::F32 => abi::Element::F32,
        Element::F64 => abi::Element::F64,
        Element::I32 => abi::Element::I32,
        Element::I64 => abi::Element::I64,
        Element::U8 => abi::Element::U8,
        Element::U32 => abi::Element::U32,
        Element::U64 => abi::Element::U64,
    }
}

pub(super) fn element(code: abi::Element) -> Result<Element, String> {
    crate::loader::element(code).ok_or_else(|| format!("element type {} is unknown", code.0))
}

pub(super) fn sampling_code(s: Sampling) -> abi::Sampling {
    match s {
        Sampling::Centre => abi::Sampling::CENTER,
        Sampling::Face => abi::Sampling::FACE,
        Sampling::Node => abi::Sampling::NODE,
    }
}

pub(super) fn owner_code(o: Owner) -> abi::On {
    match o {
        Owner::Point => abi::On::POINTS,
        Owner::Vertex => abi::On::VERTICES,
        Owner::Primitive => abi::On::PRIMITIVES,
        Owner::Detail => abi::On::DETAIL,
    }
}

pub(super) fn owner(code: abi::On) -> Result<Owner, String> {
    let place = usize::try_from(code.0).ok();
    place
        .and_then(|i| Owner::ALL.get(i))
        .copied()
        .ok_or_else(|| format!("attribute owner {} is unknown", code.0))
}

pub(super) fn meaning_code(m: Meaning) -> abi::Meaning {
    match m {
        Meaning::Plain => abi::Meaning::PLAIN,
        Meaning::Position => abi::Meaning::POSITION,
        Meaning::Vector => abi::Meaning::VECTOR,
        Meaning::Normal => abi::Meaning::NORMAL,
        Meaning::Colour => abi::Meaning::COLOR,
        Meaning::Quaternion => abi::Meaning::QUATERNION,
    }
}

pub(super) fn meaning(code: abi::Meaning) -> Meaning {
    match code {
        abi::Meaning::POSITION => Meaning::Position,
        abi::Meaning::VECTOR => Meaning::Vector,
        abi::Meaning::NORMAL => Meaning::Normal,
        abi::Meaning::COLOR => Meaning::Colour,
        abi::Meaning::QUATERNION => Meaning::Quaternion,
        _ => Meaning::Plain,
    }
}

/// An empty array that has room for `len` values, or a sentence when there is none.
pub(super) fn room(element: Element, len: u64) -> Result<Array, String> {
    let no_room = || format!("there is no memory for {len} values of {}", element.name());
    let mut array = Array::zeros(element, 0);
    let reserved = usize::try_from(len).is_ok_and(|len| array.try_reserve(len));
    if reserved { Ok(array) } else { Err(no_room()) }
}

/// An array of `len` times `value`, or a sentence when there is no room for it.
pub(super) fn filled(element: Element, len: u64, value: f64) -> Result<Array, String> {
    let no_room = || format!("there is no memory for {len} values of {}", element.name());
    let len = usize::try_from(len).map_err(|_| no_room())?;
    macro_rules! fill {
        ($variant:ident, $t:ty) => {{
            let mut v: Vec<$t> = Vec::new();
            crate::process::trying(|| v.try_reserve_exact(len)).map_err(|_| no_room())?;
            if value.to_bits() == 0 {
                // The memory is available. Zeroed memory is not touched before it is written to.
                drop(v);
                return Ok(Array::$variant(vec![0 as $t; len]));
            }
            v.resize(len, value as $t);
            Ok(Array::$variant(v))
        }};
    }
    match element {
        Element::F32 => fill!(F32, f32),
        Element::F64 => fill!(F64, f64),
        Element::I32 => fill!(I32, i32),
        Element::I64 => fill!(I64, i64),
        Element::U8 => fill!(U8, u8),
        Element::U32 => fill!(U32, u32),
        Element::U64 => fill!(U64, u64),
    }
}
