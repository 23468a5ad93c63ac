//! Bodies: their shares of a pressure solve, the faces that they own, and what they get back.

use super::dynamics::{masses, rigid_pieces, skin, unfit, within_reach};
use super::{Exchange, Field, constraints};
use meniscus_abi::guest::{Call, Failure};
use meniscus_abi::{Sampling, port_places};
use meniscus_core::coupling::bodies::{Body, Constraint, Moved, Pieces};
use meniscus_core::grid::{FaceGrid, Grid, Transform};
use meniscus_core::solid::SolidFields;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

port_places! {
    /// The ports of bodies that take part in a solve.
    pub struct BodyPorts { dynamics, constraints, moved }
}

port_places! {
    /// The ports that say which faces belong to which solid.
    pub struct OwnerPorts { owner, owners, open_volume, room }
}

/// The bodies of a solve: their names beside them.
#[derive(Debug, Default)]
pub struct Shares {
    /// Name of each body's object.
    pub names: Vec<String>,
    /// Their shares.
    pub bodies: Vec<Body>,
    /// Joints and contacts between them.
    pub constraints: Vec<Constraint>,
    /// Items of the ports, and how many bodies and constraints each has.
    items: Vec<(u32, usize, usize)>,
}

impl Shares {
    /// Reads the shares of all items that have one.
    pub fn read(call: &Call, ports: BodyPorts) -> Result<Self, Failure> {
        let mut shares = Self::default();
        for item in 0..call.items(ports.dynamics) {
            let bodies = bodies(call, ports.dynamics, item)?;
            // A solver of joints or contacts alone has rows, and no bodies of its own.
            if !bodies.is_empty() || call.table(ports.constraints, item).is_some() {
                let name = call.item_name(ports.dynamics, item);
                shares.names.extend(std::iter::repeat_n(name.to_owned(), bodies.len()));
                shares.items.push((item, bodies.len(), 0));
                shares.bodies.extend(bodies);
            }
        }
        for (item, _, rows) in &mut shares.items {
            let of = (shares.names.as_slice(), shares.bodies.as_slice());
            let own = constraints::read(call, ports.constraints, *item, of)?;
            *rows = own.len();
            shares.constraints.extend(own);
        }
        Ok(shares)
    }

    /// Body and piece of each solid of a list of names. An object of several pieces stands there once for each.
    pub fn pieces(&self, owners: &[String]) -> Vec<Option<(usize, usize)>> {
        let mut of_object: BTreeMap<&str, VecDeque<(usize, usize)>> = BTreeMap::new();
        for (b, (name, body)) in self.names.iter().zip(&self.bodies).enumerate() {
            let pieces = (0..body.pieces.count()).map(|piece| (b, piece));
            of_object.entry(name).or_default().extend(pieces);
        }
        owners.iter().map(|owner| of_object.get_mut(owner.as_str())?.pop_front()).collect()
    }

    /// Writes what they get back, and the impulses of their joints and contacts.
    pub fn write(
        &self,
        call: &mut Call,
        ports: BodyPorts,
        (moved, held): (&[Moved], &[f64]),
    ) -> Result<(), Failure> {
        let pulled = self.pulled(held);
        let mut pulled = pulled.as_slice();
        let (mut rest, mut held) = (moved, held);
        for &(item, count, rows) in &self.items {
            let (own_rows, other_rows) = held.split_at(rows.min(held.len()));
            held = other_rows;
            let (own, others) = rest.split_at(count.min(rest.len()));
            rest = others;
            let (own_pulled, others) = pulled.split_at(count.min(pulled.len()));
            pulled = others;
            let of = |f: fn(&Moved) -> &Vec<f64>| own.iter().flat_map(f).copied().collect::<Vec<f64>>();
            call.shape_table(ports.moved, item)?;
            call.write_array(ports.moved, item, c"velocity", 1, &of(|moved| &moved.velocity))?;
            call.write_array(ports.moved, item, c"impulse", 1, &of(|moved| &moved.impulse))?;
            call.write_array(ports.moved, item, c"pulled", 1, &own_pulled.concat())?;
            call.write_array(ports.moved, item, c"held", 1, own_rows)?;
        }
        Ok(())
    }

    /// The impulses of all rows along each body's degrees of freedom: Jᵀ λ.
    fn pulled(&self, held: &[f64]) -> Vec<Vec<f64>> {
        let mut pulled: Vec<Vec<f64>> =
            self.bodies.iter().map(|body| vec![0.0; body.velocity.len()]).collect();
        for (row, held) in self.constraints.iter().zip(held) {
            row.entries.iter().for_each(|&(body, freedom, value)| pulled[body][freedom] += value * held);
        }
        pulled
    }
}

