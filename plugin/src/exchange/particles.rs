//! A liquid's particles and the attributes users put on them.

use super::Exchange;
use super::carried::same_type;
use super::grids::{incomplete, name};
use glam::{DVec3, Vec3};
use meniscus_abi::guest::{
    AttributeMut, AttributeShape, Call, Failure, GeometryMut, GeometryShape, GeometryView, Scalar,
};
use meniscus_abi::{Element, Meaning, On};
use meniscus_core::fluid::{Particles, Selection};
use rayon::prelude::*;
use std::ffi::{CStr, CString};

/// Attributes the solver neither reads nor makes: they follow their particles, unchanged.
#[derive(Debug, Default)]
pub struct Followers(Vec<Follower>);

#[derive(Debug)]
struct Follower {
    shape: AttributeShape,
    /// Packed values.
    bytes: Vec<u8>,
}

/// The solver's own attributes.
const AFFINE: [&CStr; 3] = [c"C0", c"C1", c"C2"];
pub(super) const OWN: [&str; 8] = ["P", "v", "C0", "C1", "C2", "id", "density", "viscosity"];

fn shapes() -> Vec<AttributeShape> {
    let vector = |name, meaning| AttributeShape::on_points(name, Element::F32, 3, meaning);
    let plain = |name, element| AttributeShape::on_points(name, element, 1, Meaning::PLAIN);
    let mut shapes = vec![vector(c"P", Meaning::POSITION), vector(c"v", Meaning::VECTOR)];
    shapes.extend(AFFINE.map(|name| vector(name, Meaning::VECTOR)));
    shapes.push(plain(c"id", Element::I64));
    shapes.push(plain(c"density", Element::F32));
    shapes.push(plain(c"viscosity", Element::F32));
    shapes
}

impl Exchange {
    /// The particles at a port and the attributes that follow them; none where there is nothing yet.
    pub fn particles(&self, call: &Call, port: u32) -> Result<(Particles, Followers), Failure> {
        let Some(view) = call.geometry(port, 0) else { return Ok(Default::default()) };
        let vectors = |attribute: &str| -> Result<Vec<Vec3>, Failure> {
            let values = view.points::<f32, 3>(attribute).ok_or_else(|| lacks(call, port, attribute))?;
            Ok(self.install(|| values.par_iter().map(|&v| Vec3::from_array(v)).collect()))
        };
        let numbers = |attribute: &str| -> Result<Vec<f32>, Failure> {
            let values = view.points::<f32, 1>(attribute).ok_or_else(|| lacks(call, port, attribute))?;
            Ok(self.install(|| values.par_iter().map(|&[v]| v).collect()))
        };
        let ids = view.points::<i64, 1>("id").ok_or_else(|| lacks(call, port, "id"))?;
        let particles = Particles {
            origin: DVec3::from_array(view.origin()),
            position: vectors("P")?,
            velocity: vectors("v")?,
            affine: [vectors("C0")?, vectors("C1")?, vectors("C2")?],
            id: self.install(|| ids.par_iter().map(|&[id]| id).collect()),
            density: numbers("density")?,
            viscosity: numbers("viscosity")?,
        };
        if let Some(p) = self.install(|| particles.find_non_finite()) {
            return Err(not_finite(call, port, &particles, p));
        }
        Ok((particles, followers(&view)))
    }

    /// Makes the particles at a port these.
    pub fn write_particles(
        &self,
        call: &mut Call,
        port: u32,
        particles: &Particles,
        followers: &Followers,
    ) -> Result<(), Failure> {
        if let Some(p) = self.install(|| particles.find_non_finite()) {
            return Err(not_finite(call, port, particles, p));
        }
        let mut attributes = shapes();
        attributes.extend(followers.0.iter().map(|f| f.shape.clone()));
        let shape = GeometryShape::points(particles.len(), particles.origin.to_array(), attributes);
        let mut to = call.shape_geometry(port, 0, &shape)?;
        let mut written = self.write_points(&mut to, "P", &particles.position, Vec3::to_array);
        written &= self.write_points(&mut to, "v", &particles.velocity, Vec3::to_array);
        for (name, rows) in AFFINE.iter().zip(&particles.affine) {
            written &= self.write_points(&mut to, name.to_str().unwrap_or_default(), rows, Vec3::to_array);
        }
        written &= self.write_points(&mut to, "id", &particles.id, |&id| [id]);
        written &= self.write_points(&mut to, "density", &particles.density, |&d| [d]);
        written &= self.write_points(&mut to, "viscosity", &particles.viscosity, |&v| [v]);
        for f in &followers.0 {
            if let Some(mut attribute) = to.attribute(On::POINTS, &f.shape.name.to_string_lossy()) {
                attribute.write_bytes(f.bytes.chunks_exact(f.value_bytes()));
            }
        }
        written
            .then_some(())
            .ok_or_else(|| Failure::host(port, "the host shaped other geometry than was asked for"))
    }

