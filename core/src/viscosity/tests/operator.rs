use super::*;

fn random(system: &stencil::System, seed: u64) -> Vec<f64> {
    let unknown = &system.operator.inverse_diagonal;
    (0..unknown.len()).map(|n| if unknown[n] > 0.0 { noise(n as u64 ^ seed << 32) } else { 0.0 }).collect()
}

fn apply(system: &stencil::System, u: &[f64]) -> (Vec<f64>, f64) {
    let mut out = vec![0.0; u.len()];
    let energy = out.chunks_mut(1536).enumerate().map(|(l, out)| system.operator.apply(l, u, out)).sum();
    (out, energy)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn it_is_symmetric_and_positive() {
    for mu in [1e-3, 1.0, 1e4] {
        let system = lopsided(|p| p).viscosity(mu).system(0.01);
        for seed in 0..4 {
            let (x, y) = (random(&system, seed), random(&system, seed + 10));
            let ((ax, energy), (ay, _)) = (apply(&system, &x), apply(&system, &y));
            assert!((dot(&y, &ax) - dot(&x, &ay)).abs() < 1e-12 * energy);
            assert!(energy > 0.0 && (energy - dot(&x, &ax)).abs() < 1e-12 * energy);
        }
    }
}

#[test]
fn the_diagonal_is_its_own() {
    let system = lopsided(|p| p).system(0.01);
    let unknowns: Vec<usize> = (0..system.operator.mass.len())
        .filter(|&s| system.operator.inverse_diagonal[s] > 0.0)
        .step_by(97)
        .collect();
    assert!(unknowns.len() > 20);
    for s in unknowns {
        let mut x = vec![0.0; system.operator.mass.len()];
        x[s] = 1.0;
        let entry = apply(&system, &x).0[s];
        assert!((entry * f64::from(system.operator.inverse_diagonal[s]) - 1.0).abs() < 1e-6, "{entry}");
    }
}