/// The shares of an item's bodies; none where it has none.
fn bodies(call: &Call, port: u32, item: u32) -> Result<Vec<Body>, Failure> {
    let Some(table) = call.table(port, item) else { return Ok(Vec::new()) };
    let name = call.item_name(port, item);
    let array = |what: &str| -> Result<Vec<f64>, Failure> {
        let values = table.array::<f64>(what).filter(|v| v.iter().all(|x| x.is_finite()));
        let lacks = || Failure::input(port, unfit(name, what));
        let values = values.ok_or_else(lacks)?;
        within_reach(values, what, name).map_err(|sentence| Failure::input(port, sentence))?;
        Ok(values.to_vec())
    };
    let velocity = array("velocity")?;
    let of_type = |told: Result<(), String>| told.map_err(|e| Failure::input(port, format!("`{name}`: {e}")));
    of_type(table.optional::<f64>("before").and(Ok(())))?;
    of_type(table.optional::<i64>("count").and(Ok(())))?;
    let before = table.array::<f64>("before").map(|_| array("before")).transpose()?;
    if let Some(before) = before.as_ref().filter(|before| before.len() != velocity.len()) {
        let sentence = format!(
            "`before` of `{name}` has {} numbers, and `velocity` {}: they are as many",
            before.len(),
            velocity.len()
        );
        return Err(Failure::input(port, sentence));
    }
    let count = table.first::<i64>("count").unwrap_or(1);
    let Some(count) = usize::try_from(count).ok().filter(|&n| n > 0 || velocity.is_empty()) else {
        return Err(Failure::input(port, format!("`{name}` has {count} bodies")));
    };
    // What cannot move takes no part.
    if count == 0 || velocity.is_empty() {
        return Ok(Vec::new());
    }
    let k = velocity.len() / count;
    let refused = |sentence| Failure::input(port, sentence);
    let masses = masses(&table, name, count, velocity.len()).map_err(refused)?;
    let pieces = match skin(&table, name, count, k).map_err(refused)? {
        Some(skin) => vec![Pieces::Skin(Arc::new(skin))],
        None => rigid_pieces(name, count, k, &array("pivot")?, &array("basis")?).map_err(refused)?,
    };
    let body = |(n, (mass, pieces))| Body {
        velocity: velocity[k * n..k * (n + 1)].to_vec(),
        before: before.as_ref().map(|before| before[k * n..k * (n + 1)].to_vec()),
        mass,
        pieces,
    };
    Ok(masses.into_iter().zip(pieces).enumerate().map(body).collect())
}

/// The solids that own faces.
#[derive(Debug)]
pub struct Owners {
    /// Number of the solid that owns each cut face, counted from 1.
    pub faces: FaceGrid<u32>,
    /// The solids' names.
    pub names: Vec<String>,
    /// Share of each cell that no solid fills; of those that bodies share with other solids, that the first body leaves.
    pub left_by_first: Grid<f32>,
    /// Share of each cell that no solid fills; `None`: the liquid's solver does not say.
    pub room: Option<Grid<f32>>,
}

impl Exchange {
    /// Writes which solid each cut face belongs to, the names of the solids, and the room they leave; nothing where no
    /// solid is a body.
    pub fn write_owners(
        &mut self,
        call: &mut Call,
        ports: OwnerPorts,
        solid: &SolidFields,
        names: &[String],
        transform: &Transform,
    ) -> Result<(), Failure> {
        let (Some(owner), Some(left)) = (&solid.owner, &solid.left_by_first) else { return Ok(()) };
        let numbers = |v: &Vec<u32>| v.iter().map(|&n| n as i32).collect();
        let owner = FaceGrid {
            topology: owner.topology.clone(),
            values: owner.values.each_ref().map(numbers),
            background: 0i32,
        };
        self.write_fields(call, transform, &[Field::owners(ports.owner, &owner)])?;
        let left = Field::grid(ports.open_volume, Sampling::CENTER, left);
        let room = Field::grid(ports.room, Sampling::CENTER, &solid.volume);
        self.write_fields(call, transform, &[left, room])?;
        let text: Vec<u8> = names.iter().flat_map(|name| name.bytes().chain([0])).collect();
        call.shape_table(ports.owners, 0)?;
        call.write_array(ports.owners, 0, c"names", 1, &text)
    }

    /// Which solid each cut face belongs to, and the names of the solids; `None` where no solid is a body.
    pub fn owners(&mut self, call: &Call, ports: OwnerPorts, item: u32) -> Result<Option<Owners>, Failure> {
        let Some(view) = call.grid(ports.owner, item) else { return Ok(None) };
        let broken = || Failure::input(ports.owners, "the table `owners` lacks the names of the solids");
        if view.sampling() != Sampling::FACE || view.components() != 3 {
            return Err(Failure::input(ports.owner, "`owner` is not sampled on faces"));
        }
        let topology = self.topology(call, ports.owner, &view)?;
        let mut values = [const { Vec::new() }; 3];
        for (c, values) in values.iter_mut().enumerate() {
            let numbers = self.component::<i32>(call, ports.owner, &view, c)?;
            *values = numbers.into_iter().map(|n| u32::try_from(n).unwrap_or(0)).collect();
        }
        let table = call.table(ports.owners, item).ok_or_else(broken)?;
        let text = table.array::<u8>("names").ok_or_else(broken)?;
        let names = text.split(|&b| b == 0).map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        let (left_by_first, _) = self.required_grid_of(call, ports.open_volume, item)?;
        let room = self.grid(call, ports.room, item)?.map(|(room, _)| room);
        let faces = FaceGrid { topology, values, background: 0 };
        Ok(Some(Owners { faces, names, left_by_first, room }))
    }
}
