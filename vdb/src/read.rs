//! Reading `.vdb` files back: facts, values and checks.

use crate::error::checked;
use crate::ffi::{self, MvFile, MvInfo, MvStats, MvTile};
use crate::grid::{LEAF_SIZE, MASK_WORDS};
use crate::{Class, Error, Tile, outline};
use std::ffi::{CStr, CString, c_char};
use std::path::{Path, PathBuf};

/// Element type of a grid in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// `float`.
    Float,
    /// `vec3s`.
    Vector,
    /// `int32`.
    Int,
    /// Anything else: its facts can be listed, its values not read.
    Other,
}

/// A metadata entry as OpenVDB prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name.
    pub key: String,
    /// OpenVDB's name of the value's type, e.g. `string`, `float`, `vec3i`.
    pub type_name: String,
    /// The value as text.
    pub value: String,
}

/// Facts about a grid in a file.
#[derive(Clone, Debug)]
pub struct Info {
    /// Name.
    pub name: String,
    /// OpenVDB's name of the element type, e.g. `float`, `vec3s`.
    pub value_type: String,
    /// Element type.
    pub element: Element,
    /// What it means.
    pub class: Class,
    /// Stored in 16-bit floats.
    pub half: bool,
    /// Index-to-world matrix, row-major, row vectors.
    pub transform: [f64; 16],
    /// Value outside leaves and tiles (first entry for scalars).
    pub background: [f64; 3],
    /// Active voxels, those of active tiles included.
    pub active_voxels: u64,
    /// Leaves.
    pub leaves: u64,
    /// Tiles that are active or differ from the background.
    pub tiles: u64,
    /// Bytes in memory.
    pub memory_bytes: u64,
    /// Lowest and highest active voxel, both included.
    pub bounds: Option<([i32; 3], [i32; 3])>,
    /// Metadata, by name.
    pub metadata: Vec<Entry>,
}

impl Info {
    /// Edge length of a voxel along each index axis, metres.
    pub fn voxel_size(&self) -> [f64; 3] {
        std::array::from_fn(|r| {
            let row = &self.transform[4 * r..4 * r + 3];
            row.iter().map(|v| v * v).sum::<f64>().sqrt()
        })
    }

    /// A metadata value as text.
    pub fn meta(&self, key: &str) -> Option<&str> {
        self.metadata.iter().find(|e| e.key == key).map(|e| e.value.as_str())
    }
}

/// Values read from a grid.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// `[leaf][512]`.
    Float(Vec<f32>),
    /// `[leaf][512]`.
    Vector(Vec<[f32; 3]>),
    /// `[leaf][512]`.
    Int(Vec<i32>),
}

/// Leaves and tiles read from a grid.
#[derive(Clone, Debug)]
pub struct Leaves {
    /// Lowest voxel of every leaf.
    pub origins: Vec<[i32; 3]>,
    /// Active voxels of every leaf.
    pub masks: Vec<[u64; MASK_WORDS]>,
    /// Voxel values.
    pub data: Data,
    /// Tiles that are active or differ from the background.
    pub tiles: Vec<Tile>,
}

impl Leaves {
    /// Leaf number and offset of a voxel, when its leaf is there.
    pub fn slot(&self, ijk: [i32; 3]) -> Option<usize> {
        let origin = ijk.map(|c| c & !7);
        let leaf = self.origins.iter().position(|o| *o == origin)?;
        Some(leaf * LEAF_SIZE + ((ijk[0] & 7) << 6 | (ijk[1] & 7) << 3 | (ijk[2] & 7)) as usize)
    }

    /// The tile that covers a voxel.
    pub fn tile(&self, ijk: [i32; 3]) -> Option<&Tile> {
        self.tiles.iter().find(|t| (0..3).all(|c| (t.origin[c]..t.origin[c] + t.width).contains(&ijk[c])))
    }
}

/// Checks over every voxel of a grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// Voxels with a NaN or infinite component.
    pub non_finite: u64,
    /// Smallest active value (length for vectors).
    pub minimum: f64,
    /// Largest active value (length for vectors).
    pub maximum: f64,
    /// Only for float grids of class level set.
    pub level_set: Option<LevelSetCheck>,
}

