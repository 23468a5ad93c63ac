//! Density of a liquid.

use crate::grid::{Coord, Grid};

/// Density of the liquid.
#[derive(Clone, Copy, Debug)]
pub enum Density<'a> {
    /// The same everywhere, kg/m³.
    Uniform(f64),
    /// Per cell, kg/m³; faces between two liquid cells take the mean.
    PerCell(&'a Grid<f32>),
}

impl Density<'_> {
    /// That of a cell, kg/m³.
    pub fn at(&self, cell: Coord) -> f64 {
        match self {
            Self::Uniform(density) => *density,
            Self::PerCell(density) => f64::from(density.get(cell)),
        }
    }
}
