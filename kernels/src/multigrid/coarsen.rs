//! Builds the next coarser level by 2×2×2 aggregation: its leaves, cells, super-cells and couplings. The couplings are
//! the Galerkin product, with every face weakened by the links behind it (`conductance.rs`). Compliances do not depend
//! on gradients and stay unchanged, and so do the couplings among super-cells.

use super::aggregation::{Aggregation, Parent};
use super::body::{Body, Conductances};
use super::conductance::{Faces, Touched};
use super::level::{Contact, Contacts, GRAIN, Level, Supers, ZERO};
use super::transfer::{coarse_row, octant, put_coarse};
use crate::checkerboard::{self, Field, place};
use crate::leaf;
use rayon::prelude::*;

/// Index-space bounds (lowest, highest cell) of a super-cell on some level; `None` when it has no cells.
pub type Extent = Option<([i32; 3], [i32; 3])>;

/// Cells that a body spans on a level from which on it counts as part of them.
const SMALL: i32 = 3;

/// Faces of a level that carry, in series with it, what a small body conducts: however light it is, its neighbours give way only
/// so far. It changes iterations alone: 0.5, 1, 4, 8 and 16 give 11, 10, 10, 9 and 9 for a hundred light balls, infinitely many 11.
const GIVES_WAY: f64 = 8.0;

/// A coarse cell: (leaf, offset in leaf order).
type Place = (u32, u16);

/// Aggregates a level; `extents` are moved to the coarse level.
pub fn coarsen(fine: &Level, extents: &mut Vec<Extent>, bodies: &mut Vec<Body>) -> (Level, Aggregation) {
    for (low, high) in extents.iter_mut().flatten() {
        (*low, *high) = (low.map(|c| c >> 1), high.map(|c| c >> 1));
    }
    let origins = coarse_origins(fine, extents);
    let map = aggregation(fine, &origins, extents);
    let mut coarse = Level { neighbours: neighbours(&origins), origins, ..Level::default() };
    let leaves = (0..fine.leaves()).into_par_iter().with_min_len(GRAIN);
    let touched: Vec<Touched> = leaves.map(|l| Touched::new(fine, l)).collect();
    aggregate_faces(fine, &touched, &map, &mut coarse);
    let small = aggregate_bodies(&map, &coarse, bodies);
    aggregate_contacts(fine, &touched, &map, &mut coarse, &small);
    let kept = map.supers.iter().map(|p| matches!(p, Parent::Super(_)));
    let mut kept = kept.collect::<Vec<_>>().into_iter();
    extents.retain(|_| kept.next().unwrap_or(true));
    coarse.finish();
    (coarse, map)
}

/// The single coarse cell a super-cell has shrunk to.
fn shrunk(extent: &Extent) -> Option<[i32; 3]> {
    extent.filter(|(low, high)| low == high).map(|(low, _)| low)
}

fn coarse_origins(fine: &Level, extents: &[Extent]) -> Vec<[i32; 3]> {
    let of_leaves = fine.origins.iter().map(|o| o.map(|c| leaf::origin(c >> 1)));
    let of_supers = extents.iter().filter_map(shrunk).map(|cell| cell.map(leaf::origin));
    let mut origins: Vec<[i32; 3]> = of_leaves.chain(of_supers).collect();
    origins.sort_unstable();
    origins.dedup();
    origins
}

/// Face neighbours −x +x −y +y −z +z of sorted leaves; their number (the void) where absent.
pub fn neighbours(origins: &[[i32; 3]]) -> Vec<[u32; 6]> {
    let void = origins.len();
    let find = |o: &[i32; 3], f: usize| {
        let mut o = *o;
        o[f / 2] += if f.is_multiple_of(2) { -(leaf::DIM as i32) } else { leaf::DIM as i32 };
        origins.binary_search(&o).unwrap_or(void) as u32
    };
    origins.par_iter().with_min_len(64).map(|o| std::array::from_fn(|f| find(o, f))).collect()
}

fn place_of(origins: &[[i32; 3]], cell: [i32; 3]) -> Option<Place> {
    let l = origins.binary_search(&cell.map(leaf::origin)).ok()?;
    Some((l as u32, leaf::offset(cell[0], cell[1], cell[2]) as u16))
}

