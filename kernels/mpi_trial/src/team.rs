//! One rank's part of the system, and what it does together with the others.

use crate::scene::Scene;
use crate::split::{Halo, Part, Piece, Split, cells};
use meniscus_kernels::checkerboard;
use meniscus_kernels::conjugate_gradients::{Real, Scratch, Vector, apply};
use meniscus_kernels::leaf;
use meniscus_kernels::multigrid::{Level, ZERO};
use mpi::datatype::{Equivalence, PartitionMut};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use std::time::Instant;

/// Numbers from all ranks, in an order that does not depend on who has them.
pub struct Gather {
    counts: Vec<i32>,
    starts: Vec<i32>,
    /// Where each number, as it comes, belongs.
    order: Vec<u32>,
    arrived: Vec<f64>,
    pub values: Vec<f64>,
}

impl Gather {
    /// For one number a key; keys are unique over all ranks.
    pub fn new(world: &SimpleCommunicator, keys: &[u64]) -> Self {
        let mut counts = vec![0i32; world.size() as usize];
        world.all_gather_into(&(keys.len() as i32), &mut counts[..]);
        let starts: Vec<i32> =
            counts.iter().scan(0, |sum, c| Some(std::mem::replace(sum, *sum + c))).collect();
        let total = counts.iter().sum::<i32>() as usize;
        let mut all = vec![0u64; total];
        world.all_gather_varcount_into(keys, &mut PartitionMut::new(&mut all[..], &counts[..], &starts[..]));
        let mut by_key: Vec<u32> = (0..total as u32).collect();
        by_key.sort_by_key(|&i| all[i as usize]);
        let mut order = vec![0; total];
        by_key.iter().enumerate().for_each(|(place, &i)| order[i as usize] = place as u32);
        Self { counts, starts, order, arrived: vec![0.0; total], values: vec![0.0; total] }
    }

    /// Every rank gets all numbers, sorted by their keys.
    pub fn run(&mut self, world: &SimpleCommunicator, own: &[f64]) {
        let Self { counts, starts, order, arrived, values } = self;
        world.all_gather_varcount_into(
            own,
            &mut PartitionMut::new(&mut arrived[..], &counts[..], &starts[..]),
        );
        arrived.iter().zip(&*order).for_each(|(v, &place)| values[place as usize] = *v);
    }
}

/// The pieces for and from one other rank: (leaf here, side).
struct Peer {
    rank: i32,
    sent: Vec<(u32, u8)>,
    received: Vec<(u32, u8)>,
}

/// One rank.
pub struct Team<'a> {
    world: &'a SimpleCommunicator,
    pub level: Level,
    /// Leaves of its own; they come first.
    pub own: usize,
    pub scratch: Scratch,
    peers: Vec<Peer>,
    cells: [Vec<(usize, usize, usize)>; 7],
    /// The groups of contacts with the bubble.
    groups: Vec<u32>,
    /// Leaves of the whole system.
    pub leaves: usize,
    /// One number a leaf, and one a group of contacts.
    of_apply: Gather,
    /// Two numbers a leaf.
    of_pair: Gather,
    own_values: Vec<f64>,
    /// Diagonal of the bubble's row.
    pub super_diagonal: f64,
}

/// Buffers of an exchange.
#[derive(Default)]
pub struct Buffers<T> {
    sent: Vec<Vec<T>>,
    received: Vec<Vec<T>>,
}

/// Seconds of a pass: packing, waiting for messages, unpacking; the leaves; the sums.
#[derive(Clone, Copy, Default)]
pub struct Times {
    pub exchange: f64,
    pub leaves: f64,
    pub sums: f64,
}

