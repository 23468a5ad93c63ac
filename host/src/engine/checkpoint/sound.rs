//! Checks that a state that was read is valid. Its hash was checked before, so no cook wrote what fails here; it is
//! refused with a sentence before a plugin sees it.

use crate::data::{Data, Geometry, Grid, Lifetime, Owner, Table};
use crate::engine::call::unsound;
use crate::engine::state::{Clock, Holder, State};
use crate::graph::{Network, Settings};
use crate::node::{Carries, PortOwner, PortSpec};
use std::collections::BTreeSet;

/// Largest coordinate of a voxel.
const FARTHEST: i32 = 1 << 29;
/// Edges of tiles, voxels.
const EDGES: [u32; 3] = [8, 128, 4096];
/// Most components of an attribute's element.
const MOST_COMPONENTS: usize = 64;
/// Smallest and largest edge of a voxel, m.
const VOXELS: std::ops::RangeInclusive<f64> = 1e-9..=1e9;
/// A promised substep is at least this part of the shortest that equal substeps would have.
const SHORTEST: f64 = 1e-6;

/// The first fault of a state, if there is one: one sentence.
pub(super) fn check(state: &State, network: &Network) -> Option<String> {
    clock(&state.clock, &network.settings).or_else(|| {
        state.holders.iter().find_map(|(holder, object)| {
            let (Holder::Object(i) | Holder::Node(i)) = holder;
            let kind = &network.nodes[*i].node_type.id;
            if object.kind != *kind {
                return Some(format!(
                    "`{}` is a {} in it and a {kind} in the graph",
                    object.name, object.kind
                ));
            }
            if !object.lead.is_finite() || object.lead.abs() > 1.0 / network.settings.fps {
                return Some(format!(
                    "the velocities of `{}` are {} s ahead of its positions",
                    object.name, object.lead
                ));
            }
            object.ports.iter().find_map(|(name, port)| {
                let wrong = declared(*holder, name, &port.data, network).or_else(|| defect(&port.data));
                wrong.map(|what| format!("`{name}` of `{}` is damaged: {what}", object.name))
            })
        })
    })
}

fn clock(clock: &Clock, settings: &Settings) -> Option<String> {
    let frame = 1.0 / settings.fps;
    let within = clock.substep > 0;
    let first = settings.frames.0 + i32::from(within);
    let elapsed_fits =
        if within { clock.elapsed > 0.0 && clock.elapsed < frame } else { clock.elapsed == 0.0 };
    let shortest = SHORTEST * frame / f64::from(settings.substeps.max.max(1));
    let promise_fits = clock.promise.is_none_or(|dt| (shortest..=1.001 * frame).contains(&dt));
    let wish_fits = clock.wish.is_none_or(|dt| dt >= 0.0);
    if clock.frame < first
        || !elapsed_fits
        || clock.substep > settings.substeps.max.max(settings.substeps.min)
    {
        let Clock { frame, substep, elapsed, .. } = clock;
        return Some(format!(
            "its clock shows frame {frame}, substep {substep}, {elapsed:e} s, which no cook reaches"
        ));
    }
    (!promise_fits || !wish_fits).then(|| "its clock promises a substep that no cook takes".into())
}

/// Why data does not match what the nodes declare under that name.
fn declared(holder: Holder, name: &str, data: &Data, network: &Network) -> Option<String> {
    let is_meant = |port: &&PortSpec, node: usize| {
        let owner_fits = match holder {
            Holder::Node(n) => match port.owner {
                PortOwner::Node => n == node,
                owner => matches!(owner, PortOwner::Member(_)),
            },
            Holder::Object(_) => !matches!(port.owner, PortOwner::Node | PortOwner::Member(_)),
        };
        port.name == name && port.lifetime == Lifetime::State && owner_fits
    };
    let contracts =
        network.nodes.iter().enumerate().filter_map(|(i, n)| Some((i, n.node_type.contract.as_ref()?)));
    let mut ports = contracts.flat_map(|(i, c)| c.ports.iter().filter(move |p| is_meant(p, i))).peekable();
    if ports.peek().is_none() {
        return Some("no node of the graph keeps such data".into());
    }
    let fits = |port: &PortSpec| match (port.carries, data) {
        (Carries::Grid { element, components, sampling }, Data::Grid(g)) => {
            (element, components, sampling) == (g.element, g.components(), g.sampling)
        }
        (Carries::Geometry, Data::Geometry(_)) | (Carries::Table, Data::Table(_)) => true,
        _ => false,
    };
    (!ports.any(fits)).then(|| format!("it is a {} of another kind than its node declares", data.kind()))
}

fn defect(data: &Data) -> Option<String> {
    let of_kind = match data {
        Data::Grid(g) => grid(g),
        Data::Geometry(g) => geometry(g),
        Data::Table(t) => table(t),
    };
    of_kind.or_else(|| unsound(data))
}

