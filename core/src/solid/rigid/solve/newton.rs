//! All contacts of an island at once, by Newton's method: for what sweeps hardly bring to rest, such as stacks, and what is heavy
//! on what is light.

use super::cone::{Cone, project, seen};
use super::factor::{Block, Matrix, Pattern, Six};
use super::pair::Pair;
use super::{Ended, Side, Solve, Until};
use crate::interrupt::Interrupt;
use crate::solid::rigid::Velocity;
use crate::solid::rigid::contact::Contact;
use glam::{DMat3, DVec3};

/// Stiffness of contacts in the first round, by what they yield to an impulse.
const STIFF: f64 = 300.0;
/// The stiffest: sums of contacts over a body are known to 1e-10 in f64.
const STIFFEST: f64 = 1e6;
/// The softest: sweeps do as well.
const SOFTEST: f64 = 1.0;
/// Steps of Newton's method in a round, and in all of them, at most.
const STEPS: [u32; 2] = [20, 120];
/// After up to so many steps in a round, contacts are so many times as stiff in the next one.
const GROWTH: [(u32, f64); 3] = [(4, 10.0), (8, 3.0), (STEPS[0], 1.0)];
/// Share of what contacts differ from their law by to which a round's velocities are found.
const EXACT: f64 = 0.03;
/// Tolerances that a hard island may leave.
pub(super) const ENOUGH: f64 = 1e3;
/// Once that is reached, a round that leaves more than this share of what it found is the last.
const PROGRESS: f64 = 0.1;
/// Multiplications of a factorization above which sweeps are the cheaper way.
const LARGEST: f64 = 1e8;
/// Share of its first slope that a search along a line leaves.
const FLAT: f64 = 0.1;

/// A body that can move.
struct Mass {
    place: usize,
    mass: f64,
    inertia: DMat3,
    /// Velocity without what these contacts give it.
    free: Velocity,
}

fn six(v: &Velocity) -> Six {
    let (l, a) = (v.linear, v.angular);
    [l.x, l.y, l.z, a.x, a.y, a.z]
}

fn velocity([a, b, c, d, e, f]: Six) -> Velocity {
    Velocity { linear: DVec3::new(a, b, c), angular: DVec3::new(d, e, f) }
}

fn plus(v: &Velocity, by: f64, w: &Velocity) -> Velocity {
    Velocity { linear: v.linear + w.linear * by, angular: v.angular + w.angular * by }
}

impl Mass {
    /// Momentum and angular momentum that come with a velocity.
    fn times(&self, v: &Velocity) -> Velocity {
        Velocity { linear: v.linear * self.mass, angular: self.inertia * v.angular }
    }
}

/// An island's bodies and contacts.
struct Heap<'a> {
    masses: Vec<Mass>,
    cones: Vec<Cone<'a>>,
    pattern: Pattern,
}

impl<'a> Heap<'a> {
    /// `None` where joints hold a body, or a factorization would take too long.
    fn new(
        sides: &[Side],
        pairs: &'a [Option<Pair>],
        yields: &[[f64; 2]],
        contacts: &[Contact],
        (members, targets): (&[usize], &[f64]),
    ) -> Option<Self> {
        let mut bodies = Vec::new();
        let asks = |n: &usize| targets[*n] > f64::NEG_INFINITY && yields[*n][0] > 0.0;
        for n in members.iter().filter(|n| asks(n)) {
            let pair = pairs[*n].as_ref()?;
            let moves = |n: &usize| sides[*n].inverse_mass > 0.0;
            bodies.extend(pair.ends().into_iter().filter_map(|(n, _)| n).filter(moves));
        }
        bodies.sort_unstable();
        bodies.dedup();
        let place = |n: usize| bodies.binary_search(&n).ok();
        let cone = |&number: &usize| {
            let pair = pairs[number].as_ref()?;
            let contact = &contacts[number];
            let ends = pair.ends().map(|(n, _)| n.and_then(place));
            let [along, across] = yields[number];
            let yields = if contact.friction > 0.0 { along.max(across) } else { along };
            let (friction, target, impulse) = (contact.friction, targets[number], contact.impulse());
            let mut carried = -pair.solid;
            for ((n, sign), arm) in pair.ends().into_iter().zip(pair.arms) {
                let still = n.filter(|n| sides[*n].inverse_mass == 0.0).map(|n| sides[n].velocity);
                carried += still.map_or(DVec3::ZERO, |v| v.linear + v.angular.cross(arm)) * sign;
            }
            Some(Cone { pair, number, ends, friction, yields, target, impulse, carried, lift: 0.0 })
        };
        let cones: Vec<Cone> = members.iter().filter(|n| asks(n)).filter_map(cone).collect();
        let both = cones.iter().filter_map(|c| Some([c.ends[0]?, c.ends[1]?]));
        let pattern = Pattern::new(bodies.len(), both, LARGEST)?;
        let mass = |&n: &usize| {
            let Side { inverse_mass, inverse_inertia, velocity, .. } = &sides[n];
            Mass { place: n, mass: 1.0 / inverse_mass, inertia: inverse_inertia.inverse(), free: *velocity }
        };
        let mut heap = Self { masses: bodies.iter().map(mass).collect(), cones, pattern };
        heap.add_impulses(sides, -1.0);
        Some(heap)
    }

