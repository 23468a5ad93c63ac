//! Rigid bodies: reads their state from ports; `write` puts it back.

use super::dynamics::unfit;
use glam::{DMat3, DQuat, DVec3};
use meniscus_abi::guest::{Call, Failure, TableView};
use meniscus_abi::port_places;
use meniscus_core::solid::rigid::{Body, Led, Pose, Rest, Shape, Surface, Velocity};
use std::sync::Arc;

mod write;

pub use write::*;

port_places! {
    /// The ports of rigid bodies.
    pub struct RigidPorts { bodies, rigid, hulls, shape, mesh, keyframes, motion }
}

/// Shapes of objects, made of their tables; dropping them changes nothing.
#[derive(Debug, Default)]
pub struct Shapes(Vec<(Vec<u64>, Arc<Shape>)>);

/// Shapes that are kept.
const KEPT: usize = 256;

impl Shapes {
    fn of(
        &mut self,
        call: &Call,
        ports: RigidPorts,
        item: u32,
        state: &State,
    ) -> Result<Arc<Shape>, Failure> {
        let table = call.table(ports.hulls, item).ok_or_else(|| lacks(call, ports.hulls, item, "hulls"))?;
        let hulls = State { call, port: ports.hulls, item, table };
        let (corners, starts, samples) =
            (hulls.vectors("corners")?, hulls.array::<i64>("starts")?, hulls.vectors("samples")?);
        let (mass, inertia) = (state.one("mass")?, state.numbers::<9>("inertia")?);
        let numbers = corners.iter().chain(&samples).flat_map(|v| v.to_array());
        let key: Vec<u64> = numbers
            .chain([mass])
            .chain(inertia.iter().flatten().copied())
            .map(f64::to_bits)
            .chain(starts.iter().map(|&s| s as u64))
            .collect();
        if let Some((_, shape)) = self.0.iter().find(|(k, _)| *k == key) {
            return Ok(shape.clone());
        }
        let whole = starts.first() == Some(&0)
            && starts.last() == Some(&(corners.len() as i64))
            && starts.is_sorted()
            && inertia.len() == 1;
        let [inertia] = inertia.as_slice() else { return Err(lacks(call, ports.rigid, item, "inertia")) };
        let inertia = DMat3::from_cols_array(inertia);
        let sound = mass > 0.0 && inertia.inverse().is_finite() && inertia.determinant() > 0.0;
        if !whole || !sound {
            let sentence = format!(
                "the mass, inertia or hulls of `{}` are none of a body: masses and inertias are positive",
                call.item_name(ports.rigid, item)
            );
            return Err(Failure::input(ports.rigid, sentence));
        }
        let parts = starts.windows(2).map(|s| corners[s[0] as usize..s[1] as usize].to_vec()).collect();
        let shape = Shape::new(mass, inertia, parts, samples).map_err(|e| {
            Failure::input(ports.hulls, format!("`{}`: {e}", call.item_name(ports.hulls, item)))
        })?;
        let shape = Arc::new(shape);
        self.0.insert(0, (key, shape.clone()));
        self.0.truncate(KEPT);
        Ok(shape)
    }

    /// The shape and surface of an item's bodies.
    pub fn kept(
        &mut self,
        call: &Call,
        ports: RigidPorts,
        item: u32,
    ) -> Result<(Arc<Shape>, Surface), Failure> {
        let table = call.table(ports.rigid, item).ok_or_else(|| lacks(call, ports.rigid, item, "mass"))?;
        let state = State { call, port: ports.rigid, item, table };
        Ok((self.of(call, ports, item, &state)?, state.surface()?))
    }
}

/// A table of numbers of an object.
struct State<'a, 'c> {
    call: &'a Call<'c>,
    port: u32,
    item: u32,
    table: TableView<'a>,
}

fn lacks(call: &Call, port: u32, item: u32, what: &str) -> Failure {
    Failure::input(port, unfit(call.item_name(port, item), what))
}

impl State<'_, '_> {
    fn array<T: meniscus_abi::guest::Scalar>(&self, what: &str) -> Result<Vec<T>, Failure> {
        let values = self.table.array::<T>(what).map(<[T]>::to_vec);
        values.ok_or_else(|| lacks(self.call, self.port, self.item, what))
    }

    fn numbers<const N: usize>(&self, what: &str) -> Result<Vec<[f64; N]>, Failure> {
        let values = self.array::<f64>(what)?;
        let (rows, rest) = values.as_chunks::<N>();
        match rest.is_empty() && values.iter().all(|v| v.is_finite()) {
            true => Ok(rows.to_vec()),
            false => Err(lacks(self.call, self.port, self.item, what)),
        }
    }

