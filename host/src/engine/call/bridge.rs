//! The host's side of a call, behind `ctx->host`.

use super::arena::Arena;
use super::view::{self, Reading, Writing};
use super::{Item, Measured, Request, Solve, Source, Written, shape};
use crate::data::{Data, Table, next_stamp};
use crate::engine::state::{Holder, Slot, State};
use crate::node::{PortSpec, Stage};
use meniscus_abi::{self as abi, Status};
use std::collections::BTreeMap;
use std::ffi::c_char;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Why a call fails.
#[derive(Debug)]
pub(super) struct Failure {
    /// One sentence; empty where the plugin gave none.
    pub(super) sentence: String,
    /// The port whose data are at fault.
    pub(super) port: Option<usize>,
}

/// Messages that a plugin may send from any thread.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) failure: Option<Failure>,
    pub(super) measures: Vec<Measured>,
    pub(super) solves: Vec<Solve>,
}

/// The writes of a call, and the memory that it was shown.
#[derive(Default)]
pub(super) struct Desk {
    pub(super) writes: BTreeMap<Slot, Written>,
    pub(super) arena: Arena,
    pub(super) wish: Option<f64>,
    pub(super) suggestion: f64,
}

pub(super) struct Bridge<'a> {
    pub(super) request: &'a Request<'a>,
    pub(super) ports: &'a [PortSpec],
    pub(super) state: &'a State,
    pub(super) notes: Mutex<Notes>,
    pub(super) desk: Mutex<Desk>,
}

/// The result of edit and shape: an address in the arena, or why there is none.
type Made<T> = Result<*const T, (Status, String)>;

impl<'a> Bridge<'a> {
    pub(super) fn new(request: &'a Request<'a>, ports: &'a [PortSpec], state: &'a State) -> Self {
        Self { request, ports, state, notes: Mutex::default(), desk: Mutex::default() }
    }

    pub(super) fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records why a call fails; the first reason is kept.
    pub(super) fn fail(&self, status: Status, port: i32, sentence: &str) -> Status {
        let port = usize::try_from(port).ok().filter(|&p| p < self.ports.len());
        self.notes().failure.get_or_insert(Failure { sentence: sentence.trim().to_owned(), port });
        status
    }

    /// Records what was measured of an object, or of the whole.
    pub(super) fn measured(&self, object: Option<&str>, key: String, values: Vec<f64>) {
        if !values.is_empty() {
            self.notes().measures.push(Measured { object: object.map(Into::into), key, values });
        }
    }

    /// The name of the object that an item is of.
    pub(super) fn object_of(&self, port: u32, item: u32) -> Option<&str> {
        let item = self.item(port, item)?;
        match &item.source {
            Source::Slot(Slot { holder: Holder::Object(_), .. }) => item.name.to_str().ok(),
            _ => None,
        }
    }

    pub(super) fn item(&self, port: u32, item: u32) -> Option<&Item> {
        self.request.items.get(port as usize)?.get(item as usize)
    }

    fn reads(&self, port: u32) -> bool {
        let Some(p) = self.ports.get(port as usize) else { return false };
        self.request.stage.is_none_or(|s| p.access(s).reads)
    }

    /// A copy (its arrays shared) of the data at an item, if the port may show it.
    fn look(&self, desk: &Desk, port: u32, item: u32) -> Option<Data> {
        match &self.item(port, item)?.source {
            Source::Input(g) => self.reads(port).then(|| Data::Geometry((**g).clone())),
            Source::Slot(slot) => match desk.writes.get(slot) {
                Some(written) => written.data.clone(),
                None => self.state.get(slot).filter(|_| self.reads(port)).cloned(),
            },
        }
    }

    pub(super) fn grid(&self, port: u32, item: u32) -> *const abi::Grid {
        let desk = &mut *self.desk();
        match self.look(desk, port, item) {
            Some(Data::Grid(mut g)) => {
                let view = view::grid::<Reading>(&mut g, &mut desk.arena);
                desk.arena.keep(g);
                view
            }
            _ => std::ptr::null(),
        }
    }

