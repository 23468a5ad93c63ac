//! The low-rank terms that the cycle knows.

use super::blocks::TOGETHER;
use super::body::Body;
use super::level::Level;
use super::sheet::Sheet;
use crate::low_rank::LowRank;

/// The bodies that a hierarchy knows.
#[derive(Clone, Debug, Default)]
pub struct Bodies {
    /// Those with a dense mass of few degrees of freedom.
    pub few: Vec<Body>,
    /// Those with a sparse mass.
    pub sheets: Vec<Sheet>,
}

impl Bodies {
    /// The low-rank terms of a finest level. Dense ones of many degrees of freedom are left out.
    pub fn new(low_rank: &[LowRank], level: &Level) -> Self {
        let few = low_rank.iter().filter_map(|term| Body::new(term, level, TOGETHER)).collect();
        Self { few, sheets: low_rank.iter().filter_map(|term| Sheet::new(term, level)).collect() }
    }
}