    fn vectors(&self, what: &str) -> Result<Vec<DVec3>, Failure> {
        Ok(self.numbers::<3>(what)?.into_iter().map(DVec3::from_array).collect())
    }

    fn one(&self, what: &str) -> Result<f64, Failure> {
        let value = self.table.first::<f64>(what).filter(|v| v.is_finite());
        value.ok_or_else(|| lacks(self.call, self.port, self.item, what))
    }

    fn surface(&self) -> Result<Surface, Failure> {
        Ok(Surface {
            friction: self.one("friction")?,
            restitution: self.one("restitution")?,
            padding: self.one("padding")?,
            group: self.whole("group")? as u32,
            mask: self.whole("mask")? as u32,
        })
    }

    fn whole(&self, what: &str) -> Result<i64, Failure> {
        self.table.first::<i64>(what).ok_or_else(|| lacks(self.call, self.port, self.item, what))
    }
}

/// Reads the bodies of all items as they fly: with what forces have added to their velocities in this substep.
pub fn read_flying(
    call: &Call,
    ports: RigidPorts,
    shapes: &mut Shapes,
) -> Result<(Vec<Body>, Vec<Velocity>), Failure> {
    let (mut bodies, mut before) = (read_state(call, ports, shapes)?, Vec::new());
    let mut rest = bodies.as_mut_slice();
    for item in 0..call.items(ports.rigid) {
        let Some(table) = call.table(ports.rigid, item) else { continue };
        let state = State { call, port: ports.rigid, item, table };
        let flights = state.numbers::<18>("flight")?;
        if flights.len() > rest.len() {
            return Err(lacks(call, ports.rigid, item, "flight"));
        }
        let (own, others) = rest.split_at_mut(flights.len());
        rest = others;
        for (body, flight) in own.iter_mut().zip(flights) {
            let velocity = |n: usize| Velocity {
                linear: DVec3::from_slice(&flight[6 * n..]),
                angular: DVec3::from_slice(&flight[6 * n + 3..]),
            };
            (body.kick, body.motion[0]) = (velocity(0), velocity(1));
            before.push(velocity(2));
        }
    }
    match before.len() == bodies.len() {
        true => Ok((bodies, before)),
        false => Err(lacks(call, ports.rigid, 0, "flight")),
    }
}

/// Numbers of each body that an item's table holds under a name, as velocities; `None` where it holds none.
pub fn read_velocities(
    call: &Call,
    ports: RigidPorts,
    item: u32,
    what: &str,
) -> Result<Option<Vec<Velocity>>, Failure> {
    let Some(table) = call.table(ports.rigid, item) else { return Ok(None) };
    let state = State { call, port: ports.rigid, item, table };
    if state.table.array::<f64>(what).is_none() {
        return Ok(None);
    }
    Ok(Some(state.numbers::<6>(what)?.into_iter().map(velocity_of).collect()))
}

fn velocity_of(v: [f64; 6]) -> Velocity {
    Velocity { linear: DVec3::from_slice(&v), angular: DVec3::from_slice(&v[3..]) }
}

/// The impulses (N s, N m s) that the liquid gave to the bodies of an item in a solve; `None`: there was none.
pub fn read_moved(call: &Call, port: u32, item: u32) -> Result<Option<Vec<Velocity>>, Failure> {
    let Some(table) = call.table(port, item) else { return Ok(None) };
    let state = State { call, port, item, table };
    Ok(Some(state.numbers::<6>("impulse")?.into_iter().map(velocity_of).collect()))
}

/// The impulses (N s, N m s) that joints and contacts of all solvers gave to the bodies of an item; empty where a coupling does
/// not say.
pub fn read_pulled(call: &Call, port: u32, item: u32) -> Result<Vec<Velocity>, Failure> {
    let Some(table) = call.table(port, item) else { return Ok(Vec::new()) };
    let state = State { call, port, item, table };
    if state.table.array::<f64>("pulled").is_none() {
        return Ok(Vec::new());
    }
    Ok(state.numbers::<6>("pulled")?.into_iter().map(velocity_of).collect())
}

/// Reads the bodies of all items, with what forces have added to their velocities.
pub fn read(call: &Call, ports: RigidPorts, shapes: &mut Shapes) -> Result<Vec<Body>, Failure> {
    read_with(call, ports, shapes, true)
}

/// Reads the bodies of all items, whatever forces ask for.
pub fn read_state(call: &Call, ports: RigidPorts, shapes: &mut Shapes) -> Result<Vec<Body>, Failure> {
    read_with(call, ports, shapes, false)
}

