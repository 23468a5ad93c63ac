//! Bodies that joints hold together, as one operator.

mod assembly;
mod calm;

use super::bounds::{Bound, bounds};
use super::joint::{Joint, freed};
use super::rows::{Row, dot, rigid};
use super::springs::{self, Spring};
use crate::solid::rigid::{Body, Intervals, Key, Pose, Velocity};
use crate::union_find::DisjointSets;
use assembly::Assembly;
use glam::{DMat3, DQuat, DVec3};
use std::cell::OnceCell;
use std::rc::Rc;

/// Gap, by the body's radius, or turn, rad, that joints are held to exactly. More than that is undone by `push`.
const SMALL: f64 = 1e-4;
/// What Newton's method brings them to.
const EXACT: f64 = 1e-9;

/// The pose of what holds still.
const WORLD: Pose = Pose { position: DVec3::ZERO, orientation: DQuat::IDENTITY };

/// Velocities of the bodies of an assembly for a unit of each impulse and torque on one of them.
pub(in crate::solid::rigid) type Response = Vec<(usize, [Velocity; 6])>;

/// The joints of all bodies in one substep.
#[derive(Clone, Debug, Default)]
pub(in crate::solid::rigid) struct Linkage {
    rows: Vec<Row>,
    assemblies: Vec<Assembly>,
    /// The assembly of each body.
    of_body: Vec<Option<usize>>,
    /// What an impulse on each body does, as far as somebody has asked.
    responses: Vec<OnceCell<Rc<Response>>>,
    /// Inverse mass and inertia of each body.
    inverse: Vec<(f64, DMat3)>,
    /// Per joint that holds: its place in the list, its bodies, and where it is.
    places: Vec<(usize, [Option<usize>; 2], DVec3)>,
    /// Per row: its gap (m or rad) now, and the largest that counts as small.
    gaps: Vec<[f64; 2]>,
    /// Place of the first row that damps what substeps cannot follow.
    damping: usize,
    /// The largest gap now: m and rad.
    pub apart: [f64; 2],
}

/// The free bodies that are not at rest, and what they weigh.
fn inverse(body: &Body) -> (f64, DMat3) {
    match body.is_free() {
        true => (1.0 / body.shape.mass(), body.inverse_inertia()),
        false => (0.0, DMat3::ZERO),
    }
}

/// The places of a joint's bodies in the list; `None` where one of them is gone, or neither can move.
pub(in crate::solid::rigid) fn ends_of(
    joint: &Joint,
    bodies: &[Body],
    places: &[(Key, usize)],
) -> Option<[Option<usize>; 2]> {
    if joint.state.broken {
        return None;
    }
    let find = |key: Key| places.binary_search_by_key(&key, |p| p.0).ok().map(|n| places[n].1);
    let mut ends = [None; 2];
    for (end, key) in ends.iter_mut().zip(joint.ends) {
        if let Some(key) = key {
            *end = Some(find(key)?);
        }
    }
    let moves = ends.iter().flatten().any(|&n| bodies[n].led.is_none());
    (moves && ends[0] != ends[1]).then_some(ends)
}

/// The bodies' names and places in the list, sorted.
pub(in crate::solid::rigid) fn places(bodies: &[Body]) -> Vec<(Key, usize)> {
    let mut places: Vec<(Key, usize)> = bodies.iter().enumerate().map(|(n, b)| (b.key, n)).collect();
    places.sort_unstable();
    places
}

fn poses_of(bodies: &[Body], ends: [Option<usize>; 2]) -> [Pose; 2] {
    ends.map(|end| end.map_or(WORLD, |n| bodies[n].pose))
}

/// M⁻¹ of what a row gives to an end.
fn given(row: &Row, end: usize, inverse: &[(f64, DMat3)]) -> Velocity {
    let (mass, inertia) = row.ends[end].map_or((0.0, DMat3::ZERO), |n| inverse[n]);
    let Velocity { linear, angular } = row.jacobian[end];
    Velocity { linear: linear * mass, angular: inertia * angular }
}

impl Linkage {
    /// The rows of all joints, and the motors and stops besides them. Joints count their turns.
    pub fn new(bodies: &[Body], joints: &mut [Joint], times: &Intervals) -> (Self, Vec<Bound>) {
        let (mut linkage, bounds) = Self::gathered(bodies, joints, times);
        linkage.assemble(bodies);
        linkage.calm(bodies, joints, times);
        (linkage, bounds)
    }

