//! Finds the leaves of a fluid's lattice that solids touch, without visiting voxels.

use super::collider::absolute;
use super::{Collider, DomainLimits, Side, Solids};
use crate::grid::{Coord, Topology, Transform, leaf};
use crate::levelset::Region;
use glam::{DMat3, DVec3, IVec3};
use rayon::prelude::*;
use std::cmp::Ordering;

/// Width of the band in which solid fields are distances, voxels of the fluid.
pub(super) const BAND: f64 = 3.0;
/// Nodes closer to a solid's surface than this, voxels, count as on it, so that rounding does not open a wall that
/// stands in a plane of nodes.
const ON_SURFACE: f64 = 1e-4;
/// The nodes of a leaf and the first beyond.
const NODES: usize = 1000;

/// How solids fill a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occupancy {
    /// No solid in it.
    Open,
    /// Nothing but solid.
    Solid,
    /// Solids may cut it: every voxel must be checked.
    Cut,
}

/// The solids placed on a fluid's lattice.
pub(super) struct Placed<'a> {
    pub solids: Solids<'a>,
    transform: Transform,
    /// Per collider, the fluid's index space → its index space.
    maps: Vec<(DMat3, DVec3)>,
    pub h: f64,
}

/// The box around a leaf's nodes and the first nodes beyond, −1 ..= 8.
struct LeafBox {
    /// Its middle and half its edges, index positions.
    centre: DVec3,
    half: DVec3,
    /// The same for the box along the world's axes that holds it, metres.
    world: DVec3,
    reach: DVec3,
}

/// The solids near one leaf.
pub(super) struct Nearby<'p> {
    placed: &'p Placed<'p>,
    /// φ of the solids that are constant in the leaf, metres.
    constant: f64,
    cut: Vec<(usize, Region<'p>)>,
    /// The closed sides in reach.
    walls: Vec<usize>,
    /// No closed side is nearer to any node of the leaf, metres.
    clear_of_walls: f64,
    /// Colliders that fill the whole leaf, and their φ there.
    filling: Vec<(usize, f64)>,
    /// Colliders that fill some of the leaf or come near it.
    pub touching: Vec<usize>,
    /// Those farther away whose band is so narrow that the fields tell.
    pub beside: Vec<usize>,
}

impl<'a> Placed<'a> {
    pub fn new(solids: Solids<'a>, transform: &Transform) -> Self {
        let maps = solids.colliders.iter().map(|c| c.index_map(transform)).collect();
        Self { solids, transform: *transform, maps, h: transform.voxel_size() }
    }

    /// The fluid's index space → world.
    pub fn transform(&self) -> &Transform {
        &self.transform
    }

    /// World position of an index position, metres.
    pub fn world(&self, index: DVec3) -> DVec3 {
        self.transform.to_world(index)
    }

    /// φ far from every solid, metres.
    pub fn far(&self) -> f64 {
        BAND * self.h
    }

    fn leaf_box(&self, origin: Coord) -> LeafBox {
        let half = DVec3::splat(4.5);
        let centre = origin.as_dvec3() - 1.5 + half;
        let (world, reach) = (self.world(centre), absolute(self.transform.linear) * half);
        LeafBox { centre, half, world, reach }
    }

    /// What a collider's field is in a leaf's box; `None` where the box lies beyond what the collider reaches.
    fn region(&self, n: usize, LeafBox { centre, half, world, reach }: &LeafBox) -> Option<Region<'a>> {
        let collider = &self.solids.colliders[n];
        let (linear, translation) = self.maps[n];
        let (c, e) = (linear * *centre + translation, absolute(linear) * *half);
        collider.reaches(world - reach, world + reach).then(|| collider.sdf().region(c - e, c + e))
    }

    /// Whether the surface of a collider, which others may cover, comes within a voxel of a leaf.
    fn is_near(&self, n: usize, origin: Coord) -> bool {
        let Some(mut region) = self.region(n, &self.leaf_box(origin)) else { return false };
        if matches!(region, Region::Constant(_)) {
            return false;
        }
        let (linear, translation) = self.maps[n];
        let mut near = |n: i32| {
            let node = (origin + IVec3::new(n / 100, n / 10 % 10, n % 10)).as_dvec3() - 1.5;
            region.distance(linear * node + translation).abs() < self.h as f32
        };
        (0..NODES as i32).any(&mut near)
    }

    /// What lies near a leaf's nodes.
    pub fn nearby(&self, origin: Coord) -> Nearby<'_> {
        let around = self.leaf_box(origin);
        let mut near = Nearby {
            placed: self,
            constant: self.far(),
            cut: vec![],
            walls: vec![],
            clear_of_walls: f64::INFINITY,
            filling: vec![],
            touching: vec![],
            beside: vec![],
        };
        for (n, collider) in self.solids.colliders.iter().enumerate() {
            match self.region(n, &around) {
                // One farther away than the fields tell apart says nothing, however narrow its band.
                None if !collider.reaches(
                    around.world - around.reach - self.far(),
                    around.world + around.reach + self.far(),
                ) => {}
                None => near.stands_beside(n, collider.band()),
                Some(Region::Constant(phi)) if phi > 0.0 => near.stands_beside(n, f64::from(phi)),
                Some(Region::Constant(phi)) => {
                    near.constant = near.constant.min(f64::from(phi));
                    near.touching.push(n);
                    near.filling.push((n, f64::from(phi)));
                }
                Some(region) => {
                    near.cut.push((n, region));
                    near.touching.push(n);
                }
            }
        }
        let LeafBox { world, reach, .. } = around;
        for side in (0..6).filter(|&s| self.solids.domain.sides[s] == Side::Closed) {
            let distance = self.solids.domain.side_distance(side, world);
            near.clear_of_walls = near.clear_of_walls.min(distance - reach[side / 2]);
            if distance + reach[side / 2] < -self.far() {
                near.constant = -self.far();
            } else if distance - reach[side / 2] < self.far() {
                near.walls.push(side);
            }
        }
        near
    }
}

