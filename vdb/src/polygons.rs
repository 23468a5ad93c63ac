//! Polygons of level sets, and level sets of polygons.

use crate::error::checked;
use crate::ffi;
use crate::{Class, Error, GridOut, LEAF_SIZE, Values};

/// A closed surface of four-cornered polygons.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Polygons {
    /// Positions, metres.
    pub points: Vec<[f32; 3]>,
    /// Point numbers, counter-clockwise seen from outside.
    pub quads: Vec<[u32; 4]>,
}

/// The surface of a level set: a point in every voxel that it crosses. Uses that many threads at most; the polygons do not
/// depend on it.
pub fn polygons(grid: &GridOut<'_>, threads: usize) -> Result<Polygons, Error> {
    if grid.class != Class::LevelSet || !matches!(grid.values, Values::Float(_)) {
        return Err(Error::Input(format!("grid {} is no level set and has no surface", grid.name)));
    }
    let (raw, keep) = grid.raw()?;
    let mut mesh = std::ptr::null_mut();
    let threads = threads.clamp(1, 256) as i32;
    // SAFETY: `raw` points into `grid` and `keep`, whose lengths `raw()` checked and which outlive the call; `mesh` is
    // written only on success.
    let made = checked(|error| unsafe { ffi::mv_polygons(&raw, threads, &mut mesh, error) });
    drop(keep);
    made.map_err(Error::OpenVdb)?;
    let (mut xyz, mut corners) = (std::ptr::null(), std::ptr::null());
    // SAFETY: the shim handed over a live mesh, whose arrays hold three floats a point and four numbers a polygon; they are
    // copied once, and the mesh is freed once. An empty array's address is not used.
    let (points, mut quads) = unsafe {
        let points = copied(ffi::mv_mesh_points(mesh, &mut xyz), xyz.cast::<[f32; 3]>());
        let quads = copied(ffi::mv_mesh_quads(mesh, &mut corners), corners.cast::<[u32; 4]>());
        ffi::mv_mesh_free(mesh);
        (points, quads)
    };
    quads.iter_mut().for_each(|quad| quad.reverse());
    Ok(Polygons { points, quads })
}

/// The leaves of a level set around a surface, in voxels that lie on multiples of their edge; where there is no leaf, the nearest
/// one says whether it is inside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distances {
    /// Lowest corners of the leaves, voxels.
    pub origins: Vec<[i32; 3]>,
    /// `[leaf][512]`, metres; negative inside.
    pub values: Vec<f32>,
}

/// How far from its surface a level set of triangles knows distances, voxels.
pub const BAND: f64 = 3.0;

/// The level set of closed triangles (counter-clockwise seen from outside, metres), in voxels of `voxel` metres. What is thinner
/// than a voxel may be lost. Uses that many threads at most; the distances do not depend on it.
pub fn level_set(
    points: &[[f32; 3]],
    triangles: &[[u32; 3]],
    voxel: f64,
    threads: usize,
) -> Result<Distances, Error> {
    if !(voxel > 0.0 && voxel.is_finite()) {
        return Err(Error::Input(format!("voxels of {voxel} m")));
    }
    let farthest = points.iter().flatten().fold(0.0, |most: f64, c| most.max(f64::from(c.abs())));
    // NaN is no maximum.
    if points.iter().flatten().any(|c| !c.is_finite()) || farthest / voxel > MOST_VOXELS {
        return Err(Error::Input(format!("a mesh that reaches {farthest} m, in voxels of {voxel} m")));
    }
    if triangles.iter().flatten().any(|&n| n as usize >= points.len()) {
        return Err(Error::Input("a triangle has a corner that is no point".into()));
    }
    if triangles.is_empty() {
        return Ok(Distances::default());
    }
    let mut leaves = std::ptr::null_mut();
    let threads = threads.clamp(1, 256) as i32;
    let (xyz, corners) = (points.as_ptr().cast(), triangles.as_ptr().cast());
    // SAFETY: the arrays hold three floats a point and three numbers a triangle, each the number of a point; `leaves` is
    // written only on success.
    checked(|error| unsafe {
        ffi::mv_level_set(xyz, points.len(), corners, triangles.len(), voxel, threads, &mut leaves, error)
    })
    .map_err(Error::OpenVdb)?;
    let (mut origins, mut values) = (std::ptr::null(), std::ptr::null());
    // SAFETY: the shim handed over live leaves, with three numbers and 512 floats each; they are copied once and freed once.
    Ok(unsafe {
        let count = ffi::mv_leaves_data(leaves, &mut origins, &mut values);
        let made =
            Distances { origins: copied(count, origins.cast()), values: copied(count * LEAF_SIZE, values) };
        ffi::mv_leaves_free(leaves);
        made
    })
}

/// The farthest place of a level set, voxels: far within what an index holds.
const MOST_VOXELS: f64 = 1e8;

/// A copy of `count` elements.
///
/// # Safety
/// So many lie at `from`, if there are any.
unsafe fn copied<T: Copy>(count: usize, from: *const T) -> Vec<T> {
    if count == 0 {
        return Vec::new();
    }
    // SAFETY: as the caller says.
    unsafe { std::slice::from_raw_parts(from, count) }.to_vec()
}