    /// The same before anything is factored: gaps are known.
    pub fn gathered(bodies: &[Body], joints: &mut [Joint], times: &Intervals) -> (Self, Vec<Bound>) {
        let places = if joints.is_empty() { Vec::new() } else { places(bodies) };
        let mut linkage = Self { inverse: bodies.iter().map(inverse).collect(), ..Self::default() };
        let (mut all, mut sprung) = (Vec::new(), Vec::new());
        for (number, joint) in joints.iter_mut().enumerate() {
            let Some(ends) = ends_of(joint, bodies, &places) else { continue };
            let poses = poses_of(bodies, ends);
            joint.state.turned = joint.way(poses);
            let size = ends.iter().flatten().map(|&n| bodies[n].shape.radius()).fold(f64::INFINITY, f64::min);
            for (gap, jacobian) in rigid(joint, poses) {
                let turns = jacobian[1].linear == DVec3::ZERO;
                let apart = &mut linkage.apart[usize::from(turns)];
                *apart = apart.max(gap.abs());
                let row = Row { joint: number, ends, jacobian, soft: 0.0, target: 0.0, is_spring: false };
                linkage.push(row, [gap, SMALL * if turns { 1.0 } else { size }]);
            }
            let light = ends.map(|end| end.map_or((0.0, DMat3::ZERO), |n| linkage.inverse[n]));
            sprung.extend(Spring::of((number, joint), ends, poses, light));
            all.extend(bounds(joint, (number, ends), poses, (times.kick, times.next)));
            linkage.places.push((number, ends, joint.placed(poses)[1].position));
        }
        for row in springs::rows(&sprung, joints, bodies, times) {
            linkage.push_soft(row);
        }
        linkage.damping = linkage.rows.len();
        (linkage, all)
    }

    fn push(&mut self, row: Row, gap: [f64; 2]) {
        self.rows.push(row);
        self.gaps.push(gap);
    }

    /// Adds a row without a gap that counts.
    fn push_soft(&mut self, row: Row) {
        self.push(row, [0.0, f64::INFINITY]);
    }

    /// The rows of all joints.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// True where no joint holds anything.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Finds which bodies hang together, and factors their matrices.
    pub fn assemble(&mut self, bodies: &[Body]) {
        let count = bodies.len();
        let free_ends =
            |row: &Row, inverse: &[(f64, DMat3)]| row.ends.map(|end| end.filter(|&n| inverse[n].0 > 0.0));
        let mut sets = DisjointSets::new(if self.rows.is_empty() { 0 } else { count });
        for row in &self.rows {
            if let [Some(a), Some(b)] = free_ends(row, &self.inverse) {
                sets.union(a, b);
            }
        }
        let mut assembly_of = vec![usize::MAX; count];
        let mut assemblies: Vec<Assembly> = Vec::new();
        self.of_body = vec![None; count];
        for (r, row) in self.rows.iter().enumerate() {
            for n in free_ends(row, &self.inverse).into_iter().flatten() {
                let of = sets.find(n);
                if assembly_of[of] == usize::MAX {
                    assembly_of[of] = assemblies.len();
                    assemblies.push(Assembly::default());
                }
                let assembly = &mut assemblies[assembly_of[of]];
                if assembly.rows.last() != Some(&r) {
                    assembly.rows.push(r);
                }
                if self.of_body[n].is_none() {
                    self.of_body[n] = Some(assembly_of[of]);
                    assembly.bodies.push(n);
                }
            }
        }
        for assembly in &mut assemblies {
            assembly.bodies.sort_unstable();
            assembly.factor(&self.rows, &self.inverse, bodies);
        }
        self.assemblies = assemblies;
        self.responses = vec![OnceCell::new(); count];
    }

    /// M⁻¹ of what a row gives to an end.
    fn given(&self, row: usize, end: usize) -> Velocity {
        given(&self.rows[row], end, &self.inverse)
    }

    /// Speed that a row counts.
    fn speed(&self, row: usize, velocities: &[Velocity]) -> f64 {
        let Row { ends, jacobian, .. } = &self.rows[row];
        (0..2).map(|n| ends[n].map_or(0.0, |end| dot(&jacobian[n], &velocities[end]))).sum()
    }

    /// The impulse of every row that brings these velocities to the rows' targets.
    pub fn holding(&self, velocities: &[Velocity]) -> Vec<f64> {
        let mut all = vec![0.0; self.rows.len()];
        for assembly in &self.assemblies {
            let of = |&r: &usize| self.rows[r].target - self.speed(r, velocities);
            let speeds: Vec<f64> = assembly.rows.iter().map(of).collect();
            assembly.rows.iter().zip(assembly.impulses(&speeds)).for_each(|(&r, i)| all[r] = i);
        }
        all
    }

