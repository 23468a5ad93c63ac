//! Reads and writes a liquid's particles and the attributes that users put on them.

use super::Exchange;
use super::attributes::{Beside, OWN, is_own, same_type, shapes, vector};
use super::finite::{Finite, all_finite, copy_values, read_values};
use super::grids::{incomplete, name};
use glam::{DVec3, Vec3};
use meniscus_abi::guest::{AttributeMut, AttributeShape, Call, Failure, GeometryShape, GeometryView, Scalar};
use meniscus_abi::{Meaning, On};
use meniscus_core::fluid::{Particles, Selection};
use std::borrow::Cow;
use std::ffi::CString;

/// Attributes that the core does not know: they follow their particles, unchanged.
#[derive(Debug, Default)]
pub struct Followers {
    users: Vec<Follower>,
    /// m/s, of [`Beside::NAMES`].
    velocities: [Option<Vec<Vec3>>; 2],
}

#[derive(Debug)]
struct Follower {
    shape: AttributeShape,
    /// Packed values.
    bytes: Vec<u8>,
}

impl Exchange {
    /// The particles at a port and the attributes that follow them; none where there is nothing yet. Attributes that
    /// nobody changed since this instance kept them are not read again.
    pub fn particles(&mut self, call: &Call, port: u32) -> Result<(Particles, Followers), Failure> {
        let old = std::mem::take(&mut self.kept.particles);
        let known = std::mem::take(&mut self.kept.attributes);
        let Some(view) = call.geometry(port, 0) else { return Ok(Default::default()) };
        let stamps = OWN.map(|name| view.attribute(On::POINTS, name).map_or(0, |a| a.value_id()));
        let same = |n: usize| stamps[n] != 0 && stamps[n] == known[n];
        let lacks = |n: usize| lacks(call, port, OWN[n]);
        let count = view.point_count();
        let vectors = |n: usize, old| Column::<Vec3, f32, 3>::of(&view, n, same(n), old, count);
        let numbers = |n: usize, old| Column::<f32, f32, 1>::of(&view, n, same(n), old, count);
        let Particles {
            position, velocity, affine: [c0, c1, c2], id, density, viscosity, mass_share, ..
        } = old;
        let position = vectors(0, position).ok_or_else(|| lacks(0))?;
        let velocity = vectors(1, velocity).ok_or_else(|| lacks(1))?;
        let c0 = vectors(2, c0).ok_or_else(|| lacks(2))?;
        let c1 = vectors(3, c1).ok_or_else(|| lacks(3))?;
        let c2 = vectors(4, c2).ok_or_else(|| lacks(4))?;
        let id = Column::<i64, i64, 1>::of(&view, 5, same(5), id, count).ok_or_else(|| lacks(5))?;
        let density = numbers(6, density).ok_or_else(|| lacks(6))?;
        let viscosity = numbers(7, viscosity).ok_or_else(|| lacks(7))?;
        let mass_share = match view.attribute(On::POINTS, OWN[8]) {
            Some(_) => numbers(8, mass_share).ok_or_else(|| lacks(8))?,
            // Particles of a host that does not know mass shares have their whole mass.
            None => Column::Kept(vec![1.0; count]),
        };
        let vectors_kept = [&position, &velocity, &c0, &c1, &c2].iter().all(|c| c.is_kept());
        let numbers_kept = [&density, &viscosity, &mass_share].iter().all(|c| c.is_kept());
        let all_kept = vectors_kept && id.is_kept() && numbers_kept;
        let (mut sound, origin) = (true, DVec3::from_array(view.origin()));
        let read = || {
            let vector = Vec3::from_array;
            Particles {
                origin,
                position: position.read(vector, &mut sound),
                velocity: velocity.read(vector, &mut sound),
                affine: [c0, c1, c2].map(|rows| rows.read(vector, &mut sound)),
                id: id.read(|[id]| id, &mut sound),
                density: density.read(|[d]| d, &mut sound),
                viscosity: viscosity.read(|[v]| v, &mut sound),
                mass_share: mass_share.read(|[m]| m, &mut sound),
            }
        };
        let particles = if all_kept { read() } else { self.install(read) };
        self.check_sound(call, port, &particles, sound)?;
        self.kept.attributes = stamps;
        let velocities = Beside::NAMES.map(|name| {
            let values = view.points::<f32, 3>(&name.to_string_lossy())?;
            Some(self.install(|| read_values(&values, Vec3::from_array).0))
        });
        Ok((particles, Followers { users: users(&view), velocities }))
    }