impl<'a> Team<'a> {
    pub fn new(world: &'a SimpleCommunicator, scene: &Scene, split: &Split, part: &Part, halo: Halo) -> Self {
        let origins: Vec<_> =
            part.own.iter().chain(&part.ghosts).map(|&l| split.origins[l as usize]).collect();
        let own = part.own.len();
        let level = scene.level(&origins, own);
        let here = |list: &[Piece]| -> Vec<(u32, u8)> {
            let pieces = part.pieces(list, halo).into_iter();
            pieces.map(|(l, side)| (part.local(l).expect("own or borrowed") as u32, side)).collect()
        };
        let peer = |(rank, sent, received): &(u32, Vec<Piece>, Vec<Piece>)| Peer {
            rank: *rank as i32,
            sent: here(sent),
            received: here(received),
        };
        let mut scratch = Scratch::default();
        scratch.fit(&level, &[]);
        // The operator goes over as many leaves as there are partial sums: those of its own.
        scratch.partials.truncate(own);
        let contacts = &level.contacts;
        let groups: Vec<u32> = contacts.by_super.clone();
        let key = |g: &u32| {
            let group = &contacts.groups[*g as usize];
            let colour = contacts.of(group)[0].colour;
            u64::from(part.own[group.leaf as usize]) << 1 | u64::from(colour)
        };
        let of_leaves = part.own.iter().map(|&l| u64::from(l));
        let of_groups: Vec<u64> = groups.iter().map(key).collect();
        let keys: Vec<u64> = of_leaves.clone().chain(of_groups.iter().map(|k| 1 << 40 | k)).collect();
        let pairs: Vec<u64> = of_leaves.clone().chain(of_leaves.map(|l| 1 << 40 | l)).collect();
        // The diagonal of the bubble's row, summed as the engine does.
        let strength = |g: &u32| {
            let group = &contacts.groups[*g as usize];
            contacts.of(group).iter().map(|c| c.weight as f64).sum::<f64>()
        };
        let mut of_diagonal = Gather::new(world, &of_groups);
        of_diagonal.run(world, &groups.iter().map(strength).collect::<Vec<_>>());
        let tied = level.supers.compliance[0] + level.supers.fixed[0];
        let super_diagonal = of_diagonal.values.iter().fold(tied, |sum, v| sum + v);
        Self {
            world,
            own,
            scratch,
            peers: part.peers.iter().map(peer).collect(),
            cells: cells(),
            leaves: split.origins.len(),
            of_apply: Gather::new(world, &keys),
            of_pair: Gather::new(world, &pairs),
            own_values: Vec::new(),
            groups,
            super_diagonal,
            level,
        }
    }

    /// A zero vector.
    pub fn zero<T: Real>(&self) -> Vector<T> {
        let mut v = Vector::default();
        v.fit(self.level.leaves(), 1);
        v
    }

    /// A vector of given values in the cells of its own leaves.
    pub fn vector<T: Real>(&self, scene: &Scene, f: impl Fn([i32; 3]) -> f64, bubble: f64) -> Vector<T> {
        let mut v = self.zero::<T>();
        for l in 0..self.own {
            let values = scene.values(self.level.origins[l], &f).map(T::round);
            let [red, black] = &mut v.cells;
            checkerboard::split(&values, &mut red[l], &mut black[l]);
        }
        v.supers[0] = bubble;
        v
    }

    /// Values a message holds, per other rank.
    pub fn messages(&self) -> Vec<usize> {
        self.peers.iter().map(|p| p.sent.iter().map(|s| self.cells[s.1 as usize].len()).sum()).collect()
    }

    /// Fills the borrowed leaves of x.
    pub fn exchange<T: Real + Equivalence>(&self, x: &mut Vector<T>, buffers: &mut Buffers<T>) {
        let Buffers { sent, received } = buffers;
        sent.resize_with(self.peers.len(), Vec::new);
        received.resize_with(self.peers.len(), Vec::new);
        for ((peer, out), back) in self.peers.iter().zip(&mut *sent).zip(&mut *received) {
            out.clear();
            for &(l, side) in &peer.sent {
                out.extend(self.cells[side as usize].iter().map(|&(c, r, k)| x.cells[c][l as usize][r][k]));
            }
            let count = peer.received.iter().map(|p| self.cells[p.1 as usize].len()).sum();
            back.resize(count, T::default());
        }
        mpi::request::scope(|scope| {
            let pairs = self.peers.iter().zip(sent.iter().zip(&mut *received));
            let requests: Vec<_> = pairs
                .map(|(peer, (out, back))| {
                    let other = self.world.process_at_rank(peer.rank);
                    (
                        other.immediate_receive_into(scope, &mut back[..]),
                        other.immediate_send(scope, &out[..]),
                    )
                })
                .collect();
            for (receive, send) in requests {
                receive.wait_without_status();
                send.wait_without_status();
            }
        });
        for (peer, back) in self.peers.iter().zip(&*received) {
            let mut values = back.iter();
            for &(l, side) in &peer.received {
                for (&(c, r, k), v) in self.cells[side as usize].iter().zip(values.by_ref()) {
                    x.cells[c][l as usize][r][k] = *v;
                }
            }
        }
    }

