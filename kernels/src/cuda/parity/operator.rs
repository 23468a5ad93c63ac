//! The operator and the true residual.

use super::scene::{Random, Scene, noisy, tank};
use super::{Pair, difference, field_difference, read, shake, write, write_field};
use crate::checkerboard::{Field, Half};
use crate::conjugate_gradients::operator::{Scratch, apply, norm, residual};
use crate::conjugate_gradients::{Real, RightSide, Vector};
use crate::cuda::arena::Arena;
use crate::cuda::bytes::Plain;
use crate::cuda::hierarchy::{field_values, upload_masses};
use crate::cuda::iteration::{Stage, Stages, Vectors};
use crate::cuda::layout::{REPLACE, State, Vector as Place};

fn scenes() -> Vec<Scene> {
    let mut all: Vec<Scene> = (100..116).map(noisy).collect();
    all.push(tank(2, 0.7, &[4.0, 1.0], 1e-3));
    all
}

/// A right side given as a vector.
pub struct Given<'a>(pub &'a Vector);

impl RightSide for Given<'_> {
    fn cells(&self, l: usize, [red, black]: [&mut Half<f64>; 2]) {
        (*red, *black) = (self.0.cells[0][l], self.0.cells[1][l]);
    }

    fn super_cell(&self, b: usize) -> f64 {
        self.0.supers[b]
    }
}

/// Noise over the unknowns of a scene.
pub fn noise<T: Real>(scene: &Scene, random: &mut Random) -> Vector<T> {
    let mut v = Vector::default();
    v.fit(scene.level.leaves(), scene.level.super_count());
    shake(&mut v.cells, random, T::round);
    v.supers.iter_mut().for_each(|v| *v = random.signed());
    v
}

/// Both sides, with room for the vectors of a solve.
struct Operator {
    pair: Pair,
    vectors: Vectors,
    arena: Arena<super::Emulation>,
}

impl Operator {
    fn new(scene: &Scene, descending: bool) -> Self {
        let mut pair = Pair::new(scene, descending);
        let (mut arena, device) = (Arena::default(), &mut pair.device);
        let (leaves, supers) = (scene.level.leaves(), scene.level.super_count());
        let mut place = || Place {
            cells: arena.zeros::<f64>(device, field_values(leaves)).expect("memory"),
            supers: arena.zeros::<f64>(device, supers).expect("memory"),
        };
        let [right_side, x, direction, image, residual, gained] = std::array::from_fn(|_| place());
        let runs = pair.hierarchy.levels[0].level.supers.runs as usize;
        let vectors = Vectors {
            right_side,
            x,
            gained: gained.cells,
            direction,
            image,
            residual,
            partials: arena.zeros::<f64>(device, leaves).expect("memory"),
            magnitudes: arena.zeros::<f64>(device, leaves).expect("memory"),
            flow: arena.zeros::<f64>(device, runs).expect("memory"),
            state: pair.state.address(),
        };
        Self { pair, vectors, arena }
    }

    fn put<T: Real + Plain>(place: Place, vector: &Vector<T>) {
        write_field(place.cells, &vector.cells);
        write(place.supers, &vector.supers);
    }

    fn state(&self) -> State {
        read::<State>(self.vectors.state, 1)[0]
    }
}

/// Σ |A| |x| would bound the rounding; the largest coefficient and the diagonal's size do.
fn scale(scene: &Scene) -> f64 {
    let diagonals = scene.level.diagonal.iter().flatten().flatten().flatten();
    let cells = diagonals.map(|d| f64::from(*d)).fold(1.0, f64::max);
    scene.level.supers.diagonal.iter().fold(cells, |m, d| m.max(*d)) + 100.0
}

