//! Transfers the point attributes of input meshes to the particles made inside them: each particle takes the values of
//! the nearest triangle, interpolated between its corners.

use super::Exchange;
use super::attributes::{is_own, same_type};
use super::particles::Followers;
use super::solids::{mesh_of, stamps_of};
use meniscus_abi::guest::{AttributeShape, AttributeView, Call, Failure, GeometryView};
use meniscus_abi::{Element, Level, On};
use meniscus_core::fluid::Particles;
use meniscus_core::fluid::material::DENSITIES;
use meniscus_core::mesh::{NearestPlace, NearestTriangle};
use meniscus_core::number::written;
use rayon::prelude::*;
use std::borrow::Cow;
use std::ffi::CString;
use std::sync::Arc;

/// Point attributes of meshes.
#[derive(Debug)]
pub struct Carried {
    triangles: NearestTriangle,
    /// kg/m³ per point, where the meshes say.
    density: Option<Vec<f32>>,
    /// Pa·s per point, where the meshes say.
    viscosity: Option<Vec<f32>>,
    users: Vec<Column>,
}

/// The values of one user attribute, packed `[point]`.
#[derive(Debug)]
struct Column {
    shape: AttributeShape,
    bytes: Vec<u8>,
}

/// The attributes read last, and the stamps of the meshes they were read from.
#[derive(Debug, Default)]
pub struct LastCarried(Option<(Vec<u64>, Option<Arc<Carried>>)>);

/// Attributes that the host adds to every geometry.
const OF_MOTION: [&str; 4] = ["P", "v", "v_next", "restP"];
/// Parameters of the node that a mesh may give per point.
const MATERIAL: [&str; 2] = ["density", "viscosity"];

impl Exchange {
    /// The point attributes of the meshes at a port besides their positions; None if there are none.
    pub fn carried(&mut self, call: &Call, port: u32) -> Result<Option<Arc<Carried>>, Failure> {
        let items: Vec<_> =
            (0..call.items(port)).filter_map(|n| Some((n, call.geometry(port, n)?))).collect();
        let stamps = stamps(&items);
        if let Some((last, carried)) = &self.last_carried.0
            && stamps.as_ref() == Some(last)
        {
            return Ok(carried.clone());
        }
        let carried = self.read_carried(call, port, &items)?.map(Arc::new);
        self.last_carried.0 = stamps.map(|stamps| (stamps, carried.clone()));
        Ok(carried)
    }

    fn read_carried(
        &self,
        call: &Call,
        port: u32,
        items: &[(u32, GeometryView)],
    ) -> Result<Option<Carried>, Failure> {
        let views: Vec<_> = items.iter().map(|(_, view)| view.clone()).collect();
        let mut users: Vec<Column> = Vec::new();
        for (n, view) in items {
            for attribute in on_points(view) {
                let name = attribute.name();
                if OF_MOTION.contains(&name) || MATERIAL.contains(&name) {
                    continue;
                }
                if is_own(name) {
                    let mesh = call.item_name(port, *n);
                    let sentence = format!("particles make their own `{name}`; that of `{mesh}` is left out");
                    call.log(Level::WARNING, &sentence);
                    continue;
                }
                let Some(shape) = shape_of(&attribute) else { continue };
                match users.iter().find(|c| c.shape.name == shape.name) {
                    Some(known) if !same_type(&known.shape, &shape) => {
                        return Err(clash(call, port, *n, name));
                    }
                    Some(_) => {}
                    None => users.push(Column { bytes: joined(&views, &shape), shape }),
                }
            }
        }
        let density = material(call, port, items, "density", |x| DENSITIES.contains(&x))?;
        let viscosity = material(call, port, items, "viscosity", |x| x >= 0.0)?;
        if users.is_empty() && density.is_none() && viscosity.is_none() {
            return Ok(None);
        }
        let mesh = mesh_of(call, port, &views, "P")?;
        let triangles = self.install(|| NearestTriangle::new(&mesh));
        Ok(Some(Carried { triangles, density, viscosity, users }))
    }

    /// Gives the particles from `first` on the attributes of the meshes they were made in. A particle attribute that
    /// these meshes lack stays zero; one that only they have is zero for all other particles.
    pub fn hand_over(
        &self,
        carried: &Carried,
        particles: &mut Particles,
        followers: &mut Followers,
        first: usize,
    ) -> Result<(), Failure> {
        let origin = particles.origin;
        let at = |x: &glam::Vec3| carried.triangles.nearest(origin + x.as_dvec3());
        let places: Vec<Option<NearestPlace>> =
            self.install(|| particles.position[first..].par_iter().with_min_len(256).map(at).collect());
        let places: Vec<NearestPlace> = places.into_iter().flatten().collect();
        let pairs =
            [(&carried.density, &mut particles.density), (&carried.viscosity, &mut particles.viscosity)];
        for (values, of_particles) in pairs {
            for (to, place) in of_particles[first..].iter_mut().zip(values.iter().flat_map(|_| &places)) {
                *to = values.as_ref().map_or(*to, |v| mean(place, |p| f64::from(v[p])) as f32);
            }
        }
        let count = particles.len();
        for column in &carried.users {
            let values = places.iter().flat_map(|place| column.at(place));
            followers.set(&column.shape, count, first, values).map_err(Failure::parameter)?;
        }
        Ok(())
    }
}

