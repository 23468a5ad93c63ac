//! Ports as the core's types.
