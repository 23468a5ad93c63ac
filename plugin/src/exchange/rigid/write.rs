//! Writes rigid bodies to ports.

use super::super::Exchange;
use super::lacks;
use glam::{DMat3, DVec3};
use meniscus_abi::guest::{AttributeShape, Call, Failure, GeometryShape};
use meniscus_abi::{Element, Meaning};
use meniscus_core::grid::Transform;
use meniscus_core::solid::rigid::{Body, Led, Pose, Shape, Surface, Velocity};

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
    before: Option<&[Velocity]>,
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
    if let Some(before) = before {
        let of = |v: &Velocity| [v.linear.to_array(), v.angular.to_array()].concat();
        call.write_array(port, item, c"before", 1, &before.iter().flat_map(of).collect::<Vec<f64>>())?;
    }
    call.write_array(port, item, c"mass", 1, &mass)?;
    call.write_array(port, item, c"pivot", 3, &pivot)?;
    call.write_array(port, item, c"basis", 6, &unit.repeat(bodies.len()))
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
    let volume = call.table(port, item).and_then(|t| t.first::<f64>("volume"));
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
    if let Some(volume) = volume {
        write_volume(call, port, item, volume)?;
    }
    call.write_array(port, item, c"placement", 16, &places)?;
    call.write_array(port, item, c"pivot", 3, &of(&|b| b.pose.position))?;
    call.write_array(port, item, c"linear", 3, &of(&|b| b.motion[0].linear))?;
    call.write_array(port, item, c"angular", 3, &of(&|b| b.motion[0].angular))?;
    call.write_array(port, item, c"linear_next", 3, &of(&|b| b.motion[1].linear))?;
    call.write_array(port, item, c"angular_next", 3, &of(&|b| b.motion[1].angular))
}

/// Writes the volume of each of an item's bodies, m³. Its middle is the origin of the rest frame.
pub fn write_volume(call: &mut Call, port: u32, item: u32, volume: f64) -> Result<(), Failure> {
    call.write_array(port, item, c"volume", 1, &[volume])?;
    call.write_array(port, item, c"centroid", 3, &[0.0; 3])
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
