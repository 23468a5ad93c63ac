//! Grids to be written or drawn: views of leaf pools that the caller owns.

use crate::Error;
use crate::ffi::{MvGrid, MvMeta, MvTile};
use std::ffi::{CString, c_void};

/// Voxels in a leaf.
pub const LEAF_SIZE: usize = 512;
/// 64-bit words of a leaf's active mask; bit `n & 63` of word `n >> 6` belongs to voxel `n`.
pub const MASK_WORDS: usize = 8;

/// What a grid means to the programs that open it (OpenVDB's `class` metadata).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Nothing said.
    Unknown,
    /// Signed distance in metres, negative inside.
    LevelSet,
    /// A density-like quantity, 0 outside.
    FogVolume,
    /// A vector whose component c sits on the lower face of axis c.
    Staggered,
}

/// Voxel values in leaf order `[leaf][512]`.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// One float a voxel.
    Float(&'a [f32]),
    /// Three floats a voxel, one slice per component.
    Vector([&'a [f32]; 3]),
    /// Three floats a voxel, `[leaf][512][3]`.
    Interleaved(&'a [f32]),
    /// One integer a voxel.
    Int(&'a [i32]),
}

/// A constant box of voxels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tile {
    /// Lowest voxel, a multiple of the width.
    pub origin: [i32; 3],
    /// Width in voxels: 8, 128 or 4096.
    pub width: i32,
    /// Whether its voxels count as active.
    pub active: bool,
    /// The value; scalars use the first entry.
    pub value: [f64; 3],
}

/// A metadata value.
#[derive(Clone, Debug, PartialEq)]
pub enum Meta {
    /// Text.
    Text(String),
    /// `float`.
    Float(f32),
    /// `double`.
    Double(f64),
    /// `int64`.
    Int(i64),
    /// `bool`; such names begin with `is_`.
    Bool(bool),
}

/// A grid to write or to draw.
#[derive(Clone, Debug)]
pub struct GridOut<'a> {
    /// Name, unique in its file.
    pub name: &'a str,
    /// What it means.
    pub class: Class,
    /// Index-to-world matrix, row-major, acting on row vectors; metres.
    pub transform: [f64; 16],
    /// Value outside leaves and tiles; scalars use the first entry.
    pub background: [f64; 3],
    /// Lowest voxel of every leaf, multiples of 8.
    pub origins: &'a [[i32; 3]],
    /// Active voxels; `None`: all, or for a level set those with |value| < background.
    pub masks: Option<&'a [[u64; MASK_WORDS]]>,
    /// The values.
    pub values: Values<'a>,
    /// Constant boxes outside the leaves.
    pub tiles: &'a [Tile],
    /// Store 16-bit floats.
    pub half: bool,
    /// Level sets: give everything beyond the band the sign of its side, from the voxels' signs.
    pub flood: bool,
    /// OpenVDB's name of how vectors transform, e.g. `contravariant relative`.
    pub vector_type: Option<&'a str>,
    /// Further metadata.
    pub metadata: &'a [(&'a str, Meta)],
}

/// C strings and tables that a raw grid description points into.
pub(crate) struct Keep {
    _name: CString,
    _vector_type: Option<CString>,
    _tiles: Vec<MvTile>,
    _meta: MetaTable,
}

/// Metadata in the shim's form.
pub(crate) struct MetaTable {
    pub entries: Vec<MvMeta>,
    _strings: Vec<CString>,
}

fn c_string(text: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error::Input(format!("{text:?} contains a zero byte")))
}

impl MetaTable {
    pub fn new(metadata: &[(&str, Meta)]) -> Result<Self, Error> {
        let mut strings = Vec::new();
        let mut entries = Vec::with_capacity(metadata.len());
        for (key, value) in metadata {
            let key = c_string(key)?;
            let (kind, number, text) = match value {
                Meta::Text(t) => (0, 0.0, Some(c_string(t)?)),
                Meta::Float(v) => (1, f64::from(*v), None),
                Meta::Int(v) => (2, *v as f64, None),
                Meta::Bool(v) => (3, f64::from(u8::from(*v)), None),
                Meta::Double(v) => (4, *v, None),
            };
            entries.push(MvMeta {
                key: key.as_ptr(),
                text: text.as_ref().map_or(std::ptr::null(), |t| t.as_ptr()),
                number,
                kind,
            });
            strings.push(key);
            strings.extend(text);
        }
        Ok(Self { entries, _strings: strings })
    }
}

