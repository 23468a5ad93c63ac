//! Reads and writes bubbles: a point each for display, a grid and a table for the next substep.

use super::Exchange;
use glam::Vec3;
use meniscus_abi::guest::{AttributeShape, Call, Failure, GeometryShape};
use meniscus_abi::{Element, Meaning};
use meniscus_core::coupling::Bubble;
use meniscus_core::coupling::memory::{AirBook, BubbleMemory, Remembered};

/// Writes the enclosed regions of air that border liquid.
pub fn write(call: &mut Call, port: u32, item: u32, bubbles: &[Bubble]) -> Result<(), Failure> {
    let enclosed: Vec<&Bubble> = bubbles.iter().filter(|b| !b.exterior && b.liquid_faces > 0).collect();
    let number = |name| AttributeShape::on_points(name, Element::F32, 1, Meaning::PLAIN);
    let whole = |name| AttributeShape::on_points(name, Element::I32, 1, Meaning::PLAIN);
    let attributes = vec![
        AttributeShape::on_points(c"P", Element::F32, 3, Meaning::POSITION),
        whole(c"id"),
        number(c"volume"),
        number(c"rest_volume"),
        number(c"found_volume"),
        number(c"pressure"),
        whole(c"constrained"),
    ];
    let mut to =
        call.shape_geometry(port, item, &GeometryShape::points(enclosed.len(), [0.0; 3], attributes))?;
    let place = |b: &&Bubble| if b.centroid.is_finite() { b.centroid.as_vec3() } else { Vec3::ZERO };
    let written = to.points("P", enclosed.iter().map(|b| place(b).to_array()))
        && to.points("id", enclosed.iter().map(|b| [b.id]))
        && to.points("volume", enclosed.iter().map(|b| [b.volume as f32]))
        && to.points("rest_volume", enclosed.iter().map(|b| [b.rest_volume as f32]))
        && to.points("found_volume", enclosed.iter().map(|b| [b.found_volume as f32]))
        && to.points("pressure", enclosed.iter().map(|b| [b.pressure as f32]))
        && to.points("constrained", enclosed.iter().map(|b| [i32::from(b.constrained)]));
    written
        .then_some(())
        .ok_or_else(|| Failure::host(port, "the host shaped other geometry than was asked for"))
}

impl Exchange {
    /// The bubbles of the substep before; `None` before the first.
    pub fn bubble_memory(
        &mut self,
        call: &Call,
        region: u32,
        table: u32,
        item: u32,
    ) -> Result<Option<BubbleMemory>, Failure> {
        let (Some((cells, _)), Some(kept)) = (self.grid::<i32>(call, region, item)?, call.table(table, item))
        else {
            return Ok(None);
        };
        let broken = |what: &str| Failure::input(table, format!("the table `air` {what}"));
        let ids = kept.array::<i64>("id").ok_or_else(|| broken("lacks `id`"))?;
        let numbers = |name: &str| match kept.array::<f64>(name) {
            Some(numbers) if numbers.len() != ids.len() || numbers.iter().any(|v| !v.is_finite()) => {
                Err(broken(&format!("must list a finite `{name}` for every id")))
            }
            Some(numbers) => Ok(numbers),
            None => Err(broken(&format!("lacks `{name}`"))),
        };
        let (volume, rest, drift) = (numbers("volume")?, numbers("rest_volume")?, numbers("drift")?);
        let told = |name: &str| kept.array::<f64>(name).is_some().then(|| numbers(name)).transpose();
        let (gas, last) = (told("gas_volume")?, told("last_growth")?);
        if !ids.is_sorted() || volume.iter().chain(rest).any(|v| *v < 0.0) {
            return Err(broken("must list volumes, 0 or more, by ascending id"));
        }
        let next_id = kept.first::<i64>("next_id").and_then(|id| i32::try_from(id).ok());
        let bubble = |n: usize| {
            let [gas, last] = [gas, last].map(|of| of.map(|v| v[n]));
            let book = AirBook {
                rest: rest[n],
                drift: drift[n],
                gas: gas.unwrap_or(rest[n]),
                last: last.unwrap_or(0.0),
            };
            i32::try_from(ids[n]).ok().map(|id| Remembered { id, volume: volume[n], book })
        };
        let bubbles: Option<Vec<Remembered>> = (0..ids.len()).map(bubble).collect();
        match (bubbles, next_id) {
            (Some(bubbles), Some(next_id)) => Ok(Some(BubbleMemory { cells, bubbles, next_id })),
            _ => Err(broken("has ids beyond 2^31")),
        }
    }
}

/// Writes the identities that the next substep reads, the liquid volume that fitting its surface took, and what it claims of
/// others', m³.
pub fn write_memory(
    call: &mut Call,
    table: u32,
    item: u32,
    memory: &BubbleMemory,
    [taken, overlap]: [f64; 2],
) -> Result<(), Failure> {
    let ids: Vec<i64> = memory.bubbles.iter().map(|b| i64::from(b.id)).collect();
    let numbers = |of: &dyn Fn(&Remembered) -> f64| memory.bubbles.iter().map(of).collect::<Vec<f64>>();
    call.shape_table(table, item)?;
    call.write_array(table, item, c"id", 1, &ids)?;
    call.write_array(table, item, c"volume", 1, &numbers(&|b| b.volume))?;
    call.write_array(table, item, c"rest_volume", 1, &numbers(&|b| b.book.rest))?;
    call.write_array(table, item, c"drift", 1, &numbers(&|b| b.book.drift))?;
    call.write_array(table, item, c"gas_volume", 1, &numbers(&|b| b.book.gas))?;
    call.write_array(table, item, c"last_growth", 1, &numbers(&|b| b.book.last))?;
    call.write_array(table, item, c"taken", 1, &[taken])?;
    call.write_array(table, item, c"overlap", 1, &[overlap])?;
    call.write_array(table, item, c"next_id", 1, &[i64::from(memory.next_id)])
}
