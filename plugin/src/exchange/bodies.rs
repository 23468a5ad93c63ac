//! Bodies: their shares of a pressure solve, the faces that they own, and what they get back.

use super::{Exchange, Field};
use glam::DVec3;
use meniscus_abi::guest::{Call, Failure};
use meniscus_abi::{Sampling, port_places};
use meniscus_core::coupling::bodies::{Body, Moved, Piece, Twist};
use meniscus_core::grid::{FaceGrid, Transform};

port_places! {
    /// The ports of bodies that take part in a solve.
    pub struct BodyPorts { dynamics, moved }
}

port_places! {
    /// The ports that say which faces belong to which solid.
    pub struct OwnerPorts { owner, owners }
}

/// The bodies of a solve: their names beside them.
#[derive(Debug, Default)]
pub struct Shares {
    /// Names of the objects.
    pub names: Vec<String>,
    /// Their shares.
    pub bodies: Vec<Body>,
    /// Items of the ports that they are.
    items: Vec<u32>,
}

impl Shares {
    /// Reads the shares of all items that have one.
    pub fn read(call: &Call, ports: BodyPorts) -> Result<Self, Failure> {
        let mut shares = Self::default();
        for item in 0..call.items(ports.dynamics) {
            if let Some(body) = body(call, ports.dynamics, item)? {
                shares.names.push(call.item_name(ports.dynamics, item).to_owned());
                shares.bodies.push(body);
                shares.items.push(item);
            }
        }
        Ok(shares)
    }

    /// Body and piece of each solid of a list of names. An object of several pieces stands there once for each.
    pub fn pieces(&self, owners: &[String]) -> Vec<Option<(usize, usize)>> {
        let mut seen = vec![0; self.names.len()];
        let piece = |owner: &String| {
            let body = self.names.iter().position(|name| name == owner)?;
            seen[body] += 1;
            Some((body, seen[body] - 1)).filter(|&(b, piece)| piece < self.bodies[b].pieces.len())
        };
        owners.iter().map(piece).collect()
    }

    /// Writes what they get back.
    pub fn write(&self, call: &mut Call, ports: BodyPorts, moved: &[Moved]) -> Result<(), Failure> {
        for (&item, moved) in self.items.iter().zip(moved) {
            call.shape_table(ports.moved, item)?;
            call.write_array(ports.moved, item, c"velocity", 1, &moved.velocity)?;
            call.write_array(ports.moved, item, c"impulse", 1, &moved.impulse)?;
        }
        Ok(())
    }
}

/// The share of an item; `None` where it has none.
fn body(call: &Call, port: u32, item: u32) -> Result<Option<Body>, Failure> {
    let Some(table) = call.table(port, item) else { return Ok(None) };
    let name = call.item_name(port, item);
    let array = |what: &str| -> Result<Vec<f64>, Failure> {
        let values = table.array::<f64>(what).filter(|v| v.iter().all(|x| x.is_finite()));
        let lacks = || Failure::input(port, format!("`{name}` lacks the finite array `{what}`"));
        values.map(|v| v.to_vec()).ok_or_else(lacks)
    };
    let (velocity, mass, pivot, basis) =
        (array("velocity")?, array("mass")?, array("pivot")?, array("basis")?);
    let (k, pieces) = (velocity.len(), pivot.len() / 3);
    if mass.len() != k * k || pivot.len() != 3 * pieces || basis.len() != 6 * k * pieces {
        let sentence = format!(
            "`{name}` has {k} degrees of freedom and {pieces} pieces, so `mass` has {} numbers and `basis` {}, not {} and {}",
            k * k,
            6 * k * pieces,
            mass.len(),
            basis.len()
        );
        return Err(Failure::input(port, sentence));
    }
    let vector = |v: &[f64]| DVec3::new(v[0], v[1], v[2]);
    let twist = |t: &[f64]| Twist { linear: vector(&t[..3]), angular: vector(&t[3..]) };
    let piece = |p: usize| Piece {
        pivot: vector(&pivot[3 * p..]),
        twists: basis[6 * k * p..6 * k * (p + 1)].chunks_exact(6).map(twist).collect(),
    };
    Ok(Some(Body { velocity, mass, pieces: (0..pieces).map(piece).collect() }))
}

/// Which solid owns each cut face, by number, and the names of the solids.
type Owners = (FaceGrid<u32>, Vec<String>);

impl Exchange {
    /// Writes which solid each cut face belongs to, and the names of the solids; nothing where no solid is a body.
    pub fn write_owners(
        &mut self,
        call: &mut Call,
        ports: OwnerPorts,
        owner: Option<&FaceGrid<u32>>,
        names: &[String],
        transform: &Transform,
    ) -> Result<(), Failure> {
        let Some(owner) = owner else { return Ok(()) };
        let numbers = |v: &Vec<u32>| v.iter().map(|&n| n as i32).collect();
        let owner = FaceGrid {
            topology: owner.topology.clone(),
            values: owner.values.each_ref().map(numbers),
            background: 0i32,
        };
        self.write_fields(call, transform, &[Field::owners(ports.owner, &owner)])?;
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
        Ok(Some((FaceGrid { topology, values, background: 0 }, names)))
    }
}
