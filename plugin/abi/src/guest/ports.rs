//! Reading, shaping and editing ports.

use super::{
    ArrayShape, AttributeMut, AttributeShape, Call, Failure, GeometryMut, GeometryShape, GeometryView,
    GridMut, GridShape, GridView, Scalar, TableView,
};
use crate::{Array, Attribute, Status, Table, read, text};

impl Call<'_> {
    /// Number of items at a port.
    pub fn items(&self, port: u32) -> u32 {
        // SAFETY: [owner] function on the owner's thread.
        self.context().items.map_or(0, |items| unsafe { items(self.raw(), port) })
    }

    /// Name of the object or node an item comes from.
    pub fn item_name(&self, port: u32, item: u32) -> &str {
        // SAFETY: [owner] function on the owner's thread; the string outlives the call.
        self.context().item_name.and_then(|name| unsafe { text(name(self.raw(), port, item)) }).unwrap_or("?")
    }

    /// The grid at a port, if there is one.
    pub fn grid(&self, port: u32, item: u32) -> Option<GridView<'_>> {
        // SAFETY: [owner] function on the owner's thread; views live until the call returns, and while
        // `self` is borrowed nothing is edited.
        unsafe { Some(GridView::new(read(self.context().grid?(self.raw(), port, item))?)) }
    }

    /// The geometry at a port, if there is one.
    pub fn geometry(&self, port: u32, item: u32) -> Option<GeometryView<'_>> {
        // SAFETY: as above.
        unsafe { Some(GeometryView::new(read(self.context().geometry?(self.raw(), port, item))?)) }
    }

    /// The table at a port, if there is one.
    pub fn table(&self, port: u32, item: u32) -> Option<TableView<'_>> {
        // SAFETY: as above.
        unsafe { Some(TableView::new(read(self.context().table?(self.raw(), port, item))?)) }
    }

    /// A new grid at a port, filled with its background.
    pub fn shape_grid(&mut self, port: u32, item: u32, shape: &GridShape) -> Result<GridMut<'_>, Failure> {
        let request = shape.request();
        // SAFETY: [owner] function on the owner's thread; the memory is ours alone while `self` is
        // borrowed mutably.
        let made =
            self.context().shape_grid.and_then(|f| unsafe { read(f(self.raw(), port, item, &request)) });
        // SAFETY: as above.
        made.map(|grid| unsafe { GridMut::new(grid) }).ok_or_else(|| refused(port))
    }

    /// New grids at several ports (and items of them), each filled with its background. `shape` makes the request for the
    /// n-th of them, and sees those made before. The places must be different ones.
    pub fn shape_grids<'s>(
        &mut self,
        ports: &[(u32, u32)],
        mut shape: impl FnMut(usize, &[GridMut]) -> GridShape<'s>,
    ) -> Result<Vec<GridMut<'_>>, Failure> {
        let mut made = Vec::with_capacity(ports.len());
        for (n, &(port, item)) in ports.iter().enumerate() {
            if ports[..n].contains(&(port, item)) {
                return Err(Failure::host(port, "one port is written twice at once"));
            }
            let request = shape(n, &made).request();
            // SAFETY: [owner] function on the owner's thread.
            let grid =
                self.context().shape_grid.and_then(|f| unsafe { read(f(self.raw(), port, item, &request)) });
            // SAFETY: the memory is ours alone while `self` is borrowed mutably, of this port alone, and stays valid
            // while others are shaped (header).
            made.push(grid.map(|grid| unsafe { GridMut::new(grid) }).ok_or_else(|| refused(port))?);
        }
        Ok(made)
    }

    /// New geometry at a port, its values zero.
    pub fn shape_geometry(
        &mut self,
        port: u32,
        item: u32,
        shape: &GeometryShape,
    ) -> Result<GeometryMut<'_>, Failure> {
        let attributes: Vec<Attribute> = shape.attributes.iter().map(AttributeShape::request).collect();
        let request = shape.request(&attributes);
        // SAFETY: as above.
        let made =
            self.context().shape_geometry.and_then(|f| unsafe { read(f(self.raw(), port, item, &request)) });
        // SAFETY: as above.
        made.map(|geometry| unsafe { GeometryMut::new(geometry) }).ok_or_else(|| refused(port))
    }

    /// A new, empty table at a port.
    pub fn shape_table(&mut self, port: u32, item: u32) -> Result<(), Failure> {
        let request = Table { ..crate::Growable::blank() };
        // SAFETY: as above; what comes back is not used.
        let made = self.context().shape_table.map(|f| unsafe { f(self.raw(), port, item, &request) });
        made.filter(|t| !t.is_null()).map(|_| ()).ok_or_else(|| refused(port))
    }

    /// Moves the grid at a port: its values and stamps stay.
    pub fn place_grid(&mut self, port: u32, item: u32, index_to_world: &[f64; 16]) -> Result<(), Failure> {
        // SAFETY: [owner] function on the owner's thread; the matrix outlives it.
        let placed =
            self.context().place_grid.map(|f| unsafe { f(self.raw(), port, item, index_to_world.as_ptr()) });
        if placed == Some(Status::OK) { Ok(()) } else { Err(refused(port)) }
    }

    /// Takes away what is at a port.
    pub fn clear(&mut self, port: u32, item: u32) -> Result<(), Failure> {
        // SAFETY: [owner] function on the owner's thread.
        let cleared = self.context().clear.map(|f| unsafe { f(self.raw(), port, item) });
        if cleared == Some(Status::OK) { Ok(()) } else { Err(refused(port)) }
    }

    /// The grid at a port made writable, its values kept.
    pub fn edit_grid(&mut self, port: u32, item: u32) -> Result<GridMut<'_>, Failure> {
        // SAFETY: as above.
        let grid = self.context().edit_grid.and_then(|f| unsafe { read(f(self.raw(), port, item)) });
        // SAFETY: as above.
        grid.map(|grid| unsafe { GridMut::new(grid) }).ok_or_else(|| refused(port))
    }

    /// An attribute made writable, its values kept; zero where it was not there.
    pub fn edit_attribute(
        &mut self,
        port: u32,
        item: u32,
        shape: &AttributeShape,
    ) -> Result<AttributeMut<'_>, Failure> {
        let request = shape.request();
        // SAFETY: as above.
        let made =
            self.context().edit_attribute.and_then(|f| unsafe { read(f(self.raw(), port, item, &request)) });
        // SAFETY: as above.
        made.map(|a| unsafe { AttributeMut::new(a) }).ok_or_else(|| refused(port))
    }

    /// Several attributes made writable, their values kept; zero where they were not there. None may be named twice.
    pub fn edit_attributes(
        &mut self,
        port: u32,
        item: u32,
        shapes: &[AttributeShape],
    ) -> Result<Vec<AttributeMut<'_>>, Failure> {
        let mut made = Vec::with_capacity(shapes.len());
        for (n, shape) in shapes.iter().enumerate() {
            if shapes[..n].iter().any(|s| (s.on, &s.name) == (shape.on, &shape.name)) {
                return Err(Failure::host(port, "one attribute is written twice at once"));
            }
            let request = shape.request();
            // SAFETY: [owner] function on the owner's thread.
            let attribute = self
                .context()
                .edit_attribute
                .and_then(|f| unsafe { read(f(self.raw(), port, item, &request)) });
            // SAFETY: the memory is ours alone while `self` is borrowed mutably, of this attribute alone, and stays
            // valid while others are edited (header).
            made.push(attribute.map(|a| unsafe { AttributeMut::new(a) }).ok_or_else(|| refused(port))?);
        }
        Ok(made)
    }

    /// Writes an array of a table: `[count][components]` values.
    pub fn write_array<T: Scalar>(
        &mut self,
        port: u32,
        item: u32,
        name: &std::ffi::CStr,
        components: u32,
        values: &[T],
    ) -> Result<(), Failure> {
        let count = values.len() / components.max(1) as usize;
        // The request points into the shape, which therefore outlives it.
        let shape = ArrayShape { name: name.into(), element: T::ELEMENT, components, count };
        let request = shape.request();
        // SAFETY: as above.
        let made: Option<Array> =
            self.context().edit_array.and_then(|f| unsafe { read(f(self.raw(), port, item, &request)) });
        let fits =
            |a: &Array| a.element == T::ELEMENT && a.components == components && a.count == count as u64;
        match made.filter(fits) {
            Some(_) if values.is_empty() => Ok(()),
            Some(a) if !a.writable.is_null() && a.writable.cast::<T>().is_aligned() => {
                // SAFETY: `count · components` values of that type, ours alone.
                unsafe {
                    let to =
                        std::slice::from_raw_parts_mut(a.writable.cast::<T>(), count * components as usize);
                    to.copy_from_slice(&values[..to.len()]);
                }
                Ok(())
            }
            _ => Err(refused(port)),
        }
    }
}

/// The host has said why when it refuses; its sentence stands, so this one stays empty.
fn refused(port: u32) -> Failure {
    Failure { status: Status::FAILED, port: Some(port), sentence: String::new() }
}