    pub(super) fn geometry(&self, port: u32, item: u32) -> *const abi::Geometry {
        let desk = &mut *self.desk();
        match self.look(desk, port, item) {
            Some(Data::Geometry(mut g)) => {
                let view = view::geometry::<Reading>(&mut g, &mut desk.arena, false);
                desk.arena.keep(g);
                view
            }
            _ => std::ptr::null(),
        }
    }

    pub(super) fn table(&self, port: u32, item: u32) -> *const abi::Table {
        let desk = &mut *self.desk();
        match self.look(desk, port, item) {
            Some(Data::Table(mut t)) => {
                let view = view::table::<Reading>(&mut t, &mut desk.arena);
                desk.arena.keep(t);
                view
            }
            _ => std::ptr::null(),
        }
    }

    /// The port and slot of an item that may be written, and that carries such data.
    fn writable(&self, port: u32, item: u32, carries: &str) -> Result<(&PortSpec, &Slot), (Status, String)> {
        let (spec, slot) = self.open_to_writes(port, item)?;
        if spec.carries.name() != carries {
            let message = format!("`{}` is a {}, not a {carries}", spec.called(), spec.carries.name());
            return Err((Status::BAD_ARGUMENT, message));
        }
        Ok((spec, slot))
    }

    /// The port and slot of an item that may be written.
    fn open_to_writes(&self, port: u32, item: u32) -> Result<(&PortSpec, &Slot), (Status, String)> {
        let bad = |e: String| (Status::BAD_ARGUMENT, e);
        let spec = self.ports.get(port as usize).ok_or_else(|| bad(format!("there is no port {port}")))?;
        let stage = self.request.stage.ok_or_else(|| bad("nothing can be written outside a stage".into()))?;
        if !spec.access(stage).writes {
            return Err(bad(format!("`{}` is not declared as written by {}", spec.called(), stage.name())));
        }
        match self.item(port, item).map(|i| &i.source) {
            Some(Source::Slot(slot)) => Ok((spec, slot)),
            Some(Source::Input(_)) => Err(bad("inputs are only read".into())),
            None => Err(bad(format!("it has no item {item}"))),
        }
    }

    /// # Safety
    /// `request` is null or as the header says.
    pub(super) unsafe fn shape_grid(
        &self,
        port: u32,
        item: u32,
        request: *const abi::Grid,
    ) -> Made<abi::Grid> {
        let (spec, slot) = self.writable(port, item, "grid")?;
        // SAFETY: the caller's promise.
        let wanted = unsafe { abi::read(request) }.ok_or_else(no_shape)?;
        let desk = &mut *self.desk();
        // SAFETY: the caller's promise.
        let made = unsafe { shape::grid(&wanted, spec, |id| self.leaves(desk, id)) };
        let mut g = made.map_err(out_of_shape)?;
        if let Some(Data::Grid(old)) = self.state.get(slot)
            && old.origins == g.origins
            && old.tiles.len() == g.tiles.len()
            && old.tiles.iter().zip(g.tiles.iter()).all(|(a, b)| (a.origin, a.edge) == (b.origin, b.edge))
        {
            g.origins = old.origins.clone();
            g.topology_id = old.topology_id;
        }
        let view = view::grid::<Writing>(&mut g, &mut desk.arena);
        desk.put(slot, port, Some(Data::Grid(g)));
        Ok(view)
    }

    /// The leaves of a grid that this call can see.
    fn leaves(&self, desk: &Desk, topology_id: u64) -> Option<Arc<Vec<[i32; 3]>>> {
        let slots = self.request.items.iter().flatten().filter_map(|i| match &i.source {
            Source::Slot(s) => Some(s),
            Source::Input(_) => None,
        });
        let seen = slots
            .filter_map(|s| self.state.get(s))
            .chain(desk.writes.values().filter_map(|w| w.data.as_ref()));
        seen.filter_map(|d| if let Data::Grid(g) = d { Some(g) } else { None })
            .find(|g| g.topology_id == topology_id)
            .map(|g| g.origins.clone())
    }

