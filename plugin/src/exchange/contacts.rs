//! The table of contacts between rigid bodies.

use glam::DVec3;
use meniscus_abi::guest::{Call, Failure};
use meniscus_core::solid::rigid::{Key, Memory};

/// What finds contacts. Its results to the last bit are part of a shot.
const MADE_BY: &str = "parry 0.31.1, contacts 1";

/// Refuses contacts that something else has found: it would not have found these to the last bit.
fn known(made_by: &str) -> Result<(), String> {
    let sentence = || {
        format!(
            "its contacts were found by {made_by}, and this build finds them by {MADE_BY}: start the shot anew, without --resume"
        )
    };
    if made_by == MADE_BY { Ok(()) } else { Err(sentence()) }
}

/// Reads the contacts of the last substep; an object is known by its name, and by its place in `objects` after that.
pub fn read(call: &Call, port: u32, objects: &[String]) -> Result<Vec<Memory>, Failure> {
    let Some(table) = call.table(port, 0) else { return Ok(Vec::new()) };
    let broken = || Failure::input(port, "the table of contacts is not complete");
    let text = |name: &str| table.array::<u8>(name).map(|t| String::from_utf8_lossy(t).into_owned());
    known(&text("made_by").ok_or_else(broken)?).map_err(|e| Failure::input(port, e))?;
    let names = text("objects").ok_or_else(broken)?;
    let place: Vec<Option<i64>> = names
        .split_terminator('\0')
        .map(|name| objects.iter().position(|o| o == name).map(|n| n as i64))
        .collect();
    let numbers = |name: &str| table.array::<f64>(name).ok_or_else(broken);
    let (at, pressed, rubbed, rebound) =
        (numbers("at")?, numbers("pressed")?, numbers("rubbed")?, numbers("rebound")?);
    let (between, rest) = table.array::<i64>("between").ok_or_else(broken)?.as_chunks::<4>();
    let count = between.len();
    if !rest.is_empty() || [at.len(), 3 * pressed.len(), rubbed.len(), 3 * rebound.len()] != [3 * count; 4] {
        return Err(broken());
    }
    let named = |object: i64, id: i64| -> Option<Key> {
        let object = if object < 0 { object } else { (*place.get(usize::try_from(object).ok()?)?)? };
        Some([object, id])
    };
    let vector = |v: &[f64], n: usize| DVec3::new(v[3 * n], v[3 * n + 1], v[3 * n + 2]);
    let of = |(n, b): (usize, &[i64; 4])| {
        let between = [named(b[0], b[1])?, named(b[2], b[3])?];
        let (at, rubbed) = (vector(at, n), vector(rubbed, n));
        Some(Memory { between, at, pressed: pressed[n], rubbed, rebound: rebound[n] })
    };
    let mut memory: Vec<Memory> = between.iter().enumerate().filter_map(of).collect();
    memory.sort_by_key(|m| m.between);
    Ok(memory)
}

/// Writes the contacts for the next substep.
pub fn write(call: &mut Call, port: u32, objects: &[String], memory: &[Memory]) -> Result<(), Failure> {
    let names: Vec<u8> = objects.iter().flat_map(|name| name.bytes().chain([0])).collect();
    let between: Vec<i64> = memory.iter().flat_map(|m| m.between).flatten().collect();
    let numbers = |f: fn(&Memory) -> f64| memory.iter().map(f).collect::<Vec<f64>>();
    let vectors = |f: fn(&Memory) -> DVec3| memory.iter().flat_map(|m| f(m).to_array()).collect::<Vec<f64>>();
    call.shape_table(port, 0)?;
    call.write_array(port, 0, c"made_by", 1, MADE_BY.as_bytes())?;
    call.write_array(port, 0, c"objects", 1, &names)?;
    call.write_array(port, 0, c"between", 4, &between)?;
    call.write_array(port, 0, c"at", 3, &vectors(|m| m.at))?;
    call.write_array(port, 0, c"pressed", 1, &numbers(|m| m.pressed))?;
    call.write_array(port, 0, c"rubbed", 3, &vectors(|m| m.rubbed))?;
    call.write_array(port, 0, c"rebound", 1, &numbers(|m| m.rebound))
}

#[cfg(test)]
mod tests {
    use super::*;

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