impl Column {
    /// The bytes of the value at a place: interpolated between the corners for floating-point numbers, the nearest
    /// corner's for others.
    fn at(&self, place: &NearestPlace) -> Vec<u8> {
        let size = self.shape.element.bytes() * self.shape.components as usize;
        let value = |p: usize| &self.bytes[p * size..][..size];
        match self.shape.element {
            Element::F32 => between::<4>(
                place,
                size,
                value,
                |b| f64::from(f32::from_ne_bytes(b)),
                |x| (x as f32).to_ne_bytes(),
            ),
            Element::F64 => between::<8>(place, size, value, f64::from_ne_bytes, f64::to_ne_bytes),
            _ => {
                let heaviest = (0..3).max_by(|&a, &b| place.weights[a].total_cmp(&place.weights[b]));
                value(place.points[heaviest.unwrap_or(0)] as usize).to_vec()
            }
        }
    }
}

/// Component by component, from bytes and back to them.
fn between<'a, const N: usize>(
    place: &NearestPlace,
    size: usize,
    value: impl Fn(usize) -> &'a [u8],
    read: impl Fn([u8; N]) -> f64,
    write: impl Fn(f64) -> [u8; N],
) -> Vec<u8> {
    let component = |c: usize, p: usize| value(p).as_chunks::<N>().0.get(c).map_or(0.0, |b| read(*b));
    (0..size / N).flat_map(|c| write(mean(place, |p| component(c, p)))).collect()
}

/// The barycentric mean of the corners' values; exact where all are equal.
fn mean(place: &NearestPlace, value: impl Fn(usize) -> f64) -> f64 {
    let [a, b, c] = place.points.map(|p| value(p as usize));
    a + place.weights[1] * (b - a) + place.weights[2] * (c - a)
}

fn on_points<'a>(view: &'a GeometryView) -> impl Iterator<Item = AttributeView<'a>> {
    view.attributes().filter(|a| a.on() == On::POINTS)
}

fn shape_of(attribute: &AttributeView) -> Option<AttributeShape> {
    let name = CString::new(attribute.name()).ok()?;
    let shape =
        AttributeShape::on_points(&name, attribute.element(), attribute.components(), attribute.meaning());
    (attribute.value_bytes() > 0).then_some(shape)
}

/// The values of all points of all meshes; zeros where a mesh has none of that name.
fn joined(views: &[GeometryView], shape: &AttributeShape) -> Vec<u8> {
    let size = shape.element.bytes() * shape.components as usize;
    let mut bytes = Vec::new();
    for view in views {
        let start = bytes.len();
        let name = shape.name.to_string_lossy();
        let fits = |a: &AttributeView| a.value_bytes() == size;
        if let Some(attribute) = view.attribute(On::POINTS, &name).filter(fits) {
            let value = attribute.bytes();
            (0..view.point_count()).for_each(|i| bytes.extend_from_slice(value(i)));
        }
        bytes.resize(start + view.point_count() * size, 0);
    }
    bytes
}

/// Density or viscosity per point. All meshes of the node say it, or none.
fn material(
    call: &Call,
    port: u32,
    items: &[(u32, GeometryView)],
    name: &str,
    fits: impl Fn(f64) -> bool,
) -> Result<Option<Vec<f32>>, Failure> {
    let has = |(_, view): &&(u32, GeometryView)| view.attribute(On::POINTS, name).is_some();
    if items.iter().find(has).is_none() {
        return Ok(None);
    }
    let mut values = Vec::new();
    for (n, view) in items {
        let wrong = |what: String| Failure::input(port, format!("`{}` {what}", call.item_name(port, *n)));
        let Some(attribute) = view.attribute(On::POINTS, name) else {
            return Err(wrong(format!(
                "has no point attribute `{name}`, and another mesh has: give it to all"
            )));
        };
        let numbers = numbers(&attribute).filter(|v| v.len() == view.point_count()).ok_or_else(|| {
            wrong(format!("has a point attribute `{name}` that is not one number per point"))
        })?;
        if let Some((p, x)) = numbers.iter().enumerate().find(|(_, x)| !(x.is_finite() && fits(**x))) {
            return Err(wrong(format!("has a {name} of {} on point {p}, which no liquid has", written(*x))));
        }
        values.extend(numbers.iter().map(|&x| x as f32));
    }
    Ok(Some(values))
}

/// One number per point, of whatever type.
fn numbers(attribute: &AttributeView) -> Option<Vec<f64>> {
    fn wide<T: Copy>(values: Cow<[[T; 1]]>, widen: impl Fn(T) -> f64) -> Vec<f64> {
        values.iter().map(|&[x]| widen(x)).collect()
    }
    match attribute.element() {
        Element::F32 => attribute.read().map(|v| wide(v, |x: f32| x.into())),
        Element::F64 => attribute.read().map(|v| wide(v, |x: f64| x)),
        Element::I32 => attribute.read().map(|v| wide(v, |x: i32| x.into())),
        Element::I64 => attribute.read().map(|v| wide(v, |x: i64| x as f64)),
        Element::U8 => attribute.read().map(|v| wide(v, |x: u8| x.into())),
        Element::U32 => attribute.read().map(|v| wide(v, |x: u32| x.into())),
        _ => None,
    }
}

fn clash(call: &Call, port: u32, item: u32, name: &str) -> Failure {
    let mesh = call.item_name(port, item);
    Failure::input(port, format!("the point attribute `{name}` of `{mesh}` is of another type than before"))
}

/// The stamps of all inputs; None where one is missing.
fn stamps(items: &[(u32, GeometryView)]) -> Option<Vec<u64>> {
    let mut stamps = Vec::new();
    for (_, view) in items {
        let names: Vec<&str> = on_points(view).map(|a| a.name()).collect();
        stamps.extend(stamps_of(std::slice::from_ref(view), &names)?);
        stamps.push(names.len() as u64);
    }
    Some(stamps)
}
