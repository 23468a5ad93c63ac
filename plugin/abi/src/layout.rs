//! The layout hash, and every size and offset for the test that compares them with C.

use crate::{
    ABI_MAJOR, Array, Attribute, Context, Geometry, Grid, MenuItem, Node, Param, Plugin, Port, Role, Solve,
    Step, Table, Tile, Value,
};
use std::mem::offset_of;

const fn term(k: u64, x: u64) -> u64 {
    x.wrapping_mul(0x9E37_79B9_7F4A_7C15u64.wrapping_mul(2 * k + 1))
}

const fn sum(terms: &[u64]) -> u64 {
    let (mut hash, mut k) = (0u64, 0);
    while k < terms.len() {
        hash = hash.wrapping_add(term(k as u64, terms[k]));
        k += 1;
    }
    hash
}

/// `MNS_LAYOUT_HASH` of this build: the same sum over the same sizes and offsets as in the header.
pub const LAYOUT_HASH: u64 = sum(&[
    ABI_MAJOR as u64,
    size_of::<MenuItem>() as u64,
    offset_of!(Param, name) as u64 + 1,
    offset_of!(Param, default_number) as u64 + 1,
    offset_of!(Param, means) as u64 + 1,
    offset_of!(Port, name) as u64 + 1,
    offset_of!(Port, owner) as u64 + 1,
    offset_of!(Port, report) as u64 + 1,
    offset_of!(Role, help) as u64 + 1,
    size_of::<Step>() as u64,
    offset_of!(Node, id) as u64 + 1,
    offset_of!(Node, kind) as u64 + 1,
    offset_of!(Node, voxel_seconds) as u64 + 1,
    size_of::<Tile>() as u64,
    offset_of!(Grid, origins) as u64 + 1,
    offset_of!(Grid, background) as u64 + 1,
    offset_of!(Grid, values) as u64 + 1,
    offset_of!(Grid, writable) as u64 + 1,
    offset_of!(Attribute, name) as u64 + 1,
    offset_of!(Attribute, writable) as u64 + 1,
    offset_of!(Geometry, vertices) as u64 + 1,
    offset_of!(Geometry, attribute_count) as u64 + 1,
    offset_of!(Array, name) as u64 + 1,
    offset_of!(Array, writable) as u64 + 1,
    offset_of!(Table, arrays) as u64 + 1,
    size_of::<Value>() as u64,
    offset_of!(Solve, seconds) as u64 + 1,
    offset_of!(Context, params) as u64 + 1,
    offset_of!(Context, progress) as u64 + 1,
    offset_of!(Context, extension) as u64 + 1,
    offset_of!(Plugin, layout_hash) as u64 + 1,
    offset_of!(Plugin, nodes) as u64 + 1,
    offset_of!(Plugin, extension) as u64 + 1,
]);

/// A struct of the contract as this build lays it out.
#[derive(Clone, Debug)]
pub struct StructLayout {
    /// Its name in C.
    pub name: &'static str,
    /// Bytes.
    pub size: usize,
    /// Fields by their names in C, with their offsets.
    pub fields: Vec<(&'static str, usize)>,
}

macro_rules! layouts {
    ($($c:literal $name:ident { $($field:ident)* })*) => {
        /// Every struct of the contract.
        pub fn structs() -> Vec<StructLayout> {
            // A field that is missing from the list is a compile error here.
            $(let _ = |s: $name| { let $name { $($field: _),* } = s; };)*
            vec![$(StructLayout {
                name: $c,
                size: size_of::<$name>(),
                fields: vec![$((c_name(stringify!($field)), offset_of!($name, $field))),*],
            }),*]
        }
    };
}

/// `type` is a keyword in Rust.
fn c_name(field: &'static str) -> &'static str {
    if field == "ty" { "type" } else { field }
}

layouts! {
    "mns_menu_item_t" MenuItem { token label }
    "mns_param_t" Param { size ty name label folder unit help houdini_name disable_when default_text
        default_number range flags menu_count menu means reserved }
    "mns_port_t" Port { size carries name help unit owner role sampling element components lifetime merge
        required access grid_class drawn flags reserved report }
    "mns_role_t" Role { size min_count max_count max_objects name medium help }
    "mns_step_t" Step { role stage }
    "mns_node_t" Node { size version id label help medium houdini_name cites kind stages accepts min_inputs
        max_inputs gpu flags port_count param_count role_count step_count rank ports params roles steps
        particle_bytes voxel_bytes particle_seconds voxel_seconds }
    "mns_tile_t" Tile { origin edge }
    "mns_grid_t" Grid { size element components sampling topology_id value_id leaf_count origins tile_count
        tiles tile_values background index_to_world values writable }
    "mns_attribute_t" Attribute { size on name element components meaning reserved value_id count stride values
        writable }
    "mns_geometry_t" Geometry { size primitive topology_id point_count vertex_count primitive_count vertices
        starts writable_vertices writable_starts origin attributes attribute_count reserved }
    "mns_array_t" Array { size element name components reserved count value_id values writable }
    "mns_table_t" Table { size array_count arrays }
    "mns_value_t" Value { number text }
    "mns_solve_t" Solve { size iterations name device unknowns residual seconds }
    "mns_context_t" Context { size stage step threads host node object time dt dt_next dt_kick frame_left fps cfl
        frame substep param_count reserved params progress log fail measure measure_item solved items item_name item_kick grid
        geometry table shape_grid shape_geometry shape_table edit_grid edit_attribute edit_array place_grid clear
        suggest_dt reject_dt extension }
    "mns_plugin_t" Plugin { size abi_major abi_minor node_count layout_hash name version vendor nodes create
        destroy run suggest_dt drop_caches extension }
}
