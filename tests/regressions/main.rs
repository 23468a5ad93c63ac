//! What must stay true of the house itself, and of what it does with bad input.

mod arrows;
mod bad_input;
mod blender;
mod breaking;
mod citations;
mod costs;
mod device;
mod farm;
mod first_frame;
mod forks;
mod going_on;
mod houdini;
mod idle;
mod joints;
mod mesher;
mod names;
mod reference;
mod rigid;
mod rings;
mod start;
mod steps;
mod usd;
mod whitewater;
mod words;
