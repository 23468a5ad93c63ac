//! The thread count changes no bit.

use crate::scene::Scene;
use crate::solve;
use meniscus_core::pressure::Params;

#[test]
fn any_thread_count_gives_the_same_bits() {
    let (system, rhs) = Scene::cooler(48).assemble(true);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| solve(&system, &rhs, Params::default()).1)
    };
    let one = run(1);
    for threads in [2, 3, 7] {
        let other = run(threads);
        let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits());
        assert!(same(&one.cells, &other.cells) && same(&one.supers, &other.supers), "{threads} threads");
    }
}
