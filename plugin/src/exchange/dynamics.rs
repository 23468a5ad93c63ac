//! The arrays of the table `dynamics`: masses, and how solids move with each degree of freedom. Errors are sentences.

use glam::DVec3;
use meniscus_abi::guest::TableView;
use meniscus_core::coupling::bodies::{Piece, Pieces, Skin, Twist};
use meniscus_core::coupling::mass::{Mass, SparseMass};

/// Largest number of a share. Its cube is a number still, and so are products of a mass, the square of a velocity and an area.
const LARGEST: f64 = 1e100;

/// What is said of an array that is not there, or holds what is no number.
pub(super) fn unfit(name: &str, what: &str) -> String {
    format!("the array `{what}` of `{name}` is missing or not finite")
}

/// Largest velocity of a degree of freedom, and largest velocity of a piece per unit of one: light makes 3e8 m/s.
const FASTEST: f64 = 1e12;

/// Refuses numbers that are too large to be computed with, and velocities that nobody means.
pub(super) fn within_reach(values: &[f64], what: &str, name: &str) -> Result<(), String> {
    let most = if ["velocity", "before", "basis"].contains(&what) { FASTEST } else { LARGEST };
    match values.iter().find(|v| v.abs() > most) {
        Some(v) => Err(format!("`{what}` of `{name}` holds {v:e}, which is too large to be meant")),
        None => Ok(()),
    }
}

/// The masses of an item's bodies, `all` degrees of freedom together: `mass`, or `mass_rows`, `mass_columns` and `mass_values`.
pub(super) fn masses(table: &TableView, name: &str, count: usize, all: usize) -> Result<Vec<Mass>, String> {
    let k = all / count;
    let dense = table.array::<f64>("mass");
    let places = [table.array::<i64>("mass_rows"), table.array::<i64>("mass_columns")];
    match (dense, places, table.array::<f64>("mass_values")) {
        (Some(mass), [None, None], None) => {
            if !mass.iter().all(|v| v.is_finite()) {
                return Err(unfit(name, "mass"));
            }
            within_reach(mass, "mass", name)?;
            if count * k != all || mass.len() != count * k * k {
                return Err(format!(
                    "each of the {count} bodies of `{name}` has {k} degrees of freedom, so that `mass` has {} numbers, not {}",
                    count * k * k,
                    mass.len()
                ));
            }
            Ok((0..count).map(|n| mass[k * k * n..k * k * (n + 1)].to_vec().into()).collect())
        }
        (None, [Some(rows), Some(columns)], Some(values)) => {
            sparse_masses(name, count, all, rows, columns, values)
        }
        (Some(_), ..) => {
            Err(format!("`{name}` has a dense `mass` beside a sparse one: leave out one of them"))
        }
        _ => Err(format!(
            "`{name}` lacks the array `mass`, or `mass_rows`, `mass_columns` and `mass_values` in place of it"
        )),
    }
}

/// Masses given as entries whose rows and columns count through all bodies.
fn sparse_masses(
    name: &str,
    count: usize,
    all: usize,
    rows: &[i64],
    columns: &[i64],
    values: &[f64],
) -> Result<Vec<Mass>, String> {
    if rows.len() != values.len() || columns.len() != values.len() {
        let (r, c, v) = (rows.len(), columns.len(), values.len());
        return Err(format!(
            "`mass_rows`, `mass_columns` and `mass_values` of `{name}` have {r}, {c} and {v} numbers: they are as many"
        ));
    }
    within_reach(values, "mass_values", name)?;
    let k = all / count;
    if k * count != all {
        return Err(format!("the {all} numbers in `velocity` of `{name}` are not {count} bodies'"));
    }
    let mut entries = vec![Vec::new(); count];
    for (entry, ((&i, &j), &value)) in rows.iter().zip(columns).zip(values).enumerate() {
        let inside = |n: i64| usize::try_from(n).ok().filter(|&n| n < all && u32::try_from(n).is_ok());
        let (Some(row), Some(column)) = (inside(i), inside(j)) else {
            return Err(format!(
                "entry {entry} of the sparse mass of `{name}` lies in row {i} and column {j}, but there are {all} degrees of freedom"
            ));
        };
        if row / k != column / k {
            return Err(format!(
                "entry {entry} of the sparse mass of `{name}` joins row {row} of one body with column {column} of another"
            ));
        }
        entries[row / k].push(((row % k) as u32, (column % k) as u32, value));
    }
    let mass = |entries: &Vec<(u32, u32, f64)>| SparseMass::new(k, entries).map(Mass::Sparse);
    entries
        .iter()
        .map(mass)
        .collect::<Result<_, _>>()
        .map_err(|fault| format!("the sparse mass of `{name}`: {fault}"))
}

