//! The table of contacts between rigid bodies.

use glam::DVec3;
use meniscus_abi::guest::{Call, Failure};
use meniscus_core::solid::rigid::{Key, Memory};

/// What finds contacts. Its results to the last bit are part of a shot.
const MADE_BY: &str = "parry 0.31.1, contacts 2";

/// Refuses contacts that something else has found: it would not have found these to the last bit.
fn known(made_by: &str) -> Result<(), String> {
    let sentence = || {
        format!(
            "its contacts were found by {made_by}, and this build finds them by {MADE_BY}: start the shot anew, without --resume"
        )
    };
    if made_by == MADE_BY { Ok(()) } else { Err(sentence()) }
}

/// Names of what can touch, in the order of their numbers.
#[derive(Debug)]
pub struct Names {
    /// Objects of bodies.
    pub objects: Vec<String>,
    /// Solids that nothing moves: an object's name for each of its pieces.
    pub colliders: Vec<String>,
}

/// First number of the key of what is there no longer.
const GONE: i64 = -3;
/// First number of a collider's key.
const COLLIDER: i64 = -1;

/// The number that each collider of the last substep has now: the pieces of an object keep their order.
fn moved_to(before: &[&str], now: &[String]) -> Vec<Option<i64>> {
    let nth = |n: usize| before[..n].iter().filter(|b| **b == before[n]).count();
    let place = |n: usize| now.iter().enumerate().filter(|(_, c)| *c == before[n]).nth(nth(n));
    (0..before.len()).map(|n| place(n).map(|(at, _)| at as i64)).collect()
}

/// Reads the contacts of the last substep; objects and colliders are known by their names, and by their numbers after that.
pub fn read(call: &Call, port: u32, names: &Names) -> Result<Vec<Memory>, Failure> {
    let Some(table) = call.table(port, 0) else { return Ok(Vec::new()) };
    let broken = || Failure::input(port, "the table of contacts is not complete");
    let text = |name: &str| table.array::<u8>(name).map(|t| String::from_utf8_lossy(t).into_owned());
    known(&text("made_by").ok_or_else(broken)?).map_err(|e| Failure::input(port, e))?;
    let [objects, colliders] = [text("objects").ok_or_else(broken)?, text("colliders").ok_or_else(broken)?];
    let [objects, colliders] = [(&objects, &names.objects), (&colliders, &names.colliders)]
        .map(|(before, now)| moved_to(&before.split_terminator('\0').collect::<Vec<_>>(), now));
    let numbers = |name: &str| table.array::<f64>(name).ok_or_else(broken);
    let (at, pressed, rubbed) = (numbers("at")?, numbers("pressed")?, numbers("rubbed")?);
    let (between, rest) = table.array::<i64>("between").ok_or_else(broken)?.as_chunks::<4>();
    let count = between.len();
    if !rest.is_empty() || [at.len(), 3 * pressed.len(), rubbed.len()] != [3 * count; 3] {
        return Err(broken());
    }
    // What is there no longer still tells those that rest on it.
    let of = |places: &[Option<i64>], n: i64| *places.get(usize::try_from(n).ok()?)?;
    let named = |object: i64, id: i64| -> Key {
        match object {
            COLLIDER => of(&colliders, id).map_or([GONE, id], |n| [COLLIDER, n]),
            n if n < 0 => [n, id],
            n => of(&objects, n).map_or([GONE, id], |n| [n, id]),
        }
    };
    let vector = |v: &[f64], n: usize| DVec3::new(v[3 * n], v[3 * n + 1], v[3 * n + 2]);
    let of = |(n, b): (usize, &[i64; 4])| {
        let between = [named(b[0], b[1]), named(b[2], b[3])];
        Memory { between, at: vector(at, n), pressed: pressed[n], rubbed: vector(rubbed, n) }
    };
    let mut memory: Vec<Memory> = between.iter().enumerate().map(of).collect();
    memory.sort_by_key(|m| m.between);
    Ok(memory)
}

/// Writes the contacts for the next substep.
pub fn write(call: &mut Call, port: u32, names: &Names, memory: &[Memory]) -> Result<(), Failure> {
    let text = |names: &[String]| -> Vec<u8> { names.iter().flat_map(|n| n.bytes().chain([0])).collect() };
    let between: Vec<i64> = memory.iter().flat_map(|m| m.between).flatten().collect();
    let numbers = |f: fn(&Memory) -> f64| memory.iter().map(f).collect::<Vec<f64>>();
    let vectors = |f: fn(&Memory) -> DVec3| memory.iter().flat_map(|m| f(m).to_array()).collect::<Vec<f64>>();
    call.shape_table(port, 0)?;
    call.write_array(port, 0, c"made_by", 1, MADE_BY.as_bytes())?;
    call.write_array(port, 0, c"objects", 1, &text(&names.objects))?;
    call.write_array(port, 0, c"colliders", 1, &text(&names.colliders))?;
    call.write_array(port, 0, c"between", 4, &between)?;
    call.write_array(port, 0, c"at", 3, &vectors(|m| m.at))?;
    call.write_array(port, 0, c"pressed", 1, &numbers(|m| m.pressed))?;
    call.write_array(port, 0, c"rubbed", 3, &vectors(|m| m.rubbed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_keep_their_names_when_others_come_and_go() {
        let now = ["floor", "wall", "wall"].map(String::from);
        assert_eq!(
            moved_to(&["ramp", "wall", "wall", "wall", "floor"], &now),
            [None, Some(1), Some(2), None, Some(0)]
        );
    }

    #[test]
    fn contacts_of_another_parry_are_refused_and_ours_is_the_one_that_is_built() {
        let locked = include_str!("../../../Cargo.lock");
        let version =
            locked.split("name = \"parry3d-f64\"\nversion = \"").nth(1).and_then(|t| t.split('"').next());
        assert_eq!(MADE_BY.split(',').next(), version.map(|v| format!("parry {v}")).as_deref());
        assert_eq!(known(MADE_BY), Ok(()));
        let sentence = known("parry 0.30.0, contacts 1").unwrap_err();
        assert!(sentence.contains("0.30.0") && sentence.contains("without --resume"), "{sentence}");
    }
}
