//! Polygons of level sets.

use crate::error::checked;
use crate::ffi;
use crate::{Class, Error, GridOut, Values};

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
