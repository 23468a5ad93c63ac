//! The table of constraints between bodies: joints and contacts.

use meniscus_abi::guest::{Call, Failure};
use meniscus_core::coupling::bodies::{Body, Constraint};
use meniscus_core::solid::rigid::Tie;

/// A joint: its speed is as it is wanted.
const JOINT: i32 = 0;
/// A contact: its speed is at least as it is wanted.
const CONTACT: i32 = 1;
/// A motor: a joint that gives no more than `most`.
const MOTOR: i32 = 2;

/// The arrays of a table.
struct Arrays<'a> {
    whole: &'a dyn Fn(&str) -> Option<Vec<i64>>,
    numbers: &'a dyn Fn(&str) -> Option<Vec<f64>>,
    kind: Option<Vec<i32>>,
    objects: Option<String>,
}

impl Arrays<'_> {
    fn whole(&self, what: &str) -> Result<Vec<i64>, String> {
        (self.whole)(what).ok_or_else(|| format!("the array `{what}` of i64 is missing"))
    }

    fn numbers(&self, what: &str, count: usize) -> Result<Vec<f64>, String> {
        let values = (self.numbers)(what).filter(|v| v.iter().all(|x| x.is_finite()));
        let values = values.ok_or_else(|| format!("the array `{what}` is missing or not finite"))?;
        match values.len() == count {
            true => Ok(values),
            false => Err(format!("`{what}` has {} numbers, not {count}", values.len())),
        }
    }

    /// The same, 0 where there is no such array.
    fn numbers_or_zero(&self, what: &str, count: usize) -> Result<Vec<f64>, String> {
        match (self.numbers)(what) {
            Some(_) => self.numbers(what, count),
            None => Ok(vec![0.0; count]),
        }
    }

    /// The rows. `names`, `bodies`: of all that take part, the bodies of an object behind each other.
    fn rows(&self, names: &[String], bodies: &[Body]) -> Result<Vec<Constraint>, String> {
        let (starts, object, freedom) = (self.whole("start")?, self.whole("object")?, self.whole("freedom")?);
        let (entries, count) = (object.len(), starts.len().saturating_sub(1));
        if starts.first() != Some(&0) || starts.last() != Some(&(entries as i64)) || !starts.is_sorted() {
            return Err("`start` does not count from 0 up to the number of entries".into());
        }
        if freedom.len() != entries {
            return Err(format!("`freedom` has {} numbers, not {entries}", freedom.len()));
        }
        let (value, wanted) = (self.numbers("value", entries)?, self.numbers("wanted", count)?);
        let (soft, pressed) = (self.numbers_or_zero("soft", count)?, self.numbers_or_zero("pressed", count)?);
        let most = self.numbers_or_zero("most", count)?;
        let kind = self.kind.as_ref().filter(|kind| kind.len() == count);
        let kind = kind.ok_or_else(|| format!("`kind` does not have {count} numbers of i32"))?;
        if let Some(row) = soft.iter().position(|&soft| soft < 0.0) {
            return Err(format!("`soft` of row {row} is negative"));
        }
        let objects = self.objects.as_ref().ok_or("the names `objects` are missing")?;
        if !objects.ends_with('\0') {
            return Err("`objects` does not end with a 0: each name does".into());
        }
        let objects: Vec<&str> = objects.split_terminator('\0').collect();
        let entry = |e: usize| -> Result<(usize, usize, f64), String> {
            let known = usize::try_from(object[e]).ok().and_then(|n| objects.get(n));
            let known = known.ok_or_else(|| format!("there is no object {} among `objects`", object[e]))?;
            let (body, freedom) = body_of(known, freedom[e], names, bodies)?;
            Ok((body, freedom, value[e]))
        };
        let row = |r: usize| -> Result<Constraint, String> {
            let own = starts[r] as usize..starts[r + 1] as usize;
            let entries = own.map(entry).collect::<Result<Vec<_>, _>>()?;
            let range = range_of(r, kind[r], most[r])?;
            Ok(Constraint { entries, wanted: wanted[r], soft: soft[r], range, pressed: pressed[r] })
        };
        (0..count).map(row).collect()
    }
}