impl Nearby<'_> {
    /// Takes in a collider whose surface is so far from the leaf, m, and no farther away than the fields tell apart.
    fn stands_beside(&mut self, n: usize, distance: f64) {
        if distance < self.far() {
            self.constant = self.constant.min(distance);
            self.beside.push(n);
        }
    }

    pub fn occupancy(&self) -> Occupancy {
        match (self.constant <= 0.0, self.cut.is_empty() && self.walls.is_empty()) {
            (true, _) => Occupancy::Solid,
            (false, true) => Occupancy::Open,
            (false, false) => Occupancy::Cut,
        }
    }

    /// φ far from every solid, metres.
    pub fn far(&self) -> f64 {
        self.placed.far()
    }

    /// φ of the solids that are constant in the leaf, metres, clamped to the band.
    pub fn constant(&self) -> f32 {
        self.constant.clamp(-self.placed.far(), self.placed.far()) as f32
    }

    /// φ at the nodes of the leaf at `origin` and at its first neighbours, −1 ..= 8 along each axis, z fastest, see [`Self::at`];
    /// and that of each solid that may cut the leaf.
    pub fn nodes(&mut self, origin: Coord) -> ([f32; NODES], Vec<[f32; NODES]>) {
        let placed = self.placed;
        let index =
            |n: usize| (origin + IVec3::new((n / 100) as i32, (n / 10 % 10) as i32, 0) - 1).as_dvec3() - 0.5;
        let each: Vec<[f32; NODES]> = self
            .cut
            .iter_mut()
            .map(|(n, region)| {
                let (linear, translation) = placed.maps[*n];
                let mut phi = [0.0; NODES];
                for (row, phi) in phi.as_chunks_mut::<10>().0.iter_mut().enumerate() {
                    // Summed as a matrix sums, so that every leaf finds the same for a node.
                    let first = index(10 * row);
                    let along = linear.x_axis * first.x + linear.y_axis * first.y;
                    for (z, phi) in phi.iter_mut().enumerate() {
                        let at = along + linear.z_axis * (first.z + z as f64) + translation;
                        *phi = region.distance(at);
                    }
                }
                phi
            })
            .collect();
        let mut phi = [0.0; NODES];
        for (n, phi) in phi.iter_mut().enumerate() {
            let solids = each.iter().fold(self.constant, |least, each| least.min(f64::from(each[n])));
            let node = index(n) + DVec3::new(0.0, 0.0, (n % 10) as f64);
            *phi = self.with_walls(solids, node);
        }
        (phi, each)
    }

    /// φ at the lower node of a voxel, see [`Self::at`].
    pub fn node(&mut self, ijk: Coord) -> f32 {
        self.at(ijk.as_dvec3() - 0.5)
    }

    /// φ of the union of all solids at an index position near the leaf, metres, clamped to the band and
    /// exactly zero on the surface.
    pub fn at(&mut self, index: DVec3) -> f32 {
        let placed = self.placed;
        let mut phi = self.constant;
        for (n, region) in &mut self.cut {
            let (linear, translation) = placed.maps[*n];
            phi = phi.min(f64::from(region.distance(linear * index + translation)));
        }
        self.with_walls(phi, index)
    }

    /// φ of the union of the closed sides and of solids with this φ, clamped to the band and exactly zero on the surface.
    fn with_walls(&self, mut phi: f64, index: DVec3) -> f32 {
        let placed = self.placed;
        if !self.walls.is_empty() {
            let world = placed.world(index);
            for &side in &self.walls {
                phi = phi.min(placed.solids.domain.side_distance(side, world));
            }
        }
        if phi.abs() < ON_SURFACE * placed.h { 0.0 } else { phi.clamp(-placed.far(), placed.far()) as f32 }
    }

    /// The collider that is alone near the leaf: neither another one nor a closed side comes as near as its band is wide.
    pub fn only(&self) -> Option<usize> {
        let &[n] = self.touching.as_slice() else { return None };
        (self.clear_of_walls > self.widest_band()).then_some(n)
    }

    /// The width of the widest band of the colliders near the leaf, metres.
    pub fn widest_band(&self) -> f64 {
        let band = |&n: &usize| self.placed.solids.colliders[n].band();
        self.touching.iter().map(band).fold(0.0, f64::max)
    }

    /// The nearest collider at an index position, and how much nearer it is than other solids, metres: below 0 where a closed
    /// side is nearer. `distance` is that of the solids that may cut the leaf, in their order.
    pub fn lead(&self, index: DVec3, distance: impl Fn(usize) -> f32) -> Option<(usize, f64)> {
        let cut = self.cut.iter().enumerate().map(|(c, (n, _))| (*n, f64::from(distance(c))));
        let (mut first, mut second) = (None, f64::INFINITY);
        for (n, distance) in self.filling.iter().copied().chain(cut) {
            match first {
                Some((_, least)) if distance >= least => second = second.min(distance),
                _ => {
                    second = first.map_or(second, |(_, least)| least);
                    first = Some((n, distance));
                }
            }
        }
        let (n, least) = first?;
        let wall = match self.clear_of_walls < least + (second - least).min(self.placed.far()) {
            true => self.placed.solids.domain.distance(self.placed.world(index)),
            false => f64::INFINITY,
        };
        Some((n, second.min(wall) - least))
    }

    /// The number of the collider whose velocity the fluid has at an index position near the leaf: the nearest one, the
    /// first of equally near ones; `None` nearer to a closed side, and beyond every band and that of the fields.
    pub fn owner(&mut self, index: DVec3) -> Option<usize> {
        self.owner_of_those(index, |_| true)
    }

    /// [`Self::owner`], where the solids that may cut the leaf are asked only if their `distance` near the position, in their order,
    /// is less than `farther` metres above the least: others cannot be the nearest.
    pub fn owner_among(
        &mut self,
        index: DVec3,
        distance: impl Fn(usize) -> f32,
        farther: f64,
    ) -> Option<usize> {
        let least = (0..self.cut.len()).map(&distance).fold(f32::INFINITY, f32::min);
        self.owner_of_those(index, |cut| f64::from(distance(cut)) < f64::from(least) + farther)
    }

    fn owner_of_those(&mut self, index: DVec3, is_asked: impl Fn(usize) -> bool) -> Option<usize> {
        let placed = self.placed;
        let asked = self.cut.iter_mut().enumerate().filter(|(cut, _)| is_asked(*cut));
        let cut = asked.map(|(_, (n, region))| {
            let (linear, translation) = placed.maps[*n];
            (*n, f64::from(region.distance(linear * index + translation)))
        });
        let nearer = |a: (usize, f64), b: (usize, f64)| if (b.1, b.0) < (a.1, a.0) { b } else { a };
        let (n, distance) = self.filling.iter().copied().chain(cut).reduce(nearer)?;
        let in_band = distance < placed.solids.colliders[n].band().min(placed.far());
        let before_walls =
            distance < self.clear_of_walls || distance < placed.solids.domain.distance(placed.world(index));
        (in_band && before_walls).then_some(n)
    }
}