    /// Writes the particles at a port.
    pub fn write_particles(
        &mut self,
        call: &mut Call,
        port: u32,
        particles: &Particles,
        followers: &Followers,
    ) -> Result<(), Failure> {
        self.kept.attributes = Default::default();
        let mut attributes = shapes();
        attributes.extend(followers.users.iter().map(|f| f.shape.clone()));
        let beside = || Beside::NAMES.into_iter().zip(&followers.velocities);
        attributes
            .extend(beside().filter(|(_, v)| v.is_some()).map(|(name, _)| vector(name, Meaning::VECTOR)));
        let shape = GeometryShape::points(particles.len(), particles.origin.to_array(), attributes);
        let mut to = call.shape_geometry(port, 0, &shape)?;
        let strange = || Failure::host(port, "the host shaped other geometry than was asked for");
        let mut sound = true;
        for (name, values) in beside().filter_map(|(name, v)| Some((name, v.as_ref()?))) {
            let attribute = to.attribute(On::POINTS, &name.to_string_lossy()).ok_or_else(strange)?;
            let place = Place::of(attribute, values, Vec3::to_array).ok_or_else(strange)?;
            sound &= self.install(|| place.copy());
        }
        for f in &followers.users {
            if let Some(mut attribute) = to.attribute(On::POINTS, &f.shape.name.to_string_lossy()) {
                attribute.write_bytes(f.bytes.chunks_exact(f.value_bytes()));
            }
        }
        let own = to.side_by_side(OWN).ok_or_else(strange)?;
        let stamps = own.each_ref().map(|a| a.value_id());
        let [p, v, c0, c1, c2, id, density, viscosity, mass_share] = own;
        let vectors = [p, v, c0, c1, c2];
        let [a, b, c] = &particles.affine;
        let from = [&particles.position, &particles.velocity, a, b, c];
        let vectors = vectors.into_iter().zip(from).map(|(to, from)| Place::of(to, from, Vec3::to_array));
        let vectors: Option<Vec<_>> = vectors.collect();
        let numbers = [
            (density, &particles.density),
            (viscosity, &particles.viscosity),
            (mass_share, &particles.mass_share),
        ];
        let numbers: Option<Vec<_>> =
            numbers.into_iter().map(|(to, from)| Place::of(to, from, |&x: &f32| [x])).collect();
        let ids = Place::of(id, &particles.id, |&id: &i64| [id]);
        let (Some(vectors), Some(numbers), Some(ids)) = (vectors, numbers, ids) else {
            return Err(strange());
        };
        sound &= self.install(|| {
            let vectors = vectors.into_iter().fold(true, |sound, place| sound & place.copy());
            numbers.into_iter().fold(vectors, |sound, place| sound & place.copy()) & ids.copy()
        });
        self.check_sound(call, port, particles, sound)?;
        self.kept.attributes = stamps;
        Ok(())
    }

    /// Writes only the velocities, `now` those of [`Beside::Now`], and their gradients: for a stage that moved, added
    /// and removed no particles.
    pub fn write_velocities(
        &mut self,
        call: &mut Call,
        port: u32,
        particles: &Particles,
        now: &Vec<Vec3>,
    ) -> Result<(), Failure> {
        let known = std::mem::take(&mut self.kept.attributes);
        let shapes = [&shapes()[1..=4], &[vector(c"v", Meaning::VECTOR)]].concat();
        let attributes = call.edit_attributes(port, 0, &shapes)?;
        let stamps: Vec<u64> = attributes.iter().take(4).map(|a| a.value_id()).collect();
        let [a, b, c] = &particles.affine;
        let fields = [&particles.velocity, a, b, c, now];
        let places = attributes.into_iter().zip(fields).map(|(to, from)| Place::of(to, from, Vec3::to_array));
        let places: Option<Vec<_>> = places.collect();
        let strange = || Failure::host(port, "the host gave another attribute than was asked for");
        let places = places.ok_or_else(strange)?;
        let sound = self.install(|| places.into_iter().fold(true, |sound, place| sound & place.copy()));
        self.check_sound(call, port, particles, sound)?;
        self.kept.attributes = known;
        self.kept.attributes[1..=4].copy_from_slice(&stamps);
        Ok(())
    }