fn compare_apply<T: Real + Plain>(
    scene: &Scene,
    stage: Stage,
    epsilon: f64,
    widen: fn(T) -> f64,
    descending: bool,
) {
    let mut side = Operator::new(scene, descending);
    let x: Vector<T> = noise(scene, &mut Random(3));
    let mut y: Vector<T> = Vector::default();
    y.fit(scene.level.leaves(), scene.level.super_count());
    let mut scratch = Scratch::default();
    scratch.fit(&scene.level, &scene.low_rank);
    let expected = apply(&scene.level, &scene.low_rank, &x, &mut y, &mut scratch);

    let (leaves, supers) = (scene.level.leaves(), scene.level.super_count());
    let masses = upload_masses(&mut side.pair.device, &mut side.arena, &scene.low_rank, leaves, supers)
        .expect("memory");
    Operator::put(side.vectors.direction, &x);
    let hierarchy = side.pair.hierarchy.clone();
    let stages = Stages { hierarchy: &hierarchy, masses, vectors: side.vectors };
    write(side.vectors.state, &[State { energy: 1.0, ..side.state() }]);
    side.pair.run(&stages.image(stage));
    let scale = scale(scene);
    let image = side.vectors.image;
    assert!(field_difference(image.cells, &y.cells, widen) <= epsilon * scale);
    assert!(difference(&read(image.supers, supers), &y.supers) <= 1e-13 * scale);
    let curvature = 1.0 / side.state().step;
    assert!((curvature - expected).abs() <= 1e-7 * expected.abs(), "{curvature} {expected}");
    if stage == Stage::Single {
        let there: Vec<f64> = read(side.vectors.magnitudes, leaves);
        for (there, here) in there.iter().zip(&scratch.magnitudes) {
            assert!((there - here).abs() <= 1e-4 * here, "{there} {here}");
        }
    }
}

#[test]
fn the_operator_in_both_precisions() {
    for (i, scene) in scenes().iter().enumerate() {
        compare_apply::<f32>(scene, Stage::Single, 1e-6, f64::from, i % 2 == 1);
        compare_apply::<f64>(scene, Stage::Double, 1e-14, |v| v, i % 2 == 0);
    }
}

#[test]
fn the_true_residual_in_both_precisions() {
    for (i, scene) in scenes().iter().enumerate() {
        let mut side = Operator::new(scene, i % 2 == 1);
        let (leaves, supers) = (scene.level.leaves(), scene.level.super_count());
        let (b, x): (Vector, Vector) = (noise(scene, &mut Random(1)), noise(scene, &mut Random(2)));
        let mut scratch = Scratch::default();
        scratch.fit(&scene.level, &scene.low_rank);
        let length = norm(&Given(&b), supers, &mut scratch.partials);
        let masses = upload_masses(&mut side.pair.device, &mut side.arena, &scene.low_rank, leaves, supers)
            .expect("memory");
        Operator::put(side.vectors.right_side, &b);
        Operator::put(side.vectors.x, &x);
        let hierarchy = side.pair.hierarchy.clone();
        let stages = Stages { hierarchy: &hierarchy, masses, vectors: side.vectors };

        side.pair.run(&stages.measure_right_side());
        assert!((side.state().norm - length).abs() <= 1e-13 * length);
        let mut cells: Field<f64> = Default::default();
        crate::checkerboard::reset(&mut cells, leaves);
        let mut rest = vec![0.0; supers];
        let (level, masses) = (&scene.level, &scene.low_rank);
        let expected = residual(level, masses, &Given(&b), &x, 1.0, &mut cells, &mut rest, &mut scratch);
        for stage in [Stage::Double, Stage::Single] {
            write(side.vectors.state, &[State { phase: REPLACE, trusted: f64::INFINITY, ..side.state() }]);
            side.pair.run(&stages.replace(stage));
            assert!((side.state().residual * length - expected).abs() <= 1e-12 * expected);
        }
        let place = side.vectors.residual;
        assert!(difference(&read(place.supers, supers), &rest) <= 1e-13 * scale(scene));
        let input = hierarchy.levels[0].work.b;
        let mut single: Field<f32> = Default::default();
        crate::checkerboard::reset(&mut single, leaves);
        let scaled = 1.0 / length;
        residual(level, masses, &Given(&b), &x, scaled, &mut single, &mut rest, &mut scratch);
        assert!(field_difference(input, &single, f64::from) <= 1e-6 * scale(scene) / length);
        let bubbles: Vec<f64> = read(hierarchy.levels[0].work.b_super, supers);
        assert!(difference(&bubbles, &rest) <= 1e-13 * scale(scene));
    }
}
