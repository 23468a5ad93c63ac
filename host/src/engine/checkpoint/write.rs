//! Writes a checkpoint in pieces, without a second copy of the state.

use super::{Checkpoint, HEAD, MAGIC, VERSION};
use crate::data::{Array, Data, Element, Geometry, Grid, Lifetime, Meaning, Owner, Primitives, Table};
use crate::engine::state::{Clock, Holder};
use std::fs::File;
use std::io::{Error, Seek, SeekFrom, Write};

/// Bytes that are hashed and written at once; they stay in the processor's cache.
const PIECE: usize = 1 << 18;

/// Fills a new file.
pub(super) fn file(checkpoint: &Checkpoint, file: &mut File) -> std::io::Result<()> {
    // Length and hash are known last, so their place is filled at the end.
    file.write_all(&[0; HEAD])?;
    let mut w = Writer { file, hasher: blake3::Hasher::new(), bytes: Vec::new(), length: 0, error: None };
    let origin = serde_json::to_string(&checkpoint.origin)?;
    w.payload(checkpoint, &origin);
    w.pass_on();
    let Writer { file, hasher, length, error, .. } = w;
    error.map_or(Ok(()), Err)?;
    let mut head = Vec::with_capacity(HEAD);
    head.extend_from_slice(MAGIC);
    head.extend_from_slice(&VERSION.to_le_bytes());
    head.extend_from_slice(&length.to_le_bytes());
    head.extend_from_slice(hasher.finalize().as_bytes());
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&head)
}

/// Hashes and writes what it is given.
struct Writer<'a> {
    file: &'a mut File,
    hasher: blake3::Hasher,
    /// Bytes that are neither hashed nor written yet.
    bytes: Vec<u8>,
    /// Bytes hashed and written.
    length: u64,
    /// The first error; after it nothing more is written.
    error: Option<Error>,
}

impl Writer<'_> {
    /// Hashes and writes what has come together.
    fn pass_on(&mut self) {
        if self.error.is_none() {
            self.error = self.file.write_all(&self.bytes).err();
            self.hasher.update(&self.bytes);
            self.length += self.bytes.len() as u64;
        }
        self.bytes.clear();
    }

    fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.pass_on_pieces();
    }

    fn pass_on_pieces(&mut self) {
        if self.bytes.len() >= PIECE {
            self.pass_on();
        }
    }

    fn payload(&mut self, checkpoint: &Checkpoint, origin: &str) {
        self.text(origin);
        self.clock(&checkpoint.state.clock);
        self.count(checkpoint.state.holders.len());
        for (holder, object) in &checkpoint.state.holders {
            let (code, node) = match holder {
                Holder::Object(n) => (0, n),
                Holder::Node(n) => (1, n),
            };
            self.byte(code);
            self.count(*node);
            self.text(&object.name);
            self.text(&object.kind);
            self.number(object.lead);
            let state: Vec<_> = object.ports.iter().filter(|(_, p)| p.lifetime == Lifetime::State).collect();
            self.count(state.len());
            for (name, port) in state {
                self.text(name);
                self.data(&port.data);
            }
        }
    }

    fn count(&mut self, n: usize) {
        self.put(&(n as u64).to_le_bytes());
    }

    fn number(&mut self, x: f64) {
        self.put(&x.to_le_bytes());
    }

    fn text(&mut self, t: &str) {
        self.count(t.len());
        self.put(t.as_bytes());
    }

    fn maybe(&mut self, x: Option<f64>) {
        self.byte(u8::from(x.is_some()));
        self.number(x.unwrap_or(0.0));
    }

    fn clock(&mut self, clock: &Clock) {
        self.put(&clock.frame.to_le_bytes());
        self.put(&clock.substep.to_le_bytes());
        self.number(clock.elapsed);
        self.maybe(clock.promise);
        self.maybe(clock.wish);
    }

    fn array(&mut self, a: &Array) {
        self.byte(Element::ALL.iter().position(|e| *e == a.element()).unwrap_or(0) as u8);
        self.count(a.len());
        let piece = PIECE / a.element().size();
        for first in (0..a.len()).step_by(piece) {
            a.write_le_of(first..(first + piece).min(a.len()), &mut self.bytes);
            self.pass_on_pieces();
        }
    }

    fn numbers(&mut self, list: &[u32]) {
        self.count(list.len());
        list.iter().for_each(|n| self.put(&n.to_le_bytes()));
    }

    fn triple(&mut self, t: &[i32; 3]) {
        t.iter().for_each(|c| self.put(&c.to_le_bytes()));
    }

    fn data(&mut self, data: &Data) {
        match data {
            Data::Grid(g) => {
                self.byte(0);
                self.grid(g);
            }
            Data::Geometry(g) => {
                self.byte(1);
                self.geometry(g);
            }
            Data::Table(t) => {
                self.byte(2);
                self.table(t);
            }
        }
    }

    fn grid(&mut self, g: &Grid) {
        self.byte(Element::ALL.iter().position(|e| *e == g.element).unwrap_or(0) as u8);
        self.byte(g.sampling as u8);
        self.transform_and_background(g);
        self.count(g.origins.len());
        g.origins.iter().for_each(|o| self.triple(o));
        self.count(g.tiles.len());
        for t in g.tiles.iter() {
            self.triple(&t.origin);
            self.put(&t.edge.to_le_bytes());
            t.value.iter().for_each(|x| self.number(*x));
        }
        self.count(g.channels.len());
        g.channels.iter().for_each(|c| self.array(c));
    }

    fn transform_and_background(&mut self, g: &Grid) {
        g.transform.iter().chain(&g.background).for_each(|x| self.number(*x));
    }

    fn geometry(&mut self, g: &Geometry) {
        self.count(g.points);
        g.origin.iter().for_each(|x| self.number(*x));
        match &g.primitives {
            Primitives::Points => self.byte(0),
            Primitives::Polylines { starts, vertices } => {
                self.byte(1);
                self.numbers(starts);
                self.numbers(vertices);
            }
            Primitives::Triangles { vertices } => {
                self.byte(2);
                self.numbers(vertices);
            }
        }
        self.count(g.attributes.len());
        for a in &g.attributes {
            self.text(&a.name);
            self.byte(Owner::ALL.iter().position(|o| *o == a.owner).unwrap_or(0) as u8);
            self.byte(Meaning::ALL.iter().position(|m| *m == a.meaning).unwrap_or(0) as u8);
            self.count(a.components);
            self.array(&a.values);
        }
    }

    fn table(&mut self, t: &Table) {
        self.count(t.columns.len());
        for c in &t.columns {
            self.text(&c.name);
            self.count(c.components);
            self.array(&c.values);
        }
    }
}
