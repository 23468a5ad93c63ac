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
    /// Its name after the article.
    pub fn with_article(self) -> &'static str {
        match self {
            NodeKind::Geometry => "a geometry",
            NodeKind::Output => "an output",
            NodeKind::Object => "an object",
            NodeKind::Force => "a force",
            NodeKind::Solver => "a solver",
            NodeKind::Coupling => "a coupling",
        }
    }

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
