//! Geometry, to read and to write.

use super::{Scalar, grids::slice};
use crate::{Attribute, Element, Geometry, Meaning, On, Primitive, read_array, text};
use std::borrow::Cow;
use std::marker::PhantomData;

/// An attribute to read.
#[derive(Clone, Copy, Debug)]
pub struct AttributeView<'a> {
    attribute: Attribute,
    bytes: PhantomData<&'a [u8]>,
}

impl<'a> AttributeView<'a> {
    /// Its name.
    pub fn name(&self) -> &'a str {
        // SAFETY: names live as long as the view.
        unsafe { text(self.attribute.name) }.unwrap_or("")
    }

    /// What it is on.
    pub fn on(&self) -> On {
        self.attribute.on
    }

    /// Element type.
    pub fn element(&self) -> Element {
        self.attribute.element
    }

    /// Components per value.
    pub fn components(&self) -> u32 {
        self.attribute.components
    }

    /// How it moves with its geometry.
    pub fn meaning(&self) -> Meaning {
        self.attribute.meaning
    }

    /// Equal stamp, same bytes.
    pub fn value_id(&self) -> u64 {
        self.attribute.value_id
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        usize::try_from(self.attribute.count).unwrap_or(0)
    }

    /// True without any value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of one value.
    pub fn value_bytes(&self) -> usize {
        self.attribute.element.bytes() * self.attribute.components as usize
    }

    /// All values, where they lie if they lie one after the other; None where they are of another type or not in host
    /// memory.
    pub fn read<T: Scalar, const N: usize>(&self) -> Option<Cow<'a, [[T; N]]>> {
        let a = &self.attribute;
        if a.element != T::ELEMENT || a.components as usize != N {
            return None;
        }
        if self.is_empty() {
            return Some(Cow::default());
        }
        if a.values.is_null() {
            return None;
        }
        let first = a.values.cast::<[T; N]>();
        if a.stride as usize == size_of::<[T; N]>() && first.is_aligned() {
            // SAFETY: `count` values of this type (compared) lie one after the other, for 'a.
            return Some(Cow::Borrowed(unsafe { std::slice::from_raw_parts(first, self.len()) }));
        }
        let value = |i: usize| {
            // SAFETY: value i of `count` lies i strides on, of this type (compared), for 'a.
            unsafe { a.values.cast::<u8>().add(i * a.stride as usize).cast::<[T; N]>().read_unaligned() }
        };
        Some((0..self.len()).map(value).collect())
    }

    /// The bytes of each value, in order; for attributes that are only carried along.
    pub fn bytes(&self) -> impl Fn(usize) -> &'a [u8] + '_ {
        let (n, size, a) = (self.len(), self.value_bytes(), &self.attribute);
        let there = !a.values.is_null();
        move |i| {
            if i >= n || !there {
                return &[];
            }
            // SAFETY: value i of `count` lies i strides on, `size` bytes of it, for 'a.
            unsafe { std::slice::from_raw_parts(a.values.cast::<u8>().add(i * a.stride as usize), size) }
        }
    }
}

/// Geometry to read.
#[derive(Clone, Debug)]
pub struct GeometryView<'a> {
    geometry: Geometry,
    attributes: Vec<Attribute>,
    bytes: PhantomData<&'a [u8]>,
}

impl<'a> GeometryView<'a> {
    /// # Safety
    /// What `geometry` points to lives for `'a` and nobody writes it meanwhile.
    pub(super) unsafe fn new(geometry: Geometry) -> Self {
        // SAFETY: the attributes are there (contract).
        let attributes = unsafe { read_array(geometry.attributes, geometry.attribute_count) };
        Self { geometry, attributes, bytes: PhantomData }
    }

    /// Points, polylines or triangles.
    pub fn primitive(&self) -> Primitive {
        self.geometry.primitive
    }

    /// Stamp of counts and vertices.
    pub fn topology_id(&self) -> u64 {
        self.geometry.topology_id
    }

    /// Number of points.
    pub fn point_count(&self) -> usize {
        usize::try_from(self.geometry.point_count).unwrap_or(0)
    }

    /// `P` is relative to it, metres.
    pub fn origin(&self) -> [f64; 3] {
        self.geometry.origin
    }