/// Whether a level set is a signed distance with correct sides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LevelSetCheck {
    /// Voxels within one voxel of the surface over which the gradient was taken.
    pub samples: u64,
    /// Smallest |∇φ|, central differences.
    pub gradient_min: f64,
    /// Mean |∇φ|.
    pub gradient_mean: f64,
    /// Largest |∇φ|.
    pub gradient_max: f64,
    /// Inactive neighbours of active voxels that read the other sign: the inside was not filled.
    pub wrong_sign: u64,
    /// Active voxels with |φ| above the background.
    pub beyond_band: u64,
}

/// An open `.vdb` file.
pub struct File {
    raw: *mut MvFile,
    path: PathBuf,
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: `raw` came from mv_open and is closed only here.
        unsafe { ffi::mv_close(self.raw) }
    }
}

/// Reads a file with all its values. A file of this crate is read only if it is unchanged. For a file of another
/// program, the lengths in its header are checked. Other damage may crash OpenVDB, so files from unknown sources should
/// be read in a separate process.
pub fn open(path: &Path) -> Result<File, Error> {
    outline(path)?;
    let c_path = CString::new(path.as_os_str().as_encoded_bytes())
        .map_err(|_| Error::Input(format!("{} contains a zero byte", path.display())))?;
    let mut raw = std::ptr::null_mut();
    // SAFETY: `c_path` outlives the call and `raw` is written only on success.
    checked(|error| unsafe { ffi::mv_open(c_path.as_ptr(), &mut raw, error) })
        .map_err(|reason| Error::Damaged { path: path.to_path_buf(), reason })?;
    Ok(File { raw, path: path.to_path_buf() })
}

/// Copies a C string of the shim.
///
/// # Safety
/// `text` is null or a live zero-terminated string.
unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: by the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

impl File {
    /// Number of grids.
    pub fn len(&self) -> usize {
        // SAFETY: `raw` is live.
        unsafe { ffi::mv_grid_count(self.raw) }
    }

    /// True when the file holds no grid.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Metadata of the file.
    pub fn metadata(&self) -> Vec<Entry> {
        self.entries(usize::MAX)
    }

    /// Facts about every grid, in file order.
    pub fn grids(&self) -> Result<Vec<Info>, Error> {
        (0..self.len()).map(|g| self.info(g)).collect()
    }

    /// Facts about grid number `grid`.
    pub fn info(&self, grid: usize) -> Result<Info, Error> {
        // SAFETY: an all-zero MvInfo is valid (null pointers, zeros).
        let mut raw: MvInfo = unsafe { std::mem::zeroed() };
        // SAFETY: `raw` outlives the call; the shim checks the grid number.
        self.call(|error| unsafe { ffi::mv_grid_info(self.raw, grid, &mut raw, error) })?;
        let b = raw.bounds;
        Ok(Info {
            // SAFETY: both strings live as long as the file.
            name: unsafe { text(raw.name) },
            // SAFETY: as above.
            value_type: unsafe { text(raw.value_type) },
            element: match raw.element {
                0 => Element::Float,
                1 => Element::Vector,
                2 => Element::Int,
                _ => Element::Other,
            },
            class: match raw.class {
                1 => Class::LevelSet,
                2 => Class::FogVolume,
                3 => Class::Staggered,
                _ => Class::Unknown,
            },
            half: raw.half != 0,
            transform: raw.transform,
            background: raw.background,
            active_voxels: raw.active_voxels,
            leaves: raw.leaves,
            tiles: raw.tiles,
            memory_bytes: raw.memory_bytes,
            bounds: (raw.has_bounds != 0).then_some(([b[0], b[1], b[2]], [b[3], b[4], b[5]])),
            metadata: self.entries(grid),
        })
    }

