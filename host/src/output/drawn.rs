//! What `preview` draws: the surfaces of objects and foam, and how each looks.

use super::foam::Foam;
use super::framing::Bounds;
use super::pattern::Pattern;
use super::vdb_grid::{Channels, Converted, Velocity, convert};
use super::{Frame, Offer, OutputError, Shot};
use crate::data::{self, Geometry, Grid, GridClass, Object};
use crate::node::Params;
use glam::Vec3;
use openvdb_sys::{BAND, Class, GridOut, Material, Surface, Values, level_set};
use std::rc::Rc;

/// A surface of an object and how it is drawn.
pub(super) struct Drawn {
    converted: Rc<Converted>,
    /// Index-to-world, row-major.
    transform: [f64; 16],
    material: Material,
}

impl Drawn {
    /// The box around its leaves; `None` without a leaf.
    pub(super) fn bounds(&self) -> Option<Bounds> {
        Bounds::of_leaves(&self.converted.origins, &self.transform)
    }

    /// For the tracer.
    pub(super) fn surface(&self) -> Surface<'_> {
        let grid = GridOut {
            name: "drawn",
            class: self.converted.class,
            transform: self.transform,
            background: self.converted.background,
            origins: &self.converted.origins,
            masks: self.converted.masks.as_deref(),
            values: self.converted.channels.values(),
            tiles: &self.converted.tiles,
            half: false,
            flood: self.converted.flood,
            vector_type: None,
            metadata: &[],
        };
        Surface { grid, material: self.material }
    }
}

/// Foam as it is drawn.
pub(super) fn foam_surface(foam: &Foam) -> Surface<'_> {
    let grid = GridOut {
        name: "foam",
        class: Class::FogVolume,
        transform: foam.transform(),
        background: [0.0; 3],
        origins: &foam.origins,
        masks: None,
        values: Values::Float(&foam.values),
        tiles: &[],
        half: false,
        flood: false,
        vector_type: None,
        metadata: &[],
    };
    Surface { grid, material: Material::Foam }
}

/// The names of the objects to draw.
pub(super) fn chosen(params: &Params) -> Pattern<'_> {
    Pattern::new(params.text("objects"))
}

/// What is said of meshes that no object is made of.
pub(super) const ONLY_GEOMETRY: &str = "geometry is drawn only where an object is made of it";

/// The surfaces of the chosen objects. Liquids are drawn from their meshes where a node makes some, else from their level sets.
/// `pixels`: of the picture's longer side. Uses that many threads at most; the surfaces do not depend on it.
pub(super) fn choose(frame: &Frame, pixels: u32, shot: &Shot) -> Result<Vec<Drawn>, OutputError> {
    let threads = shot.threads;
    let (objects, glass) = (chosen(frame.params), Pattern::new(frame.params.text("glass")));
    let chosen = || frame.scene.objects.iter().filter(|o| objects.matches(&o.name));
    let mut drawn = Vec::new();
    for object in chosen() {
        for mesh in object.drawn_geometry(data::Drawn::Liquid).filter(|g| !g.triangles().is_empty()) {
            drawn.push(meshed(mesh, pixels, threads).map_err(|why| {
                OutputError::new(format!("the mesh of `{}` cannot be drawn: {why}", object.name))
            })?);
        }
    }
    for (number, object) in chosen().enumerate() {
        let is_meshed = frame.offer.is_meshed(&object.name, |o| objects.matches(&o.object));
        let is_glass = shot.names(&glass, &object.name);
        let is_coloured = !is_glass && frame.params.toggle("body_colors");
        let solid = if is_glass { Material::Glass } else { Material::GREY_CLAY };
        for (name, grid, how) in object.drawn() {
            let is_liquid = how == data::Drawn::Liquid;
            if is_liquid && is_meshed {
                continue;
            }
            let material = if is_liquid { Material::Liquid } else { solid };
            let converted = Rc::new(converted(object, name, grid)?);
            let transform = converted.transform;
            match object.places(how) {
                None => drawn.push(Drawn { converted, transform, material }),
                Some(places) => drawn.extend(places.iter().map(|place| {
                    let transform = after(&transform, &place.map);
                    let has_colour = is_coloured && !is_liquid;
                    let colour = || Material::Clay(body_colour(number, place.id));
                    let material = if has_colour { colour() } else { material };
                    Drawn { converted: converted.clone(), transform, material }
                })),
            }
        }
    }
    if let Some(reason) = nothing_to_draw(&frame.scene.objects, &objects) {
        return Err(OutputError::param("objects", reason));
    }
    Ok(drawn)
}

