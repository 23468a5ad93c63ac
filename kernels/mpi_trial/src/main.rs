//! The pressure engine's operator split over MPI ranks: the same bits on any number of them, and what the exchange costs.
//!
//! ```text
//! make mpi-trial                                       # all of it
//! meniscus-mpi-trial plan [64 128 …]                   # sizes of halos, without MPI
//! mpirun -n 2 meniscus-mpi-trial run [64 128 turns=31]
//! mpirun -n 2 meniscus-mpi-trial messages              # latency and rate of messages between two ranks
//! ```

mod scene;
mod solve;
mod split;
mod team;

use meniscus_kernels::conjugate_gradients::{Real, apply};
use mpi::collective::SystemOperation;
use mpi::datatype::Equivalence;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use scene::{Scene, noise};
use split::{Halo, Order, Split};
use std::time::{Duration, Instant};
use team::{Buffers, Team, Times};

/// Applications between two looks at the clock.
const REPEATS: usize = 10;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut sizes: Vec<i32> = args.iter().filter_map(|a| a.parse().ok()).collect();
    let turns = args.iter().find_map(|a| a.strip_prefix("turns=")?.parse().ok()).unwrap_or(31);
    if sizes.is_empty() {
        sizes = vec![64, 128];
    }
    let task = args.first().map_or("run", String::as_str);
    if task == "plan" {
        return sizes.into_iter().for_each(plan);
    }
    // One thread a rank; MPI is called from that thread alone.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    pool.install(|| {
        let universe = mpi::initialize().expect("MPI starts once");
        let world = universe.world();
        match task {
            "messages" => messages(&world),
            _ => sizes.into_iter().for_each(|n| run(&world, n, turns)),
        }
    });
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// How leaves and halos of the scene are shared out.
fn plan(n: i32) {
    let origins = Scene { n }.leaves(3);
    println!("\n{n}³: {} leaves of {}", origins.len(), (n as usize / 8).pow(3));
    println!(
        "| ranks | order | leaves a rank | sides received, most | of all sides | ranks beside, most | largest message, planes f32 |"
    );
    println!("|---|---|---|---|---|---|---|");
    for ranks in [2, 8, 64, 512] {
        for order in [Order::Sorted, Order::Curve] {
            if origins.len() < 8 * ranks {
                continue;
            }
            let split = Split::new(origins.clone(), ranks, order);
            let (mut own, mut sides, mut peers, mut largest) = (0, 0, 0, 0);
            // Ranks are alike: of many, every eighth is looked at.
            for rank in (0..ranks as u32).step_by(if ranks > 64 { 8 } else { 1 }) {
                let part = split.part(rank);
                own = own.max(part.own.len());
                sides = sides.max(part.peers.iter().map(|p| p.2.len()).sum::<usize>());
                peers = peers.max(part.peers.len());
                largest = largest.max(part.peers.iter().map(|p| p.2.len()).max().unwrap_or(0));
            }
            let share = 100.0 * sides as f64 / (6 * own) as f64;
            let kib = largest as f64 * 256.0 / 1024.0;
            println!("| {ranks} | {order:?} | {own} | {sides} | {share:.1} % | {peers} | {kib:.0} KiB |");
        }
    }
}

/// Half of the time there and back of messages between ranks 0 and 1.
fn messages(world: &SimpleCommunicator) {
    let other = world.process_at_rank(1 - world.rank());
    if world.rank() == 0 {
        println!("| bytes | µs | GB/s |\n|---|---|---|");
    }
    for bytes in [8, 1 << 10, 8 << 10, 64 << 10, 512 << 10, 4 << 20] {
        let mut buffer = vec![0u8; bytes];
        let times = (0..400).map(|_| {
            let start = Instant::now();
            if world.rank() == 0 {
                other.send(&buffer[..]);
                other.receive_into(&mut buffer[..]);
            } else {
                other.receive_into(&mut buffer[..]);
                other.send(&buffer[..]);
            }
            start.elapsed().as_secs_f64() / 2.0
        });
        let t = median(times.collect());
        if world.rank() == 0 {
            println!("| {bytes} | {:.2} | {:.2} |", 1e6 * t, 1e-9 * bytes as f64 / t);
        }
    }
}

/// Waits for all ranks without keeping a processor busy.
fn rest(world: &SimpleCommunicator) {
    let mut arrived = world.immediate_barrier();
    while let Err(not_yet) = arrived.test() {
        std::thread::sleep(Duration::from_micros(100));
        arrived = not_yet;
    }
}

