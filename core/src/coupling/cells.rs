//! The optional grids of numbers at cell centres that a liquid may hand to a pressure projection.
//!
//! Each is declared once, in the list at the end of this file; the port that holds it has the same name. Joining several
//! liquids, the two projections of a viscous substep and the plugin's reading follow from the list.

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

/// Where a grid acts, if viscosity acts between two projections.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Acts {
    /// In both.
    Twice,
    /// In the first alone.
    First,
}

macro_rules! cell_grids {
    ($($(#[$about:meta])* $name:ident: $joining:ident, $acts:ident;)+) => {
        /// What a liquid may have per cell. `G` is how a grid is held: borrowed, owned, or something that stands for it.
        #[derive(Clone, Copy, Debug)]
        pub struct CellGrids<G> {
            $($(#[$about])* pub $name: Option<G>,)+
        }

        /// The grids' names.
        pub const CELL_GRIDS: [&str; [$(stringify!($name)),+].len()] = [$(stringify!($name)),+];

        impl<G> Default for CellGrids<G> {
            fn default() -> Self {
                Self { $($name: None),+ }
            }
        }

        impl<G> From<[Option<G>; CELL_GRIDS.len()]> for CellGrids<G> {
            /// From a list in the order of [`CELL_GRIDS`].
            fn from([$($name),+]: [Option<G>; CELL_GRIDS.len()]) -> Self {
                Self { $($name),+ }
            }
        }

        impl<G> CellGrids<G> {
            /// Borrows each.
            pub fn as_ref(&self) -> CellGrids<&G> {
                CellGrids { $($name: self.$name.as_ref()),+ }
            }

            /// Those that act again after viscosity.
            pub(super) fn after_viscosity(self) -> Self {
                Self { $($name: self.$name.filter(|_| Acts::$acts == Acts::Twice)),+ }
            }
        }

        impl<G: Copy> CellGrids<G> {
            /// Joins those of several liquids, each by its rule.
            pub(super) fn joined<H>(
                all: &[Self],
                mut by: impl FnMut(Joining, &[Option<G>]) -> Option<H>,
            ) -> CellGrids<H> {
                let mut parts = Vec::with_capacity(all.len());
                CellGrids {
                    $($name: {
                        parts.clear();
                        parts.extend(all.iter().map(|grids| grids.$name));
                        by(Joining::$joining, &parts)
                    }),+
                }
            }
        }
    };
}

cell_grids! {
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
