//! Walls that are too thin for voxels.

use super::super::media::is_liquid;
use super::super::plan::Plan;
use super::ObjectEstimate;
use crate::geometry::{Evaluator, wall_thickness};
use crate::graph::{Bound, Network, Problem};
use crate::text::{number, rounded};
use meniscus_abi::Means;

/// Thinnest wall that keeps liquid in, voxels: one on either side of its middle.
const TIGHT_WALL: f64 = 2.0;
/// Share of a wall's thickness that the flat triangles of a round mesh may remove.
const FLATTENED: f64 = 0.05;

/// Thickness of the thinnest walls of what an object is made of, m, as it begins; infinite where there are none.
fn thinnest(network: &Network, evaluator: &mut Evaluator, node: &Bound) -> Result<f64, Problem> {
    let first = f64::from(network.settings.frames.0);
    let mut thinnest = f64::INFINITY;
    for &input in &node.inputs {
        let g = evaluator.evaluate(network, input, first, 0.0, 0.0)?;
        thinnest = wall_thickness(&g).map_or(thinnest, |t| thinnest.min(t));
    }
    Ok(thinnest)
}

/// Objects with walls thinner than their own voxels, and a sentence for each.
pub(super) fn full_of_holes(
    network: &Network,
    plan: &Plan,
    evaluator: &mut Evaluator,
) -> Result<Vec<(usize, String)>, Problem> {
    let mut found = Vec::new();
    for &object in &plan.objects {
        let node = &network.nodes[object];
        let Some(voxel) = node.meant(Means::VOXEL, 0.0).filter(|voxel| *voxel > 0.0) else { continue };
        let Some(resolution) = node.node_type.params.iter().find(|p| p.means == Means::VOXEL) else {
            continue;
        };
        let thinnest = thinnest(network, evaluator, node)?;
        if thinnest < voxel * (1.0 - FLATTENED) {
            let (thin, voxel) = (number(rounded(thinnest)), number(voxel));
            let lower = &resolution.name;
            found.push((
                object,
                format!("its walls are {thin} m thin, and its voxels {voxel} m wide: they get holes; lower `{lower}`"),
            ));
        }
    }
    Ok(found)
}

/// Solids with walls thinner than two voxels of the coarsest liquid that they meet, and a sentence for each.
pub(super) fn leaking(
    network: &Network,
    plan: &Plan,
    evaluator: &mut Evaluator,
    objects: &[ObjectEstimate],
) -> Result<Vec<(usize, String)>, Problem> {
    let voxel_of = |object: &usize| {
        let node = Some(&network.nodes[*object]).filter(|node| is_liquid(node))?;
        let name = &node.name;
        objects.iter().find(|o| o.name == *name && o.voxel > 0.0).map(|o| (o.voxel, name))
    };
    let mut found = Vec::new();
    for wires in plan.solvers.values() {
        let coarsest = wires.solved.iter().filter_map(voxel_of).max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((voxel, liquid)) = coarsest else { continue };
        for &solid in &wires.affectors {
            let thinnest = thinnest(network, evaluator, &network.nodes[solid])?;
            if thinnest < TIGHT_WALL * voxel * (1.0 - FLATTENED) {
                let (thin, voxel) = (number(rounded(thinnest)), number(voxel));
                found.push((
                    solid,
                    format!(
                        "its walls are {thin} m thin, and `{liquid}` has voxels of {voxel} m: liquid may pass walls \
                         thinner than two voxels; make them thicker or its voxels smaller"
                    ),
                ));
            }
        }
    }
    Ok(found)
}
