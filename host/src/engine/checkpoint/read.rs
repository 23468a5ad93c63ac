//! Reads a checkpoint's payload. Its hash was checked before, so an error here means a bug in the writer; it is still
//! reported in a sentence.

use super::Checkpoint;
use crate::data::{
    Array, Attribute, Column, Data, Element, Geometry, Grid, Lifetime, MAX_COMPONENTS, Meaning, Object,
    Owner, Primitives, Sampling, Table, Tile, next_stamp,
};
use crate::engine::state::{Clock, Holder, State};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn payload(bytes: &[u8]) -> Result<Checkpoint, String> {
    let mut r = Reader(bytes);
    let origin =
        serde_json::from_str(&r.text()?).map_err(|e| format!("what it was made from is unclear: {e}"))?;
    let clock = r.clock()?;
    let mut holders = BTreeMap::new();
    for _ in 0..r.count(9)? {
        let code = r.byte()?;
        let node = r.number_u64()? as usize;
        let holder = if code == 0 { Holder::Object(node) } else { Holder::Node(node) };
        let mut object = Object::new(&r.text()?, &r.text()?);
        object.lead = r.number()?;
        for _ in 0..r.count(9)? {
            let name = r.text()?;
            let data = r.data()?;
            object.set(&name, Lifetime::State, data);
        }
        holders.insert(holder, object);
    }
    if !r.0.is_empty() {
        return Err(format!("{} bytes follow its end", r.0.len()));
    }
    Ok(Checkpoint { state: State { clock, holders }, origin })
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], String> {
        let (head, rest) = self.0.split_at_checked(n).ok_or("it ends too early")?;
        self.0 = rest;
        Ok(head)
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    fn byte(&mut self) -> Result<u8, String> {
        Ok(self.fixed::<1>()?[0])
    }

    fn number_u64(&mut self) -> Result<u64, String> {
        Ok(u64::from_le_bytes(self.fixed()?))
    }

    fn number(&mut self) -> Result<f64, String> {
        Ok(f64::from_le_bytes(self.fixed()?))
    }

    /// A count of things of at least `least` bytes each, which must fit into the rest.
    fn count(&mut self, least: usize) -> Result<usize, String> {
        let n = self.number_u64()?;
        let room = (self.0.len() / least.max(1)) as u64;
        if n > room { Err(format!("it announces {n} things where {room} fit")) } else { Ok(n as usize) }
    }

    fn text(&mut self) -> Result<String, String> {
        let n = self.count(1)?;
        String::from_utf8(self.take(n)?.to_vec()).map_err(|_| "a name in it is not text".into())
    }

    fn maybe(&mut self) -> Result<Option<f64>, String> {
        let there = self.byte()? != 0;
        let x = self.number()?;
        Ok(there.then_some(x))
    }

    fn clock(&mut self) -> Result<Clock, String> {
        Ok(Clock {
            frame: i32::from_le_bytes(self.fixed()?),
            substep: u32::from_le_bytes(self.fixed()?),
            elapsed: self.number()?,
            promise: self.maybe()?,
            wish: self.maybe()?,
        })
    }

    fn element(&mut self) -> Result<Element, String> {
        let code = self.byte()?;
        Element::ALL.get(usize::from(code)).copied().ok_or_else(|| format!("element type {code} is unknown"))
    }

    fn array(&mut self) -> Result<Array, String> {
        let element = self.element()?;
        let n = self.count(element.size())?;
        Ok(Array::read_le(element, self.take(n * element.size())?))
    }

    fn numbers(&mut self) -> Result<Arc<Vec<u32>>, String> {
        let n = self.count(4)?;
        let (words, _) = self.take(n * 4)?.as_chunks::<4>();
        Ok(Arc::new(words.iter().map(|w| u32::from_le_bytes(*w)).collect()))
    }

    fn triple(&mut self) -> Result<[i32; 3], String> {
        let mut t = [0; 3];
        for c in &mut t {
            *c = i32::from_le_bytes(self.fixed()?);
        }
        Ok(t)
    }

    fn data(&mut self) -> Result<Data, String> {
        match self.byte()? {
            0 => self.grid().map(Data::Grid),
            1 => self.geometry().map(Data::Geometry),
            2 => self.table().map(Data::Table),
            code => Err(format!("kind of data {code} is unknown")),
        }
    }

    fn grid(&mut self) -> Result<Grid, String> {
        let element = self.element()?;
        let sampling = match self.byte()? {
            0 => Sampling::Centre,
            1 => Sampling::Face,
            2 => Sampling::Node,
            code => return Err(format!("sampling {code} is unknown")),
        };
        let mut g = Grid::new(element, 0, sampling);
        for x in g.transform.iter_mut().chain(&mut g.background) {
            *x = self.number()?;
        }
        let mut origins = Vec::new();
        for _ in 0..self.count(12)? {
            origins.push(self.triple()?);
        }
        let mut tiles = Vec::new();
        for _ in 0..self.count(16)? {
            let (origin, edge) = (self.triple()?, u32::from_le_bytes(self.fixed()?));
            let mut value = [0.0; MAX_COMPONENTS];
            for x in &mut value {
                *x = self.number()?;
            }
            tiles.push(Tile { origin, edge, value });
        }
        g.origins = Arc::new(origins);
        g.tiles = Arc::new(tiles);
        for _ in 0..self.count(9)? {
            g.channels.push(Arc::new(self.array()?));
        }
        g.defect().map_or(Ok(g), Err)
    }

    fn geometry(&mut self) -> Result<Geometry, String> {
        let points = self.number_u64()? as usize;
        let origin = [self.number()?, self.number()?, self.number()?];
        let primitives = match self.byte()? {
            0 => Primitives::Points,
            1 => Primitives::Polylines { starts: self.numbers()?, vertices: self.numbers()? },
            2 => Primitives::Triangles { vertices: self.numbers()? },
            code => return Err(format!("primitive kind {code} is unknown")),
        };
        let mut g = Geometry { points, primitives, origin, ..Geometry::default() };
        for _ in 0..self.count(27)? {
            let name = self.text()?;
            let (owner, meaning) = (usize::from(self.byte()?), usize::from(self.byte()?));
            let components = self.number_u64()? as usize;
            g.attributes.push(Attribute {
                name,
                owner: *Owner::ALL.get(owner).ok_or("an attribute owner is unknown")?,
                components,
                meaning: *Meaning::ALL.get(meaning).ok_or("an attribute meaning is unknown")?,
                values: Arc::new(self.array()?),
                value_id: next_stamp(),
            });
        }
        g.defect().map_or(Ok(g), Err)
    }

    fn table(&mut self) -> Result<Table, String> {
        let mut t = Table::default();
        for _ in 0..self.count(25)? {
            let name = self.text()?;
            let components = self.number_u64()? as usize;
            t.columns.push(Column {
                name,
                components,
                values: Arc::new(self.array()?),
                value_id: next_stamp(),
            });
        }
        Ok(t)
    }
}
