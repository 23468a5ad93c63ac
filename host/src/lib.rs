//! The host of Meniscus: graphs, geometry nodes, the DOP engine, caches, the plugin loader and the command line.
//!
//! It reaches every solver, ours included, through the C ABI alone.

mod cache;
pub mod cli;
mod costs;
mod cuda;
pub mod data;
pub mod engine;
pub mod files;
pub mod geometry;
pub mod graph;
pub mod loader;
mod memory;
pub mod node;
pub mod output;
mod process;
mod text;
mod view;