fn hash(values: &[f64]) -> u64 {
    let bytes = values.iter().flat_map(|v| v.to_bits().to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

fn same(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

fn run(world: &SimpleCommunicator, n: i32, turns: usize) {
    let scene = Scene { n };
    let origins = scene.leaves(1);
    let alone = SimpleCommunicator::self_comm();
    let whole_split = Split::new(origins.clone(), 1, Order::Sorted);
    let whole_part = whole_split.part(0);
    let mut whole = Team::new(&alone, &scene, &whole_split, &whole_part, Halo::Planes);
    let (first, ranks) = (world.rank() == 0, world.size() as usize);
    if first {
        println!("\n{n}³ on {ranks} ranks: {} leaves of {}", origins.len(), (n as usize / 8).pow(3));
        let [air, bubble] = whole.contacts();
        println!(
            "{} unknown cells, {air} contacts with air, {bubble} with the bubble",
            whole.level.unknown_cells
        );
    }
    let b = |c| noise(c, 2);
    rest(world);
    // The solve on one rank, which the first one makes alone.
    let expected = first.then(|| {
        let b = whole.vector(&scene, b, 0.3);
        let start = Instant::now();
        (solve::solve(&mut whole, &b, 1e-8), start.elapsed().as_secs_f64())
    });
    rest(world);
    for order in [Order::Sorted, Order::Curve] {
        let split = Split::new(origins.clone(), ranks, order);
        let part = split.part(world.rank() as u32);
        for halo in [Halo::Planes, Halo::Leaves] {
            let mut team = Team::new(world, &scene, &split, &part, halo);
            if first {
                println!("\n{order:?}, {halo:?}: {} leaves here, {} borrowed", team.own, part.ghosts.len());
            }
            measure::<f32>("f32", world, &scene, &mut whole, &mut team, &part, turns);
            measure::<f64>("f64", world, &scene, &mut whole, &mut team, &part, turns);
        }
        let mut team = Team::new(world, &scene, &split, &part, Halo::Planes);
        let b = team.vector(&scene, b, 0.3);
        world.barrier();
        let start = Instant::now();
        let solved = solve::solve(&mut team, &b, 1e-8);
        let seconds = start.elapsed().as_secs_f64();
        let x = team.whole(&part, &solved.x);
        if let Some((one, alone)) = &expected {
            let one_x = whole.whole(&whole_part, &one.x);
            let equal = same(&x, &one_x) && one.iterations == solved.iterations;
            println!(
                "solve: {} iterations to {:.1e}, {seconds:.3} s on {ranks} ranks ({:.3} exchange, {:.3} leaves, {:.3} sums); {alone:.3} s on one; hash {:016x}; the same bits as on one: {equal}",
                solved.iterations,
                solved.residual,
                solved.times.exchange,
                solved.times.leaves,
                solved.times.sums,
                hash(&x)
            );
            assert!(equal, "{} and {} iterations", one.iterations, solved.iterations);
        }
    }
}

/// The operator on one rank and on all, by turns; their results are compared bit for bit.
fn measure<T: Real + Equivalence>(
    name: &str,
    world: &SimpleCommunicator,
    scene: &Scene,
    whole: &mut Team,
    team: &mut Team,
    part: &split::Part,
    turns: usize,
) {
    let first = world.rank() == 0;
    let f = |c| noise(c, 1);
    let (whole_x, mut whole_y) = (whole.vector::<T>(scene, f, 0.7), whole.zero::<T>());
    let (mut x, mut y, mut buffers) = (team.vector::<T>(scene, f, 0.7), team.zero::<T>(), Buffers::default());
    let (mut alone, mut parts) = (Vec::new(), Vec::new());
    let mut products = [0.0; 2];
    for _ in 0..=turns {
        rest(world);
        if first {
            let start = Instant::now();
            for _ in 0..REPEATS {
                products[0] = apply(&whole.level, &[], &whole_x, &mut whole_y, &mut whole.scratch);
            }
            alone.push(start.elapsed().as_secs_f64() / REPEATS as f64);
        }
        rest(world);
        world.barrier();
        let mut times = Times::default();
        for _ in 0..REPEATS {
            products[1] = team.apply(&mut x, &mut y, &mut buffers, &mut times);
        }
        // All ranks end an application together, by its sums: the slowest one's leaves count, and the least of the waits.
        let own = [times.exchange, times.leaves, times.sums, times.exchange + times.leaves + times.sums];
        let own = own.map(|t| t / REPEATS as f64);
        let (mut most, mut least) = ([0.0; 4], [0.0; 4]);
        world.all_reduce_into(&own[..], &mut most[..], SystemOperation::max());
        world.all_reduce_into(&own[..], &mut least[..], SystemOperation::min());
        parts.push([least[0], most[0], most[1], least[2], most[3]]);
    }
    let result = team.whole(part, &y);
    if first {
        // The first turn warms up.
        let column = |i: usize| median(parts[1..].iter().map(|p: &[f64; 5]| p[i]).collect());
        let ratio = |i: usize| median(alone[1..].iter().zip(&parts[1..]).map(|(a, p)| a / p[i]).collect());
        let least = |v: Vec<f64>| v.into_iter().fold(f64::INFINITY, f64::min);
        let us = 1e6;
        println!(
            "{name}: one rank {:.0} µs (least {:.0}); all ranks {:.0} µs (least {:.0}): leaves {:.0}, exchange {:.0} to {:.0}, sums {:.0}; one/all {:.2}, one/leaves {:.2}",
            us * median(alone[1..].to_vec()),
            us * least(alone[1..].to_vec()),
            us * column(4),
            us * least(parts[1..].iter().map(|p| p[4]).collect()),
            us * column(2),
            us * column(0),
            us * column(1),
            us * column(3),
            ratio(4),
            ratio(2)
        );
        let bytes: Vec<usize> = team.messages().iter().map(|m| m * size_of::<T>()).collect();
        println!("  messages an application from this rank: {} of {bytes:?} bytes", bytes.len());
        let (mut reference, mut sum) = (Vec::new(), false);
        if team.leaves == whole.own {
            let own: Vec<u32> = (0..whole.own as u32).collect();
            let all = split::Part { own, ghosts: Vec::new(), peers: Vec::new() };
            reference = whole.whole(&all, &whole_y);
            sum = products[0].to_bits() == products[1].to_bits();
        }
        let equal = same(&result, &reference) && sum;
        println!("  hash {:016x}; the same bits as on one rank: {equal}", hash(&result));
        assert!(equal, "{name}: the operator depends on the ranks");
    }
}