    /// y = A x; returns xᵀ A x. The bits do not depend on the number of ranks.
    pub fn apply<T: Real + Equivalence>(
        &mut self,
        x: &mut Vector<T>,
        y: &mut Vector<T>,
        buffers: &mut Buffers<T>,
        times: &mut Times,
    ) -> f64 {
        let start = Instant::now();
        self.exchange(x, buffers);
        let exchanged = Instant::now();
        apply(&self.level, &[], x, y, &mut self.scratch);
        let applied = Instant::now();
        let flows = self.groups.iter().map(|&g| self.scratch.flow[g as usize]);
        self.own_values.clear();
        self.own_values.extend(self.scratch.partials.iter().copied().chain(flows));
        self.of_apply.run(self.world, &self.own_values);
        let (partials, flows) = self.of_apply.values.split_at(self.leaves);
        let supers = &self.level.supers;
        let cells: f64 = flows.iter().sum();
        y.supers[0] = cells + (supers.compliance[0] + supers.fixed[0]) * x.supers[0];
        let product = partials.iter().sum::<f64>() + x.supers[0] * y.supers[0];
        times.exchange += (exchanged - start).as_secs_f64();
        times.leaves += (applied - exchanged).as_secs_f64();
        times.sums += applied.elapsed().as_secs_f64();
        product
    }

    /// Σ a b and Σ a a, each from one partial sum a leaf, added in the order of all leaves.
    pub fn products(&mut self, a: &Vector<f64>, b: &Vector<f64>) -> [f64; 2] {
        let (own, mut both) = (self.own, std::mem::take(&mut self.own_values));
        both.clear();
        both.resize(2 * own, 0.0);
        let (first, second) = both.split_at_mut(own);
        meniscus_kernels::conjugate_gradients::dot_cells(&a.cells, &b.cells, first);
        meniscus_kernels::conjugate_gradients::dot_cells(&a.cells, &a.cells, second);
        self.of_pair.run(self.world, &both);
        self.own_values = both;
        let (first, second) = self.of_pair.values.split_at(self.leaves);
        [
            first.iter().sum::<f64>() + a.supers[0] * b.supers[0],
            second.iter().sum::<f64>() + a.supers[0] * a.supers[0],
        ]
    }

    /// All cells of a vector in the order of all leaves, and the bubble's value, on every rank.
    pub fn whole<T: Real>(&self, part: &Part, v: &Vector<T>) -> Vec<f64> {
        let keys: Vec<u64> =
            part.own.iter().flat_map(|&l| (0..512).map(move |n| u64::from(l) << 9 | n)).collect();
        let mut gather = Gather::new(self.world, &keys);
        let mut own = vec![0.0; self.own * leaf::SIZE];
        for (l, values) in own.chunks_mut(leaf::SIZE).enumerate() {
            let halves = [0, 1].map(|c| v.cells[c][l].map(|row| row.map(|x| -> f64 { x.into() })));
            checkerboard::join(&halves[0], &halves[1], values);
        }
        gather.run(self.world, &own);
        gather.values.push(v.supers[0]);
        gather.values
    }

    /// Contacts with air and with the bubble.
    pub fn contacts(&self) -> [usize; 2] {
        let contacts = &self.level.contacts;
        let of = |air: bool| {
            let groups = contacts.groups.iter().filter(|g| (g.target == ZERO) == air);
            groups.map(|g| contacts.of(g).len()).sum()
        };
        [of(true), of(false)]
    }
}
