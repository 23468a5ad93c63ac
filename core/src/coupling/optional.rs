//! The optional grids that a liquid may hand to a pressure projection: numbers at cell centres, and on faces.
//!
//! Each is declared once, in the lists at the end of this file; the port that holds it has the same name. Joining several
//! liquids, the two projections of a viscous substep and the plugin's reading follow from the lists.

/// How a grid of several liquids becomes one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Joining {
    /// Each cell has the value of the liquid that it belongs to.
    Owner,
    /// The value of greatest magnitude: what several liquids meet counts once.
    Greatest,
    /// The sum.
    Sum,
    /// Of each leaf the values of the first liquid that has it.
    FirstLeaf,
}

/// How values on faces of several liquids become one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum JoiningFaces {
    /// The greatest of each face.
    Greatest,
}

/// Where a grid acts, if viscosity acts between two projections.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Acts {
    /// In both.
    Twice,
    /// In the first alone.
    First,
}

macro_rules! optional_grids {
    ($(#[$of:meta])* $grids:ident, $(#[$named:meta])* $names:ident by $joinings:ident:
        $($(#[$about:meta])* $name:ident: $joining:ident, $acts:ident;)+) => {
        $(#[$of])*
        #[derive(Clone, Copy, Debug)]
        pub struct $grids<G> {
            $($(#[$about])* pub $name: Option<G>,)+
        }

        $(#[$named])*
        pub const $names: [&str; [$(stringify!($name)),+].len()] = [$(stringify!($name)),+];

        impl<G> Default for $grids<G> {
            fn default() -> Self {
                Self { $($name: None),+ }
            }
        }

        impl<G> From<[Option<G>; $names.len()]> for $grids<G> {
            /// From a list in the order of the names.
            fn from([$($name),+]: [Option<G>; $names.len()]) -> Self {
                Self { $($name),+ }
            }
        }

        impl<G> $grids<G> {
            /// Borrows each.
            pub fn as_ref(&self) -> $grids<&G> {
                $grids { $($name: self.$name.as_ref()),+ }
            }

            /// Those that act again after viscosity.
            pub(super) fn after_viscosity(self) -> Self {
                Self { $($name: self.$name.filter(|_| Acts::$acts == Acts::Twice)),+ }
            }
        }

        impl<G: Copy> $grids<G> {
            /// Joins those of several liquids, each by its rule.
            pub(super) fn joined<H>(
                all: &[Self],
                mut by: impl FnMut($joinings, &[Option<G>]) -> Option<H>,
            ) -> $grids<H> {
                let mut parts = Vec::with_capacity(all.len());
                $grids {
                    $($name: {
                        parts.clear();
                        parts.extend(all.iter().map(|grids| grids.$name));
                        by($joinings::$joining, &parts)
                    }),+
                }
            }
        }
    };
}

optional_grids! {
    /// What a liquid may have per cell. `G` is how a grid is held: borrowed, owned, or something that stands for it.
    CellGrids,
    /// The grids' names.
    CELL_GRIDS by Joining:
    /// ∫ ∇·w of deforming solids over the solid part of each cell, per volume of the cell, 1/s.
    swelling: Greatest, Twice;
    /// Wanted divergence of the velocity, 1/s (volume correction, sources), per open volume of the cell.
    divergence: Owner, Twice;
    /// σκ at the cells on either side of the liquid's surface, Pa: surface tension (N/m) times mean curvature, by which
    /// the pressure jumps there [Hong and Kim 2005].
    tension: Owner, First;
    /// Fraction of each cell that spray fills. Spray is liquid too fine for the level set; it reduces the volume of the
    /// air.
    spray: Sum, Twice;
    /// Pressure of the previous substep, Pa: the solver's first guess.
    pressure: FirstLeaf, First;
}

optional_grids! {
    /// What a liquid may have on faces. `G` is how a grid is held: borrowed, owned, or something that stands for it.
    FaceGrids,
    /// The grids' names.
    FACE_GRIDS by JoiningFaces:
    /// Share of each face whose velocity a source gives: it is no wall that liquid could part from.
    inlet: Greatest, Twice;
}
