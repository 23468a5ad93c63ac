//! Density of a liquid.

use crate::grid::Grid;

/// Density of the liquid.
#[derive(Clone, Copy, Debug)]
pub enum Density<'a> {
    /// The same everywhere, kg/m³.
    Uniform(f64),
    /// Per cell, kg/m³; faces between two liquid cells take the mean.
    PerCell(&'a Grid<f32>),
}
