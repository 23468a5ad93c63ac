//! What the tuned constants do at half and at twice their values: the tables of `docs/constants.md`.
//!
//! `cargo test --release -p meniscus-core --lib sensitivity -- --ignored --nocapture` prints them; `ONLY=crowding` prints
//! those of one file.

use super::bells::Bell;
use super::flip::{GRAVITY, Scene};
use super::parting::Slot;
use super::spreading::{round, tank_in};
use super::*;
use crate::fluid::flip::suggest_dt;
use crate::fluid::surface::{SurfaceParams, surface};
use crate::levelset;
use crate::solid::{DomainLimits, Side};
use crate::tuned::scaled::scale;
use std::collections::BTreeMap;

/// What a scene is measured by: names with units, and numbers.
type Measured = Vec<(&'static str, f64)>;
/// A scene in one of its variants.
type Run = fn(usize) -> Measured;

/// Eight voxels cubed hold every particle twice, in a pool of 16 by 8 by 16 voxels; twelve rounds of spreading. The walls of
/// later variants leave slivers of cells.
fn crowd(variant: usize) -> Measured {
    let sliver = 0.013 * variant as f64;
    let (mut particles, domain) =
        tank_in(sliver, |p| (p - 0.2).min_element() > 0.0 && (1.0 - p).min_element() > 0.0);
    let held = particles.len() as f64 / 8.0;
    let volume = (0..12).map(|_| round(&mut particles, &domain).1).last().unwrap_or_default();
    vec![("a crowd after 12 rounds: volume error, %", 100.0 * (volume / held - 1.0))]
}

/// The pool with its particles thrown in at random; one round.
fn scatter(variant: usize) -> Measured {
    let (mut particles, domain) = tank_in(0.0, |_| false);
    let mut seed = 3 + variant as u64;
    for x in &mut particles.position {
        *x = Vec3::new(noise(&mut seed), 0.5 * noise(&mut seed), noise(&mut seed)) * 1.6;
    }
    let before: BTreeMap<i64, Vec3> =
        particles.id.iter().copied().zip(particles.position.iter().copied()).collect();
    round(&mut particles, &domain);
    let moved =
        particles.id.iter().zip(&particles.position).map(|(id, x)| (*x - before[id]).length_squared());
    let rms = (moved.sum::<f32>() / particles.len() as f32).sqrt() / H as f32;
    vec![("particles thrown at random: moved in a round, rms, voxels", f64::from(rms))]
}

/// A block of about 8 by 8 by 16 voxels falls two voxels into a pool of 4, in a closed box of 16³; a second.
fn fall(variant: usize) -> Measured {
    let domain = DomainLimits::uniform(DVec3::ZERO, DVec3::splat(1.6), Side::Closed);
    let wide = 0.8 + 0.05 * variant as f64;
    let inside = |p: DVec3| p.y < 0.4 || (p.x < wide && p.y > 0.6 && p.y < 1.4);
    let mut scene = Scene::new(domain, inside, Vec3::ZERO);
    let poured = 1.6 * (1.6 * 0.4 + wide * 0.8);
    let (mut t, mut worst) = (0.0, 0.0f64);
    while t < 1.0 {
        let dt = suggest_dt(&scene.liquid, 2.0, GRAVITY).clamp(1.0 / 240.0, 1.0 / 24.0);
        scene.substep(dt, GRAVITY);
        t += dt;
        worst = worst.max((scene.volume() / poured - 1.0).abs());
    }
    vec![
        ("a fallen block: largest volume error, %", 100.0 * worst),
        ("a fallen block: rms speed after 1 s, m/s", scene.rms_speed()),
    ]
}

/// Bells of ten or eleven voxels sink into water.
fn bell(variant: usize) -> Measured {
    let (bore, thick, at) =
        [(5.5, 2.0, [0.0, 0.0]), (5.5, 2.0, [2.0, 2.0]), (5.2, 3.0, [0.5, 0.0]), (5.2, 4.0, [0.0, 0.0])]
            [variant];
    let kept = Bell { bore, slope: 0.0, thick, at, speed: 0.335 }.run();
    vec![
        ("a sinking bell: air as particles leave it, error, %", 100.0 * (kept.found - 1.0)),
        ("a sinking bell: least air in its book, %", 100.0 * kept.rest[0]),
        ("a sinking bell: ids that its air had", kept.ids.len() as f64),
    ]
}

/// A bubble of seven voxels rises in water of 20, in a box of 14 by 14; a second.
fn bubble(variant: usize) -> Measured {
    let mut domain = DomainLimits::uniform(DVec3::ZERO, DVec3::new(1.4, 2.6, 1.4), Side::Closed);
    domain.sides[3] = Side::Open;
    let off = 0.017 * variant as f64;
    let centre = DVec3::new(0.7 + off, 0.6, 0.7 - 0.5 * off);
    let mut scene = Scene::new(domain, |p| p.y < 2.0 && p.distance(centre) > 0.35, Vec3::ZERO);
    scene.keeps_air = true;
    let (mut t, mut found, mut first, mut most) = (0.0, Vec::new(), None, 0usize);
    while t < 0.6 {
        let dt = suggest_dt(&scene.liquid, 2.0, GRAVITY).clamp(1.0 / 120.0, 1.0 / 24.0);
        scene.substep(dt, GRAVITY);
        t += dt;
        let enclosed = || scene.bubbles.iter().filter(|b| !b.exterior);
        let rest: f64 = enclosed().map(|b| b.rest_volume).sum();
        let first = *first.get_or_insert(rest);
        most = most.max(enclosed().filter(|b| b.rest_volume > 0.0).count());
        found.push((enclosed().map(|b| b.found_volume).sum::<f64>() / first - 1.0, rest / first));
    }
    let rms = (found.iter().map(|f| f.0 * f.0).sum::<f64>() / found.len() as f64).sqrt();
    vec![
        ("a rising bubble: air as particles leave it, rms error, %", 100.0 * rms),
        ("a rising bubble: air in its books in the end, %", 100.0 * found.last().map_or(0.0, |f| f.1)),
        ("a rising bubble: most pieces", most as f64),
    ]
}

/// A block with a bubble of two voxels flies; the more voxels a substep, the harder the bubble is to recognise.
fn carried(variant: usize) -> Measured {
    let keeps_its_id = |voxels: usize| {
        let centre = DVec3::new(0.013 * variant as f64, 0.02, 0.04);
        let inside = |p: DVec3| p.abs().max_element() < 0.6 && p.distance(centre) > 0.1;
        let mut scene = Scene::new(DomainLimits::unbounded(), inside, Vec3::new(0.0, -2.0, 0.0));
        scene.keeps_air = true;
        let ids = (0..6).map(|_| {
            scene.substep(voxels as f64 * H / 2.0, 0.0);
            let mut enclosed = scene.bubbles.iter().filter(|b| !b.exterior);
            enclosed.next().map_or(-1, |b| b.id)
        });
        let ids: std::collections::BTreeSet<i32> = ids.collect();
        ids.len() == 1 && !ids.contains(&-1)
    };
    let most = (1..=8).take_while(|&voxels| keeps_its_id(voxels)).last().unwrap_or(0);
    vec![("a bubble of 2 voxels keeps its id up to, voxels a substep", most as f64)]
}

/// The jets of slots of eight voxels.
fn jet(variant: usize) -> Measured {
    let slot = [
        Slot::on_faces(),
        Slot { left: 0.96, ..Slot::on_faces() },
        Slot { left: 0.5, ..Slot::on_faces() },
        Slot { at: [0.5; 2], ..Slot::on_faces() },
    ];
    let theory = std::f64::consts::PI / (std::f64::consts::PI + 2.0);
    vec![("the jet of a slot: contraction, error, %", 100.0 * (slot[variant].contraction() / theory - 1.0))]
}

/// A light liquid rests on a heavy one, for two seconds.
fn layers(variant: usize) -> Measured {
    let (mut layers, heights) = super::layers::at_rest([1000.0, 700.0], 0.25 * variant as f64);
    (0..48).for_each(|_| layers.substep(1.0 / 24.0));
    vec![
        ("oil on water after 2 s: rms speed of the water, m/s", layers.rms_speed()),
        ("oil on water after 2 s: how far the oil sank, voxels", (heights[1] - layers.height(1)) / H),
    ]
}

/// Variants of each scene.
const VARIANTS: usize = 4;

/// A constant, its unit, and its meaning.
type Constant = [&'static str; 3];

/// Where particles are too dense or too sparse.
const CROWDING: [Constant; 12] = [
    [
        "crowding::CHANCE",
        "of the density",
        "deviation of the particles' density that counts as noise far below the surface",
    ],
    ["crowding::CHANCE_AT_SURFACE", "of the density", "the same near the surface"],
    ["crowding::ANSWER", "of the error", "share of the liquid's volume error that one substep corrects"],
    [
        "crowding::SLACK",
        "of the volume",
        "how far the growth asked for may differ from the measured volume error",
    ],
    [
        "crowding::FAR",
        "of the volume",
        "how much farther off it must be before deviations within the noise are used",
    ],
    [
        "crowding::LIQUID",
        "of the density",
        "least density around a cell that counts as far below the surface",
    ],
    ["crowding::MOST", "of a cell", "most that one substep adds to a cell's volume or takes"],
    ["crowding::TOLERABLE", "of the liquid", "share that must be out of place before anything is moved"],
    ["crowding::NARROW", "of a cell", "least open volume that a density is divided by"],
    ["spreading::TOLERANCE", "of the right side", "residual at which the displacement's solve stops"],
    ["spreading::LAYERS", "faces", "how far the displacement is carried on around the liquid"],
    ["spreading::FARTHEST", "voxels", "longest displacement of a particle in a substep"],
];
/// How bubbles return to their volumes.
const VOLUMES: [Constant; 6] = [
    ["growth::MOST", "of the bubble", "most that one substep adds to a bubble's volume or takes"],
    ["fit::FARTHEST", "voxels", "farthest that the surface is moved to fit volumes"],
    ["fit::LAYERS", "cells", "how far from the air the surface is moved"],
    ["fit::LEAST", "voxels", "least distance to the surface that a cell keeps"],
    ["fit::STEPS", "steps", "Newton steps towards the volumes"],
    ["fit::CLOSE", "of the volume", "volume error that is left as it is"],
];
/// How bubbles are recognised.
const SEARCH: [Constant; 1] =
    [["identity::REACH", "voxels", "how far a bubble that overlaps none of its old cells is looked for"]];
/// Crumbs and chinks.
const PIECES: [Constant; 5] = [
    [
        "identity::LARGEST_CRUMB",
        "voxels",
        "largest piece that takes no air along when it breaks off a bubble",
    ],
    ["identity::WHOLE_OF_CRUMB", "times", "how much larger the rest must be than such a piece"],
    ["chinks::LEAST_PASSAGE", "of a face", "least area through which two pockets of air are one"],
    ["chinks::LEAST_POCKET", "cells", "least pocket of its own behind a chink"],
    ["chinks::LEAST_ROOM", "voxels", "least open volume of such a pocket"],
];
/// How liquid parts from walls.
const PARTING: [Constant; 4] = [
    ["parting::LEAST_AREA", "of a face", "least wall in a cell that liquid parts from"],
    ["parting::LEAST_WAY", "voxels a substep", "least way off a wall that counts as parting"],
    ["parting::TO_WALL", "voxels", "distance from a cell's middle to its wall"],
    ["parting::LEAST_TO_SURFACE", "voxels", "the same, where a gap has opened: its least"],
];

/// How liquids touch.
const SEVERAL: [Constant; 1] =
    [["several::TOGETHER", "1/s", "rate at which an overlap of two liquids or a gap between them goes"]];

/// The constants and the scenes that show what they do.
const SHOWN: [(&[Constant], &[Run]); 6] = [
    (&CROWDING, &[crowd, scatter, fall]),
    (&VOLUMES, &[bubble, bell]),
    (&SEARCH, &[carried, bubble]),
    (&PIECES, &[bell, bubble]),
    (&PARTING, &[jet]),
    (&SEVERAL, &[layers]),
];

/// The constants that the sources declare, and their values as they stand there.
fn declared() -> BTreeMap<String, String> {
    let mut sources = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut found = BTreeMap::new();
    while let Some(path) = sources.pop() {
        if path.is_dir() {
            sources.extend(std::fs::read_dir(path).expect("a folder").map(|e| e.expect("an entry").path()));
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("sensitivity.rs") {
            let text = std::fs::read_to_string(&path).expect("a source");
            for declared in text.split("Tuned::new(\"").skip(1) {
                let (name, rest) = declared.split_once("\", ").expect("a name and a value");
                found.insert(name.to_owned(), rest.split(')').next().unwrap_or_default().to_owned());
            }
        }
    }
    found
}

/// Mean and standard error of each number over a scene's variants, with one constant scaled.
fn measure(scene: Run, name: &str, factor: f64) -> Vec<(&'static str, [f64; 2])> {
    scale(name, factor);
    let all: Vec<Measured> =
        (0..VARIANTS).filter_map(|variant| std::panic::catch_unwind(|| scene(variant)).ok()).collect();
    scale("", 1.0);
    let Some(first) = all.first() else { return Vec::new() };
    let of = |n: usize| {
        let values: Vec<f64> = all.iter().map(|m| m[n].1).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let square =
            values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (values.len() - 1).max(1) as f64;
        [mean, (square / values.len() as f64).sqrt()]
    };
    first.iter().enumerate().map(|(n, (what, _))| (*what, of(n))).collect()
}

#[test]
#[ignore = "minutes: it prints the table of docs/constants.md"]
fn sensitivity_of_the_tuned_constants() {
    let mut plain = BTreeMap::<usize, Vec<(&'static str, [f64; 2])>>::new();
    let (only, values) = (std::env::var("ONLY").unwrap_or_default(), declared());
    for (constants, scenes) in SHOWN {
        for [name, unit, meaning] in constants.iter().filter(|[name, ..]| name.contains(&only)) {
            let mut head = format!("| `{name}` | {} | {unit} | {meaning}", values[*name]);
            for scene in scenes {
                let at_value =
                    plain.entry(*scene as usize).or_insert_with(|| measure(*scene, "", 1.0)).clone();
                let [half, double] = [0.5, 2.0].map(|factor| measure(*scene, name, factor));
                for (n, (what, [mean, error])) in at_value.iter().enumerate() {
                    let of = |m: &Vec<(&str, [f64; 2])>| {
                        m.get(n).map_or("stops".into(), |(_, [mean, _])| format!("{mean:.3}"))
                    };
                    println!("{head} | {what} | {} | {mean:.3} ± {error:.3} | {} |", of(&half), of(&double));
                    head = "| | | |".into();
                }
            }
        }
    }
}

/// Volume of a drop whose particles lie at random, in parts of what it should be: its standard deviation.
#[test]
#[ignore = "it prints a table of docs/constants.md"]
fn sensitivity_of_volumes_to_chance() {
    for voxels in [4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 512.0f64] {
        let radius = H * (0.75 * voxels / std::f64::consts::PI).cbrt();
        let volume = |seed: u64| {
            let mut seed = 1 + seed;
            let mut random = || f64::from(noise(&mut seed));
            let mut particles = Particles::new(DVec3::ZERO);
            let centre = DVec3::new(random(), random(), random()) * H;
            while particles.len() < (8.0 * voxels) as usize {
                let p = DVec3::new(random(), random(), random()) * 2.0 - 1.0;
                if p.length() < 1.0 {
                    let id = particles.len() as i64;
                    particles.push(particle((centre + radius * p).as_vec3(), Vec3::ZERO, id));
                }
            }
            let cells = sorted(&mut particles);
            let phi = surface(&particles, &cells, None, &transform(), None, None, &SurfaceParams::default());
            let phi = levelset::redistance(&phi, H as f32, 3.0);
            let inside = levelset::fractions_inside(&phi, H as f32);
            levelset::volume(&inside, None, H) / (voxels * H.powi(3)) - 1.0
        };
        let all: Vec<f64> = (0..40).map(|n| volume(977 * n)).collect();
        let mean = all.iter().sum::<f64>() / 40.0;
        let deviation = (all.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 39.0).sqrt();
        println!("| {voxels} | {:.1} | {:.1} |", 100.0 * mean, 100.0 * deviation);
    }
}

/// Every tuned constant stands in the page with its value, and no other does.
#[test]
fn the_page_of_constants_has_them_all() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/constants.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let declared = declared();
    let shown: Vec<&Constant> = SHOWN.iter().flat_map(|(constants, _)| *constants).collect();
    assert_eq!(declared.len(), shown.len(), "constants that no scene shows: {declared:?}");
    for [name, unit, meaning] in &shown {
        let row = format!("| `{name}` | {} | {unit} | {meaning} | ", declared[*name]);
        assert!(page.contains(&row), "docs/constants.md lacks the row `{row} ...`");
    }
    let rows = page.lines().filter(|line| line.starts_with("| `") && line.contains("::")).count();
    assert_eq!(rows, shown.len(), "docs/constants.md tells of constants that are none");
}
