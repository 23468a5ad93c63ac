//! The frames in which a node is there: two parameters the host acts on.

use meniscus_abi::Param;

/// `start_frame` and `end_frame`.
pub const PARAMS: [Param; 2] = [
    Param::int(c"start_frame", c"Start Frame", 0)
        .folder(c"Frames")
        .range(0.0, 240.0)
        .not_animated()
        .help(c"First frame in which this node is there; 0: the shot's first.")
        .houdini(c"startframe"),
    Param::int(c"end_frame", c"End Frame", 0)
        .folder(c"Frames")
        .range(0.0, 240.0)
        .not_animated()
        .help(c"Last frame in which this node is there; 0: the shot's last.")
        .houdini(c"endframe"),
];