fn aggregation(fine: &Level, origins: &[[i32; 3]], extents: &[Extent]) -> Aggregation {
    let mut children = vec![[fine.leaves() as u32; 8]; origins.len()];
    let mut parents = Vec::with_capacity(fine.leaves());
    for (l, &o) in fine.origins.iter().enumerate() {
        let found = origins.binary_search(&o.map(|c| leaf::origin(c >> 1)));
        let parent = found.unwrap_or_else(|insert| insert);
        children[parent][octant(o)] = l as u32;
        parents.push((parent as u32, octant(o) as u8));
    }
    let mut kept = 0;
    let supers = extents.iter().map(|e| match shrunk(e).and_then(|cell| place_of(origins, cell)) {
        Some((l, n)) => Parent::Cell(l, n),
        None => {
            kept += 1;
            Parent::Super(kept - 1)
        }
    });
    Aggregation { children, parents, supers: supers.collect() }
}

/// A coarse face gathers the conductances through the four fine faces that cover it.
fn aggregate_faces(fine: &Level, touched: &[Touched], map: &Aggregation, coarse: &mut Level) {
    for (axis, field) in coarse.faces.iter_mut().enumerate() {
        let faces = Faces { level: fine, touched, axis };
        checkerboard::reset(field, map.children.len());
        let [red, black] = field;
        let halves = red[..map.children.len()].par_iter_mut().zip(&mut black[..map.children.len()]);
        halves.with_min_len(GRAIN / 4).zip(&map.children).for_each(|((red, black), children)| {
            for (octant, &child) in
                children.iter().enumerate().filter(|&(_, &c)| (c as usize) < fine.leaves())
            {
                faces.for_lower_sides(child as usize, |x, y, sides| {
                    put_coarse([red, black], coarse_row(octant, x, y), sides);
                });
            }
        });
    }
}

/// Couplings of a coarse cell with the coarse cell of a super-cell that has shrunk to one.
struct Link {
    from: Place,
    to: Place,
    weight: f32,
}

/// Moves the bodies to the coarse level; returns those that have become small there.
fn aggregate_bodies(map: &Aggregation, coarse: &Level, bodies: &mut Vec<Body>) -> Vec<Body> {
    let all: Vec<Body> = bodies.drain(..).map(|body| body.coarsen(map)).collect();
    let (gone, kept): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|body| body.span(coarse).is_some_and(|span| span <= SMALL));
    *bodies = kept;
    gone
}

/// Adds what small bodies conduct.
fn add_small(small: &[Body], coarse: &Level, per_leaf: &mut [Vec<Contact>], links: &mut Vec<Link>) {
    for body in small {
        let Conductances { faces, home, held } = body.conductances();
        for (axis, upper, conductance) in faces {
            let mut lower = upper;
            lower[axis] -= 1;
            let ends = (place_of(&coarse.origins, lower), place_of(&coarse.origins, upper));
            let (Some(from), Some(to)) = ends else { continue };
            let (colour, row, lane) = place(to.1.into());
            let around = GIVES_WAY * f64::from(coarse.faces[axis][colour][to.0 as usize][row][lane]);
            if around > 0.0 {
                let weight = conductance / (1.0 + conductance / around);
                links.push(Link { from, to, weight: weight as f32 });
            }
        }
        if let Some((l, n)) = place_of(&coarse.origins, home).filter(|_| held > 0.0) {
            per_leaf[l as usize].push(contact(n.into(), ZERO, held as f32));
        }
    }
}

fn aggregate_contacts(
    fine: &Level,
    touched: &[Touched],
    map: &Aggregation,
    coarse: &mut Level,
    small: &[Body],
) {
    let collected: Vec<(Vec<Contact>, Vec<Link>)> = map
        .children
        .par_iter()
        .with_min_len(GRAIN / 4)
        .enumerate()
        .map(|(l, children)| contacts_of(touched, map, l as u32, children))
        .collect();
    let (mut per_leaf, links): (Vec<_>, Vec<_>) = collected.into_iter().unzip();
    let mut links: Vec<Link> = links.into_iter().flatten().collect();
    coarse.supers = aggregate_supers(fine, map, &mut per_leaf, &mut links);
    add_small(small, coarse, &mut per_leaf, &mut links);
    for link in links.iter().filter(|l| l.from != l.to) {
        add_face(coarse, link);
    }
    per_leaf.par_iter_mut().with_min_len(GRAIN).for_each(merge);
    coarse.contacts = Contacts::new(&per_leaf, coarse.supers.compliance.len());
}