    /// `[primitive + 1]` first vertex of each polyline; None where there are no polylines.
    pub fn starts(&self) -> Option<&'a [u32]> {
        let lines =
            (self.geometry.primitive == Primitive::POLYLINES).then_some(self.geometry.primitive_count)?;
        // SAFETY: as below.
        unsafe { slice(self.geometry.starts, lines.checked_add(1)?) }
    }

    /// `[vertex]` point number.
    pub fn vertices(&self) -> Option<&'a [u32]> {
        // SAFETY: the bytes live for 'a and are not written (construction).
        unsafe { slice(self.geometry.vertices, self.geometry.vertex_count) }
    }

    /// Every attribute.
    pub fn attributes(&self) -> impl Iterator<Item = AttributeView<'a>> + '_ {
        self.attributes.iter().map(|&attribute| AttributeView { attribute, bytes: PhantomData })
    }

    /// An attribute by what it is on and its name.
    pub fn attribute(&self, on: On, name: &str) -> Option<AttributeView<'a>> {
        self.attributes().find(|a| a.on() == on && a.name() == name)
    }

    /// The values of a point attribute; None where there is none of that name and type.
    pub fn points<T: Scalar, const N: usize>(&self, name: &str) -> Option<Cow<'a, [[T; N]]>> {
        let values = self.attribute(On::POINTS, name)?.read()?;
        (values.len() == self.point_count()).then_some(values)
    }
}

/// An attribute to write.
#[derive(Debug)]
pub struct AttributeMut<'a> {
    attribute: Attribute,
    bytes: PhantomData<&'a mut [u8]>,
}

impl<'a> AttributeMut<'a> {
    /// # Safety
    /// What `attribute` points to lives for `'a` and nobody else touches it meanwhile.
    pub(super) unsafe fn new(attribute: Attribute) -> Self {
        Self { attribute, bytes: PhantomData }
    }

    /// The stamp of what is written.
    pub fn value_id(&self) -> u64 {
        self.attribute.value_id
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        usize::try_from(self.attribute.count).unwrap_or(0)
    }

    /// True without any value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All values where they lie, if they lie one after the other and are of this type.
    pub fn packed<T: Scalar, const N: usize>(&mut self) -> Option<&mut [[T; N]]> {
        let a = &self.attribute;
        let first = a.writable.cast::<[T; N]>();
        let fits = a.element == T::ELEMENT && a.components as usize == N;
        let lies = a.stride as usize == size_of::<[T; N]>() && first.is_aligned() && !first.is_null();
        // SAFETY: `count` values of this type (compared) lie one after the other, ours alone for 'a.
        (fits && lies).then(|| unsafe { std::slice::from_raw_parts_mut(first, self.len()) })
    }

    /// All values where they lie, if they lie one after the other and are of this type.
    pub fn into_packed<T: Scalar, const N: usize>(mut self) -> Result<&'a mut [[T; N]], Self> {
        let Some(values) = self.packed::<T, N>() else { return Err(self) };
        // SAFETY: these values are ours alone for 'a (construction), and `self` ends here.
        Ok(unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr(), values.len()) })
    }

    /// Writes all values; false (and nothing written) where type or count are others.
    pub fn write<T: Scalar, const N: usize>(
        &mut self,
        values: impl ExactSizeIterator<Item = [T; N]>,
    ) -> bool {
        let a = &self.attribute;
        let fits = a.element == T::ELEMENT && a.components as usize == N && values.len() == self.len();
        if !fits || (a.writable.is_null() && !self.is_empty()) {
            return false;
        }
        if let Some(packed) = self.packed() {
            packed.iter_mut().zip(values).for_each(|(to, value)| *to = value);
            return true;
        }
        let a = &self.attribute;
        for (i, value) in values.enumerate().take(self.len()) {
            // SAFETY: value i of `count` lies i strides on, of this type (compared), ours alone for 'a.
            unsafe {
                a.writable.cast::<u8>().add(i * a.stride as usize).cast::<[T; N]>().write_unaligned(value);
            }
        }
        true
    }

    /// Replaces each value by what `f` makes of it; false (and nothing written) where the type is another.
    pub fn update<T: Scalar, const N: usize>(&mut self, f: impl Fn([T; N]) -> [T; N]) -> bool {
        let a = &self.attribute;
        let fits = a.element == T::ELEMENT && a.components as usize == N;
        if !fits || (a.writable.is_null() && !self.is_empty()) {
            return false;
        }
        if let Some(packed) = self.packed() {
            packed.iter_mut().for_each(|value| *value = f(*value));
            return true;
        }
        let a = &self.attribute;
        for i in 0..self.len() {
            // SAFETY: value i of `count` lies i strides on, of this type (compared), ours alone for 'a.
            unsafe {
                let at = a.writable.cast::<u8>().add(i * a.stride as usize).cast::<[T; N]>();
                at.write_unaligned(f(at.read_unaligned()));
            }
        }
        true
    }

    /// Writes the bytes of all values from a source of the same type; values without bytes stay zero.
    pub fn write_bytes<'b>(&mut self, values: impl Iterator<Item = &'b [u8]>) {
        let a = &self.attribute;
        let size = a.element.bytes() * a.components as usize;
        if a.writable.is_null() {
            return;
        }
        for (i, value) in values.enumerate().take(self.len()).filter(|(_, v)| v.len() == size) {
            // SAFETY: value i of `count` lies i strides on, `size` bytes of it, ours alone for 'a.
            unsafe {
                let to = a.writable.cast::<u8>().add(i * a.stride as usize);
                std::ptr::copy_nonoverlapping(value.as_ptr(), to, size);
            }
        }
    }
}