/// The triangles of a body that deforms; `None` where it has rigid pieces.
pub(super) fn skin(table: &TableView, name: &str, count: usize, k: usize) -> Result<Option<Skin>, String> {
    let (points, corners) = match (table.array::<f64>("points"), table.array::<i64>("triangles")) {
        (None, None) => return Ok(None),
        (Some(points), Some(corners)) => (points, corners),
        _ => return Err(format!("`{name}` has one of `points` and `triangles`, but not the other")),
    };
    if table.array::<f64>("basis").is_some() {
        return Err(format!(
            "`{name}` has a `basis` beside `points`: it moves rigidly or deforms, so leave out one of them"
        ));
    }
    if count != 1 {
        return Err(format!("`{name}` deforms, so its `count` is 1, not {count}"));
    }
    let ((points, rest), (triangles, odd)) = (points.as_chunks::<3>(), corners.as_chunks::<3>());
    if 3 * points.len() != k || !rest.is_empty() {
        return Err(format!(
            "`{name}` has {k} degrees of freedom, three of each of its points, so that `points` has {k} numbers, not {}",
            3 * points.len() + rest.len()
        ));
    }
    if triangles.is_empty() || !odd.is_empty() {
        return Err(format!(
            "`triangles` of `{name}` has {} numbers, not three for each triangle",
            corners.len()
        ));
    }
    if !points.as_flattened().iter().all(|v| v.is_finite()) {
        return Err(unfit(name, "points"));
    }
    let point = |p: i64| u32::try_from(p).ok().filter(|&p| (p as usize) < points.len());
    let triangle = |t: &[i64; 3]| -> Result<[u32; 3], String> {
        let outside = || format!("`{name}` has a triangle of the points {t:?}, but {} points", points.len());
        match t.map(point) {
            [Some(a), Some(b), Some(c)] => Ok([a, b, c]),
            _ => Err(outside()),
        }
    };
    Ok(Some(Skin {
        triangles: triangles.iter().map(triangle).collect::<Result<_, _>>()?,
        points: points.iter().map(|p| DVec3::from_array(*p)).collect(),
    }))
}

/// The rigid pieces of each body.
pub(super) fn rigid_pieces(
    name: &str,
    count: usize,
    k: usize,
    pivot: &[f64],
    basis: &[f64],
) -> Result<Vec<Pieces>, String> {
    let pieces = pivot.len() / 3 / count;
    let wanted = [3 * count * pieces, 6 * count * k * pieces];
    if wanted != [pivot.len(), basis.len()] {
        return Err(format!(
            "each body of `{name}` has {k} degrees of freedom and {pieces} pieces, so that `pivot` has {} numbers and `basis` {}, not {} and {}",
            wanted[0],
            wanted[1],
            pivot.len(),
            basis.len()
        ));
    }
    let vector = |v: &[f64]| DVec3::new(v[0], v[1], v[2]);
    let twist = |t: &[f64]| Twist { linear: vector(&t[..3]), angular: vector(&t[3..]) };
    let piece = |p: usize| Piece {
        pivot: vector(&pivot[3 * p..]),
        twists: basis[6 * k * p..6 * k * (p + 1)].chunks_exact(6).map(twist).collect(),
    };
    Ok((0..count).map(|n| Pieces::Rigid((pieces * n..pieces * (n + 1)).map(piece).collect())).collect())
}