/// How solids fill the leaf at `origin` of a fluid's lattice. When in doubt, the answer is `Cut`.
pub fn occupancy(
    colliders: &[Collider],
    domain: &DomainLimits,
    transform: &Transform,
    origin: Coord,
) -> Occupancy {
    Placed::new(Solids { colliders, domain }, transform).nearby(origin).occupancy()
}

/// The leaves of a fluid's lattice that the colliders' surfaces run through, inside the domain's box. A wall may
/// separate regions of air there although no liquid is near. Their number grows with the surface. Those of bodies count where
/// other solids cover them, too.
pub fn cut_leaves(colliders: &[Collider], domain: &DomainLimits, transform: &Transform) -> Topology {
    let no_sides = DomainLimits::unbounded();
    let surfaces = Surfaces::new(colliders, &no_sides, transform);
    let candidates = surfaces.candidates(domain);
    Topology::new(candidates.into_par_iter().filter(|&origin| surfaces.cut(origin)).collect())
}

/// The surfaces of colliders on a fluid's lattice.
pub(super) struct Surfaces<'a> {
    placed: Placed<'a>,
    /// Which colliders are bodies.
    bodies: Vec<usize>,
}

impl<'a> Surfaces<'a> {
    /// Closed sides do not separate air from other air, so they cut no leaves: `no_sides` has none.
    pub fn new(colliders: &'a [Collider], no_sides: &'a DomainLimits, transform: &Transform) -> Self {
        let placed = Placed::new(Solids { colliders, domain: no_sides }, transform);
        Self { placed, bodies: (0..colliders.len()).filter(|&n| colliders[n].is_body()).collect() }
    }