    /// Adds what the impulses do to `free`, so many times.
    fn add_impulses(&mut self, sides: &[Side], times: f64) {
        let Self { masses, cones, .. } = self;
        for cone in cones {
            cone.give(cone.impulse, |n, wrench| {
                let mass = &mut masses[n];
                mass.free = plus(&mass.free, times, &sides[mass.place].given(&wrench));
            });
        }
    }

    /// The impulses that contacts of some stiffness have at these velocities, and how they change with the velocity there.
    fn impulses(&self, velocities: &[Velocity], stiff: f64) -> Vec<(DVec3, DMat3)> {
        let of = |cone: &Cone| {
            let stiffness = cone.stiffness(stiff);
            let wanted = cone.impulse - cone.excess(velocities) * stiffness;
            let (impulse, slope) = project(wanted, cone.pair.normal, cone.friction);
            (impulse, slope * stiffness)
        };
        self.cones.iter().map(of).collect()
    }

    /// What momentum is too much: M (v - free) - Σ Jᵀ impulse.
    fn left(&self, velocities: &[Velocity], impulses: &[(DVec3, DMat3)]) -> Vec<Velocity> {
        let more = |(mass, v): (&Mass, &Velocity)| mass.times(&plus(v, -1.0, &mass.free));
        let mut left: Vec<Velocity> = self.masses.iter().zip(velocities).map(more).collect();
        for (cone, (impulse, _)) in self.cones.iter().zip(impulses) {
            cone.give(*impulse, |n, wrench| left[n] = plus(&left[n], -1.0, &wrench));
        }
        left
    }

    /// M + Σ Jᵀ D J.
    fn matrix(&self, impulses: &[(DVec3, DMat3)]) -> Matrix {
        let mut matrix = self.pattern.zeros();
        for (n, mass) in self.masses.iter().enumerate() {
            let mut own = Block::default();
            (0..3).for_each(|i| own[i][i] = mass.mass);
            (0..3).for_each(|i| (0..3).for_each(|j| own[3 + i][3 + j] = mass.inertia.col(j)[i]));
            matrix.add(&self.pattern, n, &own);
        }
        for (cone, (_, d)) in self.cones.iter().zip(impulses).filter(|(_, (_, d))| *d != DMat3::ZERO) {
            let arms = cone.pair.arms;
            for (end, arm) in cone.ends.into_iter().zip(arms) {
                if let Some(n) = end {
                    matrix.add(&self.pattern, n, &seen([arm; 2], *d));
                }
            }
            if let [Some(a), Some(b)] = cone.ends
                && let Some((number, first_is_row)) = self.pattern.block(a, b)
            {
                let arms = if first_is_row { arms } else { [arms[1], arms[0]] };
                matrix.add_below(number, &seen(arms, *d * -1.0));
            }
        }
        matrix
    }

    /// How fast all contacts together move at these velocities, m/s.
    fn speed(&self, velocities: &[Velocity]) -> f64 {
        self.cones.iter().map(|cone| cone.relative(velocities).length_squared()).sum::<f64>().sqrt()
    }

