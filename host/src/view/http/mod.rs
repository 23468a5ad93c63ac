//! A small HTTP/1.1 server for one machine: one request a connection, and a limit to everything that a client decides.
//!
//! It is our own because the limits are the point. A request has a deadline as a whole (a client that sends a byte a
//! second is cut off), a size, and a number of connections it shares with others. A connection carries one request.

mod range;
mod request;
mod response;
mod server;

pub(super) use request::{Method, Request};
pub(super) use response::{Body, Response};
pub(super) use server::serve;
