//! Joints between rigid bodies: what their nodes say, and what is remembered of them.

use glam::{DQuat, DVec3};
use meniscus_abi::guest::{Call, Failure, TableView};
use meniscus_core::solid::rigid::{Body, Drive, Joint, JointState, Key, Kind, Motor, Pose};

/// Where joints are found: what they are, and what is remembered.
#[derive(Clone, Copy, Debug)]
pub struct JointPorts {
    /// Table `joint` of each joint's node.
    pub joint: u32,
    /// Table `joints` of the solver.
    pub joints: u32,
}

/// The joints of a solver: beside each, the item of its node.
#[derive(Clone, Debug, Default)]
pub struct Joints {
    /// The joints.
    pub all: Vec<Joint>,
    of: Vec<u32>,
}

/// What the node of a joint says.
struct Said {
    bodies: [String; 2],
    kind: i32,
    motor: i32,
    toggles: [bool; 3],
    pivots: [DVec3; 2],
    axis: DVec3,
    limits: [f64; 2],
    drive: [f64; 2],
    spring: [f64; 3],
    breaking: [f64; 2],
}

/// Type of a spring.
const SPRING: i32 = 4;

fn said(table: &TableView) -> Option<Said> {
    let numbers = |name: &str| table.array::<f64>(name).filter(|v| v.iter().all(|x| !x.is_nan()));
    let text = String::from_utf8_lossy(table.array::<u8>("bodies")?).into_owned();
    let mut names = text.split_terminator('\0').map(str::to_owned);
    let &[kind, motor] = table.array::<i32>("type")? else { return None };
    let &[limited, chain, collide] = table.array::<i32>("toggles")? else { return None };
    let &[a, b, c, d, e, f] = numbers("pivot")? else { return None };
    Some(Said {
        bodies: [names.next()?, names.next()?],
        kind: (0..=SPRING).contains(&kind).then_some(kind)?,
        motor,
        toggles: [limited, chain, collide].map(|t| t != 0),
        pivots: [DVec3::new(a, b, c), DVec3::new(d, e, f)],
        axis: DVec3::from_array(numbers("axis")?.try_into().ok()?),
        limits: numbers("limits")?.try_into().ok()?,
        drive: numbers("motor")?.try_into().ok()?,
        spring: numbers("spring")?.try_into().ok()?,
        breaking: numbers("breaking")?.try_into().ok()?,
    })
}

impl Said {
    /// Puts on a joint what may change from substep to substep.
    fn onto(&self, joint: &mut Joint, length: f64) {
        let never = |v: f64| if v > 0.0 { v } else { f64::INFINITY };
        let [limited, _, collide] = self.toggles;
        let [aim, most] = self.drive;
        let motor = |drive| Some(Motor { drive, most: most.max(0.0) });
        joint.kind = match self.kind {
            0 => Kind::Fixed,
            1 => Kind::Ball,
            2 => Kind::Revolute,
            3 => Kind::Prismatic,
            _ => Kind::Spring(length),
        };
        joint.limits = limited.then_some(self.limits);
        joint.motor = match self.motor {
            1 => motor(Drive::Speed(aim)),
            2 => motor(Drive::Place(aim)),
            _ => None,
        };
        [joint.stiffness, joint.damping, joint.rest] = self.spring;
        joint.breaking = self.breaking.map(never);
        joint.meets = collide;
    }

    /// Length of its spring, between two places where it begins.
    fn length(&self, ends: [DVec3; 2]) -> f64 {
        if self.spring[2] > 0.0 { self.spring[2] } else { (ends[1] - ends[0]).length() }
    }
}

/// The bodies of an item, by the place of the first one in the list and their number.
fn bodies_of(bodies: &[Body], object: usize) -> Vec<&Body> {
    bodies.iter().filter(|b| b.key[0] == object as i64).collect()
}

/// A body that a joint names.
fn named<'a>(
    name: &str,
    joint: &str,
    objects: &[String],
    bodies: &'a [Body],
) -> Result<Option<&'a Body>, String> {
    let (object, id) = match objects.iter().any(|o| o == name) {
        true => (name, None),
        false => match name.rsplit_once(':') {
            Some((object, id)) => match id.trim().parse::<i64>() {
                Ok(id) => (object, Some(id)),
                Err(_) => {
                    return Err(format!(
                        "the joint `{joint}` names `{name}`: after the colon stands a number, as in {object}:0"
                    ));
                }
            },
            None => (name, None),
        },
    };
    let Some(place) = objects.iter().position(|o| o == object) else {
        let there: Vec<String> = objects.iter().map(|o| format!("`{o}`")).collect();
        return Err(format!(
            "the joint `{joint}` names the body `{name}`; the rigid objects that are wired in and have begun when it begins are {}: \
             give one of these, or let the joint begin later",
            there.join(", ")
        ));
    };
    let own = bodies_of(bodies, place);
    match (own.as_slice(), id) {
        ([], _) => Ok(None),
        (all, Some(id)) => match all.iter().find(|b| b.key[1] == id) {
            Some(body) => Ok(Some(body)),
            None => Err(format!(
                "the joint `{joint}` names body {id} of `{object}`, which has {} bodies with the ids {} to {}",
                all.len(),
                all.iter().map(|b| b.key[1]).min().unwrap_or(0),
                all.iter().map(|b| b.key[1]).max().unwrap_or(0)
            )),
        },
        ([body], None) => Ok(Some(body)),
        (all, None) => Err(format!(
            "the joint `{joint}` names `{object}`, which has {} bodies: say which one by its id, as in {object}:{}, or turn on chain",
            all.len(),
            all[0].key[1]
        )),
    }
}