fn read_with(
    call: &Call,
    ports: RigidPorts,
    shapes: &mut Shapes,
    forces: bool,
) -> Result<Vec<Body>, Failure> {
    let mut bodies = Vec::new();
    for item in 0..call.items(ports.rigid) {
        let Some(table) = call.table(ports.rigid, item) else { continue };
        let state = State { call, port: ports.rigid, item, table };
        let shape = shapes.of(call, ports, item, &state)?;
        read_item(&state, ports, &shape, forces, &mut bodies)?;
    }
    Ok(bodies)
}

fn read_item(
    state: &State,
    ports: RigidPorts,
    shape: &Arc<Shape>,
    forces: bool,
    bodies: &mut Vec<Body>,
) -> Result<(), Failure> {
    let State { call, item, .. } = *state;
    let (position, orientation) = (state.vectors("position")?, state.numbers::<4>("orientation")?);
    let (velocity, momentum) = (state.vectors("velocity")?, state.vectors("momentum")?);
    let (push, still) = (state.numbers::<6>("push")?, state.numbers::<1>("still")?);
    let (asleep, pull, id) =
        (state.array::<i32>("asleep")?, state.vectors("pull")?, state.array::<i64>("id")?);
    let sleeping = state.array::<i32>("sleeping")?;
    let wet = state.table.first::<i32>("wet");
    let surface = state.surface()?;
    let count = position.len();
    let counts = [
        orientation.len(),
        velocity.len(),
        momentum.len(),
        push.len(),
        still.len(),
        asleep.len(),
        pull.len(),
        id.len(),
    ];
    if counts.iter().any(|&n| n != count) {
        let sentence = format!("the arrays of `{}` are not of one length", call.item_name(ports.rigid, item));
        return Err(Failure::input(ports.rigid, sentence));
    }
    let led = led(call, ports, item)?;
    let points = call.geometry(ports.bodies, item).filter(|_| forces);
    let kicks = |name: &str| -> Result<Option<Vec<DVec3>>, Failure> {
        let Some(values) = points.as_ref().and_then(|g| g.points::<f32, 3>(name)) else { return Ok(None) };
        let values: Vec<DVec3> = values.iter().map(|v| glam::Vec3::from_array(*v).as_dvec3()).collect();
        match values.len() == count && values.iter().all(|v| v.is_finite()) {
            true => Ok(Some(values)),
            false => {
                let of = call.item_name(ports.bodies, item);
                Err(Failure::not_finite(
                    ports.bodies,
                    format!("a force gave bodies of `{of}` a `{name}` that is no number"),
                ))
            }
        }
    };
    let (dv, dw) = (kicks("dv")?, kicks("dw")?);
    for n in 0..count {
        let [x, y, z, w] = orientation[n];
        let pose = Pose { position: position[n], orientation: DQuat::from_xyzw(x, y, z, w) };
        let [a, b, c, d, e, f] = push[n];
        let kick = |v: &Option<Vec<DVec3>>| v.as_ref().map_or(DVec3::ZERO, |v| v[n]);
        bodies.push(Body {
            velocity: velocity[n],
            momentum: momentum[n],
            push: Velocity { linear: DVec3::new(a, b, c), angular: DVec3::new(d, e, f) },
            rest: Rest { still: still[n][0], asleep: asleep[n] != 0, pull: pull[n] },
            // What floats must feel the liquid.
            may_sleep: sleeping.first() == Some(&1) && wet != Some(1),
            led,
            kick: Velocity { linear: kick(&dv), angular: kick(&dw) },
            kicked: call.item_kick(ports.rigid, item),
            nearing: None,
            ..Body::new([i64::from(item), id[n]], shape.clone(), surface, pose)
        });
    }
    Ok(())
}

fn led(call: &Call, ports: RigidPorts, item: u32) -> Result<Option<Led>, Failure> {
    let Some(table) = call.table(ports.keyframes, item) else { return Ok(None) };
    let table = State { call, port: ports.keyframes, item, table };
    let (position, turn) = (table.vectors("position")?, table.numbers::<4>("orientation")?);
    let (linear, angular) = (table.vectors("linear")?, table.vectors("angular")?);
    let (&[position], &[[x, y, z, w]], &[l, m], &[a, b]) =
        (position.as_slice(), turn.as_slice(), linear.as_slice(), angular.as_slice())
    else {
        return Err(lacks(call, ports.keyframes, item, "position"));
    };
    let velocity = [(l, a), (m, b)].map(|(linear, angular)| Velocity { linear, angular });
    Ok(Some(Led { pose: Pose { position, orientation: DQuat::from_xyzw(x, y, z, w) }, velocity }))
}