fn grid(g: &Grid) -> Option<String> {
    let far = |o: &[i32; 3]| o.iter().any(|c| !(-FARTHEST..=FARTHEST).contains(c));
    let tilted = |t: &crate::data::Tile| {
        !EDGES.contains(&t.edge)
            || far(&t.origin)
            || t.origin.iter().any(|c| c.rem_euclid(t.edge as i32) != 0)
    };
    let m = &g.transform;
    let det = m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8])
        + m[2] * (m[4] * m[9] - m[5] * m[8]);
    if !VOXELS.contains(&det.abs().cbrt()) || !VOXELS.contains(&g.voxel_size()) {
        return Some("its voxels have no size".into());
    }
    if g.origins.iter().any(far) {
        return Some("a leaf lies farther away than voxels can".into());
    }
    g.tiles.iter().any(tilted).then(|| "a tile does not stand where tiles can".into())
}

fn geometry(g: &Geometry) -> Option<String> {
    let mut names = BTreeSet::new();
    for a in &g.attributes {
        if !(1..=MOST_COMPONENTS).contains(&a.components) || !names.insert((a.owner as usize, &a.name)) {
            return Some(format!(
                "attribute `{}` is there twice, or has {} components",
                a.name, a.components
            ));
        }
    }
    if g.points > 0 && !g.attributes.iter().any(|a| a.owner == Owner::Point) {
        return Some(format!("it announces {} points and holds none", g.points));
    }
    (g.points > u32::MAX as usize || g.origin.iter().any(|c| !c.is_finite()))
        .then(|| "it has too many points, or none can tell where".into())
}

fn table(t: &Table) -> Option<String> {
    let mut names = BTreeSet::new();
    t.columns.iter().find_map(|c| {
        let whole = c.components > 0 && c.values.len() % c.components == 0;
        (!whole || !names.insert(&c.name)).then(|| {
            format!(
                "array `{}` is there twice, or its {} numbers make no rows of {}",
                c.name,
                c.values.len(),
                c.components
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Array, Element, Sampling, Tile};
    use std::sync::Arc;

    #[test]
    fn clocks_that_no_cook_reaches_are_told() {
        let settings = Settings::default();
        let sound = Clock { substep: 2, elapsed: 0.01, promise: Some(0.01), ..Clock::at_frame(7) };
        assert_eq!(clock(&sound, &settings), None);
        assert_eq!(clock(&Clock::at_frame(1), &settings), None);
        for wrong in [
            Clock::at_frame(0),
            Clock::at_frame(i32::MIN),
            Clock { frame: 1, ..sound },
            Clock { elapsed: 1.0, ..sound },
            Clock { elapsed: -0.01, ..sound },
            Clock { elapsed: f64::NAN, ..sound },
            Clock { substep: u32::MAX, ..sound },
            Clock { substep: 0, ..sound },
            Clock { promise: Some(1e-300), ..sound },
            Clock { promise: Some(f64::INFINITY), ..sound },
            Clock { promise: Some(-1.0), ..sound },
            Clock { wish: Some(f64::NAN), ..sound },
        ] {
            assert!(clock(&wrong, &settings).is_some(), "{wrong:?}");
        }
    }

    #[test]
    fn data_that_no_node_makes_is_told() {
        let good = || {
            let mut g = Grid::new(Element::F32, 1, Sampling::Centre);
            let tile = Tile { origin: [-128, 0, 0], edge: 128, value: [1.0; 9] };
            g.shape(vec![[0, 0, 8]], vec![tile]);
            g
        };
        assert_eq!(defect(&Data::Grid(good())), None);
        let spoil: [fn(&mut Grid); 6] = [
            |g| g.transform[0] = 0.0,
            |g| g.transform[5] = f64::NAN,
            |g| g.origins = Arc::new(vec![[0, 0, i32::MAX & !7]]),
            |g| Arc::make_mut(&mut g.tiles)[0].edge = 0,
            |g| Arc::make_mut(&mut g.tiles)[0].origin[0] = 8,
            |g| g.channels[0] = Arc::new(Array::F32(vec![f32::NAN; 512])),
        ];
        for (i, spoil) in spoil.iter().enumerate() {
            let mut g = good();
            spoil(&mut g);
            assert!(defect(&Data::Grid(g)).is_some(), "{i}");
        }
        let mut g = Geometry::from_points(&[[0.0; 3]]);
        assert_eq!(defect(&Data::Geometry(g.clone())), None);
        g.attributes[0].components = usize::MAX;
        assert!(defect(&Data::Geometry(g.clone())).is_some());
        g.attributes.clear();
        g.points = 1 << 60;
        assert!(defect(&Data::Geometry(g)).is_some());
        let mut t = Table::default();
        t.set("ids", 2, Array::I64(vec![1, 2]));
        assert_eq!(defect(&Data::Table(t.clone())), None);
        t.columns[0].components = 0;
        assert!(defect(&Data::Table(t)).is_some());
    }
}
