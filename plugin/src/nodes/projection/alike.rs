//! Several liquids in one solve lie on one lattice, in one box, and meet the same bodies.

use super::SolvePorts;
use super::inputs::Inputs;
use crate::exchange::{BodyShares, read_cavitation_pressure, read_domain, read_walls};
use meniscus_abi::guest::{Call, Failure};
use meniscus_core::grid::Transform;
use meniscus_core::number::written;

/// Liquids that one solve takes: a cell's owner is kept in a byte.
const MOST: usize = 256;

/// Refuses liquids that cannot share a solve.
pub fn check(call: &Call, at: SolvePorts) -> Result<(), Failure> {
    if call.items(at.surface) as usize > MOST {
        let sentence = format!(
            "one solve takes {MOST} liquids at most, not {}: fill some of them as one liquid_object",
            call.items(at.surface)
        );
        return Err(Failure::input(at.surface, sentence));
    }
    let mut begun = (0..call.items(at.surface)).filter(|&item| call.grid(at.surface, item).is_some());
    let Some(first) = begun.next() else { return Ok(()) };
    begun.try_for_each(|item| check_pair(call, at, first, item))
}

fn check_pair(call: &Call, at: SolvePorts, a: u32, b: u32) -> Result<(), Failure> {
    let [one, other] = [a, b].map(|item| call.item_name(at.surface, item));
    let refuse = |why: String| {
        Err(Failure::input(at.surface, format!("`{one}` and `{other}` cannot share a solve: {why}")))
    };
    let transform = |item| call.grid(at.surface, item).map(|g| Transform::from_row_major(g.index_to_world()));
    if let (Some(a), Some(b)) = (transform(a), transform(b)) {
        let (h, k) = (a.voxel_size(), b.voxel_size());
        if (h - k).abs() > 1e-9 * h {
            let [one, other] = match written(h) == written(k) {
                true => [h.to_string(), k.to_string()],
                false => [written(h), written(k)],
            };
            return refuse(format!(
                "their voxels measure {one} and {other} m; give both the same particle_separation x grid_scale"
            ));
        }
        if !a.is_same_lattice(&b) {
            return refuse("their grids do not lie on one lattice".into());
        }
    }
    let (Ok(box_a), Ok(box_b)) = (read_domain(call, at.domain, a), read_domain(call, at.domain, b)) else {
        return Ok(());
    };
    if box_a != box_b {
        return refuse(
            "their boxes differ; give both solvers the same limit_center, limit_size and sides".into(),
        );
    }
    if read_walls(call, at.domain, a) != read_walls(call, at.domain, b) {
        return refuse(
            "one slips along walls where it is viscous and the other does not; set slip the same".into(),
        );
    }
    let [p, q] = [a, b].map(|item| read_cavitation_pressure(call, at.domain, item));
    if p != q {
        return refuse(
            "they part from walls differently; give both the same wall_separation and cavitation_pressure"
                .into(),
        );
    }
    Ok(())
}

/// Refuses a body that one of the liquids does not meet.
pub(super) fn check_bodies(
    call: &Call,
    at: SolvePorts,
    liquids: &[Inputs],
    shares: &BodyShares,
) -> Result<(), Failure> {
    for liquid in liquids {
        if let Some(stranger) = liquid.stranger(shares) {
            let name = call.item_name(at.surface, liquid.item);
            let sentence = format!(
                "`{stranger}` takes part in the solve, but the liquid `{name}` does not meet it: wire it into the liquid's solver, too"
            );
            return Err(Failure::input(at.surface, sentence));
        }
    }
    Ok(())
}
