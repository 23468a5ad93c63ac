//! Two parameters that limit a node to a range of frames; the host acts on them.

use meniscus_abi::{Means, Param};

/// The first.
pub const START_FRAME: Param = Param::int(c"start_frame", c"Start Frame", 0)
    .folder(c"Frames")
    .range(0.0, 240.0)
    .not_animated()
    .help(c"First frame in which this node takes part; 0: the shot's first frame.")
    .means(Means::FIRST_FRAME)
    .houdini(c"startframe");

/// The last.
pub const END_FRAME: Param = Param::int(c"end_frame", c"End Frame", 0)
    .folder(c"Frames")
    .range(0.0, 240.0)
    .not_animated()
    .help(c"Last frame in which this node takes part; 0: the shot's last frame.")
    .means(Means::LAST_FRAME)
    .houdini(c"endframe");