    /// The impulses that change the rows' speeds so.
    pub fn changing(&self, speeds: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.rows.len()];
        for assembly in &self.assemblies {
            let wanted: Vec<f64> = assembly.rows.iter().map(|&r| speeds[r]).collect();
            assembly.rows.iter().zip(assembly.impulses(&wanted)).for_each(|(&r, i)| all[r] = i);
        }
        all
    }

    /// Adds what impulses of the rows do to velocities.
    pub fn add(&self, impulses: &[f64], velocities: &mut [Velocity]) {
        for (r, (row, impulse)) in self.rows.iter().zip(impulses).enumerate() {
            for (end, n) in row.ends.iter().enumerate() {
                let Some(n) = *n else { continue };
                let given = self.given(r, end);
                velocities[n].linear += given.linear * *impulse;
                velocities[n].angular += given.angular * *impulse;
            }
        }
    }

    /// Impulse and angular impulse that the rows give to each body.
    pub fn wrenches(&self, impulses: &[f64], given: &mut [(DVec3, DVec3)]) {
        for (row, impulse) in self.rows.iter().zip(impulses) {
            for (jacobian, n) in row.jacobian.iter().zip(row.ends) {
                let Some(n) = n else { continue };
                given[n].0 += jacobian.linear * *impulse;
                given[n].1 += jacobian.angular * *impulse;
            }
        }
    }

    /// Impulse and angular impulse that each joint holds; what damps its swings is no load.
    pub fn loads(&self, impulses: &[f64], count: usize) -> Vec<(DVec3, DVec3)> {
        let mut loads = vec![(DVec3::ZERO, DVec3::ZERO); count];
        for (row, impulse) in self.rows[..self.damping].iter().zip(impulses) {
            let (force, torque) = &mut loads[row.joint];
            match row.jacobian[1].linear == DVec3::ZERO {
                true => *torque += row.jacobian[1].angular * *impulse,
                false => *force += row.jacobian[1].linear * *impulse,
            }
        }
        loads
    }

    /// What an impulse on a body does to all that hang together with it; `None` where no joint holds it.
    pub fn response(&self, body: usize) -> Option<Rc<Response>> {
        let assembly = &self.assemblies[(*self.of_body.get(body)?)?];
        Some(self.responses[body].get_or_init(|| Rc::new(self.respond(assembly, body))).clone())
    }

    fn respond(&self, assembly: &Assembly, body: usize) -> Response {
        let (mass, inertia) = self.inverse[body];
        let unit = |c: usize| match c < 3 {
            true => Velocity { linear: DVec3::AXES[c] * mass, angular: DVec3::ZERO },
            false => Velocity { linear: DVec3::ZERO, angular: inertia.col(c - 3) },
        };
        let mut response: Response = assembly.bodies.iter().map(|&n| (n, [Velocity::default(); 6])).collect();
        for c in 0..6 {
            let own = unit(c);
            let of = |&r: &usize| -> f64 {
                let Row { ends, jacobian, .. } = &self.rows[r];
                -(0..2).filter(|&e| ends[e] == Some(body)).map(|e| dot(&jacobian[e], &own)).sum::<f64>()
            };
            let speeds: Vec<f64> = assembly.rows.iter().map(of).collect();
            let impulses = assembly.impulses(&speeds);
            let mut put = |n: usize, given: Velocity, by: f64| {
                let Ok(place) = assembly.bodies.binary_search(&n) else { return };
                let to = &mut response[place].1[c];
                to.linear += given.linear * by;
                to.angular += given.angular * by;
            };
            put(body, own, 1.0);
            for (&r, impulse) in assembly.rows.iter().zip(impulses) {
                for (end, n) in self.rows[r].ends.iter().enumerate() {
                    if let Some(n) = *n {
                        put(n, self.given(r, end), impulse);
                    }
                }
            }
        }
        response
    }

    /// Changes the rows' targets so that joints fit at the end of the drift that these velocities make, as far as one
    /// step of Newton's method goes. Gives the changes of speed, and how far off they were, by what is small; `None` where
    /// they fit, or are farther off than the last time, `last`.
    pub fn aim(
        &mut self,
        bodies: &[Body],
        joints: &[Joint],
        velocities: &[Velocity],
        (next, last): (f64, f64),
    ) -> Option<(Vec<f64>, f64)> {
        let mut changes = vec![0.0; self.rows.len()];
        let (mut worst, mut r) = (0.0f64, 0);
        while r < self.rows.len() {
            let Row { joint, ends, is_spring, .. } = self.rows[r];
            if is_spring {
                r += 1;
                continue;
            }
            let poses = ends.map(|end| end.map_or(WORLD, |n| freed(&bodies[n], velocities[n], next)));
            for (gap, _) in rigid(&joints[joint], poses) {
                let [now, small] = self.gaps[r];
                let off = if now.abs() <= small { gap } else { gap - now };
                worst = worst.max(off.abs() * SMALL / small);
                changes[r] = -off / next;
                r += 1;
            }
        }
        if worst <= EXACT || worst >= last || !worst.is_finite() {
            return None;
        }
        self.rows.iter_mut().zip(&changes).for_each(|(row, change)| row.target += change);
        Some((changes, worst))
    }

    /// The speeds that undo a share of gaps that are not small, at most so many radii or rad a second; `None` where all are.
    pub fn closing(&self, share: f64, most: f64, next: f64) -> Option<Vec<f64>> {
        // A spring's row has no gap that counts.
        let of = |&[gap, small]: &[f64; 2]| match small.is_finite() {
            true => (-gap * share / next).clamp(-most * small / SMALL, most * small / SMALL),
            false => 0.0,
        };
        self.gaps.iter().any(|[gap, small]| gap.abs() > *small).then(|| self.gaps.iter().map(of).collect())
    }
}
