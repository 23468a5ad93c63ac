//! Graph files: `meniscus.graph/1`.
//!
//! Reading happens in three steps, each with errors that name the node and the parameter:
//! [`json`] reads the text (no key twice, bounded depth, finite numbers), [`read`](Graph::read) turns it into
//! nodes and settings, [`Network::bind`] checks them against the node types and orders them.

mod animated;
mod as_json;
mod bind;
mod convert;
mod expression;
pub mod json;
mod overrides;
mod problem;
mod read;
mod settings;
mod suggest;

pub use animated::{Animated, Ease};
pub use as_json::{to_json, value as to_json_value};
pub use bind::{Bound, Network, Types};
pub use convert::from_json;
pub use expression::evaluate;
pub use overrides::Override;
pub use problem::{Problem, Problems};
pub use read::{Graph, Node};
pub use settings::{Settings, Substeps};
pub use suggest::{hint, nearest};
