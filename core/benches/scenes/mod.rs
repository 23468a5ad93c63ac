//! The states that stages are measured on.

#![allow(dead_code)] // Every bench takes what it needs.

pub mod cooler;
pub mod small;
pub mod splash;
