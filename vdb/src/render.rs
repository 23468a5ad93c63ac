//! Ray-traces pictures of level sets and foam.

use crate::error::checked;
use crate::ffi::{self, MvCamera, MvPicture, MvSurface};
use crate::{Class, Error, GridOut, Values};
use std::sync::atomic::{AtomicBool, Ordering};

/// How a surface is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Material {
    /// Water: refracts, tinted by its depth.
    Liquid,
    /// Clear walls with visible rims.
    Glass,
    /// Opaque, of a colour: linear red, green and blue from 0 to 1.
    Clay([f64; 3]),
    /// White foam; its grid is a fog, the share of light that it takes away, 1/m.
    Foam,
}

impl Material {
    /// The warm grey of what has no colour of its own.
    pub const GREY_CLAY: Self = Self::Clay([0.62, 0.58, 0.54]);

    /// The shim's number, and the colour of clay.
    fn raw(self) -> (i32, [f64; 3]) {
        match self {
            Self::Liquid => (0, [0.0; 3]),
            Self::Glass => (1, [0.0; 3]),
            Self::Clay(colour) => (2, colour),
            Self::Foam => (3, [0.0; 3]),
        }
    }
}

/// A grid and how it is drawn.
#[derive(Clone, Debug)]
pub struct Surface<'a> {
    /// A float level set, or a fog of foam; its voxels are cubes, in any rotation.
    pub grid: GridOut<'a>,
    /// How it is drawn.
    pub material: Material,
}

/// A pinhole camera; metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where it stands.
    pub position: [f64; 3],
    /// What it looks at.
    pub look_at: [f64; 3],
    /// Vertical angle of view, degrees.
    pub fov: f64,
}

impl Camera {
    /// The shim's view of this camera, Y upwards; one that looks straight down or up has -Z or Z there.
    fn raw(&self) -> Result<MvCamera, Error> {
        let d: [f64; 3] = std::array::from_fn(|c| self.look_at[c] - self.position[c]);
        let length = d.iter().map(|c| c * c).sum::<f64>().sqrt();
        if !(length > 0.0 && length.is_finite()) {
            return Err(Error::Input("the camera must stand apart from what it looks at".into()));
        }
        if !(self.fov > 0.0 && self.fov < 180.0) {
            return Err(Error::Input(format!("a camera cannot see an angle of {} degrees", self.fov)));
        }
        let steep = d[1].abs() / length > 0.99999;
        let up = if steep { [0.0, 0.0, d[1].signum()] } else { [0.0, 1.0, 0.0] };
        Ok(MvCamera { position: self.position, look_at: self.look_at, up, fov_degrees: self.fov })
    }
}

/// The settings that stay the same over a shot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Picture {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Threads to use; the picture does not depend on it.
    pub threads: usize,
    /// Height of the studio floor, metres.
    pub floor: f64,
    /// Diameter of the shot, metres; it scales how fast water tints.
    pub size: f64,
    /// Middle of the shot.
    pub target: [f64; 3],
}

/// Most pixels along an edge.
const MAX_EDGE: u32 = 16384;

/// Ray-traces the surfaces; the pixels are `[height][width][3]` in sRGB, top row first. `None` once `halt` is true; it
/// is checked before every row.
pub fn render(
    surfaces: &[Surface<'_>],
    camera: &Camera,
    picture: &Picture,
    halt: &AtomicBool,
) -> Result<Option<Vec<u8>>, Error> {
    if !(1..=MAX_EDGE).contains(&picture.width) || !(1..=MAX_EDGE).contains(&picture.height) {
        return Err(Error::Input(format!("a picture of {} × {} pixels", picture.width, picture.height)));
    }
    let mut keep = Vec::with_capacity(surfaces.len());
    let mut raw = Vec::with_capacity(surfaces.len());
    for surface in surfaces {
        let wanted = match surface.material {
            Material::Foam => Class::FogVolume,
            _ => Class::LevelSet,
        };
        if surface.grid.class != wanted || !matches!(surface.grid.values, Values::Float(_)) {
            let name = surface.grid.name;
            return Err(Error::Input(format!(
                "grid {name} is of another class than its material is drawn from"
            )));
        }
        let (grid, kept) = surface.grid.raw()?;
        keep.push(kept);
        let (material, colour) = surface.material.raw();
        raw.push(MvSurface { grid, material, colour });
    }
    let raw_camera = camera.raw()?;
    let raw_picture = MvPicture {
        width: picture.width as i32,
        height: picture.height as i32,
        threads: picture.threads.clamp(1, 256) as i32,
        floor_y: picture.floor,
        scene_size: picture.size,
        target: picture.target,
        halt: halt.as_ptr().cast(),
    };
    let mut rgb = vec![0u8; picture.width as usize * picture.height as usize * 3];
    // SAFETY: `raw` points into `surfaces` and `keep`, checked by `raw()` and alive until after the call; `rgb`
    // holds width × height × 3 bytes, and a bool is a byte of 0 or 1.
    checked(|error| unsafe {
        ffi::mv_render(raw.as_ptr(), raw.len(), &raw_camera, &raw_picture, rgb.as_mut_ptr(), error)
    })
    .map_err(Error::OpenVdb)?;
    drop(keep);
    Ok((!halt.load(Ordering::Relaxed)).then_some(rgb))
}