impl GridOut<'_> {
    /// The shim's view of this grid; valid while `self` and the returned [`Keep`] live.
    pub(crate) fn raw(&self) -> Result<(MvGrid, Keep), Error> {
        self.check()?;
        let none = std::ptr::null::<c_void>();
        let (element, values, stride) = match self.values {
            Values::Float(v) => (0, [v.as_ptr().cast(), none, none], 1),
            Values::Vector(v) => (1, v.map(|c| c.as_ptr().cast()), 1),
            Values::Interleaved(v) => {
                let component = |c: usize| v.get(c..).map_or(none, |s| s.as_ptr().cast());
                (1, [component(0), component(1), component(2)], 3)
            }
            Values::Int(v) => (2, [v.as_ptr().cast(), none, none], 1),
        };
        let tiles: Vec<MvTile> = self.tiles.iter().map(raw_tile).collect::<Result<_, _>>()?;
        let name = c_string(self.name)?;
        let vector_type = self.vector_type.map(c_string).transpose()?;
        let meta = MetaTable::new(self.metadata)?;
        let raw = MvGrid {
            name: name.as_ptr(),
            element,
            class: self.class as i32,
            half: i32::from(self.half),
            flood: i32::from(self.flood),
            transform: self.transform,
            background: self.background,
            origins: self.origins.as_ptr().cast(),
            masks: self.masks.map_or(std::ptr::null(), |m| m.as_ptr().cast()),
            values,
            stride,
            leaves: self.origins.len(),
            tiles: tiles.as_ptr(),
            tile_count: tiles.len(),
            vector_type: vector_type.as_ref().map_or(std::ptr::null(), |v| v.as_ptr()),
            meta: meta.entries.as_ptr(),
            meta_count: meta.entries.len(),
        };
        Ok((raw, Keep { _name: name, _vector_type: vector_type, _tiles: tiles, _meta: meta }))
    }

    /// Lengths and numbers that must hold before the shim may read the pointers.
    fn check(&self) -> Result<(), Error> {
        let voxels = self.origins.len() * LEAF_SIZE;
        let fits = match self.values {
            Values::Float(v) => v.len() == voxels,
            Values::Vector(v) => v.iter().all(|c| c.len() == voxels),
            Values::Interleaved(v) => v.len() == 3 * voxels,
            Values::Int(v) => v.len() == voxels,
        };
        let bad = |what: &str| Err(Error::Input(format!("grid {}: {what}", self.name)));
        if !fits {
            return bad("the number of values differs from 512 per leaf");
        }
        if self.masks.is_some_and(|m| m.len() != self.origins.len()) {
            return bad("the number of masks differs from the number of leaves");
        }
        if self.origins.iter().flatten().any(|c| c & 7 != 0) {
            return bad("a leaf origin is not a multiple of 8");
        }
        if self.transform.iter().any(|v| !v.is_finite()) || self.determinant() == 0.0 {
            return bad("the index-to-world transform is singular or not finite");
        }
        if self.class == Class::LevelSet && !(self.background[0] > 0.0 && self.background[0].is_finite()) {
            return bad("a level set needs a positive background");
        }
        Ok(())
    }

    fn determinant(&self) -> f64 {
        let m = &self.transform;
        m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8])
            + m[2] * (m[4] * m[9] - m[5] * m[8])
    }
}

fn raw_tile(tile: &Tile) -> Result<MvTile, Error> {
    let level = match tile.width {
        8 => 1,
        128 => 2,
        4096 => 3,
        w => return Err(Error::Input(format!("a tile is {w} voxels wide; it must be 8, 128 or 4096"))),
    };
    Ok(MvTile { origin: tile.origin, level, active: i32::from(tile.active), value: tile.value })
}
