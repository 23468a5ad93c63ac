//! The kinds of node.

/// What a node is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NodeKind {
    /// Makes geometry; the host's own.
    Geometry,
    /// Writes files; the host's own.
    Output,
    /// Makes an object's data from geometry.
    Object,
    /// Acts on the objects of a solver.
    Force,
    /// Moves objects forward in time.
    Solver,
    /// Solves the shared unknowns of several solvers.
    Coupling,
}

impl NodeKind {
    /// Name as people read it.
    pub fn name(self) -> &'static str {
        match self {
            NodeKind::Geometry => "geometry",
            NodeKind::Output => "output",
            NodeKind::Object => "object",
            NodeKind::Force => "force",
            NodeKind::Solver => "solver",
            NodeKind::Coupling => "coupling",
        }
    }
}
