//! What must stay true of the house itself.

mod arrows;
mod citations;