    /// # Safety
    /// `request` is null or as the header says.
    pub(super) unsafe fn shape_geometry(
        &self,
        port: u32,
        item: u32,
        request: *const abi::Geometry,
    ) -> Made<abi::Geometry> {
        let (_, slot) = self.writable(port, item, "geometry")?;
        // SAFETY: the caller's promise.
        let made =
            unsafe { shape::geometry(&abi::read(request).ok_or_else(no_shape)?, self.request.threads) };
        let mut g = made.map_err(out_of_shape)?;
        let desk = &mut *self.desk();
        let view = view::geometry::<Writing>(&mut g, &mut desk.arena, true);
        desk.put(slot, port, Some(Data::Geometry(g)));
        Ok(view)
    }

    /// # Safety
    /// `request` is null or as the header says.
    pub(super) unsafe fn shape_table(
        &self,
        port: u32,
        item: u32,
        request: *const abi::Table,
    ) -> Made<abi::Table> {
        let (_, slot) = self.writable(port, item, "table")?;
        // SAFETY: the caller's promise.
        let mut t =
            unsafe { shape::table(&abi::read(request).ok_or_else(no_shape)?) }.map_err(out_of_shape)?;
        let desk = &mut *self.desk();
        let view = view::table::<Writing>(&mut t, &mut desk.arena);
        desk.put(slot, port, Some(Data::Table(t)));
        Ok(view)
    }

    /// The data to edit: what this call has already written, else a copy of what was there.
    fn take(&self, desk: &mut Desk, slot: &Slot) -> Option<Data> {
        match desk.writes.remove(slot) {
            Some(written) => written.data,
            None => self.state.get(slot).cloned(),
        }
    }

    /// Takes away what is at a port.
    pub(super) fn clear(&self, port: u32, item: u32) -> Result<(), (Status, String)> {
        let (_, slot) = self.open_to_writes(port, item)?;
        self.desk().put(slot, port, None);
        Ok(())
    }

    pub(super) fn edit_grid(&self, port: u32, item: u32) -> Made<abi::Grid> {
        let (spec, slot) = self.writable(port, item, "grid")?;
        let desk = &mut *self.desk();
        let Some(Data::Grid(mut g)) = self.take(desk, slot) else { return Err(nothing_there(spec)) };
        g.value_id = next_stamp();
        let view = view::grid::<Writing>(&mut g, &mut desk.arena);
        desk.put(slot, port, Some(Data::Grid(g)));
        Ok(view)
    }

    pub(super) fn place_grid(&self, port: u32, item: u32, matrix: [f64; 16]) -> Result<(), (Status, String)> {
        let (spec, slot) = self.writable(port, item, "grid")?;
        let desk = &mut *self.desk();
        let Some(Data::Grid(mut g)) = self.take(desk, slot) else { return Err(nothing_there(spec)) };
        g.transform = matrix;
        desk.put(slot, port, Some(Data::Grid(g)));
        Ok(())
    }

