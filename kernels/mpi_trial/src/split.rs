//! Which rank has which leaf, and what the ranks must tell each other.

use crate::scene::Origin;
use meniscus_kernels::checkerboard::place;
use meniscus_kernels::leaf;
use meniscus_kernels::multigrid::neighbours;

/// The order along which leaves are cut into equal runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// That of the grid: x, then y, then z. The runs are slabs.
    Sorted,
    /// A Z-curve: the runs are compact.
    Curve,
}

/// What of a neighbour's leaf travels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Halo {
    /// The 64 cells of the side that touches.
    Planes,
    /// All 512 cells.
    Leaves,
}

/// A piece of a leaf that one rank sends to another: (number of the leaf in the whole system, one of six sides).
pub type Piece = (u32, u8);

/// The distribution of all leaves.
pub struct Split {
    pub origins: Vec<Origin>,
    pub neighbours: Vec<[u32; 6]>,
    /// Per leaf, its rank.
    pub owner: Vec<u32>,
}

/// The part of one rank.
pub struct Part {
    /// Numbers, in the whole system, of the leaves that it has, ascending.
    pub own: Vec<u32>,
    /// And of those that it borrows.
    pub ghosts: Vec<u32>,
    /// Per other rank: what it is sent, and what comes from it, both by leaf and side.
    pub peers: Vec<(u32, Vec<Piece>, Vec<Piece>)>,
}

/// Position of a leaf on a Z-curve.
fn curve(o: &Origin) -> u64 {
    let spread = |c: i32| (0..20).map(|bit| (c as u64 >> (3 + bit) & 1) << (3 * bit)).sum::<u64>();
    spread(o[0]) << 2 | spread(o[1]) << 1 | spread(o[2])
}

impl Split {
    pub fn new(origins: Vec<Origin>, ranks: usize, order: Order) -> Self {
        let mut along: Vec<u32> = (0..origins.len() as u32).collect();
        if order == Order::Curve {
            along.sort_by_cached_key(|&l| curve(&origins[l as usize]));
        }
        let mut owner = vec![0; origins.len()];
        for (i, &l) in along.iter().enumerate() {
            owner[l as usize] = (i * ranks / origins.len()) as u32;
        }
        Self { neighbours: neighbours(&origins), origins, owner }
    }

    pub fn part(&self, rank: u32) -> Part {
        let own: Vec<u32> =
            (0..self.owner.len() as u32).filter(|&l| self.owner[l as usize] == rank).collect();
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        for &l in &own {
            for (f, &beside) in self.neighbours[l as usize].iter().enumerate() {
                let there = self.owner.get(beside as usize).copied().unwrap_or(rank);
                if there != rank {
                    sent.push((there, (l, f as u8)));
                    received.push((there, (beside, f as u8 ^ 1)));
                }
            }
        }
        sent.sort_unstable();
        received.sort_unstable();
        let mut ghosts: Vec<u32> = received.iter().map(|(_, (l, _))| *l).collect();
        ghosts.sort_unstable();
        ghosts.dedup();
        let mut peers: Vec<u32> = received.iter().map(|r| r.0).collect();
        peers.dedup();
        let of =
            |list: &[(u32, Piece)], peer: u32| list.iter().filter(|p| p.0 == peer).map(|p| p.1).collect();
        let peers = peers.into_iter().map(|p| (p, of(&sent, p), of(&received, p))).collect();
        Part { own, ghosts, peers }
    }
}

impl Part {
    /// Leaf pieces as they travel: planes, or each leaf once.
    pub fn pieces(&self, list: &[Piece], halo: Halo) -> Vec<Piece> {
        let mut list = list.to_vec();
        if halo == Halo::Leaves {
            list.iter_mut().for_each(|p| p.1 = 6);
            list.dedup();
        }
        list
    }

    /// Position among own leaves and ghosts of a leaf of the whole system.
    pub fn local(&self, l: u32) -> Option<usize> {
        let own = self.own.binary_search(&l).ok();
        own.or_else(|| self.ghosts.binary_search(&l).ok().map(|g| self.own.len() + g))
    }
}

/// The cells (colour, row, lane) of each side −x +x −y +y −z +z, and of the whole leaf.
pub fn cells() -> [Vec<(usize, usize, usize)>; 7] {
    std::array::from_fn(|side| {
        let on_side = |n: &usize| side == 6 || leaf::local(*n)[side / 2] == 7 * (side as i32 & 1);
        (0..leaf::SIZE).filter(on_side).map(place).collect()
    })
}