/// The colour of a body, linear, by the number of its object and its id there, so that it keeps its colour when others leave. Hues
/// of an object's bodies follow each other by the golden section, those of objects by another irrational number: any number of
/// bodies next to each other differ. The hues around that of water are left out.
pub(super) fn body_colour(object: usize, id: i64) -> [f64; 3] {
    /// Of the first body, as a share of the hues there are.
    const FIRST: f64 = 0.465;
    const BLUES: [f64; 2] = [0.5, 0.64];
    const GOLDEN: f64 = 0.618_033_988_75;
    /// 1 / p, where p³ = p + 1.
    const PLASTIC: f64 = 0.754_877_666_25;
    let share = (FIRST + object as f64 * PLASTIC + id as f64 * GOLDEN).rem_euclid(1.0);
    let hue = (BLUES[1] + share * (1.0 - (BLUES[1] - BLUES[0]))).fract();
    [0.0, 1.0 / 3.0, 2.0 / 3.0].map(|channel| {
        let away = (hue - channel).abs();
        let near = 1.0 - 3.0 * away.min(1.0 - away);
        0.12 + 0.58 * near.clamp(0.0, 0.5) / 0.5
    })
}

/// Why nothing will ever be drawn, if so. An object that only begins later is no reason.
fn nothing_to_draw(objects: &[Object], chosen: &Pattern) -> Option<String> {
    let mut found = objects.iter().filter(|o| chosen.matches(&o.name)).peekable();
    if objects.is_empty() {
        return None;
    }
    if found.peek().is_none() {
        let names: Vec<&str> = objects.iter().map(|o| o.name.as_str()).collect();
        return Some(Offer::no_such_name(&names));
    }
    let is_geometry = |o: &Object| o.ports.keys().any(|port| port == "geometry") && o.ports.len() == 1;
    found.all(is_geometry).then(|| ONLY_GEOMETRY.into())
}

/// A mesh of liquid, through a level set whose voxels are half an edge of its triangles, and no finer than half a pixel where the
/// mesh fills the picture.
fn meshed(mesh: &Geometry, pixels: u32, threads: u32) -> Result<Drawn, String> {
    let points = mesh.in_world()?;
    let edge = |[a, b, _]: [u32; 3]| {
        let [a, b] = [a, b].map(|n| Vec3::from(points[n as usize]).as_dvec3());
        a.distance(b)
    };
    let edges: f64 = mesh.triangles().iter().copied().map(edge).sum();
    let voxel = 0.5 * edges / mesh.triangles().len() as f64;
    let corners = || points.iter().map(|&p| Vec3::from(p));
    let (low, high) =
        (corners().fold(Vec3::INFINITY, Vec3::min), corners().fold(Vec3::NEG_INFINITY, Vec3::max));
    let finest = f64::from((high - low).max_element()) / (2.0 * f64::from(pixels.max(1)));
    let voxel = if voxel < finest { finest } else { voxel };
    let made =
        level_set(&points, mesh.triangles(), voxel, threads.max(1) as usize).map_err(|e| e.to_string())?;
    let transform = [voxel, 0., 0., 0., 0., voxel, 0., 0., 0., 0., voxel, 0., 0., 0., 0., 1.];
    let converted = Rc::new(Converted {
        class: Class::LevelSet,
        transform,
        background: [BAND * voxel, 0.0, 0.0],
        origins: made.origins,
        masks: None,
        channels: Channels::Float(made.values),
        tiles: Vec::new(),
        flood: true,
    });
    Ok(Drawn { converted, transform, material: Material::Liquid })
}

fn converted(object: &Object, name: &str, grid: &Grid) -> Result<Converted, OutputError> {
    convert(GridClass::LevelSet, grid, None, Velocity::Collocated)
        .map_err(|e| OutputError::new(format!("grid `{name}` of `{}` cannot be drawn: {e}", object.name)))
}

/// One row-major map after another.
fn after(first: &[f64; 16], then: &[f64; 16]) -> [f64; 16] {
    std::array::from_fn(|n| (0..4).map(|k| first[n / 4 * 4 + k] * then[4 * k + n % 4]).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many there are, none is lost in the water, and neighbours differ.
    #[test]
    fn bodies_have_colours_of_their_own_and_none_that_of_water() {
        let all: Vec<_> = (0..3).flat_map(|object| (0..40).map(move |id| body_colour(object, id))).collect();
        for [r, g, b] in &all {
            assert!(!(b > g && g > r && *r < 0.13 && *g > 0.25), "{r} {g} {b} is blue like water");
        }
        let apart = |[a, b]: [&[f64; 3]; 2]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>();
        assert!(all.windows(2).all(|pair| apart([&pair[0], &pair[1]]) > 0.1));
    }

    /// Two specks far from each other: half an edge of theirs would be a millionth of what is between them.
    #[test]
    fn a_mesh_is_drawn_no_finer_than_half_a_pixel() {
        let speck = |x: f32| [[x, 0.0, 0.0], [x + 1e-6, 0.0, 0.0], [x, 1e-6, 0.0]];
        let corners = [speck(0.0), speck(1.0)].concat();
        let drawn = meshed(&Geometry::from_triangles(&corners, &[[0, 1, 2], [3, 4, 5]]), 80, 1);
        let voxel = drawn.expect("it has triangles").transform[0];
        assert!((voxel - 1.0 / 160.0).abs() < 1e-6, "{voxel} m");
    }
}
