//! What a projection reads.

use super::contributed::Contributed;
use super::{Air, OptionalPorts, SolvePorts};
use crate::exchange::{
    BodyShares, Exchange, OwnerPorts, Owners, read_cavitation_pressure, read_domain, read_walls,
};
use glam::DVec3;
use meniscus_abi::guest::{Call, Failure};
use meniscus_core::coupling::bodies::Bodies;
use meniscus_core::coupling::memory::BubbleMemory;
use meniscus_core::coupling::{
    CELL_GRIDS, CellGrids, FACE_GRIDS, FaceGrids, LiquidFields, Parting, Projection,
};
use meniscus_core::grid::{FaceGrid, Grid, Transform};
use meniscus_core::pressure::Density;
use meniscus_core::solid::DomainLimits;
use meniscus_core::viscosity::Walls;

/// The fields of a liquid, as its ports hold them.
pub(super) struct Inputs {
    /// Which item of the ports it is.
    pub(super) item: u32,
    pub(super) transform: Transform,
    pub(super) cells: CellGrids<Grid<f32>>,
    faces: FaceGrids<FaceGrid<f32>>,
    pub(super) parted: Option<Grid<f32>>,
    domain: DomainLimits,
    surface: Grid<f32>,
    open: FaceGrid<f32>,
    vel_solid: FaceGrid<f32>,
    density: Option<Grid<f32>>,
    /// Where all of the liquid has the same, kg/m³.
    uniform_density: f64,
    bubbles: Option<BubbleMemory>,
    /// What the liquid has beyond its rest volume, m³.
    excess: f64,
    /// What it should have, m³.
    pub(super) rest_volume: f64,
    /// Length of the next drift, s.
    drift: f64,
    /// Where liquid may part from walls: the pressure, Pa.
    cavitation: Option<f64>,
    viscosity: Option<(Grid<f32>, Grid<f32>)>,
    walls: Walls,
    /// Which solid each cut face belongs to.
    owners: Option<Owners>,
    /// What forces added to its velocity in this kick, m/s.
    kick: DVec3,
}

impl Inputs {
    /// The liquids that have begun, in the order of their names, and their velocities on faces, m/s.
    pub(super) fn read_all(
        exchange: &mut Exchange,
        call: &Call,
        at: SolvePorts,
        optional: OptionalPorts,
    ) -> Result<(Vec<Self>, Vec<FaceGrid<f32>>), Failure> {
        let always = [at.surface, at.vel_drift, at.open, at.vel_solid];
        let sometimes = [at.density, at.viscosity, at.parted];
        let OptionalPorts { cells, faces } = &optional;
        exchange.read_ahead(call, &[&always[..], &sometimes, cells, faces].concat());
        let begun = (0..call.items(at.surface)).filter(|&item| call.grid(at.surface, item).is_some());
        let mut all = (Vec::new(), Vec::new());
        for item in begun {
            all.0.push(Self::read(exchange, call, (at, optional), item)?);
            all.1.push(exchange.required_faces_of(call, at.vel_drift, item)?.0);
        }
        Ok(all)
    }

    fn read(
        exchange: &mut Exchange,
        call: &Call,
        (at, optional): (SolvePorts, OptionalPorts),
        item: u32,
    ) -> Result<Self, Failure> {
        let (surface, transform) = exchange.required_grid_of(call, at.surface, item)?;
        let cavitation = read_cavitation_pressure(call, at.domain, item);
        let mut on_faces = [const { None }; FACE_GRIDS.len()];
        for (grid, &port) in on_faces.iter_mut().zip(&optional.faces) {
            *grid = exchange.faces(call, port, item)?.map(|g| g.0);
        }
        let mut grid = |port| Ok(exchange.grid::<f32>(call, port, item)?.map(|g| g.0));
        let mut in_cells = [const { None }; CELL_GRIDS.len()];
        for (held, &port) in in_cells.iter_mut().zip(&optional.cells) {
            *held = grid(port)?;
        }
        let density = grid(at.density)?;
        let viscosity = match grid(at.viscosity)? {
            Some(viscosity) => Some((grid(at.solid)?.ok_or_else(|| no_solid(at))?, viscosity)),
            None => None,
        };
        Ok(Self {
            cells: in_cells.into(),
            faces: on_faces.into(),
            parted: grid(at.parted)?,
            open: exchange.required_faces_of(call, at.open, item)?.0,
            vel_solid: exchange.required_faces_of(call, at.vel_solid, item)?.0,
            owners: {
                let SolvePorts { owner, owners, open_volume, room, .. } = at;
                exchange.owners(call, OwnerPorts { owner, owners, open_volume, room }, item)?
            },
            kick: kick(call, at, item),
            bubbles: exchange.bubble_memory(call, at.region, at.air, item)?,
            domain: read_domain(call, at.domain, item)?,
            walls: read_walls(call, at.domain, item),
            uniform_density: if density.is_some() { 0.0 } else { uniform_density(call, at, item)? },
            excess: liquid_excess(call, at, item),
            rest_volume: rest_volume(call, at, item),
            drift: call.dt_next(),
            item,
            transform,
            surface,
            density,
            cavitation,
            viscosity,
        })
    }