/// A joint's two bodies, `None` for the world.
type Ends<'a> = [Option<&'a Body>; 2];

/// The pairs that a joint holds where it begins, and where; none while a body is not there yet.
fn pairs<'a>(
    said: &Said,
    name: &str,
    objects: &[String],
    bodies: &'a [Body],
) -> Result<Vec<(Ends<'a>, [DVec3; 2])>, String> {
    if said.toggles[1] {
        let first = &said.bodies[0];
        let Some(place) = objects.iter().position(|o| o == first) else {
            return named(first, name, objects, bodies).and_then(|_| {
                Err(format!("the joint `{name}` makes a chain of `{first}`: name the object without an id"))
            });
        };
        let mut own = bodies_of(bodies, place);
        own.sort_by_key(|b| b.key[1]);
        if own.len() == 1 {
            return Err(format!(
                "the joint `{name}` makes a chain of `{first}`, which has one body: wire points into it"
            ));
        }
        let of = |pair: &[&'a Body]| {
            let [a, b] = [pair[0].pose.position, pair[1].pose.position];
            let at = if said.kind == SPRING { [a, b] } else { [0.5 * (a + b); 2] };
            ([Some(pair[0]), Some(pair[1])], at)
        };
        return Ok(own.windows(2).map(of).collect());
    }
    let mut ends: Ends = [None; 2];
    for (end, body) in ends.iter_mut().zip(&said.bodies) {
        if !body.is_empty() {
            let found = named(body, name, objects, bodies)?;
            if found.is_none() {
                return Ok(Vec::new());
            }
            *end = found;
        }
    }
    match ends {
        [None, None] => return Err(format!("the joint `{name}` names no body: give body_a, body_b or both")),
        [Some(a), Some(b)] if a.key == b.key => {
            return Err(format!(
                "the joint `{name}` joins `{}` to itself: name another body, or leave body_b empty for the world",
                said.bodies[0]
            ));
        }
        _ => {}
    }
    if ends.iter().flatten().all(|b| b.led.is_some()) {
        return Err(format!(
            "the joint `{name}` holds nothing that it could move: its bodies follow keyframes"
        ));
    }
    let mut at = if said.kind == SPRING { said.pivots } else { [said.pivots[0]; 2] };
    // The second one turns and slides as the motor and the limits say: of a body and the world, the body.
    if ends[1].is_none() {
        ends.swap(0, 1);
        at.swap(0, 1);
    }
    Ok(vec![(ends, at)])
}

/// Reads all joints; those that begin now take bodies where they are.
pub fn read(call: &Call, ports: JointPorts, objects: &[String], bodies: &[Body]) -> Result<Joints, Failure> {
    let kept = remembered(call, ports.joints, objects)?;
    let mut joints = Joints::default();
    for item in 0..call.items(ports.joint) {
        let Some(table) = call.table(ports.joint, item) else { continue };
        let name = call.item_name(ports.joint, item);
        let broken = || Failure::input(ports.joint, format!("the table `joint` of `{name}` is not complete"));
        let said = said(&table).ok_or_else(broken)?;
        let known = kept.iter().filter(|k| k.name == name);
        let mut own: Vec<Joint> = known
            .map(|k| {
                let mut joint = k.joint.clone();
                said.onto(&mut joint, k.length);
                joint
            })
            .collect();
        if own.is_empty() {
            let pairs = pairs(&said, name, objects, bodies).map_err(|e| Failure::input(ports.joint, e))?;
            for (ends, at) in pairs {
                let frames = at.map(|at| Joint::frame_at(at, said.axis));
                let mut joint = Joint::new(Kind::Fixed, ends, frames);
                said.onto(&mut joint, said.length(at));
                own.push(joint);
            }
        }
        joints.of.extend(own.iter().map(|_| item));
        joints.all.extend(own);
    }
    Ok(joints)
}

/// In place of an object, the world; and one that has ended: it has bodies no more, and its joints hold nothing.
const WORLD: i64 = -1;
const GONE: i64 = -3;

/// A joint of the last substep.
struct Kept {
    name: String,
    length: f64,
    joint: Joint,
}

