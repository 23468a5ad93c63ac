//! Host grids in the form OpenVDB's readers expect.

use crate::data::{Array, Element, Grid, GridClass, LEAF_VOXELS, Sampling, Tile};
use openvdb_sys::{Class, MASK_WORDS, Values};

/// Half width of a written level set, voxels.
pub const HALF_WIDTH: f64 = 3.0;

/// How a vector grid on faces is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Velocity {
    /// Averaged to the cell centres: what renderers read.
    Collocated,
    /// As it is, of class `staggered`: for import into a simulation.
    Staggered,
}

/// A grid converted for the file.
pub struct Converted {
    /// What it means.
    pub class: Class,
    /// Index-to-world, row-major; positions of the samples.
    pub transform: [f64; 16],
    /// Value outside.
    pub background: [f64; 3],
    /// Leaf origins.
    pub origins: Vec<[i32; 3]>,
    /// Active voxels; `None` leaves it to the class.
    pub masks: Option<Vec<[u64; MASK_WORDS]>>,
    /// Values.
    pub channels: Channels,
    /// Tiles.
    pub tiles: Vec<openvdb_sys::Tile>,
    /// Signs beyond the band come from the band.
    pub flood: bool,
}

/// Values of a converted grid, `[leaf][512]`.
pub enum Channels {
    /// One float.
    Float(Vec<f32>),
    /// Three floats.
    Vector([Vec<f32>; 3]),
    /// One integer.
    Int(Vec<i32>),
}

impl Channels {
    /// The binding's view of the values.
    pub fn values(&self) -> Values<'_> {
        match self {
            Channels::Float(v) => Values::Float(v),
            Channels::Vector([x, y, z]) => Values::Vector([x, y, z]),
            Channels::Int(v) => Values::Int(v),
        }
    }
}

/// Converts a grid of a class; `surface` (of the same object) says where a velocity is worth keeping.
pub fn convert(
    class: GridClass,
    grid: &Grid,
    surface: Option<&Grid>,
    velocity: Velocity,
) -> Result<Converted, String> {
    match (grid.element, grid.components()) {
        (Element::F32 | Element::F64, 1) if class == GridClass::LevelSet => level_set(grid),
        (Element::F32 | Element::F64, 1) => Ok(scalar(class, grid)),
        (Element::F32 | Element::F64, 3) => Ok(vector(grid, surface, velocity)),
        (Element::F32 | Element::F64, n) => Err(format!("it has {n} components; a VDB holds 1 or 3")),
        (_, 1) => Ok(integer(grid)),
        (e, n) => Err(format!("{n} components of {} have no VDB form", e.name())),
    }
}

/// Index-to-world of the sample positions: those of nodes stand half a voxel below the cell's centre.
fn sample_transform(grid: &Grid) -> [f64; 16] {
    let mut transform = grid.transform;
    if grid.sampling == Sampling::Node {
        let corner = grid.to_world([-0.5; 3]);
        transform[12..15].copy_from_slice(&corner);
    }
    transform
}

fn floats(array: &Array) -> Vec<f32> {
    match array {
        Array::F32(v) => v.clone(),
        other => (0..other.len()).map(|i| other.get(i).unwrap_or(0.0) as f32).collect(),
    }
}

fn tiles(grid: &Grid, value: impl Fn(&Tile) -> [f64; 3], active: bool) -> Vec<openvdb_sys::Tile> {
    let convert =
        |t: &Tile| openvdb_sys::Tile { origin: t.origin, width: t.edge as i32, active, value: value(t) };
    grid.tiles.iter().map(convert).collect()
}

fn empty(grid: &Grid, class: Class, channels: Channels) -> Converted {
    Converted {
        class,
        transform: sample_transform(grid),
        background: [grid.background[0], grid.background[1], grid.background[2]],
        origins: grid.origins.to_vec(),
        masks: None,
        channels,
        tiles: Vec::new(),
        flood: false,
    }
}

/// A level set of half width [`HALF_WIDTH`] voxels; where the band of the grid is narrower, its own width.
fn level_set(grid: &Grid) -> Result<Converted, String> {
    let own = grid.background[0].abs();
    let wanted = HALF_WIDTH * grid.voxel_size();
    let background = if own > 0.0 { wanted.min(own) } else { wanted };
    if !(background > 0.0 && background.is_finite()) {
        return Err("its voxel size or background is not a positive number".into());
    }
    let values = floats(&grid.channels[0]);
    let flood = grid.tiles.is_empty() && is_closed(grid, &values, background as f32);
    let inside = |t: &Tile| [background.copysign(t.value[0]), 0.0, 0.0];
    Ok(Converted {
        background: [background, 0.0, 0.0],
        tiles: tiles(grid, inside, false),
        flood,
        ..empty(grid, Class::LevelSet, Channels::Float(values))
    })
}

/// True when no surface runs out of the leaves: then the signs of the band say what is inside everywhere.
fn is_closed(grid: &Grid, values: &[f32], background: f32) -> bool {
    grid.origins.iter().zip(values.chunks_exact(LEAF_VOXELS)).all(|(o, leaf)| {
        (0..6).all(|side| {
            let (axis, upper) = (side / 2, side % 2 == 1);
            let mut beside = *o;
            beside[axis] += if upper { 8 } else { -8 };
            grid.leaf_of(beside).is_some()
                || face_voxels(axis, upper).all(|n| leaf[n] >= 0.0 || leaf[n] <= -background)
        })
    })
}