    /// The message about particles that are not finite.
    fn check_sound(&self, call: &Call, port: u32, particles: &Particles, sound: bool) -> Result<(), Failure> {
        match (!sound).then(|| self.install(|| particles.find_non_finite())).flatten() {
            Some(p) => Err(not_finite(call, port, particles, p)),
            None => Ok(()),
        }
    }
}

/// One attribute of the particles: as it was kept, or to be read.
enum Column<'a, V, T: Scalar, const N: usize> {
    Kept(Vec<V>),
    Read(Cow<'a, [[T; N]]>),
}

impl<'a, V: Send, T: Finite, const N: usize> Column<'a, V, T, N> {
    /// The n-th of [`OWN`]; None where it is not there or of another type. `same`: the kept values are its values.
    fn of(view: &GeometryView<'a>, n: usize, same: bool, kept: Vec<V>, count: usize) -> Option<Self> {
        if same && kept.len() == count {
            return Some(Self::Kept(kept));
        }
        view.points::<T, N>(OWN[n]).map(Self::Read)
    }

    fn is_kept(&self) -> bool {
        matches!(self, Self::Kept(_))
    }

    /// Its values; `sound` turns false where one that was read is not finite.
    fn read(self, value: impl Fn([T; N]) -> V + Sync + Send, sound: &mut bool) -> Vec<V> {
        match self {
            Self::Kept(values) => values,
            Self::Read(from) => {
                let (values, finite) = read_values(&from, value);
                *sound &= finite;
                values
            }
        }
    }
}

/// Values and the place in the host's memory that they go to; none where they are there already.
struct Place<'a, V, T, const N: usize, F> {
    to: Option<&'a mut [[T; N]]>,
    from: &'a [V],
    /// A type of its own, not a pointer to a function: the compiler then copies whole vectors.
    components: F,
}

impl<'a, V: Sync, T: Finite, const N: usize, F: Fn(&V) -> [T; N] + Sync + Send> Place<'a, V, T, N, F> {
    /// None where the attribute is of another type or count.
    fn of(to: AttributeMut<'a>, from: &'a [V], components: F) -> Option<Self> {
        let to = match to.into_packed::<T, N>() {
            Ok(to) if to.len() != from.len() => return None,
            Ok(to) => Some(to),
            // Values that do not lie one after the other.
            Err(mut to) => {
                if !to.write(from.iter().map(&components)) {
                    return None;
                }
                None
            }
        };
        Some(Self { to, from, components })
    }

    /// False where a value is not finite.
    fn copy(self) -> bool {
        match self.to {
            Some(to) => copy_values(to, self.from, self.components),
            None => self.from.iter().all(|v| all_finite(&(self.components)(v))),
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
        if !self.users.iter().any(|f| f.shape.name == shape.name) {
            self.users.push(Follower { shape: shape.clone(), bytes: Vec::new() });
        }
        let Some(follower) = self.users.iter_mut().find(|f| f.shape.name == shape.name) else {
            return Ok(());
        };
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

    /// Takes a velocity out of what follows the particles.
    pub fn take(&mut self, which: Beside) -> Option<Vec<Vec3>> {
        self.velocities[which as usize].take()
    }

    /// Puts a velocity per particle among what follows them.
    pub fn put(&mut self, which: Beside, velocities: Vec<Vec3>) {
        self.velocities[which as usize] = Some(velocities);
    }

    /// Gives the last particles a velocity.
    pub fn give(&mut self, which: Beside, of_last: &[Vec3]) {
        if let Some(velocities) = &mut self.velocities[which as usize] {
            let last = velocities.iter_mut().rev().zip(of_last.iter().rev());
            last.for_each(|(velocity, &of_it)| *velocity = of_it);
        }
    }

    /// Follows a change of the particles; those without a source get zero.
    pub fn follow(&mut self, selection: &Selection) {
        for velocities in self.velocities.iter_mut().flatten() {
            if let Cow::Owned(followed) = selection.apply(velocities, Vec3::ZERO) {
                *velocities = followed;
            }
        }
        for f in &mut self.users {
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
fn users(view: &GeometryView) -> Vec<Follower> {
    let users = view.attributes().filter(|a| a.on() == On::POINTS && !is_own(a.name()));
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
    users.filter_map(copy).collect()
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