fn remembered(call: &Call, port: u32, objects: &[String]) -> Result<Vec<Kept>, Failure> {
    let Some(table) = call.table(port, 0) else { return Ok(Vec::new()) };
    let broken = || Failure::input(port, "the table of joints is not complete");
    let list = |name: &str| -> Result<Vec<String>, Failure> {
        let text = String::from_utf8_lossy(table.array::<u8>(name).ok_or_else(broken)?).into_owned();
        Ok(text.split_terminator('\0').map(str::to_owned).collect())
    };
    let (names, known) = (list("names")?, list("objects")?);
    let numbers = |name: &str, per: usize, count: usize| -> Result<Vec<f64>, Failure> {
        let values = table.array::<f64>(name).filter(|v| v.len() == per * count);
        values.map(<[f64]>::to_vec).ok_or_else(broken)
    };
    let of = table.array::<i64>("of").ok_or_else(broken)?;
    let count = of.len();
    let ends = table.array::<i64>("ends").filter(|e| e.len() == 4 * count).ok_or_else(broken)?;
    let snapped = table.array::<i32>("broken").filter(|b| b.len() == count).ok_or_else(broken)?;
    let (frames, length) = (numbers("frames", 14, count)?, numbers("length", 1, count)?);
    let (turned, pressed, load) =
        (numbers("turned", 1, count)?, numbers("pressed", 3, count)?, numbers("load", 2, count)?);
    let mut kept = Vec::new();
    for n in 0..count {
        let key = |object: i64, id: i64| -> Option<Key> {
            if object == WORLD {
                return None;
            }
            let name = usize::try_from(object).ok().and_then(|n| known.get(n));
            let place = name.and_then(|name| objects.iter().position(|o| o == name));
            Some([place.map_or(GONE, |p| p as i64), id])
        };
        let pose = |f: &[f64]| Pose {
            position: DVec3::from_slice(f),
            orientation: DQuat::from_xyzw(f[3], f[4], f[5], f[6]),
        };
        let e = &ends[4 * n..][..4];
        let f = &frames[14 * n..][..14];
        let mut joint = Joint::new(Kind::Fixed, [None, None], [pose(f), pose(&f[7..])]);
        joint.ends = [key(e[0], e[1]), key(e[2], e[3])];
        joint.state = JointState {
            broken: snapped[n] != 0,
            turned: turned[n],
            pressed: [pressed[3 * n], pressed[3 * n + 1], pressed[3 * n + 2]],
            load: [load[2 * n], load[2 * n + 1]],
        };
        let name = usize::try_from(of[n]).ok().and_then(|n| names.get(n)).ok_or_else(broken)?.clone();
        kept.push(Kept { name, length: length[n], joint });
    }
    Ok(kept)
}

/// Writes the joints for the next substep; nothing where there have never been any.
pub fn write(call: &mut Call, ports: JointPorts, objects: &[String], joints: &Joints) -> Result<(), Failure> {
    if joints.all.is_empty() && call.table(ports.joints, 0).is_none() {
        return Ok(());
    }
    let listed = |names: &[String]| -> Vec<u8> { names.iter().flat_map(|n| n.bytes().chain([0])).collect() };
    let names: Vec<String> =
        (0..call.items(ports.joint)).map(|n| call.item_name(ports.joint, n).to_owned()).collect();
    let all = &joints.all;
    let end = |key: &Option<Key>| key.unwrap_or([WORLD, 0]);
    let ends: Vec<i64> = all.iter().flat_map(|j| j.ends.iter().flat_map(end).collect::<Vec<_>>()).collect();
    let frame = |f: &Pose| [&f.position.to_array()[..], &f.orientation.to_array()[..]].concat();
    let frames: Vec<f64> =
        all.iter().flat_map(|j| j.frames.iter().flat_map(frame).collect::<Vec<_>>()).collect();
    let length = |j: &Joint| if let Kind::Spring(length) = j.kind { length } else { 0.0 };
    let of: Vec<i64> = joints.of.iter().map(|&n| i64::from(n)).collect();
    let broken: Vec<i32> = all.iter().map(|j| i32::from(j.state.broken)).collect();
    let lengths: Vec<f64> = all.iter().map(length).collect();
    let turned: Vec<f64> = all.iter().map(|j| j.state.turned).collect();
    let pressed: Vec<f64> = all.iter().flat_map(|j| j.state.pressed).collect();
    let load: Vec<f64> = all.iter().flat_map(|j| j.state.load).collect();
    let port = ports.joints;
    call.shape_table(port, 0)?;
    call.write_array(port, 0, c"names", 1, &listed(&names))?;
    call.write_array(port, 0, c"objects", 1, &listed(objects))?;
    call.write_array(port, 0, c"of", 1, &of)?;
    call.write_array(port, 0, c"ends", 4, &ends)?;
    call.write_array(port, 0, c"frames", 14, &frames)?;
    call.write_array(port, 0, c"length", 1, &lengths)?;
    call.write_array(port, 0, c"broken", 1, &broken)?;
    call.write_array(port, 0, c"turned", 1, &turned)?;
    call.write_array(port, 0, c"pressed", 3, &pressed)?;
    call.write_array(port, 0, c"load", 2, &load)
}