/// Offsets of the 64 voxels on one side of a leaf.
fn face_voxels(axis: usize, upper: bool) -> impl Iterator<Item = usize> {
    let stride = [64, 8, 1];
    let (a, b) = (stride[(axis + 1) % 3], stride[(axis + 2) % 3]);
    let base = if upper { 7 * stride[axis] } else { 0 };
    (0..64).map(move |i| base + i / 8 * a + i % 8 * b)
}

fn scalar(class: GridClass, grid: &Grid) -> Converted {
    let values = floats(&grid.channels[0]);
    let background = grid.background[0] as f32;
    let masks = values.chunks_exact(LEAF_VOXELS).map(|leaf| mask(|n| leaf[n] != background)).collect();
    let class = if class == GridClass::Fog { Class::FogVolume } else { Class::Unknown };
    Converted {
        masks: Some(masks),
        tiles: tiles(grid, |t| [t.value[0], 0.0, 0.0], true),
        ..empty(grid, class, Channels::Float(values))
    }
}

fn integer(grid: &Grid) -> Converted {
    let array = &grid.channels[0];
    let values: Vec<i32> = (0..array.len()).map(|i| array.get(i).unwrap_or(0.0) as i32).collect();
    let background = grid.background[0] as i32;
    let masks = values.chunks_exact(LEAF_VOXELS).map(|leaf| mask(|n| leaf[n] != background)).collect();
    Converted {
        masks: Some(masks),
        tiles: tiles(grid, |t| [t.value[0], 0.0, 0.0], true),
        ..empty(grid, Class::Unknown, Channels::Int(values))
    }
}

fn mask(active: impl Fn(usize) -> bool) -> [u64; MASK_WORDS] {
    std::array::from_fn(|w| (0..64).fold(0, |word, bit| word | u64::from(active(w * 64 + bit)) << bit))
}

fn vector(grid: &Grid, surface: Option<&Grid>, velocity: Velocity) -> Converted {
    let staggered = grid.sampling == Sampling::Face && velocity == Velocity::Staggered;
    let mut channels: [Vec<f32>; 3] = std::array::from_fn(|c| floats(&grid.channels[c]));
    if grid.sampling == Sampling::Face && !staggered {
        channels = std::array::from_fn(|c| to_centres(grid, &channels[c], c));
    }
    let masks: Vec<_> = grid.origins.iter().map(|&o| liquid_mask(o, surface)).collect();
    for channel in &mut channels {
        for (leaf, mask) in channel.chunks_exact_mut(LEAF_VOXELS).zip(&masks) {
            for (n, v) in leaf.iter_mut().enumerate() {
                if mask[n >> 6] >> (n & 63) & 1 == 0 {
                    *v = 0.0;
                }
            }
        }
    }
    Converted {
        background: [0.0; 3],
        masks: Some(masks),
        tiles: tiles(grid, |t| [t.value[0], t.value[1], t.value[2]], true),
        ..empty(grid, if staggered { Class::Staggered } else { Class::Unknown }, Channels::Vector(channels))
    }
}

/// Component `axis` at the cell centres: the mean of the lower and the upper face.
fn to_centres(grid: &Grid, faces: &[f32], axis: usize) -> Vec<f32> {
    let stride = [64, 8, 1][axis];
    let background = grid.background[axis] as f32;
    let mut centres = faces.to_vec();
    for (l, o) in grid.origins.iter().enumerate() {
        let mut beside = *o;
        beside[axis] += 8;
        let next = grid.leaf_of(beside).map(|m| &faces[m * LEAF_VOXELS..][..LEAF_VOXELS]);
        let own = &faces[l * LEAF_VOXELS..][..LEAF_VOXELS];
        for n in 0..LEAF_VOXELS {
            let last = n / stride % 8 == 7;
            let upper = match next {
                _ if !last => own[n + stride],
                Some(next) => next[n - 7 * stride],
                None => background,
            };
            centres[l * LEAF_VOXELS + n] = 0.5 * (own[n] + upper);
        }
    }
    centres
}

/// The voxels of a leaf inside the liquid or within the band around it; all of them without a surface.
fn liquid_mask(origin: [i32; 3], surface: Option<&Grid>) -> [u64; MASK_WORDS] {
    let Some(surface) = surface else {
        return [u64::MAX; MASK_WORDS];
    };
    // Fields are 32-bit: beyond the band they hold this value as a 32-bit number.
    let limit = (HALF_WIDTH * surface.voxel_size()) as f32;
    match surface.leaf_of(origin) {
        Some(leaf) => {
            let phi = &surface.channels[0];
            mask(|n| phi.get(leaf * LEAF_VOXELS + n).is_some_and(|v| (v as f32) < limit))
        }
        None if surface.value(0, origin) < 0.0 => [u64::MAX; MASK_WORDS],
        None => [0; MASK_WORDS],
    }
}
