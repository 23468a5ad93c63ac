//! Checks that a plugin did not change read-only data during a call, since `const` can be cast away.

use super::{Request, Source};
use crate::data::{Array, Data, Geometry, Grid, Primitives};
use crate::engine::state::State;
use std::sync::Arc;

/// The hashes of everything that a call may read and must not change, each with its name.
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

    /// The name of the first that has changed.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Element, Lifetime, Object, Owner, Sampling, Table};
    use crate::engine::state::Holder;
    use std::sync::atomic::AtomicBool;

    fn state() -> (Holder, State) {
        let mut object = Object::new("water", "test.water");
        let mut grid = Grid::new(Element::F32, 1, Sampling::Centre);
        grid.shape(vec![[0; 3]], Vec::new());
        let mut mesh = Geometry::from_triangles(&[[0.0; 3], [1.0; 3], [2.0; 3]], &[[0, 1, 2]]);
        mesh.set(Owner::Primitive, "area", 1, Array::F64(vec![1.0]));
        let mut table = Table::default();
        table.set("ids", 1, Array::I64(vec![7]));
        for (port, data) in
            [("vel", Data::Grid(grid)), ("mesh", Data::Geometry(mesh)), ("bubbles", Data::Table(table))]
        {
            object.set(port, Lifetime::State, data);
        }
        let (holder, mut state) = (Holder::Object(0), State::new(1));
        state.holders.insert(holder, object);
        (holder, state)
    }

    #[test]
    fn every_kind_of_data_is_looked_at() {
        struct Nobody;
        impl crate::engine::Watcher for Nobody {
            fn progress(&self, _: &str, _: &str, _: f64) {}
            fn log(&self, _: &str, _: crate::engine::Level, _: &str) {}
        }
        let cancel = AtomicBool::new(false);
        let request = Request {
            node: "bad",
            object: None,
            stage: None,
            step: 0,
            items: Vec::new(),
            params: Vec::new(),
            timing: super::super::Timing::default(),
            threads: 1,
            device: crate::engine::Device::Cpu,
            trial: false,
            paranoid: true,
            cancel: &cancel,
            watcher: &Nobody,
        };
        let before = |s: &State| Fingerprints::of(&request, s);
        let (holder, state) = state();
        assert_eq!(before(&state).changed(&before(&state)), None);
        type Change = fn(&mut Object);
        let changes: [(Change, &str); 5] = [
            (
                |o| {
                    change(o, "vel", |d| {
                        if let Data::Grid(g) = d {
                            flip_first(&mut g.channels[0])
                        }
                    })
                },
                "`vel` of `water`",
            ),
            (
                |o| {
                    change(o, "vel", |d| {
                        if let Data::Grid(g) = d {
                            Arc::make_mut(&mut g.origins)[0][1] = 8
                        }
                    })
                },
                "the leaves of `vel` of `water`",
            ),
            (
                |o| {
                    change(o, "mesh", |d| {
                        if let Data::Geometry(g) = d {
                            flip_first(&mut g.attributes[1].values)
                        }
                    })
                },
                "attribute `area` of `mesh` of `water`",
            ),
            (
                |o| {
                    change(o, "mesh", |d| {
                        if let Data::Geometry(Geometry {
                            primitives: Primitives::Triangles { vertices },
                            ..
                        }) = d
                        {
                            Arc::make_mut(vertices).swap(0, 1);
                        }
                    });
                },
                "the triangles of `mesh` of `water`",
            ),
            (
                |o| {
                    change(o, "bubbles", |d| {
                        if let Data::Table(t) = d {
                            flip_first(&mut t.columns[0].values)
                        }
                    })
                },
                "array `ids` of `bubbles` of `water`",
            ),
        ];
        for (apply, expected) in changes {
            let mut after = state.clone();
            apply(after.holders.get_mut(&holder).unwrap());
            assert_eq!(before(&state).changed(&before(&after)).as_deref(), Some(expected));
        }
    }

    fn change(object: &mut Object, port: &str, f: impl FnOnce(&mut Data)) {
        f(&mut object.ports.get_mut(port).unwrap().data);
    }

    fn flip_first(array: &mut Arc<Array>) {
        // SAFETY: an array of at least one byte that this test alone holds.
        unsafe { *Arc::make_mut(array).as_mut_ptr() ^= 1 }
    }
}