    /// Number of the grid of that name.
    pub fn find(&self, name: &str) -> Result<usize, Error> {
        let grids = self.grids()?;
        grids.iter().position(|g| g.name == name).ok_or_else(|| {
            let names: Vec<&str> = grids.iter().map(|g| g.name.as_str()).collect();
            Error::Input(format!(
                "{} has no grid named {name}; it has {}",
                self.path.display(),
                names.join(", ")
            ))
        })
    }

    /// Leaves and tiles of grid number `grid`.
    pub fn leaves(&self, grid: usize) -> Result<Leaves, Error> {
        let info = self.info(grid)?;
        let n = info.leaves as usize;
        let mut origins = vec![[0i32; 3]; n];
        let mut masks = vec![[0u64; MASK_WORDS]; n];
        let mut data = match info.element {
            Element::Float => Data::Float(vec![0.0; n * LEAF_SIZE]),
            Element::Vector => Data::Vector(vec![[0.0; 3]; n * LEAF_SIZE]),
            Element::Int => Data::Int(vec![0; n * LEAF_SIZE]),
            Element::Other => {
                let what = format!("grid {} has element type {}", info.name, info.value_type);
                return Err(Error::Input(what));
            }
        };
        let values = match &mut data {
            Data::Float(v) => v.as_mut_ptr().cast(),
            Data::Vector(v) => v.as_mut_ptr().cast(),
            Data::Int(v) => v.as_mut_ptr().cast(),
        };
        let (o, m) = (origins.as_mut_ptr().cast(), masks.as_mut_ptr().cast());
        // SAFETY: the arrays hold exactly the leaf count the shim reported.
        self.call(|error| unsafe { ffi::mv_read_leaves(self.raw, grid, o, m, values, error) })?;
        let mut raw = vec![MvTile::default(); info.tiles as usize];
        // SAFETY: the array holds exactly the tile count the shim reported.
        self.call(|error| unsafe { ffi::mv_read_tiles(self.raw, grid, raw.as_mut_ptr(), error) })?;
        let tiles = raw.iter().map(|t| Tile {
            origin: t.origin,
            width: [8, 128, 4096][(t.level.clamp(1, 3) - 1) as usize],
            active: t.active != 0,
            value: t.value,
        });
        Ok(Leaves { origins, masks, data, tiles: tiles.collect() })
    }

    /// Checks grid number `grid`.
    pub fn stats(&self, grid: usize) -> Result<Stats, Error> {
        let info = self.info(grid)?;
        let mut raw = MvStats::default();
        // SAFETY: `raw` outlives the call; the shim checks the grid number and type.
        self.call(|error| unsafe { ffi::mv_grid_stats(self.raw, grid, &mut raw, error) })?;
        let is_level_set = info.class == Class::LevelSet && info.element == Element::Float;
        Ok(Stats {
            non_finite: raw.non_finite,
            minimum: raw.minimum,
            maximum: raw.maximum,
            level_set: is_level_set.then_some(LevelSetCheck {
                samples: raw.gradient_samples,
                gradient_min: raw.gradient_min,
                gradient_mean: raw.gradient_mean,
                gradient_max: raw.gradient_max,
                wrong_sign: raw.wrong_sign,
                beyond_band: raw.beyond_band,
            }),
        })
    }

    fn call(&self, entry: impl FnOnce(*mut ffi::MvError) -> std::ffi::c_int) -> Result<(), Error> {
        checked(entry).map_err(|reason| Error::OpenVdb(format!("{}: {reason}", self.path.display())))
    }

    fn entries(&self, grid: usize) -> Vec<Entry> {
        // SAFETY: `raw` is live; any grid number beyond the last means the file itself.
        let count = unsafe { ffi::mv_meta_count(self.raw, grid) };
        (0..count)
            .map(|e| {
                let (mut k, mut t, mut v) = (std::ptr::null(), std::ptr::null(), std::ptr::null());
                // SAFETY: the three pointers are written when the entry exists and live as long as the file.
                unsafe {
                    ffi::mv_meta_at(self.raw, grid, e, &mut k, &mut t, &mut v);
                    Entry { key: text(k), type_name: text(t), value: text(v) }
                }
            })
            .collect()
    }
}