/// Geometry to write.
#[derive(Debug)]
pub struct GeometryMut<'a> {
    geometry: Geometry,
    attributes: Vec<Attribute>,
    bytes: PhantomData<&'a mut [u8]>,
}

impl GeometryMut<'_> {
    /// # Safety
    /// What `geometry` points to lives for `'a` and nobody else touches it meanwhile.
    pub(super) unsafe fn new(geometry: Geometry) -> Self {
        // SAFETY: the attributes are there (contract).
        let attributes = unsafe { read_array(geometry.attributes, geometry.attribute_count) };
        Self { geometry, attributes, bytes: PhantomData }
    }

    /// Number of points.
    pub fn point_count(&self) -> usize {
        usize::try_from(self.geometry.point_count).unwrap_or(0)
    }

    /// Writes which points the vertices are, and for polylines where each line begins: `starts` has one entry more than
    /// there are lines, the first 0 and the last the number of vertices; empty for triangles. False (and nothing
    /// written) where the counts are others.
    pub fn write_topology(&mut self, vertices: &[u32], starts: &[u32]) -> bool {
        let g = &self.geometry;
        let lines = g.primitive == Primitive::POLYLINES;
        let wanted = if lines { g.primitive_count.saturating_add(1) } else { 0 };
        let has_room = |to: *mut u32, values: &[u32]| values.is_empty() || !to.is_null();
        if vertices.len() as u64 != g.vertex_count
            || starts.len() as u64 != wanted
            || !has_room(g.writable_vertices, vertices)
            || !has_room(g.writable_starts, starts)
        {
            return false;
        }
        for (to, values) in [(g.writable_vertices, vertices), (g.writable_starts, starts)] {
            if !values.is_empty() {
                // SAFETY: room for as many (compared), ours alone (construction), and the values lie elsewhere.
                unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), to, values.len()) };
            }
        }
        true
    }

    /// An attribute by what it is on and its name.
    pub fn attribute(&mut self, on: On, name: &str) -> Option<AttributeMut<'_>> {
        // SAFETY: names live as long as the view.
        let named = |a: &&Attribute| a.on == on && unsafe { text(a.name) } == Some(name);
        let attribute = *self.attributes.iter().find(named)?;
        // SAFETY: borrowed from what is ours alone (construction).
        Some(unsafe { AttributeMut::new(attribute) })
    }

    /// Several point attributes, to be written side by side; None where one is missing or named twice.
    pub fn side_by_side<const K: usize>(&mut self, names: [&str; K]) -> Option<[AttributeMut<'_>; K]> {
        if (1..K).any(|k| names[..k].contains(&names[k])) {
            return None;
        }
        // SAFETY: names live as long as the view.
        let named = |a: &&Attribute, name| a.on == On::POINTS && unsafe { text(a.name) } == Some(name);
        let found = names.map(|name| self.attributes.iter().find(|a| named(a, name)).copied());
        let found: Vec<Attribute> = found.into_iter().collect::<Option<_>>()?;
        // SAFETY: borrowed from what is ours alone (construction); these are different attributes, so none of their
        // elements lies in another one's.
        let made = found.into_iter().map(|attribute| unsafe { AttributeMut::new(attribute) });
        <[AttributeMut; K]>::try_from(made.collect::<Vec<_>>()).ok()
    }

    /// Writes a point attribute; false where there is none of that name, type and count.
    pub fn points<T: Scalar, const N: usize>(
        &mut self,
        name: &str,
        values: impl ExactSizeIterator<Item = [T; N]>,
    ) -> bool {
        self.attribute(On::POINTS, name).is_some_and(|mut a| a.write(values))
    }
}