/// Sorts by (colour, target, cell) and sums equals.
fn merge(list: &mut Vec<Contact>) {
    list.sort_by_key(|c| (c.colour, c.target, c.lane));
    list.dedup_by(|next, kept| {
        let same = (next.colour, next.target, next.lane) == (kept.colour, kept.target, kept.lane);
        if same {
            kept.weight += next.weight;
        }
        same
    });
}

/// The fine contacts of a coarse leaf's cells, moved to the coarse level.
fn contacts_of(
    touched: &[Touched],
    map: &Aggregation,
    l: u32,
    children: &[u32; 8],
) -> (Vec<Contact>, Vec<Link>) {
    let (mut contacts, mut links) = (Vec::new(), Vec::new());
    for (octant, fine) in
        children.iter().enumerate().filter_map(|(o, &c)| Some((o, touched.get(c as usize)?)))
    {
        for &(target, n, weight) in &fine.contacts {
            let n = coarse_offset(octant, n as usize);
            let target = match target {
                ZERO => ZERO,
                b => match map.supers[b as usize] {
                    Parent::Super(p) => p,
                    Parent::Cell(m, o) => {
                        links.push(Link { from: (l, n as u16), to: (m, o), weight });
                        continue;
                    }
                },
            };
            contacts.push(contact(n, target, weight));
        }
    }
    (contacts, links)
}

/// Where a voxel of an octant's leaf goes.
fn coarse_offset(octant: usize, n: usize) -> usize {
    let [x, y, z] = leaf::local(n).map(|c| c as usize >> 1);
    let [ox, oy, oz] = [octant >> 2, octant >> 1 & 1, octant & 1].map(|o| 4 * o);
    (ox + x) << 6 | (oy + y) << 3 | (oz + z)
}

fn contact(offset: usize, target: u32, weight: f32) -> Contact {
    let (colour, row, lane) = place(offset);
    Contact { colour: colour as u8, lane: (row * 4 + lane) as u8, target, weight }
}

/// Moves the couplings among super-cells; shrunken ones turn them into contacts and links.
fn aggregate_supers(
    fine: &Level,
    map: &Aggregation,
    per_leaf: &mut [Vec<Contact>],
    links: &mut Vec<Link>,
) -> Supers {
    let kept = map.supers.iter().filter(|p| matches!(p, Parent::Super(_))).count();
    let mut out = Supers { compliance: vec![0.0; kept], fixed: vec![0.0; kept], ..Supers::default() };
    let mut touch = |(l, n): Place, target: u32, weight: f64| {
        per_leaf[l as usize].push(contact(n as usize, target, weight as f32));
    };
    for (b, parent) in map.supers.iter().enumerate() {
        let fixed = fine.supers.fixed[b];
        match *parent {
            Parent::Super(p) => {
                out.compliance[p as usize] = fine.supers.compliance[b];
                out.fixed[p as usize] = fixed;
            }
            Parent::Cell(l, n) => {
                let weight = fixed + fine.supers.compliance[b];
                if weight > 0.0 {
                    touch((l, n), ZERO, weight);
                }
            }
        }
    }
    for &(a, b, w) in &fine.supers.pairs {
        let weight = w;
        match (map.supers[a as usize], map.supers[b as usize]) {
            (Parent::Super(p), Parent::Super(q)) => out.pairs.push((p, q, weight)),
            (Parent::Super(p), Parent::Cell(l, n)) | (Parent::Cell(l, n), Parent::Super(p)) => {
                touch((l, n), p, weight);
            }
            (Parent::Cell(l, n), Parent::Cell(m, o)) => {
                links.push(Link { from: (l, n), to: (m, o), weight: weight as f32 });
            }
        }
    }
    out
}

/// Adds a link between two cells that share a face to that face's coefficient.
fn add_face(coarse: &mut Level, link: &Link) {
    let cell = |p: Place| -> [i32; 3] {
        let (o, at) = (coarse.origins[p.0 as usize], leaf::local(p.1 as usize));
        std::array::from_fn(|a| o[a] + at[a])
    };
    let (from, to) = (cell(link.from), cell(link.to));
    let step: [i32; 3] = std::array::from_fn(|a| to[a] - from[a]);
    let owner = |axis: usize| if step[axis] > 0 { link.to } else { link.from };
    let Some(axis) = (0..3).find(|&a| step[a].abs() == 1 && step.iter().filter(|&&s| s != 0).count() == 1)
    else {
        return;
    };
    let (l, n) = owner(axis);
    let (colour, row, lane) = place(n as usize);
    let field: &mut Field<f32> = &mut coarse.faces[axis];
    field[colour][l as usize][row][lane] += link.weight;
}
