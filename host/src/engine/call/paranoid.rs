//! What a plugin is shown to read must be as it was when the call returns: `const` can be cast away.

use super::{Request, Source};
use crate::data::{Array, Data, Geometry, Grid, Primitives};
use crate::engine::state::State;
use std::sync::Arc;

/// The hashes of everything that a call may see and must not change, each with its name.
#[derive(Default)]
pub(super) struct Fingerprints(Vec<(String, blake3::Hash)>);

impl Fingerprints {
    /// Of a call: all simulated data (new data is written apart from it), inputs, texts and names.
    pub(super) fn of(request: &Request, state: &State) -> Self {
        let mut all = Self::default();
        for object in state.holders.values() {
            for (port, held) in &object.ports {
                all.data(&held.data, &format!("`{port}` of `{}`", object.name));
            }
        }
        for item in request.items.iter().flatten() {
            all.add("the name of an object or input".into(), item.name.as_bytes());
            if let Source::Input(g) = &item.source {
                all.geometry(g, &format!("its input `{}`", item.name.to_string_lossy()));
            }
        }
        for text in request.params.iter().filter_map(|(_, text)| text.as_ref()) {
            all.add("the text of a parameter".into(), text.as_bytes());
        }
        all
    }

    /// The name of the first that is not as it was.
    pub(super) fn changed(self, after: &Self) -> Option<String> {
        let mut pairs = self.0.into_iter().zip(&after.0);
        pairs.find(|((_, before), (_, after))| before != after).map(|((name, _), _)| name)
    }

    fn add(&mut self, name: String, bytes: &[u8]) {
        self.0.push((name, blake3::hash(bytes)));
    }

    fn array(&mut self, name: String, array: &Array) {
        self.add(name, array.as_bytes());
    }

    /// Numbers of points or primitives.
    fn numbers(&mut self, name: String, numbers: &Arc<Vec<u32>>) {
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_ne_bytes()).collect();
        self.add(name, &bytes);
    }

    fn data(&mut self, data: &Data, name: &str) {
        match data {
            Data::Grid(g) => self.grid(g, name),
            Data::Geometry(g) => self.geometry(g, name),
            Data::Table(t) => {
                for c in &t.columns {
                    self.array(format!("array `{}` of {name}", c.name), &c.values);
                }
            }
        }
    }

    fn grid(&mut self, g: &Grid, name: &str) {
        let origins: Vec<u8> = g.origins.as_flattened().iter().flat_map(|n| n.to_ne_bytes()).collect();
        self.add(format!("the leaves of {name}"), &origins);
        g.channels.iter().for_each(|values| self.array(name.to_owned(), values));
    }

    fn geometry(&mut self, g: &Geometry, name: &str) {
        match &g.primitives {
            Primitives::Points => {}
            Primitives::Polylines { starts, vertices } => {
                self.numbers(format!("the polylines of {name}"), starts);
                self.numbers(format!("the polylines of {name}"), vertices);
            }
            Primitives::Triangles { vertices } => self.numbers(format!("the triangles of {name}"), vertices),
        }
        for a in &g.attributes {
            self.array(format!("attribute `{}` of {name}", a.name), &a.values);
        }
    }
}