    /// How far to go along `way`: to where the energy that Newton's method makes least has hardly any slope.
    fn far(&self, velocities: &[Velocity], way: &[Velocity], stiff: f64) -> f64 {
        let dot = |a: &Velocity, b: &Velocity| a.linear.dot(b.linear) + a.angular.dot(b.angular);
        let (mut first, mut grows) = (0.0, 0.0);
        for ((mass, v), w) in self.masses.iter().zip(velocities).zip(way) {
            let momentum = mass.times(w);
            first += dot(&momentum, &plus(v, -1.0, &mass.free));
            grows += dot(&momentum, w);
        }
        let lines: Vec<(DVec3, DVec3)> = self
            .cones
            .iter()
            .map(|cone| {
                let stiffness = cone.stiffness(stiff);
                (cone.impulse - cone.excess(velocities) * stiffness, cone.relative(way))
            })
            .collect();
        let slope = |far: f64| {
            let of = |(cone, (wanted, more)): (&Cone, &(DVec3, DVec3))| {
                let wanted = *wanted - *more * (far * cone.stiffness(stiff));
                more.dot(project(wanted, cone.pair.normal, cone.friction).0)
            };
            first + far * grows - self.cones.iter().zip(&lines).map(of).sum::<f64>()
        };
        let (mut low, mut high) = ((0.0, slope(0.0)), (1.0, slope(1.0)));
        let enough = FLAT * low.1.abs();
        if low.1 >= 0.0 {
            // Rounding is all that is left.
            return 0.0;
        }
        while high.1 < -enough && high.0 < 1e6 {
            (low, high) = (high, (2.0 * high.0, slope(2.0 * high.0)));
        }
        if high.1.abs() <= enough || !high.1.is_finite() {
            return high.0;
        }
        // Illinois: between a place where it falls and one where it rises [Dowell and Jarratt 1971].
        for _ in 0..60 {
            let at = (low.0 * high.1 - high.0 * low.1) / (high.1 - low.1);
            let there = slope(at);
            if there.abs() <= enough {
                return at;
            }
            if there > 0.0 {
                (low.1, high) = (0.5 * low.1, (at, there));
            } else {
                (high.1, low) = (0.5 * high.1, (at, there));
            }
        }
        low.0
    }

    /// Leads velocities to where their momentum is what the contacts give at them. Counts the steps. False where they do not come
    /// there; `None` where a matrix has no factor, or somebody asks to stop.
    fn balance(
        &self,
        velocities: &mut [Velocity],
        (stiff, tolerance): (f64, f64),
        (steps, interrupt): (&mut u32, Interrupt),
    ) -> Option<bool> {
        for _ in 0..STEPS[0] {
            if interrupt.asked() {
                return None;
            }
            let impulses = self.impulses(velocities, stiff);
            let left = self.left(velocities, &impulses);
            let wanted: Vec<Six> = left.iter().map(|l| six(l).map(|x| -x)).collect();
            let way = self.pattern.factor(self.matrix(&impulses))?.solve(&wanted);
            let way: Vec<Velocity> = way.into_iter().map(velocity).collect();
            *steps += 1;
            let far = self.far(velocities, &way, stiff);
            velocities.iter_mut().zip(&way).for_each(|(v, w)| *v = plus(v, far, w));
            let speed = self.speed(&way);
            if speed <= tolerance {
                return Some(true);
            } else if !speed.is_finite() {
                return None;
            }
        }
        Some(false)
    }

    /// Takes over the impulses at these velocities. By how much, m/s, the contacts differ from their law with the impulses of before.
    fn take(&mut self, velocities: &[Velocity], stiff: f64) -> f64 {
        let found = self.impulses(velocities, stiff);
        let mut change = 0.0f64;
        for (cone, (impulse, _)) in self.cones.iter_mut().zip(found) {
            let off = (impulse - cone.impulse).length() / cone.stiffness(stiff);
            cone.impulse = impulse;
            let apart = cone.relative(velocities) + cone.carried;
            let sliding = (apart - cone.pair.normal * apart.dot(cone.pair.normal)).length();
            let lift = cone.friction * sliding;
            change = change.max(off).max((lift - cone.lift).abs());
            cone.lift = lift;
        }
        change
    }
}