    /// Leaves inside a domain's box that surfaces may run through, sorted, each once.
    pub fn candidates(&self, domain: &DomainLimits) -> Vec<Coord> {
        let Placed { solids, transform, maps, .. } = &self.placed;
        // Leaves that touch a side count: cells before it have their upper faces there. A thousandth of a voxel, so that rounding
        // does not decide.
        let half = DVec3::splat(0.5 * leaf::DIM as f64);
        let in_domain = |o: Coord| {
            let centre = self.placed.world(o.as_dvec3() - 0.5 + half);
            let reach = absolute(transform.linear) * (half + 1e-3);
            (centre + reach).cmpge(domain.min).all() && (centre - reach).cmple(domain.max).all()
        };
        let within = leaves_of(domain, transform);
        let mut origins = Vec::new();
        for (collider, (linear, translation)) in solids.colliders.iter().zip(maps) {
            let back = linear.inverse();
            for o in collider.sdf().grid.topology.origins() {
                let centre = back * (o.as_dvec3() + 3.5 - *translation);
                origins
                    .extend(leaves_around(centre, absolute(back) * half, within).filter(|&o| in_domain(o)));
            }
        }
        origins.sort_unstable_by_key(|o| o.to_array());
        origins.dedup();
        origins
    }

    /// Whether a surface runs through a leaf or along its border. A leaf that a solid fills up to its border holds the closed faces
    /// there, which part the air before it from the space of the leaves behind.
    pub fn cut(&self, origin: Coord) -> bool {
        if self.bodies.iter().any(|&n| self.placed.is_near(n, origin)) {
            return true;
        }
        let mut near = self.placed.nearby(origin);
        if !near.cut.iter().any(|(_, region)| region.may_cross()) {
            return false;
        }
        let mut signs = (0..leaf::SIZE + 217).map(|n| {
            let n = n as i32;
            near.node(origin + IVec3::new(n / 81, n / 9 % 9, n % 9)).partial_cmp(&0.0)
        });
        let first = signs.next();
        first == Some(Some(Ordering::Equal)) || signs.any(|s| Some(s) != first)
    }
}

/// Lowest and highest leaf of a fluid's lattice that a collider, its inside included, reaches with what is near it.
pub(super) fn reach_of(collider: &Collider, transform: &Transform) -> Option<(Coord, Coord)> {
    let (first, last) = collider.sdf().bounds()?;
    let (linear, translation) = collider.index_map(transform);
    let back = linear.inverse();
    let (first, last) = (first.as_dvec3(), last.as_dvec3());
    let centre = back * (0.5 * (first + last) - translation);
    let reach = absolute(back) * (0.5 * (last - first) + 2.0) + 2.0;
    Some(((centre - reach).floor().as_ivec3() & !7, (centre + reach).ceil().as_ivec3() & !7))
}

/// Lowest and highest voxel of a lattice that a domain reaches, with a leaf to spare.
fn leaves_of(domain: &DomainLimits, transform: &Transform) -> (Coord, Coord) {
    // So that a side that is infinitely far away has a voxel.
    const FAR: DVec3 = DVec3::splat(1e12);
    let (low, high) = (domain.min.clamp(-FAR, FAR), domain.max.clamp(-FAR, FAR));
    let centre = transform.to_index(0.5 * (low + high));
    let reach = absolute(transform.linear.inverse()) * (0.5 * (high - low)) + leaf::DIM as f64;
    let most = DVec3::splat(f64::from(i32::MAX / 4));
    let voxel = |at: DVec3| at.clamp(-most, most).as_ivec3();
    (voxel((centre - reach).floor()), voxel((centre + reach).ceil()))
}

/// The leaves that a box around an index position meets, `within` the lowest and the highest voxel.
fn leaves_around(centre: DVec3, reach: DVec3, within: (Coord, Coord)) -> impl Iterator<Item = Coord> {
    let low = (centre - reach).floor().as_ivec3().max(within.0) & !7;
    let high = (centre + reach).ceil().as_ivec3().min(within.1);
    let steps = move |axis: usize| (low[axis]..=high[axis]).step_by(leaf::DIM);
    steps(0).flat_map(move |x| steps(1).flat_map(move |y| steps(2).map(move |z| IVec3::new(x, y, z))))
}
