//! Rigid bodies: their state between ports and the core.

use super::Exchange;
use glam::{DMat3, DQuat, DVec3};
use meniscus_abi::guest::{AttributeShape, Call, Failure, GeometryShape, TableView};
use meniscus_abi::{Element, Meaning, port_places};
use meniscus_core::grid::Transform;
use meniscus_core::solid::rigid::{Body, Led, Pose, Rest, Shape, Surface, Velocity};
use std::sync::Arc;

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
}

impl Shapes {
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
    Failure::input(port, format!("`{}` lacks the finite array `{what}`", call.item_name(port, item)))
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
            padding: {
                // A liquid must come between what touches under it: without it nothing would push a body off a floor.
                let is_wet = self.table.first::<i32>("wet") == Some(1);
                self.one("padding")?.max(if is_wet { self.one("film")? } else { 0.0 })
            },
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

/// Writes what a substep has to know of its bodies' flight until it is over: what forces gave them, how they drifted, and
/// the velocity and momentum that they drifted with.
pub fn write_flights(
    call: &mut Call,
    port: u32,
    item: u32,
    flights: &[(&Body, Velocity)],
) -> Result<(), Failure> {
    let of = |(body, before): &(&Body, Velocity)| {
        [body.kick, body.motion[0], *before].map(|v| [v.linear.to_array(), v.angular.to_array()].concat())
    };
    let values: Vec<f64> = flights.iter().flat_map(of).flatten().collect();
    call.write_array(port, item, c"flight", 18, &values)
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

/// Writes such numbers.
pub fn write_velocities(
    call: &mut Call,
    port: u32,
    item: u32,
    what: &std::ffi::CStr,
    velocities: &[Velocity],
) -> Result<(), Failure> {
    let of = |v: &Velocity| [v.linear.to_array(), v.angular.to_array()].concat();
    let values: Vec<f64> = velocities.iter().flat_map(of).collect();
    call.write_array(port, item, what, 6, &values)
}

/// Writes the bodies' shares of a pressure solve: each moves by itself, with its centre of mass and about it, at these
/// velocities if no pressure acts.
pub fn write_dynamics(
    call: &mut Call,
    port: u32,
    item: u32,
    bodies: &[(&Body, Velocity)],
) -> Result<(), Failure> {
    let (mut velocity, mut mass, mut pivot) = (Vec::new(), Vec::new(), Vec::new());
    let unit: Vec<f64> = (0..36).map(|n| f64::from(u8::from(n / 6 == n % 6))).collect();
    for (body, Velocity { linear, angular }) in bodies {
        velocity.extend(linear.to_array().into_iter().chain(angular.to_array()));
        pivot.extend(body.pose.position.to_array());
        let inertia = body.inertia();
        // Rounded sums differ by the order in which they are taken; a mass is symmetric.
        let of = |i: usize, j: usize| 0.5 * (inertia.col(i)[j] + inertia.col(j)[i]);
        mass.extend((0..36).map(|n| match (n / 6, n % 6) {
            (i, j) if i < 3 && i == j => body.shape.mass(),
            (i, j) if i >= 3 && j >= 3 => of(i - 3, j - 3),
            _ => 0.0,
        }));
    }
    call.shape_table(port, item)?;
    call.write_array(port, item, c"count", 1, &[bodies.len() as i64])?;
    call.write_array(port, item, c"velocity", 1, &velocity)?;
    call.write_array(port, item, c"mass", 1, &mass)?;
    call.write_array(port, item, c"pivot", 3, &pivot)?;
    call.write_array(port, item, c"basis", 6, &unit.repeat(bodies.len()))
}

/// The velocities that a solve gave to the bodies of an item, and whether any did.
pub fn read_moved(call: &Call, port: u32, item: u32) -> Result<Option<Vec<Velocity>>, Failure> {
    let Some(table) = call.table(port, item) else { return Ok(None) };
    let state = State { call, port, item, table };
    Ok(Some(state.numbers::<6>("velocity")?.into_iter().map(velocity_of).collect()))
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

/// Writes where keyframes lead a body.
pub fn write_keyframes(call: &mut Call, port: u32, led: &Led) -> Result<(), Failure> {
    call.shape_table(port, 0)?;
    call.write_array(port, 0, c"position", 3, &led.pose.position.to_array())?;
    call.write_array(port, 0, c"orientation", 4, &led.pose.orientation.to_array())?;
    let of = |f: fn(&Velocity) -> DVec3| led.velocity.each_ref().map(|v| f(v).to_array()).concat();
    call.write_array(port, 0, c"linear", 3, &of(|v| v.linear))?;
    call.write_array(port, 0, c"angular", 3, &of(|v| v.angular))
}

/// Writes the hulls of a shape.
pub fn write_hulls(call: &mut Call, port: u32, shape: &Shape) -> Result<(), Failure> {
    let flat = |v: &mut dyn Iterator<Item = &DVec3>| v.flat_map(|p| p.to_array()).collect::<Vec<f64>>();
    let mut starts = vec![0i64];
    for hull in shape.hulls() {
        starts.push(starts[starts.len() - 1] + hull.len() as i64);
    }
    call.shape_table(port, 0)?;
    call.write_array(port, 0, c"corners", 3, &flat(&mut shape.hulls().iter().flatten()))?;
    call.write_array(port, 0, c"starts", 1, &starts)?;
    call.write_array(port, 0, c"samples", 3, &flat(&mut shape.samples().iter()))
}

/// A body as it is published: with its velocity at the time of its position.
#[derive(Clone, Copy, Debug)]
pub struct Published<'a> {
    /// The body.
    pub body: &'a Body,
    /// Velocity now.
    pub now: Velocity,
}

/// Writes the state of an item's bodies.
pub fn write_state(
    call: &mut Call,
    port: u32,
    item: u32,
    shape: &Shape,
    (surface, sleeping): (Surface, bool),
    bodies: &[Published],
) -> Result<(), Failure> {
    let of = |f: &dyn Fn(&Body) -> DVec3| -> Vec<f64> {
        bodies.iter().flat_map(|p| f(p.body).to_array()).collect()
    };
    let turns: Vec<f64> = bodies.iter().flat_map(|p| p.body.pose.orientation.to_array()).collect();
    let push: Vec<f64> = bodies
        .iter()
        .flat_map(|p| [p.body.push.linear, p.body.push.angular])
        .flat_map(|v| v.to_array())
        .collect();
    call.shape_table(port, item)?;
    call.write_array(port, item, c"position", 3, &of(&|b| b.pose.position))?;
    call.write_array(port, item, c"orientation", 4, &turns)?;
    call.write_array(port, item, c"velocity", 3, &of(&|b| b.velocity))?;
    call.write_array(port, item, c"momentum", 3, &of(&|b| b.momentum))?;
    call.write_array(port, item, c"push", 6, &push)?;
    let still: Vec<f64> = bodies.iter().map(|p| p.body.rest.still).collect();
    call.write_array(port, item, c"still", 1, &still)?;
    let asleep: Vec<i32> = bodies.iter().map(|p| i32::from(p.body.rest.asleep)).collect();
    call.write_array(port, item, c"asleep", 1, &asleep)?;
    call.write_array(port, item, c"pull", 3, &of(&|b| b.rest.pull))?;
    let id: Vec<i64> = bodies.iter().map(|p| p.body.key[1]).collect();
    call.write_array(port, item, c"id", 1, &id)?;
    call.write_array(port, item, c"mass", 1, &[shape.mass()])?;
    call.write_array(port, item, c"inertia", 9, &shape.inertia().to_cols_array())?;
    call.write_array(port, item, c"friction", 1, &[surface.friction])?;
    call.write_array(port, item, c"restitution", 1, &[surface.restitution])?;
    call.write_array(port, item, c"padding", 1, &[surface.padding])?;
    call.write_array(port, item, c"group", 1, &[i64::from(surface.group)])?;
    call.write_array(port, item, c"mask", 1, &[i64::from(surface.mask)])?;
    call.write_array(port, item, c"sleeping", 1, &[i32::from(sleeping)])
}

/// Writes the points of an item's bodies.
pub fn write_points(
    call: &mut Call,
    port: u32,
    item: u32,
    shape: &Shape,
    bodies: &[Published],
) -> Result<(), Failure> {
    let f32s = |name, n, meaning| AttributeShape::on_points(name, Element::F32, n, meaning);
    let attributes = vec![
        f32s(c"P", 3, Meaning::POSITION),
        f32s(c"orient", 4, Meaning::QUATERNION),
        f32s(c"v", 3, Meaning::VECTOR),
        f32s(c"w", 3, Meaning::VECTOR),
        f32s(c"v_contact", 3, Meaning::VECTOR),
        f32s(c"w_contact", 3, Meaning::VECTOR),
        f32s(c"mass", 1, Meaning::PLAIN),
        f32s(c"inertia", 9, Meaning::PLAIN),
        AttributeShape::on_points(c"id", Element::I64, 1, Meaning::PLAIN),
        AttributeShape::on_points(c"asleep", Element::I32, 1, Meaning::PLAIN),
    ];
    let mut made =
        call.shape_geometry(port, item, &GeometryShape::points(bodies.len(), [0.0; 3], attributes))?;
    let inertia = shape.inertia().to_cols_array().map(|i| i as f32);
    let vector = |f: fn(&Published) -> DVec3| bodies.iter().map(move |p| f(p).as_vec3().to_array());
    let written = made.points("P", vector(|p| p.body.pose.position))
        && made.points("orient", bodies.iter().map(|p| p.body.pose.orientation.as_quat().to_array()))
        && made.points("v", vector(|p| p.now.linear))
        && made.points("w", vector(|p| p.now.angular))
        && made.points("v_contact", vector(|p| p.body.struck.linear))
        && made.points("w_contact", vector(|p| p.body.struck.angular))
        && made.points("mass", bodies.iter().map(|_| [shape.mass() as f32]))
        && made.points("inertia", bodies.iter().map(|_| inertia))
        && made.points("id", bodies.iter().map(|p| [p.body.key[1]]))
        && made.points("asleep", bodies.iter().map(|p| [i32::from(p.body.rest.asleep)]));
    if written {
        Ok(())
    } else {
        Err(Failure::host(port, "the host shaped other points than were asked for"))
    }
}

/// Writes the table `motion`: a piece per body.
pub fn write_motion(call: &mut Call, port: u32, item: u32, bodies: &[Published]) -> Result<(), Failure> {
    let of = |f: &dyn Fn(&Body) -> DVec3| -> Vec<f64> {
        bodies.iter().flat_map(|p| f(p.body).to_array()).collect()
    };
    let places: Vec<f64> = bodies
        .iter()
        .flat_map(|p| {
            let Pose { position, orientation } = p.body.pose;
            Transform { linear: DMat3::from_quat(orientation), translation: position }.to_row_major()
        })
        .collect();
    call.shape_table(port, item)?;
    call.write_array(port, item, c"placement", 16, &places)?;
    call.write_array(port, item, c"pivot", 3, &of(&|b| b.pose.position))?;
    call.write_array(port, item, c"linear", 3, &of(&|b| b.motion[0].linear))?;
    call.write_array(port, item, c"angular", 3, &of(&|b| b.motion[0].angular))?;
    call.write_array(port, item, c"linear_next", 3, &of(&|b| b.motion[1].linear))?;
    call.write_array(port, item, c"angular_next", 3, &of(&|b| b.motion[1].angular))
}

impl Exchange {
    /// Writes the meshes of an item's bodies where they are.
    pub fn write_moved_mesh(
        &self,
        call: &mut Call,
        (rest, port): (u32, u32),
        item: u32,
        bodies: &[Published],
    ) -> Result<(), Failure> {
        let view = call.geometry(rest, item).ok_or_else(|| lacks(call, rest, item, "P"))?;
        let points = view.points::<f32, 3>("P").ok_or_else(|| lacks(call, rest, item, "P"))?.into_owned();
        let vertices = view.vertices().unwrap_or_default().to_vec();
        let count = points.len();
        let of_points = |name, element, n, meaning| AttributeShape::on_points(name, element, n, meaning);
        let attributes = vec![
            of_points(c"P", Element::F32, 3, Meaning::POSITION),
            of_points(c"v", Element::F32, 3, Meaning::VECTOR),
            of_points(c"id", Element::I64, 1, Meaning::PLAIN),
        ];
        let (mut place, mut velocity, mut ids, mut corners) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (n, Published { body, now }) in bodies.iter().enumerate() {
            for p in &points {
                let arm = body.pose.orientation * glam::Vec3::from_array(*p).as_dvec3();
                place.push((body.pose.position + arm).as_vec3().to_array());
                velocity.push((now.linear + now.angular.cross(arm)).as_vec3().to_array());
            }
            ids.extend(std::iter::repeat_n([body.key[1]], count));
            corners.extend(vertices.iter().map(|v| v + (n * count) as u32));
        }
        let shape = GeometryShape::triangles(place.len(), corners.len() / 3, [0.0; 3], attributes);
        let mut made = call.shape_geometry(port, item, &shape)?;
        let written = made.points("P", place.into_iter())
            && made.points("v", velocity.into_iter())
            && made.points("id", ids.into_iter())
            && made.write_topology(&corners, &[]);
        if written {
            Ok(())
        } else {
            Err(Failure::host(port, "the host shaped another mesh than was asked for"))
        }
    }
}