impl Solve {
    /// Finds the impulses of some contacts, `members`, to `tolerance` m/s. Tells how it ended; `None` where this is not the way:
    /// joints hold a body, or the bodies are too many.
    ///
    /// Contacts of finite stiffness make the velocities the least of a convex energy, M (v - free)²/2 and a square of what leaves
    /// the cones, which Newton's method finds with a search along each step [Castro et al. 2022]. Rounds
    /// start from the impulses of the last one, ever stiffer, so that in the end nothing gives way [Alart and Curnier 1991]. Where
    /// contacts are to be soft one round is all.
    pub(super) fn at_once(
        &mut self,
        contacts: &mut [Contact],
        (members, targets): (&[usize], &[f64]),
        Until { tolerance, soft, interrupt, .. }: Until,
    ) -> Option<Ended> {
        let Self { sides, pairs, yields, .. } = self;
        let mut heap = Heap::new(sides, pairs, yields, contacts, (members, targets))?;
        if soft > 0.0 {
            // One round from nothing is what finite stiffness means.
            heap.cones.iter_mut().for_each(|cone| cone.impulse = DVec3::ZERO);
        }
        let mut velocities: Vec<Velocity> = heap.masses.iter().map(|m| sides[m.place].velocity).collect();
        let mut ended = Ended { sweeps: 0, change: f64::INFINITY };
        let mut stiff = if soft > 0.0 { 1.0 / soft } else { STIFF };
        while ended.sweeps < STEPS[1] && ended.change > tolerance && stiff >= SOFTEST {
            let close = EXACT * ended.change.min(1e3 * tolerance / EXACT).max(tolerance);
            let before = ended.sweeps;
            if !heap.balance(&mut velocities, (stiff, close), (&mut ended.sweeps, interrupt))? {
                stiff *= 0.1;
                continue;
            }
            let change = heap.take(&velocities, stiff);
            if soft > 0.0 {
                ended.change = 0.0;
                break;
            }
            let stuck = change < ENOUGH * tolerance && change > PROGRESS * ended.change;
            ended.change = change;
            if stuck {
                break;
            }
            let grows = GROWTH.iter().find(|(steps, _)| ended.sweeps - before <= *steps);
            stiff = (stiff * grows.map_or(1.0, |(_, times)| *times)).min(STIFFEST);
        }
        if ended.change == f64::INFINITY {
            return None;
        }
        heap.add_impulses(sides, 1.0);
        for cone in &heap.cones {
            let contact = &mut contacts[cone.number];
            (contact.pressed, contact.rubbed) = (0.0, DVec3::ZERO);
            contact.take(cone.impulse);
        }
        let found: Vec<(usize, Velocity)> = heap.masses.iter().map(|m| (m.place, m.free)).collect();
        found.into_iter().for_each(|(n, velocity)| self.sides[n].velocity = velocity);
        Some(ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solid::rigid::contact::Other;
    use crate::solid::rigid::joints::Linkage;
    use crate::solid::rigid::tests::{Scene, a_box};
    use crate::solid::rigid::{Body, Intervals, Key};

    /// Eight boxes in a stack, turned a little, and a heavy one that falls on an edge of the last: contacts, and how fast each parts.
    fn heap(friction: f64) -> (Vec<Body>, Vec<Contact>, Vec<f64>) {
        let mut scene = Scene::new(DVec3::ZERO, 0.01);
        let key: Key = [0, 0];
        let mut contacts = Vec::new();
        for n in 0..9 {
            let (density, at) = if n < 8 { (300.0, 0.0) } else { (3e4, 0.1) };
            let shape = a_box(DVec3::new(0.3, 0.3, 0.3), density);
            let body = scene.add(&shape, DVec3::new(at, 0.15 + 0.3 * f64::from(n), 0.3 * at));
            let falls = if n < 8 { -0.1 } else { -5.0 };
            *body = body
                .clone()
                .moving(Velocity { linear: DVec3::new(0.2 * at, falls, 0.0), angular: DVec3::ZERO });
            let other = if n == 0 { Other::Solid(key) } else { Other::Body(n as usize - 1) };
            for (x, z) in [(-0.15, -0.15), (0.15, -0.15), (-0.15, 0.15), (0.15, 0.15)] {
                let place = DVec3::new(f64::max(x, at - 0.15), 0.3 * f64::from(n), z);
                let mut contact = Contact::new(n as usize, other, place, DVec3::Y, 0.0);
                contact.friction = friction;
                contacts.push(contact);
            }
        }
        let targets = (0..contacts.len()).map(|n| if n == 30 { -0.01 } else { 0.0 }).collect();
        (scene.bodies, contacts, targets)
    }

    /// Coulomb's law at each contact, and what all of them give is what the bodies get.
    #[test]
    fn a_heavy_body_on_a_stack_obeys_the_law_of_contacts_at_once() {
        for friction in [0.0, 0.3, 0.8] {
            let (bodies, mut contacts, targets) = heap(friction);
            let times = Intervals { drift: 0.01, kick: 0.01, next: 0.01 };
            let (linkage, _) = Linkage::new(&bodies, &mut [], &times);
            let mut solve = Solve::new(&bodies, &contacts, &linkage, &[]);
            let all: Vec<usize> = (0..contacts.len()).collect();
            let until = Until {
                most: 0,
                tolerance: 1e-11,
                soft: 0.0,
                energy_before: None,
                interrupt: Interrupt::NEVER,
            };
            let ended = solve.at_once(&mut contacts, (&all, &targets), until).unwrap();
            assert!(ended.change < ENOUGH * until.tolerance, "{ended:?}");
            for (contact, target) in contacts.iter().zip(&targets) {
                let velocity = solve.relative(contact);
                let (parts, slides) = (velocity.y - target, velocity.with_y(0.0));
                assert!(contact.pressed >= 0.0 && parts > -1e-7, "{contact:?} {parts}");
                assert!(contact.pressed < 1e-6 || parts < 1e-7, "{contact:?} {parts}");
                let most = friction * contact.pressed;
                assert!(contact.rubbed.length() <= most * (1.0 + 1e-9) + 1e-12);
                let against = contact.rubbed + slides.normalize_or_zero() * most;
                assert!(
                    slides.length() < 1e-6 || against.length() < 1e-4 * (1.0 + most),
                    "{contact:?} {slides}"
                );
            }
            let momentum = |n: usize, v: &Velocity| v.linear * bodies[n].shape.mass();
            let gained: DVec3 = (0..bodies.len())
                .zip(solve.velocities())
                .map(|(n, v)| momentum(n, &v) - momentum(n, &bodies[n].speed()))
                .sum();
            let floor: DVec3 = contacts[..4].iter().map(Contact::impulse).sum();
            assert!((gained - floor).length() < 1e-9 * floor.length(), "{gained} {floor}");
        }
    }

    /// Sweeps find the same where they settle.
    #[test]
    fn sweeps_find_what_newtons_method_finds() {
        let (bodies, contacts, targets) = heap(0.3);
        let times = Intervals { drift: 0.01, kick: 0.01, next: 0.01 };
        let (linkage, _) = Linkage::new(&bodies[..4], &mut [], &times);
        let (bodies, contacts) = (&bodies[..4], &contacts[..16]);
        let all: Vec<usize> = (0..contacts.len()).collect();
        let mut solve = Solve::new(bodies, contacts, &linkage, &[]);
        let mut at_once = contacts.to_vec();
        let until =
            Until { most: 8, tolerance: 1e-9, soft: 0.0, energy_before: None, interrupt: Interrupt::NEVER };
        solve.at_once(&mut at_once, (&all, &targets), until).unwrap();
        let mut swept = Solve::new(bodies, contacts, &linkage, &[]);
        let mut in_turn = contacts.to_vec();
        let until = Until { tolerance: 0.0, ..until };
        (0..500).for_each(|_| _ = swept.run(&mut in_turn, &mut [], &mut targets.clone()[..16], until));
        for (a, b) in solve.velocities().iter().zip(swept.velocities()) {
            assert!(a.linear.distance(b.linear) + a.angular.distance(b.angular) < 1e-7, "{a:?} {b:?}");
        }
    }
}