    /// Changes only velocities and their gradients: for a stage that moved no particle and made none.
    pub fn write_velocities(&self, call: &mut Call, port: u32, particles: &Particles) -> Result<(), Failure> {
        if let Some(p) = self.install(|| particles.find_non_finite()) {
            return Err(not_finite(call, port, particles, p));
        }
        let fields = [&particles.velocity, &particles.affine[0], &particles.affine[1], &particles.affine[2]];
        for (shape, values) in shapes()[1..5].iter().zip(fields) {
            let mut to = call.edit_attribute(port, 0, shape)?;
            if !self.write_attribute(&mut to, values, Vec3::to_array) {
                return Err(Failure::host(port, "the host gave another attribute than was asked for"));
            }
        }
        Ok(())
    }

    /// Writes a point attribute; false where there is none of that name, type and count.
    fn write_points<V: Sync, T: Scalar + Send, const N: usize>(
        &self,
        to: &mut GeometryMut,
        name: &str,
        values: &[V],
        components: impl Fn(&V) -> [T; N] + Sync + Send,
    ) -> bool {
        to.attribute(On::POINTS, name).is_some_and(|mut to| self.write_attribute(&mut to, values, components))
    }

    /// Writes an attribute; false where type or count are others.
    fn write_attribute<V: Sync, T: Scalar + Send, const N: usize>(
        &self,
        to: &mut AttributeMut,
        values: &[V],
        components: impl Fn(&V) -> [T; N] + Sync + Send,
    ) -> bool {
        match to.packed::<T, N>() {
            Some(packed) if packed.len() == values.len() => {
                let pairs = packed.par_iter_mut().zip(values);
                self.install(|| pairs.for_each(|(to, value)| *to = components(value)));
                true
            }
            _ => to.write(values.iter().map(components)),
        }
    }
}

impl Follower {
    fn value_bytes(&self) -> usize {
        (self.shape.element.bytes() * self.shape.components as usize).max(1)
    }
}

impl Followers {
    /// Sets an attribute of the last of `count` particles, from `first` on, to values packed one after the other; where
    /// no particle has it yet it is zero for the others. One of another type is refused: one sentence.
    pub(super) fn set(
        &mut self,
        shape: &AttributeShape,
        count: usize,
        first: usize,
        values: impl Iterator<Item = u8>,
    ) -> Result<(), String> {
        if !self.0.iter().any(|f| f.shape.name == shape.name) {
            self.0.push(Follower { shape: shape.clone(), bytes: Vec::new() });
        }
        let Some(follower) = self.0.iter_mut().find(|f| f.shape.name == shape.name) else { return Ok(()) };
        if !same_type(&follower.shape, shape) {
            let name = shape.name.to_string_lossy();
            return Err(format!(
                "the particles have an attribute `{name}` of another type than these meshes"
            ));
        }
        let size = follower.value_bytes();
        follower.bytes.resize(first * size, 0);
        follower.bytes.extend(values);
        follower.bytes.resize(count * size, 0);
        Ok(())
    }

    /// Follows a change of the particles; those without a source get zero.
    pub fn follow(&mut self, selection: &Selection) {
        for f in &mut self.0 {
            let size = f.value_bytes();
            let mut bytes = vec![0; selection.source.len() * size];
            for (to, &from) in bytes.chunks_exact_mut(size).zip(&selection.source) {
                if let Some(from) = f.bytes.get(from as usize * size..).and_then(|b| b.get(..size)) {
                    to.copy_from_slice(from);
                }
            }
            f.bytes = bytes;
        }
    }
}

/// Copies of the point attributes that are not the solver's.
fn followers(view: &GeometryView) -> Followers {
    let users = view.attributes().filter(|a| a.on() == On::POINTS && !OWN.contains(&a.name()));
    let copy = |a: meniscus_abi::guest::AttributeView| {
        let name = CString::new(a.name()).ok()?;
        let shape = AttributeShape {
            name,
            on: On::POINTS,
            element: a.element(),
            components: a.components(),
            meaning: a.meaning(),
        };
        let value = a.bytes();
        let bytes = (0..a.len()).flat_map(|i| value(i).iter().copied()).collect();
        Some(Follower { shape, bytes })
    };
    Followers(users.filter_map(copy).collect())
}

pub(super) fn lacks(call: &Call, port: u32, attribute: &str) -> Failure {
    if call.geometry(port, 0).is_none() {
        return incomplete(call, port);
    }
    Failure::input(port, format!("`{}` lacks the point attribute `{attribute}`", name(call, port)))
}

fn not_finite(call: &Call, port: u32, particles: &Particles, p: usize) -> Failure {
    let id = particles.id.get(p).copied().unwrap_or(-1);
    let sentence = format!(
        "`{}`: a position, velocity, density or viscosity of the particle with id {id} is not finite",
        name(call, port)
    );
    Failure::not_finite(port, sentence)
}