/// Least and most impulse of a row.
fn range_of(row: usize, kind: i32, most: f64) -> Result<[f64; 2], String> {
    match kind {
        JOINT => Ok([f64::NEG_INFINITY, f64::INFINITY]),
        CONTACT => Ok([0.0, f64::INFINITY]),
        MOTOR if most >= 0.0 => Ok([-most, most]),
        MOTOR => Err(format!("`most` of row {row} is negative")),
        _ => {
            Err(format!("row {row} is of kind {kind}, which is none of 0 (joint), 1 (contact) and 2 (motor)"))
        }
    }
}

/// The body that has a degree of freedom of an object, and which of its own it is.
fn body_of(object: &str, freedom: i64, names: &[String], bodies: &[Body]) -> Result<(usize, usize), String> {
    let mut left = usize::try_from(freedom).unwrap_or(usize::MAX);
    for (b, _) in names.iter().enumerate().filter(|(_, name)| *name == object) {
        let size = bodies[b].velocity.len();
        if left < size {
            return Ok((b, left));
        }
        left -= size;
    }
    Err(format!(
        "`{object}` takes no part with a degree of freedom {freedom}: its `dynamics` has fewer, or is missing"
    ))
}

/// Reads the constraints of an item; none where it has no table. `names`, `bodies`: of all that take part, the bodies of an
/// object behind each other.
pub fn read(
    call: &Call,
    port: u32,
    item: u32,
    (names, bodies): (&[String], &[Body]),
) -> Result<Vec<Constraint>, Failure> {
    let Some(table) = call.table(port, item) else { return Ok(Vec::new()) };
    let arrays = Arrays {
        whole: &|what| table.array::<i64>(what).map(<[i64]>::to_vec),
        numbers: &|what| table.array::<f64>(what).map(<[f64]>::to_vec),
        kind: table.array::<i32>("kind").map(<[i32]>::to_vec),
        objects: table.array::<u8>("objects").map(|t| String::from_utf8_lossy(t).into_owned()),
    };
    let named = |what: String| {
        Failure::input(port, format!("the constraints of `{}`: {what}", call.item_name(port, item)))
    };
    for optional in ["soft", "most", "pressed"] {
        table.optional::<f64>(optional).map_err(named)?;
    }
    arrays.rows(names, bodies).map_err(named)
}

/// Writes rows over rigid bodies. `places`: per body its object, by its place among `objects`, and its number among the
/// object's bodies in `dynamics`.
pub fn write(
    call: &mut Call,
    port: u32,
    item: u32,
    objects: &[String],
    places: &[Option<(usize, usize)>],
    ties: &[Tie],
) -> Result<(), Failure> {
    let (mut start, mut object, mut freedom, mut value) = (vec![0i64], Vec::new(), Vec::new(), Vec::new());
    for tie in ties {
        for (n, counts) in &tie.ends {
            let Some((of, number)) = places[*n] else { continue };
            for (i, v) in counts.linear.to_array().into_iter().chain(counts.angular.to_array()).enumerate() {
                object.push(of as i64);
                freedom.push((6 * number + i) as i64);
                value.push(v);
            }
        }
        start.push(value.len() as i64);
    }
    let of = |f: fn(&Tie) -> f64| ties.iter().map(f).collect::<Vec<f64>>();
    let kind = |tie: &Tie| match tie.range {
        [f64::NEG_INFINITY, _] => JOINT,
        [_, f64::INFINITY] => CONTACT,
        _ => MOTOR,
    };
    let kinds: Vec<i32> = ties.iter().map(kind).collect();
    let text: Vec<u8> = objects.iter().flat_map(|name| name.bytes().chain([0])).collect();
    call.shape_table(port, item)?;
    call.write_array(port, item, c"objects", 1, &text)?;
    call.write_array(port, item, c"start", 1, &start)?;
    call.write_array(port, item, c"object", 1, &object)?;
    call.write_array(port, item, c"freedom", 1, &freedom)?;
    call.write_array(port, item, c"value", 1, &value)?;
    call.write_array(port, item, c"wanted", 1, &of(|tie| tie.wanted))?;
    call.write_array(port, item, c"soft", 1, &of(|tie| tie.soft))?;
    call.write_array(port, item, c"kind", 1, &kinds)?;
    let most = of(|tie| if tie.range[1].is_finite() { tie.range[1] } else { 0.0 });
    call.write_array(port, item, c"most", 1, &most)?;
    call.write_array(port, item, c"pressed", 1, &of(|tie| tie.pressed))
}

