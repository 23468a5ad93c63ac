//! Writing a checkpoint's payload.

use super::Checkpoint;
use crate::data::{Array, Data, Element, Geometry, Grid, Lifetime, Meaning, Owner, Primitives, Table};
use crate::engine::state::{Clock, Holder};

pub(super) fn payload(checkpoint: &Checkpoint) -> Vec<u8> {
    let mut w = Writer(Vec::new());
    w.count(checkpoint.made_from.len());
    for (name, print) in &checkpoint.made_from {
        w.text(name);
        w.text(print);
    }
    w.clock(&checkpoint.state.clock);
    w.count(checkpoint.state.holders.len());
    for (holder, object) in &checkpoint.state.holders {
        let (code, node) = match holder {
            Holder::Object(n) => (0, n),
            Holder::Node(n) => (1, n),
        };
        w.0.push(code);
        w.count(*node);
        w.text(&object.name);
        w.text(&object.kind);
        let state: Vec<_> = object.ports.iter().filter(|(_, p)| p.lifetime == Lifetime::State).collect();
        w.count(state.len());
        for (name, port) in state {
            w.text(name);
            w.data(&port.data);
        }
    }
    w.0
}

struct Writer(Vec<u8>);

impl Writer {
    fn count(&mut self, n: usize) {
        self.0.extend_from_slice(&(n as u64).to_le_bytes());
    }

    fn number(&mut self, x: f64) {
        self.0.extend_from_slice(&x.to_le_bytes());
    }

    fn text(&mut self, t: &str) {
        self.count(t.len());
        self.0.extend_from_slice(t.as_bytes());
    }

    fn maybe(&mut self, x: Option<f64>) {
        self.0.push(u8::from(x.is_some()));
        self.number(x.unwrap_or(0.0));
    }

    fn clock(&mut self, clock: &Clock) {
        self.0.extend_from_slice(&clock.frame.to_le_bytes());
        self.0.extend_from_slice(&clock.substep.to_le_bytes());
        self.number(clock.elapsed);
        self.maybe(clock.promise);
        self.maybe(clock.wish);
    }

    fn array(&mut self, a: &Array) {
        self.0.push(Element::ALL.iter().position(|e| *e == a.element()).unwrap_or(0) as u8);
        self.count(a.len());
        a.write_le(&mut self.0);
    }

    fn numbers(&mut self, list: &[u32]) {
        self.count(list.len());
        list.iter().for_each(|n| self.0.extend_from_slice(&n.to_le_bytes()));
    }

    fn triple(&mut self, t: &[i32; 3]) {
        t.iter().for_each(|c| self.0.extend_from_slice(&c.to_le_bytes()));
    }

    fn data(&mut self, data: &Data) {
        match data {
            Data::Grid(g) => {
                self.0.push(0);
                self.grid(g);
            }
            Data::Geometry(g) => {
                self.0.push(1);
                self.geometry(g);
            }
            Data::Table(t) => {
                self.0.push(2);
                self.table(t);
            }
        }
    }

    fn grid(&mut self, g: &Grid) {
        self.0.push(Element::ALL.iter().position(|e| *e == g.element).unwrap_or(0) as u8);
        self.0.push(g.sampling as u8);
        self.transform_and_background(g);
        self.count(g.origins.len());
        g.origins.iter().for_each(|o| self.triple(o));
        self.count(g.tiles.len());
        for t in g.tiles.iter() {
            self.triple(&t.origin);
            self.0.extend_from_slice(&t.edge.to_le_bytes());
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
            Primitives::Points => self.0.push(0),
            Primitives::Polylines { starts, vertices } => {
                self.0.push(1);
                self.numbers(starts);
                self.numbers(vertices);
            }
            Primitives::Triangles { vertices } => {
                self.0.push(2);
                self.numbers(vertices);
            }
        }
        self.count(g.attributes.len());
        for a in &g.attributes {
            self.text(&a.name);
            self.0.push(Owner::ALL.iter().position(|o| *o == a.owner).unwrap_or(0) as u8);
            self.0.push(Meaning::ALL.iter().position(|m| *m == a.meaning).unwrap_or(0) as u8);
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