    /// A body that the liquid's solver does not know.
    pub(super) fn stranger<'s>(&self, shares: &'s BodyShares) -> Option<&'s String> {
        let known = |name: &String| self.owners.as_ref().is_some_and(|owners| owners.names.contains(name));
        shares.names.iter().find(|name| !known(name))
    }

    /// Body and piece of each solid.
    pub(super) fn pieces(&self, shares: &BodyShares) -> Vec<Option<(usize, usize)>> {
        self.owners.as_ref().map_or_else(Vec::new, |owners| shares.pieces(&owners.names))
    }

    /// As the core reads them; `volume_gain`: 1/s.
    pub(super) fn fields<'a>(
        &'a self,
        air: Air,
        shares: &'a BodyShares,
        pieces: &'a [Option<(usize, usize)>],
        contributed: &'a Contributed,
    ) -> LiquidFields<'a> {
        LiquidFields {
            transform: self.transform,
            domain: self.domain,
            surface: &self.surface,
            open: &self.open,
            without_lids: None,
            vel_solid: &self.vel_solid,
            cells: self.cells.as_ref(),
            faces: self.faces.as_ref(),
            density: match &self.density {
                Some(per_cell) => Density::PerCell(per_cell),
                None => Density::Uniform(self.uniform_density),
            },
            face_density: None,
            jump: contributed.jump.as_ref(),
            chambers: &contributed.chambers,
            liquid_excess: self.excess,
            rest_volume: self.rest_volume,
            kick: self.kick,
            kicks: None,
            previous_bubbles: self.bubbles.as_ref(),
            drift: self.drift,
            volume_gain: air.volume_gain,
            gas: air.gas,
            pressed: &[],
            parting: self.cavitation.map(|cavitation| Parting { cavitation, previous: self.parted.as_ref() }),
            bodies: self.owners.as_ref().filter(|_| !shares.bodies.is_empty()).map(|owners| Bodies {
                bodies: &shares.bodies,
                constraints: &shares.constraints,
                owner: &owners.faces,
                left_by_first: &owners.left_by_first,
                room: owners.room.as_ref(),
                pieces,
            }),
        }
    }

    /// φ of its solids, m, and its viscosity, Pa s; `None` where nothing is viscous.
    pub(super) fn viscous(&self) -> Option<(&Grid<f32>, &Grid<f32>)> {
        self.viscosity.as_ref().map(|(solid, viscosity)| (solid, viscosity))
    }

    /// How the walls hold it where it is viscous.
    pub(super) fn walls(&self) -> Walls {
        self.walls
    }

    /// A level set that the projection did not change goes back to where it was kept.
    pub(super) fn give_back(self, exchange: &mut Exchange, at: SolvePorts, projected: &Projection) {
        let kept = exchange.kept();
        if projected.surface.is_none() {
            kept.give_back(at.surface, [self.surface.values]);
        }
    }
}

fn no_solid(at: SolvePorts) -> Failure {
    Failure::input(at.solid, "a viscous liquid needs `solid`, which is not there")
}

fn uniform_density(call: &Call, at: SolvePorts, item: u32) -> Result<f64, Failure> {
    let density = call.table(at.liquid, item).and_then(|t| t.first::<f64>("density"));
    match density.filter(|d| d.is_finite() && *d >= 0.0) {
        // Without particles there is no density, and no pressure that would depend on it.
        Some(d) => Ok(if d > 0.0 { d } else { 1000.0 }),
        None => Err(Failure::input(at.liquid, "the table `liquid` lacks a density")),
    }
}

/// What forces added to the liquid's velocity in this kick, m/s; nothing where its solver does not say.
fn kick(call: &Call, at: SolvePorts, item: u32) -> DVec3 {
    let kick = call.table(at.liquid, item).and_then(|t| t.array::<f64>("kick"));
    let vector = kick.and_then(|v| <[f64; 3]>::try_from(v).ok()).map(DVec3::from_array);
    vector.filter(|v| v.is_finite()).unwrap_or_default()
}

/// What the liquid should have, m³; 0 where nobody keeps books.
fn rest_volume(call: &Call, at: SolvePorts, item: u32) -> f64 {
    let rest = call.table(at.liquid, item).and_then(|t| t.first::<f64>("rest_volume"));
    rest.filter(|rest| rest.is_finite()).unwrap_or(0.0)
}

/// What the liquid has beyond its rest volume, m³; 0 where nobody keeps books.
fn liquid_excess(call: &Call, at: SolvePorts, item: u32) -> f64 {
    let number = |name| call.table(at.liquid, item).and_then(|t| t.first::<f64>(name));
    let excess = number("excess").zip(number("rest_volume")).map(|(excess, rest)| excess * rest);
    excess.filter(|e| e.is_finite()).unwrap_or(0.0)
}