/// The entries of each row that [`write`] wrote: place in its `objects`, degree of freedom, value of J. None where it wrote nothing.
pub fn entries(call: &Call, port: u32, item: u32) -> Vec<Vec<(usize, usize, f64)>> {
    let Some(table) = call.table(port, item) else { return Vec::new() };
    let whole = |what: &str| table.array::<i64>(what).unwrap_or_default().iter().map(|&n| n as usize);
    let (start, values): (Vec<usize>, _) = (whole("start").collect(), table.array::<f64>("value"));
    let all: Vec<(usize, usize, f64)> = whole("object")
        .zip(whole("freedom"))
        .zip(values.unwrap_or_default())
        .map(|((object, freedom), &value)| (object, freedom, value))
        .collect();
    start.windows(2).map(|ends| all.get(ends[0]..ends[1]).unwrap_or_default().to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of a table over `a`, two bodies of two degrees of freedom, and `b`, one of one; `change` damages it.
    fn rows(change: (&str, Option<Vec<f64>>)) -> Result<Vec<Constraint>, String> {
        let names = ["a", "a", "b"].map(String::from);
        let body = |k: usize| Body { velocity: vec![0.0; k], ..Body::default() };
        let bodies = [body(2), body(2), body(1)];
        let sound = |what: &str| -> Option<Vec<f64>> {
            let values = match what {
                "start" => vec![0.0, 2.0, 3.0],
                "object" => vec![0.0, 1.0, 0.0],
                "freedom" => vec![3.0, 0.0, 0.0],
                "value" => vec![1.0, -1.0, 0.5],
                "wanted" => vec![0.0, -0.2],
                "kind" => vec![1.0, 2.0],
                "most" => vec![0.0, 7.0],
                "soft" => vec![0.0, 0.1],
                _ => return None,
            };
            Some(values)
        };
        let array = |what: &str| if what == change.0 { change.1.clone() } else { sound(what) };
        let whole = |v: Vec<f64>| v.into_iter().map(|v| v as i64).collect();
        let arrays = Arrays {
            whole: &|what| array(what).map(whole),
            numbers: &|what| array(what),
            kind: array("kind").map(|v| v.into_iter().map(|v| v as i32).collect()),
            objects: (change.0 != "objects").then(|| "a\0b\0".into()),
        };
        arrays.rows(&names, &bodies)
    }

    #[test]
    fn rows_find_their_bodies_by_name() {
        let contact = Constraint {
            entries: vec![(1, 1, 1.0), (2, 0, -1.0)],
            wanted: 0.0,
            soft: 0.0,
            range: [0.0, f64::INFINITY],
            pressed: 0.0,
        };
        let motor = Constraint {
            entries: vec![(0, 0, 0.5)],
            wanted: -0.2,
            soft: 0.1,
            range: [-7.0, 7.0],
            pressed: 0.0,
        };
        assert_eq!(rows(("", None)), Ok(vec![contact, motor]));
    }

    #[test]
    fn rows_that_are_none_are_refused_in_one_sentence() {
        for (what, values, words) in [
            ("start", Some(vec![0.0, 5.0, 3.0]), "`start` does not count"),
            ("start", Some(vec![]), "`start` does not count"),
            ("object", None, "`object` of i64 is missing"),
            ("object", Some(vec![0.0, 2.0, 0.0]), "no object 2"),
            ("object", Some(vec![0.0, -1.0, 0.0]), "no object -1"),
            ("objects", None, "names `objects`"),
            ("freedom", Some(vec![4.0, 0.0, 0.0]), "`a` takes no part with a degree of freedom 4"),
            ("freedom", Some(vec![3.0, -1.0, 0.0]), "`b` takes no part with a degree of freedom -1"),
            ("freedom", Some(vec![0.0]), "`freedom` has 1 numbers, not 3"),
            ("value", Some(vec![1.0, f64::NAN, 0.5]), "array `value` is missing or not finite"),
            ("wanted", Some(vec![0.0]), "`wanted` has 1 numbers, not 2"),
            ("soft", Some(vec![0.0, -1.0]), "`soft` of row 1 is negative"),
            ("kind", Some(vec![1.0, 3.0]), "row 1 is of kind 3"),
            ("kind", None, "`kind` does not have 2"),
            ("most", Some(vec![0.0, -1.0]), "`most` of row 1 is negative"),
        ] {
            let sentence = rows((what, values)).expect_err("it is refused");
            assert!(sentence.contains(words), "{sentence} lacks {words}");
        }
    }
}