    /// # Safety
    /// `request` is null or as the header says.
    pub(super) unsafe fn edit_attribute(
        &self,
        port: u32,
        item: u32,
        request: *const abi::Attribute,
    ) -> Made<abi::Attribute> {
        let (spec, slot) = self.writable(port, item, "geometry")?;
        // SAFETY: the caller's promise.
        let wanted = unsafe { abi::read(request) }.ok_or_else(no_shape)?;
        let desk = &mut *self.desk();
        let Some(Data::Geometry(mut g)) = self.take(desk, slot) else { return Err(nothing_there(spec)) };
        // SAFETY: the caller's promise.
        let made = match unsafe { shape::attribute(&wanted, |owner| g.count(owner)) } {
            Ok(made) => made,
            Err(e) => {
                desk.put(slot, port, Some(Data::Geometry(g)));
                return Err(out_of_shape(e));
            }
        };
        let place = g.attributes.iter().position(|a| a.owner == made.owner && a.name == made.name);
        let count = g.count(made.owner);
        let view = {
            let attribute = match place {
                Some(i) => &mut g.attributes[i],
                None => {
                    g.attributes.push(made.clone());
                    let last = g.attributes.len() - 1;
                    &mut g.attributes[last]
                }
            };
            if (attribute.components, attribute.values.element()) == (made.components, made.values.element())
            {
                attribute.value_id = next_stamp();
            } else {
                desk.arena.keep(std::mem::replace(attribute, made));
            }
            view::attribute::<Writing>(attribute, count, &mut desk.arena)
        };
        desk.put(slot, port, Some(Data::Geometry(g)));
        Ok(desk.arena.keep(view))
    }

    /// # Safety
    /// `request` is null or as the header says.
    pub(super) unsafe fn edit_array(
        &self,
        port: u32,
        item: u32,
        request: *const abi::Array,
    ) -> Made<abi::Array> {
        let (_, slot) = self.writable(port, item, "table")?;
        // SAFETY: the caller's promise.
        let made =
            unsafe { shape::column(&abi::read(request).ok_or_else(no_shape)?) }.map_err(out_of_shape)?;
        let desk = &mut *self.desk();
        let mut t = match self.take(desk, slot) {
            Some(Data::Table(t)) => t,
            _ => Table::default(),
        };
        let place = t.columns.iter().position(|c| c.name == made.name).unwrap_or_else(|| {
            t.columns.push(made.clone());
            t.columns.len() - 1
        });
        let column = &mut t.columns[place];
        let same = |a: &crate::data::Column| (a.components, a.values.element(), a.values.len());
        if same(column) == same(&made) {
            column.value_id = next_stamp();
        } else {
            desk.arena.keep(std::mem::replace(column, made));
        }
        let view = view::array::<Writing>(column, &mut desk.arena);
        desk.put(slot, port, Some(Data::Table(t)));
        Ok(desk.arena.keep(view))
    }

    pub(super) fn item_name(&self, port: u32, item: u32) -> *const c_char {
        self.item(port, item).map_or(std::ptr::null(), |i| i.name.as_ptr())
    }

    /// The kick of the object that an item is of, s.
    pub(super) fn item_kick(&self, port: u32, item: u32) -> f64 {
        let timing = &self.request.timing;
        let of_object = match self.item(port, item).map(|i| &i.source) {
            Some(Source::Slot(Slot { holder, .. })) => self.state.kick(*holder, timing.dt, timing.dt_next),
            _ => None,
        };
        match self.request.stage {
            None | Some(Stage::Init) => timing.dt_kick,
            Some(_) => of_object.unwrap_or(timing.dt_kick),
        }
    }
}

impl Desk {
    /// Stores new data that came through a port; `None` takes away what is there. The data that it replaces stays alive,
    /// for views handed out before.
    fn put(&mut self, slot: &Slot, port: u32, data: Option<Data>) {
        if let Some(old) = self.writes.insert(slot.clone(), Written { port: port as usize, data }) {
            self.arena.keep(old);
        }
    }
}

fn no_shape() -> (Status, String) {
    (Status::BAD_ARGUMENT, "a shape was asked for without saying which".into())
}

fn out_of_shape(e: String) -> (Status, String) {
    let status =
        if e.starts_with("there is no memory") { Status::OUT_OF_MEMORY } else { Status::BAD_ARGUMENT };
    (status, e)
}

fn nothing_there(spec: &PortSpec) -> (Status, String) {
    (Status::BAD_INPUT, format!("there is no {} to edit", spec.carries.name()))
}
