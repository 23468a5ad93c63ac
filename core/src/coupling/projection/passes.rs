//! The solve itself: once, and again where other contacts hold than those that were taken to.

use super::assemble::{self, AirUnknowns};
use super::attached::Attached;
use super::compatible::{Leftover, compatible};
use super::constraints::Motion;
use super::first_guess::first_guess;
use super::flux::{self, Walls};
use super::gauge::Gauge;
use super::kept_air::KeptAir;
use super::parting::{self, Parted};
use super::{ConstraintReport, Engine, Error};
use crate::coupling::air::regions::Regions;
use crate::coupling::air::volumes::ClosedVolume;
use crate::coupling::fields::LiquidFields;
use crate::grid::{FaceGrid, Topology};
use crate::pressure::{Info, PressureSystem, Unknowns};
use std::sync::Arc;

/// Solves for the contacts of bodies, at most. What is still wrong then is left to whoever moves the bodies.
const PASSES: usize = 4;

/// What is known before a projection solves.
pub(super) struct Known<'a> {
    pub(super) fields: &'a LiquidFields<'a>,
    pub(super) regions: &'a Regions,
    pub(super) topology: Arc<Topology>,
    pub(super) kept: &'a KeptAir,
    pub(super) dt: f64,
}

/// What a solve gave.
pub(super) struct Solved {
    pub(super) system: PressureSystem,
    pub(super) x: Unknowns,
    pub(super) air: AirUnknowns,
    /// The solids as they would move without pressures.
    pub(super) walls: Walls,
    pub(super) parted: Parted,
    pub(super) left: Leftover,
    pub(super) jumps: Option<[Vec<f64>; 3]>,
    pub(super) info: Info,
    pub(super) motions: Vec<Motion>,
}

impl Known<'_> {
    /// Solves until the contacts that hold are those that press. `vel`: of the liquid before, m/s.
    pub(super) fn solve(
        &self,
        attached: &mut Attached,
        vel: &FaceGrid<f32>,
        engine: &mut Engine,
    ) -> Result<(Solved, ConstraintReport), Error> {
        let (mut last, mut passes): (Option<Solved>, usize) = (None, 0);
        loop {
            passes += 1;
            let mut solved = self.pass(attached, vel, last.as_ref(), engine)?;
            let (changed, sound) = attached.changes(&solved.system, &solved.x, &mut solved.motions);
            if let Some(last) = last {
                solved.info.iterations += last.info.iterations;
                solved.info.setup_seconds += last.info.setup_seconds;
                solved.info.solve_seconds += last.info.solve_seconds;
            }
            if !changed || passes == PASSES {
                return Ok((
                    solved,
                    ConstraintReport { impulses: Vec::new(), passes, settled: sound && !changed },
                ));
            }
            last = Some(solved);
        }
    }

    /// One solve with the joints and contacts that hold; `last`: the one before.
    fn pass(
        &self,
        attached: &Attached,
        vel: &FaceGrid<f32>,
        last: Option<&Solved>,
        engine: &mut Engine,
    ) -> Result<Solved, Error> {
        let Self { regions, topology, kept, dt, .. } = self;
        let KeptAir { rowed, springs, closed, grow, .. } = kept;
        let dt = *dt;
        let operators = attached.operators()?;
        let start = attached.start(self.fields);
        let vel_solid = start.as_ref().unwrap_or(self.fields.vel_solid);
        let fields = &LiquidFields { vel_solid, ..*self.fields };
        let gauge = Gauge::of(closed, &attached.nets(&operators));
        let air = air_unknowns(regions, rowed, gauge.chosen(closed));
        let mut system = assemble::system(fields, regions, topology, &air, dt);
        let walls = Walls::new(fields, regions);
        system.attached = attached.masses(&operators, &system, &air)?;
        for (spring, b) in springs.iter().zip(&air).filter_map(|(spring, b)| Some((spring.as_ref()?, (*b)?)))
        {
            system.super_cells[b as usize].compliance = spring.compliance;
        }
        let mut x = first_guess(fields, regions, &system, &air, gauge.chosen(closed));
        let parted = {
            let walls = parting::Walls { fields, regions, topology, air: &air, closed, vel, dt };
            Parted::find(&walls, &system, &x)
        };
        if let Some(last) = last.filter(|last| last.air == air) {
            x = last.x.clone();
        }
        parted.link(&air, &mut system);
        let mut before = flux::flux(fields, regions, &walls, topology, vel).less(grow);
        attached.enter_start(topology, &mut before);
        parted.enter(&parted.opening(&air, None), &mut before);
        let left = compatible(fields, regions, topology, closed, &gauge, &before);
        let mut rhs = assemble::right_side(regions, &system, &air, &before, &left);
        for (spring, b) in springs.iter().zip(&air).filter_map(|(spring, b)| Some((spring.as_ref()?, (*b)?)))
        {
            rhs.supers[b as usize] += spring.growth(0.0);
        }
        let jumps = assemble::jump_flux(fields, regions, &system);
        if let Some(jumps) = &jumps {
            assemble::add_jumps(&system, jumps, &mut rhs);
        }
        let info = engine.solver.solve(&system, &rhs, &mut x, engine.params, engine.progress)?;
        let motions = attached.motions(&system, &x);
        Ok(Solved { system, x, air, walls, parted, left, jumps, info, motions })
    }
}

/// Numbers the regions that have a row, except one per closed volume whose pressure has a free constant: the
/// constraint of its largest region follows from the others. The pressure of that region is 0, which fixes the constant.
pub(super) fn air_unknowns<'c>(
    regions: &Regions,
    rowed: &[bool],
    gauged: impl Iterator<Item = &'c ClosedVolume>,
) -> AirUnknowns {
    let mut unknown = rowed.to_vec();
    for r in gauged.filter_map(|v| v.largest(regions)) {
        unknown[r] = false;
    }
    let mut next = 0..;
    unknown.into_iter().map(|u| if u { next.next() } else { None }).collect()
}
